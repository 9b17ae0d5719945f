"""Runs on frames, Arrow tables and files: the same shares as of arrays, and clear words about wrong columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from convex_models import KNAPSACKS

from confide.contract import InvalidInput
from confide.privacy.noise import Noise
from confide.programs import AggregativeGame, PrivDude, UnitDemand, XorBundles, dual_value, exact, least_tau
from confide.programs.instances import popular

PEOPLE = 400
PROGRAM = UnitDemand(PEOPLE, 60, goods=3)
VALUES = np.round(popular(PEOPLE, 3, seed=1).astype(np.float64), 3)
TABLE = pa.table({name: VALUES[:, at] for at, name in enumerate(("tea", "coffee", "milk"))})


def saved(write: Callable[[pa.Table, str], object], name: str) -> Callable[[Path], Path]:
    def made(folder: Path) -> Path:
        write(TABLE, str(folder / name))
        return folder / name
    return made


FORMS: dict[str, Callable[[Path], Any]] = {
    "arrow": lambda _: TABLE,
    "record batch": lambda _: TABLE.to_batches()[0],
    "pandas": lambda _: TABLE.to_pandas(),
    "polars": lambda _: pl.from_arrow(TABLE),
    "whole numbers": lambda _: TABLE.to_pandas().convert_dtypes(),
    "parquet": saved(pyarrow.parquet.write_table, "values.parquet"),
    "csv": saved(pyarrow.csv.write_csv, "values.csv"),
    "feather": saved(pyarrow.feather.write_feather, "values.feather"),
    "path as text": lambda folder: str(saved(pyarrow.parquet.write_table, "values.parquet")(folder)),
}


def ran(program: Any, data: Any) -> Any:
    return PrivDude(program, 5.0, 1e-6, 12, 6).run(data, Noise.simulated(3))


@pytest.mark.parametrize("form", FORMS)
def test_a_table_of_any_kind_runs_as_an_array_does(form: str, tmp_path: Path) -> None:
    found, usual = ran(PROGRAM, FORMS[form](tmp_path)), ran(PROGRAM, VALUES)
    assert found.shares.equals(usual.shares)
    assert np.array_equal(found.billboard.prices, usual.billboard.prices)


def test_text_is_refused_by_its_column(tmp_path: Path) -> None:
    words = TABLE.set_column(1, "coffee", pa.array(["much"] * PEOPLE))
    path = tmp_path / "words.parquet"
    pyarrow.parquet.write_table(words, path)
    for data in (words, words.to_pandas(), pl.from_arrow(words), path):
        with pytest.raises(InvalidInput, match=r"^coffee: the column holds text; must be numbers"):
            ran(PROGRAM, data)
    dates = TABLE.set_column(2, "milk", pa.array(np.zeros(PEOPLE, "datetime64[s]")))
    with pytest.raises(InvalidInput, match=r"^milk: the column is of type"):
        ran(PROGRAM, dates)


def test_the_exact_optimum_reads_what_a_run_reads(tmp_path: Path) -> None:
    prices, words = np.zeros(3, dtype=np.int64), TABLE.set_column(1, "coffee", pa.array(["much"] * PEOPLE))
    usual = exact(PROGRAM, VALUES).value, least_tau(PROGRAM, VALUES), dual_value(PROGRAM, VALUES, prices)
    for form in ("polars", "parquet"):
        data = FORMS[form](tmp_path)
        assert (exact(PROGRAM, data).value, least_tau(PROGRAM, data), dual_value(PROGRAM, data, prices)) == usual
    for reads in (exact, least_tau, lambda program, data: dual_value(program, data, prices)):
        with pytest.raises(InvalidInput, match=r"^coffee: the column holds text"):
            reads(PROGRAM, words)  # type: ignore[operator]


def test_other_columns_and_rows_are_refused() -> None:
    with pytest.raises(InvalidInput,
                       match=r"^data: has 2 columns, tea, coffee; must have 3 columns, one for each number"):
        ran(PROGRAM, TABLE.select(["tea", "coffee"]))
    with pytest.raises(InvalidInput, match=r"^records: its shape is \(399, 3\)"):
        ran(PROGRAM, TABLE.slice(1))
    with pytest.raises(InvalidInput, match=r"^source: "):
        ran(PROGRAM, "nowhere.parquet")


def test_a_missing_cell_makes_its_row_unusable() -> None:
    holes = TABLE.to_pandas()
    holes.loc[7, "milk"] = np.nan
    with pytest.raises(InvalidInput, match="row 7 cannot be used"):
        ran(PROGRAM, holes)


def test_records_of_several_parts_are_columns_side_by_side() -> None:
    """A game's contributions and what is allowed; bundles, as goods and values."""
    parts = np.round(np.linspace(-1, 1, 40 * 2 * 2), 3).reshape(40, 2, 2)
    allowed = np.tile([True, False], (40, 1))
    game = AggregativeGame(40, (0.0, 0.0), actions=2, largest=1.0)
    cells = np.concatenate([parts.reshape(40, 4), allowed], axis=1)
    frame = pd.DataFrame(cells, columns=["a0", "a1", "b0", "b1", "a", "b"])
    assert ran(game, frame).shares.equals(ran(game, (parts, allowed)).shares)
    goods = np.array([[[0, 1], [2, -1]]] * 40)
    worth = np.linspace(0, 1, 80).reshape(40, 2)
    bundles = XorBundles(40, 8, goods=3, size=2, bids=2)
    wide = pl.DataFrame(np.concatenate([goods.reshape(40, 4), worth], axis=1))
    assert ran(bundles, wide).shares.equals(ran(bundles, (goods, worth)).shares)


def test_fields_of_a_mapping_are_columns_by_their_names() -> None:
    program, data = KNAPSACKS.program(30), KNAPSACKS.data(30, seed=1)
    columns = {f"{name}.{at}": table[:, at] for name, table in data.items() for at in range(3)}
    frame = pd.DataFrame(columns)[[*sorted(columns)]]
    assert ran(program, frame).shares.equals(ran(program, data).shares)
    with pytest.raises(InvalidInput, match=r"^worth: is not a field of a record; fields are"):
        ran(program, frame.rename(columns={"worth.0": "worth"}))
    with pytest.raises(InvalidInput, match=r"^weight\.1: the table has no such column"):
        ran(program, frame.drop(columns="weight.1"))
