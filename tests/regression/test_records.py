"""The per-record map and the exact moments (spec truthful_regression 4.1, 4.4 (i), acceptance 10)."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from confide.contract import InvalidInput
from confide.numerics import IntegerCross
from confide.regression.records import Batch, RecordMap, as_batches, moments, ordered_dot, row_norms
from confide.tables.reader import Reader

MAP = RecordMap(parameter_bound=1.0, noise_bound=0.5, response_bound=1.5)


def _batch(X: np.ndarray, y: np.ndarray) -> Batch:
    return Batch(np.arange(len(X)), X, y)


anything = hnp.arrays(np.float64, (5, 3), elements=st.floats(width=64))


@given(anything, hnp.arrays(np.float64, 5, elements=st.floats(width=64)))
def test_every_record_becomes_usable(X: np.ndarray, y: np.ndarray) -> None:
    with np.errstate(invalid="raise", divide="raise", over="raise"):
        clipped, response, null = MAP.clip(_batch(X, y))
        rows, answers = MAP.quantise(clipped, response)
    assert np.isfinite(clipped).all()
    assert (row_norms(clipped) <= 1 + 1e-12).all()
    assert (np.abs(response) <= np.minimum(1.5, row_norms(clipped) + 0.5) + 1e-12).all()
    assert not clipped[null].any()
    assert not response[null].any()
    assert null[~np.isfinite(y) | ~np.isfinite(X).all(axis=1)].all()
    # exactly inside the domain of the sensitivity proof, in integers
    assert (rows == np.trunc(rows)).all()
    assert max(sum(int(v) ** 2 for v in row) for row in rows) <= 2**32
    assert (np.abs(rows) <= np.abs(clipped) * 2**16).all()
    assert (np.abs(answers) <= np.abs(response) * 2**16).all()


def test_a_usable_record_is_unchanged() -> None:
    X = np.array([[0.25, -0.5, 0.125]])
    y = np.array([0.75])
    clipped, response, null = MAP.clip(_batch(X, y))
    assert (clipped == X).all()
    assert (response == y).all()
    assert not null.any()
    rows, answers = MAP.quantise(clipped, response)
    assert (rows == X * 2**16).all()
    assert (answers == y * 2**16).all()


def test_rows_of_any_length_become_whole_numbers_at_once() -> None:
    """Were rows not shortened before: a hair above 1, twice, a million times too long, and beyond all squares."""
    lengths = np.array([1 + 2.0**-20, 1 + 2.0**-14, 2.0, 1e6, 1e153, 1e200])
    rows, _ = MAP.quantise(lengths[:, None] * np.array([[0.6, 0.8]]), np.zeros(len(lengths)))
    norms = np.hypot(*rows.T) / 2**16
    assert (norms <= 1).all()
    assert (norms[:4] > 1 - 2.0**-13).all()


def test_moments_are_bit_identical_for_any_chunking_and_order() -> None:
    rng = np.random.default_rng(3)
    n, d = 5000, 7
    X = rng.uniform(-0.6, 0.6, (n, d))
    y = rng.uniform(-2, 2, n)
    X[17, 2] = np.nan
    split = rng.random(n) < 0.5
    reference = moments(as_batches((X, y), d, rows=n), MAP, split, d)
    for rows in (77, 1000, 65536):
        again = moments(as_batches((X, y), d, rows=rows), MAP, split, d)
        for a, b in zip(reference, again, strict=True):
            assert (a.gram == b.gram).all()
            assert (a.cross == b.cross).all()
    order = rng.permutation(n)
    shuffled = [Batch(part, X[part], y[part]) for part in np.array_split(order, 15)]
    again = moments(shuffled, MAP, split, d)
    for a, b in zip(reference, again, strict=True):
        assert (a.gram == b.gram).all()
        assert (a.cross == b.cross).all()
    # and they are the exact integers
    clipped, response, _ = MAP.clip(_batch(X, y))
    rows_, answers = MAP.quantise(clipped, response)
    ints = rows_.astype(np.int64).astype(object)
    total = reference[0] + reference[1]
    assert (total.gram == ints.T @ ints).all()
    assert (total.cross == ints.T @ answers.astype(np.int64).astype(object)).all()


@pytest.mark.parametrize("count", [1, 2, 5])
def test_thread_count_changes_nothing(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    X, y = rng.uniform(-0.6, 0.6, (3000, 4)), rng.uniform(-2, 2, 3000)
    split = rng.random(3000) < 0.5
    reference = moments(as_batches((X, y), 4), MAP, split, 4)
    monkeypatch.setattr("confide.numerics.map_reduce.threads", lambda: count)
    again = moments(as_batches((X, y), 4, rows=100), MAP, split, 4)
    for a, b in zip(reference, again, strict=True):
        assert (a.gram == b.gram).all()
        assert (a.cross == b.cross).all()


def test_a_null_record_leaves_the_moments_untouched() -> None:
    rng = np.random.default_rng(4)
    X, y = rng.uniform(-0.5, 0.5, (50, 2)), rng.uniform(-1, 1, 50)
    split = np.zeros(50, dtype=bool)
    whole, _ = moments(as_batches((X[:49], y[:49]), 2), MAP, split, 2)
    X[49] = [np.inf, 0.1]
    again, _ = moments(as_batches((X, y), 2), MAP, split, 2)
    assert (whole.gram == again.gram).all()
    assert (whole.cross == again.cross).all()


def test_row_values_do_not_depend_on_their_neighbours() -> None:
    rng = np.random.default_rng(9)
    X, v = rng.standard_normal((1001, 11)), rng.standard_normal(11)
    together = ordered_dot(X, v), row_norms(X)
    for k in (0, 1, 500, 1000):
        assert ordered_dot(X[k : k + 1], v)[0] == together[0][k]
        assert row_norms(X[k : k + 1])[0] == together[1][k]
    assert (ordered_dot(np.asfortranarray(X), v) == together[0]).all()


def test_integer_sums_survive_spilling() -> None:
    sums = IntegerCross(1, left_bound=2**20, right_bound=2**20)  # blocks of 2^13 rows
    rows = np.full((2**13, 1), 2.0**20)
    for _ in range(2**10 + 3):
        sums.add(rows, rows[:, 0])
    assert sums.gram[0, 0] == 2**40 * 2**13 * (2**10 + 3)
    other = IntegerCross(1, left_bound=2**20, right_bound=2**20)
    other.add(rows, -rows[:, 0])
    sums.merge(other)
    assert sums.cross[0] == 2**40 * 2**13 * (2**10 + 2)
    with pytest.raises(InvalidInput, match="left_bound"):
        IntegerCross(1, left_bound=2**27, right_bound=1)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ((np.zeros((3, 2)), np.zeros(4)), "y"),
        ((np.zeros((3, 5)), np.zeros(3)), "X"),
        ((np.zeros(3), np.zeros(3)), "X"),
        ((np.zeros((3, 2)),), "data"),
    ],
)
def test_wrong_shapes_are_named(data: tuple[np.ndarray, ...], field: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^{field}:"):
        list(as_batches(data, 2))


def test_only_the_first_row_of_each_participant_counts() -> None:
    """Two rows of one person, and rows of people who were never invited, move nothing (one record per participant)."""
    e = np.eye(2)
    crowd = [
        Batch(np.array([3, 3, -1, 4]), np.array([e[0], e[1], e[1], e[1]]), np.array([1.0, 0.5, 0.5, 0.25])),
        Batch(np.array([3, 9, 0]), np.array([e[1], e[1], e[1]]), np.array([0.5, 0.5, -0.25])),
    ]
    plain = [Batch(np.array([3, 4, 0]), np.array([e[0], e[1], e[1]]), np.array([1.0, 0.25, -0.25]))]
    split = np.arange(5) >= 3
    for got, expected in zip(moments(crowd, MAP, split, 2), moments(plain, MAP, split, 2), strict=True):
        assert (got.gram == expected.gram).all()
        assert (got.cross == expected.cross).all()
    assert [batch.index.tolist() for batch in Reader(lambda: crowd, 5).by_id()] == [[3, 4], [0]]


@given(st.lists(st.lists(st.integers(-2, 9), max_size=6), max_size=4))
def test_one_each_keeps_first_rows_in_order(batches: list[list[int]]) -> None:
    given_rows = [Batch(np.array(ids, dtype=np.int64), np.zeros((len(ids), 1)), np.arange(len(ids), dtype=float))
                  for ids in batches]
    kept = [int(i) for batch in Reader(lambda: given_rows, 8).by_id() for i in batch.index]
    assert kept == list(dict.fromkeys(i for ids in batches for i in ids if 0 <= i < 8))


CELLS = [1.0, "0.5", "a secret", None, float("nan"), b"x", object(), 1e400, 10**400, Decimal("0.25"), np.float32(0.1),
         True]


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: type(cell).__name__)
def test_a_cell_that_is_no_number_makes_that_record_alone_null(cell: object) -> None:
    """It neither stops the run nor appears in an error, and every other row is read as it would be without it."""
    X = [[0.1, 0.2], [0.3, cell], [np.float32(0.1), 0.6]]
    y = [0.25, 0.5, cell]
    (batch,) = as_batches((X, y), 2)
    assert batch.X[0].tolist() == [0.1, 0.2]
    assert batch.X[2].tolist() == [float(np.float32(0.1)), 0.6]
    assert batch.y[:2].tolist() == [0.25, 0.5]
    try:
        expected = float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        expected = float("nan")
    assert np.array_equal(batch.X[1, 1], expected, equal_nan=True)
    assert np.array_equal(batch.y[2], expected, equal_nan=True)


def test_masked_cells_are_null() -> None:
    (batch,) = as_batches((np.ma.masked_array([[1.0], [2.0]], [[False], [True]]), np.ma.masked_array([1.0, 2.0])), 1)
    assert batch.X[0, 0] == 1.0
    assert np.isnan(batch.X[1, 0])


def test_a_row_or_cell_of_another_shape_is_null_alone() -> None:
    rows = [[0.5, 0.25], [0.5], [0.1, [1.0, 2.0]], None, "ab"]
    (batch,) = as_batches((rows, [0.25, [1.0, 2.0], 1 + 2j, None, 0.5]), 2)
    assert batch.X[0].tolist() == [0.5, 0.25]
    assert np.isnan(batch.X[1:]).any(axis=1).all()
    assert batch.X[2, 0] == 0.1
    assert batch.y[[0, 4]].tolist() == [0.25, 0.5]
    assert np.isnan(batch.y[1:4]).all()


class _Hostile:
    def __float__(self) -> float:
        raise RuntimeError("my secret")


def test_no_cell_can_raise() -> None:
    (batch,) = as_batches(([[_Hostile(), 0.5], [0.5, 0.5]], [np.ma.masked, 0.5]), 2)
    assert np.isnan(batch.X[0, 0])
    assert batch.y[1] == 0.5


def test_what_is_no_data_is_refused() -> None:
    with pytest.raises(InvalidInput, match="is not a batch"):
        next(as_batches([1.0], 2))
    with pytest.raises(InvalidInput, match=r"X: shape \(2, 3\); must be \(n, 2\)"):
        next(as_batches(([["a", 1, 2], [3, 4, 5]], [1.0, 2.0]), 2))
    for frame in (pd.DataFrame({"x": [1.0], "y": [2.0]}), np.zeros((3, 3))):
        with pytest.raises(InvalidInput, match=r"as a pair: \(X, y\)"):
            next(as_batches(frame, 2))
