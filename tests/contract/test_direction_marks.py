"""What turns the direction of the text around it: in campaign files, in roles, and in what is stored already."""

from __future__ import annotations

from pathlib import Path

import pytest

from confide.campaign.file import parse
from confide.contract import kind, kind_names
from confide.contract.direction_marks import already_judged, check_direction, check_directions
from confide.contract.encoding import decode, encode
from confide.contract.errors import InvalidInput
from confide.release.columns import Binned, Bit, Levels

MARKS = [chr(point) for point in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))]


@pytest.mark.parametrize("mark", MARKS, ids=ascii)
def test_every_mark_is_named(mark: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^title: has U\+{ord(mark):04X} [A-Z-]+ ") as caught:
        check_direction("title", f"wages {mark}x")
    assert "delete this character" in str(caught.value)
    assert mark not in str(caught.value)


@pytest.mark.parametrize("text", ["שנות לימוד", "كم ساعة؟", "a\u200eb\u200f", "tab\t", "", 3, None])
def test_letters_of_all_languages_pass(text: object) -> None:
    check_direction("title", text)


def test_a_place_in_a_document_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"^goods\[2\]\.name: has U\+202E"):
        check_directions({"goods": [{"name": "a"}, {"name": "\u202eb"}]})
    with pytest.raises(InvalidInput, match=r"^places: has U\+202E RIGHT-TO-LEFT OVERRIDE in a key, which"):
        check_directions({"places": {"\u202eb": 1}})


@pytest.mark.parametrize("name", kind_names())
def test_every_kind_refuses_it_in_a_title_and_reads_what_is_stored(name: str) -> None:
    text = kind(name).template.replace('title = "', 'title = "\\u202e', 1)
    with pytest.raises(InvalidInput, match=r"^title: has U\+202E"):
        parse(text.encode(), Path("new.toml"))
    assert parse(text.encode(), Path("stored.toml"), stored=True).title.startswith("\u202e")


@pytest.mark.parametrize(("role", "fields", "named"), [
    (Binned, {"column": "\u202ea", "lower": 0, "upper": 1, "bins": 2}, "column"),
    (Binned, {"column": "a", "lower": 0, "upper": 1, "bins": 2, "unit": "\u202ea"}, "unit"),
    (Levels, {"column": "\u202ea", "levels": ("a", "b")}, "column"),
    (Levels, {"column": "a", "levels": ("a", "\u202eb")}, r"levels\[2\]"),
    (Bit, {"column": "\u202ea"}, "column"),
    (Bit, {"column": "a", "true": "\u202ea", "false": "b"}, "true"),
])
def test_a_role_refuses_it_when_it_is_made(role: type[Binned | Levels | Bit], fields: dict[str, object],
                                           named: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^{named}: has U\+202E"):
        role(**fields)
    with already_judged():
        stored = role(**fields)
    assert decode(encode(stored, {}), {role.__name__: role}, {}) == stored
    with pytest.raises(InvalidInput):
        role(**fields)


def test_a_stored_file_of_queries_is_planned() -> None:
    text = kind("queries").template
    old = next(line for line in text.splitlines() if line.startswith("levels = ["))
    text = text.replace(old, old.replace('["', '["\\u202e', 1))
    with pytest.raises(InvalidInput, match=r"levels\[1\]: has U\+202E"):
        parse(text.encode(), Path("new.toml"))
    file = parse(text.encode(), Path("stored.toml"), stored=True)
    assert file.kind.plan(file.config).guarantees
