"""Claims of chapter 4 of Wu 2017 about auctions of bundles.

Each public function recomputes the evidence for a claim. The argument `line` of a claim is a line number in the
plain-text copy of the source that was checked.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.audited_reach import bundle_reach, staggered_bundles
from confide.allocation.bundles import (
    Additive,
    CappedAdditiveValuation,
    SymmetricConcave,
    UnitDemandValuation,
    falsify_gross_substitutes,
)
from confide.allocation.bundles.auction import start_bundles
from confide.allocation.optimum.solver import exact_optimum
from confide.allocation.palloc import PAlloc
from confide.evidence.claim import Recomputed, claims_of
from confide.evidence.wu_2017.private_matchings.settings import BundleSetting, blocks_of_slots
from confide.evidence.wu_2017.private_matchings.smallest import bundle_threshold, matching_threshold, smallest_people
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator

__all__: list[str] = []

claim = claims_of("Wu 2017", family="allocation")

Floats = NDArray[np.float64]

_NOISELESS = 1e12  # epsilon
_GRID = 64


def _capped(people: int, goods: int, cap: int, seed: int) -> Floats:
    """Valuations on a grid in which no bundle of `cap` goods is worth more than 1."""
    values = np.linspace(0.0, 0.4, goods) + 0.6 * study_generator(seed, "rows").random((people, goods))
    found: Floats = np.floor(values / cap * _GRID) / _GRID
    return found


def _quiet(**changed: Any) -> PAlloc:
    """An auction of bundles without noise, with one bidder in each batch. The auction runs until nobody bids."""
    settings: dict[str, Any] = {
        "people": 40, "goods": 6, "supply": 10, "increment": 1 / 16, "epsilon": _NOISELESS, "bid_cap": 100,
        "rounds": 100, "batch": 1, "arity": 3, "valuation": CappedAdditiveValuation(cap=2), "reclear": 0.0,
        "reserve": 0, "certify_with": 0.0, "halting": "published", "failure_probability": 0.5}
    return PAlloc(**{**settings, **changed})


# ---- valuations


@claim(
    id="allocation/classes", statement="Section 4.2.1, gross substitutes", line=1738,
    verdict="holds", pinned=(0.0, 0.0),
    claim="They include unit demand, additive and symmetric submodular valuations, and are a strict subclass of "
          "submodular ones.",
    correction="Every pattern that could refute it, for five goods; how many of three points some sets cover is "
               "submodular, and refuted.",
)
def classes_of_valuations() -> Recomputed:
    """Number of valuation classes with a pattern that refutes gross substitutes. Unit demand, additive, capped and
    symmetric concave valuations of five goods must have none.

    One submodular valuation that violates gross substitutes must have such a pattern. In this valuation, each good
    covers some points, and the value of a bundle is half the number of points that the goods of the bundle cover.
    """
    row = [0.2, 0.15, 0.1, 0.25, 0.05]
    sound = [UnitDemandValuation().bidder(row, 5), Additive().bidder(row, 5),
             CappedAdditiveValuation(cap=2).bidder(row, 5), SymmetricConcave(most=3).bidder([0.0, 0.4, 0.6, 0.7], 5)]
    found = [falsify_gross_substitutes(each, 5, 10**6, 1) for each in sound]
    covers = ({0, 1}, {0}, {1})  # a superset, and its two halves

    def covered(bundle: tuple[int, ...]) -> float:
        return len(set().union(*(covers[good] for good in bundle))) / 2.0

    submodular = all(covered((*s, i)) - covered(s) >= covered((*s, j, i)) - covered((*s, j))
                     for n in range(2) for s in itertools.combinations(range(3), n)
                     for i, j in itertools.permutations(set(range(3)) - set(s), 2))
    refuted = falsify_gross_substitutes(covered, 3, 10**6, 1)
    holds = not any(found) and submodular and refuted is not None and refuted.pattern == "uneven"
    return Recomputed("holds" if holds else "false", 0.0, float(sum(each is not None for each in found)))


# ---- Algorithm 6


@claim(
    id="allocation/theorem-4.4.1", statement="Theorem 4.4.1", line=2566,
    verdict="holds-with-correction", pinned=(1.0, 1.38493466),
    claim="PAlloc is epsilon-jointly private, by essentially the same proof.",
    correction="With goods dropped in the slot, bids are 2 and reports 1 apart in every round: 3T, attained (erratum "
               "3). At n = 1024, T = 10 a history costs 1.38 epsilon. With tests at the end of a round 2T + 1.",
)
def privacy_of_bundles() -> Recomputed:
    """Privacy loss of Algorithm 6 under the printed noise for one pair of neighbouring runs, compared with the claimed
    loss of 1. In every round two bids on different goods and one report differ, for 1024 bidders and 10 rounds. The
    loss counts every sum of the counters that contains such a bid or report.
    """
    setting = BundleSetting(people=1024, goods=20, epsilon=1.0, failure_probability=0.05, increment=1.0, tolerance=1.0)
    rounds = setting.rounds
    reach, attained = bundle_reach(rounds, tested="slot"), staggered_bundles(rounds, tested="slot")
    at_ends = bundle_reach(rounds, tested="round_end"), staggered_bundles(rounds, tested="round_end")
    found = 3.0 * float(blocks_of_slots(1024, rounds)[:, 0].sum()) / setting.printed_scale
    known = reach == attained == 3 * rounds and at_ends == (2 * rounds + 1,) * 2
    return Recomputed("holds-with-correction" if known and 1.0 < found <= setting.proved_epsilon else "holds",
                      1.0, found)


@claim(
    id="allocation/algorithm-6-test", statement="Algorithm 6, Propose", line=2601,
    verdict="holds-with-correction", pinned=(0.0, 24.0),
    claim="A bidder bids on a good of w* beyond their bundle if w* is worth at least as much as the bundle.",
    correction="It must be worth more: w* may be the bundle, and all of 24 satisfied bidders would bid on nothing "
               "(erratum 11).",
)
def bids_on_nothing() -> Recomputed:
    """Number of bidders, of 24 satisfied ones, that must bid again according to the printed test "best bundle >= own
    bundle". The test compares the values of bundles at the prices. Bidders who already have the best bundle have no
    good to bid on.

    No superset of the bundle of any of these bidders is worth more at the prices. With the test "best bundle > own
    bundle", no bidder must bid again.
    """
    rows = _capped(24, 4, 2, 1)
    auction = _quiet(people=24, goods=4, supply=8)
    outcome: Any = auction.run(rows, Noise.simulated(0))
    prices, passing, strictly = outcome.billboard.prices, 0, 0
    for row, held in zip(rows, outcome.shares["bundle"].to_pylist(), strict=True):
        bidder, rest = auction.valuation.bidder(row, 4), set(range(4)) - set(held)
        best = max(bidder.value((*held, *more)) - float(prices[list(more)].sum())
                   for size in range(len(rest) + 1) for more in itertools.combinations(sorted(rest), size))
        passing += best >= bidder.value(tuple(held))
        strictly += best > bidder.value(tuple(held))
    found = float(passing)
    return Recomputed("holds-with-correction" if passing == 24 and not strictly else "holds", 0.0, found)


@claim(
    id="allocation/lemma-4.4.5", statement="Lemma 4.4.5", line=2661, verdict="holds-with-correction", pinned=(0.0, 7.0),
    claim="No good is held more than s times at termination.",
    correction="Only once each bidder has dropped the goods outbid since their last slot (erratum 11): without noise "
               "17 hold a good of 10 copies before that.",
)
def last_goods_are_dropped() -> Recomputed:
    """Number of copies of a good that bidders hold beyond its supply after a round without noise. The copies are
    counted before bidders drop the goods on which they were outbid last.

    After bidders have dropped these goods, no good is held beyond its supply.
    """
    worst = {True: -10, False: -10}
    for seed in range(5):
        rows, auction = _capped(40, 6, 2, seed), _quiet(supply=10)
        run = start_bundles(auction.rules, auction.valuation.population(rows, people=40, goods=6), auction.counter,
                            Noise.simulated(0))
        for _ in range(3):
            run.play_round()
        held, seen = run.units()
        fresh = run.published[np.maximum(held, 0)] - seen <= 10
        for dropped, most in worst.items():
            kept = held[(held >= 0) & (fresh | (not dropped))]
            worst[dropped] = max(most, int(np.bincount(kept, minlength=6).max()) - 10)
    return Recomputed("holds-with-correction" if worst[False] > 0 >= worst[True] else "holds", 0.0, float(worst[False]))


@claim(
    id="allocation/lemma-4.4.6", statement="Lemma 4.4.6", line=2686, verdict="holds", pinned=(1.0, 0.75),
    claim="Every satisfied bidder's bundle is within alpha |g(i)| of their best.",
    correction="At most .75 of that over 160 bidders, all bundles looked at; it rests on gross substitutes.",
)
def satisfied_with_bundles() -> Recomputed:
    """Largest surplus that a satisfied bidder misses, as a multiple of the price increment alpha times the size of the
    bidder's bundle. All bundles are checked, in four markets of 40 bidders who want at most two goods each.
    """
    worst = 0.0
    for seed in range(4):
        rows, auction = _capped(40, 6, 2, seed), _quiet()
        outcome: Any = auction.run(rows, Noise.simulated(0))
        prices = outcome.billboard.prices
        best = auction.valuation.population(rows, people=40, goods=6).surpluses(prices)
        for row, bundle, most in zip(rows, outcome.shares["bundle"].to_pylist(), best, strict=True):
            missed = most - float(row[bundle].sum() - prices[bundle].sum())
            worst = max(worst, missed / (len(bundle) / 16) if bundle else (math.inf if missed > 1e-12 else 0.0))
        if outcome.diagnostics["unsatisfied"]:
            return Recomputed("false", 1.0, math.inf)
    return Recomputed("holds" if 0.0 < worst <= 1.0 + 1e-9 else "false", 1.0, float(worst))


def _crowded(groups: int, size: int, goods: int, step: float, spare: int) -> Floats:
    """Valuations of groups of bidders who act one after the other, shape (n, k). Every bidder values good 0 at 1. A
    second good, one for each group, is valued such that bidders prefer good 0 until earlier groups have raised its
    price.

    `spare` bidders value nothing.
    """
    rows = np.zeros((groups * size + spare, goods))
    for group in range(groups):
        part = slice(group * size, (group + 1) * size)
        rows[part, 0] = 1.0
        rows[part, group + 1] = 1.0 - step * group - 1 / 1024
    return rows


@claim(
    id="allocation/lemma-4.4.7", statement="Lemma 4.4.7 and Theorem 4.4.2", line=2719,
    verdict="holds-with-correction", pinned=(1.0, 1.5246038),
    claim="At termination all but rho d bidders are satisfied; hence SW >= OPT - alpha d.",
    correction="Reports must look at goods that were outbid since the slot. As printed, with tests in the slot alone, "
               "423 of 470 bidders lose a good unasked in round 1, which is the last, and 1.52 alpha d is lost "
               "without noise.",
)
def reports_of_lost_goods() -> Recomputed:
    """The welfare loss against the optimum as a multiple of alpha d, where d is the number of all copies. A bidder
    drops goods only in their own slot, as printed. A slot is the bidder's turn in a round. Bidders who lose a good
    after their slot in the last round never report the loss.

    The market has unit demand, no noise (error bound E = 1) and required accuracy alpha = .3, for which increment and
    tolerance are .1. Nine of ten groups of 47 bidders lose good 0 in the same round. With tests at the end of a round,
    these bidders report the loss and continue to bid.
    """
    rows, lost = _crowded(10, 47, 11, 0.1, 0), {}
    rows[-47:, 10] = 0.0  # the last group wants good 0 alone
    optimum, market = exact_optimum(rows, 51).welfare, 11 * 51
    wanted = bundle_threshold(470, 11, 0.3, _NOISELESS, 0.05)
    for tests in ("slot", "round_end"):
        auction = _quiet(failure_probability=0.01, people=470, goods=11, supply=51, increment=0.1, reserve=4,
                         valuation=UnitDemandValuation(),
                         halting="unsatisfied", halt_below=math.floor(0.1 * market - 2), outbid_tests=tests)
        outcome: Any = auction.run(rows, Noise.simulated(0))
        lost[tests] = (optimum - outcome.diagnostics["welfare"]) / (0.3 * market)
    fits = wanted.supply <= 51 and wanted.people <= market and 0.3 * market < 470 < market
    wrong = fits and lost["round_end"] <= 1.0 < lost["slot"]
    return Recomputed("holds-with-correction" if wrong else "holds", 1.0, lost["slot"])


@claim(
    id="allocation/equation-4.3", statement="(4.3) and T of Algorithm 6", line=2760,
    verdict="holds-with-correction", pinned=(1.0, 0.999),
    claim="B >= (R (rho d - 4E) - n)/2, and k (s + 1)/alpha bids at most, so 10/(alpha rho) rounds are enough.",
    correction="A good takes s' + 2E = s - 1 bids at each of ceil(1/alpha) prices, not s + 1 at 1/alpha (erratum 9); "
               "10/(alpha rho) rounds are enough all the same.",
)
def rounds_of_bundles() -> Recomputed:
    """Largest ratio of the proved number of rounds to the printed 10/(alpha rho), where alpha is the price increment
    and rho the tolerance, at the worst alpha.

    The reports of R rounds give the lower bound (R(rho d - 4E) - n)/2 on the number of bids, where n is the number of
    bidders, d that of all copies, and E the error bound. At each of ceil(1/alpha) prices, a good takes at most as many
    bids as it has copies. With d > n and rho d >= 8E it follows that R <= (4 ceil(1/alpha) + 2)/rho.
    """
    found = max((4.0 * math.ceil(1.0 / alpha) + 2.0) * alpha / 10.0 for alpha in np.linspace(0.001, 1.0, 1000).tolist())
    # s' + 2E = s - 1 bids at each price, where the print has s + 1.
    setting = BundleSetting(people=1024, goods=20, epsilon=1.0, failure_probability=0.05, increment=1.0, tolerance=1.0)
    supply = math.ceil(10.0 * setting.error)
    kept = abs(supply - setting.reserve + 2.0 * setting.error - (supply - 1)) < 1e-6
    return Recomputed("holds-with-correction" if found <= 1.0 and kept else "false", 1.0, found)


# ---- Theorem 4.4.2


@claim(
    id="allocation/theorem-4.4.2-goods", statement="Theorem 4.4.2, conditions", line=2570,
    verdict="holds-with-correction", pinned=(922475103.0, 1844950190.0),
    claim="d > n and s >= (12E' + 3)/alpha are enough.",
    correction="Lemma 4.4.7 needs d >= 24E'/alpha (erratum 8), twice as many goods as the source asks for where k = 1.",
)
def enough_goods() -> Recomputed:
    """The total number of copies 24E'/alpha that Lemma 4.4.7 needs, compared with (12E' + 3)/alpha, the number that
    Theorem 4.4.2 requires for a single good. Here E' is the error bound of all counts and alpha the accuracy.
    """
    found = bundle_threshold(10**6, 1, 0.5, 1.0, 0.05)
    return Recomputed("holds-with-correction" if found.people > found.supply else "holds", found.supply, found.people)


def _fewest(goods: int, alpha: float, epsilon: float) -> float:
    """Least number of bidders, to a thousandth, at which some supply satisfies Theorem 4.4.2 with an allowed loss below
    the number of bidders.
    """

    def says(people: int) -> bool:
        found = bundle_threshold(people, goods, alpha, epsilon, 0.05)
        market = goods * math.ceil(max(found.supply, (people + 1) / goods))
        return alpha * max(market, found.people) < people

    low, high = 1, 2
    while not says(high):
        low, high = high, 2 * high
    while high > 1.001 * low:
        middle = (low + high) // 2
        low, high = (low, middle) if says(middle) else (middle, high)
    return float(high)


@claim(
    id="allocation/theorem-4.4.2-sizes", statement="Theorem 4.4.2, sizes", line=2570,
    verdict="vacuous-at-practical-size", pinned=(10000000.0, 6614417410.0),
    claim="The theorem says something where alpha < n/d.",
    correction="From 6.6e9 bidders on even at alpha = .9, epsilon = 10, k = 100, gamma = .05.",
)
def bundles_at_practical_size() -> Recomputed:
    """Least number of bidders at which the welfare loss that Theorem 4.4.2 allows is below the trivial bound, for 100
    goods, accuracy alpha = .9, epsilon = 10 and failure probability gamma = .05.
    """
    found = _fewest(100, 0.9, 10.0)
    return Recomputed("vacuous-at-practical-size" if found > 1e7 else "holds", 1e7, found)


@claim(
    id="allocation/remark-4.4.3", statement="Remark 4.4.3, sizes", line=2635,
    verdict="holds", pinned=(10.0, 11.9819287),
    claim="Theorem 4.4.2 asks for similar supplies, but alpha < n/d makes them depend polynomially on the size of the "
          "market.",
    correction="The fewest bidders grow as k, and with Theorem 4.3.5 as its logarithm: 12 times as much from 100 to "
               "1,000 goods.",
)
def sizes_that_they_need() -> Recomputed:
    """Factor by which a ratio grows from k = 100 to 1,000 goods, at accuracy alpha = .5. The ratio is the least number
    of bidders for Theorem 4.4.2 divided by that for Theorem 4.3.5.

    The ratio grows in proportion to the number k of goods, because alpha times the number k s of copies must be below
    the number of bidders.
    """
    ratios = [_fewest(goods, 0.5, 1.0) / smallest_people(goods, 0.5, 1.0, 0.05) for goods in (100, 1000)]
    bundles, single = (rule(10**9, 100, 0.5, 1.0, 0.05).supply for rule in (bundle_threshold, matching_threshold))
    similar = bundles / single
    grows = 5.0 < ratios[1] / ratios[0] < 20.0
    return Recomputed("holds" if grows and 0.5 < similar < 2.0 else "false", 10.0, ratios[1] / ratios[0])


@claim(
    id="allocation/remark-4.4.3-bundles", statement="Remark 4.4.3, bundles of at most b goods", line=2642,
    verdict="false", pinned=(1.0, 2.00018947),
    claim="Where bidders want b goods at most, the bound improves to OPT - alpha n b.",
    correction="rho d bidders may stay unsatisfied, and d may be up to n/alpha: 323 bidders with b = 1, alpha = .15, "
               "d = 2020 and no noise lose 2 alpha n b. It takes a halting test at rho n b in place of rho d, or d <= "
               "n b.",
)
def bundles_of_few_goods() -> Recomputed:
    """The welfare loss against the optimum as a multiple of alpha n b for bundles of at most b = 1 good, where n is the
    number of bidders. The auction runs without noise at accuracy alpha = .15, with increment and tolerance .05, for 20
    goods of 101 copies and 323 bidders.

    In the first round 97 bidders are outbid by 97 others. The number 97 is below the halting threshold 99, so the first
    round is the last. The loss stays within alpha d, where d is the number of all copies.
    """
    rows = _crowded(2, 97, 20, 0.05, 129)
    rows[97:194, 2] = 0.0  # the second group wants good 0 alone
    optimum, market = exact_optimum(rows, 101).welfare, 2020
    wanted = bundle_threshold(323, 20, 0.15, _NOISELESS, 0.05)
    auction = _quiet(failure_probability=0.01, people=323, goods=20, supply=101, increment=0.05, reserve=4,
                     valuation=UnitDemandValuation(),
                     halting="unsatisfied", halt_below=99, outbid_tests="round_end")
    outcome: Any = auction.run(rows, Noise.simulated(0))
    lost = optimum - outcome.diagnostics["welfare"]
    fits = wanted.supply <= 101 and wanted.people <= market and 0.15 * market < 323 < market and lost <= 0.15 * market
    found = lost / (0.15 * 323)
    return Recomputed("false" if fits and outcome.billboard.rounds == 1 and found > 1.0 else "holds", 1.0, found)
