"""The kind `bundles`: as `matching`, for people who want several goods each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from confide.allocation.billboards import Billboard, Clearing, WelfareCertificate
from confide.allocation.bundles import Additive, CappedAdditive, SymmetricConcave, UnitDemand
from confide.allocation.bundles.rows import record_of
from confide.allocation.bundles.slots import BundleRules
from confide.allocation.campaign.bundle_config import BundlesConfig
from confide.allocation.campaign.bundle_plan import BundlesPlan, bundles_plan_of
from confide.allocation.campaign.kind import MatchingKind
from confide.allocation.palloc import PAlloc
from confide.allocation.reading.tables import Rows

__all__ = ["KIND", "BundlesKind"]


class BundlesKind(MatchingKind):
    """Hand several goods to each person, by what everybody would give for bundles of them."""

    name = "bundles"
    summary = "hand out scarce goods, several to each person, by what people would give for bundles, kept secret"
    config: type[Any] = BundlesConfig
    types: ClassVar[Mapping[str, type]] = {each.__name__: each for each in (
        Additive, Billboard, BundleRules, CappedAdditive, Clearing, PAlloc, SymmetricConcave, UnitDemand,
        WelfareCertificate)}
    template_file = "bundles_template.toml"

    def plan(self, config: Any) -> BundlesPlan:
        """Calibrate from the file's public parameters."""
        return bundles_plan_of(config)

    def one(self, plan: Any, batch: Rows, place: int) -> Any:
        """A record as the class has it."""
        return record_of(plan.market.valuation, batch.row(place))


KIND = BundlesKind()
