"""The query game: a data player names records, a query player names queries or their negations.

The payoff of a record x against a query q is q(D) - q(x), in [-1, 1]; the data player pays it. With Q closed under
negation the value is 0. The query player's weights after some rounds follow from exact integers, and what she samples
is netted: q and 1 - q cancel. Her weights and the price of her samples follow from the same numbers (`draw_queries`).

Positions 0..k-1 are the queries of a workload, k..2k-1 their negations.

Source: Wu 2017, section 3.3 and Algorithm 3; spec query_release B2, D1 and E2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import positive, whole
from confide.contract.errors import InvalidInput
from confide.privacy.noise.base import Noise
from confide.privacy.primitives.choosing import draw_by_logits
from confide.release.levels import round_range

__all__ = ["EXACT", "Netted", "QueryRound", "check_exact", "cumulative_payoffs", "draw_queries", "net", "query_law",
           "query_logits", "round_logits"]

EXACT = 2**52
"""Rounds times records must stay below this: then every payoff in units of 1/n is exact, as an integer and a double."""

_BLOCK = 2**14  # queries that are worked on together


def cumulative_payoffs(
    counts: NDArray[np.int64], satisfied: NDArray[np.int32], done: int, n: int
) -> NDArray[np.int64]:
    """(k,) sums of the payoffs of the rounds so far, in units of 1/n: done m_q - n c_q, exactly.

    Args:
        counts: (k,) m_q = n q(D), private.
        satisfied: (k,) c_q, how many of the records played so far satisfy q.
        done: rounds so far, t - 1.
        n: records of the data.
    """
    return done * counts - np.int64(n) * satisfied


def query_logits(
    counts: NDArray[np.int64], satisfied: NDArray[np.int32], done: int, n: int, eta: float, *, mirrored: bool = False
) -> NDArray[np.float64]:
    """(2k,) logits of the query player: eta times cumulative payoffs of queries, then of negations, less the largest.

    The subtraction is made in integers, so that each logit is off by a relative 2^-52 at most, and all are 0 in round
    1 whatever the data.

    Args:
        counts: (k,) m_q = n q(D), private.
        satisfied: (k,) c_q.
        done: rounds so far.
        n: records; done times n is below 2^52.
        eta: step size.
        mirrored: weights exp(-eta payoff), as Algorithm 3 is printed; its best response is mirrored too.

    Source: Wu 2017, Algorithm 3; spec query_release D1 (sign) and A3 (exact integers).

    Example:
        >>> query_logits(np.array([2, 1, 4]), np.array([1, 0, 0], np.int32), 1, 4, 0.5).tolist()
        [-0.75, -0.375, 0.0, -0.25, -0.625, -1.0]
    """
    k = len(counts)
    n, done, rate = int(n), int(done), float(eta) / int(n)
    side = -1 if mirrored else 1
    blocks = [slice(start, start + _BLOCK) for start in range(0, k, _BLOCK)]
    largest = max((int(np.abs(cumulative_payoffs(counts[b], satisfied[b], done, n)).max()) for b in blocks), default=0)
    logits = np.empty(2 * k)
    for some in blocks:
        payoffs = side * cumulative_payoffs(counts[some], satisfied[some], done, n)
        np.multiply(payoffs - largest, rate, out=logits[:k][some])
        np.multiply(-payoffs - largest, rate, out=logits[k:][some])
    return logits


def query_law(
    counts: NDArray[np.int64], satisfied: NDArray[np.int32], done: int, n: int, eta: float, *, mirrored: bool = False
) -> NDArray[np.float64]:
    """(2k,) probabilities of one draw of the query player; private, like the counts.

    Source: spec query_release, acceptance check 5.

    Example:
        >>> law = query_law(np.array([10, 5, 18]), np.array([3, 0, 2], np.int32), 3, 20, 0.7)
        >>> law.round(6).tolist()
        [0.045243, 0.21856, 0.211042, 0.369466, 0.076482, 0.079207]
    """
    weights = np.exp(query_logits(counts, satisfied, done, n, eta, mirrored=mirrored))
    return np.asarray(weights / weights.sum())


class QueryRound(NamedTuple):
    """One round of the query player: the numbers that her weights and the price of her samples both follow from.

    Args:
        eta: step size, > 0.
        t: the round, from 1.
        n: records of the data, public.
        samples: queries that she draws.
        mirrored: weights exp(-eta payoff), as Algorithm 3 is printed.
    """

    eta: float
    t: int
    n: int
    samples: int
    mirrored: bool = False


def round_logits(
    played: QueryRound, counts: NDArray[np.int64], satisfied: NDArray[np.int32]
) -> NDArray[np.float64]:
    """(2k,) logits of a round; private, like the counts."""
    eta, t, n, _, mirrored = played
    return query_logits(counts, satisfied, t - 1, n, eta, mirrored=mirrored)


def draw_queries(
    noise: Noise, played: QueryRound, counts: NDArray[np.int64], satisfied: NDArray[np.int32], *,
    line: str | None = None,
) -> NDArray[np.int64]:
    """Draw the samples of one round, each by an exponential mechanism, and pay for them first.

    The weights and the price are computed here from one step size, one round and one number of records. A replaced
    record moves each count by 1 at most, and so the logits of round t by a range of 2 eta (t - 1)/n. Round 1 reads no
    count and is free.

    Args:
        noise: of the run. The stream is ("round", t).
        played: the round.
        counts: (k,) m_q = n q(D), private.
        satisfied: (k,) c_q, how many of the records played so far satisfy q; public.
        line: of the charge that pays for each sample.

    Returns:
        (samples,) positions in 0..2k-1.

    Raises:
        InvalidInput: a number of the round is out of range, or there is no such line.
        Overspent: the line does not pay for so many samples of such a step. Nothing was drawn.

    Source: Wu 2017, Algorithm 3 and Theorem 3.4.1; spec query_release D2.

    Example:
        >>> played, counts = QueryRound(eta=0.5, t=2, n=4, samples=3), np.array([2, 1, 4])
        >>> draw_queries(Noise.simulated(1), played, counts, np.array([1, 0, 0], np.int32)).shape
        (3,)
    """
    eta, t, n, samples, _ = played
    check_exact(t, n, eta)
    return draw_by_logits(noise, round_logits(played, counts, satisfied), bounded_range=round_range(n, eta, t),
                          count=samples, stream=("round", t), line=line)


class Netted(NamedTuple):
    """Samples of one round without what cancels: all that the best response sees.

    Args:
        queries: (t,) positions in the workload, ascending.
        weights: (t,) how often the query was drawn less how often its negation was, never 0.
        constant: how many negations were drawn; the value of a record x is constant + sum weights q(x), the number of
            samples that it satisfies.
    """

    queries: NDArray[np.int64]
    weights: NDArray[np.int64]
    constant: int


def net(positions: NDArray[np.int64], queries: int) -> Netted:
    """Net the samples of a round.

    Args:
        positions: (s,) in 0..2k-1.
        queries: k.

    Raises:
        InvalidInput: a position that is no query.

    Example:
        >>> found = net(np.array([0, 3, 1, 5, 5]), 3)
        >>> found.queries.tolist(), found.weights.tolist(), found.constant
        ([1, 2], [1, -2], 3)
    """
    k = whole("queries", queries, at_least=1)
    if len(positions) and not (positions.min() >= 0 and positions.max() < 2 * k):
        raise InvalidInput("positions", "one is no query", f"must be in 0..{2 * k - 1}")
    negated = positions >= k
    found, inverse = np.unique(np.where(negated, positions - k, positions), return_inverse=True)
    weights = np.zeros(len(found), dtype=np.int64)
    np.add.at(weights, inverse, np.where(negated, -1, 1))
    kept = weights != 0
    return Netted(found[kept].astype(np.int64), weights[kept], int(negated.sum()))


def check_exact(rounds: int, n: int, eta: float) -> None:
    """Refuse sizes beyond which payoffs are not exact, or logits not finite.

    Raises:
        InvalidInput: no round or record, rounds times n of 2^52 or more, or a step size that is not in (0, 2^40].
    """
    positive("eta", eta, at_most=2.0**40)
    rounds, n = whole("rounds", rounds, at_least=1), whole("n", n, at_least=1)
    if rounds * n >= EXACT:
        raise InvalidInput("rounds", f"{rounds:,} rounds of {n:,} records are beyond exact integers",
                           "rounds times n must be below 2^52")
