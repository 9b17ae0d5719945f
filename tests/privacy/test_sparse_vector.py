"""Sparse vector: the law of its halt, its privacy against the worst neighbours, broken variants, accuracy, the run."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import binom

from confide.audit import replayed_audit
from confide.contract import InvalidInput, NotGuaranteed, Refused, Relation, Unsupported
from confide.privacy import Accountant, ApproxEvent, Noise, PureDP, PureEvent, SparseVector
from confide.privacy.divergences import exact_epsilon, hockey_stick, max_divergence
from confide.privacy.halting_law import LaplaceLaw, WorstStream, log_halting_law

from false_alarms import alpha

RECORD = Relation.REPLACE
LAWS = ("discrete", "continuous")


def simple(law="discrete", **changes):
    return SparseVector(**({"threshold": 0, "epsilon": 1.0, "law": law} | changes))


# ---- the law of the halt


# spec query_release, acceptance 4, and A3 for the lattice
@pytest.mark.parametrize(
    ("law", "expected"),
    [("continuous", (0.08717, 0.11874, 0.43840, 0.05330, 0.30238)),
     ("discrete", (0.076341, 0.106201, 0.421278, 0.053550, 0.342630))],
)
def test_the_published_halting_law(law, expected):
    mechanism = SparseVector(threshold=8, epsilon=1.0, law=law)
    found = mechanism.halting_law([0, 2, 9, 4])
    assert found == pytest.approx(expected, abs=5e-6 if law == "continuous" else 5e-7)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)


# spec query_release, A3
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 7.0])
def test_three_ties(epsilon):
    law = simple("continuous", epsilon=epsilon).halting_law([0, 0, 0])
    assert law == pytest.approx([1 / 2, 5 / 24, 5 / 48, 3 / 16], abs=1e-12)


def test_three_ties_on_the_lattice():
    assert simple().halting_law([0, 0, 0]) == pytest.approx([0.457506, 0.207177, 0.111071, 0.224246], abs=5e-7)


# spec query_release, acceptance 4: 200k simulations within .004
@pytest.mark.parametrize("law", LAWS)
def test_simulations_follow_the_law(law):
    mechanism, answers, runs = SparseVector(threshold=8, epsilon=1.0, law=law), [0, 2, 9, 4], 200_000
    noise = Noise.simulated(5)
    draw = noise.discrete_laplace if law == "discrete" else noise.laplace
    halted = mechanism.halted(answers, draw(mechanism.threshold_scale, runs, stream="threshold"),
                              draw(mechanism.query_scale, (runs, 4), stream="answers"))
    shares = np.bincount(np.where(halted < 0, 4, halted), minlength=5) / runs
    expected = mechanism.halting_law(answers)
    assert np.abs(shares - expected).max() < 0.004
    # and with the tails that five counts have
    each = alpha("privacy.sparse_vector.law", cases=2) / 10
    for share, chance in zip(shares, expected, strict=True):
        low, high = binom.ppf(each, runs, chance), binom.isf(each, runs, chance)
        assert low <= round(share * runs) <= high


def test_the_integral_against_adaptive_quadrature():
    answers, s, t = [0.3, -2.0, 5.5], 2.0, 3.0

    def below(x):
        return 1 - math.exp(-x / t) / 2 if x > 0 else math.exp(x / t) / 2

    def density(z, i):
        value = math.exp(-abs(z) / s) / (2 * s)
        for j in range(i):
            value *= below(z - answers[j])
        return value * (1 - below(z - answers[i]))

    law = np.exp(log_halting_law(np.array(answers), LaplaceLaw(s, False), LaplaceLaw(t, False)))
    for i in range(3):
        cuts = [-80.0, -2.0, 0.0, 0.3, 5.5, 80.0]
        area = math.fsum(quad(density, a, b, args=(i,), epsabs=1e-14, epsrel=1e-13)[0]
                         for a, b in pairwise(cuts))
        assert law[i] == pytest.approx(area, abs=1e-12)


def test_the_sum_against_plain_enumeration():
    mechanism = simple(epsilon=3.0, clamp=(5, 7), queries=3)
    first, second = mechanism.laws

    def pmf(law, k):
        p = math.exp(-1 / law.scale)
        if abs(k) == law.clamp:
            return p ** law.clamp / (1 + p)
        return (1 - p) / (1 + p) * p ** abs(k)

    answers = [1, -2, 3]
    expected = np.zeros(4)
    for z in range(-5, 6):
        left = pmf(first, z)
        for i, answer in enumerate(answers):
            top = sum(pmf(second, w) for w in range(-7, 8) if answer + w > z)
            expected[i] += left * top
            left *= 1 - top
        expected[3] += left
    assert mechanism.halting_law(answers) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize(("scales", "clamps"), [
    ((150.0, 300.0), (math.inf, math.inf)), ((700.0, 90.0), (2000.0, math.inf)), ((400.0, 800.0), (math.inf, 1500.0)),
    ((1000.0, 300.0), (3000.0, 700.0)),
])
def test_long_sums_against_every_term(scales, clamps):
    """Where noise is wide, stretches between kinks are summed at 24 places: to all digits of every probability."""
    threshold, answer = (LaplaceLaw(scale, True, clamp) for scale, clamp in zip(scales, clamps, strict=True))
    gaps = np.array([-900.0, 0.0, 1.0, 2500.0, -40.0])
    kinks = [gaps, *([] if math.isinf(clamps[1]) else [gaps - clamps[1], gaps + clamps[1]])]
    reach = math.ceil(max(abs(np.concatenate(kinks))) + 42 * scales[0])
    z = np.arange(-min(reach, clamps[0]), min(reach, clamps[0]) + 1)
    mass = np.diff(np.exp(threshold.log_below(np.append(z[0] - 1, z))), prepend=0.0)[1:]
    below = [np.exp(answer.log_below(z - gap)) for gap in gaps]
    above = [np.exp(answer.log_above(z - gap)) for gap in gaps]
    expected = [mass @ (np.prod(below[:i], axis=0) * above[i]) for i in range(len(gaps))]
    found = np.exp(log_halting_law(gaps, threshold, answer))
    assert found[:-1] == pytest.approx(expected, rel=1e-10)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)


def test_wide_noise_takes_no_more_than_narrow():
    """At scale 4 10^5 the integers are as good as a line, and a law takes as few places of it."""
    mechanism = SparseVector(threshold=0, epsilon=1e-5)
    answers = np.arange(-50, 150) * 20_000
    line = log_halting_law(answers.astype(float), *(LaplaceLaw(scale, False) for scale in (2e5, 4e5)))
    tracemalloc.start()
    assert mechanism.halting_law(answers) == pytest.approx(np.exp(line), abs=1e-5)
    exact, tails = (mechanism.accuracy(100, 0.05, bound=bound).bound for bound in ("exact", "tails"))
    assert exact == pytest.approx(1e3 * SparseVector(threshold=0, epsilon=1e-2, law="continuous").accuracy(
        100, 0.05).bound, rel=1e-5)
    assert exact < tails
    assert tracemalloc.get_traced_memory()[1] < 2**26
    tracemalloc.stop()


def test_laws_that_are_too_large_are_refused_before_they_are_made():
    tracemalloc.start()
    with pytest.raises(InvalidInput, match=r"answers.*GiB"):
        SparseVector(threshold=0, epsilon=1.0).halting_law(np.array([0, 10**9, 5]))
    with pytest.raises(InvalidInput, match="answers"):
        SparseVector(threshold=0, epsilon=0.1, law="continuous").halting_law(np.array([0.0, 1e7, 5.0, -1e7]))
    with pytest.raises(InvalidInput, match=r"answers.*evaluations"):
        SparseVector(threshold=0, epsilon=1.0).halting_law(np.zeros(10**6, dtype=np.int64))
    apart = SparseVector(threshold=0, epsilon=0.01, threshold_share=1e-4)
    with pytest.raises(Unsupported, match="tails"):
        apart.accuracy(100, 0.05)
    assert apart.accuracy(100, 0.05, bound="tails").bound > 1e6
    assert tracemalloc.get_traced_memory()[1] < 2**26
    tracemalloc.stop()


@pytest.mark.parametrize("law", LAWS)
def test_clamped_noise_has_its_law(law):
    mechanism = simple(law, epsilon=3.0, clamp=(4, 9), queries=4)
    noise, runs = Noise.simulated(9), 100_000
    draw = noise.discrete_laplace if law == "discrete" else noise.laplace
    halted = mechanism.halted([-4, 1, 0, 3], draw(mechanism.threshold_scale, runs, stream="t"),
                              draw(mechanism.query_scale, (runs, 4), stream="a"))
    shares = np.bincount(np.where(halted < 0, 4, halted), minlength=5) / runs
    assert np.abs(shares - mechanism.halting_law([-4, 1, 0, 3])).max() < 0.01


# ---- privacy


def crafted(steps=60, far=40):
    """Neighbours that come as close to epsilon as they like: many high BOTs, then one very low TOP."""
    return [far] * steps + [-far], [far - 1] * steps + [1 - far], steps


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("share", [0.5, 0.2])
def test_the_worst_neighbours_lose_epsilon_and_no_more(law, share):
    mechanism = simple(law, threshold_share=share)
    first, second, at = crafted()
    loss = mechanism.replayed_loss(second, first, at)
    assert 0.999 < loss <= 1.0 + 1e-12
    assert mechanism.replayed_loss(first, second, at) == pytest.approx(-loss, abs=1e-12)


@pytest.mark.parametrize("law", LAWS)
def test_the_worst_monotone_neighbours(law):
    """They lose epsilon where answers rise, e2 alone where they fall; half of the noise is too little for others."""
    mechanism = simple(law, monotone=True, threshold_share=0.4)
    assert mechanism.query_scale == pytest.approx(1 / 0.6)
    low, high = [40] * 60 + [-40], [41] * 60 + [-40]
    assert 0.999 < mechanism.replayed_loss(low, high, 60) <= 1.0 + 1e-12
    assert 0.599 < mechanism.replayed_loss([40] * 60 + [-40], [40] * 60 + [-41], 60) <= 0.6 + 1e-12
    first, second, at = crafted()
    assert mechanism.replayed_loss(second, first, at) > 1.5  # not monotone: the promise is broken, and it shows


COUNTS = st.lists(st.integers(-25, 25), min_size=1, max_size=7)


@given(COUNTS, st.data(), st.sampled_from(LAWS), st.sampled_from([0.1, 1.0, 4.0]), st.sampled_from([0.5, 0.15, 0.8]))
def test_no_neighbours_lose_more(counts, data, law, epsilon, share):
    # spec query_release, acceptance 4: neighbour log ratios <= epsilon, both laws; both directions
    sensitivity = data.draw(st.integers(1, 3))
    moves = data.draw(st.lists(st.integers(-sensitivity, sensitivity), min_size=len(counts), max_size=len(counts)))
    monotone = data.draw(st.booleans())
    other = [c + (abs(m) if monotone else m) for c, m in zip(counts, moves, strict=True)]
    mechanism = simple(law, epsilon=epsilon, sensitivity=sensitivity, threshold_share=share, monotone=monotone)
    p, q = mechanism.halting_law(counts), mechanism.halting_law(other)
    assert max(max_divergence(p / p.sum(), q / q.sum()), max_divergence(q / q.sum(), p / p.sum())) <= epsilon + 1e-9
    for halted in (*range(len(counts)), None):
        assert abs(mechanism.replayed_loss(counts, other, halted)) <= epsilon + 1e-10
    if monotone:  # falling answers cost their own part alone
        e2 = epsilon * (1 - share)
        assert max_divergence(q / q.sum(), p / p.sum()) <= e2 + 1e-9


def test_losses_go_through_the_replayed_audit():
    mechanism = simple()
    first, second, _ = crafted(steps=12, far=30)
    losses = [mechanism.replayed_loss(first, second, halted) for halted in (*range(13), None)]
    assert not replayed_audit(losses, PureDP(1.0)).flagged
    assert replayed_audit(losses, PureDP(0.9)).flagged


# Broken variants, enumerated on the lattice with the noise that the right one has at epsilon = 1: scales 2 and 4.


def _masses(scale, reach):
    k = np.arange(-reach, reach + 1)
    p = math.exp(-1 / scale)
    law = (1 - p) / (1 + p) * p ** np.abs(k)
    law[[0, -1]] = p**reach / (1 + p)  # each tail in one cell
    return k, law


def _top(answer, level, scale):
    return np.exp(LaplaceLaw(scale, True).log_above(np.asarray(level - answer, dtype=float)))


def _patterns(answers, scale=4.0, reach=80):
    """The law of TOP and BOT to every answer along one noisy threshold: it goes on after TOP for free."""
    z, mass = _masses(2.0, reach)
    chances = [_top(answer, z, scale) for answer in answers]
    return np.array([
        mass @ np.prod([c if said else 1 - c for c, said in zip(chances, pattern, strict=True)], axis=0)
        for pattern in product((False, True), repeat=len(answers))
    ])


def _halting(answers, threshold_scale, query_scale):
    return np.exp(log_halting_law(np.asarray(answers, dtype=float), LaplaceLaw(threshold_scale, True),
                                  LaplaceLaw(query_scale, True)))


def _with_answer(answers, reach=60):
    """The law of (where it halts, the noisy answer there): the right noise, and the answer is shown too."""
    z, mass = _masses(2.0, reach)
    w, noise = _masses(4.0, 4 * reach)
    left, cells = mass.copy(), []
    for answer in answers:
        noisy = np.clip(answer + w, -reach, reach)
        seen = np.array([noise[noisy == y].sum() for y in range(-reach, reach + 1)])
        above = np.arange(-reach, reach + 1)[:, None] > z[None, :]
        cells.append((above * left).sum(axis=1) * seen)
        left = left * (1 - _top(answer, z, 4.0))
    return np.append(np.concatenate(cells), left.sum())


def test_broken_variants_are_flagged():
    first, second, _ = crafted(steps=6, far=8)
    many = ([20] * 60 + [-20], [19] * 60 + [-19])

    def loss(law, pair):
        p, q = law(pair[0]), law(pair[1])
        return exact_epsilon(p / p.sum(), q / q.sum())

    right = loss(lambda a: _halting(a, 2.0, 4.0), many)
    assert right <= 1.0 + 1e-9
    assert loss(lambda a: _halting(a, 1e-3, 4.0), many) > 15.0  # no threshold noise
    assert loss(lambda a: _halting(a, 2.0, 2.0), many) > 1.49  # query noise 2 Delta/epsilon
    assert loss(lambda a: _halting(a, 1.0, 4.0), many) > 1.49  # threshold noise Delta/epsilon
    assert loss(_with_answer, (first, second)) > 1.7  # the noisy answer is shown
    on = loss(_patterns, ([9, 9, 9, 9, -9, -9, -9], [8, 8, 8, 8, -8, -8, -8]))
    assert on > 1.7  # it goes on after TOP, and claims one epsilon


def test_a_kept_threshold_that_is_paid_is_not_broken():
    """One threshold noise for two TOPs, each TOP paid with e2: the loss is within e1 + 2 e2, below two armings."""
    worst = 0.0
    for pair in (([16] * 7 + [-9, -9], [15] * 7 + [-8, -8]), ([5, 5, -5, -5], [4, 4, -4, -4]), ([0, 0, 0], [1, -1, 1])):
        laws = []
        for answers in pair:
            merged = {}
            for pattern, chance in zip(product((False, True), repeat=len(answers)), _patterns(answers), strict=True):
                tops = [i for i, said in enumerate(pattern) if said][:2]
                merged[tuple(tops)] = merged.get(tuple(tops), 0.0) + chance
            laws.append(merged)
        keys = sorted(laws[0])
        p, q = (np.array([law[key] for key in keys]) for law in laws)
        worst = max(worst, exact_epsilon(p / p.sum(), q / q.sum()))
    assert 1.3 < worst <= 1.5 + 1e-9


# ---- clamps


def test_what_a_clamp_costs():
    mechanism = simple(queries=10).clamped(1e-3)
    assert 0.2e-3 < mechanism.clamp_delta <= 1e-3
    assert simple("continuous", queries=10).clamped(1e-3).clamp_delta == pytest.approx(1e-3, rel=1e-6)
    p = math.exp(-1 / 2.0), math.exp(-1 / 4.0)
    tails = [2 * ratio ** (bound + 1) / (1 + ratio) for ratio, bound in zip(p, mechanism.clamp, strict=True)]
    assert mechanism.clamp_delta == pytest.approx((1 + math.e) * (tails[0] + 10 * tails[1]), rel=1e-9)
    (event,) = mechanism.events(RECORD)
    assert event == ApproxEvent(epsilon=1.0, delta=mechanism.clamp_delta, neighbours=RECORD, label=event.label)


@pytest.mark.parametrize("law", LAWS)
def test_clamped_noise_keeps_its_delta(law):
    mechanism = simple(law, clamp=(9, 24), queries=9)
    worst = 0.0
    for pair in (crafted(8, 5)[:2], ([12] * 8 + [-9], [11] * 8 + [-8]), ([0] * 9, [1, -1, 1, 0, -1, 1, -1, 1, 1])):
        p, q = (mechanism.halting_law(answers) for answers in pair)
        worst = max(worst, hockey_stick(p, q, 1.0), hockey_stick(q, p, 1.0))
    assert 0 < worst <= mechanism.clamp_delta


def test_clamped_errors_are_impossible():
    mechanism = SparseVector(threshold=100, epsilon=8.0, clamp=(7, 9), queries=50)
    for seed in range(30):
        answers = [100 - 16] * 20 + [100 + 17] * 2
        assert mechanism.run(answers, Noise.simulated(seed)) == 20
    wild = Noise.replayed({("sparse_vector", 0, "threshold"): [-10**6], ("sparse_vector", 0, "answer", 0): [10**6]})
    assert mechanism.run([84], wild) is None  # 84 + 9 is not above 100 - 7


# ---- accuracy


# spec query_release, A3: Lemma 2.3.4
def test_the_printed_accuracy_and_the_tighter_ones():
    mechanism = SparseVector(threshold=0, epsilon=0.5, sensitivity=2)
    lemma = mechanism.accuracy(1000, 0.05, bound="lemma")
    assert lemma.bound == pytest.approx(8 * 2 * (math.log(1000) + math.log(40)) / 0.5, rel=1e-9)
    assert lemma.source.statement == "Lemma 2.3.4"
    tails = mechanism.accuracy(1000, 0.05, bound="tails").bound
    exact = mechanism.accuracy(1000, 0.05).bound
    assert exact < tails < lemma.bound
    assert exact == int(exact)
    assert mechanism.accuracy(1000, 0.05, baseline=exact).vacuous
    assert not mechanism.accuracy(1000, 0.05, baseline=exact + 1).vacuous
    with pytest.raises(NotGuaranteed, match="halves"):
        simple(threshold_share=0.3).accuracy(10, 0.1, bound="lemma")


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("k", [1, 2, 40])
def test_the_exact_accuracy_is_the_least(law, k):
    mechanism = simple(law)
    margin, beta = mechanism.accuracy(k, 0.1).bound, 0.1
    first, second = mechanism.laws
    above = 1 if law == "discrete" else 0.0

    def wrong(a):
        mixed = mechanism.halting_law(np.array([-a] * (k - 1) + [a + above]))
        low = mechanism.halting_law(np.array([-a] * k))
        return max(1 - mixed[k - 1], 1 - low[k])

    exact = int(margin) if law == "discrete" else margin
    less = exact - 1 if law == "discrete" else margin * (1 - 1e-6)
    assert wrong(exact) <= beta + 1e-9
    assert wrong(less) > beta
    assert WorstStream(k, first, second).failure(exact) == pytest.approx(wrong(exact), abs=1e-12)


def test_streams_between_the_margins_fail_less():
    mechanism = simple("continuous")
    worst = WorstStream(4, *mechanism.laws).failure(6.0)
    for answers in ([-6, -6, 0, 6], [-7, -6, 6, 9], [-6, 5, -6, 6], [-9, -6, -6, 6]):
        law = mechanism.halting_law(np.array(answers, dtype=float))
        high = next(i for i, a in enumerate(answers) if a >= 6)
        right = law[: high + 1][[a > -6 for a in answers[: high + 1]]].sum()
        assert 1 - right <= worst + 1e-12


# ---- the run


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("source", ["simulated", "secure"])
def test_both_entry_functions_give_the_same(law, source):
    mechanism = simple(law, threshold=5)
    answers = [0, 3, 4, 9, 2, 30, 1]
    if source == "secure":
        noise = Noise.secure()
        far = [-(10**6)] * 3 + [10**6] + [0]  # noise of scale 4 does not reach that far in the age of the world
        assert mechanism.run(far, noise, "alarm") == 3
        assert mechanism.run(far[:3], noise, "quiet") is None
        return
    seen = set()
    for seed in range(40):
        armed = mechanism.arm(Noise.simulated(seed), "alarm")
        asked = next((i for i, answer in enumerate(answers) if armed.ask(answer)), None)
        assert asked == mechanism.run(answers, Noise.simulated(seed), "alarm")
        seen.add(asked)
    assert len(seen) >= 4


@pytest.mark.parametrize("law", LAWS)
def test_the_run_with_given_noise(law):
    mechanism = simple(law, threshold=5)
    runs = Noise.simulated(2).discrete_laplace(3.0, (60, 5), stream="x")
    answers = [4, 0, 6, 5]
    halted = mechanism.halted(answers, runs[:, 0], runs[:, 1:])
    for row, expected in zip(runs.tolist(), halted.tolist(), strict=True):
        noise = Noise.replayed({("a", 0, "threshold"): row[:1]}
                               | {("a", 0, "answer", t): [row[t + 1]] for t in range(4)})
        found = mechanism.run(answers, noise, "a")
        assert (-1 if found is None else found) == expected


def test_strictly_above():
    zero = {("s", 0, "threshold"): [0], ("s", 0, "answer", 0): [0], ("s", 0, "answer", 1): [0]}
    assert simple(threshold=5).run([5, 6], Noise.replayed(zero), "s") == 1


def test_halting_arming_and_what_they_cost():
    mechanism = simple(armings=2, queries=3)
    noise = Noise.replayed({("s", n, "threshold"): [0] for n in (0, 1)} | {("s", n, "answer", 0): [9] for n in (0, 1)}
                           | {("s", n, "answer", 1): [-9] for n in (0, 1)})
    armed = mechanism.arm(noise, "s")
    assert armed.ask(0)
    assert repr(armed) == "<sparse vector, halted, 1 answers seen>"
    with pytest.raises(Refused, match="halted"):
        armed.ask(0)
    with pytest.raises(InvalidInput, match="already drawn"):
        mechanism.arm(noise, "s")
    again = mechanism.arm(noise, "s", arming=1)
    assert again.ask(-5)
    with pytest.raises(Refused, match="is 2: declare more armings"):
        mechanism.arm(noise, "s", arming=2)
    quiet = simple(queries=2).arm(Noise.replayed({("s", 0, "threshold"): [50], ("s", 0, "answer", 0): [0],
                                                  ("s", 0, "answer", 1): [0]}), "s")
    assert [quiet.ask(0), quiet.ask(0)] == [False, False]
    with pytest.raises(Refused, match="the declared number of answers for one arming is 2"):
        quiet.ask(0)
    assert Accountant(mechanism.events(RECORD)).epsilon() == 2.0
    assert simple().events(RECORD) == (PureEvent(epsilon=1.0, neighbours=RECORD, label="sparse vector"),)


def test_scales_are_rounded_up():
    for epsilon in (0.1, 0.3, 1 / 3, 0.7):
        mechanism = simple(epsilon=epsilon, threshold_share=0.3)
        exact = Fraction(repr(epsilon))
        assert 0 <= Fraction(mechanism.threshold_scale) - 1 / (exact * Fraction("0.3")) < 1e-14
        assert 0 <= Fraction(mechanism.query_scale) - 2 / (exact * Fraction("0.7")) < 1e-14
    assert simple().threshold_scale == 2.0  # spec query_release, erratum 14
    assert simple().query_scale == 4.0


def test_the_grid_holds_the_sensitivity():
    """Continuous noise: the sensitivity is rounded up to the grid, so that the threshold's shift stays on it."""
    mechanism = simple("continuous", sensitivity=1 / 30162, grid=20)
    assert (mechanism.threshold_scale / 2 * 2**20) % 1 == 0
    assert mechanism.threshold_scale / 2 >= 1 / 30162
    runs = {("s", 0, "threshold"): [0.0], ("s", 0, "answer", 0): [2.0**-22], ("s", 0, "answer", 1): [2.0**-20]}
    coarse = simple("continuous", grid=20)
    assert coarse.run([0.0, 0.0], Noise.replayed(runs), "s") == 1  # less than half a grid step is a tie


def test_answers_beyond_the_range_are_cut_alike():
    for law, far in (("discrete", 10**40), ("continuous", 1e300)):
        assert simple(law).run([-far, far], Noise.simulated(0)) == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"epsilon": 0.0}, "epsilon"), ({"epsilon": math.inf}, "epsilon"), ({"epsilon": 1e-18}, "epsilon"),
        ({"sensitivity": 0}, "sensitivity"), ({"sensitivity": 0.5}, "sensitivity"),
        ({"threshold": 0.5}, "threshold"), ({"threshold": 2**63}, "threshold"), ({"threshold": math.nan}, "threshold"),
        ({"threshold_share": 0.0}, "threshold_share"), ({"threshold_share": 1.0}, "threshold_share"),
        ({"armings": 0}, "armings"), ({"queries": 0}, "queries"), ({"law": "gaussian"}, "law"),
        ({"clamp": (5, 5)}, "queries"), ({"clamp": (5, 5), "queries": 9}, "clamp"), ({"clamp": 5}, "clamp"),
        ({"clamp": (2.5, 90), "queries": 9}, "clamp"),
        ({"law": "continuous", "threshold": math.inf}, "threshold"), ({"law": "continuous", "grid": 41}, "grid"),
        ({"law": "continuous", "threshold": 2.0**30}, "threshold"),
        ({"law": "continuous", "sensitivity": math.nan}, "sensitivity"),
    ],
)
def test_bad_parameters_are_refused(changes, field):
    with pytest.raises(InvalidInput) as caught:
        simple(**changes)
    assert caught.value.field == field


@pytest.mark.parametrize(("law", "answer"), [("discrete", 0.5), ("discrete", True), ("discrete", "7"),
                                             ("continuous", math.nan), ("continuous", math.inf)])
def test_bad_answers_are_refused_without_saying_which(law, answer):
    with pytest.raises(InvalidInput) as caught:
        simple(law).arm(Noise.simulated(0)).ask(answer)
    assert repr(answer) not in str(caught.value)


def test_bad_replays_are_refused():
    mechanism = simple()
    for call, field in (
        (lambda: mechanism.replayed_loss([0, 1], [0], 0), "second_answers"),
        (lambda: mechanism.replayed_loss([0, 1], [0, 1], 2), "halted"),
        (lambda: mechanism.halting_law([0.5]), "answers"),
        (lambda: mechanism.halting_law([]), "answers"),
        (lambda: mechanism.halting_law([0, 10**12]), "answers"),
        (lambda: mechanism.accuracy(0, 0.1), "queries"),
        (lambda: mechanism.accuracy(1, 1.0), "failure_probability"),
        (lambda: mechanism.clamped(0.1), "queries"),
    ):
        with pytest.raises(InvalidInput) as caught:
            call()
        assert caught.value.field == field


def test_answers_of_any_size_are_no_error():
    mechanism = SparseVector(threshold=0, epsilon=1.0, law="continuous")
    for huge in (10**400, Fraction(10**400, 3), 1e308):
        assert mechanism.arm(Noise.simulated(1), "x").ask(huge)
        assert not mechanism.arm(Noise.simulated(1), "x").ask(-huge)


def test_scales_leave_room_for_doubles_and_clamps_for_their_delta():
    with pytest.raises(InvalidInput, match="scale of its noise"):
        SparseVector(threshold=0, epsilon=1e-6, law="continuous")
    SparseVector(threshold=0, epsilon=1e-6, law="continuous", grid=10)
    with pytest.raises(InvalidInput, match="delta of 1 or more"):
        SparseVector(threshold=0, epsilon=750.0, queries=1, clamp=(3, 3))
    with pytest.raises(InvalidInput, match="too large"):
        SparseVector(threshold=0, epsilon=800.0, queries=1).clamped(1e-9)


@pytest.mark.parametrize("huge", [np.uint64(2**63), np.int64(2**63 - 1)])
def test_the_law_cuts_huge_answers_as_the_run_does(huge):
    mechanism = SparseVector(threshold=2**62, epsilon=1.0)
    np.testing.assert_array_equal(mechanism.halting_law(np.array([huge])), mechanism.halting_law([2**62]))
