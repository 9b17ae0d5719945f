"""The audit through the door: a mechanism's own run on neighbouring data sets, along one and the same public history.

A run asks `Noise` for every random number, and says what the noise is added to. So a run on data D can be written down,
and a run on a neighbour D' can be given the same answers. Then

- what D' publishes must equal what D published, bit for bit: otherwise something reached the public past the noise;
- both must ask for the same laws, scales and shapes: otherwise the calibration depends on the data;
- the loss along this history follows from the centers alone, exactly: no sampling, no error bars.

Everything that is published is then a function of the answers, and each answer is protected by the law that was asked
for. That the sampler really draws that law is checked apart, on its own draws: `sampler_audit`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.audit.claims import Loss, exceeds
from confide.audit.report import AuditRow, Verdict
from confide.contract.checks import fraction
from confide.contract.guarantees import Unit
from confide.privacy.accounting import Accountant
from confide.privacy.events import PureEvent, ZCDPEvent
from confide.privacy.losses import ZCDP
from confide.privacy.noise import Draw, ForcedNoise, Noise, RecordingNoise
from confide.privacy.noise.arguments import StreamName

__all__ = ["DoorAudit", "Neighbours", "door_audit", "sampler_audit"]

_COORDINATES = 8  # of a vector, whose marginal laws are looked at

Published = Callable[[Any], bytes]


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Two data sets that differ in one record.

    Args:
        first: one of them, as the mechanism's `run` takes it.
        second: the other.
        published: everything that the audience of the claim sees of an outcome, as bytes (for joint privacy: all but
            the changed participant's own share).
    """

    first: Any
    second: Any
    published: Published


@dataclass(frozen=True)
class DoorAudit:
    """What a walk along common histories found.

    Args:
        claim: the promised loss.
        measured: the worst loss over the pairs, in the claim's own parameter.
        promised: the claim's parameter.
        leaks: what reached the public past the noise, or depended on the data; empty for a sound mechanism.
        pairs: how many pairs of data sets were walked.
        flagged: a leak, a loss above the claim, or nothing walked.
    """

    claim: Loss
    measured: float
    promised: float
    leaks: tuple[str, ...]
    pairs: int
    flagged: bool

    def row(self, promise: str = "privacy") -> AuditRow:
        """The result as a row of an `AuditReport`."""
        if self.leaks:
            return AuditRow.of_loss(promise, self.claim, self.promised, math.inf, self.leaks[0], flagged=True)
        evidence = f"its own run on {self.pairs} pairs of neighbours: published alike on equal noise, loss exact"
        return AuditRow.of_loss(promise, self.claim, self.promised, self.measured, evidence, flagged=self.flagged)


def door_audit(
    run: Callable[[Any, Noise], Any], pairs: Iterable[Neighbours], claims: dict[str, Loss],
    noise: Callable[[int], Noise],
) -> dict[str, DoorAudit]:
    """Walk a mechanism's own run over pairs of neighbouring data sets.

    Args:
        run: `run(data, noise)`: the mechanism itself.
        pairs: neighbouring data sets, made to stretch the mechanism.
        claims: for each part of the noise, named by the first words of its streams ("release", "release/gram"), what
            is promised of it; the part "" is everything together.
        noise: number of a pair (from 0) -> the source of noise for its history.

    Returns:
        One audit per claim; a leak flags all of them.

    Example:
        >>> from confide.privacy import PureDP
        >>> def mean(values, noise):  # sensitivity 1/2 of two values in [0, 1], noise for a loss of 1
        ...     return noise.laplace(0.5, 1, stream="mean", center=[sum(values) / 2])
        >>> pair = Neighbours([0.0, 1.0], [1.0, 1.0], lambda outcome: outcome.tobytes())
        >>> found = door_audit(mean, [pair], {"": PureDP(1.0)}, Noise.simulated)
        >>> found[""].measured, found[""].flagged
        (1.0, False)
    """
    worst = dict.fromkeys(claims, 0.0)
    leaks: dict[str, None] = {}
    count = 0
    for count, pair in enumerate(pairs, 1):
        history = RecordingNoise(noise(count - 1))
        outcome = run(pair.first, history)
        forced = ForcedNoise(history.draws)
        other = run(pair.second, forced)
        leaks |= dict.fromkeys(_leaks(history.draws, forced.draws))
        if pair.published(outcome) != pair.published(other):
            leaks["what is published differs although all noisy answers are the same"] = None
        for part, claim in claims.items():
            both = zip(history.draws, forced.draws, strict=False)
            of_part = [(a, b) for a, b in both if _belongs(a, part)]
            worst[part] = max(worst[part], _loss(of_part, claim))
    out = {}
    for part, claim in claims.items():
        promised = _parameter(claim)
        flagged = bool(leaks) or count == 0 or exceeds(worst[part], promised)
        out[part] = DoorAudit(claim, worst[part], promised, tuple(leaks), count, flagged)
    return out


def _belongs(draw: Draw, part: str) -> bool:
    words = part.split("/") if part else []
    return [str(word) for word in draw.stream[: len(words)]] == words


def _leaks(first: Sequence[Draw], second: Sequence[Draw]) -> list[str]:
    found = []
    if [draw.request for draw in first] != [draw.request for draw in second]:
        found.append("the noise that is asked for (law, scale, size, order) depends on the data")
    if all(draw.law == "split" for draw in first):
        found.append("the run asks for no noise at all")
    return found


def _parameter(claim: Loss) -> float:
    """The number that a claim promises: rho for zCDP, epsilon (at the claim's own delta) otherwise."""
    if isinstance(claim, ZCDP):
        return claim.rho
    return claim.epsilon_at(_delta(claim))


def _delta(claim: Loss) -> float:
    return float(getattr(claim, "delta", 0.0))


def _loss(draws: Sequence[tuple[Draw, Draw]], claim: Loss) -> float:
    """The loss along one history, from what the noise was added to in the two runs, in the claim's parameter."""
    events: list[PureEvent | ZCDPEvent] = []
    relation = Unit.RECORD_REPLACED  # one relation throughout; which one does not matter to a sum
    for one, other in draws:
        if one.law == "split" or len(one.center) != len(other.center):
            continue
        moved = np.array([float(a - b) for a, b in zip(one.center, other.center, strict=True)])
        scale = float(one.scale)
        match one.law:
            case "vector_laplace":
                step = float(np.linalg.norm(moved / one.stretch)) / scale
                events.append(PureEvent(epsilon=step, neighbours=relation))
            case "laplace" | "discrete_laplace":
                events.append(PureEvent(epsilon=float(np.abs(moved).sum()) / scale, neighbours=relation))
            case _:
                events.append(ZCDPEvent(rho=float(moved @ moved) / (2 * scale**2), neighbours=relation))
    spent = Accountant(tuple(events))
    return spent.rho() if isinstance(claim, ZCDP) else spent.epsilon(_delta(claim))


def sampler_audit(noise: Noise, request: Draw, count: int, alpha: float) -> AuditRow:
    """Whether a source draws the law that was asked for: Kolmogorov-Smirnov on fresh draws of one request.

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
    if request.law == "vector_laplace":
        p_value = _of_vectors(noise, request, count, name)
    else:
        size = request.shape if request.shape else (1,)
        rounds = -(-count // math.prod(size))
        center: Any = np.array(request.center, dtype=object).reshape(size)
        if request.law.startswith("discrete"):
            center = center.astype(np.int64)
        drawn = [getattr(noise, request.law)(request.scale, size, stream=(*name, k), center=center)
                 for k in range(rounds)]
        apart = np.concatenate([_moved(values, request) for values in drawn])
        p_value = _symmetric(apart / float(request.scale), normal=request.law.endswith("gaussian"))
    return AuditRow(
        f"noise of {request.stream[0]}: {request.law.replace('_', ' ')} at the scale that was asked for",
        f"p above {alpha:g}", p_value, f"Kolmogorov-Smirnov on {count} fresh draws of {noise.kind} noise",
        Verdict.KEPT if p_value > alpha else Verdict.BROKEN, false_alarm=alpha,
    )


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
