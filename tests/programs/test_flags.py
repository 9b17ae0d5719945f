"""Flags: every transcript of small programs costs no more than was said, margins hold, stops are certain."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import binom

from cases import fast
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Relation
from confide.privacy.halting_law import LaplaceLaw
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.programs.audited_flags import FlagLaw
from confide.programs.flags import Flags, flag_loss, flag_split, usual_batch
from confide.programs.grids import LOAD_UNIT

from false_alarms import alpha


def worst(law: FlagLaw, most: int, *, null: bool = False) -> float:
    """The largest log ratio of two neighbours' probabilities, over all programs of 0/1 contributions, all transcripts.

    Args:
        law: of the flags.
        most: C1, what one contribution may add up to.
        null: whether a neighbour is a record without contribution, rather than any other.
    """
    rows = [row for row in product((0.0, 1.0), repeat=len(law.levels)) if sum(row) <= most]
    logs = np.array([law.logs(np.array(table)) for table in product(rows, repeat=law.people)])
    assert np.allclose(np.exp(logs).sum(axis=1), 1.0, atol=1e-9)
    grid = logs.reshape((len(rows),) * law.people + (-1,))
    found = 0.0
    for place in range(law.people):
        lined = np.moveaxis(grid, place, 0)
        apart = lined - lined[:1] if null else lined.max(axis=0) - lined.min(axis=0)  # rows[0] is nothing
        found = max(found, float(np.abs(apart).max()))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "most", "level", "query", "lattice", "batch"), fast(5, [
    (1, 1, 0.5, 0.5, False, 1), (2, 1, 0.25, 0.5, True, 2), (2, 2, 0.5, 0.5, False, 1), (3, 1, 0.5, 0.5, True, 1),
    (3, 2, 0.3, 0.7, True, 1), (2, 1, 0.8, 0.2, True, 1), (2, 1, 0.5, 0.5, True, 1), (1, 1, 0.2, 0.6, False, 1),
    (1, 1, 0.6, 0.2, True, 1), (3, 3, 0.5, 0.5, True, 1), (3, 3, 0.3, 0.7, False, 1), (3, 1, 0.7, 0.3, False, 1),
    (2, 2, 0.2, 0.9, False, 1), (3, 2, 0.7, 0.3, False, 2)]))
@pytest.mark.parametrize("null", [False, True])
def test_no_transcript_costs_more_than_the_loss(
    rows: int, most: int, level: float, query: float, lattice: bool, batch: int, null: bool
) -> None:
    """Spec convex_programs 11.8, with a control whose queries have a quarter of the noise."""
    promised = flag_loss(level, query, float(most), rows, neighbours="add_or_remove" if null else "replace")

    def law(factor: float) -> FlagLaw:
        return FlagLaw(people=3, levels=(1.0,) * rows, batch=batch, level=LaplaceLaw(1 / level, lattice),
                       query=LaplaceLaw(1 / (factor * query), lattice))

    sound = worst(law(1.0), most, null=null)
    assert 0.3 * promised < sound <= promised + 1e-9
    if query >= level and batch == 1:  # one query alone is hidden by its level's noise too
        assert worst(law(4.0), most, null=null) > promised


def test_the_loss_is_nearly_met() -> None:
    """The accounting cannot be much better: levels far from the loads come close to it."""
    for rows, most, low in ((1, 1, 0.49), (2, 2, 0.95)):
        far = FlagLaw(people=3, levels=(-20.0,) * rows, level=LaplaceLaw(2.0, True), query=LaplaceLaw(2.0, True))
        near = FlagLaw(people=3, levels=(3.0,) * rows, level=LaplaceLaw(2.0, True), query=LaplaceLaw(2.0, True))
        assert max(worst(far, most), worst(near, most)) > low


def test_loss_in_closed_form() -> None:
    """Spec convex_programs 5: unit demand eps_t + eps_q, bundles d times that, null neighbours hi min(k, kappa)."""
    assert flag_loss(0.2, 0.3, 1.0, 10) == 0.5
    assert flag_loss(Fraction(1, 5), Fraction(3, 10), Fraction(3), 6) == Fraction(3, 2)
    assert flag_loss(0.2, 0.3, 3.0, 4) == pytest.approx(0.3 * 3 + 0.2)
    assert flag_loss(0.3, 0.2, 3.0, 2, neighbours="add_or_remove") == pytest.approx(0.6)
    with pytest.raises(InvalidInput):
        flag_loss(0.3, 0.2, 3.0, 2, neighbours="add")  # type: ignore[arg-type]


@pytest.mark.parametrize(("entries", "rows", "neighbours"), [
    (1.0, 10, "replace"), (3.0, 4, "replace"), (3.0, 2, "replace"), (1.0, 10, "add_or_remove"),
    (2.5, 1000, "replace"), (1.0, 1, "replace")])
def test_no_other_split_of_the_same_cost_leaves_less_margin(entries: float, rows: int, neighbours: str) -> None:
    queries, failure_probability = 5000, 0.05
    level, query = flag_split(0.4, entries, rows, queries, failure_probability, neighbours=neighbours)  # type: ignore[arg-type]
    assert flag_loss(level, query, entries, rows, neighbours=neighbours) == pytest.approx(0.4)  # type: ignore[arg-type]
    many, few = math.log(rows * queries / failure_probability), math.log(rows / failure_probability)
    for ratio in np.geomspace(0.1, 10, 201):
        other = 0.4 / flag_loss(1.0, float(ratio), entries, rows, neighbours=neighbours)  # type: ignore[arg-type]
        assert many / query + few / level <= (many / ratio + few) / other * (1 + 1e-9)
    if rows >= 2 * entries and neighbours == "replace":
        assert query / level == pytest.approx(math.sqrt(many / few))


def flags(**options) -> Flags:  # type: ignore[no-untyped-def]
    return Flags(**{"people": 60, "supply": (40 * LOAD_UNIT,) * 2, "largest": 1.0, "entries": 1.0, "epsilon": 4.0,
                    "failure_probability": 0.1, **options})


@given(st.data())
def test_what_is_published_is_the_transcript_that_was_drawn(data: st.DataObject) -> None:
    """Each row's flag rises at the first query where its delivered load is above its level, noise on both."""
    people, k = data.draw(st.integers(2, 12)), data.draw(st.integers(1, 3))
    batch = data.draw(st.integers(1, people - 1))
    seed = data.draw(st.integers(0, 2**32))
    draw = study_generator(seed)
    table = draw.integers(0, 3, (people, k)) * LOAD_UNIT
    plan = Flags(people=people, supply=(400 * LOAD_UNIT,) * k, largest=2.0, entries=float(k), epsilon=1.0, batch=batch)
    levels = (draw.integers(-3, 8, k) * LOAD_UNIT - plan.levels).astype(np.int64)
    noise = draw.integers(-3 * LOAD_UNIT, 3 * LOAD_UNIT, (plan.queries, k))
    who, rows = np.nonzero(table)
    starts = np.concatenate([[0], np.cumsum(np.bincount(who, minlength=people))])
    raised, served = plan.run(Noise.replayed({"level": levels, ("query", 0): noise}), starts, rows, table[who, rows])
    law = FlagLaw(people=people, levels=(0.0,) * k, level=LaplaceLaw(1.0, True), query=LaplaceLaw(1.0, True),
                  batch=batch)
    at = np.where(raised == people, plan.queries, raised // batch - 1)
    counted = law.counted(table.astype(float), tuple(at.tolist()))
    above = counted + noise > plan.levels + levels
    for j in range(k):
        assert raised[j] == people or raised[j] % batch == 0
        assert not above[: at[j], j].any()
        assert at[j] == plan.queries or above[at[j], j]
    late = (table > 0) & (np.arange(people)[:, None] >= raised)
    assert np.array_equal(served, ~late.any(axis=1))


@pytest.mark.parametrize("batch", [1, 7])
def test_no_noise_breaks_a_supply_with_stops(batch: int) -> None:
    """Everybody wants the first row; levels as high and queries as low as they go."""
    everybody = np.arange(61), np.zeros(60, dtype=np.int64), np.full(60, LOAD_UNIT)
    for stop_delta, sure in ((1e-3, True), (0.0, False)):
        plan = flags(stop_delta=stop_delta, epsilon=8.0, batch=batch, supply=(45 * LOAD_UNIT, 40 * LOAD_UNIT))
        for far in (1, 1000):
            noise = Noise.replayed({"level": np.full(2, far * 10**8),
                                    ("query", 0): np.full((plan.queries, 2), -far * 10**8)})
            served = plan.run(noise, *everybody)[1]
            assert (served.sum() <= 45) == sure
        assert served.sum() > 45 - batch - 1


def test_stops_cost_no_more_than_they_may() -> None:
    big = {"people": 100_000, "batch": 13, "epsilon": 0.4, "supply": (5000 * LOAD_UNIT,) * 10,
           "failure_probability": 0.05}
    plan, loose = flags(stop_delta=1e-7, **big), flags(**big)
    assert 0.99e-7 < plan.delta <= 1e-7
    event = plan.event(Relation.REPLACE)
    assert (event.epsilon, event.delta) == (0.4, 1e-7)  # type: ignore[attr-defined]
    assert loose.delta == 0.0
    assert 2.0 < plan.room / loose.room < 2.4
    level, query = plan.parts
    draws, failure = 10 * (plan.queries + 1), 1e-7 / (1 + math.exp(0.4))
    assert plan.room < 0.7 * LOAD_UNIT * (math.log(10 / failure) / level + math.log(draws / failure) / query)


def test_stops_cost_their_delta_exactly() -> None:
    """One world's load reaches the stop, its neighbour's does not: above 0, and no more than the coupling's bound."""
    plan = flags(people=5, supply=(3 * LOAD_UNIT,), epsilon=8.0, stop_delta=0.2, failure_probability=0.05)
    level, query, room = (part / LOAD_UNIT for part in (plan.level_scale, plan.query_scale, plan.room))
    law = FlagLaw(people=5, levels=(2.0 - room,), stops=(2.0,), level=LaplaceLaw(level, False),
                  query=LaplaceLaw(query, False))
    ones, less = np.ones((5, 1)), np.ones((5, 1))
    less[0] = 0.0
    paid = law.delta(ones, less, plan.epsilon)
    assert 0.0 < paid <= 0.2
    assert law.loss(ones, less) == math.inf
    assert np.exp(law.logs(ones)).sum() == pytest.approx(1.0)
    free = FlagLaw(people=5, levels=law.levels, level=law.level, query=law.query)
    assert free.delta(ones, less, plan.epsilon) <= 1e-12
    tight = FlagLaw(people=5, levels=(2.0,), stops=(2.0,), level=law.level, query=law.query)  # no room at all
    assert tight.delta(ones, less, plan.epsilon) > 0.2


def test_stops_change_nothing_but_what_noise_beyond_its_room_does() -> None:
    """The coupling of the proof: with the same noise, both agree wherever no row's noises are further apart than M."""
    draw, alike, apart = study_generator(5), 0, 0
    everybody = np.arange(61), np.zeros(60, dtype=np.int64), np.full(60, LOAD_UNIT)
    stopped = flags(supply=(30 * LOAD_UNIT,), stop_delta=0.3, epsilon=3.0, batch=2)
    free = Flags(people=60, supply=(30 * LOAD_UNIT,), largest=1.0, entries=1.0, epsilon=3.0, batch=2,
                 failure_probability=0.05)
    for _ in range(300):
        level = draw.laplace(0.0, 2 * stopped.level_scale, 1).astype(np.int64)
        query = draw.laplace(0.0, 2 * stopped.query_scale, (stopped.queries, 1)).astype(np.int64)
        far = bool((level - query > stopped.room).any())
        with_stops = stopped.run(Noise.replayed({"level": level, ("query", 0): query}), *everybody)
        same_level = level + (stopped.levels - free.levels)
        without = free.run(Noise.replayed({"level": same_level, ("query", 0): query}), *everybody)
        agree = np.array_equal(with_stops[0], without[0])
        assert agree or far
        assert with_stops[1].sum() <= 30
        alike, apart = alike + agree, apart + (not agree)
    assert alike > apart > 0


@pytest.mark.parametrize("options", [
    {}, {"epsilon": 0.7, "supply": (400 * LOAD_UNIT,) * 5, "entries": 2.0}, {"neighbours": "add_or_remove"},
    {"largest": 0.3, "entries": 1.7}, {"epsilon": 0.4, "supply": (400 * LOAD_UNIT,)}])
def test_noise_costs_the_budget_and_no_more(options: dict[str, object]) -> None:
    plan = flags(**options)
    assert Fraction(plan.epsilon) * Fraction(999_999, 1_000_000) < plan.loss <= Fraction(plan.epsilon)


def test_margin_is_below_that_of_both_noises_apart() -> None:
    plan = flags(people=100_000, epsilon=0.4, batch=13, supply=(5000 * LOAD_UNIT,) * 10, failure_probability=0.05)
    level, query = plan.parts
    printed = math.log(10 / 0.05) / level + math.log(10 * plan.queries / 0.05) / query
    assert plan.reserve == 13 * LOAD_UNIT + plan.room
    assert 0.7 * printed < plan.room / LOAD_UNIT < 0.8 * printed
    assert plan.queries == 7692
    assert [usual_batch(n, 0.4, 1.0, 10) for n in (1000, 100_000)] == [5, 13]
    assert usual_batch(10, 1e-9, 1.0, 10) == 10
    assert np.array_equal(plan.levels, np.full(10, 5000 * LOAD_UNIT - plan.reserve))


@pytest.mark.parametrize("options", [
    {}, {"batch": 7, "failure_probability": 0.4}, {"epsilon": 40.0, "supply": (40 * LOAD_UNIT,),
                                                   "failure_probability": 1e-7}])
def test_room_for_noise_is_what_its_law_asks(options: dict[str, object]) -> None:
    """P[some query's noise is below its level's by more than M], integrated otherwise, is beta/k and no more."""
    plan = flags(**options)
    m, level, query = plan.room, plan.level_scale, plan.query_scale

    def fails(z: float) -> float:
        far = math.exp(-abs(z - m) / query) / 2
        return -math.expm1(plan.queries * math.log1p(-min(far if z < m else 1 - far, 1 - 1e-15)))

    cuts = [-40 * level, 0.0, m - query * math.log(plan.queries), float(m), m + 40 * level]
    found = sum(quad(lambda z: math.exp(-abs(z) / level) / (2 * level) * fails(z), *ends, epsabs=1e-16)[0]
                for ends in pairwise(cuts))
    assert 0.95 * plan.failure_probability / plan.rows < found <= plan.failure_probability / plan.rows


def test_one_batch_asks_nobody() -> None:
    plan = flags(batch=60, supply=(61 * LOAD_UNIT,), epsilon=1e-3)
    raised, served = plan.run(Noise.simulated(1), np.arange(61), np.zeros(60, dtype=np.int64), np.full(60, LOAD_UNIT))
    assert (plan.queries, plan.reserve) == (0, 60 * LOAD_UNIT)
    assert served.all()
    assert raised.tolist() == [60]


def test_rows_end_within_supply_but_for_beta() -> None:
    runs, over = 400, 0
    plan = flags(failure_probability=0.3, epsilon=3.0, supply=(30 * LOAD_UNIT,), batch=3)
    everybody = np.arange(61), np.zeros(60, dtype=np.int64), np.full(60, LOAD_UNIT)
    for seed in range(runs):
        over += int(plan.run(Noise.simulated(seed), *everybody)[1].sum() > 30)
    assert over <= binom.isf(alpha("programs.flags.feasible"), runs, plan.failure_probability)


@pytest.mark.parametrize("bad", [
    {"people": 0}, {"epsilon": 0.0}, {"failure_probability": 1.0}, {"batch": 0}, {"batch": 61}, {"stop_delta": 1.0},
    {"stop_delta": 1e-3, "epsilon": 601.0}, {"largest": 0.0}, {"entries": math.inf}])
def test_public_faults_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        flags(**bad)


def test_a_margin_above_the_supply_is_refused_and_says_what_would_do() -> None:
    with pytest.raises(Refused, match=r"infeasible budget.*a supply [\d.]+ times as large, .*, or [\d.]+ times"):
        flags(epsilon=0.2)
    with pytest.raises(Refused, match="infeasible budget"):
        flags(epsilon=1e-300)
    need = flags(supply=(10**12,)).reserve
    flags(supply=(need + 1,))
    with pytest.raises(Refused, match="infeasible budget"):
        flags(supply=(need,))


def test_a_law_that_cannot_be_listed_is_refused() -> None:
    one = LaplaceLaw(1.0, True)
    with pytest.raises(InvalidInput, match="levels"):
        FlagLaw(people=40, levels=(1.0,) * 5, level=one, query=one)
    with pytest.raises(InvalidInput, match="batch"):
        FlagLaw(people=3, levels=(1.0,), level=one, query=one, batch=3)
    with pytest.raises(InvalidInput, match="contributions"):
        FlagLaw(people=3, levels=(1.0,), level=one, query=one).logs(np.zeros((2, 1)))
