"""Templates with fast exact responses: linear values over a box, or over a box with one knapsack constraint, such as at
most one good.

All participants choose from the same set, and only values and contributions depend on the record. With linear values
over a box, or over a box with one knapsack constraint, the best response is a vertex in closed form. Without a knapsack
constraint, each variable is at its upper bound if value less price is positive, and at its lower bound if not. With a
knapsack constraint, the variables with the best ratio of value less price to weight are raised until the capacity is
used. Values and contributions of a unit of x are whole numbers on the program's grids, so responses follow from
comparisons of whole numbers.

Source: spec convex_programs 8 (recognised templates).

The module also builds the program of all records together for a solver, with which private runs are compared. The
program of all records has no privacy protection.

Source: spec convex_programs 8 (`to_lp`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, csc_array, hstack

from confide._compiled import kernel
from confide.contract.errors import InvalidInput
from confide.programs.convex.template import Template, units_up, value_units
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.linear import LinearProgram
from confide.programs.program import Program, ProgramRecords

__all__ = ["LinearRecords", "Shape", "blocks_of", "linear_program_of", "linear_records", "recognised", "vertices"]

# ---- shapes

_Ints = NDArray[np.int64]
_MOST = (1 << 31) - 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Shape:
    """The set from which every participant chooses: low <= x <= high, and possibly weights x <= capacity.

    Args:
        low: (a,) least x, in units of 2^-20.
        high: (a,) largest x, in units of 2^-20.
        weights: (a,) weights >= 0 of the knapsack constraint; empty without a knapsack constraint.
        capacity: capacity of the knapsack constraint, in units of 2^-20.
        full: whether the knapsack constraint is an equation.
        pieces: (k, a) index of the entry of the template's matrix A that states the contribution of a unit of each
            variable to each coupling constraint; -1 for no contribution.
        fixed: (k,) index of the row of A with a right-hand side that states the part of each contribution that does not
            depend on x.
        signs: (k,) nonzero divisor of each contribution: the contribution is (right-hand side - sum of entries times
            x)/divisor.
    """

    low: _Ints
    high: _Ints
    weights: NDArray[np.float64]
    capacity: int
    full: bool
    pieces: _Ints
    fixed: _Ints
    signs: NDArray[np.float64]

    @property
    def whole(self) -> bool:
        """Whether all entries of every vertex are whole numbers."""
        ends = bool((self.low % LOAD_UNIT == 0).all() and (self.high % LOAD_UNIT == 0).all())
        return ends and self.capacity % LOAD_UNIT == 0 and bool((self.weights == 1.0).all())

    @property
    def single(self) -> bool:
        """Whether every vertex of the set, except the vertex 0, has one whole unit of a single good."""
        return self.whole and len(self.weights) > 0 and self.capacity == LOAD_UNIT and not self.low.any()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LinearRecords(ProgramRecords):
    """Linear records: value and contributions of a unit of each variable, in whole units of the program's grids, and
    the parts of value and contributions that do not depend on x. The data are private and must not be published.

    Args:
        present: (m,) whether each participant has a record.
        worth: (m, a) value of a unit of each variable, in units of 2^-24.
        base: (m,) part of the value that does not depend on x, in units of 2^-24.
        needs: (m, k, a) contribution of a unit of each variable to each coupling constraint, in load units of 2^-20.
        fixed: (m, k) part of each contribution that does not depend on x, in load units of 2^-20.
    """

    present: NDArray[np.bool_]
    worth: _Ints
    base: _Ints
    needs: _Ints
    fixed: _Ints


def recognised(template: Template) -> Shape | None:
    """The special shape of a template, for which responses are computed exactly; None if the template has no special
    shape.

    Args:
        template: template with bounds on every number of z.
    """
    t, n = template, template.columns
    place = np.full(n, -1)
    place[t.wanted] = np.arange(len(t.wanted))
    others = np.flatnonzero(place < 0)
    costly = t.varying[:n] | (t.constants[:n] != 0.0)
    if t.quadratic.any() or costly[others].any() or set(others.tolist()) != set(t.added.tolist()):
        return None
    starts, entries = t.by_rows
    values, moved = t.constants[t.entries], t.varying[t.entries]
    pieces, fixed, signs = np.full((len(t.added), len(t.wanted)), -1), np.empty(len(t.added), dtype=np.int64), \
        np.empty(len(t.added))
    coupled = set()
    for j, column in enumerate(t.added):
        s = int(np.flatnonzero(t.steps == column)[0])
        row = int(t.step_rows[t.step_starts[s]])
        if t.kinds[s] != 0:
            return None
        coupled.add(row)
        fixed[j] = row
        for e in entries[starts[row] : starts[row + 1]]:
            if t.entry_columns[e] == column:
                signs[j] = values[e]
            elif place[t.entry_columns[e]] < 0:
                return None
            else:
                pieces[j, place[t.entry_columns[e]]] = e
    weights, capacity, full = np.zeros(0), 0.0, False
    limits = t.constants[t.limits]
    for row in range(len(t.equal)):
        of = entries[starts[row] : starts[row + 1]]
        if row in coupled:
            continue
        if moved[of].any() or t.varying[t.limits][row] or (place[t.entry_columns[of]] < 0).any():
            return None
        if len(of) == 1:
            continue
        sign = 1.0 if t.equal[row] and (values[of] >= 0).all() else -1.0
        if len(weights) or (sign * values[of] < 0).any():
            return None
        weights = np.zeros(len(t.wanted))
        weights[place[t.entry_columns[of]]] = sign * values[of]
        capacity, full = sign * limits[row], bool(t.equal[row])
    corners = t.lower[t.wanted] * LOAD_UNIT, t.upper[t.wanted] * LOAD_UNIT, np.array([capacity * LOAD_UNIT])
    ends = [np.rint(one) for one in corners]
    if any((np.abs(one - near) > 1e-2).any() or (np.abs(near) > _MOST).any() for one, near in zip(corners, ends,
                                                                                               strict=True)):
        return None
    low, high = ends[0].astype(np.int64), ends[1].astype(np.int64)
    if (low < 0).any() or (len(weights) and (low.any() or capacity < 0)):
        return None
    if full and (not (weights > 0).all() or weights @ high < ends[2][0]):
        return None
    return Shape(low=low, high=high, weights=weights, capacity=int(ends[2][0]), full=full, pieces=pieces, fixed=fixed,
                 signs=signs)


def linear_records(
    template: Template, shape: Shape, theta: NDArray[np.float64], present: NDArray[Any],
) -> LinearRecords:
    """Convert the numbers of records to the program's grids.

    Args:
        template: template of the records.
        shape: special shape of the template, from `recognised`.
        theta: (m, p) numbers of the records, one field after the other.
        present: (m,) whether each record is present.
    """
    numbers = template.numbers(theta)
    entries, limits = numbers[:, template.entries], numbers[:, template.limits]
    needs = np.where(shape.pieces[None] >= 0, entries[:, shape.pieces] / -shape.signs[:, None], 0.0)
    return LinearRecords(
        people=len(theta), present=present, worth=value_units(-numbers[:, template.wanted]),
        base=value_units(-numbers[:, template.columns]), needs=units_up(needs),
        fixed=units_up(limits[:, shape.fixed] / shape.signs))


def vertices(shape: Shape, records: LinearRecords, prices: _Ints, *, nothing: bool) -> NDArray[np.int32]:
    """The best vertices of all participants, shape (m, 1 + a): 0 followed by x in units of 2^-20, or all -1 for the
    null action.

    Args:
        shape: special shape of the template, from `recognised`.
        records: records of m participants.
        prices: (k,) prices, in price units of 2^-24.
        nothing: whether x = 0 counts as the null action.
    """
    out = np.full((records.people, 1 + len(shape.low)), -1, dtype=np.int32)
    _vertices(records.present, records.worth, records.needs, prices, shape.low, shape.high, shape.weights,
              shape.capacity, shape.full, nothing, out)
    return out


@kernel
def _vertices(
    present: Any, worth: Any, needs: Any, prices: Any, low: Any, high: Any, weights: Any, capacity: int, full: bool,
    nothing: bool, out: Any,
) -> None:
    size, rows = len(low), len(prices)
    net, x = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    for i in range(len(out)):
        if not present[i]:
            continue
        for j in range(size):
            total = worth[i, j] << 20
            for r in range(rows):
                total -= prices[r] * needs[i, r, j]
            net[j] = total
            x[j] = high[j] if total > 0 and (len(weights) == 0 or weights[j] == 0.0) else low[j]
        if len(weights) > 0:
            left = float(capacity)
            for _ in range(size):
                best, at = 0.0, -1
                for j in range(size):
                    if weights[j] > 0.0 and x[j] == 0 and (full or net[j] > 0):
                        if weights[j] == 1.0 and at >= 0 and weights[at] == 1.0:
                            if net[j] > net[at]:
                                best, at = float(net[j]), j
                        elif at < 0 or net[j] / weights[j] > best:
                            best, at = net[j] / weights[j], j
                if at < 0 or left <= 0.0:
                    break
                x[at] = min(high[at], int(left / weights[at]))
                left -= x[at] * weights[at]
                if x[at] < high[at]:
                    break
        any_of = False
        for j in range(size):
            any_of = any_of or x[j] != 0
        if any_of or not nothing:
            out[i, 0] = 0
            for j in range(size):
                out[i, 1 + j] = x[j]


# ---- whole


def linear_program_of(program: Program, template: Template, shape: Shape | None, records: Any) -> LinearProgram:
    """The program of all participants as one linear program, where values are linear. With a special shape, the
    variables are each participant's x. Without a special shape, the variables are each participant's z.

    Args:
        program: program with the supplies of the coupling constraints.
        template: template that all records share.
        shape: special shape of the template, from `recognised`; None for a template without one.
        records: records of all participants.

    Raises:
        InvalidInput: values are quadratic.
    """
    if template.quadratic.any():
        raise InvalidInput("program", "has values that are not linear",
                           "its optimum does not follow from a linear program")
    return blocks_of(program, template, records) if shape is None else _of_shape(program, shape, records)


def _of_shape(program: Program, shape: Shape, records: Any) -> LinearProgram:
    there = np.flatnonzero(records.present)
    size, count = len(shape.low), len(there)
    needs = records.needs[there].transpose(1, 0, 2).reshape(program.rows, -1) / LOAD_UNIT
    least = np.full(len(there), shape.capacity / LOAD_UNIT if shape.full else -np.inf)
    row = csc_array((shape.weights if len(shape.weights) else np.zeros(size))[None])
    personal = hstack([block_diag([row] * count, format="csc"), csc_array((count, 1))])
    most = np.full(count, shape.capacity / LOAD_UNIT if len(shape.weights) else 0.0)
    fixed = records.fixed[there].sum(axis=0)[:, None] / LOAD_UNIT
    return LinearProgram(
        objective=np.append(records.worth[there].reshape(-1), records.base[there].sum()) / PRICE_UNIT,
        coupling=csc_array(np.concatenate([needs, fixed], axis=1)), supply=program.supply_units / LOAD_UNIT,
        equations=program.two_sided, personal=personal, low=least, high=most,
        lower=np.append(np.tile(shape.low, count) / LOAD_UNIT, 1.0),
        upper=np.append(np.tile(shape.high, count) / LOAD_UNIT, 1.0),
        owner=np.append(np.repeat(there, size), -1))


def blocks_of(
    program: Program, template: Template, records: Any, slopes: NDArray[np.float64] | None = None,
) -> LinearProgram:
    """The linear program of all participants with a record, with the vector z of each as variables. The objective is
    the sum of the participants' values, which are linear, or are linearised at a point.

    Args:
        program: program with the supplies of the coupling constraints.
        template: template that all records share.
        records: records of all participants, with their numbers.
        slopes: (present people, n) slopes of the values at a point, for each number of z; by default the slopes of
            linear values.
    """
    t, there = template, np.flatnonzero(records.present)
    numbers, n, count = records.numbers[there], template.columns, int(records.present.sum())
    worth = -numbers[:, :n] if slopes is None else slopes
    place = np.arange(count)[:, None]
    values = numbers[:, t.entries].reshape(-1)
    rows = (place * len(t.equal) + t.entry_rows).reshape(-1)
    columns = (place * n + t.entry_columns).reshape(-1)
    personal = csc_array((values, (rows, columns)), shape=(count * len(t.equal), count * n + 1))
    low = numbers[:, t.limits].reshape(-1)
    taken = (place * n + t.added).reshape(-1)
    coupling = csc_array((np.ones(len(taken)), (np.tile(np.arange(program.rows), count), taken)),
                         shape=(program.rows, count * n + 1))
    return LinearProgram(
        objective=np.append(worth.reshape(-1), -numbers[:, n].sum()), coupling=coupling,
        supply=program.supply_units / LOAD_UNIT, equations=program.two_sided, personal=personal, low=low,
        high=np.where(np.tile(t.equal, count), low, np.inf), lower=np.append(np.full(count * n, -np.inf), 1.0),
        upper=np.append(np.full(count * n, np.inf), 1.0), owner=np.append(np.repeat(there, n), -1))
