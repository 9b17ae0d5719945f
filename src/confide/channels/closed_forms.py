"""Formulas for the least privacy level at a distortion. The formulas hold at all distortions for independent rows, and
at small distortions for all priors.

Source: spec privacy_notions 5 (table, items 1, 3, 5).

The module also has the published bounds on privacy at a distortion, for comparison with the exact values.

Source: Wang 2016, Theorems 1 and 2, Corollary 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from confide.channels.constants import PriorConstants
from confide.channels.kernels import entropy_of_row, h, h_inverse
from confide.channels.notions import Notion, as_notion
from confide.channels.priors import IndependentRows, Prior, as_prior
from confide.channels.rows import dp_level, identifiability_level, information
from confide.contract.checks import non_negative

__all__ = ["PrintedBounds", "closed_form", "printed_bounds"]

# ---- closed forms

_END = 1e-12  # of n, where a range ends


def closed_form(
    notion: Notion, prior: Prior | ArrayLike, distortion: float, constants: PriorConstants | None = None
) -> float | None:
    """The least privacy level of any release with the given distortion, in nats; None where no formula is known.

    Args:
        notion: "dp", "identifiability" or "mutual-information".
        prior: prior of the database, or anything that `as_prior` accepts.
        distortion: expected number of changed rows, in [0, n].
        constants: constants of the prior, if they were computed before.

    Example:
        >>> from confide.channels import IndependentRows
        >>> round(closed_form("dp", IndependentRows([[0.2, 0.3, 0.5]], [2]), 0.8), 6)
        1.098612
    """
    notion = as_notion(notion)
    prior = as_prior(prior)
    m, n = prior.letters, prior.records
    distortion = non_negative("distortion", distortion, at_most=float(n))
    if distortion == 0:
        return prior.entropy if notion == "mutual-information" else math.inf
    found = PriorConstants.of(prior) if constants is None else constants
    if not prior.positive and notion == "identifiability":
        return math.inf
    if notion != "identifiability" and distortion >= found.constant_distortion - _END * n:
        return 0.0
    if isinstance(prior, IndependentRows):
        if notion == "dp":
            return dp_level(prior, distortion)
        if notion == "identifiability":
            return identifiability_level(prior, distortion, found.prior_level)
        return information(prior, distortion)
    start = h(found.row_level if notion == "dp" else found.kernel_level, m, n)
    if distortion > start:
        return None
    level = h_inverse(distortion, m, n)
    return level if notion != "mutual-information" else max(0.0, prior.entropy - n * entropy_of_row(level, m))


# ---- printed


@dataclass(frozen=True, kw_only=True)
class PrintedBounds:
    """Bounds of Wang 2016 on the least privacy levels at one distortion, in nats. The function h maps a level to the
    distortion of the symmetric kernel (`confide.channels.kernels`) at that level. The levels eps_X and eps~_X are
    `prior_level` and `kernel_level` of `PriorConstants`.

    Args:
        distortion: distortion D, the expected number of changed rows.
        identifiability: (lower, upper) bounds of eps_i*(D), the least identifiability, by (2.12). The lower and the
            upper bound are equal up to D = h(eps~_X). Beyond D = h(eps~_X) Wang 2016 has no upper bound, and the upper
            bound is infinity.
        dp: (lower, upper) bounds of eps_d*(D), the least differential privacy, by (2.13).
        kernel_dp: largest amount by which the differential privacy of the kernel mechanism exceeds eps_d*(D), in nats:
            2 eps_X by Corollary 1. The kernel mechanism is optimal for identifiability and information. Beyond D =
            h(eps~_X), where Wang 2016 has no bound, the value is nan.
        exact_kernel_dp: exact amount by which the differential privacy of the kernel mechanism exceeds eps_d*(D), in
            nats: eps_X (spec 5.4); nan beyond D = h(eps~_X).
    """

    distortion: float
    identifiability: tuple[float, float]
    dp: tuple[float, float]
    kernel_dp: float
    exact_kernel_dp: float


def printed_bounds(
    prior: Prior | ArrayLike, distortion: float, constants: PriorConstants | None = None
) -> PrintedBounds:
    """Wang's published bounds on the least privacy levels at one distortion.

    Args:
        prior: prior under which all databases are possible, or anything that `as_prior` accepts.
        distortion: distortion D, the expected number of changed rows, in [0, n].
        constants: constants of the prior, if they were computed before.

    Example:
        >>> from confide.channels import IndependentRows
        >>> found = printed_bounds(IndependentRows([[0.2533, 0.1821, 0.1821, 0.1873, 0.1952]]), 0.74)
        >>> [round(each, 4) for each in found.dp]
        [0.0103, 0.3403]
    """
    prior = as_prior(prior)
    m, n = prior.letters, prior.records
    distortion = non_negative("distortion", distortion, at_most=float(n))
    found = PriorConstants.of(prior) if constants is None else constants
    level, own = h_inverse(distortion, m, n), found.prior_level
    inside = distortion <= h(found.kernel_level, m, n)
    identifiability = (level, level) if inside else (max(level, own), math.inf)
    return PrintedBounds(
        distortion=distortion, identifiability=identifiability,
        dp=(max(level - own, 0.0) if level < math.inf else math.inf, max(level, 0.0)),
        kernel_dp=2.0 * own if inside else math.nan, exact_kernel_dp=own if inside else math.nan,
    )
