"""Query engines that ibis can use: the list of supported engines, and the form in which each engine is queried. A
supported engine returns the same cells as a file with the same table.

The test suite reads one table from every listed engine, from files and from data frames, and finds equal cells. A query
on any other engine is refused before anything is read.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from confide.contract.errors import InvalidInput
from confide.tables._cells import trimmed
from confide.tables._packaged import extra

__all__ = ["ENGINES", "OUTSIDE", "cells_of_engine", "drawn_anew", "engine_of", "exact_columns", "failed",
           "warn_of_guesses"]

ENGINES = ("duckdb", "polars", "sqlite", "postgres", "datafusion")
"""Names of the supported engines in ibis."""

OUTSIDE = "confide outside "
"""Beginning of the name of a column that says, for the column with the rest of the name, which dates are outside the
years 1 to 9999.
"""

_DECLARED = re.compile(r"all_varchar|columns\"?\s*=", re.IGNORECASE)
_CSV = re.compile(r"read_csv|\.(csv|tsv|txt)\b", re.IGNORECASE)


def engine_of(expression: Any) -> str:
    """Name of the engine on which an ibis table expression runs.

    Raises:
        InvalidInput: the expression has no engine, has several, or has one that is not in `ENGINES`. The message names
            the expressions that can be read.
    """
    ibis = extra("ibis", "data")
    try:
        name = str(expression.get_backend().name)
    except ibis.common.exceptions.IbisError:
        raise InvalidInput("source", "the query belongs to no connection, or to several",
                           "must begin with tables of one connection: ibis.duckdb.connect().table(NAME). Write rows of "
                           "another connection to a file: expression.to_parquet(PATH)") from None
    if name not in ENGINES:
        raise InvalidInput("source", f"confide is not tested on the engine {name}, and may read wrong cells from it",
                           "write the rows to a file with expression.to_parquet(PATH), and give PATH; confide is "
                           f"tested on {', '.join(ENGINES[:-1])} and {ENGINES[-1]}")
    return name


def failed(engine: str, error: Exception) -> InvalidInput:
    """The error for a query that failed in an engine. The error omits the engine's message, which may quote private
    values.
    """
    return InvalidInput("source", f"{engine} did not answer the query ({type(error).__name__}); the message of the "
                                  "engine may quote values and is not shown",
                        "call expression.to_pyarrow(), which shows the message to you; if the reason is the values of "
                        "a column, cast the column or leave it out")


def drawn_anew(expression: Any) -> bool:
    """Whether an expression may return different rows each time that it runs.

    Three kinds of expressions may return different rows: expressions with random numbers or samples, expressions with
    user functions or SQL text, and expressions that select the first rows of an unordered table.
    """
    ops = extra("ibis.expr.operations", "data")
    draws = (ops.Impure, ops.Sample, ops.SQLQueryResult, ops.SQLStringView)
    return any(isinstance(node, draws) or (isinstance(node, ops.Limit) and not isinstance(node.parent, ops.Sort))
               for node in expression.op().find((*draws, ops.Limit)))


def exact_columns(expression: Any, engine: str, columns: Sequence[str]) -> Any:
    """Some columns of an expression, each in a form in which its cells leave the engine unchanged.

    PostgreSQL has dates that Python has not, such as infinity and dates before Christ: one of them would stop the
    reading of all rows. Such a date becomes a null, and a further column (`OUTSIDE`) says so.

    Raises:
        InvalidInput: the engine cannot keep the cells of a column exactly. The message names the column, its type, the
            engine and the types that work.
    """
    found, types = {}, expression.schema()
    for name in columns:
        kind = types[name]
        if engine == "sqlite" and kind.is_decimal():
            raise InvalidInput(name, f"the column is of type {kind}, and sqlite stores no exact decimals",
                               f"cast the column: table.cast({{{name!r}: 'float64'}}); sqlite drops zeros at the end, "
                               "so the level of 0.10 is 0.1")
        # SQLite's integers would pass through doubles beside a null; numerics of PostgreSQL may be NaN or too long.
        text = (engine == "sqlite" and kind.is_integer()) or (engine == "postgres" and kind.is_decimal())
        # PostgreSQL's money is a decimal to ibis, but its text has a currency sign.
        column = expression[name].cast("decimal") if engine == "postgres" and kind.is_decimal() else expression[name]
        found[name] = column.cast("string") if text else column
        if engine == "postgres" and (kind.is_date() or kind.is_timestamp()):
            inside = _inside(expression[name], kind)
            found[name] = inside.ifelse(expression[name], extra("ibis", "data").null(kind))
            found[OUTSIDE + name] = expression[name].notnull() & ~inside
    return expression.select(**found)


def _inside(column: Any, kind: Any) -> Any:
    """Which dates are in the years 1 to 9999. A day is left at both ends, which another time zone could move out."""
    ibis = extra("ibis", "data")
    low, high = ("0001-01-01", "9999-12-31") if kind.is_date() else ("0001-01-02 00:00:00", "9999-12-30 23:59:59")
    return column.between(ibis.literal(low).cast(kind), ibis.literal(high).cast(kind))


def cells_of_engine(batch: pa.RecordBatch, expression: Any, engine: str) -> pa.RecordBatch:
    """A batch of the query of `exact_columns`, in which decimals that left the engine as texts are spelled without
    zeros at the end.
    """
    if engine != "postgres":
        return batch
    types = expression.schema()
    arrays = [trimmed(pc.cast(array, pa.large_string())) if name in types and types[name].is_decimal() else array
              for name, array in zip(batch.schema.names, batch.columns, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def warn_of_guesses(expression: Any, columns: Sequence[str]) -> None:
    """Warn of columns that are not text and whose types DuckDB guessed from a CSV file: the text 1.10 may have become
    1.1.

    The warning covers queries on a view of a file and queries with SQL text, whose source DuckDB keeps. DuckDB does not
    record that a table was made from a CSV file, so a table in DuckDB gives no warning.
    """
    if engine_of(expression) != "duckdb":
        return
    ops = extra("ibis.expr.operations", "data")
    texts = [node.query for node in expression.op().find((ops.SQLQueryResult, ops.SQLStringView))]
    names = {node.name for node in expression.op().find(ops.DatabaseTable)}
    if names:
        views = "SELECT view_name, sql FROM duckdb_views() WHERE NOT internal"
        texts += [text for name, text in expression.get_backend().raw_sql(views).fetchall() if name in names]
    texts = [text for text in texts if _CSV.search(text) and not _DECLARED.search(text)]
    types = expression.schema()
    found = [name for name in columns if not types[name].is_string()
             and any(re.search(rf"\b{re.escape(name)}[\"']?\s*:=?\s*'", text) is None for text in texts)]
    if found:
        warnings.warn(f"DuckDB guessed the types of {', '.join(found)} from a CSV file: 1.10 may have become 1.1; give "
                      f"confide the file's path, or use read_csv(..., types={{...}})", stacklevel=2)
