"""Designs of regressions: a design turns chosen columns of a record into a vector x, with Euclidean norm ||x|| <= 1 for
every possible record.

Every column gives one block of x, with norm at most 1: a scaled number, or the dummies of a category. The constant
entry of x is a block too. After division by the square root of the number of blocks, the norm of x is at most 1. The
constant is penalised like every other coefficient, because an intercept without penalty would have unbounded
sensitivity.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from confide.contract.errors import InvalidInput
from confide.tables.roles import FINE, Category, Cells, Numeric
from confide.tables.sources import open_table

__all__ = ["INTERCEPT", "Design", "Encoded", "Natural"]

INTERCEPT = "(intercept)"
"""Name of the coefficient of the constant."""

_PROBLEMS = 8  # codes per feature
_SLACK = 1.0 - 2.0**-44  # keeps computed norms at most 1 in spite of rounding


class Encoded(NamedTuple):
    """Rows of a table, encoded as vectors.

    Args:
        X: the vectors as rows, float64 of shape (m, d), stored column by column (`X.T` is contiguous). The rows of
            invalid records are 0.
        valid: bool of shape (m,), True for a record that can be used.
        codes: int16 of shape (m,): 0 for a valid record, and otherwise the code of the record's problem
            (`Design.reason`).
    """

    X: np.ndarray
    valid: np.ndarray
    codes: np.ndarray


class Natural(NamedTuple):
    """Coefficients in the units of the columns: `coefficients = matrix @ scaled + offset`, where `scaled` are the
    coefficients of the scaled regression.

    Args:
        coefficients: coefficients, shape (k,), with the names in `Design.natural_names`.
        matrix: linear part of the map from scaled to natural coefficients, shape (k, d).
        offset: constant part of the map from scaled to natural coefficients, shape (k,).
    """

    coefficients: np.ndarray
    matrix: np.ndarray
    offset: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Design:
    """The map from a record to its vector x, defined by public column roles alone.

    Args:
        features: roles of the columns, in order; each column once.
        intercept: whether x has a constant entry.

    Raises:
        InvalidInput: there are neither features nor an intercept, two features have the same column, or a feature is no
            role.

    Example:
        >>> design = Design(features=(Numeric(column="age", lower=20, upper=60),
        ...                           Category(column="sex", levels=("female", "male"))))
        >>> design.names
        ('(intercept)', 'age', 'sex=male')
        >>> design.encode_one({"age": 60, "sex": "male"})[0].round(6)
        array([0.57735, 0.57735, 0.57735])
        >>> design.encode_one({"age": 61, "sex": "male"})[1]
        'age: 61 is out of bounds; must be in [20, 60]'
    """

    features: tuple[Numeric | Category, ...]
    intercept: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(self.features))
        for feature in self.features:
            if not isinstance(feature, Numeric | Category):
                raise InvalidInput("features", f"{feature!r} is not a role", "must be Numeric or Category")
        if not self.features and not self.intercept:
            raise InvalidInput("features", "none given", "a design needs a feature or the intercept")
        twice = {column for column in self.columns if self.columns.count(column) > 1}
        if twice:
            raise InvalidInput("features", f"the column {min(twice)!r} occurs twice")

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that the design reads."""
        return tuple(feature.column for feature in self.features)

    @property
    def blocks(self) -> int:
        """Number of blocks of x: one for each feature, and one for the constant if there is one."""
        return len(self.features) + int(self.intercept)

    @property
    def weight(self) -> float:
        """The factor by which every block is multiplied: 1 / sqrt(blocks), reduced slightly so that rounding never
        lifts ||x|| above 1.
        """
        return _SLACK / math.sqrt(self.blocks)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the d coefficients."""
        names = [INTERCEPT] if self.intercept else []
        for feature in self.features:
            if isinstance(feature, Numeric):
                names.append(feature.column)
            else:
                names.extend(f"{feature.column}={level}" for level in feature.levels[1:])
        return tuple(names)

    @property
    def dimension(self) -> int:
        """The length d of x."""
        return int(self.intercept) + sum(
            1 if isinstance(feature, Numeric) else len(feature.levels) - 1 for feature in self.features
        )

    def encode(self, table: Any) -> Encoded:
        """Encode m rows of a table as vectors.

        Args:
            table: an Arrow record batch, or any source that `confide.tables.open_table` reads, such as a data frame or
                a mapping. The table must have the columns of the features; other columns are ignored.

        Raises:
            InvalidInput: the source is no table, its rows have no order, a column is missing, or a column's type cannot
                hold the values of its role. The error never depends on the values.

        Example:
            >>> Design(features=(Numeric(column="age", lower=20, upper=60),)).encode({"age": [60, 61]}).valid
            array([ True, False])
        """
        if isinstance(table, pa.RecordBatch):
            return self._encode(table)
        source = open_table(table).for_roles(self.features)
        if not source.ordered:
            raise InvalidInput("table", "the rows of a query have no order",
                               "end it with .order_by(a column that is different in every row)")
        found = [self._encode(batch) for batch in source.batches(self.columns or source.column_names[:1])]
        if not found:
            return Encoded(np.empty((self.dimension, 0)).T, np.empty(0, bool), np.empty(0, np.int16))
        return Encoded(np.concatenate([each.X.T for each in found], axis=1).T,
                       np.concatenate([each.valid for each in found]), np.concatenate([each.codes for each in found]))

    def _encode(self, batch: pa.RecordBatch) -> Encoded:
        missing = [column for column in self.columns if column not in batch.schema.names]
        if missing:
            raise InvalidInput(missing[0], "the column is missing", f"columns: {', '.join(batch.schema.names)}")
        m = batch.num_rows
        rows = np.empty((self.dimension, m))
        codes = np.zeros(m, np.int16)
        at = 0
        if self.intercept:
            rows[0] = self.weight
            at = 1
        for position, feature in enumerate(self.features):
            problems = self._place(feature, feature.encode(batch.column(feature.column)), rows, at)
            at += 1 if isinstance(feature, Numeric) else len(feature.levels) - 1
            if problems.any():
                fresh = (problems != FINE) & (codes == 0)
                codes[fresh] = problems[fresh] + np.int16(_PROBLEMS * position)
        valid = codes == 0
        if not valid.all():
            rows[:, ~valid] = 0.0
        return Encoded(rows.T, valid, codes)

    def _place(self, feature: Numeric | Category, cells: Cells, rows: np.ndarray, at: int) -> np.ndarray:
        """Write one feature's entries into the vectors, from entry `at` on; return the problem codes of its cells."""
        if isinstance(feature, Numeric):
            np.multiply(cells.values, self.weight, out=rows[at])
        else:
            for level in range(1, len(feature.levels)):
                np.multiply(cells.values == level, self.weight, out=rows[at + level - 1])
        return cells.problems

    def rows_of(self, values: Sequence[np.ndarray], count: int) -> np.ndarray:
        """The vectors that `encode` would return for given values, which are not in a table. The values must be in
        range.

        Args:
            values: one array for each feature, of shape (count,): float64 numbers in the column's unit, or ranks of
                levels.
            count: number of rows, which is also the length of each array in `values`.

        Returns:
            The vectors, shape (count, d).

        Example:
            >>> design = Design(features=(Numeric(column="age", lower=20, upper=60),))
            >>> design.rows_of([np.array([60.0, 40.0])], 2)[:, -1]
            array([0.70710678, 0.        ])
        """
        rows = np.empty((self.dimension, count))
        if self.intercept:
            rows[0] = self.weight
        at = int(self.intercept)
        for feature, found in zip(self.features, values, strict=True):
            if isinstance(feature, Numeric):
                self._place(feature, feature.scaled(found), rows, at)
                at += 1
            else:
                self._place(feature, Cells(found, np.zeros(count, np.int8)), rows, at)
                at += len(feature.levels) - 1
        return rows.T

    def cells(self, x: np.ndarray) -> list[float]:
        """The cells that `encode` turned into the vector x: for each feature the scaled number, or the rank of the
        level.

        Args:
            x: shape (d,), a valid row of `encode`.

        Example:
            >>> design = Design(features=(Category(column="sex", levels=("female", "male")),))
            >>> design.cells(design.encode_one({"sex": "male"})[0])
            [1.0]
        """
        found, at = list[float](), int(self.intercept)
        for feature in self.features:
            if isinstance(feature, Numeric):
                found.append(float(x[at] / self.weight))
                at += 1
            else:
                dummies = x[at : at + len(feature.levels) - 1]
                found.append(float(np.argmax(dummies) + 1) if dummies.any() else 0.0)
                at += len(feature.levels) - 1
        return found

    def reason(self, code: int) -> str:
        """Text on the problem for a nonzero code of `encode`: the column and the accepted values, without private
        values.
        """
        position, problem = divmod(int(code), _PROBLEMS)
        return self.features[position].reason(problem)

    def encode_one(self, record: Mapping[str, object]) -> tuple[np.ndarray, str | None]:
        """Encode one participant's row on their own device, with exactly the result of `encode`.

        Args:
            record: mapping from column name to value. Keys that name no column are ignored. Texts from a form are read
                as numbers where needed.

        Returns:
            The vector x of shape (d,) and None; or zeros, and a message for the participant alone that names the field,
            the problem of its value, and the accepted values.
        """
        x = np.zeros(self.dimension)
        at = 0
        if self.intercept:
            x[0] = self.weight
            at = 1
        for feature in self.features:
            value, message = feature.encode_one(record.get(feature.column))
            if message is not None:
                return np.zeros(self.dimension), message
            if isinstance(feature, Numeric):
                x[at] = value * self.weight
                at += 1
            else:
                if value:
                    x[at + int(value) - 1] = self.weight
                at += len(feature.levels) - 1
        return x, None

    def natural_names(self) -> tuple[str, ...]:
        """The names of the natural coefficients. The first name is always that of the intercept."""
        return self.names if self.intercept else (INTERCEPT, *self.names)

    def natural_units(self, response: Numeric) -> tuple[str, ...]:
        """The units of the natural coefficients. The coefficient of a number has the unit of the response per unit of
        the feature, and every other coefficient has the unit of the response.
        """
        top = response.unit or f"units of {response.column}"
        units = [top]
        for feature in self.features:
            if isinstance(feature, Numeric):
                units.append(f"{top} per {feature.unit or f'unit of {feature.column}'}")
            else:
                units.extend([top] * (len(feature.levels) - 1))
        return tuple(units)

    def reference(self) -> dict[str, float | str]:
        """The values of the person for whom the natural intercept predicts the response: every number at its center,
        every category at its first level.
        """
        return {
            feature.column: feature.middle if isinstance(feature, Numeric) else feature.levels[0]
            for feature in self.features
        }

    def natural(self, coefficients: np.ndarray, response: Numeric) -> Natural:
        """The natural coefficients: the coefficients of the scaled regression, converted to the units of the columns.

        The scaled model predicts the scaled response by x @ coefficients. The natural model predicts the same response
        as a sum of three parts: the intercept; slope * (v - center) for each number v; and, for each category, the
        coefficient of its level, which is 0 for the first level.

        - The intercept is the response predicted for `reference()`: every number at its center, every category at its
          first level. Without a constant in x the intercept is the response's own center.
        - The coefficient of a number is the change of the response per unit of the number.
        - The coefficient of a level is the difference between the responses predicted for this level and for the first
          level.

        Args:
            coefficients: scaled coefficients, shape (d,), in the order of `names`.
            response: the role that scaled the response.

        Raises:
            InvalidInput: the coefficients have another shape.

        Example:
            >>> design = Design(features=(Numeric(column="age", lower=20, upper=60),), intercept=False)
            >>> wage = Numeric(column="wage", lower=0, upper=40)
            >>> design.natural(np.array([0.5]), wage).coefficients.round(6)
            array([20. ,  0.5])
        """
        scaled = np.asarray(coefficients, dtype=np.float64)
        if scaled.shape != (self.dimension,):
            raise InvalidInput("coefficients", f"of shape {scaled.shape}", f"must be of shape ({self.dimension},)")
        slopes = [1.0] if self.intercept else []
        for feature in self.features:
            if isinstance(feature, Numeric):
                slopes.append(1.0 / feature.scale)
            else:
                slopes.extend([1.0] * (len(feature.levels) - 1))
        matrix = np.zeros((len(self.natural_names()), self.dimension))
        matrix[len(matrix) - self.dimension :] = np.diag(np.array(slopes) * self.weight * response.scale)
        offset = np.zeros(len(matrix))
        offset[0] = response.middle
        return Natural(matrix @ scaled + offset, matrix, offset)
