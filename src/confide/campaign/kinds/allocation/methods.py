"""The mechanisms behind `[auction]`: a table from what a file says to a market, and from a market to words.

Everything else of a campaign speaks of a `Market` alone. Another method is another entry of `_MAKERS` and `_WORDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from confide.allocation.market import Market
from confide.allocation.palloc import PAlloc
from confide.allocation.pmatch import PMatch
from confide.allocation.reading.scales import Ranks
from confide.allocation.sinkhorn_match import SinkhornMatch
from confide.campaign.kinds.allocation.auction_words import AuctionWords
from confide.campaign.kinds.allocation.bundle_config import BundleAuctionTable, BundlesConfig, PointsTogether
from confide.campaign.kinds.allocation.bundle_words import BundleWords
from confide.campaign.kinds.allocation.config import (
    AuctionTable,
    BestTable,
    GoodsConfig,
    MatchingConfig,
    Method,
    ScalingTable,
)
from confide.campaign.kinds.allocation.predicted import predicted
from confide.campaign.kinds.allocation.scaling_words import ScalingWords
from confide.campaign.kinds.allocation.words import MethodWords
from confide.contract.errors import InvalidInput, Refused
from confide.privacy.clamping import added_delta

__all__ = ["MARKET_KEYS", "alternatives", "at_epsilon", "build", "build_bundles", "words_of"]

_MAKERS: Mapping[type[Any], Callable[..., Market]] = {
    AuctionTable: PMatch.for_budget,
    ScalingTable: SinkhornMatch.for_budget,
    BundleAuctionTable: PAlloc.for_budget,
}
_WORDS: Mapping[type[Market], MethodWords] = {
    PMatch: AuctionWords(), SinkhornMatch: ScalingWords(), PAlloc: BundleWords()}

_PLAINEST = {"increment": 1.0, "bid_cap": 1, "rounds": 1, "arity": 2}
"""Settings of an auction with the least noise."""

_PLACES = {"people": "people.count", "goods": "goods.count", "supply": "goods.supply", "epsilon": "privacy.epsilon",
           "delta": "privacy.delta", "failure_probability": "privacy.failure_probability",
           "neighbours": "privacy.neighbours", "on_overflow": "privacy.on_overflow",
           "certify_with": "privacy.certify_with"}
"""What a market calls a parameter -> the key of the file."""


MARKET_KEYS = {"epsilon": "privacy.epsilon", "failure_probability": "privacy.failure_probability",
               "reserve": "auction.reserve"}
"""What a market calls a setting of a remedy -> the key of the file."""


def build(config: MatchingConfig) -> Market:
    """The market that a file asks for.

    Raises:
        InvalidInput: an option that is out of range; names the key.
        Refused: no setting is possible at these sizes, or there is enough of everything for everybody.
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
    """A file's market with another epsilon: by the same method, whatever "best" would then be.

    Args:
        config: of the file.
        market: that it asks for.
        epsilon: > 0.

    Raises:
        Refused: no setting is possible.
    """
    table = config.auction
    if isinstance(table, BestTable):
        table = next(each for each in _usual(config) if isinstance(each, ScalingTable) is isinstance(
            market, SinkhornMatch))
    return _made(config.at_epsilon(epsilon), table)


def _usual(config: MatchingConfig) -> tuple[ScalingTable | AuctionTable, ...]:
    """Every method with what is recommended for it; prices are charged where the file says so."""
    charge = config.auction.charge
    return ScalingTable(method="scaling", charge=charge), AuctionTable(method="auction", charge=charge)


def build_bundles(config: BundlesConfig) -> PAlloc:
    """The auction of bundles that a file asks for.

    Raises:
        InvalidInput: an option that is out of range; names the key.
        Refused: no setting is possible at these sizes.
    """
    scale = config.rule()
    highest = (scale.highest - scale.lowest) / scale.total if isinstance(scale, PointsTogether) else None
    found = _made(config, config.auction, valuation=config.valuation, highest=highest)
    if not isinstance(found, PAlloc):
        raise TypeError("another market was made")
    return found


def alternatives(config: MatchingConfig) -> dict[str, Market]:
    """Each method with what is recommended for these sizes; without those that are refused."""
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
                      f"privacy.failure_probability = {privacy.failure_probability:g}, and privacy.delta is 0",
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
    """What pages say of a market's method."""
    return _WORDS[type(market)]
