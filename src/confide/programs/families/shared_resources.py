"""`SharedResources`: each participant joins at most one project. Projects share resources, and units of the resources
are bought by a public rule.

Source: Wu 2017, section 5.4.4; spec convex_programs 4 (shared resources) and errata 11.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import scipy
from numpy.typing import NDArray

from confide.contract.checks import positive, whole
from confide.contract.errors import InvalidInput
from confide.contract.mechanism import Unusable
from confide.contract.parameters import Parameter
from confide.contract.wire import wire
from confide.programs.families.unit_demand import favourites
from confide.programs.grids import LOAD_BITS, LOAD_UNIT, PRICE_UNIT, Constants, values_near
from confide.programs.linear import LinearProgram, choices
from confide.programs.program import Program, ProgramRecords
from confide.programs.sets_of_goods import WorthRecords, one_worth, read_worth

__all__ = ["SharedResources"]

_MOST_COST = 2.0**20


@wire("SharedResources", "people supply tau needs costs")
@dataclass(frozen=True)
class SharedResources(Program):
    """A program of n people who each join one of m projects, or none. For each person, a project needs one unit of each
    of the project's resources.

    A unit of a resource serves one person in each project that needs the resource: with y units, every such project may
    have y people. The number of bought units is computed from the public prices, so anyone can check the number. A
    record is m values in [0, 1]. The program has one coupling constraint (row) for each pair of a project and a
    resource that the project needs, in the order of `needs`. The price of a project is the sum of the prices of its
    constraints.

    The dual bound of a constraint is the lesser of 1 and the cost of its resource: a missing unit can be bought, or a
    person can be turned away. (Wu 2017 has a dual bound of 1, which is also valid but needs more rounds.)

    Raises:
        InvalidInput: a number out of range, or a resource without a cost.

    Example:
        >>> program = SharedResources(3, needs=((0,), (0, 1)), costs=(0.5, 0.25))
        >>> program.row_names
        ('0 for 0', '0 for 1', '1 for 1')
        >>> records = program.read([[1.0, 0.5], [0.25, 0.75], [0.0, 0.0]])
        >>> prices = (np.array([0.25, 0.3, 0.25]) * PRICE_UNIT).astype(np.int64)
        >>> program.respond(records, prices).ravel().tolist(), program.bought(prices).tolist()
        ([0, 1, -1], [3, 0])
    """

    supply: Annotated[float | tuple[float, ...], Parameter(
        "number of units that exist already: one number for each constraint, or one for all",
                                                           symbol="b", at_least=0)] = 0.0
    needs: Annotated[tuple[tuple[int, ...], ...], Parameter(
        "resources of each of the m projects, by their numbers from 0, each resource once")] = field(kw_only=True)
    costs: Annotated[tuple[float, ...], Parameter(
        "cost of one unit of each resource; a free resource limits nobody and needs no row",
                                                  above=0)] = field(kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "costs", _costs(self.costs))
        object.__setattr__(self, "needs", _needs(self.needs, len(self.costs)))
        super().__post_init__()

    @property
    def rows(self) -> int:
        return sum(map(len, self.needs))

    @property
    def projects(self) -> int:
        """Number m of projects."""
        return len(self.needs)

    @property
    def width(self) -> int:
        return 1

    @property
    def row_names(self) -> tuple[str, ...]:
        return tuple(f"{resource} for {project}" for project, some in enumerate(self.needs) for resource in some)

    @cached_property
    def constants(self) -> Constants:
        least = np.minimum(PRICE_UNIT, self._cost_units[self._resources]) / PRICE_UNIT
        tau = tuple(least.tolist()) if self.tau is None else self.tau
        return Constants(rows=self.rows, largest_entry=1.0, largest_sum=float(max(map(len, self.needs))),
                         least_entry=1.0, most_value=1.0, width=self.people + max(self.supplies),
                         packing=False, tau=tau)  # type: ignore[arg-type]

    @cached_property
    def _resources(self) -> NDArray[np.int64]:
        """Resource of each constraint, shape (k,)."""
        return np.array([one for some in self.needs for one in some], dtype=np.int64)

    @cached_property
    def _needed(self) -> NDArray[np.int64]:
        """Whether a person in each project adds to each constraint, 1 or 0, shape (m, k)."""
        projects = np.repeat(np.arange(self.projects), [len(some) for some in self.needs])
        out = np.zeros((self.projects, self.rows), dtype=np.int64)
        out[projects, np.arange(self.rows)] = 1
        return out

    @cached_property
    def _cost_units(self) -> NDArray[np.int64]:
        """Costs of resources in units of 2^-24, at least 1, shape (r,)."""
        return np.maximum(1, values_near(self.costs).astype(np.int64))

    # ---- the public block

    def bought(self, prices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of units of each resource that are bought at given prices, shape (r,). The number is n if the prices
        of all constraints of the resource together exceed the cost of a unit, and 0 if not.

        Args:
            prices: (k,) prices in price units of 2^-24. The amounts that a run buys are the means over its main rounds.
        """
        worth = np.zeros(len(self.costs), dtype=np.int64)
        np.add.at(worth, self._resources, prices)
        return np.where(worth > self._cost_units, self.people, 0)

    def public_load(self, prices: NDArray[np.int64]) -> NDArray[np.int64]:
        return -self.bought(prices)[self._resources] << LOAD_BITS

    def public_value(self, prices: NDArray[np.int64]) -> float:
        return -float(self._cost_units @ self.bought(prices)) / PRICE_UNIT

    def public_parts(self, prices: NDArray[np.int64]) -> list[tuple[float, NDArray[np.int64]]]:
        """Cost, as a negative value, and load of the bought units, one part for each resource. The bought amount of one
        resource does not depend on the amounts of other resources.
        """
        units = self.bought(prices)
        return [(-float(self._cost_units[r] * units[r]) / PRICE_UNIT,
                 np.where(self._resources == r, -units[r] << LOAD_BITS, 0)) for r in range(len(units))]

    # ---- records

    def _read(self, data: Any, unusable: Unusable) -> ProgramRecords:
        """Checked records of all participants.

        Args:
            data: (n, m) values in [0, 1].
            unusable: treatment of a bad row, "refuse" or "null".
        """
        return read_worth(data, self.people, self.projects, unusable)

    def one(self, record: Any) -> WorthRecords:
        """One participant's record, checked without any other record.

        Args:
            record: (m,) values in [0, 1].
        """
        return one_worth(record, self.projects)

    # ---- what people do at prices

    def respond(self, records: WorthRecords, prices: NDArray[np.int64]) -> NDArray[np.int32]:
        chosen = np.empty((records.people, 1), dtype=np.int32)
        of_projects = np.minimum(self._needed @ prices, PRICE_UNIT)  # at 1 nobody gains
        favourites(records.worth, of_projects.astype(np.int32), chosen)
        return chosen

    def load(self, records: WorthRecords, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        joined = np.bincount(actions[:, 0] + 1, minlength=self.projects + 1)[1:]
        total: NDArray[np.int64] = joined @ self._needed << LOAD_BITS
        return total

    def contributions(self, records: WorthRecords, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        joined = actions[:, 0]
        return np.where(joined[:, None] >= 0, self._needed[np.maximum(joined, 0)] << LOAD_BITS, 0)

    def values(self, records: WorthRecords, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        found = np.take_along_axis(records.worth, np.maximum(actions, 0), axis=1)[:, 0].astype(np.int64)
        return np.where(actions[:, 0] >= 0, found, 0)

    # ---- the same program for a solver

    def linear_program(self, records: WorthRecords) -> LinearProgram:
        people, projects = np.nonzero(records.worth)
        entries, rows = np.nonzero(self._needed[projects])
        private = choices(self, values=records.worth[people, projects], people=people, rows=rows,
                          loads=np.full(len(rows), LOAD_UNIT), entries=entries)
        r = len(self.costs)
        units = scipy.sparse.csc_array((-np.ones(self.rows), (np.arange(self.rows), self._resources)),
                                       shape=(self.rows, r))
        return replace(
            private, objective=np.concatenate([private.objective, -self._cost_units / PRICE_UNIT]),
            coupling=scipy.sparse.csc_array(scipy.sparse.hstack([private.coupling, units])),
            personal=scipy.sparse.csc_array(scipy.sparse.hstack([
                private.personal, scipy.sparse.csc_array((self.people, r))])),
            lower=np.zeros(private.size + r), owner=np.concatenate([private.owner, np.full(r, -1)]),
            upper=np.concatenate([private.upper, np.full(r, float(self.people))]))


def _costs(given: Any) -> tuple[float, ...]:
    if np.ndim(given) != 1:
        raise InvalidInput("costs", "are not a list of numbers", "must be one for each resource")
    return tuple(positive("costs", one, at_most=_MOST_COST)
                 for one in (given.tolist() if isinstance(given, np.ndarray) else given))


def _needs(given: Any, resources: int) -> tuple[tuple[int, ...], ...]:
    """Resources of each project, as numbers."""
    try:
        needs = tuple(tuple(whole("needs", one) for one in some) for some in given)
    except TypeError:
        raise InvalidInput("needs", "are not lists of resources", "must be one list for each project") from None
    if not needs:
        raise InvalidInput("needs", "there are no projects", "must have at least 1 project")
    for project, some in enumerate(needs):
        if not some or len(set(some)) < len(some) or max(some) >= resources:
            raise InvalidInput("needs", f"the needs of project {project} cannot be used",
                               f"must be at least one resource, each once, with a number below {resources}")
    return needs
