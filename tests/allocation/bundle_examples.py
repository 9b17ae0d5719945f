"""Bidders, tables and auctions for tests of bundles, and what is best by looking at everything."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

from confide.allocation.bundles import (
    Assignment,
    Bidder,
    BundleClass,
    CappedAdditiveValuation,
    SymmetricConcave,
    UserOracle,
)
from confide.allocation.palloc import PAlloc

GRID = 64


def capped(people: int, goods: int, cap: int, seed: int) -> NDArray[np.float64]:
    """Rows on a grid of 1/64 (sums of two and differences are exact), no bundle of `cap` worth more than 1."""
    draw = np.random.default_rng(seed)
    common = np.linspace(0.0, 0.4, goods)
    rows = np.floor((common + 0.6 * draw.random((people, goods))) / cap * GRID) / GRID
    return np.asarray(rows * (draw.random((people, 1)) > 0.05))


def counted(people: int, most: int, seed: int) -> NDArray[np.float64]:
    draw = np.random.default_rng(seed)
    steps = -np.sort(-draw.random((people, most)), axis=1) / most
    return np.concatenate([np.zeros((people, 1)), np.cumsum(np.floor(steps * GRID) / GRID, axis=1)], axis=1)


def placed(people: int, places: int, goods: int, seed: int) -> list[NDArray[np.float64]]:
    draw = np.random.default_rng(seed)
    return list(np.floor(draw.random((people, places, goods)) / places * GRID) / GRID)


def mixed(people: int, goods: int, seed: int) -> list[Any]:
    """Programs, bidders of several classes, a program that fails now and then, and nobody."""
    rows = capped(people, goods, 2, seed)

    def broken(bundle: tuple[int, ...]) -> float:
        if len(bundle) == 2:
            raise RuntimeError("no answer")
        return min(1.0, 0.3 * len(bundle))

    kinds = [
        lambda row: CappedAdditiveValuation(cap=2).bidder(row, goods),
        lambda row: (lambda bundle: float(sum(sorted((row[j] for j in set(bundle)), reverse=True)[:2]))),
        lambda row: None,
        lambda row: SymmetricConcave(most=2).bidder([0.0, row[0], 1.5 * row[0]], goods),
        lambda row: broken,
    ]
    return [kinds[i % len(kinds)](rows[i]) for i in range(people)]


def classes(people: int, goods: int, seed: int) -> Iterator[tuple[BundleClass, Any, list[Any]]]:
    """Each class with data of everybody, and the same as one record each."""
    rows = capped(people, goods, 2, seed)
    yield CappedAdditiveValuation(cap=2), rows, list(rows)
    sparse = np.where(rows > 0.15, rows, 0.0)
    yield CappedAdditiveValuation(cap=2), csr_array(sparse), list(sparse)
    tables = counted(people, 3, seed)
    yield SymmetricConcave(most=3), tables, list(tables)
    pairs = placed(people, 2, goods, seed)
    yield Assignment(places=2), pairs, pairs
    records = mixed(people, goods, seed)
    yield UserOracle(most=2, trials=0), records, records


def auction(**changed: Any) -> PAlloc:
    settings: dict[str, Any] = {
        "people": 40, "goods": 6, "supply": 10, "increment": 1 / 16, "epsilon": 120.0, "bid_cap": 6, "rounds": 8,
        "batch": 7, "arity": 3, "failure_probability": 0.1, "valuation": CappedAdditiveValuation(cap=2)}
    return PAlloc(**{**settings, **changed})


def quiet(**changed: Any) -> PAlloc:
    """Without noise, one bidder at a time, until nobody bids."""
    settings: dict[str, Any] = {"epsilon": 1e9, "reclear": 0.0, "reserve": 0, "certify_with": 0.0, "batch": 1,
                                "rounds": 400, "bid_cap": 400, "halting": "published"}
    return auction(**{**settings, **changed})


def supersets(held: tuple[int, ...], goods: int, most: int, *, repeats: bool) -> Iterator[tuple[int, ...]]:
    """All bundles of at most so many goods that contain what is held."""
    for more in range(most - len(held) + 1):
        chosen = itertools.combinations_with_replacement if repeats else itertools.combinations
        for added in chosen(range(goods), more):
            if repeats or not set(added) & set(held):
                yield (*held, *added)


def best_above(bidder: Bidder, held: tuple[int, ...], prices: NDArray[Any], most: int, *, repeats: bool) -> float:
    """max of v(S) - p(S without held) over bundles S that contain what is held."""
    return max(bidder.value(bundle) - float(sum(prices[list(bundle[len(held):])]))
               for bundle in supersets(held, len(prices), most, repeats=repeats))


def transport_optimum(rows: NDArray[Any], cap: int, supply: int) -> float:
    """The best welfare of capped additive bidders: a transport problem, whose linear program is integral."""
    n, k = rows.shape
    of_rows = np.kron(np.eye(n), np.ones(k))
    of_goods = np.kron(np.ones(n), np.eye(k))
    found = linprog(-rows.reshape(-1), A_ub=np.vstack([of_rows, of_goods]),
                    b_ub=np.concatenate([np.full(n, cap), np.full(k, supply)]), bounds=(0, 1), method="highs")
    return float(-found.fun)
