"""The audit that any mechanism can be put to: its own run on made-up neighbours, its sampler, and two planted bugs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.audit import (
    AuditReport,
    AuditRow,
    Concern,
    DampedNoise,
    Neighbours,
    PlantedBug,
    charge_rows,
    completed,
    controls,
    door_audit,
    published,
    sampler_audit,
)
from confide.contract.guarantees import Audience, Privacy, Unit
from confide.contract.kinds import Progress
from confide.contract.mechanism import Mechanism
from confide.people.column_rows import Role
from confide.people.slot_rows import SlotRows
from confide.privacy.losses import ZCDP, ApproxDP, PureDP
from confide.privacy.noise import ForcedNoise, Noise, RecordingNoise
from confide.tables import Category, Numeric

__all__ = ["audit_mechanism", "corners"]

_CORNERS = 8  # records that stretch a mechanism, at most
_OTHERS = 40  # made-up people beside the one who changes, at most
_DRAWS = 4000  # of the sampler
_FALSE_ALARM = 1e-6
_NOTHING = "the mechanism says nothing of it"

Run = Callable[[Any, Noise], Any]


def corners(roles: Sequence[Role]) -> list[NDArray[np.float64]]:
    """Records at the ends of what columns may hold: (c,) each.

    Args:
        roles: of the columns.

    Example:
        >>> [row.tolist() for row in corners([Category(column="mood", levels=("bad", "so-so", "good"))])]
        [[0.0], [1.0], [2.0]]
    """
    ends = [tuple(range(len(role.levels)))[:_CORNERS] if isinstance(role, Category)
            else (-1.0, 1.0) if isinstance(role, Numeric)
            else tuple(end if np.isfinite(end) else sign * 1e6 for sign, end in ((-1, role.lower), (1, role.upper)))
            for role in roles]
    return [np.array(row, dtype=np.float64) for row in islice(product(*ends), _CORNERS)]


def _pairs(roles: Sequence[Role], people: int, unit: Unit) -> Iterator[Neighbours]:
    """The last slot has one record or another, or none; the others have none at all, or some of each."""
    records = corners(roles)
    last = people - 1
    full = np.array([records[k % len(records)] for k in range(min(last, _OTHERS))]).reshape(-1, len(roles))

    def data(others: NDArray[np.float64], own: NDArray[np.float64] | None) -> list[SlotRows]:
        alone = [] if own is None else [SlotRows(np.array([last]), own[None])]
        return [SlotRows(np.arange(len(others)), others), *alone]

    changes = [(row, None) for row in records]
    if unit is not Unit.RECORD_ADDED_OR_REMOVED:
        changes += list(combinations(records, 2))  # type: ignore[arg-type]
    for others in (full[:0], full):
        for one, other in changes:
            yield Neighbours(data(others, one), data(others, other), lambda outcome: published(outcome, last))


def audit_mechanism(
    mechanism: Mechanism, roles: Sequence[Role], people: int, seed: int, progress: Progress | None = None,
    measured: Sequence[AuditRow] = (),
) -> AuditReport:
    """Promised against measured, for what can be measured of a mechanism from outside.

    Each privacy promise is held against its own run on pairs of made-up data sets, along common histories, where the
    loss is exact: bounds of columns are the ends that a record can stretch to. That the noise really has the law that
    was asked for is tested on secure draws. Planted bugs are the same mechanism with half the noise, and with none.
    What the releases cost by the ledger's rules is held against the loss that the public is promised. An `Accuracy`
    promise is not measured here: `measured` gives its row where the kind knows how.

    Args:
        mechanism: with its public parameters.
        roles: of the columns of a record.
        people: invited slots.
        seed: of the made-up noise.
        progress: told of steps.
        measured: what the kind has measured itself, each row holding its promise.
    """
    promises = mechanism.guarantees()
    private = [each for each in promises if isinstance(each, Privacy) and each.claimable]
    steps, done = 2 * len(private) + 2, 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, steps)

    def attack(promise: Privacy, run: Run) -> Any:
        return door_audit(run, _pairs(roles, people, promise.unit), {"": promise.loss},  # type: ignore[dict-item]
                          lambda number: Noise.simulated(seed + number))[""]

    rows, bugs = list[AuditRow](), list[Any]()
    for promise in private:
        rows.append(attack(promise, mechanism.run).row(promise.sentence()).holding(promise))
        step()
        bugs += controls(_planted(mechanism.run, promise.name),
                         lambda run, promise=promise: attack(promise, run))  # type: ignore[misc]
        step()
    heard = RecordingNoise(Noise.simulated(seed))
    mechanism.run(next(_pairs(roles, people, Unit.RECORD_REPLACED)).first, heard)
    laws = {(draw.law, draw.scale): draw for draw in heard.draws if draw.law != "split"}
    rows += [sampler_audit(Noise.secure(), draw, _DRAWS, _FALSE_ALARM) for draw in laws.values()]
    step()
    for public in private:
        if public.audience is Audience.PUBLIC and isinstance(public.loss, PureDP | ApproxDP | ZCDP):
            spent, twice = charge_rows(mechanism.events(), public.loss)  # type: ignore[arg-type] # Spend: an event
            rows.append(spent)
            bugs += twice
    rows += measured
    step()
    return completed(AuditReport(tuple(rows), tuple(bugs)), promises, dict.fromkeys(Concern, _NOTHING),
                     lambda _: "the audit of any mechanism cannot measure it")


def _planted(run: Run, name: str) -> list[PlantedBug]:
    return [PlantedBug(name, "half the noise", lambda data, noise: run(data, DampedNoise(noise, 0.5))),
            PlantedBug(name, "no noise", lambda data, _: run(data, ForcedNoise(())))]
