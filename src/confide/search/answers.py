"""Answers about people from a table: who is a target, who is not, and who has no answer yet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.search.graph import Graph
from confide.search.identifiers import lookup
from confide.tables import open_table
from confide.tables._cells import numbers, strings

__all__ = ["answers_of", "spelled"]

_WORDS = ("no", "yes")  # as well as true and false, 1 and 0; in any capitals


def spelled(name: str, column: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Answers as 1, 0, or NaN where none can be read; and which cells are empty.

    Args:
        name: of the column, for errors.
        column: its cells: true, false, yes, no, 1, 0, or nothing.
    """
    words = pc.utf8_lower(pc.utf8_trim_whitespace(strings(name, column)))
    empty = pc.fill_null(pc.equal(words, ""), True).to_numpy(zero_copy_only=False)
    found = pc.index_in(words, value_set=pa.array(_WORDS, pa.large_string())).to_numpy(zero_copy_only=False)
    said = np.where(np.isnan(found), numbers(name, column), found)
    return np.where(np.isin(said, (0.0, 1.0)), said, np.nan), empty


def answers_of(source: Any, graph: Graph) -> NDArray[np.int8]:
    """(n,) 1 for a target, 0 for somebody else, -1 where there is no answer; private.

    Args:
        source: whatever `confide.tables.open_table` takes, with the columns `id` and `targeted`.
        graph: who there is.

    Raises:
        InvalidInput: a column is missing; a line is about nobody; an answer cannot be read; or two answers about one
            person differ. Whose is not said.

    Example:
        >>> network = Graph.from_edges(["ann", "bob"], ["bob", "cid"])
        >>> answers_of({"id": ["cid", "ann"], "targeted": [True, False]}, network).tolist()
        [0, -1, 1]
    """
    known, places_of = np.full(graph.people, -1, np.int8), lookup(graph.people, graph.ids)
    for batch in open_table(source).batches(["id", "targeted"]):
        places = places_of(strings("id", batch.column(0)))
        said, empty = spelled("targeted", batch.column(1))
        if (places < 0).any():
            raise InvalidInput("id", "a line has no id, or one that is nobody's")
        if (np.isnan(said) & ~empty).any():
            raise InvalidInput("targeted", "an answer is none of true, false, yes, no, 1 and 0",
                               "leave the cell of somebody without an answer empty")
        where, what = places[~empty], said[~empty].astype(np.int8)
        before = known[where]
        known[where] = what
        if ((before >= 0) & (before != what)).any() or (known[where] != what).any():
            raise InvalidInput("targeted", "two answers about one person differ", "one status for each")
    return known
