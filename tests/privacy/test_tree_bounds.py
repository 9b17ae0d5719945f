"""Tree counter's error: published, proved, exact and simulated bounds, the error's exact law, the best arity."""

from __future__ import annotations

import math
import tracemalloc
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, norm

from confide.contract import InvalidInput, NotGuaranteed, Unsupported
from confide.privacy import Noise, TreeCounter
from confide.privacy.tree_blocks import levels, terms
from confide.privacy.tree_bounds import (
    best_arity,
    chernoff_bound,
    gaussian_bound,
    quantile_bound,
    runs_needed,
    single_sum_bound,
    source_bound,
    sub_gaussian_bound,
)
from confide.privacy.tree_errors import log_within, variance

from false_alarms import alpha


@pytest.mark.parametrize(("counter", "proved"), [
    (TreeCounter.for_epsilon(2e-4, l1_sensitivity=1, horizon=10**6), "chernoff"),
    (TreeCounter.for_rho(1e-9, l1_sensitivity=1, horizon=10**6), "gaussian"),
    (TreeCounter(horizon=10**6, scale=2.0**30), "chernoff"),
])
def test_exact_bounds_that_take_too_long_name_a_proved_one(counter, proved):
    """Before the first walk: an hour of one core, or gibibytes, are told and not begun."""
    tracemalloc.start()
    with pytest.raises(Unsupported, match=proved) as caught:
        counter.error_bound(0.05, "exact")
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()
    assert caught.value.field == "bound"
    assert "seconds and" in str(caught.value)
    assert counter.error_bound(0.05, proved) > counter.scale


# spec allocation 2: N=1023, k=100, gamma=.05, M=10, b=10: 8036 / 1362 / 313 / 221
def test_the_published_bounds():
    counter = TreeCounter(horizon=1023, counters=100, scale=10.0)
    assert counter.terms == counter.levels == 10
    assert counter.error_bound(0.05, "source") == pytest.approx(8036, abs=1)
    assert counter.error_bound(0.05, "single_sum") == pytest.approx(1362, abs=1)
    assert counter.error_bound(0.05) == counter.error_bound(0.05, "chernoff") == pytest.approx(313, abs=1)
    assert counter.error_bound(0.05, "exact") == pytest.approx(221, abs=2)
    assert counter.accuracy(0.05).bound == counter.error_bound(0.05)
    assert not counter.accuracy(0.05).vacuous
    assert counter.accuracy(0.05, "source").vacuous  # 8036 of at most 1023
    line = TreeCounter(horizon=1023, counters=100, scale=10.0, law="laplace")
    assert line.error_bound(0.05) == pytest.approx(counter.error_bound(0.05) + 0.5 + 10 / 2048, abs=1e-6)


def test_the_simulated_bound():
    counter = TreeCounter(horizon=255, counters=10, scale=8.0)
    exact = counter.error_bound(0.1, "exact")
    for law in ("discrete_laplace", "laplace"):
        counter = TreeCounter(horizon=255, counters=10, scale=8.0, law=law)
        assert exact <= counter.simulated_bound(0.1, Noise.simulated(1), runs=4000) <= 1.15 * exact
    with pytest.raises(InvalidInput, match="at least"):
        counter.simulated_bound(0.1, Noise.simulated(1), runs=300)


def test_the_gaussian_bounds():
    assert gaussian_bound(1.0, 4, 1, 1, 0.05) == pytest.approx(2 * 1.959964, abs=1e-5)
    assert sub_gaussian_bound(1.0, 4, 1, 1, 0.05) == pytest.approx(2 * math.sqrt(2 * math.log(40)), rel=1e-9)
    public = {"horizon": 1023, "counters": 100, "scale": 10.0}
    line = TreeCounter(law="gaussian", **public)
    lattice = TreeCounter(law="discrete_gaussian", **public)
    assert line.error_bound(0.05) == pytest.approx(10 * math.sqrt(10) * norm.isf(0.05 / 204_600) + 0.5, abs=0.01)
    assert lattice.error_bound(0.05, "exact") < line.error_bound(0.05) < lattice.error_bound(0.05)


@pytest.mark.parametrize("horizon", [1, 2, 10, 1000, 10**6])
@pytest.mark.parametrize(("counters", "gamma"), [(1, 0.99), (7, 0.05), (10**4, 1e-9)])
def test_the_chernoff_bound_is_the_minimum(horizon, counters, gamma):
    most, goal = terms(horizon, 2), math.log(2 * horizon * counters / gamma)
    theta = np.linspace(0, 1, 20_001)[1:-1]
    grid = ((goal - most * np.log1p(-(theta**2))) / theta).min()
    found = chernoff_bound(1.0, most, horizon, counters, gamma)
    assert grid * (1 - 1e-3) <= found <= grid * (1 + 1e-9)
    assert chernoff_bound(5.0, most, horizon, counters, gamma) == pytest.approx(5 * found)


@pytest.mark.parametrize(("horizon", "arity"), [(7, 2), (12, 2), (26, 3), (70, 8)])
@pytest.mark.parametrize("law", ["discrete_laplace", "discrete_gaussian"])
def test_the_exact_error_law(horizon, arity, law):
    runs = 10_000
    counter = TreeCounter(horizon=horizon, counters=runs, arity=arity, scale=2.5, law=law, running_maximum=False)
    drawn = counter.draw(Noise.simulated(4))
    largest = np.abs(counter.count(np.zeros_like(drawn), drawn)).max(axis=1)
    one = TreeCounter(horizon=horizon, arity=arity, scale=2.5, law=law)
    each = alpha("privacy.tree_counter.sup", cases=8 * 3) / 2
    for gamma in (0.5, 0.1, 0.01):
        bound = one.error_bound(gamma, "exact")
        inside = math.exp(log_within(int(bound), horizon, arity, law, 2.5))
        assert inside >= 1 - gamma > math.exp(log_within(int(bound) - 1, horizon, arity, law, 2.5))
        share = int((largest <= bound).sum())
        assert binom.ppf(each, runs, inside) <= share <= binom.isf(each, runs, inside)
        assert bound <= one.error_bound(gamma)


def test_the_exact_error_law_against_enumeration():
    cells, p = np.arange(-40, 41), math.exp(-1 / 1.5)
    mass = (1 - p) / (1 + p) * p ** np.abs(cells)
    for bound in (0, 1, 4):
        chance = 0.0
        for (y1, p1), (y2, p2), (y3, p3) in product(zip(cells, mass, strict=True), repeat=3):
            if abs(y1) <= bound and abs(y2) <= bound and abs(y2 + y3) <= bound:
                chance += p1 * p2 * p3
        assert math.exp(log_within(bound, 3, 2, "discrete_laplace", 1.5)) == pytest.approx(chance, abs=1e-9)


# spec allocation 2: RMS and the 99% quantile of the largest error, in units of Delta/epsilon
TABLE = [(255, 2, 22.7, 119), (255, 16, 11.0, 50), (1023, 2, 31.6, 175), (1023, 12, 15.8, 80), (4095, 2, 41.6, 251),
         (4095, 16, 20.2, 105)]


@pytest.mark.parametrize(("horizon", "arity", "rms", "largest"), TABLE)
def test_the_error_table(horizon, arity, rms, largest):
    counter = TreeCounter.for_epsilon(1.0, l1_sensitivity=1, horizon=horizon, arity=arity, law="laplace")
    assert counter.scale == levels(horizon, arity)
    assert counter.rms == pytest.approx(rms, abs=0.1)
    fine = TreeCounter.for_epsilon(1 / 16, l1_sensitivity=1, horizon=horizon, arity=arity)  # a lattice of sixteenths
    assert fine.error_bound(0.01, "exact") / 16 == pytest.approx(largest, rel=0.1)
    drawn = TreeCounter(horizon=horizon, arity=arity, counters=200, scale=fine.scale, running_maximum=False)
    errors = drawn.count(np.zeros((200, horizon), dtype=int), drawn.draw(Noise.simulated(8)))
    assert np.sqrt(np.mean(errors.astype(float) ** 2)) == pytest.approx(fine.rms, rel=0.08)


@pytest.mark.slow
@pytest.mark.parametrize(("horizon", "arity", "rms", "largest"), [(10**5, 2, 68.8, 447), (10**5, 24, 34.5, 205)])
def test_the_error_table_of_long_streams(horizon, arity, rms, largest):
    counter = TreeCounter.for_epsilon(1.0, l1_sensitivity=1, horizon=horizon, arity=arity, law="laplace")
    assert counter.rms == pytest.approx(rms, rel=0.005)
    fine = TreeCounter.for_epsilon(1 / 16, l1_sensitivity=1, horizon=horizon, arity=arity)
    assert fine.error_bound(0.01, "exact") / 16 == pytest.approx(largest, rel=0.1)
    bound = fine.simulated_bound(0.01, Noise.simulated(0), runs=2000, miss_share=0.5)
    assert bound >= fine.error_bound(0.01, "exact")


def test_rms_is_exact():
    counter = TreeCounter(horizon=7, scale=3.0, law="laplace")
    assert counter.rms == pytest.approx(3.0 * math.sqrt(2 * 12 / 7))  # digit sums 1 1 2 1 2 2 3
    p = math.exp(-1 / 3)
    assert TreeCounter(horizon=7, scale=3.0).rms == pytest.approx(math.sqrt(2 * p / (1 - p) ** 2 * 12 / 7))
    assert TreeCounter(horizon=7, scale=3.0, law="gaussian").rms == pytest.approx(3.0 * math.sqrt(12 / 7))
    k = np.arange(-60, 61)
    for sigma in (0.3, 1.0, 3.0, 6.0):
        mass = np.exp(-(k**2) / (2 * sigma**2))
        assert variance("discrete_gaussian", sigma) == pytest.approx(mass @ k**2 / mass.sum(), rel=1e-12)


def test_the_best_arity():
    for horizon, counters in ((255, 1), (1023, 100), (5000, 50)):
        found = best_arity(horizon, counters, 0.05)

        def bound(arity, horizon=horizon, counters=counters):
            counter = TreeCounter.for_epsilon(1.0, l1_sensitivity=1, horizon=horizon, counters=counters, arity=arity)
            return counter.error_bound(0.05)

        assert bound(found) == min(bound(arity) for arity in range(2, 64))
        assert bound(found) < 0.6 * bound(2)  # spec allocation 2: half the noise for free
        assert 8 <= found <= 48
    assert 2 <= best_arity(10**5, noise="gaussian") <= 16
    assert best_arity(1) == 2


def test_quantile_bounds_cover():
    generator = np.random.default_rng(0)
    covered = [quantile_bound(generator.random(400), 0.05, 0.02) >= 0.95 for _ in range(500)]
    assert np.mean(covered) >= 0.96  # 0.98 promised
    assert np.mean(covered) < 1.0
    assert runs_needed(0.05, 0.02) == 77
    with pytest.raises(InvalidInput, match="77"):
        quantile_bound(np.zeros(76), 0.05, 0.02)
    assert single_sum_bound(1.0, 1, 1, 1, 0.99) == pytest.approx(2 * math.sqrt(2) * 1.0)
    assert source_bound(1.0, 1, 0.1) == 0.0  # printed: a stream of one step would be counted without error


def test_the_printed_bound_is_about_binary_trees_of_two_steps_and_more():
    for bad in (TreeCounter(horizon=1, scale=5.0), TreeCounter(horizon=100, arity=3, scale=5.0)):
        with pytest.raises(NotGuaranteed, match="binary"):
            bad.error_bound(0.05, "source")
    with pytest.raises(InvalidInput, match="scale"):
        TreeCounter(horizon=10, scale=2.0**33, law="laplace")
