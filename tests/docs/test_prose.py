"""Pages, templates and the texts of the evidence use the words of today, and speak of people as they.

What is looked at: the README and every page, outside of code; the templates of campaign files; every string of
`confide.evidence`, docstrings included. `test_docstrings.py` looks through all other docstrings.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_docstrings import prose

from retired_words import IN_DOCSTRINGS, IN_TEXTS, PROSE

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "confide"
PAGES = [ROOT / "README.md", *(path for path in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in path.parts)]
TEMPLATES = [path for path in sorted(SOURCE.rglob("*.toml")) if "campaign" in path.parts]
EVIDENCE = sorted((SOURCE / "evidence").rglob("*.py"))

OWN_WORDS = {"upgrade.md": "it tells which old word is which word today"}
"""Pages that are not looked through, and why."""

NOT_YET: dict[str, int] = {"docs/kinds/bits-unknown-costs.md": 1, "docs/kinds/matching.md": 1}
"""Page -> how many retired words are left at most. A number falls to nothing and never rises."""

OF_PAGES = {pattern: today for table in (PROSE, IN_TEXTS) for today, words in table.items() for pattern in words}
OF_TEMPLATES = {pattern: today for today, words in PROSE.items() for pattern in words}
OF_EVIDENCE = {pattern: today for table in (PROSE, IN_DOCSTRINGS, IN_TEXTS) for today, words in table.items()
               for pattern in words}


def without_code(page: str) -> str:
    """A page without what stands in fences and in backticks, with as many lines."""
    fences = re.sub(r"(?ms)^( *)(```+|~~~+).*?^\1\2 *$", lambda match: "\n" * match.group().count("\n"), page)
    return re.sub(r"`[^`\n]+`", "``", fences)


def retired(text: str, words: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Line, and the word with the one that stands for it today."""
    for pattern, today in words.items():
        for match in re.finditer(rf"(?<![\w-])(?:{pattern})(?![\w-])", text):
            yield text[: match.start()].count("\n") + 1, f"{match.group()!r} is {today}"


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of every string, docstrings without their examples."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, re.sub(r"`[^`]+`", "``", prose(node.value))


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in OWN_WORDS], ids=name)
def test_pages_use_the_words_of_today(page: Path) -> None:
    found = list(retired(without_code(page.read_text(encoding="utf-8")), OF_PAGES))
    assert len(found) <= NOT_YET.get(name(page), 0), found


@pytest.mark.parametrize("template", TEMPLATES, ids=name)
def test_templates_use_the_words_of_today(template: Path) -> None:
    assert list(retired(template.read_text(encoding="utf-8"), OF_TEMPLATES)) == []


def test_the_evidence_uses_the_words_of_today() -> None:
    assert [f"{name(path)}:{line + at - 1}: {word}" for path in EVIDENCE
            for line, text in texts(path.read_text(encoding="utf-8"))
            for at, word in retired(text, OF_EVIDENCE)] == []


def test_pages_that_are_left_out_are_there() -> None:
    assert {page.name for page in PAGES} >= OWN_WORDS.keys()
    assert {name(page) for page in PAGES} >= NOT_YET.keys()


def test_much_is_looked_at() -> None:
    assert len(PAGES) > 50
    assert len(TEMPLATES) >= 10
    assert sum(len(list(texts(path.read_text(encoding="utf-8")))) for path in EVIDENCE) > 5_000


@pytest.mark.parametrize(("text", "count"), [
    ("As she sees it.", 1), ("Hers, herself.", 2), ("To whom?", 1), ("A person, whose share it is.", 1),
    ("People whose bits agree.", 1), ("A law whose mean is 0.", 0), ("A planted fault.", 1), ("In the door.", 1),
    ("Others are there.", 0), ("`hers`", 0), ("```\nher\n```", 0), ("  ```bash\n  hers=1\n  ```\nShe.", 1),
    ("The reserve is held back.", 1), ("Indoor plans.", 0),
])
def test_what_is_found(text: str, count: int) -> None:
    assert len(list(retired(without_code(text), OF_PAGES))) == count


def test_lines_are_counted_through_code() -> None:
    assert [line for line, _ in retired(without_code("One.\n\n```\nher\n```\nShe."), OF_PAGES)] == [6]
