"""Exact attack on the published sum by enumeration: the law of the sum on small lattices, and how much the sum reveals
about its summands.

On a lattice of a few hundred steps the law of the sum is a convolution. The Renyi divergence between the law and a
shifted copy is a finite sum, which must agree with the contracts' formula. Audits also inject a fault: lattice noise
under real-valued weights (weights that are not whole numbers of steps). In terms of densities, lattice noise under
real-valued weights looks like any other noise. However, each value of a sum with real-valued weights arises in only one
way, and the enumeration shows this fault.

Source: spec two_part_acquisition section 2 (release code) and acceptance check 11.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.release.losses import as_order, local_sigma
from confide.contract.checks import positive
from confide.contract.errors import InvalidInput
from confide.contract.renamed import renamed
from confide.privacy.divergences import renyi_divergence

__all__ = ["EXAMPLE_LEVELS", "EXAMPLE_WEIGHTS", "Enumerated", "enumerated_divergence", "real_weights", "sum_divergence"]

_REACH = 36  # standard deviations that a law is followed: what is beyond is below 1e-280
_POINTS = 2**17  # of the laws in a sum that is convolved, together
_SUMS = 2**22  # values of a sum that are gone through

EXAMPLE_WEIGHTS = (0.444494952334474258, 0.392756982839085497, 0.162748064826440243)
"""Weights of three people at the prices of the specification's example: virtual costs (.4, .7, 1.2), gamma = 10, alpha
= 2.
"""

EXAMPLE_LEVELS = (1.982376303142914385, 1.324110272585295191, 0.419058322328971246)
"""Local levels of the three people in the specification's example."""

Floats = NDArray[np.float64]


def sum_divergence(shift: int, variances: ArrayLike, order: float) -> float:
    """The exact Renyi divergence between a sum of discrete Gaussian noises and the same sum moved by `shift`.

    Args:
        shift: number of steps by which one record moves the sum, >= 0.
        variances: (k,) variances of the noises, in squared steps, >= 1, few and small enough to be enumerated.
        order: order alpha > 1 of the divergence.

    Example:
        >>> round(sum_divergence(28, [392, 625, 196], 2.0), 9), round(28**2 / (392 + 625 + 196), 9)
        (0.64633141, 0.64633141)
    """
    alpha = as_order(order)
    each = np.asarray(variances, dtype=np.float64)
    if each.ndim != 1 or not each.size or not (each >= 1).all() or 2 * _REACH * np.sqrt(each).sum() > _POINTS:
        raise InvalidInput("variances", "cannot be enumerated",
                           "must be >= 1, with square roots that sum to 1800 or less")
    law = np.ones(1)
    for k, variance in enumerate(each.tolist()):
        law = np.convolve(law, _noise(variance, _REACH))
        beyond = len(law) // 2 - math.ceil(_REACH * math.sqrt(each[: k + 1].sum()))
        if beyond > 0:  # masses that doubles no longer hold go into the ends
            law = _folded(_folded(law, beyond)[::-1], beyond)[::-1]
    last = len(law) - shift
    if last < 2:
        raise InvalidInput("shift", f"{shift} is beyond the range of the enumerated noise",
                           "must be smaller than the width of this range")
    # Over the points that both have: what is beyond belongs to the last of one, and to the first of the other.
    return renyi_divergence(_folded(law[::-1], shift)[::-1], _folded(law, shift), alpha)


def _noise(variance: float, reach: float) -> Floats:
    """Probabilities of discrete Gaussian noise on the whole numbers within `reach` standard deviations."""
    last = math.ceil(reach * math.sqrt(variance))
    masses: Floats = np.exp(-(np.arange(-last, last + 1.0) ** 2) / (2.0 * variance))
    masses /= masses.sum()
    return masses


def _folded(law: Floats, first: int) -> Floats:
    """A law from a given point on. The probability of all earlier points is added to the first point of the result."""
    return np.append(law[: first + 1].sum(), law[first + 1 :])


@dataclass(frozen=True)
class Enumerated:
    """Results of the enumeration of all values of a published sum.

    Args:
        divergence: divergence of the published number, when one record moves from one end of the range to the other.
        sums: number of combinations of noisy records that were enumerated.
        distinct: number of different published numbers. The number `distinct` equals `sums` if each published number
            reveals all its summands.
    """

    divergence: float
    sums: int
    distinct: int


@renamed(sigmas="noise_stds")
def enumerated_divergence(
    weights: Sequence[float], noise_stds: Sequence[float], step: float, order: float, *, reach: float = 5.0
) -> Enumerated:
    """The privacy loss of publishing sum w_i x_i in doubles, where x_i is a record with discrete noise on multiples of
    `step`.

    All records are multiples of the step, and the first record moves from 0 to 1. Noise beyond `reach` standard
    deviations is moved to the ends of the enumerated range, which can only lower the divergence.

    Args:
        weights: weights w_i, one per person.
        noise_stds: standard deviations of the noises, in the records' unit.
        step: spacing of the noise values; 1/step is a whole number.
        order: order alpha > 1 of the divergence.
        reach: reach of the enumeration, in standard deviations.

    Raises:
        InvalidInput: a parameter out of range, or too many sums to enumerate.

    Example:
        >>> equal = enumerated_divergence([0.5, 0.5], [1.0, 1.0], 0.125, 2.0)
        >>> real = enumerated_divergence([0.5, 0.5 ** 0.5], [1.0, 1.0], 0.125, 2.0)
        >>> round(equal.divergence, 3), round(real.divergence, 3), real.distinct == real.sums
        (0.5, 1.0, True)
    """
    alpha = as_order(order)
    unit = positive("step", step, at_most=1.0)
    if len(weights) != len(noise_stds) or not len(weights):
        raise InvalidInput("noise_stds", f"there are {len(noise_stds)} for {len(weights)} people",
                           "must be one per person")
    moved = round(1.0 / unit)
    _, *others = laws = [_noise((s / unit) ** 2, reach) for s in noise_stds]
    last = len(laws[0]) // 2
    places = np.arange(-last, last + moved + 1.0)
    before, after = (np.exp(-((places - at) ** 2) / (2.0 * (noise_stds[0] / unit) ** 2)) for at in (0, moved))
    sums = len(places) * math.prod(len(law) for law in others)
    if sums > _SUMS:
        raise InvalidInput("step", f"{step!r} gives {sums} sums", f"must give at most {_SUMS}")
    values = weights[0] * unit * places
    rest = np.ones(1)
    for weight, law in zip(weights[1:], others, strict=True):
        reached = len(law) // 2
        values = np.add.outer(values, weight * unit * np.arange(-reached, reached + 1)).reshape(-1)
        rest = np.outer(rest, law).reshape(-1)
    published, which = np.unique(values, return_inverse=True)
    seen = [np.bincount(which, weights=np.outer(one / one.sum(), rest).reshape(-1)) for one in (before, after)]
    return Enumerated(renyi_divergence(seen[0], seen[1], alpha), sums, len(published))


@cache
def real_weights() -> Enumerated:
    """Enumeration of the fault that audits inject, which does not depend on the release: lattice noise under the
    real-valued weights of the specification's example, at step 1/8.
    """
    return enumerated_divergence(EXAMPLE_WEIGHTS, [local_sigma(level, 2.0) for level in EXAMPLE_LEVELS], 0.125, 2.0)
