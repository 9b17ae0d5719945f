"""What a mechanism promises to the collector, held against what its `submit` lets out of a device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from confide.audit.fixed_transcript import Neighbours, fixed_transcript_audit
from confide.audit.random_pairs import random_change
from confide.audit.value_bytes import exact_bytes
from confide.audit.worst_case_neighbours import changes, changes_between
from confide.contract.errors import ConfideError, InvalidInput
from confide.contract.guarantees import Audience, Guarantees, Privacy, Relation
from confide.contract.kinds import LocalKind
from confide.contract.mechanism import Mechanism
from confide.privacy.noise import Noise
from confide.privacy.noise.given_noise import given
from confide.privacy.noise.simulated import study_generator
from confide.tables.column_rows import Role

__all__ = ["RECORDS", "check_devices", "drawn_locally", "reports", "to_the_collector"]

RECORDS = (Relation.REPLACE, Relation.ADD_OR_REMOVE)
"""The neighbour steps that change records."""


def to_the_collector(promises: Guarantees) -> tuple[Privacy, ...]:
    """The promises of local privacy that say something."""
    return tuple(each for each in promises.privacy if each.audience is Audience.COLLECTOR and not each.vacuous)


def drawn_locally(record: Any, noise: Any, mechanism: Mechanism) -> Any:
    """What leaves a device: the whole of `submit`."""
    return mechanism.submit(record, None, given(noise))


def reports(roles: Sequence[Role], unit: Relation, tries: int = 0, seed: int = 0) -> Iterator[Neighbours]:
    """Pairs of records between which a report should not tell: the ends of columns and values between; none, where who
    takes part is to be hidden, too; and random ones.

    Args:
        roles: of the columns of a record.
        unit: of the promise.
        tries: random pairs besides.
        seed: of theirs, public.
    """
    draw = study_generator(seed, "reports")
    random = (random_change(roles, unit, draw) for _ in range(tries))
    for move in chain(changes(roles, unit), changes_between(roles, unit), random):
        if move.second is None and unit is Relation.REPLACE:
            continue
        yield Neighbours(move.first, move.second, exact_bytes)


def check_devices(kind: Any, mechanism: Mechanism, roles: Sequence[Role]) -> None:
    """Whether a promise to the collector can hold: something is drawn before a record leaves its owner.

    How large the loss is, the audit measures.

    Args:
        kind: of the campaign.
        mechanism: with its promises.
        roles: of the columns of a record.

    Raises:
        InvalidInput: `submit` tells two records apart whatever it draws, or nobody calls it, because records of the
            kind are handed in as they are.
    """
    name = type(mechanism).__name__
    for promise in to_the_collector(mechanism.guarantees()):
        if promise.neighbours in RECORDS:
            leaks = _leaks(mechanism, roles, promise)
            if leaks:
                raise InvalidInput("mechanism", f"{name} promises {promise.sentence()!r}, and its `submit` lets two "
                                                f"records be told apart: {leaks[0]}",
                                   "draw what leaves the device from `noise`, with the record as center or input; "
                                   "where the operator reads records, promise nothing to the collector")
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
