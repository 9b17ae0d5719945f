"""Programs of all records solved by HiGHS through scipy: what families and runs are compared with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csc_array, hstack, vstack

from confide.programs.linear import LinearProgram

__all__ = ["optimum", "penalised"]


def optimum(program: LinearProgram, supply: np.ndarray | None = None) -> float:
    """The largest value; with another supply, where one is given."""
    return penalised(program if supply is None else replace(program, supply=supply), np.zeros(0))


def penalised(program: LinearProgram, tau: np.ndarray | float) -> float:
    """The largest value less tau times the excess of each row: the optimum, where tau is a dual bound (Definition
    5.3.10). An empty tau allows none.
    """
    taus = np.full(len(program.supply), tau) if np.ndim(tau) == 0 else np.asarray(tau, dtype=float)
    more = len(taus)
    over = csc_array(np.eye(more)) if more else csc_array((len(program.supply), 0))
    coupling = hstack([program.coupling, -over])
    personal = hstack([program.personal, csc_array((program.personal.shape[0], more))]).tocsr()
    equal = program.low == program.high
    below, above = np.isfinite(program.high) & ~equal, np.isfinite(program.low) & ~equal
    parts, bounds = [personal[below], -personal[above]], [program.high[below], -program.low[above]]
    fixed, values = [personal[equal]], [program.low[equal]]
    (fixed if program.equations else parts).append(coupling)
    (values if program.equations else bounds).append(program.supply)
    found = linprog(-np.r_[program.objective, -taus], A_ub=vstack(parts), b_ub=np.concatenate(bounds),
                    A_eq=vstack(fixed), b_eq=np.concatenate(values), method="highs",
                    bounds=np.c_[np.r_[program.lower, np.zeros(more)], np.r_[program.upper, np.full(more, np.inf)]])
    assert found.status == 0, found.message
    return -float(found.fun)
