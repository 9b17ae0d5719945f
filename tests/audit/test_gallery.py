"""The gallery: every planted bug is flagged, every sound form is kept, and the stated power is right."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from confide.audit import exhibits, flag_probability, gallery_section, sampler_audit, statistical_audit
from confide.audit.faulty_noise import ShiftedNoise
from confide.privacy import Noise, PureDP
from confide.privacy.noise import RecordingNoise

from false_alarms import alpha

LEVEL = alpha("audit.gallery", cases=3)
EXHIBITS = exhibits(LEVEL)
# what the auditor must catch (design section 7, and the noiseless fake)
BUGS = ("randomised response with an error by one", "divided by the dimension", "missing noise", "biased sampler",
        "bounds taken from the data", "stop that depends on the data", "seed", "forgotten", "used twice",
        "natural logarithm", "clock", "continues after", "threshold taken", "tenth of its noise", "shown beside")


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda exhibit: exhibit.bug)
def test_the_bug_is_flagged_and_the_sound_form_kept(exhibit):
    report = exhibit.report()
    assert report.passed, report.problems
    assert exhibit.power > 1 - LEVEL
    assert report.false_alarm == exhibit.false_alarm <= LEVEL
    assert exhibit.consequence


def test_nothing_is_missing():
    assert all(any(word in exhibit.bug for exhibit in EXHIBITS) for word in BUGS)
    table = gallery_section(LEVEL).blocks[0]
    assert len(table.rows) == len(EXHIBITS)
    assert {row[5] for row in table.rows} == {"flagged"}


def test_stated_power_is_a_lower_bound_of_the_frequency():
    """Where the audit is in doubt: randomised response of level 1.5 against a claim of 1.0, with few samples."""
    epsilon, claim, samples, level = 1.5, 1.0, 500, 0.01
    stated = flag_probability(epsilon, claim, samples, level)
    assert 0.3 < stated < 0.9
    rng = np.random.default_rng(1)
    truth = np.exp(epsilon) / (1 + np.exp(epsilon))
    flags = [statistical_audit(rng.random(samples) < truth, rng.random(samples) < 1 - truth, PureDP(claim),
                               alpha=level).flagged for _ in range(300)]
    assert stats.binomtest(sum(flags), 300, stated, alternative="less").pvalue > 1e-6
    assert flag_probability(1.5, 1.6, 10_000, level) == 0.0


def test_power_of_the_sampler_audit_is_a_lower_bound_too():
    """The formula of the biased exhibit, at a bias that is missed as often as not."""
    draws, level = 400, 0.01
    least = float(stats.kstwo.isf(level / 2, draws))
    shift = -np.log(2 * (0.5 - least))
    stated = float(stats.binom.cdf(np.floor((0.5 - least) * draws), draws, np.exp(-shift) / 2))
    assert 0.4 < stated < 0.6
    observed = RecordingNoise(Noise.simulated(0))
    observed.laplace(1.0, 1, stream="x")
    flags = sum(sampler_audit(ShiftedNoise(Noise.simulated(k), float(shift)), observed.draws[0], draws, level).flagged
                for k in range(60))
    assert stats.binomtest(flags, 60, stated, alternative="less").pvalue > 1e-6


def test_shifted_noise_moves_every_law():
    for law, scale in (("discrete_laplace", 8.0), ("gaussian", 8.0), ("vector_laplace", 8.0)):
        plain = getattr(Noise.simulated(1), law)(scale, 3, stream="x")
        moved = getattr(ShiftedNoise(Noise.simulated(1), 0.5), law)(scale, 3, stream="x")
        assert moved - plain == pytest.approx(4.0, abs=1e-8)
