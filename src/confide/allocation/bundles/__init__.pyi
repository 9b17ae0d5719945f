# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.allocation.bundles.bidders import Bidder as Bidder
from confide.allocation.bundles.bidders import BundleClass as BundleClass
from confide.allocation.bundles.bidders import Population as Population
from confide.allocation.bundles.classes import Additive as Additive
from confide.allocation.bundles.classes import Assignment as Assignment
from confide.allocation.bundles.classes import CappedAdditiveValuation as CappedAdditiveValuation
from confide.allocation.bundles.classes import SymmetricConcave as SymmetricConcave
from confide.allocation.bundles.classes import UnitDemandValuation as UnitDemandValuation
from confide.allocation.bundles.oracles import NotSubstitutes as NotSubstitutes
from confide.allocation.bundles.oracles import OracleRecord as OracleRecord
from confide.allocation.bundles.oracles import UserOracle as UserOracle
from confide.allocation.bundles.oracles import falsify_gross_substitutes as falsify_gross_substitutes

__all__ = [
    "Additive", "Assignment", "Bidder", "BundleClass", "CappedAdditiveValuation", "NotSubstitutes", "OracleRecord",
    "Population", "SymmetricConcave", "UnitDemandValuation", "UserOracle", "falsify_gross_substitutes",
]
