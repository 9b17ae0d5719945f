"""Instances to measure on: instance A, where tastes differ, and instance B, where needs differ too."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from confide.privacy.noise.simulated import study_generator

__all__ = ["instance_a", "instance_b"]


def instance_a(people: int, goods: int, *, seed: int = 0) -> NDArray[np.float32]:
    draw = study_generator(seed, "instance")
    common = 0.4 * np.linspace(0, 1, goods)
    return (common[None, :] + 0.6 * draw.random((people, goods))).astype(np.float32)


def instance_b(people: int, goods: int, *, seed: int = 0) -> NDArray[np.float32]:
    draw = study_generator(seed, "instance")
    common = 0.4 * np.linspace(0, 1, goods)
    table = common[None, :] + 0.6 * draw.random((people, goods))
    return (table * (0.1 + 0.9 * draw.random(people))[:, None]).astype(np.float32)
