"""How many copies must be held back so that no good is given out more often than there are copies."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from confide.privacy.noise import Noise
from confide.privacy.tree_bounds import chernoff_bound, quantile_bound, sub_gaussian_bound
from confide.privacy.tree_counter import TreeCounter

__all__ = ["tight_reserve"]

_MISS = 0.1  # of the failure probability, for the simulation
_RUNS = 40  # over 1/level
_MOST_DRAWS = 2.0**27


@cache
def tight_reserve(counter: TreeCounter, failure_probability: float, *, stopping: bool = False) -> int:
    """m, one more than what max(0, max_t noise_t) - noise_N exceeds in no counter, but with the failure probability.

    The holders of a good are at most s' plus that, whatever was bid, since N, the number of releases, is fixed. The law
    of the noise has nothing to do with anybody's bids; it is simulated with public coins, and the quantile's upper
    confidence bound is taken; a Chernoff bound, which is some 30% above, where that would take more than 2^27 draws.
    Noise at a time that depends on the data has another law: where a run may end early, it is max over t of
    max_{u <= t} noise_u - noise_t.

    Args:
        counter: of bids.
        failure_probability: in (0, 1).
        stopping: whether a run may end before the horizon.

    Source: spec allocation 4 (tight reserve).
    """
    if _RUNS * counter.counters * counter.horizon > failure_probability * _MOST_DRAWS:  # it would take too long
        return _by_chernoff(counter, failure_probability, stopping=stopping)
    miss = failure_probability * _MISS
    level = -math.expm1(math.log1p(-(failure_probability - miss)) / counter.counters)
    runs = math.ceil(_RUNS / level)
    one = TreeCounter(horizon=counter.horizon, scale=counter.scale, arity=counter.arity, law=counter.law,
                      running_maximum=False, counters=max(1, min(runs, 2**21 // counter.horizon)))
    source, found = Noise.simulated(0), list[np.ndarray]()
    while sum(map(len, found)) < runs:
        drawn = one.draw(source, ("reserve", len(found)))
        noise = one.count(np.zeros_like(drawn), drawn)
        highest = np.maximum(0, np.maximum.accumulate(noise, axis=1))
        fallen = highest - noise
        found.append(fallen.max(axis=1) if stopping else fallen[:, -1])
    return int(quantile_bound(np.concatenate(found)[:runs], level, miss)) + 1


def _by_chernoff(counter: TreeCounter, failure_probability: float, *, stopping: bool) -> int:
    """The same by a union over times: a difference of two counts' noise is one of 2M blocks at most."""
    times = counter.horizon**2 if stopping else counter.horizon
    bound = chernoff_bound if counter.law.endswith("laplace") else sub_gaussian_bound
    return math.floor(bound(counter.scale, 2 * counter.terms, times, counter.counters, failure_probability)) + 1
