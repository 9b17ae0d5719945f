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
    from confide.acquisition.capped import solve_capped
    from confide.acquisition.capped_caps import CappedCaps
    from confide.acquisition.caps import Caps
    from confide.acquisition.grid import solve_grid
    from confide.acquisition.lattice import LatticeContract, LatticeContracts, aggregate, integer_contracts, perturb
    from confide.acquisition.mechanism import Contracts, ErrorCertificate, MeanBillboard, TwoPartMechanism
    from confide.acquisition.minimax import minimax_bounds
    from confide.acquisition.payments import PaymentRule, Payments, WeightCap
    from confide.acquisition.printed import algorithm1_as_printed
    from confide.acquisition.priors import (
        DiscretePrior,
        EmpiricalPrior,
        HistogramPrior,
        PowerPrior,
        Prior,
        UniformPrior,
    )
    from confide.acquisition.records import Contracted, ContractedRecords
    from confide.acquisition.smooth_prior import SmoothPrior
    from confide.acquisition.solver import Solution, solve
    from confide.acquisition.virtual_cost import VirtualCost


__all__ = [
    "CappedCaps",
    "Caps",
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
    "Prior",
    "SmoothPrior",
    "Solution",
    "TwoPartMechanism",
    "UniformPrior",
    "VirtualCost",
    "WeightCap",
    "aggregate",
    "algorithm1_as_printed",
    "integer_contracts",
    "minimax_bounds",
    "perturb",
    "solve",
    "solve_capped",
    "solve_grid",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "capped": ("solve_capped",),
        "capped_caps": ("CappedCaps",),
        "caps": ("Caps",),
        "grid": ("solve_grid",),
        "lattice": ("LatticeContract", "LatticeContracts", "aggregate", "integer_contracts", "perturb"),
        "mechanism": ("Contracts", "ErrorCertificate", "MeanBillboard", "TwoPartMechanism"),
        "minimax": ("minimax_bounds",),
        "payments": ("PaymentRule", "Payments", "WeightCap"),
        "printed": ("algorithm1_as_printed",),
        "priors": ("DiscretePrior", "EmpiricalPrior", "HistogramPrior", "PowerPrior", "Prior", "UniformPrior"),
        "records": ("Contracted", "ContractedRecords"),
        "smooth_prior": ("SmoothPrior",),
        "solver": ("Solution", "solve"),
        "virtual_cost": ("VirtualCost",),
    },
)
