"""What a run of `MarginalFit` measures, how noisily, and what that costs: public arithmetic, before any data.

Source: spec query_release D6 (accounting).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Relation
from confide.privacy.accounting import float_up, written
from confide.privacy.events import BoundedRangeEvent, Event, Repeated, ZCDPEvent
from confide.release.marginal_fit.choice import Choice

__all__ = [
    "MOST_PAIRED",
    "MOST_TRIPLED",
    "MOVED",
    "Split",
    "check_columns",
    "chosen_split",
    "default_widths",
    "open_events",
    "split",
]

_UNIT = Relation.REPLACE

MOST_TRIPLED = 60
"""Columns at most of which all triples are candidates."""

MOST_PAIRED = 500
"""Columns at most of which all pairs are candidates."""


MOVED = 2
"""Squared l2 sensitivity of a table: a replaced record moves two of its cells by one count."""


@dataclass(frozen=True)
class Split:
    """How a budget is split, with every number rounded to the safe side.

    Args:
        columns: tables of one column, each measured with `one_way` noise.
        tables: T, selected and measured.
        one_way: sigma of the one-way tables, in counts.
        sigma: sigma of the selected tables, in counts; 0 where there are none.
        epsilon: range of one selection, in nats; 0 where there are none.
        again: sigma of a second round of one-way tables; 0 where there is none.
    """

    columns: int
    tables: int
    one_way: float
    sigma: float
    epsilon: float
    again: float = 0.0

    def events(self) -> tuple[Event, ...]:
        """All releases of a run. A replaced record moves two cells of a table by one count: L2 sensitivity sqrt 2."""
        first: tuple[Event, ...] = tuple(
            ZCDPEvent(rho=float_up(self.columns / Fraction(sigma) ** 2), neighbours=_UNIT, label=label)
            for sigma, label in ((self.one_way, "one-way tables"), (self.again, "one-way tables again")) if sigma)
        if not self.tables:
            return first
        choice = BoundedRangeEvent(epsilon=self.epsilon, neighbours=_UNIT, label="choice of a table")
        return (
            *first,
            Repeated(event=choice, count=self.tables, neighbours=_UNIT, label="choices of tables"),
            ZCDPEvent(rho=float_up(self.tables / Fraction(self.sigma) ** 2), neighbours=_UNIT, label="chosen tables"),
        )


def split(rho: float, columns: int, tables: int, one_way: float, selection: float) -> Split:
    """sigma_1^2 = m/(f1 rho), sigma^2 = T/((1 - f1 - fs) rho), epsilon^2 = 8 fs rho/T; without tables, f1 is 1.

    Args:
        rho: of the whole run, > 0.
        columns: m, those with more than one cell.
        tables: T.
        one_way: f1, the share of the one-way tables.
        selection: fs, the share of the selections.
    """
    budget, first, choosing = Fraction(rho), written(one_way), written(selection)
    if not tables:
        return Split(columns, 0, _root_up(columns / budget), 0.0, 0.0)
    return Split(columns, tables, _root_up(columns / (first * budget)),
                 _root_up(tables / ((1 - first - choosing) * budget)), _range_down(8 * choosing * budget, tables))


def open_events(rho: float, one_way: float) -> tuple[Event, ...]:
    """Of a run that chooses T from its one-way tables: these, and whatever comes after them.

    What comes after is, for every outcome of the first part, a mechanism of at most this rho: `chosen_split` sees to
    it. So the whole is an adaptive composition of two zCDP mechanisms with fixed costs, whatever was chosen.

    Source: Bun and Steinke 2016, Lemma 2.3.
    """
    first = written(one_way) * Fraction(rho)
    return (
        ZCDPEvent(rho=float_up(first), neighbours=_UNIT, label="one-way tables"),
        ZCDPEvent(rho=float_up(Fraction(rho) - first), neighbours=_UNIT, label="what follows from them"),
    )


def chosen_split(rho: float, columns: int, one_way: float, selection: float, choice: Choice) -> Split:
    """How a run goes on after its one-way tables: what is left is shared by a second round of them and T tables.

    Args:
        rho: of the whole run, > 0.
        columns: m.
        one_way: f1, the share of the first one-way tables.
        selection: fs, the share of the selections; it shrinks with that of the tables.
        choice: what was chosen from them.
    """
    budget, first = Fraction(rho), written(one_way)
    share = written(choice.one_way) if choice.tables else Fraction(1)  # read as f1 is: the same number is no more
    more = max(Fraction(0), share - first)
    left, start = (1 - first - more) * budget, _root_up(columns / (first * budget))
    again = _root_up(columns / (more * budget)) if more else 0.0
    if not choice.tables:
        return Split(columns, 0, start, 0.0, 0.0, again)
    choosing = written(selection) / (1 - first) * left
    return Split(columns, choice.tables, start, _root_up(choice.tables / (left - choosing)),
                 _range_down(8 * choosing, choice.tables), again)


def _range_down(square: Fraction, tables: int) -> float:
    """The largest double epsilon of `tables` selections with tables epsilon^2 <= square, as written and as it is."""
    epsilon = math.sqrt(float(square / tables))
    while max(written(epsilon), Fraction(epsilon)) ** 2 * tables > square:
        epsilon = math.nextafter(epsilon, 0.0)
    return epsilon


def _root_up(square: Fraction) -> float:
    """The square root, rounded up."""
    root = math.sqrt(float(square))
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root


def default_widths(columns: int) -> tuple[int, ...]:
    """Pairs and triples as far as time allows, then pairs."""
    return (2, 3) if columns <= MOST_TRIPLED else (2,)


def check_columns(sizes: tuple[int, ...], widths: tuple[int, ...]) -> int:
    """m, the columns with more than one cell; refuses what would take too long, whatever the data is.

    Raises:
        InvalidInput: no column tells anything.
        Refused: too many columns for all triples, or for all pairs.
    """
    columns = sum(size > 1 for size in sizes)
    if not columns:
        raise InvalidInput("schema", "has no column with more than one cell", "there is nothing to measure")
    if 3 in widths and columns > MOST_TRIPLED:
        pairs = "widths=(2,), pairs alone" if columns <= MOST_PAIRED else "DualQuery, whose cost hardly depends on them"
        raise Refused(f"all triples of {columns} columns are too many", f"at most {MOST_TRIPLED}; use {pairs}")
    if columns > MOST_PAIRED:
        raise Refused(f"all pairs of {columns} columns are too many",
                      f"at most {MOST_PAIRED}; use DualQuery, whose cost hardly depends on them")
    return columns
