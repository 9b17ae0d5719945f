"""The posterior mean of a sum t = sum a_k U_k of independent uniform variables U_k in [-1, 1], given y = t + noise.

Two methods are used. The choice between the two methods depends only on the dimension d and the noise law.

1. For uniform noise on [-M, M] and at most `EXACT` summands, the method uses piecewise polynomials. With F(x) = P[t >
   x] and G the integral of F above x, E[t | y] = (y - M) + (G(y - M) - G(y + M) - 2 M F(y + M)) / (F(y - M) - F(y +
   M)). Both F and G are averages of powers of a positive part, Phi_j^P(x) = E[max(x + S_j, 0)^P]/P!, where S_j is the
   sum of the j smallest summands. The averages satisfy the recursion

       Phi_j^P(x) = (Phi_(j-1)^(P+1)(x + a_j) - Phi_(j-1)^(P+1)(x - a_j)) / (2 a_j).

   The plain alternating sum over 2^d corners loses all digits where some a_k are small. Therefore the recursion in this
   module runs from the smallest summand to the largest. Where x is beyond the reach of S_j, Phi_j^P is a polynomial
   with positive terms. Therefore no difference is taken over a step much shorter than the numbers in it. The error of
   the result is at most 1e-12 times the reach sum a_k.

2. In all other cases, the method uses the Fourier series of the density of y on a period [-L, L] that contains its
   support, with the characteristic function as coefficients. The error of the Fourier series is the error of the
   omitted terms. Each record uses so many terms that a bound on the omitted terms is 1e-8, but at most `TERMS` terms.
   For a single summand, and for two summands against a noise density with jumps, the Fourier terms decay slowly, and
   the error is up to 1e-5 of the reach near the kinks. Where the density of y is below 1e-6 of its average, a straight
   line to the end of the support replaces the series. A truthful response falls into this region of low density with
   probability about one in a million.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

import numpy as np
import scipy
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.regression.priors import NoiseLaw, TruncatedGaussianNoise, UniformNoise

__all__ = ["EXACT", "TERMS", "block", "uniform_sum_mean"]

Array = NDArray[np.float64]

EXACT = 6
"""Largest number of summands for the exact method, whose work grows as 2^d."""
TERMS = 4096
_FEWEST = 32
_ENOUGH = 1e-8
_RARE = 1e-6
_DEGREE = 128


def block(noise: NoiseLaw, dimension: int) -> int:
    """Number of records to process together, so that the working set stays in the cache."""
    return 2**16 >> dimension if _exactly(noise, dimension) else 2**14


def _exactly(noise: NoiseLaw, dimension: int) -> bool:
    return isinstance(noise, UniformNoise) and dimension <= EXACT


def uniform_sum_mean(noise: NoiseLaw, widths: Array, y: Array) -> Array:
    """The posterior mean E[t | y], computed elementwise. The order of the operations depends on the record alone.

    Args:
        noise: law of the noise y - t.
        widths: (m, d) half-widths a_k of the summands, non-negative, not all zero.
        y: (m,) responses; a response that cannot occur is moved to the nearest possible one.

    Returns:
        (m,) posterior means.
    """
    ordered = -np.sort(-widths.T, axis=0)
    reach = np.zeros(len(y))
    for part in ordered:
        reach += part
    out = np.empty(len(y))
    with np.errstate(all="ignore"):
        if _exactly(noise, len(ordered)):
            count = np.sum(ordered > 0, axis=0)
            for number in np.unique(count):
                part = np.flatnonzero(count == number)
                # In units of the reach.
                scale = reach[part]
                some = ordered[:number, part] / scale
                out[part] = scale * _exact_mean(some, noise.bound / scale, y[part] / scale)
        else:
            out = _series_mean(noise, ordered, reach, y)
        low = np.maximum(y - noise.breaks[-1], -reach)
        high = np.minimum(y - noise.breaks[0], reach)
        middle = np.clip((low + high) / 2, -reach, reach)  # where y cannot occur, both are beyond the same end
        return np.where(low < high, np.clip(np.where(np.isfinite(out), out, middle), low, high), middle)


# ---- piecewise polynomials


def _exact_mean(widths: Array, bound: Array, y: Array) -> Array:
    """The posterior mean E[t | y] under noise uniform on [-bound, bound]; the (m, n) half-widths are positive, in
    falling order, with sum 1.
    """
    size = np.abs(y)
    low, high = size - bound, size + bound
    (above_low, beyond_low), (above_high, beyond_high) = (_tails(widths, end) for end in (low, high))
    excess = beyond_low - beyond_high - 2 * bound * above_high
    return np.copysign(low + excess / (above_low - above_high), y)


def _tails(widths: Array, x: Array) -> tuple[Array, Array]:
    """The tail F(x) = P[t > x], and the integral of F above x; the (m, n) half-widths are in falling order."""
    number = len(widths)
    reach, moments = [np.zeros_like(x)], [_moments_of_nothing(number, x)]
    for width in widths[::-1]:
        reach.append(reach[-1] + width)
        moments.append(_with_one_more(moments[-1], width))
    # All x + (sum of signed widths but the smallest), one row for each choice of signs.
    places = -x[None, :]
    for width in widths[:-1]:
        places = np.concatenate((places + width, places - width))
    smallest = widths[-1]
    first = _first_level(places, smallest, number - 1, moments[1])
    second = _first_level(places, smallest, number, moments[1])
    for level in range(2, number + 1):
        width, rows = widths[number - level], len(places) // 2
        # Pairs differ in the sign of this level's width, the last that was added.
        upper, lower = slice(0, rows), slice(rows, None)
        places = places[upper] - width
        power = number - level
        inside = np.abs(places) < reach[level]
        first, second = (
            np.where(inside, (values[upper] - values[lower]) / (2 * width),
                     np.where(places > 0, _polynomial(places, order, moments[level]), 0.0))
            for values, order in ((first, power), (second, power + 1))
        )
    return first[0], second[0]


def _first_level(x: Array, width: Array, power: int, moments: list[Array]) -> Array:
    """The function Phi_1^P for a single summand."""
    near = _powers(x + width, power + 1) / (2 * width)
    far = np.where(x > 0, _polynomial(x, power, moments), 0.0)
    return np.where(np.abs(x) < width, near, far)


def _powers(x: Array, power: int) -> Array:
    """The value x^P / P!, computed by multiplication."""
    value = np.ones_like(x)
    for k in range(1, power + 1):
        value *= x
        value /= k
    return value


def _polynomial(x: Array, power: int, moments: list[Array]) -> Array:
    """E[(x + S)^P]/P! = sum of x^(P - 2i)/(P - 2i)! E[S^(2i)]/(2i)!, by Horner's rule in x^2."""
    square = x * x
    value = np.zeros_like(x)
    for i in range(power // 2 + 1):
        value *= square
        value += moments[i] / math.factorial(power - 2 * i)
    return value * x if power % 2 else value


def _moments_of_nothing(order: int, like: Array) -> list[Array]:
    """The moments E[S^(2i)]/(2i)! of the empty sum S = 0, for i = 0, ..., order // 2."""
    return [np.ones_like(like), *(np.zeros_like(like) for _ in range(order // 2))]


def _with_one_more(moments: list[Array], width: Array) -> list[Array]:
    """The moments E[S^(2i)]/(2i)! of the sum S after one more summand is added."""
    own = [_powers(width, 2 * k) / (2 * k + 1) for k in range(len(moments))]
    return [np.asarray(sum(moments[j] * own[i - j] for j in range(i + 1))) for i in range(len(moments))]


# ---- Fourier series


def _series_mean(noise: NoiseLaw, widths: Array, reach: Array, y: Array) -> Array:
    """The posterior mean E[t | y] for (d, n) half-widths, from the series of the density of y and of its product with
    the noise.
    """
    longest = float(max(-noise.breaks[0], noise.breaks[-1]))
    # Half a period is one of four powers of 2 per octave, so that the noise's part is computed for few of them.
    octave = np.ceil(4 * np.log2((reach + longest) * (1 + 1e-12)))
    terms = _terms(noise, widths, octave)
    out = np.empty(len(y))
    for key in np.unique(octave):
        for count in np.unique(terms[octave == key]):
            part = np.flatnonzero((octave == key) & (terms == count))
            series = _Series(noise, float(key), int(count), widths[:, part])
            out[part] = series.mean(y[part], reach[part])
    return out


def _terms(noise: NoiseLaw, widths: Array, octave: Array) -> Array:
    """Number of Fourier terms of each record: the least at which a bound on the omitted terms is below `_ENOUGH`, at
    most `TERMS`.
    """
    count = np.full(len(octave), TERMS)
    for key in np.unique(octave):
        part = np.flatnonzero(octave == key)
        envelope = np.maximum.accumulate(np.abs(_noise_terms(_key(noise), float(key), TERMS)[0])[::-1])[::-1]
        some = widths[:, part]
        for number in (2048, 1024, 512, 256, 128, 64, _FEWEST):
            frequency = math.pi * number / 2 ** (key / 4)
            # Beyond here each summand with width * frequency > 1 falls like 1/m: the sum of their product is below
            # number / (how many - 1) times its first term.
            bound, falling = np.full(len(part), 2 * number * envelope[number]), np.zeros(len(part))
            for width in some:
                decay = np.minimum(1.0, 1 / (width * frequency))
                bound *= decay
                falling += decay < 1
            bound /= np.maximum(falling - 1, 1)
            count[part] = np.where(bound <= _ENOUGH, number, count[part])
    return count


class _Series:
    """The Fourier series of the density of y, times 2 L, and of the density's product with the mean noise given y, for
    some records.

    Args:
        noise: law of the noise.
        octave: logarithm of the half period: L = 2^(octave / 4).
        count: number of terms.
        widths: (d, n) half-widths of the summands of n records.
    """

    def __init__(self, noise: NoiseLaw, octave: float, count: int, widths: Array) -> None:
        self.noise, self.count, self.widths = noise, count, widths
        self.step = math.pi / 2 ** (octave / 4)
        self.terms = _noise_terms(_key(noise), octave, count)

    def factors(self, rows: NDArray[np.intp] | slice) -> Iterator[Array]:
        """The characteristic function E[exp(i w t)] at w = step, 2 step,..., for some records, in one array that is
        overwritten.
        """
        angles = self.widths[:, rows] * self.step
        # sin(m x)/x by the recurrence of Chebyshev, all summands at once.
        twice = 2 * np.cos(angles)
        before, now, scaled = np.zeros_like(angles), np.sinc(angles / np.pi), np.empty_like(angles)
        factor = np.empty(angles.shape[1])
        small = len(now) <= 64  # m^d is a double
        for m in range(1, self.count + 1):
            factor.fill(float(m) ** -len(now) if small else 1.0)
            for summand in now if small else np.multiply(now, 1 / m, out=scaled):
                np.multiply(factor, summand, out=factor)
            yield factor
            np.multiply(twice, now, out=scaled)
            np.subtract(scaled, before, out=before)
            before, now = now, before

    def sums(self, y: Array, factors: Iterable[Array], both: bool = True) -> list[Array]:
        """The density at the responses y. If `both` is true, the result also has the product of the density with the
        mean noise.
        """
        turn_c, turn_s = np.cos(self.step * y), np.sin(self.step * y)
        c, s, spare = turn_c.copy(), turn_s.copy(), np.empty(len(y))
        parts = self.terms if both else self.terms[:1]
        totals = [np.full(len(y), part[0].real / 2) for part in parts]
        for m, factor in enumerate(factors, 1):
            for part, total in zip(parts, totals, strict=True):
                for weight, wave in ((part[m].real, c), (part[m].imag, s)):
                    if weight:
                        np.multiply(factor, wave, out=spare)
                        np.multiply(spare, weight, out=spare)
                        np.add(total, spare, out=total)
            c, s = c * turn_c - s * turn_s, s * turn_c + c * turn_s
        return [2 * total for total in totals]

    def mean(self, y: Array, reach: Array) -> Array:
        """The posterior mean E[t | y]; where y is too rare for the series, a value on a straight line to the end of the
        support.
        """
        density, product = self.sums(y, self.factors(slice(None)))
        out = y - product / density
        rare, at_once = np.flatnonzero(~(density >= _RARE)), max(1, 2**20 // self.count)
        for start in range(0, len(rare), at_once):
            rows = rare[start : start + at_once]
            out[rows] = self._rare(y[rows], reach[rows], rows)
        return out

    def _rare(self, y: Array, reach: Array, rows: NDArray[np.intp]) -> Array:
        factors = np.stack([factor.copy() for factor in self.factors(rows)])
        end = np.where(y > 0, reach + self.noise.breaks[-1], -reach + self.noise.breaks[0])
        inner, outer = np.zeros_like(y), np.clip(y, np.minimum(end, 0), np.maximum(end, 0))
        y = outer
        for _ in range(30):
            middle = (inner + outer) / 2
            common = self.sums(middle, factors, both=False)[0] >= _RARE
            inner, outer = np.where(common, middle, inner), np.where(common, outer, middle)
        density, product = self.sums(inner, factors)
        known = inner - product / density
        way = np.where(end == inner, 1.0, (y - inner) / (end - inner))
        return np.asarray(known + way * (np.copysign(reach, end) - known))


def _key(noise: NoiseLaw) -> Hashable:
    """The noise law as a hashable key, under which its transform is cached."""
    if not isinstance(noise, Hashable):
        raise InvalidInput("noise", f"{type(noise).__name__} cannot be hashed",
                           "a box prior needs laws that can be hashed")
    return noise


@lru_cache(maxsize=64)
def _noise_terms(noise: Hashable, octave: float, count: int) -> NDArray[np.complex128]:
    """(2, count + 1) values E[exp(i w z)] and E[z exp(i w z)] of the noise z at w = 0, step, ...; parts that are as
    small as rounding errors are set to zero.

    Each smooth piece of the density is a sum of Legendre polynomials, whose transforms are spherical Bessel functions.
    """
    if not isinstance(noise, NoiseLaw):
        raise TypeError("is not a law of noise")
    w = np.arange(count + 1) * (math.pi / 2 ** (octave / 4))
    cuts = noise.breaks
    if isinstance(noise, TruncatedGaussianNoise):  # the rest is below 1e-20
        cuts = np.clip(cuts, -9.5 * noise.noise_std, 9.5 * noise.noise_std)
    node, share = scipy.special.roots_legendre(_DEGREE + 32)
    legendre = np.polynomial.legendre.legvander(node, _DEGREE)
    out = np.zeros((2, count + 1), np.complex128)
    for left, right in pairwise(cuts):
        middle, half = (left + right) / 2, (right - left) / 2
        z = middle + half * node
        values = np.exp(noise.log_density(z)) * share
        parts = np.stack((values, values * z)) @ legendre
        wave = np.exp(1j * middle * w)
        for n in np.flatnonzero(np.max(np.abs(parts), axis=0) > 1e-14 * np.max(np.abs(parts))):
            bessel = wave * scipy.special.spherical_jn(n, half * w) * (half * (2 * int(n) + 1) * 1j ** int(n))
            out += parts[:, n, None] * bessel
    for part in (out.real, out.imag):
        part[np.abs(part) < 1e-17] = 0.0
    out.flags.writeable = False
    return out
