"""A drawing is held against its numbers: whatever vl-convert draws of our shapes holds, and nothing else does."""

from __future__ import annotations

import re

import numpy as np
import pytest

from cases import fast
from confide.charts import curves, fault, heat_map, histogram, intervals, to_svg
from confide.contract import Picture
from confide.search.line_styles import told_apart

NAMES = ["a", "noisy order", "price of <x> & y's", "item 1e12 with a rather long name that is cut somewhere", "",
         "日本語のとても長いラベルです、切られるはずの長さ", 'q"uote', " lead ", "é", "1", "x: 2; y"]


def _number(coins: np.random.Generator, log: bool) -> float:
    if log:
        return float(10 ** coins.uniform(-9, 7))
    return float(coins.choice([0.0, 1.0, -1.0, coins.uniform(), coins.normal() * 10 ** coins.uniform(-9, 9)]))


def _some(coins: np.random.Generator) -> Picture:
    """Any picture of ours."""
    series = [str(each) for each in coins.choice(NAMES, coins.integers(1, 5), replace=False)]
    title, x, y = (str(coins.choice(words)) for words in (
        ["T", "", "A long title 12, " * 4 + "end"], ["x <u>", ""], ["yy", ""]))
    log_x, log_y = bool(coins.random() < 0.3), bool(coins.random() < 0.3)
    if coins.random() < 0.5:
        made = intervals([(str(label), name, *(_number(coins, log_x) for _ in range(3)))
                          for label in coins.choice(NAMES, 3, replace=False) for name in series],
                         title=title, axis=x, alt="", log=log_x)
    else:
        rows = [(_number(coins, log_x), float("nan") if coins.random() < 0.05 else _number(coins, log_y), name)
                for name in series for _ in range(int(coins.integers(2, 12)))]
        marks = [(_number(coins, log_x), _number(coins, log_y), str(coins.choice(NAMES))) for _ in range(2)]
        made = curves([(0.5, 0.5, series[0]), *rows], title=title, x=x, y=y, alt="", log_x=log_x, log_y=log_y,
                      marks=marks if coins.random() < 0.5 else ())
        made = told_apart(made) if coins.random() < 0.3 else made
    return made[0]


@pytest.mark.parametrize("seed", fast(25, range(300)))
def test_what_is_drawn_holds_and_nothing_else(seed: int) -> None:
    coins = np.random.default_rng([2026, seed])
    picture = _some(coins)
    drawing = to_svg(picture.spec)
    assert drawing is not None
    assert fault(picture.spec, drawing) == ""
    assert fault(picture.spec, drawing, retitled=True) == ""
    numbers = re.compile(r'(?:x2|y2|d|transform|aria-label)="[^"]*?([0-9]+)[^"]*"')
    places = [found.span(1) for found in numbers.finditer(drawing)]
    marks = drawing.index("role-mark")
    for place in coins.choice(len(places), 12):
        start, end = places[place]
        if start > marks and "role-legend" not in drawing[:start] and "role-title" not in drawing[:start] and (
            'class="background"' not in drawing[drawing.rindex("<", 0, start) : start]
        ):
            assert fault(picture.spec, drawing[:start] + str(int(drawing[start:end]) + 3) + drawing[end:]), (start, end)


def test_another_picture_is_none() -> None:
    rows = [(0.0, 0.5, "a"), (1.0, 0.25, "a"), (0.0, 0.1, "b"), (1.0, 0.4, "b")]
    (honest,) = curves(rows, title="Errors", x="epsilon", y="error", alt="")
    drawing = to_svg(honest.spec)
    assert drawing is not None
    for changed in ([(x, y + 1e-3, name) for x, y, name in rows],
                    [(x, y, "b" if name == "a" else "a") for x, y, name in rows]):
        (other,) = curves(changed, title="Errors", x="epsilon", y="error", alt="")
        assert fault(other.spec, drawing)
    for named in ({"title": "Gains"}, {"x": "delta"}, {"y": "gain"}):
        (other,) = curves(rows, **{"title": "Errors", "x": "epsilon", "y": "error", "alt": "", **named})
        assert fault(other.spec, drawing)
        assert not fault(other.spec, drawing, retitled=True)
    (wider,) = curves([*rows, (0.5, 9.0, "a")], title="Errors", x="epsilon", y="error", alt="")
    assert fault(wider.spec, drawing)


@pytest.mark.parametrize(("old", "new"), [
    ("<svg ", '<svg style="position:fixed" '), ("<svg ", '<svg overflow="visible" '),
    ("<rect", "<script>1</script><rect"),
    ("</svg>", "<rect/></svg>"), ("</svg>", "</svg><svg></svg>"), ('fill="white"', 'fill="url(https://example.org)"'),
    ('stroke="#1f6f8b"', 'stroke="#ffffff"'), ("<text ", '<text visibility="hidden" '), ("<path", "<!-- --><path"),
    ('fill="#000"', "fill='#000'"), ('opacity="1"', 'opacity="0"'), ('font-size="12px"', 'font-size="1px"'),
    ('class="background" aria-hidden="true"', 'class="background" aria-hidden="true" fill="white"'),
    ("translate(0,0)", "translate(900,0)"), ('width="', 'width="9'), ("epsilon", "&#101;psilon"), (">b<", ">a<"),
], ids=range(17))
def test_nothing_is_covered_loaded_or_hidden(old: str, new: str) -> None:
    rows = [(0.0, 0.5, "a"), (1.0, 0.25, "a"), (0.0, 0.1, "b"), (1.0, 0.4, "b")]
    (honest,) = curves(rows, title="Errors", x="epsilon", y="error", alt="")
    drawing = to_svg(honest.spec)
    assert drawing is not None
    assert old in drawing
    assert fault(honest.spec, drawing.replace(old, new, 1))


def test_what_is_of_no_shape_of_ours_is_none() -> None:
    for picture in (*heat_map([(0.25, 0.25, 1.0)], step=0.5, title="t", x="x", y="y", value="v", alt=""),
                    *histogram([1.0, 2.0, 2.5], bins=2, title="t", x="x", y="y", alt=""), Picture(spec={}, alt="")):
        assert "of no shape" in fault(picture.spec, to_svg(picture.spec) or "") or "none" in fault(picture.spec, "")
    (honest,) = curves([(0.0, 0.5, "a"), (1.0, 0.25, "a")], title="t", x="x", y="y", alt="")
    drawing = to_svg(honest.spec)
    assert drawing is not None
    for more in ({"params": []}, {"background": "red"}, {"width": 10}):
        assert fault({**honest.spec, **more}, drawing)
