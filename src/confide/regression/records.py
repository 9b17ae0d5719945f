"""One participant's record: the map that makes any submission usable, and the exact moments of many records.

The map is applied to each record alone, so it is part of the privacy proof and reveals nothing about other records. A
record that cannot be used becomes the null record (x = 0, y = 0, paid 0). A feature vector longer than 1 is scaled to
length 1, and a response beyond the model's bounds is clipped. Quantisation towards zero makes all moments exact
integers.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.words import counted, did_you_mean
from confide.numerics import IntegerCross, block_rows
from confide.tables.frames import column_of, columns_of, is_table, named_columns_of, own_row
from confide.tables.reader import Reader

__all__ = [
    "GRID_BITS",
    "Batch",
    "Moments",
    "RecordMap",
    "as_batches",
    "doubles",
    "group_sums",
    "moments",
    "one_record",
    "ordered_dot",
    "payments",
    "row_norms",
    "twice_readable",
]

GRID_BITS = 16
"""Number of fractional bits: features and responses are quantised to multiples of 2^-16, and moments are integers in
units of 2^-32.
"""

_ONE = 2**GRID_BITS


def ordered_dot(X: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """X @ vector, added column by column in a fixed order, so that a row's value does not depend on other rows.

    Args:
        X: (m, d) rows.
        vector: (d,) vector.

    Returns:
        (m,) products, float64. BLAS would be faster, but may round a row differently in another batch.
    """
    total = np.zeros(len(X))
    for k in range(X.shape[1]):
        total += X[:, k] * vector[k]
    return total


def row_norms(X: np.ndarray) -> np.ndarray:
    """The Euclidean norms of the rows, shape (m,), each computed from its own row alone in a fixed order."""
    total = np.zeros(len(X))
    for k in range(X.shape[1]):
        total += X[:, k] * X[:, k]
    return np.sqrt(total)


@dataclass(frozen=True, eq=False)
class Batch:
    """Some of the submitted rows.

    Args:
        index: (m,) rank of each row's participant in the public list of ids.
        X: (m, d) features.
        y: (m,) responses. A row with a number that is not finite is the null record. A person without a row has the
            null record too.
    """

    index: np.ndarray
    X: np.ndarray
    y: np.ndarray


def as_batches(data: Any, features: int, rows: int | None = None) -> Iterator[Batch]:
    """Submissions as batches, from (X, y), or from an iterable of objects with `index`, `X` and `y`.

    Args:
        data: pair (X, y) with shapes (n, d) and (n,), as arrays, frames, mappings, files or queries, or a table and the
            name of the answers' column. Row i belongs to the participant of index i, and a row with a cell that is not
            a finite number is null. An iterable of batches that can be iterated again also works.
        features: number d of features.
        rows: largest number of rows in a batch; by default as many as fit into the cache of a core. The number affects
            only speed.

    Raises:
        InvalidInput: the shapes are wrong, or a column of a frame holds no numbers.
    """
    rows = block_rows(features) if rows is None else rows
    if not isinstance(data, tuple):
        if hasattr(data, "columns") or isinstance(data, np.ndarray):
            raise InvalidInput("data", f"{type(data).__name__} is neither (X, y) nor batches",
                               "pass the features and the answers as a pair: (X, y)")
        for batch in data:
            if not all(hasattr(batch, part) for part in ("index", "X", "y")):
                raise InvalidInput("data", f"{type(batch).__name__} is not a batch",
                                   "must be (X, y), or batches with index, X and y")
            if batch.X.ndim != 2 or batch.X.shape[1] != features:
                raise InvalidInput("X", f"shape {batch.X.shape}", f"must have {features} columns")
            for start in range(0, len(batch.y), rows):
                part = slice(start, start + rows)
                yield Batch(batch.index[part], batch.X[part], batch.y[part])
        return
    if len(data) != 2:
        raise InvalidInput("data", f"has {counted(len(data), 'part')}", "must be (X, y) or batches")
    X, y = (doubles(part, None if k else features) for k, part in enumerate(_read(data)))
    if X.ndim != 2 or X.shape[1] != features:
        raise InvalidInput("X", f"shape {X.shape}", f"must be (n, {features})")
    if y.shape != (len(X),):
        raise InvalidInput("y", f"shape {y.shape}", f"must be ({len(X)},)")
    for start in range(0, len(X), rows):
        stop = min(start + rows, len(X))
        yield Batch(np.arange(start, stop), X[start:stop], y[start:stop])


def _read(data: tuple[Any, Any]) -> tuple[Any, Any]:
    """The features and the answers: frames, files and queries as arrays that are read once, and arrays unchanged.

    The answers may be the name of a column of the table, which is not counted as a feature.
    """
    X, y = data
    table = is_table(X) or isinstance(X, Mapping)
    if isinstance(y, str) and table:
        names, values = named_columns_of(X)
        if y in names:
            return np.delete(values, names.index(y), axis=1), values[:, names.index(y)]
        if not os.path.splitext(y)[1]:
            raise InvalidInput("y", f"{y!r} is not a column of X", did_you_mean(
                y, names, f"columns: {', '.join(names[:12])}"))
        X, table = values, False
    answers = column_of(y, "y")
    return columns_of(X, field="X") if table else X, y if answers is None else answers


def twice_readable(data: Any, people: int) -> Any:
    """Submissions in a form that can be read in two passes: frames and files are read once into arrays.

    Args:
        data: submissions in any form that `as_batches` accepts.
        people: number n of invited people; arrays must not have more rows.

    Raises:
        InvalidInput: the data are an iterator, have too many rows, or have a column without numbers.
    """
    if isinstance(data, Iterator):
        raise InvalidInput("data", f"{type(data).__name__} can be read only once",
                           "must be (X, y), or batches that can be iterated twice, such as a list")
    if not isinstance(data, tuple) or len(data) != 2:
        return data
    data = _read(data)
    if hasattr(data[0], "__len__") and len(data[0]) > people:
        raise InvalidInput("X", f"has {counted(len(data[0]), 'row')}", f"must be at most the {people} invited slots")
    return data


def doubles(values: Any, width: int | None = None) -> np.ndarray:
    """An array of doubles; a cell that is not a number becomes nan, so that one person's cell never stops everybody's
    run.

    Args:
        values: an array, or a sequence of rows, possibly of different lengths.
        width: number of cells in a row; None where a row is one cell.
    """
    if np.ma.isMaskedArray(values):
        values = np.ma.filled(values.astype(object), None)
    try:
        with warnings.catch_warnings():  # numpy speaks up about a masked cell, which is one person's
            warnings.simplefilter("ignore")
            array = np.asarray(values)
    except ValueError:  # somebody's row or cell has another shape than the others
        array = np.empty(0, dtype=object)
    if array.dtype.kind in "fiub":
        with np.errstate(over="ignore"):  # a wider float becomes infinite, and its record null
            return array.astype(np.float64, copy=False)
    if isinstance(values, np.ndarray) or hasattr(values, "__array__"):
        rows: list[Any] = list(np.asarray(values, dtype=object))
    else:  # cell by cell: numpy would turn every number into text beside a text
        rows = list(values)
    if width is not None and array.ndim == 2 and array.shape[1] != width:
        return np.full(array.shape, math.nan)  # everybody's, not one person's: the caller says which shape is wrong
    if width is None:
        return np.array([_number(cell) for cell in rows], dtype=np.float64)
    out = np.full((len(rows), width), math.nan)
    for k, row in enumerate(rows):
        cells = list(row) if hasattr(row, "__len__") and not isinstance(row, str | bytes) else []
        if len(cells) == width:
            out[k] = [_number(cell) for cell in cells]
    return out


def _number(cell: Any) -> float:
    """A cell as a double; nan for a cell that is not one real number."""
    try:
        if cell is np.ma.masked or np.iscomplexobj(cell) or np.ndim(cell) > 0:
            return math.nan
        return float(cell)
    except Exception:  # noqa: BLE001 - a cell may be any object, and its error would name what it holds
        return math.nan


@dataclass(frozen=True, kw_only=True)
class RecordMap:
    """The map that makes any submitted record usable (spec truthful_regression 4.1 step 1 and 4.4 step i).

    Args:
        parameter_bound: bound R0 on the norm of the true parameter.
        noise_bound: bound M on a residual.
        response_bound: hard bound Y on |y|.
    """

    parameter_bound: float
    noise_bound: float
    response_bound: float

    def clip(self, batch: Batch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Usable records for payments: features X (m, d), responses y (m,), and null (m,), which is True for a null
        record. The rows of null records are zero.

        A record alone on the participant's device gives the same result, to the last bit, as the record in the
        operator's batch.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            null = ~(np.isfinite(batch.y) & np.isfinite(batch.X).all(axis=1))
            X = np.where(null[:, None], 0.0, batch.X)
            y = np.where(null, 0.0, batch.y)
            norms = row_norms(X)
            # A finite vector whose squares overflow points somewhere, but is no record: its owner mistyped.
            huge = ~np.isfinite(norms)
        if huge.any():
            null |= huge
            X[huge], y[huge], norms[huge] = 0.0, 0.0, 0.0
        long = norms > 1.0
        if long.any():
            X[long] /= norms[long, None]
            norms[long] = 1.0
        limit = np.minimum(self.parameter_bound * norms + self.noise_bound, self.response_bound)
        return X, np.clip(y, -limit, limit), null

    def quantise(self, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """X and y as integers in units of 2^-16, rounded towards zero, with squared row norms at most 2^32; both
        float64.
        """
        rows = np.trunc(X * _ONE)
        while True:
            squares = np.einsum("ij,ij->i", rows, rows)  # exact: integers below 2^53
            long = squares > float(_ONE * _ONE)
            if not long.any():
                return rows, np.trunc(y * _ONE)
            # Rounding of the division in `clip` can leave a norm a hair above 1: shrink that record alone. A row that
            # nobody shortened comes down at once: how long this takes must not depend on how long it is.
            over = np.sqrt(squares[long, None]) / _ONE
            rows[long] = np.trunc(rows[long] * (1.0 - 2.0**-15) / np.where(over > 1.0 + 2.0**-15, over, 1.0))


@dataclass(frozen=True, eq=False)
class Moments:
    """Exact second moments of one group of records, in units of 2^-32.

    Args:
        gram: (d, d) object array of integers: sum of x x'.
        cross: (d,) object array of integers: sum of x y.
    """

    gram: np.ndarray
    cross: np.ndarray

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.gram + other.gram, self.cross + other.cross)

    @property
    def dimension(self) -> int:
        return len(self.cross)


def moments(
    batches: Iterable[Batch], record_map: RecordMap, split: np.ndarray, features: int
) -> tuple[Moments, Moments]:
    """The exact moments of both groups, in one pass over the records.

    Args:
        batches: batches of submissions. The first row of each participant counts, and no row is stored.
        record_map: map that makes each record usable.
        split: (n,) bool; entry i is the group of the participant of rank i in the public list of ids.
        features: number d of features.

    Returns:
        The moments of group 0 and the moments of group 1, which are equal integers for any order and chunking of the
        rows.
    """
    right_bound = int(np.ceil(record_map.response_bound * _ONE))

    def whole_numbers(batch: Batch) -> tuple[np.ndarray, np.ndarray]:
        X, y, _null = record_map.clip(batch)
        return record_map.quantise(X, y)

    first, second = group_sums(batches, split, whole_numbers,
                               lambda: IntegerCross(features, left_bound=_ONE, right_bound=right_bound))
    return Moments(first.gram, first.cross), Moments(second.gram, second.cross)


def group_sums(
    batches: Iterable[Batch], split: np.ndarray, rows: Callable[[Batch], tuple[np.ndarray, np.ndarray]],
    empty: Callable[[], IntegerCross],
) -> tuple[IntegerCross, IntegerCross]:
    """The exact sums of products of both groups, in one pass over the records.

    Args:
        batches: batches of submissions. The first row of each participant counts.
        split: (n,) bool; entry i is the group of the participant of rank i in the public list of ids.
        rows: function from a batch to two arrays of whole numbers: the left rows and the right entries of an
            `IntegerCross`, in the order of the batch.
        empty: function that makes sums of no records.

    Returns:
        The sums of group 0 and the sums of group 1.
    """
    def add(pair: tuple[IntegerCross, IntegerCross], batch: Batch) -> None:
        left, right = rows(batch)
        group = split[batch.index]
        pair[0].add(left[~group], right[~group])
        pair[1].add(left[group], right[group])

    def join(pair: tuple[IntegerCross, IntegerCross], other: tuple[IntegerCross, IntegerCross]) -> None:
        pair[0].merge(other[0])
        pair[1].merge(other[1])

    return Reader(lambda: batches, len(split)).fold(lambda: (empty(), empty()), add, join)


def payments(batches: Iterable[Batch], people: int, pay: Callable[[Batch], np.ndarray]) -> np.ndarray:
    """The payment of each invited person, in one pass over the records. Each payment depends on the person's own row
    alone, and is 0 without a row.

    Args:
        batches: batches of submissions. The first row of each participant counts.
        people: number n of invited people.
        pay: function from a batch to one payment for each row, in whole smallest units of the currency. Each payment
            depends on its own row alone.

    Returns:
        (n,) payments, int64.
    """
    found = Reader(lambda: batches, people).each(lambda batch: {"payment": pay(batch)}, {"payment": 0})
    paid: np.ndarray = found["payment"].to_numpy()
    return paid


def one_record(record: Any, index: int, people: int, features: int) -> Batch | None:
    """One participant's record as a batch with a single row, at the participant's rank. The value None stands for a
    missing record.

    Args:
        record: pair (x, y) as the participant submitted it, with x of shape (d,). Each of x and y may have any form
            that a run accepts for X and y, with a single row, or be a mapping of columns. None stands for a missing
            record.
        index: rank of the participant in the public list of ids.
        people: number of participants, n.
        features: number of features, d.

    Raises:
        InvalidInput: the rank is beyond the list, the record is not a pair, or a table does not have exactly one row.
    """
    if not 0 <= whole("index", index) < people:
        raise InvalidInput("index", f"{index} is out of range", f"must be below {people}")
    if record is None:
        return None
    if is_table(record) or isinstance(record, Mapping | str) or not hasattr(record, "__len__") or len(record) != 2:
        raise InvalidInput("record", f"{type(record).__name__} is not a pair", "must be (x, y): features and answer")
    x, y = record
    if isinstance(y, str) and not isinstance(x, np.ndarray | list | tuple):
        table = {name: [cell] for name, cell in x.items()} if isinstance(x, Mapping) else x
        x, y = _read((table, y))
        x, y = (x[0], y[0]) if len(x) == len(y) == 1 else (x, y)
    else:
        x, y = own_row(x, features), own_row(y, 1)
    if np.ndim(y) == 1 and len(y) == 1:
        y = y[0]
    if isinstance(x, np.ndarray) and x.ndim > 1:
        raise InvalidInput("record", f"has {counted(len(x), 'row')}", "must be one row, the participant's own")
    (batch,) = as_batches(([x], [y]), features)
    return Batch(np.array([index]), batch.X, batch.y)


def least_squares(batches: Iterable[Batch], features: int) -> np.ndarray:
    """The least squares coefficients (d,) of streamed records, without privacy."""
    gram, cross = np.zeros((features, features)), np.zeros(features)
    for batch in batches:
        gram += batch.X.T @ batch.X
        cross += batch.X.T @ batch.y
    return np.linalg.lstsq(gram, cross, rcond=None)[0]


def r_squared(batches: Iterable[Batch], coefficients: dict[str, np.ndarray]) -> dict[str, float]:
    """The coefficient R^2 of several coefficient vectors on streamed records."""
    errors = dict.fromkeys(coefficients, 0.0)
    count, total, squares = 0, 0.0, 0.0
    for batch in batches:
        count += len(batch.y)
        total += float(batch.y.sum())
        squares += float(batch.y @ batch.y)
        for name, theta in coefficients.items():
            errors[name] += float(np.sum((batch.y - batch.X @ theta) ** 2))
    spread = squares - total**2 / max(1, count)
    return {name: 1.0 - error / spread for name, error in errors.items()}
