"""`dual_value`: what any prices prove of all solutions, in whole numbers: no feasible one is worth more. Private.

    OPT <= D(prices) = sum_i max_x (v_i(x) - <prices, c_i(x)>) + <prices, supply>, and the public block's maximum

Everybody's maximum is that of her best response, which is exact, so the bound is exact too.

Source: spec convex_programs 1 (Lagrangian) and 8.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.errors import InvalidInput
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.program import Program
from confide.programs.reading.slots import collected

__all__ = ["as_prices", "dual_value", "exact_dual", "nearest_down", "nearest_up"]

_BLOCK = 1 << 16


def dual_value(program: Program, data: Any, prices: ArrayLike) -> float:
    """An upper bound of the optimum, at any prices of the box; exact, and rounded up once. Private.

    Args:
        program: whose records they are.
        data: n records, a table of them as a run takes it, or what `program.read` made of them.
        prices: (k,) natural, rounded to the grid first.

    Raises:
        InvalidInput: prices of another shape, or outside the box.

    Example:
        >>> from confide.programs import UnitDemand
        >>> dual_value(UnitDemand(3, (1.0,)), [[1.0], [0.5], [0.25]], [0.5])
        1.0
    """
    return nearest_up(exact_dual(program, program.read(collected(program, data)), as_prices(program, prices)))


def as_prices(program: Program, prices: ArrayLike) -> NDArray[np.int64]:
    """(k,) natural prices in units.

    Args:
        program: whose box they must lie in.
        prices: (k,).

    Raises:
        InvalidInput: of another shape, or outside the box.
    """
    given = np.asarray(prices, dtype=np.float64)
    if given.shape != (program.rows,):
        raise InvalidInput("prices", f"their shape is {given.shape}", f"must be {(program.rows,)}")
    low, high = program.lowest_prices, program.highest_prices
    units = np.rint(given * PRICE_UNIT)
    if not bool(((units >= low) & (units <= high)).all()):
        raise InvalidInput("prices", "lie outside the box", "between 0 (of equations -2 tau) and 2 tau")
    return np.asarray(units.astype(np.int64))


def exact_dual(program: Program, records: Any, prices: NDArray[np.int64]) -> Fraction:
    """D(prices), exactly. Private.

    Args:
        program: whose records they are.
        records: of all participants.
        prices: (k,) in units.
    """
    worth, slack = 0, program.supply_units - program.public_load(prices)
    for block in records.blocks(_BLOCK):
        actions = program.respond(block, prices)
        worth += int(program.values(block, actions).sum())
        slack = slack - program.load(block, actions)
    paid = sum(int(price) * int(left) for price, left in zip(prices, slack, strict=True))
    lost = int(records.people) * Fraction(program.oracle_error)  # what the best responses may be worth more
    public = Fraction(program.public_value(prices))
    return lost + Fraction(worth, PRICE_UNIT) + Fraction(paid, PRICE_UNIT * LOAD_UNIT) + public


def nearest_up(number: Fraction) -> float:
    """The least double at or above a rational number."""
    near = float(number)
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)


def nearest_down(number: Fraction) -> float:
    """The largest double at or below a rational number."""
    return 0.0 - nearest_up(-number)
