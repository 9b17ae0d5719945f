# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.search.baselines import FoundTargets as FoundTargets
from confide.search.baselines import random_order as random_order
from confide.search.baselines import target as target
from confide.search.component_search import ComponentSearch as ComponentSearch
from confide.search.component_search import search_component as search_component
from confide.search.component_search import sfs as sfs
from confide.search.discovery import affiliation_network as affiliation_network
from confide.search.discovery import compare_searches as compare_searches
from confide.search.discovery import infect as infect
from confide.search.exact_laws import exact_law as exact_law
from confide.search.exact_laws import rewirings as rewirings
from confide.search.graph import DegreeBoundViolated as DegreeBoundViolated
from confide.search.graph import Dropped as Dropped
from confide.search.graph import Graph as Graph
from confide.search.noise_kinds import call_law as call_law
from confide.search.noise_kinds import examined_chances as examined_chances
from confide.search.oracles import Investigation as Investigation
from confide.search.oracles import OracleInconsistent as OracleInconsistent
from confide.search.oracles import OracleUnavailable as OracleUnavailable
from confide.search.oracles import SeedNotTargeted as SeedNotTargeted
from confide.search.planning import SearchPlan as SearchPlan
from confide.search.planning import compositions as compositions
from confide.search.planning import multipliers as multipliers
from confide.search.planning import plan as plan
from confide.search.releases import CappedOutcome as CappedOutcome
from confide.search.releases import OperatorLog as OperatorLog
from confide.search.releases import PublicRelease as PublicRelease
from confide.search.releases import SearchCertificate as SearchCertificate
from confide.search.statistics import CommonNeighbours as CommonNeighbours
from confide.search.statistics import CommonNeighboursMulti as CommonNeighboursMulti
from confide.search.statistics import Contacts as Contacts
from confide.search.statistics import LargestFlow as LargestFlow
from confide.search.statistics import Paths as Paths
from confide.search.statistics import Statistic as Statistic
from confide.search.statistics import Triangles as Triangles
from confide.search.statistics import Walks as Walks
from confide.search.targeted import PTarget as PTarget
from confide.search.targeted import Search as Search

__all__ = [
    "CappedOutcome", "CommonNeighbours", "CommonNeighboursMulti", "ComponentSearch", "Contacts", "DegreeBoundViolated",
    "Dropped", "FoundTargets", "Graph", "Investigation", "LargestFlow", "OperatorLog", "OracleInconsistent",
    "OracleUnavailable", "PTarget", "Paths", "PublicRelease", "Search", "SearchCertificate", "SearchPlan",
    "SeedNotTargeted", "Statistic", "Triangles", "Walks", "affiliation_network", "call_law", "compare_searches",
    "compositions", "exact_law", "examined_chances", "infect", "multipliers", "plan", "random_order", "rewirings",
    "search_component", "sfs", "target",
]
