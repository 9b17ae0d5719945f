"""Every published claim's verdict is what its evidence says today."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import pytest

from confide.regression import evidence

TABLE = tomllib.loads(files("confide.regression").joinpath("claims.toml").read_text(encoding="utf-8"))
FIELDS = {"id", "statement", "line", "claim", "verdict", "ours", "evidence"}
VERDICTS = {"holds", "holds-with-correction", "false", "vacuous-at-practical-size"}
NUMBERS = {  # the figures that the table's words quote
    "regression/lemma-6": (6.0, 32.04, 0.01),
    "regression/theorem-2": (1.0, 5.34, 0.01),
    "regression/lemma-6-range": (6.0, 8.378, 0.01),
    "regression/lemma-9": (2.0, 110.0, 0.01),
    "regression/lemma-10": (4e-9, 4.7e-4, 1e-5),
    "regression/lemma-3": (4472.14, 4.519, 0.01),
    "regression/lemma-2": (1.25e-4, 1e-3, 1e-5),
    "regression/remark-172": (0.0, -1.0, 1e-12),
    "regression/lemma-4-positive": (0.0, -1.0, 1e-12),
    "regression/group-size": (0.122, 0.201, 1e-3),
    "regression/payments-nonnegative": (0.0, -1.65, 0.01),
}


@pytest.mark.parametrize("row", TABLE["claim"], ids=lambda row: row["id"])
def test_verdicts(row: dict[str, object]) -> None:
    assert set(row) == FIELDS
    assert row["verdict"] in VERDICTS
    found = getattr(evidence, str(row["evidence"]))()
    assert found.verdict == row["verdict"], found
    if row["id"] in NUMBERS:
        claimed, ours, tolerance = NUMBERS[str(row["id"])]
        assert found.claimed == pytest.approx(claimed, rel=0.05, abs=1e-12)
        assert found.found == pytest.approx(ours, abs=tolerance)


def test_ids_are_unique_and_every_evidence_is_used() -> None:
    ids = [row["id"] for row in TABLE["claim"]]
    assert len(set(ids)) == len(ids)
    used = {row["evidence"] for row in TABLE["claim"]}
    defined = {name for name, value in vars(evidence).items()
               if callable(value) and getattr(value, "__module__", "") == evidence.__name__
               and not name.startswith("_") and name != "Finding"}
    assert used == defined
