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
from numpy.typing import NDArray
from scipy.stats import binom

from confide.privacy.selection import exponential_law
from confide.search.contests import below, density, nodes_between

__all__ = ["Witness", "limit_loss"]

_Array = NDArray[np.float64]
_WIDE = 8.5  # standard deviations of a binomial that are summed


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
        """(d + 1,) law of a threshold that counts so many vertices of value 0 and 1."""
        counts = np.zeros(self.degree_bound + 1)
        counts[0], counts[1] = zeros + ones, ones
        sensitivity = self.degree_bound + 1 if self.printed else max(self.degree_bound - 1, 1)
        return exponential_law(-np.abs(counts - self.stopping_target), self.epsilon / 2, float(sensitivity))

    def law(self, known: bool) -> _Array:
        """(d + 1,) probability that t1 is found first and the second threshold is x, for every x.

        Args:
            known: whether i knows the others: the second graph.
        """
        b, value = self.scale, 1.0 if known else 0.0
        others = (0, self.bridged) if known else (self.bridged, 0)
        first = self._threshold(self.strangers + 1 + others[0], others[1])
        points = np.arange(self.degree_bound + 1) / b
        y, weights = nodes_between(np.concatenate([points, [value / b]]), self.bridged + 2)
        fake = np.sum(first[:, None] * below(y - points[:, None], "laplace"), axis=0)
        mass = weights * density(y, "laplace") * fake * below(y - value / b, "laplace") ** self.bridged
        if not self.printed:
            return np.asarray(mass.sum() * self._threshold(self.strangers + others[0], others[1]))
        return np.asarray(sum(part * self._second(float(at), *others) for part, at in zip(mass, y, strict=True)))

    def _second(self, y: float, zeros: int, ones: int) -> _Array:
        """The printed second threshold's law, given t1's noisy value: strangers above it are examined."""
        above = float(np.exp(-y) / 2) if y >= 0 else 1.0 - float(np.exp(y) / 2)
        mean = self.strangers * above
        wide = _WIDE * math.sqrt(mean * (1 - above)) + 40.0
        examined = np.arange(max(0, math.floor(mean - wide)), min(self.strangers, math.ceil(mean + wide)) + 1)
        chance = binom.pmf(examined, self.strangers, above)
        left = np.abs(self.strangers - examined + zeros + ones - self.stopping_target)
        # Only the score of 0 depends on who was examined: one logit against the others' total.
        rate = self.epsilon / (4.0 * (self.degree_bound + 1))
        counts = np.zeros(self.degree_bound)
        counts[0] = ones
        rest = -rate * np.abs(counts - self.stopping_target)
        top = rest.max()
        total = top + math.log(np.exp(rest - top).sum())
        zero = float(chance @ (1.0 / (1.0 + np.exp(np.minimum(total + rate * left, 700.0)))))
        other = float(chance @ (1.0 / (1.0 + np.exp(np.minimum(-total - rate * left, 700.0)))))
        return np.concatenate([[zero], other * np.exp(rest - total)])

    @cached_property
    def loss(self) -> float:
        """The largest |log ratio| of (t1 first, x) between the two graphs.

        Example:
            >>> bad, good = Witness(printed=True), Witness(printed=False)
            >>> bad.loss > bad.promised, good.loss < good.promised
            (True, True)
        """
        return float(np.max(np.abs(np.log(self.law(False)) - np.log(self.law(True)))))

    @property
    def promised(self) -> float:
        """2 epsilon, for two calls."""
        return 2 * self.epsilon


def limit_loss(bridged: int, scale: float, at_most: float) -> float:
    """The same for a population without end: the log ratio of "t1 is first, with F(its noise) < at_most".

    Falling to 0, `at_most` sends it to k'/b = k' epsilon/4.

    Args:
        bridged: k'.
        scale: b.
        at_most: in (0, 1).

    Example:
        >>> round(limit_loss(40, 20.0, 0.7), 2), round(limit_loss(40, 20.0, 1e-3), 2)
        (0.96, 2.0)
    """
    top = math.log(2 * at_most) if at_most <= 0.5 else -math.log(2 * (1 - at_most))
    out = []
    for value in (0.0, 1.0 / scale):
        kinks = np.array([min(top, 0.0), top, min(top, value)])
        y, weights = nodes_between(kinks, 1)
        y, weights = y[y < top], weights[y < top]
        out.append(float(np.sum(weights * density(y, "laplace") * below(y - value, "laplace") ** bridged)))
    return math.log(out[0] / out[1])
