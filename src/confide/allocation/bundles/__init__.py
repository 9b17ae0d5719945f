"""Valuations of bundles of goods: classes of gross-substitutes valuations, their demand, and a test that can refute the
gross-substitutes property.

The class of the valuations is public, and is the same for all bidders. A bidder's record determines their own valuation
in the class.

>>> from confide.allocation.bundles import CappedAdditiveValuation, falsify_gross_substitutes
>>> bidder = CappedAdditiveValuation(cap=2).bidder([0.5, 0.25, 0.4], goods=3)
>>> bidder.value((0, 1, 2)), bidder.pick((0,), [0.0, 0.0, 0.2])
(0.9, 1)
>>> falsify_gross_substitutes(bidder, goods=3, trials=1000, seed=1) is None
True
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "bidders": ("Bidder", "BundleClass", "Population"),
        "classes": ("Additive", "Assignment", "CappedAdditiveValuation", "SymmetricConcave", "UnitDemandValuation"),
        "oracles": ("NotSubstitutes", "OracleRecord", "UserOracle", "falsify_gross_substitutes"),
    },
    renamed={"CappedAdditive": "CappedAdditiveValuation", "UnitDemand": "UnitDemandValuation"},
)
