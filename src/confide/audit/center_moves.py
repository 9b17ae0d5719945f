"""How far two runs are apart along one and the same released history: in what they show, and in what their noise is
added to, counted in the scales of that noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.audit.history_loss import belongs
from confide.audit.side_channels import Failed, side_channel_output
from confide.audit.value_bytes import exact_bytes
from confide.privacy.noise import Draw, ForcedNoise, Noise, RecordingNoise

__all__ = ["Shown", "apart", "shown", "uneven"]

_Reals = NDArray[np.float64]

_SUMMED = ("laplace", "discrete_laplace")
_SQUARED = ("gaussian", "discrete_gaussian", "vector_laplace")
_CHOSEN = "selection"


@dataclass(frozen=True, eq=False)
class Shown:
    """Everything that one run showed.

    Args:
        seen: the billboard, or how the run failed; what it said besides; what noise it asked for, and what public draws
            are added to.
        summed: all centers whose distances add up, each in its scale; a channel's inputs.
        squared: centers of Gaussian noise and of vectors, whose squared distances add up.
        chosen: logits, for each selection.
    """

    seen: tuple[Any, ...]
    summed: _Reals
    squared: _Reals
    chosen: tuple[_Reals, ...]

    @property
    def failed(self) -> bool:
        """Whether there is no billboard."""
        return not isinstance(self.seen[0], bytes)


def shown(run: Callable[[Any, Noise], Any], data: Any, noise: RecordingNoise | ForcedNoise, part: str = "") -> Shown:
    """Everything that a run on some data shows.

    Args:
        run: the mechanism itself.
        data: made-up data.
        noise: a source that writes down what is asked for.
        part: first words of the streams of which centers count; "" for all.
    """
    outcome, observed = side_channel_output(lambda: exact_bytes(run(data, noise).billboard))
    mine = [draw for draw in noise.draws if draw.center and belongs(draw, part)]
    return Shown((outcome.how if isinstance(outcome, Failed) else outcome, observed.words,
                  tuple(draw.request for draw in noise.draws),
                  tuple(draw.center for draw in noise.draws if draw.payment is not None and draw.payment.free)),
                 _joined([_scaled(draw) for draw in mine if draw.law in (*_SUMMED, "channel")]),
                 _joined([_scaled(draw) for draw in mine if draw.law in _SQUARED]),
                 tuple(_scaled(draw) for draw in mine if draw.law == _CHOSEN))


def apart(one: Shown, other: Shown) -> float:
    """The loss between two runs that asked for the same noise, about: what it would be if Gaussian noise lost its
    distance in standard deviations.

    Between neighbours it is exact for Laplace noise. It obeys the triangle inequality: on a path between two runs there
    is a step that loses at least the average.

    Args:
        one: a run.
        other: another one.
    """
    return _size(one.summed - other.summed, one.squared - other.squared,
                 [a - b for a, b in zip(one.chosen, other.chosen, strict=True)])


def uneven(move: tuple[Shown, Shown], other: tuple[Shown, Shown], times: float) -> float:
    """How far one move of the centers is from so many times another one; 0 where all records weigh the same.

    Args:
        move: two runs, from one to another.
        other: two more runs.
        times: ratio of the numbers of records that move.
    """
    def off(before: _Reals, after: _Reals, start: _Reals, end: _Reals) -> _Reals:
        return np.asarray(after - before - times * (end - start))

    both = (*move, *other)
    return _size(off(*(each.summed for each in both)), off(*(each.squared for each in both)),
                 [off(*logits) for logits in zip(*(each.chosen for each in both), strict=True)])


def _size(summed: _Reals, squared: _Reals, chosen: Sequence[_Reals]) -> float:
    return float(np.abs(summed).sum() + np.linalg.norm(squared) + sum(np.ptp(each) for each in chosen))


def _scaled(draw: Draw) -> _Reals:
    numbers = np.array([float(number) for number in draw.center])
    return numbers / (float(draw.scale) or 1.0) / (draw.stretch if draw.stretch.size else 1.0)


def _joined(parts: Sequence[_Reals]) -> _Reals:
    return np.concatenate(parts) if parts else np.zeros(0)
