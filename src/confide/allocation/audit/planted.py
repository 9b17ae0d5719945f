"""Mechanisms broken on purpose, in the ways in which they are usually broken: the audits must flag each.

A fault is written once, over what all auctions share, and put on top of the class of the one that is audited.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.allocation.billboards import Clearing
from confide.allocation.duality import CertificatePlan
from confide.allocation.market import Market
from confide.allocation.palloc import PAlloc
from confide.allocation.pmatch import PMatch
from confide.allocation.reclearing import ClearingPlan
from confide.allocation.sinkhorn_match import SinkhornMatch
from confide.audit import DampedNoise
from confide.contract.mechanism import NoiseSource
from confide.privacy.events import Event
from confide.privacy.noise import ForcedNoise, Noise, Stream
from confide.privacy.noise.arguments import as_stream
from confide.privacy.tree_counter import RunningCounter, TreeCounter

__all__ = ["Fault", "broken", "faults"]

if TYPE_CHECKING:  # what they are put on top of
    from confide.allocation.pmatch import PMatch as _Matching
    from confide.allocation.sinkhorn_match import SinkhornMatch as _Scaling
else:
    _Matching = _Scaling = object


class Fault(NamedTuple):
    """One way to break a mechanism.

    Args:
        says: what was broken.
        code: what is put on top of its class; None for nothing.
        noise: what its noise is replaced by; None for nothing.
    """

    says: str
    code: type[Any] | None = None
    noise: Callable[[Noise], Noise] | None = None


def broken(mechanism: Market, code: type[Any]) -> Market:
    """A mechanism with the same parameters and a fault in its code.

    Args:
        mechanism: sound.
        code: the fault.
    """
    kind = type(code.__name__, (code, type(mechanism)), {})
    made: Market = kind(**{one.name: getattr(mechanism, one.name) for one in fields(mechanism)})
    return made


def faults(mechanism: Market) -> list[Fault]:
    """Those that a mechanism can have.

    Args:
        mechanism: a tiny, sound one.
    """
    found = [Fault("a thousandth of the noise", noise=lambda noise: DampedNoise(noise, 0.001)),
             Fault("noise multiplied by 0.2", noise=lambda noise: DampedNoise(noise, 0.2)),
             Fault("the number of those who want anything, told beside the billboard", Tells)]
    if isinstance(mechanism, SinkhornMatch):
        found.append(Fault("every round takes the budget of all", FullBudgetEachRound))
    if isinstance(mechanism, PMatch | PAlloc):
        found.append(Fault("counters tick only when somebody bids", SkipsIdleSteps))
        if min(mechanism.bid_cap, mechanism.rounds) > 1:
            found.append(Fault("noise as if a bidder bids once", BidsOnce))
        if mechanism.clearing is not None:
            found.append(Fault("the final clearing without noise", ClearsBare))
        counter = mechanism.halting_plan.counter
        if counter is not None and counter.distance > 1 and not getattr(mechanism, "reports_are_free", False):
            found.append(Fault("reports to halt, counted as if there were one", LeavesAReport))
        if mechanism.certificate_plan is not None:
            found.append(Fault("surplus and welfare at the full budget each", CertifiesTwice))
    if isinstance(mechanism, PMatch) and mechanism.clearing is None:
        # Beside a clearing, too many are admitted with probability gamma only.
        found.append(Fault("holders cut off to fit, without a delta", CutsForFree))
    return found


class Tells(_Matching):
    """It tells how many want anything."""

    def run(self, data: Any, noise: NoiseSource, **more: Any) -> Any:
        outcome = super().run(data, noise, **more)
        object.__setattr__(outcome, "told", int(np.asarray(data).any(axis=1).sum()))
        return outcome


# ---- the counters


class QuarterOfTheScale(_Matching):
    """Four times too little noise."""

    @cached_property
    def counter(self) -> TreeCounter:
        sound = super().counter
        return replace(sound, scale=sound.scale / 4.0)


class NaturalLevels(_Matching):
    """The printed "log T" read as the natural logarithm, in place of the levels of a binary tree."""

    @cached_property
    def counter(self) -> TreeCounter:
        sound = super().counter
        return replace(sound, scale=sound.scale * math.log(sound.horizon) / sound.levels)


class BidsOnce(_Matching):
    """Each counter's noise is that of a bidder who bids once."""

    @cached_property
    def counter(self) -> TreeCounter:
        sound, once = super().counter, super(BidsOnce, replace(self, bid_cap=1)).counter
        return replace(sound, scale=once.scale)


class SkipsIdleSteps(_Matching):
    """The clock of the counters tells when nobody bid."""

    @cached_property
    def counter(self) -> TreeCounter:
        sound = super().counter
        return _IdleCounter(**{one.name: getattr(sound, one.name) for one in fields(sound)})


class _IdleCounter(TreeCounter):
    """A counter whose steps depend on what is counted."""

    def start(self, noise: Noise, stream: Stream = "tree_counter") -> RunningCounter:
        return _Idle(self, noise, as_stream(stream))


class _Idle(RunningCounter):
    def feed(self, increments: ArrayLike) -> NDArray[np.int64]:
        return super().feed(increments) if np.any(increments) else self.published


# ---- what follows them


class LeavesAReport(_Matching):
    """The counter of reports believes that a bidder reports once in all."""

    @cached_property
    def halting_plan(self) -> Any:
        return replace(super().halting_plan, distance=1)


class _Bare(ClearingPlan):
    def clear(
        self, latest: NDArray[np.int32], ages: NDArray[np.int64], noise: Noise, stream: str = "clearing"
    ) -> Clearing:
        return super().clear(latest, ages, ForcedNoise([]), stream)


class ClearsBare(_Matching):
    """True cells on the billboard."""

    @cached_property
    def clearing(self) -> ClearingPlan | None:
        sound = super().clearing
        return None if sound is None else _Bare(**{one.name: getattr(sound, one.name) for one in fields(sound)})


class CertifiesTwice(_Matching):
    """Surplus and welfare are two releases of a budget that is meant for both."""

    @cached_property
    def certificate_plan(self) -> CertificatePlan | None:
        sound = super().certificate_plan
        return None if sound is None else replace(sound, measure=replace(
            sound.measure, distance=max(1, sound.measure.distance // 2), squared=max(1, sound.measure.squared // 4)))


class CutsForFree(_Matching):
    """The supply is kept by cutting off holders, which others' shares then tell of, under a pure label."""

    def cut_off(self, held: NDArray[Any]) -> NDArray[np.int64] | None:
        found = np.full(self.goods, self.people, dtype=np.int64)
        for good, copies in enumerate(self.copies):
            holders = np.flatnonzero(held == good)
            if len(holders) > copies:
                found[good] = holders[copies]
        return found


class CountsTwice(_Scaling):
    """Those who ask for each good are counted a second time, at the same cost."""

    def _spent(self) -> tuple[Event, ...]:
        sound = super()._spent()
        return (*sound, *(event for event in sound if event.label == "clearing"))


class FullBudgetEachRound(_Scaling):
    """Composition forgotten."""

    @cached_property
    def budgets(self) -> tuple[Fraction, ...]:
        return (sum(super().budgets, Fraction(0)),) * self.rounds
