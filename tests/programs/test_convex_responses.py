"""Responses: exact shapes against HiGHS, solved ones against Clarabel; the bound that proves them; what is refused."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from convex_models import DIMINISHING, KNAPSACKS, MODELS, SIGNED, Model
from scipy.optimize import linprog

from cases import fast
from confide.contract.errors import InvalidInput
from confide.privacy.noise.simulated import study_generator
from confide.programs import convex_program
from confide.programs.convex import quadratic
from confide.programs.grids import LOAD_BITS, LOAD_UNIT, PRICE_UNIT
from confide.programs.linear import LinearProgram
from confide.programs.solving import solved


def net(program, records, actions, prices):  # type: ignore[no-untyped-def]
    worth = program.values(records, actions) << LOAD_BITS
    return (worth - program.contributions(records, actions) @ prices) / (LOAD_UNIT * PRICE_UNIT)


@pytest.mark.parametrize("model", fast(1, list(MODELS)))
def test_solved_responses_are_best_to_the_declared_error(model: Model) -> None:
    program, draw, data = model.program(12), study_generator(1), model.data(12, seed=2)
    records = program.read(data)
    for share in (0.0, 0.3, 1.0):
        prices = (draw.random(program.rows) * share * program.highest_prices).astype(np.int64)
        actions = program.respond(records, prices)
        found = net(program, records, actions, prices)
        for i in range(0, 12, 4):
            best = model.best({name: table[i] for name, table in data.items()}, prices / PRICE_UNIT)
            assert abs(found[i] - best) <= program.oracle_error + 1e-6
    assert program.shape is None


@pytest.mark.parametrize("model", [DIMINISHING, SIGNED])
def test_no_duals_prove_too_much(model: Model) -> None:
    """Weak duality: whatever the duals, the bound is below the cost of every z of the rows."""
    program, draw = model.program(10), study_generator(3)
    t, records = program.template, program.read(model.data(10, seed=1))
    prices = (0.3 * program.highest_prices).astype(np.int64)
    best = -net(program, records, program.respond(records, prices), prices)
    linear = records.numbers[:, : t.columns].copy()  # type: ignore[attr-defined]
    linear[:, t.added] += prices / PRICE_UNIT
    for scale in (0.0, 0.01, 1.0):
        duals = scale * draw.normal(size=(10, len(t.equal)))
        at = draw.uniform(np.tile(t.lower, (10, 1)), t.upper)
        assert (t.bound(records.numbers, linear, at, duals) <= best + 1e-9).all()  # type: ignore[attr-defined]


def test_a_response_that_breaks_what_was_declared_is_null_before_it_counts() -> None:
    program = DIMINISHING.program(40)
    records, prices = program.read(DIMINISHING.data(40, seed=2)), np.zeros(3, dtype=np.int64)
    free = program.respond(records, prices)
    loads = program.contributions(records, free)
    low = replace(program, extent=replace(program.extent, entry=0.3))
    bound = low.respond(records, prices)
    over = (loads > low.constants.largest_entry * LOAD_UNIT).any(axis=1)
    assert 5 < over.sum() < 35
    assert (bound[over] == -1).all()
    assert np.array_equal(bound[~over], free[~over])
    assert (low.contributions(records, bound) <= low.constants.largest_entry * LOAD_UNIT).all()
    strict = replace(program._solving, error=-1.0)  # nothing is proved as good as this
    assert (strict.respond(records, prices) == -1).all()


def test_what_osqp_does_not_prove_highs_may(monkeypatch: pytest.MonkeyPatch) -> None:
    program = KNAPSACKS.program(30)
    records, prices = program.read(KNAPSACKS.data(30, seed=2)), (0.2 * program.highest_prices).astype(np.int64)
    usual = program.respond(records, prices)
    monkeypatch.setattr(quadratic, "_STEPS", (None,))
    sure = program.respond(records, prices)
    assert np.array_equal(sure[:, 0], usual[:, 0])
    assert net(program, records, sure, prices) == pytest.approx(net(program, records, usual, prices), abs=2e-5)
    assert np.array_equal(program.respond(records.take(slice(8, 11)), prices), sure[8:11])


_TERMS = (lambda x, b, g: -cp.sum_squares(g @ x), lambda x, b, g: cp.min(x), lambda x, b, g: -cp.norm1(x - b),
          lambda x, b, g: cp.sum(cp.minimum(x, 0.3)), lambda x, b, g: -cp.square(cp.pos(x[0] - b[0])))
_LOADS = (lambda x, b, c: c @ x, lambda x, b, c: cp.sum(cp.pos(x - b)), lambda x, b, c: cp.abs(x[0]) + cp.max(x),
          lambda x, b, c: c @ x + cp.norm_inf(x))


@pytest.mark.parametrize("seed", fast(2, range(24)))
def test_templates_drawn_at_random(seed: int) -> None:
    """Every response of a drawn template is proved, is the best of Clarabel's, and keeps what was declared."""
    draw, people = study_generator(seed), 12
    a, k, size = int(draw.integers(1, 6)), int(draw.integers(1, 4)), 10.0 ** draw.integers(-1, 2)
    x, w, c, b = cp.Variable(a, name="x"), cp.Parameter(a), cp.Parameter((k, a), nonneg=True), cp.Parameter(a)
    z, g = x / size, draw.normal(size=(2, a))
    value = draw.choice([0.1, 1.0, 100.0]) * (w @ z + sum(
        draw.random() * _TERMS[draw.integers(len(_TERMS))](z, b, g) for _ in range(draw.integers(0, 3))))
    coupling = cp.hstack([_LOADS[draw.integers(len(_LOADS))](z, b, c[j]) for j in range(k)])
    constraints = [x >= -size * draw.integers(0, 2), x <= size]
    if draw.random() < 0.5:
        constraints.append(cp.sum(cp.multiply(b, z)) <= 1)
    if draw.random() < 0.5:
        constraints.append(cp.norm1(z) <= 1.5)
    program = convex_program(people, 1.0, value=value, coupling=coupling, constraints=constraints, tau=3.0,
                             record={"w": (w, -1, 1), "c": (c, 0, 1), "b": (b, -1, 1)})
    data = {"w": draw.uniform(-1, 1, (people, a)), "c": draw.random((people, k, a)),
            "b": draw.uniform(-1, 1, (people, a))}
    records, one = program.read(data), program.constants
    for share in (0.0, 0.05, 0.5):
        prices = (draw.random(k) * share * program.highest_prices).astype(np.int64)
        if program.shape is None:  # where x = 0 is written as it is, only failures are null
            assert (replace(program._solving, nothing=False).respond(records, prices)[:, 0] == 0).all()
        actions = program.respond(records, prices)
        worth, loads = program.values(records, actions), np.abs(program.contributions(records, actions))
        assert one.least_value * PRICE_UNIT - 1 <= worth.min() <= worth.max() <= one.most_value * PRICE_UNIT + 1
        assert loads.max() <= one.largest_entry * LOAD_UNIT
        assert loads.sum(axis=1).max() <= one.largest_sum * LOAD_UNIT
        w.value, c.value, b.value = (data[name][5] for name in ("w", "c", "b"))
        best = cp.Problem(cp.Maximize(value - prices / PRICE_UNIT @ coupling), constraints).solve(solver=cp.CLARABEL)
        assert best - net(program, records, actions, prices)[5] <= program.oracle_error + 1e-5 * one.most_value


def box(r):  # type: ignore[no-untyped-def]
    x = cp.Variable(4)
    ends = np.array([0, 0, 1, 0]), np.array([1, 2, 3, 0.5])
    return r["worth"] @ x + 1, r["need"] @ x + r["need"][0, 0], [x >= ends[0], x <= ends[1]]


def knapsack(r):  # type: ignore[no-untyped-def]
    x = cp.Variable(4, nonneg=True)
    return r["worth"] @ x, r["need"] @ x, [x <= 1, np.array([0.5, 0.25, 1.0, 0.0]) @ x <= 1]


def one_of(r):  # type: ignore[no-untyped-def]
    x = cp.Variable(4, nonneg=True)
    return r["worth"] @ x, r["need"] @ x, [cp.sum(x) == 1]


@pytest.mark.parametrize("build", [box, knapsack, one_of])
def test_exact_shapes_are_as_good_as_a_linear_program(build) -> None:  # type: ignore[no-untyped-def]
    parameters = {"worth": cp.Parameter(4), "need": cp.Parameter((2, 4), nonneg=True)}
    value, coupling, constraints = build(parameters)
    program = convex_program(100, 9.0, value=value, coupling=coupling, constraints=constraints, tau=4.0,
                             record={"worth": (parameters["worth"], -1, 1), "need": (parameters["need"], 0, 1)})
    assert program.shape is not None
    draw = study_generator(8)
    data = {"worth": draw.uniform(-1, 1, (100, 4)), "need": draw.random((100, 2, 4))}
    records, prices = program.read(data), (draw.random(2) * PRICE_UNIT).astype(np.int64)
    actions = program.respond(records, prices)
    found, whole = net(program, records, actions, prices), program.linear_program(records)
    cost = whole.objective - (prices / PRICE_UNIT) @ whole.coupling
    for i in range(100):
        own = np.flatnonzero(whole.owner == i)
        row = whole.personal.tocsr()[[i]][:, own].toarray()
        rows = {"A_eq": row, "b_eq": [whole.high[i]]} if whole.low[i] == whole.high[i] and row.any() else {
            "A_ub": row, "b_ub": [whole.high[i]]}
        best = -linprog(-cost[own], bounds=list(zip(whole.lower[own], whole.upper[own], strict=True)), **rows).fun
        best += (program.template.numbers(np.zeros((1, 12)))[0, program.template.columns] * -1.0)
        best -= float(records.fixed[i] @ prices) / (LOAD_UNIT * PRICE_UNIT)  # type: ignore[attr-defined]
        assert abs(found[i] - best) <= program.oracle_error + 1e-7
    assert np.array_equal(program.respond(records.take(slice(3, 5)), prices), actions[3:5])
    for i in (0, 7):
        alone = program.one({name: table[i] for name, table in data.items()})
        assert np.array_equal(program.respond(alone, prices)[0], actions[i])


@pytest.mark.parametrize("build", [box, one_of])
def test_the_linear_program_agrees_with_values_and_contributions(build) -> None:  # type: ignore[no-untyped-def]
    parameters = {"worth": cp.Parameter(4), "need": cp.Parameter((2, 4), nonneg=True)}
    value, coupling, constraints = build(parameters)
    program = convex_program(30, 9.0, value=value, coupling=coupling, constraints=constraints, tau=4.0,
                             record={"worth": (parameters["worth"], -1, 1), "need": (parameters["need"], 0, 1)})
    draw = study_generator(8)
    records = program.read({"worth": draw.uniform(-1, 1, (30, 4)), "need": draw.random((30, 2, 4))})
    actions = program.respond(records, (draw.random(2) * PRICE_UNIT).astype(np.int64))
    whole: LinearProgram = program.linear_program(records)
    there = actions[:, 0] >= 0
    x = np.append(np.where(there[:, None], actions[:, 1:], 0).reshape(-1) / LOAD_UNIT, 1.0)
    fixed = np.where(there[:, None], 0, records.fixed).sum(axis=0) / LOAD_UNIT  # type: ignore[attr-defined]
    assert whole.coupling @ x - fixed == pytest.approx(program.load(records, actions) / LOAD_UNIT, abs=1e-4)
    gone = records.base[~there].sum() / PRICE_UNIT  # type: ignore[attr-defined]
    assert whole.objective @ x - gone == pytest.approx(program.values(records, actions).sum() / PRICE_UNIT, abs=1e-4)


def test_the_linear_program_of_a_solved_template_has_the_whole_optimum() -> None:
    program, data = KNAPSACKS.program(25), KNAPSACKS.data(25, seed=2)
    found = solved(program.linear_program(program.read(data))).value
    assert found == pytest.approx(KNAPSACKS.optimum(25, data), rel=1e-6)
    quadratic = DIMINISHING.program(5)
    with pytest.raises(InvalidInput, match="not linear"):
        quadratic.linear_program(quadratic.read(DIMINISHING.data(5, seed=1)))


def test_a_solve_prints_nothing_whatever_the_records(capfd: pytest.CaptureFixture[str]) -> None:
    """OSQP's own polishing would print a line for each response at which no row is active."""
    x, worth = cp.Variable(3, nonneg=True), cp.Parameter(3)
    program = convex_program(40, (20.0, 20.0, 20.0), value=worth @ x - cp.sum_squares(x) / 4, coupling=cp.pos(x - 0.5),
                             constraints=[x <= 1], record={"worth": (worth, 0, 1)}, tau=2.0)
    records = program.read({"worth": np.concatenate([np.full((20, 3), 0.2), np.ones((20, 3))])})
    for price in (0, 2**22):
        program.respond(records, np.full(3, price, dtype=np.int64))
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")
