"""The symmetric kernel that randomises one row, its n-fold product on vectors of m^n cells, the inverse of this
product, and the function h, which gives the kernel's distortion.

Under the kernel, a row keeps its letter with probability 1/(1 + (m-1) r) and takes each other letter with probability
r/(1 + (m-1) r), where r = e^-epsilon. All operations work on one row of the database at a time, so that no matrix with
m^n lines is ever built.

Source: Wang 2016, Chapter 2; spec privacy_notions sections 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["axes", "column_blocks", "distances_sum", "entropy_of_row", "h", "h_inverse", "inverse_kernel", "ratio",
           "row_kernel"]

_Vector = NDArray[np.float64]
_Number = TypeVar("_Number", bound=np.number)
_BLOCK = 2**17  # cells


def ratio(epsilon: float) -> float:
    """Ratio r = e^-epsilon: the probability that the kernel releases one particular wrong letter, divided by the
    probability of the right letter.
    """
    return math.exp(-epsilon)


def h(epsilon: float, letters: int, rows: int) -> float:
    """Expected number of changed rows when every row goes through the kernel: n/(1 + e^epsilon/(m-1)).

    Args:
        epsilon: level of the kernel in nats, of any sign; infinity is allowed.
        letters: number of letters, m >= 2.
        rows: number of rows, n >= 1.

    Example:
        >>> h(0.0, 5, 10), h(math.inf, 5, 10)
        (8.0, 0.0)
    """
    if epsilon >= 0:
        wrong = (letters - 1) * math.exp(-epsilon)
        return rows * wrong / (1.0 + wrong)
    return rows / (1.0 + math.exp(epsilon) / (letters - 1)) if epsilon > -math.inf else float(rows)


def h_inverse(distortion: float, letters: int, rows: int) -> float:
    """Level epsilon at which the kernel has a given distortion, the inverse of `h`: ln(n - D) - ln D + ln(m-1).

    Args:
        distortion: distortion D in [0, n].
        letters: number m of letters, which are the values that a row can have.
        rows: number of rows, n.

    Returns:
        The level in nats: infinity at D = 0, negative for D > n(m-1)/m, and minus infinity at D = n.

    Example:
        >>> h_inverse(4.0, 5, 10)
        1.791759469228055
    """
    if distortion <= 0:
        return math.inf
    if distortion >= rows:
        return -math.inf
    return math.log(rows - distortion) - math.log(distortion) + math.log(letters - 1)


def entropy_of_row(epsilon: float, letters: int) -> float:
    """Entropy of the letter that the kernel releases for one given letter, in nats; 0 at epsilon = infinity."""
    right = 1.0 / (1.0 + (letters - 1) * math.exp(-epsilon))
    wrong = right * math.exp(-epsilon)
    total = -right * math.log(right)
    return total - ((letters - 1) * wrong * math.log(wrong) if wrong > 0 else 0.0)


def row_kernel(epsilon: float, letters: int) -> _Vector:
    """Kernel of one database row, a table with one line for each true letter, shape (m, m); the identity at epsilon =
    infinity.
    """
    r = ratio(epsilon)
    table = np.full((letters, letters), r)
    np.fill_diagonal(table, 1.0)
    return table / (1.0 + (letters - 1) * r)


def axes(vector: NDArray[_Number], letters: int, rows: int) -> list[NDArray[_Number]]:
    """Views of a vector of m^n cells, one view for each row i of the database. View i has the shape (m^i, m,
    m^(n-i-1)), and its axis 1 is the letter of row i.
    """
    return [vector.reshape(letters**i, letters, -1) for i in range(rows)]


def column_blocks(table: NDArray[_Number]) -> Iterator[NDArray[_Number]]:
    """Copies of a few columns of a table at a time. Each copy is small enough for a processor's cache, which makes the
    comparison of table rows fast.
    """
    step = max(1, _BLOCK // len(table))
    for start in range(0, table.shape[1], step):
        yield np.ascontiguousarray(table[:, start : start + step])


def distances_sum(vector: _Vector, r: float, letters: int, rows: int) -> _Vector:
    """Product (r^d) v: the sum over y of r^d(x,y) v[y] for every database x, where d(x,y) counts the rows in which x
    and y differ. The computation passes over the vector n times.

    Args:
        vector: the vector v, shape (N,) with N = m^n.
        r: weight of one changed row, in [0, 1].
        letters: number m of letters, which are the values that a row can have.
        rows: number of rows, n.

    Returns:
        A new array, shape (N,).

    Example:
        >>> distances_sum(np.array([1.0, 0.0, 0.0, 0.0]), 0.5, 2, 2).tolist()
        [1.0, 0.5, 0.5, 0.25]
    """
    out = np.array(vector, dtype=np.float64)
    for view in axes(out, letters, rows):
        total = view.sum(axis=1, keepdims=True)
        total *= r
        np.multiply(view, 1.0 - r, out=view)
        np.add(view, total, out=view)
    return out


def inverse_kernel(vector: _Vector, r: float, letters: int, rows: int) -> tuple[_Vector, int | None]:
    """Vector p_Y with K p_Y = p_X, where K is the kernel, and the position (cell) of the most negative entry of p_Y,
    after an allowance for rounding. The cell is None if p_Y is a probability distribution up to rounding.

    Let the threshold level be the least level at which p_Y is a distribution. For priors that are close to products,
    cells of p_Y have roots of high order at the threshold level. A test that no cell of p_Y is below 0 would therefore
    be wrong in the sixth digit of the threshold level. A single tolerance relative to the largest cell would overlook
    negative cells in the tail. So every cell has its own tolerance: (m + 6) n 2^-53 times the same transform with
    absolute values.

    Args:
        vector: the vector p_X, shape (N,) with N = m^n.
        r: ratio e^-epsilon, in [0, 1).
        letters: number m of letters, which are the values that a row can have.
        rows: number of rows, n.

    Returns:
        The pair (p_Y, cell): p_Y has shape (N,), and its entries sum to 1 without normalisation.

    Source: spec privacy_notions 2.
    """
    out = np.array(vector, dtype=np.float64)
    for view in axes(out, letters, rows):
        total = view.sum(axis=1, keepdims=True)
        total *= r / (1.0 - r)
        np.multiply(view, (1.0 + (letters - 1) * r) / (1.0 - r), out=view)
        np.subtract(view, total, out=view)
    if out.min() >= 0:
        return out, None
    size = np.abs(np.asarray(vector, dtype=np.float64))
    for view in axes(size, letters, rows):
        # The sum over the other letters, without the own cell: a difference would lose the small cells.
        others = np.empty_like(view)
        for letter in range(letters):
            others[:, letter] = view[:, :letter].sum(axis=1) + view[:, letter + 1 :].sum(axis=1)
        others *= r / (1.0 - r)
        np.multiply(view, (1.0 + (letters - 2) * r) / (1.0 - r), out=view)
        np.add(view, others, out=view)
    with np.errstate(invalid="ignore"):
        np.divide(out, size, out=size, where=size > 0)
    worst = int(np.argmin(size))
    return out, None if size[worst] >= -_slack(letters, rows) else worst


def _slack(letters: int, rows: int) -> float:
    return (letters + 6) * rows * 2.0**-53


def masses_by_distance(vector: _Vector, cell: int, letters: int, rows: int) -> _Vector:
    """Total mass of the databases that differ from one database in 0, 1, ..., n rows, shape (n + 1,). The database has
    the position `cell` in `vector`, which holds the masses of all m^n databases.

    Example:
        >>> masses_by_distance(np.array([0.4, 0.3, 0.2, 0.1]), 1, 2, 2).tolist()
        [0.3, 0.5, 0.2]
    """
    left = np.asarray(vector, dtype=np.float64)[None]
    for i in range(rows):
        view = left.reshape(len(left), letters, -1)
        own = (cell // letters ** (rows - 1 - i)) % letters
        others = view[:, :own].sum(axis=1) + view[:, own + 1 :].sum(axis=1)
        left = np.zeros((len(view) + 1, view.shape[2]))
        left[:-1] = view[:, own]
        left[1:] += others
    return left[:, 0]


def inverse_cell(masses: _Vector, r: float, letters: int) -> bool:
    """Whether one cell of `inverse_kernel` is at least 0 up to rounding.

    Args:
        masses: result of `masses_by_distance` for the cell, shape (n + 1,).
        r: ratio e^-epsilon, in [0, 1).
        letters: number m of letters, which are the values that a row can have.
    """
    n = len(masses) - 1
    d = np.arange(n + 1)
    size = masses * (1.0 + (letters - 2) * r) ** (n - d) * r**d
    own = masses * (1.0 + (letters - 2) * r) ** (n - d) * (-r) ** d
    return bool(own.sum() >= -_slack(letters, n) * size.sum())
