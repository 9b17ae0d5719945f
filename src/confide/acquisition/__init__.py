"""Buying a mean: weights, noise and payments for people who fear the platform and the public differently.

    >>> from confide.acquisition import UniformPrior, solve
    >>> found = solve(UniformPrior().virtual_cost()([0.05, 0.3, 0.9]), variance_price=0.1, noise_price=1.0)
    >>> found.weights.round(3).tolist(), round(found.value, 4), found.gap < 1e-9
    ([0.5, 0.5, 0.0], 1.6279, True)

People report how they weigh the two leaks; from all reports follow everybody's weight, noise and payment, such that the
truth is each person's best report. Her own device adds the noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.acquisition.caps import CappedCaps, Caps
    from confide.acquisition.mechanism import Contracts, ErrorCertificate, MeanBillboard, TwoPartMechanism
    from confide.acquisition.optimum.capped import solve_capped
    from confide.acquisition.optimum.solver import Solution, solve, solve_grid
    from confide.acquisition.payments import PaymentRule, Payments, WeightCap
    from confide.acquisition.planning import AcquisitionPlan, design_for_budget, design_for_error, plan
    from confide.acquisition.priors import (
        ConcernPrior,
        DiscretePrior,
        EmpiricalPrior,
        HistogramPrior,
        PowerPrior,
        UniformPrior,
    )
    from confide.acquisition.records import Contracted, ContractedRecords
    from confide.acquisition.release.lattice import (
        LatticeContract,
        LatticeContracts,
        aggregate,
        integer_contracts,
        perturb,
    )
    from confide.acquisition.smooth_prior import SmoothPrior
    from confide.acquisition.virtual_cost import VirtualCost


__all__ = [
    "AcquisitionPlan",
    "CappedCaps",
    "Caps",
    "ConcernPrior",
    "Contracted",
    "ContractedRecords",
    "Contracts",
    "DiscretePrior",
    "EmpiricalPrior",
    "ErrorCertificate",
    "HistogramPrior",
    "LatticeContract",
    "LatticeContracts",
    "MeanBillboard",
    "PaymentRule",
    "Payments",
    "PowerPrior",
    "SmoothPrior",
    "Solution",
    "TwoPartMechanism",
    "UniformPrior",
    "VirtualCost",
    "WeightCap",
    "aggregate",
    "design_for_budget",
    "design_for_error",
    "integer_contracts",
    "perturb",
    "plan",
    "solve",
    "solve_capped",
    "solve_grid",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "caps": ("CappedCaps", "Caps"),
        "mechanism": ("Contracts", "ErrorCertificate", "MeanBillboard", "TwoPartMechanism"),
        "optimum.capped": ("solve_capped",),
        "optimum.solver": ("Solution", "solve", "solve_grid"),
        "payments": ("PaymentRule", "Payments", "WeightCap"),
        "planning": ("AcquisitionPlan", "design_for_budget", "design_for_error", "plan"),
        "priors": ("ConcernPrior", "DiscretePrior", "EmpiricalPrior", "HistogramPrior", "PowerPrior", "UniformPrior"),
        "records": ("Contracted", "ContractedRecords"),
        "release.lattice": ("LatticeContract", "LatticeContracts", "aggregate", "integer_contracts", "perturb"),
        "smooth_prior": ("SmoothPrior",),
        "virtual_cost": ("VirtualCost",),
    },
    renamed={"Prior": "ConcernPrior"},
    moved={
        "evidence.fallah_2022": ("algorithm1_as_printed", "minimax_bounds"),
    },
)
