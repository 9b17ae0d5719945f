"""The guarantees of the private mechanism as functions of public parameters: errors, incentives, payments, accuracy.

`privacy_cost` stands for tau epsilon_total^2, the largest privacy cost of a player with a cost coefficient up to the
threshold tau, in the unit of the payments. `error` stands for e, the bound of `RidgeBounds.peer_error`. Expectations
for a player are interim: they are conditional on the player's own (x, y, c), and are over everybody else's data,
choices and absences, the split into groups and the noise.

Source: Cummings et al. 2015, Theorem 4 and its lemmas, corrected; spec truthful_regression section 7.1.

The module also bounds the effect of identical fake records on a regression, in closed form, from public second moments
alone.

Take m records with the same features x and the same answer, among n - m honest people with second moments S = E[x x'].
Least squares then moves by m r A^-1 x/(1 + m x'A^-1 x), where A = (n - m) S, and r is the residual of these records at
the honest estimate. With the leverage L = x'S^-1 x, the root mean square movement of all people's predictions is

    m r sqrt(L)/(n - m + m L).

A ridge can only reduce the movement of the predictions. A liar who may choose x takes the largest value over L, which
is at most |x|^2 divided by the least eigenvalue of S.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy

from confide.contract.checks import fraction, non_negative, positive, whole
from confide.contract.errors import InvalidInput, NotGuaranteed
from confide.contract.parameters import Declared, Parameter
from confide.contract.remedies import tried
from confide.numerics.fewest import fewest
from confide.regression.posterior import PosteriorMean, truthful_reports
from confide.regression.priors import Isotropic, UniformNoise
from confide.regression.records import GRID_BITS
from confide.regression.scoring import ScoringRule, clipped_payment_range, payment_deviation, payment_range
from confide.regression.sensitivity import diameter, ridge_norm_sup
from confide.regression.spectrum import Spectrum, ridge_shrinkage

__all__ = [
    "RidgeBounds",
    "clipped_payment_range",
    "clipping_bias",
    "expected_budget",
    "fewest_moving",
    "incentive_bound",
    "largest_loss",
    "lie_bias",
    "moved_by",
    "participation_constant",
    "payment_deviation",
    "payment_range",
    "ridge_shrinkage",
    "scale_for_radius",
    "truth_radius",
    "typical_release_error",
]

# ---- bounds


@dataclass(frozen=True, kw_only=True)
class RidgeBounds(Declared):
    """Error bounds of one ridge estimate: the payment estimate of one group, or the released estimate of all people.

    The number m of rows counts the records in the estimate. The bounds lo and hi of the `spectrum` are bounds on the
    eigenvalues of X'X, and the share alpha is `misreports`. If the two groups differ in size, the larger of the two
    groups' errors counts.

    Example:
        >>> group = Spectrum.uniform_ball(rows=500_000, dimension=5, tolerance=0.05)
        >>> design = {"prior_radius": 1.0, "noise_bound": 0.5, "radius": 1.25, "misreports": 0.001}
        >>> round(RidgeBounds(spectrum=group, ridge=1000.0, **design).peer_error, 4)
        0.0363
    """

    spectrum: Annotated[Spectrum, Parameter("number m of rows of the estimate")]
    ridge: Annotated[float, Parameter("ridge weight", symbol="gamma", above=0)]
    prior_radius: Annotated[float, Parameter("bound on ||theta||", symbol="R0", above=0)]
    noise_bound: Annotated[float, Parameter("bound on |y - x'theta|", symbol="M", above=0)]
    radius: Annotated[float, Parameter(
        "radius of the ball that the estimate is constrained to, at least R0; infinite for plain ridge", symbol="R",
        above=0, infinite=True)] = math.inf
    noise_variance: Annotated[float, Parameter(
        "E[z^2], at most M^2; infinite if only M is known", at_least=0, infinite=True)] = math.inf
    response_bound: Annotated[float, Parameter(
        "public bound on |y| below R0 + M, if such a bound is known", above=0, infinite=True)] = math.inf
    misreports: Annotated[float, Parameter(
        "tolerated share of misreports and absences", symbol="alpha", at_least=0, below=1)] = 0.0
    absences: Annotated[bool, Parameter("whether alpha counts absences as well as lies")] = True
    quantised: Annotated[bool, Parameter(
        "whether inputs are truncated to multiples of 2^-16, and the estimate is certified to 2^-16 D/gamma")] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.radius < self.prior_radius:
            raise InvalidInput("radius", f"{self.radius!r} is below prior_radius = {self.prior_radius!r}",
                               "must be at least prior_radius, so that the ball holds theta")

    @property
    def event(self) -> Spectrum:
        """The bounds on the eigenvalues of X'X for the rows X as they are used, truncated to the grid where
        `quantised`.
        """
        return self.spectrum.quantised() if self.quantised else self.spectrum

    @property
    def response(self) -> float:
        """The bound Y on |y|: R0 + M, or `response_bound` if that is smaller."""
        return min(self.prior_radius + self.noise_bound, self.response_bound)

    @property
    def longest_plain(self) -> float:
        """The largest norm of the estimate without the constraint to a ball, over all data."""
        return ridge_norm_sup(self.spectrum.rows, self.ridge, self.response)

    @property
    def longest(self) -> float:
        """The largest norm of the estimate, over all data."""
        return min(self.radius, self.longest_plain)

    @property
    def influence(self) -> float:
        """Y', the largest change of half the gradient of the sum of squares by one misreport or absence: Y + max(Y,
        longest), or 2 Y for lies alone.

        A lie changes y x by at most 2 Y; an absence removes (x'theta) x - y x, of length at most Y + longest.
        """
        return self.response + (max(self.response, self.longest) if self.absences else self.response)

    @property
    def curvature(self) -> tuple[float, float]:
        """Bounds (gamma + lo, gamma + hi) on the curvature of half the ridge objective, where lo and hi bound the
        eigenvalues of X'X.
        """
        return self.ridge + self.event.lower, self.ridge + self.event.upper

    def shift(self, people: float) -> float:
        """A bound on the movement of the estimate by alpha * people misreports and absences, given the bounds on the
        spectrum.
        """
        return self.influence * self.misreports * people / self.curvature[0]

    @property
    def ridge_bias(self) -> float:
        """The bound gamma R0 / (gamma + lo) on the bias that the ridge causes."""
        return self.ridge * self.prior_radius / self.curvature[0]

    @property
    def constraint_bias(self) -> float:
        """A bound zeta on the change of the estimate's mean by the constraint to a ball, given the bounds on the
        spectrum; 0 for plain ridge.

        The bound is

            sqrt((gamma + hi)/(gamma + lo)) E(||X'z|| - u0)+ / (gamma + lo),   u0 = (gamma + lo)(R - R0 + R0 gamma /
            (gamma + hi)).

        The unconstrained estimate lies inside the ball unless ||X'z|| > u0. Two bounds of Pinelis 1994 show that
        ||X'z|| > u0 is rare, and the smaller of the two bounds counts. The first bound is P[||X'z|| > u] <= 2
        exp(-u^2/(2 m M^2)). The second bound is P[||X'z|| > u] <= 2 exp(-g(u)), where g(u) = u^2/(2 (V + M u/3)) and V
        = m E[z^2]. Because g is convex, the integral of the second bound from u0 on is at most 2 exp(-g(u0))/g'(u0).
        """
        low, high = self.curvature
        spread = math.sqrt(self.spectrum.rows) * self.noise_bound
        room = low * (self.radius - self.prior_radius + self.prior_radius * self.ridge / high)
        overshoot = 2 * math.sqrt(2 * math.pi) * spread * float(scipy.special.ndtr(-room / spread))
        if math.isfinite(self.noise_variance) and 0 < room < math.inf:
            square = self.spectrum.rows * self.noise_variance + self.noise_bound * room / 3
            slope = room / square - room**2 * self.noise_bound / (6 * square**2)
            overshoot = min(overshoot, 2 * math.exp(-(room**2) / (2 * square)) / slope)
        return math.sqrt(high / low) * overshoot / low

    @property
    def truncation_bias(self) -> float:
        """A bound kappa_q on the effect of truncating inputs to the grid, and of the solver's tolerance; 0 unless
        `quantised`.

        The truncation contributes (1 + R0 sqrt(d)) 2^-16 sqrt(m / (gamma + lo)), and the solver contributes 2^-16
        D/gamma, where D = D(longest, Y) is the `diameter` of `confide.regression.sensitivity`.
        """
        if not self.quantised:
            return 0.0
        residual = 1 + self.prior_radius * math.sqrt(self.spectrum.dimension)
        solver = diameter(self.longest, self.response) / self.ridge
        return 2.0**-GRID_BITS * (residual * math.sqrt(self.spectrum.rows / self.curvature[0]) + solver)

    @property
    def peer_error(self) -> float:
        """A bound e on ||E[peers' estimate | x, y] - E[theta | x, y]||, the error of the peers' estimate. Payments
        compare the players' answers with this estimate.

        The bound is (Y' alpha m + gamma R0)/(gamma + lo) + zeta + kappa_q + failure (longest + R0), or longest + R0 if
        this is smaller. Here failure is the probability that the bounds on the spectrum fail. The privacy noise does
        not contribute to the bound, because its mean is zero.

        Source: ours, in place of Cummings et al. 2015, Lemmas 8 and 10, in which the effect of lies is divided by gamma
        alone, and the eigenvalues are those of n rows.
        """
        given = self.shift(self.spectrum.rows) + self.ridge_bias + self.constraint_bias + self.truncation_bias
        sure = self.longest + self.prior_radius
        return min(given + self.event.failure_probability * sure, sure)

    def debiased_peer_error(self, shrinkage: float, shrinkage_error: float = 0.0) -> float:
        """The bound e when the peers' estimate is divided by 1 - g, for rotation-invariant rows, where this division
        removes the ridge bias.

        The bound is (Y' alpha m/(gamma + lo) + zeta + kappa_q + failure (longest + longest plain) + |dg| R0)/(1 - g),
        or longest/(1 - g) + R0 if this is smaller.

        Args:
            shrinkage: expected shrinkage g in [0, 1) under the design law (`spectrum.ridge_shrinkage`), never computed
                from the data.
            shrinkage_error: bound |dg| on the distance of g to the true E tr[gamma (gamma I + X'X)^-1] / d.

        Source: spec truthful_regression section 8.
        """
        g, wrong = fraction("shrinkage", shrinkage, zero=True), non_negative("shrinkage_error", shrinkage_error)
        given = self.shift(self.spectrum.rows) + self.constraint_bias + self.truncation_bias
        rare = self.event.failure_probability * (self.longest + self.longest_plain)
        sure = self.longest / (1 - g) + self.prior_radius
        return min((given + rare + wrong * self.prior_radius) / (1 - g), sure)

    def truthful_error(self, variance: float) -> float:
        """The root mean square error of the noiseless estimate from truthful players, given the bounds on the spectrum.

        The error is sqrt(kappa ((gamma R0/(gamma + lo))^2 + d variance V)), where V is the maximum of w/(gamma + w)^2
        over w in [lo, hi]. For plain ridge kappa is 1. For a constrained estimate kappa is (gamma + hi)/(gamma + lo),
        because the constraint amounts to a projection in another norm.
        """
        low, high = self.curvature
        worst = min(max(2 * self.ridge, low), high)
        spread = self.spectrum.dimension * positive("variance", variance) * (worst - self.ridge) / worst**2
        return math.sqrt((1.0 if math.isinf(self.radius) else high / low) * (self.ridge_bias**2 + spread))

    def release_error(self, noise_scale: float, variance: float) -> float:
        """A bound on E||released - theta||^2, given the bounds on the spectrum and at most alpha m lies and absences.

        The bound is d (d + 1) s^2 + (Y' alpha m/(gamma + lo) + kappa_q + truthful error)^2.

        `noise_scale` is the scale s > 0 of the vector Laplace noise, and `variance` is E[z^2] > 0.

        Source: ours, in place of the last displayed formula in the proof of Cummings et al. 2015, Theorem 4.
        """
        given = self.shift(self.spectrum.rows) + self.truncation_bias + self.truthful_error(variance)
        return _noise_power(self.spectrum.dimension, noise_scale) + given**2

    def averaged_release_error(self, noise_scale: float, variance: float) -> float:
        """A bound on E||released - theta||^2 for the average of two groups' noisy estimates; `self` holds the bounds of
        the smaller group.

        The bound is d (d + 1) s^2 / 2 + (Y' alpha n/(2 (gamma + lo)) + kappa_q + truthful error)^2, with n <= 2 m + 1
        people.
        """
        given = self.shift(self.spectrum.rows + 0.5) + self.truncation_bias + self.truthful_error(variance)
        return _noise_power(self.spectrum.dimension, noise_scale) / 2 + given**2


def _noise_power(dimension: int, noise_scale: float) -> float:
    """The mean squared norm E||v||^2 = d (d + 1) s^2 of vector Laplace noise. Cummings et al. 2015 print 2 s^2, which
    is right only for d = 1.
    """
    return dimension * (dimension + 1) * positive("noise_scale", noise_scale) ** 2


def typical_release_error(
    rows: int, dimension: int, smallest: float, ridge: float, noise_scale: float, prior_radius: float, variance: float
) -> float:
    """The approximate value of E||released - theta||^2 for isotropic rows and truthful players; not a bound.

    The approximation is d (d + 1) s^2 + (gamma R0/(gamma + n mu))^2 + d variance n mu/(gamma + n mu)^2, where s is
    `noise_scale`, R0 is `prior_radius`, gamma is `ridge`, n is `rows` and mu is `smallest`, the least eigenvalue of E[x
    x'].

    Source: spec truthful_regression section 8.
    """
    mass = whole("rows", rows, at_least=1) * positive("smallest", smallest)
    level = positive("ridge", ridge) + mass
    return _noise_power(dimension, noise_scale) + ((ridge * prior_radius) ** 2 + dimension * variance * mass) / level**2


def clipping_bias(dimension: int, noise_scale: float, clip: float) -> float:
    """The increase of the error e if the peers' prediction is clipped at R + s t: E(||v|| - s t)+ = s (d Q(d + 1, t) -
    t Q(d, t)).

    In the formula d is the dimension, s > 0 the scale of the vector Laplace noise v, t >= 0 the clip, and Q the
    regularised upper incomplete gamma function.
    """
    d, t = whole("dimension", dimension, at_least=1), non_negative("clip", clip)
    excess = d * scipy.special.gammaincc(d + 1, t) - t * scipy.special.gammaincc(d, t)
    return positive("noise_scale", noise_scale) * max(0.0, float(excess))


def incentive_bound(b: float, error: float, privacy_cost: float) -> float:
    """The bound eta = b e^2 + tau epsilon^2 on the gain from any lie, for players with a cost coefficient up to tau."""
    return positive("b", b) * non_negative("error", error) ** 2 + non_negative("privacy_cost", privacy_cost)


def largest_loss(b: float, prior_radius: float, error: float) -> float:
    """The largest expected loss in payment from any lie, (2 R0 + e)^2 b; an `incentive_bound` above this number is
    vacuous.
    """
    return positive("b", b) * (2 * positive("prior_radius", prior_radius) + non_negative("error", error)) ** 2


def truth_radius(b: float, error: float, privacy_cost: float) -> float:
    """The truth radius rho = e + sqrt(e^2 + tau epsilon^2 / b): no lie that moves the liar's prediction by more than
    rho can be profitable.

    A lie that moves the prediction by D gains at most b D (2 e - D) in payment and tau epsilon^2 in privacy.
    """
    offset = non_negative("error", error)
    return offset + math.sqrt(offset**2 + non_negative("privacy_cost", privacy_cost) / positive("b", b))


def scale_for_radius(rho: float, error: float, privacy_cost: float) -> float:
    """The scoring weight b at which the truth radius is rho: tau epsilon^2 / (rho^2 - 2 e rho).

    Raises:
        NotGuaranteed: rho <= 2 e, so that no scoring weight gives the truth radius rho.
    """
    wanted, offset = positive("rho", rho), non_negative("error", error)
    if wanted <= 2 * offset:
        raise NotGuaranteed(
            f"a truth radius of {wanted:g}",
            f"the error of the peers' estimate can be up to e = {offset:.4g}",
            [*tried("choose a radius of {rho} or more, which is above 2 e", lambda rho: scale_for_radius(
                rho, error, privacy_cost), rho=2 * offset), "choose a smaller ridge weight for the payments"],
        )
    return positive("privacy_cost", privacy_cost) / (wanted * (wanted - 2 * offset))


def participation_constant(
    b: float, error: float, prior_radius: float, privacy_cost: float, *, centred: bool = False
) -> float:
    """The least scoring constant a at which truthful participation is worthwhile in expectation, for players with a
    cost coefficient up to the threshold tau.

    The constant is b phi(e) + tau epsilon^2. For the rule of Cummings et al. 2015, phi = (1 - w^2)/4 + e w, where w is
    2 e clipped to [max(0, 1 - 2 R0), 1 + 2 R0]. For the centred rule, phi = 2 e w - w^2 with w = min(e, R0), which is
    e^2 whenever e <= R0.
    """
    offset, reach = non_negative("error", error), positive("prior_radius", prior_radius)
    if centred:
        w = min(offset, reach)
        phi = 2 * offset * w - w * w
    else:
        w = min(max(2 * offset, 1 - 2 * reach), 1 + 2 * reach)
        phi = (1 - w * w) / 4 + offset * w
    return positive("b", b) * phi + non_negative("privacy_cost", privacy_cost)


def expected_budget(people: int, rule: ScoringRule, error: float, prior_radius: float) -> float:
    """A bound on the expected total payment to n invited people, for any reports. People without a usable record are
    paid 0.

    The bound is n (a + b (R0 + R0^2 + e (1 + 2 R0))) for the rule of Cummings et al. 2015, and n (a + b (R0^2 + 2 e
    R0)) for the centred rule. The bound is n times the largest expected payment of one player, over peers' predictions
    |P| <= R0 + e and own predictions |q| <= R0.
    """
    offset, reach = non_negative("error", error), positive("prior_radius", prior_radius)
    return whole("people", people, at_least=1) * max(0.0, rule.payment_range(reach + offset, reach)[1])


def lie_bias(posterior: PosteriorMean, rho: float, spectrum: Spectrum, ridge: float) -> float:
    """A bound on the movement of the estimate if all players lie in the same direction, as far as the truth radius
    allows.

    The bound is m E[|w'x| slack]/(gamma + lo), for any unit vector w and x uniform in the ball. The slack, the largest
    possible lie, is one-sided: upwards where w'x > 0 and downwards elsewhere. For point priors |w'x| is replaced by
    ||x||, and the slack by the larger of the two one-sided slacks.

    Args:
        posterior: public laws of the records, with log-concave noise.
        rho: truth radius. At rho = 0 the result covers the lies that do not change the prediction, where the prediction
            does not depend on the answer.
        spectrum: spectrum of the estimate's m rows.
        ridge: ridge weight gamma >= 0.
    """
    ball = isinstance(posterior.prior, Isotropic)
    nodes = 6 if not ball else 14 if isinstance(posterior.noise, UniformNoise) else 10
    x, y, weights = truthful_reports(posterior.prior, posterior.noise, nodes)
    down, up = posterior.slacks(x, y, rho)
    norms = np.sqrt(np.sum(x * x, axis=1))
    if ball:
        # E|w'x| = ||x|| Gamma(d/2) / (sqrt(pi) Gamma((d+1)/2)), independent of the response given ||x||.
        half = posterior.prior.dimension / 2
        cosine = math.exp(scipy.special.gammaln(half) - scipy.special.gammaln(half + 0.5)) / math.sqrt(math.pi)
        lever = cosine * norms * (down + up) / 2
    else:
        lever = norms * np.maximum(down, up)
    return spectrum.rows * float(np.sum(weights * lever)) / (non_negative("ridge", ridge) + spectrum.lower)


# ---- second identities


def moved_by(size: int, people: int, residual: float, leverage: float) -> float:
    """The root mean square movement of all people's predictions by a number of identical fake records.

    Args:
        size: number of records m, in 0..people.
        people: number n of people.
        residual: absolute difference |r| between the answer in the records and the prediction of the honest estimate
            for them, >= 0.
        leverage: leverage L > 0 of the records; over people the leverage averages to the number of coefficients.

    Raises:
        InvalidInput: a number is out of range.

    Example:
        >>> round(moved_by(10, 1000, 2.0, 4.0), 4)
        0.0388
    """
    m, n = whole("size", size), whole("people", people, at_least=1)
    if m > n:
        raise InvalidInput("size", f"{m} is more than the number of invited people", f"must be at most {n}")
    r, lever = non_negative("residual", residual), positive("leverage", leverage)
    return m * r * math.sqrt(lever) / (n - m + m * lever)


def fewest_moving(error: float, people: int, residual: float, leverage: float) -> int | None:
    """The smallest number of identical fake records that moves predictions by at least `error`; None where no number
    does.

    Args:
        error: root mean square movement of the predictions, > 0.
        people: number n of people.
        residual: absolute difference |r| between the answer in the records and the prediction of the honest estimate
            for them, >= 0.
        leverage: leverage L > 0 of the records.
    """
    goal = positive("error", error)
    return fewest(lambda m: moved_by(m, people, residual, leverage) >= goal, people)
