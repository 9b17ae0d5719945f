"""Payments: golden examples, truth as the best report by search, and the identity of expected costs."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.integrate import quad

from cases import fast
from confide.acquisition import payments
from confide.acquisition.incentives import audit_ic, direct_from_indirect
from confide.acquisition.optimum.solver import Solution, solve, solve_grid
from confide.acquisition.payments import Offer, OfferRule, PaymentRule, Sellers, exact_rents, incentive_bound
from confide.acquisition.priors import ConcernPrior, DiscretePrior, HistogramPrior, PowerPrior, UniformPrior
from confide.acquisition.smooth_prior import SmoothPrior, SmoothVirtualCost
from confide.acquisition.virtual_cost import Piece, VirtualCost
from confide.contract.errors import InvalidInput, SolverFailed

UNIFORM = UniformPrior().virtual_cost()
BUMPY = HistogramPrior((0.0, 0.25, 0.75, 1.0), (0.3, 0.2, 0.5))
TYPES = DiscretePrior((0.1, 0.5, 0.9), (0.3, 0.4, 0.3))
PRIORS = {"uniform": UniformPrior(), "square": PowerPrior(2.0), "root": PowerPrior(0.5), "histogram": BUMPY}
DENSITIES = {"uniform": lambda c: 1.0, "square": lambda c: 2 * c, "root": lambda c: 0.5 / np.sqrt(c),
             "histogram": lambda c: 1.2 if c < 0.25 else 0.4 if c < 0.75 else 2.0}


def prices(gamma: float) -> tuple[float, float]:
    """VAR = 1/12, alpha = 2."""
    return gamma / 12, gamma


def squared_error(rule: PaymentRule, reports: list[float] | np.ndarray) -> tuple[float, float, float]:
    """V, gamma MSE + payments, payments."""
    found = rule.pay(reports)
    error = found.solution.weights @ found.solution.weights * rule.variance_price + found.solution.spread * \
        rule.noise_price
    return found.solution.value, float(error) + found.total, found.total


@pytest.mark.parametrize(("gamma", "rows"), [
    (10.0, [(.05, 4.0562, .9745, 1.9338), (.25, 2.0659, .8557, 1.6073), (.5, 1.5811, .7906, 1.3942),
            (.75, 1.3616, .7496, 1.2440), (1, 0, 0, 0)]),
    (400.0, [(.05, 25.6537, 6.1634, 12.8867), (.25, 13.0656, 5.4120, 10.8215), (.5, 10, 5, 9.4737),
             (.75, 8.6115, 4.7407, 8.5237), (1, 7.7689, 4.5509, 7.7689)]),
])
def test_table_of_the_case_study(gamma: float, rows: list[tuple[float, float, float, float]]) -> None:
    """Acceptance 4; the highest type's rent is 0."""
    rule = PaymentRule(UNIFORM, *prices(gamma))
    for c, local, central, payment in rows:
        assert rule(np.array([c, 0.5]), 0) == pytest.approx((payment, local, central), abs=5e-5)
    assert rule.pay([1.0, 0.5]).rents[0] == 0.0


def test_a_thousand_people() -> None:
    """Acceptance 10; the losers' rents are 0, and nobody is paid less than her cost."""
    c = (np.arange(1000) + 0.5) / 1000
    rule = PaymentRule(UNIFORM, *prices(1e4))
    found = rule.pay(c)
    assert found.solution.winners.size == 95
    assert found.total == pytest.approx(25.238914160636, abs=1e-9)
    assert found.payments[0] == pytest.approx(0.8834859, abs=1e-7)
    value, cost, paid = squared_error(rule, c)
    assert (cost - paid) / 1e4 == pytest.approx(0.003810722789570802, abs=1e-7)
    assert abs(cost - value) > 0.05  # they agree in expectation only
    assert not found.payments[95:].any()
    assert np.all(found.rents[:95] > 0)


@pytest.mark.parametrize(("delta", "expected"), fast(1, [(None, 8.27461076609753), (0.1, None)]))
def test_enumerated_types(delta: float | None, expected: float | None) -> None:
    """Acceptance 8: all 27 profiles, and all lies in all of them."""
    rule = PaymentRule(TYPES.virtual_cost(), *prices(20.0), delta)
    value = cost = 0.0
    for profile in product(range(3), repeat=3):
        probability = np.prod([TYPES.masses[k] for k in profile])
        reports = [TYPES.points[k] for k in profile]
        found = squared_error(rule, reports)
        value, cost = value + probability * found[0], cost + probability * found[1]
        audit = audit_ic(rule, reports, 0, TYPES.points)
        assert audit.regret <= 1e-12
        assert audit.truth >= -1e-12
    assert value == pytest.approx(expected or value, abs=1e-9)
    assert cost == pytest.approx(value, abs=1e-9)


def test_payments_of_types() -> None:
    """t = eps_c + c d + the sum of (c_l - c_(l-1)) d_l over all higher types."""
    rule = PaymentRule(TYPES.virtual_cost(), *prices(20.0))
    found = [rule.pay([c, 0.5, 0.1]).solution for c in TYPES.points]
    d = [each.difference[0] for each in found]
    assert rule(np.array([0.1, 0.5, 0.1]), 0).payment == pytest.approx(
        found[0].epsilon_central[0] + 0.1 * d[0] + 0.4 * d[1] + 0.4 * d[2])


@pytest.mark.parametrize("name", PRIORS)
def test_rents_are_the_integral_of_the_differences(name: str) -> None:
    """Acceptance 6: against adaptive quadrature between the kinks of psi, with z = left + u^2."""
    rule = PaymentRule(PRIORS[name].virtual_cost(), *prices(30.0))
    bounds = PRIORS[name].virtual_cost().bounds

    def difference(u: float, left: float, rest: tuple[float, ...]) -> float:
        return float(2 * u * rule.solve(rule.virtual_costs([left + u * u, *rest])).difference[0])

    for c, rest in [(0.0, (0.4, 0.8)), (0.1, (0.05,)), (0.6, (0.6, 0.9))]:
        ends = [c, *bounds[bounds > c]]
        area = sum(quad(difference, 0.0, np.sqrt(right - left), (left, rest), epsrel=1e-5, epsabs=1e-7, limit=40)[0]
                   for left, right in pairwise(ends))
        assert rule.pay([c, *rest], people=[0]).rents[0] == pytest.approx(area, rel=5e-4, abs=1e-6)


PROFILES = [(0.3, 0.4, 0.8), (0.05, 0.4, 0.1), (0.6, 0.5, 0.55)]


@pytest.mark.parametrize(("name", "delta", "profile"), fast(3, [
    ("uniform", None, PROFILES[0]), ("root", None, PROFILES[2]), ("types", 0.01, PROFILES[2]),
    ("histogram", None, PROFILES[0]), ("square", None, PROFILES[1]), ("histogram", 0.1, PROFILES[0]),
    *product([*PRIORS, "types"], [None, 0.1, 0.01, 0.001], PROFILES)]))
def test_no_report_gains(name: str, delta: float | None, profile: tuple[float, ...]) -> None:
    """Acceptance 6 and 9: truth is a dominant strategy, exact or by the grid, and costs nobody."""
    prior = PRIORS.get(name, TYPES)
    rule = PaymentRule(prior.virtual_cost(), *prices(30.0), delta)
    reports, lies = prior.quantile(profile), np.unique(prior.quantile((np.arange(100) + 0.5) / 100))
    found = rule.pay(reports)
    assert np.all(found.payments >= 0.0)
    for person in range(3):
        audit = audit_ic(rule, reports, person, lies)
        assert audit.regret <= 1e-9 * max(1.0, found.solution.value)
        assert audit.truth == pytest.approx(found.rents[person], abs=1e-12)
    assert rule.pay([prior.support[1], *reports[1:]]).rents[0] == 0.0


@pytest.mark.parametrize("name", PRIORS)
def test_expected_payments(name: str) -> None:
    """E t = E[eps_c + psi d] over a person's prior, whatever the other reports: so E[gamma MSE + sum t] = E[V].

    By Gauss-Legendre between all kinks of the prior and of psi, in fourth roots: d is steep at 0.
    """
    prior, cost = PRIORS[name], PRIORS[name].virtual_cost()
    rule = PaymentRule([cost, UNIFORM], *prices(400.0))
    ends = np.unique([*cost.bounds, *getattr(prior, "edges", ())])
    x, w = np.polynomial.legendre.leggauss(10)
    paid = owed = total = 0.0
    for left, right in pairwise(ends):
        for share, weight in zip((1 + x) / 2, w / 2, strict=True):
            c = left + (right - left) * share**4
            part = weight * 4 * share**3 * (right - left) * DENSITIES[name](c)
            found = rule.pay([c, 0.35], people=[0])
            total += part
            paid += part * found.payments[0]
            owed += part * (found.solution.epsilon_central[0] + cost(c) * found.solution.difference[0])
    assert total == pytest.approx(1.0)
    assert paid == pytest.approx(owed, rel=1e-6)


def test_expected_cost_of_two_people() -> None:
    """Section 11's numbers at gamma = 400, where nothing jumps: by Gauss-Legendre in fourth roots."""
    rule = PaymentRule(UNIFORM, *prices(400.0))
    x, w = np.polynomial.legendre.leggauss(9)
    c, weight = ((1 + x) / 2) ** 4, 2 * ((1 + x) / 2) ** 3 * w
    found = np.array([[squared_error(rule, [a, b]) for b in c] for a in c])
    value, cost, paid = np.einsum("i,j,ijk", weight, weight, found)
    assert (value, cost, paid) == pytest.approx((55.249041, 55.249041, 19.291187), abs=5e-6)


def test_gap_of_the_support() -> None:
    """Acceptance 12: the right value is paid; the left one would be truthful too, and dearer."""
    right = HistogramPrior((0.0, 0.2, 0.8, 1.0), (0.5, 0.0, 0.5)).virtual_cost()
    left = VirtualCost.of_pieces([Piece(0.0, 0.2, 0.0, 2.0), Piece(0.2, 0.8, 0.4, 0.0), Piece(0.8, 1.0, 1.8, 0.0)])
    other = VirtualCost.through([0.0, 1.0], [0.3, 0.3])
    x, w = np.polynomial.legendre.leggauss(16)
    share, weight = ((1 + x) / 2) ** 3, 0.75 * ((1 + x) / 2) ** 2 * w
    expected = []
    for cost in (right, left):
        rule, paid, owed = PaymentRule([cost, other], 2.5, 30.0), 0.0, 0.0
        for c, part in [*zip(0.2 * share, weight, strict=True), *zip(0.8 + 0.2 * share, weight, strict=True)]:
            found = rule.pay([c, 0.5], people=[0])
            paid += part * found.payments[0]
            owed += part * (found.solution.epsilon_central[0] + cost(c) * found.solution.difference[0])
        expected.append((paid, owed))
    assert expected[0] == pytest.approx((2.3489542208, 2.3489542208), abs=1e-9)
    assert expected[1][0] == pytest.approx(2.602478, abs=1e-6)


def test_absentees() -> None:
    """Whoever is away changes what the others are paid, not that truth is best; her report is not even looked at."""
    rule = PaymentRule(UNIFORM, *prices(400.0))
    found = rule.pay([0.2, np.nan, 0.5, 0.9], present=[True, False, True, True])
    without = rule.pay([0.2, 0.5, 0.9])
    assert found.payments[1] == found.solution.epsilon_local[1] == 0.0
    assert found.payments[[0, 2, 3]] == pytest.approx(without.payments, rel=1e-9)
    here = np.array([True, False, True, True])
    audit = audit_ic(lambda c, i: rule.pay(c, present=here).offer(i), [0.2, 0.5, 0.5, 0.9], 0, np.linspace(0, 1, 30))
    assert audit.regret <= 1e-10


def test_drop_outs_that_react_to_contracts() -> None:
    """Acceptance 12: user 2 leaves where more than 1.5 is asked of her; then a lie gains .1465."""
    rule = PaymentRule(UNIFORM, *prices(10.0))

    def reacting(reports: np.ndarray, person: int) -> Offer:
        asked = rule.pay(reports).solution.epsilon_local[1]
        return rule.pay(reports, present=[True, bool(asked <= 1.5)]).offer(person)

    audit = audit_ic(reacting, [0.5, 0.5], 0, np.linspace(0.25, 1.0, 4))
    assert audit.truth == pytest.approx(0.0, abs=1e-12)
    assert (audit.regret, audit.best_report) == (pytest.approx(0.1465, abs=1e-4), 0.25)


def _injected(slip: str) -> OfferRule:
    """Payments without rents, or with those that leave nothing to the lowest type."""
    rule = PaymentRule(UNIFORM, *prices(30.0))

    def wrong(reports: np.ndarray, person: int) -> Offer:
        found = rule.pay(reports)
        lowest = rule.pay(np.where(np.arange(3) == person, 0.0, reports)).rents[person] if slip == "bottom" else \
            found.rents[person]
        return found.offer(person)._replace(payment=float(found.payments[person] - lowest))

    return wrong


def test_injected_faults_are_found() -> None:
    """Paying costs only makes lies gain; binding the lowest type makes the truth lose; so do raw virtual costs."""
    assert audit_ic(_injected("cost"), [0.3, 0.4, 0.8], 0, np.linspace(0.1, 1, 10)).regret > 0.05
    assert audit_ic(_injected("bottom"), [0.3, 0.4, 0.8], 0, [0.3]).truth < -0.05
    density, sums, edges = np.array([1.2, 0.4, 2.0]), np.array([0.0, 0.3, 0.5]), np.array([0.0, 0.25, 0.75])
    z = (np.arange(100) + 0.5) / 100
    cell = np.searchsorted(edges, z, side="right") - 1
    raw = 2 * z - edges[cell] + sums[cell] / density[cell]
    found = [solve([psi, float(BUMPY.virtual_cost()(0.4))], variance_price=2.5, noise_price=30.0) for psi in raw]
    d, central = (np.array([getattr(each, name)[0] for each in found]) for name in ("difference", "epsilon_central"))
    rents = np.cumsum(d[::-1])[::-1] / 100 - d / 200
    gains = central + z * d + rents - z[:, None] * (d + central) - (1 - z[:, None]) * central
    assert (gains - np.diag(gains)[:, None]).max() == pytest.approx(0.33, abs=0.01)
    ironed = PaymentRule(BUMPY.virtual_cost(), *prices(30.0))
    assert audit_ic(ironed, [0.99, 0.4], 0, z).regret <= 1e-10


def test_floor() -> None:
    """A public floor makes levels finite, keeps truth best, and pays by the floored virtual cost."""
    free = PaymentRule(UNIFORM, *prices(400.0)).pay([0.0, 0.5])
    assert np.isinf(free.solution.epsilon_local[0])
    assert np.all(np.isfinite(free.payments))
    rule = PaymentRule(UNIFORM.floored(0.01), *prices(400.0))
    found = rule.pay([0.0, 0.5])
    assert found.solution.epsilon_local[0] < 100.0
    assert rule(np.array([0.003, 0.5]), 0).epsilon_local == found.solution.epsilon_local[0]
    audit = audit_ic(rule, [0.002, 0.5], 0, np.linspace(0, 0.1, 21))
    assert audit.regret <= 1e-9
    assert audit_ic(PaymentRule(UNIFORM, *prices(400.0)), [0.3, 0.5], 0, [0.0]).utilities[0] == -np.inf


def test_priors_of_their_own() -> None:
    """Each person is paid by her own virtual cost, whatever the order."""
    costs = [cost.virtual_cost() for cost in (UniformPrior(), BUMPY, PowerPrior(2.0))]
    rule = PaymentRule([costs[0], costs[1], costs[2], costs[1]], *prices(400.0))
    reports = [0.2, 0.3, 0.25, 0.1]
    found = rule.pay(reports)
    turned = PaymentRule([costs[1], costs[2], costs[1], costs[0]], *prices(400.0)).pay(reports[::-1])
    assert found.payments == pytest.approx(turned.payments[::-1], rel=1e-9)
    for person in range(4):
        assert audit_ic(rule, reports, person, np.linspace(0.0, 1.0, 23)).regret <= 1e-9


def test_smooth_virtual_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enclosed rents hold the exact ones, at a top with infinite psi too, and knots come near."""
    square = SmoothVirtualCost(lambda c: 1.5 * c, lambda a, b: (1.5, 1.5))
    exact = PaymentRule(PowerPrior(2.0).virtual_cost(), *prices(30.0)).pay([0.0, 0.2, 0.6])
    found = PaymentRule(square, *prices(30.0)).pay([0.0, 0.2, 0.6])
    assert found.rents == pytest.approx(exact.rents, rel=1e-9)
    assert found.rent_width <= 1e-9
    rising = SmoothPrior(lambda c: c * (2 - c), lambda c: 2 * (1 - c), slope_bounds=lambda a, b: (
        1.5 + 0.5 / (1 - a) ** 2, np.inf if b == 1 else 1.5 + 0.5 / (1 - b) ** 2))
    smooth, reports = rising.smooth_virtual_cost(), [0.1, 0.2, 0.5]
    rule = PaymentRule(smooth, *prices(400.0), rent_tolerance=1e-2)
    found, knots = rule.pay(reports), PaymentRule(rising.virtual_cost(), *prices(400.0)).pay(reports)
    assert 0 < found.rent_width <= 1e-2 * found.solution.value
    assert np.all(np.abs(found.rents - knots.rents) <= found.rent_width / 2 + 1e-3)
    assert rule.pay([0.1, 0.2, 1.0]).payments[2] == 0.0
    audit = audit_ic(rule, reports, 0, [0.0, 0.05, 0.2, 0.9])
    assert audit.regret <= incentive_bound(smooth, 1e-9, rent_width=found.rent_width)  # type: ignore[operator]
    monkeypatch.setattr(payments, "_CELLS", 64)
    vague = SmoothVirtualCost(lambda c: 1.5 * c, lambda a, b: (0.0, np.inf))
    with pytest.raises(SolverFailed, match="enclosed_rents: the error of the rents is up to"):
        PaymentRule(vague, *prices(400.0), rent_tolerance=1e-6).pay([0.1, 0.2])
    with pytest.raises(InvalidInput, match="reports: a report is outside"):
        rule.pay([0.1, 1.2])


def test_direct_from_indirect() -> None:
    """An auction in which people name psi themselves, and truthful strategies; a strategy of bluff is found out."""
    rule = PaymentRule(UNIFORM, *prices(400.0))
    named = lambda actions, i: rule(np.array(actions) / 2, i)
    fair = direct_from_indirect(named, [lambda c: 2 * c] * 3)
    assert audit_ic(fair, [0.2, 0.5, 0.6], 1, np.linspace(0, 1, 11)).regret <= 1e-9
    bluff = direct_from_indirect(named, [lambda c: 2 * c, lambda c: 1 + c, lambda c: 2 * c])
    assert audit_ic(bluff, [0.2, 0.5, 0.6], 1, np.linspace(0, 1, 11)).regret > 0.1
    with pytest.raises(InvalidInput, match="reports: are 2 for 3 strategies"):
        fair(np.array([0.1, 0.2]), 0)


def test_incentive_bounds() -> None:
    eta = 1e-12
    assert incentive_bound(UNIFORM, eta) == eta  # twice, over a slope of 2
    assert incentive_bound(PowerPrior(1.0).virtual_cost(), eta) == eta
    assert incentive_bound(BUMPY.virtual_cost(), eta) is None
    assert incentive_bound(BUMPY.virtual_cost(), eta, exact_range=True) == pytest.approx(4 * eta / 2)
    assert incentive_bound(UNIFORM.floored(0.1), eta) is None
    levels = TYPES.virtual_cost().lows
    assert incentive_bound(TYPES.virtual_cost(), eta) == pytest.approx(
        2 * eta * (0.4 / (levels[1] - levels[0]) + 0.4 / (levels[2] - levels[1])))
    jump = HistogramPrior((0.0, 0.25, 0.75, 1.0), (0.4, 0.1, 0.5)).virtual_cost()
    assert incentive_bound(jump, eta) == pytest.approx(2 * eta / 2 + 2 * eta * 0.75 / 1.0)
    assert incentive_bound(SmoothVirtualCost(lambda c: c, lambda a, b: (0.0, 1.0)), eta) is None
    assert PaymentRule(UNIFORM, 1.0, 4.0).incentive_bound() == pytest.approx(5e-13)
    assert PaymentRule([UNIFORM, BUMPY.virtual_cost()], 1.0, 4.0).incentive_bound() is None
    assert 0 < PaymentRule([UNIFORM, BUMPY.virtual_cost()], 1.0, 4.0, 0.1).incentive_bound() < 2e-13


@pytest.mark.parametrize("prior", [UniformPrior(), TYPES, HistogramPrior((0.0, 0.25, 0.75, 1.0), (0.4, 0.1, 0.5))])
def test_bound_of_a_sloppy_solver(prior: ConcernPrior) -> None:
    """Grids that depend on the reports: nearly optimal, and lies gain, but never more than the certificate says."""
    cost, delta = prior.virtual_cost(), 0.2

    def sloppy(psi: float) -> Solution:
        coarse = int(psi * 997) % 3 == 0
        return solve_grid([psi, 0.3, 0.9], delta if coarse else 1e-3, variance_price=2.5, noise_price=30.0)

    def replace(people: np.ndarray, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = [[sloppy(psi) for psi in row] for row in levels.tolist()]
        return tuple(np.array([[pick(each) for each in row] for row in found])  # type: ignore[return-value]
                     for pick in (lambda each: each.value, lambda each: each.difference[0]))

    def rule(reports: np.ndarray, person: int) -> Offer:
        found = sloppy(float(cost(reports[0])))
        sellers = Sellers(np.array([0]), reports[:1], found.difference[:1], found.value)
        rent = exact_rents(cost, sellers, replace)[0] if found.weights[0] > 0 else 0.0
        paid = found.epsilon_central[0] + reports[0] * found.difference[0] + rent
        return Offer(float(paid), float(found.epsilon_local[0]), float(found.epsilon_central[0]))

    lies = np.unique(prior.quantile((np.arange(40) + 0.5) / 40))
    regrets = [audit_ic(rule, [c], 0, lies).regret for c in lies[::6]]
    bound = incentive_bound(cost, delta * sloppy(2.0).value)
    assert bound is not None
    assert max(regrets) <= bound
    if prior != TYPES:
        assert max(regrets) > 1e-3


@pytest.mark.parametrize(("act", "problem"), [
    (lambda: PaymentRule([], 1.0, 1.0), "virtual_cost: is not a virtual cost"),
    (lambda: PaymentRule(UNIFORM, 1.0, 0.0), "noise_price"),
    (lambda: PaymentRule(UNIFORM, 1.0, 1.0, 2.0), "approximation: 2.0 is out of range"),
    (lambda: PaymentRule([UNIFORM] * 3, 1.0, 1.0).pay([0.5] * 2), "reports: are 2 for 3 virtual costs"),
    (lambda: PaymentRule(UNIFORM, 1.0, 1.0).pay([]), "reports: are of shape"),
    (lambda: PaymentRule(UNIFORM, 1.0, 1.0).pay([0.5, np.nan]), "reports: a report is outside"),
    (lambda: PaymentRule(UNIFORM, 1.0, 1.0).pay([0.5], present=[1]), "present: is not true or false"),
    (lambda: PaymentRule(UNIFORM, 1.0, 1.0).pay([0.5], present=[False]), "virtual_costs: all are infinite"),
    (lambda: audit_ic(PaymentRule(UNIFORM, 1.0, 1.0), [0.5], 1, [0.5]), "person: 1 is not the position of a person"),
    (lambda: audit_ic(PaymentRule(UNIFORM, 1.0, 1.0), [0.5], 0, []), "misreports: the list is empty"),
    (lambda: incentive_bound(UNIFORM, -1.0), "value_error: -1.0 is out of range"),
])
def test_bad_input(act: object, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        act()  # type: ignore[operator]
