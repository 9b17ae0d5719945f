# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.allocation import bundles as bundles
from confide.allocation.ascending_auction import Auction as Auction
from confide.allocation.ascending_auction import Rules as Rules
from confide.allocation.ascending_mechanism import Ascending as Ascending
from confide.allocation.audited_reach import auction_reach as auction_reach
from confide.allocation.audited_reach import bundle_reach as bundle_reach
from confide.allocation.baselines import AuctionRun as AuctionRun
from confide.allocation.baselines import exact_auction as exact_auction
from confide.allocation.baselines import greedy as greedy
from confide.allocation.baselines import lottery as lottery
from confide.allocation.baselines import serial_dictatorship as serial_dictatorship
from confide.allocation.billboards import AuctionBillboard as AuctionBillboard
from confide.allocation.billboards import Clearing as Clearing
from confide.allocation.billboards import WelfareCertificate as WelfareCertificate
from confide.allocation.bundles.auction import BundleRules as BundleRules
from confide.allocation.decoding import BundleReplay as BundleReplay
from confide.allocation.decoding import Replay as Replay
from confide.allocation.decoding import decode as decode
from confide.allocation.decoding import decode_bundle as decode_bundle
from confide.allocation.decoding import replay as replay
from confide.allocation.decoding import replay_bundle as replay_bundle
from confide.allocation.duality import bundle_dual_bound as bundle_dual_bound
from confide.allocation.duality import dual_bound as dual_bound
from confide.allocation.guarantees import EquilibriumPromises as EquilibriumPromises
from confide.allocation.guarantees import bundle_welfare_bound as bundle_welfare_bound
from confide.allocation.guarantees import lie_gain as lie_gain
from confide.allocation.instances import PriceGadgets as PriceGadgets
from confide.allocation.instances import SpyGadgets as SpyGadgets
from confide.allocation.instances import instance_a as instance_a
from confide.allocation.instances import instance_b as instance_b
from confide.allocation.instances import sparse_instance as sparse_instance
from confide.allocation.optimum.solver import Handout as Handout
from confide.allocation.optimum.solver import OptimalAllocation as OptimalAllocation
from confide.allocation.optimum.solver import exact_optimum as exact_optimum
from confide.allocation.palloc import PAlloc as PAlloc
from confide.allocation.planning import AllocationPlan as AllocationPlan
from confide.allocation.planning import plan as plan
from confide.allocation.pmatch import PMatch as PMatch
from confide.allocation.predicted import CrowdPrediction as CrowdPrediction
from confide.allocation.prices import PriceRelease as PriceRelease
from confide.allocation.prices import release_prices as release_prices
from confide.allocation.sinkhorn_match import ScalingBillboard as ScalingBillboard
from confide.allocation.sinkhorn_match import SinkhornMatch as SinkhornMatch
from confide.allocation.valuations import Valuations as Valuations

__all__ = [
    "AllocationPlan", "Ascending", "Auction", "AuctionBillboard", "AuctionRun", "BundleReplay", "BundleRules",
    "Clearing", "CrowdPrediction", "EquilibriumPromises", "Handout", "OptimalAllocation", "PAlloc", "PMatch",
    "PriceGadgets", "PriceRelease", "Replay", "Rules", "ScalingBillboard", "SinkhornMatch", "SpyGadgets", "Valuations",
    "WelfareCertificate", "auction_reach", "bundle_dual_bound", "bundle_reach", "bundle_welfare_bound", "bundles",
    "decode", "decode_bundle", "dual_bound", "exact_auction", "exact_optimum", "greedy", "instance_a", "instance_b",
    "lie_gain", "lottery", "plan", "release_prices", "replay", "replay_bundle", "serial_dictatorship",
    "sparse_instance",
]
