"""Promises of privacy that hide next to nothing: finite, so that they are not vacuous, and of no use to anybody.

What a loss is worth to a participant is how often somebody is right who must guess between two neighbours, such as two
records of theirs, even money beforehand. A loss whose guess may be right more often than at epsilon = 10 (99.995 %) is
warned of. The line is a choice: at 10 the odds move by a factor of 22,026, and it is also the largest level at which
devices draw (`confide.privacy.device_odds.LARGEST_LEVEL`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from confide.contract.guarantees import Relation
from confide.contract.offering import best_guess
from confide.contract.words import percent
from confide.privacy.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP

if TYPE_CHECKING:
    from confide.contract.guarantees import Audience, Privacy

__all__ = ["NEXT_TO_NOTHING", "guess_at", "hides_next_to_nothing"]

NEXT_TO_NOTHING = 10.0
"""Epsilon, in nats, above which a promise of privacy is warned of; other losses by the same guess."""


def guess_at(loss: Any) -> float:
    """The largest probability with which somebody guesses right between two neighbours, even odds beforehand: (1 +
    total variation)/2.

    Args:
        loss: any of `confide.privacy.losses`; 1 where nothing is known of it.

    Source: for pure and approximate losses `best_guess`; for Gaussian ones Phi(mu/2), exact (Dong, Roth and Su 2022);
        for concentrated and Renyi ones, which bound the Kullback-Leibler divergence both ways, the guess of the
        randomised response with that divergence. Ours: by an event A with P(A) - Q(A) = V, the sum of both divergences
        is at least V (logit P(A) - logit Q(A)), which is least where P(A) + Q(A) = 1, as in randomised response.

    Example:
        >>> [round(guess_at(loss), 3) for loss in (PureDP(1.0), GDP(1.0), ZCDP(0.02), RenyiDP(2.0, 9.0))]
        [0.731, 0.691, 0.55, 1.0]
    """
    match loss:
        case PureDP(epsilon=epsilon):
            return best_guess(epsilon)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return best_guess(epsilon, delta)
        case GDP(mu=mu):
            return NormalDist().cdf(mu / 2.0)
        case ZCDP(rho=divergence) | RenyiDP(epsilon=divergence):  # Renyi's divergence grows with its order, from KL on
            return best_guess(_response(divergence))
    return 1.0


def _response(divergence: float) -> float:
    """The level x of the randomised response with a divergence of x tanh(x/2); rounded up."""
    if not math.isfinite(divergence):
        return math.inf
    low, high = 0.0, divergence + 2.0  # x tanh(x/2) >= x - 2
    while low < (middle := (low + high) / 2.0) < high:
        low, high = (middle, high) if middle * math.tanh(middle / 2.0) < divergence else (low, middle)
    return math.nextafter(high, math.inf)


def hides_next_to_nothing(
    promises: Iterable[Privacy], right: Callable[[Audience], float] | None = None,
) -> tuple[str, ...]:
    """Warnings: for each audience the part about which most may be learnt, where even the least loss that is promised
    for it hides next to nothing. Losses that say nothing at all say so themselves.

    Args:
        promises: the promises of privacy.
        right: how often a guess of an audience is right at most, by the mechanism's own loss, which may be smaller than
            its promise: `groups.right_at_most`.

    Returns:
        Sentences without a full stop.

    Example:
        >>> from confide.contract import Audience, Privacy, Relation, Source
        >>> def promised(loss):
        ...     return Privacy(loss=loss, neighbours=Relation.REPLACE, audience=Audience.PUBLIC,
        ...                    source=Source(document="confide", statement="example"))
        >>> hides_next_to_nothing([promised(PureDP(10.0))])
        ()
        >>> print(*hides_next_to_nothing([promised(PureDP(20.0))]))
        epsilon = 20 towards the public, for the whole outcome, hides next to nothing: a guess between two \
records of somebody that are equally likely at first may be right in 99.9999998% of all cases
    """
    least: dict[tuple[Audience, str, str], tuple[float, str]] = {}
    for each in promises:
        if not each.vacuous:
            of = (each.audience, each.part, _BETWEEN[each.neighbours])
            least[of] = min(least.get(of, (math.inf, "")), (guess_at(each.loss), str(each.loss)))
    weakest: dict[str, tuple[float, str, str, str]] = {}
    enough = best_guess(NEXT_TO_NOTHING)
    for (audience, part, between), (promised, loss) in least.items():
        guess = promised if right is None or promised <= enough else min(promised, right(audience))
        who = _TOWARDS[audience.value]
        if guess > weakest.get(who, (enough,))[0]:
            weakest[who] = (guess, loss, part, between)
    return tuple(f"{loss} towards {who}, for {part}, hides next to nothing: a guess between {between} that are equally "
                 f"likely at first may be right in {percent(guess)} of all cases"
                 for who, (guess, loss, part, between) in weakest.items())


_BETWEEN = {Relation.REPLACE: "two records of somebody",
            Relation.ADD_OR_REMOVE: "somebody's record and none",
            Relation.EDGES_OF_ONE: "two versions of somebody's contacts",
            Relation.BIT: "two records of somebody that differ in one bit"}

_TOWARDS = {"public": "the public", "others": "everybody else together", "collector": "the collector",
            "fellows": "fellow participants"}
