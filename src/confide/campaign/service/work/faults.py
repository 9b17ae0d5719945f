"""What can go wrong with a request besides bad input: what is asked for is not there, or has changed meanwhile."""

from __future__ import annotations

from confide.contract.errors import ConfideError

__all__ = ["Changed", "Unknown"]


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
