"""Items in decreasing noisy score: the law, lazily and plainly drawn; ties, blocks, precision, refusals."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, permutations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from cases import fast
from confide.contract import InvalidInput
from confide.privacy.noise import JournalNoise, Noise, RecordingNoise
from confide.privacy.noise.simulated import study_generator
from confide.privacy.selection import largest_law
from confide.search import noisy_order
from confide.search.noise_kinds import KINDS
from confide.search.noisy_order import NoisyOrder

CONTINUOUS = ["laplace", "exponential", "gumbel"]
CODES = {"laplace": 0, "exponential": 1, "gumbel": 2}


def everything(scores, scale, kind, seed, **options):
    return NoisyOrder(scores, scale, kind, Noise.simulated(seed), stream="order", **options).take(10**9)


@settings(max_examples=12)
@given(
    scores=st.lists(st.integers(-3, 4), max_size=60),
    cuts=st.lists(st.integers(0, 9), max_size=20),
    kind=st.sampled_from(KINDS),
    fake=st.none() | st.integers(-1, 5),
    plain=st.booleans(),
)
def test_each_item_comes_once_and_blocks_change_nothing(scores, cuts, kind, fake, plain):
    whole = everything(scores, 2.0, kind, 5, fake=fake, plain=plain)
    assert sorted(whole.tolist()) == list(range(len(scores) + (fake is not None)))
    order = NoisyOrder(scores, 2.0, kind, Noise.simulated(5), stream="order", fake=fake, plain=plain)
    parts = [order.take(cut) for cut in [*cuts, 10**9, 3]]
    assert np.array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("kind", CONTINUOUS)
@pytest.mark.parametrize("plain", [False, True])
def test_many_blocks_of_draws_are_one_stream(kind, plain):
    """More items than the first blocks of draws hold, taken one by one, in pieces, and at once."""
    scores = study_generator(3, "scores").integers(0, 400, 5000).astype(float)
    whole = everything(scores, 30.0, kind, 8, fake=100.0, plain=plain)
    order = NoisyOrder(scores, 30.0, kind, Noise.simulated(8), stream="order", fake=100.0, plain=plain)
    pieces = [order.take(1) for _ in range(1500)] + [order.take(977) for _ in range(5)]
    assert np.array_equal(np.concatenate(pieces), whole)
    assert len(np.unique(whole)) == 5001


def luce(weights, order):
    """P(order) where each next item is chosen in proportion to its weight."""
    left, p = sum(weights), 1.0
    for k in order:
        p *= weights[k] / left
        left -= weights[k]
    return p


@pytest.mark.parametrize("plain", [False, True])
def test_gumbel_orders_follow_their_exact_law(plain):
    """All 120 orders of five items, two equal ones and a fake among them: Plackett and Luce, chi-square p > 1e-4."""
    scores, fake, scale = [0.0, 0.0, 1.0, 3.0], 1.0, 2.0
    weights = np.exp(np.array([*scores, fake]) / scale)
    orders = {order: at for at, order in enumerate(permutations(range(5)))}
    runs = 2000 if plain else 3000
    counts = np.zeros(120)
    for seed in range(runs):
        counts[orders[tuple(everything(scores, scale, "gumbel", seed, fake=fake, plain=plain).tolist())]] += 1
    law = np.array([luce(weights, order) for order in orders])
    assert law.sum() == pytest.approx(1.0)
    assert stats.chisquare(counts, runs * law).pvalue > 1e-4
    off = np.array([luce(weights**1.25, order) for order in orders])  # control: a scale that is a fifth too small
    assert stats.chisquare(counts, runs * off).pvalue < 1e-9


@pytest.mark.slow
def test_gumbel_selection_is_a_softmax():
    """Spec targeted_search acceptance 11: 100,000 draws, chi-square p > 1e-4."""
    scores = np.array([4.0, 0.0, 2.0, 2.0, 2.0, 0.0, 7.0])
    law = np.exp(np.append(scores, 5.0) / 3.0)
    firsts = [
        int(NoisyOrder(scores, 3.0, "gumbel", Noise.simulated(seed), stream="x", fake=5.0).take(1)[0])
        for seed in range(100_000)
    ]
    assert stats.chisquare(np.bincount(firsts, minlength=8), 100_000 * law / law.sum()).pvalue > 1e-4


def first_law(values, scale, kind):
    """P(each item is first): quadrature of density times the others' distribution functions, or a sum."""
    if kind == "discrete_laplace":
        return largest_law(np.asarray(values, dtype=np.int64), scale)
    law = {"laplace": stats.laplace, "exponential": stats.expon, "gumbel": stats.gumbel_r}[kind]

    def density(y, r):
        others = np.prod([law.cdf((y - v) / scale) for k, v in enumerate(values) if k != r])
        return law.pdf((y - values[r]) / scale) / scale * others

    ends = sorted({min(values) - 40 * scale, *values, max(values) + 40 * scale})
    return np.array([sum(integrate.quad(density, a, b, args=(r,), limit=200)[0] for a, b in pairwise(ends))
                     for r in range(len(values))])


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "plain"), fast(2, [
    ("laplace", False), ("discrete_laplace", False), ("exponential", False), ("gumbel", False), ("laplace", True),
    ("exponential", True),
]))
def test_the_first_item_has_its_exact_law(kind, plain):
    """Two equal items, two others and a fake; fixed seeds, chi-square p > 1e-4."""
    scores, fake, scale, runs = [0, 0, 2, 5], 4, 3.0, 2500
    law = first_law([*scores, fake], scale, kind)
    assert law.sum() == pytest.approx(1.0)
    assert law[0] > law[1] if kind == "discrete_laplace" else law[0] == pytest.approx(law[1])  # the tie rule
    firsts = [int(NoisyOrder(scores, scale, kind, Noise.simulated(seed), stream="x", fake=fake, plain=plain).take(1)[0])
              for seed in range(runs)]
    counts = np.bincount(firsts, minlength=5)
    assert stats.chisquare(counts, runs * law).pvalue > 1e-4
    off = first_law([*scores, fake], 0.75 * scale, kind)  # control: noise a quarter too small
    assert stats.chisquare(counts, runs * off / off.sum()).pvalue < 1e-4


def tops(kind, plain, runs, *, fake=6.0):
    """(runs, 5) the five top noisy scores of 300 items of few levels, and of a fake."""
    scores = np.repeat([0.0, 1.0, 2.0, 5.0, 9.0], [180, 80, 30, 9, 1])
    found = np.empty((runs, 5))
    for seed in range(runs):
        order = NoisyOrder(scores, 2.0, kind, Noise.simulated(seed), stream=("top", int(plain)), fake=fake, plain=plain)
        found[seed] = order.take_scored(5)[1]
    assert (np.diff(found, axis=1) <= 0).all()
    return found


@pytest.mark.parametrize(("kind", "runs"), [
    ("laplace", 800),
    *[pytest.param(kind, 20_000, marks=pytest.mark.slow) for kind in CONTINUOUS],
])
def test_lazy_and_plain_agree_in_law(kind, runs):
    """Spec targeted_search acceptance 10: Kolmogorov-Smirnov p > .001 on each of the five top scores."""
    lazy, plain = tops(kind, False, runs), tops(kind, True, runs)
    assert min(stats.ks_2samp(lazy[:, k], plain[:, k]).pvalue for k in range(5)) > 1e-3
    other = tops(kind, True, runs, fake=16.0)  # control: one item in 301 has another score
    assert stats.ks_2samp(lazy[:, 0], other[:, 0]).pvalue < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("kind", CONTINUOUS)
def test_the_largest_noise_has_its_exact_law(kind):
    """The first of n equal items: P(noise <= z) = F(z)^n. Fixed seeds, p > 1e-4."""
    law = {"laplace": stats.laplace, "exponential": stats.expon, "gumbel": stats.gumbel_r}[kind]
    found = np.array([
        NoisyOrder(np.zeros(50), 3.0, kind, Noise.simulated(seed), stream="x").take_scored(1)[1][0]
        for seed in range(1000)
    ])
    assert stats.kstest(found, lambda z: law.cdf(z / 3.0) ** 50).pvalue > 1e-4
    assert stats.kstest(found, lambda z: law.cdf(z / 3.0) ** 60).pvalue < 1e-4  # control


@pytest.mark.parametrize("kind", CONTINUOUS)
def test_quantiles_are_near_ideal_ones(kind):
    """Against 60 digits, over all that an order meets: the spec's eta is 2^-40 scales, and this part far below it."""
    worst = 0.0
    with mpmath.workdps(60):
        for s in [*np.geomspace(1e-30, 60.0, 300), math.log(2), math.nextafter(math.log(2), 1), 0.7, 0.69]:
            tail = -mpmath.expm1(-mpmath.mpf(s))
            ideal = {
                "laplace": lambda s=s, tail=tail: -mpmath.log(2 * tail) if tail < 0.5 else mpmath.log(2) - s,
                "exponential": lambda tail=tail: -mpmath.log(tail),
                "gumbel": lambda s=s: -mpmath.log(mpmath.mpf(s)),
            }[kind]()
            worst = max(worst, abs(float(ideal - mpmath.mpf(noisy_order._quantile(CODES[kind], 1.0, float(s))))))
    assert worst < 2.0**-45


@pytest.mark.parametrize("items", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_sums_keep_their_precision(items):
    """Spec targeted_search acceptance 11: s after a million lazy terms is within a relative 2^-48 of the exact sum."""
    noise = RecordingNoise(Noise.simulated(4))
    order = NoisyOrder(np.zeros(items), 1.0, "gumbel", noise, stream="x")
    assert len(np.unique(order.take(items))) == items
    drawn = np.concatenate([draw.value for draw in noise.draws if draw.law == "exponential"])[:items].tolist()
    exact, naive = 0, 0.0
    for k, value in enumerate(drawn):
        numerator, denominator = value.as_integer_ratio()
        exact += (numerator << 160) // (denominator * (items - k))
        naive += value / (items - k)
    ideal = Fraction(exact, 1 << 160)
    kept = Fraction(order._next._sums[0, 0]) + Fraction(order._next._sums[1, 0])
    lost = abs(kept / ideal - 1)
    assert lost < Fraction(1, 2**50)  # and the exponentials' own 2^-50: within 2^-49 together
    assert lost < abs(Fraction(naive) / ideal - 1) / 4  # control: a plain running sum is worse


def test_equal_noisy_scores_stand_by_position_and_the_fake_last():
    """Discrete noise, replayed: 3 + 0, 1 + 2, 3 + 1, 4 - 1, and a fake of 2 + 1."""
    for fake_noise, expected in [(1, [2, 0, 1, 3, 4]), (2, [2, 4, 0, 1, 3])]:
        noise = Noise.replayed({("x", "noise"): [0, 2, 1, -1, fake_noise]})
        order = NoisyOrder([3, 1, 3, 4], 1.0, "discrete_laplace", noise, stream="x", fake=2)
        assert order.take_scored(5)[0].tolist() == expected


def test_ties_at_the_edge_of_a_chunk_stand_by_position(monkeypatch):
    monkeypatch.setattr(noisy_order, "_FIRST_BLOCK", 3)
    values = np.array([5, 7, 5, 5, 9, 5, 5, 7, 1, 5])
    noise = Noise.replayed({("x", "noise"): np.zeros(10, dtype=int)})
    order = NoisyOrder(values, 1.0, "discrete_laplace", noise, stream="x")
    assert [int(order.take(1)[0]) for _ in range(10)] == [4, 1, 7, 0, 2, 3, 5, 6, 9, 8]


def test_equal_continuous_scores_do_too():
    """Equal draws by replay: the plain order keeps positions; the lazy one puts the fake last among equals."""
    noise = Noise.replayed({("x", "noise"): [0.5, 0.5, 0.5, 0.5]})
    plain = NoisyOrder([1.0, 2.0, 1.0], 1.0, "gumbel", noise, stream="x", fake=1.0, plain=True)
    assert plain.take(4).tolist() == [1, 0, 2, 3]
    noise = Noise.replayed({("x", "levels", 0): np.full(1024, 0.5), ("x", "members", 0): np.zeros(1024, dtype=int)})
    assert NoisyOrder([1.0], 1.0, "gumbel", noise, stream="x", fake=1.0).take(2).tolist() == [0, 1]


def test_words_that_would_favour_some_members_are_passed_over():
    """2^64 = 3 q + 1: the word 2^64 - 1 is passed over, so that each of three members has q words, exactly."""
    def taken(words):
        padded = np.zeros(1024, dtype=np.uint64)
        padded[: len(words)] = words
        noise = Noise.replayed({("x", "levels", 0): np.ones(1024), ("x", "members", 0): padded})
        return NoisyOrder([0.0, 0.0, 0.0], 1.0, "laplace", noise, stream="x").take(3).tolist()

    most = 2**64 - 1
    assert taken([most, most, 1, 0]) == taken([1, 0]) == [1, 0, 2]
    assert taken([most - 1, 0])[0] == (most - 1) % 3 == 2
    assert taken([most - 1, 1])[1:] == [1, 0]


def test_the_order_is_the_same_for_every_caller_after_a_crash(tmp_path):
    path = tmp_path / "noise.journal"
    scores = np.arange(3000) % 7
    with JournalNoise(path, Noise.secure()) as journal:
        first = NoisyOrder(scores, 2.0, "gumbel", journal, stream=("call", 1), fake=3.0).take(400)
    with JournalNoise(path, Noise.secure(), existing=True) as journal:
        again = NoisyOrder(scores, 2.0, "gumbel", journal, stream=("call", 1), fake=3.0)
        assert np.array_equal(again.take(400), first)
        assert len(np.unique(np.append(first, again.take(10_000)))) == 3001  # and it goes on from there
        journal.destroy()


@pytest.mark.parametrize("kind", KINDS)
def test_scores_far_ahead_come_first(kind):
    scores = np.array([0.0, 4000.0, -4000.0, 8000.0, 2000.0])
    for plain in (False, True):
        assert everything(scores, 1.0, kind, 1, fake=6000.0, plain=plain).tolist() == [3, 5, 1, 4, 0, 2]


def test_scores_that_are_not_whole_and_levels_that_are_many():
    rough = study_generator(1, "rough").random(3000) * 1e6
    assert everything(rough, 1e-6, "laplace", 1).tolist() == np.argsort(-rough).tolist()
    wide = study_generator(1, "wide").integers(-(10**9), 10**9, 3000)
    assert everything(wide, 1e-3, "laplace", 1).tolist() == np.argsort(-wide, kind="stable").tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_and_a_fake_alone(kind):
    for plain in (False, True):
        assert everything([], 1.0, kind, 1, plain=plain).tolist() == []
        assert everything([], 1.0, kind, 1, fake=2.0, plain=plain).tolist() == [0]


@pytest.mark.parametrize(("field", "change"), [
    ("scores", {"scores": [[1.0]]}), ("scores", {"scores": [math.nan]}), ("scores", {"scores": ["many"]}),
    ("scores", {"scores": [0.5], "kind": "discrete_laplace"}),
    ("scores", {"fake": 0.5, "kind": "discrete_laplace"}),
    ("fake", {"fake": math.inf}), ("fake", {"fake": "x"}),
    ("scale", {"scale": 0.0}), ("scale", {"scale": math.inf}), ("noise_kind", {"kind": "normal"}),
    ("noise", {"noise": 7}), ("stream", {"stream": ""}),
])
def test_what_is_refused(field, change):
    arguments = {"scores": [1.0], "scale": 1.0, "kind": "laplace", "noise": Noise.simulated(1), "stream": "x", **change}
    with pytest.raises(InvalidInput) as caught:
        NoisyOrder(**arguments)
    assert caught.value.field == field


def test_counts_streams_and_silence():
    noise = Noise.simulated(1)
    order = NoisyOrder([1.0, 31415.0], 1.0, "laplace", noise, stream="x")
    for count in (-1, 1.5):
        with pytest.raises(InvalidInput) as caught:
            order.take(count)
        assert caught.value.field == "count"
    order.take(1)
    with pytest.raises(InvalidInput, match="already drawn"):
        NoisyOrder([1.0], 1.0, "laplace", noise, stream="x").take(1)
    assert "31415" not in repr(order)
    with pytest.raises(InvalidInput) as caught:
        NoisyOrder([31415.0, math.nan], 1.0, "laplace", noise, stream="y")
    assert "31415" not in str(caught.value)
