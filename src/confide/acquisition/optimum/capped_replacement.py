"""The optimum under a cap on weights with one user's virtual cost replaced, for many users and replacements at once.

Rents are differences of such values. At each S the sums over all users are taken once; an exchange is then one solve of
O(log n) beside them, from the base's optimum as a guess. V rises in every virtual cost, so a replacement that is no
lower goes on only to those S whose cost before it is not above the best found so far: the best ones come first.

Source: confide; spec two_part_acquisition section 9.
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
"""Two S, or buying and not, that are closer than this are told apart by `solve_capped`: one is always chosen."""
NEGLIGIBLE = 1e-9


class _Found(NamedTuple):
    """What exchanges have so far.

    Args:
        values: (t,) least.
        seconds: (t,) next to least.
        differences: (t,) at the least.
        doubtful: (t,) the solve must be repeated alone.
    """

    values: Floats
    seconds: Floats
    differences: Floats
    doubtful: NDArray[np.bool_]


def replaced_capped_values(
    virtual_costs: ArrayLike, people: ArrayLike, replacements: ArrayLike, *, weight_cap: float, variance_price: float,
    noise_price: float, approximation: float, outside: float = math.inf, psi_floor: float = 0.0,
) -> Replaced:
    """The value V of `solve_capped`, and the user's own difference of levels, with their virtual cost replaced.

    Values are those of `solve_capped` but for a relative 1e-14 or so. n = 10^5 with 10^4 people takes a few seconds.

    Args:
        virtual_costs: (n,) psi in [psi_floor, 1]; inf for absentees and whoever is above the ceiling.
        people: (m,) positions of users, once or more often.
        replacements: (m, k) or (m,) virtual costs that replace that user's own. A rent runs up to the ceiling: at inf
            the user is not there, which is dearer than at the ceiling though they sell nothing above it.
        weight_cap: in (0, 1].
        variance_price: g >= 0.
        noise_price: kappa > 0.
        approximation: in (0, 1].
        outside: cost of buying nothing.
        psi_floor: public lower bound of all virtual costs.

    Returns:
        Values and differences, of the shape of `replacements`.

    Raises:
        InvalidInput: as `solve_capped`; positions out of range, replacements out of range or of another shape.

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
        raise InvalidInput("people", "they are no list of positions")
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
    """Fill in what is found for the exchanges `at`, the S that are best without any first."""
    present = np.isfinite(after)
    own = np.where(present, after, 1.0)
    root, ease, gain = np.sqrt(own), ease_of(own), 1.0 - own
    raises = after >= before
    for node in sorted(solved_nodes(here, plan), key=lambda each: each.value):
        open_ = at[~raises[at] | (node.value <= found.values[at] * (1.0 + RIVALS))]
        if not open_.size:
            continue
        price = np.where(present, np.maximum(plan.g + node.rate * gain, LEAST * node.rate), np.inf)
        lean = np.where(present, ease - node.anchor, 0.0)
        _exchange(node.crowd(here, plan), node.best.level, node.best.pull, open_, persons, root, lean, price, *found)


@compiled
def _exchange(
    crowd: Crowd, level: float, pull: float, at: NDArray[np.int64], persons: NDArray[np.int64], root: Floats,
    lean: Floats, price: Floats, values: Floats, seconds: Floats, differences: Floats, doubtful: NDArray[np.bool_],
) -> None:
    r = crowd.r
    for t in at:
        best = best_weights(crowd, persons[t], lean[t], price[t], level, pull)
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
