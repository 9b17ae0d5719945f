"""Shares as text, to be compared: what a run wrote into a table beside what a participant decodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["written"]


def written(share: Mapping[str, Any], schema: pa.Schema) -> str:
    """A share as text, as it stands in a table of all shares: a 0 in a column of numbers is 0.0, numpy's numbers and
    arrays are numbers and lists, however deep. What is no number is equal to itself.

    Args:
        share: column -> value, of `Mechanism.decode` or a row of the table.
        schema: of the table.

    Returns:
        The text; of a share that does not fit the table, one that is that of no row.

    Example:
        >>> table = pa.schema({"a": pa.list_(pa.int64()), "b": pa.float64()})
        >>> written({"b": np.float64("nan"), "a": np.arange(2)}, table)
        "{'a': [0, 1], 'b': nan}"
        >>> written({"a": [], "b": 0}, table) == written({"a": [], "b": 0.0}, table)
        True
    """
    if set(share) != set(schema.names):
        return f"columns {sorted(map(str, share))}"
    plain = {name: _plain(value) for name, value in share.items()}
    try:
        row = pa.Table.from_pylist([plain], schema=schema).to_pylist()[0]
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        return f"no row of the table: {type(error).__name__}"
    if _cut(plain, row):
        return "no row of the table: a part of a number is lost in it"
    return repr(dict(sorted(row.items())))


def _cut(given: Any, stored: Any) -> bool:
    """Whether a fraction became a whole number, which Arrow does without a word."""
    if isinstance(given, dict):
        return any(_cut(part, stored[name]) for name, part in given.items() if name in stored)
    if isinstance(given, list):
        return any(map(_cut, given, stored))
    return isinstance(given, float) and isinstance(stored, int) and given != stored


def _plain(value: Any) -> Any:
    """Without numpy, at any depth."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value
