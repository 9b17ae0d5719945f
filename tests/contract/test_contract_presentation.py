"""What families show: plain data, the same for a page, a notebook, a terminal and a program."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from confide.contract import InvalidInput, Picture, Section, Table, Text
from confide.contract.presentation import Shown


def test_sections_as_dictionaries() -> None:
    section = Section(title="Result", private=True, blocks=(
        Text(("a", "b")), Table(columns=("x",), rows=((1.5,), (None,)), note="95%"),
        Picture(spec={"mark": "bar"}, alt="bars"),
    ))
    assert section.to_dict() == {"title": "Result", "study": False, "private": True, "blocks": [
        {"text": ["a", "b"]}, {"columns": ["x"], "rows": [[1.5], [None]], "note": "95%"},
        {"picture": "bars", "vega_lite": {"mark": "bar"}},
    ]}


def test_a_table_as_html() -> None:
    table = Table(columns=("<name>", "value"), rows=(("a & b", 1.5), ("<i>", None)), note="<95%>")
    assert table.to_html() == table._repr_html_() == (
        "<table><thead><tr><th>&lt;name&gt;</th><th class=number>value</th></tr></thead><tbody>"
        "<tr><td>a &amp; b</td><td class=number>1.5</td></tr><tr><td>&lt;i&gt;</td><td class=number></td></tr>"
        '</tbody></table><p class="note">&lt;95%&gt;</p>')
    assert [table.numeric(k) for k in (0, 1)] == [False, True]


def test_a_table_as_text() -> None:
    """Columns stand below each other, numbers to the right, and nothing steers the terminal."""
    table = Table(columns=("name", "value"), rows=(("a\x1b[2J", 1.5), ("long name", 1200), ("none", None)), note="95%")
    assert str(table).splitlines() == ["name       value", "a\\x1b[2J     1.5", "long name  1,200", "none", "95%"]


def test_texts_as_text_and_as_html() -> None:
    text = Text(("a < b", "c\x07"))
    assert str(text) == "a < b\nc\\x07"
    assert text.to_html() == "<p>a &lt; b</p><p>c\x07</p>"


@dataclass(frozen=True)
class Both(Shown):
    """Shows a text and a table, whatever its fields are."""

    field: int = 3

    def _blocks(self) -> Sequence[Text | Table]:
        return (Text(("above",)), Table(columns=("x",), rows=((self.field,),)))


def test_what_shows_itself_is_the_same_everywhere() -> None:
    """A dataclass, and a dataclass below it, show their blocks in place of their fields."""

    @dataclass(frozen=True)
    class Below(Both):
        more: str = "<b>"

    for shown in (Both(), Below()):
        assert repr(shown) == str(shown) == "above\nx\n3"
        assert shown._repr_html_() == "<p>above</p>" + Table(columns=("x",), rows=((3,),)).to_html()


def test_a_picture_in_a_notebook() -> None:
    spec = {"$schema": "https://vega.github.io/schema/vega-lite/v6.1.0.json", "mark": "bar"}
    shown = Picture(spec=spec, alt="bars")._repr_mimebundle_(include=None, exclude=None)
    assert shown.pop("image/svg+xml").startswith("<svg")
    assert shown == {"application/vnd.vegalite.v6+json": spec, "text/plain": "bars"}
    assert Picture(spec={}, alt="bars")._repr_mimebundle_() == {"text/plain": "bars"}


def test_a_picture_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn or as its specification, by the ending; what cannot be is refused."""
    picture = Picture(spec={"$schema": "https://vega.github.io/schema/vega-lite/v6.1.0.json", "mark": "bar",
                            "data": {"values": []}}, alt="bars")
    for name, start in (("a.svg", b"<svg"), ("a.PNG", b"\x89PNG"), ("a.html", b"<"), ("a.json", b"{")):
        picture.save(tmp_path / name)
        assert (tmp_path / name).read_bytes().lstrip().startswith(start)
    assert json.loads((tmp_path / "a.json").read_text()) == picture.spec
    with pytest.raises(InvalidInput, match=r"path: ends in '\.pdf'; must end in \.svg"):
        picture.save(tmp_path / "a.pdf")
    with pytest.raises(InvalidInput, match="nothing to draw"):
        Picture(spec={}, alt="bars").save(tmp_path / "b.svg")
    monkeypatch.setattr("confide.contract.presentation.find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match=r"confide\[plots\]"):
        picture.save(tmp_path / "b.svg")


def test_a_sections_paragraphs_and_tables() -> None:
    """Those of all its blocks, in order; pictures have neither."""
    first, second = (Table(columns=("x",), rows=((k,),)) for k in range(2))
    section = Section(title="Result", blocks=(
        Text(("a", "b")), first, Picture(spec={}, alt="bars"), Text(("c",)), second))
    assert section.paragraphs == ("a", "b", "c")
    assert section.tables == (first, second)
    assert (Section(title="Nothing").paragraphs, Section(title="Nothing").tables) == ((), ())
