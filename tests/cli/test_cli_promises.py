"""`--json` has promises whole, what groups lose, and how few identities decide; the page says the same."""

from __future__ import annotations

from pathlib import Path

from cli.commands import Run
from confide.contract import kind


def test_a_plan_in_json(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bits.toml"
    path.write_text(kind("bits").template)
    found = run("plan", path, "--json").json
    assert [(each["size"], each["audience"], each["loss"]["epsilon"]) for each in found["groups"]] == [
        (1, "collector", 1.0), (2, "collector", 2.0), (5, "collector", 5.0), (10, "collector", 10.0)]
    truth = found["guarantees"][1]
    assert truth["sentence"][1:] in truth["in_full"]
    assert f"Note: {truth['note']}." in truth["in_full"]
    assert truth["says"] == "yes"
    assert found["plan"]["fewest_identities"] == {"second": 2, "group": 2, "fixed": 11, "deciding": 31}


def test_a_plan_that_sells_marks_its_promise(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "matching.toml"
    path.write_text(kind("matching").template.replace("# charge = false", "charge = true   "))
    spoken = run("plan", path, "--json").json
    (truth,) = [each for each in spoken["guarantees"] if each["guarantee"] == "truthfulness"]
    assert truth["says"] == "no for participants: they cannot know its condition before the run"
    assert truth["condition"] in truth["in_full"]
    assert (spoken["plan"]["lone_lies"]["runs"], spoken["plan"]["lone_lies"]["crowds"]) == (10, 5)
    (lies,) = [each for each in spoken["offer"] if each["title"] == "What a lie would gain"]
    assert lies["blocks"][0]["text"] == [truth["in_full"]]
