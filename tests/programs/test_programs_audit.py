"""Audits of convex programs: charges kept and attained, every planted fault flagged, and what is separated by runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from parts_program import Parts
from program_transcripts import replayed
from scipy.stats import binom, norm

from cases import fast
from confide.audit import AuditReport, Verdict, charge_rows, inject_fault
from confide.audit import audit as harness
from confide.audit.faulty_noise import StuckNoise
from confide.contract.errors import InvalidInput, Unsupported
from confide.contract.kinds import Progress
from confide.evidence.wu_2017.private_programs import PrintedDude
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.programs import (
    AggregativeGame,
    CallbackDemand,
    CappedAdditive,
    Electricity,
    Flow,
    Knapsack,
    PrivDude,
    RoundDude,
    SharedResources,
    TightDude,
    TightenAndAudit,
    TrueDude,
    UnitDemand,
    XorBundles,
    convex_program,
)
from confide.programs.audited import answers, answers_row, attained, full_size, jointly, laws
from confide.programs.audited import program as known_of
from confide.programs.audited_behaviour import (
    behaviour,
    certificate_rows,
    decode_row,
    order_row,
    run_of,
    scaled,
    stops_row,
)
from confide.programs.audited_faults import (
    ChargesTwice,
    EarlyCoins,
    IgnoresStops,
    NoLevelNoise,
    OneContribution,
    OneReleaseEachRound,
    QuarterOfTheQueries,
    StopsAtBeta,
    counting,
    faults,
)
from confide.programs.audited_flags import all_patterns_rows, own_patterns_row, stop_delta_row
from confide.programs.audited_programs import (
    FlagAnswers,
    charges,
    sensitivity,
    sensitivity_rows,
    steps,
    tiny,
    tiny_pool,
)
from confide.programs.audited_records import Pool, apart, drawn, joined
from confide.programs.audited_shares import lie_rows, vain_row
from confide.programs.dual_dynamics import Schedule
from confide.programs.dude import Dude
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.program import Program

from false_alarms import alpha

_ARCS = tuple((a, b) for a in range(5) for b in range(5) if a != b)
PROGRAMS: dict[str, Program] = {
    "unit": UnitDemand(5000, 500, goods=5),
    "capped": CappedAdditive(5000, 900, goods=8, cap=3),
    "bundles": XorBundles(3000, 300, goods=8, size=3, bids=4),
    "callback": CallbackDemand(300, 100, goods=6, size=2),
    "flow": Flow(2000, 600, arcs=_ARCS, hops=3, escape=4.0),
    "flow, public costs": Flow(2000, 600, arcs=_ARCS, hops=3, escape=4.0, costs=tuple(np.linspace(0.1, 1, 20))),
    "knapsack": Knapsack(5000, (900.0,) * 4, least_weight=0.25),
    "knapsack, light": Knapsack(5000, (900.0,) * 6, least_weight=0.25, most_weight=2.0),
    "shared": SharedResources(3000, needs=((0, 1), (1, 2), (2, 3), (0, 3)), costs=(0.5,) * 4),
    "game": AggregativeGame(2000, (50.0, 0.0, -30.0), actions=4, largest=1.0),
    "game, unsigned": AggregativeGame(2000, (500.0, 400.0), actions=4, largest=1.0, signed=False, largest_sum=1.5),
    "electricity": Electricity(4000, 900.0, most=3, intervals=4, slots=3),
    "electricity, soft": Electricity(4000, 900.0, most=3, intervals=4, slots=3, shortfall=0.5),
    "electricity, hard": Electricity(4000, 900.0, most=3, intervals=4, slots=3, hard=True, tau=3.0),
}
TIGHT = TightDude(UnitDemand(5000, (2500.0,)), 1.0, 1e-6, rounds=1000, burn_in=100, alpha=0.5)
KINDS: tuple[Any, ...] = (PrivDude, RoundDude, TrueDude, TightenAndAudit)
UNIT = PROGRAMS["unit"]

PLANS: dict[str, Dude] = {
    "tight": TIGHT,
    "tight, scaled": replace(TIGHT, payments="scaled"),
    "tight, null, discrete": replace(TIGHT, neighbours="add_or_remove", law="discrete_gaussian"),
    "null": PrivDude(UNIT, 1.0, 1e-6, neighbours="add_or_remove"),
    "discrete": PrivDude(UNIT, 1.0, 1e-6, law="discrete_gaussian"),
    "adagrad, start": PrivDude(UNIT, 0.5, 1e-6, step="adagrad", start=(0.1,) * 5),
    "one round": PrivDude(UNIT, 1.0, 1e-6, rounds=1, burn_in=0),
    "one good": RoundDude(UnitDemand(5000, (1500.0,)), 1.0, 1e-6),
    "stops": RoundDude(UNIT, 1.0, 1e-6, truncate=True),
    "flags, null": RoundDude(UNIT, 1.0, 1e-6, neighbours="add_or_remove", batch=3),
    "flags, discrete": RoundDude(UNIT, 1.0, 1e-6, law="discrete_gaussian", batch=50),
    "true, null": TrueDude(UNIT, 1.0, 1e-6, neighbours="add_or_remove", alpha=0.003),
    "true, discrete": TrueDude(PROGRAMS["knapsack, light"], 1.0, 1e-6, law="discrete_gaussian"),
    "audit, discrete": TightenAndAudit(UNIT, 1.0, 1e-6, law="discrete_gaussian", audit_share=0.3),
    "audit, null": TightenAndAudit(PROGRAMS["bundles"], 1.0, 1e-6, neighbours="add_or_remove"),
    "audit, charging": TightenAndAudit(UNIT, 1.0, 1e-6, alpha=0.02),
    "audit, scaled, discrete": TightenAndAudit(UNIT, 1.0, 1e-6, alpha=0.02, payments="scaled", law="discrete_gaussian"),
    "printed": PrintedDude(UnitDemand(600, 80, goods=4), 1.0, 1e-6, rounds=20),
}


def of_families() -> Iterator[tuple[str, Dude]]:
    for name, program in PROGRAMS.items():
        packing = program.constants.packing and not program.two_sided
        for kind in KINDS if packing and name != "callback" else KINDS[:1]:  # Python for each person is slow
            yield f"{kind.__name__} of {name}", kind(program, 1.0, 1e-6)


ALL: dict[str, Dude] = PLANS | dict(of_families())
WHOLE = (*PLANS, *(f"PrivDude of {name}" for name in PROGRAMS), *(
    name for name in ALL if name.endswith((" of unit", " of bundles")) and not name.startswith("PrivDude")))
"""Audited whole; the other pairs of a mechanism and a program, by their charges and their runs on neighbours."""


def audit_of(
    it: Dude, seed: int = 0, progress: Progress | None = None, *, records: Any = None
) -> AuditReport:
    """The whole audit of a mechanism."""
    return harness(known_of(it, seed, records=records), progress)


def small(mechanism: Dude, seed: int = 1) -> tuple[Dude, Pool]:
    pool = tiny_pool(mechanism.program, seed)
    twin = tiny(mechanism, pool)
    return twin, Pool.of(twin.program, study_generator(seed, "tiny"), 0, pool.records)


# ---- the whole


@pytest.mark.slow
@pytest.mark.parametrize("name", WHOLE)
def test_every_plan_passes_with_all_its_controls(name: str) -> None:
    done: list[int] = []
    report = audit_of(ALL[name], 2, lambda at, _: done.append(at))
    assert report.passed, report.problems
    assert done == list(range(1, done[-1] + 1))
    assert report.false_alarm <= 1e-8
    assert len(report.controls) >= 12


@pytest.mark.parametrize("name", ALL)
def test_the_ledger_is_charged_what_is_named_and_twice_the_budget_is_flagged(name: str) -> None:
    plan = ALL[name]
    row, controls = charge_rows(plan.events(), plan.loss)
    assert (row.verdict, row.measured) == ("kept", pytest.approx(1.0))
    assert all(control.flagged for control in controls)
    assert charge_rows(inject_fault(plan, ChargesTwice).events(), plan.loss)[0].measured > 1.2


# ---- its own run on neighbours


@pytest.mark.parametrize("name", fast(0, ALL))
def test_what_is_charged_is_kept_and_attained(name: str) -> None:
    twin, pool = small(ALL[name])
    found, far = replayed(twin, pool, 1), attained(twin, pool)
    assert {name for name, audit in found.items() if audit.promise is None} == charges(twin).keys()
    for audit in found.values():
        assert not audit.leaks
        assert not audit.flagged
        if audit.promise is not None:  # held by its own number: what the charge is converted to
            assert audit.measured <= audit.promised * (1 + 1e-9)
            continue
        least = far if twin.law == "gaussian" else far**2
        least *= 0.5 if "flow" in name else 0.95  # paths are others at other prices
        assert (least - 1e-9) * audit.promised <= audit.measured <= audit.promised * (1 + 1e-9)
    assert far == pytest.approx(1.0, rel=1e-3) or "flow" in name or "soft" in name or "light" in name
    assert not answers_row(twin, pool, 1).flagged


@pytest.mark.parametrize("kind", KINDS)
def test_charges_of_a_kind_are_attained(kind: Any) -> None:
    twin, pool = small(kind(UNIT, 1.0, 1e-6))
    found = replayed(twin, pool, 1, pairs=2)
    assert not any(audit.flagged for audit in found.values())
    for audit in found.values():
        assert audit.measured == pytest.approx(audit.promised, rel=1e-9)


def test_faults_are_measured() -> None:
    """Composition forgotten: sqrt(total rounds) times the charge; one contribution in place of two: sqrt 2 times."""
    twin, pool = small(PrivDude(UNIT, 1.0, 1e-6))
    one = replayed(twin, pool, 1, inject_fault(twin, OneReleaseEachRound), pairs=1)["slack"]
    assert one.measured == pytest.approx(math.sqrt(twin.schedule.total) * one.promised, rel=1e-6)
    two = replayed(twin, pool, 1, inject_fault(twin, OneContribution), pairs=1)["slack"]
    assert two.measured == pytest.approx(math.sqrt(2) * two.promised, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", fast(1, [PrivDude, TightenAndAudit, RoundDude, TrueDude]))
def test_every_injected_fault_is_flagged(kind: Any) -> None:
    twin, pool = small(kind(UNIT, 1.0, 1e-6))
    found = [control for known in (jointly(twin, pool, 1), answers(twin, pool, 1)) for control in known.measured()[1]]
    assert [control.mutant for control in found if not control.flagged] == []
    assert {*faults(twin, attained(twin, pool))} <= {control.mutant for control in found}
    assert len(faults(twin, attained(twin, pool))) == 8 + (kind is TightenAndAudit)
    assert "the noise of one round used for the next round, too" in {control.mutant for control in found}
    assert ("public randomness drawn before the records are read" in {control.mutant for control in found}) == (
        kind in (RoundDude, TightenAndAudit))
    assert {"no noise", "half of its noise"} <= {control.mutant for control in found}


def test_faults_that_cannot_show_are_not_claimed() -> None:
    twin, _ = small(PLANS["one round"])
    assert "noise of a round with the budget of all rounds" in faults(ALL["null"], 1.0)
    assert "noise of a round with the budget of all rounds" not in faults(twin, 1.0)
    assert "sensitivity of one contribution instead of two" not in faults(twin, 0.6)
    assert "sensitivity of one contribution instead of two" not in faults(ALL["null"], 1.0)


def test_coins_before_the_records_are_seen() -> None:
    twin, pool = small(RoundDude(UNIT, 1.0, 1e-6))
    assert not answers_row(twin, pool, 1).flagged
    assert answers_row(twin, pool, 1, EarlyCoins).flagged


def test_empty_lists_of_actions_have_the_type_of_others() -> None:
    """A run where nobody has anything used to give its column of lists another type than a neighbour's."""
    program = XorBundles(6, 40_000.0, goods=3, size=2, bids=1)
    kinds = set()
    for records in ([None] * 6, [[((0, 1), 1.0)], *[None] * 5]):
        outcome = TightenAndAudit(program, 1.0, 1e-6, rounds=4, burn_in=0).run(records, Noise.simulated(1))
        kinds.add(str(outcome.shares.schema))
    assert len(kinds) == 1


# ---- sensitivity


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_pair_of_records_is_further_apart_than_sigma(name: str) -> None:
    """At any prices, the same or different ones; and made-up pairs attain it where it is known to be attained."""
    mechanism = PrivDude(PROGRAMS[name], 1.0, 1e-6)
    pool = tiny_pool(mechanism.program, 3)
    rows = sensitivity_rows(mechanism, pool, 3)
    assert [row.promise for row in rows if row.flagged] == []
    assert all(control.flagged for control in sensitivity(mechanism, pool, 3).measured()[1])
    far = float(rows[0].measured) / float(rows[0].promised)  # type: ignore[arg-type]
    assert far > (0.6 if name == "flow, public costs" else 0.995)


BEYOND = "sensitivity: the addition of a record beyond its bounds, as a share of the largest allowed one"


def _beyond(program: Program) -> Any:
    rows = sensitivity_rows(PrivDude(program, 1.0, 1e-6), tiny_pool(program, 0))
    [found] = [row for row in rows if row.promise == BEYOND]
    return found


def test_records_beyond_their_bounds_that_count_are_flagged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each family's own check of its records, removed: weights, sums of an action, goods that are named twice."""
    item = Knapsack(500, (50.0,) * 3, least_weight=0.1, most_weight=1.2)
    game = AggregativeGame(500, (0.5, 0.0), actions=2, largest=1.0, largest_sum=1.5)
    bundles = XorBundles(500, (50,) * 5, size=3, bids=2)
    for program in (item, game, bundles):
        assert 0.5 < _beyond(program).measured <= 1.0

    checked = Knapsack._checked

    def weighs(self: Knapsack, values: Any, weights: Any) -> Any:
        records, bad = checked(self, values, weights)
        units = np.clip(np.ceil(np.asarray(weights) * LOAD_UNIT), 0, 2**30).astype(np.int32)
        return replace(records, weights=units, worth=np.full_like(records.worth, 2**20)), np.zeros_like(bad)

    monkeypatch.setattr(Knapsack, "_checked", weighs)
    assert _beyond(item).measured > 2.0
    assert _beyond(item).flagged

    monkeypatch.setattr(AggregativeGame, "_too_much", lambda _, table: np.zeros(len(table), dtype=bool))
    assert _beyond(game).flagged

    usual = XorBundles._checked

    def twice(self: XorBundles, goods: Any, values: Any) -> Any:
        records, bad = usual(self, goods, values)
        named = np.sort(np.where((goods >= 0) & (goods < self.rows), goods, self.rows), axis=2).astype(np.int32)
        worth = np.where(bad[:, None], 2**20, records.worth).astype(records.worth.dtype)
        return replace(records, goods=named, worth=worth), np.zeros_like(bad)

    monkeypatch.setattr(XorBundles, "_checked", twice)
    assert _beyond(bundles).flagged


def test_records_are_those_of_the_family() -> None:
    draw = study_generator(5)
    for program in PROGRAMS.values():
        records = [drawn(program, draw) for _ in range(20)] + apart(program)
        assert joined(program, [*records, None]).people == len(records) + 1


# ---- flags


@pytest.mark.slow
def test_patterns_of_flags_attain_their_charge() -> None:
    sound = RoundDude(UNIT, 1.0, 1e-6)
    rows = all_patterns_rows(sound)
    assert not any(row.flagged for row in rows)
    assert float(rows[1].measured) == pytest.approx(float(rows[1].promised), rel=2e-3)  # type: ignore[arg-type]
    assert all(row.flagged for row in all_patterns_rows(inject_fault(sound, QuarterOfTheQueries), sound)[1:])
    twin, pool = small(sound)
    assert isinstance(twin, RoundDude)
    row = own_patterns_row(twin, pool, 1)
    assert not row.flagged
    assert float(row.measured) > 0.5 * float(row.promised)  # type: ignore[arg-type]
    assert own_patterns_row(inject_fault(twin, NoLevelNoise), pool, 1, sound=twin).measured == math.inf
    assert answers_row(inject_fault(twin, QuarterOfTheQueries), pool, 1, sound=twin).flagged


# ---- lies


@pytest.mark.slow
@pytest.mark.parametrize("name", fast(1, ["TrueDude of knapsack, light", "audit, charging", "tight, scaled", "tight",
                                          "audit, scaled, discrete", "TrueDude of flow, public costs",
                                          "TrueDude of bundles"]))
def test_lies_gain_what_is_promised_at_most(name: str) -> None:
    twin, pool = small(ALL[name])
    assert isinstance(twin, TrueDude | TightDude | TightenAndAudit)
    losses: Any = charges(twin)
    path, audit = (getattr(losses[part], "mu" if twin.law == "gaussian" else "rho") if part in losses else 0.0
                   for part in ("slack", "audit"))
    rows = lie_rows(twin, pool, path, 1, audit=audit)
    assert [row.verdict for row in rows] == [Verdict.KEPT, Verdict.KEPT]
    assert vain_row(twin, 1).flagged
    if isinstance(twin, TightenAndAudit):  # what an audit's answer may move is part of it
        assert float(rows[1].measured) > float(lie_rows(twin, pool, path, 1)[1].measured)  # type: ignore[arg-type]


# ---- stops


def test_what_stops_cost_is_measured_and_a_narrow_room_is_seen() -> None:
    for program in (UNIT, UnitDemand(5000, (1500.0,)), PROGRAMS["capped"]):
        sound = RoundDude(program, 3.0, 1e-6, truncate=True)
        row = stop_delta_row(sound)
        assert not row.flagged
        assert 0.98 * sound.flags.stop_delta < float(row.measured) <= sound.flags.stop_delta  # type: ignore[arg-type]
        assert stop_delta_row(inject_fault(sound, StopsAtBeta), sound).flagged


@pytest.mark.slow
@pytest.mark.parametrize("changes", fast(2, [{}, {"neighbours": "add_or_remove"}, {"batch": 300}]))
def test_stops_are_no_leak(changes: dict[str, Any]) -> None:
    """More is asked for than there is: without noise, stops would raise flags where the loads are, in either world."""
    sound = RoundDude(UnitDemand(6000, 1000.0, goods=5), 2.0, 1e-6, rounds=20, burn_in=10, truncate=True, **changes)
    rows, controls = full_size(sound, sound, Pool.of(sound.program, study_generator(2), 100), 1).measured()
    assert not [row for row in rows if row.flagged]
    assert [control.flagged for control in controls] == [True]
    data = study_generator(3).random((6000, 5))
    stopped = sound.run(data, FlagAnswers(Noise.simulated(1), lambda _: None)).billboard.raised
    assert (np.asarray(stopped) < 6000).any()


def test_injected_stops_are_found_where_there_is_plenty() -> None:
    """A campaign that no crowd can use up is held to its stops all the same."""
    sound = RoundDude(UnitDemand(3000, 2500.0, goods=3), 2.0, 1e-6, rounds=20, burn_in=10, truncate=True)
    known = behaviour(sound, Pool.of(sound.program, study_generator(2), 100), 1)
    controls = [control for each in known for control in each.measured()[1]]
    assert [one.mutant for one in controls if not one.flagged] == []
    assert "stops that are ignored" in [one.mutant for one in controls]


def test_stops_keep_supplies_where_no_noise_would() -> None:
    sound = replace(PLANS["stops"], program=UnitDemand(3000, 400.0, goods=5))
    assert isinstance(sound, RoundDude)
    pool = Pool.of(sound.program, study_generator(1), 100)
    assert not stops_row(sound, pool, 1).flagged
    assert stops_row(inject_fault(sound, IgnoresStops), pool, 1).flagged


# ---- programs in cvxpy


def homes(people: int) -> Program:
    """One of a kind of slots each, by a template: recognised as a simplex."""
    import cvxpy as cp

    slots, comfort = cp.Variable(3, nonneg=True), cp.Parameter(3)
    return convex_program(people, people / 6, value=comfort @ slots, coupling=slots, tau=1.0,
                          record={"comfort": (comfort, 0, 1)}, constraints=[slots <= 1, cp.sum(slots) <= 1])


COMFORTS = [{"comfort": row} for row in (*study_generator(1).random((8, 3)), *np.eye(3))]


@pytest.mark.slow
def test_a_compiled_programs_loss_is_attained_and_its_own_bounds_hold() -> None:
    """A fault that is planted must not be mended by the program's own look at its bounds."""
    mechanism = PrivDude(homes(600), 1.0, 1e-6, rounds=20, burn_in=10)
    pool = tiny_pool(mechanism.program, 1, COMFORTS)
    twin = tiny(mechanism, pool)
    own = Pool.of(twin.program, study_generator(1, "tiny"), 0, pool.records)
    found = replayed(twin, own, 1, pairs=1)["slack"]
    assert not found.flagged
    assert found.measured == pytest.approx(found.promised, rel=1e-5)
    assert not any(row.flagged for row in sensitivity_rows(mechanism, pool, 1))
    assert all(control.flagged for control in sensitivity(mechanism, pool, 1).measured()[1])
    for kind in (RoundDude, TrueDude):  # shares as the template has them, worked out again
        run = run_of(kind(homes(3000), 4.0, 1e-6, rounds=6, burn_in=2), pool, 1)
        assert not decode_row(run).flagged
    assert replayed(twin, own, 1, counting(twin))["slack"].flagged


@pytest.mark.slow
@pytest.mark.parametrize("kind", [PrivDude, RoundDude, partial(TightenAndAudit, alpha=0.1)])
def test_a_compiled_program_passes_with_all_its_controls(kind: Any) -> None:
    report = audit_of(kind(homes(3000), 4.0, 1e-6, rounds=20, burn_in=10), 1, records=COMFORTS)
    assert report.passed, report.problems
    assert len(report.controls) >= 12


# ---- at a campaign's size


def test_behaviour_is_seen_where_it_is_broken() -> None:
    mechanism = PrivDude(UnitDemand(600, 80, goods=4), 1.0, 1e-6, rounds=20, burn_in=10)
    pool = Pool.of(mechanism.program, study_generator(1), 100)
    run = run_of(mechanism, pool, 1)
    assert not decode_row(run).flagged
    assert not order_row(run).flagged
    assert not any(row.flagged for row in certificate_rows(run))
    found = run.outcome.certificate
    for lie in ({"gap": -1000.0}, {"excess": found.excess - 1000.0}):
        assert any(row.flagged for row in certificate_rows(run, replace(found, **lie)))


def test_large_programs_are_scaled() -> None:
    large = PrivDude(UnitDemand(10**6, 50_000, goods=10), 1.0, 1e-6)
    few = scaled(large)
    assert few.program.people * few.schedule.total * 10 <= 2.1e7
    assert few.program.supplies[0] / few.program.people == pytest.approx(0.05, rel=1e-3)
    assert few.noise_std / few.program.supplies[0] < 4 * large.noise_std / 50_000
    assert scaled(TIGHT).program.people >= 1000  # margins do not shrink as people do


def test_samplers() -> None:
    twin, pool = small(RoundDude(UNIT, 1.0, 1e-6))
    known = replace(laws(twin, pool, jointly(twin, pool, 1), 1), source=Noise.simulated(1))
    rows = known.rows()
    assert {row.promise.split(":")[0] for row in rows} == {"noise of slack", "noise of coins", "noise of level",
                                                           "noise of query"}
    assert not any(row.flagged for row in rows)
    assert any(row.flagged for row in replace(known, source=StuckNoise(lambda: Noise.simulated(1))).rows())


# ---- separation of two worlds by runs (spec convex_programs 11.6)


def separated(law: Any, runs: int, seed: int) -> tuple[int, int]:
    """Of runs in either world, how many a likelihood-ratio test at the midpoint gives to the second one.

    Two records whose responses are disjoint sets of three goods at all prices: values 1, and a tiny step, so that no
    price comes near 1. All runs' rounds are released and moved at once.
    """
    d, one = 3, Fraction(1)
    program = CappedAdditive(4, 2.0, goods=2 * d, cap=d)
    schedule = Schedule(rounds=40, burn_in=10, squared_l2_sensitivity=program.constants.squared_l2_sensitivity(
        "replace"), squared_budget=one, law=law)
    worlds = []
    for first in (True, False):
        record = np.r_[np.full(d, float(first)), np.full(d, float(not first))]
        table = program.read(np.vstack([record, np.zeros((3, 2 * d))]))
        noise, statistic = Noise.simulated(seed + first), np.zeros(runs)
        prices = np.zeros((runs, 2 * d))
        shift = np.r_[np.full(d, 1.0), np.full(d, -1.0)]  # of the load, from the second world to the first
        for t in range(schedule.total):
            assert prices.max() < PRICE_UNIT  # so all of them get the same responses as the first
            load = program.load_at(table, prices[0].astype(np.int64))
            assert load.tolist() == (record * LOAD_UNIT).tolist()
            exact = np.tile(program.supply_units - load, runs)
            slack = schedule.released(noise, exact, t).reshape(runs, 2 * d)
            statistic -= (slack / LOAD_UNIT - 2.0 + np.abs(shift) / 2) @ shift / schedule.round_noise_std(t) ** 2
            prices = np.clip(np.rint(prices - 1e-6 * slack), 0, None)
        worlds.append(statistic)
    return int((worlds[0] > 0).sum()), int((worlds[1] > 0).sum())


@pytest.mark.parametrize("runs", [500, pytest.param(4000, marks=pytest.mark.slow)])
def test_two_worlds_are_separated_by_mu(runs: int) -> None:
    """At mu = 1 the midpoint separates by 2 Phi(1/2) - 1 = .383: no more, and no less, since the pair attains sigma."""
    right, wrong = separated("gaussian", runs, 11)
    least = alpha("programs.audit.separation", cases=8)  # two counts, two tails, two sizes
    for count, rate in ((right, norm.cdf(0.5)), (wrong, norm.cdf(-0.5))):
        assert binom.ppf(least, runs, rate) <= count <= binom.isf(least, runs, rate)
    if runs == 4000:
        assert (right - wrong) / runs == pytest.approx(0.383, abs=0.03)


# ---- refusals


def test_what_cannot_be_audited() -> None:
    with pytest.raises(InvalidInput, match="mechanism"):
        audit_of(UNIT)  # type: ignore[arg-type]

    with pytest.raises(Unsupported, match="records"):
        drawn(object(), study_generator(1))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="records"):
        Pool.of(UNIT, study_generator(1), 0, [])


@pytest.mark.slow
def test_a_program_of_ones_own_gives_its_records() -> None:
    program = Parts(2000, (300.0, 300.0), parts=(0.5, 1.0))
    records = [*study_generator(3).random((12, 2)), [1.0, 0.0], [0.0, 1.0]]
    report = audit_of(PrivDude(program, 1.0, 1e-6), 1, records=records)
    assert [row.promise for row in report.rows if row.flagged] == []


def test_neighbours_differ_in_one_record() -> None:
    for neighbours in ("replace", "add_or_remove"):
        twin, pool = small(PrivDude(UNIT, 1.0, 1e-6, neighbours=neighbours))  # type: ignore[arg-type]
        for step in steps(twin, pool, 1):
            same = [a is b for a, b in zip(step.records, step.changed, strict=True)]
            assert same.count(False) == 1
            if neighbours == "add_or_remove":
                assert step.other is None or step.records[step.index] is None


@pytest.mark.parametrize("name", list(PLANS))
def test_every_plan_has_a_tiny_market_that_plays(name: str) -> None:
    """What the exact audits walk through, in the fast suite too: a plan without one is no longer audited."""
    made = tiny(PLANS[name], tiny_pool(PLANS[name].program, 0))
    assert made.program.people == 6
    assert made.priced.people == 6
