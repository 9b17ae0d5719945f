"""What a run of a bought mean publishes and pays: shares beside decodes, billboards beside the check, and what a
neighbour's outcome tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from confide.acquisition.mechanism import Contracts, TwoPartMechanism
from confide.acquisition.records import ContractedRecords
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
from confide.privacy.noise import ForcedNoise, Noise
from confide.privacy.noise.simulated import study_generator

__all__ = ["outcome_controls", "outcome_rows"]

_SHOWN = 300  # shares that are decoded again, of one run
_CROWD = 6  # devices that send a record in the runs on neighbours
_DECODED = "people whose own device finds another share than the run gave them"
_CHECKED = "billboards of its runs that a verifier would call forged"
_JOINTLY = "privacy: everything that others see of a run, jointly"

Run = Callable[[Any, Noise], Any]


def outcome_rows(it: TwoPartMechanism, made: Contracts, seed: int) -> list[AuditRow]:
    """What its own runs on made-up messages give everybody, what they publish, and what others see of a record.

    Args:
        it: the mechanism.
        made: contracts of a round in which something is bought.
        seed: of messages and histories.
    """
    return [_decoded(it, made, seed, it.run), _checked(it, made, seed, it.run),
            *(audit.row(_JOINTLY).holding(*follow) for audit, follow in _jointly(it, made, seed, it.run))]


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

    bare = _jointly(it, made, seed, it.run, lambda _: ForcedNoise([]))
    return [
        Control(_DECODED, "a coin more than the contract says", _decoded(it, made, seed, told).flagged),
        Control(_CHECKED, "more steps than there are", _checked(it, made, seed, besides).flagged),
        Control(_JOINTLY, "devices that add no noise", any(audit.flagged for audit, _ in bare))]


def _rounds(it: TwoPartMechanism, made: Contracts, seed: int) -> Iterator[ContractedRecords]:
    """Messages of everybody, of every other one, of one person, and of nobody."""
    terms, draw = made.terms, study_generator(seed, "messages")
    records = np.full(it.people, np.nan)
    records[terms.index] = it.low + it.width * draw.random(len(terms.index))
    sent = it.play_on(terms, records, Noise.simulated(seed))
    ranks = list(sent)
    for some in (ranks, ranks[::2], ranks[:1], []):
        yield terms.with_messages({rank: sent[rank] for rank in some})


def _decoded(it: TwoPartMechanism, made: Contracts, seed: int, run: Run) -> AuditRow:
    wrong = tried = 0
    places = np.unique(np.linspace(0, it.people - 1, _SHOWN).astype(np.int64)).tolist()
    for records in _rounds(it, made, seed):
        rows = {rank: row for row, rank in enumerate(records.index.tolist())}
        shown = sorted({*places, *list(rows)[:_SHOWN]})
        outcome = run(records, Noise.simulated(seed))
        for place, share in zip(shown, outcome.shares.take(pa.array(shown)).to_pylist(), strict=True):
            own = records.one(rows[place]) if place in rows else None
            wrong += dict(it.decode(own, place, outcome.billboard)) != share
            tried += 1
    return AuditRow.at_most(_DECODED, 0.0, float(wrong), f"{tried:,} decodes of runs on made-up messages",
                            unit="people", concern=Concern.ACCURACY)


def _checked(it: TwoPartMechanism, made: Contracts, seed: int, run: Run) -> AuditRow:
    refused = runs = 0
    for records in _rounds(it, made, seed):
        runs += 1
        board = run(records, ForcedNoise([])).billboard  # so that nothing is added in the place of who vanished
        total = sum(records.message[records.sent].tolist())
        try:
            it.check(board)
        except InvalidInput:
            refused += 1
        else:
            refused += (board.total, board.steps) != (total, int(records.steps[records.sent].sum()))
    return AuditRow.at_most(_CHECKED, 0.0, float(refused),
                            f"its own check, and the sums of {runs} runs on made-up messages", unit="runs",
                            concern=Concern.ACCURACY)


def _jointly(
    it: TwoPartMechanism, made: Contracts, seed: int, run: Run, drawn: Callable[[Noise], Noise] = lambda noise: noise,
) -> list[tuple[DoorAudit, tuple[Privacy, ...]]]:
    """Records, through everybody's device and the run, to all that others see: one audit for each promise towards the
    platform, from which that towards all others follows.
    """
    terms = made.terms
    lattice: Any = made.lattice
    ranks = terms.index[: _CROWD].tolist()

    def played(data: Any, noise: Noise) -> Any:
        own = drawn(noise)
        sent = {rank: it.submit(record, lattice.of(rank), DeviceNoise(own, rank))
                for rank, record in zip(ranks, data, strict=True)}
        return run(terms.with_messages(sent), noise)

    def pairs() -> Iterator[Neighbours]:
        middle = [(it.low + it.high) / 2] * len(ranks)
        for k in sorted({0, len(ranks) // 2, len(ranks) - 1}):
            for one, other in ((it.low, it.high), (it.high, it.low)):
                yield Neighbours([*middle[:k], one, *middle[k + 1 :]], [*middle[:k], other, *middle[k + 1 :]],
                                 partial(published, index=ranks[k]))

    held = strongest(each for each in it.guarantees().privacy
                     if each.audience is Audience.COLLECTOR and each.unit is Unit.RECORD_REPLACED)
    found = door_audit(played, pairs(), {}, lambda k: Noise.simulated(seed * 1013 + k),
                       promises=[promise for promise, _ in held])
    return [(audit, follow) for audit, (_, follow) in zip(found.values(), held, strict=True)]
