"""Corollary 1 of the source: its setting of all parameters, what it claims, and why nobody should run it.

The corollary lets epsilon, payments and budget fall with n. At sizes that occur, noise is longer than any parameter;
eta, the most that a lie may gain, is far above the most that any lie can lose, so that every strategy is an equilibrium
in its sense; and payments are below a millionth of the unit. More people do not mend the incentives: eta/b >= n^delta
grows without bound, while a lie's loss is a constant times b. So it is here to be compared, not to be run. For a
campaign, `plan` chooses the parameters from what the buyer wants: a truth radius or a budget, and a total epsilon.

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
"""xi of the corollary."""


@dataclass(frozen=True, kw_only=True)
class Slope:
    """The growth of a quantity with n: quantity ~ n^slope.

    Args:
        quantity: name of the quantity.
        claimed: exponent that the source states; nan where it states none.
        derived: exponent that follows from the formula.
        fitted: exponent of the evaluated formula, over a decade of large n.
    """

    quantity: str
    claimed: float
    derived: float
    fitted: float


@renamed(failure="failure_probability")
@dataclass(frozen=True, kw_only=True)
class Corollary1(Declared):
    """The setting of Corollary 1 at one n, with what it claims and what holds.

    Args:
        noise: law of the residuals; default uniform.
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
        """The ridge gamma = n^(1 - delta/2)."""
        return self._power(1 - self.delta / 2)

    @property
    def epsilon(self) -> float:
        """The level n^(-1 + delta) of one release."""
        return self._power(-1 + self.delta)

    @property
    def misreports(self) -> float:
        """The share of misreports alpha = n^-delta."""
        return self._power(-self.delta)

    @property
    def failure_probability(self) -> float:
        """The failure probability beta = n^(-p/2 + delta (1 + p)); the proof has the sign turned (E9)."""
        return self._power(-self.exponent / 2 + self.delta * (1 + self.exponent))

    @property
    def threshold(self) -> float:
        """The threshold tau = n^(1/2 - delta), which is Lemma 3 at these alpha and beta; exact for independent costs:
        `figures`.
        """
        return self._power(0.5 - self.delta)

    @property
    def weight(self) -> float:
        """The weight b = n^(-3/2)."""
        return self._power(-1.5)

    @property
    def constant(self) -> float:
        """The constant a = (6 B + 2 M)(1 + B)^2 n^(-3/2) + n^(-3/2 + delta).

        It needs 6 B + 2 M >= 1 (E9), and 4 n^(-3/2 + delta) for costs at the whole 2 epsilon (E8).
        """
        own = (6 * self.square_bound + 2 * self.noise_bound) * (1 + self.square_bound) ** 2
        return own * self._power(-1.5) + self._power(-1.5 + self.delta)

    # ---- what is said of it

    @property
    def claims(self) -> dict[str, float]:
        """The exponents of the corollary's five claims: each is O(n^exponent); `uncovered` is the share left out."""
        return {"privacy": -1 + self.delta, "eta": -1.5 + self.delta, "squared error": -self.delta,
                "budget": -0.5 + self.delta, "uncovered": -self.delta}

    @property
    def printed(self) -> Printed:
        """Every printed bound at this setting."""
        return Printed(
            people=self.people, features=self.features, ridge=self.ridge, epsilon=self.epsilon,
            square_bound=self.square_bound, noise_bound=self.noise_bound, noise_variance=self._law.variance,
            misreports=self.misreports, tolerance=TOLERANCE, threshold=self.threshold, a=self.constant, b=self.weight,
        )

    @cached_property
    def corrected(self) -> PrivateTruthfulRegression:
        """The corrected mechanism at this setting; `corrected.figures` and `.guarantees()` are what holds."""
        return self._made(PrivateTruthfulRegression)

    def mechanism(self) -> PrintedTruthfulRegression:
        """Algorithm 2 with these parameters as printed, ready for a study."""
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
        """The printed bounds beside the corrected ones, each with a flag where it says nothing."""
        return printed_guarantees(self.corrected)

    @property
    def _law(self) -> NoiseLaw:
        return UniformNoise(bound=self.noise_bound) if self.noise is None else self.noise

    # ---- why it is empty

    @property
    def noise_power(self) -> float:
        """E||v||^2 = d (d + 1) s^2 of the printed noise; publishing zeros is off by at most B."""
        return self.features * (self.features + 1) * self.printed.noise_norm**2

    @property
    def shrinkage(self) -> float:
        """The shrinkage gamma/(gamma + n/(d + 2)), by which the released estimate falls short of theta."""
        return self.ridge / (self.ridge + self.people * smallest_eigenvalue_ball(self.features))

    @property
    def gain_ratio(self) -> float:
        """The ratio eta/b as printed."""
        return self.printed.gain / self.weight

    @property
    def loss_ratio(self) -> float:
        """The ratio (2 R0 + e)^2 of the most that any lie can lose to b."""
        loss = bounds.largest_loss(self.weight, math.sqrt(self.square_bound), self.printed.peer_error)
        return loss / self.weight

    @property
    def gain_vacuous(self) -> bool:
        """Whether eta exceeds the largest loss of any lie: every strategy is then an eta-equilibrium."""
        return self.gain_ratio >= self.loss_ratio

    @property
    def accuracy_vacuous(self) -> bool:
        """Whether the noise alone is further from any parameter than zeros are, R0^2 = B."""
        return self.noise_power >= self.square_bound

    @property
    def exact_threshold_exponent(self) -> float:
        """The exponent of eta/b with the exact threshold, about n^(delta/p): delta (2 + 1/p) - 1/2, at least -delta.

        Negative, so that the ratio vanishes, only for delta < p/(4 p + 2).
        """
        return max(self.delta * (2 + 1 / self.exponent) - 0.5, -self.delta)

    def repaired_weight(self, zeta: float) -> float:
        """The weight b = n^(-3/2 + delta + zeta), with which eta and the budget still vanish and so does the truth
        radius (ours).

        Args:
            zeta: exponent zeta, in (0, 1/2 - delta).
        """
        if not 0 < zeta < 0.5 - self.delta:
            most = printed(0.5 - self.delta, up=False, digits=4)
            raise InvalidInput("zeta", f"{zeta!r} is out of range", f"must be in (0, {most})")
        return self._power(-1.5 + self.delta + zeta)

    def people_for_noise(self, power: float) -> float:
        """The number n at which E||v||^2 falls to `power`: (d (d + 1) (4 B + 2 M)^2/power)^(1/delta)."""
        level = self.features * (self.features + 1) * printed_constant(self.square_bound, self.noise_bound) ** 2
        return float((level / positive("power", power)) ** (1 / self.delta))

    @property
    def corrected_error(self) -> float:
        """The corrected bound on the squared error at this setting (spec 7.1), inputs as exact numbers."""
        radius, response = math.sqrt(self.square_bound), math.sqrt(self.square_bound) + self.noise_bound
        estimate = RidgeBounds(
            spectrum=Spectrum.uniform_ball(rows=self.people, dimension=self.features, tolerance=TOLERANCE),
            ridge=self.ridge, prior_radius=radius, noise_bound=self.noise_bound, radius=1.25 * radius,
            misreports=self.misreports,
        )
        scale = diameter(1.25 * radius, response) / (self.ridge * self.epsilon)
        return estimate.release_error(scale, self._law.variance)

    def plot(self) -> Picture:
        """Printed eta, and the largest loss of any lie, both over b, for n from 10^3 to 10^12."""
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
    """The setting of Corollary 1, its claims, the printed bounds and the corrected ones.

    Args:
        people: n.
        features: d.
        square_bound: B.
        noise_bound: M.
        exponent: p > 1.
        delta: in (0, p/(2 + 2p)).

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
    """The growth of the bounds with n: the stated exponents, the derived ones, and those of the evaluated formulas.

    The proof of Theorem 4 ends in n^(-delta/2), not in the corollary's n^-delta (E5); the corrected bound does give
    n^-delta.

    Args:
        corollary: corollary with d, B, M, p and delta.
        people: start of the decade; exponents are asymptotic, so it must be far beyond any campaign.

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
