"""The kind `bits`: it buys reports on a fact from people with publicly known privacy costs. A report is paid if it
agrees with the majority of the other reports.
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from confide.audit import AuditReport
from confide.campaign.kinds.market.kind import BitKind
from confide.campaign.kinds.market.pages import BitPages, equilibria_table, guessed, majority_conditions
from confide.campaign.kinds.market.plan import (
    MARKET_KEYS,
    BitConfig,
    BitPlan,
    Costs,
    People,
    Privacy,
    State,
    more_reports,
    worth_asking,
)
from confide.contract.errors import InvalidInput, Refused
from confide.contract.kinds import Progress
from confide.contract.known_keys import keys_of
from confide.contract.presentation import Block, Section, Table, Text
from confide.contract.replanned import in_file
from confide.contract.words import number
from confide.market.collection import BitBillboard, BitCollection
from confide.market.equilibrium import robustness
from confide.market.majority import MajorityMarket
from confide.market.planner import MarketPlan, plan
from confide.privacy.noise import Noise
from confide.privacy.response import randomized_response

__all__ = ["KIND", "BitsKind"]

_SMALLEST_TARGET = 1e-9  # a plan is looked for down to this error


@keys_of(MajorityMarket, "presence")
class BitsPeople(People):
    """`[people]` of the kind `bits`."""

    if TYPE_CHECKING:
        presence: float


class BitsConfig(BitConfig):
    """All tables of the kind `bits`."""

    people: BitsPeople
    state: State
    cost: Costs
    privacy: Privacy


class BitsPages(BitPages):
    """The texts on the pages of a campaign of the kind `bits`."""

    def planned(self, plan: BitPlan) -> list[tuple[str, str]]:
        it: MajorityMarket = plan.market
        quote, total, (one, zero) = it.quote(), it.total_payment(), it.liability()
        bit = plan.config.bit
        rows = [
            ("level of one report, local differential privacy", f"epsilon = {it.epsilon:g}"),
            ("expected payment of one person", plan.money(quote.expected_payment)),
            ("  lower bound on the expected payment in any market without fines", plan.money(quote.lower_bound)),
            ("  cost of this privacy loss to one person, by the common belief", plan.money(float(it.cost(it.epsilon)))),
            ("  least loss from a report that ignores the answer, compared with a truthful report",
             plan.money(quote.margin)),
            ("when all take part: payment for a report with the majority",
                f"{plan.at_most(one)} for {bit.one}, {plan.at_most(zero)} for {bit.zero}; nothing for any other "
                "report"),
            ("expected total", plan.money(it.people * it.presence * quote.expected_payment)),
            ("  when all take part: mean", plan.money(total.mean)),
            ("  standard deviation; 19 of 20 totals are at most", f"{plan.money(total.sd)}; "
             f"{plan.at_most(total.quantile(0.95))}"),
            ("probability that the best guess of the state is wrong", number(it.error_probability())),
            ("  probability of a wrong guess without any reports",
             number(min(it.signal_model.prior_one, it.signal_model.prior_zero))),
        ]
        if it.presence < 1:
            rows.insert(1, ("probability that an invited person takes part", number(it.presence)))
        return rows

    def more(self, plan: BitPlan) -> list[Section]:
        return [_cheaper(plan), equilibria_table(plan, _robust(plan.market))]

    def paid(self, plan: BitPlan) -> Table:
        bit, (one, zero) = plan.config.bit, plan.market.liability()
        rows = tuple((name, plan.at_most(amount), plan.money(0.0))
                     for name, amount in ((bit.one, one), (bit.zero, zero)))
        return Table(columns=("your report", "with the majority of the other reports", "against this majority"),
                     rows=rows,
                     note="These are the amounts if all invited people take part. With fewer participants, the public "
                          f"counts give the amounts. Example: you report {bit.one}, and more of the other people "
                          f"report {bit.one} than {bit.zero}. You are then paid the first amount for {bit.one}.")

    def lied(self, plan: BitPlan) -> list[str]:
        return [majority_conditions(plan, "if all other people send the reports of their devices"),
                "The promise does not rule out agreements: if all people agree to send the same report, this usually "
                "pays more."]

    def why(self, plan: BitPlan) -> list[str]:
        it = plan.market
        return [
            "Taking part with your device's report pays. If everybody else does the same, you expect "
            f"{plan.money(it.quote().expected_payment)}. Any other way to report earns less, if the privacy that you "
            f"lose by this report costs you {plan.money(float(it.cost(it.epsilon)))}. A report with the majority of "
            "the other reports is paid. The amount follows from the public counts.",
        ]

    def found(self, plan: BitPlan, billboard: BitBillboard) -> list[Block]:
        return guessed(plan, billboard, "Best guess of the state: STATE")


def _cheaper(found: BitPlan) -> Section:
    """A section on the cost of the same accuracy with other numbers of people and other levels."""
    it: MajorityMarket = found.market
    error, baseline = it.error_probability(), min(it.signal_model.prior_one, it.signal_model.prior_zero)
    rows: list[tuple[str | float | None, ...]] = [
        ("this campaign", it.people, it.epsilon,
         it.people * it.presence * it.quote().expected_payment, error)]
    note = ("Each plan assumes that all invited people take part. The name of each other plan says which figure was "
            "kept below the target error: 'exact' is the exact error, 'chernoff' is Chernoff's bound on the error, and "
            "'thesis' is the rule of the source (Wang 2016). Chernoff's bound and this rule overestimate the error. So "
            "the plans 'chernoff' and 'thesis' usually cost more, and have a smaller exact error in the last column.")
    if _SMALLEST_TARGET <= error < baseline:
        with suppress(InvalidInput, Refused):
            best = plan(error, it.signal_model.signal_accuracy, it.signal_model.prior_one, it.cost)
            rows += [(f"{name}: cheapest for that error", each.people, each.epsilon, each.total, each.error)
                     for name, each in best.compared.items() if isinstance(each, MarketPlan)]
    return Section(title="Cost of the same accuracy with other settings", blocks=(Table(
        columns=("plan", "people", "epsilon", f"expected total ({found.collection.currency})",
                 "error (probability of a wrong guess)"),
        rows=tuple(rows), note=note),))


def _robust(it: MajorityMarket) -> Text:
    reach = robustness(it)
    return Text((
        "While everybody else reports at the level of the plan, the best report still depends on the answer if the "
        f"prior probability is wrong by less than {reach.prior:.3g}, or if the signal accuracy is wrong by less than "
        f"{reach.accuracy:.3g}.",))


class BitsKind(BitKind):
    """Buy randomised reports on a fact from people whose privacy costs are publicly known."""

    name = "bits"
    summary = "buy one randomised yes or no from each person, to learn a fact, at privacy costs that are known"
    config = BitsConfig

    def plan(self, config: BitsConfig) -> BitPlan:
        return _plan(config)

    def audit(self, plan: BitPlan, seed: int, progress: Progress | None = None) -> AuditReport:
        from confide.audit import audit
        from confide.market import audited

        return audit(audited.majority(plan.collection, seed), progress)

    def _drawn(self, plan: BitPlan, bits: np.ndarray, noise: Noise) -> np.ndarray:
        return randomized_response(bits, plan.market.epsilon, noise, stream="reports")


@lru_cache(maxsize=32)  # the pages of a campaign plan it again and again
def _plan(config: BitsConfig) -> BitPlan:
    return _planned(config)


def _planned(config: BitsConfig) -> BitPlan:
    with in_file(config, _planned, MARKET_KEYS):
        found = MajorityMarket(
            people=config.people.count, signal_accuracy=config.state.signal_accuracy, prior_one=config.state.prior_one,
            cost=config.cost.build(), epsilon=config.privacy.epsilon, presence=config.people.presence)
    config.role()
    if math.isinf(found.payment_range()[1]):
        raise Refused("payments at this level are too large for floating point", more_reports(config, _planned))
    collection = BitCollection(market=found, currency=config.payment.currency,
                               minor_units=config.payment.minor_units)
    return worth_asking(BitPlan(collection=collection, config=config, pages=BitsPages()), config, _planned)


KIND = BitsKind()
