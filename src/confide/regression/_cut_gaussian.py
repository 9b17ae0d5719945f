"""Posterior mean of x'theta for a Gaussian theta that is cut to a ball, under uniform or truncated Gaussian noise.

In units of the reach r = radius ||x||, s = x'theta / r has on [low, high] a density proportional to exp h(s),

    h(s) = log P(k, c (1 - s^2) / 2) + tilt s - pull s^2 / 2,   k = (d - 1) / 2,

with P the regularised incomplete gamma function (the chance that the other d - 1 coordinates stay inside the ball),
c = (radius / tau)^2, and c + (r / sigma)^2 for the pull. The two steps are those of `_gaussian_ball`: a window around
the peak outside which the density is below exp(-32) of it, and Gauss-Legendre nodes on that window after
s = u (3 - u^2)/2, which makes the half powers of 1 - s^2 at the ends analytic. h is concave (a marginal of a
log-concave density is), and its slope lies between those of the ball with the same pull and of an uncut Gaussian: from
the ball's peak Newton's method goes to this one's. Within 1e-12 of the reach.

log P(k, z) = k log z + B(z), with B smooth and decreasing; it is tabulated once for each k with its derivative, as
cubics, within 1e-12.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from confide.regression._gaussian_ball import BELOW_ONE, DEPTH, ball_peak, left_bound, rule

__all__ = ["LogMass", "cut_gaussian_mean", "log_mass"]

Array = NDArray[np.float64]

_CELLS = 2**13
_STEPS = 4


class LogMass:
    """B(z) = log P(k, z) - k log z on [0, end], where 1 - P(k, end) = 1e-17; beyond, P is 1.

    Args:
        power: k >= 0; for k = 0, P is 1 everywhere.
    """

    def __init__(self, power: float) -> None:
        self.power = power
        self.end = math.inf
        if power == 0:
            return
        self.end = float(scipy.special.gammainccinv(power, 1e-17))
        self._inverse = _CELLS / self.end
        z = np.linspace(0.0, self.end, _CELLS + 1)
        value, slope = _exact(power, z)
        step = 1 / self._inverse
        rise, first, last = np.diff(value), slope[:-1] * step, slope[1:] * step
        cubics = (value[:-1], first, 3 * rise - 2 * first - last, first + last - 2 * rise)
        # One cell more, for z = end itself.
        self._cubics = tuple(np.append(part, tip) for part, tip in zip(cubics, (value[-1], 0, 0, 0), strict=True))

    def __call__(self, z: Array) -> Array:
        """B at z in [0, end]."""
        if self.power == 0:
            return np.zeros_like(z)
        place = z * self._inverse
        cell = place.astype(np.intp)
        place -= cell
        zero, one, two, total = (part.take(cell, mode="clip") for part in self._cubics)
        for part in (two, one, zero):
            total *= place
            total += part
        return np.asarray(total)

    def rate(self, z: Array) -> Array:
        """d log P(k, z)/dz for z > 0."""
        if self.power == 0:
            return np.zeros_like(z)
        inside = np.minimum(z, self.end)
        log_mass = scipy.special.xlogy(self.power, inside) + self(inside)
        log_density = scipy.special.xlogy(self.power - 1, z) - z - scipy.special.gammaln(self.power)
        return np.asarray(np.exp(log_density - log_mass))


def _exact(power: float, z: Array) -> tuple[Array, Array]:
    """B and its derivative, by the series P(k, z) = z^k e^-z S(z)/Gamma(k + 1), S = 1 + z/(k + 1) + ..."""
    term, rest, j = np.ones_like(z), np.zeros_like(z), 0
    while True:
        j += 1
        term = term * z / (power + j)
        rest += term
        if np.all(term <= 1e-18 * (1 + rest)):
            break
    value = np.log1p(rest) - z - scipy.special.gammaln(power + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(z > 0, -power / z * (rest / (1 + rest)), -power / (power + 1))
    return value, slope


@lru_cache(maxsize=32)
def log_mass(power: float) -> LogMass:
    """The table for one k, made once."""
    return LogMass(power)


def cut_gaussian_mean(
    dimension: int, concentration: float, sigma: float, bound: float, reach: Array, y: Array
) -> Array:
    """E[s | y] for y = reach s + noise; odd in y to the last bit, elementwise in a fixed order.

    Args:
        dimension: d, at least 1.
        concentration: c > 0.
        sigma: of the Gaussian noise before its truncation; infinity for uniform noise.
        bound: where the noise is truncated.
        reach: (m,) positive.
        y: (m,) responses; one that cannot occur is moved to the nearest that can.

    Returns:
        (m,) in [-1, 1].
    """
    law = log_mass((dimension - 1) / 2)
    with np.errstate(all="ignore"):
        size = np.abs(y)
        low = np.minimum(np.maximum((size - bound) / reach, -1.0), 1.0)
        high = np.maximum(np.minimum((size + bound) / reach, 1.0), low)
        spread = np.maximum(sigma, 1e-17 * reach)
        pull = np.minimum((reach / spread) ** 2, 1e300) + max(concentration, 1e-300)
        tilt = np.minimum(reach / spread * (size / spread), 1e100)
        peak = _peak(law, concentration, tilt, pull, low, high)
        mean = _mean(law, concentration, tilt, pull, peak, *_window(law, concentration, tilt, pull, peak, low, high))
        mean = np.where(np.isfinite(mean), mean, np.minimum(tilt / pull, 1.0))
        return np.copysign(np.minimum(np.maximum(mean, low), high), y)


def _rate(law: LogMass, c: float, s: Array) -> Array:
    return law.rate(c * ((1 - s) * (1 + s)) / 2)


def _peak(law: LogMass, c: float, tilt: Array, pull: Array, low: Array, high: Array) -> Array:
    """Where h is largest on [low, high], nearly: from the ball's peak, which is nowhere right of it, by Newton."""
    last = np.minimum(high, BELOW_ONE)
    peak = start = ball_peak(law.power, tilt, pull, np.full_like(low, -1.0), np.ones_like(high))
    for _ in range(_STEPS if law.power else 0):
        z, rate = c * ((1 - peak) * (1 + peak)) / 2, _rate(law, c, peak)
        slope = tilt - pull * peak - c * peak * rate
        curvature = pull + c * rate + c * c * peak * peak * rate * np.maximum(1 + rate - (law.power - 1) / z, 0.0)
        peak = np.minimum(np.maximum(peak + slope / curvature, start), np.minimum(tilt / pull, BELOW_ONE))
        peak = np.where(np.isfinite(peak), peak, start)
    return np.minimum(np.maximum(peak, low), last)


def _window(
    law: LogMass, c: float, tilt: Array, pull: Array, peak: Array, low: Array, high: Array
) -> tuple[Array, Array]:
    """An interval around the peak that contains all s of [low, high] with h(s) >= h(peak) - 32, hardly longer."""
    rate = _rate(law, c, peak)
    slope = tilt - pull * peak - c * peak * rate
    fall, curvature = np.maximum(-slope, 0.0), pull + c * rate
    right = peak + 2 * DEPTH / (fall + np.sqrt(fall * fall + 2 * DEPTH * curvature))
    least = pull + c * law.rate(np.full_like(pull, c / 2))
    left = left_bound(law.power, least, np.maximum(tilt - pull * peak, 0.0), peak, low)
    # The tangent of a concave function is above it: one step from any point ends outside.
    left = np.fmax(left - _excess(law, c, tilt, pull, peak, left) / _slope(law, c, tilt, pull, left), low)
    right = np.fmin(right - _excess(law, c, tilt, pull, peak, right) / _slope(law, c, tilt, pull, right), high)
    return np.minimum(left, peak), np.maximum(np.minimum(right, high), peak)


def _slope(law: LogMass, c: float, tilt: Array, pull: Array, s: Array) -> Array:
    return np.asarray(tilt - pull * s - c * s * _rate(law, c, s))


def _excess(law: LogMass, c: float, tilt: Array, pull: Array, peak: Array, s: Array) -> Array:
    """h(s) - h(peak) + 32."""
    step = s - peak
    height = step * (tilt - pull * (s + peak) / 2)
    if law.power:
        at, before = (np.minimum(c * ((1 - v) * (1 + v)) / 2, law.end) for v in (s, peak))
        height += scipy.special.xlogy(law.power, at / before) + law(at) - law(before)
    return np.asarray(height + DEPTH)


def _mean(law: LogMass, c: float, tilt: Array, pull: Array, peak: Array, left: Array, right: Array) -> Array:
    """Mean of s under exp h on [left, right], by the rule in u."""
    first, last = 2 * np.sin(np.arcsin(left) / 3), 2 * np.sin(np.arcsin(right) / 3)
    middle, half = (last + first) / 2, (last - first) / 2
    push, bend, power = tilt - pull * peak, -pull / 2, law.power
    base = np.zeros_like(peak)
    if power:
        top = np.minimum(c * ((1 - peak) * (1 + peak)) / 2, law.end)
        base = -power * np.log(top) - law(top)
    mass, moment = np.zeros_like(peak), np.zeros_like(peak)
    for node, weight in rule():
        u = half * node
        u += middle
        rest = 1 - u * u
        step = rest + 2
        step *= u
        step /= 2
        step -= peak
        value = step * bend
        value += push
        value *= step
        value += base
        if power:
            z = rest + 3
            z *= rest
            z *= rest
            z *= c / 8
            np.minimum(z, law.end, out=z)
            value += law(z)
            np.log(z, out=z)
            z *= power
            value += z
        np.exp(value, out=value)
        value *= rest
        value *= weight
        mass += value
        value *= step
        moment += value
    return np.asarray(peak + moment / mass)
