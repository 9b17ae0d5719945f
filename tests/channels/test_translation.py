"""From one notion to the others, to an attacker's odds, and to the source's own bounds."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.channels import (
    Exchangeable,
    FullPrior,
    IndependentRows,
    KernelMechanism,
    PriorConstants,
    RandomizedResponse,
    RowProduct,
    analyse,
    attack_risk,
    best_advantage,
    best_hits,
    closed_form,
    composed_level,
    how_private,
    printed_bounds,
    translate,
)
from confide.channels.kernels import h, h_inverse
from confide.channels.priors import as_law
from confide.contract.errors import InvalidInput
from confide.privacy import hockey_stick

PAIR = FullPrior([0.45, 0.05, 0.05, 0.45], letters=2, records=2)
STARS = IndependentRows([as_law("prior", [0.2533, 0.1821, 0.1821, 0.1873, 0.1953], normalise=True)])
RATES = np.linspace(0.0, 1.0, 41)


@given(st.integers(0, 10**6), st.sampled_from([(2, 1), (2, 2), (3, 2), (4, 1)]))
def test_a_channels_own_numbers_are_inside_every_translation(seed: int, size: tuple[int, int]) -> None:
    m, n = size
    draw = np.random.default_rng(seed)
    prior = FullPrior(draw.dirichlet(np.ones(m**n)) * 0.9 + 0.1 / m**n, m, n)
    channel = RowProduct([draw.dirichlet(np.ones(m), size=m) for _ in range(n)])
    found, risk = analyse(channel, prior), attack_risk(channel, prior)
    own = {"identifiability": found.identifiability, "differential privacy": found.dp,
           "guess of a row": found.adversary_success, "mutual information": found.mutual_information,
           "advantage between two values of a row": risk.advantage, "changed rows": found.distortion}
    marginals, _ = prior.marginals()
    for notion in ("dp", "identifiability", "mutual-information", "information-privacy"):
        for step in translate(notion, getattr(found, notion.replace("-", "_")), prior):
            assert step.needs
            assert step.source
            if step.quantity == "guess of a row, averaged over outputs":
                table = channel.tables[0]
                value = float((marginals[0][:, None] * table).max(axis=0).sum())
            else:
                value = own[step.quantity]
            if step.bound == "at most":
                assert value <= step.value + 1e-9, step
            else:
                assert value >= step.value - 1e-9, step


def test_steps_that_are_attained() -> None:
    """The kernel mechanism has eps + eps_X; randomised response the advantage and the distortion of its level."""
    it = KernelMechanism(prior=PAIR, epsilon=3.0)
    steps = {(step.quantity, step.bound): step.value for step in translate("identifiability", 3.0, PAIR)}
    assert it.dp() == pytest.approx(steps["differential privacy", "at most"], abs=1e-9)
    assert it.levels().adversary_success == pytest.approx(steps["guess of a row", "at most"], abs=1e-9)
    assert it.levels().distortion == pytest.approx(steps["changed rows", "at least"], abs=1e-9)
    response = RandomizedResponse(epsilon=1.0, letters=2)
    steps = {step.quantity: step.value for step in translate("dp", 1.0, IndependentRows([[0.5, 0.5]]))}
    assert attack_risk(response.channel, [0.5, 0.5]).advantage == pytest.approx(
        steps["advantage between two values of a row"], abs=1e-12)
    found = translate("mutual-information", it.levels().mutual_information, PAIR)
    assert found[-1].value == pytest.approx(h(3.0, 2, 2), abs=1e-9)  # Shannon's bound is met
    assert math.isinf(found[0].value)


def test_composition_adds_levels() -> None:
    """Two releases of the same row: the product channel is inside the bound, and at it for randomised response."""
    one = RandomizedResponse(epsilon=0.7, letters=3).channel.table()
    both = np.einsum("xa,xb->xab", one, one).reshape(3, 9)
    law = [0.2, 0.3, 0.5]
    found = analyse(both, law)
    assert found.dp == pytest.approx(composed_level([0.7, 0.7]), abs=1e-12)
    assert found.identifiability <= composed_level([0.7, 0.7], IndependentRows([law])) + 1e-12
    assert found.mutual_information <= 2 * analyse(one, law).mutual_information
    for wrong in ([], [-1.0], [math.nan]):
        with pytest.raises(InvalidInput):
            composed_level(wrong)


@pytest.mark.parametrize("arguments", [("gdp", 1.0), ("dp", -1.0), ("dp", math.nan), ("identifiability", 2.0)])
def test_translations_of_nothing(arguments) -> None:
    with pytest.raises(InvalidInput):
        translate(*arguments, PAIR)


# ---- attack risk


@pytest.mark.parametrize("letters", [2, 5])
def test_risk_is_the_neyman_pearson_trade_off(letters: int) -> None:
    """Against the hockey stick: hits at a rate a are the least over epsilon of e^epsilon a + delta(epsilon)."""
    draw = np.random.default_rng(letters)
    table = draw.dirichlet(np.full(letters, 0.7), size=letters)
    risk = attack_risk(table, np.full(letters, 1 / letters))
    pairs = [(table[a], table[b]) for a in range(letters) for b in range(letters) if a != b]
    assert risk.advantage == pytest.approx(max(hockey_stick(p, q, 0.0) for p, q in pairs), abs=1e-12)
    for rate, hits in zip(risk.false_alarms, risk.hits, strict=True):
        exact = max(min([1.0, *(math.exp(e) * rate + hockey_stick(p, q, e) for e in np.log(p / q))]) for p, q in pairs)
        assert hits == pytest.approx(exact, abs=1e-12)
    assert risk.exact


def test_risk_agrees_with_riskcal() -> None:
    """The library for attack risk, on the points that the page "How private is it?" names: two conversions of levels,
    and the exact trade-off of randomised response, whose losses lie on riskcal's grid.
    """
    from dp_accounting.pld import privacy_loss_distribution
    from riskcal import analysis

    for epsilon, delta in product((0.0, 0.1, 1.0, 3.0, 10.0), (0.0, 1e-9, 0.01, 0.5)):
        assert best_advantage(epsilon, delta) == pytest.approx(
            analysis.get_advantage_from_adp(epsilon=epsilon, delta=delta), abs=1e-12)
        misses = analysis.get_beta_from_adp(epsilon=epsilon, delta=delta, alpha=RATES)
        assert best_hits(RATES, epsilon, delta) == pytest.approx(1 - misses, abs=1e-12)
    for m in (2, 5):
        it = RandomizedResponse(epsilon=1.0, letters=m)
        risk = attack_risk(it.channel, np.full(m, 1 / m))
        law = privacy_loss_distribution.from_randomized_response(m * (1 - it.truth) / (m - 1), m,
                                                                 value_discretization_interval=1e-3)
        assert risk.advantage == pytest.approx(analysis.get_advantage_from_pld(law), abs=1e-9)
        assert risk.hits == pytest.approx(1 - analysis.get_beta_from_pld(law, alpha=risk.false_alarms), abs=1e-9)


def test_risk_of_a_whole_database_and_of_one_too_large() -> None:
    it = KernelMechanism(prior=PAIR, epsilon=3.0)
    risk = attack_risk(it.channel, PAIR)
    table = it.channel.table()
    pairs = [(a, b) for a in range(4) for b in range(4) if bin(a ^ b).count("1") == 1]
    assert risk.advantage == pytest.approx(max(hockey_stick(table[a], table[b], 0.0) for a, b in pairs), abs=1e-12)
    assert (risk.guess_before, risk.guess_after) == pytest.approx((0.9, 1 / (1 + math.exp(-3))), abs=1e-9)
    response = RandomizedResponse(epsilon=1.0, letters=300)
    bounds = attack_risk(response.channel, np.full(300, 1 / 300))
    assert not bounds.exact
    assert bounds.advantage == pytest.approx(math.tanh(0.5), abs=1e-9)
    certain = attack_risk(np.eye(2), [0.5, 0.5])
    assert (certain.advantage, certain.hits_at(0.0), certain.guess_after) == (1.0, 1.0, 1.0)
    assert best_hits([0.0, 0.5], math.inf).tolist() == [1.0, 1.0]  # a value may be ruled out for certain
    rare = [[0.975, 0.025], [0.005, 0.995]]
    reported, asked = attack_risk(rare, [0.5, 0.5]), attack_risk(rare, [0.5, 0.5], rates=[0.005])
    assert asked.hits_at(0.005) == pytest.approx(0.975, abs=1e-12)
    assert 0.975 <= reported.hits_at(0.005) <= 1.0  # between tabulated rates, from above


# ---- the source's bounds, and closed forms


def test_printed_bounds_beside_exact_values() -> None:
    """Spec 11, figure 2.4b."""
    found = printed_bounds(STARS, 0.74)
    assert found.dp == pytest.approx((0.01031, 0.34033), abs=1e-5)
    assert closed_form("dp", STARS, 0.74) == pytest.approx(0.32129, abs=1e-5)
    assert closed_form("identifiability", STARS, 0.74) == pytest.approx(0.35623, abs=1e-5)
    inside = printed_bounds(STARS, 0.4)
    assert inside.identifiability == (h_inverse(0.4, 5, 1),) * 2
    assert (inside.kernel_dp, inside.exact_kernel_dp) == pytest.approx((0.66, 0.33), abs=1e-3)
    assert printed_bounds(STARS, 0.0).dp == (math.inf, math.inf)
    assert math.isnan(found.kernel_dp)
    for wrong in (-0.1, 1.5, math.nan):
        with pytest.raises(InvalidInput):
            printed_bounds(STARS, wrong)


@pytest.mark.parametrize("prior", [STARS, IndependentRows([[0.2, 0.3, 0.5], [0.1, 0.45, 0.45]]), PAIR,
                                   Exchangeable.mixture([0.5, 0.5], [[0.8, 0.2], [0.2, 0.8]], 6)], ids=repr)
def test_the_source_brackets_every_closed_form(prior) -> None:
    found = PriorConstants.of(prior)
    for share in np.linspace(0.0, 1.0, 60):
        distortion = float(share * prior.records)
        bounds = printed_bounds(prior, distortion, found)
        for notion, (low, high) in (("dp", bounds.dp), ("identifiability", bounds.identifiability)):
            level = closed_form(notion, prior, distortion, found)
            if level is not None:
                assert low - 1e-9 <= level <= high + 1e-9 or (low, level) == (math.inf, math.inf)


def test_end_points_of_the_closed_forms() -> None:
    """Acceptance 4: a constant release's distortion costs nothing, although h^-1 does not say so."""
    assert closed_form("dp", IndependentRows([[0.3, 0.7]], [10]), 3.0) == 0.0
    assert closed_form("dp", IndependentRows([[0.2, 0.2, 0.6]], [10]), 4.0) == 0.0
    twice = IndependentRows([[0.2, 0.3, 0.5]], [2])
    assert closed_form("dp", twice, 0.8) == pytest.approx(math.log(3), abs=1e-12)
    assert closed_form("mutual-information", twice, 0.0) == twice.entropy
    assert closed_form("dp", PAIR, 0.5) is None  # no formula for all priors
    assert closed_form("dp", PAIR, 1.0) == 0.0
    assert closed_form("identifiability", IndependentRows([[1.0, 0.0]]), 0.5) == math.inf


# ---- the page


def test_the_page_is_for_every_channel() -> None:
    """Square or not, with or without a distortion, a prior, differential privacy; correlated rows."""
    titles = [section.title for section in how_private([[0.6, 0.4], [0.4, 0.6]]).sections()]
    assert titles == ["How private it is", "What a report says",
                      "What an attacker can do", "How private it could be",
                      "From one notion to the others"]
    odd = how_private([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]], [0.9, 0.1])
    assert len(odd.sections()) == 4
    assert "no differential privacy" in odd.sections()[0].blocks[0].paragraphs[0]
    assert odd.least == {"dp": None, "identifiability": None, "mutual-information": None}
    whole = how_private(KernelMechanism(prior=PAIR, epsilon=3.0).channel, PAIR)
    assert whole.least["identifiability"].value == pytest.approx(3.0, abs=1e-6)
    assert how_private(np.eye(2), [1.0, 0.0]).sections()
    assert how_private(np.eye(3)).sections()
    assert how_private([[1.0, 0.0], [1.0, 0.0]]).sections()
