"""Opening a store: what is accepted, what is made and with what rights, what is never made."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import NullPool, create_engine, inspect, text
from sqlalchemy.engine.default import DefaultDialect

from campaign.small import tree
from campaign.store.counting import write
from confide.campaign import Home, Store
from confide.campaign.store import database, schema
from confide.contract import InvalidInput, StoreFailed


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


@contextmanager
def masked(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


# ---- which databases


@pytest.mark.parametrize("url", [
    "sqlite+aiosqlite:///store.db", "postgresql+psycopg2://u@h/db", "postgresql+asyncpg://u@h/db", "mysql://u@h/db",
    "oracle://u@h/db", "postgres://u@h/db", "nothing://", "store.db", "", "postgresql://u@h:port/db",
    "sqlite://h/store.db", "postgresql://u@h/db?plugin=x"])
def test_a_url_of_something_else(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether its driver is installed or not."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput) as caught:
        Store(url)
    assert caught.value.field == "store"
    assert caught.value.limit == 'must be "sqlite:///FILE" or "postgresql+psycopg://USER@HOST/NAME"'
    assert list(tmp_path.iterdir()) == []


def test_a_driver_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    for url in ("postgresql+psycopg://u@h/db", "postgresql://u@h/db"):
        with pytest.raises(InvalidInput, match=r"PostgreSQL is not installed; install the extra \[postgresql\]"):
            Store(url)


@pytest.mark.parametrize("url", ["postgresql://u:sesame@h:port/db", "mysql://u:sesame@h/db", "sqlite://u:sesame@h/db",
                                 "u:sesame@h", "x://u:ses@me:sesame@h:p"])
def test_no_password_of_a_wrong_url_is_shown(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput) as caught:
        Store(url)
    assert "sesame" not in str(caught.value)


def test_a_database_that_was_not_made_yet(postgresql: Any) -> None:
    with pytest.raises(InvalidInput, match=r'"nowhere" does not exist.*have this database and this user: createdb'):
        Store(postgresql.url("nowhere"))


# ---- for its owner alone


@pytest.mark.parametrize("mask", [0, 0o022, 0o377])
def test_a_new_store_is_private_whatever_the_umask(mask: int, tmp_path: Path) -> None:
    home, place, campaign = Home(tmp_path / "home"), tmp_path / "place", write(tmp_path, {})
    home.ledger_key  # noqa: B018 - made before
    place.mkdir()
    with masked(mask), Store(f"sqlite:///{place}/store.db", home=home) as store:
        store.open(campaign.file, 6)
        assert modes(place) == dict.fromkeys(("store.db", "store.db-wal", "store.db-shm"), 0o600)


@pytest.mark.parametrize("name", ["store.db", "store.db-wal", "store.db-journal"])
def test_a_store_that_others_may_read_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(f"sqlite:///{tmp_path}/store.db"):
        pass
    (tmp_path / name).touch()
    (tmp_path / name).chmod(0o640)
    for create in (True, False):
        with pytest.raises(InvalidInput) as caught:
            Store(f"sqlite:///{tmp_path}/store.db", create=create)
        assert str(caught.value) == f"store: other users may read {tmp_path}/{name}; run `chmod 600 {tmp_path}/{name}`"
    (tmp_path / name).chmod(0o600)
    with Store(f"sqlite:///{tmp_path}/store.db"):
        pass
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(InvalidInput, match=r"store\.db belongs to another user"):
        Store(f"sqlite:///{tmp_path}/store.db")


# ---- nothing is made in passing


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    for url, where in ((f"sqlite:///{tmp_path}/deep/stroe.db", tmp_path / "deep" / "stroe.db"), (None, home.store)):
        with pytest.raises(InvalidInput) as caught:
            Store(url, home=home, create=False)
        assert str(caught.value) == f"store: {where} does not exist; `confide run` makes one"
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_holds_no_store_is_left_alone(database_url: str, tmp_path: Path) -> None:
    """An empty one, and one of another program."""
    home = Home(tmp_path / "home")
    if database_url.startswith("sqlite"):
        (tmp_path / "store.db").touch(0o600)
    engine = create_engine(database_url, poolclass=NullPool)
    for statement in ("SELECT 1", "CREATE TABLE word (value TEXT)"):
        with engine.begin() as connection:
            connection.execute(text(statement))
        before = tree(tmp_path)
        with pytest.raises(InvalidInput, match="holds no store; `confide run` makes one"):
            Store(database_url, home=home, create=False)
        assert tree(tmp_path) == before
    assert inspect(engine).get_table_names() == ["word"]
    assert not home.folder.exists()


def test_a_store_whose_maker_died_before_its_key_was_noted(database_url: str) -> None:
    with Store(database_url) as store, store.database.writing() as connection:
        connection.execute(schema.installation.delete())
    with pytest.raises(InvalidInput, match="holds no store"):
        Store(database_url, create=False)
    with Store(database_url), Store(database_url, create=False):
        pass


def test_no_key_is_made_for_a_store_that_has_another(database_url: str, tmp_path: Path) -> None:
    """Only to find that it does not fit; and to be taken for the right one later."""
    with Store(database_url):
        pass
    for create in (True, False):
        with pytest.raises(InvalidInput, match="has another key than"):
            Store(database_url, home=Home(tmp_path / "elsewhere"), create=create)
    assert not (tmp_path / "elsewhere").exists()


def test_a_broken_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no database " * 1000)
    (tmp_path / "notes.txt").chmod(0o600)
    for create in (True, False):
        with pytest.raises(InvalidInput, match=r"notes\.txt cannot be used \(file is not a database\)"):
            Store(f"sqlite:///{tmp_path}/notes.txt", create=create)


def test_a_database_that_is_locked_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_WAIT", 1)
    (tmp_path / "store.db").touch(0o600)
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        for create in (True, False):
            with pytest.raises(StoreFailed, match="is in use by another process"):
                Store(f"sqlite:///{tmp_path}/store.db", create=create)


# ---- what must be on the disk first


def test_a_key_is_on_the_disk_before_the_store_relies_on_it(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, flushed, at_commit = Home(tmp_path / "home"), set(), []
    fsync, commit = os.fsync, DefaultDialect.do_commit

    def watched(descriptor: int) -> None:
        fsync(descriptor)
        flushed.add(os.fstat(descriptor).st_ino)

    def committed(self: Any, connection: Any) -> None:
        key = home.folder / "ledger.key"
        if key.exists():
            at_commit.append({each.stat().st_ino for each in (key, home.folder, tmp_path)} <= flushed)
        commit(self, connection)

    monkeypatch.setattr(os, "fsync", watched)
    monkeypatch.setattr(DefaultDialect, "do_commit", committed)
    with Store(database_url, home=home):
        pass
    assert at_commit
    assert all(at_commit)


# ---- connections


def test_isolation_and_durability_are_ours(postgresql: Any) -> None:
    """Whatever the database's defaults are."""
    url = postgresql.create("settings")
    engine = create_engine(url, poolclass=NullPool)
    with engine.begin() as connection:
        connection.execute(text("ALTER DATABASE settings SET default_transaction_isolation TO 'serializable'"))
        connection.execute(text("ALTER DATABASE settings SET synchronous_commit TO off"))
    names = ("transaction_isolation", "synchronous_commit")
    with Store(url) as store:
        database = store.database
        for _ in range(2):  # the second time from the pool
            for begin, isolation in ((database.snapshot, "repeatable read"), (database.writing, "read committed"),
                                     (database.reading, "read committed")):
                with begin() as connection:
                    found = [connection.execute(text(f"SHOW {name}")).scalar() for name in names]
                assert found == [isolation, "on"]
    postgresql.drop("settings")


def test_a_store_that_is_looked_at_is_in_use_as_before(tmp_path: Path) -> None:
    """To look whether a file is a store takes no lock from who has it open."""
    with Store(f"sqlite:///{tmp_path}/store.db") as store, store.database.writing():
        with Store(f"sqlite:///{tmp_path}/store.db", create=False) as other:
            assert other.campaigns() == ()
        with closing(sqlite3.connect(tmp_path / "store.db", timeout=0)) as stranger, pytest.raises(
                sqlite3.OperationalError, match="locked"):
            stranger.execute("BEGIN IMMEDIATE")
