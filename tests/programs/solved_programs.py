"""What a solver says of a program: its optimum, and its optimum where excess is allowed at a price."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csc_array, hstack, vstack

from confide.programs.linear import LinearProgram

__all__ = ["optimum", "optimum_with_penalty"]


def optimum(program: LinearProgram) -> float:
    """The largest value."""
    return optimum_with_penalty(program, None)


def optimum_with_penalty(program: LinearProgram, tau: np.ndarray | float | None) -> float:
    """The largest value less tau times the excess of the coupling rows; none is allowed without tau."""
    coupling, personal, objective = program.coupling, program.personal, program.objective
    bounds = np.stack([program.lower, program.upper], axis=1)
    if tau is not None:
        k = len(program.supply)
        coupling = hstack([coupling, -csc_array(np.eye(k))])
        personal = hstack([personal, csc_array((personal.shape[0], k))])
        objective = np.concatenate([objective, -np.broadcast_to(np.asarray(tau, dtype=float), (k,))])
        bounds = np.concatenate([bounds, np.tile([0.0, np.inf], (k, 1))])
    low, same = np.isfinite(program.low), program.low == program.high
    assert same[low].all()  # rows are inequalities upwards, or equations
    personal = csc_array(personal).tocsr()
    found = linprog(-objective, A_ub=vstack([coupling, personal[~same]]), bounds=bounds, method="highs",
                    b_ub=np.concatenate([program.supply, program.high[~same]]),
                    A_eq=personal[same] if same.any() else None, b_eq=program.high[same] if same.any() else None)
    assert found.status == 0, found.message
    return -float(found.fun)
