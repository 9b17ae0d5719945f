"""Instances on which claims are computed: two users, prices of many sizes, and the regret of one user's lies."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from confide.evidence.fallah_2022.two_users import TwoUsers
from confide.privacy.noise.simulated import study_generator

__all__ = ["VARIANCE", "middles", "profiles", "regret", "two_users"]

Floats = NDArray[np.float64]

VARIANCE = 1.0 / 12.0
"""Of records that are uniform on [0, 1]."""


def two_users(gamma: float) -> TwoUsers:
    """Records that are uniform on [0, 1], at one price for both leaks."""
    return TwoUsers(variance_price=gamma * VARIANCE, noise_price=gamma)


def profiles(count: int) -> Iterator[tuple[Floats, dict[str, float]]]:
    """Virtual costs of two to eight people and prices, of many sizes."""
    random = study_generator(17, "evidence")
    for _ in range(count):
        psi = 10.0 ** random.uniform(-1.0, 1.0) * random.random(int(random.integers(2, 9)))
        yield psi, {"variance_price": float(10.0 ** random.uniform(-3, 3)),
                    "noise_price": float(10.0 ** random.uniform(-2, 2))}


def middles(cells: int) -> Floats:
    """Of equal cells of [0, 1]."""
    return np.asarray((np.arange(cells) + 0.5) / cells, dtype=np.float64)


def regret(c: Floats, d: Floats) -> float:
    """The most that a lie gains where t = eps_c + c d + (integral of d above c), d given in the middles of cells."""
    rents = (np.cumsum(d[::-1])[::-1] - d / 2.0) * (c[1] - c[0])
    told = rents + c * d  # a report's utility is this less d times what is true
    return max(float(np.max(told - own * d) - rents[k]) for k, own in list(enumerate(c))[::20])
