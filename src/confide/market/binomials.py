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
import scipy
from numpy.typing import ArrayLike, NDArray

from confide.market.signal_model import Reporting

__all__ = [
    "MajorityErrors",
    "log_errors",
    "majority_errors",
    "majority_odds",
    "majority_threshold",
    "table_of_errors",
]

UNDERFLOW = 600.0
"""m D(epsilon) above which error probabilities are kept as logarithms."""

TINY = 1e-30
"""Below this rho, kappa is proportional to it for every m; its square would leave the doubles."""


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
    size, rho, miss, agree = np.broadcast_arrays(np.asarray(m, dtype=np.float64), reporting.edge, reporting.miss,
                                                 reporting.agree)
    half = np.floor(size / 2.0)
    odd, some = size > 2.0 * half, size > 0
    near = np.maximum(np.abs(rho), TINY)
    kappa = scipy.special.betainc(0.5, half + odd, near**2, where=some, out=np.zeros(size.shape)) * (rho / near)
    # Two regularised beta functions each, and none where its value is not used.
    sharp = odd & (kappa >= 0.5)
    both = np.where(odd, (1.0 - kappa) / 2.0, 0.0)
    scipy.special.betainc(half + 1.0, 0.5, 4.0 * miss * agree, where=sharp, out=both)
    both[sharp] *= 0.5
    even = some & ~odd
    low = scipy.special.betainc(half, half + 1.0, miss, where=even, out=np.where(some, both, 1.0))
    high = scipy.special.betainc(half + 1.0, half, miss, where=even, out=both)
    return MajorityErrors(low=low[()], high=high[()], kappa=kappa[()])


def _central(k: ArrayLike) -> NDArray[np.float64]:
    """C(2k, k)/4^k for k >= 0, by its asymptotic series from 32 on."""
    index = np.asarray(k, dtype=np.float64)
    small = np.minimum(index, 32.0)
    paths = scipy.special.gammaln(2 * small + 1) - 2 * scipy.special.gammaln(small + 1)
    near = np.exp(paths - 2 * small * math.log(2.0))
    far = np.maximum(index, 32.0)
    inverse = 1.0 / far
    series = 1 + inverse * (-1 / 8 + inverse * (1 / 128 + inverse * (5 / 1024 + inverse * (
        -21 / 32768 + inverse * (-399 / 262144 + inverse * (869 / 4194304 + inverse * 39325 / 33554432))))))
    return np.where(index < 32, near, series / np.sqrt(math.pi * far))


def table_of_errors(largest: int, reporting: Reporting, least: int = 0) -> MajorityErrors:
    """The errors for every m = least..largest at once, each from its neighbour by a positive term.

    With u_k = C(2k, k) (alpha (1-alpha))^k: from 2k-1 to 2k+1 reports kappa rises by rho u_k and the error falls by
    half of that; of 2k reports kappa is that of 2k-1, and the error that of 2k+1 less (1-alpha) u_k in state 0, and u_k
    more than this in state 1.

    Args:
        largest: m of the last entry.
        reporting: of one report, numbers; rho > 0.
        least: m of the first entry, >= 0.
    """
    first, top = least // 2, largest // 2
    rho, miss, k = float(reporting.edge), float(reporting.miss), np.arange(first, top + 1)
    with np.errstate(under="ignore"):
        u = _central(k) * np.exp(k * float(reporting.log_rate))
    # Rows: 2k and 2k + 1 reports.
    low, high, kappa = (np.empty((k.size, 2)) for _ in range(3))
    rest = np.append(np.cumsum(u[:0:-1])[::-1], 0.0)
    low[:, 1] = high[:, 1] = float(majority_errors(2 * top + 1, reporting).low) + rho / 2.0 * rest
    high[:, 0] = high[:, 1] - miss * u
    low[:, 0] = high[:, 0] + u
    kappa[:, 1] = float(majority_errors(2 * first + 1, reporting).kappa) + rho * np.append(0.0, np.cumsum(u[1:]))
    kappa[1:, 0] = kappa[:-1, 1]
    kappa[0, 0] = float(majority_errors(2 * first, reporting).kappa)
    if first == 0:
        low[0, 0], high[0, 0] = 1.0, 0.0
    part = slice(least - 2 * first, largest - 2 * first + 1)
    return MajorityErrors(low=low.ravel()[part], high=high.ravel()[part], kappa=kappa.ravel()[part])


def majority_odds(least: int, largest: int, rate: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P(no majority of ones) and P(a majority of ones) among m = least..largest reports that are 1 with some rate.

    Args:
        least: first m >= 0.
        largest: last m.
        rate: P(a report is 1), in [0, 1].
    """
    m = np.arange(least, largest + 1)
    if rate <= 0.0 or rate >= 1.0:
        ones = ((m > 0) & (rate >= 1.0)).astype(np.float64)
        return 1.0 - ones, ones
    more = max(rate, 1.0 - rate)
    reporting = Reporting(edge=2.0 * more - 1.0, agree=more, miss=min(rate, 1.0 - rate))
    errors = table_of_errors(largest, reporting, least)
    return (errors.low, 1.0 - errors.low) if rate >= 0.5 else (1.0 - errors.high, errors.high)


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
