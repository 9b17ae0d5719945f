"""A search's list and journal replace nothing that is not their own, and no answer is lost."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest
from search_campaign import ANSWERS, campaign, write_answers

from cases import fast
from confide.campaign import Campaign, Store
from confide.contract import InvalidInput, Refused

NONE = (('stop = "private"', 'stop = "none"'), ("stopping_target = 3\n", ""))


def kept(text: str, value: str, key: str = "waiting") -> tuple[str, str]:
    return text, f'{text}{key} = "{value}"\n'


def at(folder: Path, value: str, key: str = "waiting", answers: dict[int, bool] | None = None) -> Campaign:
    return campaign(folder, ('people = 16', 'people = 16\nvertices = "people.csv"'),
                    kept('source = "answers.csv"\n', value, key), answers={0: True} if answers is None else answers)


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and path.suffix in {".csv", ".toml", ".txt", ".json"}}


def filled(folder: Path, answers: dict[int, bool], name: str = "to_examine.csv") -> list[int]:
    """Fill a list in where it is, as a spreadsheet would: the ids that were asked for."""
    with (folder / name).open() as file:
        header, *lines = list(csv.reader(file))
    asked = [int(line[0]) for line in lines if not line[1]]
    with (folder / name).open("w", newline="") as file:
        csv.writer(file).writerows([header, *([line[0], line[1] or str(answers[int(line[0])]).upper(), *line[2:]]
                                              for line in lines)])
    return asked


PLACES = ("./answers.csv", "contacts.csv", "sub/../answers.csv", "people.csv", "who.toml", "notes.txt", "linked.csv",
          "hard.csv", "dangling.csv", "search_journal", "search_journal/x.csv", "public/x.csv", "absent/x.csv", "sub",
          "{folder}/contacts.csv", "{folder}/sub/../who.toml")


@pytest.mark.parametrize(("value", "answers"), fast(7, [
    (value, answers) for answers in ({0: True}, ANSWERS) for value in PLACES]))
def test_a_list_is_never_written_over_something_else(value: str, answers: dict[int, bool], tmp_path: Path) -> None:
    for name in ("sub", "public"):
        (tmp_path / name).mkdir()
    (tmp_path / "public" / "campaign.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("id,targeted\n1,true\n")
    (tmp_path / "people.csv").write_text("id\n" + "".join(f"{each}\n" for each in range(16)))
    (tmp_path / "dangling.csv").symlink_to(tmp_path / "nowhere")
    with Store() as store:
        with pytest.raises(InvalidInput, match=r"^oracle\.waiting: "):  # noqa: PT012  some are refused when they are read
            it = at(tmp_path, value.format(folder=tmp_path), answers=answers)
            (tmp_path / "linked.csv").symlink_to(tmp_path / "contacts.csv")
            os.link(tmp_path / "answers.csv", tmp_path / "hard.csv")
            before = everything(tmp_path)
            with pytest.raises(InvalidInput, match=r"^oracle\.waiting: "):
                it.check()
            it.settle(tmp_path / "pack", store=store)
        assert store.ledger() == ()
    if "linked.csv" in os.listdir(tmp_path):
        assert everything(tmp_path) == before
    assert not (tmp_path / "pack").exists()


@pytest.mark.parametrize("value", ["answers.csv", "sub/../contacts.csv", "./notes.txt", "public/journal"])
def test_a_journal_is_a_folder_of_its_own(value: str, tmp_path: Path) -> None:
    for name in ("sub", "public"):
        (tmp_path / name).mkdir()
    (tmp_path / "public" / "campaign.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("mine")
    with Store() as store:
        with pytest.raises(InvalidInput, match=r"^oracle\.journal: "):
            campaign(tmp_path, kept('source = "answers.csv"\n', value, "journal")).settle(tmp_path / "p", store=store)
        assert store.ledger() == ()
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_answers_may_be_filled_in_where_they_are_asked_for(tmp_path: Path) -> None:
    """In the list alone, with a table of answers that is not there, until the search ends; none of them is lost."""
    it, asked = campaign(tmp_path, *NONE, ('source = "answers.csv"', 'source = "answers.csv"\nat_once = 3')), []
    (tmp_path / "answers.csv").unlink()
    with Store() as store:
        for _ in range(20):
            try:
                settled = it.settle(tmp_path / "pack", store=store)
                break
            except Refused:
                asked += filled(tmp_path, ANSWERS)
        assert len(store.ledger()[0].debits) == 1
    assert settled.fresh
    with (tmp_path / "to_examine.csv").open() as file:
        left = {int(row["id"]): row["targeted"] for row in csv.DictReader(file)}
    assert left == {each: str(ANSWERS[each]).upper() for each in asked}
    assert not list(tmp_path.glob(".to_examine*"))
    assert dict(it.check().rejected) == {}


def test_a_list_and_the_table_are_read_together(tmp_path: Path) -> None:
    it = campaign(tmp_path, *NONE, answers={0: True})
    with Store() as store:
        with pytest.raises(Refused):
            it.settle(tmp_path / "pack", store=store)
        first = filled(tmp_path, ANSWERS)
        write_answers(tmp_path, {0: True, first[0]: not ANSWERS[first[0]]})
        with pytest.raises(InvalidInput, match="give the earlier answer, since statuses do not change"):
            it.settle(tmp_path / "pack", store=store)
        write_answers(tmp_path, ANSWERS)
        assert it.settle(tmp_path / "pack", store=store).fresh


def test_another_campaigns_list_is_left_alone(tmp_path: Path) -> None:
    one = campaign(tmp_path, answers={0: True})
    with Store() as store:
        with pytest.raises(Refused):
            one.settle(tmp_path / "pack", store=store)
        filled(tmp_path, ANSWERS)
        before = (tmp_path / "to_examine.csv").read_bytes()
        other = campaign(tmp_path, ("epsilon = 1.0", "epsilon = 0.9"), name="other")
        with pytest.raises(InvalidInput, match="this search did not write it"):
            other.settle(tmp_path / "other", store=store)
        assert len(store.ledger()[0].debits) == 1  # of the first
    assert (tmp_path / "to_examine.csv").read_bytes() == before
