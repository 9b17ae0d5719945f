"""Priors and their virtual costs: golden examples, ironing against brute force, and what must hold for all of them."""

from __future__ import annotations

import numpy as np
import pytest

from confide.acquisition.priors import (
    ConcernPrior,
    DiscretePrior,
    EmpiricalPrior,
    HistogramPrior,
    PowerPrior,
    UniformPrior,
)
from confide.acquisition.smooth_prior import SmoothPrior
from confide.acquisition.virtual_cost import Piece, QuantilePath, VirtualCost
from confide.contract.encoding import decode, encode
from confide.contract.errors import InvalidInput, Unsupported

GOLDEN = (1 + 5**0.5) / 2
GAP = HistogramPrior((0.0, 0.2, 0.8, 1.0), (0.5, 0.0, 0.5))
BUMPY = HistogramPrior((0.0, 0.25, 0.75, 1.0), (0.3, 0.2, 0.5))
ATOMS = EmpiricalPrior((0.3, 0.3, 0.7, 0.9, 0.9, 0.9))
TYPES = DiscretePrior((0.1, 0.5, 0.9), (0.3, 0.4, 0.3))
POOLED = DiscretePrior((0.2, 0.4, 0.45, 1.0), (0.5, 0.05, 0.4, 0.05))
RISING = SmoothPrior(lambda c: c * (2 - c), lambda c: 2 * (1 - c))
TWO_HUMPS = SmoothPrior(lambda c: 0.5 * c**6 + 0.5 * (1 - (1 - c) ** 6), lambda c: 3 * c**5 + 3 * (1 - c) ** 5)
STORED = [UniformPrior(0.2, 0.7), PowerPrior(0.5), BUMPY, GAP, TYPES, POOLED, ATOMS]
ALL = [*STORED, RISING, TWO_HUMPS]


def test_golden_ironing() -> None:
    """Acceptance 7: an arc, another arc, a line that touches two arcs, and an arc again."""
    cost = BUMPY.virtual_cost()
    flat = next(piece for piece in cost.pieces() if piece.slope == 0)
    assert flat == pytest.approx(Piece(GOLDEN / 4, 0.5 + GOLDEN / 4, GOLDEN**2 / 2, 0.0), abs=1e-14)
    assert cost([0.2, 0.3, 0.99]) == pytest.approx([0.4, 1.1, 1.48], abs=1e-12)
    assert len(set(cost(np.linspace(0.41, 0.9, 50)).tolist())) == 1  # one double
    other = HistogramPrior((0.0, 0.25, 0.75, 1.0), (0.4, 0.1, 0.5)).virtual_cost()
    assert other.pieces()[1:] == [pytest.approx(Piece(0.25, 1.0, 1.5, 0.0), abs=1e-14)]


def test_gap_takes_the_value_above() -> None:
    """Acceptance 12: nobody reports in the gap, and rents run through it at the level that follows."""
    cost = GAP.virtual_cost()
    assert cost.pieces() == [Piece(0.0, 0.2, 0.0, 2.0), pytest.approx(Piece(0.2, 1.0, 1.8, 0.0))]
    assert cost([0.2, 0.8]) == pytest.approx([0.4, 1.8])
    assert cost.admits([0.2, 0.21, 0.79, 0.8]).tolist() == [True, False, False, True]
    with pytest.raises(InvalidInput, match=r"outside the prior's support.*outside its gaps"):
        cost([0.1, 0.5])


def test_discrete_virtual_costs() -> None:
    assert TYPES.virtual_cost()(TYPES.points) == pytest.approx([0.1, 0.8, 0.9 + 0.7 / 0.3 * 0.4])
    raw = [0.2, 0.4 + 0.5 / 0.05 * 0.2, 0.45 + 0.55 / 0.4 * 0.05, 1.0 + 0.95 / 0.05 * 0.55]
    pool = (0.05 * raw[1] + 0.4 * raw[2]) / 0.45
    values = POOLED.virtual_cost()(POOLED.points)
    assert values == pytest.approx([raw[0], pool, pool, raw[3]])
    assert values[1] == values[2]


@pytest.mark.parametrize("prior", [TYPES, POOLED, DiscretePrior((0.0, 0.3, 1.0), (0.2, 0.7, 0.1))])
def test_pooled_adjacent_violators_are_the_minorant(prior: DiscretePrior) -> None:
    assert prior._path.virtual_cost()(prior.points) == pytest.approx(prior.virtual_cost()(prior.points), abs=1e-13)


@pytest.mark.parametrize("prior", [UniformPrior(), UniformPrior(0.3, 0.8)])
def test_bins_of_a_uniform_law_are_one_piece(prior: UniformPrior) -> None:
    """No-ops: what needs no ironing stays as it is, to the number of pieces."""
    low, high = prior.support
    bins = HistogramPrior(np.linspace(low, high, 11), np.full(10, 0.1)).virtual_cost()
    assert bins.pieces() == [pytest.approx(piece) for piece in prior.virtual_cost().pieces()]
    assert prior.virtual_cost()(high) == pytest.approx(2 * high - low)


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0, 5.0])
def test_power_law(exponent: float) -> None:
    """psi = c + F/f; the same law by knots is not ironed, and by many bins nearly the same."""
    prior, c = PowerPrior(exponent), np.linspace(0, 1, 41)
    exact = c + c / exponent
    assert prior.virtual_cost()(c) == pytest.approx(exact)
    smooth = SmoothPrior(prior.cdf, lambda x: exponent * np.maximum(x, 1e-300) ** (exponent - 1))
    assert smooth.virtual_cost()(c) == pytest.approx(exact, abs=1e-12)
    edges = np.linspace(0, 1, 1001)
    assert HistogramPrior(edges, np.diff(prior.cdf(edges))).virtual_cost()(c)[:-1] == pytest.approx(exact[:-1],
                                                                                                    abs=0.01)


def _minorant_by_points(path: QuantilePath, q: np.ndarray) -> np.ndarray:
    """The least slope of a chord of H from q on, over the largest to it: by brute force on a grid."""
    x = np.unique(np.concatenate([np.linspace(0, 1, 1501), path.probabilities]))
    height = x * path.quantile(x)  # the lower end of a jump
    hull = [0]
    for k in range(1, len(x)):
        while len(hull) > 1 and ((height[hull[-1]] - height[hull[-2]]) * (x[k] - x[hull[-2]])
                                 >= (height[k] - height[hull[-2]]) * (x[hull[-1]] - x[hull[-2]])):
            hull.pop()
        hull.append(k)
    slopes = np.diff(height[hull]) / np.diff(x[hull])
    return slopes[np.clip(np.searchsorted(x[hull], q, side="left") - 1, 0, None)]


def test_ironing_against_brute_force() -> None:
    """Random laws with atoms and gaps; the slopes of a hull of points agree but for the mesh."""
    generator = np.random.default_rng(7)
    for _ in range(25):
        k = int(generator.integers(2, 9))
        reports = np.sort(generator.integers(0, 13, k + 1)) / 12
        masses = generator.integers(0, 4, k) * 1.0
        masses[[0, -1]] += 1
        if reports[0] == reports[-1]:
            continue
        keep = (np.diff(reports) > 0) | (masses > 0)  # a step of both has an effect
        path = QuantilePath(np.append(reports[0], reports[1:][keep]), np.append(0, np.cumsum(masses[keep]))
                            / masses[keep].sum())
        cost = path.virtual_cost()
        q = (np.arange(400) + 0.5) / 400 + 1e-5
        found, rough = cost(path.quantile(q)), _minorant_by_points(path, q)
        assert np.median(np.abs(found - rough)) < 2e-2
        # The minorant's integral is H at the end; so is the mean virtual cost.
        assert _mean_virtual_cost(cost, path) == pytest.approx(path.reports[-1], abs=1e-12)


def _mean_virtual_cost(cost: VirtualCost, law: QuantilePath | ConcernPrior) -> float:
    """E psi: linear in the report on each piece that F is linear on too, so that middles are exact."""
    q = np.unique(np.concatenate([np.asarray(law.cdf(cost.bounds)), getattr(law, "probabilities", [0.0, 1.0])]))
    return float(np.sum(np.diff(q) * cost(law.quantile((q[1:] + q[:-1]) / 2))))


@pytest.mark.parametrize("prior", ALL, ids=lambda prior: type(prior).__name__)
def test_what_all_priors_have(prior: ConcernPrior) -> None:
    low, high = prior.support
    q = (np.arange(20_000) + 0.5) / 20_000
    draws = prior.quantile(q)
    assert low <= draws.min() <= draws.max() <= high
    assert np.all(np.diff(draws) >= 0)
    assert draws.mean() == pytest.approx(prior.mean, abs=1e-4)
    some = draws[::500]
    assert np.all(prior.cdf(some) >= q[::500] - 1e-12)
    assert np.all(prior.cdf(some - 1e-7) <= q[::500] + 1e-12)
    assert prior.cdf([low - 0.1, high, high + 0.1]).tolist() == [0.0, 1.0, 1.0]
    cost = prior.virtual_cost()
    psi = cost(draws)
    assert np.all(np.diff(psi) >= 0)
    assert np.all(psi >= draws - 1e-12)
    assert cost.support == (low, high)
    if prior is not RISING:  # in a Bayesian mind, the mean virtual cost is the highest report: all are paid as she is
        assert psi.mean() == pytest.approx(high, abs=2e-3)
    with pytest.raises(InvalidInput, match="reports: a report is outside"):
        cost([low, np.nan])
    if low > 0:
        with pytest.raises(InvalidInput, match="must be in"):
            cost(low - 1e-9)


@pytest.mark.parametrize("prior", STORED, ids=lambda prior: type(prior).__name__)
def test_manifests(prior: ConcernPrior) -> None:
    columns: dict[str, bytes] = {}
    assert decode(encode(prior, columns), {type(prior).__name__: type(prior)}, columns) == prior
    assert not columns


def test_smooth_priors() -> None:
    """Infinite at the top where the density ends in 0; two humps are ironed as fine bins are."""
    assert np.isinf(RISING.raw_virtual_cost(1.0))
    cost, c = RISING.virtual_cost(), np.linspace(0.01, 0.99, 99)
    assert cost(c) == pytest.approx(RISING.raw_virtual_cost(c), rel=4e-3)
    assert np.isfinite(cost.top)
    assert np.all(cost.slopes > 0)
    cost, edges = TWO_HUMPS.virtual_cost(), np.linspace(0, 1, 801)
    bins = HistogramPrior(edges, np.diff(TWO_HUMPS.distribution(edges))).virtual_cost()
    assert cost(c) == pytest.approx(bins(c), abs=6e-3)
    (flat,) = (piece for piece in cost.pieces() if piece.slope == 0)
    assert (flat.left, flat.low) == pytest.approx((bins.pieces()[-1].left, bins.pieces()[-1].low), abs=1e-3)
    gap = SmoothPrior(GAP.cdf, lambda x: np.where((x < 0.2) | (x > 0.8), 2.5, 0.0)).virtual_cost()
    assert gap([0.1, 0.9]) == pytest.approx([0.2, 1.8], abs=1e-3)
    with pytest.raises(Unsupported, match="slope_bounds"):
        RISING.smooth_virtual_cost()
    with pytest.raises(InvalidInput, match="density: gives a falling virtual cost"):
        SmoothPrior(TWO_HUMPS.distribution, TWO_HUMPS.density, slope_bounds=lambda a, b: (0, 1)).smooth_virtual_cost()


def test_floor_and_pieces() -> None:
    cost = BUMPY.virtual_cost()
    low = cost.floored(0.3)
    assert low([0.0, 0.1, 0.15]).tolist() == [0.3] * 3
    c = np.linspace(0, 1, 201)
    assert np.array_equal(low(c), np.maximum(cost(c), 0.3))
    assert UniformPrior().virtual_cost().floored(5.0).pieces() == [Piece(0.0, 1.0, 5.0, 0.0)]
    (first, *rest) = cost.pieces_above(0.2)
    assert first == pytest.approx(Piece(0.2, 0.25, 0.4, 2.0))
    assert rest == cost.pieces()[1:]
    assert cost.pieces_above(1.0) == []
    assert cost.levels == pytest.approx([0.0, 0.5, 1.0, GOLDEN**2 / 2, 1.5])
    top = VirtualCost.through([0.0, 0.5, 1.0], [0.0, 1.0, np.inf])
    assert top.pieces() == [Piece(0.0, 0.5, 0.0, 2.0), Piece(0.5, 1.0, 1.0, 0.0)]


@pytest.mark.parametrize(("make", "problem"), [
    (lambda: UniformPrior(0.5, 0.5), "high: 0.5 is not above low"),
    (lambda: UniformPrior(-0.1), "low: -0.1 is out of range"),
    (lambda: UniformPrior(0.0, 1.5), "high: 1.5 is out of range"),
    (lambda: PowerPrior(0.0), "exponent: 0.0 is out of range"),
    (lambda: HistogramPrior((0, 0.5, 0.5, 1), (0.3, 0.3, 0.4)), "edges: are not reports in rising order"),
    (lambda: HistogramPrior((0, 1.1), (1.0,)), "edges: are not reports in rising order"),
    (lambda: HistogramPrior((0, 0.5, 1), (0.5, 0.4)), "masses: sum to 0.9; must sum to 1"),
    (lambda: HistogramPrior((0, 0.5, 1), (1.5, -0.5)), "masses: are not probabilities"),
    (lambda: HistogramPrior((0, np.nan), (1.0,)), "edges: are not a row of finite numbers"),
    (lambda: DiscretePrior((), ()), "points: are not reports in rising order"),
    (lambda: DiscretePrior((0.1, 0.2), (1.0, 0.0)), "masses: are 0 for some points"),
    (lambda: EmpiricalPrior(()), "sample: are not possible reports"),
    (lambda: EmpiricalPrior((0.2, 1.2)), "sample: are not possible reports"),
    (lambda: SmoothPrior(lambda c: c / 2, lambda c: 0.5), "distribution: goes from 0 to 0.5"),
    (lambda: SmoothPrior(lambda c: c, lambda c: 1 - 3 * c * c),
     "density: is negative or is not a number at report 0.5"),
    (lambda: SmoothPrior(lambda c: c, lambda c: 0.9), "density: is not the slope of the distribution"),
    (lambda: SmoothPrior(lambda c: np.sin(6 * c), lambda c: 1.0), "distribution: does not rise at report 0.26"),
    (lambda: VirtualCost([0, 1], [0], [0, 0], []), "bounds: are 2 for 1 values"),
    (lambda: VirtualCost([0, 0.5, 1], [1, 0.5], [0, 0], []), "lows: fall from one piece to the next"),
    (lambda: VirtualCost([0, 2], [1], [0], []), "bounds: are not reports in rising order"),
    (lambda: VirtualCost([0, 1], [np.inf], [2], []), "lows: are not virtual costs"),
    (lambda: UniformPrior().virtual_cost().floored(-1), "psi_floor: -1 is out of range"),
])
def test_bad_input(make: object, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        make()  # type: ignore[operator]
