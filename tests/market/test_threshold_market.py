"""The threshold market for unknown costs: levels, signed payments, totals, errors, bad input (spec data_market 3)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import acb, arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import expon, norm, poisson, powerlaw, rv_continuous, triang

from cases import fast
from confide.contract import InvalidInput, SolverFailed
from confide.contract.guarantees import Budget, Participation
from confide.market import (
    ExponentialLaw,
    GammaLaw,
    HistogramLaw,
    LogNormalLaw,
    MixtureLaw,
    ScipyLaw,
    ThresholdMarket,
    UniformLaw,
    check_types,
)
from confide.market.binomials import majority_errors
from confide.market.threshold.cost_laws import chosen_level, flip_probability
from confide.market.threshold.signed_payments import thesis_attendance, thesis_error

LAW = LogNormalLaw(0.0, 1.0)
GOLDEN = ThresholdMarket(200, 0.8, 0.7, LAW, epsilon=2.0, participation=0.6187127996)
SMALL = ThresholdMarket(20, 0.7, 0.4, UniformLaw(0.0, 2.0), epsilon=1.0, participation=0.4)
CLUSTERS = HistogramLaw([0.0, 0.001, 1.0, 1.001], [0.1, 0.0, 0.9])


def test_golden_market() -> None:
    """Acceptance 7."""
    assert GOLDEN.threshold == pytest.approx(1.35269903, abs=5e-9)
    assert GOLDEN.match == pytest.approx(0.94599686, abs=5e-9)
    assert GOLDEN.reporting.agree == pytest.approx(0.76759812, abs=5e-9)
    assert GOLDEN.expected_total == pytest.approx(438.717897, abs=5e-7)
    assert GOLDEN.total_bound == pytest.approx(524.812614, abs=5e-7)
    assert float(chosen_level(1e-17, 1.0, 2.0)) == pytest.approx(41.3978026, abs=5e-8)
    q, t = GOLDEN.terms.truth, GOLDEN.terms.stake
    expected = np.array([[q / 2, (q - t) / 2], [(q - t) / 2, q / 2], [0.0, 0.0]])
    assert GOLDEN.interim_matrix() == pytest.approx(expected, abs=1e-10)
    same = ThresholdMarket(200, 0.8, 0.7, LAW, 2.0, threshold=GOLDEN.cost_threshold)
    assert same.participation == pytest.approx(GOLDEN.presence, rel=1e-12)
    assert replace(GOLDEN, people=300).threshold == GOLDEN.threshold


def test_ceiling() -> None:
    """Acceptance 13: the same interim matrix from another mu, and a level that is promised."""
    capped = replace(GOLDEN, ceiling=3.0)
    assert capped.match == pytest.approx(0.9366220688, abs=5e-11)
    assert capped.reporting.agree == pytest.approx(0.7619732413, abs=5e-11)
    assert capped.expected_total == pytest.approx(423.772095, abs=5e-7)
    assert capped.interim_matrix() == pytest.approx(GOLDEN.interim_matrix(), abs=1e-10)
    assert check_types(capped).holds
    assert capped.level_quantile(0.999) == capped.strategy_of(1e-9).level == pytest.approx(3.0)
    (privacy,) = capped.guarantees().privacy
    assert (privacy.loss.to_dict()["epsilon"], privacy.vacuous) == (3.0, False)
    floor = replace(GOLDEN, ceiling=2.0)  # everybody at epsilon
    assert floor.flip == pytest.approx(1.0 / (1.0 + math.exp(2.0)), rel=1e-14)


def test_epsilon_is_never_called_privacy() -> None:
    (privacy,) = GOLDEN.guarantees().privacy
    assert privacy.vacuous
    assert privacy.loss.to_dict()["epsilon"] == "Infinity"
    assert "keeps reports accurate, and protects nobody" in privacy.note
    (part,), (budget,) = GOLDEN.guarantees().of(Participation), GOLDEN.guarantees().of(Budget)
    assert "a single payment is negative" in part.note
    assert (budget.lowest, budget.highest) == GOLDEN.liability()
    assert budget.expected == GOLDEN.expected_total
    assert GOLDEN.quote().to_dict()["ceiling"] == "Infinity"


def test_simulated_figures() -> None:
    """Acceptance 10, its exact part: mean total, its standard error at 4e5 rounds, error rate."""
    total = SMALL.total_payment()
    assert SMALL.expected_total == pytest.approx(11.3140, abs=5e-5)
    assert total.mean == pytest.approx(SMALL.expected_total, rel=1e-11)
    assert total.sd / math.sqrt(4e5) == pytest.approx(0.066, abs=5e-4)
    assert SMALL.error_probability() == pytest.approx(0.20172, abs=5e-6)


@pytest.mark.parametrize("law", [
    CLUSTERS, MixtureLaw((0.1, 0.9), (UniformLaw(0.0, 0.001), UniformLaw(1.0, 1.001))),
], ids=["histogram", "mixture"])
def test_errors_need_not_fall_with_attendance(law: HistogramLaw) -> None:
    """Acceptance 13: newcomers at the floor dilute the majority."""
    found = [ThresholdMarket(50, 0.95, 0.5, law, 0.1, participation=p).error_probability()
             for p in (0.0999, 0.1001, 0.15, 0.999)]
    assert found == pytest.approx([0.0830878399, 0.0107329064, 0.0388873061, 0.1712078082], abs=1e-9)


def test_errors_by_enumeration() -> None:
    """The rule on all counts of nine people; the one-line bound and the thesis' hold."""
    market = replace(SMALL, people=9)
    p, agree, p1, error = market.presence, float(market.reporting.agree), market.prior_one, 0.0
    for j in range(10):
        for ones in range(j + 1):
            weight = math.comb(9, j) * p**j * (1 - p) ** (9 - j) * math.comb(j, ones)
            error += weight * ((1 - p1) * (1 - agree) ** ones * agree ** (j - ones) if 2 * ones >= j
                               else p1 * agree**ones * (1 - agree) ** (j - ones))
    assert market.error_probability() == pytest.approx(error, rel=1e-12)
    assert error < market.error_bound() < 1.0
    assert market.thesis_error_bound() == 1.0
    assert GOLDEN.thesis_error_bound() == pytest.approx(0.05, rel=1e-9)
    assert GOLDEN.error_probability() == pytest.approx(9.3e-11, abs=5e-13)
    assert GOLDEN.error_probability() < GOLDEN.error_bound() < 2e-9
    assert thesis_error(1e9, 0.8, 2.0) < 1e-7


def test_figure_4_2() -> None:
    """Section 6: D, n_e, rho n_e; the bound and the exact total at 200 and 600 people."""
    needed = thesis_attendance(0.05, 0.8, 2.0)
    assert needed == pytest.approx(123.74256, abs=5e-6)
    for people, sdlog, bound in ((200, 1.0, 524.81), (600, 1.0, 170.95), (200, 5.0, 1757.15), (600, 5.0, 6.4444)):
        market = ThresholdMarket(people, 0.8, 0.7, LogNormalLaw(0.0, sdlog), 2.0, participation=needed / people)
        assert market.total_bound == pytest.approx(bound, rel=5e-5)
        if (people, sdlog) == (600, 1.0):
            assert market.expected_total == pytest.approx(133.843, abs=5e-4)
            assert market.error_probability() == pytest.approx(1.0e-9, rel=0.05)


@given(st.floats(0.51, 0.999), st.floats(0.02, 0.98), st.floats(1e-3, 20.0), st.floats(0.01, 0.99),
       st.integers(2, 60))
def test_matches_earn_and_mismatches_owe(theta: float, prior: float, epsilon: float, share: float, people: int) -> None:
    """Acceptance 14: for every number of participants; and the extremes are those of a few participants."""
    market = ThresholdMarket(people, theta, prior, UniformLaw(0.0, 1.0), epsilon, participation=share)
    tables = market.payment_tables()
    assert min(tables[:, 0, 0].min(), tables[:, 1, 1].min()) > 0
    assert max(tables[:, 0, 1].max(), tables[:, 1, 0].max()) < 0
    assert market.liability() == pytest.approx((tables.min(), tables.max()), rel=1e-11)
    assert market.payments_at(people) == pytest.approx(tables[-1], rel=1e-9)


def test_payments_as_printed() -> None:
    """A, B, T and Q of section 3, at a size where their cancellation does not hurt; costs scale payments."""
    theta, p1, p0 = 0.8, 0.7, 0.3
    for n in (2, 3, 10, 200):
        e = majority_errors(n - 1, GOLDEN.reporting)
        b1, b0, beta, z = e.low, e.high, 1 - e.low, -math.expm1(199 * math.log1p(-GOLDEN.presence)) * p1 * p0 * e.kappa
        a = np.array([[p1 * (1 - theta) * beta + p0 * theta * b0, -(p1 * (1 - theta) * b1 + p0 * theta * (1 - b0))],
                      [-(p1 * theta * beta + p0 * (1 - theta) * b0), p1 * theta * b1 + p0 * (1 - theta) * (1 - b0)]])
        b = np.array([p1 * beta - p0 * b0, p0 * (1 - b0) - p1 * b1]) / (2 * z)
        printed = a / ((2 * theta - 1) * z) * GOLDEN.terms.stake / 2 + b * GOLDEN.terms.truth
        assert GOLDEN.payments_at(n) == pytest.approx(printed, rel=1e-11)
    dear = replace(GOLDEN, cost_law=LogNormalLaw(math.log(7.0), 1.0), threshold=None)
    assert dear.payments_at(9) == pytest.approx(7.0 * GOLDEN.payments_at(9), rel=1e-12)


def test_payments_from_counts() -> None:
    table = SMALL.payments_at(5)  # t = 3
    assert SMALL.pay(4, 1) == (table[1, 1], table[0, 1], 4 * table[1, 1] + table[0, 1])
    assert SMALL.pay(3, 2) == pytest.approx((table[1, 0], table[0, 1], 3 * table[1, 0] + 2 * table[0, 1]))
    assert SMALL.pay(0, 5) == (0.0, table[0, 0], 5 * table[0, 0])
    assert SMALL.pay(1, 0) == SMALL.pay(0, 0) == (0.0, 0.0, 0.0)
    reports = np.array([1] * 4 + [0] + [2] * 15)
    assert SMALL.pay_reports(reports).tolist() == [table[1, 1]] * 4 + [table[0, 1]] + [0.0] * 15
    ones, zeros = np.array([0, 1, 4, 7, 2]), np.array([0, 0, 3, 12, 2])
    paid = SMALL.peer_payments(ones, zeros)
    for k, (heads, tails) in enumerate(zip(ones, zeros, strict=True)):
        assert paid[1, k] == pytest.approx(SMALL.pay(int(heads) + 1, int(tails)).one, rel=1e-12)
        assert paid[0, k] == pytest.approx(SMALL.pay(int(heads), int(tails) + 1).zero, rel=1e-12)
        assert paid[2, k] == 0.0
    with pytest.raises(InvalidInput, match="more than the number of invited people"):
        SMALL.pay(11, 10)


def test_total_payments_by_enumeration() -> None:
    market = replace(SMALL, people=7)
    p, agree, amounts, weights = market.presence, float(market.reporting.agree), [], []
    negative = 0.0
    for j in range(8):
        for ones in range(j + 1):
            paid = market.pay(ones, j - ones)
            weight = math.comb(7, j) * p**j * (1 - p) ** (7 - j) * math.comb(j, ones) * (
                market.prior_one * agree**ones * (1 - agree) ** (j - ones)
                + (1 - market.prior_one) * (1 - agree) ** ones * agree ** (j - ones))
            amounts.append(paid.total)
            weights.append(weight)
            negative += weight * ((ones if paid.one < 0 else 0) + (j - ones if paid.zero < 0 else 0))
    law, total, chances = np.array(amounts), market.total_payment(), np.array(weights)
    assert total.mean == pytest.approx(law @ chances, rel=1e-11)
    assert total.sd == pytest.approx(math.sqrt(law**2 @ chances - (law @ chances) ** 2), rel=1e-11)
    assert total.negative == pytest.approx(chances[law < 0].sum(), rel=1e-11)
    assert total.cdf(0.0) == pytest.approx(chances[law <= 0].sum(), rel=1e-11)
    order = np.argsort(law, kind="stable")
    for share in (0.01, 0.2, 0.7, 0.95):
        assert total.quantile(share) == pytest.approx(law[order][np.searchsorted(np.cumsum(chances[order]), share)])
        assert total.cdf(total.quantile(share)) >= share
    assert market.negative_probability() == pytest.approx(negative / (7 * p), rel=1e-11)


def test_what_types_do() -> None:
    costs = np.array([1e-300, 1e-9, 0.1, SMALL.cost_threshold, 0.9])
    level = SMALL.level_of(costs)
    assert level[3] == SMALL.epsilon
    assert np.isnan(level[4])
    assert SMALL.takes_part(costs).tolist() == [True] * 4 + [False]
    channels = SMALL.channels_of(costs)
    for cost, channel in zip(costs, channels, strict=True):
        assert SMALL.strategy_of(float(cost)).channel == pytest.approx(channel, rel=1e-12)
    # T/(2 (1 + cosh xi)) = c, and nobody gains at the threshold
    assert SMALL.terms.stake / (2 * (1 + np.cosh(level[1:4]))) == pytest.approx(costs[1:4], rel=1e-12)
    assert SMALL.utility_of(costs[3:]) == pytest.approx([0.0, 0.0], abs=1e-15)
    assert np.all(SMALL.utility_of(costs[:3]) > 0)
    assert SMALL.negative_probability(0.1) < SMALL.negative_probability() < SMALL.negative_probability(
        SMALL.cost_threshold)


def test_levels_as_a_law() -> None:
    for market in (GOLDEN, replace(GOLDEN, ceiling=3.0)):
        for share in (0.1, 0.5):
            assert market.level_cdf(market.level_quantile(share)) == pytest.approx(share, rel=1e-9)
    assert GOLDEN.level_quantile(0.0) == GOLDEN.epsilon
    assert GOLDEN.level_quantile(1.0) == math.inf
    assert (GOLDEN.level_cdf(1.9), replace(GOLDEN, ceiling=3.0).level_cdf(3.0)) == (0.0, 1.0)


def test_means_over_types() -> None:
    """The expected payment is that of the types, by sampling their law at even quantiles."""
    costs = LAW.quantile((np.arange(20_000) + 0.5) / 20_000)
    assert SMALL.people * SMALL.payment_of(UniformLaw(0, 2).quantile((np.arange(20_000) + 0.5) / 20_000)).mean(
    ) == pytest.approx(SMALL.expected_total, rel=1e-6)
    assert GOLDEN.people * GOLDEN.payment_of(costs).mean() == pytest.approx(GOLDEN.expected_total, rel=1e-4)


def test_rounds_until_nonnegative() -> None:
    low, high = GOLDEN.liability()
    mean = GOLDEN.cost_threshold * GOLDEN.epsilon  # Q - T/(e^eps + 1) = c_th eps
    assert GOLDEN.rounds_until_nonnegative(0.05) == math.ceil((high - low) ** 2 * math.log(20.0) / (2 * mean**2))
    assert GOLDEN.rounds_until_nonnegative(0.05, cost=0.01) < GOLDEN.rounds_until_nonnegative(0.05)
    with pytest.raises(InvalidInput, match="takes no part"):
        GOLDEN.rounds_until_nonnegative(0.05, cost=2.0)


def reference(power: int, epsilon: float) -> float:
    """1 - mu by ball arithmetic, for C = c_th u^power with u uniform."""
    before, ctx.prec = ctx.prec, 200
    try:
        square = (arb(epsilon) / 2).cosh() ** 2
        value = acb.integral(lambda u, analytic: (1 - (1 - u**power / square).sqrt(analytic)) / 2, 0, 1)
        return float(value.real.mid())
    finally:
        ctx.prec = before


@pytest.mark.parametrize("epsilon", [0.3, 2.0, 12.0])
def test_flips_against_ball_arithmetic(epsilon: float) -> None:
    """The closed form for uniform cells, and the quadrature on C = u^9."""
    found = flip_probability(UniformLaw(0.0, 2.0), 0.8, 0.4, epsilon)
    assert float(found) == pytest.approx(reference(1, epsilon), rel=1e-13)
    market = ThresholdMarket(9, 0.8, 0.7, ScipyLaw(powerlaw(1 / 9)), epsilon, participation=0.7)
    assert market.flip == pytest.approx(reference(9, epsilon), rel=1e-12)


@pytest.mark.parametrize("ceiling", [math.inf, 2.5])
@pytest.mark.parametrize("epsilon", fast(1, [1.0, 1e-6, 8.0]))
def test_flips_agree_across_laws(epsilon: float, ceiling: float) -> None:
    """A histogram, a mixture of uniforms, a scipy law with corners, and an equal gamma law give one number each."""
    top = max(ceiling, epsilon)

    def flips(law: Any, share: float = 0.6) -> float:
        market = ThresholdMarket(9, 0.8, 0.7, law, epsilon, participation=share,
                                 ceiling=None if math.isinf(top) else top)
        return market.flip

    parts = MixtureLaw((1, 2, 1), (UniformLaw(0, 1), UniformLaw(1, 2), UniformLaw(2, 3)))
    assert flips(HistogramLaw([0, 1, 2, 3], [1, 2, 1])) == pytest.approx(flips(parts), rel=1e-12)
    assert flips(ExponentialLaw(2.0)) == pytest.approx(flips(GammaLaw(1.0, 2.0)), rel=1e-10)
    assert flips(ExponentialLaw(2.0)) == pytest.approx(flips(expon(scale=2.0)), rel=1e-10)
    edges = np.linspace(0.0, 1.0, 2001)
    corner = triang(0.3)
    assert flips(corner) == pytest.approx(flips(HistogramLaw(edges, np.diff(corner.cdf(edges)))), rel=1e-5)


def test_sampling() -> None:
    rng = np.random.default_rng(3)
    for law in (LAW, CLUSTERS, MixtureLaw((1, 1), (LAW, UniformLaw(0, 3)))):
        costs = law.sample(4000, rng)
        assert costs.min() > 0
        for share in (0.1, 0.5, 0.9):
            assert np.mean(costs <= law.quantile(share)) == pytest.approx(share, abs=0.03)


def test_laws_invert_their_quantiles() -> None:
    share = np.array([1e-12, 1e-3, 0.3, 0.999])
    mixture = MixtureLaw((0.2, 0.8), (LogNormalLaw(-3.0, 4.0), GammaLaw(2.0, 5.0)))
    for law in (LAW, ExponentialLaw(3.0), GammaLaw(0.1, 1.0), mixture, UniformLaw(0.0, 2.0)):
        assert law.cdf(law.quantile(share)) == pytest.approx(share, rel=1e-9)
    assert float(CLUSTERS.quantile(0.1)) == pytest.approx(0.001)
    assert float(mixture.quantile(0.0)) == 0.0


@pytest.mark.parametrize(("changes", "field"), [
    ({"people": 1}, "people"), ({"people": 2.5}, "people"), ({"signal_accuracy": 0.5}, "signal_accuracy"),
    ({"prior_one": 0.0}, "prior_one"), ({"epsilon": 0.0}, "epsilon"), ({"epsilon": 701.0}, "epsilon"),
    ({"epsilon": math.nan}, "epsilon"), ({"participation": 1.0}, "participation"),
    ({"participation": None}, "participation"), ({"threshold": 1.0}, "participation"),
    ({"threshold": 3.0}, "threshold"),
    ({"participation": None, "threshold": -1.0}, "threshold"), ({"ceiling": 0.5}, "ceiling"),
    ({"participation": None, "threshold": 2.0}, "threshold"),
    ({"cost_law": UniformLaw(1.0, 2.0)}, "cost_law"), ({"cost_law": 3.0}, "cost_law"),
    ({"cost_law": MixtureLaw((1,), (UniformLaw(1.0, 2.0),))}, "cost_law"),
])
def test_bad_parameters(changes: dict[str, Any], field: str) -> None:
    fields: dict[str, Any] = {"people": 20, "signal_accuracy": 0.7, "prior_one": 0.4, "cost_law": UniformLaw(0.0, 2.0),
                              "epsilon": 1.0, "participation": 0.4, **changes}
    with pytest.raises(InvalidInput) as caught:
        ThresholdMarket(**fields)
    assert caught.value.field == field


def test_bad_laws() -> None:
    """Atoms, mass at 0, no mass near 0, no law at all; where it shows is named."""
    class Atom(rv_continuous):
        def _cdf(self, x: Any) -> Any:
            return np.clip(0.5 * x + 0.3 * (x >= 1.0), 0.0, 1.0)

        def _ppf(self, q: Any) -> Any:
            return np.where(q < 0.5, 2 * q, np.where(q < 0.8, 1.0, 2 * (q - 0.3)))

    for law, words in ((Atom(a=0.0, b=2.0), "atom at 1"), (norm(), "0 or below"), (poisson(3.0), "frozen continuous")):
        with pytest.raises(InvalidInput, match=words) as caught:
            ThresholdMarket(20, 0.7, 0.4, law, 1.0, participation=0.4)
        assert caught.value.field == "cost_law"
    for make, words in ((lambda: HistogramLaw([0.0, 1.0, 1.0], [1, 1]), "rise at 1"),
                        (lambda: HistogramLaw.through([1.0, 2.0, 2.0]), "2 twice"),
                        (lambda: HistogramLaw([0.0, 1.0], [1, 1]), "weights"),
                        (lambda: HistogramLaw([0.0, 1.0], [0.0]), "all 0"),
                        (lambda: UniformLaw(2.0, 2.0), "atom"), (lambda: LogNormalLaw(math.nan, 1.0), "meanlog"),
                        (lambda: MixtureLaw((1,), ()), "0 laws"), (lambda: MixtureLaw((0,), (LAW,)), "weights")):
        with pytest.raises(InvalidInput, match=words):
            make()


def test_what_leaves_the_doubles_is_refused() -> None:
    assert math.isfinite(replace(SMALL, epsilon=300.0).total_payment().sd)
    with pytest.raises(InvalidInput, match="too large for 64-bit floats"):
        replace(SMALL, epsilon=700.0, cost_law=UniformLaw(0.0, 2e7), participation=1e-3, threshold=None).quote()
    with pytest.raises(InvalidInput, match="threshold 0"):
        replace(SMALL, cost_law=GammaLaw(0.01, 1.0), participation=1e-6, threshold=None)
    with pytest.raises(SolverFailed, match="too wide"):
        _ = replace(SMALL, cost_law=LogNormalLaw(0.0, 20.0), participation=1 - 1e-6, threshold=None).flip


def test_large_markets() -> None:
    """N = 10^9: everything but the total's law and the error is O(1); those are O(sqrt N)."""
    market = ThresholdMarket(10**9, 0.8, 0.7, LAW, 2.0, participation=1e-6)
    assert market.quote().expected_total == pytest.approx(market.total_payment().mean, rel=1e-8)
    q = market.terms.truth
    assert market.interim_matrix()[1, 1] == pytest.approx(q / 2, rel=1e-11)
