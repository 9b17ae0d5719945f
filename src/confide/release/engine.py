"""Binning of columns inside a query engine, so that the engine returns only numbers of bins or counts, and no values.

The query expressions follow the rules of the column roles, in double precision. The expressions are used only for the
engines and column types for which tests show that the engine and Arrow agree: whole and floating-point numbers,
booleans and texts in DuckDB and PostgreSQL.

All other tables are streamed and binned in Python. This holds for other engines; columns of other types, such as
decimals; numbers or levels that are spelled as texts; columns with very many irregular bins; queries that return other
rows at each run; and tables that the engine fails to bin.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from confide.contract.errors import InvalidInput
from confide.privacy.accounting import written
from confide.release.columns import Binned, Bit, Column, Levels, cells_of
from confide.release.schema import Schema
from confide.release.workload import Workload
from confide.tables._cells import has_other_spellings
from confide.tables._engines import drawn_anew, engine_of, failed, warn_of_guesses
from confide.tables.roles import FINE, INFINITE, MISSING, OUTSIDE, UNEVEN, UNLISTED, Category
from confide.tables.sources import Query, TableSource, open_table

__all__ = ["Pushed", "pushed"]

_MOST_SETS = 32  # choices of columns that are counted one by one
_MOST_CELLS = 1 << 22  # of one choice of columns
_MOST_EDGES = 64  # of one column, each a comparison in the query; where they follow by a rule, any number
_MOST_DIGITS = 16
_BINNING = ("duckdb", "postgres")  # other engines order, round or trim otherwise, or have no such functions
_EVEN = 2.0**53  # doubles from here on are whole


def pushed(schema: Schema, table: Any) -> Pushed | None:
    """The database query that a table stands for, extended by the binning. The result is None if the table is no ibis
    expression, or if it must be binned in Python.

    Raises:
        InvalidInput: a column is missing, or has a type that cannot hold the values of its role, as for a table that is
            binned in Python.
    """
    if type(table).__module__.partition(".")[0] != "ibis":
        return None
    source = open_table(table)
    source.batches([column.column for column in schema.columns])
    if engine_of(table) not in _BINNING or drawn_anew(table):
        return None
    types = table.schema()
    for column in schema.columns:
        kind = types[column.column]
        if not (kind.is_numeric() or kind.is_boolean() or kind.is_string()) or kind.is_decimal():
            return None
        if kind.is_float16():
            return None
        if isinstance(column, Binned) and column.count > _MOST_EDGES and _even(column, kind) is None:
            return None
        category = _category(column)
        if category is None and kind.is_string():
            return None
        if category is not None and (kind.is_floating() or (kind.is_string() and has_other_spellings(category.levels))):
            return None
        if category is not None and kind.is_uint64():  # `whole` holds what a sign leaves room for
            return None
        column.encode(pa.array([], kind.to_pyarrow()))
    query = Pushed(schema, table, source.ordered)
    return query if query.runs() else None


class Pushed:
    """A database query in which the values of the columns are replaced by their bins.

    Args:
        schema: the public columns.
        table: an ibis table expression.
        ordered: whether the rows of the table have an order.
    """

    def __init__(self, schema: Schema, table: Any, ordered: bool) -> None:
        self._schema, self._table, self._ordered = schema, table, ordered
        types = table.schema()
        engine = engine_of(table)
        self._bins = {_name(place): _bin(column, table[column.column], types[column.column], engine)
                      for place, column in enumerate(schema.columns)}

    def runs(self) -> bool:
        """Whether the engine can run the binning. Some engines treat a type such as an enumeration as a text, but
        without the functions for texts.
        """
        try:
            self._table_of_bins.limit(0).to_pyarrow()
        except Exception:  # noqa: BLE001
            return False
        return True

    def source(self, more: tuple[str, ...]) -> TableSource:
        """The rows with bins in place of values, as input for `decode`. The columns in `more` are unchanged."""
        clash = set(self._bins) & set(more)
        if clash:
            raise InvalidInput("id", f"{min(clash)!r} is a name that confide reserves", "rename the column")
        warn_of_guesses(self._table, [*(column.column for column in self._schema.columns), *more])
        found = Query(self._table.select(**self._bins, **{name: self._table[name] for name in more}), own=True)
        found.ordered = self._ordered
        return found

    def decode(self, batch: pa.RecordBatch) -> tuple[np.ndarray, np.ndarray]:
        """The cells of some rows, uint16 (k, m), and the problem code of each value, int8 (k, m)."""
        cells = np.zeros((batch.num_rows, len(self._bins)), np.uint16)
        problems = np.zeros(cells.shape, np.int8)
        for place, column in enumerate(self._schema.columns):
            found = batch.column(_name(place)).to_numpy(zero_copy_only=False).astype(np.int64)
            problems[:, place] = np.maximum(-found, FINE)
            cells[:, place] = np.where(found >= 0, cells_of(column, found), 0)
        return cells, problems

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the query's columns that hold bins."""
        return tuple(self._bins)

    def choices(self, workload: Workload) -> list[tuple[tuple[int, ...], np.ndarray]] | None:
        """The combinations of columns that queries name, each with the positions of its queries. The result is None if
        there are too many combinations to count one by one.

        The result depends on the schema and the workload alone.
        """
        if workload.kind == "predicates":
            sets = [(tuple(range(len(self._schema.columns))), np.arange(len(workload)))]
        else:
            there = workload.index >= 0
            columns = np.where(there, self._schema.column_of[workload.index], -1)
            columns[:, 1:][columns[:, 1:] == columns[:, :-1]] = -1
            columns = np.sort(columns, axis=1)
            rows, inverse = np.unique(columns, axis=0, return_inverse=True)
            if len(rows) > _MOST_SETS:
                return None
            sets = [(tuple(row[row >= 0].tolist()), np.flatnonzero(inverse.reshape(-1) == place))
                    for place, row in enumerate(rows)]
        sizes = np.array(self._schema.sizes, dtype=object)
        if any(np.prod(sizes[list(columns)]) > _MOST_CELLS for columns, _ in sets):
            return None
        return sets

    def check(self) -> tuple[int, tuple[bool, ...]]:
        """The number of rows, and for each column whether it has a value that its role does not accept."""
        warn_of_guesses(self._table, [column.column for column in self._schema.columns])
        ibis = _ibis()
        bad = {name: ibis.ifelse(self._table_of_bins[name] < 0, 1, 0).max() for name in self._bins}
        row = self._run(self._table_of_bins.aggregate(rows=self._table_of_bins.count(), **bad)).to_pylist()[0]
        return int(row["rows"]), tuple(bool(row[name]) for name in self._bins)

    def tally(self, columns: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """The number of records in each combination of cells of some columns, counted in the engine.

        Returns:
            The cells of each combination that occurs, uint16 (u, m), with 0 in all other columns; and the number of
            records with each combination, int64 (u,). Unusable rows count as null records.
        """
        bins, names = self._table_of_bins, [_name(place) for place in columns]
        usable = bins[_name(0)] >= 0
        for name in self.names[1:]:
            usable &= bins[name] >= 0
        ibis = _ibis()
        nulls = {_name(place): int(self._schema.columns[place].reachable[0]) for place in columns}
        found = bins.select(**{name: ibis.ifelse(usable, bins[name], nulls[name]) for name in names})
        result = self._run(found.group_by(names).aggregate(rows_=found.count()))
        cells = np.zeros((result.num_rows, len(self._bins)), np.uint16)
        for place in columns:
            values = result[_name(place)].to_numpy()
            cells[:, place] = cells_of(self._schema.columns[place], values)
        return cells, result["rows_"].to_numpy().astype(np.int64)

    @property
    def _table_of_bins(self) -> Any:
        return self._table.select(**self._bins)

    def _run(self, expression: Any) -> pa.Table:
        try:
            return expression.to_pyarrow()
        except Exception as error:  # noqa: BLE001 - every engine has errors of its own
            raise failed(engine_of(self._table), error) from None


def _ibis() -> Any:
    import ibis

    return ibis


def _name(place: int) -> str:
    return f"confide_cell_{place}"


def _number(value: float) -> Any:
    """A double as an expression of the engine, cast from its shortest text. A plain numeral in the query could be read
    as a decimal and rounded.
    """
    return _ibis().literal(repr(float(value))).cast("float64")


def _first(pairs: Iterator[tuple[Any, Any]] | list[tuple[Any, Any]], otherwise: Any) -> Any:
    """An expression with the value of the first pair whose condition is true."""
    return _ibis().cases(*pairs, else_=otherwise).cast("int32")


def _bin(column: Column, value: Any, kind: Any, engine: str) -> Any:
    """The bin of a column's value, or minus the problem code; int32, never null."""
    if isinstance(column, Levels):
        return _level(column.category, column.bin_of.tolist(), value, kind, engine)
    if isinstance(column, Bit) and column.category is not None:
        return _level(column.category, [0, 1], value, kind, engine)
    number = (_ibis().ifelse(value, 1, 0) if kind.is_boolean() else value).cast("float64")
    missing = [(value.isnull(), -MISSING)]
    if kind.is_floating():
        missing.append((number.isnan(), -MISSING))
    if isinstance(column, Bit):
        return _first([*missing, (number == _number(1), 1), (number == _number(0), 0)], -UNLISTED)
    return _first([*missing, *_limits(column, number, kind)], _place(column, number, kind, engine))


def _limits(column: Binned, number: Any, kind: Any) -> Iterator[tuple[Any, int]]:
    if kind.is_floating():
        yield number.isinf(), -INFINITE
    if column.out_of_bounds == "reject":
        yield number < _number(_least(column.lower, kind)), -OUTSIDE
        yield number >= _number(_least(math.nextafter(column.upper, math.inf), kind)), -OUTSIDE
    if column.whole and kind.is_floating():
        # An engine's floor may be a 64-bit integer. Doubles from 2^53 on are whole; others were refused above.
        small = _ibis().ifelse((number > _number(-_EVEN)) & (number < _number(_EVEN)), number, _number(0.0))
        yield small.floor() != small, -UNEVEN


def _least(value: float, kind: Any) -> float:
    """The smallest number of a column's type that prints as a decimal not below the given value."""
    if not kind.is_float32():
        return value
    with np.errstate(all="ignore"):
        found = np.float32(value)
        while float(str(found)) >= value:
            found = np.nextafter(found, np.float32(-np.inf))
        while float(str(found)) < value:
            found = np.nextafter(found, np.float32(np.inf))
    return float(found)


def _place(column: Binned, number: Any, kind: Any, engine: str) -> Any:
    """The bin of a number within the bounds. A number beyond the bounds gets the bin of the nearer bound."""
    bounds = (math.ceil(column.lower), math.floor(column.upper)) if column.whole else (column.lower, column.upper)
    first, last = (int(column.place(np.array([float(bound)]))[0]) for bound in bounds)
    if first == last:
        return _ibis().literal(first, "int32")
    even = _even(column, kind)
    if even is None:
        return _first([(number < _number(_least(edge, kind)), place)
                       for place, edge in enumerate(column.starts[first:last].tolist(), first)], last)
    # An engine may compute a branch that it does not take: no number in it can overflow, nor, in PostgreSQL, underflow,
    # which it refuses. DuckDB is quicker where nearly all rows take one branch.
    upper = _number(_least(column.upper, kind))
    start = _number(_least(float(column.lower if engine == "duckdb" else column.starts[0]), kind))
    above = number > start if engine == "duckdb" else number >= start
    inside = _ibis().ifelse(above & (number < upper), number, start)
    near = ((inside - _number(column.lower)) / _number(column.step) + _number(0.5)).floor().cast("float64")
    edge = (_number(even[0]) + near * _number(even[1])) / _number(even[2])
    if kind.is_float32():
        edge = edge.cast("float32").cast("float64")
    found = near.cast("int32") - (inside < edge).cast("int32")
    return _first([(~above, first), (number >= upper, last)], found)


def _even(column: Binned, kind: Any) -> tuple[float, float, float] | None:
    """Three whole numbers that determine the edges of bins of equal widths: edge k is (first + k second) / third,
    rounded once. The result is None if no three whole numbers determine the edges, or if a 32-bit column cannot
    represent the digits of the edges.
    """
    if isinstance(column.bins, tuple):
        return None
    lower, step = written(column.lower), (written(column.upper) - written(column.lower)) / column.bins
    unit = next((10**digits for digits in range(_MOST_DIGITS) if (lower * 10**digits).denominator == 1
                 and (step * 10**digits).denominator == 1), None)
    if unit is None:
        return None
    found = float(lower * unit), float(step * unit), float(unit)
    edges = (found[0] + np.arange(column.bins + 1) * found[1]) / found[2]
    wanted = [column.lower, *column.starts.tolist(), column.upper]
    if kind.is_float32():
        single = edges.astype(np.float32).astype(np.float64)
        return found if single.tolist() == [_least(edge, kind) for edge in wanted] else None
    return found if edges.tolist() == wanted else None


def _category(column: Column) -> Category | None:
    """The role that reads a column's texts, or None for a column without texts."""
    return None if isinstance(column, Binned) else column.category


def _level(category: Category, bins: list[int], value: Any, kind: Any, engine: str) -> Any:
    if kind.is_boolean():
        ranks = dict(zip([level.lower() for level in category.levels], bins, strict=True))
        return _first([(value.isnull(), -MISSING), (value, ranks["true"])], ranks["false"])
    if kind.is_integer():
        known = [(value == int(number), place) for number, place in zip(category.whole, bins, strict=True)
                 if number is not None]
        return _first([(value.isnull(), -MISSING), *known], -UNLISTED)
    text, levels = value.strip(), list(category.levels)
    if category.boolean:
        text, levels = text.lower(), [level.lower() for level in levels]
    # Bytes, since a column's collation may take "A" for "a".
    spelled = _utf8(text) if engine == "duckdb" else _encoded(text, "UTF8")
    known = [(level.encode(), place) for level, place in zip(levels, bins, strict=True)]
    found = spelled.cases((b"", -MISSING), *known, else_=-UNLISTED)
    return _first([(value.isnull(), -MISSING)], found)


def _utf8(text: Any) -> Any:
    """The bytes of a text, as an expression of DuckDB."""
    def encode(text: str) -> bytes:  # type: ignore[empty-body] # DuckDB's own
        ...

    return _ibis().udf.scalar.builtin(encode)(text)


def _encoded(text: Any, encoding: str) -> Any:
    """The bytes of a text, as an expression of PostgreSQL."""
    def convert_to(text: str, encoding: str) -> bytes:  # type: ignore[empty-body] # PostgreSQL's own
        ...

    return _ibis().udf.scalar.builtin(convert_to)(text, encoding)
