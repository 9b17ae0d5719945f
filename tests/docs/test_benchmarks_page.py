"""The page of benchmarks is made from the stored results: every subject is measured, and nothing was typed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_that_of_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import page
    from benchmarks.__main__ import RESULTS, SUBJECTS

    shown = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert shown == page.render(RESULTS, SUBJECTS), "do `python -m benchmarks --page`"
    assert "No result for" not in shown
    assert "at small sizes" not in shown
