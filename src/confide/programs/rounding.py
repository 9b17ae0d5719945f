"""One main round for everybody, by public randomness: her response in it is whole, and its mean is her average.

The seed is drawn when all records are in: who knew her round while she reported would report for that round alone. It
protects nobody; afterwards everybody may check everybody's. A draw has 2^32 values, so a round's probability is off
1/T by 2^-32 at most.

Source: Wu 2017, Algorithm 9; spec convex_programs 2 and 5.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.privacy.public_randomness import public_number_of, public_numbers
from confide.programs.program import Program

__all__ = ["drawn_round", "drawn_rounds", "responses_in"]

_COIN_BITS = 32


def drawn_rounds(seed: str, people: int, rounds: int) -> NDArray[np.int64]:
    """(n,) everybody's main round, in 0..T-1.

    Args:
        seed: of the public randomness.
        people: n.
        rounds: T, at most 2^31.
    """
    return (public_numbers(seed, people).astype(np.int64) * rounds) >> _COIN_BITS


def drawn_round(seed: str, index: int, rounds: int) -> int:
    """One participant's main round.

    Args:
        seed: of the public randomness.
        index: her place.
        rounds: T, at most 2^31.
    """
    return (public_number_of(seed, index) * rounds) >> _COIN_BITS


def responses_in(
    program: Program, records: Any, prices: NDArray[np.int64], which: NDArray[np.int64],
) -> NDArray[np.int32]:
    """(m, width) everybody's best response in a round of her own.

    Args:
        program: whose they are.
        records: of m participants.
        prices: (T, k) the main rounds', in units.
        which: (m,) the round of each.
    """
    out = np.full((records.people, program.width), -1, dtype=np.int32)
    order = np.argsort(which, kind="stable")
    ends = np.searchsorted(which[order], np.arange(len(prices) + 1))
    for t in range(len(prices)):
        rows = order[ends[t] : ends[t + 1]]
        if len(rows):
            out[rows] = program.respond(records.take(rows), prices[t])
    return out
