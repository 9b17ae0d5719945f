"""Withdrawal and erasure: before the publication her record is the null record, after it what is hers goes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import event

from campaign.small import tree
from campaign.store.counting import DEPOSIT, Counting, name, report, write
from campaign.store.invariants import Life, account, lives
from confide.campaign import Campaign, Home, State, Store, verify
from confide.campaign.pages import withdrawn_section
from confide.contract import InvalidInput, Refused

ANSWERS = {0: 1, 1: 20, 2: 300, 3: 4_000}
TITLE = "How much in all?"


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return write(tmp_path, ANSWERS)


def opened(campaign: Campaign, store: Store) -> int:
    return store.open(campaign.file, 6).number


def life(store: Store) -> Life:
    return lives(store)[TITLE]


def during_runs(monkeypatch: pytest.MonkeyPatch, *acts: Callable[[], object]) -> list[int]:
    """Something happens after each run, before its outcome is published; the draws of all runs."""
    run, draws = Counting.run, []

    def interrupted(self: Counting, data: Any, noise: Any) -> Any:
        outcome = run(self, data, noise)
        if len(draws) < len(acts):
            acts[len(draws)]()
        draws.append(outcome.billboard.draw)
        return outcome

    monkeypatch.setattr(Counting, "run", interrupted)
    return draws


def pay_all(store: Store, number: int) -> None:
    store.approve(number, store.payouts(number).code)
    batch = store.batch(number, store.export(number, "csv"))
    store.confirm(number, {reference: "paid" for _, reference, _ in batch.payments})


# ---- collection


def test_what_was_handed_in_stands_whatever_the_file_says(campaign: Campaign, store: Store) -> None:
    number = opened(campaign, store)
    store.submit(number, 1, report(7_000_000))
    store.submit(number, 1, report(50_000))  # she thinks again
    store.submit(number, 4, report(600_000))
    settled = campaign.settle(store=store)
    assert settled.outcome.billboard.total == 1 + 50_000 + 300 + 4_000 + 600_000  # type: ignore[attr-defined]
    assert life(store).reports == {slot: report(value) for slot, value in
                                   {**ANSWERS, 1: 50_000, 4: 600_000}.items()}


def test_no_slot_but_those_that_were_invited(campaign: Campaign, store: Store) -> None:
    number = opened(campaign, store)
    for slot in (-1, 6):
        with pytest.raises(InvalidInput, match=r"must be in \[0, 6\)"):
            store.submit(number, slot, report(1))
        with pytest.raises(InvalidInput, match=r"must be in \[0, 6\)"):
            store.withdraw(number, slot)
    for act in (lambda: store.submit(99, 0, report(1)), lambda: store.withdraw(99, 0)):
        with pytest.raises(InvalidInput, match="no number 99"):
            act()
    assert life(store).reports == {}


def test_a_confirmation_of_nothing_erases_nothing(campaign: Campaign, store: Store) -> None:
    """Where no payout is open because there is none yet, the reports are still needed."""
    number = opened(campaign, store)
    store.submit(number, 0, report(1))
    store.withdraw(number, 1)
    assert store.confirm(number, {}) == {"paid": 0, "failed": 0, "known": 0}
    assert life(store).reports == {0: report(1)}
    assert life(store).withdrawn == {1: False}


def test_who_is_not_invited(campaign: Campaign, store: Store) -> None:
    opened(campaign, store)
    for identity in ("person-7", "person-0", 1, ""):
        with pytest.raises(InvalidInput, match=r"id: '.*' is not on the public list of 6 ids"):
            campaign.withdraw(identity, store=store)


# ---- before the publication


@pytest.mark.parametrize("closed", [False, True])
def test_the_slot_of_the_withdrawn_stays_empty(closed: bool, campaign: Campaign, store: Store) -> None:
    """Also where the file that is collected later has her row; the number of people stays."""
    number = opened(campaign, store)
    if closed:
        store.collect(number, ((np.array([slot]), [report(value)]) for slot, value in ANSWERS.items()))
    assert store.withdraw(number, 2) is True
    assert store.withdraw(number, 2) is True  # the second time changes nothing
    with pytest.raises(Refused):
        store.submit(number, 2, report(300))
    settled = campaign.settle(store=store)
    assert settled.outcome.billboard.total == 4_021  # type: ignore[attr-defined]
    assert settled.outcome.shares.num_rows == 6
    assert settled.outcome.shares["payment"][2].as_py() == 0
    assert life(store).withdrawn == {2: True}  # whether she or the file had handed it in
    assert life(store).payouts[2] == (DEPOSIT, "queued", None)  # what she had left with it
    assert verify(settled.folder).passed


def test_a_withdrawal_makes_a_run_void(campaign: Campaign, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two people withdraw while it runs, one after the other: it is repeated twice, under the same debit."""
    number = opened(campaign, store)
    draws = during_runs(monkeypatch, lambda: store.withdraw(number, 3), lambda: store.withdraw(number, 0))
    settled = campaign.settle(store=store)
    assert len(set(draws)) == 3
    assert (settled.outcome.billboard.total, settled.outcome.billboard.draw) == (320, draws[2])  # type: ignore[attr-defined]
    found = life(store)
    assert found.debits == 1
    assert found.events == ("plan", "open", "close", "charge", "publish")
    assert set(found.reports) == {1, 2}
    assert (found.payouts[0][0], found.payouts[3][0]) == (DEPOSIT, DEPOSIT)
    everything = b"".join(found.pack.values()) + store.shares(number)
    assert str(draws[0]).encode() not in everything  # what was not published never leaves
    assert str(draws[1]).encode() not in everything


def test_another_process_withdraws_during_the_run(
    campaign: Campaign, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = opened(campaign, store)

    def elsewhere() -> None:
        with Store(store.name) as other:
            assert other.withdraw(number, 1) is True

    draws = during_runs(monkeypatch, elsewhere)
    settled = campaign.settle(store=store)
    assert len(draws) == 2
    assert settled.outcome.billboard.total == 4_301  # type: ignore[attr-defined]


def test_who_has_no_record_withdraws_during_the_run(
    campaign: Campaign, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run is repeated as well: when somebody withdrew must not tell whether she took part."""
    number = opened(campaign, store)
    draws = during_runs(monkeypatch, lambda: store.withdraw(number, 5))
    campaign.settle(store=store)
    assert len(draws) == 2
    assert 5 not in life(store).payouts
    found = campaign.payouts(store=store)
    assert found.withdrawn.to_pylist() == [{"id": name(5), "deposit": 0}]
    assert found.entries["id"].to_pylist() == [name(slot) for slot in ANSWERS]


def test_a_run_sees_one_state(campaign: Campaign, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it reads the reports, whatever happens meanwhile."""
    number, seen = opened(campaign, store), []

    def twice(self: Counting, data: Any, noise: Any) -> Any:
        seen.append([int(values.sum()) for _, values in data])
        if len(seen) == 1:
            store.withdraw(number, 3)
        seen.append([int(values.sum()) for _, values in data])
        return run(self, data, noise)

    run = Counting.run
    monkeypatch.setattr(Counting, "run", twice)
    assert campaign.settle(store=store).outcome.billboard.total == 321  # type: ignore[attr-defined]
    assert seen == [[4_321], [4_321], [321], [321]]


@pytest.mark.parametrize("reported", [False, True])
def test_everybody_withdraws(reported: bool, store: Store, tmp_path: Path) -> None:
    """Who had handed in something gets the deposit back. Where nobody had, nobody is paid, and no report is kept; what
    the mechanism gave to empty records is, since no payment has told it."""
    campaign = write(tmp_path, ANSWERS if reported else {})
    number = opened(campaign, store)
    for slot in range(6):
        assert campaign.withdraw(name(slot), store=store) is True
    settled = campaign.settle(store=store)
    assert settled.outcome.billboard.total == 0  # type: ignore[attr-defined]
    assert store.payouts(number).done == (not reported)
    assert life(store).payouts == (dict.fromkeys(ANSWERS, (DEPOSIT, "queued", None)) if reported else {})
    assert life(store).withdrawn == {slot: reported and slot in ANSWERS for slot in range(6)}
    assert campaign.settled(store=store).shares["payment"].to_pylist() == [0] * 6
    if reported:
        shown = campaign.share(name(1), store=store)[0]
        assert shown.private
        assert shown.title == "Participant person-2: withdrew before the settlement"
        assert "Their deposit of 0.03 EUR is returned" in str(shown.blocks)
        assert "This participant left no deposit." in str(campaign.share(name(5), store=store)[0].blocks)
        assert [row["deposit"] for row in campaign.payouts(store=store).withdrawn.to_pylist()] == [3, 3, 3, 3, 0, 0]


def test_who_left_no_deposit_where_nobody_does_reads_of_none() -> None:
    shown = [str(withdrawn_section("7", deposit).blocks) for deposit in (None, "", "0.03 EUR")]
    assert ["deposit" in each for each in shown] == [False, True, True]
    assert all("counts as empty; nothing is paid for this record." in each for each in shown)


# ---- after it


@pytest.mark.parametrize("paid", [False, True])
def test_the_participants_own_values_are_erased(paid: bool, campaign: Campaign, store: Store) -> None:
    """The first, one who was paid, and the last, who had no record."""
    settled = campaign.settle(store=store)
    number, folder = settled.number, tree(settled.folder)
    shares = settled.outcome.shares["payment"].to_pylist()
    if paid:
        pay_all(store, number)
        shares = [None] * len(shares)
    before, spent = life(store), store.ledger("town")
    gone: list[int] = []
    for slot in (0, 2, 2, 5):
        subject = store.subject(account("town"), name(slot))
        assert campaign.withdraw(name(slot), store=store) is False
        gone.append(slot)
        after = life(store)
        assert after.withdrawn == {}
        assert set(after.reports) == set(before.reports) - set(gone)
        assert (after.pack, after.payouts, after.debits, after.events) == (before.pack, before.payouts, before.debits,
                                                                          before.events)
        assert store.ledger("town") == spent
        assert store.subject(account("town"), name(slot)) == subject is not None
        left = campaign.settled(store=store).shares["payment"].to_pylist()
        assert left == [None if each in gone else share for each, share in enumerate(shares)]
    again = campaign.settle(store=store)
    assert not again.fresh
    assert again.outcome.to_dict() == settled.outcome.to_dict()
    assert tree(settled.folder) == folder
    assert verify(settled.folder, key=Home.default().fingerprint).passed


def test_a_withdrawn_participant_can_still_check_their_share(campaign: Campaign, store: Store) -> None:
    """It follows from her own record and the billboard."""
    settled = campaign.settle(store=store)
    own = campaign.own_file(name(1), record={"value": "20"})
    assert own["share"] == {"payment": settled.outcome.shares["payment"][1].as_py()}
    store.withdraw(settled.number, 1)
    found = verify(settled.folder, own=own)
    assert found.passed
    assert [finding.verdict for finding in found.findings if finding.check == "own share"] == ["holds"]


def test_a_withdrawn_participant_is_still_paid(campaign: Campaign, store: Store) -> None:
    """Once: her payout is not hers to erase, and a failed payment can be sent again."""
    settled = campaign.settle(store=store)
    number, total = settled.number, sum(amount or 0 for amount, _, _ in life(store).payouts.values())
    store.withdraw(number, 1)
    store.approve(number, store.payouts(number).code)
    batch = store.batch(number, store.export(number, "csv"))
    store.confirm(number, {reference: "failed" if slot == 1 else "paid" for slot, reference, _ in batch.payments})
    store.withdraw(number, 1)
    assert store.reopen(number) == 1
    pay_all(store, number)
    assert life(store).payouts[1] == (None, "paid", 2)
    assert life(store).paid == total


def test_the_note_of_the_withdrawal_is_erased_too(campaign: Campaign, store: Store) -> None:
    """Who withdrew before the publication and asks again after it leaves no trace but in the ledger."""
    number = opened(campaign, store)
    store.withdraw(number, 1)
    campaign.settle(store=store)
    assert life(store).withdrawn == {1: True}
    assert store.withdraw(number, 1) is False
    assert life(store).withdrawn == {}
    assert life(store).state is State.SETTLED


def test_nobody_waits_for_readers_in_order_to_forget(campaign: Campaign, store: Store) -> None:
    """A withdrawal during a long read is done; what it leaves in SQLite's log goes when the reader has gone."""
    number = opened(campaign, store)
    value = 0x5EC2E7_5EC2E7_5E
    store.submit(number, 0, report(value))
    with store.database.snapshot() as connection:
        connection.exec_driver_sql("SELECT count(*) FROM report").scalar()
        assert store.withdraw(number, 0) is True
    store.database.forget()
    if store.database.file is not None:
        log = store.database.file.with_name(f"{store.database.file.name}-wal")
        assert log.read_bytes() == b""
        assert report(value) not in store.database.file.read_bytes()


# ---- locks


def test_locks_are_taken_in_one_order(postgresql: Any, tmp_path: Path) -> None:
    """A campaign's row, then the ledger; two who took them in different orders could wait for each other for ever."""
    url = postgresql.create("locks")
    with Store(url) as store:
        write(tmp_path, {0: 1}, title="earlier").settle(tmp_path / "earlier", store=store)
        transactions: list[list[str]] = []

        def begin(_: Any) -> None:
            transactions.append([])

        def statement(_c: Any, _u: Any, text: str, *_: Any) -> None:
            if "FOR UPDATE" in text:
                transactions[-1].append("campaign")
            if "pg_advisory_xact_lock" in text:
                transactions[-1].append("ledger")
            if text.startswith("INSERT INTO campaign"):
                transactions[-1].append("new")  # nobody else can hold it

        event.listen(store.database.engine, "begin", begin)
        event.listen(store.database.engine, "before_cursor_execute", statement)
        write(tmp_path, ANSWERS).settle(store=store)
    postgresql.drop("locks")
    found = [locks for locks in transactions if "ledger" in locks]
    assert found == [["ledger", "new"], ["ledger"], ["campaign", "ledger"]]  # open, check_charge, charge
