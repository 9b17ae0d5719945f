"""The pair market: priors, payments of both signs, totals, the least payment, insiders (spec data_market 4 and 11)."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from flint import arb, ctx
from scipy.stats import betabinom, binom
from statsmodels.datasets import fair

from confide.contract import InvalidInput, Refused, Relation
from confide.market import (
    LinearCost,
    MajorityMarket,
    PairMarket,
    PairPrior,
    PowerCost,
    SignalModel,
    Strategy,
    audit_groups,
    best_response,
    check_equilibrium,
    group_counts,
    interim_matrix,
    regret,
    symmetric_equilibria,
)
from confide.market.pairs.prices import cheapest_level, pair_prices
from confide.market.pairs.prior import log_report_law

COST = LinearCost(1.0)
AGREE = PairPrior.beta_binomial(2.0, 3.0, 10)
DISAGREE = PairPrior.of_counts([0, 0, 0, 0.5, 0.5, 0, 0, 0, 0, 0, 0])
GOLDEN = PairMarket(AGREE, COST, 1.0)
OPPOSED = PairMarket(DISAGREE, COST, 1.0)
FAIR = ([99, 348, 993, 2242, 2684], [74, 221, 547, 724, 487])


def counts(prior: PairPrior) -> np.ndarray:
    assert prior.log_counts is not None
    return np.exp(prior.log_counts)


# ---- priors


def test_priors_agree_with_their_counts() -> None:
    """Closed moments against those of the law that a constructor writes down."""
    two_state = PairPrior.two_state(12, 0.8, 0.7)
    for prior in (AGREE, two_state, PairPrior.of_groups(*FAIR, people=30), PairPrior.of_groups([4, 6], [1, 6])):
        again = PairPrior.of_counts(counts(prior))
        assert again.signal_one == pytest.approx(prior.signal_one, rel=1e-12)
        assert again.covariance == pytest.approx(prior.covariance, rel=1e-9)
        p = prior.pairs
        assert PairPrior.of_pairs(prior.people, p[1, 1], p[0, 0]).covariance == pytest.approx(prior.covariance)
    assert counts(AGREE) == pytest.approx(betabinom.pmf(np.arange(11), 10, 2, 3), rel=1e-12)
    assert counts(two_state) == pytest.approx(0.7 * binom.pmf(np.arange(13), 12, 0.8)
                                              + 0.3 * binom.pmf(np.arange(13), 12, 0.2), rel=1e-12)
    assert two_state.covariance == pytest.approx(0.21 * 0.36)
    assert PairPrior.beta_binomial(2.0, 3.0, 10**9).covariance == AGREE.covariance


def log_factorial(n: int) -> arb:
    return arb(n + 1).lgamma()


def log_choose(n: int, k: int) -> arb:
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k)


@pytest.mark.slow
def test_priors_of_a_million_people(monkeypatch: pytest.MonkeyPatch) -> None:
    """No constructor refuses the rounding of its own law: two probabilities of each against ball arithmetic."""
    n = 10**6
    monkeypatch.setattr(ctx, "prec", 200)
    for a in (10**4, 10**6):
        law = PairPrior.beta_binomial(float(a), float(a), n).log_counts
        assert law is not None
        for k in (n // 2, n // 2 + 700):
            exact = log_choose(n, k) + sum(log_factorial(each + a - 1) for each in (k, n - k)) - log_factorial(
                n + 2 * a - 1) + log_factorial(2 * a - 1) - 2 * log_factorial(a - 1)
            assert law[k] == pytest.approx(float(exact), abs=1e-10)
    ends = PairPrior.beta_binomial(1e-6, 1e-6, n).log_counts  # nearly all alike
    assert ends is not None
    assert ends[[0, n]] == pytest.approx([-math.log(2)] * 2, abs=1e-4)
    even = PairPrior.two_state(n, 0.51, 0.5).log_counts
    assert even is not None
    for k in (510_000, 510_300):
        both = sum((arb(share) ** k * (1 - arb(share)) ** (n - k) for share in (0.51, 1 - 0.51)), arb(0))
        assert even[k] == pytest.approx(float((both / 2).log() + log_choose(n, k)), abs=1e-9)
    groups = PairPrior.of_groups([n, 2 * n], [n // 10, n]).log_counts
    assert groups is not None
    drawn = log_choose(n, 500_200) + log_choose(n, n - 500_200) - log_choose(2 * n, n) - arb(1.5).log()
    assert groups[500_200] == pytest.approx(float(drawn), abs=1e-10)
    assert groups[n // 10] == pytest.approx(-math.log(3), abs=1e-10)
    assert counts(PairPrior.of_groups([5, 9], [1, 9], people=3)) == pytest.approx(
        [5 / 14 * 4 / 10, 5 / 14 * 6 / 10, 0, 9 / 14], abs=1e-15)


def test_fair_survey() -> None:
    """Section 6: from the table that statsmodels ships."""
    table = fair.load_pandas().data
    names, sizes, ones = group_counts(table["rate_marriage"], table["affairs"] > 0)
    assert (names, sizes, ones) == ([1, 2, 3, 4, 5], *FAIR)
    prior = PairPrior.of_groups(sizes, ones)
    assert (prior.signal_one, prior.covariance, prior.correlation) == pytest.approx((0.3224945, 0.02450866, 0.112172),
                                                                                    rel=1e-5)
    assert (prior.pairs[1, 1], prior.pairs[0, 1]) == pytest.approx((0.1285114, 0.1939831), abs=5e-8)
    market = PairMarket(prior, COST, 1.0)
    assert market.quote().expected_payment == pytest.approx(55.7987, abs=5e-5)
    rows = audit_groups(market, sizes, ones, names)
    assert [row.best.name for row in rows] == ["always 1"] * 4 + ["always 0"]
    assert [row.gain for row in rows] == pytest.approx([18.10, 15.22, 12.30, 1.03, 6.1660], abs=5e-3)
    assert rows[4].gain == pytest.approx(6.1660, abs=5e-5)
    assert all(row.best.unique and not row.truthful for row in rows)
    sometimes = audit_groups(replace(market, presence=0.5), sizes, ones)
    assert [row.gain for row in sometimes] == pytest.approx([row.gain for row in rows], rel=1e-12)


@pytest.mark.parametrize(("make", "field"), [
    (lambda: PairPrior(10, 0.4, 0.0), "covariance"), (lambda: PairPrior(10, 0.4, 1e-14), "covariance"),
    (lambda: PairPrior(10, 0.4, 0.25), "covariance"), (lambda: PairPrior(10, 0.4, -0.0267), "covariance"),
    (lambda: PairPrior(10, 0.35, -0.0226), "covariance"), (lambda: PairPrior(10, 0.4, math.nan), "covariance"),
    (lambda: PairPrior(10, 0.0, 0.1), "signal_one"), (lambda: PairPrior(10, 1.0, 0.1), "signal_one"),
    (lambda: PairPrior(1, 0.4, 0.1), "people"), (lambda: PairPrior(2.5, 0.4, 0.1), "people"),  # type: ignore[arg-type]
    (lambda: PairPrior(10, 0.4, 0.04, np.zeros(3)), "log_counts"),
    (lambda: PairPrior(10, 0.4, 0.05, AGREE.log_counts), "log_counts"),
    (lambda: PairPrior.of_counts([0.5, 0.5]), "counts"), (lambda: PairPrior.of_counts([0.5, -0.1, 0.6]), "counts"),
    (lambda: PairPrior.of_counts([0.5, 0.2, 0.2]), "counts"), (lambda: PairPrior.of_counts("abc"), "counts"),
    (lambda: PairPrior.of_counts([0, 0, 1]), "signal_one"),
    (lambda: PairPrior.of_counts([0.25, 0.5, 0.25]), "covariance"),
    (lambda: PairPrior.of_pairs(10, 0.7, 0.5), "both_one"), (lambda: PairPrior.beta_binomial(0.0, 1.0, 10), "a"),
    (lambda: PairPrior.two_state(10, 0.5, 0.7), "signal_accuracy"),
    (lambda: PairPrior.of_groups([3, 1], [1, 1]), "sizes"), (lambda: PairPrior.of_groups([3, 4], [1, 5]), "ones"),
    (lambda: PairPrior.of_groups([3, 4], [1]), "ones"), (lambda: PairPrior.of_groups([3.5], [1]), "sizes"),
    (lambda: PairMarket("prior", COST, 1.0), "prior"), (lambda: PairMarket(AGREE, COST, 701.0), "epsilon"),  # type: ignore[arg-type]
    (lambda: PairMarket(AGREE, COST, 0.0), "epsilon"), (lambda: PairMarket(AGREE, 1.0, 1.0), "cost"),  # type: ignore[arg-type]
    (lambda: replace(GOLDEN, presence=0.0), "presence"), (lambda: replace(GOLDEN, average=1), "average"),  # type: ignore[arg-type]
    (lambda: GOLDEN.pay(6, 5), "ones + zeros"), (lambda: GOLDEN.estimate(0, 0), "ones + zeros"),
    (lambda: GOLDEN.pay_reports([0, 1] * 4), "reports"), (lambda: GOLDEN.pay_reports([3] * 10), "reports"),
    (lambda: group_counts([1, 2], [0, 2]), "bits"), (lambda: group_counts([1, 2], [0]), "bits"),
    (lambda: audit_groups(GOLDEN, [5, 5], [1, 2], ["a"]), "groups"),
    (lambda: PairMarket(PairPrior(10, 0.4, 0.04), COST, 1.0).total_payment().sd, "total"),
])
def test_bad_input(make: object, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make()  # type: ignore[operator]
    assert caught.value.field == field


def test_every_possible_covariance_is_accepted() -> None:
    """The range is sharp at both ends: bits that are all equal, and numbers of ones next to their mean."""
    for law in ([0.6, 0, 0, 0.4], [0, 0.3, 0.7, 0], [0, 0.1, 0.9, 0, 0, 0, 0]):
        prior = PairPrior.of_counts(law)
        PairPrior(prior.people, prior.signal_one, prior.covariance)
        beyond = prior.covariance + 1e-4 * np.sign(prior.covariance)
        with pytest.raises(InvalidInput, match="must be in"):
            PairPrior(prior.people, prior.signal_one, beyond)


# ---- quotes and payments


def test_expected_payments() -> None:
    """Acceptance 8."""
    assert GOLDEN.quote().expected_payment == pytest.approx(35.27582602723978, rel=1e-12)
    assert OPPOSED.quote().expected_payment == pytest.approx(61.14564467912342, rel=1e-12)
    assert DISAGREE.covariance == pytest.approx(-0.0225, rel=1e-12)
    level = cheapest_level(AGREE, COST)
    assert level == pytest.approx(1.27362, abs=1e-5)
    assert float(pair_prices(AGREE, COST, level)) == pytest.approx(33.74221472, abs=5e-9)
    far = replace(GOLDEN, epsilon=20.0).quote()
    assert far.expected_payment / far.lower_bound == pytest.approx(3.5, rel=1e-6)
    tiny, small = (replace(GOLDEN, epsilon=level).quote().expected_payment * level for level in (1e-300, 1e-9))
    assert tiny == pytest.approx(small)


@pytest.mark.parametrize("market", [GOLDEN, OPPOSED, PairMarket(AGREE, PowerCost(1.0, 2.0), 0.3, presence=0.4),
                                    PairMarket(PairPrior(1000, 0.01, -5e-6), COST, 3.0, average=False)],
                         ids=["agree", "disagree", "presence", "rare"])
def test_the_promised_equilibrium(market: PairMarket) -> None:
    """Acceptance 1: no regret by the nine pairs (random channels: test_best_reply)."""
    a, quote = market.interim_matrix(), market.quote()
    best, scale = best_response(a, market.cost), float(np.abs(a).max())
    assert best.unique
    assert best.level == pytest.approx(market.epsilon, rel=1e-6)
    assert abs(regret(a, market.strategy, market.cost)) < 1e-10 * max(scale, 1.0)
    assert check_equilibrium(market, tolerance=1e-10 * max(scale, 1.0)).holds
    assert best.margin == pytest.approx(quote.margin, rel=1e-6, abs=1e-12 * scale)
    assert np.sum(a * market.strategy.channel) == pytest.approx(quote.expected_payment, rel=1e-9)
    assert best.utility == pytest.approx(quote.participation, rel=1e-9)
    assert (quote.payments >= 0).all()


def enumerated(market: PairMarket, law: np.ndarray) -> np.ndarray:
    """(3, 2) the interim matrix of person 0 by all bits and all reports of everybody else."""
    n, keep, found = market.people, 1 / (1 + math.exp(-market.epsilon)), np.zeros((3, 2))
    for bits in itertools.product((0, 1), repeat=n):
        chance = law[sum(bits)] / math.comb(n, sum(bits))
        for reports in itertools.product((0, 1), repeat=n - 1):
            weight = chance * math.prod(keep if x == s else 1 - keep for x, s in zip(reports, bits[1:], strict=True))
            for x in (0, 1):
                found[x, bits[0]] += weight * market.pay_reports([x, *reports])[0]
    return found


@pytest.mark.parametrize(("law", "average"), [([0.1, 0.4, 0.2, 0.1, 0.2], False), ([0.1, 0.2, 0.6, 0.05, 0.05], True)])
def test_interim_matrix_by_enumeration(law: list[float], average: bool) -> None:
    """From what is really paid, averaged or by one peer, for either sign of D."""
    market = PairMarket(PairPrior.of_counts(law), COST, 0.7, average=average)
    assert market.agreement is not average
    assert market.interim_matrix() == pytest.approx(enumerated(market, np.array(law)), rel=1e-12)


def test_payments_from_counts() -> None:
    """Spec 4: nothing for one alone; the average of the table over all peers, for both signs."""
    for market in (GOLDEN, OPPOSED):
        table = market.quote().payments
        reports = np.array([1, 1, 0, 2, 1, 0, 2, 2, 0, 0])
        here = np.flatnonzero(reports < 2)
        by_hand = np.zeros(10)
        for i in here:
            by_hand[i] = np.mean([table[reports[i], reports[j]] for j in here if j != i])
        assert market.pay_reports(reports) == pytest.approx(by_hand, rel=1e-12)
        paid = market.pay(3, 4)
        assert (paid.one, paid.zero, paid.total) == pytest.approx((by_hand[0], by_hand[2], by_hand.sum()))
        assert market.pay(1, 0) == market.pay(0, 1) == market.pay(0, 0) == (0.0, 0.0, 0.0)
        assert market.pay_reports([1] + [2] * 9).tolist() == [0.0] * 10
        assert market.pay(0, 10).one == 0.0
        assert max(market.liability()) == table.max()
        assert market.peer_payments(np.array([2, 3]), np.array([4, 3]))[:, 0] == pytest.approx(
            [market.pay(2, 5).zero, market.pay(3, 4).one, 0.0])


def test_one_peer_each() -> None:
    """The peer is the next participant but `rotation` - 1, never oneself; over all rotations it is the average."""
    market = replace(GOLDEN, average=False)
    reports = [1, 2, 0, 1, 2, 2, 0, 0, 2, 1]
    one, zero = market.liability()
    assert market.pay_reports(reports).tolist() == [0, 0, 0, 0, 0, 0, zero, 0, 0, one]
    rounds = [market.pay_reports(reports, rotation) for rotation in range(1, 6)]
    assert np.mean(rounds, axis=0) == pytest.approx(GOLDEN.pay_reports(reports), rel=1e-12)
    assert market.pay_reports(reports, 6) == pytest.approx(rounds[0])
    with pytest.raises(Refused, match="pay_reports"):
        market.pay(3, 3)


def test_presence() -> None:
    """Whoever may be alone is paid more in company: the level stays epsilon; without `presence` it falls."""
    sometimes = replace(GOLDEN, prior=PairPrior(3, 0.4, 0.04), presence=0.5)
    plain = replace(sometimes, presence=1.0)
    assert best_response(plain.interim_matrix(sometimes.peers), COST).level < 0.9
    assert best_response(sometimes.interim_matrix(), COST).level == pytest.approx(1.0, rel=1e-9)
    assert sometimes.table == pytest.approx(plain.table / 0.75)


def test_other_strategies_and_other_beliefs() -> None:
    """Groups of strategies, and a prior that differs, against the checker's own law of counts under a common state."""
    signal_model, other = SignalModel(0.7, 0.8), SignalModel(0.6, 0.75)
    market = PairMarket(PairPrior.two_state(10, 0.8, 0.7), COST, 1.0)

    class ByCounts:
        people, cost, presence, strategy, peer_payments = 10, COST, 1.0, market.strategy, market.peer_payments

    ByCounts.signal_model = signal_model  # type: ignore[attr-defined]
    for others in ([(4, Strategy.randomised(2.0)), (3, Strategy.always("1")), (2, Strategy.always("none"))],
                   Strategy.randomised(0.5).thinned(0.3)):
        for law in (signal_model, other):
            expected = interim_matrix(ByCounts(), others, law)  # type: ignore[arg-type]
            assert interim_matrix(market, others, law) == pytest.approx(expected, rel=1e-9)
    believed = PairPrior.two_state(10, 0.75, 0.6)
    assert market.interim_matrix(prior=believed) == pytest.approx(interim_matrix(market, market.strategy, other))
    with pytest.raises(InvalidInput, match="depending on their bits"):
        market.interim_matrix(Strategy(np.array([[0.5, 0.1], [0.2, 0.7], [0.3, 0.2]])))
    with pytest.raises(InvalidInput, match="signal_model"):
        market.interim_matrix(prior=PairPrior.two_state(9, 0.8, 0.7))
    with pytest.raises(InvalidInput, match="signal_model"):
        interim_matrix(MajorityMarket(10, 0.8, 0.7, COST, 1.0), Strategy.randomised(1.0), believed)


def test_collusive_equilibria_are_reported() -> None:
    found = {each.name: each for each in symmetric_equilibria(GOLDEN)}
    assert found["always 1"].payment == pytest.approx(GOLDEN.liability()[0])
    assert found["always 0"].payment == pytest.approx(GOLDEN.liability()[1])
    assert found["level 1"].payment == pytest.approx(35.27582602723978)
    assert [each.name for each in symmetric_equilibria(OPPOSED)] == ["level 1", "nobody takes part"]


def test_guarantees() -> None:
    promised = GOLDEN.guarantees()
    assert (promised.privacy[0].loss.epsilon, promised.privacy[0].neighbours) == (1.0, Relation.BIT)  # type: ignore[attr-defined]
    assert [g.vacuous for g in promised] == [False, False, False, True, False]  # ten people say little about a mean
    assert any("their group" in g.sentence() for g in promised)
    thousand = replace(GOLDEN, prior=PairPrior.beta_binomial(2.0, 3.0, 1000)).guarantees(0.01)
    assert not any(g.vacuous for g in thousand)


# ---- the law of the total and the least payment


def test_report_law_and_totals() -> None:
    """The law of the reports against sums of binomials; the total against every count of reports."""
    keep, law = 1 / (1 + math.exp(-1.0)), np.zeros(11)
    for k, weight in enumerate(counts(AGREE)):
        ones, zeros = binom.pmf(np.arange(k + 1), k, keep), binom.pmf(np.arange(11 - k), 10 - k, 1 - keep)
        law += weight * np.convolve(ones, zeros)
    assert np.exp(log_report_law(np.asarray(AGREE.log_counts), 1.0)) == pytest.approx(law, rel=1e-12)
    for market in (GOLDEN, OPPOSED):
        total = market.total_payment()
        assert total.mean == pytest.approx(10 * market.quote().expected_payment, rel=1e-12)
        paid = np.array([market.pay(k, 10 - k).total for k in range(11)])
        reports = np.exp(log_report_law(np.asarray(market.prior.log_counts), 1.0))
        assert (reports @ paid, total.largest) == pytest.approx((total.mean, paid.max()), rel=1e-12)
        assert total.sd == pytest.approx(math.sqrt(reports @ paid**2 - total.mean**2), rel=1e-9)
        order = np.argsort(paid, kind="stable")
        assert total.quantile(0.9) == pytest.approx(paid[order][np.searchsorted(np.cumsum(reports[order]), 0.9)])
        assert total.cdf(total.quantile(0.9)) >= 0.9
        assert total.cdf(-1.0) == 0.0
    single = replace(OPPOSED, average=False).total_payment()
    assert single.mean == OPPOSED.total_payment().mean
    assert single.largest == pytest.approx(replace(OPPOSED, average=False).pay_reports([0, 1] * 5).sum())
