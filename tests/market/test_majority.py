"""The genie and the majority market: quotes, payments from counts, liability, totals, errors (spec data_market 11)."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from cases import fast
from confide.contract import InvalidInput, Relation, Unsupported
from confide.market import (
    ExponentialCost,
    LinearCost,
    LogNormalLaw,
    MajorityMarket,
    PairMarket,
    PairPrior,
    PowerCost,
    SignalModel,
    ThresholdMarket,
    best_response,
    least_payment,
)
from confide.market.binomials import decision_threshold, log_errors, majority_errors, table_of_errors
from confide.market.majority import proof_function
from confide.market.signal_model import Reporting

GOLDEN = MajorityMarket(people=10, signal_accuracy=0.8, prior_one=0.7, cost=LinearCost(1.0), epsilon=1.0)


def market(people: int, **changes: object) -> MajorityMarket:
    return replace(GOLDEN, people=people, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(("people", "expected"), [
    (2, 19.14946188268885), (3, 17.13572202885161), (10, 8.854101911690396), (11, 9.297480329033036),
])
def test_expected_payments(people: int, expected: float) -> None:
    """Acceptance 2: in the all-positive form and in that of section 0; 11 people are paid more than 10 (E5)."""
    assert market(people).quote().expected_payment == pytest.approx(expected, rel=1e-12)
    assert market(people).payment_at().expected_payment == pytest.approx(expected, rel=1e-12)
    assert market(people).total_payment().mean == pytest.approx(people * expected, rel=1e-12)


def test_gaps() -> None:
    """Acceptance 3 and 13: far below the doubles too; sharper than the proof's bound, which can be silent."""
    assert market(100, epsilon=2.0).quote().gap == pytest.approx(1.5135544744724222e-5, rel=1e-8)
    assert market(10**6).log_gap == pytest.approx(-40001.46364, abs=1e-3)
    assert market(400, epsilon=12.0, signal_accuracy=0.999).log_gap == pytest.approx(-1094.85938, abs=1e-3)
    assert float(majority_errors(39, Reporting.of(0.8, 1e-4)).kappa) == pytest.approx(1.5044482416e-4, rel=1e-10)
    assert all(market(n, epsilon=2.0, signal_accuracy=0.6).proof_bound is None for n in (2, 30, 61, 63))
    for people in (10, 11):
        errors = majority_errors(people - 1, GOLDEN.reporting)
        h = proof_function(GOLDEN.signal_model, 1 - float(errors.low), 1 - float(errors.low) + float(errors.high))
        quote = market(people).quote()
        assert quote.lower_bound + quote.unit * (h - 1.6 / 0.6) == pytest.approx(quote.expected_payment, rel=1e-12)
    bound = market(62, epsilon=2.0, signal_accuracy=0.6).proof_bound
    assert bound is not None
    assert bound > market(62, epsilon=2.0, signal_accuracy=0.6).quote().expected_payment


@pytest.mark.parametrize("epsilon", [1e-300, 1e-100, 1e-12])
def test_payments_grow_like_one_over_epsilon(epsilon: float) -> None:
    """Spec 2.5: with g'(0) > 0 the expected payment blows up as 1/epsilon, and keeps its digits on the way."""
    for people in (10, 11, 10**9):
        near = market(people, epsilon=1e-10).quote().gap * 1e-10
        assert market(people, epsilon=epsilon).quote().gap * epsilon == pytest.approx(near, rel=1e-5)


@pytest.mark.parametrize("people", [199, 200])
def test_both_forms_of_the_gap_agree(people: int) -> None:
    """Around the switch to logarithms at (N-1) D = 600, and the sharp tails of spec 2.2."""
    one = market(people, epsilon=6.0, signal_accuracy=0.99)
    low, high = log_errors(people - 1, one.reporting)
    errors = majority_errors(people - 1, one.reporting)
    assert (low, high) == pytest.approx((math.log(errors.low), math.log(errors.high)), abs=1e-10)
    m, alpha = people - 1, float(one.reporting.agree)
    factors = ((alpha, 1 - alpha) if m % 2 == 0 else (math.sqrt(alpha * (1 - alpha)),) * 2)
    sharp = [0.5 * math.log(2 / (math.pi * m)) - m * float(one.reporting.chernoff) + math.log(f / (2 * alpha - 1))
             for f in factors]
    assert (low, high) == pytest.approx(sharp, abs=0.02)


def exact_errors(m: int, alpha: Fraction) -> tuple[Fraction, Fraction]:
    law = [math.comb(m, k) * alpha**k * (1 - alpha) ** (m - k) for k in range(m + 1)]
    t = m // 2 + 1
    return sum(law[:t], Fraction(0)), sum(law[: m - t + 1], Fraction(0))


@pytest.mark.parametrize(("theta", "epsilon"), [(0.8, 1.0), (0.55, 1e-6), (0.999, 12.0)])
def test_errors_against_rational_sums(theta: float, epsilon: float) -> None:
    """Every size to 24, one by one and as a table; kappa keeps its digits where it is 1e-7."""
    before, ctx.prec = ctx.prec, 300
    try:
        e = arb(epsilon).exp()
        alpha = (arb(theta) * e + 1 - arb(theta)) / (e + 1)
        rational = Fraction(int((alpha.mid() * arb(2) ** 200).floor().unique_fmpz()), 2**200)
    finally:
        ctx.prec = before
    reporting = Reporting.of(theta, epsilon)
    table = table_of_errors(24, reporting)
    for m in range(1, 25):
        low, high = exact_errors(m, rational)
        found = majority_errors(m, reporting)
        for errors in (found, type(found)(table.low[m], table.high[m], table.kappa[m])):
            assert float(errors.low) == pytest.approx(float(low), rel=1e-12)
            assert float(errors.high) == pytest.approx(float(high), rel=1e-12)
            assert float(errors.kappa) == pytest.approx(float(1 - low - high), rel=1e-12)


@pytest.mark.parametrize("largest", [0, 1, 2, 1000, 1001])
def test_the_table_is_the_single_values(largest: int) -> None:
    for reporting in (Reporting.of(0.8, 0.05), Reporting.of(0.9, 3.0)):
        table, single = table_of_errors(largest, reporting), majority_errors(np.arange(largest + 1), reporting)
        for name in ("low", "high", "kappa"):
            assert getattr(table, name) == pytest.approx(getattr(single, name), rel=1e-11, abs=1e-290)
            for least in range(max(0, largest - 3), largest + 1):
                part = table_of_errors(largest, reporting, least)
                assert getattr(part, name) == pytest.approx(getattr(single, name)[least:], rel=1e-11, abs=1e-290)


def test_payments_from_counts() -> None:
    """One of two numbers for everybody; nothing at a tie for both sides, nothing for one alone (spec 2.2)."""
    one, zero = GOLDEN.liability()
    assert (one, zero) == pytest.approx((12.32, 20.39), abs=5e-3)
    assert GOLDEN.pay(7, 3) == (one, 0.0, 7 * one)
    assert GOLDEN.pay(2, 8) == (0.0, zero, 8 * zero)
    assert GOLDEN.pay(5, 5) == (0.0, 0.0, 0.0)  # t = 5: a one needs 5 others, a zero fewer than 5 ones
    assert GOLDEN.pay(1, 0) == GOLDEN.pay(0, 0) == (0.0, 0.0, 0.0)
    reports = np.array([1] * 4 + [0] * 2 + [2] * 4)
    six = market(6).liability()[0]
    assert GOLDEN.pay_reports(reports).tolist() == [six] * 4 + [0.0] * 6
    assert GOLDEN.quote(6).payments[1, 1] == six
    assert GOLDEN.quote().table[1, 1] * GOLDEN.quote().unit == pytest.approx(one)
    for ones in range(11):
        paid = GOLDEN.pay_reports([1] * ones + [0] * (10 - ones))
        assert GOLDEN.pay(ones, 10 - ones).total == pytest.approx(paid.sum())


def test_peer_payments_are_those_of_the_counts() -> None:
    for ones in range(10):
        for zeros in range(10 - ones):
            zero, one, none = GOLDEN.peer_payments(np.array([ones]), np.array([zeros]))[:, 0]
            assert one == pytest.approx(GOLDEN.pay(ones + 1, zeros).one, rel=1e-14)
            assert zero == pytest.approx(GOLDEN.pay(ones, zeros + 1).zero, rel=1e-14)
            assert none == 0.0


def test_total_payments() -> None:
    """Acceptance 11, and every quantile against the whole law."""
    total = market(50).total_payment()
    assert (total.mean, total.sd, total.quantile(0.95), total.largest) == pytest.approx(
        (284.89202, 126.75904, 511.74709, 731.06726), rel=1e-7)
    agree = float(market(50).reporting.agree)
    law = [math.comb(50, k) * (0.7 * agree**k * (1 - agree) ** (50 - k) + 0.3 * (1 - agree) ** k * agree ** (50 - k))
           for k in range(51)]
    paid = np.array([market(50).pay(k, 50 - k).total for k in range(51)])
    order = np.argsort(paid, kind="stable")
    cumulative = np.cumsum(np.array(law)[order])
    for probability in (0.001, 0.0139, 0.3, 0.5, 0.77, 0.99, 0.9999):
        assert total.quantile(probability) == pytest.approx(paid[order][np.searchsorted(cumulative, probability)])
    for amount in (0.0, 200.0, 391.2):
        assert total.cdf(amount) == pytest.approx(float(np.array(law)[paid <= amount].sum()), abs=1e-12)


def test_error_probability() -> None:
    """The best guess over all counts, by the sum; with lopsided priors it can ignore the reports."""
    for prior, epsilon in ((0.7, 1.0), (0.5, 0.2), (0.999, 0.1)):
        one = market(9, prior_one=prior, epsilon=epsilon)
        agree = float(one.reporting.agree)
        exact = sum(math.comb(9, k) * min(prior * agree**k * (1 - agree) ** (9 - k),
                                          (1 - prior) * (1 - agree) ** k * agree ** (9 - k)) for k in range(10))
        assert one.error_probability() == pytest.approx(exact, rel=1e-12)
    assert float(decision_threshold(9, SignalModel(0.999, 0.8), Reporting.of(0.8, 0.1))) == 0.0


def test_realised_participants() -> None:
    """Acceptance 12: the table follows who takes part; `presence` makes the level exact where nobody may come."""
    from confide.market import Strategy, interim_matrix

    def level(one: MajorityMarket, others: object) -> float:
        return best_response(interim_matrix(one, others), one.cost).level  # type: ignore[arg-type]

    six = market(6, prior_one=0.6)
    absentees = [(3, Strategy.randomised(1.0)), (2, Strategy.always("none"))]
    assert level(six, absentees) == pytest.approx(1.0, abs=1e-12)
    sometimes = Strategy.randomised(1.0).thinned(0.7)
    assert level(market(8, prior_one=0.6), sometimes) == pytest.approx(0.99952660, abs=1e-7)
    mended = market(8, prior_one=0.6, presence=0.7)
    assert level(mended, sometimes) == pytest.approx(1.0, abs=1e-12)
    a = interim_matrix(mended, sometimes)
    q = 1 / (1 + math.exp(-1.0))
    assert q * (a[1, 1] + a[0, 0]) + (1 - q) * (a[1, 0] + a[0, 1]) == pytest.approx(mended.quote().expected_payment)
    assert best_response(a, mended.cost).utility == pytest.approx(mended.quote().participation)
    # Given n: the mean over n of what the quotes say is what she expects in all.
    weights = [math.comb(7, j) * 0.7**j * 0.3 ** (7 - j) for j in range(8)]
    mean = sum(w * mended.quote(j + 1).expected_payment for j, w in enumerate(weights) if j)
    assert mean == pytest.approx(mended.quote().expected_payment)


def test_worst_payments_are_at_small_attendance() -> None:
    amount, present = market(500).worst_payment()
    each = [max(market(500).payment_at(n).for_one, market(500).payment_at(n).for_zero) for n in range(2, 501)]
    assert amount == pytest.approx(max(each), rel=1e-12)
    assert present == 2 + int(np.argmax(each))
    assert market(10**9).worst_payment() == (amount, present)
    for one, matched in zip(market(500, presence=0.3).tariff(), ("for_one", "for_zero"), strict=True):
        single = [getattr(market(500, presence=0.3).payment_at(n), matched) for n in range(2, 501)]
        assert one == pytest.approx(single, rel=1e-12)
    assert GOLDEN.tariff(1, 1)[0].tolist() == [0.0]


@pytest.mark.parametrize("theta", [0.5001, 0.6, 0.999, 1 - 1e-12])
@pytest.mark.parametrize("prior", [0.02, 0.5, 0.7])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 40.0])
def test_worst_payments_without_a_table(theta: float, prior: float, epsilon: float) -> None:
    """2 or 3 participants decide, whatever the parameters: so a billion people cost no more than three."""
    few = MajorityMarket(600, theta, prior, LinearCost(1.0), epsilon)
    table = np.maximum(*few.tariff())
    many = MajorityMarket(10**9, theta, prior, LinearCost(1.0), epsilon)
    assert many.worst_payment()[0] == pytest.approx(float(table.max()), rel=1e-12)
    tracemalloc.start()
    many.guarantees()
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()


def test_the_largest_level() -> None:
    """At 700 payments are near 1e304: their squares leave the doubles, and no number here may be lost to that."""
    top = MajorityMarket(10, 0.8, 0.7, LinearCost(1.0), 700.0)
    total = top.total_payment()
    ones = np.arange(11)
    law = 0.7 * binom.pmf(ones, 10, 0.8) + 0.3 * binom.pmf(ones, 10, 0.2)
    paid = np.array([top.pay(int(k), 10 - int(k)).total for k in ones]) / 1e304
    assert total.mean / 1e304 == pytest.approx(law @ paid, rel=1e-9)
    assert total.sd / 1e304 == pytest.approx(math.sqrt(law @ (paid - law @ paid) ** 2), rel=1e-9)
    assert all(math.isfinite(each) for each in (total.quantile(0.95), top.gap, *top.payment_range(), *top.liability()))
    assert top.guarantees()
    assert PairMarket(PairPrior.beta_binomial(2.0, 3.0, 10), LinearCost(1.0), 700.0).total_payment().sd > 1e303
    assert ThresholdMarket(10, 0.8, 0.7, LogNormalLaw(0.0, 1.0), 650.0, 0.6).rounds_until_nonnegative(0.05) > 10**300


@pytest.mark.parametrize("make", [
    lambda level: MajorityMarket(1000, 0.50001, 0.5, LinearCost(1.0), level),
    lambda level: PairMarket(PairPrior.beta_binomial(2.0, 3.0, 1000), LinearCost(1e6), level),
])
def test_payments_beyond_the_doubles_are_refused(make: Callable[[float], object]) -> None:
    """By name, and the level that is named will do."""
    with pytest.raises(InvalidInput, match="epsilon: 700 needs payments that are too large for 64-bit "
                                           "floats") as caught:
        make(700.0)
    least = float(str(caught.value).rsplit(" ", 1)[1])
    assert 600 < least < 700
    made = make(least)
    if isinstance(made, MajorityMarket):
        assert math.isfinite(made.total_payment().sd + made.worst_payment()[0])


def test_levels_too_small_to_pay_are_refused() -> None:
    with pytest.raises(InvalidInput, match="epsilon: 1e-308 needs payments that are too large for 64-bit "
                                           "floats") as caught:
        market(10, epsilon=1e-308)
    assert market(10, epsilon=float(str(caught.value).rsplit(" ", 1)[1])).worst_payment()[0] < math.inf


def test_laws_of_attendance_too_long_to_write_down() -> None:
    """Half of 10^13 people: 4 10^7 numbers of participants; the field is named before any is made."""
    with pytest.raises(Unsupported, match="people"):
        market(10**13, presence=0.5).guarantees()


def test_guarantees() -> None:
    """A local claim about the randomiser; collusive equilibria are named; vacuous where the guess is the prior's."""
    promised = GOLDEN.guarantees()
    assert (promised.privacy[0].loss.epsilon, promised.privacy[0].neighbours) == (1.0, Relation.BIT)  # type: ignore[attr-defined]
    assert not any(g.vacuous for g in promised)
    assert any("There are other equilibria" in g.note for g in promised)
    assert [g.vacuous for g in market(2, prior_one=0.99, epsilon=0.1).guarantees()] == [False] * 3 + [True, False]


@pytest.mark.parametrize("cost", [LinearCost(1.3), PowerCost(0.5, 2.0), ExponentialCost(1.0, 0.5)], ids=str)
@pytest.mark.parametrize("people", fast(2, [7, 8, 2, 3, 40]))
def test_order_of_the_prices(people: int, cost: LinearCost) -> None:
    """Acceptance 14: V_LB <= V_opt <= E[R]; payments >= 0; a scaled cost scales every payment."""
    one = MajorityMarket(people, 0.7, 0.35, cost, 0.8)
    quote = one.quote()
    cheapest, fair = (least_payment(people, 0.7, 0.35, cost, 0.8, margin=m).payment for m in (None, quote.margin))
    assert quote.lower_bound <= cheapest <= fair <= quote.expected_payment * (1 + 1e-14)
    assert (quote.payments >= 0).all()
    doubled = MajorityMarket(people, 0.7, 0.35, cost + cost, 0.8).quote()
    assert doubled.payments == pytest.approx(2 * quote.payments, rel=1e-13)
    assert best_response(one.interim_matrix(), cost).level == pytest.approx(0.8, rel=1e-9)


@given(st.integers(1, 30), st.floats(0.05, 0.95), st.floats(0.55, 0.95), st.floats(0.05, 4.0))
def test_labels_do_not_matter_where_there_are_no_ties(half: int, prior: float, theta: float, epsilon: float) -> None:
    """Acceptance 14: P1 <-> 1 - P1 with the labels flipped, for an odd number of others."""
    one = MajorityMarket(2 * half, theta, prior, LinearCost(1.0), epsilon)
    other = MajorityMarket(2 * half, theta, 1.0 - prior, LinearCost(1.0), epsilon)
    assert one.liability() == pytest.approx(other.liability()[::-1], rel=1e-9)
    assert one.quote().expected_payment == pytest.approx(other.quote().expected_payment, rel=1e-9)


@pytest.mark.parametrize(("changes", "field"), [
    ({"signal_accuracy": 0.5}, "signal_accuracy"), ({"signal_accuracy": 1.0}, "signal_accuracy"),
    ({"signal_accuracy": 0.3}, "signal_accuracy"), ({"prior_one": 0.0}, "prior_one"), ({"prior_one": 1.0}, "prior_one"),
    ({"epsilon": 0.0}, "epsilon"), ({"epsilon": -1.0}, "epsilon"), ({"epsilon": math.nan}, "epsilon"),
    ({"epsilon": 701.0}, "epsilon"), ({"people": 1}, "people"), ({"people": 2.5}, "people"), ({"cost": 1.0}, "cost"),
    ({"presence": 0.0}, "presence"), ({"presence": 1.5}, "presence"),
])
def test_bad_parameters(changes: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        replace(GOLDEN, **changes)  # type: ignore[arg-type]
    assert caught.value.field == field


def test_no_number_is_no_report() -> None:
    assert np.array_equal(GOLDEN.pay_reports([0, 1, math.nan] + [0] * 7), GOLDEN.pay_reports([0, 1, 2] + [0] * 7))


@pytest.mark.parametrize("reports", [[0, 1] * 4, [0, 1, 3] + [0] * 7])
def test_bad_reports(reports: list[float]) -> None:
    with pytest.raises(InvalidInput, match="reports"):
        GOLDEN.pay_reports(reports)


def test_bad_counts_and_people() -> None:
    with pytest.raises(InvalidInput, match="invited"):
        GOLDEN.pay(6, 5)
    with pytest.raises(InvalidInput, match="invited"):
        GOLDEN.quote(11)
