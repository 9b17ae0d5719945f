"""Test of whether a source of noise draws from the requested distribution. The test complements the fixed-transcript
audit, which takes the distribution for granted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.audit.report import AuditRow, Concern, Verdict
from confide.contract.checks import fraction
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Draw, Noise
from confide.privacy.noise.arguments import StreamName
from confide.privacy.noise.choices import relative_weights

__all__ = ["likeliest", "sampler_audit", "shows_selection"]

_COARSE = 10_000  # scales of lattice laws up to here show their steps
_REACH = 40.0  # scales that the law of lattice noise is followed
_THRESHOLDS = 33
_COORDINATES = 8  # of a vector, whose marginal laws are looked at


def sampler_audit(noise: Noise, request: Draw, count: int, alpha: float) -> AuditRow:
    """Goodness-of-fit test of whether a source draws from the requested distribution. The test uses fresh draws of one
    request.

    The test is a Kolmogorov-Smirnov test for real numbers, and for whole numbers with a noise scale above 10,000. In
    all other cases exact binomial tests of single outcomes and thresholds are made. If two streams have equal draws,
    the source fails the test whatever the distribution, because the streams are not independent.

    Args:
        noise: the source, for instance `Noise.secure()`.
        request: recorded draw with the request to repeat. The fresh draws use the stream's name with an addition,
            because each name can be drawn only once.
        count: least number of fresh draws.
        alpha: probability that the test flags a correct sampler.

    Returns:
        A row with the p-value as the measured number, and alpha as its promised lower bound.
    """
    fraction("alpha", alpha)
    name = (*request.stream, "audit")
    if request.law == "split":
        raise InvalidInput("request", "is a split of people into groups", "a split is public, and is no law of noise")
    exact = request.law in ("channel", "selection")
    if exact:
        p_value = _of_choices(noise, request, count, name)
    elif request.law in ("exponential", "words"):
        p_value = _of_raw_draws(noise, request, count, name)
    elif request.law == "vector_laplace":
        p_value = _of_vectors(noise, request, count, name)
    else:
        apart, repeated = _numbers(noise, request, count, name)
        exact = request.law.startswith("discrete") and request.scale <= _COARSE
        found = _lattice(apart, request) if exact else _symmetric(
            apart / float(request.scale), normal=request.law.endswith("gaussian"))
        p_value = _together([found, repeated])
    test = "exact binomial tests" if exact else "Kolmogorov-Smirnov"
    return AuditRow(
        f"noise of {request.stream[0]}: {request.law.replace('_', ' ')} at the requested scale",
        f"p above {alpha:g}", p_value, f"{test} on {count} fresh draws of {noise.kind} noise",
        Verdict.KEPT if p_value > alpha else Verdict.BROKEN, false_alarm=alpha,
        unit="(p-value)", concern=Concern.PRIVACY,
    )


def _together(found: Sequence[float]) -> float:
    """One p-value from several, by Bonferroni's correction."""
    return min(1.0, len(found) * min(found, default=1.0))


def _repeated(first: NDArray[Any], second: NDArray[Any], largest: float) -> float:
    """The p-value of two streams with equal draws throughout. `largest` is the probability of the draws' likeliest
    value.
    """
    size = min(len(first), len(second))
    return largest**size if np.array_equal(first[:size], second[:size]) else 1.0


def _binomial(hits: NDArray[np.int64], runs: int, rates: NDArray[np.float64]) -> float:
    """The joint p-value of several counts, each of which is binomial with a known rate; the tests are exact and
    two-sided.
    """
    from scipy.stats import binom

    tails = np.minimum(binom.cdf(hits, runs, rates), binom.sf(hits - 1, runs, rates))
    return _together(np.minimum(2.0 * tails, 1.0).tolist())


def _numbers(noise: Noise, request: Draw, count: int, name: StreamName) -> tuple[NDArray[np.float64], float]:
    """Noise of fresh draws of two streams, without the center, and the p-value of the streams' equality."""
    size = request.shape or (1,)
    rounds = -(-count // (2 * math.prod(size)))
    center: Any = np.array([request.center] * rounds, dtype=object)
    if request.law.startswith("discrete"):
        center = center.astype(np.int64)
    halves = []
    for k in (0, 1):
        drawn = getattr(noise, request.law)(request.scale, center.shape, stream=(*name, k), center=center)
        halves.append(np.concatenate([_moved(values, request) for values in drawn]))
    return np.concatenate(halves), _repeated(halves[0], halves[1], likeliest(request))


def likeliest(request: Draw) -> float:
    """Upper bound, between 0 and 1, of the probability of the most likely value of the noise."""
    scale = float(request.scale)
    match request.law:
        case "discrete_laplace":
            return math.tanh(1 / (2 * scale))
        case "discrete_gaussian":
            # The sum of exp(-k^2/(2 scale^2)) over all integers is no less than the integral.
            return min(1.0, 1 / (scale * math.sqrt(2 * math.pi)))
        case _:
            return 0.5  # one point of a fine grid has far less


def _lattice(values: NDArray[np.float64], request: Draw) -> float:
    """The p-value of whole-number noise. The numbers of draws up to each of several thresholds, and the numbers of
    draws within each threshold's distance of 0, are compared with the exact distribution.
    """
    reach = np.arange(-math.ceil(_REACH * float(request.scale)) - 1, math.ceil(_REACH * float(request.scale)) + 2)
    scale = float(request.scale)
    logs = -np.abs(reach) / scale if request.law == "discrete_laplace" else -(reach**2) / (2 * scale**2)
    masses = np.exp(logs)
    below = np.cumsum(masses / masses.sum())
    at = np.unique(np.searchsorted(below, np.linspace(0.01, 0.99, _THRESHOLDS)))
    signed = reach[at]
    hits = np.array([np.count_nonzero(values <= t) for t in signed])
    sizes = np.unique(np.abs(signed))
    middle = len(reach) // 2
    near = np.array([np.count_nonzero(np.abs(values) <= t) for t in sizes])
    rates = np.array([below[middle + t] - (below[middle - t - 1]) for t in sizes])
    return _together([_binomial(hits, len(values), below[at]), _binomial(near, len(values), np.minimum(rates, 1.0))])


def _of_choices(noise: Noise, request: Draw, count: int, name: StreamName) -> float:
    """The p-value of a channel at each of its inputs, or of a selection."""
    half = -(-count // 2)
    if request.law == "selection":
        logits = [float(c) for c in request.center]
        laws = [_selected(np.array(logits))]
        drawn = [[noise.selection(logits, half, stream=(*name, k)) for k in (0, 1)]]
    else:
        table = np.array(request.table, dtype=np.int64)
        laws = [row / row.sum() for row in table]
        drawn = [[noise.channel(table, np.full(half, i), stream=(*name, i, k)) for k in (0, 1)]
                 for i in range(len(table))]
    found = []
    for law, pair in zip(laws, drawn, strict=True):
        counts = np.bincount(np.concatenate(pair), minlength=len(law))
        if counts[law == 0].any():
            return 0.0
        shown = law * half >= 1  # the rest together
        cells = np.append(counts[shown], counts[~shown].sum()), np.append(law[shown], law[~shown].sum())
        found.append(_binomial(cells[0], 2 * half, np.minimum(cells[1], 1.0)))
        found.append(_repeated(pair[0], pair[1], float(law.max())))
    return _together(found)


def _selected(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = relative_weights(logits)
    law: NDArray[np.float64] = weights / weights.sum()
    return law


def shows_selection(request: Draw, factor: float, count: int, alpha: float) -> bool:
    """Whether `sampler_audit` is almost certain to flag a source that draws a selection with another noise scale. For
    at least one option, the expected numbers of draws from the two sources must differ by more than two terms together:
    the deviation that the test allows by Bernstein's inequality, and six standard deviations.

    Args:
        request: recorded draw of a selection, with the logits of the options as center.
        factor: factor by which the other source divides the logits, > 0.
        count: number of fresh draws.
        alpha: probability that the test flags a correct sampler.
    """
    logits = np.array([float(each) for each in request.center])
    asked, wrong = _selected(logits), _selected((logits - logits.max()) / factor)
    allowed = math.log(2 * (len(logits) + 1) / alpha)
    off = np.sqrt(2 * allowed * count * asked * (1 - asked)) + allowed + 6 * np.sqrt(count * wrong * (1 - wrong))
    counted = asked * count >= 2  # others are counted together, by `_of_choices`
    return bool(((count * np.abs(asked - wrong) > off) & counted).any())


def _of_raw_draws(noise: Noise, request: Draw, count: int, name: StreamName) -> float:
    """The p-value of standard exponential draws, or of uniform words."""
    from scipy import stats

    halves = [getattr(noise, request.law)(-(-count // 2), stream=(*name, k)) for k in (0, 1)]
    drawn = np.concatenate(halves).astype(np.float64)
    law = stats.expon if request.law == "exponential" else stats.uniform(scale=2.0**64)
    return _together([float(stats.kstest(drawn, law.cdf).pvalue), _repeated(halves[0], halves[1], 0.5)])


def _moved(values: NDArray[Any], request: Draw) -> NDArray[np.float64]:
    """Noise without the center, exact up to the draw's own rounding."""
    return np.array([float(Fraction(v) - c) for v, c in zip(values.reshape(-1).tolist(), request.center, strict=True)])


def _symmetric(values: NDArray[np.float64], *, normal: bool) -> float:
    """The p-value of standard normal or Laplace numbers: of their absolute values, which show a wrong scale best, and
    of the signed numbers.
    """
    from scipy import stats

    whole, half = (stats.norm, stats.halfnorm) if normal else (stats.laplace, stats.expon)
    sizes, signed = stats.kstest(np.abs(values), half.cdf).pvalue, stats.kstest(values, whole.cdf).pvalue
    return _together([float(sizes), float(signed)])


def _of_vectors(noise: Noise, request: Draw, count: int, name: StreamName) -> float:
    """The p-value of vector Laplace noise: of its length and direction, or in one dimension of the number itself."""
    from scipy import stats

    d, scale = len(request.stretch), float(request.scale)
    drawn = np.array([
        _moved(noise.vector_laplace(request.scale, d, stream=(*name, k), center=request.center,
                                    stretch=request.stretch, grid=request.grid), request) / request.stretch
        for k in range(count)
    ])
    if d == 1:
        return _symmetric(drawn[:, 0] / scale, normal=False)
    length = np.linalg.norm(drawn, axis=1)
    unit = drawn / np.maximum(length, 1e-300)[:, None]
    coordinate = stats.beta((d - 1) / 2, (d - 1) / 2, loc=-1, scale=2)  # of a uniform direction, sign included
    shown = list(range(d)) if d <= _COORDINATES else np.linspace(0, d - 1, _COORDINATES).astype(int).tolist()
    found = [float(stats.kstest(length / scale, stats.gamma(d).cdf).pvalue)]
    found += [float(stats.kstest(unit[:, k], coordinate.cdf).pvalue) for k in shown]
    # Length and direction are independent: among the longer half, directions are as uniform as among all.
    longer = unit[np.argsort(length)[len(length) // 2 :]]
    found += [float(stats.kstest(longer[:, k], coordinate.cdf).pvalue) for k in shown]
    return _together(found)
