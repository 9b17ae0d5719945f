"""The printed numbers of Cummings et al. 2015 as functions, and the correct numbers.

Every formula in `Printed` is copied literally from a theorem, lemma or remark of the source, for comparison. No formula
in `Printed` is a guarantee. `printed_guarantees` compares the printed numbers with the corrected bounds of one
mechanism. `corollary.corollary_1` compares printed and corrected numbers at the source's own parameters.

Source: Cummings et al. 2015; spec truthful_regression sections 6, 7.2, 10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from confide.contract.checks import fraction, positive, whole
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import (
    Accuracy,
    Audience,
    Budget,
    Guarantee,
    Participation,
    Privacy,
    Relation,
    Source,
    Truthfulness,
)
from confide.contract.parameters import Declared, Parameter
from confide.contract.renamed import renamed
from confide.contract.wire import parts_of, wire
from confide.evidence.cummings_2015.printed_ridge import plain_bounds, proved_epsilon
from confide.privacy.losses import PureDP
from confide.regression import bounds
from confide.regression.costs import threshold
from confide.regression.release.output_perturbation import RidgeRelease, ridge_bounds
from confide.regression.scoring import ScoringRule
from confide.regression.sensitivity import diameter, printed_constant, ridge_norm_sup
from confide.regression.spectrum import smallest_eigenvalue_ball, sufficient_rows

if TYPE_CHECKING:
    from confide.regression.private_truthful_regression import PrivateTruthfulRegression

__all__ = [
    "Printed",
    "PrintedRow",
    "SpectrumComparison",
    "compare_spectrum",
    "printed_claims",
    "printed_confidence",
    "printed_guarantees",
    "printed_least_payment",
    "printed_least_squares",
    "printed_remark",
    "printed_rows",
]

DOCUMENT = "Cummings et al. 2015"


@dataclass(frozen=True, kw_only=True)
class Printed(Declared):
    """Every printed number of Algorithm 2 at given parameters, with the mistakes of the source unchanged.

    Source: Cummings et al. 2015, Sections 4, 5 and Appendix B; spec truthful_regression section 7.2.

    Example:
        >>> print_ = Printed(people=10**6, features=10, ridge=125_893.0, epsilon=6.31e-5, square_bound=1.0,
        ...                  noise_bound=1.0, noise_variance=1 / 3, misreports=0.01585, tolerance=0.5, threshold=15.85,
        ...                  a=0.0, b=1e-9)
        >>> round(print_.noise_power, 2), round(print_.peer_error, 2)
        (1.14, 1.51)
    """

    people: Annotated[int, Parameter("people who answer", symbol="n", at_least=1)]
    features: Annotated[int, Parameter("length of each feature vector", symbol="d", at_least=1)]
    ridge: Annotated[float, Parameter("ridge weight", symbol="gamma", above=0)]
    epsilon: Annotated[float, Parameter("of one release; the source spends it twice", unit="nats", above=0)]
    square_bound: Annotated[float, Parameter(
        "bound that the source takes for ||theta||^2 in one place, and for ||theta|| and |x'theta| elsewhere",
        symbol="B", above=0)]
    noise_bound: Annotated[float, Parameter("bound on a residual", symbol="M", above=0)]
    noise_variance: Annotated[float, Parameter("variance of a residual, at most M^2", symbol="sigma^2", above=0)]
    misreports: Annotated[float, Parameter("tolerated share of misreports", symbol="alpha", at_least=0, below=1)]
    tolerance: Annotated[float, Parameter(
        "how far the sample spectrum may deviate, relatively", symbol="xi", above=0, below=1)]
    threshold: Annotated[float, Parameter(
        "cost coefficient up to which players are covered", symbol="tau", at_least=0)]
    a: Annotated[float, Parameter("constant of the scoring rule")]
    b: Annotated[float, Parameter("weight of the scoring rule", above=0)]
    smallest: Annotated[float | None, Parameter(
        "least eigenvalue of E[x x']; None for 1/(d + 2), the source's", above=0)] = None
    largest: Annotated[float | None, Parameter(
        "largest eigenvalue of E[x x']; None for the least one", above=0)] = None

    @property
    def low(self) -> float:
        """The printed lower bound lo = (1 - xi) n/(d + 2) on the least eigenvalue. If `smallest` is given, it replaces
        1/(d + 2). The source also uses this bound for groups of n/2 rows (erratum E6).
        """
        mu = smallest_eigenvalue_ball(self.features) if self.smallest is None else self.smallest
        return (1 - self.tolerance) * mu * self.people

    @property
    def high(self) -> float:
        """The printed upper bound hi = (1 + xi) n/(d + 2) on the largest eigenvalue. If `largest`, or otherwise
        `smallest`, is given, it replaces 1/(d + 2).
        """
        mu = smallest_eigenvalue_ball(self.features) if self.smallest is None else self.smallest
        return (1 + self.tolerance) * (mu if self.largest is None else self.largest) * self.people

    @property
    def privacy(self) -> float:
        """Theorem 2: joint privacy loss 2 epsilon."""
        return 2 * self.epsilon

    @property
    def sensitivity(self) -> float:
        """Lemma 6: sensitivity (4 B + 2 M)/gamma of plain ridge."""
        return printed_constant(self.square_bound, self.noise_bound) / self.ridge

    @property
    def misreporters(self) -> float:
        """Lemma 7: each player expects alpha n misreports. The proof of Theorem 4 uses the expected number alpha n as a
        sure bound.
        """
        return self.misreports * self.people

    @property
    def shift(self) -> float:
        """Lemma 8 for alpha n misreports: the misreports move the estimate by at most alpha n (4 B + 2 M)/gamma."""
        return self.misreporters * self.sensitivity

    @property
    def noise_norm(self) -> float:
        """Lemma 9: mean length of the noise, E||v|| = (4 B + 2 M)/(gamma epsilon)."""
        return self.sensitivity / self.epsilon

    @property
    def noise_power(self) -> float:
        """Lemma 9: mean squared length of the noise, E||v||^2 = 2 ((4 B + 2 M)/(gamma epsilon))^2."""
        return 2 * self.noise_norm**2

    @property
    def bias(self) -> float:
        """Theorem 7 and Lemma 10: bias gamma B/(gamma + lo) of the ridge estimate."""
        return self.ridge * self.square_bound / (self.ridge + self.low)

    @property
    def variance(self) -> float:
        """Lemma 10: bound sigma^4 (hi/(gamma + lo)^2)^2 on the trace of the covariance."""
        return (self.noise_variance * self.high / (self.ridge + self.low) ** 2) ** 2

    @property
    def ridge_distance(self) -> float:
        """Lemma 10: expected distance of the ridge estimate from theta, at most (gamma B + M n)/(gamma + lo)."""
        return (self.ridge * self.square_bound + self.noise_bound * self.people) / (self.ridge + self.low)

    @property
    def peer_error(self) -> float:
        """Theorems 3, 5 and 6: error e_s = alpha n (4 B + 2 M)/gamma + gamma B/(gamma + lo) of the estimate from the
        other participants, which determines a participant's payment.
        """
        return self.shift + self.bias

    @property
    def privacy_cost(self) -> float:
        """Printed privacy cost tau epsilon^2, although the mechanism spends 2 epsilon (erratum E8)."""
        return self.threshold * self.epsilon**2

    @property
    def gain(self) -> float:
        """Theorem 3: bound eta = b e_s^2 + tau epsilon^2 on the gain of a lie."""
        return self.b * self.peer_error**2 + self.privacy_cost

    @property
    def accuracy(self) -> float:
        """The bound on E||released - theta||^2 in the last display of the proof of Theorem 4."""
        together = 2 * (self.shift + self.noise_norm) * self.ridge_distance
        return self.shift**2 + self.noise_power + self.bias**2 + self.variance + together

    @property
    def least_constant(self) -> float:
        """Theorem 5: the constant a must be at least (e_s + B)(b + 2 b B) + b B^2 + tau epsilon^2."""
        return self._payment + self.b * self.square_bound**2 + self.privacy_cost

    @property
    def expected_total(self) -> float:
        """Theorem 6: bound n (a + (e_s + B)(b + 2 b B)) on the expected total. The source prints the inequality the
        wrong way round.
        """
        return self.people * (self.a + self._payment)

    @property
    def _payment(self) -> float:
        return (self.peer_error + self.square_bound) * (self.b + 2 * self.b * self.square_bound)


def printed_least_squares(people: int, features: int, noise_variance: float, tolerance: float) -> float:
    """Lemma 2: E||OLS - theta||^2 <= sigma^2 (d + 2)/((1 - xi) n). The trace of the covariance has d eigenvalues, so
    the correct bound is d times as large (erratum E4).

    Args:
        people: number n of rows.
        features: dimension d.
        noise_variance: variance sigma^2 of a residual.
        tolerance: relative half-width xi of the interval for the eigenvalues.

    Source: Cummings et al. 2015, Lemma 2; spec truthful_regression sections 2, 10 (E4).
    """
    mass = (1 - fraction("tolerance", tolerance)) * whole("people", people, at_least=1)
    return positive("noise_variance", noise_variance) / (mass * smallest_eigenvalue_ball(features))


def printed_remark(people: int, square_bound: float, noise_bound: float) -> tuple[float, float, float]:
    """The constants (a, b, total) of the remark after Lemma 2, with b = n^-2: scoring constant a, scoring weight b, and
    total payment. The remark says that the payments are never negative.

    The printed constants are

        a = b (B + 2 B (B + M) + (B + M)^2 - 1)
        total = (2 B + 4 B (B + M) + (B + M)^2)/n

    The remark is wrong in two points. Predictions of least squares are not bounded by B + M, and the term -1 allows
    payments down to -b (erratum E13).

    Source: Cummings et al. 2015, remark after Lemma 2; spec truthful_regression section 2.
    """
    n, bound = whole("people", people, at_least=1), positive("square_bound", square_bound)
    response = bound + positive("noise_bound", noise_bound)
    weight = 1.0 / n**2
    constant = weight * (bound + 2 * bound * response + response**2 - 1)
    return constant, weight, (2 * bound + 4 * bound * response + response**2) / n


def printed_least_payment(square_bound: float, noise_bound: float, p_bound: float) -> float:
    """The least payment with the scoring constant of the remark after Lemma 2 at weight b = 1, over all predictions |p|
    <= p_bound and answers |q| <= B + M.

    If `p_bound` equals B, the case that the remark considers, the least payment is -1. Predictions of least squares
    have no bound at all.

    Args:
        square_bound: bound B on ||theta||^2.
        noise_bound: bound M on a residual.
        p_bound: bound on the prediction p of a participant's answer from the answers of others, >= 0.

    Source: Cummings et al. 2015, remark after Lemma 2; spec truthful_regression section 2.

    Example:
        >>> round(printed_least_payment(1.0, 1.0, 1.0), 12), round(printed_least_payment(1.0, 1.0, 11.0), 12)
        (-1.0, -51.0)
    """
    constant, _, _ = printed_remark(1, square_bound, noise_bound)
    return ScoringRule(constant, 1.0).payment_range(p_bound, square_bound + noise_bound)[0]


# ---- Theorem 7


def printed_confidence(features: int, t: float) -> float:
    """Theorem 7: probability 1 - d^(-t^2), with the sign that its proof means. The statement of Theorem 3 prints 1 -
    d^(t^2).

    The probability is 0 at d = 1, where the theorem says nothing.

    Args:
        features: dimension d.
        t: parameter t of Theorem 7, at least 1.
    """
    d = whole("features", features, at_least=1)
    if not positive("t", t) >= 1:
        raise InvalidInput("t", f"{t!r} is too small", "must be at least 1")
    return -math.expm1(-(t**2) * math.log(d))


def printed_rows(features: int, tolerance: float, t: float, constant: float) -> float:
    """Theorem 7: required number of rows n >= C (t/xi)^2 (d + 2) ln d, which is 0 at d = 1. The source gives no value
    of the constant C.

    Args:
        features: dimension d.
        tolerance: relative half-width xi of the interval for the eigenvalues, in (0, 1).
        t: parameter t of Theorem 7, at least 1.
        constant: constant C > 0.
    """
    d = whole("features", features, at_least=1)
    return positive("constant", constant) * (positive("t", t) / fraction("tolerance", tolerance)) ** 2 * (
        d + 2) * math.log(d)


@dataclass(frozen=True, kw_only=True)
class SpectrumComparison:
    """Numbers m of rows that suffice for all eigenvalues to lie in (1 -+ xi) m/(d + 2), by the bound of this project
    and by that of the source.

    Args:
        rows: number of rows that suffices by the matrix Chernoff bound, which has explicit constants.
        t: parameter t of Theorem 7 for the same failure probability; nan where the theorem does not reach that
            probability (t < 1, or d = 1).
        printed_at_one: number of rows that Theorem 7 requires if C is 1; nan where `t` is nan.
        constant: value of the unspecified constant C in Theorem 7 at which both bounds require the same number of rows;
            nan where `t` is nan. With a larger C, Theorem 7 requires more rows than the matrix Chernoff bound.
    """

    rows: int
    t: float
    printed_at_one: float
    constant: float


@renamed(failure="failure_probability")
def compare_spectrum(features: int, tolerance: float, failure_probability: float) -> SpectrumComparison:
    """Theorem 7 compared with the matrix Chernoff bound on the eigenvalues, for features x uniform in the unit ball.

    Args:
        features: dimension d.
        tolerance: relative half-width xi of the interval for the eigenvalues, in (0, 1).
        failure_probability: allowed probability q, in (0, 1), that an eigenvalue is outside (1 -+ xi) m/(d + 2) for m
            rows.

    Source: Cummings et al. 2015, Theorem 7 (after Vershynin, Corollary 5.52); spec truthful_regression section 6.

    Example:
        >>> found = compare_spectrum(10, 0.2, 1e-6)
        >>> found.rows, round(found.constant, 2)
        (10739, 2.59)
    """
    d = whole("features", features, at_least=1)
    rows = sufficient_rows(d, smallest_eigenvalue_ball(d), tolerance, failure_probability)
    t = math.sqrt(math.log(1 / failure_probability) / math.log(d)) if d > 1 else 0.0
    if t < 1:
        return SpectrumComparison(rows=rows, t=math.nan, printed_at_one=math.nan, constant=math.nan)
    at_one = printed_rows(d, tolerance, t, 1.0)
    return SpectrumComparison(rows=rows, t=t, printed_at_one=at_one, constant=rows / at_one)


# ---- beside the corrected bounds


@wire("PrintedRow", "promise statement printed corrected wrong erratum says_nothing")
@dataclass(frozen=True, kw_only=True)
class PrintedRow:
    """One printed number with the correct number for the same quantity.

    Args:
        promise: name of the quantity.
        statement: place where the source states the number.
        printed: printed number.
        corrected: correct number for the same quantity.
        wrong: mistake in the source, in words; a remark where the printed number is right.
        erratum: number of the erratum in the specification's list; empty where the printed number is right.
        says_nothing: least value at which a bound on this quantity is trivially true; infinity where every finite bound
            says something.
    """

    promise: str
    statement: str
    printed: float
    corrected: float
    wrong: str
    erratum: str
    says_nothing: float = math.inf

    @property
    def printed_vacuous(self) -> bool:
        """Whether the printed number would promise nothing even if it were right."""
        return not self.printed < self.says_nothing

    @property
    def corrected_vacuous(self) -> bool:
        """Whether the corrected number promises nothing, because it is at least `says_nothing`."""
        return not self.corrected < self.says_nothing

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary."""
        return {**parts_of(self), "printed_vacuous": self.printed_vacuous,
                "corrected_vacuous": self.corrected_vacuous}


def _statements(mechanism: PrivateTruthfulRegression) -> dict[str, PrintedRow]:
    """Mapping from a short name to each row of `printed_guarantees`."""
    setting, payment, behaviour, f = mechanism.setting, mechanism.payment, mechanism.behaviour, mechanism.figures
    n, d, radius, variance = setting.people, setting.features, setting.parameter_bound, setting.noise.variance
    tau = threshold(n, behaviour.misreports, behaviour.failure_probability, behaviour.costs, "lemma3")

    def at(ridge: float, epsilon: float) -> Printed:
        return Printed(
            people=n, features=d, ridge=ridge, epsilon=epsilon, square_bound=radius**2,
            noise_bound=setting.noise_bound, noise_variance=variance, misreports=behaviour.misreports,
            tolerance=setting.spectrum_tolerance, threshold=tau, a=payment.rule.a, b=payment.rule.b,
            smallest=setting.eigenvalue, largest=setting.spectrum(n).largest,
        )

    paid = at(payment.ridge, payment.epsilon)
    own = mechanism.release if isinstance(mechanism.release, RidgeRelease) else None
    released = paid if own is None else at(own.ridge, own.epsilon)
    bound = ridge_bounds if mechanism.held_in_ball else plain_bounds
    group = bound(setting, min(setting.groups), paid.ridge, behaviour.misreports)
    whole_ = bound(setting, n, released.ridge, behaviour.misreports)
    scale = released.noise_norm
    rows = {
        "privacy": PrintedRow(
            promise="epsilon of the printed noise, in all", statement="Theorem 2", erratum="E2",
            printed=paid.epsilon + released.epsilon,
            corrected=proved_epsilon(setting, max(setting.groups), paid.ridge, paid.epsilon)
            + proved_epsilon(setting, n, released.ridge, released.epsilon),
            wrong="plain ridge moves further than Lemma 6 says"),
        "sensitivity": PrintedRow(
            promise="gamma times the sensitivity of plain ridge", statement="Lemma 6", erratum="E1, E2",
            printed=released.sensitivity * released.ridge,
            corrected=diameter(ridge_norm_sup(n, released.ridge, setting.response), setting.response),
            wrong="|x'theta| is bounded for the true parameter, not for the estimate"),
        "threshold": PrintedRow(
            promise="threshold of the privacy costs", statement="Lemma 3", erratum="",
            printed=tau, corrected=f.threshold, wrong="holds; Markov's inequality makes it far too large"),
        "shift": PrintedRow(
            promise="shift of a group's estimate by misreports", statement="Lemmas 7, 8", erratum="E6, E7",
            printed=paid.shift, corrected=group.shift(max(setting.groups)), says_nothing=2 * radius,
            wrong="counts all n for a group of n/2, sure for what holds in expectation, and divides by gamma alone"),
        "bias": PrintedRow(
            promise="bias of a group's estimate", statement="Theorem 3", erratum="E1, E6",
            printed=paid.bias, corrected=group.ridge_bias, says_nothing=radius,
            wrong="eigenvalues of n rows for groups of n/2; B for R0"),
        "noise": PrintedRow(
            promise="E||v||, v the printed noise", statement="Lemma 9", erratum="E3",
            printed=scale, corrected=d * scale, wrong="the mean of a scalar Laplace variable"),
        "power": PrintedRow(
            promise="E||v||^2", statement="Lemma 9", erratum="E3", says_nothing=radius**2,
            printed=released.noise_power, corrected=d * (d + 1) * scale**2,
            wrong="the power of a scalar Laplace variable"),
        "variance": PrintedRow(
            promise="variance of the estimate", statement="Lemma 10", erratum="E4", says_nothing=radius**2,
            printed=released.variance, corrected=d * variance * _flattest(whole_),
            wrong="the trace of the covariance is taken for its squared norm: order 1/n^2 instead of 1/n"),
        "distance": PrintedRow(
            promise="E||estimate - theta|| without noise", statement="Lemma 10", erratum="E4", says_nothing=radius,
            printed=released.ridge_distance, corrected=whole_.truthful_error(variance),
            wrong="||X'z|| is bounded by M n; it is about sigma sqrt(n)"),
        "peer error": PrintedRow(
            promise="e, error of the payments' target", statement="Theorem 3", erratum="E1, E6, E9",
            printed=paid.peer_error, corrected=f.peer_error, says_nothing=2 * radius,
            wrong="lies over gamma alone, eigenvalues of n rows, failures of the spectrum left out"),
        "gain": PrintedRow(
            promise="eta, gain of the best lie", statement="Theorem 3", erratum="E8, E16",
            printed=paid.gain, corrected=f.gain,
            says_nothing=bounds.largest_loss(paid.b, radius, f.peer_error),
            wrong="privacy costs at half of the epsilon"),
        "constant": PrintedRow(
            promise="a at which taking part pays", statement="Theorem 5", erratum="E8, E11",
            printed=paid.least_constant, corrected=f.least_constant,
            wrong="in expectation only; privacy costs at half of the epsilon; coarse"),
        "budget": PrintedRow(
            promise="total of all payments", statement="Theorem 6", erratum="E9, E11",
            printed=paid.expected_total, corrected=f.expected_total,
            wrong="in expectation only; printed with 'at least' in its proof"),
    }
    if own is not None:
        rows["accuracy"] = PrintedRow(
            promise="squared error of the release", statement="Theorem 4, end of the proof", erratum="E3, E4, E5, E7",
            printed=released.accuracy, corrected=f.accuracy.bound, says_nothing=radius**2,
            wrong="moments of scalar noise, a variance of order 1/n^2, a cross term that is zero")
    return rows


def _flattest(estimate: bounds.RidgeBounds) -> float:
    """Largest value of w/(gamma + w)^2 over all eigenvalues w that the spectrum event allows: the variance in one
    direction, in units of sigma^2.
    """
    low, high = estimate.curvature
    level = min(max(2 * estimate.ridge, low), high)
    return (level - estimate.ridge) / level**2


def printed_guarantees(mechanism: PrivateTruthfulRegression) -> tuple[PrintedRow, ...]:
    """The source's statements at the parameters of a mechanism, each with the correct bound.

    The source has one ridge weight and one epsilon, while a mechanism may have two ridge weights and two epsilons.
    Statements about payments use the ridge weight and epsilon of the payments. Statements about the release use the
    ridge weight and epsilon of the release. If the release is not a ridge estimate with added noise, these statements
    use the ridge weight and epsilon of the payments. The source's bound B is the square of the parameter bound R0.

    Args:
        mechanism: mechanism of any kind, corrected or as printed.

    Returns:
        One row for each statement of the source. Amounts of money are in the mechanism's currency.

    Example:
        >>> from confide.regression import plan
        >>> found = plan(people=10**6, features=5, parameter_bound=1.0, noise_bound=0.5, epsilon_release=0.01,
        ...              epsilon_payment=0.01, truth_radius=0.25, release="ridge", ridge_payment=1000.0)
        >>> row = next(row for row in printed_guarantees(found.mechanism) if row.promise == "E||v||^2")
        >>> row.statement, round(row.corrected / row.printed)
        ('Lemma 9', 15)
    """
    return tuple(_statements(mechanism).values())


def printed_claims(mechanism: PrivateTruthfulRegression) -> list[Guarantee]:
    """The printed promises of a mechanism, as guarantees that are marked as not claimable because they are wrong."""
    rows, f = _statements(mechanism), mechanism.figures
    radius, currency = mechanism.setting.parameter_bound, mechanism.payment.currency
    who = f"players with a privacy cost of at most {rows['threshold'].printed:.4g} epsilon^2 {currency}"

    def about(name: str) -> dict[str, Any]:
        row = rows[name]
        source = Source(document=DOCUMENT, statement=row.statement, spec="truthful_regression 7.2", erratum=row.erratum)
        return {"source": source, "claimable": False, "note": f"as printed, and wrong: {row.wrong}"}

    false = [] if mechanism.claims_privacy else [
        Privacy(loss=PureDP(rows["privacy"].printed), neighbours=Relation.REPLACE, audience=Audience.OTHERS,
                part="the billboard and everybody else's payments", **about("privacy")),
    ]
    return [
        *false,
        Truthfulness(gain=rows["gain"].printed, baseline=rows["gain"].says_nothing, who=who, unit_of_gain=currency,
                     **about("gain")),
        Participation(utility=mechanism.payment.rule.a - rows["constant"].printed, who=who, **about("constant")),
        Accuracy(bound=rows["accuracy"].printed, baseline=radius**2,
                 measure="the expected squared error of the coefficients (scaled)", **about("accuracy")),
        Budget(expected=rows["budget"].printed, lowest=f.lowest, highest=f.highest, currency=currency,
               **about("budget")),
    ]
