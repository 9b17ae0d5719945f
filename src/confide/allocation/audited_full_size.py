"""One run of a market at a campaign's own size, and what it tells of single bidders there.

Tiny twins show what a rule costs; what happens among many bidders only, they cannot show. Here bidders, noise and
rounds are the campaign's own, and goods as many as a record of bearable length has. One run is listened to, and the
exact loss along its record is computed for some bidders from their own walks: had their rows been others, or none. How
much of the promise that reaches says how much too little noise would show.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.allocation.audited_behaviour import made_up, scaled
from confide.allocation.audited_losses import promise, recorded
from confide.allocation.market import Market
from confide.allocation.palloc import PAlloc
from confide.allocation.pmatch import PMatch
from confide.audit import AuditRow, Concern, DampedNoise, FullSize, Loss, Verdict, exceeds, inject_fault
from confide.audit.figures import level_of, parameter_unit
from confide.audit.history_loss import promised_parameter, spent
from confide.contract.guarantees import Audience, Privacy
from confide.contract.mechanism import NoiseSource
from confide.privacy.events import PureEvent, ZCDPEvent
from confide.privacy.losses import ZCDP, ApproxDP
from confide.privacy.noise import Noise
from confide.privacy.noise.base import as_noise

if TYPE_CHECKING:  # what a fault is put on top of
    from confide.allocation.market import Market as _Market
else:
    _Market = object

__all__ = ["full_size", "full_size_row"]

_PROMISE = "privacy: at its own size, what a run tells others of single bidders"
_BIDDERS = 12
_GOODS = 8  # at least, where there are so many
_NUMBERS = 100_000  # true sums of one record at most
_PLANTED = (0.05, 0.002)  # of the noise: each is one more run


def full_size(mechanism: Market, seed: int = 0) -> FullSize:
    """The run, and the same with noise that is too small at this size alone.

    Args:
        mechanism: of a campaign.
        seed: of bidders and noise.
    """
    return FullSize(sound=mechanism, rows=lambda it: [full_size_row(it, seed)], factors=_PLANTED,
                    damped=lambda factor: inject_fault(mechanism, _drawn_at(factor)))


def full_size_row(mechanism: Market, seed: int = 0) -> AuditRow:
    """The largest loss of some bidders along one run, against what is promised of all that others see.

    Args:
        mechanism: of a campaign, sound or broken.
        seed: of bidders and noise.

    Example:
        >>> from confide.allocation import SinkhornMatch
        >>> row = full_size_row(SinkhornMatch(people=600, goods=3, supply=150, epsilon=2.0))
        >>> row.verdict.value, row.promised, 0 < row.measured < 2, len(row.holds), row.among
        ('kept', 2.0, True, 1, '')
    """
    own = _bearable(scaled(mechanism))
    stated = _stated(own)
    if _numbers(own) > 4 * _NUMBERS:
        return AuditRow.at_most(_PROMISE, level_of(stated), 0.0, f"not listened to: a run makes {_numbers(own):,} sums",
                                vacuous=True, unit=parameter_unit(stated.loss), concern=Concern.PRIVACY)
    values = made_up(own, seed)
    run = recorded(own, values, Noise.simulated(seed))
    claim = promise(own)
    worst, most = 0.0, max(1, min(_BIDDERS, _NUMBERS // max(1, _numbers(own))))
    places = np.unique(np.linspace(0, own.people - 1, most).astype(np.int64)).tolist()
    for index in places:
        for other in _others(own, values, index):
            worst = max(worst, run.loss(index, other).most)
    share = worst / promised_parameter(claim)
    shown = share**0.5 if isinstance(claim, ZCDP) else share
    measured = _in_the_number_of(stated, own, worst)
    row = AuditRow.of_privacy(
        stated, measured,
        f"one run of {own.people:,} made-up bidders and {own.goods:,} goods, {len(places)} of them with other rows; "
        "loss exact along its record", named=_PROMISE, note=f"noise would be flagged below {shown:.2g} of its scale",
        flagged=exceeds(share, 1.0) or exceeds(measured, level_of(stated)))
    if not share:
        return replace(row, verdict=Verdict.VACUOUS)
    if own.people < mechanism.people:
        return row.smaller(f"{own.people:,} bidders")
    row = row.holding(_stated(mechanism))
    return row.smaller(f"{own.goods:,} of the goods" if own.goods < mechanism.goods else "")


def _stated(own: Market) -> Privacy:
    """What is promised of everything that others see."""
    return next(each for each in own.guarantees().privacy if each.claimable and each.audience is Audience.OTHERS)


def _in_the_number_of(stated: Privacy, own: Market, loss: float) -> float:
    """A loss in the parameter of what all releases cost, in the promise's own; truncation has used up a part of its
    delta.
    """
    if not isinstance(stated.loss, Loss):
        return math.inf
    if not loss or math.isinf(loss):
        return loss
    event = ZCDPEvent(rho=loss, neighbours=own.relation) if isinstance(promise(own), ZCDP) else \
        PureEvent(epsilon=loss, neighbours=own.relation)
    known = stated.loss
    if isinstance(known, ApproxDP):
        known = replace(known, delta=known.delta - own.overflow_delta)
    return spent([event], known)


def _others(own: Market, values: Any, index: int) -> list[Any]:
    """Other rows of a bidder: none at all, and where rows are replaced her own turned around."""
    absent = np.zeros_like(values[index])
    return [absent] if own.neighbours == "add_or_remove" else [absent, values[index][::-1]]


def _numbers(own: Market) -> int:
    """How many sums a run of an auction may release; of others few."""
    return own.counter.counters * own.counter.horizon if isinstance(own, PMatch | PAlloc) else 0


def _bearable(own: Market) -> Market:
    """With fewer goods, where a record would be very long."""
    numbers = _numbers(own)
    if numbers <= _NUMBERS:
        return own
    goods = max(_GOODS, own.largest_bundle if isinstance(own, PAlloc) else 1, own.goods * _NUMBERS // numbers)
    return own if goods >= own.goods else replace(own, goods=goods, supply=tuple(own.copies[:goods]))


def _drawn_at(factor: float) -> type[Any]:
    """A market that draws noise at a part of its scale."""

    class Part(_Market):
        def run(self, data: Any, noise: NoiseSource, **rest: Any) -> Any:
            return super().run(data, DampedNoise(as_noise(noise), factor), **rest)  # type: ignore[safe-super]

    return Part
