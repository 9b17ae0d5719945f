"""The audit of a planned campaign that shares by a program. Nobody's record is touched.

The family's audit, with the ledger's charge, and what the campaign's own mechanism does with made-up people as they
would hand in: decodes and billboards, each beside something that is broken on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from confide.audit import AuditReport, AuditRow, Concern, Control, completed
from confide.audit.device_runs import refused_row
from confide.campaign.kinds.programs.plan import SharingPlan
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Accuracy, Guarantee, Participation, Truthfulness
from confide.contract.kinds import Progress
from confide.contract.outcome import SimulatedOutcome
from confide.contract.progress import advance
from confide.people import SlotRows
from confide.privacy.noise import Noise
from confide.programs.dude import Dude
from confide.programs.instances import made_up
from confide.programs.reading.slots import collected, layout

__all__ = ["audit_life", "audit_plan"]

_RUNS = 2
_DECODES = 40  # of one run
_UNPROMISED = {
    Concern.INCENTIVES: "no prices are charged, and then nothing is claimed about lies; alpha charges them, in the "
                        "modes audited, truthful and tight",
    Concern.PARTICIPATION: "nothing is charged and nobody is paid; what privacy is worth to anybody is not asked",
}
_STEPS = 100  # of either half, as its progress is told


@dataclass(frozen=True, kw_only=True)
class _Played:
    """One run on made-up people."""

    cells: np.ndarray
    outcome: SimulatedOutcome

    @property
    def board(self) -> Any:
        return self.outcome.billboard


def audit_plan(plan: SharingPlan, seed: int = 0, progress: Progress | None = None) -> AuditReport:
    """Promised against measured for one campaign, with the planted bugs that the audit must flag.

    Args:
        plan: of the campaign.
        seed: of made-up people and noise.
        progress: called as the audit goes on.
    """
    from confide.programs.audit import audit_program  # and its mechanisms that are broken on purpose

    family = audit_program(plan.mechanism, seed, _half(progress, 0))
    life = audit_life(plan, seed, _half(progress, 1))
    both = AuditReport((*family.rows, *life.rows), (*family.controls, *life.controls))
    return completed(both, plan.guarantees, _UNPROMISED, _unmeasured)


def _unmeasured(promise: Guarantee) -> str:
    """Why a promise has no row."""
    match promise:
        case Accuracy():
            return ("a bound before the run that rests on the regret of the prices; the rows about certificates hold "
                    "what is claimed after a run against exact values")
        case Participation():
            return "what her part is worth at the charged prices is not held against the promise one by one"
        case Truthfulness():
            return "lies are searched for where prices are charged for whole parts or averages alone"
    return ""


def _half(progress: Progress | None, half: int) -> Progress | None:
    """Progress of one half of the audit, as progress of it all."""
    if progress is None:
        return None

    def tell(done: int, total: int | None) -> None:
        progress(half * _STEPS + done * _STEPS // (total or 1), 2 * _STEPS)

    return tell


def audit_life(plan: SharingPlan, seed: int = 0, progress: Progress | None = None) -> AuditReport:
    """What a run of the campaign does, on made-up people; of a smaller one where it is very large.

    Args:
        plan: of the campaign.
        seed: of made-up people and noise.
        progress: called as the audit goes on.
    """
    from confide.programs.audit.behaviour import delivering, scaled

    it = delivering(scaled(plan.mechanism))
    played = [_play(it, 1000 * seed + number) for number in range(_RUNS)]
    parts, rows, controls = _parts(it, played), list[AuditRow](), list[Control]()
    for audit, control, bug in parts:
        rows.append(audit())
        controls.append(Control(rows[-1].promise, bug, control().flagged))
        advance(progress, len(rows), len(parts))
    return AuditReport(tuple(rows), tuple(controls))


def _play(it: Dude, seed: int) -> _Played:
    cells = made_up(it.program, seed)
    records = collected(it.program, iter([SlotRows(np.arange(it.program.people), cells)]))
    outcome = it.run(records, Noise.simulated(seed))
    if not isinstance(outcome, SimulatedOutcome):
        raise InvalidInput("outcome", "is a release", "an audit is made with simulated noise")
    return _Played(cells=cells, outcome=outcome)


_Row = Callable[[], AuditRow]


def _parts(it: Dude, played: Sequence[_Played]) -> list[tuple[_Row, _Row, str]]:
    """(the audit, the same audit of something broken, what was broken)."""
    n = it.program.people
    handed = [replace(each, outcome=replace(each.outcome, shares=each.outcome.shares.take(np.roll(np.arange(n), 1))))
              for each in played]
    return [
        (partial(_decodes, it, played), partial(_decodes, it, handed), "each part handed to the next person"),
        (partial(_checks, it, played), partial(_checks, it, [_moved(each) for each in played]),
         "prices that do not follow from what was released"),
    ]


def _moved(played: _Played) -> _Played:
    """A billboard with one price that is another."""
    prices = played.board.prices.copy()
    prices[-1] += 1
    return replace(played, outcome=replace(played.outcome, billboard=replace(played.board, prices=prices)))


def _decodes(it: Dude, played: Sequence[_Played]) -> AuditRow:
    """Everybody finds what she was given, from her own record, her place and the billboard."""
    wrong = tried = 0
    there = layout(it.program)
    for each in played:
        places = np.unique(np.linspace(0, it.program.people - 1, min(_DECODES, it.program.people)).astype(np.int64))
        given = each.outcome.shares.take(pa.array(places)).to_pylist()
        for place, share in zip(places.tolist(), given, strict=True):
            wrong += dict(it.decode(there.record(each.cells[place]), place, each.board)) != share
            tried += 1
    return AuditRow.at_most("people whose own device finds another part than the run gave them", 0.0, float(wrong),
                            f"{tried:,} decodes of {len(played)} runs on made-up people",
                            unit="people", concern=Concern.ACCURACY)


def _checks(it: Dude, played: Sequence[_Played]) -> AuditRow:
    return refused_row((each.board for each in played), it.check)
