"""`exact`: the optimum with which a private run is compared, with a lower and an upper bound. Both bounds are proved by
exact arithmetic in whole numbers. The result has no privacy protection.

The solver HiGHS solves the program of all records and proposes prices. Where that program would be too large, the
proposed prices come from rounds without noise. The bounds do not rely on the quality of the proposed prices. A mixture
(weighted average) of the actions that are best near the proposed prices has an exact value, which is a lower bound of
the optimum. The exact dual value of the prices is an upper bound. New prices are tried until both bounds meet.

Source: spec convex_programs 8 (`Exact.solve`).

`dual_value`: an upper bound on the value of every feasible solution, computed in whole numbers from any given prices.
The bound depends on the records and must not be published. The bound is

    OPT <= D(prices) = sum_i max_x (v_i(x) - <prices, c_i(x)>) + <prices, supply>

plus the maximum of the public block, the part of the program that belongs to no participant. Here v_i is a
participant's value and c_i their contribution. Each participant's maximum is the value less price of their best
response. The best response is exact, so the bound is exact too.

Source: spec convex_programs 1 (Lagrangian) and 8.

The lower bound of the optimum is the best mixture of a few actions of each participant: a restricted program with a
solution that is checked in whole numbers.

The actions are the participants' best responses to all prices that were tried. Most participants have the same best
response at all tried prices, so the remaining program is small. Weights are whole multiples of 2^-30, and the value and
load of a mixture are summed exactly. The restricted program allows excess at a price of twice tau, at which no optimum
has any excess. The duals of the restricted program therefore lie in the allowed range of prices, and are the next
prices to try.

Source: Dantzig and Wolfe 1960; spec convex_programs 1 (tau as the weight of an exact penalty).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array, eye_array, hstack, vstack

from confide.contract.checks import one_of, whole
from confide.contract.errors import InvalidInput, Refused, SolverFailed
from confide.numerics.shards import ThreadShards
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.programs.billboards import Tally, tally_of
from confide.programs.dual_dynamics import Descent, Schedule, play
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.program import Program
from confide.programs.slots import collected
from confide.programs.solving import least_dual, maximised, solved

__all__ = [
    "WEIGHTS",
    "ExactOptimum",
    "Mixture",
    "as_prices",
    "dual_value",
    "exact",
    "exact_dual",
    "least_tau",
    "mixed",
    "nearest_down",
    "nearest_up",
    "noiseless_prices",
]

# ---- lagrangian

_BLOCK = 1 << 16


def dual_value(program: Program, data: Any, prices: ArrayLike) -> float:
    """An upper bound of the optimum, computed from any prices in the allowed range. The bound is computed exactly and
    then rounded up to a double. The result has no privacy protection.

    Args:
        program: program that the records belong to.
        data: n records, a table of them in a form that a run accepts, or the result of `program.read`.
        prices: (k,) prices in natural units; they are first rounded to multiples of 2^-24.

    Raises:
        InvalidInput: prices of another shape, or outside the allowed range.

    Example:
        >>> from confide.programs import UnitDemand
        >>> dual_value(UnitDemand(3, (1.0,)), [[1.0], [0.5], [0.25]], [0.5])
        1.0
    """
    return nearest_up(exact_dual(program, program.read(collected(program, data)), as_prices(program, prices)))


def as_prices(program: Program, prices: ArrayLike) -> NDArray[np.int64]:
    """Natural prices converted to whole units of 2^-24, shape (k,).

    Args:
        program: program that sets the allowed range of each price: from 0, or from -2 tau for equations, to 2 tau.
        prices: (k,) prices in natural units.

    Raises:
        InvalidInput: prices of another shape, or outside the allowed range.
    """
    given = np.asarray(prices, dtype=np.float64)
    if given.shape != (program.rows,):
        raise InvalidInput("prices", f"their shape is {given.shape}", f"must be {(program.rows,)}")
    low, high = program.lowest_prices, program.highest_prices
    units = np.rint(given * PRICE_UNIT)
    if not bool(((units >= low) & (units <= high)).all()):
        raise InvalidInput("prices", "lie outside the box", "must be between 0 (for equations -2 tau) and 2 tau")
    return np.asarray(units.astype(np.int64))


def exact_dual(program: Program, records: Any, prices: NDArray[np.int64]) -> Fraction:
    """The exact dual value D(prices), in natural units of value. The result has no privacy protection.

    Args:
        program: program that the records belong to.
        records: records of all participants.
        prices: (k,) prices, in price units of 2^-24.
    """
    worth, slack = 0, program.supply_units - program.public_load(prices)
    for block in records.blocks(_BLOCK):
        actions = program.respond(block, prices)
        worth += int(program.values(block, actions).sum())
        slack = slack - program.load(block, actions)
    paid = sum(int(price) * int(left) for price, left in zip(prices, slack, strict=True))
    lost = int(records.people) * Fraction(program.oracle_error)  # what the best responses may be worth more
    public = Fraction(program.public_value(prices))
    return lost + Fraction(worth, PRICE_UNIT) + Fraction(paid, PRICE_UNIT * LOAD_UNIT) + public


def nearest_up(number: Fraction) -> float:
    """The least double at or above a rational number."""
    near = float(number)
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)


def nearest_down(number: Fraction) -> float:
    """The largest double at or below a rational number."""
    return 0.0 - nearest_up(-number)


# ---- columns

WEIGHTS = 1 << 30
"""Number of units, of 2^-30 each, in a weight of 1."""

_Units = NDArray[np.int64]
_ATTEMPTS = 8
_LEAST_MARGIN = 1e-9  # natural loads


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Mixture:
    """A mixture: weights for the actions of every participant, with the exact value and the load of the weighted
    average. The result has no privacy protection.

    Args:
        starts: (n + 1,) indices in `actions` and `weights` at which the entries of each participant begin.
        actions: (z, width) actions.
        weights: (z,) weights in units of 2^-30. The weights of each participant add up to 2^30.
        value: total value, including that of the public block, in natural units.
        excess: (k,) exact amount by which the load exceeds the supply, in natural units, or 0; for equations the
            absolute difference.
        load: (k,) load in natural units, rounded.
        duals: (k,) duals of the constraints in natural units, as HiGHS reported them.
    """

    starts: _Units
    actions: NDArray[np.int32]
    weights: _Units
    value: Fraction
    excess: tuple[Fraction, ...]
    load: NDArray[np.float64]
    duals: NDArray[np.float64]

    @property
    def feasible(self) -> bool:
        """Whether no load exceeds its supply, and all equations hold, by exact arithmetic."""
        return not any(self.excess)


def mixed(program: Program, records: Any, tried: _Units) -> Mixture:
    """The best mixture of every participant's responses to the given prices. The result has no privacy protection.

    Args:
        program: program that the records belong to.
        records: records of all participants.
        tried: (m, k) price vectors that were tried, in price units of 2^-24.

    Raises:
        SolverFailed: HiGHS ends without an optimum.
    """
    part = _Restricted.of(program, records, tried)
    margin, first = np.zeros(program.rows), None
    for _ in range(1 if program.two_sided else _ATTEMPTS):
        found = part.best(margin)
        if found.feasible:
            return found
        first = first or found
        margin = 2.0 * margin + _LEAST_MARGIN + 2.0 * np.array([float(one) for one in found.excess])
        if margin.max() > 1e-4:  # not rounding: the actions that were tried leave no room
            break
    return first or found


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Restricted:
    """The restricted program: the sum over participants with a single action, the actions of the others, and the
    answers of the public block's parts.

    Each part of the public block is mixed separately. If the public block were a single part with answers that each buy
    more of one good, no mixture could buy a little more of every good. The correction of rounding requires a mixture
    that buys a little more of every good.

    Args:
        program: program that the records belong to.
        tally: actions of all participants.
        open: (o,) participants with several actions.
        picked: (c,) places in the tally of the actions of participants with several actions.
        owner: (c,) place in `open` of each action's participant.
        values: (c,) values of the picked actions, in units.
        loads: (c, k) contributions of the picked actions, in units.
        worth: total value of the participants with a single action, in units.
        load: (k,) total load of the participants with a single action, in units.
        public_values: (q,) natural values of the public block's answers.
        public_loads: (q, k) loads of the public block's answers, in units.
        part: (q,) part of the public block that each answer belongs to.
    """

    program: Program
    tally: Tally
    open: _Units
    picked: _Units
    owner: _Units
    values: _Units
    loads: _Units
    worth: int
    load: _Units
    public_values: NDArray[np.float64]
    public_loads: _Units
    part: _Units

    @classmethod
    def of(cls, program: Program, records: Any, tried: _Units) -> _Restricted:
        tally = tally_of(records, program, tried)
        starts, actions, _ = tally
        counts = np.diff(starts)
        several, alone = np.flatnonzero(counts > 1), np.flatnonzero(counts == 1)
        worth, load = 0, np.zeros(program.rows, dtype=np.int64)
        for at in range(0, len(alone), _BLOCK):
            who = alone[at : at + _BLOCK]
            some, theirs = records.take(who), actions[starts[who]]
            worth += int(program.values(some, theirs).sum())
            load += program.load(some, theirs)
        owner = np.repeat(np.arange(len(several)), counts[several])
        picked = np.flatnonzero(np.repeat(counts > 1, counts))
        some = records.take(several[owner])
        public = sorted({(part, value, tuple(load.tolist())) for row in tried
                         for part, (value, load) in enumerate(program.public_parts(row))})
        return cls(
            program=program, tally=tally, open=several, picked=picked, owner=owner,
            values=program.values(some, actions[picked]), loads=program.contributions(some, actions[picked]),
            worth=worth, load=load, public_values=np.array([one[1] for one in public]),
            public_loads=np.array([one[2] for one in public], dtype=np.int64),
            part=np.array([one[0] for one in public], dtype=np.int64))

    def best(self, margin: NDArray[np.float64]) -> Mixture:
        """The best mixture that leaves a margin below each supply.

        Args:
            margin: (k,) distance to keep below each supply, in natural units.
        """
        program, k, parts = self.program, self.program.rows, int(self.part[-1]) + 1
        several, answers, size = len(self.open), len(self.public_values), len(self.owner)
        high = (program.supply_units - self.load) / LOAD_UNIT - margin
        over = 2.0 * np.array(program.taus)
        signs = (-1.0, 1.0) if program.two_sided else (-1.0,)
        slacks = hstack([sign * eye_array(k) for sign in signs])
        tops = hstack([csc_array(self.loads.T / LOAD_UNIT), csc_array(self.public_loads.T / LOAD_UNIT), slacks])
        ones = csc_array((np.ones(size), (self.owner, np.arange(size))), shape=(several, size))
        shares = hstack([ones, csc_array((several, answers + len(signs) * k))])
        of_parts = csc_array((np.ones(answers), (self.part, np.arange(answers))), shape=(parts, answers))
        public = hstack([csc_array((parts, size)), of_parts, csc_array((parts, len(signs) * k))])
        objective = np.concatenate([self.values / PRICE_UNIT, self.public_values, -np.tile(over, len(signs))])
        found = maximised(
            objective, vstack([tops, shares, public]),
            np.concatenate([high if program.two_sided else np.full(k, -np.inf), np.ones(several + parts)]),
            np.concatenate([high, np.ones(several + parts)]), np.zeros(len(objective)),
            np.full(len(objective), np.inf), routine="exact")
        mine = _whole(found.point[:size], self.owner, several)
        given = _whole(found.point[size : size + answers], self.part, parts)
        return self._summed(mine, given, found.duals[:k])

    def _summed(self, mine: _Units, public: _Units, duals: NDArray[np.float64]) -> Mixture:
        """The exact total value and load of given weights."""
        certain = mine == WEIGHTS
        value = Fraction(self.worth + int(self.values[certain].sum()), PRICE_UNIT)
        loads = [int(one) * WEIGHTS for one in self.load + self.loads[certain].sum(axis=0)]
        for c in np.flatnonzero((mine > 0) & ~certain):
            value += Fraction(int(self.values[c]) * int(mine[c]), PRICE_UNIT * WEIGHTS)
            loads = [one + int(mine[c]) * int(more) for one, more in zip(loads, self.loads[c], strict=True)]
        for q in np.flatnonzero(public):
            value += Fraction(self.public_values[q]) * Fraction(int(public[q]), WEIGHTS)
            loads = [one + int(public[q]) * int(more) for one, more in zip(loads, self.public_loads[q], strict=True)]
        over = [Fraction(one, WEIGHTS * LOAD_UNIT) - Fraction(int(b), LOAD_UNIT)
                for one, b in zip(loads, self.program.supply_units, strict=True)]
        starts, actions, _ = self.tally
        weights = np.full(len(actions), WEIGHTS, dtype=np.int64)
        weights[self.picked] = mine
        kept = weights > 0
        owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[kept]
        return Mixture(
            starts=np.searchsorted(owners, np.arange(len(starts))), actions=actions[kept], weights=weights[kept],
            value=value, load=np.array([float(Fraction(one, WEIGHTS * LOAD_UNIT)) for one in loads]), duals=duals,
            excess=tuple(abs(one) if self.program.two_sided else max(Fraction(0), one) for one in over))


def _whole(weights: NDArray[np.float64], owner: _Units, count: int) -> _Units:
    """Weights in units that add up to one for each owner. Weights are rounded to the grid, and the missing rest is
    added to the owner's largest weight.
    """
    units = np.rint(np.clip(weights, 0.0, 1.0) * WEIGHTS).astype(np.int64)
    if not count:
        return units
    units[units < 4] = 0  # HiGHS's zeros
    lacking = WEIGHTS - np.bincount(owner, weights=units, minlength=count).astype(np.int64)
    order = np.lexsort((units, owner))
    largest = order[np.searchsorted(owner[order], np.arange(count), side="right") - 1]
    units[largest] += lacking
    return units


# ---- exact optimum

Start = Literal["linear_program", "rounds"]

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
    """Two bounds of the optimum, and a solution. The data have no privacy protection, and are only for studies and for
    the operator.

    Args:
        value: exact value of the solution, rounded down. The optimum of the program is at least `value`.
        upper: exact dual value of `prices`, rounded up. The optimum of the program is at most `upper`.
        gap: upper - value, rounded up.
        prices: (k,) prices that prove `upper`, in natural units, multiples of 2^-24.
        load: (k,) load of the solution, in natural units.
        excess: total excess of the solution over all constraints, in natural units of load; 0 where constraints are
            upper limits. For equations the excess is the total absolute difference, since rounded weights do not meet
            equations exactly.
        starts: (n + 1,) indices in `actions` and `weights` at which the entries of each participant begin.
        actions: (z, width) actions.
        weights: (z,) weights, which add up to 1 for each participant.
        start: source of the first prices: "linear_program" for the duals that HiGHS found, or "rounds" for the average
            prices of rounds without noise.
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

    label: ClassVar[str] = "not private: only for studies and for the operator"
    release_safe: ClassVar[bool] = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.value:.6g}, {self.label}>"

    def solution(self, index: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """One participant's actions, and the weight of each.

        Args:
            index: the participant's place, in 0..n-1.
        """
        part = slice(int(self.starts[index]), int(self.starts[index + 1]))
        return self.actions[part], self.weights[part]


def exact(
    program: Program, data: Any, *, start: Start | None = None, progress: Any = None, tries: int = _TRIES,
) -> ExactOptimum:
    """The optimum of the program for the given records, with proved lower and upper bounds. The result has no privacy
    protection.

    Args:
        program: program of any family.
        data: n records, or a table of them, in a form that a run accepts.
        start: source of the first prices. "linear_program" takes the duals that HiGHS finds, and is the default for
            linear programs in which the number of people times the number of constraints is at most 4 million. "rounds"
            takes the average prices of rounds without noise.
        progress: function that is called after each restricted program with the number of solved restricted programs
            and `tries`. The steps before the restricted programs report nothing.
        tries: largest number of restricted programs to solve, at least 1.

    Raises:
        InvalidInput: a record is bad.
        Refused: no solution is feasible; or tau is no dual bound, because excess increases the value even at a price of
            twice tau.
        SolverFailed: the gap between the bounds stayed too large, or the linear program's optimum lies outside the
            bounds. The gap may be 10^-6 of the largest possible difference of values, plus twice the loss of inexact
            responses.

    Example:
        >>> from confide.programs import UnitDemand
        >>> found = exact(UnitDemand(3, (1, 1)), [[1.0, 0.75], [0.75, 0.25], [0.5, 0.25]])
        >>> found.value, found.gap
        (1.5, 0.0)
        >>> found
        <ExactOptimum 1.5, not private: only for studies and for the operator>
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
            raise SolverFailed("exact", "the linear program's optimum contradicts the bounds of the best responses")
    return found


def least_tau(program: Program, data: Any) -> float:
    """The smallest number that is a dual bound of all constraints for the given records: the minimum, over all optimal
    duals, of the largest absolute dual. The result has no privacy protection.

    The function is for checks of a declared tau on public or invented records. The tau of a program must hold for every
    admissible record, so tau must never be computed from private records.

    Args:
        program: program of any family.
        data: n records, public or invented.

    Raises:
        InvalidInput: a record is bad.
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
    """Average prices of rounds without noise, shape (k,), in price units of 2^-24. The result has no privacy
    protection.

    Args:
        program: program of any family.
        data: n records, or the result of `program.read`.
        rounds: number of main rounds, and also number of burn-in rounds.
    """
    records = program.read(collected(program, data))
    schedule = Schedule(rounds=rounds, burn_in=rounds, squared_l2_sensitivity=Fraction(1), squared_budget=Fraction(1))
    silent = Noise.replayed({("slack", t): np.zeros(program.rows) for t in range(schedule.total)})
    with ThreadShards(records.shards(_SHARD)) as held:
        prices, _ = play(Descent(program=program, schedule=schedule), held, silent)
    return np.asarray(np.rint(prices[rounds:].mean(axis=0)).astype(np.int64))


def _boxed(program: Program, prices: NDArray[np.float64]) -> _Units:
    """Natural prices converted to units and clipped to their allowed range."""
    units = np.clip(np.rint(prices * PRICE_UNIT), program.lowest_prices, program.highest_prices)
    return np.asarray(units.astype(np.int64))


def _near(program: Program, prices: _Units, radius: float) -> Iterator[_Units]:
    """Prices around the given ones: each price changed up and down, or, where there are many constraints, all prices
    changed in random directions.
    """
    yield prices
    far = np.rint(np.maximum(1.0, radius * np.array(program.taus) * PRICE_UNIT))
    if program.rows <= _PAIRS:
        ways = np.concatenate([np.eye(program.rows), -np.eye(program.rows)])
    else:
        ways = np.sign(study_generator(1).normal(size=(2 * _PAIRS, program.rows)))
    for way in ways:
        yield np.clip(prices + (way * far).astype(np.int64), program.lowest_prices, program.highest_prices)


def _between(program: Program, records: Any, first: _Units, start: Start, tries: int, progress: Any) -> ExactOptimum:
    """Lower and upper bounds of the optimum, improved until they meet."""
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
        raise Refused("nothing is feasible, or excess increases the value even at a price of twice tau",
                      "choose a larger tau, if a tau exists for these records")
    inexact = program.people * program.oracle_error
    if not float(ahead) <= _ENOUGH * most + 2.0 * inexact or not (found.feasible or program.two_sided):
        raise SolverFailed("exact", f"the bounds still differ after {attempt + 1} restricted programs")
    return ExactOptimum(
        value=nearest_down(found.value), upper=nearest_up(upper), gap=nearest_up(max(Fraction(0), ahead)),
        prices=best / PRICE_UNIT, load=found.load, excess=nearest_up(over), starts=found.starts,
        actions=found.actions, weights=found.weights / WEIGHTS, start=start)
