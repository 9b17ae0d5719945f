"""The instances that are measured on: their law, their sizes, and the memory they take."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from confide.allocation.instances import instance_a, instance_b, sparse_instance
from confide.allocation.valuations import Valuations
from confide.contract.errors import InvalidInput
from confide.privacy.noise.simulated import study_generator


def test_tastes_and_needs_are_drawn_as_documented() -> None:
    n, k = 400_000, 5  # more than one chunk
    draw = study_generator(3, "instance")
    tastes = 0.4 * np.linspace(0, 1, k) + 0.6 * draw.random((n, k))
    needs = 0.1 + 0.9 * draw.random(n)
    assert np.array_equal(instance_a(n, k, seed=3), tastes.astype(np.float32))
    assert np.array_equal(instance_b(n, k, seed=3), (tastes * needs[:, None]).astype(np.float32))


@pytest.mark.parametrize("make", [instance_a, instance_b])
def test_values_are_in_range_and_a_single_good_has_no_common_part(make) -> None:
    table = make(1000, 1, seed=1)
    assert table.shape == (1000, 1)
    assert table.dtype == np.float32
    assert table.min() >= 0.0
    assert 0.5 < table.max() < 0.6
    assert make(1, 30).shape == (1, 30)
    assert make(500, 30).max() <= 1.0
    assert not np.array_equal(make(50, 3, seed=1), make(50, 3, seed=2))


def test_a_large_table_needs_no_second_copy() -> None:
    tracemalloc.start()
    table = instance_b(400_000, 50)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert table.nbytes == 80_000_000
    assert peak < table.nbytes + 8 * 400_000 + 3 * 8 * 2**20 + 1e6  # needs, and three arrays of a chunk


@pytest.mark.parametrize(("people", "goods", "named"), [(3000, 400, 20), (3000, 30, 20), (50, 20, 20), (200, 7, 1),
                                                         (60_000, 400, 20)])
def test_each_bidder_names_so_many_different_goods(people: int, goods: int, named: int) -> None:
    table = sparse_instance(people, goods, named=named, seed=4)
    assert table.shape == (people, goods)
    assert table.dtype == np.float32
    assert (np.diff(table.indptr) == named).all()
    rows = table.indices.reshape(people, named)
    assert (np.diff(rows, axis=1) > 0).all()
    assert rows.min() >= 0
    assert rows.max() < goods
    assert len(np.unique(rows)) == goods  # every good is named
    own = (table.data.reshape(people, named) - (0.4 * np.linspace(0, 1, goods))[rows]) / 0.6
    assert own.min() > -1e-6
    assert own.max() < 1 + 1e-6
    assert Valuations.of(table, people=people, goods=goods).values is not None


def test_sizes_are_checked() -> None:
    for make in (instance_a, instance_b, sparse_instance):
        with pytest.raises(InvalidInput, match="people"):
            make(0, 3)
        with pytest.raises(InvalidInput, match="goods"):
            make(3, 0)
    with pytest.raises(InvalidInput, match="named"):
        sparse_instance(3, 5, named=6)
    with pytest.raises(InvalidInput, match="named"):
        sparse_instance(3, 5, named=0)
