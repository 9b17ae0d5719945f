"""How many of those who ask for a good can have it, when they are counted with noise and drawn by lot.

D bidders ask for a good with s copies. Published is y = D + Z, with discrete Laplace noise Z; each of them then gets it
with probability q(y), by a public coin of her own. More than s get it with a probability of at most beta,
whatever D is. Noise and coins are one sum of independent errors, and are bounded together: two bounds that share the
probability would hold back nearly twice as much.

Proof. Fix theta in (0, 1/b), H = P[Z >= 0] + E[e^(-theta Z); Z < 0] and A = theta (s + 1) - ln(H/beta). Where A is
not positive the rate is 0. Else it is the largest q in [0, 1] with y kappa <= A, where kappa = ln(1 + q (e^theta - 1));
then 0 <= kappa <= theta. Let N be the number of those who get it. Given Z = z, ln E e^(theta N) = D kappa = y kappa -
z kappa, which is at most A where z >= 0, and at most A + theta |z| elsewhere. Over Z, E e^(theta N) <= e^A H, hence
P[N >= s + 1] <= e^(A - theta (s + 1)) H = beta.

Rates are found in ball arithmetic, rounded down to a multiple of 2^-32: they are the same on every machine.

Source: ours.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import fraction, positive, whole
from confide.privacy.accounting.sums import ball
from confide.privacy.noise.balls import precision
from confide.privacy.public_randomness import PUBLIC_RANGE

__all__ = ["rates"]

_BITS = 160
_NEAR, _STEEPEST = Fraction(31, 32), Fraction(4)  # thetas that are tried: from 31/(32 b), or 4, downwards
_STEPS, _FINER = 40, Fraction(4, 5)
_USUAL = Fraction(21, 20)  # how many ask for a copy where theta is chosen


def rates(
    asked: NDArray[np.int64], supply: tuple[int, ...], scale: float, failure_probability: float
) -> NDArray[np.int64]:
    """The share of those who ask for each good that can have it, out of 2^32.

    Args:
        asked: (k,) noisy numbers of them, as released.
        supply: (k,) copies.
        scale: b of the discrete Laplace noise of each number.
        failure_probability: beta, in (0, 1), the probability that more than the supply of one good is given.

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
    with precision(_BITS):
        return _at(asked, *_chosen(supply, scale, failure))


def _at(asked: int, theta: Any, level: Any) -> int:
    """The rate at one published number: rounded down; A, the level, is a ball."""
    if not level > 0:
        return 0
    if theta * asked <= level:
        return PUBLIC_RANGE
    share = ((level / asked).exp() - 1) / (theta.exp() - 1)
    return max(0, min(PUBLIC_RANGE, int((share * PUBLIC_RANGE).lower().floor().unique_fmpz())))


@lru_cache(maxsize=2**10)
def _chosen(supply: int, scale: float, failure: float) -> tuple[Any, Any]:
    """(theta, A): of the thetas that are tried, the one with the largest rate at a usual demand."""
    with precision(_BITS):
        base = ball(Fraction(scale))
        ratio, chance = (-1 / base).exp(), ball(Fraction(failure))
        tried = []
        for step in range(_STEPS):
            theta = min(ball(_STEEPEST), ball(_NEAR) / base) * ball(_FINER) ** step
            below = ratio * theta.exp()
            weight = (1 + (1 - ratio) * below / (1 - below)) / (1 + ratio)
            tried.append((theta, theta * (supply + 1) - (weight / chance).log()))
        return max(tried, key=lambda pair: _at(int(_USUAL * supply), *pair))
