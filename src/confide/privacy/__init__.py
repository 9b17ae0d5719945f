"""Privacy: losses and their conversions, noise, spend events, the accountant and the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.privacy.accounting import Accountant
    from confide.privacy.divergences import (
        approx_max_divergence,
        exact_epsilon,
        exact_mu,
        hockey_stick,
        max_divergence,
        renyi_divergence,
    )
    from confide.privacy.events import ApproxEvent, Composed, Event, PureEvent, Repeated, ZCDPEvent
    from confide.privacy.gaussian import gaussian_sigma, gdp_mu
    from confide.privacy.ledger import Account, Ledger
    from confide.privacy.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP, gaussian_delta
    from confide.privacy.noise import Noise
    from confide.privacy.sparse_vector import SparseVector
    from confide.privacy.tree_counter import TreeCounter


__all__ = [
    "GDP",
    "ZCDP",
    "Account",
    "Accountant",
    "ApproxDP",
    "ApproxEvent",
    "Composed",
    "Event",
    "Ledger",
    "Noise",
    "PureDP",
    "PureEvent",
    "RenyiDP",
    "Repeated",
    "SparseVector",
    "TreeCounter",
    "ZCDPEvent",
    "approx_max_divergence",
    "exact_epsilon",
    "exact_mu",
    "gaussian_delta",
    "gaussian_sigma",
    "gdp_mu",
    "hockey_stick",
    "max_divergence",
    "renyi_divergence",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "accounting": ("Accountant",),
        "divergences": (
            "approx_max_divergence", "exact_epsilon", "exact_mu", "hockey_stick", "max_divergence", "renyi_divergence",
        ),
        "events": ("ApproxEvent", "Composed", "Event", "PureEvent", "Repeated", "ZCDPEvent"),
        "gaussian": ("gaussian_sigma", "gdp_mu"),
        "ledger": ("Account", "Ledger"),
        "losses": ("GDP", "ApproxDP", "PureDP", "RenyiDP", "ZCDP", "gaussian_delta"),
        "noise": ("Noise",),
        "sparse_vector": ("SparseVector",),
        "tree_counter": ("TreeCounter",),
    },
)
