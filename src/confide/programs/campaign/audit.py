"""The audit of a planned campaign that shares by a program. Nobody's record is touched.

Its own mechanism runs on made-up people: decodes, billboards, supply, certificates and the ledger's price, each beside
something that is broken on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.stats import binom

from confide.audit import AuditReport, AuditRow, Control, Verdict
from confide.contract.errors import InvalidInput
from confide.contract.kinds import Progress
from confide.contract.outcome import SimulatedOutcome
from confide.contract.progress import advance
from confide.privacy.events import Event
from confide.privacy.filter import price
from confide.privacy.noise import Noise
from confide.programs.campaign.made_up import made_up
from confide.programs.campaign.plan import SharingPlan
from confide.programs.dude import Dude
from confide.programs.grids import LOAD_UNIT
from confide.programs.reading.slots import SlotRows, collected, layout

__all__ = ["FALSE_ALARM", "audit_life", "audit_plan"]

FALSE_ALARM = 1e-9
"""Probability with which one statistical row says "broken" of a kept promise."""

_WORK = 60_000_000  # people x rounds x rows of all runs together, but at least two runs
_RUNS = 20
_DECODES = 40  # of one run


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
    return audit_life(plan, seed, progress)


def audit_life(plan: SharingPlan, seed: int = 0, progress: Progress | None = None) -> AuditReport:
    """What a run of the campaign does, on made-up people.

    Args:
        plan: of the campaign.
        seed: of made-up people and noise.
        progress: called as the audit goes on.
    """
    it = plan.mechanism
    runs = min(_RUNS, max(2, _WORK // (it.program.people * it.program.rows * it.schedule.total)))
    played = [_play(it, 1000 * seed + number) for number in range(runs)]
    parts, rows, controls = _parts(plan, played), list[AuditRow](), list[Control]()
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


def _parts(plan: SharingPlan, played: Sequence[_Played]) -> list[tuple[_Row, _Row, str]]:
    """(the audit, the same audit of something broken, what was broken)."""
    it = plan.mechanism
    n = it.program.people
    handed = [replace(each, outcome=replace(each.outcome, shares=each.outcome.shares.take(np.roll(np.arange(n), 1))))
              for each in played[:2]]
    found: list[tuple[_Row, _Row, str]] = [
        (partial(_spends, it, it.events()), partial(_spends, it, (*it.events(), *it.events())),
         "everything released twice"),
        (partial(_decodes, it, played[:2]), partial(_decodes, it, handed), "each part handed to the next person"),
        (partial(_checks, it, played), partial(_checks, it, [_moved(each) for each in played]),
         "prices that do not follow from what was released"),
        (partial(_certifies, it, played, 1.0), partial(_certifies, it, played, 0.5),
         "certificates as if a part of every load were not there"),
    ]
    if plan.whole:
        found.append((partial(_fits, plan, played, 0.0), partial(_fits, plan, played, 1.0),
                      "everybody's favourite, without prices"))
    return found


def _moved(played: _Played) -> _Played:
    """A billboard with one price that is another."""
    prices = played.board.prices.copy()
    prices[-1] += 1
    return replace(played, outcome=replace(played.outcome, billboard=replace(played.board, prices=prices)))


def _spends(it: Dude, events: Sequence[Event]) -> AuditRow:
    cost = price("basic", tuple(events), it.delta)
    measured = max(float(cost.epsilon) / it.epsilon, float(cost.delta) / it.delta)
    return AuditRow.at_most("what the ledger is charged is what is promised, as a share of it", 1.0 + 1e-9, measured,
                            "the prices of all releases, added up")


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
                            f"{tried:,} decodes of {len(played)} runs on made-up people")


def _checks(it: Dude, played: Sequence[_Played]) -> AuditRow:
    refused = 0
    for each in played:
        try:
            it.check(each.board)
        except InvalidInput:
            refused += 1
    return AuditRow.at_most("billboards of its runs that a verifier would call forged", 0.0, float(refused),
                            f"{len(played)} runs on made-up people")


def _averages(it: Dude, each: _Played) -> np.ndarray:
    """(k,) the mean load of everybody's best responses over the main rounds, in loads: what certificates speak of."""
    records = collected(it.program, iter([SlotRows(np.arange(it.program.people), each.cells)]))
    prices = each.board.main_prices
    total = np.sum([it.program.load_at(records, row) + it.program.public_load(row) for row in prices], axis=0)
    return np.asarray(total / (LOAD_UNIT * len(prices)))


def _certifies(it: Dude, played: Sequence[_Played], counted: float) -> AuditRow:
    """No row's average load is larger than is certified.

    The certificate speaks of what is above supply, often nothing. It is put to the test as of a program with so much
    less supply that every row is above it: the same noise, and the same proof.
    """
    wrong, less = 0, int(it.program.constants.width)
    for each in played:
        over = _averages(it, each) - it.program.supply_units / LOAD_UNIT + less
        shown = replace(each.board, slacks=each.board.slacks - int(counted * less) * LOAD_UNIT)
        found: Any = it.certify(shown)
        wrong += bool((np.abs(over) > found.excess + 1e-9).any())
    return _often("runs whose certificate claims too little load", it.beta, wrong, len(played))


def _fits(plan: SharingPlan, played: Sequence[_Played], favourites: float) -> AuditRow:
    """Whole parts are within supply."""
    program, over = plan.mechanism.program, 0
    for each in played:
        if favourites:
            records = collected(program, iter([SlotRows(np.arange(program.people), each.cells)]))
            load = program.load_at(records, np.zeros(program.rows, dtype=np.int64))
            over += bool((load > program.supply_units).any())
        else:
            over += bool((np.asarray((each.outcome.diagnostics or {})["excess"]) > 0).any())
    allowed = 0.0 if getattr(plan.mechanism, "truncate", False) else plan.mechanism.beta
    return _often("runs in which a row is above its supply", allowed, over, len(played))


def _often(promise: str, allowed: float, seen: int, runs: int) -> AuditRow:
    """A probability, held against how often it happened."""
    tail = float(binom.sf(seen - 1, runs, allowed)) if seen else 1.0
    verdict = Verdict.BROKEN if tail < FALSE_ALARM or (seen and not allowed) else Verdict.KEPT
    return AuditRow(promise, f"probability {allowed:g}", seen / runs,
                    f"{seen} of {runs} runs on made-up people, by an exact binomial tail", verdict,
                    false_alarm=FALSE_ALARM if allowed else 0.0)
