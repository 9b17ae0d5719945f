"""The pages of a bought mean: for its operator, for everybody, and for one person, before and after."""

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
from confide.campaign.kinds.skeleton import AnyOutcome, not_told, plan_page, promised, share_page
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
    """The predicted outcome, for the operator."""
    it, here = plan.mechanism, plan.here
    bound = plan.guarantees.of(Accuracy)[0]
    rows = [
        ("people invited (fixed and public)", f"{it.people:,}"),
        ("people asked for a record, on average", f"{here.asked:,.1f}"),
        *([] if it.largest_local_loss is None else [
            ("share of profiles of reports in which anything is bought", f"{here.bought:.1%}")]),
        ("standard error of the mean, on average", plan.measured(here.root_error)),
        ("  largest that any reports can lead to, where anything is bought",
         plan.measured(math.sqrt(bound.bound))),
        ("  of guessing the middle of the range, at most", plan.measured(math.sqrt(bound.baseline))),
        ("expected total of payments", f"{plan.money(here.payments)} (plus or minus "
         f"{plan.money(2 * here.payments_error)})"),
        (f"  largest total in {here.draws} profiles of reports", plan.money(here.largest_payments)),
        ("largest local loss of a person, on average", f"{number(here.local)} nats at order {it.order:g}"),
        ("  largest that any reports can lead to: what is charged", _charged(plan)),
        ("largest central loss of a person, on average", f"{number(here.central)} nats"),
        ("  largest that any reports can lead to", f"{number(it.caps.central)} nats"),
    ]
    return plan_page(
        plan, rows,
        f"Averages are over {here.draws} profiles of reports, made up from the belief in the campaign file; the rest "
        "holds whatever is reported.", plan.warnings(),
        *([] if plan.identities is None else [_identities(plan, plan.identities)]),
        Section(title="What other settings would give", blocks=(Table(
            columns=("setting", "standard error", f"expected total ({it.currency})", "people asked",
                     "largest local loss", "bought", "otherwise"),
            rows=tuple(each.row() for each in (here, *plan.others))),)),
        said="Privacy holds for everybody whose own device added the noise of her contract. Truth and participation "
             "hold whatever others report; payments and averages rest on the belief in the campaign file.")


def _charged(plan: PlannedMean) -> str:
    """The largest local loss, and what it is as differential privacy."""
    loss = ZCDP(plan.mechanism.concentrated(plan.mechanism.caps.local))
    return (f"{number(plan.mechanism.caps.local)} nats; epsilon = {number(loss.epsilon_at(_DELTA))} at delta = "
            f"{_DELTA:g}")


def offer(plan: PlannedMean) -> Sequence[Section]:
    """The offer: the two questions to the participant, who sees what, the odds of the largest noise, what is paid, and
    what they may do.
    """
    it, record = plan.mechanism, plan.config.record
    here, own = plan.here, plan.config.reports
    right = [it.group_guess(1, audience) for audience in (Audience.COLLECTOR, Audience.PUBLIC)]
    return [
        answer(Question.REPORT,
               f"You are asked first how you fear two leaks, as one number {own.column} {it.rules[0].allowed()}. 1: "
               "what the operator learns of you is all you fear. 0: what the public learns is. It is no secret: "
               "the operator sees it, and everybody's contract follows from everybody's number.",
               f"On a contract that you agreed to you are asked: {record.question} A number from {record.low:g} to "
               f"{record.high:g}{' ' + record.unit if record.unit else ''}. Your device adds the noise before it "
               "leaves; the number itself stays with you."),
        answer(Question.SEES,
               "The operator sees your noisy record, the public the weighted sum of all noisy records. A fellow "
               "participant knows her own noise and can take it off the sum; all of them together know everything "
               "but yours. So towards others you are only as safe as towards the operator."),
        answer(Question.HIDES,
               f"Losses are Renyi divergences of order {it.order:g}. Towards the operator at most "
               f"{number(it.caps.local)} nats, towards the public at most {number(it.caps.central)}, and your "
               "contract says how much it is for you: usually less.",
               "Who must guess whether your record is at the lower or the upper end of the range, even money "
               f"beforehand, is right at most {percent(right[0])} of the time from what the operator sees, and at "
               f"most {percent(right[1])} from what the public sees, as long as the others add their noise.",
               "Two records of yours would cost twice: your device keeps a book and sends one."),
        answer(Question.GETS,
               "A contract, signed. It says how much noise your own device adds to your record, how much the "
               "record weighs in the mean, what the operator and the public can learn of it at most, and what you "
               "are paid. You agree or decline before anything else is sent. On average "
               f"{here.asked:,.0f} of {it.people:,} are asked for a record; the others are paid nothing.",
               Table(columns=("payment", "amount"), rows=(
                   ("of whoever is asked for a record, on average", plan.money(here.payments / here.asked)
                    if here.asked else plan.money(0.0)),
                   ("of anybody, at most", plan.coins(plan.largest_coins)),
                   ("of whoever is not asked, or sends nothing", plan.money(0.0))),
                   note="Yours stands on your contract, before you agree to it.")),
        answer(Question.LIES, lies(plan.guarantees),
               f"Why the truth is best: you are taken to want {plan.money(it.price_per_nat)} for a nat of loss "
               "towards the operator if you fear that leak alone, as much for a nat towards the public if you fear "
               "that, and your number says where between them you are. No other number than yours gives you more, "
               "once privacy is counted so, and taking part never costs you more than it pays: whatever the others "
               "say. "
               f"Payments are rounded up to {plan.coins(1)}.",
               "Nothing is promised of what another record than yours would gain: what is paid does not depend on "
               "it."),
        answer(Question.TRUSTED,
               "Nobody, with your record: your own device adds the noise. For what the public may learn, the "
               "others, to add theirs, and the operator, to add it in the place of who vanished. The operator, "
               "with what you fear, and with paying you what your contract says."),
        answer(Question.WITHDRAWING, *withdrawing(
            "Decline your contract: then another round is drawn up without you. Who vanishes after she agreed is "
            "not paid, and the operator adds the noise that is missing.",
            absent="your noisy record is left out, and you are not paid")),
    ]


def _identities(plan: PlannedMean, found: SecondIdentities) -> Section:
    """The fewest identities that gain, what each gains, and what they do to the mean."""
    it = plan.mechanism
    rows: list[tuple[str, str]] = [
        ("ids of one person, who earns more than with one", "2"),
        ("  rent of one identity: its payment beyond the cost of its privacy", plan.money(found.rent)),
        ("  a second id with the same report adds to it", percent(found.adds) if found.rent > 0 else "not stated"),
        ("  an id whose record is made up is paid, at no cost of privacy and with the report that is paid most",
         plan.money(found.made_up)),
        ("people who agree, one of whom reports something else, and who are paid a coin more together",
         "none was found" if found.group is None else f"{found.group:,}"),
        *([] if found.group is None else [("  all of them together are paid more by", plan.money(found.group_gain))]),
        ("identities that can move the mean by its standard error",
         "none was found" if found.deciding is None else
         f"{found.deciding:,} ({percent(found.deciding / it.people, 2)} of the invited)"),
        *([] if found.deciding is None else [
            ("  each of them is paid, on average", plan.money(found.deciding_pay)),
            ("  the standard error", plan.measured(plan.here.root_error))]),
    ]
    return Section(title="Second identities and agreements", blocks=(
        Table(columns=("what", "figure"), rows=tuple(rows),
              note=f"Exact on {number(found.draws)} profiles of reports, made up from the belief in the campaign file: "
                   "averages of the first asked person, and the first profile for agreements and for what moves the "
                   "mean. Those who move it send the end of the range, and report what weighs most."),
        Text((_second_ids(plan, found),
              "No report gains one person anything. That promise is about one identity: the operator has to see to it "
              "that nobody has two. Records are not checked, and what is paid does not depend on them.",))))


def _second_ids(plan: PlannedMean, found: SecondIdentities) -> str:
    """What two ids leave their owner at most, in sentences."""
    if found.gain <= 0:
        return "With 2 ids of one person they gain nothing on average."
    return (f"With 2 ids of one person they gain {plan.money(found.gain)} more than with one, on average. This is the "
            "most by the routes computed here: the second id has a made-up record, which costs no privacy, and the "
            "report that is paid most. The first id does the same, with one id and with two, or it is honest.")


_SHOWN = 10  # rejected reports


def round_sections(plan: PlannedMean, drawn: Mapping[str, Any]) -> Sequence[Section]:
    """The operator's look at a round."""
    it, made = plan.mechanism, as_drawn(drawn, plan.mechanism.people)
    read = [Section(title="Reports (private: for the operator alone)", private=True, blocks=_read(drawn))]
    if not len(made.index):
        return [*read, Section(
            title="Contracts: nothing is bought (private: for the operator alone)", private=True, blocks=(Text((
                "By these reports too few people are within the price, or the mean would cost more than the error "
                "of what is known without it. Nobody is asked for a record.",)),))]
    steps, total = made.steps.astype(np.float64), float(made.steps.sum())
    noise = math.sqrt(float(made.variance)) / total * it.width
    error = math.sqrt(noise**2 + it.scaled_variance * it.width**2 * float(((steps / total) ** 2).sum()))
    rows = (
        ("people asked for a record", f"{len(made.index):,}"),
        ("payments in all, if each of them sends it", plan.coins(int(made.payment.sum()))),
        ("largest payment", plan.coins(int(made.payment.max()))),
        ("standard error of the mean, with records of the stated variance", plan.measured(error)),
        ("  of it noise alone", plan.measured(noise)),
        ("largest local loss", f"{number(float(made.epsilon_local.max()))} nats at order {it.order:g}"),
        ("largest central loss", f"{number(float(made.epsilon_central.max()))} nats"),
    )
    return [*read, Section(title="Contracts (private: for the operator alone)", private=True, blocks=(
        Table(columns=("what", "in this round"), rows=rows, note="All of it follows from the reports."),))]


def terms_sections(plan: PlannedMean, terms: Mapping[str, Any]) -> Sequence[Section]:
    """A contract as the participant reads it."""
    it = plan.mechanism
    contract = lattice_contract(it, terms)
    if not contract.active:
        return [Section(title="Your contract: nothing is asked of you", private=True, blocks=(Text((
            "No record is asked of you, and nothing is paid. What you reported stays with the operator.",)),))]
    noise = it.width * contract.noise_std / contract.steps
    right = [least_right(level, it.order) for level in (contract.epsilon_local, contract.epsilon_central)]
    return [Section(title=f"Your contract: {plan.coins(int(terms['payment']))} for one noisy record", private=True,
                    blocks=(
        Table(columns=("what", "for you"), rows=(
            ("you are paid, once your record has come in", plan.coins(int(terms["payment"]))),
            ("noise that your device adds, standard deviation", plan.measured(noise)),
            ("local loss, towards the operator", f"{number(contract.epsilon_local)} nats at order {it.order:g}"),
            ("central loss, towards the public", f"{number(contract.epsilon_central)} nats"),
            ("weight of your record, in steps", f"{contract.steps:,}"))),
        Text((f"What that means: who must guess whether your record is at the lower or the upper end of the "
              f"range, even money beforehand, is right {right[0]:.1%} of the time at most from what the operator "
              f"sees, and {right[1]:.1%} from what the public sees, as long as the others add their noise.",)),))]


def _read(drawn: Mapping[str, Any]) -> tuple[Block, ...]:
    """How many reports could be used, and who is rejected and why; reports are no secret from the operator."""
    rejected = drawn["rejected"]
    lost = f"{len(rejected):,} row{'s' * (len(rejected) != 1)} cannot:" if rejected else "no row is rejected."
    said = Text((f"{drawn['usable']:,} reports can be used; {lost}",))
    if not rejected:
        return (said,)
    first = tuple(rejected.items())[:_SHOWN]
    more = f"{len(rejected) - _SHOWN:,} more; the file of the round has them all." if len(rejected) > _SHOWN else ""
    return said, Table(columns=("id", "why"), rows=first, note=more)


def result_sections(plan: PlannedMean, outcome: AnyOutcome) -> Sequence[Section]:
    """The mean in one sentence and a picture, its figures, what the page does not tell, and what is promised."""
    board: Any = outcome.billboard
    question = plan.config.record.question.rstrip()
    hidden = not_told(plan, f"what a given participant answered to '{question}'", Audience.PUBLIC)
    promises = promised(plan, *stated(plan.guarantees))
    if not board.steps:
        nothing = Text(("No record came in: there is no mean.",))
        return [Section(title="What was found", found=True, blocks=(nothing,)), hidden, promises]
    it, known = plan.mechanism, plan.mechanism.certify(board)
    mean, error = it.estimate(board), math.sqrt(known.mse)
    rows = (
        ("mean, and its largest standard error", plan.measured(mean, error)),
        ("  planned standard error, in the mean over the belief", plan.measured(plan.here.root_error)),
        ("range of a record", f"{it.low:g} to {plan.measured(it.high)}"),
        ("people invited", f"{it.people:,}"),
        ("share of the weight that came in", percent(round(min(1.0, known.share), 3))),
    )
    guess = math.sqrt(plan.guarantees.of(Accuracy)[0].baseline)
    said = [
        "The mean is an estimate for the population from which these people were drawn at random.",
        says_nothing("the bound of the standard error", "the error of guessing the middle of the range")
        if error >= guess else
        f"The standard error is at most {plan.measured(error)}, whatever was reported, if records lie in the range.",
        "The standard error of these very contracts is not published: it would tell of the reports.",
        *([] if it.low <= mean <= it.high else [
            f"The mean is outside of the range from {it.low:g} to {it.high:g}: by chance, where noise is large beside "
            "the range, or because somebody's device did not do what it says. It is published uncut: a mean that is "
            "cut to its range is no longer right on average."])]
    return [
        Section(title="What was found", found=True, blocks=(
            Text((_finding(plan, mean, error),)), *_picture(plan, mean, error),
            Table(columns=("what", "figure"), rows=rows))),
        Section(title="How exact it is", blocks=(Text(tuple(said)),)),
        hidden,
        Section(title="What was published", folded=True, blocks=(Text((
            f"The published sum is {board.total:,} of {board.steps:,} steps of the range. Both are public, and nothing "
            "else is.",)),)),
        promises,
    ]


def _finding(plan: PlannedMean, mean: float, error: float) -> str:
    unit = plan.config.record.unit
    shown, _, reach = number(Measured(mean, error)).partition(" +- ")
    return f"The mean is {shown}{' ' + unit if unit else ''}, give or take {reach} (one standard error at most)."


def _picture(plan: PlannedMean, mean: float, error: float) -> list[Picture]:
    """The mean with its error, beside the range of a record."""
    it = plan.mechanism
    rows = [("mean", "value", mean, mean - error, mean + error),
            ("range of a record", "value", (it.low + it.high) / 2, it.low, it.high)]
    unit = plan.config.record.unit
    return intervals(rows, title="The mean, and one standard error at most on each side",
                     axis=unit or plan.config.record.column,
                     alt=f"The mean is {plan.measured(mean, error)}; a record is between {it.low:g} and "
                         f"{plan.measured(it.high)}.")


def result_tables(plan: PlannedMean, outcome: AnyOutcome) -> Mapping[str, pa.Table]:
    """`mean`: the estimate, and the bound of its standard error."""
    board: Any = outcome.billboard
    it = plan.mechanism
    return {"mean": pa.table({
        "mean": [it.estimate(board) if board.steps else None],
        "standard_error_at_most": [math.sqrt(it.certify(board).mse)], "unit": [plan.config.record.unit]})}


def explain(
    plan: PlannedMean, outcome: AnyOutcome, record: Any, index: int
) -> Sequence[Section]:
    """One participant's share: the amount, its origin, and the reason."""
    board: Any = outcome.billboard
    share = plan.mechanism.decode(record, index, board)
    stored = None if isinstance(outcome, PublicOutcome) else settled_coins(outcome, index)
    who = f"Participant {index + 1}"
    if stored is not None and stored != share["payment"]:
        return share_page(
            f"{who}: settled at {plan.coins(stored)}",
            f"What the files hold today would be paid {plan.coins(share['payment'])}: it is not what was settled. "
            f"What counts is the settlement: {plan.coins(stored)}.")
    if record is None or not record.steps:
        return share_page(f"{who}: nothing was asked",
                          "No record was asked of this id, or none of its contract arrived; nothing is paid.")
    if not record.sent:
        return share_page(f"{who}: no record arrived",
                          "There was a contract, and no record that a device sends came in on it; nothing is paid.")
    return share_page(
        f"{who}: payment {plan.coins(share['payment'])}",
        f"For one noisy record, as the contract says: at most {number(record.epsilon_local)} nats towards the "
        f"operator and {number(record.epsilon_central)} towards the public, at order {plan.mechanism.order:g}.",
        f"The record counted {record.steps:,} of {board.steps:,} steps. The payment follows from everybody's reports "
        "and not from records: the public result does not give it, the operator's signature on the contract does.")


def study_sections(plan: PlannedMean, data: Any, outcome: SimulatedOutcome) -> Sequence[Section]:
    """The true mean beside the bought one, and its cost."""
    it = plan.mechanism
    board: Any = outcome.billboard
    truth = data.truth[~np.isnan(data.truth)]
    inside = np.clip(truth, it.low, it.high)
    paid = int(outcome.shares["payment"].to_numpy().sum())
    rows: tuple[tuple[str, str], ...] = (
        ("mean of all records", plan.measured(float(truth.mean()))),
        ("  of those within the range", plan.measured(float(inside.mean()))),
        ("mean that was bought", plan.measured(it.estimate(board))),
        ("their variance, in squared widths", number(float(inside.var()) / it.width**2)),
        ("  that of the plan", number(it.scaled_variance)),
        ("paid in all", plan.coins(paid)),
        ("  expected", plan.money(plan.here.payments)),
    )
    return [Section(title="Beside the true records", study=True, blocks=(
        Table(columns=("what", "value"), rows=rows, note="The people who are asked are a sample: that is part of "
              "the error."),))]
