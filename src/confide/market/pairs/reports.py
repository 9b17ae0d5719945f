"""The law of how many report 1, when people randomise bits of any exchangeable law; to full relative accuracy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, log_expit

from confide.contract.errors import Unsupported

__all__ = ["LARGEST_LAW", "log_report_law"]

LARGEST_LAW = 2000
"""Most people: the work grows with their square."""


def log_report_law(log_counts: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """ln of the sum over L of weight(L) P(Bin(L, q) + Bin(m - L, 1 - q) = k), for every k.

    Args:
        log_counts: (..., m + 1) logarithms of the weights, with m at most 2000.
        epsilon: level of the randomised response; q = e^epsilon/(1 + e^epsilon).

    Source: spec data_market section 4. With u = 1 - q + q z and v = q + (1 - q) z the law is the polynomial sum of
    weight(L) u^L v^(m-L), by Horner's rule in logarithms: all terms are positive, nothing cancels or underflows.

    Example:
        >>> np.exp(log_report_law(np.log([0.5, 0.25, 0.25]), 700.0)).round(6).tolist()
        [0.5, 0.25, 0.25]
    """
    m = log_counts.shape[-1] - 1
    if m > LARGEST_LAW:
        raise Unsupported("people", f"the law of the reports of {m}", f"at most {LARGEST_LAW}")
    keep, flip, factorial = float(log_expit(epsilon)), float(log_expit(-epsilon)), gammaln(np.arange(1.0, m + 2.0))
    k, law = np.arange(m + 1), log_counts[..., m:]
    for j in range(1, m + 1):
        grown = np.concatenate([law, np.full((*law.shape[:-1], 1), -np.inf)], axis=-1)
        grown, shifted = flip + grown, keep + np.roll(grown, 1, axis=-1)
        zeros = factorial[j] - factorial[: j + 1] - factorial[j::-1] + (j - k[: j + 1]) * keep + k[: j + 1] * flip
        law = np.logaddexp(np.logaddexp(grown, shifted), log_counts[..., m - j:m - j + 1] + zeros)
    return law
