"""Fallah, Makhdoumi, Malekian and Ozdaglar 2022: buying records from people who mind two leaks."""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "algorithm_1": ("algorithm1_as_printed",),
        "minimax": ("minimax_bounds",),
    },
)
