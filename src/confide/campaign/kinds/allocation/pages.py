"""What a campaign that hands out goods shows: to its operator beforehand, to everybody after it, and to one person."""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.allocation.billboards import WelfareCertificate
from confide.campaign.kinds.allocation.crowds import Crowd, counts
from confide.campaign.kinds.allocation.plan import SHOWN, GoodsPlan, step
from confide.campaign.kinds.allocation.words import worth
from confide.charts import curves
from confide.contract.guarantees import stated
from confide.contract.outcome import Outcome, PublicOutcome, SimulatedOutcome
from confide.contract.presentation import Picture, Section, Table, Text
from confide.privacy.groups import group_blocks

__all__ = ["explain", "result_sections", "study_sections"]

AnyOutcome = Outcome | PublicOutcome | SimulatedOutcome
_DRAWN = 6  # goods of a picture


# ---- after


def result_sections(plan: GoodsPlan, outcome: AnyOutcome) -> list[Section]:
    """The public result: prices, the certificate, how prices rose, and what is promised."""
    board: Any = outcome.billboard
    prices = np.asarray(board.prices)
    order = np.argsort(-prices, kind="stable")[:SHOWN]
    unit = plan.scale.unit
    note = f"Prices are on the scale on which {plan.most} is 1: one above that is too high for everybody. "
    note += "" if unit == 1.0 else f"In points that is {unit:.6g}. "
    note += ("Who takes a good owes its price. " if plan.charges else "Nobody pays them. ")
    note += "How many copies of a good were taken, and by whom, is not public."
    if len(prices) > SHOWN:
        note = f"The {SHOWN} dearest of {len(prices):,} goods. {note}"
    return [
        Section(title="Prices", blocks=(
            Table(columns=("good", "price", "price in points", "copies"), note=note, rows=tuple(
                (plan.names[good], float(prices[good]), float(prices[good] * unit), plan.market.copies[good])
                for good in order.tolist())),
            *_pictures(plan, board, order[:_DRAWN].tolist()),
            Text((_certified(plan, outcome.certificate),)))),
        Section(title="What is promised, and to whom", blocks=(
            Text((f"Made by: {plan.words.describe(plan.market)}.", *stated(plan.guarantees), step(plan))),
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


_SHOWN = 20


def study_sections(plan: GoodsPlan, crowd: Crowd, outcome: SimulatedOutcome) -> list[Section]:
    """Welfare beside the best there is and rules of thumb, and copies that were given beyond the supply."""
    it, told = plan.market, outcome.diagnostics
    prices: np.ndarray = outcome.billboard.prices  # type: ignore[attr-defined]
    best, exact = crowd.best(it.copies, prices)
    given = counts(outcome.shares, it.goods)
    rows = [("this run (simulated noise)", told["welfare"]), *crowd.baselines(it.copies, seed=0),
            ("the best allocation (exact optimum)" if exact else "no allocation gives more (by weak duality)", best)]
    note = "In units of " + plan.most + "." + ("" if exact else " The best allocation may be below the bound.")
    order = np.argsort(-prices, kind="stable")[:_SHOWN]
    return [Section(title="Welfare, beside what there could have been", study=True, blocks=(
        Table(columns=("allocation", "welfare", "share of the best" if exact else "share of the bound"),
              rows=tuple((name, welfare, welfare / best if best else None) for name, welfare in rows), note=note),
        Table(columns=("good", "copies", "given"), rows=tuple(
            (plan.names[good], it.copies[good], int(given[good])) for good in order.tolist()),
            note=f"{int(given.sum()):,} copies are given, {int(told['over_allocated']):,} of them beyond the supply; "
                 "only the run itself hides anybody's values."),
    ))]
