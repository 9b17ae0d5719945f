"""What a study is: a published statement, figure or table, computed again and set beside the published numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from confide.contract.kinds import Progress
from confide.contract.presentation import Block, Section, Table
from confide.contract.progress import advance

__all__ = ["Agreement", "Compared", "Findings", "Study", "advance", "bound", "crossing", "printed_digits"]

Agreement = Literal["agrees", "differs", "not published"]


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One number beside the published one.

    Args:
        quantity: what it is, with its unit.
        published: the source's number; None where the source gives none.
        ours: what was computed.
        agreement: whether the published number stands.
        remark: why it does not, in a few words.
    """

    quantity: str
    published: float | None
    ours: float
    agreement: Agreement
    remark: str = ""


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What a study found.

    Args:
        compared: published numbers and ours; at least one.
        blocks: pictures and tables, in reading order.
    """

    compared: tuple[Compared, ...]
    blocks: tuple[Block, ...]

    @property
    def headline(self) -> Compared:
        """The first number that stands beside a published one, or the first number where none does."""
        return next((each for each in self.compared if each.published is not None), self.compared[0])

    def count(self, agreement: Agreement) -> int:
        """How many published numbers agree, or differ."""
        return sum(each.agreement == agreement for each in self.compared)

    def section(self, title: str) -> Section:
        """The whole as a section of a page."""
        rows = tuple((c.quantity, c.published, c.ours, c.agreement, c.remark) for c in self.compared)
        table = Table(columns=("quantity", "published", "ours", "", "remark"), rows=rows)
        return Section(title=title, blocks=(table, *self.blocks))


@dataclass(frozen=True, kw_only=True)
class Study:
    """One study.

    Args:
        name: how `confide reproduce` knows it.
        title: a line.
        source: document, and theorem, figure or table.
        statement: what the source says, in our words.
        run: (quick, progress) -> findings. Quick runs use smaller sizes and fewer repetitions. Simulated noise with
            fixed seeds: a study gives the same numbers every time.
    """

    name: str
    title: str
    source: str
    statement: str
    run: Callable[[bool, Progress | None], Findings]

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "title": self.title, "source": self.source, "statement": self.statement}


def crossing(points: Sequence[tuple[float, float]], level: float) -> float:
    """Where a rising curve, given as (x, y) points, reaches a level, by linear interpolation; nan where it does not.

    Example:
        >>> crossing([(0.0, 0.0), (2.0, 4.0)], 1.0)
        0.5
    """
    for (x0, y0), (x1, y1) in pairwise(points):
        if y0 <= level <= y1 and y1 > y0:
            return x0 + (x1 - x0) * (level - y0) / (y1 - y0)
    return float("nan")


def bound(
    quantity: str, ours: float, *, at_least: float | None = None, at_most: float | None = None, remark: str = "",
    slack: float = 1e-9,
) -> Compared:
    """A number beside a published bound: it agrees where it keeps to it.

    Args:
        quantity: what it is.
        ours: what was computed.
        at_least: the bound from below; give this or `at_most`.
        at_most: the bound from above.
        remark: such as how far it is from the bound.
        slack: for rounding.

    Example:
        >>> bound("pi", 3.14159, at_most=22 / 7).agreement, bound("pi", 3.14159, at_least=3.2).agreement
        ('agrees', 'differs')
    """
    kept = ours <= at_most + slack if at_most is not None else ours >= (at_least or 0.0) - slack
    return Compared(quantity=quantity, published=at_least if at_most is None else at_most, ours=ours,
                    agreement="agrees" if kept else "differs", remark=remark)


def printed_digits(quantity: str, printed: str, ours: float, remark: str = "") -> Compared:
    """A number beside one that was printed with so many digits: it agrees where it rounds to it.

    Args:
        quantity: what it is.
        printed: as it stands in the source.
        ours: what was computed.
        remark: why it differs.

    Example:
        >>> printed_digits("e", "2.7", 2.71828).agreement, printed_digits("pi", "3.1", 3.2).agreement
        ('agrees', 'differs')
    """
    digits = len(printed.partition(".")[2])
    same = f"{ours:.{digits}f}" == printed
    return Compared(quantity=quantity, published=float(printed), ours=ours, agreement="agrees" if same else "differs",
                    remark=remark)
