"""Who is satisfied, in whole numbers; and what a lie can gain, against the worst pair of laws."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from parts_program import Parts, Unpriced
from scipy.special import ndtr

from confide.contract.errors import InvalidInput
from confide.privacy.gaussian import gdp_mu
from confide.privacy.noise.simulated import study_generator
from confide.programs import UnitDemand, incentives
from confide.programs.billboards import tally_of
from confide.programs.dual_dynamics import squared_budget, total_variation
from confide.programs.grids import PRICE_UNIT
from confide.programs.incentives import (
    additive_gain,
    alpha_units,
    audited_gain,
    check_payments,
    exact_alpha,
    judged,
    loss_of_a_lie,
    reassigned,
    relative_gain,
    truthfulness,
)

PROGRAMS = [UnitDemand(40, (8.0, 9.0, 3.0)), Parts(40, (8.0, 9.0, 3.0), parts=(0.3, 0.7, 1.0))]


def path(program: UnitDemand, seed: int, rounds: int = 7):  # type: ignore[no-untyped-def]
    draw = study_generator(seed)
    records = program.read(draw.random((program.people, program.rows)))
    return records, draw.integers(0, 2 * PRICE_UNIT + 1, (rounds, program.rows))


def utility(program, records, i, action, prices) -> Fraction:  # type: ignore[no-untyped-def]
    """At rational prices in units, in units of value times the scale."""
    if action < 0:
        return Fraction(0)
    load = Fraction(int(program.contributions(records, np.full((program.people, 1), action, np.int32))[i, action]),
                    2**20)
    return program.scale * (int(records.worth[i, action]) - load * prices[action])


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("cells", [1 << 22, 20])
def test_satisfied_by_exact_arithmetic(
        program: UnitDemand, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incentives, "_CELLS", cells)
    records, prices = path(program, 3)
    rounds, charged = len(prices), np.rint(prices.sum(axis=0) / len(prices)).astype(np.int64)
    tally = tally_of(records, program, prices)
    units = alpha_units(program, 0.1)
    found = judged(program, records, tally, charged, rounds, units)
    at = [Fraction(int(one)) for one in charged]
    exact = [Fraction(int(one), rounds) for one in prices.sum(axis=0)]
    assert 0 < found.unsatisfied.sum() < program.people
    for i in range(program.people):
        played = [int(program.respond(records, row)[i, 0]) for row in prices]
        have = sum(utility(program, records, i, a, at) for a in played)
        best = max(utility(program, records, i, a, at) for a in range(-1, program.rows))
        assert found.value[i] * program.scale - found.paid[i] == have
        assert found.missed[i] == rounds * best - have
        assert utility(program, records, i, int(found.favourites[i, 0]), at) == best
        assert found.unsatisfied[i] == (have < rounds * (best - units))
        if found.unsatisfied[i]:  # then she is as far from it, less the rounding, at the averages themselves
            would = max(utility(program, records, i, a, exact) for a in range(-1, program.rows))
            has = sum(utility(program, records, i, a, exact) for a in played) / rounds
            assert would - has > exact_alpha(program, 0.1) * PRICE_UNIT * program.scale
    starts, actions, times = reassigned(tally, found.unsatisfied, found.favourites, rounds)
    for i in range(program.people):
        mine = list(zip(actions[starts[i] : starts[i + 1], 0], times[starts[i] : starts[i + 1]], strict=True))
        of = slice(int(tally[0][i]), int(tally[0][i + 1]))
        assert mine == ([(found.favourites[i, 0], rounds)] if found.unsatisfied[i] else
                        list(zip(tally[1][of, 0], tally[2][of], strict=True)))


def test_exactly_alpha_is_satisfied() -> None:
    program = UnitDemand(2, (1.0,))
    records = program.read([[0.75], [0.75 + 2.0**-24]])
    # One of two rounds is too dear: half of the good, at .25 + .75 over 2.
    prices = np.array([[0], [PRICE_UNIT]])
    tally, charged = tally_of(records, program, prices), np.array([PRICE_UNIT // 2])
    found = judged(program, records, tally, charged, 2, alpha_units(program, 0.125))
    assert found.unsatisfied.tolist() == [False, True]


def test_alpha_is_rounded_down_and_loses_the_rounding_of_prices() -> None:
    program = PROGRAMS[1]
    assert alpha_units(program, 0.1) == math.floor(Fraction(0.1) * 2**44)
    assert alpha_units(program, 1e300) == alpha_units(program, 1e6)  # nobody can miss so much
    below = exact_alpha(program, 0.1)
    assert 0.1 - 2.0**-23 < below < 0.1 - 2.0**-24
    for alpha in (0.0, -0.1, math.nan, math.inf, 2.0**-24):
        with pytest.raises(InvalidInput, match="alpha"):
            exact_alpha(program, alpha)


def test_programs_without_payments_are_refused() -> None:
    with pytest.raises(InvalidInput, match="packing"):
        check_payments(Unpriced(40, (8.0,)), 10)
    with pytest.raises(InvalidInput, match="rounds"):
        check_payments(PROGRAMS[1], 2**20)
    check_payments(PROGRAMS[1], 10_000)


def test_figures() -> None:
    """Spec convex_programs 6.1 and 9.7."""
    for epsilon, variation in ((1.0, 0.0942), (0.1, 0.0110)):
        squared = squared_budget("gaussian", epsilon, 1e-6)
        found = total_variation("gaussian", squared)
        assert found == pytest.approx(variation, abs=5e-5)
        assert additive_gain(0.01, 1.0, found) == pytest.approx(0.01 + 1.01 * variation, abs=5e-5)
        assert relative_gain("gaussian", squared, 0.01, 1.0) == (1.0, additive_gain(0.01, 1.0, found))
        assert relative_gain("gaussian", squared, 0.0, 1.0, epsilon).added == pytest.approx(1e-6, rel=1e-6)


@pytest.mark.parametrize("law", ["gaussian", "discrete_gaussian"])
def test_no_event_of_two_shifted_gaussians_moves_by_more(law: str) -> None:
    """u* is V on the event and 0 beside it: the most that a path of prices can do for a lie."""
    squared, most = squared_budget(law, 1.0, 1e-6), 3.0  # type: ignore[arg-type]
    shift, worst = float(squared) ** 0.5, 0.0
    for epsilon in (0.0, 0.01, 0.1, 0.5, 1.0, 2.0):
        bound = relative_gain(law, squared, 0.0, most, epsilon)  # type: ignore[arg-type]
        for cut in np.linspace(-6, 6, 241):
            truth, lie = most * ndtr(-cut), most * ndtr(shift - cut)
            assert lie <= bound.factor * truth + bound.added * (1 + 1e-12)
            if epsilon == 0.0:
                worst = max(worst, (lie - truth) / bound.added)
    assert worst > (0.999 if law == "gaussian" else 0.7)


def test_a_lie_is_two_steps_where_neighbours_are_nothing() -> None:
    constants, squared = UnitDemand(10, (3.0, 4.0)).constants, Fraction(1, 9)
    assert loss_of_a_lie(constants, "replace", squared) == squared
    assert loss_of_a_lie(constants, "add_or_remove", squared) == 2 * squared


def test_three_terms_where_a_run_is_accepted_by_its_loads() -> None:
    mu = gdp_mu(1.0, 1e-6)
    path_part, audit_part = (2 * ndtr(mu * share**0.5 / 2) - 1 for share in (0.5, 0.5))
    found = audited_gain(alpha=0.01, most_value=1.0, path_variation=path_part, audit_variation=audit_part,
                         most_utility=2.0)
    assert found == pytest.approx(0.01 + 1.01 * path_part + 4.0 * audit_part)
    assert audited_gain(alpha=0.01, most_value=1.0, path_variation=path_part, audit_variation=0.0,
                        most_utility=2.0) == additive_gain(0.01, 1.0, path_part)


def test_a_promise_that_says_nothing_says_so() -> None:
    assert [truthfulness(gain, 1.0).vacuous for gain in (1.0, 0.999)] == [True, False]


@pytest.mark.parametrize("wrong", [
    lambda: additive_gain(-1.0, 1.0, 0.1), lambda: additive_gain(0.1, 1.0, 1.1), lambda: additive_gain(0.1, 1.0, -0.1),
    lambda: relative_gain("gaussian", Fraction(1), 0.1, 1.0, -1.0),
    lambda: audited_gain(alpha=0.1, most_value=1.0, path_variation=0.1, audit_variation=1.5, most_utility=1.0),
    lambda: audited_gain(alpha=0.1, most_value=1.0, path_variation=0.1, audit_variation=0.5, most_utility=-1.0)])
def test_numbers_out_of_range(wrong) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidInput):
        wrong()
