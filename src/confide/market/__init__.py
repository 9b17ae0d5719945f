"""Buying private bits: randomised answers to a yes-or-no question, with payments that make a truthful report the best
reply.

    >>> from confide.market import LinearCost, MajorityMarket
    >>> market = MajorityMarket(people=100, signal_accuracy=0.8, prior_one=0.7, cost=LinearCost(1.0), epsilon=1.0)
    >>> round(market.quote().expected_payment, 4), round(market.error_probability(), 6)
    (5.4418, 0.0021)

Each participant's device randomises the participant's bit before anybody else sees it. Payments for agreeing with other
reports make randomised response at level epsilon each participant's best reply. `best_response` finds the best replies
among all ways to report, exactly.
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "binomials": ("StateEstimate",),
        "collection": ("BitBillboard", "BitCollection", "Reports"),
        "costs": ("CustomCost", "ExponentialCost", "LinearCost", "PowerCost", "SumCost"),
        "equilibrium": (
            "EquilibriumReport", "Robustness", "SymmetricEquilibrium", "check_equilibrium", "interim_matrix",
            "robustness", "symmetric_equilibria",
        ),
        "majority": ("MajorityMarket",),
        "matching": ("Quote",),
        "optimum": ("CapTooLow", "OptimalCountMechanism", "Optimum", "least_payment"),
        "pairs.accuracy": ("MeanEstimate",),
        "pairs.market": ("Insider", "PairMarket", "audit_groups", "group_counts"),
        "pairs.planner": ("MeanPlan", "TooFewPeople", "plan_mean"),
        "pairs.prior": ("PairPrior",),
        "planned": ("NoPurchase",),
        "planner": ("MarketPlan", "TargetUnreachable", "plan"),
        "price_levels": ("ThesisBounds", "thesis_bounds"),
        "signal_model": ("SignalModel",),
        "simulation": ("Simulation", "simulate"),
        "strategies": ("BestReply", "Reply", "Strategy", "best_response", "privacy_level", "regret"),
        "threshold.cost_laws": (
            "ExponentialLaw", "GammaLaw", "HistogramLaw", "LogNormalLaw", "MixtureLaw", "ScipyLaw", "UniformLaw",
        ),
        "threshold.planner": ("UnknownCostPlan", "plan_unknown_costs"),
        "threshold.threshold_market": ("ThresholdMarket", "ThresholdQuote"),
        "threshold.type_equilibrium": ("check_types", "common_equilibria"),
    },
    renamed={"BestResponse": "BestReply", "Nature": "SignalModel", "OutOfReach": "TargetUnreachable"},
    moved={
        "evidence.wang_2016.data_market": (
            "GenieMarket", "HeterogeneousMarket", "PairOptimum", "enumerated_interim", "genie_replica",
            "least_pair_payment", "relabelled_rule",
        ),
    },
)
