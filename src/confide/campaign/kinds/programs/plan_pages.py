"""The pages on the plan of a campaign that shares resources by a convex program: one for the operator, and the offer
for participants.
"""

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
from confide.contract.offering import Question, answer, lies, likelier, withdrawing
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
    "average": "each participant gets the average of their best choices at the prices of all main rounds",
    "round": "each participant gets their best choice in one round that public randomness draws; the flag of a row "
             "rises when its supply is nearly used up, and later participants who need this row get nothing",
    "truthful": "each participant gets the average of their best choices, at prices; participants who prefer another "
                "choice at the average prices get that choice",
    "tight": "each participant gets their best choice in one round that public randomness draws, at the average "
             "prices; a reserve that is known before the run keeps each row within supply",
    "audited": "each participant gets their best choice in one round that public randomness draws, at prices for a "
               "little less supply; a noisy audit accepts the run only if each row is within supply",
}

_PAYMENTS = {
    "average": "average: the price of the part, at the average prices",
    "scaled": "scaled: a share of the value of the part",
}


def _range(numbers: NDArray[np.float64], digits: int = 5) -> str:
    low, high = (f"{float(end):,.{digits}g}" for end in (numbers.min(), numbers.max()))
    return low if numbers.min() == numbers.max() else f"{low} to {high}"


def described(mode: ModeName, mechanism: Dude) -> str:
    """Describe the method in a sentence.

    Args:
        mode: form of each participant's share, such as "average".
        mechanism: mechanism of the plan.
    """
    return f"{wire_name(mechanism)}: {_WHAT[mode]}"


def _settings(mechanism: Dude, coding: Coding) -> list[tuple[str, str]]:
    """Rows of the plan's table on the mechanism's settings, as pairs of a name and an amount."""
    rows = [("main rounds; earlier rounds, which do not count", f"{mechanism.rounds:,}; {mechanism.burn_in:,}"),
            ("rule for the step of prices", mechanism.descent.rule), ("law of the noise", mechanism.law)]
    if isinstance(mechanism, TightenAndAudit):
        rows += [("share of the squared privacy loss for the audit", f"{mechanism.audit_share:.0%}"),
                 ("noise of the audit, standard deviation", _range(mechanism.audit_noise_std * coding.load_units, 4))]
    if isinstance(mechanism, RoundDude):
        rows += [("share of epsilon for the flags", f"{mechanism.flag_share:.0%}"),
                 ("people between two queries of the flags", f"{mechanism.flags.batch:,}"),
                 ("each row within supply for certain", "yes, for a part of delta" if mechanism.truncate else
                  f"no, only with probability {1 - mechanism.failure_probability:g}")]
    alpha = getattr(mechanism, "alpha", None)
    if alpha is not None:
        rows.append(("alpha: a participant gets another choice if, at the charged prices, it is better by more than",
                     f"{said(coding, alpha)} {coding.worth}"))
    if isinstance(mechanism, TightDude | TightenAndAudit) and alpha is not None:
        rows.append(("rule for the payments", _PAYMENTS[mechanism.payments]))
    return rows


def _shared_out(mode: ModeName, mechanism: Dude, coding: Coding) -> list[str]:
    """The rule by which resources are shared, as a participant reads it."""
    first = ("Prices follow from noisy sums of everybody's demand. In each round, your device finds the "
             f"{coding.thing} with the largest value to you after subtraction of the price, or nothing. This is your "
             "best choice.")
    after: dict[ModeName, str] = {
        "average": "You get the average of your best choices over all main rounds. Example: if something was your best "
                   "choice in a quarter of these rounds, you get a quarter of it.",
        "truthful": "You get the average of your best choices over all main rounds, and pay the price of this average "
                    "at the average prices. If another choice is clearly better for you at these prices, you get "
                    "that choice instead.",
        "round": "Public randomness, drawn after all records have arrived, names one round for you: you get all of "
                 "your best choice of that round. People are served in the order of ids. If a supply that you need is "
                 "nearly used up before your place, you may get nothing.",
        "tight": "Public randomness, drawn after all records have arrived, names one round for you: you get all of "
                 "your best choice of that round, at the average prices.",
        "audited": "Public randomness, drawn after all records have arrived, names one round for you: you get all of "
                   "your best choice of that round. Then the run adds up all choices, with noise, and compares the "
                   "sums with the supplies. If a sum is too large, nobody gets anything, and the result says so.",
    }
    instead = list[str]()
    if mode in ("tight", "audited") and getattr(mechanism, "alpha", None) is not None:
        instead.append("At the average prices, another choice may be clearly better for you than the average of your "
                       "best choices. In this case you get that other choice, no matter which round is drawn for you.")
        if getattr(mechanism, "payments", "") == "scaled":
            instead.append("You pay a share of the value of your part to you: the price of your average divided by the "
                           "value of your average. If your average is not worth its price to you, you get nothing and "
                           "owe nothing.")
    return [first, after[mode], *instead]


def said(coding: Coding, value: float) -> str:
    """A value or a price as text, in the unit of value that the campaign file uses.

    Args:
        coding: convex program, with the unit of value that the campaign file uses.
        value: value or price in units of the highest value.
    """
    found = value * coding.unit
    return f"{0.0 if abs(found) < 0.5 * coding.unit / PRICE_UNIT else found:.4g}"


def sure(failure_probability: float) -> str:
    """A phrase with the probability with which a promise holds.

    Args:
        failure_probability: probability in [0, 1] with which the promise fails.
    """
    return f"with probability {1 - failure_probability:g}"


_SHOWN = 20  # rows on a page; the table has all


def sections(plan: SharingPlan) -> list[Section]:
    """The plan page for the operator: the predicted outcome, from public parameters alone."""
    it, names = plan.mechanism, plan.coding
    rows: list[tuple[str, str]] = [
        ("people invited (fixed and public)", f"{it.program.people:,}"),
        ("shared resources", names.what),
        ("rows that limit the resources, and their supplies", f"{it.program.rows:,}; {_range(names.supplies)}"),
        ("form of a record", names.asked),
        ("method", described(plan.mode, it)),
        ("privacy of one person, towards everybody else together", str(it.loss)),
        *_settings(it, names),
        ("noise of a row's average load, standard deviation", _range(it.noise_std * names.load_units)),
        *_expected(plan),
    ]
    return plan_page(
        plan, rows, "All figures follow from public parameters. Privacy holds for any records. Expected figures are no "
                    "promise.", _warnings(plan), _modes(plan), _selling_section(plan), said=step(plan),
        sentence=lambda each: sentence(names, each))


def _expected(plan: SharingPlan) -> list[tuple[str, str]]:
    out, failure = plan.outlook, plan.mechanism.failure_probability
    if plan.whole:
        kept = plan.reserve / plan.coding.supplies
        return [("share of each supply in reserve", f"{float(kept.min()):.1%} to {float(kept.max()):.1%}"),
                ("rows above their supply", f"none, {sure(0.0 if _certain(plan) else failure)}")]
    if not out.limits:
        return [("rows above their supply", "none is possible: the supply of each row is enough for everybody "
                                            "together")]
    limit = "the supplies" if not plan.mechanism.program.two_sided else "the largest sum of contributions"
    return [("expected excess of all rows together, for the averages", f"{out.expected_excess:.4g}"),
            (f"excess in the certificate, {sure(failure)}, as a share of {limit}", f"{out.excess_share:.2%}")]


def _certain(plan: SharingPlan) -> bool:
    return bool(getattr(plan.mechanism, "truncate", False))


def _modes(plan: SharingPlan) -> Section:
    """A table that compares all modes at the campaign's size."""
    rows = list[tuple[str, str, str, str]]()
    for mode, found in plan.others:
        mine = " (planned)" if mode == plan.mode else ""
        if isinstance(found, str):
            rows.append((f"{mode}{mine}", f"refused: {found}", "", ""))
            continue
        room = (f"{found.unused_share:.2%} in reserve" if found.certain else
                f"excess of up to {found.excess_share:.2%}")
        lies = (f"{said(plan.coding, found.gain)} {plan.coding.worth}"
                if found.gain < found.program.constants.most_value else "no promise")
        rows.append((f"{mode}{mine}", room, "yes" if found.certain else "except for noise", lies))
    return Section(title="Modes at these sizes", blocks=(Table(
        columns=("mode", "share of the supplies", "within supply", "largest gain from a lie"),
        rows=tuple(rows),
        note="The planned mode has the settings of the file. All other modes have their usual settings"
             + (", with the file's alpha if they charge prices" if plan.config.solution.alpha is not None else "")
             + ". To keep every row within supply, the modes audited and round need a smaller reserve than tight. The "
               "modes average and truthful give fractions. The mode audited charges prices only if the file sets "
               "alpha."),))


def _right(plan: SharingPlan, *, somebody: bool = False) -> str:
    """The largest probability of a right guess about one record from everything that other people see, in words."""
    return guess_in_words(plan.mechanism, plan.guarantees.privacy, Audience.OTHERS, somebody=somebody)


def _warnings(plan: SharingPlan) -> list[str]:
    found, it, out = list[str](), plan.mechanism, plan.outlook
    if it.epsilon > PROMISES_LITTLE:
        found.append(f"epsilon = {it.epsilon:g} promises little. {_right(plan, somebody=True).removesuffix('.')}")
    if it.delta * it.program.people >= 1:
        found.append(f"a delta of at least 1/{it.program.people:,} allows the release of a person's whole record: "
                     "choose it far smaller")
    if not out.settles:
        burn_in, rounds = out.needed_rounds
        found.append("the prices may not settle in so few rounds. If they do not settle, the certificate states this. "
                     f"The settings burn_in = {burn_in:,} and rounds = {rounds:,} give the prices enough rounds")
    if out.vacuous:
        found.append("the total value of the average choices, and their excess over the supplies, have no proven bound "
                     "before the run. The certificate after the run states such a bound")
    if plan.mode == "audited":
        found.append("if the audit does not accept the run, nobody gets anything and the budget is spent. The settings "
                     "make this rare, but the campaign does not promise it")
    if plan.mode == "truthful":
        found.append("participants who prefer another choice at the average prices get that choice, even beyond "
                     "supply: the certificate bounds their number")
    if plan.charges:
        found += _selling_warnings(plan)
        found.append("prices are charged, and confide does not collect them: each participant's share states the "
                     "amount that the participant owes, and the operator must collect this amount")
    return found


def step(plan: SharingPlan) -> str:
    """A text on the difference between neighbouring data sets. The text also says that the promise of privacy does not
    cover the provider of a participant's share, since the provider learns this share.
    """
    moved = "replaced by any other record" if plan.mechanism.neighbours == "replace" else "replaced by an empty record"
    return (f"The promise of privacy is about one person's record, which is {moved}, and about everything that all "
            "other people get and see together. The provider, who delivers the parts, learns each "
            f"person's part. The billboard is everything that the campaign publishes.{_in_points(plan.coding)}")


def _in_points(names: Coding) -> str:
    """A sentence on the unit of values and prices; empty for a game without values."""
    if names.points is None:
        return f" Values, prices, gains and alpha are in {names.worth}, as the file's costs are."
    if names.program.constants.most_value == 0.0:
        return ""
    return (f" Values, prices, gains and alpha are in the file's own points: from {names.points.lowest:g} to "
            f"{names.points.highest:g}.")


def sentence(names: Coding, promise: Guarantee) -> str:
    """A promise as a sentence, in the words of the program's family and in the file's unit of value.

    Args:
        names: convex program, with the names and the unit of value that the campaign file uses.
        promise: promise of the mechanism.
    """
    if isinstance(promise, Participation):
        worth = (f"costs them at most {said(names, -promise.utility)} {names.worth} more than its value to them"
                 if promise.utility < 0.0 else "costs them no more than its value to them")
        return f"a participant's part {worth}, for {promise.who}"
    if isinstance(promise, Truthfulness):
        return replace(promise, gain=promise.gain * names.unit, unit_of_gain=names.worth).sentence()
    if isinstance(promise, Accuracy) and promise.measure.startswith("optimum less"):
        return f"{replace(promise, bound=promise.bound * names.unit).sentence()} {names.worth}"
    return promise.sentence()


def offer(plan: SharingPlan) -> list[Section]:
    """The offer: the plan in the form that a participant reads."""
    it, names = plan.mechanism, plan.coding
    shown = ", ".join(f"{name} ({supply:,.6g})" for name, supply in
                      zip(names.rows[:_SHOWN], names.supplies.tolist(), strict=False))
    more = f", and {it.program.rows - _SHOWN:,} more" if it.program.rows > _SHOWN else ""
    other = "with any other record" if it.neighbours == "replace" else "without it"
    gets, lied = _truth(plan)
    return [
        Section(title="Resources on offer", blocks=(Text((
            f"{as_sentence(names.what)} The supplies are: {shown}{more}. {it.program.people:,} people are "
            "invited.",)),)),
        answer(Question.REPORT, as_sentence(names.asked),
               "If you take no part, or if your record cannot be used, you get nothing.",
               "Your place in the public order follows from your id, and not from the time at which you hand in your "
               "record. Hand in your record before the run. There is only one run."),
        Section(title="Rule for the shares", blocks=(Text(tuple(_shared_out(plan.mode, it, names))),)),
        answer(Question.SEES, "The operator sees your record. The public sees the prices, and the noisy sums from "
                              "which the prices follow. Your part follows from these numbers and your record. The "
                              "provider, who delivers your part to you, learns this part."),
        answer(Question.HIDES, f"Everything that all other people get and see together is at most "
                               f"{likelier(it.epsilon)} times as likely with your record as {other}, except with "
                               f"probability {it.delta:g}. "
                               f"{_right(plan)}"),
        answer(Question.GETS, f"You get your part of the shared resources: {names.what}.", *gets),
        answer(Question.LIES, *lied),
        answer(Question.TRUSTED, "You trust the operator with your record, and nobody else."),
        answer(Question.WITHDRAWING, *withdrawing(
            absent="you count as somebody who gets nothing, and only the operator can see this")),
    ]


def _truth(plan: SharingPlan) -> tuple[list[str], list[str]]:
    """Two texts: on the payment, and on the gain from a lie."""
    if not plan.charges:
        return (["You pay nothing. Prices only determine who gets which part."],
                ["The campaign makes no promise about the gain from a false record."])
    names = plan.coding
    none = "At this epsilon, the campaign makes no promise about the gain from a lie."
    gain = lies(plan.guarantees, none, sentence=lambda each: sentence(names, each))
    covered = "" if gain == none else " The promise covers only lies about your choices and their values."
    return (["You pay the price of your part. The operator collects the price.", as_sentence(_taking_part(plan))],
            [gain, "Your record must state truly how much of each supply your choices use." + covered])


def _taking_part(plan: SharingPlan) -> str:
    """A clause on a participant's largest loss from taking part, after the run and, where it is promised, on average
    over the public draw.
    """
    names, stated = plan.coding, plan.guarantees.of(Participation)
    lost = -stated[-1].utility
    if lost <= 0:
        return "in every run, you pay at most the value of your part to you, by your own record"
    if not plan.whole:
        return (f"in every run, your part costs you at most {said(names, lost)} {names.worth} more than its value to "
                "you")
    mean = (f"; on average over the public draw, at most {said(names, max(0.0, -stated[0].utility))} more"
            if len(stated) > 1 else "")
    return (f"in an unlucky draw, your part can cost you up to {said(names, lost)} {names.worth} more than its value "
            f"to you{mean}")


def _fewest_to_fill(plan: SharingPlan) -> int:
    """The smallest number of participants whose parts can use up the supply of some constraint, each with the largest
    possible part.
    """
    one = plan.mechanism.program
    return math.ceil(float(np.min(np.abs(np.asarray(one.supplies)))) / one.constants.largest_entry)


def _selling_section(plan: SharingPlan) -> Section:
    """A section on the share of a second identity, and on the largest gain of a group."""
    it, names = plan.mechanism, plan.coding
    gain: Any = getattr(it, "gain_of", None)
    most, people = it.program.constants.most_value, it.program.people
    lines = [_second(plan)]
    rows: list[tuple[int, str]] = []
    if gain is not None and any(not each.vacuous for each in plan.guarantees.of(Truthfulness)):
        rows = [(size, f"{said(names, gain(size))} {names.worth}" if gain(size) < most else "no promise")
                for size in (1, *SIZES)]
        least = fewest(lambda size: gain(size) >= most, people)
        lines.append("The bound below is useful for groups of any size." if least is None else
                     f"For groups of {least:,} or more people who agree ({percent(least / people, 2)} of the invited), "
                     "the campaign makes no promise about the gain of each member.")
    else:
        lines.append("The campaign makes no promise about the gain of a person or a group from lies.")
    many = _fewest_to_fill(plan)
    decide = " and so decide its price" if plan.charges else " and so decide the parts of other people"
    lines += ["A second id changes the published result by no more than the promise of privacy allows for one record.",
              f"{many:,} people ({percent(many / people, 2)} of the invited) with the largest parts can use up the "
              f"supply of a row,{decide}." if many <= people else
              "Not even all people together can use up the supply of a row.",
              "The operator must make sure that nobody has two ids."]
    bound = Table(columns=("people who misreport together", "each gains at most"), rows=tuple(rows),
                  note="The bound is on average over the noise. It follows from the total variation of the prices: the "
                       "variations of all members add up.")
    return Section(title="Second identities and agreements",
                   blocks=(Text(tuple(lines)), *((bound,) if rows else ())))


def _second(plan: SharingPlan) -> str:
    """Sentences on the gain of a person with two ids."""
    found, names = plan.another, plan.coding
    if found is None:
        return "There was no run on synthetic people at this size, so this page does not state the part of a second id."
    part = f"{said(names, found[0])} +- {said(names, found[1])} {names.worth}"
    which = (f"on average over all people of {CROWDS} simulated populations of {plan.mechanism.program.people:,} (the "
             "number after +- is one standard error, between populations). The value of a second part depends on its "
             "owner's record")
    if plan.charges:
        return (f"A second id with the same record gets a part of its own. The part of an id is worth {part} more than "
                f"its price, {which}. Owners who can use both parts gain the value of the second part minus its price. "
                "Other owners lose the price.")
    return ("A person with 2 ids and the same record for both gets two parts and pays nothing. The part of an id is "
            f"worth {part} by its record, {which}. Owners who can use both parts gain the value of the second part. "
            "Other owners gain nothing. The second part leaves less for all other people.")


def _selling_warnings(plan: SharingPlan) -> list[str]:
    """The warnings to the operator about lies and second ids, before anybody is asked."""
    filling = few(_fewest_to_fill(plan), plan.mechanism.program.people)
    return [] if filling is None else [f"{filling}, can use up the supply of a row, and so decide "
            + ("its price" if plan.charges else "the parts of other people")]
