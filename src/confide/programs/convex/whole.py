"""The program of all records at once, for a solver: what private runs are compared with. Private.

Source: spec convex_programs 8 (`to_lp`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, csc_array, hstack

from confide.contract.errors import InvalidInput
from confide.programs.convex.shapes import Shape
from confide.programs.convex.template import Template
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.linear import LinearProgram
from confide.programs.program import Program

__all__ = ["blocks_of", "linear_program_of"]


def linear_program_of(program: Program, template: Template, shape: Shape | None, records: Any) -> LinearProgram:
    """The whole program, where values are linear: of x alone where responses are exact, else of all of z.

    Args:
        program: whose supply counts.
        template: everybody's.
        shape: the template's.
        records: of all participants.

    Raises:
        InvalidInput: values are quadratic.
    """
    if template.quadratic.any():
        raise InvalidInput("program", "has values that are not linear", "no linear program has its optimum")
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
    """The whole program of all of z, its objective linear, or replaced by what it is near a point.

    Args:
        program: whose supply counts.
        template: everybody's.
        records: of all participants, with their numbers.
        slopes: (people that are there, n) of the values at a point; of linear values by default.
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
