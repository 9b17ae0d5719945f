"""A mechanism's own run on tiny neighbours, along one and the same record: what others see, and what it tells.

The run on a neighbour with the same noisy answers must publish the same to all others, bit for bit; and the loss along
that record, from what noise was added to in both runs, must be within what each part is charged. No sampling.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.audit import AuditRow, Concern, Examined, Transcripts, inject_fault, told_run
from confide.privacy.accounting.roots import root_up
from confide.privacy.noise import Draw, Noise, RecordingNoise
from confide.privacy.noise.arguments import StreamName
from confide.programs.audited_faults import EarlyCoins, QuarterOfTheQueries, ReusesNoise, faults
from confide.programs.audited_programs import SIX, charges, histories, history_kinds, neighbours, steps
from confide.programs.audited_records import Pool, joined
from confide.programs.dude import Dude
from confide.programs.grids import LOAD_UNIT
from confide.programs.round_dude import RoundDude
from confide.programs.tight_dude import TightDude
from confide.programs.tighten_and_audit import TightenAndAudit

__all__ = ["answers", "answers_row", "attained", "draws_publicly", "jointly"]

_PAIRS = 16  # all there are

if TYPE_CHECKING:  # what it is put on top of
    from confide.programs.program import Program as _Read
else:
    _Read = object

def jointly(mechanism: Dude, pool: Pool, seed: int = 0) -> Transcripts:
    """The run of a tiny mechanism on its neighbours: each part of its noise, and everything, against what is charged;
    and everything against each promise of the mechanism's own, where all of its noise is Gaussian.

    Args:
        mechanism: a tiny, sound one.
        pool: records that neighbours are made of.
        seed: of a study.

    Example:
        >>> from confide.programs import PrivDude, UnitDemand
        >>> from confide.programs.audited_programs import tiny_pool
        >>> mechanism = PrivDude(UnitDemand(6, 1.0, goods=3), 1.0, 1e-6, rounds=4, burn_in=2)
        >>> found = jointly(mechanism, tiny_pool(mechanism.program, 0)).walked()["slack"]
        >>> found.flagged, round(found.measured, 6), round(found.promised, 6)
        (False, 0.236704, 0.236704)
    """
    # Of flags only what they say is published, which has rows of its own.
    promises = [] if isinstance(mechanism, RoundDude) else [
        each for each in mechanism.guarantees().privacy if each.neighbours is mechanism.relation]
    return Transcripts(
        named="privacy: everything that others see, jointly", run=partial(told_run, mechanism), seed=seed,
        pairs=partial(neighbours, mechanism, pool, seed), claims=charges(mechanism), promises=promises,
        names={"slack": "privacy: the path of prices", "audit": "privacy: the audit of the load"},
        source=histories(mechanism, seed), histories=history_kinds(mechanism), hardest=_PAIRS, among=SIX,
        faults={says: partial(told_run, bent) for says, bent in faults(mechanism, attained(mechanism, pool)).items()})


_Bent = Callable[[Noise], Noise]


def answers(mechanism: Dude, pool: Pool, seed: int = 0) -> Examined:
    """Whether published rounds are the answers of their draws; the same of noise used twice, early coins, quiet flags.

    Noise that is used twice costs nothing along a path where a neighbour moves each round alike. Here it always shows.

    Args:
        mechanism: a tiny one.
        pool: records that neighbours are made of.
        seed: of a study.
    """
    bugs: dict[str, tuple[Dude, _Bent]] = {}
    if mechanism.schedule.total > 1:
        bugs["the noise of one round used for the next one too"] = inject_fault(mechanism, ReusesNoise), _as_it_is
    if draws_publicly(mechanism):
        bugs["coins drawn before the records are read"] = mechanism, EarlyCoins
    if isinstance(mechanism, RoundDude) and mechanism.flags.queries:
        bugs["a quarter of the queries' noise"] = inject_fault(mechanism, QuarterOfTheQueries), _as_it_is
    return Examined(
        named="privacy, order and scale of draws", sound=(mechanism, _as_it_is), faults=bugs,
        rows=lambda it: [answers_row(it[0], pool, seed, it[1], sound=mechanism).smaller(SIX)])


def _as_it_is(noise: Noise) -> Noise:
    return noise


def answers_row(
    mechanism: Dude, pool: Pool, seed: int = 0, bent: _Bent = _as_it_is, *, sound: Dude | None = None,
) -> AuditRow:
    """Whether each round that is published is the answer of a draw of its own, at the planned scale, in order, and
    public randomness is drawn when records have been read.

    Args:
        mechanism: a tiny one, sound or broken.
        pool: records that neighbours are made of.
        seed: of a study.
        bent: what becomes of its noise.
        sound: whose plan it is, where the mechanism is broken.
    """
    wrong, runs = 0, 0
    for number, step in enumerate(steps(mechanism, pool, seed)):
        history = RecordingNoise(histories(mechanism, seed)(number))
        watched = inject_fault(mechanism, _Watched, program=inject_fault(mechanism.program, _Reading))
        watched.program.__dict__["seen"] = history
        board = watched.run(joined(mechanism.program, step.records), bent(history)).billboard
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


def draws_publicly(mechanism: Dude) -> bool:
    """Whether it draws public randomness.

    Args:
        mechanism: any.
    """
    return isinstance(mechanism, RoundDude | TightDude | TightenAndAudit)
