"""One walk at a campaign's own size: its run on made-up people, and on the same where one hands in something else.

Six people show what a rule costs; what happens among many only, they cannot show. Here people, rows, rounds and noise
are the campaign's own, as far as a run of bearable length goes. Both runs are given the same noisy answers: what is
published may not differ, and the loss along the path is exact. Flags are made never to rise, or with stops before any
could: a stop follows from the loads, and has its own delta. What that tells of her is computed from the noise that was
asked for, where there are not too many of them. How much of the promise the pair reaches says how much too little noise
it would show.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

from confide.audit import (
    AuditRow,
    DampedNoise,
    FullSize,
    Loss,
    Neighbours,
    exceeds,
    fixed_transcript_audit,
    published,
    strongest,
)
from confide.audit.history_loss import promised_parameter, spent
from confide.contract.guarantees import Privacy
from confide.privacy.events import Event, GDPEvent, PureEvent, ZCDPEvent
from confide.privacy.losses import GDP, ApproxDP
from confide.privacy.noise import Noise, RecordingNoise
from confide.privacy.noise.simulated import study_generator
from confide.programs.audited_flags import pattern_loss
from confide.programs.audited_programs import FlagAnswers, charges
from confide.programs.audited_records import Pool
from confide.programs.dude import Dude
from confide.programs.program import ProgramRecords
from confide.programs.round_dude import RoundDude

__all__ = ["full_size", "full_size_rows"]

_NAME = "privacy: at its own size, everything that others see, jointly"
_PATH = "privacy: at its own size, the path of prices"
_FLAGS = 64  # times at which a flag may rise, up to which the law of when it does is computed
_PLANTED = (0.05, 0.002)  # of the noise: each is one more walk

_Bent = Callable[[Noise], Noise]


class _Walk(NamedTuple):
    """What a pair showed.

    Args:
        gaussian: the loss of the path, and of an audit, in the parameter of what they are charged as.
        flags: of when flags rise, in nats; None where that was not computed.
        leak: what reached the public past the noise; "" for nothing.
        share: of what the noise may cost, that it cost.
        shows: below which share of its scale the noise would be flagged.
    """

    gaussian: float
    flags: float | None
    leak: str
    share: float
    shows: float


def full_size(mechanism: Dude, own: Dude, pool: Pool, seed: int = 0) -> FullSize:
    """The walk, and the same with noise that is too small at this size alone.

    Args:
        mechanism: of a campaign.
        own: the same, or a smaller copy where it is very large.
        pool: of records.
        seed: of people and noise.
    """

    @cache
    def pair() -> tuple[ProgramRecords, ProgramRecords, int]:
        return _pair(own, pool, seed)

    return FullSize(
        sound=1.0, damped=lambda factor: factor, factors=_PLANTED, rows=lambda factor: _rows(mechanism, own, _walked(
            own, pair(), seed, lambda noise: noise if factor == 1.0 else DampedNoise(noise, factor))))


def full_size_rows(mechanism: Dude, own: Dude, pool: Pool, seed: int = 0) -> list[AuditRow]:
    """The walk alone: one row for each promise of privacy from which the others follow.

    Args:
        mechanism: of a campaign, whose promises are held.
        own: the same, sound or broken, or a smaller copy of it.
        pool: of records.
        seed: of people and noise.

    Example:
        >>> from confide.programs import PrivDude, UnitDemand
        >>> mechanism = PrivDude(UnitDemand(400, 60, goods=4), 1.0, 1e-6, rounds=20, burn_in=10)
        >>> pool = Pool.of(mechanism.program, study_generator(0, "people"), 20)
        >>> row, = full_size_rows(mechanism, mechanism, pool)
        >>> row.verdict.value, row.among, len(row.holds), row.promised, round(row.measured, 6)
        ('kept', '', 2, 1.0, 1.0)
    """
    return _rows(mechanism, own, _walked(own, _pair(own, pool, seed), seed))


def _pair(own: Dude, pool: Pool, seed: int) -> tuple[ProgramRecords, ProgramRecords, int]:
    """Everybody's records, the same where one hands in what lies farthest from hers, and who she is."""
    draw = study_generator(seed, "who has which, at its own size")
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
    """Row -> the query at which noise raises its flag, which no stop can do before: so few have been counted."""
    flags = own.flags
    if not flags.stop_delta:
        return {}
    latest = {j: max(0, supply // (flags.batch * flags.unit) - 2) for j, supply in enumerate(flags.supply)}
    return {j: at for j, at in latest.items() if at < flags.queries}


def _walked(
    own: Dude, pair: tuple[ProgramRecords, ProgramRecords, int], seed: int, bent: _Bent = lambda noise: noise,
) -> _Walk:
    first, second, index = pair
    heard = dict[str, Any]()

    def noise(_: int) -> Noise:
        drawn = Noise.simulated(seed + 77_003)
        return FlagAnswers(drawn, _risen(own).get) if isinstance(own, RoundDude) else drawn

    def run(data: Any, source: Noise) -> Any:
        outcome = own.run(data, bent(source))
        if isinstance(source, RecordingNoise):
            heard["board"], heard["draws"] = outcome.billboard, tuple(source.draws)
        return outcome

    claim = charges(own)[""]
    neighbours = Neighbours(first, second, partial(published, index=index))
    audit = fixed_transcript_audit(run, [neighbours], {"": claim}, noise)[""]
    flags: float | None = 0.0
    if isinstance(own, RoundDude):
        few = own.flags.queries <= _FLAGS
        flags = pattern_loss(own, heard["board"], heard["draws"], first, second) if few else None
    leaks = [*audit.leaks, *(["a part of the flags' noise was not asked for"] if flags == math.inf else [])]
    share = audit.measured / audit.promised
    return _Walk(audit.measured, flags, leaks[0] if leaks else "", share,
                 share if isinstance(claim, GDP) else math.sqrt(share))


def _rows(mechanism: Dude, own: Dude, found: _Walk) -> list[AuditRow]:
    fewer = "" if own.program.people == mechanism.program.people else f"{own.program.people:,} people"
    stops = own.flags.stop_delta if isinstance(own, RoundDude) and own.truncate else 0.0
    evidence = found.leak or (f"{own.program.people:,} made-up people, one of whom hands in something else: published "
                              "alike on equal noise; loss exact along one path")
    note = "" if found.leak else f"noise would be flagged below {found.shows:.2g} of its scale"
    if found.flags is None:
        claim = charges(own)[""]
        row = AuditRow.of_loss(_PATH, claim, promised_parameter(claim), math.inf if found.leak else found.gaussian,
                               evidence, flagged=bool(found.leak) or exceeds(found.share, 1.0))
        return [replace(row, note=f"{note}; when flags rise is measured in a row of its own").smaller(fewer)]
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


def _cost(promise: Privacy, own: Dude, found: _Walk, stops: float) -> float:
    """What was released along the history, in a promise's own number; stops have used up a part of its delta."""
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
