"""Random balanced partitions. They are public or post-processed, and never what privacy rests on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["balanced"]


def balanced(people: int, generator: np.random.Generator) -> NDArray[np.bool_]:
    """A uniformly random arrangement of floor(people/2) False and the rest True.

    Args:
        people: how many, >= 0.
        generator: whose state decides the arrangement; its bounded integers are unbiased.
    """
    groups = np.ones(people, dtype=np.bool_)
    groups[: people // 2] = False
    generator.shuffle(groups)
    return groups
