"""Made-up target groups: the published marginals, and the same contagion with sets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from confide.contract.errors import InvalidInput
from confide.privacy.noise.simulated import study_generator
from confide.search import Graph, infect

from false_alarms import alpha

PATH = (0.92224, 0.66304, 0.31744, 0.08704, 0.01024)  # spec 11, check 7


def copies(edges: list[tuple[int, int]], size: int, count: int) -> Graph:
    """So many graphs side by side, each of `size` people."""
    first, second = np.array(edges).T
    offset = size * np.arange(count)[:, None]
    return Graph.from_edges((first + offset).ravel(), (second + offset).ravel(), people=size * count)


def within(count: int, trials: int, probability: float, cases: int) -> bool:
    share = alpha("search.infect", cases=cases) / 2
    return bool(binom.ppf(share, trials, probability) <= count <= binom.isf(share, trials, probability))


def test_the_law_along_a_path() -> None:
    """P(distance j) = P(Bin(k, p) >= j), on 20,000 paths at once."""
    assert [round(float(binom.sf(j - 1, 5, 0.4)), 5) for j in range(1, 6)] == list(PATH)
    trials = 20_000
    graph = copies([(k, k + 1) for k in range(6)], 7, trials)
    found = infect(graph, 7 * np.arange(trials), p=0.4, q=0.0, rounds=5, seed=1).reshape(trials, 7)
    assert found[:, 0].all()
    assert not found[:, 6].any()
    for distance, probability in enumerate(PATH, 1):
        assert within(int(found[:, distance].sum()), trials, probability, 7)


def test_one_trial_for_each_round_and_not_for_each_neighbour() -> None:
    """K_5, p = .2, 2 rounds: 1 - .8^2 = .36; an independent cascade would give .2922112."""
    trials = 20_000
    graph = copies([(a, b) for a in range(5) for b in range(a)], 5, trials)
    found = infect(graph, 5 * np.arange(trials), p=0.2, q=0.0, rounds=2, seed=2).reshape(trials, 5)
    count = int(found[:, 1].sum())  # one of each copy: those of a copy depend on each other
    assert within(count, trials, 0.36, 7)
    assert not within(count, trials, 0.2922112, 7)


def test_everybody_leaves_alike_and_the_start_too() -> None:
    trials = 20_000
    graph = Graph.from_edges([], [], people=trials)
    assert within(int(infect(graph, np.arange(trials), p=0.5, q=0.3, rounds=3, seed=3).sum()), trials, 0.7, 7)


@pytest.mark.parametrize("rounds", range(5))
def test_a_sure_contagion_is_a_ball(rounds: int) -> None:
    draw = study_generator(5, "ball")
    graph = Graph.from_edges(draw.integers(0, 60, 70), draw.integers(0, 60, 70), people=60)
    ball = {4}
    for _ in range(rounds):
        ball |= {u for v in ball for u in graph.neighbours(v).tolist()}
    assert set(np.flatnonzero(infect(graph, 4, p=1, q=0, rounds=rounds)).tolist()) == ball
    assert infect(graph, 4, p=0, q=0, rounds=rounds).sum() == 1
    assert infect(graph, 4, p=1, q=1, rounds=rounds).sum() == 0


@pytest.mark.parametrize("seed", range(5))
def test_the_same_with_sets(seed: int) -> None:
    draw = study_generator(seed, "graph")
    graph = Graph.from_edges(draw.integers(0, 80, 160), draw.integers(0, 80, 160), people=80)
    draws, infected = study_generator(seed, "infect"), {2, 9}
    for _ in range(4):
        frontier = sorted({u for v in infected for u in graph.neighbours(v).tolist()} - infected)
        infected |= {v for v, u in zip(frontier, draws.random(len(frontier)), strict=True) if u < 0.3}
    members = sorted(infected)
    kept = {v for v, u in zip(members, draws.random(len(members)), strict=True) if u >= 0.25}
    assert set(np.flatnonzero(infect(graph, [9, 2], p=0.3, q=0.25, rounds=4, seed=seed)).tolist()) == kept


def test_ids_of_any_kind_may_start() -> None:
    graph = Graph.from_edges(["a", "b"], ["b", "c"])
    assert infect(graph, "b", p=1, q=0, rounds=1).tolist() == [True, True, True]
    assert infect(graph, ("a", "c"), p=1, q=0, rounds=0).tolist() == [True, False, True]


@pytest.mark.parametrize(("start", "p", "q", "rounds", "match"), [
    (7, 0.5, 0.5, 2, "nobody"), (0, 1.5, 0.5, 2, "p: "), (0, -0.1, 0.5, 2, "p: "), (0, 0.5, float("nan"), 2, "q: "),
    (0, 0.5, 2, 2, "q: "), (0, 0.5, 0.5, -1, "rounds"), (0, 0.5, 0.5, 1.5, "rounds"), (0, "x", 0.5, 1, "p: "),
])
def test_what_cannot_be(start: object, p: float, q: float, rounds: int, match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        infect(Graph.from_edges([0], [1]), start, p, q, rounds)
