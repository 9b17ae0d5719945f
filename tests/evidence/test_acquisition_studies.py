"""Studies of two-part contracts, in quick runs; numbers of spec two_part_acquisition, sections 3 to 12."""

from __future__ import annotations

import math

import pytest
from quick_runs import last_table, quick_run


def test_two_people():
    found = quick_run("acquisition-two-users")
    for gamma, cost, payments, mse, known in ((400, 55.249041, 19.291187, 0.08989463, 50.553089),
                                              (10, 6.434375, 2.961089, 0.34732857, 5.774580)):
        ours = [found[f"{words}, gamma = {gamma}"][1] for words in (
            "expected cost", "expected payments", "expected MSE", "cost under full information")]
        assert ours == pytest.approx([cost, payments, mse, known], abs=1e-6)
        assert found[f"largest relative difference to the solver, gamma = {gamma}"][1] < 1e-12
        assert found[f"expected cost of the optimum, beside pooling, gamma = {gamma}"][2] == "stands"
    table = {row[:3]: row[3:] for row in last_table("acquisition-two-users")}
    assert table[10.0, 0.5, 0.05][:3] == pytest.approx((4.0562, 0.9745, 1.9338), abs=5e-5)
    assert table[400.0, 0.5, 1.0][3] == 0  # no rent at the top


def test_heat_maps_of_two_people():
    for gamma, alone, drawn, *_ in last_table("acquisition-two-user-maps"):
        assert alone == pytest.approx(drawn, abs=0.03), gamma


def test_what_more_people_are_worth():
    found = quick_run("acquisition-scaling")
    for gamma, n, value in ((10, "1,000", 1.4950887429), (10000, "10,000", 32.1590970762)):
        assert found[f"cost, gamma = {gamma}, n = {n}"][1] == pytest.approx(value, rel=1e-9)
    assert found["slope of ln cost over ln n at the largest n, gamma = 10"][1] == pytest.approx(-0.25, abs=0.002)
    bought = {row[:2]: row[4] for row in last_table("acquisition-scaling")}
    assert (bought[10.0, 1000], bought[10.0, 10**4], bought[1e4, 1000]) == (55, 175, 95)


def test_what_two_guarantees_are_worth():
    found = quick_run("acquisition-comparison")
    assert {each[2] for quantity, each in found.items() if quantity.startswith("expected cost")} == {"stands"}
    assert found["price of private information, two people, gamma = 400"][1] == pytest.approx(4.695952, abs=2e-6)
    assert found["what two-part contracts save, two people, gamma = 400"][1] == pytest.approx(1.417626, abs=2e-6)


def test_the_printed_algorithm():
    found = quick_run("acquisition-as-printed")
    printed = [each for quantity, each in found.items() if quantity.startswith("cost by the printed")]
    optima = (1.6724843703511214, 2.001, 1.6435325714659)
    assert [each[0] for each in printed] == pytest.approx([1.01 * value for value in optima], rel=1e-10)
    assert [each[1] for each in printed] == pytest.approx([1.756937, 2.500375, -109.14], rel=1e-4)
    assert {each[2] for each in printed} == {"differs"}
    assert {each[2] for quantity, each in found.items() if quantity.startswith("cost by the repaired")} == {"stands"}


def test_what_local_losses_allow():
    found = quick_run("acquisition-minimax")
    assert {each[2] for each in found.values() if each[0] is not None} == {"stands"}
    assert found["c: least of minimax error over min(1, 1/sum)"][0] == pytest.approx(0.0727470883586658, rel=1e-14)
    assert found["largest ratio of the two where the sum is 1 or more"][0] == pytest.approx(10 * (math.e - 1))


def test_noise_on_the_published_mean():
    found = quick_run("acquisition-central-noise")
    name = "cost added by noise of 1/epsilon = e^{}, psi = (.3, 1.7)"
    assert found[name.format(-3)][1] == pytest.approx(0.0976, abs=5e-5)
    assert found[name.format(-12)][1] == pytest.approx(1.2e-5, abs=5e-7)
    assert {each[2] for each in found.values()} == {"stands"}
    for _, _, forced, moved, least in last_table("acquisition-central-noise"):
        assert least < moved < forced
