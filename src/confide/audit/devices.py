"""One device's share of a source of noise, so that one audit can listen to many devices.

The promises of a mechanism to the collector, held against what its `submit` lets out of a device.

Billboards and payments of a run on reports of devices: shares beside decodes, billboards beside the check, and what all
others see of what one device knows. Families bring their rounds, their runs and their pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.audit.faulty_noise import DampedNoise
from confide.audit.fixed_transcript import Neighbours, fixed_transcript_audit
from confide.audit.random_pairs import random_change
from confide.audit.report import AuditRow, Concern
from confide.audit.value_bytes import exact_bytes
from confide.audit.worst_case_neighbours import changes, changes_between
from confide.contract.errors import ConfideError, InvalidInput
from confide.contract.guarantees import Audience, Guarantees, Privacy, Relation
from confide.contract.kinds import LocalKind
from confide.contract.mechanism import Mechanism
from confide.contract.outcome import SimulatedOutcome
from confide.privacy.noise import Noise
from confide.privacy.noise.arguments import StreamName
from confide.privacy.noise.given_noise import given
from confide.privacy.noise.simulated import study_generator
from confide.tables.column_rows import Role

__all__ = [
    "CHECKED",
    "DECODED",
    "JOINTLY",
    "RECORDS",
    "DeviceNoise",
    "MadeUpRun",
    "check_devices",
    "checked_row",
    "decoded_row",
    "drawn_locally",
    "refused_row",
    "reports",
    "to_the_collector",
]

# ---- devices


class DeviceNoise(DampedNoise):
    """Sound noise, whose streams are named after the device that asks: each device asks for the same names.

    Args:
        source: source of noise of all devices.
        device: number of the device.

    Example:
        >>> from confide.privacy.noise import RecordingNoise
        >>> observed = RecordingNoise(Noise.simulated(1))
        >>> for device in (0, 1):
        ...     _ = DeviceNoise(observed, device).discrete_laplace(2, 1, stream="report")
        >>> [draw.stream for draw in observed.draws]
        [('device', 0, 'report'), ('device', 1, 'report')]
    """

    def __init__(self, source: Noise, device: int) -> None:
        super().__init__(source, 1.0)
        self._device = device

    def _named(self, stream: StreamName) -> StreamName:
        return ("device", self._device, *stream)

    def _channel(
        self, table: NDArray[np.int64], inputs: NDArray[np.int64], stream: StreamName
    ) -> NDArray[np.int64]:
        return self._source.channel(table, inputs, stream=stream)


# ---- device reports

RECORDS = (Relation.REPLACE, Relation.ADD_OR_REMOVE)
"""The neighbour steps that change records."""


def to_the_collector(promises: Guarantees) -> tuple[Privacy, ...]:
    """The promises of local privacy that say something."""
    return tuple(each for each in promises.privacy if each.audience is Audience.COLLECTOR and not each.vacuous)


def drawn_locally(record: Any, noise: Any, mechanism: Mechanism) -> Any:
    """Everything that leaves a device: the whole of `submit`."""
    return mechanism.submit(record, None, given(noise))


def reports(roles: Sequence[Role], unit: Relation, tries: int = 0, seed: int = 0) -> Iterator[Neighbours]:
    """Pairs of records between which a report should not tell: the ends of columns and values between; none, where who
    takes part is to be hidden, too; and random ones.

    Args:
        roles: roles of the columns of a record.
        unit: neighbouring relation of the promise.
        tries: number of random pairs besides.
        seed: public seed of the random pairs.
    """
    draw = study_generator(seed, "reports")
    random = (random_change(roles, unit, draw) for _ in range(tries))
    for move in chain(changes(roles, unit), changes_between(roles, unit), random):
        if move.second is None and unit is Relation.REPLACE:
            continue
        yield Neighbours(move.first, move.second, exact_bytes)


def check_devices(kind: Any, mechanism: Mechanism, roles: Sequence[Role]) -> None:
    """Check that a promise to the collector can hold: something is drawn before a record leaves its owner.

    How large the loss is, the audit measures.

    Args:
        kind: kind of the campaign.
        mechanism: the mechanism with its promises.
        roles: roles of the columns of a record.

    Raises:
        InvalidInput: `submit` tells two records apart whatever it draws, or nobody calls it, because records of the
            kind are handed in as they are.
    """
    name = type(mechanism).__name__
    for promise in to_the_collector(mechanism.guarantees()):
        if promise.neighbours in RECORDS:
            leaks = _leaks(mechanism, roles, promise)
            if leaks:
                raise InvalidInput("mechanism", f"{name} promises {promise.sentence()!r}, but its `submit` lets the "
                                                f"collector distinguish two records: {leaks[0]}",
                                   "draw the message of the device from `noise`, with the record as center or input; "
                                   "if the operator reads records, promise nothing to the collector")
        if not isinstance(kind, LocalKind):
            raise InvalidInput("mechanism", f"{name} promises {promise.sentence()!r}, and records of the kind "
                                            f"{kind.name!r} are handed in as they are: no device calls its `submit`",
                               "begin the kind with `confide.campaign.kinds.DeviceKind`, or give it what "
                               "`confide.contract.LocalKind` has; where the operator reads records, promise nothing to "
                               "the collector")


def _leaks(mechanism: Mechanism, roles: Sequence[Role], promise: Privacy) -> tuple[str, ...]:
    """What no noise hides."""
    claims: Any = {"": promise.loss}
    failed = f"{type(mechanism).__name__}: `submit` fails on made-up records"
    try:
        found = fixed_transcript_audit(lambda record, noise: drawn_locally(record, noise, mechanism),
                                       reports(roles, promise.neighbours),
                                       claims, Noise.simulated)
    except ConfideError as error:
        raise InvalidInput("mechanism", f"{failed}: {error}") from error
    except Exception as error:
        raise InvalidInput("mechanism", f"{failed}: {type(error).__name__}",
                           "CONFIDE_DEBUG=1 shows the traceback") from error
    return found[""].leaks


# ---- device runs

DECODED = "people with another share on their own device than in the run"
CHECKED = "billboards of its runs that a verifier would call forged"
JOINTLY = "privacy: everything that others see of a run, jointly"


@dataclass(frozen=True, kw_only=True)
class MadeUpRun:
    """One run on made-up people, under simulated noise.

    Args:
        people: the made-up people.
        outcome: outcome of the run.
    """

    people: Any
    outcome: SimulatedOutcome

    @classmethod
    def of(cls, mechanism: Mechanism, people: Any, data: Any, seed: int) -> MadeUpRun:
        """Run a mechanism.

        Args:
            mechanism: the mechanism to run.
            people: the made-up people.
            data: data of these people, as a run takes it.
            seed: seed of the noise.
        """
        outcome = mechanism.run(data, Noise.simulated(seed))
        if not isinstance(outcome, SimulatedOutcome):
            raise InvalidInput("outcome", "is a release", "an audit is made with simulated noise")
        return cls(people=people, outcome=outcome)

    @property
    def board(self) -> Any:
        return self.outcome.billboard

    def handing(self, shares: pa.Table) -> MadeUpRun:
        """The same run, with other shares handed out."""
        return replace(self, outcome=replace(self.outcome, shares=shares))

    def handed_on(self) -> MadeUpRun:
        """The same run, with each share handed to the next person."""
        shares = self.outcome.shares
        return self.handing(shares.take(np.roll(np.arange(shares.num_rows), 1)))

    def places(self, most: int) -> list[int]:
        """Places of people, so many at most, evenly from the first to the last."""
        last = self.outcome.shares.num_rows - 1
        return [int(place) for place in np.unique(np.linspace(0, last, min(most, last + 1)).astype(np.int64))]


def decoded_row(
    rounds: Iterable[tuple[Any, Mapping[int, Any]]], decode: Callable[[Any, int, Any], Mapping[str, Any]], of: str
) -> AuditRow:
    """Whether shares are those that devices find for themselves.

    Args:
        rounds: outcomes, each with the places that are looked at and what the device there reported, or None.
        decode: function from (report, place, billboard) to a share.
        of: the made-up objects of the rounds, in words.
    """
    wrong = tried = 0
    for outcome, reported in rounds:
        places = list(reported)
        for place, share in zip(places, outcome.shares.take(pa.array(places)).to_pylist(), strict=True):
            wrong += dict(decode(reported[place], place, outcome.billboard)) != share
            tried += 1
    return AuditRow.at_most(DECODED, 0.0, float(wrong), f"{tried:,} decodes of runs on made-up {of}",
                            unit="people", concern=Concern.ACCURACY)


def checked_row(rounds: Iterable[tuple[Any, bool]], check: Callable[[Any], None], of: str) -> AuditRow:
    """Whether billboards of sound runs pass their own check and name the sums that were reported.

    Args:
        rounds: billboards, each with whether it names these sums.
        check: the check of a billboard.
        of: the made-up objects of the rounds, in words.
    """
    refused = runs = 0
    for board, agrees in rounds:
        runs += 1
        try:
            check(board)
        except InvalidInput:
            refused += 1
        else:
            refused += not agrees
    return AuditRow.at_most(CHECKED, 0.0, float(refused),
                            f"its own check, and the sums of {runs} runs on made-up {of}", unit="runs",
                            concern=Concern.ACCURACY)


def refused_row(boards: Iterable[Any], check: Callable[[Any], None]) -> AuditRow:
    """Whether billboards of sound runs on made-up people pass their own check.

    Args:
        boards: billboards of the runs.
        check: the check of a billboard.
    """
    refused = runs = 0
    for board in boards:
        runs += 1
        try:
            check(board)
        except InvalidInput:
            refused += 1
    return AuditRow.at_most(CHECKED, 0.0, float(refused), f"{runs} runs on made-up people", unit="billboards",
                            concern=Concern.ACCURACY)
