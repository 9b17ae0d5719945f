"""A few pairs of neighbours at the campaign's own size, where this size is too large for the usual number of pairs.

A population is a list of batches of records, as the store of a campaign supplies them. Batches with equal records share
their memory, so that a data set needs little more memory than the numbers of the people's slots.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from confide.audit.fixed_transcript import Neighbours
from confide.audit.seen_by_others import published
from confide.audit.worst_case_neighbours import CELLS, Change, corners, ends_moved
from confide.contract.guarantees import Relation
from confide.tables.column_rows import Role
from confide.tables.slot_rows import SlotRows

__all__ = ["LARGEST_CELLS", "LARGEST_PEOPLE", "built", "of_records", "whole_pairs"]

LARGEST_CELLS = 32_000_000
"""Largest number of cells of a full population that is still built: a quarter of a gigabyte, if a run puts the cells
into one array.
"""

LARGEST_PEOPLE = 2_000_000
"""Largest number of people in a full population. The number is limited because all shares of a run are compared one by
one.
"""

_ROWS = 65_536  # of a batch

_Row = NDArray[np.float64]


def built(people: int, columns: int) -> bool:
    """Whether an audit builds synthetic populations with this number of people and columns.

    Args:
        people: number of slots, one for each invited person.
        columns: number of columns of a record.

    Example:
        >>> built(2_000_000, 10), built(2_000_000, 20), built(3_000_000, 1)
        (True, False, False)
    """
    return people <= LARGEST_PEOPLE and people * columns <= LARGEST_CELLS


def of_records(start: int, parts: Sequence[tuple[_Row, int]]) -> list[SlotRows]:
    """Batches of records for consecutive slots. The first slots hold the first record, the next slots the second
    record, and so on.

    Args:
        start: number of the first slot, >= 0.
        parts: pairs of a record and the number of slots that hold it.

    Example:
        >>> one, other = np.array([0.0]), np.array([1.0])
        >>> [(batch.index.tolist(), batch.cells.tolist()) for batch in of_records(5, [(one, 2), (other, 1)])]
        [([5, 6, 7], [[0.0], [0.0], [1.0]])]
    """
    ends = np.cumsum([count for _, count in parts])
    total, found = int(ends[-1]), []
    for at in range(0, total, _ROWS):
        stop = min(at + _ROWS, total)
        inside = [(row, min(stop, int(end)) - max(at, int(end) - count))
                  for (row, count), end in zip(parts, ends, strict=True)]
        pieces = [np.broadcast_to(row, (count, len(row))) for row, count in inside if count > 0]
        cells = pieces[0] if len(pieces) == 1 else np.vstack(pieces)
        found.append(SlotRows(np.arange(start + at, start + stop), cells))
    return found


def whole_pairs(roles: Sequence[Role], people: int, unit: Relation) -> Iterator[Neighbours]:
    """Pairs of full populations, in which the people have the records of `corners` in turn. In the first population of
    a pair, one person has the last value of every column. In the second population, this person has no record, or has
    the first value of every column.

    The result is empty for small populations, because `confide.audit.worst_case_neighbours` then yields more pairs of
    full populations. The result is also empty where the population is too large to be built (`built`).

    Args:
        roles: public roles of the columns of a record, such as `confide.tables.roles.Numeric`.
        people: number of slots, one for each invited person.
        unit: neighbouring relation of the promise.

    Example:
        >>> from confide.tables import Category
        >>> pairs = list(whole_pairs([Category(column="a", levels=("no", "yes"))], 1_200_000, Relation.REPLACE))
        >>> len(pairs), sum(len(batch.index) for batch in pairs[0].first)
        (3, 1200000)
    """
    if people * len(roles) <= CELLS or not built(people, len(roles)):
        return
    first, last = corners(roles)[0], ends_moved(roles, range(len(roles)))
    yield _pair(roles, people, people - 1, Change(last, None))
    if unit is Relation.ADD_OR_REMOVE:
        yield _pair(roles, people, people // 2, Change(last, None))
        return
    yield _pair(roles, people, people - 1, Change(last, first))
    yield _pair(roles, people, people // 2, Change(last, first))


def _pair(roles: Sequence[Role], people: int, slot: int, move: Change) -> Neighbours:
    """A pair of neighbours that share all batches except the batch of the changed slot."""
    records = np.array(corners(roles))
    rows = _ROWS - _ROWS % len(records)
    block = np.resize(records, (rows, len(roles)))
    batches = [SlotRows(np.arange(at, min(at + rows, people)), block[: min(rows, people - at)])
               for at in range(0, people, rows)]
    place, at = divmod(slot, rows)

    def data(own: _Row | None) -> list[SlotRows]:
        index, cells = batches[place].index, batches[place].cells.copy()
        if own is None:
            index, cells = np.delete(index, at), np.delete(cells, at, axis=0)
        else:
            cells[at] = own
        return [*batches[:place], SlotRows(index, cells), *batches[place + 1:]]

    return Neighbours(data(move.first), data(move.second), lambda outcome: published(outcome, slot))
