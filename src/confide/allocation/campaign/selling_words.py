"""What a plan that sells goods says of single lies, second identities and agreements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide.allocation.campaign.predicted import made_up
from confide.allocation.incentives import mean_shift, prices_loss
from confide.allocation.planning.lone_lies import LoneLies, crowd_size, lone_lies
from confide.allocation.pmatch import PMatch
from confide.allocation.sinkhorn_match import SinkhornMatch
from confide.contract.guarantees import Truthfulness
from confide.contract.presentation import Section, Table, Text
from confide.contract.words import percent
from confide.privacy.groups import SIZES, group_loss

if TYPE_CHECKING:
    from confide.allocation.campaign.plan import GoodsPlan

__all__ = ["FEW", "group_gain", "searched", "selling_section", "selling_warnings"]

FEW = 0.01
"""Where a smaller share of the invited people decides who gets a good, the plan warns."""

_CLEAR = 2.0
"""Standard errors from 0 from which a measured gain is called one."""


def searched(plan: GoodsPlan) -> LoneLies:
    """What single people gain, on a made-up crowd.

    Args:
        plan: that charges prices.
    """
    small = crowd_size(plan.market)
    return lone_lies(small, made_up(small.people, small.goods, plan.scale, seed=1))


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


def selling_section(plan: GoodsPlan, found: LoneLies) -> Section:
    """The fewest people who gain, and how much.

    Args:
        plan: that charges prices.
        found: of the search.
    """
    told = [f"Searched on {found.people:,} made-up people, and measured in {found.runs} other runs with simulated "
            "noise; +- is one standard error. Values are on the scale from 0 to 1.",
            f"Truth leaves {percent(found.left)} of them with nothing in every run. "
            + (f"One of them, alone, gains {found.gain:.3f} +- {found.gain_error:.3f} by asking for one good only. No "
               "promise of truth speaks of them." if found.gain > _CLEAR * found.gain_error else
               "No gain from asking for one good only was found for one of them.")]
    told.append(
        f"One second id, with the same row, gains its owner {found.second:.3f} +- {found.second_error:.3f} on average."
        if found.second > _CLEAR * found.second_error else
        f"One second id, with the same row, gains its owner nothing on average: {found.second:.3f} +- "
        f"{found.second_error:.3f}, since she pays for a second good that she does not need.")
    least = min(plan.market.copies)
    told.append(f"{least:,} people who ask for the scarcest good alone ({percent(least / plan.market.people, 2)} of "
                "the invited) can take all of its copies.")
    rows = tuple((size, gain) for size in (1, *SIZES) if (gain := group_gain(plan, size)) is not None)
    bound = [Table(columns=("people who report something else together", "each gains at most"), rows=rows,
                   note="Of people who would have ended satisfied, by what the prices' own loss says of a group.")]
    return Section(title="Second identities and agreements", blocks=(Text(tuple(told)), *(bound if rows else ())))


def selling_warnings(plan: GoodsPlan, found: LoneLies) -> list[str]:
    """What the operator should know before anybody is asked.

    Args:
        plan: that charges prices.
        found: of the search.
    """
    said, it = list[str](), plan.market
    if found.gain > _CLEAR * found.gain_error:
        said.append(f"one person alone can gain: somebody whom truth always leaves with nothing gains {found.gain:.2f} "
                    f"+- {found.gain_error:.2f} of 1 by asking for one good only, on made-up people. The promise of "
                    "truth does not cover them")
    if min(it.copies) < FEW * it.people:
        said.append(f"{min(it.copies):,} people of {it.people:,}, fewer than {FEW:.0%}, can take all copies of the "
                    "scarcest good")
    return said
