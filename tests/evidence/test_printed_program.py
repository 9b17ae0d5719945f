"""The printed integer program, and its row of a parity (spec query_release E1, E3, acceptance 8, erratum 4)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cases import fast
from confide.contract import InvalidInput
from confide.evidence.wu_2017.query_release import PrintedIntegerProgram, row_defects
from confide.evidence.wu_2017.query_release.printed_program import MisprintedRows, PrintedRows
from confide.release.oracle import IntegerProgram, Terms, certified_bound, linear_bound
from confide.release.oracle.bounds import build, linear_duals, solve
from confide.release.oracle.terms import is_valid, repaired
from release.oracle_instances import brute_force, instance, product_rounds


@pytest.mark.parametrize("kind", ["conjunctions", "parities"])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("seeds", fast(1, [range(2), range(2, 60)]), ids=["few", "many"])
def test_the_printed_program_finds_the_optimum(kind: str, grouped: bool, seeds: range) -> None:
    """Cold, with HiGHS's own bound at the optimum, and the certified one not below it."""
    for seed in seeds:
        terms = instance(seed, kind=kind, grouped=grouped, most=9)
        best = int(brute_force(terms).max())
        start = repaired(terms, np.full(terms.attributes, False))
        solved = solve(build(terms, PrintedRows), start=start if seed % 2 else None, time_limit=60.0)
        assert solved.optimal
        assert solved.bound == pytest.approx(best, abs=0.99 + 1e-6)
        answer = PrintedIntegerProgram(search=None).solve(terms, (start,), seed)
        assert (answer.value, answer.timed_out) == (best, False)
        assert answer.upper_bound is not None
        assert answer.upper_bound >= best
        assert is_valid(terms, answer.record)


def test_nothing_drawn_and_nothing_to_choose() -> None:
    """No terms; a query without literals: the default record stands."""
    start = np.array([True, False])
    empty = Terms(kind="conjunctions", attributes=2, index=np.zeros((0, 3), int), bits=np.zeros((0, 3), bool),
                  weights=np.zeros(0, int), constant=4)
    never = Terms(kind="conjunctions", attributes=2, index=[[-1], [0]], bits=[[1], [0]], weights=[-2, 1],
                  constant=2, groups=([0],))
    for terms, value in ((empty, 4), (never, 0)):
        answer = PrintedIntegerProgram().solve(terms, (start,), 0)
        assert (answer.record.tolist(), answer.value, answer.upper_bound) == (start.tolist(), value, float(value))


def test_the_disaggregated_bound_is_the_better_one() -> None:
    """Spec, table of E2."""
    for terms, _ in product_rounds(200, 200, (1, 5, 20, 30), seed=4, queries=20_000).values():
        printed = build(terms, PrintedRows)
        loose, bound = certified_bound(printed, linear_duals(printed)[0]), linear_bound(terms)
        assert bound.value <= loose + Fraction(1, 2**10)
        assert loose - bound.value > 1


def test_the_printed_row_forbids_three_ones() -> None:
    """Acceptance 8, erratum 4: the defect list is exactly {(3, 3)} as printed, and empty as corrected."""
    assert row_defects(literal=True) == [(3, 3)]
    assert row_defects(literal=False) == []
    assert row_defects(literal=False, sizes=tuple(range(12))) == []


def test_the_printed_row_loses_records() -> None:
    """Three ones are best here; the printed program cannot say so, the corrected one does."""
    terms = Terms(kind="parities", attributes=3, index=[[0, -1, -1], [1, -1, -1], [2, -1, -1], [0, 1, 2]],
                  bits=np.ones((4, 3), dtype=bool), weights=[-2, -2, -2, 1], constant=6)
    best = max(terms.value(np.array([k >> i & 1 for i in range(3)], dtype=bool)) for k in range(8))
    corrected = solve(build(terms, PrintedRows), start=None, time_limit=60.0)
    literal = solve(build(terms, MisprintedRows), start=None, time_limit=60.0)
    assert corrected.record is not None
    assert corrected.record.tolist() == [True, True, True]
    assert terms.value(corrected.record) == best == 6
    assert literal.optimal
    assert literal.record is not None
    assert terms.value(literal.record) < best


def test_the_oracle_does_not_take_it() -> None:
    for word, given in (("literal", {"literal": True}), ("form", {"form": "printed"})):
        with pytest.raises(InvalidInput, match=rf"{word}: .* take confide\.evidence\..*\.PrintedIntegerProgram"):
            IntegerProgram(**given)
    with pytest.raises(InvalidInput, match="form"):
        PrintedIntegerProgram(form="disaggregated")
