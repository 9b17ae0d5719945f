"""The public arithmetic of `SinkhornMatch`: how prices follow from released demand, the same on every machine.

A verifier computes prices again from what was released, to the last bit. Additions, products and roundings of doubles
are the same everywhere; logarithms and powers of a machine's library are not, so they are made of those here.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from confide.allocation.scaling.soft_demand import WHOLE
from confide.privacy.accounting.sums import ball, written
from confide.privacy.noise.balls import precision

__all__ = ["GRID", "falling", "logarithm", "moved_prices", "prices_of", "weights"]

GRID = 20
"""Prices are multiples of 2^-20."""

_LEAST = 0.2  # of the supply: noise beyond that says nothing of how low demand is
_LN2 = math.log(2.0)  # 0x1.62e42fefa39efp-1, a constant
_TERMS = 10
_BITS = 128

_Reals = NDArray[np.float64]
_Integers = NDArray[np.int64]


def logarithm(numbers: _Reals) -> _Reals:
    """Natural logarithms of positive numbers, to about 1e-15, from sums and products alone.

    Args:
        numbers: any shape, > 0.

    Example:
        >>> float(abs(logarithm(np.array([0.2])) - np.log(0.2))[0]) < 1e-15
        True
    """
    part, power = np.frexp(numbers)
    low = part < math.sqrt(0.5)
    part, power = np.where(low, 2.0 * part, part), power - low
    t = (part - 1.0) / (part + 1.0)  # ln part = 2 artanh t, |t| < .172
    square = t * t
    total = np.zeros_like(t)
    for term in range(_TERMS, -1, -1):
        total = total * square + 1.0 / (2 * term + 1)
    return np.asarray(2.0 * t * total + power * _LN2)


def prices_of(path: _Integers) -> _Reals:
    """Prices from units of 2^-20."""
    return np.ldexp(path.astype(np.float64), -GRID)


def moved_prices(
    path: _Integers, demand: _Integers, supply: tuple[int, ...], people: int, step: float, highest: float = 1.0
) -> _Integers:
    """The prices after a round, in [0, highest], on the grid: p_j + step (ln D_j/s_j + ln (n - S)/(n - D)).

    The second part is the same for all goods. It is the scaling of those who go without: S, the sum of supplies, leaves
    n - S of them, and D = sum of D_j leaves n - D. A good that has no price and is not sold out counts with its demand
    in S. No quotient is taken as below 1/5 or, of the second, above 5; where there is enough for all it is 1.

    Args:
        path: (k,) prices before it, in units of 2^-20.
        demand: (k,) D_j, as released, in units of 2^-16 bidders.
        supply: (k,) s_j.
        people: n.
        step: how far a price moves for each factor e.
        highest: what no good is worth more than.
    """
    copies = np.array(supply, dtype=np.float64)
    wanted = np.ldexp(demand.astype(np.float64), -(WHOLE.bit_length() - 1))
    sold = np.where((path == 0) & (wanted < copies), np.maximum(wanted, 0.0), copies)
    excess = logarithm(np.maximum(wanted, _LEAST * copies) / copies)
    # Sums of whole numbers below 2^53 and of their 2^-16ths are exact in any order.
    without = people - float(sold.sum())
    if without > 0:
        left = min(max(people - float(wanted.sum()), _LEAST * without), without / _LEAST)
        excess = excess + logarithm(np.array([without / left]))
    after = prices_of(path) + step * excess
    return np.rint(np.ldexp(np.clip(after, 0.0, highest), GRID)).astype(np.int64)


def falling(first: float, last: float, rounds: int) -> tuple[float, ...]:
    """Numbers from the first to the last that fall, or rise, by the same factor.

    Args:
        first: > 0.
        last: > 0.
        rounds: how many, >= 1.

    Example:
        >>> falling(0.4, 0.1, 3)
        (0.4, 0.2, 0.1)
    """
    if rounds == 1:
        return (first,)
    with precision(_BITS):
        ratio = (ball(written(last)) / ball(written(first))).log()
        return tuple(float((ball(written(first)) * (ratio * r / (rounds - 1)).exp()).mid()) for r in range(rounds))


def weights(growth: float, rounds: int) -> tuple[Fraction, ...]:
    """Shares of a budget, each `growth` times the one before; together 1.

    Example:
        >>> weights(2.0, 2)
        (Fraction(1, 3), Fraction(2, 3))
    """
    exact = [written(growth) ** r for r in range(rounds)]
    together = sum(exact)
    return tuple(one / together for one in exact)
