"""Fallah, Makhdoumi, Malekian and Ozdaglar 2022: buying records from people who mind two leaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.evidence.fallah_2022.algorithm_1 import algorithm1_as_printed
    from confide.evidence.fallah_2022.minimax import minimax_bounds

__all__ = [
    "algorithm1_as_printed",
    "minimax_bounds",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "algorithm_1": ("algorithm1_as_printed",),
        "minimax": ("minimax_bounds",),
    },
)
