"""The kind `search`: it finds members of a hidden group in a private network. This module connects all steps of a
campaign: the plan of its file, the network, the list of people found, a study, and an audit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from confide.audit import AuditReport
from confide.campaign.kinds.searching import pages
from confide.campaign.kinds.searching.held import HeldNetwork
from confide.campaign.kinds.searching.plan import PlannedSearch, SearchConfig, plan_of
from confide.campaign.kinds.searching.waiting import play, used_before
from confide.campaign.kinds.skeleton import KindSkeleton
from confide.contract.asked import CustodiansKind
from confide.contract.errors import InvalidInput
from confide.contract.kinds import Check, Collection, Progress
from confide.contract.mechanism import NoiseSource
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.contract.presentation import Block, Section, Table, Text
from confide.contract.wire import wire_types
from confide.search.releases import PublicRelease, SearchCertificate
from confide.search.statistics import CommonNeighbours, CommonNeighboursMulti, LargestFlow, Paths, Walks
from confide.search.targeted import PTarget

__all__ = ["KIND", "SearchKind"]


class SearchKind(KindSkeleton, CustodiansKind):
    """Find the members of a hidden group in a private network of contacts, and publish the list of the members
    found.
    """

    name = "search"
    summary = "find the hidden members of a group in a private network, while noise protects other people's contacts"
    config: type[Any] = SearchConfig
    runs = PTarget
    types: ClassVar[Mapping[str, type]] = wire_types(
        CommonNeighbours, CommonNeighboursMulti, LargestFlow, PTarget, Paths, PublicRelease, SearchCertificate, Walks)

    def plan(self, config: SearchConfig) -> PlannedSearch:
        """Calibrate the search from the public parameters of the campaign file."""
        return plan_of(config, pages)

    def files(self, config: SearchConfig) -> Sequence[tuple[str, str]]:
        """The files that the campaign file names, as pairs (key, path): contacts, people, answers, and the files that a
        run writes while it waits for answers.
        """
        ids = [] if config.graph.vertices is None else [("graph.vertices", config.graph.vertices)]
        return [("graph.source", config.graph.source), *ids, ("oracle.source", config.oracle.source),
                ("oracle.waiting", config.oracle.waiting), ("oracle.journal", config.oracle.journal)]

    # ---- the run

    def collect(
        self, config: SearchConfig, plan: PlannedSearch, folder: Path, progress: Progress | None = None
    ) -> Collection:
        """Open the tables and check their columns. Contacts and answers are read later, during the run."""
        data = HeldNetwork.open(config, folder)
        return Collection(data=data, rejected=data.rejected)

    def journal(self, config: SearchConfig) -> str:
        """The path of the folder that keeps the noise of an unfinished search."""
        return config.oracle.journal

    def publish_on(self, config: SearchConfig) -> date | None:
        """The earliest day on which the list is published; None where the file sets no day."""
        return config.release.publish_on

    def play(
        self, config: SearchConfig, plan: PlannedSearch, folder: Path, data: Any, noise: NoiseSource, keep: Path | None
    ) -> Outcome | SimulatedOutcome:
        """Run the search to its end, or until an answer is missing; see `play` in `searching.waiting`."""
        return play(config, plan.mechanism, folder, data, noise, keep)

    def check(
        self, config: SearchConfig, plan: PlannedSearch, folder: Path, progress: Progress | None = None
    ) -> Check:
        """Read contacts and answers once, and return the findings, which are for the custodian alone."""
        return _checked(config, folder)

    # ---- results

    def audit(self, plan: PlannedSearch, seed: int, progress: Progress | None = None) -> AuditReport:
        from confide.audit import audit
        from confide.search.audited import search

        return audit(search(plan.mechanism, seed, charged=plan.charged), progress)


KIND = SearchKind()


_SHOWN = 50  # ids on a page


def _checked(config: SearchConfig, folder: Path) -> Check:
    """The numbers of contacts, people and answers in the tables, with all answers that are unreadable, belong to nobody
    on the list, or contradict other answers.

    Raises:
        InvalidInput: a table cannot be used, the graph is not admissible, or a seed is no target.
    """
    data = HeldNetwork.open(config, folder)
    graph = data.graph()
    known, clashing = data.answered(graph)
    bound = config.privacy.degree_bound
    if bound is not None:
        graph.check_degree(bound)
    sown = graph.indices_of(list(config.search.seeds))
    if (known[np.setdiff1d(sown, clashing)] == 0).any():
        raise InvalidInput("search.seeds", "has a person who is not a member, by the answers",
                           "every seed must be a confirmed member")
    used = used_before(config, folder)
    places = dict(zip(used, graph.indices_of(list(used)).tolist() if used else [], strict=True))
    changed = [each for each, status in used.items() if known[places[each]] >= 0 and known[places[each]] != status]
    twice = graph.ids_of(clashing)
    answered = int((known >= 0).sum())
    rows: list[tuple[str, int]] = [
        ("people (fixed and public)", graph.people), ("pairs in contact", graph.edges),
        ("largest number of contacts of anybody", graph.largest_degree),
        ("lines that name the same person twice", graph.dropped.self_loops),
        ("people with an answer", answered), ("members among the people with an answer", int((known == 1).sum())),
        ("people without an answer", graph.people - answered)]
    blocks: list[Block] = [Table(columns=("what", "number"), rows=tuple(rows))]
    if twice or changed:
        problems = [*((each, "two different answers") for each in twice),
                    *((each, "another answer than the search used: " + ("member" if used[each] else "no member"))
                      for each in changed)]
        blocks.append(Table(
            columns=("id", "reason why a run refuses the answer"),
            rows=tuple((str(each), why) for each, why in problems[:_SHOWN]),
            note=f"{len(problems):,} answers contradict others, and the table shows at most {_SHOWN} of them. A "
                 "person's membership does not change: correct the answers before a run."))
    blocks.append(Text((
        "Nothing was charged. These numbers follow from contacts and answers: keep them to yourself.",
        "If the search needs a missing or unreadable answer, it asks for this answer. A missing answer never counts as "
        "an answer. The rejected rows show the unreadable answers.",
        "Do not change the campaign file because of this check: its promises do not cover a bound or threshold that "
        "follows from the network.")))
    own = Section(title="The network (private: for the operator alone)", private=True, blocks=tuple(blocks))
    return Check(slots=graph.people, rows=data.rows, usable=answered, rejected=dict(data.rejected), tolerated=None,
                 held=True, own=(own,))
