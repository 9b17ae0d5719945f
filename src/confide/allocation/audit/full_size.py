"""One run of a market at a campaign's own size, and what it tells of single bidders there.

Tiny twins show what a rule costs; what happens among many bidders only, they cannot show. Here bidders, noise and
rounds are the campaign's own, and goods as many as a record of bearable length has. One run is listened to, and the
exact loss along its record is computed for some bidders from their own walks: had their rows been others, or none. How
much of the promise that reaches says how much too little noise would show.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.allocation.audit.behaviour import made_up, scaled
from confide.allocation.audit.loss import promise, recorded
from confide.allocation.market import Market
from confide.allocation.palloc import PAlloc
from confide.allocation.pmatch import PMatch
from confide.audit import AuditRow, Concern, Control, DampedNoise, mixed
from confide.audit.history_loss import promised_parameter
from confide.contract.mechanism import NoiseSource
from confide.privacy.losses import ZCDP
from confide.privacy.noise import Noise
from confide.privacy.noise.base import as_noise

if TYPE_CHECKING:  # what a fault is put on top of
    from confide.allocation.market import Market as _Market
else:
    _Market = object

__all__ = ["full_size", "full_size_row"]

_PROMISE = "privacy: at its own size, what a run tells of single bidders, as a share of what is promised"
_BIDDERS = 12
_GOODS = 8  # at least, where there are so many
_NUMBERS = 100_000  # true sums of one record at most
_PLANTED = 0.05  # of the noise, or half of what the run would just show


def full_size(mechanism: Market, seed: int = 0) -> tuple[list[AuditRow], list[Control]]:
    """The run, and the same with noise that is too small at this size alone: it must be flagged.

    Args:
        mechanism: of a campaign.
        seed: of bidders and noise.
    """
    row = full_size_row(mechanism, seed)
    if row.flagged or not row.measured:
        return [row], []
    share = float(row.measured)
    shown = share**0.5 if isinstance(promise(mechanism), ZCDP) else share
    factor = min(_PLANTED, shown / 2)
    broken = full_size_row(mixed(mechanism, _drawn_at(factor)), seed)
    return [row], [Control(row.promise, f"{factor:.2g} of the noise, at this size alone", broken.flagged)]


def full_size_row(mechanism: Market, seed: int = 0) -> AuditRow:
    """The largest loss of some bidders along one run, as a share of what is promised.

    Args:
        mechanism: of a campaign, sound or broken.
        seed: of bidders and noise.

    Example:
        >>> from confide.allocation import SinkhornMatch
        >>> row = full_size_row(SinkhornMatch(people=600, goods=3, supply=150, epsilon=2.0))
        >>> row.verdict.value, 0 < row.measured < 1
        ('kept', True)
    """
    own = _bearable(scaled(mechanism))
    if _numbers(own) > 4 * _NUMBERS:
        return AuditRow.at_most(_PROMISE, 1.0, 0.0, f"not listened to: a run makes {_numbers(own):,} sums",
                                vacuous=True, unit="times the promise", concern=Concern.PRIVACY)
    values = made_up(own, seed)
    run = recorded(own, values, Noise.simulated(seed))
    claim = promise(own)
    worst, most = 0.0, max(1, min(_BIDDERS, _NUMBERS // max(1, _numbers(own))))
    places = np.unique(np.linspace(0, own.people - 1, most).astype(np.int64)).tolist()
    for index in places:
        for other in _others(own, values, index):
            worst = max(worst, run.loss(index, other).most)
    promised = promised_parameter(claim)
    share = worst / promised
    shown = share**0.5 if isinstance(claim, ZCDP) else share
    return AuditRow.at_most(
        _PROMISE, 1.0, share,
        f"one run of {own.people:,} made-up bidders and {own.goods:,} goods, {len(places)} of them with other rows; "
        "loss exact along its record", note=f"noise would be flagged below {shown:.2g} of its scale",
        vacuous=not share, unit="times the promise", concern=Concern.PRIVACY)


def _others(own: Market, values: Any, index: int) -> list[Any]:
    """Other rows of a bidder: none at all, and where rows are replaced her own turned around."""
    absent = np.zeros_like(values[index])
    return [absent] if own.neighbours == "add_remove" else [absent, values[index][::-1]]


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
