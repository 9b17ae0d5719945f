"""Settings of printed mechanisms: ranges that are declared once, tables of any kind, and doors that are everybody's."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from confide.allocation import instance_a
from confide.contract import InvalidInput
from confide.contract.parameters import Declared, parameters
from confide.evidence.cummings_2015 import Corollary1, Printed
from confide.evidence.fallah_2022.two_users import TwoUsers
from confide.evidence.wang_2016.data_market import GenieMarket, HeterogeneousMarket, least_pair_payment
from confide.evidence.wu_2017.private_matchings import PrintedPMatch
from confide.market import LinearCost, PairPrior, simulate
from confide.privacy.noise import Noise

COST = LinearCost(1.0)
MIXED: dict[str, Any] = {"signal_accuracy": 0.8, "prior_one": 0.7, "costs": [COST] * 2, "epsilon": 1.0}
GOOD: dict[type[Any], dict[str, Any]] = {
    Corollary1: {"people": 100, "features": 2, "square_bound": 1.0, "noise_bound": 1.0, "exponent": 4.0, "delta": 0.1},
    GenieMarket: {"people": 10, "signal_accuracy": 0.8, "prior_one": 0.7, "cost": COST, "epsilon": 1.0},
    Printed: {"people": 100, "features": 2, "ridge": 1.0, "epsilon": 1.0, "square_bound": 1.0, "noise_bound": 1.0,
              "noise_variance": 0.5, "misreports": 0.1, "tolerance": 0.5, "threshold": 1.0, "a": 0.0, "b": 1.0},
    TwoUsers: {"variance_price": 1.0, "noise_price": 4.0},
}


def outside() -> list[tuple[type[Any], str, object]]:
    """Each declared bound of each class, and a value on its wrong side."""
    found: list[tuple[type[Any], str, object]] = []
    for kind in GOOD:
        for name, (_, of, it) in parameters(kind).items():
            found += [(kind, name, value) for value in (
                it.above, None if it.at_least is None else it.at_least - 1, it.below,
                None if it.at_most is None else it.at_most * 2) if value is not None]
            found += [(kind, name, math.nan)] * (of is float)
    return found


@pytest.mark.parametrize(("kind", "name", "value"), outside())
def test_a_value_out_of_range_is_refused_by_its_field(kind: type[Any], name: str, value: object) -> None:
    kind(**GOOD[kind])
    with pytest.raises(InvalidInput) as caught:
        kind(**{**GOOD[kind], name: value})
    assert caught.value.field == name


def test_classes_list_their_parameters_in_their_docstrings() -> None:
    for kind in GOOD:
        assert issubclass(kind, Declared)
        for name in parameters(kind):
            assert f" {name}: " in str(kind.__doc__), (kind, name)


@pytest.mark.parametrize(("changes", "field"), [
    ({"epsilon": [1.0, 701.0]}, "epsilon"), ({"signal_accuracy": 1.0}, "signal_accuracy"),
    ({"costs": [COST]}, "costs"), ({"costs": [COST] * 3, "epsilon": [1.0, 2.0]}, "epsilon"),
])
def test_costs_that_differ_are_checked(changes: dict[str, Any], field: str) -> None:
    HeterogeneousMarket(**MIXED)
    with pytest.raises(InvalidInput) as caught:
        HeterogeneousMarket(**{**MIXED, **changes})
    assert caught.value.field == field


@pytest.mark.parametrize("kind", [GenieMarket, HeterogeneousMarket])
def test_a_market_without_a_budget_says_why(kind: type) -> None:
    assert not hasattr(kind, "for_budget")
    assert "The class has no `for_budget`, because" in (inspect.getdoc(kind) or "")


@pytest.mark.parametrize("make", [
    lambda level: GenieMarket(10**6, 0.5001, 0.5, LinearCost(1e3), level),
    lambda level: HeterogeneousMarket(0.5001, 0.5, [LinearCost(1.0), LinearCost(1e6)], level),
])
def test_payments_beyond_the_doubles_are_refused(make: Callable[[float], object]) -> None:
    """By name, and the level that is named will do."""
    with pytest.raises(InvalidInput, match="epsilon: 700 needs payments that are too large for 64-bit "
                                           "floats") as caught:
        make(700.0)
    least = float(str(caught.value).rsplit(" ", 1)[1])
    assert 600 < least < 700
    make(least)


def test_the_genie_is_not_played() -> None:
    with pytest.raises(InvalidInput, match="GenieMarket cannot be played"):
        simulate(GenieMarket(10, 0.8, 0.7, COST, 1.0), 10, seed=1)  # type: ignore[arg-type]


@pytest.mark.parametrize(("prior", "field"), [
    (PairPrior(10, 0.4, 0.04), "prior"), (PairPrior.beta_binomial(2, 3, 2002), "people")])
def test_the_least_pair_payment_needs_a_law_of_few(prior: PairPrior, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        least_pair_payment(prior, COST, 1.0)
    assert caught.value.field == field


@pytest.mark.parametrize("form", [
    np.array, pd.Series, pl.Series, pa.array, lambda cells: pd.DataFrame({"report": cells})])
def test_reports_are_read_from_any_column(form: Callable[[Any], Any]) -> None:
    mixed, reports = HeterogeneousMarket(0.8, 0.7, [COST] * 6, 1.0), [1, 0, 1, 2, 1, 0]
    assert mixed.pay_reports(form(reports)).tolist() == mixed.pay_reports(reports).tolist()


def test_the_printed_auction_reads_frames_and_tells_its_progress_to_the_end() -> None:
    one = PrintedPMatch(people=300, goods=4, supply=60, increment=0.5, tolerance=0.5, epsilon=1e9, reserve=0,
                        failure_probability=0.05, halt_below=1)
    values, reported = instance_a(300, 4, seed=1), list[tuple[int, int]]()
    expected = one.run(values, Noise.simulated(1), progress=lambda done, of: reported.append((done, of)))
    columns = {f"good {j}": values[:, j] for j in range(4)}
    for given in (pa.table(columns), pd.DataFrame(columns), pl.DataFrame(columns), columns):
        assert one.run(given, Noise.simulated(1)).to_dict()["billboard"] == expected.to_dict()["billboard"]
    assert reported[-1][0] == reported[-1][1]
    budget = PrintedPMatch.for_budget(epsilon=1e9, delta=0.0, people=2000, goods=4, supply=400)
    assert budget.guarantees().privacy[0].loss.epsilon <= 1e9 * (1 + 1e-12)
    with pytest.raises(TypeError):
        PrintedPMatch.for_budget(2000, 4, 400, 1e9)  # type: ignore[misc]
