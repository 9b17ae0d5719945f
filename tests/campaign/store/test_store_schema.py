"""The tables: those that Alembic makes are those of the schema; any number of processes open a store; one key fits."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, create_engine, func, insert, inspect, select, text, update

from campaign.store.counting import write
from campaign.store.invariants import lives
from campaign.store.nursery import Nursery
from confide.campaign import Home, State, Store
from confide.campaign.store import database, schema, service_schema
from confide.campaign.store.migrations import configuration
from confide.contract import InvalidInput, StoreFailed


def shape(connection: Connection) -> dict[str, Any]:
    """Everything that a database knows of its tables, and the newest migration."""
    found = inspect(connection)
    out: dict[str, Any] = {}
    for name in found.get_table_names():
        out[name] = {
            "columns": [{**column, "type": str(column["type"])} for column in found.get_columns(name)],
            "primary key": found.get_pk_constraint(name),
            "foreign keys": sorted(found.get_foreign_keys(name), key=str),
            "unique": sorted(found.get_unique_constraints(name), key=str),
            "checks": sorted(found.get_check_constraints(name), key=str),
            "indexes": sorted(found.get_indexes(name), key=str),
        }
        if connection.dialect.name == "sqlite":
            made = connection.execute(text("SELECT sql FROM sqlite_master WHERE name = :name"), {"name": name})
            out[name]["rowid"] = "WITHOUT ROWID" not in str(made.scalar())
    newest = connection.execute(text("SELECT version_num FROM alembic_version"))
    out["alembic_version"]["newest"] = newest.scalars().all()
    return out


def test_the_migrations_make_the_schema(database_url: str) -> None:
    """A store is made by the schema at once, one of before is migrated: nothing tells them apart."""
    with Store(database_url) as store, store.database.engine.connect() as connection:
        made = shape(connection)
        connection.rollback()
        with connection.begin():
            schema.metadata.drop_all(connection)
            connection.execute(text("DROP TABLE alembic_version"))
        with connection.begin():
            command.upgrade(configuration(connection), "head")
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, schema.metadata) == []
        assert shape(connection) == made
        assert context.get_current_revision() == database.REVISION
    assert set(made) == {*schema.metadata.tables, "alembic_version"}


@contextmanager
def of_before(url: str, revision: str) -> Iterator[Connection]:
    """A store as an earlier version left it, with one operator; to be filled by SQL alone."""
    engine = create_engine(url)
    with engine.begin() as connection:
        command.upgrade(configuration(connection), revision)
        connection.execute(text("INSERT INTO operator (id, name, role, active) VALUES (1, 'ada', 'admin', 1)"))
        yield connection
    engine.dispose()
    if engine.url.get_backend_name() == "sqlite":
        Path(str(engine.url.database)).chmod(0o600)


def test_earlier_sessions_continue_and_reveal_no_day(copies: Any) -> None:
    """Migrated in a store that is in use: who takes part still does, and the day on which she came is gone."""
    with copies(lambda _: None)() as url:
        with of_before(url, "0003") as connection:
            connection.execute(text(
                "INSERT INTO draft (id, name, text, version, operator_id) VALUES (1, 'a', 'x', 1, 1)"))
            connection.execute(text("INSERT INTO participant_session (digest, campaign_id, slot, last_day) "
                                    "VALUES (:digest, 1, 4, '2027-01-31')"), {"digest": b"d" * 32})
            connection.execute(text('INSERT INTO attempt (key, "window", count) VALUES (:key, 300, 2)'),
                               {"key": b"k" * 32})
        with Store(url) as store, store.database.reading() as connection:
            assert [tuple(row) for row in connection.execute(select(service_schema.participant_session))] == [
                (b"d" * 32, 1, 4)]
            assert connection.execute(select(service_schema.draft.c.last_day)).scalars().all() == [None]
            assert connection.execute(select(service_schema.attempt)).all() == []


def test_deposits_of_before_are_noted(copies: Any) -> None:
    """Whoever had handed in to a campaign of the service, or had and withdrew, was taken to have left hers."""
    with copies(lambda _: None)() as url:
        with of_before(url, "0005") as connection:
            for number, state in enumerate(("open", "charged", "settled", "cancelled", "open"), start=1):
                connection.execute(text(
                    "INSERT INTO campaign (id, content, kind, name, title, text, slots, state, withdrawals) "
                    f"VALUES ({number}, 'c{number}', 'bits', 'a', 'a', 'x', 9, '{state}', 0)"))
                if number < 5:  # the last one is of the command line
                    connection.execute(text("INSERT INTO draft (id, name, text, version, operator_id, campaign_id) "
                                            f"VALUES ({number}, 'a', 'x', 1, 1, {number})"))
                connection.execute(text("INSERT INTO report (campaign_id, phase, slot, report) "
                                        f"VALUES ({number}, 0, 4, :report)"), {"report": b"1"})
                connection.execute(text("INSERT INTO withdrawal (campaign_id, slot, reported) "
                                        f"VALUES ({number}, 5, 1), ({number}, 6, 0)"))
        with Store(url) as store:
            assert [store.deposits(number) for number in range(1, 6)] == [{4, 5}, {4, 5}, set(), set(), None]


def test_a_store_can_be_opened_again(database_url: str, tmp_path: Path) -> None:
    with Store(database_url) as first, Store(database_url) as second:
        number = first.open(write(tmp_path, {}).file, 6).number
        assert second.get(number).state is State.OPEN
    with Store(database_url) as third:
        assert [known.number for known in third.campaigns()] == [number]


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [2, pytest.param(50, marks=pytest.mark.slow)])
def test_processes_that_make_a_store_at_once(rounds: int, nursery: Nursery, copies: Any, tmp_path: Path) -> None:
    """Tables and keys are made once."""
    nothing = copies(lambda _: None)
    for number in range(rounds):
        home = tmp_path / f"home-{number}"
        with nothing() as url:
            answers = nursery.run(*[{"do": "open", "url": url, "home": str(home)}] * 4)
            assert {answer.error for answer in answers} == {""}
            with Store(url, home=Home(home)) as store:
                assert {answer.value for answer in answers} == {store.home.fingerprint}
                with store.database.reading() as connection:
                    rows = connection.execute(select(func.count()).select_from(schema.installation)).scalar()
        assert rows == 1
        assert {path.name for path in home.iterdir()} == {"ledger.key", "signing.key"}


def test_who_opens_a_new_database_waits_for_another_who_does(tmp_path: Path) -> None:
    """While one changes the kind of log, SQLite refuses another who does without waiting."""
    class Refused(sqlite3.Connection):
        left = 3

        def execute(self, query: str, *arguments: Any) -> Any:
            if "journal_mode" in query and Refused.left:
                Refused.left -= 1
                error = sqlite3.OperationalError("database is locked")
                error.sqlite_errorcode = sqlite3.SQLITE_BUSY
                raise error
            return super().execute(query, *arguments)

    with closing(sqlite3.connect(tmp_path / "store.db", factory=Refused)) as connection:
        database._prepare_sqlite(connection, None)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert Refused.left == 0


def test_a_ledger_of_another_key_is_refused(database_url: str, tmp_path: Path) -> None:
    """Otherwise every budget would start anew."""
    mine, other = Home(tmp_path / "mine"), Home(tmp_path / "other")
    campaign = write(tmp_path, {0: 1})
    with Store(database_url, home=mine) as store:
        campaign.settle(store=store)
    for _ in range(2):
        with pytest.raises(InvalidInput, match=r"another key.*use the ledger\.key with which this store was made"):
            Store(database_url, home=other)
    (mine.folder / "ledger.key").unlink()
    with pytest.raises(InvalidInput, match="another key"):
        Store(database_url, home=Home(mine.folder))  # a lost key is not made anew in silence
    with Store(database_url, home=mine) as store:  # who still has it in memory, can
        assert lives(store)["How much in all?"].debits == 1


def test_a_store_of_a_newer_version_is_refused(database_url: str) -> None:
    with Store(database_url) as store, store.database.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(InvalidInput, match="newer version") as caught:
        Store(database_url)
    assert caught.value.field == "store"


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no database " * 1000)
    for url in (f"sqlite:///{tmp_path / 'notes.txt'}", f"sqlite:///{tmp_path}", "postgresql+psycopg://nobody@/none?host=/",
                "mysql://somebody@here/there", "notes.txt", "sqlite://", "sqlite:///:memory:"):
        with pytest.raises(InvalidInput) as caught:
            Store(url)
        assert caught.value.field == "store"
    assert (tmp_path / "notes.txt").read_text() == "no database " * 1000


def test_a_password_is_never_shown(postgresql: Any) -> None:
    url = postgresql.create("with_password")
    try:
        with Store(url.replace("confide@", "confide:sesame@")) as store:
            assert "sesame" not in f"{store} {store.name} {store.database.name}"
    finally:
        postgresql.drop("with_password")
    with pytest.raises(InvalidInput) as caught:
        Store(re.sub("host=.*", "host=/nowhere", url).replace("confide@", "confide:sesame@"))
    assert "sesame" not in str(caught.value)


def test_a_transaction_that_breaks_leaves_nothing(database_url: str) -> None:
    def break_off(store: Store) -> None:
        with store.database.writing() as connection:
            connection.execute(update(schema.installation).values(key_check=b"none"))
            raise RuntimeError("in the middle")

    def pay_nothing(store: Store) -> None:
        with store.database.writing() as connection:
            connection.execute(insert(schema.campaign).values(
                id=1, content="0" * 64, kind="", name="", title="", text="", slots=1, state="open", withdrawals=0))
            connection.execute(insert(schema.payout).values(campaign_id=1, slot=0, amount=0, state="queued"))

    with Store(database_url) as store:
        with pytest.raises(RuntimeError):
            break_off(store)
        with pytest.raises(StoreFailed, match="ck_payout_positive"):
            pay_nothing(store)
        assert store.campaigns() == ()
    with Store(database_url) as store:
        assert store.campaigns() == ()
