"""Bounds that hold for every record in the public ranges. The bounds are the largest contributions, the largest and
smallest value, and a range for each number of z, the vector of all variables of a template.

Each bound is the optimum of a linear program over a superset of the feasible points. A coefficient that depends on the
record is replaced by the end of its range that makes more points feasible. The replacement is valid where the variable
with this coefficient is never negative. Rows in which that variable may be negative are left out. Variables that are
computed by steps are bounded by the linear program and by interval arithmetic. The bounds use no record.

Source: spec convex_programs 1 and 8 (constants by LP over a public superset).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from confide.contract.errors import InvalidInput
from confide.contract.wire import wire
from confide.programs.convex.template import Template

__all__ = ["Extent", "boxed", "extent", "nothing_at_zero"]

_Reals = NDArray[np.float64]
_SLACK = 1e-9  # of a solver, relative


@wire("Extent", "entry total most least signed slopes load_slopes value_slope")
@dataclass(frozen=True, kw_only=True, eq=False)
class Extent:
    """Largest values and contributions of the template, over the public ranges of records.

    Args:
        entry: largest absolute contribution to one coupling constraint, in natural units of load.
        total: largest sum of the absolute contributions to all coupling constraints, in natural units of load.
        most: upper bound >= 0 on the value of any response, in units of value.
        least: lower bound <= 0 on the value of any response, in units of value.
        signed: whether contributions can be negative.
        slopes: (n,) largest change of each number of z if every number of x, the participant's own variables, changes
            by at most 1.
        load_slopes: (k,) largest change of each contribution if every number of x changes by at most 1.
        value_slope: largest change of the value if every number of x changes by at most 1.
    """

    entry: float
    total: float
    most: float
    least: float
    signed: bool
    slopes: _Reals
    load_slopes: _Reals
    value_slope: float


def boxed(template: Template, names: list[str]) -> Template:
    """A copy of a template with bounds on every number of z.

    Args:
        template: template without bounds: its `lower` and `upper` are infinite.
        names: (a,) name of each number of x, for error messages.

    Raises:
        InvalidInput: a variable is not bounded by public constraints, or no z is feasible for any record.
    """
    lower, upper = np.full(template.columns, -np.inf), np.full(template.columns, np.inf)
    for row, column, coefficient in _single(template):  # bounds of one variable, the same for all records
        limits = [template.ranges[end][template.limits][row] / coefficient for end in (0, 1)]
        if coefficient > 0 or template.equal[row]:
            lower[column] = max(lower[column], min(limits))
        if coefficient < 0 or template.equal[row]:
            upper[column] = min(upper[column], max(limits))
    for place, column in enumerate(template.wanted):
        for sign in (1.0, -1.0):
            goal = np.zeros(template.columns)
            goal[column] = sign
            found = _largest(template, goal, lower, upper)
            if not np.isfinite(found):
                raise InvalidInput("constraints", f"leave {names[place]} without a bound for some record of the ranges",
                                   "add a constraint that bounds each variable for all records")
            if sign > 0:
                upper[column] = min(upper[column], found)
            else:
                lower[column] = max(lower[column], -found)
    low, high = _followed(template, lower, upper)
    return replace(template, lower=low, upper=high)


def extent(template: Template) -> Extent:
    """Largest values and contributions of the template, over the public ranges of records.

    Args:
        template: template with bounds on every number of z, from `boxed`.
    """
    low, high = template.lower[template.added], template.upper[template.added]
    signed = bool((low < -_SLACK).any())
    entry = float(np.maximum(np.abs(low), np.abs(high)).max())
    total = float(np.maximum(np.abs(low), np.abs(high)).sum())
    affine = set(template.steps[template.kinds == 0].tolist())
    if not signed and all(int(one) in affine for one in template.added):
        goal = np.zeros(template.columns)
        goal[template.added] = 1.0
        total = min(total, _largest(template, goal, template.lower, template.upper))
    n = template.columns
    least, most = template.ranges
    costs = _products(least[:n], most[:n], template.lower, template.upper)
    square = _products(template.lower[:, None], template.upper[:, None], template.lower[None], template.upper[None])
    np.fill_diagonal(square[0], np.maximum(np.diag(square[0]), 0.0))
    bend = _products(template.quadratic, template.quadratic, *square)
    value_low = -float(most[n] + costs[1].sum() + max(0.0, 0.5 * bend[1].sum()))
    goal = np.where(template.lower >= 0.0, -least[:n], 0.0)
    fixed = ~template.varying[:n] & (template.lower < 0.0)
    goal[fixed] = -template.constants[:n][fixed]
    rest = -float(costs[0][(template.lower < 0.0) & ~fixed].sum())
    value_high = -float(least[n]) + rest + _largest(template, goal, template.lower, template.upper)
    slopes = _slopes(template)
    bent = np.abs(template.quadratic) @ np.maximum(np.abs(template.lower), np.abs(template.upper))
    steep = float(((np.maximum(np.abs(least[:n]), np.abs(most[:n])) + bent) * slopes).sum())
    return Extent(entry=entry, total=total, most=max(0.0, value_high), least=min(0.0, value_low), signed=signed,
                  slopes=slopes, load_slopes=slopes[template.added], value_slope=steep)


def nothing_at_zero(template: Template) -> bool:
    """Whether every participant may have x = 0, with value 0 and contribution 0.

    Args:
        template: template with bounds on every number of z, from `boxed`.
    """
    zero = np.full(template.columns, -np.inf), np.full(template.columns, np.inf)
    for end in zero:
        end[template.wanted] = 0.0
    low, high = _followed(template, *zero, by_program=False)
    n = template.columns
    least, most = template.ranges
    cost = _products(least[:n], most[:n], low, high)
    square = _products(low[:, None], high[:, None], low[None], high[None])
    bend = _products(template.quadratic, template.quadratic, *square)
    ends = [least[n] + cost[0].sum() + 0.5 * bend[0].sum(), most[n] + cost[1].sum() + 0.5 * bend[1].sum()]
    if any(abs(one) > 1e-12 for one in (*ends, *low[template.added], *high[template.added])):
        return False
    sums = _row_sums(template, low, high)
    limits = least[template.limits], most[template.limits]
    met = sums[0] >= limits[1] - 1e-12
    stepped = np.zeros(len(template.equal), dtype=bool)
    stepped[template.step_rows] = True
    return bool((stepped | (met & (~template.equal | (sums[1] <= limits[0] + 1e-12)))).all())


def _single(template: Template) -> list[tuple[int, int, float]]:
    """Rows with a single entry that is the same for all records: (row, column, entry)."""
    starts, entries = template.by_rows
    moved = template.varying[template.entries]
    values = template.constants[template.entries]
    out = []
    for row in np.flatnonzero(np.diff(starts) == 1):
        e = int(entries[starts[row]])
        if not moved[e] and values[e] != 0.0:
            out.append((int(row), int(template.entry_columns[e]), float(values[e])))
    return out


def _products(a: Any, b: Any, c: Any, d: Any) -> tuple[_Reals, _Reals]:
    """Both ends of the interval [a, b] times [c, d], where 0 times infinity is 0."""
    with np.errstate(invalid="ignore"):
        all_of = np.stack(np.broadcast_arrays(*[np.nan_to_num(p * q, nan=0.0, posinf=np.inf, neginf=-np.inf)
                                                for p in (a, b) for q in (c, d)]))
    return all_of.min(axis=0), all_of.max(axis=0)


def _row_sums(template: Template, low: _Reals, high: _Reals) -> tuple[_Reals, _Reals]:
    """Both ends of A z for each row, by interval arithmetic, shape (rows,)."""
    least, most = (one[template.entries] for one in template.ranges)
    ends = _products(least, most, low[template.entry_columns], high[template.entry_columns])
    out = np.zeros((2, len(template.equal)))
    for side in (0, 1):
        np.add.at(out[side], template.entry_rows, ends[side])
    return out[0], out[1]


def _followed(template: Template, lower: _Reals, upper: _Reals, *, by_program: bool = True) -> tuple[_Reals, _Reals]:
    """Bounds on the columns that are computed by steps."""
    low, high = lower.copy(), upper.copy()
    starts, entries = template.by_rows
    least, most = template.ranges
    first, limits = template.columns + 1, template.limits.start
    for s, (column, kind) in enumerate(zip(template.steps, template.kinds, strict=True)):
        ends = []
        for row in template.step_rows[template.step_starts[s] : template.step_starts[s + 1]]:
            of = entries[starts[row] : starts[row + 1]]
            own = float(template.constants[first + of[template.entry_columns[of] == column][0]])
            other = of[template.entry_columns[of] != column]
            parts = _products(least[first + other], most[first + other], low[template.entry_columns[other]],
                              high[template.entry_columns[other]])
            both = [(least[limits + row] - parts[1].sum()) / own, (most[limits + row] - parts[0].sum()) / own]
            down, up = min(both), max(both)
            if by_program and len(other) > 1:
                up = min(up, _rest(template, row, other, 1.0 / own, low, high))
                down = max(down, -_rest(template, row, other, -1.0 / own, low, high))
            ends.append((down, up))
        pick = min if kind < 0 else max  # one equation has one pair of ends
        low[column], high[column] = pick(one[0] for one in ends), pick(one[1] for one in ends)
    return low, high


def _rest(template: Template, row: int, other: Any, sign: float, low: _Reals, high: _Reals) -> float:
    """The largest value of sign (l - sum of the row's other entries times z) over the superset."""
    least, most = template.ranges
    first, limit = template.columns + 1, template.limits.start + row
    known = np.isfinite(low) & np.isfinite(high)
    goal, fixed = np.zeros(template.columns), max(sign * least[limit], sign * most[limit])
    for e in other:
        column = int(template.entry_columns[e])
        ends = sorted((-sign * least[first + e], -sign * most[first + e]))
        if ends[0] == ends[1] or low[column] >= 0.0:
            goal[column] += ends[1]
        else:
            fixed += float(_products(ends[0], ends[1], low[column], high[column])[1])
    if not known[np.flatnonzero(goal)].all():
        return np.inf
    return float(fixed) + _largest(template, goal, low, high)


def _largest(template: Template, goal: _Reals, lower: _Reals, upper: _Reals) -> float:
    """The largest value of goal z over the superset, rounded up a little; infinite where nothing bounds it."""
    from scipy.optimize import linprog

    least, most = template.ranges
    small, large = least[template.entries], most[template.entries]
    # A row A z >= l holds for some record only if it does with the largest entries and the least l; z >= 0 there.
    unsound = np.zeros(len(template.equal), dtype=bool)
    unsound[template.entry_rows[(small < large) & ~(lower[template.entry_columns] >= 0.0)]] = True
    at = (template.entry_rows, template.entry_columns)
    shape = (len(template.equal), template.columns)
    over = csr_array((large, at), shape=shape)[~unsound]
    under = csr_array((small, at), shape=shape)[~unsound & template.equal]
    limits = least[template.limits][~unsound], most[template.limits][~unsound & template.equal]
    rows = vstack([-over, under], format="csr")
    found = linprog(-goal, A_ub=rows if rows.shape[0] else None, b_ub=np.concatenate([-limits[0], limits[1]])
                    if rows.shape[0] else None, bounds=list(zip(lower, upper, strict=True)), method="highs")
    if found.status == 2:
        raise InvalidInput("constraints", "leave no feasible point for any record of the ranges")
    if found.status != 0:
        return np.inf
    return float(-found.fun + _SLACK * abs(found.fun))


def _slopes(template: Template) -> _Reals:
    """Largest change of each column of z if every number of x changes by 1, shape (n,)."""
    out = np.zeros(template.columns)
    out[template.wanted] = 1.0
    starts, entries = template.by_rows
    least, most = template.ranges
    first = template.columns + 1
    for s, column in enumerate(template.steps):
        for row in template.step_rows[template.step_starts[s] : template.step_starts[s + 1]]:
            of = entries[starts[row] : starts[row + 1]]
            own = abs(float(template.constants[first + of[template.entry_columns[of] == column][0]]))
            other = of[template.entry_columns[of] != column]
            size = np.maximum(np.abs(least[first + other]), np.abs(most[first + other]))
            out[column] = max(out[column], float((size * out[template.entry_columns[other]]).sum()) / own)
    return out
