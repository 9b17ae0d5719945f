"""What a campaign of bits would give: the plan and the offer, from public parameters alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from confide.contract.errors import Refused
from confide.contract.guarantees import Accuracy, Budget, Guarantees
from confide.contract.offering import Question, answer, lies, likelier, withdrawing
from confide.contract.presentation import Block, Section, Table, Text
from confide.contract.promised import promises_table
from confide.contract.remedies import Remedy
from confide.contract.replanned import nearest
from confide.contract.words import few, money, money_at_most, percent
from confide.market.campaign.coalition_words import coalitions_section, deciding, smallest
from confide.market.campaign.config import BitConfig
from confide.market.collection import BitBillboard, BitCollection
from confide.market.equilibrium import symmetric_equilibria
from confide.privacy.groups import groups_section
from confide.privacy.response import response_table

__all__ = ["MARKET_KEYS", "BitPlan", "Pages", "equilibria_table", "more_reports", "worth_asking"]


MARKET_KEYS = {"people": "people.count", "epsilon": "privacy.epsilon", "signal_accuracy": "state.signal_accuracy",
               "prior_one": "state.prior_one", "presence": "people.presence"}
"""What a market calls a setting -> its key in the files."""


class Pages(Protocol):
    """What the pages of one kind say of its own; everything else is said once, for all kinds."""

    def planned(self, plan: BitPlan) -> list[tuple[str, str]]: ...

    def warnings(self, plan: BitPlan) -> list[str]: ...

    def more(self, plan: BitPlan) -> list[Section]: ...

    def paid(self, plan: BitPlan) -> Table: ...

    def why(self, plan: BitPlan) -> list[str]: ...

    def found(self, plan: BitPlan, billboard: BitBillboard) -> list[Block]: ...


@dataclass(frozen=True, kw_only=True)
class BitPlan:
    """A market with its question and its money.

    Args:
        collection: the mechanism.
        config: of the file.
        pages: what its kind says.
    """

    collection: BitCollection
    config: BitConfig
    pages: Pages

    @property
    def mechanism(self) -> BitCollection:
        return self.collection

    @property
    def market(self) -> Any:
        """The market whose payments are made."""
        return self.collection.market

    @cached_property
    def guarantees(self) -> Guarantees:
        return self.collection.guarantees()

    def money(self, amount: float) -> str:
        """An amount in the currency."""
        digits = len(str(self.collection.minor_units)) - 1
        return f"{amount:,.{digits}f} {self.collection.currency}"

    def at_most(self, amount: float) -> str:
        """An amount that is not exceeded, and a payment that is rounded up: in whole coins."""
        return money_at_most(amount, self.collection.minor_units, self.collection.currency)

    def coins(self, coins: int) -> str:
        """Whole coins in the currency."""
        return money(coins, self.collection.minor_units, self.collection.currency)

    @property
    def deposit(self) -> int:
        """Coins that each participant leaves beforehand, so that nobody ever owes anything."""
        lowest = self.market.payment_range()[0]
        return math.ceil(-lowest * self.collection.minor_units) if lowest < 0 else 0

    @property
    def highest(self) -> int:
        """Coins that no payment exceeds: amounts are rounded up to whole ones."""
        return math.ceil(float(self.market.payment_range()[1]) * self.collection.minor_units)

    def sections(self) -> Sequence[Section]:
        return self._sections

    @cached_property  # equilibria and distributions of totals: half a second, which each look at a desk would take
    def _sections(self) -> tuple[Section, ...]:
        rows = [("people invited (fixed and public)", f"{self.market.people:,}"), *self.pages.planned(self),
                ("largest single payment, whoever takes part", self.coins(self.highest))]
        if self.deposit:
            rows.append(("deposit that each participant leaves", self.coins(self.deposit)))
        blocks: list[Block] = [Table(columns=("what", "planned"), rows=tuple(rows), note=_NOTE)]
        warnings = self.pages.warnings(self)
        most, (lowest, largest) = self.config.payment.most, map(float, self.market.payment_range())
        for words, amount in (("payment", largest), ("debt", -lowest)):
            if most is not None and amount > most:
                warnings.append(f"a single {words} can come to {self.at_most(amount)}, above the {self.money(most)} of "
                                "[payment] most: more people, or a smaller epsilon, make it smaller")
        if self.collection.coin >= self.market.margin:
            warnings.append(f"rounding to whole coins can be worth more than the {self.market.margin:.3g} by which "
                            "truth pays, so that nothing is promised of it: choose smaller coins (minor_units), or a "
                            "larger epsilon")
        if (said := few(deciding(self), self.market.people, "identities")) is not None:
            warnings.append(f"{said}, decide the result: whoever has so many ids, or brings so many people to one "
                            "report, chooses it")
        if warnings:
            blocks.append(Text(tuple(f"Warning: {each}." for each in warnings)))
        return (
            Section(title="Plan", blocks=tuple(blocks)), *self.pages.more(self), coalitions_section(self),
            Section(title="Guarantees", blocks=(promises_table(
                self.guarantees,
                "Privacy holds for everybody whose own device drew her report at the offered level. Truth, "
                "participation and accuracy rest on the beliefs in the campaign file."),)),
            groups_section(self.collection, self.guarantees.privacy),
        )

    def offer(self) -> Sequence[Section]:
        """What she is asked, who sees what, the odds of her device's channel, what is paid, and what she may do."""
        bit = self.config.bit
        deposit = (f" You leave {self.coins(self.deposit)} at the start and get it back together with your payment, so "
                   "that you never owe anything." if self.deposit else "")
        return [
            answer(Question.REPORT, f"You are asked: {bit.question}",
                   f"You report {bit.one} or {bit.zero}, after your own device has changed your answer at random; or "
                   "nothing, if you take no part.",
                   "Decide whether to take part before your device reads your answer. Staying away is public in the "
                   "counts, and is paid nothing."),
            answer(Question.SEES, "The operator sees your report, never your answer. The public sees how many reported "
                                  f"{bit.one} and {bit.zero}, and what each of them was paid."),
            answer(Question.HIDES, *self._odds(),
                   "Levels of several reports on the same question add up: look at what you answered before. A device "
                   "that runs confide submit keeps a book, and refuses to answer the same words, or the same name, "
                   "again without asking you; a browser keeps none, and whoever asks in other words is noticed by "
                   "neither."),
            answer(Question.GETS, f"At most {self.coins(self.highest)}, by whether your report agrees with those of "
                                  f"others.{deposit}", self.pages.paid(self)),
            answer(Question.LIES, f"{lies(self.guarantees)} Your report is random already, and a lie is any other way "
                                  "to make one.", *self.pages.why(self)),
            answer(Question.TRUSTED, "Nobody, with your answer: it does not leave your device. The operator, with your "
                                     "report and with paying you what it says."),
            answer(Question.WITHDRAWING, *withdrawing(
                absent="your report counts as none, as if you had taken no part: how many did is public, who did is "
                       "not", deposit=bool(self.deposit))),
        ]

    def _odds(self) -> list[str]:
        """The most telling channel of anybody's device, in plain words."""
        level = self.market.largest_level
        if not math.isfinite(level):
            return ["Only as much as your own device does: no level is promised."]
        table = response_table(level)
        least = response_table(self.market.epsilon).truth
        true = (percent(table.truth) if least == table.truth else
                f"{percent(least)} to {percent(table.truth)}")
        return [f"Your device reports your answer as it is with a probability of {true}, and the other one otherwise.",
                f"Your report is at most {likelier(level)} times as likely under one answer as under the other. "
                f"Who must guess your answer, even money beforehand, is right at most {percent(table.truth)} of the "
                "time."]

    def to_dict(self) -> dict[str, Any]:
        market = self.market
        return {"people": market.people, "largest_level": market.largest_level, "margin": market.margin,
                "payments": list(market.payment_range()), "deposit_coins": self.deposit,
                "expected_total": self.guarantees.of(Budget)[0].expected,
                "accuracy": self.guarantees.of(Accuracy)[0].bound, "fewest_identities": smallest(self),
                "planned": {name.strip(): value for name, value in self.pages.planned(self)}}


_NOTE = ("Everything here follows from public parameters. Money rests on the beliefs in the campaign file, and on "
         "everybody playing the equilibrium; single payments never leave their range.")


def equilibria_table(plan: BitPlan, *more: Block) -> Section:
    """Everything that everybody could agree on, the collusive reports included."""
    rows = tuple((each.name, each.payment, each.utility, "yes" if each.strict else "no",
                  "yes" if each.informative else "no") for each in symmetric_equilibria(plan.market))
    return Section(title="Everything that everybody could agree on", blocks=(
        Table(columns=("everybody plays", f"payment ({plan.collection.currency})", "less the cost of privacy", "strict",
                       "says anything"), rows=rows,
              note="Symmetric equilibria. Those that say nothing usually pay more: a market cannot forbid that people "
                   "agree to give one and the same report."), *more))


def worth_asking(plan: BitPlan, config: BitConfig, replan: Callable[[Any], BitPlan]) -> BitPlan:
    """The plan, unless reports at its settings would teach nothing.

    Args:
        plan: of the file.
        config: of the file.
        replan: of another config, without a cache.

    Raises:
        Refused: what would be known is no better than what is known without asking.
    """
    accuracy = plan.guarantees.of(Accuracy)[0]
    if accuracy.vacuous:
        raise Refused(f"nobody would learn anything: {accuracy.measure} would be {accuracy.bound:.4g}, and is "
                      f"{accuracy.baseline:.4g} without asking anybody", more_reports(config, replan))
    return plan


def more_reports(config: Any, replan: Callable[[Any], BitPlan]) -> list[str | Remedy]:
    """How many people, or what epsilon, would do instead; each was tried on the whole plan.

    Args:
        config: of the file.
        replan: of another config, without a cache.
    """
    found = [*nearest(config, replan, "people.count", config.people.count),
             *nearest(config, replan, "privacy.epsilon", config.privacy.epsilon)]
    return [*found] or ["no [people] count, and no [privacy] epsilon, was found that does alone"]
