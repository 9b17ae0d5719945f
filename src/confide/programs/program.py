"""Programs: optimisation problems of many people who share a few limited resources. Each of the k coupling constraints,
also called rows, limits the total use of one resource by a public supply. Each participant has a best response to
public prices, one price for each constraint.

The program is to maximise sum_i v_i(x_i) subject to sum_i c_i(x_i) <= supply and x_i in S_i. A participant's record
determines their value v_i, their contribution c_i and their set of choices S_i. A family of programs defines the
reading of records, the best response to prices, and the constants that hold for every record. The load of a constraint
is the sum of all participants' contributions to this constraint. Natural units are the units of the program's
parameters and records. All computations use whole numbers of small grid units (`grids`), so that a participant's own
computer finds the same response as the run.

An action is a list of whole numbers with a fixed length, such as the index of the chosen good, or the indices of the
arcs of a path. Unused entries are -1. The null action has -1 in all entries and contributes nothing.

Source: Wu 2017, Definition 5.3.1; spec convex_programs 1 and 2.

The module also builds a program with another supply, or for another number of people. Error messages of refused
mechanisms propose such programs.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import finite, whole
from confide.contract.errors import InvalidInput
from confide.contract.mechanism import Unusable
from confide.contract.parameters import Declared, Parameter
from confide.contract.words import counted
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT, Constants, supply_down

__all__ = [
    "MOST_PEOPLE",
    "MOST_ROWS",
    "MOST_TAU",
    "Program",
    "ProgramRecords",
    "Shard",
    "as_plain",
    "crowd",
    "with_supply",
]

# ---- program

_BLOCK = 1 << 16
_MOST_TOTAL = 2.0**32  # of loads: sums stay far inside 2^53 units
MOST_TAU = 2.0**20
MOST_PEOPLE = 2**31 - 1  # places are 32 bits
MOST_ROWS = 2**20


def as_plain(it: Any) -> None:
    """Convert the fields of a frozen dataclass in place: numbers to Python's own types, which all computations use, and
    arrays to tuples.

    Args:
        it: instance whose fields may be numpy numbers, numpy arrays or fractions.

    Raises:
        InvalidInput: a number is not finite.
    """
    for one in fields(it):
        given: Any = getattr(it, one.name, None)
        if isinstance(given, str | bool | int | float | None):
            continue
        plain = given
        if isinstance(given, np.bool_):
            plain = bool(given)
        elif isinstance(given, Integral):
            plain = int(given)
        elif isinstance(given, Real):
            plain = finite(one.name, given)
        elif hasattr(given, "tolist") and np.ndim(given) > 0:
            plain = tuple(given.tolist())
        if plain is not given:
            object.__setattr__(it, one.name, plain)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ProgramRecords:
    """Checked records of all participants, as arrays with one row for each participant. The data are private and must
    not be published.

    Args:
        people: number of participants.
        reader: the program that read and checked the records.
    """

    people: int
    reader: Program | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.people:,} participants>"  # never a number of them

    def take(self, rows: slice | NDArray[Any]) -> Self:
        """The records of the selected participants.

        Args:
            rows: indices of the selected records, or a slice; a slice copies no data.
        """
        arrays = {each.name: getattr(self, each.name)[rows] for each in fields(self)
                  if each.name not in ("people", "reader")}
        count = len(range(*rows.indices(self.people))) if isinstance(rows, slice) else len(rows)
        return replace(self, people=count, **arrays)

    def shards(self, size: int) -> list[Shard]:
        """All records, split into consecutive shards. Each shard states the place of its first record among all
        records.

        Args:
            size: largest number of records in a shard.
        """
        return [Shard(start=at, records=block) for at, block in
                zip(range(0, self.people, size), self.blocks(size), strict=True)]

    def blocks(self, size: int = _BLOCK) -> Iterator[Self]:
        """All records, in consecutive blocks.

        Args:
            size: largest number of records in a block.
        """
        for at in range(0, self.people, size):
            yield self.take(slice(at, min(at + size, self.people)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Shard:
    """A shard: consecutive records of all participants. The data are private and must not be published.

    Args:
        start: place, from 0, of the first record among all records.
        records: records of `records.people` participants.
    """

    start: int
    records: Any


@dataclass(frozen=True)
class Program(Declared, ABC):
    """Base class of all families of programs: public parameters, public constants, and the best response to prices that
    each record determines.

    Raises:
        InvalidInput: a number out of range.
    """

    people: Annotated[int, Parameter("number of public slots", symbol="n", at_least=1, at_most=MOST_PEOPLE)]
    supply: Annotated[float | tuple[float, ...], Parameter(
        "supply of each coupling constraint, or one number for all", symbol="b")]
    tau: Annotated[float | tuple[float, ...] | None, Parameter(
        "dual bound of each constraint, or one for all: largest increase of the optimum by one unit of excess; by "
        "default the bound of the family", above=0, at_most=MOST_TAU)] = field(default=None, kw_only=True)

    two_sided: ClassVar[bool] = False
    """Whether the coupling constraints are equations, so that prices may be negative."""

    def __post_init__(self) -> None:
        as_plain(self)
        super().__post_init__()
        self._fits()
        for name in ("supply", "tau"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, self._for_rows(name, getattr(self, name)))
        largest = max(self.people * self.constants.largest_entry, *map(abs, self.supplies))
        if largest > _MOST_TOTAL:
            raise InvalidInput("supply", f"loads up to {largest:.3g} are too large",
                               f"must be at most {_MOST_TOTAL:.3g}")
        worth = PRICE_UNIT * (max(abs(self.constants.least_value), self.constants.most_value)
                              + 2.0 * max(self.constants.tau) * self.constants.largest_sum) * self.scale
        if worth > 2.0**62:
            raise InvalidInput("tau", f"values minus prices are too large, up to {worth / PRICE_UNIT / self.scale:.3g}",
                               f"must be at most {2.0**62 / PRICE_UNIT / self.scale:.3g}")

    def _fits(self) -> None:
        """Check and complete the fields of a particular family, before supplies are expanded to one number for each
        constraint.
        """

    def _for_rows(self, name: str, given: Any) -> tuple[float, ...]:
        """One number for each constraint, as a tuple."""
        if isinstance(given, str):
            raise InvalidInput(name, f"{given!r} is not a number")
        numbers = (given,) * self.rows if np.ndim(given) == 0 else tuple(given)
        if len(numbers) != self.rows:
            raise InvalidInput(name, counted(len(numbers), "number"),
                               f"must be one number, or {counted(self.rows, 'number')}")
        return tuple(finite(name, one) for one in numbers)

    # ---- public parameters

    @property
    @abstractmethod
    def rows(self) -> int:
        """Number k of coupling constraints, called rows in names and messages."""

    @property
    @abstractmethod
    def constants(self) -> Constants:
        """Public bounds, such as the largest contribution, that hold for every admissible record."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Number of whole numbers that describe an action."""

    @property
    def row_names(self) -> tuple[str, ...]:
        """Name of each coupling constraint, such as the name of the limited resource, shape (k,)."""
        return tuple(map(str, range(self.rows)))

    @property
    def record_fields(self) -> Mapping[str, tuple[int, ...]] | None:
        """Mapping from the name of each field of a record to the field's shape. The result is None if records are not
        mappings of fields.
        """
        return None

    @property
    def scale(self) -> int:
        """Factor by which the grid for value less price is finer than the grid of values, which has steps of 2^-24. The
        factor is 1 where contributions are whole numbers, and 2^20 in other families.
        """
        return 1

    @property
    def linear(self) -> bool:
        """Whether a linear program has the same optimum as this program."""
        return True

    @property
    def oracle_error(self) -> float:
        """Largest amount, in units of value, by which the value less price of a response may be below that of the best
        response; 0 where responses are exact.
        """
        return 0.0

    @property
    def always_answered(self) -> bool:
        """Whether each response is within `oracle_error` of the best response. If False, a participant gets the null
        action where no response is proved to be within `oracle_error`.

        Promises about the gain of a single participant need responses within `oracle_error`; privacy and supplies do
        not.
        """
        return True

    @property
    def not_packing(self) -> str:
        """Reason why the program is no packing program, for error messages; empty for a packing program. In a packing
        program values and contributions are never negative, and every participant may receive nothing.
        """
        one = self.constants
        if self.two_sided:
            return "the rows are equations"
        if one.signed:
            return "contributions can be below 0"
        if one.least_value < 0.0:
            return "values can be below 0"
        return "" if one.packing else "not everybody may have nothing, or there is a public block"

    @property
    def most_responses(self) -> float:
        """Largest supported product of the numbers of people and rounds. The product is unlimited, except where each
        response needs a solver.
        """
        return math.inf

    @property
    def supplies(self) -> tuple[float, ...]:
        """Supplies b of the constraints in natural units, shape (k,)."""
        return self.supply  # type: ignore[return-value]

    @property
    def taus(self) -> tuple[float, ...]:
        """Dual bounds tau of the constraints, as declared or by the family's own rule, shape (k,)."""
        return self.constants.tau

    @property
    def supply_units(self) -> NDArray[np.int64]:
        """Supplies b in load units of 2^-20, rounded down, shape (k,)."""
        return supply_down(self.supplies)

    @property
    def highest_prices(self) -> NDArray[np.int64]:
        """Highest prices 2 tau in price units of 2^-24, rounded up, shape (k,)."""
        return np.ceil(2.0 * np.array(self.taus) * PRICE_UNIT).astype(np.int64)

    @property
    def lowest_prices(self) -> NDArray[np.int64]:
        """Lowest prices in price units of 2^-24, shape (k,): 0, or -2 tau where constraints are equations."""
        high = self.highest_prices
        return -high if self.two_sided else np.zeros_like(high)

    def public_load(self, prices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Contributions of the public block at given prices, shape (k,), in load units of 2^-20. The public block is
        the part of a program that belongs to no participant, such as units that are bought by a public rule. The
        contributions are 0 in families without such a block.

        Args:
            prices: (k,) prices in price units of 2^-24.
        """
        return np.zeros(self.rows, dtype=np.int64)

    def public_value(self, prices: NDArray[np.int64]) -> float:
        """Value of the public block at given prices, in natural units.

        Args:
            prices: (k,) prices in price units of 2^-24.
        """
        return 0.0

    def public_parts(self, prices: NDArray[np.int64]) -> list[tuple[float, NDArray[np.int64]]]:
        """Value and load of each part of the public block. The parts are chosen independently, and their sum is the
        whole public block. Each value is in natural units. Each load has shape (k,), in load units of 2^-20.

        Args:
            prices: (k,) prices in price units of 2^-24.
        """
        return [(self.public_value(prices), self.public_load(prices))]

    # ---- records

    def read(self, data: Any, *, unusable: Unusable = "refuse") -> ProgramRecords:
        """Checked records of all n public slots. A slot is the place of one possible participant, and may be empty.

        Args:
            data: records as the family describes them, or the result of an earlier `read` of the same program. The
                result of another program's `read` is refused, because its records may exceed the range for which the
                noise is planned.
            unusable: treatment of a bad row. "refuse" refuses the whole table and names the bad row. "null" treats a
                bad row as a slot without a record, whatever the row contains: too few numbers, strings, None, or
                objects that raise errors. A table with a wrong number of rows, and an array of a wrong shape or type,
                are always refused.

        Raises:
            InvalidInput: the number of rows is not n, or an array has a wrong shape; the records belong to another
                program; or a row is bad, and bad rows are refused.
        """
        if not isinstance(data, ProgramRecords):
            with np.errstate(all="ignore"):  # a warning would be about somebody's row
                return replace(self._read(data, unusable), reader=self)
        if data.people != self.people:
            raise InvalidInput("records", f"{data.people} records", f"must be {self.people} records, one for each slot")
        if data.reader is not None and data.reader != self:
            raise InvalidInput("records", "were read with another program", "read the records with this program")
        return data

    @abstractmethod
    def _read(self, data: Any, unusable: Unusable) -> ProgramRecords:
        """Checked records of all n slots, one for each participant or empty slot.

        Args:
            data: records as the family describes them.
            unusable: treatment of a bad row, "refuse" or "null".
        """

    @abstractmethod
    def one(self, record: Any) -> ProgramRecords:
        """One participant's record, checked without any other record.

        Args:
            record: the record as the family describes it; None for an empty slot.

        Raises:
            InvalidInput: the record is wrong. The error message is for the participant alone.
        """

    def trial_records(self, count: int) -> ProgramRecords:
        """Artificial public records, on which responses are timed before any real records are read.

        Args:
            count: number of records. The records are empty, except in families where the response to an empty record
                needs no computation.
        """
        return self.one(None).take(np.zeros(whole("count", count, at_least=1), dtype=np.int64))

    # ---- what people do at prices

    @abstractmethod
    def respond(self, records: Any, prices: NDArray[np.int64]) -> NDArray[np.int32]:
        """The best response of each participant, shape (m, width): the action with the largest value less price. Among
        equally good actions, the null action is preferred, then the first action in the family's order.

        Args:
            records: records of m participants.
            prices: (k,) prices in price units of 2^-24.
        """

    def respond_along(self, records: Any, prices: NDArray[np.int64]) -> NDArray[np.int32]:
        """The best responses of all participants to the prices of T rounds, shape (m, T, width). The responses equal
        those of `respond` round by round.

        Args:
            records: records of m participants.
            prices: (T, k) prices in price units of 2^-24.
        """
        return np.stack([self.respond(records, row) for row in prices], axis=1)

    @abstractmethod
    def contributions(self, records: Any, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        """Contribution of each participant's action to the load of each constraint, in load units of 2^-20, shape (m,
        k).

        Args:
            records: records of m participants.
            actions: (m, width) action of each participant.
        """

    @abstractmethod
    def values(self, records: Any, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        """Value of each participant's action to that participant, in units of 2^-24, shape (m,).

        Args:
            records: records of m participants.
            actions: (m, width) action of each participant.
        """

    def load(self, records: Any, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        """Total contribution of all actions to each constraint, in load units of 2^-20, shape (k,).

        Args:
            records: records of m participants.
            actions: (m, width) action of each participant.
        """
        total: NDArray[np.int64] = self.contributions(records, actions).sum(axis=0)
        return total

    def weighted_load(
        self, records: Any, actions: NDArray[np.int32], times: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Total load of all actions, each multiplied by its entry of `times`, in load units of 2^-20, shape (k,).

        Args:
            records: records of m participants.
            actions: (m, width) action of each participant.
            times: (m,) factor by which each action's contribution is multiplied, a whole number >= 0.
        """
        total: NDArray[np.int64] = self.contributions(records, actions).T @ times
        return total

    def load_at(self, records: Any, prices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Total load of all best responses at given prices, in load units of 2^-20, shape (k,). Each round of a run
        computes this load.

        Args:
            records: records of m participants.
            prices: (k,) prices in price units of 2^-24.
        """
        return self.load(records, self.respond(records, prices))

    def paid(self, records: Any, actions: NDArray[np.int32], prices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Price of each participant's action, the sum of price times contribution over all constraints, in units of
        2^-24/`scale` of value, shape (m,).

        Args:
            records: records of m participants.
            actions: (m, width) action of each participant.
            prices: (k,) prices in price units of 2^-24, or sums of a few thousand such prices.
        """
        return self.contributions(records, actions) // (LOAD_UNIT // self.scale) @ prices

    def describe(self, action: NDArray[np.int32]) -> Any:
        """An action in the form in which a participant receives it. An action of a single number is that number. Any
        other action is the list of its numbers without the entries -1.

        Args:
            action: (width,) action.
        """
        if self.width == 1:
            return int(action[0])
        return [int(one) for one in action if one >= 0]

    # ---- the same program for a solver

    @abstractmethod
    def linear_program(self, records: Any) -> Any:
        """The program of all records, for a solver, as a `linear.LinearProgram`. The linear program has no privacy
        protection.

        Args:
            records: records of all participants.
        """


# ---- scaled


def with_supply(program: Program, *, factor: float = 1.0, supply: float | None = None) -> Program:
    """A copy of a program with other supplies.

    Args:
        program: program of any family.
        factor: factor that every supply is multiplied by.
        supply: new supply, in natural units, of all constraints with a supply of 0 or less. None multiplies these
            supplies by `factor`, too.
    """
    return replace(program, supply=tuple(
        factor * one if one > 0 or supply is None else supply for one in program.supplies))


def crowd(program: Program, factor: float) -> Program:
    """A copy of a program for `factor` times the people with `factor` times the supply. The number of people, and
    supplies that were above 1, are rounded up to whole numbers.

    Args:
        program: program of any family.
        factor: factor > 0 by which people and supplies are multiplied.
    """
    return replace(program, people=math.ceil(factor * program.people),
                   supply=tuple(math.ceil(factor * one) if one > 1 else one * factor for one in program.supplies))
