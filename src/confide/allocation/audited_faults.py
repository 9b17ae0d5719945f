"""Mutants of allocation mechanisms. A mutant is a mechanism with one injected fault that implementations commonly have.
The audits must flag every mutant.

Each fault is written once, as a class that overrides a part common to all auctions. The function `faults` pairs each
fault with the class of the audited mechanism.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.allocation.billboards import Clearing, WelfareCertificate
from confide.allocation.duality import CertificatePlan
from confide.allocation.ending import ClearingPlan
from confide.allocation.market import Market
from confide.allocation.palloc import PAlloc
from confide.allocation.pmatch import PMatch
from confide.allocation.sinkhorn_match import SinkhornMatch
from confide.contract.mechanism import NoiseSource
from confide.privacy.events import Event
from confide.privacy.noise import ForcedNoise, Noise, Stream
from confide.privacy.noise.arguments import as_stream
from confide.privacy.primitives.sessions import NoiseSession
from confide.privacy.tree_blocks import participation, participation_squared
from confide.privacy.tree_counter import RunningCounter, TreeCounter

__all__ = ["faults"]

if TYPE_CHECKING:  # what they are put on top of
    from confide.allocation.market import Market as _Any
    from confide.allocation.pmatch import PMatch as _Matching
    from confide.allocation.sinkhorn_match import SinkhornMatch as _Scaling
else:
    _Any = _Matching = _Scaling = object


def faults(mechanism: Market) -> dict[str, type[Any]]:
    """The faults that a mechanism can have. The result maps the description of each fault to the class that adds the
    fault to the mechanism's class.

    Args:
        mechanism: market of eight bidders, from `tiny`, without a fault.
    """
    found: dict[str, type[Any]] = {
        "the number of bidders who want a good, published beside the billboard": Tells,
        "the number of bidders who want a good, in the certificate": CertifiesTheTruth,
        "the number of bidders who want a good, as an attribute of the billboard": NotesOnTheBillboard,
        "the number of bidders who want a good, in the shares' metadata": MarksTheShares}
    if isinstance(mechanism, SinkhornMatch):
        found["every round spends the budget of all rounds"] = FullBudgetEachRound
    if isinstance(mechanism, PMatch | PAlloc):
        found["counters advance only when somebody bids"] = SkipsIdleSteps
        if min(mechanism.bid_cap, mechanism.rounds) > 1:
            found["noise for bidders who bid only once"] = BidsOnce
        if mechanism.clearing is not None:
            found["the final clearing without noise"] = ClearsBare
        counter = mechanism.halting_plan.counter
        if counter is not None and counter.l1_sensitivity > 1 and not getattr(mechanism, "reports_are_free", False):
            found["noise of the reports for halting, for one report only"] = LeavesAReport
        if mechanism.certificate_plan is not None:
            found["surplus and welfare, each with the full budget"] = CertifiesTwice
    if isinstance(mechanism, PAlloc) and _copies_count(mechanism):
        found["cells with the sensitivity of separate copies of a good"] = ForgetsCopies
    if isinstance(mechanism, PMatch) and mechanism.clearing is None:
        # Beside a clearing, too many are admitted with probability gamma only.
        found["holders cut off to fit the supply, without a delta"] = CutsForFree
    return found


def _copies_count(mechanism: PAlloc) -> bool:
    """Whether several copies that one bidder holds in one cell of the final clearing raise the privacy cost of the
    clearing.
    """
    held = min(mechanism.largest_bundle, mechanism.bid_cap, mechanism.rounds)
    return mechanism.clearing is not None and mechanism.law == "gaussian" and mechanism.valuation.repeats and \
        held**2 > mechanism.largest_bundle


class Tells(_Matching):
    """Mutant: the outcome reveals how many bidders want at least one good."""

    def run(self, data: Any, noise: NoiseSource, **more: Any) -> Any:
        outcome = super().run(data, noise, **more)
        object.__setattr__(outcome, "told", _wanting(data))
        return outcome


class CertifiesTheTruth(_Matching):
    """Mutant: the certificate in the public manifest reveals how many bidders want at least one good."""

    def run(self, data: Any, noise: NoiseSource, **more: Any) -> Any:
        reported = float(_wanting(data))
        return replace(super().run(data, noise, **more), certificate=WelfareCertificate(
            ratio=0.0, welfare=reported, optimum=reported, failure_probability=self.failure_probability))


class NotesOnTheBillboard(_Matching):
    """Mutant: an extra attribute that is no field of the billboard reveals how many bidders want at least one good."""

    def run(self, data: Any, noise: NoiseSource, **more: Any) -> Any:
        outcome = super().run(data, noise, **more)
        object.__setattr__(outcome.billboard, "note", _wanting(data))
        return outcome


class MarksTheShares(_Matching):
    """Mutant: metadata of the whole table of shares reveals how many bidders want at least one good."""

    def run(self, data: Any, noise: NoiseSource, **more: Any) -> Any:
        outcome = super().run(data, noise, **more)
        return replace(outcome, shares=outcome.shares.replace_schema_metadata({"wanting": str(_wanting(data))}))


def _wanting(data: Any) -> int:
    """Number of bidders who want any good."""
    rows = np.asarray(data)
    return int(rows.reshape(len(rows), -1).any(axis=1).sum())


# ---- the counters


class TwiceTheBudget(_Any):
    """Mutant: the budget that the releases share is doubled, so their noise is too small and their charge too large."""

    @cached_property
    def budget(self) -> Fraction:
        return 2 * super().budget


class QuarterOfTheScale(_Matching):
    """Mutant: the counters' noise has a quarter of its scale."""

    @cached_property
    def counter(self) -> TreeCounter:
        sound = super().counter
        return replace(sound, scale=sound.scale / 4.0)


class NaturalLevels(_Matching):
    """Mutant: the "log T" in the paper's noise scale (Wu 2017) is read as the natural logarithm, in place of the number
    of levels of a binary tree.
    """

    @cached_property
    def counter(self) -> TreeCounter:
        sound = super().counter
        return replace(sound, scale=sound.scale * math.log(sound.horizon) / sound.levels)


class BidsOnce(_Matching):
    """Mutant: the noise of each counter suffices only for a bidder who bids once in all rounds."""

    @cached_property
    def counter(self) -> TreeCounter:
        sound, laplace = super().counter, self.law == "laplace"
        once = (participation if laplace else participation_squared)(
            sound.horizon, sound.arity, rounds=self.rounds, bids=1, add_remove=self.neighbours == "add_or_remove")
        share = once / sound.reach
        return replace(sound, scale=sound.scale * (share if laplace else math.sqrt(share)))


class SkipsIdleSteps(_Matching):
    """Mutant: the counters make no release when no bidder bids, so the times of the releases reveal the absence of
    bids.
    """

    @cached_property
    def counter(self) -> TreeCounter:
        sound = super().counter
        return _IdleCounter(**{one.name: getattr(sound, one.name) for one in fields(sound)})


class _IdleCounter(TreeCounter):
    """A counter that makes a release only if there is something to count."""

    def start_within(self, session: NoiseSession, part: str, stream: Stream) -> RunningCounter:
        return _Idle(self, session, as_stream(stream), part)


class _Idle(RunningCounter):
    def feed(self, increments: ArrayLike) -> NDArray[np.int64]:
        return super().feed(increments) if np.any(increments) else self.published


class DropsBlocks(_Matching):
    """Mutant: the noise that is drawn in blocks of many releases is never added."""

    @cached_property
    def counter(self) -> TreeCounter:
        sound = super().counter
        return _DroppingCounter(**{one.name: getattr(sound, one.name) for one in fields(sound)})


class _DroppingCounter(TreeCounter):
    def _draw(
        self, session: NoiseSession, size: tuple[int, ...], stream: Any, center: NDArray[np.int64] | None,
        part: str = "block",
    ) -> NDArray[np.int64]:
        drawn = super()._draw(session, size, stream, center, part)
        return drawn if center is not None else np.zeros_like(drawn)


# ---- what follows them


class LeavesAReport(_Matching):
    """Mutant: the noise of the counter of reports suffices only for a bidder who reports once in all rounds."""

    @cached_property
    def halting_plan(self) -> Any:
        return replace(super().halting_plan, l1_sensitivity=1)


class ForgetsCopies(_Matching):
    """Mutant: the sensitivity of the final clearing assumes that two copies of a good never lie in one cell."""

    @property
    def cell_sensitivities(self) -> tuple[int, int]:
        most, _ = super().cell_sensitivities
        return most, most


class _Bare(ClearingPlan):
    def clear(
        self, latest: NDArray[np.int32], ages: NDArray[np.int64], noise: Noise, stream: str = "clearing"
    ) -> Clearing:
        return super().clear(latest, ages, ForcedNoise([]), stream)


class ClearsBare(_Matching):
    """Mutant: the cells of the final clearing are published without noise."""

    @cached_property
    def clearing(self) -> ClearingPlan | None:
        sound = super().clearing
        return None if sound is None else _Bare(**{one.name: getattr(sound, one.name) for one in fields(sound)})


class CertifiesTwice(_Matching):
    """Mutant: surplus and welfare each use the whole budget that is meant for both sums together."""

    @cached_property
    def certificate_plan(self) -> CertificatePlan | None:
        sound = super().certificate_plan
        return None if sound is None else replace(sound, measure=replace(
            sound.measure, l1_sensitivity=max(1, sound.measure.l1_sensitivity // 2),
            squared_l2_sensitivity=max(1, sound.measure.squared_l2_sensitivity // 4)))


class CutsForFree(_Matching):
    """Mutant: holders beyond the supply are cut off, although the promise has no delta. The shares of other bidders
    reveal the position, in the order of bidders, from which on holders are cut off.
    """

    def cut_off(self, held: NDArray[Any]) -> NDArray[np.int64] | None:
        found = np.full(self.goods, self.people, dtype=np.int64)
        for good, copies in enumerate(self.copies):
            holders = np.flatnonzero(held == good)
            if len(holders) > copies:
                found[good] = holders[copies]
        return found


class CountsTwice(_Scaling):
    """Mutant: the requests for each good are counted a second time, and the second count costs as much privacy as the
    first.
    """

    def _spent(self) -> tuple[Event, ...]:
        sound = super()._spent()
        return (*sound, *(event for event in sound if event.label == "clearing"))


class FullBudgetEachRound(_Scaling):
    """Mutant: every round uses the whole budget of all rounds, although the costs of the rounds add up."""

    @cached_property
    def budgets(self) -> tuple[Fraction, ...]:
        return (sum(super().budgets, Fraction(0)),) * self.rounds
