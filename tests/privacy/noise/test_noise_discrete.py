"""Noise on the integers against its exact probabilities."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from confide.privacy.noise import balls, discrete, simulated

PASS, FAIL = 1e-4, 1e-9
REACH = np.arange(-400, 401)


def masses(law: str, scale: float) -> np.ndarray:
    weights = np.exp(-np.abs(REACH) / scale) if law == "discrete_laplace" else np.exp(-(REACH**2) / (2 * scale**2))
    return weights / weights.sum()


def chi_square_p(values: np.ndarray, law: str, scale: float) -> float:
    """Pearson's test over the integers expected at least five times, and the two tails."""
    expected = len(values) * masses(law, scale)
    middle = REACH[expected >= 5]
    low, high = middle.min(), middle.max()
    edges = np.r_[-np.inf, np.arange(low, high) + 0.5, np.inf]
    cells = np.histogram(REACH, edges, weights=expected)[0]
    return stats.chisquare(np.histogram(values, edges)[0], cells * len(values) / cells.sum()).pvalue


def ball_draws(law, scale, count, source):
    sampler = discrete.ball_laplace if law == "discrete_laplace" else discrete.ball_gaussian
    return np.array(sampler(Fraction(scale), count, source))


def simulated_draws(law, scale, count, generator):
    sampler = simulated._discrete_laplace if law == "discrete_laplace" else simulated._discrete_gaussian
    return sampler(float(scale), count, generator)


@pytest.mark.parametrize("law", ["discrete_laplace", "discrete_gaussian"])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2, 3), Fraction(7, 3), Fraction(31, 3)])
def test_ball_and_simulated_draws_have_the_exact_probabilities(law, scale, entropy):
    for values in (
        ball_draws(law, scale, 3000, entropy(4)),
        simulated_draws(law, scale, 3000, np.random.default_rng(5)),
    ):
        assert chi_square_p(values, law, float(scale)) > PASS
        if scale > 1:  # below, nearly all draws are zero and the two scales hardly differ
            assert chi_square_p(values, law, 0.7 * float(scale)) < FAIL
            assert chi_square_p(values, law, 1.3 * float(scale)) < FAIL


def test_rounded_continuous_noise_is_noticed():
    """Control: the rounding of a normal draw is not the discrete Gaussian."""
    rounded = np.rint(np.random.default_rng(6).normal(scale=2 / 3, size=60_000))
    assert chi_square_p(rounded, "discrete_gaussian", 2 / 3) < FAIL


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(5, 7), Fraction(10)])
def test_geometric_draws_by_strata(scale, entropy):
    """One uniform in each of 2^12 strata: the share of a tail differs from its probability by less than one stratum.

    This checks P(X > k) = q^(k+1), q = exp(-1/scale), to 1/4096 and without a false alarm.
    """
    strata, bits = 2**12, balls.starting_bits(balls.magnitude(scale), 1)
    tails = np.random.default_rng(8)
    given = b"".join(
        ((stratum << (bits - 12)) | (int.from_bytes(tails.bytes(bits // 8), "big") >> 12)).to_bytes(bits // 8, "big")
        for stratum in range(strata)
    )
    source = entropy(0, given=given)
    values = np.array(discrete._floors_of_exponentials(scale, [discrete._FLOOR] * strata, source))
    assert source.handed_out == given
    ratio = np.exp(-1 / float(scale))
    for k in range(40):
        assert abs((values > k).sum() - strata * ratio ** (k + 1)) < 1
    assert values.min() == 0


@pytest.mark.parametrize("law", ["discrete_laplace", "discrete_gaussian"])
def test_opendp_draws_look_right(law, entropy):
    """OpenDP reads its own entropy: three binomial counts, each outside its limits with probability below 1e-11."""
    values = discrete.draw(law, Fraction(3), 8000, entropy(0))
    probabilities = masses(law, 3.0)
    for hits, event in ((values == 0, REACH == 0), (values > 0, REACH > 0), (np.abs(values) > 4, np.abs(REACH) > 4)):
        assert stats.binomtest(int(hits.sum()), len(hits), probabilities[event].sum()).pvalue > 1e-11
    assert values.dtype == np.int64


def test_doubles_go_to_opendp_and_other_fractions_to_balls(entropy, monkeypatch):
    asked = []
    monkeypatch.setattr(discrete, "library", lambda law, scale, count: asked.append(scale) or np.zeros(count))
    source = entropy(0)
    discrete.draw("discrete_laplace", Fraction(0.1), 3, source)
    assert asked == [0.1]
    assert source.requests == 0
    assert discrete.draw("discrete_laplace", Fraction(1, 10), 3, source).dtype == np.int64
    assert discrete.draw("discrete_gaussian", Fraction(1, 10), 3, source).shape == (3,)
    assert asked == [0.1]
    assert source.requests > 0


@pytest.mark.parametrize("law", ["discrete_laplace", "discrete_gaussian"])
def test_the_largest_scale_is_far_from_saturation(law, entropy):
    """P(|noise| >= 2^62) < 2^-184 at the largest scale; the smallest scale gives zeros."""
    top = Fraction(discrete.LARGEST_SCALE)
    assert np.abs(discrete.draw(law, top, 50, entropy(0))).max() < 2**62
    assert np.abs(discrete.draw(law, top - Fraction(1, 3), 50, entropy(0))).max() < 2**62
    assert not discrete.draw(law, Fraction(5e-324), 5, entropy(0)).any()
    assert not discrete.draw(law, Fraction(1, 3 * 10**300), 5, entropy(0)).any()
