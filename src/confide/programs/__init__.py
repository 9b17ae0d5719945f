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
    from confide.programs.certifying import PathCertificate, certificate
    from confide.programs.constants import Constants
    from confide.programs.convex.compiled_program import ConvexProgram
    from confide.programs.convex.modelling import convex_program
    from confide.programs.convex.tau_check import TauCheck, check_tau
    from confide.programs.families.unit_demand import UnitDemand
    from confide.programs.priv_dude import PrivDude
    from confide.programs.program import Program, Records

__all__ = [
    "Constants",
    "ConvexProgram",
    "PathBillboard",
    "PathCertificate",
    "PrivDude",
    "Program",
    "Records",
    "TauCheck",
    "UnitDemand",
    "certificate",
    "check_tau",
    "convex_program",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "billboards": ("PathBillboard",),
        "certifying": ("PathCertificate", "certificate"),
        "constants": ("Constants",),
        "convex.compiled_program": ("ConvexProgram",),
        "convex.modelling": ("convex_program",),
        "convex.tau_check": ("TauCheck", "check_tau"),
        "families.unit_demand": ("UnitDemand",),
        "priv_dude": ("PrivDude",),
        "program": ("Program", "Records"),
    },
)
