"""A made-up pair of neighbours in words: whose record differs, how, and among whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from confide.audit import Neighbours
from confide.people.column_rows import Role
from confide.people.slot_rows import SlotRows
from confide.tables import Category, Numeric

__all__ = ["pair_words", "record_words"]

_KINDS = 3  # different records of the others that are told, at most
_COLUMNS = 6  # of a record that are told


def record_words(record: Any, roles: Sequence[Role]) -> str:
    """A record by its columns, in their own units.

    Args:
        record: (c,) its cells as a run has them; None where there is none.
        roles: of the columns.

    Example:
        >>> record_words(np.array([1.0, -1.0]), [Category(column="smokes", levels=("no", "yes")),
        ...                                      Numeric(column="age", lower=20, upper=60)])
        'smokes=yes, age=20'
    """
    if record is None:
        return "no record"
    told = [f"{role.column}={_value(role, float(cell))}" for role, cell in zip(roles, record, strict=True)]
    return ", ".join(told[:_COLUMNS]) + (", ..." if len(told) > _COLUMNS else "")


def _value(role: Role, cell: float) -> str:
    if isinstance(role, Category):
        return role.levels[int(cell)]
    return f"{role.middle + role.scale * cell if isinstance(role, Numeric) else cell:.6g}"


def pair_words(pair: Neighbours, roles: Sequence[Role]) -> str:
    """What differs in a pair that `confide.people` made up, and how large the crowd is.

    Args:
        pair: of crowds, as lists of `SlotRows`, or of two single records.
        roles: of the columns.

    Example:
        >>> crowd = SlotRows(np.array([0, 1]), np.array([[0.0], [0.0]]))
        >>> sides = [[crowd, SlotRows(np.array([4]), np.array([[end]]))] for end in (-1.0, 1.0)]
        >>> pair_words(Neighbours(*sides, repr), [Numeric(column="like", lower=0, upper=80)])
        'a crowd of 3: like=0 against like=80 in slot 4, beside 2 with like=40'
    """
    if not isinstance(pair.first, list):
        return f"{record_words(pair.first, roles)} against {record_words(pair.second, roles)}"
    first, second = _by_slot(pair.first), _by_slot(pair.second)
    changed = [slot for slot in first if first[slot] != second.get(slot)]
    others = [record for slot, record in first.items() if slot not in changed]
    said = f"a crowd of {len(first):,}: " + (", ".join(
        f"{record_words(first[slot], roles)} against {record_words(second.get(slot), roles)}"
        + (f" in slot {slot}" if others else "") for slot in changed) or "the same twice, in another order")
    counts = Counter(others)
    if 0 < len(counts) <= _KINDS:
        said += ", beside " + " and ".join(f"{count:,} with {record_words(record, roles)}"
                                           for record, count in counts.items())
    return said


def _by_slot(batches: Sequence[SlotRows]) -> dict[int, tuple[float, ...]]:
    return {int(slot): tuple(np.asarray(cells, np.float64).tolist())
            for batch in batches for slot, cells in zip(batch.index, batch.cells, strict=True)}
