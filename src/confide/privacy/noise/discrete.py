"""Noise on the integers: discrete Laplace, P(k) proportional to exp(-|k|/scale), and discrete Gaussian, P(k)
proportional to exp(-k^2/(2 sigma^2)).

If the scale is a double, the library OpenDP draws. OpenDP reads the operating system's randomness itself, and takes
doubles as the exact numbers that they are. For a scale that is not a double, such as Fraction(2, 3), this module draws
exactly. The floor of an exponential with mean s is geometric with ratio exp(-1/s), and `balls` computes floors of ideal
real numbers.

Source: spec query_release A3; Canonne, Kamath and Steinke 2020, Algorithms 2 and 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import floor
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from confide.privacy.noise.balls import Offset, independent, magnitude, starting_bits
from confide.privacy.noise.entropy import Entropy

__all__ = ["LARGEST_SCALE", "DiscreteLaw", "ball_gaussian", "ball_laplace", "draw", "library"]

DiscreteLaw = Literal["discrete_laplace", "discrete_gaussian"]

LARGEST_SCALE = 2.0**55
"""The largest allowed scale. OpenDP's 64-bit integers saturate silently at 2^63. At the largest scale |noise| >= 2^62
has probability e^-128 < 2^-184, so neither the noise nor its sum with a count below 2^62 comes near the limit.
"""

_FLOOR = (-1, 0.5)  # the integer nearest to x - 1/2 is the floor of x


def draw(law: DiscreteLaw, scale: Fraction, count: int, entropy: Entropy) -> NDArray[np.int64]:
    """Independent draws from a discrete law, exact for the given scale.

    Args:
        law: the law of the draws.
        scale: the scale of the law (sigma of the Gaussian), in (0, LARGEST_SCALE].
        count: the number of draws.
        entropy: the source of the bits for scales that are not doubles; OpenDP reads the operating system's randomness
            itself.
    """
    if count == 0:
        return np.zeros(0, dtype=np.int64)
    if Fraction(float(scale)) == scale:
        return library(law, float(scale), count)
    sampler = ball_laplace if law == "discrete_laplace" else ball_gaussian
    return np.array(sampler(scale, count, entropy), dtype=np.int64)


def library(law: DiscreteLaw, scale: float, count: int) -> NDArray[np.int64]:
    """Draws by OpenDP, all in one call, because a call takes 50 us and each draw another 8 us."""
    return np.asarray(_measurement(law, scale)(np.zeros(count, dtype=np.int64)), dtype=np.int64)


@lru_cache(maxsize=256)
def _measurement(law: DiscreteLaw, scale: float) -> Any:
    """OpenDP's mechanism for a law. The mechanism is cached, because it holds no state, and creating one takes ten
    times as long as a draw.
    """
    from opendp.domains import atom_domain, vector_domain  # its prelude imports scikit-learn and polars, where they are
    from opendp.measurements import make_gaussian, make_laplace
    from opendp.metrics import l1_distance, l2_distance
    from opendp.mod import enable_features

    # OpenDP asks everybody to opt in to mechanisms that await its own proof review. Ours are its discrete samplers.
    enable_features("contrib")
    domain = vector_domain(atom_domain(T="i64"))  # its T=int would be 32 bits wide
    if law == "discrete_laplace":
        return make_laplace(domain, l1_distance(T="i64"), scale)
    return make_gaussian(domain, l2_distance(T="i64"), scale)


def _floors_of_exponentials(scale: Fraction, points: Sequence[Offset], entropy: Entropy) -> list[int]:
    """The integers nearest to point + Exponential(scale), exactly. At the point -1/2 this is the floor of the
    exponential.
    """
    from flint import fmpq

    factor = fmpq(-scale.numerator, scale.denominator)

    def law(uniforms: Sequence[Any]) -> list[Any]:
        return [uniform.log() * factor for uniform in uniforms]

    bits = starting_bits(magnitude(scale), 1)
    return independent(law, points, uniforms=1, values=1, bits=bits, entropy=entropy)


def ball_laplace(scale: Fraction, count: int, entropy: Entropy) -> list[int]:
    """Discrete Laplace noise as the difference of two geometric draws."""
    geometric = _floors_of_exponentials(scale, [_FLOOR] * (2 * count), entropy)
    return [first - second for first, second in zip(geometric[::2], geometric[1::2], strict=True)]


def ball_gaussian(sigma: Fraction, count: int, entropy: Entropy) -> list[int]:
    """Discrete Gaussian noise by rejection from a discrete Laplace law.

    A candidate y of scale t = floor(sigma) + 1 is kept with probability exp(-x), where x = (|y| - sigma^2/t)^2/(2
    sigma^2). The candidate is kept exactly when a standard exponential draw exceeds x, which has probability exp(-x).
    The number of rounds of the sampler depends on the noise and on sigma alone.
    """
    from flint import fmpq

    width = floor(sigma) + 1
    square = sigma * sigma
    kept: list[int] = []
    while len(kept) < count:
        candidates = ball_laplace(Fraction(width), 2 * (count - len(kept)) + 8, entropy)
        thresholds = [-((abs(y) - square / width) ** 2) / (2 * square) - Fraction(1, 2) for y in candidates]
        points = [(floor(x), fmpq((x - floor(x)).numerator, (x - floor(x)).denominator)) for x in thresholds]
        excess = _floors_of_exponentials(Fraction(1), points, entropy)
        kept += [y for y, above in zip(candidates, excess, strict=True) if above >= 0]
    return kept[:count]
