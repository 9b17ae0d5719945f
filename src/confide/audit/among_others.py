"""Text for an audit report about a record that changes a noiseless value more among other records than alone. A larger
change among other records means that the effect of one record depends on the other records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from confide.audit.fixed_transcript import Neighbours
from confide.audit.side_channels import Failed, side_channel_output
from confide.audit.worst_case_neighbours import CELLS
from confide.privacy.noise import Draw, ForcedNoise, Noise, RecordingNoise
from confide.privacy.noise.arguments import StreamName
from confide.tables.slot_rows import SlotRows

__all__ = ["among_others"]

_SUMMED = ("laplace", "discrete_laplace")
_SQUARED = ("gaussian", "discrete_gaussian")
_MORE = 1 + 1e-6

Run = Callable[[Any, Noise], Any]


def among_others(run: Run, pair: Neighbours, seed: int, streams: Collection[StreamName], paid: float) -> str:
    """Text that says how far one record changes the noiseless values, both among other records and alone. The text is
    empty where the change is no larger among other records, or where one of the two changes is unknown.

    Args:
        run: the mechanism's run, a function of data and noise.
        pair: two populations that differ in one record.
        seed: seed of the noise history that both populations share.
        streams: names of the draws, which are all Laplace noise of one scale or all Gaussian noise of one scale.
        paid: privacy loss that was charged for the draws of `streams`: epsilon in nats for Laplace noise, rho for
            Gaussian noise.
    """
    alone = _alone(pair)
    if alone is None:
        return ""
    (among, declared), (by_itself, _) = (_moved(run, each, seed, streams, paid) for each in (pair, alone))
    if not among > by_itself * _MORE:  # also where one is no number
        return ""
    return (f"; this record moves the protected value by {among:.6g} among these people (declared: {declared:.6g}), "
            f"and by {by_itself:.6g} without other people. So the record's effect depends on other records, as with a "
            "bound, a selection or a standardisation from the data: see the tutorial 'A mechanism of your own'")


def _alone(pair: Neighbours) -> Neighbours | None:
    """A pair of data sets that hold only the record in which the given pair differs; None where they differ in more
    than one record.
    """
    sides = pair.first, pair.second
    if not all(isinstance(side, list) and sum(batch.cells.size for batch in side) <= CELLS for side in sides):
        return None
    first, second = ({int(slot): row for batch in side for slot, row in zip(batch.index, batch.cells, strict=True)}
                     for side in sides)
    changed = [slot for slot in first.keys() | second.keys()
               if slot not in first or slot not in second or first[slot].tobytes() != second[slot].tobytes()]
    if len(changed) != 1:
        return None

    def own(rows: dict[int, Any]) -> list[SlotRows]:
        return [SlotRows(np.array(changed), rows[changed[0]][None])] if changed[0] in rows else []

    return Neighbours(own(first), own(second), pair.published)


def _moved(
    run: Run, pair: Neighbours, seed: int, streams: Collection[StreamName], paid: float
) -> tuple[float, float]:
    """Distance between the noiseless values of the two data sets, and the declared largest distance; NaN where the
    distance is unknown.
    """
    history = RecordingNoise(Noise.simulated(seed))
    first, _ = side_channel_output(lambda: run(pair.first, history))
    forced = None if isinstance(first, Failed) else ForcedNoise(history.draws)
    if forced is None or isinstance(side_channel_output(lambda: run(pair.second, forced))[0], Failed):
        return math.nan, math.nan
    one, other = ([draw for draw in noise.draws if draw.stream in streams] for noise in (history, forced))
    scales = {draw.scale for draw in (*one, *other)}
    laws = {draw.law for draw in (*one, *other)}
    if len(scales) != 1 or len(one) != len(other):
        return math.nan, math.nan
    off, scale = _centers(one) - _centers(other), float(*scales)
    if laws <= {*_SUMMED}:
        return float(np.abs(off).sum()), paid * scale
    return (float(np.linalg.norm(off)), math.sqrt(2 * paid) * scale) if laws <= {*_SQUARED} else (math.nan, math.nan)


def _centers(draws: Sequence[Draw]) -> Any:
    return np.array([float(number) for draw in draws for number in draw.center])
