"""Nobody's row changes how another's is read: every type of column, and every kind of value in a column of objects."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.contract import InvalidInput
from confide.tables import Category, Design, Numeric, Roster, open_table, read_records
from confide.tables._cells import _NUMBER, integers, numbers, strings
from confide.tables._values import as_array, cells

ROLES = [
    Numeric(column="v", lower=0, upper=0.1),
    Numeric(column="v", lower=-1, upper=72.7, center=0, out_of_bounds="clip"),
    Numeric(column="v", lower=0, upper=2.0**53 + 2, center=0),
    Category(column="v", levels=("0", "1", "0.1")),
    Category(column="v", levels=("false", "true")),
]
ROSTERS = [Roster(3), Roster.from_ids(["1", "2", str(2**62)]), Roster.from_ids(["1", "ann", "0.1"])]

TEXTS = ["1", "0.1", "-0", " 2 ", "x", "", "inf", "nan", "-Infinity", "1e400", "True", "ann", "\ufeff1", "1\x00",
         "infx", str(2**53 + 1), str(2**62), str(2**63), str(-(2**63)), "9" * 30, "0x1", "1_0", "+1", "."]
BYTES = [*map(str.encode, TEXTS), b"\xff", b"\xff1"]
FLOATS = [0.1, -0.0, 0.0, 1.0, 72.7, 72.70000457763672, math.nan, math.inf, -math.inf, 1.5, -1.0]
DAY = datetime.date(2020, 1, 1)


def whole(bits, signed):
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return [i for i in (0, 1, 2, 3, -1, 72, 73, 2**53 + 1, 2**53 + 3, 2**62, low, high) if low <= i <= high]


def exact(precision, scale):
    limit = Decimal(10) ** (precision - scale)
    unit = Decimal(1).scaleb(-scale)
    found = [Decimal(text) for text in ("0", "1", "-1", "0.1", "7.5", "72.7", "2")]
    return [*(value for value in found if abs(value) < limit and -value.as_tuple().exponent <= scale), unit, 3 * unit]


PLAIN = {
    **{f"int{bits}": (getattr(pa, f"int{bits}")(), whole(bits, True)) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (getattr(pa, f"uint{bits}")(), whole(bits, False)) for bits in (8, 16, 32, 64)},
    "float16": (pa.float16(), [np.float16(f) for f in FLOATS]),
    "float32": (pa.float32(), [*FLOATS, 1e30]),
    "float64": (pa.float64(), [*FLOATS, 1e300, 2.0**53, 5e-324]),
    **{f"decimal{bits} {precision} {scale}": (getattr(pa, f"decimal{bits}")(precision, scale), exact(precision, scale))
       for bits, precision, scale in ((128, 5, 0), (128, 5, 1), (128, 20, 12), (128, 38, 30), (256, 50, 2),
                                      (256, 76, 60))},
    "bool": (pa.bool_(), [True, False]),
    "string": (pa.string(), TEXTS),
    "large_string": (pa.large_string(), TEXTS),
    "string_view": (pa.string_view(), TEXTS),
    "binary": (pa.binary(), BYTES),
    "large_binary": (pa.large_binary(), BYTES),
    "binary_view": (pa.binary_view(), BYTES),
    "fixed_size_binary": (pa.binary(2), [b" 1", b"\xff1", b"0 ", b"xx"]),
    "date": (pa.date32(), [DAY, datetime.date(1, 1, 1)]),
    "timestamp": (pa.timestamp("us"), [datetime.datetime(2020, 1, 1)]),
    "null": (pa.null(), [None]),
    "list": (pa.list_(pa.int64()), [[1], []]),
    "struct": (pa.struct({"a": pa.int64()}), [{"a": 1}, {"a": None}]),
}


def encoded(kind):
    return lambda values: pa.array(values, kind).dictionary_encode()


COLUMNS = {
    **{name: ((lambda values, kind=kind: pa.array(values, kind)), pool) for name, (kind, pool) in PLAIN.items()},
    **{f"dictionary of {name}": (encoded(PLAIN[name][0]), PLAIN[name][1])
       for name in ("int64", "uint64", "float64", "string", "binary", "decimal128 5 1", "date")},
    "run ends": (lambda values: pa.RunEndEncodedArray.from_arrays(
        np.arange(1, len(values) + 1, dtype=np.int32), pa.array(values, pa.float32())), PLAIN["float32"][1]),
    "chunks": (lambda values: pa.chunked_array([encoded(pa.string())(values[:1]), encoded(pa.string())(values[1:])]),
               TEXTS),
    "objects": (lambda values: [*values], [*TEXTS, *BYTES, *FLOATS, *whole(64, True), True, DAY, Decimal("0.10"), [1]]),
}


def reading(column):
    """What each row is to every role and roster, bit by bit; or the error, where the type is of no use."""
    found = []
    for role in ROLES:
        try:
            values, problems = role.encode(column)
            found.append([(value.tobytes(), int(problem)) for value, problem in zip(values, problems, strict=True)])
        except InvalidInput as error:
            found.append(str(error))
    for roster in ROSTERS:
        try:
            found.append(roster.index(column).tolist())
        except InvalidInput as error:
            found.append(str(error))
    return found


def without(found, row):
    return [rows if isinstance(rows, str) else [*rows[:row], *rows[row + 1:]] for rows in found]


@pytest.mark.parametrize("name", COLUMNS)
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_a_row_of_any_type_reads_the_same_in_any_company(name, data):
    build, pool = COLUMNS[name]
    cell = st.sampled_from([*pool, None])
    values = data.draw(st.lists(cell, min_size=2, max_size=12))
    row, other = data.draw(st.integers(0, len(values) - 1)), data.draw(cell)
    before = reading(build(values))
    assert without(reading(build([*values[:row], other, *values[row + 1:]])), row) == without(before, row)
    alone = reading(build(values[row : row + 1]))
    assert [rows if isinstance(rows, str) else rows[row : row + 1] for rows in before] == alone


@pytest.mark.parametrize("kind", [pa.float32(), pa.float16()], ids=str)
def test_a_narrow_float_is_the_decimal_that_it_prints_as_whatever_stands_beside_it(kind):
    role = Numeric(column="v", lower=0.3, upper=4.3)
    wanted = role.encode([4.3, 0.3]).values.tolist()
    numpy = np.dtype(kind.to_pandas_dtype()).type
    assert float(numpy(4.3)) > 4.3
    for company in ([], [None], [numpy(9.0)]):
        got = role.encode(pa.array([numpy(4.3), numpy(0.3), *company], kind))
        assert got.problems[:2].tolist() == [0, 0]
        assert got.values[:2].tolist() == wanted
    assert role.encode([numpy(4.3), numpy(0.3)]).values.tolist() == wanted
    assert role.encode(np.array([4.3, 0.3], numpy)).values.tolist() == wanted
    beyond = np.nextafter(numpy(4.3), numpy(9))
    assert role.encode(pa.array([beyond], kind)).problems.tolist() == [3]
    assert numbers("v", pa.array([numpy(x) for x in ("nan", "inf", "-inf", "-0.0")], kind)).tolist()[1:] == [
        np.inf, -np.inf, 0.0]
    assert strings("v", pa.array([numpy(0.1), numpy(2), None], kind)).to_pylist() == ["0.1", "2", None]


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=9))
def test_every_float_of_32_bits_is_the_decimal_that_it_prints_as(values):
    singles = np.array(values, np.float32)
    wanted = [float(str(value)) for value in singles]
    assert numbers("v", pa.array(singles)).tolist() == wanted
    assert numbers("v", as_array(list(singles))).tolist() == wanted


@given(st.lists(st.from_regex(_NUMBER.removesuffix("$") + r"\Z"), min_size=1, max_size=5))
def test_a_text_that_spells_a_number_is_the_nearest_float(texts):
    got = numbers("v", pa.array([*texts, "infx", "1e"]))
    assert got[:-2].tolist() == [float(text) for text in texts]
    assert np.isnan(got[-2:]).all()


@given(st.lists(st.integers(-(2**63) + 1, 2**63 - 1) | st.integers(-(10**20), 10**20)))
def test_whole_numbers_of_any_length(values):
    got = integers("v", pa.array([str(value) for value in values], pa.string()), 0)
    assert got.tolist() == [value if abs(value) < 2**63 else 0 for value in values]
    assert numbers("v", cells(values)).tolist() == [float(value) for value in values]


@given(st.lists(st.decimals(-(10**9), 10**9, places=12), min_size=1, max_size=6), st.integers(12, 25))
def test_decimals_are_read_by_their_value_whatever_the_scale(values, scale):
    column = pa.array(values, pa.decimal256(60, scale))
    assert numbers("v", column).tolist() == [float(value) for value in values]
    assert strings("v", column).to_pylist() == strings("v", cells(values)).to_pylist()
    assert strings("v", column[:1]).to_pylist() == [strings("v", pa.array(values[:1]))[0].as_py()]


def test_the_spelling_of_decimals():
    spelled = {"7": "7", "7.00": "7", "7.50": "7.5", "0E-10": "0", "-0.000": "0", "1E+3": "1000", "100": "100",
               "1.500E-9": "1.5E-9", "1E+100": "1E+100", "Infinity": "inf", "-Infinity": "-inf", "NaN": None,
               "sNaN": None, "1E+999999": "1E+999999"}
    assert cells([Decimal(text) for text in spelled]).to_pylist() == list(spelled.values())


WEIRD = {
    "none": None, "nan": math.nan, "NA": pd.NA, "NaT": pd.NaT, "date": DAY, "time": datetime.datetime(2020, 1, 1),
    "timestamp": pd.Timestamp("2020"), "timedelta": pd.Timedelta(1), "huge": 10**5000, "big": -(10**30),
    "surrogate": "\ud800", "bytes": b"\xff", "list": [1], "ragged": [[1], [2, 3]], "dict": {"a": 1}, "set": {1},
    "array": np.array([1, 2]), "array of nothing": np.array(3), "complex": 1j, "decimal nan": Decimal("NaN"),
    "decimal snan": Decimal("sNaN"), "decimal huge": Decimal("1E+999999"), "decimal tiny": Decimal("1e-70"),
    "half": Decimal("7.5"), "fraction": Fraction(1, 2), "object": object(), "inf": math.inf,
    "long double": np.longdouble("1e4000"), "np timedelta": np.timedelta64(3), "np datetime": np.datetime64("2020"),
    "text": "x", "long text": "9" * 100_000, "nul": "1\x00", "type": int, "interval": pd.Interval(0, 1),
    "false": False, "float": 1.5, "period": pd.Period("2020"),
}
HONEST = {
    "ints": range(1, 9), "floats": map(float, range(1, 9)), "texts": map(str, range(1, 9)),
    "decimals": [Decimal(i) for i in range(1, 9)], "scaled": [Decimal(f"{i}.00") for i in range(1, 9)],
    "bytes": [b"%d" % i for i in range(1, 9)], "numpy": list(np.arange(1, 9, dtype=np.int16)),
}
HONEST = {name: list(values) for name, values in HONEST.items()}
DESIGN = Design(features=(Numeric(column="age", lower=0, upper=10), Category(column="kind", levels=tuple("12345678"))))
WAGE = Numeric(column="wage", lower=0, upper=10)
NAMES = ("id", "age", "kind", "wage")


def objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def pandas_objects(columns):
    return pd.DataFrame({name: pd.Series(objects(values), dtype=object) for name, values in columns.items()})


def pandas_numpy_backed(columns):
    return {name: pd.Index(objects(values), dtype=object) for name, values in columns.items()}


def polars_objects(columns):
    return pl.DataFrame([pl.Series(name, values, dtype=pl.Object) for name, values in columns.items()])


FRAMES = {
    "lists": dict,
    "numpy": lambda columns: {name: objects(values) for name, values in columns.items()},
    "masked": lambda columns: {name: np.ma.MaskedArray(objects(values)) for name, values in columns.items()},
    "pandas": pandas_objects,
    "pandas index": pandas_numpy_backed,
    "pandas by id": lambda columns: pandas_objects(columns).set_index("id"),
    "polars": polars_objects,
}


def records(source):
    rejected = {}
    found = {}
    for batch in read_records(open_table(source), design=DESIGN, response=WAGE, roster=Roster(8), id="id",
                              rejected=rejected):
        for index, x, y in zip(batch.index.tolist(), batch.X, batch.y, strict=True):
            found[index] = (x.tobytes(), y.tobytes())
    return found, rejected


TYPED = records(pa.table(dict.fromkeys(NAMES, pa.array(range(1, 9)))))[0]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("kind", HONEST)
def test_objects_read_as_the_numbers_they_are(frame, kind):
    found, rejected = records(FRAMES[frame](dict.fromkeys(NAMES, HONEST[kind])))
    assert found == TYPED
    assert not rejected


@pytest.mark.parametrize(("frame", "column"), [
    *((frame, column) for frame in ("lists", "pandas") for column in NAMES),
    ("polars", "id"), ("numpy", "age"), ("masked", "kind"), ("pandas index", "wage"), ("pandas by id", "id"),
])
def test_one_weird_cell_rejects_its_row_and_nothing_else(frame, column):
    others = {index: record for index, record in TYPED.items() if index != 2}
    usable = {"half", "float", "decimal tiny", "false"} if column in {"age", "wage"} else set()
    for name, value in WEIRD.items():
        columns = {other: list(HONEST["decimals"]) for other in NAMES}
        columns[column][2] = value
        found, rejected = records(FRAMES[frame](columns))
        assert (found.pop(2, None) is not None) == (name in usable), name
        assert found == others, name
        assert set(rejected) == (set() if name in usable else {"row 3"} if column == "id" else {"3"}), name


class Seven(int):
    def __str__(self):
        raise RuntimeError

    __repr__ = __int__ = __index__ = __str__


def test_an_integer_of_a_class_of_its_own():
    assert cells([Seven(7), 8]).to_pylist() == ["7", "8"]


@pytest.mark.parametrize("other", ["x", "9", "8.0"])
def test_pandas_categories_are_read_one_by_one(other):
    def frame(last):
        return pd.DataFrame({"id": range(1, 9), "age": pd.Series([*range(1, 8), last], dtype="category"),
                             "kind": pd.Series([*range(1, 8), last], dtype="category"), "wage": range(1, 9)})
    expected = records(frame(8))[0]
    assert expected == TYPED
    expected.pop(7)
    for last in (other, None, DAY, 8.5, "\ud800"):
        found = records(frame(last))[0]
        found.pop(7, None)
        assert found == expected


@pytest.mark.parametrize("make", [
    lambda: pd.Series([1, 2, None], dtype="Int64"), lambda: pd.Series([1, 2, None], dtype="Float32"),
    lambda: pd.Series([1.0, 2.0, None]), lambda: pd.Series(["1", "2", None], dtype="string"),
    lambda: pd.Series(["1", "2", "\ud800"], dtype=pd.StringDtype("python")), lambda: pd.Series(["1", "2", None]),
    lambda: pd.Series([1, 2, None], dtype=pd.ArrowDtype(pa.int8())), lambda: pd.arrays.SparseArray([1.0, 2.0, np.nan]),
    lambda: pd.Categorical([1, 2, None]), lambda: pd.CategoricalIndex(["1", "2", "x"]),
    lambda: pl.Series([1, 2, None], dtype=pl.Int128), lambda: pl.Series(["1", "2", "x"], dtype=pl.Categorical),
    lambda: pl.Series([Decimal("1.00"), Decimal(2), None], dtype=pl.Decimal(9, 2)),
    lambda: np.array([1, 2, np.nan], ">f8"), lambda: np.array([1, 2, "1e4000"], np.longdouble),
    lambda: np.array(["1", "2", "\ud800"]), lambda: np.array([b"1", b"2", b"\xff"]),
    lambda: np.ma.MaskedArray([1, 2, 3], mask=[False, False, True]), lambda: (1, 2, None), lambda: range(1, 4),
    lambda: np.array([1, 2, 1j], dtype=object), lambda: pa.chunked_array([["1"], ["2", "x"]]),
])
def test_every_kind_of_array(make):
    column = make()
    role = Numeric(column="v", lower=0, upper=2.5)
    assert role.encode(column).problems[:2].tolist() == [0, 0]
    assert role.encode(column).problems[2] != 0
    assert Category(column="v", levels=("1", "2")).encode(column).values.tolist() == [0, 1, 0]
    assert Roster(2).index(column).tolist() == [0, 1, -1]


@pytest.mark.parametrize("column", [
    np.array(["2020"], "M8[Y]"), np.array([2**62]).view("M8[D]"), np.array([1], "m8[ns]"),
    pd.Series(pd.to_datetime(["2020"], utc=True)), pd.Series([DAY], dtype=pd.ArrowDtype(pa.date32())),
    pl.Series([DAY]),
])
def test_a_column_of_dates_is_an_error_by_its_type(column):
    with pytest.raises(InvalidInput, match="the column is of type"):
        ROLES[0].encode(column)
    # Beside the columns that are read, it does not matter.
    (batch,) = open_table({"born": column, "v": [0.1]}).batches(["v"])
    assert ROLES[0].encode(batch.column("v")).problems.tolist() == [0]


@pytest.mark.parametrize("column", [np.array([1j]), np.array([(1, 2)], "i4,i4"), [object()]])
def test_values_of_no_use_are_missing(column):
    assert as_array(column).null_count == 1


def test_an_index_outside_its_dictionary_is_a_missing_cell():
    indices = pa.py_buffer(np.array([0, 10**9, -1, 1], np.int32))
    column = pa.DictionaryArray.from_buffers(pa.dictionary(pa.int32(), pa.string()), 4, [None, indices],
                                             pa.array(["0.1", "0"]))
    assert ROLES[0].encode(column).problems.tolist() == [0, 1, 1, 0]


def test_integers_beyond_the_exact_floats_are_rounded_not_refused():
    values = [2**53 + 1, 2**53 + 3, 2**63 - 1]
    for column in (pa.array(values), pa.array([*values, None]), pa.array(values, pa.uint64()), values):
        assert numbers("v", as_array(column))[:3].tolist() == [float(value) for value in values]


def test_what_is_no_table_cannot_be_read_as_arrow():
    with pytest.raises(InvalidInput, match="Series cannot be read as Arrow"):
        open_table(pl.Series([1]))


def test_data_frames_with_names_that_stand_twice_and_an_index():
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "a", 7], index=pd.Index(["ann"], name="who"))
    source = open_table(frame)
    assert source.column_names == ("a", "a", "7", "who")
    assert next(source.batches(["who", "7"])).to_pydict() == {"who": ["ann"], "7": [3]}
    with pytest.raises(InvalidInput, match="2 columns"):
        source.batches(["a"])
