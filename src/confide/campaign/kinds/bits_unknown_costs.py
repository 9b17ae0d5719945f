"""The kind `bits-unknown-costs`: it buys reports on a fact. Only the participants themselves know the cost of their
privacy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import pydantic

from confide.audit import AuditReport
from confide.campaign.kinds.device_kind import exactly
from confide.campaign.kinds.market.kind import BitKind
from confide.campaign.kinds.market.pages import BitPages, alphabet, guessed, majority_conditions
from confide.campaign.kinds.market.plan import MARKET_KEYS, BitConfig, BitPlan, State, worth_asking
from confide.campaign.kinds.skeleton import LawTable, Parameters
from confide.contract.asked import Field
from confide.contract.checks import not_exactly_one
from confide.contract.errors import InvalidInput, Refused
from confide.contract.kinds import Progress
from confide.contract.known_keys import Keys, keys_of
from confide.contract.presentation import Block, Section, Table
from confide.contract.replanned import in_file
from confide.contract.words import number
from confide.market.collection import BitBillboard, BitCollection
from confide.market.strategies import NONE
from confide.market.threshold.cost_laws import CostLaw, ExponentialLaw, GammaLaw, LogNormalLaw, UniformLaw
from confide.market.threshold.planner import UnknownCostPlan, plan_unknown_costs
from confide.market.threshold.threshold_market import ThresholdMarket
from confide.market.threshold.type_equilibrium import common_equilibria
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.privacy.response import randomized_response

__all__ = ["KIND", "WORTH", "BitsUnknownCostsKind"]

WORTH = "worth"
"""Name of the form field for the amount of money that a nat of privacy is worth to the participant. This amount stays
on the participant's own device.
"""

_SMALLEST_TARGET = 1e-9
_KEYS = {**MARKET_KEYS, "participation": "participation.share", "threshold": "participation.threshold",
         "ceiling": "privacy.ceiling"}


@keys_of(LogNormalLaw, "meanlog sdlog", optional=True)
@keys_of(ExponentialLaw, "mean", optional=True)
@keys_of(GammaLaw, "shape scale", optional=True)
@keys_of(UniformLaw, "high", optional=True)
class CostLawTable(LawTable):
    """`[costs]`: the common belief about the probability law of the amount that a nat of privacy is worth to a
    participant. Each participant knows only their own value of privacy.
    """

    law: Literal["lognormal", "exponential", "gamma", "uniform"] = pydantic.Field(
        description="law of C, the value of a nat of privacy to one person: lognormal has meanlog and sdlog, "
                    "exponential has mean, gamma has shape and scale, uniform (from 0) has high")

    NEEDS: ClassVar[Parameters] = {
        "lognormal": ("meanlog", "sdlog"), "exponential": ("mean",), "gamma": ("shape", "scale"), "uniform": ("high",)}

    def build(self) -> CostLaw:
        """The probability law F of the amount that a nat of privacy is worth to a participant, in the currency."""
        values = [float(getattr(self, name)) for name in self.NEEDS[self.law]]
        match self.law:
            case "lognormal":
                return LogNormalLaw(*values)
            case "exponential":
                return ExponentialLaw(*values)
            case "gamma":
                return GammaLaw(*values)
            case _:
                return UniformLaw(0.0, *values)


@keys_of(ThresholdMarket, "epsilon")
class Levels(Keys):
    """`[privacy]` of the kind `bits-unknown-costs`: the range of privacy levels (epsilons, in nats) from which
    participants' devices choose.
    """

    if TYPE_CHECKING:
        epsilon: float

    ceiling: float = pydantic.Field(gt=0, le=700, allow_inf_nan=False, description=
        "largest level of a device's report; the campaign promises and charges this level")


@keys_of(ThresholdMarket, "threshold", optional=True, share="participation")
class Taking(Keys):
    """`[participation]`: the share of people who are meant to take part, or the largest privacy cost at which people
    take part. Exactly one of share and threshold must be given.
    """

    if TYPE_CHECKING:
        share: float | None
        threshold: float | None

    @pydantic.model_validator(mode="after")
    def _one(self) -> Taking:
        if problem := not_exactly_one(share=self.share, threshold=self.threshold):
            raise ValueError(problem)
        return self


class BitsUnknownCostsConfig(BitConfig):
    """All tables of the kind `bits-unknown-costs`."""

    state: State
    costs: CostLawTable
    privacy: Levels
    participation: Taking


class UnknownCostPages(BitPages):
    """The texts on the pages of a campaign of the kind `bits-unknown-costs`."""

    def planned(self, plan: BitPlan) -> list[tuple[str, str]]:
        it, bit = plan.market, plan.config.bit
        quote, total = it.quote(), it.total_payment()
        tables = it.payments_at(max(2, round(it.people * it.presence)))
        return [
            ("largest level of one report, local differential privacy", f"epsilon = {it.largest_level:g}"),
            ("  least level of a participant, for the quality of reports", number(it.epsilon)),
            ("  median level of the participants", number(float(it.level_quantile(0.5)))),
            ("taking part is worthwhile if a nat of privacy costs a person at most", plan.money(it.cost_threshold)),
            ("expected number of participants", f"{it.people * it.presence:,.1f} of {it.people:,}"),
            ("expected payment of a participant", plan.money(quote.expected_payment)),
            ("payment if the expected number takes part: for a report with the majority, and against it",
             f"{plan.at_most(float(tables[1, 1]))} and {plan.at_most(float(tables[1, 0]))} for {bit.one}, "
             f"{plan.at_most(float(tables[0, 0]))} and {plan.at_most(float(tables[0, 1]))} for {bit.zero}"),
            ("probability that a participant's payment is negative", number(it.negative_probability())),
            ("number of new questions after which a participant's sum of payments is negative with probability at most "
             "0.05",
             number(it.rounds_until_nonnegative(0.05))),
            ("expected total", plan.money(it.expected_total)),
            ("  standard deviation; 19 of 20 totals are at most",
             f"{plan.money(total.sd)}; {plan.at_most(total.quantile(0.95))}"),
            ("probability that the majority of reports is wrong", number(it.error_probability())),
            ("  probability of a wrong guess without any reports",
             number(min(it.signal_model.prior_one, it.signal_model.prior_zero))),
        ]

    def more(self, plan: BitPlan) -> list[Section]:
        rows = tuple((each.name, each.participation, each.payment, each.total, "yes" if each.informative else "no")
                     for each in common_equilibria(plan.market))
        return [_cheaper(plan), Section(title="Reports that everybody could agree on", blocks=(
            Table(columns=("everybody plays", "share of participants", f"payment ({plan.collection.currency})",
                           f"expected total ({plan.collection.currency})", "reports say something"), rows=rows,
                  note="These are the equilibria on which people can agree easily. Equilibria with reports that say "
                       "nothing usually pay more. A market cannot prevent people from agreeing to give the same "
                       f"report. {alphabet(plan)} In the row 'costs up to ...', the people with at most this cost per "
                       "nat take part, and the others stay away. The plan assumes this behaviour."),))]

    def paid(self, plan: BitPlan) -> Table:
        it, bit = plan.market, plan.config.bit
        present = max(2, round(it.people * it.presence))
        tables = it.payments_at(present)
        rows = tuple((name, plan.at_most(float(tables[own, own])), plan.at_most(float(tables[own, 1 - own])))
                     for name, own in ((bit.one, 1), (bit.zero, 0)))
        return Table(columns=("your report", "with the majority of the other reports", "against this majority"),
                     rows=rows,
                     note=f"These are the amounts if {present:,} people take part, as expected. With another number, "
                          "the public counts give the amounts. "
                          f"Example: you report {bit.one}, and more of the other people report {bit.one} than "
                          f"{bit.zero}. You then get the first amount for {bit.one}. "
                          + ("A negative amount is taken from your deposit." if plan.deposit else
                             "You owe a negative amount."))

    def ignored(self, plan: BitPlan) -> str:
        return ""

    def lied(self, plan: BitPlan) -> list[str]:
        worth = plan.money(plan.market.cost_threshold)
        return [
            majority_conditions(plan, "if all other people follow the advice of this page")
            + f" It covers you if a nat is worth at most {worth} to you. If a nat is worth more to you, you gain "
            "nothing by taking part.",
            "The promise covers every way to report, up to the largest loss of the campaign. It does not rule out "
            "agreements, such as the same report from everybody."]

    def why(self, plan: BitPlan) -> list[str]:
        it = plan.market
        return [
            "A nat is the unit of privacy loss. At a loss of 1 nat, people with one answer send your report at most e "
            "= 2.72 times as often as people with the other answer. Take part if a nat is worth at most "
            f"{plan.money(it.cost_threshold)} to you. On average, your payment is then at least the value of the "
            "privacy that you lose. You gain more if a nat is worth less to you. If a nat is worth more to you, stay "
            f"away. Your device asks you for the value of a nat and chooses the best loss for you, from {it.epsilon:g} "
            f"to {it.largest_level:g} nats. Your device tells nobody the value or the loss. You are paid for a report "
            "with the majority of the other reports, and you pay for a report against this majority. The operator sees "
            f"that you took part, and can conclude that a nat is worth at most {plan.money(it.cost_threshold)} to you.",
        ]

    def found(self, plan: BitPlan, billboard: BitBillboard) -> list[Block]:
        bit = plan.config.bit
        return guessed(plan, billboard, f"As many reports say {bit.one} as {bit.zero}, and a tie counts as {bit.one}"
                       if billboard.ones[0] == billboard.zeros[0] else "The majority of the reports says STATE")


def _cheaper(found: BitPlan) -> Section:
    """A section on the cost of the same accuracy with other shares of participants and other levels, with the same
    largest level as in the file.
    """
    it: ThresholdMarket = found.market
    rows: list[tuple[str | float | None, ...]] = [
        ("this campaign", it.people * it.presence, it.epsilon, it.expected_total, it.error_probability())]
    error, baseline = it.error_probability(), min(it.signal_model.prior_one, it.signal_model.prior_zero)
    if _SMALLEST_TARGET <= error < baseline:
        with suppress(InvalidInput, Refused):
            best = plan_unknown_costs(error, it.signal_model.signal_accuracy, it.signal_model.prior_one, it.cost_law,
                                      people=it.people, ceiling=it.ceiling)
            rows += [(f"{name}: best found for that error", each.participants, each.epsilon, each.total, each.error)
                     for name, each in best.compared.items() if isinstance(each, UnknownCostPlan)]
    return Section(title="Cost of the same accuracy with other settings", blocks=(Table(
        columns=("plan", "participants", "least level", f"expected total ({found.collection.currency})",
                 "error (probability of a wrong result)"),
        rows=tuple(rows), note="Each plan has the same number of invited people and the same largest level. The name "
                               "of each other plan says which figure was kept below the target error: 'exact' is the "
                               "exact error, 'pgf' is an upper bound on the error, and 'thesis' is the rule of the "
                               "source (Wang 2016). This bound and this rule overestimate the error. So the plans "
                               "'pgf' and 'thesis' usually cost more, and have a smaller exact error in the last "
                               "column."),))


class BitsUnknownCostsKind(BitKind):
    """Buy randomised reports on a fact, at privacy costs that each participant alone knows."""

    name = "bits-unknown-costs"
    summary = "buy one randomised yes or no from the people with the least cost of privacy, with payments and fines"
    config = BitsUnknownCostsConfig

    def plan(self, config: BitsUnknownCostsConfig) -> BitPlan:
        return _plan(config)

    def audit(self, plan: BitPlan, seed: int, progress: Progress | None = None) -> AuditReport:
        from confide.audit import audit
        from confide.market import audited

        return audit(audited.unknown_costs(plan.collection, seed), progress)

    def asked(self, config: BitConfig, plan: BitPlan) -> Sequence[Field]:
        """Form fields for the participant's answer, and for the amount that a nat of privacy is worth to them. Both
        stay on the participant's own device.
        """
        return [*super().asked(config, plan), Field(
            column=WORTH, label="How much is one nat of privacy of your answer worth to you?",
            form="number", above=0.0, unit=config.payment.currency, required=False,
            note="Your device uses this value to choose your privacy level, and tells nobody the value. Give the value "
                 f"together with your answer. If it is above {plan.money(plan.market.cost_threshold)}, your device "
                 "takes no part.")]

    def device(
        self, config: BitConfig, plan: BitPlan, terms: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Instructions for the participant's device: randomised response at the epsilon that is best for the
        participant.
        """
        it: ThresholdMarket = plan.market
        ceiling = it.largest_level
        if exactly(ceiling) < Fraction(ceiling):  # a device takes its double as it is: no more than what is charged
            ceiling = math.nextafter(ceiling, 0.0)
        found = super().device(config, plan)
        del found["epsilon"]
        return {**found, "levels": {"worth": WORTH, "epsilon": min(it.epsilon, ceiling),
                                                     "threshold": it.cost_threshold, "ceiling": ceiling}}

    def _own(self, config: object) -> tuple[str, ...]:
        return (WORTH,)

    def _worth(self, values: Mapping[str, str]) -> float:
        text = str(values.get(WORTH, "")).strip()
        try:
            found = float(text)
        except ValueError:
            found = float("nan")
        if not 0 < found < float("inf"):
            raise InvalidInput("record", f"{WORTH}: is missing, or is not an amount above 0",
                               "must be the value of a nat of privacy to the participant, in the currency; the value "
                               "does not leave their device")
        return found

    def _drawn(self, plan: BitPlan, bits: np.ndarray, noise: Noise) -> np.ndarray:
        """One report for each bit. Participants' values of privacy are drawn from the file's law with a fixed seed, so
        they are the same in every rehearsal.
        """
        it: ThresholdMarket = plan.market
        worth = it.cost_law.sample(len(bits), study_generator(0, "rehearsal"))
        levels, reports = np.asarray(it.level_of(worth)), np.full(len(bits), NONE)
        for k in np.flatnonzero(~np.isnan(levels)).tolist():
            reports[k] = randomized_response([int(bits[k])], float(levels[k]), noise, stream=("report", k))[0]
        return reports


@lru_cache(maxsize=32)  # the pages of a campaign plan it again and again
def _plan(config: BitsUnknownCostsConfig) -> BitPlan:
    return _planned(config)


def _planned(config: BitsUnknownCostsConfig) -> BitPlan:
    if config.privacy.ceiling < config.privacy.epsilon:
        raise InvalidInput("privacy.ceiling", f"{config.privacy.ceiling:g} is below privacy.epsilon",
                           f"must be at least {config.privacy.epsilon!r}")
    with in_file(config, _planned, _KEYS):
        found = ThresholdMarket(
            people=config.people.count, signal_accuracy=config.state.signal_accuracy, prior_one=config.state.prior_one,
            cost_law=config.costs.build(), epsilon=config.privacy.epsilon, participation=config.participation.share,
            threshold=config.participation.threshold, ceiling=config.privacy.ceiling)
    config.role()
    collection = BitCollection(market=found, currency=config.payment.currency,
                               minor_units=config.payment.minor_units)
    return worth_asking(BitPlan(collection=collection, config=config, pages=UnknownCostPages()), config, _planned)


KIND = BitsUnknownCostsKind()
