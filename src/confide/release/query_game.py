"""The query game of DualQuery: a data player chooses records, and a query player chooses queries or their negations.

The payoff of a record x against a query q is q(D) - q(x), in [-1, 1], where D is the data set. The data player pays
this payoff to the query player. The set Q of queries is closed under negation, so the value of the game is 0. The query
player's weights are computed from exact integers. The samples are netted: a query q and its negation 1 - q cancel. The
weights and the privacy charge for the samples are computed from the same numbers (`draw_queries`).

Positions 0..k-1 are the queries of a workload, and positions k..2k-1 are their negations.

Source: Wu 2017, section 3.3 and Algorithm 3; spec query_release B2, D1 and E2.

The module also computes the privacy levels of DualQuery's rounds and their exact sums, without an event for each round.
The privacy level of a round is the epsilon that is charged for one draw. Round t draws by an exponential mechanism of
range 2 eta (t - 1)/n. From round 2 on, each draw is charged another 2^-37 nats. The level is the least double for which
the decimal spelling is at least the range plus 2^-37. The level of round 1 is 0. Sums of levels are exact sums of these
decimal spellings.

The third part of the module is Hedge (multiplicative weights) and the query game with full information. This game has
no samples and no privacy, and is for tests and teaching. Hedge stores cumulative losses and computes the weights from
them in every round, so that no errors accumulate and nothing underflows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import fraction, positive, whole
from confide.contract.errors import InvalidInput
from confide.privacy.accounting import written, written_up
from confide.privacy.accounting.per_round import drift_of
from confide.privacy.accounting.sums import ball
from confide.privacy.losses import BITS
from confide.privacy.noise.balls import precision
from confide.privacy.noise.base import Noise
from confide.privacy.primitives.choosing import draw_by_logits

__all__ = [
    "EXACT",
    "ROOM",
    "FullPlay",
    "Hedge",
    "Netted",
    "QueryRound",
    "check_exact",
    "cumulative_payoffs",
    "draw_queries",
    "drifts",
    "freund_schapire",
    "largest",
    "net",
    "play_in_full",
    "query_law",
    "query_logits",
    "regret_bound",
    "round_epsilon",
    "round_logits",
    "round_range",
    "sums",
]

# ---- levels

ROOM: float = 2.0**-37
"""Additional privacy charge for each draw from round 2 on, in nats, for the rounding of exponents and weights to
doubles.
"""

_ROOM = Fraction(ROOM)


def round_epsilon(n: int, eta: float, t: int) -> float:
    """The privacy charge of one draw of round t, in nats: 2 eta (t - 1)/n + 2^-37, rounded up; 0 in round 1.

    Args:
        n: number of records, public.
        eta: step size.
        t: number of the round, from 1.

    Example:
        >>> round_epsilon(1000, 0.5, 1), round(round_epsilon(1000, 0.5, 11), 9)
        (0.0, 0.01)
    """
    return written_up(round_range(n, eta, t))


def round_range(n: int, eta: float, t: int) -> Fraction:
    """The privacy charge of one draw of round t, in nats, as an exact fraction before rounding: 2 eta (t - 1)/n +
    2^-37; 0 in round 1.

    Args:
        n: number of records, public.
        eta: step size.
        t: number of the round, from 1.
    """
    return Fraction(0) if t == 1 else (t - 1) * _slope(n, eta) + _ROOM


@lru_cache(maxsize=4)  # the rounds of a run ask for the same one
def _slope(n: int, eta: float) -> Fraction:
    return 2 * written(eta) / n


def largest(n: int, eta: float, rounds: int) -> Fraction:
    """The privacy level of the last round, in nats, as the exact value of its decimal spelling."""
    return written(round_epsilon(n, eta, rounds))


@lru_cache(maxsize=8)  # a search asks for the last one again, by another name
def sums(n: int, eta: float, rounds: int) -> tuple[Fraction, Fraction]:
    """The sum of the privacy levels of all rounds, and the sum of the squares of these levels, with one draw in each
    round.

    Args:
        n: number of records, public.
        eta: step size.
        rounds: number of rounds, T >= 1.

    Raises:
        OverflowError: a level is beyond the range of doubles.

    Example:
        >>> levels = [written(round_epsilon(1000, 0.5, t)) for t in range(1, 12)]
        >>> sums(1000, 0.5, 11) == (sum(levels), sum(each * each for each in levels))
        True
    """
    ones: dict[int, int] = {}
    squares: dict[int, int] = {}
    for digits, places in _levels(n, eta, rounds):
        ones[places] = ones.get(places, 0) + digits
        squares[places] = squares.get(places, 0) + digits * digits
    return (sum((Fraction(value, 10**places) for places, value in ones.items()), Fraction(0)),
            sum((Fraction(value, 10 ** (2 * places)) for places, value in squares.items()), Fraction(0)))


@lru_cache(maxsize=8)
def drifts(n: int, eta: float, rounds: int) -> Any:
    """The sum over all rounds of the largest expected privacy loss of one draw at the level of the round. The result is
    an interval that contains the sum (a ball of interval arithmetic).

    Args:
        n: number of records, public.
        eta: step size.
        rounds: number of rounds, T >= 1.

    Raises:
        OverflowError: a level is beyond the range of doubles.
    """
    with precision(BITS):
        return sum((drift_of(Fraction(digits, 10**places)) for digits, places in _levels(n, eta, rounds)),
                   ball(Fraction(0)))


def _levels(n: int, eta: float, rounds: int) -> Iterator[tuple[int, int]]:
    """The level of each round from the second on, as an integer of its digits and the number of decimal places."""
    # In whole numbers: 50,000 fractions take seconds.
    step = _slope(n, eta)
    each, room, below = step.numerator << 37, step.denominator, step.denominator << 37
    above = room
    for _ in range(1, rounds):
        above += each
        yield _written_up(above, below)


def _written_up(above: int, below: int) -> tuple[int, int]:
    """`written_up` of a positive fraction, as an integer of its decimal digits and the number of decimal places."""
    nearest = above / below
    digits, places = _digits(nearest)
    if digits * below >= above * 10**places:
        return digits, places
    return _digits(math.nextafter(nearest, math.inf))


def _digits(value: float) -> tuple[int, int]:
    number, _, exponent = repr(value).partition("e")
    whole, _, part = number.partition(".")
    places = len(part) - int(exponent or 0)
    digits = int(whole + part)
    return (digits, places) if places >= 0 else (digits * 10**-places, 0)


# ---- hedge


def regret_bound(eta: float, rounds: int, log_actions: float) -> float:
    """Bound on the average regret of Hedge with losses in [-1, 1]: eta/2 + ln(m)/(eta T), for m actions and T rounds.

    Args:
        eta: step size, > 0.
        rounds: number of rounds, T >= 1.
        log_actions: ln m for m actions; with a prior pi, the largest ln(1/pi_a) over the actions a.

    Source: Freund and Schapire 1997; Wu 2017, Theorem 3.3.3; spec query_release B3.

    Example:
        >>> round(regret_bound(0.2, 500, math.log(40)), 4)
        0.1369
    """
    return positive("eta", eta) / 2 + log_actions / (eta * whole("rounds", rounds, at_least=1))


def freund_schapire(actions: int, alpha: float) -> tuple[int, float]:
    """The number of rounds and the step size for an alpha-approximate equilibrium with m actions: 16 ln(m)/alpha^2,
    rounded up, and alpha/4.

    The opponent's responses must be alpha/2-approximate. With this number of rounds and this step size, the average
    regret of Hedge is at most 3 alpha/8.

    Args:
        actions: number of actions, m >= 2.
        alpha: accuracy of the equilibrium, in (0, 1).

    Source: Wu 2017, Theorem 3.3.3; spec query_release B3.

    Example:
        >>> freund_schapire(40, 0.2)
        (1476, 0.05)
    """
    alpha = fraction("alpha", alpha)
    return math.ceil(16 * math.log(whole("actions", actions, at_least=2)) / alpha**2), alpha / 4


class Hedge:
    """The Hedge algorithm: weights in proportion to prior times exp(-eta cumulative loss).

    Args:
        actions: number of actions, m >= 1.
        eta: step size, > 0.
        prior: (m,) positive public weights, scaled to sum 1; uniform if left out.

    Raises:
        InvalidInput: a parameter is out of range.

    Source: Freund and Schapire 1997; spec query_release B3.

    Example:
        >>> player = Hedge(2, 1.0)
        >>> player.update([1.0, 0.0])
        >>> player.law.round(3).tolist(), player.rounds
        ([0.269, 0.731], 1)
    """

    def __init__(self, actions: int, eta: float, prior: ArrayLike | None = None) -> None:
        self._eta = positive("eta", eta)
        size = whole("actions", actions, at_least=1)
        weights = np.ones(size) if prior is None else np.array(prior, dtype=np.float64)
        if weights.shape != (size,) or not (np.isfinite(weights).all() and (weights > 0).all()):
            raise InvalidInput("prior", "is not one positive weight for each action", f"must have shape ({size},)")
        self._log_prior = np.log(weights / weights.sum())
        self._losses = np.zeros(size)
        self._rounds = 0

    @property
    def rounds(self) -> int:
        """Number of rounds whose losses were counted."""
        return self._rounds

    @property
    def losses(self) -> NDArray[np.float64]:
        """The cumulative losses of the actions, (m,)."""
        return self._losses.copy()

    @property
    def law(self) -> NDArray[np.float64]:
        """The probabilities of the next action, (m,)."""
        logits = self._log_prior - self._eta * self._losses
        weights = np.exp(logits - logits.max())
        return np.asarray(weights / weights.sum())

    def update(self, losses: ArrayLike) -> None:
        """Add the losses of one round to the cumulative losses.

        Args:
            losses: (m,) losses of the actions in this round, in [-1, 1].

        Raises:
            InvalidInput: the losses have another shape, or are out of range.
        """
        found = np.asarray(losses, dtype=np.float64)
        if found.shape != self._losses.shape or not (np.abs(found) <= 1.0).all():
            raise InvalidInput("losses", "are not one number in [-1, 1] for each action")
        self._losses += found
        self._rounds += 1

    @property
    def regret_bound(self) -> float:
        """The bound on the average regret so far: eta/2 + max ln(1/prior)/(eta T) after T rounds; infinite before the
        first round.
        """
        return regret_bound(self._eta, self._rounds, float(-self._log_prior.min())) if self._rounds else math.inf


@dataclass(frozen=True, kw_only=True, eq=False)
class FullPlay:
    """The result of the query game between two players with full information.

    Args:
        plays: (m,) number of times that each record of the universe was played.
        answers: (k,) mean of q(x) over the played records x, for each query q.
        queries: (2k,) mean over the rounds of the query player's distribution: queries, then negations.
        max_error: largest |answer - truth|, which is the largest gain of any query or negation against the mean of the
            played records.
        guaranteed: expected gain of the query player's mean distribution against the record that makes this gain least.
        bound: eta/2 + ln(2k)/(eta T), an upper bound on the largest error.
    """

    plays: NDArray[np.int64]
    answers: NDArray[np.float64]
    queries: NDArray[np.float64]
    max_error: float
    guaranteed: float
    bound: float

    @property
    def value(self) -> tuple[float, float]:
        """An interval that contains the value of the game, which is 0."""
        return self.guaranteed, self.max_error


def play_in_full(
    values: ArrayLike, truth: ArrayLike, eta: float, rounds: int, *, prior: ArrayLike | None = None,
    mixed_signs: bool = False,
) -> FullPlay:
    """Play the query game without samples: Hedge over queries and negations against exact best responses. The result is
    not private.

    Args:
        values: (m, k) values q(x) for each record x of the universe, 0 or 1.
        truth: (k,) true answers q(D).
        eta: step size of the query player.
        rounds: number of rounds, T >= 1.
        prior: (2k,) public prior of the query player; uniform if left out.
        mixed_signs: whether to play a faulty game as a control. The faulty game combines the weights exp(-eta payoff)
            of Algorithm 3, as printed in Wu 2017, with the best response of the analysis. The printed weights and this
            best response belong to games with opposite signs, so their combination reinforces errors.

    Returns:
        Means over the rounds, and the error of the resulting answers.

    Raises:
        InvalidInput: the shapes do not fit together.

    Source: Wu 2017, section 3.3; spec query_release B2, B3 and acceptance check 7.

    Example:
        >>> values = [[0, 0], [0, 1], [1, 0], [1, 1]]  # the universe of two bits, and the queries "first", "second"
        >>> found = play_in_full(values, [0.25, 0.5], 0.1, 1000)
        >>> found.max_error < found.bound, found.value[0] <= 0 <= found.value[1]
        (True, True)
    """
    table, true = np.asarray(values, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    if table.ndim != 2 or true.shape != table.shape[1:] or not table.size:
        raise InvalidInput("values", f"have shape {table.shape}, and truth has shape {true.shape}",
                           "must be (records, queries) and (queries,)")
    k = len(true)
    player = Hedge(2 * k, eta, prior)
    plays, mean_law = np.zeros(len(table), dtype=np.int64), np.zeros(2 * k)
    for _ in range(whole("rounds", rounds, at_least=1)):
        law = player.law
        mean_law += law
        best = int(np.argmax(table @ (law[:k] - law[k:])))
        plays[best] += 1
        payoff = true - table[best]
        both = np.concatenate([payoff, -payoff])
        player.update(both if mixed_signs else -both)
    answers = plays @ table / rounds
    mean_law /= rounds
    weights = mean_law[:k] - mean_law[k:]
    return FullPlay(plays=plays, answers=answers, queries=mean_law, max_error=float(np.abs(answers - true).max()),
                    guaranteed=float(np.min((true - table) @ weights)), bound=player.regret_bound)


# ---- query game

EXACT = 2**52
"""Limit on the number of rounds times the number of records. Below the limit every cumulative payoff in units of 1/n is
exact, both as an integer and as a double.
"""

_BLOCK = 2**14  # queries that are worked on together


def cumulative_payoffs(
    counts: NDArray[np.int64], satisfied: NDArray[np.int32], done: int, n: int
) -> NDArray[np.int64]:
    """The exact cumulative payoffs of the queries so far, (k,), in units of 1/n: done * m_q - n * c_q for each query q.

    Args:
        counts: (k,) true counts m_q = n q(D), private.
        satisfied: (k,) number c_q of the records played so far that satisfy q.
        done: number of rounds so far, t - 1.
        n: number of records of the data.
    """
    return done * counts - np.int64(n) * satisfied


def query_logits(
    counts: NDArray[np.int64], satisfied: NDArray[np.int32], done: int, n: int, eta: float, *, mirrored: bool = False
) -> NDArray[np.float64]:
    """Logits of the query player, (2k,): eta times the cumulative payoffs of the queries, then of the negations, minus
    the largest logit.

    The subtraction is made in integers. Each logit therefore has a relative error of at most 2^-52. In round 1 all
    logits are 0, whatever the data.

    Args:
        counts: (k,) true counts m_q = n q(D), private.
        satisfied: (k,) number c_q of the records played so far that satisfy q.
        done: number of rounds so far, t - 1.
        n: number of records of the data; `done` times n must be below 2^52.
        eta: step size.
        mirrored: whether the weights are exp(-eta payoff), as in Algorithm 3 as printed in Wu 2017, instead of exp(eta
            payoff). The signs of the best response must then be reversed too.

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
    """The probabilities of one draw of the query player, (2k,). The probabilities are private, like the counts.

    Source: spec query_release, acceptance check 5.

    Example:
        >>> law = query_law(np.array([10, 5, 18]), np.array([3, 0, 2], np.int32), 3, 20, 0.7)
        >>> law.round(6).tolist()
        [0.045243, 0.21856, 0.211042, 0.369466, 0.076482, 0.079207]
    """
    weights = np.exp(query_logits(counts, satisfied, done, n, eta, mirrored=mirrored))
    return np.asarray(weights / weights.sum())


class QueryRound(NamedTuple):
    """The parameters of one round of the query player, from which both the weights and the charge for the samples
    follow.

    Args:
        eta: step size, > 0.
        t: number of the round, from 1.
        n: number of records of the data, public.
        samples: number of queries that are drawn.
        mirrored: whether the weights are exp(-eta payoff), as in Algorithm 3 as printed in Wu 2017, instead of exp(eta
            payoff).
    """

    eta: float
    t: int
    n: int
    samples: int
    mirrored: bool = False


def round_logits(
    played: QueryRound, counts: NDArray[np.int64], satisfied: NDArray[np.int32]
) -> NDArray[np.float64]:
    """The logits of a round, (2k,). The logits are private, like the counts."""
    eta, t, n, _, mirrored = played
    return query_logits(counts, satisfied, t - 1, n, eta, mirrored=mirrored)


def draw_queries(
    noise: Noise, played: QueryRound, counts: NDArray[np.int64], satisfied: NDArray[np.int32], *,
    line: str | None = None,
) -> NDArray[np.int64]:
    """Draw the samples of one round, each by an exponential mechanism. The privacy charge is made before the draws.

    The weights and the charge are computed from the same step size, round and number of records. The replacement of a
    record changes each count by at most 1, so the changes of the logits of round t differ by at most 2 eta (t - 1)/n.
    Round 1 reads no count and costs nothing.

    Args:
        noise: source of randomness of the run. The draws use the random stream ("round", t).
        played: parameters of the round.
        counts: (k,) true counts m_q = n q(D), private.
        satisfied: (k,) number c_q of the records played so far that satisfy q; public.
        line: name of the entry in the run's privacy charge that pays for each sample.

    Returns:
        Positions of the drawn queries in 0..2k-1, (samples,).

    Raises:
        InvalidInput: a parameter of the round is out of range, or the charge has no entry with the name `line`.
        Overspent: the entry `line` does not pay for the samples of the round at this step size. Nothing was drawn.

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
    """The netted samples of one round, in which queries and their negations cancel. The best response depends only on
    the netted samples.

    Args:
        queries: (t,) positions in the workload of the queries that remain, ascending.
        weights: (t,) number of draws of each query minus the number of draws of its negation, never 0.
        constant: number of negations that were drawn. The number of samples that a record x satisfies is `constant`
            plus the sum over the queries q of weight times q(x).
    """

    queries: NDArray[np.int64]
    weights: NDArray[np.int64]
    constant: int


def net(positions: NDArray[np.int64], queries: int) -> Netted:
    """Net the samples of a round: a query and its negation cancel, and repeated draws add up.

    Args:
        positions: (s,) positions of the drawn queries in 0..2k-1.
        queries: number of queries, k.

    Raises:
        InvalidInput: a position is out of range.

    Example:
        >>> found = net(np.array([0, 3, 1, 5, 5]), 3)
        >>> found.queries.tolist(), found.weights.tolist(), found.constant
        ([1, 2], [1, -2], 3)
    """
    k = whole("queries", queries, at_least=1)
    if len(positions) and not (positions.min() >= 0 and positions.max() < 2 * k):
        raise InvalidInput("positions", "an entry is not the position of a query", f"each must be in 0..{2 * k - 1}")
    negated = positions >= k
    found, inverse = np.unique(np.where(negated, positions - k, positions), return_inverse=True)
    weights = np.zeros(len(found), dtype=np.int64)
    np.add.at(weights, inverse, np.where(negated, -1, 1))
    kept = weights != 0
    return Netted(found[kept].astype(np.int64), weights[kept], int(negated.sum()))


def check_exact(rounds: int, n: int, eta: float) -> None:
    """Refuse sizes for which payoffs would not be exact, or logits would not be finite.

    Raises:
        InvalidInput: there is no round or no record, rounds times n is 2^52 or more, or the step size is not in (0,
            2^40].
    """
    positive("eta", eta, at_most=2.0**40)
    rounds, n = whole("rounds", rounds, at_least=1), whole("n", n, at_least=1)
    if rounds * n >= EXACT:
        raise InvalidInput("rounds", f"{rounds:,} rounds of {n:,} records exceed the exact integers of 64-bit floats",
                           "rounds times n must be below 2^52")
