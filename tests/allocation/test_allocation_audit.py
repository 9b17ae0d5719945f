"""Exact privacy losses of matchings: never above what is promised, attained, and every planted fault flagged."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from allocation.market_transcripts import replayed
from cases import fast
from confide.allocation.ascending_auction import many_steps
from confide.allocation.audited import (
    CRAFTED,
    blocks,
    counted_rows,
    crafted,
    crafted_row,
    jointly,
    matching,
    reach_rows,
    releases,
    transcript_row,
)
from confide.allocation.audited_behaviour import (
    certificate_rows,
    decode_row,
    run_of,
    scaled,
    spy_row,
    supply_row,
)
from confide.allocation.audited_faults import (
    BidsOnce,
    CertifiesTheTruth,
    ClearsBare,
    CountsTwice,
    DropsBlocks,
    ForgetsCopies,
    MarksTheShares,
    NaturalLevels,
    NotesOnTheBillboard,
    QuarterOfTheScale,
    SkipsIdleSteps,
    Tells,
    TwiceTheBudget,
    faults,
)
from confide.allocation.audited_losses import exact_loss, own_parts, promise, recorded
from confide.allocation.audited_markets import charges, counted, in_blocks, neighbours, steps, tiny
from confide.allocation.bundles import Additive, Assignment, CappedAdditiveValuation, SymmetricConcave
from confide.allocation.instances import SpyGadgets
from confide.allocation.market import Market
from confide.allocation.palloc import PAlloc
from confide.allocation.pmatch import PMatch
from confide.allocation.sinkhorn_match import SinkhornMatch
from confide.allocation.valuations import Valuations
from confide.audit import AuditReport, AuditRow, Verdict, audit, inject_fault, published
from confide.audit.charging import NAMED, charge_rows
from confide.audit.history_loss import promised_parameter
from confide.contract.errors import InvalidInput, Unsupported
from confide.contract.kinds import Progress
from confide.privacy.losses import ZCDP, PureDP
from confide.privacy.noise import ForcedNoise, Noise, RecordingNoise
from confide.privacy.noise.simulated import study_generator

GOODS: dict[str, Any] = {"people": 20_000, "goods": 4, "supply": 4000, "epsilon": 2.0, "increment": 0.3, "bid_cap": 3,
                         "rounds": 10, "batch": 2000, "arity": 10}
BUNDLES: dict[str, Any] = {"people": 5000, "goods": 4, "supply": 2000, "epsilon": 2.0, "increment": 0.02, "bid_cap": 3,
                           "rounds": 10, "batch": 500, "arity": 10, "valuation": CappedAdditiveValuation(cap=2)}
GAUSSIAN = {"law": "gaussian", "delta": 1e-6}

PLANS: dict[str, Market] = {
    "fixed": PMatch(**GOODS),
    "unsatisfied": PMatch(**GOODS, halting="unsatisfied", reclear=0.0, reserve=0),
    "sparse vector": PMatch(**GOODS, halting="sparse_vector"),
    "gaussian": PMatch(**GOODS, **GAUSSIAN, halting="bids"),
    "add or remove": PMatch(**GOODS, neighbours="add_or_remove", halting="unsatisfied", charge=True),
    "published, reserve": PMatch(**GOODS, halting="published", reclear=0.0, reserve=0),
    "gaussian, sparse vector": PMatch(**GOODS, **GAUSSIAN, halting="sparse_vector", halt_with=0.2),
    "bundles": PAlloc(**BUNDLES, halting="unsatisfied"),
    "bundles, free reports": PAlloc(**{**BUNDLES, "bid_cap": 10}, halting="unsatisfied", outbid_tests="round_end"),
    "bundles, additive": PAlloc(**{**BUNDLES, "valuation": Additive()}, reclear=0.0, reserve=0, **GAUSSIAN),
    "bundles, add or remove": PAlloc(**BUNDLES, neighbours="add_or_remove", halting="bids"),
    "bundles, concave": PAlloc(**{**BUNDLES, "valuation": SymmetricConcave(most=2)}, halting="sparse_vector"),
    "bundles, copies": PAlloc(**{**BUNDLES, "valuation": SymmetricConcave(most=3)}, **GAUSSIAN),
    "bundles, places": PAlloc(**{**BUNDLES, "valuation": Assignment(places=2)}, **GAUSSIAN, neighbours="add_or_remove"),
}


SCALED = SinkhornMatch(people=20_000, goods=4, supply=4000, epsilon=2.0)


def audit_of(it: Market, seed: int = 0, progress: Progress | None = None) -> AuditReport:
    """The whole audit of a market."""
    return audit(matching(it, seed), progress)


def rows_of(it: Market) -> list[AuditRow]:
    """The rows of the walk over a tiny market."""
    return jointly(it).rows()


# ---- the crafted pair


def test_the_crafted_pair_attains_epsilon_exactly() -> None:
    """n = 8, one round, binary, four levels, epsilon 20: sums 8 apart, scale .4, log ratio 20.0 with noise >= 0 on one
    good and <= 0 on the other; scale .1 reaches 80, levels by the natural logarithm 38.5.
    """
    assert (CRAFTED.counter.scale, CRAFTED.counter.levels, CRAFTED.counter.horizon) == (0.4, 4, 8)
    row = crafted_row(CRAFTED)
    assert row.measured == 20.0
    assert not row.flagged
    assert "differ by 8 in l1" in row.evidence
    assert crafted_row(inject_fault(CRAFTED, QuarterOfTheScale)).measured == 80.0
    natural = crafted_row(inject_fault(CRAFTED, NaturalLevels))
    assert natural.measured == pytest.approx(8 / (2 * math.log(8) / 20), rel=1e-12)
    assert round(float(natural.measured or 0), 1) == 38.5
    assert all(control.flagged for control in crafted().measured()[1])


@pytest.mark.parametrize("runs", [60, pytest.param(2000, marks=pytest.mark.slow)])
def test_the_crafted_pair_is_never_above(runs: int) -> None:
    values = np.zeros((8, 2))
    values[0, 0] = 1.0
    losses = [exact_loss(CRAFTED, values, 0, [0.0, 1.0], seed) for seed in range(runs)]
    assert max(losses) <= 20.0
    assert runs < 2000 or max(losses) == 20.0  # free runs miss it with probability 4e-4; seeds are fixed


# ---- random runs and neighbours


def random_plan(draw: np.random.Generator) -> Market:
    """A small auction with random sizes and rules."""
    people, goods = int(draw.integers(2, 14)), int(draw.integers(1, 5))
    law = GAUSSIAN if draw.random() < 0.3 else {}
    reclear = 0.3 if draw.random() < 0.5 else 0.0
    common: dict[str, Any] = {
        "people": people, "goods": goods, "supply": int(draw.integers(1, people)),
        "epsilon": float(draw.choice([0.5, 4.0])),
        "increment": float(draw.choice([2.0**-10, 0.05, 0.5])), "bid_cap": int(draw.integers(1, 5)),
        "rounds": int(draw.integers(1, 7)), "batch": int(draw.integers(1, people + 1)),
        "arity": int(draw.choice([2, 3, 5, 16])), "reclear": reclear, "reserve": None if reclear else 0,
        "halting": str(draw.choice(["fixed", "published", "unsatisfied", "bids", "sparse_vector"])),
        "halt_below": int(draw.choice([-30, 0, 2])), "certify_with": float(draw.choice([0.0, 0.05])),
        "neighbours": str(draw.choice(["replace", "add_or_remove"])), **law}
    if draw.random() < 0.25:
        valuation = Additive() if draw.random() < 0.5 else CappedAdditiveValuation(cap=int(draw.integers(1, 4)))
        common |= {"valuation": valuation, "outbid_tests": str(draw.choice(["slot", "round_end"]))}
        return PAlloc(**common)
    return PMatch(**common, charge=bool(draw.random() < 0.3))


@pytest.mark.parametrize(("seed", "runs"), fast(1, [(0, 20), *((seed, 40) for seed in range(1, 10))]))
def test_random_runs_and_neighbours_are_within_what_is_promised(seed: int, runs: int) -> None:
    """380 runs in all, a random bidder of each walked along the record with another row: log ratio within epsilon of
    pure plans, the largest possible loss within the budget of all, sums within the exposure, nothing but own parts.
    """
    draw, worst = study_generator(seed, "random plans"), 0.0
    for number in range(runs):
        plan = random_plan(draw)
        bundles = isinstance(plan, PAlloc)
        values = draw.integers(0, 9, (plan.people + 1, plan.goods)) / 8 / (plan.goods if bundles else 1)
        index, absent = int(draw.integers(plan.people)), plan.neighbours == "add_or_remove"
        run = recorded(plan, values[:-1], Noise.simulated(1000 * seed + number))
        found = run.loss(index, None if absent else values[-1])
        assert run.unexplained == 0
        assert found.most <= found.promised * (1 + 1e-9), plan
        if isinstance(promise(plan), PureDP):
            assert abs(found.log_ratio) <= plan.epsilon * (1 + 1e-9)
            assert found.moved.get("counts", 0) <= plan.counter.reach  # type: ignore[attr-defined]
        worst = max(worst, found.most / found.promised)
    assert worst > 0.7


@pytest.mark.parametrize("name", fast(2, ["fixed", "bundles", "sparse vector", "unsatisfied", "gaussian"]))
def test_the_replay_of_ones_own_bids_says_what_a_second_run_says(name: str) -> None:
    """The centers of a run on the neighbour, with the same answers, are those that her own walk predicts."""
    twin = tiny(PLANS[name])
    for number, pair in enumerate(list(steps(twin, 3))[:6]):
        history = recorded(twin, pair.values, Noise.simulated(number))
        other = pair.values.copy()
        other[pair.index] = pair.other
        forced = ForcedNoise(history.draws)
        twin.run(other, forced)
        before, after = history.parts(pair.index), own_parts(twin, pair.other, pair.index, history.billboard,
                                                              history.draws)
        for one, two in zip(history.draws, forced.draws, strict=True):
            if one.stream in before:
                moved = np.array([int(b - a) for a, b in zip(one.center, two.center, strict=True)])
                assert moved.tolist() == (after[one.stream] - before[one.stream]).tolist()
            else:
                assert one.center == two.center


@pytest.mark.slow
def test_losses_of_many_steps_are_exact_too() -> None:
    """Beyond 4096 steps an auction draws noise alone and adds it itself: the loss is that of the same releases."""
    plan = PMatch(people=1500, goods=2, supply=300, epsilon=2.0, increment=0.05, bid_cap=3, rounds=3, batch=1, arity=4,
                  reclear=0.0, reserve=0, certify_with=0.0)
    values = study_generator(1, "many steps").random((1500, 2))
    history = recorded(plan, values, Noise.simulated(5))
    assert {len(draw.stream) for draw in history.draws} == {3}
    worst = 0.0
    for index in (0, 7, 700, 1499):
        found = history.loss(index, values[index, ::-1])
        assert abs(found.log_ratio) <= found.most <= 2.0
        assert found.moved["counts"] <= plan.counter.reach
        worst = max(worst, found.most)
    assert worst > 0.5


@pytest.mark.parametrize("name", fast(0, ["fixed", "bundles, free reports", "gaussian", "sparse vector",
                                          "add or remove", "published, reserve"]))
def test_noise_in_blocks_is_replayed_too(name: str) -> None:
    """As campaigns of many releases draw it: kept, and told apart from noise that is drawn and never added. The audit
    of the stepwise twin alone keeps that fault, whose releases are drawn around their sums.
    """
    twin = tiny(PLANS[name])
    assert not many_steps(PLANS[name].rounds * PLANS[name].slots)  # type: ignore[attr-defined]
    (examined,) = blocks(twin, 1)
    (row,), controls = examined.measured()
    assert row.promise.endswith("noise drawn in blocks")
    assert not row.flagged
    assert float(row.measured or 0) >= 0.5 * promised_parameter(promise(twin))
    assert [control.flagged for control in controls] == [True, True]
    assert not transcript_row(inject_fault(twin, DropsBlocks), 1, pairs=3).flagged
    assert not blocks(tiny(PLANS["bundles, places"]))  # auctions of objects are played step by step
    assert not blocks(tiny(SCALED))


def test_a_neighbour_sees_the_same_along_the_same_releases() -> None:
    """Noise in blocks that is less by what her other record adds: all others see the same, unless it is told past the
    noise, as in the last counts here.
    """
    twin = in_blocks(tiny(PLANS["fixed"]))
    for number, pair in enumerate(list(steps(twin, 2))[:3]):
        history = recorded(twin, pair.values, Noise.simulated(number))
        assert history.in_blocks
        assert history.unexplained == 0
        assert history.retold(pair.index, pair.other, published)
        bent = inject_fault(twin, NotesOnTheBillboard)
        reported = [recorded(bent, pair.values, Noise.simulated(number)).retold(pair.index, pair.other, published)]
        assert reported == [pair.values[pair.index].any() == pair.other.any()]


def test_counts_that_are_not_those_of_the_noise_are_seen() -> None:
    """A published count that is one too high, on either way to draw."""
    for twin in (tiny(PLANS["fixed"]), in_blocks(tiny(PLANS["fixed"]))):
        pair = next(iter(steps(twin, 1)))
        history = recorded(twin, pair.values, Noise.simulated(3))
        board = history.billboard
        last = int(np.flatnonzero(board.good == board.good[-1])[-1])
        count = board.count.copy()
        count[last] += 1
        assert history.unexplained == 0
        held = board.steps - int(board.step[last]) + 1  # releases that show it
        assert replace(history, billboard=replace(board, count=count)).unexplained >= held


@pytest.mark.slow
def test_the_audit_of_a_campaign_of_many_releases_replays_blocks() -> None:
    """5000 releases without any noise: her loss along the record is .035, and the whole audit kept it."""
    sound = PMatch(people=5000, goods=4, supply=1000, increment=0.3, epsilon=1.0, bid_cap=3, rounds=10, batch=10,
                   arity=16)
    assert many_steps(sound.counter.horizon)
    flagged = [row.promise for row in audit_of(inject_fault(sound, DropsBlocks), 0).rows if row.flagged]
    assert flagged == ["privacy: the bidder's own replay of the billboard, noise drawn in blocks"]
    report = audit_of(sound, 0)
    assert report.passed, report.problems
    assert sum("noise in blocks" in control.name for control in report.controls) == 2


def test_what_is_released_without_noise_costs_everything() -> None:
    """A record without the cells' noise, and a clock that depends on bids: an infinite loss along her own walk."""
    for code in (ClearsBare, SkipsIdleSteps):
        twin = inject_fault(tiny(PLANS["fixed"]), code)
        pair = next(iter(steps(twin, 1)))
        losses = [exact_loss(twin, pair.values, pair.index, pair.other, seed) for seed in range(3)]
        assert max(losses) == math.inf


def test_scaling_is_replayed_too() -> None:
    plan = SinkhornMatch(people=8, goods=3, supply=3, epsilon=2.0, rounds=2, clear=0.3)
    pair = next(iter(steps(plan, 1)))
    history = recorded(plan, pair.values, Noise.simulated(1))
    found = history.loss(pair.index, pair.other)
    assert history.unexplained == 0
    assert 1.0 < found.most <= 2.0
    assert abs(found.log_ratio) <= found.most
    assert found.moved["asked"] == 2


# ---- its own run on neighbours


@pytest.mark.slow
@pytest.mark.parametrize("name", fast(1, ["unsatisfied", *(name for name in PLANS if name != "unsatisfied")]))
def test_what_is_charged_is_kept_and_nearly_attained(name: str) -> None:
    """Without a record that attains it, a charge could be too low by the part that is missing."""
    twin = tiny(PLANS[name])
    found = replayed(twin, 1)
    assert all(not audit.leaks and not audit.flagged for audit in found.values())
    whole = found[""]
    assert 0.55 * whole.promised <= whole.measured <= whole.promised * (1 + 1e-9)
    for part in ("counts", "certificate"):
        if part in found:
            assert found[part].measured >= 0.6 * found[part].promised
    row = transcript_row(twin, 1)
    assert not row.flagged
    assert row.measured == pytest.approx(whole.measured, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", ["replace", "add_or_remove"])
def test_scaling_keeps_what_it_is_charged(neighbours: str) -> None:
    plan = SinkhornMatch(people=20_000, goods=4, supply=4000, epsilon=2.0, neighbours=neighbours)  # type: ignore[arg-type]
    found = replayed(tiny(plan), 1, pairs=4)
    assert [part for part, audit in found.items() if audit.flagged] == []
    assert found["demand"].measured >= 0.7 * found["demand"].promised
    assert found["asked"].measured == pytest.approx(found["asked"].promised, rel=1e-9)
    for says, code in faults(tiny(plan)).items():
        assert any(audit.flagged for audit in replayed(tiny(plan), 1, code, pairs=4).values()), says


@pytest.mark.parametrize(("name", "all_of"), fast(1, [("bundles, copies", False), ("bundles, copies", True),
                                                      ("bundles, places", True)]))
def test_copies_in_one_cell_are_audited(name: str, all_of: bool) -> None:
    """Bundles of copies of one good in one cell: b^2 for each world, and cells as if they lay apart are flagged."""
    sound = counted(PLANS[name]) if not all_of else tiny(PLANS[name])
    assert isinstance(sound, PAlloc)
    assert sound.valuation.repeats
    pairs = None if all_of else 4
    kept = replayed(sound, 1, pairs=pairs)
    assert not any(audit.flagged for audit in kept.values())
    assert kept["clearing"].measured >= 0.49 * kept["clearing"].promised
    found = replayed(sound, 1, ForgetsCopies, pairs=pairs)
    assert found["clearing"].measured > 1.2 * found["clearing"].promised
    assert found["clearing"].flagged


def test_a_counter_of_goods_is_replayed_by_its_own_loops() -> None:
    assert counted(PLANS["bundles, places"]) is None
    assert counted(PLANS["fixed"]) is None
    assert counted_rows(PLANS["bundles"]) == []
    own = counted(PLANS["bundles, concave"])
    assert own is not None
    assert own.valuation == SymmetricConcave(most=2)
    assert not own.plentiful
    for pair in islice(steps(own, 1), 4):
        history = recorded(in_blocks(own), pair.values, Noise.simulated(1))
        assert history.in_blocks
        assert not history.unexplained
        assert history.retold(pair.index, pair.other, published)


@pytest.mark.slow
def test_rows_of_who_counts_goods() -> None:
    rows = counted_rows(PLANS["bundles, copies"], 1)
    assert ["where goods are counted" in row.promise for row in rows] == [True, True, True]
    assert not any(row.flagged for row in rows)
    bent = counted_rows(inject_fault(PLANS["bundles, copies"], QuarterOfTheScale), 1)
    assert all(row.flagged for row in bent)


@pytest.mark.parametrize("plan", fast(1, [PLANS["fixed"], SCALED, PLANS["bundles, places"]]))
@pytest.mark.parametrize("code", [CertifiesTheTruth, NotesOnTheBillboard, MarksTheShares, Tells])
def test_whatever_is_public_is_compared(code: type[Any], plan: Market) -> None:
    """A number of those who want anything, in places that no field of the billboard is."""
    sound = tiny(plan)
    found = replayed(sound, 1, code, pairs=3)
    assert all("published values differ" in audit.leaks[0] for audit in found.values())


def test_faults_are_distinguished() -> None:
    """Each in its own part: noise as if she bids once is seen in the counts alone."""
    sound = tiny(PLANS["unsatisfied"])
    found = replayed(sound, 1, BidsOnce, pairs=4)
    assert {part for part, audit in found.items() if audit.flagged} == {"counts", ""}
    assert found["counts"].measured > 2 * found["counts"].promised
    assert rows_of(CRAFTED)[0].verdict is Verdict.KEPT


def test_charges_are_the_whole() -> None:
    for name in ("fixed", "unsatisfied", "bundles", "gaussian"):
        plan = PLANS[name]
        parts = charges(tiny(plan))
        amounts = [loss.rho if isinstance(loss, ZCDP) else loss.epsilon for loss in parts.values()]  # type: ignore[union-attr]
        assert sum(amounts[1:]) == pytest.approx(amounts[0], rel=1e-9)


@pytest.mark.parametrize("name", [*PLANS, "scaled"])
def test_what_the_ledger_is_charged_is_what_is_named(name: str) -> None:
    plan = SCALED if name == "scaled" else PLANS[name]
    rows, controls = releases(plan).measured()
    assert [(row.verdict, row.side, row.concern) for row in rows] == [("kept", "exactly", "budget")]
    assert [(control.mutant, control.flagged) for control in controls] == [
        ("every release with twice the budget", True),
        ("the final count made twice" if name == "scaled" else "a quarter of the scale", True)]
    for code in (CountsTwice if name == "scaled" else QuarterOfTheScale, TwiceTheBudget):
        (row,) = releases(inject_fault(plan, code)).measured()[0]
        assert row.measured > 1.1  # more than is named
    row, controls = charge_rows(plan.events(), matching(plan).charged, NAMED)  # type: ignore[arg-type]
    assert row.verdict == "kept"
    assert all(control.flagged for control in controls)


def test_a_truncated_run_is_charged_as_one_release_and_its_parts_are_held_too() -> None:
    for plan in (PMatch(**GOODS, on_overflow="truncate", failure_probability=1e-8, delta=1e-6),
                 replace(PLANS["gaussian"], on_overflow="truncate", failure_probability=1e-9)):
        for it, flagged in ((plan, [False, False]), (inject_fault(plan, TwiceTheBudget), [True, False])):
            rows, _ = releases(it).measured()
            whole, controls = charge_rows(it.events(), matching(it).charged, NAMED)  # type: ignore[arg-type]
            assert [row.flagged for row in (*rows, whole)] == flagged
            assert [control.flagged for control in controls] == [True, True]


def test_what_the_noise_rests_on() -> None:
    for name in ("fixed", "unsatisfied", "bundles", "add or remove"):
        rows = reach_rows(PLANS[name])
        assert rows
        assert not any(row.flagged for row in rows)
    assert not reach_rows(SinkhornMatch(people=99, goods=2, supply=9, epsilon=1.0))


@pytest.mark.slow
@pytest.mark.parametrize("plan", fast(1, [
    PMatch(people=600, goods=4, supply=120, epsilon=4.0, increment=0.3, bid_cap=2, rounds=3, batch=60, arity=4,
           certify_with=0.02),
    SinkhornMatch(people=600, goods=4, supply=120, epsilon=4.0, certify_with=0.02)]),
    ids=["auction", "scaling"])
def test_values_beyond_their_range_that_count_are_flagged(plan: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    """The certificate's sums rest on values in [0, 1]: counts of bids would not show a row that is beyond."""
    twin, sound = tiny(plan), Valuations._bad
    assert not any(row.flagged for row in rows_of(twin))
    monkeypatch.setattr(Valuations, "_bad", lambda self, clip: sound(self, clip=clip)[:0])
    assert {"privacy: certificate", "privacy: everything that others see, jointly"} <= {
        row.promise for row in rows_of(twin) if row.flagged}


def test_everything_but_ones_own_share_is_published() -> None:
    twin = tiny(PLANS["unsatisfied"])
    pair = next(iter(neighbours(twin, 1)))
    outcome = twin.run(pair.first, RecordingNoise(Noise.simulated(1)))
    mine = published(outcome, 2)
    goods = outcome.shares["good"].to_numpy().copy()
    goods[2] = 7
    other = replace(outcome, shares=outcome.shares.set_column(0, "good", pa.array(goods)))
    assert outcome.shares.column_names[0] == "good"
    assert published(other, 2) == mine
    assert published(other, 1) != published(outcome, 1)
    assert mine == published(outcome, 2)
    assert mine != published(twin.run(pair.first, Noise.simulated(2)), 2)


# ---- at a campaign's size


def test_behaviour_is_seen_where_it_is_broken() -> None:
    run = run_of(PMatch(**{**GOODS, "people": 2000, "supply": 400, "batch": 200}), 1)
    assert not decode_row(run).flagged
    shares = run.outcome.shares
    moved = replace(run, outcome=type("Moved", (), {"billboard": run.outcome.billboard,
                                                    "shares": shares.take(np.roll(np.arange(len(shares)), 1))}))
    assert decode_row(moved).flagged
    certified = run_of(PMatch(**{**GOODS, "epsilon": 4.0, "increment": 0.05, "bid_cap": 14, "rounds": 50, "batch": 500,
                                 "certify_with": 0.2}), 1)
    assert not any(row.flagged for row in certificate_rows(certified))
    assert all(row.flagged for row in certificate_rows(certified, forgetful=True))


def test_spies_of_a_private_auction_and_of_an_optimum() -> None:
    (row,) = spy_row(PMatch(**{**GOODS, "epsilon": 0.5}), 1)
    assert row.verdict is Verdict.KEPT
    reported = SpyGadgets.drawn(600, 4, worth=0.5, seed=1).optimum
    assert spy_row(PMatch(**{**GOODS, "epsilon": 0.05}), 1, reported)[0].flagged
    assert not spy_row(PMatch(**{**GOODS, "epsilon": 2.0}), 1, reported)[0].flagged  # so much may be learnt then
    assert spy_row(PMatch(**{**GOODS, "epsilon": 20.0}), 1, reported)[0].verdict is Verdict.VACUOUS


@pytest.mark.slow
def test_supply_rows_and_large_markets() -> None:
    sound = PMatch(**{**GOODS, "people": 2000, "supply": 400, "epsilon": 4.0, "batch": 200})
    assert not supply_row(sound, 1).flagged
    reckless = PMatch(people=2000, goods=20, supply=100, epsilon=4.0, increment=0.05, bid_cap=8, rounds=30, batch=100,
                      arity=6, reclear=0.0, reserve=0)
    assert supply_row(reckless, 1).flagged
    large = replace(PLANS["fixed"], people=10**8, supply=2 * 10**7, batch=10**7)
    small = scaled(large)
    assert small.people * small.goods <= 2 * 10**7
    assert small.copies[0] * small.epsilon == pytest.approx(large.copies[0] * large.epsilon, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANS)
def test_every_plan_passes_with_all_its_controls(name: str) -> None:
    done: list[int] = []
    report = audit_of(PLANS[name], 2, lambda at, _: done.append(at))
    assert report.passed, report.problems
    assert done == list(range(1, len(matching(PLANS[name]).measured) + 1))
    assert report.false_alarm <= 2e-8
    injected = faults(tiny(PLANS[name])).keys()
    assert len(injected) >= 5
    assert injected <= {control.mutant for control in report.controls}


@pytest.mark.slow
def test_truncation_and_plenty_pass() -> None:
    cut = PMatch(**GOODS, on_overflow="truncate", failure_probability=1e-8, delta=1e-6)
    plenty = PMatch(**{**GOODS, "people": 50, "supply": 50, "batch": 5})
    for plan in (cut, plenty):
        report: AuditReport = audit_of(plan)
        assert report.passed, report.problems
    rows = audit_of(plenty).rows
    assert {(row.concern, row.measured) for row in rows if row.promised == 0.0 and row.concern != "accuracy"} == {
        ("privacy", 0.0), ("budget", 0.0)}
    (guessed,) = (row for row in rows if "spies guess" in row.promise)
    assert guessed.measured < guessed.promised  # half of the bits are guessed by chance
    assert any(row.promise.startswith("billboard") for row in rows)


# ---- refusals


def test_losses_that_there_are_not() -> None:
    values = np.zeros((8, 2))
    values[0, 0] = 1.0
    with pytest.raises(InvalidInput, match="index"):
        exact_loss(CRAFTED, values, 8, [0, 1], 1)
    with pytest.raises(InvalidInput, match="presence"):
        exact_loss(replace(CRAFTED, neighbours="add_or_remove"), values, 0, [0, 1], 1)
    assert exact_loss(replace(CRAFTED, neighbours="add_or_remove"), values, 0, None, 1) <= 20.0
    with pytest.raises(Unsupported, match="PMatch"):
        own_parts(object(), [0], 0, None, ())
