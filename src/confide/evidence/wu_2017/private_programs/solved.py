"""Shared code of the evidence for claims: runs without noise, optima with or without a penalty for excess, and test
problems.
"""

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
        data: records of n people in a form that the program reads.
        rounds: number T of rounds that are averaged.
        burn_in: number of rounds before these, which are not averaged.
        options: further keyword arguments of `PrivDude`.
    """
    zeros = {("slack", t): np.zeros(program.rows) for t in range(rounds + burn_in)}
    mechanism = PrivDude(program, 1.0, 1e-6, rounds, burn_in, **options)
    return mechanism.run(data, Noise.replayed(zeros))  # type: ignore[arg-type]


def realised_regret(board: Any, program: Program) -> float:
    """The regret of the prices in the averaged rounds of a run without noise, compared with the best fixed prices
    between 0 and their upper limits.

    Args:
        board: public result of the run (billboard).
        program: program of the run, which determines the upper limits of the prices.
    """
    prices, slacks = board.main_prices / PRICE_UNIT, board.natural_slacks[board.burn_in :]
    mean = slacks.mean(axis=0)
    low, high = program.lowest_prices / PRICE_UNIT, program.highest_prices / PRICE_UNIT
    paid: float = float(np.einsum("tj,tj->", prices, slacks)) / len(prices)
    return paid - float(np.minimum(low * mean, high * mean).sum())


def optimum(program: Program, data: Any, price: float | None = None) -> float:
    """The optimal value of a program, computed by the solver HiGHS. If `price` is given, rows may be exceeded, and the
    objective is the value minus `price` for each unit of excess.

    Args:
        program: program in which each row is an upper limit on the load.
        data: records of n people in a form that the program reads.
        price: penalty for one unit of excess; None if no excess is allowed.
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
    """A schedule problem with five slots and eight people who must get a stated number of slots. Extra supply of the
    first slot lets four people move, each from the slot after their preferred slot to the preferred slot.

    For each j from 0 to 3, persons A[j] and B[j] value only slot j, and each of them needs 4 - j slots. The supply is
    exactly what the eight people use if A[j] gets slot j and all slots after j + 1, and B[j] gets all slots after j.

    Args:
        extra: additional supply of the first slot.
        tau: dual bound of the program, > 0.

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
    """A flow problem in which half of the people can use a direct arc without cost. A detour has five arcs that cost 1
    each.

    Args:
        people: number n of people.
        tau: dual bound of the program, > 0; None for 6, the cost of not using the network.

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
