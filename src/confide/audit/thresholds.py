"""Search for neighbours between which a run changes its behaviour, or between which one record has a larger effect than
other records.

A run that publishes "high" if a mean is above 0.5 changes its output between one count of people and the next count. A
run that drops values beyond three standard deviations may drop a whole cluster of equal values, and keep the cluster if
one more record joins the cluster. If the noise stays the same, only the center of the noise shows the change. With five
hundred invited people, not all counts can be tried. Therefore the search makes runs on a few populations (places) of
several paths from one population to another (`confide.audit.population_paths`). All runs on a path get the same noisy
answers. If the runs at two places differ, bisection finds two neighbours between which they differ. Bisection takes
about log2(n) runs for n people.

The centers are the noiseless values to which noise is added. Where they do not change in proportion to the number of
changed records, some records have a larger effect (weight) than others. In this case bisection continues in the part of
the path in which the changed records have the largest average weight, so that the loss between the final neighbours is
at least this average. Bisection stops where all records have equal weight.

A comparison covers the billboard, all other messages, the noise requests and the centers. A comparison leaves out the
participants' shares, because shares depend on records that differ. The search only proposes pairs. An audit then
measures the loss between the two neighbours, with noisy answers of its own. A change that appears and disappears again
between two consecutive places is not found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from confide.audit.center_moves import Shown, apart, shown, uneven
from confide.audit.fixed_transcript import Neighbours
from confide.audit.full_size_pairs import built
from confide.audit.population_paths import PopulationPath, population_paths, some_of_each
from confide.contract.guarantees import Relation
from confide.privacy.noise import ForcedNoise, Noise, RecordingNoise
from confide.tables.column_rows import Role
from confide.tables.slot_rows import SlotRows

__all__ = ["places", "stepping"]

_PARTS = (4, 8)  # of a path that is not looked at closely, and of one that is
_TIMES = 4  # as far as the place before, near where a path begins
_HALVED = 3  # parts of a path that are halved, at most
_EVEN = 1e-6  # of a record's weight is rounding
_MORE = 1 + 1e-6  # times what others weigh, a record weighs more

Run = Callable[[Any, Noise], Any]


def stepping(
    run: Run, roles: Sequence[Role], people: int, unit: Relation, seed: int, part: str = ""
) -> Iterator[Neighbours]:
    """Pairs of neighbours along several paths, between which the output of a run changes. On a path without a change of
    output, the search yields the pair that differs in the record with the largest effect on the centers, if this effect
    is larger than on all earlier paths. There are no pairs where a population is too large to be built
    (`confide.audit.full_size_pairs`).

    Args:
        run: the mechanism's run, a function of data and noise.
        roles: public roles of the columns of a record, such as `confide.tables.roles.Numeric`.
        people: number of slots, one for each invited person.
        unit: neighbouring relation of the promise.
        seed: seed of the simulated noise and of the choice of paths.
        part: prefix of the random streams that the promise is about; "" for all streams.
    """
    if not built(people, len(roles)):
        return
    largest, common = 0.0, None
    for path in population_paths(roles, people, unit, seed):
        if path.length:
            if path.shared and common is None:
                common = _History(run, some_of_each(roles, people, seed), seed, part)
            found = _Replayed(run, path, seed, part, common if path.shared else None)
            other = found.other()
            weight, heavy = (0.0, 0) if other else found.heaviest()
            largest = max(largest, found.usual)
            if other or weight > largest * _MORE:
                largest = max(largest, weight if math.isfinite(weight) else 0.0)
                yield path.step(other or heavy)


def places(path: PopulationPath) -> list[int]:
    """Numbers of changed records at which a path is examined: the ends of equal parts, and the first and the last step.

    If a path is examined closely, its first part is divided into smaller and smaller parts, because rules about few
    people and small shares change near the start of a path.

    A path with shared noisy answers is divided into `shared` equal parts. If such a path adds records instead of
    replacing them, only its ends and its first step are examined.

    Args:
        path: a path of one person or more.

    Example:
        >>> one, other = np.zeros(1), np.ones(1)
        >>> places(PopulationPath(500, one, other))
        [0, 1, 125, 250, 375, 499, 500]
        >>> places(PopulationPath(500, one, other, closely=True))
        [0, 1, 4, 16, 62, 125, 187, 250, 312, 375, 437, 499, 500]
    """
    length = path.length
    if path.shared:
        equal = [length * k // path.shared for k in range(path.shared + 1)]
        return sorted({0, 1, length} if path.before is None else {*equal, 1, length - 1})
    equal = np.linspace(0, length, min(length, _PARTS[path.closely]) + 1).astype(int).tolist()
    near = [0, 1]
    while path.closely and near[-1] * _TIMES < equal[1] - 1:
        near.append(near[-1] * _TIMES)
    return sorted({*equal, *near, length - 1})


class _History:
    """The noisy answers of one run, and the outputs of runs on other populations with the same answers."""

    def __init__(self, run: Run, population: list[SlotRows], seed: int, part: str) -> None:
        self._run, self._part = run, part
        history = RecordingNoise(Noise.simulated(seed))
        self.first = shown(run, population, history, part)
        self._draws, self._seen = history.draws, dict[Hashable, Shown]()

    def known(self, path: PopulationPath, moved: int) -> None:
        """Record that the first population is the population of a path after the given number of changes."""
        self._seen[path.reported(moved)] = self.first

    def at(self, path: PopulationPath, moved: int) -> Shown:
        """Everything that the run shows on a population of a path. Each population is run once."""
        reported = path.reported(moved)
        if reported not in self._seen:
            self._seen[reported] = shown(self._run, path.population(moved), ForcedNoise(self._draws), self._part)
        return self._seen[reported]


class _Replayed:
    """One path, with runs at some of its places. All runs share the noisy answers of one history. The history belongs
    to many paths, to the middle of this path, or to the first place where the run does not fail.
    """

    def __init__(self, run: Run, path: PopulationPath, seed: int, part: str, common: _History | None) -> None:
        self._path, self._places, self.usual = path, places(path), 0.0
        if common is not None and not common.first.failed:
            self._history = common
            return
        for place in (self._places[len(self._places) // 2], *self._places):
            self._history = _History(run, path.population(place), seed, part)
            self._history.known(path, place)
            if not self._history.first.failed:  # a run that failed may not have asked for all of its noise
                break

    def _at(self, moved: int) -> Shown:
        return self._history.at(self._path, moved)

    def _alike(self, low: int, high: int) -> bool:
        return self._at(low).seen == self._at(high).seen

    def _weight(self, low: int, high: int) -> float:
        """Average weight of one record between two places."""
        return apart(self._at(low), self._at(high)) / (high - low)

    def other(self) -> int:
        """Number of changed records at which the run first shows something else; 0 where it never does."""
        return next((self._changed(low, high) for low, high in pairwise(self._places) if not self._alike(low, high)), 0)

    def _changed(self, low: int, high: int) -> int:
        """Number of changed records, between two places with different outputs, at which the output changes."""
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if not self._alike(low, middle) else (middle, high)
        return high

    def heaviest(self) -> tuple[float, int]:
        """The largest weight of one record, and the number of changed records once this record has changed; (0, 0)
        where all records have equal weight.
        """
        parts = list(pairwise(self._places))
        weights = [self._weight(*part) for part in parts]
        middle = sorted(range(len(parts)), key=weights.__getitem__)[len(parts) // 2]
        self.usual = weights[middle]
        unusual = [self._off(part, parts[middle]) for part in parts]
        odd = [k for k in sorted(range(len(parts)), key=unusual.__getitem__, reverse=True)
               if unusual[k] > _EVEN * max(weights)]
        if not odd:
            return 0.0, 0
        steepest = max(range(len(parts)), key=weights.__getitem__)
        return max(self._descended(*parts[k]) for k in dict.fromkeys([steepest, *odd[:_HALVED]]))

    def _off(self, part: tuple[int, int], other: tuple[int, int]) -> float:
        """Distance between the move of the centers along one part of the path and the move along another part, scaled
        to the same length.
        """
        (low, high), (start, end) = part, other
        return uneven((self._at(low), self._at(high)), (self._at(start), self._at(end)), (high - low) / (end - start))

    def _descended(self, low: int, high: int) -> tuple[float, int]:
        """Halve a part of the path until all its records have equal weight. The result is the weight of the part's
        heaviest record, and the number of changed records once this record has changed.
        """
        while high - low > 1:
            middle = (low + high) // 2
            if not self._alike(low, middle):  # and is as before at the end
                return math.inf, self._changed(low, middle)
            sides = [(low, middle), (middle, high)]
            weights = [self._weight(*side) for side in sides]
            if self._off((low, middle), (low, high)) <= _EVEN * max(weights):
                return self._weight(low, high), low + 1
            low, high = sides[weights[1] * _MORE >= weights[0]]  # who grew and is left out at once moved nothing before
        return self._weight(low, high), high
