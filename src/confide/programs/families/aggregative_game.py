"""`AggregativeGame`: mixed strategies with contributions that add up to a public target. Each participant plays only
actions that are good if everybody's contributions add up to the target.

In an aggregative game the value of an action depends only on the sum of everybody's contributions. Suppose that
everybody plays actions that are (nearly) best at some sum, and that everybody's contributions add up to this sum. Then
nobody has a reason to deviate, so the actions are an (approximate) equilibrium.

Source: Wu 2017, section 5.4.5 (Cummings et al. 2015); spec convex_programs 4 and 7 (erratum 10).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confide._compiled import kernel
from confide.contract.checks import non_negative, positive
from confide.contract.errors import InvalidInput
from confide.contract.mechanism import Unusable
from confide.contract.parameters import Parameter
from confide.contract.remedies import within
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.programs.grids import LOAD_UNIT, Constants
from confide.programs.linear import LinearProgram
from confide.programs.program import MOST_ROWS, MOST_TAU, Program, ProgramRecords
from confide.programs.sets_of_goods import two
from confide.programs.tables import bad_rows, numbers, refused_or_null, row

__all__ = ["AggregativeGame", "AggregativeRecords", "nearly_best"]

_LARGEST = 1024.0  # contributions stay inside 32 bits
_CHUNK = 1 << 21


def nearly_best(utilities: ArrayLike, tolerance: float = 0.0) -> NDArray[np.bool_]:
    """Whether the utility of each action is within a tolerance of the best utility, shape (..., A). A participant
    computes the allowed actions of their own record with this function.

    Args:
        utilities: (..., A) utility of each action if everybody's contributions add up to the target.
        tolerance: largest difference >= 0 from the best utility, in the unit of the utilities.

    Raises:
        InvalidInput: no utilities, or some that are not finite.

    Example:
        >>> nearly_best([0.5, 0.9, 1.0], 0.1).tolist()
        [False, True, True]
    """
    table = np.asarray(utilities, dtype=np.float64)
    if table.ndim < 1 or table.shape[-1] < 1 or not bool(np.isfinite(table).all()):
        raise InvalidInput("utilities", "are not finite numbers for at least one action")
    chosen: NDArray[np.bool_] = table >= table.max(axis=-1, keepdims=True) - non_negative("tolerance", tolerance)
    return chosen


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AggregativeRecords(ProgramRecords):
    """Contributions of each participant's actions, and the actions that the participant may play. The data are private
    and must not be published.

    Args:
        parts: (n, A, k) int32 contributions, in load units of 2^-20.
        allowed: (n, A) whether each action is allowed; no action is allowed in a slot without a record.
    """

    parts: NDArray[np.int32]
    allowed: NDArray[np.bool_]


@renamed(gamma="largest")
@wire("AggregativeGame", "people supply tau actions gamma largest_sum signed", largest="gamma")
@dataclass(frozen=True)
class AggregativeGame(Program):
    """A game of n people with A actions each. The contributions of the played actions should add up to a public target.

    A record is a pair of arrays. The first array, shape (A, k), has the contributions of each action, each at most
    `largest` in absolute value. The second array, shape (A,), says which actions are allowed, usually those that are
    `nearly_best` at the target. At least one action must be allowed. Actions have no values to maximise. The goal is a
    sum of contributions that is close to each of the k target numbers. The certificate's `excess` bounds the distance
    from each number. The coupling constraints are equations, so prices can have either sign. Contributions are rounded
    to the nearest multiple of 2^-20, or towards zero where their sum would be above `largest_sum`. The promises are
    about the rounded contributions.

    A participant with a record plays allowed actions only. A slot without a record plays -1, which contributes nothing.

    Each run of the game uses one target. A search for an equilibrium on a grid of targets makes one run for each
    target, and the budget (epsilon, delta) must be split among all of them. If the choice of a target uses the results
    of runs for other targets, the privacy losses of all these runs add up as usual.

    Raises:
        InvalidInput: a number out of range, or a target that no contributions reach.

    Example:
        >>> game = AggregativeGame(2, (0.5, 0.0), actions=2, largest=1.0)
        >>> parts = [[[1.0, 0.0], [0.0, 1.0]], [[-0.5, 0.5], [0.5, -1.0]]]
        >>> records = game.read((parts, [[True, True], [False, True]]))
        >>> game.respond(records, np.array([1, 0])).ravel().tolist()
        [1, 1]
        >>> game.constants.squared_l2_sensitivity("replace")
        Fraction(8, 1)
    """

    supply: Annotated[float | tuple[float, ...], Parameter(
        "the target: k numbers, between the smallest and the largest sums of n contributions", symbol="b")]
    tau: Annotated[float | tuple[float, ...] | None, Parameter(
        "any number, 1 by default; only the scale of prices depends on it", above=0, at_most=MOST_TAU)] = field(
            default=None, kw_only=True)
    actions: Annotated[int, Parameter(
        "number of actions of each participant", symbol="A", at_least=1, at_most=MOST_ROWS)] = field(kw_only=True)
    largest: Annotated[float, Parameter(
        "largest absolute contribution", symbol="gamma", at_least=1.0 / LOAD_UNIT,
        at_most=_LARGEST)] = field(kw_only=True)
    largest_sum: Annotated[float | None, Parameter(
        "largest sum of the absolute contributions of an action; by default k times the largest contribution",
                                                   symbol="C1",
        above=0)] = field(default=None, kw_only=True)
    signed: Annotated[bool, Parameter(
        "whether contributions may be negative; if not, their noise can be half as large")] = field(
            default=True, kw_only=True)

    two_sided = True

    def __post_init__(self) -> None:
        if np.ndim(self.supply) == 0:
            object.__setattr__(self, "supply", (self.supply,))
        super().__post_init__()
        reach = self.people * self.largest
        for one in self.supplies:
            least = -reach if self.signed else 0.0
            if not least <= one <= reach:
                raise InvalidInput("supply", f"contributions cannot add up to {one:g}",
                                   f"must be in {within(least, reach)}")

    def _fits(self) -> None:
        if self.rows < 1:
            raise InvalidInput("supply", "is a target without numbers",
                               "give one number for each row, and at least one")
        if self.largest_sum is not None:
            positive("largest_sum", self.largest_sum, at_most=self.rows * self.largest)
            if self.largest_sum < self.largest:
                raise InvalidInput("largest_sum", f"{self.largest_sum!r} is below largest",
                                   f"must be at least {self.largest!r}")

    @property
    def rows(self) -> int:
        return len(self.supply)  # type: ignore[arg-type]

    @property
    def width(self) -> int:
        return 1

    @property
    def scale(self) -> int:
        return LOAD_UNIT

    @property
    def supply_units(self) -> NDArray[np.int64]:
        """The target in load units of 2^-20, rounded to the nearest unit, shape (k,)."""
        return np.asarray(np.rint(np.array(self.supplies) * LOAD_UNIT), dtype=np.int64)

    @property
    def target(self) -> tuple[float, ...]:
        """Target of the sum of everybody's contributions, in natural units, shape (k,)."""
        return self.supplies

    @cached_property
    def constants(self) -> Constants:
        most, reach = max(map(abs, self.supplies)), self.people * self.largest
        return Constants(
            rows=self.rows, largest_entry=self.largest, most_value=0.0, signed=self.signed, packing=False,
            largest_sum=self.rows * self.largest if self.largest_sum is None else self.largest_sum,
            width=reach + most if self.signed else max(reach, most),
            tau=(1.0,) * self.rows if self.tau is None else self.tau)  # type: ignore[arg-type]

    # ---- records

    def _read(self, data: Any, unusable: Unusable) -> ProgramRecords:
        """Checked records of all participants.

        Args:
            data: a pair: (n, A, k) contributions, and (n, A) whether each action is allowed, as true and false or 1 and
                0.
            unusable: treatment of a bad row, "refuse" or "null".
        """
        parts, allowed = two("records", data, "contributions", "allowed")
        table = numbers("contributions", parts, (self.people, self.actions, self.rows), unusable)
        mask = numbers("allowed", allowed, (self.people, self.actions), unusable)
        bad = bad_rows(table, self._least, self.largest) | ~self._usable(mask) | self._too_much(table)
        refused_or_null("records", bad, self._limit, unusable)
        return self._kept(table, mask, bad)

    def one(self, record: Any) -> AggregativeRecords:
        """One participant's record, checked without any other record.

        Args:
            record: a pair: (A, k) contributions, and (A,) whether each action is allowed.
        """
        shape = (self.actions, self.rows)
        if record is None:
            return self._kept(np.zeros((1, *shape)), np.zeros((1, self.actions)), np.ones(1, dtype=bool))
        parts, allowed = two("record", record, "contributions", "allowed")
        table = row("contributions", parts, shape, self._least, self.largest)[None]
        mask = row("allowed", allowed, (self.actions,), 0.0, 1.0)[None]
        if not bool(self._usable(mask)[0]):
            raise InvalidInput("allowed", "is not true or false for every action, or is true for none", self._limit)
        if bool(self._too_much(table)[0]):
            raise InvalidInput("contributions", "the contributions of an action add up to more than "
                                                f"{self.constants.largest_sum:g}",
                               self._limit)
        return self._kept(table, mask, np.zeros(1, dtype=bool))

    @property
    def _least(self) -> float:
        return -self.largest if self.signed else 0.0

    @property
    def _limit(self) -> str:
        summed = "" if self.largest_sum is None else f", with a sum of at most {self.largest_sum:g} for an action"
        return f"contributions must be in [{self._least:g}, {self.largest:g}]{summed}; at least one action allowed"

    @staticmethod
    def _usable(mask: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each row consists of zeros and ones and is not all zero, shape (n,)."""
        found: NDArray[np.bool_] = ((mask == 0) | (mask == 1)).all(axis=1) & (mask == 1).any(axis=1)
        return found

    def _too_much(self, table: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether some action's absolute contributions add up to more than the declared sum, for each participant,
        shape (n,).
        """
        if self.largest_sum is None:
            return np.zeros(len(table), dtype=bool)
        within: NDArray[np.bool_] = (np.abs(table).sum(axis=2, dtype=np.float64) <= self.largest_sum).all(axis=1)
        return ~within

    def _kept(self, table: NDArray[Any], mask: NDArray[Any], bad: NDArray[np.bool_]) -> AggregativeRecords:
        parts = np.empty(table.shape, dtype=np.int32)
        step = max(1, _CHUNK // (self.actions * self.rows))
        for at in range(0, len(table), step):
            some = np.where(bad[at : at + step, None, None], 0.0, table[at : at + step]).astype(np.float64)
            parts[at : at + step] = self._on_grid(some * LOAD_UNIT)
        return AggregativeRecords(people=len(table), parts=parts, allowed=(mask == 1) & ~bad[:, None])

    def _on_grid(self, exact: NDArray[np.float64]) -> NDArray[np.float64]:
        """Contributions in whole load units of 2^-20, within their declared bounds."""
        most = math.floor(self.largest * LOAD_UNIT)
        near = np.clip(np.rint(exact), -most, most)
        if self.largest_sum is None:
            return near
        over = np.abs(near).sum(axis=2, keepdims=True) > math.floor(self.largest_sum * LOAD_UNIT)
        return np.where(over, np.trunc(exact), near)

    # ---- what people do at prices

    def respond(self, records: AggregativeRecords, prices: NDArray[np.int64]) -> NDArray[np.int32]:
        chosen = np.empty((records.people, 1), dtype=np.int32)
        _cheapest(records.parts, records.allowed, np.ascontiguousarray(prices, dtype=np.int64), chosen)
        return chosen

    def contributions(self, records: AggregativeRecords, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        played = actions[:, 0]
        out = records.parts[np.arange(len(played)), np.maximum(played, 0)].astype(np.int64)
        out[played < 0] = 0
        return out

    def values(self, records: AggregativeRecords, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        return np.zeros(len(actions), dtype=np.int64)

    def linear_program(self, records: AggregativeRecords) -> LinearProgram:
        people, actions = np.nonzero(records.allowed)
        m, n = len(people), records.people
        parts = records.parts[people, actions] / LOAD_UNIT
        entries, rows = np.nonzero(parts)
        present = np.asarray(records.allowed.any(axis=1), dtype=np.float64)
        return LinearProgram(
            objective=np.zeros(m),
            coupling=scipy.sparse.csc_array((parts[entries, rows], (rows, entries)), shape=(self.rows, m)),
            supply=self.supply_units / LOAD_UNIT, equations=True,
            personal=scipy.sparse.csc_array((np.ones(m), (people, np.arange(m))), shape=(n, m)),
            low=present, high=present, lower=np.zeros(m), upper=np.ones(m), owner=people.astype(np.int64))


@kernel
def _cheapest(parts: Any, allowed: Any, prices: Any, chosen: Any) -> None:
    """Cheapest allowed action of each participant at the prices; the first one if several are equally cheap, and -1
    where none is allowed.

    Args:
        parts: (n, A, k) int32 contributions.
        allowed: (n, A) whether each action is allowed.
        prices: (k,) int64 prices.
        chosen: (n, 1) int32 output.
    """
    n, actions, k = parts.shape
    for i in range(n):
        best, least = -1, np.int64(0)
        for a in range(actions):
            if allowed[i, a]:
                cost = np.int64(0)
                for j in range(k):
                    cost += prices[j] * np.int64(parts[i, a, j])
                if best < 0 or cost < least:
                    best, least = a, cost
        chosen[i, 0] = best
