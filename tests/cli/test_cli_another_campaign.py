"""A file that was changed after it was settled: nobody charges the same data anew without having said so."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaign.small import write
from cli.commands import Run
from confide.campaign import Campaign, Home, Store
from confide.campaign.another import another_campaign
from confide.contract import InvalidInput

BUDGET = ("epsilon = 7.0", "epsilon = 70.0")  # it would be charged any number of times
TITLE = ('title = "What do', 'title = "So what do')
SIZE = ("count = 2000", "count = 2001")
DATA = ('"pay survey"', '"another survey"')


def _charged() -> int:
    with Store(home=Home.default()) as store:
        return sum(len(each.debits) for each in store.ledger())


@pytest.fixture
def changed(run: Run, tmp_path: Path) -> Path:
    """A campaign file that was settled into out/pay, and of which a word was changed then."""
    path = write(tmp_path, BUDGET)
    assert run("run", path).code == 0
    return write(tmp_path, BUDGET, TITLE)


def test_a_changed_file_is_called_another_campaign_before_a_folder_is_suggested(run: Run, changed: Path) -> None:
    found = run("run", changed)
    assert (found.code, _charged()) == (3, 1)
    said = f"this file differs from campaign 1, which was settled from this file into {changed.parent / 'out' / 'pay'}"
    assert said in found.err
    assert "; a run of this file is another campaign, and charges a further epsilon = 6 (" in found.err
    assert "--out" not in found.err
    assert "--another-campaign" in found.err

    elsewhere = run("run", changed, "--out", changed.parent / "elsewhere")
    assert (elsewhere.code, elsewhere.err, _charged()) == (3, found.err, 1)
    assert not (changed.parent / "elsewhere").exists()

    same = run("run", changed, "--another-campaign")  # the folder is still taken
    assert (same.code, _charged()) == (2, 1)
    assert said in same.err
    assert same.err.index("a further") < same.err.index("--out")

    meant = run("run", changed, "--another-campaign", "--out", changed.parent / "elsewhere")
    assert (meant.code, _charged()) == (0, 2)
    again = run("run", changed, "--out", changed.parent / "elsewhere")  # settled: nothing is charged anew
    assert (again.code, _charged()) == (0, 2)


def test_plan_and_check_say_it_too(run: Run, changed: Path) -> None:
    for verb in ("plan", "check"):
        shown = run(verb, changed)
        assert shown.code == 0
        assert "differs from campaign 1, which was settled from this file" in " ".join(shown.out.split())
    said = run("check", changed, "--json").json["another"]
    assert said.startswith("this file differs from campaign 1,")
    assert run("plan", changed, "--json").json["budget"]["another"] == said


def test_nothing_is_said_of_the_settled_file_itself_or_of_a_study(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path)
    assert run("plan", path, "--json").json["budget"]["another"] is None
    assert run("run", path).code == 0
    assert run("check", path, "--json").json["another"] is None
    assert "another campaign" not in run("plan", path).out
    assert run("run", write(tmp_path, TITLE), "--noise", "simulated", "--seed", 7).code == 0


@pytest.mark.parametrize(("edits", "name", "how"), [
    ((), "wages", None),
    ((TITLE,), "wages", None),
    ((TITLE,), "pay", "from a file of the same name"),
    ((SIZE,), "wages", "of the same title"),
    ((SIZE, DATA), "pay", None),
])
def test_a_campaign_is_recognised_without_its_folder(
    run: Run, tmp_path: Path, edits: tuple[tuple[str, str], ...], name: str, how: str | None
) -> None:
    assert run("run", write(tmp_path / "first"), "--out", tmp_path / "pack").code == 0
    it = Campaign.load(write(tmp_path / "second", *edits, name=name))
    with Store(home=Home.default()) as store:
        found = another_campaign(it.file, it.plan, store, it.default_folder)
    assert (how in found) if how else not found


def test_settling_in_python_says_whose_pack_lies_in_the_folder(run: Run, changed: Path) -> None:
    with pytest.raises(InvalidInput, match=r"is not empty: this file differs .* choose another folder"):
        Campaign.load(changed).settle()
    assert _charged() == 1


def test_a_folder_that_says_nothing_is_no_campaign(run: Run, changed: Path, tmp_path: Path) -> None:
    it = Campaign.load(changed)
    for text in ("", "[]", '{"content": 5}', '{"content": "' + "0" * 64 + '"}'):
        (tmp_path / "campaign.json").write_text(text)
        with Store(home=Home.default()) as store:
            assert "of the same name" in another_campaign(it.file, it.plan, store, tmp_path, tmp_path / "missing")
