"""Reweighted: its ledger, its selections, the fit against a solver of its own, and what it is worth."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_data import latent_classes
from scipy.optimize import minimize
from scipy.special import logsumexp

from confide.contract import InvalidInput, NotGuaranteed, Outcome, Refused
from confide.contract.encoding import decode, encode
from confide.contract.guarantees import Audience, Relation
from confide.privacy import Accountant
from confide.privacy.events import BoundedRangeEvent, Repeated, ZCDPEvent
from confide.privacy.ledger import Account, Ledger
from confide.privacy.losses import ZCDP, ApproxDP
from confide.privacy.noise import ForcedNoise, Noise, RecordingNoise
from confide.release._dual_fit import GRADIENT, MostDrawn, fit_weights, most_targets, total_variation
from confide.release.answers import TrueAnswers, true_answers
from confide.release.dual_query import DualQuery
from confide.release.mwem import MWEM
from confide.release.records import PackedBits
from confide.release.reweighted import Reweighted, ReweightedRecords
from confide.release.synthetic import Rounds
from confide.release.workload import Workload

TRIPLES = Workload.complete(10, width=3)
PAIRS = Workload.complete(5, width=2)


def small(**others):
    game = DualQuery(records=500, eta=1.0, rounds=12, samples=30, workload=PAIRS)
    return Reweighted(**{"dual_query": game, "rho_mea": 0.2, "measured": 6, **others})


def tenth(**others):
    """The instance of the acceptance checks: d = 10, n = 20,000, 120 marginals, epsilon 1, delta 1e-6."""
    return Reweighted.for_budget(records=20_000, epsilon=1.0, delta=1e-6, eta=2.0, samples=200, workload=TRIPLES,
                                 **others)


# ---- the fit


def slow_fit(values, targets, kappa):
    """By the primal over a softmax, with a general solver."""
    records = len(values)

    def objective(logits):
        p = np.exp(logits - logits.max())
        p /= p.sum()
        gap = p @ values - targets
        relative = np.sum(p * np.log(np.maximum(p * records, 1e-300)))
        return gap @ gap / (2 * kappa) + relative

    found = minimize(objective, np.zeros(records), method="BFGS", options={"gtol": 1e-9, "maxiter": 5000})
    p = np.exp(found.x - found.x.max())
    return p / p.sum()


def penalised(values, targets, kappa, weights):
    """|p.q - y|^2 / 2 + kappa KL(p || even), the objective over (sigma/n)^2."""
    misfit = weights @ values - targets
    return misfit @ misfit / 2 + kappa * (weights @ np.log(weights * len(weights)))


def multipliers(values, targets, kappa, weights):
    """Those that the weights belong to: from their logarithms where records differ, and from the gradient, which is
    zero there, along directions that no record sees.
    """
    seen = values - values.mean(axis=0)
    logs = np.log(weights)
    reported = np.linalg.lstsq(seen, logs.mean() - logs, rcond=1e-10)[0]
    blind = (weights @ values - targets) / kappa
    rows = np.linalg.svd(seen, full_matrices=False)[2][: np.linalg.matrix_rank(seen)]
    return reported + blind - rows.T @ (rows @ blind)


@given(st.integers(2, 8), st.integers(1, 10), st.floats(0.05, 5), st.integers(0, 1000))
@settings(max_examples=12)
def test_the_fit_minimises_the_penalised_misfit(records, queries, kappa, seed):
    generator = np.random.default_rng(seed)
    values = generator.random((records, queries)) < 0.5
    targets = generator.normal(0.5, 0.4, queries)  # some beyond [0, 1]
    weights = fit_weights(values, targets, kappa)
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(weights, slow_fit(values, targets, kappa), atol=2e-4)


@pytest.mark.parametrize("queries", [3, 120], ids=["fewer queries than records", "more"])
@pytest.mark.parametrize("kappa", [1e-8, 1e-3, 10.0])
def test_the_gradient_is_as_small_as_promised(queries, kappa):
    generator = np.random.default_rng(1)
    values = generator.random((50, queries)) < 0.4
    made = generator.dirichlet(np.ones(50))
    targets = made @ values
    weights = fit_weights(values, targets, kappa)
    assert (weights > 0).all()
    nu = multipliers(values, targets, kappa, weights)
    logits = -(values @ nu)
    again = np.exp(logits - logits.max())
    np.testing.assert_allclose(again / again.sum(), weights, rtol=1e-6)
    assert np.abs(targets + kappa * nu - weights @ values).max() < GRADIENT * 1.001 + 1e-12
    # No weights are better: by weak duality the penalised misfit is at least what the multipliers prove, and the
    # weights that made the targets, which miss nothing, are not.
    reached = penalised(values, targets, kappa, weights)
    proved = -kappa * (logsumexp(logits) - math.log(50) + nu @ targets + kappa * nu @ nu / 2)
    assert 0 <= reached - proved + 1e-13 < 1e-4 * reached + 1e-12
    assert reached <= penalised(values, targets, kappa, made) * (1 + 1e-6) + 1e-12


def test_exact_answers_of_a_reweighting_are_found_again():
    generator = np.random.default_rng(2)
    values = generator.random((30, 200)) < 0.5
    true = generator.dirichlet(np.full(30, 2.0))
    np.testing.assert_allclose(fit_weights(values, true @ values, 1e-9), true, atol=1e-5)
    assert total_variation(np.full(8, 0.125)) == 0.0
    assert total_variation(np.array([1.0, 0, 0, 0])) == 0.75


# ---- the ledger


def test_the_ledger_shows_all_parts_before_the_first_draw():
    planned = tenth(measured=48, selection="private")
    account = Account(name="survey", neighbours=Relation.REPLACE, audience=Audience.PUBLIC)
    ledger = Ledger()
    ledger.register(account, ApproxDP(1.0, 1e-6), "zcdp")

    ledger.charge(account, *planned.events())
    game, selections, measurements = (planned.dual_query.rho, 48 * planned.epsilon_sel**2 / 8, planned.rho_mea)
    assert ledger.spent(account).rho == pytest.approx(game + selections + measurements, rel=1e-9)
    assert planned.rho <= ZCDP.within(1.0, 1e-6).rho
    with pytest.raises(Refused):  # and nothing is left for a second one
        ledger.charge(account, *planned.events())


@pytest.mark.parametrize("selection", ["public", "transcript", "private"])
def test_a_budget_is_split_and_kept(selection):
    planned = tenth(measured=48, selection=selection)
    total = ZCDP.within(1.0, 1e-6).rho
    shares = (0.85, 0.05) if selection == "private" else (0.9, 0.0)
    assert planned.dual_query.rho <= shares[0] * total
    assert DualQuery(records=20_000, eta=2.0, rounds=planned.dual_query.rounds + 1, samples=200).rho > shares[0] * total
    assert planned.rho_sel == pytest.approx(shares[1] * total)
    assert planned.rho_mea >= 0.1 * total * (1 - 1e-12)  # and what whole rounds leave over
    assert 0.999999 < planned.epsilon() <= 1.0
    kinds = [type(event) for event in planned.events()]
    assert kinds.count(ZCDPEvent) == 1
    (measured,) = [event for event in planned.events() if isinstance(event, ZCDPEvent)]
    assert measured.rho == planned.rho_mea
    assert 48 / (2 * planned.noise_std**2) <= planned.rho_mea
    named = [event for event in planned.events() if event.label == "selections"]
    if selection == "private":
        assert isinstance(named[0], Repeated)
        assert named[0].event == BoundedRangeEvent(epsilon=planned.epsilon_sel, neighbours=Relation.REPLACE,
                                                   label="selection")
        assert named[0].count * planned.epsilon_sel**2 / 8 == pytest.approx(planned.rho_sel, rel=1e-9)
    else:
        assert named == []
    assert planned.guarantees().privacy[0].loss == ZCDP(planned.rho)
    assert planned.guarantees().privacy[1].loss.epsilon <= 1.0
    assert Accountant(planned.events()).rho() == planned.rho


def test_the_default_number_of_measurements_has_the_noise_it_aims_at():
    planned = tenth()
    assert planned.count == math.floor(2 * planned.rho_mea * (0.005 * 20_000) ** 2)
    assert planned.noise_std <= 0.005 * 20_000
    assert Reweighted.for_budget(records=10**6, epsilon=1.0, delta=1e-6, eta=2.0, samples=200,
                                 workload=PAIRS).count == len(PAIRS)


def test_marginals_of_free_attributes_are_within_the_budget():
    planned = tenth(free="marginals", marginal_share=0.1)
    assert planned.dual_query.marginal_rho == pytest.approx(0.09 * ZCDP.within(1.0, 1e-6).rho)
    assert planned.epsilon() <= 1.0
    outcome = planned.run(latent_classes(1, 20_000, 10, 3, 0.1), Noise.simulated(1))
    assert outcome.billboard.marginals.shape == (10,)
    planned.check(outcome.billboard)


def test_a_budget_below_one_measurement_is_refused():
    game = DualQuery(records=100, eta=1.0, rounds=3, samples=5, workload=PAIRS)
    with pytest.raises(Refused, match="measure one query"):
        Reweighted(dual_query=game, rho_mea=0.1)
    assert Reweighted(dual_query=game, rho_mea=0.1, measured=1).count == 1


# ---- selections


@dataclass(frozen=True, kw_only=True)
class Worst:
    """The leak: the queries with the largest true errors."""

    def choose(self, transcript, count):
        return np.argsort(-transcript.true_errors)[:count]


@dataclass(frozen=True, kw_only=True)
class Stubborn:
    """The same queries twice."""

    def choose(self, transcript, count):
        return np.zeros(count, np.int64)


def test_a_rule_that_reads_true_errors_raises():
    leak = small(selection="transcript", rule=Worst())
    with pytest.raises(NotGuaranteed, match="true errors"):
        leak.run(latent_classes(1, 500, 5, 2), Noise.simulated(1))
    with pytest.raises(NotGuaranteed, match="true errors"):
        small(selection="private")  # and no selection comes without its event
    with pytest.raises(InvalidInput, match="rho_sel"):
        small(selection="public", rho_sel=0.1)


def test_rules_see_the_transcript_alone():
    seen = []

    @dataclass(frozen=True, kw_only=True)
    class Spy:
        def choose(self, transcript, count):
            seen.append(vars(transcript))
            return np.arange(count)

    planned = small(selection="transcript", rule=Spy())
    records = latent_classes(1, 500, 5, 2)
    board = planned.run(records, Noise.simulated(1)).billboard
    assert set(seen[0]) == {"records", "rounds", "workload", "answers", "seed"}
    assert seen[0]["records"] is board.records
    np.testing.assert_array_equal(seen[0]["answers"], board.unweighted.answers(PAIRS))


def test_most_drawn_prefers_the_last_rounds():
    rounds = Rounds(queries=np.array([0, 1, 2, 3, 3]), weights=np.array([9, -1, 2, -1, 4]), ends=np.array([2, 4, 5]),
                    negations=np.zeros(3, np.int64), values=np.zeros(3, np.int64), bounds=np.zeros(3),
                    fell_back=np.zeros(3, bool), timed_out=np.zeros(3, bool))

    class Seen:
        workload, seed = PAIRS, 0

    Seen.rounds = rounds
    assert MostDrawn(last=1).choose(Seen, 4).tolist() == [3, 0, 2, 1]
    assert MostDrawn(last=2).choose(Seen, 4).tolist() == [3, 2, 0, 1]
    assert MostDrawn(last=9).choose(Seen, 4).tolist() == [0, 3, 2, 1]
    every = MostDrawn(last=1).choose(Seen, len(PAIRS))
    assert sorted(every.tolist()) == list(range(len(PAIRS)))


def test_public_queries_follow_from_the_seed():
    records = latent_classes(1, 500, 5, 2)
    chosen = [small(seed=seed).run(records, Noise.simulated(noise)).billboard.chosen.tolist()
              for seed, noise in ((1, 1), (1, 2), (2, 1))]
    assert chosen[0] == chosen[1] != chosen[2]
    assert len(set(chosen[0])) == 6
    listed = small(measured=None, listed=(7, 0, 3)).run(records, Noise.simulated(1)).billboard
    assert listed.chosen.tolist() == [7, 0, 3]


def test_private_selection_scores_are_whole_and_move_by_t():
    """Read off the logits that the noise is asked with, in units of epsilon / 2T: they are T |n q - n q_hat| less the
    best of them, and a replaced record moves none of them by more than T, and some by T.
    """
    planned = small(selection="private", rho_sel=0.5, prior=5000.0)
    records = latent_classes(3, 500, 5, 2, 0.1)
    other = records.copy()
    other[np.flatnonzero(~records.any(axis=1))[0]] = True  # satisfied no pair, satisfies all
    first = RecordingNoise(Noise.simulated(1))
    board = planned.run(records, first).billboard
    second = ForcedNoise(first.draws)
    assert planned.run(other, second).billboard.chosen.tolist() == board.chosen.tolist()
    rounds, left, moved = 12, np.arange(len(PAIRS)), []
    satisfied = PAIRS.counts(board.records)
    for one, two in zip(*([draw for draw in noise.draws if draw.stream[0] == "select"] for noise in (first, second)),
                        strict=True):
        expected = [np.abs(rounds * PAIRS.counts(PackedBits.pack(data)) - 500 * satisfied)[left]
                    for data in (records, other)]
        for draw, scores in zip((one, two), expected, strict=True):
            reported = np.array([float(logit) for logit in draw.center]) * 2 * rounds / planned.epsilon_sel
            np.testing.assert_allclose(reported, scores - scores.max(), atol=1e-6)
        moved.append(np.abs(expected[1] - expected[0]).max())
        left = np.delete(left, int(one.value[0]))
    assert len(moved) == planned.count == 6
    assert max(moved) == rounds


def test_with_much_budget_private_selection_names_the_worst_queries():
    planned = small(selection="private", rho_sel=1e6, rho_mea=1e6, prior=1e12)
    records = latent_classes(3, 500, 5, 2, 0.1)
    board = planned.run(records, Noise.simulated(1)).billboard
    error = np.abs(PAIRS.counts(PackedBits.pack(records)) / 500 - board.unweighted.answers(PAIRS))
    best = np.sort(error)[::-1][:6]
    np.testing.assert_allclose(np.sort(error[board.chosen])[::-1], best, atol=1e-3)  # at so much budget: the worst six


# ---- the run


@pytest.mark.parametrize("selection", ["public", "transcript", "private"])
def test_the_billboard_is_enough(selection):
    planned = small(selection=selection, rho_sel=0.1 if selection == "private" else 0.0, prior=5000.0)
    records = latent_classes(1, 500, 5, 2)
    outcome = planned.run(records, Noise.simulated(1))
    columns: dict[str, bytes] = {}
    written = encode(outcome.billboard, columns)
    types = {"ReweightedRecords": ReweightedRecords, "PackedBits": PackedBits, "Rounds": Rounds}
    again = decode(written, types, columns)
    planned.check(again)
    certificate = planned.certify(again)
    assert certificate.shift == outcome.certificate.shift == total_variation(again.weights)
    assert outcome.shares.num_columns == 0
    true = PAIRS.counts(PackedBits.pack(records)) / 500
    assert outcome.diagnostics["max_error"] == pytest.approx(np.abs(again.answers(PAIRS) - true).max())
    assert outcome.diagnostics["unweighted_max_error"] == pytest.approx(
        np.abs(again.unweighted.answers(PAIRS) - true).max())
    assert planned.decode(None, 0, again) == {}


def test_a_secure_run_is_a_release():
    outcome = small(prior=5000.0).run(latent_classes(1, 500, 5, 2), Noise.secure())
    assert isinstance(outcome, Outcome)
    assert not hasattr(outcome, "diagnostics")


def test_true_answers_do_as_well_as_records():
    planned, records = small(prior=5000.0), latent_classes(1, 500, 5, 2)
    boards = [planned.run(data, Noise.simulated(4)).billboard
              for data in (records, true_answers(records, PAIRS), PackedBits.pack(records))]
    for board in boards[1:]:
        np.testing.assert_array_equal(board.weights, boards[0].weights)


def test_what_does_not_follow_is_found():
    planned = small(prior=5000.0)
    board = planned.run(latent_classes(1, 500, 5, 2), Noise.simulated(1)).billboard
    for field, value in (("measured", board.measured + 40), ("chosen", board.chosen[::-1].copy()),
                         ("chosen", np.zeros(6, np.int64)), ("weights", board.unweighted.weights)):
        with pytest.raises(InvalidInput, match="billboard"):
            planned.check(replace(board, **{field: value}))
    with pytest.raises(InvalidInput, match="billboard"):
        planned.check(board.unweighted)
    with pytest.raises(InvalidInput, match="measured"):
        replace(board, measured=board.measured[:3])


@pytest.mark.slow
def test_the_certificate_adds_what_the_weights_change():
    planned = tenth(measured=48)
    wrong = 0
    for seed in range(2):
        records = latent_classes(seed, 20_000, 10, 3, 0.1)
        outcome = planned.run(records, Noise.simulated(seed))
        board, certificate = outcome.billboard, outcome.certificate
        true = TRIPLES.counts(PackedBits.pack(records)) / 20_000
        assert certificate.bound == planned.dual_query.certify(board.unweighted).bound + certificate.shift
        changed = np.abs(board.answers(TRIPLES) - board.unweighted.answers(TRIPLES)).max()
        assert changed <= certificate.shift + 1e-12
        error = np.abs(board.answers(TRIPLES) - true)
        wrong += (error[board.chosen] > planned.measured_bounds(board)).any()
        assert planned.measured_bounds(board).max() == certificate.measured < 0.1
    assert wrong == 0  # each may fail with probability 0.05 at most, and does far less often


def test_few_records_bent_far_are_warned_of():
    planned = small(prior=0.1)
    with pytest.warns(UserWarning, match="from uniform weights"):
        outcome = planned.run(latent_classes(1, 500, 5, 2, 0.05), Noise.simulated(1))
    assert outcome.certificate.overfitted


# ---- refusals


@pytest.mark.parametrize(("field", "value"), [
    ("dual_query", None), ("rho_mea", 0.0), ("rho_sel", -1.0), ("measured", 0), ("measured", 11),
    ("selection", "worst"), ("seed", -1), ("prior", 0.0), ("delta", 1.0), ("failure_probability", 0.0),
    ("rule", object()),
    ("listed", (1, 1)), ("listed", ()), ("listed", (10,)), ("listed", (0, 1)),
])
def test_each_parameter_is_refused_by_name(field, value):
    wrong = "measured" if value == (0, 1) else field  # two listed and six measured
    with pytest.raises(InvalidInput, match=wrong):
        small(**{field: value})


def test_plans_that_no_budget_splits_into_are_refused():
    for shares in ((0.9, 0.1), (0.9, 0.2, 0.1), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.8, 0.1, 0.1)):
        with pytest.raises(InvalidInput, match="shares"):
            tenth(shares=shares)
    with pytest.raises(InvalidInput, match="delta"):
        Reweighted.for_budget(records=100, epsilon=1.0, delta=0.0, eta=1.0, samples=10, workload=PAIRS)
    with pytest.raises(InvalidInput, match="workload"):
        Reweighted(dual_query=DualQuery(records=10, eta=1.0, rounds=2, samples=2), rho_mea=1.0)
    with pytest.raises(InvalidInput, match="listed"):
        small(selection="transcript", listed=(1, 2, 3, 4, 5, 6))
    with pytest.raises(InvalidInput, match="rule"):
        small(selection="transcript", rule=Stubborn()).run(latent_classes(1, 500, 5, 2), Noise.simulated(1))
    with pytest.raises(InvalidInput, match="data"):
        small().run(TrueAnswers(counts=np.zeros(10, np.int64), records=499), Noise.simulated(1))


# ---- what it is worth


def played(planned, seeds):
    """(seeds, 4) average and maximum errors, with and without weights."""
    return np.array([list(planned.run(latent_classes(seed, 20_000, 10, 3, 0.1), Noise.simulated(seed))
                          .diagnostics.values()) for seed in range(seeds)])


@pytest.mark.slow
def test_weights_help_where_half_the_queries_are_measured():
    average, _, plain, _ = played(replace(tenth(measured=48), rho_mea=0.1 * ZCDP.within(1.0, 1e-6).rho), 2).mean(axis=0)
    assert average < 0.85 * plain


@pytest.mark.slow
def test_forty_runs_have_the_published_errors():
    exact = replace(tenth(measured=48), rho_mea=0.1 * ZCDP.within(1.0, 1e-6).rho)
    assert (exact.dual_query.rounds, exact.count) == (40, 48)
    average, largest, plain, plain_largest = played(exact, 40).mean(axis=0)
    assert average == pytest.approx(0.0118, rel=0.15)
    assert average < 0.85 * plain
    assert largest == pytest.approx(0.043, rel=0.2)
    assert plain_largest == pytest.approx(0.050, rel=0.15)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the weights differ by")
def test_few_measurements_do_harm():
    plain = played(tenth(measured=48), 10).mean(axis=0)[3]
    for others in ({"measured": 10, "selection": "private"}, {"measured": 10, "selection": "private", "prior": 1.0},
                   {"measured": 48, "prior": 1.0}):
        assert played(tenth(**others), 10).mean(axis=0)[1] > plain
    assert played(tenth(measured=120), 10).mean(axis=0)[1] < 0.85 * plain


@pytest.mark.slow
def test_the_small_instance_of_both_players():
    """DualQuery (zCDP, eta 2, s 200) and a replayed MWEM of 40 rounds, epsilon 1, delta 1e-6, 10 data sets."""
    planned = DualQuery.for_budget(records=20_000, epsilon=1.0, delta=1e-6, eta=2.0, samples=200, workload=TRIPLES)
    assert planned.rounds == 42
    mwem = MWEM(records=20_000, workload=TRIPLES, rounds=40, epsilon=1.0)
    found = []
    for seed in range(10):
        records = latent_classes(seed, 20_000, 10, 3, 0.1)
        found.append((planned.run(records, Noise.simulated(seed)).diagnostics["max_error"],
                      mwem.run(records, Noise.simulated(seed)).diagnostics["max_error"]))
    game, histogram = np.mean(found, axis=0)
    assert game == pytest.approx(0.050, rel=0.35)
    assert histogram <= 0.03


def test_fits_that_take_hours_are_refused() -> None:
    """And by default no more is measured than what can be fitted."""
    workload = Workload.complete(20, width=4)
    game = DualQuery(records=10**6, eta=0.5, rounds=50, samples=10, workload=workload)
    assert Reweighted(dual_query=game, rho_mea=0.1).count == len(workload) == 4845
    long = replace(game, rounds=10**5)
    with pytest.raises(Refused, match=r"the fit of 100,000 records to 4,845 measurements would take hours"):
        Reweighted(dual_query=long, rho_mea=0.1, measured=len(workload))
    assert Reweighted(dual_query=long, rho_mea=0.1).count == most_targets(10**5) == 1657


@given(st.integers(1, 10**5))
def test_a_fit_of_all_that_may_be_measured_ends(records: int) -> None:
    def work(targets: int) -> int:
        return min(records, targets) ** 2 * max(records, targets)

    most = most_targets(records)
    assert work(most) <= 2**38 < work(most + 1)
