"""What a plan that hands out goods, or sells them, says of single lies, second identities and agreements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide.allocation.incentives import mean_shift, prices_loss
from confide.allocation.planning.lone_lies import LoneLies, crowd_size, lone_lies
from confide.allocation.planning.second_ids import CROWDS
from confide.allocation.pmatch import PMatch
from confide.allocation.sinkhorn_match import SinkhornMatch
from confide.campaign.kinds.allocation.predicted import made_up
from confide.contract.guarantees import Truthfulness
from confide.contract.presentation import Section, Table, Text
from confide.contract.words import few, percent
from confide.privacy.groups import SIZES, group_loss

if TYPE_CHECKING:
    from confide.campaign.kinds.allocation.plan import GoodsPlan

__all__ = ["group_gain", "searched", "selling_section", "selling_warnings"]

_CLEAR = 2.0
"""Standard errors from 0 from which a measured gain is called one."""


def searched(plan: GoodsPlan) -> LoneLies:
    """What single people gain, on made-up crowds.

    Args:
        plan: that hands one good to each.
    """
    small = crowd_size(plan.market)
    return lone_lies(small, [made_up(small.people, small.goods, plan.scale, seed) for seed in range(1, CROWDS + 1)])


def group_gain(plan: GoodsPlan, size: int) -> float | None:
    """What each of so many people gains at most who report something else together, and would have ended satisfied.

    Args:
        plan: that charges prices.
        size: how many.

    Returns:
        None where nothing is promised of one.
    """
    it = plan.market
    promised = [each for each in plan.guarantees.of(Truthfulness) if not each.vacuous]
    if not promised or not isinstance(it, PMatch | SinkhornMatch):
        return None
    loss = it.prices_loss if isinstance(it, SinkhornMatch) else prices_loss(it)
    return promised[0].gain - mean_shift(loss) + mean_shift(group_loss(loss, size))


def selling_section(plan: GoodsPlan) -> Section:
    """The fewest people who gain, and how much.

    Args:
        plan: that hands out goods.
    """
    second, it = plan.second, plan.market
    told = [f"Measured on {second.crowds} made-up crowds of {second.people:,} people each, in runs with simulated "
            "noise; +- is one standard error, between crowds. Values are on the scale from 0 to 1.",
            *_alone(plan), *_second(plan),
            "A second id moves what is published by no more than the promise of privacy says of one row."]
    least = min(it.copies)
    told.append(f"{least:,} people who ask for the scarcest good alone ({percent(least / it.people, 2)} of the "
                "invited) can take all of its copies.")
    told.append("The operator has to see to it that nobody has two ids.")
    rows = tuple((size, gain) for size in (1, *SIZES) if (gain := group_gain(plan, size)) is not None)
    bound = [Table(columns=("people who report something else together", "each gains at most"), rows=rows,
                   note="Of people who would have ended satisfied, by what the prices' own loss says of a group.")]
    return Section(title="Second identities and agreements", blocks=(Text(tuple(told)), *(bound if rows else ())))


def _alone(plan: GoodsPlan) -> list[str]:
    """What one person gains with one id; the smallest group there can be."""
    free = [] if plan.charges else ["No prices are charged, so that nothing is promised of what a lie gains."]
    if plan.lone is None:
        return [*free, "What a lie of one person gains was not searched for."]
    found = plan.lone
    return [*free, f"Truth leaves {percent(found.left)} of them with nothing in every run. "
            + (f"One of them, alone, gains {found.gain:.3f} +- {found.gain_error:.3f} by asking for one good only. No "
               "promise of truth speaks of them." if found.gain > _CLEAR * found.gain_error else
               "No gain from asking for one good only was found for one of them.")]


def _second(plan: GoodsPlan) -> list[str]:
    """What two ids of one person gain, to an owner who uses the better good, and to one who can use all."""
    found = plan.second
    gain, alone = f"{found.gain:.3f} +- {found.error:.3f}", f"{found.alone:.3f} +- {found.alone_error:.3f}"
    if found.gain > _CLEAR * found.error:
        said = f"With 2 ids of one person, with the same row, they gain {gain} more than with one, on average."
    elif plan.charges:
        said = (f"One second id, with the same row, gains its owner nothing on average: {gain}, since they pay for a "
                "second good that they do not need.")
    else:
        said = f"One second id, with the same row, gains its owner nothing that was found on average: {gain}."
    return [said, f"An owner who can use, or pass on, all that both ids get gains {alone}. In "
                  f"{percent(found.both)} of cases both ids get something, and somebody else goes without it."]


def selling_warnings(plan: GoodsPlan) -> list[str]:
    """What the operator should know before anybody is asked.

    Args:
        plan: that hands out goods.
    """
    said, it, found = list[str](), plan.market, plan.lone
    if plan.charges and found is not None and found.gain > _CLEAR * found.gain_error:
        said.append(f"one person alone can gain: somebody whom truth always leaves with nothing gains {found.gain:.2f} "
                    f"+- {found.gain_error:.2f} of 1 by asking for one good only, on made-up people. The promise of "
                    "truth does not cover them")
    if (scarce := few(min(it.copies), it.people)) is not None:
        said.append(f"{scarce}, can take all copies of the scarcest good")
    return said
