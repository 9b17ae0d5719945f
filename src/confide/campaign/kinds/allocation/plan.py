"""What a campaign that hands out goods would give, from public parameters alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from confide.allocation.market import Market
from confide.allocation.planning.advice import hopeless, least_epsilon
from confide.allocation.planning.lone_lies import LoneLies
from confide.allocation.planning.predicted import RUNS
from confide.allocation.planning.second_ids import SecondIds
from confide.allocation.pmatch import PMatch
from confide.allocation.reading.scales import Scale
from confide.allocation.reading.tables import Rows
from confide.allocation.valuations import Valuations
from confide.campaign.kinds.allocation.asked import asked_for_goods
from confide.campaign.kinds.allocation.config import GoodsConfig, MatchingConfig
from confide.campaign.kinds.allocation.crowds import Crowd, SingleCrowd
from confide.campaign.kinds.allocation.methods import MARKET_KEYS, alternatives, at_epsilon, build, words_of
from confide.campaign.kinds.allocation.predicted import Expected, made_up, predicted
from confide.campaign.kinds.allocation.words import MethodWords, worth
from confide.contract.errors import Refused
from confide.contract.guarantees import Guarantees
from confide.contract.presentation import Section
from confide.contract.replanned import in_keys
from confide.contract.wire import parts_of, wire_name

__all__ = ["GoodsPlan", "plan_of"]

_QUICK = 1_000_000  # values of made-up people for whom every method is tried out


@dataclass(frozen=True, kw_only=True)
class GoodsPlan:
    """A market with the names of its goods.

    Args:
        market: the mechanism.
        config: of the file.
        names: of the goods.
        scale: from what people write to values.
    """

    market: Market
    config: GoodsConfig
    names: tuple[str, ...]
    scale: Scale

    @property
    def mechanism(self) -> Market:
        """The market."""
        return self.market

    @cached_property
    def guarantees(self) -> Guarantees:
        return self.market.guarantees()

    @property
    def words(self) -> MethodWords:
        """What pages say of its method."""
        return words_of(self.market)

    @property
    def charges(self) -> bool:
        """Whether prices are charged."""
        return bool(getattr(self.market, "charge", False))

    @cached_property
    def others(self) -> Mapping[str, Expected]:
        """What made-up people would get by each method, with what is recommended for it; none where it takes long,
        but for an auction that charges, which may be much the worse for it.
        """
        large = self.market.people * self.market.goods > _QUICK and not (self.charges and isinstance(
            self.market, PMatch))
        if not isinstance(self.config, MatchingConfig) or large:
            return {}
        return {name: predicted(market, self.scale) for name, market in alternatives(self.config).items()}

    @cached_property
    def lone(self) -> LoneLies | None:
        """What single people gain; None where that is not searched for."""
        from confide.campaign.kinds.allocation.selling_words import searched

        return searched(self)

    @property
    def second(self) -> SecondIds:
        """What a second id gains."""
        if self.lone is None:
            raise AttributeError("second ids are not measured")
        return self.lone.second

    @cached_property
    def prediction(self) -> Expected:
        """What made-up people would get."""
        return predicted(self.market, self.scale)

    @property
    def column(self) -> str:
        """Of the shares."""
        return "good"

    @property
    def asked(self) -> str:
        """What people write, in words."""
        return asked_for_goods(self.scale)

    def said(self, value: float) -> str:
        """A value or a price in words: on the scale from 0 to 1, and in the campaign's own points."""
        unit = self.scale.unit
        return worth(value) if unit == 1.0 else f"{worth(value)} ({value * unit:.4g} points)"

    @property
    def most(self) -> str:
        """What counts as 1 on the scale of values."""
        return "the most that somebody can write"

    def goods_of(self, share: Mapping[str, Any]) -> tuple[int, ...]:
        """The goods of one person's share, ascending, one for each copy."""
        good = int(share["good"])
        return (good,) if good >= 0 else ()

    def called(self, goods: Sequence[int]) -> str:
        """Goods by their names."""
        often = Counter(goods)
        found = [f"{self.names[good]}{f' ({count})' * (count > 1)}" for good, count in often.items()]
        return ", ".join(found) or "no good"

    def told(self, record: Mapping[int, float]) -> Any:
        """A record as the market's words take it."""
        row = np.zeros(len(self.names))
        for place, value in record.items():
            row[place] = value
        return row

    def worth_of(self, record: Any, goods: Sequence[int]) -> float:
        """What goods are worth to her together, on the scale from 0 to 1."""
        return float(self.told(record)[list(goods)].sum())

    def crowd(self, batches: Iterable[Rows]) -> Crowd:
        """Everybody, of what was collected; private."""
        return SingleCrowd.of(batches, self.market.people, self.market.goods)

    def made_up(self, seed: int) -> Crowd:
        """As many made-up people, who write what is asked for."""
        people, goods = self.market.people, self.market.goods
        return SingleCrowd(Valuations.of(made_up(people, goods, self.scale, seed), people=people, goods=goods))

    def sections(self) -> Sequence[Section]:
        from confide.campaign.kinds.allocation.pages import plan_sections

        return plan_sections(self)

    def offer(self) -> Sequence[Section]:
        from confide.campaign.kinds.allocation.pages import offer_sections

        return offer_sections(self)

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
    """Its figures; None for an error of one crowd alone."""
    return {name: None if value == math.inf else value for name, value in parts_of(found).items()}


@lru_cache(maxsize=32)  # the pages of a campaign plan it again and again
@in_keys(MARKET_KEYS)
def plan_of(config: MatchingConfig) -> GoodsPlan:
    """The plan of a file.

    Raises:
        InvalidInput: a key out of range.
        Refused: there is enough of everything for everybody; or what is planned is predicted to be no better than to
            ask nobody.
    """
    names, supply = config.goods.listed()
    scale = config.rule()
    if min(supply) >= config.people.count:
        raise Refused(f"there are {min(supply):,} copies of every good, enough for all {config.people.count:,} people",
                      "hand everybody her favourite: nothing has to be decided together, and nobody's values be told")
    found = GoodsPlan(market=build(config), config=config, names=names, scale=scale)
    made = found.prediction
    if not made.worth_it:
        others = {name: predicted(market, scale) for name, market in alternatives(config).items()}
        better = [f"auction.method = {name!r}, predicted at {other.share:.2f}" for name, other in others.items()
                  if other.worth_it]
        enough = least_epsilon(lambda epsilon, runs: predicted(at_epsilon(config, found.market, epsilon), scale,
                                                               runs).crowds, config.privacy.epsilon, RUNS)
        raise hopeless(found.market, made.crowds, enough, *better)
    return found
