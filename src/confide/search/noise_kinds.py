"""The kinds of noise that order a search, and how likely one item's noise beats another's.

What a kind costs: all of them 2 Delta / b for a selection at scale b; gumbel noise is an exponential mechanism besides,
of bounded range, which composes at a quarter of the price. What it buys: how rarely an item far ahead loses.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import one_of, positive
from confide.contract.errors import InvalidInput

__all__ = ["KINDS", "MOST_IN_SCALES", "NoiseKind", "as_kind", "steepest_win", "wins_over"]

NoiseKind = Literal["laplace", "exponential", "discrete_laplace", "gumbel"]
"""laplace: as published; exponential: one-sided; discrete_laplace: for whole scores; gumbel: the first is a softmax."""

KINDS: tuple[NoiseKind, ...] = get_args(NoiseKind)

MOST_IN_SCALES = 2.0**12
"""Scores up to so many scales keep their noisy value within 2^-40 scales of the ideal one (spec targeted_search 3.2).

Check a public bound on the scores against it; a check of the scores themselves would tell of them.
"""


def as_kind(kind: object) -> NoiseKind:
    """One of the kinds.

    Raises:
        InvalidInput: it is not.
    """
    one_of("noise_kind", kind, KINDS)
    return kind  # type: ignore[return-value]


def wins_over(kind: NoiseKind, gap: ArrayLike, scale: float) -> NDArray[np.float64]:
    """Q: the probability that one item's noise exceeds an independent other's by more than a gap.

    An item whose score is `gap` below another's comes first with this probability. With discrete noise there are ties,
    and the item wins them: so it is against the fake, which comes last among equals. Elsewhere ties have probability 0.

    Args:
        kind: of the noise.
        gap: by how much the item is behind, any shape; finite, or infinite.
        scale: b > 0.

    Returns:
        Probabilities, in the shape of `gap`, falling in it.

    Raises:
        InvalidInput: a kind that is not known, a scale that is not positive, or a gap that is no number.

    Source: spec targeted_search 3.2 (smoothed stop); discrete_laplace by summing its convolution.

    Example:
        >>> wins_over("laplace", [-3.0, 0.0, 3.0], 1.0).round(6).tolist()
        [0.937766, 0.5, 0.062234]
        >>> wins_over("gumbel", [0.0, math.log(3)], 1.0).round(6).tolist()
        [0.5, 0.25]
    """
    kind, scale = as_kind(kind), positive("scale", scale)
    gaps = _gaps(gap)
    if kind == "discrete_laplace":
        gaps = np.ceil(gaps)
        return np.where(gaps > 0, _discrete_tail(np.maximum(gaps, 1), scale),
                        1.0 - _discrete_tail(np.maximum(1 - gaps, 1), scale))
    with np.errstate(over="ignore"):
        y = gaps / scale
    if kind == "gumbel":
        with np.errstate(over="ignore"):
            return np.asarray(1.0 / (1.0 + np.exp(y)))
    far = np.minimum(np.abs(y), 800.0)  # exp of it is 0 in doubles
    tail = 0.5 * np.exp(-far) * (1.0 + 0.5 * far if kind == "laplace" else 1.0)
    return np.where(y >= 0, tail, 1.0 - tail)


def steepest_win(kind: NoiseKind, scale: float) -> float:
    """The largest change of `wins_over` for one unit of gap: 1/(4b) laplace, 1/(2b) exponential, 1/(4b) gumbel.

    For discrete noise, where units are whole, it is P(N1 = N2).

    Raises:
        InvalidInput: a kind that is not known, or a scale that is not positive.

    Example:
        >>> steepest_win("laplace", 20.0), steepest_win("exponential", 20.0)
        (0.0125, 0.025)
    """
    kind, scale = as_kind(kind), positive("scale", scale)
    if kind == "discrete_laplace":
        ratio, rest = _ratio(scale)
        return rest * (1.0 + ratio**2) / (1.0 + ratio) ** 3
    return 1.0 / ((2.0 if kind == "exponential" else 4.0) * scale)


def _gaps(gap: ArrayLike) -> NDArray[np.float64]:
    try:
        gaps = np.asarray(gap, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("gap", "is not an array of numbers") from None
    if np.isnan(gaps).any():
        raise InvalidInput("gap", "an entry is not a number")
    return gaps


def _ratio(scale: float) -> tuple[float, float]:
    """r = exp(-1/b) and 1 - r."""
    return math.exp(-1.0 / scale), -math.expm1(-1.0 / scale)


def _discrete_tail(gaps: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """P(N1 - N2 >= g), g >= 1, of discrete Laplace noise.

    P(N1 - N2 = k) = ((1-r)/(1+r))^2 r^k (k + (1+r^2)/(1-r^2)) for k >= 0, summed from g on.
    """
    ratio, rest = _ratio(scale)
    far = np.minimum(gaps, 800.0 * scale + 1.0)
    first = (1.0 + ratio + 2.0 * ratio**2) / (1.0 + ratio)
    return np.asarray(np.exp(-far / scale) * (rest * far + first) / (1.0 + ratio) ** 2)
