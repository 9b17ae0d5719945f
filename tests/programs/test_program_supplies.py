"""Supplies below zero: refused where nobody adds less than nothing, right where contributions have either sign."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from convex_models import DIMINISHING, SIGNED

from confide.contract.errors import InvalidInput
from confide.privacy.noise.simulated import study_generator
from confide.programs import (
    AggregativeGame,
    CallbackDemand,
    CappedAdditive,
    ConvexProgram,
    Electricity,
    Flow,
    Knapsack,
    Program,
    SharedResources,
    UnitDemand,
    XorBundles,
    convex_program,
)
from confide.programs.grids import LOAD_UNIT

ARCS = ((0, 1), (1, 2))


def _boxed(supply: Any) -> ConvexProgram:
    x, worth = cp.Variable(2, nonneg=True), cp.Parameter(2)
    return convex_program(10, supply, value=worth @ x, coupling=x, constraints=[x <= 1],
                          record={"worth": (worth, 0, 1)}, tau=1.0)


@pytest.mark.parametrize("family", [
    lambda supply: UnitDemand(10, supply), lambda supply: CappedAdditive(10, supply, cap=1),
    lambda supply: XorBundles(10, supply, size=1, bids=1), lambda supply: CallbackDemand(10, supply, size=1),
    lambda supply: Knapsack(10, supply, least_weight=0.5), lambda supply: Flow(
        10, supply, arcs=ARCS, hops=2, escape=1.0),
    lambda supply: SharedResources(10, supply, needs=((0, 1),), costs=(1.0, 1.0)),
    lambda supply: Electricity(10, supply, most=1, intervals=2, slots=1),
    lambda supply: Electricity(10, supply, most=1, intervals=2, slots=1, shortfall=1.0),
    lambda supply: AggregativeGame(10, supply, actions=1, largest=1.0, signed=False), _boxed,
    lambda supply: replace(DIMINISHING, supply=(*supply, 1.0)).program(10)])
def test_nothing_fits_into_less_than_nothing(family: Callable[[Any], Program]) -> None:
    assert family((0.0, 1.0)).rows >= 2
    for supply in ((-1e-6, 1.0), (1.0, -20.0), (-10.0, -10.0)):
        with pytest.raises(InvalidInput, match=r"^supply"):
            family(supply)


@pytest.mark.parametrize("program", [
    SIGNED.program(12), AggregativeGame(12, (-3.0, 11.0), actions=2, largest=1.0)], ids=["own", "game"])
def test_no_load_is_further_from_its_supply_than_the_width(program: Program) -> None:
    """Of signed contributions, whose supplies may be below zero."""
    assert min(program.supplies) < 0
    draw, one = study_generator(3), program.constants
    assert program.people * one.largest_entry + max(map(abs, program.supplies)) <= one.width + 1e-9
    data: Any = SIGNED.data(12, seed=2) if isinstance(program, ConvexProgram) else (
        draw.uniform(-1, 1, (12, 2, 2)), np.ones((12, 2)))
    records = program.read(data)
    for prices in draw.integers(program.lowest_prices, program.highest_prices, (5, program.rows)):
        load = program.load_at(records, prices) / LOAD_UNIT
        assert (np.abs(load - program.supplies) <= one.width).all()


@pytest.mark.parametrize("make", [
    lambda: CappedAdditive(3, 1, goods=4, cap=0), lambda: CappedAdditive(3, 1, goods=4, cap=5),
    lambda: CappedAdditive(3, 1, goods=4, cap=1.5)])  # type: ignore[arg-type]
def test_a_cap_is_named_by_its_name(make: Callable[[], Program]) -> None:
    with pytest.raises(InvalidInput, match=r"^cap"):
        make()
    for options in ({"size": 0}, {"size": 5}):
        with pytest.raises(InvalidInput, match=r"^size"):
            XorBundles(3, 1, goods=4, bids=1, **options)
        with pytest.raises(InvalidInput, match=r"^size"):
            CallbackDemand(3, 1, goods=4, **options)
