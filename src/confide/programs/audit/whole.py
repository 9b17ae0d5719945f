"""The audit of a convex program: every promise held against the mechanism's own run, with mechanisms broken on purpose.

Nobody's records are used. Privacy is attacked with six made-up people, where the loss is exact; what is given to whom,
and what is claimed of it, is looked at with made-up people of the campaign's own number, or somewhat fewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from confide.audit import AuditReport, AuditRow, Control, inject_fault, promise_rows, sampler_audit
from confide.audit.faulty_noise import StuckNoise
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Accuracy, Participation, Truthfulness
from confide.contract.kinds import Progress
from confide.contract.progress import advance
from confide.privacy.noise import Noise, RecordingNoise
from confide.privacy.noise.simulated import study_generator
from confide.programs.audit.behaviour import FALSE_ALARM, behaviour_controls, behaviour_rows, scaled
from confide.programs.audit.flag_patterns import flag_controls, flag_rows
from confide.programs.audit.full_size import full_size
from confide.programs.audit.lies import Charging, lie_controls, lie_rows
from confide.programs.audit.made_up import Pool, joined
from confide.programs.audit.mutants import ChargesTwice
from confide.programs.audit.sensitivity import sensitivity_control, sensitivity_rows
from confide.programs.audit.tiny_programs import SIX, steps, tiny, tiny_pool
from confide.programs.audit.transcripts import answers_row, transcript_controls, transcript_rows
from confide.programs.dude import Dude
from confide.programs.round_dude import RoundDude

__all__ = ["audit_program", "sampler_rows"]

_DRAWS = 400  # enough to see a scale that is wrong by a factor two
_STEPS = 6
_POOL = 300  # made-up records at a campaign's own size


def audit_program(
    mechanism: Dude, seed: int = 0, progress: Progress | None = None, *, records: Sequence[Any] | None = None,
) -> AuditReport:
    """Promised against measured for one mechanism, with the planted bugs that the audit must flag.

    Args:
        mechanism: as it will run.
        seed: of made-up people and histories; noise from the operating system is tested on fresh draws.
        progress: called as the audit goes on.
        records: some, public or made up, each as `program.one` takes it: for programs of one's own, of which nobody
            here can make any up.

    Raises:
        InvalidInput: no mechanism of this family; a record that its program does not take.
        Unsupported: a program whose records have to be given.

    Source: spec convex_programs 10 and 11 (6, 8 and 9).

    Example:
        >>> from confide.programs import PrivDude, UnitDemand
        >>> report = audit_program(PrivDude(UnitDemand(400, 60, goods=4), 1.0, 1e-6, rounds=20, burn_in=10))
        >>> report.passed, all(control.flagged for control in report.controls)
        (True, True)
    """
    if not isinstance(mechanism, Dude):
        raise InvalidInput("mechanism", f"{type(mechanism).__name__} is none of a convex program")
    pool = tiny_pool(mechanism.program, seed, records)
    twin = tiny(mechanism, pool)
    small = Pool.of(twin.program, study_generator(seed, "tiny"), 0, pool.records)
    promised = mechanism.guarantees()
    rows, out = promise_rows(promised, mechanism.events)
    bent, _ = promise_rows(promised, inject_fault(mechanism, ChargesTwice).events)
    out.append(Control("the price of a promise", "twice the squared budget", any(row.flagged for row in bent)))
    rows += sensitivity_rows(mechanism, pool, seed)
    out.append(sensitivity_control(mechanism, pool, seed))
    advance(progress, 1, _STEPS)
    found = transcript_rows(twin, small, seed)
    rows += [row.smaller(SIX) for row in (*found.values(), answers_row(twin, small, seed))]
    if isinstance(twin, RoundDude) and isinstance(mechanism, RoundDude):
        rows += flag_rows(mechanism, twin, small, seed)
        out += flag_controls(mechanism, twin, small, seed)
    if isinstance(twin, Charging) and twin.alpha is not None:
        path, audit = (_number(found[part]) if part in found else 0.0 for part in ("slack", "audit"))
        path_row, gain_row = lie_rows(twin, small, path, seed, audit=audit)
        rows += [path_row.smaller(SIX), gain_row.smaller(SIX).holding(*promised.of(Truthfulness))]
        out += lie_controls(twin, seed)
    advance(progress, 2, _STEPS)
    out += transcript_controls(twin, small, seed)
    advance(progress, 3, _STEPS)
    rows += sampler_rows(twin, small, seed)
    out.append(_stuck(twin, small, seed))
    advance(progress, 4, _STEPS)
    own = scaled(mechanism)
    people = Pool.of(own.program, study_generator(seed, "people"), _POOL, records)
    large = full_size(mechanism, own, people, seed)
    rows += large[0]
    out += large[1]
    fewer = "" if own.program.people == mechanism.program.people else f"{own.program.people:,} people"
    rows += [row.smaller(fewer) for row in behaviour_rows(
        own, people, seed, (*promised.of(Accuracy), *promised.of(Participation)))]
    advance(progress, 5, _STEPS)
    out += behaviour_controls(own, people, seed)
    advance(progress, 6, _STEPS)
    return AuditReport(tuple(rows), tuple(out))


def _number(row: AuditRow) -> float:
    return float(row.measured) if isinstance(row.measured, float) else 0.0


# ---- the noise itself


def sampler_rows(twin: Dude, pool: Pool, seed: int, noise: Noise | None = None) -> list[AuditRow]:
    """Whether noise from the operating system has the laws that a run asks for.

    Args:
        twin: a tiny mechanism.
        pool: of its program's records.
        seed: of the run.
        noise: another source.
    """
    history = RecordingNoise(Noise.simulated(seed))
    twin.run(joined(twin.program, next(iter(steps(twin, pool, seed))).records), history)
    heard = {(draw.stream[0], draw.law): draw for draw in reversed(history.draws)}
    source = noise or Noise.secure()
    return [sampler_audit(source, draw, _DRAWS, FALSE_ALARM) for draw in heard.values()]


def _stuck(twin: Dude, pool: Pool, seed: int) -> Control:
    rows = sampler_rows(twin, pool, seed, StuckNoise(lambda: Noise.simulated(seed)))
    return Control("noise", "one stream for all draws", all(row.flagged for row in rows[:1]))


