"""Targeted search of a private network: who is found is published, and nobody else's contacts show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.search.baselines import Findings, random_order, target
    from confide.search.component_search import ComponentSearch, search_component, sfs
    from confide.search.oracles import Investigation, OracleInconsistent, OracleUnavailable, SeedNotTargeted
    from confide.search.printed import printed_search
    from confide.search.releases import OperatorLog, PublicRelease, SearchCertificate
    from confide.search.targeted import PTarget, Search


__all__ = [
    "ComponentSearch",
    "Findings",
    "Investigation",
    "OperatorLog",
    "OracleInconsistent",
    "OracleUnavailable",
    "PTarget",
    "PublicRelease",
    "Search",
    "SearchCertificate",
    "SeedNotTargeted",
    "printed_search",
    "random_order",
    "search_component",
    "sfs",
    "target",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "baselines": ("Findings", "random_order", "target"),
        "component_search": ("ComponentSearch", "search_component", "sfs"),
        "oracles": ("Investigation", "OracleInconsistent", "OracleUnavailable", "SeedNotTargeted"),
        "printed": ("printed_search",),
        "releases": ("OperatorLog", "PublicRelease", "SearchCertificate"),
        "targeted": ("PTarget", "Search"),
    },
)
