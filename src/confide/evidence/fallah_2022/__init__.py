"""Fallah, Makhdoumi, Malekian and Ozdaglar 2022: buying records from people who value their privacy towards the
platform and towards the public.
"""

from confide._lazy import doors

__all__, __getattr__, __dir__ = doors(
    __name__,
    {
        "algorithm_1": ("algorithm1_as_printed",),
        "minimax": ("minimax_bounds",),
    },
)
