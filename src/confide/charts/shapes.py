"""The few types of charts that confide draws, each made by a function from plain numbers to a `Picture`.

A picture is a Vega-Lite specification, which this module writes without any library. So a picture with its data can be
made wherever confide runs. Only drawing it needs the extra `[plots]`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from confide.charts.letters import room_of
from confide.contract.presentation import Picture

__all__ = ["curves", "distinguished", "heat_map", "histogram", "intervals"]

_PALETTE = ["#1f6f8b", "#c8553d", "#6a994e", "#7b5ea7", "#b08900", "#5b6570"]  # distinct in common colour blindness
_WIDTH, _HEIGHT = 560, 280
_SYMBOL = 16  # pixels from a legend's symbol to its name
_EDGE, _LEFT = 5, 18  # pixels around everything; at the left, numbers may be wider than they were measured
_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"
_WHOLE = 0  # a limit of labels: none
_TICKS = {"labelSeparation": 16, "tickCount": 7}  # few numbers below a picture, and far enough from each other
_FEW_TICKS = {"labelSeparation": 16}  # of a logarithmic axis, which has its own
_ABOVE = {"titleAlign": "left", "titleAngle": 0, "titleAnchor": "end", "titleBaseline": "bottom", "titleX": 0,
          "titleY": -10}  # the vertical axis has its title above it, where it can be read, and has room
_FREE = {"nice": True, "zero": False}
_LOG = {"type": "log"}
_CONFIG = {
    "view": {"continuousWidth": 300, "continuousHeight": 300, "stroke": None},
    "axis": {"grid": True, "gridColor": "#e6eaee", "labelFontSize": 12, "titleFontSize": 12},
    "legend": {"labelFontSize": 12, "titleFontSize": 12},
    "title": {"anchor": "start", "fontSize": 14},
}


def _data(values: list[dict[str, Any]]) -> dict[str, Any]:
    """Data rows of a chart's specification. JSON has no infinities, so a number that is not finite is left out of the
    drawing.
    """
    return {"values": [{k: _plain(v) for k, v in row.items()} for row in values]}


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _colour(series: Sequence[str]) -> dict[str, Any]:
    """A colour for each series, and a legend below the chart that is no wider than the chart. A single series has no
    legend.
    """
    legend = None
    if len(series) > 1:
        name = max(map(room_of, series))
        apart = 10 + name // 4  # what the widest font takes beyond the measured one
        legend = {"columnPadding": apart, "columns": max(1, (_WIDTH + apart) // (_SYMBOL + name + apart)),
                  "labelLimit": _WHOLE, "orient": "bottom"}
    return {"field": "series", "legend": legend, "scale": {"domain": list(series), "range": _PALETTE[: len(series)]},
            "title": None, "type": "nominal"}


def _axis(field: str, title: str | None = None, **more: Any) -> dict[str, Any]:
    """A numeric channel of a chart. The keys are sorted by name, since the drawing software numbers its parts in the
    order of the keys.
    """
    named = {} if title is None else {"title": title}
    return dict(sorted({"field": field, **more, **named, "type": "quantitative"}.items()))


def _finish(
    chart: dict[str, Any], alt: str, title: str, *, height: int | dict[str, int] = _HEIGHT, width: int = _WIDTH,
    beyond: Sequence[int] = (),
) -> Picture:
    """The complete specification of a chart, as a picture.

    Args:
        chart: marks and data of the chart.
        alt: description, as text.
        title: title of the chart.
        height: height of the plot in pixels, or the step from one band to the next.
        width: width of the plot, in pixels.
        beyond: widths, in pixels, of texts that begin within the plot and may end beyond it.
    """
    titled = room_of(title, 14, bold=True)
    right = max(0, *(min(each, most) for each, most in ((titled - width, titled // 4), *(
        (each // 4, each) for each in beyond))))
    padding = {"bottom": _EDGE, "left": _LEFT, "right": _EDGE + right, "top": _EDGE}
    spec = {"config": deepcopy(_CONFIG), **chart, "height": height, "padding": padding, "title": title, "width": width,
            "$schema": _SCHEMA}
    return Picture(spec=spec, alt=alt)


def intervals(
    rows: Sequence[tuple[str, str, float, float, float]], *, title: str, axis: str, alt: str, log: bool = False
) -> list[Picture]:
    """A chart of dots with error bars.

    Args:
        rows: one tuple (label, series, value, low, high) for each dot, where `low` and `high` are the ends of the error
            bar.
        title: title of the chart.
        axis: name and unit of the values.
        alt: description of the chart, as text.
        log: whether the axis is logarithmic. On a logarithmic axis all values must be above 0.

    Returns:
        One picture.
    """
    series = list(dict.fromkeys(row[1] for row in rows))
    wide = 7 + max((room_of(row[0]) for row in rows), default=0)
    common = {"color": _colour(series), "y": {
        "axis": {"labelLimit": _WHOLE, "minExtent": wide}, "field": "label", "sort": None, "title": None,
        "type": "nominal"}, "yOffset": {"field": "series", "sort": series, "type": "nominal"}}
    low = _axis("low", axis, axis=_FEW_TICKS if log else _TICKS, **({"scale": _LOG} if log else {}))
    bars = {"mark": {"type": "rule", "strokeWidth": 2}, "encoding": {**common, "x": low, "x2": {"field": "high"}}}
    dots = {"mark": {"type": "point", "filled": True, "opacity": 1, "size": 70},
            "encoding": {**common, "x": _axis("value")}}
    data = _data([{"label": a, "series": s, "value": v, "low": lo, "high": hi} for a, s, v, lo, hi in rows])
    step = max(18, 42 // max(1, len(series)))
    return [_finish({"layer": [bars, dots], "data": data}, alt, title, height={"step": step})]


def curves(
    rows: Sequence[tuple[float, float, str]], *, title: str, x: str, y: str, alt: str,
    marks: Sequence[tuple[float, float, str]] = (), log_x: bool = False, log_y: bool = False,
) -> list[Picture]:
    """A chart of lines, with optional labelled points.

    Args:
        rows: one tuple (x, y, series) for each point; each series is one line.
        title: title of the chart.
        x: name and unit of the horizontal axis.
        y: name and unit of the vertical axis.
        alt: description of the chart, as text.
        marks: one tuple (x, y, label) for each labelled point.
        log_x: whether the horizontal axis is logarithmic.
        log_y: whether the vertical axis is logarithmic.

    Returns:
        One picture.
    """
    series = list(dict.fromkeys(row[2] for row in rows))
    data = _data([{"x": a, "y": b, "series": s} for a, b, s in rows])
    lines: dict[str, Any] = {"mark": {"type": "line", "strokeWidth": 2.5}, "encoding": {
        "color": _colour(series),
        "x": _axis("x", x, axis=_FEW_TICKS if log_x else _TICKS, scale=_LOG if log_x else _FREE),
        "y": _axis("y", y, axis=_ABOVE, scale=_LOG if log_y else _FREE)}}
    if not marks:
        return [_finish({"layer": [lines], "data": data}, alt, title)]
    points = _data([{"x": a, "y": b, "label": t} for a, b, t in marks])
    place = {"x": _axis("x"), "y": _axis("y")}
    dots = {"data": points, "encoding": place,
            "mark": {"type": "point", "color": "#1c2024", "filled": True, "opacity": 1, "size": 90}}
    words = {"data": points, "encoding": {"text": {"field": "label", "type": "nominal"}, **place},
             "mark": {"type": "text", "align": "left", "dx": 8, "dy": -8, "fontSize": 12}}
    beyond = [room_of(mark[2]) for mark in marks]
    return [_finish({"layer": [{"data": data, **lines}, dots, words]}, alt, title, beyond=beyond)]


def heat_map(
    rows: Sequence[tuple[float, float, float]], *, step: float, title: str, x: str, y: str, value: str, alt: str,
    log: bool = False,
) -> list[Picture]:
    """A chart of squares coloured by a value.

    Args:
        rows: triples (x, y, value), where (x, y) is the middle of a square. The edges of all squares lie at multiples
            of `step`.
        step: width and height of a square, in units of x and of y.
        title: title of the chart.
        x: name and unit of the horizontal axis.
        y: name and unit of the vertical axis.
        value: name and unit of the coloured value.
        alt: description of the chart, as text.
        log: whether the scale of the colours is logarithmic.

    Returns:
        One picture.
    """
    square: dict[str, Any] = {"axis": {"grid": False, "labelSeparation": 16}, "bin": {"step": step}}
    colours = {"scheme": "viridis", "type": "log" if log else "linear"}
    chart: dict[str, Any] = {
        "data": _data([{"x": a, "y": b, "value": v} for a, b, v in rows]),
        "mark": {"type": "rect", "binSpacing": 0},
        "encoding": {"color": _axis("value", value, scale=colours), "x": _axis("x", x, **square),
                     "y": _axis("y", y, **square)}}
    return [_finish(chart, alt, title, height=360, width=360, beyond=[room_of("1,000,000,000")])]


def histogram(values: ArrayLike, *, bins: int, title: str, x: str, y: str, alt: str) -> list[Picture]:
    """A chart of bars. Each bar shows the number of values in one bin; the bins have equal width and reach from the
    least value to the largest.

    Args:
        values: the numbers, shape (n,).
        bins: number of bins, at least 1.
        title: title of the chart.
        x: name and unit of the values.
        y: title of the vertical axis: the plural noun for what is counted.
        alt: description of the chart, as text.

    Returns:
        One picture.
    """
    counts, edges = np.histogram(np.asarray(values, dtype=np.float64), bins=bins)
    rows = [{"low": float(low), "high": float(high), "count": int(count)}
            for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)]
    chart: dict[str, Any] = {
        "data": _data(rows),
        "mark": {"type": "bar", "color": _PALETTE[0], "stroke": "white", "strokeWidth": 0.5},
        "encoding": {"x": _axis("low", x, axis=_TICKS, scale=_FREE), "x2": {"field": "high"},
                     "y": _axis("count", y, axis=_ABOVE),
                     "y2": {"datum": 0}}}
    return [_finish(chart, alt, title)]


_DASHES = ([1, 0], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2], [1, 2])


def distinguished(pictures: list[Picture]) -> list[Picture]:
    """The same charts of lines, with a different dash pattern for each series. A linear vertical axis begins at 0.

    Args:
        pictures: pictures of `confide.charts.curves`. Pictures without a specification stay unchanged.
    """
    return [Picture(spec=_dashed(each.spec), alt=each.alt) for each in pictures]


def _dashed(spec: Any) -> Any:
    found = copy.deepcopy(dict(spec))
    for layer in found.get("layer", ()):
        encoding = layer.get("encoding", {})
        color = encoding.get("color")
        if color is None:
            continue
        names = color["scale"]["domain"]
        encoding["strokeDash"] = {"field": color["field"], "type": "nominal", "title": None,
                                  "legend": copy.deepcopy(color.get("legend")), "scale": {
            "domain": names, "range": [list(_DASHES[place % len(_DASHES)]) for place in range(len(names))]}}
        if encoding["y"].get("scale", {}).get("type") != "log":
            encoding["y"]["scale"] = {"zero": True, "nice": True}
    return found
