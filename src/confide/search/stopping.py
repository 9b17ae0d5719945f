"""The stopping rule of the search for a new component, which uses a fake target. The value of the fake target is drawn
such that about K people come before the fake target, where K is the stopping target.

The value of the fake target follows from a count over V minus N[T], the vertices that are neither confirmed targets nor
their contacts. The count must never be over the unexamined vertices, since the unexamined vertices depend on earlier
noise and on protected edges, and are not released (spec targeted_search, erratum E3).

Source: spec targeted_search 3.2.

The module also computes the loss of the printed rule, which counts the unexamined vertices. Take a seed, a target t1
without contacts, k' more hidden targets, and many strangers who are far from the seed and the targets. In one graph the
seed's contact i knows none of the hidden targets. In the other graph i knows all k' hidden targets, and each of them
has the statistic
1. If t1 is found first *although its noisy value was low*, the noisy values of all other hidden targets were even
lower. At noise scale b, noisy values this low are e^(k'/b) times less likely in the graph in which the statistic of the
k' other targets is larger by one. By the printed rule, the second threshold follows from a count of the unexamined
vertices. The count depends on the number of strangers before t1, and this number reveals how low the noisy value of t1
was. Counted over V minus N[T], the second threshold depends on the graph and on the released list alone.

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
"""Largest effect of rounding on a smoothed count, for each vertex. A sum of at most 2^12 terms (a degree bound, or the
number of different values) has a relative error of 2^-41, each probability an error of 2^-48, and there are two sums.
"""


@dataclass(frozen=True, kw_only=True)
class ThresholdRule:
    """The rule by which the value of the fake target is drawn: an exponential mechanism on {0, ..., top}.

    The probability of x is proportional to exp(-epsilon q(x) / (2 sensitivity)) with the score q(x) = |count(x) - K|.
    For the stop "private", count(x) is the number of vertices with statistic f >= x. For the stop "smoothed", count(x)
    is the expected number of vertices that come before a fake target of value x.

    Args:
        stop: "private" or "smoothed".
        epsilon: privacy loss of the draw, in nats, > 0.
        stopping_target: stopping target K, the approximate number of people after which a search for a component gives
            up.
        people: number n of people.
        most: largest possible value of the statistic f, which is public.
        count_sensitivity: largest change, by one rewired vertex, of the number of vertices in V minus N[T] with f >= x.
        smooth: whether a rewiring changes the statistic of at most `count_sensitivity` vertices, besides the rewired
            vertex, by at most 1 each. In this case the smoothed count has a lower sensitivity, which is proved for
            common neighbours.
        noise_kind: kind of the noise on the values of the vertices and of the fake target.
        noise_scale: scale b of the noise on the values, > 0.
        largest_threshold: public largest threshold; None for the default that `top` describes.

    Raises:
        InvalidInput: too many possible thresholds for a draw.
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
                raise InvalidInput("largest_threshold", f"{self.largest_threshold:,} gives a grid that is too long",
                                   f"must be below {_MOST_GRID:,}")
            if self.most >= _MOST_GRID:
                raise InvalidInput("statistic", f"can be as large as {self.most:,}, so the threshold's grid is too "
                                                "long",
                                   'must be at most 2^22; largest_threshold limits the grid, and stop="public" needs '
                                   'no grid')
            raise InvalidInput("epsilon", f"is so small that noise has scale {self.noise_scale:,.4g}. The grid of the "
                               "smoothed threshold goes ln n scales beyond all values, and is too long",
                               "set largest_threshold, which limits the grid")

    @property
    def top(self) -> int:
        """The largest threshold: `largest_threshold` if it is given; otherwise `most`, and for a smoothed count ceil(b
        ln n) more. With this default, few vertices are expected before a fake target with the largest threshold.
        """
        if self.largest_threshold is not None:
            return self.largest_threshold
        if self.stop == "private":
            return self.most
        return self.most + math.ceil(self.noise_scale * math.log(self.people)) if self.people > 1 else self.most

    @cached_property
    def sensitivity(self) -> float:
        """Sensitivity of the score q: its largest change at any threshold by one rewired protected vertex."""
        if self.stop == "private":
            return float(self.count_sensitivity)
        slope = min(1.0, steepest_win(self.noise_kind, self.noise_scale)) if self.smooth else 1.0
        return max(1.0, self.count_sensitivity * slope) + self.people * _ROUNDING

    @cached_property
    def _before(self) -> NDArray[np.float64]:
        """The probabilities Q(y), for y = -most, ..., top, that a vertex comes before a fake target whose value is
        larger by y.
        """
        gaps = np.arange(-self.most, self.top + 1, dtype=float)
        return np.asarray(wins_over(self.noise_kind, gaps, self.noise_scale))

    def scores(self, values: NDArray[np.float64] | NDArray[np.int32]) -> NDArray[np.float64] | NDArray[np.int64]:
        """The private score q at every threshold, shape (top + 1,).

        Args:
            values: statistic f of each vertex in V minus N[T].
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
        """The private probabilities of the thresholds 0, ..., top, shape (top + 1,)."""
        return exponential_law(-self.scores(values), self.epsilon, self.sensitivity)

    def draw(self, values: NDArray[np.float64] | NDArray[np.int32], noise: Noise, stream: Stream) -> int:
        """Draw one threshold."""
        drawn = exponential_mechanism(-self.scores(values), self.epsilon, self.sensitivity, noise, stream=stream,
                                      line="thresholds")
        return int(drawn[0])

    def error(self, failure_probability: float) -> float:
        """A bound on the difference between the score q at the drawn threshold and the least score. The bound fails
        with at most the given probability.

        The bound is (2 sensitivity / epsilon) ln(|D| / failure_probability), where |D| is the number of thresholds:
        spec targeted_search 4.
        """
        return selection_error(self.top + 1, self.epsilon, self.sensitivity, failure_probability)


# ---- threshold witness

_Array = NDArray[np.float64]
_WIDE = 8.5  # standard deviations of a binomial that are summed


def _log_below(y: _Array) -> _Array:
    """ln P(noise <= y) for Laplace noise of scale 1."""
    tail = -np.abs(y) - math.log(2.0)
    return np.where(y < 0, tail, np.log1p(-np.exp(tail)))


@dataclass(frozen=True, kw_only=True)
class Witness:
    """The two neighbouring graphs on which the printed threshold rule leaks and the corrected rule does not, for two
    calls with a private stop and Laplace noise. The module's docstring describes the graphs.

    Args:
        bridged: number k' of hidden targets that the contact i knows in the second graph.
        strangers: number N of protected vertices with statistic 0 in both graphs.
        epsilon: privacy loss of one call, a search for a component, in nats.
        stopping_target: stopping target K, the approximate number of people after which a search for a component gives
            up.
        degree_bound: degree bound d > k'.
        printed: True for the printed rule, which counts over the unexamined vertices with sensitivity d + 1. False for
            the corrected rule, which counts over V minus N[T] with sensitivity max(d - 1, 1).
    """

    bridged: int = 40
    strangers: int = 100_000
    epsilon: float = 0.2
    stopping_target: int = 30_000
    degree_bound: int = 42
    printed: bool = True

    @property
    def scale(self) -> float:
        """Noise scale, b = 4 / epsilon."""
        return 4.0 / self.epsilon

    def _threshold(self, zeros: int, ones: int) -> _Array:
        """The logarithms of the law of a threshold that counts `zeros` vertices of value 0 and `ones` vertices of value
        1, shape (d + 1,).
        """
        counts = np.zeros(self.degree_bound + 1)
        counts[0], counts[1] = zeros + ones, ones
        sensitivity = self.degree_bound + 1 if self.printed else max(self.degree_bound - 1, 1)
        rate = self.epsilon / (4.0 * sensitivity)
        return np.asarray(scipy.special.log_softmax(-np.abs(counts - self.stopping_target) * rate))

    def log_law(self, known: bool) -> _Array:
        """The logarithm of the probability that the target t1 is found first and the threshold of the second call is x,
        for every x; shape (d + 1,).

        Args:
            known: whether the contact i knows the other hidden targets, as in the second graph.
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
        """The logarithms of the law of the printed second threshold, given the noisy value of t1. The law assumes that
        the strangers with larger noisy values than t1 have been examined.
        """
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
        """The largest |log ratio|, over all x, of the probabilities on the two graphs that the target t1 is found first
        and the threshold of the second call is x.

        Example:
            >>> bad, good = Witness(printed=True), Witness(printed=False)
            >>> bad.loss > bad.promised, good.loss < good.promised
            (True, True)
        """
        return float(np.max(np.abs(self.log_law(False) - self.log_law(True))))

    @property
    def promised(self) -> float:
        """Promised privacy loss of two calls, 2 epsilon, in nats."""
        return 2 * self.epsilon


def limit_loss(bridged: int, scale: float, at_most: float) -> float:
    """The log ratio of the probabilities of an event on the two graphs of `Witness`, in the limit of infinitely many
    strangers. In the event, t1 is found first and F(noise of t1) < `at_most`, where F is the distribution function of
    the noise.

    The log ratio grows as `at_most` falls. For `at_most` up to 1/2 the log ratio is k'/b = k' epsilon/4.

    Args:
        bridged: number k' >= 1 of hidden targets that the contact i knows in the second graph.
        scale: noise scale b > 0.
        at_most: bound on F(noise of t1), in (0, 1).

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
