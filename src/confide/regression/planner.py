"""The planner of the private regression, which computes a calibrated mechanism, its guarantees and its expected
payments from public parameters.

The planner refuses sizes at which no useful result is possible, and never looks at data. Give the truth radius to get
the payments, or give the budget for payments to get the truth radius. For privacy, give the two epsilons, or one total
epsilon to be split, or the wanted prediction error.

Source: spec truthful_regression section 8.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from confide.charts import curves
from confide.contract.checks import exactly_one, fraction, one_of, positive
from confide.contract.errors import InvalidInput, Refused
from confide.contract.missing import names_missing
from confide.contract.plan import Alternative, Plan, Predicted
from confide.contract.presentation import Picture
from confide.contract.remedies import Remedy, accepted, first_that, retried, tried, trying
from confide.contract.renamed import renamed, warn_of_old
from confide.contract.wire import wire_name
from confide.privacy.accounting import spendable, written
from confide.regression import bounds
from confide.regression.compared_releases import (
    KINDS,
    RELEASES,
    best_ridge_release,
    compared,
    knowing_nothing,
    least_epsilon,
)
from confide.regression.costs import (
    DependentCosts,
    EmpiricalCosts,
    ExponentialCosts,
    ParetoCosts,
    QuadraticCosts,
)
from confide.regression.guarantees import CUT, Figures, lie_bias, peer_error
from confide.regression.posterior import informativeness
from confide.regression.priors import NoiseLaw, Prior, UniformBall, UniformNoise
from confide.regression.private_truthful_regression import Behaviour, PaymentScheme, PrivateTruthfulRegression
from confide.regression.release.base import Release
from confide.regression.release.output_perturbation import Averaged, RidgeRelease
from confide.regression.scoring import ScoringRule
from confide.regression.setting import Setting

__all__ = ["RegressionPlan", "plan"]

HOPELESS = 0.95
"""Largest predicted error of an accepted plan, as a share of the error of the zero vector."""

PAYMENT_SHARE = 0.2
"""Default share of the total epsilon that the payment estimates use (spec truthful_regression section 14)."""


class _Warnings(tuple[str, ...]):
    """The warnings of a plan, as a tuple that can also be called, because `warnings` used to be a method."""

    __slots__ = ()

    def __call__(self) -> tuple[str, ...]:
        warn_of_old("RegressionPlan", "warnings()", "warnings")
        return tuple(self)


@dataclass(frozen=True, kw_only=True)
class RegressionPlan(Plan[PrivateTruthfulRegression]):
    """A private regression that was calibrated from public parameters, with its predicted accuracy and payments.

    Args:
        mechanism: calibrated mechanism, ready to run.
        compared: mapping from the name of each release estimator that the privacy budget allows to the predicted
            squared error of a prediction by this estimator, E(x'estimate - x'theta)^2.
        releases: mapping from the name of each release estimator to the estimator with its settings within this budget.
    """

    mechanism: PrivateTruthfulRegression
    compared: Mapping[str, float]
    releases: Mapping[str, Release] = field(default_factory=dict)

    @property
    def figures(self) -> Figures:
        """The numbers behind the guarantees."""
        return self.mechanism.figures

    @cached_property
    def lie_bias(self) -> float:
        """A bound on the movement of the estimate if all players lie in the same direction, as far as the truth radius
        allows; nan where no bound is known.
        """
        return lie_bias(self.mechanism, self.figures.truth_radius)

    @cached_property
    def informativeness(self) -> float:
        """The share of the variance of x'theta that the players' answers reveal, and on which payments therefore
        depend.
        """
        return informativeness(self.mechanism.setting.prior, self.mechanism.setting.noise)

    @property
    def release(self) -> str:
        """The name of the chosen release estimator, one of the names in `RELEASES`."""
        return next(name for name, kind in KINDS.items() if isinstance(self.mechanism.release, kind))

    @property
    def predicted(self) -> Mapping[str, Predicted]:
        """The predicted squared error of a prediction, by which release estimators are compared, followed by the truth
        radius and the payments.
        """
        f, m = self.figures, self.mechanism
        coin = m.payment.currency
        return {
            **_error(self.release, m.release.prediction_error(m.setting)),
            "truth radius": Predicted(f.truth_radius, "scale of the answers", "bound"),
            "expected total": Predicted(f.expected_total, coin, "bound"),
            "largest payment": Predicted(f.highest, coin, "bound"),
        }

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """The other release estimators, the best first, each with its predicted error and the reason why it was not
        chosen.
        """
        mine = self.mechanism.release.prediction_error(self.mechanism.setting)
        found = [Alternative(name=f"release = {name}", predicted=_error(name, error), mechanism=self._with(name),
                             refused="its predicted error is larger" if error > mine else
                             "the file asks for another release")
                 for name, error in sorted(self.compared.items(), key=lambda each: each[1]) if name != self.release]
        if "adassp" not in self.compared:
            found.append(Alternative(name="release = adassp", refused="it needs a delta above 0"))
        return tuple(found)

    def _with(self, release: str) -> PrivateTruthfulRegression | None:
        """The mechanism with another release and the same scoring weight, with payments that cover the privacy costs of
        that release.
        """
        if release not in self.releases:
            return None
        other: Any = self.releases[release]
        return _priced(replace(self.mechanism, release=other), self.mechanism.payment.rule.b)

    @property
    def printed(self) -> tuple[Any, ...]:
        """Old name of `confide.evidence.cummings_2015.printed_guarantees(plan.mechanism)`."""
        return self.mechanism.printed()

    @property
    def warnings(self) -> _Warnings:
        """Warnings that a buyer should read before running the plan."""
        f, out = self.figures, []
        bound = self.mechanism.setting.parameter_bound
        if self.mechanism.setting.cuts:
            out.append(CUT)
        if self.informativeness < 0.1:
            out.append(f"payments hardly depend on the answers (informativeness {self.informativeness:.2g} < 0.1): "
                       "the noise bound is large compared with the parameter bound")
        if self.lie_bias**2 > min(f.accuracy.bound, f.typical_error):
            out.append("lies of everybody up to the truth radius, all in one direction, would move the coefficients by "
                       f"{self.lie_bias:.3g}, which is more than the promised error for truthful answers")
        if f.truth_radius >= 2 * bound:
            out.append(f"the truth radius {f.truth_radius:.3g} is as wide as the range of predictions, +-{bound:g}, so "
                       "the promise excludes no lie")
        elif f.truth_radius > bound:
            out.append(f"the truth radius {f.truth_radius:.3g} exceeds the parameter bound {bound:g}, so the promise "
                       "excludes only lies that move a prediction over more than half of its range")
        return _Warnings(out)

    def plot(self) -> Picture:
        """A picture of the predicted error against the epsilon of the release, with the plan marked.

        If the release averages the payment estimates, the horizontal axis is the epsilon of the payment estimates.
        """
        m = self.mechanism
        averaged = isinstance(m.release, Averaged)
        here = m.payment.epsilon if isinstance(m.release, Averaged) else m.release.epsilon
        rows = []
        for factor in np.geomspace(0.1, 10.0, 13):
            epsilon = here * float(factor)
            scaled: Release
            if isinstance(m.release, Averaged):
                scaled = replace(m.release, epsilon_payment=epsilon)
            elif isinstance(m.release, RidgeRelease):
                scaled = RidgeRelease(epsilon=epsilon, ridge=best_ridge_release(m.setting, epsilon))
            else:
                scaled = replace(m.release, epsilon=epsilon)
            rows.append((epsilon, scaled.prediction_error(m.setting), "predicted error"))
        nothing = knowing_nothing(m.setting)
        rows += [(rows[0][0], nothing, "knowing nothing"), (rows[-1][0], nothing, "knowing nothing")]
        return curves(
            rows, title="Accuracy against privacy",
            x="epsilon of the payment estimates" if averaged else "epsilon of the release",
            y="squared error of a prediction (scaled)",
            alt="The expected squared error of a prediction falls as the release's epsilon grows; the plan is marked.",
            marks=[(here, m.release.prediction_error(m.setting), "this plan")], log_x=True, log_y=True,
        )[0]

    def trade_off(self) -> list[Picture]:
        """Old name of `plot`, until 1.0.0; the list is empty for a release that averages the payment estimates."""
        warn_of_old("RegressionPlan", "trade_off()", "plot()")
        return [] if isinstance(self.mechanism.release, Averaged) else [self.plot()]

    def _own_figures(self) -> Mapping[str, Any]:
        f, m = self.figures, self.mechanism
        return {
            "people": m.setting.people,
            "features": m.setting.features,
            "release": wire_name(m.release),
            "predicted_errors": self.compared,
            "ridge_payment": m.payment.ridge,
            "noise_scale_payment": m.noise_scale,
            "a": m.payment.rule.a,
            "b": m.payment.rule.b,
            "centred": m.payment.rule.centred,
            "debias": m.payment.debias,
            "currency": m.payment.currency,
            "deposit": f.deposit,
            "privacy": f.loss.to_dict(),
            "proved_error": f.accuracy.bound,
            "lie_bias": self.lie_bias,
            "informativeness": self.informativeness,
            **{name: getattr(f, name) for name in (
                "threshold", "privacy_cost", "peer_error", "gain", "truth_radius", "expected_total", "lowest",
                "highest", "typical_error",
            )},
            "range_failure_probability": f.range_failure_probability,
            "failure_probability": f.failure_probability,
        }


_SIMULATED = ("sufficient statistics", "adassp")  # on made-up moments


def _error(release: str, error: float) -> dict[str, Predicted]:
    basis = "simulated" if release in _SIMULATED else "rule of thumb"
    return {"squared error of a prediction": Predicted(error, "squared scale of the answers", basis)}


@renamed(misreports_failure="failure_probability")
@names_missing("parameter_bound | prior", "noise_bound | noise", "epsilon | error | epsilon_release | epsilon_payment",
               "truth_radius | budget")
def plan(
    *,
    people: int,
    features: int,
    parameter_bound: float | None = None,
    noise_bound: float | None = None,
    prior: Prior | None = None,
    noise: NoiseLaw | None = None,
    epsilon: float | None = None,
    epsilon_release: float | None = None,
    epsilon_payment: float | None = None,
    error: float | None = None,
    delta: float = 0.0,
    release: str = "auto",
    radius: float | None = None,
    response_bound: float | None = None,
    answers_cut: bool = False,
    smallest_eigenvalue: float | None = None,
    largest_eigenvalue: float | None = None,
    spectrum_tolerance: float = 0.2,
    ridge_payment: float | None = None,
    costs: ParetoCosts | ExponentialCosts | EmpiricalCosts | DependentCosts | QuadraticCosts | None = None,
    common_factor: bool = False,
    misreports: float = 0.001,
    failure_probability: float = 1e-6,
    truth_radius: float | None = None,
    budget: float | None = None,
    centred: bool = True,
    clip: float | None = None,
    debias: bool = False,
    currency: str = "USD",
    minor_units: int = 100,
) -> RegressionPlan:
    """Calibrate the private mechanism from public parameters, or refuse and name changes that would help. The mechanism
    publishes a release, which is for the buyer, and two noisy payment estimates, from which payments are computed.

    Args:
        people: number n of invited people, including people who send no record.
        features: number d of features.
        parameter_bound: bound R0 on the norm of the parameter; give either this bound or a prior.
        noise_bound: bound M on a residual; give either this bound or a noise law.
        prior: law of the parameter; by default uniform in the ball of radius R0.
        noise: law of the residuals; by default uniform on [-M, M].
        epsilon: total privacy loss in nats, of which the payment estimates use a fifth. Instead of `epsilon`, give
            `epsilon_release` and `epsilon_payment`, or give `error`.
        epsilon_release: privacy loss epsilon of the release, in addition to the loss of the payment estimates.
        epsilon_payment: privacy loss epsilon of the payment estimates.
        error: wanted squared error of a prediction, E(x'estimate - x'theta)^2, above 0. The plan has about the least
            total epsilon whose predicted error is at most the wanted error.
        delta: failure probability delta of the release's privacy; 0 allows only releases with pure privacy.
        release: name in `RELEASES`; "auto" chooses the estimator with the least predicted error.
        radius: radius R of the ball to which ridge estimates are constrained; default 1.25 R0.
        response_bound: bound Y to which answers are clipped; default R0 + M.
        answers_cut: whether answers within R0 + M are clipped or refused before they arrive.
        smallest_eigenvalue: least eigenvalue mu of E[x x'], from public knowledge; None for x uniform in the unit ball.
        largest_eigenvalue: largest eigenvalue of E[x x'], where known.
        spectrum_tolerance: largest relative deviation xi of the sample spectrum that the guarantees cover.
        ridge_payment: ridge weight gamma_p of the payment estimates. By default the weight is chosen such that the
            noise on a prediction has standard deviation R0. If the release averages the payment estimates, the default
            is the weight with the least predicted error.
        costs: law of the privacy cost coefficients; default Pareto with exponent 4.
        common_factor: whether an unknown factor may move all costs together, which makes the plan much more expensive.
        misreports: tolerated share alpha of lies and absences.
        failure_probability: probability beta that there are more lies and absences than tolerated.
        truth_radius: wanted truth radius rho. No lie that moves the liar's prediction by more than rho is profitable.
            Give either this radius or the budget.
        budget: wanted bound on the expected total payment, in the currency. Give either this bound or the truth radius.
        centred: whether to use the centred scoring rule, which is cheaper and comes from confide; False for the rule of
            Cummings et al. 2015.
        clip: number t in the bound R + s t at which the peers' predictions are clipped, where s is the scale of the
            noise on the payment estimates. With clipping, all payments are certainly in a bounded range; None for no
            clipping.
        debias: whether to divide the peers' estimates by 1 - g, with their known shrinkage g, which removes the ridge
            bias from the error e; only for features uniform in the ball.
        currency: name of the currency.
        minor_units: number of smallest units, such as cents, in one unit of the currency.

    Returns:
        The plan, with a `mechanism` that can be run and `guarantees` that need no data.

    Raises:
        InvalidInput: a parameter is out of range, or two given parameters exclude each other.
        Refused: no setting with these sizes reaches the target; the message names changes that would help.

    Example:
        >>> found = plan(people=1_000_000, features=5, parameter_bound=1.0, noise_bound=0.5, epsilon_release=0.01,
        ...              epsilon_payment=0.01, truth_radius=0.25, release="ridge", ridge_payment=1000.0,
        ...              spectrum_tolerance=0.05, centred=False, minor_units=10**9)
        >>> round(found.mechanism.payment.rule.b, 4), round(found.figures.expected_total)
        (0.0528, 126953)
    """
    again, whole_budget = partial(_again, locals()), epsilon is not None
    fraction("delta", delta, zero=True)
    one_of("release", release, RELEASES)
    if release == "adassp" and delta == 0:
        raise InvalidInput("delta", "is 0", "AdaSSP needs a delta above 0")
    if error is not None and any(each is not None for each in (epsilon, epsilon_release, epsilon_payment)):
        raise InvalidInput("error", "is given together with an epsilon", "give only one of them")
    exactly_one(truth_radius=truth_radius, budget=budget)
    if parameter_bound is not None:
        positive("parameter_bound", parameter_bound)
    if noise_bound is not None:
        positive("noise_bound", noise_bound)
    prior, noise = _laws(features, parameter_bound, noise_bound, prior, noise)
    setting = Setting(
        people=people, features=features, prior=prior, noise=noise, radius=radius, response_bound=response_bound,
        answers_cut=answers_cut, smallest_eigenvalue=smallest_eigenvalue, largest_eigenvalue=largest_eigenvalue,
        spectrum_tolerance=spectrum_tolerance,
    )
    if ridge_payment is not None:
        positive("ridge_payment", ridge_payment)
    if error is not None:
        return _for_error(positive("error", error), partial(
            _error_at, setting=setting, release=release, delta=delta, ridge_payment=ridge_payment), again)
    epsilon_release, epsilon_payment = _split(epsilon, epsilon_release, epsilon_payment, release, delta)
    positive("epsilon_release", epsilon_release)
    positive("epsilon_payment", epsilon_payment)
    if misreports * people < 1:
        raise Refused(f"misreports = {misreports:g} of {people:,} people tolerates less than one misreport",
                      tried("choose misreports >= {misreports}, in a campaign file under [costs]", again, digits=3,
                            misreports=1 / people) or "invite more people, or tolerate more misreports")
    costs = ParetoCosts(exponent=4.0) if costs is None else costs
    behaviour = Behaviour(costs=costs, misreports=misreports, failure_probability=failure_probability,
                          common_factor=common_factor)
    found = compared(setting, release, delta=delta, epsilon_release=epsilon_release, epsilon_payment=epsilon_payment,
                     ridge_payment=ridge_payment)
    nothing = knowing_nothing(setting)
    if found.error >= HOPELESS * nothing:
        raise Refused(
            "the records would teach hardly anything. With the records, the predicted error of a prediction is "
            f"{found.error:.3g}. Without any records, the error of a prediction is {nothing:.3g}",
            _more(found.estimators[found.chosen], setting, nothing, again, epsilon if whole_budget else epsilon_release,
                  "epsilon" if whole_budget else "epsilon_release"),
        )
    draft = PrivateTruthfulRegression(
        setting=setting,
        payment=PaymentScheme(epsilon=epsilon_payment, ridge=found.ridge_payment, rule=ScoringRule(0.0, 1.0, centred),
                              clip=clip, currency=currency, minor_units=minor_units, debias=debias),
        release=found.estimators[found.chosen],  # type: ignore[arg-type]
        behaviour=behaviour,
    )
    if truth_radius is not None:
        mechanism = _for_radius(draft, positive("truth_radius", truth_radius), again)
    else:
        mechanism = _for_budget(draft, positive("budget", budget), again)
    return RegressionPlan(mechanism=mechanism, compared=dict(found.errors), releases=dict(found.estimators))


def _again(asked: Mapping[str, Any], **changed: Any) -> RegressionPlan:
    return plan(**{**asked, **changed})


def _error_at(
    epsilon: float, *, setting: Setting, release: str, delta: float, ridge_payment: float | None
) -> float:
    """The predicted error of a prediction at a total epsilon."""
    released, paid = _split(epsilon, None, None, release, delta)
    return compared(setting, release, delta=delta, epsilon_release=released, epsilon_payment=paid,
                    ridge_payment=ridge_payment).error


def _for_error(
    error: float, error_at: Callable[[float], float], again: Callable[..., RegressionPlan]
) -> RegressionPlan:
    """The plan with about the least total epsilon whose predicted error is small enough."""
    epsilon = least_epsilon(error, error_at)
    if epsilon is None:
        raise Refused(f"no epsilon reaches a squared error of {error:.3g} with this number of people",
                      ["invite more people", "ask for a larger error"])

    def followed(**changed: Any) -> RegressionPlan:
        if changed.keys() & {"people", "smallest_eigenvalue"}:  # the error takes another epsilon then, as low as before
            raise InvalidInput("error", "needs another epsilon")
        return again(**{"error": None, "epsilon": epsilon, **changed})

    try:
        return followed()
    except Refused as refusal:
        ways = retried(refusal, followed)
        raise Refused(f"with epsilon = {epsilon:g}, which this error needs, {refusal.reason}",
                      [*ways, "ask for a smaller error, which needs a larger epsilon"]) from None


def _more(
    release: Release, setting: Setting, nothing: float, again: Callable[..., Any], epsilon: float | None, name: str
) -> list[str | Remedy]:
    """Changes that make the predictions better than the predictions of the zero vector: a larger number of people, or a
    larger epsilon.
    """

    def crowd() -> float | None:
        return first_that(lambda people: release.prediction_error(
            replace(setting, people=int(people))) < HOPELESS * nothing, setting.people, farthest=1e9)

    start: dict[str, Any] = {name: lambda: first_that(lambda level: again(**{name: level}), epsilon or 1.0,
                                                       close=1e-2, farthest=1e3)}
    found = [*tried("invite {people} people or more", again, people=crowd),
             *tried(f"{name} >= {{{name}}}", again, digits=3, **start)]
    return [*found] or ["invite more people, or raise epsilon_release"]


def _split(
    epsilon: float | None, epsilon_release: float | None, epsilon_payment: float | None, release: str, delta: float
) -> tuple[float, float]:
    """The epsilon of the release and the epsilon of the payment estimates, either as given, or computed from a total
    epsilon that their sum never exceeds.
    """
    if (epsilon is None) == (epsilon_release is None and epsilon_payment is None):
        raise InvalidInput("epsilon", "is missing" if epsilon is None else "is given both as a total and in parts",
                           "give epsilon, or both of its parts, or error")
    if epsilon is not None:
        positive("epsilon", epsilon)
        # In decimals, so that the two parts add up to the total as it was written.
        total = Decimal(repr(float(epsilon)))
        paid = total * Decimal(repr(PAYMENT_SHARE))
        epsilon_payment, epsilon_release = float(paid), float(total - paid)
        # The total counts as it is written, and as the double that an account's sum is compared with.
        while (written(epsilon_payment) + max(written(epsilon_release), Fraction(epsilon_release))
               > min(written(epsilon), Fraction(epsilon))):
            epsilon_release = math.nextafter(epsilon_release, 0.0)
        epsilon_release = spendable(epsilon_release, delta)  # concentrated noise counts as the double
    if release == "averaged" and epsilon_release is None:
        epsilon_release = epsilon_payment
    if epsilon_release is None or epsilon_payment is None:
        missing = "epsilon_release" if epsilon_release is None else "epsilon_payment"
        raise InvalidInput(missing, "is missing", "give epsilon_release and epsilon_payment, or the total epsilon")
    return epsilon_release, epsilon_payment


def _laws(
    features: int, parameter_bound: float | None, noise_bound: float | None, prior: Prior | None, noise: NoiseLaw | None
) -> tuple[Prior, NoiseLaw]:
    """The public laws of the parameter and of the noise, either as given, or as determined by the given bounds."""
    if prior is None:
        if parameter_bound is None:
            raise InvalidInput("parameter_bound", "missing", "give the bound, or a prior")
        prior = UniformBall(dimension=features, radius=parameter_bound)
    elif parameter_bound is not None and parameter_bound != prior.radius:
        raise InvalidInput("parameter_bound",
                           f"{parameter_bound:g} differs from the radius {prior.radius:g} of the prior",
                           "give only the prior, or the same value")
    if noise is None:
        if noise_bound is None:
            raise InvalidInput("noise_bound", "missing", "give the bound, or a noise law")
        noise = UniformNoise(bound=noise_bound)
    elif noise_bound is not None and noise_bound != noise.bound:
        raise InvalidInput("noise_bound", f"{noise_bound:g} differs from the noise law's {noise.bound:g}")
    return prior, noise


def _priced(draft: PrivateTruthfulRegression, b: float) -> PrivateTruthfulRegression:
    """The mechanism with scoring weight b, and with the least constant a at which taking part is worthwhile in
    expectation.
    """
    weighted = replace(draft, payment=replace(draft.payment, rule=ScoringRule(0.0, b, draft.payment.rule.centred)))
    a = weighted.figures.least_constant
    return replace(weighted, payment=replace(weighted.payment, rule=replace(weighted.payment.rule, a=a)))


def _for_radius(
    draft: PrivateTruthfulRegression, rho: float, again: Callable[..., Any]
) -> PrivateTruthfulRegression:
    error = peer_error(draft)
    if rho <= 2 * error:
        raise Refused(
            f"a truth radius of {rho:g} is out of reach. The error of the peers' estimates can be up to e = "
            f"{error:.4g}. The radius must exceed 2e = {2 * error:.4g}", _what_would_do(draft, rho, again),
        )
    return _priced(draft, bounds.scale_for_radius(rho, error, draft.figures.privacy_cost + draft.figures.coin))


def _what_would_do(
    draft: PrivateTruthfulRegression, rho: float, again: Callable[..., Any]
) -> list[str | Remedy]:
    """Changes of one public number that bring the truth radius within reach; each change was tested."""
    if trying():
        return []
    setting, behaviour = draft.setting, draft.behaviour

    def reaches(misreports: float = behaviour.misreports, **changes: Any) -> bool:
        other = replace(draft, setting=replace(setting, **changes), behaviour=replace(behaviour, misreports=misreports))
        return 2 * peer_error(other) < rho

    found: list[str | Remedy] = []
    if setting.uniform_ball and not draft.payment.debias and accepted(lambda: again(debias=True)):
        found.append("debiased payments (debias) are enough")
    crowds = (int(float(f"{setting.people * 1.2**k:.2g}")) for k in range(1, 60))
    found += tried("{people} people are enough", again,
                   people=next((n for n in crowds if n > setting.people and reaches(people=n)), None))
    rising = (setting.eigenvalue * 1.25**k for k in range(1, 30))
    found += tried("fewer or more balanced features are enough, if their true smallest_eigenvalue is "
                   f"{{smallest_eigenvalue}} instead of {setting.eigenvalue:.2g}", again,
                   digits=2, smallest_eigenvalue=next((mu for mu in rising if mu <= 1 / setting.features
                                             and not draft.payment.debias and reaches(smallest_eigenvalue=mu)), None))
    fewer = behaviour.misreports / 10
    if fewer * setting.people >= 1 and reaches(misreports=fewer):
        found += tried("a share of {misreports} of people who lie or stay away is possible", again, up=False, digits=2,
                       misreports=fewer)
    error = peer_error(draft)
    wider = next((r for k in range(1, 20) if (r := rho * 1.25**k) > 2 * error), math.inf)
    if wider < 2 * setting.parameter_bound:
        found += tried("a radius of {truth_radius} is within reach", again, digits=2, truth_radius=wider)
    return found or ["changing only one number is not enough: use fewer features, invite more people, and tolerate "
                     "fewer misreports"]


def _for_budget(
    draft: PrivateTruthfulRegression, budget: float, again: Callable[..., Any]
) -> PrivateTruthfulRegression:
    """The mechanism with the largest scoring weight whose expected total stays within the budget; the total is linear
    in the weight.
    """
    unit, double = (_priced(draft, b).figures.expected_total for b in (1.0, 2.0))
    fixed = 2 * unit - double
    if budget <= fixed:
        raise Refused(
            f"{budget:g} {draft.payment.currency} does not cover the participants' privacy costs ({fixed:.2f} "
            f"{draft.payment.currency})",
            [*tried(f"a budget of {{budget}} {draft.payment.currency} or more", again, budget=fixed * (1 + 1e-9)),
             "lower epsilon"],
        )
    return _priced(draft, (budget - fixed) / (unit - fixed))
