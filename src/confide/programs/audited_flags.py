"""Exact privacy loss from the times at which flags rise.

The flag of a coupling constraint rises when the load plus noise exceeds a noisy level near the supply. The pattern of
flags, which states when each flag rose, is published. Given the prices, the public draws and the pattern of flags, the
flags are independent of each other, and the contribution of every unchanged participant is fixed. So the log ratio of a
pattern's probabilities on two neighbouring data sets is a sum over constraints. Each term is the log ratio of two
integrals over the noise of one level. The module computes this log ratio in two ways: along runs of a mechanism for six
people, with the drawn noise, and over all patterns for a few people and constraints.

The class `FlagLaw` has the exact law of the times at which flags rise, for programs that are small enough to list all
transcripts.

A transcript of flags lists the query at which each flag rises. Given a transcript, the loads that are delivered before
each query are known, and the flags are independent of each other. The probability of a transcript is a product over
constraints, where each factor is a sum over the noise of the constraint's level (`confide.privacy.halting_law`). So the
ratio of the probabilities on two neighbouring data sets is exact. The largest ratio is compared with the promise of
`flag_loss`.

Source: spec convex_programs 5 and 11.8.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad

from confide.audit import AuditRow, Concern, Examined, inject_fault
from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.privacy.halting_law import LaplaceLaw, log_halting_law
from confide.privacy.noise import Draw, RecordingNoise
from confide.programs.audited_faults import NoLevelNoise, QuarterOfTheQueries, StopsAtBeta
from confide.programs.audited_programs import SIX, FlagAnswers, histories, history_kinds, steps
from confide.programs.audited_records import Pool, joined
from confide.programs.flags import flag_loss
from confide.programs.grids import LOAD_UNIT
from confide.programs.program import ProgramRecords
from confide.programs.round_dude import RoundDude
from confide.programs.whole_parts import drawn_rounds, responses_in

__all__ = ["FlagLaw", "all_patterns_rows", "flags", "own_patterns_row", "pattern_loss", "stop_delta_row"]

# ---- flag law

_MOST = 1 << 20  # transcripts


@dataclass(frozen=True, kw_only=True)
class FlagLaw:
    """All transcripts of flags, and their probabilities given everybody's contribution.

    Args:
        people: number of people n.
        levels: (k,) public load at which the flag of each constraint would rise without noise; whole numbers where the
            noise is on the integers.
        level: distribution of the noise of each level.
        query: distribution of the noise of each query. A query asks whether a load exceeds its level.
        batch: number of people between two queries.
        stops: (k,) loads above which a flag rises whatever the noise; None for no stops.

    Raises:
        InvalidInput: more than 2^20 transcripts.

    Example:
        >>> law = FlagLaw(people=3, levels=(1.0, 1.0), level=LaplaceLaw(2.0, False), query=LaplaceLaw(2.0, False))
        >>> len(law.transcripts), round(float(np.exp(law.logs(np.eye(3, 2))).sum()), 12)
        (9, 1.0)
    """

    people: int
    levels: tuple[float, ...]
    level: LaplaceLaw
    query: LaplaceLaw
    batch: int = 1
    stops: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        whole("people", self.people, at_least=2)
        if whole("batch", self.batch, at_least=1) >= self.people:
            raise InvalidInput("batch", "leaves no query", f"must be below {self.people}")
        if (self.queries + 1) ** len(self.levels) > _MOST:
            raise InvalidInput("levels", f"{len(self.levels)} levels have too many transcripts",
                               f"must be at most {_MOST}")

    @property
    def queries(self) -> int:
        """Number of queries of each constraint: one query after every batch except the last."""
        return -(-self.people // self.batch) - 1

    @property
    def transcripts(self) -> list[tuple[int, ...]]:
        """All transcripts. A transcript is a tuple of length k with the query at which each flag rises; the entry is
        `queries` for a flag that never rises.
        """
        return list(product(range(self.queries + 1), repeat=len(self.levels)))

    def counted(self, contributions: NDArray[np.float64], transcript: tuple[int, ...]) -> NDArray[np.float64]:
        """Loads that have been delivered before each query, shape (queries, k), if flags rise as in a transcript.

        Args:
            contributions: (n, k) contributions >= 0 of all people, in the unit of `levels`.
            transcript: (k,) query at which each flag rises.
        """
        batches = np.arange(self.people) // self.batch
        shut = (contributions > 0) & (batches[:, None] > np.array(transcript))
        delivered = np.where(shut.any(axis=1, keepdims=True), 0.0, contributions)
        sums: NDArray[np.float64] = np.cumsum(delivered, axis=0)[self.batch - 1 :: self.batch][: self.queries]
        return sums

    def logs(self, contributions: ArrayLike) -> NDArray[np.float64]:
        """Natural logarithm of the probability of each transcript, in the order of `transcripts`.

        Args:
            contributions: (n, k) contributions >= 0 of all people, in the unit in which `levels` and the noise are
                stated.
        """
        table = np.asarray(contributions, dtype=np.float64)
        if table.shape != (self.people, len(self.levels)):
            raise InvalidInput("contributions", f"of shape {table.shape}",
                               f"must be {(self.people, len(self.levels))}")
        found = []
        stops = np.full(len(self.levels), math.inf) if self.stops is None else np.array(self.stops)
        for transcript in self.transcripts:
            counted = self.counted(table, transcript)
            gaps, stopped = counted - np.array(self.levels), counted > stops
            forced = np.where(stopped.any(axis=0), stopped.argmax(axis=0), self.queries)
            found.append(sum(_row(tuple(gaps[:, j].tolist()), self.level, self.query, int(forced[j]))[at]
                             for j, at in enumerate(transcript)))
        return np.array(found)

    def loss(self, first: ArrayLike, second: ArrayLike) -> float:
        """The largest absolute log ratio of the probabilities on two data sets, over all transcripts.

        Args:
            first: (n, k) contributions >= 0 of all people, in the unit of `levels`.
            second: (n, k) contributions of all people in the neighbouring data set.
        """
        one, other = self.logs(first), self.logs(second)
        possible = np.isfinite(one) | np.isfinite(other)
        return float(np.abs(one[possible] - other[possible]).max())

    def delta(self, first: ArrayLike, second: ArrayLike, epsilon: float) -> float:
        """The least delta at which the laws on two data sets are (epsilon, delta)-indistinguishable, in both
        directions.

        Args:
            first: (n, k) contributions >= 0 of all people, in the unit of `levels`.
            second: (n, k) contributions of all people in the neighbouring data set.
            epsilon: privacy loss in nats, >= 0.
        """
        one, other = np.exp(self.logs(first)), np.exp(self.logs(second))
        factor = math.exp(epsilon)
        return float(max(np.maximum(one - factor * other, 0.0).sum(), np.maximum(other - factor * one, 0.0).sum()))


@cache
def _row(gaps: tuple[float, ...], level: LaplaceLaw, query: LaplaceLaw, forced: int) -> tuple[float, ...]:
    """Logarithms of the probabilities that the flag of one constraint rises at each query, or never.

    Args:
        gaps: exact answers less the level of the constraint.
        level: noise of the level.
        query: noise of the queries.
        forced: query at which the flag rises if it has not risen before.
    """
    logs = log_halting_law(np.array(gaps), level, query)
    logs[forced] = np.logaddexp.reduce(logs[forced:])
    logs[forced + 1 :] = -math.inf
    return tuple(logs.tolist())


# ---- audited flags

_DEEP = 40.0  # scales of a level's noise, beyond which there is none
_SIZES = ((3, 2), (8, 1))  # people, and rows
_LEVELS = (-6.0, 0.0, 6.0)  # in scales of noise: it is rare not to rise, it is neither, it is rare to rise


def flags(mechanism: RoundDude, twin: RoundDude, pool: Pool, seed: int = 0) -> list[Examined]:
    """Checks of the privacy loss from the times at which flags rise, along the mechanism's own runs and over all
    patterns of flags. Where there are stops, the delta of stops is checked too. Each check is repeated with injected
    faults.

    Args:
        mechanism: mechanism as the campaign will run it.
        twin: copy of the mechanism for six people, made by `tiny`.
        pool: possible records of the program, from which neighbouring data sets are built.
        seed: seed of the simulated records and of the noise.
    """
    asked = bool(mechanism.flags.queries and twin.flags.queries)
    found = [
        Examined(named="flags, the mechanism's own run", sound=twin, rows=lambda it: [
            own_patterns_row(it, pool, seed, sound=twin).smaller(SIX)],
            faults={"levels without noise": inject_fault(twin, NoLevelNoise)} if asked else {}),
        Examined(named="flags, all patterns", sound=mechanism, rows=lambda it: [
            row.smaller("a few people") for row in all_patterns_rows(it, mechanism)],
            faults={"a quarter of the queries' noise": inject_fault(mechanism, QuarterOfTheQueries)} if asked else {})]
    if mechanism.truncate:
        found.append(Examined(
            named="privacy: delta that stops cost", sound=mechanism, rows=lambda it: [stop_delta_row(it, mechanism)],
            faults={"room for noise with probability 1 - beta only": inject_fault(mechanism, StopsAtBeta)}
            if asked else {}))
    return found


# ---- along its own runs


def own_patterns_row(mechanism: RoundDude, pool: Pool, seed: int = 0, *, sound: RoundDude | None = None) -> AuditRow:
    """Audit row for the flags along a mechanism's own runs. The row compares the promised loss with the largest log
    ratio of the probabilities that a published pattern of flags has on two neighbouring data sets.

    Args:
        mechanism: copy of a campaign's mechanism for six people, made by `tiny`, with or without an injected fault.
        pool: possible records of the program, from which neighbouring data sets are built.
        seed: seed of the simulated records and of the noise.
        sound: mechanism without a fault, whose promise is compared with the result; `mechanism` by default.
    """
    worst, runs = 0.0, 0
    for number, step in enumerate(steps(mechanism, pool, seed)):
        for turn in range(history_kinds(mechanism)):
            source = histories(mechanism, seed)(number * history_kinds(mechanism) + turn)
            if turn == 0:  # a flag that rises as soon as the person has been served
                source = FlagAnswers(source, lambda _, at=step.index // mechanism.flags.batch: at)  # type: ignore[misc]
            history = RecordingNoise(source)
            outcome = mechanism.run(joined(mechanism.program, step.records), history)
            runs += 1
            first, second = (joined(mechanism.program, records) for records in (step.records, step.changed))
            worst = max(worst, pattern_loss(mechanism, outcome.billboard, history.draws, first, second))
    return AuditRow.at_most("privacy: times at which flags rise", (sound or mechanism).flags.epsilon, worst,
                            f"log ratio of the patterns of {runs} own runs, by the requested noise",
                            unit="nats", concern=Concern.PRIVACY)


def pattern_loss(
    mechanism: RoundDude, board: Any, draws: Sequence[Draw], first: ProgramRecords, second: ProgramRecords,
) -> float:
    """Absolute log ratio of the probabilities of a published pattern of flags on two data sets; infinite where the run
    did not draw the noise of its levels or of its queries.

    Args:
        mechanism: mechanism that ran.
        board: billboard that the run published.
        draws: all draws of noise that the run made.
        first: records of all participants in the run.
        second: records of all participants in the neighbouring data set.
    """
    if not mechanism.flags.queries:
        return 0.0
    laws = [[float(draw.scale) / LOAD_UNIT for draw in draws if draw.stream[0] == name] for name in ("level", "query")]
    if not all(laws):
        return math.inf
    one, other = (_log_probability(mechanism, table, board, *(scales[0] for scales in laws))
                  for table in (first, second))
    return abs(one - other)


def _log_probability(mechanism: RoundDude, table: ProgramRecords, board: Any, level: float, query: float) -> float:
    """Logarithm of the probability of a pattern of flags, given prices and public draws."""
    program, flags = mechanism.program, mechanism.flags
    which = drawn_rounds(board.public_seed, program.people, mechanism.rounds)
    added = program.contributions(table, responses_in(program, table, board.main_prices, which))
    out = ((added > 0) & (board.raised <= np.arange(program.people)[:, None])).any(axis=1)
    sums = np.cumsum(np.where(out[:, None], 0, added), axis=0)[flags.batch - 1 :: flags.batch][: flags.queries]
    total = 0.0
    for j in range(program.rows):
        counted = (sums[:, j] - flags.levels[j]) / LOAD_UNIT
        raised = int(board.raised[j])
        at = flags.queries if raised >= program.people else raised // flags.batch - 1
        total += float(log_halting_law(counted, LaplaceLaw(level, False), LaplaceLaw(query, False))[at])
    return total


# ---- all patterns of a few people and rows


def all_patterns_rows(mechanism: RoundDude, sound: RoundDude | None = None) -> list[AuditRow]:
    """Exact check over every pattern of flags and every pair of neighbours with contributions of 0 or Cinf, for a few
    people and constraints. Cinf is the largest entry of a contribution.

    Args:
        mechanism: mechanism as the campaign will run it, with or without an injected fault. The check uses the
            mechanism's noise and bounds.
        sound: mechanism without a fault, whose promise is compared with the result; `mechanism` by default.
    """
    own, out = mechanism.flags, []
    largest = own.unit / LOAD_UNIT
    noise = [LaplaceLaw(scale / LOAD_UNIT / largest, False) for scale in (own.level_scale, own.query_scale)]
    for people, rows in _SIZES:
        if rows > mechanism.program.rows:
            continue
        fills = min(rows, max(1, math.floor(own.entries)))
        allowed = [np.array(one, dtype=np.float64) for one in product((0.0, 1.0), repeat=rows) if sum(one) <= fills]
        others = [np.tile(each, (people - 1, 1)) for each in (allowed[0], allowed[-1])]
        worst = 0.0
        for at, rest in product(_LEVELS, others):
            law = FlagLaw(people=people, levels=(1.0 + at * (noise[0].scale + noise[1].scale),) * rows, level=noise[0],
                          query=noise[1])
            for place in (0, people - 2):
                logs = [law.logs(np.insert(rest, place, mine, axis=0)) for mine in allowed]
                pairs = combinations(range(len(allowed)), 2)
                worst = max([worst, *(float(np.abs(logs[a] - logs[b]).max()) for a, b in pairs
                                      if mechanism.neighbours != "add_or_remove" or a == 0)])
        promised = flag_loss(*(sound or mechanism).flags.parts, float(fills), rows, neighbours=mechanism.neighbours)
        out.append(AuditRow.at_most(
            f"privacy: times at which flags rise, of {people} people and {rows} row{'s' if rows > 1 else ''}",
                                    promised, worst,
            f"all patterns, all records of nothing or Cinf, {len(_LEVELS)} levels; exact, with the planned noise",
            unit="nats", concern=Concern.PRIVACY))
    return out


# ---- what stops cost


def stop_delta_row(mechanism: RoundDude, sound: RoundDude | None = None) -> AuditRow:
    """Audit row for the delta of stops, which is (1 + e^epsilon) times the probability that a stop raises some flag
    before noise does.

    A stop raises a flag before noise does only if a query's noise is below its level's noise by more than the room
    between the level and the stop. Where the level's noise is z, the noise of at least one of q queries is below z -
    room with probability 1 - (1 - P[noise < z - room])^q. The integral of this probability over z is computed by
    adaptive quadrature and multiplied by the number of constraints.

    Args:
        mechanism: mechanism with stops, with or without an injected fault.
        sound: mechanism without a fault, whose promise is compared with the result; `mechanism` by default.
    """
    own = mechanism.flags
    level, query, room = (one / LOAD_UNIT for one in (own.level_scale, own.query_scale, own.room))

    def missed(z: float) -> float:
        above = (math.log1p(-0.5 * math.exp((z - room) / query)) if z < room else  # ln P[noise >= z - room]
                 math.log(0.5) - (z - room) / query)
        return -math.expm1(own.queries * above) * math.exp(-abs(z) / level) / (2.0 * level)

    parts = [-_DEEP * level, 0.0, room, room + _DEEP * level]
    apart = math.fsum(quad(missed, low, high, epsabs=0.0, epsrel=1e-9, limit=500)[0]
                      for low, high in pairwise(parts))
    return AuditRow.at_most(
        "privacy: delta that stops cost", (sound or mechanism).flags.stop_delta,
        (1.0 + math.exp(own.epsilon)) * own.rows * apart,
        "the law of the planned noise, and of the room between levels and stops; by quadrature", scale=own.stop_delta,
        unit="(delta)", concern=Concern.PRIVACY)
