"""Assignment of scarce goods to bidders with secret values, by auctions under joint differential privacy.

The public, and all other bidders together, learn almost nothing about any one bidder's values. The public record of a
run is called the billboard. Each bidder computes the good that they were assigned from the billboard and their own row
of values.

>>> from confide.allocation import PMatch, instance_a
>>> from confide.privacy.noise import Noise
>>> auction = PMatch.for_budget(epsilon=2.0, people=20_000, goods=4, supply=4_000)
>>> values = instance_a(20_000, 4, seed=1)
>>> outcome = auction.run(values, Noise.simulated(1))
>>> auction.decode(values[7], 7, outcome.billboard)["good"] == outcome.shares["good"][7].as_py()
True
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "ascending_auction": ("Auction", "Rules"),
        "ascending_mechanism": ("Ascending",),
        "audited_reach": ("auction_reach", "bundle_reach"),
        "baselines": ("AuctionRun", "exact_auction", "greedy", "lottery", "serial_dictatorship"),
        "billboards": ("AuctionBillboard", "Clearing", "WelfareCertificate"),
        "bundles.auction": ("BundleRules",),
        "decoding": ("BundleReplay", "Replay", "decode", "decode_bundle", "replay", "replay_bundle"),
        "duality": ("bundle_dual_bound", "dual_bound"),
        "guarantees": ("EquilibriumPromises", "bundle_welfare_bound", "lie_gain"),
        "instances": ("PriceGadgets", "SpyGadgets", "instance_a", "instance_b", "sparse_instance"),
        "optimum.solver": ("Handout", "OptimalAllocation", "exact_optimum"),
        "palloc": ("PAlloc",),
        "planning": ("AllocationPlan", "plan"),
        "pmatch": ("PMatch",),
        "predicted": ("CrowdPrediction",),
        "prices": ("PriceRelease", "release_prices"),
        "sinkhorn_match": ("ScalingBillboard", "SinkhornMatch"),
        "valuations": ("Valuations",),
    },
    packages=("bundles",),
    renamed={"Billboard": "AuctionBillboard", "BundleWalk": "BundleReplay", "Optimum": "OptimalAllocation",
             "Prediction": "CrowdPrediction", "Walk": "Replay", "walk": "replay", "walk_bundle": "replay_bundle"},
    moved={
        "evidence.wu_2017.private_matchings": (
            "BidsPromise", "Floor", "OptimumRange", "OptimumRelease", "PrintedBundles", "allocation_floor",
            "bids_promise", "keep_promise", "least_supply", "multiplicative_auction", "price_floor",
            "printed_supply_floor", "reconstruction_floor", "supply_floor",
        ),
    },
    old_packages={"audit": "confide.audit.audit(confide.allocation.audited.matching(...))",
                  "printed": "confide.evidence.wu_2017.private_matchings"},
)
