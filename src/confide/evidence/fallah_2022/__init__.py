"""Fallah, Makhdoumi, Malekian and Ozdaglar 2022: a platform buys records from people who value their privacy towards
the platform and towards the public.
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "algorithm_1": ("algorithm1_as_printed",),
        "minimax": ("minimax_bounds",),
    },
)
