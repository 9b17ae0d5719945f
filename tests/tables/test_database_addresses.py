"""Tables of databases by address: DuckDB, SQLite and PostgreSQL."""

from __future__ import annotations

import datetime
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from confide.contract import InvalidInput
from confide.tables import ReadOptions, open_table
from confide.tables._cells import numbers, strings
from databases import Cluster, find_postgresql
from missing import missing

FILES = Path(__file__).parent / "files"


def cells(source, name):
    found = [row for batch in source.batches(["id", name]) for row in batch.to_pylist()]
    return [row[name] for row in sorted(found, key=lambda row: row["id"])]


@pytest.fixture
def duck(tmp_path):
    import duckdb
    with duckdb.connect(tmp_path / "people.duckdb") as connection:
        connection.sql("CREATE TABLE people (id INTEGER, income DECIMAL(10, 2), born DATE, region VARCHAR)")
        connection.sql("INSERT INTO people VALUES (1, 1234.50, '2024-05-22', 'NA'), (2, NULL, NULL, '1,5')")
    return tmp_path


def test_a_table_of_duckdb(duck):
    source = open_table("duckdb://people.duckdb", ReadOptions(missing=("NA",), decimal=","), folder=duck)
    assert source.column_names == ("id", "income", "born", "region")
    assert cells(source, "born") == [datetime.date(2024, 5, 22), None]
    assert cells(source.numeric(["region"]), "region") == [None, "1.5"]
    assert not source.ordered
    source = open_table(f"duckdb://{duck / 'people.duckdb'}", ReadOptions(table="people"))
    assert cells(source, "region") == ["NA", "1,5"]


@pytest.mark.parametrize(("address", "table", "field", "words"), [
    ("duckdb://nowhere.duckdb", "", "source", "nowhere.duckdb is not a file"),
    ("duckdb://people.duckdb", "poeple", "table", "did you mean 'people'"),
    ("duckdb://broken.duckdb", "", "source", "broken.duckdb cannot be opened"),
    ("duckdb://newer.duckdb", "", "source", "written by a newer DuckDB"),
    ("duckdb://people.duckdb?motherduck_token=secret", "", "source", "has a password"),
    ("sqlite://broken.duckdb", "", "source", "broken.duckdb cannot be opened"),
    ("mysql://me@host/db", "", "source", "not tested on databases of the kind mysql"),
    ("postgresql://me:secret@host/db", "", "source", "a campaign file is public: leave the password out"),
    ("postgresql://host/db?user=me&password=secret", "", "source", "PGPASSWORD"),
    ("postgresql://me@[host/db", "", "source", "no address of a database"),
])
def test_what_is_refused(address, table, field, words, duck):
    (duck / "broken.duckdb").write_bytes(b"secret" * 100)
    (duck / "newer.duckdb").write_bytes(gzip.decompress((FILES / "newer.duckdb.gz").read_bytes()))
    with pytest.raises(InvalidInput) as caught:
        open_table(address, ReadOptions(table=table), folder=duck)
    assert caught.value.field == field
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_table_is_named_unless_it_is_the_only_one(duck):
    import duckdb
    with duckdb.connect(duck / "people.duckdb") as connection:
        connection.sql("CREATE SCHEMA more")
        connection.sql("CREATE TABLE more.visits AS SELECT 1 AS id, 'x' AS a")
        connection.sql("CREATE TABLE other AS SELECT 1 AS id")
    with pytest.raises(InvalidInput, match="table: is not given; tables: other, people"):
        open_table("duckdb://people.duckdb", folder=duck)
    assert cells(open_table("duckdb://people.duckdb", ReadOptions(table="more.visits"), folder=duck), "a") == ["x"]
    with pytest.raises(InvalidInput, match="separator: has no meaning for a database"):
        open_table("duckdb://people.duckdb", ReadOptions(separator=";"), folder=duck)


def test_a_table_of_sqlite(tmp_path):
    import sqlite3
    connection = sqlite3.connect(tmp_path / "people.db")
    connection.execute("CREATE TABLE people (id INTEGER, name TEXT)")
    connection.execute("INSERT INTO people VALUES (1, 'ann')")
    connection.commit()
    connection.close()
    assert cells(open_table("sqlite://people.db", folder=tmp_path), "name") == ["ann"]


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Any]:
    """The address of a database, and a connection to it."""
    import psycopg
    programs = find_postgresql()
    if programs is None:
        missing("PostgreSQL's initdb and postgres are neither under /usr/lib/postgresql nor on PATH; "
                "Debian's package postgresql has them")
    with Cluster(programs) as cluster:
        cluster.create("tables")
        address = f"postgresql://confide@/tables?host={cluster.folder}"
        with psycopg.connect(address, autocommit=True) as connection:
            yield address, connection


def test_what_only_postgresql_has(postgresql):
    """Infinity, dates before Christ, NaN in decimals, money and padded texts: no cell stops the others."""
    address, connection = postgresql
    connection.execute("CREATE TABLE people (id bigint, d date, ts timestamp, tz timestamptz, n numeric, "
                       "p numeric(12, 2), mon money, ch char(5), r real)")
    connection.execute(
        "INSERT INTO people VALUES (1, 'infinity', '-infinity', 'infinity', 'NaN', 1234.50, 1234.5, 'ab', 4.3), "
        "(2, '2020-03-15', '2020-03-15 13:45:30', '2020-03-15 13:45:30+02', 0.10, 0, NULL, NULL, NULL), "
        "(3, '0044-03-15 BC', NULL, '0044-03-15 BC', NULL, NULL, NULL, 'x', NULL)")
    source = open_table(address, ReadOptions(table="people"))
    assert cells(source, "d") == [None, datetime.date(2020, 3, 15), None]
    (fault,) = source.faults
    assert (fault.column, fault.count, fault.empty) == ("d", 2, True)
    assert cells(source, "ts") == [None, datetime.datetime(2020, 3, 15, 13, 45, 30), None]
    assert cells(source.dated(["ts"]), "ts")[1] == datetime.date(2020, 3, 15)
    assert cells(source, "tz")[1].isoformat() == "2020-03-15T11:45:30+00:00"
    assert source.faults[0].count == 2
    assert cells(source, "n") == ["NaN", "0.1", None]
    assert cells(source, "p") == ["1234.5", "0", None]
    assert cells(source, "mon") == ["1234.5", None, None]
    (batch,) = source.batches(["ch", "r"])
    assert strings("ch", batch.column(0)).to_pylist() == ["ab", None, "x"]
    assert numbers("r", batch.column(1)).tolist()[0] == 4.3
    connection.execute("CREATE SCHEMA archive; CREATE TABLE archive.old AS SELECT 7 AS id")
    assert next(open_table(address, ReadOptions(table="archive.old")).batches(["id"])).to_pylist() == [{"id": 7}]
    with pytest.raises(InvalidInput, match=r"the database cannot be opened \(OperationalError\); check the address"):
        open_table(address.replace("/tables", "/nowhere"))


def test_a_file_is_never_made_nor_changed(duck):
    before = {path.name: path.read_bytes() for path in Path(duck).iterdir()}
    for _ in open_table("duckdb://people.duckdb", folder=duck).batches(["id"]):
        pass
    assert {path.name: path.read_bytes() for path in Path(duck).iterdir()} == before
