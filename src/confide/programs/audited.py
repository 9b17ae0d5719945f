"""What the harness needs to know of a convex program: worst-case neighbours, parts of its noise, its own faults.

Nobody's records are used. Privacy is attacked with six made-up people, where the loss is exact; what is given to whom,
and what is claimed of it, is looked at with made-up people of the campaign's own number, or somewhat fewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from confide.audit import Audited, AuditRow, Examined, Laws, Transcripts, heard, inject_fault, promise_rows
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Accuracy, Participation, Truthfulness
from confide.privacy.noise.simulated import study_generator
from confide.programs.audited_behaviour import FALSE_ALARM, behaviour, scaled
from confide.programs.audited_faults import ChargesTwice
from confide.programs.audited_flags import flags
from confide.programs.audited_full_size import full_size
from confide.programs.audited_lies import Charging, lie_rows, vain_row
from confide.programs.audited_programs import SIX, steps, tiny, tiny_pool
from confide.programs.audited_records import Pool, joined
from confide.programs.audited_sensitivity import sensitivity
from confide.programs.audited_walks import answers, jointly
from confide.programs.dude import Dude
from confide.programs.round_dude import RoundDude

__all__ = ["laws", "program", "truth"]

_DRAWS = 400  # enough to see a scale that is wrong by a factor two
_POOL = 300  # made-up records at a campaign's own size


def program(mechanism: Dude, seed: int = 0, *, records: Sequence[Any] | None = None) -> Audited:
    """What is known of one mechanism that shares by a convex program.

    Args:
        mechanism: as it will run.
        seed: of made-up people and histories; noise from the operating system is tested on fresh draws.
        records: some, public or made up, each as `program.one` takes it: for programs of one's own, of which nobody
            here can make any up.

    Raises:
        InvalidInput: no mechanism of this family; a record that its program does not take.
        Unsupported: a program whose records have to be given.

    Source: spec convex_programs 10 and 11 (6, 8 and 9).

    Example:
        >>> from confide.audit import audit
        >>> from confide.programs import PrivDude, UnitDemand
        >>> report = audit(program(PrivDude(UnitDemand(400, 60, goods=4), 1.0, 1e-6, rounds=20, burn_in=10)))
        >>> report.passed, all(control.flagged for control in report.controls)
        (True, True)
    """
    if not isinstance(mechanism, Dude):
        raise InvalidInput("mechanism", f"{type(mechanism).__name__} is none of a convex program")
    pool = tiny_pool(mechanism.program, seed, records)
    twin, promised = tiny(mechanism, pool), mechanism.guarantees()
    small = Pool.of(twin.program, study_generator(seed, "tiny"), 0, pool.records)
    walked, own = jointly(twin, small, seed), scaled(mechanism)
    people = Pool.of(own.program, study_generator(seed, "people"), _POOL, records)
    fewer = "" if own.program.people == mechanism.program.people else f"{own.program.people:,} people"
    return Audited(promises=promised, events=mechanism.events, charged=mechanism.loss, measured=[
        Examined(named="the price of a promise", rows=lambda it: promise_rows(promised, it.events)[0] if it else [],
                 faults={"twice the squared budget": inject_fault(mechanism, ChargesTwice)}),
        sensitivity(mechanism, pool, seed),
        walked,
        answers(twin, small, seed),
        *(flags(mechanism, twin, small, seed) if isinstance(mechanism, RoundDude) and isinstance(twin, RoundDude)
          else ()),
        *((truth(twin, small, walked, promised.of(Truthfulness), seed),)
          if isinstance(twin, Charging) and twin.alpha is not None else ()),
        laws(twin, small, walked, seed),
        full_size(mechanism, own, people, seed),
        *behaviour(own, people, seed, (*promised.of(Accuracy), *promised.of(Participation)), fewer)])


def truth(
    twin: Charging, pool: Pool, walked: Transcripts, promises: Sequence[Truthfulness], seed: int
) -> Examined:
    """What lies gain by the loss that its own run showed, and where nobody gets her favourite.

    Args:
        twin: a tiny mechanism that charges.
        pool: of its program's records.
        walked: its run on neighbours.
        promises: of the campaign's own mechanism.
        seed: of people and noise.
    """

    def sound() -> Iterable[AuditRow]:
        path, audit = (_number(walked, part) for part in ("slack", "audit"))
        path_row, gain_row = lie_rows(twin, pool, path, seed, audit=audit)
        return path_row.smaller(SIX), gain_row.smaller(SIX).holding(*promises)

    return Examined(named="truthfulness", sound=sound, rows=lambda rows: rows(),
                    faults={"nobody is reassigned": lambda: [vain_row(twin, seed)]})


def _number(walked: Transcripts, part: str) -> float:
    """The loss of one part of the noise; 0 where nothing is charged for it, or where it is not known."""
    measured = walked.sound[part].row().measured if part in walked.sound else 0.0
    return float(measured) if isinstance(measured, float) else 0.0


def laws(twin: Dude, pool: Pool, walked: Transcripts, seed: int) -> Laws:
    """The laws that a run asks for.

    Args:
        twin: a tiny mechanism.
        pool: of its program's records.
        walked: its run on neighbours.
        seed: of the run.
    """
    step = next(iter(steps(twin, pool, seed)))
    return Laws(draws=lambda: heard(walked.run, joined(twin.program, step.records), seed), samples=_DRAWS,
                false_alarm=FALSE_ALARM, seed=seed)
