"""Description of a synthetic pair of neighbours: the changed slot, the two records, and the rest of the population."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.audit.fixed_transcript import Neighbours
from confide.tables import Category, Numeric
from confide.tables.column_rows import Role
from confide.tables.slot_rows import SlotRows

__all__ = ["pair_words", "record_words"]

_KINDS = 3  # different records of the others that are named, at most
_COLUMNS = 6  # of a record that are named

_Ints = NDArray[np.int64]


def record_words(record: Any, roles: Sequence[Role]) -> str:
    """Description of a record by its columns, in their own units.

    Args:
        record: the record as the encoded numbers that a run receives, shape (c,); None where there is no record.
        roles: public roles of the columns of a record, such as `confide.tables.roles.Numeric`.

    Example:
        >>> record_words(np.array([1.0, -1.0]), [Category(column="smokes", levels=("no", "yes")),
        ...                                      Numeric(column="age", lower=20, upper=60)])
        'smokes=yes, age=20'
    """
    if record is None:
        return "no record"
    reported = [f"{role.column}={_value(role, float(cell))}" for role, cell in zip(roles, record, strict=True)]
    return ", ".join(reported[:_COLUMNS]) + (", ..." if len(reported) > _COLUMNS else "")


def _value(role: Role, cell: float) -> str:
    if isinstance(role, Category):
        return role.levels[int(cell)]
    return f"{role.middle + role.scale * cell if isinstance(role, Numeric) else cell:.6g}"


def pair_words(pair: Neighbours, roles: Sequence[Role]) -> str:
    """Description of the records in which a synthetic pair differs, and of the size of the population.

    Args:
        pair: two populations, as lists of `SlotRows`, or two single records.
        roles: public roles of the columns of a record, such as `confide.tables.roles.Numeric`.

    Example:
        >>> others = SlotRows(np.array([0, 1]), np.array([[0.0], [0.0]]))
        >>> sides = [[others, SlotRows(np.array([4]), np.array([[end]]))] for end in (-1.0, 1.0)]
        >>> pair_words(Neighbours(*sides, repr), [Numeric(column="like", lower=0, upper=80)])
        'a population of 3: like=0 against like=80 in slot 4, beside 2 with like=40'
    """
    if not isinstance(pair.first, list):
        return f"{record_words(pair.first, roles)} against {record_words(pair.second, roles)}"
    known, seen = dict[tuple[float, ...], int](), dict[Any, _Ints]()
    slots, ranks = _ranked(pair.first, known, seen)
    there, others = _ranked(pair.second, known, seen)
    second = np.full(1 + max(slots.max(initial=-1), there.max(initial=-1)), -1)
    second[there] = others
    same = second[slots] == ranks
    records: list[Any] = [*known, None]  # which is that of rank -1
    said = f"a population of {len(slots):,}: " + (", ".join(
        f"{record_words(records[rank], roles)} against {record_words(records[second[slot]], roles)}"
        + (f" in slot {slot}" if same.any() else "")
        for slot, rank in zip(slots[~same].tolist(), ranks[~same].tolist(), strict=True))
        or "the same record twice, in another order")
    kinds, at, counts = np.unique(ranks[same], return_index=True, return_counts=True)
    if 0 < len(kinds) <= _KINDS:
        said += ", beside " + " and ".join(f"{counts[k]:,} with {record_words(records[kinds[k]], roles)}"
                                           for k in np.argsort(at))
    return said


def _ranked(
    batches: Sequence[SlotRows], known: dict[tuple[float, ...], int], seen: dict[Any, _Ints]
) -> tuple[_Ints, _Ints]:
    """All slots, and the number of the known record that each slot holds. Rows that share one piece of memory are
    examined once.
    """
    slots, ranks = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for batch in batches:
        cells = batch.cells
        place = (cells.ctypes.data, cells.shape, cells.strides)
        if place not in seen:
            rows, which = np.unique(cells, axis=0, return_inverse=True)
            found = np.array([known.setdefault(tuple(row), len(known)) for row in rows.tolist()], np.int64)
            seen[place] = found[which.reshape(-1)]
        slots.append(batch.index)
        ranks.append(seen[place])
    return np.concatenate(slots), np.concatenate(ranks)
