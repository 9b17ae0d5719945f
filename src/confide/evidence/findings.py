"""Studies that recompute published statements, figures or tables, and compare the results with the source's numbers."""

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
"""Kinds of origin that a published number can have. Every origin text begins with one of these kinds, or with "not
published".
"""


def as_printed(place: str) -> str:
    """The origin text for a number that the source prints.

    Args:
        place: author and year of the source; theorem, table, figure or section; and line number in the plain-text copy
            of the source that was checked.

    Example:
        >>> as_printed("Wu 2017, Table 1, line 1279")
        'printed number: Wu 2017, Table 1, line 1279'
    """
    return f"{KINDS[0]}: {place}"


def evaluated(place: str) -> str:
    """The origin text for a number that this project computed with a formula printed in the source, at the sizes of the
    study.

    Args:
        place: author and year of the source, and place of the formula, in the form of `as_printed`.
    """
    return f"{KINDS[1]}: {place}"


def read_off(place: str) -> str:
    """The origin text for a number that was read off a figure of the source.

    Args:
        place: author and year of the source, and number of the figure, in the form of `as_printed`.
    """
    return f"{KINDS[2]}: {place}"


def in_words(place: str) -> str:
    """The origin text for a statement that the source makes without a number, such as that no demand exceeds its
    supply.

    Args:
        place: author and year of the source, and place of the sentence, in the form of `as_printed`.
    """
    return f"{KINDS[3]}: {place}"


@renamed(told="stated")
@wire("Compared", "quantity published ours agreement remark relation origin")
@dataclass(frozen=True, kw_only=True)
class Compared:
    """One computed number with the source's number for the same quantity.

    Args:
        quantity: name and unit of the compared quantity.
        published: number to compare with, usually of the source. The field `origin` says whether this number is
            printed, evaluated from a printed formula, read off a figure, or another number computed here. None where
            there is no number to compare with.
        ours: computed number.
        agreement: "stands" if the source's number, bound or statement agrees with the computed number, "differs" if
            not, "not published" if there is nothing to compare with.
        remark: reason why the two numbers do not agree, in a few words; empty if no reason is stated.
        relation: relation of the computed number to the published number, as text. If `relation` is empty, `stated`
            derives the text from `agreement`.
        origin: kind and place of the source's number, from `as_printed`, `evaluated`, `read_off` or `in_words`. The
            origin is OWN_CERTIFICATE or OWN_COMPARISON where two computed numbers are compared with each other. The
            origin is empty where there is no number to compare with.

    Raises:
        InvalidInput: a number to compare with is given without an origin.

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
            raise InvalidInput("origin", f"{self.origin!r} does not state how the source gives the compared number",
                               f"must begin with {', '.join(KINDS)} or {_OWN!r}")

    @property
    def kind(self) -> Kind | Literal[""]:
        """The kind of the source's number or statement, one of KINDS; empty where the source has neither."""
        return next((each for each in KINDS if self.origin.startswith(each)), "")

    @property
    def stated(self) -> str:
        """The relation of the computed number to the published number, in words."""
        if self.relation or self.agreement == "not published":
            return self.relation or self.agreement
        if self.published is None:
            return "statement holds" if self.agreement == "stands" else "statement fails"
        return "equal" if self.agreement == "stands" else "differs"


@dataclass(frozen=True, kw_only=True)
class Findings:
    """The findings of a study.

    Args:
        compared: comparisons of computed numbers with those of the source; at least one.
        blocks: pictures and tables, in reading order.
    """

    compared: tuple[Compared, ...]
    blocks: tuple[Block, ...]

    @property
    def headline(self) -> Compared:
        """The comparison that represents the study: the first comparison with a number of the source.

        If more comparisons differ than agree, the headline is the first comparison that differs from a number of the
        source. Where no comparison has a number of the source, the headline is the first comparison with another
        computed number. If no such comparison exists, the headline is the first comparison of the study.
        """
        beside = [each for each in self.compared if each.published is not None]
        most = self.count("differs") > self.count("stands")
        said = [each for each in beside if each.kind and (each.agreement == "differs" or not most)]
        return (said or [each for each in beside if each.kind] or beside or self.compared)[0]

    def count(self, agreement: Standing) -> int:
        """Number of comparisons with the given agreement, "stands" or "differs"."""
        return sum(each.agreement == agreement for each in self.compared)

    def section(self, title: str) -> Section:
        """All findings as a section of a page.

        Args:
            title: title of the section.
        """
        rows = tuple((c.quantity, c.published, c.ours, c.stated, c.remark, c.origin) for c in self.compared)
        table = Table(columns=("quantity", "set beside", "ours", "relation", "remark", "origin of what is set beside"),
                      rows=rows)
        return Section(title=title, blocks=(table, *self.blocks))


@dataclass(frozen=True, kw_only=True)
class Study:
    """One study of a published statement.

    Args:
        name: name by which `confide reproduce` finds the study, such as regression-noise.
        title: title of the study, one line.
        source: author and year of the source, and theorem, figure or table.
        statement: statement of the source, in the words of this project.
        run: function of the two arguments `quick` and `progress` that returns the findings. If `quick` is True, sizes
            are smaller and repetitions fewer. All noise is simulated with fixed seeds, so a study always gives the same
            numbers.
    """

    name: str
    title: str
    source: str
    statement: str
    run: Callable[[bool, Progress | None], Findings]

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "title": self.title, "source": self.source, "statement": self.statement}


def crossing(points: Sequence[tuple[float, float]], level: float) -> float:
    """The x at which a rising curve reaches the height `level`. The curve is linear between the given points (x, y).
    The result is nan where the curve does not reach `level`.

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
    """Comparison of a computed number with a lower or an upper bound.

    Args:
        quantity: name and unit of the compared quantity.
        ours: computed number.
        at_least: lower bound. Pass exactly one of `at_least` and `at_most`.
        at_most: upper bound. Pass exactly one of `at_least` and `at_most`.
        remark: remark, such as the distance from the bound.
        slack: amount by which rounding may push the computed number past the bound, in the unit of the number.
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
    """Comparison of a computed number with a number of the source. The two numbers agree where they differ by at most
    `within`.

    Args:
        quantity: name and unit of the compared quantity.
        published: number of the source, in the unit of `ours`.
        ours: computed number.
        within: largest allowed difference, in the unit of the numbers; 0 where the numbers have to be equal.
        remark: reason why the two numbers differ, or why they may differ by `within`.
        origin: origin of the published number; see `Compared`.

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
    """Comparison of a computed number with a number that the source prints with a few digits. The two numbers agree
    where the computed one rounds to the printed one.

    Args:
        quantity: name and unit of the compared quantity.
        printed: number of the source as text, with exactly the digits that the source prints.
        ours: computed number.
        remark: reason why the two numbers differ.
        origin: origin of the printed number; see `Compared`.

    Example:
        >>> printed_digits("e", "2.7", 2.71828, origin=as_printed("a book, page 1")).stated
        'equal within rounding'
    """
    digits = len(printed.partition(".")[2])
    same = f"{ours:.{digits}f}" == printed
    return Compared(quantity=quantity, published=float(printed), ours=ours, agreement="stands" if same else "differs",
                    remark=remark, relation="equal within rounding" if same else "differs", origin=origin)
