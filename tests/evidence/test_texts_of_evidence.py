"""The texts of the evidence, which pages and commands show, use the words of today, and speak of people as they."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import confide.evidence
from retired_words import IN_DOCSTRINGS, IN_TEXTS, PROSE, retired

FOLDER = Path(confide.evidence.__file__).parent


def texts() -> Iterator[tuple[str, int, str]]:
    """File, line and text of every string; docstrings without their examples, and no names in code."""
    for path in sorted(FOLDER.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = re.split(r"(?m)^\s*(?:Examples?:|>>> )", node.value, maxsplit=1)[0]
                yield path.relative_to(FOLDER).as_posix(), node.lineno, re.sub(r"`[^`]+`", "``", text)


def test_they_use_the_words_of_today() -> None:
    assert [f"{path}:{line + at - 1}: {word}" for path, line, text in texts()
            for at, word in retired(text, PROSE, IN_DOCSTRINGS, IN_TEXTS)] == []


def test_much_is_looked_at() -> None:
    found = list(texts())
    assert len(found) > 5_000
    assert any("Best responses are handed out" in text for _, _, text in found)
