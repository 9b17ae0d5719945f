"""What is printed fits the terminal: nothing is cut off, long cells are folded, and words stay whole where they can."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cli.commands import Run
from confide.audit import AuditReport, AuditRow, Control
from confide.campaign import Campaign
from confide.cli import render
from confide.contract import Section, Table
from confide.evidence import claims, study_names

REPORT = AuditReport((
    AuditRow.at_most("privacy: everything that others see, jointly", 1.5, 1.4683982674798346,
                     "the mechanism's own run on 12 pairs of neighbours: equal publications on equal noise, loss "
                     "exact on these pairs",
                     concern="privacy", unit="nats"),
    AuditRow.at_most("probability of guessing the state wrongly before anybody reports", 0.0042242712547296375, 0.004,
                     "all counts of reports, paid by the mechanism's own rule", concern="accuracy",
                     unit="(probability)"),
    AuditRow.at_most("a single payment", 51.0140371011885, 6.42, "all counts", concern="budget", unit="EUR"),
    AuditRow.unpromised("participation", "nobody is invited or paid, so nobody decides whether to take part"),
), (Control("law of the randomiser", "payments as if infinitely many took part (planted at 5 people)", True),))


@pytest.fixture(params=[80, 120])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(render.console, "_width", request.param)
    return int(request.param)


def _kept(shown: str, words: list[str]) -> bool:
    """Whether all words are there, in whatever column and line; folded ones are whole without the folds."""
    letters = re.sub(r"\s", "", shown)
    return all(word in letters for word in words)


def test_every_table_fits_and_says_everything(
    run: Run, width: int, path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:
    monkeypatch.setattr(Campaign, "audit", lambda *_: REPORT)
    assert run("run", path).code == 0
    asked = (("audit", path), ("plan", path), ("kinds", "regression"), ("ledger",), ("claims", "--family", "release"),
             ("claims", "market/lemma-1"), ("reproduce", "regression-threshold", "--quick", "--out", tmp_path / "one"),
             ("reproduce", "regression-threshold", "channels-stars", "--quick", "--out", tmp_path / "two"))
    for arguments in asked:
        found = run(*arguments)
        assert (found.code, found.err) == (0, ""), arguments
        wrote = ("wrote ", "no picture")
        lines = [line for line in found.out.splitlines() if not line.startswith(wrote)]
        assert max(map(len, lines)) <= width, arguments
        assert "…" not in found.out
    audited = run("audit", path).out
    assert _kept(audited, ["1.5", "nats", "1.468", "(probability)", "51.01", "6.42EUR", "kept"])
    assert _kept(run("ledger").out, ["public,", "others", "epsilon"])
    listed = run("claims", "--family", "release").out
    assert _kept(listed, [row.id for row in claims(family="release")]) or width == 80
    whole = [row.id for row in claims(family="release")
             if re.search(rf"^{re.escape(row.id)}\s", listed, flags=re.MULTILINE)]
    assert len(whole) == len(claims(family="release")) if width == 120 else len(whole) > 50


def test_lists_are_one_line_each_in_a_pipe(run: Run) -> None:
    lines = run("reproduce").out.splitlines()
    assert [line.split()[0] for line in lines[: len(study_names())]] == list(study_names())
    kinds = run("kinds").out.splitlines()
    assert all("  " in line for line in kinds)


def test_columns_share_what_there_is() -> None:
    rows = [["id", "what"], ["market/lemma-1", "a long sentence of many words " * 5]]
    assert render._widths(rows, 200) == [14, 150]
    assert render._widths(rows, 60) == [14, 44]
    assert sum(render._widths(rows, 20)) == 18  # where no word fits whole, they are broken
    together = [["quantity", "relation"], ["a long sentence of many words " * 5, "not published"]]
    assert render._widths(together, 60) == [45, 13]  # few words stay together where there is room
    many = render._widths([["not published"] * 8], 100)
    assert (sum(many), min(many) >= len("published")) == (86, True)  # where there is none, words alone do
    render.show([Section(title="none", blocks=(Table(columns=("a", "b"), rows=()),))])
