"""Floors on the error of private mechanisms: their numbers, their proofs on small cases, and what they exclude."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from confide.contract.errors import InvalidInput, SolverFailed
from confide.evidence.wu_2017.private_matchings.lower_bounds import (
    SpyProgram,
    allocation_floor,
    least_supply,
    price_floor,
    printed_supply_floor,
    reconstruction_floor,
    supply_floor,
)


def test_the_published_numbers() -> None:
    assert reconstruction_floor(0.1, 0.1, 0.01).least == pytest.approx(0.421736, abs=5e-7)
    assert reconstruction_floor(1.0).least == pytest.approx(0.268941, abs=5e-7)
    for s in (1, 2, 5, 50):
        assert printed_supply_floor(s).least == float(Fraction(1, 16 * s * (s + 1)))
    assert allocation_floor(0.7, 1e-3, 0.02).least == reconstruction_floor(0.7, 1e-3, 0.02).least
    grouped = reconstruction_floor(1.4, 1e-3 * (1 + math.exp(0.7)), 0.02)
    assert price_floor(0.7, 1e-3, 0.02).least == pytest.approx(grouped.least / 2, rel=1e-15)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 2.0, 8.0])
def test_randomised_response_attains_the_reconstruction_floor(epsilon: float) -> None:
    """It misses each bit with probability 1/(1 + e^epsilon), and its largest ratio is e^epsilon."""
    assert reconstruction_floor(epsilon).least == pytest.approx(1 / (1 + math.exp(epsilon)), rel=1e-12)


def test_no_private_guess_of_three_bits_is_below_the_floor() -> None:
    """The best private mechanism on {0, 1}^3, by a linear program over all of them: error against Q."""
    points = np.array(list(product((0, 1), repeat=3)))
    apart = np.abs(points[:, None] - points[None]).sum(axis=2)
    for epsilon in (0.3, 1.0):
        size = 64  # P[output y | data x] at 8 x + y, then the worst error
        rows, least = [], []
        for x, z in zip(*np.nonzero(apart == 1), strict=True):
            for y in range(8):
                row = np.zeros(size + 1)
                row[8 * x + y], row[8 * z + y] = 1.0, -math.exp(epsilon)
                rows.append(row)
                least.append(0.0)
        for x in range(8):
            row = np.zeros(size + 1)
            row[8 * x: 8 * x + 8], row[size] = apart[x] / 3, -1.0
            rows.append(row)
            least.append(0.0)
        sums = np.hstack([np.kron(np.eye(8), np.ones(8)), np.zeros((8, 1))])
        found = linprog(np.eye(size + 1)[size], np.array(rows), least, sums, np.ones(8))
        assert found.fun == pytest.approx(reconstruction_floor(epsilon).least, abs=1e-7)


@pytest.mark.parametrize("supply", [1, 2, 5, 50])
def test_the_printed_program_is_solved_exactly(supply: int) -> None:
    program = SpyProgram(supply=supply)
    assert program.certified(*program.printed) == program.solved() == Fraction(159, 256)
    rows = program.rows
    found = linprog([float(c) for c in program.cost], [[-float(x) for x in row] for row, _ in rows],
                    [-float(least) for _, least in rows])
    assert found.fun == pytest.approx(159 / 256, abs=1e-9)


def test_certificates_that_are_none() -> None:
    program = SpyProgram(supply=2)
    primal, dual = program.printed
    worse = (Fraction(1, 2), Fraction(0), Fraction(1, 2), Fraction(0), Fraction(1, 2))  # feasible, not best
    for pair in ((primal, (*dual[:-1], Fraction(0))), (worse, dual), ((*primal[:-1], Fraction(1)), dual)):
        with pytest.raises(SolverFailed):
            program.certified(*pair)
    with pytest.raises(SolverFailed):
        SpyProgram(supply=2, slack=Fraction(0), drift=Fraction(0)).certified(*program.printed)


@pytest.mark.parametrize("supply", [1, 2, 7])
def test_spies_worth_a_half_make_the_bound_sharper(supply: int) -> None:
    """Without drift the program says 3/4 - slack there, and 3/4 - slack/(2 eta) for the printed worth."""
    slack = Fraction(1, 20)
    half = SpyProgram(supply=supply, worth=Fraction(1, 2), slack=slack, drift=Fraction(0))
    assert half.solved() == Fraction(3, 4) - slack
    printed = SpyProgram(supply=supply, slack=slack, drift=Fraction(0))
    assert printed.solved() == max(Fraction(1, 2) - (slack - Fraction(1, 8 * supply)) / (2 - Fraction(1, 2 * supply)),
                                   Fraction(3, 4) - slack * 2 * supply)
    ours, theirs = supply_floor(supply, 0.1, 0.1, 0.01), printed_supply_floor(supply)
    assert ours.least > 2.6 * supply * theirs.least


@pytest.mark.parametrize("supply", [1, 2, 3])
def test_no_allocation_of_a_gadget_is_outside_the_program(supply: int) -> None:
    """All allocations of one gadget: what lowers the spies' guess costs as much welfare."""
    for agrees in (True, False):
        best, started = 1 + (supply - agrees) / 2, (0.5 if agrees else 1.0)
        for held in product((-1, 0, 1), repeat=supply + 1):  # the real bidder wants 1, the spies 1 if they agree
            if held.count(0) > supply or held.count(1) > supply:
                continue
            welfare = (held[0] == 1) + sum(good == agrees for good in held[1:]) / 2
            spies = set(held[1:])
            right = 0.5 if len(spies) > 1 or -1 in spies else float(spies == {0})
            assert welfare <= best
            assert right >= started - (best - welfare)


def test_floors_that_say_nothing() -> None:
    for floor in (reconstruction_floor(1.0, 0.9, 0.1), price_floor(3.0, 0.0, 0.5), price_floor(800.0, 1e-3),
                  allocation_floor(2.0, 0.0, 0.9), supply_floor(3, 1.1), supply_floor(3, 0.5, 0.0, 0.2)):
        assert floor.vacuous
        assert floor.least <= 0
    assert not supply_floor(3, 1.09).vacuous  # e^epsilon/(1 + e^epsilon) = 3/4 at ln 3
    assert least_supply(0.5, 0.1) == least_supply(0.01, 2.0) == 1


@pytest.mark.parametrize("loss", [0.3, 0.07, 1e-3, 1e-5])
def test_the_least_supply_is_where_the_floor_meets_the_loss(loss: float) -> None:
    found = least_supply(loss, 0.2, 1e-6, 0.01)
    assert supply_floor(found, 0.2, 1e-6, 0.01).least <= loss
    assert found == 1 or supply_floor(found - 1, 0.2, 1e-6, 0.01).least > loss


@pytest.mark.parametrize(("call", "field"), [
    (lambda: reconstruction_floor(0.0), "epsilon"), (lambda: reconstruction_floor(math.nan), "epsilon"),
    (lambda: allocation_floor(1.0, 1.0), "delta"), (lambda: price_floor(1.0, 0.0, 1.0), "failure_probability"),
    (lambda: price_floor(1.0, -0.1), "delta"), (lambda: supply_floor(0, 0.1), "supply"),
    (lambda: supply_floor(1, 0.1, 0.0, -0.1), "failure_probability"), (lambda: printed_supply_floor(1, 0.11),
                                                                       "epsilon"),
    (lambda: printed_supply_floor(1, 0.1, 0.2), "delta"), (lambda: printed_supply_floor(1, 0.1, 0.1, 0.02),
                                                           "failure_probability"),
    (lambda: printed_supply_floor(0), "supply"), (lambda: least_supply(0.0, 0.1), "loss"),
    (lambda: SpyProgram(supply=0), "supply"), (lambda: SpyProgram(supply=1, worth=Fraction(1)), "worth"),
    (lambda: SpyProgram(supply=1, slack=Fraction(-1)), "slack"),
    (lambda: SpyProgram(supply=1, drift=Fraction(1, 2)), "drift"),
])
def test_numbers_out_of_range(call: object, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        call()  # type: ignore[operator]
    assert caught.value.field == field
