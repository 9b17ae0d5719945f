"""Verdicts and figures that are pinned: none changes, and no row comes or goes, without its pin."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace

import pytest

from confide.contract import InvalidInput
from confide.evidence import Pin, claims, pinned, pins_toml, verify_claims
from confide.evidence.claims_pinned import TOLERANCE
from confide.evidence.claims_verified import Verified

AGAIN = "confide claims --verify --pin FILE, then read what changed before it replaces src/confide/evidence/pinned.toml"


def test_every_row_is_pinned_with_its_verdict() -> None:
    assert {row.id: row.verdict for row in claims()} == {name: pin.verdict for name, pin in pinned().items()}, AGAIN
    assert sum(pin.within != TOLERANCE for pin in pinned().values()) <= 3
    assert all(pin.within <= 0.5 for pin in pinned().values())


@pytest.mark.timeout(1800)  # with the evidence whose stored figures are cited
@pytest.mark.slow  # a minute or two; `confide claims --verify` does the same, and each family's tests run its evidence
def test_no_figure_has_moved() -> None:
    assert [each.claim.id for each in verify_claims(claims(), slow=True) if each.changed or each.drifted] == [], AGAIN


def test_the_figures_of_a_family_are_the_pinned_ones() -> None:
    found = verify_claims(claims(family="acquisition"))
    assert len(found) > 10
    assert not any(each.drifted for each in found), AGAIN


def test_what_moved_is_seen() -> None:
    row, = claims("regression/lemma-6")
    found, = verify_claims((row,))
    assert (found.changed, found.drifted) == (False, False)
    assert replace(found, found=found.found * 1.001).drifted
    assert replace(found, claimed=found.claimed + 1.0).drifted
    assert replace(found, found=math.nan).drifted
    assert replace(found, verdict="holds").drifted
    other = replace(row, id="zoo/of-another-package")
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
