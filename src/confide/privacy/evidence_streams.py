"""Evidence for the rows of `claims.toml` about sparse vector and counters: each function recomputes one of them.

A function returns the number, or pair of numbers, that the verdict rests on, and the verdict that follows from it. The
tests recompute every row; a verdict that changes fails them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from confide.contract.claims import Finding
from confide.privacy.noise import Noise
from confide.privacy.sparse_vector import SparseVector
from confide.privacy.tree_bounds import source_bound
from confide.privacy.tree_counter import TreeCounter


def sparse_vector_is_private() -> Finding:
    """The largest exact log ratio over neighbours that force the threshold's noise up, epsilon = 1, both directions."""
    mechanism = SparseVector(threshold=0, epsilon=1.0, law="continuous")
    worst = 0.0
    for far in (0, 5, 15, 40):
        for quiet in (0, 3, 40):
            first, second = [far] * quiet + [-far], [far - 1] * quiet + [1 - far]
            worst = max(worst, abs(mechanism.replayed_loss(first, second, quiet)))
    return Finding("holds" if 0.999 < worst <= 1.0 + 1e-9 else "false", 1.0, worst)


def sparse_vector_is_accurate() -> Finding:
    """The printed alpha against the least one on the worst stream: k = 1000, beta = .05, epsilon = 1, Delta = 1."""
    mechanism = SparseVector(threshold=0, epsilon=1.0, law="continuous")
    printed = mechanism.accuracy(1000, 0.05, bound="lemma").bound
    exact = mechanism.accuracy(1000, 0.05).bound
    return Finding("holds" if exact <= printed else "false", printed, exact)


def the_printed_counter_lacks_a_level() -> Finding:
    """The loss of the first of T = 8 steps where 1 is claimed: four blocks, noise for three; and for four."""
    streams = np.zeros((2, 1, 8), dtype=np.int64)
    streams[1, 0, 0] = 1
    printed = TreeCounter(horizon=8, scale=math.log2(8), law="laplace")
    corrected = TreeCounter.for_epsilon(1.0, l1_sensitivity=1, horizon=8, arity=2, law="laplace")
    loss, sound = (counter.replayed_loss(*map(counter.block_sums, streams)) for counter in (printed, corrected))
    return Finding("holds-with-correction" if loss > 1.0 >= sound else "false", 1.0, loss)


def the_printed_error_bound() -> Finding:
    """The print against the exact bound with h levels of noise, epsilon = 1: from T = 2 on; figures at T = 1023."""
    holds = True
    for horizon in (2, 3, 8, 64, 1023, 1024):
        exact = TreeCounter.for_epsilon(1.0, l1_sensitivity=1, horizon=horizon, arity=2)
        for beta in (0.5, 0.05, 1e-6):
            holds = holds and exact.error_bound(beta, "exact") <= source_bound(1.0, horizon, beta)
    counter = TreeCounter.for_epsilon(1.0, l1_sensitivity=1, horizon=1023, arity=2)
    found = counter.error_bound(0.05, "exact")
    return Finding("holds-with-correction" if holds else "false", source_bound(1.0, 1023, 0.05), found)


def the_printed_error_bound_says_nothing() -> Finding:
    """The least T with a bound below T, epsilon = .1, beta = .01: the print, and the exact bound at arity 16."""

    def exact(horizon: int) -> float:
        return TreeCounter.for_epsilon(0.1, l1_sensitivity=1, horizon=horizon, arity=16).error_bound(0.01, "exact")

    printed = _first(lambda horizon: source_bound(0.1, horizon, 0.01) < horizon, 2**20)
    ours = _first(lambda horizon: exact(horizon) < horizon, 2**20)
    return Finding("vacuous-at-practical-size" if printed > 10_000 else "holds", printed, ours)


def _first(holds: Callable[[int], bool], most: int) -> float:
    """The number from which something holds, to a hundredth."""
    low, high = 2, most
    while high - low > high // 100:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return float(high)


def the_printed_counter_falls() -> Finding:
    """The deepest fall in one step of Algorithm 7 itself, over 200 simulated streams of ones, T = 64, epsilon = 1."""
    printed = TreeCounter(horizon=64, counters=200, scale=math.log2(64), running_maximum=False)
    counts = printed.count(np.ones((200, 64), dtype=np.int64), printed.draw(Noise.simulated(0)))
    fall = float(np.diff(counts, axis=1).min())
    return Finding("false" if fall < 0 else "holds", 0.0, fall)
