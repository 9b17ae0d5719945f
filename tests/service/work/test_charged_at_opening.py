"""Where devices draw, each report is a release to who collects it: the ledger is charged when a collection opens."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import select

from campaign.store.faults import Died, Steps, counted
from confide.campaign import Home, State, Store, settle, verify
from confide.campaign.campaign import Campaign
from confide.campaign.charging import charge_of, ledger_says
from confide.campaign.own_runs import charged_code
from confide.campaign.store import schema as s
from confide.contract import BudgetExceeded, InvalidInput, Refused
from confide.contract.kinds import kind
from confide.service.work import Drafts, Opened, Task
from confide.service.work.faults import Changed
from service.kills.participants import text_of
from service.parts import Parts

PEOPLE = 12


def bits(title: str, data_set: str = "one and the same") -> str:
    """A campaign on a data set whose budget admits one."""
    return text_of("bits", title=f'"{title}"', data_set=f'"{data_set}"', count=PEOPLE)


def spent(store: Store) -> list[tuple[str, int]]:
    """(title, people) of each debit."""
    return [(each.title, each.subjects) for standing in store.ledger() for each in standing.debits]


def rows(store: Store) -> dict[str, list[Any]]:
    """Everything that a store holds but of drafts and operators, by table."""
    with store.database.reading() as connection:
        return {name: sorted(map(repr, connection.execute(select(table)).all()))
                for name, table in s.metadata.tables.items() if name.startswith("ledger_") or name in (
                    "campaign", "event", "report")}


def report(parts: Parts, number: int, slots: int = 3) -> None:
    for who in parts.join(number, range(slots)):
        parts.participation.submit(who, {"report": "yes"})


def test_six_campaigns_on_one_data_set_whose_budget_is_one(parts: Parts) -> None:
    """The first is charged before anybody reports, for all who are invited; no other one is opened."""
    store = parts.store
    first = parts.open(bits("0"))
    assert spent(store) == [("0", PEOPLE)]
    report(parts, first)
    before = rows(store)
    for turn in range(1, 6):
        draft = parts.drafts.new(bits(str(turn)), parts.operator.number)
        with pytest.raises(BudgetExceeded, match="does not admit epsilon 1"):
            parts.drafts.open(draft.number)
        assert parts.drafts.get(draft.number).campaign is None
    assert rows(store) == before
    assert [each.number for each in parts.opened.all()] == [first]
    assert not store.home.campaign_folder(first + 1).exists()
    it = parts.opened.get(first).campaign
    assert ledger_says(it.file, it.plan, store)[0] == "charged"
    account = charge_of(it.file, it.plan).account
    stands = [store.subject(account, name) for name in ("1", str(PEOPLE))]  # who has reported, and who has not
    assert [None if each is None else each.filter.spent for each in stands] == [store.ledger()[0].filter.spent] * 2


def test_settling_debits_nothing_more(parts: Parts) -> None:
    number = parts.open(bits("once"))
    report(parts, number)
    before = {name: found for name, found in rows(parts.store).items() if name.startswith("ledger_")}
    for _ in range(2):
        assert parts.do(number, Task.SETTLE).problem == "" if parts.jobs.of(number, Task.SETTLE) is None else True
    assert parts.store.get(number).state is State.SETTLED
    assert {name: found for name, found in rows(parts.store).items() if name.startswith("ledger_")} == before
    it = parts.opened.get(number)
    asked = charge_of(it.campaign.file, it.campaign.plan)
    said = [(each.event, dict(each.data)) for each in parts.store.events(number)]
    assert [name for name, _ in said] == ["plan", "open", "close", "charge", "publish"]
    assert json.loads(json.dumps(asked.entry())) == said[1][1]
    assert said[2][1] == said[3][1] == {}
    assert verify(it.pack, key=parts.store.home.fingerprint).passed


def test_no_collection_is_open_without_its_debit(parts: Parts) -> None:
    """Opening dies at each of its durable steps in turn: all is there or nothing, and the next try ends it."""
    store, stages = parts.store, Counter[str]()
    for step in count(1):
        title = f"broken {step}"
        number = parts.drafts.new(bits(title, data_set=title), parts.operator.number).number
        parts.drafts.campaign(parts.drafts.get(number))
        steps = Steps(step)
        with counted(steps):
            try:
                parts.drafts.open(number)
            except Died:
                stages[steps.names[-1]] += 1
        campaign = parts.drafts.get(number).campaign
        with store.database.reading() as connection:
            there = list(connection.execute(select(s.campaign.c.id).where(s.campaign.c.title == title)).scalars())
        assert there == ([] if campaign is None else [campaign])
        assert [each for each in spent(store) if each[0] == title] == [(title, PEOPLE)] * len(there)
        assert [store.is_charged(each) for each in there] == [True] * len(there)
        opened = parts.drafts.open(number).number
        assert spent(store).count((title, PEOPLE)) == 1
        assert [each.event for each in store.events(opened)] == ["plan", "open"]
        if len(steps.names) < step:
            break
    assert {"open: INSERT INTO campaign", "open: INSERT INTO ledger_debit", "open: INSERT INTO event",
            "open: UPDATE draft SET", "open: before commit", "open: after commit"} <= set(stages), sorted(stages)


def test_of_many_who_open_at_once_one_debits(parts: Parts, database_url: str) -> None:
    """Each through a store of its own, as processes do: the same draft, and another draft of the same words."""
    store = parts.store
    numbers = [parts.drafts.new(bits("raced"), parts.operator.number).number for _ in range(2)]
    barrier = Barrier(6)

    def opens(turn: int) -> int | str:
        with Store(database_url, home=store.home) as mine:
            drafts = Drafts(mine, parts.data)
            drafts.campaign(drafts.get(numbers[turn % 2]))
            barrier.wait()
            try:
                return drafts.open(numbers[turn % 2]).number
            except Refused as error:
                return str(error)

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(opens, range(6)))
    opened = [parts.drafts.get(number).campaign for number in numbers]
    (number,) = [each for each in opened if each is not None]
    winner = opened.index(number)
    assert [found[turn] for turn in range(6) if turn % 2 == winner] == [number] * 3
    assert all("the same content" in str(found[turn]) for turn in range(6) if turn % 2 != winner)
    assert spent(store) == [("raced", PEOPLE)]
    assert [each.event for each in store.events(number)] == ["plan", "open"]


def test_a_draft_that_was_changed_meanwhile_costs_nothing(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    number = parts.drafts.new(bits("read"), parts.operator.number).number
    real = Store.open

    def changed(self: Store, *args: Any, **named: Any) -> Any:
        parts.drafts.change(number, bits("written since"), 1)
        return real(self, *args, **named)

    before = rows(parts.store)
    with monkeypatch.context() as patch:
        patch.setattr(Store, "open", changed)
        with pytest.raises(Changed):
            parts.drafts.open(number)
    assert rows(parts.store) == before


def older(parts: Parts, text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """A campaign that was opened by a version that charged nothing then."""
    real = Store.open
    with monkeypatch.context() as patch:
        patch.setattr(Store, "open", lambda self, file, slots, *, charge=None, also=None: real(
            self, file, slots, also=also))
        return parts.open(text)


def test_an_older_open_campaign_is_charged_when_it_is_settled(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    number = older(parts, bits("older"), monkeypatch)
    assert spent(parts.store) == []
    report(parts, number)
    assert spent(parts.store) == []
    assert parts.do(number, Task.SETTLE).problem == ""
    assert spent(parts.store) == [("older", PEOPLE)]
    assert [bool(each.data) for each in parts.store.events(number)] == [True, False, False, True, True]
    assert verify(parts.opened.get(number).pack, key=parts.store.home.fingerprint).passed


def test_an_older_one_that_the_budget_does_not_admit_is_over(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    number = older(parts, bits("older"), monkeypatch)
    parts.open(bits("newer"))
    assert "does not admit epsilon 1" in parts.do(number, Task.SETTLE).problem
    assert parts.store.get(number).state is State.CANCELLED
    assert spent(parts.store) == [("newer", PEOPLE)]


def test_what_is_open_without_a_charge_becomes_no_drafts_campaign(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where an older version died between the opening and the draft's end: people would report for nothing."""
    draft = parts.drafts.new(bits("left"), parts.operator.number)
    parts.store.open(parts.drafts.campaign(draft).file, PEOPLE)
    with pytest.raises(Refused, match="in the store without a charge"):
        parts.drafts.open(draft.number)
    assert parts.opened.all() == ()


def test_a_run_that_met_no_file_leaves_nothing_open_for_reports(tmp_path: Path) -> None:
    """It opens the campaign, and charges it when it has read the file: until then nobody reports for nothing."""
    path = tmp_path / "bits.toml"
    path.write_text(bits("no file yet"))
    it = Campaign.load(path)
    with Store() as store:
        with pytest.raises(InvalidInput, match="is not a file"):
            it.settle(store=store)
        known = store.find(it.file)
        assert known is not None
        assert (known.state, store.is_charged(known.number)) == (State.OPEN, False)
        with pytest.raises(Refused, match="in the store without a charge"):
            it.hand_in("1", {"report": "yes"}, store=store)
        assert store.submitted(known.number) == 0


def test_a_participant_who_submitted_elsewhere_is_not_taken_over(parts: Parts) -> None:
    """Whose deposit is there would follow from another rule than she was told."""
    draft = parts.drafts.new(bits("by hand first"), parts.operator.number)
    parts.drafts.campaign(draft).hand_in("1", {"report": "yes"}, store=parts.store)
    with pytest.raises(Refused, match="have handed in to this campaign before"):
        parts.drafts.open(draft.number)
    assert parts.opened.all() == ()
    assert spent(parts.store) == [("by hand first", PEOPLE)]


def test_a_cancelled_campaign_keeps_its_debit(parts: Parts) -> None:
    number = parts.open(bits("given up"))
    report(parts, number)
    it = parts.opened.get(number).campaign
    parts.store.cancel(number)
    assert parts.store.submitted(number) == 0
    assert spent(parts.store) == [("given up", PEOPLE)]
    assert ledger_says(it.file, it.plan, parts.store) == (
        "refuses", "The campaign was cancelled. The charge of its opening stays.")
    with pytest.raises(BudgetExceeded):
        parts.open(bits("the next"))


def test_other_kinds_are_charged_later(tmp_path: Path) -> None:
    with Parts.at(tmp_path) as parts:
        for name in ("mean", "regression"):
            parts.open(text_of(name, data_set=f'"{name}"'))
        assert spent(parts.store) == []


def test_a_debit_for_something_else_is_not_settled(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by another version, which plans otherwise: nothing is moved."""
    number = parts.open(bits("planned otherwise"))
    report(parts, number)
    parts.store.close_collection(number)
    it = parts.opened.get(number).campaign
    asked = charge_of(it.file, it.plan)
    with pytest.raises(Refused, match="is for other releases"):
        parts.store.charge(number, type(asked)(**{**vars(asked), "events": asked.events * 2}))
    assert parts.store.get(number).state is State.CLOSED
    assert parts.do(number, Task.SETTLE).problem == ""


def test_by_the_command_line_the_run_is_charged(tmp_path: Path) -> None:
    """The reports come in one file, and are read when the ledger has been asked."""
    home = Home(tmp_path / "home")
    (tmp_path / "bits.toml").write_text(bits("a file"))
    campaign = Campaign.load(tmp_path / "bits.toml")
    ((_, source),) = kind("bits").files(campaign.file.config)
    (tmp_path / source).write_text("id,report\n" + "".join(f"{slot + 1},yes\n" for slot in range(PEOPLE)))
    with Store(home.url, home=home) as store:
        known = settle(campaign, store)
        said = store.events(known.number)
        assert [each.event for each in said if "events" in each.data] == ["charge"]
        assert spent(store) == [("a file", PEOPLE)]


def test_one_report_by_hand_opens_and_charges(tmp_path: Path) -> None:
    """`Campaign.hand_in` takes reports one by one, as the service does."""
    home = Home(tmp_path / "home")
    (tmp_path / "bits.toml").write_text(bits("by hand"))
    campaign = Campaign.load(tmp_path / "bits.toml")
    (tmp_path / "next.toml").write_text(bits("the next"))
    with Store(home.url, home=home) as store:
        for name in ("1", "2"):
            campaign.hand_in(name, {"report": "yes"}, store=store)
        assert spent(store) == [("by hand", PEOPLE)]
        with pytest.raises(BudgetExceeded):
            Campaign.load(tmp_path / "next.toml").hand_in("1", {"report": "yes"}, store=store)
        assert [each.title for each in store.campaigns()] == ["by hand"]


def test_a_restored_copy_knows_what_was_charged(tmp_path: Path) -> None:
    from confide.campaign.backup import backup, confirm, restore

    with Parts.at(tmp_path) as parts:
        number = parts.open(bits("copied"))
        report(parts, number)
        backup(tmp_path / "copy.tar", store=parts.store)
        restore(tmp_path / "copy.tar", tmp_path / "copy" / "home")
    (tmp_path / "copy" / "data").mkdir()
    with Parts.at(tmp_path / "copy") as parts:
        assert Opened(parts.store).stored(number).state is State.OPEN
        assert spent(parts.store) == [("copied", PEOPLE)]
        assert "copy" in parts.do(number, Task.SETTLE).problem
        confirm(parts.store, number)
        assert parts.do(number, Task.SETTLE).problem == ""
        assert spent(parts.store) == [("copied", PEOPLE)]


def test_code_that_is_not_confides_is_noted_with_its_charge(tmp_path: Path) -> None:
    with Parts.at(tmp_path) as parts:
        number = parts.open(bits("ours"))
        it = parts.opened.get(number).campaign
        assert (parts.store.home.charged(it.file.digest), charged_code(it.file, it.plan)) == (None, "")
