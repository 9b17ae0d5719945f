"""Records that say what each of some choices is worth: one table of values in [0, 1].

What the choices are, and how many of them one participant takes, is the family's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.unusable import Unusable
from confide.programs.program import ProgramRecords
from confide.programs.tables import bad_rows, numbers, refused_or_null, row, value_units

__all__ = ["WorthRecords", "one_worth", "read_worth"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WorthRecords(ProgramRecords):
    """What each choice is worth to everybody. Private.

    Args:
        worth: (n, choices) int32, in units of value.
    """

    worth: NDArray[np.int32]

    @cached_property
    def columns(self) -> NDArray[np.int32]:
        """(choices, n) the same, a choice's numbers side by side; kept, for a path asks for it in every round."""
        return np.ascontiguousarray(self.worth.T)


def read_worth(data: Any, people: int, choices: int, unusable: Unusable) -> WorthRecords:
    """Checked records of all slots.

    Args:
        data: (n, choices) values in [0, 1], in an array or a list of rows.
        people: n.
        choices: how many there are.
        unusable: what becomes of a bad row.

    Raises:
        InvalidInput: another number of rows, or an array of another shape; or a bad row, where it is refused.
    """
    table = numbers("records", data, (people, choices), unusable)
    bad = bad_rows(table, 0.0, 1.0)
    refused_or_null("records", bad, "each value must be a number in [0, 1]", unusable)
    return WorthRecords(people=people, worth=value_units(table, bad, np.int32))


def one_worth(record: Any, choices: int) -> WorthRecords:
    """One participant's record, checked alone.

    Args:
        record: (choices,) values in [0, 1]; None of a slot without one.
        choices: how many there are.

    Raises:
        InvalidInput: names what is wrong with it, to her alone.
    """
    table = np.zeros(choices) if record is None else row("record", record, (choices,), 0.0, 1.0)
    return WorthRecords(people=1, worth=value_units(table[None], np.zeros(1, dtype=bool), np.int32))
