"""Studies of the market, in quick runs; the numbers are those of spec data_market, section 6."""

from __future__ import annotations

import pytest
from quick_runs import last_table, quick_run

FIGURE_3_2 = {  # tau: the source's lower bound and total
    0.4: (83.272, 111.121), 0.1: (212.806, 229.382), 0.05: (277.573, 293.114), 0.01: (434.865, 445.170),
    0.001: (656.923, 666.305),
}
PLANS = {  # tau: by Chernoff's bound, people; by the exact error, people
    0.1: (227.681, 24, 87.951, 6), 0.01: (None, None, 251.800, 26), 0.001: (660.866, 72, 444.720, 48),
}


def test_what_accuracy_costs():
    found = quick_run("market-accuracy")
    for quantity, value in (("epsilon of the source's mechanism", 1.7307777), ("D at it", 0.0967367),
                            ("V_LB at it", 9.2524386)):
        assert found[quantity] == (None, pytest.approx(value, rel=1e-6), "not published")
    for tau, (lower, total) in FIGURE_3_2.items():
        assert found[f"total, tau = {tau:g}"] == (pytest.approx(lower, rel=1e-4), pytest.approx(total, rel=1e-4),
                                                  "stands")
    for tau, lower, proof, total, chernoff, people, exact, few, error in last_table("market-accuracy"):
        assert lower <= proof <= chernoff <= total
        assert error <= tau * (1 + 1e-12)
        for ours, printed in zip((chernoff, people, exact, few), PLANS.get(tau, (None,) * 4), strict=True):
            assert printed is None or ours == pytest.approx(printed, rel=1e-4)


def test_how_fast_the_payment_falls():
    found = quick_run("market-convergence")
    for level, rate in ((0.5, 0.0109156155), (1.0, 0.0399973798), (2.0, 0.1171080867)):
        assert found[f"slope of ln gap, epsilon = {level:g}"] == (
            pytest.approx(-rate, rel=1e-8), pytest.approx(-rate, rel=1e-5), "stands")
    at_a_million = {row[0]: row[-1] for row in last_table("market-convergence")}
    assert at_a_million[1.0] == pytest.approx(-40001.46364, abs=1e-3)  # acceptance 3


def test_what_a_report_costs_under_any_prior():
    found = quick_run("market-pairs")
    # Acceptance 8, erratum E2
    assert found["payment over its lower bound at epsilon = 20"] == (1.0, pytest.approx(3.5, abs=1e-6), "differs")
    assert found["limit of that ratio, (1 + 1/|correlation|)/2"][1] == pytest.approx(3.5, rel=1e-12)
    assert found["cheapest epsilon"][1] == pytest.approx(1.27362, abs=5e-6)
    assert found["payment at it"][1] == pytest.approx(33.74221472, abs=5e-9)
    for _, payment, least, floor, ratio in last_table("market-pairs"):
        assert floor <= least <= payment
        assert payment / floor == pytest.approx(ratio)


@pytest.mark.slow
def test_what_accuracy_costs_where_valuations_are_unknown():
    found = quick_run("market-unknown-costs")
    ours = {quantity: each[1] for quantity, each in found.items()}
    assert ours["D at epsilon"] == pytest.approx(0.1171081, abs=5e-8)
    assert ours["n_e"] == pytest.approx(31.49978, abs=5e-6)
    assert ours["rho n_e, participants"] == pytest.approx(123.74256, abs=5e-6)
    assert ours["sd of ln C from which on the bound falls by 99%"] == pytest.approx(4.1057, abs=5e-5)
    for spread, few, many, fall in ((5, 1757.15, 6.4444, 0.9963), (1, 524.81, 170.95, 0.674)):
        name = f"sd of ln C = {spread}"
        assert ours[f"bound on the total, {name}, N = 200"] == pytest.approx(few, abs=5e-3)
        assert ours[f"bound on the total, {name}, N = 600"] == pytest.approx(many, rel=3e-5)
        assert ours[f"fall of the bound, {name}"] == pytest.approx(fall, abs=5e-4)
        for people in (200, 600):
            assert ours[f"exact total, {name}, N = {people}"] < ours[f"bound on the total, {name}, N = {people}"]
    # The one printed claim about totals, and Theorem 8's about the error.
    assert found["fall of the bound, sd of ln C = 5"][::2] == (0.99, "stands")
    assert found["fall of the bound, sd of ln C = 1"][::2] == (None, "not published")
    assert {each[2] for quantity, each in found.items() if quantity.startswith("error")} == {"stands"}
    for people, total, error in ((200, 438.718, 9.3e-11), (600, 133.843, 1.0e-9)):
        assert ours[f"exact total, sd of ln C = 1, N = {people}"] == pytest.approx(total, abs=5e-4)
        assert ours[f"error, sd of ln C = 1, N = {people}"] == pytest.approx(error, rel=0.05)
    plan = "plan by {}, sd of ln C = 1, N = 200, {} epsilon"
    assert ours[plan.format("thesis", "given")] == pytest.approx(438.7, abs=0.05)
    assert ours[plan.format("pgf", "best")] == pytest.approx(14.43, abs=0.005)
    assert ours[plan.format("exact", "best")] == pytest.approx(4.00, abs=0.005)
