"""Standard exponentials from random bits, each with a small relative error compared with an ideal real draw.

A uniform number of 53 bits has absolute precision only, so a small exponential that is computed from such a number has
few correct digits. Random orders that depend on small differences would then have a wrong law. This module therefore
represents a uniform W in (0, 1/2) by its number of leading zeros and 53 further bits. One more bit selects the half of
(0, 1): E = -ln(1 - W) or E = -ln(W). Neither of the formulas -ln(1 - W) and -ln(W) loses digits in the half of (0, 1)
in which it is used.

Source: spec targeted_search 3.2 (floating point).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.contract.errors import SolverFailed
from confide.privacy.noise.choices import words
from confide.privacy.noise.entropy import Entropy

__all__ = ["exponentials"]

_RUN = 10  # bits of a word that tell leading zeros: one draw in 2^10 needs another word
_STUCK = 960  # leading zeros that no honest source of randomness gives; 2^-962 is still a normal double
_RUNS = np.array([_RUN - field.bit_length() for field in range(1 << _RUN)], dtype=np.int64)


def exponentials(count: int, entropy: Entropy) -> NDArray[np.float64]:
    """Independent standard exponentials, each with a relative error of at most 2^-50 compared with an ideal real draw.

    Args:
        count: the number of draws.
        entropy: the source of the bits. A draw takes eight bytes, and about one draw in 1024 takes eight more.

    Raises:
        SolverFailed: the source of randomness is broken and returns zeros for ever.
    """
    drawn = words(count, entropy)
    runs = _RUNS[((drawn >> np.uint64(53)) & np.uint64((1 << _RUN) - 1)).astype(np.int64)]
    unfinished = np.flatnonzero(runs == _RUN)
    while unfinished.size:
        found = np.array([64 - word.bit_length() for word in words(unfinished.size, entropy).tolist()], dtype=np.int64)
        runs[unfinished] += found
        unfinished = unfinished[found == 64]
        if runs.max() > _STUCK:
            raise SolverFailed("exponential noise", "the source of randomness gives only zeros")
    result = np.empty(count)
    _standard(drawn, runs, result)
    return result


@kernel
def _standard(drawn: NDArray[np.uint64], runs: NDArray[np.int64], result: NDArray[np.float64]) -> None:
    """Compute exponentials from random words: the highest bit selects the half of (0, 1), and the lowest 53 bits f give
    W = 2^-(run + 2) (1 + f 2^-53), where `run` is the number of leading zeros.

    The ideal W has further bits below the 53 bits of f. The number 2 (2^53 + f) + 1 is the middle of the interval in
    which the ideal W lies, in its units. The double nearest to 2 (2^53 + f) + 1 is off by one at most, so W is within a
    relative 2^-53 of the ideal W. The relative error of E is at most 1.45 times the error of W, plus the rounding of
    one logarithm, which is a double's last place. All relative errors of E together are below 2^-51.
    """
    for k in range(len(drawn)):
        mantissa = (drawn[k] & np.uint64((1 << 53) - 1)) | np.uint64(1 << 53)
        half = math.ldexp(float((mantissa << np.uint64(1)) | np.uint64(1)), -56 - runs[k])
        if drawn[k] >> np.uint64(63):
            result[k] = -math.log(half)
        else:
            result[k] = -math.log1p(-half)
