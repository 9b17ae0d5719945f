"""Shards elsewhere: the same bits, and what is asked of them can travel."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
import pytest

from confide.numerics.shards import RayShards
from confide.privacy.noise import Noise
from confide.programs import PrivDude, UnitDemand
from confide.programs.instances import popular

MECHANISM = PrivDude(UnitDemand(3000, 300, goods=5), 1.0, 1e-6, rounds=10, burn_in=4)


class Travelling:
    """Shards that are pickled with every question, as they would be on their way to another machine."""

    def __init__(self, shards: Sequence[Any]) -> None:
        self._shards = [pickle.dumps(shard) for shard in shards]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._shards = []

    def map(self, work: Callable[..., Any], *arguments: Any) -> list[Any]:
        asked = pickle.dumps((work, arguments))
        answers = []
        for shard in self._shards:
            question, rest = pickle.loads(asked)
            answers.append(pickle.loads(pickle.dumps(question(pickle.loads(shard), *rest))))
        return answers


@pytest.mark.parametrize("held", [Travelling, pytest.param(partial(RayShards, num_cpus=2), marks=pytest.mark.slow)])
def test_the_same_bits_wherever_records_lie(held: Any) -> None:
    values = popular(3000, 5, seed=1)
    here = MECHANISM.run(values, Noise.simulated(2))
    there = MECHANISM.run(values, Noise.simulated(2), shards=held)
    assert np.array_equal(there.billboard.slacks, here.billboard.slacks)
    assert there.shares.equals(here.shares)
