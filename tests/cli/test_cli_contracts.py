"""`confide contracts` and `confide submit --contract`: the terms as people get them, pasted or in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.commands import Run
from confide.contract import kind

EDITS = (("count = 1000", "count = 6"), ("error = 10.0", "error = 0.5"), ("epsilon = 6.0", "epsilon = 100.0"),
         ("largest_local_loss = 1.0", "largest_local_loss = 20.0"), ("known = 12.0", "known = 30.0"))


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    text = kind("mean").template
    for edit in EDITS:
        text = text.replace(*edit)
    Path("mean.toml").write_text(text)
    Path("reports.csv").write_text("id,concern\n1,0.1\n2,0.2\n3,0.3\n4,0.4\n5,0.45\n6,1.2\n")
    return tmp_path


def test_terms_are_drawn_up_shown_accepted_and_acted_on(run: Run, study: Path) -> None:
    reported = run("submit", "mean.toml", "--id", "1", "--record", "concern=0.1")
    assert reported.out.splitlines() == ["id,concern", "1,0.1"]
    drawn = run("contracts", "mean.toml")
    assert (drawn.code, drawn.err) == (0, "")
    assert "5 reports can be used. 1 row is rejected:" in drawn.out
    assert run("contracts", "mean.toml", "--id", "3", "--final").code == 2
    assert run("contracts", "mean.toml", "--final", "--without", "2").code == 2
    early = run("contracts", "mean.toml", "--id", "3", "--json").json["contract"]
    refused = run("submit", "mean.toml", "--id", "3", "--contract", early, "--record", "record=30")
    assert (refused.code, "not final" in refused.err) == (3, True)
    assert run("contracts", "mean.toml", "--final").code == 0
    shown = run("contracts", "mean.toml", "--id", "3").out
    pasted = shown[shown.rindex("contract: ") :]  # with the word before it, and folded as a terminal does
    folded = "\n ".join(pasted[k : k + 80] for k in range(0, len(pasted), 80))
    first = run("submit", "mean.toml", "--id", "3", "--contract", folded, "--record", "record=300")
    assert first.code == 0
    assert "nearer end" in first.err
    assert run("contracts", "mean.toml", "--id", "3", "--write", "contract").code == 0
    again = run("submit", "mean.toml", "--id", "3", "--contract", "contract", "--record", "record=30")
    assert again.out == first.out
    assert "the answers of this call were not used" in again.err
    assert "nearer end" not in again.err
    assert run("submit", "mean.toml", "--id", "3", "--contract", "contract", "--record", "record=30",
               "--json").json["drawn_before"] is True
    wrong = run("submit", "mean.toml", "--id", "4", "--contract", pasted, "--record", "record=30")
    assert (wrong.code, "another participant" in wrong.err) == (2, True)
    assert run("contracts", "mean.toml", "--with", "2").code == 3
