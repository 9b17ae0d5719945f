"""The pages of a campaign that hands out goods: the plan for its operator, the result for the public, and the share of
one participant.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from confide.allocation.billboards import WelfareCertificate
from confide.allocation.crowds import counts
from confide.campaign.kinds.allocation.plan import GoodsPlan, group_gain
from confide.campaign.kinds.allocation.words import worth
from confide.campaign.kinds.skeleton import (
    WEAK,
    AnyOutcome,
    not_disclosed,
    plan_page,
    promised,
    settled_otherwise,
    share_page,
)
from confide.charts import curves, intervals
from confide.contract.guarantees import Audience, stated
from confide.contract.offering import Question, answer, lies, likelier, who_asks, withdrawing
from confide.contract.outcome import PublicOutcome, SimulatedOutcome, settled_share
from confide.contract.presentation import Picture, Section, Table, Text
from confide.contract.words import as_sentence, few, number, percent
from confide.privacy.groups import SIZES, guess_in_words, household_parts, right_at_most
from confide.privacy.losses import PROMISES_LITTLE

__all__ = ["explain", "offer", "result_sections", "result_tables", "sections", "study_sections"]

_SHOWN = 20  # goods on a page; the table has all
_DRAWN = 6  # goods of a picture


# ---- after


def result_tables(plan: GoodsPlan, outcome: AnyOutcome) -> dict[str, pa.Table]:
    """The table `prices`, with a row for every good: its final price, on the scale of values from 0 to 1 and in the
    campaign's points, and its number of copies.
    """
    board: Any = outcome.billboard
    prices = np.asarray(board.prices, dtype=np.float64)
    return {"prices": pa.table({
        "good": pa.array(plan.names, pa.string()), "price": prices, "price_points": prices * plan.scale.unit,
        "supply": pa.array(plan.market.copies, pa.int64())})}


def result_sections(plan: GoodsPlan, outcome: AnyOutcome) -> list[Section]:
    """The result page: the good with the highest price in one sentence, the prices in a picture, and the limits of
    conclusions about one person. Folded sections show the rise of prices and the promises.
    """
    board: Any = outcome.billboard
    prices = np.asarray(board.prices)
    order = np.argsort(-prices, kind="stable")[:_SHOWN].tolist()
    unit = plan.scale.unit
    points = "" if unit == 1.0 else (f" ({'' if plan.ranked else 'points, '}of {unit:.6g}"
                                     f"{plan.ranked and '; '}{plan.ranked})")
    leant = float(getattr(plan.market, "spread", 0.0))
    note = (("" if points else f"A price of 1 is {plan.most}. ")
            + ("Small public bonuses break ties: they raise the value of a good to a participant by at most "
               f"{leant * unit:.6g} of {plan.most if unit == 1.0 else plan.in_points}. " if leant else "")
            + ("A participant who takes a good owes its price. " if plan.charges else "Nobody pays the prices. ")
            + "The number of copies that were taken of a good is not public, and neither are their owners.")
    if len(prices) > _SHOWN:
        note = f"The table shows the {_SHOWN} of {len(prices):,} goods with the highest prices. {note}"
    rows = tuple((plan.names[good], float(prices[good] * plan.scale.unit), plan.market.copies[good]) for good in order)
    return [
        Section(title="What was found", found=True, blocks=(
            Text((_finding(plan, prices),)), *_price_picture(plan, prices, order),
            Table(columns=("good", f"final price{points}", "copies"), note=note, rows=rows),
            Text((_certified(plan, outcome.certificate),)))),
        not_disclosed(plan, "a given participant's values, and their good", Audience.OTHERS, thing="row"),
        Section(title="Prices by round", folded=True, blocks=tuple(_pictures(plan, board, order[:_DRAWN]))),
        promised(plan, f"Made by: {plan.words.describe(plan.market)}.", *stated(plan.guarantees), _step(plan)),
    ]


def _finding(plan: GoodsPlan, prices: np.ndarray) -> str:
    """Sentences with the good that was most in demand, and the number of goods without a price."""
    many, free, first = len(prices), int((prices <= 0).sum()), int(np.argmax(prices))
    if free == many:
        return f"None of the {many:,} goods has a price."
    at = f"{_price(plan, float(prices[first]))}"
    rest = "" if not free else f" {free:,} of the goods {'has' if free == 1 else 'have'} no price."
    paid = "" if plan.charges else " The price only shows the demand: nobody pays it."
    return (f"Of {many:,} goods, {plan.names[first]} was most in demand, compared with its number of copies. It has "
            f"the highest final price, {at}.{paid}{rest}")


def _price(plan: GoodsPlan, price: float) -> str:
    unit = plan.scale.unit
    return f"{number(price)} of {plan.most}" if unit == 1.0 else f"{number(price * unit)} of {plan.in_points}"


def _price_picture(plan: GoodsPlan, prices: np.ndarray, goods: list[int]) -> list[Picture]:
    """A picture of the final prices of the goods with the highest prices, with an axis that starts at 0."""
    unit = plan.scale.unit
    rows = [(plan.names[good], "final price", float(prices[good] * unit), 0.0, float(prices[good] * unit))
            for good in goods]
    span = f"from {_price(plan, float(prices[goods[0]]))} to {_price(plan, float(prices[goods[-1]]))}"
    which = "all goods" if len(goods) == len(prices) else "the goods with the highest prices"
    axis = "price" if unit == 1.0 else f"{'price' if plan.ranked else 'points'}, of {unit:.6g}"
    return intervals(rows, title="Final prices", axis=axis, alt=f"The final prices of {which}, {span}.")


def _certified(plan: GoodsPlan, certificate: Any) -> str:
    if not isinstance(certificate, WelfareCertificate):
        return "The run measured no certificate of welfare."
    sure = f"with probability {1 - certificate.failure_probability:g}"
    if certificate.vacuous:
        return f"At these sizes, the certificate says nothing: there is no bound on the welfare {sure}."
    return (f"Certified {sure}: everybody together got at least {percent(certificate.ratio)} of the largest welfare of "
            f"any allocation. Their goods are worth at least {certificate.welfare:,.1f} to them, and no allocation is "
            f"worth more than {certificate.optimum:,.1f}, in units of {plan.most}.")


def _pictures(plan: GoodsPlan, board: Any, goods: list[int]) -> list[Picture]:
    """A picture of the highest prices after each round."""
    paths = plan.words.paths(plan.market, board)
    rows = [(float(r), float(paths[r, good]), plan.names[good]) for good in goods for r in range(len(paths))]
    ends = ", ".join(f"{plan.names[good]} {worth(float(paths[-1, good]))}" for good in goods)
    which = "The prices" if len(goods) == len(plan.names) else f"The {len(goods)} highest prices"
    return curves(rows, title="Prices by round", x="rounds played", y="price, as a share of the largest value",
                  alt=f"{which} by round. The prices end at {ends}.")


def _points(plan: GoodsPlan) -> str:
    """A clause that converts the scale from 0 to 1 into points; empty where the two scales are equal."""
    unit, lowest = plan.scale.unit, getattr(plan.scale, "lowest", 0.0)
    counted = f", counted from {lowest:g}" if lowest else ""
    there = " in the table of prices" if plan.ranked else ""
    return "" if unit == 1.0 else f", where 1 stands for {plan.in_points}{there}{counted}"


# ---- one person


def explain(plan: GoodsPlan, outcome: AnyOutcome, record: Any, index: int) -> list[Section]:
    """One participant's page after the run: their goods, and the reasons why they get these goods.

    Args:
        plan: plan with which the campaign was settled.
        outcome: outcome of the run.
        record: valuation of the participant in the form that the mechanism takes; None where the participant has no
            usable record.
        index: position of the participant in the public list of ids, from 0.
    """
    share = plan.market.decode(record, index, outcome.billboard)
    goods, who = plan.goods_of(share), f"Participant {index + 1}"
    stored = None if isinstance(outcome, PublicOutcome) else plan.goods_of(settled_share(outcome, index))
    if stored is not None and stored != goods:
        return settled_otherwise(who, plan.called(stored), plan.called(goods), thing="row", gets="get", at="with")
    if record is None:
        return share_page(f"{who}: no good", "No usable row arrived under this id. It counts as a row that gives every "
                                             "good the value 0.")
    lines = plan.words.story(plan.market, outcome.billboard, plan.names, plan.reported(record), index,
                            plan.said)
    if goods:
        one = len(goods) == 1
        lines.append(f"You get {plan.called(goods)}. By your own row, {'it is' if one else 'they are together'} worth "
                     f"{plan.said(plan.worth_of(record, goods))} to you, on the scale from 0 to 1{_points(plan)}.")
        if plan.charges:
            lines.append(f"You owe the final price of your good, {plan.said(float(share['price']))} on that scale, to "
                         "the operator.")
    else:
        lines.append("You get no good.")
    lines.append("This page follows from your own row, your place and the public billboard. Nobody can compute it from "
                 "public data alone. The person who hands you a good learns which good it is.")
    return share_page(f"{who}: {plan.called(goods)}", *lines)


def study_sections(plan: GoodsPlan, data: Any, outcome: SimulatedOutcome) -> list[Section]:
    """The study page. It compares the welfare with the best possible welfare and with simple rules, and counts the
    copies that were given beyond the supply.
    """
    it, figures, crowd = plan.market, outcome.diagnostics, plan.crowd(data)
    prices: np.ndarray = outcome.billboard.prices  # type: ignore[attr-defined]
    best, exact = crowd.best(it.copies, prices)
    given = counts(outcome.shares, it.goods)
    rows = [("this run (simulated noise)", figures["welfare"]), *crowd.baselines(it.copies, seed=0),
            ("the best allocation (exact optimum)" if exact else
             "upper bound on any allocation (by weak duality)", best)]
    note = "In units of " + plan.most + "." + ("" if exact else " The best allocation may be below the bound.")
    order = np.argsort(-prices, kind="stable")[:_SHOWN]
    return [Section(title="Welfare of this run and of other allocations", study=True, blocks=(
        Table(columns=("allocation", "welfare", "share of the best" if exact else "share of the bound"),
              rows=tuple((name, welfare, welfare / best if best else None) for name, welfare in rows), note=note),
        Table(columns=("good", "copies", "given"), rows=tuple(
            (plan.names[good], it.copies[good], int(given[good])) for good in order.tolist()),
            note=f"The run gives {int(given.sum()):,} copies, {int(figures['over_allocated']):,} of them beyond the "
                 "supply. Only the run protects people's values; the other allocations do not."),
    ))]


_CLEAR = 2.0
"""Smallest ratio of a measured gain to its standard error at which a page states that there is a gain."""


def _selling_section(plan: GoodsPlan) -> Section:
    """A section on a participant's gain from a lie or a second id, on the smallest group that can take all copies of a
    good, and on the largest gain of a group.
    """
    second, it = plan.second, plan.market
    lines = [f"The gains were measured on {second.crowds} simulated populations of {second.people:,} people each, in "
             "runs with simulated noise. The number after +- is one standard error, between populations. Values are on "
             "the scale from 0 to 1.",
            *_alone(plan), *_second(plan),
            "A second id changes the published result by no more than the promise of privacy allows for one row."]
    least = min(it.copies)
    lines.append(f"{least:,} people ({percent(least / it.people, 2)} of the invited) who ask only for the scarcest "
                 "good can take all of its copies.")
    lines.append("The operator must make sure that nobody has two ids.")
    rows = tuple((size, gain) for size in (1, *SIZES) if (gain := group_gain(plan, size)) is not None)
    bound = [Table(columns=("people who misreport together", "each gains at most"), rows=rows,
                   note="The bound holds for people who would be satisfied at the end of the run after true rows: they "
                        "would not be outbid, and would have bids left. The bound follows from the privacy loss of the "
                        "prices for a group.")]
    return Section(title="Second identities and agreements", blocks=(Text(tuple(lines)), *(bound if rows else ())))


def _alone(plan: GoodsPlan) -> list[str]:
    """Sentences on the gain of one participant with one id, the smallest possible group."""
    free = [] if plan.charges else ["No prices are charged, so the campaign makes no promise about the gain from a "
                                    "lie."]
    if plan.lone is None:
        return [*free, "The plan did not search for a gain from one person's lie."]
    found = plan.lone
    return [*free, f"With true rows, {percent(found.left)} of the simulated people get nothing in every run. "
            + (f"One of these people gains {found.gain:.3f} +- {found.gain_error:.3f} if this person asks only for one "
               "good. No promise about lies covers these people." if found.gain > _CLEAR * found.gain_error else
               "The plan found no gain for one of these people if this person asks only for one good.")]


def _second(plan: GoodsPlan) -> list[str]:
    """Sentences on the gain from a second id, for an owner who uses only the better good and for an owner who can use
    all goods.
    """
    found = plan.second
    gain, alone = f"{found.gain:.3f} +- {found.error:.3f}", f"{found.alone:.3f} +- {found.alone_error:.3f}"
    if found.gain > _CLEAR * found.error:
        said = f"A person with 2 ids and the same row for both gains {gain} more than with one id, on average."
    elif plan.charges:
        said = (f"A second id with the same row gains its owner nothing on average ({gain}), since the owner pays for "
                "a second good without use.")
    else:
        said = f"A second id with the same row has no measurable gain for its owner on average ({gain})."
    return [said, f"An owner who can use or pass on all goods of both ids gains {alone}. In {percent(found.both)} of "
                  "cases, both ids get something, and somebody else gets nothing instead."]


def _selling_warnings(plan: GoodsPlan) -> list[str]:
    """The warnings to the operator about lies and second ids, before anybody is asked."""
    said, it, found = list[str](), plan.market, plan.lone
    if plan.charges and found is not None and found.gain > _CLEAR * found.gain_error:
        said.append("one person can gain without other people's help: in runs on synthetic people, a person who gets "
                    f"nothing with a true row in every run gains {found.gain:.2f} +- {found.gain_error:.2f} of 1 if "
                    "this person asks only for one good. No promise about lies covers such people")
    if (scarce := few(min(it.copies), it.people)) is not None:
        said.append(f"{scarce}, can take all copies of the scarcest good")
    return said


_CLEARLY = 0.02  # of the best that is possible: what another method is better by, for a word about it


# ---- before


def sections(plan: GoodsPlan) -> list[Section]:
    """The plan page for the operator: the predicted outcome, from public parameters alone."""
    it, copies = plan.market, plan.market.copies
    supply = f"{min(copies):,}" if min(copies) == max(copies) else f"{min(copies):,} to {max(copies):,}"
    rows: list[tuple[str, str]] = [
        ("people invited (fixed and public)", f"{it.people:,}"),
        ("goods, and copies of each", f"{it.goods:,}; {supply}"),
        ("people for each copy", f"{it.people / sum(copies):.3g}"),
        ("form of a row", plan.asked),
        ("method", plan.words.describe(it)),
        ("privacy of one person, towards everybody else together", str(it.loss)),
        *plan.words.planned(it),
        ("probability that the run gives more copies of a good than there are", _overflow(plan)),
        ("share of epsilon for the public certificate of welfare",
         f"{it.certify_with:.0%}; the certificate is wrong with probability {it.failure_probability:g}"
         if it.certificate_plan is not None else "none"),
        *_predicted(plan),
    ]
    return plan_page(
        plan, rows, "All figures follow from public parameters. Privacy holds for any rows. Predicted figures are no "
                    "promise.", _warnings(plan), *_methods(plan), _selling_section(plan), said=_step(plan))


def _overflow(plan: GoodsPlan) -> str:
    it = plan.market
    if it.on_overflow == "truncate":
        return f"0; the last in the public order get no good instead, at a delta of {it.overflow_delta:.3g}"
    return f"{it.failure_probability:g}; the operator then hands out copies from a stock"


def _predicted(plan: GoodsPlan) -> list[tuple[str, str]]:
    made = plan.prediction
    least, most = made.span
    return [("predicted welfare of synthetic people, as a share of the largest welfare",
             f"{made.share:.0%}; {least:.1%} to {most:.1%} in {made.runs} runs, each on another population"),
            ("  for a hand-out without any reports", f"{made.baseline:.0%}"),
            *((f"  by {name}, which is not private", f"{share:.0%}") for name, share in made.baselines.items())]


def _methods(plan: GoodsPlan) -> list[Section]:
    """A comparison of the methods' predicted results; empty where they are not predicted."""
    if not plan.others:
        return []
    made = plan.prediction
    rows: list[tuple[str, float, float | None, float | None]] = [
        (name, each.share, *each.span) for name, each in {"as planned": made, **plan.others}.items()]
    rows.append(("without any reports", made.baseline, None, None))
    rows += [(f"{name} (not private)", share, None, None) for name, share in made.baselines.items()]
    charging = ", charging prices" if plan.charges else ""
    return [Section(title="Methods compared on synthetic people", blocks=(Table(
        columns=("method", "share of the largest welfare", "in the worst run", "in the best run"),
        rows=tuple(rows),
        note="The figures come from runs with simulated noise, on the same populations of synthetic people, who report "
             f"truthfully. Each method has its recommended settings{charging}. Real people may get more or less: the "
             "figures are no promise."),))]


def _right(plan: GoodsPlan, *, somebody: bool = False) -> str:
    """The largest probability of a right guess about one row from everything that other participants see, in words."""
    return guess_in_words(plan.market, plan.guarantees.privacy, Audience.OTHERS, thing="row", somebody=somebody)


def _warnings(plan: GoodsPlan) -> list[str]:
    found, it = list[str](), plan.market
    if it.epsilon > PROMISES_LITTLE:
        found.append(f"epsilon = {it.epsilon:g} promises little. {_right(plan, somebody=True).removesuffix('.')}")
    if it.delta * it.people >= 1:
        found.append(f"a delta of at least 1/{it.people:,} allows the release of a person's whole row: choose it far "
                     "smaller")
    if it.on_overflow == "flag" and it.failure_probability > 1e-4:
        found.append(f"with probability {it.failure_probability:g}, the run gives more copies of a good than there "
                     "are. Keep a few more copies in stock, or choose a smaller failure_probability. Do not take a "
                     "good back from somebody who got it: this would disclose facts about other people, and the ledger "
                     "would not count this disclosure")
    poor = [one for one in plan.prediction.crowds.values() if one.welfare < 1.1 * one.baseline]
    if poor:
        one = min(poor, key=lambda each: each.welfare - each.baseline)
        found.append(f"the predicted welfare, {one.welfare:.0%}, is hardly better or even worse than the welfare "
                     f"without any reports, {one.baseline:.0%} for the same synthetic people. Choose a larger epsilon, "
                     "or offer more copies of each good")
    for name, other in plan.others.items() if plan.charges else ():
        if other.share > plan.prediction.share + _CLEARLY:
            found.append(f"auction.method = {name!r} has a predicted welfare of {other.share:.0%}, and the planned "
                         f"method {plan.prediction.share:.0%}, both with charged prices")
    found += _selling_warnings(plan)
    if plan.charges:
        found.append("prices are charged, and confide does not collect them: each participant's share states the "
                     "amount that the participant owes, on the scale from 0 to 1 and in points. The operator must "
                     "announce the value of a point in money before the run, and collect the money after the run")
    return found


def _step(plan: GoodsPlan) -> str:
    """A sentence on the difference between neighbouring data sets, and on the audience of the promise of privacy."""
    step = "replaced by any other row" if plan.market.neighbours == "replace" else "replaced by an empty row"
    return (f"The promise of privacy is about one person's row, which is {step}, and about everything that all other "
            "people get and see together. The person who hands out a good learns who gets it.")


# ---- the offer


def offer(plan: GoodsPlan) -> list[Section]:
    """The offer: the plan in the form that a participant reads."""
    it = plan.market
    delta = f", except with probability {it.delta:g}," if it.delta else ""
    shown = ", ".join(f"{name} ({copies:,})" for name, copies in
                      zip(plan.names[:_SHOWN], it.copies, strict=False))
    more = f", and {it.goods - _SHOWN:,} more" if it.goods > _SHOWN else ""
    other = "with any other row" if it.neighbours == "replace" else "without it"
    certified = (" The public also sees two noisy sums that show the total "
                 "welfare." if it.certificate_plan is not None else "")
    gets, lied = _truth(plan)
    return [
        Section(title="Goods on offer", blocks=(Text((
            f"{shown}{more}. {it.people:,} people are invited, and each gets {plan.words.limit(it)}.",)),)),
        answer(Question.REPORT, as_sentence(plan.asked), "Example: you give the number 1 to the good that you want "
               "most, and 2 to the next one." if plan.ranked else "",
               who_asks("the goods are handed out"),
               "If you take no part, or your row cannot be used, you count as somebody who gives every good the value "
               "0.",
               "Your place in the public order follows from your id, and not from the time at which you hand in your "
               "row. Hand in your row before the run. There is only one run."),
        Section(title="How goods are handed out", blocks=(Text(tuple(plan.words.rule(it))),)),
        answer(Question.SEES, "The operator sees your row. The public sees the prices, and the noisy numbers from "
                              f"which the prices follow.{certified} Your share of the goods follows from these numbers "
                              "and your row. The person who hands you a good learns that it is yours, and this "
                              "discloses something about your row.",
               "Example: everybody can read in the result which goods were most in demand. The result does not say who "
               "gets which good. But the person who hands you a good learns that you wanted this good."),
        answer(Question.HIDES, f"{_conclusions(plan)} {_right(plan)}",
               f"In the words of the field: everything that all other people get and see together is{delta} at most "
               f"{likelier(it.epsilon)} times as likely with your row as {other}.",
               *household_parts(plan.market, plan.guarantees.privacy, Audience.OTHERS, "row")),
        answer(Question.GETS, f"You get {plan.words.limit(it)}. Everybody's rows decide which.", gets),
        answer(Question.LIES, lied, "" if plan.charges else
               "Example: you give the best place to a good that you do not want most. You may then get this good, and "
               "not the good that you want most."),
        answer(Question.TRUSTED, "You trust the operator with your row, and nobody else."),
        answer(Question.WITHDRAWING, *withdrawing(
            absent="you count as somebody who gives every good the value 0, and only the operator can see this")),
    ]


def _conclusions(plan: GoodsPlan) -> str:
    """A sentence on the conclusions about one row that other people can draw."""
    if right_at_most(plan.market, plan.guarantees.privacy, Audience.OTHERS) > WEAK:
        return ("The promise of privacy is weak: from the public numbers, somebody may be able to tell which good you "
                "want most.")
    return ("Noise protects your row: from the public numbers, other people can learn which goods many people want. "
            "They cannot learn for certain which good you want most.")


def _truth(plan: GoodsPlan) -> tuple[str, str]:
    """Two texts: on the payment, and on the gain from a lie."""
    it = plan.market
    if not plan.charges:
        return ("You pay nothing. Prices only determine who gets which good.",
                "The campaign makes no promise about the gain from a false row.")
    said = lies(plan.guarantees,
                f"At epsilon = {it.epsilon:g}, the campaign makes no promise about the gain from a false row.")
    return ("You pay the final price of your good if you take it. By your own row, the good is always worth at least "
            "its price to you. The operator collects the price.", said)
