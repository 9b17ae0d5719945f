"""`convex_program`: checks one participant's program, given as cvxpy expressions, and compiles the program to arrays
once.

No module of the library except this one needs cvxpy. The compiled program runs, is saved and decodes without cvxpy.

Source: spec convex_programs 8 (convex front end); Agrawal et al. 2019 for parametrised programs (DPP).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import finite
from confide.contract.errors import InvalidInput
from confide.programs.convex.compiled_program import ConvexProgram
from confide.programs.convex.public_bounds import boxed, extent
from confide.programs.convex.template import Template

__all__ = ["convex_program"]

_PROBES = 5  # records at which the arrays are held against the expressions
_AGREE = 1e-7
_CONES = ("use squares only in the value, and maxima, absolute values and positive parts elsewhere; no norms except 1 "
          "and infinity, no logarithms or exponentials")
_PLAIN = frozenset({"nonneg", "nonpos", "pos", "neg", "bounds"})  # attributes of variables that are rows


def convex_program(
    people: int, supply: float | tuple[float, ...], *, value: Any, coupling: Any, record: Mapping[str, Any],
    tau: float | tuple[float, ...] | None = None, constraints: Sequence[Any] = (), accuracy: float = 2.0**-18,
) -> ConvexProgram:
    """A program of n people who all have the same cvxpy program and different records.

    Values may be linear or quadratic. Values, constraints and contributions may also contain absolute values, maxima,
    positive parts and similar functions. Every number that comes from a record must be declared as a cvxpy Parameter.
    All variables in the expressions belong to one participant.

    Args:
        people: number of participants, n.
        supply: (k,) supply of each coupling constraint, or one number for all.
        value: cvxpy expression of the participant's value, concave in the variables and affine in each parameter.
        coupling: cvxpy expression, of size k, of the participant's contribution to each coupling constraint, convex in
            the variables.
        record: mapping from the name of each field of a record to (Parameter, least, largest). The field may have
            numbers from `least` to `largest`. Each of these bounds is a number or an array of the Parameter's shape.
        tau: (k,) dual bound of each coupling constraint, or one number for all; tau must be declared. A dual bound is
            an upper bound on the increase of the optimum by one unit of excess over the supply. Suppose that everybody
            may have nothing, contributions are not negative, and every action that contributes anything adds at least L
            to some constraint. Under these conditions the largest value divided by L is a valid tau. `check_tau` tests
            a tau on invented records.
        constraints: cvxpy constraints on the participant's variables, which must bound each variable.
        accuracy: largest amount by which a solver's response may be worse than the best response, as a share of the
            largest value.

    Raises:
        InvalidInput: an expression is not convex, not affine in a parameter, or neither linear nor quadratic; a
            parameter has no range; a variable is not bounded; or tau is missing. The error message names the fault.

    Example:
        >>> import cvxpy as cp
        >>> from confide.programs import PrivDude
        >>> from confide.privacy.noise import Noise
        >>> from confide.programs.convex import convex_program
        >>> x, worth = cp.Variable(2, nonneg=True), cp.Parameter(2)
        >>> program = convex_program(40, (8, 8), value=worth @ x - cp.sum_squares(x) / 4, coupling=x,
        ...                          constraints=[cp.sum(x) <= 1], record={"worth": (worth, 0, 1)}, tau=1.0)
        >>> data = {"worth": np.linspace(0, 1, 80).reshape(40, 2)}
        >>> outcome = PrivDude(program, 1.0, 1e-6, rounds=20, burn_in=10).run(data, Noise.simulated(1))
        >>> share = outcome.shares["times"][7].as_py()
        >>> share == PrivDude(program, 1.0, 1e-6, rounds=20, burn_in=10).decode(
        ...     {"worth": data["worth"][7]}, 7, outcome.billboard)["times"]
        True
    """
    try:
        cp: Any = import_module("cvxpy")
    except ImportError:
        raise InvalidInput("value", "cvxpy is not installed", "pip install 'confide[convex]'") from None
    worth, added = _expression(cp, "value", value), cp.vec(_expression(cp, "coupling", coupling), order="F")
    if worth.size != 1:
        raise InvalidInput("value", f"its shape is {worth.shape}", "must be one number")
    if not isinstance(constraints, list | tuple):
        raise InvalidInput("constraints", f"{type(constraints).__name__} is not a list")
    fields = _fields(cp, record)
    _checked(cp, cp.sum(worth), added, constraints, fields)
    follows = cp.Variable(added.size)
    tied = [follows[j] == added[j] if added[j].is_affine() else follows[j] >= added[j] for j in range(added.size)]
    problem = cp.Problem(cp.Minimize(-cp.sum(worth)), [*tied, *constraints])
    variables = [one for one in problem.variables() if one.id != follows.id]
    template = boxed(_compiled(cp, problem, variables, follows, fields), _names(variables))
    _agrees(template, cp.sum(worth), added, variables, fields)
    return ConvexProgram(people, supply, tau=tau, template=template, extent=extent(template), accuracy=accuracy)


def _expression(cp: Any, name: str, given: Any) -> Any:
    if not isinstance(given, cp.Expression):
        raise InvalidInput(name, f"{type(given).__name__} is not a cvxpy expression")
    return given


def _fields(cp: Any, record: Any) -> dict[str, tuple[Any, NDArray[np.float64], NDArray[np.float64]]]:
    """Parameters with both ends of their ranges, each as an array of the parameter's shape."""
    if not isinstance(record, Mapping) or not record:
        raise InvalidInput("record", "declares no field", "must be a mapping: field to (Parameter, least, largest)")
    out, seen = {}, set()
    for name, declared in record.items():
        if not isinstance(name, str) or not isinstance(declared, tuple) or len(declared) != 3 \
                or not isinstance(declared[0], cp.Parameter):
            raise InvalidInput("record", f"the entry of {name!r} is not (Parameter, least, largest)")
        parameter = declared[0]
        if parameter.id in seen:
            raise InvalidInput("record", f"declares the Parameter of {name!r} twice")
        seen.add(parameter.id)
        ends = []
        for end in declared[1:]:
            try:
                array = np.broadcast_to(np.asarray(end, dtype=np.float64), parameter.shape)
            except (ValueError, TypeError):
                raise InvalidInput("record", f"the range of {name!r} does not consist of numbers",
                                   f"must be two numbers, or arrays of shape {parameter.shape}") from None
            for one in array.reshape(-1):
                finite(f"record: {name}", float(one))
            ends.append(array)
        if bool((ends[0] > ends[1]).any()):
            raise InvalidInput("record", f"the range of {name!r} is empty", "least must not be above largest")
        low, high = (float(ends[0].min()), float(ends[1].max())) if parameter.size else (0.0, 0.0)
        if (parameter.is_nonneg() and low < 0) or (parameter.is_nonpos() and high > 0):
            raise InvalidInput("record", f"the range of {name!r} contradicts the sign that its Parameter declares")
        used = {key for key, on in parameter.attributes.items() if on is not None and on is not False}
        if used - {"nonneg", "nonpos", "pos", "neg"}:
            raise InvalidInput("record", f"the Parameter of {name!r} is {', '.join(sorted(used))}",
                               "a Parameter may have no attributes except signs")
        out[name] = (parameter, ends[0], ends[1])
    return out


def _checked(cp: Any, worth: Any, added: Any, constraints: Sequence[Any], fields: Mapping[str, Any]) -> None:
    """Check that the expressions are convex or concave as required, that all parameters have ranges, and that the
    variables are plain real ones.
    """
    unsigned = [name for name, (one, low, _) in fields.items() if not one.is_nonneg() and bool((low >= 0.0).all())]
    hint = (f"cvxpy does not know the ranges: if a sign matters, make the Parameter of {', '.join(unsigned)} with "
            "nonneg=True") if unsigned else ""
    if not worth.is_dcp() or not worth.is_concave():
        raise InvalidInput("value", "is not concave by cvxpy's rules", hint)
    if not added.is_convex():
        raise InvalidInput("coupling", "is not convex by cvxpy's rules", hint)
    for place, one in enumerate(constraints):
        if not isinstance(one, cp.constraints.constraint.Constraint) or not one.is_dcp():
            raise InvalidInput("constraints", f"number {place} is not a convex constraint by cvxpy's rules", hint)
    if not worth.is_dcp(dpp=True):
        raise InvalidInput("value", "is not affine in its parameters (DPP)", "no products of parameters")
    if not added.is_dcp(dpp=True):
        raise InvalidInput("coupling", "is not affine in its parameters (DPP)", "no products of parameters")
    for place, one in enumerate(constraints):
        if not one.is_dcp(dpp=True):
            raise InvalidInput("constraints", f"number {place} is not affine in its parameters (DPP)")
    known = {one.id for one, _, _ in fields.values()}
    parts = [worth, added, *constraints]
    strange = {p.name() for part in parts for p in part.parameters() if p.id not in known}
    if strange:
        raise InvalidInput("record", f"has no range for {', '.join(sorted(strange))}",
                           "every Parameter needs a public range that covers all records")
    if not added.variables():
        raise InvalidInput("coupling", "has no variable")
    for variable in {v.id: v for part in parts for v in part.variables()}.values():
        used = {key for key, on in variable.attributes.items() if on is not None and on is not False}
        if used - _PLAIN:
            raise InvalidInput("constraints", f"{variable.name()} is {', '.join(sorted(used - _PLAIN))}",
                               "variables are real numbers; write other attributes as constraints")


def _names(variables: Sequence[Any]) -> list[str]:
    """Name of each number of x."""
    return [one.name() if one.size == 1 else f"{one.name()}[{', '.join(map(str, np.unravel_index(j, one.shape)))}]"
            for one in variables for j in range(one.size)]


def _compiled(cp: Any, problem: Any, variables: Sequence[Any], follows: Any, fields: Mapping[str, Any]) -> Template:
    """The arrays of cvxpy's own canonical form, without bounds on the columns."""
    try:
        data, _, _ = problem.get_problem_data(cp.OSQP, enforce_dpp=True)
    except cp.error.SolverError:
        raise InvalidInput("value", "value, coupling or constraints need cones beyond linear and quadratic functions",
                           _CONES) from None
    form = data["param_prob"]
    n, rows = form.x.size, form.constr_size
    if form.cone_dims.zero + form.cone_dims.nonneg != rows or form.lower_bounds is not None \
            or form.upper_bounds is not None:
        raise InvalidInput("value", "value, coupling or constraints need cones beyond linear and quadratic functions",
                           _CONES)
    width = form.total_param_size + 1
    square = form.P.tocsc() if form.P is not None else None
    quadratic = np.zeros((n, n))
    if square is not None:
        if abs(square[:, : width - 1]).sum() > 0:
            raise InvalidInput("value", "has a quadratic part that depends on the record",
                               "write sum_squares(multiply(parameter, x)), not parameter * sum_squares(x)")
        quadratic = square[:, [width - 1]].toarray().reshape((n, n), order="F")
        quadratic = (quadratic + quadratic.T) / 2.0
    tensor = form.A.tocoo()
    # Its rows are entry (r, c) of [A b] at c * rows + r; its columns are parameters, the constant last.
    keys = np.unique(tensor.row[tensor.data != 0.0])
    keys = keys[keys < n * rows]
    maps = [form.q.tocsr()[: n + 1], form.A.tocsr()[keys], -form.A.tocsr()[n * rows :]]
    sources = _sources(form, fields, width)
    starts, source, factor, constants = _affine_maps(maps, sources, width)
    equal = np.arange(rows) < form.cone_dims.zero
    entry_rows, entry_columns = keys % rows, keys // rows
    columns = _columns(form, variables)
    added = np.arange(follows.size) + form.var_id_to_col[follows.id]
    entry_at = n + 1 + np.arange(len(keys))
    fixed = np.diff(starts)[entry_at] == 0
    steps = _steps(entry_rows, entry_columns, np.where(fixed, constants[entry_at], np.nan), equal, columns, n)
    return Template(
        names=tuple(fields), shapes=tuple(_shape(one) for one, _, _ in fields.values()),
        variables=_own_names(variables), variable_shapes=tuple(map(_shape, variables)),
        low=np.concatenate([low.reshape(-1) for _, low, _ in fields.values()]),
        high=np.concatenate([high.reshape(-1) for _, _, high in fields.values()]),
        starts=starts, sources=source, factors=factor, constants=constants, entry_rows=entry_rows.astype(np.int64),
        entry_columns=entry_columns.astype(np.int64), equal=equal, quadratic=quadratic, wanted=columns,
        added=added.astype(np.int64), **steps, lower=np.full(n, -np.inf), upper=np.full(n, np.inf))


def _shape(one: Any) -> tuple[int, ...]:
    return tuple(int(side) for side in one.shape)


def _own_names(variables: Sequence[Any]) -> tuple[str, ...]:
    """Name of each variable. Variables without a name of their own are called x0, x1 and so on, because the number in
    cvxpy's default name depends on earlier objects.
    """
    given = [None if one.name() == f"var{one.id}" else str(one.name()) for one in variables]
    for name in given:
        if name is not None and given.count(name) > 1:
            raise InvalidInput("constraints", f"name two variables {name}", "give each variable a different name")
    free = (name for name in map("x{}".format, range(2 * len(given))) if name not in given)
    return tuple(next(free) if name is None else name for name in given)


def _sources(form: Any, fields: Mapping[str, Any], width: int) -> NDArray[np.int64]:
    """For each of cvxpy's parameters, the place of its number in a record, shape (width,). Arrays of cvxpy run column
    by column.
    """
    out, at = np.full(width, -1), 0
    for parameter, _, _ in fields.values():
        if parameter.id in form.param_id_to_col:
            order = np.arange(parameter.size).reshape(parameter.shape).reshape(-1, order="F")
            begin = form.param_id_to_col[parameter.id]
            out[begin : begin + parameter.size] = at + order
        at += parameter.size
    return out


def _affine_maps(
    maps: Sequence[Any], sources: NDArray[np.int64], width: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Affine maps of sparse rows: the place where each map begins, its sources and factors, and all constants."""
    counts, source, factor, constants = [], [], [], []
    for part in maps:
        rows = part.tocsr()
        rows.sum_duplicates()
        for i in range(rows.shape[0]):
            here = slice(rows.indptr[i], rows.indptr[i + 1])
            columns, values = rows.indices[here], rows.data[here]
            constants.append(float(values[columns == width - 1].sum()))
            moved = (columns != width - 1) & (values != 0.0)
            counts.append(int(moved.sum()))
            source.append(sources[columns[moved]])
            factor.append(values[moved])
    return (np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), np.concatenate(source).astype(np.int64),
            np.concatenate(factor).astype(np.float64), np.array(constants))


def _columns(form: Any, variables: Sequence[Any]) -> NDArray[np.int64]:
    """Columns of the participant's own variables, shape (a,). A variable with attributes is replaced by cvxpy with
    another one of the same name.
    """
    out = []
    for variable in variables:
        known = [one for one in form.variables if one.id == variable.id] or [
            one for one in form.variables if one.name() == variable.name() and one.size == variable.size]
        if len(known) != 1:
            raise InvalidInput("constraints", f"name two variables {variable.name()}",
                               "give each variable a different name")
        order = np.arange(variable.size).reshape(variable.shape, order="F").reshape(-1)
        out.append(form.var_id_to_col[known[0].id] + order)
    return np.concatenate(out).astype(np.int64)


def _steps(
    entry_rows: Any, entry_columns: Any, values: Any, equal: Any, wanted: Any, n: int,
) -> dict[str, NDArray[np.int64]]:
    """Steps by which all columns of the arrays except the participant's variables x are computed from x. An auxiliary
    variable of cvxpy stands for the function whose value it bounds.

    Args:
        entry_rows: (e,) row of each matrix entry.
        entry_columns: (e,) column of each matrix entry.
        values: (e,) value of each matrix entry; nan where it depends on the record.
        equal: (rows,) whether each row is an equation.
        wanted: (a,) columns of x.
        n: number of columns.
    """
    known = np.zeros(n, dtype=bool)
    known[wanted] = True
    of_row = [np.flatnonzero(entry_rows == row) for row in range(len(equal))]
    found: list[tuple[int, int, list[int]]] = []

    def follows(column: int) -> tuple[int, list[int]] | None:
        below, above, open_below, open_above = [], [], False, False
        for e in np.flatnonzero(entry_columns == column):
            row = int(entry_rows[e])
            others = of_row[row][entry_columns[of_row[row]] != column]
            ready = bool(known[entry_columns[others]].all()) and bool(np.isfinite(values[e]))
            if equal[row]:
                if ready:
                    return 0, [row]  # one that is not ready says what another is, such as the root of a square
            elif values[e] > 0:
                below.append(row)
                open_below |= not ready
            else:
                above.append(row)
                open_above |= not ready
        if below and not open_below:
            return 1, below
        return (-1, above) if above and not below and not open_above else None

    while not known.all():
        column = next((c for c in np.flatnonzero(~known) if follows(int(c)) is not None), None)
        if column is None:
            raise InvalidInput("value", "value, coupling or constraints have a function with parts that do not follow "
                               "from x",
                               "such as huber or sum_largest; write it with maxima and squares")
        kind, rows = follows(int(column))  # type: ignore[misc]
        known[column] = True
        found.append((int(column), kind, rows))
    return {"steps": np.array([one[0] for one in found], dtype=np.int64),
            "kinds": np.array([one[1] for one in found], dtype=np.int64),
            "step_starts": np.concatenate([[0], np.cumsum([len(one[2]) for one in found])]).astype(np.int64),
            "step_rows": np.array([row for one in found for row in one[2]], dtype=np.int64)}


def _agrees(template: Template, worth: Any, added: Any, variables: Sequence[Any], fields: Mapping[str, Any]) -> None:
    """Compare the arrays with cvxpy's own evaluation, at some points of the ranges. The cvxpy model is not changed.

    Raises:
        InvalidInput: the results differ, because cvxpy writes some function in a way that the compiler does not
            support.
    """
    everything = [*variables, *(one for one, _, _ in fields.values())]
    before = [one.value for one in everything]
    try:
        for probe in range(_PROBES):
            mix = 0.5 + 0.5 * np.sin(1.0 + probe + 2.3 * np.arange(len(template.low)))
            theta = template.low + mix * (template.high - template.low)
            at, box = 0, (template.lower[template.wanted], template.upper[template.wanted])
            x = box[0] + (0.5 + 0.5 * np.sin(2.0 + probe + 1.7 * np.arange(len(box[0])))) * (box[1] - box[0])
            for one in (one for one, _, _ in fields.values()):
                one.value = theta[at : at + one.size].reshape(one.shape)
                at += one.size
            at = 0
            for one in variables:
                one.project_and_assign(x[at : at + one.size].reshape(one.shape))
                x[at : at + one.size] = np.asarray(one.value).reshape(-1)
                at += one.size
            numbers = template.numbers(theta[None])
            z = template.completed(numbers, x[None])
            said = np.append(-np.atleast_1d(worth.value), np.atleast_1d(added.value).reshape(-1))
            ours = np.append(template.cost(numbers, z), z[0, template.added])
            if not np.allclose(said, ours, rtol=_AGREE, atol=_AGREE):
                raise InvalidInput("value", "value or coupling has a function that the arrays do not reproduce",
                                   "write it with linear and quadratic functions, maxima and positive parts")
    finally:
        for one, value in zip(everything, before, strict=True):
            one.save_value(value)
