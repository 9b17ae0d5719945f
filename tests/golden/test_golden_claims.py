"""The table of claims keeps its rows: ids, words, verdicts and pinned figures, as they stood before they moved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from confide.evidence import Claim, claims, pinned

GOLDEN: list[dict[str, Any]] = json.loads(Path(__file__).with_name("claims.json").read_text(encoding="utf-8"))


def entry(row: Claim) -> dict[str, Any]:
    """A row as the golden file has it; modules are left out, since they may move."""
    pin, stored = pinned()[row.id], row.measured
    return {
        "id": row.id, "family": row.family, "document": row.document, "statement": row.statement, "line": row.line,
        "claim": row.claim, "verdict": row.verdict, "ours": row.correction, "function": row.evidence.function,
        "cost": row.cost, "command": row.command,
        "measured": None if stored is None else {"claimed": stored.claimed, "found": stored.found,
                                                 "day": stored.day.isoformat(), "seconds": stored.seconds},
        "pinned": {"claimed": finite(pin.claimed), "found": finite(pin.found), "within": pin.within},
    }


def finite(value: float) -> float | str:
    """A number as JSON has it."""
    return value if abs(value) < float("inf") else str(value)


def test_every_row_is_what_it_was() -> None:
    assert {row.id: entry(row) for row in claims()} == {each["id"]: each for each in GOLDEN}
