"""User-defined convex programs: the program of one participant is written in cvxpy and compiled once to arrays."""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "compiled_program": ("ConvexProgram", "TauCheck", "check_tau"),
        "modelling": ("convex_program",),
        "template": ("Template",),
    },
)
