"""Scarce goods when values are secret: private auctions under joint differential privacy.

Everybody else together, and the public, learn almost nothing of what a bidder would give; she finds her own good from
a public billboard and her own row.

>>> from confide.allocation import PMatch, instance_a
>>> from confide.privacy.noise import Noise
>>> auction = PMatch.recommended(people=20_000, goods=4, supply=4_000, epsilon=2.0)
>>> values = instance_a(20_000, 4, seed=1)
>>> outcome = auction.run(values, Noise.simulated(1))
>>> auction.decode(values[7], 7, outcome.billboard)["good"] == outcome.shares["good"][7].as_py()
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.allocation.auction import Auction, Rules
    from confide.allocation.billboards import Billboard, Clearing, WelfareCertificate
    from confide.allocation.decoding import Walk, decode, walk
    from confide.allocation.duality import dual_bound
    from confide.allocation.instances import instance_a, instance_b
    from confide.allocation.pmatch import PMatch
    from confide.allocation.prices import PriceRelease, release_prices
    from confide.allocation.sinkhorn_match import ScalingBillboard, SinkhornMatch
    from confide.allocation.valuations import Valuations

__all__ = [
    "Auction",
    "Billboard",
    "Clearing",
    "PMatch",
    "PriceRelease",
    "Rules",
    "ScalingBillboard",
    "SinkhornMatch",
    "Valuations",
    "Walk",
    "WelfareCertificate",
    "decode",
    "dual_bound",
    "instance_a",
    "instance_b",
    "release_prices",
    "walk",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "auction": ("Auction", "Rules"),
        "billboards": ("Billboard", "Clearing", "WelfareCertificate"),
        "decoding": ("Walk", "decode", "walk"),
        "duality": ("dual_bound",),
        "instances": ("instance_a", "instance_b"),
        "pmatch": ("PMatch",),
        "prices": ("PriceRelease", "release_prices"),
        "sinkhorn_match": ("ScalingBillboard", "SinkhornMatch"),
        "valuations": ("Valuations",),
    },
)
