"""`exact`: the optimum that a private run is compared with, proved from both sides in whole numbers. Not private.

HiGHS solves the program of all records and names prices; where that would be too large, prices come from rounds without
noise. Neither is trusted. The actions that are best near those prices are mixed (`columns`), and the mixture's exact
value is a lower bound of the optimum; the exact dual value of the prices (`lagrangian`) is an upper one. New prices are
tried until both meet.

Source: spec convex_programs 8 (`Exact.solve`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import one_of, whole
from confide.contract.errors import Refused, SolverFailed
from confide.numerics.shards import ThreadShards
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.programs.columns import WEIGHTS, mixed
from confide.programs.dual_dynamics import Descent, play
from confide.programs.grids import PRICE_UNIT
from confide.programs.lagrangian import exact_dual, nearest_down, nearest_up
from confide.programs.program import Program
from confide.programs.reading.slots import collected
from confide.programs.schedule import Schedule
from confide.programs.solving import least_dual, solved

__all__ = ["ExactOptimum", "exact", "least_tau", "noiseless_prices"]

Start = Literal["linear_program", "rounds"]
_Units = NDArray[np.int64]

_MOST_CELLS = 4_000_000  # people x rows, up to which the whole program goes to HiGHS
_ROUNDS = 300
_TRIES = 60
_CLOSE = 1e-9  # the gap that is good enough at once, of the largest gap there could be
_ENOUGH = 1e-6  # the one that is an error
_PAIRS = 32  # rows up to which each is tried alone
_RADII = {"linear_program": 1e-6, "rounds": 1e-3}  # of the prices around the first, as a share of tau
_SHARD = 1 << 15


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ExactOptimum:
    """The optimum between two bounds, and a solution. Not private: for studies, and for an operator's own eyes.

    Args:
        value: of the solution, exact and rounded down: the optimum is at least this.
        upper: of the prices, exact and rounded up: the optimum is at most this.
        gap: upper - value, rounded up.
        prices: (k,) on the grid, duals of coupling rows.
        load: (k,) of the solution.
        excess: of the solution, all rows together: 0 where rows are limits; where they are equations, which no
            rounded weights meet, how far they are missed.
        starts: (n + 1,) where each participant's part of the solution begins.
        actions: (z, width).
        weights: (z,) everybody's add up to 1.
        start: where the first prices came from.
    """

    value: float
    upper: float
    gap: float
    prices: NDArray[np.float64]
    load: NDArray[np.float64]
    excess: float
    starts: _Units
    actions: NDArray[np.int32]
    weights: NDArray[np.float64]
    start: Start

    label: ClassVar[str] = "not private: for studies, and for an operator's own eyes"
    release_safe: ClassVar[bool] = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.value:.6g}, {self.label}>"

    def solution(self, index: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """One participant's actions, and the weight of each.

        Args:
            index: her place.
        """
        part = slice(int(self.starts[index]), int(self.starts[index + 1]))
        return self.actions[part], self.weights[part]


def exact(
    program: Program, data: Any, *, start: Start | None = None, progress: Any = None, tries: int = _TRIES,
) -> ExactOptimum:
    """The optimum of all records, certified from both sides. Not private.

    Args:
        program: of any family.
        data: n records, or a table of them, as a run takes them.
        start: where first prices come from: "linear_program", HiGHS's, by default of linear programs up to 4 million
            people x rows; or "rounds", of prices without noise.
        progress: told the restricted programs solved and the most there may be. What comes before them, HiGHS on the
            whole program or the rounds without noise, tells nothing.
        tries: restricted programs at most.

    Raises:
        InvalidInput: bad records.
        Refused: nothing is feasible; or tau is no dual bound, since excess pays even at twice tau.
        SolverFailed: the bounds did not meet to 10^-6 of what values can differ, and twice what responses may lose; or
            the linear program's optimum lies outside of them.

    Example:
        >>> from confide.programs import UnitDemand
        >>> found = exact(UnitDemand(3, (1, 1)), [[1.0, 0.75], [0.75, 0.25], [0.5, 0.25]])
        >>> found.value, found.gap
        (1.5, 0.0)
        >>> found
        <ExactOptimum 1.5, not private: for studies, and for an operator's own eyes>
    """
    whole("tries", tries, at_least=1)
    records = program.read(collected(program, data))
    small = program.linear and program.people * program.rows <= _MOST_CELLS
    chosen: Start = ("linear_program" if small else "rounds") if start is None else start
    one_of("start", chosen, tuple(_RADII))
    claimed = solved(program.linear_program(records)) if chosen == "linear_program" else None
    first = _boxed(program, claimed.duals[: program.rows]) if claimed else noiseless_prices(program, records)
    found = _between(program, records, first, chosen, tries, progress)
    if claimed is not None:
        slip = 1e-6 * max(1.0, abs(found.value)) + found.gap
        if not found.value - slip <= claimed.value <= found.upper + slip:
            raise SolverFailed("exact", "the linear program's optimum and the best responses' bounds disagree")
    return found


def least_tau(program: Program, data: Any) -> float:
    """The least dual bound of these very records: min over optimal duals of the largest absolute price. Not private.

    A check of a declared tau on public or made-up records. A program's tau must hold of every admissible record, so it
    must never be set from private ones.

    Args:
        program: of any family.
        data: n records, public or made up.

    Raises:
        InvalidInput: bad records.
        Refused: nothing is feasible.
        SolverFailed: HiGHS ends without an optimum.

    Source: spec convex_programs 1 (tau, corrected characterisation).

    Example:
        >>> from confide.programs import UnitDemand
        >>> round(least_tau(UnitDemand(3, (2.0,)), [[1.0], [0.75], [0.25]]), 6)
        0.25
    """
    return least_dual(program.linear_program(program.read(collected(program, data))))


def noiseless_prices(program: Program, data: Any, *, rounds: int = _ROUNDS) -> _Units:
    """(k,) average prices of rounds without noise, in units. Not private.

    Args:
        program: of any family.
        data: n records, or what `program.read` made of them.
        rounds: main rounds, after as many before them.
    """
    records = program.read(collected(program, data))
    schedule = Schedule(rounds=rounds, burn_in=rounds, squared_l2_sensitivity=Fraction(1), squared_budget=Fraction(1))
    silent = Noise.replayed({("slack", t): np.zeros(program.rows) for t in range(schedule.total)})
    with ThreadShards(records.shards(_SHARD)) as held:
        prices, _ = play(Descent(program=program, schedule=schedule), held, silent)
    return np.asarray(np.rint(prices[rounds:].mean(axis=0)).astype(np.int64))


def _boxed(program: Program, prices: NDArray[np.float64]) -> _Units:
    """Natural prices in units, moved into the box."""
    units = np.clip(np.rint(prices * PRICE_UNIT), program.lowest_prices, program.highest_prices)
    return np.asarray(units.astype(np.int64))


def _near(program: Program, prices: _Units, radius: float) -> Iterator[_Units]:
    """Prices around some: each row up and down, or, where there are many rows, in random directions."""
    yield prices
    far = np.rint(np.maximum(1.0, radius * np.array(program.taus) * PRICE_UNIT))
    if program.rows <= _PAIRS:
        ways = np.concatenate([np.eye(program.rows), -np.eye(program.rows)])
    else:
        ways = np.sign(study_generator(1).normal(size=(2 * _PAIRS, program.rows)))
    for way in ways:
        yield np.clip(prices + (way * far).astype(np.int64), program.lowest_prices, program.highest_prices)


def _between(program: Program, records: Any, first: _Units, start: Start, tries: int, progress: Any) -> ExactOptimum:
    """Bounds from both sides, until they meet."""
    tried = list(_near(program, first, _RADII[start]))
    seen = {tuple(one) for one in tried}
    best, upper = first, exact_dual(program, records, first)
    one = program.constants
    most = program.people * max(one.most_value - one.least_value, 2.0**-20)
    for attempt in range(tries):
        found = mixed(program, records, np.array(sorted(seen), dtype=np.int64))
        prices = _boxed(program, found.duals)
        bound = exact_dual(program, records, prices)
        if bound < upper:
            best, upper = prices, bound
        if progress is not None:
            progress(attempt + 1, tries)
        ahead = upper - found.value
        over = sum(found.excess, start=Fraction(0))
        near = float(over) <= _ENOUGH * max(1.0, float(np.abs(found.load).max()))
        met = (found.feasible or (program.two_sided and near)) and float(ahead) <= _CLOSE * most
        new = {tuple(prices), tuple(np.rint((prices + best) / 2.0).astype(np.int64))} - seen
        if met or not new:
            break
        seen |= new
    if not near:
        raise Refused("excess pays even at twice tau, or nothing is feasible",
                      "a larger tau, if these records can have one")
    inexact = program.people * program.oracle_error
    if not float(ahead) <= _ENOUGH * most + 2.0 * inexact or not (found.feasible or program.two_sided):
        raise SolverFailed("exact", f"the bounds did not meet after {attempt + 1} restricted programs")
    return ExactOptimum(
        value=nearest_down(found.value), upper=nearest_up(upper), gap=nearest_up(max(Fraction(0), ahead)),
        prices=best / PRICE_UNIT, load=found.load, excess=nearest_up(over), starts=found.starts,
        actions=found.actions, weights=found.weights / WEIGHTS, start=start)
