"""Warnings about privacy promises that hide almost nothing. Such promises are finite, and therefore not vacuous, but
they are of no practical use.

A loss is judged by the probability of a right guess between two neighbours, such as two possible records of the
participant. Both neighbours are equally likely before the output is seen. A warning is given if the probability of a
right guess may exceed 99.995 %, its value at epsilon = 10. This limit is a choice of confide. At epsilon = 10 the odds
change by a factor of 22,026. The value 10 is also the largest epsilon at which devices draw reports
(`confide.privacy.device_odds.LARGEST_LEVEL`).
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

__all__ = ["BELOW_ONE", "NEXT_TO_NOTHING", "guess_at", "hides_next_to_nothing"]

BELOW_ONE = math.nextafter(1.0, 0.0)
"""The largest probability below 1. A finite loss never lets a guess be right with certainty, although its bound may
round to 1.
"""

NEXT_TO_NOTHING = 10.0
"""The epsilon, in nats, above which a privacy promise gets a warning. A loss in another notion gets a warning if it
allows a right guess with a larger probability than this epsilon does.
"""


def guess_at(loss: Any) -> float:
    """The largest probability of a right guess between two neighbours that are equally likely before the output is
    seen: (1 + total variation)/2.

    Args:
        loss: any of `confide.privacy.losses`; for an unknown type the result is 1.

    Source: `best_guess` for pure and approximate losses; Phi(mu/2), which is exact, for Gaussian losses (Dong, Roth and
        Su 2022). Concentrated and Rényi losses bound the Kullback-Leibler divergence in both directions. The result is
        the probability of a right guess for binary randomised response with this divergence. The proof is ours: if an
        event A has P(A) - Q(A) = V, the sum of both divergences is at least V (logit P(A) - logit Q(A)). This bound is
        least where P(A) + Q(A) = 1, as in randomised response.

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
    """The epsilon x of the binary randomised response whose Kullback-Leibler divergence x tanh(x/2) has the given
    value; rounded up.
    """
    if not math.isfinite(divergence):
        return math.inf
    low, high = 0.0, divergence + 2.0  # x tanh(x/2) >= x - 2
    while low < (middle := (low + high) / 2.0) < high:
        low, high = (middle, high) if middle * math.tanh(middle / 2.0) < divergence else (low, middle)
    return math.nextafter(high, math.inf)


def hides_next_to_nothing(
    promises: Iterable[Privacy], right: Callable[[Audience], float] | None = None,
) -> tuple[str, ...]:
    """Warnings about audiences towards which even the strongest promise hides almost nothing. Each audience gets at
    most one warning, about the part of the outcome of which the audience may learn most. Vacuous promises are skipped,
    since they are marked as vacuous anyway.

    Args:
        promises: the promises of privacy.
        right: function from an audience to the largest probability that the audience guesses correctly, computed from
            the mechanism's own loss, such as `groups.right_at_most`. The mechanism's own loss may be smaller than the
            promised loss.

    Returns:
        The warnings, each without a full stop at its end.

    Example:
        >>> from confide.contract import Audience, Privacy, Relation, Source
        >>> def promised(loss):
        ...     return Privacy(loss=loss, neighbours=Relation.REPLACE, audience=Audience.PUBLIC,
        ...                    source=Source(document="confide", statement="example"))
        >>> hides_next_to_nothing([promised(PureDP(10.0))])
        ()
        >>> print(*hides_next_to_nothing([promised(PureDP(20.0))]))
        the promise of privacy towards the public, for everything that is published, is epsilon = 20. Such a promise \
hides hardly anything about a person. Example: somebody knows that a person's record is one of two possible records, \
and thinks at first that both are equally likely. They may guess right in 99.9999998% of all cases
    """
    least: dict[tuple[Audience, str, str], tuple[float, str]] = {}
    for each in promises:
        if not each.vacuous:
            of = (each.audience, each.part, _KNOWN[each.neighbours])
            least[of] = min(least.get(of, (math.inf, "")), (guess_at(each.loss), str(each.loss)))
    weakest: dict[str, tuple[float, str, str, str]] = {}
    enough = best_guess(NEXT_TO_NOTHING)
    for (audience, part, known), (promised, loss) in least.items():
        guess = promised if right is None or promised <= enough else min(promised, right(audience))
        who = _TOWARDS[audience.value]
        if guess > weakest.get(who, (enough,))[0]:
            weakest[who] = (guess, loss, _in_words(part, audience), known)
    return tuple(f"the promise of privacy towards {who}, for {part}, is {loss}. Such a promise hides hardly anything "
                 f"about a person. Example: somebody knows {known}, and thinks at first that both are equally likely. "
                 f"They may guess right in {percent(min(guess, BELOW_ONE))} of all cases"
                 for who, (guess, loss, part, known) in weakest.items())


def _in_words(part: str, audience: Audience) -> str:
    """The part of the outcome that a promise covers, in a participant's words."""
    if part == "the whole outcome":
        return _WHOLE[audience.value]
    return part.replace("the billboard", "the published result").replace("everybody else's payments", "their payments")


_KNOWN = {Relation.REPLACE: "that a person's record is one of two possible records",
          Relation.ADD_OR_REMOVE: "that the data hold a given record of a person, or no record of this person",
          Relation.EDGES_OF_ONE: "that a person's contacts are one of two possible sets",
          Relation.BIT: "that a person's answer is yes or no"}

_TOWARDS = {"public": "the public", "others": "all other people together", "collector": "the collector",
            "fellows": "fellow participants"}

_WHOLE = {"public": "everything that is published", "others": "everything that they get and see",
          "collector": "everything that the collector gets", "fellows": "everything that they see"}
