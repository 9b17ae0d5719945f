"""Paying for a draw on the meter of the run whose noise it is."""

from __future__ import annotations

from confide.privacy.charge import DrawCost
from confide.privacy.noise.arguments import Stream
from confide.privacy.noise.base import Noise, as_noise

__all__ = ["pay"]


def pay(
    noise: Noise, cost: DrawCost, *, stream: Stream, line: str | None = None, count: int = 1, group: str | None = None
) -> Noise:
    """Pay for draws of one stream, and give back the noise to draw them from.

    Args:
        noise: of the run.
        cost: of one draw.
        stream: the name under which they are drawn next.
        line: of the charge that pays; None where the charge has one line only.
        count: how many draws cost so much each.
        group: of people whose records they are about, on a line of parallel groups.

    Raises:
        InvalidInput: no noise, or no such line.
        Overspent: the line does not pay for it. Nothing was drawn.
    """
    source = as_noise(noise)
    meter = source.meter
    if meter is None:
        return source
    if cost.pure == 0:  # the same law, whatever the records are
        meter.public(stream)
    else:
        meter.spend(line, cost, stream, count=count, group=group)
    return source
