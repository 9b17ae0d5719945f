"""Public values survive the way to canonical JSON and back, and nothing but public values goes in."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum, StrEnum
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from confide.contract import InvalidInput, canonical, digest
from confide.contract.encoding import column_bytes, decode, encode, table_from_bytes


@dataclass(frozen=True)
class Inner:
    number: float
    whole: int
    word: str = ""
    maybe: float | None = None
    derived: int = field(init=False, default=7)


@dataclass(frozen=True, eq=False)
class Outer:
    inner: Inner
    values: tuple[Any, ...]
    table: np.ndarray


@dataclass(frozen=True)
class Decoys:
    """Field names that look like tags."""

    rational: str
    decimal: str
    integer: str
    float: str
    column: str


@dataclass(frozen=True)
class Typed:
    type: str


TYPES = {t.__name__: t for t in (Inner, Outer, Decoys)}


def there_and_back(value: Any) -> Any:
    columns: dict[str, bytes] = {}
    written = canonical(encode(value, columns))
    back = decode(json.loads(written), TYPES, columns)
    again: dict[str, bytes] = {}
    assert canonical(encode(back, again)) == written  # a loaded value is written as it was
    assert again == columns
    return back


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        equal = a.tobytes() == b.tobytes() if a.dtype.kind != "U" else a.tolist() == b.tolist()
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and equal
    if isinstance(a, Inner | Outer | Decoys):
        return type(a) is type(b) and all(same(v, vars(b)[k]) for k, v in vars(a).items())
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(v, b[k]) for k, v in a.items())
    if isinstance(a, list | tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, bool) or a is None or isinstance(b, bool) or b is None:
        return a is b
    if isinstance(a, float) and not (a.is_integer() and isinstance(b, int)):
        return isinstance(b, float) and (math.isnan(a) == math.isnan(b)) and (math.isnan(a) or repr(a) == repr(b))
    if isinstance(a, Decimal):
        return isinstance(b, Decimal) and str(a) == str(b)
    return (type(a) is type(b) and a == b) or (isinstance(a, float) and a == b)


numbers = st.floats() | st.integers() | st.integers(-(10**60), 10**60) | st.fractions() | st.decimals()
scalars = st.none() | st.booleans() | st.text() | numbers
arrays = hnp.arrays(
    dtype=hnp.boolean_dtypes() | hnp.integer_dtypes() | hnp.unsigned_integer_dtypes() | hnp.floating_dtypes(
        sizes=(16, 32, 64)), shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
inner = st.builds(Inner, number=st.floats(), whole=st.integers(), word=st.text(), maybe=st.none() | st.floats())
values = st.recursive(
    scalars | arrays | inner,
    lambda deeper: st.lists(deeper, max_size=3).map(tuple)
    | st.dictionaries(st.text(max_size=3) | st.sampled_from(["type", "float", "column", "mapping"]), deeper, max_size=3)
    | st.builds(Outer, inner=inner, values=st.tuples(deeper), table=arrays),
    max_leaves=6,
)


@given(values)
def test_everything_comes_back(value: Any) -> None:
    assert same(value, there_and_back(value))


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan, 0.0, -0.0, 1e20, 2.0**53, -(2.0**60), 1e308, 5e-324])
def test_floats_of_a_dataclass_come_back_as_floats(number: float) -> None:
    back = there_and_back(Inner(number, 1, maybe=number))
    assert isinstance(back.number, float)
    assert isinstance(back.maybe, float)
    assert repr(back.number) == repr(number)


@pytest.mark.parametrize("array", [
    np.zeros((0,)), np.zeros((0, 3)), np.arange(6).reshape(2, 3), np.arange(12.0).reshape(3, 4)[:, ::2],
    np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.array(2.5), np.array([True, False]), np.array(["a", "bcd", ""]),
    np.array([1.5, -2.0], dtype=">f8"), np.array([np.nan, -0.0, np.inf]), np.array([2**64 - 1], dtype=np.uint64),
], ids=lambda a: f"{a.dtype.str}{a.shape}")
def test_arrays_of_all_shapes(array: np.ndarray) -> None:
    assert same(np.array(array), there_and_back(array))


def test_columns_are_named_by_their_bytes() -> None:
    columns: dict[str, bytes] = {}
    first, second = encode({"a": np.arange(3.0), "b": np.arange(3.0)}, columns).values()
    assert first == second
    assert list(columns) == [digest(columns[first["column"]])]


def test_column_bytes_depend_on_the_values_alone() -> None:
    array = np.arange(10.0)
    assert column_bytes(array[::2]) == column_bytes(array[::2].copy()) == column_bytes(np.array([0, 2, 4, 6, 8.0]))
    table = pa.table({"pay": [1, 2, 3, 4]})
    halves = pa.concat_tables([table.slice(0, 2), table.slice(2)])
    assert column_bytes(table) == column_bytes(halves) == column_bytes(table.replace_schema_metadata({"who": "me"}))
    assert table_from_bytes(column_bytes(table)).equals(table)


@given(st.dictionaries(st.text(), st.floats(allow_nan=False, allow_infinity=False) | st.text(), max_size=6),
       st.randoms(use_true_random=False))
def test_canonical_bytes_do_not_depend_on_the_order_of_keys(value: dict[str, Any], random: Any) -> None:
    items = list(value.items())
    random.shuffle(items)
    assert canonical(dict(items)) == canonical(value)
    assert canonical(encode(dict(items), {})) == canonical(encode(value, {}))


def test_canonical_form_is_the_standards() -> None:
    assert canonical({"b": 1.0, "a": [1e21, 0.1, "\u20ac\n"]}) == '{"a":[1e+21,0.1,"\u20ac\\n"],"b":1}'.encode()


def test_enumerations_are_their_words() -> None:
    class Word(StrEnum):
        YES = "yes"

    class Number(Enum):
        ONE = 1

    assert encode(Word.YES, {}) == "yes"
    with pytest.raises(InvalidInput, match="Number"):
        encode(Number.ONE, {})


@pytest.mark.parametrize("value", [
    object(), {1, 2}, b"bytes", 1j, Inner, np.array([1j]), np.array([object()]), np.array([(1, 2.0)], dtype="i4,f8"),
    np.array(["2005-03-01"], dtype="M8[D]"), np.array([1.0], dtype=np.longdouble), {1: "a"}, {None: 1}, Typed("a"),
], ids=lambda v: type(v).__name__)
def test_what_has_no_form_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput):
        encode(["around", value], {})


def test_two_keys_cannot_become_one() -> None:
    with pytest.raises(InvalidInput, match="keys that are not text"):
        encode({1: "a", "1": "b"}, {})


@pytest.mark.parametrize("value", [
    {"type": "Inner"}, {"rational": "1/2"}, {"float": "NaN"}, {"integer": "1"}, {"mapping": []}, {"type": 1, "x": 2},
    {"column": "a", "dtype": "<f8", "shape": [1]}, Decoys("1/2", "1", "2", "NaN", "c"),
], ids=str)
def test_nothing_passes_for_a_tag(value: Any) -> None:
    back = there_and_back(value)
    assert type(back) is type(value)
    assert same(value, back)


# ---- what is read back


def _written(value: Any) -> tuple[Any, dict[str, bytes]]:
    columns: dict[str, bytes] = {}
    return json.loads(canonical(encode(value, columns))), columns


def test_an_altered_or_missing_column_is_refused() -> None:
    form, columns = _written(np.arange(4.0))
    name = form["column"]
    with pytest.raises(InvalidInput, match="missing or altered"):
        decode(form, {}, {})
    data = columns[name]
    for place in (0, len(data) // 2, len(data) - 1):
        broken = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        with pytest.raises(InvalidInput, match="missing or altered"):
            decode(form, {}, {name: broken})
    other = column_bytes(np.arange(5.0))
    with pytest.raises(InvalidInput, match="missing or altered"):
        decode(form, {}, {name: other})


@pytest.mark.parametrize("change", [
    {"shape": [5]}, {"shape": ["x"]}, {"shape": [-7]}, {"dtype": "nonsense"}, {"dtype": "|O"}, {"dtype": "<c16"},
    {"extra": 1}, {"shape": 4},
], ids=str)
def test_an_altered_description_of_a_column_is_refused(change: dict[str, Any]) -> None:
    form, columns = _written(np.arange(4.0))
    with pytest.raises(InvalidInput):
        decode({**form, **change}, {}, columns)


def test_a_column_that_is_no_arrow_file_is_refused() -> None:
    data = b"not arrow"
    with pytest.raises(InvalidInput):
        decode({"column": digest(data), "dtype": "<f8", "shape": [1]}, {}, {digest(data): data})


def test_an_unknown_type_is_refused() -> None:
    form, columns = _written(Inner(1.0, 2))
    with pytest.raises(InvalidInput, match="Inner") as caught:
        decode(form, {"Other": Outer}, columns)
    assert caught.value.field == "type"
    assert "Other" in caught.value.limit
    with pytest.raises(InvalidInput, match="Outer"):
        decode({"type": "Outer", "inner": form, "nonsense": 1}, TYPES, columns)  # rebuilt from other fields
    with pytest.raises(InvalidInput):
        decode({"type": 3}, TYPES, columns)


@pytest.mark.parametrize("form", [
    {"rational": "1/0"}, {"rational": "x"}, {"decimal": "x"}, {"integer": "1.5"}, {"float": "many"}, {"float": 1.5},
    {"rational": "1/2", "more": 1}, {"mapping": [[1]]}, {"mapping": {"a": 1}}, {"column": "a"},
], ids=str)
def test_what_is_never_written_is_not_read(form: Any) -> None:
    with pytest.raises(InvalidInput):
        decode([form], {}, {})
