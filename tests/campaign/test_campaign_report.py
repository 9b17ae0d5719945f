"""The report page: one file, no network, every picture with its words, nothing a title could smuggle in."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from campaign.pages import Parsed, self_contained
from confide import charts
from confide.campaign.report import page
from confide.charts import curves, render
from confide.contract import Picture, Section, Table, Text

EVIL = '<script>alert("x")</script>&<img src=http://evil.example/x>'


def picture(alt: str = "one line rises", title: str = "A line") -> Picture:
    (made,) = curves([(0.0, 0.0, "a"), (1.0, 1.0, "a")], title=title, x="x", y="y", alt=alt)
    return made


def test_a_page_stands_alone() -> None:
    text = page("Pay", "A lead.", [Section(title="Result", blocks=(
        Text(("first", "second")),
        Table(columns=("coefficient", "value"), rows=(("age", 0.5), ("none", None)), note="holds with 95%"),
        picture()))])
    found = self_contained(text)
    assert text.startswith("<!doctype html>")
    assert found.tags.count("svg") == found.tags.count("figure") == 1
    assert found.tags.count("p") == 4  # lead, two paragraphs, the note
    for word in ("Pay", "A lead.", "Result", "first", "second", "coefficient", "0.5", "holds with 95%"):
        assert word in found.words
    assert ("html", "lang", "en") in found.attributes
    assert ("td", "class", "number") in found.attributes
    assert text.count("<h1>") == 1
    assert text.endswith("</html>\n")


def test_pictures_keep_their_words() -> None:
    text = page("t", "l", [Section(title="s", blocks=(picture(alt='it "rises" & falls'),))])
    found = Parsed(text)
    assert ("figure", "aria-label", 'it "rises" & falls') in found.attributes
    assert 'it "rises" & falls' in found.words


@pytest.mark.parametrize("place", ["title", "lead", "section", "text", "column", "cell", "note", "alt", "chart"])
def test_nothing_is_smuggled_in(place: str) -> None:
    def words(here: str) -> str:
        return EVIL if here == place else here

    text = page(words("title"), words("lead"), [Section(title=words("section"), blocks=(
        Text((words("text"),)), Table(columns=(words("column"),), rows=((words("cell"),),), note=words("note")),
        picture(alt=words("alt"), title=words("chart"))))])
    found = self_contained(text)
    assert EVIL in found.words  # it is shown, as text
    assert "<script" not in text
    assert "<img" not in text


def test_badges_only_where_due() -> None:
    plain, study, private = (page("t", "l", [Section(title="s", **kind)]) for kind in
                             ({}, {"study": True}, {"private": True}))
    assert ("p", "class", "badge") not in Parsed(plain).attributes
    assert ("section", "class", "") in Parsed(plain).attributes
    assert "not a release" in Parsed(study).words
    assert ("section", "class", "study") in Parsed(study).attributes
    assert "for one participant or the operator" in Parsed(private).words
    assert ("section", "class", "private") in Parsed(private).attributes
    assert "not a release" not in Parsed(private).words


def test_without_the_extra_the_page_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    made = picture()
    monkeypatch.setattr(render, "available", lambda: False)
    found = self_contained(page("t", "l", [Section(title="s", blocks=(made,))]))
    assert "svg" not in found.tags
    assert "Picture left out (install the extra [plots]): one line rises" in found.words
    assert charts.to_svg(made.spec) is None


def test_an_empty_page() -> None:
    found = self_contained(page("", "", []))
    assert "main" in found.tags


def test_a_picture_that_could_not_be_checked_is_left_out_of_a_pack() -> None:
    (unknown,) = charts.heat_map([(0.25, 0.25, 1.0), (0.75, 0.25, 2.0)], step=0.5, title="Loss", x="a", y="b",
                                 value="c", alt="it rises")
    shown = [Section(title="s", blocks=(picture(), unknown))]
    found = self_contained(page("t", "l", shown, drawn="checked"))
    assert found.tags.count("svg") == 1
    assert "confide verify does not know): it rises" in found.words
    assert self_contained(page("t", "l", shown)).tags.count("svg") == 2
    assert self_contained(page("t", "l", shown, drawn="none")).tags.count("svg") == 0


def test_a_policy_lets_a_browser_load_nothing() -> None:
    text = page("t", "l", [])
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    style = text.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.split("; ") == ["default-src 'none'", f"style-src 'sha256-{digest}'", "base-uri 'none'",
                                  "form-action 'none'"]
    assert text.index("Content-Security-Policy") < text.index("<style>")


def test_a_folded_section_shows_its_heading_alone_and_all_of_it_in_print() -> None:
    text = page("t", "l", [Section(title="Plan", folded=True, blocks=(Text(("a formula",)),)),
                           Section(title="Found", found=True, blocks=(Text(("12% +- 2%",)),))])
    found = self_contained(text)
    assert found.tags.count("details") == found.tags.count("summary") == 1
    assert re.search(r"<details>\s*<summary><h2>Plan</h2></summary>\s*<p>a formula</p>\s*</details>", text)
    assert ("section", "class", "found") in found.attributes
    assert "details::details-content" in text[text.index("@media print"):text.index("</style>")]
