"""What all calls of a search cost together, by every rule that is known.

A call with a drawn threshold is two releases: a draw of an exponential mechanism, whose log ratio has a bounded range,
and a noisy maximum. Counting them apart is what pays at a handful of calls.

    >>> found = compositions(13, 0.2, 1e-6)
    >>> round(found["basic"], 6), round(found["calls: zcdp"], 2), round(found["two-step"], 6)
    (2.6, 3.62, 1.913402)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from confide.contract.checks import fraction, one_of, positive, whole
from confide.contract.guarantees import Relation
from confide.contract.renamed import renamed
from confide.privacy.accounting import Accountant
from confide.privacy.accounting.advanced import theorem
from confide.privacy.events import BoundedRangeEvent, Event, PureEvent, Repeated
from confide.privacy.losses import ZCDP
from confide.search.noise_kinds import NoiseKind, as_kind

__all__ = ["Multipliers", "call_cost", "compositions", "multipliers", "step_events"]

_STOPS = ("none", "public", "private", "smoothed")


def _draws(stop: str) -> bool:
    return one_of("stop", stop, _STOPS) in {"private", "smoothed"}


def call_cost(noise_scale: float, sensitivity: float, stop: str) -> float:
    """What one call costs at this noise, in nats: 2 Delta/b, and as much again where a threshold is drawn.

    Args:
        noise_scale: b > 0.
        sensitivity: Delta > 0.
        stop: "none", "public", "private" or "smoothed".

    Source: spec targeted_search 4 and 5, erratum E2.

    Example:
        >>> call_cost(20, 1, "none"), call_cost(20, 1, "private")
        (0.1, 0.2)
    """
    each = 2.0 * positive("sensitivity", sensitivity) / positive("noise_scale", noise_scale)
    return 2.0 * each if _draws(stop) else each


def step_events(epsilon: float, stop: str = "private", noise_kind: NoiseKind = "laplace") -> tuple[Event, ...]:
    """The releases that one call is made of.

    Args:
        epsilon: of the call, in nats.
        stop: "none", "public", "private" or "smoothed".
        noise_kind: of the noisy values; by gumbel noise the selection is an exponential mechanism too.

    Source: spec targeted_search 4 ("two-step accounting").
    """
    cost, unit = positive("epsilon", epsilon), Relation.EDGES_OF_ONE
    kind = BoundedRangeEvent if as_kind(noise_kind) == "gumbel" else PureEvent
    if not _draws(stop):
        return (kind(epsilon=cost, neighbours=unit, label="selection"),)
    return (BoundedRangeEvent(epsilon=cost / 2, neighbours=unit, label="threshold"),
            kind(epsilon=cost / 2, neighbours=unit, label="selection"))


def compositions(
    calls: int, epsilon: float, delta: float, stop: str = "private", noise_kind: NoiseKind = "laplace",
) -> dict[str, float]:
    """Every rule's epsilon for all calls together; each is valid, so the least of them is.

    Args:
        calls: m = k - 1 >= 1.
        epsilon: of one call.
        delta: in (0, 1).
        stop: "none", "public", "private" or "smoothed".
        noise_kind: of the noisy values.

    Returns:
        "basic": m epsilon, at delta 0 already; "calls: advanced", "calls: zcdp plain" (m epsilon^2/2 +
        epsilon sqrt(2 m ln(1/delta))), "calls: zcdp" (the same cost, converted tightly), "calls: optimal": whole
        calls, of which only epsilon is used; "steps: optimal": 2 m mechanisms at half of epsilon where a threshold is
        drawn; "two-step": thresholds and selections at their own zCDP cost.

    Raises:
        InvalidInput: a parameter out of range.

    Source: spec targeted_search 4; rules of query_release A2.
    """
    number, cost, slack = whole("calls", calls, at_least=1), positive("epsilon", epsilon), fraction("delta", delta)
    call = Accountant((_repeated(PureEvent(epsilon=cost, neighbours=Relation.EDGES_OF_ONE), number),))
    steps = Accountant(tuple(_repeated(event, number) for event in step_events(cost, stop, noise_kind)))
    return {
        "basic": call.epsilon(0.0),
        "calls: advanced": theorem(cost, number, slack),
        "calls: zcdp plain": number * cost**2 / 2 + cost * math.sqrt(-2 * number * math.log(slack)),
        "calls: zcdp": ZCDP(call.rho()).epsilon_at(slack),
        "calls: optimal": call.epsilon(slack, calculator="optimal"),
        "steps: optimal": steps.epsilon(slack, calculator="optimal"),
        "two-step": ZCDP(steps.rho()).epsilon_at(slack),
    }


def _repeated(event: Event, count: int) -> Repeated:
    return Repeated(event=event, count=count, neighbours=event.neighbours)


@dataclass(frozen=True)
class Multipliers:
    """How much likelier any released list may be on a neighbouring graph, at most: e^loss.

    Args:
        claimed: with the printed loss, calls / b.
        without_threshold: corrected, for a stop that draws no threshold: 2 Delta calls / b.
        with_threshold: corrected, where each call draws one besides: 4 Delta calls / b.
    """

    claimed: float
    without_threshold: float
    with_threshold: float


@renamed(scale="noise_scale")
def multipliers(calls: float, noise_scale: float, sensitivity: float = 1.0) -> Multipliers:
    """The printed risk multiplier beside the corrected ones.

    Args:
        calls: how many, >= 0; an average of several runs is shown as the print shows it, although it bounds none.
        noise_scale: b, of the Laplace noise.
        sensitivity: Delta.

    Source: Wu 2017, section 7.5 (line 6299); spec targeted_search 5, erratum E2.

    Example:
        >>> found = multipliers(3.14, 20)
        >>> round(found.claimed, 2), round(found.without_threshold, 2), round(found.with_threshold, 2)
        (1.17, 1.37, 1.87)
    """
    number = positive("calls", calls) if calls else 0.0
    plain = number * call_cost(noise_scale, sensitivity, "none")
    return Multipliers(math.exp(number / noise_scale), math.exp(plain), math.exp(2 * plain))
