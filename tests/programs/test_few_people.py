"""Of few people numpy finds the favourites, of many a kernel: both find the same."""

from __future__ import annotations

import numpy as np
import pytest

from confide.programs.families import unit_demand as f


@pytest.mark.parametrize(("people", "goods"), [(0, 4), (1, 1), (7, 3), (400, 5)])
def test_numpy_and_the_kernels_find_the_same_favourites(people: int, goods: int) -> None:
    drawn = np.random.default_rng(people)
    for _ in range(20):  # whole numbers below 6: many are equal
        worth, prices = (drawn.integers(0, 6, size, dtype=np.int32) for size in ((people, goods), goods))
        found, known = np.empty((2, people, 1), np.int32)
        f.favourites(worth, prices, found)
        f.compiled_favourites(worth, prices, known)
        assert found.tolist() == known.tolist()

        rounds = drawn.integers(0, 6, (goods, 9), dtype=np.int32)
        found, known = np.empty((2, people, 9, 1), np.int32)
        f.favourites_along(worth, rounds, found)
        f.compiled_favourites_along(worth, rounds, known)
        assert found.tolist() == known.tolist()

        columns = np.ascontiguousarray(worth.T)
        found, known = np.zeros((2, 1 + goods), np.int64)
        f.favourite_counts(columns, prices, found)
        f.compiled_favourite_counts(columns, prices, known)
        assert found.tolist() == known.tolist()
        assert found.sum() == people
