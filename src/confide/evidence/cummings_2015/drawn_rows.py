"""Simulated feature vectors, uniform in a ball as in the model of Cummings et al. 2015."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from confide.privacy.noise.simulated import study_generator
from confide.regression.priors import UniformBall

__all__ = ["rows_of_the_ball"]


def rows_of_the_ball(count: int, dimension: int, seed: int, radius: float = 1.0) -> NDArray[np.float64]:
    """Draw rows uniformly in a ball, shape (count, d).

    Args:
        count: number of rows.
        dimension: dimension d of the ball.
        seed: seed of the generator.
        radius: radius of the ball, > 0.

    Example:
        >>> rows = rows_of_the_ball(1000, 3, 1, radius=0.5)
        >>> 0.49 < float(np.linalg.norm(rows, axis=1).max()) <= 0.5
        True
    """
    draw = study_generator(seed, "rows")
    normals, lengths = draw.standard_normal((count, dimension)), draw.random(count)
    return UniformBall(dimension=dimension, radius=radius).from_normals(normals, lengths)
