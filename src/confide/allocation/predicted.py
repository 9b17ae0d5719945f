"""Predictions of a mechanism's welfare from runs on synthetic bidders, never on real bids.

A large market is replaced by a smaller market in two steps. The first step leaves out goods, and people in proportion,
so the number of copies for each bidder stays the same. At least 50 goods remain, since an auction's noise depends on
the number of goods. The failure probability gamma is scaled such that each good's overflow probability stays the same.
The second step scales people and copies down and epsilon up. Scaling leaves the product of supply and epsilon
unchanged, and so the ratio of the noise to a supply. Only the random variation among few people is not scaled, which
makes the small market slightly worse than the large one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.allocation.baselines import lottery, serial_dictatorship
from confide.allocation.duality import dual_bound
from confide.allocation.instances import instance_a, instance_b
from confide.allocation.market import Market
from confide.allocation.pmatch import PMatch
from confide.allocation.sinkhorn_match import ScalingBillboard, SinkhornMatch
from confide.allocation.valuations import Valuations
from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.contract.words import counted
from confide.privacy.losses import ZCDP
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator

__all__ = [
    "LOTTERY",
    "RUNS",
    "SERIAL",
    "CrowdPrediction",
    "made_up",
    "predicted",
    "reduced",
    "share_of_people_alike",
    "upper_bound",
]

LOTTERY = "a lottery for everybody's favourite"
SERIAL = "a serial dictatorship"
RUNS = 3
"""Number of synthetic populations of each kind."""

_VALUES = 4_000_000  # of the table of a crowd
_EACH = 2_000_000  # of each, where there are several
_LEAST_GOODS = 50
_BOUND_VALUES = 1_000_000
_BOUND_ROUNDS = 60


@renamed(blind="baseline", beside="baselines")
@wire("Prediction", "welfare lowest highest blind beside certificate runs people goods", baseline="blind",
      baselines="beside")
@dataclass(frozen=True, kw_only=True)
class CrowdPrediction:
    """Predicted figures for one kind of synthetic population, averaged over several populations, each with its own
    noise.

    All welfare figures are shares of an upper bound on the optimal welfare.

    Args:
        welfare: welfare share that the mechanism reaches, averaged over the runs.
        lowest: smallest welfare share of the mechanism in a single run.
        highest: largest welfare share of the mechanism in a single run.
        baseline: average welfare share if goods are handed out without asking anybody, starting with the goods of the
            highest average value.
        baselines: mapping from the name of a rule that sees all values (`LOTTERY`, `SERIAL`) to the average welfare
            share that the rule reaches.
        certificate: lower bound on the welfare share that the public certificate of a run claims, averaged over the
            runs; None without a certificate.
        runs: number of synthetic populations, each with one run of the mechanism.
        people: number of synthetic bidders in each population.
        goods: number of goods in the simulated market.
    """

    welfare: float
    lowest: float
    highest: float
    baseline: float
    baselines: Mapping[str, float]
    certificate: float | None
    runs: int
    people: int
    goods: int

    @property
    def worth_it(self) -> bool:
        """Whether the mechanism does better, on average over the same populations, than handing out goods without
        asking anybody.
        """
        return self.welfare > self.baseline

    @classmethod
    def of(cls, found: Sequence[CrowdPrediction]) -> CrowdPrediction:
        """The average of the predictions of single runs on populations of the same kind.

        Args:
            found: predictions of single runs, at least one.
        """
        claimed = [one.certificate for one in found if one.certificate is not None]
        return cls(
            welfare=_mean([one.welfare for one in found]), lowest=min(one.lowest for one in found),
            highest=max(one.highest for one in found), baseline=_mean([one.baseline for one in found]),
            baselines={name: _mean([one.baselines[name] for one in found]) for name in found[0].baselines},
            certificate=_mean(claimed) if claimed else None, runs=sum(one.runs for one in found),
            people=found[0].people, goods=found[0].goods)


def _mean(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) / len(numbers)


def reduced(mechanism: Market, *, goods: bool = True, most: int = _VALUES) -> Market:
    """The market itself, or, if its synthetic population would be too large, a smaller market with the same behaviour.

    Args:
        mechanism: `PMatch` or `SinkhornMatch`.
        goods: whether goods may be left out.
        most: largest size of a synthetic population, in values: people times goods.

    Example:
        >>> market = SinkhornMatch(people=1_000_000, goods=100, supply=8_000, epsilon=1.0)
        >>> small = reduced(market)
        >>> small.people, small.goods, small.copies[0], small.epsilon
        (80000, 50, 1280, 6.25)
    """
    people, kept, copies = mechanism.people, mechanism.goods, np.array(mechanism.copies, dtype=np.int64)
    epsilon, gamma, batch = mechanism.epsilon, mechanism.failure_probability, getattr(mechanism, "batch", 1)
    if goods and people * kept > most and kept > _LEAST_GOODS:
        fewer = max(_LEAST_GOODS, int(most / people))
        copies = np.sort(copies)[np.linspace(0, kept - 1, fewer).astype(int)]
        people, gamma, kept = max(1, round(people * fewer / kept)), gamma * fewer / kept, fewer
    if people * kept > most:
        share = max(most / (people * kept), 1.0 / people)
        people, epsilon = max(1, round(people * share)), epsilon / share
        copies, batch = np.maximum(1, np.rint(copies * share).astype(np.int64)), max(1, round(batch * share))
    changes: dict[str, Any] = {"people": people, "goods": kept, "supply": tuple(copies.tolist()),
                               "failure_probability": gamma,
                               "on_overflow": "flag"}
    if isinstance(mechanism, PMatch):
        changes["batch"] = min(people, batch)
        if mechanism.law == "gaussian" and epsilon > mechanism.epsilon:
            epsilon = _stronger(mechanism, epsilon / mechanism.epsilon)
    return replace(mechanism, epsilon=epsilon, **changes)


def _stronger(mechanism: PMatch, factor: float) -> float:
    """The epsilon at which Gaussian noise is smaller by the given factor."""
    goal = float(mechanism.budget) * factor**2
    low, high = mechanism.epsilon, mechanism.epsilon * max(4.0, factor) ** 3
    for _ in range(60):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if ZCDP.within(middle, mechanism.delta).rho < goal else (low, middle)
    return high


def made_up(
    people: int, goods: int, prior: ArrayLike | None = None, *, seed: int = 1,
) -> dict[str, Valuations]:
    """Synthetic bidders, as a mapping from the kind of population, "A" and "B" or "prior", to the valuations of its
    bidders.

    Args:
        people: number n of people.
        goods: number k of goods.
        prior: public rows of valuations in [0, 1], shape (m, k), synthetic or published before. The n bidders' rows are
            drawn from these rows. The default is synthetic rows of `instance_a` and `instance_b`.
        seed: seed of the draw.

    Raises:
        InvalidInput: rows of another shape, or rows without any positive value.
    """
    if prior is None:
        return {name: Valuations.of(make(people, goods, seed=seed), people=people, goods=goods)
                for name, make in (("A", instance_a), ("B", instance_b))}
    table = np.asarray(prior)
    if table.ndim != 2 or table.shape[1] != goods or not len(table):
        raise InvalidInput("prior", f"its shape is {table.shape}", f"must be rows of {counted(goods, 'number')}")
    rows = Valuations.of(table, people=len(table), goods=goods)
    drawn = study_generator(seed, "prior").integers(len(table), size=people)
    if not rows.values.any():
        raise InvalidInput("prior", "has no value for anybody")
    return {"prior": Valuations.of(rows.values.reshape(-1, goods)[drawn], people=people, goods=goods)}


def predicted(
    mechanism: Market, prior: ArrayLike | None = None, *, runs: int = RUNS, seed: int = 1,
) -> Mapping[str, CrowdPrediction]:
    """Predict the welfare of a mechanism by runs on synthetic bidders.

    Args:
        mechanism: `PMatch` or `SinkhornMatch`.
        prior: public rows of valuations in [0, 1], shape (m, k), from which the bidders' rows are drawn. The default is
            synthetic rows of `instance_a` and `instance_b`.
        runs: number of populations of each kind, each with noise of its own. A population has at most 4 million values
            if `runs` is 1, and at most 2 million values otherwise. A larger market is scaled down (`reduced`).
        seed: seed of the first population and its noise. Later populations have the next seeds.

    Returns:
        A mapping from kind of population ("A" and "B", or "prior") to its prediction.

    Example:
        >>> market = SinkhornMatch.for_budget(epsilon=1.0, people=5_000, goods=5, supply=800)
        >>> found = predicted(market)
        >>> 0.9 < found["A"].lowest <= found["A"].welfare <= found["A"].highest < 1.0
        True
    """
    runs = whole("runs", runs, at_least=1)
    small = reduced(mechanism, goods=prior is None, most=_VALUES if runs == 1 else _EACH)
    found = dict[str, list[CrowdPrediction]]()
    for at in range(seed, seed + runs):
        for name, values in made_up(small.people, small.goods, prior, seed=at).items():
            found.setdefault(name, []).append(_of(small, values, at, name if prior is None else None))
    return {name: CrowdPrediction.of(each) for name, each in found.items()}


def share_of_people_alike(mechanism: Market, *, seed: int = 1) -> float:
    """Predicted share of the optimal welfare if all people have the same values. The more copies the mechanism leaves
    unassigned, the lower the share.

    Prices cannot tell people with the same values apart, and these people can be served without asking anybody. So this
    share is used only for the choice between two mechanisms that are even on other populations. The share does not show
    whether asking people is worth the cost.

    Args:
        mechanism: `PMatch` or `SinkhornMatch`.
        seed: seed of the noise.
    """
    small = reduced(mechanism)
    row = np.linspace(1.0, 0.2, small.goods, dtype=np.float32)
    crowd = Valuations.of(np.tile(row, (small.people, 1)), people=small.people, goods=small.goods)
    outcome: Any = small.run(crowd, Noise.simulated(seed))
    return float(outcome.diagnostics["welfare"]) / _unasked(crowd, small.copies)


def _of(market: Market, values: Valuations, seed: int, name: str | None) -> CrowdPrediction:
    others = _Baselines.of(values, market.copies, seed) if name is None else _baselines(
        name, market.people, market.goods, market.copies, seed)
    outcome: Any = market.run(values, Noise.simulated(seed))
    share = outcome.diagnostics["welfare"] / others.most
    return CrowdPrediction(welfare=share, lowest=share, highest=share, baseline=others.baseline, baselines=others.rules,
                           runs=1,
                      certificate=None if outcome.certificate is None else outcome.certificate.ratio,
                      people=market.people, goods=market.goods)


@dataclass(frozen=True, kw_only=True)
class _Baselines:
    """An upper bound on the welfare of one population, and the shares of it that the baseline rules reach."""

    most: float
    baseline: float
    rules: Mapping[str, float]

    @classmethod
    def of(cls, values: Valuations, supply: tuple[int, ...], seed: int) -> _Baselines:
        most = upper_bound(values, supply)
        return cls(most=most, baseline=_unasked(values, supply) / most, rules={
            LOTTERY: lottery(values, supply, seed=seed).welfare / most,
            SERIAL: serial_dictatorship(values, supply, seed=seed).welfare / most})


@lru_cache(maxsize=256)
def _baselines(name: str, people: int, goods: int, supply: tuple[int, ...], seed: int) -> _Baselines:
    """The baselines of one population, cached because they are the same for every mechanism and epsilon. The population
    itself is not kept.
    """
    return _Baselines.of(made_up(people, goods, seed=seed)[name], supply, seed)


def upper_bound(values: Valuations, supply: tuple[int, ...]) -> float:
    """An upper bound on the optimal welfare, usually at most a thousandth too large, by weak duality at prices found
    without noise.

    Args:
        values: valuations of the bidders. If the valuations are private, so is the bound.
        supply: number of copies s_j of each good j.
    """
    share = min(1.0, _BOUND_VALUES / max(1, values.people * values.goods))
    people = max(1, int(values.people * share))
    part = values if people == values.people else Valuations.of(
        _rows(values)[:people], people=people, goods=values.goods)
    copies = tuple(max(1, round(copy * people / values.people)) for copy in supply)
    free: Any = SinkhornMatch(people=people, goods=values.goods, supply=copies, epsilon=1e9, rounds=_BOUND_ROUNDS,
                              start_temperature=0.2, end_temperature=0.003, step=1.2, growth=1.0, spread=0.0,
                              certify_with=0.0)
    board: ScalingBillboard = free.run(part, Noise.simulated(0)).billboard
    at = [board.prices, np.zeros(values.goods)] if isinstance(board, ScalingBillboard) else [np.zeros(values.goods)]
    return min(dual_bound(values, supply, prices) for prices in at)


def _rows(values: Valuations) -> NDArray[Any]:
    return values.values.reshape(values.people, values.goods)


def _unasked(values: Valuations, supply: tuple[int, ...]) -> float:
    mean = _rows(values).mean(axis=0, dtype=np.float64)
    order = np.argsort(-mean)
    left = np.maximum(0, values.people - np.cumsum(np.array(supply)[order]) + np.array(supply)[order])
    return float((np.minimum(left, np.array(supply)[order]) * mean[order]).sum())
