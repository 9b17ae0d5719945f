"""The audit data of a planned campaign that hands out goods; no participant's record is used.

The campaign's own mechanism runs on synthetic participants, each with a record of values in the requested form. These
runs test decoding, billboards, supply and certificates. The audit data also include the audit data of the mechanism by
itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import binom

from confide.allocation.audited import matching
from confide.allocation.audited_behaviour import SUPPLY
from confide.allocation.crowds import counts
from confide.allocation.market import Market
from confide.audit import Audited, AuditRow, Concern, Examined, Verdict
from confide.audit.devices import CHECKED, MadeUpRun, refused_row
from confide.campaign.kinds.allocation.plan import GoodsPlan
from confide.contract.guarantees import Accuracy, Guarantee, Participation, Truthfulness

__all__ = ["goods", "life"]

FALSE_ALARM = 1e-9
"""Largest probability with which one statistical test of the audit reports a kept promise as broken."""

_UNPROMISED = {
    Concern.INCENTIVES: "without charges, there is no promise about lies; the methods that charge prices (charge = "
                        "true) bound the gain from a lie",
    Concern.PARTICIPATION: "there are no charges and no payments, and the campaign asks nobody for the value of their "
                           "privacy",
}

_WORK = 4_000_000  # values in all runs together, but at least two runs
_RUNS = 40
_DECODES = 300  # of one run
_DECODED = "people with another good by their own device than by the run"
_GIVEN = "runs that give more copies of a good than there are"
_CERTIFIED = "runs with a certificate that states too much"


def goods(plan: GoodsPlan, seed: int = 0) -> Audited:
    """The audit data of one campaign: runs of the campaign on synthetic participants, and the audit data of its
    mechanism.

    Args:
        plan: plan of the campaign, with its mechanism.
        seed: seed from which the synthetic participants and the simulated noise are drawn.
    """
    known = matching(plan.market, seed)
    return replace(known, promises=plan.guarantees, unpromised=_UNPROMISED, unmeasured=_unmeasured,
                   measured=[*life(plan, seed), *known.measured])


def _unmeasured(promise: Guarantee) -> str:
    """The reason why a promise has no row of measurements: a few runs on synthetic participants show too little about
    it.
    """
    match promise:
        case Truthfulness():
            return ("the promise is a mean over the noise, so single runs show nothing about it: it follows from the "
                    "largest effect of a lie on the law of the prices, which the losses above bound")
        case Accuracy():
            return ("the bound holds before the run, and follows from the law of the noise, which is tested above; the "
                    "rows about certificates compare statements after a run with the exact welfare")
        case Participation():
            return "no run on synthetic people prices single bundles"
    return ""


def life(plan: GoodsPlan, seed: int = 0) -> list[Examined]:
    """Checks of runs of the campaign on synthetic participants. Each check is also applied to an injected fault, and
    must flag this fault.

    Args:
        plan: plan of the campaign, with its mechanism.
        seed: seed from which the synthetic participants and the simulated noise are drawn.
    """
    market = plan.market
    runs = min(_RUNS, max(2, _WORK // (market.people * market.goods)))

    @cache
    def played() -> list[MadeUpRun]:
        return [_play(plan, 1000 * seed + number) for number in range(runs)]

    def favourites() -> list[MadeUpRun]:
        return [each.handing(each.people.favourites()) for each in played()]

    found = [
        Examined(named=_DECODED, sound=lambda: played()[:2], rows=lambda runs: [_decodes(market, runs())],
                 faults={
                     "the run gives each good to the next person": lambda: [
                         each.handed_on() for each in played()[:2]]}),
        Examined(named=CHECKED, sound=market, rows=lambda it: [_checks(it, played())], faults={
            "the billboards belong to a campaign with one person less": replace(market, people=market.people + 1)}),
        Examined(named=_GIVEN, sound=played, rows=lambda runs: [_fits(market, runs())],
                 faults={"everybody gets their favourite, without a market": favourites})]
    if market.certificate_plan is not None:
        found.append(Examined(named=_CERTIFIED, sound=1.0, rows=lambda factor: [_certifies(market, played(), factor)],
                              faults={"the certificate states four times the welfare": 4.0}))
    return found


def _play(plan: GoodsPlan, seed: int) -> MadeUpRun:
    crowd = plan.made_up(seed)
    return MadeUpRun.of(plan.market, crowd, crowd.data, seed)


def _decodes(market: Market, played: Sequence[MadeUpRun]) -> AuditRow:
    """Check that each participant decodes the assigned good from their own row, their place and the billboard."""
    wrong = tried = 0
    for each in played:
        (column,) = set(each.outcome.shares.column_names) - {"price"}
        given = each.outcome.shares[column].to_pylist()
        for place in each.places(_DECODES):
            wrong += market.decode(each.people.record(place), place, each.board)[column] != given[place]
            tried += 1
    return AuditRow.at_most(_DECODED, 0.0, float(wrong),
                            f"{tried:,} decoded shares of {len(played)} runs on synthetic people",
                            unit="people", concern=Concern.ACCURACY)


def _checks(market: Market, played: Sequence[MadeUpRun]) -> AuditRow:
    return refused_row((each.board for each in played), market.check)


def _fits(market: Market, played: Sequence[MadeUpRun]) -> AuditRow:
    over = 0
    for each in played:
        over += bool((counts(each.outcome.shares, market.goods) > np.array(market.copies)).any())
    allowed = 0.0 if market.on_overflow == "truncate" else market.failure_probability
    return _often(_GIVEN, allowed, over, len(played)).holding(
        *(each for each in market.guarantees().of(Accuracy) if each.measure == SUPPLY))


def _certifies(market: Market, played: Sequence[MadeUpRun], factor: float) -> AuditRow:
    """Check that the welfare is not below its certified bound, and that the certified bound on the optimum is not below
    the bound from the true values.
    """
    wrong = 0
    for each in played:
        board = replace(each.board, welfare=factor * each.board.welfare + (factor - 1.0) * market.people)
        found: Any = market.certify(board)
        bound = each.people.bound(market.copies, board.prices)
        room = 1e-9 * market.people
        wrong += found.welfare > each.people.welfare(each.outcome.shares) + room or found.optimum < bound - room
    return _often(_CERTIFIED, market.failure_probability, wrong, len(played))


def _often(promise: str, allowed: float, seen: int, runs: int) -> AuditRow:
    """A row that compares an allowed probability with the observed frequency."""
    tail = float(binom.sf(seen - 1, runs, allowed)) if seen else 1.0
    verdict = Verdict.BROKEN if tail < FALSE_ALARM or (seen and not allowed) else Verdict.KEPT
    share = seen / runs
    return AuditRow(promise, f"probability {allowed:g}", share if math.isfinite(share) else 1.0,
                    f"{seen} of {runs} runs on synthetic people, by an exact binomial tail", verdict,
                    false_alarm=FALSE_ALARM if allowed else 0.0,
                    unit="of the runs", concern=Concern.ACCURACY, side="at most")
