# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.programs.billboards import PathBillboard as PathBillboard
from confide.programs.convex.compiled_program import ConvexProgram as ConvexProgram
from confide.programs.convex.compiled_program import TauCheck as TauCheck
from confide.programs.convex.compiled_program import check_tau as check_tau
from confide.programs.convex.modelling import convex_program as convex_program
from confide.programs.exact_optimum import ExactOptimum as ExactOptimum
from confide.programs.exact_optimum import dual_value as dual_value
from confide.programs.exact_optimum import exact as exact
from confide.programs.exact_optimum import least_tau as least_tau
from confide.programs.families.aggregative_game import AggregativeGame as AggregativeGame
from confide.programs.families.aggregative_game import nearly_best as nearly_best
from confide.programs.families.callback_demand import CallbackDemand as CallbackDemand
from confide.programs.families.capped_additive import CappedAdditive as CappedAdditive
from confide.programs.families.electricity import Electricity as Electricity
from confide.programs.families.flow import Flow as Flow
from confide.programs.families.knapsack import Knapsack as Knapsack
from confide.programs.families.shared_resources import SharedResources as SharedResources
from confide.programs.families.unit_demand import UnitDemand as UnitDemand
from confide.programs.families.xor_bundles import XorBundles as XorBundles
from confide.programs.grids import Constants as Constants
from confide.programs.guarantees import PathCertificate as PathCertificate
from confide.programs.guarantees import certificate as certificate
from confide.programs.instances import popular as popular
from confide.programs.planning import ProgramPlan as ProgramPlan
from confide.programs.planning import plan as plan
from confide.programs.priv_dude import PrivDude as PrivDude
from confide.programs.program import Program as Program
from confide.programs.program import ProgramRecords as ProgramRecords
from confide.programs.round_dude import RoundDude as RoundDude
from confide.programs.tight_dude import TightDude as TightDude
from confide.programs.tighten_and_audit import TightenAndAudit as TightenAndAudit
from confide.programs.true_dude import TrueDude as TrueDude
from confide.programs.whole_parts import AuditedBillboard as AuditedBillboard
from confide.programs.whole_parts import FlagBillboard as FlagBillboard

__all__ = [
    "AggregativeGame", "AuditedBillboard", "CallbackDemand", "CappedAdditive", "Constants", "ConvexProgram",
    "Electricity", "ExactOptimum", "FlagBillboard", "Flow", "Knapsack", "PathBillboard", "PathCertificate", "PrivDude",
    "Program", "ProgramPlan", "ProgramRecords", "RoundDude", "SharedResources", "TauCheck", "TightDude",
    "TightenAndAudit", "TrueDude", "UnitDemand", "XorBundles", "certificate", "check_tau", "convex_program",
    "dual_value", "exact", "least_tau", "nearly_best", "plan", "popular",
]
