"""Branch and bound over r = 1/S with the exact inner solve, and the polish; everything at kappa = 1.

h(r) = 1/r + V(r), and V is concave: between two values of r it lies above its chord, and 1/r plus a chord has a minimum
in closed form. The cell with the least bound is split until the best weights are within the tolerance of it. Weights
converge only like the square root of the value, so the best r is polished: h has no local minimum where the weights
jump, and so the root of its slope is found beside the best r.

Source: spec two_part_acquisition section 7.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from confide.acquisition.optimum.inner import Floats, Inner, compiled, inner, weights_of

__all__ = ["Minimum", "minimise"]

NODES = 9
MOST = 400
"""Values of r; bad cases take some 50."""
STEPS = 50
LAST_DIGITS = 1e-15


class Minimum(NamedTuple):
    """Where h is least.

    Args:
        weights: of the first users, in their order.
        value: G of these weights.
        quadratic: Q of them; the best S is its root.
        lower: no weights cost less.
        evaluations: inner solves.
    """

    weights: Floats
    value: float
    quadratic: float
    lower: float
    evaluations: int


@compiled
def _chord(left: float, right: float, low: float, high: float) -> tuple[float, float]:
    """The least of 1/r + chord between two values of r, and where."""
    slope = (high - low) / (right - left)
    r = right
    if slope > 0.0:
        r = min(max(1.0 / np.sqrt(slope), left), right)
    return (1.0 / r + low + slope * (r - left)) * (1.0 - LAST_DIGITS), r


@compiled
def _polish(psi: Floats, b: Floats, g: float, nodes: Floats, slopes: Floats, at: int) -> tuple[float, Inner, int]:
    """The root of h's slope r^2 Q - 1 beside the best r, the weights there, and the number of inner solves."""
    other = min(at + 1, nodes.size - 1) if slopes[at] < 0.0 else max(at - 1, 0)
    last, last_slope, r, slope = nodes[other], slopes[other], nodes[at], slopes[at]
    crossed = slope * last_slope < 0.0
    start = found = inner(psi, b, g, r)
    looked = 1
    while slope != 0.0 and looked < STEPS:
        before = r
        # False position (Illinois); without a crossing S and weights in turn, which is never worse.
        r = (last * slope - r * last_slope) / (slope - last_slope) if crossed else 1.0 / np.sqrt(found.quadratic)
        if abs(r - before) <= LAST_DIGITS * r:
            break
        found = inner(psi, b, g, r)
        looked += 1
        new = r * r * found.quadratic - 1.0
        if new * slope < 0.0:
            last, last_slope = before, slope
        else:
            last_slope *= 0.5
        slope = new
    old, new = start.quadratic, found.quadratic
    if g * found.squares + 2.0 * np.sqrt(new) <= (g * start.squares + 2.0 * np.sqrt(old)) * (1.0 + LAST_DIGITS):
        return r, found, looked
    return nodes[at], start, looked


@compiled
def minimise(psi: Floats, b: Floats, g: float, low: float, high: float, tolerance: float) -> Minimum:
    """The best weights over all r of an interval.

    Args:
        psi: (n,) sorted, finite.
        b: their square roots.
        g: the price of variance.
        low: least r.
        high: largest r.
        tolerance: relative gap to reach.
    """
    nodes, lower, slopes = np.empty(MOST), np.empty(MOST), np.empty(MOST)
    bounds, splits = np.empty(MOST), np.empty(MOST)
    best, at, count = np.inf, 0, 0
    cell, r = 0, low
    while True:
        # A new value of r, at place `cell` + 1 among the others.
        place = cell + 1 if count >= NODES else count
        if count < NODES:
            r = low * (high / low) ** (count / (NODES - 1.0))
        for k in range(count, place, -1):
            nodes[k], lower[k], slopes[k] = nodes[k - 1], lower[k - 1], slopes[k - 1]
            bounds[k], splits[k] = bounds[k - 1], splits[k - 1]
        found = inner(psi, b, g, r)
        nodes[place], lower[place], slopes[place] = r, found.lower, r * r * found.quadratic - 1.0
        value = g * found.squares + 2.0 * np.sqrt(found.quadratic)
        at += at >= place and count > 0
        if value < best:
            best, at = value, place
        count += 1
        for k in (place - 1, place):
            if 0 <= k < count - 1:
                bounds[k], splits[k] = _chord(nodes[k], nodes[k + 1], lower[k], lower[k + 1])
        if count < NODES:
            continue
        cell = 0
        for k in range(1, count - 1):
            if bounds[k] < bounds[cell]:
                cell = k
        left, right = nodes[cell], nodes[cell + 1]
        if best - bounds[cell] <= tolerance * best or count == MOST or not left < 0.5 * (left + right) < right:
            break
        r, margin = splits[cell], 0.1 * (right - left)
        if not left + margin < r < right - margin:
            r = 0.5 * (left + right)
    r, found, looked = _polish(psi, b, g, nodes[:count], slopes[:count], at)
    value = g * found.squares + 2.0 * np.sqrt(found.quadratic)
    return Minimum(weights_of(psi, b, g, r, found), value, found.quadratic, min(bounds[cell], value), count + looked)
