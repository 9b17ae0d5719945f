"""Whether a source of noise draws the law that was asked for; the other half of an audit through the door."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.audit.report import AuditRow, Verdict
from confide.contract.checks import fraction
from confide.privacy.noise import Draw, Noise
from confide.privacy.noise.arguments import StreamName
from confide.privacy.noise.choices import relative_weights

__all__ = ["sampler_audit"]

_EXPECTED = 5  # how often an outcome must be expected to be a cell of its own in a chi-square test
_COORDINATES = 8  # of a vector, whose marginal laws are looked at


def sampler_audit(noise: Noise, request: Draw, count: int, alpha: float) -> AuditRow:
    """Whether a source draws the law that was asked for: a goodness-of-fit test on fresh draws of one request.

    Kolmogorov-Smirnov for numbers; Pearson's chi-square for channels and selections.

    Args:
        noise: the source, for instance `Noise.secure()`.
        request: a draw as it was recorded; its streams are used with a number added.
        count: how many fresh draws at least. Lattice laws need a scale far above 1, where steps do not show.
        alpha: probability of calling a right sampler broken.

    Returns:
        A row with the p-value as measured and alpha as promised least.
    """
    fraction("alpha", alpha)
    name = (*request.stream, "audit")
    if request.law in ("channel", "selection"):
        p_value = _of_choices(noise, request, count, name)
    elif request.law == "vector_laplace":
        p_value = _of_vectors(noise, request, count, name)
    else:
        size = request.shape if request.shape else (1,)
        rounds = -(-count // math.prod(size))
        center: Any = np.array([request.center] * rounds, dtype=object)
        if request.law.startswith("discrete"):
            center = center.astype(np.int64)
        drawn = getattr(noise, request.law)(request.scale, center.shape, stream=name, center=center)
        apart = np.concatenate([_moved(values, request) for values in drawn])
        p_value = _symmetric(apart / float(request.scale), normal=request.law.endswith("gaussian"))
    test = "Pearson's chi-square" if request.law in ("channel", "selection") else "Kolmogorov-Smirnov"
    return AuditRow(
        f"noise of {request.stream[0]}: {request.law.replace('_', ' ')} at the scale that was asked for",
        f"p above {alpha:g}", p_value, f"{test} on {count} fresh draws of {noise.kind} noise",
        Verdict.KEPT if p_value > alpha else Verdict.BROKEN, false_alarm=alpha,
    )


def _of_choices(noise: Noise, request: Draw, count: int, name: StreamName) -> float:
    """The law of a channel at each of its inputs, or of a selection."""
    from scipy import stats

    if request.law == "selection":
        weights = relative_weights(np.array([float(c) for c in request.center]))
        drawn = {0: noise.selection([float(c) for c in request.center], count, stream=name)}
        laws = {0: weights / weights.sum()}
    else:
        table = np.array(request.table, dtype=np.int64)
        laws = {k: row / row.sum() for k, row in enumerate(table)}
        drawn = {k: noise.channel(table, np.full(count, k), stream=(*name, k)) for k in laws}
    found = []
    for key, law in laws.items():
        counts = np.bincount(drawn[key], minlength=len(law))
        if counts[law == 0].any():
            return 0.0
        often = law * count >= _EXPECTED
        cells = [np.append(values[often], values[~often].sum()) for values in (counts, law * count)]
        held = cells[1] > 0
        if held.sum() > 1:
            found.append(float(stats.chisquare(cells[0][held], cells[1][held]).pvalue))
    return min(1.0, len(found) * min(found, default=1.0))


def _moved(values: NDArray[Any], request: Draw) -> NDArray[np.float64]:
    """What was added to the center, exactly before the last rounding."""
    return np.array([float(Fraction(v) - c) for v, c in zip(values.reshape(-1).tolist(), request.center, strict=True)])


def _symmetric(values: NDArray[np.float64], *, normal: bool) -> float:
    """The p-value of standard normal or Laplace numbers: sizes, which show a wrong scale best, and signs."""
    from scipy import stats

    whole, half = (stats.norm, stats.halfnorm) if normal else (stats.laplace, stats.expon)
    sizes, signed = stats.kstest(np.abs(values), half.cdf).pvalue, stats.kstest(values, whole.cdf).pvalue
    return min(1.0, 2.0 * float(min(sizes, signed)))


def _of_vectors(noise: Noise, request: Draw, count: int, name: StreamName) -> float:
    """The law of vector Laplace noise: its length, and its direction; in one dimension, the number itself."""
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
    return min(1.0, len(found) * min(found))
