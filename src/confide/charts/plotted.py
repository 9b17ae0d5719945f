"""The data in the specification of a chart. The specification is built again from these data, to prove that it holds
nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from confide.charts.shapes import curves, intervals

__all__ = ["Curves", "Intervals", "plotted"]


@dataclass(frozen=True, kw_only=True)
class Curves:
    """The data of a chart of lines with labelled points.

    Args:
        title: title of the picture.
        x: title of the horizontal axis.
        y: title of the vertical axis.
        rows: points (x, y, series), with None for a missing number.
        marks: labelled points (x, y, label).
        log_x: whether the horizontal axis is logarithmic.
        log_y: whether the vertical axis is logarithmic.
        zero: whether the vertical axis shows 0.
        dashes: dash pattern of each series, as lengths; empty for solid lines.
        colours: mapping from series to colour, in the order of the legend.
    """

    title: str
    x: str
    y: str
    rows: Sequence[tuple[float | None, float | None, str]]
    marks: Sequence[tuple[float | None, float | None, str]]
    log_x: bool
    log_y: bool
    zero: bool
    dashes: Sequence[Sequence[int]]
    colours: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Intervals:
    """The data of a chart of dots with error bars.

    Args:
        title: title of the picture.
        axis: title of the horizontal axis.
        rows: dots (label, series, value, low, high).
        log: whether the horizontal axis is logarithmic.
        step: vertical distance from one series to the next, in pixels.
        colours: mapping from series to colour, in the order of the legend.
    """

    title: str
    axis: str
    rows: Sequence[tuple[str, str, float, float, float]]
    log: bool
    step: int
    colours: Mapping[str, str]


def plotted(spec: Mapping[str, Any]) -> Curves | Intervals | None:
    """The data that a specification plots. The result is None unless `curves` or `intervals` made the specification.
    The results of `distinguished`, with dashes and with a vertical axis from 0, are recognised too.
    """
    try:
        return _curves(spec) if spec["layer"][0]["mark"]["type"] == "line" else _intervals(spec)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        return None


def _curves(spec: Mapping[str, Any]) -> Curves | None:
    plain: Any = deepcopy(dict(spec))
    line, dots = plain["layer"][0], plain["layer"][1:]
    coding = line["encoding"]
    dashed = coding.pop("strokeDash", None)
    zero = "zero" in coding["y"]["scale"] and coding["y"]["scale"]["zero"] is True
    if zero:
        coding["y"]["scale"]["zero"] = False
    values = (line if dots else plain)["data"]["values"]
    rows = [(row["x"], row["y"], row["series"]) for row in values]
    marks = [(row["x"], row["y"], row["label"]) for row in dots[0]["data"]["values"]] if dots else []
    log_x, log_y = ("type" in coding[key]["scale"] for key in ("x", "y"))
    (again,) = curves(rows, title=plain["title"], x=coding["x"]["title"], y=coding["y"]["title"], alt="", marks=marks,
                      log_x=log_x, log_y=log_y)
    scale = coding["color"]["scale"]
    dashes: list[list[int]] = []
    if dashed is not None:
        dashes = dashed["scale"]["range"]
        reported: dict[str, Any] = {"field": "series", "type": "nominal", "title": None,
                                    "legend": coding["color"]["legend"],
                                    "scale": {"domain": scale["domain"], "range": dashes}}
        if dashed != reported or not all(type(each) is int and each >= 0 for dash in dashes for each in dash):
            return None
    if again.spec != plain or (dashes and len(dashes) != len(scale["domain"])) or not _are_texts(
        [plain["title"], coding["x"]["title"], coding["y"]["title"], *(row[2] for row in (*rows, *marks))]
    ):
        return None
    return Curves(title=plain["title"], x=coding["x"]["title"], y=coding["y"]["title"], rows=rows, marks=marks,
                  log_x=log_x, log_y=log_y, zero=zero, dashes=dashes, colours=_colours(scale))


def _intervals(spec: Mapping[str, Any]) -> Intervals | None:
    coding = spec["layer"][0]["encoding"]
    rows = [(row["label"], row["series"], row["value"], row["low"], row["high"]) for row in spec["data"]["values"]]
    log = "scale" in coding["x"]
    (again,) = intervals(rows, title=spec["title"], axis=coding["x"]["title"], alt="", log=log)
    texts = [spec["title"], coding["x"]["title"], *(text for row in rows for text in row[:2])]
    if again.spec != spec or not _are_texts(texts):
        return None
    return Intervals(title=spec["title"], axis=coding["x"]["title"], rows=rows, log=log,
                     step=spec["height"]["step"], colours=_colours(coding["color"]["scale"]))


def _colours(scale: Mapping[str, Any]) -> dict[str, str]:
    """Mapping from series to colour. The colours repeat if there are more series than colours."""
    return {name: scale["range"][place % len(scale["range"])] for place, name in enumerate(scale["domain"])}


def _are_texts(found: Sequence[Any]) -> bool:
    return all(isinstance(each, str) for each in found)
