"""Rows of numbers, one row for each person, made by the public roles of the columns. The entry of a column is a scaled
number, a number in the unit of the column, or the rank of a level (its position in the list of levels, from 0).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, MutableMapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.asked import Field
from confide.contract.errors import InvalidInput
from confide.contract.words import did_you_mean
from confide.tables import Category, FirstRows, Measured, Numeric, Roster, TableSource, rejections
from confide.tables.roles import FINE
from confide.tables.slot_rows import SlotRows

__all__ = ["MOVED", "Role", "check_roles", "check_typed", "field_of", "read_rows", "typed_cells", "typed_row"]

Role = Numeric | Category | Measured
"""The roles that a column can have. `Numeric` gives numbers that are scaled to [-1, 1], `Category` ranks of levels, and
`Measured` numbers in the unit of the column.
"""


def check_roles(roles: Sequence[Role], id: str) -> tuple[str, ...]:  # noqa: A002
    """Check the roles of the columns, and return the names of the columns.

    Args:
        roles: roles of the columns.
        id: name of the column of ids, or "row" if the rows are numbered.

    Raises:
        InvalidInput: there is no column, two columns have the same name, or the column of ids has a role.
    """
    names = tuple(role.column for role in roles)
    if not names or len(set(names)) < len(names):
        raise InvalidInput("columns", f"{', '.join(names) or 'none'}", "must be one column or more, each once")
    if id in names:
        raise InvalidInput("people.id", f"{id!r} is also a requested column",
                           "give one of the two columns another name")
    return names


def read_rows(
    source: TableSource, *, roles: Sequence[Role], roster: Roster, id: str = "row",  # noqa: A002
    rejected: MutableMapping[str, str] | None = None, rows: int = 65536,
) -> Iterator[SlotRows]:
    """Read a table once. A bad row affects only the person of this row. This person then counts as a person without a
    record.

    Args:
        source: the table, from `confide.tables.open_table`.
        roles: roles of the columns.
        roster: the public list of ids.
        id: name of the column that holds the id. With "row", the i-th row belongs to the i-th id of the list.
        rejected: mapping to which the function adds the reason of each rejection under the rejected id, as in
            `confide.tables.read_records`. The mapping is for the operator alone.
        rows: largest number of rows in a batch. The number affects only the speed.

    Raises:
        InvalidInput: a column is missing, or has a type that does not fit its role. The error never depends on the
            values.

    Example:
        >>> from confide.tables import open_table
        >>> table, rejected = open_table({"mood": ["good", "bad", "?"], "age": [20, 60, 40]}), {}
        >>> roles = (Category(column="mood", levels=("bad", "good")), Numeric(column="age", lower=20, upper=60))
        >>> for batch in read_rows(table, roles=roles, roster=Roster(3), rejected=rejected):
        ...     print(batch.index, batch.cells.tolist(), rejected)
        [0 1] [[1.0, -1.0], [0.0, 1.0]] {'3': 'mood: is not a level; must be one of bad, good'}
    """
    names = check_roles(roles, id)
    if id == "row" and not source.ordered:
        raise InvalidInput("people.id", "the rows of a query have no order", "name a column of ids")
    source = source.for_roles(roles)
    return _read(source.batches([*names, *([] if id == "row" else [id])], rows), roles, FirstRows(roster, id), rejected)


def _read(
    batches: Iterator[pa.RecordBatch], roles: Sequence[Role], first: FirstRows,
    rejected: MutableMapping[str, str] | None,
) -> Iterator[SlotRows]:
    for batch in batches:
        index = first.claim(batch)
        cells, wrong = np.empty((len(index), len(roles))), np.zeros((len(index), len(roles)), np.int8)
        for place, role in enumerate(roles):
            cells[:, place], wrong[:, place] = role.encode(batch.column(role.column))
        bad = (wrong != FINE).any(axis=1)
        lost = bad | (index < 0)
        if rejected is not None and lost.any():
            at = np.argmax(wrong != FINE, axis=1)
            reasons = {row: roles[at[row]].reason(int(wrong[row, at[row]]))
                       for row in np.flatnonzero(bad & (index >= 0)).tolist()}
            rejected.update(rejections(first, batch, index, lost, reasons))
        yield SlotRows(index[~lost], cells[~lost])


def check_typed(values: Mapping[str, str], columns: Sequence[str]) -> None:
    """Check that a participant typed a value for each column that a campaign asks for, and for no other column.

    Args:
        values: mapping from column name to typed text.
        columns: columns that the campaign asks for.

    Raises:
        InvalidInput: a column is missing, or is not asked for. For a column that is not asked for, the message names
            the most similar column that is.
    """
    for name in values:
        if name not in columns:
            raise InvalidInput("record", f"{name!r} is not a column of this campaign",
                               did_you_mean(name, columns, f"columns: {', '.join(columns)}", cutoff=0.5))
    missing = [name for name in columns if name not in values]
    if missing:
        raise InvalidInput("record", f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing",
                           f"must give {', '.join(columns)}")


def typed_row(values: Mapping[str, str], roles: Sequence[Role]) -> NDArray[np.float64]:
    """The values that one participant typed, as a row of shape (c,) that is coded like a row of a file.

    Args:
        values: mapping from column name to the text of its cell.
        roles: roles of the c columns.

    Raises:
        InvalidInput: a column is unknown or missing, or a value cannot be used. The message is for the participant
            alone.

    Example:
        >>> typed_row({"mood": "good"}, (Category(column="mood", levels=("bad", "good")),)).tolist()
        [1.0]
    """
    check_typed(values, [role.column for role in roles])
    row = np.empty(len(roles))
    for place, role in enumerate(roles):
        row[place], problem = role.encode_one(values[role.column])
        if problem:
            raise InvalidInput("record", problem)
    return row


def typed_cells(cells: Sequence[float], roles: Sequence[Role]) -> dict[str, str | float]:
    """Mapping from column name to a value, from which `typed_row` makes the given cells.

    Args:
        cells: (c,) cells of one row.
        roles: roles of the c columns.

    Example:
        >>> roles = (Category(column="mood", levels=("bad", "good")), Numeric(column="age", lower=20, upper=60))
        >>> typed_cells([1.0, -0.5], roles)
        {'mood': 'good', 'age': 30.0}
    """
    return {role.column: role.levels[int(cell)] if isinstance(role, Category)
            else role.middle + cell * role.scale if isinstance(role, Numeric) else cell
            for role, cell in zip(roles, cells, strict=True)}


MOVED = "A number beyond these ends counts as the nearer one."
"""Note for participants on a column in which a number out of bounds is replaced by the nearer bound."""


def field_of(role: Role, *, label: str = "", note: str = "") -> Field:
    """The field of a web form for a column.

    Args:
        role: role of the column.
        label: question of the field; by default the name of the column.
        note: explanation shown beside the question.

    Example:
        >>> field_of(Category(column="mood", levels=("bad", "good"))).choices
        ('bad', 'good')
        >>> clipped = field_of(Numeric(column="age", lower=20, upper=60, out_of_bounds="clip", unit="years"))
        >>> clipped.highest, clipped.note
        (None, 'From 20 to 60 (unit: years). A number beyond these ends counts as the nearer one.')
    """
    name = label or role.column
    if isinstance(role, Category):
        return Field(column=role.column, label=name, form="choice", choices=role.levels, note=note)
    unit = role.unit if isinstance(role, Numeric) else ""
    if isinstance(role, Numeric) and role.out_of_bounds == "clip":
        ends = f"From {role.lower:.12g} to {role.upper:.12g}{f' (unit: {unit})' * bool(unit)}. {MOVED}"
        return Field(column=role.column, label=name, form="number", unit=unit,
                     note=" ".join(filter(None, (note, ends))))
    low, high = (end if math.isfinite(end) else None for end in (role.lower, role.upper))
    return Field(column=role.column, label=name, form="number", lowest=low, highest=high, unit=unit, note=note)
