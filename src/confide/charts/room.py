"""What depends on fonts in a drawing: the room around a plot, and which labels of an axis are hidden by others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from confide.charts.markup import Unreadable
from confide.charts.matching import Kept
from confide.charts.plotted import Curves, Intervals

__all__ = ["WIDEST", "check_room"]

WIDEST = 1.3
"""Width of a letter, at most, over the size of its font."""

_NARROWEST, _DIGIT = 0.12, 0.8
_TEXT, _TITLE = 12, 14  # sizes of fonts
_LABEL, _NAME = 180, 400  # pixels of an axis' label, and of a legend's, at most
_LINE = 16  # pixels from one label to another below it
_TITLED, _PLAIN = 31, 16  # from an axis down to the last letters below it
_EDGE = 12  # pixels around everything, at most
_SYMBOL = 16  # from a legend's symbol to its name
_ROW = 30  # height of a row of a legend, at most
_OFF = 1.0  # pixel


def check_room(it: Curves | Intervals, kept: Kept, width: float, height: float) -> None:
    """See that all is within the drawing, that nothing lies on anything else, and that no label hides for nothing.

    Args:
        it: what is plotted.
        kept: what depends on fonts.
        width: of the plot.
        height: of the plot.

    Raises:
        Unreadable: it is not so.
    """
    below, beside = (it.x, it.y) if isinstance(it, Curves) else (it.axis, "")
    (left, top), (w, h) = kept.numbers["origin"], (kept.numbers[key][0] for key in ("width", "height"))
    if kept.numbers["box"] != [0, 0, w, h] or kept.numbers["width"] != [w, w] or kept.numbers["height"] != [h, h]:
        raise Unreadable("its sizes contradict each other")
    labels = [said for name in ("y", "bands") for _, said, shown in kept.labels.get(name, ()) if shown == "1"]
    words = max(map(len, labels), default=0)
    least, most = 7 + min(_LABEL - _TEXT, words * _TEXT * _NARROWEST), 7 + min(_LABEL + _TEXT, words * _TEXT * WIDEST)
    _within("room on the left", left, least, most + 3 * _TEXT + _EDGE + _width(below) / 2)
    names = [mark[2] for mark in it.marks] if isinstance(it, Curves) else []
    legend = _legend(kept, height + (_TITLED if below else _PLAIN), h - top)
    overhang = max(_width(it.title, _TITLE), _width(below), *map(_width, names), legend, 0)
    _within("room on the right", w - left - width, 0, 2 * _EDGE + overhang)
    if beside:
        x, y, *rest = kept.numbers["y title"]
        _within("the title on the left", x, -left + _TEXT - 3 - _OFF, -least)
        if abs(y - height / 2) > _OFF or rest != [-90, 0, -3]:
            raise Unreadable("a title lies where none belongs")
    _within("room above", top, 0, 3 * _TITLE + _EDGE + _width(beside) / 2)
    if it.title:
        x, y = kept.numbers["title"]
        _within("the title", x, -left - _OFF, _OFF)
        _within("the title", y, -top - _OFF, -11)
    rows = len(it.colours) if legend else 0
    _within("room below", h - top - height, _TITLED if below else _PLAIN,
            _TITLED + 2 * _EDGE + _ROW * (rows + 1) + _width(beside) / 2)
    for name in ("x", "y", "bands"):
        _check_hidden(kept.labels.get(name, ()), sideways=name == "x")


def _width(text: str, size: int = _TEXT) -> float:
    return len(text) * size * WIDEST


def _within(what: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise Unreadable(f"{what} is {value:g}, not {low:g} to {high:g}")


def _legend(kept: Kept, low: float, high: float) -> float:
    """The width of the legend, at most: row below row, each name beside its symbol and before the next one."""
    if "legend" not in kept.numbers:
        return 0.0
    x, y = kept.numbers["legend"]
    places = kept.numbers["entries"]
    entries = list(zip(places[::2], places[1::2], [said for _, said, _ in kept.labels["legend"]], strict=True))
    if x != 0 or not 0 <= entries[0][1] < _ROW or entries[0][0] != 0:
        raise Unreadable("the legend lies where none belongs")
    _within("the legend", y, low, high - _TEXT - max(down for _, down, _ in entries))
    for (a, b, name), (c, d, _) in pairwise(entries):
        beside = abs(d - b) < _OFF and c - a >= _SYMBOL + len(name) * _TEXT * _NARROWEST
        if not beside and not (c == 0 and _TEXT - _OFF <= d - b <= _ROW):
            raise Unreadable("the legend's names lie on each other")
    return max(a + _SYMBOL + min(_NAME + _TEXT, _width(name)) for a, _, name in entries)


def _check_hidden(labels: Sequence[tuple[float, str, str]], *, sideways: bool) -> None:
    """Labels are hidden only where some would lie on each other: then every other one is."""
    longest = max((len(said) for _, said, _ in labels), default=0)
    most = 2 * longest * _TEXT * _DIGIT if sideways else _LINE
    shown = [place for place, said, visible in labels if visible == "1" and said]
    for place, said, visible in labels:
        if visible == "0" and not any(abs(place - other) <= most for other in shown):
            raise Unreadable(f"the label {said} is hidden")
