"""Solutions that HiGHS finds for a linear program of all records. This module does not check the solutions. The callers
check them. The solutions have no privacy protection.

Source: spec convex_programs 4 and 8.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, diags_array, eye_array, hstack, vstack

from confide.contract.errors import Refused, SolverFailed
from confide.numerics.quiet_highs import QuietHighs
from confide.programs.linear import LinearProgram

__all__ = ["Claimed", "least_dual", "maximised", "solved"]

_Reals = NDArray[np.float64]
_SIMPLEX = 20_000  # variables up to which the simplex method is taken
_MORE = "give the program of these records more supply"
_NEAR = 1e-9  # how far from the optimum a dual may be and still count as optimal, relative


class Claimed(NamedTuple):
    """Solution of a maximisation as HiGHS reports it, in doubles and without proof.

    Args:
        value: reported optimum.
        point: (m,) optimal variables.
        duals: (rows,) increase of the optimum per unit of the right-hand side of each matrix row.
    """

    value: float
    point: _Reals
    duals: _Reals


def maximised(
    objective: _Reals, matrix: Any, low: _Reals, high: _Reals, lower: _Reals, upper: _Reals, *, routine: str,
) -> Claimed:
    """The maximum of objective x over all x with low <= matrix x <= high and lower <= x <= upper, as HiGHS reports it.

    Args:
        objective: (m,) objective coefficients.
        matrix: (rows, m) sparse matrix.
        low: (rows,) lower bounds of matrix x.
        high: (rows,) upper bounds of matrix x.
        lower: (m,) lower bounds of the variables.
        upper: (m,) upper bounds of the variables.
        routine: name of the calling function, for error messages.

    Raises:
        Refused: HiGHS finds that nothing is feasible.
        SolverFailed: HiGHS ends without an optimum.
    """
    if not len(objective):  # which HiGHS calls empty
        if bool((low > 0.0).any() or (high < 0.0).any()):
            raise Refused(f"{routine}: nothing is feasible", _MORE)
        return Claimed(0.0, np.zeros(0), np.zeros(len(low)))
    columns = csc_array(matrix)
    columns.sort_indices()
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = columns.shape
    model.sense_ = highspy.ObjSense.kMinimize  # HiGHS's signs of duals are those of a minimum
    model.col_cost_ = -np.asarray(objective, dtype=np.float64)
    model.col_lower_, model.col_upper_ = lower, upper
    model.row_lower_, model.row_upper_ = low, high
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = columns.indptr.astype(np.int32)
    model.a_matrix_.index_ = columns.indices.astype(np.int32)
    model.a_matrix_.value_ = columns.data.astype(np.float64)
    solver = QuietHighs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("solver", "simplex" if model.num_col_ <= _SIMPLEX else "ipm")
    solver.passModel(model)
    solver.run()
    status = solver.getModelStatus()
    if status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible):
        raise Refused(f"{routine}: nothing is feasible", _MORE)
    if status != highspy.HighsModelStatus.kOptimal:
        raise SolverFailed(routine, f"HiGHS ended with {solver.modelStatusToString(status)}")
    found = solver.getSolution()
    return Claimed(-solver.getInfo().objective_function_value, np.asarray(found.col_value, dtype=np.float64),
                   -np.asarray(found.row_dual, dtype=np.float64))


def solved(program: LinearProgram) -> Claimed:
    """The maximum of a linear program, as HiGHS reports it. The first k duals are the prices of the coupling
    constraints.

    Args:
        program: program of all records.

    Raises:
        Refused: HiGHS finds that nothing is feasible.
        SolverFailed: HiGHS ends without an optimum.
    """
    floor = program.supply if program.equations else np.full(len(program.supply), -np.inf)
    return maximised(
        program.objective, vstack([program.coupling, program.personal]), np.concatenate([floor, program.low]),
        np.concatenate([program.supply, program.high]), program.lower, program.upper, routine="exact")


def least_dual(program: LinearProgram, taus: _Reals | None = None) -> float:
    """The least number t >= 0 such that optimal prices exist that are at most t tau, in absolute value, for every
    constraint. Excess that costs t tau a unit never increases the value.

    The prices are optimal duals, up to 10^-9 of the optimum. The function solves the dual program, with prices in units
    of tau and t as the objective.

    Args:
        program: program of all records.
        taus: (k,) tau > 0 of each constraint; ones by default, so that t is the smallest possible largest price.

    Raises:
        Refused: nothing is feasible.
        SolverFailed: HiGHS ends without an optimum.

    Source: spec convex_programs 1 (tau, corrected characterisation).
    """
    best = solved(program).value
    rows, size = len(program.supply), program.size
    one = csc_array(eye_array(size))
    sides = [(program.high, program.personal.T, 1.0), (program.low, program.personal.T, -1.0),
             (program.upper, one, 1.0), (program.lower, one, -1.0)]
    unit = np.ones(rows) if taus is None else np.asarray(taus, dtype=np.float64)
    blocks, costs = [csc_array(program.coupling).T @ diags_array(unit)], [program.supply * unit]
    for bound, block, sign in sides:
        kept = np.flatnonzero(np.isfinite(bound))
        blocks.append(sign * csc_array(block)[:, kept])
        costs.append(sign * bound[kept])
    cost = np.concatenate(costs)
    width = len(cost)
    prices = hstack([eye_array(rows), csc_array((rows, width - rows)), -np.ones((rows, 1))])
    stationary = hstack([*blocks, csc_array((size, 1))])
    worth = csc_array(np.append(cost, 0.0)[None, :])
    parts = [stationary, worth, prices]
    low = [program.objective, np.full(1 + rows, -np.inf)]
    high = [program.objective, np.array([best + _NEAR * max(1.0, abs(best))]), np.zeros(rows)]
    if program.equations:
        parts.append(hstack([-eye_array(rows), csc_array((rows, width - rows)), -np.ones((rows, 1))]))
        low.append(np.full(rows, -np.inf))
        high.append(np.zeros(rows))
    lower = np.zeros(width + 1)
    lower[:rows] = -np.inf if program.equations else 0.0
    goal = np.append(np.zeros(width), -1.0)
    return -maximised(goal, vstack(parts), np.concatenate(low), np.concatenate(high), lower,
                      np.full(width + 1, np.inf), routine="least_tau").value
