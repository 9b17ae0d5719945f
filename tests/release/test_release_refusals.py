"""What the release of answers refuses before anything is drawn, and what it survives once something was."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from confide.campaign.kinds.release.config import BitColumn
from confide.contract.errors import InvalidInput, Refused
from confide.contract.outcome import Outcome
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.release import (
    MWEM,
    Binned,
    Bit,
    Codes,
    DualQuery,
    Enumeration,
    Levels,
    Reweighted,
    Schema,
    Workload,
    true_answers,
)
from confide.release._dual_fit import FLOOR, GRADIENT, MostDrawn, fit, is_fit
from confide.release.answers import TrueAnswers
from confide.release.baselines import (
    AllZeros,
    FixedBillboard,
    IndependentBillboard,
    IndependentMarginals,
    NoisyAnswers,
    NoisyBillboard,
    Uniform,
)
from confide.release.comparison import compare
from confide.release.dual_query import _Data
from confide.release.oracle import Terms
from confide.release.oracle.local_search import LocalSearch
from confide.release.oracle.terms import most_clauses, separated
from confide.release.records import PackedBits

pytestmark = pytest.mark.filterwarnings("ignore:.* have no usable row:UserWarning")  # tables of few rows

HOT = Schema((Levels(column="c", levels=tuple("abcdefgh")),))
SINGLES = Workload.complete(8, width=1)
ZEROS = np.zeros((50, 8), np.bool_)
CELLS = np.arange(50, dtype=np.uint16)[:, None] % 8
PAIRS = Workload.complete(4, width=2)
BITS = study_generator(1, "bits").random((100, 4)) < 0.5


def refused(make, data, words):
    """Refused, before anything is drawn."""
    noise = Noise.simulated(1)
    with pytest.raises(InvalidInput, match=words):
        make.run(data, noise)
    assert "0 streams" in repr(noise)


def less_noisy():
    """The mechanisms whose noise counts on one-hot records."""
    game = DualQuery(records=50, eta=0.1, rounds=1, samples=1, workload=SINGLES, schema=HOT, free="marginals",
                     marginal_rho=0.01)
    return [
        IndependentMarginals(records=50, workload=SINGLES, schema=HOT, epsilon=1.0, delta=1e-3),
        NoisyAnswers(records=50, workload=SINGLES, schema=HOT, epsilon=1.0, delta=1e-3, law="structured"),
        game, Reweighted(dual_query=game, rho_mea=1.0, measured=1),
    ]


# ---- data that the noise does not count on


@pytest.mark.parametrize("place", range(4))
def test_noise_for_one_hot_records_takes_no_others(place):
    make = less_noisy()[place]
    refused(make, ZEROS, "exactly one attribute")
    refused(make, PackedBits.pack(ZEROS), "exactly one attribute")
    twice = np.eye(8, dtype=np.bool_)[CELLS[:, 0]]
    twice[[0, 1]] = False
    twice[0, [0, 1]] = True  # as many ones as records
    refused(make, twice, "exactly one attribute")
    refused(make, Codes(schema=Schema.bits(8), cells=ZEROS.astype(np.uint16)), "another schema")
    other = Schema((Levels(column="other", levels=tuple("abcdefgh")),))
    refused(make, Codes(schema=other, cells=CELLS), "another schema")
    assert make.run(np.eye(8, dtype=np.bool_)[CELLS[:, 0]], Noise.simulated(1))
    assert make.run(Codes(schema=HOT, cells=CELLS), Noise.simulated(1))


@pytest.mark.parametrize("place", range(2))
def test_true_answers_say_of_which_queries_and_records(place):
    make, codes = less_noisy()[place], Codes(schema=HOT, cells=CELLS)
    negated = Workload.conjunctions(SINGLES.index, ~SINGLES.bits, attributes=8)
    bits = np.eye(8, dtype=np.bool_)[CELLS[:, 0]]
    refused(make, TrueAnswers(counts=np.full(8, 50), records=50), "without their queries or their one-hot schema")
    refused(make, true_answers(codes, negated), "other queries")
    refused(make, true_answers(bits, SINGLES), "without their queries or their one-hot schema")
    refused(make, true_answers(ZEROS, SINGLES), "without their queries or their one-hot schema")
    assert make.run(true_answers(codes, SINGLES), Noise.simulated(1))
    table = {"c": [HOT.columns[0].levels[cell] for cell in CELLS[:, 0]]}
    assert make.run(true_answers(table, SINGLES, HOT), Noise.simulated(1))
    assert make.run(true_answers(table, SINGLES, HOT, records=50), Noise.simulated(1))


@pytest.mark.parametrize("make", [
    lambda: MWEM(records=100, workload=PAIRS, rounds=2, epsilon=1.0),
    lambda: DualQuery(records=100, eta=0.5, rounds=2, samples=3, workload=PAIRS),
    lambda: Reweighted(dual_query=DualQuery(records=100, eta=0.5, rounds=2, samples=3, workload=PAIRS), rho_mea=1.0,
                       measured=1),
    lambda: NoisyAnswers(records=100, workload=PAIRS, epsilon=1.0, delta=1e-3),
])
def test_answers_to_other_queries_are_no_data(make):
    other = Workload.conjunctions(PAIRS.index, ~PAIRS.bits, attributes=4)
    refused(make(), true_answers(BITS, other), "other queries")
    assert make().run(true_answers(BITS, PAIRS), Noise.simulated(1))
    assert make().run(TrueAnswers(counts=PAIRS.counts(PackedBits.pack(BITS)), records=100), Noise.simulated(1))


def test_comparisons_read_twice_and_hold_bits_against_the_schema():
    with pytest.raises(InvalidInput, match="read only once"):
        compare(iter([PackedBits.pack(BITS)]), PAIRS, epsilon=1.0, delta=1e-3, seed=1)
    with pytest.raises(InvalidInput, match="exactly one"):
        compare(ZEROS, SINGLES, epsilon=1.0, delta=1e-3, seed=1, schema=HOT, mwem_rounds=None)
    bits = np.eye(8, dtype=np.bool_)[CELLS[:, 0]]
    found = compare(bits, SINGLES, epsilon=1.0, delta=1e-3, seed=1, schema=HOT, mwem_rounds=None)
    assert found["structured Gaussian"].maximum_error < 1
    blocks = iter([PackedBits.pack(BITS[:64]), PackedBits.pack(BITS[64:])])
    make = NoisyAnswers(records=100, workload=PAIRS, epsilon=1.0, delta=1e-3)
    board = make.run(blocks, Noise.simulated(1)).billboard
    np.testing.assert_array_equal(board.noisy, make.run(BITS, Noise.simulated(1)).billboard.noisy)


# ---- numbers


def test_numbers_are_kept_as_pythons_own():
    for eta in (np.float32(0.7), Fraction(1, 3), np.longdouble(0.5), 1):
        game = DualQuery(records=np.int16(7), eta=eta, rounds=np.uint8(3), samples=np.int32(4), workload=PAIRS,
                         delta=np.float64(0.0), seed=np.int64(1))
        assert [type(each) for each in (game.records, game.eta, game.rounds, game.samples, game.seed)] == \
            [int, float, int, int, int]
        assert type(game.delta) is float
        assert game.eta == float(eta)
        assert game.run(BITS[:7], Noise.simulated(1))
    assert type(replace(game, eta=np.float32(0.25)).eta) is float
    mwem = MWEM(records=np.int32(100), workload=PAIRS, rounds=np.uint8(2), epsilon=Fraction(1, 3),
                failure_probability=np.float32(0.25))
    assert [type(each) for each in (mwem.records, mwem.rounds, mwem.epsilon, mwem.failure_probability)] == \
        [int, int, float, float]
    noisy = NoisyAnswers(records=np.int32(100), workload=PAIRS, epsilon=np.float32(1), delta=np.float32(0.001))
    assert [type(each) for each in (noisy.records, noisy.epsilon, noisy.delta)] == [int, float, float]
    both = Reweighted(dual_query=game, rho_mea=np.float32(1), measured=np.int8(1), prior=Fraction(1, 2))
    assert [type(each) for each in (both.rho_mea, both.measured, both.prior)] == [float, int, float]
    with pytest.raises(InvalidInput, match="rounds"):
        DualQuery(records=np.int32(2**30), eta=1.0, rounds=np.int32(2**30), samples=1)


def test_what_guarantees_refuse_is_refused_by_the_constructor():
    with pytest.raises(InvalidInput, match=r"rounds: 100001 is too large; must be in \[1, 100,000\]"):
        DualQuery(records=10, eta=0.5, rounds=100_001, samples=1)
    with pytest.raises(InvalidInput, match="samples"):
        DualQuery(records=10, eta=0.5, rounds=2, samples=2**39 + 1)
    assert DualQuery(records=10, eta=0.5, rounds=100_000, samples=2**39).rounds == 100_000
    one = Workload.conjunctions([[0]], attributes=1)
    many = Workload.random(5000, 10, seed=1)
    vars(many)["index"] = np.broadcast_to(many.index[:1], (2**24 + 1, 3))
    with pytest.raises(InvalidInput, match="16,777,217 queries are too many"):
        MWEM(records=10, workload=many, rounds=1, epsilon=1.0)
    outcome = MWEM(records=4, workload=one, rounds=2, epsilon=1.0, form="analysed").run(
        np.array([[1], [0], [0], [1]]), Noise.simulated(1))
    assert outcome.guarantees.items
    assert 0 <= outcome.certificate.measured <= 1


@pytest.mark.parametrize(("make", "field"), [
    (lambda: MWEM(records=10, workload=PAIRS, rounds=1, epsilon=1e-18), "epsilon"),
    (lambda: NoisyAnswers(records=10, workload=PAIRS, epsilon=1e-17, delta=0.0, law="laplace"), "epsilon"),
    (lambda: Reweighted(dual_query=DualQuery(records=10, eta=0.5, rounds=2, samples=3, workload=PAIRS), rho_mea=1e-34,
                        measured=1), "rho_mea"),
    (lambda: DualQuery(records=10, eta=0.5, rounds=2, samples=3, workload=PAIRS, free="marginals", marginal_rho=1e-34),
     "marginal_rho"),
    (lambda: IndependentMarginals(records=2**53, workload=PAIRS, epsilon=1.0, delta=1e-3), "records"),
])
def test_noise_that_cannot_be_drawn_is_refused_by_the_constructor(make, field):
    with pytest.raises(InvalidInput, match=f"^{field}: "):
        make()


# ---- an engine


def test_an_engine_clips_huge_whole_numbers_too(tmp_path):
    import ibis

    schema = Schema((Binned(column="v", lower=0, upper=9, bins=10, whole=True, out_of_bounds="clip"),))
    values = [1.0, 1e19, -1e300, 2.5, 2.0**53, math.nan, math.inf, 3.0]
    rejected: dict[str, str] = {}
    here = schema.encode({"v": values}, unusable="null", rejected=rejected, records=8)
    parquet.write_table(pa.table({"v": values, "place": list(range(8))}), tmp_path / "table.parquet")
    table = ibis.duckdb.connect().read_parquet(tmp_path / "table.parquet").order_by("place")
    reported: dict[str, str] = {}
    there = schema.encode(table, unusable="null", rejected=reported, records=8)
    np.testing.assert_array_equal(there.cells, here.cells)
    assert reported == rejected
    counted = true_answers(table, Workload.complete(schema, width=1), schema, unusable="null")
    np.testing.assert_array_equal(counted.counts, Workload.complete(schema, width=1).counts(here))


# ---- what is private or shared


def test_what_a_run_read_shows_no_count():
    assert "123" not in repr(_Data(np.array([123]), np.array([123])))


def test_a_workload_does_not_follow_its_makers_arrays():
    index, bits = np.zeros((1, 1), np.int32), np.ones((1, 1), np.bool_)
    view = index.view()
    view.flags.writeable = False
    made = [Workload(kind="conjunctions", attributes=4, index=each, bits=bits) for each in (index, view)]
    index[0, 0], bits[0, 0] = 3, False
    for workload in made:
        assert workload.index.tolist() == [[0]]
        assert workload.bits.all()
        with pytest.raises(ValueError, match="read-only"):
            workload.index[0, 0] = 1


# ---- the fit


def objective(weights, q, y, kappa):
    """What the fit minimises."""
    some = weights[weights > 0]
    return float(((weights @ q - y) ** 2).sum()) / (2 * kappa) + float((some * np.log(some * len(weights))).sum())


def test_fits_with_a_small_kappa_are_found():
    g = study_generator(3, "fits")
    for case in range(20):
        t, m = int(g.integers(1, 40)), int(g.integers(1, 60))
        q = g.random((t, m)) < g.random()
        y = g.normal(q.mean(axis=0), (0.01, 0.3, 3.0)[case % 3])
        for kappa in (1e-300, 1e-12, 1e-8, 1e-4, 1.0, 1e300):
            found = fit(q, y, kappa)
            assert found.found
            assert found.weights.sum() == pytest.approx(1.0)
            used = max(kappa, FLOOR)
            if 1e-5 < used < 1e9:  # optimality: the primal's multipliers give the weights again
                nu = (found.weights @ q - y) / used
                again = -(q @ nu)
                again = np.exp(again - again.max())
                # The fit ends where a step changes its objective by rounding: multipliers err by sqrt(2e-15/used).
                rounding = m * (2e-15 / used) ** 0.5
                assert np.abs(again / again.sum() - found.weights).max() < rounding * found.weights.max()
            best = objective(found.weights, q, y, used)
            for size in (1e-3, 0.1, 2.0):
                other = found.weights * np.exp(g.normal(0.0, size, t))
                assert objective(other / other.sum(), q, y, used) > best - 1e-9 * (1 + best)
            assert is_fit(found.weights, q, y, kappa)
            other = np.roll(found.weights, 1) * 0.9 + 0.1 / t
            assert is_fit(other, q, y, kappa) == (objective(other, q, y, used) < best + 1e-9 * (1 + best))


def test_a_fit_never_fails_but_says_so():
    even = fit(np.ones((3, 2), np.bool_), np.array([math.inf, 0.0]), 1.0)
    assert not even.found
    assert even.weights.tolist() == [1 / 3] * 3
    assert is_fit(np.full(3, 1 / 3), np.ones((3, 2), np.bool_), np.array([math.nan, 0.0]), 1.0)
    assert GRADIENT < 1e-5


def test_a_release_with_hardly_any_noise_is_fitted():
    game = DualQuery(records=10**10, eta=0.5, rounds=8, samples=30, workload=PAIRS)
    counts = PAIRS.counts(PackedBits.pack(BITS)) * 10**8
    for prior in (None, 1e-300):
        planned = Reweighted(dual_query=game, rho_mea=1.0, measured=6, prior=prior)
        for seed in range(4):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outcome = planned.run(TrueAnswers(counts=counts, records=10**10), Noise.simulated(seed))
            planned.check(outcome.billboard)
            assert outcome.certificate.fitted
            with pytest.raises(InvalidInput, match="do not fit"):
                planned.check(replace(outcome.billboard, weights=np.roll(outcome.billboard.weights, 1)))


# ---- oracles and rules


def test_classes_are_no_oracles_and_no_rules():
    game = DualQuery(records=100, eta=0.5, rounds=2, samples=3, workload=PAIRS)
    with pytest.raises(InvalidInput, match=r"oracle: LocalSearch is a class; write LocalSearch\(\)"):
        replace(game, oracle=LocalSearch)
    with pytest.raises(InvalidInput, match=r"rule: MostDrawn is a class; write MostDrawn\(\)"):
        Reweighted(dual_query=game, rho_mea=1.0, measured=1, selection="transcript", rule=MostDrawn)


@dataclass(frozen=True, kw_only=True)
class Fails:
    """Fails from its nth call on."""

    calls: list
    after: int

    def choose(self, transcript, count):
        self.calls.append(1)
        if len(self.calls) > self.after:
            raise KeyError("secret")
        return np.arange(count)


def test_a_rule_that_fails_does_not_end_a_paid_release():
    game = DualQuery(records=100, eta=0.5, rounds=2, samples=3, workload=PAIRS)
    planned = Reweighted(dual_query=game, rho_mea=1.0, measured=2, selection="transcript", prior=1e6,
                         rule=Fails(calls=[], after=1))
    with pytest.warns(UserWarning, match=r"the rule has failed \(KeyError\)"):
        outcome = planned.run(BITS, Noise.secure())
    plain = replace(planned, selection="public")
    np.testing.assert_array_equal(outcome.billboard.chosen, plain.run(BITS, Noise.simulated(1)).billboard.chosen)
    noise = Noise.secure()
    with pytest.raises(KeyError):
        replace(planned, rule=Fails(calls=[], after=0)).run(BITS, noise)
    assert "0 streams" in repr(noise)


# ---- billboards


def test_mwem_takes_no_board_of_other_queries():
    mwem = MWEM(records=100, workload=PAIRS, rounds=2, epsilon=1.0)
    board = mwem.run(BITS, Noise.simulated(1)).billboard
    mwem.check(board)
    mwem.check(replace(board, workload=Workload.conjunctions(PAIRS.index, PAIRS.bits, attributes=4)))
    for other in (Workload.conjunctions(PAIRS.index, ~PAIRS.bits, attributes=4),
                  Workload.parities(PAIRS.index, attributes=4)):
        for read in (mwem.check, mwem.certify):
            with pytest.raises(InvalidInput, match="another plan"):
                read(replace(board, workload=other))


def test_a_board_of_records_says_of_which_plan():
    game = DualQuery(records=100, eta=0.5, rounds=2, samples=3, workload=PAIRS)
    both = Reweighted(dual_query=game, rho_mea=1.0, measured=2, prior=1e6)
    for planned, other in [(game, lambda **new: replace(game, **new)),
                           (both, lambda **new: replace(both, dual_query=replace(game, **new)))]:
        board = planned.run(BITS, Noise.simulated(1)).billboard
        planned.check(board)
        for changed in ({"records": 101}, {"eta": 0.4}):
            with pytest.raises(InvalidInput, match=r"n = 100 and eta = 0\.5"):
                other(**changed).check(board)


def test_baselines_check_their_boards():
    plain = {"records": 100, "workload": PAIRS}
    budget = {**plain, "epsilon": 1.0, "delta": 1e-3}
    made = [AllZeros(**plain), Uniform(**plain), IndependentMarginals(**budget), NoisyAnswers(**budget)]
    boards = [each.run(BITS, Noise.simulated(1)).billboard for each in made]
    for place, mechanism in enumerate(made):
        for other, board in enumerate(boards):
            if place == other:
                mechanism.check(board)
                with pytest.raises(InvalidInput, match=r"billboard\.records"):
                    mechanism.check(replace(board, records=99))
            else:
                with pytest.raises(InvalidInput, match="billboard"):
                    mechanism.check(board)
    for mechanism, board in [
        (made[0], FixedBillboard(records=100, attributes=3, one=0.0)),
        (made[2], IndependentBillboard(records=100, ones=np.full(4, np.nan))),
        (made[2], IndependentBillboard(records=100, ones=np.zeros(3, np.int64))),
        (made[3], NoisyBillboard(records=100, workload=PAIRS, noisy=np.zeros(5, np.int64))),
        (made[3], replace(boards[3], workload=Workload.conjunctions(PAIRS.index, ~PAIRS.bits, attributes=4))),
    ]:
        with pytest.raises(InvalidInput, match="billboard"):
            mechanism.check(board)


def test_every_outcome_is_read_again(tmp_path):
    schema = Schema((Levels(column="a", levels=("x", "y", "z")), Bit(column="b")))
    queries = Workload.complete(schema, width=2)
    table = {"a": ["x", "y", "z", "x"] * 25, "b": [1, 0, 0, 1] * 25}
    plain = {"records": 100, "workload": queries, "schema": schema}
    game = DualQuery(**plain, eta=0.5, rounds=3, samples=5, one_hot=True)
    budget = {**plain, "epsilon": 1.0, "delta": 1e-3}
    for place, mechanism in enumerate([
        game, Reweighted(dual_query=game, rho_mea=1.0, measured=2, prior=1e6), MWEM(**plain, rounds=2, epsilon=1.0),
        AllZeros(**plain), Uniform(**plain), IndependentMarginals(**budget), NoisyAnswers(**budget),
        NoisyAnswers(**budget, law="structured"),
    ]):
        outcome = mechanism.run(table, Noise.secure())
        outcome.save(tmp_path / str(place))
        board = Outcome.load(tmp_path / str(place)).billboard
        mechanism.check(board)
        np.testing.assert_array_equal(board.answers(queries), outcome.billboard.answers(queries))


# ---- records as tables, and bits with names


NAMED = Schema((Levels(column="sex", levels=("female", "male")), Bit(column="smoker", true="yes", false="no"),
                Bit(column="old")))
PEOPLE = {"sex": ["male", "female", "male"], "smoker": ["yes", "no", "no"], "old": [True, False, True]}


def test_a_bit_may_name_its_texts(tmp_path):
    import ibis

    codes = NAMED.encode(PEOPLE)
    assert codes.cells.tolist() == [[1, 1, 1], [0, 0, 0], [1, 0, 1]]
    assert codes.table().to_pydict() == PEOPLE
    assert NAMED.names == ("sex = female", "sex = male", "smoker = yes", "old")
    assert NAMED.negated == ("sex != female", "sex != male", "smoker = no", "not old")
    assert NAMED.null_record.tolist() == [True, False, False, False]
    for text, literal in [("smoker = yes", (2, True)), ("smoker != no", (2, True)), ("smoker = no", (2, False)),
                          ("smoker != yes", (2, False)), ("not old", (3, False))]:
        assert NAMED.literal(text) == literal
    assert NAMED.attribute("smoker", "yes") == 2
    with pytest.raises(InvalidInput, match="smoker: the column has a value that it does not accept; must be one of no"):
        NAMED.encode({**PEOPLE, "smoker": ["yes", "1", None]})
    parquet.write_table(pa.table(PEOPLE), tmp_path / "table.parquet")
    table = ibis.duckdb.connect().read_parquet(tmp_path / "table.parquet")
    queries = Workload.complete(NAMED, width=2, positive=False)
    np.testing.assert_array_equal(true_answers(table, queries, NAMED).counts, queries.counts(codes))
    reported: dict[str, str] = {}
    wrong = {**PEOPLE, "smoker": ["yes", "perhaps", None]}
    found = NAMED.encode(wrong, records=3, unusable="null", rejected=reported)
    assert found.cells.tolist() == [[1, 1, 1], [0, 0, 0], [0, 0, 0]]
    assert reported == {"2": "smoker: is not a level; must be one of no, yes",
                        "3": "smoker: is missing; must be one of no, yes"}
    numbers = Bit(column="b", true="2", false="1")
    assert numbers.encode([2, 1, 0]).values.tolist() == [1, 0, 0]
    for texts in ({"true": "yes"}, {"false": "no"}, {"true": "yes", "false": "yes"}, {"true": "", "false": "no"}):
        with pytest.raises(InvalidInput):
            Bit(column="b", **texts)


def test_boards_with_records_give_tables():
    queries = Workload.complete(NAMED, width=2)
    game = DualQuery(records=3, eta=0.5, rounds=2, samples=5, workload=queries, schema=NAMED, one_hot=True)
    rows = game.run(PEOPLE, Noise.simulated(1)).billboard.rows(NAMED)
    assert rows.column_names == list(PEOPLE)
    assert set(rows["smoker"].to_pylist()) <= {"yes", "no"}
    board = MWEM(records=3, workload=queries, schema=NAMED, rounds=2, epsilon=1.0).run(PEOPLE,
                                                                                       Noise.simulated(1)).billboard
    assert board.rows(NAMED).num_rows == 3
    assert board.rows(NAMED, 40).column_names == list(PEOPLE)
    assert board.bits(40).records == 40
    with pytest.raises(InvalidInput, match="schema"):
        board.rows(Schema.bits(3))


def test_a_campaign_names_the_texts_of_a_bit():
    column = BitColumn(column=("smoker", "owner"), bit=True, true="yes", false="no")
    assert column.roles() == (Bit(column="smoker", true="yes", false="no"), Bit(column="owner", true="yes", false="no"))
    assert BitColumn(column="smoker", bit=True).roles() == (Bit(column="smoker"),)
    with pytest.raises(InvalidInput, match="false"):
        BitColumn(column="smoker", bit=True, true="yes").roles()


@pytest.mark.parametrize("make", [
    lambda **given: DualQuery(records=3, eta=0.5, rounds=2, samples=5, **given),
    lambda **given: Reweighted(dual_query=DualQuery(records=3, eta=0.5, rounds=2, samples=5, **given), rho_mea=1.0,
                               measured=1),
    lambda **given: MWEM(records=3, rounds=2, epsilon=1.0, **given),
    lambda **given: NoisyAnswers(records=3, epsilon=1.0, delta=1e-3, **given),
    lambda **given: IndependentMarginals(records=3, epsilon=1.0, delta=1e-3, **given),
])
def test_a_bare_table_is_refused_by_its_column(make):
    queries = Workload.complete(NAMED, width=2)
    refused(make(workload=queries, schema=NAMED), {**PEOPLE, "smoker": ["yes", "no", "x"]}, "smoker: the column has")
    with pytest.raises(InvalidInput, match=r"^schema: "):
        make(workload=queries, schema="x")
    with pytest.raises(InvalidInput, match=r"^schema: "):
        make(workload=queries, schema=Schema.bits(3))


def test_lists_of_positions_are_lists():
    game = DualQuery(records=100, eta=0.5, rounds=2, samples=3, workload=PAIRS)
    assert Reweighted(dual_query=game, rho_mea=1.0, listed=np.array([1, 2])).listed == (1, 2)
    for wrong in ("12", 3, (), (1, 1), (6,), (-1,), (0.5,)):
        with pytest.raises(InvalidInput, match="listed"):
            Reweighted(dual_query=game, rho_mea=1.0, listed=wrong)


def test_counts_beyond_64_bits_are_no_counts():
    with pytest.raises(InvalidInput, match="records"):
        TrueAnswers(counts=np.array([2**63 + 5], np.uint64), records=2**64)


def test_two_mechanisms_can_share_one_noise():
    noise = Noise.secure()
    game = DualQuery(records=100, eta=0.5, rounds=2, samples=3, workload=PAIRS)
    MWEM(records=100, workload=PAIRS, rounds=2, epsilon=1.0).run(BITS, noise)
    both = Reweighted(dual_query=game, rho_mea=1.0, measured=2, prior=1e6, selection="private", rho_sel=0.1)
    assert both.run(BITS, noise)


def test_an_oracle_that_is_too_small_says_so():
    queries = Workload.complete(20, width=2)
    game = DualQuery(records=100, eta=0.5, rounds=2, samples=50, workload=queries, oracle=Enumeration(most=4))
    with pytest.warns(UserWarning, match="no usable record in 2 of 2 rounds"):
        game.run(np.tile(BITS, 5), Noise.simulated(1))


def test_no_budget_advises_an_infinite_one():
    with pytest.raises(Refused) as caught:
        DualQuery.for_budget(records=1, epsilon=1e-9, delta=1e-9, eta=1e6, samples=1, calculator="theorem-3.4.2")
    assert "eta <= 7.402e-11" in str(caught.value)
    assert ">= inf" not in str(caught.value)


def test_a_query_of_too_many_clauses_on_one_hot_records_is_refused() -> None:
    """Its clauses are the product of the values that it names of each column: public, and known before the run."""
    schema = Schema(tuple(Levels(column=name, levels=tuple("abcdefghijklmnopqrst")) for name in "xyz"))
    off = [attribute for group in schema.groups for attribute in group[:18].tolist()]
    wide = Workload.conjunctions([off], [[False] * len(off)], attributes=schema)
    assert most_clauses(wide.index, schema.groups, schema.attributes) == 19**3
    options = {"records": 1000, "eta": 1.0, "rounds": 3, "samples": 10, "workload": wide, "schema": schema}
    assert DualQuery(**options).rounds == 3
    with pytest.raises(InvalidInput, match="6,859 clauses on one-hot records"):
        DualQuery(**options, one_hot=True)


@pytest.mark.parametrize("literals", [
    [(0, False), (1, False), (3, True), (6, False)], [(0, False), (1, False), (2, False), (3, False), (4, False)],
    [(0, True), (6, True)], [(7, False)]])
def test_the_number_of_clauses_is_that_of_the_rewriting(literals: list[tuple[int, bool]]) -> None:
    schema = Schema((Levels(column="x", levels=("a", "b", "c")), Levels(column="y", levels=("a", "b", "c")),
                     Bit(column="z"), Bit(column="u")))
    terms = Terms(kind="conjunctions", attributes=8, index=np.array([[a for a, _ in literals]], dtype=np.int32),
                  bits=np.array([[b for _, b in literals]]), weights=np.array([1]), constant=0,
                  groups=tuple(schema.groups))
    found = separated(terms)
    assert len(found.weights) <= most_clauses(terms.index, schema.groups, 8)
    if not any(bit for _, bit in literals):
        assert len(found.weights) == most_clauses(terms.index, schema.groups, 8)
