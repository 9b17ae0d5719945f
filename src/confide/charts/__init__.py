"""One way to draw: Vega-Lite specifications, which need nothing, and pictures by vl-convert, the extra `[plots]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.charts.drawn import fault
    from confide.charts.render import DRAWS, available, to_png, to_svg
    from confide.charts.shapes import curves, heat_map, histogram, intervals


__all__ = ["DRAWS", "available", "curves", "fault", "heat_map", "histogram", "intervals", "to_png", "to_svg"]

__getattr__, __dir__ = doors(
    __name__,
    {"drawn": ("fault",), "render": ("DRAWS", "available", "to_png", "to_svg"),
     "shapes": ("curves", "heat_map", "histogram", "intervals")},
)
