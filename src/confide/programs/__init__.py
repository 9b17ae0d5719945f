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
    from confide.programs.families.callback_demand import CallbackDemand
    from confide.programs.families.capped_additive import CappedAdditive
    from confide.programs.families.knapsack import Knapsack
    from confide.programs.families.unit_demand import UnitDemand
    from confide.programs.families.xor_bundles import XorBundles
    from confide.programs.priv_dude import PrivDude
    from confide.programs.program import Program, Records

__all__ = [
    "CallbackDemand",
    "CappedAdditive",
    "Constants",
    "Knapsack",
    "PathBillboard",
    "PathCertificate",
    "PrivDude",
    "Program",
    "Records",
    "UnitDemand",
    "XorBundles",
    "certificate",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "billboards": ("PathBillboard",),
        "certifying": ("PathCertificate", "certificate"),
        "constants": ("Constants",),
        "families.callback_demand": ("CallbackDemand",),
        "families.capped_additive": ("CappedAdditive",),
        "families.knapsack": ("Knapsack",),
        "families.unit_demand": ("UnitDemand",),
        "families.xor_bundles": ("XorBundles",),
        "priv_dude": ("PrivDude",),
        "program": ("Program", "Records"),
    },
)
