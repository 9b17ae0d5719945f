"""The pages of the plan of a campaign that shares by a program: for its operator, and for participants."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.campaign.kinds.programs.config import ModeName
from confide.campaign.kinds.programs.plan import CROWDS, SharingPlan
from confide.campaign.kinds.skeleton import plan_page
from confide.contract.guarantees import (
    Accuracy,
    Audience,
    Guarantee,
    Participation,
    Truthfulness,
)
from confide.contract.offering import Question, answer, lies, withdrawing
from confide.contract.presentation import Section, Table, Text
from confide.contract.wire import wire_name
from confide.contract.words import as_sentence, few, percent
from confide.numerics.fewest import fewest
from confide.privacy.groups import SIZES, guess_in_words
from confide.privacy.losses import PROMISES_LITTLE
from confide.programs.dude import Dude
from confide.programs.grids import PRICE_UNIT
from confide.programs.round_dude import RoundDude
from confide.programs.slots import Coding
from confide.programs.tight_dude import TightDude
from confide.programs.tighten_and_audit import TightenAndAudit

__all__ = ["described", "offer", "said", "sections", "sentence", "step", "sure"]

_WHAT: dict[ModeName, str] = {
    "average": "everybody gets the average of her best choices at the prices of all main rounds",
    "round": "everybody gets her best choice in one round that public randomness draws; flags keep each row "
             "within supply",
    "truthful": "everybody gets the average of her best choices, at prices; whoever would rather have something else "
                "at the average prices gets it",
    "tight": "everybody gets her best choice in one round that public randomness draws, at the average prices; a "
             "reserve that is known beforehand keeps each row within supply",
    "audited": "everybody gets her best choice in one round that public randomness draws, at prices of a little less "
               "supply; a noisy audit accepts the run only if each row is within supply",
}


def _range(numbers: NDArray[np.float64], digits: int = 5) -> str:
    low, high = (f"{float(end):,.{digits}g}" for end in (numbers.min(), numbers.max()))
    return low if numbers.min() == numbers.max() else f"{low} to {high}"


def described(mode: ModeName, mechanism: Dude) -> str:
    """Describe the method, in a sentence.

    Args:
        mode: the mode of the file.
        mechanism: the mechanism that runs.
    """
    return f"{wire_name(mechanism)}: {_WHAT[mode]}"


def _settings(mechanism: Dude, coding: Coding) -> list[tuple[str, str]]:
    """Lines of the plan: what, and how much."""
    rows = [("rounds of prices, and rounds before them", f"{mechanism.rounds:,}; {mechanism.burn_in:,}"),
            ("step of prices", mechanism.descent.rule), ("law of the noise", mechanism.law)]
    if isinstance(mechanism, TightenAndAudit):
        rows += [("share of the squared budget for the audit", f"{mechanism.audit_share:.0%}"),
                 ("noise of the audit, standard deviation", _range(mechanism.audit_noise_std * coding.load_units, 4))]
    if isinstance(mechanism, RoundDude):
        rows += [("share of epsilon for the flags", f"{mechanism.flag_share:.0%}"),
                 ("people between two looks at the flags", f"{mechanism.flags.batch:,}"),
                 ("within supply for sure", "yes, at a part of delta" if mechanism.truncate else
                  f"no, but with probability {1 - mechanism.failure_probability:g}")]
    alpha = getattr(mechanism, "alpha", None)
    if alpha is not None:
        rows.append(("whoever could gain more than this at the charged prices gets her favourite",
                     f"{said(coding, alpha)} {coding.worth}"))
    if isinstance(mechanism, TightDude | TightenAndAudit) and alpha is not None:
        rows.append(("payments", mechanism.payments))
    return rows


def _shared_out(mode: ModeName, mechanism: Dude, coding: Coding) -> list[str]:
    """How things are shared, as a participant reads it."""
    first = ("Prices follow from noisy sums of what everybody would take. In each round your device "
             f"finds what is worth most to you above its price: your best {coding.thing}, or nothing.")
    after: dict[ModeName, str] = {
        "average": "You get the average of your best choices over all main rounds: each of them for its share of the "
                   "rounds.",
        "truthful": "You get the average of your best choices over all main rounds, and pay its price at the average "
                    "prices. If something else would give you clearly more at these prices, you get that instead.",
        "round": "Public randomness, drawn after all records are in, names one round for you: you get your best choice "
                 "of that round, whole. Places are served in the order of ids; who comes late, when a row is nearly "
                 "full, may go without.",
        "tight": "Public randomness, drawn after all records are in, names one round for you: you get your best choice "
                 "of that round, whole, at the average prices.",
        "audited": "Public randomness, drawn after all records are in, names one round for you: you get your best "
                   "choice of that round, whole. Then the load of all choices is measured, with noise. If it does not "
                   "fit, nobody gets anything, and it is told.",
    }
    instead = list[str]()
    if mode in ("tight", "audited") and getattr(mechanism, "alpha", None) is not None:
        instead.append("If something else would give you clearly more at the average prices than the average of your "
                       "best choices, you get that, whatever round was drawn for you.")
        if getattr(mechanism, "payments", "") == "scaled":
            instead.append("You pay as much of its value to you as your average would cost of its own. If that average "
                           "is not worth its price to you, you get nothing, and owe nothing.")
    return [first, after[mode], *instead]


def said(coding: Coding, value: float) -> str:
    """A value or a price in the file's own unit.

    Args:
        coding: the program with its unit.
        value: the value in units of the highest value.
    """
    found = value * coding.unit
    return f"{0.0 if abs(found) < 0.5 * coding.unit / PRICE_UNIT else found:.4g}"


def sure(failure_probability: float) -> str:
    """The certainty of a promise, in words.

    Args:
        failure_probability: probability of failure.
    """
    return f"with probability {1 - failure_probability:g}"


_SHOWN = 20  # rows on a page; the table has all


def sections(plan: SharingPlan) -> list[Section]:
    """The predicted outcome, for the operator, from public parameters alone."""
    it, names = plan.mechanism, plan.coding
    rows: list[tuple[str, str]] = [
        ("people invited (fixed and public)", f"{it.program.people:,}"),
        ("what is shared", names.what),
        ("rows that limit it, and what they hold", f"{it.program.rows:,}; {_range(names.supplies)}"),
        ("what they hand in", names.asked),
        ("what is done", described(plan.mode, it)),
        ("privacy of one person, towards everybody else together", str(it.loss)),
        *_settings(it, names),
        ("noise of a row's average load, standard deviation", _range(it.noise_std * names.load_units)),
        *_expected(plan),
    ]
    return plan_page(
        plan, rows, "Everything here follows from public parameters. Privacy holds whatever anybody hands in; what is "
        "expected is no promise.", _warnings(plan), _modes(plan), _selling_section(plan), said=step(plan),
        sentence=lambda each: sentence(names, each))


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
        found += _selling_warnings(plan)
        found.append("prices are charged, and nothing here collects them: what somebody owes is in her share, and the "
                     "operator collects it")
    return found


def step(plan: SharingPlan) -> str:
    """Explain what a neighbour step is, and who learns what all the same."""
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
        names: the names of the file.
        promise: the promise of a mechanism.
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


def offer(plan: SharingPlan) -> list[Section]:
    """The plan as a participant reads it."""
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
        Section(title="How it is shared", blocks=(Text(tuple(_shared_out(plan.mode, it, names))),)),
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


def _fewest_to_fill(plan: SharingPlan) -> int:
    """The fewest people whose parts can use up some row, each with the largest part that there is."""
    one = plan.mechanism.program
    return math.ceil(float(np.min(np.abs(np.asarray(one.supplies)))) / one.constants.largest_entry)


def _selling_section(plan: SharingPlan) -> Section:
    """What a second identity is handed, and what a group gains at most."""
    it, names = plan.mechanism, plan.coding
    gain: Any = getattr(it, "gain_of", None)
    most, people = it.program.constants.most_value, it.program.people
    told = [_second(plan)]
    rows: list[tuple[int, str]] = []
    if gain is not None and any(not each.vacuous for each in plan.guarantees.of(Truthfulness)):
        rows = [(size, f"{said(names, gain(size))} {names.worth}" if gain(size) < most else "nothing is promised")
                for size in (1, *SIZES)]
        least = fewest(lambda size: gain(size) >= most, people)
        told.append("Up to everybody together, the bound below says something." if least is None else
                    f"From {least:,} people who agree on ({percent(least / people, 2)} of the invited), nothing is "
                    "promised of what each of them gains.")
    else:
        told.append("Nothing is promised of what one person alone gains by a lie, or a group.")
    many = _fewest_to_fill(plan)
    decide = " and so decide its price" if plan.charges else " and so decide what others get of it"
    told += ["A second id moves what is published by no more than the promise of privacy says of one record.",
             f"{many:,} people ({percent(many / people, 2)} of the invited) with the largest parts can use up a row,"
             f"{decide}." if many <= people else "Not even all people together can use up a row.",
             "The operator has to see to it that nobody has two ids."]
    bound = Table(columns=("people who report something else together", "each gains at most"), rows=tuple(rows),
                  note="By the total variation of the prices, whose deviations add up over a group: in the mean over "
                       "the noise.")
    return Section(title="Second identities and agreements",
                   blocks=(Text(tuple(told)), *((bound,) if rows else ())))


def _second(plan: SharingPlan) -> str:
    """What two ids of one person gain, in sentences."""
    found, names = plan.another, plan.coding
    if found is None:
        return "No run on made-up people was made at this size: what a second id is handed is not stated."
    part = f"{said(names, found[0])} +- {said(names, found[1])} {names.worth}"
    which = (f"on average over all people of {CROWDS} made-up crowds of {plan.mechanism.program.people:,} (+- is one "
             "standard error, between crowds). A second part is worth more or less than that, by its owner's record")
    if plan.charges:
        return (f"One second id, with the same record, is handed a part of its own. The part of an id is worth {part} "
                f"more than its price, {which}. Its owner gains what it is worth beyond its price where they can use "
                "both parts, and loses the price where they cannot.")
    return ("With 2 ids of one person, with the same record, they are handed two parts, and pay nothing. The part of "
            f"an id is worth {part} by its record, {which}. Its owner gains what it is worth where they can use both "
            "parts, and nothing where they cannot. It comes out of what all others share.")


def _selling_warnings(plan: SharingPlan) -> list[str]:
    """What the operator should know before anybody is asked."""
    filling = few(_fewest_to_fill(plan), plan.mechanism.program.people)
    return [] if filling is None else [f"{filling}, can use up a row: they decide "
            + ("its price" if plan.charges else "what others get of it")]
