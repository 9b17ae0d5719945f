"""Privacy: losses and their conversions, noise, spend events, the accountant and the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.privacy.accounting import Accountant
    from confide.privacy.clamping import clamped_discrete_laplace, clamping_bound, clamping_delta
    from confide.privacy.divergences import (
        approx_max_divergence,
        exact_epsilon,
        exact_mu,
        hockey_stick,
        max_divergence,
        renyi_divergence,
    )
    from confide.privacy.events import (
        ApproxEvent,
        BoundedRangeEvent,
        Composed,
        Event,
        GDPEvent,
        PureEvent,
        RandomizedResponseEvent,
        Repeated,
        ZCDPEvent,
    )
    from confide.privacy.filter import Filter
    from confide.privacy.gaussian import gaussian_noise_std, gdp_mu
    from confide.privacy.ledger import Account, Ledger
    from confide.privacy.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP, gaussian_delta
    from confide.privacy.noise import Noise
    from confide.privacy.response import estimated_shares, randomized_response, response_table
    from confide.privacy.selection import (
        exponential_law,
        exponential_mechanism,
        noisy_max_law,
        report_noisy_max,
        selection_error,
    )
    from confide.privacy.sparse_vector import SparseVector
    from confide.privacy.tree_counter import TreeCounter


__all__ = [
    "GDP",
    "ZCDP",
    "Account",
    "Accountant",
    "ApproxDP",
    "ApproxEvent",
    "BoundedRangeEvent",
    "Composed",
    "Event",
    "Filter",
    "GDPEvent",
    "Ledger",
    "Noise",
    "PureDP",
    "PureEvent",
    "RandomizedResponseEvent",
    "RenyiDP",
    "Repeated",
    "SparseVector",
    "TreeCounter",
    "ZCDPEvent",
    "approx_max_divergence",
    "clamped_discrete_laplace",
    "clamping_bound",
    "clamping_delta",
    "estimated_shares",
    "exact_epsilon",
    "exact_mu",
    "exponential_law",
    "exponential_mechanism",
    "gaussian_delta",
    "gaussian_noise_std",
    "gdp_mu",
    "hockey_stick",
    "max_divergence",
    "noisy_max_law",
    "randomized_response",
    "renyi_divergence",
    "report_noisy_max",
    "response_table",
    "selection_error",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "accounting": ("Accountant",),
        "clamping": ("clamped_discrete_laplace", "clamping_bound", "clamping_delta"),
        "divergences": (
            "approx_max_divergence", "exact_epsilon", "exact_mu", "hockey_stick", "max_divergence", "renyi_divergence",
        ),
        "events": (
            "ApproxEvent", "BoundedRangeEvent", "Composed", "Event", "GDPEvent", "PureEvent",
            "RandomizedResponseEvent", "Repeated", "ZCDPEvent",
        ),
        "gaussian": ("gaussian_noise_std", "gdp_mu"),
        "filter": ("Filter",),
        "ledger": ("Account", "Ledger"),
        "losses": ("GDP", "ApproxDP", "PureDP", "RenyiDP", "ZCDP", "gaussian_delta"),
        "noise": ("Noise",),
        "response": ("estimated_shares", "randomized_response", "response_table"),
        "selection": (
            "exponential_law", "exponential_mechanism", "noisy_max_law", "report_noisy_max", "selection_error",
        ),
        "sparse_vector": ("SparseVector",),
        "tree_counter": ("TreeCounter",),
    },
    renamed={"gaussian_sigma": "gaussian_noise_std"},
)
