"""What each kind shows: whoever moves or rewrites a kind finds every page of the golden campaigns as it was."""

from __future__ import annotations

import json

import pytest
from golden_files import FOUND
from shown import SHOWN, digests, names, of_campaign, of_kind

from confide.contract import kind_names

EXPECTED: dict[str, dict[str, str]] = json.loads(SHOWN.read_text(encoding="utf-8"))

RENEW = "what is new, or shown otherwise on purpose, `PYTHONPATH=tests python tests/golden/shown.py` writes down"

KINDS = sorted(kind_names())

QUICK = {"bits_illness", "pairs_exam", "costs_sleep", "bundles_tools", "matching_courses", "mean_hours",
         "program_places", "queries_mwem", "regression_rent", "search_ring"}
"""One of each kind; the others take as long again."""


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_has_the_template_and_the_schema_that_it_had(name: str) -> None:
    assert digests(of_kind(name)) == EXPECTED.get(f"kind {name}", RENEW)


@pytest.mark.parametrize("name", [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in names()])
def test_a_campaign_shows_what_it_did(name: str) -> None:
    assert digests(of_campaign(name)) == EXPECTED.get(name, RENEW)


def test_every_campaign_is_listed() -> None:
    own = {name for name in names() if FOUND["files"][name]["kind"] in KINDS}
    assert EXPECTED.keys() == {*own, *(f"kind {name}" for name in KINDS)}, RENEW
