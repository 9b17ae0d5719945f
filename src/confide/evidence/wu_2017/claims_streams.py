"""Claims of chapter 2 of Wu 2017 about sparse vector, and claims of chapter 4 about the counter alone.

Each public function recomputes the evidence for a claim. The argument `line` of a claim is a line number in the
plain-text copy of the source that was checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from confide.evidence.claim import Recomputed, claims_of
from confide.privacy.noise import Noise
from confide.privacy.sparse_vector import SparseVector
from confide.privacy.tree_bounds import source_bound
from confide.privacy.tree_counter import TreeCounter

__all__: list[str] = []

claim = claims_of("Wu 2017", family="privacy")


@claim(
    id="privacy/lemma-2.3.4-privacy", statement="Lemma 2.3.4, privacy", line=636, verdict="holds", pinned=(1.0, 1.0),
    claim="Sparse vector is epsilon-differentially private for any number of answers up to the first TOP.",
    correction="Neighbours that force the threshold's noise up reach epsilon, and none exceeds it.",
)
def sparse_vector_is_private() -> Recomputed:
    """Largest exact log ratio of output probabilities of sparse vector at epsilon = 1, in both directions, over
    neighbours for which the noise of the threshold has to be large.
    """
    mechanism = SparseVector(threshold=0, epsilon=1.0, law="continuous")
    worst = 0.0
    for far in (0, 5, 15, 40):
        for quiet in (0, 3, 40):
            first, second = [far] * quiet + [-far], [far - 1] * quiet + [1 - far]
            worst = max(worst, abs(mechanism.replayed_loss(first, second, quiet)))
    return Recomputed("holds" if 0.999 < worst <= 1.0 + 1e-9 else "false", 1.0, worst)


@claim(
    id="privacy/lemma-2.3.4-accuracy", statement="Lemma 2.3.4, accuracy", line=636,
    verdict="holds", pinned=(84.7730779, 37.7185491),
    claim="It is (alpha, beta)-accurate for alpha = 8 Delta (ln k + ln(2/beta))/epsilon.",
    correction="At epsilon = 1, k = 1000, beta = .05 the source says 84.8; the least alpha on the worst stream is "
               "37.7.",
)
def sparse_vector_is_accurate() -> Recomputed:
    """The printed error bound alpha of sparse vector, compared with the least valid alpha on the worst stream of
    queries, for k = 1000 queries of sensitivity 1, failure probability beta = .05 and epsilon = 1.
    """
    mechanism = SparseVector(threshold=0, epsilon=1.0, law="continuous")
    printed = mechanism.accuracy(1000, 0.05, bound="lemma").bound
    exact = mechanism.accuracy(1000, 0.05).bound
    return Recomputed("holds" if exact <= printed else "false", printed, exact)


@claim(
    id="privacy/theorem-4.2.4-privacy", statement="Theorem 4.2.4, privacy, and Algorithm 7", line=1814,
    verdict="holds-with-correction", pinned=(1.0, 1.33333333),
    claim="The binary counter with noise Lap(log2(T)/epsilon) is epsilon-differentially private for one changed step.",
    correction="A step lies in floor(log2 T) + 1 blocks, one more: at T = 8 the source loses 4/3 epsilon. Noise of "
               "scale h/epsilon.",
)
def the_printed_counter_lacks_a_level() -> Recomputed:
    """Privacy loss of the first of T = 8 steps under the printed counter, compared with the claimed loss of 1. Four
    released partial sums contain the first step, but the noise is scaled for three. Noise that is scaled for four must
    keep the loss within 1.
    """
    streams = np.zeros((2, 1, 8), dtype=np.int64)
    streams[1, 0, 0] = 1
    printed = TreeCounter(horizon=8, scale=math.log2(8), law="laplace")
    corrected = TreeCounter.for_epsilon(1.0, l1_sensitivity=1, horizon=8, arity=2, law="laplace")
    loss, sound = (counter.replayed_loss(*map(counter.block_sums, streams)) for counter in (printed, corrected))
    return Recomputed("holds-with-correction" if loss > 1.0 >= sound else "false", 1.0, loss)


@claim(
    id="privacy/theorem-4.2.4-accuracy", statement="Theorem 4.2.4, accuracy", line=1814,
    verdict="holds-with-correction", pinned=(3298.27151, 156.0),
    claim="Every count is within (2 sqrt2/epsilon) ln(2/beta) (log2 T)^(5/2), except with probability beta.",
    correction="With h levels of noise, from T = 2 on (at T = 1 it promises no error); 21 times the exact bound at T "
               "= 1023, beta = .05.",
)
def the_printed_error_bound() -> Recomputed:
    """The printed error bound of the counter, compared with the exact bound for noise on all h levels of the counter's
    tree, at epsilon = 1. The printed bound is checked from streams of T = 2 steps on, and the returned numbers are for
    T = 1023 steps.
    """
    holds = True
    for horizon in (2, 3, 8, 64, 1023, 1024):
        exact = TreeCounter.for_epsilon(1.0, l1_sensitivity=1, horizon=horizon, arity=2)
        for beta in (0.5, 0.05, 1e-6):
            holds = holds and exact.error_bound(beta, "exact") <= source_bound(1.0, horizon, beta)
    counter = TreeCounter.for_epsilon(1.0, l1_sensitivity=1, horizon=1023, arity=2)
    found = counter.error_bound(0.05, "exact")
    return Recomputed("holds-with-correction" if holds else "false", source_bound(1.0, 1023, 0.05), found)


@claim(
    id="privacy/theorem-4.2.4-size", statement="Theorem 4.2.4, where it says something", line=1814,
    verdict="vacuous-at-practical-size", pinned=(194561.0, 849.0),
    claim="Its error bound is below T, the most that the stream can count.",
    correction="At epsilon = .1, beta = .01 it says nothing below T = 190,000; the exact bound, at arity 16, "
               "something from T = 850 on.",
)
def the_printed_error_bound_says_nothing() -> Recomputed:
    """The least length T of a stream at which an error bound of the counter is below T, the largest possible count, at
    epsilon = .1 and failure probability .01. The printed bound is compared with the exact bound at arity 16.
    """

    def exact(horizon: int) -> float:
        return TreeCounter.for_epsilon(0.1, l1_sensitivity=1, horizon=horizon, arity=16).error_bound(0.01, "exact")

    printed = _first(lambda horizon: source_bound(0.1, horizon, 0.01) < horizon, 2**20)
    ours = _first(lambda horizon: exact(horizon) < horizon, 2**20)
    return Recomputed("vacuous-at-practical-size" if printed > 10_000 else "holds", printed, ours)


def _first(holds: Callable[[int], bool], most: int) -> float:
    """Least number from which a condition holds, to within one per cent."""
    low, high = 2, most
    while high - low > high // 100:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return float(high)


@claim(
    id="privacy/algorithm-7-monotone", statement="Section 4.2.3, on Algorithm 7", line=1810,
    verdict="false", pinned=(0.0, -80.0),
    claim="The mechanism produces a monotonically increasing count.",
    correction="A stream of ones loses up to 80 counts in a step (T = 64, epsilon = 1); the running maximum keeps "
               "every error bound.",
)
def the_printed_counter_falls() -> Recomputed:
    """Largest decrease of the published count of Algorithm 7 in one step, over 200 simulated streams of 64 ones, at
    epsilon = 1.
    """
    printed = TreeCounter(horizon=64, counters=200, scale=math.log2(64), running_maximum=False)
    counts = printed.count(np.ones((200, 64), dtype=np.int64), printed.draw(Noise.simulated(0)))
    fall = float(np.diff(counts, axis=1).min())
    return Recomputed("false" if fall < 0 else "holds", 0.0, fall)
