"""What every family of programs is held against: solvers, its own decodes, and the constants that it declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from highs_reference import optimum
from scipy.optimize import linprog
from scipy.sparse import block_array, csr_array

from confide.privacy.noise import Noise
from confide.programs import PrivDude, Program
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.linear import LinearProgram

__all__ = ["Played", "least_dual", "moves_at_most_sigma", "played", "shares_are_decodes", "solver_agrees"]


def least_dual(linear: LinearProgram, taus: tuple[float, ...]) -> float:
    """The least max_j lambda_j/tau_j over optimal duals: the taus are valid for these records if it is at most 1."""
    assert not linear.lower.any()
    m, k, p = linear.size, len(linear.supply), len(linear.high)
    cost = np.concatenate([linear.supply, linear.high, linear.upper])
    best = optimum(linear)
    rows = _rows(linear).T.tocsr()
    dual = block_array([[-rows, csr_array(-np.eye(m)), None],
                        [csr_array(cost[None, : k + p]), csr_array(cost[None, k + p :]), None],
                        [csr_array((np.ones(k), (np.arange(k), np.arange(k))), shape=(k, k + p)), None,
                         csr_array(-np.array(taus)[:, None])]])
    right = np.concatenate([-linear.objective, [best + 1e-9 * max(1.0, best)], np.zeros(k)])
    goal = np.zeros(k + p + m + 1)
    goal[-1] = 1.0
    found = linprog(goal, A_ub=dual, b_ub=right, method="highs")
    assert found.status == 0, found.message
    return float(found.fun)


def _rows(linear: LinearProgram) -> Any:
    assert not linear.equations
    assert np.isneginf(linear.low).all()
    return block_array([[csr_array(linear.coupling)], [csr_array(linear.personal)]])


@dataclass(frozen=True)
class Played:
    """A run without noise beside the optimum."""

    gap: float  # of the optimum
    excess: float  # of all rows, per participant


def played(program: Program, data: Any, rounds: int = 400) -> Played:
    """Spec convex_programs 11.4: `rounds` after as many, without noise."""
    mechanism = PrivDude(program, epsilon=1.0, delta=1e-6, rounds=rounds, burn_in=rounds)
    quiet = Noise.replayed({("slack", t): np.zeros(program.rows) for t in range(2 * rounds)})
    outcome = mechanism.run(data, quiet)
    best = optimum(program.linear_program(program.read(data)))
    found = outcome.diagnostics
    assert found is not None
    return Played(gap=1.0 - found["value"] / best, excess=float(found["excess"].sum()) / program.people)


def solver_agrees(program: Program, records: Any, prices: np.ndarray) -> None:
    """The linear program gives a choice the value and load that the family does: everybody's best response, alone."""
    actions = program.respond(records, prices)
    linear = program.linear_program(records)
    net = linear.objective - csr_array(linear.coupling).T @ (prices / PRICE_UNIT)
    found = linprog(-net, A_ub=csr_array(linear.personal), b_ub=linear.high,
                    bounds=np.stack([linear.lower, linear.upper], axis=1), method="highs")
    value = int(program.values(records, actions).sum()) / PRICE_UNIT
    load = program.load(records, actions) / LOAD_UNIT
    assert -found.fun == 0 or abs(-found.fun - (value - load @ (prices / PRICE_UNIT))) < 1e-7 * program.people
    loads = program.contributions(records, actions)
    assert np.array_equal(loads.sum(axis=0), program.load(records, actions))
    assert np.array_equal(program.load_at(records, prices), program.load(records, actions))
    assert np.array_equal(program.paid(records, actions, prices), loads // (LOAD_UNIT // program.scale) @ prices)


def moves_at_most_sigma(program: Program, one: Any, other: Any, prices: np.ndarray, others: np.ndarray) -> float:
    """How far two records' responses lie apart, at the same prices or not, over sigma."""
    first = program.contributions(one, program.respond(one, prices))
    second = program.contributions(other, program.respond(other, others))
    for loads in (first, second):
        assert loads.min() >= 0
        assert loads.max() <= program.constants.largest_entry * LOAD_UNIT
        assert loads.sum() <= program.constants.largest_sum * LOAD_UNIT
        assert not ((loads > 0) & (loads < program.constants.least_entry * LOAD_UNIT)).any()
    apart = float(np.linalg.norm(first - second)) / LOAD_UNIT / program.constants.l2_sensitivity("replace")
    assert apart <= 1.0
    for loads in (first, second):
        assert np.linalg.norm(loads) <= program.constants.l2_sensitivity("add_or_remove") * LOAD_UNIT
    return apart


def shares_are_decodes(program: Program, data: Any, record: Callable[[int], Any], **options: Any) -> None:
    """Everybody finds her own part from her record and the billboard, which replays."""
    mechanism = PrivDude(program, **{"epsilon": 1.0, "delta": 1e-6, "rounds": 20, "burn_in": 10, **options})
    outcome = mechanism.run(data, Noise.simulated(3))
    mechanism.check(outcome.billboard)
    some = 0
    for i in range(0, program.people, max(1, program.people // 20)):
        share = {name: outcome.shares[name][i].as_py() for name in outcome.shares.column_names}
        assert share == mechanism.decode(record(i), i, outcome.billboard)
        some += len(share["times"]) > 1
    assert some  # prices move, and people with them
