"""What a campaign of bits would give: the plan and the offer, from public parameters alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from scipy.stats import binom

from confide.campaign.kinds.market.config import BitConfig
from confide.charts import intervals
from confide.contract.errors import Refused
from confide.contract.guarantees import Accuracy, Budget, Guarantees, promises_table
from confide.contract.offering import Question, answer, lies, likelier, withdrawing
from confide.contract.presentation import Block, Picture, Section, Table, Text
from confide.contract.remedies import Remedy
from confide.contract.replanned import nearest
from confide.contract.words import few, money, money_at_most, number, percent
from confide.market.coalitions import AnswerCoalition, ShareCoalition, answer_coalition, share_coalition, turned
from confide.market.collection import BitBillboard, BitCollection
from confide.market.equilibrium import symmetric_equilibria
from confide.market.pairs.market import PairMarket
from confide.numerics.fewest import fewest
from confide.privacy.groups import groups_section
from confide.privacy.response import response_table

__all__ = ["MARKET_KEYS", "BitPlan", "Pages", "deciding", "equilibria_table", "guessed", "more_reports",
           "smallest", "worth_asking"]

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

    Raises:
        Refused: what would be known is no better than what is known without asking.
    """
    accuracy = plan.guarantees.of(Accuracy)[0]
    if accuracy.vacuous:
        raise Refused(f"nobody would learn anything: {accuracy.measure} would be {accuracy.bound:.4g}, and is "
                      f"{accuracy.baseline:.4g} without asking anybody", more_reports(config, replan))
    return plan


def more_reports(config: Any, replan: Callable[[Any], BitPlan]) -> list[str | Remedy]:
    """How many people, or what epsilon, would do instead; each was tried on the whole plan."""
    found = [*nearest(config, replan, "people.count", config.people.count),
             *nearest(config, replan, "privacy.epsilon", config.privacy.epsilon)]
    return [*found] or ["no [people] count, and no [privacy] epsilon, was found that does alone"]


_HALF = 0.5
_MANY = 100_000  # people, above which every number of identities is not tried


def _smallest_peers(plan: BitPlan) -> int | None:
    """The smallest group of peers, where an agreement gains first; None where everybody is in one."""
    groups = getattr(getattr(plan.pages, "belief", None), "groups", None)
    return None if not groups else max(2, min(each.size for each in groups))


def _truthful(market: Any) -> float:
    """What truth is worth on average: its pay less the cost of privacy where that is known, else its pay."""
    return float(market.quote().participation) if hasattr(market, "cost") else _paid(market)


def _paid(market: Any) -> float:
    """What a truthful report is paid on average."""
    return float(market.quote().expected_payment)


def deciding(plan: BitPlan) -> int | None:
    """The fewest identities that decide the result; None where no number does.

    They decide a yes or no where it is wrong in half of all cases, and a share where it moves by its stated error.
    """
    it = plan.market
    if isinstance(it, PairMarket):
        bound = it.half_width(_SHARE_DELTA)
        return fewest(lambda m: share_coalition(it, m).shift >= bound, it.people)
    singly = 32 if it.people <= _MANY else 1  # where few decide, ties matter
    return fewest(lambda m: max(turned(it, m, x) for x in (0, 1)) >= _HALF, it.people, singly)


_SHARE_DELTA = 0.05  # at which the plan states the error of a share


def _among(plan: BitPlan) -> int:
    """How many people are compared with each other at least."""
    peers = _smallest_peers(plan)
    return int(plan.market.people) if peers is None else min(peers, int(plan.market.people))


def _coalition(plan: BitPlan, size: int) -> AnswerCoalition | ShareCoalition:
    it = plan.market
    return share_coalition(it, size, _smallest_peers(plan)) if isinstance(it, PairMarket) else answer_coalition(
        it, size)


def _done(plan: BitPlan, size: int) -> float:
    """What so many identities do to the result."""
    it = plan.market
    return share_coalition(it, size).shift if isinstance(it, PairMarket) else max(turned(it, size, x) for x in (0, 1))


def _with_one(plan: BitPlan) -> float:
    """The most that one person is paid on average with one id, privacy not counted."""
    return max(_coalition(plan, 1).chosen, _paid(plan.market), 0.0)


def smallest(plan: BitPlan) -> dict[str, int | None]:
    """The fewest identities of several kinds.

    "second" of one person who is paid more than with one, "group" of people each of whom earns more than by the truth,
    "fixed" of such people who give the same report whatever is true, and "deciding".
    """
    truth, paid, one, among = _truthful(plan.market), _paid(plan.market), _with_one(plan), _among(plan)

    def fixed(m: int) -> bool:
        return m > 1 and _coalition(plan, m).each > truth

    return {"second": fewest(lambda m: m > 1 and m * _coalition(plan, m).chosen > one, among),
            "group": fewest(lambda m: m > 1 and (_coalition(plan, m).drawn > paid or fixed(m)), among),
            "fixed": fewest(fixed, among), "deciding": deciding(plan)}


def coalitions_section(plan: BitPlan) -> Section:
    """The smallest number of identities, and the smallest group, that gains; what each gains, and the result."""
    it, truth, paid, one = plan.market, _truthful(plan.market), _paid(plan.market), _with_one(plan)
    among, peers = _among(plan), _smallest_peers(plan)
    second, group, fixed, many = smallest(plan).values()

    def row(words: str, size: int | None, each: Callable[[AnswerCoalition | ShareCoalition], float]) -> list[Any]:
        if size is None or size > among:
            return []
        pay = each(_coalition(plan, size))
        return [(words, size, percent(size / it.people, 2), plan.money(pay), plan.money(size * pay),
                 number(_done(plan, size)))]

    rows = [*row("ids of one person, who is paid more than with one", second, lambda found: found.chosen),
            *row("people who agree, each of whom earns more than by the truth", group,
                 lambda found: found.drawn if found.drawn > paid else found.each),
            *row("the same, where they give one report whatever is true", fixed, lambda found: found.each),
            *row("identities that decide the result", many, lambda found: found.each)]
    share = isinstance(it, PairMarket)
    result = ("estimate moves by at most" if share else "answer is wrong with probability, where they report what is "
              "not true")
    stated = (f"the stated error of the estimate is {number(it.half_width(_SHARE_DELTA))}" if share else
              f"without any agreement the answer is wrong with probability {number(it.error_probability())}")
    more = [f"A truthful report is paid {plan.money(paid)} on average"
            + (f". That is worth {plan.money(truth)} once the cost of its privacy is taken off." if hasattr(it, "cost")
               else ", before the cost of its privacy.")]
    if second is None:
        more.append("By the routes computed here, with no number of ids one person is paid more than with one.")
    else:
        all_of_them = second * _coalition(plan, second).chosen
        more.append(f"With {second} ids of one person they gain {plan.money(all_of_them - one)} more than with one: "
                    f"{plan.money(all_of_them)} in place of {plan.money(one)} on average. This is the most by the "
                    "routes computed here: all ids take part, and give the report that pays more by their owner's "
                    "answer, without the device's noise. What the owner's privacy is worth is left out of both "
                    "amounts.")
    if group is None:
        more.append("No group gains by agreeing on one report.")
    else:
        more.append(f"{group} people who agree {_gains(plan, group, paid, truth)}.")
    if many is None or many > among:
        more.append("No number of identities decides the result as it is counted here." if many is None else
                    f"{many:,} identities ({percent(many / it.people, 2)} of the invited) decide the result.")
    more.append("A promise of truth is about one person alone. The operator has to see to it that nobody has two ids.")
    return Section(title="Second identities and agreements", blocks=(
        Table(columns=("who gives one and the same report", "how many", "of the invited", "each is paid, on average",
                       "all of them", result), rows=tuple(rows),
              note=f"Exact, in money of the plan. All others keep to the equilibrium; {stated}. A result is decided "
                   + ("where it moves by its stated error." if share else "where it is wrong in half of all cases.")
                   + (" Payments are those within the smallest group of peers." if peers is not None else "")),
        Text(tuple(more))))


def _gains(plan: BitPlan, size: int, paid: float, truth: float) -> str:
    """What the smallest group does, and what each of its members gains."""
    found = _coalition(plan, size)
    if found.drawn > paid:
        return (f"can all hand in one report, which the device of one of them draws: each gains "
                f"{number(found.drawn - paid)} {plan.collection.currency} more than by the truth, on average, and "
                "only one of them spends privacy")
    return (f"can all hand in the report that is paid more, whatever is true: each gains "
            f"{number(found.each - truth)} {plan.collection.currency} more than by the truth")


_COVERED = 0.95


def guessed(plan: BitPlan, billboard: BitBillboard, answer: str) -> list[Block]:
    """The guess of the state with its error, and the reports beside those that were expected.

    Args:
        plan: of a market whose reports depend on one state.
        billboard: of its run.
        answer: the guess in words, with "%(state)s" for the state.
    """
    it, bit = plan.market, plan.config.bit
    ones, zeros = int(billboard.ones[0]), int(billboard.zeros[0])
    found = it.estimate(ones, zeros)
    said = answer % {"state": bit.one if found.state else bit.zero}
    return [Text((
        f"{said}; it is wrong with probability {number(found.wrong)}, given these reports, if everybody played the "
        f"equilibrium and the beliefs are right: prior {it.signal_model.prior_one:g}, and a bit equals the state with "
        f"probability {it.signal_model.signal_accuracy:g}. Beforehand the error to be expected was "
        f"{number(it.error_probability())}.",)),
        *_beside_expected(plan, ones, zeros)]


def _beside_expected(plan: BitPlan, ones: int, zeros: int) -> list[Picture]:
    """The share of ones among all reports, and between what it would lie under either state; none without reports."""
    people, it, bit = ones + zeros, plan.market, plan.config.bit
    if not people:
        return []
    chances: dict[str, Any] = {bit.one: it.reporting.agree, bit.zero: it.reporting.miss}
    rows = []
    for state, chance in chances.items():
        low, high = (float(end) / people for end in binom.interval(_COVERED, people, float(chance)))
        rows.append((f"expected if it is {state}", "share", float(chance), low, high))
    share = ones / people
    rows.append(("came in", "share", share, share, share))
    words = "; ".join(f"if the answer is {state}, {row[3]:.1%} to {row[4]:.1%} would be expected"
                      for state, row in zip(chances, rows, strict=False))
    return intervals(
        rows, title=f"Share of {bit.one} among the reports", axis=f"share of {bit.one}",
        alt=f"{share:.1%} of {people:,} reports say {bit.one}; {words}, in 19 of 20 campaigns, if the beliefs are "
            "right.")
