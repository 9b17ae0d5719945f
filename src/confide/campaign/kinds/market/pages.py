"""The pages of the kinds `bits`, `bits-pair` and `bits-unknown-costs`: the texts that these kinds share, and methods
for each kind's own texts.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import scipy

from confide.campaign.kinds.device_kind import Played
from confide.campaign.kinds.market.plan import BitPlan
from confide.campaign.kinds.skeleton import (
    AnyOutcome,
    not_disclosed,
    plan_page,
    promised,
    settled_otherwise,
    share_page,
)
from confide.charts import intervals
from confide.contract.guarantees import Audience, Budget, Truthfulness, stated
from confide.contract.offering import NO_TRUTH, Question, answer, likelier, who_asks, withdrawing
from confide.contract.outcome import PublicOutcome, SimulatedOutcome, settled_coins
from confide.contract.presentation import Block, Picture, Section, Table, Text, joined
from confide.contract.remedies import printed
from confide.contract.words import few, number, percent
from confide.market.coalitions import SHARE_FAILURE, AnswerCoalition, ShareCoalition
from confide.market.collection import BitBillboard
from confide.market.equilibrium import symmetric_equilibria
from confide.market.pairs.market import PairMarket
from confide.market.strategies import NONE
from confide.privacy.groups import household_parts
from confide.privacy.response import response_table

__all__ = ["BitPages", "alphabet", "equilibria_table", "guessed", "majority_conditions"]


class BitPages(ABC):
    """The texts on pages that `bits`, `bits-pair` and `bits-unknown-costs` share. A subclass adds the texts of its
    kind.
    """

    @abstractmethod
    def planned(self, plan: BitPlan) -> list[tuple[str, str]]:
        """Rows that the kind adds to the table of the plan, as pairs of a name and an amount."""

    def warnings(self, plan: BitPlan) -> list[str]:
        """The warnings to the operator before anybody is asked for a report."""
        return []

    @abstractmethod
    def more(self, plan: BitPlan) -> list[Section]:
        """Sections that the kind adds to the plan page."""

    @abstractmethod
    def paid(self, plan: BitPlan) -> Table:
        """A table of the payment for each report, as the offer shows it."""

    @abstractmethod
    def lied(self, plan: BitPlan) -> list[str]:
        """The conditions of the promise on lies, in plain sentences."""

    def ignored(self, plan: BitPlan) -> str:
        """A sentence on the least loss from a report that ignores the answer; empty for a kind that states no such
        loss.
        """
        least = printed(plan.market.quote().margin, up=False, digits=3)
        return (f"A report that ignores your answer, such as {plan.config.bit.one} in any case, earns at least {least} "
                f"{plan.collection.currency} less, before payments are rounded up. ")

    @abstractmethod
    def why(self, plan: BitPlan) -> list[str]:
        """Explain to the participant, in sentences, why it pays to take part and to report honestly."""

    @abstractmethod
    def found(self, plan: BitPlan, billboard: BitBillboard) -> list[Block]:
        """The conclusions from the public counts of reports, as texts, pictures and tables."""

    def sections(self, plan: BitPlan) -> list[Section]:
        """The plan page for the operator: the predicted outcome and the warnings."""
        rows = [("people invited (fixed and public)", f"{plan.market.people:,}"), *self.planned(plan),
                ("largest single payment, for any number of participants", plan.coins(plan.highest))]
        if plan.deposit:
            rows.append(("deposit that each participant leaves", plan.coins(plan.deposit)))
        warnings = self.warnings(plan)
        most, (lowest, largest) = plan.config.payment.most, map(float, plan.market.payment_range())
        for words, amount in (("payment", largest), ("debt", -lowest)):
            if most is not None and amount > most:
                warnings.append(f"the largest {words} is {plan.at_most(amount)}, above [payment] most = "
                                f"{plan.money(most)}: try another epsilon")
        if plan.collection.coin >= plan.market.margin:
            warnings.append(f"a truthful report pays only {plan.market.margin:.3g} more than a false one, and rounding "
                            "to whole coins can change a payment by more. So the plan does not promise that truth pays "
                            "best: choose smaller coins (minor_units), or a larger epsilon")
        if (said := few(plan.agreements.deciding, plan.market.people, "identities")) is not None:
            warnings.append(f"{said}, decide the result: anybody with that many ids can choose the result, and so can "
                            "anybody who persuades that many people to give one report")
        return plan_page(
            plan, rows, "All figures follow from public parameters. Expected amounts of money are right if the beliefs "
                        "in the campaign file are right and everybody plays the equilibrium. The limits on single "
                        "payments always hold.",
            warnings, *self.more(plan), _coalitions(plan),
            said="Privacy holds for each participant if their own device drew the report at the offered level. Truth, "
                 "participation and accuracy hold if the beliefs in the campaign file are right.")

    def offer(self, plan: BitPlan) -> list[Section]:
        """The offer to a participant: the question, the readers of the report, the odds of the device's random answer,
        the payments, and the ways to withdraw.
        """
        bit = plan.config.bit
        deposit = (f" You leave a deposit of {plan.coins(plan.deposit)} at the start. You get it back together with "
                   "your payment, so you never owe anything." if plan.deposit else "")
        return [
            answer(Question.REPORT, f"You are asked: {bit.question}", who_asks("you are paid"),
                   f"Your device changes your answer at random, and then reports {bit.one} or {bit.zero}. If you take "
                   "no part, your device reports nothing.",
                   "First decide whether to take part. Only then let your device read your answer. The published "
                   "counts show how many people stayed away, so a decision that depends on your answer can disclose "
                   "something about it. People who stay away are paid nothing."),
            answer(Question.SEES, "The operator sees your report, never your answer. The public sees how many people "
                                  f"reported {bit.one} and how many reported {bit.zero}, and the payment for each of "
                                  "the two reports.",
                   "Example: everybody can read in the result how many people reported "
                   f"{bit.one}. The result does not say which people these are.",
                   f"Your payment shows your report if the payments for {bit.one} and {bit.zero} are different. "
                   "Example: somebody sees your bank statement and compares your amount with the public payments. They "
                   "learn your report, and not your answer."),
            answer(Question.HIDES, *self._odds(plan),
                   "If you report on the same question several times, your privacy losses add up: check which "
                   "questions you have answered before. A device that runs `confide submit` keeps a book of your "
                   "reports. It asks you before it answers a question again that has the same words or the same name. "
                   "A browser keeps no such book. Neither of them recognises the same question in other words.",
                   *household_parts(plan.mechanism, plan.guarantees.privacy, Audience.COLLECTOR, "answer")),
            answer(Question.GETS, f"You get at most {plan.coins(plan.highest)}. The amount depends on whether your "
                                  f"report agrees with other people's reports.{deposit}",
                   self.paid(plan)),
            answer(Question.LIES, "Your device already makes your report at random. A lie is any other way to make the "
                                  f"report. Example: your true answer is {bit.one}, and you give your device the "
                                  f"answer {bit.zero}.",
                   *self.why(plan), *self._promised(plan)),
            answer(Question.TRUSTED, "You trust nobody with your answer: it does not leave your device. You trust the "
                                     "operator with your report. You also trust the operator to pay you the amount "
                                     "for the report."),
            answer(Question.WITHDRAWING, *withdrawing(
                absent="the campaign counts you as somebody who took no part. The number of participants is public, "
                       "their names are not", deposit=bool(plan.deposit))),
        ]

    def _promised(self, plan: BitPlan) -> list[str]:
        """The promise on lies in plain sentences, with its conditions."""
        it = plan.guarantees.of(Truthfulness)[0]
        if not stated((it,)):
            return [NO_TRUTH]
        said = (f"The promise: on average, a lie earns you at most {it.gain:.4g} {plan.collection.currency} more than "
                "the report that your device makes from your true answer. This gain is possible only because payments "
                f"are rounded up. {self.ignored(plan)}These amounts count your loss of privacy as a cost.")
        return [said, *self.lied(plan)]

    def _odds(self, plan: BitPlan) -> list[str]:
        """The odds of the device's random answer at the largest level, in plain words."""
        level = plan.market.largest_level
        if not math.isfinite(level):
            return ["The campaign promises no level. Only your own device hides your answer."]
        table = response_table(level)
        least = response_table(plan.market.epsilon).truth
        true = (percent(table.truth) if least == table.truth else
                f"{percent(least)} to {percent(table.truth)}")
        return [f"Your device reports your true answer with a probability of {true}, and the other answer otherwise.",
                "Example: somebody thinks at first that both answers are equally likely. They see your report and "
                f"guess your answer. They are right at most {percent(table.truth)} of the time. They can learn which "
                "answer is more likely. They cannot learn your answer for certain: people with one answer send a "
                f"report at most {_times(level)} times as often as people with the other answer. In the words of the "
                f"field, your privacy loss is at most epsilon = {level:.4g}, and {likelier(level)}."]

    def result_sections(self, plan: BitPlan, outcome: AnyOutcome) -> list[Section]:
        """The result page: the finding in one sentence and a picture, the counts, the limits of conclusions about one
        person, and the promises.
        """
        board: Any = outcome.billboard
        found, bit = self.found(plan, board), plan.config.bit
        first, *more = [said for block in found if isinstance(block, Text) for said in block.paragraphs]
        return [
            Section(title="What was found", found=True, blocks=joined(
                first, *(block for block in found if isinstance(block, Picture)),
                *(block for block in found if isinstance(block, Table)), _counts(plan, board), *more)),
            not_disclosed(
                plan, f"whether a given participant's answer is '{bit.one}' or '{bit.zero}'", Audience.COLLECTOR,
                "The devices randomised the reports before they sent them. So the counts, the payments and all "
                "conclusions from them disclose nothing more.", thing="answer"),
            promised(plan, *stated(plan.guarantees)),
        ]

    def result_tables(self, plan: BitPlan, outcome: AnyOutcome) -> Mapping[str, pa.Table]:
        """The table `counts`, with a row for each group of peers: the numbers of both reports, and the payment for each
        report in the currency.
        """
        board: Any = outcome.billboard
        units = float(plan.collection.minor_units)
        return {"counts": pa.table({
            "peers": list(plan.config.peers()),
            "ones": board.ones, "zeros": board.zeros,
            "paid_for_one": board.for_one / units, "paid_for_zero": board.for_zero / units,
        })}

    def explain(self, plan: BitPlan, outcome: AnyOutcome, record: Any, index: int) -> list[Section]:
        """One participant's page after the run: their payment, the counts from which the payment follows, and the
        reason for the rule of payment.
        """
        board: Any = outcome.billboard
        share = plan.collection.decode(record, index, board)["payment"]
        stored = None if isinstance(outcome, PublicOutcome) else settled_coins(outcome, index)
        who = f"Participant {index + 1}"
        if stored is not None and stored != share:
            return settled_otherwise(who, plan.coins(stored), plan.coins(share), thing="report")
        report, group = (NONE, 0) if record is None else record
        head = f"{who}: payment {plan.coins(share)}"
        if report == NONE:
            return share_page(head, "No report arrived under this id. People who take no part are paid nothing.")
        bit = plan.config.bit
        own, other = (bit.one, bit.zero) if report else (bit.zero, bit.one)
        swapped = plan.coins(int((board.for_zero if report else board.for_one)[group]))
        peers = int(board.ones[group] + board.zeros[group]) - 1
        due = (f" With the deposit of {plan.coins(plan.deposit)}, you are paid "
               f"{plan.coins(max(0, share + plan.deposit))} in all. If you left no deposit, you are paid "
               f"{plan.coins(max(0, share))}." if plan.deposit else "")
        return share_page(
            head, f"The report was {own}. " + (
                f"It is compared with {peers:,} other reports; {int(board.ones[group]) - (report == 1):,} of them say "
                f"{bit.one}." if peers else "There is no other report for a comparison."),
            f"Each person who reported {own} is paid {plan.coins(share)}, and each person who reported {other} is paid "
            f"{swapped}. Both amounts follow from the public counts alone.{due}", *self.why(plan))

    def study_sections(self, plan: BitPlan, data: Played, outcome: SimulatedOutcome) -> list[Section]:
        """The study page: the true share of ones compared with the share among the reports, and the total of the
        simulated payments.
        """
        board: Any = outcome.billboard
        truth, bit = data.truth, plan.config.bit
        rows = []
        for k, name in enumerate(plan.config.peers()):
            inside = truth.report[truth.group == k]
            n = int(board.ones[k] + board.zeros[k])
            rows.append((name, float(inside.mean()) if inside.size else None, int(board.ones[k]) / n if n else None))
        paid = outcome.shares["payment"].to_numpy() / plan.collection.minor_units
        expected = plan.guarantees.of(Budget)[0].expected
        return [Section(title="Comparison with the true answers", study=True, blocks=(
            Table(columns=("peers", f"true share of {bit.one}", f"reported share of {bit.one}"), rows=tuple(rows)),
            Text((f"The run would have paid {plan.money(float(paid.sum()))} in all, and the equilibrium predicts "
                  f"{plan.money(expected)}. The prediction uses the beliefs in the campaign file, and these people may "
                  "have other beliefs.",)),
        ))]


def _times(level: float) -> str:
    """The value of e^epsilon as text, without the power, such as "2.72" for epsilon 1."""
    return likelier(level).partition(" = ")[2]


def majority_conditions(plan: BitPlan, others: str) -> str:
    """A sentence with the conditions of the promise on lies, in a market that pays reports with the majority.

    Args:
        plan: plan of a campaign in which every answer is a noisy sign of one fact.
        others: clause on the other people's reports, which begins with "if".
    """
    model, bit = plan.market.signal_model, plan.config.bit
    return (f"The promise holds {others}, and if everybody believes the same before the campaign: the fact that the "
            f"campaign looks for is {bit.one} with a probability of {percent(model.prior_one)}, and each person's true "
            f"answer agrees with this fact with a probability of {percent(model.signal_accuracy)}.")


def _counts(plan: BitPlan, board: BitBillboard) -> Table:
    bit, names = plan.config.bit, plan.config.peers()
    rows = tuple((name, int(one), int(zero), plan.coins(int(pay1)), plan.coins(int(pay0)))
                 for name, one, zero, pay1, pay0 in zip(names, board.ones, board.zeros, board.for_one,
                                                        board.for_zero, strict=True))
    return Table(columns=("peers", f"report {bit.one}", f"report {bit.zero}", f"payment for {bit.one}",
                          f"payment for {bit.zero}"), rows=rows,
                 note=f"{plan.market.people - board.present:,} of {plan.market.people:,} invited people took no part.")


def equilibria_table(plan: BitPlan, *more: Block) -> Section:
    """A section with a table of all symmetric equilibria of the market, including those in which people agree on
    uninformative reports.
    """
    rows = tuple((each.name, each.payment, each.utility, "yes" if each.strict else "no",
                  "yes" if each.informative else "no") for each in symmetric_equilibria(plan.market))
    return Section(title="Reports that everybody could agree on", blocks=(
        Table(columns=("everybody plays", f"payment ({plan.collection.currency})",
                       f"payment minus the cost of privacy ({plan.collection.currency})", "strict",
                       "reports say something"), rows=rows,
              note="These are the symmetric equilibria. Equilibria with reports that say nothing usually pay more. A "
                   f"market cannot prevent people from agreeing to give the same report. {alphabet(plan)} In a row "
                   "with a level, all devices report at this epsilon. 'Labels exchanged' means that each device then "
                   "sends the other of the two reports. 'Fair coins' means that everybody reports at random. 'Strict' "
                   "means that any other way to report is worse for a person if nobody else changes."), *more))


def alphabet(plan: BitPlan) -> str:
    """A sentence on the reports 0 and 1 in a table of equilibria."""
    return f"The report 1 is {plan.config.bit.one}, and the report 0 is {plan.config.bit.zero}."


def _coalitions(plan: BitPlan) -> Section:
    """A section on the smallest group of people, or of identities of one person, that gains by agreeing on reports. The
    section states the gain of each member, and the effect on the result.
    """
    it, known = plan.market, plan.agreements
    truth, paid, one, among, peers = known.truthful, known.paid, known.with_one, known.among, known.peers
    second, group, fixed, many = known.smallest.values()

    def row(words: str, size: int | None, each: Callable[[AnswerCoalition | ShareCoalition], float]) -> list[Any]:
        if size is None or size > among:
            return []
        pay = each(known.of(size))
        return [(words, size, percent(size / it.people, 2), plan.money(pay), plan.money(size * pay),
                 number(known.done(size)))]

    rows = [*row("ids with which one person is paid more than with one id", second, lambda found: found.chosen),
            *row("people who each earn more by an agreement on their reports than by the truth", group,
                 lambda found: found.drawn if found.drawn > paid else found.each),
            *row("people who each earn more if all of them give one fixed report", fixed, lambda found: found.each),
            *row("ids that decide the result", many, lambda found: found.each)]
    share = isinstance(it, PairMarket)
    result = ("largest move of the estimate" if share else "probability of a wrong result, if they report the untrue "
                                                        "answer")
    stated = (f"The stated error of the estimate is {number(it.half_width(SHARE_FAILURE))}" if share else
              f"Without any agreement, the result is wrong with probability {number(it.error_probability())}")
    more = [f"A truthful report earns {plan.money(paid)} on average"
            + (f", and {plan.money(truth)} after the cost of its privacy." if hasattr(it, "cost")
               else ", before the cost of its privacy.")]
    if second is None:
        more.append("In the computed cases, no number of ids pays one person more than one id.")
    else:
        all_of_them = second * known.of(second).chosen
        more.append(f"A person with {second} ids gains {plan.money(all_of_them - one)} more than with one id: "
                    f"{plan.money(all_of_them)} instead of {plan.money(one)} on average. This is the largest gain in "
                    "the computed cases. All ids then take part and give the same report: the report that pays more, "
                    "given their owner's answer, without the device's noise. Both amounts leave out the value of the "
                    "owner's privacy.")
    if group is None:
        more.append("No group gains if its members agree on one report.")
    else:
        more.append(f"{group} people who agree {_gains(plan, group, paid, truth)}.")
    if many is None or many > among:
        more.append("No number of ids decides the result, in the sense of the note above." if many is None else
                    f"{many:,} ids ({percent(many / it.people, 2)} of the invited) decide the result.")
    more.append("The promise that truth pays covers one person with one id. The operator must make sure that nobody "
                "has two ids.")
    return Section(title="Second identities and agreements", blocks=(
        Table(columns=("people or ids, each with one report", "how many", "of the invited", "average payment of each",
                       "payment of all", result), rows=tuple(rows),
              note=f"Payments are exact, if everybody else plays the equilibrium. {stated}. Ids decide the result "
                   + ("if they move the estimate by its stated error." if share else
                      "if their reports of the untrue answer make it wrong in at least half of all cases. The last "
                      "column is for the worse of the two answers.")
                   + (" All payments are for people of the smallest group of peers." if peers is not None else "")),
        Text(tuple(more))))


def _gains(plan: BitPlan, size: int, paid: float, truth: float) -> str:
    """A clause on the best joint reports of a group of this size, and on the gain of each member."""
    found = plan.agreements.of(size)
    if found.drawn > paid:
        return ("can all hand in the same report, which the device of one member draws. On average, each member gains "
                f"{number(found.drawn - paid)} {plan.collection.currency} more than by the truth, and only one member "
                "spends privacy")
    return ("can all hand in the report that pays more, for any answer. Each member gains "
            f"{number(found.each - truth)} {plan.collection.currency} more than by the truth")


_COVERED = 0.95


def guessed(plan: BitPlan, billboard: BitBillboard, answer: str) -> list[Block]:
    """The guess of the fact with its error probability, and a picture that compares the share of ones among the reports
    with the expected ranges of this share.

    Args:
        plan: plan of a campaign in which every answer is a noisy sign of one fact.
        billboard: public counts of the reports in the run of this campaign.
        answer: sentence that states the guess, with "STATE" in place of the word for the guessed answer.
    """
    it, bit = plan.market, plan.config.bit
    ones, zeros = int(billboard.ones[0]), int(billboard.zeros[0])
    found = it.estimate(ones, zeros)
    said = answer.replace("STATE", bit.one if found.state else bit.zero)
    return [Text((
        f"{said}. This is wrong with a probability of {percent(found.wrong)}, if the beliefs are right.",
        "This probability holds for these reports, if everybody played the equilibrium. By the beliefs, the prior "
        f"probability of {bit.one} is {percent(it.signal_model.prior_one)}, and an answer equals the state with a "
        f"probability of {percent(it.signal_model.signal_accuracy)}. Before the run, the expected probability of a "
        f"wrong result was {percent(it.error_probability())}.")),
        *_beside_expected(plan, ones, zeros)]


def _quantile(rank: float, people: int, chance: float) -> int:
    """The quantile of a binomial law at this rank: the smallest count with at least this cumulative probability. The
    module scipy.stats has the same function, but takes 0.6 s to import.
    """
    found = math.ceil(float(scipy.special.bdtrik(rank, people, chance)))
    while found > 0 and scipy.special.bdtr(found - 1, people, chance) >= rank:
        found -= 1
    while scipy.special.bdtr(found, people, chance) < rank:
        found += 1
    return found


def _beside_expected(plan: BitPlan, ones: int, zeros: int) -> list[Picture]:
    """A picture of the share of ones among all reports, with the range in which this share is expected for each
    possible fact; empty without reports.
    """
    people, it, bit = ones + zeros, plan.market, plan.config.bit
    if not people:
        return []
    chances: dict[str, Any] = {bit.one: it.reporting.agree, bit.zero: it.reporting.miss}
    rows = []
    ranks = (1 - _COVERED) / 2, (1 + _COVERED) / 2
    for state, chance in chances.items():
        low, high = (_quantile(rank, people, float(chance)) / people for rank in ranks)
        rows.append((f"expected if it is {state}", "share", float(chance), low, high))
    share = ones / people
    rows.append(("came in", "share", share, share, share))
    words = "; ".join(f"if the answer is {state}, the expected range is {row[3]:.1%} to {row[4]:.1%}"
                      for state, row in zip(chances, rows, strict=False))
    return intervals(
        rows, title=f"Share of {bit.one} among the reports", axis=f"share of {bit.one}",
        alt=f"{share:.1%} of {people:,} reports say {bit.one}; {words}, in 19 of 20 campaigns, if the beliefs are "
            "right.")
