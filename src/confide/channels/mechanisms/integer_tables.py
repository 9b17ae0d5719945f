"""Channels in whole numbers: draws have exactly these odds, and the level is certified in integers.

A table of doubles has the level that it was computed for only up to rounding, and a small entry that a solver or a
rounding sets to 0 beside a positive one has none at all. Here every row is 2^62 units, no positive entry is lost, and
the level is read off the units themselves. Where it must not exceed a number, every row is mixed with one constant row,
by as little as possible: that lowers all ratios, and never raises one.

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
"""Of the constant channel, unless the caller allows more."""
_SLACK = 1e-12


def least_mixed(
    code: Callable[[float], Coded], within: Callable[[Coded, float], bool], most: float = MOST_SHARE
) -> Coded | None:
    """The first coded channel within its levels; None where no share will do.

    Args:
        code: the channel in whole numbers, mixed with a share of the constant one.
        within: whether levels are within what is asked for, identifiability up to a slack. Next to the prior's own
            level, where no mixing lowers it, the channel as it is may exceed by a part in 10^12.
        most: share.
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
    """A channel in whole numbers.

    Args:
        weights: (m^n, k) int64, every row with the same sum, at most 2^62.
        letters: m.
        records: n.
    """

    weights: NDArray[np.int64]
    letters: int
    records: int = 1

    @property
    def total(self) -> int:
        """The sum of a row."""
        return int(self.weights[0].sum())

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """Weights as probabilities, to the nearest double, shape (m^n, k)."""
        return self.weights / self.total

    def dp(self) -> float:
        """Differential privacy in nats: the exact one, rounded up to a double; infinite where 0 stands beside a
        positive weight.
        """
        return exact_dp(self.weights, self.letters, self.records)

    def identifiability(self, law: NDArray[np.float64], enough: float = math.inf) -> float:
        """Identifiability in nats under a prior: an upper bound, within 1e-14 of the exact one.

        Args:
            law: (m^n,) the prior.
            enough: a level above which any other one will do as an answer.
        """
        return _upper(_worst_ratio(self.weights, self.letters, self.records, law, math.exp(min(enough, 700.0))))


class _Limit(NamedTuple):
    name: str
    limit: float
    law: NDArray[np.float64] | None
    measure: Callable[[IntegerTable], float]
    scale: float = 0.0


def exact_dp(weights: NDArray[np.int64], letters: int, rows: int) -> float:
    """Differential privacy of a table of whole numbers whose rows have one sum, in nats: see `IntegerTable.dp`.

    Args:
        weights: (l m^n, k) l such tables, one after another.
        letters: m.
        rows: n.
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
    """Identifiability of single rows: see `IntegerTable.identifiability`.

    Args:
        weights: (l m, k) tables, one after another.
        letters: m.
        law: (l m,) their priors.
    """
    return _upper(_worst_ratio(weights, letters, 1, law))


def _worst_ratio(table: NDArray[np.float64] | NDArray[np.int64], letters: int, rows: int,
                law: NDArray[np.float64] | None = None, enough: float = math.inf) -> float:
    """The largest ratio of two entries of a column whose inputs are neighbours, in doubles; or one above `enough`.

    Args:
        table: (l m^n, k) l tables, one after another.
        letters: m.
        rows: n.
        law: (l m^n,) what each line is multiplied by.
        enough: a ratio above which any other one will do as an answer.
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
    """Views in which axis 1 is one row of the database; of several tables, one after another."""
    for i in range(rows):
        yield block.reshape(-1, letters, letters ** (rows - i - 1) * block.shape[1])


def _upper(ratio: float) -> float:
    """ln of a ratio of doubles that was rounded five times, rounded up."""
    return log_up(Fraction(ratio * _ROOM)) if ratio < math.inf else math.inf


def log_up(ratio: Fraction) -> float:
    """Logarithm of a positive ratio, rounded up to a double."""
    from flint import arb

    with precision(_BITS):
        return up((arb(ratio.numerator) / ratio.denominator).log())


def integer_table(
    table: NDArray[np.float64], letters: int, rows: int = 1, *, dp: float | None = None,
    identifiability: float | None = None, law: NDArray[np.float64] | None = None,
) -> IntegerTable:
    """A table of probabilities in whole numbers.

    Args:
        table: (m^n, k) rows that sum to 1.
        letters: number of letters, m.
        rows: number of rows, n.
        dp: limit of its differential privacy, in nats.
        identifiability: limit of its identifiability; next to the prior's own level, where no mixing lowers it, by more
            than a part in 10^12. A prior in doubles says no more.
        law: (m^n,) the prior; needed for `identifiability`.

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
        raise NotGuaranteed("the level that was asked for", "whole numbers do not reach it",
                            "ask for a slightly larger one")
    return found


def _units(table: NDArray[np.float64]) -> NDArray[np.int64]:
    """Every row in units of 2^-62: rounded down, at least 1 where positive, what is left to the largest entry."""
    counts = np.floor(table * float(_TOTAL)).astype(np.int64)
    counts[(table > 0) & (counts == 0)] = 1
    counts[np.arange(len(table)), table.argmax(axis=1)] += _TOTAL - counts.sum(axis=1)
    return counts
