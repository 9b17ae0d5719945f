"""Search for noisy answers that a run does not publish. If only an unpublished answer changes, no visible output
changes.

An audit treats each noisy answer as published. For a run that publishes less, such as only the position of the largest
answer, the computed loss is therefore too large. Where the computed loss is above the promise, some answers are changed
one by one, by about the size of their noise. If an answer is published exactly, or with finer rounding than this
change, the output changes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from confide.audit.fixed_transcript import Neighbours
from confide.audit.history_loss import Unreleased, belongs
from confide.audit.side_channels import side_channel_output
from confide.privacy.noise import Draw, ForcedNoise, Noise, RecordingNoise
from confide.privacy.noise.arguments import StreamName

__all__ = ["RAW", "unpublished"]

RAW = ("exponential", "words")
"""Names of the distributions of raw draws. The audit cannot see which values such draws protect."""

_ENTRIES = 8  # of one draw that are changed
_DRAWS = 8  # that are looked at


def unpublished(
    run: Callable[[Any, Noise], Any], histories: Sequence[tuple[Neighbours, int]], unreleased: Unreleased,
    streams: Collection[StreamName] | None = None,
) -> list[str]:
    """First words of the names of random streams with an unpublished answer. An answer counts as unpublished if, in
    most histories, the published output stays the same both when the answer is raised and when it is lowered.

    Args:
        run: the mechanism's run, a function of data and noise.
        histories: pairs of neighbours, each with the seed of its noise; only the first data set of a pair is run.
        unreleased: rules for the random streams that are known to be unreleased; these streams are not examined.
        streams: names of the random streams that are examined; all if left out.
    """
    unseen: Counter[str] = Counter()
    for pair, seed in histories:

        def shown(noise: Noise, pair: Neighbours = pair) -> Any:
            return side_channel_output(lambda: pair.published(run(pair.first, noise)))[0]

        def alike(k: int, others: Sequence[Draw], draws: Sequence[Draw], before: Any) -> bool:
            return all(shown(ForcedNoise([*draws[:k], other, *draws[k + 1:]])) == before for other in others)

        history = RecordingNoise(Noise.simulated(seed))
        before = shown(history)
        asked = [(k, draw) for k, draw in enumerate(history.draws) if streams is None or draw.stream in streams]
        looked_at = [(k, draw) for k, draw in asked[:_DRAWS] if draw.law != "split"
                     and not any(belongs(draw, part) for part in unreleased)]
        unseen.update({str(draw.stream[0]) for k, draw in looked_at
                       if any(alike(k, others, history.draws, before) for others in _changed(draw))})
    return [name for name, count in unseen.items() if 2 * count > len(histories)]


def _changed(draw: Draw) -> Iterator[list[Draw]]:
    """For each of some entries, copies of the draw in which this entry has another answer."""
    flat = draw.value.reshape(-1)
    for entry in np.unique(np.linspace(0, flat.size - 1, min(flat.size, _ENTRIES)).astype(int)) if flat.size else ():
        found = []
        for value in _others(draw, flat[entry]):
            other = flat.copy()
            other[entry] = value
            found.append(replace(draw, value=other.reshape(draw.value.shape)))
        yield found


def _others(draw: Draw, value: Any) -> list[Any]:
    """Other answers that might have been drawn."""
    if draw.law == "channel":
        return [k for k in range(len(draw.table[0])) if k != value][:4]
    if draw.law == "selection":
        return [k for k in range(len(draw.center)) if k != value][:4]
    if draw.law in RAW:
        return [value + value.dtype.type(1)]
    step = max(1, math.ceil(draw.scale)) if draw.value.dtype.kind == "i" else float(draw.scale)
    return [value - step, value + step]
