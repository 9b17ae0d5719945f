"""Corollary 1 of Cummings et al. 2015: the prescribed parameters, the claims, and the reasons why nobody should run a
mechanism with these parameters.

The corollary lets epsilon, payments and budget fall as the number n of participants grows. At practical sizes the
corollary has three defects. The prescribed noise vector is longer than any parameter vector theta. The bound eta on the
gain of a lie far exceeds the largest possible loss of a lie, so that every strategy is an eta-equilibrium. Payments are
below a millionth of the unit of money.

A larger number of participants does not repair the incentives. The gain bound eta is at least n^delta b, where b is the
weight of the scoring rule, while the loss of a lie is a constant times b. The module exists for comparison only. For a
campaign, `confide.regression.plan` chooses the parameters from a total epsilon and either a truth radius or a budget.

Source: Cummings et al. 2015, Corollary 1; spec truthful_regression sections 7.2, 7.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, TypeVar

import numpy as np

from confide.charts import curves
from confide.contract.checks import positive
from confide.contract.errors import InvalidInput
from confide.contract.parameters import Declared, Parameter
from confide.contract.presentation import Picture
from confide.contract.remedies import printed
from confide.contract.renamed import renamed
from confide.evidence.cummings_2015.printed_mechanism import PrintedTruthfulRegression
from confide.evidence.cummings_2015.printed_numbers import Printed, PrintedRow, printed_guarantees
from confide.regression import bounds
from confide.regression.bounds import RidgeBounds
from confide.regression.costs import ParetoCosts
from confide.regression.priors import NoiseLaw, UniformBall, UniformNoise
from confide.regression.private_truthful_regression import Behaviour, PaymentScheme, PrivateTruthfulRegression
from confide.regression.release.output_perturbation import RidgeRelease
from confide.regression.scoring import ScoringRule
from confide.regression.sensitivity import diameter, printed_constant
from confide.regression.setting import Setting
from confide.regression.spectrum import Spectrum, smallest_eigenvalue_ball

__all__ = ["Corollary1", "Slope", "corollary_1", "slopes"]

_Made = TypeVar("_Made", bound=PrivateTruthfulRegression)

TOLERANCE = 0.5
"""Relative half-width xi of the interval for the eigenvalues, with the corollary's value."""


@dataclass(frozen=True, kw_only=True)
class Slope:
    """The growth of a quantity with the number n of participants: quantity ~ n^slope.

    Args:
        quantity: name of the quantity.
        claimed: exponent that the source states; nan where the source states none.
        derived: exponent that follows algebraically from the formula of the quantity.
        fitted: exponent that fits two values of the formula, at a large n and at ten times that n.
    """

    quantity: str
    claimed: float
    derived: float
    fitted: float


@renamed(failure="failure_probability")
@dataclass(frozen=True, kw_only=True)
class Corollary1(Declared):
    """The parameters of Corollary 1 at one number of participants n, with the claims of the corollary and the bounds
    that do hold.

    Args:
        noise: law of the residuals; None for the uniform law on [-noise_bound, noise_bound].
    """

    people: Annotated[int, Parameter("invited slots", symbol="n", at_least=4)]
    features: Annotated[int, Parameter("length of each feature vector", symbol="d", at_least=1)]
    square_bound: Annotated[float, Parameter("bound on ||theta||^2", symbol="B", above=0)]
    noise_bound: Annotated[float, Parameter("bound on a residual", symbol="M", above=0)]
    exponent: Annotated[float, Parameter(
        "how fast the tail of the costs falls: P[c <= t] >= 1 - t^-p", symbol="p", above=1)]
    delta: Annotated[float, Parameter("how fast epsilon falls with n; below p/(2 + 2p)", above=0, below=1)]
    noise: NoiseLaw | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        most = self.exponent / (2 + 2 * self.exponent)
        if not self.delta < most:
            raise InvalidInput("delta", f"{self.delta!r} is out of range",
                               f"must be below p/(2 + 2p) = {printed(most, up=False, digits=4)}")

    # ---- the setting

    def _power(self, exponent: float) -> float:
        return float(float(self.people) ** exponent)

    @property
    def ridge(self) -> float:
        """The ridge weight gamma = n^(1 - delta/2)."""
        return self._power(1 - self.delta / 2)

    @property
    def epsilon(self) -> float:
        """The privacy loss n^(-1 + delta) of one release."""
        return self._power(-1 + self.delta)

    @property
    def misreports(self) -> float:
        """The share of misreports alpha = n^-delta."""
        return self._power(-self.delta)

    @property
    def failure_probability(self) -> float:
        """The failure probability beta = n^(-p/2 + delta (1 + p)). The proof prints the opposite sign of the exponent
        (erratum E9).
        """
        return self._power(-self.exponent / 2 + self.delta * (1 + self.exponent))

    @property
    def threshold(self) -> float:
        """The threshold tau = n^(1/2 - delta) on privacy costs, which Lemma 3 gives at the corollary's alpha and beta.
        The property `corrected` has the exact threshold for independent costs.
        """
        return self._power(0.5 - self.delta)

    @property
    def weight(self) -> float:
        """The weight b = n^(-3/2) of the scoring rule."""
        return self._power(-1.5)

    @property
    def constant(self) -> float:
        """The constant a = (6 B + 2 M)(1 + B)^2 n^(-3/2) + n^(-3/2 + delta) of the scoring rule.

        The simplification in the first term needs 6 B + 2 M >= 1 (erratum E9). The second term must be 4 n^(-3/2 +
        delta) if privacy costs depend on the total loss 2 epsilon (erratum E8).
        """
        own = (6 * self.square_bound + 2 * self.noise_bound) * (1 + self.square_bound) ** 2
        return own * self._power(-1.5) + self._power(-1.5 + self.delta)

    # ---- what is said of it

    @property
    def claims(self) -> dict[str, float]:
        """The exponents of the corollary's five claims. Each claimed quantity is O(n^exponent). The quantity
        "uncovered" is the share of participants to which the promises do not apply.
        """
        return {"privacy": -1 + self.delta, "eta": -1.5 + self.delta, "squared error": -self.delta,
                "budget": -0.5 + self.delta, "uncovered": -self.delta}

    @property
    def printed(self) -> Printed:
        """All printed bounds at these parameters."""
        return Printed(
            people=self.people, features=self.features, ridge=self.ridge, epsilon=self.epsilon,
            square_bound=self.square_bound, noise_bound=self.noise_bound, noise_variance=self._law.variance,
            misreports=self.misreports, tolerance=TOLERANCE, threshold=self.threshold, a=self.constant, b=self.weight,
        )

    @cached_property
    def corrected(self) -> PrivateTruthfulRegression:
        """The corrected mechanism at these parameters. `corrected.figures` and `corrected.guarantees()` give the bounds
        that hold.
        """
        return self._made(PrivateTruthfulRegression)

    def mechanism(self) -> PrintedTruthfulRegression:
        """Algorithm 2 as printed with these parameters, for use in a study."""
        return self._made(PrintedTruthfulRegression)

    def _made(self, kind: type[_Made]) -> _Made:
        radius = math.sqrt(self.square_bound)
        return kind(
            setting=Setting(people=self.people, features=self.features,
                            prior=UniformBall(dimension=self.features, radius=radius), noise=self._law,
                            spectrum_tolerance=TOLERANCE),
            # Payments are of the order n^-1.5: with a coin that small, rounding does not matter.
            payment=PaymentScheme(epsilon=self.epsilon, ridge=self.ridge, minor_units=10**15,
                                  rule=ScoringRule(self.constant, self.weight)),
            release=RidgeRelease(epsilon=self.epsilon, ridge=self.ridge),
            behaviour=Behaviour(costs=ParetoCosts(exponent=self.exponent), misreports=self.misreports,
                                failure_probability=self.failure_probability),
        )

    def rows(self) -> tuple[PrintedRow, ...]:
        """The printed bounds with the corrected bounds. Each row also says whether the two bounds are vacuous."""
        return printed_guarantees(self.corrected)

    @property
    def _law(self) -> NoiseLaw:
        return UniformNoise(bound=self.noise_bound) if self.noise is None else self.noise

    # ---- why it is empty

    @property
    def noise_power(self) -> float:
        """Mean squared length E||v||^2 = d (d + 1) s^2 of the printed noise of scale s. For comparison, publishing
        zeros has a squared error of at most B.
        """
        return self.features * (self.features + 1) * self.printed.noise_norm**2

    @property
    def shrinkage(self) -> float:
        """The relative bias gamma/(gamma + n/(d + 2)), which is approximately the share of theta that is missing from
        the released estimate.
        """
        return self.ridge / (self.ridge + self.people * smallest_eigenvalue_ball(self.features))

    @property
    def gain_ratio(self) -> float:
        """The ratio eta/b of the printed bound eta on the gain of a lie to the weight b of the scoring rule."""
        return self.printed.gain / self.weight

    @property
    def loss_ratio(self) -> float:
        """The ratio (2 R0 + e)^2 of the largest possible loss of a lie to the weight b. Here R0 = sqrt(B), and e bounds
        the error of the estimate that predicts an answer.
        """
        loss = bounds.largest_loss(self.weight, math.sqrt(self.square_bound), self.printed.peer_error)
        return loss / self.weight

    @property
    def gain_vacuous(self) -> bool:
        """Whether eta is at least the largest possible loss of a lie. If so, every strategy is an eta-equilibrium."""
        return self.gain_ratio >= self.loss_ratio

    @property
    def accuracy_vacuous(self) -> bool:
        """Whether the mean squared length of the noise is at least B, the largest squared error of publishing zeros."""
        return self.noise_power >= self.square_bound

    @property
    def exact_threshold_exponent(self) -> float:
        """The exponent of n in the ratio eta/b of gain to weight, if the exact threshold, about n^(delta/p), is used.
        This exponent is the larger of delta (2 + 1/p) - 1/2 and -delta.

        The exponent is negative only for delta < p/(4 p + 2). Only for such delta does the ratio eta/b vanish as n
        grows.
        """
        return max(self.delta * (2 + 1 / self.exponent) - 0.5, -self.delta)

    def repaired_weight(self, zeta: float) -> float:
        """The weight b = n^(-3/2 + delta + zeta), a repair by this project. With this weight, the gain bound eta, the
        budget and the truth radius all vanish as n grows.

        Args:
            zeta: exponent zeta, in (0, 1/2 - delta).
        """
        if not 0 < zeta < 0.5 - self.delta:
            most = printed(0.5 - self.delta, up=False, digits=4)
            raise InvalidInput("zeta", f"{zeta!r} is out of range", f"must be in (0, {most})")
        return self._power(-1.5 + self.delta + zeta)

    def people_for_noise(self, power: float) -> float:
        """Number n of participants at which E||v||^2 falls to `power`: (d (d + 1) (4 B + 2 M)^2/power)^(1/delta)."""
        level = self.features * (self.features + 1) * printed_constant(self.square_bound, self.noise_bound) ** 2
        return float((level / positive("power", power)) ** (1 / self.delta))

    @property
    def corrected_error(self) -> float:
        """The corrected bound on the squared error at these parameters (spec section 7.1). The bound does not include
        the truncation of inputs to multiples of 2^-16.
        """
        radius, response = math.sqrt(self.square_bound), math.sqrt(self.square_bound) + self.noise_bound
        estimate = RidgeBounds(
            spectrum=Spectrum.uniform_ball(rows=self.people, dimension=self.features, tolerance=TOLERANCE),
            ridge=self.ridge, prior_radius=radius, noise_bound=self.noise_bound, radius=1.25 * radius,
            misreports=self.misreports,
        )
        scale = diameter(1.25 * radius, response) / (self.ridge * self.epsilon)
        return estimate.release_error(scale, self._law.variance)

    def plot(self) -> Picture:
        """Chart of the printed gain bound eta and of the largest loss of any lie, both divided by the weight b, for
        10^3 to 10^12 participants.
        """
        rows = []
        for n in np.geomspace(1e3, 1e12, 28):
            at = replace(self, people=int(n))
            rows += [(float(n), at.gain_ratio, "eta, what a lie may gain (printed)"),
                     (float(n), at.loss_ratio, "the most that any lie can lose")]
        (picture,) = curves(
            rows, title="Corollary 1: its equilibrium admits every lie", x="people n", y="money, in units of b",
            alt="Printed eta over b grows without bound; the largest loss of any lie falls to a constant below it.",
            log_x=True, log_y=True)
        return picture


def corollary_1(
    people: int, features: int, square_bound: float, noise_bound: float, exponent: float, delta: float
) -> Corollary1:
    """The parameters of Corollary 1, its claims, and its printed and corrected bounds.

    Args:
        people: number n of participants.
        features: length d of each feature vector.
        square_bound: bound B on ||theta||^2.
        noise_bound: bound M on a residual.
        exponent: exponent p > 1 of the law of privacy costs c. The probability of a cost above t is at most t^-p.
        delta: exponent in (0, p/(2 + 2p)) that sets epsilon = n^(-1 + delta).

    Raises:
        InvalidInput: a parameter is out of range.

    Source: Cummings et al. 2015, Corollary 1; spec truthful_regression sections 7.2, 7.3.

    Example:
        >>> found = corollary_1(10**6, 10, 1.0, 1.0, 4.0, 0.3)
        >>> round(found.noise_power, 1), round(found.gain_ratio, 1), round(found.loss_ratio, 1)
        (62.8, 65.4, 12.3)
        >>> found.gain_vacuous, found.accuracy_vacuous
        (True, True)
    """
    return Corollary1(people=people, features=features, square_bound=square_bound, noise_bound=noise_bound,
                      exponent=exponent, delta=delta)


def slopes(corollary: Corollary1, people: int = 10**30) -> tuple[Slope, ...]:
    """The growth of the corollary's bounds with the number n of participants: stated exponents, derived exponents, and
    exponents fitted to the evaluated formulas.

    The proof of Theorem 4 ends in n^(-delta/2), while the corollary states n^-delta (erratum E5). The corrected bound
    does give n^-delta.

    Args:
        corollary: dimension, bounds and exponents of the corollary. The number of participants of `corollary` is not
            used.
        people: smaller of the two numbers of participants between which exponents are fitted. The larger one is ten
            times as large. Exponents are asymptotic, so this number must be far larger than in any campaign.

    Example:
        >>> for found in slopes(corollary_1(10**6, 10, 1.0, 1.0, 4.0, 0.3)):
        ...     print(f"{found.quantity}: {found.claimed:.3f} {found.derived:.3f} {found.fitted:.3f}")
        budget, printed: -0.200 -0.200 -0.200
        eta, printed: -1.200 -1.200 -1.200
        squared error, printed: -0.300 -0.150 -0.150
        squared error, corrected: -0.300 -0.300 -0.300
        eta over b, printed: nan 0.300 0.300
    """
    delta, claims = corollary.delta, corollary.claims
    first, second = (replace(corollary, people=n) for n in (people, 10 * people))
    quantities: dict[str, tuple[float, float, Callable[[Corollary1], float]]] = {
        "budget, printed": (claims["budget"], -0.5 + delta, lambda at: at.printed.expected_total),
        "eta, printed": (claims["eta"], -1.5 + delta, lambda at: at.printed.gain),
        "squared error, printed": (claims["squared error"], -delta / 2, lambda at: at.printed.accuracy),
        "squared error, corrected": (claims["squared error"], -delta, lambda at: at.corrected_error),
        "eta over b, printed": (math.nan, delta, lambda at: at.gain_ratio),
    }
    return tuple(
        Slope(quantity=name, claimed=claimed, derived=derived, fitted=math.log10(of(second) / of(first)))
        for name, (claimed, derived, of) in quantities.items()
    )
