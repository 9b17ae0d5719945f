"""Optimal composition: the exact trade-off between epsilon and delta for the worst mechanisms that fit a list of
events.

Binary randomised response is epsilon-DP, and dominates every epsilon-DP pair of laws. The worst total loss of many
adaptive pure mechanisms is exactly the total loss of a product of randomised responses. An (epsilon, delta)-DP
mechanism is dominated by a mechanism that reveals everything with probability delta, and is binary randomised response
with probability 1 - delta. A k-ary randomised response is counted with its own loss distribution.

Equal events give a binomial law of the loss; for k-ary randomised response the law is trinomial. For events with
different epsilons, the law of the total loss is computed while it has at most `ATOMS` values. For a law with more
values the calculator proves nothing and returns infinity. Probabilities are doubles with a proved relative error bound,
and losses are shifted up by their error bound. Every number that the calculator returns is therefore an upper bound.

Source: Kairouz, Oh and Viswanath 2015, Theorem 3.3; Murtagh and Vadhan 2018, Theorem 1.5; spec query_release A2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from confide.privacy.accounting.sums import Spend, as_written, ball, float_up, totals, written, written_up
from confide.privacy.events import ApproxEvent, BoundedRangeEvent, Event, PureEvent, RandomizedResponseEvent
from confide.privacy.losses import BITS, least, up
from confide.privacy.noise.balls import precision

__all__ = ["ATOMS", "RULES", "SOURCE", "USES", "delta", "epsilon"]

ATOMS = 2**20
"""Largest number of values that the law of the total loss may have."""

USES = 2**12
"""Largest number of uses of one k-ary randomised response with k > 2. The time to compute the law of k-ary randomised
response grows with the square of the number of uses.
"""

RULES: dict[type[Event], str] = {
    PureEvent: "exact: binary randomised response",
    BoundedRangeEvent: "as pure",
    RandomizedResponseEvent: "exact: law of the randomised response",
    ApproxEvent: "exact: randomised response, but with probability delta the record is shown",
}
"""Mapping from an event type to a short description of the composition rule that is proved for events of this type."""

SOURCE = "Kairouz, Oh and Viswanath 2015; Murtagh and Vadhan 2018"

_UNIT = 2.0**-53
_STEP = 16 * _UNIT  # of one factor or exponential: each is within 8 units in the last place
_LOST = 2.0**-1000  # more than any one atom loses by underflow
_FINE = 2**12  # ulps: how far above the least epsilon the answer may be, a relative 1e-12

_Array = NDArray[np.float64]


@dataclass(frozen=True)
class _Law:
    """The distribution of the total privacy loss.

    Args:
        losses: possible losses in nats, increasing.
        masses: probabilities of the losses under one of the two data sets.
        shift: bound on the excess of an exact loss over its double, in nats.
        relative: bound on the relative excess of an exact probability over its double.
        shown: -ln(1 - p), where p bounds the probability that some approximate event reveals everything.
    """

    losses: _Array
    masses: _Array
    shift: float
    relative: float
    shown: float

    def at(self, epsilon: float) -> float:
        """The delta of the total loss at this epsilon, rounded up."""
        below = epsilon - self.shift - abs(epsilon) * _UNIT
        start = int(np.searchsorted(self.losses, below, side="right"))
        parts = self.masses[start:] * -np.expm1(below - self.losses[start:])
        room = self.relative + (parts.size + 64) * _UNIT
        hockey = min(1.0, (float(np.sum(parts)) * (1.0 + room) + parts.size * _LOST) * (1.0 + 4 * _UNIT))
        if self.shown == 0.0:
            return hockey
        from flint import arb

        with precision(BITS):
            return min(1.0, up(1 - (-arb(self.shown)).exp() * (1 - arb(hockey))))

    def guess(self, delta: float) -> float:
        """An approximation of the epsilon at which `delta` is reached. Between two neighbouring losses delta has the
        form A - B e^epsilon, which is solved for epsilon.
        """
        delta = -math.expm1(math.log1p(-delta) + self.shown)
        low, high = 0, self.losses.size
        while low < high:
            middle = (low + high) // 2
            rest = slice(middle, None)
            if float(np.sum(self.masses[rest] * -np.expm1(self.losses[middle] - self.losses[rest]))) <= delta:
                high = middle
            else:
                low = middle + 1
        if low == self.losses.size:
            return float(self.losses[-1])
        rest = slice(low, None)
        base = float(self.losses[low])
        inside = float(np.sum(self.masses[rest])) - delta
        outside = float(np.sum(self.masses[rest] * np.exp(base - self.losses[rest])))
        return base + math.log(inside / outside) if inside > 0 and outside > 0 else base


def _binomial(step: float, count: int) -> tuple[_Array, _Array, float]:
    """Losses, masses and the relative error of the masses for `count` binary randomised responses.

    Ball arithmetic certifies the mass at the mode. The masses away from the mode follow by ratios of neighbouring
    masses, which decrease on both sides of the mode.
    """
    from flint import arb

    mode = min(count, int((count + 1) / (1.0 + math.exp(-step))))
    with precision(BITS):
        size = arb(step)
        log = (arb(count + 1).lgamma() - arb(mode + 1).lgamma() - arb(count - mode + 1).lgamma()
               - (count - mode) * size - count * (-size).exp().log1p())
        top = up(log.exp())
    rising = np.arange(mode, count, dtype=np.float64)
    falling = np.arange(mode, 0, -1, dtype=np.float64)
    # Where the odds overflow, the mode is the last value and nothing rises.
    above = np.cumprod((count - rising) / (rising + 1.0) * math.exp(step)) if rising.size else rising
    below = np.cumprod(falling / (count - falling + 1.0) * math.exp(-step))
    masses = top * np.concatenate((below[::-1], [1.0], above))
    losses = step * (2.0 * np.arange(count + 1, dtype=np.float64) - count)
    return losses, masses, (count + 4) * _STEP


def _trinomial(step: float, categories: int, count: int) -> tuple[_Array, _Array, float]:
    """Losses, masses and the relative error of the masses for `count` k-ary randomised responses with k > 2: the law on
    (-1, 0, 1), convolved with itself by repeated squaring.
    """
    scale = 1.0 + (categories - 1) * math.exp(-step)
    power = np.array([math.exp(-step), (categories - 2) * math.exp(-step), 1.0]) / scale
    masses = np.ones(1)
    error, margin, rest = 6 * _STEP, 0.0, count
    while rest:
        if rest & 1:
            masses, margin = np.convolve(masses, power), margin + error + power.size * _STEP
        rest >>= 1
        if rest:
            power, error = np.convolve(power, power), 2 * error + power.size * _STEP
    losses = step * np.arange(-count, count + 1, dtype=np.float64)
    return losses, masses, margin + _STEP


def _grouped(spend: Spend) -> dict[tuple[float, int], int]:
    """Mapping from (level, number of categories) to the number of uses. The level is a double that is not below the
    written decimal.
    """
    groups: dict[tuple[float, int], int] = {}
    for leaf, count in spend.items():
        match leaf:
            case RandomizedResponseEvent():
                key = (float_up(written(leaf.epsilon)), leaf.categories)
            case PureEvent() | BoundedRangeEvent() | ApproxEvent():
                key = (float_up(written(leaf.epsilon)), 2)
            case _:
                continue
        groups[key] = groups.get(key, 0) + count
    return dict(sorted(groups.items()))


def _within_limits(groups: dict[tuple[float, int], int]) -> bool:
    atoms = 1
    for (_, categories), count in groups.items():
        atoms *= (count if categories == 2 else 2 * count) + 1
        if atoms > ATOMS or (categories > 2 and count > USES):
            return False
    return True


def _law(spend: Spend) -> _Law | None:
    """The law of the total loss; None for a list beyond the limits `ATOMS` and `USES`."""
    groups = _grouped(spend)
    if not _within_limits(groups):
        return None
    shown = 0.0
    if totals(spend).delta:
        with precision(BITS):
            shown = up(sum((-count * (-ball(written(leaf.delta))).log1p() for leaf, count in spend.items()
                            if isinstance(leaf, ApproxEvent)), start=ball(written(0.0))))
    return _product(tuple(groups.items()), shown)


@lru_cache(maxsize=4)
def _product(groups: tuple[tuple[tuple[float, int], int], ...], shown: float) -> _Law:
    losses, masses, relative, reach = np.zeros(1), np.ones(1), 0.0, 0.0
    for (step, categories), count in groups:
        part = _binomial(step, count) if categories == 2 else _trinomial(step, categories, count)
        losses = np.add.outer(losses, part[0]).ravel()
        masses = np.multiply.outer(masses, part[1]).ravel()
        relative, reach = relative + part[2] + _STEP, reach + count * step
    order = np.argsort(losses, kind="stable")
    # Relative errors of factors add up, and their products stay below a tenth of the margin.
    return _Law(losses[order], masses[order], (len(groups) + 2) * reach * 4 * _UNIT, 1.1 * relative, shown)


def epsilon(spend: Spend, delta: float) -> float:
    """The least epsilon at `delta` by the law of the total loss, rounded up; infinity beyond the limits `ATOMS` and
    `USES`.

    Example:
        >>> from confide.contract import Relation
        >>> from confide.privacy.accounting.sums import counted
        >>> uses = counted([PureEvent(epsilon=0.05, neighbours=Relation.REPLACE)] * 200)
        >>> round(epsilon(uses, 1e-6), 4)
        3.2763
    """
    sums = totals(spend)
    basic = written_up(sums.pure + sums.approx)
    if written(delta) < sums.delta:
        return math.inf
    if not spend or delta == 0.0:
        return basic
    law = _law(spend)
    if law is None:
        return math.inf
    if law.at(0.0) <= delta:
        return 0.0
    found = as_written(least(lambda value: law.at(value) <= delta, max(0.0, law.guess(delta)), ulps=_FINE))
    return min(basic, found)


def delta(spend: Spend, epsilon: float) -> float:
    """The delta at `epsilon` by the law of the total loss, rounded up; 1 beyond the limits `ATOMS` and `USES`."""
    sums = totals(spend)
    if written(epsilon) >= sums.pure + sums.approx and not sums.delta:
        return 0.0
    law = _law(spend)
    return law.at(epsilon) if law is not None else 1.0
