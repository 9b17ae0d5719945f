"""Shared code of the evidence for claims: runs without noise, and optima where excess has a price."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, eye_array, hstack, vstack

from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.programs.families.electricity import Electricity
from confide.programs.families.flow import Flow
from confide.programs.grids import PRICE_UNIT
from confide.programs.priv_dude import PrivDude
from confide.programs.program import Program
from confide.programs.solving import maximised

__all__ = ["chain", "crossroads", "optimum", "quiet_run", "realised_regret", "values_of"]


def quiet_run(program: Program, data: Any, rounds: int, burn_in: int, **options: Any) -> Any:
    """A run of `PrivDude` without noise, for studies only.

    Args:
        program: program of any family.
        data: n records.
        rounds: number T of rounds.
        burn_in: number of earlier rounds that are not averaged.
        options: further keyword arguments of `PrivDude`.
    """
    zeros = {("slack", t): np.zeros(program.rows) for t in range(rounds + burn_in)}
    mechanism = PrivDude(program, 1.0, 1e-6, rounds, burn_in, **options)
    return mechanism.run(data, Noise.replayed(zeros))  # type: ignore[arg-type]


def realised_regret(board: Any, program: Program) -> float:
    """The regret of the main prices of a run without noise, compared with the best fixed prices of the box.

    Args:
        board: billboard of the run.
        program: program with the box of prices.
    """
    prices, slacks = board.main_prices / PRICE_UNIT, board.natural_slacks[board.burn_in :]
    mean = slacks.mean(axis=0)
    low, high = program.lowest_prices / PRICE_UNIT, program.highest_prices / PRICE_UNIT
    paid: float = float(np.einsum("tj,tj->", prices, slacks)) / len(prices)
    return paid - float(np.minimum(low * mean, high * mean).sum())


def optimum(program: Program, data: Any, price: float | None = None) -> float:
    """The largest value by the solver HiGHS. With a price of excess, the result is the largest value minus that price
    for each unit of excess.

    Args:
        program: program with rows that are limits.
        data: n records.
        price: price of one unit of excess; without a price no excess is allowed.
    """
    found = program.linear_program(program.read(data))
    rows = len(found.supply)
    over = csc_array(eye_array(rows)) if price is not None else csc_array((rows, 0))
    more = over.shape[1]
    matrix = vstack([hstack([found.coupling, -over]),
                     hstack([found.personal, csc_array((found.personal.shape[0], more))])])
    return maximised(
        np.concatenate([found.objective, np.full(more, -(price or 0.0))]), matrix,
        np.concatenate([np.full(rows, -np.inf), found.low]), np.concatenate([found.supply, found.high]),
        np.concatenate([found.lower, np.zeros(more)]), np.concatenate([found.upper, np.full(more, np.inf)]),
        routine="evidence").value


def chain(extra: float = 0.0, tau: float = 4.0) -> tuple[Electricity, Any]:
    """A schedule problem with eight people who have needs, and five slots. Extra supply of the first slot moves four
    people, each from the next slot to their own.

    For each slot j, person A[j] needs slot j and all slots after j + 1, and person B[j] needs all slots after j. Both
    people A[j] and B[j] value slot j, and slot j + 1 is their only other free slot.

    Args:
        extra: additional supply of the first slot.
        tau: declared dual bound.

    Source: spec convex_programs 7 (erratum 8) and 11.3.
    """
    values, needs = np.zeros((8, 1, 5)), np.zeros((8, 1), dtype=np.int64)
    supply = np.zeros(5)
    for j in range(4):
        values[[j, j + 4], 0, j], needs[[j, j + 4], 0] = 1.0, 4 - j
        supply[[j, *range(j + 2, 5)]] += 1.0
        supply[j + 1 :] += 1.0
    supply[0] += extra
    return Electricity(8, supply[None], most=4, hard=True, tau=tau), (values, needs)  # type: ignore[arg-type]


def crossroads(people: int, tau: float | None = None) -> tuple[Flow, NDArray[np.float64]]:
    """A flow problem with a free direct arc for half of the people, and a detour of five arcs that cost 1 each.

    Args:
        people: number n of people.
        tau: dual bound; by default the cost 6 of the escape.

    Source: spec convex_programs 7 (erratum 7).
    """
    arcs = ((0, 5), (0, 1), (1, 2), (2, 3), (3, 4), (4, 5))
    supply = (people / 2.0, *(float(people),) * 5)
    program = Flow(people, supply, arcs=arcs, hops=5, escape=6.0, tau=tau)
    return program, np.tile([0.0, 5.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0], (people, 1))


def values_of(people: int, goods: int, seed: int) -> NDArray[np.float64]:
    """Simulated values, uniform on [0, 1], shape (n, k).

    Args:
        people: number n of people.
        goods: number k of goods.
        seed: seed of the generator.
    """
    found: NDArray[np.float64] = study_generator(seed, "values").random((people, goods))
    return found
