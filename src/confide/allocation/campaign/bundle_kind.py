"""The kind `bundles`: as `matching`, for people who want several goods each."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from confide.allocation.billboards import Billboard, Clearing, WelfareCertificate
from confide.allocation.bundles import Additive, CappedAdditive, SymmetricConcave, UnitDemand
from confide.allocation.bundles.rows import record_of
from confide.allocation.bundles.slots import BundleRules
from confide.allocation.campaign.bundle_config import BundlesConfig
from confide.allocation.campaign.bundle_plan import BundlesPlan, bundles_plan_of
from confide.allocation.campaign.kind import MatchingKind
from confide.allocation.palloc import PAlloc
from confide.allocation.reading.tables import Rows, typed
from confide.contract.errors import InvalidInput
from confide.tables import Roster

__all__ = ["KIND", "BundlesKind"]


class BundlesKind(MatchingKind):
    """Hand several goods to each person, by what everybody would give for bundles of them."""

    name = "bundles"
    summary = "hand out scarce goods, several to each person, by what people would give for bundles, kept secret"
    config: type[Any] = BundlesConfig
    types: ClassVar[Mapping[str, type]] = {each.__name__: each for each in (
        Additive, Billboard, BundleRules, CappedAdditive, Clearing, PAlloc, SymmetricConcave, UnitDemand,
        WelfareCertificate)}

    @property
    def template(self) -> str:
        return files("confide.allocation.campaign").joinpath("bundles_template.toml").read_text(encoding="utf-8")

    def plan(self, config: Any) -> BundlesPlan:
        """Calibrate from the file's public parameters."""
        return bundles_plan_of(config)

    def record(self, config: Any, plan: Any, folder: Path, identity: str) -> tuple[Any, int]:
        """One participant's record as the class has it (None where none is usable), and her index."""
        row, index = super().record(config, plan, folder, identity)
        return None if row is None else record_of(plan.market.valuation, row), index

    def parse_record(self, config: Any, plan: Any, identity: str, values: Mapping[str, str]) -> tuple[Any, int]:
        """A row as its owner types it, coded as the file's would be; and her index."""
        index = Roster(config.people.count).rank(identity)
        row = typed(values, goods=config.columns(), scale=plan.scale)
        places = sorted(row)
        alone = Rows(np.array([index]), np.array([0, len(row)]), np.array(places, dtype=np.int32),
                     np.array([row[place] for place in places], dtype=np.float32))
        if not len(config.usable(alone, {}).index):
            raise InvalidInput("record", config.unusable(), "whoever hands in such a row counts as one without")
        return record_of(plan.market.valuation, row), index


KIND = BundlesKind()
