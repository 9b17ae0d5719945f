"""What the harness needs to know of a market that hands out goods: worst-case neighbours, parts of noise, faults.

No bidder's valuations are used. Privacy is attacked on markets of eight made-up bidders, where the loss is exact; what
is given to whom, and what is claimed of it, on made-up bidders of the campaign's own number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any

from confide.allocation.audited_behaviour import FALSE_ALARM, behaviour, run_of
from confide.allocation.audited_faults import CountsTwice, QuarterOfTheScale, TwiceTheBudget
from confide.allocation.audited_full_size import full_size
from confide.allocation.audited_losses import promise, recorded
from confide.allocation.audited_markets import PEOPLE, counted, steps, tiny
from confide.allocation.audited_reach import (
    Counted,
    auction_reach,
    bids_and_reports,
    bundle_reach,
    staggered_auction,
)
from confide.allocation.audited_walks import asked, blocks, counted_rows, crafted, jointly, walked_row
from confide.allocation.market import Market
from confide.allocation.palloc import PAlloc
from confide.allocation.pmatch import PMatch
from confide.allocation.sinkhorn_match import SinkhornMatch
from confide.audit import Audited, AuditRow, Concern, Examined, Laws, charge_rows, heard, inject_fault
from confide.privacy.accounting import Accountant
from confide.privacy.noise import Noise

__all__ = ["matching", "reach_rows", "releases"]

_DRAWS = 400  # enough to see a scale that is wrong by a factor two
_ROUNDS, _BIDS = 8, 4  # of the search over public histories, at most
_PARTS = "what all releases of a run cost is what the parameters name, as a share of it"


def matching(mechanism: Market, seed: int = 0) -> Audited:
    """What is known of one market.

    Args:
        mechanism: as it will run.
        seed: of made-up bidders and histories; noise from the operating system is tested on fresh draws.
    """
    if mechanism.plentiful:
        return _of_plenty(mechanism, seed)
    twin = tiny(mechanism)
    walked = jointly(twin, seed)
    return Audited(
        promises=mechanism.guarantees(), events=mechanism.events,
        charged=mechanism.loss if mechanism.on_overflow == "truncate" else promise(mechanism), measured=[
            releases(mechanism),
            Examined(named="what the noise rests on", rows=reach_rows, sound=mechanism),
            walked,
            asked(twin, seed),
            Examined(named="privacy: her own walk along the billboard", sound=twin,
                     rows=lambda it: [walked_row(it, seed).smaller(f"{PEOPLE} made-up bidders")]),
            Examined(named="goods that are counted", rows=lambda it: counted_rows(it, seed), sound=mechanism),
            *(blocks(counted(mechanism) or twin, seed)
              if isinstance(mechanism, PMatch | PAlloc) and mechanism.many_steps else ()),
            *((crafted(),) if isinstance(mechanism, PMatch | PAlloc) else ()),
            Laws(draws=lambda: [draw for draw in heard(walked.run, next(steps(twin, seed)).values, seed)
                                if draw.law in ("discrete_laplace", "discrete_gaussian")],
                 samples=_DRAWS, false_alarm=FALSE_ALARM, seed=seed),
            full_size(mechanism, seed),
            *behaviour(mechanism, seed)])


def _of_plenty(mechanism: Market, seed: int) -> Audited:
    """Where everybody gets her favourite, nothing of anybody is released."""

    def nothing(it: Market) -> Iterator[AuditRow]:
        drawn = len(recorded(it, run().values, Noise.simulated(seed)).draws)
        for each in it.guarantees().privacy:
            yield AuditRow.of_privacy(each, math.inf if drawn else 0.0, f"a run asked its noise for {drawn} draws",
                                      named="privacy: of releases, where there is enough of everything").holding(each)
        yield AuditRow.at_most("what the ledger is charged, where there is enough of everything", 0.0,
                               Accountant(it.events()).epsilon(0.0, calculator="basic"),
                               "the events of a run; epsilon", unit="nats", concern=Concern.BUDGET)

    run = cache(partial(run_of, mechanism, seed))
    return Audited(promises=mechanism.guarantees(), events=mechanism.events, measured=[
        Examined(named="releases", rows=nothing, sound=mechanism), *behaviour(mechanism, seed)])


# ---- the accounts


def releases(mechanism: Market) -> Examined:
    """What all releases of a run cost, held against what its parameters name, neither more nor less; and the same of
    runs that release twice as much, or what they do not charge.

    Truncation makes one release of all, charged as what is promised; of it the parts are held against what they share.

    Args:
        mechanism: a sound one.
    """
    own: tuple[str, type[Any]] = ("the final count made twice", CountsTwice) \
        if isinstance(mechanism, SinkhornMatch) else ("a quarter of the scale", QuarterOfTheScale)
    return Examined(
        named=_PARTS, sound=mechanism, rows=lambda it: [charge_rows(it._spent(), promise(it), _PARTS)[0]],
        faults={says: inject_fault(mechanism, code) for says, code in (
            ("everything has twice the budget", TwiceTheBudget), own)})


# ---- what the noise rests on


def reach_rows(mechanism: Market) -> list[AuditRow]:
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
