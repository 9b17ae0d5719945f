"""The kind `search`: from a campaign file to a plan, a network, the list of the found, a study, an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from confide.audit import AuditReport, audit
from confide.campaign.kinds.searching import pages_after
from confide.campaign.kinds.searching.checking import checked
from confide.campaign.kinds.searching.config import SearchConfig
from confide.campaign.kinds.searching.held import HeldNetwork
from confide.campaign.kinds.searching.pages_after import AnyOutcome
from confide.campaign.kinds.searching.plan import PlannedSearch, plan_of
from confide.campaign.kinds.searching.waiting import play
from confide.contract.custody import CustodiansKind
from confide.contract.errors import InvalidInput
from confide.contract.kinds import Check, Collection, Progress
from confide.contract.mechanism import NoiseSource
from confide.contract.outcome import Outcome, PublicOutcome, SimulatedOutcome
from confide.contract.presentation import Section
from confide.contract.wire import wire_types
from confide.search.releases import PublicRelease, SearchCertificate
from confide.search.statistics import CommonNeighbours, CommonNeighboursMulti, LargestFlow, Paths, Walks
from confide.search.targeted import PTarget

__all__ = ["KIND", "SearchKind"]


class SearchKind(CustodiansKind):
    """Find the members of a hidden group in a private network, and publish who they are."""

    name = "search"
    summary = "find the hidden members of a group in a private network; nobody else's contacts show"
    config: type[Any] = SearchConfig
    types: ClassVar[Mapping[str, type]] = wire_types(
        CommonNeighbours, CommonNeighboursMulti, LargestFlow, PTarget, Paths, PublicRelease, SearchCertificate, Walks)

    @property
    def template(self) -> str:
        """A commented campaign file to start from."""
        return files("confide.campaign.kinds").joinpath("templates", "search.toml").read_text(encoding="utf-8")

    def plan(self, config: SearchConfig) -> PlannedSearch:
        """Calibrate from the file's public parameters."""
        return plan_of(config)

    def files(self, config: SearchConfig) -> Sequence[tuple[str, str]]:
        """Of contacts, people and answers; and what a run writes while it waits."""
        ids = [] if config.graph.vertices is None else [("graph.vertices", config.graph.vertices)]
        return [("graph.source", config.graph.source), *ids, ("oracle.source", config.oracle.source),
                ("oracle.waiting", config.oracle.waiting), ("oracle.journal", config.oracle.journal)]

    # ---- the run

    def collect(
        self, config: SearchConfig, plan: PlannedSearch, folder: Path, progress: Progress | None = None
    ) -> Collection:
        """Open the tables and check their columns; contacts and answers are read by the run."""
        data = HeldNetwork.open(config, folder)
        return Collection(data=data, rejected=data.rejected)

    def journal(self, config: SearchConfig) -> str:
        """Where the noise of an unfinished search is kept."""
        return config.oracle.journal

    def publish_on(self, config: SearchConfig) -> date | None:
        """The day before which no list is published."""
        return config.release.publish_on

    def play(
        self, config: SearchConfig, plan: PlannedSearch, folder: Path, data: Any, noise: NoiseSource, keep: Path | None
    ) -> Outcome | SimulatedOutcome:
        """The search, which waits where an answer is missing."""
        return play(config, plan.mechanism, folder, data, noise, keep)

    def check(
        self, config: SearchConfig, plan: PlannedSearch, folder: Path, progress: Progress | None = None
    ) -> Check:
        """One look at contacts and answers, for the custodian alone: see `checked`."""
        return checked(config, folder)

    # ---- results

    def result(self, plan: PlannedSearch, outcome: PublicOutcome | SimulatedOutcome) -> Sequence[Section]:
        return pages_after.result_sections(_as_settled(plan, outcome), outcome)

    def tables(self, plan: PlannedSearch, outcome: PublicOutcome | SimulatedOutcome) -> Mapping[str, pa.Table]:
        """`found`: everybody who was found, in order, with the component and how; and `ending`, one line."""
        return pages_after.result_tables(outcome)

    def explain(self, plan: PlannedSearch, outcome: AnyOutcome, record: Any, index: int) -> Sequence[Section]:
        return pages_after.explain(_as_settled(plan, outcome))

    def study(self, plan: PlannedSearch, collection: Collection, outcome: SimulatedOutcome) -> Sequence[Section]:
        from confide.campaign.kinds.searching.study import study_sections

        return study_sections(_as_settled(plan, outcome), collection.data.read(), outcome)

    def audit(self, plan: PlannedSearch, seed: int, progress: Progress | None = None) -> AuditReport:
        from confide.search.audited import search

        return audit(search(plan.mechanism, seed, charged=plan.charged), progress)


def _as_settled(plan: PlannedSearch, outcome: AnyOutcome) -> PlannedSearch:
    """The plan with the mechanism that really ran, whatever this version would plan today."""
    if not isinstance(outcome.mechanism, PTarget):
        raise InvalidInput("outcome", "is of no search")
    return plan if plan.mechanism == outcome.mechanism else replace(plan, mechanism=outcome.mechanism)


KIND = SearchKind()
