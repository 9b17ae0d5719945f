"""Errors of a request besides bad input: the requested object is missing, or has changed since it was read, or the
process is ending.
"""

from __future__ import annotations

from collections.abc import Callable

from confide.contract.errors import ConfideError
from confide.contract.worded import Worded, worded

__all__ = ["Changed", "NotNow", "Unknown"]

_MISSING: dict[str, Callable[[int], Worded]] = {
    "campaign": lambda number: worded("there is no campaign %(number)s", number=number),
    "draft": lambda number: worded("there is no draft %(number)s", number=number),
    "job": lambda number: worded("there is no job %(number)s", number=number),
    "job of campaign": lambda number: worded("there is no job of campaign %(number)s", number=number),
}
_CHANGED = {"draft": worded("the draft was changed meanwhile; read it again")}


class NotNow(ConfideError):
    """Error: a process cannot do the work now. Another attempt to make the request, in this process or another one,
    will succeed.

    Args:
        why: reason, as a text for the caller.
        remedy: advice to the caller, such as to repeat the request.
    """

    def __init__(self, why: str, remedy: str) -> None:
        self.why, self.remedy = why, remedy
        super().__init__(f"{why} ({remedy})")


class Unknown(ConfideError):
    """Error: the requested object is missing, or not visible to the caller.

    Args:
        what: kind of the requested object: "campaign", "draft", "job" or "job of campaign".
        number: number of the requested object.
    """

    def __init__(self, what: str, number: int) -> None:
        self.what, self.worded = what, _MISSING[what](number)
        super().__init__(self.worded)


class Changed(ConfideError):
    """Error: another operator has changed the object since it was read.

    Args:
        what: name of the changed object, such as "draft".
    """

    def __init__(self, what: str) -> None:
        self.what, self.worded = what, _CHANGED[what]
        super().__init__(self.worded)
