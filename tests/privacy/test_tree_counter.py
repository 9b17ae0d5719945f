"""Tree counter: blocks and prefixes, both doors, privacy along adaptive histories, broken variants."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from confide.audit import Neighbours, exact_audit, fixed_transcript_audit, replayed_audit
from confide.audit.faulty_noise import DampedNoise
from confide.contract import InvalidInput, NotGuaranteed, Refused, Relation
from confide.privacy import GDP, ZCDP, GDPEvent, Noise, PureDP, PureEvent, TreeCounter, ZCDPEvent, gdp_mu
from confide.privacy.noise import ForcedNoise, RecordingNoise
from confide.privacy.tree_blocks import (
    digits,
    finished_level,
    levels,
    mean_terms,
    memberships,
    participation,
    participation_squared,
    terms,
)
from confide.privacy.tree_bounds import best_arity

RECORD = Relation.REPLACE


def blocks(horizon, arity):
    """(start, end] of the block that is finished at each step."""
    return [(t - arity ** finished_level(t, arity), t) for t in range(1, horizon + 1)]


# ---- blocks


# spec allocation, acceptance 1
@pytest.mark.parametrize(("arity", "horizon"), [(2, 1), (2, 7), (2, 8), (2, 100), (3, 26), (3, 27), (5, 60), (16, 300)])
def test_blocks_terms_and_levels(arity, horizon):
    spans, h = blocks(horizon, arity), levels(horizon, arity)
    assert arity**h > horizon >= arity ** (h - 1)
    sums = [sum(digits(t, arity)) for t in range(1, horizon + 1)]
    assert terms(horizon, arity) == max(sums)
    assert mean_terms(horizon, arity) == Fraction(sum(sums), horizon)
    inside = [sum(a < t <= e for a, e in spans) for t in range(1, horizon + 1)]
    assert memberships(horizon, arity).tolist() == inside
    assert max(inside) <= h
    if arity == 2:
        assert max(inside) == h == horizon.bit_length()  # erratum 1: floor(log2 N) + 1, not log2 N


def test_a_prefix_is_the_sum_of_its_last_blocks():
    for arity, horizon in ((2, 37), (3, 50), (7, 120)):
        spans = blocks(horizon, arity)
        for t in range(1, horizon + 1):
            end, used = t, 0
            while end:  # the blocks that the count at t adds up, from the last one backwards
                end, used = spans[end - 1][0], used + 1
            assert used == sum(digits(t, arity))


def test_participation():
    assert participation(3750, 2, rounds=30, bids=8) == 2 * 71  # spec allocation 2: 71 of 96
    assert participation(3750, 2, rounds=30, bids=8, add_remove=True) == 71
    assert levels(3750, 2) * 8 == 96
    for horizon, arity, rounds, bids in ((18, 2, 6, 3), (24, 3, 8, 2), (20, 2, 5, 5), (12, 5, 3, 1)):
        spans, slots = blocks(horizon, arity), horizon // rounds
        patterns = [[r * slots + s for r in chosen] for s in range(1, slots + 1)
                    for size in range(1, bids + 1) for chosen in combinations(range(rounds), size)]
        counted = [[sum(a < t <= e for t in steps) for a, e in spans] for steps in patterns]
        assert participation(horizon, arity, rounds=rounds, bids=bids) == 2 * max(map(sum, counted))
        # her bids may go to one good in one world and to another one in the other world
        worst = 2 * max(sum(n * n for n in row) for row in counted)
        assert worst <= participation_squared(horizon, arity, rounds=rounds, bids=bids)
        if (horizon, arity, rounds, bids) == (18, 2, 6, 3):
            assert worst == 50  # spec allocation 2: 50 of 60; the common sqrt(2 C h) has 30
            assert participation_squared(18, 2, rounds=6, bids=3) == 60
            assert participation_squared(18, 2, rounds=6, bids=3, add_remove=True) == 30


# ---- the two doors


def plain(counter, streams, noise):
    """A tree counter as the text describes it: prefixes are added up from their blocks."""
    out = np.empty(streams.shape, dtype=np.int64)
    for j in range(counter.counters):
        released = {}
        best = 0
        for t in range(1, counter.horizon + 1):
            start = t - counter.arity ** finished_level(t, counter.arity)
            released[t] = (start, int(streams[j, start:t].sum()) * 2**counter.grid + int(noise[j, t - 1]))
            end, raw = t, 0
            while end:
                end, value = released[end]
                raw += value
            count = math.floor(Fraction(raw, 2**counter.grid) + Fraction(1, 2))
            best = max(best, count)
            out[j, t - 1] = best if counter.running_maximum else count
    return out


@limits(max_examples=25)
@given(st.integers(1, 4), st.integers(1, 40), st.integers(2, 6), st.booleans(), st.integers(0, 10**6),
       st.sampled_from(["discrete_laplace", "gaussian"]))
def test_three_ways_to_count(counters, horizon, arity, running_maximum, seed, law):
    counter = TreeCounter(horizon=horizon, counters=counters, arity=arity, scale=3.0, law=law,
                          running_maximum=running_maximum)
    generator = np.random.default_rng(seed)
    streams = generator.integers(0, 4, (counters, horizon))
    noise = counter.draw(Noise.simulated(seed))
    expected = plain(counter, streams, noise)
    assert (counter.count(streams, noise) == expected).all()
    given_noise = noise if counter.lattice else noise / 2**counter.grid
    replayed = Noise.replayed({("x", t): given_noise[:, t - 1] for t in range(1, horizon + 1)})
    running = counter.start(replayed, "x")
    assert (np.stack([running.feed(streams[:, t]) for t in range(horizon)], axis=1) == expected).all()
    assert running.step == horizon


def test_the_kernel_step_by_step():
    from confide.privacy import tree_kernel

    counter = TreeCounter(horizon=30, counters=3, arity=3, scale=2.0)
    streams, noise = np.ones((3, 30), dtype=np.int64), counter.draw(Noise.simulated(1))
    sums, noisy = np.zeros((2, 3, counter.levels), dtype=np.int64)
    published = np.zeros(3, dtype=np.int64)
    expected = counter.count(streams, noise)
    for t in range(30):
        tree_kernel.advance(t + 1, 3, 0, True, streams[:, t].copy(), noise[:, t].copy(), sums, noisy, published)
        assert (published == expected[:, t]).all()


# spec allocation, acceptance 1: equal to a hand computation
def test_a_transcript_by_hand():
    counter = TreeCounter(horizon=6, scale=1.0, running_maximum=False)
    streams, noise = np.array([[1, 1, 0, 2, 0, 1]]), np.array([[5, -1, 2, 0, -3, 1]])
    assert counter.block_sums(streams).tolist() == [[1, 2, 0, 4, 0, 1]]
    # blocks 1, 1-2, 3, 1-4, 5, 5-6 are released as 6, 1, 2, 4, -3, 2
    assert counter.count(streams, noise).tolist() == [[6, 1, 1 + 2, 4, 4 - 3, 4 + 2]]
    rising = TreeCounter(horizon=6, scale=1.0)
    assert rising.count(streams, noise).tolist() == [[6, 6, 6, 6, 6, 6]]


def test_counts_start_at_zero_and_never_fall():
    counter = TreeCounter(horizon=64, counters=20, scale=4.0)
    counts = counter.count(np.zeros((20, 64), dtype=int), counter.draw(Noise.simulated(3)))
    assert counts.min() >= 0
    assert (np.diff(counts, axis=1) >= 0).all()
    raw = TreeCounter(horizon=64, counters=20, scale=4.0, running_maximum=False)
    falls = raw.count(np.zeros((20, 64), dtype=int), raw.draw(Noise.simulated(3)))
    assert (np.diff(falls, axis=1) < 0).any()  # spec allocation, erratum 6: Algorithm 7 itself does fall


def test_one_draw_per_counter_and_step_whatever_the_data():
    counter = TreeCounter(horizon=9, counters=3, scale=2.0)
    asked = []
    for streams in (np.zeros((3, 9), dtype=int), np.full((3, 9), 7)):
        noise = RecordingNoise(Noise.simulated(0))
        running = counter.start(noise, "s")
        for t in range(9):
            running.feed(streams[:, t])
        asked.append([draw.request for draw in noise.draws])
    assert asked[0] == asked[1]
    assert [request[:5] for request in asked[0]] == [("discrete_laplace", ("s", t), 2, (3,), -1) for t in range(1, 10)]


def test_secure_noise_serves_both_entry_functions():
    for law in ("discrete_laplace", "gaussian"):
        counter = TreeCounter(horizon=4, counters=2, scale=1.0, law=law)
        running = counter.start(Noise.secure())
        published = [running.feed([1, 0]) for _ in range(4)]
        assert all(p.shape == (2,) and p.dtype == np.int64 for p in published)
        assert counter.count(np.ones((2, 4), dtype=int), counter.draw(Noise.secure())).shape == (2, 4)
    assert repr(running) == "<tree counter, 4 of 4 steps>"


def test_blocks_of_draws_have_public_sizes(monkeypatch):
    monkeypatch.setattr("confide.privacy.tree_counter._BLOCK", 64)
    noise = RecordingNoise(Noise.simulated(0))
    assert TreeCounter(horizon=50, counters=4, scale=2.0).draw(noise, "d").shape == (4, 50)
    assert [draw.shape for draw in noise.draws] == [(4, 16)] * 3 + [(4, 2)]


# ---- privacy


def replay(counter, policy, seed, change):
    """The loss along one history of an adaptive stream: what a step adds depends on what was published.

    `change` (t, published) -> what the changed participant adds in the other world, in place of what she adds in this.
    """
    noise = RecordingNoise(Noise.simulated(seed))
    first, history = counter.start(noise, "x"), []
    published = np.zeros(counter.counters, dtype=np.int64)
    for t in range(1, counter.horizon + 1):
        ours, theirs = change(t, published)
        others = policy(t, published)
        history.append((others, ours, theirs))
        published = first.feed(others + ours)
    forced = ForcedNoise(noise.draws)
    second = counter.start(forced, "x")
    again = np.zeros(counter.counters, dtype=np.int64)
    for others, _, theirs in history:
        again = second.feed(others + theirs)
    assert (again == published).all()  # what is published is a function of the releases alone
    one, two = ([[float(c) for c in draw.center] for draw in draws] for draws in (noise.draws, forced.draws))
    distance = sum(np.abs(ours - theirs).sum() for _, ours, theirs in history)
    return np.array(one), np.array(two), int(distance)


@pytest.mark.parametrize(("horizon", "arity"), [(8, 2), (63, 2), (64, 2), (40, 3), (90, 10)])
def test_block_sums_move_by_the_distance_times_the_levels(horizon, arity):
    # spec allocation, acceptance 5: l1 distance of the block sums <= Delta h, over adaptive streams, and attained
    bids, counters = 3, 4
    counter = TreeCounter.for_epsilon(2.0, l1_sensitivity=2 * bids, horizon=horizon, counters=counters, arity=arity)
    losses, distances = [], []
    for seed in range(12):
        generator = np.random.default_rng(seed)
        left = [bids, bids]

        def policy(t, published, generator=generator):
            return (generator.random(counters) < 0.4).astype(np.int64) * (1 + published % 2)

        def change(t, published, left=left, generator=generator):
            """Both worlds bid while they have bids left, for what is published to be cheapest and dearest."""
            moves = np.zeros((2, counters), dtype=np.int64)
            for world, j in enumerate((int(np.argmin(published)), int(np.argmax(published)))):
                if left[world] and generator.random() < 0.3:
                    left[world] -= 1
                    moves[world, j] += 1
            return moves[0], moves[1]

        one, two, distance = replay(counter, policy, seed, change)
        moved = np.abs(one - two).sum()
        assert distance <= 2 * bids
        assert moved <= distance * counter.levels
        distances.append(moved)
        losses.append(counter.replayed_loss(one, two))
    assert not replayed_audit(losses, PureDP(2.0)).flagged
    # attained: all bids in the first step, where a full tree has a block on every level
    first = np.zeros((counters, horizon), dtype=np.int64)
    second = first.copy()
    first[0, 0], second[1, 0] = bids, bids
    sums = [counter.block_sums(streams) for streams in (first, second)]
    assert np.abs(sums[0] - sums[1]).sum() == 2 * bids * counter.levels
    assert counter.replayed_loss(*sums) == pytest.approx(2.0, rel=1e-12)
    assert counter.replayed_loss(*sums) <= counter.loss.epsilon


# spec allocation, acceptance 5: n = 8, k = 2, g = R = C = 1, N = 8, h = 4, epsilon = 20
def test_the_crafted_pair():
    counter = TreeCounter.for_epsilon(20.0, l1_sensitivity=2, horizon=8, arity=2, counters=2)
    assert (counter.levels, counter.scale) == (4, 0.4)
    streams = np.zeros((2, 2, 8), dtype=np.int64)
    streams[0, 0, 0] = streams[1, 1, 0] = 1
    one, two = (counter.block_sums(world) for world in streams)
    assert np.abs(one - two).sum() == 8
    assert counter.replayed_loss(one, two) == 20.0
    # exactly 20.0 with noise >= 0 on the first good and <= 0 on the second, and never above it
    injected = np.array([[0, 3, 1, 0, 2, 0, 0, 5], [0, -1, 0, -4, 0, 0, 0, 0]])
    assert counter.log_ratio(one, two, one + injected) == 20.0
    noise = Noise.simulated(0)
    ratios = [counter.log_ratio(one, two, one + noise.discrete_laplace(0.4, (2, 8), stream=("n", i)))
              for i in range(300)]
    assert max(map(abs, ratios)) <= 20.0
    # too few levels: log2 N instead of floor(log2 N) + 1, the natural logarithm, and one level alone
    for scale, loss in ((2 * math.log2(8) / 20, 26.6667), (2 * math.log(8) / 20, 38.4719), (0.1, 80.0)):
        short = TreeCounter(horizon=8, counters=2, scale=scale, l1_sensitivity=2)
        assert short.log_ratio(one, two, one + injected) == pytest.approx(loss, abs=1e-3)
        assert replayed_audit([short.log_ratio(one, two, one + injected)], PureDP(20.0)).flagged


# ---- the audit through the door


def visits(counter):
    """One counter of visitors; a record is (step or None)."""

    def run(data, noise):
        running = counter.start(noise, "visits")
        arrivals = np.bincount([t for t in data if t is not None], minlength=counter.horizon + 1)
        return [running.feed([arrivals[t]]).tolist() for t in range(1, counter.horizon + 1)]

    return run


def ticking(counter):
    """Broken on purpose: it ticks only when somebody comes."""

    def run(data, noise):
        running = counter.start(noise, "visits")
        out = [0]
        for t in range(1, counter.horizon + 1):
            arrived = sum(step == t for step in data)
            if arrived:
                out.append(running.feed([arrived])[0])
        return out

    return run


def lazy(counter):
    """Broken on purpose: nothing is drawn, and nothing counted, before the first visit."""

    def run(data, noise):
        running, out = None, []
        for t in range(1, counter.horizon + 1):
            arrived = sum(step == t for step in data)
            if running is None and not arrived:
                out.append(0)
                continue
            running = running or counter.start(noise, "visits")
            out.append(int(running.feed([arrived])[0]))
        return out

    return run


def pairs():
    return [Neighbours(first, second, published=lambda outcome: repr(outcome).encode())
            for first, second in (([1, 1, 5], [1, 1, 7]), ([None, 3], [8, 3]), ([2, 2], [2, None]), ([4], [8]))]


def test_the_counter_passes_the_fixed_transcript_audit():
    counter = TreeCounter.for_epsilon(1.0, l1_sensitivity=2, horizon=8, arity=2)
    found = fixed_transcript_audit(visits(counter), pairs(), {"visits": PureDP(1.0)}, Noise.simulated)["visits"]
    assert not found.flagged
    assert found.measured == 6 / 16
    gauss = TreeCounter.for_rho(0.5, l1_sensitivity=2, exposure=8, horizon=8, arity=2)
    assert not fixed_transcript_audit(visits(gauss), pairs(), {"": gauss.loss}, Noise.simulated)[""].flagged


@pytest.mark.parametrize("broken", [ticking, lazy])
def test_a_clock_that_depends_on_the_data_is_flagged(broken):
    counter = TreeCounter.for_epsilon(1.0, l1_sensitivity=2, horizon=8, arity=2)
    found = fixed_transcript_audit(broken(counter), pairs(), {"": PureDP(1.0)}, Noise.simulated)[""]
    assert found.flagged
    assert found.leaks


def test_too_little_noise_is_flagged():
    counter = TreeCounter.for_epsilon(1.0, l1_sensitivity=2, horizon=8, arity=2)
    short = TreeCounter(horizon=8, scale=2 * math.log2(8), l1_sensitivity=2)
    first = [Neighbours([1], [3], published=lambda outcome: repr(outcome).encode())]
    claims = {"": PureDP(1.0)}
    assert not fixed_transcript_audit(visits(counter), first, claims, Noise.simulated)[""].flagged
    assert not fixed_transcript_audit(visits(short), first, claims, Noise.simulated)[""].flagged  # 6 blocks of 8 differ
    clash = [Neighbours([1, None], [None, None], published=lambda outcome: repr(outcome).encode())]
    one = TreeCounter(horizon=8, scale=math.log2(8), l1_sensitivity=1)  # for a record that is absent, printed scale
    assert fixed_transcript_audit(visits(one), clash, claims, Noise.simulated)[""].measured == pytest.approx(4 / 3)
    assert fixed_transcript_audit(visits(one), clash, claims, Noise.simulated)[""].flagged
    damped = fixed_transcript_audit(lambda data, noise: visits(one)(data, DampedNoise(noise, 0.5)), clash, claims,
                                    Noise.simulated)
    assert damped[""].measured == pytest.approx(8 / 3)


# ---- the exact law of a small tree


def small_law(counter, stream, reach):
    """The exact law of what is published, each tail of a release in one cell (which only helps the attacker less)."""
    sums = counter.block_sums(np.array([stream]))[0]
    cells = np.arange(-reach, reach + 1)
    if counter.law == "discrete_laplace":
        p = math.exp(-1 / counter.scale)
        far = np.arange(-reach - 400, reach + 401)
        mass = (1 - p) / (1 + p) * p ** np.abs(far)
    else:
        far = np.arange(-reach - 400, reach + 401)
        mass = np.exp(-(far**2) / (2 * counter.scale**2))
        mass /= mass.sum()
    laws = []
    for value in sums:
        law = np.zeros(len(cells))
        np.add.at(law, np.clip(far + value, -reach, reach) + reach, mass)
        laws.append(law)
    joint = laws[0][:, None, None] * laws[1][None, :, None] * laws[2][None, None, :]
    grid = np.stack(np.meshgrid(cells, cells, cells, indexing="ij"), axis=-1).reshape(-1, 3)
    # the releases are the streams' block sums plus noise: count zeros with the releases as noise
    published = counter_of(counter, grid)
    keys, index = np.unique(published, axis=0, return_inverse=True)
    return joint.reshape(-1), np.bincount(index.reshape(-1), weights=joint.reshape(-1), minlength=len(keys))


def counter_of(counter, releases):
    many = TreeCounter(horizon=3, counters=len(releases), scale=counter.scale, law=counter.law)
    return many.count(np.zeros_like(releases), releases)


@pytest.mark.parametrize(("law", "scale", "claim", "reach"), [("discrete_laplace", 4.0, PureDP(0.5), 10),
                                                              ("discrete_gaussian", 2.0, ZCDP(0.25), 5)])
def test_the_exact_law_of_three_steps(law, scale, claim, reach):
    counter = TreeCounter(horizon=3, scale=scale, law=law)
    assert counter.loss == claim
    promised = claim.epsilon if law == "discrete_laplace" else claim.rho
    for first, second in (([1, 0, 0], [0, 0, 0]), ([2, 1, 1], [2, 1, 0])):
        p, q = small_law(counter, first, reach), small_law(counter, second, reach)
        releases = exact_audit({0: p[0], 1: q[0]}, claim)
        published = exact_audit({0: p[1], 1: q[1]}, claim)
        assert not releases.flagged
        assert published.measured <= releases.measured * (1 + 1e-9)
        blocks_moved = 2 if first[0] != second[0] else 1
        assert releases.measured == pytest.approx(promised * blocks_moved / 2, rel=0.01)
    damped = TreeCounter(horizon=3, scale=scale / 2, law=law)
    p, q = small_law(damped, [1, 0, 0], reach), small_law(damped, [0, 0, 0], reach)
    assert exact_audit({0: p[0], 1: q[0]}, claim).flagged


# ---- calibration


def test_calibration():
    counter = TreeCounter.for_epsilon(0.3, l1_sensitivity=6, horizon=1000, arity=10)
    assert counter.levels == 4
    assert 0 <= Fraction(counter.scale) - Fraction(24) / Fraction("0.3") < Fraction(1, 10**12)
    assert counter.loss == PureDP(0.3)
    assert counter.events(RECORD) == (PureEvent(epsilon=0.3, neighbours=RECORD, label="tree counter"),)
    for epsilon in (0.1, 0.7, 1 / 3, 2.0, 1e-3):
        assert TreeCounter.for_epsilon(epsilon, l1_sensitivity=3, horizon=77, arity=2).loss.epsilon <= epsilon
    gained = TreeCounter.for_epsilon(1.0, l1_sensitivity=16, horizon=3750, arity=2,
                                     exposure=participation(3750, 2, rounds=30, bids=8))
    assert gained.scale == 142.0  # 26% below 192
    assert gained.loss == PureDP(1.0)


def test_gaussian_calibration():
    squared = participation_squared(18, 2, rounds=6, bids=3)
    rho = TreeCounter.for_rho(0.1, l1_sensitivity=6, exposure=squared, horizon=18, arity=2)
    assert rho.scale == pytest.approx(math.sqrt(60 / 0.2), rel=1e-15)
    assert isinstance(rho.loss, ZCDP)
    assert 0.1 * (1 - 1e-14) < rho.loss.rho <= 0.1
    assert rho.events(RECORD) == (ZCDPEvent(rho=rho.loss.rho, neighbours=RECORD, label="tree counter"),)
    mu = TreeCounter.for_mu(gdp_mu(1.0, 1e-8), l1_sensitivity=6, exposure=squared, horizon=18, arity=2)
    assert mu.scale == pytest.approx(math.sqrt(60) / 0.19607, rel=1e-4)  # spec allocation 2: mu(1, 1e-8)
    assert isinstance(mu.loss, GDP)
    assert mu.loss.epsilon_at(1e-8) == pytest.approx(1.0, abs=1e-9)
    assert mu.events(RECORD) == (GDPEvent(mu=mu.loss.mu, neighbours=RECORD, label="tree counter"),)
    assert TreeCounter.for_rho(0.1, l1_sensitivity=3, horizon=7, arity=2).reach == 27
    # a pair of histories at the bound
    sums = np.zeros((1, 7)), np.array([[1.0, 1, 0, 1, 0, 0, 0]])
    three = TreeCounter.for_rho(0.1, l1_sensitivity=1, horizon=7, arity=2)
    assert three.replayed_loss(*sums) == pytest.approx(0.1)
    assert TreeCounter.for_mu(0.5, l1_sensitivity=1, horizon=7, arity=2).replayed_loss(*sums) == pytest.approx(0.5)
    assert three.log_ratio(*sums, released=sums[0]) == pytest.approx(0.1)


# ---- bad input


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"horizon": 0}, "horizon"), ({"horizon": 2.5}, "horizon"), ({"counters": 0}, "counters"),
        ({"arity": 1}, "arity"), ({"scale": 0.0}, "scale"), ({"scale": math.inf}, "scale"),
        ({"law": "vector_laplace"}, "law"), ({"l1_sensitivity": 0}, "l1_sensitivity"), ({"exposure": 0}, "exposure"),
    ],
)
def test_bad_parameters_are_refused(changes, field):
    with pytest.raises(InvalidInput) as caught:
        TreeCounter(**({"horizon": 8, "scale": 1.0} | changes))
    assert caught.value.field == field


def test_bad_calls_are_refused_on_public_grounds():
    counter = TreeCounter(horizon=2, counters=2, scale=1.0)
    running = counter.start(Noise.simulated(0))
    for increments in ([1], [[17, 23]], [0.5, 1.0], [1.0, 2.0], ["a", "b"], [None, 1]):
        with pytest.raises(InvalidInput) as caught:
            running.feed(increments)
        assert caught.value.field == "increments"
        assert "17" not in str(caught.value)
    assert running.step == 0  # a refused call uses up no step
    running.feed([1, 0])
    running.feed([True, False])
    with pytest.raises(Refused, match="2 steps"):
        running.feed([0, 0])
    with pytest.raises(InvalidInput, match="streams"):
        counter.count(np.zeros((2, 3), dtype=int), np.zeros((2, 2), dtype=int))
    with pytest.raises(InvalidInput, match="noise"):
        counter.count(np.zeros((2, 2), dtype=int), np.zeros((2, 2)))
    with pytest.raises(InvalidInput, match="rounds"):
        participation(10, 2, rounds=3, bids=1)
    with pytest.raises(InvalidInput, match="simulated"):
        counter.simulated_bound(0.1, Noise.secure(), runs=100)
    for bound in ("gaussian",):
        with pytest.raises(NotGuaranteed):
            counter.error_bound(0.1, bound)
    gauss = TreeCounter(horizon=2, scale=1.0, law="gaussian")
    for bound in ("chernoff", "single_sum", "source", "exact"):
        with pytest.raises(NotGuaranteed):
            gauss.error_bound(0.1, bound)
    with pytest.raises(InvalidInput):
        TreeCounter.for_epsilon(-1.0, l1_sensitivity=1, horizon=8, arity=2)


@pytest.mark.parametrize("law", ["discrete_laplace", "laplace"])
@pytest.mark.parametrize("huge", [np.int64(2**63 - 1), np.uint64(2**64 - 1)])
def test_huge_increments_are_cut_at_a_public_bound(law, huge):
    """Sums that wrap, or that a double rounds, would move neighbours further apart than `distance` says."""
    counter = TreeCounter(horizon=5, scale=2.0, law=law, running_maximum=False)
    noise = np.arange(5)[None] - 2
    limit = counter.largest_increment
    assert limit * counter.horizon <= (2**61 if counter.lattice else 2**43)
    stream = np.full((1, 5), huge)
    counts = counter.count(stream, noise)
    np.testing.assert_array_equal(counts, counter.count(np.full((1, 5), limit), noise))
    near = stream.copy()
    near[0, 2] -= near.dtype.type(1)
    far = np.abs(counter.block_sums(stream) - counter.block_sums(near)).sum()
    assert far <= counter.l1_sensitivity * counter.levels
    running = counter.start(Noise.simulated(4))
    for t in range(5):
        published = running.feed(stream[:, t])
        assert abs(int(published[0]) - (t + 1) * limit) < 200


def test_the_best_arity_is_chosen_unless_an_exposure_was_computed():
    assert TreeCounter.for_epsilon(1.0, l1_sensitivity=1, horizon=1023).arity == best_arity(1023)
    assert TreeCounter.for_rho(0.5, l1_sensitivity=1, horizon=1023).arity == best_arity(1023, noise="gaussian")
    assert TreeCounter.for_mu(0.5, l1_sensitivity=1, horizon=1023, counters=9).arity == (
        best_arity(1023, 9, noise="gaussian"))
    with pytest.raises(InvalidInput, match="arity: is left out"):
        TreeCounter.for_epsilon(1.0, l1_sensitivity=16, horizon=3750, exposure=128)
