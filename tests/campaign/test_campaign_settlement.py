"""Settlement: the charge first, all or nothing, once; and a study is never a settlement."""

from __future__ import annotations

import csv
import json
import re
import shutil
import stat
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from campaign.small import rows, tree, write
from confide.campaign import Campaign, Settled, settlement
from confide.contract import (
    Audience,
    BudgetExceeded,
    Collection,
    InvalidInput,
    Outcome,
    Refused,
    SimulatedOutcome,
    Unit,
    canonical,
    digest,
)
from confide.privacy import Account, Ledger, PureDP
from confide.privacy.noise import Noise
from confide.regression.campaign import kind as regression_kind
from confide.tables import Source, open_table

ACCOUNT = Account(name="pay survey", neighbours=Unit.RECORD_REPLACED, audience=Audience.PUBLIC)


class Planted:
    """Data that remembers who looked at it."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.spent_when_read: list[Any] = []

    def __iter__(self) -> Iterator[Any]:
        self.spent_when_read.append(self.ledger.spent(ACCOUNT))
        raise RuntimeError("the first row was read")


class Watched(Source):
    """A table that remembers how many rows were asked for, and what the ledger said then."""

    def __init__(self, inner: Source, ledger: Ledger) -> None:
        self.inner, self.ledger = inner, ledger
        self.name, self.column_names, self.row_count = inner.name, inner.column_names, inner.row_count
        self.reads: list[tuple[int, bool]] = []

    def _read(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        try:
            charged = bool(self.ledger.events(ACCOUNT))
        except InvalidInput:
            charged = False
        for batch in self.inner._read(columns, rows):
            self.reads.append((batch.num_rows, charged))
            yield batch


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return Campaign.load(write(tmp_path))


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Campaign, Settled]:
    """One settled campaign that nobody changes."""
    folder = tmp_path_factory.mktemp("settled")
    campaign = Campaign.load(write(folder))
    return campaign, campaign.settle(folder / "out")


def _alone(folder: Path, names: set[str]) -> None:
    assert {path.name for path in folder.iterdir()} == names  # no drafts beside it


# ---- the charge


def test_the_charge_comes_before_the_first_row(campaign: Campaign, tmp_path: Path) -> None:
    ledger = Ledger()
    data = Planted(ledger)
    with pytest.raises(RuntimeError, match="the first row was read"):
        settlement.settle(campaign.file, campaign.plan, Collection(data=data, rejected={}), tmp_path / "out", ledger)
    assert data.spent_when_read == [PureDP(6.0)]  # the whole campaign: release and payments
    assert ledger.events(ACCOUNT) == tuple(campaign.plan.mechanism.events())
    _alone(tmp_path, {"pay.toml", "answers.csv"})


def test_without_budget_no_row_is_read(tmp_path: Path) -> None:
    campaign = Campaign.load(write(tmp_path, ("epsilon = 7.0", "epsilon = 5.0")))
    ledger = Ledger()
    data = Planted(ledger)
    with pytest.raises(BudgetExceeded, match="pay survey"):
        campaign.plan  # noqa: B018 - a plan that its own budget can never admit is refused before anything else
    planned = campaign.file.kind.plan(campaign.file.config)
    with pytest.raises(BudgetExceeded, match="pay survey"):
        settlement.settle(campaign.file, planned, Collection(data=data, rejected={}), tmp_path / "out", ledger)
    assert data.spent_when_read == []
    assert ledger.events(ACCOUNT) == ()
    _alone(tmp_path, {"pay.toml", "answers.csv"})


@pytest.mark.parametrize(("budget", "enough"), [("7.0", True), ("5.0", False)])
def test_before_the_charge_a_table_is_opened_for_its_types_alone(
    budget: str, enough: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger()
    source = Watched(open_table("answers.csv", folder=write(tmp_path, ("epsilon = 7.0", f"epsilon = {budget}")).parent),
                     ledger)
    monkeypatch.setattr(regression_kind, "open_table", lambda *_, **__: source)
    campaign = Campaign.load(tmp_path / "pay.toml")
    if enough:
        campaign.settle(tmp_path / "out", ledger=ledger)
        assert sum(count for count, charged in source.reads if charged) == 2 * 2000  # both passes of the run
    else:
        with pytest.raises(BudgetExceeded):
            campaign.settle(tmp_path / "out", ledger=ledger)
        assert not any(charged for _, charged in source.reads)
    before = [count for count, charged in source.reads if not charged]
    assert sum(before) <= 1  # one row, to see the columns' types; its values are not looked at


def test_what_lies_in_the_first_row_cannot_stop_a_campaign(tmp_path: Path) -> None:
    """The look at the types gives the same answer whatever stands in the cells."""
    for first in ("1,nan,nobody,inf", ",,,", "x,y,z,w", '"1', "1,2"):
        campaign = Campaign.load(write(tmp_path, lines=[first, *rows()[1:]]))
        assert campaign.collect().rejected == {}


def test_the_ledger_remembers_across_campaigns(tmp_path: Path) -> None:
    ledger = Ledger()
    Campaign.load(write(tmp_path / "a")).settle(tmp_path / "out-a", ledger=ledger)
    second = Campaign.load(write(tmp_path / "b", ("format = 1", "# another\nformat = 1")))
    with pytest.raises(BudgetExceeded, match="epsilon 1 of 7"):
        second.settle(tmp_path / "out-b", ledger=ledger)
    assert not (tmp_path / "out-b").exists()
    greedy = Campaign.load(write(tmp_path / "c", ("epsilon = 7.0", "epsilon = 100.0")))
    with pytest.raises(InvalidInput, match="never raise"):
        greedy.settle(tmp_path / "out-c", ledger=ledger)


# ---- once


def test_a_second_settlement_returns_the_stored_outcome(tmp_path: Path) -> None:
    campaign, ledger, folder = Campaign.load(write(tmp_path)), Ledger(), tmp_path / "deep" / "out"
    first = campaign.settle(folder, ledger=ledger)
    before, spent = tree(folder), ledger.spent(ACCOUNT)
    assert first.fresh is True
    assert first.folder == folder
    (tmp_path / "answers.csv").unlink()  # not needed any more
    for again in (campaign.settle(folder, ledger=ledger), Campaign.load(tmp_path / "pay.toml").settle(folder)):
        assert again.fresh is False
        assert canonical(again.outcome.to_dict()) == canonical(first.outcome.to_dict())
        assert again.outcome.shares.equals(first.outcome.shares)
    nothing = Collection(data=Planted(ledger), rejected={})
    direct = settlement.settle(campaign.file, campaign.plan, nothing, folder, ledger)
    assert direct.fresh is False
    assert ledger.spent(ACCOUNT) == spent == PureDP(6.0)
    assert tree(folder) == before
    _alone(folder.parent, {"out"})


def test_what_is_stored(settled: tuple[Campaign, Settled]) -> None:
    campaign, done = settled
    names = {path.name for path in done.folder.iterdir()}
    assert names == {"manifest.json", "columns", "shares", "operator", "campaign.toml", "campaign.json",
                     "coefficients.csv"}
    assert (done.folder / "campaign.toml").read_text() == campaign.file.text
    note = json.loads((done.folder / "campaign.json").read_bytes())
    assert note["content"] == campaign.file.digest
    assert note["manifest"] == digest((done.folder / "manifest.json").read_bytes())
    assert isinstance(done.outcome, Outcome)
    assert done.outcome.provenance.noise == "secure"
    assert campaign.settled(done.folder).shares.equals(done.outcome.shares)


def test_a_folder_of_another_campaign_is_refused(settled: tuple[Campaign, Settled], tmp_path: Path) -> None:
    folder = settled[1].folder
    before = tree(folder)
    other = Campaign.load(write(tmp_path, ("epsilon_release = 4.0", "epsilon_release = 3.0"), name="other"))
    foreign = Campaign.load(write(tmp_path, ("What do age", "What does age"), name="foreign"))
    ledger = Ledger()
    record = {"age": "40", "sex": "male", "pay": "41.5"}
    for wrong, says in ((other, r"settled with another privacy\.epsilon_release; the settled file is .*campaign\.toml"),
                        (foreign, "the outcome of a campaign with another file, 'What do age and sex say about pay")):
        for call in (partial(wrong.settle, ledger=ledger), wrong.settled, wrong.tables, partial(wrong.share, "7"),
                     partial(wrong.share, "7", record=record)):
            with pytest.raises(InvalidInput, match=says) as caught:
                call(folder)
            assert caught.value.field == "out"
            assert "a second release of the same records and costs epsilon again" in str(caught.value)
            assert "choose another" not in str(caught.value)
    with pytest.raises(InvalidInput, match="not registered"):
        ledger.spent(ACCOUNT)  # nothing was even opened
    assert tree(folder) == before


def test_a_comment_changes_nothing(settled: tuple[Campaign, Settled], tmp_path: Path) -> None:
    """What counts is what a file says."""
    edited = Campaign.load(write(tmp_path, ("format = 1\n", "# settled last week\nformat  =  1\n")))
    assert edited.settle(str(settled[1].folder)).fresh is False
    assert edited.share(7, str(settled[1].folder))


def test_an_altered_manifest_is_not_this_campaigns(settled: tuple[Campaign, Settled], tmp_path: Path) -> None:
    """Also one that is whole and well-formed: another outcome of the same mechanism."""
    campaign, done = settled
    other, folder = campaign.settle(tmp_path / "other"), tmp_path / "out"
    shutil.copytree(done.folder, folder)
    shutil.copytree(other.folder / "columns", folder / "columns", dirs_exist_ok=True)
    shutil.copy(other.folder / "manifest.json", folder / "manifest.json")
    assert Outcome.load(folder)
    for call in (campaign.settle, campaign.settled, campaign.tables, lambda place: campaign.share("7", place),
                 lambda place: campaign.share("7", place, record={"age": "40", "sex": "male", "pay": "41.5"})):
        with pytest.raises(InvalidInput, match=r"manifest\.json was altered"):
            call(folder)


@pytest.mark.parametrize("note", ["", "not json", "[]", '"text"', "{}", '{"sha256": 3}', "[" * 100_000,
                                  '{"content": [], "manifest": {}, "title": 1}', "9" * 9999], ids=range(9))
def test_a_broken_note_is_not_taken_for_a_settlement(
    note: str, settled: tuple[Campaign, Settled], tmp_path: Path
) -> None:
    (tmp_path / "campaign.json").write_text(note)
    with pytest.raises(InvalidInput) as caught:
        settled[0].settle(tmp_path)
    assert caught.value.field == "out"
    assert str(tmp_path / "campaign.json") in str(caught.value)


def test_a_place_that_will_not_do_costs_nothing(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger()
    full, file, link, dangling, here = (tmp_path / name for name in ("full", "file", "link", "dangling", "here"))
    for folder in (full, here):
        folder.mkdir()
    (full / "notes.txt").write_text("mine")
    file.write_text("mine")
    link.symlink_to(here)
    dangling.symlink_to(tmp_path / "nowhere")
    monkeypatch.chdir(here)
    for place, problem in ((full, "not empty"), (file, "not a folder"), (file / "out", "cannot be written"),
                           (link, "not a folder"), (tmp_path / "new" / "..", "no folder of its own"),
                           (dangling, "not a folder"), (Path(), "working directory"),
                           (here, "working directory")):
        with pytest.raises(InvalidInput, match=problem) as caught:
            campaign.settle(place, ledger=ledger)
        assert caught.value.field == "out"
    with pytest.raises(InvalidInput, match="not registered"):
        ledger.events(ACCOUNT)
    assert (full / "notes.txt").read_text() == file.read_text() == "mine"


def test_an_empty_folder_will_do(campaign: Campaign, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert campaign.settle(tmp_path / "out").fresh
    assert Outcome.load(tmp_path / "out")


# ---- all or nothing


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("late", [False, True])
def test_a_settlement_that_dies_leaves_nothing_and_burns_budget(
    error: type[BaseException], late: bool, campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, save = Ledger(), Outcome.save

    def dies(self: Outcome, folder: Path) -> None:
        if late:
            save(self, folder)
        raise error("out of disk")

    monkeypatch.setattr(Outcome, "save", dies)
    with pytest.raises(error):
        campaign.settle(tmp_path / "out", ledger=ledger)
    _alone(tmp_path, {"pay.toml", "answers.csv"})
    assert ledger.spent(ACCOUNT) == PureDP(6.0)
    with pytest.raises(Refused, match="not settled"):
        campaign.settled(tmp_path / "out")
    monkeypatch.undo()
    with pytest.raises(BudgetExceeded):  # what was burnt stays burnt
        campaign.settle(tmp_path / "out", ledger=ledger)


def test_of_two_settlements_at_once_one_wins(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save, done = Outcome.save, []

    def meanwhile(self: Outcome, folder: Path) -> None:
        save(self, folder)
        if not done:
            done.append(True)
            campaign.settle(tmp_path / "out")  # another process was faster

    monkeypatch.setattr(Outcome, "save", meanwhile)
    with pytest.raises(InvalidInput, match="not empty"):
        campaign.settle(tmp_path / "out")
    assert Outcome.load(tmp_path / "out")
    _alone(tmp_path, {"pay.toml", "answers.csv", "out"})


# ---- a study is not a release


def test_a_simulated_outcome_cannot_be_settled(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Noise, "secure", lambda: Noise.simulated(1))
    with pytest.raises(InvalidInput, match="secure noise"):
        campaign.settle(tmp_path / "out")
    _alone(tmp_path, {"pay.toml", "answers.csv"})


def test_a_study_is_no_release_and_costs_nothing(campaign: Campaign, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    outcome, sections = campaign.study(3, folder)
    assert isinstance(outcome, SimulatedOutcome)
    assert outcome.release_safe is False
    assert all(section.study for section in sections)
    assert not (folder / "campaign.json").exists()
    assert (folder / "coefficients.csv").exists()
    for path in (folder, *folder.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    with pytest.raises(InvalidInput, match="not empty"):  # it cannot be turned into a settlement
        campaign.settle(folder)
    with pytest.raises(Refused, match="not settled"):
        campaign.share("7", folder)
    first = tree(folder)
    (folder / "report.html").write_text("page")
    campaign.study(3, folder)  # an earlier study is replaced
    assert tree(folder) == first
    folder.chmod(0o755)
    campaign.study(4, folder)
    assert tree(folder) != first
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_study_never_replaces_anything_else(settled: tuple[Campaign, Settled], tmp_path: Path) -> None:
    campaign, done = settled
    before = tree(done.folder)
    with pytest.raises(InvalidInput, match="settled campaign"):
        campaign.study(3, done.folder)
    assert tree(done.folder) == before

    released = tmp_path / "released"  # saved by hand, without a campaign's note
    done.outcome.save(released)
    website = tmp_path / "website"
    website.mkdir()
    (website / "manifest.json").write_text('{"name": "my site"}')
    extra = tmp_path / "extra"
    campaign.study(3, extra)
    (extra / "notes.txt").write_text("mine")
    numbers = tmp_path / "numbers"
    campaign.study(3, numbers)
    (numbers / "mine.csv").write_text("1,2")
    home = write(tmp_path / "home").parent  # --out . where campaign and answers lie
    (home / "manifest.json").write_text("[]")
    for folder in (released, website, extra, numbers, home):
        kept = tree(folder)
        with pytest.raises(InvalidInput, match="not a study's") as caught:
            campaign.study(3, folder)
        assert caught.value.field == "out"
        assert tree(folder) == kept
    with pytest.raises(InvalidInput, match="not a folder"):
        campaign.study(3, website / "manifest.json")


# ---- bad records

BAD = {
    17: "17,nan,female,41.5",
    41: "41,987654.25,male,41.5",
    163: "163,40.5,zzsentinel,41.5",
    577: "577,40.5,male,inf",
    691: "691,40.5,male,",
    733: "733,40.5,male,abcsentinel",
    859: "859,40.5",
    911: '911,"40,male,41.5',
}
DUPLICATE = "1201,40.5,male,79.123"
STRANGERS = ["99999,40.5,male,41.5", "007,40.5,male,41.5", ",40.5,male,41.5", "x,40.5,male,41.5"]


def _bad() -> list[str]:
    return [BAD.get(i + 1, line) for i, line in enumerate(rows())] + [DUPLICATE, *STRANGERS]


def _without() -> list[str]:
    return [line for i, line in enumerate(rows()) if i + 1 not in BAD]


def _study(folder: Path, lines: list[str], seed: int = 3) -> tuple[dict[str, Any], dict[str, bytes], np.ndarray]:
    campaign = Campaign.load(write(folder, lines=lines))
    outcome, _ = campaign.study(seed, folder / "study")
    manifest, columns = outcome.public()
    return manifest, columns, outcome.shares["payment"].to_numpy()


def test_a_bad_record_is_the_null_record_and_nothing_else(tmp_path: Path) -> None:
    with_bad = _study(tmp_path / "bad", _bad())
    without = _study(tmp_path / "without", _without())
    assert canonical(with_bad[0]) == canonical(without[0])
    assert with_bad[1] == without[1]
    assert (with_bad[2] == without[2]).all()
    assert not with_bad[2][[i - 1 for i in BAD]].any()  # and is paid nothing


def test_which_mistake_it_was_cannot_be_seen(tmp_path: Path) -> None:
    lines = rows()
    found = []
    for k, bad in enumerate(["17,nan,female,41.5", "17,40.5,zzsentinel,41.5", "17", '17,"', ""]):
        lines[16] = bad
        manifest, columns, shares = _study(tmp_path / str(k), lines)
        found.append((canonical(manifest), columns, shares.tobytes()))
    assert all(each == found[0] for each in found)


def test_a_record_changes_its_own_share_only_through_the_billboard(tmp_path: Path) -> None:
    """Whatever one person hands in, everybody else's share is her own decode of the public billboard."""
    lines = rows()
    lines[16] = "17,20.0,female,80.0"
    campaign = Campaign.load(write(tmp_path, lines=lines))
    outcome, _ = campaign.study(3, tmp_path / "study")
    paid = outcome.shares["payment"].to_pylist()
    for identity in (1, 17, 1000, 2000):
        record, index = campaign.file.kind.record(campaign.file.config, campaign.plan, tmp_path, str(identity))
        assert index == identity - 1
        assert outcome.mechanism.decode(record, index, outcome.billboard)["payment"] == paid[index]


def test_rejected_ids_are_the_operators_alone(tmp_path: Path) -> None:
    campaign = Campaign.load(write(tmp_path, lines=_bad()))
    done = campaign.settle(tmp_path / "out")
    operator = done.folder / "operator"
    assert done.rejected == operator / "rejected.csv"
    assert stat.S_IMODE(operator.stat().st_mode) == 0o700
    assert stat.S_IMODE(done.rejected.stat().st_mode) == 0o600
    with (operator / "rejected.csv").open(newline="") as file:
        listed = {row["id"]: row["reason"] for row in csv.DictReader(file)}
    hers = {str(i) for i in BAD}
    assert hers - {"859", "911"} <= set(listed)  # a broken line bears no id
    assert listed["41"] == "age: is out of bounds; must be in [20, 60] year"
    assert listed["163"] == "sex: is not a level; must be one of female, male"
    assert listed["1201 (row 2001)"] == "a later row of the same id"
    assert {f"row {n}" for n in (859, 911, 2002, 2003, 2004, 2005)} <= set(listed)
    assert len(listed) == len(BAD) + 5
    for name, data in tree(done.folder).items():
        if not name.startswith(("operator/", "shares/")):
            for word in (b"sentinel", b"987654", b"reject", b"out of bounds", b"79.123"):
                assert word not in data, (name, word)
    public = canonical(done.outcome.to_dict()).decode()
    assert not re.search(r"rejected|null_records|valid", public)


def test_reasons_with_quotes_keep_the_list_readable(tmp_path: Path) -> None:
    levels = """levels = ['fe"male', 'ma,le']"""
    lines = [line.replace("female", '"fe""male"') if "female" in line else line.replace("male", '"ma,le"')
             for line in rows()]
    lines[16] = "17,40.5,other,41.5"
    campaign = Campaign.load(write(tmp_path, ('levels = ["female", "male"]', levels), lines=lines))
    done = campaign.settle(tmp_path / "out")
    with (done.folder / "operator" / "rejected.csv").open(newline="") as file:
        listed = list(csv.reader(file))
    assert listed == [["id", "reason"], ["17", 'sex: is not a level; must be one of fe"male, ma,le']]


def test_nobody_rejected_is_a_list_too(settled: tuple[Campaign, Settled]) -> None:
    assert (settled[1].folder / "operator" / "rejected.csv").read_text() == "id,reason\n"


# ---- the other verbs


def test_plan_and_offer_read_nothing(tmp_path: Path) -> None:
    campaign = Campaign.load(write(tmp_path))
    (tmp_path / "answers.csv").unlink()
    assert campaign.plan is campaign.plan
    assert campaign.plan.guarantees.privacy[0].loss == PureDP(6.0)
    assert "epsilon" not in campaign.offer()[0].title
    assert campaign.default_folder == Path("out/pay")


def test_before_the_settlement_there_is_no_share(campaign: Campaign, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="not settled") as caught:
        campaign.share("7", tmp_path / "out")
    assert f"only if it never was, run `confide run {campaign.file.path}` first" in caught.value.remedy
    assert "a second release of the same records and costs epsilon again" in caught.value.remedy
    with pytest.raises(Refused, match="not settled"):
        campaign.share("7", tmp_path / "out", record={"age": "40", "sex": "male", "pay": "41.5"})


def test_an_outcome_that_lies_elsewhere_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    campaign = Campaign.load(write(tmp_path / "deep"))
    campaign.settle()
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    campaign = Campaign.load("../deep/pay.toml")
    with pytest.raises(Refused) as caught:
        campaign.share("7")
    assert caught.value.remedy == f"it is settled in {tmp_path / 'out' / 'pay'}: name that folder with --out"
    assert campaign.share("7", tmp_path / "out" / "pay")


@pytest.mark.parametrize("identity", ["0", "2001", "-1", "7.5", "", "seven", "07", "7 7"])
def test_a_share_of_nobody(identity: str, settled: tuple[Campaign, Settled]) -> None:
    with pytest.raises(InvalidInput, match="not on the public list") as caught:
        settled[0].share(identity, settled[1].folder)
    assert caught.value.field == "id"


def test_every_share_is_private_and_equals_the_stored_one(settled: tuple[Campaign, Settled]) -> None:
    campaign, done = settled
    paid = done.outcome.shares["payment"].to_pylist()
    for identity in ("1", "7", "2000"):
        sections = campaign.share(identity, done.folder)
        assert all(section.private for section in sections)
        assert sections[0].title == f"Participant {identity}: payment {paid[int(identity) - 1] / 100:,.2f} EUR"


def test_a_hopeless_plan_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    path = write(tmp_path, ("truth_radius = 0.4", "truth_radius = 0.01"))
    (tmp_path / "answers.csv").unlink()
    campaign = Campaign.load(path)
    with pytest.raises(Refused, match="out of reach"):
        campaign.settle(tmp_path / "out")
    _alone(tmp_path, {"pay.toml"})


@pytest.mark.parametrize("people", [150, 2000])
def test_progress_tells_of_slots_alone(people: int, tmp_path: Path) -> None:
    """Whoever came: the bar is the same."""
    told: list[tuple[int, int | None]] = []
    campaign = Campaign.load(write(tmp_path, lines=rows()[:people]))
    campaign.settle(tmp_path / "out", progress=lambda done, total: told.append((done, total)))
    campaign.check(progress=lambda done, total: told.append((done, total)))
    assert set(told) == {(0, 2000)}
    assert len(told) == 3  # both passes of the run, and the check's


def test_progress_is_one_batch_late() -> None:
    told: list[tuple[int, int | None]] = []
    tell = regression_kind._by_slots(lambda done, total: told.append((done, total)), 100)
    for rows_read in (40, 80, 117, 40, 80, 117, 117):
        tell(rows_read, 117)
    assert told == [(0, 100), (40, 100), (80, 100), (0, 100), (40, 100), (80, 100), (0, 100)]


def test_a_share_is_what_was_settled_even_if_the_file_changed(tmp_path: Path) -> None:
    path = write(tmp_path)
    campaign = Campaign.load(path)
    settled = campaign.settle(tmp_path / "out").outcome.shares["payment"]
    answers = tmp_path / "answers.csv"
    lines = answers.read_text(encoding="utf-8").splitlines()
    header, row = lines[0].split(","), lines[18].split(",")
    row[header.index("pay")] = "1"
    answers.write_text("\n".join([*lines[:18], ",".join(row), *lines[19:]]) + "\n", encoding="utf-8")
    identity = row[header.index("id")]
    title = campaign.share(identity, tmp_path / "out")[0].title
    assert title == f"Participant {identity}: settled at {settled[int(identity) - 1].as_py() / 100:,.2f} EUR"


@pytest.mark.parametrize("shares", [
    {"amount": [1]}, {"payment": [1]}, {"payment": ["x"] * 9}, {"payment": pa.array([None] * 9, pa.int64())},
], ids=range(4))
def test_shares_of_something_else(shares: dict[str, Any], settled: tuple[Campaign, Settled], tmp_path: Path) -> None:
    shutil.copytree(settled[1].folder, tmp_path / "out", ignore=shutil.ignore_patterns("shares"))
    replace(settled[1].outcome, shares=pa.table(shares)).save(tmp_path / "again")
    shutil.copytree(tmp_path / "again" / "shares", tmp_path / "out" / "shares")
    with pytest.raises(InvalidInput, match="hold no payment of this participant"):
        settled[0].share("7", tmp_path / "out")
