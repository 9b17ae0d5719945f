"""Paths from one made-up crowd to another one that is far off, a record at a time.

Rules that follow from the data change where a share, a rank or a count crosses a threshold. So each path lets one
cluster of equal records grow from nobody to very many, beside other clusters that such rules compare it with.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice, zip_longest

import numpy as np
from numpy.typing import NDArray

from confide.audit.fixed_transcript import Neighbours
from confide.audit.full_size_pairs import of_records
from confide.audit.round_numbers import off_grids, special
from confide.audit.seen_by_others import published
from confide.audit.worst_case_neighbours import CELLS, corners, ends_moved
from confide.contract.guarantees import Relation
from confide.privacy.noise.simulated import study_generator
from confide.tables import Category
from confide.tables.column_rows import Role
from confide.tables.slot_rows import SlotRows

__all__ = ["CrowdPath", "crowd_paths", "some_of_each"]

_Row = NDArray[np.float64]

_COLUMNS = 8  # that move by themselves against the others, at most
_LEVELS = 8  # of one column, at most
_PAIRS = 48  # of levels that are beside those of other columns, at most
_FIRST = 3  # levels that are among these, where a column has more
_BETWEEN = 5  # values between ends that a crowd moves to, at most
_SHARES = 1000  # people among whom shares and ranks change, at most: these are the same among more
_CENTRE = 0.625  # of the range, where two clusters lie close together: not in the middle, where a value may be zero
_CLOSE = 1 / 128  # of the range, between the two


@dataclass(frozen=True, eq=False)
class CrowdPath:
    """A cluster of equal records that grows.

    Args:
        length: number of slots that move, the first ones, in order.
        before: (c,) the record that they have before; None where they have none.
        after: (c,) the record that they have afterwards.
        beside: (record, how many have it) in the slots after these.
        closely: whether it is looked at in many places.
        shared: parts in which one of many is looked at, which have one history and some crowds in common; 0 of others.
    """

    length: int
    before: _Row | None
    after: _Row
    beside: tuple[tuple[_Row, int], ...] = ()
    closely: bool = False
    shared: int = 0

    def crowd(self, moved: int) -> list[SlotRows]:
        """The data set in which so many slots have moved."""
        return [batch for start, some in self._parts(moved) for batch in of_records(start, some)]

    def reported(self, moved: int) -> Hashable:
        """The same for two crowds of the same records in the same slots; of paths with a common history, in any."""
        if self.shared:  # where each of two levels grows beside the other one, half have each in the end
            return frozenset((record.tobytes(), count) for _, some in self._parts(moved) for record, count in some
                             if count)
        return tuple((start, tuple((record.tobytes(), count) for record, count in some if count))
                     for start, some in self._parts(moved))

    def _parts(self, moved: int) -> list[tuple[int, list[tuple[_Row, int]]]]:
        """The first slot, and how many have which record from there on."""
        if self.before is not None:
            return [(0, [(self.after, moved), (self.before, self.length - moved), *self.beside])]
        return [(0, [(self.after, moved)]), *([(self.length, [*self.beside])] if self.beside else [])]

    def step(self, moved: int) -> Neighbours:
        """The neighbours before and after the last of so many moves."""
        return Neighbours(self.crowd(moved), self.crowd(moved - 1), lambda outcome: published(outcome, moved - 1))


def crowd_paths(roles: Sequence[Role], people: int, unit: Relation, seed: int = 0) -> Iterator[CrowdPath]:
    """The paths of a campaign.

    - Nobody, to everybody at the last ends of columns; and half of the people at the first ends, while others come with
      the last ones.
    - Everybody at the first ends, to everybody at the last ones: a share that grows from nothing to all.
    - The same of each column by itself, among others at their first ends, and at their last ones.
    - Of numbers: two clusters close together, from which a third one grows at either end, far outside of what quartiles
      or a standard deviation span.
    - Of columns with three levels and more: one level grows at the expense of another one, past all others, of which no
      two have the same count. So ranks change places.
    - Of columns with three levels and more: everybody at one level, to everybody at another one, for every two levels;
      of many levels the first ones, the middle one, the last one, and some by the seed. All such columns move together.
    - Of two columns of levels and more: the same in one of them, with everybody at the same level of each other one; of
      many such paths some by the seed.
    - Of numbers beside columns of levels: from one end to the other, and out of two clusters close together, with
      everybody at the same level, for each of these levels.
    - Of numbers: everybody at a number on no round grid, to everybody at a round number near it, and to everybody at a
      number that often says "no answer" (`confide.audit.round_numbers`).

    Where records are added or removed, those that move come from nowhere, and half of those that would move are there
    before; of two levels, each grows beside the other one. Where everybody is more than a million cells, no column
    moves by itself. Paths on which nothing but shares and ranks matters, and those among people at one level
    of another column, are of a thousand people, where more are invited.

    Args:
        roles: roles of the columns.
        people: invited slots.
        unit: neighbouring relation of the promise.
        seed: public seed of the choice of levels between which there are paths, where there are many.
    """
    first, last = _ends(roles)
    half = people // 2
    yield CrowdPath(people, None, last, closely=people * len(roles) <= CELLS)
    yield CrowdPath(people - half, None, last, ((first, half),))
    paths = _replaced(roles, people, first, last)
    added = unit is Relation.ADD_OR_REMOVE
    if added:
        yield from map(_arriving, islice(paths, 1, None))  # the first one would be the second again
    else:
        yield from paths
    if people * len(roles) > CELLS:
        return
    some = min(people, _SHARES)
    for path in chain(_between_levels(roles, people, seed), _within_levels(roles, some, seed),
                      _beside_levels(roles, some, seed), _of_round_numbers(roles, some, seed)):
        yield _arriving(path) if added else path
        if added and path.before is not None and not path.beside:
            yield _arriving(replace(path, before=path.after, after=path.before))


def some_of_each(roles: Sequence[Role], people: int, seed: int = 0) -> list[SlotRows]:
    """Equal numbers of people at each of the levels between which there are paths, and numbers evenly spread.

    Args:
        roles: roles of the columns.
        people: invited slots.
        seed: public seed, as `crowd_paths` takes it.

    Example:
        >>> some_of_each([Category(column="mood", levels=("bad", "so-so", "good"))], 5)[0].cells.ravel().tolist()
        [0.0, 1.0, 1.0, 2.0, 2.0]
    """
    levels, (first, last) = _columns_levels(roles, seed), _ends(roles)
    kinds = max((len(ranks) for ranks in levels if ranks), default=_LEVELS)
    at = [k * people // kinds for k in range(kinds + 1)]
    return of_records(0, [(_at_level(levels, k, first + (k + 0.5) / kinds * (last - first)), at[k + 1] - at[k])
                          for k in range(kinds)])


def _ends(roles: Sequence[Role]) -> tuple[_Row, _Row]:
    return corners(roles)[0], ends_moved(roles, range(len(roles)))


def _columns_levels(roles: Sequence[Role], seed: int) -> list[list[int]]:
    """Those of each column between which there are paths; none of numbers."""
    return [_some_levels(len(role.levels), seed) if isinstance(role, Category) else [] for role in roles]


def _some_levels(levels: int, seed: int) -> list[int]:
    """All ranks, or of many the first ones, the middle one, the last one and some by a seed."""
    if levels <= _LEVELS:
        return list(range(levels))
    kept = [*range(_FIRST), levels // 2, levels - 1]
    others = [rank for rank in range(levels) if rank not in kept]
    drawn = study_generator(seed, "levels").choice(others, min(len(others), _LEVELS - len(kept)), replace=False)
    return sorted([*kept, *drawn.tolist()])


def _at_level(levels: Sequence[Sequence[int]], place: int, numbers: _Row) -> _Row:
    """The record with each column's level of that place, counted round, and with these numbers."""
    return np.array([ranks[place % len(ranks)] if ranks else number
                     for ranks, number in zip(levels, numbers.tolist(), strict=True)], np.float64)


def _between_levels(roles: Sequence[Role], people: int, seed: int) -> Iterator[CrowdPath]:
    """Everybody at one level to everybody at another one, for every two of a column, in all columns together."""
    levels, last = _columns_levels(roles, seed), _ends(roles)[1]
    if max(map(len, levels)) < 3:
        return
    pairs = [list(combinations(ranks, 2)) for ranks in levels]
    for k in range(max(map(len, pairs))):
        before, after = (_at_level([[each[k % len(each)][side]] if each else [] for each in pairs], 0, last)
                         for side in (0, 1))
        yield CrowdPath(people, before, after, shared=2)


def _beside_levels(roles: Sequence[Role], people: int, seed: int) -> Iterator[CrowdPath]:
    """Everybody at one level to everybody at another one, with everybody at the same level of each other column."""
    levels, last = _columns_levels(roles, seed), _ends(roles)[1]
    kinds = sorted(map(len, levels))
    if kinds[-1] < 3 or len(kinds) < 2 or not kinds[-2]:
        return
    found = [(column, pair, place) for column, ranks in enumerate(levels) for pair in combinations(ranks, 2)
             for place in range(max(len(others) for k, others in enumerate(levels) if k != column))]
    kept = study_generator(seed, "pairs").permutation(len(found))[:_PAIRS] if len(found) > _PAIRS else range(len(found))
    for column, pair, place in (found[k] for k in sorted(kept)):
        before, after = (_at_level([[rank] if k == column else ranks for k, ranks in enumerate(levels)], place, last)
                         for rank in pair)
        yield CrowdPath(people, before, after, shared=1)


def _within_levels(roles: Sequence[Role], people: int, seed: int) -> Iterator[CrowdPath]:
    """Numbers from one end to the other, and out of two clusters to either end, with everybody at the same level."""
    levels, (first, last), half = _columns_levels(roles, seed), _ends(roles), people // 2
    if all(levels) or not any(levels):
        return
    for k in range(max(map(len, levels))):
        low, high, near, close = (_at_level(levels, k, first + share * (last - first))
                                  for share in (0.0, 1.0, _CENTRE, _CENTRE + _CLOSE))
        yield CrowdPath(people, low, high, shared=2)
        for end in (high, low):
            yield CrowdPath(people - half, near, end, ((close, half),), shared=2)


def _of_round_numbers(roles: Sequence[Role], people: int, seed: int) -> Iterator[CrowdPath]:
    """Everybody at a number on no round grid to everybody at a round one, and at one that often says "no answer", with
    everybody at the same level.
    """
    levels, last = _columns_levels(roles, seed), _ends(roles)[1]
    # A rule on a share may do nothing where all or none are round, so halves of round numbers are looked at, too.
    for moves, parts in ((list(map(off_grids, roles)), 2), (list(map(special, roles)), 1)):
        if any(moves):
            for k in range(max(*map(len, moves), *map(len, levels))):
                before, after = (_at_level(levels, k, np.array([each[k % len(each)][side] if each else end for each, end
                                                                in zip(moves, last.tolist(), strict=True)]))
                                 for side in (0, 1))
                yield CrowdPath(people, before, after, shared=parts)


def _arriving(path: CrowdPath) -> CrowdPath:
    """The same cluster, which grows out of nothing."""
    stay = path.length // 2
    there = () if path.before is None else ((path.before, stay),)
    return replace(path, length=path.length - stay, before=None, beside=(*there, *path.beside))


def _replaced(roles: Sequence[Role], people: int, first: _Row, last: _Row) -> Iterator[CrowdPath]:
    if people * len(roles) > CELLS:
        yield CrowdPath(people, first, last)
        return
    some = min(people, _SHARES)
    yield CrowdPath(people, first, last, closely=True)
    if len(roles) > 1:
        for k in range(len(roles)):
            yield CrowdPath(people, first, ends_moved(roles, [k]))
        for k in range(min(len(roles), _COLUMNS)):
            yield CrowdPath(some, last, ends_moved(roles, {*range(len(roles))} - {k}))
    yield from _from_the_middle(roles, some, first, last)
    for k, role in enumerate(roles):
        if isinstance(role, Category) and len(role.levels) > 2:
            yield _staircase(last, k, len(role.levels), some)
    everywhere = zip_longest(*(_to_the_middle(role, k, first, last, people) for k, role in enumerate(roles)))
    yield from islice((path for each in everywhere for path in each if path is not None), _BETWEEN)


def _from_the_middle(roles: Sequence[Role], people: int, first: _Row, last: _Row) -> Iterator[CrowdPath]:
    """Two clusters close together, and a third one at the last ends, or at the first ones."""
    numbers = np.array([not isinstance(role, Category) for role in roles])
    if not numbers.any():
        return
    half = people // 2
    for end in (last, first):
        near, beside = (np.where(numbers, first + share * (last - first), end) for share in (_CENTRE, _CENTRE + _CLOSE))
        yield CrowdPath(people - half, near, end, ((beside, half),), closely=True)


def _to_the_middle(role: Role, column: int, first: _Row, last: _Row, people: int) -> Iterator[CrowdPath]:
    """Everybody at the first end of one column, and at the last ones of all others, to a value between its ends."""
    here = np.arange(len(last)) == column
    low, high = first[column], last[column]
    if isinstance(role, Category):  # which `_between_levels` has
        return
    for value in low + np.array([0.5, 0.75, 0.25]) * (high - low):
        yield CrowdPath(people, np.where(here, low, last), np.where(here, value, last))


def _ranks(levels: int) -> NDArray[np.float64]:
    """Of some levels, evenly spread."""
    return np.unique(np.linspace(0, levels - 1, min(levels, _LEVELS)).round())


def _staircase(among: _Row, column: int, levels: int, people: int) -> CrowdPath:
    """Of a third of the people, so many have one of the other levels as its place on the stairs says."""
    at = [np.where(np.arange(len(among)) == column, rank, among) for rank in _ranks(levels)]
    steps = np.arange(1, len(at) - 1)
    counts = (people // 3 * steps) // int(steps.sum())
    beside = tuple((record, int(count)) for record, count in zip(at[2:], counts, strict=True))
    return CrowdPath(people - int(counts.sum()), at[0], at[1], beside)
