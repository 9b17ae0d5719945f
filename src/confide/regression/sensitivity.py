"""The sensitivity of a ridge estimate to one record, for constrained and for plain estimates, and the constant that is
printed in Cummings et al. 2015.

One record contributes f = (x'theta) x - y x to half the gradient of the sum of squares. Over ||x|| <= 1, |y| <= Y and
||theta|| <= R the set of possible contributions f has diameter D(R, Y). An estimate with ridge weight gamma moves by at
most D / gamma when one record is replaced. The printed constant bounds |x'theta| by the bound on the true parameter,
which a plain ridge estimate exceeds. `counterexample` gives two neighbouring data sets that violate the printed
constant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import non_negative, positive, whole
from confide.contract.errors import InvalidInput

__all__ = [
    "WeightedRows",
    "counterexample",
    "diameter",
    "plain_sensitivity",
    "printed_constant",
    "printed_constant_valid",
    "removal_sensitivity",
    "replacement_sensitivity",
    "ridge_norm_sup",
    "steepest",
]


def steepest(radius: float, response: float) -> float:
    """The cosine c of the angle phi at which `diameter` attains its maximum: the root in [0, 1/sqrt(2)] of 2 R c^2 + Y
    c - R.

    Args:
        radius: bound R >= 0 on the norm of the estimate.
        response: bound Y > 0 on |y|.
    """
    return 2 * radius / (response + math.sqrt(response * response + 8 * radius * radius))


def diameter(radius: float, response: float) -> float:
    """The diameter D(R, Y) = max over phi of R sin(2 phi) + 2 Y sin(phi) = 2 sqrt(1 - c^2) (R c + Y), rounded up by
    2^-50.

    Args:
        radius: bound R >= 0 on the norm of the estimate.
        response: bound Y > 0 on |y|.

    Returns:
        The diameter D, which is between 2 Y (at R = 0) and R + 2 Y, and increases in R and in Y.

    Source: spec truthful_regression section 4.2, in place of Cummings et al. 2015, Lemma 6. Attained for d >= 2.

    Example:
        >>> round(diameter(1, 2), 9)
        4.403669475
    """
    bound, reach = non_negative("radius", radius), positive("response", response)
    c = steepest(bound, reach)
    # Noise is scaled by this: it must not come out too small. D is flat in c, so the rest errs by a few 2^-53 only.
    return 2 * math.sqrt((1 - c) * (1 + c)) * (bound * c + reach) * (1 + 2.0**-50)


def ridge_norm_sup(rows: int, ridge: float, response: float) -> float:
    """The largest norm of a plain ridge estimate from m rows with ||x|| <= 1 and |y| <= Y.

    The norm is (Y / 2) sqrt(m / gamma) if gamma <= m, and Y m / (gamma + m) if gamma > m.

    Args:
        rows: number m of rows, at least 1: the size of the group from which the estimate is computed.
        ridge: ridge weight gamma > 0.
        response: bound Y > 0 on |y|.

    Source: spec truthful_regression section 4.2.
    """
    m = whole("rows", rows, at_least=1)
    gamma, reach = positive("ridge", ridge), positive("response", response)
    return reach / 2 * math.sqrt(m / gamma) if gamma <= m else reach * m / (gamma + m)


def replacement_sensitivity(ridge: float, radius: float, response: float) -> float:
    """An upper bound D(R, Y) / gamma on the movement of the ridge estimate constrained to a ball when one record is
    replaced.

    Args:
        ridge: weight gamma > 0 of the ridge penalty in the estimate. The weight does not grow with the number of rows.
        radius: radius R > 0 of the ball.
        response: bound Y > 0 on |y|.

    Source: spec truthful_regression section 4.2.
    """
    return diameter(positive("radius", radius), response) / positive("ridge", ridge)


def removal_sensitivity(ridge: float, radius: float, response: float) -> float:
    """An upper bound (R + Y) / gamma on the movement of the constrained estimate when one record is added or removed.

    Source: spec truthful_regression section 4.2.
    """
    return (positive("radius", radius) + positive("response", response)) / positive("ridge", ridge)


def plain_sensitivity(rows: int, ridge: float, response: float) -> float:
    """An upper bound on the movement of the plain ridge estimate of m rows when one record is replaced. The bound grows
    with m / gamma.

    The bound is D(sup of the estimate's norm, Y) / gamma. For d >= 2 the bound is attained asymptotically.

    Source: spec truthful_regression section 4.2.
    """
    return diameter(ridge_norm_sup(rows, ridge, response), response) / ridge


def printed_constant(square_bound: float, noise_bound: float) -> float:
    """The bound 4 B + 2 M on gamma times the sensitivity, as printed in Cummings et al. 2015. The bound is false in
    some cases; see `printed_constant_valid`.

    Args:
        square_bound: bound B > 0 in the notation of Cummings et al. 2015, where |y| <= B + M.
        noise_bound: bound M > 0 on a residual.

    Source: Cummings et al. 2015, Lemma 6.
    """
    return 4 * positive("square_bound", square_bound) + 2 * positive("noise_bound", noise_bound)


def printed_constant_valid(
    rows: int, ridge: float, square_bound: float, noise_bound: float, radius: float = math.inf
) -> bool:
    """Whether 4 B + 2 M bounds gamma times the sensitivity of a ridge estimate, for answers |y| <= B + M.

    Args:
        rows: number m of records from which the estimate is computed.
        ridge: ridge weight gamma > 0.
        square_bound: bound B > 0 in the notation of Cummings et al. 2015, where |y| <= B + M.
        noise_bound: bound M > 0 on a residual.
        radius: radius R of the ball to which the estimate is constrained; infinity for no ball.

    Returns:
        True if D(min(R, sup of the plain norm), B + M) <= 4 B + 2 M. For one-dimensional data the condition on D is
        sufficient but not necessary.

    Source: spec truthful_regression section 4.2.
    """
    if not radius > 0:
        raise InvalidInput("radius", f"{radius!r} is out of range", "must be positive")
    response = square_bound + noise_bound
    longest = min(radius, ridge_norm_sup(rows, ridge, response))
    return diameter(longest, response) <= printed_constant(square_bound, noise_bound)


@dataclass(frozen=True, kw_only=True, eq=False)
class WeightedRows:
    """A small data set in which row j stands for `copies[j]` equal records.

    Args:
        x: (k, d) feature rows.
        y: (k,) responses of the rows.
        copies: (k,) numbers of equal records, whole numbers as float64.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    copies: NDArray[np.float64]

    def statistics(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The moments X'X, shape (d, d), and X'y, shape (d,)."""
        weighted = self.x * self.copies[:, None]
        return self.x.T @ weighted, weighted.T @ self.y

    def ridge(self, ridge: float) -> NDArray[np.float64]:
        """The plain ridge estimate, shape (d,), for a given ridge weight."""
        matrix, vector = self.statistics()
        return np.asarray(np.linalg.solve(matrix + ridge * np.eye(len(vector)), vector))


def counterexample(
    rows: int, ridge: float, square_bound: float = 1.0, noise_bound: float = 1.0
) -> tuple[WeightedRows, WeightedRows]:
    """Two data sets that differ in one record, and whose plain ridge estimates differ by more than the printed constant
    allows.

    All records but one push the estimate along the first axis as far as possible. The last record pulls against the
    push of all other records, from one side of the axis in the first data set and from the other side in the second
    data set.

    Args:
        rows: number n of records, >= 2.
        ridge: ridge weight gamma in (0, n - 1].
        square_bound: bound B in the notation of Cummings et al. 2015, where |y| <= B + M.
        noise_bound: bound M on a residual.

    Returns:
        The two data sets, each given as two weighted rows. `gamma * ||first.ridge(gamma) - second.ridge(gamma)||` is
        the distance to compare with `printed_constant`.

    Raises:
        InvalidInput: gamma is above n - 1, where the rows would be longer than 1.

    Source: spec truthful_regression section 4.3, against Cummings et al. 2015, Lemma 6.

    Example:
        >>> first, second = counterexample(10_000, 10.0)
        >>> round(10.0 * float(np.linalg.norm(first.ridge(10.0) - second.ridge(10.0))), 2)
        32.04
    """
    n = whole("rows", rows, at_least=2)
    gamma = positive("ridge", ridge, at_most=n - 1)
    response = positive("square_bound", square_bound) + positive("noise_bound", noise_bound)
    cosine = steepest(response * math.sqrt(n / gamma) / 2, response)
    sine = math.sqrt((1 - cosine) * (1 + cosine))
    common = (math.sqrt(gamma / (n - 1)), 0.0)
    first, second = (
        WeightedRows(
            x=np.array([common, (cosine, side * sine)]),
            y=np.array([response, -response]),
            copies=np.array([n - 1.0, 1.0]),
        )
        for side in (1, -1)
    )
    return first, second
