"""Reports of the participants as rows of numbers, called cells. For each program, the number of cells in a row is
fixed, whatever the form of the program's records.

A report is stored as a row of numbers, so the record on a participant's device equals the record in the run. A slot,
the public place of one possible participant, may have no row. Slots without a row have the null record.

The module also links a program to its campaign file: the names and units of the file, the reading of rows, and the
descriptions of actions and resources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.words import counted
from confide.programs.families.aggregative_game import AggregativeGame
from confide.programs.families.callback_demand import CallbackDemand
from confide.programs.families.electricity import Electricity
from confide.programs.families.flow import Flow
from confide.programs.families.knapsack import Knapsack
from confide.programs.families.shared_resources import SharedResources
from confide.programs.families.xor_bundles import XorBundles
from confide.programs.program import Program, ProgramRecords
from confide.programs.reading import Bids, Column, Judge, Points
from confide.programs.sets_of_goods import SetsOfGoods
from confide.tables.frames import columns_of, fields_of, is_table, own_fields, own_row
from confide.tables.reader import Reader
from confide.tables.slot_rows import SlotRows

__all__ = ["Coding", "Layout", "any_row", "collected", "layout", "named", "own_records", "pairs", "table_lines"]

# ---- slots

_Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Layout:
    """Layout of a program's records as rows of cells.

    Args:
        width: number c of cells in a row.
        data: function from a table of cells, shape (n, c), to data that `program.read` accepts. A row of NaN stands for
            a slot without a record.
    """

    width: int
    data: Callable[[_Reals], Any]

    def record(self, row: _Reals) -> Any:
        """One participant's record, in a form that the program accepts.

        Args:
            row: (c,) cells of the participant.
        """
        found = self.data(row[None])
        return tuple(part[0] for part in found) if isinstance(found, tuple) else found[0]


def layout(program: Program) -> Layout:
    """Layout of a program's records as rows of cells: the number of cells, which is the same for everybody, and the
    conversion of a table of cells into data that the program reads.

    Args:
        program: program of a family with records that are rows of numbers.

    Raises:
        InvalidInput: a `CallbackDemand`, whose records are objects with methods; a `ConvexProgram`, whose records are
            mappings of fields; or another family without a layout.

    Example:
        >>> from confide.programs import Knapsack, XorBundles
        >>> layout(Knapsack(3, (1.0, 2.0), least_weight=0.1)).width
        3
        >>> bids = layout(XorBundles(3, (1, 2, 2), size=2, bids=1)).record(np.array([2.0, -1.0, 0.75]))
        >>> [part.tolist() for part in bids]
        [[[2, -1]], [0.75]]
    """
    if isinstance(program, CallbackDemand):
        raise InvalidInput("program", "the records of CallbackDemand are objects, not rows of numbers")
    if isinstance(program, XorBundles):
        bids, size = program.bids, program.size
        return Layout(bids * (size + 1), lambda cells: _bids(cells, bids, size))
    if isinstance(program, Knapsack):
        return Layout(1 + program.rows, lambda cells: cells)
    if isinstance(program, Flow):
        return Layout(2 if program.costs is not None else 2 + program.rows, lambda cells: cells)
    if isinstance(program, Electricity):
        return _of_slots(program)
    if isinstance(program, AggregativeGame):
        actions, rows = program.actions, program.rows
        return Layout(actions * rows + actions, lambda cells: (
            cells[:, : actions * rows].reshape(-1, actions, rows), cells[:, actions * rows :]))
    if isinstance(program, SharedResources):
        return Layout(program.projects, lambda cells: cells)
    if isinstance(program, SetsOfGoods):
        return Layout(program.rows, lambda cells: cells)
    raise InvalidInput("program", f"the records of {type(program).__name__} are not rows of numbers")


def _bids(cells: _Reals, bids: int, size: int) -> tuple[NDArray[np.int64], _Reals]:
    goods = cells[:, : bids * size].reshape(-1, bids, size)
    places = (goods >= -1.0) & (goods < 2.0**31) & (goods == np.floor(goods))
    # What is no place of a good is none of the program's, which takes that row as null; NaN is an empty place.
    return np.where(np.isnan(goods), -1.0, np.where(places, goods, -2.0)).astype(np.int64), cells[:, bids * size :]


def _of_slots(program: Electricity) -> Layout:
    intervals, slots = int(program.intervals), int(program.slots)  # type: ignore[arg-type]
    k = intervals * slots
    if not program.asks_needs:
        return Layout(k, lambda cells: cells.reshape(-1, intervals, slots))
    return Layout(k + intervals, lambda cells: (cells[:, :k].reshape(-1, intervals, slots), cells[:, k:]))


def own_records(program: Program, record: Any) -> ProgramRecords:
    """One participant's record, checked without any other record. The record may have the form that `program.one`
    accepts, or any form in which a run accepts rows.

    Args:
        program: program that the record is for.
        record: record in a form that `program.one` accepts; or a table of one row, a mapping of columns, or an array of
            one row.

    Raises:
        InvalidInput: the record is wrong. The error message is for the participant alone.

    Example:
        >>> from confide.programs import UnitDemand
        >>> program = UnitDemand(3, (1, 1))
        >>> [own_records(program, each).worth.tolist() for each in ({"tea": 0.5, "milk": 0}, [[0.5, 0]], (0.5, 0))]
        [[[8388608, 0]], [[8388608, 0]], [[8388608, 0]]]
    """
    if record is None or isinstance(program, CallbackDemand):
        return program.one(record)
    named = program.record_fields
    if named is not None:
        known = isinstance(record, Mapping) and set(record) <= set(named)
        return program.one(record if known else own_fields(record, named))
    there = layout(program)
    row = own_row(record, None if isinstance(program, XorBundles) else there.width)
    if row is not record and not (isinstance(record, list | tuple | np.ndarray)):
        if np.shape(row) != (there.width,):
            raise InvalidInput("record", f"has {counted(np.size(row), 'number')}", f"must be {there.width}")
        return program.one(there.record(np.asarray(row, dtype=np.float64)))
    return program.one(row)


def collected(program: Program, data: Any) -> Any:
    """Data in a form that `program.read` accepts. Batches of rows with their slots (`SlotRows`) become checked records,
    tables become arrays or mappings of arrays, and other data are returned unchanged.

    Args:
        program: program that the records belong to.
        data: data that `program.read` accepts, an iterable of `SlotRows`, or a table (`confide.tables.frames`).

    Raises:
        InvalidInput: a row with a slot outside 0..n-1, or with a wrong number of cells; or a table with wrong columns.

    Example:
        >>> from confide.programs import UnitDemand
        >>> batch = SlotRows(np.array([2]), np.array([[0.5, 0.25]]))
        >>> collected(UnitDemand(3, (1, 1)), iter([batch])).worth.tolist()
        [[0, 0], [0, 0], [8388608, 4194304]]
    """
    if is_table(data):
        if program.record_fields is not None:
            return fields_of(data, program.record_fields)
        there = layout(program)
        return there.data(columns_of(data, there.width))
    whole = isinstance(data, Sequence | Mapping | ProgramRecords) or hasattr(data, "__array__")
    if whole or not isinstance(data, Iterable):
        return data
    batches, there = data, layout(program)

    def checked() -> Iterator[SlotRows]:
        for batch in batches:
            if not isinstance(batch, SlotRows) or batch.cells.shape != (len(batch.index), there.width):
                raise InvalidInput("data", "belongs to another family", f"must be rows of {there.width} cells")
            if len(batch.index) and not 0 <= batch.index.min() <= batch.index.max() < program.people:
                raise InvalidInput("data", "has a row with an unknown place",
                                   f"places are 0 to {program.people - 1}")
            yield batch

    found = Reader(checked, program.people).by_slot(
        lambda batch: {"cells": batch.cells}, {"cells": np.full(there.width, np.nan)})
    return program.read(there.data(found["cells"]), unusable="null")


# ---- coding


def any_row(cells: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The rule for a whole row (`reading.Judge`) of programs that accept every row of valid cells. No row is unusable.

    Args:
        cells: (m, c) valid cells.
    """
    return cells, np.zeros(len(cells), dtype=np.bool_)


@dataclass(frozen=True, kw_only=True, eq=False)
class Coding:
    """Program of a campaign, with the names and units that the campaign file uses.

    Args:
        program: program of the campaign.
        rows: (k,) name of each coupling constraint, such as the name of the limited resource.
        thing: word for what a participant receives, such as "good" or "path".
        what: word for the shared resources in the plural, such as "goods".
        asked: description of the data that people report, for texts.
        described: function from the list of an action's numbers, without the entries -1, to a description of the
            action.
        columns: public rules of the columns of a file with one row for each person; empty if `bids` is given.
        judge: rule of the program's family for a whole row of the file.
        limit: description of the rule for a whole row, for error messages.
        bids: public rules of a file with one line for each person and bundle; None for a file with one row for each
            person.
        points: public scale of values; None for programs with values that are not stated in points.
        unit: number of the file's units of value that make a value of 1.
        worth: name of the unit of value that the file uses.
        loads: (k,) number of the file's units of load that make a contribution of 1, for each constraint; empty if all
            numbers are 1.
    """

    program: Program
    rows: tuple[str, ...]
    thing: str
    what: str
    asked: str
    described: Callable[[list[int]], str]
    columns: tuple[Column, ...] = ()
    judge: Judge = any_row
    limit: str = "each cell must have the form in the campaign file"
    bids: Bids | None = None
    points: Points | None = None
    unit: float = 1.0
    worth: str = "points"
    loads: tuple[float, ...] = field(default=())

    @property
    def layout(self) -> Layout:
        """Layout of the rows in which reports are stored."""
        return layout(self.program)

    @property
    def load_units(self) -> NDArray[np.float64]:
        """Number of the file's units of load that make a contribution of 1, for each constraint, shape (k,)."""
        return np.array(self.loads or (1.0,) * self.program.rows)

    @property
    def supplies(self) -> NDArray[np.float64]:
        """Supplies in the units of load that the file uses, shape (k,)."""
        return np.array(self.program.supplies) * self.load_units

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of the campaign's file, except the column of ids."""
        return tuple(each.name for each in self.columns)

    def used(self, action: NDArray[np.int32]) -> list[int]:
        """The numbers of an action, without the entries -1.

        Args:
            action: (width,) action.
        """
        return [int(one) for one in action if one >= 0]

    def called(self, action: NDArray[np.int32]) -> str:
        """Description of an action.

        Args:
            action: (width,) action.
        """
        some = self.used(action)
        return self.described(some) if some else "nothing"


def named(field_name: str, names: tuple[str, ...], *, without: str = "") -> tuple[str, ...]:
    """The given names, unchanged, after a check that they are distinct and suitable for files and pages.

    Args:
        field_name: key of the campaign file that lists the names, for error messages.
        names: names to check.
        without: characters that no name may contain, because they join names in files.

    Raises:
        InvalidInput: a name that is empty, occurs twice, has spaces around it, or contains an invisible character or a
            character in `without`.
    """
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InvalidInput(field_name, f"{name!r} stands twice", "give each a different name")
        if not name or name != name.strip() or not name.isprintable():
            raise InvalidInput(field_name, f"{name!r} is empty, or has spaces around it or invisible characters")
        inside = next((sign for sign in without if sign in name), None)
        if inside is not None:
            raise InvalidInput(field_name, f"{name!r} has a {inside!r}",
                               "use another character, since this one joins names in files")
    return names


def table_lines(field_name: str, text: str, heading: tuple[str, ...]) -> list[tuple[int, list[str]]]:
    """Line number and cells of each line below the heading of a table in the campaign file.

    Args:
        field_name: key of the campaign file.
        text: the table, as CSV.
        heading: required first line of the table.

    Raises:
        InvalidInput: the text is no CSV table with the required heading, has a line with a wrong number of cells, or
            has no line below the heading.
    """
    import csv
    import io

    try:
        lines = [line for line in csv.reader(io.StringIO(text.strip()), strict=True) if line]
    except csv.Error as error:
        raise InvalidInput(field_name, f"is not CSV: {error}") from None
    if not lines or [cell.strip() for cell in lines[0]] != list(heading):
        raise InvalidInput(field_name, f"does not begin with the line {','.join(heading)}")
    found = [(number, [cell.strip() for cell in line]) for number, line in enumerate(lines[1:], 2)]
    for number, line in found:
        if len(line) != len(heading):
            raise InvalidInput(field_name, f"line {number} has {counted(len(line), 'cell')}", f"must be {len(heading)}")
    if not found:
        raise InvalidInput(field_name, "has no lines except its heading")
    return found


def pairs(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Names of all pairs of a first and a second name, joined by a dot. The second name changes faster from one pair to
    the next.

    Args:
        first: first names.
        second: second names.

    Example:
        >>> pairs(("mon", "tue"), ("a", "b"))
        ('mon.a', 'mon.b', 'tue.a', 'tue.b')
    """
    return tuple(f"{one}.{other}" for one in first for other in second)
