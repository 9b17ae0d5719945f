"""What becomes of a record that cannot be used: it is refused, or counts as that of nobody."""

from __future__ import annotations

from typing import Literal

from confide.contract.mechanism import NoiseSource

__all__ = ["Unusable", "unusable_in"]

Unusable = Literal["refuse", "null"]
"""Refuse the whole table for one bad row, which tells whoever sees the message; or take the row as the null record."""


def unusable_in(noise: NoiseSource) -> Unusable:
    """What a run does with a bad row: in a release nothing that anybody sees may depend on it.

    Args:
        noise: of the run.
    """
    return "null" if noise.release_safe else "refuse"
