"""Random neighbours, drawn by a public seed. A fault that no enumerated pair shows is found by chance, with a known
probability.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.audit.fixed_transcript import Neighbours
from confide.audit.worst_case_neighbours import CELLS, Change, corners, together
from confide.contract.guarantees import Relation
from confide.privacy.noise.simulated import study_generator
from confide.tables import Category, Numeric
from confide.tables.column_rows import Role

__all__ = ["MOST", "met", "random_change", "random_pairs"]

MOST = 200
"""Largest number of other people in a random pair, unless the pair has a full population; the person with the changed
record is not counted.
"""

_SURELY = 0.99


def met(pairs: int) -> float:
    """The smallest share p with this property: a fault that appears in a share p of all possible random pairs appears
    in at least one of the drawn pairs with probability 99 %. Each random pair is run with noise of its own.

    Args:
        pairs: number of pairs drawn, >= 1.

    Example:
        >>> round(met(500), 5), round(1 - (1 - met(500)) ** 500, 12)
        (0.00917, 0.99)
    """
    return float(-np.expm1(np.log1p(-_SURELY) / pairs))


def random_pairs(roles: Sequence[Role], people: int, unit: Relation, count: int, seed: int) -> Iterator[Neighbours]:
    """Pairs of data sets that differ in one record, each drawn independently.

    Besides the person with the changed record, a data set has up to two hundred other people in random slots, and
    occasionally all people. In the other people's records, every column has a random distribution of its own, over the
    ends of the column's range alone, or also over values between. The changed record differs in one column, in all
    columns, or is removed. The rows come in random order and in random batches.

    Args:
        roles: public roles of the columns of a record, such as `confide.tables.roles.Numeric`.
        people: number of slots, one for each invited person.
        unit: neighbouring relation of the promise: one record replaced, or added or removed.
        count: number of pairs.
        seed: public seed.
    """
    draw = study_generator(seed, "neighbours")
    for _ in range(count):
        most = people - 1
        whole = draw.random() < 0.2 and most * len(roles) <= CELLS
        others = most if whole else int(draw.integers(min(most, MOST) + 1))
        slots = draw.choice(people, others + 1, replace=False)
        rows = np.column_stack([_cells(role, others, draw) for role in roles])
        yield together(slots[1:], rows, int(slots[0]), random_change(roles, unit, draw), draw.permutation(others + 1),
                       int(draw.integers(1, 4)))


def random_change(roles: Sequence[Role], unit: Relation, draw: Any) -> Change:
    """A random change of one record.

    Args:
        roles: public roles of the columns of a record, such as `confide.tables.roles.Numeric`.
        unit: neighbouring relation of the promise.
        draw: numpy random generator, as `study_generator` returns it.
    """
    first, second = (np.array([_cells(role, 1, draw)[0] for role in roles]) for _ in range(2))
    if unit is Relation.ADD_OR_REMOVE or draw.random() < 0.2:
        return Change(first, None)
    if draw.random() < 0.5:  # one column alone
        place = int(draw.integers(len(roles)))
        second = np.where(np.arange(len(roles)) == place, second, first)
    return Change(first, second)


def _cells(role: Role, count: int, draw: Any) -> NDArray[np.float64]:
    """Random values of one column for the given number of people, shape (count,)."""
    if isinstance(role, Category):
        levels = len(role.levels)
        if draw.random() < 0.5:  # else all levels alike
            return np.asarray(draw.choice(levels, count, p=draw.dirichlet(np.ones(levels))), np.float64)
        return np.asarray(draw.integers(levels, size=count), np.float64)
    if isinstance(role, Numeric):
        low, high = -1.0, 1.0
    else:
        low, high = (float(row[0]) for row in corners([role]))
    if draw.random() < 0.3:
        return np.where(draw.random(count) < draw.random(), low, high)
    between = np.asarray(low + (high - low) * draw.random(count))
    near_zero = draw.standard_normal(count) * 10.0 ** draw.integers(-2, 5)  # of a column without ends
    return between if isinstance(role, Numeric) or draw.random() < 0.5 else np.clip(near_zero, low, high)
