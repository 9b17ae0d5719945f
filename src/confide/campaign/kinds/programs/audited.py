"""The audit data of a planned campaign that shares resources by a convex program. No participant's record is used.

The audit data consist of the audit data of the campaign's mechanism, and of runs on synthetic participants that test
decoding and billboards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa

from confide.audit import Audited, AuditRow, Concern, Examined
from confide.audit.devices import CHECKED, MadeUpRun, refused_row
from confide.campaign.kinds import SlotRows
from confide.campaign.kinds.programs.plan import SharingPlan
from confide.contract.guarantees import Accuracy, Guarantee, Participation, Truthfulness
from confide.programs.audited import program
from confide.programs.audited_behaviour import delivering, scaled
from confide.programs.dude import Dude
from confide.programs.instances import made_up
from confide.programs.slots import collected, layout

__all__ = ["life", "sharing"]

_RUNS = 2
_DECODES = 40  # of one run
_UNPROMISED = {
    Concern.INCENTIVES: "without charged prices, there is no promise about lies; alpha charges prices, in the modes "
                        "audited, truthful and tight",
    Concern.PARTICIPATION: "there are no charges and no payments, and the campaign asks nobody for the value of their "
                           "privacy",
}
_DECODED = "people with another part by their own device than by the run"


def sharing(plan: SharingPlan, seed: int = 0) -> Audited:
    """The audit data of one campaign: the audit data of its mechanism, and runs of the campaign on synthetic
    participants.

    Args:
        plan: plan of the campaign, with its mechanism.
        seed: seed from which the synthetic participants and the simulated noise are drawn.
    """
    known = program(plan.mechanism, seed)
    return replace(known, promises=plan.guarantees, unpromised=_UNPROMISED, unmeasured=_unmeasured,
                   measured=[*known.measured, *life(plan, seed)])


def _unmeasured(promise: Guarantee) -> str:
    """The reason why a promise has no row of measurements."""
    match promise:
        case Accuracy():
            return ("the bound holds before the run, and depends on the regret of the prices; the rows about "
                    "certificates compare statements after a run with exact values")
        case Participation():
            return "the audit does not compare the value of each part at the charged prices with the promise"
        case Truthfulness():
            return "the audit searches for lies only if prices are charged for whole parts or averages"
    return ""


def life(plan: SharingPlan, seed: int = 0) -> list[Examined]:
    """Checks of runs of the campaign on synthetic participants. Each check is also applied to an injected fault, and
    must flag this fault. A very large campaign is checked at a smaller size.

    Args:
        plan: plan of the campaign, with its mechanism.
        seed: seed from which the synthetic participants and the simulated noise are drawn.
    """
    it = delivering(scaled(plan.mechanism))

    @cache
    def played() -> list[MadeUpRun]:
        return [_play(it, 1000 * seed + number) for number in range(_RUNS)]

    return [
        Examined(named=_DECODED, sound=played, rows=lambda runs: [_decodes(it, runs())],
                 faults={
                     "the run gives each part to the next person": lambda: [each.handed_on() for each in played()]}),
        Examined(named=CHECKED, sound=played, rows=lambda runs: [_checks(it, runs())], faults={
            "the prices do not follow from the release": lambda: [_moved(each) for each in played()]})]


def _play(it: Dude, seed: int) -> MadeUpRun:
    cells = made_up(it.program, seed)
    records = collected(it.program, iter([SlotRows(np.arange(it.program.people), cells)]))
    return MadeUpRun.of(it, cells, records, seed)


def _moved(played: MadeUpRun) -> MadeUpRun:
    """A run with wrong prices in the last round of its billboard, as an injected fault."""
    prices = played.board.prices.copy()
    prices[-1] += 1
    return replace(played, outcome=replace(played.outcome, billboard=replace(played.board, prices=prices)))


def _decodes(it: Dude, played: Sequence[MadeUpRun]) -> AuditRow:
    """Check that each participant decodes the assigned share from their own record, their place and the billboard."""
    wrong = tried = 0
    there = layout(it.program)
    for each in played:
        places = each.places(_DECODES)
        for place, share in zip(places, each.outcome.shares.take(pa.array(places)).to_pylist(), strict=True):
            wrong += dict(it.decode(there.record(each.people[place]), place, each.board)) != share
            tried += 1
    return AuditRow.at_most(_DECODED, 0.0, float(wrong),
                            f"{tried:,} decoded shares of {len(played)} runs on synthetic people",
                            unit="people", concern=Concern.ACCURACY)


def _checks(it: Dude, played: Sequence[MadeUpRun]) -> AuditRow:
    return refused_row((each.board for each in played), it.check)
