"""When the search for a new component ends: at a fake target, whose value is drawn so that about K come before it.

The count that decides is over V minus N[T], never over the unexamined: those depend on earlier noise and on protected
edges, and are no output (spec targeted_search, erratum E3).

Source: spec targeted_search 3.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise, Stream
from confide.privacy.selection import exponential_law, exponential_mechanism, selection_error
from confide.search.noise_kinds import NoiseKind, steepest_win, wins_over

__all__ = ["STOPS", "Stop", "ThresholdRule"]

Stop = Literal["none", "public", "private", "smoothed"]
STOPS: tuple[Stop, ...] = ("none", "public", "private", "smoothed")

_MOST_GRID = 2**22
_ROUNDING = 2.0**-36
"""Of the number of vertices: how far rounding can move a smoothed count. A sum of at most 2^12 terms (a degree bound,
or the values that occur) is off by a relative 2^-41, each chance by 2^-48; and there are two sums."""


@dataclass(frozen=True, kw_only=True)
class ThresholdRule:
    """The value of the fake target, by the exponential mechanism on {0, ..., top}.

    P(x) is in proportion to exp(-epsilon q(x) / (2 sensitivity)) with q(x) = |count(x) - K|. "private" counts vertices
    with f >= x; "smoothed" adds up their chances to come before a fake with value x, so that K is the expected number
    of them.

    Args:
        stop: "private" or "smoothed".
        epsilon: of the draw, in nats.
        stopping_target: K.
        people: n.
        most: the largest value that f can have, public.
        count_sensitivity: how far one rewired vertex can move the count of f >= x over V minus N[T].
        smooth: whether at most `count_sensitivity` vertices move, each by at most 1, and the rewired one: then the
            smoothed count is less sensitive. Shown for common neighbours.
        noise_kind: of the noise that the fake competes in.
        noise_scale: b, of that noise.
        largest_threshold: end of the grid, public; by `top` if left out.

    Raises:
        InvalidInput: a grid that is too large to draw from.
    """

    stop: Stop
    epsilon: float
    stopping_target: int
    people: int
    most: int
    count_sensitivity: float
    smooth: bool
    noise_kind: NoiseKind
    noise_scale: float
    largest_threshold: int | None = None

    def __post_init__(self) -> None:
        if self.top >= _MOST_GRID:
            if self.largest_threshold is not None:
                raise InvalidInput("largest_threshold", f"{self.largest_threshold:,} makes too long a grid",
                                   f"must be below {_MOST_GRID:,}")
            if self.most >= _MOST_GRID:
                raise InvalidInput("statistic", f"can be as large as {self.most:,}: the threshold's grid is too long",
                                   'at most 2^22; largest_threshold ends it, and stop="public" needs none')
            raise InvalidInput("epsilon", f"is so small that noise has scale {self.noise_scale:,.4g}: the smoothed "
                               "threshold's grid, which goes ln n scales beyond all values, is too long",
                               "largest_threshold ends it")

    @property
    def top(self) -> int:
        """The largest threshold: `most`, and for a smoothed count ceil(b ln n) more, where nobody is expected."""
        if self.largest_threshold is not None:
            return self.largest_threshold
        if self.stop == "private":
            return self.most
        return self.most + math.ceil(self.noise_scale * math.log(self.people)) if self.people > 1 else self.most

    @cached_property
    def sensitivity(self) -> float:
        """How far one rewired protected vertex can move q at any threshold."""
        if self.stop == "private":
            return float(self.count_sensitivity)
        slope = min(1.0, steepest_win(self.noise_kind, self.noise_scale)) if self.smooth else 1.0
        return max(1.0, self.count_sensitivity * slope) + self.people * _ROUNDING

    @cached_property
    def _before(self) -> NDArray[np.float64]:
        """Q(y) for y = -most, ..., top: the chance that a value lower by y comes before the fake."""
        gaps = np.arange(-self.most, self.top + 1, dtype=float)
        return np.asarray(wins_over(self.noise_kind, gaps, self.noise_scale))

    def scores(self, values: NDArray[np.float64] | NDArray[np.int32]) -> NDArray[np.float64] | NDArray[np.int64]:
        """(top + 1,) q at every threshold; private.

        Args:
            values: f of the vertices in V minus N[T].
        """
        levels = np.clip(np.floor(values), 0, self.most).astype(np.int64)
        if self.stop == "private":
            reached = np.bincount(np.minimum(levels, self.top), minlength=self.top + 1)
            return np.abs(np.cumsum(reached[::-1])[::-1] - self.stopping_target)
        histogram = np.bincount(levels, minlength=self.most + 1)
        used = int(np.flatnonzero(histogram)[-1]) + 1 if levels.size else 1
        # Only the levels that occur: entry x is the sum of histogram[level] Q(x - level).
        reach = self._before[self.most - used + 1 :]
        return np.asarray(np.abs(np.convolve(reach, histogram[:used], mode="valid") - self.stopping_target))

    def law(self, values: NDArray[np.float64] | NDArray[np.int32]) -> NDArray[np.float64]:
        """(top + 1,) probabilities of the thresholds; private."""
        return exponential_law(-self.scores(values), self.epsilon, self.sensitivity)

    def draw(self, values: NDArray[np.float64] | NDArray[np.int32], noise: Noise, stream: Stream) -> int:
        """One threshold."""
        drawn = exponential_mechanism(-self.scores(values), self.epsilon, self.sensitivity, noise, stream=stream,
                                      line="thresholds")
        return int(drawn[0])

    def error(self, failure_probability: float) -> float:
        """How far above its least value q can be at the threshold that is drawn, but for a probability of failure.

        (2 sensitivity / epsilon) ln(|D| / failure_probability): spec targeted_search 4.
        """
        return selection_error(self.top + 1, self.epsilon, self.sensitivity, failure_probability)
