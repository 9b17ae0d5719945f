"""`confide claims`: the list, one row, its evidence, the page, and what it says when a verdict changed."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from cli.commands import Run
from confide.evidence import (
    Claim,
    Evidence,
    MeasuredEvidence,
    Pin,
    Recomputed,
    claims,
    claims_markdown,
    claims_table,
)


def test_claims_are_listed(run: Run) -> None:
    found = run("claims", "--document", "Fallah", "--verdict", "false")
    assert (found.code, found.err) == (0, "")
    ids = [line.split()[0] for line in found.out.splitlines() if line.startswith("acquisition/")]
    assert ids == [row.id for row in claims(document="Fallah", verdict="false")]
    assert f"{len(ids)} claims: {len(ids)} false." in found.out
    every = run("claims", "--json").json
    assert [each["id"] for each in every["claims"]] == [row.id for row in claims()]
    assert sum(every["counts"].values()) == len(claims())
    assert every["changed"] is None
    assert "No claim fits." in run("claims", "--search", "no row says these words").out


def test_one_claim_and_its_evidence(run: Run) -> None:
    found = run("claims", "regression/lemma-6", "--verify")
    assert (found.code, found.err) == (0, "")
    for words in ("Cummings et al. 2015, Lemma 6, line 466", "(4B + 2M)/gamma", "false",
                  "confide.evidence.cummings_2015.claims.sensitivity_of_plain_ridge",
                  "The evidence finds 32.04, while the source claims 6", "every verdict agrees with its evidence"):
        assert words in found.out
    object_ = run("claims", "regression/lemma-6", "--verify", "--json").json
    row, = object_["claims"]
    assert object_["changed"] == []
    assert (row["verified"]["recomputed"], row["verified"]["verdict"], row["verified"]["claimed"]) == (True, "false", 6)


def test_what_is_asked_wrongly(run: Run) -> None:
    found = run("claims", "regression/lema-6")
    assert (found.code, "did you mean 'regression/lemma-6'" in found.err) == (2, True)
    assert run("claims", "--family", "zoo").code == 2
    assert run("claims", "--verdict", "wrong").code == 2
    assert run("claims", "--document", "Bernstein").code == 2
    for asked, hint in (("market", "it is a family: `confide claims --family market`"),
                        ("threshold/", "it is a family: `confide claims --family threshold`"),
                        ("lemma-6", "'regression/lemma-6'"),
                        ("no such claim", "`confide claims --search TEXT` looks for a text")):
        assert hint in run("claims", asked).err
    nothing = run("claims", "--search", "zzzz", "--verify")
    assert (nothing.code, nothing.out) == (2, "")
    assert "search: matches no claim, so the command recomputes nothing" in nothing.err
    assert "No claim fits." in run("claims", "--search", "zzzz").out
    slow = run("claims", "regression/lemma-6", "--slow")
    assert (slow.code, "give --verify too" in slow.err) == (2, True)


def test_parts_of_families(run: Run) -> None:
    """What an id begins with is a family, or is explained, and can be asked for."""
    families = {row.family for row in claims()}
    others = {row.id.partition("/")[0] for row in claims()} - families
    assert others == {"threshold", "pairs"}
    found = " ".join(run("claims", "--family", "market").out.split())
    assert ("An id begins with its family, or with a part of a family: threshold/ of the family market, pairs/ of the "
            "family market.") in found
    assert all(row.family == "market" for row in claims(family="market"))
    for part in others:
        rows = run("claims", "--family", part, "--json").json["claims"]
        assert {each["id"].partition("/")[0] for each in rows} == {part}
        assert {each["family"] for each in rows} == {"market"}
    assert "a part of a family" not in run("claims", "--family", "search").out
    assert "family market" in " ".join(run("claims", "pairs/expected-payment").out.split())


def test_filters_go_together(run: Run) -> None:
    asked = ("--family", "market", "--document", "Wang", "--verdict", "holds", "--search", "NASH EQUILIBRIUM")
    rows = run("claims", *asked, "--json").json["claims"]
    assert rows
    for row in rows:
        assert (row["family"], row["document"], row["verdict"]) == ("market", "Wang 2016", "holds")
    assert len(rows) < len(claims(family="market", verdict="holds"))
    by_function = run("claims", "--search", "sensitivity_of_plain_ridge", "--json").json["claims"]
    assert "regression/lemma-6" in {row["id"] for row in by_function}


def test_the_page_is_written(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "page.md"
    found = run("claims", "--family", "search", "--write", target, "--json")
    assert found.json["written"] == str(target)
    assert target.read_text(encoding="utf-8") == claims_markdown(claims(family="search"))
    assert run("claims", "--write", target).code == 2  # it is there


def long_evidence() -> Recomputed:
    return Recomputed("vacuous-at-practical-size", 1.0, float("inf"))


@pytest.fixture
def changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of one row of long evidence, which by now says something else."""
    row = Claim(
        id="zoo/long", family="zoo", document="Doe 2020", statement="Theorem 2", line=9, claim="A tenth.",
        verdict="holds", correction="The same.", evidence=Evidence(module=__name__, function="long_evidence"),
        measured=MeasuredEvidence(claimed=1.0, found=0.97, day=date(2026, 2, 3), seconds=1234.0))
    monkeypatch.setattr(claims_table, "_table", lambda: (row,))


@pytest.mark.usefixtures("changed")
def test_long_evidence_is_cited(run: Run) -> None:
    shown = run("claims", "zoo/long")
    assert "0.97, while the source claims 1; measured on 2026-02-03 in 1,234 s" in " ".join(shown.out.split())
    found = run("claims", "--verify")
    assert found.code == 0
    for words in ("the list shows their stored figures", "confide claims zoo/long --verify --slow", "0 recomputed"):
        assert words in found.out
    row, = run("claims", "--verify", "--json").json["claims"]
    assert (row["cost"], row["verified"]["recomputed"], row["measured"]["day"]) == ("slow", False, "2026-02-03")


@pytest.mark.usefixtures("changed")
def test_a_changed_verdict_exits_1(run: Run) -> None:
    found = run("claims", "--verify", "--slow")
    assert (found.code, found.err) == (1, "")
    for words in ("changed", "vacuous-at-practical-size", "1 recomputed", "1 changed"):
        assert words in found.out
    again = run("claims", "--verify", "--slow", "--json")
    assert again.code == 1
    assert again.json["changed"] == ["zoo/long"]
    assert again.json["claims"][0]["verified"]["found"] == "Infinity"


def test_a_figure_that_moved_exits_1(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    row, = claims("regression/lemma-6")
    moved = replace(row, pin=Pin(verdict="false", claimed=6.0, found=31.0))
    monkeypatch.setattr(claims_table, "_table", lambda: (moved,))
    found = run("claims", "regression/lemma-6", "--verify")
    assert (found.code, found.err) == (1, "")
    for words in ("figures moved", "31", "32.04", "the figures of 1 moved"):
        assert words in found.out
    again = run("claims", "regression/lemma-6", "--verify", "--json")
    assert (again.code, again.json["changed"], again.json["drifted"]) == (1, [], ["regression/lemma-6"])


@pytest.mark.usefixtures("changed")
def test_pins_are_written(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "pinned.toml"
    assert run("claims", "--pin", target).code == 2
    assert run("claims", "--pin", target, "--verify", "--family", "zoo").code == 2
    assert not target.exists()
    found = run("claims", "--verify", "--pin", target)
    assert (found.code, f"wrote {target}" in found.out) == (0, True)
    assert "zoo/long" not in target.read_text(encoding="utf-8")  # another package's


def failing_evidence() -> Recomputed:
    raise ZeroDivisionError("a number of somebody's")


def quick_evidence() -> Recomputed:
    return Recomputed("holds", 2.0, 2.0)


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rows: the first one's evidence raises, the second one's is not there, the third one's is fine."""
    names = ("failing_evidence", "no_such_evidence", "quick_evidence")
    monkeypatch.setattr(claims_table, "_table", lambda: tuple(Claim(
        id=f"zoo/{name}", family="zoo", document="Doe 2020", statement="Theorem 3", line=9, claim="Two.",
        verdict="holds", correction="The same.", evidence=Evidence(module=__name__, function=name)) for name in names))


@pytest.mark.usefixtures("faulty")
def test_evidence_that_raises_is_a_row_and_the_others_are_verified(run: Run) -> None:
    found = run("claims", "--verify")
    assert (found.code, found.err) == (1, "")
    assert "somebody" not in found.out
    reported = " ".join(found.out.split())
    for words in ("zoo/failing_evidence holds fault: ZeroDivisionError", "zoo/no_such_evidence holds fault: "
                  "AttributeError", "3 recomputed", "2 changed"):
        assert words in reported
    again = run("claims", "--verify", "--json")
    assert (again.code, again.json["changed"]) == (1, ["zoo/failing_evidence", "zoo/no_such_evidence"])
    rows = [row["verified"] for row in again.json["claims"]]
    assert [(row["verdict"], row["fault"], row["found"]) for row in rows] == [
        ("fault", "ZeroDivisionError", "NaN"), ("fault", "AttributeError", "NaN"), ("holds", "", 2.0)]
    alone = run("claims", "zoo/failing_evidence", "--verify")
    assert (alone.code, "The evidence finds" in alone.out) == (1, False)
    assert run("claims", "zoo/quick_evidence", "--verify").code == 0
