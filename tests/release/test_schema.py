"""Schemas and cells: the published attributes exactly, public facts only, and no row that changes another's."""

from __future__ import annotations

import dataclasses
import json
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tables_of_people import SMALL, codes, people, published

from cases import fast
from confide.contract import InvalidInput
from confide.contract.digests import canonical
from confide.contract.encoding import decode, encode
from confide.release import Binned, Bit, Codes, Levels, PackedBits, Schema, Workload, true_answers
from confide.release.columns import cells_of
from confide.tables import Roster

pytestmark = pytest.mark.filterwarnings("ignore:.* have no usable row:UserWarning")  # tables of few rows

# ---- the published binning


@pytest.mark.parametrize(("name", "attributes", "cells", "rows", "distinct"), [
    *fast(1, [("adult", 235, 181, 30162, 25004), ("kdd99_10pct", 396, 396, 494021, 12067)])])
def test_the_published_attributes(name, attributes, cells, rows, distinct):
    schema, table = published(name)
    assert schema.attributes == len(set(schema.names)) == attributes
    found = schema.encode(table)
    assert found.records == rows
    assert len(found.distinct()[0]) == distinct
    # The rule of the experiments in exact decimals; their doubles put some values on an edge into the bin below.
    bits = found.packed()
    for place, column in enumerate(schema.columns):
        values = table[column.column].combine_chunks()
        if pa.types.is_dictionary(values.type):
            raw, low, high = values.indices.to_numpy().astype(float), 0.0, len(column.levels) - 1.0
        else:
            raw, low, high = values.to_numpy().astype(float), column.lower, column.upper
        width = Fraction(repr(high)) - Fraction(repr(low))
        edges = [float(Fraction(repr(low)) + width * k / column.bins) for k in range(1, column.bins)]
        bin_ = np.searchsorted(edges, raw, side="right")
        counts = np.bincount(bin_, minlength=column.bins)
        start, end = schema.starts[place], schema.starts[place + 1]
        assert [int(np.bitwise_count(bits.words[a]).sum()) for a in range(start, end)] == counts.tolist()
    if name == "adult":
        kin = schema.columns[[each.column for each in schema.columns].index("relationship")]
        assert (len(kin.names), kin.reachable.tolist()) == (60, [0, 12, 24, 36, 48, 59])
        assert sum("unreachable" in each for each in schema.names) == 54
    assert sum(schema.sizes) == cells


# ---- columns


DECIMALS = st.integers(0, 6).flatmap(lambda places: st.tuples(
    st.integers(-10**6, 10**6), st.integers(1, 10**5)).map(lambda pair: (
        float(Fraction(pair[0], 10**places)), float(Fraction(sum(pair), 10**places)))))


def starting(column):
    """What stands at the left of each name, as it is printed."""
    return [name.split(" in [")[1].split(", ")[0] for name in column.names]


def readings(texts, folder):
    """The same printed values in every form that a table may have."""
    import ibis

    doubles, exact = [float(text) for text in texts], [Decimal(text) for text in texts]
    (folder / "a.csv").write_text("a\n" + "".join(f"{text}\n" for text in texts))
    yield "text", {"a": texts}
    yield "csv", folder / "a.csv"
    yield "list", {"a": doubles}
    yield "numpy", {"a": np.array(doubles)}
    yield "arrow", pa.table({"a": pa.array(doubles)})
    yield "pandas", pd.DataFrame({"a": doubles})
    yield "polars", pl.DataFrame({"a": doubles})
    yield "objects", {"a": exact}
    places = max(0, *(-each.as_tuple().exponent for each in exact))
    if all(each.adjusted() + places < 37 for each in exact):
        yield "decimal", pa.table({"a": pa.array(exact, pa.decimal128(38, places))})
    pq.write_table(pa.table({"a": doubles}), folder / "a.parquet")
    yield "parquet", folder / "a.parquet"
    yield "ibis", ibis.duckdb.connect().read_parquet(folder / "a.parquet")
    singles = np.array(doubles, np.float32)
    if [float(str(each)) for each in singles] == doubles:
        yield "32 bits", {"a": singles}
        yield "32 bits, pandas", pd.DataFrame({"a": singles})
        yield "32 bits, polars", pl.DataFrame({"a": singles})
        pq.write_table(pa.table({"a": singles}), folder / "b.parquet")
        yield "32 bits, ibis", ibis.duckdb.connect().read_parquet(folder / "b.parquet")


def counted(column, table):
    schema = Schema((column,))
    found = true_answers(table, Workload.conjunctions([[name] for name in schema.names], attributes=schema), schema)
    return found.counts.tolist()


@settings(max_examples=settings.default.max_examples // 8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(bounds=DECIMALS, bins=st.sampled_from([1, 2, 3, 7, 10, 12, 20, 43, 100]))
@example(bounds=(0.0, 1.0), bins=10)
@example(bounds=(36.0, 38.0), bins=20)
@example(bounds=(0.0, 4.3), bins=43)
@example(bounds=(0.0, 1.0), bins=3)
@example(bounds=(0.1, 0.7), bins=100)
def test_a_value_on_an_edge_lies_in_the_bin_whose_name_says_so(tmp_path, bounds, bins):
    """In every reader and engine, one value on each printed edge makes one record in each bin."""
    column = Binned(column="a", lower=bounds[0], upper=bounds[1], bins=bins)
    texts = [repr(column.lower), *starting(column)[1:]]
    for form, table in readings(texts, tmp_path):
        assert (form, counted(column, table)) == (form, [1] * bins)
    below = np.nextafter([float(text) for text in texts[1:]], -np.inf)
    assert column.place(below).tolist() == list(range(bins - 1))
    assert column.place(np.array([column.upper])).tolist() == [bins - 1]


def test_bins_whose_names_are_alike_follow_the_bounds_as_they_are_written():
    column = Binned(column="t", lower=1704067200000.1, upper=1704067200000.9, bins=8)
    assert len(set(column.cuts)) == 1
    edges = [Fraction(1704067200000) + Fraction(k, 10) for k in range(1, 9)]
    assert column.place(np.array([float(edge) for edge in edges])).tolist() == [0, 1, 2, 3, 4, 5, 6, 7]


def test_bins_are_what_their_names_say():
    rate = Binned(column="rate", lower=0, upper=1, bins=10)
    assert rate.encode([0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.99, 1]).values.tolist() == [0, 1, 2, 3, 4, 6, 7, 9, 9]
    assert rate.names[0] == "rate in [0, 0.1)"
    assert rate.names[9] == "rate in [0.9, 1]"


@settings(max_examples=40)
@given(lower=st.floats(-50, 50), width=st.floats(0.5, 200), bins=st.integers(1, 90))
def test_whole_numbers_reach_the_bins_that_they_reach(lower, width, bins):
    inside = np.arange(np.ceil(lower), np.floor(lower + width) + 1)
    if not len(inside):
        with pytest.raises(InvalidInput, match="no whole number"):
            Binned(column="v", lower=lower, upper=lower + width, bins=bins, whole=True)
        return
    column = Binned(column="v", lower=lower, upper=lower + width, bins=bins, whole=True)
    found = column.encode(inside)
    assert not found.problems.any()
    assert column.reachable.tolist() == np.unique(found.values).tolist()
    assert (np.diff(found.values) >= 0).all()


def test_what_a_number_must_be():
    whole = Binned(column="v", lower=0.5, upper=9.5, bins=3, whole=True, out_of_bounds="clip", unit="cm")
    found = whole.encode([-3, 0, 1, 9, 40, 2.5, None, float("nan"), float("inf"), "7"])
    assert found.values.tolist() == [0, 0, 0, 2, 2, 0, 0, 0, 0, 2]
    assert found.problems.tolist() == [0, 0, 0, 0, 0, 5, 1, 1, 2, 0]
    assert whole.reason(5) == "v: is not a whole number; must be a whole number in [0.5, 9.5] (unit: cm)"
    reject = Binned(column="v", lower=0, upper=9, bins=3)
    assert reject.encode([-1, 10, 9]).problems.tolist() == [3, 3, 0]


def test_unequal_bins():
    """Edges are exact, each belongs to the bin above it, the last one to the last bin."""
    age = Binned(column="age", edges=(0, 18, 25, 40, 65, 100), unit="years")
    assert age.names == ("age in [0, 18)", "age in [18, 25)", "age in [25, 40)", "age in [40, 65)", "age in [65, 100]")
    assert age.encode([0, 17.999, 18, 24, 25, 64, 65, 100, 101, None]).values.tolist() == [0, 0, 1, 1, 2, 3, 4, 4, 0, 0]
    assert age.encode([-1, 100, 101]).problems.tolist() == [3, 0, 3]
    assert age.reason(3) == "age: is out of bounds; must be in [0, 100] (unit: years)"
    assert (age.lower, age.upper, age.count, age.edges) == (0, 100, 5, (0, 18, 25, 40, 65, 100))
    assert age == Binned(column="age", edges=np.array([0, 18, 25, 40, 65, 100]), unit="years")
    assert age != Binned(column="age", edges=(0, 18, 25, 40, 66, 100), unit="years")
    again = dataclasses.replace(age, unit="")
    assert (again.bins, again.unit) == (age.bins, "")
    with pytest.raises(InvalidInput, match="edges: are given together with lower, upper and bins"):
        dataclasses.replace(age, edges=(0, 1))
    thirds = Binned(column="v", edges=(0, 0.1, 1 / 3, 1))
    assert thirds.names == ("v in [0, 0.1)", "v in [0.1, 0.3333333333333333)", "v in [0.3333333333333333, 1]")
    assert thirds.encode([np.nextafter(0.1, 0), 0.1, 1 / 3]).values.tolist() == [0, 1, 2]
    clipped = Binned(column="v", edges=(0.5, 0.9, 2.5, 2.7, 9.5), whole=True, out_of_bounds="clip")
    assert clipped.encode([-3, 0, 1, 2, 3, 40, 2.5]).values.tolist() == [1, 1, 1, 1, 3, 3, 0]
    assert clipped.reachable.tolist() == [1, 3]
    schema = Schema((age, Bit(column="b")))
    assert schema.attribute("age", 30) == schema.find("age in [25, 40)") == 2
    assert schema.encode({"age": [70, 18], "b": [1, 0]}).table().to_pylist() == [
        {"age": "[65, 100]", "b": True}, {"age": "[18, 25)", "b": False}]


@settings(max_examples=40)
@given(edges=st.lists(st.floats(-1e300, 1e300) | st.floats(-100, 100) | st.floats(-1e16, 1e16), min_size=2, max_size=9,
                      unique=True), whole=st.booleans())
def test_unequal_bins_are_intervals(edges, whole):
    edges = sorted(each + 0.0 for each in edges)
    if whole and max(-edges[0], edges[-1]) > 2**53:
        with pytest.raises(InvalidInput, match="where 64-bit floats have all whole numbers"):
            Binned(column="v", edges=edges, whole=True)
        return
    inside = np.array([v for e in edges for v in (e, np.nextafter(e, -np.inf), np.nextafter(e, np.inf), np.ceil(e))
                       if edges[0] <= v <= edges[-1] and (not whole or v == np.floor(v))])
    if not len(inside):
        with pytest.raises(InvalidInput, match="not a whole number"):
            Binned(column="v", edges=edges, whole=whole)
        return
    column = Binned(column="v", edges=edges, whole=whole)
    found = column.encode(inside)
    assert not found.problems.any()
    starts, ends = np.array(edges)[found.values], np.array(edges)[found.values + 1]
    assert (starts <= inside).all()
    assert ((inside < ends) | (ends == edges[-1])).all()
    assert column.reachable.tolist() == np.unique(found.values).tolist()
    assert len(set(column.names)) == column.count


@pytest.mark.parametrize("bins", [
    {"lower": 1, "upper": 1e17, "bins": 28}, {"lower": 1, "upper": 2.0**55 + 8, "bins": 9}, {"edges": (0, 5, 2.0**54)}])
def test_whole_numbers_that_doubles_skip_are_refused(bins):
    """Beyond 2^53 a bin may hold whole numbers that no double is: then what is reachable, and so a record's cell, would
    hang on rounding.
    """
    with pytest.raises(InvalidInput, match="bounds must be in"):
        Binned(column="v", whole=True, **bins)
    assert Binned(column="v", **bins).encode([bins.get("upper", 2.0**54)]).values.tolist()[0] > 0


@settings(max_examples=60)
@given(lower=st.integers(-(2**53), 2**53), width=st.integers(1, 2**53), bins=st.integers(1, 60))
def test_every_whole_number_has_a_cell(lower, width, bins):
    upper = min(lower + width, 2**53)
    if upper <= lower:
        return
    column = Binned(column="v", lower=lower, upper=upper, bins=bins, whole=True)
    near = {int(v) + step for v in np.linspace(lower, upper, bins + 1) for step in range(-2, 3)}
    found = column.encode(sorted(float(v) for v in near if lower <= v <= upper))
    assert not found.problems.any()
    assert set(found.values.tolist()) <= set(column.reachable.tolist())
    cells = cells_of(column, found.values)
    assert (column.reachable[cells] == found.values).all()


def test_levels_over_fewer_and_more_bins():
    fewer = Levels(column="v", levels=("a", "b", "c"), bins=2)
    assert fewer.names == ("v = a", "v = b or c")
    assert fewer.encode(["c", "b", "a", "x", ""]).values.tolist() == [1, 1, 0, 0, 0]
    assert Levels(column="v", levels=(0, 1)).encode([1, 0]).values.tolist() == [1, 0]


@pytest.mark.parametrize(("make", "field"), [
    (lambda: Binned(column="", lower=0, upper=1, bins=2), "column"),
    (lambda: Binned(column="v", lower=1, upper=1, bins=2), "upper"),
    (lambda: Binned(column="v", lower=0, upper=float("inf"), bins=2), "upper"),
    (lambda: Binned(column="v", lower=-1e308, upper=1e308, bins=2), "upper"),
    (lambda: Binned(column="v", lower=0, upper=1, bins=0), "bins"),
    (lambda: Binned(column="v", lower=0, upper=1, bins=1 << 17), "bins"),
    (lambda: Binned(column="v", lower=0, upper=1, bins=2, out_of_bounds="drop"), "out_of_bounds"),
    (lambda: Binned(column="v", lower=0, upper=1, bins=2, unit=3), "unit"),
    (lambda: Binned(column="v"), "lower"),
    (lambda: Binned(column="v", lower=0, upper=1), "bins"),
    (lambda: Binned(column="v", lower=0, upper=2, bins=2, edges=(0, 1, 2)), "edges"),
    (lambda: Binned(column="v", bins=2, edges=(0, 1, 2)), "edges"),
    (lambda: Binned(column="v", edges=(0,)), "edges"),
    (lambda: Binned(column="v", edges=(0, 1, 1)), "edges"),
    (lambda: Binned(column="v", edges=(0, 2, 1)), "edges"),
    (lambda: Binned(column="v", edges=(0, float("inf"))), "edges"),
    (lambda: Binned(column="v", edges=(0, float("nan"), 1)), "edges"),
    (lambda: Binned(column="v", edges=(0, "1")), "edges"),
    (lambda: Binned(column="v", edges="0 1"), "edges"),
    (lambda: Binned(column="v", edges={0: 1, 1: 2}), "edges"),
    (lambda: Binned(column="v", edges=np.zeros((2, 2))), "edges"),
    (lambda: Binned(column="v", edges=range(1 << 17)), "edges"),
    (lambda: Binned(column="v", edges=(0.1, 0.9), whole=True), "whole"),
    (lambda: Binned(column="v", lower=0, upper=3, bins=(0, 1, 2)), "upper"),
    (lambda: Binned(column="v", lower=0, upper=1, bins=2, whole="no"), "whole"),
    (lambda: Schema.bits(10**9), "count"),
    (lambda: Levels(column="v", levels=("a",)), "levels"),
    (lambda: Levels(column="v", levels=("a", "b"), bins=0), "bins"),
    (lambda: Bit(column=7), "column"),
    (lambda: Schema(()), "columns"),
    (lambda: Schema((Bit(column="a"), Bit(column="a"))), "columns"),
    (lambda: Schema((Bit(column="a"), "b")), "columns"),
    (lambda: Schema((Bit(column="a = b"), Levels(column="a", levels=("b", "c")))), "columns"),
    (lambda: Schema.bits(0), "count"),
])
def test_columns_that_are_refused(make, field):
    with pytest.raises(InvalidInput) as error:
        make()
    assert error.value.field == field


# ---- attributes


def test_cells_and_attributes_fit_each_other():
    assert SMALL.names == ("sex = female", "sex = male", "age in [0, 25)", "age in [25, 50)", "age in [50, 75)",
                           "age in [75, 100]", "smoker", "kin = wife", "kin bin 1 (unreachable)", "kin = child",
                           "kin bin 3 (unreachable)", "kin = other", "rich")
    assert SMALL.sizes == (2, 4, 2, 3, 2)
    assert [each.tolist() for each in SMALL.cell_attributes] == [[0, 1], [2, 3, 4, 5], [-1, 6], [7, 9, 11], [-1, 12]]
    assert [each.tolist() for each in SMALL.groups] == [[0, 1], [2, 3, 4, 5], [7, 8, 9, 10, 11]]
    assert SMALL.cell_of.tolist() == [0, 1, 0, 1, 2, 3, 1, 0, -1, 1, -1, 2, 1]
    assert np.flatnonzero(SMALL.null_record).tolist() == [0, 2, 7]


def test_which_attribute_a_value_sets():
    assert [SMALL.attribute("sex", "male"), SMALL.attribute("age", 80), SMALL.attribute("kin", "other"),
            SMALL.attribute("rich", 1)] == [1, 5, 11, 12]
    assert SMALL.find("kin = child") == 9
    for call, words in [(lambda: SMALL.attribute("agee", 3), "did you mean 'age'"),
                        (lambda: SMALL.attribute("age", 101), r"must be in \[0, 100\]"),
                        (lambda: SMALL.attribute("smoker", False), "the value false has no attribute"),
                        (lambda: SMALL.find("sex = mal"), "did you mean 'sex = male'")]:
        with pytest.raises(InvalidInput, match=words):
            call()


def test_a_schema_stands_in_a_manifest():
    columns = {}
    written = encode(SMALL, columns)
    types = {each.__name__: each for each in (Schema, Binned, Levels, Bit)}
    assert decode(written, types, columns) == SMALL


def test_bins_in_a_manifest():
    """Equal widths are written as ever, so that no digest changes; edges stand where the number of bins stood."""
    equal = {"column": "v", "lower": 0.0, "upper": 1.0, "bins": 4, "whole": False, "out_of_bounds": "reject",
             "unit": ""}
    assert encode(Binned(column="v", lower=0, upper=1, bins=4), {}) == {"type": "Binned", **equal}
    given_ = Binned(column="v", edges=(0, 1 / 3, 1))
    written = canonical(encode(given_, {}))
    assert written == canonical({"type": "Binned", **equal, "bins": [0, 1 / 3, 1]})
    back = decode(json.loads(written), {"Binned": Binned}, {})
    assert back == given_
    assert canonical(encode(back, {})) == written


# ---- records


def test_a_value_that_is_not_accepted_refuses_the_table():
    """By the first column of the schema that has one, with its limit, and without a word about the value or its row."""
    table = people(6).to_pydict()
    table["age"][4], table["kin"][1], rejected = 131.0, "uncle", {}
    with pytest.raises(InvalidInput) as error:
        SMALL.encode(table, rejected=rejected)
    assert str(error.value).startswith("age: the column has a value that it does not accept; must be in [0, 100]; or ")
    assert rejected == {"5": "age: is out of bounds; must be in [0, 100]",
                        "2": "kin: is not a level; must be one of wife, child, other"}


def test_an_unusable_row_is_the_null_record_and_changes_nobody_else():
    table = people(50).to_pydict()
    before = SMALL.encode(table).cells
    table["age"][7] = None
    table["sex"][9] = "MALE"
    rejected = {}
    after = SMALL.encode(table, unusable="null", rejected=rejected).cells
    others = np.delete(np.arange(50), [7, 9])
    assert np.array_equal(after[others], before[others])
    assert not after[[7, 9]].any()
    assert set(rejected) == {"8", "10"}


def test_n_is_public_and_stays():
    table, rejected = people(5), {}
    more = SMALL.encode(table, records=8, unusable="null")
    assert more.records == 8
    assert not more.cells[5:].any()
    fewer = SMALL.encode(table, records=3, unusable="null", rejected=rejected)
    assert np.array_equal(fewer.cells, more.cells[:3])
    assert rejected == dict.fromkeys(("row 4", "row 5"), "beyond the declared number of rows")
    with pytest.raises(InvalidInput, match="rows beyond the records"):
        SMALL.encode(table, records=3)


def test_records_by_id():
    table = people(4).append_column("who", pa.array(["ann", "eve", "bob", "ann"]))
    rejected = {}
    found = SMALL.encode(table, records=Roster.from_ids(["bob", "cid", "ann"]), id="who", unusable="null",
                         rejected=rejected)
    alone = SMALL.encode(people(4)).cells
    assert np.array_equal(found.cells, [alone[2], np.zeros(5), alone[0]])
    assert rejected == {"row 2": "no id of the public list", "ann (row 4)": "a later row of the same id"}
    for refused, field in [({"id": "who"}, "records"), ({"id": "sex", "records": 4}, "id")]:
        with pytest.raises(InvalidInput) as error:
            SMALL.encode(table, **refused)
        assert error.value.field == field


@pytest.mark.parametrize(("table", "words"), [
    ({"sex": ["male"]}, "no such column"),
    (people(1).drop_columns(["age"]).append_column("ages", pa.array([3.0])), "did you mean 'ages'"),
    (people(2).slice(0, 0), "has no rows"),
    (people(2).set_column(1, "age", pa.array([[1], [2]])), "must be numbers"),
])
def test_tables_that_cannot_be_read(table, words):
    with pytest.raises(InvalidInput, match=words):
        SMALL.encode(table)
    with pytest.raises(InvalidInput, match="unusable"):
        SMALL.encode(people(2), unusable="drop")


def test_bits_without_names():
    """A table of a schema of bits; for other columns it is told what to give instead."""
    bits = study(20, 3)
    schema = Schema.bits(3)
    for given_ in (bits, bits.astype(int), bits.tolist(), PackedBits.pack(bits)):
        assert np.array_equal(schema.encode(given_).packed().unpack(), bits)
    assert schema.encode(bits, records=22, unusable="null").records == 22
    for given_ in (np.zeros((3, SMALL.attributes)), [[0] * SMALL.attributes], PackedBits.pack([[0] * 13])):
        with pytest.raises(InvalidInput, match=r"no column names; must .* columns sex, age, .*PackedBits\.pack"):
            SMALL.encode(given_)
    with pytest.raises(InvalidInput, match="table: the records are Codes, which are encoded already; use the Codes "
                                           "directly"):
        SMALL.encode(codes(3))
    for refused, words in [([[0, 1, 2]], "x2: the column has a value"), ([[0, 1], [0]], "no column names"),
                           (np.zeros(3), "no column names"), ([[0, 1]], "no column names")]:
        with pytest.raises(InvalidInput, match=words):
            schema.encode(refused)
    odd = [[1, 1, 1], [1, 2, 1], [0, 1, None], [1, "x", 0], [1, 0, 0]]
    assert schema.encode(odd, unusable="null").cells.tolist() == [[1, 1, 1], [0] * 3, [0] * 3, [0] * 3, [1, 0, 0]]


@pytest.mark.parametrize("wrong", [None, "x", 3, 2.5, [None], {"a": 1}, Path("x"), np.int64(3), np.zeros((2, 2)),
                                   people(1).to_pandas()], ids=lambda each: type(each).__name__)
def test_other_types_are_named(wrong):
    table = {"sex": ["male"], "age": [1], "smoker": [1], "kin": ["wife"], "rich": [0]}
    calls = {
        "column": lambda: SMALL.attribute(wrong, 3), "attribute": lambda: SMALL.find(wrong),
        "id": lambda: SMALL.encode(table, records=1, id=wrong, unusable="null"),
        "schema": lambda: Codes(schema=wrong, cells=codes(1).cells), "weights": lambda: codes(3).weighted(wrong),
        "columns": lambda: Schema((wrong,)), "edges": lambda: Binned(column="v", edges=wrong),
    }
    if wrong is None:
        del calls["edges"]
    else:
        calls["rejected"] = lambda: SMALL.encode(table, rejected=wrong)
    if isinstance(wrong, dict):
        del calls["rejected"]
    if not isinstance(wrong, str):
        calls["attribute "] = lambda: SMALL.literals(wrong)
    for field, call in calls.items():
        with pytest.raises(InvalidInput) as error:
            call()
        if field != "id" or not isinstance(wrong, str):
            assert error.value.field == field.strip()


# ---- codes and packed bits


def test_codes_pack_into_one_attribute_for_each_column_of_bins():
    found = codes(130)
    bits = found.packed().unpack()
    for group in SMALL.groups:
        assert (bits[:, group].sum(axis=1) == 1).all()
    table = people(130).to_pydict()
    assert bits[:, 6].tolist() == table["smoker"]
    assert bits[:, 12].astype(int).tolist() == table["rich"]
    assert [SMALL.names[1 - row[0]] for row in bits[:, :2].astype(int)] == [f"sex = {each}" for each in table["sex"]]


def test_distinct_records_lose_nothing():
    found = codes(700)
    cells, counts = found.distinct()
    again, numbers, expected = np.unique(found.cells, axis=0, return_index=True, return_counts=True)
    order = np.argsort(numbers)
    assert np.array_equal(cells, again[order])
    assert np.array_equal(counts, expected[order])
    weights = np.arange(700.0)
    assert np.allclose(found.weighted(weights)[1].sum(), weights.sum())


@given(bits=st.integers(1, 140).flatmap(lambda n: st.integers(1, 9).flatmap(
    lambda d: st.lists(st.lists(st.booleans(), min_size=d, max_size=d), min_size=n, max_size=n))))
@settings(max_examples=30)
def test_packed_bits_come_back(bits):
    packed = PackedBits.pack(bits)
    assert packed.unpack().tolist() == bits
    assert packed.record(len(bits) - 1).tolist() == bits[-1]
    assert (packed.records, packed.attributes) == (len(bits), len(bits[0]))


def test_many_records_are_packed_in_blocks():
    bits = study(20000, 3)
    assert np.array_equal(PackedBits.pack(bits).unpack(), bits)


def study(records: int, attributes: int) -> np.ndarray:
    from confide.privacy.noise.simulated import study_generator

    return study_generator(2, "bits").random((records, attributes)) < 0.4


@pytest.mark.parametrize("make", [
    lambda: PackedBits.pack([[0, 2]]), lambda: PackedBits.pack([0, 1]), lambda: PackedBits.pack([[0], [0, 1]]),
    lambda: PackedBits.pack([["a"]]), lambda: PackedBits.pack(np.zeros((0, 3))),
    lambda: PackedBits(words=np.zeros((2, 2), np.uint64), records=64),
    lambda: PackedBits(words=np.full((2, 1), 8, np.uint64), records=3),
    lambda: PackedBits(words=np.zeros((2, 1)), records=3),
    lambda: PackedBits.pack([[1]]).record(1),
    lambda: Codes(schema=SMALL, cells=np.zeros((3, 5))),
    lambda: Codes(schema=SMALL, cells=np.zeros((3, 4), np.uint16)),
    lambda: Codes(schema=SMALL, cells=np.zeros((0, 5), np.uint16)),
    lambda: Codes(schema=SMALL, cells=np.full((1, 5), 2, np.uint16)),
])
def test_records_that_are_none(make):
    with pytest.raises(InvalidInput):
        make()


def test_no_record_is_shown():
    found = codes(5)
    assert repr(found) == "Codes(5 records of 5 columns)"
    assert repr(found.packed()) == "PackedBits(records=5)"


def test_one_text_says_one_thing():
    with pytest.raises(InvalidInput, match="'a != x' would have two meanings"):
        Schema((Levels(column="a", levels=("x", "y", "z")), Bit(column="a != x")))
    with pytest.raises(InvalidInput, match="'not b' would have two meanings"):
        Schema((Bit(column="b"), Bit(column="not b")))
    commas = Schema((Levels(column="job", levels=("a", "b", "a, b")), Bit(column="owner")))
    assert commas.literals("job in {a, b}") == ((2, False),)
    assert commas.literals('job in {"a, b"}') == ((2, True),)
    assert commas.literals('job not in {"a, b", a}') == ((1, True),)
    assert commas.literals("job = a, b") == ((2, True),)


def test_sets_that_leave_out_thousands_are_refused():
    fine = Schema((Binned(column="v", lower=0, upper=8000, bins=8000), Bit(column="b")))
    assert len(fine.literals("v in [0, 4000)")) == 4000
    with pytest.raises(InvalidInput, match=r"leaves out 7,000 bins or levels; must be at most 4,096"):
        fine.literals("v in [0, 1000)")


@pytest.mark.filterwarnings("default")
def test_many_null_records_are_reported_to_the_custodian() -> None:
    """Also where nobody looks at `rejected`; one in a hundred, as in a campaign, is nothing to warn of."""
    schema = Schema((Binned(column="age", lower=0, upper=100, bins=10),))
    for ages, records in (([31] * 195 + [131] * 5, 200), ([31] * 195, 200)):
        with pytest.warns(UserWarning, match="^5 of 200 records have no usable row and count as the null record"):
            schema.encode({"age": ages}, records=records, unusable="null")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schema.encode({"age": [31] * 198 + [131]}, records=200, unusable="null")
