"""Distance between two runs on different data that get the same noisy answers. The outputs of the two runs are
compared, and also their centers, which are the noiseless values to which noise is added. Distances between centers are
in units of the noise scale.
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
    """The outputs of one run, and its centers, which are the noiseless values to which noise is added.

    Args:
        seen: four entries that two runs must have in common, before their centers can be compared: the bytes of the
            billboard, or the type of the exception; the messages that the run wrote; the noise requests; and the
            centers of public draws.
        summed: centers of Laplace noise and inputs of channels, in units of the noise scale; their absolute differences
            add up.
        squared: centers of Gaussian noise and of vector Laplace noise, in units of the noise scale; their squared
            differences add up.
        chosen: logits of each draw by an exponential mechanism, one array for each draw.
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
    """The outputs and the centers of a run on some data.

    Args:
        run: the mechanism's run, a function of data and noise.
        data: synthetic data in the form that `run` expects.
        noise: source of noise that records all requests of the run.
        part: prefix of the names of the random streams whose centers are compared; "" for all streams.
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
    """Approximate privacy loss between two runs that requested the same noise: in nats for Laplace noise, and in
    standard deviations for Gaussian noise.

    Between neighbouring data sets the approximate loss is exact for Laplace noise. The approximation satisfies the
    triangle inequality. Therefore, if a data set is changed into another one step by step, at least one step has a loss
    of at least the loss between the two ends divided by the number of steps.

    Args:
        one: outputs and centers of the first run.
        other: outputs and centers of the second run.
    """
    return _size(one.summed - other.summed, one.squared - other.squared,
                 [a - b for a, b in zip(one.chosen, other.chosen, strict=True)])


def uneven(move: tuple[Shown, Shown], other: tuple[Shown, Shown], times: float) -> float:
    """Distance between one change of the centers and a multiple of another change. The distance is 0 where every
    changed record has the same effect on the centers.

    Args:
        move: outputs and centers of two runs, before and after the first change of records.
        other: outputs and centers of two runs, before and after the second change of records.
        times: number of records that the first change concerns, divided by the number of records that the second change
            concerns.
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
