"""`Electricity`: each participant needs power in some slots of some intervals, such as hours of days, and each slot has
a limited amount of power.

The operator knows the number of slots, and the largest number of slots that one participant may use. Participants
reveal neither the hours when they are at home nor the value of an hour to them.

Source: Wu 2017, section 5.3 (running example), Corollary 5.3.19; spec convex_programs 4 and 7 (erratum 8).

The module also reads load profiles of a day: the power that other consumers draw from a grid, so that the rest of the
grid's capacity can be shared.

The package simbench ships a year of measured profiles in steps of a quarter of an hour. The code of simbench is under a
BSD licence and its data under the Open Database License; no code or data of simbench is part of this package. Cite:
Meinecke et al., SimBench, Energies 13 (2020) 3290.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import scipy
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.contract.checks import positive, whole
from confide.contract.errors import InvalidInput
from confide.contract.mechanism import Unusable
from confide.contract.parameters import Parameter
from confide.contract.wire import wire
from confide.contract.words import cause, did_you_mean
from confide.programs.grids import LOAD_BITS, LOAD_UNIT, PRICE_UNIT, Constants
from confide.programs.linear import LinearProgram
from confide.programs.program import MOST_ROWS, Program, ProgramRecords
from confide.programs.sets_of_goods import two
from confide.programs.tables import bad_rows, numbers, refused_or_null, row, value_units
from confide.tables._packaged import shipped_file

__all__ = ["Electricity", "ElectricityRecords", "load_profile", "load_profiles_file", "what_is_left"]

# ---- electricity

_MUST = 1 << 60  # what a mandatory slot is worth besides its value: more than all prices together, and no overflow
_MOST_SHORTFALL = 2.0**19


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ElectricityRecords(ProgramRecords):
    """Value of each slot to each participant, and the number of slots that the participant needs in each interval. The
    data are private and must not be published.

    Args:
        worth: (n, T Q) int32 values, in units of 2^-24.
        needs: (n, T) int32 needed slots of each interval.
    """

    worth: NDArray[np.int32]
    needs: NDArray[np.int32]


@wire("Electricity", "people supply tau most intervals slots shortfall hard")
@dataclass(frozen=True)
class Electricity(Program):
    """A program of n people and T intervals of Q slots with limited power. A record has a value for each slot, and may
    state how many slots are needed in each interval.

    A participant's plan is a table of numbers x_tq in [0, 1], the use of slot q in interval t, with a sum of at most
    `most`. There are three kinds of needs:

    - none (the default): a record is (T, Q) values in [0, 1]. The program is a packing program, and the dual bound tau
      = 1 always holds.
    - soft (`shortfall`): a record is a pair (values, needs). The needs are T whole numbers, each at most Q and together
      at most `most`. A slot that is needed in an interval and not received there costs `shortfall`, for every
      participant. With soft needs, the dual bound tau = 1 + shortfall always holds.
    - hard (`hard=True`): needs are always met. No dual bound follows from the family alone. More power in one slot may
      shift a chain of people by one slot each, so the dual bound tau = 1 is false; tau may have to be at least Q - 1.
      No promise is made unless `tau` is declared, and promises hold only if the declared tau is right. The certificate
      after a run needs no tau. With hard needs, prices stay within [0, 2 tau], too.

    With soft needs, the value of an average of plans is at least the average of the plans' values, because one plan may
    have a slot that another plan lacks.

    Raises:
        InvalidInput: a number out of range; both soft and hard needs; or hard needs without a declared tau.

    Example:
        >>> program = Electricity(2, 1.0, most=2, intervals=2, slots=2, shortfall=0.5)
        >>> values, needs = [[[0.25, 0.5], [0.0, 0.75]], [[0.0, 0.0], [0.0, 0.0]]], [[0, 0], [1, 0]]
        >>> records = program.read((values, needs))
        >>> program.respond(records, np.zeros(4, dtype=np.int64)).tolist()
        [[1, 3], [0, -1]]
        >>> program.taus[0]
        1.5
    """

    supply: Annotated[float | tuple[float, ...], Parameter(
        "number of participants who may use each slot: T Q numbers, a (T, Q) table, or one number for all",
                                                           symbol="b", at_least=0)]
    most: Annotated[int, Parameter("largest number of slots of one participant",
                                   at_least=1, at_most=MOST_ROWS)] = field(
        kw_only=True)
    intervals: Annotated[int | None, Parameter(
        "number of intervals, if `supply` is not a table", symbol="T", at_least=1, at_most=MOST_ROWS)] = field(
            default=None, kw_only=True)
    slots: Annotated[int | None, Parameter(
        "number of slots of an interval, if `supply` is not a table",
                                           symbol="Q", at_least=1, at_most=MOST_ROWS)] = field(
            default=None, kw_only=True)
    shortfall: Annotated[float | None, Parameter(
        "cost of a missed slot; None without soft needs", above=0, at_most=_MOST_SHORTFALL)] = field(
            default=None, kw_only=True)
    hard: Annotated[bool, Parameter(
        "whether participants state their needs, and always get them; if so, tau must be declared")] = field(
            default=False, kw_only=True)

    def __post_init__(self) -> None:
        if np.ndim(self.supply) == 2:
            table = np.asarray(self.supply)
            for name, found in zip(("intervals", "slots"), table.shape, strict=True):
                if getattr(self, name) not in (None, found):
                    raise InvalidInput(name, f"is {getattr(self, name)}, but the table of supplies has {found}")
                object.__setattr__(self, name, found)
            object.__setattr__(self, "supply", tuple(table.ravel().tolist()))
        for name in ("intervals", "slots"):
            if getattr(self, name) is None:
                raise InvalidInput(name, "is missing",
                                   "give `intervals` and `slots`, or give `supply` as a (T, Q) table")
        super().__post_init__()

    def _fits(self) -> None:
        if self.rows > MOST_ROWS:
            raise InvalidInput("rows", f"there are {self.rows:,} slots", f"must be at most {MOST_ROWS:,}")
        if self.most > self.rows:
            raise InvalidInput("most", f"{self.most} slots", f"must be at most {self.rows}, the number of all slots")
        if self.shortfall is not None and self.hard:
            raise InvalidInput("shortfall", "needs cannot be both soft and hard",
                               "give only one of `shortfall` and `hard`")
        if self.hard and self.tau is None:
            raise InvalidInput("tau", "is not declared",
                "give `tau`, since no promise is possible for hard needs without `tau`; or give `shortfall`, the cost "
                "of a missed slot")

    @property
    def rows(self) -> int:
        return int(self.intervals) * int(self.slots)  # type: ignore[arg-type]

    @property
    def row_names(self) -> tuple[str, ...]:
        return tuple(f"{t}.{q}" for t in range(self._shape[0]) for q in range(self._shape[1]))

    @property
    def width(self) -> int:
        return self.most

    @property
    def asks_needs(self) -> bool:
        """Whether records state needs, soft or hard."""
        return self.hard or self.shortfall is not None

    @property
    def _penalty(self) -> int:
        """Cost of a missed slot in units of 2^-24, rounded down so that 1 + shortfall stays a dual bound."""
        return int((self.shortfall or 0.0) * PRICE_UNIT)

    @cached_property
    def constants(self) -> Constants:
        missed = self.shortfall or 0.0
        return Constants(
            rows=self.rows, largest_entry=1.0, largest_sum=float(self.most), least_entry=1.0,
            least_sum=0.0 if self.asks_needs else 1.0, most_value=float(self.most), least_value=-missed * self.most,
            packing=not self.asks_needs, width=float(max(self.people, *self.supplies)),
            tau=(1.0 + missed,) * self.rows if self.tau is None else self.tau,  # type: ignore[arg-type]
            step_scale=(float(self.people),) * self.rows)

    # ---- records

    def _read(self, data: Any, unusable: Unusable) -> ProgramRecords:
        """Checked records of all participants.

        Args:
            data: (n, T, Q) values in [0, 1]; for a program with needs, a pair of (n, T, Q) values and (n, T) whole
                numbers.
            unusable: treatment of a bad row, "refuse" or "null".
        """
        table, wanted = two("records", data, "values", "needs") if self.asks_needs else (data, None)
        values = numbers("values" if self.asks_needs else "records", table, (self.people, *self._shape), unusable)
        bad = bad_rows(values, 0.0, 1.0)
        needs = np.zeros((self.people, self._shape[0]))
        if wanted is not None:
            needs = numbers("needs", wanted, needs.shape, unusable)
            bad |= ~self._can_be_met(needs)
        refused_or_null("records", bad, self._limit, unusable)
        return self._kept(values, needs, bad)

    def one(self, record: Any) -> ElectricityRecords:
        """One participant's record, checked without any other record.

        Args:
            record: (T, Q) values in [0, 1]; for a program with needs, a pair of (T, Q) values and T whole numbers.
        """
        values, needs = np.zeros(self._shape), np.zeros(self._shape[0])
        if record is not None:
            table, wanted = two("record", record, "values", "needs") if self.asks_needs else (record, needs)
            values = row("values" if self.asks_needs else "record", table, self._shape, 0.0, 1.0)
            needs = row("needs", wanted, needs.shape, 0.0, float(self._shape[1]))
            if not bool(self._can_be_met(needs[None])[0]):
                raise InvalidInput("needs", "cannot be met", self._limit)
        return self._kept(values[None], needs[None], np.zeros(1, dtype=bool))

    @property
    def _shape(self) -> tuple[int, int]:
        return int(self.intervals), int(self.slots)  # type: ignore[arg-type]

    @property
    def _limit(self) -> str:
        values = "each value must be a number in [0, 1]"
        if not self.asks_needs:
            return values
        return f"{values}, needs whole numbers in 0..{self._shape[1]} of each interval, at most {self.most} in all"

    def _can_be_met(self, needs: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether needs are whole numbers that the number of slots and the limit `most` allow, shape (n,)."""
        in_range = (needs >= 0) & (needs <= self._shape[1])
        usable = np.where(in_range, needs, 0.0)
        met: NDArray[np.bool_] = (in_range & (usable == np.floor(usable))).all(axis=1)
        return np.asarray(met & (usable.sum(axis=1) <= self.most), dtype=np.bool_)

    def _kept(self, values: NDArray[Any], needs: NDArray[Any], bad: NDArray[np.bool_]) -> ElectricityRecords:
        kept = np.where(bad[:, None], 0, needs)
        return ElectricityRecords(people=len(values), worth=value_units(values.reshape(len(values), -1), bad, np.int32),
                                  needs=kept.astype(np.int32))

    # ---- what people do at prices

    def respond(self, records: ElectricityRecords, prices: NDArray[np.int64]) -> NDArray[np.int32]:
        """The best slots of each participant, in ascending order, shape (m, most); unused entries are -1.

        Within an interval, each slot that is needed adds its value, less its price, plus the cost of a missed slot.
        Slots beyond the needs add value less price alone. Within an interval, each further slot adds at most as much as
        the slot before, so the `most` largest positive gains of all intervals are best. A rule that first meets all
        needs would not be optimal where a missed slot costs little.
        """
        chosen = np.empty((records.people, self.width), dtype=np.int32)
        bonus = _MUST if self.hard else self._penalty
        _plans(records.worth, records.needs, np.ascontiguousarray(prices, dtype=np.int64), bonus, chosen)
        return chosen

    def load(self, records: ElectricityRecords, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        counted = np.bincount(actions.reshape(-1) + 1, minlength=self.rows + 1)[1:]
        return counted.astype(np.int64) << LOAD_BITS

    def contributions(self, records: ElectricityRecords, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        out = np.zeros((len(actions), self.rows), dtype=np.int64)
        people, places = np.nonzero(actions >= 0)
        out[people, actions[people, places]] = LOAD_UNIT
        return out

    def values(self, records: ElectricityRecords, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        used = actions >= 0
        worth = np.take_along_axis(records.worth, np.maximum(actions, 0), axis=1)
        total: NDArray[np.int64] = np.where(used, worth, 0).sum(axis=1, dtype=np.int64)
        if self._penalty:
            total -= self._penalty * self.missed(records, actions).sum(axis=1)
        return total

    def missed(self, records: ElectricityRecords, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        """Number of needed slots that each participant does not receive in each interval, shape (m, T).

        Args:
            records: records of m participants.
            actions: (m, most) slots of each participant.
        """
        intervals, slots = self._shape
        had = np.stack([((actions >= t * slots) & (actions < (t + 1) * slots)).sum(axis=1) for t in range(intervals)],
                       axis=1)
        return np.asarray(np.maximum(0, records.needs - had), dtype=np.int64)

    def linear_program(self, records: ElectricityRecords) -> LinearProgram:
        n, k, slots = records.people, self.rows, self._shape[1]
        who, needed = np.nonzero(records.needs)
        d = len(who)  # pairs of a participant and an interval with needs
        soft = d if self.shortfall is not None else 0
        owner = np.concatenate([np.repeat(np.arange(n), k), who[:soft]])
        m, of_x = len(owner), np.arange(n * k)
        coupling = scipy.sparse.csc_array((np.ones(n * k), (np.tile(np.arange(k), n), of_x)), shape=(k, m))
        # Rows of `personal`: everybody's slots in all; then, of each need, slots had and slots missed.
        covers = (who * k + needed * slots)[:, None] + np.arange(slots)
        entries = np.concatenate([of_x, covers.reshape(-1), np.arange(n * k, m)])
        rows = np.concatenate([owner[: n * k], np.repeat(n + np.arange(d), slots), n + np.arange(soft)])
        personal = scipy.sparse.csc_array((np.ones(len(rows)), (rows, entries)), shape=(n + d, m))
        cost = np.full(soft, -self._penalty / PRICE_UNIT)
        return LinearProgram(
            objective=np.concatenate([records.worth.reshape(-1) / PRICE_UNIT, cost]),
            coupling=coupling, supply=self.supply_units / LOAD_UNIT, equations=False, personal=personal,
            low=np.concatenate([np.full(n, -np.inf), records.needs[who, needed].astype(np.float64)]),
            high=np.concatenate([np.full(n, float(self.most)), np.full(d, np.inf)]),
            lower=np.zeros(m), upper=np.concatenate([np.ones(n * k), np.full(soft, np.inf)]), owner=owner)


@kernel
def _plans(worth: Any, needs: Any, prices: Any, bonus: Any, chosen: Any) -> None:
    """Best slots of each participant at the prices: the slots with the largest positive gains. Among equal gains the
    first slots count.

    Args:
        worth: (n, T Q) int32 values.
        needs: (n, T) int32 needed slots.
        prices: (T Q,) int64 prices, in units of 2^-24.
        bonus: additional gain of a slot that is needed.
        chosen: (n, most) int32 output: slots in their order, then -1.
    """
    n, k = worth.shape
    intervals, most = needs.shape[1], chosen.shape[1]
    slots = k // intervals
    gain, largest = np.empty(k, np.int64), np.empty(most, np.int64)
    needed = np.empty(k, np.bool_)
    for i in range(n):
        for j in range(k):
            gain[j] = worth[i, j] - prices[j]
        for t in range(intervals):
            if needs[i, t] > 0:
                for j in range(t * slots, (t + 1) * slots):
                    needed[j] = False
                for _ in range(needs[i, t]):
                    best = -1
                    for j in range(t * slots, (t + 1) * slots):
                        if not needed[j] and (best < 0 or gain[j] > gain[best]):
                            best = j
                    needed[best] = True
                for j in range(t * slots, (t + 1) * slots):
                    if needed[j]:
                        gain[j] += bonus
        found = 0  # of `largest`, which holds the largest positive gains in falling order
        for j in range(k):
            g = gain[j]
            if g > 0 and (found < most or g > largest[most - 1]):
                at = found if found < most else most - 1
                while at > 0 and largest[at - 1] < g:
                    largest[at] = largest[at - 1]
                    at -= 1
                largest[at] = g
                found = min(found + 1, most)
        least = largest[found - 1] if found > 0 else 1
        equal = 0  # how many of those that gain the least have a place
        for at in range(found):
            if largest[at] == least:
                equal += 1
        at = 0
        for j in range(k):
            if found > 0 and (gain[j] > least or (gain[j] == least and equal > 0)):
                if gain[j] == least:
                    equal -= 1
                chosen[i, at] = j
                at += 1
        for rest in range(at, most):
            chosen[i, rest] = -1


# ---- load profiles

_FILE = Path("networks", "1-complete_data-mixed-all-0-sw", "LoadProfile.csv")
_POWER = "_pload"
_QUARTERS = 96  # of a day


def load_profiles_file() -> Path:
    """Path of the file of load profiles that the package simbench ships.

    Raises:
        InvalidInput: simbench is not installed.
    """
    return shipped_file("simbench", _FILE)


def load_profile(
    name: str, day: date, *, slots: int = 24, path: str | os.PathLike[str] | None = None
) -> NDArray[np.float64]:
    """Mean active power of a load profile in each part of a day, as a share of the profile's rated power, shape
    (slots,).

    Args:
        name: name of the profile, such as "H0-A" for a household.
        day: day in the year of the file, which is 2016 in simbench.
        slots: number of equal parts of the day. The number must divide 96, the number of quarters of an hour in a day.
        path: path of the file LoadProfile.csv; None for the file of the installed package simbench.

    Raises:
        InvalidInput: the file, the profile or the day does not exist. For an unknown profile the error names the most
            similar profile.

    Source: spec convex_programs 9.8.
    """
    if _QUARTERS % whole("slots", slots, at_least=1):
        raise InvalidInput("slots", f"{slots} equal parts of a day are not whole quarters of an hour",
                           f"must divide {_QUARTERS}")
    place = load_profiles_file() if path is None else Path(path)
    column = f"{name}{_POWER}"
    parse = pa.csv.ParseOptions(delimiter=";")
    try:
        with pa.csv.open_csv(place, parse_options=parse) as table:
            known = [each.removesuffix(_POWER) for each in table.schema.names if each.endswith(_POWER)]
        if "time" not in table.schema.names or not known:
            raise InvalidInput("path", f"{place} is not a file of load profiles", "must be simbench's LoadProfile.csv")
        if name not in known:
            raise InvalidInput("name", f"the profile {name!r} is unknown", did_you_mean(name, known, ""))
        found = pa.csv.read_csv(place, parse_options=parse, convert_options=pa.csv.ConvertOptions(
            include_columns=["time", column], column_types={"time": pa.string(), column: pa.float64()}))
    except (OSError, pa.ArrowException) as error:
        raise InvalidInput("path", f"{place} cannot be read: {cause(error)}") from None
    mine = found.filter(pc.starts_with(found["time"], f"{day:%d.%m.%Y} ")).sort_by("time")[column]
    if len(mine) != _QUARTERS:
        raise InvalidInput("day", f"the file has {len(mine)} quarters of an hour for {day}", f"must be {_QUARTERS}")
    return np.asarray(mine.to_numpy().reshape(slots, -1).mean(axis=1))


def what_is_left(
    capacity: float, profile: NDArray[np.float64], rated: float, each: float
) -> tuple[float, ...]:
    """Number of participants who may draw power in each slot at the same time, in addition to a public load. The
    numbers can be used as the supply of an `Electricity` program.

    Args:
        capacity: capacity of the grid, in a unit such as kW.
        profile: (slots,) public load of each slot, as a share of the rated power, from `load_profile`.
        rated: total rated power of all consumers with that profile, in the unit of `capacity`.
        each: power that each participant draws while using a slot, in the unit of `capacity`.

    Example:
        >>> what_is_left(100.0, np.array([0.1, 0.5, 0.9]), 120.0, 11.0)
        (8.0, 3.0, 0.0)
    """
    free = positive("capacity", capacity) - positive("rated", rated) * np.asarray(profile, dtype=np.float64)
    return tuple(float(count) for count in np.maximum(0.0, np.floor(free / positive("each", each))))
