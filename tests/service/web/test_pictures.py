"""Pictures in a real browser, whose letters are wider than those of the drawing software: no text is cut, none lies on
another one, and none is shortened.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from confide.campaign.pack import sections
from confide.campaign.report import page, pictures
from confide.campaign.verification.reading import read_folder
from confide.charts import curves, heat_map, histogram, intervals
from confide.charts.plotted import Curves, plotted
from confide.charts.shapes import distinguished
from confide.contract.outcome import PublicOutcome
from confide.contract.outcome_folder import public_parts
from confide.contract.presentation import Picture, Section, Table, Text
from golden.golden_files import campaign, pack
from service.web.browsing import too_wide

_NAMES = [f"{k}. married, with {k} children, owns a home"[:40].ljust(40, "s") for k in range(1, 13)]
_FONTS = ("sans-serif", pytest.param("Liberation Sans", marks=pytest.mark.slow))

_MEASURE = """
() => Array.from(document.querySelectorAll("figure svg")).map(svg => {
    const out = svg.getBoundingClientRect(), scale = out.width / svg.viewBox.baseVal.width;
    const texts = Array.from(svg.querySelectorAll("text"))
        .filter(it => it.textContent.trim() && it.getAttribute("opacity") !== "0")
        .map(it => [it.textContent, it.getBoundingClientRect()]);
    const faults = [];
    texts.forEach(([said, box], place) => {
        if (Math.min(box.left - out.left, out.right - box.right, box.top - out.top, out.bottom - box.bottom) < -1)
            faults.push(said + " is cut");
        if (said.includes("\u2026")) faults.push(said + " is shortened");
        for (const [other, its] of texts.slice(place + 1))
            if (Math.min(box.right, its.right) - Math.max(box.left, its.left) > scale
                && Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top) > 2 * scale)
                faults.push(said + " lies on " + other);
    });
    const figure = svg.parentElement.getBoundingClientRect();
    if (out.width < 0.95 * figure.width) faults.push("it is " + out.width + " of " + figure.width + " pixels wide");
    return [texts.length, faults];
})
"""


def _long() -> Iterator[Picture]:
    """Every shape, with names of 40 letters and large numbers."""
    large = [(name, "answer", 1e6 * k, 1e6 * k - 3e5, 1e6 * k + 3e5) for k, name in enumerate(_NAMES)]
    for title in ("The largest answers", f"Share of {_NAMES[0]} among the reports"):
        yield from intervals(large, title=title, axis=f"share of {_NAMES[1]}", alt="a")
    yield from intervals([(name, "one", 0.05 * k, 0.05 * k - 0.01, 0.05 * k + 0.01) for k, name in
                          enumerate(_NAMES[:6])], title="Shares", axis="share of the records", alt="a")
    yield from intervals([(name, series, 10.0**k, 10.0 ** (k - 0.5), 10.0 ** (k + 0.5)) for k, name in
                          enumerate(_NAMES[:6]) for series in _NAMES[6:10]], title="T", axis="USD", alt="a", log=True)
    for high in (1.0, 4.0, 60.0, 280.0, 123_456.0, 9_876_543_210.0):
        rows = [(high * x / 20, high * x * (k + 1), name) for k, name in enumerate(_NAMES[:6]) for x in range(21)]
        for picture in curves(rows, title=f"Prices of {_NAMES[0]}", x=f"rounds of {_NAMES[1]}",
                              y=f"price, in units of {_NAMES[2]}", alt="a"):
            yield picture
            yield from distinguished([picture])
    rows = [(10.0**x, 10.0 ** (x * k), name) for k, name in enumerate(_NAMES[:3]) for x in range(-3, 4)]
    yield from curves(rows, title="T", x="epsilon", y="y", alt="a", log_x=True, log_y=True,
                      marks=[(1000.0, 1.0, _NAMES[3])])
    yield from heat_map([(0.1 * x, 0.1 * y, 1e6 * (x + y)) for x in range(1, 9, 2) for y in range(1, 9, 2)], step=0.2,
                        title="Loss", x="first", y="second", value="nats", alt="a")
    yield from histogram([0.0, 1.0, 5.0, 9e6], bins=24, title="H", x=_NAMES[0], y=_NAMES[1], alt="a")


def _renamed(picture: Picture) -> Picture:
    """The same marks with names of 40 letters, and a million times as large."""
    found, many = plotted(picture.spec), 1e6
    assert found is not None
    if isinstance(found, Curves):
        names = {name: f"{k} {name}".ljust(40, "n")[:40] for k, name in enumerate(found.colours)}
        (made,) = curves([(x, y * many, names[name]) for x, y, name in found.rows if x is not None and y is not None],
                         title=found.title, x=found.x, y=found.y, alt="a", log_x=found.log_x, log_y=found.log_y,
                         marks=[(x, y * many, label.ljust(40, "n")) for x, y, label in found.marks
                                if x is not None and y is not None])
        return distinguished([made])[0] if found.dashes else made
    names = {name: f"{k} {name}".ljust(40, "n")[:40] for k, name in enumerate(
        dict.fromkeys(text for row in found.rows for text in row[:2]))}
    (made,) = intervals([(names[label], names[series], *(each * many for each in numbers))
                         for label, series, *numbers in found.rows], title=found.title, axis=found.axis, alt="a",
                        log=found.log)
    return made


def _faults(chromium: Browser, pictures: Sequence[Picture], *, font: str = "sans-serif") -> list[str]:
    """What is wrong with the pictures of a page."""
    tab: Page = chromium.new_page(viewport={"width": 1000, "height": 900})
    tab.set_content(page("T", "L", [Section(title="P", blocks=tuple(pictures))]).replace(
        'font-family="sans-serif"', f'font-family="{font}"'))
    found = tab.evaluate(_MEASURE)
    tab.close()
    assert len(found) == len(pictures)
    assert all(count > 5 for count, _ in found)
    return [f"picture {place}: {fault}" for place, (_, faults) in enumerate(found, 1) for fault in faults]


@pytest.mark.parametrize("font", _FONTS)
def test_no_text_of_a_picture_is_cut_or_covered(chromium: Browser, font: str) -> None:
    assert _faults(chromium, list(_long()), font=font) == []


@pytest.mark.parametrize("name", [
    "bits_illness", "pairs_exam", "costs_sleep", "bundles_tools", "matching_courses", "program_places",
    "queries_marginal_fit", "regression_rent", "search_ring", "mean_hours"])
def test_no_text_of_a_kind_s_pictures_is_cut_or_covered(chromium: Browser, name: str) -> None:
    """Its result page and its plan, as they are and with long names."""
    it = campaign(name)
    outcome = PublicOutcome(**public_parts(read_folder(pack(name), field="pack", tables=False).files))
    found = pictures(sections(it.file, it.plan, outcome))
    assert found
    assert _faults(chromium, [*found, *(_renamed(each) for each in found)]) == []


@pytest.mark.parametrize("limit", [60, 180])
def test_a_label_that_is_shortened_is_seen(chromium: Browser, limit: int) -> None:
    """As the drawing software does by itself, where nothing else is written."""
    (picture,) = intervals([(name, "one", 0.5, 0.4, 0.6) for name in _NAMES], title="T", axis="share", alt="a")
    assert _faults(chromium, [picture]) == []
    limited = json.loads(re.sub(r'"labelLimit": \d+', f'"labelLimit": {limit}', json.dumps(picture.spec)))
    assert limited != picture.spec
    found = _faults(chromium, [replace(picture, spec=limited)])
    assert [fault for fault in found if fault.endswith("is shortened")]


@pytest.mark.parametrize("media", ["screen", "print"])
@pytest.mark.parametrize("width", [390, 700])
def test_long_names_are_not_wider_than_the_page(
    chromium: Browser, media: Literal["screen", "print"], width: int
) -> None:
    """Names without a blank: 700 pixels are a sheet of paper, on which nothing scrolls."""
    one, other = "W" * 120, "M" * 120
    table = Table(columns=("level", one, "value"), rows=((one, other, 1234.567), ("age", other, 0.25)), note=one)
    html = page("A" * 10_000, "B" * 300, [
        Section(title="Result", found=True, blocks=(Text((f"{one} is at {other}.",)), table)),
        Section(title=one, folded=True, blocks=(Text((other,)), table)),
        Section(title="Drawn", private=True, blocks=tuple(intervals(
            [(one, "a", 0.1, 0.05, 0.15), (other, "a", 0.2, 0.1, 0.3)], title=one, axis=other, alt=one)))])
    tab = chromium.new_page(viewport={"width": width, "height": 900})
    tab.set_content(html)
    tab.emulate_media(media=media)
    assert too_wide(tab) == 0
    if (media, width) == ("print", 700):
        assert tab.evaluate('Array.from(document.querySelectorAll(".scroll")).every(it => '
                            "it.scrollWidth <= it.clientWidth)")
    tab.close()


def test_what_is_folded_is_open_in_print(chromium: Browser) -> None:
    tab = chromium.new_page()
    tab.set_content(page("T", "L", [Section(title="Plan", folded=True, blocks=(Text(("a formula",)),))]))
    words = tab.get_by_text("a formula")
    assert not words.is_visible()
    tab.emulate_media(media="print")
    assert words.is_visible()
    tab.emulate_media(media="screen")
    tab.get_by_text("Plan").click()
    assert words.is_visible()
    tab.close()
