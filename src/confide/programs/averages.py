"""The average of everybody's responses over the main rounds, as the few actions that occur and how often each did.

Source: spec convex_programs 8 (storage: sparse counts, never people x variables).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.numerics.compiled import kernel
from confide.programs.program import Program

__all__ = ["Tally", "tally_of", "value_and_load"]

_CELLS = 1 << 19  # of responses that are held at once

Tally = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]
"""(m + 1,) where each participant's part begins; (z, width) actions that occur; (z,) in how many rounds."""


def tally_of(records: Any, program: Program, prices: NDArray[np.int64]) -> Tally:
    """Which actions the best responses to a path were, and how often, in the order in which they came first.

    Args:
        records: of m participants.
        program: whose they are.
        prices: (T, k) the main rounds', in units.
    """
    size = max(1, _CELLS // (len(prices) * program.width))
    parts = []
    for block in records.blocks(size):
        played = program.respond_along(block, prices)
        counts, times = np.empty(block.people, np.int64), np.empty(played.shape[:2], np.int32)
        _tally(played, counts, times)
        kept = np.arange(len(prices)) < counts[:, None]
        parts.append((counts, played[kept], times[kept]))
    counts = np.concatenate([part[0] for part in parts])
    starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
    return starts, np.concatenate([part[1] for part in parts]), np.concatenate([part[2] for part in parts])


def value_and_load(program: Program, records: Any, tally: Tally) -> tuple[int, NDArray[np.int64]]:
    """Values and loads of a tally, summed over its rounds, in units. Private.

    Args:
        program: whose they are.
        records: of m participants.
        tally: theirs.
    """
    starts, actions, times = tally
    value, load, counts = 0, np.zeros(program.rows, dtype=np.int64), np.diff(starts)
    size = max(1, _CELLS // program.rows)
    for rank in range(int(counts.max(initial=0))):  # nearly everybody has one action, or two
        people = np.flatnonzero(counts > rank)
        for at in range(0, len(people), size):
            who = people[at : at + size]
            of = starts[who] + rank
            some, often = records.take(who), times[of].astype(np.int64)
            value += int(program.values(some, actions[of]) @ often)
            load += program.weighted_load(some, actions[of], often)
    return value, load


@kernel
def _tally(played: Any, counts: Any, times: Any) -> None:
    """Sort every participant's responses into those that differ, in place.

    Args:
        played: (m, T, width) int32; the first `counts` of each end as those that differ.
        counts: (m,) int64, filled in: how many differ.
        times: (m, T) int32, its first entries filled in: in how many rounds.
    """
    people, rounds, width = played.shape
    for i in range(people):
        found = 0
        for t in range(rounds):
            at = found - 1
            while at >= 0:
                same = True
                for w in range(width):
                    if played[i, at, w] != played[i, t, w]:
                        same = False
                        break
                if same:
                    break
                at -= 1
            if at < 0:
                at = found
                found += 1
                times[i, at] = 0
                for w in range(width):
                    played[i, at, w] = played[i, t, w]
            times[i, at] += 1
        counts[i] = found
