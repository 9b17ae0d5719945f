"""A stand-in population: people drawn from the public model, everybody truthful. No participant's record is used."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.privacy.noise import Noise
from confide.regression.priors import UniformBall, parameters
from confide.regression.setting import Setting

__all__ = ["StandIn", "stand_in"]


@dataclass(frozen=True, kw_only=True, eq=False)
class StandIn:
    """A population drawn from the public model, everybody truthful.

    Args:
        theta: (d,) the parameter.
        X: (n, d) features; E[x x'] has the public eigenvalues, `Setting.eigenvalues`.
        y: (n,) answers.
    """

    theta: np.ndarray
    X: np.ndarray
    y: np.ndarray


def stand_in(setting: Setting, noise: Noise, run: int = 0) -> StandIn:
    """Draw one population: uniform in the ball where that is the model, else axes of the public spectrum with signs."""
    n, d = setting.people, setting.features

    def uniforms(size: int, name: str) -> np.ndarray:
        from scipy.special import ndtr

        return np.asarray(np.clip(ndtr(noise.gaussian(1.0, size, stream=(name, run))), 1e-12, 1 - 1e-12))

    z = noise.gaussian(1.0, (n, d), stream=("stand-in", "x", run))
    if setting.uniform_ball:
        X = UniformBall(dimension=d, radius=1.0).from_normals(z, uniforms(n, "stand-in length"))
    else:
        X = np.copysign(np.sqrt(setting.eigenvalues), z)
    normals = noise.gaussian(1.0, (1, d), stream=("stand-in", "theta", run))
    theta = parameters(setting.prior, normals, uniforms(1, "stand-in theta length"))[0]
    return StandIn(theta=theta, X=X, y=X @ theta + setting.noise.from_uniforms(uniforms(n, "stand-in residual")))
