"""The market of people whose costs differ takes reports, and is none that a collection pays by public counts."""

from __future__ import annotations

import pytest

from confide.contract import InvalidInput
from confide.evidence.wang_2016.data_market import HeterogeneousMarket
from confide.market import BitCollection, LinearCost

MARKET = HeterogeneousMarket(0.8, 0.7, [LinearCost(1.0)] * 6, 1.0)


def test_true_and_false_are_no_reports() -> None:
    with pytest.raises(InvalidInput, match="true and false"):
        MARKET.pay_reports([True, False, True, True, False, True])


def test_a_collection_refuses_it_by_name() -> None:
    with pytest.raises(InvalidInput, match="market: HeterogeneousMarket is not a market with payments"):
        BitCollection(market=MARKET)  # type: ignore[arg-type]
