"""Bits from frames, Arrow and files: the same counts and payments as from arrays; text is refused by its column."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from confide.contract import InvalidInput
from confide.market import BitCollection, LinearCost, MajorityMarket, Reports
from confide.privacy import Noise

COST = LinearCost(1.0)
MARKET = MajorityMarket(people=6, signal_accuracy=0.8, prior_one=0.7, cost=COST, epsilon=1.0)
COLLECTION = BitCollection(market=MARKET)
REPORTS = [1, 0, 1, 2, 1, 0]
CELLS = [1, 0, 1, None, 1, 0]  # an empty cell takes no part


def as_csv(folder: Path) -> str:
    (folder / "reports.csv").write_text("report\n" + "\n".join("" if each is None else str(each) for each in CELLS))
    return str(folder / "reports.csv")


def as_parquet(folder: Path) -> Path:
    pl.DataFrame({"report": CELLS}).write_parquet(folder / "reports.parquet")
    return folder / "reports.parquet"


FORMS: list[Callable[[Path], Any]] = [
    lambda _: np.array(REPORTS), lambda _: pd.Series(CELLS), lambda _: pl.Series(CELLS), lambda _: pa.array(CELLS),
    lambda _: pd.DataFrame({"report": CELLS}), lambda _: pl.DataFrame({"report": CELLS}),
    lambda _: pa.table({"report": CELLS}), lambda _: pl.DataFrame({"report": REPORTS}), as_csv, as_parquet,
]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_column_is_the_same_reports(form: Callable[[Path], Any], tmp_path: Path) -> None:
    expected = COLLECTION.run(REPORTS, Noise.simulated(1))
    found = COLLECTION.run(form(tmp_path), Noise.simulated(1))
    assert found.shares.equals(expected.shares)
    assert (found.billboard.ones.tolist(), found.billboard.zeros.tolist()) == ([3], [2])
    data = form(tmp_path)
    assert MARKET.pay_reports(data).tolist() == MARKET.pay_reports(REPORTS).tolist()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_groups_of_peers_have_a_column(frame: Callable[[Any], Any]) -> None:
    groups = [0, 1, 1, 0, 0, 1]
    collection = BitCollection(market=MARKET, groups=2)
    batch = Reports(np.arange(6), np.array(REPORTS, np.uint8), np.array(groups))
    found = collection.run(frame({"report": CELLS, "group": groups}), Noise.simulated(1))
    assert found.shares.equals(collection.run([batch], Noise.simulated(1)).shares)
    assert found.billboard.ones.tolist() == [2, 1]
    with pytest.raises(InvalidInput, match=r"^group: is out of range"):
        collection.run(frame({"report": CELLS, "group": [0, 1, 1, 0, 0, 2]}), Noise.simulated(1))
    with pytest.raises(InvalidInput, match=r"^group: is missing, or is not a whole number"):
        collection.run(frame({"report": CELLS, "group": [0, 1, 1, 0, 0, None]}), Noise.simulated(1))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_text_is_refused_by_its_column(frame: Callable[[Any], Any]) -> None:
    for run in (lambda data: COLLECTION.run(data, Noise.simulated(1)), MARKET.pay_reports):
        with pytest.raises(InvalidInput, match=r"^answer: the column holds text; must be numbers"):
            run(frame({"answer": ["1", "0", "1", "1", "1", "0"]}))
    with pytest.raises(InvalidInput, match=r"^data: has 2 columns, report, wage; must have 1 column"):
        COLLECTION.run(frame({"report": CELLS, "wage": REPORTS}), Noise.simulated(1))
    with pytest.raises(InvalidInput, match=r"^reports: contain another value"):
        COLLECTION.run(frame({"report": [1, 0, 1, 3, 1, 0]}), Noise.simulated(1))
