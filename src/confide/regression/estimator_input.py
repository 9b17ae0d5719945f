"""Input of an estimator: frames and arrays as columns of numbers, with their names.

Shapes, names and types are public, and are checked first. The values are read only after the privacy loss has been
charged. A cell that is not a number becomes nan. The row of that cell then counts as a null record, which adds nothing,
so that one person's cell never stops a fit.

The privacy losses of repeated fits of the same data add up. The module keeps track of such fits where there is no
ledger, and warns about them.

Data sets are recognised by a keyed digest of their values. The key is drawn for each process. The key and the digests
stay in memory and are never written to disk. Data with other rows, other columns or another order are not recognised,
nor are data in another process.
"""

from __future__ import annotations

import hashlib
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from confide.contract.errors import InvalidInput
from confide.contract.words import counted
from confide.privacy.filter import Cost
from confide.privacy.noise.entropy import random_bytes
from confide.regression.records import doubles
from confide.tables._cells import numbers
from confide.tables._values import as_array, made_by
from confide.tables.frames import plain_numbers, table_of
from confide.tables.roles import Numeric

__all__ = [
    "Columns",
    "Refits",
    "bounded_features",
    "bounded_response",
    "features_of",
    "lost_records",
    "response_of",
    "warn_of_names",
]

# ---- estimator input

_WHY_BOUNDS = ("bounds are public: give bounds that you know without this data. The smallest and the largest value in "
               "the data would disclose the people who have them")


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of data whose values have not been read yet.

    Args:
        rows: number of rows.
        labels: name of each column; "x0", "x1", ... for columns without names.
        named: whether the names in `labels` come from the data, in which all of them were texts.
        read: function that reads the values, (rows, columns) in doubles; nan where a cell is not a number.
    """

    rows: int
    labels: tuple[str, ...]
    named: bool
    read: Callable[[], np.ndarray]


def features_of(X: Any) -> Columns:
    """The columns of features: a frame of pandas, Polars or Arrow, a mapping of columns, or any two-dimensional array.

    Raises:
        InvalidInput: the data have another shape, no columns or columns of different lengths, are sparse or complex,
            or have a column whose type holds no numbers.
    """
    if hasattr(X, "tocsr"):  # first, since some sparse matrices are mappings
        raise InvalidInput("X", "Sparse data is unsupported", "give a dense array, such as X.toarray()")
    if isinstance(X, Mapping):
        X = table_of(X)
    return _frame(X) if hasattr(X, "columns") else _matrix(X)


def response_of(y: Any, rows: int) -> Columns:
    """The column of responses, with as many rows as the features have.

    Warns:
        DataConversionWarning of scikit-learn, or UserWarning if scikit-learn is not loaded: the column has two axes.

    Raises:
        InvalidInput: the response has another shape, or a type that holds no numbers.
    """
    if y is None:
        raise InvalidInput("y", "PrivateRegression requires y to be passed, but the target y is None")
    found, axes = (_frame(y, "y"), 2) if hasattr(y, "columns") else _vector(y)
    if len(found.labels) != 1:
        raise InvalidInput("y", f"has {counted(len(found.labels), 'column')}", "y should be a 1d array")
    if axes == 2:
        warnings.warn("A column-vector y was passed when a 1d array was expected: it is taken as one",
                      _category("DataConversionWarning"), stacklevel=3)
    if found.rows != rows:
        raise InvalidInput("y", f"has {counted(found.rows, 'row')}", f"X has {rows:,}")
    return found


def warn_of_names(given: Columns, fitted: tuple[str, ...] | None, estimator: str) -> None:
    """Compare the column names of the data for a prediction with the column names of the fit.

    Args:
        given: columns of the data for the prediction.
        fitted: column names at the fit; None where the data had no names.
        estimator: name of the estimator, for messages.

    Warns:
        UserWarning: only one of the two data sets has column names.

    Raises:
        InvalidInput: the names or their order differ.
    """
    if fitted is None or not given.named:
        if given.named:
            warnings.warn(f"X has feature names, but {estimator} was fitted without feature names", stacklevel=3)
        elif fitted is not None:
            warnings.warn(f"X does not have valid feature names, but {estimator} was fitted with feature names",
                          stacklevel=3)
        return
    if given.labels == fitted:
        return
    unseen, missing = sorted(set(given.labels) - set(fitted)), sorted(set(fitted) - set(given.labels))
    said = [f"unseen at fit time: {', '.join(unseen[:5])}"] * bool(unseen)
    said += [f"seen at fit time, yet now missing: {', '.join(missing[:5])}"] * bool(missing)
    raise InvalidInput("X", "The feature names should match those that were passed during fit",
                       "; ".join(said) or "they must be in the same order as they were in fit")


# ---- frames


def _frame(frame: Any, field: str = "") -> Columns:
    """The columns of a frame, each with the type that the frame declares.

    Args:
        frame: frame of pandas, Polars or Arrow.
        field: name in error messages, "y" for the response; by default each column's own name.
    """
    names, columns = _columns_of(frame)
    labels = tuple(map(str, names))
    if len(set(labels)) < len(labels):
        twice = next(name for name in labels if labels.count(name) > 1)
        raise InvalidInput("X", f"two columns have the name {twice!r}")
    arrays = [plain_numbers(field or label, as_array(column)) for label, column in zip(labels, columns, strict=True)]
    rows = len(arrays[0]) if arrays else int(frame.shape[0])

    def read() -> np.ndarray:
        values = np.empty((rows, len(arrays)), order="F")
        for k, (label, array) in enumerate(zip(labels, arrays, strict=True)):
            values[:, k] = numbers(label, array)
        return values

    named = bool(names) and all(isinstance(name, str) for name in names)
    return _some(Columns(rows, labels if named else _unnamed(len(labels)), named, read))


def _columns_of(frame: Any) -> tuple[list[Any], list[Any]]:
    """The column names, unchanged, and the columns of a frame of any library; a pandas index is not a column."""
    if hasattr(frame, "column_names") and hasattr(frame, "column"):  # Arrow
        return list(frame.column_names), [frame.column(k) for k in range(frame.num_columns)]
    if made_by("pandas", frame):
        return list(frame.columns), [frame.iloc[:, k] for k in range(frame.shape[1])]
    if hasattr(frame, "get_columns"):  # Polars
        return list(frame.columns), list(frame.get_columns())
    raise InvalidInput("X", f"{type(frame).__name__} is not a table in memory",
                       "give arrays or a frame of pandas, Polars or Arrow; collect a query or a lazy frame first")


# ---- arrays


def _typed(values: Any) -> bool:
    """Whether a sequence is a column of pandas, Polars or Arrow, which has a declared type."""
    return any(made_by(package, values) for package in ("pandas", "polars", "pyarrow"))


def _array(field: str, values: Any) -> Any:
    """A list as an array; a list that numpy would turn into text stays an array of objects, which is read cell by
    cell.
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise InvalidInput(field, "the rows have different lengths") from None
    return np.asarray(values, dtype=object) if array.dtype.kind in "US" and isinstance(values, list | tuple) else array


def _numeric(field: str, array: Any) -> None:
    """Refuse an array whose type holds no real numbers."""
    kind = getattr(getattr(array, "dtype", None), "kind", "O")
    if kind == "c":
        raise InvalidInput(field, "Complex data not supported", "must be real numbers")
    if kind not in "biufO":
        raise InvalidInput(field, f"an array of type {array.dtype} holds {'text' if kind in 'US' else 'no numbers'}",
                           "must be numbers")


def _matrix(X: Any) -> Columns:
    """The columns of a two-dimensional array."""
    array = X if hasattr(X, "shape") and hasattr(X, "dtype") else _array("X", X)
    _numeric("X", array)
    if len(array.shape) != 2:
        raise InvalidInput("X", f"shape {tuple(array.shape)}",
                           "Reshape your data: X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one row")
    rows, width = array.shape
    return _some(Columns(rows, _unnamed(width), False, lambda: doubles(array, width)))


def _vector(y: Any) -> tuple[Columns, int]:
    """The response in an array or a series, and its number of axes."""
    if _typed(y):
        column = plain_numbers("y", as_array(y))
        return Columns(len(column), ("y",), False, lambda: numbers("y", column)[:, None]), 1
    array = y if hasattr(y, "shape") and hasattr(y, "dtype") else _array("y", y)
    _numeric("y", array)
    if len(array.shape) not in {1, 2}:
        raise InvalidInput("y", f"shape {tuple(array.shape)}", "y should be a 1d array")
    shape = (*array.shape, 1)[:2]
    found = Columns(shape[0], _unnamed(shape[1]), False, lambda: doubles(np.reshape(array, shape), shape[1]))
    return found, len(array.shape)


def _unnamed(width: int) -> tuple[str, ...]:
    return tuple(f"x{k}" for k in range(width))


def _some(found: Columns) -> Columns:
    if not found.labels:
        raise InvalidInput("X", f"0 feature(s) (shape=({found.rows}, 0)) while a minimum of 1 is required.")
    return found


def _category(name: str) -> type[Warning]:
    """The named warning class of scikit-learn if scikit-learn is loaded, so that its own filters apply; scikit-learn is
    never imported.
    """
    found = getattr(sys.modules.get("sklearn.exceptions"), name, UserWarning)
    return found if isinstance(found, type) and issubclass(found, Warning) else UserWarning


# ---- bounds


def bounded_features(given: Any, features: Columns) -> tuple[Numeric, ...]:
    """The roles of the features with their public bounds; a value beyond a bound is moved to the bound.

    Args:
        given: bounds in any form of `PrivateRegression.feature_bounds`.
        features: columns of the features.

    Raises:
        InvalidInput: bounds are missing or invalid.
    """
    return tuple(_role(f"feature_bounds of {label}", f"x{k}", pair)
                 for k, (label, pair) in enumerate(zip(features.labels, _pairs(given, features), strict=True)))


def bounded_response(given: Any) -> Numeric:
    """The role of the response with its public bounds.

    Args:
        given: pair (lower, upper).

    Raises:
        InvalidInput: bounds are missing or invalid.
    """
    if given is None:
        raise InvalidInput("response_bounds", "is missing", f"must be (lower, upper); {_WHY_BOUNDS}")
    return _role("response_bounds", "y", given)


def _pairs(given: Any, features: Columns) -> list[Any]:
    """The pair (lower, upper) of each column, from the bounds in any accepted form."""
    if given is None:
        raise InvalidInput("feature_bounds", "is missing",
                           f"must be (lower, upper), a list of pairs, or a mapping from column to pair; {_WHY_BOUNDS}")
    if isinstance(given, Mapping):
        if not features.named:
            raise InvalidInput("feature_bounds", "names columns, but X has no names", "give a pair for each column")
        missing = [label for label in features.labels if label not in given]
        unknown = [str(name) for name in given if name not in features.labels]
        if missing or unknown:
            said = [f"no bounds for {', '.join(missing[:5])}"] * bool(missing)
            said += [f"{', '.join(unknown[:5])} is not a column"] * bool(unknown)
            raise InvalidInput("feature_bounds", "; ".join(said), f"columns: {', '.join(features.labels[:12])}; "
                               + _WHY_BOUNDS)
        return [given[label] for label in features.labels]
    pairs = _listed("feature_bounds", given)
    if len(pairs) == 2 and not any(isinstance(end, Sequence | np.ndarray) for end in pairs):
        return [pairs] * len(features.labels)
    if len(pairs) != len(features.labels):
        raise InvalidInput("feature_bounds", f"{len(pairs)} given",
                           f"X has {len(features.labels)} columns: give one "
                           "pair (lower, upper) for each column, or one for all")
    return pairs


def _listed(field: str, given: Any) -> list[Any]:
    if isinstance(given, str | bytes) or not isinstance(given, Sequence | np.ndarray):
        raise InvalidInput(field, f"{given!r} is not a pair (lower, upper)",
                           "must be two numbers, the first below the second")
    return list(given)


def _role(field: str, column: str, pair: Any) -> Numeric:
    """The role of a column with given bounds; errors name the parameter with the bounds."""
    ends = _listed(field, pair)
    if len(ends) != 2:
        raise InvalidInput(field, counted(len(ends), "number"), "must be (lower, upper)")
    try:
        return Numeric(column=column, lower=ends[0], upper=ends[1], out_of_bounds="clip")
    except InvalidInput as error:
        raise InvalidInput(field, f"{error.field}: {error.problem}", error.ways) from None


# ---- the holder's view


def lost_records(labels: Sequence[str], roles: Sequence[Numeric], cells: np.ndarray) -> str:
    """A private message to the holder of the data. The message gives the number of rows that count as null, and the
    number of values that were moved to a bound.

    Args:
        labels: (d,) names of the features.
        roles: (d + 1,) roles of the features and the response.
        cells: (n, d + 1) values of the features and the response.
    """
    bad = ~np.isfinite(cells)
    kept = ~bad.any(axis=1)
    low, high = (np.array([getattr(role, end) for role in roles]) for end in ("lower", "upper"))
    moved = ((cells < low) | (cells > high))[kept].sum(axis=0)
    names, said = [*labels, "y"], []
    if not kept.all():
        said.append(f"{(~kept).sum():,} of {len(cells):,} rows count as null records, since a cell is missing, "
                    f"infinite or not a number ({_counted(names, bad.sum(axis=0))})")
    if moved.any():
        said.append(f"{moved.sum():,} values lie beyond their bounds and were moved to them ({_counted(names, moved)})")
    return "; ".join(said) + ". This message follows from private records" if said else ""


def _counted(names: Sequence[str], counts: np.ndarray) -> str:
    found = [f"{name}: {count:,}" for name, count in zip(names, counts.tolist(), strict=True) if count]
    return ", ".join(found[:8]) + (", ..." if len(found) > 8 else "")


# ---- refits

_BYTES = 32


@dataclass
class Refits:
    """The privacy loss spent on each data set. A data set is recognised by its digest, and several threads may use one
    object.

    Example:
        >>> refits, data = Refits(), np.arange(6.0).reshape(3, 2)
        >>> known = refits.digest([data])
        >>> refits.add(known, Cost()), refits.add(refits.digest([data.copy()]), Cost())[0]
        ((1, Cost(epsilon=Fraction(0, 1), delta=Fraction(0, 1), rho=Fraction(0, 1), pure=True)), 2)
    """

    _key: bytes = field(default_factory=lambda: random_bytes(_BYTES), repr=False)
    _spent: dict[bytes, tuple[int, Cost]] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def digest(self, parts: Iterable[np.ndarray], note: bytes = b"") -> bytes:
        """The keyed digest of some columns of doubles, which is the same for every layout in memory.

        Args:
            parts: arrays of shape (m, d).
            note: further bytes that distinguish data sets.
        """
        found = hashlib.blake2b(note, key=self._key, digest_size=_BYTES)
        for part in parts:
            found.update(repr(part.shape).encode())
            for column in part.T:
                found.update(np.ascontiguousarray(column + 0.0).data)  # -0 and 0 are one number
        return found.digest()

    def with_one_more(self, digest: bytes, cost: Cost) -> tuple[int, Cost]:
        """The number of fits of a data set after one more fit, and their total cost; nothing is recorded."""
        with self._lock:
            return self._plus(digest, cost)

    def add(self, digest: bytes, cost: Cost) -> tuple[int, Cost]:
        """Record a fit before it is made; the result is the number of fits and their total cost, as in
        `with_one_more`.
        """
        with self._lock:
            self._spent[digest] = self._plus(digest, cost)
            return self._spent[digest]

    def _plus(self, digest: bytes, cost: Cost) -> tuple[int, Cost]:
        count, before = self._spent.get(digest, (0, Cost()))
        return count + 1, before + cost
