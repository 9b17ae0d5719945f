"""Files, queries and sources as Arrow tables in memory, for whoever takes arrays and frames."""

from __future__ import annotations

import os
from typing import Any

import pyarrow as pa

from confide.contract.errors import InvalidInput
from confide.tables._cells import is_text, numbers, plain
from confide.tables._values import made_by
from confide.tables.sources import Source, open_table

__all__ = ["opened"]


def opened(values: Any, *, doubles: bool = True) -> Any:
    """A file, a query or a source as an Arrow table, read once; anything else as it is.

    A CSV file has no types: a cell of it that spells no number is missing.

    Args:
        values: what holds numbers.
        doubles: whether the cells of a CSV file are read as numbers; else they stay text.

    Raises:
        InvalidInput: a file that cannot be read; or a query whose rows have no order.

    Example:
        >>> opened([1, 2])
        [1, 2]
    """
    if not isinstance(values, str | os.PathLike | Source) and not made_by("ibis", values):
        return values
    source = open_table(values)
    if not source.ordered:
        raise InvalidInput("data", f"the rows of {source.name} have no order", "sort them: row i is that of slot i")
    untyped, names = doubles and source.name.lower().endswith(".csv"), source.column_names
    parts = [[plain(cells) for cells in batch.columns] for batch in source.batches(names)]
    columns = [pa.concat_arrays([part[k] for part in parts]) if parts else pa.nulls(0) for k in range(len(names))]
    return pa.table([pa.array(numbers(name, cells)) if untyped and is_text(cells) else cells
                     for name, cells in zip(names, columns, strict=True)], names=list(names))
