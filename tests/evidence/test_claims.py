"""Every published claim: its verdict and its figures are what its evidence says today."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from dataclasses import replace
from importlib import import_module

import pytest

from confide.contract import InvalidInput
from confide.evidence import Claim, Pin, Verified, claims, pins_toml, verify_claims

ROWS = claims()
LONG = frozenset({
    "acquisition/two-losses", "regression/theorem-2", "regression/theorem-5", "regression/theorem-6",
    "release/figure-3-error", "release/free-coins", "release/figure-2-stable", "release/tuning-dense",
    "allocation/outbid", "allocation/theorem-4.5.4-welfare", "allocation/theorem-4.4.1", "allocation/theorem-4.3.11",
    "search/almost-as-many", "search/regime-1-outside", "search/regime-2", "search/regime-3", "search/utility",
    "search/theorem-7.3.3-toy"})
"""Rows whose evidence takes seconds, or minutes where stored figures are cited: `make test-all` recomputes them."""
AGAIN = "confide claims --verify --pin FILE, then read what changed before it goes into the rows' `pinned`"
LINES = {"release": (368, 1500), "programs": (3366, 5560), "search": (5562, 6520)}
ERRATA = {"acquisition": range(1, 10), "allocation": range(1, 12), "programs": range(1, 17), "search": range(1, 11),
          "release": sorted({*range(1, 18)} - {9, 13, 14, 17})}
"""Of the specification of a family: 9, 13 and 14 of query_release are rows of privacy, 17 is of the specification."""


@pytest.mark.parametrize("row", [
    pytest.param(row, id=row.id, marks=[pytest.mark.slow, pytest.mark.timeout(1200)] if row.id in LONG else [])
    for row in ROWS])
def test_what_the_evidence_says(row: Claim) -> None:
    found, = verify_claims((row,), slow=True)
    assert (found.fault, found.verdict) == ("", row.verdict)
    assert row.pin is not None
    assert row.pin.keeps(found.claimed, found.found), (found, row.pin, AGAIN)


def test_long_rows_are_rows() -> None:
    assert {row.id for row in ROWS} >= LONG
    assert {row.id for row in ROWS if row.cost == "slow"} <= LONG


def test_pins_are_narrow() -> None:
    pins = [row.pin for row in ROWS if row.pin is not None]
    assert sum(pin.within != 1e-6 for pin in pins) <= 3
    assert all(pin.within <= 0.5 for pin in pins)


@pytest.mark.parametrize("module", sorted({row.evidence.module for row in ROWS}))
def test_what_is_read_is_what_runs(module: str) -> None:
    """The table is read from the text; the decorators that run give the same rows, and every function has one."""
    functions = [value for name, value in vars(import_module(module)).items() if callable(value)
                 and getattr(value, "__module__", "") == module and not name.startswith("_")]
    assert all(hasattr(each, "claims") for each in functions), [each.__name__ for each in functions]
    assert [row for each in functions for row in each.claims] == [row for row in ROWS if row.evidence.module == module]


@pytest.mark.parametrize("family", ERRATA)
def test_rows_name_every_erratum(family: str) -> None:
    reported = " ".join(row.correction for row in claims(family=family))
    named = {int(k) for some in re.findall(r"\(?err(?:atum|ata) ([\d, ]+)", reported) for k in re.findall(r"\d+", some)}
    assert named >= set(ERRATA[family])


@pytest.mark.parametrize("family", LINES)
def test_lines_are_of_the_chapter(family: str) -> None:
    low, high = LINES[family]
    assert all(low <= row.line <= high for row in claims(family=family))


def test_what_moved_is_seen() -> None:
    row, = claims("regression/lemma-6")
    found, = verify_claims((row,))
    assert (found.changed, found.drifted) == (False, False)
    assert replace(found, found=found.found * 1.001).drifted
    assert replace(found, claimed=found.claimed + 1.0).drifted
    assert replace(found, found=math.nan).drifted
    assert replace(found, verdict="holds").drifted
    other = replace(row, id="zoo/without-a-pin", pin=None)
    assert not replace(found, claim=other, found=0.0).drifted


@pytest.mark.parametrize(("old", "now", "kept"), [
    (1.0, 1.0 + 1e-8, True), (1.0, 1.01, False), (0.0, 1e-9, True), (0.0, 1e-3, False), (math.inf, math.inf, True),
    (math.inf, 1e300, False), (math.nan, math.nan, True), (math.nan, 0.0, False), (0.0, math.nan, False),
])
def test_figures_are_the_same_but_for_rounding(old: float, now: float, kept: bool) -> None:
    assert Pin(verdict="holds", claimed=0.0, found=old).keeps(0.0, now) is kept
    assert Pin(verdict="holds", claimed=old, found=0.0).keeps(now, 0.0) is kept


def test_pins_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = claims("regression/lemma-6")
    found: list[Verified] = verify_claims(rows)
    line = pins_toml(found).splitlines()[-1]
    assert line.startswith('"regression/lemma-6" = { verdict = "false", claimed = 6, found = 32.0')
    with pytest.raises(InvalidInput, match=r"regression/lemma-6 fails"):
        pins_toml([replace(found[0], verdict="fault", fault="ZeroDivisionError")])


def test_a_solver_never_writes_where_an_object_is_due() -> None:
    """In a process of its own: HiGHS prints its banner once in a process."""
    code = "from confide.numerics.quiet_highs import QuietHighs\nQuietHighs().run()"
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("", "")
