"""Noise of one device, drawn from a source that all devices share, so that one audit can record the noise of many
devices.

`reports` and `check_devices` compare a mechanism's promises to the collector with everything that `submit` releases
from a device.

Further rows compare the shares that a run hands out with the shares that devices decode, and check the billboards of
runs. Each family of mechanisms supplies the runs.
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
    """Correct noise for one of several devices. The name of each random stream starts with the number of the device,
    because all devices request the same names, and each name can be drawn only once.

    Args:
        source: the source of noise that all devices share.
        device: number of the device, from 0.

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
    """The promises of privacy towards the collector of the reports (local privacy) that are not vacuous."""
    return tuple(each for each in promises.privacy if each.audience is Audience.COLLECTOR and not each.vacuous)


def drawn_locally(record: Any, noise: Any, mechanism: Mechanism) -> Any:
    """Everything that leaves a device for a given record, which is the whole result of the mechanism's `submit`."""
    return mechanism.submit(record, None, given(noise))


def reports(roles: Sequence[Role], unit: Relation, tries: int = 0, seed: int = 0) -> Iterator[Neighbours]:
    """Pairs of records that a report should not distinguish. The records have values at the ends of the columns'
    ranges, values between the ends, or random values. If the relation `unit` adds or removes records, a pair may
    consist of a record and no record.

    Args:
        roles: public roles of the columns of a record, such as `confide.tables.roles.Numeric`.
        unit: neighbouring relation of the promise.
        tries: number of additional random pairs.
        seed: public seed of the random pairs.
    """
    draw = study_generator(seed, "reports")
    random = (random_change(roles, unit, draw) for _ in range(tries))
    for move in chain(changes(roles, unit), changes_between(roles, unit), random):
        if move.second is None and unit is Relation.REPLACE:
            continue
        yield Neighbours(move.first, move.second, exact_bytes)


def check_devices(kind: Any, mechanism: Mechanism, roles: Sequence[Role]) -> None:
    """Check that a promise to the collector can hold: some noise is drawn before a record leaves its owner.

    The audit, not this check, measures the size of the loss.

    Args:
        kind: the kind of the campaign, such as `confide.campaign.kinds.mean.KIND`.
        mechanism: the mechanism with its promises.
        roles: public roles of the columns of a record, such as `confide.tables.roles.Numeric`.

    Raises:
        InvalidInput: the result of `submit` distinguishes two records whatever noise is drawn, or `submit` is never
            called, because participants in campaigns of this kind hand in records unchanged.
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
            raise InvalidInput("mechanism", f"{name} promises {promise.sentence()!r}, but people hand in unchanged "
                                            f"records to a campaign of the kind {kind.name!r}, since no device calls "
                                            "its `submit`",
                               "derive the kind from `confide.campaign.kinds.DeviceKind`, or give it the members of "
                               "`confide.contract.LocalKind`; if the operator reads records, promise nothing to the "
                               "collector")


def _leaks(mechanism: Mechanism, roles: Sequence[Role], promise: Privacy) -> tuple[str, ...]:
    """Names of everything in a report that distinguishes two records whatever the noise is."""
    claims: Any = {"": promise.loss}
    failed = f"{type(mechanism).__name__}: `submit` fails on synthetic records"
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

DECODED = "number of people with another share on their own device than in the run"
CHECKED = "number of billboards of its runs that a verifier would call forged"
JOINTLY = "privacy: everything that others see of a run, jointly"


@dataclass(frozen=True, kw_only=True)
class MadeUpRun:
    """One run on synthetic people, under simulated noise.

    Args:
        people: the synthetic people.
        outcome: outcome of the run.
    """

    people: Any
    outcome: SimulatedOutcome

    @classmethod
    def of(cls, mechanism: Mechanism, people: Any, data: Any, seed: int) -> MadeUpRun:
        """Run a mechanism on synthetic people.

        Args:
            mechanism: the mechanism to run.
            people: the synthetic people.
            data: data of the synthetic people, in the form that a run expects.
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
        """A copy of the run in which the people get the shares of another table.

        Args:
            shares: the table of shares that replaces the shares of the run, one row for each person.
        """
        return replace(self, outcome=replace(self.outcome, shares=shares))

    def handed_on(self) -> MadeUpRun:
        """A copy of the run in which each person gets the share of the person before them; the first person gets the
        last share.
        """
        shares = self.outcome.shares
        return self.handing(shares.take(np.roll(np.arange(shares.num_rows), 1)))

    def places(self, most: int) -> list[int]:
        """Positions of at most `most` people, evenly spread from the first person to the last."""
        last = self.outcome.shares.num_rows - 1
        return [int(place) for place in np.unique(np.linspace(0, last, min(most, last + 1)).astype(np.int64))]


def decoded_row(
    rounds: Iterable[tuple[Any, Mapping[int, Any]]], decode: Callable[[Any, int, Any], Mapping[str, Any]], of: str
) -> AuditRow:
    """Row that says whether the handed-out shares equal the shares that devices decode for themselves.

    Args:
        rounds: pairs of a run's outcome and a mapping. The mapping leads from the position of each examined person to
            the report of that person's device, or to None if there is no report.
        decode: function from a device's report, the person's position and the billboard to the share that the device
            decodes.
        of: description of the synthetic data of the rounds.
    """
    wrong = tried = 0
    for outcome, reported in rounds:
        places = list(reported)
        for place, share in zip(places, outcome.shares.take(pa.array(places)).to_pylist(), strict=True):
            wrong += dict(decode(reported[place], place, outcome.billboard)) != share
            tried += 1
    return AuditRow.at_most(DECODED, 0.0, float(wrong), f"{tried:,} decodes of runs on synthetic {of}",
                            unit="people", concern=Concern.ACCURACY)


def checked_row(rounds: Iterable[tuple[Any, bool]], check: Callable[[Any], None], of: str) -> AuditRow:
    """Row that says whether billboards of correct runs pass the mechanism's own check and state the sums of the
    reports.

    Args:
        rounds: pairs of a billboard and a flag, which is True if the billboard states the sums of the reports.
        check: function that raises `InvalidInput` if a billboard is wrong.
        of: description of the synthetic data of the rounds.
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
                            f"the mechanism's own check, and the sums of {runs} runs on synthetic {of}", unit="runs",
                            concern=Concern.ACCURACY)


def refused_row(boards: Iterable[Any], check: Callable[[Any], None]) -> AuditRow:
    """Row that says whether billboards of correct runs on synthetic people pass the mechanism's own check.

    Args:
        boards: billboards of the runs.
        check: function that raises `InvalidInput` if a billboard is wrong.
    """
    refused = runs = 0
    for board in boards:
        runs += 1
        try:
            check(board)
        except InvalidInput:
            refused += 1
    return AuditRow.at_most(CHECKED, 0.0, float(refused), f"{runs} runs on synthetic people", unit="billboards",
                            concern=Concern.ACCURACY)
