"""Allocation of scarce resources to people with private values and needs, by convex programs. A run computes a sequence
of prices under differential privacy, and each participant's allocation follows from these prices.

>>> from confide.privacy.noise import Noise
>>> from confide.programs import PrivDude, UnitDemand, popular
>>> program = UnitDemand(5_000, 500, goods=5)
>>> outcome = PrivDude(program, epsilon=1.0, delta=1e-6).run(popular(5_000, 5, seed=1), Noise.simulated(1))
>>> bool(outcome.certificate.gap < 0.02 * 5_000)
True
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "billboards": ("PathBillboard",),
        "convex.compiled_program": ("ConvexProgram", "TauCheck", "check_tau"),
        "convex.modelling": ("convex_program",),
        "exact_optimum": ("ExactOptimum", "dual_value", "exact", "least_tau"),
        "families.aggregative_game": ("AggregativeGame", "nearly_best"),
        "families.callback_demand": ("CallbackDemand",),
        "families.capped_additive": ("CappedAdditive",),
        "families.electricity": ("Electricity",),
        "families.flow": ("Flow",),
        "families.knapsack": ("Knapsack",),
        "families.shared_resources": ("SharedResources",),
        "families.unit_demand": ("UnitDemand",),
        "families.xor_bundles": ("XorBundles",),
        "grids": ("Constants",),
        "guarantees": ("PathCertificate", "certificate"),
        "instances": ("popular",),
        "planning": ("ProgramPlan", "plan"),
        "priv_dude": ("PrivDude",),
        "program": ("Program", "ProgramRecords"),
        "round_dude": ("RoundDude",),
        "tight_dude": ("TightDude",),
        "tighten_and_audit": ("TightenAndAudit",),
        "true_dude": ("TrueDude",),
        "whole_parts": ("AuditedBillboard", "FlagBillboard"),
    },
    renamed={"Records": "ProgramRecords"},
    moved={
        "evidence.wu_2017.private_programs": ("PrintedDude",),
    },
)
