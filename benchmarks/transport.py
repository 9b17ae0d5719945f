"""Goods in copies as a linear program for scipy's HiGHS: n + k rows, n k columns."""

from __future__ import annotations

import numpy as np

from benchmarks.clock import clocked
from benchmarks.memory import held_mb, peak_mb


def transport(values: np.ndarray, supply: float, limit: float, method: str) -> dict[str, float]:
    """Seconds, memory and the value of everybody's best share of goods.

    Args:
        values: (n, k).
        supply: of each good.
        limit: seconds.
        method: of `scipy.optimize.linprog`.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, identity, kron, vstack

    n, k = values.shape
    before = held_mb()

    def solve() -> object:
        rows = vstack([kron(identity(n), np.ones((1, k))), kron(np.ones((1, n)), identity(k))])
        limits = np.concatenate([np.ones(n), np.full(k, supply)])
        return linprog(-values.reshape(-1).astype(np.float64), A_ub=csr_array(rows), b_ub=limits, bounds=(0, None),
                       method=method, options={"time_limit": limit})

    done, seconds = clocked(solve)
    return {"seconds": seconds, "peak_mb": peak_mb(), "run_mb": peak_mb() - before,
            "value": -float(done.fun) if done.status == 0 else float("nan")}
