"""The shared part of the studies of programs: optima, runs, and runs with another amount of noise."""

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
REFERENCE = "Reference: the trial runs that the rules were derived with, on instances of their own."
_EXACT = 50_000  # people x rows


@dataclass(frozen=True, kw_only=True)
class Ran:
    """Means over runs, as shares.

    Args:
        lost: optimum less value, of the optimum; negative where excess is worth more than noise loses.
        gap: absolute value of the same, run by run.
        largest: largest excess of a row over its supply.
        total: excess of all rows together over all supply.
        certified: largest excess of a row over its supply that the certificate claims.
        certified_total: excess of all rows together over all supply that the certificate claims.
        certified_gap: gap that the certificate claims, as a share of the optimum.
        kept: whether every certificate held: the excess of every row, and the gap.
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
    """Unit demand with supply for half of all: the program, values of seed 1, and the optimum.

    Args:
        people: n.
        goods: k.

    Source: spec convex_programs 9.3.
    """
    program, values = UnitDemand(people, people / (2.0 * goods), goods=goods), popular(people, goods, 1)
    return program, values, best_of(program, values)


def best_of(program: Program, data: Any) -> float:
    """The optimum; for large programs the dual value of prices without noise, an upper bound, so that gaps seem larger.

    Args:
        program: program of any family.
        data: n records.
    """
    if program.people * program.rows <= _EXACT:
        return exact(program, data).value
    prices = noiseless_prices(program, data)
    return dual_value(program, data, prices / PRICE_UNIT)


def ran(mechanism: Dude, data: Any, best: float, runs: int) -> Ran:
    """A mechanism under simulated noise, seeds 1, 2 and so on.

    Args:
        mechanism: mechanism that hands out averages.
        data: n records.
        best: optimum.
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
    """The epsilon that has so many times the noise, by exact Gaussian accounting.

    Args:
        epsilon: > 0.
        times: > 0.
    """
    return GDP(gdp_mu(epsilon, DELTA) / times).epsilon_at(DELTA)


def printed_epsilon(epsilon: float, rounds: int) -> float:
    """The epsilon whose exact noise is the printed noise of another one: a run with it is a run with the print's noise.

    Args:
        epsilon: that the print is asked for.
        rounds: T, all of them.
    """
    return GDP(1.0 / printed_factor(epsilon, DELTA, rounds)).epsilon_at(DELTA)


def quiet(program: Program, data: Any, rounds: int, burn_in: int) -> Any:
    """A run of `PrivDude` without noise.

    Args:
        program: program of any family.
        data: n records.
        rounds: T.
        burn_in: number of rounds before them.
    """
    zeros = {("slack", t): np.zeros(program.rows) for t in range(rounds + burn_in)}
    return PrivDude(program, 1.0, DELTA, rounds, burn_in).run(data, Noise.replayed(zeros))  # type: ignore[arg-type]
