"""Shared code of the studies of programs: optima, runs, and runs with another amount of noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.evidence.wu_2017.private_programs.printed_bounds import printed_factor
from confide.privacy.gaussian import gdp_mu
from confide.privacy.losses import GDP
from confide.privacy.noise import Noise
from confide.programs.dude import Dude
from confide.programs.exact_optimum import dual_value, exact, noiseless_prices
from confide.programs.families.unit_demand import UnitDemand
from confide.programs.grids import PRICE_UNIT
from confide.programs.instances import popular
from confide.programs.priv_dude import PrivDude
from confide.programs.program import Program

__all__ = ["DELTA", "REFERENCE", "Ran", "best_of", "market", "noisier", "printed_epsilon", "quiet", "ran"]

DELTA = 1e-6
REFERENCE = "Reference: the trial runs from which the rules were derived, on other instances."
_EXACT = 50_000  # people x rows


@dataclass(frozen=True, kw_only=True)
class Ran:
    """Means over several runs. Values are shares of the optimum, and excess is a share of the supply.

    Args:
        lost: optimum minus value, as a share of the optimum; negative where the value of excess allocations is larger
            than the loss from noise.
        gap: absolute difference of optimum and value, as a share of the optimum.
        largest: largest excess of any row, as a share of the row's supply.
        total: total excess of all rows, as a share of the total supply.
        certified: bound of the certificate on the largest excess of any row, as a share of the row's supply.
        certified_total: bound of the certificate on the total excess of all rows, as a share of the total supply.
        certified_gap: bound of the certificate on optimum minus value, as a share of the optimum.
        kept: whether the certificates of all runs held, for the excess of every row and for optimum minus value.
    """

    lost: float
    gap: float
    largest: float
    total: float
    certified: float
    certified_total: float
    certified_gap: float
    kept: bool


@cache
def market(people: int, goods: int) -> tuple[UnitDemand, NDArray[np.float32], float]:
    """A unit-demand program with supply for half of all people, values that are simulated with seed 1, and the optimum.

    Args:
        people: number n of people.
        goods: number k of goods.

    Source: spec convex_programs 9.3.
    """
    program, values = UnitDemand(people, people / (2.0 * goods), goods=goods), popular(people, goods, 1)
    return program, values, best_of(program, values)


def best_of(program: Program, data: Any) -> float:
    """The optimal value of a program. For large programs the result is an upper bound, the dual value at prices of a
    run without noise, so the reported losses are slightly too large.

    Args:
        program: program of any family.
        data: records of n people in a form that the program reads.
    """
    if program.people * program.rows <= _EXACT:
        return exact(program, data).value
    prices = noiseless_prices(program, data)
    return dual_value(program, data, prices / PRICE_UNIT)


def ran(mechanism: Dude, data: Any, best: float, runs: int) -> Ran:
    """Means over runs of a mechanism under simulated noise, with seeds 1, 2 and so on.

    Args:
        mechanism: mechanism that allocates averages of best responses over rounds.
        data: records of n people in a form that the program reads.
        best: optimal value, or an upper bound, as `best_of` computes it.
        runs: number of runs.
    """
    supply = np.abs(np.array(mechanism.program.supplies))
    rows, kept = [], True
    for seed in range(1, runs + 1):
        outcome: Any = mechanism.run(data, Noise.simulated(seed))
        found, certain = outcome.diagnostics, outcome.certificate
        excess, missing = found["excess"], best - found["value"]
        size = abs(best) or 1.0
        whole = supply.sum()
        rows.append((missing / size, abs(missing) / size, (excess / supply).max(), excess.sum() / whole,
                     (certain.excess / supply).max(), certain.total_excess / whole, certain.gap / size))
        kept &= bool((excess <= certain.excess).all()) and missing <= certain.gap + 1e-6 * size
    names = ("lost", "gap", "largest", "total", "certified", "certified_total", "certified_gap")
    return Ran(**dict(zip(names, np.mean(rows, axis=0).tolist(), strict=True)), kept=kept)


def noisier(epsilon: float, times: float) -> float:
    """The epsilon at which the noise is `times` as large as at a given epsilon, by exact Gaussian accounting.

    Args:
        epsilon: privacy loss in nats, > 0.
        times: factor > 0 by which the noise is larger.
    """
    return GDP(gdp_mu(epsilon, DELTA) / times).epsilon_at(DELTA)


def printed_epsilon(epsilon: float, rounds: int) -> float:
    """The epsilon at which exact accounting prescribes as much noise as the source prints for another epsilon. A run at
    the returned epsilon has the printed noise.

    Args:
        epsilon: privacy loss in nats, > 0, for which the printed noise is computed.
        rounds: total number T of rounds.
    """
    return GDP(1.0 / printed_factor(epsilon, DELTA, rounds)).epsilon_at(DELTA)


def quiet(program: Program, data: Any, rounds: int, burn_in: int) -> Any:
    """A run of `PrivDude` without noise.

    Args:
        program: program of any family.
        data: records of n people in a form that the program reads.
        rounds: number T of rounds that are averaged.
        burn_in: number of rounds before these, which are not averaged.
    """
    zeros = {("slack", t): np.zeros(program.rows) for t in range(rounds + burn_in)}
    return PrivDude(program, 1.0, DELTA, rounds, burn_in).run(data, Noise.replayed(zeros))  # type: ignore[arg-type]
