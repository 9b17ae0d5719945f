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
taken out, and one put in: she stands beside the others' sums.

The value is the dual's,

    2 m (1 - capped weights) + 2 p (1 - anchor - capped sum of t w) - p^2/r - sum over free of (m + p t)^2/a
    + cap^2 sum over capped of a,

which bounds V(r) from below at any (m, p), so that an error of these counts only by its square. Sums lose no digits
where the anchor is where weights end, and the centre, from which they count, where the capped end.

Source: confide.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from confide.acquisition.optimum.inner import compiled

__all__ = ["Best", "Crowd", "Group", "best_of_all", "best_weights", "crowd_at", "group_at", "weights_at"]

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
        lean: (n,) t, falling.
        price: (n,) a.
        zeroth: (n + 1,) sums of 1/a over the first 0..n, less that over the first `centre`.
        leans: of t/a.
        squares: of t^2/a.
        all_leans: of t.
        all_prices: of a.
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
    """Who is capped and who is free at one (m, p), with their sums.

    Args:
        first: so many of the first are capped.
        end: those between these and this place are free.
        last: from this place on all are capped.
        capped: how many are, in all.
        zeroth: sum of 1/a over the free.
        leans: of t/a.
        squares: of t^2/a.
        capped_leans: sum of t over the capped.
        capped_prices: of a.
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
        own: the weight of who was put in.
        first: so many of the first are capped.
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
    """Who is capped and who free at (m, p); the arguments are those of `best_weights`."""
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
        out: the place of who is taken out; n for nobody.
        lean: t of who is put in.
        price: her a; infinite for nobody.
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
    """(n,) everybody's weights."""
    wanted = (found.level + found.pull * crowd.lean) / crowd.price
    return np.clip(wanted, 0.0, crowd.cap)
