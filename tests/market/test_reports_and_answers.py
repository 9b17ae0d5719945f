"""Bits become reports on their people's side, raw bits are refused, and the public counts give the answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from confide import market as markets
from confide.contract import InvalidInput
from confide.market import (
    BitCollection,
    LinearCost,
    LogNormalLaw,
    MajorityMarket,
    PairMarket,
    PairPrior,
    Reports,
    ThresholdMarket,
)
from confide.market.binomials import StateEstimate, posterior_one
from confide.market.pairs.accuracy import MeanEstimate, mean_estimate
from confide.privacy import Noise

COST = LinearCost(1.0)
PEOPLE = 6
MARKET = MajorityMarket(people=PEOPLE, signal_accuracy=0.8, prior_one=0.7, cost=COST, epsilon=1.0)
COLLECTION = BitCollection(market=MARKET)
PAIRS = PairMarket(PairPrior.beta_binomial(2, 3, PEOPLE), COST, 1.0)
THRESHOLD = ThresholdMarket(PEOPLE, 0.8, 0.7, LogNormalLaw(0.0, 1.0), epsilon=1.0, participation=0.6, ceiling=3.0)
BITS = [True, False, True, True, False, True]
GAPS = [True, False, True, True, False, None]


def as_csv(folder: Path) -> str:
    (folder / "sick.csv").write_text("sick\n" + "\n".join(map(str, BITS)))
    return str(folder / "sick.csv")


TRUTHS: list[Callable[[Path], Any]] = [
    lambda _: BITS, lambda _: np.array(BITS), lambda _: np.array(GAPS, dtype=object), lambda _: tuple(GAPS),
    lambda _: pd.Series(BITS, name="sick"), lambda _: pd.Series(GAPS, name="sick", dtype="boolean"),
    lambda _: pd.DataFrame({"sick": BITS}), lambda _: pl.DataFrame({"sick": GAPS}),
    lambda _: pl.DataFrame({"sick": BITS}).lazy(), lambda _: pa.table({"sick": BITS}), lambda _: pa.array(BITS),
    lambda _: {"sick": BITS}, as_csv,
]


@pytest.mark.parametrize("form", TRUTHS)
@pytest.mark.parametrize("market", [MARKET, PAIRS, THRESHOLD])
def test_true_and_false_are_bits_and_no_reports(form: Callable[[Path], Any], market: Any, tmp_path: Path) -> None:
    reported = r"true and false; reports are 0, 1 or 2 \(none\) and already randomised: .*BitCollection\.reports"
    with pytest.raises(InvalidInput, match=reported):
        BitCollection(market=market).run(form(tmp_path), Noise.simulated(1))
    with pytest.raises(InvalidInput, match=reported):
        market.pay_reports(form(tmp_path))


def test_a_column_of_bits_is_refused_by_its_name() -> None:
    for frame in (pd.DataFrame({"sick": BITS}), pd.DataFrame({"sick": pd.Series(GAPS, dtype=object)})):
        with pytest.raises(InvalidInput) as caught:
            COLLECTION.run(frame, Noise.simulated(1))
        assert caught.value.field == "sick"


def test_groups_and_batches_and_mixed_levels_refuse_bits() -> None:
    grouped = BitCollection(market=MARKET, groups=2)
    for table in (pl.DataFrame({"report": BITS, "group": [0] * PEOPLE}), {"report": BITS, "group": [0] * PEOPLE}):
        with pytest.raises(InvalidInput, match="report: the column holds true and false"):
            grouped.run(table, Noise.simulated(1))
    batch: Any = Reports(np.arange(PEOPLE), np.array(BITS), np.zeros(PEOPLE, np.int64))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="true and false"):
        COLLECTION.run([batch], Noise.simulated(1))


def test_missing_reports_in_lists_arrays_and_mappings_take_no_part() -> None:
    expected = COLLECTION.run([1, 0, 1, 2, 1, 0], Noise.simulated(1)).shares
    cells = [1, 0, 1, None, 1, 0]
    for data in (cells, np.array([1, 0, 1, math.nan, 1, 0]), {"report": cells}):
        assert COLLECTION.run(data, Noise.simulated(1)).shares.equals(expected)
    for bad in ([1, 0, 1, 1, 0, [1]], [1j] * PEOPLE, ["a"] * PEOPLE, [0, 1, 0, 1, 0, 3]):
        with pytest.raises(InvalidInput, match="reports: "):
            COLLECTION.run(bad, Noise.simulated(1))


@pytest.mark.parametrize("form", TRUTHS)
def test_bits_of_every_form_become_the_same_reports(form: Callable[[Path], Any], tmp_path: Path) -> None:
    found = COLLECTION.reports(form(tmp_path), Noise.simulated(5))
    expected = COLLECTION.reports([1, 0, 1, 1, 0, 1], Noise.simulated(5))
    assert found.dtype == np.uint8
    assert found[:5].tolist() == expected[:5].tolist()
    assert found[5] in (2, expected[5])


def test_reports_are_randomised_at_the_level_of_the_market() -> None:
    people = 4000
    collection = BitCollection(market=MajorityMarket(people=people, signal_accuracy=0.8, prior_one=0.7, cost=COST,
                                                     epsilon=1.0))
    bits = np.arange(people) % 2
    flipped = int(np.sum(collection.reports(bits, Noise.simulated(2)) != bits))
    rate = 1.0 / (1.0 + math.e)
    assert abs(flipped - people * rate) < 5.0 * math.sqrt(people * rate * (1.0 - rate))  # 6e-7 of all seeds fail


def test_a_report_is_what_the_device_draws() -> None:
    one = BitCollection(market=MajorityMarket(people=2, signal_accuracy=0.8, prior_one=0.7, cost=COST, epsilon=30.0))
    assert one.reports([True, False], Noise.secure()).tolist() == [one.submit(1, noise=Noise.secure()),
                                                                  one.submit(0, noise=Noise.secure())]


def test_unknown_costs_need_a_worth() -> None:
    collection = BitCollection(market=THRESHOLD)
    for call in (lambda: collection.reports(BITS, Noise.simulated(1)),
                 lambda: collection.submit(1, None, Noise.secure())):
        with pytest.raises(InvalidInput, match="worth: is missing"):
            call()
    dear = 1e6
    worth = [0.01, 0.01, dear, 0.01, 0.01, math.nan]
    found = collection.reports(GAPS, Noise.simulated(1), worth=worth)
    assert found[2] == found[5] == 2
    assert set(found[[0, 1, 3, 4]].tolist()) <= {0, 1}
    for bad in ([0.5] * 5, [-1.0] * PEOPLE, ["a"] * PEOPLE):
        with pytest.raises(InvalidInput, match="worth: ") as caught:
            collection.reports(BITS, Noise.simulated(1), worth=bad)
        assert "-1" not in str(caught.value)


@pytest.mark.parametrize("bad", [[1, 0], ["a"] * PEOPLE, [3] * PEOPLE, 1])
def test_what_is_no_column_of_bits_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidInput, match="bits: "):
        COLLECTION.reports(bad, Noise.simulated(1))


def test_the_counts_answer() -> None:
    reports = [1, 1, 0, 1, 2, 0]
    board = COLLECTION.run(reports, Noise.simulated(1)).billboard
    now = posterior_one(3, 2, MARKET.signal_model, MARKET.reporting)
    assert COLLECTION.answer(board) == StateEstimate(state=1, wrong=1.0 - now, people=5)
    shares = BitCollection(market=PAIRS, groups=2)
    board = shares.run({"report": reports, "group": [0, 1, 0, 1, 0, 1]}, Noise.simulated(1)).billboard
    assert board.ones.tolist() == [1, 2]
    found = shares.answer(board)
    assert isinstance(found, MeanEstimate)
    assert found == mean_estimate(3, 2, 1.0)
    unknown = BitCollection(market=THRESHOLD)
    estimate = unknown.answer(unknown.run([0] * 4 + [1] * 2, Noise.simulated(1)).billboard)
    assert isinstance(estimate, StateEstimate)
    assert estimate.state == 0
    assert estimate.probability_one == pytest.approx(
        posterior_one(2, 4, THRESHOLD.signal_model, THRESHOLD.reporting))


def test_nobody_and_a_strange_billboard() -> None:
    nobody = COLLECTION.run([2] * PEOPLE, Noise.simulated(1)).billboard
    found = COLLECTION.answer(nobody)
    assert isinstance(found, StateEstimate)
    assert (found.people, found.state) == (0, 1)
    assert found.probability_one == pytest.approx(0.7)
    for bad in (None, {"ones": [1]}):
        with pytest.raises(InvalidInput, match="billboard"):
            COLLECTION.answer(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(("given", "says"), [
    (3, "int is not a market"), (None, "NoneType is not a market"), ("majority", "str is not a market"),
    (MajorityMarket, "the value is the class MajorityMarket"),
])
def test_what_is_no_market_is_refused_by_name(given: Any, says: str) -> None:
    with pytest.raises(InvalidInput, match=f"market: {says}.*must be a MajorityMarket, ThresholdMarket or PairMarket"):
        BitCollection(market=given)


def test_a_plan_is_refused_with_what_to_pass() -> None:
    plan = markets.plan(people=300, epsilon=1.0, signal_accuracy=0.8, prior_one=0.7, cost=COST)
    with pytest.raises(InvalidInput, match="market: MarketPlan is a plan, not a market; pass the plan's `market`"):
        BitCollection(market=plan)
    assert BitCollection(market=plan.market) == plan.mechanism
