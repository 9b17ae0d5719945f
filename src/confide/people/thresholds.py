"""Neighbours between which a run begins to do another thing: found by halving, wherever that is.

A run that says "high" once a mean is above .5 does so between one count of people and the next, and among five hundred
invited nobody goes through all counts. But among nobody and among everybody it says different things, and so somewhere
between two neighbours it must change. Each of some paths leads from a crowd to another one that is far off, a record at
a time. The run is done at few places of it, with the same noisy answers; where two of these differ, halving between
them finds two neighbours which differ, in as many runs as there are digits in the number of people.

What is compared is the billboard, what is said besides, and what noise is asked for; not the shares, which follow from
records that differ. Of each path the first such place is found; what comes and goes again between two places is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.audit import Neighbours, exact_bytes, published
from confide.contract.guarantees import Unit
from confide.people.column_rows import Role
from confide.people.overhearing import Failed, overheard
from confide.people.slot_rows import SlotRows
from confide.people.stretching import CELLS, corners, ends_moved
from confide.people.whole_crowds import built, of_records
from confide.privacy.noise import ForcedNoise, Noise, RecordingNoise

__all__ = ["PLACES", "stepping"]

PLACES = 9
"""At which the run is done on each path, at first."""

_Path = Callable[[int], list[SlotRows]]
"""How many records have moved -> the data set."""


def stepping(
    run: Callable[[Any, Noise], Any], roles: Sequence[Role], people: int, unit: Unit, seed: int
) -> Iterator[Neighbours]:
    """Neighbours along some paths between which what is shown changes; none where a crowd is too large to be made up
    (`confide.people.whole_crowds`).

    The paths: nobody, to everybody at the last ends of columns; half of the people at the first ends, and the others
    coming with the last ones; and where records are replaced, everybody at first ends, to everybody at the last ones,
    of all columns and of each by itself, but where everybody is more than a million cells of all alone.

    Args:
        run: the mechanism itself.
        roles: of the columns.
        people: invited slots.
        unit: of the promise.
        seed: of the noise.
    """
    if not built(people, len(roles)):
        return
    for length, path in _paths(roles, people, unit):
        seen: dict[int, tuple[Any, ...]] = {}
        history = RecordingNoise(Noise.simulated(seed))

        def shown(
            moved: int, path: _Path = path, seen: dict[int, tuple[Any, ...]] = seen, first: RecordingNoise = history
        ) -> tuple[Any, ...]:
            if moved not in seen:
                seen[moved] = _shown(run, path(moved), ForcedNoise(first.draws) if seen else first)
            return seen[moved]

        places = sorted({*map(int, np.linspace(0, length, min(length + 1, PLACES)))})
        shown(places[0])
        for low, high in pairwise(places):
            if shown(low) != shown(high):
                yield _between(path, low, high, shown)
                break


def _between(path: _Path, low: int, high: int, shown: Callable[[int], tuple[Any, ...]]) -> Neighbours:
    """Two places beside each other that differ, between two that do."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shown(low) != shown(middle) else (middle, high)
    return Neighbours(path(high), path(low), lambda outcome: published(outcome, high - 1))


def _shown(run: Callable[[Any, Noise], Any], data: Any, noise: RecordingNoise | ForcedNoise) -> tuple[Any, ...]:
    outcome, heard = overheard(lambda: exact_bytes(run(data, noise).billboard))
    return (outcome.how if isinstance(outcome, Failed) else outcome, heard.words,
            tuple(draw.request for draw in noise.draws))


def _paths(roles: Sequence[Role], people: int, unit: Unit) -> Iterator[tuple[int, _Path]]:
    """(length, path): slots move in order, so that the last one that moved is the slot before how many have."""
    first = corners(roles)[0]
    last = ends_moved(roles, range(len(roles)))
    yield people, lambda moved: of_records(0, [(last, moved)])
    half = people // 2
    yield people - half, lambda moved: [*of_records(0, [(last, moved)]), *of_records(people - half, [(first, half)])]
    if unit is Unit.RECORD_ADDED_OR_REMOVED:
        return
    alone = [] if len(roles) == 1 or people * len(roles) > CELLS else [[k] for k in range(len(roles))]
    for moving in (range(len(roles)), *alone):
        yield people, partial(_replaced, first, ends_moved(roles, moving), people)


def _replaced(before: NDArray[np.float64], after: NDArray[np.float64], people: int, moved: int) -> list[SlotRows]:
    return of_records(0, [(after, moved), (before, people - moved)])
