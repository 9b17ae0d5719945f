"""The best weights at a fixed r = 1/S, with one user's virtual cost replaced (an exchange). S = sum w^2/y is the spread
of the noise under weights w and local losses y. The weights follow in O(log n) from sums over all users.

At one value of r, the module keeps sums over the first 0, 1, 2, ... users: of 1/a, b/a and b^2/a, and of 1/a^2, b/a^2
and b^2/a^2. In these sums g is the price of variance, psi is a user's virtual cost, b = sqrt(psi) and a = g + r (1 -
psi). An exchange takes a user out of the sums and puts the user back with another virtual cost, which changes each sum
by two terms. The threshold theta on b is found by bisection, and from theta follow V = theta/sum (theta - b)/a, sum w^2
and Q = (V - g sum w^2)/r. All sums have twice the digits of a double, so that no digits are lost where one user's term
is nearly the whole sum.

Source: spec two_part_acquisition section 9.

The module represents a number with twice the digits of a double as two doubles (high, low): a value and its rounding
error.

If one user is taken out of a sum over many users, a double would lose most digits of the rest. Two doubles represent
about 32 digits.

Source: Dekker (1971); Knuth, The Art of Computer Programming 2, 4.2.2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from confide.acquisition.optimum.inner import Floats, compiled, farthest, pairs
from confide.acquisition.optimum.solver import minimise

__all__ = ["Sums", "add", "divide", "exchanged", "multiply", "product", "scale", "searched", "subtract", "sums_at"]

# ---- twice

SPLIT = 134217729.0
"""The number 2^27 + 1, which splits a double into two halves whose products are exact."""

Twice = tuple[float, float]


@compiled
def product(a: float, b: float) -> Twice:
    """The exact product of two doubles."""
    found = a * b
    part = SPLIT * a
    a_high = part - (part - a)
    a_low = a - a_high
    part = SPLIT * b
    b_high = part - (part - b)
    b_low = b - b_high
    return found, ((a_high * b_high - found) + a_high * b_low + a_low * b_high) + a_low * b_low


@compiled
def add(a: Twice, b: Twice) -> Twice:
    """The sum a + b."""
    high = a[0] + b[0]
    taken = high - a[0]
    low = ((a[0] - (high - taken)) + (b[0] - taken)) + (a[1] + b[1])
    found = high + low
    return found, low - (found - high)


@compiled
def subtract(a: Twice, b: Twice) -> Twice:
    """The difference a - b."""
    return add(a, (-b[0], -b[1]))


@compiled
def scale(a: Twice, factor: float) -> Twice:
    """The product of a and a double."""
    high, low = product(a[0], factor)
    low += a[1] * factor
    found = high + low
    return found, low - (found - high)


@compiled
def multiply(a: Twice, b: Twice) -> Twice:
    """The product a b."""
    high, low = product(a[0], b[0])
    low += a[0] * b[1] + a[1] * b[0]
    found = high + low
    return found, low - (found - high)


@compiled
def divide(a: Twice, b: Twice) -> Twice:
    """The quotient a/b."""
    first = a[0] / b[0]
    rest = subtract(a, scale(b, first))
    second = rest[0] / b[0]
    rest = subtract(rest, scale(b, second))
    third = rest[0] / b[0]
    return add((first, 0.0), add((second, 0.0), (third, 0.0)))


# ---- exchange

Integers = NDArray[np.int64]
SPARE = 4
"""Number of users beyond the threshold that are summed as well, because an exchange can shift the threshold."""


class Sums(NamedTuple):
    """Sums over the first users at one value of r = 1/S.

    Args:
        r: inverse 1/S of the noise spread.
        rows: (k + 1, 12) sums over the first 0..k users of 1/a, b/a, b^2/a, and then of 1/a^2, b/a^2, b^2/a^2; high and
            low digits in turn.
        positive: whether the k users are all users with a > 0. If `positive` is false, no user after the k users has
            weight.
    """

    r: float
    rows: Floats
    positive: bool


@compiled
def _price(psi: float, g: float, r: float) -> tuple[float, float]:
    """The coefficient a = g + r (1 - psi) of a user."""
    return subtract(add((g, 0.0), (r, 0.0)), product(r, psi))


@compiled
def _terms(psi: float, b: float, g: float, r: float, out: Floats) -> None:
    """Terms of one user in the sums, written to `out`."""
    q = divide((1.0, 0.0), _price(psi, g, r))
    first = scale(q, b)
    second = scale(first, b)
    out[0], out[1] = q
    out[2], out[3] = first
    out[4], out[5] = second
    out[6], out[7] = multiply(q, q)
    out[8], out[9] = multiply(first, q)
    out[10], out[11] = multiply(first, first)


@compiled
def sums_at(psi: Floats, b: Floats, g: float, r: float) -> Sums:
    """The sums over the users who can have weight at r = 1/S after any single user leaves.

    Args:
        psi: (n,) virtual costs, sorted.
        b: (n,) square roots of psi.
        g: price of variance, >= 0.
        r: inverse 1/S of the noise spread, > 0.
    """
    reached = farthest(psi, b, g, r)
    count = 0
    while count < min(reached + SPARE, psi.size) and g + r * (1.0 - psi[count]) > 0.0:
        count += 1
    positive = count == psi.size or not g + r * (1.0 - psi[count]) > 0.0
    rows = np.zeros((count + 1, 12))
    term = np.empty(12)
    for i in range(count):
        _terms(psi[i], b[i], g, r, term)
        for j in range(0, 12, 2):
            rows[i + 1, j], rows[i + 1, j + 1] = add((rows[i, j], rows[i, j + 1]), (term[j], term[j + 1]))
    return Sums(r, rows, positive)


@compiled
def _sum(rows: Floats, less: Floats, more: Floats, person: int, place: int, count: int, j: int) -> tuple[float, float]:
    """One of the running sums over the first `count` users, in the order after the exchange."""
    own = place < count
    others = count - 1 if own else count
    length = others + 1 if others > person else others
    found = (rows[length, j], rows[length, j + 1])
    if person < length:
        found = subtract(found, (less[j], less[j + 1]))
    if own:
        found = add(found, (more[j], more[j + 1]))
    return found


@compiled
def _at(values: Floats, person: int, place: int, own: float, k: int) -> float:
    """The entry of `values` for the k-th user in the order after the exchange."""
    if k == place:
        return own
    other = k if k < place else k - 1
    return float(values[other + 1 if other >= person else other])


@compiled
def _excess(b: float, first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    """The number T of a user: the sum of b_i (b - b_i)/a_i over the users before that user."""
    return subtract(scale(first, b), second)


@compiled
def _stops(
    rows: Floats, less: Floats, more: Floats, b: Floats, person: int, place: int, own: float, r: float, count: int
) -> bool:
    """Whether the user after the first `count` users has no weight."""
    first = _sum(rows, less, more, person, place, count, 2)
    second = _sum(rows, less, more, person, place, count, 4)
    return r * _excess(_at(b, person, place, own, count), first, second)[0] >= 1.0


@compiled
def _threshold(
    rows: Floats, less: Floats, more: Floats, b: Floats, person: int, place: int, own: float, r: float,
    positive: int, guess: int,
) -> int:
    """Number of users with weight, who are the first users in the order of virtual costs. The search for the number of
    users with weight moves away from an initial guess in doubling steps and then bisects.
    """
    if positive == 1:
        return 1
    low, high, step = 0, positive, 1
    guess = min(max(guess, 1), positive - 1)
    if _stops(rows, less, more, b, person, place, own, r, guess):
        high = guess
        while high - step > 0 and _stops(rows, less, more, b, person, place, own, r, high - step):
            high, step = high - step, 2 * step
        low = max(high - step, 0)
    else:
        low = guess
        while low + step < positive and not _stops(rows, less, more, b, person, place, own, r, low + step):
            low, step = low + step, 2 * step
        high = min(low + step, positive)
    while high - low > 1:
        middle = (low + high) // 2
        if _stops(rows, less, more, b, person, place, own, r, middle):
            high = middle
        else:
            low = middle
    return high


@compiled
def _squares(
    rows: Floats, less: Floats, more: Floats, person: int, place: int, count: int, theta: tuple[float, float]
) -> tuple[float, float]:
    """The sum of squared unnormalised weights u = (theta - b)/a over the first `count` users."""
    linear = scale(_sum(rows, less, more, person, place, count, 8), 2.0)
    found = subtract(multiply(theta, _sum(rows, less, more, person, place, count, 6)), linear)
    return add(multiply(theta, found), _sum(rows, less, more, person, place, count, 10))


class _Point(NamedTuple):
    """Unnormalised weights u at one value of r = 1/S. The weights are w = u/amount.

    Args:
        theta: threshold; the value is theta/amount.
        amount: the sum of u; 0 if there is no stationary point.
        squares: the sum of u^2.
        mine: u of the exchanged user.
        free: whether all users with weight have psi = 0.
    """

    theta: tuple[float, float]
    amount: tuple[float, float]
    squares: tuple[float, float]
    mine: tuple[float, float]
    free: bool


@compiled
def _convex(
    rows: Floats, less: Floats, more: Floats, person: int, place: int, own: float, r: float, count: int
) -> _Point:
    """The optimum with weight on the first `count` users, who all have a > 0."""
    zeroth = _sum(rows, less, more, person, place, count, 0)
    first = _sum(rows, less, more, person, place, count, 2)
    second = _sum(rows, less, more, person, place, count, 4)
    mine = (0.0, 0.0)
    if first[0] == 0.0:  # everybody with weight has psi = 0
        if place < count:
            mine = (more[0], more[1])
        return _Point((1.0, 0.0), zeroth, _sum(rows, less, more, person, place, count, 6), mine, True)
    theta = divide(add(divide((1.0, 0.0), (r, 0.0)), second), first)
    if place < count:
        mine = multiply(subtract(theta, (own, 0.0)), (more[0], more[1]))
    amount = subtract(multiply(theta, zeroth), first)
    return _Point(theta, amount, _squares(rows, less, more, person, place, count, theta), mine, False)


@compiled
def _beyond(
    rows: Floats, less: Floats, more: Floats, b: Floats, person: int, place: int, own: float, r: float,
    price: tuple[float, float], count: int,
) -> _Point:
    """The stationary point with weight on one more user, who has coefficient a = `price` <= 0."""
    nothing = _Point((1.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), False)
    last = _at(b, person, place, own, count)
    zeroth = _sum(rows, less, more, person, place, count, 0)
    first = _sum(rows, less, more, person, place, count, 2)
    second = _sum(rows, less, more, person, place, count, 4)
    below = add((last, 0.0), multiply(price, first))
    if below[0] == 0.0:
        return nothing
    u = divide(subtract(divide((1.0, 0.0), (r, 0.0)), _excess(last, first, second)), below)
    theta = add((last, 0.0), multiply(price, u))
    if not (u[0] >= 0.0 and theta[0] >= _at(b, person, place, own, count - 1)):
        return nothing
    mine = (0.0, 0.0)
    if place < count:
        mine = multiply(subtract(theta, (own, 0.0)), (more[0], more[1]))
    elif place == count:
        mine = u
    squares = add(_squares(rows, less, more, person, place, count, theta), multiply(u, u))
    return _Point(theta, add(subtract(multiply(theta, zeroth), first), u), squares, mine, False)


@compiled
def exchanged(
    psi: Floats, b: Floats, g: float, sums: Sums, persons: Integers, costs: Floats, places: Integers, out: Floats
) -> None:
    """The value V(r), the slope Q of V, and the exchanged user's local level less their central level, for each of some
    exchanges of a user's virtual cost.

    Args:
        psi: (n,) virtual costs of the users who can have weight, sorted.
        b: (n,) square roots of psi.
        g: price of variance, >= 0.
        sums: sums over the first users at r.
        persons: (t,) user who is exchanged, as a place in psi; n for a user who is not in psi.
        costs: (t,) new virtual cost of that user; inf if the user leaves.
        places: (t,) position of the exchanged user in the sorted new virtual costs, counted from 0.
        out: (t, 3) results V, Q and difference; overwritten.
    """
    r, rows = sums.r, sums.rows
    less, more = np.zeros(12), np.zeros(12)
    count = 1
    for t in range(persons.size):
        person, cost, place = persons[t], costs[t], places[t]
        own = np.sqrt(cost)
        total = (psi.size - 1 if person < psi.size else psi.size) + (0 if np.isinf(cost) else 1)
        positive = rows.shape[0] - 1
        if person < positive:
            _terms(psi[person], b[person], g, r, less)
            positive -= 1
        if place <= positive and not np.isinf(cost) and _price(cost, g, r)[0] > 0.0:
            _terms(cost, own, g, r, more)
            positive += 1
        elif place < positive:
            place = positive  # a rounding apart from somebody whose a is 0
        if positive == 0:
            out[t, 0], out[t, 1], out[t, 2] = (g + r if total > 0 else np.inf), 1.0, 0.0
            continue
        count = _threshold(rows, less, more, b, person, place, own, r, positive, count)
        best = _convex(rows, less, more, person, place, own, r, count)
        value = divide(best.theta, best.amount)
        if count == positive and sums.positive and total > positive:
            price = _price(_at(psi, person, place, cost, positive), g, r)
            other = _beyond(rows, less, more, b, person, place, own, r, price, positive)
            if other.amount[0] > 0.0 and divide(other.theta, other.amount)[0] < value[0]:
                best, value = other, divide(other.theta, other.amount)
        squares = divide(best.squares, multiply(best.amount, best.amount))
        out[t, 0], out[t, 1] = value[0], subtract(value, scale(squares, g))[0] / r
        out[t, 2] = _difference(best, squares, own, r)


@compiled
def _difference(best: _Point, squares: tuple[float, float], own: float, r: float) -> float:
    """The exchanged user's local level less their central level: w (1 - r b u)/(b times the sum of u)."""
    weight = divide(best.mine, best.amount)
    if weight[0] <= 0.0:
        return 0.0
    if own == 0.0:
        return r * subtract(squares, multiply(weight, weight))[0] if best.free else np.inf
    rest = subtract((1.0, 0.0), scale(scale(best.mine, own), r))
    return max(divide(multiply(weight, divide(rest, best.amount)), (own, 0.0))[0], 0.0)


@compiled
def searched(
    psi: Floats, b: Floats, g: float, ends: Floats, persons: Integers, costs: Floats, places: Integers,
    tolerance: float, out: Floats,
) -> None:
    """The optimum over r = 1/S for each of some exchanges of a user's virtual cost, by a separate search for each.

    Args:
        psi: (n,) virtual costs of the users who can have weight, sorted.
        b: (n,) square roots of psi.
        g: price of variance, >= 0.
        ends: (t, 2) ends of the interval of r.
        persons: (t,) user who is exchanged, as a place in psi; n for a user who is not in psi.
        costs: (t,) new virtual cost of that user; inf if the user leaves.
        places: (t,) position of the exchanged user in the sorted new virtual costs, counted from 0.
        tolerance: relative gap between the value and its lower bound.
        out: (t, 3) results value, difference and lower bound; overwritten.
    """
    new, roots = np.empty(psi.size + 1), np.empty(psi.size + 1)
    for t in range(persons.size):
        person, cost, place = persons[t], costs[t], places[t]
        size = 0
        for k in range(psi.size + 1):
            if size == place and not np.isinf(cost):
                new[size], roots[size] = cost, np.sqrt(cost)
                size += 1
            if k < psi.size and k != person:
                new[size], roots[size] = psi[k], b[k]
                size += 1
        if size == 0:
            out[t, 0], out[t, 1], out[t, 2] = np.inf, 0.0, np.inf
            continue
        found = minimise(new[:size], roots[:size], g, ends[t, 0], ends[t, 1], tolerance)
        out[t, 0], out[t, 1], out[t, 2] = found.value, 0.0, found.lower
        if place < found.weights.size and not np.isinf(cost):
            out[t, 1] = _own_difference(found.weights, roots, place)


@compiled
def _own_difference(weights: Floats, roots: Floats, place: int) -> float:
    """The difference of levels of one user at the best S for the given weights."""
    shares = weights * roots[: weights.size]
    squares = np.sum(weights * weights)
    spread = np.sqrt(squares + 2.0 * pairs(shares))
    own, w = roots[place], weights[place]
    shares[place] = 0.0
    others = np.sum(shares)
    if own > 0.0 or w == 0.0:
        return float(w * others / (spread * own)) if w > 0.0 else 0.0
    return np.inf if others > 0.0 else float((squares - w * w) / spread)
