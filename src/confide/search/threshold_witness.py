"""Why the count that sets the threshold must not run over the unexamined: the printed rule's loss, computed.

A seed, a target t1 with no contacts, k' more hidden targets, and many strangers far from all of them. In one graph the
seed's contact i knows nobody else; in the other, i knows all k' others, whose statistic is then 1. If t1 is found first
*although its noisy value was low*, all others were lower still: that is e^(k'/b) times less likely where they have one
more. The printed second threshold counts the unexamined, and so how many strangers came before t1: it tells how low the
value was. Counted over V minus N[T], the second threshold depends on the graph and on what was released alone.

Source: spec targeted_search 5, erratum E3 (Wu 2017, lines 6216-6245).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from confide.contract.checks import fraction, positive, whole
from confide.search.order_statistics import nodes_between

__all__ = ["Witness", "limit_loss"]

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
        bridged: k', hidden targets that i knows in the second graph.
        strangers: N, protected vertices whose statistic is 0 throughout.
        epsilon: of one call.
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
        """b = 4 / epsilon."""
        return 4.0 / self.epsilon

    def _threshold(self, zeros: int, ones: int) -> _Array:
        """(d + 1,) logarithms of the law of a threshold that counts so many vertices of value 0 and 1."""
        counts = np.zeros(self.degree_bound + 1)
        counts[0], counts[1] = zeros + ones, ones
        sensitivity = self.degree_bound + 1 if self.printed else max(self.degree_bound - 1, 1)
        rate = self.epsilon / (4.0 * sensitivity)
        return np.asarray(scipy.special.log_softmax(-np.abs(counts - self.stopping_target) * rate))

    def log_law(self, known: bool) -> _Array:
        """(d + 1,) ln of the probability that t1 is found first and the second threshold is x, for every x.

        Args:
            known: whether i knows the others: the second graph.
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
        """2 epsilon, for two calls."""
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
