"""Distance between two runs that are given the same released history. The distance covers the outputs of the runs and
their centers, which are the noiseless values to which noise is added. Distances of centers are measured in units of the
noise scale.
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
    """Everything that one run showed: its outputs and its centers, the noiseless values to which noise is added.

    Args:
        seen: the billboard, or the kind of failure; all other output of the run; the noise requests; and the centers of
            public draws.
        summed: all centers with distances that add up (Laplace noise and inputs of channels), each divided by its
            scale.
        squared: centers of Gaussian noise and of vectors, with squared distances that add up, each divided by its
            scale.
        chosen: logits of each selection.
    """

    seen: tuple[Any, ...]
    summed: _Reals
    squared: _Reals
    chosen: tuple[_Reals, ...]

    @property
    def failed(self) -> bool:
        """Whether the run failed and so has no billboard."""
        return not isinstance(self.seen[0], bytes)


def shown(run: Callable[[Any, Noise], Any], data: Any, noise: RecordingNoise | ForcedNoise, part: str = "") -> Shown:
    """Everything that a run on some data shows.

    Args:
        run: the mechanism's run, a function of data and noise.
        data: synthetic data.
        noise: source that records all requests for noise.
        part: prefix of the names of the streams whose centers are compared; "" for all streams.
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
    """Approximate privacy loss between two runs that requested the same noise. For Gaussian noise the distance is
    counted in standard deviations.

    Between neighbouring data sets the approximate loss is exact for Laplace noise. The approximation satisfies the
    triangle inequality, so on a path between two runs some step loses at least the average.

    Args:
        one: everything that the first run showed.
        other: everything that the second run showed.
    """
    return _size(one.summed - other.summed, one.squared - other.squared,
                 [a - b for a, b in zip(one.chosen, other.chosen, strict=True)])


def uneven(move: tuple[Shown, Shown], other: tuple[Shown, Shown], times: float) -> float:
    """Distance between one move of the centers and a multiple of another move. The distance is 0 where all records have
    equal weight.

    Args:
        move: everything that two runs showed, before and after the first move.
        other: everything that two runs showed, before and after the second move.
        times: the multiple, which is the ratio of the numbers of records that the two moves change.
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
