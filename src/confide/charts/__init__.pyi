# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.charts.drawn import fault as fault
from confide.charts.render import DRAWS as DRAWS
from confide.charts.render import available as available
from confide.charts.render import to_png as to_png
from confide.charts.render import to_svg as to_svg
from confide.charts.shapes import curves as curves
from confide.charts.shapes import heat_map as heat_map
from confide.charts.shapes import histogram as histogram
from confide.charts.shapes import intervals as intervals

__all__ = [
    "DRAWS", "available", "curves", "fault", "heat_map", "histogram", "intervals", "to_png", "to_svg",
]
