"""The few shapes that confide draws, each a function from plain numbers to a `Picture`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from confide.charts.render import available
from confide.contract.presentation import Picture

__all__ = ["curves", "heat_map", "histogram", "intervals"]

_PALETTE = ["#1f6f8b", "#c8553d", "#6a994e", "#7b5ea7", "#b08900", "#5b6570"]  # distinct in common colour blindness
_WIDTH = 560


def _data(values: list[dict[str, Any]]) -> Any:
    """Rows for altair; JSON has no infinities, so what is not finite is left out of the drawing."""
    import altair as alt_

    rows = [{k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()} for row in values]
    return alt_.Data(values=rows)  # type: ignore[no-untyped-call]


def _legend(series: Sequence[str]) -> Any:
    """Below the chart, in columns that do not run wider than it; none for one series."""
    import altair as alt_

    if len(series) < 2:
        return None
    entry = 30 + 7 * max(map(len, series))  # pixels, roughly
    return alt_.Legend(orient="bottom", labelLimit=400, columns=max(1, _WIDTH // entry))


def _finish(chart: Any, alt: str, title: str) -> Picture:
    spec = (
        chart.properties(title=title)
        .configure_view(stroke=None)
        .configure_axis(labelFontSize=12, titleFontSize=12, grid=True, gridColor="#e6eaee")
        .configure_legend(labelFontSize=12, titleFontSize=12)
        .configure_title(fontSize=14, anchor="start")
        .to_dict(validate=False)
    )
    return Picture(spec=spec, alt=alt)


def intervals(
    rows: Sequence[tuple[str, str, float, float, float]], *, title: str, axis: str, alt: str, log: bool = False
) -> list[Picture]:
    """Dots with error bars.

    Args:
        rows: (label, series, value, low, high).
        title: of the chart.
        axis: name and unit of the values.
        alt: what it shows, in words.
        log: logarithmic axis, of values above 0.

    Returns:
        One picture; without the extra `[plots]` it has words only, so that a page can say what is missing.
    """
    if not available():
        return [Picture(spec={}, alt=alt)]
    import altair as alt_

    data: Any = _data([{"label": a, "series": s, "value": v, "low": lo, "high": hi} for a, s, v, lo, hi in rows])
    series = list(dict.fromkeys(row[1] for row in rows))
    color = alt_.Color("series:N", title=None, scale=alt_.Scale(domain=series, range=_PALETTE[: len(series)]),
                       legend=_legend(series))
    base = alt_.Chart(data).encode(
        y=alt_.Y("label:N", title=None, sort=None), yOffset=alt_.YOffset("series:N", sort=series)
    )
    low = alt_.X("low:Q", title=axis, scale=alt_.Scale(type="log")) if log else alt_.X("low:Q", title=axis)
    bars = base.mark_rule(strokeWidth=2).encode(x=low, x2="high:Q", color=color)
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(x="value:Q", color=color)
    chart = (bars + dots).properties(width=_WIDTH, height=alt_.Step(max(18, 42 // len(series))))
    return [_finish(chart, alt, title)]


def curves(
    rows: Sequence[tuple[float, float, str]], *, title: str, x: str, y: str, alt: str,
    marks: Sequence[tuple[float, float, str]] = (), log_x: bool = False, log_y: bool = False,
) -> list[Picture]:
    """Lines, with optional labelled points.

    Args:
        rows: (x, y, series).
        title: of the chart.
        x: name and unit of the horizontal axis.
        y: name and unit of the vertical axis.
        alt: what it shows, in words.
        marks: (x, y, label) points to name.
        log_x: logarithmic horizontal axis.
        log_y: logarithmic vertical axis.

    Returns:
        One picture; without the extra `[plots]` it has words only, so that a page can say what is missing.
    """
    if not available():
        return [Picture(spec={}, alt=alt)]
    import altair as alt_

    series = list(dict.fromkeys(row[2] for row in rows))
    data: Any = _data([{"x": a, "y": b, "series": s} for a, b, s in rows])

    def scale(log: bool) -> Any:
        return alt_.Scale(type="log") if log else alt_.Scale(zero=False, nice=True)

    axis_x = alt_.X("x:Q", title=x, scale=scale(log_x))
    axis_y = alt_.Y("y:Q", title=y, scale=scale(log_y))
    lines = alt_.Chart(data).mark_line(strokeWidth=2.5).encode(
        x=axis_x, y=axis_y,
        color=alt_.Color("series:N", title=None, scale=alt_.Scale(domain=series, range=_PALETTE[: len(series)]),
                         legend=_legend(series)),
    )
    layers = [lines]
    if marks:
        points: Any = _data([{"x": a, "y": b, "label": t} for a, b, t in marks])
        dots = alt_.Chart(points).mark_point(filled=True, size=90, color="#1c2024", opacity=1).encode(x="x:Q", y="y:Q")
        words = alt_.Chart(points).mark_text(align="left", dx=8, dy=-8, fontSize=12).encode(
            x="x:Q", y="y:Q", text="label:N"
        )
        layers += [dots, words]
    return [_finish(alt_.layer(*layers).properties(width=_WIDTH, height=280), alt, title)]


def heat_map(
    rows: Sequence[tuple[float, float, float]], *, step: float, title: str, x: str, y: str, value: str, alt: str,
    log: bool = False,
) -> list[Picture]:
    """Squares coloured by a value.

    Args:
        rows: (x, y, value), where (x, y) is the middle of a square whose edges are multiples of `step`.
        step: width and height of a square.
        title: of the chart.
        x: name and unit of the horizontal axis.
        y: name and unit of the vertical axis.
        value: name and unit of what the colour says.
        alt: what it shows, in words.
        log: logarithmic colours.

    Returns:
        One picture; without the extra `[plots]` it has words only, so that a page can say what is missing.
    """
    if not available():
        return [Picture(spec={}, alt=alt)]
    import altair as alt_

    data: Any = _data([{"x": a, "y": b, "value": v} for a, b, v in rows])
    squares = alt_.Bin(step=step)
    colours = alt_.Scale(scheme="viridis", type="log" if log else "linear")
    axis = alt_.Axis(grid=False, labelSeparation=12)
    chart = alt_.Chart(data).mark_rect(binSpacing=0).encode(
        x=alt_.X("x:Q", title=x, bin=squares, axis=axis), y=alt_.Y("y:Q", title=y, bin=squares, axis=axis),
        color=alt_.Color("value:Q", title=value, scale=colours))
    return [_finish(chart.properties(width=360, height=360), alt, title)]


def histogram(values: ArrayLike, *, bins: int, title: str, x: str, y: str, alt: str) -> list[Picture]:
    """Bars of how many values fall into bins of equal width, from the least value to the largest.

    Args:
        values: (n,) numbers.
        bins: how many.
        title: of the chart.
        x: name and unit of the values.
        y: what is counted.
        alt: what it shows, in words.

    Returns:
        One picture; without the extra `[plots]` it has words only, so that a page can say what is missing.
    """
    if not available():
        return [Picture(spec={}, alt=alt)]
    import altair as alt_

    counts, edges = np.histogram(np.asarray(values, dtype=np.float64), bins=bins)
    data: Any = _data([{"low": float(low), "high": float(high), "count": int(count)}
                       for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)])
    bars = alt_.Chart(data).mark_bar(color=_PALETTE[0], stroke="white", strokeWidth=0.5).encode(
        x=alt_.X("low:Q", title=x, scale=alt_.Scale(zero=False, nice=True)), x2="high:Q", y=alt_.Y("count:Q", title=y),
        y2=alt_.datum(0))
    return [_finish(bars.properties(width=_WIDTH, height=280), alt, title)]
