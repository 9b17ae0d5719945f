"""Files, data frames and query engines give the same cells, or refuse before anything is charged."""

from __future__ import annotations

import csv
import datetime
import math
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from confide.contract import InvalidInput
from confide.release import Binned, Bit, Levels, Schema, Workload, true_answers
from confide.tables import Category, Numeric, Roster, open_table
from databases import Cluster, find_postgresql
from missing import missing

_numbers = count(1)


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Any]:
    """A connection of ibis to a database of its own."""
    programs = find_postgresql()
    if programs is None:
        missing("PostgreSQL's initdb and postgres are neither under /usr/lib/postgresql nor on PATH; "
                "Debian's package postgresql has them")
    with Cluster(programs) as cluster:
        cluster.create("tables")
        connection = ibis.postgres.connect(host=str(cluster.folder), user="confide", database="tables")
        connection.raw_sql("CREATE EXTENSION citext; CREATE TYPE mood AS ENUM ('sad', 'ok')").close()
        yield connection
        connection.disconnect()


# ---- the ways to a table


def write_csv(table: pa.Table, folder: Path) -> Path:
    """Cells as Python and R spell them, without Arrow's help."""
    path = folder / "table.csv"
    spelled = {True: "true", False: "false", None: ""}
    single = [pa.types.is_float32(kind) for kind in table.schema.types]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table.column_names)
        for row in zip(*(columns.to_pylist() for columns in table.columns), strict=True):
            writer.writerow([spelled[cell] if cell is None or isinstance(cell, bool) else
                             str(np.float32(cell) if single[place] else cell) for place, cell in enumerate(row)])
    return path


def write_parquet(table: pa.Table, folder: Path) -> Path:
    pq.write_table(table, folder / "table.parquet")
    return folder / "table.parquet"


def write_arrow(table: pa.Table, folder: Path) -> Path:
    pyarrow.feather.write_feather(table, folder / "table.arrow", compression="uncompressed")
    return folder / "table.arrow"


def in_sqlite(table: pa.Table, folder: Path) -> Any:
    """SQLite's own types: a REAL is a double, so that floats of 32 bits are stored as the decimals that they print."""
    kinds = {"int64": "INTEGER", "int32": "INTEGER", "double": "REAL", "float": "REAL", "string": "TEXT",
             "bool": "BOOLEAN", "date32[day]": "DATE", "decimal128(10, 2)": "DECIMAL(10, 2)"}
    connection = ibis.sqlite.connect(folder / "table.sqlite")
    declared = ", ".join(f"{name} {kinds[str(table.schema.field(name).type)]}" for name in table.column_names)
    connection.con.execute(f"CREATE TABLE people ({declared})")
    stored = [[None if cell is None else float(str(np.float32(cell))) if pa.types.is_float32(column.type) else
               str(cell) if isinstance(cell, datetime.date | Decimal) else cell for cell in column.to_pylist()]
              for column in table.columns]
    marks = ", ".join("?" * table.num_columns)
    connection.con.executemany(f"INSERT INTO people VALUES ({marks})", list(zip(*stored, strict=True)))
    connection.con.commit()
    return connection.table("people")


WAYS: dict[str, Callable[..., Any]] = {
    "csv": lambda table, folder, _: write_csv(table, folder),
    "parquet": lambda table, folder, _: write_parquet(table, folder),
    "arrow": lambda table, folder, _: write_arrow(table, folder),
    "pandas": lambda table, folder, _: table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get),
    "polars": lambda table, folder, _: pl.from_arrow(table),
    "ibis duckdb": lambda table, folder, _: ibis.duckdb.connect().create_table("people", table),
    "ibis polars": lambda table, folder, _: ibis.polars.connect().create_table("people", table),
    "ibis sqlite": lambda table, folder, _: in_sqlite(table, folder),
    "ibis postgres": lambda table, _, connection: connection().create_table(f"people_{next(_numbers)}", table),
    "ibis datafusion": lambda table, folder, _: ibis.datafusion.connect().create_table("people", table),
}
ENGINES = [way.removeprefix("ibis ") for way in WAYS if way.startswith("ibis ")]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[pa.Table], Any]:
    """A table as each kind of file, data frame or query."""
    def make(table: pa.Table) -> Any:
        return WAYS[request.param](table, tmp_path, lambda: request.getfixturevalue("postgresql"))

    make.kind = request.param  # type: ignore[attr-defined]
    return make


# ---- what the cells are, by hand


LOST = {"missing": "is missing", "infinite": "is not finite", "outside": "is out of bounds", "unlisted": "not a level",
        "no bit": "is no bit", "uneven": "is not a whole number"}
NAN, INF = math.nan, math.inf
SPACE = "\N{NO-BREAK SPACE}"
TENTHS = Binned(column="v", lower=0, upper=1, bins=10)

CASES: dict[str, tuple[Any, pa.DataType, list[tuple[Any, Any]]]] = {
    "edges": (TENTHS, pa.float64(), [
        (0.0, 0), (0.1, 1), (0.2, 2), (0.3, 3), (0.6, 6), (0.7, 7), (1.0, 9), (math.nextafter(0.3, 0), 2),
        (math.nextafter(0.7, 0), 6), (0.30000000000000004, 3), (5e-324, 0), (1.1, "outside"), (-0.1, "outside")]),
    "edges of many bins": (Binned(column="v", lower=0, upper=300, bins=3000, out_of_bounds="clip"), pa.float64(), [
        (0.1, 1), (0.3, 3), (0.7, 7), (299.9, 2999), (math.nextafter(299.9, 0), 2998), (1e300, 2999), (-1e300, 0),
        (5e-324, 0), (4.3, 43)]),
    "given edges": (Binned(column="v", edges=(-1, 0, 0.1, 2.5)), pa.float64(), [
        (-1.0, 0), (-0.0, 1), (0.1, 2), (math.nextafter(0.1, 0), 1), (2.5, 2), (2.6, "outside")]),
    "no number": (TENTHS, pa.float64(), [
        (NAN, "missing"), (None, "missing"), (INF, "infinite"), (-INF, "infinite"), (0.5, 5)]),
    "minus zero at the lower bound": (TENTHS, pa.float64(), [(-0.0, 0), (0.0, 0), (0.5, 5)]),
    "minus zero as a level": (Levels(column="v", levels=("0", "1")), pa.float64(), [(-0.0, 0), (0.0, 0), (1.0, 1)]),
    "minus zero as a bit": (Bit(column="v"), pa.float64(), [(-0.0, 0), (1.0, 1), (2.0, "no bit"), (NAN, "missing")]),
    "blanks": (Levels(column="v", levels=("a", "b b", f"n{SPACE}b")), pa.string(), [
        ("a", 0), (" a\t", 0), ("a ", 0), ("\v\f\r\na", 0), ("\x1ca", "unlisted"),
        ("\N{ZERO WIDTH SPACE}a", "unlisted"), ("b b", 1), (f"n{SPACE}b", 2), (SPACE + "a", "unlisted"),
        ("a" + SPACE, "unlisted"), ("\N{EM SPACE}a", "unlisted"), ("A", "unlisted"), ("b  b", "unlisted"),
        (f"b{SPACE}b", "unlisted"), ("  ", "missing"), (None, "missing")]),
    "texts beyond ASCII": (Levels(column="v", levels=("é", "\\x41", "it's")), pa.string(), [
        ("é", 0), ("e\N{COMBINING ACUTE ACCENT}", "unlisted"), ("É", "unlisted"), ("\\x41", 1), ("A", "unlisted"),
        ("it's", 2)]),
    "decimals": (Binned(column="v", lower=0, upper=4.3, bins=43), pa.decimal128(10, 2), [
        (Decimal("0.10"), 1), (Decimal("0.29"), 2), (Decimal("0.30"), 3), (Decimal("4.30"), 42), (None, "missing"),
        (Decimal("4.31"), "outside"), (Decimal("0.00"), 0)]),
    "decimals as levels": (Levels(column="v", levels=("7", "0.25")), pa.decimal128(10, 2), [
        (Decimal("7.00"), 0), (Decimal("0.25"), 1), (Decimal("0.20"), "unlisted"), (None, "missing")]),
    "64-bit integers": (Levels(column="v", levels=(str(2**53), str(2**53 + 1), str(-(2**63) + 1))), pa.int64(), [
        (2**53, 0), (2**53 + 1, 1), (None, "missing"), (2**53 + 2, "unlisted"), (-(2**63) + 1, 2)]),
    "levels beyond a narrow type": (Levels(column="v", levels=("7", "70000", str(2**63 - 1), str(2**64), "-7")),
                                    pa.int32(), [(7, 0), (70000, 1), (-7, 4), (8, "unlisted")]),
    "bins of 64-bit integers": (Binned(column="v", edges=(0, 2.0**60, 2.0**61, 2.0**62)), pa.int64(), [
        (0, 0), (2**60 - 1, 1), (2**60, 1), (2**60 - 2**7, 0), (2**62, 2), (2**63 - 1, "outside"), (None, "missing")]),
    "32-bit floats": (Binned(column="v", lower=0, upper=4.3, bins=43), pa.float32(), [
        (4.3, 42), (0.1, 1), (0.3, 3), (0.7, 7), (4.4, "outside"), (None, "missing"), (-0.0, 0), (1e-45, 0)]),
    "32-bit floats as levels": (Levels(column="v", levels=("0.1", "2")), pa.float32(), [
        (0.1, 0), (2.0, 1), (0.2, "unlisted"), (None, "missing")]),
    "exponents": (Levels(column="v", levels=("1e-07", "2.5e-7", "1e22")), pa.float64(), [
        (1e-7, 0), (2.5e-7, 1), (1e22, 2), (1e-8, "unlisted"), (None, "missing")]),
    "exponents in texts": (Levels(column="v", levels=("1e-07", "1e22")), pa.string(), [
        ("1e-7", 0), ("1e-07", 0), ("1e+22", 1), ("1e22", 1), ("1e-70", "unlisted"), ("1e", "unlisted")]),
    "booleans": (Bit(column="v"), pa.bool_(), [(True, 1), (False, 0), (None, "missing")]),
    "booleans as levels": (Levels(column="v", levels=("TRUE", "False")), pa.bool_(), [
        (True, 0), (False, 1), (None, "missing")]),
    "booleans in bins": (Binned(column="v", lower=0, upper=1, bins=2), pa.bool_(), [
        (True, 1), (False, 0), (None, "missing")]),
    "words for booleans": (Levels(column="v", levels=("true", "false")), pa.string(), [
        ("TRUE", 0), (" False", 1), ("yes", "unlisted"), (SPACE + "true", "unlisted")]),
    "whole numbers": (Binned(column="v", lower=0, upper=9, bins=10, whole=True), pa.float64(), [
        (3.0, 3), (3.5, "uneven"), (9.0, 9), (-0.0, 0), (1e19, "outside")]),
    "one bin": (Binned(column="v", lower=0, upper=9, bins=1), pa.float64(), [(3.0, 0), (9.0, 0), (-1.0, "outside")]),
}
REFUSED = {("ibis sqlite", "decimals"), ("ibis sqlite", "decimals as levels")}


def table_of(cells: list[tuple[Any, Any]], kind: pa.DataType) -> pa.Table:
    return pa.table({"who": [f"p{place}" for place in range(len(cells))],
                     "v": pa.array([cell for cell, _ in cells], kind)})


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_every_way_gives_the_same_cells(way, case):
    role, kind, cells = CASES[case]
    schema, source = Schema((role,)), way(table_of(cells, kind))
    roster, rejected = Roster.from_ids([f"p{place}" for place in range(len(cells))]), {}
    workload = Workload.conjunctions([[name] for name in schema.names], attributes=schema)
    if (way.kind, case) in REFUSED:
        with pytest.raises(InvalidInput, match=r"v: the column is of type decimal\(10, 2\), and sqlite keeps no exact"):
            true_answers(source, workload, schema, unusable="null")
        return
    lost = sum(isinstance(found, str) for _, found in cells)
    with pytest.warns(UserWarning, match=f"{lost} of {len(cells)} records have") if lost else nullcontext():
        encoded = schema.encode(source, records=roster, id="who", unusable="null", rejected=rejected)
    wanted = [0 if isinstance(found, str) else found for _, found in cells]
    assert encoded.cells[:, 0].tolist() == [int(np.searchsorted(role.reachable, cell)) for cell in wanted]
    assert set(rejected) == {f"p{place}" for place, (_, found) in enumerate(cells) if isinstance(found, str)}
    for place, (_, found) in enumerate(cells):
        if isinstance(found, str):
            assert LOST[found] in rejected[f"p{place}"]
    # Counts by the engine itself, where it has one.
    answers = true_answers(source, workload, schema, unusable="null")
    assert (answers.records, answers.counts.tolist()) == (len(cells), workload.counts(encoded).tolist())


@pytest.mark.parametrize("way", sorted(set(WAYS) - {"ibis sqlite", "ibis postgres"}), indirect=True)
def test_levels_beyond_a_sign_are_distinguished(way):
    """Neither SQLite nor PostgreSQL holds them. Two queries: DuckDB would count one of them itself."""
    levels = (str(2**63 + 5), "7", str(2**64 - 1))
    schema = Schema((Levels(column="v", levels=levels),))
    source = way(pa.table({"v": pa.array([2**63 + 5] * 3 + [7] * 4 + [2**64 - 1] * 5, pa.uint64())}))
    workload = Workload.conjunctions([[name] for name in schema.names], attributes=schema)
    assert true_answers(source, workload, schema).counts.tolist() == [3, 4, 5]



@pytest.mark.parametrize("case", ["edges", "no number", "blanks", *(case for case in CASES if "level" in case)])
def test_every_way_gives_other_families_the_same_numbers(way, case):
    """Through `open_table`, as every family reads."""
    role, kind, cells = CASES[case]
    if (way.kind, case) in REFUSED:
        return
    reader = Category(column="v", levels=role.levels) if isinstance(role, Levels) else \
        Numeric(column="v", lower=role.lower, upper=role.upper)
    expected = reader.encode(table_of(cells, kind)["v"])
    found = {}
    for batch in open_table(way(table_of(cells, kind))).batches(["who", "v"], 3):
        values, problems = reader.encode(batch.column(1))
        found |= {who: (values[row], problems[row]) for row, who in enumerate(batch.column(0).to_pylist())}
    assert [found[f"p{place}"] for place in range(len(cells))] == list(
        zip(expected.values.tolist(), expected.problems.tolist(), strict=True))


@pytest.mark.parametrize("role", [TENTHS, Bit(column="v"), Levels(column="v", levels=("2024-01-01", "b"))], ids=[
    "bins", "bit", "levels"])
def test_dates_are_refused_by_their_type_and_read_where_they_are_texts(way, role):
    """In a CSV file a date is a text: a level where it is listed, and no number."""
    schema, day = Schema((role,)), datetime.date(2024, 1, 1)
    source = way(table_of([(day, 0), (day, 0)], pa.date32()))
    workload = Workload.conjunctions([[schema.names[0]]], attributes=schema)
    if way.kind == "csv" and isinstance(role, Levels):
        assert true_answers(source, workload, schema).counts.tolist() == [2]
        return
    wanted = "does not accept" if way.kind in {"csv", "pandas"} else "is of type date32"
    with pytest.raises(InvalidInput, match=f"v: the column .*{wanted}.*must be"):
        true_answers(source, workload, schema)


# ---- types that one engine alone has


def test_a_collation_makes_no_level_of_another(postgresql, tmp_path):
    """Case-blind columns are compared by their bytes, as a file's cells are."""
    schema = Schema((Levels(column="v", levels=("a", "b")),))
    workload = Workload.conjunctions([["v = a"], ["v = b"]], attributes=schema)
    duck, lite = ibis.duckdb.connect(), ibis.sqlite.connect()
    for run in (duck.raw_sql, lite.con.execute):
        run("CREATE TABLE people (v VARCHAR COLLATE NOCASE)")
        run("INSERT INTO people VALUES ('b'), ('B'), ('b '), ('A')")
    postgresql.raw_sql("CREATE TABLE blind (v CITEXT); INSERT INTO blind VALUES ('b'), ('B'), ('b '), ('A')").close()
    for table in (duck.table("people"), lite.table("people"), postgresql.table("blind")):
        assert true_answers(table, workload, schema, unusable="null").counts.tolist() == [2, 2], table
        with pytest.raises(InvalidInput, match="does not accept"):
            true_answers(table, workload, schema)


@pytest.mark.parametrize(("declared", "cells", "role", "wanted"), [
    ("NUMERIC", "('NaN'), ('0.10'), ('12345678901234567890123456789.123456789012'), (NULL), ('Infinity'), ('0.30')",
     TENTHS, [4, 1, 0, 1]),
    ("NUMERIC(10, 2)", "('NaN'), (7), (7.5)", Levels(column="v", levels=("7", "7.5")), [2, 1]),
    ("mood", "('sad'), ('ok'), ('ok')", Levels(column="v", levels=("sad", "ok")), [1, 2]),
    ("CHAR(5)", "('sad'), ('ok'), ('ok')", Levels(column="v", levels=("sad", "ok")), [1, 2]),
    ("REAL", "(4.3), (4.2), ('NaN')", Binned(column="v", edges=(4.2, 4.25, 4.3)), [2, 1]),
    ("SMALLINT", "(1), (0), (NULL)", Bit(column="v"), [1]),
])
def test_types_of_postgresql(postgresql, declared, cells, role, wanted):
    name = f"own_{next(_numbers)}"
    postgresql.raw_sql(f"CREATE TABLE {name} (v {declared}); INSERT INTO {name} VALUES {cells}").close()
    schema = Schema((role,))
    workload = Workload.conjunctions([[each] for each in schema.names], attributes=schema)
    found = true_answers(postgresql.table(name), workload, schema, unusable="null").counts.tolist()
    assert found[:len(wanted)] == wanted


def test_sqlite_holds_what_it_likes():
    """A column of integers may hold texts and fractions: each is judged alone, as in a CSV file."""
    lite = ibis.sqlite.connect()
    lite.con.execute("CREATE TABLE people (v INTEGER)")
    lite.con.execute("INSERT INTO people VALUES (1), (0), ('x'), (1.5), (NULL), (1)")
    schema = Schema((Levels(column="v", levels=("1", "0")),))
    workload = Workload.conjunctions([["v = 1"], ["v = 0"]], attributes=schema)
    assert true_answers(lite.table("people"), workload, schema, unusable="null").counts.tolist() == [5, 1]
    lite.con.execute("CREATE TABLE reals (v REAL)")
    lite.con.execute("INSERT INTO reals VALUES (0.5), ('x')")
    with pytest.raises(InvalidInput, match=r"sqlite did not answer the query \(\w+\); .*cast the column or leave"):
        true_answers(lite.table("reals"), Workload.complete(Schema((TENTHS,)), width=1), Schema((TENTHS,)))


def test_the_remedy_for_decimals_of_sqlite_does(tmp_path):
    cells = [(Decimal("0.10"), 1), (Decimal("0.30"), 3)]
    table = in_sqlite(table_of(cells, pa.decimal128(10, 2)), tmp_path)
    schema = Schema((TENTHS,))
    workload = Workload.complete(schema, width=1)
    with pytest.raises(InvalidInput) as error:
        true_answers(table, workload, schema)
    assert "cast it: table.cast({'v': 'float64'})" in error.value.limit
    assert true_answers(table.cast({"v": "float64"}), workload, schema).counts.tolist() == [0, 1, 0, 1, *[0] * 6]
    assert "the level of 0.10 is 0.1" in error.value.limit
    for levels, wanted in ((("0.1", "0.3"), [1, 1]), (("0.10", "0.30"), None)):
        spelled = Schema((Levels(column="v", levels=levels),))
        asked = Workload.complete(spelled, width=1), spelled
        with nullcontext() if wanted else pytest.raises(InvalidInput, match="does not accept"):
            assert true_answers(table.cast({"v": "float64"}), *asked).counts.tolist() == wanted


# ---- engines that nobody compared, and tables that change


def test_an_engine_that_was_not_compared_is_refused_by_name(tmp_path, monkeypatch):
    table = ibis.duckdb.connect().create_table("people", pa.table({"v": [0.1, 0.3]}))
    schema = Schema((TENTHS,))
    workload = Workload.complete(schema, width=1)
    monkeypatch.setattr(type(table.get_backend()), "name", "impala")
    for read in (lambda: true_answers(table, workload, schema), lambda: open_table(table),
                 lambda: schema.encode(table)):
        with pytest.raises(InvalidInput, match=r"not tested on the engine impala.*to_parquet.*duckdb.*datafusion"):
            read()
    monkeypatch.undo()
    table.to_parquet(tmp_path / "rows.parquet")  # the remedy
    assert true_answers(tmp_path / "rows.parquet", workload, schema).counts.sum() == 2
    with pytest.raises(InvalidInput, match="belongs to no connection"):
        open_table(ibis.table({"v": "float64"}, name="nowhere"))


BITS = Schema((Bit(column="a"), Bit(column="b"), Bit(column="c")))
PAIRS = Workload.conjunctions([["a", "b"], ["a", "not b"], ["b", "c"], ["a"], ["b"], ["not b", "c"]], attributes=BITS)


def consistent(counts: list[int]) -> bool:
    """Whether the counts can be of one table in which everybody has bits a and c."""
    both, one, more, a, b, rest = counts
    return both + one == a and more + rest == a and more == both == b


@pytest.mark.parametrize("engine", ["duckdb", "polars", "postgres"])
def test_a_table_that_is_drawn_anew_is_read_once(engine, request):
    """Each query over a sample, or a random column, would see other rows."""
    rows = pa.table({"a": [True] * 20000, "b": [True] * 20000, "c": [True] * 20000})
    table = WAYS[f"ibis {engine}"](rows, None, lambda: request.getfixturevalue("postgresql"))
    draws = {"duckdb": [table.sample(0.5), table.mutate(b=ibis.random() < 0.5)], "polars": [table.sample(0.5)],
             "postgres": [table.mutate(b=ibis.random() < 0.5)]}  # what ibis has for each engine
    for drawn in draws[engine]:
        found = true_answers(drawn, PAIRS, BITS)
        assert consistent(found.counts.tolist()), found.counts
        assert found.counts[3] == found.records
        source = open_table(drawn)
        first, second, narrow = (pa.Table.from_batches(source.batches(names, 1000))
                                 for names in (["b", "a"], ["b", "a"], ["b"]))
        assert first.equals(second)
        assert first["b"].equals(narrow["b"])
        assert 4000 < pc.sum(first["b"]).as_py() < 16000  # even coins leave it once in e^3600 runs
    none = open_table(table.filter(~table.a).head(3))
    assert [batch.num_rows for batch in [*none.batches(["a"]), *none.batches(["a"])] if batch.num_rows] == []


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # by ibis, of duck.sql
def test_a_view_that_draws_and_a_text_of_sql_are_read_once():
    duck = ibis.duckdb.connect()
    rows = "SELECT true AS a, random() < 0.5 AS b, true AS c FROM range(20000)"
    duck.raw_sql(f"CREATE VIEW people AS {rows}")
    for table in (duck.table("people"), duck.sql(rows), duck.table("people").head(19000)):
        found = true_answers(table, PAIRS, BITS)
        assert consistent(found.counts.tolist()), found.counts


# ---- types that were guessed


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # by ibis, of duck.sql
def test_types_that_duckdb_guessed_are_named(tmp_path):
    (tmp_path / "people.csv").write_text("code,place\n1.10,a\n2.20,b\n", encoding="utf-8")
    schema = Schema((Levels(column="code", levels=("1.10", "2.20")),))
    workload = Workload.complete(schema, width=1)
    duck = ibis.duckdb.connect()
    guessed = duck.read_csv(tmp_path / "people.csv")
    ways = (guessed, guessed.filter(guessed.place != "c"), duck.sql(f"SELECT * FROM '{tmp_path / 'people.csv'}'"))
    for table in ways:
        for read in (lambda table=table: true_answers(table, workload, schema, unusable="null"),
                     lambda table=table: list(open_table(table).batches(["code", "place"]))):
            with pytest.warns(UserWarning, match="DuckDB guessed the types of code from a CSV file: 1.10") as reported:
                read()
            assert len(reported) == 1
    reported_types = [duck.read_csv(tmp_path / "people.csv", types={"code": "string"}),
                      duck.read_csv(tmp_path / "people.csv", all_varchar=True),
                      duck.read_csv(tmp_path / "people.csv", columns={"code": "string", "place": "string"})]
    for table in (*reported_types, tmp_path / "people.csv"):  # the remedies, without a word
        assert true_answers(table, workload, schema).counts.tolist() == [1, 1]
    typed = duck.read_csv(tmp_path / "people.csv", types={"code": "double"})
    assert len(list(open_table(typed).batches(["code"]))) == 1
