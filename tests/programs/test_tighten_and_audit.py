"""TightenAndAudit: what is accepted fits, the budget adds up, certificates are about the whole supply."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
import pytest
from highs_reference import optimum
from scipy.stats import norm

from cases import fast
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy
from confide.privacy.noise import Noise
from confide.programs import PrivDude, RoundDude, TightenAndAudit, UnitDemand, certificate
from confide.programs.billboards import tally_of, value_and_load
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT, Constants
from confide.programs.instances import popular
from confide.programs.whole_parts import drawn_rounds, responses_in


def small(people: int = 400, goods: int = 4, **options) -> TightenAndAudit:  # type: ignore[no-untyped-def]
    program = UnitDemand(people, people // (2 * goods), goods=goods)
    return TightenAndAudit(program, **{"epsilon": 6.0, "delta": 1e-6, "rounds": 40, "burn_in": 20, **options})


@pytest.mark.parametrize("options", fast(2, [
    {}, {"law": "discrete_gaussian"}, {"neighbours": "add_or_remove"}, {"audit_share": 0.3}, {"slack": 0.0},
    {"burn_in": 0, "rounds": 1}]))
def test_shares_are_separate_decodes(options: dict[str, object]) -> None:
    mechanism, values = small(**options), popular(400, 4, seed=2)
    outcome = mechanism.run(values, Noise.simulated(3))
    board = outcome.billboard
    mechanism.check(board)
    shares = outcome.shares["action"].to_pylist()
    assert [mechanism.decode(values[i], i, board) for i in range(400)] == [{"action": one} for one in shares]
    drawn = responses_in(mechanism.program, mechanism.program.read(values), board.main_prices,
                         drawn_rounds(board.public_seed, 400, mechanism.rounds))[:, 0]
    assert shares == (drawn.tolist() if board.accepted else [-1] * 400)
    if not options:
        assert board.accepted


def test_what_is_released_is_the_load_of_what_coins_drew() -> None:
    mechanism, values = small(rounds=1, burn_in=0), popular(400, 4, seed=2)
    coins = np.arange(32)
    board = mechanism.run(values, Noise.replayed({
        ("slack", 0): np.zeros(4), "coins": coins, "audit": np.array([0.0, 1.0, -2.0, 30.0])})).billboard
    load = np.bincount(values.argmax(axis=1), minlength=4)  # prices are zero in the only round
    assert np.array_equal(board.audit, (load + np.array([0, 1, -2, 30])) * LOAD_UNIT)
    left = 50 * LOAD_UNIT - mechanism.reserve_units
    assert np.array_equal(board.slacks[0], left - load * LOAD_UNIT)
    assert (left > 0).all()


def test_a_load_above_its_supply_is_accepted_by_rare_noise_alone() -> None:
    """Spec convex_programs 6.2: noise of a row below -z s_a, which has probability beta/k."""
    mechanism = TightenAndAudit(UnitDemand(400, (60.0, 400.0)), epsilon=6.0, delta=1e-6, rounds=1, burn_in=0)
    z, s = mechanism.quantile, mechanism.audit_noise_std
    assert norm.cdf(-z) == pytest.approx(0.05 / 2, rel=1e-12)
    assert Fraction(s) ** 2 * mechanism.squared_budget * Fraction(1, 2) >= 2
    for wanting, accepted in ((60, True), (61, False)):
        values = np.zeros((400, 2))
        values[:wanting, 0] = 1.0
        noise = {("slack", 0): np.zeros(2), "coins": np.arange(32), "audit": np.array([-z * s - 1e-5, 0.0])}
        outcome = mechanism.run(values, Noise.replayed(noise))
        assert outcome.billboard.accepted == accepted
        assert sum(one == 0 for one in outcome.shares["action"].to_pylist()) == (60 if accepted else 0)
    below = mechanism.run(values, Noise.replayed({**noise, "audit": np.array([-z * s - 1.1, 0.0])}))
    assert below.billboard.accepted
    assert below.diagnostics["excess"].tolist() == [1.0, 0.0]  # type: ignore[index]


def test_nothing_is_delivered_where_the_audit_does_not_certify() -> None:
    mechanism, values = small(rounds=1, burn_in=0), np.tile([1.0, 0.0, 0.0, 0.0], (400, 1))
    for seed in range(5):
        outcome = mechanism.run(values, Noise.simulated(seed))
        assert not outcome.billboard.accepted
        assert set(outcome.shares["action"].to_pylist()) == {-1}
        assert outcome.diagnostics == {  # type: ignore[union-attr]
            "value": 0.0, "load": pytest.approx(np.zeros(4)), "excess": pytest.approx(np.zeros(4))}
        mechanism.check(outcome.billboard)


@pytest.mark.parametrize("law", ["gaussian", "discrete_gaussian"])
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_prices_and_audit_cost_the_budget_and_no_more(law: str, share: float) -> None:
    mechanism = small(law=law, audit_share=share, people=4000)
    plan, squared = mechanism.schedule, mechanism.squared_l2_sensitivity
    spent = sum(squared / Fraction(plan.round_noise_std(t)) ** 2 for t in range(plan.total)) + squared / Fraction(
        mechanism.audit_noise_std) ** 2
    assert 0.999999 * mechanism.squared_budget < spent <= mechanism.squared_budget
    cost = sum(Fraction(one.mu) ** 2 if law == "gaussian" else 2 * Fraction(one.rho)  # type: ignore[attr-defined]
               for one in mechanism.events())
    assert mechanism.squared_budget <= cost <= mechanism.squared_budget * Fraction(1.0000001)


def test_tightening_in_closed_form() -> None:
    mechanism = TightenAndAudit(UnitDemand(100_000, 5000, goods=10), 1.0, 1e-6)
    mu, z = 0.2367043807, norm.isf(0.005)
    audit, s = 2**0.5 / (mu * 0.5**0.5), 2**0.5 / (mu * (0.5 * 0.9) ** 0.5)
    assert mechanism.noise_std == pytest.approx(s, rel=1e-6)
    wanted = 2 * z * audit + z * s + 0.1 * z * math.sqrt(5000)
    assert mechanism.reserve_units / LOAD_UNIT == pytest.approx(np.full(10, wanted), rel=1e-6)
    assert mechanism.priced.supplies == pytest.approx((5000 - wanted,) * 10, rel=1e-6)


def test_certificates_are_about_the_whole_supply() -> None:
    """With hardly any noise: the supply that is set aside is lost, and the certificate says so."""
    program, values = UnitDemand(120, 15, goods=4), popular(120, 4, seed=3)
    mechanism = TightenAndAudit(program, 1e6, 0.49, 400, 400, slack=1.0)
    outcome = mechanism.run(values, Noise.simulated(1))
    records = program.read(values)
    sums = value_and_load(program, records, tally_of(records, program, outcome.billboard.main_prices))
    found = certificate(outcome.billboard)
    lost = optimum(program.linear_program(records)) - sums[0] / (400 * PRICE_UNIT)
    reduced = certificate(PrivDude(mechanism.priced, 1e6, 0.49, 400, 400)._board(
        outcome.billboard.prices, outcome.billboard.slacks))
    assert lost > reduced.gap  # as if nothing had been set aside
    assert lost <= found.gap < lost + 3.0
    assert (sums[1] / (400 * LOAD_UNIT) - 15 <= found.excess).all()
    assert found.excess.max() == 0.0


def test_a_secure_run_is_settled() -> None:
    mechanism, values = small(people=200, goods=2), popular(200, 2, seed=2)
    values[17, 1] = np.nan
    with pytest.raises(InvalidInput, match="row 17"):
        mechanism.run(values, Noise.simulated(1))
    outcome = mechanism.run(values, Noise.secure())
    mechanism.check(outcome.billboard)
    assert outcome.shares["action"][17].as_py() == -1
    for i in (0, 1, 150, 199):
        assert outcome.shares["action"][i].as_py() == mechanism.decode(values[i], i, outcome.billboard)["action"]


def test_promises() -> None:
    feasible, value = small().guarantees().of(Accuracy)
    assert (feasible.bound, feasible.failure_probability, feasible.vacuous) == (0.0, 0.05, False)
    assert value.vacuous
    long = TightenAndAudit(UnitDemand(10**6, 10**5, goods=10), 1.0, 1e-6, 100_000, 0)
    assert not any(one.vacuous for one in long.guarantees())


def test_a_billboard_that_no_run_makes_is_refused() -> None:
    mechanism, values = small(), popular(400, 4, seed=2)
    board = mechanism.run(values, Noise.simulated(3)).billboard
    for change in ({"accepted": not board.accepted}, {"accepted": 1}, {"audit": board.audit[:3]},
                   {"audit": board.audit + 100 * LOAD_UNIT}, {"audit": board.audit.astype(float)},
                   {"reserve_units": board.reserve_units - 1}, {"public_seed": ""}, {"public_seed": "x"},
                   {"tau": board.tau * 2}):
        with pytest.raises(InvalidInput):
            mechanism.check(replace(board, **change))
    other = PrivDude(mechanism.program, 1.0, 1e-6, 40, 20).run(values, Noise.simulated(1)).billboard
    for ask in (mechanism.check, partial(mechanism.decode, values[0], 0)):
        with pytest.raises(InvalidInput, match="AuditedBillboard"):
            ask(other)


@dataclass(frozen=True)
class NotPacking(UnitDemand):
    @cached_property
    def constants(self) -> Constants:
        return replace(super().constants, packing=False)


@pytest.mark.parametrize("bad", [
    {"epsilon": 0.0}, {"delta": 1.0}, {"audit_share": 0.0}, {"audit_share": 1.0}, {"slack": -0.1},
    {"failure_probability": 1.0},
    {"rounds": 0}])
def test_public_faults_are_refused_before_any_record(bad: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        small(**bad)


def test_what_cannot_be_kept_is_refused_and_says_what_would_do() -> None:
    with pytest.raises(InvalidInput, match="packing"):
        TightenAndAudit(NotPacking(400, 50, goods=4), epsilon=6.0, delta=1e-6)
    with pytest.raises(InvalidInput, match="program"):
        TightenAndAudit("a program", epsilon=6.0, delta=1e-6)  # type: ignore[arg-type]
    with pytest.raises(Refused, match=r"infeasible budget.*supply.*times as large.*epsilon of") as found:
        small(epsilon=0.5)
    supply, epsilon = found.value.remedies
    least, enough = 50 * supply.settings["factor"], epsilon.settings["epsilon"]
    half = TightenAndAudit(UnitDemand(400, least, goods=4), epsilon=0.5, delta=1e-6, rounds=40, burn_in=20)
    assert half.reserve == pytest.approx(least / 2, rel=0.01)
    assert small(epsilon=enough).reserve.max() == pytest.approx(25.0, rel=0.15)
    with pytest.raises(Refused, match="infeasible budget"):
        TightenAndAudit(UnitDemand(400, 0, goods=4), epsilon=0.5, delta=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("people", "audited", "flagged"), [(20_000, 0.071, 0.115), (100_000, 0.016, 0.024)])
def test_losses_of_the_specification(people: int, audited: float, flagged: float) -> None:
    """Spec convex_programs 9.6: mean loss of four seeds against the optimum, all rows within supply."""
    goods, b = 10, people // 20
    program = UnitDemand(people, b, goods=goods)
    losses = []
    for seed in range(4):
        values = popular(people, goods, seed=seed)
        records = program.read(values)
        quiet = PrivDude(program, 1e6, 0.49, 1000, 1000).run(records, Noise.simulated(seed))
        best = quiet.diagnostics["value"]  # type: ignore[index]
        outcomes = [mechanism.run(records, Noise.simulated(seed + 50)) for mechanism in (
            TightenAndAudit(program, 1.0, 1e-6), RoundDude(program, 1.0, 1e-6, batch=1), RoundDude(program, 1.0, 1e-6))]
        assert all(one.diagnostics["excess"].max() == 0.0 for one in outcomes)  # type: ignore[index]
        losses.append([1 - one.diagnostics["value"] / best for one in outcomes])  # type: ignore[index]
    audit, single, batched = np.mean(losses, axis=0)
    assert audit == pytest.approx(audited, rel=0.1)
    assert batched < single < 1.05 * flagged
