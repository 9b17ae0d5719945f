"""What a campaign that hands out goods shows: to its operator beforehand, to everybody after it, and to one person."""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.allocation.billboards import WelfareCertificate
from confide.campaign.kinds.allocation.plan import GoodsPlan
from confide.campaign.kinds.allocation.selling_words import selling_section, selling_warnings
from confide.campaign.kinds.allocation.words import worth
from confide.charts import curves
from confide.contract.guarantees import Audience
from confide.contract.offering import Question, answer, lies, likelier, withdrawing
from confide.contract.outcome import Outcome, PublicOutcome, SimulatedOutcome
from confide.contract.presentation import Block, Picture, Section, Table, Text
from confide.contract.promised import promises_table, stated
from confide.contract.words import as_sentence
from confide.privacy.groups import group_blocks, groups_section, guess_in_words
from confide.privacy.losses import PROMISES_LITTLE

__all__ = ["explain", "offer_sections", "plan_sections", "result_sections"]

AnyOutcome = Outcome | PublicOutcome | SimulatedOutcome

_SHOWN = 20  # goods on a page; the table has all
_CLEARLY = 0.02  # of the best that is possible: what another method is better by, for a word about it
_DRAWN = 6  # goods of a picture


# ---- before


def plan_sections(plan: GoodsPlan) -> list[Section]:
    """What the operator would get, from public parameters alone."""
    it, copies = plan.market, plan.market.copies
    supply = f"{min(copies):,}" if min(copies) == max(copies) else f"{min(copies):,} to {max(copies):,}"
    rows: list[tuple[str, str]] = [
        ("people invited (fixed and public)", f"{it.people:,}"),
        ("goods, and copies of each", f"{it.goods:,}; {supply}"),
        ("people for each copy", f"{it.people / sum(copies):.3g}"),
        ("what they write", plan.asked),
        ("what is done", plan.words.describe(it)),
        ("privacy of one person, towards everybody else together", str(it.loss)),
        *plan.words.planned(it),
        ("probability that some good is given more often than there are copies", _overflow(plan)),
        ("public certificate of welfare",
         f"{it.certify_with:.0%} of epsilon, but wrong with probability {it.failure_probability:g}"
         if it.certificate_plan is not None else "none"),
        *_predicted(plan),
    ]
    blocks: list[Block] = [Table(
        columns=("what", "planned"), rows=tuple(rows),
        note="Everything here follows from public parameters. Privacy holds whatever anybody writes; what is predicted "
             "is no promise.")]
    warnings = _warnings(plan)
    if warnings:
        blocks.append(Text(tuple(f"Warning: {each}." for each in warnings)))
    return [
        Section(title="Plan", blocks=tuple(blocks)), *_methods(plan),
        selling_section(plan),
        Section(title="Guarantees", blocks=(promises_table(plan.guarantees, _step(plan)),)),
        groups_section(plan.market, plan.guarantees.privacy),
    ]


def _overflow(plan: GoodsPlan) -> str:
    it = plan.market
    if it.on_overflow == "truncate":
        return f"0: the last in the public order go without; charged with a delta of {it.overflow_delta:.3g}"
    return f"{it.failure_probability:g}: then they are given all the same, from a stock"


def _predicted(plan: GoodsPlan) -> list[tuple[str, str]]:
    made = plan.prediction
    least, most = made.span
    return [("predicted welfare of made-up people, of the best that is possible",
             f"{made.share:.0%}; {least:.1%} to {most:.1%} in {made.runs} runs, each of another crowd"),
            ("  where goods are handed out without asking anybody", f"{made.baseline:.0%}"),
            *((f"  by {name}, which is not private", f"{share:.0%}") for name, share in made.baselines.items())]


def _methods(plan: GoodsPlan) -> list[Section]:
    """The methods side by side, where they can be tried out."""
    if not plan.others:
        return []
    made = plan.prediction
    rows: list[tuple[str, float, float | None, float | None]] = [
        (name, each.share, *each.span) for name, each in {"as planned": made, **plan.others}.items()]
    rows.append(("without asking anybody", made.baseline, None, None))
    rows += [(f"{name} (not private)", share, None, None) for name, share in made.baselines.items()]
    charging = ", charging prices" if plan.charges else ""
    return [Section(title="What made-up people would get", blocks=(Table(
        columns=("method", "share of the best that is possible", "in the worst run", "in the best run"),
        rows=tuple(rows),
        note=f"Runs with simulated noise on the same crowds of people with public tastes, who write what is asked for; "
             f"with what is recommended for each method{charging}. Real people may get more or less: no promise."),))]


def _right(plan: GoodsPlan, *, somebody: bool = False) -> str:
    """How often a guess is right at most from all that others see."""
    return guess_in_words(plan.market, plan.guarantees.privacy, Audience.OTHERS, thing="row", somebody=somebody)


def _warnings(plan: GoodsPlan) -> list[str]:
    found, it = list[str](), plan.market
    if it.epsilon > PROMISES_LITTLE:
        found.append(f"epsilon = {it.epsilon:g} promises little. {_right(plan, somebody=True).removesuffix('.')}")
    if it.delta * it.people >= 1:
        found.append(f"a delta of at least 1/{it.people:,} allows that somebody's row is told outright: choose it far "
                     "smaller")
    if it.on_overflow == "flag" and it.failure_probability > 1e-4:
        found.append(f"with probability {it.failure_probability:g} some good is given more often than there are "
                     "copies. Have a few more in stock, or a smaller failure_probability: to break the promise to "
                     "somebody who was given one tells others something that nothing was charged for")
    poor = [one for one in plan.prediction.crowds.values() if one.welfare < 1.1 * one.baseline]
    if poor:
        one = min(poor, key=lambda each: each.welfare - each.baseline)
        found.append(f"hardly more is predicted than where nobody is asked, or less: {one.welfare:.0%} beside "
                     f"{one.baseline:.0%} for the same made-up people. A larger epsilon or more copies of each good "
                     "help")
    for name, other in plan.others.items() if plan.charges else ():
        if other.share > plan.prediction.share + _CLEARLY:
            found.append(f"with prices charged, auction.method = {name!r} is predicted at {other.share:.0%}, and what "
                         f"is planned at {plan.prediction.share:.0%}")
    found += selling_warnings(plan)
    if plan.charges:
        found.append("prices are charged, and nothing here collects them: what somebody owes is in her share, as a "
                     "number on the scale from 0 to 1 and in points; what that is in money is the operator's to say "
                     "before, and to collect afterwards")
    return found


def _step(plan: GoodsPlan) -> str:
    step = "replaced by any other" if plan.market.neighbours == "replace" else "replaced by an empty one"
    return (f"Privacy: when one person's row is {step}, and everybody else compares all that they get and see. Whoever "
            "hands her good to her learns which it is.")


# ---- the offer


def offer_sections(plan: GoodsPlan) -> list[Section]:
    """The plan as a participant reads it."""
    it = plan.market
    delta = f", but for a probability of {it.delta:g}" if it.delta else ""
    shown = ", ".join(f"{name} ({copies:,})" for name, copies in
                      zip(plan.names[:_SHOWN], it.copies, strict=False))
    more = f", and {it.goods - _SHOWN:,} more" if it.goods > _SHOWN else ""
    other = "any other row" if it.neighbours == "replace" else "nothing"
    certified = (" Two blurred sums say how well everybody did together." if it.certificate_plan is not None else "")
    gets, lied = _truth(plan)
    return [
        Section(title="What there is", blocks=(Text((
            f"{shown}{more}. {it.people:,} people are invited, and each gets {plan.words.limit(it)}.",)),)),
        answer(Question.REPORT, as_sentence(plan.asked),
               "Who takes no part, or hands in what cannot be used, counts as somebody to whom nothing is worth "
               "anything.",
               "Your place in the public order is the rank of your id. Hand in your row before the campaign is run: it "
               "runs once."),
        Section(title="How goods are handed out", blocks=(Text(tuple(plan.words.rule(it))),)),
        answer(Question.SEES, "The operator sees your row. The public sees prices, and the noisy numbers that they "
                              f"follow from.{certified} You find your own good from these and your own row, on your "
                              "own device. Whoever hands you the good learns that it is yours; that you got it tells "
                              "something of what you wrote."),
        answer(Question.HIDES, f"All that everybody else gets and sees, put together{delta}, is at most "
                               f"{likelier(it.epsilon)} times as likely as if you "
                               f"had handed in {other}. {_right(plan)}"),
        answer(Question.GETS, f"Of the goods that there are, you get {plan.words.limit(it)}, by what everybody wrote.",
               gets),
        answer(Question.LIES, lied),
        answer(Question.TRUSTED, "The operator, with your row; nobody else."),
        answer(Question.WITHDRAWING, *withdrawing(
            absent="you count as somebody to whom nothing is worth anything, and nobody but the operator can tell")),
    ]


def _truth(plan: GoodsPlan) -> tuple[str, str]:
    """What is paid, and what a lie would gain."""
    it = plan.market
    if not plan.charges:
        return ("You pay nothing; prices only say who gets what.",
                "Nothing is promised of what could be gained by writing something else than what you would give.")
    said = lies(plan.guarantees,
                f"At epsilon = {it.epsilon:g} nothing is promised of what could be gained by writing something else.")
    return ("You pay the final price of your good, if you take it, and never more than it is worth to you by what you "
            "wrote. The operator collects it.", said)


# ---- after


def result_sections(plan: GoodsPlan, outcome: AnyOutcome) -> list[Section]:
    """The public result: prices, the certificate, how prices rose, and what is promised."""
    board: Any = outcome.billboard
    prices = np.asarray(board.prices)
    order = np.argsort(-prices, kind="stable")[:_SHOWN]
    unit = plan.scale.unit
    note = f"Prices are on the scale on which {plan.most} is 1: one above that is too high for everybody. "
    note += "" if unit == 1.0 else f"In points that is {unit:.6g}. "
    note += ("Who takes a good owes its price. " if plan.charges else "Nobody pays them. ")
    note += "How many copies of a good were taken, and by whom, is not public."
    if len(prices) > _SHOWN:
        note = f"The {_SHOWN} dearest of {len(prices):,} goods. {note}"
    return [
        Section(title="Prices", blocks=(
            Table(columns=("good", "price", "price in points", "copies"), note=note, rows=tuple(
                (plan.names[good], float(prices[good]), float(prices[good] * unit), plan.market.copies[good])
                for good in order.tolist())),
            *_pictures(plan, board, order[:_DRAWN].tolist()),
            Text((_certified(plan, outcome.certificate),)))),
        Section(title="What is promised, and to whom", blocks=(
            Text((f"Made by: {plan.words.describe(plan.market)}.", *stated(plan.guarantees), _step(plan))),
            *group_blocks(plan.market, plan.guarantees.privacy))),
    ]


def _certified(plan: GoodsPlan, certificate: Any) -> str:
    if not isinstance(certificate, WelfareCertificate):
        return "No certificate of welfare was measured."
    sure = f"with probability {1 - certificate.failure_probability:g}"
    if certificate.vacuous:
        return f"The certificate says nothing at these sizes: of the welfare nothing is known {sure}."
    return (f"Certified {sure}: everybody together got at least {certificate.ratio:.1%} of what any allocation could "
            f"have given them. Their goods are worth at least {certificate.welfare:,.1f} to them, and no allocation is "
            f"worth more than {certificate.optimum:,.1f}, in units of {plan.most}.")


def _pictures(plan: GoodsPlan, board: Any, goods: list[int]) -> list[Picture]:
    """Prices after each round, of the dearest goods."""
    paths = plan.words.paths(plan.market, board)
    rows = [(float(r), float(paths[r, good]), plan.names[good]) for good in goods for r in range(len(paths))]
    told = ", ".join(f"{plan.names[good]} {worth(float(paths[-1, good]))}" for good in goods)
    which = "The prices" if len(goods) == len(plan.names) else f"The {len(goods)} highest prices"
    return curves(rows, title="Prices by round", x="rounds played", y="price, of the most that can be written",
                  alt=f"{which} by round, which end at {told}.")


def _points(plan: GoodsPlan) -> str:
    """What a point is, for one who reads both units."""
    unit, lowest = plan.scale.unit, getattr(plan.scale, "lowest", 0.0)
    counted = f", counted from {lowest:g}" if lowest else ""
    return "" if unit == 1.0 else f", where 1 stands for {unit:.6g} points{counted}"


# ---- one person


def explain(
    plan: GoodsPlan, outcome: AnyOutcome, record: Any, index: int, stored: tuple[int, ...] | None
) -> list[Section]:
    """What one person gets, and why.

    Args:
        plan: as it was settled.
        outcome: of the run.
        record: as the market takes it; None where no usable one is there.
        index: her place.
        stored: the goods that were settled; None where only the public part is known.
    """
    share = plan.market.decode(record, index, outcome.billboard)
    goods, who = plan.goods_of(share), f"Participant {index + 1}"
    if stored is not None and stored != goods:
        return [Section(title=f"{who}: settled with {plan.called(stored)}", private=True, blocks=(Text((
            f"The row that the file holds today would get {plan.called(goods)}: it is not the one that was settled. "
            f"What counts is the settlement: {plan.called(stored)}.",)),))]
    if record is None:
        return [Section(title=f"{who}: no good", private=True, blocks=(Text((
            "No usable row arrived under this id: it counts as one to whom nothing is worth anything.",)),))]
    told = plan.words.story(plan.market, outcome.billboard, plan.names, plan.told(record), index,
                            plan.said)
    if goods:
        one = len(goods) == 1
        told.append(f"So {plan.called(goods)} {'is yours. It is' if one else 'are yours. Together they are'} worth "
                    f"{plan.said(plan.worth_of(record, goods))} to you by what you wrote, on the scale from 0 to 1"
                    f"{_points(plan)}.")
        if plan.charges:
            told.append(f"You owe its final price, {plan.said(float(share['price']))} on that scale, to the operator.")
    else:
        told.append("So you get no good.")
    told.append("All of this follows from your own row, your place and the public billboard. Nobody else can find it "
                "from what is public; whoever hands you the good learns which it is.")
    return [Section(title=f"{who}: {plan.called(goods)}", private=True, blocks=(Text(tuple(told)),))]
