"""Certified bounds by weak duality, and the rows of parities (spec query_release E2.4, E3, acceptance 8)."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle_instances import brute_force, instance, product_rounds

from confide.contract.errors import InvalidInput
from confide.release.oracle import (
    LocalSearch,
    Terms,
    all_on_from_parities,
    certified_bound,
    linear_bound,
    parity_row,
    upper_bound,
)
from confide.release.oracle.bounds import build

kinds = st.sampled_from(["conjunctions", "parities"])


@given(st.integers(0, 10**6), kinds, st.booleans())
def test_the_bound_is_never_below_the_optimum(seed: int, kind: str, grouped: bool) -> None:
    terms = instance(seed, kind=kind, grouped=grouped, most=8)
    bound = linear_bound(terms)
    assert brute_force(terms).max() <= bound.clauses <= terms.clauses
    assert upper_bound(terms) == bound.clauses


@given(st.integers(0, 10**6), kinds, st.booleans(), st.data())
def test_any_multipliers_make_a_bound(seed: int, kind: str, grouped: bool, data: st.DataObject) -> None:
    """Negative ones, huge ones, none at all, not a number: all valid, whatever a solver returns."""
    terms = instance(seed, kind=kind, grouped=grouped, most=7)
    program = build(terms)
    some = data.draw(st.lists(st.one_of(st.floats(), st.floats(0, 3)), min_size=1, max_size=20))
    multipliers = np.resize(np.array(some), program.upper.size)
    assert certified_bound(program, multipliers) >= brute_force(terms).max()


@given(st.integers(0, 10**6), kinds, st.booleans())
def test_the_bound_is_the_sum_of_weak_duality(seed: int, kind: str, grouped: bool) -> None:
    """The arithmetic, once more, in fractions."""
    terms = instance(seed, kind=kind, grouped=grouped, most=7)
    program = build(terms)
    g = np.random.Generator(np.random.PCG64(seed))
    duals = np.rint(g.random(program.upper.size) * 64) / 64
    reduced = [Fraction(int(c)) for c in program.cost]
    total = Fraction(program.shift)
    for row, y in enumerate(duals.tolist()):
        total += Fraction(y) * int(program.upper[row])
        for k in range(program.starts[row], program.starts[row + 1]):
            reduced[program.columns[k]] -= Fraction(y) * int(program.values[k])
    total += sum(max(c, Fraction(0)) * int(u) for c, u in zip(reduced, program.top, strict=True))
    assert certified_bound(program, duals) == total


def test_huge_weights_do_not_overflow() -> None:
    """Coarser multipliers, or none, and still a bound."""
    for weight in (2**20, 2**30, 2**38):
        terms = Terms(kind="conjunctions", attributes=6, index=[[0, 1, 2], [2, 3, 4], [0, 4, 5]],
                      bits=[[1, 1, 0], [1, 1, 1], [0, 1, 0]], weights=[weight, -weight, weight], constant=weight)
        bound = linear_bound(terms)
        assert bound.value >= brute_force(terms).max() == LocalSearch().solve(terms, (np.zeros(6, bool),), 0).value
        assert bound.value <= terms.clauses


def test_many_queries_of_huge_weight_have_the_trivial_bound() -> None:
    terms = Terms(kind="conjunctions", attributes=10, index=np.tile([[0, 1, 2]], (64, 1)), bits=np.ones((64, 3), bool),
                  weights=np.full(64, 2**34))
    program = build(terms)
    wide = program._replace(cost=program.cost << 24, values=program.values << 16)
    assert certified_bound(wide, np.ones(program.upper.size)) == int(wide.cost.astype(object).sum())


def test_a_wrong_number_of_duals_is_refused() -> None:
    program = build(instance(1))
    with pytest.raises(InvalidInput, match="duals"):
        certified_bound(program, np.zeros(program.upper.size + 1))
    with pytest.raises(InvalidInput, match="time_limit"):
        upper_bound(instance(1), 0.0)


def test_the_bound_is_often_the_optimum() -> None:
    """The later rounds of the game are proved in milliseconds (spec, table of E2)."""
    tight = 0
    for t, (terms, start) in product_rounds(200, 200, (1, 5, 20, 30), seed=4, queries=20_000).items():
        value, bound = LocalSearch().solve(terms, start, t).value, linear_bound(terms)
        assert value <= bound.clauses <= bound.value
        tight += value == bound.clauses
    assert tight >= 1


def test_a_search_that_knows_the_bound_stops_there() -> None:
    """Certified, an answer that reaches its bound is optimal, and found in the first flips."""
    terms, start = product_rounds(200, 200, (30,), seed=4, queries=20_000)[30]
    answer = LocalSearch(certify=True, flips_per_variable=2000).solve(terms, start, 1)
    assert answer.gap == 0.0
    assert answer.value == terms.value(answer.record)


def test_a_bound_cut_short_is_a_bound() -> None:
    terms = product_rounds(300, 1500, (1,), seed=2, queries=20_000)[1].terms
    short, whole = linear_bound(terms, 1e-6), linear_bound(terms)
    assert short.timed_out
    assert not whole.timed_out
    assert whole.value <= short.value <= terms.clauses


# ---- parities


def test_wide_parities_count_their_pairs() -> None:
    assert parity_row(7, positive=True).most == 3
    with pytest.raises(InvalidInput):
        parity_row(-1, positive=True)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_marginals_follow_from_parities(size: int) -> None:
    """Erratum 5: with the signs the sum is the all-on cell, without them the all-off one; p of nothing is exact."""
    for ones in product([0, 1], repeat=size):
        def parity(subset: tuple[int, ...], ones: tuple[int, ...] = ones) -> int:
            return math.prod(1 - 2 * ones[i] for i in subset)

        def unsigned(subset: tuple[int, ...], ones: tuple[int, ...] = ones) -> int:
            return (-1) ** len(subset) * math.prod(1 - 2 * ones[i] for i in subset)

        assert all_on_from_parities(size, parity) == all(ones)
        assert all_on_from_parities(size, unsigned) == (not any(ones))
    worst = all_on_from_parities(size, lambda subset: (-1) ** len(subset) * 0.125) - 2.0**-size
    assert worst == pytest.approx((1 - 2.0**-size) * 0.125)
