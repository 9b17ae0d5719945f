"""Synthetic worst-case neighbours: choices of the changed record, its slot, the rest of the population, and the order
of the rows.

Faults of a mechanism are often limited to one place: to one column, to one level, to the first person on a list, or to
one count of "yes". Small sets of choices are enumerated: the ends of every column and values between, all levels,
combinations in few columns, slots, and the numbers of other people with each record. From large sets, a public seed
draws some choices (`confide.audit.random_pairs`).
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

__all__ = ["CELLS", "OTHERS", "Change", "changes", "changes_between", "corners", "ends_moved", "interior",
           "neighbours", "records", "sets_of_others", "together"]

OTHERS = 40
"""Largest number of other people in the small synthetic populations of `sets_of_others`."""

CELLS = 1_000_000
"""Largest number of cells, people times columns, of the full synthetic populations in this module.
`confide.audit.full_size_pairs` builds a few larger populations.
"""

_CORNERS = 8  # records that move all columns together, at most; and levels of one column
_LEVELS = 200  # of one column that are gone through
_RECORDS = 64  # combinations of what columns may hold that are gone through
_INTERIOR = 3  # records between the ends
_SLOTS = 100  # of a campaign whose slots and counts are gone through
_SMALL = 12  # others of whom all splits are gone through; 3 where more are invited than that

_Row = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Change:
    """One person's record in a data set, and in a neighbour of this data set.

    Args:
        first: the person's record in the first data set, shape (c,).
        second: the person's record in the second data set; None where the person has none.
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
    """Records with every column at an end of its range, shape (c,) each. The first end of a column is its lowest value
    or first level, and the last end its highest value or last level. In a column with at most 8 levels, all levels
    count as ends. In a column with more levels, 8 evenly spread levels count as ends. The first record has the first
    end of every column.

    If there are few records with every column at an end, all of them are returned. If there are many records of this
    kind, the result also has the record with all last ends, and the records that differ in one column alone from the
    record with all first ends or from the record with all last ends.

    Args:
        roles: public roles of the columns of a record, such as `confide.tables.roles.Numeric`.

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
    """The record with the first end of every column, except for some columns with their last end, shape (c,).

    Args:
        roles: public roles of the columns of a record, such as `confide.tables.roles.Numeric`.
        moved: positions, from 0, of the columns with their last end.

    Example:
        >>> ends_moved([Numeric(column=name, lower=20, upper=60) for name in "abc"], [1]).tolist()
        [-1.0, 1.0, -1.0]
    """
    last = {*moved}
    return np.array([_ends(role)[-1 if place in last else 0] for place, role in enumerate(roles)], dtype=np.float64)


def interior(roles: Sequence[Role], seed: int) -> list[_Row]:
    """Some random records inside the ranges of the columns; empty where no column holds numbers.

    Args:
        roles: public roles of the columns of a record, such as `confide.tables.roles.Numeric`.
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
    """Records with values inside the columns' ranges and at the ends, shape (c,) each. If the columns have few
    combinations of values, all combinations are returned. If the columns have many combinations of values, every value
    of each column is combined with the first ends, and with the last ends, of all other columns.

    Args:
        roles: public roles of the columns of a record, such as `confide.tables.roles.Numeric`.

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
    """Values of one column: its levels, or the ends of its range and numbers between the ends."""
    if isinstance(role, Category):
        return tuple(map(float, range(min(len(role.levels), _LEVELS))))
    low, high = _ends(role)
    between = [low + share * (high - low) for share in (0.25, 0.5, 0.75)]
    round_ones = [] if isinstance(role, Numeric) else [number for number in (0.0, 1.0) if low < number < high]
    return tuple(sorted({low, high, *between, *round_ones}))


def changes(roles: Sequence[Role], unit: Relation) -> list[Change]:
    """Changes of one record, for pairs of neighbouring data sets. A corner, which is a record of `corners`, is removed
    or, if the relation allows a replacement, replaced by another corner. If there are many corners, only the first
    corner is replaced.

    Args:
        roles: public roles of the columns of a record, such as `confide.tables.roles.Numeric`.
        unit: neighbouring relation of the promise. If a step adds or removes a record, no record is replaced by
            another.
    """
    records = corners(roles)
    found = [Change(row, None) for row in records]
    if unit is Relation.ADD_OR_REMOVE:
        return found
    pairs = list(combinations(range(len(records)), 2))
    if len(records) > _CORNERS:  # from the first record every column moves alone, and all of them together
        pairs = [(0, k) for k in range(1, len(records))]
    return found + [Change(records[one], records[other]) for one, other in pairs]


def sets_of_others(roles: Sequence[Role], people: int) -> list[_Row]:
    """The records of everybody else in several populations, shape (m, c) with m < people each. The populations are:
    nobody; up to 40 people with equal records, at either end of all columns; and up to 40 people with a mixture of
    records. A full population is added unless it has more than a million cells. For larger full populations,
    `confide.audit.full_size_pairs` returns a few pairs.

    Args:
        roles: public roles of the columns of a record, such as `confide.tables.roles.Numeric`.
        people: number of slots, one for each invited person.
    """
    records = corners(roles)
    some = min(people - 1, OTHERS)
    mixed = np.array([records[k % len(records)] for k in range(some)]).reshape(-1, len(roles))
    found = [mixed[:0], mixed, np.tile(records[0], (some, 1)), np.tile(records[-1], (some, 1))]
    if some < people - 1 and (people - 1) * len(roles) <= CELLS:
        found.append(np.resize(np.array(records), (people - 1, len(roles))))
    return found


def neighbours(roles: Sequence[Role], people: int, unit: Relation) -> Iterator[Neighbours]:
    """Pairs of data sets that differ in one record, the worst cases first.

    - Every change of `changes` in the last slot, with every small population of `sets_of_others`. Some of these changes
      are also made in other slots, and in the full population.
    - Every record of `records` in place of the first record, or of no record, with no other people and with a mixture
      of other records.
    - Every slot for the changed record, in one batch with the other rows, if at most a hundred people are invited;
      otherwise the first and the last slot.
    - Splits of the other people into two kinds of records. If at most a hundred people are invited, the splits are
      every split of everybody, every split of a dozen people or fewer, and halves of every number of people; otherwise
      every split of three people or fewer.

    Args:
        roles: public roles of the columns of a record, such as `confide.tables.roles.Numeric`.
        people: number of slots, one for each invited person.
        unit: neighbouring relation of the promise: one record replaced, or added or removed.
    """
    moves, all_others = changes(roles, unit), sets_of_others(roles, people)
    few = _few(roles, unit)
    small = [others for others in all_others if len(others) <= OTHERS]
    for others in small:
        for move in moves:
            yield _pair(others, people - 1, move)
    for slot in dict.fromkeys((0, people // 2)):
        for others in small[:2]:
            for move in few:
                yield _pair(others, slot, move)
    for others in all_others[len(small):]:
        for move in few:
            yield _pair(others, people - 1, move)
    between = changes_between(roles, unit)
    for others in small[:2]:
        for move in between:
            yield _pair(others, people // 3, move)
    far = _far(roles, unit)
    for slot in range(people) if people <= _SLOTS else (0, people - 1):
        yield together(_everybody_else(slot, len(small[1])), small[1], slot, far)
    yield from _counted(people, far, corners(roles)[0])


def _counted(people: int, move: Change, first: _Row) -> Iterator[Neighbours]:
    """Pairs in which some of the other people have the last end of every column, and the rest have the first end."""
    few = people <= _SLOTS
    sizes: dict[tuple[int, int], None] = {}
    for count in range(1, min(people, _SMALL + 1 if few else 4)):
        sizes |= dict.fromkeys((count, yes) for yes in range(count + 1))
    if few:
        sizes |= dict.fromkeys((count, yes) for count in range(1, people) for yes in (count // 2, -(-count // 2)))
        sizes |= dict.fromkeys((people - 1, yes) for yes in range(people))
    for count, yes in sizes:
        if count:
            yield _pair(np.array([move.first] * yes + [first] * (count - yes)), people - 1, move)


def changes_between(roles: Sequence[Role], unit: Relation) -> list[Change]:
    """Every record of `records`, in place of no record or of the first record, without the changes that `changes`
    returns.

    Args:
        roles: public roles of the columns of a record, such as `confide.tables.roles.Numeric`.
        unit: neighbouring relation of the promise.
    """
    known, rows = {_cells(move) for move in changes(roles, unit)}, records(roles)
    found = [Change(row, None) for row in rows]
    if unit is not Relation.ADD_OR_REMOVE:
        found += [Change(row, rows[0]) for row in rows[1:]]
    return [move for move in found if _cells(move) not in known]


def _cells(move: Change) -> tuple[tuple[float, ...], ...]:
    """The two records of a change, in a fixed order, in a form that can be compared."""
    return tuple(sorted(() if row is None else tuple(row.tolist()) for row in (move.first, move.second)))


def _far(roles: Sequence[Role], unit: Relation) -> Change:
    """Change to the record with the last end of every column, from the record with all first ends or from no record."""
    ends = [_ends(role) for role in roles]
    first, last = (np.array([each[place] for each in ends]) for place in (0, -1))
    return Change(last, None if unit is Relation.ADD_OR_REMOVE else first)


def _few(roles: Sequence[Role], unit: Relation) -> list[Change]:
    """The removal of the first corner, and changes of one column at a time from its first to its last end."""
    first = corners(roles)[0]
    found = [Change(first, None)]
    for place in range(len(roles)):
        moved = ends_moved(roles, [place])
        found.append(Change(moved, None if unit is Relation.ADD_OR_REMOVE else first))
    return found


def _everybody_else(slot: int, count: int) -> NDArray[np.int64]:
    """Slots of the other people in order, which leave out the given slot."""
    index = np.arange(count)
    index[index >= slot] += 1
    return index


def _pair(others: _Row, slot: int, move: Change) -> Neighbours:
    """A pair with the other people in one batch, and the changed person in a batch of their own."""
    index = _everybody_else(slot, len(others))

    def data(own: _Row | None) -> list[SlotRows]:
        alone = [] if own is None else [SlotRows(np.array([slot]), own[None])]
        return [SlotRows(index, others), *alone]

    return Neighbours(data(move.first), data(move.second), lambda outcome: published(outcome, slot))


def together(
    index: NDArray[np.int64], others: _Row, slot: int, move: Change, order: NDArray[np.int64] | None = None,
    batches: int = 1,
) -> Neighbours:
    """A pair of data sets in which one person's row stands among the rows of the other people, in batches of about
    equal size.

    Args:
        index: slots of the other people, shape (m,).
        others: records of the other people, shape (m, c).
        slot: slot of the person with the changed record.
        move: change of the record of the person in `slot`.
        order: permutation of 0..m that gives the order of all rows, shape (m + 1,). The number m stands for the changed
            row, and smaller numbers for the rows of `others`. Rows are ordered by slot if `order` is left out.
        batches: number of batches into which the rows are divided.
    """
    slots = np.append(index, slot)
    order = np.argsort(slots) if order is None else order

    def data(own: _Row | None) -> list[SlotRows]:
        rows = np.vstack([others, others[:0] if own is None else own[None]])
        taken = order[order < len(rows)]
        return [SlotRows(slots[part], rows[part]) for part in np.array_split(taken, batches)]

    return Neighbours(data(move.first), data(move.second), lambda outcome: published(outcome, slot))
