"""Statistical audits: the false-alarm probability is exact, the power is stated and reached."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st
from scipy.special import bdtr, bdtrc
from scipy.stats import binom, norm

from confide.audit import (
    Verdict,
    clopper_pearson,
    detectable,
    epsilon_lower_bound,
    samples_needed,
    statistical_audit,
)
from confide.contract import InvalidInput
from confide.privacy import GDP, ZCDP, ApproxDP, PureDP

from false_alarms import alpha

RUNS = 20_000


@pytest.mark.parametrize("level", [0.05, 1e-6, 1e-12])
@pytest.mark.parametrize(("hits", "runs"), [(0, 7), (3, 10), (10, 10), (900, 50_000), (0, 10**6), (77, 10**6)])
def test_clopper_pearson_inverts_the_binomial_tails(hits, runs, level):
    lower, upper = (float(bound) for bound in clopper_pearson(hits, runs, level))
    assert 0 <= lower <= hits / runs <= upper <= 1
    if hits < runs:
        assert bdtr(hits, runs, upper) == pytest.approx(level, rel=1e-6)
    if hits > 0:
        assert bdtrc(hits - 1, runs, lower) == pytest.approx(level, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_the_bound_is_wrong_with_probability_at_most_alpha(epsilon, delta):
    """Exact sums over all counts, for the most favourable event."""
    runs, level = 60, 0.05
    counts = np.arange(runs + 1)
    rate = (1 - delta) / (1 + math.exp(epsilon))
    chance = np.outer(binom.pmf(counts, runs, delta + math.exp(epsilon) * rate), binom.pmf(counts, runs, rate))
    bound = epsilon_lower_bound(counts[:, None], runs, counts, runs, level, delta=delta)
    assert chance[bound > epsilon].sum() <= level
    assert chance[bound > epsilon].sum() > level / 1000  # not so cautious as to be blind
    with np.errstate(divide="ignore"):
        guess = np.log(np.maximum(counts[:, None] / runs - delta, 0)) - np.log(counts / runs + 1e-300)
    assert chance[guess > epsilon + 1e-12].sum() > level  # control: the point estimate is no bound


@pytest.mark.parametrize("delta", [0.0, 0.2])
def test_the_bound_in_closed_form(delta):
    runs, level = 50, 1e-3
    edge = (level / 2) ** (1 / runs)
    bound = float(epsilon_lower_bound(runs, runs, 0, runs, level, delta=delta))
    assert bound == pytest.approx(math.log((edge - delta) / (1 - edge)), rel=1e-12)
    assert epsilon_lower_bound(0, runs, 0, runs, level) == -math.inf


def test_the_event_is_chosen_on_the_first_half_alone():
    rng = np.random.default_rng(16)
    early = np.concatenate([np.zeros(100), np.full(100, 9.0)]), np.full(200, 0.0)
    event = statistical_audit(np.tile(early[0], 2), np.tile(early[1], 2), PureDP(1.0), alpha=0.01).event
    for _ in range(5):
        late = rng.normal(0, 5, 200), rng.normal(20, 5, 200)
        audit = statistical_audit(np.append(early[0], late[0]), np.append(early[1], late[1]), PureDP(1.0), alpha=0.01)
        assert audit.event == event
        assert (audit.hits, audit.other_hits) == (event.hits(late[0]), event.hits(late[1]))


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("swapped", [False, True])
def test_every_side_of_a_threshold_is_tried(mirrored, swapped):
    """The odds are 5 on one side of the threshold and 9/5 on the other."""
    often, rarely = np.tile([1.0] * 5 + [0.0] * 5, 200), np.tile([1.0] + [0.0] * 9, 200)
    if mirrored:
        often, rarely = -often, -rarely
    audit = statistical_audit(*((rarely, often) if swapped else (often, rarely)), PureDP(1.0), alpha=1e-3)
    assert (audit.event.above, audit.event.favours_first) == (not mirrored, not swapped)
    assert audit.log_odds == pytest.approx(math.log(5))
    assert (audit.hits, audit.runs, audit.other_hits, audit.other_runs) == (500, 1000, 100, 1000)


def test_the_whole_audit_is_wrong_with_probability_at_most_alpha():
    """Exact sum over all outcomes of both halves, choice of the event included, for randomised response."""
    half, level, epsilon = 4, 0.4, 0.4
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))

    def chance(ones, rate):
        return float(binom.pmf(ones, half, rate))

    wrong = total = 0.0
    ladder = [[1.0] * k + [0.0] * (half - k) for k in range(half + 1)]
    for a, b, c, d in np.ndindex(half + 1, half + 1, half + 1, half + 1):
        weight = chance(a, keep) * chance(b, keep) * chance(c, 1 - keep) * chance(d, 1 - keep)
        audit = statistical_audit(ladder[a] + ladder[b], ladder[c] + ladder[d], PureDP(epsilon), alpha=level)
        total += weight
        wrong += weight * audit.flagged
    assert total == pytest.approx(1.0)
    assert 0 < wrong <= level


def respond(epsilon, truth, runs, rng):
    return np.where(rng.random(runs) < math.exp(epsilon) / (1 + math.exp(epsilon)), truth, 1 - truth)


def test_randomised_response_is_kept():
    rng = np.random.default_rng(11)
    level = alpha("audit.response.sound")
    audit = statistical_audit(respond(1.0, 1, RUNS, rng), respond(1.0, 0, RUNS, rng), PureDP(1.0), alpha=level)
    assert not audit.flagged
    assert audit.row().verdict is Verdict.KEPT
    assert audit.row().false_alarm == level
    assert 0.7 < audit.epsilon_lower < audit.log_odds < 1.3


def test_a_leak_is_flagged_as_the_power_says():
    rng = np.random.default_rng(12)
    level = alpha("audit.response.leaky", cases=2)
    assert detectable(1.5, RUNS, level, power=1 - level) > 1.0
    leak, other = respond(1.5, 1, RUNS, rng), respond(1.5, 0, RUNS, rng)
    for pair in ((leak, other), (other, leak)):
        audit = statistical_audit(*pair, PureDP(1.0), alpha=level)
        assert audit.row().verdict is Verdict.BROKEN
        assert 1.0 < audit.epsilon_lower < audit.log_odds


@pytest.mark.parametrize("scale", [1.0, 0.6])
def test_laplace_noise(scale):
    rng = np.random.default_rng(13)
    level = alpha("audit.laplace.sound") if scale == 1.0 else alpha("audit.laplace.leaky")
    first, second = rng.laplace(0, scale, RUNS), rng.laplace(1, scale, RUNS)
    audit = statistical_audit(first, second, PureDP(1.0), alpha=level)
    # the half-line that starts at the far centre shows everything: 1/2 against e^(-1/scale)/2
    assert detectable(1 / 0.6, RUNS, level, power=1 - level, rate=math.exp(-1 / 0.6) / 2) > 1.0
    assert audit.flagged == (scale < 1.0)
    assert audit.epsilon_lower <= 1 / scale


@pytest.mark.parametrize("sigma", [1.0, 0.3])
def test_gaussian_noise_against_zcdp_and_gdp(sigma):
    rng = np.random.default_rng(14)
    level = alpha("audit.gaussian.sound", cases=2) if sigma == 1.0 else alpha("audit.gaussian.leaky", cases=2)
    first, second = rng.normal(0, sigma, RUNS), rng.normal(1, sigma, RUNS)
    for claim in (ZCDP(0.5), GDP(1.0)):
        audit = statistical_audit(first, second, claim, alpha=level, delta=1e-3)
        assert audit.promised == claim.epsilon_at(1e-3)
        assert audit.flagged == (sigma < 1.0)
    # the half-line that starts at the far centre: 1/2 against the tail of the noise
    rate = float(norm.sf(1 / 0.3))
    true = math.log((0.5 - 1e-3) / rate)
    assert detectable(true, RUNS, level, power=1 - level, rate=rate, delta=1e-3) > ZCDP(0.5).epsilon_at(1e-3)


def test_gaussian_noise_against_approx_dp_uses_its_delta():
    rng = np.random.default_rng(15)
    samples = rng.normal(0, 1, 2000), rng.normal(1, 1, 2000)
    audit = statistical_audit(*samples, ApproxDP(1.0, 0.13), alpha=1e-9)
    assert audit.delta == 0.13
    assert not audit.flagged
    assert statistical_audit(*samples, ApproxDP(0.3, 1.0), alpha=1e-9).row().verdict is Verdict.VACUOUS


def test_a_difference_too_small_to_prove_is_still_estimated():
    first, second = np.tile([1.0, 1.0, 1.0, 0.0, 0.0], 8), np.tile([1.0, 1.0, 0.0, 0.0, 0.0], 8)
    audit = statistical_audit(first, second, PureDP(0.1), alpha=1e-9)
    assert (audit.epsilon_lower, audit.flagged) == (0.0, False)
    assert audit.log_odds == pytest.approx(math.log(1.5))


def test_no_noise_at_all():
    audit = statistical_audit(np.zeros(2000), np.ones(2000), PureDP(3.0), alpha=1e-9)
    assert audit.flagged
    assert audit.log_odds == math.inf
    assert (audit.hits, audit.other_hits) == (1000, 0)
    same = statistical_audit(np.zeros(2000), np.zeros(2000), PureDP(0.0), alpha=1e-9)
    assert (same.flagged, same.epsilon_lower) == (False, 0.0)


def test_infinite_outputs_are_outputs():
    first = np.where(np.arange(2000) % 2, math.inf, 0.0)
    assert statistical_audit(first, np.zeros(2000), PureDP(1.0), alpha=1e-6).flagged
    assert statistical_audit(-first, np.zeros(2000), PureDP(1.0), alpha=1e-6).flagged


@limits(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=60), st.lists(st.integers(0, 3), min_size=2, max_size=60))
def test_swapping_and_rescaling_change_nothing(first, second):
    one, two = np.array(first, dtype=float), np.array(second, dtype=float)
    audit = statistical_audit(one, two, PureDP(0.1), alpha=0.1)
    scaled = statistical_audit(7 * one - 3, 7 * two - 3, PureDP(0.1), alpha=0.1)
    assert scaled.epsilon_lower == audit.epsilon_lower
    swapped = statistical_audit(two, one, PureDP(0.1), alpha=0.1)
    if audit.event.favours_first != swapped.event.favours_first and audit.event.above == swapped.event.above:
        assert swapped.epsilon_lower == audit.epsilon_lower
    assert audit.event.hits(one) + audit.event.hits(two) >= 0
    assert audit.runs + audit.other_runs == one.size - one.size // 2 + two.size - two.size // 2


@pytest.mark.parametrize("true", [0.5, 1.5, 4.0])
def test_stated_power_is_reached(true):
    """Exact: the chance of counts at least as good as those that `detectable` rests on."""
    samples, level, power = 4000, 1e-6, 0.99
    claim = detectable(true, samples, level, power=power)
    runs, counts = samples // 2, np.arange(samples // 2 + 1)
    rate = 1 / (1 + math.exp(true))
    chance = np.outer(binom.pmf(counts, runs, 1 - rate), binom.pmf(counts, runs, rate))
    bound = epsilon_lower_bound(counts[:, None], runs, counts, runs, level)
    assert claim < true
    assert chance[bound > claim - 1e-12].sum() >= power
    assert chance[bound > true].sum() <= level


def test_more_samples_see_more():
    seen = [detectable(1.0, runs, 1e-9) for runs in (100, 1000, 10_000, 100_000, 10**7)]
    assert seen == sorted(seen)
    assert seen[0] < 0  # nothing
    assert seen[-1] > 0.98


def test_samples_needed():
    runs = samples_needed(1.5, 1.0, 1e-9)
    assert 1000 < runs < 20_000
    assert detectable(1.5, runs, 1e-9) > 1.0 >= detectable(1.5, int(runs * 0.95), 1e-9)
    assert samples_needed(1.5, 1.0, 1e-9, rate=0.01) > 5 * runs
    with pytest.raises(InvalidInput, match="not below"):
        samples_needed(1.0, 1.0, 1e-9)
    with pytest.raises(InvalidInput, match="too close"):
        samples_needed(1.0, 1.0 - 1e-9, 1e-9)


def test_bad_input_is_refused():
    fine = np.arange(10.0)
    for bad in ([1.0], np.zeros((3, 3)), [0.0, math.nan]):
        with pytest.raises(InvalidInput, match="second"):
            statistical_audit(fine, bad, PureDP(1.0), alpha=0.01)
    for level in (0.0, 1.0, -0.1, math.nan):
        with pytest.raises(InvalidInput, match="alpha"):
            statistical_audit(fine, fine, PureDP(1.0), alpha=level)
    for delta in (-0.1, 1.0):
        with pytest.raises(InvalidInput, match="delta"):
            statistical_audit(fine, fine, PureDP(1.0), alpha=0.01, delta=delta)
    with pytest.raises(InvalidInput, match="no epsilon"):
        statistical_audit(fine, fine, ZCDP(0.5), alpha=0.01)
    with pytest.raises(InvalidInput, match="no epsilon"):
        statistical_audit(fine, fine, ApproxDP(1.0, 1e-3), alpha=0.01, delta=1e-6)
    for hits, runs in ((-1, 10), (11, 10), (0, 0)):
        with pytest.raises(InvalidInput, match="hits"):
            clopper_pearson(hits, runs, 0.1)
    with pytest.raises(InvalidInput, match="rate"):
        detectable(1.0, 100, 0.1, rate=0.5)
