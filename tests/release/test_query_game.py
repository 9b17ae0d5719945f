"""The query game: exact weights, netting, Hedge, the game played in full, and the certificate."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise, choices
from confide.privacy.noise.simulated import study_generator
from confide.release.guarantees import BASELINE_ERROR, answers_certificate, log_universe, mean_gap, sampling_error
from confide.release.query_game import (
    Hedge,
    check_exact,
    freund_schapire,
    net,
    play_in_full,
    query_law,
    query_logits,
    regret_bound,
)
from confide.release.workload import Workload

from false_alarms import alpha


def test_the_law_of_one_round() -> None:
    """Acceptance check 5: a = (.5, .25, .9), c = (3, 0, 2), t = 4, eta = .7."""
    law = query_law(np.array([10, 5, 18]), np.array([3, 0, 2], np.int32), 3, 20, 0.7)
    expected = [0.045243, 0.218560, 0.211042, 0.369466, 0.076482, 0.079207]
    assert law == pytest.approx(expected, abs=1e-6)
    mirrored = query_law(np.array([10, 5, 18]), np.array([3, 0, 2], np.int32), 3, 20, 0.7, mirrored=True)
    assert np.array_equal(mirrored, np.concatenate([law[3:], law[:3]]))


def test_round_one_is_exactly_uniform_whatever_the_data() -> None:
    """Acceptance check 11: equal scores give equal integer weights."""
    for counts in ([0, 0, 0], [7, 1_000_000, 3]):
        logits = query_logits(np.array(counts), np.zeros(3, np.int32), 0, 10**6, 2.0)
        assert logits.tolist() == [0.0] * 6


@given(st.integers(1, 10**6), st.floats(1e-3, 5.0), st.integers(1, 300), st.data())
def test_a_replaced_record_moves_logits_within_the_range_that_is_charged(
    n: int, eta: float, done: int, data: st.DataObject
) -> None:
    """Spec query_release D2: the range is 2 eta (t - 1)/n, and attained as soon as one query moves."""
    k = 5
    counts = np.array(data.draw(st.lists(st.integers(0, n), min_size=k, max_size=k)))
    satisfied = np.array(data.draw(st.lists(st.integers(0, done), min_size=k, max_size=k)), np.int32)
    moved = np.clip(counts + np.array(data.draw(st.lists(st.integers(-1, 1), min_size=k, max_size=k))), 0, n)
    apart = query_logits(counts, satisfied, done, n, eta) - query_logits(moved, satisfied, done, n, eta)
    charged = 2 * eta * done / n
    slack = 1e-12 * max(1.0, eta * done)
    assert np.ptp(apart) <= charged + slack
    if (counts != moved).any():
        assert np.ptp(apart) >= charged - slack


def test_logits_are_exact_for_large_games() -> None:
    counts, satisfied = np.array([10**9, 0, 123_456_789]), np.array([0, 4000, 1], np.int32)
    logits = query_logits(counts, satisfied, 4000, 10**9, 1e-4)
    payoffs = [4000 * 10**9, -4000 * 10**9, 4000 * 123_456_789 - 10**9]
    expected = [(sign * p - 4000 * 10**9) * 1e-13 for sign in (1, -1) for p in payoffs]
    assert logits == pytest.approx(expected, rel=1e-15)
    with pytest.raises(InvalidInput, match=r"^rounds"):
        check_exact(2**22, 2**30, 1.0)


@given(st.lists(st.integers(0, 9), min_size=0, max_size=40))
def test_netting_keeps_the_value_of_every_record(positions: list[int]) -> None:
    k = 5
    found = net(np.array(positions, dtype=np.int64), k)
    assert (found.weights != 0).all()
    assert (np.diff(found.queries) > 0).all()
    for values in np.array([[0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [1, 0, 0, 1, 0], [0, 1, 1, 0, 1]]):
        direct = sum(values[p] if p < k else 1 - values[p - k] for p in positions)
        assert found.constant + int(found.weights @ values[found.queries]) == direct


def test_positions_that_are_no_queries_are_refused() -> None:
    for positions in ([-1], [6]):
        with pytest.raises(InvalidInput, match=r"^positions"):
            net(np.array(positions), 3)


def test_selections_work_in_blocks_and_draw_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    logits = study_generator(5, "logits").normal(size=1000)

    class Given(choices.Entropy):
        def __init__(self) -> None:
            self.generator = study_generator(6, "bytes")

        def random_bytes(self, count: int) -> bytes:
            return self.generator.bytes(count)

    whole, weights = choices.select(logits, 500, Given()), choices.relative_weights(logits)
    monkeypatch.setattr(choices, "_ROOM", 7)
    assert np.array_equal(choices.select(logits, 500, Given()), whole)
    assert np.array_equal(choices.relative_weights(logits), weights)
    law = np.exp(logits) / np.exp(logits).sum()
    half = np.argsort(logits)[-100:]
    share = np.isin(choices.select(logits, 4000, Given()), half).mean()
    assert abs(share - law[half].sum()) < 6 * math.sqrt(0.25 / 4000)


def test_secure_draws_follow_the_law_of_the_round() -> None:
    logits = query_logits(np.array([10, 5, 18]), np.array([3, 0, 2], np.int32), 3, 20, 0.7)
    drawn = Noise.secure().selection(logits, 20_000, stream=("round", 4))
    law = query_law(np.array([10, 5, 18]), np.array([3, 0, 2], np.int32), 3, 20, 0.7)
    # real entropy: what the suite's budget of false alarms allows
    assert stats.chisquare(np.bincount(drawn, minlength=6), law * 20_000).pvalue > alpha("release.draws")


# ---- Hedge


@given(st.integers(2, 6), st.floats(0.01, 1.0), st.integers(1, 60), st.integers(0, 10**6))
def test_regret_stays_below_its_bound(actions: int, eta: float, rounds: int, seed: int) -> None:
    """Spec query_release B3, against losses that follow the player's own weights."""
    generator = study_generator(seed, "losses")
    prior = generator.random(actions) + 0.05
    player, paid = Hedge(actions, eta, prior), 0.0
    for _ in range(rounds):
        law = player.law
        losses = np.where(law >= np.median(law), 1.0, -1.0) * generator.random()
        paid += float(law @ losses)
        player.update(losses)
    regret = (paid - player.losses.min()) / rounds
    worst = math.log(prior.sum() / prior.min())
    assert player.regret_bound == pytest.approx(eta / 2 + worst / (eta * rounds), rel=1e-12)
    assert regret <= player.regret_bound + 1e-12


def test_weights_are_formed_afresh_and_never_underflow() -> None:
    player = Hedge(3, 5.0)
    for _ in range(2000):
        player.update([1.0, -1.0, 0.0])
    assert player.law.tolist() == [0.0, 1.0, 0.0]
    for _ in range(2000):
        player.update([-1.0, 1.0, 0.0])
    assert player.law == pytest.approx([1 / 3] * 3, rel=1e-12)
    assert math.isinf(Hedge(2, 1.0).regret_bound)


def test_freund_schapire_constants() -> None:
    rounds, eta = freund_schapire(40, 0.2)
    assert (rounds, eta) == (math.ceil(400 * math.log(40)), 0.05)
    assert regret_bound(eta, rounds, math.log(40)) <= 3 * 0.2 / 8


@pytest.mark.parametrize("call", [
    lambda: Hedge(0, 1.0), lambda: Hedge(2, 0.0), lambda: Hedge(2, 1.0, [1.0]), lambda: Hedge(2, 1.0, [1.0, 0.0]),
    lambda: Hedge(2, 1.0).update([1.0]), lambda: Hedge(2, 1.0).update([1.5, 0.0]),
    lambda: Hedge(2, 1.0).update([math.nan, 0.0]), lambda: freund_schapire(1, 0.5), lambda: freund_schapire(5, 1.0),
    lambda: play_in_full([[1.0]], [0.5, 0.5], 0.1, 5), lambda: play_in_full([[1.0]], [0.5], 0.1, 0),
])
def test_players_that_are_refused(call: object) -> None:
    with pytest.raises(InvalidInput):
        call()  # type: ignore[operator]


def correlated(n: int = 60, d: int = 6) -> np.ndarray:
    """Bits that lean on a hidden one."""
    generator = study_generator(11, "correlated")
    hidden = generator.random((n, 1)) < 0.5
    return np.where(hidden, generator.random((n, d)) < 0.85, generator.random((n, d)) < 0.2)


@pytest.mark.parametrize(("eta", "rounds"), [
    (0.2, 500), (0.1, 2000), pytest.param(0.05, 8000, marks=pytest.mark.slow),
])
def test_the_game_played_in_full(eta: float, rounds: int) -> None:
    """Acceptance check 7: no samples, 60 x 6 correlated data, all 20 marginals; and the value of the game is 0."""
    data, queries = correlated(), Workload.complete(6, width=3)
    universe = (np.arange(64)[:, None] >> np.arange(6)) & 1 == 1
    values = np.array([queries.values(record) for record in universe])
    truth = np.mean([queries.values(record) for record in data], axis=0)
    found = play_in_full(values, truth, eta, rounds)
    assert found.bound == pytest.approx(eta / 2 + math.log(40) / (eta * rounds))
    assert found.max_error <= found.bound
    assert found.max_error < 10 / rounds
    assert found.value[0] <= 0 <= found.value[1]
    assert found.plays.sum() == rounds
    assert found.queries.sum() == pytest.approx(1.0)
    mixed = play_in_full(values, truth, eta, rounds, mixed_signs=True)
    assert mixed.max_error > 0.3


# ---- the certificate


def test_the_source_setting_is_certified() -> None:
    """Spec query_release D3: with the source's settings the bound is at most 0.83 alpha."""
    universe = log_universe(235)
    for aimed, queries in ((0.1, 2_000_000), (0.3, 40), (0.02, 10**6)):
        rounds, eta = math.ceil(16 * math.log(queries) / aimed**2), aimed / 4
        samples = math.ceil(48 * (math.log(2 * rounds / 0.05) + universe) / aimed**2)
        found = answers_certificate(eta, rounds, samples, queries=queries, universe=universe, tau=aimed / 4)
        assert found.bound <= 0.83 * aimed
        assert not found.vacuous
    practice = answers_certificate(2.0, 43, 1000, queries=10**6, universe=universe)
    assert practice.bound > BASELINE_ERROR
    assert practice.vacuous


def test_the_parts_of_the_certificate() -> None:
    assert sampling_error(100, 1, 0.0, 0.5) < sampling_error(100, 1, 50.0, 0.5) < sampling_error(100, 10, 50.0, 0.5)
    large = sampling_error(10**4, 50, 500.0, 0.05)
    tries = math.log(50 / 0.05)
    split = math.sqrt((tries + math.log(2)) / 2e4) + math.sqrt((tries + math.log(2) + 500) / 2e4)
    assert large == pytest.approx(split)
    assert large < math.sqrt(2 * (tries + 500) / 1e4)
    assert mean_gap([5, 9], [6.5, 9.0], 10) == pytest.approx(0.075)
    with pytest.raises(InvalidInput, match=r"^bounds"):
        mean_gap([5], [4.0], 10)
    assert log_universe(7, (2, 4)) == pytest.approx(math.log(2 * 4 * 2))
    with pytest.raises(InvalidInput, match=r"^groups"):
        log_universe(3, (2, 4))
    with pytest.raises(InvalidInput, match=r"^tau"):
        answers_certificate(1.0, 5, 5, queries=4, universe=1.0, tau=-0.1)
