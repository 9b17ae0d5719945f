"""The audit of a matching: every promise held against the mechanism's own run, with mechanisms broken on purpose.

No bidder's valuations are used. Privacy is attacked on markets of eight made-up bidders, where the loss is exact; what
is given to whom, and what is claimed of it, on made-up bidders of the campaign's own number.
"""

from __future__ import annotations

from dataclasses import replace

from confide.allocation.audit.behaviour import FALSE_ALARM, behaviour_controls, behaviour_rows, decode_row, run_of
from confide.allocation.audit.doors import (
    CRAFTED,
    blocks_controls,
    blocks_rows,
    counted_rows,
    crafted_controls,
    crafted_row,
    door_controls,
    door_rows,
    walked_row,
)
from confide.allocation.audit.loss import promise, recorded
from confide.allocation.audit.participation import (
    Counted,
    auction_reach,
    bids_and_reports,
    bundle_reach,
    staggered_auction,
)
from confide.allocation.audit.planted import CountsTwice, QuarterOfTheScale
from confide.allocation.audit.tiny_markets import counted, steps, tiny
from confide.allocation.market import Market
from confide.allocation.palloc import PAlloc
from confide.allocation.pmatch import PMatch
from confide.allocation.sinkhorn_match import SinkhornMatch
from confide.audit import AuditReport, AuditRow, Concern, Control, mixed, sampler_audit
from confide.audit.history_loss import promised_parameter
from confide.audit.report import parameter_unit
from confide.contract.kinds import Progress
from confide.contract.progress import advance
from confide.privacy.accounting import Accountant
from confide.privacy.losses import PureDP
from confide.privacy.noise import Noise

__all__ = ["accounts_row", "audit_matching", "participation_rows"]

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
    if getattr(mechanism, "plentiful", False):
        return _of_plenty(mechanism, seed, progress)
    twin = tiny(mechanism)
    rows, out = [accounts_row(mechanism), *participation_rows(mechanism)], [_wrong_accounts(mechanism)]
    advance(progress, 1, _STEPS)
    rows += door_rows(twin, seed, mechanism.guarantees().privacy)
    rows += [walked_row(twin, seed), *counted_rows(mechanism, seed)]
    advance(progress, 2, _STEPS)
    out += door_controls(twin, seed)
    if isinstance(mechanism, PMatch | PAlloc) and mechanism.many_steps:
        own = counted(mechanism) or twin
        rows += blocks_rows(own, seed)
        out += blocks_controls(own, seed)
    if isinstance(mechanism, PMatch | PAlloc):
        rows.append(crafted_row(CRAFTED))
        out += crafted_controls()
    advance(progress, 3, _STEPS)
    rows += _sampler_rows(twin, seed)
    advance(progress, 4, _STEPS)
    rows += behaviour_rows(mechanism, seed)
    advance(progress, 5, _STEPS)
    out += behaviour_controls(mechanism, seed)
    advance(progress, 6, _STEPS)
    return AuditReport(tuple(rows), tuple(out))


def _of_plenty(mechanism: Market, seed: int, progress: Progress | None) -> AuditReport:
    """Where everybody gets her favourite, nothing of anybody is released."""
    rows, out = [decode_row(run_of(mechanism, seed), seed)], behaviour_controls(mechanism, seed)
    asked = len(recorded(mechanism, run_of(mechanism, seed).values, Noise.simulated(seed)).draws)
    rows.append(AuditRow.at_most("privacy: releases, where there is enough of everything", 0.0, float(asked),
                                 "what a run asked of its noise",
                                 unit="releases", concern=Concern.PRIVACY).holding(*mechanism.guarantees().privacy))
    advance(progress, _STEPS, _STEPS)
    return AuditReport(tuple(rows), tuple(out))


# ---- the accounts


def accounts_row(mechanism: Market) -> AuditRow:
    """What the events of a run cost together, against the budget. Of truncation, which costs a delta besides, the part
    before it.

    Args:
        mechanism: sound or broken.
    """
    own = replace(mechanism, on_overflow="flag") if mechanism.on_overflow == "truncate" and \
        mechanism.noise_law == "laplace" else mechanism
    claim, events = promise(mechanism), own._spent()
    pure = isinstance(claim, PureDP)
    spent = Accountant(events).epsilon(0.0, calculator="basic") if pure else Accountant(events).rho()
    return AuditRow.at_most("accounts: the sum of what the releases are charged", promised_parameter(claim), spent,
                            f"the events of a run; {'epsilon' if pure else 'rho'}",
                            unit=parameter_unit(claim), concern=Concern.BUDGET)


def _wrong_accounts(mechanism: Market) -> Control:
    code = CountsTwice if isinstance(mechanism, SinkhornMatch) else QuarterOfTheScale
    bug = "the final count made twice" if isinstance(mechanism, SinkhornMatch) else "a quarter of the scale"
    return Control("accounts", bug, accounts_row(mixed(mechanism, code)).flagged)


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
    absent = own.neighbours == "add_remove"
    evidence = (f"all public histories of {own.rounds} rounds with {own.bid_cap} bids at most, by dynamic programming "
                "over a bidder's two states")
    rows = [AuditRow.at_most("privacy: how far a bidder moves all counts (l1)", float(own.counter.distance),
                             float(auction_reach(own.rounds, bid_cap=own.bid_cap, add_remove=absent)), evidence,
                             unit="bids", concern=Concern.PRIVACY)]
    counter = own.halting_plan.counter
    if counter is not None:
        counted: Counted = "bidding" if own.halting == "bids" else "unsatisfied"
        if isinstance(own, PAlloc):
            found = bundle_reach(own.rounds, counted, tested=own.outbid_tests, bid_cap=own.bid_cap, add_remove=absent,
                                 last_report=False, bids_count=False)
        else:
            found = auction_reach(own.rounds, counted, bid_cap=own.bid_cap, add_remove=absent, last_report=False,
                                  bids_count=False)
        rows.append(AuditRow.at_most("privacy: how far a bidder moves the reports to halt (l1)",
                                     float(counter.distance), float(found), evidence,
                                     unit="reports", concern=Concern.PRIVACY))
    if isinstance(own, PMatch) and not absent:
        history = staggered_auction(own.rounds, bid_cap=own.bid_cap)
        moved, _ = bids_and_reports(history.first, history.second, history.billboard)
        rows.append(AuditRow.at_most("privacy: the same along a history that attains it",
                                     float(own.counter.distance), float(moved), "her own walks along that history",
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
