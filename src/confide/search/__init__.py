"""Targeted search of a private network: who is found is published, and nobody else's contacts show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.search.baselines import FoundTargets, random_order, target
    from confide.search.component_search import ComponentSearch, search_component, sfs
    from confide.search.discovery import affiliation_network, compare_searches, infect
    from confide.search.exact_laws import exact_law, rewirings
    from confide.search.graph import DegreeBoundViolated, Dropped, Graph
    from confide.search.noise_kinds import call_law, examined_chances
    from confide.search.oracles import Investigation, OracleInconsistent, OracleUnavailable, SeedNotTargeted
    from confide.search.planning import SearchPlan, compositions, multipliers, plan
    from confide.search.releases import CappedOutcome, OperatorLog, PublicRelease, SearchCertificate
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
    from confide.search.targeted import PTarget, Search


__all__ = [
    "CappedOutcome",
    "CommonNeighbours",
    "CommonNeighboursMulti",
    "ComponentSearch",
    "Contacts",
    "DegreeBoundViolated",
    "Dropped",
    "FoundTargets",
    "Graph",
    "Investigation",
    "LargestFlow",
    "OperatorLog",
    "OracleInconsistent",
    "OracleUnavailable",
    "PTarget",
    "Paths",
    "PublicRelease",
    "Search",
    "SearchCertificate",
    "SearchPlan",
    "SeedNotTargeted",
    "Statistic",
    "Triangles",
    "Walks",
    "affiliation_network",
    "call_law",
    "compare_searches",
    "compositions",
    "exact_law",
    "examined_chances",
    "infect",
    "multipliers",
    "plan",
    "random_order",
    "rewirings",
    "search_component",
    "sfs",
    "target",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "baselines": ("FoundTargets", "random_order", "target"),
        "component_search": ("ComponentSearch", "search_component", "sfs"),
        "discovery": ("affiliation_network", "compare_searches", "infect"),
        "exact_laws": ("exact_law", "rewirings"),
        "graph": ("DegreeBoundViolated", "Dropped", "Graph"),
        "noise_kinds": ("call_law", "examined_chances"),
        "oracles": ("Investigation", "OracleInconsistent", "OracleUnavailable", "SeedNotTargeted"),
        "planning": ("SearchPlan", "compositions", "multipliers", "plan"),
        "releases": ("CappedOutcome", "OperatorLog", "PublicRelease", "SearchCertificate"),
        "statistics": (
            "CommonNeighbours", "CommonNeighboursMulti", "Contacts", "LargestFlow", "Paths", "Statistic", "Triangles",
            "Walks",
        ),
        "targeted": ("PTarget", "Search"),
    },
    renamed={"Findings": "FoundTargets", "Flow": "LargestFlow"},
    moved={
        "evidence.wu_2017.targeted_search": (
            "coauthors_like_dblp", "costars_like_imdb", "film_casts", "printed_search",
        ),
    },
)
