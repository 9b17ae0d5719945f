"""What a run of a bought mean publishes and pays: shares beside decodes, billboards beside the check, and what a
neighbour's outcome tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from confide.acquisition.mechanism import Contracts, TwoPartMechanism
from confide.acquisition.records import ContractedRecords
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
from confide.privacy.noise import ForcedNoise, Noise
from confide.privacy.noise.simulated import study_generator

__all__ = ["outcome_controls", "outcome_rows"]

_SHOWN = 300  # shares that are decoded again, of one run
_CROWD = 6  # devices that send a record in most of the runs on neighbours

Run = Callable[[Any, Noise], Any]


def outcome_rows(it: TwoPartMechanism, made: Contracts, seed: int) -> list[AuditRow]:
    """What its own runs on made-up messages give everybody, what they publish, and what others see of a record.

    Args:
        it: the mechanism.
        made: contracts of a round in which something is bought.
        seed: of messages and histories.
    """
    return [_decoded(it, made, seed, it.run), _checked(it, made, seed, it.run),
            *joint_rows(_jointly(it, made, seed, it.run), len(made.terms.index))]


def outcome_controls(it: TwoPartMechanism, made: Contracts, seed: int) -> list[Control]:
    """The same of runs that were broken on purpose.

    Args:
        it: the mechanism.
        made: as in `outcome_rows`.
        seed: of messages and histories.
    """
    def told(data: Any, noise: Noise) -> Any:
        outcome = it.run(data, noise)
        paid = outcome.shares["payment"].to_numpy().copy()
        paid[data.index] += data.sent
        return replace(outcome, shares=outcome.shares.set_column(0, "payment", pa.array(paid)))

    def besides(data: Any, noise: Noise) -> Any:
        outcome = it.run(data, noise)
        board: Any = outcome.billboard
        return replace(outcome, billboard=replace(board, steps=board.steps + it.lattice + 1))

    return device_controls(
        ("a coin more than the contract says", _decoded(it, made, seed, told)),
        ("more steps than there are", _checked(it, made, seed, besides)),
        ("devices that add no noise", _jointly(it, made, seed, it.run, lambda _: ForcedNoise([]))))


@dataclass(frozen=True)
class _Held:
    """Records of some people, whose devices send them, and what the others have sent.

    Args:
        records: rank -> record.
        others: rank -> message.
    """

    records: dict[int, float]
    others: dict[int, int]


def _all_sent(it: TwoPartMechanism, made: Contracts, seed: int) -> dict[int, int]:
    """Rank -> message of everybody who has a contract."""
    terms, draw = made.terms, study_generator(seed, "messages")
    records = np.full(it.people, np.nan)
    records[terms.index] = it.low + it.width * draw.random(len(terms.index))
    return dict(it.play_on(terms, records, Noise.simulated(seed)))


def _rounds(it: TwoPartMechanism, made: Contracts, seed: int) -> Iterator[ContractedRecords]:
    """Messages of everybody, of every other one, of one person, and of nobody."""
    sent = _all_sent(it, made, seed)
    ranks = list(sent)
    for some in (ranks, ranks[::2], ranks[:1], []):
        yield made.terms.with_messages({rank: sent[rank] for rank in some})


def _decoded(it: TwoPartMechanism, made: Contracts, seed: int, run: Run) -> AuditRow:
    places = np.unique(np.linspace(0, it.people - 1, _SHOWN).astype(np.int64)).tolist()

    def rounds() -> Iterator[tuple[Any, dict[int, Any]]]:
        for records in _rounds(it, made, seed):
            rows = {rank: row for row, rank in enumerate(records.index.tolist())}
            yield run(records, Noise.simulated(seed)), {
                place: records.one(rows[place]) if place in rows else None
                for place in sorted({*places, *list(rows)[:_SHOWN]})}

    return decoded_row(rounds(), it.decode, "messages")


def _checked(it: TwoPartMechanism, made: Contracts, seed: int, run: Run) -> AuditRow:
    def rounds() -> Iterator[tuple[Any, bool]]:
        for records in _rounds(it, made, seed):
            board = run(records, ForcedNoise([])).billboard  # so that nothing is added in the place of who vanished
            total = sum(records.message[records.sent].tolist())
            yield board, (board.total, board.steps) == (total, int(records.steps[records.sent].sum()))

    return checked_row(rounds(), it.check, "messages")


def _jointly(
    it: TwoPartMechanism, made: Contracts, seed: int, run: Run, drawn: Callable[[Noise], Noise] = lambda noise: noise,
) -> JointAudits:
    """Records, through everybody's device and the run, to all that others see; in the last pair everybody who has a
    contract sends.
    """
    terms = made.terms
    lattice: Any = made.lattice
    ranks, middle = terms.index[:_CROWD].tolist(), (it.low + it.high) / 2

    def played(data: _Held, noise: Noise) -> Any:
        own = drawn(noise)
        sent: dict[int, Any] = {rank: it.submit(record, lattice.of(rank), DeviceNoise(own, rank))
                                for rank, record in data.records.items()}
        return run(terms.with_messages({**data.others, **sent}), noise)

    def pairs() -> Iterator[Neighbours]:
        for rank in sorted({ranks[0], ranks[len(ranks) // 2], ranks[-1]}):
            for both in ((it.low, it.high), (it.high, it.low)):
                one, other = (_Held({**dict.fromkeys(ranks, middle), rank: mine}, {}) for mine in both)
                yield Neighbours(one, other, partial(published, index=rank))
        everybody = _all_sent(it, made, seed)
        one, other = (_Held({ranks[0]: mine}, everybody) for mine in (it.low, it.high))
        yield Neighbours(one, other, partial(published, index=ranks[0]))

    return joint_audits(it.guarantees().privacy, Relation.REPLACE, played, pairs(), seed)
