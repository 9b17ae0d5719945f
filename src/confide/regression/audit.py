"""The audit of a regression campaign: its promises held against adversarial neighbours and a stand-in population.

No participant's record is used. Privacy is attacked with data sets built to stretch the estimates, at the campaign's
own sizes and through the code that releases; truth, accuracy and money are measured on people drawn from the public
model.
Every attack is also run on mechanisms broken on purpose, which it must flag.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from confide.audit import AuditReport, AuditRow, Control, Verdict, best_response, statistical_audit, supremum_audit
from confide.contract.kinds import Progress
from confide.privacy.losses import PureDP
from confide.privacy.noise import Noise
from confide.regression.constrained_ridge import certified_ridge
from confide.regression.guarantees import Figures
from confide.regression.planner import RegressionPlan
from confide.regression.priors import UniformBall
from confide.regression.private_truthful_regression import PrivateTruthfulRegression, RegressionBillboard
from confide.regression.records import GRID_BITS, Moments, row_norms
from confide.regression.release.ada_ssp import AdaSSP
from confide.regression.release.output_perturbation import RidgeRelease, noise_scale
from confide.regression.release.sufficient_statistics import SENSITIVITY, SufficientStatistics
from confide.regression.sensitivity import counterexample, printed_constant
from confide.regression.setting import Setting

__all__ = [
    "StandIn",
    "adversarial_pairs",
    "audit_plan",
    "moment_distance",
    "printed_loss",
    "printed_samples",
    "ridge_distance",
    "stand_in",
]

_FALSE_ALARM = 1e-9
"""Probability with which the statistical row of one audit says "broken" of a kept promise."""

_PRINTED = {"rows": 10_000, "ridge": 10.0}  # where the printed proof fails by a factor 5.34 (spec 4.3)


# ---- privacy: neighbouring data sets that stretch the estimates


def adversarial_pairs(
    setting: Setting, rows: int, ridge: float, seed: int, count: int = 40
) -> Iterator[tuple[Moments, Moments]]:
    """Neighbouring data sets, as exact moments: others push the estimate to the ball's edge, one record leans aside.

    A few records (c, 0, ...) with the largest answer push the estimate along the first axis to a length near R while
    they add almost no curvature; all others are null. The last record is (cos, sin) in one data set and (cos, -sin) in
    the other, with the answer that pulls back: the shift comes close to D(R,Y)/ridge.

    Args:
        setting: bounds of the records.
        rows: m, how many records the estimate uses.
        ridge: its ridge weight.
        seed: of the random pairs among them.
        count: how many pairs.
    """
    d, radius, response = setting.features, setting.ball, setting.response
    draws = Noise.simulated(seed).gaussian(1.0, (count, 3), stream=("audit", "pairs"))
    uniform = np.arctan(draws) / math.pi + 0.5
    best = 2 * radius / (response + math.sqrt(response**2 + 8 * radius**2))  # the cosine that attains D(R,Y)
    for k in range(count):
        length = radius * (1.0 if k % 4 == 0 else 0.8 + 0.4 * uniform[k, 0])
        weight = ridge * length / response  # copies * c of a push to this length, without curvature
        c = min(1.0, max(0.002 * (1 + 20 * uniform[k, 1]), weight / max(1, rows - 1)))
        copies = min(rows - 1, max(1, round(weight / max(c * (1 - c * length / response), 1e-6))))
        cosine = best if k % 4 == 0 else min(1.0, best * (0.5 + uniform[k, 2]))
        first, second, common = np.zeros(d), np.zeros(d), np.zeros(d)
        common[0] = c
        if d > 1:
            first[0] = second[0] = cosine
            first[1], second[1] = math.sqrt(1 - cosine**2), -math.sqrt(1 - cosine**2)
            answer = -response
        else:  # in one dimension the extremes of R x^2 - y x
            first[0], second[0] = 1.0, min(1.0, response / (2 * radius))
            answer = response
        yield _moments(common, response, copies, first, -response), _moments(common, response, copies, second, answer)


def _moments(common: np.ndarray, response: float, copies: int, last: np.ndarray, answer: float) -> Moments:
    """Exact moments of `copies` equal records and one other, quantised as records are."""
    unit = 2**GRID_BITS

    def ints(x: np.ndarray) -> np.ndarray:
        return np.array([int(v * unit) for v in x], dtype=object)

    c, x = ints(common), ints(last)
    gram = copies * np.outer(c, c) + np.outer(x, x)
    return Moments(gram, copies * c * int(response * unit) + x * int(answer * unit))


def ridge_distance(setting: Setting, rows: int, ridge: float, seed: int, progress: Callable[[], None]) -> float:
    """Largest distance between the certified estimates of neighbouring data sets, times ridge/D: at most 1."""
    tolerance = 2.0**-16 * setting.diameter / ridge
    worst = 0.0
    for pair in adversarial_pairs(setting, rows, ridge, seed):
        a, b = (np.array([float(t) for t in certified_ridge(sums, ridge, setting.ball, tolerance)]) for sums in pair)
        worst = max(worst, float(np.linalg.norm(a - b)))
        progress()
    return worst * ridge / setting.diameter


def moment_distance(features: int, angles: int = 721) -> float:
    """Largest distance of (A, u/Y) when one unit record is replaced, off-diagonal entries weighted by sqrt(2)."""
    worst = 0.0
    for angle in np.linspace(0.0, math.pi, angles):
        x, z = np.zeros(features), np.zeros(features)
        x[0] = 1.0
        z[0] = math.cos(angle)
        if features > 1:
            z[1] = math.sin(angle)
        for sign in (-1.0, 1.0):
            gram = np.outer(x, x) - np.outer(z, z)
            worst = max(worst, math.hypot(float(np.linalg.norm(gram)), float(np.linalg.norm(x - sign * z))))
    return worst


def printed_loss(epsilon: float) -> float:
    """True loss of the printed mechanism at n = 10^4, gamma = 10, B = M = 1, where it claims epsilon."""
    rows, ridge = int(_PRINTED["rows"]), _PRINTED["ridge"]
    first, second = counterexample(rows, ridge)
    distance = float(np.linalg.norm(first.ridge(ridge) - second.ridge(ridge)))
    return epsilon * ridge * distance / printed_constant(1.0, 1.0)


def printed_samples(epsilon: float, runs: int, noise: Noise) -> tuple[np.ndarray, np.ndarray]:
    """Releases of the printed mechanism on that pair, projected on the line between the two estimates."""
    rows, ridge = int(_PRINTED["rows"]), _PRINTED["ridge"]
    a, b = (data.ridge(ridge) for data in counterexample(rows, ridge))
    scale = printed_constant(1.0, 1.0) / (ridge * epsilon)
    return _projected(a, b, scale, runs, noise)


def _projected(a: np.ndarray, b: np.ndarray, scale: float, runs: int, noise: Noise) -> tuple[np.ndarray, np.ndarray]:
    axis = (a - b) / max(float(np.linalg.norm(a - b)), 1e-300)
    d = len(a)
    # Radius and direction in bulk: a sum of d exponentials, and normalised normals (spec 4.4).
    draws = []
    for side, center in enumerate((a, b)):
        z = noise.gaussian(1.0, (runs, d), stream=("audit", "direction", side))
        radius = np.abs(noise.laplace(scale, (runs, d), stream=("audit", "radius", side))).sum(axis=1)
        draws.append(center @ axis + radius * (z @ axis) / np.linalg.norm(z, axis=1))
    return draws[0], draws[1]


# ---- truth, accuracy, money: people drawn from the public model


@dataclass(frozen=True, kw_only=True, eq=False)
class StandIn:
    """A population drawn from the public model, everybody truthful.

    Args:
        theta: (d,) the parameter.
        X: (n, d) features with E[x x'] = mu I.
        y: (n,) answers.
    """

    theta: np.ndarray
    X: np.ndarray
    y: np.ndarray


def stand_in(setting: Setting, noise: Noise, run: int = 0) -> StandIn:
    """Draw one population: uniform in the ball where that is the model, else directions of length sqrt(mu d)."""
    n, d = setting.people, setting.features

    def uniforms(size: int, name: str) -> np.ndarray:
        from scipy.special import ndtr

        return np.asarray(np.clip(ndtr(noise.gaussian(1.0, size, stream=(name, run))), 1e-12, 1 - 1e-12))

    z = noise.gaussian(1.0, (n, d), stream=("stand-in", "x", run))
    if setting.uniform_ball:
        X = UniformBall(dimension=d, radius=1.0).from_normals(z, uniforms(n, "stand-in length"))
    else:
        X = z * (math.sqrt(setting.eigenvalue * d) / row_norms(z))[:, None]
    if isinstance(setting.prior, UniformBall):
        normals = noise.gaussian(1.0, (1, d), stream=("stand-in", "theta", run))
        theta = setting.prior.from_normals(normals, uniforms(1, "stand-in theta length"))[0]
    else:
        theta = setting.prior.from_uniforms(uniforms(1, "stand-in theta"))[0]
    return StandIn(theta=theta, X=X, y=X @ theta + setting.noise.from_uniforms(uniforms(n, "stand-in residual")))


@dataclass(frozen=True, kw_only=True)
class _Measured:
    """Averages over simulated runs on fresh populations."""

    runs: int
    error: float
    total: float
    lowest: float
    highest: float
    least_utility: float
    shrinkage: float


def _simulate(mechanism: PrivateTruthfulRegression, privacy_cost: float, seed: int, runs: int,
              progress: Callable[[], None]) -> _Measured:
    setting, coins = mechanism.setting, mechanism.payment.minor_units
    errors, totals, kept, means = [], [], [], []
    lowest, highest = math.inf, -math.inf
    for run in range(runs):
        noise = Noise.simulated(seed * 1009 + run)
        people = stand_in(setting, noise, run)
        outcome = mechanism.run((people.X, people.y), noise)
        billboard = outcome.billboard
        if not isinstance(billboard, RegressionBillboard):
            raise TypeError("not a regression's billboard")
        paid = outcome.shares["payment"].to_numpy() / coins
        errors.append(float(np.sum((billboard.coef - people.theta) ** 2)))
        totals.append(float(paid.sum()))
        means.append(float(paid.mean()))
        lowest, highest = min(lowest, float(paid.min())), max(highest, float(paid.max()))
        size = float(people.theta @ people.theta)
        kept.append(float(billboard.peers.mean(axis=0) @ people.theta) / size)
        progress()
    return _Measured(
        runs=runs, error=float(np.mean(errors)), total=float(np.mean(totals)), lowest=lowest, highest=highest,
        least_utility=float(np.mean(means)) - privacy_cost, shrinkage=1.0 - float(np.mean(kept)),
    )


def _best_lie(mechanism: PrivateTruthfulRegression, shrinkage: float, seed: int, types: int,
              progress: Callable[[], None]) -> tuple[float, float]:
    """Largest expected gain of a lie over drawn types, and the least truthful expected payment.

    In the stand-in population peers predict P = (1 - g) q on average, with g as measured; then the best answer is found
    on a grid of the whole interval of possible answers and refined.
    """
    setting, rule = mechanism.setting, mechanism.payment.rule
    small = stand_in(replace(setting, people=max(4, types)), Noise.simulated(seed))
    law = mechanism.posterior
    worst, least = 0.0, math.inf
    for k in range(types):
        x, y = small.X[k : k + 1], float(small.y[k])
        reach = min(setting.parameter_bound * float(row_norms(x)[0]) + setting.noise_bound, setting.response)
        y = min(max(y, -reach), reach)
        peers = (1.0 - shrinkage) * float(law(x, np.array([y]))[0])

        def utility(reports: np.ndarray, x: np.ndarray = x, peers: float = peers) -> np.ndarray:
            return rule(peers, law(np.repeat(x, len(reports), axis=0), reports))

        found = best_response(utility, truth=y, low=-reach, high=reach, points=401, refine=4)
        worst, least = max(worst, found.gain), min(least, found.truthful_utility)
        progress()
    return worst, least


# ---- the report


def audit_plan(plan: RegressionPlan, seed: int = 0, progress: Progress | None = None) -> AuditReport:
    """Promised against measured for one plan, with the planted bugs that the same attacks must flag.

    Args:
        plan: the campaign's plan.
        seed: of everything that is drawn.
        progress: called as the audit goes on.
    """
    mechanism, f = plan.mechanism, plan.figures
    setting = mechanism.setting
    runs = int(np.clip(2_000_000 // (setting.people * setting.features), 3, 25))
    types = 40
    steps = 40 * (2 if isinstance(mechanism.release, RidgeRelease) else 1) + runs + types
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(min(done, steps), steps)

    rows, controls = _privacy(plan, seed, step)
    measured = _simulate(mechanism, f.privacy_cost, seed, runs, step)
    gain, least = _best_lie(mechanism, measured.shrinkage, seed, types, step)
    rows += _behaviour(f, mechanism, measured, gain, least, types)
    return AuditReport(rows=tuple(rows), controls=tuple(controls))


def _privacy(plan: RegressionPlan, seed: int, step: Callable[[], None]) -> tuple[list[AuditRow], list[Control]]:
    mechanism = plan.mechanism
    setting, payment, release = mechanism.setting, mechanism.payment, mechanism.release
    claim = PureDP(payment.epsilon)
    room = setting.diameter / (payment.ridge * noise_scale(setting, payment.ridge, payment.epsilon) * payment.epsilon)
    peers = ridge_distance(setting, max(setting.groups), payment.ridge, seed, step)
    rows = [supremum_audit(payment.epsilon * peers * room, claim).row(
        "payment estimates: worst log-likelihood ratio over 40 adversarial neighbours")]
    spent = payment.epsilon * peers * room
    if isinstance(release, RidgeRelease):
        worst = ridge_distance(setting, setting.people, release.ridge, seed + 1, step)
        loss = release.epsilon * worst * setting.diameter / (
            release.ridge * noise_scale(setting, release.ridge, release.epsilon) * release.epsilon)
        rows.append(supremum_audit(loss, PureDP(release.epsilon)).row(
            "release: worst log-likelihood ratio over 40 adversarial neighbours"))
        spent += loss
    elif isinstance(release, SufficientStatistics):
        loss = moment_distance(setting.features) / release.scale
        rows.append(supremum_audit(loss, PureDP(release.epsilon)).row(
            "release: worst log-likelihood ratio over all pairs of unit records"))
        spent += loss
    elif isinstance(release, AdaSSP):
        found = 1.0 / release.gram_deviation**2 + 2.0 * setting.response**2 / release.cross_deviation(setting) ** 2
        found += 0.5 / release.deviation(1.0) ** 2
        rows.append(AuditRow.at_most("release: zCDP rho at the largest shifts", release.rho, found,
                                     "closed form at the three sensitivities, each of which some pair attains"))
    if not isinstance(release, AdaSSP):
        total = PureDP(plan.figures.loss.epsilon)
        rows.append(supremum_audit(spent, total).row(
            "billboard, jointly: both parts at their worst together"))

    # One statistical look at the noise that is really drawn, through the release's own sampler.
    pair = next(adversarial_pairs(setting, max(setting.groups), payment.ridge, seed))
    a, b = (np.array([float(t) for t in certified_ridge(s, payment.ridge, setting.ball,
                                                        2.0**-16 * setting.diameter / payment.ridge)]) for s in pair)
    group = max(1, math.ceil(2.0 / payment.epsilon))
    samples = _through_the_door(a, a + group * (b - a), mechanism.noise_scale, 4000, seed)
    looked = statistical_audit(*samples, PureDP(group * payment.epsilon), alpha=_FALSE_ALARM)
    rows.append(looked.row(f"payment estimates, {group} records changed together: 8,000 sampled draws"))

    epsilon = 1.0
    printed = statistical_audit(*printed_samples(epsilon, 20_000, Noise.simulated(seed + 2)), PureDP(epsilon),
                                alpha=_FALSE_ALARM)
    d = max(2, setting.features)
    exact = int(100 * math.exp(min(payment.epsilon, 9.0))) + 2000  # draws that show a loss above the claim
    controls = [
        Control("exact privacy audit", "the printed sensitivity without the ball (n = 10,000, gamma = 10): "
                f"{printed_loss(epsilon):.2f} times the claim",
                supremum_audit(printed_loss(epsilon), PureDP(epsilon)).flagged),
        Control("statistical privacy audit", "the same printed mechanism, 40,000 draws", printed.flagged),
        Control("exact privacy audit", f"noise divided by the dimension ({d})",
                supremum_audit(payment.epsilon * peers * room * d, claim).flagged),
        Control("exact privacy audit", "no noise at all", supremum_audit(math.inf, claim).flagged),
        Control("statistical privacy audit", "the same noise in two estimates: their difference is exact",
                statistical_audit(np.full(exact, float(np.linalg.norm(a - b))), np.zeros(exact), claim,
                                  alpha=_FALSE_ALARM).flagged),
    ]
    if isinstance(release, SufficientStatistics):
        wrong = SENSITIVITY / math.sqrt(2.0)  # forgets that off-diagonal moments move too
        controls.append(Control("exact privacy audit", "sensitivity of the diagonal moments alone",
                                supremum_audit(moment_distance(max(2, setting.features)) * release.epsilon / wrong,
                                               PureDP(release.epsilon)).flagged))
    return rows, controls


def _through_the_door(
    a: np.ndarray, b: np.ndarray, scale: float, runs: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Samples of the noisy estimates of two data sets, drawn one by one as a release draws them (simulated)."""
    axis = (a - b) / max(float(np.linalg.norm(a - b)), 1e-300)
    noise = Noise.simulated(seed + 3)
    first, second = (
        np.array([noise.vector_laplace(scale, len(a), stream=("audit", side, k), center=center) @ axis
                  for k in range(runs)])
        for side, center in enumerate((a, b))
    )
    return first, second


def _behaviour(
    f: Figures, mechanism: PrivateTruthfulRegression, measured: _Measured, gain: float, least: float, types: int
) -> list[AuditRow]:
    currency = mechanism.payment.currency
    people = f"{measured.runs} simulated runs, fresh truthful populations of this size"
    trivial = mechanism.setting.parameter_bound**2
    return [
        AuditRow.at_most(
            f"no lie gains more ({currency})", f.gain, gain,
            f"best answers of {types} drawn people, peers as measured; the promise also covers others' lies"),
        AuditRow.at_most(
            "squared error of the coefficients (scaled)", f.accuracy.bound, measured.error, people,
            vacuous=not f.accuracy.bound < trivial,
            note=f"predicted {f.typical_error:.3g}, knowing nothing {trivial:.3g}"),
        AuditRow(
            f"taking part pays: expected payment at least ({currency})", f.privacy_cost, least,
            f"least truthful expected payment of {types} drawn people; promised: the largest covered privacy cost",
            Verdict.KEPT if least >= f.privacy_cost * (1 - 1e-9) else Verdict.BROKEN),
        AuditRow.at_most(f"expected total ({currency})", f.expected_total, measured.total, people),
        AuditRow.at_most(f"largest payment ({currency})", f.highest, measured.highest, people,
                         false_alarm=min(0.5, f.range_failure * measured.runs)),
        AuditRow.at_most(f"smallest payment, negative ({currency})", -f.lowest, -measured.lowest, people,
                         false_alarm=min(0.5, f.range_failure * measured.runs)),
    ]
