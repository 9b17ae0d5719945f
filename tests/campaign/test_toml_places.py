"""Where keys and texts stand in TOML: the same as the library's reader finds, in every file of the repository."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.campaign.migrating import places

ROOT = Path(__file__).parents[2]
FILES = sorted(each for folder in ("src", "examples", "tests") for each in (ROOT / folder).rglob("*.toml"))

HARD = r'''a."b ] c".'d"' = 1979-05-27 07:32:00 # e = "f"
"\u00e9" . g = -1e5
[ h . i ] # ]
j = [ """k"l\"""""" , '' , { m = 1, 'n' = [ "]}" ], o.p = "," }, # "
  "q" , ]
[[h.r]]
s = """
]] = "" \""" # no
"""
t = true
[h.r.u]
v = \'\'\'+"""\'\'\'
w = {}
[[h.r]]
x = []
y = "line \\" # "z"
'''.replace("\\'", "'")


def found(text: str) -> list[tuple[Any, ...]]:
    return sorted({(each.path, None if each.is_key else each.text) for each in places(text)}, key=repr)


def read(text: str) -> list[tuple[Any, ...]]:
    def flat(value: Any, path: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
        for key, inner in value.items() if isinstance(value, dict) else ():
            yield (*path, key), None
            yield from flat(inner, (*path, key))
        for inner in value if isinstance(value, list) else ():
            yield from flat(inner, path)
        if isinstance(value, str):
            yield path, value

    return sorted(set(flat(tomllib.loads(text), ())), key=repr)


def letters_are_where_they_are_said_to_be(text: str) -> bool:
    def literal(each: str) -> str:
        return str(tomllib.loads(f"it = {each}")["it"]) if each[0] in "\"'" else each

    ends = [(each.start, each.end) for each in places(text)]
    return ends == sorted(ends) and all(literal(text[each.start : each.end]) == each.text for each in places(text))


@pytest.mark.parametrize("path", [*FILES, ROOT / "pyproject.toml"], ids=lambda path: path.stem)
def test_files_of_the_repository(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert found(text) == read(text)
    assert letters_are_where_they_are_said_to_be(text)


@pytest.mark.parametrize("text", [HARD, HARD.replace("\n", "\r\n"), HARD.rstrip(), "", "# nothing", "a=1",
                                  "a='''\n'''", 'a = """"""\nb = "c"', "a = ''''b'''''"])
def test_hard_documents(text: str) -> None:
    assert found(text) == read(text)
    assert letters_are_where_they_are_said_to_be(text)


KEYS = st.sampled_from(["a", "b-1", '"c d"', "'e.f'", '"\\""'])
VALUES = st.recursive(
    st.sampled_from(["1", "-1.5e3", "true", "1979-05-27", "07:32:00", '"x"', "'y # z'", '"""m\n"n" o"""', "'''\n]'''",
                     '"\\\\"', "'\"'"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda each: "[ " + ", # [\n".join(each) + "\n]"),
        st.lists(st.tuples(KEYS, inner), max_size=3, unique_by=lambda pair: pair[0]).map(
            lambda each: "{ " + ", ".join(f"{key}={value}" for key, value in each) + " }")),
    max_leaves=8)


@given(st.lists(st.tuples(KEYS, VALUES), max_size=4, unique_by=lambda pair: pair[0]))
def test_documents_of_all_shapes(pairs: list[tuple[str, str]]) -> None:
    text = "\n".join(f"  {key} = {value}  # {key} = 'no'" for key, value in pairs) + "\n[t]\nlast = 'it'"
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return  # a text of several lines, or a comment, in an inline table
    assert found(text) == read(text)
    assert letters_are_where_they_are_said_to_be(text)
