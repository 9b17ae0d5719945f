"""Made-up people for the benchmark of programs: a program of each family, and records that fit it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from confide.privacy.noise.simulated import study_generator
from confide.programs import (
    AggregativeGame,
    CappedAdditive,
    Electricity,
    Flow,
    Knapsack,
    Program,
    SharedResources,
    UnitDemand,
    XorBundles,
)
from confide.programs.families.networks import made_up_users, packaged_network
from confide.programs.instances import popular

__all__ = ["FAMILIES", "unit"]

CAPACITY, USERS = 785, 9943
"""Of polska: three quarters of the largest load of an arc that prices of 0 lead to (spec convex_programs 9.8)."""

Made = tuple[Program, Any]


def unit(share: int, seed: int) -> Made:
    """100,000 people, 10 goods, copies for half of them."""
    n = 100_000 // share
    return UnitDemand(n, n // 20, goods=10), popular(n, 10, seed)


def capped(share: int, seed: int) -> Made:
    """The same people, who may have up to three goods each."""
    n = 100_000 // share
    return CappedAdditive(n, n // 10, goods=10, cap=3), popular(n, 10, seed)


def bundles(share: int, seed: int) -> Made:
    """Eight bids on three goods of 20 each."""
    n, draw = 5000 // share, study_generator(seed, "benchmark", "bundles")
    goods = np.sort(draw.random((n, 8, 20)).argsort(axis=2)[:, :, :3], axis=2)
    return XorBundles(n, 300 / share, goods=20, size=3, bids=8), (goods, draw.random((n, 8)))


def items(share: int, seed: int) -> Made:
    """Items that weigh from .25 to 1 in about half of ten resources, which hold a quarter of them."""
    n, draw = 100_000 // share, study_generator(seed, "benchmark", "items")
    weights = draw.uniform(0.25, 1.0, (n, 10)) * (draw.random((n, 10)) < 0.5)
    return Knapsack(n, float(n // 13), rows=10, least_weight=0.25), (draw.random(n), weights)


def power(share: int, seed: int) -> Made:
    """A day of 24 slots, of which anybody uses up to eight; values peak together."""
    n, draw = 4000 // share, study_generator(seed, "benchmark", "power")
    peak = draw.uniform(0.3, 1.0, (4, 6))
    return Electricity(n, n / 6, most=8, intervals=4, slots=6), draw.random((n, 4, 6)) * peak


def projects(share: int, seed: int) -> Made:
    """Ten projects that need two of six resources each."""
    n, draw = 20_000 // share, study_generator(seed, "benchmark", "projects")
    needs = tuple(tuple(sorted(draw.choice(6, 2, replace=False).tolist())) for _ in range(10))
    costs = tuple(draw.uniform(0.1, 0.5, 6).tolist())
    return SharedResources(n, needs=needs, costs=costs), draw.random((n, 10)).astype(np.float32)


def flows(share: int, seed: int) -> Made:
    """The demands of SNDlib's polska as unit users, half of them the other way round."""
    network = packaged_network("sndlib/polska")
    data = made_up_users(network, seed)[:: share]
    return Flow(len(data), float(CAPACITY * len(data) // USERS), arcs=network.arcs, hops=6, escape=6.0), data


def game(share: int, seed: int) -> Made:
    """Ten actions with three contributions each, half of them allowed, and a target that mixed strategies meet."""
    n, draw = 5000 // share, study_generator(seed, "benchmark", "game")
    parts, allowed = draw.uniform(-1.0, 1.0, (n, 10, 3)), draw.random((n, 10)) < 0.5
    allowed[np.arange(n), draw.integers(0, 10, n)] = True
    mixed = draw.random((n, 10)) * allowed
    mixed /= mixed.sum(axis=1, keepdims=True)
    target = tuple(np.einsum("na,nak->k", mixed, parts).tolist())
    return AggregativeGame(n, target, actions=10, largest=1.0), (parts, allowed)


FAMILIES: dict[str, Callable[[int, int], Made]] = {
    "UnitDemand": unit, "CappedAdditive": capped, "XorBundles": bundles, "Knapsack": items, "Electricity": power,
    "SharedResources": projects, "Flow": flows, "AggregativeGame": game}
