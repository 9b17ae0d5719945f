"""What a database cannot do is told in words, with what to do, and without a byte of what was to be stored."""

from __future__ import annotations

import re
import traceback
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest
from sqlalchemy import NullPool, create_engine, insert, text

from campaign.store.counting import report, write
from confide.campaign import Store
from confide.campaign.store import database
from confide.campaign.store import schema as s
from confide.campaign.store.database import insert_many
from confide.cli.app import app
from confide.cli.failures import guarded
from confide.contract import StoreFailed

SECRET = 7_310_586_214_093_318_005
"""A report that is to be stored."""


def shown(error: BaseException) -> str:
    """All that a traceback shows, and what a logger may repeat."""
    return "".join(traceback.format_exception(error)) + repr(error) + str(vars(error))


def twice(store: Store, number: int, way: str) -> None:
    """Store the same report two times."""
    rows = [(number, 0, 3, report(SECRET)), (number, 0, 3, report(SECRET))]
    columns = ("campaign_id", "phase", "slot", "report")
    with store.database.writing() as connection:
        if way == "bulk":
            insert_many(connection, s.report, columns, [rows])
        else:
            connection.execute(insert(s.report), [dict(zip(columns, row, strict=True)) for row in rows])


@pytest.mark.parametrize("way", ["bulk", "many"])
def test_no_row_is_in_a_message(way: str, store: Store, tmp_path: Any) -> None:
    number = store.open(write(tmp_path, {}).file, 6).number
    with pytest.raises(StoreFailed, match=r"failed \(.*(UNIQUE|UniqueViolation 23505 pk_report|report)") as caught:
        twice(store, number, way)
    said = shown(caught.value)
    for trace in (str(SECRET), report(SECRET).hex(), repr(report(SECRET))[2:-1], "DETAIL", "Key (", "CONTEXT"):
        assert trace not in said
    assert store.submitted(number) == 0


def test_no_value_is_in_a_message(postgresql: Any) -> None:
    """The server repeats what it cannot read."""
    url = postgresql.create("values")
    with Store(url) as store:
        for statement in ("SELECT CAST('sesame' AS INTEGER)",
                          "DO $$ BEGIN RAISE 'sesame' USING DETAIL = 'sesame', HINT = 'sesame'; END $$"):
            with pytest.raises(StoreFailed, match=r"failed \(\w+ \w{5}\)$") as caught, \
                    store.database.writing() as connection:
                connection.execute(text(statement))
            assert "sesame" not in shown(caught.value).replace(statement, "")
    postgresql.drop("values")


@pytest.mark.parametrize(("pragma", "says"), [
    ("query_only=ON", "cannot be written to; make it writable, then run the command again"),
    ("max_page_count=1", "has no room left; free some room on its disk, then run the command again")])
def test_what_sqlite_cannot_do(pragma: str, says: str, tmp_path: Any) -> None:
    def put(store: Store) -> None:
        with store.database.writing() as connection:
            connection.exec_driver_sql(f"PRAGMA {pragma}")
            connection.execute(insert(s.campaign).values(content="0" * 64, kind="", name="", title="", state="open",
                                                         text="t" * 100_000, slots=1, withdrawals=0))

    with Store(f"sqlite:///{tmp_path}/store.db") as store, pytest.raises(StoreFailed) as caught:
        put(store)
    assert str(caught.value) == f"the store {store.name} {says}"


def test_a_writer_who_waits_in_vain(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    with Store(url) as holder, holder.database.writing():
        monkeypatch.setattr(database, "_WAIT", 1)
        with Store(url) as store:
            with pytest.raises(StoreFailed, match="did not finish in time; run the command"):
                store.open(write(tmp_path, {}).file, 6)
            store.database.forget()  # nobody waits for that


def test_who_finds_no_connection_free(monkeypatch: pytest.MonkeyPatch, database_url: str) -> None:
    """As where many wait for one lock, and others cannot even ask."""
    monkeypatch.setattr(database, "_POOL", 1)
    monkeypatch.setattr(database, "_ASKING", 0.05)
    with Store(database_url) as store, ExitStack() as all_of_them:
        def many_ask() -> None:
            for _ in range(100):
                all_of_them.enter_context(store.database.reading())

        with pytest.raises(StoreFailed, match="did not finish in time; run the command"):
            many_ask()
        all_of_them.close()
        assert store.campaigns() == ()


def test_what_is_not_forgotten_is_reported(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An erasure that could not overwrite must not pass for one that did."""
    with Store(f"sqlite:///{tmp_path}/store.db") as store:
        monkeypatch.setattr(database, "_prepare_sqlite", lambda plain, _: plain.execute("PRAGMA query_only=ON"))
        with pytest.raises(StoreFailed, match="finished the step, but may still hold deleted rows, since it cannot be "
                                              "wri"):
            store.database.forget(thoroughly=True)


def test_an_unfinished_query_does_not_keep_an_old_state(tmp_path: Any) -> None:
    """An exception may keep the query alive, and the query what it saw."""
    url, alive = f"sqlite:///{tmp_path}/store.db", []
    with Store(url) as store, Store(url) as other:
        store.open(write(tmp_path, {}, title="first").file, 6)
        store.open(write(tmp_path, {}, title="second").file, 6)

        def broken() -> None:
            with store.database.reading() as connection:
                alive.append(connection.exec_driver_sql("SELECT title FROM campaign"))
                alive[0].fetchone()
                raise KeyError

        with pytest.raises(KeyError):
            broken()
        with other.database.writing() as connection:
            connection.exec_driver_sql("DELETE FROM event")
            connection.exec_driver_sql("DELETE FROM campaign")
        assert store.campaigns() == ()


def test_an_unfinished_query_does_not_stop_the_forgetting(tmp_path: Any) -> None:
    """Such as one that an exception in a notebook keeps alive."""
    with Store(f"sqlite:///{tmp_path}/store.db") as store:
        with store.database.engine.connect() as connection:
            kept = database.driver(connection).execute("SELECT * FROM sqlite_master")
            kept.fetchone()
        store.database.forget(thoroughly=True)


@pytest.mark.parametrize(("code", "says"), [
    *((code, "in use by another process") for code in ("40001", "40P01", "55P03", "57014", "25P03", "53300")),
    ("53100", "no room left"), ("25006", "cannot be written to"), ("42501", "does not permit this"),
    ("57P01", "does not answer"), ("XX001", "is damaged")])
def test_what_postgresql_cannot_do(code: str, says: str, kept: Store) -> None:
    """The server itself raises what it would raise."""
    if kept.database.sqlite:
        return
    with pytest.raises(StoreFailed, match=says) as caught, kept.database.writing() as connection:
        connection.execute(text(f"DO $$ BEGIN RAISE 'sesame' USING ERRCODE = '{code}', DETAIL = 'sesame'; END $$"))
    assert "sesame" not in str(caught.value)


def test_a_lock_that_is_not_given_in_time(postgresql: Any, tmp_path: Any) -> None:
    url = postgresql.create("waits")
    with create_engine(url, poolclass=NullPool).begin() as connection:
        connection.execute(text("ALTER DATABASE waits SET lock_timeout TO '20ms'"))
    with Store(url) as one, Store(url) as other:
        number = one.open(write(tmp_path, {}).file, 6).number
        with one._locked(number), pytest.raises(StoreFailed, match="in use by another process"):
            other.submit(number, 0, report(1))
    postgresql.drop("waits")


def test_a_server_that_has_gone(postgresql: Any) -> None:
    url = postgresql.create("gone")
    store = Store(url)
    postgresql.drop("gone")
    with pytest.raises(StoreFailed, match="does not answer; check that the server runs and can be reached"):
        store.campaigns()
    store.close()


def test_the_command_line_says_it_in_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, {0: SECRET % 1000}).file.path
    monkeypatch.setattr(database, "_WAIT", 1)
    url = f"sqlite:///{tmp_path}/store.db"
    with Store(url) as holder, holder.database.writing():
        assert guarded(partial(app, ["run", str(path), "--store", url])) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert re.search(r"^confide: the store sqlite:\S+ is in use .*; run the command again$", said.err, re.MULTILINE)
