"""What a lie about one's sensitivity gains at most, from how near to the optimum the values of the payments are.

Source: spec two_part_acquisition section 4 (incentive certificate).
"""

from __future__ import annotations

import numpy as np

from confide.acquisition.beliefs.smooth_prior import SmoothVirtualCost
from confide.acquisition.beliefs.virtual_cost import VirtualCost
from confide.contract.checks import non_negative

__all__ = ["AnyVirtualCost", "incentive_bound"]

AnyVirtualCost = VirtualCost | SmoothVirtualCost


def incentive_bound(
    cost: AnyVirtualCost, value_error: float, *, rent_width: float = 0.0, exact_range: bool = False
) -> float | None:
    """What no report gains over the truth, where every V that was used is within `value_error` of the optimum.

    Rising pieces: each difference of values errs by the error at most, and so does V's tangent at the lie; together
    (pieces + 1) error/least slope. A flat stretch of this length whose level is s away from every other level gains at
    most 2 error length/s more: V is concave, so that slopes of nearly optimal points s apart are nearly in order. Where
    levels come arbitrarily near to a flat one, values alone give no bound: two optima may be tied with different d.

    Args:
        cost: the person's virtual cost.
        value_error: absolute, >= 0.
        rent_width: how far apart the bounds of an enclosed rent are.
        exact_range: the optimum is exact over a range that does not depend on reports, as under `solve_grid`; d then
            falls in psi, and flat stretches gain nothing.

    Returns:
        In the unit of V; None where there is no bound.

    Example:
        >>> from confide.acquisition.beliefs.priors import HistogramPrior, UniformPrior
        >>> incentive_bound(UniformPrior().virtual_cost(), 1e-12)
        1e-12
        >>> ironed = HistogramPrior((0.0, 0.25, 0.75, 1.0), (0.3, 0.2, 0.5)).virtual_cost()
        >>> print(incentive_bound(ironed, 1e-12))
        None
    """
    error, width = non_negative("value_error", value_error), non_negative("rent_width", rent_width)
    if not isinstance(cost, VirtualCost):
        slope = float(cost.slope_bounds(*cost.support)[0])
        return 2.0 * error / slope + 2.0 * width if slope > 0 else None
    rising = cost.slopes > 0
    gain = (np.count_nonzero(rising) + 1) * error / float(cost.slopes[rising].min()) if rising.any() else 0.0
    if exact_range:
        return float(gain)
    lengths = np.diff(cost.bounds)
    flat = np.flatnonzero(~rising & (lengths > 0) & np.isfinite(cost.lows))
    below = cost.lows[flat] - np.append(-np.inf, cost.highs)[flat]
    above = np.append(cost.lows, np.inf)[flat + 1] - cost.lows[flat]
    apart = np.minimum(below, above)
    if np.any(apart <= 0):
        return None
    return float(gain + 2.0 * error * np.sum(lengths[flat] / apart))
