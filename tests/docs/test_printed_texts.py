"""What the program prints is in plain standard English: no text of it uses the words of `IN_PRINTED`.

Texts are the strings of the sources, other than docstrings, with four words or more; the texts of the service's pages;
and the comments of campaign files. Sources are parsed and never imported. The evidence quotes published claims in
their own words, tables of a database keep the comments with which they were made, and the tables of former
words have the words of old packs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from retired_words import IN_PRINTED, PROSE

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "confide"
OWN_WORDS = ("evidence", "migrations", "former_page_words.py", "former_promise_words.py", "schema.py",
             "service_schema.py")
RETIRED = {pattern: today for table in (PROSE, IN_PRINTED) for today, words in table.items() for pattern in words}
_LEAST = 4  # words of a text


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of each string that is no docstring; a value in an f-string is a pair of braces."""
    own = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    within = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if id(node) in own or id(node) in within:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(str(each.value) if isinstance(each, ast.Constant) else "{}"
                                       for each in node.values)


def retired(text: str) -> list[str]:
    """What a text says in words that are used no longer; code between backticks is no text, nor is a list of names."""
    if "_" in text and re.fullmatch(r"[\w ]*", text):
        return []
    said = " ".join(re.sub(r"`[^`]+`", "``", text).split())
    return [f"{match.group()!r} is {today!r}" for pattern, today in RETIRED.items()
            for match in re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", said)]


def faults(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        found = [each for each in texts(ast.parse(text)) if len(each[1].split()) >= _LEAST]
    elif path.suffix == ".html":
        found = [(text[: match.start()].count("\n") + 1, match.group(1))
                 for match in re.finditer(r'_\("((?:[^"\\]|\\.)*)"', text)]
    else:
        found = [(number, line.partition("#")[2]) for number, line in enumerate(text.splitlines(), 1)]
    return [f"{path.relative_to(ROOT)}:{line}: {fault}: {said[:80]}" for line, said in found for fault in retired(said)]


def files() -> list[Path]:
    found = [*SOURCE.rglob("*.py"), *(SOURCE / "service" / "web" / "templates").glob("*.html"),
             *(SOURCE / "campaign").rglob("*.toml"), *(ROOT / "examples").glob("*.toml")]
    return sorted(path for path in found if not {*path.relative_to(ROOT).parts} & {*OWN_WORDS})


@pytest.mark.parametrize("part", sorted({path.relative_to(ROOT).parts[:3][-1] if path.is_relative_to(SOURCE)
                                         else "examples" for path in files()}))
def test_printed_texts_use_the_words_of_today(part: str) -> None:
    assert [fault for path in files() if part in path.relative_to(ROOT).parts for fault in faults(path)] == []


def test_much_is_looked_at() -> None:
    """A reader of texts that finds none would pass every test."""
    assert sum(len(each.split()) >= _LEAST for path in files() if path.suffix == ".py"
               for _, each in texts(ast.parse(path.read_text(encoding="utf-8")))) > 5_000
    assert len([path for path in files() if path.suffix == ".html"]) >= 20
    assert len([path for path in files() if path.suffix == ".toml"]) > 15


@pytest.mark.parametrize(("text", "count"), [
    ("Everybody sees her report.", 1), ("Whoever reports is paid.", 1), ("People whose cost is low report.", 1),
    ("What she gets is paid for.", 2), ("at most 1% of what rows hold", 1), ("What is promised holds.", 1),
    ("Right in 60% of cases, even money beforehand.", 2), ("Each participant is paid their own share.", 0),
    ("What is wrong?", 0), ("`her` is a name", 0), ("people hottest nat_price her", 0),
    ("There is a promise about the share.", 0),
])
def test_what_is_a_fault(text: str, count: int) -> None:
    assert len(retired(text)) == count
