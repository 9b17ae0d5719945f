"""The kind `bundles`: it hands out goods as `matching` does, to people who want several goods each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from confide.allocation.billboards import AuctionBillboard, Clearing, WelfareCertificate
from confide.allocation.bundles import Additive, CappedAdditiveValuation, SymmetricConcave, UnitDemandValuation
from confide.allocation.bundles.auction import BundleRules
from confide.allocation.bundles.rows import record_of
from confide.allocation.palloc import PAlloc
from confide.allocation.scales import PointsTogether
from confide.allocation.tables import Rows
from confide.campaign.kinds.allocation import pages
from confide.campaign.kinds.allocation.config import FILE_WORDS, BundlesConfig
from confide.campaign.kinds.allocation.plan import BundlesPlan, bundles_plan_of
from confide.campaign.kinds.allocation.words import fields_of_goods
from confide.campaign.kinds.matching import MatchingKind
from confide.contract.asked import Field
from confide.contract.file_words import FileWords
from confide.contract.wire import wire_types

__all__ = ["KIND", "BundlesKind"]


class BundlesKind(MatchingKind):
    """Hand out scarce goods, several to a participant, according to the reported values of bundles of goods."""

    name = "bundles"
    summary = "hand out scarce goods, several to each person, by people's private values of bundles"
    config: type[Any] = BundlesConfig
    file_words: ClassVar[FileWords] = FILE_WORDS
    types: ClassVar[Mapping[str, type]] = wire_types(
        Additive, AuctionBillboard, BundleRules, CappedAdditiveValuation, Clearing, PAlloc, SymmetricConcave,
        UnitDemandValuation, WelfareCertificate)

    def plan(self, config: Any) -> BundlesPlan:
        """Calibrate the auction from the file's public parameters."""
        return bundles_plan_of(config, pages)

    def asked(self, config: Any, plan: Any) -> Sequence[Field]:
        """Form fields with a number for each good. Where all goods are alike, the form has one field for the value that
        each further good adds.
        """
        columns, scale = config.columns(), plan.scale
        if not config.counted:
            return fields_of_goods([(name, name) for name in columns], scale, _together(config))
        labels = ["How much is one good worth to you?",
                  *(f"How much value does good number {count} add to the goods before "
                    "it?" for count in range(2, len(columns) + 1))]
        return fields_of_goods(list(zip(columns, labels, strict=True)), scale, _together(config))

    def one(self, plan: Any, batch: Rows, place: int) -> Any:
        """The record of the participant at this position of the batch, in the form that the campaign's valuation class
        takes.
        """
        return record_of(plan.market.valuation, batch.row(place))


def _together(config: BundlesConfig) -> str:
    """A sentence on the rule that a row must keep as a whole; empty where the limits of its single numbers imply the
    rule.
    """
    scale = config.rule()
    if not isinstance(scale, PointsTogether):
        return ""
    if not config.counted and (scale.highest - scale.lowest) * config.wanted <= scale.total:
        return ""
    return f"A row cannot be used if {config.unusable()}."


KIND = BundlesKind()
