"""Numbers of frames, Arrow tables, files and queries: the same ones from whatever holds them."""

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

from confide.contract.errors import InvalidInput
from confide.tables.frames import column_of, columns_of, fields_of, integers_of, is_table, named_columns_of

NUMBERS = {"a": [0.5, None, 2.0], "b": [1, 0, -3]}
EXPECTED = [[0.5, 1.0], [np.nan, 0.0], [2.0, -3.0]]
FORMS = ("arrow", "batch", "pandas", "polars", "lazy", "query", ".csv", ".parquet", ".arrow")


def in_form(form: str, columns: dict[str, Any], folder: Path) -> Any:
    table = pa.table(columns)
    match form:
        case "batch":
            return table.to_batches()[0]
        case "pandas":
            return table.to_pandas().set_index(np.array([7, 8, 9])[: len(table)])
        case "polars":
            return pl.from_arrow(table)
        case "lazy":
            return pl.DataFrame(pl.from_arrow(table)).lazy()
        case "query":
            import ibis
            return ibis.memtable(table).order_by(table.column_names[-1])
        case ".csv":
            pa.csv.write_csv(table, folder / "t.csv")
        case ".parquet":
            pa.parquet.write_table(table, folder / "t.parquet")
        case ".arrow":
            pa.feather.write_feather(table, str(folder / "t.arrow"))
    return folder / f"t{form}" if form.startswith(".") else table


@pytest.mark.parametrize("form", FORMS)
def test_numbers_are_the_same_from_every_form(form: str, tmp_path: Path) -> None:
    data = in_form(form, NUMBERS, tmp_path)
    assert is_table(data)
    names, found = named_columns_of(data)
    expected = np.array(EXPECTED)
    if form == "query":  # a query says its order
        expected = expected[np.argsort(expected[:, 1])]
    assert names == ("a", "b")
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(columns_of(data, 2), expected)
    fields = fields_of(data, {"b": (), "a": ()})
    np.testing.assert_array_equal(np.column_stack([fields["a"], fields["b"]]), expected)


@pytest.mark.parametrize("form", FORMS)
def test_whole_numbers_are_exact_from_every_form(form: str, tmp_path: Path) -> None:
    data = in_form(form, {"message": [-5, 2**62 + 1], "index": [1, 2]}, tmp_path)
    found = integers_of(data, ("index", "message"))
    assert found["message"].tolist() == [-5, 2**62 + 1]
    assert found["index"].tolist() == [1, 2]


@pytest.mark.parametrize("form", [form for form in FORMS if form != ".csv"])
def test_text_is_refused_by_its_name(form: str, tmp_path: Path) -> None:
    """Even where it spells numbers: only the cells of a CSV file have no type."""
    data = in_form(form, {"pay": ["1", "2"], "index": [1, 2]}, tmp_path)
    for read in (columns_of, lambda it: fields_of(it, {"pay": (), "index": ()}),
                 lambda it: integers_of(it, ("index", "pay"))):
        with pytest.raises(InvalidInput) as error:
            read(data)
        assert error.value.field == "pay"


def test_no_message_says_which_cell_is_wrong() -> None:
    with pytest.raises(InvalidInput) as error:
        integers_of(pa.table({"index": [1, 2], "message": [7, None]}), ("index", "message"))
    assert (error.value.field, error.value.problem) == ("message", "a cell is not a whole number of 64 bits")


def test_other_columns_are_refused() -> None:
    for read in (lambda: columns_of(pa.table({"a": [1], "b": [2]}), 1), lambda: integers_of({"a": [1]}, ("b",)),
                 lambda: fields_of(pa.table({"a": [1]}), {"b": ()})):
        with pytest.raises(InvalidInput):
            read()


def test_a_query_without_an_order_is_refused() -> None:
    import ibis
    with pytest.raises(InvalidInput, match="order"):
        columns_of(ibis.memtable(pa.table(NUMBERS)))


@pytest.mark.parametrize("column", [pd.Series([1.0, None]), pl.Series([1.0, None]), pa.array([1.0, None]),
                                    pa.chunked_array([[1.0], [None]])])
def test_a_column_is_read_by_its_type(column: Any) -> None:
    found = column_of(column)
    assert found is not None
    assert found.tolist()[0] == 1.0
    assert np.isnan(found[1])
    assert not is_table(column)


def test_a_list_is_no_column() -> None:
    assert column_of([1.0]) is None


@pytest.mark.parametrize("read", [columns_of, lambda it: named_columns_of(it)[1],
                                  lambda it: fields_of(it, {"pay": (), "index": ()})])
def test_a_column_of_a_file_that_holds_text_alone_is_refused_by_its_name(read: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for cells in (["low", "high", ""], ["", "a secret", " "], ["2024-05-01", "2024-05-02", "2024-05-03"]):
        path.write_text("pay,index\n" + "".join(f"{cell},{at}\n" for at, cell in enumerate(cells)))
        with pytest.raises(InvalidInput) as error:
            read(path)
        assert (error.value.field, error.value.problem) == ("pay", "the column holds text")
    for cells in (["low", "7", "high"], ["", "", " "], ["inf", "none", ""], ["TRUE", "maybe", ""]):
        path.write_text("pay,index\n" + "".join(f"{cell},{at}\n" for at, cell in enumerate(cells)))
        read(path)  # one person's cell that is no number is hers


def test_text_is_looked_for_in_all_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = 70_000  # more than one batch
    path.write_text("pay\n" + "low\n" * rows + "1.5\n")
    found = columns_of(path)
    assert np.isnan(found[:-1]).all()
    assert found[-1].tolist() == [1.5]
    path.write_text("pay\n" + "low\n" * (rows + 1))
    with pytest.raises(InvalidInput, match=r"^pay: the column holds text"):
        columns_of(path)


def test_single_precision_is_read_as_it_shows_beside_wider_columns() -> None:
    single = pa.array([4.3, None, 0.1], pa.float32())
    assert columns_of(pa.table({"a": single})).dtype == np.float32
    beside = columns_of(pa.table({"a": single, "b": [0.1 + 0.2, 1e300, 3.0]}))
    assert beside.dtype == np.float64
    assert beside[[0, 2], 0].tolist() == [4.3, 0.1]
    assert np.isnan(beside[1, 0])
    assert beside[:, 1].tolist() == [0.1 + 0.2, 1e300, 3.0]
    assert columns_of(pa.table({"a": single, "b": [1, 2, 3]}))[0].tolist() == [4.3, 1.0]


def test_a_mapping_of_lists_may_miss_numbers_and_is_a_column_where_it_is_one() -> None:
    assert columns_of({"a": [0.5, None], "b": (1, 2)}).tolist()[0] == [0.5, 1.0]
    found = column_of({"a": [1, None, 0]})
    assert found is not None
    assert found.tolist()[::2] == [1.0, 0.0]
    for cells in ([1, [2]], [1, 1j], [1, "2"], [None, object()]):
        with pytest.raises(InvalidInput, match=r"^a: the column holds text"):
            columns_of({"a": cells})


def test_true_and_false_are_numbers_but_where_they_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\ntrue\nFalse\n")
    for data in (pd.DataFrame({"a": [True, False]}), pl.DataFrame({"a": [True, False]}), {"a": [True, False]}, path):
        assert columns_of(data).tolist() == [[1.0], [0.0]]
        with pytest.raises(InvalidInput, match=r"^a: the column holds true and false; say 1 and 0"):
            columns_of(data, no_truths="say 1 and 0")
