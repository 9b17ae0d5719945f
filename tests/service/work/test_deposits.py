"""Deposits in the service: only those that the operator has noted as received are paid back, or set against a debt."""

from __future__ import annotations

from pathlib import Path

import pytest

from confide.campaign import State
from confide.campaign.charging import charge_of
from confide.campaign.pages import payout_sections
from confide.contract import InvalidInput, Refused
from confide.contract.outcome_folder import rebuild
from confide.service.work import Task
from service.kills.participants import text_of
from service.parts import Parts

PEOPLE = 12


def opened(parts: Parts) -> int:
    """A campaign in which one can owe, and six have handed in; two of them have withdrawn."""
    number = parts.open(text_of("bits-unknown-costs", count=PEOPLE))
    it = parts.opened.get(number).campaign
    terms = it.file.kind.payouts(it.plan)
    assert terms is not None
    assert terms.deposit > 0
    people = parts.join(number, range(PEOPLE))
    for turn, who in enumerate(people[:6]):
        parts.participation.submit(who, {"report": "no" if turn == 0 else "yes"})
    for who in (people[4], people[5]):
        parts.participation.withdraw(who)
    return number


def queued(parts: Parts, number: int) -> dict[int, int | None]:
    return {each.slot: each.amount for each in parts.store.entries(number)}


def shares(parts: Parts, number: int) -> list[int]:
    found: list[int] = rebuild(parts.store.pack(number), parts.store.shares(number))["shares"]["payment"].to_pylist()
    return found


def test_without_a_note_nothing_of_a_deposit_is_queued(parts: Parts) -> None:
    number = opened(parts)
    assert parts.store.deposits(number) == frozenset()
    assert parts.do(number, Task.SETTLE).problem == ""
    found = shares(parts, number)
    assert min(found) < 0
    assert queued(parts, number) == {slot: coins for slot, coins in enumerate(found) if coins > 0}
    said = str([each.to_dict() for each in payout_sections(
        parts.opened.get(number).campaign.payouts(store=parts.store), listed=True)])
    assert "0 of these amounts include a deposit" in said
    assert "no deposit was left" in said  # of who withdrew


def test_what_was_noted_is_returned_or_set_against_a_debt(parts: Parts) -> None:
    """Who owes, who is paid, who withdrew, and who never came: each where hers was received, and only there."""
    number = opened(parts)
    it = parts.opened.get(number).campaign
    terms = it.file.kind.payouts(it.plan)
    assert terms is not None
    parts.store.note_deposits(number, [0, 1, 4, 7, 8])
    parts.store.note_deposits(number, [1, 0])  # again
    parts.store.note_deposits(number, [8], received=False)  # a slip
    assert parts.store.deposits(number) == {0, 1, 4, 7}
    assert parts.do(number, Task.SETTLE).problem == ""
    due = [coins + terms.deposit * (slot in (0, 1, 4, 7)) for slot, coins in enumerate(shares(parts, number))]
    assert queued(parts, number) == {slot: coins for slot, coins in enumerate(due) if coins > 0}
    assert queued(parts, number)[4] == queued(parts, number)[7] == terms.deposit
    assert {5, 8}.isdisjoint(queued(parts, number))
    found = it.payouts(store=parts.store)
    assert found.deposits == {"queued": sum(slot in queued(parts, number) for slot in (0, 1, 4, 7))}
    assert dict(zip(found.withdrawn["id"].to_pylist(), found.withdrawn["deposit"].to_pylist(), strict=True)) == {
        "5": terms.deposit, "6": 0}
    row = payout_sections(found, listed=False)[0].to_dict()["blocks"][0]["rows"][0]
    held = found.deposits["queued"] * terms.deposit
    assert row[3] == terms.money(sum(coins or 0 for coins in queued(parts, number).values()) - held)
    with pytest.raises(Refused, match="before the settlement"):
        parts.store.note_deposits(number, [9])


def test_notes_end_when_the_settlement_begins_and_go_when_all_is_paid(parts: Parts, tmp_path: Path) -> None:
    number = opened(parts)
    with pytest.raises(InvalidInput, match="out of range"):
        parts.store.note_deposits(number, [0, PEOPLE])
    assert parts.store.deposits(number) == frozenset()
    parts.store.note_deposits(number, range(PEOPLE))
    parts.store.close_collection(number)
    parts.store.note_deposits(number, [3], received=False)
    it = parts.opened.get(number).campaign
    parts.store.charge(number, charge_of(it.file, it.plan))
    for received in (True, False):
        with pytest.raises(Refused, match="before the settlement"):
            parts.store.note_deposits(number, [3], received=received)
    assert parts.do(number, Task.SETTLE).problem == ""
    it.approve_payouts(it.payouts(store=parts.store).queue.code, store=parts.store)
    it.export_payouts(tmp_path / "batch.csv", store=parts.store)
    reported = dict.fromkeys(parts.store.attempts(number)[1], "paid")
    parts.store.confirm(number, reported)
    assert parts.store.deposits(number) == frozenset()
    found = it.payouts(store=parts.store)
    assert found.deposits is None
    assert "deposit" not in str(payout_sections(found, listed=False)[0].to_dict())


def test_a_cancelled_campaign_says_whose_to_return(parts: Parts) -> None:
    number = opened(parts)
    parts.store.note_deposits(number, [0, 7])
    parts.store.cancel(number)
    assert parts.store.get(number).state is State.CANCELLED
    assert parts.store.deposits(number) == {0, 7}
    with pytest.raises(Refused, match="before the settlement"):
        parts.store.note_deposits(number, [1])
    parts.store.note_deposits(number, [0, 7], received=False)  # they were returned
    assert parts.store.deposits(number) == frozenset()
