"""What a run of `MarginalFit` measures, how noisily, and what that costs: public arithmetic, before any data.

Source: spec query_release D6 (accounting).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Unit
from confide.privacy.accounting import float_up, written
from confide.privacy.events import BoundedRangeEvent, Event, Repeated, ZCDPEvent

__all__ = ["MOST_PAIRED", "MOST_TRIPLED", "Split", "check_columns", "default_tables", "default_widths", "split"]

_UNIT = Unit.RECORD_REPLACED

MOST_TRIPLED = 60
"""Columns at most of which all triples are candidates."""

MOST_PAIRED = 300
"""Columns at most of which all pairs are candidates."""

_SMALL = 4  # cells of a column that tells little: many tables are needed to tell as much


@dataclass(frozen=True)
class Split:
    """How a budget is split, with every number rounded to the safe side.

    Args:
        columns: tables of one column, each measured with `one_way` noise.
        tables: T, selected and measured.
        one_way: sigma of the one-way tables, in counts.
        sigma: sigma of the selected tables, in counts; 0 where there are none.
        epsilon: range of one selection, in nats; 0 where there are none.
    """

    columns: int
    tables: int
    one_way: float
    sigma: float
    epsilon: float

    def events(self) -> tuple[Event, ...]:
        """All releases of a run. A replaced record moves two cells of a table by one count: L2 sensitivity sqrt 2."""
        first = ZCDPEvent(rho=float_up(self.columns / Fraction(self.one_way) ** 2), neighbours=_UNIT,
                          label="one-way tables")
        if not self.tables:
            return (first,)
        choice = BoundedRangeEvent(epsilon=self.epsilon, neighbours=_UNIT, label="choice of a table")
        return (
            first,
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
    epsilon = math.sqrt(float(8 * choosing * budget / tables))
    while written(epsilon) ** 2 * tables > 8 * choosing * budget:
        epsilon = math.nextafter(epsilon, 0.0)
    return Split(columns, tables, _root_up(columns / (first * budget)),
                 _root_up(tables / ((1 - first - choosing) * budget)), epsilon)


def _root_up(square: Fraction) -> float:
    """The square root, rounded up."""
    root = math.sqrt(float(square))
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root


def default_widths(columns: int) -> tuple[int, ...]:
    """Pairs and triples as far as time allows, then pairs."""
    return (2, 3) if columns <= MOST_TRIPLED else (2,)


def default_tables(sizes: tuple[int, ...]) -> int:
    """T = 2m, or 8m where all columns have at most 4 cells: small tables tell little each."""
    useful = [size for size in sizes if size > 1]
    return (8 if useful and max(useful) <= _SMALL else 2) * len(useful)


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
