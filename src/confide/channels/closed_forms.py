"""The least level at a distortion, where a formula gives it: for independent rows always, for all priors at small ones.

Source: spec privacy_notions 5 (table, items 1, 3, 5).
"""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from confide.channels.constants import PriorConstants
from confide.channels.independent import dp_level, identifiability_level, information
from confide.channels.kernels import entropy_of_row, h, h_inverse
from confide.channels.notions import Notion, as_notion
from confide.channels.priors import IndependentRows, Prior, as_prior
from confide.contract.checks import non_negative

__all__ = ["closed_form"]

_END = 1e-12  # of n, where a range ends


def closed_form(
    notion: Notion, prior: Prior | ArrayLike, distortion: float, constants: PriorConstants | None = None
) -> float | None:
    """The least level of any release that changes this many rows, in nats; None where no formula is known.

    Args:
        notion: "dp", "identifiability" or "mutual-information".
        prior: of the database, or what `as_prior` makes one of.
        distortion: expected number of changed rows, in [0, n].
        constants: of the prior, if they are at hand.

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
