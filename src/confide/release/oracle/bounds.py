"""Certified upper bounds on how many clauses a record can satisfy, by weak duality in whole numbers.

For rows A z <= b, 0 <= z <= u and any multipliers y (y >= 0, of any sign where a row is an equation),

    c . z <= y . b + sum over columns of u max(0, c - A' y),

whatever y is. So a linear program's duals, rounded to a dyadic grid, make a bound that no tolerance of the solver can
void: it is computed in 64-bit whole numbers that cannot overflow. As the objective is a whole number, so is the bound's
floor.

Source: spec query_release E2.4.

Integer programs of the best response, and HiGHS to solve them.

Bits are binary, and for every query one more variable c, continuous in [0, 1], says whether its clause is satisfied:
c <= x for each literal of a query, and sum of (1 - x) >= c for a negation. A required bit 0 replaces x by 1 - x. A
parity has the facets c <= sum over F of (1 - x) + sum over S - F of x, for every F that fails; over many attributes it
is one equation with a whole number (`parity_row`). `Rows` is where another form of program differs.

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
"""A parity over more attributes would have too many facets; it keeps its equation."""


class Program(NamedTuple):
    """Maximise cost . z + shift over rows . z <= upper (or = upper), 0 <= z <= top.

    Args:
        terms: the terms that it was built from.
        variables: the attributes of the first columns.
        cost: int64 (m,).
        top: int64 (m,).
        integral: bool (m,).
        starts, columns, values: int64, the rows, one after the other.
        upper: int64 (rows,).
        equal: bool (rows,).
        shift: added to the objective.
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
    """The findings of HiGHS: a record (None: none), its objective by our own count, HiGHS's bound in doubles, whether
    it claims an optimum, time-out.
    """

    record: Bits | None
    found: float
    bound: float
    optimal: bool
    timed_out: bool

    @property
    def open(self) -> bool:
        """Whether a better record could be there, by the bound: the objective is a whole number."""
        return self.bound - self.found > _GAP + 1e-6


class Rows:
    """The rows of a program, gathered in blocks of equal length: one row a literal, which bounds best."""

    widest_facets: ClassVar[int] = WIDEST_FACETS
    """A parity over more attributes is one equation."""

    whole_clauses: ClassVar[bool] = False
    """Whether the variables of clauses must be whole numbers, where the bits are."""

    parity_row: ClassVar = staticmethod(parity_row)

    def __init__(self) -> None:
        self._blocks: list[tuple[_Integers, _Integers, _Integers, bool]] = []

    def add(self, columns: _Integers, values: _Integers, upper: _Integers, *, equal: bool = False) -> None:
        """A block: (rows, length) columns and values, (rows,) right-hand sides."""
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
            bits: (rows, width) what each attribute has to be.
            clause: (rows,) columns of the clauses' variables.
            positive: the queries themselves, else their negations.
        """
        sign = np.where(bits, 1, -1)
        if positive:
            self.literals(index, bits, clause)
        else:  # c <= sum of (1 - literal)
            self.add(np.column_stack([index, clause]), np.column_stack([sign, np.ones(len(clause), np.int64)]),
                     bits.sum(axis=1, dtype=np.int64))

    def literals(self, index: _Integers, bits: Bits, clause: _Integers) -> None:
        """A clause holds where all of its literals do: c <= literal, for each. Arguments as of `conjunctions`."""
        sign = np.where(bits, 1, -1)
        self.add(np.column_stack([index.reshape(-1), np.repeat(clause, index.shape[1])]),
                 np.column_stack([-sign.reshape(-1), np.ones(index.size, np.int64)]),
                 (~bits).reshape(-1).astype(np.int64))


def build(terms: Terms, form: type[Rows] = Rows) -> Program:
    """The integer program of some terms.

    Args:
        terms: the netted samples.
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
    """Of a group's active attributes exactly one is on, or at most one where others could be."""
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
    """Dual variables of the rows in the linear relaxation, and whether the time limit was met; zeros if none came.

    Their sign is the one for `certified_bound`; nothing is promised about them.
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
    """HiGHS's branch and bound, from a known record on.

    Args:
        program: the program.
        start: a record to begin with.
        time_limit: in seconds, > 0.
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
    """The program's variables at a record."""
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
    """A certified bound: the value of the multipliers, and whether a time limit cut the solver short."""

    value: Fraction
    timed_out: bool

    @property
    def clauses(self) -> int:
        """The floor: no record satisfies more clauses."""
        return math.floor(self.value)


def certified_bound(program: Program, duals: ArrayLike) -> Fraction:
    """An upper bound on the program's objective, exact for the rounded multipliers.

    Args:
        program: from `build`.
        duals: (rows,) any numbers. They are rounded, those below 0 are set to 0 where the row is an inequality, and
            what is beyond the largest cost is cut there (which never loses anything for these programs).

    Raises:
        InvalidInput: another number of duals.
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
    """The linear relaxation of the disaggregated form, certified.

    Args:
        terms: the netted samples.
        time_limit: in seconds, > 0; None for none. Cut short, the bound is valid still, and may be no better than the
            number of clauses.

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
    """No record satisfies more clauses than this whole number: `linear_bound`, rounded down.

    Args:
        terms: the netted samples.
        time_limit: in seconds, > 0; None for none.

    Source: spec query_release E2.4.

    Example:
        >>> upper_bound(Terms(kind="conjunctions", attributes=1, index=[[0], [0]], bits=[[1], [0]], weights=[3, 5]))
        5.0
    """
    return float(linear_bound(terms, time_limit).clauses)
