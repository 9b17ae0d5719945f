"""Every published claim's verdict is what its evidence says today."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import get_args

import pytest

from confide.contract.claims import Verdict
from confide.privacy import evidence

TABLE = tomllib.loads(files("confide.privacy").joinpath("claims.toml").read_text(encoding="utf-8"))
FIELDS = {"id", "statement", "line", "claim", "verdict", "ours", "evidence"}
NUMBERS = {  # the figures that the table's words quote: claimed, found, tolerance of the latter
    "privacy/theorem-2.2.2": (0.03, 0.0298, 1e-4),
    "privacy/theorem-2.2.4": (6.308, 4.775, 5e-4),
    "privacy/corollary-2.2.5": (0.999, 2.64, 0.005),
    "privacy/theorem-2.3.2": (1e-5, 4.1e-8, 1e-9),
    "privacy/theorem-2.3.2-beyond": (0.01, 0.0406, 5e-5),  # spec query_release A3
    "privacy/theorem-2.3.3": (1.0, 1.0, 1e-6),
    "privacy/theorem-2.3.3-zcdp": (4.0, 0.9999, 1e-4),
    "privacy/footnote-4": (1.4142, 1.389, 5e-4),  # spec query_release, erratum 13
}


@pytest.mark.parametrize("row", TABLE["claim"], ids=lambda row: row["id"])
def test_verdicts(row: dict[str, object]) -> None:
    assert set(row) == FIELDS
    assert row["verdict"] in get_args(Verdict)
    found = getattr(evidence, str(row["evidence"]))()
    assert found.verdict == row["verdict"], found
    claimed, ours, tolerance = NUMBERS[str(row["id"])]
    assert found.claimed == pytest.approx(claimed, rel=1e-3)
    assert found.found == pytest.approx(ours, abs=tolerance)


def test_figures_that_are_quoted_beside_the_verdict() -> None:
    # spec query_release A3 and erratum 13
    assert evidence._classic(20.0, 1e-5) == pytest.approx(1.5e-3, abs=5e-5)
    largest, draws = 2 * 2.0 * 15 / 30_162, 15 * 1000
    assert evidence.theorem(largest, draws, 1e-3) == pytest.approx(0.965, abs=5e-4)
    assert evidence.theorem(largest, draws, 1e-6) == pytest.approx(1.340, abs=5e-4)


def test_ids_are_unique_and_every_evidence_is_used() -> None:
    ids = [row["id"] for row in TABLE["claim"]]
    assert len(set(ids)) == len(ids)
    used = {row["evidence"] for row in TABLE["claim"]}
    defined = {name for name, value in vars(evidence).items()
               if callable(value) and getattr(value, "__module__", "") == evidence.__name__
               and not name.startswith("_")}
    assert used == defined
