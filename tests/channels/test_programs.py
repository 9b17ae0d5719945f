"""Linear programs of the least distortion: values, certificates that hold whatever the solver did, exact repair."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

from confide.channels.analyser import analyse
from confide.channels.channel import Channel, JointTypeChannel, joint_types
from confide.channels.constants import PriorConstants
from confide.channels.kernels import h
from confide.channels.priors import Exchangeable, FullPrior, IndependentRows
from confide.channels.rows import dp_distortion, identifiability_distortion
from confide.channels.solvers.programs import as_exchangeable, check_size, full_program, solve_program, types_program
from confide.channels.solvers.ratio_program import lower_bound, repaired
from confide.contract.errors import SolverFailed, Unsupported

PAIR = FullPrior([0.45, 0.05, 0.05, 0.45], 2, 2)
OWN, KERNEL = math.log(9), math.acosh(9)


def mixture(rows: int, q: float = 0.3) -> Exchangeable:
    return Exchangeable.mixture([0.5, 0.5], [[1 - q, q], [q, 1 - q]], rows)


def level_of(notion: str, mechanism, prior) -> float:
    report = analyse(mechanism, prior)
    return report.dp if notion == "dp" else report.identifiability


def check(notion: str, prior, epsilon: float, width: float = 1e-7):
    """Both ends hold: the channel has its level and distortion; the interval is narrow."""
    point = solve_program(prior, epsilon, notion)
    assert point.lower <= point.upper <= point.lower + width
    assert level_of(notion, point.channel, prior) <= epsilon
    assert analyse(point.channel, prior).distortion == pytest.approx(point.upper, abs=1e-12)
    return point


def test_the_pair_has_its_formulas() -> None:
    """Acceptance 5, at ten levels, over databases and over joint types."""
    for epsilon in np.linspace(0.1, 3.5, 10).tolist():
        expected = 0.1 + 0.9 * math.exp(-epsilon) if epsilon <= OWN else h(epsilon, 2, 2)
        assert check("dp", PAIR, epsilon).lower == pytest.approx(expected, abs=1e-7)
    for epsilon in np.linspace(OWN + 1e-6, 3.5, 10).tolist():
        expected = 1.9 - 0.1 * math.exp(epsilon) if epsilon <= KERNEL else h(epsilon, 2, 2)
        assert check("identifiability", as_exchangeable(PAIR), epsilon).lower == pytest.approx(expected, abs=1e-7)


def test_independent_rows_over_nine_databases() -> None:
    """Acceptance 4."""
    alike = IndependentRows([[0.2, 0.3, 0.5]], [2])
    unequal = IndependentRows([[0.2, 0.3, 0.5], [0.1, 0.45, 0.45]])
    for prior, epsilon in ((alike, 0.9163), (alike, math.log(3)), (unequal, 1.7918)):
        full = FullPrior(prior.vector(), 3, 2)
        assert check("dp", full, epsilon).lower == pytest.approx(dp_distortion(prior, epsilon), abs=1e-7)
        if epsilon > PriorConstants.of(full).prior_level:
            expected = identifiability_distortion(prior, epsilon)
            assert check("identifiability", full, epsilon).lower == pytest.approx(expected, abs=1e-7)
    assert dp_distortion(unequal, math.log(6)) == pytest.approx(0.478571, abs=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_random_priors(seed: int) -> None:
    """Acceptance 6: the kernel is optimal from eps^_X and eps~_X on, the two programs bracket each other."""
    draw = np.random.default_rng(seed)
    m, n = ((2, 2), (3, 2), (2, 3), (4, 1))[seed % 4]
    prior = FullPrior(draw.dirichlet(np.full(m**n, 2.0)) * 0.9 + 0.1 / m**n, m, n)
    found = PriorConstants.of(prior)
    for notion, level in (("dp", found.row_level + 0.01), ("identifiability", found.kernel_level + 1e-6)):
        assert solve_program(prior, level, notion).lower == pytest.approx(h(level, m, n), abs=1e-7)
    middle = 0.5 * found.row_level
    dp = check("dp", prior, middle)
    assert check("identifiability", prior, middle + found.prior_level).lower <= dp.upper
    if middle > found.prior_level:
        assert dp.lower <= check("identifiability", prior, middle).upper


def test_below_its_level_a_kernel_is_beaten() -> None:
    assert solve_program(PAIR, 0.6, "dp").upper == pytest.approx(0.5939, abs=1e-4)
    assert h(0.6, 2, 2) == pytest.approx(0.7087, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(2, 2), (2, 3), (3, 2), (4, 2), (2, 4), (3, 3), (2, 5)])
def test_the_solver_converges_everywhere(size: tuple[int, int]) -> None:
    """Priors from nearly uniform to nearly degenerate, levels from next to nothing to 10."""
    for concentration in (0.1, 0.3, 1.0, 10.0, 1000.0):
        law = np.random.default_rng(1).dirichlet(np.full(size[0] ** size[1], concentration))
        prior = FullPrior(np.maximum(law, 1e-9), *size, normalise=True)
        own = PriorConstants.of(prior).prior_level
        for epsilon in (1e-3, 0.01, 0.1, 0.5, 1.5, 3.0, 6.0, 10.0):
            check("dp", prior, epsilon, 1e-6)
            check("identifiability", prior, own + epsilon, 1e-6)


def test_a_prior_with_impossible_databases_has_a_dp_program() -> None:
    prior = FullPrior([0.5, 0.0, 0.1, 0.4], 2, 2)
    point = solve_program(prior, 1.0, "dp")
    assert point.upper - point.lower < 1e-8
    assert analyse(point.channel, prior).dp <= 1.0


@pytest.mark.parametrize(("rows", "expected"), [(10, 3.461715), (20, 6.433032), (30, 9.309220)])
def test_exchangeable_mixtures(rows: int, expected: float) -> None:
    """Acceptance 9: the channel's level is what was asked for, and the dual bound is within 1e-7."""
    assert check("dp", mixture(rows), 0.5).upper == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "notion", "epsilon"), [
    (40, "dp", 0.5), (40, "dp", 0.1), (40, "dp", 0.8), (30, "identifiability", 0.9), (40, "identifiability", 1.2)])
def test_many_exchangeable_rows(rows: int, notion: str, epsilon: float) -> None:
    check(notion, mixture(rows), epsilon, 2e-6)


@pytest.mark.parametrize("rows", [2, 3])
def test_joint_types_are_as_good_as_all_databases(rows: int) -> None:
    prior = Exchangeable.mixture([0.4, 0.6], [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]], rows)
    full = FullPrior(prior.vector(), 3, rows)
    assert isinstance(as_exchangeable(full), Exchangeable)
    for notion, epsilon in (("dp", 0.7), ("identifiability", 1.9)):
        point = check(notion, prior, epsilon)
        assert point.lower == pytest.approx(solve_program(full, epsilon, notion).lower, abs=1e-7)
    listed = analyse(Channel(point.channel.table(), 3, rows), full)
    for name, value in analyse(point.channel, prior).to_dict().items():
        assert value == pytest.approx(listed.to_dict()[name], abs=1e-10), name


def test_a_prior_that_is_not_exchangeable_stays() -> None:
    prior = FullPrior([0.4, 0.1, 0.2, 0.3], 2, 2)
    assert as_exchangeable(prior) is prior


@pytest.mark.parametrize("notion", ["dp", "identifiability"])
def test_any_prices_bound_from_below(notion: str) -> None:
    """In rationals too: the reported bound is not above the exact one, whatever the prices."""
    epsilon = OWN + 0.3
    program, _ = full_program(PAIR, epsilon, notion)
    point = solve_program(PAIR, epsilon, notion)
    draw = np.random.default_rng(3)
    for prices in (point._prices, draw.exponential(0.1, point._prices.shape), 0 * point._prices):
        reduced = [Fraction(float(c)) for c in program.cost]
        for e, (i, j) in enumerate(zip(program.first.tolist(), program.second.tolist(), strict=True)):
            up, down = (Fraction(float(price)) for price in prices[:, e])
            reduced[i] += up - down * Fraction(float(program.down[e]))
            reduced[j] += down - up * Fraction(float(program.up[e]))
        exact = sum(min(value for value, row in zip(reduced, program.rows, strict=True) if row == r) for r in range(4))
        found = lower_bound(program, prices)
        assert found <= exact <= found + 1e-12
        assert found <= point.upper


@pytest.mark.slow
def test_what_a_raw_solution_hides() -> None:
    """Spec 6: the simplex method's answer at n = 30 has an infinite level, 0 beside what is below its tolerance. The
    repaired one has what was asked for; it costs distortion, which the own solver's answer does not.
    """
    prior, epsilon = mixture(30), 0.5
    types = joint_types(2, 30)
    program, _ = types_program(prior, epsilon, "dp")
    e, k, scales = np.arange(len(program.first)), len(program.cost), program.scales
    cells = np.concatenate([scales[0], -scales[0] * program.up, scales[1], -scales[1] * program.down])
    places = (np.concatenate([e, e, e + len(e), e + len(e)]),
              np.concatenate([program.first, program.second, program.second, program.first]))
    found = linprog(program.cost, A_ub=csr_matrix((cells, places), shape=(2 * len(e), k)), b_ub=np.zeros(2 * len(e)),
                    A_eq=csr_matrix((np.ones(k), (program.rows, np.arange(k)))), b_eq=program.target, method="highs-ds")
    raw = np.maximum(found.x, 0.0)
    raw /= np.bincount(program.rows, raw)[program.rows]
    assert found.fun == pytest.approx(9.309220, abs=1e-5)
    assert analyse(JointTypeChannel(types, raw), prior).dp == math.inf
    report = analyse(JointTypeChannel(types, repaired(program.loosened(-1e-12), raw, 0)), prior)
    assert report.dp <= epsilon
    assert report.distortion > 9.31
    own = solve_program(prior, epsilon, "dp")
    assert analyse(own.channel, prior).dp <= epsilon
    assert own.upper == pytest.approx(9.309220, abs=1e-6)


def test_what_cannot_be_repaired_is_an_error() -> None:
    program, _ = full_program(PAIR, 0.5, "dp")
    with pytest.raises(SolverFailed, match="the sums of rows are wrong"):
        repaired(program, np.full(16, 0.2), 0)


def test_too_large_is_said_with_what_would_do() -> None:
    law = np.random.default_rng(0).dirichlet(np.ones(512))
    with pytest.raises(Unsupported, match="at most 256 databases"):
        check_size(FullPrior(law, 2, 9))
    with pytest.raises(Unsupported, match="joint types"):
        check_size(mixture(100))


@pytest.mark.slow
@pytest.mark.parametrize(("m", "n"), [(2, 6), (4, 3), (2, 7)])
def test_large_full_programs(m: int, n: int) -> None:
    prior = FullPrior(np.random.default_rng(0).dirichlet(np.ones(m**n)), m, n)
    check("dp", prior, 1.0)
