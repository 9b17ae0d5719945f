"""Studies of Fallah et al. 2022. Each study examines one algorithm, theorem or case study of the source.

`AS_PRINTED`: the cost of Algorithm 1 as printed, compared with the optimum, on three cases where Algorithm 1 fails and
on drawn cases. Algorithm 1 uses first-order conditions that assume a purchase from everybody, and it does not check
signs. The study tries 4001 values of S = sum(w^2/y), for weights w and local losses y, on an interval that contains the
best S (spec two_part_acquisition section 8).

`TWO_USERS`: the case study of two people. The study shows the offers to the first person as their report grows.
Sensitivities are uniform, the Renyi order is 2, records have variance 1/12, and the price gamma of the error is 10, 100
or 400. The source's appendix is missing from the copy that was checked, so no published numbers are available for
comparison. Formulas and numbers: spec two_part_acquisition section 11.

`TWO_USER_MAPS`: the case study of two people as heat maps. The maps show the first person's offer for every pair of
reports. Sensitivities are uniform, the Renyi order is 2, records have variance 1/12, and the price gamma of the error
is 10, 100 or 400. Formulas: spec two_part_acquisition section 11.

`SCALING`: the cost as a function of the number n of people. The cost of two-part contracts falls like n^(-1/4), while
the cost of one common contract for all does not fall. The sensitivities of n people are c_i = (i - 1/2)/n, the prior is
uniform, the Renyi order is 2, and records have variance 1/12. Formulas and numbers: spec two_part_acquisition section
12.

`COMPARISON`: the expected cost of two-part contracts, which guarantee both a local and a central privacy loss, compared
with that of other designs. Sensitivities are uniform, the Renyi order is 2, and records have variance 1/12. Formulas
and numbers for two people: spec two_part_acquisition sections 11 and 12. For more people the study uses draws with a
fixed seed.

`MINIMAX`: Theorem 1 with explicit constants, for any estimator and for a linear estimator, at given local losses. The
Renyi order is 2, records have variance at most 1/4, and all local losses are equal. Formulas: spec two_part_acquisition
section 3.

`CENTRAL_NOISE`: Proposition 1. Noise that the platform adds to the published mean always raises the cost. The study has
two people with virtual costs (.3, 1.7), variance price 1 and noise price 2, and three people with virtual costs (.1,
.5, 1.5). The variance of the noise is alpha/2 times 1/epsilon. Formulas: spec two_part_acquisition section 10.
"""

from __future__ import annotations

import math

import numpy as np

from confide.acquisition.comparisons import (
    ExpectedBenchmark,
    central_only,
    expected_benchmarks,
    full_information,
    pooling,
    scaling_law,
)
from confide.acquisition.optimum.problem import problem7
from confide.acquisition.optimum.solver import Solution, solve, solve_grid
from confide.acquisition.priors import UniformPrior, prior_draws
from confide.charts import curves, heat_map
from confide.contract.kinds import Progress
from confide.contract.presentation import Picture, Table
from confide.evidence.fallah_2022.algorithm_1 import algorithm1_as_printed
from confide.evidence.fallah_2022.central_noise import with_central_noise, without_central_noise
from confide.evidence.fallah_2022.minimax import LOWER_CONSTANT, UPPER_CONSTANT, minimax_bounds
from confide.evidence.fallah_2022.two_users import TwoUsers
from confide.evidence.findings import (
    OWN_COMPARISON,
    Compared,
    Findings,
    Study,
    advance,
    bound,
    evaluated,
    in_words,
    near,
)

__all__ = [
    "AS_PRINTED",
    "CASES",
    "CENTRAL_NOISE",
    "COMPARISON",
    "MINIMAX",
    "PRICES",
    "SCALING",
    "TWO_USERS",
    "TWO_USER_MAPS",
    "case",
]

# ---- two users

PRICES = (10.0, 100.0, 400.0)
_OTHERS = (0.1, 0.5, 0.9)
_SHOWN = (0.05, 0.25, 0.5, 0.75, 1.0)
_DRAWN = (("local loss", "nats"), ("central loss", "nats"), ("payment", ""), ("rent", ""))


def case(gamma: float) -> TwoUsers:
    """The case study of two people at a given price gamma of the squared error."""
    return TwoUsers(variance_price=gamma / 12.0, noise_price=gamma)


def _first(gamma: float, reports: np.ndarray, other: float) -> np.ndarray:
    """Local loss, central loss, payment and rent of the first person, shape (reports, 4)."""
    offers = case(gamma).offers(np.column_stack([reports, np.full(len(reports), other)]))
    return np.stack([offers.epsilon_local, offers.epsilon_central, offers.payments, offers.rents], axis=-1)[:, 0]


def _solver_difference(gamma: float, reports: np.ndarray) -> float:
    """The largest relative difference between the closed form and the general solver."""
    pairs = [(a, b) for a in reports for b in _OTHERS]
    closed = case(gamma).values(pairs)
    general = [solve(2.0 * np.array(pair), variance_price=gamma / 12.0, noise_price=gamma).value for pair in pairs]
    return float(np.max(np.abs(np.array(general) / closed - 1.0)))


def _two_users(quick: bool, progress: Progress | None) -> Findings:
    grid = np.linspace(0.01, 1.0, 12 if quick else 100)
    compared: list[Compared] = []
    pictures: list[Picture] = []
    rows: list[tuple[float, ...]] = []
    for done, gamma in enumerate(PRICES, 1):
        expected, name = case(gamma).expected(), f"gamma = {gamma:g}"
        compared += [Compared(quantity=f"{words}, {name}", published=None, ours=ours, agreement="not published",
                              remark=remark)
                     for words, ours, remark in (
                         ("c1 c2 from which one alone is bought from", case(gamma).switch, "never, above 1"),
                         ("expected cost", expected.cost, ""), ("expected payments", expected.payments, ""),
                         ("expected MSE", expected.error_cost / gamma, ""),
                         ("cost under full information", expected.full_information, ""),
                         ("largest relative difference to the solver", _solver_difference(gamma, grid), ""))]
        compared.append(bound(f"expected cost of the optimum, beside pooling, {name}", expected.cost,
                              at_most=expected.pooling, origin=OWN_COMPARISON))
        drawn = {other: _first(gamma, grid, other) for other in _OTHERS}
        for k, (quantity, unit) in enumerate(_DRAWN):
            points = [(float(c), float(table[j, k]), f"c2 = {other:g}")
                      for other, table in drawn.items() for j, c in enumerate(grid)]
            pictures += curves(points, title=f"{quantity.capitalize()} of the first, {name}", x="c1, the report",
                               y=f"{quantity}, {unit}" if unit else quantity, alt=_words(quantity, gamma))
        rows += [(gamma, other, c, *map(float, row)) for other in _OTHERS
                 for c, row in zip(_SHOWN, _first(gamma, np.array(_SHOWN), other), strict=True)]
        advance(progress, done, len(PRICES))
    return Findings(compared=tuple(compared), blocks=(*pictures, Table(
        columns=("gamma", "c2", "c1", *(" ".join(each).strip() for each in _DRAWN)), rows=tuple(rows),
        note="The rent is the payment of a truthful person less their cost. Payments may rise with the report if the "
             "other person is dropped. The rent never rises.")))


def _words(quantity: str, gamma: float) -> str:
    always = case(gamma).switch > max(_OTHERS) or quantity == "rent"
    return (f"{quantity.capitalize()} of the first person against their report at gamma = {gamma:g}, for three reports "
            f"of the other person. The {quantity} falls with the report" + ("." if always else
            " until the buyer buys from one person alone. At this point it jumps up if the first person minds the "
            "platform less than the other, and to 0 if the first person minds it more."))


TWO_USERS = Study(
    name="acquisition-two-users",
    title="Two people: the first person's offer",
    source="Fallah et al. 2022, case study with two users",
    statement="Privacy levels and payments of two people as functions of the reported sensitivities.",
    run=_two_users,
)


# ---- two user maps


def _alone(switch: float) -> float:
    """Probability that the product c1 c2 of two independent uniform sensitivities exceeds the switch, so that only one
    person sells.
    """
    return 1.0 - switch + switch * math.log(switch) if switch < 1 else 0.0


def _two_user_maps(quick: bool, progress: Progress | None) -> Findings:
    squares = 10 if quick else 50
    middles = (np.arange(squares) + 0.5) / squares
    pairs = np.stack(np.meshgrid(middles, middles, indexing="ij"), axis=-1).reshape(-1, 2)
    compared: list[Compared] = []
    pictures: list[Picture] = []
    rows: list[tuple[float, ...]] = []
    for done, gamma in enumerate(PRICES, 1):
        offers, share = case(gamma).offers(pairs), _alone(case(gamma).switch)
        # A 0 has no colour on a logarithmic scale: white says that nothing is bought from that person.
        shown = {"local loss": np.where(offers.epsilon_local > 0, offers.epsilon_local, math.nan),
                 "central loss": offers.epsilon_central, "payment": offers.payments}
        for quantity, values in shown.items():
            pictures += heat_map(
                [(float(a), float(b), float(v)) for (a, b), v in zip(pairs, values[:, 0], strict=True)],
                step=1.0 / squares, title=f"{quantity.capitalize()} of the first, gamma = {gamma:g}",
                x="c1, the report", y="c2, the other's", value=quantity, log=quantity == "local loss",
                alt=f"{quantity.capitalize()} of the first person by both reports. It falls from left to right." + (
                    "" if share == 0 else " In the upper right corner the buyer buys from one person alone: from the "
                    "first person above the diagonal, and from the second person below it."))
        compared.append(Compared(
            quantity=f"probability that one alone is bought from, gamma = {gamma:g}", published=None, ours=share,
            agreement="not published"))
        rows.append((gamma, share, float(np.mean((offers.weights == 1).any(axis=-1))),
                     float(offers.payments.max()), float(offers.payments.sum(axis=-1).mean())))
        advance(progress, done, len(PRICES))
    return Findings(compared=tuple(compared), blocks=(*pictures, Table(
        columns=("gamma", "one alone, probability", "on the map", "largest payment on it", "mean payments on it"),
        rows=tuple(rows))))


TWO_USER_MAPS = Study(
    name="acquisition-two-user-maps",
    title="Two people: heat maps of the first person's offer",
    source="Fallah et al. 2022, case study with two users",
    statement="Privacy levels and payments of two people as functions of the reported sensitivities.",
    run=_two_user_maps,
)


# ---- scaling

_PRICES = (10.0, 1e4)


def _reports(people: int) -> np.ndarray:
    found: np.ndarray = (np.arange(people) + 0.5) / people
    return found


def _scaling(quick: bool, progress: Progress | None) -> Findings:
    sizes = [10**k for k in range(2, 5 if quick else 7)]
    compared: list[Compared] = []
    pictures: list[Picture] = []
    rows: list[tuple[float, ...]] = []
    for step, gamma in enumerate(_PRICES):
        prices = {"variance_price": gamma / 12.0, "noise_price": gamma}
        points: list[tuple[float, float, str]] = []
        found: dict[int, Solution] = {}
        for done, n in enumerate(sizes, 1):
            found[n], law = solve(2.0 * _reports(n), **prices), scaling_law(n, **prices)
            active = int(np.count_nonzero(found[n].weights))
            points += [(n, cost, name) for name, cost in (
                ("pooling, or local losses alone", pooling(n, **prices).cost), ("two-part contracts", found[n].value),
                ("the law n^(-1/4)", law.cost),
                ("full information", full_information(_reports(n), **prices).cost),
                ("everybody trusts the platform", central_only(n, **prices).cost))]
            rows.append((gamma, n, found[n].value, law.cost, active, law.active,
                         float(found[n].epsilon_local.max()), float(found[n].epsilon_central.max())))
            compared.append(Compared(quantity=f"cost, gamma = {gamma:g}, n = {n:,}", published=None,
                                     ours=found[n].value, agreement="not published"))
            advance(progress, step * len(sizes) + done, len(_PRICES) * len(sizes))
        slope = math.log10(found[sizes[-1]].value / found[sizes[-2]].value)
        compared.append(Compared(quantity=f"slope of ln cost over ln n at the largest n, gamma = {gamma:g}",
                                 published=None, ours=slope, agreement="not published", remark="tends to -1/4"))
        pictures += curves(points, title=f"The value of more people, gamma = {gamma:g}", x="people n",
                           y="gamma MSE + payments", log_x=True, log_y=True,
                           alt="Cost against the number of people, both logarithmic. The cost of one contract for all "
                               "is level. The cost of two-part contracts falls like n^(-1/4), and is close to the law "
                               "from 10,000 people on. If everybody trusted the platform, the cost would fall like "
                               "n^(-1/2).")
    return Findings(compared=tuple(compared), blocks=(*pictures, Table(
        columns=("gamma", "people n", "cost", "law", "bought from", "law", "largest local loss, nats",
                 "largest central loss, nats"), rows=tuple(rows),
        note="The records of people who hardly mind the platform have hardly any noise. The local losses of these "
             "people are far above 1 unless virtual costs have a floor.")))


SCALING = Study(
    name="acquisition-scaling",
    title="The value of more people",
    source="Fallah et al. 2022, problem (7)",
    statement="Different privacy levels for different people minimise the error plus the payments.",
    run=_scaling,
)


# ---- comparison

_PRICE = 100.0
_LINES = {"pooling": "one contract for all, or local losses alone", "exact": "two-part contracts",
          "full information": "full information", "central only": "everybody trusts the platform"}


def _two_people(gamma: float) -> list[Compared]:
    exact, name = case(gamma).expected(), f"two people, gamma = {gamma:g}"
    return [bound(f"expected cost, {name}", exact.cost, at_most=exact.pooling, remark="one contract for all beside it",
                  origin=OWN_COMPARISON),
            Compared(quantity=f"price of private information, {name}", published=None,
                     ours=exact.cost - exact.full_information, agreement="not published"),
            Compared(quantity=f"what two-part contracts save, {name}", published=None, ours=exact.pooling - exact.cost,
                     agreement="not published")]


def _comparison(quick: bool, progress: Progress | None) -> Findings:
    sizes, draws = ((2, 10, 100), 20) if quick else ((2, 5, 10, 30, 100, 300, 1000, 3000), 200)
    compared = [each for gamma in (10.0, 400.0) for each in _two_people(gamma)]
    points: list[tuple[float, float, str]] = []
    rows: list[tuple[float, ...]] = []
    for done, n in enumerate(sizes, 1):
        found: dict[str, ExpectedBenchmark] = expected_benchmarks(
            UniformPrior(), n, variance_price=_PRICE / 12.0, noise_price=_PRICE, draws=draws)
        points += [(n, found[name].cost, words) for name, words in _LINES.items()]
        exact, private = found["exact"], found["private information"]
        compared.append(bound(
            f"expected cost, n = {n:,}, gamma = {_PRICE:g}", exact.cost, at_most=found["pooling"].cost,
            remark=f"standard error {exact.standard_error:.2g}; one contract for all beside it",
            origin=OWN_COMPARISON))
        rows.append((n, found["pooling"].cost, exact.cost, exact.standard_error, exact.payments, exact.active,
                     private.cost, private.standard_error))
        advance(progress, done, len(sizes))
    return Findings(compared=tuple(compared), blocks=(
        *curves(points, title=f"The value of two guarantees, gamma = {_PRICE:g}", x="people n",
                y="expected gamma MSE + payments", log_x=True, log_y=True,
                alt="Expected cost against the number of people, both logarithmic. Two-part contracts cost a little "
                    "less than one contract for all with few people, and far less with many. Private information "
                    "causes a part of the remaining cost, and trust in the platform would save most of it."),
        Table(columns=("people n", "one contract for all", "two-part", "standard error", "of which payments",
                       "bought from", "price of private information", "standard error"), rows=tuple(rows),
              note=f"Means over {draws} draws of reports; the price of private information is a mean of differences.")))


COMPARISON = Study(
    name="acquisition-comparison",
    title="The value of two guarantees",
    source="Fallah et al. 2022, Theorem 2, Corollary 1",
    statement="The solution of problem (7) is the cheapest mechanism that is truthful and that everybody joins.",
    run=_comparison,
)


# ---- as printed

DELTA = 0.01
CASES: dict[str, tuple[tuple[float, ...], float]] = {
    "psi = (.1, 1, 1.9), g = .1": ((0.1, 1.0, 1.9), 0.1),
    "psi = (2, 2), g = .001": ((2.0, 2.0), 0.001),
    "ten from .1 to 1.9, g = 1": (tuple(np.linspace(0.1, 1.9, 10).tolist()), 1.0),
}
"""Virtual costs psi and variance price g of each case, by its label. The noise price kappa is 1."""

_REMARKS = ("a saddle: weights that do not fall with the virtual cost", "one person alone is cheaper",
            "negative weights: below what anybody can reach")


def _case(name: str, remark: str) -> list[Compared]:
    psi, g = CASES[name]
    best = solve(psi, variance_price=g, noise_price=1.0)
    printed = algorithm1_as_printed(psi, variance_price=g, noise_price=1.0)
    repaired = solve_grid(psi, DELTA, variance_price=g, noise_price=1.0)
    right, most = printed.feasible and printed.value <= (1.0 + DELTA) * best.value, (1.0 + DELTA) * best.value
    return [Compared(quantity=f"cost by the printed algorithm, {name}", published=most, ours=printed.value,
                     agreement="stands" if right else "differs", remark=remark,
                     relation="bound holds: ours <= bound" if right else
                     "bound fails: ours > bound" if printed.value > most else "bound fails: no feasible choice",
                     origin=evaluated("Fallah et al. 2022, Theorem 3, line 989")),
            bound(f"cost by the repaired scheme, {name}", repaired.value, at_most=(1.0 + DELTA) * best.value,
                  origin=evaluated("Fallah et al. 2022, Theorem 3, line 989"))]


def _drawn(people: int, draws: int, gamma: float, points: int) -> tuple[float, float]:
    """Two shares of drawn profiles: those for which the printed algorithm returns negative weights or levels, and those
    for which its cost exceeds the optimum by more than a factor 1 + delta.
    """
    g, kappa = gamma / 12.0, gamma
    impossible = dear = 0
    for _, psi in prior_draws(UniformPrior(), people, draws, seed=0):
        printed = algorithm1_as_printed(psi, variance_price=g, noise_price=kappa, points=points)
        impossible += not printed.feasible
        best = solve(psi, variance_price=g, noise_price=kappa).value
        dear += printed.feasible and printed.value > (1.0 + DELTA) * best
    return impossible / draws, dear / draws


def _as_printed(quick: bool, progress: Progress | None) -> Findings:
    points, draws, sizes = (51, 5, (2, 10)) if quick else (401, 100, (2, 3, 5, 10, 30))
    thirds = np.linspace(0.2, 3.0, 8 if quick else 57)
    steps = len(CASES) + 2 * len(sizes) + 1
    compared: list[Compared] = []
    for done, (name, remark) in enumerate(zip(CASES, _REMARKS, strict=True), 1):
        compared += _case(name, remark)
        advance(progress, done, steps)
    lines: list[tuple[float, float, str]] = []
    for third in thirds.tolist():
        psi = (0.1, 1.0, third)
        printed = algorithm1_as_printed(psi, variance_price=0.1, noise_price=1.0, points=points)
        best = solve(psi, variance_price=0.1, noise_price=1.0)
        lines += [(third, printed.value, "Algorithm 1 as printed"), (third, best.value, "optimum")]
    advance(progress, len(CASES) + 1, steps)
    rows: list[tuple[float, ...]] = []
    for gamma in (10.0, 100.0):
        for n in sizes:
            impossible, dear = _drawn(n, draws, gamma, points)
            rows.append((gamma, n, impossible, dear))
            compared.append(near(f"share of profiles that it fails on, gamma = {gamma:g}, n = {n}", 0.0,
                                 impossible + dear, within=0.0,
                                 origin=in_words("Fallah et al. 2022, Theorem 3, line 989")))
            advance(progress, len(CASES) + 1 + len(rows), steps)
    return Findings(compared=tuple(compared), blocks=(
        *curves(lines, title="Three people, psi = (.1, 1, x), g = .1, kappa = 1", x="x", y="cost",
                alt="Cost against the third person's virtual cost. The optimum buys nothing from the third person soon "
                    "after 1, and then stays level. The printed algorithm goes on buying from this person, and its "
                    "cost rises."),
        Table(columns=("gamma", "people n", "returns negative weights or levels", "feasible, but above 1.01 optimum"),
              rows=tuple(rows), note=f"Shares of {draws} profiles under the uniform prior, VAR = 1/12, alpha = 2.")))


AS_PRINTED = Study(
    name="acquisition-as-printed",
    title="The printed algorithm",
    source="Fallah et al. 2022, Algorithm 1, Theorem 3",
    statement="Algorithm 1 finds a cost of at most 1 + delta times the optimum.",
    run=_as_printed,
)


# ---- minimax

_ORDER = 2.0
_PEOPLE = (10, 1000)


def _minimax(quick: bool, progress: Progress | None) -> Findings:
    pictures: list[Picture] = []
    rows: list[tuple[float, ...]] = []
    worst, least, linear = 0.0, math.inf, 0.0
    for done, n in enumerate(_PEOPLE, 1):
        points: list[tuple[float, float, str]] = []
        for total in np.geomspace(0.01, n, 12 if quick else 80).tolist():
            bounds = minimax_bounds(np.full(n, total / n), order=_ORDER)
            points += [(total, bounds.lower, "no estimator does better"), (total, bounds.upper, "linear estimator"),
                       (total, bounds.shrunk_upper, "drawn to the middle"), (total, 0.25, "a constant")]
            least = min(least, bounds.lower / min(1.0, 1.0 / total))
            linear = max(linear, bounds.upper * total / _ORDER)
            if total >= 1.0:
                worst = max(worst, bounds.shrunk_upper / bounds.lower)
        for total in (0.1, 1.0, 10.0):
            bounds = minimax_bounds(np.full(n, total / n), order=_ORDER)
            rows.append((n, total, bounds.lower, bounds.upper, bounds.shrunk_upper, bounds.gap))
        pictures += curves(points, title=f"Worst-case error of {n:,} people", x="sum of their local losses, nats",
                           y="mean squared error", log_x=True, log_y=True,
                           alt="Error against the sum of the local losses, both logarithmic. The error of the linear "
                               "estimator falls like the inverse of the sum, in parallel to the lower bound. If the "
                               "sum is small, the linear estimator is worse than a constant. If the estimator is drawn "
                               "to the middle, it is never worse than a constant.")
        advance(progress, done, len(_PEOPLE))
    compared = (
        bound("c: least of minimax error over min(1, 1/sum)", least, at_least=LOWER_CONSTANT, origin=OWN_COMPARISON,
              remark="1/(8 (e - 1)); the source says that there is one"),
        bound("O(1): largest of linear error times sum/alpha", linear, at_most=UPPER_CONSTANT, origin=OWN_COMPARISON,
              remark="5/8; the source says that there is one"),
        bound("largest ratio of the two where the sum is 1 or more", worst, at_most=5.0 * (math.e - 1.0) * _ORDER,
              remark="5 (e - 1) alpha: optimal up to this factor", origin=OWN_COMPARISON),
        Compared(quantity="linear error where 10 people's losses sum to .1", published=None,
                 ours=minimax_bounds(np.full(10, 0.01), order=_ORDER).upper, agreement="not published",
                 remark="a constant has 1/4"),
    )
    return Findings(compared=compared, blocks=(*pictures, Table(
        columns=("people n", "sum of losses", "lower bound", "linear", "drawn to the middle", "ratio"),
        rows=tuple(rows))))


MINIMAX = Study(
    name="acquisition-minimax",
    title="The errors that local losses allow",
    source="Fallah et al. 2022, Theorem 1",
    statement="The minimax error is at least c min(1/sum eps, 1), and a linear estimator's at most O(1) alpha/sum eps.",
    run=_minimax,
)


# ---- central noise

_G, _KAPPA = 1.0, 2.0
_PROFILES = {"psi = (.3, 1.7)": (0.3, 1.7), "psi = (.1, .5, 1.5)": (0.1, 0.5, 1.5)}


def _central_noise(quick: bool, progress: Progress | None) -> Findings:
    exponents = (-12, -3, 0) if quick else tuple(range(-15, 2))
    compared: list[Compared] = []
    points: list[tuple[float, float, str]] = []
    rows: list[tuple[str | float, ...]] = []
    for step, (name, psi) in enumerate(_PROFILES.items()):
        least = solve(psi, variance_price=_G, noise_price=_KAPPA).value
        for done, exponent in enumerate(exponents, 1):
            central = float(np.exp(exponent))
            forced = with_central_noise(psi, central, variance_price=_G, noise_price=_KAPPA)
            lowered = without_central_noise(forced.weights, forced.epsilon_local, central)
            moved = problem7(forced.weights, lowered, psi, variance_price=_G, noise_price=_KAPPA)
            points.append((central, forced.value - least, name))
            if exponent in {-12, -9, -6, -3}:
                compared.append(bound(f"cost added by noise of 1/epsilon = e^{exponent}, {name}",
                                      forced.value - least, at_least=0.0,
                                      origin=in_words("Fallah et al. 2022, Proposition 1, line 873")))
                rows.append((name, central, forced.value, moved, least))
            advance(progress, step * len(exponents) + done, len(_PROFILES) * len(exponents))
    return Findings(compared=tuple(compared), blocks=(
        *curves(points, title="What central noise costs, g = 1, kappa = 2", x="1/epsilon of the central noise",
                y="cost above the optimum", log_x=True, log_y=True,
                alt="Cost above the optimum against the central noise, both logarithmic. The cost rises in proportion "
                    "to the noise, and is never 0."),
        Table(columns=("virtual costs", "1/epsilon", "cost with it", "the same error and public losses without it",
                       "optimum"), rows=tuple(rows),
              note="The third cost moves the noise of the second cost into the local channels, with the same "
                   "weights.")))


CENTRAL_NOISE = Study(
    name="acquisition-central-noise",
    title="Noise on the published mean",
    source="Fallah et al. 2022, Proposition 1",
    statement="It is never optimal to add noise to the published estimate.",
    run=_central_noise,
)
