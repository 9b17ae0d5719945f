"""What a campaign that hands out bundles would give, from public parameters alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from confide.allocation.palloc import PAlloc
from confide.allocation.planning.advice import hopeless, least_epsilon, worth_it
from confide.allocation.planning.predicted import RUNS, CrowdPrediction
from confide.allocation.planning.second_ids import SecondIds
from confide.allocation.reading.tables import Rows
from confide.campaign.kinds.allocation.asked import asked_for_goods, asked_for_order
from confide.campaign.kinds.allocation.bundle_config import BundlesConfig, PointsTogether, RanksTogether
from confide.campaign.kinds.allocation.bundle_predicted import made_up_bundles, predicted_bundles, second_bundles
from confide.campaign.kinds.allocation.crowds import BundleCrowd
from confide.campaign.kinds.allocation.methods import MARKET_KEYS, build_bundles
from confide.campaign.kinds.allocation.plan import GoodsPlan
from confide.campaign.kinds.allocation.predicted import Expected
from confide.contract.errors import Refused
from confide.contract.replanned import in_keys

__all__ = ["BundlesPlan", "bundles_plan_of"]


@dataclass(frozen=True, kw_only=True)
class BundlesPlan(GoodsPlan):
    """An auction of bundles with the names of its goods.

    Args:
        market: the mechanism.
        config: of the file.
    """

    market: PAlloc
    config: BundlesConfig

    @cached_property
    def prediction(self) -> Expected:
        return predicted_bundles(self.market, self.scale)

    @cached_property
    def others(self) -> Mapping[str, Expected]:
        """None: there is one method."""
        return {}

    @cached_property
    def lone(self) -> None:
        """None: there are too many lies to search."""
        return None

    @cached_property
    def second(self) -> SecondIds:
        return second_bundles(self.market, self.scale)

    @property
    def column(self) -> str:
        return "bundle"

    @property
    def most(self) -> str:
        return "the most that all goods of one person may be worth together"

    @property
    def asked(self) -> str:
        scale, wanted, columns = self.scale, self.config.wanted, self.config.columns()
        if isinstance(scale, RanksTogether):
            return (f"{asked_for_order(scale.points, wanted)}; of your goods the best {wanted} count, and their worth "
                    "adds up")
        if not isinstance(scale, PointsTogether):
            return asked_for_goods(scale)
        total = (f"together {scale.total:g} at most, or the row counts as an empty one; a value is the number "
                 f"{f'less {scale.lowest:g} ' if scale.lowest else ''}divided by {scale.total:g}")
        if self.config.counted:
            return ("what one good is worth to you, whichever it is, what a second one adds, and so on up to "
                    f"{wanted}: numbers from {scale.lowest:g} to {scale.highest:g}, in the columns "
                    f"{', '.join(columns[:6])}"
                    f"{', ...' * (len(columns) > 6)}, none above the one before, {total}")
        if wanted == 1:
            return f"{asked_for_goods(scale)}; one good counts, the best"
        count = "all of them" if wanted >= len(columns) else f"the best {wanted}"
        return f"{asked_for_goods(scale)}. Of the goods that you get {count} count, and their worth adds up: {total}"

    def goods_of(self, share: Mapping[str, Any]) -> tuple[int, ...]:
        return tuple(share["bundle"])

    def told(self, record: Any) -> Any:
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
def bundles_plan_of(config: BundlesConfig) -> BundlesPlan:
    """The plan of a file.

    Raises:
        InvalidInput: a key out of range.
        Refused: there is enough of everything for everybody; or what is planned is predicted to be no better than to
            ask nobody.
    """
    market = build_bundles(config)
    if market.plentiful:
        raise Refused(f"there are {min(market.copies):,} copies of every good, enough for all "
                      f"{market.people:,} people",
                      "hand everybody what she likes best: nobody's values have to be told")
    found = BundlesPlan(market=market, config=config, names=config.goods.listed()[0], scale=config.rule())
    made = found.prediction
    if not worth_it(judged := _judged(config, made)):
        enough = least_epsilon(lambda epsilon, runs: _judged(config, predicted_bundles(
            build_bundles(config.at_epsilon(epsilon)), found.scale, runs)), config.privacy.epsilon, RUNS)
        raise hopeless(found.market, judged, enough, "smaller bundles (auction.bundle)")
    return found


def _judged(config: BundlesConfig, made: Expected) -> Mapping[str, CrowdPrediction]:
    """The crowds that must do better than if nobody of them were asked: where any good will do, those whose needs
    differ, since there is nothing else to ask for. The plan warns of the others.
    """
    return {name: one for name, one in made.crowds.items() if name == "B" or not config.counted}
