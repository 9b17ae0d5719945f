"""Round numbers of a column, numbers near them that are not round, and numbers that often code "no answer".

People round their answers, and forms write 99 where no answer was given. An audit notices a rule about the share of
round numbers or codes only if some people give other answers. The audit therefore uses answers near a round number.
Rounding these answers to any usual grid, such as the multiples of 5, moves them towards the round number.
"""

from __future__ import annotations

import math

from confide.audit.worst_case_neighbours import corners, ends_moved
from confide.tables import Category, Numeric
from confide.tables.column_rows import Role

__all__ = ["off_grids", "special"]

_AT = 0.625  # of the range, near which round numbers are looked for
_GRIDS = (10, 5, 2)  # of whole numbers
_BESIDE = (0.2222, -0.2222, 0.1111, -0.1111)  # of a power of ten: the nearest multiple of most grids lies towards it
_FRACTION = 0.4  # which whole numbers do not have
_MANY = 6  # special numbers, at most
_SPECIAL = (99, 999, 9, 9999, -1, -9, -99, 0, 98, 88, 8, 77, 7, 97, 999_999)  # usual codes, the commonest ones first


def off_grids(role: Role) -> list[tuple[float, float]]:
    """Pairs of a number that is not round and a round number near it, both as encoded cells of the column. The list is
    empty for a column with levels.

    If the column's range is long enough, the round number is a multiple of 2, 5, 10 and a larger power of ten. If the
    range contains no common multiple, there is one round number for each of these divisors.

    Args:
        role: role of the column.

    Example:
        >>> from confide.tables import Measured
        >>> off_grids(Measured(column="age", lower=20, upper=60))
        [(42.4, 40.0), (37.6, 40.0), (41.4, 40.0), (38.6, 40.0)]
    """
    if isinstance(role, Category):
        return []
    low, high = _bounds(role)
    power = 10.0 ** math.floor(math.log10((high - low) / 2))
    found, whole = list[tuple[float, float]](), list[float]()
    for grid in (power, *_GRIDS):
        level = grid * round((low + _AT * (high - low)) / grid)
        if not low <= level <= high or any(each % grid == 0 for each in whole):
            continue
        fine = grid == power < _GRIDS[0]
        found += [(level + by, level) for by in _beside(power, fine=fine) if low <= level + by <= high]
        if not fine:
            whole.append(level)
    return [(_cell(role, off), _cell(role, level)) for off, level in found]


def special(role: Role) -> list[tuple[float, float]]:
    """Pairs of a number that is not round and a number that often codes "no answer", such as 99, both as encoded cells
    of the column. The list is empty for a column with levels.

    Args:
        role: role of the column.

    Example:
        >>> from confide.tables import Measured
        >>> special(Measured(column="age", lower=20, upper=120))
        [(82.4, 99.0), (82.4, 98.0), (82.4, 88.0), (82.4, 77.0), (82.4, 97.0)]
    """
    if isinstance(role, Category):
        return []
    low, high = _bounds(role)
    others = [math.floor(low + share * (high - low)) + _FRACTION for share in (_AT, 1 - _AT)]
    inside = [code for code in _SPECIAL if low < code < high][:_MANY]
    return [(_cell(role, min(others, key=lambda other: abs(other - code))), _cell(role, code)) for code in inside]


def _beside(power: float, *, fine: bool) -> list[float]:
    """Distances of numbers from a round number. If the grid consists of whole numbers, each distance is a whole number
    plus a fraction.
    """
    if fine:
        return [share * power for share in _BESIDE[:2]]
    whole = max(power, float(_GRIDS[0]))
    return [math.copysign(int(abs(share) * whole) + _FRACTION, share) for share in _BESIDE]


def _bounds(role: Role) -> tuple[float, float]:
    """Least and largest number of a column, in its own units."""
    if isinstance(role, Numeric):
        return role.lower, role.upper
    return float(corners([role])[0][0]), float(ends_moved([role], [0])[0])


def _cell(role: Role, value: float) -> float:
    return float(role.encode([value]).values[0])
