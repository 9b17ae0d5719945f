"""Claims of chapter 2 and appendix A of Wang 2016, about three notions of privacy and the relations between them.

Each public function recomputes the evidence for a claim. The argument `line` of a claim is a line number in the
plain-text copy of the source that was checked. Most evidence uses the prior `PAIR`, two bits that agree with
probability .9. The five-star law is the law of a movie's ratings that the source prints.

The function h maps a privacy level to the least distortion of the relaxed problem R-PD (`relaxation`). The constants
eps_X and eps~_X of a prior are explained in `confide.channels.constants`. Distortion is the expected number of changed
rows.
"""

from __future__ import annotations

import math
from math import inf

import numpy as np
from numpy.typing import NDArray

from confide.channels.analyser import analyse
from confide.channels.closed_forms import closed_form, printed_bounds
from confide.channels.constants import PriorConstants
from confide.channels.kernels import entropy_of_row, h, h_inverse, inverse_kernel, ratio
from confide.channels.mechanisms.kernel_mechanism import KernelMechanism
from confide.channels.mechanisms.randomized_response import RandomizedResponse
from confide.channels.priors import FullPrior, IndependentRows
from confide.channels.rows import information
from confide.channels.solvers.programs import distances, neighbours
from confide.evidence.claim import Recomputed, claims_of
from confide.evidence.wang_2016.privacy_notions.relaxation import FIVE_STARS, PAIR, relaxed_distortion

__all__: list[str] = []

claim = claims_of("Wang 2016", family="channels")

_ROW = IndependentRows([[0.2, 0.3, 0.5]])
_CLOSE = 1e-9


def _kernel(prior: FullPrior | IndependentRows, above: float = 0.5) -> KernelMechanism:
    return KernelMechanism(prior=prior, epsilon=PriorConstants.of(prior).kernel_level + above)


@claim(
    id="channels/theorem-1-identifiability", statement="Theorem 1, (2.12)", line=338,
    verdict="holds", pinned=(3.38727095, 3.38727095),
    claim="eps_i*(D) = h^-1(D) for D up to h(eps~_X).",
    correction="The kernel mechanism has it, to 1e-9, on a correlated prior; D = 0 apart, where both are infinite.",
)
def identifiability_of_the_kernel_mechanism() -> Recomputed:
    """The inverse function h^-1 at the distortion of the kernel mechanism, compared with the identifiability level of
    this mechanism, for the prior `PAIR`.
    """
    levels = _kernel(PAIR).levels()
    claimed = h_inverse(levels.distortion or 0.0, 2, 2)
    found = levels.identifiability
    return Recomputed("holds" if abs(found - claimed) < _CLOSE else "false", claimed, found)


@claim(
    id="channels/theorem-1-dp", statement="Theorem 1, (2.13)", line=343,
    verdict="holds", pinned=(1.4617409, 1.79175947),
    claim="max(h^-1(D) - eps_X, 0) <= eps_d*(D) <= max(h^-1(D), 0) for every D.",
    correction="True and loose: for independent rows the exact value is the upper bound up to h(eps^_X) and below it "
               "beyond.",
)
def bounds_of_differential_privacy() -> Recomputed:
    """The printed lower bound on the differential privacy level, compared with the exact level. Both bounds are checked
    on a grid of distortions, and the returned numbers are for distortion .4 under the five-star law.
    """
    holds = True
    for share in np.linspace(0.01, 0.99, 99).tolist():
        for prior in (_ROW, FIVE_STARS):
            low, high = printed_bounds(prior, share).dp
            exact = closed_form("dp", prior, share)
            holds = holds and exact is not None and low - _CLOSE <= exact <= high + _CLOSE
    exact = closed_form("dp", FIVE_STARS, 0.4) or 0.0
    return Recomputed("holds" if holds else "false", printed_bounds(FIVE_STARS, 0.4).dp[0], exact)


@claim(
    id="channels/theorem-1-gap", statement="Theorem 1, remark", line=345,
    verdict="holds", pinned=(0.33001857, 8.8817842e-16),
    claim="eps_i* - eps_d* is up to eps_X when D is at most h(eps~_X).",
    correction="It is 0 there, unless D = h(eps~_X) is a constant release's distortion; eps_X bounds it for every D.",
)
def gap_of_the_notions() -> Recomputed:
    """The constant eps_X, compared with the largest difference between the least identifiability level and the least
    differential privacy level, for distortions up to h(eps~_X) under the five-star law. The difference must be at most
    eps_X at every distortion.
    """
    found = PriorConstants.of(FIVE_STARS)
    gaps = [(share, (closed_form("identifiability", FIVE_STARS, share, found) or 0.0)
             - (closed_form("dp", FIVE_STARS, share, found) or 0.0)) for share in np.linspace(0.01, 1.0, 100).tolist()]
    inside = max(abs(gap) for share, gap in gaps if share <= h(found.kernel_level, 5, 1))
    holds = all(-_CLOSE <= gap <= found.prior_level + _CLOSE for _, gap in gaps)
    return Recomputed("holds" if holds and inside < _CLOSE else "false", found.prior_level, inside)


@claim(
    id="channels/lemma-7", statement="Lemma 7", line=1758, verdict="holds", pinned=(1.27164935, 1.27164935),
    claim="The relaxed problem's least distortion is h(eps).",
    correction="Equal to 1e-9 by a linear program in n + 1 masses; the proof has three misprints (next rows).",
)
def relaxed_problem() -> Recomputed:
    """The least distortion h(eps) of the relaxed problem, compared with the value of the linear program for this
    problem in the masses P_l, for 3 rows, 3 letters and level eps = 1.
    """
    claimed, found = h(1.0, 3, 3), relaxed_distortion(1.0, 3, 3)
    return Recomputed("holds" if abs(found - claimed) < _CLOSE else "false", claimed, found)


@claim(
    id="channels/lemma-7-sum", statement="Lemma 7, last sum", line=1865,
    verdict="false", pinned=(1.27164935, 6.43283238),
    claim="sum of l N_l e^{-(n-l) eps} over (1 + (m-1) e^-eps)^n equals h(eps).",
    correction="The exponent must be -l eps. At n = 3, m = 3, eps = 1 the source gives 6.4328, h is 1.2716.",
)
def last_sum_of_lemma_7() -> Recomputed:
    """The least distortion h(eps) of the relaxed problem, compared with the printed last sum of Lemma 7, for 3 rows, 3
    letters and level eps = 1. With the exponent -l eps in place of the printed -(n-l) eps, the sum is h(eps).
    """
    m, n, eps = 3, 3, 1.0
    scale = float((1.0 + (m - 1) * math.exp(-eps)) ** n)

    def total(exponent: int) -> float:
        """The sum with the printed exponent -(n-l) eps if `exponent` is 1, or with the exponent -l eps if it is 0."""
        return math.fsum(k * math.comb(n, k) * (m - 1) ** k * math.exp(-eps * ((n - k) if exponent else k))
                         for k in range(n + 1)) / scale

    claimed = h(eps, m, n)
    right = abs(total(0) - claimed) < _CLOSE
    return Recomputed("false" if right and abs(total(1) - claimed) > 0.1 else "holds", claimed, total(1))


@claim(
    id="channels/lemma-7-range", statement="Lemma 7, first sum", line=1820,
    verdict="false", pinned=(1.50013535, 1.27164935),
    claim="sum of l P_l >= the sum to l = n of l (P_l + a N_l e^{-l eps} / ...) + n N_n e^{-n eps} / (1 + (m-1) "
          "e^-eps)^n.",
    correction="The sum must stop at n - 1. At n = 3, m = 3, eps = 1, for the kernel's masses, the source says 1.2716 "
               ">= 1.5001.",
)
def first_sum_of_lemma_7() -> Recomputed:
    """The printed right side of the first inequality of Lemma 7, compared with the left side, for 3 rows, 3 letters and
    level eps = 1. The masses P_l are those of the kernel mechanism, for which the source's parameter a is 0. If the
    printed sum ends at n - 1, both sides are equal.
    """
    m, n, eps = 3, 3, 1.0
    scale = (1.0 + (m - 1) * math.exp(-eps)) ** n
    masses = [math.comb(n, k) * (m - 1) ** k * math.exp(-k * eps) / scale for k in range(n + 1)]
    left = math.fsum(k * mass for k, mass in enumerate(masses))
    printed, right = left + n * masses[n], math.fsum(k * masses[k] for k in range(n)) + n * masses[n]
    return Recomputed("false" if left < printed - 0.1 and abs(left - right) < _CLOSE else "holds", printed, left)


@claim(
    id="channels/lemma-7-triangle", statement="Lemma 7, triangle inequality", line=1898,
    verdict="false", pinned=(-1.0, 1.0),
    claim="d(x, y) <= d(x', y) - 1 for neighbours x, x'.",
    correction="The wrong way round: d(x, y) >= d(x', y) - 1. At x' = y the source says 1 <= -1. The conclusions from "
               "it hold.",
)
def triangle_inequality() -> Recomputed:
    """The numbers d(x', y) - 1 and d(x, y) for which the printed inequality d(x, y) <= d(x', y) - 1 fails most. Here d
    counts the rows in which two data sets differ. All neighbours x, x' and all y are tried, for data sets of two rows
    with two letters. The reversed inequality holds for all tried x, x' and y.
    """
    table, (first, second) = distances(2, 2), neighbours(2, 2)
    x, other = np.concatenate([first, second]), np.concatenate([second, first])
    excess = table[x] - (table[other] - 1.0)
    at = np.unravel_index(int(excess.argmax()), excess.shape)
    wrong, turned = float(excess.max()) > 0, float(excess.min()) >= 0
    return Recomputed("false" if wrong and turned else "holds", float(table[other][at]) - 1.0, float(table[x][at]))


@claim(
    id="channels/kernel-level-finite", statement="Definition of eps~_X", line=330,
    verdict="holds-with-correction", pinned=(0.0, inf),
    claim="For any prior, eps~_X is finite.",
    correction="For every prior under which all databases are possible; for (1, 0) no level is feasible.",
)
def kernel_level_of_an_impossible_letter() -> Recomputed:
    """The constant eps~_X of the prior (1, 0), which is claimed to be finite. For three priors with full support,
    eps~_X must be finite.
    """
    found = PriorConstants.of(IndependentRows([[1.0, 0.0]])).kernel_level
    finite = all(math.isfinite(PriorConstants.of(prior).kernel_level) for prior in (PAIR, _ROW, FIVE_STARS))
    return Recomputed("holds-with-correction" if finite and math.isinf(found) else "holds", 0.0, found)


@claim(
    id="channels/no-factor-two", statement="Lemma 11, remark", line=416, verdict="holds", pinned=(1.5, 1.5),
    claim="Randomised response is eps-differentially private, without the factor 2 of exponential mechanisms.",
    correction="Exactly eps; coded in whole numbers it never exceeds it.",
)
def level_of_randomised_response() -> Recomputed:
    """The requested level eps = 1.5, compared with the privacy level of randomised response as implemented. The
    implementation draws with probabilities that are ratios of whole numbers.
    """
    found = RandomizedResponse(epsilon=1.5, letters=4, records=3).dp()
    return Recomputed("holds" if 1.5 - _CLOSE <= found <= 1.5 else "false", 1.5, found)


@claim(
    id="channels/uniform", statement="Section 2.1, (1)", line=194, verdict="holds", pinned=(1.94591015, 1.94591015),
    claim="For the uniform prior eps_i* = eps_d*.",
    correction="Both are max(h^-1(D), 0), and one mechanism has both.",
)
def uniform_prior() -> Recomputed:
    """The least identifiability level, compared with the least differential privacy level, under the uniform prior on
    four letters at distortion .3 n for n = 10 rows.
    """
    prior = IndependentRows([[0.25] * 4], [10])
    dp, other = (closed_form("dp", prior, 3.0), closed_form("identifiability", prior, 3.0))
    same = dp is not None and other is not None and abs(dp - other) < _CLOSE
    return Recomputed("holds" if same else "false", other or 0.0, dp or 0.0)


@claim(
    id="channels/informed-adversary", statement="Definition 2, consequence", line=227,
    verdict="holds", pinned=(0.967304344, 0.967304344),
    claim="Under eps-identifiability an informed adversary is right with probability 1/(1 + (m-1) e^-eps) at most.",
    correction="Attained by the kernel mechanism.",
)
def informed_adversary() -> Recomputed:
    """The bound on an informed adversary's success probability, compared with the best guess under the kernel
    mechanism, for the prior `PAIR`.
    """
    levels = _kernel(PAIR).levels()
    bound = 1.0 / (1.0 + math.exp(-levels.identifiability))
    return Recomputed("holds" if levels.adversary_success <= bound + _CLOSE else "false",
                      bound, levels.adversary_success)


@claim(
    id="channels/example-1", statement="Example 1", line=235, verdict="holds", pinned=(0.6, 0.606135804),
    claim="Identifiability .6 and a best guess of .65; 2.6 under the prior (.9, .1), and no mechanism below 2.2.",
    correction="0.6061, 0.6471, 2.6027, 2.1972.",
)
def example_1() -> Recomputed:
    """Identifiability level of the channel in Example 1. The other numbers of the example must round to the printed
    numbers.
    """
    channel = [[0.6, 0.4], [0.4, 0.6]]
    even, sure = analyse(channel, [0.55, 0.45]), analyse(channel, [0.9, 0.1])
    numbers = (even.identifiability, even.prior_level, sure.identifiability, sure.prior_level)
    right = [f"{each:.1f}" for each in numbers] == ["0.6", "0.2", "2.6", "2.2"]
    right = right and f"{even.adversary_success:.2f}" == "0.65"
    return Recomputed("holds" if right else "false", 0.6, even.identifiability)


@claim(
    id="channels/example-2", statement="Example 2", line=245, verdict="holds", pinned=(0.93, 0.931034483),
    claim="Differential privacy .4, and a posterior of .93, which is e^.03 times the prior.",
    correction="ln 1.5 = 0.4055; 27/29 = 0.9310; e^0.0339.",
)
def example_2() -> Recomputed:
    """Posterior probability in Example 2. The example's differential privacy level must round to the printed level."""
    found = analyse([[0.6, 0.4], [0.4, 0.6]], [0.9, 0.1])
    right = f"{found.dp:.1f}" == "0.4" and f"{math.log(found.adversary_success / 0.9):.2f}" == "0.03"
    return Recomputed("holds" if right else "false", 0.93, found.adversary_success)


@claim(
    id="channels/five-stars-own", statement="Section 2.3, illustration", line=430,
    verdict="holds", pinned=(0.33, 0.33001857),
    claim="eps_X = .33 for the five-star law.",
    correction="0.3300.",
)
def level_of_the_five_star_law() -> Recomputed:
    """The constant eps_X of the five-star law, compared with the printed value."""
    found = PriorConstants.of(FIVE_STARS).prior_level
    return Recomputed("holds" if f"{found:.2f}" == "0.33" else "false", 0.33, found)


@claim(
    id="channels/five-stars-kernel", statement="Section 2.3, illustration", line=430,
    verdict="holds-with-correction", pinned=(0.41, 0.40014253),
    claim="eps~_X = .41 for the five-star law.",
    correction="0.4001 after normalising the law, which is printed with a sum of 1.0001; a two-decimal grid rounds up "
               "to .41.",
)
def kernel_level_of_the_five_star_law() -> Recomputed:
    """The constant eps~_X of the five-star law, compared with the printed value."""
    found = PriorConstants.of(FIVE_STARS).kernel_level
    return Recomputed("holds" if f"{found:.2f}" == "0.41" else "holds-with-correction", 0.41, found)


@claim(
    id="channels/theorem-2", statement="Theorem 2", line=436, verdict="holds", pinned=(0.730247856, 0.730247856),
    claim="The mechanism that is optimal for identifiability is optimal for information, for D up to h(eps~_X).",
    correction="The kernel mechanism meets Shannon's bound. For equal rows one mechanism has both optima at every D; "
               "not in general.",
)
def information_of_the_kernel_mechanism() -> Recomputed:
    """Shannon's bound H(X) - n H(row), compared with the mutual information of the kernel mechanism, for the prior
    `PAIR`. For one row the mutual information must equal the result of water-filling.
    """
    it = _kernel(PAIR)
    claimed = PAIR.entropy - 2 * entropy_of_row(it.epsilon, 2)
    found = it.levels().mutual_information
    row = _kernel(_ROW)
    same = abs(row.levels().mutual_information - information(_ROW, h(row.epsilon, row.letters, row.records))) < _CLOSE
    return Recomputed("holds" if same and abs(found - claimed) < _CLOSE else "false", claimed, found)


@claim(
    id="channels/bits", statement="Section 2.1, (2), with Theorem 2's multiplier", line=200,
    verdict="holds-with-correction", pinned=(1.5, 2.16404256),
    claim="The least information is in bits; its multiplier lambda is the level eps.",
    correction="lambda = eps in nats only: in bits the slope of the least information is eps/ln 2.",
)
def slope_of_the_least_information() -> Recomputed:
    """The level eps = 1.5, compared with minus the slope of the least mutual information in bits as a function of the
    distortion. In nats minus the slope must be eps.
    """
    eps, step = 1.5, 1e-5
    at = h(eps, 3, 1)
    slope = (information(_ROW, at - step) - information(_ROW, at + step)) / (2 * step)
    right = abs(slope - eps) < 1e-4
    return Recomputed("holds-with-correction" if right else "false", eps, slope / math.log(2))


@claim(
    id="channels/corollary-1", statement="Corollary 1", line=508, verdict="holds", pinned=(4.39444915, 2.19722458),
    claim="The optimal mechanism's differential privacy is within 2 eps_X of the least.",
    correction="True and loose: it is eps_X above it, exactly.",
)
def differential_privacy_of_the_kernel_mechanism() -> Recomputed:
    """The bound 2 eps_X, compared with the excess of the kernel mechanism's differential privacy level over the least
    level, for the prior `PAIR`.
    """
    it = _kernel(PAIR)
    own = PriorConstants.of(PAIR).prior_level
    found = it.dp() - (closed_form("dp", PAIR, h(it.epsilon, 2, 2)) or 0.0)
    return Recomputed("holds" if abs(found - own) < 1e-8 else "false", 2 * own, found)


@claim(
    id="channels/information-privacy", statement="Section 1.3.2", line=151,
    verdict="holds", pinned=(2.56186769, 1.94591015),
    claim="eps-information privacy implies 2 eps-differential privacy, and information of at most eps/ln 2 bits.",
    correction="Checked by every analysis, which refuses to report numbers that contradict it.",
)
def information_privacy() -> Recomputed:
    """Twice the information privacy level of a channel, compared with its differential privacy level. The mutual
    information must not exceed the information privacy level.
    """
    found = analyse([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]], [0.2, 0.3, 0.5])
    holds = found.dp <= 2 * found.information_privacy and found.mutual_information <= found.information_privacy
    return Recomputed("holds" if holds else "false", 2 * found.information_privacy, found.dp)


def _least_distortion(notion: str, epsilon: float) -> float:
    """Least distortion under the prior `PAIR` at a level of identifiability (PD-I) or of differential privacy (PD-DP).
    A plain linear program over the joint law of truth and output computes the least distortion. The result is infinite
    where no release has the level.
    """
    from scipy.optimize import linprog

    law, (first, second) = PAIR.vector(), neighbours(2, 2)
    count = len(law)
    scale = law if notion == "dp" else np.ones(count)
    rows: list[NDArray[np.float64]] = []
    for y in range(count):
        for x, other in (*zip(first, second, strict=True), *zip(second, first, strict=True)):
            row = np.zeros((count, count))
            row[x, y], row[other, y] = 1.0 / scale[x], -math.exp(epsilon) / scale[other]
            rows.append(row.ravel())
    found = linprog(distances(2, 2).ravel(), A_ub=np.array(rows), b_ub=np.zeros(len(rows)),
                    A_eq=np.kron(np.eye(count), np.ones(count)), b_eq=law, method="highs")
    return float(found.fun) if found.success else math.inf


@claim(
    id="channels/lemma-8", statement="Lemma 8", line=1938, verdict="holds", pinned=(0.15171636, 0.681750604),
    claim="eps_i*(D) >= h^-1(D) and eps_d*(D) >= max(h^-1(D) - eps_X, 0) for every D.",
    correction="By the two linear programs of a correlated pair. At identifiability 2.5 the least distortion is "
               ".6818, h is .1517: far apart below eps~_X. At D = 0 all are infinite, and h^-1 is negative beyond n "
               "(m-1)/m (erratum 7).",
)
def least_levels_and_the_relaxed_problem() -> Recomputed:
    """The lower bound h(2.5), compared with the least distortion at identifiability level 2.5 for the prior `PAIR`. For
    this prior, the kernel mechanism exists only from level 2.89 on. The bounds must hold at several levels, for
    differential privacy with eps_X added to the level.
    """
    own = PriorConstants.of(PAIR).prior_level
    holds = True
    for above in (0.01, 0.3, 0.6, 0.8, 1.5):
        holds &= _least_distortion("identifiability", own + above) >= h(own + above, 2, 2) - _CLOSE
        holds &= _least_distortion("dp", above) >= h(own + above, 2, 2) - _CLOSE
    claimed, found = h(2.5, 2, 2), _least_distortion("identifiability", 2.5)
    return Recomputed("holds" if holds and found > claimed - _CLOSE else "false", claimed, found)


@claim(
    id="channels/lemma-9", statement="Lemma 9", line=1971, verdict="holds", pinned=(2.19722458, 2.19726562),
    claim="No release has identifiability below eps_X.",
    correction="The linear program of the pair has a solution from eps_X = 2.1972 on, and none below; a release that "
               "ignores the data attains it.",
)
def least_identifiability() -> Recomputed:
    """The constant eps_X, compared with the least level at which the linear program for the prior `PAIR` has a
    solution, by bisection.
    """
    claimed = PriorConstants.of(PAIR).prior_level
    low, high = 0.0, 5.0
    while high - low > 1e-4:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if math.isinf(_least_distortion("identifiability", middle)) else (low, middle)
    return Recomputed("holds" if abs(high - claimed) < 1e-3 else "false", claimed, high)


@claim(
    id="channels/lemma-10", statement="Lemma 10", line=1992, verdict="holds", pinned=(0.065391312, 0.065391312),
    claim="From eps~_X on the kernel mechanism has identifiability eps and distortion h(eps).",
    correction="To 1e-9 on a correlated pair. The source does not say (erratum 8): p_Y is the prior under the inverse "
               "kernel. It is a law at every level from eps~_X on, and at none below.",
)
def distortion_of_the_kernel_mechanism() -> Recomputed:
    """The value h(eps), compared with the distortion of the kernel mechanism at eps = eps~_X + .5, for the prior
    `PAIR`. A law of the mechanism's output must exist at every tested level from eps~_X on, and at none below.
    """
    start = PriorConstants.of(PAIR).kernel_level
    negative = [inverse_kernel(PAIR.vector(), ratio(start + above), 2, 2)[1] is not None
                for above in (-2.0, -0.5, -0.01, 0.0, 0.1, 1.0, 4.0)]
    it = _kernel(PAIR)
    found = it.levels()
    claimed, distortion = h(it.epsilon, 2, 2), found.distortion or 0.0
    right = abs(found.identifiability - it.epsilon) < _CLOSE and abs(distortion - claimed) < _CLOSE
    return Recomputed("holds" if right and negative == [True] * 3 + [False] * 4 else "false", claimed, distortion)


@claim(
    id="channels/lemma-11", statement="Lemma 11", line=2000, verdict="holds", pinned=(0.925684638, 0.925684638),
    claim="Randomised response has differential privacy eps and distortion h(eps).",
    correction="Entry by entry for three letters, three rows and an uneven law: h does not depend on the law.",
)
def distortion_of_randomised_response() -> Recomputed:
    """The value h(1.5), compared with the distortion of formula (2.22) computed entry by entry, for three letters,
    three rows and an uneven law of a row. The privacy level must equal eps up to rounding.
    """
    letters, rows, eps = 3, 3, 1.5
    table = np.exp(-eps * distances(letters, rows))
    table /= (1.0 + (letters - 1) * math.exp(-eps)) ** rows
    row = _ROW.laws[0]
    law = np.einsum("i,j,k->ijk", row, row, row).ravel()
    first, second = neighbours(letters, rows)
    level = float(np.abs(np.log(table[first] / table[second])).max())
    found = float(law @ (table * distances(letters, rows)).sum(axis=1))
    right = bool(np.allclose(table.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)) and abs(level - eps) < _CLOSE
    claimed = h(eps, letters, rows)
    return Recomputed("holds" if right and abs(found - claimed) < _CLOSE else "false", claimed, found)
