"""Certified upper bounds on how many clauses a record can satisfy, by weak duality in whole numbers.

For rows A z <= b, 0 <= z <= u and any multipliers y (y >= 0, of any sign where a row is an equation),

    c . z <= y . b + sum over columns of u max(0, c - A' y),

whatever y is. So a linear program's duals, rounded to a dyadic grid, make a bound that no tolerance of the solver can
void: it is computed in 64-bit whole numbers that cannot overflow. As the objective is a whole number, so is the bound's
floor.

Source: spec query_release E2.4.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from confide.contract.checks import positive
from confide.contract.errors import InvalidInput
from confide.release.oracle.program import Program, build, linear_duals
from confide.release.oracle.terms import Terms

__all__ = ["LinearBound", "certified_bound", "linear_bound", "upper_bound"]

_FINEST = 24  # binary places of a multiplier at most


class LinearBound(NamedTuple):
    """A certified bound: the value of the multipliers, and whether a time limit cut the solver short."""

    value: Fraction
    timed_out: bool

    @property
    def clauses(self) -> int:
        """The floor: no record satisfies more clauses."""
        return math.floor(self.value)


def certified_bound(program: Program, duals: ArrayLike) -> Fraction:
    """An upper bound on the program's objective, exact for the rounded multipliers.

    Args:
        program: from `build`.
        duals: (rows,) any numbers. They are rounded, those below 0 are set to 0 where the row is an inequality, and
            what is beyond the largest cost is cut there (which never loses anything for these programs).

    Raises:
        InvalidInput: another number of duals.
    """
    multipliers = np.nan_to_num(np.asarray(duals, dtype=np.float64), nan=0.0)
    if multipliers.shape != program.upper.shape:
        raise InvalidInput("duals", f"an array of shape {multipliers.shape}", f"must be {program.upper.shape}")
    largest = int(program.cost.max(initial=1))
    sizes = np.abs(program.values).sum() + np.abs(program.upper).sum() + program.top.sum() + 1
    places = min(_FINEST, 61 - (largest * int(sizes)).bit_length())
    if places < 0:  # beyond any sum of 64 bits: every clause
        return Fraction(int((program.cost.astype(object) * program.top).sum()) + program.shift)
    limit = largest << places
    least = np.where(program.equal, -limit, 0)
    scaled = np.rint(np.ldexp(np.clip(multipliers, -float(largest), float(largest)), places)).astype(np.int64)
    scaled = np.clip(scaled, least, limit)
    reduced = program.cost << places
    rows = np.repeat(np.arange(program.upper.size), np.diff(program.starts))
    np.subtract.at(reduced, program.columns, program.values * scaled[rows])
    total = int((scaled * program.upper).sum()) + int((program.top * np.maximum(reduced, 0)).sum())
    return Fraction(total, 1 << places) + program.shift


def linear_bound(terms: Terms, time_limit: float | None = None) -> LinearBound:
    """The linear relaxation of the disaggregated form, certified.

    Args:
        terms: the netted samples.
        time_limit: in seconds, > 0; None for none. Cut short, the bound is valid still, and may be no better than the
            number of clauses.

    Example:
        >>> terms = Terms(kind="conjunctions", attributes=2, index=[[0, 1], [0, -1], [1, -1]],
        ...               bits=[[1, 1], [0, 0], [0, 0]], weights=[2, 2, 2])
        >>> linear_bound(terms)
        LinearBound(value=Fraction(4, 1), timed_out=False)
    """
    limit = math.inf if time_limit is None else positive("time_limit", time_limit)
    program = build(terms)
    duals, timed_out = linear_duals(program, limit)
    bound = min(certified_bound(program, duals), Fraction(terms.clauses))
    return LinearBound(bound, timed_out)


def upper_bound(terms: Terms, time_limit: float | None = None) -> float:
    """No record satisfies more clauses than this whole number: `linear_bound`, rounded down.

    Args:
        terms: the netted samples.
        time_limit: in seconds, > 0; None for none.

    Source: spec query_release E2.4.

    Example:
        >>> upper_bound(Terms(kind="conjunctions", attributes=1, index=[[0], [0]], bits=[[1], [0]], weights=[3, 5]))
        5.0
    """
    return float(linear_bound(terms, time_limit).clauses)
