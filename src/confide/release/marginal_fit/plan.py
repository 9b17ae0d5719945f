"""The measurements of a run of `MarginalFit`, their noise, and their cost: public arithmetic, before any data.

Source: spec query_release D6 (accounting).

How many tables a run measures, and how much of the budget they get: chosen from its own one-way tables.

A table is worth its noise where that is small beside what it can teach. The noise is known before anything of the table
is: the penalty of a candidate, the L1 distance by which its noise would move it, follows from the one-way tables as
released. Where it is large, the budget is better spent on the one-way tables again; where it is small, on more tables.

Source: spec query_release D6 (T from the public penalty); the constants are measured, see the family's page.

How much memory a run takes at most, from public numbers alone: what cannot fit is refused before anything is drawn.

Source: measured; the peaks of whole runs are in `tests/release/test_marginal_fit_runs.py`.
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
"""Candidates, evenly spaced, whose penalties are looked at."""


@dataclass(frozen=True)
class Choice:
    """The choice of a run after its first one-way tables.

    Args:
        tables: T.
        one_way: share of rho that all one-way tables get, what they had already with it; 1 where T = 0.
    """

    tables: int
    one_way: float


def usual_tables(sizes: tuple[int, ...], candidates: int) -> int:
    """T = 2m, or 8m where all columns have at most 4 cells: small tables tell little each."""
    return min(candidates, (_MOST_SMALL if _all_small(sizes) else _EACH) * sum(size > 1 for size in sizes))


def most_tables(sizes: tuple[int, ...], candidates: int) -> int:
    """The largest T that a run may choose: 4m, or 8m where all columns have at most 4 cells."""
    return min(candidates, (_MOST_SMALL if _all_small(sizes) else _MOST) * sum(size > 1 for size in sizes))


def shares_after(one_way: float) -> tuple[float, ...]:
    """All shares of the one-way tables that a run may choose where there are others.

    Args:
        one_way: f1, what they had already.

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
    """Choose from one-way tables as released, and public facts.

    With p the mean penalty at T = 2m, the share of the one-way tables is 0.15 + 0.3 p, and all where p >= 1.3. T is
    then the largest number with a mean penalty of at most 0.7 up to 2m, or 0.1 beyond that, in steps of a quarter of an
    octave, between m/2 and 4m. Where no column has more than 4 cells it is 8m at most, and penalties count twice: what
    such tables tell is that much less.

    Args:
        laws: the distribution of each column, from the first tables.
        candidates: the tables.
        sizes: cells of each column.
        n: records.
        rho: rho of the whole run.
        one_way: f1, spent already.
        selection: fs.
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
    """The mean penalty of some candidates where columns are independent, at any noise."""

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
        """Of noise with this deviation in a cell, as a fraction of the records; in [0, 2]."""
        found = [penalty_of(table, float(table.sum()), deviation, self._noise, place * 40503 % _NORMALS)
                 for place, table in enumerate(self._tables)]
        return math.fsum(found) / len(found)


# ---- plan

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
    """The split of a budget: sigma_1^2 = m/(f1 rho), sigma^2 = T/((1 - f1 - fs) rho), epsilon^2 = 8 fs rho/T; without
    tables, f1 is 1.

    Args:
        rho: rho of the whole run, > 0.
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
    """The events of a run that chooses T from its one-way tables: these, and whatever comes after them.

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
        rho: rho of the whole run, > 0.
        columns: m.
        one_way: f1, the share of the first one-way tables.
        selection: fs, the share of the selections; it shrinks with that of the tables.
        choice: the choice from them.
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
    """The number m of columns with more than one cell; refuses what would take too long, whatever the data is.

    Raises:
        InvalidInput: no column tells anything.
        Refused: too many columns for all triples, or for all pairs.
    """
    columns = sum(size > 1 for size in sizes)
    if not columns:
        raise InvalidInput("schema", "has no column with more than one cell", "there is nothing to measure")
    if 3 in widths and columns > MOST_TRIPLED:
        pairs = ("widths=(2,), pairs alone" if columns <= MOST_PAIRED else
                 "DualQuery, with a cost that hardly depends on them")
        raise Refused(f"all triples of {columns} columns are too many", f"at most {MOST_TRIPLED}; use {pairs}")
    if columns > MOST_PAIRED:
        raise Refused(f"all pairs of {columns} columns are too many",
                      f"at most {MOST_PAIRED}; use DualQuery, with a cost that hardly depends on them")
    return columns


# ---- memory

MOST_BYTES = 2**33
"""Largest estimate with which a plan is accepted, 8 GiB. It is the same on every machine, so that a plan that one party
accepts is no other's refusal; a smaller machine needs a smaller plan."""

_KEY_BITS = 62  # of the columns that one sorting key holds
_REMEDIES = {
    "records": "lower records, by a sample of the records, or take fewer columns",
    "population": "lower population, or take fewer columns",
    "largest_table": "lower largest_table or tables, or take wider bins",
}


def bytes_needed(
    n: int, sizes: tuple[int, ...], population: int, tables: int, candidates: Candidates
) -> dict[str, int]:
    """Bytes that a run holds at its peak, if all records differ; beside Python and its libraries (about 250 MB).

    Args:
        n: records.
        sizes: cells of each column, m of them.
        population: N.
        tables: T, or the largest that the run may choose.
        candidates: the tables that may be chosen.

    Returns:
        The bytes that each parameter is to blame for. "records": as they were given, as distinct rows and column by
        column (2 m bytes each), with a row's number, count and cell (40). "population": rows, those that are drawn
        anew, and the sorted ones column by column, twice for bits (2 m each), with keys, weights and places.
        "largest_table": 4 bytes for each cell of all candidates and 320 for each candidate; of chosen tables noisy
        counts, targets and factors, and the factors twice more for each of three columns (11 doubles a cell).
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
    """Refuse a plan beyond `MOST_BYTES`, and name what to lower.

    Args:
        needed: as `bytes_needed` gives it.

    Raises:
        Refused: names the parameter that takes most.
    """
    total = sum(needed.values())
    if total > MOST_BYTES:
        worst = max(needed, key=lambda name: needed[name])
        part = needed[worst] / total
        raise Refused(f"a run may take {total / 2**30:,.1f} GiB of memory, {part:.0%} of it for {worst}",
                      f"at most {MOST_BYTES / 2**30:g} GiB; {_REMEDIES[worst]}")
