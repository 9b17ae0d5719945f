"""Rows of numbers as the bidders of a bundle campaign submit them, and their conversion into records of the valuation
class.

In classes of sums, such as additive valuations, a row holds the value of each good. If only the number of goods counts,
a row holds the value that the first good adds, then the value that the second good adds, and so on. The running sums
f(0), f(1), ... of these values are the record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.allocation.bundles.bidders import BundleClass, Population
from confide.allocation.bundles.classes import SymmetricConcave
from confide.allocation.tables import DENSE, Rows, gathered
from confide.contract.errors import InvalidInput
from confide.contract.mechanism import Unusable
from confide.tables.frames import columns_of, is_table

__all__ = ["population_of", "record_of", "usable", "width"]


def width(valuation: BundleClass, goods: int) -> int:
    """Length of the row of numbers that a bidder submits.

    Args:
        valuation: class whose records are rows of numbers.
        goods: number k of goods.
    """
    return valuation.most if isinstance(valuation, SymmetricConcave) else goods


def record_of(valuation: BundleClass, row: dict[int, float]) -> Any:
    """The record, in the form of a class of valuations, that corresponds to one submitted row.

    Args:
        valuation: class of the record.
        row: mapping from the index in the submitted row, from 0, to the number at that index; zeros may be left out.

    Example:
        >>> record_of(SymmetricConcave(most=2), {0: 0.5, 1: 0.25})
        [0.0, 0.5, 0.75]
    """
    if not isinstance(valuation, SymmetricConcave):
        return row
    steps = np.zeros((1, valuation.most))
    for place, number in row.items():
        steps[0, place] = number
    found: list[float] = _summed(steps)[0].tolist()
    return found


def population_of(
    valuation: BundleClass, data: Any, *, people: int, goods: int, unusable: Unusable = "refuse"
) -> Population:
    """All bidders' valuations, from any form of data that a run accepts.

    A campaign collects batches of `Rows`. A row of a batch that cannot be used counts as an empty row, so the treatment
    of a row never depends on another bidder's row.

    Args:
        valuation: class of the valuations.
        data: data in the form of the class; or a frame, an Arrow table or a file with a column for each number of a
            record; or batches of `Rows`.
        people: number n of bidders.
        goods: number k of goods.
        unusable: treatment of a bad record in data other than batches. "refuse" raises an error for the whole data set,
            and "null" treats the record as that of an absent bidder.

    Raises:
        InvalidInput: data that the class refuses. A bad row of a batch raises no error.

    Example:
        >>> rows = Rows(np.array([1]), np.array([0, 2]), np.array([0, 1], np.int32), np.array([0.5, 0.25], np.float32))
        >>> population_of(SymmetricConcave(most=2), iter([rows]), people=2, goods=9).bidder(1).value((4, 4))
        0.75
    """
    if is_table(data) or isinstance(data, Mapping):
        return valuation.population(columns_of(data), people=people, goods=goods, unusable=unusable)
    if isinstance(data, Population) or not isinstance(data, Iterable) or hasattr(data, "__len__") or hasattr(
            data, "__array__") or hasattr(data, "tocsr"):
        return valuation.population(data, people=people, goods=goods, unusable=unusable)
    return _of_batches(valuation, data, people, goods)


def _of_batches(valuation: BundleClass, batches: Iterable[Rows], people: int, goods: int) -> Population:
    if isinstance(valuation, SymmetricConcave) and valuation.most > DENSE:
        raise InvalidInput("most", f"{valuation.most} numbers in a row are too many", f"must be at most {DENSE}")
    table: Any = gathered(batches, people, width(valuation, goods))
    if isinstance(valuation, SymmetricConcave):
        table = _summed(table.values.reshape(people, valuation.most))
    return valuation.population(table, people=people, goods=goods, unusable="null")


def _summed(steps: NDArray[Any]) -> NDArray[np.float64]:
    """Running sums of steps of shape (m, most), as shape (m, most + 1). Steps are added one after another, with the
    same rounding on every device.
    """
    return np.concatenate([np.zeros((len(steps), 1)), np.cumsum(steps.astype(np.float64), axis=1)], axis=1)


def usable(valuation: BundleClass, batch: Rows, goods: int) -> NDArray[np.bool_]:
    """Whether each of the m rows of a batch can be used as a record of the class, shape (m,). The result is private.

    Args:
        valuation: class of the valuations.
        batch: rows of numbers in (0, 1].
        goods: number k of goods.

    Example:
        >>> from confide.allocation.bundles import Additive
        >>> rows = Rows(np.array([4, 7]), np.array([0, 2, 3]), np.array([0, 1, 1], np.int32),
        ...             np.array([0.75, 0.5, 1.0], np.float32))
        >>> usable(Additive(), rows, goods=2).tolist()
        [False, True]
    """
    size = len(batch.index)
    if not size:
        return np.ones(0, dtype=np.bool_)
    own = Rows(np.arange(size), batch.starts, batch.named, batch.values)
    found = _of_batches(valuation, [own], size, goods)
    # What a row says is above 0, so it is worth something where all is free, but for a row that was emptied.
    return np.asarray((found.surpluses(np.zeros(goods)) > 0.0) | (np.diff(batch.starts) == 0))
