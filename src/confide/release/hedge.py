"""Multiplicative weights (Hedge), and the query game played in full: no samples, no privacy, for tests and teaching.

Cumulative losses are kept and weights formed afresh, so that nothing drifts or underflows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import fraction, positive, whole
from confide.contract.errors import InvalidInput

__all__ = ["FullPlay", "Hedge", "freund_schapire", "play_in_full", "regret_bound"]


def regret_bound(eta: float, rounds: int, log_actions: float) -> float:
    """Average regret of Hedge with losses in [-1, 1]: eta/2 + ln(m)/(eta T).

    Args:
        eta: step size, > 0.
        rounds: T >= 1.
        log_actions: ln m; with a prior, the largest ln(1/pi_a).

    Source: Freund and Schapire 1997; Wu 2017, Theorem 3.3.3; spec query_release B3.

    Example:
        >>> round(regret_bound(0.2, 500, math.log(40)), 4)
        0.1369
    """
    return positive("eta", eta) / 2 + log_actions / (eta * whole("rounds", rounds, at_least=1))


def freund_schapire(actions: int, alpha: float) -> tuple[int, float]:
    """The rounds and the step size for an alpha-approximate equilibrium: 16 ln(m)/alpha^2, rounded up, and alpha/4.

    Against a player whose responses are alpha/2-approximate. The regret itself is then at most 3 alpha/8.

    Args:
        actions: m >= 2.
        alpha: in (0, 1).

    Source: Wu 2017, Theorem 3.3.3; spec query_release B3.

    Example:
        >>> freund_schapire(40, 0.2)
        (1476, 0.05)
    """
    alpha = fraction("alpha", alpha)
    return math.ceil(16 * math.log(whole("actions", actions, at_least=2)) / alpha**2), alpha / 4


class Hedge:
    """Weights in proportion to prior times exp(-eta cumulative loss).

    Args:
        actions: m >= 1.
        eta: step size, > 0.
        prior: (m,) positive public weights, scaled to sum 1; uniform if left out.

    Raises:
        InvalidInput: a parameter out of range.

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
        """How many losses were counted."""
        return self._rounds

    @property
    def losses(self) -> NDArray[np.float64]:
        """(m,) cumulative losses."""
        return self._losses.copy()

    @property
    def law(self) -> NDArray[np.float64]:
        """(m,) probabilities of the next action."""
        logits = self._log_prior - self._eta * self._losses
        weights = np.exp(logits - logits.max())
        return np.asarray(weights / weights.sum())

    def update(self, losses: ArrayLike) -> None:
        """Count one round's losses.

        Args:
            losses: (m,) in [-1, 1].

        Raises:
            InvalidInput: of another shape, or beyond that range.
        """
        found = np.asarray(losses, dtype=np.float64)
        if found.shape != self._losses.shape or not (np.abs(found) <= 1.0).all():
            raise InvalidInput("losses", "are not one number in [-1, 1] for each action")
        self._losses += found
        self._rounds += 1

    @property
    def regret_bound(self) -> float:
        """Of the average regret so far: eta/2 + max ln(1/prior)/(eta T); infinite before the first round."""
        return regret_bound(self._eta, self._rounds, float(-self._log_prior.min())) if self._rounds else math.inf


@dataclass(frozen=True, kw_only=True, eq=False)
class FullPlay:
    """What two players who see everything found.

    Args:
        plays: (m,) how often each record of the universe was played.
        answers: (k,) the mean of q(x) over the records that were played.
        queries: (2k,) the query player's mean law: queries, then negations.
        max_error: largest |answer - truth|: the most that any query gains against the mean of the records.
        guaranteed: the least that the query player's mean law gains against any record.
        bound: eta/2 + ln(2k)/(eta T), which the error stays below.
    """

    plays: NDArray[np.int64]
    answers: NDArray[np.float64]
    queries: NDArray[np.float64]
    max_error: float
    guaranteed: float
    bound: float

    @property
    def value(self) -> tuple[float, float]:
        """An interval that holds the value of the game; 0 is in it."""
        return self.guaranteed, self.max_error


def play_in_full(
    values: ArrayLike, truth: ArrayLike, eta: float, rounds: int, *, prior: ArrayLike | None = None,
    mixed_signs: bool = False,
) -> FullPlay:
    """Play the query game without samples: Hedge over queries and negations against exact best responses. Not private.

    Args:
        values: (m, k) q(x) for each record x of the universe, 0 or 1.
        truth: (k,) q(D).
        eta: the query player's step size.
        rounds: T >= 1.
        prior: (2k,) the query player's public prior; uniform if left out.
        mixed_signs: a control: weights exp(-eta payoff), as Algorithm 3 is printed, with the best response of its
            analysis. The two belong to mirrored games, and together feed back on themselves.

    Returns:
        Means over the rounds and their error.

    Raises:
        InvalidInput: shapes that do not fit.

    Source: Wu 2017, section 3.3; spec query_release B2, B3 and acceptance check 7.

    Example:
        >>> values = [[0, 0], [0, 1], [1, 0], [1, 1]]  # the universe of two bits, and the queries "first", "second"
        >>> found = play_in_full(values, [0.25, 0.5], 0.1, 1000)
        >>> found.max_error < found.bound, found.value[0] <= 0 <= found.value[1]
        (True, True)
    """
    table, true = np.asarray(values, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    if table.ndim != 2 or true.shape != table.shape[1:] or not table.size:
        raise InvalidInput("values", f"shape {table.shape} against {true.shape} of truth", "must be (records, queries)")
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
