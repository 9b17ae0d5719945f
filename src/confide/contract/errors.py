"""The errors that confide raises. Each error has the fields that a program needs, and a message that says what to do.

::

    ConfideError                       exit code 1: a fault of ours
    ├── InvalidInput (ValueError)      exit code 2: a parameter, file or key is wrong
    │   ├── MissingArguments           ... a call lacks arguments; the message names all (`confide.contract.missing`)
    │   └── Unsupported                ... no proved rule is known for the input; nothing is approximated
    ├── Refused                        exit code 3: a request is understood, but declined for public reasons
    │   ├── BudgetExceeded             ... the budget left in the privacy ledger is too small
    │   └── NotGuaranteed              ... the requested promise does not hold
    ├── RunFailed                      a run broke off after the ledger was charged; the message says what to do
    ├── SolverFailed                   a numerical routine could not certify its answer
    └── StoreFailed                    a database failed; nothing of the step was kept, unless the message says so

Messages are built from public parameters only, and never contain a participant's value. A message is one printable
line, even if it quotes names from a stranger's file. If a message names a number that would be accepted, the number is
a `Remedy`. `confide.contract.remedies` creates remedies and tests them.

The module also defines warnings that may be shown wherever a campaign runs, because they are built from public facts
alone.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from confide.contract.words import printable

__all__ = [
    "BudgetExceeded",
    "ConfideError",
    "InvalidInput",
    "NotGuaranteed",
    "PublicWarning",
    "Refused",
    "RunFailed",
    "SolverFailed",
    "StoreFailed",
    "Unsupported",
    "show_public_warnings",
]

# ---- errors

Ways: TypeAlias = str | Iterable[Any]
"""The remedies for an error: one text, or several remedies, each a text or a `Remedy`. Each remedy alone is enough."""


class ConfideError(Exception):
    """Base class of every error that confide raises on purpose."""

    exit_code = 1
    ways: tuple[Any, ...] = ()
    """The remedies for the error, each a text or a `Remedy`."""

    def __init__(self, message: str = "") -> None:
        super().__init__(printable(message))

    @property
    def remedies(self) -> tuple[Any, ...]:
        """The remedies with numbers, which a program can apply."""
        return tuple(each for each in self.ways if not isinstance(each, str))

    def _said(self, ways: Ways) -> str:
        """Store the ways out of the error, and join them in words."""
        self.ways = (ways,) * bool(ways) if isinstance(ways, str) else tuple(ways)
        return ways if isinstance(ways, str) else ", or ".join(map(str, self.ways))


class InvalidInput(ConfideError, ValueError):
    """A parameter, a file or a key that cannot be used.

    Args:
        field: the name of the parameter, file or key, as the caller wrote it.
        problem: the fault of the value, such as "is out of range".
        limit: the values that would be accepted, such as "must be above 0"; empty if the message names none.
    """

    exit_code = 2

    def __init__(self, field: str, problem: str, limit: Ways = "") -> None:
        self.field = field
        self.problem = problem
        self.limit = self._said(limit)
        super().__init__(f"{field}: {problem}" + (f"; {self.limit}" if self.limit else ""))


class Unsupported(InvalidInput):
    """A well-formed input for which no proved rule is known, and which is therefore refused instead of approximated.

    Args:
        field: the name of the input, as the caller wrote it.
        what: the setting for which no rule is proved, in words.
        limit: the settings for which a rule is proved.
    """

    def __init__(self, field: str, what: str, limit: str = "no proved rule is known") -> None:
        self.what = what
        super().__init__(field, f"{what} is unsupported", limit)


class Refused(ConfideError):
    """A request that is understood but declined, for public reasons.

    Args:
        reason: the reason for the refusal, in words.
        remedy: the request that would be accepted instead; empty if none is known.
    """

    exit_code = 3

    def __init__(self, reason: str, remedy: Ways = "") -> None:
        self.reason = reason
        self.remedy = self._said(remedy)
        self.label = "remedy: " if self.remedies else ""  # remedies with numbers name settings, and no action
        super().__init__(reason + (f" ({self.label}{self.remedy})" if self.remedy else ""))


class BudgetExceeded(Refused):
    """A privacy cost that exceeds the budget left in the privacy ledger. The request was refused before any data were
    read.

    Args:
        account: the public name of the account whose budget is too small.
        requested: the privacy cost that was asked for, as a text in the unit of the budget.
        remaining: the budget that is left in the account, as a text. If the amount spent was not looked up, this text
            gives the whole budget, which is an upper bound.
        remedy: the change that would be accepted; empty for the standard advice.
        whole: the name of the file that sets the whole budget, such as "the campaign file", if the amount spent was not
            looked up; otherwise empty.
    """

    def __init__(self, account: str, requested: str, remaining: str, remedy: str = "", *, whole: str = "") -> None:
        self.account = account
        self.requested = requested
        self.remaining = remaining
        super().__init__(
            f"the privacy budget of {account} does not admit {requested}; "
            + (f"{whole} allows {remaining} in all" if whole else f"left: {remaining}"),
            remedy or "choose a smaller privacy loss; if nothing is left, use the records of other people, with a "
                      "budget of their own",
        )


class NotGuaranteed(Refused):
    """A request for a promise that does not hold for these parameters.

    Args:
        claim: the promise, in words.
        why: the reason why the promise fails.
        remedy: the setting under which the promise holds.
    """

    def __init__(self, claim: str, why: str, remedy: Ways = "") -> None:
        self.claim = claim
        self.why = why
        super().__init__(f"{claim} is not guaranteed: {why}", remedy)


class RunFailed(ConfideError):
    """A run that broke off after the ledger was charged for it, and before anything was published.

    The message does not say what went wrong, because the course of a run depends on private records. The cause is kept
    in `__cause__`, which is private.

    Args:
        mechanism: the name of the mechanism that ran.
        own: whether the mechanism comes from a third party, and not from confide. The next run of a third party's
            mechanism gets the same noise, so a fault in the mechanism's code occurs again.
    """

    def __init__(self, mechanism: str, *, own: bool = False) -> None:
        self.mechanism, self.own = mechanism, own
        again = (" and the same noise. If an outside cause (memory, a full disk) stopped the run, remove the cause and "
                 "run the campaign again, at no further cost. A fault of the code occurs again in each run: a run with "
                 "corrected code is another campaign, with its own title and charge" if own
                 else ", so remove the cause and run the campaign again, at no further cost")
        super().__init__(
            f"the run of {mechanism} failed after the ledger was charged. The charge stays, and it is the only charge: "
            f"another run of this campaign uses the same debit{again}. The error may disclose records and is not shown "
            "(CONFIDE_DEBUG=1 shows it, with private values)")


class SolverFailed(ConfideError):
    """A numerical routine that ended without a certified answer.

    Args:
        routine: the name of the routine.
        detail: the property that the routine could not certify, described without private values.
    """

    def __init__(self, routine: str, detail: str) -> None:
        self.routine = routine
        self.detail = detail
        super().__init__(f"{routine}: {detail}")


class StoreFailed(ConfideError):
    """A database that failed: it is locked, full, read-only or unreachable.

    The database kept nothing of the failed step, except in two cases. The message says so if one of these cases
    applies. In the first case, the step was completed before a later erasure failed. In the second case, a report waits
    to be stored together with other reports. Such a report was not stored in time, but may still be stored later.

    Args:
        store: the URL of the store, without a password.
        problem: the fault of the database, described without any of the contents to be stored.
        remedy: the step that the operator can take; empty if none is known.
    """

    def __init__(self, store: str, problem: str, remedy: str = "") -> None:
        self.store = store
        self.problem = problem
        self.remedy = remedy
        super().__init__(f"the store {store} {problem}" + (f"; {remedy}" if remedy else ""))


# ---- public warnings


class PublicWarning(UserWarning):
    """A warning whose text is built from public facts alone, like the texts of confide's errors.

    During a run, a warning of any other class may quote records. This also holds for warnings of Python's default
    category.
    """


def show_public_warnings(show: Callable[[str], None]) -> None:
    """Show only warnings of the class `PublicWarning` in this process from now on.

    If the environment variable CONFIDE_DEBUG is set, warnings of every class are shown. An enclosing
    `warnings.catch_warnings` restores the earlier settings of warnings.

    Args:
        show: a function that is called with the text of each shown warning, as one printable line.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("always")
        ...     show_public_warnings(print)
        ...     warnings.warn("the last of them said yes")
        ...     warnings.warn("2 queries were dropped", PublicWarning)
        2 queries were dropped
    """

    def report(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, PublicWarning) or os.environ.get("CONFIDE_DEBUG"):
            show(printable(str(message)))

    warnings.showwarning = report
