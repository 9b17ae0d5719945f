"""What can go wrong with a request besides bad input: what is asked for is not there, has changed meanwhile, or cannot
be done by a process that ends.
"""

from __future__ import annotations

from confide.contract.errors import ConfideError

__all__ = ["Changed", "NotNow", "Unknown"]


class NotNow(ConfideError):
    """A process cannot do it now; another attempt, here or in another process, will do.

    Args:
        why: it cannot.
        remedy: what to do.
    """

    def __init__(self, why: str, remedy: str) -> None:
        self.why, self.remedy = why, remedy
        super().__init__(f"{why} ({remedy})")


class Unknown(ConfideError):
    """What is asked for is not there, or not for whoever asks.

    Args:
        what: "campaign", "draft".
        number: by which it was asked for.
    """

    def __init__(self, what: str, number: int) -> None:
        self.what = what
        super().__init__(f"there is no {what} {number}")


class Changed(ConfideError):
    """Somebody else has changed it since it was read.

    Args:
        what: "draft".
    """

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"the {what} was changed meanwhile; read it again")
