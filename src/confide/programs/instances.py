"""Simulated records, public and the same on every machine, and simple allocation rules, for studies and tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import whole
from confide.privacy.noise.simulated import study_generator
from confide.programs.families.aggregative_game import AggregativeGame
from confide.programs.families.electricity import Electricity
from confide.programs.families.flow import Flow
from confide.programs.families.knapsack import Knapsack
from confide.programs.families.xor_bundles import XorBundles
from confide.programs.grids import LOAD_UNIT
from confide.programs.program import Program
from confide.programs.slots import layout

__all__ = ["in_order", "lottery", "made_up", "popular"]


def popular(people: int, goods: int, seed: int) -> NDArray[np.float32]:
    """Simulated values of k goods to n people, shape (n, k). A value is a uniform random number in [0, 1] times the
    popularity of the good, which is uniform in [.3, 1].

    Args:
        people: number of people n.
        goods: number of goods k.
        seed: seed >= 0 of the random generator.

    Source: spec convex_programs 9.3.
    """
    draw = study_generator(whole("seed", seed))
    wanted = draw.uniform(0.3, 1.0, whole("goods", goods, at_least=1))
    return (draw.random((whole("people", people, at_least=1), goods)) * wanted).astype(np.float32)


_Cells = NDArray[np.float64]


def made_up(program: Program, seed: int) -> _Cells:
    """Records of simulated people as rows of numbers, shape (n, c), in the order that `slots.layout` sets. People's
    values vary around public popularities of the goods. The records of a `Flow` have only source and sink, for programs
    with public costs.

    Args:
        program: program of a family with records that are rows of numbers.
        seed: seed >= 0 of the random generator.

    Raises:
        InvalidInput: the program is of another family.

    Example:
        >>> from confide.programs import UnitDemand
        >>> made_up(UnitDemand(4, (1, 1)), 3).shape
        (4, 2)
    """
    cells = layout(program).width
    n, draw = program.people, study_generator(whole("seed", seed), "made-up people")
    if isinstance(program, Flow):
        source = draw.integers(0, program.node_count, n)
        sink = (source + draw.integers(1, program.node_count, n)) % program.node_count
        return np.stack([source, sink], axis=1).astype(np.float64)
    if isinstance(program, Knapsack):
        least = np.array(program.least_weight)
        weights = least + (1.0 - least) * draw.random((n, program.rows))
        if program.most_weight is not None:
            weights *= np.minimum(1.0, program.most_weight / weights.sum(axis=1, keepdims=True))
        return np.concatenate([draw.random((n, 1)), np.where(weights < least, 0.0, weights)], axis=1)
    if isinstance(program, XorBundles):
        return _bids(program, seed)
    if isinstance(program, AggregativeGame):
        return _actions(program, seed)
    if isinstance(program, Electricity):
        values = popular(n, program.rows, seed).astype(np.float64)
        if not program.asks_needs:
            return values
        needs = np.zeros((n, cells - program.rows))
        needs[np.arange(n), draw.integers(0, needs.shape[1], n)] = 1.0
        return np.concatenate([values, needs], axis=1)
    return popular(n, cells, seed).astype(np.float64)


def _bids(program: XorBundles, seed: int) -> _Cells:
    """Bids with the largest possible number of bundles, one of them of the largest size."""
    n, bids, size = program.people, program.bids, program.size
    draw, wanted = study_generator(seed, "bundles"), popular(n, program.rows, seed)
    goods = np.full((n, bids, size), -1.0)
    worth = np.zeros((n, bids))
    for bid in range(bids):
        chosen = np.argsort(draw.random((n, program.rows)), axis=1)[:, : size - bid % size]
        goods[:, bid, : chosen.shape[1]] = np.sort(chosen, axis=1)
        worth[:, bid] = np.take_along_axis(wanted, chosen, axis=1).sum(axis=1) / size
    return np.concatenate([goods.reshape(n, -1), worth], axis=1)


def _actions(program: AggregativeGame, seed: int) -> _Cells:
    """Contributions in range. Each action is allowed with probability 1/2, and at least one action of each participant
    is allowed.
    """
    n, a, k = program.people, program.actions, program.rows
    draw = study_generator(seed, "actions")
    parts = draw.uniform(-1.0 if program.signed else 0.0, 1.0, (n, a, k)) * program.largest
    if program.largest_sum is not None:
        total = np.abs(parts).sum(axis=2, keepdims=True)
        parts *= np.minimum(1.0, 0.999 * program.largest_sum / np.maximum(total, 1e-12))
    allowed = draw.random((n, a)) < 0.5
    allowed[np.arange(n), draw.integers(0, a, n)] = True
    return np.concatenate([parts.reshape(n, -1), allowed], axis=1)


def in_order(program: Program, records: Any, seed: int) -> int:
    """The total value, in units of 2^-24, of a simple allocation. One participant after another, in random order, takes
    their best action from the remaining supply, free of charge.

    If the remaining supply of a constraint is below the smallest nonzero entry of a contribution, nobody may use the
    constraint any more. Where contributions differ, a participant whose action does not fit gets nothing.

    Args:
        program: packing program of any family.
        records: records of all participants.
        seed: seed of the random order.

    Example:
        >>> from confide.programs import UnitDemand
        >>> program = UnitDemand(2, (1, 1))
        >>> in_order(program, program.read([[1.0, 0.5], [1.0, 0.5]]), 0) / 2**24
        1.5
    """
    left, value = program.supply_units.copy(), 0
    for place in study_generator(seed, "order").permutation(program.people).tolist():
        mine = records.take(slice(place, place + 1))
        prices = np.where(left < program.constants.least_entry * LOAD_UNIT, program.highest_prices, 0)
        value += _served(program, mine, program.respond(mine, prices), left)
    return value


def lottery(program: Program, records: Any, seed: int) -> int:
    """The total value, in units of 2^-24, of a lottery. One participant after another, in random order, receives their
    best action at prices of zero. A participant with an action that no longer fits the supply gets nothing.

    Args:
        program: packing program of any family.
        records: records of all participants.
        seed: seed of the random order.

    Example:
        >>> from confide.programs import UnitDemand
        >>> program = UnitDemand(2, (1, 1))
        >>> lottery(program, program.read([[1.0, 0.5], [1.0, 0.5]]), 0) / 2**24
        1.0
    """
    left, value = program.supply_units.copy(), 0
    wanted = program.respond(records, np.zeros(program.rows, dtype=np.int64))
    for place in study_generator(seed, "lots").permutation(program.people).tolist():
        some = slice(place, place + 1)
        value += _served(program, records.take(some), wanted[some], left)
    return value


def _served(program: Program, mine: Any, action: Any, left: Any) -> int:
    """Value of an action that fits, with its load subtracted from the remaining supply; 0 for an action that does not
    fit.
    """
    adds = program.contributions(mine, action)[0]
    if not bool((adds <= left).all()):
        return 0
    left -= adds
    return int(program.values(mine, action)[0])
