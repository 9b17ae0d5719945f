"""All rows through the same table, under an exchangeable prior: what types of letter counts tell, without joint types.

Source: spec privacy_notions 1.1 (structured channels).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import binom

from confide.channels.priors import Exchangeable
from confide.contract.errors import Unsupported

__all__ = ["LARGEST_ALIKE", "largest_change", "letter_posteriors", "output_logs"]

LARGEST_ALIKE = 6000
"""Most rows whose outputs' law is computed: some 10^10 products."""

_Vector = NDArray[np.float64]
_AT_ONCE = 2**21  # pairs of an input and an output: 16 MiB for each of their numbers


def letter_posteriors(table: _Vector, prior: Exchangeable) -> _Vector:
    """(l, k, m) ln of p(x) Q(y|x) by one row's letter and output, given the other rows, to a factor of each line.

    Args:
        table: (m, k) of one row.
        prior: of all rows.
    """
    with np.errstate(divide="ignore"):
        return np.asarray(prior.last_row_logs[:, None, :] + np.log(table).T[None])


def output_logs(table: _Vector, prior: Exchangeable) -> tuple[_Vector, _Vector]:
    """(n + 1,) ln of the probability of one output with k ones, and (n + 1,) probabilities of k.

    Args:
        table: (2, 2) of one row.
        prior: over two letters.

    Raises:
        Unsupported: more than 6,000 rows.
    """
    n = prior.records
    if n > LARGEST_ALIKE:
        raise Unsupported("records", f"the output's law of {n:,} rows that go together ({n**3 / 6:.2g} products)",
                          f"at most {LARGEST_ALIKE:,} rows")
    counts = np.zeros(n + 1)  # of outputs that are 1
    for ones, share in zip(prior.types[:, 1].tolist(), np.exp(prior.log_types).tolist(), strict=True):
        if share > 0:
            counts += share * np.convolve(binom.pmf(np.arange(ones + 1), ones, table[1, 1]),
                                          binom.pmf(np.arange(n - ones + 1), n - ones, table[0, 1]))
    k = np.arange(n + 1)
    with np.errstate(divide="ignore"):
        logs = np.log(counts) - gammaln(n + 1) + gammaln(k + 1) + gammaln(n - k + 1)
    return logs, counts


def largest_change(table: _Vector, prior: Exchangeable, outputs: _Vector) -> float:
    """The largest |ln Q(y|x)/p_Y(y)|: of an input with a ones and an output with b, at the fewest and most in common.

    Args:
        table: (2, 2) of one row.
        prior: over two letters.
        outputs: (n + 1,) ln of the probability of one output with b ones.
    """
    n = prior.records
    inputs, b = prior.types[np.isfinite(prior.log_sequence), 1], np.flatnonzero(outputs > -np.inf)[None]
    step = max(1, _AT_ONCE // b.size)
    return max((_change(table, n, inputs[at:at + step, None], b, outputs) for at in range(0, inputs.size, step)),
               default=0.0)


def _change(table: _Vector, n: int, a: NDArray[np.int64], b: NDArray[np.int64], outputs: _Vector) -> float:
    worst = 0.0
    for common in (np.maximum(0, a + b - n), np.minimum(a, b)):
        logs = np.zeros(common.shape)
        for letter, output, count in ((1, 1, common), (1, 0, a - common), (0, 1, b - common),
                                      (0, 0, n - a - b + common)):
            chance = table[letter, output]
            logs = logs + (count * np.log(chance) if chance > 0 else np.where(count > 0, -np.inf, 0.0))
        worst = max(worst, float(np.abs(logs - outputs[b]).max()))
    return worst
