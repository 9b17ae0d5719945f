"""Quick runs of studies, as the tests look at them."""

from __future__ import annotations

from functools import cache
from typing import Any

from confide.contract.presentation import Picture, Table
from confide.evidence import Findings, study


@cache
def _findings(name: str) -> Findings:
    """A quick run, with a picture, and a progress bar that ends full."""
    seen = []
    findings = study(name).run(True, lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1], "the progress bar ends full"
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert any(isinstance(block, Picture) and block.spec and block.alt for block in findings.blocks)
    return findings


def quick_run(name: str) -> dict[str, tuple[float | None, float, str]]:
    """Quantity -> (published, ours, agreement)."""
    return {c.quantity: (c.published, c.ours, c.agreement) for c in _findings(name).compared}


def last_table(name: str) -> tuple[tuple[Any, ...], ...]:
    """Its rows."""
    return [block for block in _findings(name).blocks if isinstance(block, Table)][-1].rows


def first_words(name: str) -> str:
    """What is said of its first picture."""
    return next(block.alt for block in _findings(name).blocks if isinstance(block, Picture))
