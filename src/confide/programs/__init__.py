"""Shared resources when everybody's needs are secret: convex programs solved by one private path of prices.

>>> from confide.programs import PrivDude, UnitDemand
>>> from confide.privacy.noise import Noise
>>> from confide.programs.instances import popular
>>> program = UnitDemand(5_000, 500, goods=5)
>>> outcome = PrivDude(program, epsilon=1.0, delta=1e-6).run(popular(5_000, 5, seed=1), Noise.simulated(1))
>>> bool(outcome.certificate.gap < 0.02 * 5_000)
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.programs.billboards import PathBillboard
    from confide.programs.convex.compiled_program import ConvexProgram, TauCheck, check_tau
    from confide.programs.convex.modelling import convex_program
    from confide.programs.exact_optimum import ExactOptimum, dual_value, exact, least_tau
    from confide.programs.families.aggregative_game import AggregativeGame, nearly_best
    from confide.programs.families.callback_demand import CallbackDemand
    from confide.programs.families.capped_additive import CappedAdditive
    from confide.programs.families.electricity import Electricity
    from confide.programs.families.flow import Flow
    from confide.programs.families.knapsack import Knapsack
    from confide.programs.families.shared_resources import SharedResources
    from confide.programs.families.unit_demand import UnitDemand
    from confide.programs.families.xor_bundles import XorBundles
    from confide.programs.grids import Constants
    from confide.programs.guarantees import PathCertificate, certificate
    from confide.programs.planning import ProgramPlan, plan
    from confide.programs.priv_dude import PrivDude
    from confide.programs.program import Program, ProgramRecords
    from confide.programs.round_dude import RoundDude
    from confide.programs.tight_dude import TightDude
    from confide.programs.tighten_and_audit import TightenAndAudit
    from confide.programs.true_dude import TrueDude
    from confide.programs.whole_parts import AuditedBillboard, FlagBillboard

__all__ = [
    "AggregativeGame",
    "AuditedBillboard",
    "CallbackDemand",
    "CappedAdditive",
    "Constants",
    "ConvexProgram",
    "Electricity",
    "ExactOptimum",
    "FlagBillboard",
    "Flow",
    "Knapsack",
    "PathBillboard",
    "PathCertificate",
    "PrivDude",
    "Program",
    "ProgramPlan",
    "ProgramRecords",
    "RoundDude",
    "SharedResources",
    "TauCheck",
    "TightDude",
    "TightenAndAudit",
    "TrueDude",
    "UnitDemand",
    "XorBundles",
    "certificate",
    "check_tau",
    "convex_program",
    "dual_value",
    "exact",
    "least_tau",
    "nearly_best",
    "plan",
]

__getattr__, __dir__ = doors(
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
