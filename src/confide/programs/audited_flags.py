"""Information about one participant in the times at which flags rise, exactly.

Given prices, draws and the pattern, rows are independent and everybody else's part is fixed. So the log ratio of a
pattern's probabilities in two worlds is a sum over rows of integrals over one level's noise. It is taken along a tiny
mechanism's own runs, with the noise that they asked for; and over all patterns of a few people and rows.

The exact law of when flags rise, for programs that are small enough to list all of their transcripts.

Given a transcript, the loads that are delivered up to each query are known, and rows are independent of each other:
the probability is a product over rows, each a sum over its level's noise (`confide.privacy.halting_law`). So the ratio
of two neighbours' probabilities is exact, and what `flag_loss` promises is compared with the largest of all.

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
        people: n.
        levels: (k,) public; whole numbers where the noise is on the integers.
        level: noise of each level.
        query: noise of each query.
        batch: people between two queries.
        stops: (k,) loads above which a flag rises whatever its noise; None for none.

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
            raise InvalidInput("levels", f"{len(self.levels)} of them have too many transcripts", f"at most {_MOST}")

    @property
    def queries(self) -> int:
        """Number of queries of each row: one after every batch but the last."""
        return -(-self.people // self.batch) - 1

    @property
    def transcripts(self) -> list[tuple[int, ...]]:
        """All transcripts: (k,) the query at which each flag rises, `queries` where it never does."""
        return list(product(range(self.queries + 1), repeat=len(self.levels)))

    def counted(self, contributions: NDArray[np.float64], transcript: tuple[int, ...]) -> NDArray[np.float64]:
        """Loads that are delivered before each query if flags rise as in a transcript, shape (queries, k).

        Args:
            contributions: (n, k).
            transcript: (k,).
        """
        batches = np.arange(self.people) // self.batch
        shut = (contributions > 0) & (batches[:, None] > np.array(transcript))
        delivered = np.where(shut.any(axis=1, keepdims=True), 0.0, contributions)
        sums: NDArray[np.float64] = np.cumsum(delivered, axis=0)[self.batch - 1 :: self.batch][: self.queries]
        return sums

    def logs(self, contributions: ArrayLike) -> NDArray[np.float64]:
        """Logarithms of the transcripts' probabilities, shape (transcripts,).

        Args:
            contributions: (n, k), never negative, in the unit of the noise.
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
        """The largest log ratio of both laws, over all transcripts and both directions.

        Args:
            first: (n, k) contributions.
            second: (n, k) another world's.
        """
        one, other = self.logs(first), self.logs(second)
        possible = np.isfinite(one) | np.isfinite(other)
        return float(np.abs(one[possible] - other[possible]).max())

    def delta(self, first: ArrayLike, second: ArrayLike, epsilon: float) -> float:
        """The least delta at which both laws are (epsilon, delta) apart, in both directions.

        Args:
            first: (n, k) contributions.
            second: (n, k) another world's.
            epsilon: >= 0.
        """
        one, other = np.exp(self.logs(first)), np.exp(self.logs(second))
        factor = math.exp(epsilon)
        return float(max(np.maximum(one - factor * other, 0.0).sum(), np.maximum(other - factor * one, 0.0).sum()))


@cache
def _row(gaps: tuple[float, ...], level: LaplaceLaw, query: LaplaceLaw, forced: int) -> tuple[float, ...]:
    """ln of the probability that one row's flag rises at each query, or never, given its answers less its level.

    Args:
        gaps: answers less the level.
        level: its noise.
        query: theirs.
        forced: the query at which it rises if it has not risen before.
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
    """Information in the times at which flags rise, along own runs and over all patterns; and the cost of stops, if
    any. Each is examined for broken flags, too.

    Args:
        mechanism: as it will run.
        twin: the tiny one.
        pool: records that neighbours are made of.
        seed: seed of the study.
    """
    asked = bool(mechanism.flags.queries and twin.flags.queries)
    found = [
        Examined(named="flags, its own run", sound=twin, rows=lambda it: [
            own_patterns_row(it, pool, seed, sound=twin).smaller(SIX)],
            faults={"levels without noise": inject_fault(twin, NoLevelNoise)} if asked else {}),
        Examined(named="flags, all patterns", sound=mechanism, rows=lambda it: [
            row.smaller("a few people") for row in all_patterns_rows(it, mechanism)],
            faults={"a quarter of the queries' noise": inject_fault(mechanism, QuarterOfTheQueries)} if asked else {})]
    if mechanism.truncate:
        found.append(Examined(
            named="privacy: delta that stops cost", sound=mechanism, rows=lambda it: [stop_delta_row(it, mechanism)],
            faults={"room for noise with probability 1 - beta alone": inject_fault(mechanism, StopsAtBeta)}
            if asked else {}))
    return found


# ---- along its own runs


def own_patterns_row(mechanism: RoundDude, pool: Pool, seed: int = 0, *, sound: RoundDude | None = None) -> AuditRow:
    """The largest log ratio of the patterns of a mechanism's own runs on neighbours.

    Args:
        mechanism: a tiny one, sound or broken.
        pool: records that neighbours are made of.
        seed: seed of the study.
        sound: sound mechanism whose promise counts, where `mechanism` is broken.
    """
    worst, runs = 0.0, 0
    for number, step in enumerate(steps(mechanism, pool, seed)):
        for turn in range(history_kinds(mechanism)):
            source = histories(mechanism, seed)(number * history_kinds(mechanism) + turn)
            if turn == 0:  # a flag that rises as soon as she has been served
                source = FlagAnswers(source, lambda _, at=step.index // mechanism.flags.batch: at)  # type: ignore[misc]
            history = RecordingNoise(source)
            outcome = mechanism.run(joined(mechanism.program, step.records), history)
            runs += 1
            first, second = (joined(mechanism.program, records) for records in (step.records, step.changed))
            worst = max(worst, pattern_loss(mechanism, outcome.billboard, history.draws, first, second))
    return AuditRow.at_most("privacy: when flags rise", (sound or mechanism).flags.epsilon, worst,
                            f"log ratio of the patterns of {runs} own runs, by the noise that they asked for",
                            unit="nats", concern=Concern.PRIVACY)


def pattern_loss(
    mechanism: RoundDude, board: Any, draws: Sequence[Draw], first: ProgramRecords, second: ProgramRecords,
) -> float:
    """Absolute log ratio of the probabilities of the pattern that a run published; infinite where the run did not ask
    for a part of its noise.

    Args:
        mechanism: mechanism that ran.
        board: billboard that it published.
        draws: draws that it asked for.
        first: records of all participants.
        second: records of all participants in a neighbouring world.
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
    """ln of the probability of a pattern, given prices and public draws."""
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
    """Every pattern, and every pair of neighbours with contributions of 0 or Cinf, of a few people and rows.

    Args:
        mechanism: as it will run, sound or broken: its noise and its bounds count.
        sound: sound mechanism whose promise counts, where `mechanism` is broken.
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
            f"privacy: when flags rise, of {people} people and {rows} row{'s' if rows > 1 else ''}", promised, worst,
            f"all patterns, all records of nothing or Cinf, {len(_LEVELS)} levels; exact, with the planned noise",
            unit="nats", concern=Concern.PRIVACY))
    return out


# ---- what stops cost


def stop_delta_row(mechanism: RoundDude, sound: RoundDude | None = None) -> AuditRow:
    """The delta of stops: (1 + e^epsilon) times the probability that they, and not noise, raise some flag.

    That takes a query's noise that is below its level's by more than the room between the level and the stop. Where the
    level's noise is z, one of q queries' is below z - room with probability 1 - (1 - P[noise < z - room])^q: an
    integral over z, here by adaptive quadrature, for all rows together.

    Args:
        mechanism: with stops, sound or broken.
        sound: sound mechanism whose promise counts, where `mechanism` is broken.
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
