"""Made-up neighbours that stretch a mechanism: which records, of which slot, in which crowd.

What goes wrong in a mechanism often goes wrong in one place alone: in one column, for who stands first on the list, or
once everybody has answered. So the record that changes goes through the ends of every column, in the first slot, the
last, and one between; and the others are nobody, all alike, some of each, or everybody who was invited.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod

import numpy as np
from numpy.typing import NDArray

from confide.audit import Neighbours, published
from confide.contract.guarantees import Unit
from confide.people.column_rows import Role
from confide.people.slot_rows import SlotRows
from confide.tables import Category, Numeric

__all__ = ["Change", "changes", "corners", "crowds", "neighbours"]

_CORNERS = 8  # records that stretch all columns together, at most; and levels of one column
_OTHERS = 40  # made-up people in a crowd that is not everybody
_CELLS = 1_000_000  # of a crowd of everybody, at most

_Row = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Change:
    """What one person's record is in one data set, and in its neighbour.

    Args:
        first: (c,) her record.
        second: another one; None where she has none there.
    """

    first: _Row
    second: _Row | None


def _ends(role: Role) -> tuple[float, ...]:
    """The values of one column between which a record can move furthest."""
    if isinstance(role, Category):
        ranks = np.linspace(0, len(role.levels) - 1, min(len(role.levels), _CORNERS))
        return tuple(dict.fromkeys(float(round(rank)) for rank in ranks))
    if isinstance(role, Numeric):
        return (-1.0, 1.0)
    return tuple(end if np.isfinite(end) else sign * 1e6 for sign, end in ((-1, role.lower), (1, role.upper)))


def corners(roles: Sequence[Role]) -> list[_Row]:
    """Records at the ends of what columns may hold: (c,) each. The first has the first end of every column.

    All of them where that is few; of many the one with all last ends, too, and those that differ from either in one
    column alone.

    Args:
        roles: of the columns.

    Example:
        >>> [row.tolist() for row in corners([Category(column="mood", levels=("bad", "so-so", "good"))])]
        [[0.0], [1.0], [2.0]]
        >>> many = [Category(column=str(k), levels=("no", "yes")) for k in range(5)]
        >>> [int(row.sum()) for row in corners(many)]
        [0, 5, 4, 1, 4, 1, 4, 1, 4, 1, 4, 1]
    """
    ends = [_ends(role) for role in roles]
    if prod(map(len, ends)) <= _CORNERS:
        return [np.array(row, dtype=np.float64) for row in product(*ends)]
    bases = (tuple(each[0] for each in ends), tuple(each[-1] for each in ends))
    found = dict.fromkeys(bases)
    for place, each in enumerate(ends):
        found |= dict.fromkeys((*base[:place], end, *base[place + 1:]) for end in each for base in bases)
    return [np.array(row, dtype=np.float64) for row in found]


def changes(roles: Sequence[Role], unit: Unit) -> list[Change]:
    """What a neighbour step may do to one record: any two corners of few, one column's end for another of many, and a
    record for none.

    Args:
        roles: of the columns.
        unit: of the promise; where a record is added or removed, none is replaced by another.
    """
    records = corners(roles)
    found = [Change(row, None) for row in records]
    if unit is Unit.RECORD_ADDED_OR_REMOVED:
        return found
    pairs = list(combinations(range(len(records)), 2))
    if len(records) > _CORNERS:  # from the first record every column moves alone, and all of them together
        pairs = [(0, k) for k in range(1, len(records))]
    return found + [Change(records[one], records[other]) for one, other in pairs]


def crowds(roles: Sequence[Role], people: int) -> list[_Row]:
    """The records of everybody else, (m, c) with m < people: nobody, all alike at either end, some of each, and
    everybody, unless these would be more than a million cells.

    Args:
        roles: of the columns.
        people: invited slots.
    """
    records = corners(roles)
    some = min(people - 1, _OTHERS)
    mixed = np.array([records[k % len(records)] for k in range(some)]).reshape(-1, len(roles))
    found = [mixed[:0], mixed, np.tile(records[0], (some, 1)), np.tile(records[-1], (some, 1))]
    if some < people - 1 and (people - 1) * len(roles) <= _CELLS:
        found.append(np.resize(np.array(records), (people - 1, len(roles))))
    return found


def neighbours(roles: Sequence[Role], people: int, unit: Unit) -> Iterator[Neighbours]:
    """Pairs of data sets that differ in one record: every change in the last slot among every small crowd, and some of
    the changes in the other slots and among everybody.

    Args:
        roles: of the columns.
        people: invited slots.
        unit: of the promise: one record replaced, or added or removed.
    """
    moves, others = changes(roles, unit), crowds(roles, people)
    few = _few(roles, unit)
    small = [crowd for crowd in others if len(crowd) <= _OTHERS]
    for crowd in small:
        for move in moves:
            yield _pair(crowd, people - 1, move)
    for slot in dict.fromkeys((0, people // 2)):
        for crowd in small[:2]:
            for move in few:
                yield _pair(crowd, slot, move)
    for crowd in others[len(small):]:
        for move in few:
            yield _pair(crowd, people - 1, move)


def _few(roles: Sequence[Role], unit: Unit) -> list[Change]:
    """One record for none, and the last end of each column by itself for its first."""
    first = corners(roles)[0]
    found = [Change(first, None)]
    for place, role in enumerate(roles):
        moved = first.copy()
        moved[place] = _ends(role)[-1]
        found.append(Change(moved, None if unit is Unit.RECORD_ADDED_OR_REMOVED else first))
    return found


def _pair(crowd: _Row, slot: int, move: Change) -> Neighbours:
    """The others take the slots beside hers, in order."""
    index = np.arange(len(crowd))
    index[index >= slot] += 1

    def data(own: _Row | None) -> list[SlotRows]:
        alone = [] if own is None else [SlotRows(np.array([slot]), own[None])]
        return [SlotRows(index, crowd), *alone]

    return Neighbours(data(move.first), data(move.second), lambda outcome: published(outcome, slot))
