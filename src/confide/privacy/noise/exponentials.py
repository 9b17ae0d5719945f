"""Standard exponentials from random bits, each near an ideal real one in relative terms.

A uniform real number of 53 bits has an absolute precision only: an exponential made from it loses its digits where it
is small, and orders that hang on small differences lose their law. So a uniform W in (0, 1/2) is known by its leading
zeros and 53 further bits, and one bit more says which half it stands for: E = -ln(1 - W) or E = -ln(W). Both are
evaluated where neither loses digits.

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
    """Independent standard exponentials, each within a relative 2^-50 of an ideal real one.

    Args:
        count: the number of draws.
        entropy: the source of the bits: eight bytes a draw, and eight more for about one in 1024.

    Raises:
        SolverFailed: the source of randomness is broken (it gives zeros for ever).
    """
    drawn = words(count, entropy)
    runs = _RUNS[((drawn >> np.uint64(53)) & np.uint64((1 << _RUN) - 1)).astype(np.int64)]
    unfinished = np.flatnonzero(runs == _RUN)
    while unfinished.size:
        found = np.array([64 - word.bit_length() for word in words(unfinished.size, entropy).tolist()], dtype=np.int64)
        runs[unfinished] += found
        unfinished = unfinished[found == 64]
        if runs.max() > _STUCK:
            raise SolverFailed("exponential noise", "the source of randomness gives nothing but zeros")
    result = np.empty(count)
    _standard(drawn, runs, result)
    return result


@kernel
def _standard(drawn: NDArray[np.uint64], runs: NDArray[np.int64], result: NDArray[np.float64]) -> None:
    """Highest bit: which half. Lowest 53 bits f: W = 2^-(run + 2) (1 + f 2^-53), with a fresh tail below f.

    2 (2^53 + f) + 1 is the middle of where the ideal number lies; as a double it is off by one at most, so that W is
    within a relative 2^-53 of the ideal one, and E within 1.45 times that and the rounding of one logarithm, a double's
    last place: 2^-51 together.
    """
    for k in range(len(drawn)):
        mantissa = (drawn[k] & np.uint64((1 << 53) - 1)) | np.uint64(1 << 53)
        half = math.ldexp(float((mantissa << np.uint64(1)) | np.uint64(1)), -56 - runs[k])
        if drawn[k] >> np.uint64(63):
            result[k] = -math.log(half)
        else:
            result[k] = -math.log1p(-half)
