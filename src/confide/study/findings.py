"""What a study is: a published statement, figure or table, computed again and set beside the published numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from confide.contract.kinds import Progress
from confide.contract.presentation import Block, Section, Table
from confide.contract.progress import advance

__all__ = ["OWN_CERTIFICATE", "OWN_COMPARISON", "READ_FROM_PLOT", "Compared", "Findings", "Standing", "Study",
           "advance", "bound", "crossing", "near", "printed_digits"]

Standing = Literal["stands", "differs", "not published"]

OWN_CERTIFICATE = "not published: what our own certificate or plan promises"
OWN_COMPARISON = "not published: computed here, to compare with"
READ_FROM_PLOT = "read from the plot"


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One number beside the published one.

    Args:
        quantity: what it is, with its unit.
        published: the source's number; None where the source gives none.
        ours: what was computed.
        agreement: whether the published number, bound or statement stands.
        remark: why it does not, in a few words.
        relation: of ours to the published one, in words; by itself where the published thing is a sentence.
        origin: where the published number comes from, if not from where the study's source says.

    Example:
        >>> Compared(quantity="goods", published=None, ours=3.0, agreement="stands").told
        'statement holds'
    """

    quantity: str
    published: float | None
    ours: float
    agreement: Standing
    remark: str = ""
    relation: str = ""
    origin: str = ""

    @property
    def told(self) -> str:
        """The relation of ours to the published one, in words."""
        if self.relation or self.agreement == "not published":
            return self.relation or self.agreement
        if self.published is None:
            return "statement holds" if self.agreement == "stands" else "statement fails"
        return "equal" if self.agreement == "stands" else "differs"


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

    def count(self, agreement: Standing) -> int:
        """How many published numbers, bounds and statements stand, or differ."""
        return sum(each.agreement == agreement for each in self.compared)

    def section(self, title: str, source: str) -> Section:
        """The whole as a section of a page.

        Args:
            title: of the section.
            source: where published numbers come from whose own origin is not told.
        """
        rows = tuple((c.quantity, c.published, c.ours, c.told, c.remark,
                      "" if c.agreement == "not published" else c.origin or source) for c in self.compared)
        table = Table(columns=("quantity", "published", "ours", "relation", "remark", "origin"), rows=rows)
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
    slack: float = 1e-9, origin: str = "",
) -> Compared:
    """A number beside a bound: the bound holds where the number keeps to it.

    Args:
        quantity: what it is.
        ours: what was computed.
        at_least: the bound from below; give this or `at_most`.
        at_most: the bound from above.
        remark: such as how far it is from the bound.
        slack: for rounding.
        origin: where the bound comes from, if not from where the study's source says.

    Example:
        >>> bound("pi", 3.14159, at_most=22 / 7).told, bound("pi", 3.14159, at_least=3.2).told
        ('bound holds: ours <= published', 'bound fails: ours < published')
    """
    above = at_most is not None
    limit = at_most if at_most is not None else at_least or 0.0
    kept = ours <= limit + slack if above else ours >= limit - slack
    beside = "published" if not origin.startswith("not published") else "the bound"
    sign = ("<=" if kept else ">") if above else (">=" if kept else "<")
    relation = f"bound {'holds' if kept else 'fails'}: ours {sign} {beside}"
    return Compared(quantity=quantity, published=limit, ours=ours, agreement="stands" if kept else "differs",
                    remark=remark, relation=relation, origin=origin)


def near(
    quantity: str, published: float, ours: float, *, within: float, remark: str = "", origin: str = "",
) -> Compared:
    """A number beside a published one: it stands where they are no further apart than is told.

    Args:
        quantity: what it is.
        published: the source's number.
        ours: what was computed.
        within: how far apart they may be, in the number's own unit; 0 where they have to be equal.
        remark: why they differ, or what decides how far apart they may be.
        origin: where the number comes from, if not from where the study's source says.

    Example:
        >>> near("pi", 3.14, 3.14159, within=0.01).told, near("pi", 3.2, 3.14159, within=0.01).told
        ('equal within 0.01', 'differs by more than 0.01')
    """
    same = abs(ours - published) <= within
    apart = f"{within:.2g}"
    relation = ("equal" if same else "differs") if within == 0 else (
        f"equal within {apart}" if same else f"differs by more than {apart}")
    return Compared(quantity=quantity, published=published, ours=ours, agreement="stands" if same else "differs",
                    remark=remark, relation=relation, origin=origin)


def printed_digits(quantity: str, printed: str, ours: float, remark: str = "") -> Compared:
    """A number beside one that was printed with so many digits: it stands where it rounds to it.

    Args:
        quantity: what it is.
        printed: as it stands in the source.
        ours: what was computed.
        remark: why it differs.

    Example:
        >>> printed_digits("e", "2.7", 2.71828).told, printed_digits("pi", "3.1", 3.2).told
        ('equal within rounding', 'differs')
    """
    digits = len(printed.partition(".")[2])
    same = f"{ours:.{digits}f}" == printed
    return Compared(quantity=quantity, published=float(printed), ours=ours, agreement="stands" if same else "differs",
                    remark=remark, relation="equal within rounding" if same else "differs")
