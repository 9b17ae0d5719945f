"""Output perturbation as printed: plain ridge plus noise of scale (4B + 2M)/(gamma epsilon). The printed privacy claim
holds only for few combinations of the number of rows and the ridge weight.

When one record is replaced, a plain ridge estimate changes by up to D(sup, Y)/gamma in length. Here sup is the largest
possible length of an estimate from the given number of records, and Y is the bound on an answer. Where D(sup, Y)
exceeds the printed 4B + 2M, the privacy loss of the printed noise exceeds the stated epsilon, and no privacy is
claimed. The release exists only for studies, comparisons and audits.

Source: Cummings et al. 2015, Algorithm 2 and Lemma 6; spec truthful_regression sections 4.2, 4.3, 7.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from confide.contract.errors import NotGuaranteed
from confide.contract.guarantees import Source
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.privacy.accounting import written
from confide.privacy.events import Event
from confide.privacy.losses import PureDP
from confide.privacy.noise import Noise, Stream
from confide.privacy.primitives.additive import add_vector_laplace
from confide.regression.bounds import RidgeBounds
from confide.regression.constrained_ridge import certified_ridge
from confide.regression.records import Moments
from confide.regression.release.base import ROOM, Released
from confide.regression.release.output_perturbation import SOLVER_SHARE, RidgeRelease, ridge_bounds
from confide.regression.sensitivity import diameter, printed_constant, ridge_norm_sup
from confide.regression.setting import Setting

__all__ = [
    "PRINTED_PRIVACY",
    "WITHOUT_CLAIM",
    "WITH_CLAIM",
    "PrintedRidge",
    "plain_bounds",
    "printed_claim",
    "printed_scale",
    "proved_epsilon",
    "unconstrained_ridge",
]

PRINTED_PRIVACY = Source(document="Cummings et al. 2015", statement="Theorem 2 and Lemma 6",
                         spec="truthful_regression 4.2, 4.3",
                         erratum="the printed sensitivity bounds |x'theta| by the bound on the true parameter, which a "
                                 "plain ridge estimate exceeds (E1, E2)")

WITHOUT_CLAIM = ("at these sizes a plain ridge estimate moves by more than (4B + 2M)/gamma when a record is replaced, "
                 "and the printed noise hides less than it says: no privacy is claimed")
"""Text for reports and error messages that explains the mistake where the source's privacy claim fails."""

WITH_CLAIM = ("the printed noise suffices here: at these sizes D(sup of the plain estimate, Y) is at most 4B + 2M; "
              "that is proved anew, not by the printed Lemma 6")
"""Text for reports that says why the source's privacy claim holds at some sizes."""

_INACTIVE = 1.0 + 2.0**-20
"""Factor on the largest length of a plain estimate. A ball with the product as radius never restricts the solution, so
that the certified solution is the plain ridge estimate.
"""


def printed_scale(setting: Setting, ridge: float, epsilon: float) -> float:
    """The source's noise scale (4B + 2M)/(ridge epsilon) with B = R0^2, with a relative error of at most 2^-49."""
    return printed_constant(setting.parameter_bound**2, setting.noise_bound) / ridge / epsilon * ROOM


def proved_epsilon(setting: Setting, rows: int, ridge: float, epsilon: float) -> float:
    """The proven privacy loss of the printed noise: epsilon max(1, D(sup, Y)/(4B + 2M)), where D(sup, Y)/gamma bounds
    the change of the estimate when one record is replaced.

    For two or more features the bound is attained asymptotically, so no better general bound exists. The bound also
    covers the numerical errors of the two estimates, which are certified.

    Args:
        setting: public facts of the regression: numbers of people and features, and bounds on parameters and residuals.
        rows: number of records from which the estimate is computed.
        ridge: ridge weight gamma > 0.
        epsilon: privacy loss in nats, > 0, for which the source scales the noise.

    Source: spec truthful_regression 4.2.
    """
    moved = diameter(ridge_norm_sup(rows, ridge, setting.response), setting.response) * (1.0 + 2.0 * SOLVER_SHARE)
    allowed = printed_constant(setting.parameter_bound**2, setting.noise_bound)
    return epsilon if moved <= allowed else epsilon * (moved / allowed) * ROOM


def printed_claim(setting: Setting, rows: int, ridge: float, epsilon: float) -> PureDP:
    """The source's privacy loss epsilon, if this loss is proved for `rows` records. If no proof exists, the returned
    loss is infinite, which promises nothing.
    """
    return PureDP(epsilon if proved_epsilon(setting, rows, ridge, epsilon) <= epsilon else math.inf)


def unconstrained_ridge(
    setting: Setting, sums: Moments, ridge: float, epsilon: float, noise: Noise, stream: Stream, *,
    line: str | None = None, group: str | None = None,
) -> np.ndarray:
    """One plain ridge estimate with the printed noise, shape (d,)."""
    longest = ridge_norm_sup(setting.people, ridge, setting.response) * _INACTIVE
    tolerance = SOLVER_SHARE * diameter(0.0, setting.response) / ridge * (1.0 - 2.0**-40)  # fits any number of rows
    center = certified_ridge(sums, ridge, longest, tolerance)
    scale = printed_scale(setting, ridge, epsilon)
    # A run whose printed noise hides less than it says has no charge, and so no meter.
    return add_vector_laplace(noise, center, noise_scale=scale, l2_sensitivity=Fraction(scale) * written(epsilon),
                              stream=stream, line=line, group=group)


def plain_bounds(setting: Setting, rows: int, ridge: float, misreports: float) -> RidgeBounds:
    """Error bounds of a plain ridge estimate from `rows` records. The share `misreports` of these records may be
    misreported or absent.
    """
    return replace(ridge_bounds(setting, rows, ridge, misreports), radius=math.inf)


@wire("PrintedRidge", "epsilon ridge")
@renamed()
@dataclass(frozen=True, kw_only=True)
class PrintedRidge(RidgeRelease):
    """The source's release: the plain ridge estimate of all records with the printed noise.

    The privacy loss depends on the number of people. The release therefore states no finite loss; `printed_claim`
    computes the loss.
    """

    def events(self) -> tuple[Event, ...]:
        raise NotGuaranteed("the printed privacy loss", "this loss depends on the number of people",
                            "use PrintedTruthfulRegression, which states a loss for its number of people")

    def noise_scale(self, setting: Setting) -> float:
        return printed_scale(setting, self.ridge, self.epsilon)

    def bounds(self, setting: Setting, misreports: float) -> RidgeBounds:
        return plain_bounds(setting, setting.people, self.ridge, misreports)

    def privacy(self) -> tuple[PureDP, Source, str]:
        return PureDP(math.inf), PRINTED_PRIVACY, "vector Laplace noise of scale (4B + 2M)/(gamma epsilon), as printed"

    def run(self, setting: Setting, total: Moments, peers: np.ndarray, noise: Noise) -> Released:
        estimate = unconstrained_ridge(setting, total, self.ridge, self.epsilon, noise, ("release",),
                                       line="release")
        return Released(estimate=estimate, gram=np.zeros((0, 0)), cross=np.zeros(0))

    def describe(self) -> str:
        return f"plain ridge regression (weight {self.ridge:.4g}) plus the printed noise"
