"""The posterior mean of x'theta given a player's own record. The player's payment compares this posterior mean with the
peers' estimate.

The response depends on theta only through t = x'theta. With f_x the law of t and g the density of the noise, the
posterior mean is

    q = int t f_x(t) g(y - t) dt / int f_x(t) g(y - t) dt.

The posterior mean is a one-dimensional integral (or a finite sum) in every dimension. A record's value never depends on
other records: every step is elementwise, in a fixed order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import non_negative, whole
from confide.contract.errors import InvalidInput
from confide.regression._gaussian_ball import cut_gaussian_mean, gaussian_ball_mean, gaussian_circle_mean, log_mass
from confide.regression._uniform_sum import block, uniform_sum_mean
from confide.regression.priors import (
    Atoms,
    GaussianBall,
    Isotropic,
    NoiseLaw,
    Prior,
    TruncatedGaussianNoise,
    UniformBall,
    UniformBox,
    UniformNoise,
    UniformSphere,
)
from confide.regression.records import row_norms

__all__ = ["PosteriorMean", "informativeness", "truthful_reports"]

Array = NDArray[np.float64]
Function = Callable[[Array], Array]

_CELLS = 2**18
"""Numbers per block, so that the working set stays in the cache. The split into blocks does not change any value."""
_NEGLIGIBLE = 40.0
"""Depth to which integrands are followed: down to exp(-40) of their peak."""


@dataclass(frozen=True)
class PosteriorMean:
    """Posterior mean q(x, y) = E[x'theta | x, y] for a public parameter law and a public noise law.

    The posterior mean q is 0 at x = 0 and for a record that is not finite. For all other records |q| <= radius ||x||.
    The result is never nan, and no record raises an exception. A response that no theta can give is first moved to the
    nearest possible response. With log-concave noise q never falls when y rises, up to rounding errors of about 1e-13.

    Errors are stated in units of the longest prediction, radius ||x||. For the ball, the sphere and the Gaussian in a
    ball the error is 1e-12. The ball and the sphere have closed forms for uniform noise, other cases of uniform or
    truncated Gaussian noise have short fixed quadratures, and any other noise law uses adaptive pieces. For finitely
    many points only rounding errors remain, and for a sampled prior the error is the sampling error. For a box the
    error is 1e-12 under uniform noise in up to six dimensions. In other cases of a box a Fourier series is within about
    1e-8, or worse where one or two coordinates are much larger than all others (`confide.regression._uniform_sum`).

    Args:
        prior: law of the parameter theta.
        noise: law of the residual y - x'theta.

    Source: the posterior that Cummings et al. 2015 assume; spec truthful_regression section 3.

    Example:
        >>> law = PosteriorMean(UniformBall(dimension=3, radius=1.0), UniformNoise(bound=0.5))
        >>> round(float(law.at_norms([0.7], [0.4])[0]), 10)
        0.2076923077
    """

    prior: Prior
    noise: NoiseLaw

    def __post_init__(self) -> None:
        if not isinstance(self.prior, Prior):
            raise InvalidInput("prior", f"{type(self.prior).__name__} has no posterior in this package")

    def __call__(self, X: ArrayLike, y: ArrayLike) -> Array:
        """The predictions q(x, y) for many records.

        Args:
            X: (n, d) features.
            y: (n,) responses.

        Returns:
            (n,) predictions, float64.

        Raises:
            InvalidInput: the shapes do not match; a row's values never cause an error.
        """
        rows, responses = self._checked(X, y)
        out = np.zeros(len(rows))
        with np.errstate(all="ignore"):
            for part, _, evaluate in self._parts(rows, responses):
                out[part] = evaluate(responses[part])
        return out

    def at_norms(self, norms: ArrayLike, y: ArrayLike) -> Array:
        """The predictions under an isotropic prior, which depend on x through ||x|| alone; `norms` and `y` have shape
        (n,).
        """
        if not isinstance(self.prior, Isotropic):
            raise InvalidInput("prior", f"{type(self.prior).__name__} is not isotropic", "give X instead of its norms")
        rows = np.zeros((np.size(norms), self.prior.dimension))
        rows[:, 0] = norms
        return self(rows, y)

    def slacks(self, X: ArrayLike, y: ArrayLike, rho: float) -> tuple[Array, Array]:
        """The largest decrease and the largest increase of a response at which the prediction moves by at most rho.

        Args:
            X: (n, d) features.
            y: (n,) true responses.
            rho: largest accepted movement of the prediction, >= 0.

        Returns:
            Two arrays (n,): the largest |y' - y| such that |q(x, y') - q(x, y)| <= rho, over responses y' below y, and
                over responses y' above y. Responses y' are within |y'| <= radius ||x|| + bound. Both results are 0
                where x = 0 or the record is not finite.

        Raises:
            InvalidInput: the shapes do not match, or the noise is not log-concave, in which case q need not be
                monotone.

        Source: spec truthful_regression section 7.1.
        """
        room = non_negative("rho", rho)
        if not self.noise.log_concave:
            raise InvalidInput("noise", "is not log-concave", "the slack needs a law with predictions that rise with "
                                                              "the response")
        rows, responses = self._checked(X, y)
        out = np.zeros((2, len(rows)))
        with np.errstate(all="ignore"):
            for part, reach, evaluate in self._parts(rows, responses):
                ends = -reach - self.noise.bound, reach + self.noise.bound
                truth = np.clip(responses[part], *ends)
                base = evaluate(truth)
                for side, end in enumerate(ends):
                    near, far = np.where(np.abs(evaluate(end) - base) <= room, end, truth), end
                    for _ in range(34):
                        middle = (near + far) / 2
                        inside = np.abs(evaluate(middle) - base) <= room
                        near, far = np.where(inside, middle, near), np.where(inside, far, middle)
                    out[side, part] = np.abs(near - truth)
        return out[0], out[1]

    def slack(self, X: ArrayLike, y: ArrayLike, rho: float) -> Array:
        """The larger of the two one-sided `slacks`, shape (n,)."""
        return np.maximum(*self.slacks(X, y, rho))

    def _checked(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        rows, responses = np.asarray(X, np.float64), np.asarray(y, np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.prior.dimension or responses.shape != rows.shape[:1]:
            raise InvalidInput("X", f"has shape {rows.shape}, and y has shape {responses.shape}",
                               f"must be (n, {self.prior.dimension}) and (n,)")
        return rows, responses

    def _parts(self, rows: Array, responses: Array) -> Iterator[tuple[NDArray[np.intp], Array, Function]]:
        """Blocks of the usable rows: their ranks, their largest predictions, and the function from responses to
        predictions.
        """
        norms = row_norms(rows)
        usable = np.isfinite(norms) & np.isfinite(responses) & (norms > 0)
        for start in range(0, len(rows), self._block):
            part = np.flatnonzero(usable[start : start + self._block]) + start
            if part.size:
                yield part, *self._predictor(rows, part, self.prior.radius * norms[part])

    @property
    def _block(self) -> int:
        if isinstance(self.prior, Isotropic):
            per_row = {UniformNoise: 8, TruncatedGaussianNoise: 16}
            return _CELLS // per_row.get(type(self.noise), 128)
        if isinstance(self.prior, UniformBox):
            return block(self.noise, self.prior.dimension)
        return max(1, _CELLS // len(self.prior.points))

    def _predictor(self, rows: Array, part: NDArray[np.intp], reach: Array) -> tuple[Array, Function]:
        """The largest possible predictions of some rows, and the function from their responses to their predictions."""
        if isinstance(self.prior, UniformBox):
            widths = np.abs(rows[part]) * self.prior.half_widths
            reach = _ordered_sum(widths.T.copy())
            return reach, lambda y: np.clip(uniform_sum_mean(self.noise, widths, y), -reach, reach)
        if isinstance(self.prior, Isotropic) and (type(self.prior), self.prior.dimension) != (UniformSphere, 1):
            law = self.prior
            return reach, lambda y: reach * _isotropic_mean(law, self.noise, reach, y)
        if isinstance(self.prior, Isotropic):
            inner = np.stack((-reach, reach), axis=1)
        else:
            inner = np.zeros((len(part), len(self.prior.points)))
            for j in range(self.prior.dimension):
                inner += rows[part, j, None] * np.ascontiguousarray(self.prior.points[:, j])
        return reach, lambda y: np.clip(self._weighted_mean(inner, y), -reach, reach)

    def _weighted_mean(self, inner: Array, y: Array) -> Array:
        """The posterior mean as a finite sum over k points; `inner` is (m, k), `y` is (m,)."""
        gap = y[:, None] - inner
        logs = self.noise.log_density(gap)
        if isinstance(self.prior, Atoms):
            logs = logs + np.log(self.prior.weights)
        peak = np.max(logs, axis=1)
        weights = np.exp(logs - peak[:, None])
        mean = _ordered_sum((weights * inner).T) / _ordered_sum(weights.T)
        impossible = np.flatnonzero(np.isneginf(peak))
        if impossible.size:
            lowest, highest = self.noise.breaks[0], self.noise.breaks[-1]
            outside = np.maximum(gap[impossible] - highest, lowest - gap[impossible])
            mean[impossible] = inner[impossible, np.argmin(outside, axis=1)]
        return np.asarray(mean)


def _ordered_sum(terms: Array) -> Array:
    """Sums over the first axis, in place, by repeated halving: the order of the additions depends on the number of
    terms alone.
    """
    length = len(terms)
    while length > 1:
        half = length // 2
        terms[:half] += terms[length - half : length]
        length -= half
    return np.array(terms[0])


def _isotropic_mean(prior: Isotropic, noise: NoiseLaw, reach: Array, y: Array) -> Array:
    """The posterior mean E[t | y] / reach of t = x'theta = reach s with |s| <= 1; a sphere must have at least two
    dimensions.
    """
    sigma = math.inf if isinstance(noise, UniformNoise) else getattr(noise, "noise_std", 0.0)
    closed = isinstance(noise, UniformNoise | TruncatedGaussianNoise)
    if isinstance(prior, GaussianBall):
        if closed:
            return cut_gaussian_mean(prior.dimension, prior.concentration, sigma, noise.bound, reach, y)
        return _pieces(noise, reach, y, *_cut_gaussian_profile(prior.dimension, prior.concentration))
    # Archimedes: a sphere casts the shadow of a ball in two dimensions less.
    order = prior.dimension - 2 * isinstance(prior, UniformSphere)
    if isinstance(noise, UniformNoise):
        # Even in y, computed for y >= 0: exactly odd predictions, and no loss of digits on one side only.
        size = np.abs(y)
        low = np.minimum(np.maximum((size - noise.bound) / reach, -1.0), 1.0)
        high = np.maximum(np.minimum((size + noise.bound) / reach, 1.0), low)
        return np.copysign(_uniform_window_mean(order, low, high), y)
    if closed and order:
        return gaussian_ball_mean(order, sigma, noise.bound, reach, y)
    if closed:
        return gaussian_circle_mean(sigma, noise.bound, reach, y)
    return _pieces(noise, reach, y, *_ball_profile(order))


def _ball_profile(order: int) -> tuple[Function, Function]:
    """The function log of (1 - s^2)^(d/2) and its derivative; both are zero for d = 0."""
    return (lambda s: order / 2 * np.log((1 - s) * (1 + s)) if order else np.zeros_like(s),
            lambda s: -order * s / ((1 - s) * (1 + s)) if order else np.zeros_like(s))


def _cut_gaussian_profile(dimension: int, c: float) -> tuple[Function, Function]:
    """The log density profile of a Gaussian in a ball, and its derivative: log of (1 - s^2)^(1/2) P(k, c (1 - s^2)/2)
    exp(-c s^2/2).
    """
    law = log_mass((dimension - 1) / 2)

    def log_profile(s: Array) -> Array:
        rest = (1 - s) * (1 + s)
        inside = np.minimum(c * rest / 2, law.end)
        return np.asarray(np.log(rest) / 2 + scipy.special.xlogy(law.power, inside) + law(inside) - c * s * s / 2)

    def slope(s: Array) -> Array:
        rest = (1 - s) * (1 + s)
        return np.asarray(-s / rest - c * s * (1 + law.rate(c * rest / 2)))

    return log_profile, slope


def _pieces(noise: NoiseLaw, reach: Array, y: Array, log_profile: Function, profile_slope: Function) -> Array:
    """The posterior mean E[s | y] for any noise law, integrated piece by piece; the profile is the density of s times
    (1 - s^2)^(1/2).
    """
    ends = noise.breaks
    low = np.minimum(np.maximum((y - ends[-1]) / reach, -1.0), 1.0)
    high = np.maximum(np.minimum((y - ends[0]) / reach, 1.0), low)
    log_scale = np.full(len(y), -np.inf)
    mass, moment = np.zeros(len(y)), np.zeros(len(y))
    for left, right in pairwise(ends):
        first, last = np.maximum((y - right) / reach, low), np.minimum((y - left) / reach, high)
        live = np.flatnonzero(last > first)
        if live.size:
            piece = _piece(log_profile, profile_slope, noise, left, right, reach[live], y[live])
            log_piece, mass_piece, moment_piece = _integrals(*piece, first[live], last[live])
            sound = np.isfinite(log_piece)
            live, log_piece = live[sound], log_piece[sound]
            scale = np.maximum(log_scale[live], log_piece)
            old, new = np.exp(log_scale[live] - scale), np.exp(log_piece - scale)
            mass[live] = mass[live] * old + mass_piece[sound] * new
            moment[live] = moment[live] * old + moment_piece[sound] * new
            log_scale[live] = scale
    mean = moment / mass
    return np.where(np.isfinite(mean), np.clip(mean, low, high), (low + high) / 2)


def _piece(
    log_profile: Function, profile_slope: Function, noise: NoiseLaw, left: float, right: float, reach: Array, y: Array
) -> tuple[Function, Function]:
    """The log of the profile times g(y - reach s), and its derivative, where the noise lies in [left, right]."""

    def log_weight(s: Array) -> Array:
        z = np.clip(y - reach * s, left, right)
        return np.asarray(log_profile(s) + noise.log_density(z))

    def slope(s: Array) -> Array:
        z = np.clip(y - reach * s, left, right)
        return np.asarray(profile_slope(s) - reach * noise.log_slope(z))

    return log_weight, slope


@cache
def _rule() -> tuple[Array, Array]:
    """The 32 nodes of Gauss and Legendre's rule on [-1, 1], and their weights, as columns."""
    nodes, weights = scipy.special.roots_legendre(32)
    return np.asarray(nodes, np.float64)[:, None], np.asarray(weights, np.float64)[:, None]


def _integrals(log_weight: Function, slope: Function, low: Array, high: Array) -> tuple[Array, Array, Array]:
    """The logarithm of the peak of w, and the integrals of w and of w s over [low, high] relative to that peak, for
    log-concave w.

    The integration variable is the angle phi with s = sin(phi). The substitution adds a factor (1 - s^2)^(1/2) to the
    weight and makes it smooth at the ends in every dimension. Bisection finds the interval outside which w is
    negligible, and each side of the peak gets 32 Gauss-Legendre nodes.
    """
    left, right = low, high
    for _ in range(36):
        middle = (left + right) / 2
        rising = slope(middle) > 0
        left, right = np.where(rising, middle, left), np.where(rising, right, middle)
    mode = (left + right) / 2
    peak = log_weight(mode)
    mass, moment = np.zeros_like(low), np.zeros_like(low)
    nodes, weights = _rule()
    for end in (low, high):
        near, far = mode, end
        for _ in range(20):
            middle = (near + far) / 2
            inside = log_weight(middle) >= peak - _NEGLIGIBLE
            near, far = np.where(inside, middle, near), np.where(inside, far, middle)
        start, width = np.arcsin(mode), np.arcsin(far) - np.arcsin(mode)
        s = np.sin(start + width * ((nodes + 1) / 2))
        values = np.exp(log_weight(s) - peak) * np.abs(width) * (weights / 2)
        moment += _ordered_sum(values * s)
        mass += _ordered_sum(values)
    return peak, mass, moment


def _uniform_window_mean(d: int, low: Array, high: Array) -> Array:
    """The mean of s with density proportional to (1 - s^2)^((d-1)/2) on [low, high], where 0 <= high + low and high <=
    1.
    """
    if d == 0:  # s is the sine of a uniform angle
        first, last = np.arcsin(low), np.arcsin(high)
        return np.clip(np.sin((first + last) / 2) * np.sinc((last - first) / (2 * np.pi)), low, high)
    k = (d - 1) / 2
    mean = np.zeros_like(low)
    cut = np.flatnonzero(high + low > 0)
    a, b = low[cut], high[cut]
    rest = (1 - a) * (1 + a)
    # (1 - a^2)^(k+1) - (1 - b^2)^(k+1), without cancellation.
    ratio = np.maximum(-(b - a) * (b + a) / rest, -1.0)
    top = np.power(rest, k + 1) * -np.expm1((k + 1) * np.log1p(ratio)) / (2 * (k + 1))
    bottom = _from_zero(d, b) - _from_zero(d, a)
    value = top / bottom
    # Tails lose digits in that difference, short windows in any, and far tails underflow: each its own way.
    full = scipy.special.beta(0.5, k + 1) / 2
    tail = np.flatnonzero((a > 0) & (bottom < 0.02 * full))
    whole_tail = scipy.special.betainc(k + 1, 0.5, rest[tail])
    part = whole_tail - scipy.special.betainc(k + 1, 0.5, (1 - b[tail]) * (1 + b[tail]))
    value[tail] = top[tail] / (full * part)
    poor = tail[~((part > 0.01 * whole_tail) & (part > 1e-280))]
    value[poor] = _tail_mean(k, a[poor], b[poor])
    mean[cut] = np.where(np.isfinite(value), np.clip(value, a, b), (a + b) / 2)
    return mean


def _from_zero(d: int, s: Array) -> Array:
    """The integral of (1 - u^2)^((d-1)/2) for u from 0 to s, odd in s, by a recurrence that adds numbers of one sign
    only.
    """
    if d > 64:
        half = scipy.special.beta(0.5, (d + 1) / 2) / 2
        return np.asarray(np.sign(s) * scipy.special.betainc(0.5, (d + 1) / 2, s * s) * half)
    rest = (1 - s) * (1 + s)
    total, power = (s, rest) if d % 2 else (np.arcsin(s), np.sqrt(rest))
    for twice in range(1 + d % 2, d, 2):
        total = (s * power + twice * total) / (twice + 1)
        power = power * rest
    return total


def _tail_mean(k: float, low: Array, high: Array) -> Array:
    """The mean of s on a window with 0 < low, by 32 Gauss-Legendre nodes.

    On the window the density falls by at most exp(-40), or falls smoothly.
    """
    nodes, weights = _rule()
    rest = (1 - low) * (1 + low)
    last = np.minimum(high, np.sqrt(1 - rest * math.exp(-_NEGLIGIBLE / k))) if k > 0 else high
    step = (last - low) * ((nodes + 1) / 2)
    values = np.power((1 - low - step) * (1 + low + step) / rest, k) * weights
    return np.asarray(low + _ordered_sum(values * step) / _ordered_sum(values))


def truthful_reports(prior: Prior, noise: NoiseLaw, nodes: int = 24) -> tuple[Array, Array, Array]:
    """Quadrature nodes x (N, d), y (N,) and weights (N,) for the records of truthful players with x uniform in the unit
    ball.

    Isotropic priors get a product quadrature with `nodes` nodes for each of ||x||, x'theta / ||x|| and the noise, with
    x along the first axis. Other priors get the first 8 nodes^2 points (with this number rounded down to a power of 2)
    of a Sobol sequence; 4096 points have an error of about one per cent.
    """
    count, d = whole("nodes", nodes, at_least=2), prior.dimension
    if isinstance(prior, Isotropic):
        node, share = scipy.special.roots_legendre(count)
        level = (node + 1) / 2
        inner, inner_share = _along_x(prior, count)
        norms, inner, errors = np.meshgrid(level ** (1 / d), inner, noise.from_uniforms(level), indexing="ij")
        rows = np.zeros((norms.size, d))
        rows[:, 0] = norms.reshape(-1)
        weights = share[:, None, None] * inner_share[:, None] * share / 4
        return rows, (norms * inner * prior.radius + errors).reshape(-1), weights.reshape(-1)
    from scipy.stats import qmc

    power = int(math.log2(8 * count * count))
    cube = qmc.Sobol(d + 2 + prior.uniforms, scramble=False).random_base2(power) + 2.0 ** -(power + 1)
    rows = UniformBall(dimension=d, radius=1.0).from_normals(scipy.special.ndtri(cube[:, :d]), cube[:, d])
    drawn = cube[:, d + 1 : -1]
    theta = prior.from_uniforms(drawn if isinstance(prior, UniformBox) else drawn[:, 0])
    inner = np.sum(rows * theta, axis=1)
    return rows, inner + noise.from_uniforms(cube[:, -1]), np.full(len(rows), 1 / len(rows))


def _along_x(prior: Isotropic, count: int) -> tuple[Array, Array]:
    """Nodes and weights, with sum 1, for the variable s = x'theta / (radius ||x||)."""
    d = prior.dimension
    if isinstance(prior, GaussianBall):
        node, share = scipy.special.roots_legendre(count)
        end = min(1.0, 7 / math.sqrt(prior.concentration))
        # The substitution of `_gaussian_ball`, for the half powers at the ends of [-1, 1].
        s = end * node * (3 - node * node) / 2
        log_profile, _ = _cut_gaussian_profile(d, prior.concentration)
        logs = log_profile(s) - np.log((1 - s) * (1 + s)) / 2
        share = share * (1 - node * node) * np.exp(logs - logs.max())
    elif isinstance(prior, UniformSphere) and d == 1:
        s, share = np.array([-1.0, 1.0]), np.array([1.0, 1.0])
    elif isinstance(prior, UniformSphere) and d == 2:
        s, share = scipy.special.roots_chebyt(count)
    else:
        s, share = scipy.special.roots_gegenbauer(count, d / 2 - isinstance(prior, UniformSphere))
    return s, share / share.sum()


def informativeness(prior: Prior, noise: NoiseLaw) -> float:
    """The ratio E[q^2] / E[(x'theta)^2] for truthful players with x uniform in the unit ball; 0 when responses reveal
    nothing about x'theta.

    If the ratio E[q^2] / E[(x'theta)^2] is below 0.1, payments hardly depend on the responses.

    Source: spec truthful_regression section 3.
    """
    rows, responses, weights = truthful_reports(prior, noise)
    explained = float(np.sum(weights * PosteriorMean(prior, noise)(rows, responses) ** 2))
    return explained * (prior.dimension + 2) / prior.second_moment
