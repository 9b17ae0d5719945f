"""Public ids of vertices, and the conversion of ids to ranks. The rank of an id is its position among all sorted ids,
from 0. Ids are sorted as integers, or as texts by code points.

The set of vertices is public. If the set of vertices is not given, it consists of the ids in the pairs, and this set
counts as public.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.words import counted
from confide.tables._cells import integers, strings
from confide.tables._values import as_array

__all__ = ["MOST", "IdKind", "Ids", "Ranked", "as_ids", "coded", "find", "has_nul", "lookup", "ranked", "rows_of"]

IdKind = Literal["auto", "integer", "text"]
Ids = Any
"""The ids of a graph: None for 0..n-1, int64 of shape (n,) in ascending order, or a large_string array in ascending
order of code points.
"""

MOST = 2**31 - 1
"""Largest number of vertices of a graph, since neighbours are stored as int32."""

_NONE = int(np.iinfo(np.int64).min)


class Ranked(NamedTuple):
    """Pairs of vertices, each vertex given by the rank of its id among all ids, and the list of ids.

    Args:
        first: rank of the first vertex of each of the r pairs, int32, in 0..n-1, shape (r,).
        second: rank of the second vertex of each pair, int32, in 0..n-1, shape (r,).
        people: number n of vertices.
        ids: ids of the vertices, in the form of `Ids`.
    """

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    people: int
    ids: Ids


@dataclass(frozen=True, eq=False, repr=False)
class Column:
    """One column of ids, stored as whole numbers, or as positions in a dictionary of texts (-1 for a missing id).

    Args:
        values: integers, shape (r,), or int32 positions in the dictionary.
        words: dictionary of texts, large_string; None for integers.
        number: whether the type of the given column is a type of numbers.
    """

    values: NDArray[Any]
    words: pa.Array | None
    number: bool

    @property
    def texts(self) -> pa.Array:
        """The ids as texts. With a dictionary each text appears once."""
        return strings("", pa.array(self.values)) if self.words is None else self.words


def coded(name: str, values: Any, *, before: int = 0) -> Column:
    """A `Column` of ids from any sequence.

    Args:
        name: name of the column, for error messages.
        values: array of numpy or Arrow, column of a data frame, or sequence of Python integers or texts.
        before: number of earlier rows of the same column, for row numbers in error messages.

    Raises:
        InvalidInput: an array with several dimensions, a type that holds no ids, or a text with a NUL character (the
            message names the row).
    """
    if not hasattr(values, "dtype") and not isinstance(values, pa.Array | pa.ChunkedArray):
        values = _from_python(name, values)
    if isinstance(getattr(values, "dtype", None), np.dtype) and values.dtype.kind in "iu":
        found = np.asarray(values)
        if found.ndim != 1:
            raise InvalidInput(name, f"an array of {counted(found.ndim, 'dimension')} is not a column of ids",
                               "must have one dimension")
        return Column(found, None, number=True)
    array = as_array(values)
    kind = array.type
    if pa.types.is_boolean(kind):
        raise InvalidInput(name, "true and false are not ids", "must be whole numbers or text")
    if pa.types.is_integer(kind) and not array.null_count:
        return Column(array.to_numpy(zero_copy_only=False), None, number=True)
    spelled = strings(name, array).dictionary_encode()
    positions = pc.fill_null(spelled.indices, -1).to_numpy(zero_copy_only=False)
    cut = has_nul(spelled.dictionary)
    if cut.any():
        row = before + int(np.argmax((positions >= 0) & cut[positions]))
        raise InvalidInput(name, f"row {row} (from 0) has an id with a NUL character",
                           "remove the character, since arrays of text would lose it")
    return Column(positions, spelled.dictionary, number=bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)))


def has_nul(texts: pa.Array) -> NDArray[np.bool_]:
    """Whether each text holds a NUL character, shape (r,). Numpy drops a NUL at the end of a text, so two different ids
    could become equal.

    Args:
        texts: texts without nulls, large_string.
    """
    found: NDArray[np.bool_] = pc.match_substring(texts, "\0").to_numpy(zero_copy_only=False)
    return found


def _from_python(name: str, values: Any) -> Any:
    """A sequence of Python integers as an array. Texts, and sequences with missing ids, are returned unchanged."""
    if isinstance(values, str | bytes) or not hasattr(values, "__len__") or not hasattr(values, "__iter__"):
        raise InvalidInput(name, f"{type(values).__name__} is not a column of ids", "must be a sequence or an array")
    items = list(values)
    kinds = {type(item) for item in items} - {type(None)}
    number = all(issubclass(kind, int | np.integer) and not issubclass(kind, bool) for kind in kinds)
    if not number and not all(issubclass(kind, str) for kind in kinds):
        mixed = all(issubclass(kind, str | int | np.integer) and not issubclass(kind, bool) for kind in kinds)
        problem = "some ids are numbers and some are text" if mixed else "an id is neither a whole number nor text"
        raise InvalidInput(name, problem, "use only numbers or only text")
    if number and None not in items:
        try:
            return np.array([int(item) for item in items], np.int64)
        except OverflowError:
            raise InvalidInput(name, "an id exceeds 64 bits", "use text") from None
    return items


def rows_of(parts: Sequence[Column]) -> Column:
    """Several columns of ids, joined into one column, one after the other."""
    if len(parts) == 1:
        return parts[0]
    number = all(part.number for part in parts)
    if all(part.words is None for part in parts):
        return Column(np.concatenate([part.values for part in parts] or [np.zeros(0, np.int32)]), None, number)
    merged = pa.chunked_array([_dictionary(part) for part in parts]).unify_dictionaries()
    positions = [pc.fill_null(chunk.indices, -1).to_numpy(zero_copy_only=False) for chunk in merged.chunks]
    return Column(np.concatenate(positions), merged.chunk(0).dictionary, number)


def _dictionary(column: Column) -> pa.DictionaryArray:
    if column.words is None:
        return column.texts.dictionary_encode()
    return pa.DictionaryArray.from_arrays(pa.array(column.values, mask=column.values < 0), column.words)


def as_ids(field: str, values: Any, *, kind: IdKind = "auto") -> tuple[int, Ids]:
    """The number of vertices and their ids in ascending order, from a public list in any order.

    Args:
        field: name of the field, for error messages.
        values: distinct integers or texts; or a number n, for the ids 0..n-1.
        kind: type of the ids, "auto", "integer" or "text". Text that spells integers stays text unless the kind is
            "integer".

    Raises:
        InvalidInput: an id that is repeated, missing or no integer, or 2^31 ids or more.
    """
    if isinstance(values, int | np.integer) and not isinstance(values, bool):
        return _few(field, whole(field, int(values))), None
    column = coded(field, values)
    _complete(field, column)
    if column.words is None and kind != "text":
        found = np.unique(_int64(field, column.values))
        count, ids = len(found), _unless_plain(found)
    else:
        count, ids = _ascending(field, column.texts, _reading(column, kind, infer=False))
    if count < len(column.values):
        raise InvalidInput(field, "an id occurs twice", "each vertex must have a different id")
    return _few(field, count), ids


def ranked(
    first: Column, second: Column, *, people: int | None = None, vertices: Any = None, kind: IdKind = "auto",
    infer: bool = False,
) -> Ranked:
    """The ranks of both vertices of each pair.

    Args:
        first: id of the first vertex of each pair.
        second: id of the second vertex of each pair.
        people: number n of vertices, if the ids are 0..n-1; None otherwise.
        vertices: public list of ids, in any order; None to take the ids in the pairs.
        kind: type of the ids.
        infer: whether, with kind "auto", texts are read as whole numbers if all of them spell whole numbers.

    Raises:
        InvalidInput: a missing id, or an id that is not on the list (the message names the row, not the id); or one
            column of texts and one of numbers.
    """
    if len(first.values) != len(second.values):
        raise InvalidInput("second", "the columns have different lengths", "each pair must have two ends")
    _complete("first", first)
    _complete("second", second)
    if people is not None and vertices is not None:
        raise InvalidInput("vertices", "is given together with people", "give only one of them")
    if people is not None:
        vertices = whole("people", people)
    if first.number != second.number and not infer and len(first.values):
        raise InvalidInput("second", "one column holds text and the other numbers",
                           "both columns must have numbers, or both text")
    if first.words is None and second.words is None and kind != "text":
        return _by_number(first.values, second.values, vertices)
    both = rows_of([first, second])
    if vertices is None:
        count, ids = _ascending("ids", both.texts, _reading(both, kind, infer=infer))
        _few("vertices", count)
    else:
        count, ids = as_ids("vertices", vertices, kind=kind)
    places = lookup(count, ids)(both.texts)
    places = places if both.words is None else places[both.values]
    rows = len(first.values)
    _known(places[:rows], places[rows:])
    return Ranked(places[:rows], places[rows:], count, ids)


def find(field: str, column: Column, count: int, ids: Ids) -> NDArray[np.int64]:
    """The rank of each id of a column among the ids of a graph.

    Args:
        field: name of the field, for error messages.
        column: ids of the same kind as the graph's.
        count: number n of vertices.
        ids: ids of the graph.

    Raises:
        InvalidInput: an id that is missing, unknown (the message names the position), or of another kind.
    """
    if not len(column.values):
        return np.zeros(0, np.int64)
    _complete(field, column)
    if column.number == isinstance(ids, pa.Array):
        raise InvalidInput(field, "differ in kind from the ids of the graph", "use numbers, or text, as in the graph")
    if column.words is None:
        places = _ranks(_int64_unless_small(column.values), count, ids)
    else:
        places = lookup(count, ids)(column.words)[column.values]
    if (places < 0).any():
        raise InvalidInput(field, f"row {int(np.argmax(places < 0))} (from 0) has an id that belongs to nobody")
    return places.astype(np.int64)


def _few(field: str, count: int) -> int:
    if count > MOST:
        raise InvalidInput(field, f"{count:,} vertices are too many", f"must be at most {MOST:,}")
    return count


def _complete(name: str, column: Column) -> None:
    if column.words is not None and len(column.values) and int(column.values.min()) < 0:
        row = int(np.argmax(column.values < 0))
        raise InvalidInput(name, f"row {row} (from 0) has no id", "each end of each pair must have an id")


def _int64(field: str, values: NDArray[Any]) -> NDArray[np.int64]:
    if values.dtype == np.uint64 and len(values) and int(values.max()) > np.iinfo(np.int64).max:
        raise InvalidInput(field, "an id exceeds 2^63", "use text")
    return values.astype(np.int64, copy=False)


def _unless_plain(ids: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The ascending integers unchanged, or None if they are 0..n-1."""
    return None if len(ids) and ids[0] == 0 and ids[-1] == len(ids) - 1 else ids


def _reading(column: Column, kind: IdKind, *, infer: bool) -> IdKind:
    """The way in which texts are read: as whole numbers, as texts, or with "auto" as numbers if all of them spell
    numbers.
    """
    if kind != "auto":
        return kind
    if column.number:
        return "integer"
    return "auto" if infer else "text"


def _ascending(field: str, texts: pa.Array, kind: IdKind) -> tuple[int, Ids]:
    """The number of different texts, and the texts in order, as integers if the kind says so."""
    if kind != "text":
        numbers = integers(field, texts, _NONE)
        if (numbers != _NONE).all():
            found = np.unique(numbers)
            return len(found), _unless_plain(found)
        if kind == "integer":
            raise InvalidInput(field, "an id is not a whole number in plain decimal digits",
                               "all ids must be numbers, or all must be texts")
    texts = pc.unique(texts)
    return len(texts), texts.take(pc.sort_indices(texts))


def lookup(count: int, ids: Ids) -> Callable[[pa.Array], NDArray[np.int32]]:
    """A function from texts to the ranks of ids, with -1 for a text that is not an id. The text "7.0" stands for the id
    7, as in every table that confide reads.

    Args:
        count: number n of vertices.
        ids: ids of the graph.
    """
    if ids is None or isinstance(ids, np.ndarray):
        return lambda texts: _ranks(integers("ids", texts, _NONE), count, ids)
    if not len(ids):
        return lambda texts: np.full(len(texts), -1, np.int32)
    known, first, uses = np.unique(integers("ids", ids, _NONE), return_index=True, return_counts=True)

    def places(texts: pa.Array) -> NDArray[np.int32]:
        found = pc.fill_null(pc.index_in(texts, value_set=ids), -1).to_numpy(zero_copy_only=False)
        spelled = integers("ids", texts, _NONE)
        at = np.minimum(np.searchsorted(known, spelled), len(known) - 1)
        alone = (known[at] == spelled) & (spelled != _NONE) & (uses[at] == 1)
        return np.where(found >= 0, found, np.where(alone, first[at], -1)).astype(np.int32)

    return places


def _ranks(values: NDArray[Any], count: int, ids: NDArray[np.int64] | None) -> NDArray[np.int32]:
    """The rank of each integer, with -1 for an integer that is not an id."""
    if ids is None:
        if len(values) and (values.min() < 0 or values.max() >= count):
            return np.where((values >= 0) & (values < count), values, -1).astype(np.int32)
        return np.require(values, np.int32, ["C", "W"])
    if not len(ids):
        return np.full(len(values), -1, np.int32)
    low, high = int(ids[0]), int(ids[-1])
    if high - low < 4 * (len(ids) + len(values)) + 1024:
        table = np.full(high - low + 2, -1, np.int32)
        table[ids - low] = np.arange(len(ids), dtype=np.int32)
        inside = (values >= low) & (values <= high)
        return table[np.where(inside, values - low, high - low + 1)]
    spelled = pa.array(values).dictionary_encode()
    words = _int64("ids", spelled.dictionary.to_numpy(zero_copy_only=False))
    places = np.minimum(np.searchsorted(ids, words), len(ids) - 1)
    ranks = np.where(ids[places] == words, places, -1).astype(np.int32)
    found: NDArray[np.int32] = ranks[spelled.indices.to_numpy(zero_copy_only=False)]
    return found


def _by_number(first: NDArray[Any], second: NDArray[Any], vertices: Any) -> Ranked:
    first, second = _int64_unless_small(first), _int64_unless_small(second)
    if vertices is None:
        count, ids = _named(first, second)
    else:
        count, ids = as_ids("vertices", vertices)
        if ids is not None and not isinstance(ids, np.ndarray):
            raise InvalidInput("vertices", "are text, but the pairs have numbers", "both must be text, or both numbers")
    places = _ranks(first, count, ids), _ranks(second, count, ids)
    if vertices is not None:
        _known(*places)
    return Ranked(*places, count, ids)


def _int64_unless_small(values: NDArray[Any]) -> NDArray[Any]:
    return values if values.dtype == np.int32 else _int64("ids", values)


def _named(first: NDArray[Any], second: NDArray[Any]) -> tuple[int, NDArray[np.int64] | None]:
    """The number n of different integers in both arrays, and these integers in ascending order; None in place of the
    integers if they are 0..n-1. Integers that lie close together are found without sorting.
    """
    if not len(first):
        return 0, None
    low, high = int(min(first.min(), second.min())), int(max(first.max(), second.max()))
    if high - low < 8 * len(first) + 1024:
        present = np.zeros(high - low + 1, np.bool_)
        present[first - low if low else first] = True
        present[second - low if low else second] = True
        found = np.flatnonzero(present) + low
    else:
        found = np.sort(pc.unique(pa.chunked_array([pa.array(first), pa.array(second)]))
                        .to_numpy().astype(np.int64, copy=False))
    _few("vertices", len(found))
    return len(found), None if low == 0 and high == len(found) - 1 else found


def _known(first: NDArray[np.int32], second: NDArray[np.int32]) -> None:
    strange = (first < 0) | (second < 0)
    if strange.any():
        raise InvalidInput("vertices", f"row {int(np.argmax(strange))} (from 0) names a person who is not on the list",
                           "complete the list, since the list of vertices is public")
