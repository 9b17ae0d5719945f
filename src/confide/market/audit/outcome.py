"""What a run of a market publishes and pays: shares beside decodes, billboards beside the check, and what a
neighbour's outcome tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from confide.audit import (
    AuditRow,
    Concern,
    Control,
    DeviceNoise,
    DoorAudit,
    Neighbours,
    door_audit,
    published,
    strongest,
)
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Audience, Privacy, Unit
from confide.market.collection import BitCollection, Reports
from confide.market.strategies import NONE
from confide.privacy.noise import ForcedNoise, Noise
from confide.privacy.noise.simulated import study_generator

__all__ = ["outcome_controls", "outcome_rows"]

_SHOWN = 300  # shares that are decoded again, of one run
_CROWD = 12  # devices that report in the runs on neighbours; a payment needs peers
_DECODED = "people whose own device finds another payment than the run gave them"
_CHECKED = "billboards of its runs that a verifier would call forged"
_JOINTLY = "privacy: everything that others see of a run, jointly"

Run = Callable[[Any, Noise], Any]


def _crowds(collection: BitCollection, seed: int) -> Iterator[Reports]:
    """Reports of everybody: mixed with some who take no part, all alike, of one person, of nobody."""
    n, draw = collection.market.people, study_generator(seed, "reports")
    for report in (draw.choice([0, 1, 1, NONE], n), draw.choice([0, 1], n), np.zeros(n), np.ones(n),
                   np.where(np.arange(n) == n // 2, 1, NONE), np.full(n, NONE)):
        yield Reports(np.arange(n), report.astype(np.uint8), draw.integers(collection.groups, size=n))


def _decoded(collection: BitCollection, seed: int, run: Run) -> AuditRow:
    wrong = tried = 0
    places = np.unique(np.linspace(0, collection.market.people - 1, _SHOWN).astype(np.int64))
    for crowd in _crowds(collection, seed):
        outcome = run([crowd], Noise.simulated(seed))
        for place, share in zip(places.tolist(), outcome.shares.take(pa.array(places)).to_pylist(), strict=True):
            own = (int(crowd.report[place]), int(crowd.group[place]))
            wrong += dict(collection.decode(own, place, outcome.billboard)) != share
            tried += 1
    return AuditRow.at_most(_DECODED, 0.0, float(wrong), f"{tried:,} decodes of runs on made-up reports",
                            unit="people", concern=Concern.ACCURACY)


def _checked(collection: BitCollection, seed: int, run: Run) -> AuditRow:
    refused = runs = 0
    for crowd in _crowds(collection, seed):
        runs += 1
        board = run([crowd], Noise.simulated(seed)).billboard
        present = int(np.count_nonzero(crowd.report != NONE))
        try:
            collection.check(board)
        except InvalidInput:
            refused += 1
        else:
            refused += (board.present, int(board.ones.sum())) != (present, int(np.count_nonzero(crowd.report == 1)))
    return AuditRow.at_most(_CHECKED, 0.0, float(refused),
                            f"its own check and the counts of {runs} runs on made-up reports", unit="runs",
                            concern=Concern.ACCURACY)


def _jointly(
    collection: BitCollection, worths: Sequence[float | None], seed: int, run: Run,
    drawn: Callable[[Noise], Noise] = lambda noise: noise,
) -> list[tuple[DoorAudit, tuple[Privacy, ...]]]:
    """Bits, through everybody's device and the run, to all that others see: one audit for each promise."""
    n = min(collection.market.people, _CROWD)
    draw = study_generator(seed, "bits")
    bits, places = draw.integers(2, size=n), np.sort(draw.choice(collection.market.people, n, replace=False))
    groups = draw.integers(collection.groups, size=n)

    def played(data: Any, noise: Noise) -> Any:
        own = drawn(noise)
        reports = [collection.submit((int(bit), worths[k % len(worths)]), noise=DeviceNoise(own, k))
                   for k, bit in enumerate(data)]
        return run([Reports(places, np.array(reports, dtype=np.uint8), groups)], noise)

    def pairs() -> Iterator[Neighbours]:
        for k in (0, n // 2, n - 1):
            for bit in (0, 1):
                first, second = bits.copy(), bits.copy()
                first[k], second[k] = bit, 1 - bit
                yield Neighbours(first, second, partial(published, index=int(places[k])))

    held = strongest(each for each in collection.guarantees().privacy
                     if each.unit is Unit.BIT and each.audience is Audience.COLLECTOR)
    found = door_audit(played, pairs(), {}, lambda k: Noise.simulated(seed * 1013 + k), histories=2,
                       promises=[promise for promise, _ in held])
    return [(audit, follow) for audit, (_, follow) in zip(found.values(), held, strict=True)]


def outcome_rows(collection: BitCollection, seed: int, worths: Sequence[float | None] = (None,)) -> list[AuditRow]:
    """What its own runs on made-up reports give everybody, what they publish, and what others see of a bit.

    Args:
        collection: what a campaign runs.
        seed: of reports and histories.
        worths: what a nat of privacy is worth to the people who are tried, where costs are unknown.
    """
    return [_decoded(collection, seed, collection.run), _checked(collection, seed, collection.run),
            *(audit.row(_JOINTLY).holding(*follow)
              for audit, follow in _jointly(collection, worths, seed, collection.run))]


def outcome_controls(collection: BitCollection, seed: int, worths: Sequence[float | None] = (None,)) -> list[Control]:
    """The same of runs that were broken on purpose.

    Args:
        collection: what a campaign runs.
        seed: of reports and histories.
        worths: as in `outcome_rows`.
    """
    def told(data: Any, noise: Noise) -> Any:
        outcome = collection.run(data, noise)
        paid = outcome.shares["payment"].to_numpy() + (np.roll(data[0].report, 1) == 1)
        return replace(outcome, shares=pa.table({"payment": paid}))

    def dearer(data: Any, noise: Noise) -> Any:
        outcome = collection.run(data, noise)
        board: Any = outcome.billboard
        return replace(outcome, billboard=replace(board, for_one=board.for_one + 1))

    bare = _jointly(collection, worths, seed, collection.run, lambda _: ForcedNoise([]))
    return [
        Control(_DECODED, "a coin more for whoever comes after somebody who reported 1",
                _decoded(collection, seed, told).flagged),
        Control(_CHECKED, "a coin more for each 1 than the counts pay", _checked(collection, seed, dearer).flagged),
        Control(_JOINTLY, "devices that add no noise", any(audit.flagged for audit, _ in bare))]
