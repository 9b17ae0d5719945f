"""The cost of one record towards each audience: the platform, the public, a fellow participant, a coalition.

A record moves a sum by at most `shift` (its weight), and everybody adds noise of a variance of their own. Towards an
audience that does not know a part of the noise with variance V, replacing the record costs alpha shift^2/(2 V) in
Renyi divergence of order alpha, and for every other order in proportion: continuous noise exactly, discrete noise on
whole numbers at most that. The platform faces one person's own noise, the public all of it, a fellow all but their own.

Two records are compared while all reports stay the same: nothing is said of people whose report tells their record.

Source: spec two_part_acquisition section 2.

Sums of messages and of noise, exactly, and which messages an honest device can have sent.

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
    "covering_sigma",
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
"""Of the sigmas, in steps: e^(-pi^2 8^2) < 2^-896."""

REACH = 64
"""Sigmas: an honest message is further out with probability below e^-2000."""

Integers = NDArray[np.int64]


def plausible(messages: Any, steps: Any, sigma: Any) -> Any:
    """Whether an honest client can have sent each message on its contract: within 64 sigma of 0..steps.

    Args:
        messages: whole numbers, one or an array.
        steps: steps of the contract of each.
        sigma: standard deviation of the contract of each.
    """
    return (messages >= -REACH * sigma) & (messages <= steps + REACH * sigma)


def absentee_sigma(sigma: Integers) -> int:
    """The least whole standard deviation whose variance is at least that of the absentees together."""
    return covering_sigma(sum(s * s for s in sigma.tolist()))


def covering_sigma(variance: int) -> int:
    """The least whole standard deviation of at least this variance."""
    return math.isqrt(variance - 1) + 1 if variance > 0 else 0


def exact_sum(messages: Integers) -> int:
    """The sum of numbers of 64 bits: it could overflow, the sums of their halves of 32 bits cannot."""
    return (int((messages >> 32).sum()) << 32) + int((messages & 0xFFFFFFFF).sum())


# ---- losses

_SPLIT = 64  # variance of the whole-number part when discrete noise is seen as rounded Gaussian noise
_LEAST = 1e-200  # epsilons from here on have an ulp in which e^(2t) is lost

Floats = NDArray[np.float64]


def as_order(order: object) -> float:
    """A Renyi order: above 1 and finite (a Gaussian has an infinite divergence of infinite order)."""
    alpha = positive("order", order)
    if alpha <= 1:
        raise InvalidInput("order", f"{order!r} is out of range", "must be above 1")
    return alpha


def least_right(level: float, order: float) -> float:
    """How often somebody is right at most who must guess a record's end from noise of that level, even money before.

    Args:
        level: Renyi divergence of Gaussian noise between the ends, in nats, >= 0.
        order: order of the divergence.

    Example:
        >>> least_right(1.0, 2.0) == NormalDist().cdf(0.5)
        True
    """
    return NormalDist().cdf(math.sqrt(level / (2.0 * order)))


def local_sigma(level: float, order: float) -> float:
    """Standard deviation of Gaussian noise on a record of width 1 that costs this much: sqrt(alpha/(2 level)).

    Args:
        level: epsilon^l in nats, [0, inf]; 0 takes infinite noise (nothing is sent), infinity none.
        order: alpha > 1.

    Example:
        >>> local_sigma(4.0, 2.0)
        0.5
    """
    alpha = as_order(order)
    if level == math.inf:
        return 0.0
    return math.sqrt(alpha / (2.0 * level)) if non_negative("level", level) else math.inf


def local_level(sigma: float, order: float) -> float:
    """The inverse of `local_sigma`: alpha/(2 sigma^2).

    Example:
        >>> local_level(0.5, 2.0)
        4.0
    """
    alpha = as_order(order)
    if sigma == math.inf:
        return 0.0
    return alpha / 2.0 / sigma**2 if non_negative("sigma", sigma) else math.inf


def to_zcdp(level: float, order: float) -> ZCDP:
    """A Renyi level of this order as zCDP: rho = level/alpha, rounded up; for continuous and for discrete noise.

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
    """A Renyi level as Gaussian DP, mu = sqrt(2 level/alpha), rounded up. Of continuous noise only: `simulate`.

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
    """A delta at this epsilon for whole-number noise, of one person or summed over up to 2^40 people.

    Discrete Gaussian noise of variance V is not Gaussian DP, but nearly: it is Gaussian noise of variance V - 64,
    rounded at random (to a discrete Gaussian of variance 64 about it), up to a factor e^(+-t) in every probability
    with t < 2^-850. So delta is e^t that of mu = shift/sqrt(V - 64), at an epsilon smaller by 2t. Where that says less
    (V near 64), rho = shift^2/(2V) decides.

    Args:
        epsilon: in nats, >= 0.
        shift: number of steps by which one record moves the sum, >= 0.
        variance: variance of the noise that the audience does not know, in squared steps, >= 64 in parts of 64 or more.

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
    """Everybody's losses in one release.

    Args:
        shifts: (n,) largest move of the published sum by a record; 0 of who sends nothing.
        variances: (n,) variances of the noise that each adds to the sum.
        order: alpha > 1.

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
        """The losses towards whoever collects the messages, (n,)."""
        return self._against(self.variances)

    @property
    def central(self) -> Floats:
        """The losses towards the public, (n,)."""
        return self.eps_central()

    @property
    def fellow(self) -> Floats:
        """The losses towards the worst other participant, who knows their own noise, (n,)."""
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
        """The losses towards the public when the members of a coalition reveal their noise, or never added it, (n,).

        Args:
            coalition: ranks of its members. Of themselves nothing is promised: their entries are infinite.
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
        """alpha shift^2/(2 unknown); 0 without a shift, infinity without noise."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            levels = self.order / 2.0 * (self.shifts / np.sqrt(unknown)) ** 2
        return np.where(self.shifts > 0, levels, 0.0)


def gaussian_losses(weights: ArrayLike, epsilon_local: ArrayLike, order: float) -> ReleaseLosses:
    """Losses of continuous noise of variance alpha/(2 y_i) on records of width 1, and an estimate sum w_i x_i.

    Args:
        weights: (n,) w_i >= 0.
        epsilon_local: (n,) y_i in [0, inf]; above 0 where there is a weight. Infinity adds no noise.
        order: alpha > 1.

    Raises:
        InvalidInput: a parameter out of range.

    Source: spec two_part_acquisition section 2.
    """
    alpha = as_order(order)
    w, y = (np.asarray(each, dtype=np.float64) for each in (weights, epsilon_local))
    if w.ndim != 1 or not w.size or not ((w >= 0) & np.isfinite(w)).all():
        raise InvalidInput("weights", "are no list of weights", "must be finite and >= 0, one per person")
    if y.shape != w.shape or not (y >= 0).all():
        raise InvalidInput("epsilon_local", "is no list of levels", "must be >= 0, one per person")
    if (y[w > 0] == 0).any():
        raise InvalidInput("epsilon_local", "0 where there is a weight", "a person who sends nothing has the weight 0")
    variances = np.zeros(len(w))
    np.divide(alpha / 2.0 * w**2, y, out=variances, where=w > 0)
    return ReleaseLosses(w, variances, alpha)
