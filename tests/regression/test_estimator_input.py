"""What the estimator is given: every frame and array alike, names that are checked, text refused by its column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import DataConversionWarning

from confide.contract import Audience, InvalidInput, Relation
from confide.privacy import Ledger, Noise, PureDP
from confide.privacy.ledger import Account
from confide.regression import PrivateRegression

AGAIN = "fit [0-9]+ of the same data"
pytestmark = pytest.mark.filterwarnings(f"ignore:{AGAIN}")
CITIES = ["Bonn", "Ulm"] * 150


def people(seed: int, rows: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(10, 90, (rows, 3))
    return X, X @ [1.0, 0.5, -0.25] + rng.normal(20, 4, rows)


def model(**more: Any) -> PrivateRegression:
    return PrivateRegression(**{"epsilon": 1.0, "noise": Noise.simulated(0), "feature_bounds": (0, 100),
                                "response_bounds": (0, 200), **more})


def frames(X: np.ndarray) -> dict[str, Any]:
    columns = {name: X[:, k] for k, name in enumerate(("age", "hours", "size"))}
    return {
        "pandas": pd.DataFrame(columns),
        "pandas of arrow": pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
        "polars": pl.DataFrame(columns), "arrow": pa.table(columns), "batch": pa.RecordBatch.from_pydict(columns),
    }


def test_every_frame_and_array_is_read_alike() -> None:
    X, y = people(26)
    expected = model().fit(X, y)
    assert not hasattr(expected, "feature_names_in_")
    named: dict[str, Any] = {"age": (0, 100), "hours": (0, 100), "size": (0, 100)}
    answers = [y, y.tolist(), pd.Series(y), pl.Series(y), pa.array(y), pa.chunked_array([y[:9], y[9:]])]
    for bounds, (kind, frame), answer in zip((named, (0, 100), [(0, 100)] * 3) * 2, frames(X).items(), answers,
                                            strict=False):
        found = model(feature_bounds=bounds).fit(frame, answer)
        assert found.coef_.tolist() == expected.coef_.tolist(), kind
        assert found.feature_names_in_.tolist() == ["age", "hours", "size"], kind
        assert list(found.intervals_)[1:] == ["age", "hours", "size"]
        assert found.predict(frame) == pytest.approx(expected.predict(X))
    for array in (X.tolist(), np.asfortranarray(X), X.astype(object), np.ma.masked_array(X)):
        assert model().fit(array, answers[-1]).coef_.tolist() == expected.coef_.tolist()
    indexed = pd.DataFrame(X, index=pd.Index(range(300), name="id"))  # neither an index nor numbers are names
    assert not hasattr(model().fit(indexed, y), "feature_names_in_")


def test_a_column_vector_is_taken_and_reported() -> None:
    X, y = people(27)
    expected = model().fit(X, y).coef_.tolist()
    for column in (y[:, None], pd.DataFrame({"wage": y}), pl.DataFrame({"wage": y})):
        with pytest.warns(DataConversionWarning, match="A column-vector y was passed") as reported:
            found = model().fit(X, column)
        assert found.coef_.tolist() == expected
        assert all("column-vector" in str(each.message) or "of the same data" in str(each.message) for each in reported)


def test_names_are_remembered() -> None:
    X, y = people(28)
    frame = frames(X)["pandas"]
    found = model().fit(frame, y)
    for other, said in ((frame[["size", "age", "hours"]], "same order"),
                        (frame.rename(columns={"age": "years"}), "unseen at fit time: years; .*now missing: age"),
                        (frame[["age", "hours"]], "now missing: size")):
        with pytest.raises(InvalidInput, match=f"should match those that were passed during fit; .*{said}"):
            found.predict(other)
        with pytest.raises(InvalidInput, match="should match"):
            found.score(other, y)
    with pytest.warns(UserWarning, match=r"^X does not have valid feature names, but PrivateRegression was "):
        found.predict(X)
    found.fit(X, y)
    assert not hasattr(found, "feature_names_in_")
    with pytest.warns(UserWarning, match=r"^X has feature names, but PrivateRegression was fitted without"):
        found.predict(frame)


@pytest.mark.parametrize("column", [
    pd.Series(CITIES), pd.Series(CITIES, dtype=object), pd.Series(CITIES, dtype="category"),
    pd.Series(CITIES, dtype="string[pyarrow]"), pl.Series(CITIES), pl.Series(CITIES, dtype=pl.Categorical),
    pa.array(CITIES), pa.array(CITIES).dictionary_encode(), pd.Series(pd.date_range("2024-01-01", periods=300)),
    pa.array([[1.0]] * 300),
], ids=lambda column: f"{type(column).__module__.split('.')[0]} {getattr(column, 'dtype', None) or column.type}")
def test_text_where_numbers_are_expected(column: Any) -> None:
    """By its type, before the charge: the column is named, whatever is in it."""
    X, y = people(29)
    values = {"age": X[:, 0], "city": column}
    make: Callable[[Any], Any] = pd.DataFrame
    if isinstance(column, pl.Series):
        make = pl.DataFrame
    elif isinstance(column, pa.Array):
        make = pa.table
    account = Account(name="survey", neighbours=Relation.REPLACE, audience=Audience.PUBLIC)
    books = Ledger()
    books.register(account, PureDP(1.0))
    with pytest.raises(InvalidInput, match=r"^city: ") as caught:
        model(ledger=books, account=account).fit(make(values), y)
    assert "Bonn" not in str(caught.value)
    with pytest.raises(InvalidInput, match=r"^y: "):
        model(ledger=books, account=account).fit(X, column)
    assert books.spent(account) == PureDP(0.0)


def test_bounds_by_name() -> None:
    X, y = people(31)
    frame = frames(X)["polars"]
    with pytest.raises(InvalidInput, match=r"^feature_bounds: no bounds for size; mass is not a column; columns: age"):
        model(feature_bounds={"age": (0, 1), "hours": (0, 1), "mass": (0, 1)}).fit(frame, y)
    with pytest.raises(InvalidInput, match=r"^feature_bounds of hours: "):
        model(feature_bounds={"age": (0, 1), "hours": (1, 0), "size": (0, 1)}).fit(frame, y)


@pytest.mark.parametrize(("X", "y", "said"), [
    (np.zeros((3, 2)), np.zeros(3), "n_samples = 3; must have at least 4 rows"),
    (np.zeros((5, 2)), np.zeros(4), "^y: has 4 rows; X has 5"),
    (np.zeros((5, 2)), np.zeros((5, 2)), "^y: has 2 columns"),
    (np.zeros((5, 2)), pd.DataFrame(np.zeros((5, 2))), "^y: has 2 columns"),
    (np.zeros((5, 2)), np.zeros((5, 1, 1)), "^y: shape"),
    (np.array([["a"] * 2] * 5), np.zeros(5), "^X: an array of type <U1 holds text"),
    (np.zeros((5, 2), dtype="M8[s]"), np.zeros(5), "holds no numbers"),
    ([[1.0], [1.0, 2.0], [3.0], [4.0]], np.zeros(4), "^X: the rows have different lengths"),
    (pd.DataFrame(np.zeros((5, 2)), columns=["a", "a"]), np.zeros(5), "^X: two columns have the name 'a'"),
    (pd.DataFrame(np.zeros((5, 2)), columns=["a", "(intercept)"]), np.zeros(5), "^X: a column has the name"),
    (pl.DataFrame({"a": [1.0] * 5}).lazy(), np.zeros(5), "^X: LazyFrame is not a table in memory"),
])
@pytest.mark.filterwarnings("ignore:Determining the column names")
def test_shapes_and_types(X: Any, y: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        model().fit(X, y)
