"""Where formulas end, numbers get small or levels meet the prior's own: answers stay right, and can be released."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import betaln

from cases import fast
from confide.channels import (
    Exchangeable,
    FullPrior,
    IndependentRows,
    KernelMechanism,
    PriorConstants,
    RowProduct,
    analyse,
    how_private,
    least_distortion,
    privacy_distortion,
)
from confide.channels.analyser import ChannelReport
from confide.contract.errors import InvalidInput
from confide.privacy import Noise

NOTIONS = ("dp", "identifiability", "mutual-information")


def level_of(notion: str, found: ChannelReport) -> float:
    return getattr(found, notion.replace("-", "_"))


@pytest.mark.parametrize("seed", fast(6, range(150)))
def test_what_is_least_can_be_released(seed: int) -> None:
    """From one changed row in 10^9 to a constant, under laws from even to nearly degenerate."""
    draw = np.random.default_rng(seed)
    m, rows = int(draw.integers(2, 5)), int(draw.integers(1, 6))
    law = np.maximum(draw.dirichlet(np.full(m, draw.choice([0.3, 1.0, 10.0]))), 1e-9)
    law /= law.sum()
    priors = (IndependentRows([law], [rows]), FullPrior(draw.dirichlet(np.ones(m * m)), m, 2),
              Exchangeable.mixture([0.5, 0.5], [law, draw.dirichlet(np.ones(m))], 2))
    prior = priors[seed % 3]
    end = PriorConstants.of(prior).constant_distortion
    for share in (1e-9, 0.3, 0.9, 1.0, 1.05):
        distortion = min(share * end, prior.records)
        for notion in NOTIONS:
            found = privacy_distortion(notion, prior, distortion, prior_provenance="public")
            levels = found.mechanism.levels(prior)
            assert len(found.mechanism.release([0] * prior.records, Noise.secure())) == prior.records
            assert level_of(notion, levels) <= found.upper + (1e-8 if notion == "mutual-information" else
                                                             2e-12 * (1.0 + found.upper))
            assert levels.distortion <= distortion * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("law", [[0.2, 0.8], [0.1, 0.2, 0.7]])
@pytest.mark.parametrize("distortion", [1e-6, 1e-10, 1e-12, 3e-16, 1e-17, 1e-100])
def test_very_few_changed_rows(law: list[float], distortion: float) -> None:
    """h^-1, to all digits; also where rows differ."""
    expected = math.log1p(-distortion) - math.log(distortion) + math.log(len(law) - 1)
    one = privacy_distortion("dp", law, distortion, records=1, letters=len(law))
    assert one.value == pytest.approx(expected, rel=1e-14)
    two = privacy_distortion("dp", [law, law[::-1]], 2 * distortion)
    assert two.value == pytest.approx(expected, rel=1e-13)
    assert privacy_distortion("mutual-information", law, distortion, records=1, letters=len(law)).value > 0


@pytest.mark.parametrize("notion", NOTIONS)
def test_uniform_priors(notion: str) -> None:
    for prior in (FullPrior([0.25] * 4, 2, 2), FullPrior([0.2] * 5, 5, 1)):
        end = prior.records * (prior.letters - 1) / prior.letters
        for distortion in (end, end * (1 - 1e-13), end * (1 - 1e-9)):
            found = privacy_distortion(notion, prior, distortion)
            assert found.value == pytest.approx(0.0, abs=1e-8)
            assert level_of(notion, found.mechanism.levels(prior)) <= 1e-8
    assert how_private([[0.5, 0.5], [0.5, 0.5]], [0.5, 0.5]).sections()


def test_kernels_at_their_least_level() -> None:
    for prior in (IndependentRows([[0.001, 0.999]]), FullPrior(np.kron([0.3, 0.7], [0.3, 0.7]), 2, 2),
                  IndependentRows([[0.6, 0.3, 0.1]], [1000])):
        level = PriorConstants.of(prior).kernel_level
        found = KernelMechanism(prior=prior, epsilon=level).levels()
        assert found.identifiability <= level * (1 + 1e-12)


@pytest.mark.parametrize(("cells", "distortion"), [([0.45, 0.05, 0.05, 0.45], 1.0), ([0.4, 0.1, 0.2, 0.3], 0.8)])
@pytest.mark.parametrize("above", [0.0, 1e-12, 5e-8])
def test_identifiability_next_to_the_priors_own(cells: list[float], distortion: float, above: float) -> None:
    """No channel is inside the program there; the upper end must not be that of a larger level."""
    prior = FullPrior(cells, 2, 2)
    level = PriorConstants.of(prior).prior_level + above
    found = least_distortion("identifiability", prior, level)
    true = distortion - above * (0.9 if distortion == 1.0 else 1.6)  # slopes of D_i* there, or steeper
    assert found.lower <= distortion
    assert found.upper >= true - 1e-12
    levels = found.mechanism.levels(prior)
    assert levels.identifiability <= level * (1 + 1e-11)
    assert levels.distortion <= found.upper + 1e-9


@pytest.mark.parametrize(("prior", "distortion", "expected"), [
    (FullPrior([0.999, 0.0004, 0.0005, 0.0001], 2, 2), 0.001089, 4.633238),
    (Exchangeable.mixture([0.9, 0.1], [[0.999, 0.001], [0.9, 0.1]], 4), 0.9999, 2.749967)])
def test_levels_whose_certificate_is_coarse(prior, distortion: float, expected: float) -> None:
    """Where D* is flat, one point's certificate cannot tell the side: the search goes around it."""
    end = PriorConstants.of(prior).constant_distortion
    found = privacy_distortion("dp", prior, distortion * end if distortion > 0.5 else distortion)
    assert found.upper - found.lower < 1e-5
    assert found.lower <= expected + 1e-6
    assert found.upper >= expected - 1e-6


@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("table", [[[0.8, 0.2], [0.3, 0.7]], [[1.0, 0.0], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]])
def test_rows_that_are_treated_alike(table: list[list[float]], rows: int) -> None:
    """By types as by all databases."""
    prior = Exchangeable.mixture([0.4, 0.6], [[0.7, 0.3], [0.2, 0.8]], rows)
    channel = RowProduct([np.array(table)], np.zeros(rows, dtype=np.int64))
    by_types, listed = (analyse(channel, law).to_dict() for law in (prior, FullPrior(prior.vector(), 2, rows)))
    assert by_types == pytest.approx(listed, rel=1e-11, abs=1e-12)


def test_many_rows_that_are_treated_alike() -> None:
    mixture = Exchangeable.mixture([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], 400)
    found = privacy_distortion("dp", mixture, 130.0).mechanism
    assert found.levels().distortion == pytest.approx(130.0, abs=1e-9)
    assert found.guarantees()


def test_constants_of_exchangeable_priors() -> None:
    """Acceptance 2; and parameters in the millions."""
    assert PriorConstants.of(Exchangeable.polya([1.0, 1.0], 10)).kernel_level == pytest.approx(2.397895273, abs=1e-9)
    twice = Exchangeable.mixture([0.5, 0.5], [[0.8, 0.2], [0.2, 0.8]], 3)
    assert PriorConstants.of(twice).kernel_level == pytest.approx(math.log(4), abs=1e-9)
    assert Exchangeable.polya([1e6, 1e6], 2).vector().sum() == pytest.approx(1.0, abs=1e-12)
    rows = np.arange(10**4 + 1)
    expected = betaln(rows + 300.0, 10**4 - rows + 500.0) - betaln(300.0, 500.0) - (
        math.log(10**4 + 1) + betaln(rows + 1, 10**4 - rows + 1))
    assert Exchangeable.polya([300.0, 500.0], 10**4).log_types == pytest.approx(expected[::-1], abs=1e-8)


@pytest.mark.slow
def test_a_prior_of_a_million_rows() -> None:
    """The rounding of a constructor is no fault of its parameters."""
    many = Exchangeable.polya([1e4, 1e4], 10**6)
    middle = -0.5 * math.log(2 * math.pi * 10**6 * 0.25 * (1 + 10**6 / 2e4)) + 1 / 8e4  # of the normal law, nearly
    assert many.log_types[10**6 // 2] == pytest.approx(middle, abs=2e-4)


def test_a_vector_that_can_be_read_in_two_ways() -> None:
    with pytest.raises(InvalidInput, match="letters=4 or letters=2"):
        privacy_distortion("dp", [0.45, 0.05, 0.05, 0.45], 0.4, records=2)
    found = privacy_distortion("dp", [0.45, 0.05, 0.05, 0.45], 0.4, letters=2, records=2)
    assert found.value == pytest.approx(math.log(3), abs=1e-6)


@pytest.mark.slow
def test_a_page_draws_nothing_between_what_is_known() -> None:
    """Two rows that depend on each other: the curve is that of programs; twelve: it stops where the formula does."""
    def drawn(prior, truth: float) -> list[tuple[float, float]]:
        table = np.array([[truth, 1 - truth], [1 - truth, truth]])
        channel = RowProduct([table], np.zeros(prior.records, dtype=np.int64))
        answer = how_private(channel, prior)
        text = str([block for section in answer.sections() for block in section.blocks])
        assert "rows depend on each other" in text
        return answer._known("dp", 1.1 * answer.constants.constant_distortion)

    pair = FullPrior([0.45, 0.05, 0.05, 0.45], 2, 2)
    for distortion, level in drawn(pair, 0.75)[::5]:
        assert level == pytest.approx(privacy_distortion("dp", pair, distortion).upper, abs=1e-6)
    many = Exchangeable.mixture([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], 12)
    assert max(distortion for distortion, _ in drawn(many, 0.75)) < PriorConstants.of(many).constant_distortion


def test_priors_that_are_none() -> None:
    for prior in ([[0.5, 0.5], [1.0]], "half", {"a": 1}, [1j, 1]):
        with pytest.raises(InvalidInput, match="prior"):
            privacy_distortion("dp", prior, 0.5)
    with pytest.raises(InvalidInput, match="different numbers of letters"):
        Exchangeable.mixture([0.5, 0.5], [[0.5, 0.5], [0.2, 0.3, 0.5]], 2)
    with pytest.raises(InvalidInput, match="weights"):
        Exchangeable.mixture([0.3], [[0.5, 0.5]], 2)
