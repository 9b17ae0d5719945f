"""The optimum under a cap on weights with one user's virtual cost replaced, for many users and replacements at once.

Rents are differences of the optimal value V with replaced virtual costs. At each value of the spread S the sums over
all users are computed once. Each replacement of a virtual cost is one solve of O(log n) with the sums over all users,
starting from the optimum without replacement. The value V rises in every virtual cost. Therefore a replacement that
does not lower a virtual cost is solved only at values of S where the cost without replacement does not exceed the best
cost found so far. The values of S with the lowest cost without replacement come first.

Source: spec two_part_acquisition section 9.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.optimum.capped import (
    LEAST,
    CapPlan,
    Crowd,
    Sorted,
    best_weights,
    checked_capped_costs,
    ease_of,
    solve_capped,
    solved_nodes,
)
from confide.acquisition.optimum.inner import compiled
from confide.acquisition.optimum.replacement import Replaced
from confide.contract.errors import InvalidInput

__all__ = ["replaced_capped_values"]

Floats = NDArray[np.float64]

RIVALS = 5e-13
"""Relative distance below which two values of S, or buying and not buying, count as nearly tied. Nearly tied
alternatives are decided by `solve_capped`, so that the choice is always the same.
"""
NEGLIGIBLE = 1e-9


class _Found(NamedTuple):
    """Results of the replacements so far.

    Args:
        values: (t,) smallest value.
        seconds: (t,) second smallest value.
        differences: (t,) difference of levels at the smallest value.
        doubtful: (t,) whether the replacement must be solved again by itself.
    """

    values: Floats
    seconds: Floats
    differences: Floats
    doubtful: NDArray[np.bool_]


def replaced_capped_values(
    virtual_costs: ArrayLike, people: ArrayLike, replacements: ArrayLike, *, weight_cap: float, variance_price: float,
    noise_price: float, approximation: float, outside: float = math.inf, psi_floor: float = 0.0,
) -> Replaced:
    """The value V of `solve_capped`, and one user's local level less their central level, if the virtual cost of that
    user is replaced.

    The computed values agree with the values of `solve_capped` up to a relative error of about 1e-14. A problem with n
    = 10^5 and replacements for 10^4 people takes a few seconds.

    Args:
        virtual_costs: (n,) virtual costs psi in [psi_floor, 1]; inf for absentees and for users above the ceiling.
        people: (m,) positions of users, each once or more often.
        replacements: (m, k) or (m,) virtual costs that replace the user's own virtual cost. Rents are integrals up to
            the ceiling, not to inf. A replacement of inf makes the user absent. Absence costs more than a virtual cost
            just above the ceiling, although a user above the ceiling sells nothing.
        weight_cap: largest weight, in (0, 1].
        variance_price: price g >= 0 of the records' variance.
        noise_price: price kappa > 0 of the noise.
        approximation: relative excess cost that the grid of S may cause, in (0, 1].
        outside: cost of buying nothing.
        psi_floor: public lower bound of all virtual costs.

    Returns:
        Values and differences, of the shape of `replacements`.

    Raises:
        InvalidInput: an input that `solve_capped` rejects; positions out of range, replacements out of range or of
            another shape.

    Example:
        >>> prices = {"variance_price": 0.1, "noise_price": 1.0, "approximation": 0.001, "weight_cap": 0.4}
        >>> found = replaced_capped_values([0.1, 0.5, 0.8, 0.9], [0], [[0.5, 1.0]], **prices)
        >>> bool(abs(found.values[0, 1] - solve_capped([1.0, 0.5, 0.8, 0.9], **prices).value) < 1e-13)
        True
        >>> found.differences.round(4).tolist()
        [[0.315, 0.0341]]
    """
    costs = checked_capped_costs(virtual_costs, psi_floor)
    plan = CapPlan.of(costs.size, weight_cap, variance_price, noise_price, approximation, outside, psi_floor)
    chosen, wanted = _checked(costs, people, replacements, psi_floor)
    shape = wanted.shape
    chosen, wanted = np.repeat(chosen, wanted[0].size if chosen.size else 0), wanted.ravel()
    # People of one virtual cost are alike, wherever they stand.
    kinds, first, back = np.unique(np.stack([costs[chosen], wanted]), axis=1, return_index=True, return_inverse=True)
    chosen, (before, after) = chosen[first], kinds
    here = Sorted.of(costs)
    left = here.position.size - np.isfinite(before) + np.isfinite(after)
    found = _Found(np.full(first.size, np.inf), np.full(first.size, np.inf), np.zeros(first.size), left >= plan.room)
    if here.position.size >= plan.room:
        found.doubtful[:] = False
        rank = np.full(costs.size, here.position.size, dtype=np.int64)
        rank[here.position] = np.arange(here.position.size)
        at = np.flatnonzero(left >= plan.room)
        _over_nodes(here, plan, rank[chosen], before, after, at, found)
    values, differences = found.values * plan.unit, found.differences * plan.unit
    with np.errstate(invalid="ignore"):
        close = found.seconds - found.values <= RIVALS * found.values
        close |= np.abs(values / plan.outside - 1.0) <= RIVALS
    differences[values > plan.outside] = 0.0
    values = np.minimum(values, plan.outside)
    for k in np.flatnonzero(close | found.doubtful).tolist():
        profile = costs.copy()
        profile[chosen[k]] = after[k]
        one = solve_capped(profile, weight_cap=weight_cap, variance_price=variance_price, noise_price=noise_price,
                           approximation=approximation, outside=outside, psi_floor=psi_floor)
        values[k], differences[k] = one.value, one.difference[chosen[k]]
    back = back.reshape(-1)
    return Replaced(values[back].reshape(shape), differences[back].reshape(shape))


def _checked(
    costs: Floats, people: ArrayLike, replacements: ArrayLike, psi_floor: float
) -> tuple[NDArray[np.int64], Floats]:
    chosen = np.asarray(people)
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
        raise InvalidInput("people", "are not a list of positions")
    if chosen.size and not 0 <= chosen.min() <= chosen.max() < costs.size:
        raise InvalidInput("people", "a position is out of range", f"must be in [0, {costs.size - 1}]")
    wanted = np.asarray(replacements)
    if chosen.size or wanted.size:
        wanted = checked_capped_costs(replacements, psi_floor, "replacements")
    if wanted.ndim not in {1, 2} or wanted.shape[0] != chosen.size:
        raise InvalidInput("replacements", f"shape {wanted.shape}", f"must be ({chosen.size}, k)")
    return chosen.astype(np.int64), wanted.astype(np.float64)


def _over_nodes(
    here: Sorted, plan: CapPlan, persons: NDArray[np.int64], before: Floats, after: Floats, at: NDArray[np.int64],
    found: _Found,
) -> None:
    """Fill `found` for the replacements `at`. The values of the spread S with the lowest cost without any replacement
    come first.
    """
    present = np.isfinite(after)
    own = np.where(present, after, 1.0)
    root, ease, gain = np.sqrt(own), ease_of(own), 1.0 - own
    raises = after >= before
    for node in sorted(solved_nodes(here, plan), key=lambda each: each.value):
        open_ = at[~raises[at] | (node.value <= found.values[at] * (1.0 + RIVALS))]
        if not open_.size:
            continue
        price = np.where(present, np.maximum(plan.g + node.rate * gain, LEAST * node.rate), np.inf)
        offset = np.where(present, ease - node.anchor, 0.0)
        _exchange(node.crowd(here, plan), node.best.level, node.best.pull, open_, persons, root, offset, price, *found)


@compiled
def _exchange(
    crowd: Crowd, level: float, pull: float, at: NDArray[np.int64], persons: NDArray[np.int64], root: Floats,
    offset: Floats, price: Floats, values: Floats, seconds: Floats, differences: Floats, doubtful: NDArray[np.bool_],
) -> None:
    r = crowd.r
    for t in at:
        best = best_weights(crowd, persons[t], offset[t], price[t], level, pull)
        value = 1.0 / r + best.value
        b, w = root[t], best.own
        if not best.settled or (b == 0.0 and best.pull <= NEGLIGIBLE * r):
            doubtful[t] = True
        if value >= values[t]:
            seconds[t] = min(seconds[t], value)
            continue
        seconds[t], values[t] = values[t], value
        if w == 0.0:
            differences[t] = 0.0
        elif b == 0.0:
            differences[t] = np.inf
        else:
            differences[t] = w / b * max(best.pull - r * b * w, 0.0)
