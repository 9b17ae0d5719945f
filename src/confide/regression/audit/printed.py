"""The mechanism as printed, without the ball: kept to show that its proof fails, and that the audit says so.

Source: Cummings et al. 2015, Lemma 6; spec truthful_regression 4.3.
"""

from __future__ import annotations

import numpy as np

from confide.audit import Neighbours, TranscriptAudit, fixed_transcript_audit
from confide.privacy.losses import PureDP
from confide.privacy.noise import Noise
from confide.regression.sensitivity import WeightedRows, counterexample, printed_constant

__all__ = ["printed_audit", "printed_loss", "printed_samples"]

_ROWS, _RIDGE = 10_000, 10.0  # where the printed proof fails by a factor 5.34 (spec 4.3)


def _scale(epsilon: float) -> float:
    return printed_constant(1.0, 1.0) / (_RIDGE * epsilon)


def printed_audit(epsilon: float, noise: Noise) -> TranscriptAudit:
    """The printed release, run on the counterexample's two data sets through the door that every mechanism uses."""

    def release(data: WeightedRows, source: Noise) -> np.ndarray:
        return source.vector_laplace(_scale(epsilon), 2, stream=("release",), center=data.ridge(_RIDGE))

    pair = Neighbours(*counterexample(_ROWS, _RIDGE), lambda estimate: estimate.tobytes())
    return fixed_transcript_audit(release, [pair], {"": PureDP(epsilon)}, lambda _: noise)[""]


def printed_loss(epsilon: float) -> float:
    """True loss of the printed mechanism at n = 10^4, gamma = 10, B = M = 1, where it claims epsilon."""
    first, second = counterexample(_ROWS, _RIDGE)
    return float(np.linalg.norm(first.ridge(_RIDGE) - second.ridge(_RIDGE))) / _scale(epsilon)


def printed_samples(epsilon: float, runs: int, noise: Noise) -> tuple[np.ndarray, np.ndarray]:
    """Releases of the printed mechanism on that pair, projected on the line between the two estimates.

    Args:
        epsilon: what it claims.
        runs: releases of each data set.
        noise: where the noise comes from.
    """
    a, b = (data.ridge(_RIDGE) for data in counterexample(_ROWS, _RIDGE))
    axis = (a - b) / float(np.linalg.norm(a - b))
    # Radius and direction in bulk: a sum of d exponentials, and normalised normals (spec 4.4).
    draws = []
    for side, center in enumerate((a, b)):
        z = noise.gaussian(1.0, (runs, 2), stream=("audit", "direction", side))
        radius = np.abs(noise.laplace(_scale(epsilon), (runs, 2), stream=("audit", "radius", side))).sum(axis=1)
        draws.append(center @ axis + radius * (z @ axis) / np.linalg.norm(z, axis=1))
    return draws[0], draws[1]
