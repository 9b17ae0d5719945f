"""The measurements of a run of `MarginalFit`, their noise, and their cost. All numbers are computed from public facts,
before any data are read.

Source: spec query_release D6 (accounting).

The module also chooses the number of tables of a run, and the budget share of the one-way tables, from the one-way
tables that the run released first. A table is worth measuring if its noise is small compared with the information in
the table. The effect of the noise is estimated in advance by the penalty of a candidate, which is the L1 distance by
which noise would change the table. The penalty follows from the released one-way tables. If the penalty is large, the
budget is better spent on a second measurement of the one-way tables. If the penalty is small, the budget is better
spent on more tables.

Source: spec query_release D6 (T from the public penalty); the constants come from measurements, which the page of the
family describes.

Finally, the module bounds the memory of a run from public numbers alone. A plan that cannot fit into memory is refused
before anything is drawn.

Source: measurements of whole runs, in `tests/release/test_marginal_fit_runs.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Relation
from confide.privacy.accounting import float_up, written
from confide.privacy.events import BoundedRangeEvent, Event, Repeated, ZCDPEvent
from confide.release.marginal_fit.candidates import Candidates, penalty_of
from confide.release.marginal_fit.model import key_of, normals

__all__ = [
    "LOOKED_AT",
    "MOST_BYTES",
    "MOST_PAIRED",
    "MOST_TRIPLED",
    "MOVED",
    "Choice",
    "Split",
    "bytes_needed",
    "check_columns",
    "check_memory",
    "choose",
    "chosen_split",
    "default_widths",
    "most_tables",
    "open_events",
    "shares_after",
    "split",
    "usual_tables",
]

# ---- choice

_NORMALS = 2**16
_STEPS = 32  # shares are so many parts of the whole: another machine's last digit changes none
_SHARE, _SLOPE = 0.15, 0.3  # of the one-way tables: without noise, and how it rises with the penalty
_HOPELESS = 1.3  # mean penalty from which on no table is worth having
_WORTH, _CLEAR = 0.7, 0.1  # mean penalty up to which there are as many tables as usual, and more
_EACH, _FEWEST, _MOST = 2, 0.5, 4  # tables for a column: at middling sizes, at least and at most
_GRID = 2.0**-0.25  # from one number of tables to the next smaller one
_SMALL, _MOST_SMALL = 4, 8  # cells of a column that tells little, and tables at most where all do
_WEAK = 2.0  # how many times a penalty counts there
LOOKED_AT = 256
"""Number of candidate tables, evenly spaced in the list, over which the penalty is averaged."""


@dataclass(frozen=True)
class Choice:
    """The choice that a run makes after its first one-way tables.

    Args:
        tables: number T of tables that the run chooses and measures.
        one_way: share of rho for all one-way tables, including those that were measured first; 1 if T = 0.
    """

    tables: int
    one_way: float


def usual_tables(sizes: tuple[int, ...], candidates: int) -> int:
    """The default number T of tables for m columns with more than one cell. T is 2m, or 8m if all columns have at most
    4 cells, since each small table holds little information. T never exceeds the number of candidates.
    """
    return min(candidates, (_MOST_SMALL if _all_small(sizes) else _EACH) * sum(size > 1 for size in sizes))


def most_tables(sizes: tuple[int, ...], candidates: int) -> int:
    """The largest number T of tables that a run may choose for m columns with more than one cell: 4m, or 8m if all
    columns have at most 4 cells. T never exceeds the number of candidates.
    """
    return min(candidates, (_MOST_SMALL if _all_small(sizes) else _MOST) * sum(size > 1 for size in sizes))


def shares_after(one_way: float) -> tuple[float, ...]:
    """All budget shares that a run may choose for the one-way tables if it also measures further tables.

    Args:
        one_way: share f1 of rho that was already spent on the first one-way tables.

    Example:
        >>> len(shares_after(0.1)), shares_after(0.1)[:2]
        (29, (0.1, 0.125))
    """
    return (one_way, *(step / _STEPS for step in range(1, _STEPS) if step / _STEPS > one_way))


def _all_small(sizes: tuple[int, ...]) -> bool:
    return max(sizes) <= _SMALL


def choose(
    laws: Mapping[tuple[int, ...], NDArray[np.float64]], candidates: Candidates, *, sizes: tuple[int, ...], n: int,
    rho: float, one_way: float, selection: float, seed: int,
) -> Choice:
    """Choose the number of tables and the budget share of the one-way tables, from released one-way tables and public
    facts.

    Let p be the mean penalty of the candidate tables at T = 2m for m columns. If p >= 1.3, the one-way tables get the
    whole budget. For a mean penalty p < 1.3, the share of the one-way tables is 0.15 + 0.3 p, rounded to a multiple of
    1/32, but at least the share that was already spent. The number of tables T is reduced from 4m by factors of
    2^(-1/4), but not below about m/2, until the mean penalty is small enough. The mean penalty must be at most 0.1 for
    T above 2m, and at most 0.7 for other T. If no column has more than 4 cells, T starts at 8m, and penalties are
    doubled, since small tables hold less information.

    Args:
        laws: mapping from a column, as a tuple of one number, to its distribution in the first one-way tables.
        candidates: the tables that may be chosen.
        sizes: number of cells of each column.
        n: number of records.
        rho: rho of the whole run.
        one_way: share f1 of rho that was already spent on the first one-way tables.
        selection: share fs of rho for the selections.
        seed: seed of the public randomness.
    """
    columns, most = sum(size > 1 for size in sizes), most_tables(sizes, len(candidates))
    if not most:
        return Choice(0, 1.0)
    usual = min(most, _EACH * columns)
    weight, penalties = _WEAK if _all_small(sizes) else 1.0, _Penalties(laws, candidates, seed)
    measured = 1.0 - selection / (1.0 - one_way)  # of what tables get, the part that is not for choosing them

    def penalty(tables: int, share: float) -> float:
        return weight * penalties.mean(math.sqrt(tables / (measured * (1.0 - share) * rho)) / n)

    wanted = penalty(usual, one_way)
    if wanted >= _HOPELESS:
        return Choice(0, 1.0)
    share = max(one_way, math.floor(_STEPS * (_SHARE + _SLOPE * wanted) + 0.5) / _STEPS)
    tables = float(most)
    while tables > _FEWEST * columns and penalty(round(tables), share) > (_CLEAR if round(tables) > usual else _WORTH):
        tables *= _GRID
    return Choice(max(1, round(tables)), share)


class _Penalties:
    """The mean penalty of some candidates under the assumption of independent columns, for any noise."""

    def __init__(self, laws: Mapping[tuple[int, ...], NDArray[np.float64]], candidates: Candidates, seed: int) -> None:
        places = np.unique(np.linspace(0, len(candidates) - 1, min(len(candidates), LOOKED_AT)).astype(np.int64))
        self._tables = []
        for at in places.tolist():
            table = np.ones(())
            for j in candidates.columns(at):
                table = np.multiply.outer(table, laws[(j,)])
            self._tables.append(np.rint(table.reshape(-1) * 2.0**40).astype(np.int64))
        self._noise = normals(key_of(seed, "tables"), _NORMALS)

    def mean(self, deviation: float) -> float:
        """The mean penalty, in [0, 2], for noise with the given standard deviation in a cell, as a fraction of the
        records.
        """
        found = [penalty_of(table, float(table.sum()), deviation, self._noise, place * 40503 % _NORMALS)
                 for place, table in enumerate(self._tables)]
        return math.fsum(found) / len(found)


# ---- plan

_UNIT = Relation.REPLACE

MOST_TRIPLED = 60
"""Largest number of columns for which all triples are candidates."""

MOST_PAIRED = 500
"""Largest number of columns for which all pairs are candidates."""


MOVED = 2
"""Squared L2 sensitivity of a table: the replacement of a record changes two of its cells by one count each."""


@dataclass(frozen=True)
class Split:
    """The split of a privacy budget. Standard deviations of noise are rounded up, and the epsilon of a selection is
    rounded down, so that a run never costs more than the budget.

    Args:
        columns: number of one-way tables, which are measured with noise of standard deviation `one_way`.
        tables: number of selected and measured tables, T.
        one_way: standard deviation of the noise of the one-way tables, in counts.
        sigma: standard deviation of the noise of the selected tables, in counts; 0 without selected tables.
        epsilon: epsilon of one selection, an exponential mechanism, in nats; 0 without selected tables.
        again: standard deviation of the noise of a second measurement of the one-way tables, in counts; 0 without a
            second measurement.
    """

    columns: int
    tables: int
    one_way: float
    sigma: float
    epsilon: float
    again: float = 0.0

    def events(self) -> tuple[Event, ...]:
        """The events of all releases of a run. The replacement of a record changes two cells of a table by one count,
        so the L2 sensitivity is sqrt(2).
        """
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
    """The split of a budget rho between m one-way tables, T selections and T selected tables:

        sigma_1^2 = m/(f1 rho),    sigma^2 = T/((1 - f1 - fs) rho),    epsilon^2 = 8 fs rho/T.

    In the formulas sigma_1 and sigma are the standard deviations of the noise of the one-way tables and of the selected
    tables, in counts. The epsilon of a selection, an exponential mechanism, is in nats. Without selected tables, f1 is
    1.

    Args:
        rho: rho of the whole run, > 0.
        columns: number m of columns with more than one cell.
        tables: number of selected tables, T.
        one_way: share f1 of rho for the one-way tables.
        selection: share fs of rho for the selections.
    """
    budget, first, choosing = Fraction(rho), written(one_way), written(selection)
    if not tables:
        return Split(columns, 0, _root_up(columns / budget), 0.0, 0.0)
    return Split(columns, tables, _root_up(columns / (first * budget)),
                 _root_up(tables / ((1 - first - choosing) * budget)), _range_down(8 * choosing * budget, tables))


def open_events(rho: float, one_way: float) -> tuple[Event, ...]:
    """The events of a run that chooses T from its one-way tables: the first one-way tables, and everything after them.

    For every outcome of the first one-way tables, the rest of the run is a mechanism with at most the stated rho, by
    the construction of `chosen_split`. The whole run is therefore an adaptive composition of two zCDP mechanisms with
    fixed costs, for every choice that the run makes.

    Source: Bun and Steinke 2016, Lemma 2.3.
    """
    first = written(one_way) * Fraction(rho)
    return (
        ZCDPEvent(rho=float_up(first), neighbours=_UNIT, label="one-way tables"),
        ZCDPEvent(rho=float_up(Fraction(rho) - first), neighbours=_UNIT, label="what follows from them"),
    )


def chosen_split(rho: float, columns: int, one_way: float, selection: float, choice: Choice) -> Split:
    """The split of the budget after the first one-way tables. The remaining budget is divided between a second
    measurement of the one-way tables and T selected tables.

    Args:
        rho: rho of the whole run, > 0.
        columns: number m of columns with more than one cell.
        one_way: share f1 of rho that the first one-way tables have spent.
        selection: share fs of rho for the selections. The share fs shrinks in proportion to the share of rho that
            remains for the selected tables.
        choice: choice that the run made from the first one-way tables.
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
    """The largest double epsilon with tables * epsilon^2 <= square. The condition holds both for the double's exact
    value and for its decimal spelling.
    """
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
    """Default numbers of columns of a chosen table: 2 and 3 (pairs and triples) for up to 60 columns, and only 2 for
    more columns, to limit the running time.
    """
    return (2, 3) if columns <= MOST_TRIPLED else (2,)


def check_columns(sizes: tuple[int, ...], widths: tuple[int, ...]) -> int:
    """The number m of columns with more than one cell. A schema with too many columns is refused, because a run would
    take too long.

    Raises:
        InvalidInput: no column has more than one cell.
        Refused: there are too many columns for all triples, or for all pairs.
    """
    columns = sum(size > 1 for size in sizes)
    if not columns:
        raise InvalidInput("schema", "has no column with more than one cell", "there is nothing to measure")
    if 3 in widths and columns > MOST_TRIPLED:
        pairs = ("widths=(2,), which measures only pairs" if columns <= MOST_PAIRED else
                 "DualQuery, with a cost that hardly depends on the number of columns")
        raise Refused(f"all triples of {columns} columns are too many",
                      f"must be at most {MOST_TRIPLED} columns; use {pairs}")
    if columns > MOST_PAIRED:
        raise Refused(f"all pairs of {columns} columns are too many",
                      f"must be at most {MOST_PAIRED} columns; use DualQuery, with a cost that hardly depends on the "
                      "number of columns")
    return columns


# ---- memory

MOST_BYTES = 2**33
"""Largest estimated memory of an accepted plan, in bytes: 8 GiB. The limit is the same on every machine, so that all
parties accept the same plans. A machine with less memory needs a smaller plan.
"""

_KEY_BITS = 62  # of the columns that one sorting key holds
_REMEDIES = {
    "records": "use a sample of the records, or fewer columns",
    "population": "use a smaller population, or fewer columns",
    "largest_table": "lower largest_table or tables, or take wider bins",
}


def bytes_needed(
    n: int, sizes: tuple[int, ...], population: int, tables: int, candidates: Candidates
) -> dict[str, int]:
    """Estimated bytes of memory of a run at its peak, if all records differ. Python and its libraries take about 250 MB
    in addition.

    Args:
        n: number of records.
        sizes: number of cells of each of the m columns.
        population: number of rows of the population, N.
        tables: number of tables T, or the largest number that the run may choose.
        candidates: the tables that may be chosen.

    Returns:
        A mapping from parameter to the bytes that it causes. The entry "records" counts the given records, the distinct
        rows, and the distinct rows column by column (2 m bytes each), with the number, multiplicity and cell of each
        row (40 bytes). The entry "population" counts the rows, the redrawn rows, and the sorted rows column by column,
        twice for bits (2 m bytes each), with keys, weights and positions. The entry "largest_table" counts 4 bytes for
        each cell of all candidates and 320 bytes for each candidate. The entry "largest_table" also counts 11 doubles
        for each cell of the chosen tables: the noisy counts, the targets, the factors, and two further copies of the
        factors for each of three columns.
    """
    m, keys = len(sizes), sum((size - 1).bit_length() for size in sizes) // _KEY_BITS + 1
    cells = 2 * sum(sizes)
    listed = looked_at = 0
    if len(candidates):
        each = np.sort(np.diff(candidates.starts))
        cells += int(each[max(0, len(each) - tables):].sum()) if tables else 0
        listed = 4 * int(candidates.starts[-1]) + 320 * len(candidates)
        looked_at = 8 * min(LOOKED_AT, len(candidates)) * int(each[-1])
    return {
        "records": n * (6 * m + 40),
        "population": population * (8 * m + 8 * keys + 64),
        "largest_table": listed + max(looked_at, 88 * cells),
    }


def check_memory(needed: dict[str, int]) -> None:
    """Refuse a plan that needs more than `MOST_BYTES` of memory, and name the parameter to lower.

    Args:
        needed: bytes by parameter, from `bytes_needed`.

    Raises:
        Refused: the plan needs too much memory. The message names the parameter that causes the most memory.
    """
    total = sum(needed.values())
    if total > MOST_BYTES:
        worst = max(needed, key=lambda name: needed[name])
        part = needed[worst] / total
        raise Refused(f"a run may take {total / 2**30:,.1f} GiB of memory, {part:.0%} of it for {worst}",
                      f"must be at most {MOST_BYTES / 2**30:g} GiB; {_REMEDIES[worst]}")
