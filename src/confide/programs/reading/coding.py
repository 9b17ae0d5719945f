"""A program with the names of its campaign file: how rows are read, and how actions and rows are told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.programs.program import Program
from confide.programs.reading.bids import Bids
from confide.programs.reading.columns import Column, Points
from confide.programs.reading.slots import Layout, layout
from confide.programs.reading.wide import Judge

__all__ = ["Coding", "any_row", "named", "pairs", "table_lines"]


def any_row(cells: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """A row of cells that are each fine is a record.

    Args:
        cells: (m, c).
    """
    return cells, np.zeros(len(cells), dtype=np.bool_)


@dataclass(frozen=True, kw_only=True, eq=False)
class Coding:
    """One family's program in a campaign's own names and units.

    Args:
        program: of the family.
        rows: (k,) what its rows limit.
        thing: what one gets, such as "good" or "path".
        what: what the operator shares, such as "goods".
        asked: what people hand in, in words.
        told: an action, as a list of the numbers that are used -> words.
        columns: of a file with a row for each person.
        judge: what the family makes of such a row.
        limit: what a row must be as a whole, in words.
        bids: of a file with a line for each bundle, in place of columns.
        points: the scale of values; None where nothing has a value in points.
        unit: what a value of 1 is in the file's own unit.
        worth: what that unit is called.
        loads: (k,) what a contribution of 1 is in the file's own units.
    """

    program: Program
    rows: tuple[str, ...]
    thing: str
    what: str
    asked: str
    told: Callable[[list[int]], str]
    columns: tuple[Column, ...] = ()
    judge: Judge = any_row
    limit: str = "each cell must be as the campaign says"
    bids: Bids | None = None
    points: Points | None = None
    unit: float = 1.0
    worth: str = "points"
    loads: tuple[float, ...] = field(default=())

    @property
    def layout(self) -> Layout:
        """Of stored rows."""
        return layout(self.program)

    @property
    def load_units(self) -> NDArray[np.float64]:
        """(k,) what a contribution of 1 is in the file's own units."""
        return np.array(self.loads or (1.0,) * self.program.rows)

    @property
    def supplies(self) -> NDArray[np.float64]:
        """(k,) in the file's own units."""
        return np.array(self.program.supplies) * self.load_units

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the file, but for ids."""
        return tuple(each.name for each in self.columns)

    def used(self, action: NDArray[np.int32]) -> list[int]:
        """The numbers of an action that are used.

        Args:
            action: (width,).
        """
        return [int(one) for one in action if one >= 0]

    def called(self, action: NDArray[np.int32]) -> str:
        """An action in words.

        Args:
            action: (width,).
        """
        some = self.used(action)
        return self.told(some) if some else "nothing"


def named(field_name: str, names: tuple[str, ...], *, without: str = "") -> tuple[str, ...]:
    """Names that can stand in files and on pages, each once.

    Args:
        field_name: the key of the file.
        names: from it.
        without: characters that join names, and may not stand in one.

    Raises:
        InvalidInput: a name twice, padded, or with such a character.
    """
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InvalidInput(field_name, f"{name!r} stands twice", "every one needs a name of its own")
        if not name or name != name.strip() or not name.isprintable():
            raise InvalidInput(field_name, f"{name!r} is empty, padded, or holds what does not show")
        inside = next((sign for sign in without if sign in name), None)
        if inside is not None:
            raise InvalidInput(field_name, f"{name!r} holds a {inside!r}", "it joins names in files: use another")
    return names


def table_lines(field_name: str, text: str, heading: tuple[str, ...]) -> list[tuple[int, list[str]]]:
    """(number, cells) of the lines of a table that stands in the file, below its heading.

    Args:
        field_name: the key of the file.
        text: the table, as CSV.
        heading: its first line.

    Raises:
        InvalidInput: no such table.
    """
    import csv
    import io

    try:
        lines = [line for line in csv.reader(io.StringIO(text.strip()), strict=True) if line]
    except csv.Error as error:
        raise InvalidInput(field_name, f"is no CSV: {error}") from None
    if not lines or [cell.strip() for cell in lines[0]] != list(heading):
        raise InvalidInput(field_name, f"does not begin with the line {','.join(heading)}")
    found = [(number, [cell.strip() for cell in line]) for number, line in enumerate(lines[1:], 2)]
    for number, line in found:
        if len(line) != len(heading):
            raise InvalidInput(field_name, f"line {number} has {len(line)} cells", f"must be {len(heading)}")
    if not found:
        raise InvalidInput(field_name, "has no lines but its heading")
    return found


def pairs(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Names of all pairs, the second running first.

    Args:
        first: names.
        second: names.

    Example:
        >>> pairs(("mon", "tue"), ("a", "b"))
        ('mon.a', 'mon.b', 'tue.a', 'tue.b')
    """
    return tuple(f"{one}.{other}" for one in first for other in second)
