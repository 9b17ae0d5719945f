"""Electricity: best responses, dual bounds with and without needs, the chain of erratum 8, runs beside HiGHS."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from highs_reference import optimum, penalised
from hypothesis import given
from hypothesis import strategies as st

from cases import fast
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.programs import Electricity, PrivDude
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT

KINDS = ({}, {"shortfall": 0.3}, {"shortfall": 2.0}, {"hard": True, "tau": 3.0})


def made_up(program: Electricity, seed: int):  # type: ignore[no-untyped-def]
    """Values that peak together, and needs where they are asked: public."""
    draw, (n, (t, q)) = study_generator(seed), (program.people, program._shape)
    peak = draw.uniform(0.3, 1.0, (t, q))
    values = draw.random((n, t, q)) * peak
    if not program.asks_needs:
        return values
    needs = draw.integers(0, min(q, program.most) + 1, (n, t))
    needs[needs.sum(axis=1) > program.most, 1:] = 0
    return values, needs


def everything(program: Electricity):  # type: ignore[no-untyped-def]
    """All plans of whole slots."""
    for size in range(program.most + 1):
        for slots in combinations(range(program.rows), size):
            yield np.array([*slots] + [-1] * (program.most - size), dtype=np.int32)[None]


@pytest.mark.parametrize("options", KINDS)
@pytest.mark.parametrize("most", [1, 2, 4])
def test_responses_are_as_good_as_any_plan(options: dict[str, object], most: int) -> None:
    program = Electricity(10, 5.0, most=most, intervals=2, slots=3, **options)  # type: ignore[arg-type]
    records, draw = program.read(made_up(program, most)), study_generator(7)
    plans = list(everything(program))
    for _ in range(3):
        prices = (draw.choice([0.0, 0.25, 0.5, 1.0, 2.0], 6) * draw.random(6) * PRICE_UNIT).astype(np.int64)
        chosen = program.respond(records, prices)
        for i in range(10):
            one = records.take(slice(i, i + 1))
            gains = [int(program.values(one, plan)[0] - program.paid(one, plan, prices)[0]) for plan in plans
                     if not program.hard or not program.missed(one, plan).any()]
            own = chosen[i : i + 1]
            assert not program.hard or not program.missed(one, own).any()
            assert int(program.values(one, own)[0] - program.paid(one, own, prices)[0]) == max(gains)
            used = own[own >= 0].tolist()
            assert used == sorted(set(used))
            assert (own[0, len(used):] == -1).all()
            assert np.array_equal(program.respond(one, prices), own)


def test_ties_leave_slots_alone_or_take_the_first() -> None:
    program = Electricity(1, 5.0, most=2, intervals=1, slots=4, shortfall=1.0)
    for values, needs, prices, wanted in (
        ([0.5] * 4, 0, [0.5] * 4, [-1, -1]),  # worth nothing
        ([0.5] * 4, 0, [0.25] * 4, [0, 1]),
        ([0.5] * 4, 1, [1.5] * 4, [-1, -1]),  # a missed slot costs as much as one
        ([0.5] * 4, 1, [1.25] * 4, [0, -1]),
        ([0.5, 0.5, 0.75, 0.5], 0, [0.25] * 4, [0, 2]),
    ):
        record = program.one(([values], [needs]))
        assert program.respond(record, (np.array(prices) * PRICE_UNIT).astype(np.int64)).tolist() == [wanted]


def test_cheap_shortfalls_give_way_to_better_slots() -> None:
    """Needs first, and the rest by what is left (spec convex_programs 4), is best where needs are hard only."""
    program = Electricity(1, 5.0, most=1, intervals=2, slots=2, shortfall=0.25)
    record = program.one(([[0.0, 0.0], [0.0, 1.0]], [1, 0]))
    assert program.respond(record, np.zeros(4, dtype=np.int64)).tolist() == [[3]]
    assert program.values(record, np.array([[3]], dtype=np.int32)).tolist() == [int(0.75 * PRICE_UNIT)]


@pytest.mark.parametrize("options", KINDS)
def test_solvers_see_the_same_program(options: dict[str, object]) -> None:
    program = Electricity(30, 8.0, most=4, intervals=2, slots=3, **options)  # type: ignore[arg-type]
    records, draw = program.read(made_up(program, 3)), study_generator(5)
    linear = program.linear_program(records)
    actions = program.respond(records, (draw.random(6) * PRICE_UNIT).astype(np.int64))
    x = np.zeros(linear.size)
    for i, action in enumerate(actions):
        x[i * 6 + action[action >= 0]] = 1.0
    missed = program.missed(records, actions)
    x[180:] = missed[records.needs > 0] if program.shortfall else x[180:]
    assert linear.objective @ x == pytest.approx(program.values(records, actions).sum() / PRICE_UNIT, abs=1e-9)
    assert np.array_equal(linear.coupling @ x * LOAD_UNIT, program.load(records, actions))
    assert np.array_equal(program.load(records, actions), program.contributions(records, actions).sum(axis=0))
    personal = linear.personal @ x
    assert ((personal >= linear.low) & (personal <= linear.high)).all()
    assert (linear.owner[:180] == np.repeat(np.arange(30), 6)).all()
    if program.hard:  # and every one of its plans is hers
        x[:] = 0
        assert ((linear.personal @ x < linear.low).sum()) == (records.needs > 0).sum()


@given(st.integers(0, 2**32), st.sampled_from(KINDS), st.integers(1, 6))
def test_one_record_moves_loads_by_sigma_at_most(seed: int, options: dict[str, object], most: int) -> None:
    program = Electricity(2, 1.0, most=most, intervals=2, slots=3, **options)  # type: ignore[arg-type]
    records, draw = program.read(made_up(program, seed)), study_generator(seed)
    prices = (draw.random(6) * 1.2 * PRICE_UNIT).astype(np.int64)
    one, other = program.contributions(records, program.respond(records, prices)) // LOAD_UNIT
    assert ((one - other) ** 2).sum() <= program.constants.squared_l2_sensitivity("replace") == min(6, 2 * most)
    assert (one**2).sum() <= program.constants.squared_l2_sensitivity("add_or_remove") == most
    assert max(one.sum(), other.sum()) <= program.constants.largest_sum


@pytest.mark.parametrize("seed", fast(3, range(30)))
@pytest.mark.parametrize("options", KINDS[:3])
def test_one_plus_the_shortfall_is_a_dual_bound(options: dict[str, object], seed: int) -> None:
    program = Electricity(12, 3.0, most=3, intervals=2, slots=3, **options)  # type: ignore[arg-type]
    linear = program.linear_program(program.read(made_up(program, seed)))
    assert penalised(linear, program.taus[0]) == pytest.approx(optimum(linear), abs=1e-7)


def chain(extra: float = 0.0) -> tuple[Electricity, object]:
    """Eight people, five slots. More of the first slot moves four of them, each from the next slot into her own.

    A[j] needs slot j and all after j + 1, B[j] all after j: they want slot j, and have no other free slot but j + 1
    (those before are dear). A[j] is in it, B[j] is in j + 1.
    """
    values, needs = np.zeros((8, 1, 5)), np.zeros((8, 1), dtype=int)
    for j in range(4):
        for i in (j, j + 4):
            values[i, 0, j], needs[i, 0] = 1.0, 4 - j
    supply = np.zeros(5)
    for j in range(4):
        supply[[j, *range(j + 2, 5)]] += 1.0
        supply[j + 1 :] += 1.0
    supply[0] += extra
    return Electricity(8, supply[None], most=4, hard=True, tau=4.0), (values, needs)


def test_prices_of_hard_needs_add_up_along_a_chain() -> None:
    """Spec convex_programs 7 (erratum 8) and 11.3: tau = 1 is false although values are at most 1."""
    program, data = chain()
    linear = program.linear_program(program.read(data))
    assert optimum(linear) == pytest.approx(4.0, abs=1e-7)
    assert penalised(linear, 4.0) == pytest.approx(4.0, abs=1e-7)
    for tau in (1.0, 3.0, 3.99):
        assert penalised(linear, tau) > 4.0 + 1e-3
    more, data = chain(0.5)
    assert optimum(more.linear_program(more.read(data))) == pytest.approx(6.0, abs=1e-7)


def test_hard_needs_make_no_claim_without_a_declared_tau() -> None:
    with pytest.raises(InvalidInput, match="tau"):
        Electricity(8, 4.0, most=4, intervals=1, slots=5, hard=True)


@pytest.mark.parametrize("options", fast(2, KINDS[::-1]))
def test_runs_without_noise_reach_the_optimum(options: dict[str, object]) -> None:
    """Spec convex_programs 11.4."""
    n = 50
    supply = 30.0 if "hard" in options else 18.0  # enough for what is needed
    program = Electricity(n, supply, most=3, intervals=2, slots=3, **options)  # type: ignore[arg-type]
    data = made_up(program, 1)
    mechanism = PrivDude(program, 1.0, 1e-6, 400, 400)
    outcome = mechanism.run(data, Noise.replayed({("slack", t): np.zeros(6) for t in range(800)}))
    best = optimum(program.linear_program(program.read(data)))
    found = outcome.diagnostics  # type: ignore[union-attr]
    assert (found["load"] > supply - 0.5).any()  # there is less than is wanted
    assert found["excess"].sum() < 0.001 * n
    assert abs(best - found["value"]) < 0.005 * abs(best)
    for i in range(0, n, 9):
        record = data[i] if isinstance(data, np.ndarray) else (data[0][i], data[1][i])
        share = {name: outcome.shares[name][i].as_py() for name in ("actions", "times")}
        assert share == mechanism.decode(record, i, outcome.billboard)


@pytest.mark.slow
def test_the_published_day() -> None:
    """Spec convex_programs 9.5: 4000 people, 24 rows, at most 8 slots: gap .3 percent, violation .7 percent."""
    gaps, over = [], []
    for seed in range(4):
        program = Electricity(4000, 900.0, most=8, intervals=6, slots=4)
        data = made_up(program, seed)
        outcome = PrivDude(program, epsilon=1.0, delta=1e-6).run(data, Noise.simulated(seed))
        best = optimum(program.linear_program(program.read(data)))
        found = outcome.diagnostics  # type: ignore[union-attr]
        gaps.append(abs(best - found["value"]) / best)
        over.append(found["excess"].sum() / sum(program.supplies))
        assert best - found["value"] <= outcome.certificate.gap
    assert np.mean(gaps) < 0.005
    assert np.mean(over) < 0.01


VALUES, NEEDS = np.full((3, 2, 3), 0.5), np.full((3, 2), 2)


@pytest.mark.parametrize("bad", [
    {"intervals": None}, {"slots": 0}, {"most": 0}, {"most": 7}, {"supply": -1.0}, {"supply": np.nan},
    {"supply": (1.0, 2.0)}, {"supply": np.ones((3, 3))}, {"shortfall": 0.0}, {"shortfall": np.inf}, {"hard": 1},
    {"hard": True}, {"hard": True, "tau": 2.0, "shortfall": 1.0}, {"tau": -1.0}, {"tau": (1.0, 1.0)}, {"people": 0}])
def test_bad_programs(bad: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        Electricity(**{"people": 3, "supply": 1.0, "most": 4, "intervals": 2, "slots": 3, **bad})  # type: ignore[arg-type]


@pytest.mark.parametrize(("what", "place", "number"), [
    ("values", (1, 0, 2), np.nan), ("values", (1, 0, 2), 1.01), ("values", (1, 0, 2), -0.01),
    ("needs", (1, 0), 0.5), ("needs", (1, 0), 4), ("needs", (1, 0), -1), ("needs", (1, 0), np.nan),
    ("needs", (1, 0), 3),  # five in all
])
def test_bad_records(what: str, place: tuple[int, ...], number: float) -> None:
    program = Electricity(3, 1.0, most=4, intervals=2, slots=3, shortfall=1.0)
    values, needs = VALUES.copy(), NEEDS.astype(float)
    {"values": values, "needs": needs}[what][place] = number
    with pytest.raises(InvalidInput, match="row 1"):
        program.read((values, needs))
    with pytest.raises(InvalidInput):
        program.one((values[1], needs[1]))
    kept, null = program.read((values, needs), unusable="null"), program.one(None)
    assert not kept.worth[1].any()
    assert not kept.needs[1].any()
    for prices in (np.zeros(6, dtype=np.int64), np.full(6, PRICE_UNIT)):
        assert (program.respond(kept, prices)[1] == -1).all()
        assert (program.respond(null, prices) == -1).all()


@pytest.mark.parametrize("data", [
    VALUES, (VALUES,), (VALUES[:2], NEEDS), (VALUES, NEEDS[:, :1]), ("values", NEEDS), (VALUES, [[1], [1, 2]])])
def test_tables_of_another_shape(data: object) -> None:
    program = Electricity(3, 1.0, most=4, intervals=2, slots=3, shortfall=1.0)
    with pytest.raises(InvalidInput):
        program.read(data, unusable="null")
    plain = Electricity(3, 1.0, most=4, intervals=2, slots=3)
    with pytest.raises(InvalidInput):
        plain.read((VALUES, NEEDS), unusable="null")
    with pytest.raises(InvalidInput):
        program.one(VALUES[0])
    with pytest.raises(InvalidInput):
        plain.read(plain.read(VALUES).take(slice(0, 2)))


def test_packing_is_said_of_programs_without_needs_alone() -> None:
    packing = [Electricity(3, 1.0, most=4, intervals=2, slots=3, **kind).constants.packing for kind in KINDS]  # type: ignore[arg-type]
    assert packing == [True, False, False, False]
