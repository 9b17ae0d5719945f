"""Buying private bits: what must be paid for a randomised yes or no, and which payments make it worth giving.

    >>> from confide.market import LinearCost, MajorityMarket
    >>> market = MajorityMarket(people=100, signal_accuracy=0.8, prior_one=0.7, cost=LinearCost(1.0), epsilon=1.0)
    >>> round(market.quote().expected_payment, 4), round(market.error_probability(), 6)
    (5.4418, 0.0021)

People randomise their own bit before anybody sees it; payments for agreeing with others make an epsilon of randomness
each person's best reply. `best_response` decides that over all channels, exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.market.binomials import StateEstimate
    from confide.market.collection import BitBillboard, BitCollection, Reports
    from confide.market.costs import CustomCost, ExponentialCost, LinearCost, PowerCost, SumCost
    from confide.market.equilibrium import (
        EquilibriumReport,
        Robustness,
        SymmetricEquilibrium,
        check_equilibrium,
        interim_matrix,
        robustness,
        symmetric_equilibria,
    )
    from confide.market.majority import MajorityMarket
    from confide.market.matching import Quote
    from confide.market.optimum import CapTooLow, OptimalCountMechanism, Optimum, least_payment
    from confide.market.pairs.accuracy import MeanEstimate
    from confide.market.pairs.market import Insider, PairMarket, audit_groups, group_counts
    from confide.market.pairs.planner import MeanPlan, TooFewPeople, plan_mean
    from confide.market.pairs.prior import PairPrior
    from confide.market.planned import NoPurchase
    from confide.market.planner import MarketPlan, OutOfReach, plan
    from confide.market.price_levels import ThesisBounds, thesis_bounds
    from confide.market.signal_model import SignalModel
    from confide.market.simulation import Simulation, simulate
    from confide.market.strategies import BestReply, Reply, Strategy, best_response, privacy_level, regret
    from confide.market.threshold.cost_laws import (
        ExponentialLaw,
        GammaLaw,
        HistogramLaw,
        LogNormalLaw,
        MixtureLaw,
        ScipyLaw,
        UniformLaw,
    )
    from confide.market.threshold.planner import UnknownCostPlan, plan_unknown_costs
    from confide.market.threshold.threshold_market import ThresholdMarket, ThresholdQuote
    from confide.market.threshold.type_equilibrium import check_types, common_equilibria


__all__ = [
    "BestReply",
    "BitBillboard",
    "BitCollection",
    "CapTooLow",
    "CustomCost",
    "EquilibriumReport",
    "ExponentialCost",
    "ExponentialLaw",
    "GammaLaw",
    "HistogramLaw",
    "Insider",
    "LinearCost",
    "LogNormalLaw",
    "MajorityMarket",
    "MarketPlan",
    "MeanEstimate",
    "MeanPlan",
    "MixtureLaw",
    "NoPurchase",
    "OptimalCountMechanism",
    "Optimum",
    "OutOfReach",
    "PairMarket",
    "PairPrior",
    "PowerCost",
    "Quote",
    "Reply",
    "Reports",
    "Robustness",
    "ScipyLaw",
    "SignalModel",
    "Simulation",
    "StateEstimate",
    "Strategy",
    "SumCost",
    "SymmetricEquilibrium",
    "ThesisBounds",
    "ThresholdMarket",
    "ThresholdQuote",
    "TooFewPeople",
    "UniformLaw",
    "UnknownCostPlan",
    "audit_groups",
    "best_response",
    "check_equilibrium",
    "check_types",
    "common_equilibria",
    "group_counts",
    "interim_matrix",
    "least_payment",
    "plan",
    "plan_mean",
    "plan_unknown_costs",
    "privacy_level",
    "regret",
    "robustness",
    "simulate",
    "symmetric_equilibria",
    "thesis_bounds",
]

__getattr__, __dir__ = doors(
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
        "planner": ("MarketPlan", "OutOfReach", "plan"),
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
    renamed={"BestResponse": "BestReply", "Nature": "SignalModel"},
    moved={
        "evidence.wang_2016.data_market": (
            "GenieMarket", "HeterogeneousMarket", "PairOptimum", "enumerated_interim", "genie_replica",
            "least_pair_payment", "relabelled_rule",
        ),
    },
)
