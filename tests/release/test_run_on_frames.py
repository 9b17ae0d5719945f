"""Runs take arrays, Arrow tables, frames and files alike, with and without a schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from confide.contract import InvalidInput
from confide.privacy.noise import Noise
from confide.release import (
    MWEM,
    Binned,
    Bit,
    DualQuery,
    IndependentMarginals,
    MarginalFit,
    NoisyAnswers,
    Reweighted,
    Schema,
    Workload,
)

SCHEMA = Schema((Binned(column="age", lower=0, upper=100, bins=4), Bit(column="smoker")))
PEOPLE: dict[str, list[Any]] = {"age": [3.0, 30.0, 99.0, 60.0] * 10, "smoker": [True, False, False, True] * 10}
BITS: dict[str, list[Any]] = {"a": [1, 0, 1, 1] * 10, "b": [0, 0, 1, 1] * 10, "c": [1, 1, 1, 0] * 10}

WAYS = ["mapping", "arrow", "pandas", "polars", "lazy", "csv", "parquet"]


def given(way: str, columns: dict[str, list[Any]], folder: Path) -> Any:
    table = pa.table(columns)
    match way:
        case "mapping":
            return columns
        case "pandas":
            return pd.DataFrame(columns)
        case "polars":
            return pl.DataFrame(columns)
        case "lazy":
            return pl.DataFrame(columns).lazy()
        case "csv":
            pyarrow.csv.write_csv(table, folder / "people.csv")
            return folder / "people.csv"
        case "parquet":
            pyarrow.parquet.write_table(table, folder / "people.parquet")
            return str(folder / "people.parquet")
    return table


def mechanisms(schema: Schema | None, workload: Workload) -> list[Any]:
    budget: dict[str, Any] = {"records": 40, "epsilon": 2.0, "delta": 1e-2, "workload": workload, "schema": schema}
    found = [MWEM.for_budget(**budget, rounds=2), DualQuery.for_budget(**budget, rounds=3),
             Reweighted.for_budget(**budget, rounds=3, samples=10, measured=2), NoisyAnswers.for_budget(**budget),
             IndependentMarginals.for_budget(**budget)]
    if schema is not None:
        found.append(MarginalFit.for_budget(records=40, epsilon=2.0, delta=1e-2, schema=schema, population=100))
    return found


def answers(it: Any, data: Any, workload: Workload) -> list[float]:
    found: list[float] = it.run(data, Noise.simulated(1)).billboard.answers(workload).tolist()
    return found


@pytest.mark.parametrize("way", WAYS)
def test_a_table_in_any_form_gives_the_same_release(way: str, tmp_path: Path) -> None:
    asked = Workload.complete(SCHEMA, width=2)
    for it in mechanisms(SCHEMA, asked):
        assert answers(it, given(way, PEOPLE, tmp_path), asked) == answers(it, SCHEMA.encode(PEOPLE), asked)


@pytest.mark.parametrize("way", WAYS)
def test_without_a_schema_each_column_is_a_bit(way: str, tmp_path: Path) -> None:
    asked = Workload.complete(3, width=2)
    rows = np.array(list(BITS.values())).T == 1
    for it in mechanisms(None, asked):
        assert answers(it, given(way, BITS, tmp_path), asked) == answers(it, rows, asked)


@pytest.mark.parametrize("way", WAYS)
def test_text_in_place_of_numbers_is_refused_by_its_column(way: str, tmp_path: Path) -> None:
    asked = Workload.complete(3, width=2)
    for it in mechanisms(None, asked):
        with pytest.raises(InvalidInput, match=r"^b: "):
            it.run(given(way, {**BITS, "b": ["x", "y", "z", ""] * 10}, tmp_path), Noise.simulated(1))
    for it in mechanisms(SCHEMA, Workload.complete(SCHEMA, width=2)):
        with pytest.raises(InvalidInput, match=r"^age: "):
            it.run(given(way, {**PEOPLE, "age": ["x", "y", "z", ""] * 10}, tmp_path), Noise.simulated(1))
