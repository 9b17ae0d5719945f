"""Simulated participants of a campaign, drawn from its public columns and model: their typical payments, and the cost
of lies.

The results inform the reader of a plan, in the unit of the answer. No record is read, and no guarantee depends on
simulated participants.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confide.privacy.noise import Noise
from confide.regression.priors import UniformBall, parameters
from confide.regression.private_truthful_regression import PrivateTruthfulRegression
from confide.regression.records import Batch, ordered_dot
from confide.regression.setting import Setting
from confide.tables import Category, Design, Numeric

__all__ = ["Lie", "StandIn", "StandIns", "stand_in", "stand_ins"]


@dataclass(frozen=True, kw_only=True, eq=False)
class StandIn:
    """A simulated population, drawn from the public model, in which everybody is truthful.

    Args:
        theta: (d,) true parameter.
        X: (n, d) features; E[x x'] has the public eigenvalues `Setting.eigenvalues`.
        y: (n,) truthful answers.
    """

    theta: np.ndarray
    X: np.ndarray
    y: np.ndarray


def stand_in(setting: Setting, noise: Noise, run: int = 0) -> StandIn:
    """Draw one simulated population from the public model.

    Features are uniform in the ball where the model assumes a uniform law. For other laws, the features' coordinates
    have random signs, and their sizes are the square roots of the assumed eigenvalues.
    """
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


_PEOPLE = 400
_SHARES = (0.05, 0.1, 0.25, 0.5)  # sizes of lies, as shares of the answer's scale


@dataclass(frozen=True, kw_only=True)
class Lie:
    """The cost of an answer that is higher or lower than the truth by a given size.

    Args:
        size: difference from the truth, in the unit of the answer.
        cost: median over people of the loss in expected payment, in the currency, when peers predict the number that
            the true answer implies.
        ruled_out: share of people for whom the lie certainly loses, because it moves their prediction by more than the
            truth radius.
    """

    size: float
    cost: float
    ruled_out: float


@dataclass(frozen=True, kw_only=True)
class StandIns:
    """The payments of simulated participants, and the cost of their lies, in the currency.

    Args:
        payment: mean payment of a truthful participant.
        low: amount below which the payments of one in twenty truthful participants lie.
        high: amount above which the payments of one in twenty truthful participants lie.
        lies: costs of lies, by size.
        any_ruled_out: share of people for whom at least one answer certainly loses.
    """

    payment: float
    low: float
    high: float
    lies: tuple[Lie, ...]
    any_ruled_out: float


def _rows(design: Design, noise: Noise) -> np.ndarray:
    """(m, d) simulated features: numbers uniform between their bounds, and levels of categories equally likely, all
    independent.
    """
    uniform = np.arctan(noise.gaussian(1.0, (_PEOPLE, max(1, len(design.features))), stream="stand-in columns"))
    uniform = np.clip(uniform / math.pi + 0.5, 0.0, 1.0 - 1e-12)
    values = [(u * len(column.levels)).astype(int) if isinstance(column, Category) else
              column.lower + u * (column.upper - column.lower)
              for column, u in zip(design.features, uniform.T, strict=False)]
    return design.rows_of(values, _PEOPLE)


def stand_ins(
    mechanism: PrivateTruthfulRegression, design: Design, response: Numeric, truth_radius: float
) -> StandIns:
    """Simulated participants and their payments, equal in every call.

    Args:
        mechanism: mechanism that pays the simulated participants.
        design: columns from which the participants' features are drawn.
        response: role of the answer.
        truth_radius: truth radius rho. A lie that moves the prediction by more than rho certainly loses.
    """
    setting, rule, law = mechanism.setting, mechanism.payment.rule, mechanism.posterior
    noise = Noise.simulated(0)
    X = _rows(design, noise)
    d, count = setting.features, len(X)
    # One parameter each: what a participant expects is an average over the model.
    normals = noise.gaussian(1.0, (count, d), stream="stand-in theta")
    theta = parameters(setting.prior, normals, (np.arange(count) + 0.5) / count)
    middle = (np.argsort(noise.gaussian(1.0, count, stream="stand-in order")) + 0.5) / count
    y = np.einsum("ij,ij->i", X, theta) + setting.noise.from_uniforms(middle)
    X, y, _ = mechanism.record_map.clip(Batch(np.arange(count), X, y))
    own = law(X, y)
    # The payment: peers with their noise, radius and direction drawn in bulk.
    z = noise.gaussian(1.0, (count, d), stream="stand-in direction")
    radius = np.abs(noise.laplace(mechanism.noise_scale, (count, d), stream="stand-in radius")).sum(axis=1)
    predicted = own + ordered_dot(X * (z / np.linalg.norm(z, axis=1)[:, None]), np.ones(d)) * radius
    if mechanism.prediction_bound is not None:
        predicted = np.clip(predicted, -mechanism.prediction_bound, mechanism.prediction_bound)
    paid = rule(predicted, own)

    low, high = ((end - response.middle) / response.scale for end in (response.lower, response.upper))

    def moved(by: float) -> np.ndarray:
        answers = y + by
        allowed = (answers >= low) & (answers <= high)
        return np.where(allowed, np.abs(law(X, np.where(allowed, answers, y)) - own), np.nan)

    lies = []
    for share in _SHARES:
        size = _round(share * response.scale)
        moves = np.concatenate([moved(size / response.scale), moved(-size / response.scale)])
        moves = moves[~np.isnan(moves)]
        if moves.size:
            lies.append(Lie(size=size, cost=rule.b * float(np.median(moves)) ** 2,
                            ruled_out=float(np.mean(moves > truth_radius))))
    reach = np.minimum(setting.parameter_bound * np.linalg.norm(X, axis=1) + setting.noise_bound, setting.response)
    furthest = np.maximum(np.abs(law(X, np.minimum(reach, high)) - own), np.abs(law(X, np.maximum(-reach, low)) - own))
    quantiles = np.quantile(paid, [0.05, 0.95])
    return StandIns(payment=float(rule(own, own).mean()), low=float(quantiles[0]), high=float(quantiles[1]),
                    lies=tuple(lies), any_ruled_out=float(np.mean(furthest > truth_radius)))


def _round(value: float) -> float:
    """A value rounded to one significant digit, for sizes that are easy to read."""
    return float(f"{value:.1g}")
