"""The kinds of noise that order a search, the probability that one item comes before another, and the exact law of the
result of one call (one search for a component).

A selection with noise of scale b costs 2 Delta / b for every kind, where Delta is the sensitivity. With Gumbel noise
the selection is also an exponential mechanism, which has bounded range. In a composition by zCDP such a selection costs
a quarter as much. The kinds differ in the probability that an item with a much larger score comes later.

The exact law of the largest noisy value comes from closed forms and numerical integrals:

    >>> call_law([3.0, 1.0], 4.0, "laplace", None).round(12).tolist()
    [0.62091833768, 0.37908166232, 0.0]

The density of the largest value is piecewise analytic, with a kink at each item's value. Between its kinks the density
is integrated by Gauss-Legendre quadrature, in pieces of at most one scale. Both tails become polynomials by the
substitution w = exp(-|y|).
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import finite, one_of, positive
from confide.contract.errors import InvalidInput
from confide.contract.probabilities import as_probabilities
from confide.contract.renamed import renamed

__all__ = [
    "KINDS",
    "MOST_IN_SCALES",
    "NoiseKind",
    "Threshold",
    "as_kind",
    "call_law",
    "examined_chances",
    "steepest_win",
    "threshold_points",
    "wins_over",
]

# ---- noise kinds

NoiseKind = Literal["laplace", "exponential", "discrete_laplace", "gumbel"]
"""The kinds of noise: "laplace" as published, one-sided "exponential", "discrete_laplace" for whole scores, and
"gumbel", with which the first item has a softmax law.
"""

KINDS: tuple[NoiseKind, ...] = get_args(NoiseKind)

MOST_IN_SCALES = 2.0**12
"""Largest score, in units of the noise scale, at which rounding changes a noisy value by at most 2^-40 noise scales
(spec targeted_search 3.2).

Compare a public bound on the scores with `MOST_IN_SCALES`. A check of the private scores themselves would leak
information.
"""


def as_kind(kind: object) -> NoiseKind:
    """Check the name of a kind of noise, and return it.

    Raises:
        InvalidInput: the name is unknown.
    """
    one_of("noise_kind", kind, KINDS)
    return kind  # type: ignore[return-value]


def wins_over(kind: NoiseKind, gap: ArrayLike, scale: float) -> NDArray[np.float64]:
    """Probability Q that an item comes first although its score is lower than another item's score by a gap.

    Q is the probability that the item's noise exceeds the other item's independent noise by more than `gap`. With
    discrete noise there are ties, and the item with the lower score wins the ties. In a tie with the fake target the
    item also wins, because the fake target comes last among items with equal noisy scores. With Laplace, exponential
    and Gumbel noise ties have probability 0.

    Args:
        kind: kind of the noise.
        gap: the other item's score minus this item's score, an array of any shape, finite or infinite.
        scale: noise scale b > 0.

    Returns:
        Probabilities, in the shape of `gap`, which fall as the gap grows.

    Raises:
        InvalidInput: an unknown kind, a scale that is not positive, or a gap that is not a number.

    Source: spec targeted_search 3.2 (smoothed stop); for "discrete_laplace" the probabilities are sums over the
    convolution of two noises.

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
    """The largest change of `wins_over` for one unit of gap: 1/(4b) for Laplace, 1/(2b) for exponential and 1/(4b) for
    Gumbel noise of scale b.

    For discrete noise, with whole units, the largest change is P(N1 = N2) for two independent noises N1 and N2.

    Raises:
        InvalidInput: an unknown kind, or a scale that is not positive.

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
    """The ratio r = exp(-1/b) of discrete Laplace noise of scale b, and 1 - r."""
    return math.exp(-1.0 / scale), -math.expm1(-1.0 / scale)


def _discrete_tail(gaps: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """P(N1 - N2 >= g) for gaps g >= 1 and two independent discrete Laplace noises N1 and N2.

    The probability is the sum over k >= g of P(N1 - N2 = k) = ((1-r)/(1+r))^2 r^k (k + (1+r^2)/(1-r^2)), with r =
    exp(-1/b).
    """
    ratio, rest = _ratio(scale)
    far = np.minimum(gaps, 800.0 * scale + 1.0)
    first = (1.0 + ratio + 2.0 * ratio**2) / (1.0 + ratio)
    return np.asarray(np.exp(-far / scale) * (rest * far + first) / (1.0 + ratio) ** 2)


# ---- order statistics

Threshold = float | ArrayLike | None
"""The value of the fake target before noise: a number, an array of the probabilities of 0, 1, ..., or None for no fake
target. The fake target is an additional item that ends the search when it comes first.
"""

_Array = NDArray[np.float64]

_ORDER = 24  # nodes of a piece of one scale: an error far below 1e-15 for these functions
_FINE = 0.125  # pieces this short need a third of them
_REACH = 60.0  # scales beyond which discrete noise has no part in any outcome, at 1e-26
_MOST_TERMS = 2.0**24  # 128 MiB in each of some six arrays
_TAIL = 64  # nodes of a tail: exact up to 127 items


def threshold_points(threshold: Threshold) -> tuple[_Array, _Array]:
    """The possible values of the fake target before noise, shape (g,), and their probabilities, shape (g,). Both arrays
    are empty without a fake target.

    Raises:
        InvalidInput: a threshold that is neither a number nor an array of probabilities.
    """
    if threshold is None:
        return np.zeros(0), np.zeros(0)
    if np.ndim(threshold) == 0:
        return np.array([finite("threshold", threshold)]), np.ones(1)
    law = as_probabilities(threshold)
    if law.ndim != 1 or not np.isfinite(law).all() or (law < 0).any() or abs(law.sum() - 1) > 1e-9:
        raise InvalidInput("threshold", f"an array of shape {law.shape}", "must be probabilities that sum to 1")
    points = np.flatnonzero(law)
    return points.astype(np.float64), law[points]


@renamed(scale="noise_scale")
def call_law(scores: ArrayLike, noise_scale: float, kind: NoiseKind, threshold: Threshold) -> _Array:
    """The law of the result of one search for a component: one of the targets that are not found yet, or nothing.

    Protected vertices (people who are not targets) only delay the target that comes first, so the law does not depend
    on protected vertices.

    Args:
        scores: statistics of the targets that are not found yet, by ascending public id, shape (t,).
        noise_scale: noise scale b > 0.
        kind: kind of the noise; "discrete_laplace" needs scores that are whole numbers.
        threshold: value of the fake target before noise: a number, an array of the probabilities of 0, 1, 2, ..., or
            None for no fake target.

    Returns:
        Probabilities, shape (t + 1,). The last entry is the probability that nothing is found. The probabilities sum to
        1 up to rounding, and their relative errors are below 1e-12.

    Raises:
        InvalidInput: a parameter out of range.

    Source: spec targeted_search 3.2 and 4 ("selection law").

    Example:
        >>> call_law([2, 1, 2, 0], 1.0, "gumbel", 0).round(4).tolist()
        [0.379, 0.1394, 0.379, 0.0513, 0.0513]
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise InvalidInput("scores", f"an array of shape {values.shape}", "must be finite numbers, one for each target")
    as_kind(kind)
    points, law = threshold_points(threshold)
    if not values.size:
        return np.ones(1)  # nobody is left: nothing is found, with or without a fake
    b = positive("noise_scale", noise_scale)
    if kind == "gumbel":
        return _softmax(values / b, points / b, law)
    if kind == "discrete_laplace":
        return _discrete(values, b, points, law)
    return _integrated(values / b, points / b, law, kind)


def _softmax(values: _Array, points: _Array, law: _Array) -> _Array:
    if not points.size:
        weights = np.exp(values - values.max())
        return np.append(weights / weights.sum(), 0.0)
    every = np.hstack([np.tile(values, (points.size, 1)), points[:, None]])
    weights = np.exp(every - every.max(axis=1, keepdims=True))
    return np.asarray(law @ (weights / weights.sum(axis=1, keepdims=True)))


def _discrete(values: _Array, scale: float, points: _Array, law: _Array) -> _Array:
    """The law of one call with discrete noise. Ties go to the lowest id, and the fake target comes after all equal
    targets.
    """
    if (values != np.rint(values)).any() or (points != np.rint(points)).any():
        raise InvalidInput("scores", "are not whole numbers", "discrete Laplace noise needs whole numbers")
    low, high = min(values.min(), points.min(initial=np.inf)), max(values.max(), points.max(initial=-np.inf))
    reach = math.ceil(_REACH * scale)
    if (high - low + 2 * reach) * (values.size + points.size) > _MOST_TERMS:
        raise InvalidInput("noise_scale", f"{scale:g} is too large to enumerate for {values.size + points.size:,} "
                           "values", f"the law is a sum over integers, and can have at most {_MOST_TERMS:,.0f} numbers")
    z = np.arange(low - reach, high + reach + 1)
    mass = np.array([_whole_mass(z - value, scale) for value in values])
    # The first among equals: strictly above those with a lower id, at least as high as the others.
    lower = np.vstack([np.ones_like(z), np.cumprod([_whole_below(z - 1 - value, scale) for value in values], axis=0)])
    higher = [_whole_below(z - value, scale) for value in values[:0:-1]]
    if points.size:
        fakes = [part * _whole_below(z - x, scale) for x, part in zip(points, law, strict=True)]
        higher.insert(0, np.sum(fakes, axis=0))
    else:
        higher.insert(0, np.ones_like(z))
    above = np.cumprod(higher, axis=0)[::-1]
    nobody = [part * float(_whole_mass(z - x, scale) @ lower[-1]) for x, part in zip(points, law, strict=True)]
    return np.append(np.sum(mass * lower[:-1] * above, axis=1), sum(nobody))


def _whole_mass(z: _Array, scale: float) -> _Array:
    """P(noise = z) for discrete Laplace noise."""
    ratio = math.exp(-1 / scale)
    return np.asarray((1 - ratio) / (1 + ratio) * np.exp(-np.abs(z) / scale))


def _whole_below(z: _Array, scale: float) -> _Array:
    """P(noise <= z) for discrete Laplace noise."""
    tail = np.exp(-np.abs(z + (z >= 0)) / scale) / (1 + math.exp(-1 / scale))
    return np.asarray(np.where(z >= 0, 1 - tail, tail))


# ---- integrals, in units of the scale


@lru_cache(maxsize=8)
def _rule(order: int) -> tuple[_Array, _Array]:
    """Gauss-Legendre nodes and weights on (0, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    return (nodes + 1) / 2, weights / 2


def nodes_between(kinks: _Array, count: int) -> tuple[_Array, _Array]:
    """Nodes and weights for integrals over the real line of functions that are analytic between the kinks.

    Args:
        kinks: positions of the kinks, in units of the noise scale.
        count: number of competing items. For more items the quadrature uses more pieces beyond the last kink, so that
            the largest noise of all items is unlikely to lie above the last piece.
    """
    kinks = np.unique(kinks)
    low, high = float(kinks[0]), float(kinks[-1])
    ends = np.concatenate([kinks, high + np.arange(1.0, np.ceil(np.log(count + 1.0)) + 3.0)])
    places, parts = [], []
    for start, end in pairwise(ends.tolist()):
        pieces = int(np.ceil(end - start))
        width = (end - start) / pieces
        nodes, weights = _rule(_ORDER if width > _FINE else _ORDER // 3)
        places.append((start + width * (np.arange(pieces)[:, None] + nodes)).ravel())
        parts.append(np.tile(width * weights, pieces))
    w, weights = _rule(_TAIL)
    places = [low + np.log(w[::-1]), *places, float(ends[-1]) - np.log(w)]
    parts = [(weights / w)[::-1], *parts, weights / w]
    return np.concatenate(places), np.concatenate(parts)


def below(y: _Array, kind: NoiseKind) -> _Array:
    """P(noise <= y) for Laplace or exponential noise of scale 1, in the shape of y."""
    if kind == "exponential":
        return np.asarray(-np.expm1(-np.maximum(y, 0.0)))
    tail = np.exp(-np.abs(y)) / 2
    return np.asarray(np.where(y < 0, tail, 1 - tail))


def density(y: _Array, kind: NoiseKind) -> _Array:
    """The density at y of Laplace or exponential noise of scale 1, in the shape of y."""
    if kind == "exponential":
        return np.asarray(np.where(y >= 0, np.exp(-np.maximum(y, 0.0)), 0.0))
    return np.asarray(np.exp(-np.abs(y)) / 2)


def others_below(at_most: _Array) -> _Array:
    """The probability that the noisy values of all other items are at most a node, for each item and each node of the
    quadrature; shape (items, nodes). The result is the product of all other rows of `at_most`, computed without
    division. Row i of `at_most` has the probabilities that the noisy value of item i is at most each node.
    """
    before, after = np.ones_like(at_most), np.ones_like(at_most)
    np.cumprod(at_most[:-1], axis=0, out=before[1:])
    after[:-1] = np.cumprod(at_most[:0:-1], axis=0)[::-1]
    return before * after


def _integrated(values: _Array, points: _Array, law: _Array, kind: NoiseKind) -> _Array:
    y, weights = nodes_between(np.concatenate([values, points]), values.size + 1)
    at_most = [below(y - value, kind) for value in values]
    dense = [density(y - value, kind) for value in values]
    if points.size:
        at_most.append(np.sum(law[:, None] * below(y - points[:, None], kind), axis=0))
        dense.append(np.sum(law[:, None] * density(y - points[:, None], kind), axis=0))
    found = (np.array(dense) * others_below(np.array(at_most))) @ weights
    return found if points.size else np.append(found, 0.0)


@renamed(scale="noise_scale")
def examined_chances(
    scores: ArrayLike, targeted: ArrayLike, noise_scale: float, kind: NoiseKind, threshold: Threshold
) -> _Array:
    """The probability that each protected vertex is examined in one search for a component. A vertex is examined if it
    comes before the fake target and before all targets that are not found yet.

    Args:
        scores: statistics of all vertices that are not examined yet, by ascending public id, shape (p,).
        targeted: whether the vertex of each entry in `scores` is a target, shape (p,).
        noise_scale: noise scale b > 0.
        kind: kind of the noise.
        threshold: value of the fake target before noise: a number, an array of the probabilities of 0, 1, 2, ..., or
            None for no fake target.

    Returns:
        Probabilities, shape (p,), with 0 for targets. The sum of the probabilities is the expected number of protected
        vertices examined.

    Raises:
        InvalidInput: a parameter out of range.

    Source: spec targeted_search 4.

    Example:
        >>> examined_chances([0.0] * 3, [True, False, False], 20.0, "laplace", None).round(6).tolist()
        [0.0, 0.5, 0.5]
    """
    values, mask = np.asarray(scores, dtype=np.float64), np.asarray(targeted, dtype=np.bool_)
    if values.shape != mask.shape:
        raise InvalidInput("targeted", f"an array of shape {mask.shape}", f"must have the shape {values.shape}")
    out, known = np.zeros(values.size), {}
    if not mask.any() and threshold is None:
        out[:] = 1.0  # nothing ends the call
        return out
    for v in np.flatnonzero(~mask):
        place = int(mask[:v].sum()) if kind == "discrete_laplace" else 0
        key = (float(values[v]), place)
        if key not in known:
            known[key] = float(call_law(np.insert(values[mask], place, values[v]), noise_scale, kind, threshold)[place])
        out[v] = known[key]
    return out
