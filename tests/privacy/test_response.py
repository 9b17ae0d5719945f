"""Randomised response: integer odds that never exceed epsilon, and estimates that are unbiased."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from confide.contract import InvalidInput
from confide.privacy import Noise, exact_epsilon
from confide.privacy.noise.balls import precision
from confide.privacy.response import estimated_shares, randomized_response, response_table


def test_the_odds_of_the_specification():
    # spec privacy_notions, acceptance 10
    table = response_table(1.0, 5)
    assert (table.same, table.other) == (1865932782001961976, 686438309106356482)
    assert table.total == 2**62
    fair = response_table(0.0, 3)
    assert (fair.same, fair.other, fair.level) == (1537228672809129301, 1537228672809129301, 0.0)


@given(st.floats(0.0, 60.0), st.integers(2, 300))
def test_the_level_never_exceeds_epsilon_and_comes_close(epsilon, categories):
    table = response_table(epsilon, categories)
    with precision(256):
        assert not arb(table.same) / table.other > arb(epsilon).exp()
    assert table.same >= table.other >= 1
    # one unit of `other` is worth 1/other of the odds, and (k - 1) units of `same`
    assert table.level >= min(epsilon, math.log(table.same)) - 2 * categories / table.other - 1e-12


@pytest.mark.parametrize("categories", [2, 3, 7])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_oracle_agrees_in_both_directions(epsilon, categories):
    laws = response_table(epsilon, categories).weights / 2**62
    for a in range(categories):
        for b in range(categories):
            assert exact_epsilon(laws[a], laws[b]) <= epsilon * (1 + 1e-15)
    assert exact_epsilon(laws[0], laws[1]) == pytest.approx(epsilon, rel=1e-12)


def test_one_forgotten_category_is_caught():
    """Control: thresholds for k - 1 categories, used with k of them (randomised response off by one)."""
    k, epsilon = 4, 1.0
    wrong = response_table(epsilon, k - 1)
    rest = 2**62 - wrong.same
    law = np.array([wrong.same, *[rest / (k - 1)] * (k - 1)]) / 2**62
    assert exact_epsilon(law, np.roll(law, 1)) > epsilon + 0.2


def test_reports_follow_the_table_and_estimates_are_unbiased():
    truth = np.repeat([0, 1, 2], [6000, 3000, 1000])
    reports = randomized_response(truth, 1.0, Noise.simulated(3), stream="x", categories=3)
    assert reports.shape == truth.shape
    shares, errors = estimated_shares(reports, 1.0, 3)
    assert shares.sum() == pytest.approx(1.0)
    assert np.abs((shares - [0.6, 0.3, 0.1]) / errors).max() < 4
    # The stated error is the one that repetition shows.
    found = [estimated_shares(randomized_response(truth, 1.0, Noise.simulated(k), stream="x", categories=3), 1.0, 3)[0]
             for k in range(300)]
    assert np.std(found, axis=0) == pytest.approx(errors, rel=0.2)
    assert np.mean(found, axis=0) == pytest.approx([0.6, 0.3, 0.1], abs=4 * errors.max() / math.sqrt(300))


def test_a_large_epsilon_tells_the_truth_but_not_for_sure():
    table = response_table(1e6, 2)
    assert (table.other, table.same) == (1, 2**62 - 1)
    assert table.level == pytest.approx(62 * math.log(2))


@pytest.mark.parametrize(("values", "epsilon", "categories", "field"), [
    ([0, 2], 1.0, 2, "values"), ([-1], 1.0, 2, "values"), ([0.0], 1.0, 2, "values"), ([[0]], 1.0, 2, "values"),
    ([0], -1.0, 2, "epsilon"), ([0], math.nan, 2, "epsilon"), ([0], 1.0, 1, "categories"),
    ([0], 1.0, 1025, "categories"),
])
def test_what_is_refused(values, epsilon, categories, field):
    with pytest.raises(InvalidInput) as caught:
        randomized_response(values, epsilon, Noise.simulated(1), stream="x", categories=categories)
    assert caught.value.field == field


def test_reports_that_say_nothing_are_not_estimated_from():
    with pytest.raises(InvalidInput, match="nothing can be estimated"):
        estimated_shares([], 1.0)
    with pytest.raises(InvalidInput, match="nothing can be estimated"):
        estimated_shares([0, 1], 0.0)


def test_secure_reports():
    reports = randomized_response([3] * 2000, 2.0, Noise.secure(), stream="x", categories=5)
    truth = response_table(2.0, 5).truth
    assert abs(np.mean(reports == 3) - truth) < 8 * math.sqrt(truth * (1 - truth) / 2000)  # two in 10^15
    assert set(reports.tolist()) == {0, 1, 2, 3, 4}
