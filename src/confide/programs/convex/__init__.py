"""A convex program of one's own: one participant's part in cvxpy, compiled once to arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.programs.convex.compiled_program import ConvexProgram, TauCheck, check_tau
    from confide.programs.convex.modelling import convex_program
    from confide.programs.convex.template import Template

__all__ = ["ConvexProgram", "TauCheck", "Template", "check_tau", "convex_program"]

__getattr__, __dir__ = doors(
    __name__,
    {
        "compiled_program": ("ConvexProgram", "TauCheck", "check_tau"),
        "modelling": ("convex_program",),
        "template": ("Template",),
    },
)
