"""Audit of a mechanism that shares resources by a convex program: worst-case neighbouring data sets, the noise of each
release, and injected faults.

No real records are used. Privacy is audited on six simulated people, for whom the privacy loss is exact. Shares, and
claims about shares, are checked with as many simulated people as the campaign has, or somewhat fewer.

Fixed-transcript audit: a copy of the mechanism for six people runs on two neighbouring data sets with the same noisy
answers, the transcript. Both runs must publish the same bits to everybody except the changed participant. The privacy
loss along the transcript is computed from the exact numbers, before noise, of both runs. For each kind of noise, such
as the noise of the prices, the privacy loss along the transcript must not exceed the loss that is charged for this
noise. The fixed-transcript audit involves no sampling.

Full-size run: the mechanism runs on simulated people, and runs again on the same people with another record for one
person.

A run with six people shows the privacy loss that a rule of the mechanism causes, but no effect that occurs only among
many people. In the full-size run, the noise and the numbers of people, constraints and rounds are the campaign's own,
as far as the running time allows. Both full-size runs receive the same noisy answers. The published results of both
runs must not differ, and the privacy loss along the path of prices is exact.

Some mechanisms have flags: a flag rises by a noisy test before the supply of a constraint is used up. A stop raises a
flag, whatever the noise, before the supply can be exceeded. If the mechanism has flags without stops, the noise of both
runs is chosen so that no flag rises. If the mechanism has stops, the noise is chosen so that each flag rises before its
stop could raise the flag. A stop depends on the exact loads and is paid for by its own delta. The information in the
flags about the changed participant is computed from the scales of the noise, if each flag has at most 64 queries. The
ratio of the measured loss to the promised loss shows how small the noise could become before the audit reports too
little noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from confide.audit import (
    Audited,
    AuditRow,
    Concern,
    DampedNoise,
    Examined,
    FullSize,
    Laws,
    Loss,
    Neighbours,
    Transcripts,
    exceeds,
    fixed_transcript_audit,
    inject_fault,
    observed,
    promise_rows,
    published,
    run_with_steps,
    strongest,
)
from confide.audit.history_loss import promised_parameter, spent
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Accuracy, Participation, Privacy, Truthfulness
from confide.privacy.accounting.sums import root_up
from confide.privacy.events import Event, GDPEvent, PureEvent, ZCDPEvent
from confide.privacy.losses import GDP, ApproxDP
from confide.privacy.noise import Draw, Noise, RecordingNoise
from confide.privacy.noise.arguments import StreamName
from confide.privacy.noise.simulated import study_generator
from confide.programs.audited_behaviour import FALSE_ALARM, behaviour, scaled
from confide.programs.audited_faults import ChargesTwice, EarlyCoins, QuarterOfTheQueries, ReusesNoise, faults
from confide.programs.audited_flags import flags, pattern_loss
from confide.programs.audited_programs import (
    SIX,
    FlagAnswers,
    charges,
    histories,
    history_kinds,
    neighbours,
    sensitivity,
    steps,
    tiny,
    tiny_pool,
)
from confide.programs.audited_records import Pool, joined
from confide.programs.audited_shares import Charging, lie_rows, vain_row
from confide.programs.dude import Dude
from confide.programs.grids import LOAD_UNIT
from confide.programs.program import ProgramRecords
from confide.programs.round_dude import RoundDude
from confide.programs.tight_dude import TightDude
from confide.programs.tighten_and_audit import TightenAndAudit

__all__ = [
    "answers",
    "answers_row",
    "attained",
    "draws_publicly",
    "full_size",
    "full_size_rows",
    "jointly",
    "laws",
    "program",
    "truth",
]

# ---- audited replays

_PAIRS = 16  # all there are

if TYPE_CHECKING:  # what it is put on top of
    from confide.programs.program import Program as _Read
else:
    _Read = object

def jointly(mechanism: Dude, pool: Pool, seed: int = 0) -> Transcripts:
    """Fixed-transcript audit of a mechanism for six people. The privacy loss between worst-case neighbouring data sets
    is compared with the charged losses and with the promises.

    The loss of each kind of noise, and of all noise together, is compared with the charged loss. Where all noise is
    Gaussian, the total loss is also compared with each promise of the mechanism.

    Args:
        mechanism: copy of a campaign's mechanism for six people, made by `tiny`, without injected faults.
        pool: possible records of the program, from which neighbouring data sets are built.
        seed: seed of the simulated records and of the noise.

    Example:
        >>> from confide.programs import PrivDude, UnitDemand
        >>> from confide.programs.audited_programs import tiny_pool
        >>> mechanism = PrivDude(UnitDemand(6, 1.0, goods=3), 1.0, 1e-6, rounds=4, burn_in=2)
        >>> found = jointly(mechanism, tiny_pool(mechanism.program, 0)).sound["slack"]
        >>> found.flagged, round(found.measured, 6), round(found.promised, 6)
        (False, 0.236704, 0.236704)
    """
    # Of flags only what they say is published, which has rows of its own.
    promises = [] if isinstance(mechanism, RoundDude) else [
        each for each in mechanism.guarantees().privacy if each.neighbours is mechanism.relation]
    return Transcripts(
        named="privacy: everything that others see, jointly", run=partial(run_with_steps, mechanism), seed=seed,
        pairs=partial(neighbours, mechanism, pool, seed), claims=charges(mechanism), promises=promises,
        names={"slack": "privacy: the path of prices", "audit": "privacy: the audit of the load"},
        source=histories(mechanism, seed), histories=history_kinds(mechanism), hardest=_PAIRS, among=SIX,
        events=mechanism.events,
        faults={says: partial(run_with_steps, bent)
                for says, bent in faults(mechanism, attained(mechanism, pool)).items()})


_Bent = Callable[[Noise], Noise]


def answers(mechanism: Dude, pool: Pool, seed: int = 0) -> Examined:
    """Check that the numbers published in each round are the result of that round's own draw of noise.

    The check must find up to three injected faults, as far as they are possible in the mechanism: noise that is used
    twice, public randomness that is drawn before the records are read, and too little noise in the flags. Reused noise
    causes no loss along a path of prices on which the changed record changes each round by the same amount, so other
    audits can miss reused noise. The comparison of each round with its own draw always finds it.

    Args:
        mechanism: copy of a campaign's mechanism for six people, made by `tiny`.
        pool: possible records of the program, from which neighbouring data sets are built.
        seed: seed of the simulated records and of the noise.
    """
    bugs: dict[str, tuple[Dude, _Bent]] = {}
    if mechanism.schedule.total > 1:
        bugs["the noise of one round used for the next round, too"] = inject_fault(mechanism, ReusesNoise), _as_it_is
    if draws_publicly(mechanism):
        bugs["public randomness drawn before the records are read"] = mechanism, EarlyCoins
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
    """Check that the numbers published in each round are the result of that round's own draw, with noise of the planned
    scale. Public randomness must be drawn after the records have been read.

    Args:
        mechanism: copy of a campaign's mechanism for six people, made by `tiny`, with or without an injected fault.
        pool: possible records of the program, from which neighbouring data sets are built.
        seed: seed of the simulated records and of the noise.
        bent: function that receives the noise source of a run and returns the source that the run uses instead; by
            default, the source is unchanged.
        sound: mechanism without a fault, whose planned noise is compared with the drawn noise; `mechanism` by default.
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
    return AuditRow.at_most("privacy: number of published numbers that are not the answer of a draw, and of draws "
                            "before the records are read",
                            0.0, float(wrong), f"all noise that {runs} runs requested, in order",
                            unit="numbers and draws", concern=Concern.PRIVACY)


def _unanswered(mechanism: Dude, board: Any, draws: Sequence[Draw]) -> int:
    """Number of published rounds and published audits that differ from their draw, or whose draw lacks the planned
    noise.
    """
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
    for stream, noised, deviation in wanted:
        found = answers.get(stream)
        wrong += found is None or not np.array_equal(np.rint(np.asarray(found.value) * unit), noised) or \
            found.law != mechanism.law or found.scale < Fraction(deviation) * (LOAD_UNIT // unit)
    return wrong


class _Watched:
    """Marker class for a mechanism whose program is observed. The class changes nothing."""


class _Reading(_Read):
    """A program that stores the number of draws at the time when it reads its records."""

    def read(self, data: Any, **more: Any) -> Any:
        self.__dict__.setdefault("drawn", len(self.__dict__["seen"].draws))
        return super().read(data, **more)


def attained(mechanism: Dude, pool: Pool) -> float:
    """Largest l2 distance by which one record changes the load at prices of zero, as a share of the l2 sensitivity.
    Depending on the neighbouring relation of the mechanism, a record is replaced by another record of the pool, or is
    left out.

    Args:
        mechanism: mechanism of any size.
        pool: possible records of the mechanism's program, from which the audited data sets are drawn.
    """
    zero = np.zeros(mechanism.program.rows, dtype=np.int64)
    moved = pool.distances(zero, zero).max() if mechanism.neighbours == "replace" else np.linalg.norm(
        pool.contributed(zero), axis=1).max()
    return float(moved) / root_up(mechanism.squared_l2_sensitivity)


def draws_publicly(mechanism: Dude) -> bool:
    """Whether a mechanism draws public randomness.

    Args:
        mechanism: any mechanism.
    """
    return isinstance(mechanism, RoundDude | TightDude | TightenAndAudit)


# ---- audited full size

_NAME = "privacy: at the campaign's own size, everything that others see, jointly"
_PATH = "privacy: at the campaign's own size, the path of prices"
_FLAGS = 64  # times at which a flag may rise, up to which the law of when it does is computed
_INJECTED = (0.05, 0.002)  # of the noise: each is one more replay


class _Replay(NamedTuple):
    """Results of one fixed-transcript audit of a pair of neighbouring data sets.

    Args:
        gaussian: privacy loss of the path of prices and of an audit of the load, in the parameter in which they are
            charged.
        flags: privacy loss from the times at which flags rise, in nats; None where it was not computed.
        leak: description of the information that reached the public without noise; "" for none.
        share: measured loss of the noise as a share of the charge.
        shows: factor on the noise scale below which the audit would flag the noise.
    """

    gaussian: float
    flags: float | None
    leak: str
    share: float
    shows: float


def full_size(mechanism: Dude, own: Dude, pool: Pool, seed: int = 0) -> FullSize:
    """Audit of a full-size run of a mechanism, and of the same run with too little noise, which the audit must flag.

    Args:
        mechanism: mechanism of a campaign.
        own: the mechanism that runs. The mechanism is `mechanism` itself or, if `mechanism` is very large, its copy for
            fewer people from `scaled`.
        pool: possible records of the program, from which the simulated people's records are drawn.
        seed: seed of the simulated people and of the noise.
    """

    @cache
    def pair() -> tuple[ProgramRecords, ProgramRecords, int]:
        return _pair(own, pool, seed)

    return FullSize(
        sound=1.0, damped=lambda factor: factor, factors=_INJECTED, rows=lambda factor: _rows(mechanism, own, _replayed(
            own, pair(), seed, lambda noise: noise if factor == 1.0 else DampedNoise(noise, factor))))


def full_size_rows(mechanism: Dude, own: Dude, pool: Pool, seed: int = 0) -> list[AuditRow]:
    """Audit rows of the full-size run: one for each promise of privacy that does not follow from another promise. If
    each flag has more than 64 queries, the only row is about the path of prices.

    Args:
        mechanism: mechanism of a campaign, whose promises are checked.
        own: the mechanism that runs, which is `mechanism` itself, its copy for fewer people, or one of these two with
            an injected fault.
        pool: possible records of the program, from which the simulated people's records are drawn.
        seed: seed of the simulated people and of the noise.

    Example:
        >>> from confide.programs import PrivDude, UnitDemand
        >>> mechanism = PrivDude(UnitDemand(400, 60, goods=4), 1.0, 1e-6, rounds=20, burn_in=10)
        >>> pool = Pool.of(mechanism.program, study_generator(0, "people"), 20)
        >>> row, = full_size_rows(mechanism, mechanism, pool)
        >>> row.verdict.value, row.among, len(row.holds), row.promised, round(row.measured, 6)
        ('kept', '', 2, 1.0, 1.0)
    """
    return _rows(mechanism, own, _replayed(own, _pair(own, pool, seed), seed))


def _pair(own: Dude, pool: Pool, seed: int) -> tuple[ProgramRecords, ProgramRecords, int]:
    """Two neighbouring data sets and the position of the participant in whom they differ. The two records of the
    changed participant lie as far apart as possible.
    """
    draw = study_generator(seed, "the assignment of shares, at its own size")
    which = draw.integers(0, len(pool.records), own.program.people)
    index = own.program.people // 2
    if isinstance(own, RoundDude):  # somebody who is served before flags rise
        index = min([index, *((at + 1) * own.flags.batch // 2 for at in _risen(own).values())])
    first, second = pool.farthest_places()
    if own.neighbours == "add_or_remove":
        second = next(at for at, record in enumerate(pool.records) if record is None)
        first = pool.largest_place()
    tables = []
    for mine in (first, second):
        which[index] = mine
        tables.append(pool.table.take(which))
    return tables[0], tables[1], index


def _risen(own: RoundDude) -> dict[int, int]:
    """Mapping from a constraint to the query at which the noise raises its flag. At an earlier query no stop can raise
    the flag, since too few people have been counted.
    """
    flags = own.flags
    if not flags.stop_delta:
        return {}
    latest = {j: max(0, supply // (flags.batch * flags.unit) - 2) for j, supply in enumerate(flags.supply)}
    return {j: at for j, at in latest.items() if at < flags.queries}


def _replayed(
    own: Dude, pair: tuple[ProgramRecords, ProgramRecords, int], seed: int, bent: _Bent = lambda noise: noise,
) -> _Replay:
    first, second, index = pair
    observed = dict[str, Any]()

    def noise(_: int) -> Noise:
        drawn = Noise.simulated(seed + 77_003)
        return FlagAnswers(drawn, _risen(own).get) if isinstance(own, RoundDude) else drawn

    def run(data: Any, source: Noise) -> Any:
        outcome = own.run(data, bent(source))
        if isinstance(source, RecordingNoise):
            observed["board"], observed["draws"] = outcome.billboard, tuple(source.draws)
        return outcome

    claim = charges(own)[""]
    neighbours = Neighbours(first, second, partial(published, index=index))
    audit = fixed_transcript_audit(run, [neighbours], {"": claim}, noise)[""]
    flags: float | None = 0.0
    if isinstance(own, RoundDude):
        few = own.flags.queries <= _FLAGS
        flags = pattern_loss(own, observed["board"], observed["draws"], first, second) if few else None
    leaks = [*audit.leaks, *(["the run did not request a part of the flags' noise"] if flags == math.inf else [])]
    share = audit.measured / audit.promised
    return _Replay(audit.measured, flags, leaks[0] if leaks else "", share,
                   share if isinstance(claim, GDP) else math.sqrt(share))


def _rows(mechanism: Dude, own: Dude, found: _Replay) -> list[AuditRow]:
    fewer = "" if own.program.people == mechanism.program.people else f"{own.program.people:,} people"
    stops = own.flags.stop_delta if isinstance(own, RoundDude) and own.truncate else 0.0
    evidence = found.leak or (f"{own.program.people:,} synthetic people, with one record replaced: equal publications "
                              "on equal noise; loss exact along one path")
    note = "" if found.leak else f"the audit would flag noise below {found.shows:.2g} of its scale"
    if found.flags is None:
        claim = charges(own)[""]
        row = AuditRow.of_loss(_PATH, claim, promised_parameter(claim), math.inf if found.leak else found.gaussian,
                               evidence, flagged=bool(found.leak) or exceeds(found.share, 1.0))
        return [replace(row, note=f"{note}; another row measures the times at which flags rise").smaller(fewer)]
    rows = []
    for promise, follow in strongest(each for each in own.guarantees().privacy if each.claimable
                                     and each.neighbours is own.relation and not each.loss.vacuous):
        measured = math.inf if found.leak else _cost(promise, own, found, stops)
        row = AuditRow.of_privacy(
            promise, measured, evidence, named=_NAME, note=note)
        if not found.leak and exceeds(found.share, 1.0):  # more than the noise may cost, whatever the sum still allows
            row = replace(row, verdict="broken")
        rows.append(row.smaller(fewer) if fewer else row.holding(*follow))
    return rows


def _cost(promise: Privacy, own: Dude, found: _Replay, stops: float) -> float:
    """Measured loss of the release in the number that a promise states. Before the comparison, the delta of the stops
    is subtracted from the promise's delta.
    """
    events = list[Event]()
    if found.gaussian:
        events.append(GDPEvent(mu=found.gaussian, neighbours=own.relation) if isinstance(charges(own)[""], GDP) else
                      ZCDPEvent(rho=found.gaussian, neighbours=own.relation))
    if found.flags:
        events.append(PureEvent(epsilon=found.flags, neighbours=own.relation))
    loss = promise.loss
    if not isinstance(loss, Loss):
        return math.inf
    left = ApproxDP(loss.epsilon, loss.delta - stops) if isinstance(loss, ApproxDP) and stops else loss
    return spent(events, left) if events else 0.0


# ---- audited

_DRAWS = 400  # enough to see a scale that is wrong by a factor two
_POOL = 300  # made-up records at a campaign's own size


def program(mechanism: Dude, seed: int = 0, *, records: Sequence[Any] | None = None) -> Audited:
    """Build the audit of one mechanism that shares resources by a convex program.

    Args:
        mechanism: mechanism as the campaign will run it.
        seed: seed of the simulated people and of the noise of their runs. Noise from the operating system is tested on
            fresh draws, which no seed determines.
        records: some records, public or invented, each in a form that `program.one` accepts; None to simulate records.
            Records must be given for a user-defined program, because records of an unknown form cannot be simulated.

    Raises:
        InvalidInput: the argument is no mechanism of this family, or its program does not accept a record.
        Unsupported: the program is user-defined and no records are given.

    Source: spec convex_programs 10 and 11 (6, 8 and 9).

    Example:
        >>> from confide.audit import audit
        >>> from confide.programs import PrivDude, UnitDemand
        >>> report = audit(program(PrivDude(UnitDemand(400, 60, goods=4), 1.0, 1e-6, rounds=20, burn_in=10)))
        >>> report.passed, all(control.flagged for control in report.controls)
        (True, True)
    """
    if not isinstance(mechanism, Dude):
        raise InvalidInput("mechanism", f"{type(mechanism).__name__} is not a mechanism of a convex program")
    pool = tiny_pool(mechanism.program, seed, records)
    twin, promised = tiny(mechanism, pool), mechanism.guarantees()
    small = Pool.of(twin.program, study_generator(seed, "tiny"), 0, pool.records)
    replayed, own = jointly(twin, small, seed), scaled(mechanism)
    people = Pool.of(own.program, study_generator(seed, "people"), _POOL, records)
    fewer = "" if own.program.people == mechanism.program.people else f"{own.program.people:,} people"
    return Audited(promises=promised, events=mechanism.events, charged=mechanism.loss, measured=[
        Examined(named="the price of a promise", rows=lambda it: promise_rows(promised, it.events)[0] if it else [],
                 faults={"twice the squared budget": inject_fault(mechanism, ChargesTwice)}),
        sensitivity(mechanism, pool, seed),
        replayed,
        answers(twin, small, seed),
        *(flags(mechanism, twin, small, seed) if isinstance(mechanism, RoundDude) and isinstance(twin, RoundDude)
          else ()),
        *((truth(twin, small, replayed, promised.of(Truthfulness), seed),)
          if isinstance(twin, Charging) and twin.alpha is not None else ()),
        laws(twin, small, replayed, seed),
        full_size(mechanism, own, people, seed),
        *behaviour(own, people, seed, (*promised.of(Accuracy), *promised.of(Participation)), fewer)])


def truth(
    twin: Charging, pool: Pool, replayed: Transcripts, promises: Sequence[Truthfulness], seed: int
) -> Examined:
    """Check of the largest gain from a lie, computed from the measured privacy loss. The check is repeated with an
    injected fault, in which participants who would gain much by their favourite action do not receive this action in
    place of their share.

    Args:
        twin: copy of the campaign's mechanism for six people, made by `tiny`. The campaign's mechanism charges prices.
        pool: possible records of the mechanism's program, from which the audited data sets are drawn.
        replayed: fixed-transcript audit of `twin`, from `jointly`.
        promises: promises of truthfulness of the campaign's own mechanism.
        seed: seed of the simulated people and of the noise.
    """

    def sound() -> Iterable[AuditRow]:
        path, audit = (_number(replayed, part) for part in ("slack", "audit"))
        path_row, gain_row = lie_rows(twin, pool, path, seed, audit=audit)
        return path_row.smaller(SIX), gain_row.smaller(SIX).holding(*promises)

    return Examined(named="truthfulness", sound=sound, rows=lambda rows: rows(),
                    faults={"nobody is reassigned": lambda: [vain_row(twin, seed)]})


def _number(replayed: Transcripts, part: str) -> float:
    """Measured loss of one part of the noise; 0 where nothing is charged for the part, or where the loss is unknown."""
    measured = replayed.sound[part].row().measured if part in replayed.sound else 0.0
    return float(measured) if isinstance(measured, float) else 0.0


def laws(twin: Dude, pool: Pool, replayed: Transcripts, seed: int) -> Laws:
    """Statistical test of the probability distributions of the noise that a run draws.

    Args:
        twin: copy of the campaign's mechanism for six people, made by `tiny`.
        pool: possible records of the mechanism's program, from which the audited data sets are drawn.
        replayed: fixed-transcript audit of `twin`, from `jointly`.
        seed: seed of the choice of records and of the noise of the run.
    """
    step = next(iter(steps(twin, pool, seed)))
    return Laws(draws=lambda: observed(replayed.run, joined(twin.program, step.records), seed), samples=_DRAWS,
                false_alarm=FALSE_ALARM, seed=seed)
