"""Made-up neighbours that stretch a mechanism: which records, of which slot, in which crowd, in which order.

What goes wrong in a mechanism often goes wrong in one place alone: in one column, at one level, for who stands first on
the list, once so many say yes. What is few is gone through: the ends of every column and values between, all levels,
combinations of few columns, slots, and how many of the others say what. What is many is drawn by a public seed
(`confide.audit.random_pairs`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.audit.fixed_transcript import Neighbours
from confide.audit.seen_by_others import published
from confide.contract.guarantees import Relation
from confide.privacy.noise.simulated import study_generator
from confide.tables import Category, Numeric
from confide.tables.column_rows import Role
from confide.tables.slot_rows import SlotRows

__all__ = ["CELLS", "OTHERS", "Change", "changes", "changes_between", "corners", "crowds", "ends_moved", "interior",
           "neighbours", "records", "together"]

OTHERS = 40
"""Made-up people in a crowd that is not everybody."""

CELLS = 1_000_000
"""Of a crowd of everybody, at most."""

_CORNERS = 8  # records that stretch all columns together, at most; and levels of one column
_LEVELS = 200  # of one column that are gone through
_RECORDS = 64  # combinations of what columns may hold that are gone through
_INTERIOR = 3  # records between the ends
_SLOTS = 100  # of a campaign whose slots and counts are gone through
_SMALL = 12  # a crowd of which all splits are gone through; of 3 where more are invited than that

_Row = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Change:
    """One person's record in one data set, and in its neighbour.

    Args:
        first: (c,) the person's record.
        second: (c,) another record; None where they have none there.
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
        roles: roles of the columns.

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


def ends_moved(roles: Sequence[Role], moved: Iterable[int]) -> _Row:
    """The record with the first end of every column, but for some columns with the last one, (c,).

    Args:
        roles: roles of the columns.
        moved: places of those columns.

    Example:
        >>> ends_moved([Numeric(column=name, lower=20, upper=60) for name in "abc"], [1]).tolist()
        [-1.0, 1.0, -1.0]
    """
    last = {*moved}
    return np.array([_ends(role)[-1 if place in last else 0] for place, role in enumerate(roles)], dtype=np.float64)


def interior(roles: Sequence[Role], seed: int) -> list[_Row]:
    """Some records between the ends, at random; none where no column holds numbers.

    Args:
        roles: roles of the columns.
        seed: public seed.

    Example:
        >>> [row.round(2).tolist() for row in interior([Numeric(column="age", lower=20, upper=60)], 1)]
        [[0.23], [0.02], [0.49]]
    """
    if all(isinstance(role, Category) for role in roles):
        return []
    draw = study_generator(seed, "interior")
    return [np.array([_inside(role, draw) for role in roles]) for _ in range(_INTERIOR)]


def _inside(role: Role, draw: Any) -> float:
    if isinstance(role, Category):
        return float(draw.integers(len(role.levels)))
    low, high = _ends(role)
    return float(draw.uniform(low, high))


def records(roles: Sequence[Role]) -> list[_Row]:
    """Records between the ends and at them: all combinations of few columns' values; of many, every value of each
    column among the first ends of the others, and among the last ones.

    Args:
        roles: roles of the columns.

    Example:
        >>> [row.tolist() for row in records([Numeric(column="age", lower=20, upper=60)])]
        [[-1.0], [-0.5], [0.0], [0.5], [1.0]]
        >>> len(records([Category(column=str(k), levels=("no", "yes")) for k in range(6)]))
        64
    """
    held = [_values(role) for role in roles]
    if prod(map(len, held)) <= _RECORDS:
        return [np.array(row, dtype=np.float64) for row in product(*held)]
    ends = [_ends(role) for role in roles]
    found = dict.fromkeys(tuple(row.tolist()) for row in corners(roles))
    for base in (tuple(each[0] for each in ends), tuple(each[-1] for each in ends)):
        for place, each in enumerate(held):
            found |= dict.fromkeys((*base[:place], value, *base[place + 1:]) for value in each)
    return [np.array(row, dtype=np.float64) for row in found]


def _values(role: Role) -> tuple[float, ...]:
    """Of one column: all levels, or its ends and numbers between."""
    if isinstance(role, Category):
        return tuple(map(float, range(min(len(role.levels), _LEVELS))))
    low, high = _ends(role)
    between = [low + share * (high - low) for share in (0.25, 0.5, 0.75)]
    round_ones = [] if isinstance(role, Numeric) else [number for number in (0.0, 1.0) if low < number < high]
    return tuple(sorted({low, high, *between, *round_ones}))


def changes(roles: Sequence[Role], unit: Relation) -> list[Change]:
    """The changes of one record by a neighbour step: any two corners of few, one column's end for another of many, and
    a record for none.

    Args:
        roles: roles of the columns.
        unit: neighbouring relation of the promise; where a record is added or removed, none is replaced by another.
    """
    records = corners(roles)
    found = [Change(row, None) for row in records]
    if unit is Relation.ADD_OR_REMOVE:
        return found
    pairs = list(combinations(range(len(records)), 2))
    if len(records) > _CORNERS:  # from the first record every column moves alone, and all of them together
        pairs = [(0, k) for k in range(1, len(records))]
    return found + [Change(records[one], records[other]) for one, other in pairs]


def crowds(roles: Sequence[Role], people: int) -> list[_Row]:
    """The records of everybody else, (m, c) with m < people: nobody, all alike at either end, some of each, and
    everybody, unless these would be more than a million cells: of such `confide.audit.full_size_pairs` has a few pairs.

    Args:
        roles: roles of the columns.
        people: invited slots.
    """
    records = corners(roles)
    some = min(people - 1, OTHERS)
    mixed = np.array([records[k % len(records)] for k in range(some)]).reshape(-1, len(roles))
    found = [mixed[:0], mixed, np.tile(records[0], (some, 1)), np.tile(records[-1], (some, 1))]
    if some < people - 1 and (people - 1) * len(roles) <= CELLS:
        found.append(np.resize(np.array(records), (people - 1, len(roles))))
    return found


def neighbours(roles: Sequence[Role], people: int, unit: Relation) -> Iterator[Neighbours]:
    """Pairs of data sets that differ in one record, those first that stretch furthest.

    - every change between ends in the last slot among every small crowd, some of the changes in other slots, and among
      everybody;
    - every record of `records` in place of the first one, or of none, beside nobody and beside some of each;
    - every slot of a hundred, in one batch with the others;
    - of a hundred invited, how many of the others say what: every count of everybody, every split of a dozen or fewer,
      and halves of every size.

    Args:
        roles: roles of the columns.
        people: invited slots.
        unit: neighbouring relation of the promise: one record replaced, or added or removed.
    """
    moves, others = changes(roles, unit), crowds(roles, people)
    few = _few(roles, unit)
    small = [crowd for crowd in others if len(crowd) <= OTHERS]
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
    between = changes_between(roles, unit)
    for crowd in small[:2]:
        for move in between:
            yield _pair(crowd, people // 3, move)
    far = _far(roles, unit)
    for slot in range(people) if people <= _SLOTS else (0, people - 1):
        yield together(_everybody_else(slot, len(small[1])), small[1], slot, far)
    yield from _counted(people, far, corners(roles)[0])


def _counted(people: int, move: Change, first: _Row) -> Iterator[Neighbours]:
    """How many of the others have the last end of every column, and the rest the first one."""
    few = people <= _SLOTS
    sizes: dict[tuple[int, int], None] = {}
    for others in range(1, min(people, _SMALL + 1 if few else 4)):
        sizes |= dict.fromkeys((others, yes) for yes in range(others + 1))
    if few:
        sizes |= dict.fromkeys((others, yes) for others in range(1, people) for yes in (others // 2, -(-others // 2)))
        sizes |= dict.fromkeys((people - 1, yes) for yes in range(people))
    for others, yes in sizes:
        if others:
            yield _pair(np.array([move.first] * yes + [first] * (others - yes)), people - 1, move)


def changes_between(roles: Sequence[Role], unit: Relation) -> list[Change]:
    """Every record of `records` for none or for the first one, but for what `changes` has.

    Args:
        roles: roles of the columns.
        unit: neighbouring relation of the promise.
    """
    known, rows = {_cells(move) for move in changes(roles, unit)}, records(roles)
    found = [Change(row, None) for row in rows]
    if unit is not Relation.ADD_OR_REMOVE:
        found += [Change(row, rows[0]) for row in rows[1:]]
    return [move for move in found if _cells(move) not in known]


def _cells(move: Change) -> tuple[tuple[float, ...], ...]:
    """To be compared: the two records, in some order."""
    return tuple(sorted(() if row is None else tuple(row.tolist()) for row in (move.first, move.second)))


def _far(roles: Sequence[Role], unit: Relation) -> Change:
    """The last end of every column for the first one, or for none."""
    ends = [_ends(role) for role in roles]
    first, last = (np.array([each[place] for each in ends]) for place in (0, -1))
    return Change(last, None if unit is Relation.ADD_OR_REMOVE else first)


def _few(roles: Sequence[Role], unit: Relation) -> list[Change]:
    """One record for none, and the last end of each column by itself for its first."""
    first = corners(roles)[0]
    found = [Change(first, None)]
    for place in range(len(roles)):
        moved = ends_moved(roles, [place])
        found.append(Change(moved, None if unit is Relation.ADD_OR_REMOVE else first))
    return found


def _everybody_else(slot: int, count: int) -> NDArray[np.int64]:
    """The slots beside hers, in order."""
    index = np.arange(count)
    index[index >= slot] += 1
    return index


def _pair(crowd: _Row, slot: int, move: Change) -> Neighbours:
    """The others in one batch, and she in one of her own."""
    index = _everybody_else(slot, len(crowd))

    def data(own: _Row | None) -> list[SlotRows]:
        alone = [] if own is None else [SlotRows(np.array([slot]), own[None])]
        return [SlotRows(index, crowd), *alone]

    return Neighbours(data(move.first), data(move.second), lambda outcome: published(outcome, slot))


def together(
    index: NDArray[np.int64], crowd: _Row, slot: int, move: Change, order: NDArray[np.int64] | None = None,
    batches: int = 1,
) -> Neighbours:
    """A pair in which one person stands among the others, in batches of about one size.

    Args:
        index: (m,) the others' slots.
        crowd: (m, c) their records.
        slot: slot of that person.
        move: change of their record.
        order: (m + 1,) order in which all rows come, theirs counted last; by slot where it is left out.
        batches: number of batches into which they are cut.
    """
    slots = np.append(index, slot)
    order = np.argsort(slots) if order is None else order

    def data(own: _Row | None) -> list[SlotRows]:
        rows = np.vstack([crowd, crowd[:0] if own is None else own[None]])
        taken = order[order < len(rows)]
        return [SlotRows(slots[part], rows[part]) for part in np.array_split(taken, batches)]

    return Neighbours(data(move.first), data(move.second), lambda outcome: published(outcome, slot))
