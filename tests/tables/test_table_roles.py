"""Public roles: bounds and levels hold for every value, and a participant reads what is wrong with hers."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.contract import InvalidInput
from confide.contract.encoding import decode, encode
from confide.tables import Category, Numeric

INF, NAN = math.inf, math.nan


def test_scaling():
    role = Numeric(column="v", lower=0, upper=10, center=2)
    assert (role.middle, role.scale) == (2, 8)
    assert role.encode([0, 2, 10]).values.tolist() == [-0.25, 0, 1]
    assert Numeric(column="v", lower=-3, upper=1).middle == -1


def test_out_of_bounds_rejects_or_clips_but_never_lets_nonsense_in():
    values = [-1, 0, 10, 11, INF, -INF, NAN, None]
    reject = Numeric(column="v", lower=0, upper=10).encode(values)
    assert reject.problems.tolist() == [3, 0, 0, 3, 2, 2, 1, 1]
    assert reject.values.tolist() == [0, -1, 1, 0, 0, 0, 0, 0]
    clip = Numeric(column="v", lower=0, upper=10, out_of_bounds="clip").encode(values)
    assert clip.problems.tolist() == [0, 0, 0, 0, 2, 2, 1, 1]
    assert clip.values.tolist() == [-1, -1, 1, 1, 0, 0, 0, 0]


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint16(), pa.int64(), pa.float16(), pa.float32(), pa.float64(),
                                  pa.decimal128(5, 1), pa.string(), pa.large_string(), pa.string_view(), pa.binary()])
def test_every_type_of_number(kind):
    cells = pa.array([0, 3, 10, None], pa.int8())
    cells = cells.cast(pa.string()).cast(kind) if kind == pa.binary() else cells.cast(kind)
    got = Numeric(column="v", lower=0, upper=10).encode(cells)
    assert got.problems.tolist() == [0, 0, 0, 1]
    assert got.values.tolist() == [-1, -0.4, 1, 0]
    assert got.values.dtype == np.float64


def test_booleans_nulls_and_run_ends():
    role = Numeric(column="v", lower=0, upper=1)
    assert role.encode(pa.array([True, False, None])).values.tolist() == [1, -1, 0]
    assert role.encode(pa.nulls(2)).problems.tolist() == [1, 1]
    assert role.encode(pa.RunEndEncodedArray.from_arrays([2, 3], [0.5, 1.0])).values.tolist() == [0, 0, 1]
    assert role.encode([]).values.shape == (0,)


@settings(deadline=None)
@given(bounds=st.tuples(*[st.floats(-1e150, 1e150)] * 3).map(sorted).filter(lambda b: b[0] < b[2]),
       middle=st.booleans(), values=st.lists(st.floats(), max_size=8), clip=st.booleans())
def test_scaled_values_never_leave_the_unit_interval(bounds, middle, values, clip):
    lower, center, upper = bounds
    role = Numeric(column="v", lower=lower, upper=upper, center=center if middle else None,
                   out_of_bounds="clip" if clip else "reject")
    scaled, problems = role.encode(np.array([*values, *bounds, role.middle]))
    assert (np.abs(scaled) <= 1).all()
    assert np.abs(scaled[-4:]).max() == 1
    assert (problems[-4:] == 0).all()
    assert scaled[-1] == 0
    for value, got, problem in zip([*values, *bounds], scaled, problems, strict=False):
        one, message = role.encode_one(value)
        assert one == got
        assert (message is None) == (problem == 0)


@pytest.mark.parametrize(("changes", "field"), [
    ({"column": ""}, "column"), ({"column": 3}, "column"), ({"lower": NAN}, "lower"), ({"upper": INF}, "upper"),
    ({"lower": True}, "lower"), ({"upper": "9"}, "upper"), ({"lower": 10}, "upper"), ({"center": 11}, "center"),
    ({"center": NAN}, "center"), ({"out_of_bounds": "ignore"}, "out_of_bounds"), ({"unit": 3}, "unit"),
    ({"lower": -1.7e308, "upper": 1.7e308, "center": 1.7e308}, "upper"), ({"upper": 10**400}, "upper"),
])
def test_bad_numeric(changes, field):
    with pytest.raises(InvalidInput) as caught:
        Numeric(**{"column": "v", "lower": 0, "upper": 10, **changes})
    assert caught.value.field == field


def test_levels():
    role = Category(column="c", levels=["a", "b", "c"])
    assert role.levels == ("a", "b", "c")
    got = role.encode(pa.array(["c", " a ", "x", None, "", "B"]).dictionary_encode())
    assert got.values.tolist() == [2, 0, 0, 0, 0, 0]
    assert got.problems.tolist() == [0, 0, 4, 1, 1, 4]


@pytest.mark.parametrize("cells", [
    pa.array([0, 1, 2, None]), pa.array([0.0, 1.0, 2.5, NAN]), pa.array(["0", "1", "x", None]),
    [0, "1", "x", None], [0.0, 1.0, "x", NAN],
    pa.array([0, 1, 2, None], pa.float16()),
])
def test_whole_numbers_as_levels(cells):
    got = Category(column="c", levels=(0, 1)).encode(cells)
    assert got.values.tolist() == [0, 1, 0, 0]
    assert got.problems.tolist() == [0, 0, 4, 1]


@pytest.mark.parametrize("cells", [pa.array([True, False, None]), pa.array(["TRUE", "false", None]),
                                   pa.array(["True", "False", ""]), [True, "FALSE", None]])
def test_booleans_as_levels(cells):
    for levels in ((False, True), ("False", "True"), ("false", "true")):
        role = Category(column="c", levels=levels)
        assert role.boolean
        assert role.encode(cells).values.tolist() == [1, 0, 0]
        assert role.encode(cells).problems.tolist() == [0, 0, 1]


def test_bytes_that_are_no_text_are_no_level():
    cells = pa.array([b"a", b"\xff\xfe", b"b"])
    assert Category(column="c", levels=("a", "b")).encode(cells).problems.tolist() == [0, 4, 0]
    assert Numeric(column="c", lower=0, upper=1).encode(cells).problems.tolist() == [1, 1, 1]
    assert Numeric(column="c", lower=0, upper=1).encode(pa.array([b"\xff1", b"1"])).problems.tolist() == [1, 0]


@pytest.mark.parametrize("levels", ["ab", ("a",), (), ("a", "a"), ("a", " b"), ("a", ""), ("a", 1.5), ("1", 1), None])
def test_bad_levels(levels):
    with pytest.raises(InvalidInput) as caught:
        Category(column="c", levels=levels)
    assert caught.value.field == "levels"


AGE = Numeric(column="age", lower=18, upper=1234567, unit="years")
SEX = Category(column="sex", levels=("female", "male"))


@pytest.mark.parametrize(("role", "value", "message"), [
    (AGE, 17, "age: 17 is out of bounds; must be in [18, 1234567] (unit: years)"),
    (AGE, " 17 ", "age: ' 17 ' is out of bounds; must be in [18, 1234567] (unit: years)"),
    (AGE, "old", "age: 'old' is not a number; must be in [18, 1234567] (unit: years)"),
    (AGE, None, "age: no value is given; must be in [18, 1234567] (unit: years)"),
    (AGE, "", "age: no value is given; must be in [18, 1234567] (unit: years)"),
    (AGE, NAN, "age: no value is given; must be in [18, 1234567] (unit: years)"),
    (AGE, INF, "age: inf is not finite; must be in [18, 1234567] (unit: years)"),
    (AGE, [20], "age: [20] is not a number; must be in [18, 1234567] (unit: years)"),
    (AGE, {"a": 1}, "age: {'a': 1} is not a number; must be in [18, 1234567] (unit: years)"),
    (AGE, np.datetime64("2020-01-01"), "age: 2020-01-01 is not a number; must be in [18, 1234567] (unit: years)"),
    (AGE, "x" * 1000, "age: '" + "x" * 56 + "... is not a number; must be in [18, 1234567] (unit: years)"),
    (SEX, "Male", "sex: 'Male' is not on the list; must be one of female, male"),
    (SEX, 1, "sex: 1 is not on the list; must be one of female, male"),
    (SEX, [1], "sex: [1] is not a level; must be one of female, male"),
    (AGE, [[1], [2, 3]], "age: [[1], [2, 3]] is not a number; must be in [18, 1234567] (unit: years)"),
    (SEX, None, "sex: no value is given; must be one of female, male"),
])
def test_a_participant_reads_what_is_wrong(role, value, message):
    assert role.encode_one(value) == (0, message)


def test_a_participant_reads_what_is_wrong_with_a_number_too_long_to_write():
    assert AGE.encode_one(10**5000) == (0, "age: the value is not a number; must be in [18, 1234567] (unit: years)")


def test_a_participant_may_write_a_number_as_text():
    assert AGE.encode_one("1234567") == AGE.encode_one(1234567) == (1.0, None)
    assert SEX.encode_one(" male") == (1, None)


def test_reasons_contain_no_value():
    assert AGE.reason(1) == "age: is missing or not a number; must be in [18, 1234567] (unit: years)"
    assert SEX.reason(4) == "sex: is not a level; must be one of female, male"
    assert Category(column="c", levels=tuple("abcdefghijklmnop")).limit().endswith("k, l, ...")


@pytest.mark.parametrize("role", [AGE, SEX, Numeric(column="v", lower=0, upper=1, center=0.25, out_of_bounds="clip")])
def test_roles_are_frozen_and_survive_a_manifest(role):
    columns = {}
    written = encode(role, columns)
    assert columns == {}
    assert decode(written, {"Numeric": Numeric, "Category": Category}, {}) == role
    with pytest.raises(dataclasses.FrozenInstanceError):
        role.column = "w"
