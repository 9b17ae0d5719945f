"""Evidence for the rows of `claims.toml`: each function recomputes what decides one published claim."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from confide.channels.analyser import analyse
from confide.channels.closed_forms import closed_form
from confide.channels.constants import PriorConstants
from confide.channels.independent import information
from confide.channels.kernels import entropy_of_row, h, h_inverse, inverse_kernel, ratio
from confide.channels.mechanisms.kernel_mechanism import KernelMechanism
from confide.channels.mechanisms.randomized_response import RandomizedResponse
from confide.channels.printed import printed_bounds
from confide.channels.priors import FullPrior, IndependentRows
from confide.channels.relaxation import relaxed_distortion
from confide.channels.solvers.full_program import distances, neighbours
from confide.channels.worked_priors import FIVE_STARS, PAIR
from confide.contract.claims import Finding

__all__: list[str] = []

_ROW = IndependentRows([[0.2, 0.3, 0.5]])
_CLOSE = 1e-9


def _kernel(prior: FullPrior | IndependentRows, above: float = 0.5) -> KernelMechanism:
    return KernelMechanism(prior=prior, epsilon=PriorConstants.of(prior).kernel_level + above)


def identifiability_of_the_kernel_mechanism() -> Finding:
    """h^-1 of its distortion, and its identifiability, on the pair."""
    levels = _kernel(PAIR).levels()
    claimed = h_inverse(levels.distortion or 0.0, 2, 2)
    found = levels.identifiability
    return Finding("holds" if abs(found - claimed) < _CLOSE else "false", claimed, found)


def bounds_of_differential_privacy() -> Finding:
    """The printed lower bound and the exact value, on a grid; then at .4 of the five-star law."""
    holds = True
    for share in np.linspace(0.01, 0.99, 99).tolist():
        for prior in (_ROW, FIVE_STARS):
            low, high = printed_bounds(prior, share).dp
            exact = closed_form("dp", prior, share)
            holds = holds and exact is not None and low - _CLOSE <= exact <= high + _CLOSE
    exact = closed_form("dp", FIVE_STARS, 0.4) or 0.0
    return Finding("holds" if holds else "false", printed_bounds(FIVE_STARS, 0.4).dp[0], exact)


def gap_of_the_notions() -> Finding:
    """eps_X, and the largest gap up to h(eps~_X), of the five-star law; and that eps_X bounds it everywhere."""
    found = PriorConstants.of(FIVE_STARS)
    gaps = [(share, (closed_form("identifiability", FIVE_STARS, share, found) or 0.0)
             - (closed_form("dp", FIVE_STARS, share, found) or 0.0)) for share in np.linspace(0.01, 1.0, 100).tolist()]
    inside = max(abs(gap) for share, gap in gaps if share <= h(found.kernel_level, 5, 1))
    holds = all(-_CLOSE <= gap <= found.prior_level + _CLOSE for _, gap in gaps)
    return Finding("holds" if holds and inside < _CLOSE else "false", found.prior_level, inside)


def relaxed_problem() -> Finding:
    """h and the value of the linear program in the masses P_l, at n = 3, m = 3, eps = 1."""
    claimed, found = h(1.0, 3, 3), relaxed_distortion(1.0, 3, 3)
    return Finding("holds" if abs(found - claimed) < _CLOSE else "false", claimed, found)


def last_sum_of_lemma_7() -> Finding:
    """h, and the printed sum, at n = 3, m = 3, eps = 1; with -l eps it is h."""
    m, n, eps = 3, 3, 1.0
    scale = float((1.0 + (m - 1) * math.exp(-eps)) ** n)

    def total(exponent: int) -> float:
        """With e^{-(n-l) eps} as printed, or e^{-l eps}."""
        return math.fsum(k * math.comb(n, k) * (m - 1) ** k * math.exp(-eps * ((n - k) if exponent else k))
                         for k in range(n + 1)) / scale

    claimed = h(eps, m, n)
    right = abs(total(0) - claimed) < _CLOSE
    return Finding("false" if right and abs(total(1) - claimed) > 0.1 else "holds", claimed, total(1))


def first_sum_of_lemma_7() -> Finding:
    """The printed right side and the left one for the kernel's masses (a = 0), at n = 3, m = 3, eps = 1; with the sum
    to n - 1 both are equal.
    """
    m, n, eps = 3, 3, 1.0
    scale = (1.0 + (m - 1) * math.exp(-eps)) ** n
    masses = [math.comb(n, k) * (m - 1) ** k * math.exp(-k * eps) / scale for k in range(n + 1)]
    left = math.fsum(k * mass for k, mass in enumerate(masses))
    printed, right = left + n * masses[n], math.fsum(k * masses[k] for k in range(n)) + n * masses[n]
    return Finding("false" if left < printed - 0.1 and abs(left - right) < _CLOSE else "holds", printed, left)


def triangle_inequality() -> Finding:
    """d(x', y) - 1 and d(x, y) where the print is off most, over all neighbours x, x' and all y of two rows of two
    letters; the other way round it holds for all of them.
    """
    table, (first, second) = distances(2, 2), neighbours(2, 2)
    x, other = np.concatenate([first, second]), np.concatenate([second, first])
    excess = table[x] - (table[other] - 1.0)
    at = np.unravel_index(int(excess.argmax()), excess.shape)
    wrong, turned = float(excess.max()) > 0, float(excess.min()) >= 0
    return Finding("false" if wrong and turned else "holds", float(table[other][at]) - 1.0, float(table[x][at]))


def kernel_level_of_an_impossible_letter() -> Finding:
    """A finite number, and eps~_X of (1, 0); for full supports it is finite."""
    found = PriorConstants.of(IndependentRows([[1.0, 0.0]])).kernel_level
    finite = all(math.isfinite(PriorConstants.of(prior).kernel_level) for prior in (PAIR, _ROW, FIVE_STARS))
    return Finding("holds-with-correction" if finite and math.isinf(found) else "holds", 0.0, found)


def level_of_randomised_response() -> Finding:
    """eps, and the level of the channel in whole numbers."""
    found = RandomizedResponse(epsilon=1.5, letters=4, records=3).dp()
    return Finding("holds" if 1.5 - _CLOSE <= found <= 1.5 else "false", 1.5, found)


def uniform_prior() -> Finding:
    """Both least levels at .3 of n, four letters."""
    prior = IndependentRows([[0.25] * 4], [10])
    dp, other = (closed_form("dp", prior, 3.0), closed_form("identifiability", prior, 3.0))
    same = dp is not None and other is not None and abs(dp - other) < _CLOSE
    return Finding("holds" if same else "false", other or 0.0, dp or 0.0)


def informed_adversary() -> Finding:
    """The bound and the best guess under the kernel mechanism of the pair."""
    levels = _kernel(PAIR).levels()
    bound = 1.0 / (1.0 + math.exp(-levels.identifiability))
    return Finding("holds" if levels.adversary_success <= bound + _CLOSE else "false", bound, levels.adversary_success)


def example_1() -> Finding:
    """Identifiability of the example, and that the other three numbers round to the printed ones."""
    channel = [[0.6, 0.4], [0.4, 0.6]]
    even, sure = analyse(channel, [0.55, 0.45]), analyse(channel, [0.9, 0.1])
    numbers = (even.identifiability, even.prior_level, sure.identifiability, sure.prior_level)
    right = [f"{each:.1f}" for each in numbers] == ["0.6", "0.2", "2.6", "2.2"]
    right = right and f"{even.adversary_success:.2f}" == "0.65"
    return Finding("holds" if right else "false", 0.6, even.identifiability)


def example_2() -> Finding:
    """The posterior of the example, and its differential privacy."""
    found = analyse([[0.6, 0.4], [0.4, 0.6]], [0.9, 0.1])
    right = f"{found.dp:.1f}" == "0.4" and f"{math.log(found.adversary_success / 0.9):.2f}" == "0.03"
    return Finding("holds" if right else "false", 0.93, found.adversary_success)


def level_of_the_five_star_law() -> Finding:
    """eps_X."""
    found = PriorConstants.of(FIVE_STARS).prior_level
    return Finding("holds" if f"{found:.2f}" == "0.33" else "false", 0.33, found)


def kernel_level_of_the_five_star_law() -> Finding:
    """eps~_X."""
    found = PriorConstants.of(FIVE_STARS).kernel_level
    return Finding("holds" if f"{found:.2f}" == "0.41" else "holds-with-correction", 0.41, found)


def information_of_the_kernel_mechanism() -> Finding:
    """Shannon's bound H(X) - n H(row), and its information, on the pair; water-filling agrees for one row."""
    it = _kernel(PAIR)
    claimed = PAIR.entropy - 2 * entropy_of_row(it.epsilon, 2)
    found = it.levels().mutual_information
    row = _kernel(_ROW)
    same = abs(row.levels().mutual_information - information(_ROW, h(row.epsilon, row.letters, row.records))) < _CLOSE
    return Finding("holds" if same and abs(found - claimed) < _CLOSE else "false", claimed, found)


def slope_of_the_least_information() -> Finding:
    """eps, and minus the slope of the least information in bits, at 1.5; in nats it is eps."""
    eps, step = 1.5, 1e-5
    at = h(eps, 3, 1)
    slope = (information(_ROW, at - step) - information(_ROW, at + step)) / (2 * step)
    right = abs(slope - eps) < 1e-4
    return Finding("holds-with-correction" if right else "false", eps, slope / math.log(2))


def differential_privacy_of_the_kernel_mechanism() -> Finding:
    """2 eps_X, and how far its differential privacy is above the least, on the pair."""
    it = _kernel(PAIR)
    own = PriorConstants.of(PAIR).prior_level
    found = it.dp() - (closed_form("dp", PAIR, h(it.epsilon, 2, 2)) or 0.0)
    return Finding("holds" if abs(found - own) < 1e-8 else "false", 2 * own, found)


def information_privacy() -> Finding:
    """Twice the information privacy and the differential privacy of an uneven channel; and its information."""
    found = analyse([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]], [0.2, 0.3, 0.5])
    holds = found.dp <= 2 * found.information_privacy and found.mutual_information <= found.information_privacy
    return Finding("holds" if holds else "false", 2 * found.information_privacy, found.dp)


def _least_distortion(notion: str, epsilon: float) -> float:
    """PD-I or PD-DP on the pair, as the plain linear program over the joint law of truth and output; infinite where no
    release has the level.
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


def least_levels_and_the_relaxed_problem() -> Finding:
    """h(2.5), and the least distortion at identifiability 2.5 of the pair, whose kernel starts at 2.89; and that the
    bounds hold at levels around it, for differential privacy with eps_X on top.
    """
    own = PriorConstants.of(PAIR).prior_level
    holds = True
    for above in (0.01, 0.3, 0.6, 0.8, 1.5):
        holds &= _least_distortion("identifiability", own + above) >= h(own + above, 2, 2) - _CLOSE
        holds &= _least_distortion("dp", above) >= h(own + above, 2, 2) - _CLOSE
    claimed, found = h(2.5, 2, 2), _least_distortion("identifiability", 2.5)
    return Finding("holds" if holds and found > claimed - _CLOSE else "false", claimed, found)


def least_identifiability() -> Finding:
    """eps_X, and the least level at which the linear program of the pair has a solution, by bisection."""
    claimed = PriorConstants.of(PAIR).prior_level
    low, high = 0.0, 5.0
    while high - low > 1e-4:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if math.isinf(_least_distortion("identifiability", middle)) else (low, middle)
    return Finding("holds" if abs(high - claimed) < 1e-3 else "false", claimed, high)


def distortion_of_the_kernel_mechanism() -> Finding:
    """h(eps) and the distortion at eps = eps~_X + .5, on the pair, with its level; and that an output law exists from
    eps~_X on, at every level that was tried, and at none below.
    """
    start = PriorConstants.of(PAIR).kernel_level
    negative = [inverse_kernel(PAIR.vector(), ratio(start + above), 2, 2)[1] is not None
                for above in (-2.0, -0.5, -0.01, 0.0, 0.1, 1.0, 4.0)]
    it = _kernel(PAIR)
    found = it.levels()
    claimed, distortion = h(it.epsilon, 2, 2), found.distortion or 0.0
    right = abs(found.identifiability - it.epsilon) < _CLOSE and abs(distortion - claimed) < _CLOSE
    return Finding("holds" if right and negative == [True] * 3 + [False] * 4 else "false", claimed, distortion)


def distortion_of_randomised_response() -> Finding:
    """h(1.5), and the distortion of (2.22) entry by entry, for three letters, three rows and an uneven law; with its
    level, which is eps to rounding.
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
    return Finding("holds" if right and abs(found - claimed) < _CLOSE else "false", claimed, found)
