"""Programs of all records solved by HiGHS through scipy: what families and runs are compared with."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csc_array, hstack, vstack

from confide.programs.linear import LinearProgram

__all__ = ["optimum", "penalised"]


def optimum(program: LinearProgram) -> float:
    """The largest value."""
    return _solved(program, program.coupling, program.objective, program.lower, program.upper)


def penalised(program: LinearProgram, tau: float) -> float:
    """The largest value less tau times the excess: the optimum, where tau is a dual bound (Definition 5.3.10)."""
    k = len(program.supply)
    coupling = hstack([program.coupling, csc_array(-np.eye(k))])
    return _solved(program, coupling, np.r_[program.objective, np.full(k, -tau)],
                   np.r_[program.lower, np.zeros(k)], np.r_[program.upper, np.full(k, np.inf)])


def _solved(program, coupling, objective, lower, upper) -> float:  # type: ignore[no-untyped-def]
    extra = coupling.shape[1] - program.personal.shape[1]
    personal = hstack([program.personal, csc_array((program.personal.shape[0], extra))]).tocsr()
    equal = program.low == program.high
    below, above = np.isfinite(program.high) & ~equal, np.isfinite(program.low) & ~equal
    parts, bounds = [personal[below], -personal[above]], [program.high[below], -program.low[above]]
    fixed, values = [personal[equal]], [program.low[equal]]
    (fixed if program.equations else parts).append(coupling)
    (values if program.equations else bounds).append(program.supply)
    found = linprog(-objective, A_ub=vstack(parts), b_ub=np.concatenate(bounds), A_eq=vstack(fixed),
                    b_eq=np.concatenate(values), bounds=np.c_[lower, upper], method="highs")
    if found.status != 0:
        raise ArithmeticError(found.message)
    return -float(found.fun)
