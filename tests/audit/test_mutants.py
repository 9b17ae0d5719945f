"""Classic bugs, planted: each audit flags the broken mechanism and lets the correct one pass."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from confide.audit import (
    AuditReport,
    Mutant,
    controls,
    detectable,
    exact_audit,
    replayed_audit,
    statistical_audit,
)
from confide.privacy import PureDP

from false_alarms import alpha

EPSILON = 1.0
RUNS = 20_000
DIMENSION = 4
CLAIM = PureDP(EPSILON)
LEVEL = alpha("audit.planted.sampled", cases=6)


def passes(sound, bugs, attack):
    """The correct mechanism is kept, every planted bug is flagged, so the report passes."""
    row = attack(sound).row()
    report = AuditReport((row,), controls(bugs, attack))
    assert report.passed, report.problems
    assert all(control.flagged for control in report.controls)


def response_laws(others):
    """Randomised response over 4 values; `others` is how many values the designer believes to be untrue."""
    total = math.exp(EPSILON) + others
    laws = {}
    for truth in range(4):
        law = np.full(4, (1 - math.exp(EPSILON) / total) / 3)
        law[truth] = math.exp(EPSILON) / total
        laws[truth] = law
    return laws


def test_randomised_response_off_by_one():
    passes(3, [Mutant("exact", "one value forgotten in the normaliser", 2)],
           lambda others: exact_audit(response_laws(others), CLAIM))


def biased_laws(bias):
    keep = math.exp(EPSILON) / (1 + math.exp(EPSILON))
    return {"yes": [keep, 1 - keep], "no": [1 - keep + bias, keep - bias]}


def test_biased_sampler():
    passes(0.0, [Mutant("exact", "a coin that prefers heads by 1e-6", -1e-6)],
           lambda bias: exact_audit(biased_laws(bias), CLAIM))


def laplace_ratios(scale):
    """Log ratios of a vector release; a neighbour moves each of the coordinates by 1, so the L1 sensitivity is d."""
    outputs = np.random.default_rng(21).laplace(0.0, scale, (2000, DIMENSION))
    return (np.abs(outputs - 1.0) - np.abs(outputs)).sum(axis=1) / scale


def test_noise_too_small_by_the_dimension():
    passes(DIMENSION / EPSILON, [Mutant("replayed", "noise divided by the dimension", 1 / EPSILON)],
           lambda scale: replayed_audit([laplace_ratios(scale)], CLAIM))


def shifted(scale):
    """The sum of all coordinates of a vector release, under the two data sets."""
    rng = np.random.default_rng(22)

    def run(centre):
        noise = rng.laplace(0.0, scale, (RUNS, DIMENSION)) if scale else np.zeros((RUNS, DIMENSION))
        return (centre + noise).sum(axis=1)

    return run(0.0), run(1.0)


def test_noise_too_small_or_missing_shows_in_samples():
    # Power for the divided noise: the event "sum > d" has rate q, and frequency 1/2 under the neighbour.
    density = [math.factorial(3 + k) / (math.factorial(k) * math.factorial(3 - k) * 2**k) for k in range(4)]
    rate = quad(lambda t: sum(c * t ** (3 - k) for k, c in enumerate(density)) * math.exp(-t) / 96, DIMENSION, 80)[0]
    assert detectable(math.log(0.5 / rate), RUNS, LEVEL, power=1 - LEVEL, rate=rate) > EPSILON
    bugs = [Mutant("statistical", "noise divided by the dimension", 1 / EPSILON),
            Mutant("statistical", "no noise", 0.0)]
    passes(DIMENSION / EPSILON, bugs, lambda scale: statistical_audit(*shifted(scale), CLAIM, alpha=LEVEL))


def released_twice(fresh):
    """The difference of two releases of records (0, 0) and of (0, 1), each with noise for half of epsilon."""
    rng = np.random.default_rng(23)

    def run(second):
        noise = rng.laplace(0.0, 2 / EPSILON, (2, RUNS))
        return second + noise[1 if fresh else 0] - noise[0]

    return run(0.0), run(1.0)


def test_reused_noise_shows_in_samples():
    passes(True, [Mutant("statistical", "the same noise added twice", False)],
           lambda fresh: statistical_audit(*released_twice(fresh), CLAIM, alpha=LEVEL))


def replayed_twice(fresh):
    """Log ratios of two releases; with one shared draw the pair (a, b) has a density only where b - a fits."""
    first, second = np.random.default_rng(24).laplace(0.0, 2 / EPSILON, (2, 1000))
    if not fresh:
        return np.full(1000, math.inf)
    return (np.abs(second - 1.0) - np.abs(second)) * EPSILON / 2 + 0.0 * first


def test_reused_noise_shows_in_a_replay():
    passes(True, [Mutant("replayed", "the same noise added twice", False)],
           lambda fresh: replayed_audit([replayed_twice(fresh)], CLAIM))


def ridge_shift(rows=10_000, gamma=10.0, bound=2.0):
    """gamma times the distance of two ridge estimates whose data differ in one row (truthful_regression 4.3)."""
    radius = bound * math.sqrt(rows / gamma) / 2
    cosine = (-bound + math.sqrt(bound**2 + 8 * radius**2)) / (4 * radius)
    sine = math.sqrt(1 - cosine**2)

    def estimate(row, answer):
        moments = gamma * np.diag([2.0, 1.0]) + np.outer(row, row)
        return np.linalg.solve(moments, math.sqrt(gamma * (rows - 1)) * np.array([bound, 0.0]) + row * answer)

    # The two rows mirror each other; each answer is the extreme one of the same sign as in the print's worst case.
    pair = estimate(np.array([cosine, sine]), -bound), estimate(np.array([cosine, -sine]), -bound)
    return gamma * float(np.linalg.norm(pair[0] - pair[1])), 2 * sine * (radius * cosine + bound)


def tail(distance):
    """Probability that one coordinate of that noise, of scale 1, is above a distance."""

    def beyond(angle):
        radius = distance / max(math.cos(angle), 1e-300)
        return (1 + radius) * math.exp(-radius)

    return quad(beyond, 0, math.pi / 2)[0] / math.pi


def half_space(scale, shift):
    """One coordinate of noise with density e^(-|v|/scale) in the plane, without and with the shift."""
    rng = np.random.default_rng(25)

    def draw():
        return rng.gamma(2.0, scale, RUNS) * np.cos(rng.uniform(0, 2 * math.pi, RUNS))

    return draw(), draw() + shift


def test_half_space_audit_of_a_sensitivity_that_is_too_small():
    """Plain ridge at n = 1e4, gamma = 10: the printed sensitivity is 6, the true one 32; the printed scale leaks."""
    shift, corrected = ridge_shift()
    assert shift == pytest.approx(32.04, abs=0.005)
    assert corrected > shift
    level = alpha("audit.half_space", cases=2)

    def attack(sensitivity):
        return statistical_audit(*half_space(sensitivity / EPSILON, shift), CLAIM, alpha=level)

    passes(corrected, [Mutant("statistical", "the printed sensitivity", 6.0)], attack)
    first, second = half_space(6.0, shift)
    odds = math.log(np.mean(second >= shift / 2) / np.mean(first >= shift / 2))
    assert odds == pytest.approx(2.79, abs=0.2)
    rate = tail(shift / 12)  # power at the middle threshold
    assert detectable(math.log((1 - rate) / rate), RUNS, level, power=1 - level, rate=rate) > EPSILON
