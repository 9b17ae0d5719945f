"""What holds in a store whatever happened, read from its tables alone."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlalchemy import select

from campaign.store.counting import name
from confide.campaign import Store
from confide.campaign.signatures import signed_by
from confide.campaign.store import schema
from confide.campaign.store.chain import Entry, broken
from confide.campaign.store.ledger import subject_keys
from confide.campaign.store.states import State, StateEvent, advance
from confide.contract import Audience, Relation, digest
from confide.contract.encoding import table_from_bytes
from confide.privacy import Account

__all__ = ["Life", "account", "lives"]

_CHARGED = (State.CHARGED, State.SETTLED)
_AFTER = ("approve", "export", "import", "reopen")
"""Acts of the operator on the payouts."""


@dataclass(frozen=True, kw_only=True)
class Life:
    """One campaign as its rows tell it.

    Args:
        number: in the store.
        title: of the campaign.
        state: where it stands.
        reports: slot -> bytes.
        withdrawn: slot -> whether she had handed in a report.
        debits: how many.
        pack: path -> bytes; empty before the publication.
        payouts: slot -> (amount, state, batch); no amount is left once all is paid.
        paid: what was paid in all, once no amount is left.
        events: names in order.
    """

    number: int
    title: str
    state: State
    reports: Mapping[int, bytes]
    withdrawn: Mapping[int, bool]
    debits: int
    pack: Mapping[str, bytes]
    payouts: Mapping[int, tuple[int | None, str, int | None]]
    paid: int | None
    events: tuple[str, ...]


def account(data_set: str) -> Account:
    """A data set's account, as the stand-in kind's campaigns charge it."""
    return Account(name=data_set, neighbours=Relation.REPLACE, audience=Audience.PUBLIC)


def lives(store: Store) -> dict[str, Life]:
    """All campaigns of a store by title, after everything that must always hold was checked."""
    with store.database.reading() as connection:
        tables = {key: connection.execute(select(table)).all() for key, table in schema.metadata.tables.items()}
    found = [_life(store, row, tables) for row in tables["campaign"]]
    _check_ledger(store, tables)
    return {life.title: life for life in found}


def _life(store: Store, row: Any, tables: Mapping[str, list[Any]]) -> Life:
    def own(table: str) -> list[Any]:
        return [each for each in tables[table] if each.campaign_id == row.id]

    state = State(row.state)
    events = [Entry(event=each.event, day=each.day, data=json.loads(each.data), hash=each.hash)
              for each in sorted(own("event"), key=lambda each: each.number)]
    pack = {each.path: bytes(each.data) for each in own("billboard")}
    payouts = {each.slot: (each.amount, each.state, each.batch) for each in own("payout")}
    batches = {each.number for each in own("payout_batch")}
    withdrawn = {each.slot: bool(each.reported) for each in own("withdrawal")}
    reports = {each.slot: bytes(each.report) for each in own("report")}

    assert state in (State.OPEN, State.CLOSED, State.CHARGED, State.SETTLED, State.CANCELLED)
    _check_chain(events, state, row.content)
    assert len(own("ledger_debit")) == (state in _CHARGED)  # one debit, from the charge on and not before
    assert state is not State.CANCELLED or not (reports or withdrawn)
    assert len(own("share")) == (state is State.SETTLED)
    assert bool(pack) == (state is State.SETTLED)
    if pack:
        _check_pack(store, pack, events)
    assert state is State.SETTLED or not payouts
    assert all((batch is None) == (how in ("queued", "approved")) for _, how, batch in payouts.values())
    assert {batch for _, _, batch in payouts.values()} - {None} <= batches
    assert batches == set(range(1, len(batches) + 1))
    assert not set(reports) & set(withdrawn)
    failed = {(each.slot, each.batch) for each in own("payout_reopened")}
    assert {slot for slot, _ in failed} <= set(payouts)
    assert {batch for _, batch in failed} <= batches
    assert not failed & {(slot, batch) for slot, (_, _, batch) in payouts.items()}  # an attempt is over, or it is not
    done = bool(payouts) and all(how == "paid" for _, how, _ in payouts.values())
    assert (row.paid is not None) == done
    assert all((amount is None) == done for amount, _, _ in payouts.values())
    if done:
        assert not reports
        assert not withdrawn
        (share,) = own("share")
        assert all(column.null_count == row.slots for column in table_from_bytes(bytes(share.data)).columns)
    return Life(number=row.id, title=row.title, state=state, reports=reports, withdrawn=withdrawn,
                debits=len(own("ledger_debit")), pack=pack, payouts=payouts,
                paid=None if row.paid is None else int(row.paid), events=tuple(each.event for each in events))


def _check_chain(events: list[Entry], state: State, content: str) -> None:
    assert broken(events) is None
    assert events[0].data["content"] == content
    at = State.DRAFT
    for each in events:
        if each.event in _AFTER:
            assert at is State.SETTLED
            continue
        if each.event == StateEvent.PUBLISH:
            at = advance(at, StateEvent.RUN)
        at = advance(at, StateEvent(each.event))
    assert at is state


def _check_pack(store: Store, pack: Mapping[str, bytes], events: list[Entry]) -> None:
    note = json.loads(pack["campaign.json"])
    assert signed_by(note) == store.home.fingerprint
    assert note["files"] == {path: digest(data) for path, data in pack.items() if path != "campaign.json"}
    published = json.loads(pack["events.json"])
    assert published == [each.to_dict() for each in events[: len(published)]]
    assert published[-1]["event"] == "publish"


def _check_ledger(store: Store, tables: Mapping[str, list[Any]]) -> None:
    """The totals of every data set and of every subject are the sum of the debits, exactly."""
    files = {row.id: tomllib.loads(row.text) for row in tables["campaign"]}
    balances = {row.id: row for row in tables["ledger_balance"]}
    accounts = {(row.scope_id, bytes(row.key)): balances[row.balance_id] for row in tables["ledger_subject"]}
    expected: Counter[tuple[int, bytes]] = Counter()
    for row in tables["ledger_scope"]:
        debited = [files[debit.campaign_id] for debit in tables["ledger_debit"] if debit.scope_id == row.id]
        assert debited
        _check_balance(balances[row.balance_id], sum((_epsilon(file) for file in debited), Fraction(0)))
        for file in debited:
            people = [name(slot) for slot in range(file["people"])]
            for key in subject_keys(account(row.data_set), store.home.ledger_key, people):
                expected[row.id, key] += _epsilon(file)
    assert set(accounts) == set(expected)
    for key, balance in accounts.items():
        _check_balance(balance, expected[key])


def _check_balance(balance: Any, spent: Fraction) -> None:
    assert (Fraction(balance.epsilon), Fraction(balance.delta), Fraction(balance.rho)) == (spent, 0, 0)
    assert spent <= Fraction(balance.budget_epsilon)


def _epsilon(file: Mapping[str, Any]) -> Fraction:
    return Fraction(repr(file["epsilon"]))
