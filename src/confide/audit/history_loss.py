"""The loss of a history: what noisy answers tell of the data, from what the noise was added to in two runs.

Along one transcript each answer is protected by its own law, and the losses add up: distances over scales for added
noise, log ratios for a channel and for a selection. No sampling, no error bars.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from confide.audit.claims import Loss
from confide.contract.guarantees import Unit
from confide.privacy.accounting import Accountant
from confide.privacy.divergences import exact_epsilon
from confide.privacy.events import BoundedRangeEvent, Event, GDPEvent, PureEvent, ZCDPEvent
from confide.privacy.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP
from confide.privacy.noise import Draw
from confide.privacy.noise.choices import relative_weights
from confide.privacy.sparse_vector import SparseVector

__all__ = ["HiddenLoss", "Pair", "belongs", "history_loss", "promised_parameter", "sparse_vector_loss"]

Pair = tuple[Draw, Draw]
"""One request, as the two runs made it."""

HiddenLoss = Callable[[Sequence[Pair]], float]
"""The exact loss in nats of requests whose answers are not published themselves."""

_RELATION = Unit.RECORD_REPLACED  # one relation throughout; which one does not matter to a sum


def promised_parameter(claim: Loss) -> float:
    """The number that a claim promises: rho, mu, the bound of its order, or epsilon at the claim's own delta."""
    match claim:
        case ZCDP():
            return claim.rho
        case GDP():
            return claim.mu
        case _:
            return claim.epsilon


def belongs(draw: Draw, part: str) -> bool:
    """Whether a draw's stream starts with the words of a part: ("release", "gram", 0) belongs to "release/gram"."""
    words = part.split("/") if part else []
    return [str(word) for word in draw.stream[: len(words)]] == words


def history_loss(draws: Sequence[Pair], claim: Loss, hidden: Mapping[str, HiddenLoss]) -> float:
    """The loss of one history.

    Args:
        draws: its requests, as the two runs made them.
        claim: the promise, which says in what parameter the loss is counted.
        hidden: parts whose noisy answers are not published themselves -> their exact loss in nats.

    Returns:
        The loss in the claim's own parameter; infinity where one of the two data sets could not have produced an
        answer, or where no such parameter follows from the laws that were asked for.
    """
    events: list[Event | None] = []
    for part, loss in hidden.items():
        inside = [pair for pair in draws if belongs(pair[0], part)]
        draws = [pair for pair in draws if not belongs(pair[0], part)]
        if inside:
            events.append(_pure(loss(inside)))
    for one, other in draws:
        if one.law == "split" or len(one.center) != len(other.center):
            continue
        if one.law == "channel":
            events.append(_pure(_channel_loss(one, other)))
            continue
        if one.law == "selection":
            step = _selection_loss(one, other)
            ranged = BoundedRangeEvent(epsilon=step.range, neighbours=_RELATION)
            events += [_pure(step.pure) if isinstance(claim, PureDP) else ranged] * math.prod(one.shape)
            continue
        moved = np.array([float(a - b) for a, b in zip(one.center, other.center, strict=True)])
        scale = float(one.scale)
        match one.law:
            case "vector_laplace":
                events.append(_pure(float(np.linalg.norm(moved / one.stretch)) / scale))
            case "laplace" | "discrete_laplace":
                events.append(_pure(float(np.abs(moved).sum()) / scale))
            case "gaussian":
                events.append(GDPEvent(mu=float(np.linalg.norm(moved)) / scale, neighbours=_RELATION))
            case _:
                events.append(ZCDPEvent(rho=float(moved @ moved) / (2 * scale**2), neighbours=_RELATION))
    known = [event for event in events if event is not None]
    return _spent(known, claim) if len(known) == len(events) else math.inf


def _spent(events: list[Event], claim: Loss) -> float:
    """What the events cost together, in the claim's own parameter."""
    together = Accountant(tuple(events))
    match claim:
        case ZCDP():
            return together.rho()
        case GDP():
            mus = [event.mu for event in events if isinstance(event, GDPEvent)]
            return math.hypot(*mus) if len(mus) == len(events) else math.inf
        case RenyiDP():
            return claim.alpha * together.rho()
        case ApproxDP():
            return together.epsilon(claim.delta)
        case _:
            return together.epsilon()


def _pure(epsilon: float) -> PureEvent | None:
    """A pure event; None where one of the data sets could not have produced the answer."""
    return PureEvent(epsilon=epsilon, neighbours=_RELATION) if math.isfinite(epsilon) else None


def _channel_loss(one: Draw, other: Draw) -> float:
    """The largest log ratio of all outputs together, over the outputs of each input."""
    total = 0.0
    for a, b in zip(one.center, other.center, strict=True):
        if a != b:
            weights = np.array([one.table[int(a)], one.table[int(b)]], dtype=np.float64)
            total += exact_epsilon(*(weights / weights.sum(axis=1, keepdims=True)))
    return total


class _Selection(NamedTuple):
    range: float
    pure: float


def _selection_loss(one: Draw, other: Draw) -> _Selection:
    """How far log ratios of the weights are apart, and the largest log ratio of the two laws, for one draw."""
    first, second = (relative_weights(np.array([float(c) for c in draw.center])) for draw in (one, other))
    ratios = np.log(first) - np.log(second)
    return _Selection(float(np.ptp(ratios)), exact_epsilon(first / first.sum(), second / second.sum()))


def sparse_vector_loss(mechanism: SparseVector) -> HiddenLoss:
    """The exact loss of a sparse vector's draws, given where it halted: for `door_audit(..., hidden=...)`.

    Args:
        mechanism: its public parameters. One or several armings may be among the draws.
    """

    def loss(draws: Sequence[Pair]) -> float:
        total = 0.0
        starts = [k for k, (one, _) in enumerate(draws) if one.stream[-1] == "threshold"]
        for start, end in zip(starts, [*starts[1:], len(draws)], strict=True):
            level, asked = draws[start][0], draws[start + 1 : end]
            if not asked:
                continue
            kind: type[int | float] = int if mechanism.lattice else float
            first, second = ([kind(pair[side].center[0]) for pair in asked] for side in (0, 1))
            halted = bool(asked[-1][0].value[0] > level.value[0])
            total += abs(mechanism.replayed_loss(first, second, len(asked) - 1 if halted else None))
        return total

    return loss
