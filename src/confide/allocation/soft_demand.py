"""The arithmetic of `SinkhornMatch`: the soft demand of bidders at given prices, the prices that follow from it, and
the rates of the lottery.

*Soft demand.* At temperature tau a bidder takes part with probability

    1/(1 + exp(-g/tau))

where g is the bidder's best gain v - p among the goods with a positive value v, and p is the price. This participation
is divided among the goods with a positive value, in proportion to exp((v - p)/tau). Participation depends on the best
gain alone. If every good had a weight of its own, many goods would together look as attractive as a single better good,
and at high temperatures all prices would rise. No bidder asks for a good of value 0, at any price. Sums of soft demands
change smoothly with prices, so a few noisy sums show how prices must move.

*Sensitivity.* Shares are rounded down to whole units of 2^-16, and the goods of a row get at most 2^16 units together.
So a row contributes a vector of whole numbers >= 0 with a sum of at most 2^16, whatever the rounding of an exponential
or of a sum. Two rows are therefore at most 2^17 apart in l1. A row of zeros asks for nothing, as an absent bidder does,
so replacing a row by zeros moves the sums by at most 2^16.

*Prices.* The prices follow from the released demand by arithmetic that is the same on every machine, so a verifier
computes them to the last bit. Additions, products and roundings of doubles are the same everywhere. Logarithms and
powers of a machine's library differ between machines, so the module computes both by sums and products.

*Rates.* Suppose that D bidders ask for a good with s copies, and y = D + Z is published, where Z is discrete Laplace
noise of scale b. Each of the D bidders then gets the good with probability q(y), by public randomness of their own. The
probability that more than s bidders get the good is at most beta, whatever D is. The noise and the lottery are one sum
of independent errors, and are bounded together. Separate bounds on the noise and on the lottery, which would share the
failure probability, would need nearly twice the reserve.

Proof. Fix theta in (0, 1/b). Let H = P[Z >= 0] + E[e^(-theta Z); Z < 0] and A = theta (s + 1) - ln(H/beta). If A is not
positive, the rate is 0. If A is positive, the rate is the largest q in [0, 1] with y kappa <= A, where kappa = ln(1 + q
(e^theta - 1)), so that 0 <= kappa <= theta. Let N be the number of bidders who get the good. Given Z = z, ln E e^(theta
N) = D kappa = y kappa - z kappa. The sum y kappa - z kappa is at most A if z >= 0, and at most A + theta |z| if z < 0.
Over Z, E e^(theta N) <= e^A H, hence P[N >= s + 1] <= e^(A - theta (s + 1)) H = beta.

Rates are computed in ball arithmetic and rounded down to a multiple of 2^-32, so they are the same on every machine.

Source: ours.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.allocation.favourites import NONE, PublicBiases, public_bias
from confide.allocation.valuations import Valuations
from confide.contract.checks import fraction, positive, whole
from confide.numerics.map_reduce import map_blocks, threads
from confide.privacy.accounting.sums import ball, written
from confide.privacy.noise.balls import precision
from confide.privacy.public_randomness import PUBLIC_RANGE

__all__ = ["GRID", "WHOLE", "falling", "logarithm", "moved_prices", "prices_of", "rates", "soft_demand", "weights"]

# ---- soft demand

WHOLE = 1 << 16
"""Number of units in the soft demand of one whole bidder. A unit is 2^-16 of a bidder."""

_ALONE = 2**20  # values that one thread is done with sooner than others can be started

_MOST = 2**30  # rows of a block: their units stay far below 2^53
_NEVER = -1e300
_FAR = -11.0903  # -ln(2^16): weights below that of one unit

_Reals = NDArray[np.float64]
_Integers = NDArray[np.int64]


@kernel
def _exponentials(gains: _Reals, count: int, best: float, rate: float, weights: _Reals) -> None:
    """Write exp((gain - best) rate) to `weights`, with a relative error of about 1e-5, and 0 where the exponential is
    below 2^-16. The exponentials are computed by simple loops of sums and products.
    """
    for y in range(count):
        x = (gains[y] - best) * rate
        t = max(x, _FAR) * 0.0625
        e = 1.0 + t * (1.0 + t * (1.0 / 2 + t * (1.0 / 6 + t * (1.0 / 24 + t * (1.0 / 120 + t * (
            1.0 / 720 + t * (1.0 / 5040)))))))
        e *= e
        e *= e
        e *= e
        e *= e
        weights[y] = e if x > _FAR else 0.0


@kernel
def _largest(numbers: _Reals, count: int) -> float:
    a = b = c = d = -np.inf  # four at a time, which a processor does at once
    whole = count - count % 4
    for y in range(0, whole, 4):
        a, b = max(a, numbers[y]), max(b, numbers[y + 1])
        c, d = max(c, numbers[y + 2]), max(d, numbers[y + 3])
    for y in range(whole, count):
        a = max(a, numbers[y])
    return max(a, b, c, d)


@kernel
def _total(numbers: _Reals, count: int) -> float:
    a = b = c = d = 0.0
    whole = count - count % 4
    for y in range(0, whole, 4):
        a += numbers[y]
        b += numbers[y + 1]
        c += numbers[y + 2]
        d += numbers[y + 3]
    for y in range(whole, count):
        a += numbers[y]
    return (a + b) + (c + d)


@kernel
def _soft(
    start: int, stop: int, values: NDArray[Any], starts: _Integers, named: NDArray[np.int32], dense: bool,
    prices: _Reals, temperature: float, whole: float, first_place: int, key: np.uint64, spread: float, out: _Reals,
) -> None:
    goods = len(prices)
    gains, weights = np.empty(goods), np.empty(goods)
    rate = 1.0 / temperature
    for i in range(start, stop):
        first, last = (i * goods, (i + 1) * goods) if dense else (starts[i], starts[i + 1])
        count = last - first
        if dense:
            for y in range(count):
                value = np.float64(values[first + y])
                gains[y] = value - prices[y] if value > 0.0 else _NEVER
                if spread > 0.0 and value > 0.0:
                    gains[y] += public_bias(key, (first_place + i) * goods + y, spread)
        else:
            for y in range(count):
                value = np.float64(values[first + y])
                gains[y] = value - prices[named[first + y]] if value > 0.0 else _NEVER
                if spread > 0.0 and value > 0.0:
                    gains[y] += public_bias(key, (first_place + i) * goods + named[first + y], spread)
        best = _largest(gains, count)
        if not best > _NEVER:
            continue  # nothing is worth anything to this bidder
        _exponentials(gains, count, best, rate, weights)
        scale = whole / (_total(weights, count) * (1.0 + np.exp(-best * rate)))
        for y in range(count):
            weights[y] = np.floor(weights[y] * scale)
        if _total(weights, count) > whole:  # of whole numbers, hence exact
            left = whole
            for y in range(count):
                weights[y] = min(weights[y], left)
                left -= weights[y]
        if dense:
            for y in range(count):
                out[y] += weights[y]
        else:
            for y in range(count):
                out[named[first + y]] += weights[y]


def soft_demand(
    values: Valuations, prices: _Reals, temperature: float, biases: PublicBiases = NONE, *, first: int = 0
) -> _Integers:
    """The soft demand for each good, summed over all bidders, in units of 2^-16 bidders, shape (k,). Each bidder has at
    most `WHOLE` units. The demand is private.

    Args:
        values: valuations of all bidders.
        prices: price of each good, shape (k,).
        temperature: temperature tau > 0 of the soft demand, in units of value.
        biases: biases that are added to the bidders' values, if any.
        first: position, in the public order of bidders, of the first row of `values`, from 0.

    Example:
        >>> of = Valuations.of([[0.5, 0.0], [0.5, 0.5], [0.0, 0.0]], people=3, goods=2)
        >>> (soft_demand(of, np.zeros(2), 0.25) / WHOLE).round(3).tolist()  # 1/(1 + e^-2) = .881, and half of it
        [1.321, 0.44]
    """
    at = np.ascontiguousarray(prices, dtype=np.float64)

    def part(rows: tuple[int, int]) -> _Integers:
        # Whole numbers below 2^53 add up exactly as doubles, in any order.
        out = np.zeros(values.goods)
        _soft(rows[0], rows[1], *values.rows, at, temperature, float(WHOLE), first,
              biases.key, biases.spread, out)
        return out.astype(np.int64)

    if len(values.values) <= _ALONE or threads() == 1:
        return part((0, values.people))
    ends = np.linspace(0, values.people, max(4 * threads(), -(-values.people // _MOST)) + 1).astype(int).tolist()
    found = np.zeros(values.goods, dtype=np.int64)
    for units in map_blocks(part, pairwise(ends)):
        found += units
    return found


# ---- temperatures

GRID = 20
"""Number of binary digits of a price: prices are multiples of 2^-20."""

_LEAST = 0.2  # of the supply: noise beyond that says nothing of how low demand is
_LN2 = math.log(2.0)  # 0x1.62e42fefa39efp-1, a constant
_TERMS = 10
_BITS = 128


def logarithm(numbers: _Reals) -> _Reals:
    """Natural logarithms of positive numbers, to about 1e-15, computed by sums and products alone.

    Args:
        numbers: positive numbers, of any shape.

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
    """Prices in units of value, as doubles, from whole numbers of units of 2^-20."""
    return np.ldexp(path.astype(np.float64), -GRID)


def moved_prices(
    path: _Integers, demand: _Integers, supply: tuple[int, ...], people: int, step: float, highest: float = 1.0
) -> _Integers:
    """The prices after a round, in [0, highest], on the grid of 2^-20:

        p_j + step (ln(D_j/s_j) + ln((n - S)/(n - D)))

    In this formula p_j is the price of good j, D_j its demand and s_j its supply. S is the sum of supplies and D the
    sum of demands. So n - S of the n bidders go without a good if all copies are given, and n - D bidders ask for no
    good. The logarithm of (n - S)/(n - D) is the same for all goods. This term moves the number of bidders who ask for
    no good towards n - S. A good with price 0 that is not sold out counts in S with its demand instead of its supply.
    Both quotients are raised to at least 1/5, and the second quotient is reduced to at most 5. If there is enough for
    all bidders, the quotient (n - S)/(n - D) is replaced by 1.

    Args:
        path: prices before the round, in units of 2^-20 of value, shape (k,).
        demand: demand D_j as released, in units of 2^-16 bidders, shape (k,).
        supply: number s_j of copies of each good, shape (k,).
        people: number n of bidders.
        step: amount, in units of value, by which a price rises if the ratio of demand to supply rises by the factor e.
        highest: upper bound on the prices, in units of value: the largest possible value of a good, biases included.
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
    """A geometric sequence from the first number to the last.

    Args:
        first: first number, > 0.
        last: last number, > 0.
        rounds: length of the sequence, >= 1.

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
    """Shares of a budget for `rounds` rounds that sum to 1, each `growth` times the share before.

    Example:
        >>> weights(2.0, 2)
        (Fraction(1, 3), Fraction(2, 3))
    """
    exact = [written(growth) ** r for r in range(rounds)]
    together = sum(exact)
    return tuple(one / together for one in exact)


# ---- rationing

_TICKET_BITS = 160
_NEAR, _STEEPEST = Fraction(31, 32), Fraction(4)  # thetas that are tried: from 31/(32 b), or 4, downwards
_STEPS, _FINER = 40, Fraction(4, 5)
_USUAL = Fraction(21, 20)  # how many ask for a copy where theta is chosen


def rates(
    asked: NDArray[np.int64], supply: tuple[int, ...], scale: float, failure_probability: float
) -> NDArray[np.int64]:
    """The rate of each good, shape (k,). The rate is the probability with which a bidder who asks for the good gets the
    good, times 2^32 and rounded down.

    Args:
        asked: noisy number of bidders who ask for each good, as released, shape (k,).
        supply: number of copies of each good, shape (k,).
        scale: scale b, in bidders, of the discrete Laplace noise of each number.
        failure_probability: probability beta in (0, 1) that more copies of one good are given than its supply.

    Example:
        >>> found = rates(np.array([3900, 4000, 4400]), (4000,) * 3, 5.0, 5e-4)
        >>> (found / PUBLIC_RANGE).round(3).tolist()
        [1.0, 0.985, 0.889]
    """
    positive("scale", scale)
    fraction("failure_probability", failure_probability)
    found = [_rate(int(number), whole("supply", copies, at_least=1), scale, failure_probability)
             for number, copies in zip(asked.tolist(), supply, strict=True)]
    return np.array(found, dtype=np.int64)


@lru_cache(maxsize=2**14)
def _rate(asked: int, supply: int, scale: float, failure: float) -> int:
    with precision(_TICKET_BITS):
        return _at(asked, *_chosen(supply, scale, failure))


def _at(asked: int, theta: Any, level: Any) -> int:
    """The rate at one published number, rounded down. The level A is a ball of ball arithmetic."""
    if not level > 0:
        return 0
    if theta * asked <= level:
        return PUBLIC_RANGE
    share = ((level / asked).exp() - 1) / (theta.exp() - 1)
    return max(0, min(PUBLIC_RANGE, int((share * PUBLIC_RANGE).lower().floor().unique_fmpz())))


@lru_cache(maxsize=2**10)
def _chosen(supply: int, scale: float, failure: float) -> tuple[Any, Any]:
    """The pair (theta, A) with the largest rate at a typical demand, among the values of theta that are tried."""
    with precision(_TICKET_BITS):
        base = ball(Fraction(scale))
        ratio, chance = (-1 / base).exp(), ball(Fraction(failure))
        tried = []
        for step in range(_STEPS):
            theta = min(ball(_STEEPEST), ball(_NEAR) / base) * ball(_FINER) ** step
            below = ratio * theta.exp()
            weight = (1 + (1 - ratio) * below / (1 - below)) / (1 + ratio)
            tried.append((theta, theta * (supply + 1) - (weight / chance).log()))
        return max(tried, key=lambda pair: _at(int(_USUAL * supply), *pair))
