"""The kind `bits-pair`: it buys an estimate of the share of people with the answer 1. People's answers may be
correlated for any reason.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from confide.audit import AuditReport
from confide.campaign.kinds.market.kind import BitKind
from confide.campaign.kinds.market.pages import BitPages, equilibria_table
from confide.campaign.kinds.market.plan import MARKET_KEYS, BitConfig, BitPlan, Costs, Privacy, worth_asking
from confide.campaign.kinds.skeleton import Positive
from confide.charts import intervals
from confide.contract.checks import not_exactly_one
from confide.contract.errors import InvalidInput, Refused, Unsupported
from confide.contract.kinds import Progress
from confide.contract.known_keys import Keys
from confide.contract.presentation import Block, Section, Table, Text
from confide.contract.replanned import in_file
from confide.contract.words import Measured, number, percent
from confide.market.collection import BitBillboard, BitCollection
from confide.market.pairs.accuracy import mean_estimate
from confide.market.pairs.market import PairMarket, audit_groups
from confide.market.pairs.planner import MeanPlan, plan_mean
from confide.market.pairs.prior import PairPrior
from confide.privacy.noise import Noise
from confide.privacy.response import randomized_response
from confide.tables import Category

__all__ = ["KIND", "BitsPairKind", "insiders_table"]

_FAILURE = 0.05


class Group(Keys):
    """One group of `[belief] groups`: the public number of people in the group, and how many of these people have the
    bit 1.
    """

    name: str = Field(min_length=1, description="public name of the group; two groups have two names")
    size: int = Field(ge=2, description="number of people in the group")
    ones: int = Field(ge=0, description="number of people in the group with the bit 1")


class Belief(Keys):
    """`[belief]`: the belief about the joint law of two people's bits, which is common to all people who know nothing
    but their own bit. Exactly one of groups, beta and pairs must be given. The belief must not come from the answers.
    """

    groups: tuple[Group, ...] | None = Field(default=None, min_length=2, description=
        "list of groups: all peers are people of one group, and nobody knows of which group")
    column: str | None = Field(default=None, min_length=1, description=
        "column of each person's group in the file of reports: peers are then people of one group. Without it, "
        "everybody is a peer of everybody")
    beta: tuple[Positive, Positive] | None = Field(default=None, description=
        "[a, b]: the share of people with the bit 1 is beta(a, b), on average a/(a + b)")
    pairs: tuple[Annotated[float, Field(ge=0, le=1)], Annotated[float, Field(ge=0, le=1)]] | None = Field(
        default=None, description="[P(both are 1), P(both are 0)] of two people")

    @model_validator(mode="after")
    def _one(self) -> Belief:
        if problem := not_exactly_one(groups=self.groups, beta=self.beta, pairs=self.pairs):
            raise ValueError(problem)
        if self.column is not None and self.groups is None:
            raise ValueError("give column only together with groups")
        if self.groups is not None and len({each.name for each in self.groups}) < len(self.groups):
            raise ValueError("two groups have the same name: give each group another name")
        return self

    def prior(self, people: int) -> PairPrior:
        """The joint probability law of the bits of all invited people. The law is exchangeable between people."""
        if self.groups is not None:
            return PairPrior.of_groups([each.size for each in self.groups], [each.ones for each in self.groups], people)
        if self.beta is not None:
            return PairPrior.beta_binomial(*self.beta, people)
        return PairPrior.of_pairs(people, *(self.pairs or (0.0, 0.0)))

    def role(self) -> Category | None:
        """The public role of the column with each person's group; None where the reports have no such column."""
        if self.column is None or self.groups is None:
            return None
        return Category(column=self.column, levels=tuple(each.name for each in self.groups))


class BitsPairConfig(BitConfig):
    """All tables of the kind `bits-pair`."""

    belief: Belief
    cost: Costs
    privacy: Privacy

    def group(self) -> Category | None:
        return self.belief.role()


def insiders_table(it: PairMarket, belief: Belief, currency: str) -> Table:
    """A table with one row for each group: the report that is best for a member who knows their own group."""
    groups = belief.groups or ()
    rows = audit_groups(it, [each.size for each in groups], [each.ones for each in groups],
                        [each.name for each in groups])
    return Table(
        columns=("group", "people", "ones", "best reply of a member", f"gains ({currency})", "truth pays"),
        rows=tuple((str(row.group), row.size, row.ones, row.best.name, row.gain, "yes" if row.truthful else "no")
                   for row in rows),
        note="The table is about a member who knows their own group and the group of their peers, while everybody else "
             "plays the equilibrium. For this member, the peers' answers say nothing about the member's own answer, "
             "and the best report is the report that pays more in that group.")


@dataclass(frozen=True)
class PairPages(BitPages):
    """The texts on the pages of a campaign of the kind `bits-pair`.

    Args:
        belief: table `[belief]` of the campaign file.
    """

    belief: Belief

    def planned(self, plan: BitPlan) -> list[tuple[str, str]]:
        it, bit = plan.market, plan.config.bit
        quote, (one, zero) = it.quote(), it.liability()
        agrees = "agrees" if it.agreement else "disagrees"
        return [
            ("level of one report, local differential privacy", f"epsilon = {it.epsilon:g}"),
            ("expected payment of one person", plan.money(quote.expected_payment)),
            ("  lower bound on the expected payment in any market without fines, by Proposition 1",
             plan.money(quote.lower_bound)),
            ("  cost of this privacy loss to one person, by the common belief", plan.money(float(it.cost(it.epsilon)))),
            ("  least loss from a report that ignores the answer, compared with a truthful report",
             plan.money(quote.margin)),
            (f"payment for a report that {agrees} with a peer's, on average over all peers",
             f"{plan.money(one)} for {bit.one}, {plan.money(zero)} for {bit.zero}"),
            ("expected total, when all take part", plan.money(it.total_payment().mean)),
            (f"largest error of the share of {bit.one}, with probability {1 - _FAILURE:.0%}",
             number(it.half_width(_FAILURE))),
            ("correlation of two people's bits, by the common belief", number(it.prior.correlation)),
        ]

    def warnings(self, plan: BitPlan) -> list[str]:
        it, found = plan.market, []
        groups = self.belief.groups
        if groups is not None:
            rows = audit_groups(it, [each.size for each in groups], [each.ones for each in groups])
            lost = sum(not row.truthful for row in rows)
            if lost:
                found.append(f"truth pays only people who do not know their own group: in {lost} of {len(rows)} "
                             "groups, members who know their group do best with one fixed report")
        return found

    def more(self, plan: BitPlan) -> list[Section]:
        parts = [_cheaper(plan), equilibria_table(plan)]
        if self.belief.groups is not None:
            parts.append(Section(title="People who know their own group", blocks=(
                insiders_table(plan.market, self.belief, plan.collection.currency),)))
        return parts

    def paid(self, plan: BitPlan) -> Table:
        it, bit, (one, zero) = plan.market, plan.config.bit, plan.market.liability()
        heads = ("your report", "if all your peers send the same report", "if all your peers send the other report")
        rows = tuple((name, *((plan.money(amount), plan.money(0.0)) if it.agreement else
                              (plan.money(0.0), plan.money(amount))))
                     for name, amount in ((bit.one, one), (bit.zero, zero)))
        whose = "people of your group" if plan.config.group() is not None else "participants"
        return Table(columns=heads, rows=rows, note=(
            f"Your peers are all other {whose}. Mostly, some of them send the same report and some the other, and your "
            f"payment lies between the two amounts. Example: if half of your peers report {bit.one} and half report "
            f"{bit.zero}, you are paid {plan.money(one / 2)} for {bit.one}, or {plan.money(zero / 2)} for {bit.zero}. "
            "Each payment is rounded up to a whole coin."))

    def lied(self, plan: BitPlan) -> list[str]:
        bit, prior = plan.config.bit, plan.market.prior
        both = prior.signal_one**2 + prior.covariance
        return [
            "The promise holds if all other people send the reports of their devices, and if everybody believes the "
            f"same before the campaign: one person's answer is {bit.one} with a probability of "
            f"{percent(prior.signal_one)}, and two people's answers are both {bit.one} with a probability of "
            f"{percent(both)}.",
            "The promise covers you if you know your own answer, and do not know why some people's answers are alike. "
            "Example: people who know to which group they belong are not covered. The promise does not rule out "
            "agreements: if all people agree to send the same report, they are paid, too."]

    def why(self, plan: BitPlan) -> list[str]:
        it = plan.market
        meets = "agree with" if it.agreement else "differ from"
        return [
            f"Taking part with your device's report pays. Reports that {meets} those of your peers are paid. If "
            f"everybody else does the same, you expect {plan.money(it.quote().expected_payment)}. Any other way to "
            "report earns less, if the privacy that you lose by this report costs you "
            f"{plan.money(float(it.cost(it.epsilon)))}. This holds if you know your own answer, and do not know why "
            "your peers' answers are like yours."]

    def found(self, plan: BitPlan, billboard: BitBillboard) -> list[Block]:
        it, names = plan.market, plan.config.peers()
        rows: list[tuple[str, int, float, float, float, float]] = []
        counts = list(zip(names, billboard.ones.tolist(), billboard.zeros.tolist(), strict=True))
        if len(counts) > 1:
            counts.append(("all", int(billboard.ones.sum()), int(billboard.zeros.sum())))
        for name, ones, zeros in counts:
            if ones + zeros:
                found = mean_estimate(ones, zeros, it.epsilon)
                low, high = found.interval(_FAILURE)
                rows.append((name, ones + zeros, found.value, found.sd, low, high))
        bit, covered = plan.config.bit, f"{1 - _FAILURE:.0%}"
        picture = intervals(
            [(row[0], covered, row[2], row[4], row[5]) for row in rows], title=f"Share of {bit.one}",
            axis="share", alt=f"Estimated share of {bit.one} of each group of peers, with its interval.")
        said = "No report arrived."
        if rows:
            _, reports, share, _, low, high = rows[-1]
            said = (f"The share of '{bit.one}' among the {reports:,} participants is "
                    f"{Measured(share, _reach(share, low, high), share=True)} (with probability {covered}).")
        cells: tuple[tuple[str | float | None, ...], ...] = tuple(
            (name, reports, Measured(share, _reach(share, low, high), share=True), Measured(error, share=True),
             Measured(low, share=True), Measured(high, share=True)) for name, reports, share, error, low, high in rows)
        return [Text((said,)), *picture, Table(
            columns=("peers", "reports", f"share of {bit.one}", "standard error", f"interval ({covered}): lower end",
                     "upper end"),
            rows=cells,
            note="The share is unbiased for the people who took part. The share is not cut, and may lie outside of 0% "
                 "to 100%; the ends of its interval are cut to 0% and 100%. The number after +- is in percentage "
                 "points. It is larger than 1.96 standard errors, because it holds for any answers and any number of "
                 "participants: the interval follows from Hoeffding's or Chebyshev's inequality, and not from a normal "
                 "distribution. Rounding up adds a little, too. The errors cover only the randomisation. They do not "
                 "cover the choice of the invited people, and the people who stayed away.")]


def _reach(share: float, low: float, high: float) -> float:
    """The larger distance from the estimate to an end of its interval."""
    return max(share - low, high - share)


def _cheaper(found: BitPlan) -> Section:
    """A section on the cost of the same accuracy at other levels."""
    it: PairMarket = found.market
    error = it.half_width(_FAILURE)
    rows: list[tuple[str | float | None, ...]] = [
        ("this campaign", it.epsilon, it.people * it.quote().expected_payment, _failure(it, error))]
    with suppress(InvalidInput, Refused):
        best = plan_mean(it.prior, it.cost, error, _FAILURE, "hoeffding")
        rows += [(f"{name}: cheapest for that accuracy", each.epsilon, each.total, each.exact_failure_probability)
                 for name, each in best.compared.items() if isinstance(each, MeanPlan)]
    return Section(title="Cost of the same accuracy with other settings", blocks=(Table(
        columns=("plan", "epsilon", f"expected total ({found.collection.currency})",
                 f"probability of an error above {number(error)}"), rows=tuple(rows),
        note="Probabilities are exact. They are for the worst case: the number of people with the answer "
             f"{found.config.bit.one} at which the probability is largest. A smaller epsilon can cost more: noisy "
             "reports agree less often, so the market must pay more for each agreement."),))


def _failure(it: PairMarket, error: float) -> float | None:
    with suppress(Unsupported):
        return it.failure_probability(error)
    return None


class BitsPairKind(BitKind):
    """Buy one randomised report from each participant, where participants' answers are correlated."""

    name = "bits-pair"
    summary = "buy one randomised yes or no from each person with correlated answers, to learn a share"
    config = BitsPairConfig

    def plan(self, config: BitsPairConfig) -> BitPlan:
        return _plan(config)

    def audit(self, plan: BitPlan, seed: int, progress: Progress | None = None) -> AuditReport:
        from confide.audit import audit
        from confide.market import audited

        groups = plan.pages.belief.groups if isinstance(plan.pages, PairPages) else None
        known = [(each.name, each.size, each.ones) for each in groups or ()]
        return audit(audited.pairs(plan.collection, seed, known), progress)

    def _drawn(self, plan: BitPlan, bits: np.ndarray, noise: Noise) -> np.ndarray:
        return randomized_response(bits, plan.market.epsilon, noise, stream="reports")


@lru_cache(maxsize=32)  # the pages of a campaign plan it again and again
def _plan(config: BitsPairConfig) -> BitPlan:
    return _planned(config)


def _planned(config: BitsPairConfig) -> BitPlan:
    try:
        prior = config.belief.prior(config.people.count)
    except InvalidInput as error:
        raise InvalidInput("belief", f"{error.field}: {error.problem}", error.limit) from None
    config.role()
    with in_file(config, _planned, MARKET_KEYS):
        found = PairMarket(prior=prior, cost=config.cost.build(), epsilon=config.privacy.epsilon)
    collection = BitCollection(market=found, currency=config.payment.currency, minor_units=config.payment.minor_units,
                               groups=len(config.peers()))
    return worth_asking(BitPlan(collection=collection, config=config, pages=PairPages(config.belief)), config, _planned)


KIND = BitsPairKind()
