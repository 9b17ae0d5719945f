"""Designs: the norm of x, what makes a record invalid, and coefficients in natural units."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.contract import InvalidInput
from confide.contract.encoding import decode, encode
from confide.tables import Category, Design, Numeric, Roster, open_table, read_records

AGE = Numeric(column="age", lower=20, upper=60, unit="year")
EDUCATION = Numeric(column="education", lower=6, upper=20, center=12)
REGION = Category(column="region", levels=("Midwest", "North", "South"))
WAGE = Numeric(column="wage", lower=0, upper=80, center=20, unit="USD")
DESIGN = Design(features=(AGE, REGION, EDUCATION))


def batch(**columns):
    return pa.record_batch({name: pa.array(values) for name, values in columns.items()})


def test_names_and_dimension():
    assert DESIGN.names == ("(intercept)", "age", "region=North", "region=South", "education")
    assert DESIGN.dimension == 5
    assert DESIGN.blocks == 4
    assert DESIGN.columns == ("age", "region", "education")
    bare = Design(features=DESIGN.features, intercept=False)
    assert bare.names == DESIGN.names[1:]
    assert (bare.dimension, bare.blocks) == (4, 3)
    assert Design(features=()).names == ("(intercept)",)


def test_vectors():
    X, valid, codes = DESIGN.encode(batch(age=[60, 40], region=["South", "Midwest"], education=[20, 12], other=[1, 2]))
    np.testing.assert_allclose(X, [[0.5, 0.5, 0, 0.5, 0.5], [0.5, 0, 0, 0, 0]], rtol=1e-13)
    assert np.linalg.norm(X[0]) <= 1
    assert valid.all()
    assert not codes.any()


def test_one_bad_cell_makes_the_whole_record_null_and_nobody_elses():
    good = {"age": 30, "region": "North", "education": 12}
    bad = [{**good, "age": 61}, {**good, "age": None}, {**good, "region": "West"}, {**good, "region": None},
           {**good, "education": float("inf")}, {**good, "education": 99, "region": None}]
    rows = [good, *bad, good]
    table = batch(**{name: [row[name] for row in rows] for name in good})
    X, valid, codes = DESIGN.encode(table)
    assert valid.tolist() == [True, *[False] * 6, True]
    assert not X[~valid].any()
    assert np.array_equal(X[0], X[7])
    assert np.array_equal(X[0], DESIGN.encode(table.slice(7)).X[0])
    assert [DESIGN.reason(code).split(";")[0] for code in codes[1:7]] == [
        "age: is out of bounds", "age: is missing or not a number", "region: is not a level", "region: is missing",
        "education: is not finite", "region: is missing"]


@st.composite
def designs(draw):
    features = []
    for j in range(draw(st.integers(0, 5))):
        if draw(st.booleans()):
            lower, center, upper = sorted(draw(st.lists(st.integers(-1000, 1000), min_size=3, max_size=3, unique=True)))
            features.append(Numeric(column=f"f{j}", lower=lower / 7, upper=upper / 7,
                                    center=draw(st.sampled_from([None, center / 7])),
                                    out_of_bounds=draw(st.sampled_from(["reject", "clip"]))))
        else:
            features.append(Category(column=f"f{j}", levels=tuple("abcdef"[: draw(st.integers(2, 6))])))
    return Design(features=tuple(features), intercept=draw(st.booleans()) if features else True)


@st.composite
def values(draw, design):
    return {f.column: draw(st.sampled_from([f.lower, f.upper]) | st.floats(f.lower, f.upper))
            if isinstance(f, Numeric) else draw(st.sampled_from(f.levels)) for f in design.features}


@settings(max_examples=40, deadline=None)
@given(data=st.data(), design=designs())
def test_the_norm_is_at_most_one_and_the_devices_check_agrees(data, design):
    rows = [data.draw(values(design)) for _ in range(3)]
    if design.features:
        wild = st.floats() | st.none() | st.text("abcdefg0123456789.", max_size=3)
        rows.append({c: data.draw(st.just(rows[0][c]) | wild) for c in design.columns})
    rows = [{c: None if v is None else str(v) for c, v in row.items()} for row in rows]
    table = batch(**{c: [row[c] for row in rows] for c in design.columns}, extra=[0] * len(rows))
    X, valid, codes = design.encode(table)
    assert X.shape == (len(rows), design.dimension)
    assert (np.linalg.norm(X, axis=1) <= 1).all()
    assert ((X * X).sum(axis=1) <= 1).all()
    assert valid[:3].all()
    for row, x, fine, code in zip(rows, X, valid, codes, strict=True):
        own, message = design.encode_one(row)
        assert np.array_equal(own, x)
        assert (message is None) == fine == (code == 0)
        if message is not None:
            field = design.reason(code).split(":")[0]
            assert message.startswith(f"{field}: ")


@settings(max_examples=40, deadline=None)
@given(data=st.data(), design=designs())
def test_natural_coefficients_predict_the_same(data, design):
    scaled = np.array(data.draw(st.lists(st.floats(-10, 10), min_size=design.dimension, max_size=design.dimension)))
    natural, matrix, offset = design.natural(scaled, WAGE)
    np.testing.assert_array_equal(natural, matrix @ scaled + offset)
    names = design.natural_names()
    assert len(names) == len(natural) == len(design.natural_units(WAGE))
    assert names[0] == "(intercept)"
    by_name = dict(zip(names, natural, strict=True))
    row = data.draw(values(design))
    expected = by_name["(intercept)"]
    for feature in design.features:
        value = row[feature.column]
        if isinstance(feature, Numeric):
            expected += by_name[feature.column] * (value - feature.middle)
        elif value != feature.levels[0]:
            expected += by_name[f"{feature.column}={value}"]
    x, message = design.encode_one(row)
    assert message is None
    predicted = WAGE.middle + WAGE.scale * (x @ scaled)
    assert predicted == pytest.approx(expected, rel=1e-9, abs=1e-7)
    reference, _ = design.encode_one(design.reference())
    assert by_name["(intercept)"] == pytest.approx(WAGE.middle + WAGE.scale * (reference @ scaled), abs=1e-9)


def test_natural_units_in_words():
    assert DESIGN.natural_units(WAGE) == ("USD", "USD per year", "USD", "USD", "USD per unit of education")
    assert DESIGN.reference() == {"age": 40.0, "region": "Midwest", "education": 12.0}
    coefficients = DESIGN.natural(np.array([0.0, 1.0, 0.0, 0.0, 1.0]), WAGE).coefficients
    np.testing.assert_allclose(coefficients, [20, 60 * 0.5 / 20, 0, 0, 60 * 0.5 / 8], rtol=1e-12)


def test_a_regression_is_found_again():
    rng = np.random.default_rng(0)
    n = 2000
    age, education = rng.uniform(20, 60, n), rng.uniform(6, 20, n)
    region = rng.choice(REGION.levels, n)
    place = np.select([region == "North", region == "South"], [3, -2], 0)
    wage = 15 + 0.25 * (age - 40) + 1.5 * (education - 12) + place
    source = open_table({"age": age, "region": region, "education": education, "wage": wage})
    (records,) = read_records(source, design=DESIGN, response=WAGE, roster=Roster(n))
    scaled = np.linalg.lstsq(records.X, records.y, rcond=None)[0]
    np.testing.assert_allclose(DESIGN.natural(scaled, WAGE).coefficients, [15, 0.25, 3, -2, 1.5], rtol=1e-9)


@pytest.mark.parametrize(("features", "intercept", "words"), [
    ((), False, "none given"), ((AGE, Numeric(column="age", lower=0, upper=1)), True, "'age' occurs twice"),
    (("age",), True, "is not a role"),
])
def test_bad_designs(features, intercept, words):
    with pytest.raises(InvalidInput, match=words) as caught:
        Design(features=features, intercept=intercept)
    assert caught.value.field == "features"


def test_bad_uses():
    with pytest.raises(InvalidInput, match="age: the column is missing"):
        DESIGN.encode(batch(region=["North"]))
    with pytest.raises(InvalidInput, match="coefficients"):
        DESIGN.natural(np.zeros(4), WAGE)
    assert DESIGN.encode_one({"age": 30})[1] == "region: no value is given; must be one of Midwest, North, South"
    source = open_table({"age": [1], "region": ["North"], "education": [1], "wage": [1]})
    with pytest.raises(InvalidInput, match="response"):
        read_records(source, design=DESIGN, response=AGE, roster=Roster(1))
    with pytest.raises(InvalidInput, match="id"):
        read_records(source, design=DESIGN, response=WAGE, roster=Roster(1), id="age")
    with pytest.raises(InvalidInput, match="did you mean 'wage'"):
        read_records(source, design=DESIGN, response=Numeric(column="wages", lower=0, upper=1), roster=Roster(1))


def test_a_bad_response_makes_the_record_null():
    source = open_table({"age": [30, 30], "region": ["North"] * 2, "education": [12, 12], "wage": [81, 80]})
    rejected = {}
    (records,) = read_records(source, design=DESIGN, response=WAGE, roster=Roster(2), rejected=rejected)
    assert records.index.tolist() == [1]
    assert rejected == {"1": "wage: is out of bounds; must be in [0, 80] (unit: USD)"}
    assert len(list(read_records(source, design=DESIGN, response=WAGE, roster=Roster(2)))) == 1


def test_a_design_survives_a_manifest():
    types = {"Numeric": Numeric, "Category": Category, "Design": Design}
    assert decode(encode(DESIGN, {}), types, {}) == DESIGN


def test_tables_of_every_kind_are_encoded_alike(tmp_path):
    pd = pytest.importorskip("pandas")
    columns = {"age": [60, 61, 40], "region": ["South", "North", None], "education": [20, 12, 12], "other": [1, 2, 3]}
    whole = DESIGN.encode(batch(**columns))
    frame = pd.DataFrame(columns)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    two = pa.Table.from_batches([batch(**columns).slice(0, 1), batch(**columns).slice(1)])
    for table in (frame, frame.astype({"region": "category"}), two, columns, tmp_path / "rows.csv"):
        found = DESIGN.encode(table)
        for ours, theirs in zip(found, whole, strict=True):
            assert np.array_equal(ours, theirs)
        assert found.X.T.flags.c_contiguous
    assert DESIGN.encode(pa.table(columns).slice(0, 0)).X.shape == (0, 5)
    assert DESIGN.encode(frame.iloc[:0]).valid.tolist() == []
    assert Design(features=()).encode(frame).X.tolist() == [[Design(features=()).weight]] * 3


def test_what_is_no_table_is_reported():
    for wrong in (np.zeros((3, 2)), 5, [1, 2]):
        with pytest.raises(InvalidInput, match="is not a table"):
            DESIGN.encode(wrong)
    with pytest.raises(InvalidInput, match="education: the table has no such column"):
        DESIGN.encode(pa.table({"age": [30], "region": ["North"]}))
