"""Studies of private matchings, in quick runs; numbers of spec allocation, sections 3 and 4."""

from __future__ import annotations

import math

import pytest
from quick_runs import last_table, quick_run

from confide.evidence import study


def test_what_the_printed_noise_costs():
    found = quick_run("allocation-loss")
    # errata 1, 2 and 3; acceptance 6
    for name, ours in (("price streams of two neighbours apart, over T", 2.0),
                       ("prices and reports together, over 2T, at T = 8", 17 / 16),
                       ("the same for bundles, over 2T, at T = 10", 1.5)):
        assert found[f"{name}; the source: at most 1"] == (1.0, pytest.approx(ours), "differs")
    assert found["the same by the proof put right, n = 10^6, T = 800"][1] == pytest.approx(1601 * 30 / (1600 * 29.5754),
                                                                                           abs=1e-4)
    counted = "loss of PMatch with all blocks counted, T = {}, largest over n; the source: at most 1"
    assert [found[counted.format(rounds)][2] for rounds in (8, 12, 16, 32)] == ["differs", "stands", "stands", "stands"]
    for _, _, proof, matching, bundles in last_table("allocation-loss"):
        assert matching < min(proof, bundles)  # the product of two worst cases is never less


def test_from_where_on_theorems_say_anything():
    found = quick_run("allocation-vacuity")
    fewest = "fewest bidders of Theorem 4.3.5, alpha = {:g}, epsilon = {:g}"
    for alpha, epsilon, people in ((0.1, 1, 1.84e12), (0.5, 1, 7.56e9), (0.5, 10, 6.0e8), (0.9, 10, 7.3e7)):
        assert found[fewest.format(alpha, epsilon)][1] == pytest.approx(people, rel=4e-3)
    rows = {row[:2]: row[3] for row in last_table("allocation-vacuity")}
    assert rows[0.5, 1.0] == pytest.approx(5.0e9, rel=0.01)
    differs = [(each[1], each[0]) for each in found.values() if each[2] == "differs"]
    assert differs == [(pytest.approx(1.8e9, rel=0.01), 1e6), (pytest.approx(1.5, rel=1e-6), 1.0)]


@pytest.mark.slow
def test_from_the_printed_constants_to_one_that_works():
    found = quick_run("allocation-calibration")
    errors = [each[1] for name, each in found.items() if name.startswith("E: ")]
    assert len(errors) == 7
    assert errors[:6] == sorted(errors[:6], reverse=True)
    assert errors[1] > 1_600 > 2 * errors[2]  # nothing is left to sell, and something
    shares = [each[1] for name, each in found.items() if name.startswith("share")]
    assert len(shares) == 3
    assert 0.7 < shares[0] < shares[1] < shares[2] < 1.0


@pytest.mark.slow
def test_the_ladder():
    """Spec allocation 4: n = 10^6, k = 50, s = 16,000."""
    findings = study("allocation-calibration").run(False, None)
    rows = {row[0]: row[1:] for row in findings.blocks[-1].rows}
    ladder = list(rows.values())
    assert ladder[0][0] == pytest.approx(2.1e8, rel=0.02)  # the source's formula
    for (error, _, _), spec, within in zip(ladder[1:], (2.2e6, 1.7e4, 4785, 2104, 643), (0.2, 0.2, 0.25, 0.05, 0.05),
                                           strict=False):
        assert error == pytest.approx(spec, rel=within)  # exact errors; fewer blocks of a bidder's slots than 2Ch
    assert ladder[4][2] == pytest.approx(0.69, abs=0.02)  # .77 with a reserve that was sampled, not bounded
    assert ladder[6][1] == pytest.approx(648, rel=0.08)
    assert ladder[6][2] == pytest.approx(0.908, abs=0.01)
    assert ladder[7][2] == pytest.approx(0.944, abs=0.01)


@pytest.mark.slow
def test_what_supply_times_epsilon_is_worth():
    found = quick_run("allocation-supply")
    assert [each[2] for name, each in found.items() if name.startswith("exponent")] == ["stands", "stands"]
    for kind in ("A", "B"):
        for low, high in (("PMatch recommended", "SinkhornMatch"), ("PMatch recommended", "PMatch at its best")):
            for signal in ("800", "8,000"):
                of = f", s epsilon = {signal}, instance {kind}"
                assert found[f"share of the optimum, {low}{of}"][1] <= found[f"share of the optimum, {high}{of}"][1]
    assert all(row[-1] == 0.0 for row in last_table("allocation-supply"))


@pytest.mark.slow
def test_measured():
    found = quick_run("allocation-measured")
    assert {each[2] for each in found.values()} == {"stands", "not published"}
    for row in last_table("allocation-measured"):
        share, certified, reserved, held_back = row[2:6]
        assert certified < share
        assert reserved < share
        assert 0 < held_back < 800
        assert row[6] == 0.0
        assert not math.isnan(row[-1])


@pytest.mark.slow
def test_bundles():
    found = quick_run("allocation-bundles")
    assert [each[2] for each in found.values()][:2] == ["stands", "stands"]
    free = found["share of the optimum without noise"][1]
    low, high = (found[f"share of the optimum, s epsilon = {signal}"][1] for signal in ("2,400", "24,000"))
    assert 0.75 < low < high < free < 1.0
    assert all(row[8] < row[7] and row[9] == 0.0 for row in last_table("allocation-bundles"))
