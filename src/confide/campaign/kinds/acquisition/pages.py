"""The pages of a campaign that buys a mean, before and after the run: for the operator, the public and one
participant.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from confide.acquisition.incentives import SecondIdentities
from confide.acquisition.reading import as_drawn, lattice_contract
from confide.acquisition.release.losses import least_right
from confide.campaign.kinds.acquisition.plan import PlannedMean
from confide.campaign.kinds.skeleton import AnyOutcome, not_disclosed, plan_page, promised, share_page
from confide.charts import intervals
from confide.contract.guarantees import Accuracy, Audience, stated
from confide.contract.offering import Question, answer, lies, withdrawing
from confide.contract.outcome import PublicOutcome, SimulatedOutcome, settled_coins
from confide.contract.presentation import Block, Picture, Section, Table, Text
from confide.contract.words import Measured, number, percent, says_nothing
from confide.privacy.losses import ZCDP

__all__ = ["explain", "offer", "result_sections", "result_tables", "round_sections", "sections", "study_sections",
           "terms_sections"]

_DELTA = 1e-6


# ---- before


def sections(plan: PlannedMean) -> Sequence[Section]:
    """The plan page for the operator: the predicted error of the mean, the predicted payments, and the privacy losses.
    The page follows from public parameters alone.
    """
    it, here, unit = plan.mechanism, plan.here, plan.config.record.unit
    bound = plan.guarantees.of(Accuracy)[0]
    rows = [
        ("people invited (fixed and public)", f"{it.people:,}"),
        ("people asked for a record, on average", f"{here.asked:,.1f}"),
        *([] if it.largest_local_loss is None else [
            ("share of the simulated sets of reports for which the campaign buys records", f"{here.bought:.1%}")]),
        ("standard error of the mean, on average"
         + ("" if it.largest_local_loss is None else " (of the guess, if nothing is bought)"),
         plan.measured(here.root_error)),
        ("  largest error for any reports, if the campaign buys records",
         plan.measured(math.sqrt(bound.bound))),
        ("  largest possible error without records, if the middle of the range is the guess",
         plan.measured(math.sqrt(bound.baseline))),
        ("expected total of payments", f"{plan.money(here.payments)} (plus or minus "
         f"{plan.money(2 * here.payments_error)})"),
        (f"  largest total in {here.draws} simulated sets of reports", plan.money(here.largest_payments)),
        ("largest local loss (towards the operator) in one set of reports, on average",
         f"{number(here.local)} nats (Renyi divergence of order {it.order:g})"),
        ("  largest local loss for any reports, charged to the ledger", _charged(plan)),
        ("largest central loss (towards the public) in one set of reports, on average", f"{number(here.central)} nats"),
        ("  largest central loss for any reports", f"{number(it.caps.central)} nats"),
    ]
    return plan_page(
        plan, rows,
        f"Averages are over {here.draws} simulated sets of reports that follow the belief in the campaign file. All "
        "other figures hold for any reports.", plan.warnings(),
        *([] if plan.identities is None else [_identities(plan, plan.identities)]),
        Section(title="Results of other settings", blocks=(Table(
            columns=("setting", f"standard error{f' ({unit})' if unit else ''}", f"expected total ({it.currency})",
                     "people asked", "largest local loss (nats)", "share of sets with a purchase",
                     "reason for no purchase"),
            rows=tuple(each.row() for each in (here, *plan.others)),
            note="All figures are averages over simulated sets of reports. In a set without a purchase, the payments "
                 "and losses are 0, and the error is that of the guess."),)),
        said="Privacy holds for each participant if their own device added the noise of their contract. Truth and "
             "participation hold for any reports of the other people. Averages and expected payments are right if the "
             "belief in the campaign file is right.")


def _charged(plan: PlannedMean) -> str:
    """The largest local loss, in nats of Renyi divergence and as an epsilon at a delta."""
    loss = ZCDP(plan.mechanism.concentrated(plan.mechanism.caps.local))
    return (f"{number(plan.mechanism.caps.local)} nats; epsilon = {number(loss.epsilon_at(_DELTA))} at delta = "
            f"{_DELTA:g}")


def offer(plan: PlannedMean) -> Sequence[Section]:
    """The offer to a participant. The offer states the questions about the participant's concern and record, the
    readers of both answers, the odds of a right guess of the record, the payments, and the ways to decline or withdraw.
    """
    it, record = plan.mechanism, plan.config.record
    here, own = plan.here, plan.config.reports
    right = [it.group_guess(1, audience) for audience in (Audience.COLLECTOR, Audience.PUBLIC)]
    return [
        answer(Question.REPORT,
               "First, you are asked how much you fear a leak to the operator, compared with a leak to the public. You "
               f"answer with one number, {own.column} {it.rules[0].allowed()}. 1 means that you fear only the "
               "operator's knowledge about you. 0 means that you fear only the public's knowledge about you. The "
               "number is not secret: the operator sees it, and each contract depends on everybody's numbers.",
               f"Second, if you agreed to a contract, you are asked: {record.question} You give a number from "
               f"{record.low:g} to {record.high:g}{' ' + record.unit if record.unit else ''}. Your device adds noise "
               "to the number and sends the sum. The number itself stays with you."),
        answer(Question.SEES,
               "The operator sees your noisy record. The public sees the weighted sum of all noisy records. Other "
               "participants know their own noise and can subtract it from the sum. All of them together can subtract "
               "everything but your noisy record. Against all of them together, you are only as safe as against the "
               "operator."),
        answer(Question.HIDES,
               f"Your privacy loss towards the operator is at most {number(it.caps.local)} nats, and towards the "
               f"public at most {number(it.caps.central)} nats (Renyi divergence of order {it.order:g}). Your contract "
               "states your own losses, which are usually smaller.",
               f"Example: somebody knows that your record is either {record.low:g} or {record.high:g}, and thinks at "
               f"first that both are equally likely. The operator guesses right at most {percent(right[0])} of the "
               f"time. A reader of the public result guesses right at most {percent(right[1])} of the time, if the "
               "other participants add their noise.",
               "Two noisy records would cost you twice as much privacy. So your device keeps its first noisy record, "
               "and sends no other one."),
        answer(Question.GETS,
               "You get a signed contract. It states your payment, the noise that your device adds, the weight of your "
               "record in the mean, and your largest losses towards the operator and the public. You agree or decline "
               f"before your device sends a record. On average, {here.asked:,.0f} of {it.people:,} people are asked "
               "for a record. The others are paid nothing.",
               Table(columns=("payment", "amount"), rows=(
                   ("for a person who is asked for a record, on average", plan.money(here.payments / here.asked)
                    if here.asked else plan.money(0.0)),
                   ("for anybody, at most", plan.coins(plan.largest_coins)),
                   ("for a person who is not asked, or sends nothing", plan.money(0.0))),
                   note="Your contract states your payment before you agree.")),
        answer(Question.LIES, lies(plan.guarantees),
               "The truth is the best answer to the first question. The campaign assumes that a nat of loss towards "
               f"the operator costs you your first number times {plan.money(it.price_per_nat)}, and that a nat towards "
               f"the public costs you {plan.money(it.price_per_nat)} minus this amount. With this cost of privacy, no "
               "other first number gives you more, and taking part never costs you more than it pays. This holds for "
               f"any reports of other people. Payments are rounded up to {plan.coins(1)}.",
               "A false answer to the second question neither raises nor lowers your payment. The campaign makes no "
               "other promise about such an answer."),
        answer(Question.TRUSTED,
               "You trust nobody with your record: your own device adds the noise. The promise towards the public "
               "holds only if the other participants add their noise, and if the operator adds the noise of "
               "participants who vanish. You trust the operator with your first number. You also trust the operator to "
               "pay you the amount on your contract."),
        answer(Question.WITHDRAWING, *withdrawing(
            "You can decline your contract: then the operator draws up new contracts without you. Participants who "
            "agree and then vanish are not paid, and the operator adds the missing noise.",
            absent="the campaign leaves out your noisy record, and you are not paid")),
    ]


def _identities(plan: PlannedMean, found: SecondIdentities) -> Section:
    """A section on the smallest number of identities with which a person gains, the gain of each identity, and the
    effect on the mean.
    """
    it = plan.mechanism
    rows: list[tuple[str, str]] = [
        ("ids with which one person earns more than with one id", "2"),
        ("  gain of one id: its payment minus the cost of its privacy", plan.money(found.rent)),
        ("  rise of this gain by a second id with the same report",
         percent(found.adds) if found.rent > 0 else "not stated"),
        ("  payment of an id with an invented record and the best-paid report, at no cost of privacy",
         plan.money(found.made_up)),
        (f"smallest group that earns at least {plan.coins(1)} more in total if one member gives a false report",
         "none was found" if found.group is None else f"{found.group:,}"),
        *([] if found.group is None else [("  rise of the total payment of this group", plan.money(found.group_gain))]),
        ("number of ids that can move the mean by its standard error",
         "none was found" if found.deciding is None else
         f"{found.deciding:,} ({percent(found.deciding / it.people, 2)} of the invited)"),
        *([] if found.deciding is None else [
            ("  average payment of each of these ids", plan.money(found.deciding_pay)),
            ("  standard error of the mean", plan.measured(plan.here.root_error))]),
    ]
    return Section(title="Second identities and agreements", blocks=(
        Table(columns=("what", "figure"), rows=tuple(rows),
              note=f"The figures are exact for {number(found.draws)} simulated sets of reports that follow the belief "
                   "in the campaign file. The averages over these sets are for the first person who is asked for a "
                   "record. The figures on agreements and on moving the mean use the first of these sets. Ids that "
                   "move the mean give the report with the largest weight, and send an end of the range as their "
                   "record."),
        Text((_second_ids(plan, found),
              "No false report gains one person anything. This promise covers a person with one id: the operator must "
              "make sure that nobody has two ids. Nobody checks the records, and payments do not depend on them.",))))


def _second_ids(plan: PlannedMean, found: SecondIdentities) -> str:
    """The largest gain that a person has from a second id, in sentences."""
    if found.gain <= 0:
        return "A person with 2 ids gains nothing on average."
    return (f"A person with 2 ids gains {plan.money(found.gain)} more than with one id, on average. This is the "
            "largest gain in the computed cases. The second id sends an invented record, which costs no privacy, and "
            "gives the best-paid report. The first id reports honestly or gives the same report as the second id, "
            "whichever earns the person more.")


_SHOWN = 10  # rejected reports


def round_sections(plan: PlannedMean, drawn: Mapping[str, Any]) -> Sequence[Section]:
    """The page for the operator about contracts that were drawn up: the reports behind the contracts, the total of the
    payments, the standard error of the mean, and the privacy losses.
    """
    it, made = plan.mechanism, as_drawn(drawn, plan.mechanism.people)
    read = [Section(title="Reports (private: for the operator alone)", private=True, blocks=_read(drawn))]
    if not len(made.index):
        return [*read, Section(
            title="Contracts: the campaign buys nothing (private: for the operator alone)", private=True, blocks=(Text((
                "With these reports, too few people are cheap enough for a purchase within largest_local_loss, "
                "or guessing without any records costs less than buying the mean. The campaign asks nobody for a "
                "record.",)),))]
    steps, total = made.steps.astype(np.float64), float(made.steps.sum())
    noise = math.sqrt(float(made.variance)) / total * it.width
    error = math.sqrt(noise**2 + it.scaled_variance * it.width**2 * float(((steps / total) ** 2).sum()))
    rows = (
        ("people asked for a record", f"{len(made.index):,}"),
        ("total of payments, if everybody who is asked sends a record", plan.coins(int(made.payment.sum()))),
        ("largest payment", plan.coins(int(made.payment.max()))),
        ("standard error of the mean, with records of the stated variance", plan.measured(error)),
        ("  part of the noise alone", plan.measured(noise)),
        ("largest local loss",
         f"{number(float(made.epsilon_local.max()))} nats (Renyi divergence of order {it.order:g})"),
        ("largest central loss", f"{number(float(made.epsilon_central.max()))} nats"),
    )
    return [*read, Section(title="Contracts (private: for the operator alone)", private=True, blocks=(
        Table(columns=("what", "in this round"), rows=rows, note="All figures follow from the reports."),))]


def terms_sections(plan: PlannedMean, terms: Mapping[str, Any]) -> Sequence[Section]:
    """The page of one contract for the participant who is offered it."""
    it = plan.mechanism
    contract = lattice_contract(it, terms)
    if not contract.active:
        return [Section(title="Your contract: you are asked for nothing", private=True, blocks=(Text((
            "You are not asked for a record, and you are paid nothing. Your report stays with the operator.",)),))]
    noise = it.width * contract.noise_std / contract.steps
    right = [least_right(level, it.order) for level in (contract.epsilon_local, contract.epsilon_central)]
    return [Section(title=f"Your contract: {plan.coins(int(terms['payment']))} for one noisy record", private=True,
                    blocks=(
        Table(columns=("what", "for you"), rows=(
            ("your payment, after your record has arrived", plan.coins(int(terms["payment"]))),
            ("noise that your device adds, standard deviation", plan.measured(noise)),
            ("local loss, towards the operator",
             f"{number(contract.epsilon_local)} nats (Renyi divergence of order {it.order:g})"),
            ("central loss, towards the public", f"{number(contract.epsilon_central)} nats"),
            ("weight of your record, in steps", f"{contract.steps:,}"))),
        Text(("Example: somebody knows that your record is at the lower or the upper end of the range, and thinks at "
              f"first that both are equally likely. The operator guesses right at most {right[0]:.1%} of the time. A "
              f"reader of the public result guesses right at most {right[1]:.1%} of the time, if the other "
              "participants add their noise.",)),))]


def _read(drawn: Mapping[str, Any]) -> tuple[Block, ...]:
    """The number of usable reports, and the rejected ids with reasons; the operator may know reports."""
    rejected = drawn["rejected"]
    are = "rows are" if len(rejected) != 1 else "row is"
    lost = f"{len(rejected):,} {are} rejected:" if rejected else "No row is rejected."
    said = Text((f"{drawn['usable']:,} reports can be used. {lost}",))
    if not rejected:
        return (said,)
    first = tuple(rejected.items())[:_SHOWN]
    more = f"The file of the round lists {len(rejected) - _SHOWN:,} more." if len(rejected) > _SHOWN else ""
    return said, Table(columns=("id", "why"), rows=first, note=more)


def result_sections(plan: PlannedMean, outcome: AnyOutcome) -> Sequence[Section]:
    """The result page: the mean in one sentence and a picture, the standard error and the range of the mean, the limits
    of conclusions about one person, and the promises.
    """
    board: Any = outcome.billboard
    question = plan.config.record.question.rstrip()
    undisclosed = not_disclosed(plan, f"a given participant's answer to '{question}'", Audience.PUBLIC,
                                "This holds if the other participants add their noise, and if nobody who guesses knows "
                                "this noise. The operator, who sees the noisy records, may guess right more often.")
    promises = promised(plan, *stated(plan.guarantees))
    if not board.steps:
        nothing = Text(("No record arrived, so there is no mean.",))
        return [Section(title="What was found", found=True, blocks=(nothing,)), undisclosed, promises]
    it, known = plan.mechanism, plan.mechanism.certify(board)
    mean, error = it.estimate(board), math.sqrt(known.mse)
    rows = (
        ("mean, and its largest standard error", plan.measured(mean, error)),
        ("  planned standard error, on average over the belief", plan.measured(plan.here.root_error)),
        ("range of a record", f"{it.low:g} to {plan.measured(it.high)}"),
        ("people invited", f"{it.people:,}"),
        ("share of the weight in the records that arrived", percent(round(min(1.0, known.share), 3))),
    )
    guess = math.sqrt(plan.guarantees.of(Accuracy)[0].baseline)
    said = [
        "The mean is an estimate for the population from which these people were drawn at random.",
        says_nothing("the bound on the standard error", "the error of guessing the middle of the range")
        if error >= guess else
        f"The standard error is at most {plan.measured(error)}, for any reports, if all records lie in the range.",
        "The standard error of these contracts is not published, since it would disclose something about the reports.",
        *([] if it.low <= mean <= it.high else [
            f"The mean is outside of the range from {it.low:g} to {it.high:g}. Large noise can cause this, and so can "
            "a device that did not follow the protocol. The mean is published uncut, since a mean that is cut to its "
            "range is biased."])]
    return [
        Section(title="What was found", found=True, blocks=(
            Text((_finding(plan, mean, error),)), *_picture(plan, mean, error),
            Table(columns=("what", "figure"), rows=rows))),
        Section(title="Accuracy of the mean", blocks=(Text(tuple(said)),)),
        undisclosed,
        Section(title="What was published", folded=True, blocks=(Text((
            f"The published sum is {board.total:,} of {board.steps:,} steps of the range. These two numbers are "
            "public, and no other result is.",)),)),
        promises,
    ]


def _finding(plan: PlannedMean, mean: float, error: float) -> str:
    unit = plan.config.record.unit
    shown, _, reach = number(Measured(mean, error)).partition(" +- ")
    return f"The mean is {shown}{' ' + unit if unit else ''}, with a standard error of at most {reach}."


def _picture(plan: PlannedMean, mean: float, error: float) -> list[Picture]:
    """A picture of the mean with its error, next to the range of a record."""
    it = plan.mechanism
    rows = [("mean", "value", mean, mean - error, mean + error),
            ("range of a record", "value", (it.low + it.high) / 2, it.low, it.high)]
    unit = plan.config.record.unit
    return intervals(rows, title="The mean, and one standard error at most on each side",
                     axis=unit or plan.config.record.column,
                     alt=f"The mean is {plan.measured(mean, error)}; a record is between {it.low:g} and "
                         f"{plan.measured(it.high)}.")


def result_tables(plan: PlannedMean, outcome: AnyOutcome) -> Mapping[str, pa.Table]:
    """The table `mean`: the estimate of the mean, and the bound on the standard error of this estimate."""
    board: Any = outcome.billboard
    it = plan.mechanism
    return {"mean": pa.table({
        "mean": [it.estimate(board) if board.steps else None],
        "standard_error_at_most": [math.sqrt(it.certify(board).mse)], "unit": [plan.config.record.unit]})}


def explain(
    plan: PlannedMean, outcome: AnyOutcome, record: Any, index: int
) -> Sequence[Section]:
    """One participant's page after the run: the amount of their payment, and the weight and the privacy losses of their
    record.
    """
    board: Any = outcome.billboard
    share = plan.mechanism.decode(record, index, board)
    stored = None if isinstance(outcome, PublicOutcome) else settled_coins(outcome, index)
    who = f"Participant {index + 1}"
    if stored is not None and stored != share["payment"]:
        return share_page(
            f"{who}: settled at {plan.coins(stored)}",
            "The files now hold another record than the settled one. The present record would be paid "
            f"{plan.coins(share['payment'])}. The settlement counts: {plan.coins(stored)}.")
    if record is None or not record.steps:
        return share_page(f"{who}: no record was asked for",
                          "This id was not asked for a record, or no contract for this id arrived. Nothing is paid.")
    if not record.sent:
        return share_page(f"{who}: no record arrived",
                          "This id had a contract, but no valid record arrived for this contract. Nothing is paid.")
    return share_page(
        f"{who}: payment {plan.coins(share['payment'])}",
        "The payment is for one noisy record, as the contract says. The loss of this record is at most "
        f"{number(record.epsilon_local)} nats towards the operator and {number(record.epsilon_central)} nats towards "
        f"the public (Renyi divergence of order {plan.mechanism.order:g}).",
        f"The weight of the record was {record.steps:,} of {board.steps:,} steps. The payment follows from everybody's "
        "reports, not from records. The public result does not show the payment; the contract that the operator signed "
        "does.")


def study_sections(plan: PlannedMean, data: Any, outcome: SimulatedOutcome) -> Sequence[Section]:
    """The study page: the true mean compared with the bought mean, and the total of the simulated payments."""
    it = plan.mechanism
    board: Any = outcome.billboard
    truth = data.truth[~np.isnan(data.truth)]
    inside = np.clip(truth, it.low, it.high)
    paid = int(outcome.shares["payment"].to_numpy().sum())
    rows: tuple[tuple[str, str], ...] = (
        ("mean of all records", plan.measured(float(truth.mean()))),
        ("  mean of the records, cut to the range", plan.measured(float(inside.mean()))),
        ("mean that was bought", plan.measured(it.estimate(board))),
        ("variance of the cut records, in squared widths of the range", number(float(inside.var()) / it.width**2)),
        ("  variance in the plan", number(it.scaled_variance)),
        ("total of payments", plan.coins(paid)),
        ("  expected", plan.money(plan.here.payments)),
    )
    return [Section(title="Comparison with the true records", study=True, blocks=(
        Table(columns=("what", "value"), rows=rows, note="The people who are asked are a sample, so the error includes "
                                                         "sampling."),))]
