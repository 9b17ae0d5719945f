"""PrintedDude: the printed noise, step and average, with what is proved of them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy, Privacy
from confide.evidence.wu_2017.private_programs import PrintedDude
from confide.privacy.losses import GDP
from confide.privacy.noise import Noise
from confide.programs import PrivDude, UnitDemand
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.instances import popular


def small(**options) -> PrintedDude:  # type: ignore[no-untyped-def]
    return PrintedDude(UnitDemand(300, 37, goods=4), **{"epsilon": 1.0, "delta": 1e-6, "rounds": 30, **options})


def test_noise_and_step_are_the_printed_ones() -> None:
    """Spec convex_programs 2 (source setting) and 11.1."""
    one = PrintedDude(UnitDemand(1000, 50, goods=10), 1.0, 1e-6, rounds=1000)
    assert one.round_noise_std == one.schedule.main_noise_std == pytest.approx(3169.661, rel=1e-6)
    per_round, each = 1.0 / math.sqrt(8 * 1000 * math.log(2e6)), 1e-6 / 2000
    assert one.round_noise_std == pytest.approx(math.sqrt(2) * math.sqrt(2 * math.log(1.25 / each)) / per_round,
                                                rel=1e-12)
    spread = 1000 + one.round_noise_std * math.sqrt(2 * math.log(4 * 1000 * 10 / 0.05))
    assert one.descent.natural_step == pytest.approx(2 / (math.sqrt(1000) * spread), rel=1e-12)


def test_prices_follow_the_printed_step() -> None:
    mechanism, values = small(), popular(300, 4, seed=2)
    board = mechanism.run(values, Noise.simulated(3)).billboard
    mechanism.check(board)
    assert board.burn_in == 0
    for t in range(1, 30):
        moved = board.prices[t - 1] / PRICE_UNIT - mechanism.descent.natural_step * board.slacks[t - 1] / LOAD_UNIT
        assert np.abs(np.clip(moved, 0, 2) - board.prices[t] / PRICE_UNIT).max() <= 2.0**-24
    with pytest.raises(InvalidInput):
        PrivDude(mechanism.program, 1.0, 1e-6, rounds=30, burn_in=0).check(board)


def test_shares_are_separate_decodes() -> None:
    mechanism, values = small(), popular(300, 4, seed=2)
    outcome = mechanism.run(values, Noise.simulated(3))
    for i in range(0, 300, 29):
        share = {name: outcome.shares[name][i].as_py() for name in outcome.shares.column_names}
        assert share == mechanism.decode(values[i], i, outcome.billboard)


def test_rounds_are_w_squared_unless_they_are_named() -> None:
    assert PrintedDude(UnitDemand(20, 3, goods=3), 1.0, 1e-6).rounds == 400
    assert PrintedDude.for_budget(program=UnitDemand(20, 5, goods=2), epsilon=1.0, delta=1e-6).rounds == 400
    with pytest.raises(Refused, match=r"1,000,000 rounds"):
        PrintedDude(UnitDemand(1000, 50, goods=10), 1.0, 1e-6)


def test_what_is_proved_of_the_printed_noise() -> None:
    """Seventeen times the noise: exact accounting proves far less loss than is asked for, and the event says so."""
    one = PrintedDude(UnitDemand(1000, 50, goods=10), 1.0, 1e-6, rounds=1000)
    assert one.noise_std / (math.sqrt(2)) == pytest.approx(70.9, rel=1e-3)
    assert one.proved.epsilon < 0.06
    assert GDP(math.sqrt(one.squared_budget) * (1 + 1e-12)).delta_at(one.proved.epsilon) <= 1.0001e-6
    [event] = one.events()
    assert Fraction(event.mu) ** 2 >= one.squared_budget  # type: ignore[attr-defined]
    claims = one.guarantees().of(Privacy)
    assert [claim.loss.epsilon for claim in claims] == [one.proved.epsilon] * 2 + [1.0]  # type: ignore[attr-defined]


def test_the_printed_claim_is_false_for_large_epsilon() -> None:
    """At epsilon = 20,000 the noise is so small that exact accounting gives more than was asked for."""
    one = small(epsilon=20_000.0)
    [false] = one.guarantees().of(Privacy, claimable=False)
    assert false.loss.epsilon == 20_000 < one.proved.epsilon  # type: ignore[attr-defined]
    assert "epsilon'" in false.note
    assert not small().guarantees().of(Privacy, claimable=False)


def test_a_printed_sensitivity_that_is_too_small_costs_privacy() -> None:
    """Erratum 10's kind: noise in proportion to less than what a record moves."""
    right, wrong = small(), small(l2_sensitivity=math.sqrt(2) / 8)
    assert wrong.round_noise_std == pytest.approx(right.round_noise_std / 8)
    assert wrong.proved.epsilon > 8 * right.proved.epsilon
    assert wrong.squared_budget == pytest.approx(64 * float(right.squared_budget), rel=1e-9)


def test_printed_accuracy_can_be_claimed_where_it_follows_from_ours() -> None:
    ours = PrintedDude(UnitDemand(300, 37, goods=4), 1.0, 1e-6, rounds=90_000)
    claims = ours.guarantees().of(Accuracy)
    assert len(claims) == 4
    assert ours.regret <= claims[2].bound
    assert claims[2].note.startswith("the proof")
    large = PrintedDude(UnitDemand(10**6, 10**5, goods=10), 1.0, 1e-6, rounds=10)
    unproved = large.guarantees().of(Accuracy, claimable=False)
    assert len(unproved) == 2
    assert "1,000,000,000,000 rounds" in unproved[0].note
    assert all(one.vacuous for one in large.guarantees().of(Accuracy))


def test_averaging_all_rounds_keeps_the_start() -> None:
    """Spec convex_programs 9.4: without noise, all rounds of the start are in the average."""
    program, values = UnitDemand(2000, 100, goods=10), popular(2000, 10, seed=1)
    silent = {("slack", t): np.zeros(10) for t in range(400)}
    literal = PrintedDude(program, 1e9, 0.4, rounds=400).run(values, Noise.replayed(silent))
    ours = PrivDude(program, 1e9, 0.4, rounds=300, burn_in=100).run(values, Noise.replayed(silent))
    over = [one.diagnostics["excess"].max() / 100 for one in (literal, ours)]  # type: ignore[union-attr]
    assert over[0] > 0.2
    assert over[1] < 0.08


@pytest.mark.parametrize("bad", [
    {"burn_in": 10}, {"step": "adagrad"}, {"law": "discrete_gaussian"}, {"start": (0.1,) * 4}, {"delta": 0.5},
    {"burn_share": 0.2}, {"l2_sensitivity": 0.0}, {"rounds": -1}, {"failure_probability": 0.0}, {"program": None}])
def test_options_that_the_print_has_not(bad: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        PrintedDude(**{"program": UnitDemand(300, 37, goods=4), "epsilon": 1.0, "delta": 1e-6, "rounds": 30, **bad})  # type: ignore[arg-type]
