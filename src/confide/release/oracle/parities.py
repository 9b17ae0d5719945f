"""Parities: the rows that tie a parity to its bits, and marginals from parities.

A parity query is 1 where the number of ones in S is even, so p_S(x) = prod over S of (1 - 2 x_i) is 2 q(x) - 1.

Source: spec query_release E3, errata 4 and 5.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

from confide.contract.checks import whole

__all__ = ["ParityRow", "all_on_from_parities", "parity_row"]


class ParityRow(NamedTuple):
    """The row `sum x + half * d + clause * c = total`, with d in 0..most and c in {0, 1}.

    Args:
        half: coefficient of the number of pairs d.
        clause: coefficient of the satisfied clause c.
        total: right-hand side.
        most: the largest d.
    """

    half: int
    clause: int
    total: int
    most: int


def parity_row(size: int, *, positive: bool) -> ParityRow:
    """The row of a parity query, or of its negation, over `size` attributes.

    Args:
        size: of S, >= 0.
        positive: the query (an even number of ones counts), else its negation.

    Example:
        >>> parity_row(3, positive=True), parity_row(3, positive=False)
        (ParityRow(half=-2, clause=1, total=1, most=1), ParityRow(half=-2, clause=-1, total=0, most=1))
    """
    most = max(1, whole("size", size) // 2)  # the text has d binary for sizes up to 3
    return ParityRow(-2, 1, 1, most) if positive else ParityRow(-2, -1, 0, most)


def all_on_from_parities(size: int, parity: Callable[[tuple[int, ...]], Any]) -> Any:
    """The marginal that all attributes of S are on: 2^-|S| sum over subsets U of S of (-1)^|U| p_U.

    Without the signs the sum is that all of them are off. Errors of at most a in every p make an error of at most
    (1 - 2^-|S|) a, because p of the empty set is 1.

    Args:
        size: of S, >= 0.
        parity: the value of p_U, on the scale from -1 to 1, for a subset U of 0..size-1; not asked for the empty one.

    Source: spec query_release E3, erratum 5.

    Example:
        >>> ones = (1, 1, 0)
        >>> all_on_from_parities(2, lambda subset: (-1) ** sum(ones[i] for i in subset))
        1.0
    """
    total: Any = 1
    for width in range(1, whole("size", size) + 1):
        for subset in combinations(range(size), width):
            total = total + (-1) ** width * parity(subset)
    return total / 2**size
