"""Weak duality: any prices bound the optimal welfare OPT from above. The bounds certify a run's welfare.

Single goods: let s_j be the supply of good j, and v_ij its value to bidder i. For any prices p >= 0 the bound is

    OPT <= sum_j s_j p_j + sum_i max(0, max_j v_ij - p_j)

The bound holds because the holder of good j in the optimum has v_ij = p_j + (v_ij - p_j).

Bundles: let p(S) be the price of a bundle S. For any prices p >= 0 the bound is

    OPT <= sum_j s_j p_j + sum_i max_S (v_i(S) - p(S))

The bound holds because the bundle O_i of bidder i in the optimum is worth v_i(O_i) = (v_i(O_i) - p(O_i)) + p(O_i), and
good j is in at most s_j of these bundles. The surplus max_S (v_i(S) - p(S)) and the value of each bidder lie in [0, 1],
so one bidder changes the sum of surpluses and the sum of values by at most 1 each.

For bidders who want b goods with additive values, `exact_sums` computes the bound exactly:

    OPT <= sum_j s_j p_j + sum_i (sum of the b largest of max(0, v_ij - p_j))

Every difference is kept exactly, as the sum of two doubles, and the sum of all differences is rounded only once.

Source: spec allocation 4.2 and 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide._compiled import kernel
from confide.allocation.billboards import WelfareCertificate
from confide.allocation.bundles.bidders import Population
from confide.allocation.measuring import Measure
from confide.allocation.valuations import Valuations
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise

__all__ = [
    "BUNDLES_CERTIFIED",
    "CERTIFIED",
    "BundleCertificatePlan",
    "CertificatePlan",
    "bundle_dual_bound",
    "dual_bound",
    "exact_sums",
    "surpluses",
]

# ---- duality

_GRID = 20
_UNIT = 2.0**-_GRID
CERTIFIED = (2 << _GRID, 2 << 2 * _GRID)
"""The l1 sensitivity and the squared l2 sensitivity of surplus and welfare together, if a bidder's row of values of
single goods is replaced. The unit of both sums is 2^-20 of value.
"""


@kernel
def _surpluses(
    values: NDArray[Any], starts: NDArray[np.int64], named: NDArray[np.int32], dense: bool, prices: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    goods = len(prices)
    for i in range(len(out)):
        best = 0.0
        if dense:
            for j in range(goods):
                best = max(best, np.float64(values[i * goods + j]) - prices[j])
        else:
            for place in range(starts[i], starts[i + 1]):
                best = max(best, np.float64(values[place]) - prices[named[place]])
        out[i] = best


def surpluses(values: Valuations, prices: NDArray[np.float64]) -> NDArray[np.float64]:
    """The best gain (value less price) of each bidder at given prices, shape (n,). The gain is 0 for a bidder without a
    positive gain. The gains are private.
    """
    out = np.empty(values.people)
    _surpluses(*values.rows, np.ascontiguousarray(prices, dtype=np.float64), out)
    return out


def dual_bound(values: Any, supply: ArrayLike, prices: ArrayLike) -> float:
    """An upper bound on the welfare of any allocation of single goods. The bound holds at any prices, and is private.

    Args:
        values: valuations, shape (n, k), dense or sparse, or `Valuations`.
        supply: number of copies of each good, shape (k,), or one number for all.
        prices: price >= 0 of each good, shape (k,).

    Example:
        >>> round(dual_bound([[1.0, 0.5], [0.9, 0.5]], 1, [0.4, 0.0]), 6)
        1.5
    """
    of = Valuations.whole(values)
    at = np.asarray(prices, dtype=np.float64)
    if at.shape != (of.goods,) or not bool((at >= 0.0).all()):
        raise InvalidInput("prices", "are not one number >= 0 for each good")
    copies = np.broadcast_to(np.asarray(supply, dtype=np.float64), at.shape)
    return math.fsum([math.fsum(copies * at), math.fsum(surpluses(of, at))])


@dataclass(frozen=True, kw_only=True)
class CertificatePlan:
    """Public parameters of the release of the noisy surplus and the noisy welfare, from which the certificate follows.
    One bidder changes surplus and welfare by at most 1 each.

    Each bidder's surplus is rounded up to a multiple of 2^-20, and their value is rounded down. So rounding never
    breaks the bounds.

    Args:
        supply: number s_j of copies of each good j.
        measure: noise of both sums, in units of 2^-20 of value.
        failure_probability: upper bound, in (0, 1), on the probability that any claim of the certificate fails.
    """

    supply: tuple[int, ...]
    measure: Measure
    failure_probability: float

    def reported(
        self, values: Valuations, prices: NDArray[np.float64], held: NDArray[Any], noise: Noise
    ) -> tuple[float, float]:
        """Draw the noisy surplus and the noisy welfare, both in units of value."""
        surplus = int(np.ceil(surpluses(values, prices) / _UNIT).astype(np.int64).sum())
        welfare = int(np.floor(values.of_goods(held) / _UNIT).astype(np.int64).sum())
        drawn = self.measure.draw(np.array([surplus, welfare]), noise, "certificate")
        return float(drawn[0]) * _UNIT, float(drawn[1]) * _UNIT

    def certificate(self, prices: NDArray[np.float64], surplus: float, welfare: float) -> WelfareCertificate:
        """The certificate that follows from prices and noisy sums. The certificate holds with probability 1 -
        failure_probability.
        """
        off = self.measure.reach(self.failure_probability / 2) * _UNIT  # one tail of each
        most = math.fsum(np.array(self.supply) * prices) + surplus + off
        least = max(0.0, welfare - off)
        ratio = least / most if most > 0 else 0.0
        return WelfareCertificate(ratio=ratio, welfare=least, optimum=most,
                                  failure_probability=self.failure_probability)


# ---- certificate

_SURPLUS, _WELFARE = (1 << _GRID) + 1, 1 << _GRID
BUNDLES_CERTIFIED = (_SURPLUS + _WELFARE, _SURPLUS**2 + _WELFARE**2)
"""The l1 sensitivity and the squared l2 sensitivity of surplus and welfare together, if a bidder's record of values of
bundles is replaced. The unit of both sums is 2^-20 of value. A record may be worth half a unit more than 1, so a
bidder's surplus, rounded up, is at most one unit more than 1.
"""

_ROUNDING = 2.0**-40  # more than that of a sum of doubles below 1


def bundle_dual_bound(population: Population, supply: ArrayLike, prices: ArrayLike) -> float:
    """An upper bound on the welfare of any allocation of bundles. The bound holds at any prices, and is private.

    Args:
        population: valuations of all bidders. Valuations that are given as programs must have gross substitutes.
        supply: number of copies of each good, shape (k,), or one number for all.
        prices: price >= 0 of each good, shape (k,).

    Example:
        >>> from confide.allocation.bundles import CappedAdditiveValuation
        >>> of = CappedAdditiveValuation(cap=2).population([[0.5, 0.5, 0.25], [0.5, 0.25, 0.0]], people=2, goods=3)
        >>> bundle_dual_bound(of, 1, [0.25, 0.0, 0.0])
        1.5
    """
    at = np.asarray(prices, dtype=np.float64)
    if at.shape != (population.goods,) or not bool((at >= 0.0).all()):
        raise InvalidInput("prices", "are not one number >= 0 for each good")
    copies = np.broadcast_to(np.asarray(supply, dtype=np.float64), at.shape)
    return math.fsum([math.fsum(copies * at), math.fsum(population.surpluses(at))])


@dataclass(frozen=True, kw_only=True)
class BundleCertificatePlan(CertificatePlan):
    """Public parameters of the release of the noisy surplus and the noisy welfare in an auction of bundles.

    Each bidder's surplus is rounded up to a multiple of 2^-20, and their value is rounded down. Surplus and value are
    clipped to the range of a valid record, [0, 1] up to rounding, because a bidder's program may give any answer.
    """

    def reported_of(
        self, population: Population, prices: NDArray[np.float64], held: NDArray[Any], noise: Noise
    ) -> tuple[float, float]:
        """Draw the noisy surplus and the noisy welfare, both in units of value.

        Args:
            population: valuations of all bidders. Private.
            prices: final prices, shape (k,).
            held: goods of each bidder, shape (n, b), with -1 for none. Private.
            noise: source of the noise.
        """
        gained, worth = population.surpluses(prices), population.worth(held)
        up = np.ceil((gained + np.where(gained > 0.0, _ROUNDING, 0.0)) / _UNIT)
        down = np.floor((worth - _ROUNDING) / _UNIT)
        surplus = int(np.clip(np.nan_to_num(up, nan=_SURPLUS), 0, _SURPLUS).astype(np.int64).sum())
        welfare = int(np.clip(np.nan_to_num(down, nan=0.0), 0, _WELFARE).astype(np.int64).sum())
        drawn = self.measure.draw(np.array([surplus, welfare]), noise, "certificate")
        return float(drawn[0]) * _UNIT, float(drawn[1]) * _UNIT


# ---- certificate

_Reals = NDArray[np.float64]

_PART = 2**18  # numbers that are lists of Python's at one time


@kernel
def _terms(
    values: NDArray[Any], starts: NDArray[np.int64], named: NDArray[np.int32], dense: bool, prices: _Reals,
    held: NDArray[np.int32], surplus: _Reals, rest: _Reals, worth: _Reals,
) -> None:
    """Write each row's b largest surpluses to `surplus`, their rounding errors to `rest`, and the values of the held
    goods to `worth`.
    """
    people, each = held.shape
    goods = len(prices)
    surplus[:], rest[:], worth[:] = 0.0, 0.0, 0.0
    for i in range(people):
        first, last = (i * goods, (i + 1) * goods) if dense else (starts[i], starts[i + 1])
        for x in range(first, last):
            j = x - first if dense else int(named[x])
            value, price = np.float64(values[x]), prices[j]
            for place in range(each):
                if held[i, place] == j:
                    worth[i, place] = value
            gain = value - price
            back = value - gain
            lack = (value - (gain + back)) + (back - price)
            at = each - 1
            # Rounding keeps order: a larger difference is never rounded to less, and equal ones differ in `lack`.
            if gain < surplus[i, at] or (gain == surplus[i, at] and lack <= rest[i, at]):
                continue
            while at > 0 and (gain > surplus[i, at - 1] or (gain == surplus[i, at - 1] and lack > rest[i, at - 1])):
                surplus[i, at], rest[i, at] = surplus[i, at - 1], rest[i, at - 1]
                at -= 1
            surplus[i, at], rest[i, at] = gain, lack


def exact_sums(
    values: Valuations, supply: NDArray[np.int64], prices: _Reals, held: NDArray[np.int32]
) -> tuple[float, float, float]:
    """Three exact sums, each rounded once: the dual bound at given prices, the welfare of an allocation, and their
    difference.

    Args:
        values: valuations of all bidders.
        supply: number of copies of each good, shape (k,).
        prices: price >= 0 of each good, shape (k,).
        held: goods of each bidder, all different, shape (n, b), with -1 for none.
    """
    surplus, rest, worth = (np.empty(held.shape) for _ in range(3))
    _terms(*values.rows, prices, held, surplus, rest, worth)
    revenue = []
    for copies, price in zip(supply.tolist(), prices.tolist(), strict=True):
        product = copies * Fraction(price)
        revenue += [float(product), float(product - Fraction(float(product)))]
    bound = [np.array(revenue), surplus.ravel(), rest[rest != 0.0]]
    gained = [worth.ravel()]
    return _sum(bound), _sum(gained), _sum([*bound, -worth.ravel()])


def _sum(arrays: list[_Reals]) -> float:
    parts = (array[at : at + _PART] for array in arrays for at in range(0, len(array), _PART))
    return math.fsum(chain.from_iterable(part.tolist() for part in parts))
