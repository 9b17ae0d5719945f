"""The record of a run's meter in an evidence pack, and the error for a draw that costs more than was charged."""

from __future__ import annotations

from dataclasses import dataclass

from confide.contract.errors import ConfideError
from confide.contract.wire import wire

__all__ = ["Metered", "MeteredLine", "Overspent"]

WITHIN = "within the charge"


class Overspent(ConfideError):
    """A draw that would cost more than its line of the privacy charge has left. The draw was not made.

    The error is a fault of the mechanism, and its message says nothing about any record.

    Args:
        line: name of the line.
        asked: the cost of the draw, in words.
        left: the amounts charged and spent so far for the line, in words.
    """

    def __init__(self, line: str, asked: str, left: str) -> None:
        self.line, self.asked, self.left = line, asked, left
        super().__init__(f"a draw of noise for the line {line!r} of the charge would spend {asked}; {left}")


@wire("MeteredLine", "line form spent")
@dataclass(frozen=True, kw_only=True)
class MeteredLine:
    """One line of a charge, after a run in which all draws stayed within the line.

    Args:
        line: the name of the line.
        form: the way in which the line pays for draws: "allowance", "fixed list", "session", "parallel groups",
            "without a draw", "on devices", "unprotected" or "converted".
        spent: the statement that all draws of the line were within the charge; a run that exceeds a line publishes
            nothing.
    """

    line: str
    form: str
    spent: str = WITHIN


@wire("Metered", "lines around")
@dataclass(frozen=True, kw_only=True)
class Metered:
    """The published record of a run's meter.

    Args:
        lines: the lines of the privacy charge, in the order of the charge.
        around: whether the run made a draw that no line pays for. Only a third party's mechanism can make such a draw.
    """

    lines: tuple[MeteredLine, ...]
    around: bool = False
