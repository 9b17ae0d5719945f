"""A privacy loss in plain words: how often somebody is right at most who must guess between two records."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

from confide.contract.offering import best_guess
from confide.privacy.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP

__all__ = ["guessed"]


def guessed(loss: Any) -> float:
    """How often she is right at most, with even money beforehand: (1 + total variation)/2.

    Args:
        loss: any of `confide.privacy.losses`; 1 where nothing is known of it.

    Source: for pure and approximate losses `best_guess`; for Gaussian ones Phi(mu/2), exact (Dong, Roth and Su 2022);
        for concentrated and Renyi ones, which bound the Kullback-Leibler divergence, the lesser of Pinsker's bound and
        that of Bretagnolle and Huber 1979.

    Example:
        >>> [round(guessed(loss), 3) for loss in (PureDP(1.0), GDP(1.0), ZCDP(0.02), RenyiDP(2.0, 9.0))]
        [0.731, 0.691, 0.55, 1.0]
    """
    match loss:
        case PureDP():
            return best_guess(loss.epsilon)
        case ApproxDP():
            return best_guess(loss.epsilon, loss.delta)
        case GDP():
            return NormalDist().cdf(loss.mu / 2.0)
        case ZCDP() | RenyiDP():
            divergence = loss.rho if isinstance(loss, ZCDP) else loss.epsilon
            apart = min(math.sqrt(divergence / 2.0), math.sqrt(-math.expm1(-divergence)))
            return min(1.0, (1.0 + apart) / 2.0)
    return 1.0
