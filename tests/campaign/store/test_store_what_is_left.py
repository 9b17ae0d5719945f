"""What a store keeps when all is paid: every column with its reason, and no byte of a report."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import DateTime, inspect

from campaign import small
from campaign.store.counting import name, report, write
from campaign.store.invariants import account, lives
from confide.campaign import Campaign, Home, Store
from confide.campaign.payouts import export_batch, import_confirmations
from confide.campaign.store import schema
from confide.campaign.store.ledger import subject_keys
from confide.campaign.store.reports import put_many
from confide.contract import Refused

COLUMNS = {
    "alembic_version.version_num": ("public", "which migration the tables are of"),
    "installation.id": ("public", "always 1"),
    "installation.key_check": ("keyed", "a keyed hash of a constant: tells the ledger's key from any other"),
    "campaign.id": ("operator", "a number in this store"),
    "campaign.content": ("public", "digest of the campaign file"),
    "campaign.kind": ("public", "in the campaign file"),
    "campaign.name": ("operator", "the campaign file's name"),
    "campaign.title": ("public", "in the campaign file"),
    "campaign.text": ("public", "the campaign file"),
    "campaign.slots": ("public", "how many were invited, in the campaign file"),
    "campaign.state": ("public", "where it stands"),
    "campaign.withdrawals": ("operator", "how many withdrew before the publication; not who"),
    "campaign.paid": ("operator", "the sum of all payouts, for the books; it stands in the place of the amounts"),
    "event.campaign_id": ("operator", "which campaign"),
    "event.number": ("public", "the order of the operator's acts"),
    "event.event": ("public", "what the operator did; in the pack up to the publication"),
    "event.day": ("public", "on which day, in UTC; no time"),
    "event.data": ("operator", "of acts on payouts: how many people; otherwise public"),
    "event.hash": ("public", "the chain"),
    "report.campaign_id": ("erased", "with the report"),
    "report.phase": ("erased", "with the report"),
    "report.slot": ("erased", "whose it was"),
    "report.report": ("erased", "what she said"),
    "withdrawal.campaign_id": ("erased", "with the withdrawal"),
    "withdrawal.slot": ("erased", "who withdrew before the publication"),
    "withdrawal.reported": ("erased", "whether her deposit was due"),
    "billboard.campaign_id": ("operator", "which campaign"),
    "billboard.path": ("public", "of a file in the pack"),
    "billboard.data": ("public", "a file of the pack"),
    "share.campaign_id": ("operator", "which campaign"),
    "share.data": ("erased", "what the mechanism gave each slot; as many rows stay, all of them empty"),
    "payout.campaign_id": ("operator", "which campaign"),
    "payout.slot": ("operator", "who was paid: books are kept, and nobody is paid twice"),
    "payout.amount": ("erased", "what she was paid: with the billboard, close to what she said"),
    "payout.state": ("operator", "that she was paid"),
    "payout.batch": ("operator", "in which batch"),
    "payout_batch.campaign_id": ("operator", "which campaign"),
    "payout_batch.number": ("operator", "of the operator's exports"),
    "payout_batch.format": ("operator", "csv or pain.001"),
    "payout_batch.written": ("operator", "when the operator exported; one time for all of a batch"),
    "payout_reopened.campaign_id": ("operator", "which campaign"),
    "payout_reopened.batch": ("operator", "in which batch a payment failed"),
    "payout_reopened.slot": ("operator", "whose payment: the bank may speak of it again"),
    "ledger_scope.id": ("operator", "a number in this store"),
    "ledger_scope.data_set": ("public", "in the campaign files"),
    "ledger_scope.neighbours": ("public", "the neighbouring relation"),
    "ledger_scope.audience": ("public", "who sees the releases"),
    "ledger_scope.balance_id": ("public", "what the data set has spent"),
    "ledger_scope.newcomer_id": ("public", "what releases that list nobody have cost"),
    "ledger_balance.id": ("operator", "a number in this store"),
    "ledger_balance.rule": ("public", "in the campaign files"),
    "ledger_balance.budget_epsilon": ("public", "in the campaign files"),
    "ledger_balance.budget_delta": ("public", "in the campaign files"),
    "ledger_balance.epsilon": ("public", "follows from the campaign files"),
    "ledger_balance.delta": ("public", "follows from the campaign files"),
    "ledger_balance.rho": ("public", "follows from the campaign files"),
    "ledger_balance.pure": ("public", "follows from the campaign files"),
    "ledger_subject.scope_id": ("operator", "which data set"),
    "ledger_subject.key": ("keyed", "who was invited; nobody can tell without the ledger's key"),
    "ledger_subject.balance_id": ("keyed", "what that person's releases have spent; the same for all who were invited"),
    "ledger_debit.campaign_id": ("operator", "which campaign"),
    "ledger_debit.scope_id": ("operator", "which data set"),
    "ledger_debit.events": ("public", "follows from the campaign file"),
    "ledger_debit.delta": ("public", "follows from the campaign file"),
    "ledger_debit.cost": ("public", "follows from the campaign file"),
    "ledger_debit.subjects": ("public", "how many were invited, in the campaign file"),
    "ledger_debit.day": ("public", "on which day, as in the pack"),
    "ledger_debit.audiences": ("public", "whom the promises are made to, in the campaign file's plan"),
    "operator.id": ("operator", "a number in this store"),
    "operator.name": ("operator", "an operator's own, by which she logs in"),
    "operator.role": ("operator", "what she may do"),
    "operator.active": ("operator", "whether she may do anything"),
    "operator.password": ("operator", "its Argon2 hash"),
    "operator.issuer": ("operator", "which other service says who she is"),
    "operator.subject": ("operator", "what that calls her"),
    "operator_session.digest": ("erased", "of a token that her browser has"),
    "operator_session.operator_id": ("erased", "whose it is"),
    "operator_session.expires": ("erased", "when her session ends"),
    "begun_login.digest": ("erased", "of a secret that an operator's browser has for ten minutes"),
    "begun_login.expires": ("erased", "when they are over"),
    "invitation.campaign_id": ("erased", "with the invitation"),
    "invitation.slot": ("erased", "who was invited and has not joined yet"),
    "invitation.digest": ("erased", "of a code that the operator gave her"),
    "participant_session.digest": ("erased", "of a token that her browser has"),
    "participant_session.campaign_id": ("erased", "with the session"),
    "participant_session.slot": ("erased", "whose it is"),
    "attempt.key": ("erased", "who failed to log in or to join, for minutes, under a key that is thrown away with it"),
    "attempt.window": ("erased", "when, to the minutes of a limit"),
    "attempt.count": ("erased", "how often"),
    "attempt_key.window": ("erased", "with the attempts of these minutes"),
    "attempt_key.key": ("erased", "random, for these minutes"),
    "draft.id": ("operator", "a number in this store"),
    "draft.name": ("operator", "the campaign file's name"),
    "draft.text": ("operator", "a campaign file; public once it is open"),
    "draft.version": ("operator", "how often it was written"),
    "draft.operator_id": ("operator", "who began it"),
    "draft.campaign_id": ("operator", "the campaign that it became"),
    "draft.last_day": ("operator", "of all its participants' sessions, some days after it ended"),
    "handed_row.campaign_id": ("erased", "with the row"),
    "handed_row.phase": ("erased", "with the row"),
    "handed_row.slot": ("erased", "whose it was"),
    "handed_row.row": ("erased", "what she said, where the operator's kind reads files"),
    "deposit.campaign_id": ("erased", "with the deposit"),
    "deposit.slot": ("erased", "whose deposit the operator has received"),
    "job.id": ("operator", "a number in this store"),
    "job.campaign_id": ("operator", "which campaign"),
    "job.task": ("operator", "to settle it, or to audit it"),
    "job.state": ("operator", "how far it is"),
    "job.worker": ("operator", "which process does it"),
    "job.lease": ("operator", "until when it is that process's"),
    "job.attempts": ("operator", "how often it was begun"),
    "job.done": ("public", "steps done, of a public number"),
    "job.steps": ("public", "steps in all"),
    "job.problem": ("operator", "why it failed, for her alone: of a custodian's table with examples of its cells"),
    "job.result": ("public", "an audit uses no record"),
    "job.accept_unusable": ("operator", "whether she lets a settlement of such a table go on"),
    "replay.key": ("erased", "digest of who asked under which key, for a day; of operators' acts alone"),
    "replay.request": ("erased", "digest of what was asked"),
    "replay.status": ("erased", "of the answer"),
    "replay.body": ("erased", "the answer"),
    "replay.expires": ("erased", "when it is forgotten"),
}
"""Column -> whose it is (public: anybody may see it; operator: the operator's alone; keyed: of a person, by a keyed
hash; erased: gone when all is paid, or by itself), and why it is kept."""

PEOPLE = 160
SECRET = 0x5EC2_E700_0000_0000


def value(slot: int) -> int:
    """One that stands nowhere by chance: its eight bytes, its digits."""
    return SECRET + 0x9E37_79B9 * (slot + 1)


def pay_all(campaign: Campaign, store: Store, folder: Path) -> None:
    """Approve, export, import; the bank's first try fails for some."""
    number = store.settled(campaign.file).number
    for failing in (True, False):
        store.approve(number, store.payouts(number).code)
        batch, answer = folder / f"batch-{failing}.csv", folder / f"answer-{failing}.csv"
        export_batch(campaign, store, batch)
        references = [line.partition(",")[0] for line in batch.read_text().splitlines()[1:]]
        answer.write_text("reference,status\n" + "".join(
            f"{reference},{'failed' if failing and place % 3 == 0 else 'paid'}\n"
            for place, reference in enumerate(references)))
        import_confirmations(campaign, store, answer)
        store.reopen(number)
    assert store.payouts(number).done


def on_disk(store: Store) -> bytes:
    """All bytes of SQLite's files."""
    file = store.database.file
    assert file is not None
    return b"".join(path.read_bytes() for path in sorted(file.parent.glob(f"{file.name}*")))


def test_every_column_has_a_reason(database_url: str) -> None:
    with Store(database_url) as store, store.database.engine.connect() as connection:
        found = inspect(connection)
        columns = {f"{table}.{column['name']}": column["type"]
                   for table in found.get_table_names() for column in found.get_columns(table)}
    assert set(columns) == set(COLUMNS)
    assert {whose for whose, _ in COLUMNS.values()} == {"public", "operator", "keyed", "erased"}
    assert all(len(why) > 5 for _, why in COLUMNS.values())
    assert not any(isinstance(kind, DateTime) for kind in columns.values())


def test_the_documentation_says_the_same() -> None:
    """Of every table, and of every column that is erased when all is paid."""
    page = (Path(__file__).parents[3] / "docs" / "campaigns" / "settlement.md").read_text(encoding="utf-8")
    lines = page.partition("| what is stored | where | until |\n|---|---|---|\n")[2].partition("\n\n")[0].splitlines()
    named = {word: until for _, _, where, until, _ in (line.split("|") for line in lines)
             for word in re.findall(r"`([a-z_.]+)`", where)}
    assert {word.partition(".")[0] for word in named} == {column.partition(".")[0] for column in COLUMNS}
    kept = {column for column in COLUMNS if "for ever" in named.get(column, named[column.partition(".")[0]])}
    assert kept == {column for column, (whose, _) in COLUMNS.items() if whose != "erased"}


def test_what_bears_a_day_or_a_time_is_nobodys_report() -> None:
    """Days stand with the operator's acts, the one time with her export."""
    words = re.compile(r"day|time|date\b|when|written|created|updated|stamp")
    dated = {f"{table.name}.{column.name}" for table in schema.metadata.tables.values() for column in table.columns
             if words.search(f"{column.name} {column.comment or ''}")}
    assert dated == {"event.day", "ledger_debit.day", "payout_batch.written", "draft.last_day",
                     "job.lease", "draft.version"}


@pytest.mark.parametrize("way", ["file", pytest.param("submitted", marks=pytest.mark.slow), "both"])
def test_no_report_is_left(way: str, tmp_path: Path) -> None:
    """In no byte of the database, its log included: neither what people said, nor what they had said before."""
    rng = np.random.default_rng(3)
    order = [int(slot) for slot in rng.permutation(PEOPLE)]
    file = {} if way == "submitted" else {slot: value(slot) for slot in order}
    campaign = write(tmp_path, file, people=PEOPLE)
    with Store(f"sqlite:///{tmp_path / 'store' / 'store.db'}") as store:
        number = store.open(campaign.file, PEOPLE).number
        if way != "file":
            for slot in order[: PEOPLE // 4]:
                store.submit(number, slot, report(value(slot + PEOPLE)))
            for slot in order[: PEOPLE // 8]:
                store.submit(number, slot, report(value(slot)))
            for slot in order[: PEOPLE // 16]:
                store.withdraw(number, slot)
        shares = campaign.settle(store=store).outcome.shares["payment"].to_numpy().tobytes()
        before, there = on_disk(store), lives(store)["How much in all?"].reports
        assert len(there) > PEOPLE // 16
        assert all(each in before for each in (*there.values(), shares))  # so that a search would find them
        pay_all(campaign, store, tmp_path)
        assert lives(store)["How much in all?"].reports == {}
        left = on_disk(store)
    assert shares not in left
    for slot in range(2 * PEOPLE):
        assert report(value(slot)) not in left
        assert value(slot).to_bytes(8, "little") not in left
        assert str(value(slot)).encode() not in left
    assert not re.search(rb"person-\d", left)  # no id, hence no link from one to anything
    with Store(f"sqlite:///{tmp_path / 'store' / 'store.db'}") as store:
        assert campaign.settle(store=store).outcome.shares.num_rows == PEOPLE  # what must stay, is there


def test_a_campaign_that_is_paid_still_answers(database_url: str, tmp_path: Path) -> None:
    """No amount and no share is left, which would tell answers; books, outcome and replays are what they were."""
    campaign = write(tmp_path, {slot: 11 * slot for slot in range(5)})
    with Store(database_url) as store:
        settled = campaign.settle(store=store)
        number, public = settled.number, small.tree(settled.folder)
        total = store.payouts(number).coins["queued"]
        pay_all(campaign, store, tmp_path)

        found = campaign.payouts(store=store)
        assert found.entries["coins"].to_pylist() == [None] * 5
        assert set(found.entries["state"].to_pylist()) == {"paid"}
        assert found.entries["batch"].to_pylist() == [2, 1, 1, 2, 1]
        assert (found.queue.people["paid"], found.queue.coins["paid"]) == (5, total)
        assert store.get(number).paid == total
        assert [batch.coins for batch in found.queue.batches] == [None, None]
        again = campaign.settle(store=store)
        assert not again.fresh
        assert (again.outcome.to_dict(), small.tree(again.folder)) == (settled.outcome.to_dict(), public)
        assert again.outcome.shares["payment"].to_pylist() == [None] * 6
        assert again.tables["sum"] == settled.tables["sum"]

        with pytest.raises(Refused, match="everybody is paid, and the shares were erased"):
            campaign.share(name(1), store=store)
        assert campaign.share(name(1), record={"value": "11"})
        own = campaign.own_file(name(1), record={"value": "11"})
        assert own["share"] == {"payment": settled.outcome.shares["payment"][1].as_py()}

        for answer in ("answer-True.csv", "answer-False.csv"):
            said = campaign.import_confirmations(tmp_path / answer, store=store)
            assert said["known"] == len((tmp_path / answer).read_text().splitlines()) - 1
        assert campaign.approve_payouts("", store=store) == campaign.reopen_payouts(store=store) == 0
        for batch in (1, 2):
            with pytest.raises(Refused, match=f"the bank has answered batch {batch}"):
                campaign.export_payouts(tmp_path / "again.csv", batch=batch, store=store)
        with pytest.raises(Refused, match="no payout is approved"):
            campaign.export_payouts(tmp_path / "more.csv", store=store)
        assert campaign.withdraw(name(1), store=store) is False
        assert lives(store)["How much in all?"].paid == total


@pytest.mark.parametrize("seed", [1, 3, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (4, 28, 50, 53, 56))])
def test_no_report_is_left_among_those_of_others(seed: int, tmp_path: Path) -> None:
    """Three campaigns collect at once, in orders after which SQLite 3.40 keeps a copy of a report in a page that holds
    reports of two of them, unless it writes the database anew."""
    people = 400
    campaigns = [write(tmp_path, {}, people=people, title=title, file=title) for title in ("first", "second", "third")]
    with Store(f"sqlite:///{tmp_path / 'store' / 'store.db'}") as store:
        numbers = [store.open(campaign.file, people).number for campaign in campaigns]
        with store.database.writing() as connection:
            for place in np.random.default_rng(seed).permutation(3 * people).tolist():
                put_many(connection, numbers[place // people], {place % people: report(value(place))})
        campaigns[1].settle(store=store)
        pay_all(campaigns[1], store, tmp_path)
        left, found = on_disk(store), lives(store)
    assert [slot for slot in range(people) if report(value(people + slot)) in left] == []
    for place, title in ((0, "first"), (2, "third")):  # the others keep theirs
        assert found[title].reports == {slot: report(value(place * people + slot)) for slot in range(people)}


def test_a_withdrawn_report_is_overwritten(tmp_path: Path) -> None:
    campaign = write(tmp_path, {slot: value(slot) for slot in range(20)}, people=20)
    with Store(f"sqlite:///{tmp_path / 'store' / 'store.db'}") as store:
        number = store.open(campaign.file, 20).number
        store.submit(number, 3, report(value(3)))
        assert report(value(3)) in on_disk(store)
        store.withdraw(number, 3)
        assert report(value(3)) not in on_disk(store)
        campaign.settle(store=store)
        assert report(value(4)) in on_disk(store)
        store.withdraw(number, 4)
        assert report(value(4)) not in on_disk(store)


@pytest.mark.slow
def test_no_record_of_a_regression_is_left(tmp_path: Path) -> None:
    """Two thousand people's coded answers, each eight bytes that nobody else has."""
    campaign = Campaign.load(small.write(tmp_path))
    codec = campaign.file.kind.codec(campaign.plan)
    assert codec is not None
    records = [record for batch in campaign.collect().data for record in codec.pack(batch)[1]]
    # Zeros and two more bytes, as of 0.5, stand anywhere; such as before the length of a page's first row.
    answers = {record[-8:] for record in records if len(record[-8:].strip(b"\0")) > 4}
    assert len(records) == 2000
    assert len(answers) > 1000
    with Store(f"sqlite:///{tmp_path / 'store' / 'store.db'}") as store:
        campaign.settle(store=store)
        assert all(record in on_disk(store) for record in records[::500])
        pay_all(campaign, store, tmp_path)
        left = on_disk(store)
    assert not any(record in left for record in records)
    assert [np.frombuffer(answer, "<f8")[0] for answer in answers if answer in left] == []


# ---- the ledger's keys


def guesses(secret: bytes, data_set: str, identity: str) -> dict[str, bytes]:
    """What somebody who knows an id can compute."""
    texts = [identity, f"{data_set}{identity}", f"{data_set}\0{identity}",
             f"{data_set}\0one record replaced\0public\0{identity}"]
    plain: list[Callable[[bytes], Any]] = [hashlib.sha256, hashlib.blake2s, hashlib.sha3_256]
    return {**{f"{made.__name__} of {text!r}": made(text.encode()).digest() for text in texts for made in plain},
            **{f"keyed {text!r}": hmac.digest(secret, text.encode(), "sha256") for text in texts}}


def test_a_key_of_the_ledger_tells_nobody_without_the_secret(database_url: str, tmp_path: Path) -> None:
    home, stranger = Home(tmp_path / "home"), Home(tmp_path / "stranger")
    with Store(database_url, home=home) as store:
        write(tmp_path, {0: 1}, title="town").settle(store=store)
        write(tmp_path, {0: 1}, title="country", file="country", data_set="country").settle(store=store)
        with store.database.reading() as connection:
            rows = connection.execute(schema.subject.select()).all()
            checks = connection.execute(schema.installation.select()).all()
    keys = {bytes(row.key) for row in rows}
    assert len(keys) == len(rows) == 12  # of two data sets; nobody's key is the same in both
    for slot in range(6):
        for secret in (b"", bytes(32), stranger.ledger_key):
            for made, guess in guesses(secret, "town", name(slot)).items():
                assert guess not in keys, made
        assert set(subject_keys(account("town"), home.ledger_key, [name(slot)])) < keys  # the secret tells
    assert all(home.ledger_key not in bytes(row.key_check) for row in checks)


def test_the_secrets_lie_outside_of_the_database(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    with Store(f"sqlite:///{tmp_path / 'store' / 'store.db'}", home=home) as store:
        campaign = write(tmp_path, {0: 1})
        campaign.settle(store=store)
        pay_all(campaign, store, tmp_path)
        found = on_disk(store)
    for secret in (home.ledger_key, home.signing_key.private_bytes_raw()):
        assert secret not in found
        assert secret.hex().encode() not in found
    for path in (*home.folder.iterdir(), *(tmp_path / "store").iterdir()):
        assert path.stat().st_mode & 0o077 == 0, path


def test_references_reveal_no_slot(database_url: str, tmp_path: Path) -> None:
    """What the bank sees of a person is another word in each batch, and is not stored."""
    campaign = write(tmp_path, {slot: slot for slot in range(6)})
    with Store(database_url) as store:
        number = campaign.settle(store=store).number
        seen: list[str] = []
        for _ in range(2):
            store.approve(number, store.payouts(number).code)
            batch = store.batch(number, store.export(number, "csv"))
            seen += [reference for _, reference, _ in batch.payments]
            store.confirm(number, {reference: "failed" for _, reference, _ in batch.payments})
            store.reopen(number)
        assert len(set(seen)) == len(seen) == 12
        assert all(re.fullmatch("[0-9a-f]{32}", reference) for reference in seen)
        assert seen != sorted(seen)
        with store.database.reading() as connection:
            rows = [row for table in schema.metadata.tables.values() for row in connection.execute(table.select())]
    assert not any(reference in str(tuple(row)) for reference in seen for row in rows)
