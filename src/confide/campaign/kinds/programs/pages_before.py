"""What a campaign shows before it runs: the plan, for its operator, and the offer, as a participant reads it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from confide.campaign.kinds.programs.coding import Coding
from confide.campaign.kinds.programs.plan import SharingPlan
from confide.campaign.kinds.programs.selling_words import selling_section, selling_warnings
from confide.campaign.kinds.programs.words import described, said, settings, shared_out, sure
from confide.contract.guarantees import Accuracy, Audience, Guarantee, Participation, Truthfulness
from confide.contract.offering import Question, answer, lies, withdrawing
from confide.contract.presentation import Block, Section, Table, Text
from confide.contract.promised import promises_table
from confide.contract.words import as_sentence
from confide.privacy.groups import groups_section, guess_in_words
from confide.privacy.losses import PROMISES_LITTLE

__all__ = ["offer_sections", "plan_sections", "sentence", "step"]

_SHOWN = 20  # rows on a page; the table has all


def plan_sections(plan: SharingPlan) -> list[Section]:
    """What the operator would get, from public parameters alone.

    Args:
        plan: of the file.
    """
    it, names = plan.mechanism, plan.coding
    rows: list[tuple[str, str]] = [
        ("people invited (fixed and public)", f"{it.program.people:,}"),
        ("what is shared", names.what),
        ("rows that limit it, and what they hold", f"{it.program.rows:,}; {_range(names.supplies)}"),
        ("what they hand in", names.asked),
        ("what is done", described(plan.mode, it)),
        ("privacy of one person, towards everybody else together", str(it.loss)),
        *settings(it, names),
        ("noise of a row's average load, standard deviation", _range(it.noise_std * names.load_units)),
        *_expected(plan),
    ]
    blocks: list[Block] = [Table(
        columns=("what", "planned"), rows=tuple(rows),
        note="Everything here follows from public parameters. Privacy holds whatever anybody hands in; what is "
             "expected is no promise.")]
    warnings = _warnings(plan)
    if warnings:
        blocks.append(Text(tuple(f"Warning: {each}." for each in warnings)))
    return [
        Section(title="Plan", blocks=tuple(blocks)), _modes(plan),
        selling_section(plan),
        Section(title="Guarantees", blocks=(promises_table(
            plan.guarantees, step(plan), sentence=lambda each: sentence(names, each)),)),
        groups_section(it, plan.guarantees.privacy),
    ]


def _range(numbers: np.ndarray) -> str:
    low, high = float(np.min(numbers)), float(np.max(numbers))
    return f"{low:,.5g}" if low == high else f"{low:,.5g} to {high:,.5g}"


def _expected(plan: SharingPlan) -> list[tuple[str, str]]:
    out, failure = plan.outlook, plan.mechanism.failure_probability
    if plan.whole:
        kept = plan.reserve / plan.coding.supplies
        return [("kept back of what rows hold", f"{float(kept.min()):.1%} to {float(kept.max()):.1%}"),
                ("rows above their supply", f"none, {sure(0.0 if _certain(plan) else failure)}")]
    if not out.limits:
        return [("rows above their supply", "none can be: each holds what everybody together can use")]
    limit = "what rows hold" if not plan.mechanism.program.two_sided else "what contributions can add up to"
    return [("expected excess of all rows together, of the averages", f"{out.expected_excess:.4g}"),
            (f"what the certificate will claim, {sure(failure)}, as a share of {limit}", f"{out.excess_share:.2%}")]


def _certain(plan: SharingPlan) -> bool:
    return bool(getattr(plan.mechanism, "truncate", False))


def _modes(plan: SharingPlan) -> Section:
    """All modes side by side."""
    rows = list[tuple[str, str, str, str]]()
    for mode, found in plan.others:
        mine = " (planned)" if mode == plan.mode else ""
        if isinstance(found, str):
            rows.append((f"{mode}{mine}", f"refused: {found}", "", ""))
            continue
        room = (f"{found.unused_share:.2%} kept back" if found.certain else
                f"{found.excess_share:.2%} of excess may be claimed")
        lies = (f"{said(plan.coding, found.gain)} {plan.coding.worth}"
                if found.gain < found.program.constants.most_value else "nothing is promised")
        rows.append((f"{mode}{mine}", room, "yes" if found.certain else "but for noise", lies))
    return Section(title="Modes at these sizes", blocks=(Table(
        columns=("mode", "of what rows hold", "within supply", "what a lie can gain"),
        rows=tuple(rows),
        note="The planned mode as the file has it, others with what is usual for them"
             + (", and with the file's alpha where they charge" if plan.config.solution.alpha is not None else "")
             + ". Where every row must be within supply, audited or round keep less back than tight; average and "
             "truthful hand out fractions. In audited, prices are charged with an alpha alone."),))


def _right(plan: SharingPlan, *, somebody: bool = False) -> str:
    """How often a guess is right at most from all that others see."""
    return guess_in_words(plan.mechanism, plan.guarantees.privacy, Audience.OTHERS, somebody=somebody)


def _warnings(plan: SharingPlan) -> list[str]:
    found, it, out = list[str](), plan.mechanism, plan.outlook
    if it.epsilon > PROMISES_LITTLE:
        found.append(f"epsilon = {it.epsilon:g} promises little. {_right(plan, somebody=True).removesuffix('.')}")
    if it.delta * it.program.people >= 1:
        found.append(f"a delta of at least 1/{it.program.people:,} allows that somebody's record is told outright: "
                     "choose it far smaller")
    if not out.settles:
        burn_in, rounds = out.needed_rounds
        found.append(f"prices may not arrive in so few rounds, and the certificate will say so: burn_in = {burn_in:,} "
                     f"and rounds = {rounds:,} would do")
    if out.vacuous:
        found.append("before the run nothing is proved of value and excess of the averages: the certificate after it "
                     "will tell")
    if plan.mode == "audited":
        found.append("if the audit does not accept, nobody gets anything, and the budget is spent: it is made so that "
                     "this is rare, which is no promise")
    if plan.mode == "truthful":
        found.append("whoever prefers something else at the average prices gets it, beyond supply: the certificate "
                     "says how many at most")
    if plan.charges:
        found += selling_warnings(plan)
        found.append("prices are charged, and nothing here collects them: what somebody owes is in her share, and the "
                     "operator collects it")
    return found


def step(plan: SharingPlan) -> str:
    """What a neighbour step is, and who learns what all the same.

    Args:
        plan: of the file.
    """
    moved = "replaced by any other" if plan.mechanism.neighbours == "replace" else "replaced by an empty one"
    return (f"Privacy: when one person's record is {moved}, and everybody else compares all that they get and see. "
            f"Whoever provides what she gets learns it.{_in_points(plan.coding)}")


def _in_points(names: Coding) -> str:
    """What values are counted in, wherever the file or a page has any."""
    if names.points is None:
        return f" Values, prices, gains and alpha are in {names.worth}, as the file's costs are."
    if names.program.constants.most_value == 0.0:
        return ""
    return (f" Values, prices, gains and alpha are in the file's own points: from {names.points.lowest:g} to "
            f"{names.points.highest:g}.")


def sentence(names: Coding, promise: Guarantee) -> str:
    """A promise in a sentence, in this family's words, and in the file's own unit.

    Args:
        names: of the file.
        promise: of a mechanism.
    """
    if isinstance(promise, Participation):
        worth = (f"costs at most {said(names, -promise.utility)} {names.worth} more than it is worth to her"
                 if promise.utility < 0.0 else "costs no more than it is worth to her")
        return f"what she gets {worth}, for {promise.who}"
    if isinstance(promise, Truthfulness):
        return replace(promise, gain=promise.gain * names.unit, unit_of_gain=names.worth).sentence()
    if isinstance(promise, Accuracy) and promise.measure.startswith("optimum less"):
        return f"{replace(promise, bound=promise.bound * names.unit).sentence()} {names.worth}"
    return promise.sentence()


# ---- the offer


def offer_sections(plan: SharingPlan) -> list[Section]:
    """The plan as a participant reads it.

    Args:
        plan: of the file.
    """
    it, names = plan.mechanism, plan.coding
    shown = ", ".join(f"{name} ({supply:,.6g})" for name, supply in
                      zip(names.rows[:_SHOWN], names.supplies.tolist(), strict=False))
    more = f", and {it.program.rows - _SHOWN:,} more" if it.program.rows > _SHOWN else ""
    other = "any other record" if it.neighbours == "replace" else "nothing"
    gets, lied = _truth(plan)
    return [
        Section(title="What there is", blocks=(Text((
            f"{as_sentence(names.what)} The rows that limit it: {shown}{more}. "
            f"{it.program.people:,} people are invited.",)),)),
        answer(Question.REPORT, as_sentence(names.asked),
               "Who takes no part, or hands in what cannot be used, gets nothing.",
               "Your place is the rank of your id. Hand in your record before the campaign is run: it runs once."),
        Section(title="How it is shared", blocks=(Text(tuple(shared_out(plan.mode, it, names))),)),
        answer(Question.SEES, "The operator sees your record. The public sees prices, and the noisy sums that they "
                              "follow from. You find your own part from these and your own record, on your own device. "
                              "Whoever provides it learns that it is yours."),
        answer(Question.HIDES, f"All that everybody else gets and sees, put together, is at most e^{it.epsilon:g} "
                               f"times as likely as if you had handed in {other}, but for a probability of "
                               f"{it.delta:g}. {_right(plan)}"),
        answer(Question.GETS, f"Your part of what is shared: {names.what}.", *gets),
        answer(Question.LIES, *lied),
        answer(Question.TRUSTED, "The operator, with your record; nobody else."),
        answer(Question.WITHDRAWING, *withdrawing(
            absent="you count as somebody who gets nothing, and nobody but the operator can tell")),
    ]


def _truth(plan: SharingPlan) -> tuple[list[str], list[str]]:
    """What is paid, and what a lie would gain."""
    if not plan.charges:
        return (["You pay nothing; prices only say who gets what."],
                ["Nothing is promised of what could be gained by handing in something else than the truth."])
    names = plan.coding
    gain = lies(plan.guarantees, "At this epsilon nothing is promised of what a lie could gain.",
                sentence=lambda each: sentence(names, each))
    return (["You pay the price of what you get, which the operator collects.", as_sentence(_taking_part(plan))],
            [gain, "What you use must be what you say: the promise is about what you want and what it is worth to "
                   "you."])


def _taking_part(plan: SharingPlan) -> str:
    """What she may lose, ex post and, where it is promised, in the mean over the public draw."""
    names, stated = plan.coding, plan.guarantees.of(Participation)
    lost = -stated[-1].utility
    if lost <= 0:
        return "in no run do you pay more than what you get is worth to you, by your own record"
    if not plan.whole:
        return (f"in no run does what you get cost you more than {said(names, lost)} {names.worth} above what it is "
                "worth to you")
    mean = (f"; in the mean over the public draw, at most {said(names, max(0.0, -stated[0].utility))} more"
            if len(stated) > 1 else "")
    return (f"in an unlucky draw what you get may cost you up to {said(names, lost)} {names.worth} more than it is "
            f"worth to you{mean}")
