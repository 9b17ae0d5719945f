"""The audit of a matching: every promise held against the mechanism's own run, with mechanisms broken on purpose.

No bidder's valuations are used. Privacy is attacked on markets of eight made-up bidders, where the loss is exact; what
is given to whom, and what is claimed of it, on made-up bidders of the campaign's own number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from confide.allocation.audit.behaviour import FALSE_ALARM, behaviour_controls, behaviour_rows, decode_row, run_of
from confide.allocation.audit.full_size import full_size
from confide.allocation.audit.loss import promise, recorded
from confide.allocation.audit.mutants import CountsTwice, QuarterOfTheScale, TwiceTheBudget
from confide.allocation.audit.participation import (
    Counted,
    auction_reach,
    bids_and_reports,
    bundle_reach,
    staggered_auction,
)
from confide.allocation.audit.tiny_markets import PEOPLE, counted, steps, tiny
from confide.allocation.audit.transcripts import (
    CRAFTED,
    blocks_controls,
    blocks_rows,
    counted_rows,
    crafted_controls,
    crafted_row,
    transcript_controls,
    transcript_rows,
    walked_row,
)
from confide.allocation.market import Market
from confide.allocation.palloc import PAlloc
from confide.allocation.pmatch import PMatch
from confide.allocation.sinkhorn_match import SinkhornMatch
from confide.audit import (
    AuditReport,
    AuditRow,
    Concern,
    Control,
    charge_rows,
    inject_fault,
    promise_rows,
    sampler_audit,
)
from confide.contract.kinds import Progress
from confide.contract.progress import advance
from confide.privacy.accounting import Accountant
from confide.privacy.noise import Noise

__all__ = ["audit_matching", "charged", "participation_rows"]

_DRAWS = 400  # enough to see a scale that is wrong by a factor two
_STEPS = 6
_ROUNDS, _BIDS = 8, 4  # of the search over public histories, at most


def audit_matching(mechanism: Market, seed: int = 0, progress: Progress | None = None) -> AuditReport:
    """Promised against measured for one mechanism, with the planted bugs that the audit must flag.

    Args:
        mechanism: as it will run.
        seed: of made-up bidders and histories; noise from the operating system is tested on fresh draws.
        progress: called as the audit goes on.
    """
    if mechanism.plentiful:
        return _of_plenty(mechanism, seed, progress)
    twin = tiny(mechanism)
    rows, out = charged(mechanism)
    priced, wrongly = promise_rows(mechanism.guarantees(), mechanism.events)
    rows, out = [*rows, *(row for row in priced if row.concern is Concern.PRIVACY)], [*out, *wrongly]
    rows += participation_rows(mechanism)
    advance(progress, 1, _STEPS)
    rows += _of_few([*transcript_rows(twin, seed), walked_row(twin, seed), *counted_rows(mechanism, seed)])
    advance(progress, 2, _STEPS)
    out += transcript_controls(twin, seed)
    if isinstance(mechanism, PMatch | PAlloc) and mechanism.many_steps:
        own = counted(mechanism) or twin
        rows += _of_few(blocks_rows(own, seed))
        out += blocks_controls(own, seed)
    if isinstance(mechanism, PMatch | PAlloc):
        rows += _of_few([crafted_row(CRAFTED)])
        out += crafted_controls()
    advance(progress, 3, _STEPS)
    rows += _sampler_rows(twin, seed)
    advance(progress, 4, _STEPS)
    large = full_size(mechanism, seed)
    rows += [*large[0], *behaviour_rows(mechanism, seed)]
    out += large[1]
    advance(progress, 5, _STEPS)
    out += behaviour_controls(mechanism, seed)
    advance(progress, 6, _STEPS)
    return AuditReport(tuple(rows), tuple(out))


def _of_few(rows: Iterable[AuditRow]) -> list[AuditRow]:
    """Rows of markets of eight bidders: the campaign's rules, and not its size."""
    return [row.smaller(f"{PEOPLE} made-up bidders") for row in rows]


def _of_plenty(mechanism: Market, seed: int, progress: Progress | None) -> AuditReport:
    """Where everybody gets her favourite, nothing of anybody is released."""
    rows, out = [decode_row(run_of(mechanism, seed), seed)], behaviour_controls(mechanism, seed)
    asked = len(recorded(mechanism, run_of(mechanism, seed).values, Noise.simulated(seed)).draws)
    rows += [AuditRow.of_privacy(promise, math.inf if asked else 0.0, f"a run asked its noise for {asked} draws",
                                 named="privacy: of releases, where there is enough of everything").holding(promise)
             for promise in mechanism.guarantees().privacy]
    rows.append(AuditRow.at_most("what the ledger is charged, where there is enough of everything", 0.0,
                                 Accountant(mechanism.events()).epsilon(0.0, calculator="basic"),
                                 "the events of a run; epsilon", unit="nats", concern=Concern.BUDGET))
    advance(progress, _STEPS, _STEPS)
    return AuditReport(tuple(rows), tuple(out))


# ---- the accounts


def charged(mechanism: Market) -> tuple[list[AuditRow], list[Control]]:
    """What the ledger is charged for a run, held against what its parameters name, neither more nor less; and the same
    of runs that are charged twice, by half, for what they do not release, or by a budget that is not theirs.

    Truncation makes one release of all, charged as what is promised; of it the parts are held against what they share.

    Args:
        mechanism: sound or broken.
    """
    row, controls = charge_rows(mechanism._spent(), promise(mechanism))
    rows, out = [row], list(controls)
    own: tuple[str, type[Any]] = ("the final count made twice", CountsTwice) \
        if isinstance(mechanism, SinkhornMatch) else ("a quarter of the scale", QuarterOfTheScale)
    for bug, code in (("everything has twice the budget", TwiceTheBudget), own):
        bent = inject_fault(mechanism, code)
        out.append(Control(row.promise, bug, charge_rows(bent._spent(), promise(bent))[0].flagged))
    if mechanism.on_overflow == "truncate":
        row, controls = charge_rows(mechanism.events(), mechanism.loss)
        rows, out = [*rows, row], [*out, *controls]
    return rows, out


# ---- what the noise rests on


def participation_rows(mechanism: Market) -> list[AuditRow]:
    """What one bidder moves along the worst public history, against what the noise is calibrated for.

    Args:
        mechanism: an auction; of others there are none.
    """
    if not isinstance(mechanism, PMatch | PAlloc):
        return []
    # The search goes through few rounds and bids; the numbers grow with both as those of the plan do.
    own = replace(mechanism, rounds=min(mechanism.rounds, _ROUNDS), bid_cap=min(mechanism.bid_cap, _BIDS),
                  reserve=mechanism.reserve if mechanism.reclear else 0)
    absent = own.neighbours == "add_or_remove"
    evidence = (f"all public histories of {own.rounds} rounds with {own.bid_cap} bids at most, by dynamic programming "
                "over a bidder's two states")
    rows = [AuditRow.at_most("privacy: how far a bidder moves all counts (l1)", float(own.counter.l1_sensitivity),
                             float(auction_reach(own.rounds, bid_cap=own.bid_cap, absent=absent)), evidence,
                             unit="bids", concern=Concern.PRIVACY)]
    counter = own.halting_plan.counter
    if counter is not None:
        counted: Counted = "bidding" if own.halting == "bids" else "unsatisfied"
        if isinstance(own, PAlloc):
            found = bundle_reach(own.rounds, counted, tested=own.outbid_tests, bid_cap=own.bid_cap, absent=absent,
                                 last_report=False, bids_count=False)
        else:
            found = auction_reach(own.rounds, counted, bid_cap=own.bid_cap, absent=absent, last_report=False,
                                  bids_count=False)
        rows.append(AuditRow.at_most("privacy: how far a bidder moves the reports to halt (l1)",
                                     float(counter.l1_sensitivity), float(found), evidence,
                                     unit="reports", concern=Concern.PRIVACY))
    if isinstance(own, PMatch) and not absent:
        history = staggered_auction(own.rounds, bid_cap=own.bid_cap)
        moved, _ = bids_and_reports(history.first, history.second, history.billboard)
        rows.append(AuditRow.at_most("privacy: the same along a history that attains it",
                                     float(own.counter.l1_sensitivity), float(moved),
                                     "her own walks along that history",
                                     unit="bids", concern=Concern.PRIVACY))
    return rows


# ---- the noise itself


def _sampler_rows(twin: Market, seed: int) -> list[AuditRow]:
    """Whether noise from the operating system has the laws that are asked for."""
    history = recorded(twin, next(iter(steps(twin, seed))).values, Noise.simulated(seed))
    heard = {(draw.stream[0], draw.law): draw for draw in reversed(history.draws)
             if draw.law in ("discrete_laplace", "discrete_gaussian")}
    secure = Noise.secure()
    return [sampler_audit(secure, draw, _DRAWS, FALSE_ALARM) for draw in heard.values()]
