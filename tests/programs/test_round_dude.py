"""RoundDude: shares are decodes, supplies are kept, the budget adds up, promises after the run hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
import pytest
from scipy.stats import binom

from cases import fast
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy
from confide.numerics.shards import ThreadShards
from confide.privacy.accounting import written
from confide.privacy.filter import price
from confide.privacy.noise import Noise
from confide.programs import PrivDude, RoundDude, UnitDemand
from confide.programs.grids import LOAD_UNIT, Constants
from confide.programs.instances import popular
from confide.programs.whole_parts import drawn_rounds, responses_in

from false_alarms import alpha


def small(people: int = 400, goods: int = 4, **options) -> RoundDude:  # type: ignore[no-untyped-def]
    program = UnitDemand(people, people // (2 * goods), goods=goods)
    return RoundDude(program, **{"epsilon": 6.0, "delta": 1e-6, "rounds": 40, "burn_in": 20, **options})


@pytest.mark.parametrize("options", fast(2, [
    {}, {"truncate": True, "epsilon": 12.0}, {"batch": 1}, {"batch": 23}, {"law": "discrete_gaussian"},
    {"neighbours": "add_or_remove"}, {"flag_share": 0.7}, {"rounds": 1, "burn_in": 0}]))
def test_shares_are_separate_decodes(options: dict[str, object]) -> None:
    mechanism, values = small(**options), popular(400, 4, seed=2)
    outcome = mechanism.run(values, Noise.simulated(3))
    board = outcome.billboard
    mechanism.check(board)
    assert (board.raised < 400).any()  # otherwise the flags are not seen at work
    shares = outcome.shares["action"].to_pylist()
    assert [mechanism.decode(values[i], i, board) for i in range(400)] == [{"action": one} for one in shares]
    records = mechanism.program.read(values)
    drawn = responses_in(mechanism.program, records, board.main_prices, drawn_rounds(board.public_seed, 400,
                                                                                     mechanism.rounds))
    late = np.append(board.raised, 400)[drawn[:, 0]] <= np.arange(400)
    assert shares == np.where(late, -1, drawn[:, 0]).tolist()
    load = np.bincount(np.array(shares) + 1, minlength=5)[1:]
    assert np.array_equal(outcome.diagnostics["load"], load)  # type: ignore[index]
    assert outcome.diagnostics["unserved"] == late.sum() == np.sum(late)  # type: ignore[index]


def test_threads_parts_and_runs_alike() -> None:
    mechanism, values = small(), popular(400, 4, seed=2)
    first = mechanism.run(values, Noise.simulated(3))
    for workers in (1, 2):
        again = mechanism.run(values, Noise.simulated(3), shards=partial(ThreadShards, workers=workers))
        assert again.shares.equals(first.shares)
        assert np.array_equal(again.billboard.raised, first.billboard.raised)


@pytest.mark.parametrize("runs", fast(1, [20, 500]))
def test_flags_with_stops_keep_every_supply(runs: int) -> None:
    """Spec convex_programs 11.8."""
    mechanism, values = small(truncate=True, epsilon=12.0, rounds=5, burn_in=0), popular(400, 4, seed=2)
    records = mechanism.program.read(values)
    for seed in range(runs):
        outcome = mechanism.run(records, Noise.simulated(seed))
        assert outcome.diagnostics["excess"].max() == 0.0  # type: ignore[index]


@pytest.mark.slow
def test_flags_keep_every_supply_but_for_beta() -> None:
    """Spec convex_programs 11.8; prices of few rounds leave far too much demand."""
    mechanism, values = small(failure_probability=0.2, rounds=5, burn_in=0), popular(400, 4, seed=2)
    records, over = mechanism.program.read(values), 0
    for seed in range(300):
        excess = mechanism.run(records, Noise.simulated(seed)).diagnostics["excess"]  # type: ignore[union-attr]
        over += int(excess.max() > 0)
    assert over <= binom.isf(alpha("programs.round_dude.feasible"), 300, 0.2)


def test_prices_and_flags_cost_the_budget_together() -> None:
    for options in ({}, {"truncate": True, "epsilon": 12.0}, {"flag_share": 0.3, "epsilon": 7.3}):
        mechanism = small(**options)
        epsilon, delta = mechanism._gaussian_part
        path, flags = mechanism.events()
        assert written(epsilon) + written(mechanism.flags.epsilon) <= written(mechanism.epsilon)
        assert epsilon + mechanism.flags.epsilon == pytest.approx(mechanism.epsilon, rel=1e-12)
        spent = written(delta) + written(mechanism.flags.stop_delta)
        assert Fraction(999_999, 1_000_000) * written(mechanism.delta) < spent <= written(mechanism.delta)
        alone = PrivDude(mechanism.program, epsilon, delta)
        assert mechanism.squared_budget == alone.squared_budget
        if mechanism.truncate:
            assert (path.epsilon, path.delta) == (epsilon, delta)  # type: ignore[attr-defined]
        else:
            assert path == alone.events()[0]
        cost = price("basic", mechanism.events(), mechanism.delta)  # as a ledger charges it
        assert cost.epsilon <= written(mechanism.epsilon) * Fraction(1_000_000_001, 1_000_000_000)
        assert cost.delta <= written(mechanism.delta)
        assert flags.epsilon == mechanism.flags.epsilon  # type: ignore[attr-defined]


def test_a_secure_run_is_settled() -> None:
    mechanism, values = small(people=200, goods=2), popular(200, 2, seed=2)
    values[17, 1] = np.nan
    with pytest.raises(InvalidInput, match="row 17"):
        mechanism.run(values, Noise.simulated(1))
    outcome = mechanism.run(values, Noise.secure())
    mechanism.check(outcome.billboard)
    assert outcome.release_safe
    assert outcome.shares["action"][17].as_py() == mechanism.decode(None, 17, outcome.billboard)["action"] == -1
    for i in (0, 1, 150, 199):
        assert outcome.shares["action"][i].as_py() == mechanism.decode(values[i], i, outcome.billboard)["action"]


def test_who_goes_without_is_bounded_after_the_run() -> None:
    """Spec convex_programs 5, with the certificate in place of the a-priori regret."""
    mechanism = RoundDude(UnitDemand(20_000, 1000, goods=10), epsilon=1.0, delta=1e-6, rounds=100, burn_in=50)
    for seed in range(2):
        outcome = mechanism.run(popular(20_000, 10, seed=seed), Noise.simulated(seed))
        bound = mechanism.unserved(outcome.billboard)
        assert 0 < outcome.diagnostics["unserved"] <= bound < 20_000  # type: ignore[index]
    none = replace(outcome.billboard, raised=np.full(10, 20_000))
    assert mechanism.unserved(none) == 0.0


def test_promises() -> None:
    mechanism = small()
    feasible, unserved, value = mechanism.guarantees().of(Accuracy)
    assert (feasible.bound, feasible.failure_probability, feasible.vacuous) == (0.0, 0.05, False)
    assert unserved.vacuous
    assert value.vacuous
    assert small(truncate=True, epsilon=12.0).guarantees().of(Accuracy)[0].failure_probability == 0.0
    long = RoundDude(UnitDemand(10**7, 10**6, goods=5), epsilon=1.0, delta=1e-6, rounds=100_000, burn_in=0)
    assert not any(one.vacuous for one in long.guarantees())


def test_a_billboard_that_no_run_makes_is_refused() -> None:
    mechanism, values = small(batch=5), popular(400, 4, seed=2)
    board = mechanism.run(values, Noise.simulated(3)).billboard
    for change in ({"raised": board.raised + 1}, {"raised": np.zeros(4, dtype=np.int64)}, {"raised": board.raised[:3]},
                   {"raised": board.raised.astype(float)}, {"public_seed": ""}, {"public_seed": "x"},
                   {"slacks": board.slacks + 4000 * LOAD_UNIT}):
        with pytest.raises(InvalidInput):
            mechanism.check(replace(board, **change))
    other = PrivDude(mechanism.program, 1.0, 1e-6, 40, 20).run(values, Noise.simulated(1)).billboard
    for ask in (mechanism.check, partial(mechanism.decode, values[0], 0), mechanism.unserved):
        with pytest.raises(InvalidInput, match="FlagBillboard"):
            ask(other)


@dataclass(frozen=True)
class NotPacking(UnitDemand):
    @cached_property
    def constants(self) -> Constants:
        return replace(super().constants, packing=False)


@pytest.mark.parametrize("bad", [
    {"epsilon": 0.0}, {"delta": 1.0}, {"flag_share": 0.0}, {"flag_share": 1.0}, {"stop_share": 1.0}, {"batch": 0},
    {"batch": 401}, {"truncate": 1}, {"failure_probability": 0.0}, {"epsilon": 2000.0, "truncate": True}])
def test_public_faults_are_refused_before_any_record(bad: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        small(**bad)


def test_programs_and_supplies_that_flags_cannot_keep_are_refused() -> None:
    with pytest.raises(InvalidInput, match="packing"):
        RoundDude(NotPacking(400, 50, goods=4), epsilon=6.0, delta=1e-6)
    with pytest.raises(InvalidInput, match="program"):
        RoundDude("a program", epsilon=6.0, delta=1e-6)  # type: ignore[arg-type]
    with pytest.raises(Refused, match=r"infeasible budget.*supply.*times as large"):
        small(epsilon=0.5)
