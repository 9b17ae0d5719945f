"""The optimum with one user's virtual cost replaced, for many users and many replacements at once.

Rents are differences of the optimal value V with replaced virtual costs. Call the replacement of one user's virtual
cost an exchange. All exchanges are solved at the same values of r = 1/S. At each value of r the sums over all users are
computed once, and every exchange costs O(log n). As in `solve`, the search splits intervals (cells) between two values
of r. An exchange is searched only in cells whose lower bound for this exchange does not exclude an optimum. Cells
around an exchange's optimum are split until the weights are nearly linear within them.

Source: spec two_part_acquisition section 9.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.optimum.exchange import Integers, exchanged, searched, sums_at
from confide.acquisition.optimum.inner import Floats
from confide.acquisition.optimum.problem import ALLOWED, checked_costs, checked_prices, usable
from confide.acquisition.optimum.solver import ROOM, Ordered, grid_spreads, interval, minimise, ordered, solve_grid
from confide.contract.errors import InvalidInput, SolverFailed

__all__ = ["Replaced", "replaced_values"]

NODES = 9
TOLERANCE = 1e-13
"""Largest relative excess of a computed value over the optimum."""
RIVALS = 5e-13
"""Relative distance below which two optima count as nearly tied. Nearly tied optima are decided by `solve`, so that the
choice is always the same.
"""
NARROW = 1e-6
"""Relative width of a cell within which weights count as linear in r. The relative error of linear interpolation in a
cell is about the square of the cell's relative width.
"""
NARROWEST = 1e-14
ROUNDING = 32 * 2.0**-53
LAST_DIGITS = 2e-15
"""Relative change of a value that rounding can cause."""
BLOCK = 2**18
"""Number of exchanges that are processed together."""
FEW = 3 * 10**6
"""Product of the number of exchanges and the number of users with weight, up to which each exchange is searched
separately.
"""


class Replaced(NamedTuple):
    """The result of `replaced_values`.

    Args:
        values: (m, k) value V with one virtual cost replaced.
        differences: (m, k) local level less central level of the user with the replaced virtual cost.
    """

    values: Floats
    differences: Floats


def replaced_values(
    virtual_costs: ArrayLike, people: ArrayLike, replacements: ArrayLike, *, variance_price: float, noise_price: float,
    approximation: float | None = None,
) -> Replaced:
    """The value V, and one user's local level less their central level, if the virtual cost of that user is replaced
    and all other virtual costs stay unchanged.

    A computed value exceeds the optimum by at most a relative 1e-13, and is below the optimum only by rounding.
    Differences of levels have an error of about 1e-9 of the local level. Where two optima are nearly tied, the optimum
    that `solve` (or `solve_grid`) finds is chosen, so that a difference depends on the other users' virtual costs and
    the replacement alone.

    Args:
        virtual_costs: (n,) virtual costs psi in [0, inf].
        people: (m,) positions of users, each once or more often.
        replacements: (m, k) or (m,) virtual costs in [0, inf] that replace the user's own virtual cost. The value inf
            makes the user absent.
        variance_price: price g >= 0 of the records' variance.
        noise_price: price kappa > 0 of the noise.
        approximation: parameter of `solve_grid`, if values on the grid of `solve_grid` are wanted; None, the default,
            for values of the exact optimum.

    Returns:
        Values and differences, of the shape of `replacements`. The value is inf where no user is left.

    Raises:
        InvalidInput: an input that `solve` rejects; positions out of range, replacements that are NaN or negative or of
            another shape.
        SolverFailed: a value could not be certified.

    Example:
        >>> values, differences = replaced_values([0.2, 0.9], [0], [[2.0]], variance_price=1.0, noise_price=2.0)
        >>> round(float(values[0, 0]), 12), round(float(differences[0, 0]), 12)
        (3.560484135884, 0.219187672102)
    """
    costs = checked_costs(virtual_costs)
    g, kappa = checked_prices(variance_price, noise_price)
    chosen, wanted, shape = _checked(costs, people, replacements)
    unit = math.sqrt(kappa)
    nodes = None
    if approximation is not None:
        spreads = grid_spreads(costs.size, approximation, variance_price=g, noise_price=kappa)
        nodes = (1.0 / (unit * spreads)).tolist()
    users = ordered(costs, g / unit, low=nodes[-1] if nodes else math.inf, leaving=True)
    persons, places, tied = _places(costs, users, chosen, wanted)
    # Exchanges that leave the same profile, up to the order of people who are alike, are looked at once.
    first, back = _alike(costs[chosen], wanted, tied)
    chosen, wanted = chosen[first], wanted[first]
    finite = np.count_nonzero(np.isfinite(costs)) - np.isfinite(costs[chosen]) + np.isfinite(wanted)
    exchanges = Exchanges(persons[first], wanted, places[first], finite)
    values, differences = np.empty(first.size), np.empty(first.size)
    close = np.ones(first.size, dtype=bool)
    if nodes is not None or _many(users, g / unit, first.size):
        for start in range(0, first.size, BLOCK):
            part = slice(start, start + BLOCK)
            some = exchanges.of(part)
            found = _Cells(users, g / unit, some).search() if nodes is None else _on_nodes(users, g / unit, some, nodes)
            values[part], differences[part], close[part] = found
    if nodes is None:
        values[close], differences[close] = _one_by_one(users, g / unit, exchanges.of(close))
    values, differences = values * unit, differences * unit
    if approximation is not None:
        for k in np.flatnonzero(close & (finite > 0)).tolist():
            profile = costs.copy()
            profile[chosen[k]] = wanted[k]
            one = solve_grid(profile, approximation, variance_price=g, noise_price=kappa)
            values[k], differences[k] = one.value, one.difference[chosen[k]]
    return Replaced(values[back].reshape(shape), differences[back].reshape(shape))


@dataclass(frozen=True, eq=False)
class Exchanges:
    """Exchanges of a user's virtual cost for another virtual cost.

    Args:
        persons: (t,) place of the exchanged user among the sorted users; the number of sorted users for a user who
            cannot have weight.
        costs: (t,) new virtual costs.
        places: (t,) position of the exchanged user in the sorted new virtual costs, counted from 0.
        finite: (t,) number of users who take part after the exchange.
    """

    persons: Integers
    costs: Floats
    places: Integers
    finite: Integers

    def of(self, part: slice | NDArray[np.bool_]) -> Exchanges:
        """The selected exchanges."""
        return Exchanges(self.persons[part], self.costs[part], self.places[part], self.finite[part])


def _checked(
    costs: Floats, people: ArrayLike, replacements: ArrayLike
) -> tuple[Integers, Floats, tuple[int, ...]]:
    chosen = np.asarray(people)
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
        raise InvalidInput("people", "are not a list of positions")
    if chosen.size and not 0 <= chosen.min() <= chosen.max() < costs.size:
        raise InvalidInput("people", "a position is out of range", f"must be in [0, {costs.size - 1}]")
    try:
        wanted = np.asarray(replacements, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("replacements", "are not numbers") from None
    if wanted.ndim not in {1, 2} or wanted.shape[0] != chosen.size:
        raise InvalidInput("replacements", f"shape {wanted.shape}", f"must be ({chosen.size}, k)")
    if not np.all(usable(wanted)):
        raise InvalidInput("replacements", "a cost is NaN, negative or too large", ALLOWED)
    times = wanted.size // chosen.size if chosen.size else 0
    return np.repeat(chosen.astype(np.int64), times), wanted.ravel(), wanted.shape


def _places(
    costs: Floats, users: Ordered, chosen: Integers, wanted: Floats
) -> tuple[Integers, Integers, NDArray[np.bool_]]:
    """Places of the exchanged users among the sorted users before and after the exchange, and whether a user with an
    equal virtual cost comes before.
    """
    rank = np.full(costs.size, users.psi.size, dtype=np.int64)
    rank[users.position] = np.arange(users.psi.size)
    persons = rank[chosen]
    low, high = (np.searchsorted(users.psi, wanted, side=side) for side in ("left", "right"))
    places = low.astype(np.int64)
    for k in np.flatnonzero(high > low).tolist():
        places[k] += np.searchsorted(users.position[low[k] : high[k]], chosen[k])
    own_before = (persons < places).astype(np.int64)
    tied = places - own_before > low - (persons < low)
    places -= own_before
    places[np.isinf(wanted)] = users.psi.size
    return persons, places, tied


def _alike(before: Floats, after: Floats, tied: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """The first exchange of each kind, and the kind of every exchange."""
    order = np.lexsort((tied, after, before))
    new = np.ones(order.size, dtype=bool)
    for key in (before, after, tied):
        values = key[order]
        same = values[1:] == values[:-1]
        new[1:] = same if key is before else new[1:] & same
    new[1:] = ~new[1:]
    back = np.empty(order.size, dtype=np.int64)
    back[order] = np.cumsum(new) - 1
    return order[new], back


def _many(users: Ordered, g: float, exchanges: int) -> bool:
    """Whether shared values of r are faster than a separate search for each exchange."""
    winners = minimise(users.psi, users.b, g, users.low, users.high, TOLERANCE).weights.size
    return exchanges * (winners + 100) > FEW


def _one_by_one(users: Ordered, g: float, some: Exchanges) -> tuple[Floats, Floats]:
    """Values and differences from a separate search for each exchange, as in `solve`."""
    ends = np.array([interval(int(people), g) if people else (1.0, 1.0) for people in some.finite]).reshape(-1, 2)
    out = np.empty((some.costs.size, 3))
    searched(users.psi, users.b, g, ends, some.persons, some.costs, some.places, TOLERANCE - ROOM, out)
    if np.any(out[:, 2] < out[:, 0] * (1.0 - TOLERANCE)):
        raise SolverFailed("replaced_values", "a value is not certified to 1e-13")
    return out[:, 0], out[:, 1]


def _on_nodes(
    users: Ordered, g: float, some: Exchanges, nodes: list[float]
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """The smallest value over the given r, the difference of levels at that r, and whether another r is nearly tied."""
    values, differences = np.full(some.costs.size, np.inf), np.zeros(some.costs.size)
    second, out = np.full(some.costs.size, np.inf), np.empty((some.costs.size, 3))
    for r in nodes:
        exchanged(users.psi, users.b, g, sums_at(users.psi, users.b, g, r), some.persons, some.costs, some.places, out)
        value = 1.0 / r + out[:, 0]
        better = value < values
        second = np.where(better, values, np.minimum(second, value))
        values[better], differences[better] = value[better], out[better, 2]
    with np.errstate(invalid="ignore"):
        return values, differences, second - values <= RIVALS * values


class Points(NamedTuple):
    """Numbers of some exchanges, each at one r: rows of shape (t, 4) with r, V, Q and difference."""

    rows: Floats

    def of(self, chosen: NDArray[np.bool_]) -> Points:
        return Points(self.rows[chosen])


def rise(rows: Floats) -> Floats:
    """The number r^2 Q - 1, which has the sign of the slope of h(r) = 1/r + V(r) at each point."""
    return np.asarray(rows[:, 0] ** 2 * rows[:, 2] - 1.0)


class Cell(NamedTuple):
    """Some exchanges, with their values V, Q and differences at both ends of an interval of r."""

    who: Integers
    left: Points
    right: Points


class _Cells:
    """Branch and bound over shared values of r, for many exchanges."""

    def __init__(self, users: Ordered, g: float, some: Exchanges) -> None:
        self.users = users
        self.g = g
        self.some = some
        size = some.costs.size
        self.value = np.full(size, np.inf)
        self.best = np.full((size, 4), np.nan)
        self.left, self.right = self.best.copy(), self.best.copy()
        self.rivals: list[tuple[Integers, Floats, Floats]] = []

    def look(self, r: float, who: Integers) -> Points:
        """Solve at r for the given exchanges."""
        out = np.empty((who.size, 4))
        out[:, 0] = r
        found = np.empty((who.size, 3))
        exchanged(self.users.psi, self.users.b, self.g, sums_at(self.users.psi, self.users.b, self.g, r),
                  self.some.persons[who], self.some.costs[who], self.some.places[who], found)
        out[:, 1:] = found
        return Points(out)

    def search(self) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Values, differences, and whether a second optimum is nearly tied, for all exchanges."""
        everybody = np.arange(self.some.costs.size)
        nodes = np.geomspace(self.users.low, self.users.high, NODES).tolist()
        points = [self.look(r, everybody) for r in nodes]
        for k, point in enumerate(points):
            ends = points[max(k - 1, 0)], points[min(k + 1, NODES - 1)]
            self.keep(everybody, Cell(everybody, *ends), point)
        cells = [self.open(Cell(everybody, left, right)) for left, right in pairwise(points)]
        while cells:
            cell = self.open(cells.pop())
            if cell.who.size:
                cells += self.split(cell)
        return self.value, self.differences(), self.close()

    def cost(self, point: Points) -> Floats:
        """The cost G of the weights at the given points, with the best S for each."""
        r, value, slope = point.rows[:, 0], point.rows[:, 1], point.rows[:, 2]
        cost: Floats = value - r * slope + 2.0 * np.sqrt(slope)
        return cost

    def keep(self, who: Integers, cell: Cell, point: Points) -> None:
        """Store the best point and its two neighbours. Among equally good points, the one with the smallest absolute
        slope of h(r) = 1/r + V(r) counts as best.
        """
        value, old = self.cost(point), self.value[who]
        flatter = np.abs(rise(point.rows)) < np.abs(rise(self.best[who]))
        better = (value < old * (1.0 - LAST_DIGITS)) | ((value <= old * (1.0 + LAST_DIGITS)) & flatter)
        chosen, others = who[better], who[~better]
        self.value[who] = np.minimum(value, old)
        self.best[chosen] = point.rows[better]
        self.left[chosen], self.right[chosen] = cell.left.rows[better], cell.right.rows[better]
        r, rows = point.rows[~better, 0], point.rows[~better]
        for side, nearer in (
            (self.left, (self.left[others, 0] < r) & (r < self.best[others, 0])),
            (self.right, (self.best[others, 0] < r) & (r < self.right[others, 0])),
        ):
            side[others[nearer]] = rows[nearer]

    def bounds(self, cell: Cell) -> tuple[Floats, Floats]:
        """A lower bound of h(r) = 1/r + V(r) in the cell, and the r at which the bound is attained."""
        left, right = cell.left.rows, cell.right.rows
        low, high = left[:, 1] * (1.0 - ROUNDING), right[:, 1] * (1.0 - ROUNDING)
        with np.errstate(invalid="ignore", divide="ignore"):
            slope = (high - low) / (right[:, 0] - left[:, 0])
            where = np.where(slope > 0.0, 1.0 / np.sqrt(slope), right[:, 0])
            where = np.clip(where, left[:, 0], right[:, 0])
            return 1.0 / where + low + slope * (where - left[:, 0]), where

    def open(self, cell: Cell) -> Cell:
        """The exchanges whose optimum may still lie in the cell, so that the cell must be searched further."""
        if not cell.who.size:
            return cell
        bound, where = self.bounds(cell)
        value, width = self.value[cell.who], 1.0 - cell.left.rows[0, 0] / cell.right.rows[0, 0]
        near = bound < value * (1.0 + RIVALS)
        missing = bound < value * (1.0 - TOLERANCE)
        if width <= NARROW:
            if np.any(missing) and width <= NARROWEST:
                raise SolverFailed("replaced_values", "a value is not certified to 1e-13")
            done = near & ~missing
            self.rivals.append((cell.who[done], where[done], bound[done]))
            near = missing
        return Cell(cell.who[near], cell.left.of(near), cell.right.of(near))

    def split(self, cell: Cell) -> list[Cell]:
        """Two halves of an interval of r. The half that contains the optimum of more exchanges comes last."""
        left, right = float(cell.left.rows[0, 0]), float(cell.right.rows[0, 0])
        where = self.bounds(cell)[1]
        first, last, middle = float(where.min()), float(where.max()), float(np.median(where))
        width, least = right - left, 0.3 * NARROW * left
        if last - left < 0.25 * width:
            r = left + max(2.0 * (last - left), least)
        elif right - first < 0.25 * width:
            r = right - max(2.0 * (right - first), least)
        else:
            r = min(max(middle, left + 0.1 * width), right - 0.1 * width)
        if not left < r < right:
            r = 0.5 * (left + right)
        point = self.look(r, cell.who)
        self.keep(cell.who, cell, point)
        halves = [Cell(cell.who, cell.left, point), Cell(cell.who, point, cell.right)]
        return halves if middle > r else halves[::-1]

    def differences(self) -> Floats:
        """Differences of levels at the root of the slope of h(r) = 1/r + V(r), interpolated between the best point and
        its neighbour with a slope of the other sign.
        """
        here = rise(self.best)
        other = np.where((here < 0.0)[:, None], self.right, self.left)
        there = rise(other)
        crossed = here * there < 0.0
        with np.errstate(invalid="ignore", divide="ignore"):
            part = np.where(crossed, here / (here - there), 0.0)
            found = self.best[:, 3] + part * (other[:, 3] - self.best[:, 3])
            kept = self.best[:, 3] / (self.best[:, 0] * np.sqrt(self.best[:, 2]))
        found = np.where(np.isinf(self.best[:, 3]), np.inf, np.where(crossed, found, kept))
        differences: Floats = np.maximum(found, 0.0)
        return differences

    def close(self) -> NDArray[np.bool_]:
        """Exchanges that have two nearly tied optima far apart from each other."""
        found = np.zeros(self.value.size, dtype=bool)
        for who, where, bound in self.rivals:
            far = np.abs(where / self.best[who, 0] - 1.0) > 1e3 * NARROW
            found[who[far & (bound < self.value[who] * (1.0 + RIVALS))]] = True
        return found
