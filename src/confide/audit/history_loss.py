"""The privacy loss of a history of noisy answers, computed from the values to which two runs added the noise.

Along one transcript each answer is protected by its own distribution, and the losses add up. For Laplace noise, the
loss is the distance between the two noiseless values divided by the scale. For a channel or a selection, the loss is a
log ratio of probabilities. The computation needs no sampling and has no error bars.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from confide.audit.comparing import Loss, promised_parameter
from confide.audit.other_answers import armings, other_losers, other_pattern
from confide.contract.guarantees import Relation
from confide.privacy.accounting import Accountant
from confide.privacy.accounting.gdp import mu
from confide.privacy.accounting.sums import totals
from confide.privacy.divergences import exact_epsilon
from confide.privacy.events import BoundedRangeEvent, Event, GDPEvent, PureEvent, ZCDPEvent
from confide.privacy.halting_law import LaplaceLaw, log_pattern
from confide.privacy.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP
from confide.privacy.noise import Draw
from confide.privacy.noise.arguments import begins_with
from confide.privacy.noise.choices import relative_weights
from confide.privacy.selection import largest_law

__all__ = [
    "NOISY_MAX",
    "SPARSE_VECTOR",
    "Pair",
    "UnreleasedIntermediate",
    "belongs",
    "exactly",
    "history_loss",
    "own_formulas",
    "promised_parameter",
    "spent",
]

Pair = tuple[Draw, Draw]
"""One noise request, as each of the two runs made it."""


@dataclass(frozen=True)
class UnreleasedIntermediate:
    """Draws with noisy answers that are not published themselves; only values derived from them are published.

    Args:
        loss: function from all draws with these answers, as pairs (draw of the first run, draw of the second run), to
            the exact loss of the published values in nats.
        other_answers: function that replaces the answers of these draws by other answers from which the same published
            values follow. A run with the replaced answers must publish the same values, which shows that the answers
            are unreleased. Every entry of the answers must change. The function is called again on its own result, for
            further replacements. If `other_answers` chooses at random, the seed should be computed from the given
            answers, so that an audit can be repeated.
    """

    loss: Callable[[Sequence[Pair]], float]
    other_answers: Callable[[Sequence[Draw]], Sequence[Draw]]


Unreleased = Mapping[str, UnreleasedIntermediate]
"""Mapping from a prefix of streams to the rule for their noisy answers, which are not published themselves."""

_RELATION = Relation.REPLACE  # one relation throughout; which one does not matter to a sum


def belongs(draw: Draw, part: str) -> bool:
    """Whether the name of a draw's stream starts with the words of a prefix: ("release", "gram", 0) belongs to the
    prefix "release/gram".
    """
    return begins_with(draw.stream, part)


def history_loss(draws: Sequence[Pair], claim: Loss, unreleased: Unreleased) -> float:
    """The privacy loss between two runs that got the same noisy answers.

    Args:
        draws: all requests for noise, as pairs (request of the first run, request of the second run).
        claim: the promised loss, which determines the parameter of the result, such as epsilon or rho.
        unreleased: mapping from a prefix of random streams to the rule for their noisy answers, which are not published
            themselves.

    Returns:
        The loss in the claim's own parameter. The loss is infinite where one of the two data sets could not have
        produced an answer, or where the requested distributions have no loss in this parameter.
    """
    # A selection has two proved costs; which one is the better depends on the claim.
    ways = (False, True) if any(one.law == "selection" for one, _ in draws) else (False,)
    return min(_cost(draws, claim, unreleased, ranged=ranged) for ranged in ways)


def _cost(draws: Sequence[Pair], claim: Loss, unreleased: Unreleased, *, ranged: bool) -> float:
    """Loss of a history, as `history_loss` returns it. The loss of a selection is the range of its log ratios if
    `ranged` is True, and otherwise the largest log ratio.
    """
    events: list[Event | None] = []
    for part, rule in unreleased.items():
        inside = [pair for pair in draws if belongs(pair[0], part)]
        draws = [pair for pair in draws if not belongs(pair[0], part)]
        if inside:
            events.append(_pure(rule.loss(inside)))
    for one, other in draws:
        if one.law == "split" or len(one.center) != len(other.center):
            continue
        if one.law in ("exponential", "words"):
            events.append(None)  # raw draws have no center: what they protect is not recorded
            continue
        if one.law == "channel":
            events.append(_pure(_channel_loss(one, other)))
            continue
        if one.law == "selection":
            step = _selection_loss(one, other)
            event = BoundedRangeEvent(epsilon=step.range, neighbours=_RELATION) if ranged else _pure(step.pure)
            events += [event] * math.prod(one.shape)
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
    return spent(known, claim) if len(known) == len(events) else math.inf


def spent(events: Iterable[Event], claim: Loss) -> float:
    """The total cost of events in a claim's own parameter; infinite where the events have no cost in this parameter.

    Args:
        events: events of one neighbouring relation.
        claim: claim that determines the parameter, and the delta at which it is computed.

    Example:
        >>> from confide.contract import Relation
        >>> round(spent([PureEvent(epsilon=0.5, neighbours=Relation.BIT)] * 2, ZCDP(1.0)), 6)
        0.25
    """
    together = tuple(events)
    if len(together) == 1 and isinstance(claim, PureDP) and isinstance(together[0], PureEvent):
        return together[0].epsilon  # which every accountant says of it
    return _spent(together, claim)


@lru_cache(maxsize=4096)  # a replay meets the same distances again and again
def _spent(events: tuple[Event, ...], claim: Loss) -> float:
    together = Accountant(events)
    if not isinstance(claim, PureDP | ApproxDP | GDP) and totals(together.spend).rho is None:
        return math.inf
    match claim:
        case ZCDP():
            return together.rho()
        case GDP():
            return mu(together.spend) if "gdp" in together.calculators else math.inf
        case RenyiDP():
            return min(claim.alpha * together.rho(), together.epsilon())
        case ApproxDP():
            return together.epsilon(claim.delta)
        case _:
            return together.epsilon()


def _pure(epsilon: float) -> PureEvent | None:
    """A pure event; None for an infinite loss, where one of the data sets could not have produced the answer."""
    return PureEvent(epsilon=epsilon, neighbours=_RELATION) if math.isfinite(epsilon) else None


def _channel_loss(one: Draw, other: Draw) -> float:
    """The largest log ratio of the joint outputs: the sum, over the inputs, of the largest log ratio of one input's
    outputs.
    """
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
    """The range of the log ratios of the weights, and the largest log ratio of the two distributions, for one draw."""
    first, second = (relative_weights(np.array([float(c) for c in draw.center])) for draw in (one, other))
    ratios = np.log(first) - np.log(second)
    return _Selection(float(np.ptp(ratios)), exact_epsilon(first / first.sum(), second / second.sum()))


def _pattern_loss(draws: Sequence[Pair]) -> float:
    """Absolute log ratio of the probabilities of the published alarms under the requested noise, summed over the
    armings. An arming is one start of a sparse vector, up to its alarm.
    """
    found = armings([one for one, _ in draws])
    if draws and (not found or found[0][0] > 0):  # these are no draws of a sparse vector
        return math.inf
    if any(len(draw.center) != 1 for pair in draws for draw in pair):  # nor are vectors
        return math.inf
    total = 0.0
    for start, end in found:
        level, asked = draws[start], draws[start + 1 : end]
        if level[0].center != level[1].center:
            return math.inf
        if not asked:
            continue
        tops = np.array([one.value[0] > level[0].value[0] for one, _ in asked])
        lattice = level[0].law == "discrete_laplace"
        laws = [LaplaceLaw(float(one.scale), lattice) for one in (level[0], asked[0][0])]
        logs = [
            log_pattern(np.array([float(pair[side].center[0] - level[0].center[0]) for pair in asked]), tops, *laws)
            for side in (0, 1)
        ]
        alike = all(one.law == level[0].law and one.scale == asked[0][0].scale for one, _ in asked)
        total += abs(logs[0] - logs[1]) if alike else math.inf
    return total


def _largest_loss(draws: Sequence[Pair]) -> float:
    """Absolute log ratio of the probabilities that the same item is the largest, summed over the draws."""
    total = 0.0
    for one, other in draws:
        if one.law != "discrete_laplace":  # not drawn by `report_noisy_max`
            return math.inf
        laws = [largest_law(np.array([int(c) for c in draw.center]), float(one.scale)) for draw in (one, other)]
        first, second = (float(law[int(np.argmax(one.value))]) for law in laws)
        total += abs(math.log(first / second)) if first > 0 and second > 0 else math.inf
    return total


NOISY_MAX = UnreleasedIntermediate(loss=_largest_loss, other_answers=other_losers)
"""Rule for the draws of `report_noisy_max`, each a vector of noisy scores: only the position of the largest score is
published.
"""

SPARSE_VECTOR = UnreleasedIntermediate(loss=_pattern_loss, other_answers=other_pattern)
"""Rule for the draws of sparse vectors without clamps: only which answers are above the threshold is published. The
rule reads everything from the draws themselves: their scales, the thresholds of both runs, and whether the run asked
for more answers after the first one above the threshold. The thresholds of both runs must be equal, because a threshold
is public.
"""


def own_formulas(unreleased: Unreleased, part: str = "") -> list[str]:
    """The prefixes of unreleased random streams for which the mechanism's own formula gives the loss. A prefix is
    listed if it starts with `part`, or if `part` starts with this prefix.

    Args:
        unreleased: mapping from a prefix of streams to the rule for their noisy answers.
        part: prefix of the random streams of the part; "" for all streams.

    Example:
        >>> mine = UnreleasedIntermediate(loss=lambda pairs: 0.0, other_answers=list)
        >>> own_formulas({"winner": NOISY_MAX, "counts/first": mine}, "counts")
        ['counts/first']
    """
    return [name for name, rule in unreleased.items() if rule is not NOISY_MAX and rule is not SPARSE_VECTOR
            and (not part or f"{name}/".startswith(f"{part}/") or f"{part}/".startswith(f"{name}/"))]


def exactly(formulas: Sequence[str]) -> str:
    """Text that says how the loss of an audited run was computed.

    Args:
        formulas: prefixes of unreleased random streams, as `own_formulas` returns them.

    Example:
        >>> exactly([]), exactly(["counts"])
        ('loss exact on these pairs', "loss on these pairs by the mechanism's own formula for counts")
    """
    return ("loss on these pairs by the mechanism's own formula for "
            f"{', '.join(formulas)}") if formulas else ("loss exact on "
                                                                                                    "these pairs")
