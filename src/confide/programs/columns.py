"""The best mixture of a few actions of everybody: a restricted program, whose solution is checked in whole numbers.

Actions are best responses to prices that were tried. Most participants have one and the same at all of them, so what is
left to solve is small. Weights are whole multiples of 2^-30, and what a mixture is worth and loads is summed exactly.
Excess is allowed at twice tau, where no optimum has any; so the duals lie in the price box, and are new prices to try.

Source: Dantzig and Wolfe 1960; spec convex_programs 1 (tau as the weight of an exact penalty).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, eye_array, hstack, vstack

from confide.programs.averages import Tally, tally_of
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.program import Program
from confide.programs.solving import maximised

__all__ = ["WEIGHTS", "Mixture", "mixed"]

WEIGHTS = 1 << 30
"""Units of weight in 1."""

_Units = NDArray[np.int64]
_BLOCK = 1 << 16
_ATTEMPTS = 8
_LEAST_MARGIN = 1e-9  # natural loads


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Mixture:
    """Everybody's mixture of actions, and what it comes to, exactly. Private.

    Args:
        starts: (n + 1,) where each participant's part begins.
        actions: (z, width).
        weights: (z,) in units of 2^-30; everybody's add up to 2^30.
        value: of all, with the public block's, in natural units.
        excess: (k,) load above supply; of equations the absolute difference.
        load: (k,) natural, rounded.
        duals: (k,) that HiGHS claims.
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
        """Whether no row is over, exactly."""
        return not any(self.excess)


def mixed(program: Program, records: Any, tried: _Units) -> Mixture:
    """The best mixture of everybody's responses to these prices. Private.

    Args:
        program: whose records they are.
        records: of all participants.
        tried: (m, k) prices, in units.

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
    """Those who have one action, summed; the actions of the others; the answers of the public block's parts.

    Parts are mixed each for itself: of a block that is one part, whose answers each buy more of one thing, no mixture
    could buy a little more of everything, which is what rounding takes.

    Args:
        program: whose they are.
        tally: everybody's actions.
        open: (o,) who has several.
        picked: (c,) places of their actions in the tally.
        owner: (c,) which of `open` each is of.
        values: (c,) in units.
        loads: (c, k) in units.
        worth: of those who have one action, in units.
        load: (k,) theirs.
        public_values: (q,) natural.
        public_loads: (q, k) in units.
        part: (q,) which part of the public block each is of.
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
            margin: (k,) natural.
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
        """What weights come to, exactly."""
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
    """Weights in units, everybody's adding up to one: down to the grid, and what is missing goes to her largest."""
    units = np.rint(np.clip(weights, 0.0, 1.0) * WEIGHTS).astype(np.int64)
    if not count:
        return units
    units[units < 4] = 0  # HiGHS's zeros
    lacking = WEIGHTS - np.bincount(owner, weights=units, minlength=count).astype(np.int64)
    order = np.lexsort((units, owner))
    largest = order[np.searchsorted(owner[order], np.arange(count), side="right") - 1]
    units[largest] += lacking
    return units
