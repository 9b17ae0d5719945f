"""User-defined convex programs: one participant's part is written in cvxpy and compiled once to arrays."""

from confide._lazy import doors

__all__, __getattr__, __dir__ = doors(
    __name__,
    {
        "compiled_program": ("ConvexProgram", "TauCheck", "check_tau"),
        "modelling": ("convex_program",),
        "template": ("Template",),
    },
)
