"""The best weights at a fixed r = 1/S where no weight may exceed a cap and no virtual cost exceeds 1.

    V(r) = min over weights in [0, cap] that sum to 1 of g sum w^2 + r Q(w) = sum a w^2 + r B^2,
    a = g + r (1 - psi) >= 0,  B = sum b w,  b = sqrt(psi),

a convex problem. With the ease h = 1 - b, measured from an anchor (t = h - anchor), its optimum has

    w = clip((m + p t)/a, 0, cap),   sum w = 1,   p = r B,

for a level m and a pull p. At a given p the weights' sum rises in m, which gives m(p); and p - r B falls short of 0
below the right p and exceeds it above, since B falls in p. Both roots are found by Newton's method between two bounds:
everything is piecewise linear, so that the right pieces give the root exactly.

At any (m, p) whoever has no weight comes last in the order of psi, and whoever is capped is one of the first or (only
away from the optimum, where p < 2 r cap) one of the last, since (m + p t) - cap a is convex in h. So all sums over the
free and the capped are differences of sums over the first 0, 1, 2, ..., and one solve costs O(log n). One user may be
taken out, and one put in: that user stands beside the others' sums.

The value is the dual's,

    2 m (1 - capped weights) + 2 p (1 - anchor - capped sum of t w) - p^2/r - sum over free of (m + p t)^2/a
    + cap^2 sum over capped of a,

which bounds V(r) from below at any (m, p), so that an error of these counts only by its square. Sums lose no digits
where the anchor is where weights end, and the centre, from which they count, where the capped end.

Source: confide.

The cheapest weights and noise where no person may have more than a capped weight, on a fixed grid of S.

A single seller gives sqrt(kappa) to the platform, and a campaign must be charged for the worst that any reports can
lead to, though a typical contract loses far less. So the set that is optimised over is made smaller, in a way that no
report changes:

* people whose virtual cost exceeds a public ceiling, at most 1, are never bought from: psi = inf there, which keeps a
  virtual cost monotone;
* no weight exceeds `weight_cap`, so that 1/weight_cap people at least must take part;
* S is one of `capped_spreads`;
* nothing is bought where that is cheaper, at the fixed cost `outside`.

Everybody's difference of levels still falls in their own virtual cost, and payments by differences of these values make
truth best. Rents run up to the ceiling and no further: beyond it a person sells nothing, while the value jumps to that
without them.

With all psi in [phi, 1] every w has phi + (1 - phi)/n <= Q(w) <= 1, since Q rises in every psi and is 1 where all are
1. So the best S of any weights, sqrt(Q/kappa), lies between the ends of the grid: fact 5 of the spec without its g.

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
"""a is at least r times this: where g = 0, people with psi = 1 are told apart by nothing and share alike."""
LAST_DIGITS = 2.0**-52
APART = 1e-9
"""By how much sum w = 1 and p = r B may fail, relatively, where weights jump between two doubles."""

CANCELS = 2.0**8
"""So many times the value its terms may be: more lose digits, as where the anchor is far from where weights end."""


class Crowd(NamedTuple):
    """Everybody present, at one r, in the order of virtual costs.

    Args:
        r: 1/S.
        g: price of variance.
        cap: the largest weight.
        room: 1/cap; whole where the cap is one over a whole number.
        anchor: where eases are measured from.
        `lean`: (n,) t, falling.
        price: (n,) a.
        zeroth: (n + 1,) sums of 1/a over the first 0..n, less that over the first `centre`.
        `leans`: (n + 1,) the same of t/a.
        squares: (n + 1,) the same of t^2/a.
        all_leans: (n + 1,) the same of t.
        all_prices: (n + 1,) the same of a.
    """

    r: float
    g: float
    cap: float
    room: float
    anchor: float
    lean: Floats
    price: Floats
    zeroth: Floats
    leans: Floats
    squares: Floats
    all_leans: Floats
    all_prices: Floats


class Group(NamedTuple):
    """The capped and the free at one (m, p), with their sums.

    Args:
        first: number of the first who are capped.
        end: end of the free, who begin at `first`.
        last: from this place on all are capped.
        capped: number of the capped, in all.
        zeroth: sum of 1/a over the free.
        `leans`: sum of t/a over the free.
        squares: sum of t^2/a over the free.
        capped_leans: sum of t over the capped.
        capped_prices: sum of a over the capped.
    """

    first: int
    end: int
    last: int
    capped: int
    zeroth: float
    leans: float
    squares: float
    capped_leans: float
    capped_prices: float


class Best(NamedTuple):
    """The optimum.

    Args:
        level: m.
        pull: p.
        value: V(r).
        own: weight of the user who was put in.
        first: number of the first who are capped.
        settled: the weights' sum is 1, p is r B, and the value has its digits; else the anchor must be moved.
    """

    level: float
    pull: float
    value: float
    own: float
    first: int
    settled: bool


@compiled
def crowd_at(ease: Floats, gain: Floats, g: float, r: float, room: float, anchor: float, centre: int) -> Crowd:
    """Sums over everybody.

    Args:
        ease: (n,) h = 1 - b, falling.
        gain: (n,) 1 - psi.
        g: >= 0.
        r: > 0.
        room: 1/cap.
        anchor: see the module.
        centre: see `Crowd`.
    """
    n = ease.size
    terms, sums = np.empty((5, n)), np.zeros((5, n + 1))
    lean, price = terms[3], terms[4]
    for i in range(n):
        t, a = ease[i] - anchor, max(g + r * gain[i], LEAST * r)
        lean[i], price[i] = t, a
        terms[0, i], terms[1, i], terms[2, i] = 1.0 / a, t / a, t * t / a
    for k in range(5):
        _add_up(terms[k], centre, sums[k])
    return Crowd(r, g, 1.0 / room, room, anchor, lean, price, sums[0], sums[1], sums[2], sums[3], sums[4])


@compiled
def _add_up(terms: Floats, centre: int, total: Floats) -> None:
    """Sums from the centre on both sides, with what rounding loses carried along."""
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
    """The sum over places start..end, but for who is out."""
    if start <= out < end:
        return float((total[out] - total[start]) + (total[end] - total[out + 1]))
    return float(total[end] - total[start])


@compiled
def group_at(crowd: Crowd, out: int, lean: float, price: float, level: float, pull: float) -> Group:
    """The capped and the free at (m, p); the arguments are those of `best_weights`."""
    t, a, cap, n = crowd.lean, crowd.price, crowd.cap, crowd.lean.size
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
    zeroth, leans = _over(crowd.zeroth, first, end, out), _over(crowd.leans, first, end, out)
    squares = _over(crowd.squares, first, end, out)
    capped_leans = _over(crowd.all_leans, 0, first, out) + _over(crowd.all_leans, last, n, out)
    capped_prices = _over(crowd.all_prices, 0, first, out) + _over(crowd.all_prices, last, n, out)
    mine = level + pull * lean
    if mine >= cap * price:
        capped, capped_leans, capped_prices = capped + 1, capped_leans + lean, capped_prices + price
    elif mine > 0.0:
        zeroth, leans, squares = zeroth + 1.0 / price, leans + lean / price, squares + lean * lean / price
    return Group(first, end, last, capped, zeroth, leans, squares, capped_leans, capped_prices)


@compiled
def _level(crowd: Crowd, out: int, lean: float, price: float, guess: float, pull: float) -> tuple[float, Group]:
    """Where the weights' sum is 1 at this pull."""
    cap, room = crowd.cap, crowd.room
    low = -2.0 * (pull + cap * crowd.r)
    high = 2.0 * (pull + cap * (crowd.g + crowd.r))
    level = guess if low < guess < high else 0.0
    group = group_at(crowd, out, lean, price, level, pull)
    for _ in range(STEPS):
        if group.zeroth == 0.0:
            if group.capped == room:
                break
            short, better = group.capped < room, np.inf
        else:
            better = (cap * (room - group.capped) - pull * group.leans) / group.zeroth
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
        group = group_at(crowd, out, lean, price, level, pull)
    return level, group


@compiled
def best_weights(crowd: Crowd, out: int, lean: float, price: float, level: float, pull: float) -> Best:
    """The optimum with one user taken out and one put in, 1/cap of them at least being there.

    Args:
        crowd: everybody.
        out: place of the user who is taken out; n for nobody.
        lean: t of the user who is put in.
        price: a of that user; infinite for nobody.
        level: a guess of m.
        pull: a guess of p.
    """
    r, cap, room = crowd.r, crowd.cap, crowd.room
    low, high = -r, 2.0 * r
    for _ in range(STEPS):
        level, group = _level(crowd, out, lean, price, level, pull)
        mass, sway = cap * (room - group.capped), (1.0 - crowd.anchor) - cap * group.capped_leans
        if group.zeroth > 0.0:
            centre = group.leans / group.zeroth
            better = (sway - centre * mass) / (max(group.squares - centre * group.leans, 0.0) + 1.0 / r)
            further = (mass - better * group.leans) / group.zeroth
        else:
            better, further = sway * r, level
        if abs(better - pull) <= LAST_DIGITS * r:
            break
        if pull < r * (sway - level * group.leans - pull * group.squares):
            low = pull
        else:
            high = pull
        if not low < better < high:
            better = 0.5 * (low + high)
            if not low < better < high:
                break
        level, pull = further, max(better, 0.0)
    group = group_at(crowd, out, lean, price, level, pull)
    mass, sway = cap * (room - group.capped), (1.0 - crowd.anchor) - cap * group.capped_leans
    total = level * group.zeroth + pull * group.leans
    moved = level * group.leans + pull * group.squares
    value = (level * (2.0 * mass - total) + pull * (2.0 * sway - moved) - pull * pull / r
             + cap * cap * group.capped_prices)
    settled = abs(total - mass) <= APART and abs(pull - r * (sway - moved)) <= APART * r
    terms = level * level * group.zeroth + 2.0 * abs(level * pull * group.leans) + pull * pull * group.squares
    settled = settled and terms <= CANCELS * value
    own = 0.0 if np.isinf(price) else min(max((level + pull * lean) / price, 0.0), cap)
    return Best(level, pull, value, own, group.first, settled)


@compiled
def best_at(
    ease: Floats, gain: Floats, g: float, r: float, room: float, anchor: float, centre: int, level: float, pull: float,
) -> Best:
    """The optimum of everybody there, as `crowd_at` and `best_weights` find it; the sums never leave machine code."""
    return best_weights(crowd_at(ease, gain, g, r, room, anchor, centre), ease.size, 0.0, np.inf, level, pull)


def best_of_all(crowd: Crowd, level: float, pull: float) -> Best:
    """The optimum of everybody, as `best_weights`."""
    found: Best = best_weights(crowd, crowd.lean.size, 0.0, np.inf, level, pull)
    return found


def weights_at(crowd: Crowd, found: Best) -> NDArray[np.float64]:
    """Everybody's weights, (n,)."""
    wanted = (found.level + found.pull * crowd.lean) / crowd.price
    return np.clip(wanted, 0.0, crowd.cap)


# ---- solver

WHOLE = 1e-9
"""A cap that is so close to one over a whole number is taken as that."""
OVER = 1e-12
"""A virtual cost may exceed the ceiling by rounding."""
ANCHORS = 6


def capped_spreads(people: int, approximation: float, *, noise_price: float, psi_floor: float = 0.0) -> Floats:
    """The allowed values of S, ascending.

    Args:
        people: registered users, absentees included.
        approximation: in (0, 1].
        noise_price: kappa > 0.
        psi_floor: phi in [0, 1], the least virtual cost; the larger, the fewer values.

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
    """A `Solution` under a cap: where nothing is bought all weights are 0, the value is that of the outside option, and
    S is nan.

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
    """The cheapest weights that do not exceed a cap, and their levels, with S in `capped_spreads`.

    The cost is at most 1 + approximation times that under the best S. n = 10^5 takes a fraction of a second.

    Args:
        virtual_costs: (n,) psi in [psi_floor, 1]; inf for absentees and whoever is above the ceiling.
        weight_cap: in (0, 1].
        variance_price: g >= 0.
        noise_price: kappa > 0.
        approximation: in (0, 1].
        outside: cost of buying nothing, > 0; infinite where that is no option but for want of people.
        psi_floor: public lower bound of all virtual costs.

    Returns:
        Nothing bought where that is cheaper, and where fewer than 1/weight_cap people have a finite virtual cost.

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
    """Virtual costs as an array, rounding above 1 taken off.

    Raises:
        InvalidInput: they are not numbers, or one is NaN, below the floor, or finite above 1.
    """
    floor = non_negative("psi_floor", psi_floor, at_most=1.0)
    try:
        costs = np.asarray(virtual_costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(field, "they are not numbers") from None
    if not costs.size or (field == "virtual_costs" and costs.ndim != 1):
        raise InvalidInput(field, f"shape {costs.shape}", "one number for each of at least one user")
    if not np.all((costs >= floor) & ((costs <= 1.0 + OVER) | np.isinf(costs))):
        raise InvalidInput(field, "one is out of range",
                           f"must be in [{printed(floor)}, 1], or inf for people above the ceiling")
    return np.where(np.isinf(costs), costs, np.minimum(costs, 1.0))


class CapPlan(NamedTuple):
    """The public numbers, in units where kappa = 1.

    Args:
        g: price of variance.
        room: 1/weight_cap.
        spreads: allowed values of S, in the caller's units.
        rates: their r.
        outside: cost of buying nothing, in the caller's units.
        unit: sqrt(kappa), by which costs here are multiplied.
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
        """Checked."""
        g, kappa = checked_prices(variance_price, noise_price)
        room = 1.0 / positive("weight_cap", weight_cap, at_most=1.0)
        if abs(room - np.rint(room)) <= WHOLE * room:
            room = float(np.rint(room))
        if outside != math.inf:
            positive("outside", outside)
        spreads, unit = capped_spreads(people, approximation, noise_price=kappa, psi_floor=psi_floor), math.sqrt(kappa)
        return cls(g / unit, room, spreads, (1.0 / (unit * spreads)).tolist(), float(outside), unit)


class Sorted(NamedTuple):
    """Everybody with a finite virtual cost, in the order of (psi, position).

    Args:
        position: (k,) among all users.
        ease: (k,) 1 - sqrt(psi).
        gain: (k,) 1 - psi.
    """

    position: NDArray[np.int64]
    ease: Floats
    gain: Floats

    @classmethod
    def of(cls, costs: Floats) -> Sorted:
        """Sorted."""
        here = np.flatnonzero(np.isfinite(costs))
        here = here[np.argsort(costs[here], kind="stable")]
        gain = 1.0 - costs[here]
        return cls(here, ease_of(costs[here]), gain)


def ease_of(costs: Floats) -> Floats:
    """The ease 1 - sqrt(psi), without cancellation."""
    return np.asarray((1.0 - costs) / (1.0 + np.sqrt(costs)))


class Node(NamedTuple):
    """The optimum at one r.

    Args:
        rate: r.
        anchor: where weights end.
        centre: how many are capped.
        best: with everybody there.
        value: 1/r + V(r).
    """

    rate: float
    anchor: float
    centre: int
    best: Best
    value: float

    def crowd(self, people: Sorted, plan: CapPlan) -> Crowd:
        """The sums there."""
        return crowd_at(people.ease, people.gain, plan.g, self.rate, plan.room, self.anchor, self.centre)


def solved_nodes(people: Sorted, plan: CapPlan) -> list[Node]:
    """The optimum at every r, for 1/cap people at least.

    Each is looked for from where weights end at the r before it, and then from where they end here.
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
            raise SolverFailed("solve_capped", "weights cannot be told apart; a larger variance_price can help")
        nodes.append(Node(rate, *at, found, 1.0 / rate + found.value))
    return nodes
