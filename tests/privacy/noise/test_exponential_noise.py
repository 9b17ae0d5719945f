"""Standard exponentials from known bits, near ideal real ones in relative terms; their law; words."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from confide.audit import sampler_audit
from confide.audit.faulty_noise import DampedNoise
from confide.audit.history_loss import history_loss
from confide.contract import InvalidInput
from confide.contract.errors import SolverFailed
from confide.privacy import PureDP
from confide.privacy.noise import ForcedNoise, Noise, RecordingNoise, choices
from confide.privacy.noise.entropy import Entropy
from confide.privacy.noise.exponentials import exponentials

from false_alarms import alpha

MOST = 2**53 - 1


def drawn_from(entropy, upper, run, fraction):
    """One draw of given bits, and the two ends of where the ideal real number lies, to 60 digits."""
    field = 1 << (9 - run) if run < 10 else 0
    given = ((upper << 63) | (field << 53) | fraction).to_bytes(8, "little")
    rest = run - 10
    while rest >= 64:  # words of zeros
        given, rest = given + bytes(8), rest - 64
    if run >= 10:
        given += ((1 << (63 - rest)) | (fraction & ((1 << (63 - rest)) - 1))).to_bytes(8, "little")
    value = exponentials(1, entropy(given=given))[0]
    with mpmath.workdps(60):
        ends = [mpmath.mpf(2**53 + fraction + k) / (mpmath.mpf(2) ** (53 + run + 2)) for k in (0, 1)]
        return value, [-mpmath.log(end) if upper else -mpmath.log1p(-end) for end in ends]


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("run", [0, 1, 2, 9, 10, 11, 40, 60, 73, 74, 138, 500])
def test_each_draw_is_near_an_ideal_one(entropy, upper, run):
    """Spec targeted_search acceptance 11: within a relative 2^-50, for leading zeros of 60 bits and more too."""
    some = np.random.default_rng(run).integers(0, 2**53, 30).tolist()
    with mpmath.workdps(60):
        for fraction in [0, 1, 2, 3, MOST, MOST - 1, 2**52, *some]:
            value, ends = drawn_from(entropy, upper, run, fraction)
            for ideal in ends:
                assert abs(mpmath.mpf(value) / ideal - 1) <= mpmath.mpf(2) ** -50


def test_the_two_halves_meet_and_reach_far(entropy):
    """All of (0, infinity) is covered without a gap: the largest W of both halves is 1/2, and both stand for ln 2."""
    for upper in (0, 1):
        value, _ = drawn_from(entropy, upper, 0, MOST)
        assert value == pytest.approx(math.log(2), rel=1e-15)
    assert drawn_from(entropy, 0, 500, 0)[0] == pytest.approx(2.0**-502, rel=1e-15)
    assert drawn_from(entropy, 1, 500, 0)[0] == pytest.approx(502 * math.log(2), rel=1e-15)


def test_their_law(entropy):
    """Fixed bytes: Kolmogorov-Smirnov of all, and of the small ones, which a plain uniform would thin out."""
    values = exponentials(200_000, entropy(3))
    assert stats.kstest(values, "expon").pvalue > 1e-4
    assert stats.kstest(values * 1.02, "expon").pvalue < 1e-9  # control
    small = values[values < 2.0**-9]
    assert 300 < len(small) < 480  # 390 expected, 4.5 standard deviations
    assert stats.kstest(-np.expm1(-small) / -np.expm1(-(2.0**-9)), "uniform").pvalue > 1e-4
    large = values[values > math.log(2**9)] - math.log(2**9)
    assert 300 < len(large) < 480
    assert stats.kstest(large, "expon").pvalue > 1e-4


def test_bytes_are_used_once_and_more_are_asked_for_where_a_run_goes_on(entropy):
    source = entropy(3)
    values = exponentials(50_000, source)
    first = np.frombuffer(source.handed_out[: 8 * 50_000], dtype="<u8")
    long = ((first >> np.uint64(53)) & np.uint64(1023)) == 0
    assert source.requests == 2
    assert len(source.handed_out) == 8 * (50_000 + int(long.sum()))
    assert 20 < long.sum() < 80
    upper = (first >> np.uint64(63)) == 1
    assert values[long & ~upper].max() < -math.log1p(-(2.0**-11)) < values[~long & ~upper].min()
    assert values[long & upper].min() > 11 * math.log(2) > values[~long & upper].max()
    assert exponentials(0, entropy(3)).shape == (0,)


class Nothing(Entropy):
    """A broken source: zeros for ever."""

    def random_bytes(self, count: int) -> bytes:
        return bytes(count)


def test_a_broken_source_is_noticed():
    with pytest.raises(SolverFailed, match="only zeros"):
        exponentials(3, Nothing())


def test_words_are_the_bytes(entropy):
    assert choices.words(2, entropy(given=bytes(range(16)))).tolist() == [
        int.from_bytes(bytes(range(8)), "little"), int.from_bytes(bytes(range(8, 16)), "little")
    ]
    assert len(set(Noise.secure().words(1000, stream="x").tolist())) == 1000


@pytest.mark.parametrize("law", ["exponential", "words"])
def test_secure_draws_pass_the_sampler_audit_and_broken_ones_do_not(law):
    observed = RecordingNoise(Noise.simulated(0))
    getattr(observed, law)(4, stream="raw")
    share = alpha("noise.raw.sampler", cases=4)
    assert not sampler_audit(Noise.secure(), observed.draws[0], 2000, share).flagged
    assert sampler_audit(ForcedNoise([]), observed.draws[0], 2000, share).flagged
    if law == "exponential":
        assert sampler_audit(DampedNoise(Noise.simulated(5), 0.5), observed.draws[0], 2000, share).flagged


def test_values_protected_by_raw_draws_have_no_loss_in_a_history():
    """They have no center: a history with one has no loss that could be read off, and is not called harmless."""
    observed = RecordingNoise(Noise.simulated(0))
    observed.split(4, stream="split")
    observed.exponential(4, stream="raw")
    observed.words(4, stream="coins")
    pairs = [(draw, draw) for draw in observed.draws]
    assert history_loss(pairs[:1], PureDP(1.0), {}) == 0.0
    assert history_loss(pairs[:2], PureDP(1.0), {}) == history_loss(pairs[2:], PureDP(1.0), {}) == math.inf


@pytest.mark.parametrize(("draws", "ask"), [
    ([0.0, 1.0], "exponential"), ([-1.0, 1.0], "exponential"), ([True, True], "exponential"), ([1.0], "exponential"),
    ([-1, 1], "words"), ([0.5, 1.0], "words"), ([[1, 2]], "words"),
])
def test_replayed_draws_that_do_not_fit_are_refused(draws, ask):
    with pytest.raises(InvalidInput) as caught:
        getattr(Noise.replayed({"x": draws}), ask)(2, stream="x")
    assert caught.value.field == "draws"


def test_replayed_draws_come_as_they_are():
    noise = Noise.replayed({"e": [[1, 2]], "w": np.array([2**64 - 1], dtype=np.uint64)})
    assert noise.exponential((1, 2), stream="e").tolist() == [[1.0, 2.0]]
    assert noise.words(1, stream="w").tolist() == [2**64 - 1]


@pytest.mark.parametrize("law", ["exponential", "words"])
def test_bad_sizes_are_refused_and_use_nothing_up(law):
    noise = Noise.simulated(1)
    for size in (-1, 2.0, (2, -1)):
        with pytest.raises(InvalidInput) as caught:
            getattr(noise, law)(size, stream="x")
        assert caught.value.field == "size"
    assert getattr(noise, law)((2, 3), stream="x").shape == (2, 3)
    assert getattr(Noise.secure(), law)((2, 0, 3), stream="x").shape == (2, 0, 3)
