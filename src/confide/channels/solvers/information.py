"""The least mutual information at a distortion, for any prior: the slope is sought whose channel has this distortion.

Source: Wang 2016, (2.19) and Theorem 2; spec privacy_notions 7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from confide.channels.channel import ExponentialForm, FiniteChannel
from confide.channels.constants import PriorConstants
from confide.channels.joint_types import JointTypeChannel, joint_types
from confide.channels.kernels import h, h_inverse
from confide.channels.priors import Exchangeable, Prior
from confide.channels.solvers.class_product import MOST_ROWS
from confide.channels.solvers.slope_solver import LARGEST_SLOPE, SlopePoint, solve_slope
from confide.contract.errors import SolverFailed, Unsupported

__all__ = ["LeastInformation", "information_seconds", "least_information"]

_CLOSE = 1e-8  # of the distortion, per row
_STEPS = 60
_LEFT = 0.8  # of what is left after a slope, about


@dataclass(frozen=True, eq=False)
class LeastInformation:
    """eps_m*(D), in nats.

    Args:
        lower: certified.
        upper: the information of `channel`, whose distortion is at most D.
        slope: lambda of that channel.
        channel: None for exchangeable priors too large to list one.
    """

    lower: float
    upper: float
    slope: float
    channel: FiniteChannel | None


def information_seconds(prior: Prior) -> float:
    """How long a solution takes on a usual machine, about; from sizes alone. 0 for what is refused as too large.

    Example:
        >>> from confide.channels.priors import Exchangeable
        >>> [round(information_seconds(Exchangeable.mixture([1.0], [[0.5, 0.5]], n))) for n in (100, 1000)]
        [0, 30]
    """
    if isinstance(prior, Exchangeable):
        return 30.0 * (len(prior.types) / 1000.0) ** 3 if prior.letters > 2 or prior.records <= MOST_ROWS else 0.0
    return 60.0 * prior.records * prior.cells / (18 * 2**18) if prior.cells <= LARGEST_SLOPE else 0.0


def least_information(
    prior: Prior, distortion: float, constants: PriorConstants, progress: Callable[[float], None] | None = None
) -> LeastInformation:
    """Solve at a distortion between h(eps~_X), where the closed form ends, and D_0, where a constant does.

    The distortion falls as the slope grows; false position and halving find the slope to a part in 10^8.

    Args:
        prior: see `solve_slope`.
        distortion: D.
        constants: of the prior.
        progress: told which share is done, about.

    Raises:
        Unsupported: too large.
        SolverFailed: see `solve_slope`.

    Example:
        >>> from confide.channels.priors import FullPrior
        >>> pair = FullPrior([0.45, 0.05, 0.05, 0.45], 2, 2)
        >>> found = least_information(pair, 0.4, PriorConstants.of(pair))
        >>> round(found.upper, 6), round(found.slope, 5)
        (0.218327, 0.80472)
    """
    m, n, close = prior.letters, prior.records, _CLOSE * prior.records
    # Slopes with too much distortion, and with not too much: h bounds the distortion at any slope from above.
    low, high = 0.0, min(constants.kernel_level, h_inverse(distortion, m, n))
    over, under = constants.constant_distortion - distortion, h(high, m, n) - distortion
    lower = 0.0
    best: SlopePoint | None = None
    start, halve = None, False
    for step in range(_STEPS):
        if progress is not None:
            progress(1.0 - _LEFT**step)
        share = 0.5 if halve or not over - under > 0 else min(max(over / (over - under), 0.01), 0.99)
        slope = low + share * (high - low)
        point = solve_slope(prior, slope, start)
        lower, start, off = max(lower, point.bound - slope * distortion), point.weights, point.distortion - distortion
        before = high - low
        if off > 0:
            low, over = slope, off
        else:
            high, under = slope, off
            best = point if best is None or point.information < best.information else best
        halve = high - low > 0.5 * before
        if (best is not None and best.information - lower <= close) or high - low <= 1e-14 * high:
            break
    if best is None:
        raise SolverFailed("mutual information", f"no slope was found for a distortion of {distortion:g}")
    return LeastInformation(max(0.0, min(lower, best.information)), best.information, best.slope,
                            _channel(prior, best))


def _channel(prior: Prior, point: SlopePoint) -> FiniteChannel | None:
    if not isinstance(prior, Exchangeable):
        return ExponentialForm(point.weights, point.slope, prior.letters, prior.records)
    try:
        types = joint_types(prior.letters, prior.records)
    except Unsupported:
        return None
    with np.errstate(divide="ignore"):
        ways = gammaln(prior.records + 1) - gammaln(prior.types + 1).sum(axis=1)
        log_q = np.log(point.weights) - ways  # of one output
    logs = types.log_sequences + log_q[types.outputs] - point.slope * types.changed
    top = np.full(len(prior.types), -np.inf)
    np.maximum.at(top, types.inputs, logs)
    mass = np.exp(logs - top[types.inputs])
    return JointTypeChannel(types, mass / np.bincount(types.inputs, mass)[types.inputs])
