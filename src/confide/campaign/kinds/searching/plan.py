"""The tables of a `search` campaign file, and the plan of the search. Every key is public, and nothing comes from
data.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from confide.campaign.kinds.skeleton import ShownPlan
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy
from confide.contract.known_keys import Keys, keys_of
from confide.contract.replanned import nearest
from confide.search.identifiers import MOST
from confide.search.noise_kinds import NoiseKind
from confide.search.planning import RANDOM, SearchPlan, compositions
from confide.search.statistics import (
    CommonNeighbours,
    CommonNeighboursMulti,
    Contacts,
    LargestFlow,
    Paths,
    Statistic,
    Triangles,
    Walks,
)
from confide.search.stopping import Stop
from confide.search.targeted import PTarget

__all__ = ["PLACES", "PlannedSearch", "SearchConfig", "plan_of", "statistic_of"]

PLACES = {
    "people": "graph.people", "components": "search.components", "stopping_target": "search.stopping_target",
    "epsilon": "privacy.epsilon", "degree_bound": "privacy.degree_bound", "stop": "search.stop",
    "statistic": "search.statistic", "length": "search.length", "noise_kind": "search.noise",
    "delta": "privacy.delta", "public_threshold": "search.public_threshold",
    "largest_threshold": "search.largest_threshold", "seed_vertex": "search.seeds",
}
"""Mapping from the name of a parameter of the mechanism to the key in the campaign file."""

Name = Annotated[str, StringConstraints(min_length=1)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
StatisticName = Literal["common-neighbours", "common-neighbours-multi", "paths", "walks", "flow", "contacts",
                        "triangles"]
_COUNTED: dict[str, type[Statistic]] = {
    "common-neighbours": CommonNeighbours, "common-neighbours-multi": CommonNeighboursMulti, "contacts": Contacts}
_OVER_EDGES: dict[str, type[Paths | Walks | LargestFlow]] = {"paths": Paths, "walks": Walks, "flow": LargestFlow}


class GraphTable(Keys):
    """`[graph]`: the contacts, which are private, and the list of people, which is public."""

    source: Name = Field(description="a .parquet, .csv or .arrow file, a line for each contact, or PACKAGE:NAME")
    first: Name = Field(default="first", description="column with the id of the first person")
    second: Name = Field(default="second", description="column with the id of the second person")
    weight: Name | None = Field(default=None, description=
        "column with numbers from 0, such as minutes together, which are added up over all lines of two people")
    at_least: Finite | None = Field(default=None, description=
        "least weight for two people to be in contact; without weight, the least number of lines")
    people: int = Field(ge=2, le=MOST, description="n, number of people; fixed and public")
    vertices: Name | None = Field(default=None, description=
        "file with everybody's id, which is public; by default the ids are 0 to people - 1")
    id: Name = Field(default="id", description="column of the ids in the file of vertices")


@keys_of(PTarget, "stopping_target public_threshold largest_threshold", optional=True)
@keys_of(PTarget, "", noise="noise_kind")
@keys_of(Paths, "length", optional=True)
class SearchTable(Keys):
    """`[search]`: the known members at which to start, the number of groups to find, and the rule for giving up."""

    if TYPE_CHECKING:  # keys of the mechanism that are read here
        stopping_target: int | None
        public_threshold: float | None
        largest_threshold: int | None
        noise: NoiseKind
        length: int | None

    seeds: tuple[int | str, ...] = Field(min_length=1, description=
        "ids of known members, chosen without a look at the contacts")
    components: int = Field(ge=2, description="k, the largest number of groups to find, including the first seed's")
    stop: Stop = Field(default="smoothed", description="rule by which a search for another group gives up: none "
                                                       "(never), public (at a threshold in this file), private or "
                                                       "smoothed (at a threshold that is drawn for K)")
    statistic: StatisticName = Field(default="common-neighbours", description="number by which people are compared")


@keys_of(PTarget, "epsilon delta")
@keys_of(PTarget, "degree_bound", optional=True)
class PrivacyTable(Keys):
    """`[privacy]`: the bound on the information that the list may disclose about one protected person's contacts."""

    if TYPE_CHECKING:
        epsilon: float
        delta: float
        degree_bound: int | None


class OracleTable(Keys):
    """`[oracle]`: the table with the answers about examined people, and the file in which a waiting run lists the
    people to examine next.
    """

    source: Name = Field(description="table with a line for each examined person")
    id: Name = Field(default="id", description="column with the ids")
    targeted: Name = Field(default="targeted", description=
        "column with true, false, yes, no, 1 or 0; an empty cell means that there is no answer yet")
    waiting: Name = Field(default="to_examine.csv", description="private file that lists the people to examine next")
    at_once: int = Field(default=20, ge=1, le=1_000_000, description=
        "number of people listed together during the search for another group; some of these examinations may be "
        "unnecessary")
    journal: Name = Field(default="search_journal", description=
        "private folder with the noise of an unfinished search, which is destroyed at the end")


class ReleaseTable(Keys):
    """`[release]`: the earliest day on which the list is published."""

    publish_on: date | None = Field(default=None, description=
        "day, YYYY-MM-DD without quotes: the first run on this day or later (UTC) publishes the list. Choose a day on "
        "which the search has surely ended")


class SearchConfig(Keys):
    """All tables of the kind `search`."""

    graph: GraphTable
    search: SearchTable
    privacy: PrivacyTable
    oracle: OracleTable
    release: ReleaseTable = ReleaseTable()

    @model_validator(mode="after")
    def _together(self) -> SearchConfig:
        seeds, graph = self.search.seeds, self.graph
        if len({type(seed) for seed in seeds}) > 1:
            raise InvalidInput("search.seeds", "has whole numbers and texts",
                               "write all ids as whole numbers, or all as texts")
        if len(set(seeds)) < len(seeds):
            raise InvalidInput("search.seeds", "has one person twice")
        if graph.vertices is None and not all(
                isinstance(seed, int) and 0 <= seed < graph.people for seed in seeds):
            raise InvalidInput("search.seeds", "has a person who is not one of the people",
                               f"give ids from 0 to {graph.people - 1:,}, or list all ids in a file: graph.vertices")
        if graph.weight is not None and graph.at_least is None:
            raise InvalidInput("graph.at_least", "is missing", "add it, since graph.weight needs it")
        others = {os.path.normpath(each) for each in (
            graph.source, graph.vertices, self.oracle.source) if each is not None}
        if os.path.normpath(self.oracle.waiting) in {*others, os.path.normpath(self.oracle.journal)}:
            raise InvalidInput("oracle.waiting", "is the name of another file", "give it another name")
        if os.path.normpath(self.oracle.journal) in others:
            raise InvalidInput("oracle.journal", "is the name of another file", "give it another name")
        return self

    @property
    def texts(self) -> bool:
        """Whether the ids of people are texts, and not whole numbers."""
        return isinstance(self.search.seeds[0], str)


def statistic_of(table: SearchTable) -> Statistic:
    """The statistic of a person's contacts that the campaign file names, by which the search chooses the next person to
    examine.

    Raises:
        InvalidInput: the file gives a length to a statistic that has none.
    """
    length: dict[str, Any] = {} if table.length is None else {"length": table.length}
    if table.statistic in _OVER_EDGES:
        return _OVER_EDGES[table.statistic](**length)
    if length:
        raise InvalidInput("search.length", f"does not belong to {table.statistic!r}",
                           "it belongs to 'paths', 'walks' and 'flow'")
    return Triangles() if table.statistic == "triangles" else _COUNTED[table.statistic]()


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedSearch(ShownPlan, SearchPlan):
    """The plan of a campaign of the kind `search`.

    Args:
        config: tables of the campaign file.
    """

    config: SearchConfig

    @cached_property
    def printed(self) -> float | None:
        """The total epsilon that Wu 2017 claims for the same noise. The claim is false, and pages show this epsilon
        only for comparison. The result is None if the noise is not Laplace noise, or if the run makes no search that
        costs privacy.

        Source: Wu 2017, section 7.5, (k-1)/b for noise of scale b; a selection costs twice that (erratum 2).
        """
        it = self.mechanism
        return it.calls * it.call.sensitivity / it.call.noise_scale if it.noise_kind == "laplace" and it.calls else None

    @cached_property
    def sums(self) -> dict[str, float]:
        """Mapping from each rule of composition to the epsilon of all searches that cost privacy together, at the
        file's delta. The mapping is empty at delta 0.
        """
        it = self.mechanism
        return compositions(it.calls, it.epsilon, it.delta, it.stop, it.noise_kind) if it.delta else {}

    @property
    def charged(self) -> float:
        """The epsilon that the ledger charges under its usual rule: the smaller of the plain sum of epsilons and the
        sum by concentrated composition.
        """
        return min(self.total, self.sums.get("two-step", math.inf))

    @property
    def accuracy(self) -> Accuracy | None:
        """The promise about the randomly drawn threshold at which the search gives up; None where the stopping rule
        draws no threshold.
        """
        return next(iter(self.guarantees.of(Accuracy)), None)

    def to_dict(self) -> dict[str, Any]:
        it, accuracy = self.mechanism, self.accuracy
        return {
            "people": it.people, "components": it.components, "searches": it.calls, "stop": it.stop,
            "statistic": it.statistic.name, "noise": it.noise_kind, "scale": it.call.noise_scale,
            "degree_bound": it.degree_bound, "stopping_target": it.stopping_target,
            "epsilon_each": it.epsilon, "epsilon_in_all": self.total, "delta": it.delta,
            "stated": self.loss.epsilon, "charged": self.charged, "sums": self.sums,
            "multiplier": _grown(self.total), "printed_multiplier": None if self.printed is None else
            _grown(self.printed),
            "threshold": None if accuracy is None else {"bound": accuracy.bound, "vacuous": accuracy.vacuous,
                                                        "failure_probability": accuracy.failure_probability},
            "gives_up_after": self.gives_up,
            "publish_on": None if self.config.release.publish_on is None else
            self.config.release.publish_on.isoformat(),
            "worth": [{"value": value, "before": before, "at_random": self.people / 2,
                       "gives_up_before": self.missed(value)}
                      for value, before in self.worth],
        }


def _grown(loss: float) -> float:
    return math.exp(loss) if loss < 700 else math.inf


@lru_cache(maxsize=16)  # the pages of a campaign plan it again and again
def plan_of(config: SearchConfig, pages: Any = None) -> PlannedSearch:
    """The plan of a `search` campaign file, from its public parameters. The argument `pages` is an object with the
    functions that write the pages: see `ShownPlan`.

    Raises:
        InvalidInput: a setting of the file is not valid; the message names the key.
        Refused: the noise is larger than every possible statistic of a person, so that examining people in a random
            order is as good and costs no privacy.
    """
    search, privacy = config.search, config.privacy
    try:
        mechanism = PTarget(
            config.graph.people, search.components, search.stopping_target, privacy.epsilon, privacy.degree_bound,
            search.stop, statistic=statistic_of(search), noise_kind=search.noise, delta=privacy.delta,
            public_threshold=search.public_threshold, largest_threshold=search.largest_threshold)
        _ = mechanism.guarantees()
    except InvalidInput as error:
        raise InvalidInput(PLACES.get(error.field, error.field), error.problem, error.limit) from None
    plan = PlannedSearch(config=config, mechanism=mechanism, pages=pages)
    value, before = plan.worth[-1]
    if before >= RANDOM * plan.people:
        raise Refused(
            f"privacy.epsilon: at {privacy.epsilon:g}, the noise has scale {mechanism.call.noise_scale:,.4g}. Even a "
            f"hidden member with the largest possible value ({value:,}) would come after {before / plan.people:.0%} of "
            "all people. A random order is as good, and discloses nothing about anybody's contacts",
            nearest(config, plan_of, "privacy.epsilon", privacy.epsilon)
            or "spend more on each search, or search for fewer components at the same total")
    return plan
