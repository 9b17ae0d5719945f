"""Billboards belong to one plan, odd ones and odd arguments are refused by name, and whole parts of solved programs."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convex_models import DIMINISHING, KNAPSACKS, SIGNED

from cases import fast
from confide.contract.errors import InvalidInput, Refused
from confide.contract.outcome import Billboard
from confide.evidence.wu_2017.private_programs import PrintedDude
from confide.privacy.noise import Noise
from confide.programs import (
    AggregativeGame,
    CappedAdditive,
    ConvexProgram,
    Electricity,
    Flow,
    PrivDude,
    Program,
    RoundDude,
    TightDude,
    TightenAndAudit,
    TrueDude,
    UnitDemand,
    certificate,
    plan,
)
from confide.programs.instances import popular

PEOPLE = 3000
SUPPLIES = (700.0, 800.0, 600.0)
KINDS: tuple[tuple[type[Any], dict[str, Any]], ...] = (
    (PrivDude, {}), (TrueDude, {"alpha": 0.05}), (TightenAndAudit, {}), (RoundDude, {}), (PrintedDude, {}))


def made(kind: type[Any], program: Program | None = None, **options: Any) -> Any:
    rounds = {"rounds": 20} if kind is PrintedDude else {"rounds": 20, "burn_in": 10}
    return kind(program or UnitDemand(PEOPLE, SUPPLIES), 1.0, 1e-6, **rounds, **options)


def refused(mechanism: Any, board: Any, match: str = "belongs to another plan") -> None:
    for ask in (mechanism.check, mechanism.certify, lambda it: mechanism.decode([0.5, 0.5, 0.5], 0, it)):
        with pytest.raises(InvalidInput, match=match):
            ask(board)


@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_a_billboard_of_other_supplies_is_refused(kind: type[Any], options: dict[str, Any]) -> None:
    """Permuted, or with others' sum in place of theirs: all sizes that a billboard repeats are the same."""
    mine, values = made(kind, **options), popular(PEOPLE, 3, seed=1)
    own = mine.run(values, Noise.simulated(1)).billboard
    mine.check(own)
    for supplies in ((800.0, 700.0, 600.0), (690.0, 810.0, 600.0)):
        other = made(kind, UnitDemand(PEOPLE, supplies), **options)
        assert other._facts["baseline_gap"] == mine._facts["baseline_gap"]
        refused(mine, other.run(values, Noise.simulated(1)).billboard)
        refused(other, own)
    assert replace(mine, failure_probability=0.01).certify(own).failure_probability == 0.01


def test_a_billboard_of_other_options_or_another_network_is_refused() -> None:
    values = popular(PEOPLE, 3, seed=1)
    for kind, change in ((TrueDude, {"alpha": 0.2}), (RoundDude, {"batch": 77}), (TightenAndAudit, {"alpha": 0.1}),
                         (TightenAndAudit, {"audit_share": 0.4}), (TightenAndAudit, {"slack": 0.2}),
                         (PrivDude, {"step": "adagrad"}), (PrivDude, {"start": (0.1, 0.1, 0.1)})):
        mine = made(kind)
        refused(replace(mine, **change), mine.run(values, Noise.simulated(1)).billboard)
    there, back = (PrivDude(Flow(500, 100.0, arcs=arcs, hops=2, escape=3.0), 1.0, 1e-6, 6, 3) for arcs in (
        ((0, 1), (1, 2), (0, 2)), ((2, 1), (1, 0), (2, 0))))
    board = there.run([[0, 2, 0.1, 0.1, 0.1]] * 500, Noise.simulated(1)).billboard
    with pytest.raises(InvalidInput, match="belongs to another plan"):
        back.check(board)


def test_equal_mechanisms_have_one_digest_here_and_from_a_file(tmp_path: Path) -> None:
    one = made(PrivDude, UnitDemand(PEOPLE, SUPPLIES), start=(0.0, 0.25, 0.5))
    other = PrivDude(UnitDemand(np.int64(PEOPLE), (700, Fraction(800), np.float32(600))),  # type: ignore[arg-type]
                     Fraction(1), 1e-6, np.int64(20), 10, start=[-0.0, 0.25, 0.5])  # type: ignore[arg-type]
    assert one == other
    assert one._plan == other._plan
    outcome = other.run(popular(PEOPLE, 3, seed=1), Noise.secure())
    outcome.save(tmp_path)
    one.check(Billboard.load(tmp_path))


def test_odd_boards_are_refused_by_name_in_every_entry_function() -> None:
    odd: dict[str, tuple[Any, ...]] = {
        "prices": (None, np.zeros((30, 2), np.int64), np.zeros((30, 3)), np.zeros(3, np.int64), [[0] * 3] * 30),
        "slacks": (None, np.zeros((3, 3), np.int64), np.zeros((30, 3)), "x"), "burn_in": (10.0, None, -1, 30, True),
        "round_noise_std": ("x", None, math.nan, 1), "tau": (None, [1.0] * 3, np.ones(2), np.full(3, np.nan)),
        "failure_probability": (None, "x"), "baseline_gap": (None, math.inf), "discrete": (0, None),
        "two_sided": (None,),
        "public_seed": (None, 3),
        "plan": (None, b"x"), "inexact": (None,), "raised": (None, np.zeros(2, np.int64), np.zeros(3)),
        "reserve_units": (None, np.zeros(3)), "audit": (None, np.zeros((3, 1), np.int64)), "accepted": (None, 1)}
    values = popular(PEOPLE, 3, seed=1)
    for kind, options in KINDS:
        mechanism = made(kind, **options)
        board = mechanism.run(values, Noise.simulated(1)).billboard
        entries = [mechanism.check, mechanism.certify, certificate,
                   lambda it, by=mechanism: by.decode([0.5] * 3, 0, it)]  # type: ignore[misc]
        entries += [mechanism.unserved] if kind is RoundDude else []
        for name in {one.name for one in fields(board)} & set(odd):
            for value in odd[name]:
                for entry in entries:
                    with pytest.raises(InvalidInput):
                        entry(replace(board, **{name: value}))
        high = board.prices.copy()
        high[-1, 0] = 2**61
        with pytest.raises(InvalidInput, match="prices"):
            mechanism.decode([0.5] * 3, 0, replace(board, prices=high))


@pytest.mark.parametrize("bad", [
    {"start": 0.5}, {"start": "abc"}, {"start": (0.1, math.nan, 0.1)}, {"start": (0.1,)}, {"start": {1, 2, 3}},
    {"start": (None,) * 3}, {"failure_probability": Fraction(3, 2)}, {"epsilon": None}, {"burn_share": "x"}])
def test_odd_settings_are_refused_by_name(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(bad))):
        PrivDude(**{"program": UnitDemand(PEOPLE, SUPPLIES), "epsilon": 1.0, "delta": 1e-6, **bad})


def test_sizes_have_limits() -> None:
    for field, make in (
            ("people", lambda: UnitDemand(2**31, 5.0, goods=2)), ("people", lambda: UnitDemand(10**400, 5.0, goods=2)),
            ("goods", lambda: UnitDemand(10, 5.0, goods=2**62)), ("goods", lambda: UnitDemand(10, 5.0, goods=10**400)),
            ("cap", lambda: CappedAdditive(10, 5.0, goods=3, cap=10**400)),
            ("slots", lambda: Electricity(10, 5.0, most=2, intervals=2, slots=10**400)),
            ("rows", lambda: Electricity(10, 5.0, most=2, intervals=2**20, slots=2)),
            ("people", lambda: AggregativeGame(10**400, (1.0,), actions=2, largest=1.0))):
        with pytest.raises(InvalidInput, match=rf"{field}.*(at most|must be in \[1, )"):
            make()
    assert UnitDemand(2**31 - 1, 5.0, goods=2).people == 2**31 - 1
    game = AggregativeGame(10, (1.0,), actions=2, largest=Fraction(1, 3))  # type: ignore[arg-type]
    assert (game.largest, type(game.largest)) == (1 / 3, float)
    third = TightenAndAudit(UnitDemand(PEOPLE, SUPPLIES), 1.0, 1e-6, audit_share=Fraction(1, 3))  # type: ignore[arg-type]
    assert type(third.audit_share) is float
    for options in ({"audit_share": 1e-300}, {"slack": 1e300}):
        with pytest.raises(Refused):
            made(TightenAndAudit, **options)
    with pytest.raises(InvalidInput, match="timed"):
        plan(UnitDemand(PEOPLE, SUPPLIES), epsilon=1.0, delta=1e-6, timed="no")  # type: ignore[arg-type]


# ---- programs that a solver answers


def small(model: Any = DIMINISHING, people: int = 60) -> ConvexProgram:
    program: ConvexProgram = model.program(people)
    return replace(program, supply=tuple(people * 0.4 for _ in program.supplies))


def test_slots_without_a_record_take_the_work_of_made_up_ones() -> None:
    """At one corner of the ranges every solve is alike, and easier than most: time would count who is there."""
    program, data = small(), DIMINISHING.data(60, seed=1)
    for name in data:
        data[name][20:] = np.nan
    there, trial = program.read(data, unusable="null"), program.trial_records(60)
    assert there.present.sum() == 20
    assert np.array_equal(there.numbers[20:], trial.numbers[20:])  # slot by slot, not one for all
    assert np.unique(there.numbers[20:, 0]).size == 40
    assert np.array_equal(program.one(None).numbers, trial.numbers[:1])
    prices = np.rint(0.1 * program.highest_prices).astype(np.int64)
    assert (program.respond(there, prices)[20:] == -1).all()
    asked = program.respond(trial.take(slice(20, 60)), prices)
    assert (asked[:, 0] == 0).mean() > 0.5  # and a point that takes a solve of its own


@pytest.mark.parametrize(("kind", "model"), fast(2, [
    (TightenAndAudit, DIMINISHING), (RoundDude, DIMINISHING), (TightenAndAudit, KNAPSACKS), (RoundDude, KNAPSACKS)]))
def test_whole_parts_of_a_solved_program(kind: type[Any], model: Any) -> None:
    program, data = small(model), model.data(60, seed=1)
    assert program.shape is None
    assert program.constants.packing
    mechanism = kind(program, 60.0, 1e-2, 4, 2)
    outcome = mechanism.run(data, Noise.simulated(1))
    mechanism.check(outcome.billboard)
    parts = np.array([one or [0.0] * 3 for one in outcome.shares["action"].to_pylist()])
    need = data.get("need", np.ones((60, 3)))
    load = (need * parts).sum(axis=0)
    assert load.sum() > 5.0  # something is given
    assert (load <= np.array(program.supplies)).all()
    assert outcome.diagnostics["load"] == pytest.approx(load, abs=1e-3)
    for i in range(0, 60, 13):
        mine = {name: table[i] for name, table in data.items()}
        assert outcome.shares["action"][i].as_py() == mechanism.decode(mine, i, outcome.billboard)["action"]
        assert program.average(mechanism.decode(mine, i, outcome.billboard))["x0"] == pytest.approx(parts[i])


def test_no_response_of_a_solver_is_worth_less_than_its_price() -> None:
    program, data = small(), DIMINISHING.data(60, seed=3)
    records = program.read(data)
    assert program.extent.least < 0.0  # other parts would be
    for share in (0.0, 0.01, 0.1, 0.2, 1.0):
        prices = np.rint(share * program.highest_prices).astype(np.int64)
        played = program.respond(records, prices)
        left = program.values(records, played) * program.scale - program.paid(records, played, prices)
        assert (left >= 0).all()
    assert (played == -1).all()


def test_solved_programs_are_not_charged_for_and_reasons_are_true() -> None:
    program = small()
    assert TightenAndAudit(program, 60.0, 1e-2, 4, 2).gain == math.inf
    for make in (lambda: TightenAndAudit(program, 60.0, 1e-2, 4, 2, alpha=0.05),
                 lambda: TrueDude(program, 60.0, 1e-2, 4, 2), lambda: TightDude(program, 60.0, 1e-2, 4, 2),
                 lambda: plan(program, epsilon=60.0, delta=1e-2, truthful=True, most_unused=0.99, timed=False,
                              rounds=4, burn_in=2)):
        with pytest.raises(InvalidInput, match="uses a solver"):
            make()
    found = plan(program, epsilon=60.0, delta=1e-2, feasible=True, most_unused=0.9, timed=False, rounds=4, burn_in=2)
    assert found.mode in ("TightenAndAudit", "RoundDude")
    assert found.mechanism.program == program
    with pytest.raises(InvalidInput, match="contributions can be below 0"):
        RoundDude(SIGNED.program(60), 60.0, 1e-2, 4, 2)
    with pytest.raises(InvalidInput, match="the rows are equations"):
        RoundDude(AggregativeGame(60, (1.0,), actions=2, largest=1.0), 60.0, 1e-2, 4, 2)


def test_time_is_planned_at_two_prices_and_with_everybodys_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solves at price 0 are easier than others; and of averages a solver finds each main round once more."""
    program, asked = small(), list[Any]()

    class Counted(ConvexProgram):
        def respond(self, records: Any, prices: Any) -> Any:
            asked.append((records.people, tuple(prices.tolist())))
            return super().respond(records, prices)

    clock = count()  # every response takes one second of it
    monkeypatch.setattr("confide.programs.priv_dude.perf_counter", lambda: float(next(clock)))
    counted = Counted(**{one.name: getattr(program, one.name) for one in fields(program)})
    found = plan(counted, epsilon=60.0, delta=1e-2, rounds=40, burn_in=2, most_excess=0.99)
    half = tuple((program.highest_prices // 2).tolist())
    assert asked == [(64, (0,) * program.rows)] * 4 + [(64, half)] * 4
    once = plan(counted, epsilon=60.0, delta=1e-2, feasible=True, rounds=40, burn_in=2, most_unused=0.99)
    solves = np.array([82, 43]) * program.people / 64  # of everybody; beside them the draws take next to nothing
    assert [found.seconds, once.seconds] == pytest.approx(solves, rel=1e-3)
