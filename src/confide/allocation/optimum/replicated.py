"""The assignment by scipy, a column for each copy, and prices from its solution: slow, and a check on the other way.

A good's price must be at least that of good j plus what any holder of j would rather give for it, and at least what
anybody without a good would give; the least such prices are those that any optimal allocation has.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from confide.allocation.valuations import Valuations

__all__ = ["cells", "replicated"]


def cells(people: int, supply: NDArray[np.int64]) -> int:
    """Numbers in the table of all copies."""
    return int(people * np.minimum(supply, people).sum())


def replicated(
    values: Valuations, supply: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """(k,) prices and (n, 1) goods, -1 for none.

    Args:
        values: everybody's.
        supply: (k,) copies.
    """
    table = _table(values)
    of_column = np.repeat(np.arange(values.goods, dtype=np.int32), np.minimum(supply, values.people))
    rows, columns = linear_sum_assignment(table[:, of_column], maximize=True)
    held = np.full(values.people, -1, dtype=np.int32)
    held[rows] = of_column[columns]
    held[np.flatnonzero(held >= 0)[table[held >= 0, held[held >= 0]] <= 0.0]] = -1
    return _least_prices(table, held), held[:, None]


def _table(values: Valuations) -> NDArray[np.float64]:
    if values.starts is None:
        return values.values.reshape(values.people, values.goods).astype(np.float64)
    table = np.zeros((values.people, values.goods))
    table[np.repeat(np.arange(values.people), np.diff(values.starts)), values.named] = values.values
    return table


def _least_prices(table: NDArray[np.float64], held: NDArray[np.int32]) -> NDArray[np.float64]:
    goods = table.shape[1]
    prices = np.max(table[held < 0], axis=0, initial=0.0)
    rather = np.full((goods, goods), -np.inf)
    for j in np.unique(held[held >= 0]).tolist():
        own = table[held == j]
        rather[j] = (own - own[:, j : j + 1]).max(axis=0)
    for _ in range(goods):
        risen = np.maximum(prices, (prices[:, None] + rather).max(axis=0))
        if np.array_equal(risen, prices):
            break
        prices = risen
    return np.asarray(prices)
