"""Formulas of the least distortion against linear programs on small priors, the relaxed problem, and slopes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from confide.channels import FullPrior, IndependentRows, PriorConstants
from confide.channels.kernels import h, h_inverse
from confide.channels.rows import dp_distortion, dp_level, identifiability_distortion, information
from confide.evidence.wang_2016.privacy_notions import studies
from confide.evidence.wang_2016.privacy_notions.relaxation import relaxed_distortion
from confide.evidence.wang_2016.privacy_notions.studies import uncertified_distortion

OWN, KERNEL = math.log(9), math.acosh(9)


def test_h_and_its_inverse() -> None:
    """Acceptance 3."""
    for epsilon in np.geomspace(1e-6, 30, 13):
        for m, n in ((2, 1), (5, 10), (1000, 10**7)):
            assert h_inverse(h(epsilon, m, n), m, n) == pytest.approx(epsilon, rel=1e-9 if epsilon < 1e-5 else 1e-10)
    for m, n, epsilon in ((2, 1, 0.5), (3, 4, 1.0), (5, 8, 0.1), (4, 3, 3.0)):
        assert relaxed_distortion(epsilon, m, n) == pytest.approx(h(epsilon, m, n), abs=1e-9)


def test_the_pairs_formulas() -> None:
    """Acceptance 5: at ten levels each, and nothing below ln 9 for identifiability."""
    for epsilon in np.linspace(0.1, 3.5, 10).tolist():
        expected = 0.1 + 0.9 * math.exp(-epsilon) if epsilon <= OWN else h(epsilon, 2, 2)
        assert uncertified_distortion(studies.PAIR, epsilon, joint=False) == pytest.approx(expected, abs=1e-7)
        assert studies.dp_level(expected) == pytest.approx(epsilon, abs=1e-9)
    for epsilon in np.linspace(OWN + 1e-6, 3.5, 10).tolist():
        expected = 1.9 - 0.1 * math.exp(epsilon) if epsilon <= KERNEL else h(epsilon, 2, 2)
        assert uncertified_distortion(studies.PAIR, epsilon, joint=True) == pytest.approx(expected, abs=1e-7)
        assert studies.identifiability_level(expected) == pytest.approx(epsilon, abs=1e-9)
    with pytest.raises(Exception, match="was not solved"):
        uncertified_distortion(studies.PAIR, OWN - 1e-3, joint=True)


@pytest.mark.parametrize("seed", range(4))
def test_random_priors(seed: int) -> None:
    """Acceptance 6, on a few: h from eps^_X and eps~_X on; the two programs bracket each other."""
    draw = np.random.default_rng(seed)
    m, n = ((2, 2), (3, 2), (2, 3), (4, 1))[seed]
    prior = FullPrior(draw.dirichlet(np.full(m**n, 2.0)) * 0.9 + 0.1 / m**n, m, n)
    found = PriorConstants.of(prior)
    level = found.row_level + 0.01
    assert uncertified_distortion(prior, level, joint=False) == pytest.approx(h(level, m, n), abs=1e-7)
    level = found.kernel_level + 1e-6
    assert uncertified_distortion(prior, level, joint=True) == pytest.approx(h(level, m, n), abs=1e-7)
    middle = 0.5 * found.row_level
    dp = uncertified_distortion(prior, middle, joint=False)
    assert uncertified_distortion(prior, middle + found.prior_level, joint=True) <= dp + 1e-9
    if middle >= found.prior_level:
        assert dp <= uncertified_distortion(prior, middle, joint=True) + 1e-9


def test_independent_rows() -> None:
    """Acceptance 4: nine databases, both notions, against the programs."""
    prior = IndependentRows([[0.2, 0.3, 0.5]], [2])
    for epsilon, dp, ident in ((0.9163, 6 / 7, 1.0), (math.log(3), 0.8, 0.8)):
        assert dp_distortion(prior, epsilon) == pytest.approx(dp, abs=1e-4)
        found = uncertified_distortion(prior, epsilon, joint=False)
        assert found == pytest.approx(dp_distortion(prior, epsilon), abs=1e-7)
        assert identifiability_distortion(prior, epsilon) == pytest.approx(ident, abs=1e-4)
        assert uncertified_distortion(prior, epsilon, joint=True) == pytest.approx(
            identifiability_distortion(prior, epsilon), abs=1e-7)
    unequal = IndependentRows([[0.2, 0.3, 0.5], [0.1, 0.45, 0.45]])
    assert dp_distortion(unequal, 1.7918) == pytest.approx(0.478571, abs=1e-4)
    assert identifiability_distortion(unequal, 1.7918) == pytest.approx(0.65, abs=1e-4)


def test_slopes_of_the_least_information() -> None:
    """Acceptance 8: eps_d* is the slope for independent rows, and not for the pair."""
    prior = IndependentRows([[0.2, 0.3, 0.5], [0.1, 0.45, 0.45]])
    for distortion in (0.2, 0.5, 0.8):
        slope = (information(prior, distortion - 1e-6) - information(prior, distortion + 1e-6)) / 2e-6
        assert slope == pytest.approx(dp_level(prior, distortion), abs=1e-4)
    slope = (studies.information(0.4 - 1e-6) - studies.information(0.4 + 1e-6)) / 2e-6
    assert slope == pytest.approx(0.804719, abs=1e-5)
    assert studies.dp_level(0.4) == pytest.approx(math.log(3), abs=1e-9)
