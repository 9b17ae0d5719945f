"""MarginalFit, what holds of every run: picks and noise, limits before any draw, foreign billboards, whole numbers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables_of_people import SMALL

from cases import fast
from confide.contract import InvalidInput, Refused
from confide.contract.encoding import decode, encode
from confide.contract.wire import wire_of
from confide.privacy.accounting import Accountant
from confide.privacy.losses import ZCDP
from confide.privacy.noise import Noise, RecordingNoise
from confide.privacy.noise.simulated import study_generator
from confide.release import Binned, Bit, Codes, Levels, Schema, Workload
from confide.release.marginal_fit import FittedMarginals, MarginalFit, MeasuredTables
from confide.release.marginal_fit.candidates import Batch, Candidates
from confide.release.marginal_fit.fitted_marginals import equal_rows
from confide.release.marginal_fit.measured import RawTable, consistent
from confide.release.marginal_fit.mechanism import _Fit
from confide.release.marginal_fit.plan import MOST_BYTES, bytes_needed

N = 2000
MIXED = Schema(tuple(Binned(column=f"c{j}", lower=0, upper=size, bins=size)
                     for j, size in enumerate((2, 3, 2, 4, 2, 3))))
TWELVE = MarginalFit(records=N, schema=MIXED, rho=2.0, tables=12, batches=4, population=300)
OPEN = replace(TWELVE, tables=None)
TYPES = {kind.__name__: kind for kind in (MarginalFit, FittedMarginals, MeasuredTables, Schema, Levels, Binned, Bit)}


def records(count: int = N, schema: Schema = MIXED) -> Codes:
    draw, base = study_generator(3, "mixed"), study_generator(4, "mixed").integers(0, 2, count)
    return Codes(schema=schema, cells=np.stack(
        [(base + (draw.random(count) < 0.3)) % size for size in schema.sizes], axis=1).astype(np.uint16))


def board_of(fit: MarginalFit, seed: int = 1) -> FittedMarginals:
    board = fit.run(records(fit.records, fit.schema), Noise.simulated(seed)).billboard
    assert isinstance(board, FittedMarginals)
    return board


@pytest.fixture(scope="module")
def board() -> FittedMarginals:
    return board_of(TWELVE)


# ---- picks and noise


@pytest.mark.parametrize("seed", fast(1, [2, 3]))
def test_picks_are_never_repeated_and_share_one_column_in_a_batch(seed: int) -> None:
    """Twelve of 35, three at a time."""
    picks = [set(table.columns) for table in board_of(TWELVE, seed).tables.raw(MIXED.sizes)[6:]]
    assert len(picks) == len({tuple(sorted(pick)) for pick in picks}) == 12
    for start in range(0, 12, 3):
        assert max(len(a & b) for at, a in enumerate(picks[start : start + 3]) for b in picks[start : start + at]) <= 1


@pytest.mark.parametrize("fit", fast(1, [OPEN, TWELVE]))
def test_every_table_has_the_noise_that_is_stated_of_it(fit: MarginalFit) -> None:
    """Draw by draw, the scale that was asked for; and what was added is as large as that, in each part of the run."""
    noise, data = RecordingNoise(Noise.simulated(5)), records()
    outcome = fit.run(data, noise)
    assert isinstance(outcome.billboard, FittedMarginals)
    raw = outcome.billboard.tables.raw(MIXED.sizes)
    after = fit.follow(raw[:6])
    stated = {"one-way": after.one_way, "again": after.again, "table": after.sigma}
    drawn = [draw for draw in noise.draws if draw.law == "discrete_gaussian"]
    assert [float(draw.scale) for draw in drawn] == [stated[str(draw.stream[0])] for draw in drawn]
    assert [table.sigma for table in raw] == [float(draw.scale) for draw in drawn]
    assert sum(draw.law == "selection" for draw in noise.draws) == after.tables
    added: dict[str, list[np.ndarray]] = {}
    for table, draw in zip(raw, drawn, strict=True):
        exact = np.zeros(table.counts.shape)
        np.add.at(exact, tuple(data.cells[:, j] for j in table.columns), 1)
        added.setdefault(str(draw.stream[0]), []).append(((table.counts - exact) / table.sigma).reshape(-1))
    for part, some in added.items():
        square = np.concatenate(some) ** 2
        assert abs(square.mean() - 1) < 4 * (2 / len(square)) ** 0.5, part  # of one seed: nothing random is left


def test_batches_that_run_out_of_tables_drop_the_second_rule() -> None:
    three = Candidates.of((2, 2, 2), (2, 3), 8)  # (0, 1), (0, 1, 2), (0, 2), (1, 2)
    rule = Batch(three, [0])
    assert rule.allowed().tolist() == [False, True, True, True]
    rule.pick(1)
    assert rule.allowed().tolist() == [False, False, True, True]  # all that is left shares two with it
    rule.pick(2)
    assert rule.allowed().tolist() == [False, False, False, True]


# ---- a foreign billboard


def swapped(tables: MeasuredTables, order: list[int]) -> MeasuredTables:
    raw = tables.raw(MIXED.sizes)
    return MeasuredTables.of([raw[at] for at in order])


def test_picks_that_no_run_can_make_are_refused(board: FittedMarginals) -> None:
    """Two tables of different batches that share two columns, moved into one batch."""
    picks = [set(table.columns) for table in board.tables.raw(MIXED.sizes)[6:]]
    a, b = next((a, b) for a in range(3) for b in range(3, 12) if len(picks[a] & picks[b]) == 2)
    order, beside = list(range(18)), 6 + (a + 1) % 3
    order[beside], order[6 + b] = 6 + b, beside
    with pytest.raises(InvalidInput, match="share two columns"):
        TWELVE.check(replace(board, tables=swapped(board.tables, order)))


@pytest.mark.parametrize("padding", [-2, -(2**63)])
def test_paddings_are_minus_one(board: FittedMarginals, padding: int) -> None:
    members = np.where(board.tables.members < 0, padding, board.tables.members)
    with pytest.raises(InvalidInput, match=r"tables\.members"):
        replace(board.tables, members=members)


def test_counts_are_whole_numbers_one_for_each_cell(board: FittedMarginals) -> None:
    tables = board.tables
    with pytest.raises(InvalidInput, match=r"tables\.counts"):
        replace(tables, counts=tables.counts + 0.5)
    for counts in (tables.counts[:-1], np.append(tables.counts, 0)):
        with pytest.raises(InvalidInput, match=r"tables\.counts"):
            TWELVE.check(replace(board, tables=replace(tables, counts=counts)))
    for sigma in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InvalidInput, match=r"tables\.noise_stds"):
            replace(tables, noise_stds=np.full(len(tables), sigma))


def test_counts_that_only_much_noise_would_give_are_no_contradiction() -> None:
    """Noise has no bound: a count far below 0 or above n may be one, where the population follows from it."""
    fit = replace(TWELVE, tables=2, batches=1)
    found = board_of(fit)
    raw = found.tables.raw(MIXED.sizes)
    raw[0].counts.flat[0] -= 100 * N
    raw[7].counts.flat[0] += 100 * N
    follows = _Fit(fit, fit.split, raw[:6])
    follows.learn(raw[6:])
    fit.check(follows.billboard())
    with pytest.raises(InvalidInput, match="follows from the tables"):
        fit.check(replace(found, tables=MeasuredTables.of(raw)))


@pytest.mark.parametrize("change", [
    lambda w: -w, lambda w: np.where(np.arange(len(w)) == 3, np.nan, w), lambda w: w * 1.001, lambda w: w[:-1],
    lambda w: np.append(w[:-2], [w[-2] + w[-1] + 1.0, -1.0]), lambda w: np.append(w[:-1] + w[-1] / (len(w) - 1), 0.0),
    lambda w: np.append(w[:-1], np.inf), lambda w: w.astype(np.float32), lambda w: w[:, None],
])
def test_weights_are_a_law(board: FittedMarginals, change: Callable[[np.ndarray], np.ndarray]) -> None:
    with pytest.raises(InvalidInput) as caught:
        replace(board, weights=change(board.weights))
    assert caught.value.field == "weights"


@pytest.mark.parametrize("cells", [
    np.full((4, 6), 4, np.uint16), np.zeros((4, 5), np.uint16), np.zeros((4, 6), np.int64), np.zeros((0, 6), np.uint16),
    np.zeros((), np.uint16),
])
def test_cells_are_those_of_the_schema(board: FittedMarginals, cells: np.ndarray) -> None:
    with pytest.raises(InvalidInput) as caught:
        replace(board, cells=cells)
    assert caught.value.field == "cells"


@pytest.mark.parametrize(("field", "value"), [("misfit", np.nan), ("misfit", 2.1), ("diversity", -0.1),
                                              ("diversity", np.nan), ("records", 0)])
def test_figures_of_a_billboard_are_in_range(board: FittedMarginals, field: str, value: float) -> None:
    with pytest.raises(InvalidInput) as caught:
        replace(board, **{field: value})
    assert caught.value.field == field


# ---- memory


def huge(kind: str) -> dict[str, Any]:
    wide = Schema(tuple(Binned(column=f"c{j}", lower=0, upper=40, bins=40) for j in range(10)))
    return {
        "records": {"records": 2**31 - 1},
        "population": {"schema": Schema.bits(300), "widths": (2,), "population": 10**7},
        "largest_table": {"schema": wide, "tables": 120, "largest_table": 65_535},
    }[kind]


@pytest.mark.parametrize("kind", ["records", "population"])
def test_what_cannot_fit_is_refused_before_anything_is_held(kind: str) -> None:
    """By public numbers, in no time: the plan does not come into being, so nothing is charged or drawn."""
    with pytest.raises(Refused, match=rf"GiB of memory, \d+% of it for {kind}.*at most 8 GiB; use a s(ample|maller)"):
        replace(TWELVE, **huge(kind))
    reported = {wire_of(MarginalFit).fields[name]: encode(value, {}) for name, value in huge(kind).items()}
    with pytest.raises((InvalidInput, Refused), match="GiB"):  # of a stranger's manifest
        decode({**encode(TWELVE, {}), **reported}, TYPES, {})


def test_large_tables_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("confide.release.marginal_fit.plan.MOST_BYTES", 2**28)
    with pytest.raises(Refused, match=r"largest_table.*lower largest_table or tables"):
        replace(TWELVE, **huge("largest_table"))


def test_ordinary_plans_are_far_below_the_limit() -> None:
    """Adult, the network connections, five hundred bits, and ten million records of twenty columns."""
    def total(n: int, schema: Schema, **rest: Any) -> int:
        return sum(MarginalFit.for_budget(records=n, epsilon=1.0, delta=1e-6, schema=schema, **rest).memory.values())

    twenty = Schema(tuple(Binned(column=f"c{j}", lower=0, upper=12, bins=12) for j in range(20)))
    assert total(30_162, twenty) < MOST_BYTES / 20
    assert total(50_000, Schema.bits(500)) < MOST_BYTES / 10
    assert total(10**7, twenty) < MOST_BYTES / 4


def test_no_candidates_are_listed_where_none_is_chosen() -> None:
    """All triples of 500 columns would be 20 million."""
    fit = MarginalFit(records=100, schema=Schema.bits(500), rho=1.0, tables=0, population=100)
    assert (len(fit.candidates), fit.widths) == (0, (2, 3))


PEAK = """
import gc, sys
from pathlib import Path
import numpy as np
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.release import Binned, Codes, Schema
from confide.release.marginal_fit import MarginalFit

def schema(m, size):
    return Schema(tuple(Binned(column=f"c{j}", lower=0, upper=size, bins=size) for j in range(m)))

def records(n, schema):
    draw = study_generator(1, "peak")
    return Codes(schema=schema, cells=np.stack(
        [draw.integers(0, size, n, dtype=np.uint16) for size in schema.sizes], axis=1))

def resident(what):
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status[what].split()[0]) * 1024

n, m, size, population, tables, largest = map(int, sys.argv[1:])
few = schema(3, size)
MarginalFit(records=300, schema=few, rho=1.0, tables=2, population=200).run(records(300, few), Noise.simulated(1))
gc.collect()
Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew: that of compiling is no run's
before = resident("VmRSS")
fit = MarginalFit(records=n, schema=schema(m, size), rho=1.0, tables=tables, batches=2, population=population,
                  largest_table=largest)
fit.run(records(n, fit.schema), Noise.simulated(1))
print(resident("VmHWM") - before, sum(fit.memory.values()))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc")
@pytest.mark.parametrize("sizes", [(2_000_000, 20, 3, 1000, 4, 4000), (2000, 20, 3, 800_000, 4, 4000),
                                   (20_000, 12, 38, 5000, 100, 60_000)], ids=["n", "population", "tables"])
def test_the_estimate_is_above_the_peak_and_not_far(sizes: tuple[int, ...]) -> None:
    printed = subprocess.run([sys.executable, "-c", PEAK, *map(str, sizes)], capture_output=True, check=True, text=True)
    peak, estimate = map(int, printed.stdout.split())
    assert estimate / 3 < peak < estimate  # chosen tables may be smaller than the largest ones


def test_the_estimate_is_linear_in_what_it_is_blamed_on() -> None:
    candidates = Candidates.of(MIXED.sizes, (2, 3), 100)
    small, large = (bytes_needed(k * 1000, MIXED.sizes, k * 500, 4, candidates) for k in (1, 7))
    assert [large[name] / small[name] for name in ("records", "population", "largest_table")] == [7, 7, 1]


# ---- what is spent, and by which numbers


@given(st.floats(1e-3, 30), st.floats(1e-12, 1e-2), st.sampled_from([None, 0, 1, 7, 20]), st.integers(2, 9))
@settings(max_examples=12, deadline=None)
def test_a_budget_is_never_exceeded_by_an_ulp(epsilon: float, delta: float, tables: int | None, m: int) -> None:
    """As the accountant adds up, in exact fractions, and as it states epsilon, in decimals."""
    most = len(Candidates.of((3,) * m, (2, 3), 20_000))
    schema = Schema(tuple(Binned(column=f"c{j}", lower=0, upper=3, bins=3) for j in range(m)))
    asked = None if tables is None else min(tables, most)
    fit = MarginalFit.for_budget(records=1000, epsilon=epsilon, delta=delta, schema=schema, tables=asked)
    spent, allowed = Accountant(fit.events()), ZCDP.within(epsilon, delta).rho
    assert spent.rho() <= allowed
    assert spent.epsilon(delta, calculator="zcdp") <= epsilon
    assert ZCDP(spent.rho()).delta_at(epsilon) <= delta
    assert spent.rho() >= allowed * (1 - 1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.7, 1.1, 2.3])
def test_decimals_that_doubles_exceed_are_kept_too(epsilon: float) -> None:
    """The double 0.1 is above the decimal 0.1: what is stated of a run is not above what was written."""
    for delta in (1e-3, 1e-5, 1e-6, 1e-9):
        fit = MarginalFit.for_budget(records=1000, epsilon=epsilon, delta=delta, schema=SMALL)
        assert Accountant(fit.events()).epsilon(delta) <= epsilon


def test_numpy_numbers_make_the_same_plan() -> None:
    plain = MarginalFit(records=N, schema=SMALL, rho=0.5, tables=6, batches=2, population=300, one_way=0.25,
                        selection=0.125,
                        widths=(2,), largest_table=100, seed=7, delta=1e-6)
    other = MarginalFit(
        records=np.int64(N), schema=SMALL, rho=np.float64(0.5), tables=np.int32(6), batches=np.uint8(2),
        # type: ignore[arg-type]
        population=np.int64(300), one_way=np.float32(0.25), selection=np.float64(0.125),  # type: ignore[arg-type]
        widths=np.array([2]), largest_table=np.int16(100), seed=np.int64(7),
        delta=np.float64(1e-6))  # type: ignore[arg-type]
    assert encode(other, {}) == encode(plain, {})
    assert other == plain
    assert other.events() == plain.events()
    assert repr(other) == repr(plain)
    for field in fields(plain):
        assert type(getattr(other, field.name)) is type(getattr(plain, field.name))
    made = [MarginalFit.for_budget(records=n, epsilon=epsilon, delta=delta, schema=SMALL, seed=seed) for n, epsilon,
            delta, seed in (
        (N, 1.0, 1e-6, 3), (np.int32(N), np.float64(1.0), np.float64(1e-6), np.uint16(3)))]  # type: ignore[list-item]
    assert encode(made[0], {}) == encode(made[1], {})


@pytest.mark.parametrize("widths", [(2, 2), (3, 2), 2, "23", None, (2.5,)])
def test_widths_are_of_three_kinds(widths: Any) -> None:
    with pytest.raises(InvalidInput, match="widths"):
        replace(TWELVE, widths=widths)


# ---- what a run tells


def test_a_release_computes_no_true_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """They would be dropped; but what was never computed cannot get out."""
    fit = replace(TWELVE, tables=1, batches=1, population=100)
    computed = list[int]()
    honest = MarginalFit._diagnostics
    monkeypatch.setattr(MarginalFit, "_diagnostics", lambda *given: computed.append(1) or honest(*given))
    assert fit.run(records(), Noise.secure()).release_safe
    assert computed == []
    assert not fit.run(records(), Noise.simulated(1)).release_safe
    assert computed == [1]


@pytest.mark.parametrize("fit", fast(1, [OPEN, TWELVE, replace(TWELVE, tables=0)]))
def test_progress_is_reported_through_the_parts_and_tells_nothing_of_the_data(fit: MarginalFit) -> None:
    """After each one-way table, among the candidates and the cycles of a fit; the same on other records, given the same
    releases.
    """
    reported: list[tuple[int, int | None]] = []
    fit.run(records(), RecordingNoise(Noise.simulated(2)), progress=lambda *step: reported.append(step))
    assert reported[-1] == (1000, 1000)
    done = [step for step, _ in reported]
    assert {whole for _, whole in reported} == {1000}
    assert done == sorted(done)
    assert done[:6] == [30 * (j + 1) // 6 for j in range(6)]
    if fit.tables != 0:
        assert max(b - a for a, b in pairwise(done)) <= 200
        assert len(done) > 20
    again: list[tuple[int, int | None]] = []
    fit.run(Codes(schema=MIXED, cells=records().cells[::-1].copy()), Noise.simulated(2),
            progress=lambda *step: again.append(step))
    assert again == reported


# ---- rows


def test_the_first_rows_are_as_good_as_any(board: FittedMarginals) -> None:
    """In the order of the population, the first fifth would be of one kind alone."""
    found = replace(board, records=5000)
    rows = found.coded_rows()
    assert np.array_equal(rows.cells, found.coded_rows().cells)
    for j, size in enumerate(MIXED.sizes):
        first, whole = (np.bincount(some[:, j], minlength=size) / len(some) for some in (rows.cells[:1000], rows.cells))
        assert np.abs(first - whole).max() < 0.05
    assert found.rows(1000).num_rows == 1000
    ordered = np.lexsort(rows.cells.T[::-1])
    assert np.array_equal(rows.cells[ordered], equal_rows(found.cells, found.weights, 5000))


# ---- targets


def test_targets_are_as_exact_as_their_noise() -> None:
    """Exact tables, called ever less noisy: how far targets are moved from them falls with the noise."""
    draw, n = study_generator(1, "exact"), 1_000_000
    first = draw.integers(0, 10, 4000)
    rows = np.stack([first, first // 2 + draw.integers(0, 2, 4000), first % 4], axis=1)
    exact: dict[tuple[int, ...], np.ndarray] = {}
    for columns in ((0,), (1,), (2,), (0, 1, 2)):
        exact[columns] = np.zeros([(10, 6, 4)[j] for j in columns], dtype=np.int64)
        np.add.at(exact[columns], tuple(rows[:, j] for j in columns), n // 4000)

    def bias(sigma: float) -> float:
        targets = consistent([RawTable(columns, table, sigma) for columns, table in exact.items()], n)
        return float(np.abs(targets[0, 1, 2] - exact[0, 1, 2] / n).sum())

    found = [bias(sigma) for sigma in (1000.0, 30.0, 3.0)]
    assert found[0] > 5e-3
    assert found[1] < 2 * 5 * 30 * 240**0.5 / n
    assert found[2] < 0.11 * found[1]


def test_a_certificate_says_when_it_says_nothing() -> None:
    small = MarginalFit.for_budget(records=60, epsilon=0.1, delta=1e-6, schema=MIXED, tables=3, population=300)
    found = small.certify(board_of(small))
    assert found.vacuous
    assert found.cells == 1.0
    assert not TWELVE.certify(board_of(TWELVE)).vacuous


@pytest.mark.slow
def test_bars_cover_what_they_say() -> None:
    """All bars of a run hold together, but for 5% of runs; measurements alone, without the distance of the fit, are
    never far above that either. Of 120 runs that miss with probability .05 each, more than 13 do with .003.
    """
    workload = Workload.random(MIXED, 400, seed=2)
    truth = workload.answers(records())
    missed = alone = 0
    for seed in range(120):
        board = board_of(TWELVE, seed)
        bars = board.error_bars(workload)
        known = np.isfinite(bars)
        assert known.sum() > 50
        missed += bool((np.abs(board.answers(workload) - truth)[known] > bars[known]).any())
        measured, deviation = board.measured(workload)
        factor = np.sqrt(2 * np.log(2 * known.sum() / 0.05))
        alone += bool((np.abs(measured - truth)[known] > factor * deviation[known]).any())
    assert missed <= 13
    assert alone <= 13
