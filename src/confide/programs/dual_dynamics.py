"""Private dual dynamics: prices go down a noisy gradient while everybody plays her best response to them.

In each round the load of all best responses is released with noise, and the prices of the next round follow from it by
public arithmetic. The path of prices is all that anybody needs to find her own part.

Source: Wu 2017, Algorithm 8 (PrivDude); spec convex_programs 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.mechanism import Progress
from confide.numerics.shards import Shards
from confide.privacy.noise import Noise
from confide.programs.grids import LOAD_BITS, LOAD_UNIT, PRICE_BITS, PRICE_UNIT
from confide.programs.program import Program, Shard
from confide.programs.schedule import Schedule

__all__ = ["Descent", "Step", "play"]

Step = Literal["gradient", "adagrad"]
_Units = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Descent:
    """How prices follow from what was released: the same arithmetic for whoever runs and for whoever verifies.

    Args:
        program: whose prices they are.
        schedule: of the rounds.
        step: "gradient": projected gradient descent, 2 tau/(scale sqrt(rounds of the phase)), where the family knows a
            public scale; "adagrad": 2 tau/sqrt(2 sum of squares so far), which needs none. None: what the family's
            usual step is.
        start: (k,) public prices to begin with, such as last period's; zeros by default.
    """

    program: Program
    schedule: Schedule
    step: Step | None = None
    start: tuple[float, ...] | None = None

    @property
    def rule(self) -> Step:
        """The step that is taken."""
        known = self.program.constants.step_scale is not None
        if self.step == "gradient" and not known:
            raise InvalidInput("step", "'gradient' needs a public scale of loads, which this program has not",
                               "use 'adagrad'")
        return self.step or ("gradient" if known else "adagrad")

    def first(self) -> _Units:
        """(k,) prices of the first round, in units."""
        zero = np.zeros(self.program.rows, dtype=np.int64)
        if self.start is None:
            return zero
        wanted = np.rint(np.array(self.start) * PRICE_UNIT).astype(np.int64)
        return np.asarray(np.clip(wanted, self.program.lowest_prices, self.program.highest_prices))

    def steps(self, t: int) -> NDArray[np.float64]:
        """(k,) the constant steps of a round, in units of price for each unit of load.

        Args:
            t: the round, from 0.
        """
        scale = self.program.constants.step_scale
        phase = self.schedule.burn_in if t < self.schedule.burn_in else self.schedule.rounds
        eta = 2.0 * np.array(self.program.taus) / (np.array(scale) * np.sqrt(phase))
        return np.asarray(eta * 2.0 ** (PRICE_BITS - LOAD_BITS))

    def moved(self, prices: _Units, slack: _Units, squares: NDArray[np.float64], t: int) -> _Units:
        """(k,) prices of the next round, in units.

        Args:
            prices: (k,) of this round.
            slack: (k,) what was released of it, in units of load.
            squares: (k,) sums of squares of all that was released, this round included, in loads.
            t: the round.
        """
        eta = self.steps(t) if self.rule == "gradient" else (
            2.0 * np.array(self.program.taus) / np.sqrt(2.0 * np.maximum(squares, 2.0**-40))
            * 2.0 ** (PRICE_BITS - LOAD_BITS))
        to = np.rint(prices - eta * slack)
        return np.clip(to, self.program.lowest_prices, self.program.highest_prices).astype(np.int64)

    def path(self, slacks: _Units) -> _Units:
        """(rounds, k) the prices of all rounds, from what was released.

        Args:
            slacks: (rounds, k) in units of load.
        """
        prices, squares = [self.first()], np.zeros(self.program.rows)
        for t, slack in enumerate(slacks[:-1]):
            squares = squares + np.square(slack / LOAD_UNIT)
            prices.append(self.moved(prices[-1], slack, squares, t))
        return np.stack(prices)


def play(
    descent: Descent, shards: Shards, noise: Noise, *, progress: Progress | None = None,
) -> tuple[_Units, _Units]:
    """All rounds.

    Args:
        descent: public arithmetic, program and schedule.
        shards: everybody's records.
        noise: of the releases.
        progress: told the rounds played and all of them.

    Returns:
        (rounds, k) prices, and (rounds, k) released supply less load, both in units.
    """
    program, schedule = descent.program, descent.schedule
    supply, squares = program.supply_units, np.zeros(program.rows)
    prices, slacks = [descent.first()], []
    for t in range(schedule.total):
        loads = shards.map(_load_at, program, prices[-1])
        load = np.sum(loads, axis=0, dtype=np.int64) + program.public_load(prices[-1])
        slacks.append(schedule.released(noise, supply - load, t))
        squares = squares + np.square(slacks[-1] / LOAD_UNIT)
        if t + 1 < schedule.total:
            prices.append(descent.moved(prices[-1], slacks[-1], squares, t))
        if progress is not None:
            progress(t + 1, schedule.total)
    return np.stack(prices), np.stack(slacks)


def _load_at(shard: Shard, program: Program, prices: _Units) -> _Units:
    return program.load_at(shard.records, prices)
