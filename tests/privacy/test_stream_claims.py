"""Every published claim's verdict is what its evidence says today."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import pytest

from confide.privacy import stream_evidence as evidence

TABLE = tomllib.loads(files("confide.privacy").joinpath("stream_claims.toml").read_text(encoding="utf-8"))
FIELDS = {"id", "statement", "line", "claim", "verdict", "ours", "evidence"}
VERDICTS = {"holds", "holds-with-correction", "false", "vacuous-at-practical-size"}
NUMBERS = {  # the figures that the table's words quote: claimed, found, tolerance of the latter
    "privacy/lemma-2.3.4-privacy": (1.0, 1.0, 1e-3),
    "privacy/lemma-2.3.4-accuracy": (84.77, 37.72, 0.01),
    "privacy/theorem-4.2.4-privacy": (1.0, 4 / 3, 1e-12),
    "privacy/theorem-4.2.4-accuracy": (3298.3, 156.0, 0.5),
    "privacy/theorem-4.2.4-size": (193_000.0, 849.0, 10.0),
    "privacy/algorithm-7-monotone": (0.0, -80.0, 0.5),
}


@pytest.mark.parametrize("row", TABLE["claim"], ids=lambda row: row["id"])
def test_verdicts(row: dict[str, object]) -> None:
    assert set(row) == FIELDS
    assert row["verdict"] in VERDICTS
    found = getattr(evidence, str(row["evidence"]))()
    assert found.verdict == row["verdict"], found
    claimed, ours, tolerance = NUMBERS[str(row["id"])]
    assert found.claimed == pytest.approx(claimed, rel=0.02, abs=1e-12)
    assert found.found == pytest.approx(ours, abs=tolerance)


def test_ids_are_unique_and_every_evidence_is_used() -> None:
    ids = [row["id"] for row in TABLE["claim"]]
    assert set(ids) == set(NUMBERS)
    used = {row["evidence"] for row in TABLE["claim"]}
    defined = {name for name, value in vars(evidence).items()
               if callable(value) and getattr(value, "__module__", "") == evidence.__name__
               and not name.startswith("_") and name != "Finding"}
    assert used == defined
