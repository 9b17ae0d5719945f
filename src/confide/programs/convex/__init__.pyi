# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.programs.convex.compiled_program import ConvexProgram as ConvexProgram
from confide.programs.convex.compiled_program import TauCheck as TauCheck
from confide.programs.convex.compiled_program import check_tau as check_tau
from confide.programs.convex.modelling import convex_program as convex_program
from confide.programs.convex.template import Template as Template

__all__ = [
    "ConvexProgram", "TauCheck", "Template", "check_tau", "convex_program",
]
