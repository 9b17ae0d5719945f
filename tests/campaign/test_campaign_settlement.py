"""Settlement: the charge before the run, all or nothing, once."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from campaign.settled import RECORD, Done, alone, charged, history, stands
from campaign.small import rows, tree, write
from cases import fast
from confide.campaign import Campaign, Settled, State, Store, settlement
from confide.campaign.kinds import peoples_kind
from confide.campaign.signatures import signed_by
from confide.contract import (
    BudgetExceeded,
    InvalidInput,
    Outcome,
    PublicOutcome,
    Refused,
    RunFailed,
    canonical,
    digest,
)
from confide.contract.running import Submissions
from confide.privacy import ZCDP, ApproxDP, PureDP
from confide.regression import PrivateTruthfulRegression
from confide.tables import TableSource, open_table

ANOTHER = ('title = "What do', 'title = "Once more: what do')
"""An edit that makes another campaign on the same data set."""


class Watched(TableSource):
    """A table that remembers how many rows were asked for."""

    def __init__(self, inner: TableSource) -> None:
        self.inner = inner
        self.name, self.column_names, self.row_count = inner.name, inner.column_names, inner.row_count
        self.reads: list[int] = []

    def _read(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        for batch in self.inner._read(columns, rows):
            self.reads.append(batch.num_rows)
            yield batch


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return Campaign.load(write(tmp_path))


# ---- the charge


def test_the_charge_comes_before_the_run(campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def runs(self: PrivateTruthfulRegression, data: Any, noise: Any) -> None:
        with Store() as other:  # another process sees it too: it is committed
            (found,), (known,) = other.ledger("pay survey"), other.campaigns()
            seen.extend([found.filter.spent, found.least_left.spent, found.subjects, len(found.debits)])
            seen.append(other.events(known.number)[-1].data["events"])
        raise RuntimeError("it ran")

    monkeypatch.setattr(PrivateTruthfulRegression, "run", runs)
    with pytest.raises(RunFailed, match="goes on under the same debit") as caught:
        campaign.settle(tmp_path / "out")
    assert str(caught.value.__cause__) == "it ran"
    asked = [event.to_dict() for event in campaign.plan.mechanism.events()]
    assert seen == [PureDP(6.0), PureDP(6.0), 2000, 1, asked]  # the whole campaign, of the data set and of every slot
    assert stands(campaign) == (State.CHARGED, 2000)
    alone(tmp_path, {"pay.toml", "answers.csv"})


def test_collection_comes_before_the_charge(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*_: object) -> None:
        raise RuntimeError("before the charge")

    monkeypatch.setattr(Store, "charge", dies)
    with pytest.raises(RuntimeError):
        campaign.settle(tmp_path / "out")
    assert (stands(campaign), charged()) == ((State.CLOSED, 2000), (None, 0))
    monkeypatch.undo()
    (tmp_path / "answers.csv").unlink()  # what was collected is in the store
    assert campaign.settle(tmp_path / "out").fresh
    assert charged() == (PureDP(6.0), 1)


@pytest.mark.parametrize(("line", "whose"), [
    ("epsilon = 5.0", "pay survey"), ("epsilon = 7.0\nsubject_epsilon = 5.0", "each subject of pay survey"),
])
def test_a_plan_that_its_own_budget_never_admits(line: str, whose: str, tmp_path: Path) -> None:
    campaign = Campaign.load(write(tmp_path, ("epsilon = 7.0", line)))
    (tmp_path / "answers.csv").unlink()
    for call in (lambda: campaign.plan, lambda: campaign.settle(tmp_path / "out")):
        with pytest.raises(BudgetExceeded, match=f"budget of {whose} .* does not admit epsilon 6"):
            call()
    assert (stands(campaign), charged()) == ((None, 0), (None, 0))
    alone(tmp_path, {"pay.toml"})


def test_a_table_is_read_once_and_only_if_the_ledger_admits_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Watched(open_table("answers.csv", folder=write(tmp_path).parent))
    monkeypatch.setattr(peoples_kind, "open_table", lambda *_, **__: source)
    Campaign.load(tmp_path / "pay.toml").settle(tmp_path / "out")
    assert source.reads[0] <= 1  # one row, to see the columns' types; its values are not looked at
    assert sum(source.reads[1:]) == 2000
    source.reads.clear()
    second = Campaign.load(write(tmp_path / "second", ANOTHER))
    with pytest.raises(BudgetExceeded, match="epsilon 1 of 7"):
        second.settle(tmp_path / "out-2")
    assert source.reads == []
    assert stands(second) == (State.CANCELLED, 0)
    assert charged() == (PureDP(6.0), 1)
    assert not (tmp_path / "out-2").exists()


def test_what_lies_in_the_first_row_cannot_stop_a_campaign(tmp_path: Path) -> None:
    """The look at the types gives the same answer whatever stands in the cells."""
    for first in ("1,nan,nobody,inf", ",,,", "x,y,z,w", '"1', "1,2"):
        campaign = Campaign.load(write(tmp_path, lines=[first, *rows()[1:]]))
        assert campaign.collect().rejected == {}


def test_the_ledger_remembers_across_campaigns(tmp_path: Path) -> None:
    def attempt(name: str, budget: str) -> Settled:
        edits = [("epsilon = 7.0", budget), ("What do", name)]
        return Campaign.load(write(tmp_path / name, *edits)).settle(tmp_path / f"out-{name}")

    attempt("first", "epsilon = 20.0")
    with pytest.raises(InvalidInput, match="a campaign may lower a budget, never raise it"):
        attempt("greedy", "epsilon = 20.5")
    with pytest.raises(InvalidInput, match="the rule of an account is fixed"):
        attempt("ruler", 'epsilon = 20.0\ndelta = 1e-9\nrule = "zcdp"')
    with pytest.raises(BudgetExceeded, match=r"2,000 of the 2,000 subjects .* epsilon 4 of 10"):
        attempt("sparing", "epsilon = 20.0\nsubject_epsilon = 10.0")  # each person's share of it
    attempt("second", "epsilon = 13.0")
    with pytest.raises(InvalidInput, match=r"PureDP|20.*exceeds the registered"):
        attempt("third", "epsilon = 20.0")  # what was lowered stays low
    with pytest.raises(BudgetExceeded, match="epsilon 1 of 13"):
        attempt("third", "epsilon = 13.0")
    alone(tmp_path, {"first", "greedy", "ruler", "sparing", "second", "third", "out-first", "out-second"})
    assert charged() == (PureDP(12.0), 2)


def test_the_rule_zcdp_takes_a_concentrated_release(tmp_path: Path) -> None:
    """It adds up rho and converts once, at the delta of the budget."""
    release = ("epsilon_payment = 2.0", 'epsilon_payment = 2.0\ndelta = 1e-6\nrelease = "adassp"')
    for rule, spent in (("basic", ApproxDP), ("zcdp", ZCDP)):
        budget = ("epsilon = 7.0", f'epsilon = 12.0\ndelta = 1e-5\nrule = "{rule}"')
        Campaign.load(write(tmp_path / rule, release, budget, ("pay survey", rule))).settle()
        with Store() as store:
            assert isinstance(store.ledger(rule)[0].filter.spent, spent)


# ---- once


def test_a_second_settlement_returns_the_stored_outcome(tmp_path: Path) -> None:
    campaign, folder = Campaign.load(write(tmp_path)), tmp_path / "deep" / "out"
    first = campaign.settle(folder)
    before = tree(folder)
    assert (first.fresh, first.folder) == (True, folder)
    (tmp_path / "answers.csv").unlink()  # not needed any more
    # A campaign is what its file says, wherever it lies.
    copy = Campaign.load(write(tmp_path / "copy", ("format = 1\n", "# copied\nformat  =  1\n"), name="another"))
    shutil.rmtree(folder)
    for again in (campaign.settle(folder), campaign.settle(folder), Campaign.load(tmp_path / "pay.toml").settle(),
                  copy.settle(), copy.settle(str(tmp_path / "third"))):
        assert again.fresh is False
        assert canonical(again.outcome.to_dict()) == canonical(first.outcome.to_dict())
        assert again.outcome.shares.equals(first.outcome.shares)
        assert again.tables["coefficients"].equals(first.tables["coefficients"])
        assert tree(again.folder) == before  # also where the folder was lost
    assert charged() == (PureDP(6.0), 1)
    alone(folder.parent, {"out"})
    alone(tmp_path / "copy" / "out", {"another"})


def test_what_is_stored(settled: Done) -> None:
    campaign, done, store = settled
    names = {path.name for path in done.folder.iterdir()}
    assert names == {"manifest.json", "columns", "campaign.toml", "campaign.json", "events.json", "coefficients.csv",
                     "pictures.json", "report.html"}
    assert (done.folder / "campaign.toml").read_text() == campaign.file.text
    note = json.loads((done.folder / "campaign.json").read_bytes())
    assert note["content"] == campaign.file.digest
    assert note["manifest"] == digest((done.folder / "manifest.json").read_bytes())
    public = tree(done.folder)
    assert note["files"] == {name: digest(data) for name, data in public.items() if name != "campaign.json"}
    assert signed_by(note) == store.home.fingerprint
    assert isinstance(done.outcome, Outcome)
    assert done.outcome.provenance.noise == "secure"
    assert campaign.settled(store=store).shares.equals(done.outcome.shares)
    assert store.pack(done.number) == public


def test_the_pack_is_public_and_the_store_is_not(settled: Done) -> None:
    _, done, store = settled
    for path in done.folder.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o044 == 0o044, path
    assert stat.S_IMODE(store.home.folder.stat().st_mode) == 0o700
    names = {path.name for path in store.home.folder.iterdir()}
    assert {"store.db", "ledger.key", "signing.key"} <= names
    for path in store.home.folder.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_store_elsewhere_is_for_its_owner_alone(tmp_path: Path) -> None:
    os.chmod(tmp_path, 0o755)
    with Store(f"sqlite:///{tmp_path}/deep/store.db") as store, Store(f"sqlite:///{tmp_path}/mine.db") as mine:
        store.campaigns()
        mine.campaigns()
        found = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert {path.name for path in found} >= {"store.db", "mine.db"}
        for path in found:  # and its log
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_a_folder_of_another_campaign_is_refused(settled: Done, tmp_path: Path) -> None:
    folder = settled[1].folder
    before = tree(folder)
    other = Campaign.load(write(tmp_path, ("epsilon_release = 4.0", "epsilon_release = 3.0"), name="other"))
    foreign = Campaign.load(write(tmp_path, ("What do age", "What does age"), name="foreign"))
    for wrong, says in ((other, r"settled with another privacy\.epsilon_release; use the settled file, .*campaign\."),
                        (foreign, "the outcome of a campaign with another file, 'What do age and sex say about pay")):
        for call in (wrong.share, wrong.own_file):
            with pytest.raises(InvalidInput, match=says) as caught:
                call("7", folder, record=RECORD)
            assert caught.value.field == "out"
            assert "another file is another campaign, and a second release costs epsilon" in str(caught.value)
        with pytest.raises(InvalidInput, match="is not empty; choose another folder"):
            wrong.settle(folder)
        assert stands(wrong) == (None, 0)
    assert charged() == (None, 0)  # nothing was even opened
    assert tree(folder) == before
    with Store() as store:
        assert store.campaigns() == ()


def test_a_comment_changes_nothing(settled: Done, tmp_path: Path) -> None:
    """What counts is what a file says."""
    edited = Campaign.load(write(tmp_path, ("format = 1\n", "# settled last week\nformat  =  1\n")))
    assert edited.settle(str(settled[1].folder), store=settled[2]).fresh is False
    assert edited.share(7, store=settled[2])
    assert edited.share(7, str(settled[1].folder), record=RECORD)


def test_an_altered_manifest_is_not_this_campaigns(
    settled: Done, tmp_path: Path
) -> None:
    """Also one that is whole and well-formed: another outcome of the same mechanism."""
    (campaign, done, store), folder = settled, tmp_path / "out"
    other = campaign.settle(tmp_path / "other")  # in another store
    shutil.copytree(done.folder, folder)
    shutil.copytree(other.folder / "columns", folder / "columns", dirs_exist_ok=True)
    shutil.copy(other.folder / "manifest.json", folder / "manifest.json")
    assert PublicOutcome.load(folder)
    for call in (campaign.share, campaign.own_file):
        with pytest.raises(InvalidInput, match=r"manifest\.json was altered"):
            call("7", folder, record=RECORD)
    altered = tree(folder)
    with pytest.raises(InvalidInput, match=r"manifest\.json differs from the settled file; move the folder") as caught:
        campaign.settle(folder, store=store)
    assert caught.value.field == "out"
    assert tree(folder) == altered
    assert campaign.settle(tmp_path / "whole", store=store).folder == tmp_path / "whole"
    assert tree(tmp_path / "whole") == tree(done.folder)


@pytest.mark.parametrize("lost", ["report.html", "coefficients.csv", "events.json"])
def test_a_pack_that_is_not_whole_is_not_taken_for_one(
    lost: str, settled: Done, tmp_path: Path
) -> None:
    shutil.copytree(settled[1].folder, tmp_path / "out")
    (tmp_path / "out" / lost).unlink()
    with pytest.raises(InvalidInput, match=f"{lost} differs from the settled file; move the folder away"):
        settled[0].settle(tmp_path / "out", store=settled[2])


@pytest.mark.parametrize("note", ["", "not json", "[]", '"text"', "{}", '{"sha256": 3}', "[" * 100_000,
                                  '{"content": [], "manifest": {}, "title": 1}', "9" * 9999], ids=range(9))
def test_a_broken_note_is_not_taken_for_a_settlement(
    note: str, settled: Done, tmp_path: Path
) -> None:
    place = tmp_path / "campaign.json"
    place.write_text(note)
    with pytest.raises(InvalidInput, match="not empty"):
        settled[0].settle(tmp_path)  # not settled in this test's own store
    assert charged() == (None, 0)
    for call, says in ((lambda: settled[0].settle(tmp_path, store=settled[2]), "differs from the settled file"),
                       (lambda: settled[0].share("7", tmp_path, record=RECORD), str(place))):
        with pytest.raises(InvalidInput) as caught:
            call()
        assert caught.value.field == "out"
        assert says in str(caught.value)
    assert place.read_text() == note


def test_a_place_that_will_not_do_costs_nothing(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full, file, link, dangling, here = (tmp_path / name for name in ("full", "file", "link", "dangling", "here"))
    for folder in (full, here):
        folder.mkdir()
    (full / "notes.txt").write_text("mine")
    file.write_text("mine")
    link.symlink_to(here)
    dangling.symlink_to(tmp_path / "nowhere")
    monkeypatch.chdir(here)
    for place, problem in ((full, "not empty"), (file, "not a folder"), (file / "out", "cannot be written"),
                           (link, "not a folder"), (tmp_path / "new" / "..", "not the name of a new folder"),
                           (dangling, "not a folder"), (Path(), "working directory"),
                           (here, "working directory")):
        with pytest.raises(InvalidInput, match=problem) as caught:
            campaign.settle(place)
        assert caught.value.field == "out"
    assert (stands(campaign), charged()) == ((None, 0), (None, 0))
    assert (full / "notes.txt").read_text() == file.read_text() == "mine"
    campaign.settle(tmp_path / "out")
    for place in (full, file, link, here):  # nor does it change what is settled
        with pytest.raises(InvalidInput):
            campaign.settle(place)
    assert (full / "notes.txt").read_text() == file.read_text() == "mine"


def test_an_empty_folder_will_do(campaign: Campaign, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert campaign.settle(tmp_path / "out").fresh
    assert PublicOutcome.load(tmp_path / "out")


# ---- all or nothing

STEPS: dict[str, tuple[tuple[object, str], State, int, bool]] = {
    "collect": ((Submissions, "__iter__"), State.OPEN, 0, False),
    "charge": ((Store, "charge"), State.CLOSED, 2000, False),
    "read": ((Store, "reports"), State.CHARGED, 2000, True),
    "run": ((PrivateTruthfulRegression, "run"), State.CHARGED, 2000, True),
    "files": ((settlement, "public_files"), State.CHARGED, 2000, True),
    "publish": ((Store, "publish"), State.CHARGED, 2000, True),
    "pack": ((settlement, "write_pack"), State.SETTLED, 2000, True),
}
"""What is made to die, and then: where the campaign stands, the reports that are stored, whether it was debited."""
BETWEEN = {"collect", "read", "files"}
"""Steps beside others that leave the campaign where these do."""


@pytest.mark.parametrize(("late", "error"), fast(1, [(False, RuntimeError), (True, KeyboardInterrupt)]))
@pytest.mark.parametrize("step", fast(len(STEPS) - len(BETWEEN), sorted(STEPS, key=BETWEEN.__contains__)))
def test_a_settlement_that_dies_leaves_nothing_public_and_is_resumed_under_its_one_debit(
    step: str, late: bool, error: type[BaseException], campaign: Campaign, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before a step is done, or just after it: the state is the one before or the one after it, never in between."""
    (owner, name), state, reports, debited = STEPS[step]
    sound = getattr(owner, name)

    def dies(*arguments: Any, **more: Any) -> Any:
        if late:
            found = sound(*arguments, **more)
            if step == "collect":
                return _broken_off(found, error)
        raise error("out of disk")

    monkeypatch.setattr(owner, name, dies)
    reported = error is RuntimeError and step in ("run", "files")
    with pytest.raises(RunFailed if reported else error, match="at no further cost" if reported else "out of disk"):
        campaign.settle(tmp_path / "out")
    monkeypatch.undo()
    after = {"charge": (State.CHARGED, True), "publish": (State.SETTLED, True)}
    state, debited = after.get(step, (state, debited)) if late else (state, debited)
    assert stands(campaign) == (state, reports)
    assert charged() == ((PureDP(6.0), 1) if debited else (None, 0))
    alone(tmp_path, {"pay.toml", "answers.csv", *(["out"] if step == "pack" and late else [])})
    if state is not State.SETTLED:
        for call in (campaign.settled, campaign.tables, lambda: campaign.share("7"),
                     lambda: campaign.share("7", tmp_path / "out", record=RECORD)):
            with pytest.raises(Refused, match="not settled"):
                call()
    again = campaign.settle(tmp_path / "out")
    assert again.fresh is (state is not State.SETTLED)
    assert charged() == (PureDP(6.0), 1)
    assert history(campaign) == ["plan", "open", "close", "charge", "publish"]
    with Store() as store:
        assert tree(tmp_path / "out") == store.pack(again.number)
    assert campaign.settle(tmp_path / "out").fresh is False


def _broken_off(batches: Iterator[Any], error: type[BaseException]) -> Iterator[Any]:
    yield next(batches)
    raise error("out of disk")


@pytest.mark.slow
def test_a_settlement_is_resumed_with_fresh_noise(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[dict[str, bytes]] = []

    def dies(self: Store, number: int, withdrawals: int, files: dict[str, bytes], *_: object) -> bool:
        lost.append(files)
        raise RuntimeError("power")

    monkeypatch.setattr(Store, "publish", dies)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="power"):
            campaign.settle(tmp_path / "out")
    monkeypatch.undo()
    campaign.settle(tmp_path / "out")
    lost.append(tree(tmp_path / "out"))
    assert len({files["coefficients.csv"] for files in lost}) == 3
    assert charged() == (PureDP(6.0), 1)


@pytest.mark.parametrize("places", [("out", "out"), pytest.param(("out", "other"), marks=pytest.mark.slow)])
def test_of_two_settlements_at_once_one_wins(
    places: tuple[str, str], campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have run; the second to publish forgets its outcome and returns the other's."""
    publish, winners, forgotten = Store.publish, [], []

    def meanwhile(self: Store, number: int, withdrawals: int, files: dict[str, bytes], *more: Any) -> bool:
        if not winners:
            winners.append(None)
            winners.append(Campaign.load(campaign.file.path).settle(tmp_path / places[0]))  # another was faster
            forgotten.append(files["manifest.json"])
        return publish(self, number, withdrawals, files, *more)

    monkeypatch.setattr(Store, "publish", meanwhile)
    late = campaign.settle(tmp_path / places[1])
    won = winners[1]
    assert isinstance(won, Settled)
    assert (won.fresh, late.fresh) == (True, False)
    assert canonical(won.outcome.to_dict()) == canonical(late.outcome.to_dict())
    assert won.outcome.shares.equals(late.outcome.shares)
    assert tree(won.folder) == tree(late.folder)
    assert forgotten[0] not in tree(tmp_path).values()
    assert charged() == (PureDP(6.0), 1)
    assert history(campaign) == ["plan", "open", "close", "charge", "publish"]
    alone(tmp_path, {"pay.toml", "answers.csv", *places})


def test_two_who_write_the_same_pack_at_once(
    settled: Done, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign, done, store = settled
    replace, calls = os.replace, []

    def meanwhile(old: Path, new: Path) -> None:
        if not calls:
            calls.append(True)
            campaign.settle(tmp_path / "out", store=store)
        replace(old, new)

    monkeypatch.setattr(os, "replace", meanwhile)
    assert campaign.settle(tmp_path / "out", store=store).fresh is False
    assert tree(tmp_path / "out") == tree(done.folder)
    alone(tmp_path, {"out"})
