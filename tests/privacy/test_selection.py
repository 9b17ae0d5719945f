"""Selection against the oracles: exact laws of neighbouring scores, in both directions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.contract import InvalidInput
from confide.privacy import (
    Noise,
    SparseVector,
    TreeCounter,
    clamped_discrete_laplace,
    exact_epsilon,
    randomized_response,
    renyi_divergence,
)
from confide.privacy.noise import RecordingNoise
from confide.privacy.selection import (
    exponential_law,
    exponential_mechanism,
    noisy_max_law,
    report_noisy_max,
    selection_error,
)

ORDERS = (1.01, 1.5, 2.0, 5.0, 20.0, 100.0)
SCORES = st.lists(st.integers(0, 12), min_size=2, max_size=6)
EPSILON = st.sampled_from([0.05, 0.3, 1.0, 2.5])


def neighbours(scores, moves, *, monotone):
    moved = np.array(scores) + np.resize(moves, len(scores))
    return np.array(scores), np.abs(moved - scores).clip(0, 1) + scores if monotone else moved


@pytest.mark.slow
@given(SCORES, st.lists(st.integers(-1, 1), min_size=2, max_size=6), EPSILON, st.booleans())
def test_both_mechanisms_keep_epsilon_in_both_directions(scores, moves, epsilon, monotone):
    first, second = neighbours(scores, moves, monotone=monotone)
    for law in (exponential_law, noisy_max_law):
        laws = [law(values, epsilon, 1, monotone=monotone) for values in (first, second)]
        assert exact_epsilon(*laws) <= epsilon * (1 + 1e-9) + 1e-10


@given(SCORES, st.lists(st.integers(-1, 1), min_size=2, max_size=6), EPSILON)
def test_the_exponential_mechanism_has_bounded_range_and_its_concentration(scores, moves, epsilon):
    """Log ratios of the outcomes are within epsilon of each other, hence epsilon^2/8-zCDP (spec query_release A2)."""
    first, second = neighbours(scores, moves, monotone=False)
    one, other = exponential_law(first, epsilon, 1), exponential_law(second, epsilon, 1)
    assert np.ptp(np.log(one / other)) <= epsilon + 1e-12
    for order in ORDERS:
        assert renyi_divergence(one, other, order) <= order * epsilon**2 / 8 + 1e-13
        assert renyi_divergence(other, one, order) <= order * epsilon**2 / 8 + 1e-13


def test_scores_that_move_in_one_direction_are_drawn_twice_as_sharply():
    scores, noise = [9, 4, 8, 0], Noise.simulated
    sharp = exponential_mechanism(scores, 0.5, 1.0, noise(3), stream="winner", size=2000, monotone=True)
    alike = exponential_mechanism(scores, 1.0, 1.0, noise(3), stream="winner", size=2000)
    assert np.array_equal(sharp, alike)
    assert not np.array_equal(sharp, exponential_mechanism(scores, 0.5, 1.0, noise(3), stream="winner", size=2000))
    asked = RecordingNoise(noise(3))
    for monotone in (False, True):
        report_noisy_max(scores, 0.5, 1, asked, stream=("max", int(monotone)), monotone=monotone)
    assert [draw.scale for draw in asked.draws] == [4.0, 2.0]
    assert selection_error(100, 0.5, 1.0, 0.01, monotone=True) == selection_error(100, 0.5, 1.0, 0.01) / 2


def test_the_concentration_is_nearly_attained_and_noisy_max_does_not_have_it():
    # two items whose scores move in opposite directions, at the odds where the variance of the log ratio is largest
    epsilon = 0.05
    one, other = np.ones(2), np.exp([epsilon / 2, -epsilon / 2])
    pair = one / one.sum(), other / other.sum()
    ratio = renyi_divergence(*pair, 1.01) / (1.01 * epsilon**2 / 8)
    assert 0.999 < ratio <= 1.0
    # The same promise, but log ratios that are more than epsilon apart: epsilon^2/8 would be a false claim.
    laws = [noisy_max_law([*[move] * 5, 3 - move], 1.0, 1) for move in (0, 1)]
    assert np.ptp(np.log(laws[0] / laws[1])) > 1.1
    assert max(renyi_divergence(*laws[::way], a) / a for a in ORDERS for way in (1, -1)) > 1.1 / 8


def test_a_neighbour_can_take_nearly_all_of_epsilon():
    wide = [0] * 5000
    laws = exponential_law([*wide, 0], 1.0, 1), exponential_law([*(v + 1 for v in wide), -1], 1.0, 1)
    assert 0.99 < exact_epsilon(*laws) <= 1.0
    far = noisy_max_law([0, 400], 1.0, 1), noisy_max_law([1, 399], 1.0, 1)
    assert 0.99 < exact_epsilon(*far) <= 1.0 + 1e-12


def test_a_score_that_counts_twice_is_caught():
    """Control: the sharper exponent is only for scores that move in one direction."""
    laws = [exponential_law(scores, 1.0, 1, monotone=True) for scores in ([1] * 20 + [0], [2] * 20 + [-1])]
    assert exact_epsilon(*laws) > 1.2
    laws = [noisy_max_law(scores, 1.0, 1, monotone=True) for scores in ([1, 9], [2, 8])]
    assert exact_epsilon(*laws) > 1.2


def test_draws_follow_the_law():
    scores = [4, 7, 5, 7]
    drawn = exponential_mechanism(scores, 0.8, 1.0, Noise.simulated(1), stream="x", size=40_000)
    expected = exponential_law(scores, 0.8, 1.0)
    assert np.abs(np.bincount(drawn, minlength=4) / 40_000 - expected).max() < 0.012
    noise = Noise.simulated(2)
    counts = np.bincount([report_noisy_max(scores, 0.8, 1, noise, stream=("m", k)) for k in range(4000)], minlength=4)
    assert np.abs(counts / 4000 - noisy_max_law(scores, 0.8, 1)).max() < 0.035


def test_ties_go_to_the_smallest_position():
    replayed = Noise.replayed({"m": [0, 2, 2]})
    assert report_noisy_max([5, 3, 3], 1.0, 1, replayed, stream="m") == 0
    law = noisy_max_law([1, 1, 1], 1.0, 1)
    assert law[0] > law[1] > law[2]
    assert law.sum() == pytest.approx(1.0)


def test_the_error_bound_holds_and_is_not_idle():
    scores = np.concatenate([np.zeros(999), [30.0]])
    for failure in (0.5, 0.05, 1e-3):
        error = selection_error(1000, 0.7, 1.0, failure)
        assert exponential_law(scores, 0.7, 1.0)[scores < 30 - error].sum() <= failure
    tight = selection_error(1000, 0.7, 1.0, 0.5)
    assert exponential_law(np.concatenate([np.zeros(999), [tight]]), 0.7, 1.0)[:-1].sum() > 0.3


def test_large_scores_keep_their_differences():
    huge = np.array([2**62, 2**62 - 1, -(2**62)])
    assert exponential_law(huge, 2.0, 1.0)[:2] == pytest.approx([1 / (1 + math.exp(-1)), 1 / (1 + math.e)], abs=1e-9)
    assert exponential_law(huge.astype(np.uint64), 2.0, 1.0)[0] > 0
    assert exponential_law([1e308, -1e308], 1.0, 1.0)[1] > 0  # clipped, never zero


def test_an_epsilon_too_small_to_use_chooses_uniformly():
    assert exponential_law([0, 10**6], 1e-12, 1.0).tolist() == [0.5, 0.5]
    assert selection_error(10, 1e-12, 1.0, 0.1) == math.inf


@pytest.mark.parametrize(("scores", "epsilon", "sensitivity", "field"), [
    ([], 1.0, 1, "scores"), ([[1]], 1.0, 1, "scores"), ([1.0, math.nan], 1.0, 1, "scores"), (["a"], 1.0, 1, "scores"),
    ([1], 0.0, 1, "epsilon"), ([1], math.inf, 1, "epsilon"),
    ([1], 1.0, 0, "sensitivity"), ([1], 1.0, -1, "sensitivity"),
])
def test_what_is_refused(scores, epsilon, sensitivity, field):
    for mechanism in (exponential_mechanism, report_noisy_max):
        with pytest.raises(InvalidInput) as caught:
            mechanism(scores, epsilon, sensitivity, Noise.simulated(1), stream="x")
        assert caught.value.field == field


def test_noisy_max_takes_whole_scores_only():
    with pytest.raises(InvalidInput, match="whole numbers"):
        report_noisy_max([0.5, 1.0], 1.0, 1, Noise.simulated(1), stream="x")
    with pytest.raises(InvalidInput, match="enumerate"):
        noisy_max_law([0] * 100, 1e-6, 1)


def test_what_depends_on_scores_never_raises():
    """Scores of any size: an error, or a warning, would tell how far apart they are."""
    for epsilon, sensitivity in ((1e-13, 1.0), (1.0, 1.7e308), (1e300, 1e-7)):
        for scores in ([1e308, -1e308], [1e308, 1e308], [0.0, 5e-324]):
            assert exponential_law(scores, epsilon, sensitivity).sum() == pytest.approx(1.0)


def test_rates_beyond_the_doubles_are_refused():
    with pytest.raises(InvalidInput, match="too large for a sensitivity"):
        exponential_law([0, 1], 1e300, 1e-300)


@pytest.mark.parametrize("top", [2**62, 2**63 - 1, 2**63, 2**64 - 1])
def test_unsigned_scores_do_not_wrap(top):
    scores = np.array([top, 0], dtype=np.uint64)
    assert report_noisy_max(scores, 1.0, 1, Noise.simulated(1), stream="x") == 0
    assert report_noisy_max(np.array([-(2**63), 5]), 1.0, 1, Noise.simulated(1), stream="x") == 1


def test_secure_draws_follow_the_law():
    noise = Noise.secure()
    drawn = exponential_mechanism([4, 7, 5, 7], 0.8, 1.0, noise, stream="x", size=4000)
    law = exponential_law([4, 7, 5, 7], 0.8, 1.0)
    far = np.abs(np.bincount(drawn, minlength=4) - 4000 * law) / np.sqrt(4000 * law * (1 - law))
    assert far.max() < 8.0  # two in 10^15
    assert report_noisy_max([10**6, 0], 1.0, 1, noise, stream="y") == 0


@pytest.mark.parametrize("noise", [7, None, np.random.default_rng(1)])
def test_what_is_no_noise(noise):
    for call in (lambda: exponential_mechanism([1], 1.0, 1.0, noise, stream="x"),
                 lambda: report_noisy_max([1], 1.0, 1, noise, stream="x"),
                 lambda: randomized_response([1], 1.0, noise, stream="x"),
                 lambda: clamped_discrete_laplace(1.0, 5, 1, noise, stream="x"),
                 lambda: SparseVector(threshold=1, epsilon=1.0).run([1], noise),
                 lambda: TreeCounter.for_epsilon(1.0, l1_sensitivity=1, horizon=4).start(noise)):
        with pytest.raises(InvalidInput, match=r"use Noise.secure\(\)"):
            call()
