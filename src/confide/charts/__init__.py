"""Charts as Vega-Lite specifications, and drawings of these charts. A specification needs no library; a drawing needs
the library vl-convert from the extra `[plots]`.
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {"drawn": ("fault",), "render": ("DRAWS", "available", "to_png", "to_svg"),
     "shapes": ("curves", "heat_map", "histogram", "intervals")},
)
