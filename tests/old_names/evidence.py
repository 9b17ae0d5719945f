"""Old names of `confide.evidence` in use: what is done with each, and what the new one gives."""

from __future__ import annotations

from typing import Any


def uses() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.evidence`, and what the new ones give."""
    from confide.evidence import claims

    row, = claims("regression/lemma-6")
    return {("Claim", "ours"): (lambda: row.ours, row.correction)}  # type: ignore[attr-defined]
