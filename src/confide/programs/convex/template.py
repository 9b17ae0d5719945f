"""`Template`: one participant's program, compiled to arrays. No modelling language is needed to use the arrays.

    minimise q z + z P z/2 + d   subject to   A z = l or A z >= l, row by row

The numbers q, d, the entries of A, and l are affine functions of a record; P is the same for all records. The vector z
consists of the participant's variables (x), the contributions to each coupling constraint (y), and auxiliary numbers,
such as the larger of two numbers. All entries of z except x are computed from x by steps. Each step computes one more
entry from one equation, or as the largest or smallest number that some rows of A allow. So the arrays give values and
contributions of any x with sums in a fixed order.

Source: spec convex_programs 8 (convex front end).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.contract.wire import wire
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT

__all__ = ["Template", "units_up"]

_Ints = NDArray[np.int64]
_Reals = NDArray[np.float64]

_CLOSE = 2.0**-12  # of a unit: what rounding up forgives, so that whole numbers stay whole


@wire("Template", "names shapes variables variable_shapes low high starts sources factors constants entry_rows "
      "entry_columns equal quadratic wanted added steps kinds step_starts step_rows lower upper")
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Template:
    """The arrays of one participant's program. All arrays of a template are public; `convex_program` makes them.

    The numbers that a record determines are stored in this order: q (n numbers), d, the nonzero entries of A in the
    order of its columns (e numbers), and l (one number for each of the rows of A).

    Args:
        names: name of each field of a record.
        shapes: shape of each field.
        low: (p,) smallest allowed value of each number of a record, one field after the other.
        high: (p,) largest allowed value of each number of a record.
        starts: (n + 1 + e + rows + 1,) indices in `sources` and `factors` at which the affine map of each number
            begins.
        sources: (w,) index, among the p numbers of a record, of each number that an affine map uses.
        factors: (w,) factor of each number in `sources`.
        constants: (n + 1 + e + rows,) constant term of each affine map.
        entry_rows: (e,) rows of A's entries.
        entry_columns: (e,) columns of A's entries, ascending.
        equal: (rows,) whether each row is an equation.
        quadratic: (n, n) matrix P of the quadratic objective.
        variables: names of the variables in x, in order.
        variable_shapes: shape of each variable.
        wanted: (a,) positions in z of the numbers of x.
        added: (k,) positions in z of the numbers of y.
        steps: (s,) positions in z of the numbers that are computed from x by steps, in the order of the steps.
        kinds: (s,) kind of each step: 0 for the solution of an equation, 1 for the largest of several numbers, -1 for
            the smallest of several numbers.
        step_starts: (s + 1,) indices in `step_rows` at which the rows of each step begin.
        step_rows: rows of A that the steps use, one step after the other.
        lower: (n,) lower bounds of z over all records in the ranges.
        upper: (n,) upper bounds of z over all records in the ranges.
    """

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    variables: tuple[str, ...]
    variable_shapes: tuple[tuple[int, ...], ...]
    low: _Reals
    high: _Reals
    starts: _Ints
    sources: _Ints
    factors: _Reals
    constants: _Reals
    entry_rows: _Ints
    entry_columns: _Ints
    equal: NDArray[np.bool_]
    quadratic: _Reals
    wanted: _Ints
    added: _Ints
    steps: _Ints
    kinds: _Ints
    step_starts: _Ints
    step_rows: _Ints
    lower: _Reals
    upper: _Reals

    def __repr__(self) -> str:
        return (f"<Template of {len(self.wanted)} variables and {len(self.added)} coupling rows, records of "
                f"{', '.join(self.names)}>")

    @property
    def columns(self) -> int:
        """Number n of numbers in z."""
        return len(self.lower)

    @property
    def entries(self) -> slice:
        """Slice of the nonzero entries of A among the numbers that a record determines."""
        return slice(self.columns + 1, self.columns + 1 + len(self.entry_rows))

    @property
    def limits(self) -> slice:
        """Slice of l among the numbers that a record determines."""
        return slice(self.entries.stop, self.entries.stop + len(self.equal))

    @cached_property
    def by_rows(self) -> tuple[_Ints, _Ints]:
        """Nonzero entries of A row by row: the index at which each row begins, shape (rows + 1,), and the indices of
        the entries, shape (e,).
        """
        order = np.argsort(self.entry_rows, kind="stable")
        return np.searchsorted(self.entry_rows[order], np.arange(len(self.equal) + 1)), order

    @cached_property
    def varying(self) -> NDArray[np.bool_]:
        """Whether each of the numbers q, d, A and l can differ between records, shape (n + 1 + e + rows,)."""
        found = np.zeros(len(self.constants), dtype=bool)
        moved = np.flatnonzero((self.factors != 0.0) & (self.high[self.sources] > self.low[self.sources]))
        found[np.searchsorted(self.starts, moved, side="right") - 1] = True
        return found

    @cached_property
    def ranges(self) -> tuple[_Reals, _Reals]:
        """The smallest and the largest value of each of the numbers q, d, A and l over all records in the ranges, two
        arrays of shape (n + 1 + e + rows,).
        """
        least, most = self.constants.copy(), self.constants.copy()
        owner = np.repeat(np.arange(len(self.constants)), np.diff(self.starts))
        ends = self.factors * self.low[self.sources], self.factors * self.high[self.sources]
        np.add.at(least, owner, np.minimum(*ends))
        np.add.at(most, owner, np.maximum(*ends))
        return least, most

    def numbers(self, theta: _Reals) -> _Reals:
        """The numbers q, d, A and l of m records, shape (m, n + 1 + e + rows).

        Args:
            theta: (m, p) numbers of m records, one field after the other, each in its range.
        """
        out = np.empty((len(theta), len(self.constants)))
        _affine(np.ascontiguousarray(theta), self.starts, self.sources, self.factors, self.constants, out)
        return out

    def completed(self, numbers: _Reals, x: _Reals) -> _Reals:
        """All numbers of z, computed from x and the record, shape (m, n).

        Args:
            numbers: (m, n + 1 + e + rows) numbers q, d, A and l of m records, from `numbers`.
            x: (m, a) variables of the participants.
        """
        z = np.zeros((len(x), self.columns))
        row_starts, row_entries = self.by_rows
        _completed(numbers, np.ascontiguousarray(x), self.wanted, self.steps, self.kinds, self.step_starts,
                   self.step_rows, row_starts, row_entries, self.entry_columns, self.columns + 1, self.limits.start, z)
        return z

    def cost(self, numbers: _Reals, z: _Reals) -> _Reals:
        """The objective to be minimised, which is the negative of the value of z, shape (m,).

        Args:
            numbers: (m, n + 1 + e + rows) numbers q, d, A and l of m records, from `numbers`.
            z: (m, n) vector z of each participant.
        """
        out = np.empty(len(z))
        _cost(numbers, z, self.quadratic, out)
        return out

    def excess(self, numbers: _Reals, z: _Reals) -> _Reals:
        """Largest amount by which z violates one of the constraints, shape (m,).

        Args:
            numbers: (m, n + 1 + e + rows) numbers q, d, A and l of m records, from `numbers`.
            z: (m, n) vector z of each participant.
        """
        out = np.empty(len(z))
        row_starts, row_entries = self.by_rows
        _excess(numbers, z, self.equal, row_starts, row_entries, self.entry_columns, self.columns + 1,
                self.limits.start, out)
        return out

    def bound(self, numbers: _Reals, linear: _Reals, at: _Reals, duals: _Reals) -> _Reals:
        """Lower bounds on the cost of every z that meets the constraints and the public bounds, shape (m,). By weak
        duality the bounds hold for any `at` and `duals`.

        Args:
            numbers: (m, n + 1 + e + rows) numbers q, d, A and l of m records, from `numbers`.
            linear: (m, n) linear costs: q plus the price of each contribution.
            at: (m, n) any vectors z; the bounds are sharpest near the optimum.
            duals: (m, rows) dual of each row of A, called v here, with OSQP's sign: linear + P z + A' v = 0 at the
                optimum.
        """
        out = np.empty(len(at))
        row_starts, row_entries = self.by_rows
        _bound(numbers, linear, at, duals, self.quadratic, self.equal, row_starts, row_entries, self.entry_columns,
               self.columns + 1, self.limits.start, self.lower, self.upper, out)
        return out


def units_up(loads: Any) -> _Ints:
    """Contributions converted to whole load units of 2^-20 and rounded up, after 2^-12 of a unit (2^-32 in natural
    units) has been subtracted. So numbers that are whole units except for rounding errors stay the same.

    Args:
        loads: contributions in natural units.
    """
    return np.asarray(np.ceil(np.asarray(loads) * LOAD_UNIT - _CLOSE)).astype(np.int64)


def value_units(worth: Any) -> _Ints:
    """Values converted to units of 2^-24 and rounded to the nearest unit.

    Args:
        worth: values in natural units.
    """
    return np.asarray(np.rint(np.asarray(worth) * PRICE_UNIT)).astype(np.int64)


@kernel
def _affine(theta: Any, starts: Any, sources: Any, factors: Any, constants: Any, out: Any) -> None:
    for i in range(len(theta)):
        for j in range(len(constants)):
            total = constants[j]
            for e in range(starts[j], starts[j + 1]):
                total += factors[e] * theta[i, sources[e]]
            out[i, j] = total


@kernel
def _completed(
    numbers: Any, x: Any, wanted: Any, steps: Any, kinds: Any, step_starts: Any, step_rows: Any, row_starts: Any,
    row_entries: Any, entry_columns: Any, first: int, limits: int, z: Any,
) -> None:
    for i in range(len(x)):
        for j in range(len(wanted)):
            z[i, wanted[j]] = x[i, j]
        for s in range(len(steps)):
            best = 0.0
            for at in range(step_starts[s], step_starts[s + 1]):
                row = step_rows[at]
                rest, own = numbers[i, limits + row], 1.0
                for where in range(row_starts[row], row_starts[row + 1]):
                    e = row_entries[where]
                    if entry_columns[e] == steps[s]:
                        own = numbers[i, first + e]
                    else:
                        rest -= numbers[i, first + e] * z[i, entry_columns[e]]
                here = rest / own
                if at == step_starts[s] or (kinds[s] > 0 and here > best) or (kinds[s] < 0 and here < best):
                    best = here
            z[i, steps[s]] = best


@kernel
def _cost(numbers: Any, z: Any, quadratic: Any, out: Any) -> None:
    n = z.shape[1]
    for i in range(len(z)):
        total = numbers[i, n]
        for a in range(n):
            inner = 0.0
            for b in range(n):
                inner += quadratic[a, b] * z[i, b]
            total += z[i, a] * (numbers[i, a] + 0.5 * inner)
        out[i] = total


@kernel
def _excess(
    numbers: Any, z: Any, equal: Any, row_starts: Any, row_entries: Any, entry_columns: Any, first: int, limits: int,
    out: Any,
) -> None:
    for i in range(len(z)):
        most = 0.0
        for row in range(len(equal)):
            total = -numbers[i, limits + row]
            for where in range(row_starts[row], row_starts[row + 1]):
                e = row_entries[where]
                total += numbers[i, first + e] * z[i, entry_columns[e]]
            most = max(most, abs(total) if equal[row] else -total)
        out[i] = most


@kernel
def _bound(
    numbers: Any, linear: Any, at: Any, duals: Any, quadratic: Any, equal: Any, row_starts: Any, row_entries: Any,
    entry_columns: Any, first: int, limits: int, lower: Any, upper: Any, out: Any,
) -> None:
    n = at.shape[1]
    left = np.empty(n)
    for i in range(len(at)):
        total = numbers[i, n]
        for a in range(n):
            inner = 0.0
            for b in range(n):
                inner += quadratic[a, b] * at[i, b]
            left[a] = linear[i, a] + inner
            total -= 0.5 * at[i, a] * inner
        for row in range(len(equal)):
            dual = duals[i, row]
            if not equal[row]:
                dual = min(dual, 0.0)  # rows are limits from below
            total -= dual * numbers[i, limits + row]
            for where in range(row_starts[row], row_starts[row + 1]):
                e = row_entries[where]
                left[entry_columns[e]] += dual * numbers[i, first + e]
        for a in range(n):
            total += min(left[a] * lower[a], left[a] * upper[a])
        out[i] = total
