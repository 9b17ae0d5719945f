"""What went wrong, in the language of a page: refusals of the service are translated, part by part.

What the library says of a campaign's file, of a ledger or of a bank's file has no translation, and stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from confide.contract import worded as messages
from confide.contract.errors import ConfideError, InvalidInput, Refused, StoreFailed
from confide.contract.words import printable
from confide.service.shell.problems import AWAY
from confide.service.work.faults import Changed, NotNow, Unknown

__all__ = ["told"]


def told(
    problem: ConfideError | tuple[str, str] | str | None, known: Mapping[str, str] | None = None, *,
    translate: Callable[[str], str],
) -> str:
    """A problem as a page shows it.

    Args:
        problem: an error; or what is wrong, and what would be right; or a text. None, and an empty one, is none.
        known: words of the page itself for some problems, by what they are in English.
        translate: gives a text of the catalogue in the language of the page.

    Example:
        >>> error = Refused(messages.worded("no payout is approved"), "look again")
        >>> told(error, translate=lambda text: text.upper()), told(("is missing", ""), translate=str)
        ('NO PAYOUT IS APPROVED (look again)', 'is missing')
        >>> told(error, {"no payout is approved (look again)": "Approve it first."}, translate=str)
        'Approve it first.'
    """
    if problem is None:
        return ""
    english = problem if isinstance(problem, str) else "" if isinstance(problem, tuple) else str(problem)
    if known is not None and english in known:
        return known[english]

    def say(text: str) -> str:
        return messages.told(text, translate)

    match problem:
        case str():
            return say(problem)
        case (what, limit):
            return printable(f"{say(what)}; {say(limit)}" if limit else say(what))
        case InvalidInput():
            return printable(f"{problem.field}: {told((problem.problem, problem.limit), translate=translate)}")
        case Refused():
            return printable(_with(say(problem.reason), say(problem.remedy)))
        case NotNow():
            return printable(_with(say(problem.why), say(problem.remedy)))
        case StoreFailed():
            return _with(*map(say, AWAY))
        case Unknown() | Changed():
            return say(problem.worded)
    return english


def _with(reason: str, remedy: str) -> str:
    return f"{reason} ({remedy})" if remedy else reason
