"""Certified upper bounds on the number of clauses that a record can satisfy, by weak duality in whole numbers.

For a program that maximises cost . z with rows A z <= b and bounds 0 <= z <= u, and for any multipliers y,

    cost . z <= y . b + sum over columns of u max(0, cost - A' y).

The multipliers must be >= 0 for rows that are inequalities, and may have any sign for rows that are equations. The
duals of a linear program therefore give a valid bound after rounding to multiples of a power of 1/2, and no tolerance
of the solver can invalidate it. The bound is computed in 64-bit whole numbers that cannot overflow. The objective is a
whole number, so the bound may be rounded down.

Source: spec query_release E2.4.

The module also builds the integer programs of the best response and solves them with HiGHS. The bits x are binary
variables. Every query has one more variable c, continuous in [0, 1], which states whether the clause is satisfied. A
query has the constraint (row) c <= x for each literal, and a negated query has the row sum of (1 - x) >= c. A literal
with required bit 0 has 1 - x in place of x. A parity over few attributes S has the facets c <= sum over F of (1 - x) +
sum over S - F of x, for every set F of ones at which the clause fails. A parity over more attributes is one equation
with an integer variable (`parity_row`). A subclass of `Rows` can define another form of the program.

Source: spec query_release E1, E2.2, E3.
"""

from __future__ import annotations

import math
import time
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import positive
from confide.contract.errors import InvalidInput
from confide.release.oracle.terms import Bits, Terms, parity_row

if TYPE_CHECKING:
    import highspy

__all__ = [
    "WIDEST_FACETS",
    "LinearBound",
    "Program",
    "Rows",
    "Solved",
    "build",
    "certified_bound",
    "linear_bound",
    "linear_duals",
    "solve",
    "upper_bound",
]

# ---- program

_Integers = NDArray[np.int64]

_GAP = 0.99  # below 1: the objective is a whole number

WIDEST_FACETS = 6
"""Largest number of attributes of a parity that is written with its facets. A parity over more attributes has too many
facets and is written as one equation.
"""


class Program(NamedTuple):
    """An integer program: maximise cost . z + shift subject to rows . z <= upper (or = upper) and 0 <= z <= top.

    Args:
        terms: the terms from which the program was built.
        variables: attribute of each of the first columns of the program.
        cost: coefficients of the objective, int64 (m,).
        top: upper bounds of the variables, int64 (m,).
        integral: whether each variable must be a whole number, bool (m,).
        starts, columns, values: the rows in sparse form, one after the other, int64: start of each row, and column and
            coefficient of each entry.
        upper: right-hand sides, int64 (rows,).
        equal: whether each row is an equation, bool (rows,).
        shift: constant that is added to the objective.
    """

    terms: Terms
    variables: _Integers
    cost: _Integers
    top: _Integers
    integral: Bits
    starts: _Integers
    columns: _Integers
    values: _Integers
    upper: _Integers
    equal: Bits
    shift: int


class Solved(NamedTuple):
    """The result of HiGHS: a record (None if none was found), the record's objective as counted by confide, the bound
    of HiGHS as a double, whether HiGHS claims an optimum, and whether the time limit was reached.
    """

    record: Bits | None
    found: float
    bound: float
    optimal: bool
    timed_out: bool

    @property
    def open(self) -> bool:
        """Whether a better record is possible according to the bound, given that the objective is a whole number."""
        return self.bound - self.found > _GAP + 1e-6


class Rows:
    """The rows (constraints) of an integer program, collected in blocks of rows with equally many entries. Each literal
    has its own row, which gives the best bounds.
    """

    widest_facets: ClassVar[int] = WIDEST_FACETS
    """Largest number of attributes of a parity that is written with its facets. A parity over more attributes is
    written as one equation.
    """

    whole_clauses: ClassVar[bool] = False
    """Whether the variables of clauses must be declared as whole numbers. This is not necessary if the bits are whole
    numbers.
    """

    parity_row: ClassVar = staticmethod(parity_row)

    def __init__(self) -> None:
        self._blocks: list[tuple[_Integers, _Integers, _Integers, bool]] = []

    def add(self, columns: _Integers, values: _Integers, upper: _Integers, *, equal: bool = False) -> None:
        """Add a block of rows. The arguments are the columns and the coefficients of the entries, both (rows, length),
        and the right-hand sides, (rows,).
        """
        if len(upper):
            self._blocks.append((columns, values, upper, equal))

    def finish(self) -> tuple[_Integers, _Integers, _Integers, _Integers, Bits]:
        none: _Integers = np.zeros(0, dtype=np.int64)
        lengths = [np.full(len(upper), columns.shape[1], dtype=np.int64) for columns, _, upper, _ in self._blocks]
        starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.concatenate([none, *lengths]))])
        return (
            starts,
            np.concatenate([none, *(columns.reshape(-1) for columns, _, _, _ in self._blocks)]),
            np.concatenate([none, *(values.reshape(-1) for _, values, _, _ in self._blocks)]),
            np.concatenate([none, *(upper for _, _, upper, _ in self._blocks)]),
            np.concatenate([np.zeros(0, np.bool_), *(np.full(len(u), equal) for _, _, u, equal in self._blocks)]),
        )

    def conjunctions(self, index: _Integers, bits: Bits, clause: _Integers, *, positive: bool) -> None:
        """Add the rows of conjunctions of one width, or of their negations.

        Args:
            index: (rows, width) columns of the attributes.
            bits: (rows, width) bits that the literals require.
            clause: (rows,) columns of the clauses' variables.
            positive: True if the clauses are the queries themselves, False if the clauses are negations of the queries.
        """
        sign = np.where(bits, 1, -1)
        if positive:
            self.literals(index, bits, clause)
        else:  # c <= sum of (1 - literal)
            self.add(np.column_stack([index, clause]), np.column_stack([sign, np.ones(len(clause), np.int64)]),
                     bits.sum(axis=1, dtype=np.int64))

    def literals(self, index: _Integers, bits: Bits, clause: _Integers) -> None:
        """Add the rows c <= literal for each literal of a clause, since a clause is satisfied only if all of its
        literals hold. The arguments are the same as in `conjunctions`.
        """
        sign = np.where(bits, 1, -1)
        self.add(np.column_stack([index.reshape(-1), np.repeat(clause, index.shape[1])]),
                 np.column_stack([-sign.reshape(-1), np.ones(index.size, np.int64)]),
                 (~bits).reshape(-1).astype(np.int64))


def build(terms: Terms, form: type[Rows] = Rows) -> Program:
    """The integer program of the best response to some terms.

    Args:
        terms: the weighted queries to satisfy, from the netted samples of one round.
        form: class of the program's rows.
    """
    variables = terms.active()
    local = np.full(terms.attributes + 1, -1, dtype=np.int64)
    local[variables] = np.arange(variables.size)
    index = local[terms.index]
    queries, widths = len(terms), terms.widths
    clause = variables.size + np.arange(queries, dtype=np.int64)
    pairs = clause + queries  # of parities with an equation
    top = np.ones(variables.size + queries, dtype=np.int64)
    rows, whole_pairs = form(), False
    for width in np.unique(widths):
        for sign in (True, False):
            at = np.flatnonzero((widths == width) & ((terms.weights > 0) == sign))
            some, bits = index[at, :width], terms.bits[at, :width]
            if terms.kind == "conjunctions":
                rows.conjunctions(some, bits, clause[at], positive=sign)
            elif width <= form.widest_facets:
                _facets(rows, some, clause[at], positive=sign)
            else:
                row = form.parity_row(int(width), positive=sign)
                values = np.concatenate([np.ones(width, np.int64), [row.half, row.clause]])
                rows.add(np.column_stack([some, pairs[at], clause[at]]), np.tile(values, (at.size, 1)),
                         np.full(at.size, row.total), equal=True)
                if not whole_pairs:
                    top, whole_pairs = np.concatenate([top, np.zeros(queries, np.int64)]), True
                top[pairs[at]] = row.most
    _group_rows(rows, terms, local)
    cost = np.zeros(top.size, dtype=np.int64)
    cost[clause] = np.abs(terms.weights)
    integral = np.ones(top.size, dtype=np.bool_)
    integral[clause] = form.whole_clauses
    return Program(terms, variables, cost, top, integral, *rows.finish(),
                   terms.constant + int(terms.weights[terms.weights < 0].sum()))


def _facets(rows: Rows, index: _Integers, clause: _Integers, *, positive: bool) -> None:
    width = index.shape[1]
    columns = np.column_stack([index, clause])
    for pattern in range(2**width):
        ones = [pattern >> i & 1 for i in range(width)]
        if (sum(ones) % 2 == 0) != positive:  # the clause fails there
            values = np.array([*(1 if one else -1 for one in ones), 1], dtype=np.int64)
            rows.add(columns, np.tile(values, (len(clause), 1)), np.full(len(clause), sum(ones), dtype=np.int64))


def _group_rows(rows: Rows, terms: Terms, local: _Integers) -> None:
    """Add the rows of the one-hot groups. If all attributes of a group are active, exactly one of them is on; otherwise
    at most one active attribute is on.
    """
    for members in terms.groups:
        places = local[members]
        active = places[places >= 0]
        if active.size:
            rows.add(active[None, :], np.ones((1, active.size), np.int64), np.ones(1, np.int64),
                     equal=bool(active.size == members.size))


def _model(program: Program, *, relaxed: bool) -> highspy.HighsLp:
    import highspy

    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = program.cost.size, program.upper.size
    model.sense_ = highspy.ObjSense.kMinimize  # HiGHS's signs of duals are those of a minimum
    model.col_cost_ = -program.cost.astype(np.float64)
    model.col_lower_ = np.zeros(program.cost.size)
    model.col_upper_ = program.top.astype(np.float64)
    model.row_upper_ = program.upper.astype(np.float64)
    model.row_lower_ = np.where(program.equal, model.row_upper_, -highspy.kHighsInf)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = program.starts.astype(np.int32)
    model.a_matrix_.index_ = program.columns.astype(np.int32)
    model.a_matrix_.value_ = program.values.astype(np.float64)
    if not relaxed:
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        model.integrality_ = [kinds[int(each)] for each in program.integral]
    return model


def _solver(time_limit: float) -> highspy.Highs:
    from confide.numerics.quiet_highs import QuietHighs

    solver = QuietHighs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("time_limit", time_limit)
    return solver


def linear_duals(program: Program, time_limit: float = math.inf) -> tuple[NDArray[np.float64], bool]:
    """Dual variables of the rows in the linear relaxation, and whether the time limit ended the solver. If the solver
    returned no duals, the result holds zeros.

    The duals have the signs that `certified_bound` expects. The duals need not be optimal or exact.
    """
    import highspy

    solver = _solver(time_limit)
    solver.passModel(_model(program, relaxed=True))
    solver.run()
    duals = -np.asarray(solver.getSolution().row_dual, dtype=np.float64)
    stopped = solver.getModelStatus() == highspy.HighsModelStatus.kTimeLimit
    if duals.shape != program.upper.shape:
        duals = np.zeros(program.upper.size)
    return duals, stopped


def solve(program: Program, *, start: Bits | None, time_limit: float) -> Solved:
    """Solve a program by HiGHS's branch and bound, starting from a known record.

    Args:
        program: the integer program to solve.
        start: a record to start from, or None.
        time_limit: limit in seconds, > 0.
    """
    began = time.monotonic()
    solved = _branched(program, start, time_limit)
    left = time_limit - (time.monotonic() - began)
    if start is None or not solved.optimal or not solved.open or left <= 0:
        return solved
    # HiGHS 1.16.0 loses count of the objective of a start that its presolve reduces, and calls the start optimal.
    again = _branched(program, None, left)
    return again if again.found >= solved.found else solved._replace(bound=again.bound, optimal=False)


def _branched(program: Program, start: Bits | None, time_limit: float) -> Solved:
    import highspy

    solver = _solver(time_limit)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", _GAP)
    solver.passModel(_model(program, relaxed=False))
    if start is not None:
        solution = highspy.HighsSolution()
        solution.col_value = _columns(program, start).tolist()
        solver.setSolution(solution)
    solver.run()
    status, info = solver.getModelStatus(), solver.getInfo()
    record, found = None, -math.inf
    if solver.getSolution().value_valid:
        values = np.asarray(solver.getSolution().col_value)
        record = np.zeros(program.terms.attributes, dtype=np.bool_)
        record[program.variables] = values[: program.variables.size] > 0.5
        found = program.shift + float(program.cost @ values)
    return Solved(record, found, program.shift - info.mip_dual_bound, status == highspy.HighsModelStatus.kOptimal,
                  status == highspy.HighsModelStatus.kTimeLimit)


def _columns(program: Program, record: Bits) -> NDArray[np.float64]:
    """The values of the program's variables at a record."""
    terms = program.terms
    columns = np.zeros(program.cost.size)
    columns[: program.variables.size] = record[program.variables]
    clauses = slice(program.variables.size, program.variables.size + len(terms))
    columns[clauses] = terms.holds(record) == (terms.weights > 0)
    if columns.size > clauses.stop:
        ones = (record[terms.index] & (terms.index >= 0)).sum(axis=1)
        columns[clauses.stop :] = np.minimum(ones // 2, program.top[clauses.stop :])
    return columns


# ---- bounds

_FINEST = 24  # binary places of a multiplier at most


class LinearBound(NamedTuple):
    """A certified upper bound on the number of clauses that a record can satisfy, and whether a time limit ended the
    solver.
    """

    value: Fraction
    timed_out: bool

    @property
    def clauses(self) -> int:
        """The bound, rounded down to a whole number. No record satisfies more clauses."""
        return math.floor(self.value)


def certified_bound(program: Program, duals: ArrayLike) -> Fraction:
    """An upper bound on the program's objective, computed exactly for the rounded multipliers.

    Args:
        program: program from `build`.
        duals: (rows,) multipliers of the rows; any numbers give a valid bound. The duals are rounded. A dual below 0 is
            set to 0 if its row is an inequality, and a dual above the largest cost is reduced to the largest cost. The
            reduction never weakens the bound for programs from `build`.

    Raises:
        InvalidInput: the number of duals is not the number of rows.
    """
    multipliers = np.nan_to_num(np.asarray(duals, dtype=np.float64), nan=0.0)
    if multipliers.shape != program.upper.shape:
        raise InvalidInput("duals", f"an array of shape {multipliers.shape}", f"must be {program.upper.shape}")
    largest = int(program.cost.max(initial=1))
    sizes = np.abs(program.values).sum() + np.abs(program.upper).sum() + program.top.sum() + 1
    places = min(_FINEST, 61 - (largest * int(sizes)).bit_length())
    if places < 0:  # beyond any sum of 64 bits: every clause
        return Fraction(int((program.cost.astype(object) * program.top).sum()) + program.shift)
    limit = largest << places
    least = np.where(program.equal, -limit, 0)
    scaled = np.rint(np.ldexp(np.clip(multipliers, -float(largest), float(largest)), places)).astype(np.int64)
    scaled = np.clip(scaled, least, limit)
    reduced = program.cost << places
    rows = np.repeat(np.arange(program.upper.size), np.diff(program.starts))
    np.subtract.at(reduced, program.columns, program.values * scaled[rows])
    total = int((scaled * program.upper).sum()) + int((program.top * np.maximum(reduced, 0)).sum())
    return Fraction(total, 1 << places) + program.shift


def linear_bound(terms: Terms, time_limit: float | None = None) -> LinearBound:
    """The certified bound from the linear relaxation with one row for each literal.

    Args:
        terms: the weighted queries to satisfy, from the netted samples of one round.
        time_limit: limit in seconds, > 0; None for no limit. If the time limit ends the solver, the bound is still
            valid, but may be no smaller than the number of clauses.

    Example:
        >>> terms = Terms(kind="conjunctions", attributes=2, index=[[0, 1], [0, -1], [1, -1]],
        ...               bits=[[1, 1], [0, 0], [0, 0]], weights=[2, 2, 2])
        >>> linear_bound(terms)
        LinearBound(value=Fraction(4, 1), timed_out=False)
    """
    limit = math.inf if time_limit is None else positive("time_limit", time_limit)
    program = build(terms)
    duals, timed_out = linear_duals(program, limit)
    bound = min(certified_bound(program, duals), Fraction(terms.clauses))
    return LinearBound(bound, timed_out)


def upper_bound(terms: Terms, time_limit: float | None = None) -> float:
    """An upper bound on the number of clauses that a record can satisfy: `linear_bound`, rounded down to a whole
    number.

    Args:
        terms: the weighted queries to satisfy, from the netted samples of one round.
        time_limit: limit in seconds, > 0; None for no limit.

    Source: spec query_release E2.4.

    Example:
        >>> upper_bound(Terms(kind="conjunctions", attributes=1, index=[[0], [0]], bits=[[1], [0]], weights=[3, 5]))
        5.0
    """
    return float(linear_bound(terms, time_limit).clauses)
