"""Privacy loss of one record towards each audience: the platform, the public, a fellow participant, a coalition.

A record moves a sum by at most `shift` (its weight), and each participant adds noise with a variance of their own. Let
V be the variance of the noise that an audience does not know. Towards this audience, replacing a record costs alpha
shift^2/(2 V) in Renyi divergence of order alpha, and proportionally for every other order. The formula is exact for
continuous noise, and an upper bound for discrete noise on whole numbers. For the platform only the person's own noise
is unknown, for the public all noise, and for a fellow participant all noise but their own. Neighbouring data sets have
the same reports, so nothing is promised to people whose report reveals their record.

Source: spec two_part_acquisition section 2.

The module also computes exact sums of messages and of noise variances, and checks which messages an honest device can
have sent.

Source: spec two_part_acquisition section 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import non_negative, positive, whole
from confide.contract.errors import InvalidInput
from confide.privacy.losses import GDP, ZCDP, gaussian_delta, least

__all__ = [
    "REACH",
    "SMALLEST",
    "ReleaseLosses",
    "absentee_sigma",
    "as_order",
    "covered_noise_std",
    "exact_sum",
    "gaussian_losses",
    "lattice_delta",
    "least_right",
    "local_level",
    "local_sigma",
    "plausible",
    "to_gdp",
    "to_zcdp",
]

# ---- sums

SMALLEST = 8
"""Smallest noise scale, in steps. At this noise scale e^(-pi^2 8^2) < 2^-896, which bounds the error of merging two
noises.
"""

REACH = 64
"""Number of standard deviations beyond which an honest message lies with probability below e^-2000."""

Integers = NDArray[np.int64]


def plausible(messages: Any, steps: Any, sigma: Any) -> Any:
    """Whether an honest client can have sent each message under the message's contract, that is, whether the message is
    within 64 sigma of 0..steps.

    Args:
        messages: whole numbers, one or an array.
        steps: steps of each message's contract.
        sigma: noise standard deviation of each message's contract.
    """
    return (messages >= -REACH * sigma) & (messages <= steps + REACH * sigma)


def absentee_sigma(sigma: Integers) -> int:
    """The smallest whole standard deviation with a variance of at least the sum of the absentees' noise variances."""
    return covered_noise_std(sum(s * s for s in sigma.tolist()))


def covered_noise_std(variance: int) -> int:
    """The smallest whole standard deviation with a variance of at least the given variance."""
    return math.isqrt(variance - 1) + 1 if variance > 0 else 0


def exact_sum(messages: Integers) -> int:
    """The exact sum of 64-bit integers. A 64-bit sum could overflow, but the sums of the 32-bit halves cannot."""
    return (int((messages >> 32).sum()) << 32) + int((messages & 0xFFFFFFFF).sum())


# ---- losses

_SPLIT = 64  # variance of the whole-number part when discrete noise is seen as rounded Gaussian noise
_LEAST = 1e-200  # epsilons from here on have an ulp in which e^(2t) is lost

Floats = NDArray[np.float64]


def as_order(order: object) -> float:
    """A checked Renyi order: above 1 and finite, since a Gaussian has an infinite divergence of infinite order."""
    alpha = positive("order", order)
    if alpha <= 1:
        raise InvalidInput("order", f"{order!r} is out of range", "must be above 1")
    return alpha


def least_right(level: float, order: float) -> float:
    """Upper bound on the probability of guessing at which end of the range a record is, from noise of the given level,
    if both ends are equally likely at first.

    Args:
        level: Renyi divergence of Gaussian noise between the ends, in nats, >= 0.
        order: order of the divergence.

    Example:
        >>> least_right(1.0, 2.0) == NormalDist().cdf(0.5)
        True
    """
    return NormalDist().cdf(math.sqrt(level / (2.0 * order)))


def local_sigma(level: float, order: float) -> float:
    """Standard deviation sqrt(alpha/(2 level)) of Gaussian noise on a record of width 1 whose privacy loss is `level`.

    Args:
        level: loss epsilon^l in nats, in [0, inf]. A level of 0 needs infinite noise (nothing is sent), and an infinite
            level needs no noise.
        order: order alpha > 1 of the divergence.

    Example:
        >>> local_sigma(4.0, 2.0)
        0.5
    """
    alpha = as_order(order)
    if level == math.inf:
        return 0.0
    return math.sqrt(alpha / (2.0 * level)) if non_negative("level", level) else math.inf


def local_level(sigma: float, order: float) -> float:
    """The inverse of `local_sigma`: the level alpha/(2 sigma^2).

    Example:
        >>> local_level(0.5, 2.0)
        4.0
    """
    alpha = as_order(order)
    if sigma == math.inf:
        return 0.0
    return alpha / 2.0 / sigma**2 if non_negative("sigma", sigma) else math.inf


def to_zcdp(level: float, order: float) -> ZCDP:
    """Conversion of a Renyi level at the given order to zCDP: rho = level/alpha, rounded up. The conversion is valid
    for continuous and for discrete noise.

    Example:
        >>> to_zcdp(1.5, 2.0)
        ZCDP(rho=0.75)
    """
    alpha = as_order(order)
    if level == math.inf:
        return ZCDP(math.inf)
    exact = Fraction(non_negative("level", level)) / Fraction(alpha)
    return ZCDP(least(lambda rho: Fraction(rho) >= exact, level / alpha))


def to_gdp(level: float, order: float) -> GDP:
    """Conversion of a Renyi level to Gaussian DP: mu = sqrt(2 level/alpha), rounded up. The conversion is valid only
    for continuous noise.

    Example:
        >>> to_gdp(1.0, 2.0)
        GDP(mu=1.0)
    """
    alpha = as_order(order)
    if level == math.inf:
        return GDP(math.inf)
    square = 2 * Fraction(non_negative("level", level)) / Fraction(alpha)
    return GDP(least(lambda mu: Fraction(mu) ** 2 >= square, math.sqrt(2.0 * (level / alpha))))


def lattice_delta(epsilon: float, shift: int, variance: int) -> float:
    """Upper bound on delta at a given epsilon for whole-number noise, of one person or summed over up to 2^40 people.

    Discrete Gaussian noise of variance V is not Gaussian DP, but nearly. In every probability, discrete Gaussian noise
    of variance V equals Gaussian noise of variance V - 64, rounded at random by a discrete Gaussian of variance 64, up
    to a factor e^(+-t) with t < 2^-850. Therefore delta is at most e^t times the delta of mu = shift/sqrt(V - 64), at
    an epsilon that is smaller by 2t. For V near 64, the zCDP bound with rho = shift^2/(2V) is better and is used.

    Args:
        epsilon: privacy loss in nats, >= 0.
        shift: number of steps by which one record moves the sum, >= 0.
        variance: variance of the noise that the audience does not know, in squared steps, >= 64. Every summand of the
            noise has a variance of 64 or more.

    Returns:
        delta, rounded up.

    Source: ours, with the theta bound of spec two_part_acquisition section 2.

    Example:
        >>> lattice_delta(1.0, 1000, 10**6) / gaussian_delta(1.0, 1.0) - 1 < 1e-4
        True
        >>> round(ZCDP(0.5).delta_at(5.0) / lattice_delta(5.0, 1000, 10**6), 1)
        5.0
    """
    epsilon, a = non_negative("epsilon", epsilon), whole("shift", shift)
    v = whole("variance", variance, at_least=_SPLIT)
    if a == 0:
        return 0.0
    rho = a * a / (2 * v)
    delta = ZCDP(rho * (1 + 2.0**-50)).delta_at(epsilon)
    if v > _SPLIT:
        mu = a / math.sqrt(v - _SPLIT) * (1 + 2.0**-50)
        nearby = math.nextafter(epsilon, 0.0) if epsilon > _LEAST else 0.0
        delta = min(delta, math.nextafter(gaussian_delta(nearby, mu), 1.0))
    return delta


@dataclass(frozen=True, eq=False)
class ReleaseLosses:
    """Privacy losses of all participants in one release.

    Args:
        shifts: (n,) largest move of the published sum by each record; 0 for a participant who sends nothing.
        variances: (n,) variances of the noise that each participant adds to the sum.
        order: order alpha > 1 of the divergence.

    Example:
        >>> losses = gaussian_losses([0.5, 0.5], [1.0, 3.0], 2.0)
        >>> losses.local.round(6).tolist(), losses.central.round(6).tolist(), losses.fellow.round(6).tolist()
        ([1.0, 3.0], [0.75, 0.75], [1.0, 3.0])
    """

    shifts: Floats
    variances: Floats
    order: float

    @property
    def local(self) -> Floats:
        """Losses of all participants towards the platform that collects the messages, shape (n,)."""
        return self._against(self.variances)

    @property
    def central(self) -> Floats:
        """Losses of all participants towards the public, shape (n,)."""
        return self.eps_central()

    @property
    def fellow(self) -> Floats:
        """Largest loss of each participant towards any other participant, who knows their own noise, shape (n,)."""
        v = self.variances
        if len(v) < 2:
            return self.central
        first = int(np.argmax(v))
        rest = v.copy()
        rest[first] = 0.0  # sums without the largest ones: differences would cancel
        unknown = np.full(len(v), rest.sum())
        rest[int(np.argmax(rest))] = 0.0
        unknown[first] = v[first] + rest.sum()
        return self._against(unknown)

    def eps_central(self, coalition: Iterable[int] = ()) -> Floats:
        """Losses of all participants towards the public when the members of a coalition reveal their noise, or never
        added it, shape (n,).

        Args:
            coalition: ranks of the members of the coalition. Nothing is promised to the members of the coalition: their
                entries are infinite.
        """
        out = np.zeros(len(self.shifts), dtype=np.bool_)
        for member in coalition:
            if whole("coalition", member) >= len(out):
                raise InvalidInput("coalition", f"{member} is out of range", f"must hold ranks in 0..{len(out) - 1}")
            out[member] = True
        levels = self._against(np.full(len(out), self.variances[~out].sum()))
        levels[out] = math.inf
        return levels

    def _against(self, unknown: Floats) -> Floats:
        """The losses alpha shift^2/(2 unknown): 0 without a shift, infinite without noise."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            levels = self.order / 2.0 * (self.shifts / np.sqrt(unknown)) ** 2
        return np.where(self.shifts > 0, levels, 0.0)


def gaussian_losses(weights: ArrayLike, epsilon_local: ArrayLike, order: float) -> ReleaseLosses:
    """Losses with continuous noise of variance alpha/(2 y_i) on records of width 1, for the estimate sum w_i x_i.

    Args:
        weights: (n,) weights w_i >= 0.
        epsilon_local: (n,) local levels y_i in [0, inf]; above 0 where there is a weight. An infinite level adds no
            noise.
        order: order alpha > 1 of the divergence.

    Raises:
        InvalidInput: a parameter out of range.

    Source: spec two_part_acquisition section 2.
    """
    alpha = as_order(order)
    w, y = (np.asarray(each, dtype=np.float64) for each in (weights, epsilon_local))
    if w.ndim != 1 or not w.size or not ((w >= 0) & np.isfinite(w)).all():
        raise InvalidInput("weights", "are not a list of weights", "must be finite and >= 0, one per person")
    if y.shape != w.shape or not (y >= 0).all():
        raise InvalidInput("epsilon_local", "is not a list of levels", "must be >= 0, one per person")
    if (y[w > 0] == 0).any():
        raise InvalidInput("epsilon_local", "is 0 for a person with a weight",
                           "must be above 0, or the weight must be 0")
    variances = np.zeros(len(w))
    np.divide(alpha / 2.0 * w**2, y, out=variances, where=w > 0)
    return ReleaseLosses(w, variances, alpha)
