# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.market.binomials import StateEstimate as StateEstimate
from confide.market.collection import BitBillboard as BitBillboard
from confide.market.collection import BitCollection as BitCollection
from confide.market.collection import Reports as Reports
from confide.market.costs import CustomCost as CustomCost
from confide.market.costs import ExponentialCost as ExponentialCost
from confide.market.costs import LinearCost as LinearCost
from confide.market.costs import PowerCost as PowerCost
from confide.market.costs import SumCost as SumCost
from confide.market.equilibrium import EquilibriumReport as EquilibriumReport
from confide.market.equilibrium import Robustness as Robustness
from confide.market.equilibrium import SymmetricEquilibrium as SymmetricEquilibrium
from confide.market.equilibrium import check_equilibrium as check_equilibrium
from confide.market.equilibrium import interim_matrix as interim_matrix
from confide.market.equilibrium import robustness as robustness
from confide.market.equilibrium import symmetric_equilibria as symmetric_equilibria
from confide.market.majority import MajorityMarket as MajorityMarket
from confide.market.matching import Quote as Quote
from confide.market.optimum import CapTooLow as CapTooLow
from confide.market.optimum import OptimalCountMechanism as OptimalCountMechanism
from confide.market.optimum import Optimum as Optimum
from confide.market.optimum import least_payment as least_payment
from confide.market.pairs.accuracy import MeanEstimate as MeanEstimate
from confide.market.pairs.market import Insider as Insider
from confide.market.pairs.market import PairMarket as PairMarket
from confide.market.pairs.market import audit_groups as audit_groups
from confide.market.pairs.market import group_counts as group_counts
from confide.market.pairs.planner import MeanPlan as MeanPlan
from confide.market.pairs.planner import TooFewPeople as TooFewPeople
from confide.market.pairs.planner import plan_mean as plan_mean
from confide.market.pairs.prior import PairPrior as PairPrior
from confide.market.planned import NoPurchase as NoPurchase
from confide.market.planner import MarketPlan as MarketPlan
from confide.market.planner import TargetUnreachable as TargetUnreachable
from confide.market.planner import plan as plan
from confide.market.price_levels import ThesisBounds as ThesisBounds
from confide.market.price_levels import thesis_bounds as thesis_bounds
from confide.market.signal_model import SignalModel as SignalModel
from confide.market.simulation import Simulation as Simulation
from confide.market.simulation import simulate as simulate
from confide.market.strategies import BestReply as BestReply
from confide.market.strategies import Reply as Reply
from confide.market.strategies import Strategy as Strategy
from confide.market.strategies import best_response as best_response
from confide.market.strategies import privacy_level as privacy_level
from confide.market.strategies import regret as regret
from confide.market.threshold.cost_laws import ExponentialLaw as ExponentialLaw
from confide.market.threshold.cost_laws import GammaLaw as GammaLaw
from confide.market.threshold.cost_laws import HistogramLaw as HistogramLaw
from confide.market.threshold.cost_laws import LogNormalLaw as LogNormalLaw
from confide.market.threshold.cost_laws import MixtureLaw as MixtureLaw
from confide.market.threshold.cost_laws import ScipyLaw as ScipyLaw
from confide.market.threshold.cost_laws import UniformLaw as UniformLaw
from confide.market.threshold.planner import UnknownCostPlan as UnknownCostPlan
from confide.market.threshold.planner import plan_unknown_costs as plan_unknown_costs
from confide.market.threshold.threshold_market import ThresholdMarket as ThresholdMarket
from confide.market.threshold.threshold_market import ThresholdQuote as ThresholdQuote
from confide.market.threshold.type_equilibrium import check_types as check_types
from confide.market.threshold.type_equilibrium import common_equilibria as common_equilibria

__all__ = [
    "BestReply", "BitBillboard", "BitCollection", "CapTooLow", "CustomCost", "EquilibriumReport", "ExponentialCost",
    "ExponentialLaw", "GammaLaw", "HistogramLaw", "Insider", "LinearCost", "LogNormalLaw", "MajorityMarket",
    "MarketPlan", "MeanEstimate", "MeanPlan", "MixtureLaw", "NoPurchase", "OptimalCountMechanism", "Optimum",
    "PairMarket", "PairPrior", "PowerCost", "Quote", "Reply", "Reports", "Robustness", "ScipyLaw", "SignalModel",
    "Simulation", "StateEstimate", "Strategy", "SumCost", "SymmetricEquilibrium", "TargetUnreachable", "ThesisBounds",
    "ThresholdMarket", "ThresholdQuote", "TooFewPeople", "UniformLaw", "UnknownCostPlan", "audit_groups",
    "best_response", "check_equilibrium", "check_types", "common_equilibria", "group_counts", "interim_matrix",
    "least_payment", "plan", "plan_mean", "plan_unknown_costs", "privacy_level", "regret", "robustness", "simulate",
    "symmetric_equilibria", "thesis_bounds",
]
