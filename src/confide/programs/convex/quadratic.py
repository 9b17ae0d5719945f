"""Responses by the solver OSQP. Each response is checked by weak duality. A response that is not proved to be good
enough is replaced by the null action.

If no response that OSQP finds with its first step sizes is proved to be good enough, the solver HiGHS is used. With
OSQP, a proof is mostly missing where values are linear and the optimum is not unique. Every solve starts from zero,
with a fixed step size and without OSQP's own scaling. So a response is a function of the record and the prices alone,
and no other call of the solver influences the response. The template has its own scaling, by powers of two. OSQP's
polishing step is switched off. The step prints a line for each record without an active constraint, whatever its
settings, and these lines would reveal the number of such records. The solver's result is rounded to 2^-20. The value of
the rounded response is compared with a bound that the solver's duals prove. So no promise relies on the solver: a wrong
result can only make a response null.

Source: spec convex_programs 8 (convex front end); Stellato et al. 2020, OSQP.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csc_matrix

from confide.contract.errors import InvalidInput
from confide.numerics.quiet_highs import QuietHighs
from confide.programs.convex.template import Template, units_up, value_units
from confide.programs.grids import LOAD_BITS, LOAD_UNIT, PRICE_UNIT
from confide.programs.program import ProgramRecords

__all__ = ["QuadraticRecords", "Solving"]

_Reals = NDArray[np.float64]
_STEPS: tuple[float | None, ...] = (0.1, 10.0, None, 1.0, 0.01, 100.0)  # OSQP's rho; None: HiGHS
_SETTINGS: dict[str, Any] = {
    "verbose": False, "scaling": 0, "adaptive_rho": 0, "polishing": False, "warm_starting": False, "max_iter": 20000,
    "check_termination": 25, "eps_abs": 1e-9, "eps_rel": 1e-9, "eps_prim_inf": 1e-6, "eps_dual_inf": 1e-6, "alpha": 1.6,
    "sigma": 1e-6}
_SURE: dict[str, Any] = {
    "presolve": "off", "parallel": "off", "solver": "choose",
    "primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9, "qp_iteration_limit": 1000,
    "simplex_iteration_limit": 1000}
_INFEASIBLE = 3  # OSQP's status value


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class QuadraticRecords(ProgramRecords):
    """The numbers q, d, A and l (see `Template`) of all participants' programs. The data are private and must not be
    published.

    Args:
        present: (m,) whether each participant has a record.
        numbers: (m, n + 1 + e + rows) numbers q, d, entries of A, and l, in this order.
    """

    present: NDArray[np.bool_]
    numbers: _Reals


@dataclass(frozen=True, kw_only=True, eq=False)
class Solving:
    """Parameters with which a template's responses are found and checked.

    Args:
        template: template with bounds on every number of z.
        error: largest amount, in units of value, by which a response may be worse than the best response.
        entry: largest entry Cinf of a contribution, in natural units.
        total: largest sum C1 of the absolute entries of a contribution, in natural units.
        signed: whether contributions may be negative.
        nothing: whether x = 0 counts as the null action.
        tolerance: largest amount by which a rounded response may violate a constraint of the template.
    """

    template: Template
    error: float
    entry: float
    total: float
    signed: bool
    nothing: bool
    tolerance: float

    @cached_property
    def grid(self) -> tuple[_Reals, _Reals]:
        """Lower and upper bounds of x, each of shape (a,), in units of 2^-20, rounded inwards. Where no whole unit lies
        between the bounds, both are the nearest unit.
        """
        low, high = (one[self.template.wanted] * LOAD_UNIT for one in (self.template.lower, self.template.upper))
        inner = np.ceil(low - 1e-3), np.floor(high + 1e-3)
        thin = inner[0] > inner[1]
        return np.where(thin, np.rint(low), inner[0]), np.where(thin, np.rint(low), inner[1])

    @cached_property
    def scales(self) -> tuple[_Reals, _Reals, float]:
        """Scale factors of columns, shape (n,), of rows, shape (rows,), and of the objective of the solved problem, all
        powers of two.
        """
        t = self.template
        sizes = np.maximum(np.abs(t.lower), np.abs(t.upper))
        columns = _power(np.where(sizes > 0.0, sizes, 1.0))
        most = np.maximum(*map(np.abs, t.ranges))
        rows = np.zeros(len(t.equal))
        np.maximum.at(rows, t.entry_rows, most[t.entries] * columns[t.entry_columns])
        costs = np.maximum(most[: t.columns] * columns, np.abs(t.quadratic * columns).max(axis=1) * columns)
        largest = float(costs.max()) or 1.0
        return columns, 1.0 / _power(np.where(rows > 0.0, rows, 1.0)), float(1.0 / _power(np.array([largest]))[0])

    def respond(self, records: QuadraticRecords, prices: NDArray[np.int64]) -> NDArray[np.int32]:
        """Responses of all participants, shape (m, 1 + a): 0 followed by x in units of 2^-20, or all -1 for the null
        action. Each response is proved to be within `error` of the best response. A participant without such a proof,
        or without a record, gets the null action.

        Args:
            records: records of m participants.
            prices: (k,) prices, in price units of 2^-24.
        """
        t = self.template
        out = np.full((records.people, 1 + len(t.wanted)), -1, dtype=np.int32)
        pending = np.arange(records.people)  # slots without a record as well: how long it takes must not count them
        natural = prices / PRICE_UNIT
        for rho in _STEPS:
            if not len(pending):
                break
            numbers = records.numbers[pending]
            linear = numbers[:, : t.columns].copy()
            linear[:, t.added] += natural
            at, duals, hopeless = self._surely(numbers, linear) if rho is None else self._solved(numbers, linear, rho)
            units = np.clip(np.rint(at[:, t.wanted] * LOAD_UNIT), *self.grid)
            z = t.completed(numbers, units / LOAD_UNIT)
            loads, fits = self.added(z)
            cost = (loads @ prices - (value_units(-t.cost(numbers, z)) << LOAD_BITS)) / (PRICE_UNIT * LOAD_UNIT)
            good = fits & (t.excess(numbers, z) <= self.tolerance) & (
                cost - t.bound(numbers, linear, at, duals) <= self.error)
            kept = pending[good]
            out[kept, 0], out[kept, 1:] = 0, units[good].astype(np.int32)
            if self.nothing:
                out[kept[cost[good] > 0.0]] = -1  # worth less than its price, by rounding: nothing is better
            pending = pending[~good & ~hopeless]
        if self.nothing:
            out[(out[:, 1:] == 0).all(axis=1)] = -1
        out[~records.present] = -1
        return out

    def added(self, z: _Reals) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Contributions in units of 2^-20, rounded up, shape (m, k), and whether each participant's contribution is
        within the declared bounds, shape (m,).

        Args:
            z: (m, n) vector z of each participant.
        """
        loads = units_up(z[:, self.template.added])
        if not self.signed:
            loads = np.maximum(loads, 0)
        size = np.abs(loads)
        return loads, (size <= self.entry * LOAD_UNIT).all(axis=1) & (size.sum(axis=1) <= self.total * LOAD_UNIT)

    def _solved(self, numbers: _Reals, linear: _Reals, rho: float) -> tuple[_Reals, _Reals, NDArray[np.bool_]]:
        """Results of OSQP: z of shape (m, n), duals of shape (m, rows), and whether nothing is feasible, shape (m,)."""
        t, (columns, rows, one) = self.template, self.scales
        q = one * columns * linear
        entries = np.ascontiguousarray(rows[t.entry_rows] * numbers[:, t.entries] * columns[t.entry_columns])
        lows = np.ascontiguousarray(rows * numbers[:, t.limits])
        highs = np.where(t.equal, lows, np.inf)
        matrix_moves, limits_move = t.varying[t.entries].any(), t.varying[t.limits].any()
        solver = self._solver(entries[0], lows[0], highs[0], rho)
        at, duals, hopeless = np.zeros_like(linear), np.zeros((len(q), len(rows))), np.zeros(len(q), dtype=bool)
        for i in range(len(q)):
            changed: dict[str, Any] = {"q": q[i]}
            if limits_move:
                changed.update(l=lows[i], u=highs[i])
            if matrix_moves:
                changed["Ax"] = entries[i]
            solver.update(**changed)
            found = solver.solve(raise_error=False)
            hopeless[i] = found.info.status_val == _INFEASIBLE
            if found.x is not None and np.isfinite(found.x).all() and np.isfinite(found.y).all():
                at[i], duals[i] = found.x, found.y
        return at * columns, duals * rows / one, hopeless

    def _surely(self, numbers: _Reals, linear: _Reals) -> tuple[_Reals, _Reals, NDArray[np.bool_]]:
        """Results of HiGHS, an active-set solver that takes longer, in the form of `_solved`, with duals in OSQP's
        sign.
        """
        t, (columns, rows, one) = self.template, self.scales
        square = csc_array(np.tril(one * t.quadratic * columns * columns[:, None]))
        at, duals = np.zeros_like(linear), np.zeros((len(linear), len(rows)))
        model = highspy.HighsModel()
        model.lp_.num_col_, model.lp_.num_row_ = t.columns, len(rows)
        model.lp_.col_lower_, model.lp_.col_upper_ = t.lower / columns, t.upper / columns
        model.lp_.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.lp_.a_matrix_.start_ = np.searchsorted(t.entry_columns, np.arange(t.columns + 1)).astype(np.int32)
        model.lp_.a_matrix_.index_ = t.entry_rows.astype(np.int32)
        if square.nnz:
            model.hessian_.dim_, model.hessian_.format_ = t.columns, highspy.HessianFormat.kTriangular
            model.hessian_.start_ = square.indptr.astype(np.int32)
            model.hessian_.index_ = square.indices.astype(np.int32)
            model.hessian_.value_ = square.data
        for i in range(len(linear)):
            lows = rows * numbers[i, t.limits]
            model.lp_.col_cost_ = one * columns * linear[i]
            model.lp_.row_lower_, model.lp_.row_upper_ = lows, np.where(t.equal, lows, np.inf)
            model.lp_.a_matrix_.value_ = rows[t.entry_rows] * numbers[i, t.entries] * columns[t.entry_columns]
            solver = QuietHighs()  # type: ignore[no-untyped-call]
            for name, value in _SURE.items():
                solver.setOptionValue(name, value)
            solver.passModel(model)
            solver.run()
            found = solver.getSolution()
            point, prices = np.asarray(found.col_value), -np.asarray(found.row_dual)
            if found.value_valid and found.dual_valid and np.isfinite(point).all() and np.isfinite(prices).all():
                at[i], duals[i] = point, prices
        return at * columns, duals * rows / one, np.zeros(len(linear), dtype=bool)

    def _solver(self, entries: _Reals, lows: _Reals, highs: _Reals, rho: float) -> Any:
        """OSQP solver with the template's sparsity pattern."""
        try:
            import osqp
        except ImportError:
            raise InvalidInput("program", "osqp is not installed", "pip install 'confide[convex]'") from None
        t, (columns, _, one) = self.template, self.scales
        starts = np.searchsorted(t.entry_columns, np.arange(t.columns + 1))
        matrix = csc_matrix((entries, t.entry_rows, starts), shape=(len(t.equal), t.columns))
        square = csc_matrix(csc_array(np.triu(one * t.quadratic * columns * columns[:, None])))
        solver = osqp.OSQP(algebra="builtin")
        solver.setup(square, np.zeros(t.columns), matrix, lows, highs, rho=rho, **_SETTINGS)
        return solver


def _power(sizes: _Reals) -> _Reals:
    """Powers of two near the given positive numbers."""
    return np.asarray(np.ldexp(1.0, np.frexp(sizes)[1]))
