"""A mechanism's own run on tiny neighbours, along one and the same record: what others see, and what it tells.

The run on a neighbour with the same noisy answers must publish the same to all others, bit for bit; and the loss along
that record, from what noise was added to in both runs, must be within what each part is charged. No sampling.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.audit import (
    AuditRow,
    Concern,
    Control,
    Finding,
    Mutant,
    TranscriptAudit,
    controls,
    fixed_transcript_audit,
    inject_fault,
    part_controls,
    strongest,
    told_run,
)
from confide.privacy.accounting.roots import root_up
from confide.privacy.noise import Draw, Noise, RecordingNoise
from confide.privacy.noise.arguments import StreamName
from confide.programs.audit.made_up import Pool, joined
from confide.programs.audit.mutants import EarlyCoins, Fault, faults
from confide.programs.audit.tiny_programs import charges, histories, history_kinds, neighbours, steps
from confide.programs.dude import Dude
from confide.programs.grids import LOAD_UNIT
from confide.programs.round_dude import RoundDude
from confide.programs.tight_dude import TightDude
from confide.programs.tighten_and_audit import TightenAndAudit

__all__ = ["answers_row", "attained", "draws_publicly", "transcript_controls", "transcript_rows", "walked"]

if TYPE_CHECKING:  # what it is put on top of
    from confide.programs.program import Program as _Read
else:
    _Read = object

_NAMES = {"": "everything that others see, jointly", "slack": "the path of prices", "audit": "the audit of the load"}
_PROMISED = "everything that others see, jointly, by the promise"


def walked(
    mechanism: Dude, pool: Pool, seed: int, *, sound: Dude | None = None, fault: Fault | None = None,
    pairs: int | None = None,
) -> dict[str, TranscriptAudit]:
    """Each part of a mechanism's noise, and everything, against what is charged for it; and everything against each
    promise of the mechanism's own, where all of its noise is Gaussian.

    Args:
        mechanism: a tiny one, sound or broken.
        pool: records that neighbours are made of.
        seed: of a study.
        sound: whose charges hold, where the mechanism is broken.
        fault: whose noise is used.
        pairs: how many neighbour steps are walked; None for all.
    """

    def run(data: Any, noise: Noise) -> Any:
        return told_run(mechanism, data, noise if fault is None or fault.noise is None else fault.noise(noise))

    own = sound or mechanism
    # Of flags only what they say is published, which has rows of its own.
    own_promises = [] if isinstance(own, RoundDude) else [
        promise for promise, _ in strongest(
            each for each in own.guarantees().privacy if each.neighbours is own.relation)]
    return fixed_transcript_audit(run, islice(neighbours(own, pool, seed), pairs), charges(own), histories(own, seed),
                                  histories=history_kinds(own), promises=own_promises)


def transcript_rows(mechanism: Dude, pool: Pool, seed: int = 0) -> dict[str, AuditRow]:
    """What is promised of its privacy, by its own run on neighbours: part of the noise -> row.

    Args:
        mechanism: a tiny one.
        pool: records that neighbours are made of.
        seed: of a study.

    Example:
        >>> from confide.programs import PrivDude, UnitDemand
        >>> from confide.programs.audit.tiny_programs import tiny_pool
        >>> mechanism = PrivDude(UnitDemand(6, 1.0, goods=3), 1.0, 1e-6, rounds=4, burn_in=2)
        >>> row = transcript_rows(mechanism, tiny_pool(mechanism.program, 0))["slack"]
        >>> row.verdict.value, round(row.measured, 6), round(row.promised, 6)
        ('kept', 0.236704, 0.236704)
    """
    return {part: audit.row(f"privacy: {_NAMES.get(part, _PROMISED)}")
            for part, audit in walked(mechanism, pool, seed).items()}


def answers_row(
    mechanism: Dude, pool: Pool, seed: int = 0, fault: Fault | None = None, *, sound: Dude | None = None,
) -> AuditRow:
    """Whether each round that is published is the answer of a draw of its own, at the planned scale, in order, and
    public randomness is drawn when records have been read.

    Args:
        mechanism: a tiny one, sound or broken.
        pool: records that neighbours are made of.
        seed: of a study.
        fault: whose noise is used.
        sound: whose plan it is, where the mechanism is broken.
    """
    wrong, runs = 0, 0
    for number, step in enumerate(steps(mechanism, pool, seed)):
        history = RecordingNoise(histories(mechanism, seed)(number))
        watched = inject_fault(mechanism, _Watched, program=inject_fault(mechanism.program, _Reading))
        watched.program.__dict__["seen"] = history
        noise = history if fault is None or fault.noise is None else fault.noise(history)
        board = watched.run(joined(mechanism.program, step.records), noise).billboard
        wrong += watched.program.__dict__["drawn"]  # before any record was read
        wrong += _unanswered(sound or mechanism, board, history.draws)
        runs += 1
    return AuditRow.at_most("privacy: published numbers that are not a draw's own answer, and draws before the records",
                            0.0, float(wrong), f"everything that {runs} runs asked of their noise, in its order",
                            unit="numbers and draws", concern=Concern.PRIVACY)


def _unanswered(mechanism: Dude, board: Any, draws: Sequence[Draw]) -> int:
    """Published rounds, and an audit, that are not what was drawn for them with the planned noise."""
    answers = {draw.stream: draw for draw in draws}
    wanted: list[tuple[StreamName, Any, float]] = [
        (("slack", t), row, mechanism.schedule.round_noise_std(t)) for t, row in enumerate(board.slacks)]
    if isinstance(mechanism, TightenAndAudit):
        wanted.append((("audit",), board.audit, mechanism.audit_noise_std))
    flags = {"level": mechanism.flags.level_scale, "query": mechanism.flags.query_scale} if isinstance(
        mechanism, RoundDude) else {}
    wrong = len(set(answers) - {stream for stream, _, _ in wanted} - {("coins",)})
    for stream, draw in answers.items():
        if stream[0] in flags:
            wrong -= draw.law == "discrete_laplace" and draw.scale >= Fraction(flags[str(stream[0])])
    unit = LOAD_UNIT if mechanism.law == "gaussian" else 1
    for stream, published, deviation in wanted:
        found = answers.get(stream)
        wrong += found is None or not np.array_equal(np.rint(np.asarray(found.value) * unit), published) or \
            found.law != mechanism.law or found.scale < Fraction(deviation) * (LOAD_UNIT // unit)
    return wrong


class _Watched:
    """A mechanism whose program is watched: nothing of it is changed."""


class _Reading(_Read):
    """A program that notes how many draws there were when it read its records."""

    def read(self, data: Any, **more: Any) -> Any:
        self.__dict__.setdefault("drawn", len(self.__dict__["seen"].draws))
        return super().read(data, **more)


def attained(mechanism: Dude, pool: Pool) -> float:
    """How far two records of a pool move a load at prices of nothing, as a share of sigma.

    Args:
        mechanism: of any size.
        pool: of its program's records.
    """
    zero = np.zeros(mechanism.program.rows, dtype=np.int64)
    moved = pool.distances(zero, zero).max() if mechanism.neighbours == "replace" else np.linalg.norm(
        pool.contributed(zero), axis=1).max()
    return float(moved) / root_up(mechanism.squared_l2_sensitivity)


def transcript_controls(mechanism: Dude, pool: Pool, seed: int = 0) -> list[Control]:
    """The same over the mechanism with each planted fault that it can have: each must be flagged.

    Args:
        mechanism: a tiny one.
        pool: records that neighbours are made of.
        seed: of a study.
    """

    def attack(fault: Fault) -> Finding:
        bent = fault.broken(mechanism)
        found = walked(bent, pool, seed, sound=mechanism, fault=fault, pairs=fault.pairs)
        return next((audit for audit in found.values() if audit.flagged), answers_row(bent, pool, seed, fault,
                                                                                    sound=mechanism))

    def order(fault: Fault) -> Finding:
        return answers_row(mechanism, pool, seed, fault)

    bugs = [Mutant("privacy, its own run", fault.says, fault)
            for fault in faults(mechanism, attained(mechanism, pool))]
    early = [Mutant("privacy, order of draws", "coins drawn before the records are read",
                    Fault("", noise=EarlyCoins))]

    def damped(noise: Callable[[Noise], Noise]) -> dict[str, TranscriptAudit]:
        return walked(mechanism, pool, seed, fault=Fault("", noise=noise))

    return [*controls(bugs, attack), *controls(early if draws_publicly(mechanism) else [], order),
            *part_controls(walked(mechanism, pool, seed), damped, lambda part: f"privacy: {_NAMES[part]}")]


def draws_publicly(mechanism: Dude) -> bool:
    """Whether it draws public randomness.

    Args:
        mechanism: any.
    """
    return isinstance(mechanism, RoundDude | TightDude | TightenAndAudit)
