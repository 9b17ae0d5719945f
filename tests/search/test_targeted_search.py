"""The private search: laws of the toy network, promises, what is released, and pauses."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2
from toy_network import FIRST, FIRST_SEEN, TARGETS, TOY, random_network, toy

from cases import fast
from confide.contract import InvalidInput, Outcome, Refused, SimulatedOutcome
from confide.contract.encoding import decode, encode
from confide.contract.errors import BudgetExceeded
from confide.contract.guarantees import Accuracy, Audience, Privacy, Relation
from confide.privacy import Accountant
from confide.privacy.ledger import Account, Ledger
from confide.privacy.losses import ApproxDP, PureDP
from confide.privacy.noise import Noise
from confide.privacy.noise.journal import JournalNoise
from confide.privacy.noise.simulated import study_generator
from confide.search.baselines import random_order
from confide.search.component_search import ComponentSearch, search_component, sfs
from confide.search.component_walk import FINISHED, Walk
from confide.search.graph import Graph
from confide.search.noise_kinds import wins_over
from confide.search.oracles import Investigation, OracleInconsistent, OracleUnavailable
from confide.search.releases import CappedOutcome, OperatorLog, PublicRelease
from confide.search.statistics import CommonNeighbours, CommonNeighboursMulti, LargestFlow
from confide.search.targeted import PTarget

from false_alarms import alpha

HARDENED = PTarget(16, 3, 3, 1.0, 5)
ROUND_1 = {5: 0.2203384062, 6: 0.1648398574, 9: 0.2203384062, 15: 0.1239957282, None: 0.2704876020}
ROUND_1_GUMBEL = {5: 0.21835608, 6: 0.17005589, 9: 0.21835608, 15: 0.13243966, None: 0.26079229}


def after_first(examined=(), found=()):
    """The state after the toy's first component; more may be examined or found."""
    walk = Walk(TOY, np.array([v in TARGETS for v in range(16)], np.int8))
    walk.add(np.zeros(0, np.int64), np.array(list(examined), np.int64))
    for start in (0, *found):
        assert walk.explore(start) == FINISHED
    return walk


def outcomes(call, walk, runs, seed):
    """How often each target, or nothing, comes out of one call."""
    noise, counts = Noise.simulated(seed), dict.fromkeys(ROUND_1, 0)
    for number in range(runs):
        block = call.look(walk, noise, number).take(16).tolist()
        first = next(v for v in block if v == -1 or v in TARGETS)
        counts[None if first == -1 else first] += 1
    return counts


def assert_law(counts, law, level):
    runs = sum(counts.values())
    assert set(counts) == set(law)
    statistic = sum((counts[v] - runs * p) ** 2 / (runs * p) for v, p in law.items())
    assert statistic < chi2.isf(level, len(law) - 1)


# ---- laws (the exact ones are in the tests of the exact laws)


def test_the_thresholds_law_after_the_first_component():
    walk = after_first()
    values = HARDENED.call.values(walk)[walk.outside]
    assert HARDENED.call.rule.law(values) == pytest.approx([0.14640, 0.15584, 0.20010, *[0.16589] * 3], abs=5e-6)


@pytest.mark.parametrize("examined", [(), (7, 10), (5, 6, 7, 10, 11, 12, 15)])
def test_the_thresholds_law_does_not_depend_on_who_was_examined(examined):
    walk = after_first([v for v in examined if v not in TARGETS], [9])
    assert walk.order.tolist() == [*FIRST, 9]
    law = HARDENED.call.rule.law(HARDENED.call.values(walk)[walk.outside])
    assert law == pytest.approx([0.15947, 0.16976, 0.19236, *[0.15947] * 3], abs=5e-6)


@pytest.mark.parametrize(("kind", "law"), [("laplace", ROUND_1), ("gumbel", ROUND_1_GUMBEL)])
def test_the_first_call_has_the_exact_law(kind, law):
    counts = outcomes(replace(HARDENED, noise_kind=kind).call, after_first(), 600, 5)
    assert_law(counts, law, alpha("search.call.law", cases=2))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "law"), [("laplace", ROUND_1), ("gumbel", ROUND_1_GUMBEL)])
def test_the_first_call_has_the_exact_law_in_100000_runs(kind, law):
    counts = outcomes(replace(HARDENED, noise_kind=kind).call, after_first(), 100_000, 6)
    assert all(abs(counts[v] / 1e5 - p) < 0.007 for v, p in law.items())
    assert_law(counts, law, alpha("search.call.long", cases=2))


@pytest.mark.slow
def test_whole_runs_have_the_exact_law():
    runs, hits = 20_000, 0
    for seed in range(runs):
        board = HARDENED.run(toy(), Noise.simulated(seed)).billboard
        hits += board.order[board.joined].tolist()[:3] == [0, 5, 9]
    p = 0.1049734918
    assert abs(hits - runs * p) < 6 * (runs * p * (1 - p)) ** 0.5  # two-sided 2e-9


def test_random_order_is_uniform_on_the_targets_that_are_left():
    counts = dict.fromkeys((5, 6, 15, 9), 0)
    for seed in range(300):
        found = random_order(toy(), 2, Noise.simulated(seed))
        counts[int(found.order[4])] += 1
    assert_law(counts, dict.fromkeys(counts, 0.25), alpha("search.random_order"))


@given(st.integers(0, 2**32), st.sampled_from(["private", "smoothed"]),
       st.sampled_from(["laplace", "exponential", "gumbel", "discrete_laplace"]), st.integers(2, 6))
@settings(max_examples=40, deadline=None)
def test_a_rewired_vertex_moves_the_thresholds_scores_by_at_most_their_sensitivity(seed, stop, kind, bound):
    generator, people = study_generator(seed), 24
    first, _ = random_network(generator, people, 0.5)
    edges = [(a, int(b)) for a in range(people) for b in first.neighbours(a) if a < b]
    generator.shuffle(edges)
    targets = np.sort(generator.choice(people, 6, replace=False))
    vertex = int(generator.choice(np.setdiff1d(np.arange(people), targets)))
    scores = []
    for contacts in (generator.permutation(people), generator.permutation(people)):
        degrees, kept = np.zeros(people, int), []
        # both graphs agree but for the vertex: it has the last word on its own edges, within the others' room
        for a, b in edges:
            if vertex not in (a, b) and max(degrees[a], degrees[b]) < bound - 1:
                kept.append((a, b))
                degrees[[a, b]] += 1
        kept += [(vertex, int(other)) for other in contacts[: bound] if other != vertex]
        graph = Graph.from_edges([a for a, _ in kept], [b for _, b in kept], people=people)
        graph.check_degree(bound)
        call = ComponentSearch(people=people, stopping_target=3, epsilon=1.0, degree_bound=bound, stop=stop,
                               noise_kind=kind)
        walk = Walk(graph, np.zeros(people, np.int8))
        walk.add(targets, targets)
        scores.append(call.rule.scores(call.values(walk)[walk.outside]))
    assert np.abs(scores[0] - scores[1]).max() <= call.rule.sensitivity


def test_smoothed_scores_are_the_expected_number_before_the_fake():
    call = ComponentSearch(people=27_262, stopping_target=100, epsilon=0.2, degree_bound=30, stop="smoothed",
                           noise_kind="exponential")
    values = np.array([0.0] * 500 + [1.0] * 40 + [7.0] * 3 + [30.0])
    grid = np.arange(call.rule.top + 1)
    plain = [abs(wins_over("exponential", x - values, call.noise_scale).sum() - 100) for x in grid]
    assert call.rule.scores(values) == pytest.approx(plain, abs=1e-9)
    assert call.rule.scores(np.zeros(0)).tolist() == [100.0] * len(grid)


# ---- promises


def test_the_guarantee_is_pure_and_says_what_it_covers():
    promise, = HARDENED.guarantees().privacy
    assert promise.loss == PureDP(2.0)
    assert promise.neighbours is Relation.EDGES_OF_ONE
    assert promise.audience is Audience.PUBLIC
    assert "list and its order" in promise.note
    assert "more contacts than the public bound" in promise.note
    assert Accountant(HARDENED.events()).neighbours is Relation.EDGES_OF_ONE
    assert HARDENED.guarantees().of(Privacy, claimable=False) == ()
    assert PTarget(16, 1, None, 0.3, None, "none").guarantees().privacy[0].loss == PureDP(0.0)


@pytest.mark.parametrize(("stop", "kind", "epsilon", "pure", "approximate"), [
    ("private", "laplace", 0.2, 2.6, 1.913402), ("smoothed", "gumbel", 0.2, 2.6, 1.167237),
    ("none", "gumbel", 0.1, 1.3, 0.805)])
def test_composition_over_thirteen_calls(stop, kind, epsilon, pure, approximate):
    search = PTarget(27_262, 14, 100, epsilon, 1147, stop, noise_kind=kind, delta=1e-6)
    exact, close = search.guarantees().privacy
    assert exact.loss == PureDP(pure)
    assert isinstance(close.loss, ApproxDP)
    assert close.loss.delta == 1e-6
    assert close.loss.epsilon == pytest.approx(approximate, abs=1e-3 if stop == "none" else 1e-6)
    assert search.call.noise_scale == pytest.approx(20.0, rel=1e-8)
    assert search.call.noise_scale > 20.0


@pytest.mark.parametrize(("stop", "sensitivity", "error"), [("private", 1146, 230_151), ("smoothed", 14.325, 2_924)])
def test_the_thresholds_error(stop, sensitivity, error):
    search = PTarget(27_262, 14, 100, 0.2, 1147, stop)
    assert search.call.rule.sensitivity == pytest.approx(sensitivity, rel=1e-6)
    accuracy, = search.guarantees().of(Accuracy)
    assert accuracy.bound == pytest.approx(error, rel=1e-4)
    assert accuracy.vacuous is (stop == "private")
    short = replace(search, largest_threshold=100)
    assert short.call.rule.top == 100
    assert short.guarantees().of(Accuracy)[0].bound < accuracy.bound
    assert short.guarantees().privacy[0].loss == search.guarantees().privacy[0].loss


def test_half_of_epsilon_buys_the_noise_and_doubles_have_their_room():
    assert HARDENED.call.noise_scale == pytest.approx(4.0, rel=1e-11)
    assert HARDENED.call.noise_scale > 4 / (1 - 2**-37)
    assert PTarget(16, 2, None, 1.0, None, "none").call.noise_scale == pytest.approx(2.0, rel=1e-11)
    multi = PTarget(16, 2, None, 1.0, 5, "none", statistic=CommonNeighboursMulti())
    assert multi.call.noise_scale == pytest.approx(8.0, rel=1e-11)
    wide = PTarget(10**6, 2, None, 1.0, None, "none").call  # half a million scales need more than 2^-38
    assert wide.room == pytest.approx(2.0**-50 * 5e5)
    assert wide.noise_scale > 2 / (1 - wide.room)


# ---- the run


def test_a_release_holds_the_list_and_the_log_holds_the_rest():
    log = OperatorLog()
    outcome = PTarget(16, 3, None, 2.0, None, "none").run(toy(), Noise.secure(), log=log)
    board = outcome.billboard
    assert isinstance(outcome, Outcome)
    assert outcome.shares.num_columns == 0
    assert board.order.tolist()[:4] == FIRST
    assert log.examined.tolist()[:7] == FIRST_SEEN
    assert board.components == 3
    assert board.calls == 2
    assert not board.halted
    assert board.epsilon_spent == 4.0
    assert outcome.certificate.ex_post == 4.0
    assert outcome.certificate.risk_multiplier == pytest.approx(np.exp(4.0))
    assert not hasattr(outcome, "diagnostics")
    assert str(log.queries) not in repr(log)
    assert log.curve()[-1] == len(board.order)
    assert log.thresholds == [None, None]
    assert log.call_began[0] == 7
    assert {"queries", "examined", "thresholds"}.isdisjoint(encode(board, {}))


def test_an_outcome_survives_its_encoding():
    outcome = HARDENED.run(toy(), Noise.simulated(3))
    assert isinstance(outcome, SimulatedOutcome)
    assert outcome.diagnostics["queries"] >= 7
    columns = {}
    manifest = encode((HARDENED, outcome.billboard), columns)
    mechanism, board = decode(manifest, {t.__name__: t for t in (PTarget, PublicRelease, CommonNeighbours)}, columns)
    mechanism.check(board)
    assert mechanism == HARDENED
    assert mechanism.decode(None, 0, board) == {}


def test_names_of_different_lengths_are_released():
    friends = Graph.from_edges(["ann", "bo", "bo", "christine"], ["bo", "christine", "dominique", "ed"])
    outcome = PTarget(5, 3, None, 0.5, None, "none").run(
        Investigation(friends, "bo", {"bo", "ed", "dominique"}), Noise.simulated(2))
    assert outcome.billboard.order.tolist() == ["bo", "dominique", "ed"]
    assert outcome.certificate.calls == 2


def test_without_a_stop_everybody_is_examined_or_all_components_are_found():
    outcome = PTarget(16, 9, None, 0.5, None, "none").run(toy(), Noise.simulated(2))
    assert set(outcome.billboard.order.tolist()) == TARGETS
    assert outcome.billboard.ended == "nothing found"
    assert outcome.diagnostics["queries"] == 15


def test_a_public_threshold_far_above_stops_at_once_and_far_below_never():
    high = PTarget(16, 3, None, 1.0, None, "public", public_threshold=1e4).run(toy(), Noise.simulated(1))
    assert high.billboard.order.tolist() == FIRST
    assert high.billboard.calls == 1
    assert high.billboard.halted
    low = PTarget(16, 9, None, 1.0, None, "public", public_threshold=-1e4).run(toy(), Noise.simulated(1))
    assert set(low.billboard.order.tolist()) == TARGETS


@pytest.mark.parametrize("kind", fast(2, ["laplace", "discrete_laplace", "exponential", "gumbel"]))
@pytest.mark.parametrize("stop", ["private", "smoothed"])
def test_every_kind_of_noise_runs_under_every_stop(stop, kind):
    search = PTarget(16, 4, 3, 1.0, 5, stop, noise_kind=kind)
    first, second = (search.run(toy(), Noise.simulated(8)).billboard for _ in range(2))
    search.check(first)
    assert first.order.tolist() == second.order.tolist()


def test_other_statistics_search_too():
    flow, common = (PTarget(16, 4, 3, 1.0, 5, statistic=s).run(toy(), Noise.simulated(4)).billboard
                    for s in (LargestFlow(2), CommonNeighbours()))
    assert flow.order.tolist() == common.order.tolist()  # the same numbers outside N[T]


class Many:
    """An oracle that answers in batches, and counts how many it was asked about."""

    def __init__(self):
        self.asked = []

    def statuses(self, ids):
        self.asked += ids
        return [vertex in TARGETS for vertex in ids]


@pytest.mark.parametrize("seed", fast(3, range(12)))
def test_who_is_asked_ahead_changes_nothing_that_is_released(seed):
    plain, log = HARDENED.run(toy(), Noise.simulated(seed)).billboard, OperatorLog()
    HARDENED.run(toy(), Noise.simulated(seed), log=log)
    for ahead in (1, 3, 50):
        oracle, other = Many(), OperatorLog()
        board = HARDENED.run(toy(oracle, ahead=ahead), Noise.simulated(seed), log=other).billboard
        assert board.order.tolist() == plain.order.tolist()
        assert other.examined.tolist() == log.examined.tolist()
        assert len(set(oracle.asked)) == len(oracle.asked)
        if ahead == 1:
            assert set(oracle.asked) == {0, *log.examined.tolist()}


@pytest.mark.parametrize("seed", fast(2, range(8)))
def test_a_search_by_hand_asks_in_order_and_ends_like_the_other(seed):
    plain, log = HARDENED.run(toy(), Noise.simulated(seed)).billboard, OperatorLog()
    search = HARDENED.start(toy(None), Noise.simulated(seed), log=log)
    asked = []
    while pending := search.pending():
        assert not search.done
        with pytest.raises(Refused, match="not ended"):
            _ = search.outcome
        asked += pending
        search.answer({pending[0]: pending[0] in TARGETS})
    assert search.outcome.billboard.order.tolist() == plain.order.tolist()
    assert asked == [0, *log.examined.tolist()]
    assert search.outcome is search.outcome


def test_pending_lists_a_frontier_and_candidates_up_to_the_fake():
    search = HARDENED.start(toy(None), Noise.simulated(1)).answer({0: True})
    assert search.pending(9) == [1, 2, 4, 14]
    search.answer({v: v in TARGETS for v in (4, 14, 2, 1, 3, 8, 13)})
    ahead = search.pending(20)
    assert len(ahead) == len(set(ahead))
    assert not set(ahead) & {0, *FIRST_SEEN}
    assert search.pending(2) == ahead[:2]


def test_an_oracle_that_fails_pauses_the_search_and_loses_nothing():
    calls = []

    def unreliable(vertex):
        calls.append(vertex)
        if len(calls) % 3 == 0:
            raise TimeoutError
        return vertex in TARGETS

    plain = HARDENED.run(toy(), Noise.simulated(11)).billboard
    with pytest.raises(OracleUnavailable) as caught:
        HARDENED.run(toy(unreliable), Noise.simulated(11))
    search = caught.value.search
    while not search.done:
        try:
            search.run()
        except OracleUnavailable:
            assert search.log.queries < 16
    assert search.outcome.billboard.order.tolist() == plain.order.tolist()


@pytest.mark.parametrize("seed", fast(2, range(8)))
def test_a_crashed_search_goes_on_with_the_same_noise_and_asks_nothing_twice(tmp_path, seed):
    search, charged, answers = replace(HARDENED, stop="none", stopping_target=None), [], {}
    for begin in (4, 9, 10, 11, 99):  # each time with other noise for what was not yet drawn
        with JournalNoise(tmp_path / "noise", Noise.simulated(100 * seed + begin)) as noise:
            under_way = search.start(toy(None), noise, answers=answers, charge=charged.append, charged=len(charged))
            while (pending := under_way.pending()) and len(under_way.answers) < begin:
                assert pending[0] not in answers
                under_way.answer({pending[0]: pending[0] in TARGETS})
            answers = under_way.answers
    board = under_way.outcome.billboard
    assert len(charged) == board.calls == 2
    assert under_way.charged == 2
    with JournalNoise(tmp_path / "noise", Noise.simulated(7), existing=True) as noise:  # all of it had been drawn once
        again = search.run(toy(), noise).billboard
    assert again.order.tolist() == board.order.tolist()
    assert again.joined.tolist() == board.joined.tolist()


def test_changed_answers_are_refused_and_nothing_of_them_is_kept():
    search = HARDENED.start(toy(None), Noise.simulated(1)).answer({0: True, 1: True})
    for answers in ({4: False, 1: False}, {4: False, 77: True}, {4: "yes"}):
        with pytest.raises(InvalidInput) as caught:
            search.answer(answers)
        assert isinstance(caught.value, OracleInconsistent) is (1 in answers)
    assert search.answers == {0: True, 1: True}
    with pytest.raises(OracleInconsistent):
        HARDENED.start(toy(), Noise.simulated(1), answers={3: True})
    with pytest.raises(InvalidInput):
        HARDENED.run(toy(type("Short", (), {"statuses": lambda self, ids: []})()), Noise.simulated(1))


def test_each_call_is_charged_before_it_begins_and_a_refusal_ends_the_search_between_calls():
    account = Account(name="contacts", neighbours=Relation.EDGES_OF_ONE, audience=Audience.PUBLIC)
    ledger = Ledger()
    ledger.register(account, PureDP(1.2))
    search = PTarget(16, 9, None, 0.5, None, "none")
    outcome = search.run(toy(), Noise.simulated(2), charge=lambda events: ledger.charge(account, *events))
    board = outcome.billboard
    assert board.ended == "budget"
    assert board.calls == 2
    assert board.components == 3
    assert board.halted
    assert ledger.spent(account) == PureDP(1.0)
    assert outcome.certificate.ex_post == 1.0
    search.check(board)

    def refuse(events):
        raise BudgetExceeded("contacts", "0.5", "0")

    assert search.run(toy(), Noise.simulated(2), charge=refuse).billboard.order.tolist() == FIRST


def test_a_query_cap_is_refused_or_voids_the_promise(tmp_path):
    with pytest.raises(Refused, match="query cap"):
        HARDENED.run(toy(), Noise.simulated(1), query_cap=3)
    outcome = HARDENED.run(toy(), Noise.secure(), query_cap=3, without_guarantee=True)
    assert outcome.billboard.ended == "query cap"
    assert outcome.billboard.order.tolist() == [0, 1, 14, 2]
    assert outcome.guarantees.privacy[0].vacuous
    assert "query cap" in outcome.guarantees.privacy[0].note
    assert outcome.certificate is None
    for made in (outcome, HARDENED.run(toy(), Noise.simulated(1), query_cap=3, without_guarantee=True)):
        assert isinstance(made, CappedOutcome)
        assert not isinstance(made, Outcome)
        assert made.release_safe is made.to_dict()["release_safe"] is False
        assert made.billboard.epsilon_spent == math.inf
        assert "cut off by a query cap" in made.provenance.noise
    outcome.save(tmp_path / "capped")
    with pytest.raises(InvalidInput, match="this is a simulated outcome"):
        Outcome.load(tmp_path / "capped")
    assert SimulatedOutcome.load(tmp_path / "capped").billboard.epsilon_spent == math.inf
    with pytest.raises(InvalidInput, match=r"billboard\.ended"):
        HARDENED.check(outcome.billboard)
    late = HARDENED.run(toy(), Noise.simulated(1), query_cap=10**6, without_guarantee=True)
    assert late.guarantees.privacy[0].vacuous  # a cap that was not reached might have been
    assert random_order(toy(), 3, Noise.simulated(1)).guarantees.privacy[0].loss == PureDP(0.0)
    assert random_order(toy(), 3, Noise.simulated(1), cap=9).guarantees.privacy[0].vacuous


# ---- one call


def test_calls_one_by_one_are_the_search():
    board = HARDENED.run(toy(), Noise.simulated(30)).billboard
    noise, examined = Noise.simulated(30), set()
    order = sfs(TOY, 0, TARGETS, examined=examined)
    for call in range(2):
        log = OperatorLog()
        found = search_component(TOY, order, TARGETS, noise, epsilon=1.0, examined=examined, stopping_target=3,
                                 degree_bound=5, call=call, log=log)
        assert set(log.examined.tolist()) <= examined
        if found is None:
            break
        order += sfs(TOY, found, TARGETS, examined=examined)
    assert order == board.order.tolist()


def test_an_examined_target_that_is_not_released_is_refused():
    with pytest.raises(InvalidInput, match="examined"):
        search_component(TOY, FIRST, TARGETS, Noise.simulated(1), epsilon=1.0, stop="none", examined={5})
    with pytest.raises(OracleInconsistent):
        search_component(TOY, [0, 3], TARGETS, Noise.simulated(1), epsilon=1.0, stop="none")


# ---- the printed algorithm
