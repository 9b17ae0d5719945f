"""What a run of a market publishes and pays: shares beside decodes, billboards beside the check, and what a
neighbour's outcome tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.audit import AuditRow, Control, DeviceNoise, Neighbours, published
from confide.audit.device_runs import (
    JointAudits,
    checked_row,
    decoded_row,
    device_controls,
    joint_audits,
    joint_rows,
)
from confide.contract.guarantees import Relation
from confide.market.collection import BitCollection, Reports
from confide.market.strategies import NONE
from confide.privacy.noise import ForcedNoise, Noise
from confide.privacy.noise.simulated import study_generator

__all__ = ["outcome_controls", "outcome_rows"]

_SHOWN = 300  # shares that are decoded again, of one run
_CROWD = 12  # devices that report in most of the runs on neighbours; a payment needs peers

Run = Callable[[Any, Noise], Any]


@dataclass(frozen=True, eq=False)
class _Held:
    """Bits of some people, whose devices report them, and what the others have reported.

    Args:
        bits: place -> bit.
        others: reports of the others.
    """

    bits: dict[int, int]
    others: Reports


def _crowds(collection: BitCollection, seed: int) -> Iterator[Reports]:
    """Reports of everybody: mixed with some who take no part, all alike, of one person, of nobody."""
    n, draw = collection.market.people, study_generator(seed, "reports")
    for report in (draw.choice([0, 1, 1, NONE], n), draw.choice([0, 1], n), np.zeros(n), np.ones(n),
                   np.where(np.arange(n) == n // 2, 1, NONE), np.full(n, NONE)):
        yield Reports(np.arange(n), report.astype(np.uint8), draw.integers(collection.groups, size=n))


def _decoded(collection: BitCollection, seed: int, run: Run) -> AuditRow:
    places = np.unique(np.linspace(0, collection.market.people - 1, _SHOWN).astype(np.int64)).tolist()
    return decoded_row(((run([crowd], Noise.simulated(seed)), {
        place: (int(crowd.report[place]), int(crowd.group[place])) for place in places})
        for crowd in _crowds(collection, seed)), collection.decode, "reports")


def _checked(collection: BitCollection, seed: int, run: Run) -> AuditRow:
    def rounds() -> Iterator[tuple[Any, bool]]:
        for crowd in _crowds(collection, seed):
            board = run([crowd], Noise.simulated(seed)).billboard
            present, ones = int(np.count_nonzero(crowd.report != NONE)), int(np.count_nonzero(crowd.report == 1))
            yield board, (board.present, int(board.ones.sum())) == (present, ones)

    return checked_row(rounds(), collection.check, "reports")


def _jointly(
    collection: BitCollection, worths: Sequence[float | None], seed: int, run: Run,
    drawn: Callable[[Noise], Noise] = lambda noise: noise,
) -> JointAudits:
    """Bits, through everybody's device and the run, to all that others see; in the last pair everybody reports."""
    n = collection.market.people
    draw = study_generator(seed, "bits")
    few = min(n, _CROWD)
    places = np.sort(draw.choice(n, few, replace=False))
    bits, groups = draw.integers(2, size=few).tolist(), draw.integers(collection.groups, size=n)
    reports = draw.integers(2, size=n).astype(np.uint8)

    def reported(who: NDArray[np.int64], report: NDArray[np.uint8]) -> Reports:
        return Reports(who, report, groups[who])

    def played(data: _Held, noise: Noise) -> Any:
        own = drawn(noise)
        who = np.array(list(data.bits), dtype=np.int64)
        sent = np.array([collection.submit((bit, worths[k % len(worths)]), noise=DeviceNoise(own, k))
                         for k, bit in enumerate(data.bits.values())], dtype=np.uint8)
        order = np.argsort(np.concatenate([who, data.others.index]), kind="stable")
        return run([reported(np.concatenate([who, data.others.index])[order],
                             np.concatenate([sent, data.others.report])[order])], noise)

    def pairs() -> Iterator[Neighbours]:
        nobody = np.zeros(0, dtype=np.int64)
        for k in (0, few // 2, few - 1):
            for bit in (0, 1):
                one, other = (_Held(dict(zip(places.tolist(), [*bits[:k], mine, *bits[k + 1 :]], strict=True)),
                                    reported(nobody, reports[nobody])) for mine in (bit, 1 - bit))
                yield Neighbours(one, other, partial(published, index=int(places[k])))
        others = np.delete(np.arange(n), n // 2)
        one, other = (_Held({n // 2: bit}, reported(others, reports[others])) for bit in (0, 1))
        yield Neighbours(one, other, partial(published, index=n // 2))

    return joint_audits(collection.guarantees().privacy, Relation.BIT, played, pairs(), seed, histories=2)


def outcome_rows(collection: BitCollection, seed: int, worths: Sequence[float | None] = (None,)) -> list[AuditRow]:
    """What its own runs on made-up reports give everybody, what they publish, and what others see of a bit.

    Args:
        collection: what a campaign runs.
        seed: of reports and histories.
        worths: what a nat of privacy is worth to the people who are tried, where costs are unknown.
    """
    return [_decoded(collection, seed, collection.run), _checked(collection, seed, collection.run),
            *joint_rows(_jointly(collection, worths, seed, collection.run), collection.market.people)]


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

    return device_controls(
        ("a coin more for whoever comes after somebody who reported 1", _decoded(collection, seed, told)),
        ("a coin more for each 1 than the counts pay", _checked(collection, seed, dearer)),
        ("devices that add no noise", _jointly(collection, worths, seed, collection.run, lambda _: ForcedNoise([]))))
