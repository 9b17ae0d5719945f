"""Charts as Vega-Lite specifications, which need no library, and their drawing as pictures by vl-convert, the extra
`[plots]`.
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {"drawn": ("fault",), "render": ("DRAWS", "available", "to_png", "to_svg"),
     "shapes": ("curves", "heat_map", "histogram", "intervals")},
)
