"""Channels in whole numbers: draws have exactly the stated probabilities, and the level is certified in integers.

A table of doubles has the privacy level for which it was computed only up to rounding. If a solver or rounding sets a
small entry to 0 while a neighbour's entry is positive, the level is infinite. In a table of this module every line
consists of whole numbers with the sum 2^62, and every positive entry is at least 1. The level is computed from these
whole numbers. If the level must not exceed a limit, every line is mixed with the same constant line, with a share as
small as possible. Mixing brings all ratios between lines closer to 1.

Source: spec privacy_notions 4 ("exact coding for releases").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from confide.channels.kernels import column_blocks
from confide.contract.errors import NotGuaranteed
from confide.privacy.losses import up
from confide.privacy.noise.balls import precision

__all__ = ["MOST_SHARE", "IntegerTable", "exact_dp", "exact_identifiability", "integer_table", "least_mixed", "log_up"]

Coded = TypeVar("Coded")

_LEAST_SHARE = 2.0**-48
MOST_SHARE = 2.0**-20
"""Largest fraction of the constant channel that is mixed in, unless the caller allows a larger one."""
_SLACK = 1e-12


def least_mixed(
    code: Callable[[float], Coded], within: Callable[[Coded, float], bool], most: float = MOST_SHARE
) -> Coded | None:
    """A coded channel that is mixed with a constant channel, so that its levels are within their limits. A constant
    channel has the same output for all databases. Among the tried fractions of the constant channel, the smallest that
    suffices is used. The result is None if no tried fraction suffices.

    Args:
        code: function from a fraction to the coded channel, into which this fraction of the constant channel is mixed.
        within: function from a coded channel and a tolerance to whether the levels are within their limits; the
            tolerance is for identifiability. Close to the level of the prior, which no release lowers, the unmixed
            channel may exceed the limit by a part in 10^12.
        most: largest fraction of the constant channel that is tried, in [0, 1].
    """
    first = code(0.0)
    if within(first, 0.0):
        return first
    share = _LEAST_SHARE
    while share <= most:
        found = code(share)
        if within(found, 0.0):
            return found
        share *= 16.0
    return first if within(first, _SLACK) else None


_TOTAL = 2**62
_BITS = 192
_RARE = 2.0**-46
_ROUNDING = 1e-9  # how far above the asked level a table of doubles may be
_CLOSE = 1.0 - 2.0**-48  # ratios of doubles that may be the largest one
_ROOM = 1.0 + 2.0**-49  # for five roundings of a ratio of doubles


@dataclass(frozen=True, eq=False)
class IntegerTable:
    """A channel as a table of whole numbers.

    Args:
        weights: the whole numbers, shape (m^n, k), int64, with one line for each database and k outputs. Every line has
            the same sum, at most 2^62.
        letters: number m of letters, which are the values that a row can have.
        records: number of rows of the database, n.
    """

    weights: NDArray[np.int64]
    letters: int
    records: int = 1

    @property
    def total(self) -> int:
        """Sum of each line of the table; the sum is the same for all lines."""
        return int(self.weights[0].sum())

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """Probabilities of the outputs, `weights` / `total`, each rounded to the nearest double, shape (m^n, k)."""
        return self.weights / self.total

    def dp(self) -> float:
        """Differential privacy in nats: the exact value, rounded up to a double. The level is infinite if an output has
        weight 0 under one input and a positive weight under a neighbour.
        """
        return exact_dp(self.weights, self.letters, self.records)

    def identifiability(self, law: NDArray[np.float64], enough: float = math.inf) -> float:
        """Upper bound of the identifiability in nats under a prior, within 1e-14 of the exact value.

        Args:
            law: prior probabilities of all databases, shape (m^n,).
            enough: level, in nats, above which the exact value does not matter. The search may stop when it finds a
                larger value.
        """
        return _upper(_worst_ratio(self.weights, self.letters, self.records, law, math.exp(min(enough, 700.0))))


class _Limit(NamedTuple):
    name: str
    limit: float
    law: NDArray[np.float64] | None
    measure: Callable[[IntegerTable], float]
    scale: float = 0.0


def exact_dp(weights: NDArray[np.int64], letters: int, rows: int) -> float:
    """Differential privacy, in nats, of tables of whole numbers in which all lines have the same sum: see
    `IntegerTable.dp`.

    Args:
        weights: l tables of whole numbers with k outputs each, one below the other, shape (l m^n, k).
        letters: number m of letters, which are the values that a row can have.
        rows: number of rows of the database, n.
    """
    worst = Fraction(1)
    for block in column_blocks(weights):
        for view in _neighbours(block, letters, rows):
            top, bottom = view.max(axis=1), view.min(axis=1)
            if not bottom.all():
                if (top[bottom == 0] > 0).any():
                    return math.inf
                top, bottom = top[bottom > 0], bottom[bottom > 0]
            ratios = top / bottom
            near = ratios >= _CLOSE * max(float(ratios.max(initial=0.0)), float(worst))
            if near.any():
                pairs = np.unique(np.stack([top[near], bottom[near]]), axis=1)
                worst = max([worst, *(Fraction(a, b) for a, b in pairs.T.tolist())])
    return log_up(worst)


def exact_identifiability(weights: NDArray[np.int64], letters: int, law: NDArray[np.float64]) -> float:
    """Identifiability of single rows in nats: see `IntegerTable.identifiability`.

    Args:
        weights: l tables of whole numbers, one below the other, shape (l m, k). Each table is for a single row of a
            database, and has k outputs.
        letters: number m of letters, which are the values that a row can have.
        law: prior distribution of the row of each table, one after the other, shape (l m,).
    """
    return _upper(_worst_ratio(weights, letters, 1, law))


def _worst_ratio(table: NDArray[np.float64] | NDArray[np.int64], letters: int, rows: int,
                law: NDArray[np.float64] | None = None, enough: float = math.inf) -> float:
    """The largest ratio, in doubles, of two entries of a column that belong to neighbouring databases. If the largest
    ratio is above `enough`, the search may stop early, at any ratio above `enough`.

    Args:
        table: l tables, one below the other, shape (l m^n, k).
        letters: number m of letters, which are the values that a row can have.
        rows: number of rows of the database, n.
        law: factor of each row of `table`, shape (l m^n,).
        enough: ratio above which the exact value does not matter.
    """
    worst = 1.0
    for block in column_blocks(table):
        for view in _neighbours(block if law is None else block * law[:, None], letters, rows):
            top, bottom = view.max(axis=1), view.min(axis=1)
            if not bottom.all():
                if (top[bottom == 0] > 0).any():
                    return math.inf
                top, bottom = top[bottom > 0], bottom[bottom > 0]
            worst = max(worst, float((top / bottom).max(initial=1.0)))
        if worst > enough:
            break
    return worst


def _neighbours(block: NDArray[Any], letters: int, rows: int) -> Iterator[NDArray[Any]]:
    """Views of a block of tables, one for each row of the database; axis 1 of a view runs over that row's letters."""
    for i in range(rows):
        yield block.reshape(-1, letters, letters ** (rows - i - 1) * block.shape[1])


def _upper(ratio: float) -> float:
    """Logarithm of a ratio of doubles that was rounded five times; the result is rounded up, so that it is at least the
    true logarithm.
    """
    return log_up(Fraction(ratio * _ROOM)) if ratio < math.inf else math.inf


def log_up(ratio: Fraction) -> float:
    """Natural logarithm of a positive ratio, rounded up to a double."""
    from flint import arb

    with precision(_BITS):
        return up((arb(ratio.numerator) / ratio.denominator).log())


def integer_table(
    table: NDArray[np.float64], letters: int, rows: int = 1, *, dp: float | None = None,
    identifiability: float | None = None, law: NDArray[np.float64] | None = None,
) -> IntegerTable:
    """A table of probabilities, converted to whole numbers.

    Args:
        table: probabilities, shape (m^n, k), with one line for each database and k outputs; every line sums to 1.
        letters: number m of letters, which are the values that a row can have.
        rows: number of rows of the database, n.
        dp: limit of the table's differential privacy, in nats; None for no limit.
        identifiability: limit of the table's identifiability, in nats; None for no limit. Close to the level of the
            prior, which no release lowers, the result may exceed the limit by a part in 10^12; a prior in doubles is no
            more precise.
        law: prior probabilities of all databases, shape (m^n,); needed for `identifiability`.

    Raises:
        NotGuaranteed: the table's own level is above the limit by more than rounding.
    """
    # A column that is next to impossible from every input would be a few units, of coarse ratios: it is left out.
    exact = np.where(table.max(axis=0) * table.shape[1] < _RARE, 0.0, table)
    exact /= exact.sum(axis=1, keepdims=True)
    limits: list[_Limit] = []
    if dp is not None:
        limits.append(_Limit("differential privacy", dp, None, lambda found: found.dp()))
    if identifiability is not None and law is not None:
        wanted = max(identifiability, _upper(_worst_ratio(law[:, None], letters, rows)))
        limits.append(_Limit("identifiability", wanted, law,
                             lambda found: found.identifiability(law, wanted), 1.0 + wanted))
    for each in limits:
        level = math.log(_worst_ratio(exact, letters, rows, each.law))
        if level > each.limit + _ROUNDING * (1.0 + each.limit):
            raise NotGuaranteed(f"{each.name} of {each.limit:g}", f"the table has {level:.12g}",
                                "ask for the table's own level")
    used = (exact > 0).any(axis=0)
    # Half a uniform row: it keeps columns away from single units, whose rounding would be coarse.
    constant = 0.5 * (exact.mean(axis=0) if law is None else law @ exact) + 0.5 * used / used.sum()
    found = least_mixed(
        lambda share: IntegerTable(_units((1.0 - share) * exact + share * constant), letters, rows),
        lambda found, slack: all(each.measure(found) <= each.limit + slack * each.scale for each in limits),
        most=1.0 if dp is not None and dp < _ROUNDING else MOST_SHARE)
    if found is None:
        raise NotGuaranteed("the requested level", "tables of whole numbers do not reach it",
                            "ask for a slightly larger level")
    return found


def _units(table: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rows of probabilities in units of 2^-62. Each entry is rounded down, but to at least 1 unit where it is positive.
    The remaining units go to the largest entry of the row.
    """
    counts = np.floor(table * float(_TOTAL)).astype(np.int64)
    counts[(table > 0) & (counts == 0)] = 1
    counts[np.arange(len(table)), table.argmax(axis=1)] += _TOTAL - counts.sum(axis=1)
    return counts
