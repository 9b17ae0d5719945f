"""Programs in which each participant receives a set of goods. The module has the common base class of all families of
such programs, for any value of each set.

An action lists the numbers of the goods in a set in ascending order. A set has one copy of each of its goods, so a set
of d goods contributes 1 to each of d coupling constraints, one for each good.

Source: Wu 2017, section 5.4.1; spec convex_programs 4 (d-demand).

The module also defines records with one value in [0, 1] for each choice of a participant.

A family defines the choices, and the number of choices that one participant may receive.

The records of some families consist of two tables: values and demands, or contributions and allowed actions. The
function `two` separates them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.mechanism import Unusable
from confide.contract.parameters import Parameter
from confide.contract.words import counted
from confide.programs.grids import LOAD_BITS, LOAD_UNIT, Constants
from confide.programs.program import MOST_ROWS, Program, ProgramRecords
from confide.programs.tables import bad_rows, numbers, refused_or_null, row, value_units

__all__ = ["SetsOfGoods", "WorthRecords", "one_worth", "read_worth", "two"]

# ---- sets of goods

_MOST_TAU = 32.0  # prices and values stay inside 32 bits
_STEADY = 16.0  # what a good's load is expected to be, when everybody takes as much as allowed, so many times over


@dataclass(frozen=True)
class SetsOfGoods(Program):
    """Base class of programs of n people and k goods in several copies each, in which each participant receives a set
    of at most `width` goods.

    Raises:
        InvalidInput: a number out of range.
    """

    supply: Annotated[float | tuple[float, ...], Parameter(
        "copies of each good: k numbers, or one number for all", symbol="b", at_least=0)]
    tau: Annotated[float | tuple[float, ...] | None, Parameter(
        "dual bound of each good, or one for all goods; 1 by default, which always holds if no good adds more than 1 "
        "to the value of a set", above=0, at_most=_MOST_TAU)] = field(default=None, kw_only=True)
    goods: Annotated[int | None, Parameter(
        "number of goods, if `supply` is one number", symbol="k", at_least=1, at_most=MOST_ROWS)] = field(
            default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.goods is None:
            if np.ndim(self.supply) != 1:
                raise InvalidInput("goods", "is missing",
                                   "give `goods`, since `supply` is one number for all goods")
            object.__setattr__(self, "goods", len(self.supply))  # type: ignore[arg-type]
        super().__post_init__()

    @property
    def rows(self) -> int:
        return int(self.goods)  # type: ignore[arg-type]

    @property
    def most_worth(self) -> float:
        """Upper bound V on the value of any set of goods to any participant."""
        return 1.0

    @cached_property
    def constants(self) -> Constants:
        tau = (1.0,) * self.rows if self.tau is None else self.tau
        # With many goods each of them is wanted by few, and steps by n are too small for its price to arrive in time.
        usual = min(float(self.people), _STEADY * self.people * self.width / self.rows)
        return Constants(rows=self.rows, largest_entry=1.0, largest_sum=float(self.width), least_entry=1.0,
                         least_sum=1.0, most_value=self.most_worth, tau=tau,  # type: ignore[arg-type]
                         width=float(max(self.people, *self.supplies)), step_scale=(usual,) * self.rows)

    def _size(self, name: str, value: int) -> int:
        """A checked number of goods in a set."""
        goods = int(self.goods)  # type: ignore[arg-type]
        if value > goods:
            raise InvalidInput(name, f"{value} is too large", f"there are {counted(goods, 'good')}")
        return int(value)

    def load(self, records: Any, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        return np.bincount(actions.reshape(-1) + 1, minlength=self.rows + 1)[1:].astype(np.int64) << LOAD_BITS

    def weighted_load(
        self, records: Any, actions: NDArray[np.int32], times: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        often = np.repeat(times.astype(np.float64), self.width)  # sums of whole numbers, exact below 2^53
        return np.bincount(actions.reshape(-1) + 1, often, self.rows + 1)[1:].astype(np.int64) << LOAD_BITS

    def contributions(self, records: Any, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        out = np.zeros((len(actions), self.rows), dtype=np.int64)
        person, place = np.nonzero(actions >= 0)
        out[person, actions[person, place]] = LOAD_UNIT
        return out

    def paid(self, records: Any, actions: NDArray[np.int32], prices: NDArray[np.int64]) -> NDArray[np.int64]:
        total: NDArray[np.int64] = np.append(prices, 0)[actions].sum(axis=1)  # -1 is the last, which costs nothing
        return total


# ---- worth


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WorthRecords(ProgramRecords):
    """Records that state the value of each choice to each participant. The data are private and must not be published.

    Args:
        worth: (n, choices) int32 value of each choice, in units of 2^-24.
    """

    worth: NDArray[np.int32]

    @cached_property
    def columns(self) -> NDArray[np.int32]:
        """The values transposed, shape (choices, n), so that all values of one choice are contiguous. The transposed
        array is cached, since every round uses it.
        """
        return np.ascontiguousarray(self.worth.T)


def read_worth(data: Any, people: int, choices: int, unusable: Unusable) -> WorthRecords:
    """Checked records of all slots.

    Args:
        data: (n, choices) values in [0, 1], in an array or a list of rows.
        people: number n of slots.
        choices: number of choices.
        unusable: treatment of a bad row. "refuse" refuses the whole table, and "null" treats the row as a slot without
            a record.

    Raises:
        InvalidInput: a wrong number of rows, or an array of a wrong shape; or a bad row, if bad rows are refused.
    """
    table = numbers("records", data, (people, choices), unusable)
    bad = bad_rows(table, 0.0, 1.0)
    refused_or_null("records", bad, "each value must be a number in [0, 1]", unusable)
    return WorthRecords(people=people, worth=value_units(table, bad, np.int32))


def one_worth(record: Any, choices: int) -> WorthRecords:
    """One participant's record, checked without any other record.

    Args:
        record: (choices,) values in [0, 1]; None for a slot without a record.
        choices: number of choices.

    Raises:
        InvalidInput: the record is wrong. The error message is for the participant alone.
    """
    table = np.zeros(choices) if record is None else row("record", record, (choices,), 0.0, 1.0)
    return WorthRecords(people=1, worth=value_units(table[None], np.zeros(1, dtype=bool), np.int32))


# ---- pairs


def two(name: str, data: Any, first: str, second: str) -> tuple[Any, Any]:
    """The two tables of a pair, such as values and needs, after a check that the data are a pair.

    Args:
        name: name of the field, for error messages.
        data: pair of two tables, as a tuple or a list.
        first: name of the first table, for error messages.
        second: name of the second table, for error messages.

    Raises:
        InvalidInput: the data are no pair.

    Example:
        >>> two("record", ([0.5], [1]), "values", "demands")
        ([0.5], [1])
    """
    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise InvalidInput(name, f"{type(data).__name__} is not a pair", f"must be ({first}, {second})")
    return data[0], data[1]
