"""Checks of the parts of a drawing that depend on fonts: the room around the plot, and the axis labels that are hidden
because they would overlap other labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from confide.charts.markup import Unreadable
from confide.charts.matching import Kept
from confide.charts.plotted import Curves, Intervals

__all__ = ["check_room", "fitting"]

_WIDEST = 1.3  # width of a letter, at most, over the size of its font

_NARROWEST = 0.12
_DIGIT, _DOT, _SIGN = 0.7, 0.45, 1.05  # width of a digit, a point and a sign at most, over the size of the font
_BROAD = "mw=+<>~%@&#"  # as wide as a sign
_TEXT, _TITLE = 12, 14  # sizes of fonts
_LINE = 16  # height of a label, at most
_TITLED, _PLAIN = 31, 16  # from an axis down to the last letters below it
_EDGE = 12  # pixels around everything, at most
_SYMBOL = 16  # from a legend's symbol to its name
_ROW = 30  # height of a row of a legend, at most
_OFF = 1.0  # pixel
_APART = 16.0  # pixels between two numbers below a plot, at least


def check_room(it: Curves | Intervals, kept: Kept, width: float, height: float, *, first: bool) -> None:
    """Check that everything is within the drawing, that nothing overlaps, and that no label is hidden without a reason.

    Args:
        it: the data of the chart.
        kept: the parts of the drawing that depend on fonts, from `compare`.
        width: width of the plot, in pixels.
        height: height of the plot, in pixels.
        first: whether confide 0.1.0 made the drawing.

    Raises:
        Unreadable: a part lies outside of the drawing, two parts overlap, or a label is hidden without a reason.
    """
    below, beside = (it.x, it.y) if isinstance(it, Curves) else (it.axis, "")
    (left, top), (w, h) = kept.numbers["origin"], (kept.numbers[key][0] for key in ("width", "height"))
    if kept.numbers["box"] != [0, 0, w, h] or kept.numbers["width"] != [w, w] or kept.numbers["height"] != [h, h]:
        raise Unreadable("its sizes contradict each other")
    labels = [said for name in ("y", "bands") for _, said, shown in kept.labels.get(name, ()) if shown != "0"]
    words = max(map(len, labels), default=0)
    least, most = 7 + words * _TEXT * _NARROWEST, 7 + words * _TEXT * _WIDEST
    _within("room on the left", left, least, most + 3 * _TEXT + _EDGE + _width(below) / 2)
    names = [mark[2] for mark in it.marks] if isinstance(it, Curves) else []
    legend = _legend(kept, height + (_TITLED if below else _PLAIN), h - top)
    overhang = max(_width(it.title, _TITLE), _width(below), *map(_width, names), legend, 0)
    _within("room on the right", w - left - width, 0, 2 * _EDGE + overhang)
    if beside and first:
        x, y, *rest = kept.numbers["y title"]
        _within("the title on the left", x, -left + _TEXT - 3 - _OFF, -least)
        if abs(y - height / 2) > _OFF or rest != [-90, 0, -3]:
            raise Unreadable("a title is in a place without a title")
    _within("room above", top, 0, 3 * _TITLE + _EDGE + _width(beside) / 2)
    if it.title:
        x, y = kept.numbers["title"]
        _within("the title", x, -left - _OFF, _OFF)
        _within("the title", y, -top - _OFF, -11)
    rows = len(it.colours) if legend else 0
    _within("room below", h - top - height, _TITLED if below else _PLAIN,
            _TITLED + 2 * _EDGE + _ROW * (rows + 1) + _width(beside) / 2)
    log_x, log_y = (it.log_x, it.log_y) if isinstance(it, Curves) else (it.log, False)
    _check_hidden(kept.labels.get("x", ()), width, log=log_x, apart=0.0 if first else _APART)
    _check_hidden(kept.labels.get("y", ()), None, log=log_y)


def fitting(text: str, pixels: float) -> int:
    """Number of first letters of a text that fit into a given width even in the widest font; 0 if the whole text fits.

    Args:
        text: the text, in the font size of labels.
        pixels: the given width, in pixels.
    """
    wide = 0.0
    for place, letter in enumerate(text):
        wide += _TEXT * (_SIGN if letter in _BROAD or letter.isupper() else _DIGIT if letter.isascii() else _WIDEST)
        if wide > pixels:
            return place
    return 0


def _width(text: str, size: int = _TEXT) -> float:
    return len(text) * size * _WIDEST


def _within(what: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise Unreadable(f"{what} is {value:g}, not {low:g} to {high:g}")


def _legend(kept: Kept, low: float, high: float) -> float:
    """Largest width of the legend. The rows of the legend must lie one below the other, and each name must lie beside
    its symbol and before the next name.
    """
    if "legend" not in kept.numbers:
        return 0.0
    x, y = kept.numbers["legend"]
    places = kept.numbers["entries"]
    entries = list(zip(places[::2], places[1::2], [said for _, said, _ in kept.labels["legend"]], strict=True))
    if x != 0 or not 0 <= entries[0][1] < _ROW or entries[0][0] != 0:
        raise Unreadable("the legend is in a place without a legend")
    _within("the legend", y, low, high - _TEXT - max(down for _, down, _ in entries))
    for (a, b, name), (c, d, _) in pairwise(entries):
        beside = abs(d - b) < _OFF and c - a >= _SYMBOL + len(name) * _TEXT * _NARROWEST
        if not beside and not (c == 0 and _TEXT - _OFF <= d - b <= _ROW):
            raise Unreadable("the legend's names overlap")
    return max(a + _SYMBOL + _width(name) for a, _, name in entries)


def _check_hidden(
    labels: Sequence[tuple[float, str, str]], width: float | None, *, log: bool, apart: float = 0.0
) -> None:
    """Check that the numbers of an axis are hidden only where Vega hides them. On a linear axis Vega hides every other
    number; on a logarithmic axis it hides numbers too close to a neighbour.

    Args:
        labels: triples (place, text, "1" if it is shown).
        width: width of the plot for a horizontal axis; None for a vertical axis.
        log: whether the axis is logarithmic.
        apart: least number of pixels between two numbers.
    """
    written = [(place, said, shown == "1") for place, said, shown in labels if said]
    ends = [(place - _LINE / 2, place + _LINE / 2) if width is None else _reach(place, said, width)
            for place, said, _ in written]

    def overlap(one: int, other: int) -> bool:
        return ends[one][0] < ends[other][1] + apart and ends[other][0] < ends[one][1] + apart

    seen = [place for place, each in enumerate(written) if each[2]]
    hidden = [place for place, each in enumerate(written) if not each[2]]
    if not hidden:
        return
    if log:
        right = all(any(overlap(place, near) for near in (
            *[each for each in seen if each < place][-1:], *[each for each in seen if each > place][:1]))
            for place in hidden)
    else:
        right = seen in _thinned(len(written), overlap)
    if not right:
        raise Unreadable(f"the label {written[hidden[0]][1]} is hidden")


def _reach(place: float, said: str, width: float) -> tuple[float, float]:
    """The widest interval of pixels that a number can take. A number at an end of the axis lies within the plot."""
    size = _TEXT * sum(_DOT if each in ".," else _SIGN if each in "\u2212+" else _DIGIT for each in said)
    if abs(place) < 1:
        return place, place + size
    return (place - size, place) if abs(place - width) < 1 else (place - size / 2, place + size / 2)


def _thinned(count: int, overlap: Callable[[int, int], bool]) -> Iterator[list[int]]:
    """The sets of labels that may remain. Every other label is hidden until no two may overlap. If two labels remain,
    the last label of the axis may be one of them.
    """
    left = list(range(count))
    while len(left) >= 3 and any(overlap(one, other) for one, other in pairwise(left)):
        left = left[::2]
        yield left
        if len(left) < 3 and left[-1] != count - 1:
            yield [*(left[:-1] if len(left) > 1 else left), count - 1]
