"""The exact law of everything that a tiny DualQuery publishes: each multiset of samples of each round, one by one.

A transcript is the samples of all rounds; the records follow from it. What is enumerated is the mechanism's own code:
the logits of each of its rounds and its best responses.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.errors import InvalidInput
from confide.contract.renamed import renamed
from confide.privacy.noise.choices import relative_weights
from confide.release.answers import TrueAnswers
from confide.release.dual_query import DualQuery
from confide.release.query_game import net, round_logits
from confide.release.workload import Workload

__all__ = ["MOST_TRANSCRIPTS", "replacements", "tiny_game", "transcript_laws"]

MOST_TRANSCRIPTS = 2**21

TRUTH = ((0, 1, 1, 0, 1, 0, 0, 1), (0, 0, 0, 1, 0, 1, 1, 1), (1, 1, 0, 0, 1, 1, 0, 1))
"""Three predicates over eight elements: a parity, a majority and one without a symmetry."""


@renamed(n="records")
def tiny_game(
    eta: float = 0.25, rounds: int = 3, samples: int = 1, records: int = 4, kind: Callable[..., DualQuery] = DualQuery,
    **others: Any,
) -> DualQuery:
    """DualQuery over eight elements and three predicates.

    Example:
        >>> tiny_game().epsilon(calculator="pure") > 0.375 > 0.374
        True
    """
    return kind(records=records, eta=eta, rounds=rounds, samples=samples, workload=Workload.predicates(TRUTH), **others)


def replacements(
    mechanism: DualQuery, data: Iterable[Sequence[int]]
) -> tuple[dict[Hashable, TrueAnswers], list[tuple[Hashable, Hashable]]]:
    """Data sets, their neighbours by each replacement of one record, and the pairs of these.

    Args:
        mechanism: with predicates as queries.
        data: data sets as n elements of the universe each.

    Returns:
        Counts of the queries -> true answers, and pairs of keys. Data sets with the same counts have the same law, so
        they are one.
    """
    truth = mechanism.queries.truth
    found: dict[Hashable, TrueAnswers] = {}
    pairs: dict[tuple[Hashable, Hashable], None] = {}

    def known(elements: Sequence[int]) -> Hashable:
        counts = truth[:, list(elements)].sum(axis=1).astype(np.int64)
        key = tuple(counts.tolist())
        found.setdefault(key, TrueAnswers(counts=counts, records=len(elements)))
        return key

    for elements in data:
        base = known(elements)
        for at in range(len(elements)):
            for other in range(truth.shape[1]):
                near = known([*elements[:at], other, *elements[at + 1 :]])
                if near != base:
                    pairs[base, near] = None
    return found, list(pairs)


def transcript_laws(
    mechanism: DualQuery, answers: Mapping[Hashable, TrueAnswers]
) -> dict[Hashable, NDArray[np.float64]]:
    """The law of the samples of all rounds, under each data set, over the same transcripts in the same order.

    Args:
        mechanism: a tiny one, without measured marginals.
        answers: name of a data set -> its true answers.

    Raises:
        InvalidInput: more than 2^21 transcripts, or a measurement besides the samples.

    Source: spec query_release D2, acceptance checks 6 and 12.

    Example:
        >>> game = tiny_game(rounds=2)
        >>> data, _ = replacements(game, [(0, 1, 2, 3)])
        >>> laws = transcript_laws(game, data)
        >>> {law.shape for law in laws.values()}, round(float(laws[2, 1, 2].sum()), 12)
        ({(36,)}, 1.0)
    """
    queries, size = mechanism.queries, mechanism.samples
    if mechanism.free == "marginals":
        raise InvalidInput("mechanism", "measures marginals too", "the law of samples alone is enumerated")
    k = len(queries)
    if math.comb(2 * k + size - 1, size) ** mechanism.rounds > MOST_TRANSCRIPTS:
        raise InvalidInput("mechanism", "has too many transcripts", f"must be at most {MOST_TRANSCRIPTS:,}")
    multisets = [np.array(each, dtype=np.int64) for each in combinations_with_replacement(range(2 * k), size)]
    counts = [each.counts for each in answers.values()]
    memory: dict[tuple[int, tuple[int, ...], bytes], NDArray[np.float64]] = {}

    def laws(t: int, satisfied: NDArray[np.int32], previous: NDArray[np.bool_] | None) -> NDArray[np.float64]:
        """(data sets, transcripts from round t on)."""
        if t > mechanism.rounds:
            return np.ones((len(counts), 1))
        key = (t, tuple(satisfied.tolist()), b"" if previous is None else previous.tobytes())
        if key not in memory:
            played = mechanism._round(t)
            each = np.array([relative_weights(round_logits(played, count, satisfied)) for count in counts])
            if mechanism.mirrored:  # it publishes the negation of what the print's player draws
                each = np.roll(each, k, axis=1)
            each /= each.sum(axis=1, keepdims=True)
            parts = []
            for multiset in multisets:
                record = mechanism._respond(net(multiset, k), t, previous, np.zeros(0, dtype=np.int64)).record
                further = laws(t + 1, satisfied + queries.values(record).astype(np.int32), record)
                parts.append(multinomial(each, multiset)[:, None] * further)
            memory[key] = np.concatenate(parts, axis=1)
        return memory[key]

    table = laws(1, np.zeros(k, dtype=np.int32), None)
    return dict(zip(answers, table, strict=True))


def multinomial(law: ArrayLike, multiset: NDArray[np.int64]) -> NDArray[np.float64]:
    """(data sets,) probabilities that independent draws from each law make a multiset."""
    orders = math.factorial(len(multiset))
    for repeated in Counter(multiset.tolist()).values():
        orders //= math.factorial(repeated)
    return np.asarray(orders * np.prod(np.asarray(law)[:, multiset], axis=1))
