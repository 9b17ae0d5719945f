"""Rules of thumb for packing programs, none of them private: what a run is compared with in studies."""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.privacy.noise.simulated import study_generator
from confide.programs.grids import LOAD_UNIT
from confide.programs.program import Program

__all__ = ["in_order", "lottery"]


def in_order(program: Program, records: Any, seed: int) -> int:
    """The value, in units, where one after another takes the best of what is left, by lot.

    A row without room for the largest contribution has the highest price, at which nobody takes it. Where
    contributions differ, what does not fit is left.

    Args:
        program: a packing program.
        records: everybody's.
        seed: of the lot.

    Example:
        >>> from confide.programs import UnitDemand
        >>> program = UnitDemand(2, (1, 1))
        >>> in_order(program, program.read([[1.0, 0.5], [1.0, 0.5]]), 0) / 2**24
        1.5
    """
    left, value = program.supply_units.copy(), 0
    for place in study_generator(seed, "order").permutation(program.people).tolist():
        mine = records.take(slice(place, place + 1))
        prices = np.where(left < program.constants.least_entry * LOAD_UNIT, program.highest_prices, 0)
        value += _served(program, mine, program.respond(mine, prices), left)
    return value


def lottery(program: Program, records: Any, seed: int) -> int:
    """The value, in units, where everybody's favourite is handed out by lot, while it fits.

    Args:
        program: a packing program.
        records: everybody's.
        seed: of the lot.

    Example:
        >>> from confide.programs import UnitDemand
        >>> program = UnitDemand(2, (1, 1))
        >>> lottery(program, program.read([[1.0, 0.5], [1.0, 0.5]]), 0) / 2**24
        1.0
    """
    left, value = program.supply_units.copy(), 0
    wanted = program.respond(records, np.zeros(program.rows, dtype=np.int64))
    for place in study_generator(seed, "lots").permutation(program.people).tolist():
        some = slice(place, place + 1)
        value += _served(program, records.take(some), wanted[some], left)
    return value


def _served(program: Program, mine: Any, action: Any, left: Any) -> int:
    """The value of an action that fits, and takes what it uses; 0 of one that does not."""
    adds = program.contributions(mine, action)[0]
    if not bool((adds <= left).all()):
        return 0
    left -= adds
    return int(program.values(mine, action)[0])
