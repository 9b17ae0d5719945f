"""The parts of MarginalFit one by one: the ledger, scores, targets, raking, Gibbs draws, public draws, populations."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import fast
from confide.contract import InvalidInput, Refused
from confide.privacy.accounting import Accountant
from confide.privacy.events import ZCDPEvent
from confide.privacy.noise.simulated import study_generator
from confide.release import MarginalFit, Schema, Workload
from confide.release.marginal_fit import MeasuredTables
from confide.release.marginal_fit.candidates import (
    SENSITIVITY,
    UNITS,
    Candidates,
    Counter,
    count_cells,
    penalty_of,
    scores,
    true_tables,
    whole_weights,
)
from confide.release.marginal_fit.fitted_marginals import equal_rows, merged
from confide.release.marginal_fit.measured import RawTable, consistent, simplex
from confide.release.marginal_fit.model import (
    cells_of,
    effective_size,
    gibbs,
    key_of,
    normals,
    permutation,
    rake,
    resample,
    uniform,
    uniforms,
)
from confide.release.marginal_fit.plan import (
    Choice,
    check_columns,
    choose,
    chosen_split,
    most_tables,
    open_events,
    shares_after,
    split,
    usual_tables,
)

SIZES = (2, 3, 2)
ALL = Candidates.of(SIZES, (2, 3), 20)


def exact_table(rows: np.ndarray, columns: tuple[int, ...], sizes: tuple[int, ...]) -> np.ndarray:
    """Counts by a loop over rows."""
    table = np.zeros([sizes[j] for j in columns], dtype=np.int64)
    for row in rows:
        table[tuple(row[j] for j in columns)] += 1
    return table


# ---- the ledger


@given(rho=st.floats(1e-6, 1e3), columns=st.integers(1, 300), tables=st.integers(0, 2400),
       shares=st.tuples(st.floats(0.01, 0.5), st.floats(0.01, 0.45)))
def test_the_ledger_is_rho_and_never_more(rho: float, columns: int, tables: int, shares: tuple[float, float]) -> None:
    spent = Accountant(split(rho, columns, tables, *shares).events()).rho()
    assert spent == pytest.approx(rho, rel=1e-12)
    assert spent <= rho * (1 + 1e-15)


def test_noise_is_what_the_spec_says() -> None:
    it = split(0.5, 15, 30, 0.1, 0.1)
    assert it.one_way == pytest.approx((15 / (0.1 * 0.5)) ** 0.5)
    assert it.sigma == pytest.approx((30 / (0.8 * 0.5)) ** 0.5)
    assert it.epsilon == pytest.approx((8 * 0.1 * 0.5 / 30) ** 0.5)
    assert split(0.5, 15, 0, 0.1, 0.1).one_way == pytest.approx((15 / 0.5) ** 0.5)


def test_columns_beyond_the_limits_are_refused_by_name() -> None:
    assert check_columns((2,) * 60, (2, 3)) == 60
    assert check_columns((2,) * 500 + (1,) * 9, (2,)) == 500
    with pytest.raises(Refused, match=r"triples of 61 columns.*widths=\(2,\)"):
        check_columns((2,) * 61, (2, 3))
    with pytest.raises(Refused, match=r"triples of 501 columns.*DualQuery"):
        check_columns((2,) * 501, (3,))
    with pytest.raises(Refused, match=r"pairs of 501 columns.*DualQuery"):
        check_columns((2,) * 501, (2,))
    with pytest.raises(InvalidInput, match="schema"):
        check_columns((1, 1), (2,))


def test_small_columns_get_more_tables() -> None:
    assert usual_tables((2, 4, 1, 3), 1000) == 24
    assert usual_tables((2, 5, 1, 3), 1000) == 6
    assert usual_tables((2, 5, 1, 3), 4) == 4
    assert (most_tables((2, 4, 1, 3), 1000), most_tables((2, 5, 1, 3), 1000)) == (24, 12)
    assert most_tables((3,), 0) == 0


@given(st.floats(1e-6, 1e3), st.integers(1, 60), st.integers(0, 480), st.integers(1, 31))
@settings(max_examples=25, deadline=None)
def test_what_follows_never_costs_more_than_was_charged(rho: float, columns: int, tables: int, part: int) -> None:
    """Whatever is chosen after the first tables, in exact fractions; and next to nothing is left over."""
    choice = Choice(tables, max(0.1, part / 32))
    found, stated = chosen_split(rho, columns, 0.1, 0.1, choice), open_events(rho, 0.1)
    spent = [Fraction(0), Fraction(0)]
    spent[0] += columns / Fraction(found.one_way) ** 2
    if found.again:
        spent[1] += columns / Fraction(found.again) ** 2
    if tables:
        spent[1] += tables / Fraction(found.sigma) ** 2 + tables * Fraction(found.epsilon) ** 2 / 8
    for each, event in zip(spent, stated, strict=True):
        assert isinstance(event, ZCDPEvent)
        assert (1 - 1e-9) * event.rho <= each <= event.rho
    assert Fraction(stated[0].rho) + Fraction(stated[1].rho) <= Fraction(rho) * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize("percent", fast(11, [*range(2, 90, 8), *(k for k in range(2, 90) if k % 8 != 2)]))
def test_a_second_round_is_paid_for_or_not_made(percent: int) -> None:
    """Where the run keeps f1 nothing is left for a second round, however f1 is written in binary; and noise is never
    louder than what the plan was checked for.
    """
    one_way = percent / 100
    kept = chosen_split(0.05, 6, one_way, 0.05, Choice(12, one_way))
    assert kept.again == 0.0
    fit = MarginalFit(records=20_000, schema=Schema.bits(6), rho=0.05, one_way=one_way, selection=0.05)
    for choice in (Choice(12, share) for share in shares_after(one_way)):
        found = chosen_split(0.05, 6, one_way, 0.05, choice)
        assert found.again < 1e5
        assert max(found.again, chosen_split(0.05, 6, one_way, 0.05, Choice(1, choice.one_way)).sigma) <= fit._loudest


def laws(sizes: tuple[int, ...]) -> dict[tuple[int, ...], np.ndarray]:
    return {(j,): np.full(size, 1 / size) for j, size in enumerate(sizes)}


def test_tables_are_as_many_as_their_noise_is_small() -> None:
    """T falls and the share of the one-way tables rises as noise does; without a candidate there is no table."""
    sizes = (3, 4, 6, 2, 5)
    candidates = Candidates.of(sizes, (2, 3), 1000)
    found = [choose(laws(sizes), candidates, sizes=sizes, n=n, rho=0.1, one_way=0.1, selection=0.1, seed=0)
             for n in (10, 100, 300, 1000, 3000, 10_000, 10**6)]
    tables, shares = [each.tables for each in found], [each.one_way for each in found]
    assert tables == sorted(tables)
    assert shares == sorted(shares, reverse=True)
    assert found[0] == Choice(0, 1.0)
    assert (tables[-1], shares[-1]) == (20, 0.15625)
    assert 2 in tables
    assert 10 in tables
    lone = choose(laws((3,)), Candidates.of((3,), (2,), 100), sizes=(3,), n=10**6, rho=1.0, one_way=0.1, selection=0.1,
                  seed=0)
    assert lone == Choice(0, 1.0)


# ---- candidates and scores


def test_candidates_are_all_small_sets_in_order() -> None:
    assert [ALL.columns(at) for at in range(len(ALL))] == [(0, 1), (0, 1, 2), (0, 2), (1, 2)]
    assert [Candidates.of(SIZES, (2, 3), 6).columns(at) for at in range(3)] == [(0, 1), (0, 2), (1, 2)]
    assert len(Candidates.of((2, 1, 2), (2, 3), 100)) == 1
    assert ALL.overlap(0).tolist() == [2, 2, 1, 1]


@given(st.integers(0, 2**32))
@settings(max_examples=20)
def test_counts_of_all_candidates(seed: int) -> None:
    draw = study_generator(seed, "counts")
    rows = np.stack([draw.integers(0, size, 31) for size in SIZES], axis=1).astype(np.uint16)
    weights = draw.integers(0, 9, 31)
    out = np.empty(int(ALL.starts[-1]), dtype=np.int64)
    count_cells(np.ascontiguousarray(rows.T), weights, ALL.members, ALL.starts, np.array(SIZES), out)
    repeated = np.repeat(rows, weights, axis=0)
    for at in range(len(ALL)):
        exact = exact_table(repeated, ALL.columns(at), SIZES)
        assert out[ALL.starts[at] : ALL.starts[at + 1]].tolist() == exact.reshape(-1).tolist()


@pytest.mark.slow
@given(st.integers(0, 2**32))
@settings(max_examples=4)
def test_a_replaced_record_moves_no_score_by_more_than_two_counts(seed: int) -> None:
    """Brute force: every record of a small data set by every possible one, against a random model."""
    draw, n = study_generator(seed, "scores"), 5
    universe = np.array([(a, b, c) for a in range(2) for b in range(3) for c in range(2)], dtype=np.uint16)
    data = universe[draw.integers(0, len(universe), n)]
    model, weights = universe, whole_weights(draw.dirichlet(np.full(len(universe), 0.3)), n)
    sizes = np.array(SIZES, dtype=np.int64)

    def reported(records: np.ndarray) -> np.ndarray:
        true = true_tables(np.ascontiguousarray(records.T), np.ones(n, dtype=np.int64), ALL, sizes)
        return scores(np.ascontiguousarray(model.T), weights, ALL, sizes, true, n, 3.0, 0, 1)

    before, largest = reported(data), 0
    for at in range(n):
        for record in universe:
            other = data.copy()
            other[at] = record
            largest = max(largest, int(np.abs(reported(other) - before).max()))
    assert largest <= SENSITIVITY == 2 << UNITS


def test_the_sensitivity_is_attained() -> None:
    sizes, members = np.array((2, 2), dtype=np.int64), Candidates.of((2, 2), (2,), 4)
    model = np.array([[0], [0]], dtype=np.uint16)

    def reported(records: list[list[int]]) -> int:
        true = true_tables(np.array(records, dtype=np.uint16), np.ones(2, dtype=np.int64), members, sizes)
        return int(scores(model, whole_weights(np.ones(1), 2), members, sizes, true, 2, 1.0, 0, 0)[0])

    assert reported([[0, 1], [0, 1]]) - reported([[0, 0], [0, 0]]) == SENSITIVITY


def test_two_cells_of_a_table_move_by_one() -> None:
    rows = np.array([[0, 0, 0], [1, 2, 1], [1, 1, 0]])
    other = rows.copy()
    other[0] = (1, 0, 1)
    for width in (1, 2, 3):
        for columns in combinations(range(3), width):
            moved = exact_table(rows, columns, SIZES) - exact_table(other, columns, SIZES)
            assert (moved**2).sum() <= 2


def test_the_penalty_is_the_noise_that_projection_leaves() -> None:
    model = np.array([50, 30, 20, 0], dtype=np.int64)
    noise = normals(key_of(3, "noise"), 64)
    p = model / 100.0
    assert penalty_of(model, 100.0, 0.1, noise, 62) == pytest.approx(
        np.abs(simplex(p + 0.1 * np.concatenate([noise[62:], noise[:2]])) - p).sum())
    assert penalty_of(model, 100.0, 0.0, noise, 0) == pytest.approx(0.0, abs=1e-15)


# ---- targets


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=40))
def test_projection_is_the_nearest_distribution(values: list[float]) -> None:
    v = np.array(values)
    found = simplex(v)
    assert found.sum() == pytest.approx(1.0)
    assert found.min() >= 0.0
    ordered = np.sort(v)[::-1]  # by sorting, as textbooks do
    thresholds = (np.cumsum(ordered) - 1.0) / np.arange(1, len(v) + 1)
    threshold = thresholds[np.flatnonzero(ordered > thresholds)[-1]]
    np.testing.assert_allclose(found, np.maximum(v - threshold, 0.0), atol=1e-12)


def test_targets_of_exact_tables_are_nearly_the_truth() -> None:
    draw = study_generator(1, "targets")
    rows = np.stack([draw.integers(0, size, 900) for size in SIZES], axis=1)
    rows[:, 2] = rows[:, 0]
    raw = [RawTable(columns, exact_table(rows, columns, SIZES), 1.0) for columns in ((0,), (1,), (2,), (0, 1, 2))]
    targets = consistent(raw, 900)
    assert set(targets) == {(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)}
    for columns, target in targets.items():
        exact = exact_table(rows, columns, SIZES) / 900
        assert np.abs(target - exact).sum() <= (1e-12 if len(columns) == 1 else 0.03)


def test_targets_weigh_tables_by_their_noise() -> None:
    """Two columns of 2 cells: the pair's margin has variance 2 sigma^2, the lone table's sigma_1^2."""
    raw = [RawTable((0,), np.array([60, 40]), 2.0), RawTable((1,), np.array([50, 50]), 2.0),
           RawTable((0, 1), np.array([[40, 30], [15, 15]]), 1.0)]
    weight = (1 / 4, 1 / 2)
    assert consistent(raw, 100)[(0,)][0] == pytest.approx((60 * weight[0] + 70 * weight[1]) / sum(weight) / 100)


def test_a_margin_is_never_asked_of_cells_that_are_all_empty() -> None:
    """Noise can empty a row of a table that other tables fill; a fit to it would put the mass elsewhere."""
    raw = [RawTable((0,), np.array([90, 10]), 0.1), RawTable((1,), np.array([50, 50]), 0.1),
           RawTable((0, 1), np.array([[48, 52], [-20, -20]]), 5.0)]
    pair = consistent(raw, 100)[(0, 1)]
    np.testing.assert_allclose(pair.sum(axis=1), [0.9, 0.1], atol=2e-3)
    np.testing.assert_allclose(pair.sum(axis=0), [0.5, 0.5], atol=2e-3)


# ---- raking, resampling, Gibbs draws


def test_raking_keeps_weights_in_proportion_to_the_factors() -> None:
    rows = np.array([(a, b) for a in range(2) for b in range(3)] * 5, dtype=np.uint16)
    cells, columns = np.empty((2, len(rows)), dtype=np.uint16), np.ascontiguousarray(rows.T)
    members, strides = np.array([[0, 1, 0], [0, 0, 0]]), np.array([[3, 1, 0], [1, 0, 0]])
    for table in range(2):
        cells_of(columns, members, strides, table, cells[table])
    assert cells[0].tolist() == (rows[:, 0] * 3 + rows[:, 1]).tolist()
    targets = np.concatenate([simplex(np.arange(6) / 10.0), [0.35, 0.65]])
    targets[6] = targets[:3].sum()
    targets[7] = targets[3:6].sum()
    psi, weights = np.ones(8), np.full(len(rows), 1 / len(rows))
    misfit, size = rake(columns, members, strides, np.array([0, 6, 8]), targets, psi, weights, 60, 1 / len(rows), 4.0,
                        0.0)
    assert misfit < 5e-3  # a cell of target 0 empties slowly
    assert size == pytest.approx(effective_size(weights))
    assert weights.sum() == pytest.approx(1.0)
    product = psi[cells[0]] * psi[6 + cells[1]]
    np.testing.assert_allclose(weights, product / product.sum(), rtol=1e-10)


def test_raking_stops_when_few_rows_carry_all() -> None:
    columns = (np.arange(100)[None, :] == 0).astype(np.uint16)
    weights = np.full(100, 0.01)
    _, size = rake(columns, np.array([[0, 0, 0]]), np.array([[1, 0, 0]]), np.array([0, 2]), np.array([0.0, 1.0]),
                   np.ones(2), weights, 50, 0.01, 4.0, 30.0)
    assert size < 30.0
    assert weights[1] > 1e-4  # two sweeps, not fifty


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30).filter(lambda w: sum(w) > 1e-3), st.floats(0, 0.999))
def test_resampling_is_systematic(weights: list[float], start: float) -> None:
    w = np.array(weights) / sum(weights)
    rows, out = np.arange(len(w), dtype=np.uint16)[:, None], np.empty((50, 1), dtype=np.uint16)
    resample(rows, w, start, out)
    counts = np.bincount(out[:, 0], minlength=len(w))
    assert np.all(np.abs(counts - 50 * w) <= 1 + 1e-9)


def test_gibbs_draws_follow_the_product_of_the_factors() -> None:
    """From independent starts one sweep of a two-column product law: the second column's conditional, and repeats."""
    sizes, rows_count = np.array([2, 3]), 30_000
    pair = np.array([[1.0, 2.0, 3.0], [6.0, 1.0, 1.0]])
    lone = np.array([2.0, 1.0])
    factors = np.concatenate([[lone[1] / lone[0]], pair[1] / pair[0], pair.reshape(-1)])  # two cells: quotients
    starts, places = np.array([0, 2, 3]), np.array([0, 1, 4])
    partners, strides = np.array([[0, 0], [1, 1], [0, 0]]), np.array([[0, 0], [1, 0], [3, 0]])
    rows = np.zeros((rows_count, 2), dtype=np.uint16)
    for sweep in range(4):
        gibbs(rows, 0, 1, rows_count, sizes, starts, places, partners, strides, factors, key_of(5, "gibbs", sweep))
    law = lone[:, None] * pair
    law /= law.sum()
    found = exact_table(rows, (0, 1), (2, 3)) / rows_count
    assert np.abs(found - law).max() < 5 * np.sqrt(law.max() / rows_count)  # a fixed seed: nothing random is left
    other = np.zeros((rows_count, 2), dtype=np.uint16)
    for sweep in range(4):
        for first in range(0, rows_count, 10_000):  # in stretches, as threads would
            gibbs(other, first, 1, first + 10_000, sizes, starts, places, partners, strides, factors,
                  key_of(5, "gibbs", sweep))
    assert np.array_equal(rows, other)


def test_public_randomness() -> None:
    key = key_of(7, "test")
    found = uniforms(key, 4096)
    assert [uniform(key, np.uint64(i)) for i in range(5)] == found[:5].tolist()
    assert found[0] == pytest.approx(uniform(key, np.uint64(0)))
    counts = np.bincount((found * 16).astype(int), minlength=16)
    assert ((counts - 256) ** 2 / 256).sum() < 45  # chi-square of 15 degrees; the seed is fixed
    assert sorted(permutation(key, 100).tolist()) == list(range(100))
    draws = normals(key, 4096)
    assert abs(draws.mean()) < 0.06
    assert abs(draws.std() - 1) < 0.05


# ---- populations and released tables


def test_equal_rows_go_together_whatever_the_number_of_columns() -> None:
    draw = study_generator(2, "merge")
    rows = draw.integers(0, 2, (500, 80)).astype(np.uint16)
    rows[250:] = rows[:250]
    weights = draw.dirichlet(np.ones(500))
    weights[[3, 253]] = 0.0
    cells, sums = merged(rows, weights / weights.sum(), (2,) * 70 + (5000,) * 10)
    kept, place = np.unique(np.delete(rows[:250], 3, axis=0), axis=0, return_inverse=True)
    assert np.array_equal(cells, kept)
    expected = np.bincount(place.reshape(-1), weights=np.delete((weights[:250] + weights[250:]) / weights.sum(), 3))
    np.testing.assert_allclose(sums, expected, rtol=1e-9)


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=20), st.integers(1, 60))
def test_equal_rows_stand_for_the_weights(weights: list[float], count: int) -> None:
    w = np.array(weights) / sum(weights)
    found = equal_rows(np.arange(len(w), dtype=np.uint16)[:, None], w, count)
    below = np.searchsorted(found[:, 0], np.arange(1, len(w) + 1))
    assert len(found) == count
    assert np.all(np.abs(below - count * np.cumsum(w)) <= 1)


def test_measured_tables_speak_for_themselves() -> None:
    """Exact counts as measurements: covered queries get the exact answer, by the fewer cells."""
    schema, draw = Schema.bits(4), study_generator(3, "estimates")
    rows = draw.integers(0, 2, (70, 4))
    raw = [RawTable(columns, exact_table(rows, columns, (2,) * 4), sigma)
           for columns, sigma in (((0,), 2.0), ((1,), 2.0), ((2,), 2.0), ((3,), 2.0), ((0, 1, 2), 1.0))]
    tables = MeasuredTables.of(raw)
    workload = Workload.conjunctions([[0, -1, -1], [0, 1, -1], [0, 1, 2], [0, 1, 3]],
                                     [[True] * 3, [False, True, True], [True] * 3, [True] * 3], attributes=4)
    counts, deviations = tables.estimates(schema, workload, 70)
    for k in range(len(workload)):
        asked = [(a, b) for a, b in zip(workload.index[k].tolist(), workload.bits[k].tolist(), strict=True) if a >= 0]
        exact = np.all([rows[:, a] == b for a, b in asked], axis=0).sum()
        names = {a for a, _ in asked}
        if 3 in names:
            assert np.isnan(counts[k])
            assert np.isinf(deviations[k])
        else:
            assert counts[k] == exact
            assert deviations[k] == pytest.approx({1: 2.0, 2: 2**0.5, 3: 1.0}[len(names)])


def test_measured_tables_refuse_what_does_not_fit() -> None:
    good = {"members": np.array([[0, -1, -1]]), "noise_stds": np.ones(1), "counts": np.zeros(2, dtype=np.int64)}
    assert len(MeasuredTables(**good)) == 1
    for name, wrong in (("members", np.zeros((1, 2), np.int64)), ("noise_stds", np.zeros(1)),
                        ("counts", np.zeros(2)), ("noise_stds", np.ones(2))):
        with pytest.raises(InvalidInput, match=name):
            MeasuredTables(**{**good, name: wrong})
    for members, sizes in (([[0, -1, -1]], (3,)), ([[1, -1, -1]], (2,)), ([[-1, 0, -1]], (2,)), ([[0, 0, -1]], (2,))):
        with pytest.raises(InvalidInput, match="tables"):
            MeasuredTables(**{**good, "members": np.array(members)}).raw(sizes)
    parities = Workload.parities([[0, 1]], attributes=2)
    with pytest.raises(InvalidInput, match="conjunctions"):
        MeasuredTables(**good).estimates(Schema.bits(2), parities, 5)
    with pytest.raises(InvalidInput, match="attributes"):
        MeasuredTables(**good).estimates(Schema.bits(2), Workload.conjunctions([[0, 1]], attributes=3), 5)


@pytest.mark.parametrize("widths", [(2,), (2, 3)])
def test_tables_of_bits_come_from_products_of_matrices(widths: tuple[int, ...]) -> None:
    """Eight bits and more are counted another way, to the same whole numbers."""
    draw, sizes = study_generator(4, "bits"), np.array([2] * 5 + [3] + [2] * 4)
    columns = np.stack([draw.integers(0, size, 300) for size in sizes]).astype(np.uint16)
    weights = draw.integers(0, 2**43, 300)
    candidates = Candidates.of(tuple(sizes.tolist()), widths, 100)
    exact = np.empty(int(candidates.starts[-1]), dtype=np.int64)
    count_cells(columns, weights, candidates.members, candidates.starts, sizes, exact)
    counter = Counter(columns, weights, candidates, sizes)
    parts = [counter(first, min(first + 7, len(candidates))) for first in range(0, len(candidates), 7)]
    assert np.concatenate(parts).tolist() == exact.tolist()
