"""Posterior means of x'theta for a parameter theta in a ball, with a uniform or a Gaussian prior, by one fixed
quadrature rule for every record.

In the first case theta is uniform in a ball, with truncated Gaussian noise. Let d be the dimension, y the response,
sigma the noise's standard deviation, and bound its truncation point.

In units of the reach r = radius ||x||, the variable s = x'theta / r lies in [low, high], the part of [-1, 1] with |y -
r s| <= bound. On the interval [low, high] the variable s has a density proportional to w(s) = exp h(s),

    h(s) = k log(1 - s^2) + tilt s - pull s^2 / 2,   k = (d - 1) / 2,  tilt = r y / sigma^2,  pull = (r / sigma)^2.

The method takes y >= 0, because the posterior mean is odd in y. The method has two steps without any branch or loop
that depends on the data.

1. The first step finds a window [left, right] around the peak m of w, outside which w < exp(-32) w(m). The function h
   is concave, so it lies above its chords inside the window and below them outside. Therefore the mass outside the
   window is at most 1.3e-14 of the mass inside.
2. The second step applies a rule of 52 Gauss-Legendre nodes on the window after the substitution s = u (3 - u^2) / 2.
   For even d the density has square roots at s = -1 and s = 1, and the substitution turns them into polynomials: 1 -
   s^2 = (1 - u^2)^2 (4 - u^2) / 4 and ds = 3 (1 - u^2) / 2 du. The integrand is therefore analytic in the disk |u| < 2
   for every d, and edges of the support cost no accuracy.

The error of the result is at most 1e-13 times the reach. The hardest integrand is a bell that fills the window [-1, 1],
exp(-32 s^2). On the ellipse around [-1, 1] that passes through u = i / 2, with sum of semi-axes 1.618, this integrand
stays below exp(21.2). The rule's classical error bound, 64/15 max|f| 1.618^-104 / (1 - 1.618^-2), is therefore 3e-12 of
the integrand's peak. The actual error for this integrand is 6e-14 of the peak. For all other integrands the tests
compare the rule with rigorous integration.

The second case is a Gaussian theta that is truncated to a ball, with uniform or truncated Gaussian noise. Let tau be
the standard deviation of theta before truncation.

In units of the reach r = radius ||x||, the variable s = x'theta / r has on [low, high] a density proportional to exp
h(s),

    h(s) = log P(k, c (1 - s^2) / 2) + tilt s - pull s^2 / 2, k = (d - 1) / 2.

The function P is the regularised incomplete gamma function, the probability that the other d - 1 coordinates stay
inside the ball. The concentration c is (radius / tau)^2, and the pull is c + (r / sigma)^2. The method for the Gaussian
prior has the two steps of the method for the uniform prior. A window around the peak is found outside which the density
is below exp(-32) of its peak, and Gauss-Legendre nodes are used on that window. The substitution s = u (3 - u^2)/2
again makes the half powers of 1 - s^2 at the ends analytic. The function h is concave, because a marginal of a
log-concave density is log-concave. The slope of h lies between the slope for the uniform prior with the same pull and
the slope for a Gaussian prior without truncation. Newton's method therefore starts at the peak for the uniform prior.
The error of the result is at most 1e-12 times the reach.

log P(k, z) = k log z + B(z), where B is smooth and decreasing. B and its derivative are tabulated once for each k, as
cubics, within 1e-12.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

__all__ = [
    "BELOW_ONE",
    "DEPTH",
    "LogMass",
    "ball_peak",
    "cut_gaussian_mean",
    "gaussian_ball_mean",
    "gaussian_circle_mean",
    "left_bound",
    "log_mass",
    "rule",
]

# ---- gaussian ball

Array = NDArray[np.float64]

DEPTH = 32.0
"""Depth of the integration window: it ends where the density has fallen to exp(-32) of its peak, or where the support
ends.
"""
BELOW_ONE = 1 - 2.0**-53


@cache
def rule() -> tuple[tuple[float, float], ...]:
    """Nodes and weights of Gauss and Legendre's rule on [-1, 1]."""
    return tuple((float(node), float(weight)) for node, weight in zip(*scipy.special.roots_legendre(52), strict=True))


def gaussian_ball_mean(dimension: int, sigma: float, bound: float, reach: Array, y: Array) -> Array:
    """E[s | y] for a variable s with density proportional to (1 - s^2)^((d-1)/2) on [-1, 1], and y = reach s + noise.

    The result is odd in y to the last bit. The mean is computed elementwise in a fixed order, so that a record's value
    never depends on other records.

    Args:
        dimension: dimension d, at least 1.
        sigma: standard deviation of the Gaussian noise before its truncation.
        bound: point at which the noise is truncated.
        reach: (m,) positive factors of s, one for each record.
        y: (m,) responses; a response that cannot occur is moved to the nearest possible one.

    Returns:
        (m,) in [-1, 1].
    """
    with np.errstate(all="ignore"):
        size, power = np.abs(y), (dimension - 1) / 2
        low = np.minimum(np.maximum((size - bound) / reach, -1.0), 1.0)
        high = np.maximum(np.minimum((size + bound) / reach, 1.0), low)
        # Beyond these limits the mean is where it would be at them, to rounding, and nothing overflows.
        spread = np.maximum(sigma, 1e-17 * reach)
        pull = np.maximum((reach / spread) ** 2, 1e-300)
        tilt = np.minimum(reach / spread * (size / spread), 1e100)
        peak = ball_peak(power, tilt, pull, low, high)
        mean = _mean(power, tilt, pull, peak, *_window(power, tilt, pull, peak, low, high))
        # Not a number where the window is one point or the noise is too narrow for doubles: then the response decides.
        mean = np.where(np.isfinite(mean), mean, size / reach)
        return np.copysign(np.minimum(np.maximum(mean, low), high), y)


def _slope(power: float, tilt: Array, pull: Array, s: Array) -> Array:
    """The slope h'(s)."""
    return np.asarray(tilt - pull * s - 2 * power * s / ((1 - s) * (1 + s)))


def _curvature(power: float, pull: Array, s: Array) -> Array:
    """The curvature -h''(s), which rises with s >= 0."""
    return np.asarray(pull + 2 * power * (1 + s * s) / ((1 - s) * (1 + s)) ** 2)


def ball_peak(power: float, tilt: Array, pull: Array, low: Array, high: Array) -> Array:
    """The point where the density w is largest on [low, high]. The result may be an approximation from above.

    For s >= 0 the term 2 k s / (1 - s^2) of h' lies between k s / (1 - s) and twice that value. If k s / (1 - s) takes
    the term's place, h' has the closed-form root in the first lines of the code, which is to the right of the peak.
    Newton's steps descend from that root to the peak and never pass it, because h' is decreasing and concave on s >= 0.
    """
    root = np.sqrt((tilt - pull) ** 2 + 2 * power * (tilt + pull) + power**2)
    peak = np.minimum(2 * tilt / (tilt + pull + power + root), BELOW_ONE)
    for _ in range(2):
        step = _slope(power, tilt, pull, peak) / _curvature(power, pull, peak)
        peak = np.minimum(peak + step, BELOW_ONE)
    return np.minimum(np.maximum(peak, low), np.minimum(high, BELOW_ONE))


def _window(power: float, tilt: Array, pull: Array, peak: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """An interval around the peak that contains all s of [low, high] with h(s) >= h(peak) - 32, and is hardly longer
    than necessary.

    To the right of the peak the curvature grows, so Taylor's parabola at the peak is above h. To the left of the peak,
    the better of two bounds on h gives a first point: the parabola of the least curvature, or a bound from the
    logarithm and the tilt alone. One Newton step from any point ends outside the set, because the tangent of a concave
    function is above the function.
    """
    curvature, fall = _curvature(power, pull, peak), np.maximum(-_slope(power, tilt, pull, peak), 0.0)
    right = peak + 2 * DEPTH / (fall + np.sqrt(fall * fall + 2 * DEPTH * curvature))

    push = np.maximum(tilt - pull * peak, 0.0)
    left = left_bound(power, pull + 2 * power, push, peak, low)
    step = left - peak
    ratio = (1 - left) * (1 + left) / ((1 - peak) * (1 + peak))
    height = scipy.special.xlogy(power, ratio) + step * (push - pull * step / 2)
    left = np.fmax(left - (height + DEPTH) / _slope(power, tilt, pull, left), low)
    return np.minimum(left, peak), np.minimum(right, high)


def left_bound(power: float, least: Array, push: Array, peak: Array, low: Array) -> Array:
    """A first guess of the window's left end, by the better of two bounds on h.

    Args:
        power: exponent k of the logarithm in h.
        least: least curvature of h, which it has at s = 0.
        push: slope of h at the peak without the logarithm's part, >= 0.
        peak: peak of h.
        low: left end of the support.
    """
    skewed = (2 * DEPTH / 3 + np.sqrt((2 * DEPTH / 3) ** 2 + 2 * DEPTH * power)) / push
    return np.asarray(np.maximum(peak - np.minimum(skewed, np.sqrt(2 * DEPTH / least)), low))


def _mean(power: float, tilt: Array, pull: Array, peak: Array, left: Array, right: Array) -> Array:
    """The mean of s under w on [left, right], by the quadrature rule in u, summed node by node in arrays small enough
    for the cache.
    """
    first, last = 2 * np.sin(np.arcsin(left) / 3), 2 * np.sin(np.arcsin(right) / 3)
    middle, half = (last + first) / 2, (last - first) / 2
    # With step = 2 (s - peak) and rest = 1 - u^2, the log of w relative to its peak is
    # k log((3 + rest) rest^2) + base + step (push + bend step).
    twice, push, bend = 2 * peak, (tilt - pull * peak) / 2, -pull / 8
    base = -scipy.special.xlogy(power, 4 * (1 - peak) * (1 + peak))
    mass, moment = np.zeros_like(peak), np.zeros_like(peak)
    rest, step, value, other = (np.empty_like(peak) for _ in range(4))
    for node, weight in rule():
        np.multiply(half, node, out=other)
        other += middle
        np.multiply(other, other, out=rest)
        np.subtract(1.0, rest, out=rest)
        np.add(rest, 2.0, out=step)
        step *= other
        step -= twice
        np.add(rest, 3.0, out=value)
        value *= rest
        value *= rest
        np.log(value, out=value)
        value *= power
        value += base
        np.multiply(step, bend, out=other)
        other += push
        other *= step
        value += other
        np.exp(value, out=value)
        value *= rest
        value *= weight
        mass += value
        value *= step
        moment += value
    return np.asarray(peak + moment / mass / 2)


def gaussian_circle_mean(sigma: float, bound: float, reach: Array, y: Array) -> Array:
    """E[s | y] for s = sin(phi) with phi uniform on [-pi/2, pi/2], and y = reach s + noise: the case of theta on a
    circle.

    The logarithm of the density of s is unbounded, because the density rises towards both ends, so the integration
    variable is the angle phi. In phi the integrand is entire. Outside |y - reach s|^2 <= least^2 + 64 sigma^2, where
    least is the least possible |y - reach s|, the integrand is below exp(-32) of its peak.

    Args, Returns:
        The same as in `gaussian_ball_mean`, without `dimension`.
    """
    with np.errstate(all="ignore"):
        size = np.abs(y)
        low = np.minimum(np.maximum((size - bound) / reach, -1.0), 1.0)
        high = np.maximum(np.minimum((size + bound) / reach, 1.0), low)
        place, width = size / reach, np.maximum(sigma / reach, 1e-17)
        nearest = np.minimum(np.maximum(place, low), high)
        room = np.hypot(place - nearest, np.sqrt(2 * DEPTH) * width)
        first, last = np.arcsin(np.maximum(place - room, low)), np.arcsin(np.minimum(place + room, high))
        middle, half = (last + first) / 2, (last - first) / 2
        mass, moment = np.zeros_like(size), np.zeros_like(size)
        for node, weight in rule():
            step = np.sin(middle + half * node) - nearest
            value = weight * np.exp(-step * (step + 2 * (nearest - place)) / (2 * width * width))
            mass += value
            moment += value * step
        mean = nearest + moment / mass
        mean = np.where(np.isfinite(mean), mean, nearest)
        return np.copysign(np.minimum(np.maximum(mean, low), high), y)


# ---- cut gaussian

_CELLS = 2**13
_STEPS = 4


class LogMass:
    """The function B(z) = log P(k, z) - k log z, tabulated on [0, end], where 1 - P(k, end) = 1e-17; beyond end, P
    counts as 1.

    Args:
        power: exponent k >= 0; for k = 0, P is 1 everywhere.
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
        """The value B(z) at points z in [0, end]."""
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
        """The derivative d log P(k, z)/dz at points z > 0."""
        if self.power == 0:
            return np.zeros_like(z)
        inside = np.minimum(z, self.end)
        log_mass = scipy.special.xlogy(self.power, inside) + self(inside)
        log_density = scipy.special.xlogy(self.power - 1, z) - z - scipy.special.gammaln(self.power)
        return np.asarray(np.exp(log_density - log_mass))


def _exact(power: float, z: Array) -> tuple[Array, Array]:
    """The function B and its derivative, by the series P(k, z) = z^k e^-z S(z)/Gamma(k + 1), S = 1 + z/(k + 1) + ..."""
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
    """The table of B for one exponent k, built once and cached."""
    return LogMass(power)


def cut_gaussian_mean(
    dimension: int, concentration: float, sigma: float, bound: float, reach: Array, y: Array
) -> Array:
    """E[s | y] for y = reach s + noise, where s comes from a Gaussian theta truncated to a ball; odd in y to the last
    bit.

    Args:
        dimension: dimension d, at least 1.
        concentration: squared ratio c > 0 of the ball's radius to the Gaussian's standard deviation.
        sigma: standard deviation of the Gaussian noise before its truncation; infinity for uniform noise.
        bound: bound at which the noise is truncated.
        reach: (m,) positive factors of s, one for each record.
        y: (m,) responses; a response that cannot occur is moved to the nearest possible one.

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
        window = _cut_window(law, concentration, tilt, pull, peak, low, high)
        mean = _cut_mean(law, concentration, tilt, pull, peak, *window)
        mean = np.where(np.isfinite(mean), mean, np.minimum(tilt / pull, 1.0))
        return np.copysign(np.minimum(np.maximum(mean, low), high), y)


def _rate(law: LogMass, c: float, s: Array) -> Array:
    return law.rate(c * ((1 - s) * (1 + s)) / 2)


def _peak(law: LogMass, c: float, tilt: Array, pull: Array, low: Array, high: Array) -> Array:
    """The approximate peak of h on [low, high]. Newton's method starts at the peak for the uniform prior, which is
    never to the right of the peak of h.
    """
    last = np.minimum(high, BELOW_ONE)
    peak = start = ball_peak(law.power, tilt, pull, np.full_like(low, -1.0), np.ones_like(high))
    for _ in range(_STEPS if law.power else 0):
        z, rate = c * ((1 - peak) * (1 + peak)) / 2, _rate(law, c, peak)
        slope = tilt - pull * peak - c * peak * rate
        curvature = pull + c * rate + c * c * peak * peak * rate * np.maximum(1 + rate - (law.power - 1) / z, 0.0)
        peak = np.minimum(np.maximum(peak + slope / curvature, start), np.minimum(tilt / pull, BELOW_ONE))
        peak = np.where(np.isfinite(peak), peak, start)
    return np.minimum(np.maximum(peak, low), last)


def _cut_window(
    law: LogMass, c: float, tilt: Array, pull: Array, peak: Array, low: Array, high: Array
) -> tuple[Array, Array]:
    """An interval around the peak that contains all s of [low, high] with h(s) >= h(peak) - 32, and is hardly longer
    than necessary.
    """
    rate = _rate(law, c, peak)
    slope = tilt - pull * peak - c * peak * rate
    fall, curvature = np.maximum(-slope, 0.0), pull + c * rate
    right = peak + 2 * DEPTH / (fall + np.sqrt(fall * fall + 2 * DEPTH * curvature))
    least = pull + c * law.rate(np.full_like(pull, c / 2))
    left = left_bound(law.power, least, np.maximum(tilt - pull * peak, 0.0), peak, low)
    # The tangent of a concave function is above it: one step from any point ends outside.
    left = np.fmax(left - _excess(law, c, tilt, pull, peak, left) / _cut_slope(law, c, tilt, pull, left), low)
    right = np.fmin(right - _excess(law, c, tilt, pull, peak, right) / _cut_slope(law, c, tilt, pull, right), high)
    return np.minimum(left, peak), np.maximum(np.minimum(right, high), peak)


def _cut_slope(law: LogMass, c: float, tilt: Array, pull: Array, s: Array) -> Array:
    return np.asarray(tilt - pull * s - c * s * _rate(law, c, s))


def _excess(law: LogMass, c: float, tilt: Array, pull: Array, peak: Array, s: Array) -> Array:
    """The difference h(s) - (h(peak) - 32), which is zero at the ends of the window."""
    step = s - peak
    height = step * (tilt - pull * (s + peak) / 2)
    if law.power:
        at, before = (np.minimum(c * ((1 - v) * (1 + v)) / 2, law.end) for v in (s, peak))
        height += scipy.special.xlogy(law.power, at / before) + law(at) - law(before)
    return np.asarray(height + DEPTH)


def _cut_mean(law: LogMass, c: float, tilt: Array, pull: Array, peak: Array, left: Array, right: Array) -> Array:
    """The mean of s under exp h on [left, right], by the quadrature rule in u."""
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
