"""The audit that any mechanism can be put to: its own run on made-up neighbours, its sampler, its decodes, its charge,
and planted bugs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from confide.audit import (
    AuditReport,
    AuditRow,
    Concern,
    Control,
    DampedNoise,
    Neighbours,
    PlantedBug,
    charge_rows,
    completed,
    controls,
    door_audit,
    sampler_audit,
)
from confide.contract.guarantees import Audience, Guarantee, Privacy, Unit
from confide.contract.kinds import Progress
from confide.contract.mechanism import Mechanism
from confide.people.column_rows import Role
from confide.people.slot_rows import SlotRows
from confide.people.stretching import changes, corners, crowds, neighbours
from confide.privacy.losses import ZCDP, ApproxDP, PureDP
from confide.privacy.noise import ForcedNoise, Noise, RecordingNoise

__all__ = ["audit_mechanism"]

_DRAWS = 4000  # of the sampler
_FALSE_ALARM = 1e-6
_DECODED = 200  # shares that are decoded again, at most
_NOTHING = "the mechanism says nothing of it"
_CENTRAL = (Audience.PUBLIC, Audience.OTHERS)
_RECORDS = (Unit.RECORD_REPLACED, Unit.RECORD_ADDED_OR_REMOVED)
_SHARES = "everybody's share follows from her own record and the public result"
_STRETCHED = ("the ends of every column; the first slot, the last and one between; beside nobody else, all alike, some "
              "of each, and everybody where that is not too many")

Run = Callable[[Any, Noise], Any]


def audit_mechanism(
    mechanism: Mechanism, roles: Sequence[Role], people: int, seed: int, progress: Progress | None = None,
    measured: Sequence[AuditRow] = (),
) -> AuditReport:
    """Promised against measured, for what can be measured of a mechanism from outside.

    Each privacy promise to the public or to the others is held against its own run on pairs of made-up data sets
    (`confide.people.stretching`), along common histories, where the loss is exact: bounds of columns are the ends that
    a record can stretch to. A promise to the collector is held against what `submit` lets out, in the same way. That
    the noise really has the law that was asked for is tested on secure draws. Planted bugs are the same mechanism with
    half the noise, and with none. Shares are decoded again, one by one. What the releases cost by the ledger's rules is
    held against the loss that the public is promised, or else the others. An `Accuracy` promise is not measured here:
    `measured` gives its row where the kind knows how.

    Args:
        mechanism: with its public parameters.
        roles: of the columns of a record.
        people: invited slots.
        seed: of the made-up noise.
        progress: told of steps.
        measured: what the kind has measured itself, each row holding its promise.
    """
    promises = mechanism.guarantees()
    private = [each for each in promises if isinstance(each, Privacy) and each.claimable and each.unit in _RECORDS]
    attacked = [each for each in private if each.audience in (*_CENTRAL, Audience.COLLECTOR)]
    steps, done = 2 * len(attacked) + 3, 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, steps)

    rows, bugs = list[AuditRow](), list[Control]()
    for promise in attacked:
        attack, run = _attack(mechanism, roles, people, promise, seed)
        row = attack(run).row(promise.sentence())
        rows.append((row if row.flagged else replace(row, note=row.note or _STRETCHED)).holding(promise))
        step()
        bugs += controls(_planted(run, promise.name), attack)
        step()
    heard = RecordingNoise(Noise.simulated(seed))
    mechanism.run(next(neighbours(roles, people, Unit.RECORD_REPLACED)).first, heard)
    laws = {(draw.law, draw.scale): draw for draw in heard.draws if draw.law != "split"}
    rows += [sampler_audit(Noise.secure(), draw, _DRAWS, _FALSE_ALARM) for draw in laws.values()]
    step()
    row, altered = _decoded(mechanism, roles, people, seed)
    rows.append(row)
    bugs.append(altered)
    step()
    for promise in _charged(private):
        spent, planted = charge_rows(mechanism.events(), promise.loss)  # type: ignore[arg-type] # Spend: an event
        rows.append(spent)
        bugs += planted
    rows += measured
    step()
    return completed(AuditReport(tuple(rows), tuple(bugs)), promises, dict.fromkeys(Concern, _NOTHING), _why_not)


def _attack(
    mechanism: Mechanism, roles: Sequence[Role], people: int, promise: Privacy, seed: int
) -> tuple[Callable[[Run], Any], Run]:
    """What a promise is put to, and the sound run that it is about."""
    def noise(number: int) -> Noise:
        return Noise.simulated(seed + number)

    claims: Any = {"": promise}
    if promise.audience in _CENTRAL:
        return lambda run: door_audit(run, neighbours(roles, people, promise.unit), claims, noise)[""], mechanism.run

    def told() -> Iterator[Neighbours]:  # what the collector gets from one device, with one record or another
        for move in changes(roles, promise.unit):
            yield Neighbours(move.first, move.second, lambda report: repr(report).encode())

    return (lambda run: door_audit(run, told(), claims, noise)[""],
            lambda record, noise: mechanism.submit(record, None, noise))


def _why_not(promise: Guarantee) -> str:
    if isinstance(promise, Privacy) and promise.unit not in _RECORDS:
        return f"the audit of any mechanism changes records, and this is about {promise.unit.value}"
    if isinstance(promise, Privacy):
        return "what fellow participants know of each other's noise is not known to the audit of any mechanism"
    return "the audit of any mechanism cannot measure it"


def _charged(private: Sequence[Privacy]) -> list[Privacy]:
    """The promises of the whole outcome that a ledger's price can be held against: to the public, or else others."""
    whole = [each for each in private if each.part == type(each).part
             and isinstance(each.loss, PureDP | ApproxDP | ZCDP) and not each.loss.vacuous]
    public = [each for each in whole if each.audience is Audience.PUBLIC]
    return public or [each for each in whole if each.audience is Audience.OTHERS]


def _decoded(mechanism: Mechanism, roles: Sequence[Role], people: int, seed: int) -> tuple[AuditRow, Control]:
    """Shares of a made-up run beside separate decodes of them; and the same with one share altered after the run."""
    others = crowds(roles, people)[1]
    crowd = SlotRows(np.arange(len(others)), others)
    alone = SlotRows(np.array([people - 1]), corners(roles)[0][None])
    outcome = mechanism.run([crowd, alone], Noise.simulated(seed))
    records = {int(slot): cells for batch in (crowd, alone)
               for slot, cells in zip(batch.index, batch.cells, strict=True)}
    shown = sorted({*range(min(people, _DECODED)), people - 1})

    def differing(shares: Sequence[Mapping[str, Any]]) -> int:
        return sum(_written(mechanism.decode(records.get(slot), slot, outcome.billboard)) != _written(share)
                   for slot, share in zip(shown, shares, strict=True))

    shares = [outcome.shares.slice(slot, 1).to_pylist()[0] for slot in shown]
    found = differing(shares)
    row = AuditRow.at_most(_SHARES, 0.0, float(found), f"of {len(shown)} shares, how many differ from a decode apart",
                           concern=Concern.ACCURACY)
    altered = [*shares[:-1], dict.fromkeys(shares[-1], None)]
    return row, Control(_SHARES, "one share altered after the run", differing(altered) > found)


def _written(share: Mapping[str, Any]) -> str:
    """A share as text: numpy's numbers as a table holds them, and what is no number equal to itself."""
    return repr({name: value.item() if hasattr(value, "item") else value for name, value in sorted(share.items())})


def _planted(run: Run, name: str) -> list[PlantedBug]:
    return [PlantedBug(name, "half the noise", lambda data, noise: run(data, DampedNoise(noise, 0.5))),
            PlantedBug(name, "no noise", lambda data, _: run(data, ForcedNoise(())))]
