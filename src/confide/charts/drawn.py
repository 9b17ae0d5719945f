"""Check of a drawing: the expected content, mark by mark, is derived from the specification alone.

vl-convert writes every drawing in one form: axes, marks, legend and title. The whole drawing follows from the
specification, except for the space that letters take, which depends on fonts. A drawing from an untrusted source must
be checked even on a machine with other fonts or without drawing software. Therefore confide derives the expected
content itself.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from confide.charts.axes import SPACING, Axis, axis
from confide.charts.markup import Element, Unreadable, elements
from confide.charts.matching import NUMBER, Chosen, Expected, Free, Kept, Label, Near, Said, Value, compare
from confide.charts.plotted import Curves, Intervals, plotted
from confide.charts.room import check_room, fitting

__all__ = ["fault"]

_TAGS = ("svg", "g", "path", "rect", "line", "text")
_WIDTH, _HEIGHT = 560, 280
_BAND = 0.2  # of a band's step is between bands
_ROUNDED, _DOWN = 0.51, 1.01  # pixels: ticks of numbers stand on the nearest one, those of bands on the one before
_TEXT, _TITLE = 12, 14  # sizes of fonts
_BELOW = 31  # from an axis down to its title
_FAR = 80  # pixels from one tick of a horizontal axis to the next, about; `SPACING` in confide 0.1.0
_ABOVE = -13  # from the top of a vertical axis to its title; in confide 0.1.0 it stood at its left
_LABEL, _NAME = 180, 400  # pixels that confide 0.1.0 gave to the label of a row and of a series
_LISTED, _MOST = 5, 7  # values that screen readers hear of a longer list, and of one that is said whole
_INK = "#1c2024"


def fault(spec: Mapping[str, Any], drawing: str, *, first: bool = False, retitled: bool = False) -> str:
    """The fault of a drawing, as text. The text is empty if the drawing shows the content of its specification and
    nothing else.

    Args:
        spec: specification of a picture that `curves` or `intervals` made.
        drawing: SVG text of the drawing.
        first: whether confide 0.1.0 made the drawing. Version 0.1.0 cut off long labels.
        retitled: whether the titles of the picture and of the axes may have other words than the specification. The
            numbers in the titles must always be those of the specification.
    """
    return _fault(json.dumps(spec), drawing, first, retitled)


@lru_cache(maxsize=64)  # a settlement and its verifier ask of one picture several times
def _fault(spec: str, drawing: str, first: bool, retitled: bool) -> str:
    it = plotted(json.loads(spec))
    if it is None:
        return "its shape has no marks to compare with numbers"
    try:
        parts = elements(drawing, _TAGS)
        if len(parts) != 1 or isinstance(parts[0], str):
            raise Unreadable("it is not a single drawing")
        if retitled:
            it = _retitled(it, parts[0])
        kept, height = _compared(it, parts[0], first)
        check_room(it, kept, _WIDTH, height, first=first)
    except Unreadable as problem:
        return str(problem)
    return ""


def _retitled(it: Curves | Intervals, then: Element) -> Curves | Intervals:
    """The same plot with the titles that a drawing has.

    Raises:
        Unreadable: a title of the drawing has the words of the expected title, but other numbers.
    """
    known = [it.title, it.axis] if isinstance(it, Intervals) else [it.title, it.x, it.y]
    for said in (*_texts(then, "mark-text role-axis-title"), *_texts(then, "mark-text role-title-text")):
        if said not in known and _worded(said) in map(_worded, known):
            raise Unreadable(f"the title {said[:60]!r} has other numbers")
    axes = list(_texts(then, "mark-text role-axis-title"))
    title = next(_texts(then, "mark-text role-title-text"), "")
    if isinstance(it, Intervals):
        return replace(it, title=title, axis=axes[0] if axes else "")
    x = axes.pop(0) if it.x and axes else ""
    return replace(it, title=title, x=x, y=axes[0] if axes else "")


def _worded(title: str) -> list[str]:
    """The words of a title, without its numbers."""
    return NUMBER.split(title)[::2]


def _texts(part: Element, classes: str) -> Iterator[str]:
    """The texts in all marks of a given class."""
    if part.attributes.get("class") == classes:
        yield "".join(text for each in part.children if isinstance(each, Element)
                      for text in each.children if isinstance(text, str))
    for each in part.children:
        if isinstance(each, Element):
            yield from _texts(each, classes)


def _compared(it: Curves | Intervals, then: Element, first: bool) -> tuple[Kept, float]:
    """The parts of the drawing that depend on fonts, and the height of the plot. All parts of the drawing that do not
    depend on fonts are compared with the specification.
    """
    if isinstance(it, Curves):
        height, parts = float(_HEIGHT), _curves(it, first)
    else:
        height, parts = _intervals(it, first)
    inner = [*parts, *_title(it.title)]
    root = _group("mark-group role-frame root", [(_at(0, 0), _box(_WIDTH, height), inner)], _CONTAINER, quiet=False)
    size = {"width": Free("#", "width"), "height": Free("#", "height")}
    drawing = Expected("svg", {
        "xmlns": "http://www.w3.org/2000/svg", "xmlns:xlink": "http://www.w3.org/1999/xlink", "version": "1.1",
        "class": "marks", **size, "viewBox": Free("# # # #", "box"),
    }, [Expected("rect", {**size, "fill": "white"}),
        Expected("g", {"fill": "none", "stroke-miterlimit": "10", "transform": Free("translate(#,#)", "origin")},
                 [root])])
    return compare(drawing, then), height


# ---- pieces


def _n(value: float) -> str:
    return f"{value:.6f}"


def _at(x: float, y: float, within: float = 0.002) -> Near:
    return Near(f"translate({_n(x)},{_n(y)})", within)


def _box(width: float, height: float) -> Near:
    return Near(f"M0,0h{_n(width)}v{_n(height)}h{_n(-width)}Z")


_STILL = {"pointer-events": "none"}
_CONTAINER = {"role": "graphics-object", "aria-roledescription": "group mark container"}
_FONT = {"font-family": "sans-serif", "font-size": f"{_TEXT}px"}
_SYMBOL = "graphics-symbol"
_SEEN = Chosen(("1", "0"))


def _group(
    classes: str, items: Sequence[tuple[Value, Value, Sequence[Expected]]], said: Mapping[str, Value], *,
    quiet: bool = True, ground: Mapping[str, Value] = {},
) -> Expected:
    """The expected group mark: the place of each item, its unpainted background, and its content."""
    still = _STILL if quiet else {}
    return Expected("g", {"class": classes, **said}, [
        Expected("g", {"transform": place}, [
            Expected("path", {"class": "background", "aria-hidden": "true", "d": box, **still, **ground}),
            Expected("g", {}, inner),
            Expected("path", {"class": "foreground", "aria-hidden": "true", "d": "", **still, "display": "none"})])
        for place, box, inner in items])


def _mark(classes: str, parts: Sequence[Expected]) -> Expected:
    """The expected element that holds the parts of an axis, a legend or a title."""
    return Expected("g", {"class": classes, **_STILL}, parts)


def _data_mark(kind: str, layer: int, parts: Sequence[Expected]) -> Expected:
    return Expected("g", {"class": f"mark-{kind} role-mark layer_{layer}_marks", "role": "graphics-object",
                          "aria-roledescription": f"{kind} mark container"}, parts)


def _line(place: Near, x: float, y: float, colour: str) -> Expected:
    return Expected("line", {"transform": place, "x2": Near(_n(x)), "y2": Near(_n(y)), "stroke": colour,
                             "stroke-width": "1", "opacity": "1"})


def _words(label: Label, anchor: str, place: Value, *, bold: bool = False, size: int = _TEXT,
           opacity: Value = "1") -> Expected:
    weight = {"font-weight": "bold"} if bold else {}
    return Expected("text", {"text-anchor": anchor, "transform": place, "font-family": "sans-serif",
                             "font-size": f"{size}px", **weight, "fill": "#000", "opacity": opacity}, text=label)


def _listed(names: Sequence[str]) -> str:
    """A list of names, in the wording of screen readers."""
    some = ", ".join(names) if len(names) <= _MOST else f"{', '.join(names[:_LISTED])}, ending with {names[-1]}"
    return f"{len(names)} value{'s' * (len(names) != 1)}: {some}"


# ---- axes


def _grid(
    lines: Sequence[tuple[float, float]], x: float, y: float, top: float, within: float = _ROUNDED
) -> Expected:
    """The expected grid lines across a plot."""
    parts = [_line(_at(*place, within), x, y, "#e6eaee") for place in lines]
    inner = [_mark("mark-rule role-axis-grid", parts)]
    return _group("mark-group role-axis", [(_at(0.5, top + 0.5), _box(0, 0), inner)], {"aria-hidden": "true"})


def _axis_group(top: float, said: Value, parts: Sequence[Expected]) -> Expected:
    return _group("mark-group role-axis", [(_at(0.5, top + 0.5), _box(0, 0), parts)],
                  {"role": _SYMBOL, "aria-roledescription": "axis", "aria-label": said})


def _said_axis(letter: str, title: str, it: Axis) -> Said:
    titled = f" titled '{title}'" if title else ""
    return Said([f"{letter}-axis{titled} for a {'log' if it.log else 'linear'} scale with values from ", it.low, " to ",
                 it.high], decimals=None if it.log else it.decimals())


def _x_axis(it: Axis, title: str, height: float, *, downwards: bool) -> tuple[Expected, Expected]:
    """The horizontal axis, as its grid and the axis itself. The lines of the grid begin at the top of the plot or at
    the axis.
    """
    ticks = it.ticks()
    places = [it.place(tick) for tick in ticks]
    labels = [_words(_tick_label(it, tick, written, "x"), _flush(place), _at(place, 16), opacity=_SEEN)
              for tick, place, written in zip(ticks, places, it.written(), strict=True)]
    parts = [_mark("mark-rule role-axis-tick", [_line(_at(place, 0, _ROUNDED), 0, 5, "#888") for place in places]),
             _mark("mark-text role-axis-label", labels),
             _mark("mark-rule role-axis-domain", [_line(_at(0, 0), _WIDTH, 0, "#888")])]
    if title:
        parts.append(_mark("mark-text role-axis-title",
                           [_words(Label(title), "middle", _at(_WIDTH / 2, _BELOW), bold=True)]))
    top, down = (-height, height) if downwards else (0.0, -height)
    return (_grid([(place, top) for place in places], 0, down, height),
            _axis_group(height, _said_axis("X", title, it), parts))


def _tick_label(it: Axis, tick: float, written: bool, letter: str) -> Label:
    """The label of a tick. An axis whose ends are equal has one tick, and its label is the nearest whole number, as in
    the drawing software.
    """
    return Label(value=_whole(tick) if it.low == it.high else tick, blank=not written, name=letter,
                 place=it.place(tick))


def _whole(value: float) -> float:
    """The nearest whole number. A tie is rounded away from 0."""
    size = abs(value)
    return math.copysign(math.floor(size) + (size % 1 >= 0.5), value)


def _flush(place: float) -> str:
    """Alignment of a label: labels at the ends of the axis are aligned so that they stay within the plot."""
    return "start" if abs(place) < 1 else "end" if abs(place - _WIDTH) < 1 else "middle"


def _y_axis(it: Axis, title: str, height: float, *, first: bool) -> tuple[Expected, Expected]:
    ticks = it.ticks()
    places = [it.place(tick) for tick in ticks]
    labels = [_words(_tick_label(it, tick, written, "y"), "end", _at(-7, place + 4), opacity=_SEEN)
              for tick, place, written in zip(ticks, places, it.written(), strict=True)]
    parts = [_mark("mark-rule role-axis-tick", [_line(_at(0, place, _ROUNDED), -5, 0, "#888") for place in places]),
             _mark("mark-text role-axis-label", labels),
             _mark("mark-rule role-axis-domain", [_line(_at(0, height), 0, -height, "#888")])]
    if title:
        place: Value = Free("translate(#,#) rotate(#) translate(#,#)", "y title") if first else _at(0, _ABOVE)
        parts.append(_mark("mark-text role-axis-title",
                           [_words(Label(title), "middle" if first else "start", place, bold=True)]))
    return (_grid([(0, place) for place in places], _WIDTH, 0, 0),
            _axis_group(0, _said_axis("Y", title, it), parts))


# ---- legend and title


def _legend(colours: Mapping[str, str], scales: str, path: str, painted: Sequence[str],
            dashes: Sequence[Sequence[int]] = (), *, first: bool) -> list[Expected]:
    """The expected legend; empty for a single series. Each entry has its symbol and its name. The places of the
    legend's entries are checked separately.
    """
    if len(colours) < 2:
        return []
    entries = []
    for place, (name, colour) in enumerate(colours.items()):
        dash = {"stroke-dasharray": ",".join(map(str, dashes[place]))} if dashes else {}
        symbol = Expected("path", {"transform": _at(6, 6), "d": Near(path), **dict.fromkeys(painted, colour),
                                   "stroke-width": "1.5", **dash, "opacity": "1"})
        entries.append((Free("translate(#,#)", "entries"), Free("M#,#h#v#h#Z", "boxes"), [
            _mark("mark-symbol role-legend-symbol", [symbol]),
            _mark("mark-text role-legend-label",
                  [_words(_name(name, _NAME, "legend", 0.0, first), "start", _at(16, 10))])]))
    rows = _group("mark-group role-scope", entries, _CONTAINER, ground={"opacity": "1"})
    inner = _group("mark-group role-legend-entry", [(_at(0, 0), _box(0, 0), [rows])], {})
    said = f"Symbol legend for {scales} with {_listed(list(colours))}"
    around = (Free("translate(#,#)", "legend"), Free("M#,#h#v#h#Z", "boxes"), [inner])
    return [_group("mark-group role-legend", [around],
                   {"role": _SYMBOL, "aria-roledescription": "legend", "aria-label": said})]


def _name(text: str, room: int, name: str, place: float, first: bool) -> Label:
    """The expected name of a row or a series, in its full length. In drawings of confide 0.1.0 the name may be cut,
    because that version cut names that were wider than their room.
    """
    return Label(text, letters=fitting(text.strip(), room - _TEXT) if first else 0, name=name, place=place)


def _title(title: str) -> list[Expected]:
    if not title:
        return []
    text = Expected("g", {"class": "mark-text role-title-text", "role": _SYMBOL, "aria-roledescription": "title",
                          "aria-label": f"Title text '{title}'", **_STILL},
                    [_words(Label(title), "start", _at(0, 11), bold=True, size=_TITLE)])
    return [_group("mark-group role-title", [(Free("translate(#,#)", "title"), _box(0, 0), [text])], {})]


# ---- marks


def _numbers(values: Sequence[float | None]) -> list[float]:
    return [float(each) for each in values if each is not None]


def _axis_of(
    values: Sequence[float | None], *, log: bool, zero: bool, start: float, end: float, spacing: int = SPACING
) -> Axis:
    found = axis(_numbers(values), log=log, zero=zero, start=start, end=end, spacing=spacing)
    if found is None:
        raise Unreadable("its numbers are outside of an axis")
    return found


def _curves(it: Curves, first: bool) -> list[Expected]:
    everything = [*it.rows, *it.marks]
    x = _axis_of([row[0] for row in everything], log=it.log_x, zero=False, start=0, end=_WIDTH,
                 spacing=SPACING if first else _FAR)
    y = _axis_of([row[1] for row in everything], log=it.log_y, zero=it.zero, start=_HEIGHT, end=0)
    x_grid, x_axis = _x_axis(x, it.x, _HEIGHT, downwards=True)
    y_grid, y_axis = _y_axis(y, it.y, _HEIGHT, first=first)
    lines = [(_at(0, 0), _box(_WIDTH, _HEIGHT), [_data_mark("line", 0, [_curve(it, name, place, x, y)])])
             for place, name in enumerate(it.colours)]
    parts = [x_grid, y_grid, x_axis, y_axis,
             _group("mark-group role-scope layer_0_pathgroup", lines, _CONTAINER, quiet=False)]
    if it.marks:
        dots, words = zip(*(_named(mark, x, y) for mark in it.marks), strict=True)
        parts += [_data_mark("symbol", 1, dots), _data_mark("text", 2, words)]
    scales = "stroke color and strokeDash" if it.dashes else "stroke color"
    return [*parts, *_legend(it.colours, scales, "M-5,0L5,0", ["stroke"], it.dashes, first=first)]


def _curve(it: Curves, name: str, place: int, x: Axis, y: Axis) -> Expected:
    """The expected line of one series, with its points from left to right. The line is broken where a number is
    missing.
    """
    rows = [(a, x.place(_there(a)), b) for a, b, series in it.rows if series == name]
    rows.sort(key=lambda row: row[1])
    pieces: list[list[str]] = [[]]
    for _, place_x, b in rows:
        if b is None:
            pieces.append([])
        else:
            pieces[-1].append(f"{_n(place_x)},{_n(y.place(b))}")
    path = "".join(f"M{'L'.join(piece)}{'Z' * (len(piece) == 1)}" for piece in pieces if piece)
    first, _, second = rows[0]
    dash = {"stroke-dasharray": ",".join(map(str, it.dashes[place]))} if it.dashes else {}
    return Expected("path", {
        "aria-label": Said([f"{it.x or 'x'}: ", _there(first), f"; {it.y or 'y'}: ",
                            "null" if second is None else second, f"; series: {name}"]),
        "role": _SYMBOL, "aria-roledescription": "line mark", **({"d": Near(path)} if path else {}),
        "stroke": it.colours[name], "stroke-width": "2.5", **dash})


def _there(value: float | None) -> float:
    if value is None:
        raise Unreadable("one of its points has no position")
    return value


def _named(mark: tuple[float | None, float | None, str], x: Axis, y: Axis) -> tuple[Expected, Expected]:
    """The expected dot of a marked point, and its label."""
    a, b, label = mark
    there = (x.place(_there(a)), y.place(_there(b)))
    dot = _dot({"aria-label": Said(["x: ", _there(a), "; y: ", _there(b)])}, there, 90, _INK)
    words = Expected("text", {
        "aria-label": Said(["x: ", _there(a), "; y: ", _there(b), f"; label: {label}"]), "role": _SYMBOL,
        "aria-roledescription": "text mark", "text-anchor": "start", "transform": _at(there[0] + 8, there[1] - 4),
        **_FONT, "fill": "black"}, text=Label(label))
    return dot, words


def _dot(said: Mapping[str, Value], there: tuple[float, float], size: int, colour: str) -> Expected:
    radius = math.sqrt(size) / 2
    return Expected("path", {**said, "role": _SYMBOL, "aria-roledescription": "point", "transform": _at(*there),
                             "d": Near(_circle(radius)), "fill": colour, "stroke-width": "2", "opacity": "1"})


def _circle(radius: float) -> str:
    r = _n(radius)
    return f"M{r},0A{r},{r},0,1,1,-{r},0A{r},{r},0,1,1,{r},0"


def _intervals(it: Intervals, first: bool) -> tuple[float, list[Expected]]:
    """The height of the plot, and its expected parts."""
    labels = list(dict.fromkeys(row[0] for row in it.rows))
    series = list(it.colours)
    band = it.step * max(1, len(series)) / (1 - _BAND)
    height = band * (max(1, len(labels)) + _BAND)
    middles = {label: band * (_BAND + (1 - _BAND) / 2 + place) for place, label in enumerate(labels)}
    x = _axis_of([each for row in it.rows for each in row[2:]], log=it.log, zero=True, start=0, end=_WIDTH,
                 spacing=SPACING if first else _FAR)
    x_grid, x_axis = _x_axis(x, it.axis, height, downwards=False)
    names = [_words(_name(label, _LABEL, "bands", place, first), "end", _at(-7, place + 4, _DOWN))
             for label, place in middles.items()]
    y_axis = _axis_group(0, f"Y-axis for a discrete scale with {_listed(labels)}", [
        _mark("mark-rule role-axis-tick", [_line(_at(0, place, _DOWN), -5, 0, "#888") for place in middles.values()]),
        _mark("mark-text role-axis-label", names),
        _mark("mark-rule role-axis-domain", [_line(_at(0, 0), 0, height, "#888")])])
    y_grid = _grid([(0, place) for place in middles.values()], _WIDTH, 0, 0, _DOWN)
    bars, dots = [], []
    for label, name, value, low, high in it.rows:
        there = middles[label] + it.step * (series.index(name) - (len(series) - 1) / 2)
        start, end = x.place(low), x.place(high)
        bars.append(Expected("line", {
            "aria-label": Said([f"{it.axis or 'low'}: ", low, f"; label: {label}; high: ", high, f"; series: {name}"]),
            "role": _SYMBOL, "aria-roledescription": "rule mark", "transform": _at(start, there),
            "x2": Near(_n(end - start)), "y2": "0", "stroke": it.colours[name], "stroke-width": "2"}))
        dots.append(_dot({"aria-label": Said(["value: ", value, f"; label: {label}; series: {name}"])},
                         (x.place(value), there), 70, it.colours[name]))
    return height, [x_grid, y_grid, x_axis, y_axis, _data_mark("rule", 0, bars), _data_mark("symbol", 1, dots),
                    *_legend(it.colours, "fill color and stroke color", _circle(5), ["fill", "stroke"],
                              first=first)]
