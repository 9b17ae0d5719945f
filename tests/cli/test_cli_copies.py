"""`confide backup`, `confide restore`, and what is held until somebody has said that the original did not do it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.commands import Run
from confide.contract import kind


def test_a_restored_campaign_runs_once_its_original_is_known_not_to_have(
    run: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = tmp_path / "ill.toml"
    campaign.write_text(kind("bits").template)
    reports = "".join(f"{person},yes\n" for person in range(1, 201))
    (tmp_path / "reports.csv").write_text(f"id,report\n{reports}")
    assert run("run", campaign, "--out", tmp_path / "out").code == 0
    assert run("backup", tmp_path / "copy.tar").code == 0
    assert run("restored").out == "nothing is held\n"
    restored = run("restore", tmp_path / "copy.tar", "--home", tmp_path / "new")
    assert restored.code == 0
    for said in ("repeat later withdrawals", "All sessions and codes have ended", "confide operators list",
                 "On hold: 1 campaign. Use `confide restored`"):
        assert said in restored.out
    monkeypatch.setenv("CONFIDE_HOME", str(tmp_path / "new"))
    shown = run("payouts", campaign)
    code = next(word for word in shown.out.replace("`", " ").split() if len(word) == 8 and set(word) <= set(
        "0123456789abcdef"))
    refused = run("payouts", campaign, "--approve", code)
    assert refused.code != 0
    assert "confide restored --confirm 1" in " ".join(refused.err.split())
    assert run("restored").out == f"1  {title()}  (settled): on hold\n"
    assert run("restored", "--confirm", 2).code != 0
    assert run("restored", "--confirm", 1).out == f"{title()}: continues in this installation\nnothing is held\n"
    assert run("payouts", campaign, "--approve", code).code == 0


def title() -> str:
    """The campaign's."""
    (line,) = (line for line in kind("bits").template.splitlines() if line.startswith("title"))
    return line.split('"')[1]
