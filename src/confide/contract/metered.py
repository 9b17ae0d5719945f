"""The record of a run's meter in its pack, and the error of a draw that was not charged."""

from __future__ import annotations

from dataclasses import dataclass

from confide.contract.errors import ConfideError
from confide.contract.wire import wire

__all__ = ["Metered", "MeteredLine", "Overspent"]

WITHIN = "within the charge"


class Overspent(ConfideError):
    """A draw that would cost more than its line of the charge has left. It was not made.

    It is a fault of the mechanism, and says nothing of any record.

    Args:
        line: name of the line.
        asked: the cost of the draw, in words.
        left: the amounts charged and spent, in words.
    """

    def __init__(self, line: str, asked: str, left: str) -> None:
        self.line, self.asked, self.left = line, asked, left
        super().__init__(f"the line {line!r}: a draw would spend {asked}; {left}")


@wire("MeteredLine", "line form spent")
@dataclass(frozen=True, kw_only=True)
class MeteredLine:
    """One line of a charge, after a run that kept it.

    Args:
        line: the name of the line.
        form: "allowance", "fixed list", "session", "parallel groups", "without a draw", "on devices", "unprotected" or
            "converted".
        spent: the statement that all draws of the line were within the charge; a run that exceeds one publishes
            nothing.
    """

    line: str
    form: str
    spent: str = WITHIN


@wire("Metered", "lines around")
@dataclass(frozen=True, kw_only=True)
class Metered:
    """The meter of a run.

    Args:
        lines: the lines of the charge, in its order.
        around: whether anything was drawn that no line paid for. Only a mechanism that is not confide's can do that.
    """

    lines: tuple[MeteredLine, ...]
    around: bool = False
