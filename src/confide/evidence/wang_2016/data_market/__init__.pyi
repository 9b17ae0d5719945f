# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.evidence.wang_2016.data_market.enumeration import enumerated_interim as enumerated_interim
from confide.evidence.wang_2016.data_market.enumeration import genie_replica as genie_replica
from confide.evidence.wang_2016.data_market.enumeration import relabelled_rule as relabelled_rule
from confide.evidence.wang_2016.data_market.genie import GenieMarket as GenieMarket
from confide.evidence.wang_2016.data_market.heterogeneous import HeterogeneousMarket as HeterogeneousMarket
from confide.evidence.wang_2016.data_market.least_pair import PairOptimum as PairOptimum
from confide.evidence.wang_2016.data_market.least_pair import least_pair_payment as least_pair_payment

__all__ = [
    "GenieMarket", "HeterogeneousMarket", "PairOptimum", "enumerated_interim", "genie_replica", "least_pair_payment",
    "relabelled_rule",
]
