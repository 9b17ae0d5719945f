"""MWEM: its histogram against one that is written out, its privacy, its guarantee, and what replay is worth."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_data import brute_answers, latent_classes

from confide.contract import InvalidInput, Outcome, Refused, SimulatedOutcome
from confide.contract.encoding import decode, encode
from confide.contract.guarantees import Accuracy, Audience, Relation
from confide.privacy import Accountant
from confide.privacy.ledger import Account, Ledger
from confide.privacy.losses import ZCDP, ApproxDP, PureDP
from confide.privacy.noise import Noise
from confide.privacy.selection import exponential_law
from confide.release._histogram import Histogram, blocks_of, cubes_of, transform
from confide.release.answers import TrueAnswers
from confide.release.columns import Levels
from confide.release.mwem import MWEM, MWEMBillboard
from confide.release.records import PackedBits
from confide.release.schema import Schema
from confide.release.workload import Workload

TRIPLES = Workload.complete(10, width=3)


def random_workload(generator, kind, d, k, width=3):
    if kind == "predicates":
        return Workload.predicates(np.unique(generator.random((k, 2**d)) < 0.5, axis=0))
    queries = {tuple(sorted(generator.choice(d, width, replace=False).tolist())) for _ in range(k)}
    index = np.array(sorted(queries))
    if kind == "parities":
        return Workload.parities(index, attributes=d)
    return Workload.conjunctions(index, generator.random(index.shape) < 0.5, attributes=d)


def spread(blocks, generator):
    """A histogram that is no uniform one."""
    cells = generator.random(blocks.cells) ** 3
    for begin, end in zip(blocks.starts[:-1], blocks.starts[1:], strict=True):
        cells[begin:end] /= cells[begin:end].sum()
    return Histogram(blocks, cells)


# ---- the histogram


@given(st.integers(0, 10), st.integers(0, 2**32))
@settings(max_examples=15)
def test_the_transform_is_its_own_inverse_and_holds_all_parities(d, seed):
    values = np.random.default_rng(seed).normal(size=2**d)
    spectrum = values.copy()
    starts = np.array([0, 2**d])
    transform(spectrum, starts)
    signs = np.array([[(-1) ** (s & x).bit_count() for x in range(2**d)] for s in range(min(2**d, 16))])
    np.testing.assert_allclose(spectrum[:16], signs @ values, atol=1e-9)
    transform(spectrum, starts)
    np.testing.assert_allclose(spectrum / 2**d, values, atol=1e-12)


def test_long_strides_are_done_tile_by_tile():
    values = np.random.default_rng(1).normal(size=2**15)
    spectrum = values.copy()
    transform(spectrum, np.array([0, 2**15]))
    for s in (1, 2**12 - 1, 2**13 + 5, 2**15 - 1):
        signs = 1 - 2 * (np.bitwise_count(np.arange(2**15) & s) % 2).astype(np.int64)
        assert spectrum[s] == pytest.approx(signs @ values, abs=1e-9)


@pytest.mark.parametrize("kind", ["conjunctions", "parities", "predicates"])
def test_answers_equal_sums_over_the_cells(kind):
    generator = np.random.default_rng(2)
    workload = random_workload(generator, kind, 7, 40)
    histogram = spread(blocks_of(workload), generator)
    np.testing.assert_allclose(histogram.answers(workload), brute_answers(histogram.dense(), workload), atol=1e-12)
    assert histogram.dense().sum() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["conjunctions", "parities"])
def test_queries_across_blocks_are_products_and_unnamed_attributes_are_coins(kind):
    generator = np.random.default_rng(3)
    joined = Workload.conjunctions([[0, 1, 2], [1, 4], [5, 6, 7], [7, 9]], attributes=11)
    blocks = blocks_of(joined)
    assert blocks.starts.tolist() == [0, 16, 32]
    assert blocks.block.tolist() == [0, 0, 0, -1, 0, 1, 1, 1, -1, 1, -1]
    assert blocks.bits == 8
    histogram = spread(blocks, generator)
    other = random_workload(generator, kind, 11, 60)
    np.testing.assert_allclose(histogram.answers(other), brute_answers(histogram.dense(), other), atol=1e-12)


def slow_replay(workload, chosen, measured, n, passes, average):
    """The algorithm as it is written, over all cells, one update at a time."""
    d = workload.attributes
    members = np.array([brute_answers(np.eye(2**d)[x], workload) for x in range(2**d)]).T
    law, seen, mean = np.full(2**d, 2.0**-d), [], np.zeros(2**d)
    for query, count in zip(chosen, measured, strict=True):
        mean += law / len(chosen)
        seen.append((query, min(max(count / n, 0.0), 1.0)))
        for _ in range(passes if not average else 1):
            for q, target in seen if not average else seen[-1:]:
                law = law * np.exp(members[q] * (target - members[q] @ law) / 2)
                law = law / law.sum()
    return mean if average else law


@pytest.mark.parametrize("form", ["replay", "analysed"])
@pytest.mark.parametrize("kind", ["conjunctions", "parities", "predicates", "blocks"])
def test_the_histogram_is_that_of_the_written_algorithm(kind, form):
    generator = np.random.default_rng(4)
    if kind == "blocks":
        workload = Workload.conjunctions([[0, 1], [1, 2], [3, 4], [3, 5], [4, 5]], attributes=7)
    else:
        workload = random_workload(generator, kind, 6, 12)
    chosen = generator.integers(0, len(workload), 7)
    measured = generator.integers(-40, 140, 7)  # some beyond 0..n: these are cut
    board = MWEMBillboard(records=100, workload=workload, form=form, passes=5, chosen=chosen, measured=measured)
    law = slow_replay(workload, chosen.tolist(), measured.tolist(), 100, 5, form == "analysed")
    np.testing.assert_allclose(board.answers(), brute_answers(law, workload), atol=1e-9)
    if form == "replay":
        np.testing.assert_allclose(board._play.histogram.dense(), law, atol=1e-9)


def test_a_replay_of_thousands_of_steps_neither_drifts_nor_underflows():
    workload = Workload.conjunctions([[0], [1], [0, 1]], attributes=2)
    histogram = Histogram(blocks_of(workload))
    cubes = cubes_of(workload, histogram.blocks, np.array([0, 1, 2]))
    weights = np.zeros(3)
    for _ in range(20):
        histogram.fit(cubes, np.array([1.0, 1.0, 0.0]), weights, 500)  # no histogram has these answers
    assert histogram.cells.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.isfinite(weights).all()
    histogram.fit(cubes, np.array([0.25, 0.5, 0.125]), weights, 20_000)  # and it comes back from where it was
    np.testing.assert_allclose(histogram.answers(workload), [0.25, 0.5, 0.125], atol=1e-3)


def test_a_replay_stops_where_no_residual_moves():
    workload = Workload.conjunctions([[0]], attributes=1)
    blocks = blocks_of(workload)
    cubes, found = cubes_of(workload, blocks, np.array([0])), []
    for close in (1e-2, 1e-6, 0.0):
        histogram, weights = Histogram(blocks), np.zeros(1)
        histogram.fit(cubes, np.array([0.9]), weights, 10_000, close=close)
        found.append(abs(histogram.answers(workload)[0] - 0.9))
    assert 1e-3 < found[0] < 0.2
    assert 1e-12 < found[1] < 1e-4
    assert found[2] < 1e-12


# ---- privacy


def test_the_cost_is_that_of_the_parts():
    mwem = MWEM(records=1000, workload=TRIPLES, rounds=40, epsilon=1.0)
    assert mwem.rho == pytest.approx(5 / (32 * 40), rel=1e-12)
    accountant = Accountant(mwem.events())
    assert accountant.epsilon() == 1.0
    assert {event.neighbours for event in mwem.events()} == {Relation.REPLACE}
    losses = [promise.loss for promise in mwem.guarantees().privacy]
    assert losses == [PureDP(1.0), ZCDP(mwem.rho)]
    assert all(promise.audience is Audience.PUBLIC for promise in mwem.guarantees().privacy)


@given(st.floats(0.01, 20), st.integers(1, 500))
@settings(max_examples=25)
def test_pure_composition_never_exceeds_the_budget(epsilon, rounds):
    mwem = MWEM(records=50, workload=Workload.complete(3, width=2), rounds=rounds, epsilon=epsilon)
    assert Accountant(mwem.events()).epsilon(calculator="basic") <= epsilon
    assert mwem.noise_scale * mwem.each >= 1.0 - 1e-15


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.25, 1e-3), (5.0, 1e-9)])
def test_a_budget_is_kept_and_used(epsilon, delta):
    mwem = MWEM.for_budget(records=1000, epsilon=epsilon, delta=delta, rounds=30, workload=TRIPLES, passes=7)
    spent = Accountant(mwem.events()).epsilon(delta, calculator="zcdp")
    assert 0.999999 * epsilon < spent <= epsilon
    assert mwem.passes == 7
    assert mwem.epsilon > epsilon


def test_a_budget_without_delta_or_of_one_round_is_pure():
    assert MWEM.for_budget(records=1000, epsilon=0.5, delta=0.0, rounds=3, workload=TRIPLES).epsilon == 0.5
    assert MWEM.for_budget(records=1000, epsilon=5.0, delta=1e-12, rounds=1, workload=TRIPLES).epsilon == 5.0


def test_a_replaced_record_moves_every_score_by_one_count_at_most():
    workload = random_workload(np.random.default_rng(5), "conjunctions", 4, 20, width=2)
    mwem = MWEM(records=3, workload=workload, rounds=2, epsilon=1.0)
    answers = np.random.default_rng(6).random(len(workload))
    universe = np.array(list(product([False, True], repeat=4)))
    values = np.array([workload.values(record) for record in universe])
    base = values[3].astype(np.int64) + values[9]
    scores = [mwem.scores(base + value, answers) for value in values]
    moves = [np.abs(a - b).max() for a, b in combinations(scores, 2)]
    assert max(moves) == 2**20  # attained, and in whole units


def test_the_law_of_a_round_keeps_its_half_epsilons():
    workload = Workload.complete(3, width=2, positive=False)
    mwem = MWEM(records=4, workload=workload, rounds=2, epsilon=3.0)
    answers = np.full(len(workload), 0.25)
    universe = np.array(list(product([False, True], repeat=3)))
    values = np.array([workload.values(record) for record in universe]).astype(np.int64)
    rest = values[1] + values[5] + values[6]
    laws = [exponential_law(mwem.scores(rest + value, answers), mwem.each, 2.0**20) for value in values]
    ratios = [np.abs(np.log(a / b)).max() for a, b in combinations(laws, 2)]
    ranges = [np.ptp(np.log(a / b)) for a, b in combinations(laws, 2)]
    assert 0.5 * mwem.each < max(ratios) <= mwem.each
    assert 0.5 * mwem.each < max(ranges) <= mwem.each


def test_the_ledger_admits_what_it_was_calibrated_for():
    mwem = MWEM(records=1000, workload=TRIPLES, rounds=4, epsilon=1.0)
    account = Account(name="survey", neighbours=Relation.REPLACE, audience=Audience.PUBLIC)
    ledger = Ledger()
    ledger.register(account, ApproxDP(0.5, 1e-6), "zcdp")
    with pytest.raises(Refused):
        ledger.charge(account, *mwem.events())
    assert ledger.events(account) == ()
    small = MWEM.for_budget(records=1000, epsilon=0.5, delta=1e-6, rounds=4, workload=TRIPLES)
    ledger.charge(account, *small.events())
    assert ledger.events(account) == small.events()


# ---- the run


def test_the_billboard_is_enough():
    records = latent_classes(1, 2000, 10, 3)
    mwem = MWEM(records=2000, workload=TRIPLES, rounds=5, epsilon=2.0)
    outcome = mwem.run(records, Noise.simulated(3))
    assert isinstance(outcome, SimulatedOutcome)
    assert outcome.shares.num_columns == 0
    assert mwem.decode(None, 0, outcome.billboard) == {}
    columns: dict[str, bytes] = {}
    written = encode(outcome.billboard, columns)
    again = decode(written, {"MWEMBillboard": MWEMBillboard, "Workload": Workload}, columns)
    mwem.check(again)
    np.testing.assert_array_equal(again.answers(), outcome.billboard.answers())
    assert mwem.certify(again).everywhere == outcome.certificate.everywhere
    error = np.abs(again.answers() - TRIPLES.counts(PackedBits.pack(records)) / 2000)
    assert outcome.diagnostics["max_error"] == error.max()


def test_a_secure_run_is_a_release_without_diagnostics():
    records = latent_classes(1, 500, 4, 2)
    mwem = MWEM(records=500, workload=Workload.complete(4, width=2), rounds=2, epsilon=50.0)
    outcome = mwem.run(records, Noise.secure())
    assert isinstance(outcome, Outcome)
    assert np.abs(outcome.billboard.measured - mwem.workload.counts(PackedBits.pack(records))[
        outcome.billboard.chosen]).max() <= 5  # noise of scale 0.08
    assert not hasattr(outcome, "diagnostics")


def test_true_answers_do_as_well_as_records_and_seeds_repeat():
    records = latent_classes(2, 300, 10, 3)
    mwem = MWEM(records=300, workload=TRIPLES, rounds=3, epsilon=2.0)
    answers = TrueAnswers(counts=TRIPLES.counts(PackedBits.pack(records)), records=300)
    boards = [mwem.run(data, Noise.simulated(9)).billboard for data in (records, PackedBits.pack(records), answers)]
    for board in boards[1:]:
        np.testing.assert_array_equal(board.chosen, boards[0].chosen)
        np.testing.assert_array_equal(board.measured, boards[0].measured)


def test_rows_have_the_histograms_answers():
    records = latent_classes(3, 4000, 6, 2)
    workload = Workload.complete(6, width=2)
    board = MWEM(records=4000, workload=workload, rounds=6, epsilon=4.0).run(records, Noise.simulated(1)).billboard
    rows = board.bits()
    assert (rows.records, rows.attributes) == (4000, 6)
    law = np.bincount(rows.unpack() @ (1 << np.arange(6)), minlength=64)
    assert np.abs(np.cumsum(law) - 4000 * np.cumsum(board._play.histogram.dense())).max() <= 0.5 + 1e-6
    assert board.bits(7).records == 7


def test_other_queries_are_answered_and_means_of_products_are_not():
    workload = Workload.conjunctions([[0, 1], [2, 3]], attributes=5)
    across = Workload.conjunctions([[0, 2], [1, 4]], attributes=5)
    records = latent_classes(4, 400, 5, 2)
    replay = MWEM(records=400, workload=workload, rounds=2, epsilon=9.0).run(records, Noise.simulated(1)).billboard
    law = replay._play.histogram.dense()
    np.testing.assert_allclose(replay.answers(across), brute_answers(law, across), atol=1e-12)
    analysed = MWEM(records=400, workload=workload, rounds=2, epsilon=9.0, form="analysed")
    board = analysed.run(records, Noise.simulated(1)).billboard
    with pytest.raises(InvalidInput, match="workload"):
        board.answers(across)
    inside = Workload.conjunctions([[2, 3], [0, -1]], [[False, True], [True, True]], attributes=5)
    np.testing.assert_allclose(board.answers(inside), brute_answers(board._play.histogram.dense(), inside), atol=1e-12)
    with pytest.raises(InvalidInput, match="workload"):
        replay.answers(TRIPLES)


# ---- accuracy


def test_the_analysed_bound_is_the_theorems():
    mwem = MWEM(records=20_000, workload=TRIPLES, rounds=20, epsilon=1.0, form="analysed")
    error, failure = mwem.bound()
    printed = 2 * 20_000 * math.sqrt(10 * math.log(2) / 20) + 10 * 20 * math.log(120) / 1.0
    assert error == pytest.approx(printed, rel=1e-2)
    assert error > printed  # the discrete law has a little more in its tail
    assert failure == 2 * 20 / 120
    (promise,) = mwem.guarantees().of(Accuracy)
    assert promise.vacuous  # 0.93 of the records
    large = MWEM(records=10**8, workload=Workload.complete(20, width=3), rounds=300, epsilon=1.0, form="analysed")
    (promise,) = large.guarantees().of(Accuracy)
    assert not promise.vacuous
    assert promise.bound < 0.45
    hopeless = MWEM(records=10**8, workload=TRIPLES, rounds=60, epsilon=1.0, form="analysed")
    assert hopeless.guarantees().of(Accuracy)[0].vacuous  # 2T/k = 1: nothing is promised
    assert not MWEM(records=10, workload=TRIPLES, rounds=2, epsilon=1.0).guarantees().of(Accuracy)


def test_the_mean_is_over_the_histograms_that_selection_saw():
    """Of A_1..A_T, as is often written, the theorem's step "no query is worse than the one that was named"
    says nothing about A_T. One round without noise shows it: A_0 is wrong by 1/4 at most, A_1 by more.
    """
    workload = Workload.conjunctions([[0], [0, 1]], attributes=2)
    records = np.array([[True, False]] * 3 + [[False, False]])  # q = (3/4, 0); A_0 answers (1/2, 1/4)
    mwem = MWEM(records=4, workload=workload, rounds=1, epsilon=1.0, form="analysed")
    outcome = mwem.run(records, Noise.replayed({("select", 0): [0], ("measure", 0): [0]}))
    seen = outcome.billboard.answers()
    true = np.array([0.75, 0.0])
    np.testing.assert_allclose(seen, [0.5, 0.25])
    after = slow_replay(workload, [0], [3], 4, 1, average=False)
    assert np.abs(seen - true).max() == 0.25
    assert np.abs(brute_answers(after, workload) - true).max() > 0.26


def test_the_certificate_holds_and_says_something():
    wrong = vacuous = 0
    for seed in range(4):
        records = latent_classes(seed, 20_000, 10, 3, 0.1)
        for form in ("replay", "analysed"):
            outcome = MWEM(records=20_000, workload=TRIPLES, rounds=20, epsilon=1.0, form=form).run(
                records, Noise.simulated(seed))
            board, true = outcome.billboard, TRIPLES.counts(PackedBits.pack(records)) / 20_000
            error = np.abs(board.answers() - true)
            wrong += error.max() > outcome.certificate.everywhere
            wrong += error[board.chosen].max() > outcome.certificate.measured
            vacuous += form == "replay" and outcome.certificate.vacuous
    assert wrong == 0  # each of 16 may fail with probability 0.05 at most, and does far less often
    assert vacuous == 0


@pytest.mark.parametrize("form", ["replay", "analysed"])
def test_the_certificate_holds_in_the_worst_run_that_it_allows(form):
    """Selection misses the worst query by as much as it may, and the noise hides what is wrong with the chosen one, so
    that nothing is learnt: the certificate must still reach the worst query, and need not reach further.
    """
    n, singles = 10**6, Workload.complete(2, width=1)
    mwem = MWEM(records=n, workload=singles, rounds=1, epsilon=0.01, form=form, failure_probability=0.05)
    each = 0.05 / 2
    hidden = math.floor(mwem.noise_error(each))
    missed = math.floor(2 / mwem.each * math.log(2 / each))  # the exponential mechanism's, with sensitivity 1
    tail = math.exp(-1 / mwem.noise_scale)
    assert 2 * tail ** (hidden + 1) / (1 + tail) <= each * 1.01  # P(|noise| > hidden), and hardly less
    assert 2 * tail**hidden / (1 + tail) >= each * 0.99
    true = n // 2 + np.array([hidden, hidden + missed])
    noise = Noise.replayed({("select", 0): [0], ("measure", 0): [-hidden]})
    outcome = mwem.run(TrueAnswers(counts=true, records=n), noise)
    error = np.abs(outcome.billboard.answers() * n - true)
    assert error.max() == pytest.approx(hidden + missed, abs=1e-6)
    assert error.max() <= outcome.certificate.everywhere * n <= error.max() + 3
    assert error[0] <= outcome.certificate.measured * n <= error[0] + 1.01


def test_single_passes_are_a_straw_man():
    """d = 10, n = 20,000, all 120 marginals, epsilon 1, correlated data: the replay is several times better."""
    errors = {
        (form, rounds): np.mean([
            MWEM(records=20_000, workload=TRIPLES, rounds=rounds, epsilon=1.0, form=form).run(
                latent_classes(seed, 20_000, 10, 3, 0.1), Noise.simulated(seed)).diagnostics["max_error"]
            for seed in range(3)])
        for form, rounds in (("analysed", 20), ("replay", 20), ("replay", 40))
    }
    assert errors["analysed", 20] > 0.18
    assert errors["replay", 20] < 0.045
    assert errors["replay", 40] < 0.03


@pytest.mark.slow
def test_sixteen_attributes_and_every_triple():
    workload = Workload.complete(16, width=3)
    records = latent_classes(5, 20_000, 16, 6)
    outcome = MWEM(records=20_000, workload=workload, rounds=20, epsilon=1.0).run(records, Noise.simulated(5))
    product_error = np.abs(np.prod(records.mean(axis=0)[workload.index], axis=1)
                           - workload.counts(PackedBits.pack(records)) / 20_000)
    assert len(workload) == 560
    assert outcome.diagnostics["mean_error"] < product_error.mean()
    assert outcome.diagnostics["max_error"] < 0.08


# ---- refusals


def test_too_large_a_histogram_is_refused_with_its_size():
    with pytest.raises(Refused, match=r"2\^23 = 8\.39e\+06 cells, which take 192 MiB"):
        MWEM(records=10, workload=Workload.complete(23, width=2), rounds=1, epsilon=1.0)
    with pytest.raises(Refused, match=r"2\^235 = .* cells"):
        MWEM(records=10, workload=Workload.complete(235, width=2), rounds=1, epsilon=1.0)


def test_blocks_lift_the_limit_without_loss():
    workload = Workload.conjunctions([[10 * block + a, 10 * block + a + 1] for block in range(6) for a in range(9)],
                                     attributes=60)
    mwem = MWEM(records=50, workload=workload, rounds=3, epsilon=1.0)
    assert mwem.universe_bits == 60
    board = mwem.run(latent_classes(6, 50, 60, 2), Noise.simulated(1)).billboard
    assert board.answers().shape == (54,)
    with pytest.raises(Refused, match=r"2\^60 cells"):
        board.bits()


@pytest.mark.parametrize(("field", "value"), [
    ("records", 0), ("records", 2**42 + 1), ("rounds", 0), ("epsilon", 0.0), ("epsilon", math.inf), ("epsilon", 5e-324),
    ("form", "printed"), ("passes", 0), ("failure_probability", 1.0), ("workload", None),
])
def test_each_parameter_is_refused_by_name(field, value):
    with pytest.raises(InvalidInput, match=field):
        MWEM(**{"records": 100, "workload": TRIPLES, "rounds": 2, "epsilon": 1.0, field: value})


def test_data_of_other_sizes_is_refused():
    mwem = MWEM(records=100, workload=TRIPLES, rounds=2, epsilon=1.0)
    with pytest.raises(InvalidInput, match="data"):
        mwem.run(latent_classes(1, 99, 10, 2), Noise.simulated(1))
    with pytest.raises(InvalidInput, match="data"):
        mwem.run(TrueAnswers(counts=np.zeros(3, np.int64), records=100), Noise.simulated(1))


def test_another_plans_billboard_is_refused():
    workload = Workload.complete(4, width=2)
    mwem = MWEM(records=100, workload=workload, rounds=2, epsilon=1.0)
    good = {"records": 100, "workload": workload, "form": "replay", "passes": 100,
            "chosen": np.array([0, 1]), "measured": np.array([5, 6])}
    mwem.check(MWEMBillboard(**good))
    for field, value in (("records", 99), ("passes", 3), ("form", "analysed"), ("chosen", np.array([0, 6])),
                         ("chosen", np.array([0])), ("measured", np.array([0.5, 1.0])), ("workload", TRIPLES)):
        with pytest.raises(InvalidInput, match="billboard"):
            mwem.check(MWEMBillboard(**{**good, field: value}))


def test_parts_that_fit_alone_and_not_together_are_refused() -> None:
    """150 queries of 22 bits each, with no bit in common: 2^22 cells each, and 629 million in all."""
    apart = Workload.conjunctions(np.arange(3300).reshape(150, 22), attributes=3300)
    with pytest.raises(Refused, match=r"The 150 groups of joined attributes have 629,145,600 cells together"):
        MWEM(records=1000, workload=apart, rounds=2, epsilon=1.0)
    columns = Schema(tuple(Levels(column=f"c{j}", levels=tuple(map(str, range(50)))) for j in range(24)))
    joined = [[f"c{3 * j} = 1", f"c{3 * j + 1} = 1", f"c{3 * j + 2} = 1"] for j in range(8)]
    assert MWEM(records=1000, workload=Workload.conjunctions(joined, attributes=columns), schema=columns, rounds=2,
                epsilon=1.0).cells == 8 * 50**3
    wide = Schema(tuple(Levels(column=f"c{j}", levels=tuple(map(str, range(150)))) for j in range(18)))
    with pytest.raises(Refused, match=r"6 groups of joined attributes have 20,250,000 cells together"):
        MWEM(records=1000, workload=Workload.conjunctions(joined[:6], attributes=wide), schema=wide, rounds=2,
             epsilon=1.0)


def test_plans_that_take_hours_are_refused() -> None:
    """Whoever verifies a release plays it again."""
    few = Workload.complete(20, width=20)
    with pytest.raises(Refused, match=r"5,000 rounds over 1,048,576 cells"):
        MWEM(records=1000, workload=few, rounds=5000, epsilon=1.0)
    assert MWEM(records=1000, workload=few, rounds=5000, epsilon=1.0, form="analysed").rounds == 5000
