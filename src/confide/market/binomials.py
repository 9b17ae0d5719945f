"""How often the majority of m independent reports errs, at any m up to 10^9, without cancellation.

m reports equal the state with probability alpha = (1 + rho)/2 each; a majority needs floor(m/2) + 1 ones, so that a tie
counts as 0. Three numbers say everything:

- `low` = b1 = P(majority says 0 | state 1), `high` = b0 = P(majority says 1 | state 0), equal for odd m;
- `kappa` = 1 - b1 - b0, how much more often it says 1 in state 1.

Source: Wang 2016, section 3.3.2 (beta = 1 - b1, gamma = 1 - b1 + b0); the stable forms are ours, spec data_market 2.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, gammaln

from confide.market.nature import Reporting

__all__ = ["MajorityErrors", "log_errors", "majority_errors", "majority_threshold", "table_of_errors"]

UNDERFLOW = 600.0
"""m D(epsilon) above which error probabilities are kept as logarithms."""


@dataclass(frozen=True)
class MajorityErrors:
    """The two error probabilities of a majority and its power; numbers, or arrays over m.

    Args:
        low: P(it says 0 | state 1).
        high: P(it says 1 | state 0).
        kappa: 1 - low - high.
    """

    low: Any
    high: Any
    kappa: Any


def majority_threshold(m: ArrayLike) -> Any:
    """t = floor(m/2) + 1, the least number of ones that make a majority of m."""
    return np.asarray(m) // 2 + 1


def majority_errors(m: ArrayLike, reporting: Reporting) -> MajorityErrors:
    """The errors of a majority of m reports.

    Args:
        m: whole numbers >= 0.
        reporting: how one report depends on the state; broadcasts with m.

    Example:
        >>> errors = majority_errors(39, Reporting.of(0.8, 1e-4))
        >>> f"{float(errors.kappa):.10e}"
        '1.5044482416e-04'
    """
    size, rho, miss = np.broadcast_arrays(np.asarray(m, dtype=np.float64), reporting.edge, reporting.miss)
    half = np.floor(size / 2.0)
    odd = size > 2.0 * half
    kappa = betainc(0.5, np.maximum(half + odd, 0.5), rho**2)
    kappa = np.where(size == 0, 0.0, np.where(rho < 0, -kappa, kappa))
    square = 4.0 * miss * np.asarray(reporting.agree)
    # Two regularised beta functions each; betainc wants positive parameters also where its value is not used.
    up = np.maximum(half, 0.5)
    tail = 0.5 * betainc(half + 1.0, 0.5, square)
    odd_error = np.where(kappa < 0.5, (1.0 - kappa) / 2.0, tail)
    low = np.where(odd, odd_error, np.where(size == 0, 1.0, betainc(up, half + 1.0, miss)))
    high = np.where(odd, odd_error, np.where(size == 0, 0.0, betainc(half + 1.0, up, miss)))
    return MajorityErrors(low=low[()], high=high[()], kappa=kappa[()])


def _central(k: ArrayLike) -> NDArray[np.float64]:
    """C(2k, k)/4^k for k >= 0, by its asymptotic series from 32 on."""
    index = np.asarray(k, dtype=np.float64)
    small = np.minimum(index, 32.0)
    near = np.exp(gammaln(2 * small + 1) - 2 * gammaln(small + 1) - 2 * small * math.log(2.0))
    far = np.maximum(index, 32.0)
    inverse = 1.0 / far
    series = 1 + inverse * (-1 / 8 + inverse * (1 / 128 + inverse * (5 / 1024 + inverse * (
        -21 / 32768 + inverse * (-399 / 262144 + inverse * (869 / 4194304 + inverse * 39325 / 33554432))))))
    return np.where(index < 32, near, series / np.sqrt(math.pi * far))


def table_of_errors(largest: int, reporting: Reporting) -> MajorityErrors:
    """The errors for every m = 0..largest at once, each from its neighbour by a positive term: O(largest).

    With u_k = C(2k, k) (alpha (1-alpha))^k, k = 0, 1, ...: kappa of 2k-1 and of 2k reports is rho sum_{j<k} u_j; the
    error of 2k-1 reports is half of what is left of that sum; of 2k reports it is that of 2k+1 less (1-alpha) u_k in
    state 0, and u_k more in state 1.

    Args:
        largest: m of the last entry, >= 0.
        reporting: of one report, numbers.
    """
    top = largest // 2 + 1  # errors of 1, 3, ..., 2 top - 1 >= largest
    rho, miss = float(reporting.edge), float(reporting.miss)
    k = np.arange(top + 1)
    with np.errstate(under="ignore"):
        u = _central(k) * np.exp(k * float(reporting.log_rate))
    sums = np.concatenate([[0.0], np.cumsum(u[:top])])  # of j < k
    kappa = rho * sums
    last = float(majority_errors(2 * top - 1, reporting).low)
    odd = np.empty(top + 1)  # odd[k]: of 2k - 1 reports
    odd[1:] = last + rho / 2.0 * np.concatenate([np.cumsum(u[1:top][::-1])[::-1], [0.0]])
    low, high, power = (np.empty(2 * top + 1) for _ in range(3))
    low[1::2] = high[1::2] = odd[1:]
    power[1::2] = power[2::2] = kappa[1:]
    following = np.append(odd[1:], last - rho / 2.0 * u[top])
    high[0::2] = following - miss * u
    low[0::2] = high[0::2] + u
    low[0], high[0], power[0] = 1.0, 0.0, 0.0
    return MajorityErrors(low=low[:largest + 1], high=high[:largest + 1], kappa=power[:largest + 1])


def _log_tail(m: int, top: int, ratio: float) -> float:
    """ln of the sum of P(k)/P(top) for k = top, top - 1, ..., 0, where P(k-1)/P(k) = ratio k/(m - k + 1) < 1."""
    total, term, start, size = 1.0, 1.0, top, 256
    while start > 0 and term > 1e-18 * total:
        k = np.arange(start, max(start - size, 0), -1, dtype=np.float64)
        terms = term * np.cumprod(ratio * k / (m - k + 1.0))
        total += float(terms.sum())
        term, start, size = float(terms[-1]), start - size, 4 * size
    return math.log(total)


def log_errors(m: int, reporting: Reporting) -> tuple[float, float]:
    """ln b1 and ln b0, also where the probabilities leave the doubles.

    Args:
        m: at least 1.
        reporting: of one report, numbers, with a positive edge: terms are summed from the boundary downwards.

    Example:
        >>> round(log_errors(10**6, Reporting.of(0.8, 1.0))[0], 3)
        -40003.679
    """
    agree, miss, log_rate = float(reporting.agree), float(reporting.miss), float(reporting.log_rate)
    k = (m + 1) // 2
    log_u = k * log_rate + math.log(float(_central(k)))
    ratio = miss / agree
    if m % 2:
        both = log_u - math.log(2.0 * agree) + _log_tail(m, k - 1, ratio)
        return both, both
    low = log_u + _log_tail(m, k, ratio)
    high = log_u + math.log(k * miss / ((k + 1) * agree)) + _log_tail(m, k - 1, ratio)
    return low, high
