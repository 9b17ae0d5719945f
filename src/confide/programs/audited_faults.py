"""Mechanisms with injected faults, of the kinds that occur in practice. The audits must flag each faulty mechanism.

Each fault is a mixin class. The function `inject_fault` combines the mixin with the class of the audited mechanism. The
flags and stops of some faults are explained in `confide.programs.flags`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from confide.audit import DampedNoise, inject_fault
from confide.contract.mechanism import NoiseSource
from confide.privacy.events import ApproxEvent, Event
from confide.privacy.noise import Noise
from confide.privacy.noise.arguments import Integers, Stream, StreamName
from confide.privacy.noise.given_noise import GivenNoise
from confide.privacy.public_randomness import draw_public_seed
from confide.programs.dual_dynamics import Descent, Schedule
from confide.programs.dude import Dude
from confide.programs.flags import Flags
from confide.programs.grids import LOAD_UNIT
from confide.programs.guarantees import PathCertificate, certificate
from confide.programs.program import Program
from confide.programs.tighten_and_audit import TightenAndAudit

__all__ = [
    "AcceptsAnything", "AcceptsTheTruth", "AveragesOverTheBurnIn", "ChargesTwice", "ComplainsInVain", "Counts",
    "EarlyCoins", "ForgetsTheDeviation", "IgnoresStops", "KeepsNothingBack", "NeverRises", "NoLevelNoise",
    "OneContribution", "OneReleaseEachRound", "QuarterOfTheQueries", "ReusesNoise", "SigmaFromTheData",
    "StepFromTheData", "StopsAtBeta", "StopsWhenNobodyAsks", "TellsTheLoad", "WelfareInTheCertificate", "counting",
    "faults",
]

_TIMES = 3  # what a response beyond its bounds is counted
_CONTENT = 1e6  # of alpha, at which everybody is satisfied
_SEEN = 1.02  # times a charge: a loss above it shows

if TYPE_CHECKING:  # what they are put on top of
    from confide.programs.dude import Dude as _Any
    from confide.programs.program import Program as _Program
    from confide.programs.round_dude import RoundDude as _Flags
    from confide.programs.tight_dude import TightDude as _Tight
    from confide.programs.tighten_and_audit import TightenAndAudit as _Audited
    from confide.programs.true_dude import TrueDude as _True
else:
    _Any = _Flags = _Tight = _True = _Audited = _Program = object


def faults(mechanism: Dude, attained: float = 1.0) -> dict[str, Dude]:
    """Mapping from the description of a privacy fault to the mechanism with that fault. Only faults that a
    fixed-transcript audit of the mechanism can show are included.

    Args:
        mechanism: copy of a campaign's mechanism for six people, made by `tiny`, without injected faults.
        attained: largest l2 distance by which neighbours change a load, as a share of the l2 sensitivity, from
            `audited.attained`. Faults whose effect is too small to be seen at this distance are left out.
    """
    codes: dict[str, type[Any]] = {
        "the true load beside the billboard": TellsTheLoad, "the welfare in the certificate": WelfareInTheCertificate,
        "a sensitivity computed from the actual records": SigmaFromTheData}
    one, rounds = mechanism.program.constants, mechanism.schedule.total
    if attained * math.sqrt(rounds) > _SEEN:
        codes["noise of a round with the budget of all rounds"] = OneReleaseEachRound
    if rounds > 1:
        codes |= {"a step that depends on the records": StepFromTheData,
                  "a path that stops when nobody asks for anything": StopsWhenNobodyAsks}
    twice = one.squared_l2_sensitivity("replace") / one.squared_l2_sensitivity("add_or_remove")
    if mechanism.neighbours == "replace" and attained * math.sqrt(twice) > _SEEN:
        codes["sensitivity of one contribution instead of two"] = OneContribution
    if isinstance(mechanism, TightenAndAudit):
        codes["an audit that uses the true load"] = AcceptsTheTruth
    found = {says: inject_fault(mechanism, code) for says, code in codes.items()}
    if attained * _TIMES > _SEEN:
        found["contributions beyond their bounds counted"] = counting(mechanism)
    return found


def counting(mechanism: Dude) -> Dude:
    """The mechanism with a program that counts every response three times.

    Args:
        mechanism: a mechanism without faults.
    """
    return inject_fault(mechanism, _Same, program=inject_fault(mechanism.program, Counts))


class _Same:
    """Marker class that changes nothing."""


# ---- noise


class OneReleaseEachRound(_Any):
    """Fault: the composition of rounds is ignored, and each round has noise as if no other round existed."""

    @cached_property
    def schedule(self) -> Schedule:
        sound = super().schedule
        return _Single(**{one.name: getattr(sound, one.name) for one in fields(sound)})


class _Single(Schedule):
    def round_noise_std(self, t: int) -> float:
        return super().round_noise_std(t) / math.sqrt(self.total)


class OneContribution(_Any):
    """Fault: the noise for a replaced record is calibrated as if the record were left out."""

    @cached_property
    def squared_l2_sensitivity(self) -> Fraction:
        return self.program.constants.squared_l2_sensitivity("add_or_remove")


class SigmaFromTheData(_Any):
    """Fault: the sensitivity is the largest contribution in the data in place of the largest possible contribution."""

    def run(self, data: Any, noise: NoiseSource, **more: Any) -> Any:
        zero = np.zeros(self.program.rows, dtype=np.int64)
        records = self.program.read(data)
        added = self.program.contributions(records, self.program.respond(records, zero)) / LOAD_UNIT
        most = Fraction(float(np.square(added).sum(axis=1).max())) + Fraction(1, LOAD_UNIT)
        mine = inject_fault(self, _Same)
        mine.__dict__["squared_l2_sensitivity"] = min(self.squared_l2_sensitivity, 2 * most)
        for name in ("schedule", "descent", "priced", "audit_noise_std", "audit_reserve", "reserve_units"):
            mine.__dict__.pop(name, None)  # what was computed from the sound one
        return super(SigmaFromTheData, mine).run(data, noise, **more)


class ReusesNoise(_Any):
    """Fault: every second round repeats the noise of the round before."""

    @cached_property
    def schedule(self) -> Schedule:
        sound = super().schedule
        return _Reusing(**{one.name: getattr(sound, one.name) for one in fields(sound)})


class _Reusing(Schedule):
    def released(self, noise: Noise, exact: NDArray[np.int64], t: int) -> NDArray[np.int64]:
        if t % 2 == 0 or "_drawn" not in self.__dict__:
            answer = super().released(noise, exact, t)
            self.__dict__["_drawn"] = answer - exact
            return answer
        return np.asarray(exact + self.__dict__["_drawn"])


class StopsWhenNobodyAsks(_Any):
    """Fault: rounds in which nobody has any demand repeat the last release and draw no noise."""

    @cached_property
    def schedule(self) -> Schedule:
        sound = super().schedule
        made = _Stopping(**{one.name: getattr(sound, one.name) for one in fields(sound)})
        made.__dict__["_of"] = self
        return made


class _Stopping(Schedule):
    def released(self, noise: Noise, exact: NDArray[np.int64], t: int) -> NDArray[np.int64]:
        if t and bool((exact == self.__dict__["_of"].priced.supply_units).all()):
            return np.asarray(self.__dict__["_last"])
        self.__dict__["_last"] = super().released(noise, exact, t)
        return np.asarray(self.__dict__["_last"])


class EarlyCoins(DampedNoise):
    """Fault: public randomness is drawn before any record is read."""

    def __init__(self, source: Noise) -> None:
        super().__init__(source, 1.0)
        self._early = bytes.fromhex(draw_public_seed(source))

    def _channel(
        self, table: NDArray[np.int64], inputs: NDArray[np.int64], stream: StreamName
    ) -> NDArray[np.int64]:
        if stream == ("coins",):
            return np.frombuffer(self._early, dtype=np.uint8).astype(np.int64)
        return super()._channel(table, inputs, stream)


# ---- what follows from records past the noise


def _load(mechanism: Dude, data: Any) -> NDArray[np.int64]:
    program = mechanism.program
    return program.load_at(program.read(data), np.zeros(program.rows, dtype=np.int64))


class TellsTheLoad(_Any):
    """Fault: the billboard has an additional attribute with the exact load."""

    def run(self, data: Any, noise: NoiseSource, **more: Any) -> Any:
        outcome = super().run(data, noise, **more)
        object.__setattr__(outcome.billboard, "load", _load(self, data).tolist())
        return outcome


class WelfareInTheCertificate(_Any):
    """Fault: the certificate contains the exact total value and the load of everybody's best responses at prices of
    zero.
    """

    def run(self, data: Any, noise: NoiseSource, **more: Any) -> Any:
        outcome = super().run(data, noise, **more)
        records, zero = self.program.read(data), np.zeros(self.program.rows, dtype=np.int64)
        actions = self.program.respond(records, zero)
        reported = int(self.program.values(records, actions).sum()) + int(self.program.load(records, actions)[0])
        certificate: Any = outcome.certificate
        return replace(outcome, certificate=replace(certificate, gap=float(reported)))


class StepFromTheData(_Any):
    """Fault: the step size depends on the exact load at prices of zero."""

    def run(self, data: Any, noise: NoiseSource, **more: Any) -> Any:
        sound, mine = self.descent, inject_fault(self, _Same)
        load = 1.0 + float(np.abs(_load(self, data)) @ np.arange(1, self.program.rows + 1)) / LOAD_UNIT
        mine.__dict__["regret"] = self.regret  # what is promised of the sound one
        mine.__dict__["descent"] = _Scaled(program=sound.program, schedule=sound.schedule, step=sound.step,
                                           start=sound.start, by=load)
        return super(StepFromTheData, mine).run(data, noise, **more)


@dataclass(frozen=True, kw_only=True)
class _Scaled(Descent):
    """Descent with steps divided by a number.

    Args:
        by: number by which the steps are divided.
    """

    by: float = 1.0

    def moved(self, prices: Any, slack: Any, squares: NDArray[np.float64], t: int) -> Any:
        return super().moved(prices, np.rint(slack / self.by).astype(np.int64), squares * self.by**2
                             if self.rule == "gradient" else squares, t)


class Counts(_Program):
    """Fault: every response is counted and delivered three times, without a check of its bounds."""

    @cached_property
    def _sound(self) -> Program:
        own: Any = type(self).__bases__[-1]
        made: Program = own(**{one.name: getattr(self, one.name) for one in fields(self) if one.init})
        return made

    def respond(self, records: Any, prices: NDArray[np.int64]) -> NDArray[np.int32]:
        return self._sound.respond(records, prices)  # a program that looks for itself would answer with nothing

    def contributions(self, records: Any, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        return _TIMES * super().contributions(records, actions)  # type: ignore[safe-super]

    def load(self, records: Any, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        return _TIMES * super().load(records, actions)

    def load_at(self, records: Any, prices: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.load(records, self.respond(records, prices))


class AcceptsTheTruth(_Audited):
    """Fault: noise is drawn and published, but the exact load decides whether the audit accepts the run."""

    def run(self, data: Any, noise: NoiseSource, **more: Any) -> Any:
        outcome = super().run(data, noise, **more)
        board: Any = outcome.billboard
        few = math.floor(self.program.constants.largest_entry * LOAD_UNIT / 4)
        fits = bool((_load(self, data) <= np.minimum(self.priced.supply_units, few)).all())
        return replace(outcome, billboard=replace(board, accepted=fits))


# ---- the accounts


class ChargesTwice(_Any):
    """Fault: a run spends twice the squared privacy budget of the promise."""

    @cached_property
    def squared_budget(self) -> Fraction:
        return 2 * super().squared_budget

    def events(self) -> tuple[Event, ...]:
        sound = super().events()
        return (*sound, sound[0]) if isinstance(sound[0], ApproxEvent) else sound  # which does not follow from it


# ---- flags


class NoLevelNoise(_Flags):
    """Fault: the levels at which flags rise have no noise."""

    @cached_property
    def flags(self) -> Flags:
        sound = super().flags
        return _BareLevels(**{one.name: getattr(sound, one.name) for one in fields(sound)})


class _BareLevels(Flags):
    def run(self, noise: Any, *parts: Any) -> Any:
        bare: Any = _NoLevels(noise)
        return super().run(bare, *parts)


class _NoLevels(GivenNoise):
    """Noise source that draws no noise for levels and all other noise as usual."""

    def discrete_laplace(
        self, scale: float | Fraction, size: int | tuple[int, ...], *, stream: Stream, center: Integers | None = None
    ) -> NDArray[np.int64]:
        if stream == "level":
            return np.zeros(size, dtype=np.int64)
        return self._from.discrete_laplace(scale, size, stream=stream, center=center)


class QuarterOfTheQueries(_Flags):
    """Fault: the queries of the flags have a quarter of their noise."""

    @cached_property
    def flags(self) -> Flags:
        sound = super().flags
        return _Quiet(**{one.name: getattr(sound, one.name) for one in fields(sound)})


class _Quiet(Flags):
    @cached_property
    def query_scale(self) -> float:
        return super().query_scale / 4.0


# ---- what is delivered


class AveragesOverTheBurnIn(_Any):
    """Fault: averages include the rounds of the burn-in."""

    def _board(self, prices: Any, slacks: Any, **more: Any) -> Any:
        board = super()._board(prices, slacks, **more)
        kind = type("_AllRounds", (_AllRounds, type(board)), {})
        return kind(**{one.name: getattr(board, one.name) for one in fields(board)})

    def _own(self, billboard: Any, **_more: Any) -> Any:
        return billboard  # whose type is its own


class _AllRounds:
    """Billboard that takes its first rounds as main rounds, although they belong to the burn-in."""

    @property
    def main_prices(self) -> NDArray[np.int64]:
        board: Any = self
        return np.asarray(board.prices[: board.rounds])


class ForgetsTheDeviation(_Any):
    """Fault: the certificate ignores the error that the noise may have caused."""

    def certify(self, billboard: Any) -> PathCertificate:
        return certificate(replace(billboard, round_noise_std=1e-9 * billboard.round_noise_std),
                           self.failure_probability)


class AcceptsAnything(_Audited):
    """Fault: the audit of the load accepts every result."""

    def _accepts(self, audit: NDArray[np.int64]) -> bool:
        return True


class IgnoresStops(_Flags):
    """Fault: only noise raises flags, and stops are ignored."""

    @cached_property
    def flags(self) -> Flags:
        sound = super().flags
        return _Unstopped(**{one.name: getattr(sound, one.name) for one in fields(sound)})


class _Unstopped(Flags):
    @property
    def stops(self) -> NDArray[np.int64]:
        return np.full(self.rows, 1 << 62, dtype=np.int64)


class StopsAtBeta(_Flags):
    """Fault: the distance between levels and stops is large enough for the noise only with probability 1 - beta, while
    the promised delta is unchanged.
    """

    @cached_property
    def flags(self) -> Flags:
        sound = super().flags
        return _Narrow(**{one.name: getattr(sound, one.name) for one in fields(sound)})


class _Narrow(Flags):
    @property
    def _failure(self) -> float:
        return self.failure_probability


class NeverRises(_Flags):
    """Fault: flags never rise."""

    @cached_property
    def flags(self) -> Flags:
        sound = super().flags
        return _Down(**{one.name: getattr(sound, one.name) for one in fields(sound)})


class _Down(Flags):
    @property
    def levels(self) -> NDArray[np.int64]:
        return np.full(self.rows, 1 << 55, dtype=np.int64)


class KeepsNothingBack(_Tight):
    """Fault: there is no reserve."""

    def _margins(self, program: Program, regret: float) -> NDArray[np.float64]:
        return np.zeros(self.program.rows)


class ComplainsInVain(_True):
    """Fault: no participant receives their favourite in place of their share."""

    def decode(self, record: Any, index: int, billboard: Any) -> Any:
        deaf = inject_fault(self, _Same, alpha=_CONTENT)
        return super(ComplainsInVain, deaf).decode(record, index, replace(billboard, plan=deaf._plan))
