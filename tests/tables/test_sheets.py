"""Sheets of workbooks: each cell keeps its own type, and nothing that a reader leaves out passes for an empty cell."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.contract import InvalidInput
from confide.tables import Category, Numeric, ReadOptions, _sheets, open_table
from confide.tables.frames import columns_of
from tables.sheet_writer import number, sheet, text, write_workbook

FILES = Path(__file__).parent / "files"


def column(source, name, rows=65536):
    return [cell for batch in source.batches([name], rows) for cell in batch.column(0).to_pylist()]


def one_sheet(folder, rows, **settings_of_sheet):
    return write_workbook(folder / "t.xlsx", {"Data": sheet(rows, **settings_of_sheet)})


HEADER = [text("A1", "a"), text("B1", "b")]


@pytest.mark.parametrize("rows", [7, 65536])
def test_a_workbook_reads_as_the_text_file(rows):
    """Numbers that are stored as text are numbers, and dates are dates."""
    table = pd.read_csv(FILES / "survey_head.tsv", sep="\t", dtype=str)
    source = open_table(FILES / "survey_head.xlsx")
    assert source.row_count == 400
    for name in ("id", "sex", "region", "insured", "visits", "first_visit"):
        wanted = [None if pd.isna(cell) else cell for cell in table[name]]
        assert column(source, name, rows) == wanted, name
    ages = Numeric(column="age", lower=18, upper=91)
    (batch,) = source.for_roles([ages]).batches(["age"])
    assert (ages.encode(batch.column(0)).problems == 1).tolist() == table["age"].isna().tolist()
    dates = column(source.dated(["first_visit"]), "first_visit", rows)
    assert dates == [datetime.date.fromisoformat(day) for day in table["first_visit"]]


@pytest.mark.parametrize(("name", "boolean"), [("openpyxl_kinds.xlsx", "true"), ("libreoffice_kinds.ods", "1"),
                                               ("libreoffice_kinds.xls", "true")])
def test_every_kind_of_cell(name, boolean):
    source = open_table(FILES / name, ReadOptions(sheet="Data"))
    assert column(source, "id") == ["1", "2", "3", "4", "5", "6"]
    assert column(source, "mixed")[:3] == ["1.5", "word", "2"]
    assert column(source, "bool")[:3] == [boolean, "false" if boolean == "true" else "0", "2"]
    assert column(source, "texts") == ["007", "1e5", "12", " x ", None, "TRUE"]
    assert column(source, "when")[0] == "2020-03-15"
    assert column(source, "when")[3] == "2024-02-29T12:30:15.250000"
    assert column(source, "clock")[:3] == ["13:45:30", "00:00:00", "23:59:59"]
    assert column(source, "code") == [None, None, None, None, "3", "0.3"]
    assert [(fault.problem, fault.count, fault.examples[0][0]) for fault in source.faults] == [
        ("a number of more than 15 digits, which a sheet does not hold", 4, "row 1 (cell E2)")]
    assert column(source.numeric(["code"]), "code")[0] is not None  # a number may be long, a code may not
    assert column(source, "err") == [None, None, "5", None, "x", None]
    if name.endswith(".xls"):
        return  # whose errors the reader does not show
    (fault,) = source.faults
    assert (fault.count, fault.empty, fault.examples[0][0]) == (3, True, "row 1 (cell I2)")
    assert fault.problem == "an error of the sheet"


def test_dates_of_both_systems():
    source = open_table(FILES / "xlsxwriter_1904.xlsx")
    for name in ("d", "loc"):
        assert column(source.dated([name]), name) == [
            datetime.date(2020, 3, 15), datetime.date(1904, 1, 2), datetime.date(2024, 12, 31)]


@pytest.mark.parametrize(("name", "field", "words"), [
    ("openpyxl_layout.xlsx", "source", "rows of the sheet are hidden, by a filter; show all rows"),
    ("libreoffice_layout.ods", "source", "rows of the sheet are hidden, by a filter"),
    ("libreoffice_layout.xls", "region", "cells of the column are merged; unmerge them"),
])
def test_hidden_rows_and_merged_cells_are_refused(name, field, words):
    with pytest.raises(InvalidInput, match="row 1 of the sheet names 1 of 7 columns; set header_row"):
        open_table(FILES / name)
    with pytest.raises(InvalidInput) as caught:
        open_table(FILES / name, ReadOptions(header_row=3))
    assert caught.value.field == field
    assert words in str(caught.value)


def test_only_what_touches_the_table_is_refused(tmp_path):
    rows = [[text("A1", "A title")], [], [text("A3", "a"), text("B3", "b")], [number("A4", 1), number("B4", 2)]]
    merged = '<mergeCells count="1"><mergeCell ref="{}"/></mergeCells>'
    options = ReadOptions(header_row=3)
    for attributes, end in (({1: 'hidden="1"'}, ""), ({}, merged.format("A1:D1")), ({}, merged.format("D3:E9")),
                            ({}, merged.format("A6:B6"))):
        source = open_table(one_sheet(tmp_path, rows, attributes=attributes, end=end), options)
        assert column(source, "b") == ["2"]
    for attributes, end, field, words in (
        ({4: 'hidden="true"'}, "", "source", "rows of the sheet are hidden; "),
        ({}, merged.format("A3:B3"), "source", "cells of the header are merged"),
        ({}, merged.format("B4:B5"), "b", "cells of the column are merged"),
    ):
        with pytest.raises(InvalidInput, match=words) as caught:
            open_table(one_sheet(tmp_path, rows, attributes=attributes, end=end), options)
        assert caught.value.field == field


def test_errors_and_formulas_without_a_value(tmp_path):
    rows = [HEADER,
            ['<c r="A2" t="e"><f>1/0</f><v>#DIV/0!</v></c>', '<c r="B2"><f>1+1</f></c>'],
            ['<c t="e" r="A3"><v>#N/A</v></c>', '<c r="B3"><f t="shared" si="0"/><v></v></c>'],
            [number("A4", 5), '<c r="B4"><f>1+1</f><v>2</v></c>'],
            [text("A5", "#N/A"), '<c r="B5" t="str"><f>""</f><v></v></c>']]
    source = open_table(one_sheet(tmp_path, rows))
    assert column(source, "a") == [None, None, "5", "#N/A"]
    (fault,) = source.faults
    assert str(fault) == ("a: 2 cells hold an error of the sheet, such as '#DIV/0!' in row 1 (cell A2); correct its "
                          "formula, or clear the cell")
    assert column(source, "b") == [None, None, "2", None]
    (fault,) = source.faults
    assert (fault.problem, fault.count) == ("a formula without a value", 2)
    assert "row" not in str(fault.error())


def test_long_numbers(tmp_path):
    """A code of 16 digits is not in a workbook, whatever its cell shows."""
    cells = ["1234567890123456", "9007199254740993", "123456789012345", "-1234567890123456789", "0.1234567890123456",
             "1E+20"]
    rows = [HEADER, *([number(f"A{at}", cell)] for at, cell in enumerate(cells, 2))]
    source = open_table(one_sheet(tmp_path, rows))
    assert column(source, "a") == [None, None, "123456789012345", None, "0.1234567890123456", None]
    assert source.faults[0].count == 4
    assert column(source.numeric(["a"]), "a")[0] == "1234567890123456"


def test_headers(tmp_path):
    rows = [[text("A1", " a "), number("B1", 2024), text("D1", "a"), text("E1", "e")],
            [number("A2", 1), number("B2", 2), number("C2", 3), number("D2", 4), number("E2", 5)]]
    source = open_table(one_sheet(tmp_path, rows))
    assert source.column_names == ("a", "2024", "a", "e")
    assert column(source, "2024") == ["2"]
    assert column(source, "e") == ["5"]  # the column without a name is left out
    with pytest.raises(InvalidInput, match=r"2 columns of t.xlsx have this name; give each column"):
        source.batches(["a"])
    with pytest.raises(InvalidInput, match="row 9 of the sheet names 0 of 5 columns"):
        open_table(tmp_path / "t.xlsx", ReadOptions(header_row=9))
    away = [[], [], [text("C3", "a"), text("D3", "b")], [number("C4", 1), number("D4", 2)], [], [number("C6", 5)]]
    source = open_table(one_sheet(tmp_path, away), ReadOptions(header_row=3))
    assert column(source, "a") == ["1", None, "5"]
    assert column(source, "b", 2) == ["2", None, None]


def test_the_sheet_is_named_unless_it_is_the_only_visible_one(tmp_path):
    sheets = {"People": sheet([HEADER, [number("A2", 1)]]), "Notes": sheet([[text("A1", "x")]])}
    path = write_workbook(tmp_path / "t.xlsx", sheets)
    with pytest.raises(InvalidInput, match=r"is not given, and t.xlsx has 2 visible sheets; name one of People, Notes"):
        open_table(path)
    with pytest.raises(InvalidInput, match="has no sheet 'Peopel'; did you mean 'People'"):
        open_table(path, ReadOptions(sheet="Peopel"))
    assert column(open_table(path, ReadOptions(sheet="People")), "a") == ["1"]
    path = write_workbook(tmp_path / "t.xlsx", sheets, states={"Notes": "hidden"})
    assert column(open_table(path), "a") == ["1"]
    assert open_table(path, ReadOptions(sheet="Notes")).column_names == ("x",)


def test_styles_are_those_of_text_cells_alone(tmp_path):
    rows = [HEADER, [text("A2", "1.234,50"), number("B2", 45434, 1)], [number("A3", 1234.5), text("B3", "22.5.2024")],
            [text("A4", "1234.50"), text("B4", "31.2.2024")], [text("A5", "NA"), text("B5", "NA")],
            [text("A6", "x"), text("B6", "2024-05-22")], [text("A7", ""), number("B7", 7)]]
    options = ReadOptions(decimal=",", thousands=".", dates="day.month.year", missing=("NA",))
    source = open_table(one_sheet(tmp_path, rows), options)
    assert column(source, "a") == ["1.234,50", "1234.5", "1234.50", None, "x", None]
    assert column(source.numeric(["a"]), "a") == ["1234.50", "1234.5", None, None, "x", None]
    day = datetime.date(2024, 5, 22)
    dated = source.dated(["b"])
    assert column(dated, "b") == [day, day, None, None, None, None]
    assert {(fault.problem, fault.count) for fault in dated.faults} == {
        ("a date that does not exist", 1), ("no date in the order day.month.year", 2)}
    kept = open_table(tmp_path / "t.xlsx", options, keep={"b": ("7", "NA")}).dated(["b"])
    assert column(kept, "b") == ["2024-05-22", "2024-05-22", None, "NA", None, "7"]


def test_text_spells_numbers_in_a_sheet(tmp_path):
    path = one_sheet(tmp_path, [HEADER, [number("A2", 1), text("B2", "2")], [text("A3", "0.5"), number("B3", 4)]])
    assert columns_of(path).tolist() == [[1, 2], [0.5, 4]]


VALUES = st.one_of(st.integers(-10**6, 10**6), st.floats(-1e6, 1e6), st.booleans(), st.text("a1.,-:", max_size=6))


@settings(max_examples=25, deadline=None)
@given(values=st.lists(VALUES, min_size=2, max_size=6), data=st.data())
def test_a_cell_reads_the_same_in_any_company(values, data, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp()

    def written(cells):
        def cell(place, value):
            if isinstance(value, bool):
                return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
            return text(place, value) if isinstance(value, str) else number(place, repr(value))

        rows = [[cell(f"A{at}", value), number(f"B{at}", at)] for at, value in enumerate(cells, 2)]
        source = open_table(one_sheet(folder, [HEADER, *rows]), ReadOptions(decimal=",", dates="day.month.year"))
        return [column(form, "a") for form in (source, source.numeric(["a"]), source.dated(["a"]))]

    at, other = data.draw(st.integers(0, len(values) - 1)), data.draw(VALUES)
    for before, after in zip(written(values), written([*values[:at], other, *values[at + 1:]]), strict=True):
        before.pop(at)
        after.pop(at)
        assert before == after


@pytest.mark.parametrize("block", [64, 1 << 22])
def test_the_xml_is_read_in_blocks_of_any_size(block, tmp_path, monkeypatch):
    monkeypatch.setattr(_sheets, "_BLOCK", block)
    test_errors_and_formulas_without_a_value(tmp_path)
    test_long_numbers(tmp_path)
    for name in ("openpyxl_layout.xlsx", "libreoffice_layout.ods"):
        with pytest.raises(InvalidInput, match="hidden"):
            open_table(FILES / name, ReadOptions(header_row=3))


def test_a_workbook_by_another_program(tmp_path):
    """With prefixes of the names in its XML, and single quotes."""
    path = write_workbook(tmp_path / "t.xlsx", {"A &amp; B": sheet([HEADER, [number("A2", 1), text("B2", "x")]])})
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = "xl/worksheets/sheet1.xml"
    parts[name] = (b'<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><x:sheetData>'
                   b"<x:row r='1'><x:c r='A1' t='str'><x:v>a</x:v></x:c><x:c r='B1' t='str'><x:v>b</x:v></x:c></x:row>"
                   b"<x:row r='2'><x:c r='A2' t='e'><x:v>#REF!</x:v></x:c><x:c r='B2'><x:f>1</x:f></x:c></x:row>"
                   b"</x:sheetData></x:worksheet>")
    with zipfile.ZipFile(path, "w") as archive:
        for each, data in parts.items():
            archive.writestr(each, data)
    source = open_table(path)
    assert column(source, "a") == column(source, "b") == [None]
    assert {fault.problem for fault in (*source.faults, *_faults(source, "a"))} == {
        "a formula without a value", "an error of the sheet"}


def _faults(source, name):
    column(source, name)
    return source.faults


def test_levels_of_a_sheet_have_labels_of_a_codebook(tmp_path):
    (tmp_path / "book.csv").write_text(
        "field_name,field_type,select_choices_or_calculations\na,radio,\"1, Yes | 2, No, thanks\"\n", encoding="utf-8")
    path = one_sheet(tmp_path, [HEADER, [number("A2", 1)], [text("A3", "2")], [number("A4", 3)]])
    source = open_table(path, ReadOptions(codebook="book.csv"), folder=tmp_path)
    role = Category(column="a", levels=("Yes", "No, thanks"))
    (batch,) = source.for_roles([role]).batches(["a"])
    assert batch.column(0).to_pylist() == ["Yes", "No, thanks", "3"]
