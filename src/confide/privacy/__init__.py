"""Privacy losses and their conversions, noise, spend events, the accountant and the ledger."""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
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
