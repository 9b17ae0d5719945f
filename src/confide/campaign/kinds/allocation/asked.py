"""What a campaign that hands out goods asks of people, in words."""

from __future__ import annotations

from collections.abc import Sequence

from confide.allocation.reading.scales import Points, Ranks, Scale
from confide.campaign.kinds.allocation.words import worth
from confide.contract.asked import Field
from confide.people.column_fields import MOVED

__all__ = ["asked_for_goods", "asked_for_order", "fields_of_goods"]


def fields_of_goods(labels: Sequence[tuple[str, str]], scale: Scale, together: str = "") -> list[Field]:
    """A number for each good, or for how many; what is left empty is worth nothing.

    Args:
        labels: (column, what is asked) of each.
        scale: the public rule.
        together: a rule on the whole row, as a sentence; it stands in the last field's note.
    """
    found = []
    for place, (column, label) in enumerate(labels, 1):
        rule = together if place == len(labels) else ""
        if isinstance(scale, Points):
            ends = f"From {scale.lowest:.12g} to {scale.highest:.12g}. Left empty, it is worth nothing."
            clip = scale.out_of_bounds == "clip"
            found.append(Field(
                column=column, label=label, form="number", required=False, lowest=None if clip else scale.lowest,
                highest=None if clip else scale.highest,
                note=" ".join(filter(None, (ends, MOVED if clip else "", rule)))))
        else:
            note = "Its place: 1 for the best, ties allowed. Left empty, it is worth nothing."
            found.append(Field(column=column, label=label, form="number", required=False, lowest=1.0, whole=True,
                               note=" ".join(filter(None, (note, rule)))))
    return found


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
