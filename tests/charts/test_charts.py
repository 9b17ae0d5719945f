"""Charts: one specification gives one picture, with its words; without the extra there are words alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from confide import charts
from confide.charts import curves, intervals, render, to_png, to_svg
from confide.contract import InvalidInput, Picture

ROWS = [("age", "noise", 0.5, 0.4, 0.6), ("age", "total", 0.5, 0.1, 0.9), ("sex", "noise", 4.0, 3.0, 5.0)]
POINTS = [(0.1, 0.5, "predicted"), (1.0, 0.1, "predicted"), (0.1, 0.4, "nothing"), (1.0, 0.4, "nothing")]


def bars(**more: Any) -> Picture:
    (made,) = intervals(ROWS, title="Coefficients", axis="euro", alt="two coefficients with intervals", **more)
    return made


def lines(**more: Any) -> Picture:
    (made,) = curves(POINTS, title="Error", x="epsilon", y="error", alt="the error falls", **more)
    return made


def squares(**more: Any) -> Picture:
    rows = [(0.25, 0.25, 1.0), (0.25, 0.75, 2.0), (0.75, 0.25, float("inf")), (0.75, 0.75, 30.0)]
    (made,) = charts.heat_map(rows, step=0.5, title="Loss", x="first", y="second", value="nats", alt="it rises", **more)
    return made


SHAPES = [bars, lines, lambda: lines(log_x=True, log_y=True), lambda: lines(marks=[(1.0, 0.1, "this plan")]), squares,
          lambda: squares(log=True)]


NAMES = ["intervals", "curves", "log", "marks", "heat map", "log heat map"]


@pytest.mark.parametrize("shape", SHAPES, ids=NAMES)
def test_the_same_numbers_give_the_same_picture(shape: Any) -> None:
    first, second = shape(), shape()
    assert first == second
    assert json.loads(json.dumps(first.spec, allow_nan=False)) == first.spec
    drawn = to_svg(first.spec)
    assert drawn is not None
    assert drawn.startswith("<svg")
    assert drawn == to_svg(second.spec) == to_svg(json.loads(json.dumps(first.spec)))


@pytest.mark.parametrize("shape", SHAPES, ids=NAMES)
def test_a_specification_is_one_of_vega_lite(shape: Any) -> None:
    """Drawing does not check it again."""
    from altair import Chart
    from jsonschema import ValidationError

    spec = shape().spec
    Chart.from_dict(spec, validate=True)
    with pytest.raises(ValidationError):
        Chart.from_dict({**spec, "title": {"text": 1}}, validate=True)


def test_other_numbers_give_another_picture() -> None:
    assert to_svg(lines().spec) != to_svg(lines(marks=[(1.0, 0.1, "this plan")]).spec)


def test_what_is_not_finite_is_left_out() -> None:
    inf, nan = float("inf"), float("nan")
    (first,) = intervals([("a", "s", 1.0, -inf, inf), ("b", "s", nan, 0.0, 1.0)], title="t", axis="x", alt="a")
    (second,) = curves([(1.0, inf, "s"), (2.0, 1.0, "s")], title="t", x="x", y="y", alt="a", log_y=True)
    for made in (first, second):
        json.dumps(made.spec, allow_nan=False)
        assert to_svg(made.spec)


def test_the_words_are_kept() -> None:
    assert bars().alt == "two coefficients with intervals"
    assert lines().to_dict() == {"picture": "the error falls", "vega_lite": lines().spec}


def test_titles_axes_series_and_marks_are_drawn() -> None:
    drawn = to_svg(lines(marks=[(1.0, 0.1, "this plan")]).spec)
    assert drawn is not None
    for word in ("Error", "epsilon", "error", "predicted", "nothing", "this plan"):
        assert f">{word}<" in drawn
    drawn = to_svg(bars().spec)
    assert drawn is not None
    for word in ("Coefficients", "euro", "age", "sex", "noise", "total"):
        assert f">{word}<" in drawn


def test_a_single_series_needs_no_legend() -> None:
    (made,) = curves(POINTS[:2], title="t", x="x", y="y", alt="a")
    drawn = to_svg(made.spec)
    assert drawn is not None
    assert ">predicted<" not in drawn


def test_pictures_load_nothing() -> None:
    for shape in SHAPES:
        spec = shape().spec
        assert '"url"' not in json.dumps(spec)
        drawn = to_svg(spec)
        assert drawn is not None
        assert "href" not in drawn
        assert "<image" not in drawn


def test_marks_of_text_are_escaped() -> None:
    drawn = to_svg(lines(marks=[(1.0, 0.1, "<b>&")]).spec)
    assert drawn is not None
    assert "&lt;b&gt;&amp;" in drawn
    assert "<b>" not in drawn


def test_png() -> None:
    assert to_png(lines().spec, scale=1.0).startswith(b"\x89PNG")


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = lines().spec
    monkeypatch.setattr(render, "available", lambda: False)
    assert lines() == Picture(spec=spec, alt="the error falls")  # specifications need nothing
    assert to_svg(spec) is None
    with pytest.raises(InvalidInput, match=r"pip install 'confide\[plots\]'"):
        to_png(spec)


def test_nothing_to_draw() -> None:
    assert to_svg({}) is None
    with pytest.raises(InvalidInput):
        to_png({})


def test_available_is_about_what_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    assert charts.available() is True
    render.available.cache_clear()
    monkeypatch.setattr(render, "find_spec", lambda name: None if name == "vl_convert" else object())
    assert render.available() is False
    render.available.cache_clear()
    monkeypatch.undo()
    assert render.available() is True
