"""The best weights at a fixed r = 1/S, where no weight may exceed a cap and no virtual cost exceeds 1. S = sum w^2/y is
the spread of the noise under weights w and local losses y.

Let g be the price of variance, psi a user's virtual cost and w the user's weight. The problem at a given r is

    V(r) = min over weights in [0, cap] that sum to 1 of g sum w^2 + r Q(w) = sum a w^2 + r B^2,
    a = g + r (1 - psi) >= 0, B = sum b w, b = sqrt(psi).

The problem that defines V(r) is convex. Let h = 1 - b be the ease of a user, and t = h - anchor the ease measured from
an anchor. The optimum is

    w = clip((m + p t)/a, 0, cap),   sum w = 1,   p = r B,

for a level m and a pull p. At a given pull p the sum of the weights rises in the level m, so the condition sum w = 1
determines m(p). The difference p - r B is below 0 for p below the right value and above 0 for p above it, since B falls
in p. Newton's method between two bounds finds the roots m and p. All functions of m and p are piecewise linear, so a
Newton step on the right pieces gives a root exactly.

At any level m and pull p, the users without weight come last in the order of the virtual cost psi. The users at the cap
are among the first users, or also among the last ones (only away from the optimum, where p < 2 r cap), since the
function m + p t - cap a is convex in h. Therefore every sum over the users strictly between 0 and the cap (the free
users), or over the users at the cap, is a difference of sums over the first 0, 1, 2, ... users. One solve of the
problem therefore costs O(log n). For a replaced virtual cost, one user is taken out of the sums and one is added.

The computed value of V(r) is the value of the dual problem,

    2 m (1 - capped weights) + 2 p (1 - anchor - capped sum of t w) - p^2/r - sum over free of (m + p
    t)^2/a + cap^2 sum over capped of a.

The dual value bounds V(r) from below at any (m, p), so an error in m or p affects the value only by its square. Sums
lose no digits if two places are well chosen: the anchor lies where weights reach 0, and the centre, from which sums are
counted, lies where the capped users end.

Source: confide.

The second half of the module finds the cheapest weights and noise where no weight exceeds a cap, on a fixed grid of S.

Without a cap, a single seller has a loss of sqrt(kappa) towards the platform. A campaign is charged for the worst loss
over all reports, though a typical contract loses far less. Therefore the optimisation is over a smaller set, which does
not depend on any report:

* People with a virtual cost above a public ceiling, at most 1, never sell. A virtual cost above the ceiling counts as
  psi = inf, so the virtual cost stays monotone in the report.
* No weight exceeds `weight_cap`, so at least 1/weight_cap people must take part.
* The spread S of the noise is one of `capped_spreads`.
* Nothing is bought where buying nothing is cheaper, at the fixed cost `outside`.

In the smaller set, each person's difference of local and central level still falls in their own virtual cost. So
payments by differences of the values make truth the best report. Rents are integrals up to the ceiling only: a person
with a virtual cost above the ceiling sells nothing, and the value jumps to the value without that person.

If all psi are in [phi, 1], every w has phi + (1 - phi)/n <= Q(w) <= 1, since Q rises in every psi and is 1 where every
psi is 1. So the best S of any weights, sqrt(Q/kappa), lies between the ends of the grid. The bound is fact 5 of the
spec without the term in the price of variance g.

Source: confide; spec two_part_acquisition sections 5 and 8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.optimum.inner import compiled
from confide.acquisition.optimum.problem import Levels, checked_prices, levels
from confide.acquisition.optimum.solver import Solution
from confide.contract.checks import non_negative, positive, whole
from confide.contract.errors import InvalidInput, SolverFailed
from confide.contract.remedies import printed
from confide.contract.renamed import renamed

__all__ = [
    "Best",
    "CappedSolution",
    "Crowd",
    "Group",
    "best_of_all",
    "best_weights",
    "capped_spreads",
    "crowd_at",
    "group_at",
    "solve_capped",
    "weights_at",
]

# ---- inner

Floats = NDArray[np.float64]

STEPS = 200
LEAST = 2.0**-60
"""Lower bound of the coefficient a = g + r (1 - psi) as a multiple of r. Where g = 0, users with virtual cost psi = 1
would have a = 0. Users with psi = 1 are all alike and share weight equally.
"""
LAST_DIGITS = 2.0**-52
APART = 1e-9
"""Relative tolerance of the conditions sum w = 1 and p = r B, where the weights jump between two neighbouring doubles.
"""

CANCELS = 2.0**8
"""Largest ratio of the sum of absolute terms to the value. A larger ratio means that the computed value has lost
digits, because the anchor is far from the place where weights reach 0.
"""


class Crowd(NamedTuple):
    """All users present, in the order of virtual costs, with running sums over them at one value of r = 1/S.

    Args:
        r: inverse 1/S of the noise spread.
        g: price of variance.
        cap: the largest weight.
        room: inverse of the largest weight, 1/cap; a whole number where the cap is the inverse of a whole number.
        anchor: ease from which the eases t are measured.
        offset: (n,) eases t from the anchor, falling.
        price: (n,) coefficients a of the squared weights.
        zeroth: (n + 1,) sums of 1/a over the first 0..n users, less the sum over the first `centre` users.
        offsets: (n + 1,) sums of t/a over the first 0..n users, less the sum over the first `centre` users.
        squares: (n + 1,) sums of t^2/a over the first 0..n users, less the sum over the first `centre` users.
        all_offsets: (n + 1,) sums of t over the first 0..n users, less the sum over the first `centre` users.
        all_prices: (n + 1,) sums of a over the first 0..n users, less the sum over the first `centre` users.
    """

    r: float
    g: float
    cap: float
    room: float
    anchor: float
    offset: Floats
    price: Floats
    zeroth: Floats
    offsets: Floats
    squares: Floats
    all_offsets: Floats
    all_prices: Floats


class Group(NamedTuple):
    """Users with the largest weight (capped) and users with a weight between 0 and the cap (free), at one level m and
    pull p, with sums over both groups.

    Args:
        first: number of capped users at the beginning of the order.
        end: place where the free users end. The free users begin at `first`.
        last: place from which on all users are capped.
        capped: number of all capped users.
        zeroth: sum of 1/a over the free users.
        offsets: sum of t/a over the free users.
        squares: sum of t^2/a over the free users.
        capped_offsets: sum of t over the capped users.
        capped_prices: sum of a over the capped users.
    """

    first: int
    end: int
    last: int
    capped: int
    zeroth: float
    offsets: float
    squares: float
    capped_offsets: float
    capped_prices: float


class Best(NamedTuple):
    """The best weights at one value of r = 1/S.

    Args:
        level: level m of the optimum.
        pull: pull p of the optimum.
        value: the value V(r).
        own: weight of the user who was added in `best_weights`.
        first: number of capped users at the beginning of the order.
        settled: whether the weights sum to 1, p equals r B, and the value has lost no digits. If `settled` is false,
            the anchor must be moved.
    """

    level: float
    pull: float
    value: float
    own: float
    first: int
    settled: bool


@compiled
def crowd_at(ease: Floats, gain: Floats, g: float, r: float, room: float, anchor: float, centre: int) -> Crowd:
    """Running sums over all users at one value of r = 1/S.

    Args:
        ease: (n,) eases h = 1 - b, falling.
        gain: (n,) numbers 1 - psi.
        g: price of variance, >= 0.
        r: inverse 1/S of the noise spread, > 0.
        room: inverse of the largest weight, 1/cap.
        anchor: ease from which eases are measured.
        centre: number of users at the beginning of the order. Every running sum is reduced by the sum over the first
            `centre` users.
    """
    n = ease.size
    terms, sums = np.empty((5, n)), np.zeros((5, n + 1))
    offset, price = terms[3], terms[4]
    for i in range(n):
        t, a = ease[i] - anchor, max(g + r * gain[i], LEAST * r)
        offset[i], price[i] = t, a
        terms[0, i], terms[1, i], terms[2, i] = 1.0 / a, t / a, t * t / a
    for k in range(5):
        _add_up(terms[k], centre, sums[k])
    return Crowd(r, g, 1.0 / room, room, anchor, offset, price, sums[0], sums[1], sums[2], sums[3], sums[4])


@compiled
def _add_up(terms: Floats, centre: int, total: Floats) -> None:
    """Running sums from the centre in both directions, with compensation of rounding errors."""
    lost = 0.0
    for i in range(centre, terms.size):
        more = terms[i] - lost
        total[i + 1] = total[i] + more
        lost = (total[i + 1] - total[i]) - more
    lost = 0.0
    for i in range(centre, 0, -1):
        more = terms[i - 1] + lost
        total[i - 1] = total[i] - more
        lost = more - (total[i] - total[i - 1])


@compiled
def _over(total: Floats, start: int, end: int, out: int) -> float:
    """The sum of terms over the places start..end, without the user at place `out`."""
    if start <= out < end:
        return float((total[out] - total[start]) + (total[end] - total[out + 1]))
    return float(total[end] - total[start])


@compiled
def group_at(crowd: Crowd, out: int, offset: float, price: float, level: float, pull: float) -> Group:
    """The capped users and the free users at level m and pull p, from the arguments of `best_weights`."""
    t, a, cap, n = crowd.offset, crowd.price, crowd.cap, crowd.offset.size
    start, with_weight = 0, n
    while start < with_weight:
        k = (start + with_weight) // 2
        if level + pull * t[k] > 0.0:
            start = k + 1
        else:
            with_weight = k
    turn = 1.0 - pull / (2.0 * cap * crowd.r) - crowd.anchor  # m + p t - cap a is least there
    start, valley = 0, n
    if n > 0 and t[n - 1] < turn:
        while start < valley:
            k = (start + valley) // 2
            if t[k] > turn:
                start = k + 1
            else:
                valley = k
    start, first = 0, valley
    while start < first:
        k = (start + first) // 2
        if level + pull * t[k] >= cap * a[k]:
            start = k + 1
        else:
            first = k
    start, last = valley, n
    while start < last:
        k = (start + last) // 2
        if level + pull * t[k] >= cap * a[k]:
            last = k
        else:
            start = k + 1
    end = max(first, min(with_weight, last))
    capped = first + n - last - int(out < first) - int(last <= out < n)
    zeroth, offsets = _over(crowd.zeroth, first, end, out), _over(crowd.offsets, first, end, out)
    squares = _over(crowd.squares, first, end, out)
    capped_offsets = _over(crowd.all_offsets, 0, first, out) + _over(crowd.all_offsets, last, n, out)
    capped_prices = _over(crowd.all_prices, 0, first, out) + _over(crowd.all_prices, last, n, out)
    mine = level + pull * offset
    if mine >= cap * price:
        capped, capped_offsets, capped_prices = capped + 1, capped_offsets + offset, capped_prices + price
    elif mine > 0.0:
        zeroth, offsets, squares = zeroth + 1.0 / price, offsets + offset / price, squares + offset * offset / price
    return Group(first, end, last, capped, zeroth, offsets, squares, capped_offsets, capped_prices)


@compiled
def _level(crowd: Crowd, out: int, offset: float, price: float, guess: float, pull: float) -> tuple[float, Group]:
    """The level m at which the weights sum to 1, for a given pull p."""
    cap, room = crowd.cap, crowd.room
    low = -2.0 * (pull + cap * crowd.r)
    high = 2.0 * (pull + cap * (crowd.g + crowd.r))
    level = guess if low < guess < high else 0.0
    group = group_at(crowd, out, offset, price, level, pull)
    for _ in range(STEPS):
        if group.zeroth == 0.0:
            if group.capped == room:
                break
            short, better = group.capped < room, np.inf
        else:
            better = (cap * (room - group.capped) - pull * group.offsets) / group.zeroth
            if abs(better - level) <= LAST_DIGITS * abs(level):
                level = better
                break
            short = better > level
        if short:
            low = level
        else:
            high = level
        if not low < better < high:
            better = 0.5 * (low + high)
            if not low < better < high:
                break
        level = better
        group = group_at(crowd, out, offset, price, level, pull)
    return level, group


@compiled
def best_weights(crowd: Crowd, out: int, offset: float, price: float, level: float, pull: float) -> Best:
    """The optimum with one user taken out and one user added, where at least 1/cap users are present.

    Args:
        crowd: all users present, with their sums.
        out: place of the user who is taken out; n for nobody.
        offset: ease t of the user who is added.
        price: coefficient a of the user who is added; infinite for nobody.
        level: initial guess of the level m.
        pull: initial guess of the pull p.
    """
    r, cap, room = crowd.r, crowd.cap, crowd.room
    low, high = -r, 2.0 * r
    for _ in range(STEPS):
        level, group = _level(crowd, out, offset, price, level, pull)
        mass, sway = cap * (room - group.capped), (1.0 - crowd.anchor) - cap * group.capped_offsets
        if group.zeroth > 0.0:
            centre = group.offsets / group.zeroth
            better = (sway - centre * mass) / (max(group.squares - centre * group.offsets, 0.0) + 1.0 / r)
            further = (mass - better * group.offsets) / group.zeroth
        else:
            better, further = sway * r, level
        if abs(better - pull) <= LAST_DIGITS * r:
            break
        if pull < r * (sway - level * group.offsets - pull * group.squares):
            low = pull
        else:
            high = pull
        if not low < better < high:
            better = 0.5 * (low + high)
            if not low < better < high:
                break
        level, pull = further, max(better, 0.0)
    group = group_at(crowd, out, offset, price, level, pull)
    mass, sway = cap * (room - group.capped), (1.0 - crowd.anchor) - cap * group.capped_offsets
    total = level * group.zeroth + pull * group.offsets
    moved = level * group.offsets + pull * group.squares
    value = (level * (2.0 * mass - total) + pull * (2.0 * sway - moved) - pull * pull / r
             + cap * cap * group.capped_prices)
    settled = abs(total - mass) <= APART and abs(pull - r * (sway - moved)) <= APART * r
    terms = level * level * group.zeroth + 2.0 * abs(level * pull * group.offsets) + pull * pull * group.squares
    settled = settled and terms <= CANCELS * value
    own = 0.0 if np.isinf(price) else min(max((level + pull * offset) / price, 0.0), cap)
    return Best(level, pull, value, own, group.first, settled)


@compiled
def best_at(
    ease: Floats, gain: Floats, g: float, r: float, room: float, anchor: float, centre: int, level: float, pull: float,
) -> Best:
    """The optimum with all users, found by `crowd_at` and `best_weights` in one compiled call."""
    return best_weights(crowd_at(ease, gain, g, r, room, anchor, centre), ease.size, 0.0, np.inf, level, pull)


def best_of_all(crowd: Crowd, level: float, pull: float) -> Best:
    """The optimum with all users, found by `best_weights`."""
    found: Best = best_weights(crowd, crowd.offset.size, 0.0, np.inf, level, pull)
    return found


def weights_at(crowd: Crowd, found: Best) -> NDArray[np.float64]:
    """Weights of all users, shape (n,)."""
    wanted = (found.level + found.pull * crowd.offset) / crowd.price
    return np.clip(wanted, 0.0, crowd.cap)


# ---- solver

WHOLE = 1e-9
"""Relative distance within which 1/cap is rounded to a whole number."""
OVER = 1e-12
"""Largest excess of a virtual cost over 1 that counts as rounding."""
ANCHORS = 6


def capped_spreads(people: int, approximation: float, *, noise_price: float, psi_floor: float = 0.0) -> Floats:
    """The allowed values of the spread S of the noise under a cap on weights, ascending.

    Args:
        people: number of registered users, absentees included.
        approximation: relative excess cost that the grid may cause, in (0, 1].
        noise_price: price kappa > 0 of the noise.
        psi_floor: phi in [0, 1], the least virtual cost. A larger floor needs fewer values of S.

    Example:
        >>> [capped_spreads(10**4, 0.001, noise_price=1.0, psi_floor=floor).size for floor in (0.0, 0.25)]
        [52, 8]
    """
    n = whole("people", people, at_least=1)
    step = 2.0 * math.acosh(1.0 + positive("approximation", approximation, at_most=1.0))
    phi = non_negative("psi_floor", psi_floor, at_most=1.0)
    least = math.sqrt((phi + (1.0 - phi) / n) / positive("noise_price", noise_price))
    count = max(1, math.ceil(math.log(1.0 / (math.sqrt(noise_price) * least)) / step))
    return np.asarray(least * np.exp(step * (np.arange(count) + 0.5)))


@dataclass(frozen=True, eq=False)
class CappedSolution(Solution):
    """A `Solution` under a cap on weights. Where nothing is bought all weights are 0, the value is the cost `outside`
    of buying nothing, and S is nan.

    Attributes:
        bought: whether anything is bought.
    """

    @property
    def bought(self) -> bool:
        return bool(self.winners.size)


@renamed(delta="approximation")
def solve_capped(
    virtual_costs: ArrayLike, *, weight_cap: float, variance_price: float, noise_price: float, approximation: float,
    outside: float = math.inf, psi_floor: float = 0.0,
) -> CappedSolution:
    """The cheapest weights that do not exceed a cap, and the privacy levels under these weights, with the spread S of
    the noise in `capped_spreads`.

    The cost is at most 1 + approximation times the cost at the best S. A problem with n = 10^5 takes a fraction of a
    second.

    Args:
        virtual_costs: (n,) virtual costs psi in [psi_floor, 1]; inf for absentees and for users above the ceiling.
        weight_cap: largest weight, in (0, 1].
        variance_price: price g >= 0 of the records' variance.
        noise_price: price kappa > 0 of the noise.
        approximation: relative excess cost that the grid of S may cause, in (0, 1].
        outside: cost of buying nothing, > 0. If `outside` is infinite, a lack of people is the only reason to buy
            nothing.
        psi_floor: public lower bound of all virtual costs.

    Returns:
        The solution. Nothing is bought where buying nothing is cheaper, and where fewer than 1/weight_cap people have a
        finite virtual cost.

    Raises:
        InvalidInput: a virtual cost that is NaN, below the floor, or finite above 1; a parameter out of range.
        SolverFailed: weights could not be distinguished in doubles.

    Example:
        >>> prices = {"variance_price": 0.1, "noise_price": 1.0, "approximation": 0.001}
        >>> solve_capped([0.1, 0.5, 0.8, 0.9], weight_cap=0.4, **prices).weights.round(3).tolist()
        [0.4, 0.293, 0.194, 0.114]
        >>> solve_capped([0.1, 0.5, 0.8, 0.9], weight_cap=0.4, outside=1.0, **prices).bought
        False
    """
    costs = checked_capped_costs(virtual_costs, psi_floor)
    plan = CapPlan.of(costs.size, weight_cap, variance_price, noise_price, approximation, outside, psi_floor)
    people = Sorted.of(costs)
    if people.position.size < plan.room:
        return _nothing(costs.size, plan.outside, plan.outside, 0)
    nodes = solved_nodes(people, plan)
    best = min(range(len(nodes)), key=lambda k: nodes[k].value)
    node = nodes[best]
    value = node.value * plan.unit
    lower = min(value / (1.0 + approximation) * (1.0 - 1e-14), plan.outside)
    if value > plan.outside:
        return _nothing(costs.size, plan.outside, lower, len(nodes))
    crowd = node.crowd(people, plan)
    weights = np.zeros(costs.size)
    weights[people.position] = weights_at(crowd, best_of_all(crowd, node.best.level, node.best.pull))
    return CappedSolution(value, weights, levels(weights, costs, float(plan.spreads[best])), lower, len(nodes))


def _nothing(people: int, value: float, lower: float, evaluations: int) -> CappedSolution:
    none = np.zeros(people)
    return CappedSolution(value, none, Levels(math.nan, none, none, none), lower, evaluations)


def checked_capped_costs(virtual_costs: ArrayLike, psi_floor: float, field: str = "virtual_costs") -> Floats:
    """Virtual costs as an array. A finite cost that exceeds 1 by rounding becomes 1.

    Raises:
        InvalidInput: the costs are not numbers, or a cost is NaN, below the floor, or finite above 1.
    """
    floor = non_negative("psi_floor", psi_floor, at_most=1.0)
    try:
        costs = np.asarray(virtual_costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(field, "are not numbers") from None
    if not costs.size or (field == "virtual_costs" and costs.ndim != 1):
        raise InvalidInput(field, f"shape {costs.shape}", "must be one number for each user, and at least one")
    if not np.all((costs >= floor) & ((costs <= 1.0 + OVER) | np.isinf(costs))):
        raise InvalidInput(field, "an entry is out of range",
                           f"must be in [{printed(floor)}, 1], or inf for people above the ceiling")
    return np.where(np.isinf(costs), costs, np.minimum(costs, 1.0))


class CapPlan(NamedTuple):
    """The public parameters of a capped problem, in units where kappa = 1.

    Args:
        g: price of variance.
        room: inverse of the largest weight, 1/weight_cap.
        spreads: allowed values of S, in the caller's units.
        rates: values of r = 1/S for the allowed spreads S, in units where kappa = 1.
        outside: cost of buying nothing, in the caller's units.
        unit: sqrt(kappa), the factor from costs in the plan's units to costs in the caller's units.
    """

    g: float
    room: float
    spreads: Floats
    rates: list[float]
    outside: float
    unit: float

    @classmethod
    def of(cls, people: int, weight_cap: float, variance_price: float, noise_price: float, approximation: float,
           outside: float, psi_floor: float) -> CapPlan:
        """Check the parameters and build the plan."""
        g, kappa = checked_prices(variance_price, noise_price)
        room = 1.0 / positive("weight_cap", weight_cap, at_most=1.0)
        if abs(room - np.rint(room)) <= WHOLE * room:
            room = float(np.rint(room))
        if outside != math.inf:
            positive("outside", outside)
        spreads, unit = capped_spreads(people, approximation, noise_price=kappa, psi_floor=psi_floor), math.sqrt(kappa)
        return cls(g / unit, room, spreads, (1.0 / (unit * spreads)).tolist(), float(outside), unit)


class Sorted(NamedTuple):
    """All users with a finite virtual cost, in the order of (psi, position).

    Args:
        position: (k,) position of each user among all users.
        ease: (k,) eases 1 - sqrt(psi).
        gain: (k,) numbers 1 - psi.
    """

    position: NDArray[np.int64]
    ease: Floats
    gain: Floats

    @classmethod
    def of(cls, costs: Floats) -> Sorted:
        """Sort the users with a finite virtual cost."""
        here = np.flatnonzero(np.isfinite(costs))
        here = here[np.argsort(costs[here], kind="stable")]
        gain = 1.0 - costs[here]
        return cls(here, ease_of(costs[here]), gain)


def ease_of(costs: Floats) -> Floats:
    """The ease 1 - sqrt(psi), computed without cancellation."""
    return np.asarray((1.0 - costs) / (1.0 + np.sqrt(costs)))


class Node(NamedTuple):
    """The optimum at one value of r.

    Args:
        rate: value of r = 1/S.
        anchor: ease at which weights reach 0.
        centre: number of capped users.
        best: the best weights with all users present.
        value: cost 1/r + V(r).
    """

    rate: float
    anchor: float
    centre: int
    best: Best
    value: float

    def crowd(self, people: Sorted, plan: CapPlan) -> Crowd:
        """Running sums over the users at the node's r."""
        return crowd_at(people.ease, people.gain, plan.g, self.rate, plan.room, self.anchor, self.centre)


def solved_nodes(people: Sorted, plan: CapPlan) -> list[Node]:
    """The optimum at every value of r = 1/S of the plan, where at least 1/cap people are present.

    The search at each value of r starts with the anchor from the previous value of r, and is repeated with the anchor
    that it finds.
    """
    last = float(people.ease[-1])
    anchor, centre = float(people.ease[math.ceil(plan.room) - 1]), 0
    level, pull = 0.0, plan.rates[0] / 2.0
    nodes = []
    for rate in plan.rates:
        for turn in range(ANCHORS):
            at = anchor, centre
            found: Best = best_at(people.ease, people.gain, plan.g, rate, plan.room, anchor, centre, level, pull)
            anchor = max(anchor - found.level / found.pull, last) if found.pull > 0.0 else last
            level, pull, centre = found.level + found.pull * (anchor - at[0]), found.pull, found.first
            if turn and found.settled:
                break
        if not found.settled:
            raise SolverFailed("solve_capped", "the solver cannot distinguish the weights; a larger variance_price can "
                                               "help")
        nodes.append(Node(rate, *at, found, 1.0 / rate + found.value))
    return nodes
