"""Incentives, accuracy and payments of a regression, measured on people drawn from the public model."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from confide.audit import AuditRow, Concern, Verdict, best_response
from confide.contract.guarantees import Accuracy, Budget, Participation, Truthfulness
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.privacy.noise import ForcedNoise, Noise, RecordingNoise
from confide.regression.guarantees import CUT
from confide.regression.private_truthful_regression import PrivateTruthfulRegression, RegressionBillboard
from confide.regression.records import row_norms
from confide.regression.stand_ins import stand_in

__all__ = ["behaviour_rows", "far_lies", "own_score_row", "range_row", "wrong_signs"]

_FALSE_ALARM = 1e-6  # of a row about a mean of simulated runs
_REPORTS = 401  # of a person, where those that move the prediction far are looked at
_BENT = 8  # people who lie to peers that were broken on purpose
_PEOPLE = 400  # in the replay that changes one answer: few, so that one answer would be seen in an estimate


@dataclass(frozen=True, kw_only=True, eq=False)
class _Runs:
    """The results of simulated runs on fresh populations.

    Args:
        errors: squared error of the coefficients, one value for each run.
        totals: total payment, one value for each run.
        lowest: smallest single payment over all runs.
        highest: largest single payment over all runs.
        shrinkage: factor g by which the peers' noiseless estimates fall short of theta: the peers' prediction P is (1 -
            g) q for a true prediction q.
    """

    errors: np.ndarray
    totals: np.ndarray
    lowest: float
    highest: float
    shrinkage: float


@dataclass(frozen=True, kw_only=True)
class _Lies:
    """The gains of sampled people from their best answers.

    Args:
        gain: largest expected gain of any lie.
        truth: smallest expected payment of a truthful answer.
        far: largest expected gain of a lie that moves the liar's prediction by more than the truth radius; -infinity
            where no lie moves it so far.
    """

    gain: float
    truth: float
    far: float


def _simulate(mechanism: PrivateTruthfulRegression, seed: int, runs: int, step: Callable[[], None]) -> _Runs:
    setting = mechanism.setting
    errors, totals, low, high, along, size = [], [], [], [], 0.0, 0.0
    for run in range(runs):
        history = RecordingNoise(Noise.simulated(seed * 1009 + run))
        people = stand_in(setting, Noise.simulated(seed * 1009 + run), run)
        outcome = mechanism.run((people.X, people.y), history)
        paid = outcome.shares["payment"].to_numpy() / mechanism.payment.minor_units
        errors.append(float(np.sum((_billboard(outcome).coef - people.theta) ** 2)))
        totals.append(float(paid.sum()))
        low.append(float(paid.min()))
        high.append(float(paid.max()))
        for draw in history.draws:
            if draw.stream[0] == "payment":  # its center is the estimate before the noise
                along += float(np.array(draw.center, dtype=np.float64) @ people.theta)
                size += float(people.theta @ people.theta)
        step()
    return _Runs(errors=np.array(errors), totals=np.array(totals), lowest=min(low), highest=max(high),
                 shrinkage=1.0 - along / size if size > 0 else 0.0)


def _billboard(outcome: Outcome | SimulatedOutcome) -> RegressionBillboard:
    if not isinstance(outcome.billboard, RegressionBillboard):
        raise TypeError("is not the billboard of a regression")
    return outcome.billboard


def _best_lie(
    mechanism: PrivateTruthfulRegression, shrinkage: float, seed: int, types: int, step: Callable[[], None]
) -> _Lies:
    """The largest gains of sampled people from lying, and the smallest expected payment of a truthful answer.

    On average the peers predict P = (1 - g) q for a true prediction q, with the measured shrinkage g. Where payments
    are debiased, the peers' prediction is divided by the public 1 - g. The best answer is found on a grid over the
    whole interval of possible answers, and refined.
    """
    setting, rule, law = mechanism.setting, mechanism.payment.rule, mechanism.posterior
    people = stand_in(replace(setting, people=max(4, types)), Noise.simulated(seed))
    worst, least, far, radius = 0.0, math.inf, -math.inf, mechanism.figures.truth_radius
    for k in range(types):
        x, y = people.X[k : k + 1], float(people.y[k])
        reach = min(setting.parameter_bound * float(row_norms(x)[0]) + setting.noise_bound, setting.response)
        y = min(max(y, -reach), reach)
        peers = (1.0 - shrinkage) * mechanism.stretch * float(law(x, np.array([y]))[0])

        def utility(reports: np.ndarray, x: np.ndarray = x, peers: float = peers) -> np.ndarray:
            return rule(peers, law(np.repeat(x, len(reports), axis=0), reports))

        found = best_response(utility, truth=y, low=-reach, high=reach, points=401, refine=4)
        worst, least = max(worst, found.gain), min(least, found.truthful_utility)
        reports = np.linspace(-reach, reach, _REPORTS)
        moved = np.abs(law(np.repeat(x, _REPORTS, axis=0), reports) - law(x, np.array([y]))) > radius
        if moved.any():
            far = max(far, float(utility(reports[moved]).max()) - found.truthful_utility)
        step()
    return _Lies(gain=worst, truth=least, far=far)


def own_score_row(mechanism: PrivateTruthfulRegression, seed: int) -> AuditRow:
    """The audit row that tests whether a participant's answer affects their payment only through the score of that
    answer.

    The run is repeated with one answer changed, with the same groups, and without noise, which could hide an effect.
    The participant's new payment must equal the payment that the old billboard gives for the new answer. The two
    payments are equal if the estimate that predicts a participant does not include the participant.
    """
    setting = replace(mechanism.setting, people=min(mechanism.setting.people, _PEOPLE))
    # A coin so small that rounding hides nothing.
    fine = replace(mechanism, setting=setting, payment=replace(mechanism.payment, minor_units=10**9))
    people = stand_in(setting, Noise.simulated(seed))
    y = np.clip(people.y, -setting.response, setting.response)
    truth = fine.run((people.X, y), ForcedNoise([]))
    worst = 0.0
    for index in (0, 1, setting.people - 2, setting.people - 1):
        lie = y.copy()
        lie[index] = -math.copysign(setting.response, y[index])
        paid = fine.run((people.X, lie), ForcedNoise([])).shares["payment"][index].as_py()
        due = fine.decode((people.X[index], lie[index]), index, truth.billboard)["payment"]
        worst = max(worst, abs(paid - due) / fine.payment.minor_units)
    return AuditRow.at_most(
        "an answer moves its payment only through its own score", 0.0, worst,
        f"{setting.people} people without noise, with one answer reversed: the new payment against the payment from "
        "the old billboard",
        unit=mechanism.payment.currency, concern=Concern.INCENTIVES)


def range_row(mechanism: PrivateTruthfulRegression) -> AuditRow:
    """The audit row that tests the range in which all payments certainly lie. The inputs are extreme: peers' estimates
    that are a million times too long, all answers, and both groups.
    """
    setting, far = mechanism.setting, 1e6 * (mechanism.longest_peers + mechanism.noise_scale)
    answers = np.tile(np.linspace(-1.0, 1.0, 41) * setting.response, 2)
    X = np.zeros((len(answers), setting.features))
    X[:, 0] = 1.0
    group = np.arange(len(answers)) >= len(answers) // 2
    worst = 0.0
    for side in (-far, far):
        peers = np.zeros((2, setting.features))
        peers[:, 0] = side
        paid = mechanism.exact_payments(X, answers, group, peers)
        outside = np.maximum(paid - mechanism.figures.highest, mechanism.figures.lowest - paid)
        worst = max(worst, float(outside.max()))
    return AuditRow.at_most(
        "largest excess of a payment over the sure range", 0.0, max(0.0, worst),
        "peers' estimates a million times too large, on both sides", scale=mechanism.figures.highest,
        unit=mechanism.payment.currency, concern=Concern.BUDGET)


def _mean_row(
    promise: str, bound: float, samples: np.ndarray, evidence: str, *, vacuous: bool = False, note: str = "",
    unit: str = "", concern: Concern = Concern.ACCURACY,
) -> AuditRow:
    """An audit row for a bound on an expectation. The row fails if the mean of the runs is above the bound by more than
    random error explains.
    """
    mean, runs = float(samples.mean()), len(samples)
    spread = float(samples.std(ddof=1)) / math.sqrt(runs) * float(stdtrit(runs - 1, 1.0 - _FALSE_ALARM))
    row = AuditRow.at_most(promise, bound, mean - spread, evidence, vacuous=vacuous, note=note,
                           false_alarm=_FALSE_ALARM, unit=unit, concern=concern)
    return replace(row, measured=mean)


def behaviour_rows(
    mechanism: PrivateTruthfulRegression, seed: int, runs: int, types: int, step: Callable[[], None] = lambda: None
) -> list[AuditRow]:
    """The audit rows that compare stated and measured incentives, participation, accuracy and payments.

    Args:
        mechanism: mechanism that the campaign runs.
        seed: seed of all randomness.
        runs: number of simulated runs, at least 2.
        types: number of sampled people for whom the best lie is searched.
        step: function that is called after each run and after each sampled person.
    """
    f, setting = mechanism.figures, mechanism.setting
    cut, note = setting.cuts, CUT if setting.cuts else ""
    measured = _simulate(mechanism, seed, runs, step)
    lies = _best_lie(mechanism, measured.shrinkage, seed, types, step)
    currency = mechanism.payment.currency
    people = f"{runs} simulated runs, fresh truthful populations of this size drawn from the model"
    promises = {type(promise): promise for promise in mechanism.guarantees() if promise.claimable}
    truth, accuracy, budget = promises[Truthfulness], promises[Accuracy], promises[Budget]
    part = promises[Participation]
    if not (isinstance(truth, Truthfulness) and isinstance(accuracy, Accuracy) and isinstance(budget, Budget)):
        raise TypeError("must be the promises of a regression: truth, accuracy and a budget")
    due = f.privacy_cost + f.coin / 2  # rounding to coins can take half of one
    return [
        AuditRow.at_most(
            "largest gain of a lie", truth.gain, lies.gain,
            f"best answers of {types} drawn people, with the measured peers; the promise also covers lies of others",
            vacuous=truth.vacuous, note=note or truth.note, unit=currency, concern=Concern.INCENTIVES).holding(truth),
        _far_row(mechanism, truth, lies.far, types, note),
        AuditRow(
            "least expected payment for taking part", due, lies.truth,
            f"least truthful expected payment of {types} drawn people; promised: the largest covered privacy cost",
            Verdict.VACUOUS if cut else Verdict.KEPT if lies.truth >= due * (1 - 1e-9) else Verdict.BROKEN, note,
            unit=currency, concern=Concern.PARTICIPATION, side="at least").holding(part),
        _mean_row(
            "squared error of the coefficients (scaled)", accuracy.bound, measured.errors, people,
            vacuous=accuracy.vacuous, unit="(scaled, squared)",
            note=note or f"predicted {f.typical_error:.3g}; without any data "
                         f"{accuracy.baseline:.3g}").holding(accuracy),
        _mean_row("expected total", budget.expected, measured.totals, people,
                  unit=currency, concern=Concern.BUDGET).holding(budget),
        AuditRow.at_most("largest payment", budget.highest, measured.highest, people,
                         false_alarm=min(0.5, budget.failure_probability * runs),
                         unit=currency, concern=Concern.BUDGET).holding(budget),
        AuditRow.at_most("smallest payment, with the opposite sign", -budget.lowest, -measured.lowest, people,
                         false_alarm=min(0.5, budget.failure_probability * runs),
                         unit=currency, concern=Concern.BUDGET).holding(budget),
    ]


def _far_row(
    mechanism: PrivateTruthfulRegression, truth: Truthfulness, far: float, types: int, note: str
) -> AuditRow:
    """The audit row that tests whether some lie is profitable although it moves the liar's prediction by more than the
    truth radius.
    """
    currency = mechanism.payment.currency
    promise = f"largest gain of a lie that moves the liar's prediction by more than {truth.radius:.4g}"
    if math.isinf(far):
        return AuditRow(promise, 0.0, None, "", Verdict.NOT_MEASURED,
                        f"no answer of {types} drawn people moves the "
                        "prediction by more than this",
                        unit=currency, concern=Concern.INCENTIVES, side="at most").holding(truth)
    return AuditRow.at_most(
        promise, 0.0, max(0.0, far), f"{_REPORTS} answers of each of {types} drawn people, with the measured peers; "
                                     f"the best answer that moves the prediction by more gains {far:.4g}",
                            vacuous=truth.vacuous, note=note or truth.note,
        scale=mechanism.figures.highest, unit=currency, concern=Concern.INCENTIVES).holding(truth)


def wrong_signs(mechanism: PrivateTruthfulRegression, seed: int) -> list[AuditRow]:
    """Audit rows about lies under an injected fault. Under this fault the peers' estimates predict the opposite of the
    truth, twice as strongly.

    Under this fault some lie is profitable if answers can move a prediction by more than the truth radius.

    Args:
        mechanism: mechanism that makes the payments.
        seed: seed of all randomness.
    """
    bent = _best_lie(mechanism, 1.0 + 2.0 / mechanism.stretch, seed, _BENT, lambda: None)
    return [AuditRow.at_most("largest gain of a lie that moves the liar's prediction far", 0.0, bent.far,
                             "peers of the wrong sign",
                             scale=mechanism.figures.highest, concern=Concern.INCENTIVES)]


def far_lies(mechanism: PrivateTruthfulRegression, seed: int) -> bool:
    """Whether an answer of some sampled person can move their prediction by more than the truth radius.

    Args:
        mechanism: mechanism that makes the payments.
        seed: seed of the sampled people, which must be the same as for `wrong_signs`.
    """
    return math.isfinite(_best_lie(mechanism, 1.0 + 2.0 / mechanism.stretch, seed, _BENT, lambda: None).far)
