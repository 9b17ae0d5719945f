"""Claims of chapter 4 of Wu 2017 about lower bounds on the error of private mechanisms.

Each public function recomputes the evidence for a claim. The argument `line` of a claim is a line number in the
plain-text copy of the source that was checked.

Q is the lower bound of `reconstruction_floor` on the share of wrong bits. A gadget is a small group of bidders, and
their wishes encode one secret bit. A spy is a bidder of a gadget who tries to guess the bit from the good that they
get.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np

from confide.allocation.baselines import exact_auction
from confide.allocation.instances import PriceGadgets, SpyGadgets
from confide.allocation.optimum.solver import exact_optimum
from confide.allocation.pmatch import PMatch
from confide.evidence.claim import Recomputed, claims_of
from confide.evidence.wu_2017.private_matchings.lower_bounds import (
    SpyProgram,
    allocation_floor,
    printed_supply_floor,
    reconstruction_floor,
    supply_floor,
)
from confide.privacy.noise import Noise
from confide.privacy.response import response_table

__all__: list[str] = []

claim = claims_of("Wu 2017", family="allocation")


@claim(
    id="allocation/theorem-4.5.1", statement="Theorem 4.5.1", line=2851,
    verdict="holds", pinned=(0.268941421, 0.268941421),
    claim="A private map of bits to bits misses at least Q(epsilon, delta, beta) = 1 - (e^epsilon + delta)/((1 + "
          "e^epsilon)(1 - beta)) of them.",
    correction="Attained by randomised response: .2689 at epsilon = 1.",
)
def reconstruction() -> Recomputed:
    """The lower bound Q on the share of wrong bits at epsilon = 1, compared with the share of bits that randomised
    response gets wrong. The two are equal.
    """
    reported = response_table(1.0, 2)
    found = reported.other / reported.total
    floor = reconstruction_floor(1.0).least
    return Recomputed("holds" if abs(found - floor) < 1e-12 else "false", floor, found)


@claim(
    id="allocation/theorem-4.5.1-proof", statement="Theorem 4.5.1, proof", line=2858,
    verdict="holds-with-correction", pinned=(0.5, 1.0),
    claim="For a fixed database D and a uniform place, P[M(D')_i = D_i] is at most 1 - (1 - a)(1 - beta).",
    correction="D must be uniform, so that D' is (erratum 10): for a map of two bits that is off by one at most, it "
               "is 1 at D = (0, 0), not 1/2.",
)
def a_fixed_database() -> Recomputed:
    """The probability P[M(D')_i = D_i] for a uniform position i, compared with the bound 1 - (1 - a)(1 - beta) = 1/2 in
    the proof, for the database D = (0, 0) of two bits. D' is D with bit i flipped. The share of wrong bits is at most
    a, except with probability beta.

    The map M sends (0, 0), (1, 0) and (0, 1) to (0, 0), and (1, 1) to (0, 1), so at most one of two bits is wrong. For
    a uniform database D the probability is at most 1/2, for this map and every other map with at most one wrong bit.
    """
    bits: list[tuple[int, ...]] = list(itertools.product((0, 1), repeat=2))
    guess: dict[tuple[int, ...], tuple[int, ...]] = {(0, 0): (0, 0), (1, 0): (0, 0), (0, 1): (0, 0), (1, 1): (0, 1)}
    near = max(sum(a != b for a, b in zip(d, guess[d], strict=True)) for d in bits) == 1

    def agrees(d: tuple[int, ...]) -> float:
        flipped = [tuple(bit ^ (j == i) for j, bit in enumerate(d)) for i in range(2)]
        return sum(guess[other][i] == d[i] for i, other in enumerate(flipped)) / 2.0

    mean = sum(map(agrees, bits)) / 4.0
    found = agrees((0, 0))
    return Recomputed("holds-with-correction" if near and found > 0.5 >= mean else "holds", 0.5, found)


@claim(
    id="allocation/half-of-the-bits", statement="After Theorem 4.5.1", line=2879,
    verdict="holds", pinned=(0.5, 0.498748999),
    claim="For small epsilon, delta and beta, Q is about 1/2.",
    correction=".4987 at .001 each.",
)
def small_parameters() -> Recomputed:
    """The lower bound Q on the share of wrong bits at epsilon = .001, delta = .001 and failure probability .001,
    compared with 1/2.
    """
    found = reconstruction_floor(0.001, 0.001, 0.001).least
    return Recomputed("holds" if abs(found - 0.5) < 0.002 else "false", 0.5, found)


@claim(
    id="allocation/theorem-4.5.2", statement="Theorem 4.5.2", line=2911,
    verdict="holds-with-correction", pinned=(1.0, 0.5),
    claim="Private prices of an (alpha, beta, rho)-equilibrium with alpha < 1/2 and some beta have rho >= Q(2 "
          "epsilon, delta (1 + e^epsilon), gamma)/2.",
    correction="With beta < 1: all prices 1 are an equilibrium with beta = 1, and tell no bit, where exact prices "
               "tell all. Its last argument is gamma, not rho (erratum 10).",
)
def prices_of_single_copies() -> Recomputed:
    """Share of 40 bits that exact equilibrium prices reveal, compared with the share that constant prices of 1 reveal.

    At constant prices of 1, every bidder is satisfied without a good. Constant prices of 1 are an (alpha, beta,
    rho)-approximate equilibrium of the source with beta = 1. Constant prices reveal nothing, so half of the bits are
    guessed by chance.
    """
    market = PriceGadgets.drawn(40, seed=3)
    run = exact_auction(market.values, 1, 0.125)
    exact = market.recovered(run.prices)
    constant = market.recovered(np.ones(market.goods))
    content = float(market.values.toarray().max()) - 1.0 <= 0.0
    wrong = exact == 1.0 and constant == 0.5 and content
    return Recomputed("holds-with-correction" if wrong else "holds", exact, constant)


@claim(
    id="allocation/single-copies", statement="Section 4.1.1, end", line=1663,
    verdict="holds", pinned=(0.0, 0.112541501),
    claim="Where the supply is s = O(1), not even equilibrium prices can be computed under standard differential "
          "privacy.",
    correction="Theorem 4.5.2 says so of s = 1. Gadgets of s + 1 bidders say it of any s: at least Q((s + 1) "
               "epsilon)/(s + 1) of all bidders are unsatisfied, .113 at s = 3, epsilon = .05.",
)
def prices_of_few_copies() -> Recomputed:
    """Lower bound on the share of bidders that private prices leave unsatisfied at s = 3 copies and epsilon = .05,
    where a gadget has s + 1 bidders.

    One bit is encoded in the rows of s + 1 bidders. If a share rho of n bidders is unsatisfied, at most rho n of the
    n/(s + 1) bits are wrong. The bound is therefore Q((s + 1) epsilon)/(s + 1). Without noise the prices of gadgets
    with s + 1 bidders reveal every bit.
    """
    supply, bits = 3, PriceGadgets.drawn(30, seed=4).bits
    values = np.zeros((30 * (supply + 1), 60))
    values[np.arange(len(values)), np.repeat(2 * np.arange(30) + bits, supply + 1)] = 1.0
    prices = exact_auction(values, supply, 0.125).prices.reshape(-1, 2) > 0.5
    found = reconstruction_floor((supply + 1) * 0.05).least / (supply + 1)
    reported = bool((prices[:, 1] == bits).all() and (prices[:, 0] != bits).all())
    return Recomputed("holds" if reported and found > 0.0 else "false", 0.0, found)


@claim(
    id="allocation/theorem-4.5.3", statement="Theorem 4.5.3", line=2969,
    verdict="holds", pinned=(0.268941421, 0.268941421),
    claim="An allocation that is private as a whole loses Q(epsilon, delta, gamma) n of welfare, however large the "
          "supply is.",
    correction="Attained where everybody gets the good that randomised response names: .2689 at epsilon = 1.",
)
def allocations_in_public() -> Recomputed:
    """The lower bound Q at epsilon = 1, compared with the least welfare loss per bidder of an allocation of two goods
    that is published as a whole under differential privacy.

    The best allocation that is published as a whole under differential privacy gives every bidder the good that
    randomised response names.
    """
    floor, reported = allocation_floor(1.0).least, response_table(1.0, 2)
    found = 1.0 - reported.same / reported.total
    return Recomputed("holds" if abs(found - floor) < 1e-12 and floor > 0 else "false", floor, found)


@claim(
    id="allocation/separation", statement="After Theorem 4.5.3", line=2990, verdict="holds", pinned=(0.0, 0.0),
    claim="Jointly private matchings reach OPT - alpha n for any alpha with enough supply, publicly private ones do "
          "not.",
    correction="With s = n nothing is lost, and others learn nothing.",
)
def joint_beside_public() -> Recomputed:
    """Welfare per bidder that a jointly private auction loses where every good has a copy for everybody. This auction
    reveals nothing to others (epsilon = 0). An allocation that is published as a whole under differential privacy loses
    at least .269 at epsilon = 1.
    """
    bits = PriceGadgets.drawn(64, seed=5).bits
    values = np.stack([1.0 - bits, bits.astype(np.float64)], axis=1)
    auction = PMatch(people=64, goods=2, supply=64, epsilon=1.0, increment=0.5, bid_cap=1, rounds=1, batch=1, arity=2)
    outcome: Any = auction.run(values, Noise.simulated(1))
    found = 1.0 - outcome.diagnostics["welfare"] / 64
    return Recomputed("holds" if found == 0.0 < allocation_floor(1.0).least and not auction.events() else "false", 0.0,
                   found)


@claim(
    id="allocation/theorem-4.5.4-welfare", statement="Theorem 4.5.4, proof", line=3045,
    verdict="holds", pinned=(0.0, 0.0),
    claim="The optimum of a gadget is 1 + (s - 1) eta where spies and real bidder agree, and 1 + s eta where they do "
          "not.",
    correction="By the exact optimum of 60 gadgets, s from 1 to 7.",
)
def gadget_welfare() -> Recomputed:
    """Largest relative difference between the optimum of 60 gadgets and the formula w(1 + (s - 1) eta) + (k - w)(1 + s
    eta), for supplies s of 1, 2, 4 and 7. Here eta is the value of a spy's good. In w of the k gadgets, the spies want
    the same good as the real bidder.
    """
    worst = 0.0
    for supply in (1, 2, 4, 7):
        market = SpyGadgets.drawn(60, supply, seed=supply)
        agree, eta = int((market.bits == market.tastes).sum()), 1.0 / (4 * supply)
        said = agree * (1.0 + (supply - 1) * eta) + (60 - agree) * (1.0 + supply * eta)
        worst = max(worst, abs(exact_optimum(market.values, supply).welfare / said - 1.0))
    return Recomputed("holds" if worst < 1e-9 else "false", 0.0, worst)


@claim(
    id="allocation/theorem-4.5.4-program", statement="Theorem 4.5.4, linear program", line=3118,
    verdict="holds", pinned=(0.62109375, 0.62109375),
    claim="Its optimum is 159/256 for every s.",
    correction="In fractions, certified by the printed primal and dual solutions, s = 1, 2, 5, 50.",
)
def spy_program() -> Recomputed:
    """Optimum of the source's linear program, in exact fractions and certified by the printed primal and dual
    solutions, for supplies of 1, 2, 5 and 50.
    """
    found = set()
    for supply in (1, 2, 5, 50):
        program = SpyProgram(supply=supply)
        found |= {program.certified(*program.printed), program.solved()}
    return Recomputed("holds" if found == {Fraction(159, 256)} else "false", 159 / 256, float(max(found)))


@claim(
    id="allocation/theorem-4.5.4-bits", statement="Theorem 4.5.4, RB", line=3055,
    verdict="holds-with-correction", pinned=(0.421736092, 0.3828125),
    claim="RB = ||D^ - D||_1 is the error of the guess, and 79/128 of it contradicts Theorem 4.5.1.",
    correction="RB counts right bits (erratum 10): the error is at most 49/128 = .383, below Q(.1, .1, .01) = .422.",
)
def right_bits() -> Recomputed:
    """The lower bound Q on errors for epsilon = delta = .1 and failure probability .01, compared with 1 - 79/128. The
    source's quantity RB counts right bits, so 1 - 79/128 is the share of wrong bits that private mechanisms would have.

    The error 1 - 79/128 is below the lower bound Q, so the contradiction in the proof holds. An error of 79/128 would
    be no contradiction.
    """
    floor, right = reconstruction_floor(0.1, 0.1, 0.01).least, 79 / 128
    wrong = 1.0 - right < floor < right
    return Recomputed("holds-with-correction" if wrong else "false", floor, 1.0 - right)


@claim(
    id="allocation/theorem-4.5.4-spies", statement="Theorem 4.5.4, reconstruction", line=3048,
    verdict="holds", pinned=(0.6171875, 0.725),
    claim="Any matching with nearly optimal welfare lets spies guess 79/128 of the bits.",
    correction="From the exact optimum of 200 gadgets, s = 4, they guess .725.",
)
def spies_guess() -> Recomputed:
    """Share of bits that spies guess from the exact optimum of 200 gadgets with supply 4, compared with 79/128."""
    market = SpyGadgets.drawn(200, 4, seed=1)
    found = market.recovered(exact_optimum(market.values, 4).allocation)
    return Recomputed("holds" if found >= 79 / 128 else "false", 79 / 128, found)


@claim(
    id="allocation/theorem-4.5.4", statement="Theorems 4.5.4 and 4.1.2", line=3002,
    verdict="holds", pinned=(8.0, 167.0),
    claim="A jointly private matching within alpha n of OPT needs s in the order of sqrt(1/alpha).",
    correction="More is true: s in the order of 1/alpha, with spies that value their good at 1/2. At alpha = .001, "
               "epsilon = delta = .1 it needs 167 copies, where the source asks for 8.",
)
def supply_that_privacy_needs() -> Recomputed:
    """Least number of copies of each good at which the lower bounds do not exclude a welfare loss of .001 per bidder,
    for epsilon = delta = .1 and failure probability .01. The printed bound 1/(16 s(s + 1)) is compared with the sharper
    bound, which falls as 1/(s + 1).
    """
    printed = next(s for s in range(1, 1000) if printed_supply_floor(s).least <= 0.001)
    ours = next(s for s in range(1, 10_000) if supply_floor(s, 0.1, 0.1, 0.01).least <= 0.001)
    sharper = all(supply_floor(s, 0.1, 0.1, 0.01).least >= printed_supply_floor(s).least for s in range(1, 200))
    return Recomputed("holds" if sharper and ours >= printed else "false", float(printed), float(ours))


@claim(
    id="allocation/theorem-4.5.4-constant", statement="Theorem 4.5.4, final constant", line=3172,
    verdict="holds", pinned=(0.003125, 0.003125),
    claim="alpha >= k/(16 n s) = 1/(16 s (s + 1)).",
    correction="With n = k (s + 1) (erratum 10).",
)
def final_constant() -> Recomputed:
    """The printed share k/(16 n s) for k gadgets with supply s = 4 and n = 500 bidders, compared with 1/(16 s (s + 1)).
    The two numbers are equal because a gadget has s + 1 bidders.
    """
    s, k = 4, 100
    n = SpyGadgets.drawn(k, s, seed=1).values.shape[0]
    found = k / (16 * n * s)
    return Recomputed("holds" if abs(found - printed_supply_floor(s).least) < 1e-15 else "false",
                   printed_supply_floor(s).least, found)
