"""Programs: people who are coupled by a few public rows only, each with a best response to public prices.

maximise sum_i v_i(x_i) subject to sum_i c_i(x_i) <= supply, x_i in S_i. A participant's record says what v_i, c_i and
S_i are. A family of programs knows how records are read, what the best response to prices is, and which constants hold
for every record. Everything is computed in whole numbers (`grids`), so that a participant's own computer finds the same
response.

An action is a row of a fixed number of whole numbers, such as the good that is taken, or the arcs of a path; unused
numbers are -1. The null action is all -1: it contributes nothing.

Source: Wu 2017, Definition 5.3.1; spec convex_programs 1 and 2.

A program with another supply, or for other people: the changes that remedies of this family try.
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
    """Write the numbers of a frozen dataclass as Python's own, which all arithmetic is in, and arrays as tuples.

    Args:
        it: an instance, whose fields may be of numpy, or fractions.

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
    """Checked records in arrays, one row of each for every participant. Private.

    Args:
        people: how many.
        reader: the program that read and checked them.
    """

    people: int
    reader: Program | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.people:,} participants>"  # never a number of them

    def take(self, rows: slice | NDArray[Any]) -> Self:
        """Some of the records.

        Args:
            rows: places of the records; a slice copies nothing.
        """
        arrays = {each.name: getattr(self, each.name)[rows] for each in fields(self)
                  if each.name not in ("people", "reader")}
        count = len(range(*rows.indices(self.people))) if isinstance(rows, slice) else len(rows)
        return replace(self, people=count, **arrays)

    def shards(self, size: int) -> list[Shard]:
        """All records, in parts that know where they begin.

        Args:
            size: largest number of rows of a part.
        """
        return [Shard(start=at, records=block) for at, block in
                zip(range(0, self.people, size), self.blocks(size), strict=True)]

    def blocks(self, size: int = _BLOCK) -> Iterator[Self]:
        """All records, in blocks.

        Args:
            size: largest number of rows of a block.
        """
        for at in range(0, self.people, size):
            yield self.take(slice(at, min(at + size, self.people)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Shard:
    """Records that lie together. They are private.

    Args:
        start: place of the first one.
        records: records of `records.people` participants.
    """

    start: int
    records: Any


@dataclass(frozen=True)
class Program(Declared, ABC):
    """Base of all families: public parameters, constants, and how a record responds to prices.

    Raises:
        InvalidInput: a number out of range.
    """

    people: Annotated[int, Parameter("public slots", symbol="n", at_least=1, at_most=MOST_PEOPLE)]
    supply: Annotated[float | tuple[float, ...], Parameter(
        "of each coupling row, or one number for all of them", symbol="b")]
    tau: Annotated[float | tuple[float, ...] | None, Parameter(
        "dual bound of each row, or one for all: by how much a unit of excess may raise the value of the optimum; by "
        "default the family's bound", above=0, at_most=MOST_TAU)] = field(default=None, kw_only=True)

    two_sided: ClassVar[bool] = False
    """Whether rows are equations, whose prices may be negative."""

    def __post_init__(self) -> None:
        as_plain(self)
        super().__post_init__()
        self._fits()
        for name in ("supply", "tau"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, self._for_rows(name, getattr(self, name)))
        largest = max(self.people * self.constants.largest_entry, *map(abs, self.supplies))
        if largest > _MOST_TOTAL:
            raise InvalidInput("supply", f"loads up to {largest:.3g} are too large", f"at most {_MOST_TOTAL:.3g}")
        worth = PRICE_UNIT * (max(abs(self.constants.least_value), self.constants.most_value)
                              + 2.0 * max(self.constants.tau) * self.constants.largest_sum) * self.scale
        if worth > 2.0**62:
            raise InvalidInput("tau", f"values less prices up to {worth / PRICE_UNIT / self.scale:.3g} are too large",
                               f"at most {2.0**62 / PRICE_UNIT / self.scale:.3g}")

    def _fits(self) -> None:
        """Check and complete what a family has of its own, across its fields, before supplies are told row by row."""

    def _for_rows(self, name: str, given: Any) -> tuple[float, ...]:
        """One number for each row, as a tuple."""
        if isinstance(given, str):
            raise InvalidInput(name, f"{given!r} is not a number")
        numbers = (given,) * self.rows if np.ndim(given) == 0 else tuple(given)
        if len(numbers) != self.rows:
            raise InvalidInput(name, f"{len(numbers)} numbers", f"must be one, or {self.rows}")
        return tuple(finite(name, one) for one in numbers)

    # ---- public parameters

    @property
    @abstractmethod
    def rows(self) -> int:
        """Number k of coupling rows."""

    @property
    @abstractmethod
    def constants(self) -> Constants:
        """Public bounds that hold for every admissible record."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Whole numbers in an action."""

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of what the rows limit, shape (k,)."""
        return tuple(map(str, range(self.rows)))

    @property
    def record_fields(self) -> Mapping[str, tuple[int, ...]] | None:
        """Field -> shape, where a record is a mapping of fields; None where it is something else."""
        return None

    @property
    def scale(self) -> int:
        """Units of a value less prices in one unit of value; 2^20 where contributions are not whole numbers."""
        return 1

    @property
    def linear(self) -> bool:
        """Whether its optimum is that of a linear program."""
        return True

    @property
    def oracle_error(self) -> float:
        """Largest amount by which a response may be worth less at its prices than the best one: 0 where it is exact."""
        return 0.0

    @property
    def always_answered(self) -> bool:
        """Whether each response is within `oracle_error` of the best: else it may be null where a solver proves none.

        Promises about what one participant gains need it; privacy and supplies do not.
        """
        return True

    @property
    def not_packing(self) -> str:
        """Why nobody can simply be given nothing; empty where everybody can."""
        one = self.constants
        if self.two_sided:
            return "its rows are equations"
        if one.signed:
            return "contributions can be below 0"
        if one.least_value < 0.0:
            return "values can be below 0"
        return "" if one.packing else "not everybody may have nothing, or there is a public block"

    @property
    def most_responses(self) -> float:
        """People times rounds, at most: fewer where each response takes a solver."""
        return math.inf

    @property
    def supplies(self) -> tuple[float, ...]:
        """Supplies b of the rows, shape (k,)."""
        return self.supply  # type: ignore[return-value]

    @property
    def taus(self) -> tuple[float, ...]:
        """Dual bounds that are used, shape (k,)."""
        return self.constants.tau

    @property
    def supply_units(self) -> NDArray[np.int64]:
        """Supplies b in units of load, rounded down, shape (k,)."""
        return supply_down(self.supplies)

    @property
    def highest_prices(self) -> NDArray[np.int64]:
        """Highest prices 2 tau in units of price, rounded up, shape (k,)."""
        return np.ceil(2.0 * np.array(self.taus) * PRICE_UNIT).astype(np.int64)

    @property
    def lowest_prices(self) -> NDArray[np.int64]:
        """Lowest prices, shape (k,): 0, or -2 tau where rows are equations."""
        high = self.highest_prices
        return -high if self.two_sided else np.zeros_like(high)

    def public_load(self, prices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Contributions of the public block at these prices, shape (k,), in units of load: 0 unless the family has such
        a block.

        Args:
            prices: (k,) in units of price.
        """
        return np.zeros(self.rows, dtype=np.int64)

    def public_value(self, prices: NDArray[np.int64]) -> float:
        """Value of the public block at these prices.

        Args:
            prices: (k,) in units of price.
        """
        return 0.0

    def public_parts(self, prices: NDArray[np.int64]) -> list[tuple[float, NDArray[np.int64]]]:
        """Value and (k,) load of each part of the public block that is chosen alone: together they are all of it.

        Args:
            prices: (k,) in units of price.
        """
        return [(self.public_value(prices), self.public_load(prices))]

    # ---- records

    def read(self, data: Any, *, unusable: Unusable = "refuse") -> ProgramRecords:
        """Checked records of all n slots.

        Args:
            data: records as the family describes them, or as this program read them before: records that another
                program read may be beyond the range that its noise is made for.
            unusable: treatment of a bad row: "refuse" all rows, naming the bad one, or take it as the null record,
                whatever is in it: too few numbers, strings, None, objects that fail. The number of rows, and the shape
                and type of an array, concern the whole table, and are refused in any case.

        Raises:
            InvalidInput: another number of rows, or an array of another shape; another program's; or a bad row, where
                it is refused.
        """
        if not isinstance(data, ProgramRecords):
            with np.errstate(all="ignore"):  # a warning would be about somebody's row
                return replace(self._read(data, unusable), reader=self)
        if data.people != self.people:
            raise InvalidInput("records", f"{data.people} of them", f"must be {self.people}, one for each slot")
        if data.reader is not None and data.reader != self:
            raise InvalidInput("records", "were read by another program", "read them by this one")
        return data

    @abstractmethod
    def _read(self, data: Any, unusable: Unusable) -> ProgramRecords:
        """Checked records of all n slots.

        Args:
            data: what the family describes.
            unusable: what becomes of a bad row.
        """

    @abstractmethod
    def one(self, record: Any) -> ProgramRecords:
        """One participant's record, checked alone.

        Args:
            record: the record as the family describes it; None for a slot without one.

        Raises:
            InvalidInput: the record is wrong; the message names the error, to the participant alone.
        """

    def trial_records(self, count: int) -> ProgramRecords:
        """Made-up records, the same for everybody who asks, on which responses are timed before anyone's are read.

        Args:
            count: how many: those of slots without one, but where these take no work.
        """
        return self.one(None).take(np.zeros(whole("count", count, at_least=1), dtype=np.int64))

    # ---- what people do at prices

    @abstractmethod
    def respond(self, records: Any, prices: NDArray[np.int64]) -> NDArray[np.int32]:
        """The best responses of all participants, shape (m, width): the null action before others, then the one that
        comes first.

        Args:
            records: records of m participants.
            prices: (k,) in units of price.
        """

    def respond_along(self, records: Any, prices: NDArray[np.int64]) -> NDArray[np.int32]:
        """The best responses of all participants to a whole path, the same as round by round, shape (m, T, width).

        Args:
            records: records of m participants.
            prices: (T, k) in units of price.
        """
        return np.stack([self.respond(records, row) for row in prices], axis=1)

    @abstractmethod
    def contributions(self, records: Any, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        """Contributions of everybody's action to each row, in units of load, shape (m, k).

        Args:
            records: records of m participants.
            actions: (m, width).
        """

    @abstractmethod
    def values(self, records: Any, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        """Value of everybody's action to them, in units of value, shape (m,).

        Args:
            records: records of m participants.
            actions: (m, width).
        """

    def load(self, records: Any, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        """Contributions of all actions together to each row, in units of load, shape (k,).

        Args:
            records: records of m participants.
            actions: (m, width).
        """
        total: NDArray[np.int64] = self.contributions(records, actions).sum(axis=0)
        return total

    def weighted_load(
        self, records: Any, actions: NDArray[np.int32], times: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Load of all actions, each counted `times` times, in units of load, shape (k,).

        Args:
            records: records of m participants.
            actions: (m, width).
            times: (m,) how often each action counts.
        """
        total: NDArray[np.int64] = self.contributions(records, actions).T @ times
        return total

    def load_at(self, records: Any, prices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Load of all best responses at these prices, in units, shape (k,): the question of a round.

        Args:
            records: records of m participants.
            prices: (k,) in units of price.
        """
        return self.load(records, self.respond(records, prices))

    def paid(self, records: Any, actions: NDArray[np.int32], prices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Price of everybody's action, in units of value times `scale`, shape (m,).

        Args:
            records: records of m participants.
            actions: (m, width).
            prices: (k,) in units of price, or sums of a few thousand of them.
        """
        return self.contributions(records, actions) // (LOAD_UNIT // self.scale) @ prices

    def describe(self, action: NDArray[np.int32]) -> Any:
        """An action as it stands in a share: a number where it has one, else the list of those that are used.

        Args:
            action: (width,).
        """
        if self.width == 1:
            return int(action[0])
        return [int(one) for one in action if one >= 0]

    # ---- the same program for a solver

    @abstractmethod
    def linear_program(self, records: Any) -> Any:
        """The exact program of all records, for a solver: `linear.LinearProgram`. Private.

        Args:
            records: records of all participants.
        """


# ---- scaled


def with_supply(program: Program, *, factor: float = 1.0, supply: float | None = None) -> Program:
    """The program with other supplies.

    Args:
        program: program of any family.
        factor: factor that every supply is multiplied by.
        supply: supply of rows that have none; None to leave them.
    """
    return replace(program, supply=tuple(
        factor * one if one > 0 or supply is None else supply for one in program.supplies))


def crowd(program: Program, factor: float) -> Program:
    """The program for `factor` times the people with `factor` times the supply, both in whole numbers.

    Args:
        program: program of any family.
        factor: factor of people and supply.
    """
    return replace(program, people=math.ceil(factor * program.people),
                   supply=tuple(math.ceil(factor * one) if one > 1 else one * factor for one in program.supplies))
