"""Made-up records for studies, tests and plans: public, and the same on every machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import whole
from confide.privacy.noise.simulated import study_generator

__all__ = ["popular"]


def popular(people: int, goods: int, seed: int) -> NDArray[np.float32]:
    """(n, k) values U(0, 1) times the popularity of the good, U(.3, 1).

    Args:
        people: n.
        goods: k.
        seed: of the generator.

    Source: spec convex_programs 9.3.
    """
    draw = study_generator(whole("seed", seed))
    wanted = draw.uniform(0.3, 1.0, whole("goods", goods, at_least=1))
    return (draw.random((whole("people", people, at_least=1), goods)) * wanted).astype(np.float32)
