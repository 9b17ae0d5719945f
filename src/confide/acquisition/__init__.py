"""Buying the mean of people's records, where secrecy towards the platform and secrecy towards the public may be worth
different amounts to a person.

    >>> from confide.acquisition import UniformPrior, solve
    >>> found = solve(UniformPrior().virtual_cost()([0.05, 0.3, 0.9]), variance_price=0.1, noise_price=1.0)
    >>> found.weights.round(3).tolist(), round(found.value, 4), found.gap < 1e-9
    ([0.5, 0.5, 0.0], 1.6279, True)

Each person reports how they weigh a privacy loss towards the platform against a privacy loss towards the public.
Everybody's weight in the mean, noise and payment follow from all reports, such that the truth is each person's best
report. The person's own device adds the noise.
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
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
