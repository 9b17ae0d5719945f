"""Pages and templates use the words of today, and speak of people as they.

What is looked at: the README and every page, outside of code, and the templates of campaign files.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from retired_words import IN_TEXTS, PROSE, retired

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "confide"
PAGES = [ROOT / "README.md", *(path for path in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in path.parts)]
TEMPLATES = [path for path in sorted(SOURCE.rglob("*.toml")) if "campaign" in path.parts]

OWN_WORDS = {"upgrade.md": "it tells which old word is which word today"}
"""Pages that are not looked through, and why."""


def without_code(page: str) -> str:
    """A page without what stands in fences and in backticks, with as many lines."""
    fences = re.sub(r"(?ms)^( *)(```+|~~~+).*?^\1\2 *$", lambda match: "\n" * match.group().count("\n"), page)
    return re.sub(r"`[^`\n]+`", "``", fences)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in OWN_WORDS], ids=name)
def test_pages_use_the_words_of_today(page: Path) -> None:
    found = list(retired(without_code(page.read_text(encoding="utf-8")), PROSE, IN_TEXTS))
    assert found == []


@pytest.mark.parametrize("template", TEMPLATES, ids=name)
def test_templates_use_the_words_of_today(template: Path) -> None:
    assert list(retired(template.read_text(encoding="utf-8"), PROSE)) == []


def test_pages_that_are_left_out_are_there() -> None:
    assert {page.name for page in PAGES} >= OWN_WORDS.keys()


def test_much_is_looked_at() -> None:
    assert len(PAGES) > 50
    assert len(TEMPLATES) >= 10


@pytest.mark.parametrize(("text", "count"), [
    ("As she sees it.", 1), ("Hers, herself.", 2), ("To whom?", 1), ("A person, whose share it is.", 1),
    ("People whose bits agree.", 1), ("A law whose mean is 0.", 0), ("A planted fault.", 1), ("In the door.", 1),
    ("Others are there.", 0), ("`hers`", 0), ("```\nher\n```", 0), ("  ```bash\n  hers=1\n  ```\nShe.", 1),
    ("The reserve is held back.", 1), ("Indoor plans.", 0),
])
def test_what_is_found(text: str, count: int) -> None:
    assert len(list(retired(without_code(text), PROSE, IN_TEXTS))) == count


def test_lines_are_counted_through_code() -> None:
    assert [line for line, _ in retired(without_code("One.\n\n```\nher\n```\nShe."), PROSE, IN_TEXTS)] == [6]
