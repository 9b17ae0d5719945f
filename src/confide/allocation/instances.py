"""Instances to measure on: A, where tastes differ; B, where needs differ too; and bidders who name a few goods only.

They are made up: studies and benchmarks are run on them, and so are predictions before any data is read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.privacy.noise.simulated import study_generator

__all__ = ["instance_a", "instance_b", "sparse_instance"]

_CHUNK = 2**20  # numbers that are drawn in one go: a table needs no second copy
_COMMON, _OWN = 0.4, 0.6
_LEAST_NEED = 0.1


def instance_a(people: int, goods: int, *, seed: int = 0) -> NDArray[np.float32]:
    """Tastes differ: v_ij = 0.4 j/(k - 1) + 0.6 U_ij with U_ij uniform on [0, 1), all independent.

    OPT/n, exact: .62588 with 10^5 bidders, 20 goods and 4,000 copies of each (seed 0; .62588 to .62602 on seeds 0 to
    3), .63431 with 10^6, 50 and 16,000.

    Args:
        people: n >= 1.
        goods: k >= 1; a single good has no common part.
        seed: of the draws.

    Returns:
        (n, k), in [0, 1].

    Raises:
        InvalidInput: a size below 1.

    Source: spec allocation 4.3.

    Example:
        >>> instance_a(2, 3, seed=1).round(2).tolist() == instance_a(2, 3, seed=1).round(2).tolist()
        True
    """
    return _dense(people, goods, seed, needs=False)


def instance_b(people: int, goods: int, *, seed: int = 0) -> NDArray[np.float32]:
    """Needs differ too: instance A with the row of bidder i times 0.1 + 0.9 theta_i, theta_i uniform on [0, 1).

    Who goes without matters here: prices find those who need a good least, an order of arrival does not.
    OPT/n, exact: .40424 with 10^5 bidders, 20 goods and 4,000 copies of each (seed 0; .40325 to .40424 on seeds 0 to
    3), .26052 with 10^6, 50 and 8,000.

    Args:
        people: n >= 1.
        goods: k >= 1.
        seed: of the draws; the tastes are those of instance A.

    Returns:
        (n, k), in [0, 1].

    Raises:
        InvalidInput: a size below 1.

    Source: spec allocation 4.3.

    Example:
        >>> bool((instance_b(50, 4, seed=2) <= instance_a(50, 4, seed=2)).all())
        True
    """
    return _dense(people, goods, seed, needs=True)


def _dense(people: int, goods: int, seed: int, *, needs: bool) -> NDArray[np.float32]:
    n, k = whole("people", people, at_least=1), whole("goods", goods, at_least=1)
    draw = study_generator(seed, "instance")
    common = _common(k)
    need = np.ones(n)
    if needs:
        later = study_generator(seed, "instance")
        later.bit_generator.advance(n * k)  # type: ignore[attr-defined]  # needs are drawn after all tastes
        need = _LEAST_NEED + (1.0 - _LEAST_NEED) * later.random(n)
    table = np.empty((n, k), dtype=np.float32)
    height = max(1, _CHUNK // k)
    for start in range(0, n, height):
        part = table[start : start + height]
        part[:] = (common + _OWN * draw.random(part.shape)) * need[start : start + height, None]
    return table


def _common(goods: int) -> NDArray[np.float64]:
    return np.asarray(_COMMON * np.linspace(0.0, 1.0, goods))


def sparse_instance(people: int, goods: int, *, named: int = 20, seed: int = 0) -> scipy.sparse.csr_array:
    """Each bidder names a few goods, every set of so many with the same probability; their values are as in A.

    OPT/n, exact: .62584 with 10^5 bidders, 1,000 goods and 80 copies of each (seed 0), .62585 with 10^6, 10^4 and 80.

    Args:
        people: n >= 1.
        goods: k >= 1.
        named: goods of one bidder, in 1..k.
        seed: of the draws.

    Returns:
        (n, k) float32 in rows of `named` entries; what is left out is worth nothing.

    Raises:
        InvalidInput: a size out of range.

    Source: spec allocation 12.

    Example:
        >>> table = sparse_instance(1000, 300, named=20, seed=1)
        >>> table.shape, table.nnz, table.has_canonical_format
        ((1000, 300), 20000, True)
    """
    n, k = whole("people", people, at_least=1), whole("goods", goods, at_least=1)
    if whole("named", named, at_least=1) > k:
        raise InvalidInput("named", f"{named} of {k} goods", f"must be at most {k}")
    draw = study_generator(seed, "sparse instance")
    common = _common(k)
    names, values = np.empty((n, named), dtype=np.int32), np.empty((n, named), dtype=np.float32)
    height = max(1, _CHUNK // (named if _seldom_twice(named, k) else k))
    for start in range(0, n, height):
        part = slice(start, min(n, start + height))
        chosen = _subsets(draw, part.stop - start, k, named)
        names[part] = chosen
        values[part] = common[chosen] + _OWN * draw.random(chosen.shape)
    starts = np.arange(0, n * named + 1, named, dtype=np.int64)
    table = scipy.sparse.csr_array((values.reshape(-1), names.reshape(-1), starts), shape=(n, k))
    table.has_canonical_format = True
    return table


def _seldom_twice(named: int, goods: int) -> bool:
    """Whether so many independent choices are mostly of different goods."""
    return named * named <= goods


def _subsets(draw: Any, rows: int, goods: int, named: int) -> NDArray[np.int64]:
    """Rows of different goods, ascending; every set has the same probability."""
    if not _seldom_twice(named, goods):
        keys = draw.random((rows, goods))
        return np.sort(np.argpartition(keys, named - 1, axis=1)[:, :named], axis=1)
    chosen = np.sort(draw.integers(goods, size=(rows, named)), axis=1)
    while True:
        again = np.flatnonzero((np.diff(chosen, axis=1) == 0).any(axis=1))
        if not len(again):
            return chosen
        chosen[again] = np.sort(draw.integers(goods, size=(len(again), named)), axis=1)
