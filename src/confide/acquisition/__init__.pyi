# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.acquisition.caps import CappedCaps as CappedCaps
from confide.acquisition.caps import Caps as Caps
from confide.acquisition.mechanism import Contracts as Contracts
from confide.acquisition.mechanism import ErrorCertificate as ErrorCertificate
from confide.acquisition.mechanism import MeanBillboard as MeanBillboard
from confide.acquisition.mechanism import TwoPartMechanism as TwoPartMechanism
from confide.acquisition.optimum.capped import solve_capped as solve_capped
from confide.acquisition.optimum.solver import Solution as Solution
from confide.acquisition.optimum.solver import solve as solve
from confide.acquisition.optimum.solver import solve_grid as solve_grid
from confide.acquisition.payments import PaymentRule as PaymentRule
from confide.acquisition.payments import Payments as Payments
from confide.acquisition.payments import WeightCap as WeightCap
from confide.acquisition.planning import AcquisitionPlan as AcquisitionPlan
from confide.acquisition.planning import design_for_budget as design_for_budget
from confide.acquisition.planning import design_for_error as design_for_error
from confide.acquisition.planning import plan as plan
from confide.acquisition.priors import ConcernPrior as ConcernPrior
from confide.acquisition.priors import DiscretePrior as DiscretePrior
from confide.acquisition.priors import EmpiricalPrior as EmpiricalPrior
from confide.acquisition.priors import HistogramPrior as HistogramPrior
from confide.acquisition.priors import PowerPrior as PowerPrior
from confide.acquisition.priors import UniformPrior as UniformPrior
from confide.acquisition.records import Contracted as Contracted
from confide.acquisition.records import ContractedRecords as ContractedRecords
from confide.acquisition.release.lattice import LatticeContract as LatticeContract
from confide.acquisition.release.lattice import LatticeContracts as LatticeContracts
from confide.acquisition.release.lattice import aggregate as aggregate
from confide.acquisition.release.lattice import integer_contracts as integer_contracts
from confide.acquisition.release.lattice import perturb as perturb
from confide.acquisition.smooth_prior import SmoothPrior as SmoothPrior
from confide.acquisition.virtual_cost import VirtualCost as VirtualCost

__all__ = [
    "AcquisitionPlan", "CappedCaps", "Caps", "ConcernPrior", "Contracted", "ContractedRecords", "Contracts",
    "DiscretePrior", "EmpiricalPrior", "ErrorCertificate", "HistogramPrior", "LatticeContract", "LatticeContracts",
    "MeanBillboard", "PaymentRule", "Payments", "PowerPrior", "SmoothPrior", "Solution", "TwoPartMechanism",
    "UniformPrior", "VirtualCost", "WeightCap", "aggregate", "design_for_budget", "design_for_error",
    "integer_contracts", "perturb", "plan", "solve", "solve_capped", "solve_grid",
]
