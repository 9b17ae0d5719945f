# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.evidence.wu_2017.private_matchings.lower_bounds import Floor as Floor
from confide.evidence.wu_2017.private_matchings.lower_bounds import allocation_floor as allocation_floor
from confide.evidence.wu_2017.private_matchings.lower_bounds import least_supply as least_supply
from confide.evidence.wu_2017.private_matchings.lower_bounds import price_floor as price_floor
from confide.evidence.wu_2017.private_matchings.lower_bounds import printed_supply_floor as printed_supply_floor
from confide.evidence.wu_2017.private_matchings.lower_bounds import reconstruction_floor as reconstruction_floor
from confide.evidence.wu_2017.private_matchings.lower_bounds import supply_floor as supply_floor
from confide.evidence.wu_2017.private_matchings.multiplicative import BidsPromise as BidsPromise
from confide.evidence.wu_2017.private_matchings.multiplicative import OptimumRange as OptimumRange
from confide.evidence.wu_2017.private_matchings.multiplicative import OptimumRelease as OptimumRelease
from confide.evidence.wu_2017.private_matchings.multiplicative import bids_promise as bids_promise
from confide.evidence.wu_2017.private_matchings.multiplicative import keep_promise as keep_promise
from confide.evidence.wu_2017.private_matchings.multiplicative import multiplicative_auction as multiplicative_auction
from confide.evidence.wu_2017.private_matchings.printed_auction import PrintedPMatch as PrintedPMatch
from confide.evidence.wu_2017.private_matchings.printed_billboard import PrintedBillboard as PrintedBillboard
from confide.evidence.wu_2017.private_matchings.printed_bundles import PrintedBundles as PrintedBundles
from confide.evidence.wu_2017.private_matchings.settings import BidsSetting as BidsSetting
from confide.evidence.wu_2017.private_matchings.settings import BundleSetting as BundleSetting
from confide.evidence.wu_2017.private_matchings.settings import MatchingSetting as MatchingSetting
from confide.evidence.wu_2017.private_matchings.smallest import Bookkeeping as Bookkeeping
from confide.evidence.wu_2017.private_matchings.smallest import LeastToRun as LeastToRun
from confide.evidence.wu_2017.private_matchings.smallest import Threshold as Threshold
from confide.evidence.wu_2017.private_matchings.smallest import bids_threshold as bids_threshold
from confide.evidence.wu_2017.private_matchings.smallest import bundle_threshold as bundle_threshold
from confide.evidence.wu_2017.private_matchings.smallest import least_to_run as least_to_run
from confide.evidence.wu_2017.private_matchings.smallest import matching_threshold as matching_threshold
from confide.evidence.wu_2017.private_matchings.smallest import smallest_epsilon as smallest_epsilon
from confide.evidence.wu_2017.private_matchings.smallest import smallest_people as smallest_people

__all__ = [
    "BidsPromise", "BidsSetting", "Bookkeeping", "BundleSetting", "Floor", "LeastToRun", "MatchingSetting",
    "OptimumRange", "OptimumRelease", "PrintedBillboard", "PrintedBundles", "PrintedPMatch", "Threshold",
    "allocation_floor", "bids_promise", "bids_threshold", "bundle_threshold", "keep_promise", "least_supply",
    "least_to_run", "matching_threshold", "multiplicative_auction", "price_floor", "printed_supply_floor",
    "reconstruction_floor", "smallest_epsilon", "smallest_people", "supply_floor",
]
