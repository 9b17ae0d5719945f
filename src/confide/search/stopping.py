"""The stop of the search for a new component: a fake target with a value that is drawn so that about K come before it.

The count that decides is over V minus N[T], never over the unexamined: those depend on earlier noise and on protected
edges, and are no output (spec targeted_search, erratum E3).

Source: spec targeted_search 3.2.

The count that sets the threshold must not include the unexamined: the printed rule's loss, computed.

A seed, a target t1 with no contacts, k' more hidden targets, and many strangers far from all of them. In one graph the
seed's contact i knows nobody else; in the other, i knows all k' others, whose statistic is then 1. If t1 is found first
*although its noisy value was low*, all others were lower still: that is e^(k'/b) times less likely where they have one
more. The printed second threshold counts the unexamined, and so how many strangers came before t1: it reveals how low
the value was. Counted over V minus N[T], the second threshold depends on the graph and on the released list alone.

Source: spec targeted_search 5, erratum E3 (Wu 2017, lines 6216-6245).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from confide.contract.checks import fraction, positive, whole
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise, Stream
from confide.privacy.selection import exponential_law, exponential_mechanism, selection_error
from confide.search.noise_kinds import NoiseKind, nodes_between, steepest_win, wins_over

__all__ = ["STOPS", "Stop", "ThresholdRule", "Witness", "limit_loss"]

# ---- stopping

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
        epsilon: cost of the draw, in nats.
        stopping_target: stopping target, K.
        people: number of people, n.
        most: largest value that f can have, public.
        count_sensitivity: how far one rewired vertex can move the count of f >= x over V minus N[T].
        smooth: whether at most `count_sensitivity` vertices move, each by at most 1, and the rewired one: then the
            smoothed count is less sensitive. Shown for common neighbours.
        noise_kind: kind of the noise that the fake competes in.
        noise_scale: scale b of that noise.
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
        """Score q at every threshold, shape (top + 1,); private.

        Args:
            values: values f of the vertices in V minus N[T].
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
        """Probabilities of the thresholds, shape (top + 1,); private."""
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


# ---- threshold witness

_Array = NDArray[np.float64]
_WIDE = 8.5  # standard deviations of a binomial that are summed


def _log_below(y: _Array) -> _Array:
    """ln P(noise <= y) of Laplace noise, in units of the scale."""
    tail = -np.abs(y) - math.log(2.0)
    return np.where(y < 0, tail, np.log1p(-np.exp(tail)))


@dataclass(frozen=True, kw_only=True)
class Witness:
    """The two graphs, and two calls with a private stop and Laplace noise.

    Args:
        bridged: number k' of hidden targets that i knows in the second graph.
        strangers: number N of protected vertices whose statistic is 0 throughout.
        epsilon: cost of one call, in nats.
        stopping_target: K.
        degree_bound: d > k'.
        printed: True for the printed rule (over the unexamined, sensitivity d + 1), False for the corrected one (over V
            minus N[T], sensitivity max(d - 1, 1)).
    """

    bridged: int = 40
    strangers: int = 100_000
    epsilon: float = 0.2
    stopping_target: int = 30_000
    degree_bound: int = 42
    printed: bool = True

    @property
    def scale(self) -> float:
        """Scale of the noise, b = 4 / epsilon."""
        return 4.0 / self.epsilon

    def _threshold(self, zeros: int, ones: int) -> _Array:
        """(d + 1,) logarithms of the law of a threshold that counts so many vertices of value 0 and 1."""
        counts = np.zeros(self.degree_bound + 1)
        counts[0], counts[1] = zeros + ones, ones
        sensitivity = self.degree_bound + 1 if self.printed else max(self.degree_bound - 1, 1)
        rate = self.epsilon / (4.0 * sensitivity)
        return np.asarray(scipy.special.log_softmax(-np.abs(counts - self.stopping_target) * rate))

    def log_law(self, known: bool) -> _Array:
        """Logarithm of the probability that t1 is found first and the second threshold is x, for every x, shape (d +
        1,).

        Args:
            known: whether i knows the others, as in the second graph.
        """
        b, value = self.scale, 1.0 if known else 0.0
        others = (0, self.bridged) if known else (self.bridged, 0)
        first = self._threshold(self.strangers + 1 + others[0], others[1])
        points = np.arange(self.degree_bound + 1) / b
        y, weights = nodes_between(np.concatenate([points, [value / b]]), self.bridged + 2)
        fake = np.logaddexp.reduce(first[:, None] + _log_below(y - points[:, None]), axis=0)
        # In logarithms: the chance that k' others are all lower leaves the doubles long before its ratio does.
        mass = np.log(weights / 2.0) - np.abs(y) + fake + self.bridged * _log_below(y - value / b)
        if not self.printed:
            return np.asarray(np.logaddexp.reduce(mass) + self._threshold(self.strangers + others[0], others[1]))
        seconds = np.array([self._second(float(at), *others) for at in y])
        return np.asarray(np.logaddexp.reduce(mass[:, None] + seconds, axis=0))

    def _second(self, y: float, zeros: int, ones: int) -> _Array:
        """ln of the printed second threshold's law, given t1's noisy value: strangers above it are examined."""
        lower, above = _log_below(np.array([y, -y])).tolist()
        mean = self.strangers * math.exp(above)
        wide = _WIDE * math.sqrt(mean * math.exp(lower)) + 40.0
        examined = np.arange(max(0, math.floor(mean - wide)), min(self.strangers, math.ceil(mean + wide)) + 1)
        steps = np.log((self.strangers - examined[:-1]) / (examined[:-1] + 1.0)) + above - lower
        chance = np.concatenate([[0.0], np.cumsum(steps)])  # binomial, by the ratios of neighbours
        chance -= np.logaddexp.reduce(chance)
        left = np.abs(self.strangers - examined + zeros + ones - self.stopping_target)
        # Only the score of 0 depends on who was examined: one logit against the others' total.
        rate = self.epsilon / (4.0 * (self.degree_bound + 1))
        counts = np.zeros(self.degree_bound)
        counts[0] = ones
        rest = -rate * np.abs(counts - self.stopping_target)
        total = np.logaddexp.reduce(rest)
        zero = np.logaddexp.reduce(chance + scipy.special.log_expit(-total - rate * left))
        other = np.logaddexp.reduce(chance + scipy.special.log_expit(total + rate * left))
        return np.concatenate([[zero], other + rest - total])

    @cached_property
    def loss(self) -> float:
        """The largest |log ratio| of (t1 first, x) between the two graphs.

        Example:
            >>> bad, good = Witness(printed=True), Witness(printed=False)
            >>> bad.loss > bad.promised, good.loss < good.promised
            (True, True)
        """
        return float(np.max(np.abs(self.log_law(False) - self.log_law(True))))

    @property
    def promised(self) -> float:
        """Promised loss of two calls, 2 epsilon."""
        return 2 * self.epsilon


def limit_loss(bridged: int, scale: float, at_most: float) -> float:
    """The same for a population without end: the log ratio of "t1 is first, with F(its noise) < at_most".

    It grows as `at_most` falls, and is k'/b = k' epsilon/4 from 1/2 down.

    Args:
        bridged: k' >= 1.
        scale: b > 0.
        at_most: in (0, 1).

    Raises:
        InvalidInput: a number out of range.

    Example:
        >>> round(limit_loss(40, 20.0, 0.7), 2), round(limit_loss(40, 20.0, 1e-3), 2)
        (0.96, 2.0)
    """
    others, shift = whole("bridged", bridged, at_least=1), 1.0 / positive("scale", scale)
    tail = fraction("at_most", at_most)
    if tail <= 0.5:
        return others * shift  # both noises lie in the exponential tail: every other one costs its own shift
    # In logarithms: the integrals of density(y) below(y)^k' and of density(y) below(y - 1/b)^k' up to the quantile.
    top, power = -math.log(2.0 * (1.0 - tail)), others + 1.0
    first = power * math.log(tail) - math.log(power)
    parts = [-power * math.log(2.0) - others * shift - math.log(power)]  # up to 0
    middle = min(top, shift)  # where the others' noise is still in its lower tail
    grown = (others - 1) * middle
    parts.append(parts[0] + math.log(power) + (
        grown + math.log(-math.expm1(-grown) / (others - 1)) if others > 1 else math.log(middle)))
    reached = math.log1p(-(1.0 - tail) * math.exp(min(shift, top)))
    above = power * (reached + math.log(2.0))
    if above > 0:  # where it is in the upper one
        parts.append(power * reached + math.log(-math.expm1(-above)) - math.log(power) - shift)
    return first - float(np.logaddexp.reduce(parts))
