"""Neighbours between which a run begins to do another thing, or one record weighs more than others do.

A run that says "high" once a mean is above .5 does so between one count of people and the next. A run that drops what
lies beyond three standard deviations drops a whole cluster of people, or none of it, as one more record joins them; and
where its noise is the same, nothing but the noise's center tells. Among five hundred invited nobody goes through all
counts. So a run is done at few places of some paths (`confide.audit.crowd_paths`), each time with the noisy answers of
one history. Where what it shows differs between two places, halving finds two neighbours between which it does, in as
many runs as there are digits in the number of people.

Where the centers do not move in proportion to the records that moved, some records weigh more than others. Then halving
goes on where a record weighs most on average, so that the neighbours in the end lose no less than that; and it stops
where all records weigh the same.

What is compared is the billboard, what is said besides, what noise is asked for and what it is added to; not the
shares, which follow from records that differ. The search judges nothing: an audit measures the loss between the two
neighbours, along a history of their own. What comes and goes again between two places beside each other is not found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from confide.audit.center_moves import Shown, apart, shown, uneven
from confide.audit.crowd_paths import CrowdPath, crowd_paths, some_of_each
from confide.audit.fixed_transcript import Neighbours
from confide.audit.full_size_pairs import built
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
    """Neighbours along some paths between which what is shown changes, or else those of the heaviest record, if it is
    heavier than any before; none where a crowd is too large to be made up (`confide.audit.full_size_pairs`).

    Args:
        run: the mechanism itself.
        roles: roles of the columns.
        people: invited slots.
        unit: neighbouring relation of the promise.
        seed: seed of the noise.
        part: first words of the streams that the promise is about; "" for all.
    """
    if not built(people, len(roles)):
        return
    largest, common = 0.0, None
    for path in crowd_paths(roles, people, unit, seed):
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


def places(path: CrowdPath) -> list[int]:
    """How many have moved where a path is looked at: equal parts of it, and its first and its last step.

    Where it is looked at closely, the first part is cut into smaller and smaller ones, too: rules about few people and
    small shares change there.

    One of many paths has parts of its own number; where records are added, no places but its ends and its first step.

    Args:
        path: a path of one person or more.

    Example:
        >>> one, other = np.zeros(1), np.ones(1)
        >>> places(CrowdPath(500, one, other))
        [0, 1, 125, 250, 375, 499, 500]
        >>> places(CrowdPath(500, one, other, closely=True))
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
    """The noisy answers of a run, and what runs of other crowds show with the same ones."""

    def __init__(self, run: Run, crowd: list[SlotRows], seed: int, part: str) -> None:
        self._run, self._part = run, part
        history = RecordingNoise(Noise.simulated(seed))
        self.first = shown(run, crowd, history, part)
        self._draws, self._seen = history.draws, dict[Hashable, Shown]()

    def known(self, path: CrowdPath, moved: int) -> None:
        """That the first crowd is that of a path."""
        self._seen[path.reported(moved)] = self.first

    def at(self, path: CrowdPath, moved: int) -> Shown:
        """What the run shows of a crowd of a path, which is run once."""
        reported = path.reported(moved)
        if reported not in self._seen:
            self._seen[reported] = shown(self._run, path.crowd(moved), ForcedNoise(self._draws), self._part)
        return self._seen[reported]


class _Replayed:
    """One path: the run at some places of it, with the noisy answers of many paths, or of the middle of this one, or of
    where it does not fail.
    """

    def __init__(self, run: Run, path: CrowdPath, seed: int, part: str, common: _History | None) -> None:
        self._path, self._places, self.usual = path, places(path), 0.0
        if common is not None and not common.first.failed:
            self._history = common
            return
        for place in (self._places[len(self._places) // 2], *self._places):
            self._history = _History(run, path.crowd(place), seed, part)
            self._history.known(path, place)
            if not self._history.first.failed:  # a run that failed may not have asked for all of its noise
                break

    def _at(self, moved: int) -> Shown:
        return self._history.at(self._path, moved)

    def _alike(self, low: int, high: int) -> bool:
        return self._at(low).seen == self._at(high).seen

    def _weight(self, low: int, high: int) -> float:
        """Of one record, on average."""
        return apart(self._at(low), self._at(high)) / (high - low)

    def other(self) -> int:
        """How many have moved where the run first shows another thing; 0 where it does not."""
        return next((self._changed(low, high) for low, high in pairwise(self._places) if not self._alike(low, high)), 0)

    def _changed(self, low: int, high: int) -> int:
        """Between two places that differ."""
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if not self._alike(low, middle) else (middle, high)
        return high

    def heaviest(self) -> tuple[float, int]:
        """The largest weight of one record, and how many have moved with it; (0, 0) where all weigh the same."""
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
        """How far a part moves the centers from where another part would, were it as long."""
        (low, high), (start, end) = part, other
        return uneven((self._at(low), self._at(high)), (self._at(start), self._at(end)), (high - low) / (end - start))

    def _descended(self, low: int, high: int) -> tuple[float, int]:
        """Halves a part until all of it weighs the same, and says how many have moved with its heaviest record."""
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
