"""The databases that tests get are fresh, apart from each other, and leave nothing behind."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import NullPool, create_engine, inspect, text

import databases
from databases import Cluster

KILLED = """
import os, signal
from databases import Cluster, find_postgresql
print(Cluster(find_postgresql()).folder, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def write(url: str, value: str) -> None:
    with create_engine(url, poolclass=NullPool).begin() as connection:
        connection.execute(text("CREATE TABLE word (value TEXT)"))
        connection.execute(text("INSERT INTO word VALUES (:value)"), {"value": value})


def read(url: str) -> list[str]:
    with create_engine(url, poolclass=NullPool).connect() as connection:
        return list(connection.execute(text("SELECT value FROM word")).scalars())


@pytest.mark.parametrize("value", ["first", "Gödel"])
def test_every_test_gets_an_empty_database(database_url: str, value: str) -> None:
    assert inspect(create_engine(database_url, poolclass=NullPool)).get_table_names() == []
    write(database_url, value)
    assert read(database_url) == [value]


def test_two_databases_know_nothing_of_each_other(postgresql: Cluster) -> None:
    one, other = postgresql.create("one"), postgresql.create("other")
    try:
        write(one, "one")
        write(other, "other")
        assert (read(one), read(other)) == (["one"], ["other"])
    finally:
        postgresql.drop("one")
        postgresql.drop("other")


def test_a_database_is_dropped_under_who_is_still_connected(postgresql: Cluster) -> None:
    url = postgresql.create("held").replace("+psycopg", "")
    with psycopg.connect(url, autocommit=True) as connection:
        postgresql.drop("held")
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")


@pytest.mark.slow
def test_a_closed_cluster_is_gone(postgresql: Cluster) -> None:
    with Cluster(programs(), fsync=True) as cluster:
        url = cluster.create("flushed").replace("+psycopg", "")
        with psycopg.connect(url) as connection:
            assert connection.execute("SHOW fsync").fetchone() == ("on",)
    cluster.close()
    assert not cluster.folder.exists()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)


def test_a_cluster_is_gone_when_its_maker_is_killed(postgresql: Cluster) -> None:
    maker = subprocess.run([sys.executable, "-c", KILLED], cwd=Path(databases.__file__).parent, stdout=subprocess.PIPE,
                           text=True, check=False)
    folder = Path(maker.stdout.strip())
    assert folder.name.startswith("confide-")
    deadline = time.monotonic() + 60
    while folder.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="initdb"):
        Cluster(tmp_path)


def programs() -> Path:
    folder = databases.find_postgresql()
    assert folder is not None
    return folder
