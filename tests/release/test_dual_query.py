"""DualQuery: its life, its billboard, what it refuses, and how accurate it is."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tables_of_people import published

from cases import fast
from confide.contract.encoding import decode, encode
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy, Privacy
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.privacy.accounting import Accountant
from confide.privacy.losses import ZCDP, ApproxDP, PureDP
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.release.answers import TrueAnswers, true_answers
from confide.release.audited_games import MixedSigns
from confide.release.columns import Binned, Bit, Levels
from confide.release.dual_query import DualQuery
from confide.release.free_attributes import default_record, free_attributes, marginals_noise_std
from confide.release.oracle import Answer, Enumeration, IntegerProgram, LocalSearch, Terms
from confide.release.records import PackedBits
from confide.release.schema import Schema
from confide.release.synthetic import Rounds, SyntheticRecords
from confide.release.workload import Workload


def product(n: int, d: int, seed: int) -> PackedBits:
    """Independent bits with probabilities that are uniform in [0, 1]."""
    generator = study_generator(seed, "product")
    shares = generator.random(d)
    return PackedBits.pack(np.concatenate([generator.random((n // 10, d), dtype=np.float32) < shares
                                           for _ in range(10)]))


def small(n: int = 500, d: int = 8) -> np.ndarray:
    generator = study_generator(3, "small")
    hidden = generator.random((n, 1)) < 0.4
    return np.where(hidden, generator.random((n, d)) < 0.8, generator.random((n, d)) < 0.25)


PEOPLE = Schema((Levels(column="kin", levels=("child", "wife", "other"), bins=5),
                 Binned(column="age", lower=0, upper=100, bins=4), Bit(column="smoker")))
TABLE = {"kin": ["wife", "child", "wife", "other"] * 50, "age": [30, 5, 80, 51] * 50, "smoker": [1, 0, 0, 0] * 50}


def planned(**others: Any) -> DualQuery:
    return DualQuery(**({"records": 500, "eta": 0.6, "rounds": 12, "samples": 60,
                         "workload": Workload.complete(8, width=2, positive=False)} | others))


# ---- the life of a release


def test_a_plan_needs_no_workload_and_reports_all_numbers() -> None:
    it = DualQuery.for_budget(records=30_162, epsilon=1.0, delta=1e-3, eta=2.0, samples=1000)
    assert (it.rounds, it.calculator, it.delta) == (43, "zcdp", 1e-3)
    assert it.epsilon() <= 1.0 < it.epsilon(calculator="theorem-3.4.2")
    kinds = [type(promise) for promise in it.guarantees()]
    assert kinds == [Privacy, Privacy, Privacy]
    assert [type(promise.loss) for promise in it.guarantees().privacy] == [ZCDP, PureDP, ApproxDP]
    assert it.guarantees().privacy[0].loss.rho == it.rho == Accountant(it.events()).rho()
    for calculator, rounds in (("theorem-3.4.2", 16), ("per-round", 23)):
        found = DualQuery.for_budget(records=30_162, epsilon=1.0, delta=1e-3, eta=2.0, samples=1000,
                                     calculator=calculator)
        assert found.rounds == rounds
    pure = DualQuery.for_budget(records=10_000, epsilon=1.0, eta=0.5, samples=10, calculator="pure")
    assert pure.rounds == 45  # 0.5 * 45 * 44 * 10 / 10000 = 0.99
    assert math.isinf(pure.epsilon(calculator="zcdp"))
    with pytest.raises(Refused, match="too small for one round with data"):
        DualQuery.for_budget(records=100, epsilon=0.01, delta=1e-3, eta=2.0, samples=1000)


def test_a_release_and_what_it_shows() -> None:
    it, bits, reported = planned(delta=1e-6), small(), []
    outcome = it.run(bits, Noise.simulated(1), progress=lambda done, total: reported.append((done, total)))
    assert reported == [(t, 12) for t in range(1, 13)]
    assert isinstance(outcome, SimulatedOutcome)
    board = outcome.billboard
    answers, truth = board.answers(it.queries), true_answers(bits, it.queries).fractions
    records = board.records.unpack()
    assert answers == pytest.approx(np.mean([it.queries.values(record) for record in records], axis=0))
    assert outcome.diagnostics["max_error"] == pytest.approx(np.abs(answers - truth).max())
    assert outcome.diagnostics["mean_error"] < 0.1
    assert outcome.shares.num_columns == outcome.shares.num_rows == 0
    assert it.decode(None, 0, board) == {}
    it.check(board)
    assert it.certify(board).bound == outcome.certificate.bound
    accuracy, = outcome.guarantees.of(Accuracy)
    assert accuracy.vacuous == it.planned_certificate.vacuous
    assert accuracy.bound <= outcome.certificate.bound


def test_true_answers_packed_bits_and_tables_give_the_same_release() -> None:
    it, bits = planned(), small()
    boards = [it.run(data, Noise.simulated(1)).billboard
              for data in (bits, PackedBits.pack(bits), true_answers(bits, it.queries))]
    assert len({board.records.words.tobytes() for board in boards}) == 1
    people = DualQuery(records=200, eta=1.0, rounds=5, samples=30, workload=Workload.complete(PEOPLE, width=2),
                       schema=PEOPLE)
    tables = [people.run(data, Noise.simulated(1)).billboard for data in (TABLE, PEOPLE.encode(TABLE))]
    assert tables[0].records.words.tobytes() == tables[1].records.words.tobytes()


def test_a_secure_release_holds_no_diagnostics_and_comes_back(tmp_path: Path) -> None:
    it = planned(rounds=4)
    outcome = it.run(small(), Noise.secure())
    assert isinstance(outcome, Outcome)
    assert not hasattr(outcome, "diagnostics")
    columns: dict[str, bytes] = {}
    written = json.loads(json.dumps(encode([it, outcome.billboard], columns)))
    types = {kind.__name__: kind for kind in (DualQuery, Workload, LocalSearch, SyntheticRecords, Rounds, PackedBits)}
    again, board = decode(written, types, columns)
    again.check(board)
    assert np.array_equal(again.queries.index, it.queries.index)
    assert np.array_equal(board.records.words, outcome.billboard.records.words)
    assert again.rho == it.rho
    outcome.save(tmp_path)
    assert (tmp_path / "manifest.json").exists()


def test_the_seed_is_public_and_decides_with_the_samples() -> None:
    it, bits = planned(workload=Workload.complete(8, width=3, positive=False)), small()
    same = [it.run(bits, Noise.simulated(1)).billboard.records.words.tobytes() for _ in range(2)]
    assert same[0] == same[1]
    assert it.run(bits, Noise.simulated(2)).billboard.records.words.tobytes() != same[0]


def test_parities_and_predicates_are_answered_too() -> None:
    bits = small()
    parities = Workload.complete(8, width=2, kind="parities")
    found = planned(workload=parities, rounds=40, samples=200).run(bits, Noise.simulated(1))
    assert found.diagnostics["mean_error"] < 0.06
    universe = (np.arange(8)[:, None] >> np.arange(3)) & 1
    predicates = Workload.predicates([universe.sum(axis=1) >= 2, universe[:, 0] == universe[:, 1]])
    it = planned(workload=predicates, rounds=60, samples=200)
    found = it.run(bits[:, :3], Noise.simulated(1))
    assert found.diagnostics["max_error"] < 0.05
    it.check(found.billboard)
    assert it.recertify(found.billboard).tau == 0.0


# ---- privacy by construction


def test_the_oracle_sees_netted_samples_and_public_facts_alone() -> None:
    """Toy trap: a data set that anything but the draws would trip over."""
    seen: list[tuple[Any, ...]] = []

    @dataclass(frozen=True)
    class Spy:
        def solve(self, terms: Terms, start: tuple[np.ndarray, ...], seed: int) -> Answer:
            seen.append((terms, start, seed))
            return LocalSearch().solve(terms, start, seed)

    it, bits = planned(oracle=Spy()), small()
    outcome = it.run(bits, Noise.simulated(1))
    assert len(seen) == it.rounds
    for t, (terms, start, seed) in enumerate(seen, 1):
        netted = outcome.billboard.rounds.netted(t)
        assert type(terms) is Terms
        assert np.array_equal(terms.weights, netted.weights)
        assert np.array_equal(terms.index, it.queries.index[netted.queries])
        assert terms.constant == netted.constant
        earlier = outcome.billboard.records.unpack()[t - 2] if t > 1 else None
        assert not start[0].any()
        assert t == 1 or np.array_equal(start[1], earlier)
        assert isinstance(seed, int)


def test_an_oracle_that_fails_costs_accuracy_and_is_counted() -> None:
    @dataclass(frozen=True)
    class Broken:
        def solve(self, terms: Terms, start: tuple[np.ndarray, ...], seed: int) -> Answer:
            if terms.constant % 2:
                raise RuntimeError
            return Answer(record=np.full(3, 7), value=10**9, upper_bound=-5.0)

    it = planned(oracle=Broken(), rounds=4)
    with pytest.warns(UserWarning, match="no usable record in 4 of 4 rounds"):
        board = it.run(small(), Noise.simulated(1)).billboard
    assert board.rounds.fell_back.all()
    assert not board.records.unpack().any()
    it.check(board)


def test_mixed_signs_feed_back() -> None:
    """Spec query_release D1: the printed update with the best response of the analysis."""
    sound, mixed = (kind(records=500, eta=0.6, rounds=30, samples=100, workload=Workload.complete(8, width=2))
                    for kind in (DualQuery, MixedSigns))
    assert sound.run(small(), Noise.simulated(1)).diagnostics["mean_error"] < 0.05
    assert mixed.run(small(), Noise.simulated(1)).diagnostics["mean_error"] > 0.3


# ---- free attributes


def test_marginals_are_charged_before_the_first_draw() -> None:
    it = DualQuery.for_budget(records=500, epsilon=2.0, delta=1e-5, eta=0.5, samples=50, free="marginals",
                              marginal_share=0.1,
                              workload=Workload.complete(8, width=2))
    budget = ZCDP.within(2.0, 1e-5).rho
    assert it.events()[0].to_dict()["rho"] == pytest.approx(0.1 * budget, rel=1e-12)
    assert it.rho <= budget
    assert it.epsilon() <= 2.0
    assert it.rounds < DualQuery.for_budget(records=500, epsilon=2.0, delta=1e-5, eta=0.5, samples=50).rounds
    board = it.run(small(), Noise.simulated(1)).billboard
    counts = small().sum(axis=0)
    sigma = marginals_noise_std(it.marginal_rho, 8)
    assert sigma == pytest.approx(math.sqrt(8 / (2 * it.marginal_rho)), rel=1e-12)
    assert 0 < np.abs(board.marginals - counts).max() < 6 * sigma
    assert not any(isinstance(promise.loss, PureDP) for promise in it.guarantees().privacy)
    with pytest.raises(InvalidInput, match=r"^calculator"):
        it.epsilon(1e-5, "theorem-3.4.2")
    grouped = marginals_noise_std(0.01, 235, groups=15, grouped=235)
    assert grouped == pytest.approx(math.sqrt(30 / 0.02), rel=1e-12)


@pytest.mark.parametrize("free", ["zeros", "random", "marginals"])
def test_free_attributes_follow_their_public_rule(free: str) -> None:
    few = Workload.conjunctions([[0, 1], [1, 2]], attributes=8)
    it = planned(workload=few, free=free, marginal_rho=0.5 if free == "marginals" else 0.0, rounds=60)
    board = it.run(small(), Noise.simulated(1)).billboard
    it.check(board)
    rest = board.records.unpack()[:, 3:]
    means = {"zeros": np.zeros(5), "random": np.full(5, 0.5), "marginals": board.marginals[3:] / 500}[free]
    assert np.abs(rest.mean(axis=0) - means).max() < 6 * 0.5 / math.sqrt(60) * (free != "zeros") + 1e-12


def test_one_hot_records_become_rows() -> None:
    it = DualQuery(records=200, eta=1.0, rounds=40, samples=60, workload=Workload.complete(PEOPLE, width=2),
                   schema=PEOPLE,
                   one_hot=True, free="random")
    outcome = it.run(TABLE, Noise.simulated(1))
    it.check(outcome.billboard)
    table = outcome.billboard.rows(PEOPLE)
    assert table.column_names == ["kin", "age", "smoker"]
    assert (table.num_rows, table["kin"].null_count, table["age"].null_count) == (40, 0, 0)
    assert set(table["age"].to_pylist()) <= {"[0, 25)", "[25, 50)", "[50, 75)", "[75, 100]"}
    assert table["smoker"].type == pa.bool_()
    assert outcome.diagnostics["mean_error"] < 0.06
    assert it.log_universe == pytest.approx(math.log(5 * 4 * 2))
    loose = replace(it, one_hot=False, free="zeros").run(TABLE, Noise.simulated(1)).billboard.rows(PEOPLE)
    assert loose["kin"].null_count > 0
    with pytest.raises(InvalidInput, match=r"^schema"):
        outcome.billboard.rows(Schema.bits(3))


def test_default_records_of_groups_are_valid() -> None:
    groups = (np.array([0, 1, 2], np.int32), np.array([3, 4], np.int32))
    counts = np.array([-5, 900, 100, -3, -2, 500])
    for rule, marginals in (("zeros", None), ("random", None), ("marginals", counts)):
        found = np.array([default_record(rule, 6, seed=1, t=t, groups=groups, marginals=marginals, records=1000)
                          for t in range(400)])
        assert (found[:, :3].sum(axis=1) == 1).all()
        assert (found[:, 3:5].sum(axis=1) == 1).all()
        share = found.mean(axis=0)
        expected = {"zeros": [1, 0, 0, 1, 0, 0], "random": [1 / 3] * 3 + [0.5] * 3,
                    "marginals": [0, 0.9, 0.1, 0.5, 0.5, 0.5]}[rule]
        assert np.abs(share - expected).max() < 6 * 0.5 / 20 * (rule != "zeros") + 1e-12
    assert free_attributes(np.array([5]), 6, groups).tolist() == [True] * 5 + [False]
    assert free_attributes(np.array([4]), 6, groups).tolist() == [True] * 3 + [False, False, True]


# ---- the billboard checks itself


def _changed(board: SyntheticRecords, **parts: Any) -> SyntheticRecords:
    names = ("records", "weights", "rounds", "marginals", "data_records", "eta")
    return SyntheticRecords(**({name: getattr(board, name) for name in names} | parts))


def _rounds(rounds: Rounds, **parts: Any) -> Rounds:
    return Rounds(**(dict(vars(rounds)) | parts))


def _flipped(records: PackedBits) -> PackedBits:
    bits = records.unpack()
    bits[3] ^= True
    return PackedBits.pack(bits)


FORGERIES: list[tuple[str, Callable[[SyntheticRecords], SyntheticRecords]]] = [
    ("but the billboard states", lambda b: _changed(b, rounds=_rounds(b.rounds, values=b.rounds.values + 1))),
    ("upper bound", lambda b: _changed(b, rounds=_rounds(b.rounds, bounds=b.rounds.values - 1.0))),
    ("upper bound", lambda b: _changed(b, rounds=_rounds(b.rounds, bounds=b.rounds.bounds + 1.0))),
    ("draws", lambda b: _changed(b, rounds=_rounds(b.rounds, negations=b.rounds.negations + 1))),
    ("draws", lambda b: _changed(b, rounds=_rounds(b.rounds, weights=b.rounds.weights * 3))),
    ("the samples are not in net form", lambda b: _changed(b, rounds=_rounds(b.rounds, queries=b.rounds.queries * 0))),
    ("", lambda b: _changed(b, records=_flipped(b.records))),
    ("not all equal", lambda b: _changed(b, weights=np.linspace(1, 2, 12) / np.linspace(1, 2, 12).sum())),
    ("rule for free", lambda b: _changed(b, marginals=np.zeros(8, dtype=np.int64))),
]


@pytest.mark.parametrize(("says", "forge"), FORGERIES)
def test_a_billboard_that_contradicts_itself_is_found(
    says: str, forge: Callable[[SyntheticRecords], SyntheticRecords]
) -> None:
    it = planned()
    board = it.run(small(), Noise.simulated(1)).billboard
    it.check(board)
    with pytest.raises(InvalidInput, match=rf"^billboard.*{says}"):
        it.check(forge(board))


@pytest.mark.parametrize("oracle", [LocalSearch(), LocalSearch(certify=True), IntegerProgram(), Enumeration()])
def test_bounds_that_nobody_proved_are_found(oracle: Any) -> None:
    """Bounds equal to the values would take the best responses' part out of the certificate."""
    it = planned(oracle=oracle)
    board = it.run(small(), Noise.simulated(1)).billboard
    it.check(board)
    forged = _changed(board, rounds=_rounds(board.rounds, bounds=board.rounds.values.astype(np.float64)))
    if (board.rounds.bounds == board.rounds.values).all():
        it.check(forged)
        return
    with pytest.raises(InvalidInput, match=r"upper bound is lower than the bound that this oracle proves"):
        it.check(forged)


def test_billboards_of_other_shapes_are_refused() -> None:
    it = planned()
    board = it.run(small(), Noise.simulated(1)).billboard
    for other in (planned(rounds=11), planned(workload=Workload.complete(7, width=2))):
        with pytest.raises(InvalidInput, match=r"^billboard\.records"):
            other.check(board)
    for parts in ({"weights": np.ones(12)}, {"weights": np.ones(3) / 3}, {"marginals": np.zeros(2, np.int64)},
                  {"records": PackedBits.pack(np.zeros((3, 8), bool)), "weights": np.ones(3) / 3}):
        with pytest.raises(InvalidInput):
            _changed(board, **parts)
    for parts in ({"ends": board.rounds.ends[::-1].copy()}, {"values": board.rounds.values.astype(float)}):
        with pytest.raises(InvalidInput, match=r"^rounds"):
            _rounds(board.rounds, **parts)


def test_uneven_weights_answer_with_their_weight() -> None:
    it = planned()
    board = it.run(small(), Noise.simulated(1)).billboard
    weights = np.arange(1.0, 13.0) / 78
    values = np.array([it.queries.values(record) for record in board.records.unpack()])
    assert _changed(board, weights=weights).answers(it.queries) == pytest.approx(weights @ values)


def test_the_certificate_counts_certified_gaps() -> None:
    it, bits = planned(oracle=LocalSearch(certify=True)), small()
    outcome = it.run(bits, Noise.simulated(1))
    proved = outcome.certificate
    rounds = outcome.billboard.rounds
    assert proved.tau == pytest.approx(((rounds.bounds - rounds.values) / it.samples).mean())
    unproved = replace(it, oracle=LocalSearch()).run(bits, Noise.simulated(1))
    assert unproved.certificate.tau > proved.tau
    assert it.recertify(unproved.billboard).tau == pytest.approx(proved.tau)
    exact = replace(it, oracle=Enumeration()).run(bits, Noise.simulated(1))
    assert exact.certificate.tau == 0.0
    assert exact.certificate.bound == it.planned_certificate.bound


@pytest.mark.parametrize("seed", fast(1, range(3)))
def test_errors_stay_below_certificates_that_say_something(seed: int) -> None:
    """Spec query_release D3, where it is not vacuous: many samples, and data enough for them not to matter."""
    queries = Workload.complete(6, width=2)
    it = DualQuery(records=500, eta=0.15, rounds=200, samples=4000, workload=queries, oracle=Enumeration(),
                   failure_probability=1e-6)
    outcome = it.run(small(d=6), Noise.simulated(seed))
    assert not outcome.certificate.vacuous
    assert outcome.diagnostics["max_error"] <= outcome.certificate.bound


# ---- what is refused


@pytest.mark.parametrize(("arguments", "field"), [
    ({"records": 0}, "records"), ({"eta": 0.0}, "eta"), ({"eta": math.nan}, "eta"), ({"eta": 1e300}, "eta"),
    ({"rounds": 0}, "rounds"), ({"samples": 0}, "samples"), ({"records": 2**40, "rounds": 2**13}, "rounds"),
    ({"delta": 1.0}, "delta"),
    ({"calculator": "best"}, "calculator"), ({"failure_probability": 0.0}, "failure_probability"),
    ({"seed": -1}, "seed"), ({"free": "ones"}, "free"),
    ({"free": "marginals"}, "marginal_rho"), ({"marginal_rho": 0.1}, "marginal_rho"),
    ({"free": "marginals", "marginal_rho": 0.1, "calculator": "pure"}, "calculator"), ({"oracle": 3}, "oracle"),
    ({"workload": [1]}, "workload"), ({"one_hot": True}, "schema"), ({"schema": Schema.bits(3)}, "schema"),
    ({"workload": Workload.predicates([[0] * 255 + [1]]), "schema": Schema.bits(8), "one_hot": True}, "one_hot"),
])
def test_parameters_that_are_refused(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        planned(**arguments)
    assert caught.value.field == field


def test_more_queries_than_can_be_drawn_from_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("confide.release.dual_query.MOST_QUERIES", 100)
    with pytest.raises(InvalidInput, match=r"^workload: 112 queries are too many"):
        planned()


@pytest.mark.parametrize(("data", "arguments", "says"), [
    (lambda: small(400), {}, "400 records; must have 500, the number in .records."),
    (lambda: small(500, 7), {}, "7 attributes"),
    (lambda: TrueAnswers(counts=np.zeros(5, dtype=np.int64), records=500), {}, "5 true answers"),
    (lambda: TrueAnswers(counts=np.zeros(112, dtype=np.int64), records=500),
     {"free": "marginals", "marginal_rho": 0.1}, "one-way counts"),
])
def test_data_that_is_refused_before_the_first_draw(
    data: Callable[[], Any], arguments: dict[str, Any], says: str
) -> None:
    noise = Noise.simulated(1)
    with pytest.raises(InvalidInput, match=rf"^data.*{says}"):
        planned(**arguments).run(data(), noise)
    noise.selection([0.0], 1, stream=("round", 1))  # nothing was drawn
    noise.laplace(1.0, 1, stream=("marginals",))


def test_records_that_are_not_one_hot_are_refused() -> None:
    it = DualQuery(records=200, eta=1.0, rounds=3, samples=10, workload=Workload.complete(PEOPLE, width=2),
                   schema=PEOPLE,
                   one_hot=True)
    bits = PEOPLE.encode(TABLE).packed().unpack()
    it.run(bits, Noise.simulated(1))
    for column in (0, 1):
        broken = bits.copy()
        broken[7, :5] = column
        with pytest.raises(InvalidInput, match=r"^data: a record does not have exactly one"):
            it.run(PackedBits.pack(broken), Noise.simulated(1))


def test_a_run_needs_a_workload_and_noise() -> None:
    with pytest.raises(InvalidInput, match=r"^workload"):
        planned(workload=None).run(small(), Noise.simulated(1))
    with pytest.raises(InvalidInput, match=r"^noise"):
        planned().run(small(), None)
    with pytest.raises(InvalidInput, match=r"^billboard"):
        planned().check(object())


# ---- accuracy


def test_product_data() -> None:
    """Acceptance check 9, smaller: d = 50, s = 200, eta = .4, 2,000 queries, T = 50."""
    data, queries = product(5_000, 50, 1), Workload.random(50, 2_000, seed=2, signed=False)
    it = DualQuery(records=5_000, eta=0.4, rounds=50, samples=200, workload=queries)
    found = it.run(data, Noise.simulated(3)).diagnostics
    assert found["mean_error"] < 0.04
    assert found["max_error"] < 0.25


@pytest.mark.slow
@pytest.mark.parametrize(("d", "samples", "rounds", "mean", "most"), [
    (100, 300, 149, 0.021, 0.12), (1000, 3000, 70, 0.040, math.inf),
])
def test_product_data_in_full(d: int, samples: int, rounds: int, mean: float, most: float) -> None:
    """Acceptance check 9: n = k = 100,000, eta = .4; and mixed signs are of no use."""
    data, queries = product(100_000, d, 1), Workload.random(d, 100_000, seed=2, signed=False)
    answers = true_answers(data, queries)
    sound, mixed = (kind(records=100_000, eta=0.4, rounds=rounds, samples=samples, workload=queries)
                    .run(answers, Noise.simulated(3)).diagnostics for kind in (DualQuery, MixedSigns))
    assert sound["mean_error"] == pytest.approx(mean, rel=0.25)
    assert sound["max_error"] <= most
    assert mixed["mean_error"] > 0.3


@pytest.mark.slow
@pytest.mark.parametrize(("name", "attributes", "cases"), [
    ("adult", 235, ((7, 0.047, 0.57), (16, 0.024, 0.26), (40, 0.011, 0.13), (43, 0.0105, 0.124))),
    ("kdd99_10pct", 396, ((41, 0.0124, 0.153), (99, 0.0063, 0.072))),
])
def test_published_data(name: str, attributes: int, cases: tuple[tuple[int, float, float], ...]) -> None:
    """Spec query_release F: 500,000 signed 3-way marginals, eta = 2, s = 1000; Theorem 3.4.2's T, and zCDP's."""
    schema, table = published(name)
    codes = schema.encode(table)
    assert (schema.attributes, codes.records) == (attributes, table.num_rows)
    queries = Workload.random(schema, 500_000, seed=1)
    answers = true_answers(codes, queries)
    for rounds, mean, most in cases:
        it = DualQuery(records=codes.records, eta=2.0, rounds=rounds, samples=1000, workload=queries)
        found = it.run(answers, Noise.simulated(7)).diagnostics
        assert found["mean_error"] == pytest.approx(mean, rel=0.2)
        assert found["max_error"] == pytest.approx(most, rel=0.3)
    one_hot = DualQuery(records=codes.records, eta=2.0, rounds=cases[1][0], samples=1000, workload=queries,
                        schema=schema,
                        one_hot=True)
    assert one_hot.run(answers, Noise.simulated(7)).diagnostics["mean_error"] < 0.8 * cases[1][1]
