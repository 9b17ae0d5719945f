"""How far records that are made up alike move a regression: closed sums, from public second moments alone.

Take m records with the same features x and the same answer, among n - m honest people whose second moments are S =
E[x x']. Least squares then moves by m r A^-1 x/(1 + m x'A^-1 x), for A = (n - m) S and the residual r of these records
at the honest estimate. With the leverage L = x'S^-1 x, the predictions of all people move, in root mean square, by

    m r sqrt(L)/(n - m + m L).

A ridge only shrinks that. Whoever may choose x takes the largest of it over L, up to |x|^2 over the least eigenvalue.
"""

from __future__ import annotations

import math

from confide.contract.checks import non_negative, positive, whole
from confide.contract.errors import InvalidInput
from confide.numerics.fewest import fewest

__all__ = ["fewest_moving", "moved_by"]


def moved_by(size: int, people: int, residual: float, leverage: float) -> float:
    """By how much so many records alike move predictions, in root mean square over all people.

    Args:
        size: m, in 0..people.
        people: n.
        residual: |r|, how far their answer is from what the honest estimate predicts for them, >= 0.
        leverage: L > 0; the number of coefficients is its average over people.

    Raises:
        InvalidInput: out of range.

    Example:
        >>> round(moved_by(10, 1000, 2.0, 4.0), 4)
        0.0388
    """
    m, n = whole("size", size), whole("people", people, at_least=1)
    if m > n:
        raise InvalidInput("size", f"{m} is more than are invited", f"must be at most {n}")
    r, lever = non_negative("residual", residual), positive("leverage", leverage)
    return m * r * math.sqrt(lever) / (n - m + m * lever)


def fewest_moving(error: float, people: int, residual: float, leverage: float) -> int | None:
    """The fewest records alike that move predictions by an error; None where no number does.

    Args:
        error: in root mean square, > 0.
        people: n.
        residual: see `moved_by`.
        leverage: see `moved_by`.
    """
    goal = positive("error", error)
    return fewest(lambda m: moved_by(m, people, residual, leverage) >= goal, people)
