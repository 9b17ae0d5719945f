"""The plan of a campaign that hands out one good or several goods to each participant, from public parameters alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from confide.allocation.crowds import BundleCrowd, Crowd, SingleCrowd
from confide.allocation.expected import (
    Expected,
    made_up,
    made_up_bundles,
    predicted,
    predicted_bundles,
    second_bundles,
)
from confide.allocation.guarantees import mean_shift, prices_loss
from confide.allocation.market import Market
from confide.allocation.palloc import PAlloc
from confide.allocation.planning import hopeless, least_epsilon, worth_it
from confide.allocation.pmatch import PMatch
from confide.allocation.predicted import RUNS, CrowdPrediction
from confide.allocation.scales import PointsTogether, Ranks, RanksTogether, Scale
from confide.allocation.second_identities import CROWDS, LoneLies, SecondIds, crowd_size, lone_lies
from confide.allocation.sinkhorn_match import SinkhornMatch
from confide.allocation.tables import Rows
from confide.allocation.valuations import Valuations
from confide.campaign.kinds.allocation.config import (
    AuctionTable,
    BestTable,
    BundleAuctionTable,
    BundlesConfig,
    GoodsConfig,
    MatchingConfig,
    Method,
    ScalingTable,
)
from confide.campaign.kinds.allocation.words import (
    AuctionWords,
    BundleWords,
    MethodWords,
    ScalingWords,
    asked_for_goods,
    asked_for_order,
    worth,
)
from confide.campaign.kinds.skeleton import ShownPlan
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Truthfulness
from confide.contract.replanned import in_keys
from confide.contract.wire import parts_of, wire_name
from confide.privacy.clamping import added_delta
from confide.privacy.groups import group_loss

__all__ = ["MARKET_KEYS", "BundlesPlan", "GoodsPlan", "alternatives", "at_epsilon", "build", "build_bundles",
           "bundles_plan_of", "group_gain", "plan_of", "words_of"]

_MAKERS: Mapping[type[Any], Callable[..., Market]] = {
    AuctionTable: PMatch.for_budget,
    ScalingTable: SinkhornMatch.for_budget,
    BundleAuctionTable: PAlloc.for_budget,
}
_WORDS: Mapping[type[Market], MethodWords] = {
    PMatch: AuctionWords(), SinkhornMatch: ScalingWords(), PAlloc: BundleWords()}

_PLAINEST = {"increment": 1.0, "bid_cap": 1, "rounds": 1, "arity": 2}
"""The values of the auction's settings at which the auction needs the least noise."""

_PLACES = {"people": "people.count", "goods": "goods.count", "supply": "goods.supply", "epsilon": "privacy.epsilon",
           "delta": "privacy.delta", "failure_probability": "privacy.failure_probability",
           "neighbours": "privacy.neighbours", "on_overflow": "privacy.on_overflow",
           "certify_with": "privacy.certify_with"}
"""Mapping from a market's name of a parameter to its key in the campaign file."""


MARKET_KEYS = {"epsilon": "privacy.epsilon", "failure_probability": "privacy.failure_probability",
               "reserve": "auction.reserve"}
"""Mapping from a parameter of the mechanism, for which a refusal recommends another value, to its key in the campaign
file.
"""


def build(config: MatchingConfig) -> Market:
    """The mechanism that a `matching` campaign file describes, with all its settings.

    Raises:
        InvalidInput: an option is out of range; the message names the key.
        Refused: no setting is possible at the campaign's size, or there is enough of every good for everybody.
    """
    if not isinstance(config.auction, BestTable):
        return _made(config, config.auction)
    found, refusals = list[Market](), list[Refused]()
    for table in _usual(config):
        try:
            found.append(_made(config, table))
        except Refused as error:
            refusals.append(error)
    if not found:
        raise refusals[-1]
    scale = config.rule()

    def merit(market: Market) -> tuple[bool, float]:
        made = predicted(market, scale)
        return made.worth_it, made.share

    return max(found, key=merit)  # the first of equals


def at_epsilon(config: MatchingConfig, market: Market, epsilon: float) -> Market:
    """The mechanism of a campaign file at another epsilon. The method stays the same, even where "best" would choose
    another method at the new epsilon.

    Args:
        config: tables of the campaign file.
        market: mechanism at the file's own epsilon; only its method is used.
        epsilon: new epsilon in nats, > 0.

    Raises:
        Refused: at this epsilon, no setting of the method is possible.
    """
    table = config.auction
    if isinstance(table, BestTable):
        table = next(each for each in _usual(config) if isinstance(each, ScalingTable) is isinstance(
            market, SinkhornMatch))
    return _made(config.at_epsilon(epsilon), table)


def _usual(config: MatchingConfig) -> tuple[ScalingTable | AuctionTable, ...]:
    """The tables of both methods with their recommended settings; prices are charged where the file says so."""
    charge = config.auction.charge
    return ScalingTable(method="scaling", charge=charge), AuctionTable(method="auction", charge=charge)


def build_bundles(config: BundlesConfig) -> PAlloc:
    """The auction that a `bundles` campaign file describes, with all its settings.

    Raises:
        InvalidInput: an option is out of range; the message names the key.
        Refused: no setting is possible at the campaign's size.
    """
    scale = config.rule()
    highest = (scale.highest - scale.lowest) / scale.total if isinstance(scale, PointsTogether) else None
    found = _made(config, config.auction, valuation=config.valuation, highest=highest)
    if not isinstance(found, PAlloc):
        raise TypeError("the file describes another market")
    return found


def alternatives(config: MatchingConfig) -> dict[str, Market]:
    """Mapping from the name of each method to the mechanism with the settings recommended for the campaign's size.
    Methods that are refused at this size are left out.
    """
    found = dict[str, Market]()
    for table in _usual(config):
        with suppress(Refused):
            found[table.method] = _made(config, table)
    return found


def _made(config: GoodsConfig, table: Method | BundleAuctionTable, **more: Any) -> Market:
    names, supply = config.goods.listed()
    own = table.model_dump(exclude={"method"}, exclude_none=True)
    public: dict[str, Any] = {"people": config.people.count, "goods": len(names), "supply": supply,
                              **config.privacy.model_dump(), **more}
    rule, privacy = config.rule(), config.privacy
    if privacy.on_overflow == "truncate" and not privacy.delta:
        costs = added_delta(privacy.epsilon, privacy.failure_probability)
        raise Refused(f"privacy.on_overflow = 'truncate' costs a delta of {costs:.3g} with "
                      f"privacy.failure_probability = {privacy.failure_probability:g}, but privacy.delta is 0",
                      "add delta to [privacy] and to [budget], with a failure_probability below delta/(1 + e^epsilon); "
                      "or on_overflow = 'flag'")
    if isinstance(table, ScalingTable) and isinstance(rule, Ranks):
        own.setdefault("spread", rule.step(len(names)))
    try:
        try:
            return _MAKERS[type(table)](**public, **own)
        except Refused:
            if isinstance(table, AuctionTable):  # where the plainest auction is refused, it says why
                PMatch(**{**public, **_PLAINEST, "batch": config.people.count, **own})
            raise
    except InvalidInput as error:
        raise InvalidInput(_PLACES.get(error.field, f"auction.{error.field}"), error.problem, error.ways) from None


def words_of(market: Market) -> MethodWords:
    """The texts that pages show about the method of this mechanism."""
    return _WORDS[type(market)]


_QUICK = 1_000_000  # values of made-up people for whom every method is tried out


@dataclass(frozen=True, kw_only=True)
class GoodsPlan(ShownPlan):
    """The plan of a campaign that hands out goods: the mechanism, the names of the goods, and the scale of values.

    Args:
        market: mechanism that hands out the goods.
        config: tables of the campaign file.
        names: names of the k goods, in the order of the mechanism.
        scale: public rule that turns the numbers of a submission into values in [0, 1].
    """

    market: Market
    config: GoodsConfig
    names: tuple[str, ...]
    scale: Scale

    @property
    def mechanism(self) -> Market:
        """The mechanism that hands out the goods."""
        return self.market

    @property
    def words(self) -> MethodWords:
        """The texts that pages show about the method of the mechanism."""
        return words_of(self.market)

    @property
    def charges(self) -> bool:
        """Whether participants pay the prices of their goods."""
        return bool(getattr(self.market, "charge", False))

    @cached_property
    def others(self) -> Mapping[str, Expected]:
        """Mapping from the name of each method to its predicted result on synthetic participants, with recommended
        settings.

        The mapping is empty for bundles. The mapping is also empty for large campaigns, where the prediction takes
        long, unless an auction charges prices. An auction that charges prices may be much worse than the other method.
        """
        large = self.market.people * self.market.goods > _QUICK and not (self.charges and isinstance(
            self.market, PMatch))
        if not isinstance(self.config, MatchingConfig) or large:
            return {}
        return {name: predicted(market, self.scale) for name, market in alternatives(self.config).items()}

    @cached_property
    def lone(self) -> LoneLies | None:
        """The gain of a single participant from a lie, on synthetic populations; None for bundles, where no lies are
        searched for.
        """
        return searched(self)

    @property
    def second(self) -> SecondIds:
        """The gain of a participant from a second id, on synthetic populations."""
        if self.lone is None:
            raise AttributeError("the plan measures no second ids")
        return self.lone.second

    @cached_property
    def prediction(self) -> Expected:
        """The predicted result of the campaign on synthetic participants."""
        return predicted(self.market, self.scale)

    @property
    def column(self) -> str:
        """The column, in the table of participants' shares, that holds the good or the goods."""
        return "good"

    @property
    def asked(self) -> str:
        """The request to participants, in words: the numbers or the order that a row must hold."""
        return asked_for_goods(self.scale)

    def said(self, value: float) -> str:
        """A value or a price as text: on the scale from 0 to 1 and, where the campaign has points, in points too."""
        unit = self.scale.unit
        if unit == 1.0:
            return worth(value)
        return f"{worth(value)} ({value * unit:.4g} {f'of {unit:.6g}' if self.ranked else 'points'})"

    @property
    def ranked(self) -> str:
        """A clause with the value of rank 1 on the scale of the shown prices; empty where rows hold no ranks."""
        return f"rank 1 is worth {self.scale.points[0]:.6g}" if isinstance(self.scale, Ranks) else ""

    @property
    def in_points(self) -> str:
        """The value that counts as 1, on the scale of the shown prices: a number of points, or a number without a unit
        where rows hold ranks.
        """
        return f"{self.scale.unit:.6g}{'' if self.ranked else ' points'}"

    @property
    def most(self) -> str:
        """A phrase for the value that counts as 1 on the scale from 0 to 1."""
        return "the largest value that a row can state"

    def goods_of(self, share: Mapping[str, Any]) -> tuple[int, ...]:
        """The indices, from 0, of the goods in one participant's share, with one entry for each copy."""
        good = int(share["good"])
        return (good,) if good >= 0 else ()

    def called(self, goods: Sequence[int]) -> str:
        """The names of the goods with these indices, as one text with a count where a good occurs several times."""
        often = Counter(goods)
        found = [f"{self.names[good]}{f' ({count})' * (count > 1)}" for good, count in often.items()]
        return ", ".join(found) or "no good"

    def reported(self, record: Mapping[int, float]) -> Any:
        """A participant's record in the form that `MethodWords.story` takes. For single goods, the form is an array of
        the participant's values of the k goods, shape (k,).
        """
        row = np.zeros(len(self.names))
        for place, value in record.items():
            row[place] = value
        return row

    def worth_of(self, record: Any, goods: Sequence[int]) -> float:
        """The participant's value of several goods together, on the scale from 0 to 1."""
        return float(self.reported(record)[list(goods)].sum())

    def crowd(self, batches: Iterable[Rows]) -> Crowd:
        """The valuations of all participants, from the batches of rows that were read; private."""
        return SingleCrowd.of(batches, self.market.people, self.market.goods)

    def made_up(self, seed: int) -> Crowd:
        """Generate as many synthetic participants as the campaign has, with rows of the requested form."""
        people, goods = self.market.people, self.market.goods
        return SingleCrowd(Valuations.of(made_up(people, goods, self.scale, seed), people=people, goods=goods))

    def to_dict(self) -> dict[str, Any]:
        found, it = self.prediction, self.market
        return {
            "people": it.people, "goods": it.goods, "supply": list(it.copies), "method": wire_name(it),
            "epsilon": it.epsilon, "delta": it.delta, "failure_probability": it.failure_probability,
            "predicted_share": found.share, "predicted_range": list(found.span), "baseline_share": found.baseline,
            "baselines": dict(found.baselines),
            "lone_lies": None if self.lone is None else {
                name: value for name, value in _finite(self.lone).items() if name != "second"},
            "second_ids": _finite(self.second),
            "planned": {name.strip(): value for name, value in self.words.planned(it)},
        }


def _finite(found: LoneLies | SecondIds) -> dict[str, Any]:
    """The figures of a measurement, with None for a standard error that cannot be computed from a single population."""
    return {name: None if value == math.inf else value for name, value in parts_of(found).items()}


@lru_cache(maxsize=32)  # the pages of a campaign plan it again and again
@in_keys(MARKET_KEYS)
def plan_of(config: MatchingConfig, pages: Any) -> GoodsPlan:
    """The plan of a `matching` campaign file. The argument `pages` is an object with the functions that write the
    pages: see `ShownPlan`.

    Raises:
        InvalidInput: a key is out of range.
        Refused: there is enough of every good for everybody, or the market is predicted to be no better than an
            allocation without any reports.
    """
    names, supply = config.goods.listed()
    scale = config.rule()
    if min(supply) >= config.people.count:
        raise Refused(f"there are {min(supply):,} copies of every good, enough for all {config.people.count:,} people",
                      "give everybody their favourite good: nobody's values are needed for this")
    found = GoodsPlan(market=build(config), config=config, names=names, scale=scale, pages=pages)
    made = found.prediction
    if not made.worth_it:
        others = {name: predicted(market, scale) for name, market in alternatives(config).items()}
        better = [f"auction.method = {name!r}, predicted at {other.share:.2f}" for name, other in others.items()
                  if other.worth_it]
        enough = least_epsilon(lambda epsilon, runs: predicted(at_epsilon(config, found.market, epsilon), scale,
                                                               runs).crowds, config.privacy.epsilon, RUNS)
        raise hopeless(found.market, made.crowds, enough, *better, method=_method(found.market))
    return found


def _method(market: Market) -> str:
    """The name of a method in the words of a campaign file."""
    return "the method 'scaling' of [auction]" if isinstance(market, SinkhornMatch) else "the auction"


def searched(plan: GoodsPlan) -> LoneLies:
    """The mean gain of a single participant from a lie, measured on synthetic populations. Large campaigns are measured
    at a smaller size.
    """
    small = crowd_size(plan.market)
    return lone_lies(small, [made_up(small.people, small.goods, plan.scale, seed) for seed in range(1, CROWDS + 1)])


def group_gain(plan: GoodsPlan, size: int) -> float | None:
    """An upper bound on the gain of each member of a group of people who agree on their lies. The bound holds for
    members who would have been satisfied with the result of truthful reports.

    Args:
        plan: plan of a campaign that charges prices.
        size: number of people in the group.

    Returns:
        The bound in units of value, where 1 is the largest value; None where the plan promises nothing about the lie of
        a single participant, and for bundles.
    """
    it = plan.market
    promised = [each for each in plan.guarantees.of(Truthfulness) if not each.vacuous]
    if not promised or not isinstance(it, PMatch | SinkhornMatch):
        return None
    loss = it.prices_loss if isinstance(it, SinkhornMatch) else prices_loss(it)
    return promised[0].gain - mean_shift(loss) + mean_shift(group_loss(loss, size))


@dataclass(frozen=True, kw_only=True)
class BundlesPlan(GoodsPlan):
    """The plan of a campaign that hands out bundles of goods: the auction, the names of the goods, and the scale of
    values.

    Args:
        market: mechanism that hands out the goods.
        config: tables of the campaign file.
    """

    market: PAlloc
    config: BundlesConfig

    @cached_property
    def prediction(self) -> Expected:
        return predicted_bundles(self.market, self.scale)

    @cached_property
    def others(self) -> Mapping[str, Expected]:
        """An empty mapping, since there is only one method for bundles."""
        return {}

    @cached_property
    def lone(self) -> None:
        """None, since participants who value bundles have too many possible lies to search through."""
        return None

    @cached_property
    def second(self) -> SecondIds:
        return second_bundles(self.market, self.scale)

    @property
    def column(self) -> str:
        return "bundle"

    @property
    def most(self) -> str:
        return "the largest total value of one person's goods"

    @property
    def asked(self) -> str:
        scale, wanted, columns = self.scale, self.config.wanted, self.config.columns()
        if isinstance(scale, RanksTogether):
            return (f"{asked_for_order(scale.points, wanted)}. Your best {wanted} goods count, and their values add up")
        if not isinstance(scale, PointsTogether):
            return asked_for_goods(scale)
        total = (f"numbers add up to at most {scale.total:g}, or the row counts as an empty row. A value is the number "
                 f"{f'minus {scale.lowest:g}, ' if scale.lowest else ''}divided by {scale.total:g}")
        if self.config.counted:
            return (f"the value of one good to you, the value that a second good adds, and so on up to {wanted} goods: "
                    f"numbers from {scale.lowest:g} to {scale.highest:g}, in the columns "
                    f"{', '.join(columns[:6])}{', ...' * (len(columns) > 6)}. No number is above the number before it. "
                    f"The {total}")
        if wanted == 1:
            return f"{asked_for_goods(scale)}. Only your best good counts"
        count = "All goods that you get" if wanted >= len(columns) else f"The best {wanted} of your goods"
        return f"{asked_for_goods(scale)}. {count} count, and their values add up. Their {total}"

    def goods_of(self, share: Mapping[str, Any]) -> tuple[int, ...]:
        return tuple(share["bundle"])

    def reported(self, record: Any) -> Any:
        return record

    def worth_of(self, record: Any, goods: Sequence[int]) -> float:
        return self.market.valuation.bidder(record, self.market.goods).value(goods)

    def crowd(self, batches: Iterable[Rows]) -> BundleCrowd:
        return BundleCrowd.of(self.market.valuation, batches, self.market.people, self.market.goods)

    def made_up(self, seed: int) -> BundleCrowd:
        return made_up_bundles(self.market.valuation, self.market.people, self.market.goods, self.scale, seed=seed)

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "class": self.config.bundles.name, "bundle": self.market.largest_bundle,
                "wanted": self.config.wanted}


@lru_cache(maxsize=32)  # the pages of a campaign plan it again and again
@in_keys(MARKET_KEYS)
def bundles_plan_of(config: BundlesConfig, pages: Any) -> BundlesPlan:
    """The plan of a `bundles` campaign file. The argument `pages` is an object with the functions that write the pages:
    see `ShownPlan`.

    Raises:
        InvalidInput: a key is out of range.
        Refused: there is enough of every good for everybody, or the auction is predicted to be no better than an
            allocation without any reports.
    """
    market = build_bundles(config)
    if market.plentiful:
        raise Refused(f"there are {min(market.copies):,} copies of every good, enough for all "
                      f"{market.people:,} people",
                      "give everybody their favourite goods: nobody's values are needed for this")
    found = BundlesPlan(market=market, config=config, names=config.goods.listed()[0], scale=config.rule(), pages=pages)
    made = found.prediction
    if not worth_it(judged := _judged(config, made)):
        enough = least_epsilon(lambda epsilon, runs: _judged(config, predicted_bundles(
            build_bundles(config.at_epsilon(epsilon)), found.scale, runs)), config.privacy.epsilon, RUNS)
        raise hopeless(found.market, judged, enough, "smaller bundles (auction.bundle)", method=_method(found.market))
    return found


def _judged(config: BundlesConfig, made: Expected) -> Mapping[str, CrowdPrediction]:
    """The predictions that decide whether the plan is refused. In each prediction, the auction must be better than an
    allocation without reports.

    Where all goods are alike, only the prediction for the population "B" is used, in which participants' needs differ.
    The number of goods that each participant needs is then all that reports can say. About populations other than "B",
    the plan only warns.
    """
    return {name: one for name, one in made.crowds.items() if name == "B" or not config.counted}
