"""What a campaign that hands out goods asks of people, in words."""

from __future__ import annotations

from confide.allocation.campaign.words import worth
from confide.allocation.reading.scales import Points, Ranks, Scale

__all__ = ["asked_for_goods", "asked_for_order"]


def asked_for_goods(scale: Scale) -> str:
    """What is written of each good.

    Args:
        scale: the public rule.
    """
    if isinstance(scale, Points):
        return (f"for each good a number from {scale.lowest:g} to {scale.highest:g}; what is left out is worth "
                f"nothing, as {scale.lowest:g} is")
    return asked_for_order(scale.points if isinstance(scale, Ranks) else (1.0,), 1)


def asked_for_order(given: tuple[float, ...], parts: int) -> str:
    """What an order is worth.

    Args:
        given: points of the first place, and so on.
        parts: by how many the first place is divided.
    """
    points = ", ".join(worth(each / given[0] / parts) for each in given[:6])
    more = ", ..." if len(given) > 6 else ""
    return f"an order of the goods, ties allowed; places are worth {points}{more}, what is left out nothing"
