"""A drawing is held against its numbers: whatever vl-convert draws of our shapes holds, and nothing else does."""

from __future__ import annotations

import re

import numpy as np
import pytest

from campaign.forging import drawn_by_first
from cases import fast
from confide.charts import curves, fault, heat_map, histogram, intervals, to_svg
from confide.charts.shapes import distinguished
from confide.contract import Picture

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
        made = distinguished(made) if coins.random() < 0.3 else made
    return made[0]


@pytest.mark.parametrize("seed", fast(25, range(300)))
def test_what_is_drawn_holds_and_nothing_else(seed: int) -> None:
    coins = np.random.default_rng([2026, seed])
    picture = _some(coins)
    drawing = to_svg(picture.spec)
    assert drawing is not None
    assert fault(picture.spec, drawing) == ""
    assert fault(picture.spec, drawing, retitled=True) == ""
    numbers = re.compile(r'(?:x2|y2|d|transform|aria-label)="[^"]*?(?<!e-)(?<![0-9])([0-9]+)(?![0-9.]*e-)[^"]*"')
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


@pytest.mark.parametrize(("value", "label"), [(0.3, "0"), (0.5, "1"), (-0.5, "\u22121"), (2.5, "3"), (-7.51, "\u22128"),
                                              (1234567.5, "1,234,568"), (0.0, "0")])
def test_the_tick_of_an_axis_of_one_number_says_what_the_software_writes(value: float, label: str) -> None:
    (picture,) = curves([(x, value, "price") for x in range(1, 9)], title="Prices", x="round", y="price", alt="")
    drawing = to_svg(picture.spec)
    assert drawing is not None
    place = re.compile(rf'(<text text-anchor="end" transform="translate\(-7,[^>]*>){re.escape(label)}(?=</text>)')
    assert len(place.findall(drawing)) == 1
    assert fault(picture.spec, drawing) == ""
    for other in (value + 0.1, value - 0.4, value * 1.1 + 0.01, 0.79, -0.1):
        said = f"{other:.2f}".replace("-", "\u2212")
        assert "belongs" in fault(picture.spec, place.sub(rf"\g<1>{said}", drawing))


_LONG = [f"score in [0.{k}, 0.{k + 1}) and temperature in [10, 20) and smoker" for k in range(4)]


def _bars(labels: list[str]) -> Picture:
    (made,) = intervals([(label, name, 0.02 * k, 0.01 * k, 0.03 * k) for k, label in enumerate(labels, 1)
                         for name in (f"{label} once", f"{label} twice")], title="T", axis="share", alt="")
    return made


def test_labels_are_whole_and_shown() -> None:
    """Of rows and series, however long they are; and the numbers of an axis where they have room."""
    honest = _bars(_LONG)
    drawing = to_svg(honest.spec)
    assert drawing is not None
    assert "\u2026" not in drawing
    assert all(f">{label}</text>" in drawing and f">{label} once</text>" in drawing for label in _LONG)
    assert fault(honest.spec, drawing) == ""
    for label in (_LONG[0], f"{_LONG[0]} once"):
        for letters in (8, 20, len(label) - 1):
            cut = drawing.replace(f">{label}</text>", f">{label[:letters]}\u2026</text>")
            assert cut != drawing
            assert "belongs" in fault(honest.spec, cut)
    texts = re.compile(r'(<text text-anchor="[a-z]+" transform="translate\([^>]*opacity=")1("[^>]*>[^<]+</text>)')
    found = [it for it in texts.finditer(drawing) if it[0].endswith("</text>")]
    assert len(found) > 12
    for it in found:
        assert fault(honest.spec, drawing[: it.start()] + f"{it[1]}0{it[2]}" + drawing[it.end() :]), it[0]
    numbers = [it for it in found if re.search(r">[0-9.]+<", it[0])]
    assert len(numbers) > 5
    other = drawing
    for it in numbers[1::2]:
        other = other.replace(it[0], f"{it[1]}0{it[2]}")
    assert "is hidden" in fault(honest.spec, other)


@pytest.mark.parametrize("count", range(1, 14))
def test_any_number_of_rows_and_series_holds(count: int) -> None:
    """A screen reader hears of seven names at most, or of the first five and the last."""
    names = [f"s{k}" for k in range(count)]
    for picture in (*intervals([(name, "s", 1.0, 0.5, 2.0) for name in names], title="T", axis="x", alt=""),
                    *intervals([("a", name, 1.0, 0.5, 2.0) for name in names], title="T", axis="x", alt=""),
                    *curves([(x, 1.0 + x, name) for name in names for x in (0.0, 1.0)], title="T", x="x", y="y",
                            alt="")):
        assert fault(picture.spec, to_svg(picture.spec) or "") == ""


def test_labels_that_the_first_version_cut_fill_their_room() -> None:
    honest = _bars(_LONG)
    drawing = to_svg(drawn_by_first(honest.spec))
    assert drawing is not None
    cut = re.findall(r">([^<]+)\u2026</text>", drawing)
    assert len(set(cut)) == len(_LONG)
    assert fault(honest.spec, drawing)
    assert fault(honest.spec, drawing, first=True) == ""
    one = drawing.replace(f">{cut[0]}\u2026", f">{cut[1]}\u2026")
    assert "belongs" in fault(honest.spec, one, first=True)
    for letters in (1, 8, 18):  # 20 letters fit in any font
        short = drawing.replace(f">{cut[0]}\u2026", f">{cut[0][:letters]}\u2026")
        assert "belongs" in fault(honest.spec, short, first=True)


@pytest.mark.parametrize("log", [False, True])
def test_numbers_that_lie_on_each_other_may_be_hidden(log: bool) -> None:
    """As the drawing software hides them, and no others."""
    rows = [(1e-9, 1.0, "a"), (1.2e9, 0.5, "a")] if log else [(0.0, 1.0, "a"), (1.2e9, 0.5, "a")]
    (honest,) = curves(rows, title="T", x="x", y="y", alt="", log_x=log)
    drawing = to_svg(honest.spec)
    assert drawing is not None
    labels = re.findall(r'<text text-anchor="[a-z]+" transform="translate\([0-9.]+,16\)"[^>]*>[^<]+</text>', drawing)
    hidden = [each for each in labels if 'opacity="0"' in each]
    assert hidden
    assert fault(honest.spec, drawing) == ""
    for each in labels if not log else [each for each in labels if ">1</text>" in each]:
        if each not in hidden:
            assert "is hidden" in fault(honest.spec, drawing.replace(each, each.replace('opacity="1"', 'opacity="0"')))


def test_another_title_has_no_other_numbers() -> None:
    rows = [(0.0, 0.5, "a"), (1.0, 0.25, "a")]
    (honest,) = curves(rows, title="The 12 largest", x="epsilon", y="error", alt="")
    for title, says in (("The 13 largest", "the title 'The 13 largest' has other numbers"), ("Some of 13", "")):
        (other,) = curves(rows, title=title, x="epsilon", y="error", alt="")
        assert fault(honest.spec, to_svg(other.spec) or "", retitled=True) == says


def test_what_is_of_no_shape_of_ours_is_none() -> None:
    for picture in (*heat_map([(0.25, 0.25, 1.0)], step=0.5, title="t", x="x", y="y", value="v", alt=""),
                    *histogram([1.0, 2.0, 2.5], bins=2, title="t", x="x", y="y", alt=""), Picture(spec={}, alt="")):
        assert ("of no shape" in fault(picture.spec, to_svg(picture.spec) or "")
                or "no marks to compare" in fault(picture.spec, ""))
    (honest,) = curves([(0.0, 0.5, "a"), (1.0, 0.25, "a")], title="t", x="x", y="y", alt="")
    drawing = to_svg(honest.spec)
    assert drawing is not None
    for more in ({"params": []}, {"background": "red"}, {"width": 10}):
        assert fault({**honest.spec, **more}, drawing)
