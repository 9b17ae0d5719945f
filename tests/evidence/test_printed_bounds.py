"""The print's bounds on programs."""

from __future__ import annotations

import math

import pytest

from confide.contract.errors import InvalidInput
from confide.evidence.wu_2017.private_programs.printed_bounds import (
    concentrated_factor,
    gaussian_factor,
    leading_terms,
    printed_accuracy,
    printed_deviation,
    printed_factor,
    printed_regret,
    smallest_supply,
)
from confide.privacy.gaussian import gdp_mu
from confide.programs.guarantees import (
    bernstein,
    certified_excess,
    corrected_regret,
    regret_of_steps,
)

USUAL = {"rows": 10, "tau": 1.0, "width": 1e5, "failure_probability": 0.05}


S = math.sqrt(2) / gdp_mu(1.0, 1e-6)


def test_the_numbers_of_the_spec() -> None:
    """Spec convex_programs 11.1 and 11.2."""
    printed = {"sensitivity": math.sqrt(2), "epsilon": 1.0, "delta": 1e-6}
    assert corrected_regret(**USUAL, noise_std=S, rounds=1e9) == pytest.approx(406.600, rel=1e-5)  # type: ignore[arg-type]
    assert printed_regret(**USUAL, **printed) == pytest.approx(281802.6, rel=1e-5)  # type: ignore[arg-type]
    assert printed_deviation(**printed, rounds=1000) == pytest.approx(3169.661, rel=1e-6)
    assert bernstein(1000, 1, 5) == pytest.approx(101.68, rel=1e-4)


def test_noise_of_an_averaged_row() -> None:
    """Spec convex_programs 9.1."""
    assert printed_factor(1.0, 1e-6, 1e3) == pytest.approx(70.9, rel=1e-3)
    assert printed_factor(1.0, 1e-6, 1e8) == pytest.approx(87.7, rel=1e-3)
    assert printed_factor(0.1, 1e-6, 1e3) == pytest.approx(709, rel=1e-3)
    assert concentrated_factor(1.0, 1e-6) == pytest.approx(5.35, rel=1e-3)
    assert concentrated_factor(0.1, 1e-6) == pytest.approx(52.7, rel=1e-3)
    assert gaussian_factor(1.0, 1e-6) == pytest.approx(4.225, rel=1e-3)
    assert gaussian_factor(0.1, 1e-6) == pytest.approx(36.30, rel=1e-3)


@pytest.mark.parametrize(("goods", "epsilon", "printed", "a_priori", "certificate"), [
    (10, 1.0, 1.8e6, 782, 354), (10, 0.1, 2.1e7, 6718, 3038), (100, 1.0, 2.3e6, 476, 438)])
def test_smallest_supplies(goods: int, epsilon: float, printed: float, a_priori: int, certificate: int) -> None:
    """Spec convex_programs 9.2, whose numbers are rounded; a supply is rounded up."""
    found = smallest_supply(goods=goods, epsilon=epsilon)
    assert found.printed == pytest.approx(printed, rel=0.03)
    assert abs(found.a_priori - a_priori) <= 1
    assert abs(found.certificate - certificate) <= 1


def test_smallest_supplies_are_where_the_promises_begin() -> None:
    found = smallest_supply(goods=10, epsilon=1.0)
    s = S / math.sqrt(0.9)
    assert 10 * certified_excess(10, s, 0.05) <= 0.05 * 10 * found.certificate
    assert 10 * certified_excess(10, s, 0.05) > 0.05 * 10 * (found.certificate - 1)
    for copies, fits in ((found.printed, True), (found.printed - 2, False)):
        said = printed_accuracy(people=20 * copies, rows=10, tau=1.0, width=20.0 * copies, sensitivity=math.sqrt(2),
                                epsilon=1.0, delta=1e-6, failure_probability=0.05)
        assert (said.excess <= 0.05 * 10 * copies) is fits


def test_the_printed_theorem_is_vacuous_at_usual_sizes() -> None:
    usual = {"rows": 10, "tau": 1.0, "sensitivity": math.sqrt(2), "epsilon": 1.0, "delta": 1e-6,
             "failure_probability": 0.05}
    small = printed_accuracy(people=10**5, width=1e5, most_excess=1e5, **usual)  # type: ignore[arg-type]
    large = printed_accuracy(people=10**8, width=1e8, most_excess=1e8, **usual)  # type: ignore[arg-type]
    assert small.vacuous
    assert not large.vacuous
    assert small.welfare_loss == small.excess == pytest.approx(2 * 281802.6, rel=1e-5)
    assert small.rounds == 1e10


def test_table_2() -> None:
    assert leading_terms("bundles", rows=100, size=3, epsilon=0.5).excess == 600
    assert leading_terms("flow", rows=36, size=4, epsilon=1.0).excess == 72
    knapsack = leading_terms("knapsack", rows=4, size=10, epsilon=1.0)
    assert (knapsack.welfare, knapsack.excess) == (80, 8)
    assert leading_terms("shared_resources", rows=5, size=4, epsilon=2.0).excess == 20
    game = leading_terms("aggregative_game", rows=4, size=0.5, epsilon=1.0)
    assert (game.welfare, game.excess, game.corrected) == (None, 4, 8)
    # Section 3: with sets, d-demand improves to k sqrt(d)/epsilon.
    bundles = leading_terms("bundles", rows=100, size=9, epsilon=1.0)
    assert bundles.corrected / bundles.excess == pytest.approx(math.sqrt(2) / 3)
    for bad in ({"family": "auction"}, {"rows": 0}, {"size": 0.0}, {"epsilon": -1.0}):
        with pytest.raises(InvalidInput):
            leading_terms(**{"family": "flow", "rows": 3, "size": 2.0, "epsilon": 1.0, **bad})  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [
    {"epsilon": 0.0}, {"delta": 1.0}, {"width": 0.5}, {"sensitivity": 0.0}, {"rows": 0}, {"failure_probability": 0.0}])
def test_printed_regret_checks_its_numbers(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        printed_regret(**{**USUAL, "sensitivity": 1.0, "epsilon": 1.0, "delta": 1e-6, **bad})  # type: ignore[arg-type]


def test_other_numbers_that_are_checked() -> None:
    for call in (lambda: printed_deviation(1.0, 1.0, 1e-6, 0.5), lambda: certified_excess(0, 1.0, 0.05),
                 lambda: smallest_supply(goods=10, epsilon=1e-12), lambda: smallest_supply(goods=10, epsilon=1.0,
                                                                                          most_excess=1.0),
                 lambda: regret_of_steps(steps=[1.0], taus=[1.0, 1.0], width=1.0, noise_std=1.0, rounds=1,
                                         failure_probability=0.1),
                 lambda: regret_of_steps(steps=[0.0], taus=[1.0], width=1.0, noise_std=1.0, rounds=1,
                                         failure_probability=0.1)):
        with pytest.raises(InvalidInput):
            call()
