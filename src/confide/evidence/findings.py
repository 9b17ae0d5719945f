"""Studies: a published statement, figure or table, computed again and set beside the source's numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from confide.contract.errors import InvalidInput
from confide.contract.kinds import Progress
from confide.contract.presentation import Block, Section, Table
from confide.contract.progress import advance
from confide.contract.renamed import renamed
from confide.contract.wire import wire

__all__ = ["KINDS", "OWN_CERTIFICATE", "OWN_COMPARISON", "Compared", "Findings", "Standing", "Study", "advance",
           "as_printed", "bound", "crossing", "evaluated", "in_words", "near", "printed_digits", "read_off"]

Standing = Literal["stands", "differs", "not published"]

_OWN = "not published: "
OWN_CERTIFICATE = f"{_OWN}what our own certificate or plan promises"
OWN_COMPARISON = f"{_OWN}computed here, to compare with"

Kind = Literal["printed number", "evaluated from the printed formula", "read off a printed figure", "stated in words"]

KINDS: tuple[Kind, ...] = ("printed number", "evaluated from the printed formula", "read off a printed figure",
                           "stated in words")
"""How the source says what stands beside our number: each origin begins with one of them, or with "not published"."""


def as_printed(place: str) -> str:
    """The origin of a number that the source prints.

    Args:
        place: document, and theorem, table, figure or section, and the line of the text that was read.

    Example:
        >>> as_printed("Wu 2017, Table 1, line 1279")
        'printed number: Wu 2017, Table 1, line 1279'
    """
    return f"{KINDS[0]}: {place}"


def evaluated(place: str) -> str:
    """The origin of a number that we computed by a formula which the source prints, at the sizes of the study.

    Args:
        place: place of the formula.
    """
    return f"{KINDS[1]}: {place}"


def read_off(place: str) -> str:
    """The origin of a number that was read off a figure of the source.

    Args:
        place: place of the figure.
    """
    return f"{KINDS[2]}: {place}"


def in_words(place: str) -> str:
    """The origin of a statement of the source without a number, such as that nothing exceeds its supply.

    Args:
        place: place of the sentence.
    """
    return f"{KINDS[3]}: {place}"


@renamed(told="stated")
@wire("Compared", "quantity published ours agreement remark relation origin")
@dataclass(frozen=True, kw_only=True)
class Compared:
    """One number beside the source's.

    Args:
        quantity: name and unit of the number.
        published: number of the source, of the kind that its origin names: printed, or evaluated from what is printed,
            or read off; None where the source gives none.
        ours: computed number.
        agreement: whether the source's number, bound or statement stands.
        remark: reason why it does not, in a few words.
        relation: relation of our number to the source's, as text; where it is empty, it follows from the agreement.
        origin: kind and place of the source's number: by `as_printed`, `evaluated`, `read_off` or `in_words`;
            OWN_CERTIFICATE or OWN_COMPARISON where another number of ours stands beside it; empty where nothing does.

    Raises:
        InvalidInput: a number stands beside it without an origin.

    Example:
        >>> where = in_words("Wu 2017, Theorem 5.5.3, line 4816")
        >>> Compared(quantity="goods", published=None, ours=3.0, agreement="stands", origin=where).stated
        'statement holds'
    """

    quantity: str
    published: float | None
    ours: float
    agreement: Standing
    remark: str = ""
    relation: str = ""
    origin: str = ""

    def __post_init__(self) -> None:
        if self.agreement != "not published" and not self.origin.startswith((*KINDS, _OWN)):
            raise InvalidInput("origin", f"{self.origin!r} does not say how the source gives what stands beside ours",
                               f"must begin with {', '.join(KINDS)} or {_OWN!r}")

    @property
    def kind(self) -> Kind | Literal[""]:
        """How the source gives what stands beside ours, one of KINDS; empty where the source gives nothing."""
        return next((each for each in KINDS if self.origin.startswith(each)), "")

    @property
    def stated(self) -> str:
        """The relation of ours to the source's, in words."""
        if self.relation or self.agreement == "not published":
            return self.relation or self.agreement
        if self.published is None:
            return "statement holds" if self.agreement == "stands" else "statement fails"
        return "equal" if self.agreement == "stands" else "differs"


@dataclass(frozen=True, kw_only=True)
class Findings:
    """The findings of a study.

    Args:
        compared: numbers of the source and ours; at least one.
        blocks: pictures and tables, in reading order.
    """

    compared: tuple[Compared, ...]
    blocks: tuple[Block, ...]

    @property
    def headline(self) -> Compared:
        """The first number that stands beside one of the source, or beside another one, or the first one.

        Where more differ than stand, the first that differs.
        """
        beside = [each for each in self.compared if each.published is not None]
        most = self.count("differs") > self.count("stands")
        said = [each for each in beside if each.kind and (each.agreement == "differs" or not most)]
        return (said or [each for each in beside if each.kind] or beside or self.compared)[0]

    def count(self, agreement: Standing) -> int:
        """How many of the numbers, bounds and statements beside ours stand, or differ."""
        return sum(each.agreement == agreement for each in self.compared)

    def section(self, title: str) -> Section:
        """The whole as a section of a page.

        Args:
            title: title of the section.
        """
        rows = tuple((c.quantity, c.published, c.ours, c.stated, c.remark, c.origin) for c in self.compared)
        table = Table(columns=("quantity", "set beside", "ours", "relation", "remark", "origin of what is set beside"),
                      rows=rows)
        return Section(title=title, blocks=(table, *self.blocks))


@dataclass(frozen=True, kw_only=True)
class Study:
    """One study.

    Args:
        name: name for `confide reproduce`.
        title: title, one line.
        source: document, and theorem, figure or table.
        statement: statement of the source, in our words.
        run: function (quick, progress) -> findings. Quick runs use smaller sizes and fewer repetitions. Simulated noise
            with fixed seeds: a study gives the same numbers every time.
    """

    name: str
    title: str
    source: str
    statement: str
    run: Callable[[bool, Progress | None], Findings]

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "title": self.title, "source": self.source, "statement": self.statement}


def crossing(points: Sequence[tuple[float, float]], level: float) -> float:
    """The place at which a rising curve, given as (x, y) points, reaches a level, by linear interpolation; nan where
    there is none.

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
    slack: float = 1e-9, origin: str,
) -> Compared:
    """A number beside a bound: the bound holds where the number keeps to it.

    Args:
        quantity: name of the number.
        ours: computed number.
        at_least: lower bound; give this or `at_most`.
        at_most: upper bound.
        remark: remark, such as the distance from the bound.
        slack: allowance for rounding.
        origin: origin of the bound; see `Compared`.

    Example:
        >>> bound("pi", 3.14159, at_most=22 / 7, origin=OWN_COMPARISON).stated
        'bound holds: ours <= bound'
    """
    above = at_most is not None
    limit = at_most if at_most is not None else at_least or 0.0
    kept = ours <= limit + slack if above else ours >= limit - slack
    sign = ("<=" if kept else ">") if above else (">=" if kept else "<")
    relation = f"bound {'holds' if kept else 'fails'}: ours {sign} bound"
    return Compared(quantity=quantity, published=limit, ours=ours, agreement="stands" if kept else "differs",
                    remark=remark, relation=relation, origin=origin)


def near(
    quantity: str, published: float, ours: float, *, within: float, remark: str = "", origin: str,
) -> Compared:
    """A number beside one of the source: it stands where their difference is at most `within`.

    Args:
        quantity: name of the number.
        published: number of the source.
        ours: computed number.
        within: allowed difference, in the number's own unit; 0 where they have to be equal.
        remark: reason why they differ, or why they may differ by this much.
        origin: origin of the number; see `Compared`.

    Example:
        >>> near("pi", 3.14, 3.14159, within=0.01, origin=OWN_COMPARISON).stated
        'equal within 0.01'
    """
    same = abs(ours - published) <= within
    apart = f"{within:.2g}"
    relation = ("equal" if same else "differs") if within == 0 else (
        f"equal within {apart}" if same else f"differs by more than {apart}")
    return Compared(quantity=quantity, published=published, ours=ours, agreement="stands" if same else "differs",
                    remark=remark, relation=relation, origin=origin)


def printed_digits(quantity: str, printed: str, ours: float, remark: str = "", *, origin: str) -> Compared:
    """A number beside one that was printed with some digits: it stands where it rounds to the printed one.

    Args:
        quantity: name of the number.
        printed: number as it stands in the source.
        ours: computed number.
        remark: reason why it differs.
        origin: place where it is printed; see `Compared`.

    Example:
        >>> printed_digits("e", "2.7", 2.71828, origin=as_printed("a book, page 1")).stated
        'equal within rounding'
    """
    digits = len(printed.partition(".")[2])
    same = f"{ours:.{digits}f}" == printed
    return Compared(quantity=quantity, published=float(printed), ours=ours, agreement="stands" if same else "differs",
                    remark=remark, relation="equal within rounding" if same else "differs", origin=origin)
