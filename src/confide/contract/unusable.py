"""What becomes of a record that cannot be used, and how many such rows of a file a run goes on with."""

from __future__ import annotations

from typing import Literal

from confide.contract.mechanism import NoiseSource

__all__ = ["MOST_UNUSABLE", "Unusable", "unusable_in"]

MOST_UNUSABLE = 0.01
"""The share of a file's rows that may be unusable, where nothing else was declared: a run of more stops."""

Unusable = Literal["refuse", "null"]
"""Refuse the whole table for one bad row, which tells whoever sees the message; or take the row as the null record."""


def unusable_in(noise: NoiseSource) -> Unusable:
    """What a run does with a bad row: in a release nothing that anybody sees may depend on it.

    Args:
        noise: of the run.
    """
    return "null" if noise.release_safe else "refuse"
