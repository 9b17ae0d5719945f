"""Paths from one synthetic population to a distant population, changing one record at a time.

A rule that depends on the data changes its result where a share, a rank or a count crosses a threshold. On each path
one group (cluster) of equal records therefore grows from no record to very many records, while other clusters, with
which a rule may compare the growing cluster, stay the same.
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

__all__ = ["PopulationPath", "population_paths", "some_of_each"]

_Row = NDArray[np.float64]

_COLUMNS = 8  # that move by themselves against the others, at most
_LEVELS = 8  # of one column, at most
_PAIRS = 48  # of levels that are beside those of other columns, at most
_FIRST = 3  # levels that are among these, where a column has more
_BETWEEN = 5  # values between ends that a population moves to, at most
_SHARES = 1000  # people among whom shares and ranks change, at most: these are the same among more
_CENTRE = 0.625  # of the range, where two clusters lie close together: not in the middle, where a value may be zero
_CLOSE = 1 / 128  # of the range, between the two


@dataclass(frozen=True, eq=False)
class PopulationPath:
    """A sequence of populations in which one cluster of equal records grows, one record at a time.

    Args:
        length: number of slots whose record changes along the path. These are the slots from 0 to length - 1, and they
            change in this order.
        before: record of the changing slots before their change, shape (c,); None where they hold no record.
        after: record of the changing slots after their change, shape (c,).
        beside: pairs of a record and a number of slots that hold this record, for the slots from `length` on, which
            never change.
        closely: whether the search examines more populations near the start of the path, and in total
            (`confide.audit.thresholds.places`).
        shared: number of equal parts into which the search divides the path, if the path shares the noisy answers and
            some populations with other paths; 0 for a path with noisy answers of its own.
    """

    length: int
    before: _Row | None
    after: _Row
    beside: tuple[tuple[_Row, int], ...] = ()
    closely: bool = False
    shared: int = 0

    def population(self, moved: int) -> list[SlotRows]:
        """The data set after the first `moved` slots have changed, as batches of records."""
        return [batch for start, some in self._parts(moved) for batch in of_records(start, some)]

    def reported(self, moved: int) -> Hashable:
        """A key for the population after the first `moved` slots have changed. Two populations with the same records in
        the same slots have equal keys. On paths with shared noisy answers, the slots do not matter.
        """
        if self.shared:  # where each of two levels grows beside the other one, half have each in the end
            return frozenset((record.tobytes(), count) for _, some in self._parts(moved) for record, count in some
                             if count)
        return tuple((start, tuple((record.tobytes(), count) for record, count in some if count))
                     for start, some in self._parts(moved))

    def _parts(self, moved: int) -> list[tuple[int, list[tuple[_Row, int]]]]:
        """Blocks of the data set: the first slot of each block, and the numbers of holders of each record from that
        slot on.
        """
        if self.before is not None:
            return [(0, [(self.after, moved), (self.before, self.length - moved), *self.beside])]
        return [(0, [(self.after, moved)]), *([(self.length, [*self.beside])] if self.beside else [])]

    def step(self, moved: int) -> Neighbours:
        """A pair of neighbouring populations: after `moved` changes, and after one change fewer."""
        last = moved - 1
        return Neighbours(self.population(moved), self.population(last), lambda outcome: published(outcome, last))


def population_paths(roles: Sequence[Role], people: int, unit: Relation, seed: int = 0) -> Iterator[PopulationPath]:
    """All paths of a campaign between synthetic populations.

    - A path from no people to all invited people, each with the last values of all columns. Another path starts from
      half of the people with the first values, and adds people with the last values.
    - A path from everybody with the first values to everybody with the last values, so that a share grows from 0 to 1.
    - Paths from the first value to the last value of one column alone, while the other columns stay at their first
      values, and while they stay at their last values.
    - For columns of numbers: paths that start with two clusters close together. A third cluster grows at either end of
      the range, many quartile ranges or standard deviations away.
    - For columns with three or more levels: paths on which the count of one level grows and the count of another level
      falls, while no two of the remaining levels have equal counts. On these paths the order of the levels by count
      changes.
    - For columns with three or more levels: paths from everybody at one level to everybody at another level, for every
      pair of levels. A column with many levels is represented by its first levels, its middle level, its last level,
      and some levels chosen by the seed. All columns with levels change together.
    - For two or more columns with levels: paths on which everybody moves from one level to another in one of these
      columns, with everybody at one common level of each other column. If there are many paths of one kind, the seed
      chooses some of them.
    - For records with columns of numbers and columns with levels: paths from one end of the range to the other, and
      paths that start with two clusters close together. On these paths everybody is at one common level, and each level
      has paths of its own.
    - For columns of numbers: paths from everybody at a number that is not round to everybody at a round number near it.
      One more path of this kind ends with everybody at a number that often codes "no answer"
      (`confide.audit.round_numbers`).

    If the promise is about added or removed records, the changing slots hold no record at first. Half of the slots have
    their record from the start and keep it. For a pair of levels, one path adds people of the first level to people of
    the second level, and another path the reverse. If the whole population has more than a million cells, no column
    changes alone. Paths on which only shares and ranks matter, and paths among people at one level of another column,
    have at most a thousand people.

    Args:
        roles: public roles of the columns of a record, such as `confide.tables.roles.Numeric`.
        people: number of slots, one for each invited person.
        unit: neighbouring relation of the promise.
        seed: public seed for the choice of levels and paths where there are many.
    """
    first, last = _ends(roles)
    half = people // 2
    yield PopulationPath(people, None, last, closely=people * len(roles) <= CELLS)
    yield PopulationPath(people - half, None, last, ((first, half),))
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
    """A population with about equal numbers of people at each of the levels that the paths of `population_paths` use.
    In columns of numbers, the values are evenly spread over the range.

    Args:
        roles: public roles of the columns of a record, such as `confide.tables.roles.Numeric`.
        people: number of slots, one for each invited person.
        seed: public seed that was given to `population_paths`.

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
    """Levels of each column that the paths use; empty for columns of numbers."""
    return [_some_levels(len(role.levels), seed) if isinstance(role, Category) else [] for role in roles]


def _some_levels(levels: int, seed: int) -> list[int]:
    """Ranks of the levels that the paths use. The result holds all ranks or, if there are many, the first ranks, the
    middle rank, the last rank, and some ranks chosen by a seed.
    """
    if levels <= _LEVELS:
        return list(range(levels))
    kept = [*range(_FIRST), levels // 2, levels - 1]
    others = [rank for rank in range(levels) if rank not in kept]
    drawn = study_generator(seed, "levels").choice(others, min(len(others), _LEVELS - len(kept)), replace=False)
    return sorted([*kept, *drawn.tolist()])


def _at_level(levels: Sequence[Sequence[int]], place: int, numbers: _Row) -> _Row:
    """Record with given numbers. In each column with levels, the record has the level at a given position in the list
    of levels, counted cyclically.
    """
    return np.array([ranks[place % len(ranks)] if ranks else number
                     for ranks, number in zip(levels, numbers.tolist(), strict=True)], np.float64)


def _between_levels(roles: Sequence[Role], people: int, seed: int) -> Iterator[PopulationPath]:
    """Paths from everybody at one level to everybody at another level, for every pair of levels of a column. All
    columns change together.
    """
    levels, last = _columns_levels(roles, seed), _ends(roles)[1]
    if max(map(len, levels)) < 3:
        return
    pairs = [list(combinations(ranks, 2)) for ranks in levels]
    for k in range(max(map(len, pairs))):
        before, after = (_at_level([[each[k % len(each)][side]] if each else [] for each in pairs], 0, last)
                         for side in (0, 1))
        yield PopulationPath(people, before, after, shared=2)


def _beside_levels(roles: Sequence[Role], people: int, seed: int) -> Iterator[PopulationPath]:
    """Paths from everybody at one level to everybody at another level, while everybody keeps one common level in each
    other column.
    """
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
        yield PopulationPath(people, before, after, shared=1)


def _within_levels(roles: Sequence[Role], people: int, seed: int) -> Iterator[PopulationPath]:
    """Paths for numbers from one end of the range to the other, and out of two clusters to either end, with everybody
    at one common level.
    """
    levels, (first, last), half = _columns_levels(roles, seed), _ends(roles), people // 2
    if all(levels) or not any(levels):
        return
    for k in range(max(map(len, levels))):
        low, high, near, close = (_at_level(levels, k, first + share * (last - first))
                                  for share in (0.0, 1.0, _CENTRE, _CENTRE + _CLOSE))
        yield PopulationPath(people, low, high, shared=2)
        for end in (high, low):
            yield PopulationPath(people - half, near, end, ((close, half),), shared=2)


def _of_round_numbers(roles: Sequence[Role], people: int, seed: int) -> Iterator[PopulationPath]:
    """Paths from everybody at a number that is not round to everybody at a round number, and to everybody at a number
    that often codes "no answer". Everybody is at one common level of each column with levels.
    """
    levels, last = _columns_levels(roles, seed), _ends(roles)[1]
    # A rule on a share may do nothing where all or none are round, so halves of round numbers are looked at, too.
    for moves, parts in ((list(map(off_grids, roles)), 2), (list(map(special, roles)), 1)):
        if any(moves):
            for k in range(max(*map(len, moves), *map(len, levels))):
                before, after = (_at_level(levels, k, np.array([each[k % len(each)][side] if each else end for each, end
                                                                in zip(moves, last.tolist(), strict=True)]))
                                 for side in (0, 1))
                yield PopulationPath(people, before, after, shared=parts)


def _arriving(path: PopulationPath) -> PopulationPath:
    """The given path with additions: the cluster's records are added, and replace no other records."""
    stay = path.length // 2
    there = () if path.before is None else ((path.before, stay),)
    return replace(path, length=path.length - stay, before=None, beside=(*there, *path.beside))


def _replaced(roles: Sequence[Role], people: int, first: _Row, last: _Row) -> Iterator[PopulationPath]:
    if people * len(roles) > CELLS:
        yield PopulationPath(people, first, last)
        return
    some = min(people, _SHARES)
    yield PopulationPath(people, first, last, closely=True)
    if len(roles) > 1:
        for k in range(len(roles)):
            yield PopulationPath(people, first, ends_moved(roles, [k]))
        for k in range(min(len(roles), _COLUMNS)):
            yield PopulationPath(some, last, ends_moved(roles, {*range(len(roles))} - {k}))
    yield from _from_the_middle(roles, some, first, last)
    for k, role in enumerate(roles):
        if isinstance(role, Category) and len(role.levels) > 2:
            yield _staircase(last, k, len(role.levels), some)
    everywhere = zip_longest(*(_to_the_middle(role, k, first, last, people) for k, role in enumerate(roles)))
    yield from islice((path for each in everywhere for path in each if path is not None), _BETWEEN)


def _from_the_middle(roles: Sequence[Role], people: int, first: _Row, last: _Row) -> Iterator[PopulationPath]:
    """Paths with two clusters close together, from which a third cluster grows at the last or at the first ends of the
    ranges.
    """
    numbers = np.array([not isinstance(role, Category) for role in roles])
    if not numbers.any():
        return
    half = people // 2
    for end in (last, first):
        near, beside = (np.where(numbers, first + share * (last - first), end) for share in (_CENTRE, _CENTRE + _CLOSE))
        yield PopulationPath(people - half, near, end, ((beside, half),), closely=True)


def _to_the_middle(role: Role, column: int, first: _Row, last: _Row, people: int) -> Iterator[PopulationPath]:
    """Paths from everybody at the first end of one column, and at the last end of all other columns, to a value inside
    the range of the one column.
    """
    here = np.arange(len(last)) == column
    low, high = first[column], last[column]
    if isinstance(role, Category):  # which `_between_levels` has
        return
    for value in low + np.array([0.5, 0.75, 0.25]) * (high - low):
        yield PopulationPath(people, np.where(here, low, last), np.where(here, value, last))


def _ranks(levels: int) -> NDArray[np.float64]:
    """Evenly spread ranks among a number of levels."""
    return np.unique(np.linspace(0, levels - 1, min(levels, _LEVELS)).round())


def _staircase(among: _Row, column: int, levels: int, people: int) -> PopulationPath:
    """Path on which the second rank grows at the expense of the first rank. A third of the people hold the other ranks,
    with counts that rise from rank to rank like stairs.
    """
    at = [np.where(np.arange(len(among)) == column, rank, among) for rank in _ranks(levels)]
    steps = np.arange(1, len(at) - 1)
    counts = (people // 3 * steps) // int(steps.sum())
    beside = tuple((record, int(count)) for record, count in zip(at[2:], counts, strict=True))
    return PopulationPath(people - int(counts.sum()), at[0], at[1], beside)
