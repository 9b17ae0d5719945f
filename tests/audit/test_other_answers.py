"""Other answers keep what is said of the first ones, and nothing else of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from confide.audit.other_answers import kept_entries, other_losers, other_pattern
from confide.privacy import SparseVector
from confide.privacy.noise import Draw, Noise, RecordingNoise

TIMES = 12  # other answers of other answers
CENTERS = {"all alike": np.zeros(9, int), "one ahead": np.array([500, 3, 3, 2, 1, 0, 0, -4, -900]),
           "one": np.array([5]), "two": np.array([5, -5]), "many": np.arange(3000) % 7,
           "huge": np.array([2**50, -(2**50), 7, 0])}


def vectors(centers: np.ndarray, *, lattice: bool, scale: float) -> list[Draw]:
    observed = RecordingNoise(Noise.simulated(3))
    ask = observed.discrete_laplace if lattice else observed.laplace
    for k in range(2):
        ask(scale, len(centers), stream=("winner", k), center=centers.tolist())
    return observed.draws


def again(draws: Sequence[Draw], other: Any) -> list[list[Draw]]:
    found = [list(draws)]
    for _ in range(TIMES):
        found.append(other(found[-1]))
    return found


@pytest.mark.parametrize("scale", [0.01, 2.0, 1e6])
@pytest.mark.parametrize("lattice", [True, False])
@pytest.mark.parametrize("centers", CENTERS)
def test_only_the_position_of_the_largest_stays(centers: str, lattice: bool, scale: float) -> None:
    found = again(vectors(CENTERS[centers], lattice=lattice, scale=scale), other_losers)
    for before, after in pairwise(found):
        assert not kept_entries(before, after)
        for one, other in zip(before, after, strict=True):
            assert one.request == other.request
            assert one.value.dtype == other.value.dtype
            assert np.argmax(one.value) == np.argmax(other.value)
            places = np.argsort(-one.value, kind="stable"), np.argsort(-other.value, kind="stable")
            assert len(np.unique(other.value)) == other.value.size
            if one.value.size > 2:
                assert places[0][1] != places[1][1]
    largest = [draw.value.max() for draws in found for draw in draws]
    assert min(largest) < 0 < max(largest)
    if len(CENTERS[centers]) > 1:
        leads = [float(np.diff(np.sort(draw.value)[-2:])[0]) for draws in found[1:] for draw in draws]
        assert max(leads) > 100 * scale
        assert min(leads) <= max(1.0, scale)
    bound = 2.0**TIMES * (4000 * max(scale, 1.0) + 2.0 * np.abs(CENTERS[centers]).max())
    assert all(np.abs(draw.value).max() < bound for draws in found for draw in draws)


def test_they_follow_from_the_first_ones() -> None:
    twice = [other_losers(vectors(CENTERS["all alike"], lattice=True, scale=2.0)) for _ in range(2)]
    assert [draw.value.tolist() for draw in twice[0]] == [draw.value.tolist() for draw in twice[1]]
    assert twice[0][0].value.tolist() != twice[0][1].value.tolist()


def pattern(draws: Sequence[Draw]) -> list[Any]:
    out, level = list[Any](), 0.0
    for draw in draws:
        if draw.stream[-1] == "threshold":
            level = draw.value[0]
        out.append((draw.stream, bool(draw.value[0] > level)))
    return out


@pytest.mark.parametrize("lattice", [True, False])
def test_only_the_pattern_stays(lattice: bool) -> None:
    observed = RecordingNoise(Noise.simulated(7))
    ask = observed.discrete_laplace if lattice else observed.laplace
    for arming in range(2):
        ask(2.0, 1, stream=("alarm", arming, "threshold"), center=[4])
        for k in range(9):
            ask(4.0, 1, stream=("alarm", arming, "answer", k), center=[k])
    found = again(observed.draws, other_pattern)
    ahead = set()
    for before, after in pairwise(found):
        assert pattern(before) == pattern(after)
        assert not kept_entries(before, after)
        ahead.add(before[0].value[0] > before[10].value[0])
        for start in (0, 10):
            level, highs, lows = before[start].value[0], [], []
            for one, other in zip(before[start + 1 : start + 10], after[start + 1 : start + 10], strict=True):
                (highs if one.value[0] > level else lows).append((one.value[0], other.value[0]))
            for side in (highs, lows):
                old, new = np.array(side).T
                assert len(side) > 1
                assert np.argmax(old) != np.argmax(new)
    assert len(ahead) == 2  # which threshold is the higher one is nothing that is said


def test_a_sparse_vector_says_the_same() -> None:
    for seed in range(20):
        observed = RecordingNoise(Noise.simulated(seed))
        SparseVector(threshold=3, epsilon=1.0).run([0, 1, 2, 3, 4] * 4, observed, "alarm")
        for draws in again(observed.draws, other_pattern):
            assert pattern(draws) == pattern(observed.draws)


def test_what_has_one_possible_value_may_keep_it() -> None:
    observed = RecordingNoise(Noise.simulated(1))
    observed.channel([[1]], [0, 0], stream="channel")
    observed.selection([0.0], stream="selection")
    observed.split(4, stream="split")
    assert not kept_entries(observed.draws, observed.draws)
    observed.channel([[1, 1], [1, 1]], [0], stream="coin")
    assert kept_entries(observed.draws, observed.draws)
