"""`Knapsack`: each participant has one item, with a value, and with a weight in each of k resources.

Source: Wu 2017, section 5.4.3; spec convex_programs 4 (multi-dimensional knapsack) and 7.9.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, cast

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.contract.errors import InvalidInput
from confide.contract.mechanism import Unusable
from confide.contract.parameters import Parameter
from confide.contract.wire import wire
from confide.programs.grids import LOAD_UNIT, Constants, loads_up
from confide.programs.linear import LinearProgram, choices
from confide.programs.program import MOST_ROWS, Program, ProgramRecords
from confide.programs.tables import bad_rows, is_row, numbers, refused_or_null, row, value_units

__all__ = ["ItemRecords", "Knapsack"]

_CHUNK = 1 << 16


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ItemRecords(ProgramRecords):
    """Items of all participants. The data are private and must not be published.

    Args:
        worth: (n,) int32 values, in units of 2^-24.
        weights: (n, k) int32 weights, in load units of 2^-20.
    """

    worth: NDArray[np.int32]
    weights: NDArray[np.int32]


@wire("Knapsack", "people supply tau rows least_weight most_weight step_scale")
@dataclass(frozen=True)
class Knapsack(Program):
    """A program of n people with one item each, and k resources. A record is a value in [0, 1] and k weights, each 0 or
    in [least_weight, 1].

    Weights are shares of the largest weight that an item may have in a resource. The user divides both the weights and
    the supply of a resource by its largest weight. Weights are rounded up to multiples of 2^-20, so that items which
    fit after rounding also fit exactly. Values are rounded to the nearest multiple of 2^-24. The action is 0 if the
    participant's item is included, and -1 if not. The dual bound of each resource is 1/least_weight, because a unit of
    excess can be removed by leaving out at most 1/least_weight items with a weight in this resource. Without a least
    weight no dual bound holds for all records.

    Raises:
        InvalidInput: a number out of range.

    Example:
        >>> program = Knapsack(3, (1, 2), least_weight=0.25)
        >>> records = program.read([[0.5, 0.25, 0.5], [1.0, 1.0, 1.0], [0.0, 0.25, 0.0]])
        >>> program.respond(records, np.array([1 << 23, 1 << 23])).ravel().tolist()
        [0, -1, -1]
        >>> program.constants.tau
        (4.0, 4.0)
    """

    supply: Annotated[float | tuple[float, ...], Parameter(
        "supply of each resource: k numbers, or one number for all", symbol="b", at_least=0)]
    rows: Annotated[int, Parameter(
        "number of resources, if `supply` is one number", symbol="k", at_least=1, at_most=MOST_ROWS)] = field(
            default=None, kw_only=True)  # type: ignore[assignment]
    least_weight: Annotated[float | tuple[float, ...], Parameter(
        "smallest weight above 0: k numbers, or one number for all", above=0, at_most=1)] = field(
            kw_only=True)
    most_weight: Annotated[float | None, Parameter(
        "largest sum of the weights of an item, each in units of its largest weight; k by default. A sum below k/2 "
        "makes the noise smaller", above=0)] = field(default=None, kw_only=True)
    step_scale: Annotated[float | tuple[float, ...] | None, Parameter(
        "divisor of each resource's usual step, 2 tau/(step_scale sqrt(rounds)): a smaller divisor is faster and less "
        "steady. No promise of an outcome depends on it; by default tau times all supply together", above=0)] = field(
            default=None, kw_only=True)

    def __post_init__(self) -> None:
        if cast("int | None", self.rows) is None:
            if np.ndim(self.supply) != 1:
                raise InvalidInput("rows", "is missing",
                                   "give `rows`, since `supply` is one number for all resources")
            object.__setattr__(self, "rows", len(self.supply))  # type: ignore[arg-type]
        super().__post_init__()

    def _fits(self) -> None:
        object.__setattr__(self, "least_weight", self._for_rows("least_weight", self.least_weight))
        if self.most_weight is not None and self.most_weight < max(self._least):
            raise InvalidInput("most_weight", f"{self.most_weight:g} is below the largest least_weight",
                               f"must be at least {max(self._least):g}")
        if self.step_scale is not None:
            object.__setattr__(self, "step_scale", self._for_rows("step_scale", self.step_scale))

    @property
    def _least(self) -> tuple[float, ...]:
        return self.least_weight  # type: ignore[return-value]

    @property
    def _most_units(self) -> int:
        """Largest sum of an item's rounded weights, in load units of 2^-20."""
        every = self.rows * LOAD_UNIT
        return every if self.most_weight is None else min(every, math.floor(self.most_weight * LOAD_UNIT) + self.rows)

    @property
    def width(self) -> int:
        return 1

    @property
    def scale(self) -> int:
        return LOAD_UNIT

    @cached_property
    def constants(self) -> Constants:
        tau: tuple[float, ...] = (
            tuple(map(_inverse_up, self._least)) if self.tau is None else self.tau)  # type: ignore[assignment]
        most = self._most_units / LOAD_UNIT
        supply = min(sum(min(one, self.people) for one in self.supplies), self.people * most)
        usual = tuple(one * max(supply, 1.0) for one in tau)
        return Constants(rows=self.rows, largest_entry=1.0, largest_sum=most,
                         least_entry=min(self._least), most_value=1.0, width=float(max(self.people, *self.supplies)),
                         tau=tau, step_scale=usual if self.step_scale is None else self.step_scale)  # type: ignore[arg-type]

    def _read(self, data: Any, unusable: Unusable) -> ProgramRecords:
        """Checked records of all participants.

        Args:
            data: (n, 1 + k) table: a value in [0, 1], then the weights. The data may also be a tuple of two arrays,
                (n,) values and (n, k) weights.
            unusable: treatment of a bad row, "refuse" or "null".
        """
        rows = isinstance(data, tuple) and all(isinstance(one, np.ndarray) and one.ndim == 1 for one in data)
        if isinstance(data, tuple) and len(data) == 2 and not rows:
            values = numbers("records", data[0], (self.people,), unusable)
            weights = numbers("records", data[1], (self.people, self.rows), unusable)
        else:
            table = numbers("records", data, (self.people, 1 + self.rows), unusable)
            values, weights = table[:, 0], table[:, 1:]
        records, bad = self._checked(values, weights)
        refused_or_null("records", bad, self._limit, unusable)
        return records

    def one(self, record: Any) -> ItemRecords:
        """One participant's record, checked without any other record.

        Args:
            record: 1 + k numbers: a value in [0, 1], then the weights; or a pair of the value and k weights.
        """
        table = np.zeros(1 + self.rows)
        if isinstance(record, tuple | list) and len(record) == 2 and is_row(record[1]):
            table[0] = row("record", record[0], (), 0.0, 1.0)
            table[1:] = row("record", record[1], (self.rows,), 0.0, 1.0)
        elif record is not None:
            table = row("record", record, (1 + self.rows,), 0.0, 1.0)
        records, bad = self._checked(table[None, 0], table[None, 1:])
        if bool(bad.any()):
            raise InvalidInput("record", "a weight is too small, or the sum of the weights is too large", self._limit)
        return records

    @property
    def _limit(self) -> str:
        some = f"{min(self._least):g}" if len(set(self._least)) == 1 else "the least of its resource"
        whole_item = "" if self.most_weight is None else f", and at most {self.most_weight:g} together"
        return f"the value must be in [0, 1], each weight 0 or in [{some}, 1]{whole_item}"

    def _checked(self, values: NDArray[Any], weights: NDArray[Any]) -> tuple[ItemRecords, NDArray[np.bool_]]:
        """Items in units, and whether each item is bad. Bad items have value and weights 0."""
        people = len(values)
        bad = bad_rows(values[:, None], 0.0, 1.0)
        units = np.empty((people, self.rows), dtype=np.int32)
        least = np.array(self._least)
        for at in range(0, people, _CHUNK):
            part = slice(at, at + _CHUNK)
            block = weights[part].astype(np.float64)
            fits = (block == 0.0) | ((block >= least) & (block <= 1.0))
            bad[part] |= ~fits.all(axis=1)
            up = loads_up(np.where(bad[part, None], 0.0, block))
            bad[part] |= up.sum(axis=1) > self._most_units
            units[part] = np.where(bad[part, None], 0, up)
        return ItemRecords(people=people, worth=value_units(values, bad, np.int32), weights=units), bad

    def respond(self, records: ItemRecords, prices: NDArray[np.int64]) -> NDArray[np.int32]:
        return self._best(records, prices)[0]

    def load_at(self, records: ItemRecords, prices: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._best(records, prices)[1]

    def _best(self, records: ItemRecords, prices: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        chosen, load = np.empty((records.people, 1), dtype=np.int32), np.zeros(self.rows, dtype=np.int64)
        _worth_it(records.worth, records.weights, prices, chosen, load)
        return chosen, load

    def load(self, records: ItemRecords, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        total: NDArray[np.int64] = (actions[:, 0] >= 0).astype(np.int64) @ records.weights
        return total

    def contributions(self, records: ItemRecords, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        return np.where(actions >= 0, records.weights, 0).astype(np.int64)

    def values(self, records: ItemRecords, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        return np.where(actions[:, 0] >= 0, records.worth, 0).astype(np.int64)

    def linear_program(self, records: ItemRecords) -> LinearProgram:
        people, rows = np.nonzero(records.weights)
        return choices(self, values=records.worth, people=np.arange(records.people), rows=rows,
                       loads=records.weights[people, rows], entries=people)


@kernel
def _worth_it(worth: Any, weights: Any, prices: Any, chosen: Any, load: Any) -> None:
    """Choose the items with a value above the price of their weights, and add the weights of the chosen items to the
    load.

    Args:
        worth: (n,) int32 values, in units of 2^-24.
        weights: (n, k) int32 weights, in units of 2^-20.
        prices: (k,) int64 prices, in units of 2^-24.
        chosen: (n, 1) int32 output.
        load: (k,) int64 load, to which the weights are added.
    """
    n, k = weights.shape
    for i in range(n):
        cost = np.int64(0)
        for j in range(k):
            cost += weights[i, j] * prices[j]
        taken = np.int64(worth[i]) * LOAD_UNIT > cost
        chosen[i, 0] = np.int32(0) if taken else np.int32(-1)
        counted = np.int64(taken)  # a product is cheaper than a branch that nobody can guess
        for j in range(k):
            load[j] += weights[i, j] * counted


def _inverse_up(least: float) -> float:
    """The inverse 1/least, rounded up."""
    inverse = 1.0 / least
    return inverse if Fraction(inverse) * Fraction(least) >= 1 else math.nextafter(inverse, math.inf)
