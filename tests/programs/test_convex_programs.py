"""Programs written in cvxpy: near the whole optimum, shares are decodes, unit demand is UnitDemand's, saved whole."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from convex_models import ABOVE_OWN, DIMINISHING, KNAPSACKS, MODELS, SIGNED, Model

from cases import fast
from confide.contract.digests import canonical
from confide.contract.encoding import decode, encode
from confide.contract.errors import InvalidInput, Refused
from confide.numerics.shards import ThreadShards
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.programs import ConvexProgram, PrivDude, UnitDemand, certificate, check_tau, convex_program
from confide.programs.convex.public_bounds import Extent
from confide.programs.convex.template import Template
from confide.programs.exact_optimum import dual_value
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.instances import popular


def unit_demand(people: int, goods: int, supply: float, worth: str = "worth") -> ConvexProgram:
    x, values = cp.Variable(goods, nonneg=True), cp.Parameter(goods)
    return convex_program(people, supply, value=values @ x, coupling=x, constraints=[cp.sum(x) <= 1],
                          record={worth: (values, 0, 1)}, tau=1.0)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "people", "rounds"), fast(1, [
    (DIMINISHING, 20, 120), (DIMINISHING, 60, 400), (ABOVE_OWN, 40, 600), (KNAPSACKS, 40, 600), (SIGNED, 40, 600)]))
def test_near_the_whole_optimum_without_noise(model: Model, people: int, rounds: int) -> None:
    program, data = model.program(people), model.data(people, seed=3)
    silent = Noise.replayed({("slack", t): np.zeros(program.rows) for t in range(2 * rounds)})
    outcome = PrivDude(program, 1e6, 0.49, rounds=rounds, burn_in=rounds).run(data, silent)
    found, best = outcome.diagnostics, model.optimum(people, data)  # type: ignore[union-attr]
    assert abs(found["value"] - best) < 0.005 * abs(best)
    assert found["excess"].sum() < 0.001 * people
    # No prices prove less than the optimum; the certificate's price path does the same.
    upper = dual_value(program, data, np.clip(outcome.billboard.average_prices, 0, 2 * model.tau))
    assert best <= upper + 1e-6 * people
    assert best <= found["value"] + certificate(outcome.billboard, 0.05).gap + 1e-6 * people
    assert program.oracle_error < 2e-4


@pytest.mark.parametrize("model", fast(2, [DIMINISHING, ABOVE_OWN, KNAPSACKS, SIGNED]))
def test_shares_are_separate_decodes_whatever_the_order_and_threads(model: Model) -> None:
    program, data = model.program(30), model.data(30, seed=1)
    mechanism = PrivDude(program, 1.0, 1e-6, rounds=6, burn_in=3)
    outcome = mechanism.run(data, Noise.simulated(3))
    mechanism.check(outcome.billboard)
    for i in range(0, 30, 5):
        share = {name: outcome.shares[name][i].as_py() for name in outcome.shares.column_names}
        own = {name: table[i] for name, table in data.items()}
        assert share == mechanism.decode(own, i, outcome.billboard)
    order = study_generator(2).permutation(30)
    again = mechanism.run({name: table[order] for name, table in data.items()}, Noise.simulated(3),
                          shards=partial(ThreadShards, workers=2))
    assert np.array_equal(again.billboard.slacks, outcome.billboard.slacks)
    assert again.shares["actions"].to_pylist() == [outcome.shares["actions"][int(i)].as_py() for i in order]
    # Parts of records that are solved elsewhere, after others, give the same bits.
    records, prices = program.read(data), outcome.billboard.prices[4]
    whole = program.respond(records, prices)
    for part in (slice(7, 9), slice(29, 30), slice(0, 30)):
        assert np.array_equal(program.respond(records.take(part), prices), whole[part])


def test_unit_demand_in_cvxpy_is_unit_demand() -> None:
    own, values = unit_demand(300, 4, 37), popular(300, 4, seed=2).astype(np.float64)
    families = UnitDemand(300, 37, goods=4)
    assert own.shape is not None
    assert own.shape.single
    assert own.oracle_error == 0.0
    mine, theirs = own.constants, families.constants
    for name in ("largest_entry", "largest_sum", "least_entry", "most_value", "least_value", "width", "tau", "signed",
                 "packing", "step_scale"):
        assert getattr(mine, name) == getattr(theirs, name), name
    both = [PrivDude(one, 1.0, 1e-6, rounds=40, burn_in=20).run(data, Noise.simulated(3))
            for one, data in ((own, {"worth": values}), (families, values))]
    assert np.array_equal(both[0].billboard.prices, both[1].billboard.prices)
    assert np.array_equal(both[0].billboard.slacks, both[1].billboard.slacks)
    assert both[0].diagnostics["value"] == both[1].diagnostics["value"]  # type: ignore[union-attr]
    for mine, theirs in zip(both[0].shares["actions"].to_pylist(), both[1].shares["actions"].to_pylist(), strict=True):
        rows = np.array(mine).reshape(-1, 5)
        assert np.where(rows[:, 0] < 0, -1, rows[:, 1:].argmax(axis=1)).tolist() == theirs


@pytest.mark.parametrize("model", fast(2, list(MODELS)))
def test_no_two_responses_lie_further_apart_than_sigma(model: Model) -> None:
    program, draw = model.program(40), study_generator(7)
    records = program.read(model.data(40, seed=4))
    one, high = program.constants, program.highest_prices
    loads = np.concatenate([program.contributions(records, program.respond(
        records, (draw.random(program.rows) * high * scale).astype(np.int64))) for scale in (0.0, 0.1, 0.5)])
    apart = np.linalg.norm((loads[:, None] - loads[None]) / LOAD_UNIT, axis=2)
    assert 0.2 * one.l2_sensitivity("replace") < apart.max() <= one.l2_sensitivity("replace")
    assert np.linalg.norm(loads / LOAD_UNIT, axis=1).max() <= one.l2_sensitivity("add_or_remove")
    assert np.abs(loads).max() <= one.largest_entry * LOAD_UNIT
    assert one.signed == (model is SIGNED)
    assert program.values(records, program.respond(records, high)).max() <= one.most_value * PRICE_UNIT


def test_saved_whole_and_decoded_without_cvxpy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, data = DIMINISHING.program(12), DIMINISHING.data(12, seed=1)
    mechanism = PrivDude(program, 1.0, 1e-6, rounds=4, burn_in=2)
    outcome = mechanism.run(data, Noise.simulated(3))
    outcome.save(tmp_path)
    columns: dict[str, bytes] = {}
    manifest = encode(mechanism, columns)
    assert canonical(outcome.to_dict()["mechanism"]) == canonical(manifest)
    known = {one.__name__: one for one in (PrivDude, ConvexProgram, Template, Extent)}
    again = decode(manifest, known, columns)
    assert again == mechanism
    assert hash(again.program) == hash(program)
    assert again.program != KNAPSACKS.program(12)
    share = {name: outcome.shares[name][5].as_py() for name in outcome.shares.column_names}
    monkeypatch.setitem(sys.modules, "cvxpy", None)  # a participant need not have it
    assert again.decode({name: table[5] for name, table in data.items()}, 5, outcome.billboard) == share
    assert again.certify(outcome.billboard).gap == outcome.certificate.gap  # type: ignore[union-attr]


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    program, data = DIMINISHING.program(12), DIMINISHING.data(12, seed=1)
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    monkeypatch.setitem(sys.modules, "osqp", None)
    with pytest.raises(InvalidInput, match=r"pip install 'confide\[convex\]'"):
        DIMINISHING.program(12)
    with pytest.raises(InvalidInput, match=r"osqp is not installed"):
        program.respond(program.read(data), np.zeros(3, dtype=np.int64))


def test_bad_records() -> None:
    program, data = DIMINISHING.program(20), DIMINISHING.data(20, seed=1)
    mechanism = PrivDude(program, 1.0, 1e-6, rounds=3, burn_in=2)
    for place, wrong in ((4, np.nan), (9, 1.5), (11, -0.25)):
        data["need"][place, 1] = wrong
    with pytest.raises(InvalidInput, match="row 4"):
        mechanism.run(data, Noise.simulated(1))
    outcome = mechanism.run(data, Noise.secure())
    for place in (4, 9, 11):
        assert outcome.shares["actions"][place].as_py() == [-1] * 4
        with pytest.raises(InvalidInput, match=r"\[0, 1\]"):
            program.one({name: table[place] for name, table in data.items()})
    assert mechanism.decode(None, 4, outcome.billboard) == {"actions": [-1] * 4, "times": [3]}
    good = {name: table[0] for name, table in data.items()}
    for bad in ({"worth": good["worth"]}, {**good, "other": 1}, [1, 2], {**good, "need": [0.1, 0.2]}):
        with pytest.raises(InvalidInput):
            program.one(bad)
        with pytest.raises(InvalidInput):
            program.read(bad)


def test_what_nobody_can_have_is_null() -> None:
    x, least = cp.Variable(2, nonneg=True), cp.Parameter()
    program = convex_program(
        3, 4.0, value=-cp.sum_squares(x), coupling=cp.hstack([cp.sum(x)]), constraints=[x <= 1, cp.sum(x) >= least],
        record={"least": (least, 0, 5)}, tau=1.0)
    records = program.read({"least": [1.0, 4.0, 2.0]})
    chosen = program.respond(records, np.zeros(1, dtype=np.int64))
    assert chosen[1].tolist() == [-1, -1, -1]
    assert chosen[0] / LOAD_UNIT == pytest.approx([0, 0.5, 0.5], abs=1e-5)
    assert chosen[2] / LOAD_UNIT == pytest.approx([0, 1, 1], abs=1e-5)
    assert program.contributions(records, chosen)[1].tolist() == [0]
    assert program.values(records, chosen)[1] == 0
    assert program.describe(chosen[1]) == []
    assert program.describe(chosen[2]) == pytest.approx([1.0, 1.0], abs=1e-5)


def test_too_many_solves_are_refused_with_their_number() -> None:
    program = DIMINISHING.program(60_000)
    with pytest.raises(Refused, match="18000000 runs of a solver"):
        PrivDude(program, 1.0, 1e-6)
    assert PrivDude(program, 1.0, 1e-6, rounds=100, burn_in=50).rounds == 100
    assert PrivDude(unit_demand(60_000, 4, 100), 1.0, 1e-6).rounds == 200


@pytest.mark.parametrize("model", fast(2, [DIMINISHING, KNAPSACKS, ABOVE_OWN]))
def test_declared_tau_holds_on_made_up_instances(model: Model) -> None:
    made_up = [model.data(20, seed) for seed in range(3)]
    found = check_tau(model.program(20), made_up)
    assert not found.refuted
    assert found.needed[0] > 0.05
    assert check_tau(model.program(20, tau=found.needed[0] / 2), made_up).refuted


def test_least_tau_of_a_quadratic_instance_is_its_price() -> None:
    # One good, v = w x - x^2/2, plenty wanted: the price is where everybody's w - price adds up to the supply.
    x, worth = cp.Variable(nonneg=True), cp.Parameter()
    program = convex_program(4, 1.0, value=worth * x - cp.square(x) / 2, coupling=x, constraints=[x <= 2],
                             record={"worth": (worth, 0, 1)}, tau=1.0)
    assert check_tau(program, {"worth": [0.5, 0.6, 0.7, 0.8]}).needed[0] == pytest.approx((2.6 - 1.0) / 4, abs=1e-6)
    with pytest.raises(InvalidInput, match="the list is empty"):
        check_tau(program, [])
    with pytest.raises(InvalidInput, match="convex_program"):
        check_tau(UnitDemand(3, (1.0,)), {"worth": [1.0]})  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("model", [DIMINISHING, ABOVE_OWN])
def test_the_optimum_is_between_two_bounds(model: Model) -> None:
    """Where values are quadratic there is no linear program: prices of rounds, and bounds as wide as responses are."""
    from confide.programs import exact

    program, data = model.program(20), model.data(20, seed=3)
    found, best = exact(program, data, tries=20), model.optimum(20, data)
    slip = 20 * program.oracle_error + 1e-5
    assert found.value - slip <= best <= found.upper + slip
    assert found.gap <= 2e-6 * 20 * program.constants.most_value + 2 * slip
