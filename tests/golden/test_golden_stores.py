"""Stores of 9376621e, of SQLite and of PostgreSQL: migrated, read, and gone on with, by every later version."""

from __future__ import annotations

import csv
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from golden_files import CAMPAIGNS, EXPECTED, FOUND, campaign, copied
from sqlalchemy import text
from store_facts import facts

from confide.campaign import Campaign, State, Store, verify
from confide.contract import BudgetExceeded, Refused
from confide.contract.outcome_folder import rebuild

BOTH = pytest.mark.parametrize("store", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)], indirect=True)
"""Fast with SQLite alone: what a store of PostgreSQL says, the first tests read in either case."""


def recorded(store: Store) -> dict[str, Any]:
    """What 9376621e said of this store."""
    found: dict[str, Any] = FOUND[store.database.engine.dialect.name]
    return found


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A copy of the campaign files and their data."""
    return copied(CAMPAIGNS, tmp_path / "campaigns")


def test_a_store_says_what_it_said(store: Store) -> None:
    """States, reports, events, ledgers with budgets of whole data sets and of people, payouts, packs and shares."""
    found, then = facts(store), recorded(store)
    assert found["ledger"] == then["ledger"]
    assert found["campaigns"] == then["campaigns"]
    assert found["fingerprint"] == then["fingerprint"]
    assert {each["state"] for each in found["campaigns"].values()} >= {"open", "closed", "settled", "cancelled"}
    assert all(each["broken_at"] is None for each in found["campaigns"].values())


def test_every_outcome_of_a_store_is_rebuilt(store: Store, tmp_path: Path) -> None:
    settled = [known for known in store.campaigns() if known.state is State.SETTLED]
    assert len(settled) >= 15
    for known in settled:
        outcome: Any = rebuild(store.pack(known.number), store.shares(known.number))
        assert outcome["provenance"].noise == "secure"
        assert outcome["shares"].num_rows in (known.slots, 0)
        if known.name not in EXPECTED["overspent"]["packs"]:
            outcome["mechanism"].check(outcome["billboard"])
    for path, data in store.pack(store.settled(campaign("pairs_exam").file).number).items():
        (tmp_path / "pack" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pack" / path).write_bytes(data)
    said = verify(tmp_path / "pack", key=store.home.fingerprint)
    assert said.passed
    assert said.known_signer


@BOTH
def test_what_was_altered_in_a_store_is_seen(store: Store) -> None:
    """So that the tests above can fail."""
    with store.database.writing() as connection:
        for statement in ("UPDATE ledger_balance SET epsilon = '1/8' WHERE epsilon = '3/2'",
                          "UPDATE payout SET amount = amount + 1 WHERE slot = 3 AND amount IS NOT NULL",
                          "UPDATE event SET day = '2000-01-01' WHERE number = 2",
                          "DELETE FROM report WHERE slot = 5"):
            assert connection.execute(text(statement)).rowcount > 0
    now, then = facts(store), recorded(store)
    assert now["ledger"]["cheated in exams"] != then["ledger"]["cheated in exams"]
    one, other = now["campaigns"]["pairs_exam"], then["campaigns"]["pairs_exam"]
    assert {key for key in other if one[key] != other[key]} == {"due", "coins", "broken_at", "reports"}


# ---- what was begun is gone on with


@BOTH
def test_records_that_lay_in_the_store_are_settled(store: Store, files: Path, tmp_path: Path) -> None:
    it = Campaign.load(files / "matching_closed.toml")
    settled = it.settle(tmp_path / "out", store=store)
    assert settled.fresh
    assert verify(tmp_path / "out", key=store.home.fingerprint).passed
    shares = settled.outcome.shares.to_pylist()
    assert shares[3]["good"] == -1  # she had withdrawn
    assert sum(each["good"] >= 0 for each in shares) > 40  # the others' wishes were read
    assert store.ledger("seminar wishes")[0].subjects == 80


@BOTH
def test_an_open_collection_takes_more_and_is_settled(store: Store, files: Path, tmp_path: Path) -> None:
    """Reports of 9376621e and of now, under the charge of its opening."""
    it = Campaign.load(files / "bits_open.toml")
    charged = store.ledger("canteen")[0].filter.total
    known = store.find(it.file)
    assert known is not None
    it.hand_in(5, it.submit(5, {"answer": "yes"}, total=10.0, home=store.home), store=store)
    with pytest.raises(Refused, match="withdrawn"):
        it.hand_in(1, it.submit(1, {"answer": "yes"}, total=10.0, home=store.home), store=store)
    store.close_collection(known.number)
    settled = it.settle(tmp_path / "out", store=store)
    board: Any = settled.outcome.billboard
    assert int(board.ones.sum() + board.zeros.sum()) == 13
    assert store.ledger("canteen")[0].filter.total == charged
    assert verify(tmp_path / "out", key=store.home.fingerprint).passed


def test_a_search_that_waited_goes_on_from_its_journal(tmp_path: Path, kept: Store, files: Path) -> None:
    home = type(kept.home)(copied(kept.home.folder, tmp_path / "home"))
    shutil.copy(files / "search_contacts_answers.csv", files / "search_waiting_answers.csv")
    it = Campaign.load(files / "search_waiting.toml")
    with Store(home.url, home=home) as store:
        spent = store.ledger("guests")[0].filter.total
        it.settle(tmp_path / "out", store=store)
        assert store.ledger("guests")[0].filter.total == spent
    assert verify(tmp_path / "out", key=home.fingerprint).passed
    assert not (files / "search_waiting_journal").exists() or not any((files / "search_waiting_journal").iterdir())


def test_the_ledger_still_binds(store: Store, files: Path) -> None:
    """Of what was spent, nobody gets anything back by a new version."""
    text_ = (files / "pairs_exam.toml").read_text(encoding="utf-8")
    (files / "more.toml").write_text(text_.replace("How many have cheated", "How many have ever cheated"),
                                     encoding="utf-8")
    with pytest.raises(BudgetExceeded):
        Campaign.load(files / "more.toml").settle(files / "out", store=store)


def test_payouts_go_on(store: Store, files: Path, tmp_path: Path) -> None:
    """What was approved is exported; what failed and was queued again is approved; what was sent is answered."""
    for name in ("pairs_exam", "bits_illness"):
        it, due = Campaign.load(files / f"{name}.toml"), recorded(store)["campaigns"][name]["coins"]
        it.approve_payouts(it.payouts(store=store).queue.code, store=store)
        it.export_payouts(tmp_path / f"{name}.csv", store=store)
        with (tmp_path / f"{name}.csv").open(newline="") as file:
            total = sum(Decimal(row["amount"]) for row in csv.DictReader(file))
        assert 100 * total == due["approved"] + due["queued"] > 0
    it = Campaign.load(files / "pairs_schools.toml")
    it.export_payouts(tmp_path / "again.csv", batch=1, store=store)
    lines = (tmp_path / "again.csv").read_text(encoding="utf-8").splitlines()[1:]
    (tmp_path / "answer.csv").write_text("reference,status\n" + "".join(
        f"{line.partition(',')[0]},paid\n" for line in lines), encoding="utf-8")
    reported = it.import_confirmations(tmp_path / "answer.csv", store=store)
    assert reported["paid"] == recorded(store)["campaigns"]["pairs_schools"]["people"]["sent"] == len(lines)


@BOTH
def test_the_service_opens_it(store: Store, tmp_path: Path) -> None:
    """Operators log in; drafts, open campaigns, the round of a mean and the noted deposits are there."""
    from made_up_people import PASSWORD
    from starlette.testclient import TestClient

    from confide.service.app import create_app
    from confide.service.shell.settings import Settings

    (tmp_path / "data").mkdir()
    url = None if store.database.file is not None else store.database.engine.url.render_as_string(hide_password=False)
    app = create_app(Settings(home=store.home.folder, store=url, data=tmp_path / "data"))
    with TestClient(app) as client:
        token = client.post("/api/v1/login", json={"name": "olga", "password": PASSWORD}).json()["token"]
        olga = {"Authorization": f"Bearer {token}"}
        drafts = client.get("/api/v1/drafts", headers=olga).json()["drafts"]
        assert any("school?" in client.get(f"/api/v1/drafts/{each['number']}", headers=olga).json()["text"]
                   for each in drafts)
        names = {known.name: known.number for known in store.campaigns()}
        for name, handed in (("how-many-hours-do-pupils-read", 6), ("is-working-at-night-the-rule", 18)):
            shown = client.get(f"/api/v1/campaigns/{names[name]}/progress", headers=olga).json()
            assert shown["handed_in"] == handed
            assert client.get(f"/api/v1/campaigns/{names[name]}/offer").json()["sections"]
        number = names["do-nurses-like-the-new-rota"]
        assert client.get(f"/api/v1/campaigns/{number}/result").json()["sections"]
        assert len(client.get(f"/api/v1/campaigns/{number}/pack.zip").content) > 1000
