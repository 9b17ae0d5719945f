"""The guarantees of the private mechanism: every number of section 7.1 of the spec truthful_regression, from public
parameters alone.

`figures` computes the numbers. `regression_guarantees` turns the numbers into typed guarantees, and marks vacuous
guarantees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from confide.contract.guarantees import (
    Accuracy,
    Audience,
    Budget,
    Guarantee,
    Guarantees,
    Participation,
    Privacy,
    Relation,
    Source,
    Truthfulness,
)
from confide.contract.renamed import renamed
from confide.privacy.losses import ApproxDP, PureDP
from confide.regression import bounds
from confide.regression.costs import threshold
from confide.regression.release.base import ProvedError
from confide.regression.release.output_perturbation import (
    PRIVACY,
    RIDGE_FORMULA,
    Averaged,
    RidgeRelease,
)
from confide.regression.spectrum import ridge_shrinkage, ridge_shrinkage_error

if TYPE_CHECKING:
    from confide.regression.private_truthful_regression import PrivateTruthfulRegression

__all__ = ["CUT", "DOCUMENT", "EMPTY", "Figures", "figures", "lie_bias", "privacy_guarantees", "regression_guarantees"]

DOCUMENT = "Cummings et al. 2015"
PAYMENT_FAILURE = 1e-6
"""Probability that some payment leaves its stated range, where predictions are not clipped."""


EMPTY = "at these sizes, the bound on the gain is not below the largest cost of a lie, so it says nothing"
"""Reason why truthfulness is not guaranteed where the bound on the gain is vacuous."""

CUT = ("the bounds of the answer cut off answers that the model allows (predictions up to R0, residuals up to M), and "
       "no theorem covers this case: widen the bounds, or lower parameter_bound and noise_bound")
"""Reason why truthfulness and accuracy are not guaranteed if the bounds of the answer exclude some honest answers."""


@renamed(failure="failure_probability", range_failure="range_failure_probability")
@dataclass(frozen=True, kw_only=True)
class Figures:
    """The numbers behind the guarantees, with money in the unit of the currency.

    Args:
        loss: total privacy loss towards all other people together.
        threshold: cost threshold tau; the guarantees cover players with a cost coefficient up to tau.
        privacy_cost: largest privacy cost tau epsilon^2 of a covered player. In this formula epsilon is the proved
            privacy loss (`PrivateTruthfulRegression.borne_epsilon`), even if the mechanism claims no privacy.
        coin: value of a coin, the smallest unit of the currency, such as 0.01 for a cent. Rounding to whole coins can
            reward a lie with one coin, and can cost a participant half a coin.
        peer_error: bound e on the error of the peers' estimate. Payments compare the players' answers with this
            estimate.
        gain: bound eta on the gain from any lie.
        truth_radius: truth radius rho. No lie that moves the liar's prediction by more than rho can be profitable.
        least_constant: least scoring constant a at which taking part is worthwhile in expectation.
        expected_total: bound on the expected total payment.
        lowest: smallest possible single payment.
        highest: largest possible single payment.
        range_failure_probability: probability that some payment leaves [lowest, highest]; 0 where predictions are
            clipped.
        accuracy: proved bound on ||coef - theta||^2.
        typical_error: predicted E||estimate - theta||^2 when everybody is truthful; not a bound.
        failure_probability: probability that the bounds do not apply, because eigenvalues leave their bounds or because
            there are more misreports than tolerated.
    """

    loss: PureDP | ApproxDP
    threshold: float
    privacy_cost: float
    coin: float
    peer_error: float
    gain: float
    truth_radius: float
    least_constant: float
    expected_total: float
    lowest: float
    highest: float
    range_failure_probability: float
    accuracy: ProvedError
    typical_error: float
    failure_probability: float

    @property
    def deposit_coins(self) -> int:
        """The deposit that each participant pays at the start so that nobody can owe money later, in whole coins
        (smallest units of the currency).

        If the lowest possible payment is negative, the deposit is its absolute value, rounded up to whole coins.
        Otherwise the deposit is 0.
        """
        return math.ceil(max(0.0, -self.lowest) / self.coin)

    @property
    def deposit(self) -> float:
        """The deposit of each participant, in the unit of the currency."""
        return self.deposit_coins * self.coin


def peer_error(mechanism: PrivateTruthfulRegression) -> float:
    """A bound e on the error of the payment estimates, for the group with the larger error. The bound includes the
    effect of clipping.
    """
    setting, payment = mechanism.setting, mechanism.payment
    worst = max(_peer_error(mechanism, rows) for rows in set(setting.groups))
    if payment.clip is not None:
        worst += bounds.clipping_bias(setting.features, mechanism.noise_scale, payment.clip) * mechanism.stretch
    return worst


def _peer_error(mechanism: PrivateTruthfulRegression, rows: int) -> float:
    """The bound e for a group with a given number of rows, without the effect of clipping."""
    setting, ridge = mechanism.setting, mechanism.payment.ridge
    found = mechanism.peer_bounds(rows)
    if not mechanism.payment.debias:
        return found.peer_error
    return found.debiased_peer_error(ridge_shrinkage(rows, setting.features, ridge),
                                     ridge_shrinkage_error(rows, setting.features, ridge))


def figures(mechanism: PrivateTruthfulRegression) -> Figures:
    """All numbers of section 7.1 of the spec truthful_regression, for one mechanism."""
    setting, payment, behaviour = mechanism.setting, mechanism.payment, mechanism.behaviour
    rule, coin = payment.rule, 1.0 / payment.minor_units
    tau = threshold(setting.people, behaviour.misreports, behaviour.failure_probability, behaviour.costs,
                    "lemma3" if behaviour.common_factor else "exact")
    cost = tau * mechanism.borne_epsilon**2
    error = peer_error(mechanism)
    rho = bounds.truth_radius(rule.b, error, cost + coin)
    scale, reach = mechanism.noise_scale * mechanism.stretch, mechanism.longest_peers * mechanism.stretch
    if payment.clip is None:
        low, high = bounds.payment_range(rule, setting.features, scale, reach, setting.parameter_bound,
                                         PAYMENT_FAILURE)
    else:
        low, high = bounds.clipped_payment_range(rule, scale, reach, setting.parameter_bound, payment.clip)
    spectrum = setting.spectrum(setting.people).quantised()
    # Where honest answers are cut off, nobody knows what peers predict on average: only the sure range bounds the
    # total.
    expected = bounds.expected_budget(setting.people, rule, error, setting.parameter_bound)
    if setting.cuts:
        expected = setting.people * max(0.0, high)
    return Figures(
        loss=mechanism.loss,
        threshold=tau,
        privacy_cost=cost,
        coin=coin,
        peer_error=error,
        gain=bounds.incentive_bound(rule.b, error, cost + coin),
        truth_radius=rho,
        least_constant=bounds.participation_constant(rule.b, error, setting.parameter_bound, cost + coin / 2,
                                                     centred=rule.centred),
        expected_total=expected + setting.people * coin / 2,
        lowest=low - coin / 2,
        highest=high + coin / 2,
        range_failure_probability=0.0 if payment.clip is not None else PAYMENT_FAILURE,
        accuracy=mechanism.release.proved_error(setting, behaviour.misreports),
        typical_error=mechanism.release.expected_error(setting),
        failure_probability=min(1.0, spectrum.failure_probability + behaviour.failure_probability),
    )


def lie_bias(mechanism: PrivateTruthfulRegression, truth_radius: float) -> float:
    """A bound on the movement of the released estimate if all players lie in the same direction, as far as the truth
    radius allows (spec truthful_regression 7.1).

    The result is nan unless x is uniform in the ball and predictions rise with the response.
    """
    setting, release = mechanism.setting, mechanism.release
    if not (setting.uniform_ball and setting.noise.log_concave):
        return math.nan
    # Estimates from released moments are shrunk by their noise alone, which public numbers bound from below by 0.
    ridge = release.ridge if isinstance(release, RidgeRelease) else 0.0
    ridge = release.ridge_payment if isinstance(release, Averaged) else ridge
    return bounds.lie_bias(mechanism.posterior, truth_radius, setting.spectrum(setting.people), ridge)


def privacy_guarantees(mechanism: PrivateTruthfulRegression) -> tuple[Privacy, ...]:
    """The guarantees of privacy towards other participants and towards the public, and the guarantee of each part of
    the mechanism alone.

    A release that averages the payment estimates has no privacy loss of its own and is exactly as private as the
    payment estimates, so no separate guarantee covers it.
    """
    loss = mechanism.figures.loss
    own, proof, formula = mechanism.release.privacy()
    together = Source(document=DOCUMENT, statement="Theorem 2 (billboard lemma and composition)",
                      spec="truthful_regression 4.5",
                      erratum="its two parts have new proofs: see the payment estimates alone and the release alone")
    return (
        Privacy(loss=loss, neighbours=Relation.REPLACE, audience=Audience.OTHERS, source=together,
                part="the billboard and everybody else's payments",
                note="the promise holds for every data set, whether or not the priors are right; the number of people "
                     "is public"),
        Privacy(loss=loss, neighbours=Relation.REPLACE, audience=Audience.PUBLIC, source=together,
                part="the billboard", note="coefficients, payment estimates and the random split"),
        Privacy(loss=mechanism.payment_claim, neighbours=Relation.REPLACE, audience=Audience.PUBLIC, source=PRIVACY,
                part="the payment estimates alone", note=RIDGE_FORMULA),
        *([] if own == PureDP(0.0) else [
            Privacy(loss=own, neighbours=Relation.REPLACE, audience=Audience.PUBLIC, source=proof,
                    part="the release alone", note=formula)]),
    )


def regression_guarantees(mechanism: PrivateTruthfulRegression) -> Guarantees:
    """The typed guarantees in reading order: privacy, truthfulness, participation, accuracy, budget."""
    setting, rule = mechanism.setting, mechanism.payment.rule
    f = mechanism.figures
    currency = mechanism.payment.currency
    covered = f"participants with a privacy cost of at most {f.threshold:.4g} epsilon^2 {currency}"
    cut = setting.cuts

    def noted(note: str) -> str:
        return CUT if cut else note

    items: list[Guarantee] = [
        *mechanism.privacy_guarantees(),
        Truthfulness(
            gain=f.gain, baseline=bounds.largest_loss(rule.b, setting.parameter_bound, f.peer_error), who=covered,
            radius=f.truth_radius, baseline_radius=2 * setting.parameter_bound, unit_of_gain=currency,
            failure_probability=f.failure_probability, vacuous=cut,
            source=Source(document=DOCUMENT, statement="Theorem 3", spec="truthful_regression 7.1",
                          erratum="the group size, the error of the payment estimates and the total epsilon; the truth "
                                  "radius is new"),
            note=noted("the gain is an average over everybody else's data, the split and the noise, for the "
                       "participant's own record; a large lie can move the prediction by little, if the prediction "
                       "hardly depends on the answer"),
        ),
        Participation(
            utility=rule.a - f.least_constant, who=covered, vacuous=cut,
            source=Source(document=DOCUMENT, statement="Theorem 5", spec="truthful_regression 7.1",
                          erratum="only on average, and with the corrected error of the payment estimates"),
            note=noted("on average; a single payment can be negative" if f.lowest < 0 else "on average"),
        ),
        Accuracy(
            bound=min(f.accuracy.bound, 4 * setting.parameter_bound**2), baseline=setting.parameter_bound**2,
            measure=f"the {'expected ' if f.accuracy.expected else ''}squared error of the coefficients (scaled)",
            failure_probability=min(1.0, f.failure_probability + f.accuracy.failure_probability),
            source=f.accuracy.source, vacuous=cut,
            note=noted("" if f.accuracy.bound < setting.parameter_bound**2 else
                       "at these sizes, nothing useful is proved before the run; read the intervals of the result"),
        ),
        Budget(
            expected=f.expected_total, lowest=f.lowest, highest=f.highest, currency=currency,
            failure_probability=f.range_failure_probability,
            source=Source(document=DOCUMENT, statement="Theorem 6", spec="truthful_regression 7.1",
                          erratum="the printed inequality is reversed; payments to liars are included"),
            note="the real total depends on private records and is not published",
        ),
    ]
    return Guarantees(tuple(items))
