"""Shared code of the studies of matchings: runs on simulated bidders, and the optimum of each market."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from confide.allocation.baselines import greedy, lottery, serial_dictatorship
from confide.allocation.duality import dual_bound
from confide.allocation.instances import instance_a, instance_b
from confide.allocation.market import Market
from confide.allocation.optimum.solver import exact_optimum
from confide.allocation.pmatch import PMatch
from confide.allocation.settings import arities
from confide.allocation.valuations import Valuations
from confide.privacy.noise import Noise

__all__ = ["INSTANCES", "NOTE", "Bidders", "Ran", "Rung", "baselines", "bidders", "ran", "rung_auction"]

Rung = tuple[float, int, int]
"""Setting (alpha, C, R) of PMatch: price increment, largest number of bids of each bidder, and number of rounds."""


INSTANCES = {"A": instance_a, "B": instance_b}
NOTE = ("Instance A: v = 0.4 j/(k - 1) + 0.6 U, tastes differ. Instance B: A times 0.1 + 0.9 theta for each bidder, "
        "needs differ too. Shares are of the optimum.")
_EXACT = 200_000  # bidders
_WIDEST = 64  # arity


@dataclass(frozen=True, kw_only=True, eq=False)
class Bidders:
    """Simulated bidders, and the optimal welfare of their market.

    Args:
        values: valuations of all bidders.
        supply: number s of copies of each good.
        optimum: largest possible welfare, exact for up to 200,000 bidders. With more bidders, an upper bound at prices
            computed from every tenth bidder. Welfare divided by this bound is then slightly below the true share.
    """

    values: Valuations
    supply: int
    optimum: float


def bidders(kind: str, people: int, goods: int, supply: int, *, seed: int = 0) -> Bidders:
    """The simulated bidders of an instance.

    Args:
        kind: "A" or "B", the instance of spec allocation 4.3.
        people: number n of bidders.
        goods: number k of goods.
        supply: number s of copies of each good.
        seed: seed of the draws.
    """
    table = INSTANCES[kind](people, goods, seed=seed)
    values = Valuations.of(table, people=people, goods=goods)
    if people <= _EXACT:
        return Bidders(values=values, supply=supply, optimum=exact_optimum(values, supply).welfare)
    prices = exact_optimum(table[::10], supply // 10).prices
    return Bidders(values=values, supply=supply, optimum=dual_bound(values, supply, prices))


@dataclass(frozen=True, kw_only=True)
class Ran:
    """Means over several runs of a mechanism.

    Args:
        share: mean welfare divided by the optimum.
        claimed: mean share of the optimum that the public certificates claim; nan without a certificate.
        over: number of copies allocated beyond the supply, in all runs together.
    """

    share: float
    claimed: float
    over: float


def ran(market: Market, of: Bidders, runs: int) -> Ran:
    """Means over runs of a mechanism under simulated noise, with seeds 1, 2 and so on.

    Args:
        market: mechanism to run.
        of: simulated bidders, and the optimum of their market.
        runs: number of runs.
    """
    found: list[Any] = [market.run(of.values, Noise.simulated(seed)) for seed in range(1, runs + 1)]
    claimed = [one.certificate.ratio if one.certificate is not None else np.nan for one in found]
    return Ran(share=float(np.mean([one.diagnostics["welfare"] for one in found])) / of.optimum,
               claimed=float(np.mean(claimed)), over=sum(one.diagnostics["over_allocated"] for one in found))


def rung_auction(rung: Rung, **public: Any) -> PMatch:
    """The auction with the given settings. The number of bidders in a batch is half the number of copies of a good, and
    the arity of the counters is that with the least error.

    Args:
        rung: three settings of the auction: price increment alpha, largest number C of bids of each bidder, and number
            R of rounds.
        public: the parameters `people`, `goods`, `supply` and `epsilon` of `PMatch`, and optionally other parameters.
    """
    increment, cap, rounds = rung
    batch = max(1, public["supply"] // 2)
    settings: dict[str, Any] = {"increment": increment, "bid_cap": cap, "rounds": rounds, "batch": batch, **public}
    # Which arity is best has nothing to do with the reserve, which takes long to find.
    bare = {**settings, "reserve": 0}
    horizon = rounds * -(-public["people"] // batch)
    tried = [PMatch(**bare, arity=arity) for arity in arities(horizon) if arity <= _WIDEST]
    return PMatch(**settings, arity=min(tried, key=lambda auction: float(auction.error)).arity)


def baselines(of: Bidders) -> dict[str, float]:
    """Mapping from the name of each rule without privacy to the share of the optimum that the rule attains; nan for the
    greedy rule with more than 200,000 bidders.

    Args:
        of: simulated bidders, and the optimum of their market.
    """
    rules: dict[str, Any] = {"lottery of favourites": lottery, "serial dictatorship": serial_dictatorship}
    if of.values.people <= _EXACT:
        rules["greedy"] = greedy
    found = {name: rule(of.values, of.supply).welfare / of.optimum for name, rule in rules.items()}
    return {**found, "greedy": found.get("greedy", math.nan)}
