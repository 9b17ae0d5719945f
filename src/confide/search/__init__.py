"""Targeted search in a private network of contacts. Targets are people with a property that only an examination shows.
The list of found targets is published, and the list reveals almost nothing about the contacts of people who are not
targets.
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
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
