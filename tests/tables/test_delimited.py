"""Text files of any dialect and encoding: one record changes no other, and declared styles become plain numbers."""

from __future__ import annotations

import csv
import datetime
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.contract import InvalidInput
from confide.tables import Category, Numeric, ReadOptions, Roster, open_table
from confide.tables.cell_problems import CellProblems, judged
from confide.tables.column_rows import read_rows

EUROPEAN = ReadOptions(separator=";", decimal=",", thousands=".", dates="day.month.year", missing=("NA", "k.A."))
TEXT = ("id;income;region;born\r\n1;1.234,50;1,5;31.12.2024\r\n2;NA;k.A.;1.2.1999\r\n3;-0,5;1.000;30.02.2024\r\n"
        "4;1234.50;x;2024-01-01\r\n5;12;NA;\r\n")


def column(source, name):
    return [cell for batch in source.batches([name]) for cell in batch.column(0).to_pylist()]


def write(folder, data, name="t.csv"):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def test_a_european_file(tmp_path):
    source = open_table(write(tmp_path, TEXT), EUROPEAN)
    assert column(source, "income") == ["1.234,50", None, "-0,5", "1234.50", "12"]  # as it stands, without a role
    numbers = source.numeric(["income"])
    assert column(numbers, "income") == ["1234.50", None, "-0.5", None, "12"]
    (fault,) = numbers.faults
    assert str(fault) == ("income: 1 cell holds a number in another style, such as '1234.50' in row 4; write it with "
                          'decimal = "," and thousands = ".", or declare the style of the file')
    assert "1234" not in str(fault.error())
    assert "row" not in str(fault.error())
    dates = source.dated(["born"])
    assert column(dates, "born") == [datetime.date(2024, 12, 31), datetime.date(1999, 2, 1), None, None, None]
    assert {(fault.problem, fault.count) for fault in dates.faults} == {
        ("a date that does not exist", 1), ("no date in the order day.month.year", 1)}
    assert column(source, "region") == ["1,5", None, "1.000", "x", None]  # a level keeps its signs


def test_roles_get_the_form_that_they_read(tmp_path):
    source = open_table(write(tmp_path, TEXT), EUROPEAN)
    roles = (Numeric(column="income", lower=-1, upper=2000), Category(column="region", levels=("1,5", "1.000", "x")))
    rejected = {}
    read = list(read_rows(source, roles=roles, roster=Roster(5), rejected=rejected))
    cells = np.concatenate([batch.cells for batch in read])
    assert cells[:, 1].tolist() == [0, 1]
    assert set(rejected) == {"2", "4", "5"}
    problems = CellProblems(judged(roles), examples=True)
    for _ in problems.of(source.for_roles(roles)).batches([role.column for role in roles]):
        pass
    assert problems.reported()["income"] == (
        'income: 1 cell holds a number in another style, such as \'1234.50\' in row 4; write it with decimal = "," and '
        'thousands = ".", or declare the style of the file', "income: 1 cell is empty")


@pytest.mark.parametrize(("decimal", "thousands", "text", "number"), [
    (".", ",", "1,234,567.5", "1234567.5"), (".", ",", "12,34", "12,34"), (".", ",", "1,234", "1234"),
    (".", "'", "1'234.5", "1234.5"), (".", "'", "1\u2019234", "1234"), (",", " ", "1 234,5", "1234.5"),
    (",", " ", "1\u00a0234,5", "1234.5"), (",", " ", "1\u202f234\u202f567", "1234567"), (",", "", "1,5", "1.5"),
    (",", "", "1.5", None), (",", ".", "1.234", "1234"), (",", ".", "1.23", None), (",", "", ",5", ".5"),
    (",", "", "+1,5e-3", "+1.5e-3"), (",", "", "true", "true"), (",", "", "$1,5", "$1,5"), (",", "", "inf", "inf"),
    (",", ".", "31.12.2024", "31.12.2024"), (",", "", " 1,5 ", "1.5"), (",", "", "1 ", "1"),
])
def test_numbers_in_a_declared_style(decimal, thousands, text, number, tmp_path):
    options = ReadOptions(separator=";", decimal=decimal, thousands=thousands)
    path = write(tmp_path, f"a;b\n{text};x\n7;y\n")
    assert column(open_table(path, options).numeric(["a"]), "a") == [number, "7"]


@pytest.mark.parametrize(("order", "text", "date"), [
    ("day.month.year", "1.2.2024", (2024, 2, 1)), ("day.month.year", "01.02.2024 13:45", (2024, 2, 1)),
    ("month/day/year", "2/29/2024", (2024, 2, 29)), ("month/day/year", "2/29/2023", None),
    ("year-month-day", "2024-05-22T01:02:03.5Z", (2024, 5, 22)), ("yearmonthday", "20240522", (2024, 5, 22)),
    ("yearmonthday", "2024522", None), ("day.month.year", "1.2.24", None), ("day month year", "1 2 2024", (2024, 2, 1)),
    ("year-month-day", "0000-01-01", None), ("year-month-day", "2024-13-01", None), ("year-month-day", "x", None),
    ("year/month/day", "9999/12/31", (9999, 12, 31)), ("day-month-year", "31-04-2024", None),
])
def test_dates_in_a_declared_order(order, text, date, tmp_path):
    source = open_table(write(tmp_path, f"a;b\n{text};x\n;y\n"), ReadOptions(separator=";", dates=order)).dated(["a"])
    assert column(source, "a") == [date and datetime.date(*date), None]
    assert len(source.faults) == (date is None)


@settings(max_examples=60, deadline=None)
@given(cells=st.lists(st.dates().map(lambda day: f"{day.day}.{day.month}.{day.year:04}") |
                      st.text("0123456789.-/ x", max_size=11), min_size=1, max_size=8), data=st.data())
def test_a_date_reads_the_same_alone_and_in_company(cells, data):
    options = ReadOptions(dates="day.month.year", decimal=",", thousands=".")
    table = open_table({"a": cells, "b": cells}, options).dated(["a"]).numeric(["b"])
    together = [(a, b) for batch in table.batches(["a", "b"])
                for a, b in zip(*(each.to_pylist() for each in batch.columns), strict=True)]
    at = data.draw(st.integers(0, len(cells) - 1))
    alone = open_table({"a": [cells[at]], "b": [cells[at]]}, options).dated(["a"]).numeric(["b"])
    (batch,) = alone.batches(["a", "b"])
    assert together[at] == (batch.column(0)[0].as_py(), batch.column(1)[0].as_py())
    for cell, (found, _) in zip(cells, together, strict=True):
        try:
            wanted = datetime.datetime.strptime(cell.strip(), "%d.%m.%Y").date() if len(
                cell.strip().rpartition(".")[2]) == 4 and not set(cell.strip()) - set("0123456789.") else None
        except ValueError:
            wanted = None
        assert found == wanted


# ---- encodings

LETTERS = {"utf-8": "é€ж", "utf-16": "é€ж𝄞", "utf-16-le": "é€ж", "utf-32": "é𝄞", "cp1252": "é€", "latin-1": "é",
           "cp1251": "ж", "mac_roman": "é", "cp850": "é", "shift_jis": "表ソ能", "gb18030": "é𝄞表", "euc_kr": "한",
           "cp1258": "â", "big5": "功"}


@pytest.mark.parametrize("encoding", LETTERS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_every_encoding_is_read_record_by_record(encoding, data, tmp_path_factory):
    cells = st.text(LETTERS[encoding] + 'a",;\n|\\', max_size=6)
    table = data.draw(st.lists(st.tuples(cells, cells), min_size=1, max_size=6))
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerows([("name é" if encoding != "cp1251" and (
        "é" in LETTERS[encoding]) else "name", "b"), *table])
    path = write(tmp_path_factory.getbasetemp(), out.getvalue().encode(encoding))
    source = open_table(path, ReadOptions(encoding=encoding))
    assert source.column_names[0].startswith("name")
    rows = [tuple(row.values()) for batch in source.batches(source.column_names) for row in batch.to_pylist()]
    assert rows == [tuple(cell or None for cell in row) for row in table]
    # Two passes at the same time do not disturb each other.
    both = list(zip(source.batches(["b"], 1), source.batches(["b"], 1), strict=True))
    assert all(a.equals(b) for a, b in both)
    assert len(both) == len(table)


@pytest.mark.parametrize("encoding", ["utf-8", "shift_jis", "gb18030", "cp1252", "euc_jp"])
@settings(max_examples=30, deadline=None)
@given(garbage=st.binary(max_size=9).filter(lambda raw: not set(raw) & set(b'\n\r",')))
def test_broken_bytes_of_one_record_reach_no_other(encoding, garbage, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "garbage.csv"
    other = "3,é\n".encode(encoding if encoding != "shift_jis" else "ascii", "ignore")
    path.write_bytes(b"a,b\n1,x\n2," + garbage + b"\n" + other + b"4,y\n")
    source = open_table(path, ReadOptions(encoding=encoding))
    assert column(source, "a") == ["1", "2", "3", "4"]
    found = column(source, "b")
    assert (found[0], found[3]) == ("x", "y")


def test_bytes_that_are_no_text_are_listed(tmp_path):
    source = open_table(write(tmp_path, "a,b\n1,Köln\n2,Bonn\n".encode("cp1252")))
    assert column(source, "b") == ["K\ufffdln", "Bonn"]
    assert source.faults[0].examples == (("row 1", "K\ufffdln"),)
    assert not source.faults[0].empty


@pytest.mark.parametrize(("data", "settings_of_file", "field", "words"), [
    ("a,b\n", {"encoding": "nonsense"}, "encoding", "unknown encoding"),
    ("a,b\n", {"encoding": "utf-7"}, "encoding", "no meaning of their own"),
    ("a,b\n", {"encoding": "base64"}, "encoding", "unknown encoding"),
    ("a,b\n", {"encoding": "cp037"}, "encoding", "other line ends"),
    ("a,b\n", {"separator": "ab"}, "separator", "one ASCII character"),
    ("a,b\n", {"separator": "1"}, "separator", "one ASCII character"),
    ("a,b\n", {"separator": "§"}, "separator", "one ASCII character"),
    ("a,b\n", {"quote": ",", "separator": ","}, "quote", "also the separator"),
    ("a,b\n", {"decimal": ",", "thousands": ","}, "thousands", "also the decimal mark"),
    ("a,b\n", {"decimal": ";"}, "decimal", 'must be "." or ","'),
    ("a,b\n", {"thousands": "x"}, "thousands", "no sign between thousands"),
    ("a,b\n", {"dates": "day.month"}, "dates", "no order of dates"),
    ("a,b\n", {"dates": "day.day.year"}, "dates", "no order of dates"),
    ("a,b\n", {"dates": 3}, "dates", "no order of dates"),
    ("a,b\n", {"missing": "NA"}, "missing", "no list of texts"),
    ("a,b\n", {"missing": ("",)}, "missing", "no list of texts"),
    ("a,b\n", {"header_row": 0}, "header_row", "at least 1"),
    ("a,b\n", {"header_row": 3}, "header_row", "has 1 line"),
    ("a,b\n", {"labels": 1}, "labels", "not true or false"),
    ("a,b\n", {"sheet": 1}, "sheet", "not a text"),
    ("a,b\n", {"sheet": "x"}, "sheet", "has no meaning for a text file"),
    ("a,b\n", {"table": "x"}, "table", "has no meaning for a text file"),
    ("sep=;\na;b\n1;2\n", {}, "separator", "set separator = ';'"),
    ("a|b\n", {}, "source", 'has vertical bars and no comma; set separator = "|"'),
    ("a,b\n", {"separator": ";"}, "source", 'has commas and no semicolon; set separator = ","'),
    ("a,b\n1,2\n".encode("utf-16"), {}, "source", 'set encoding = "utf-16"'),
    ("a,b\n1,2\n".encode("utf-16-le"), {}, "source", 'set encoding = "utf-16-le"'),
    ("gr\u00f6\u00dfe,b\n".encode("cp1252"), {}, "source", '"cp1252"'),
    (b"a,b\r1,2\r", {}, "source", "carriage return"),
    (b"$FL2@(#)", {}, "source", "is an SPSS file, not a CSV file; give it the suffix .sav"),
    (b"PAR1", {}, "source", "is a Parquet file"),
])
def test_what_a_text_file_cannot_be(data, settings_of_file, field, words, tmp_path):
    path = write(tmp_path, data)
    with pytest.raises(InvalidInput) as caught:
        open_table(path, ReadOptions(**settings_of_file))
    assert caught.value.field == field
    assert words in str(caught.value)


def test_the_remedy_of_a_wrong_separator_does(tmp_path):
    path = write(tmp_path, "sep=;\r\na;b\r\n1;2\r\n")
    assert column(open_table(path, ReadOptions(separator=";")), "b") == ["2"]
    path = write(tmp_path, "a,b\n1,2\n".encode("utf-16"))
    assert column(open_table(path, ReadOptions(encoding="utf-16")), "b") == ["2"]


def test_a_header_below_the_first_line(tmp_path):
    path = write(tmp_path, "\ufeffA survey, 2024\n\na,b\n1,2\n")
    source = open_table(path, ReadOptions(header_row=3))
    assert source.column_names == ("a", "b")
    assert column(source, "a") == ["1"]


@pytest.mark.parametrize("suffix", [".tsv", ".txt", ".tab"])
def test_tabs_are_the_separator_of_other_suffixes(suffix, tmp_path):
    path = write(tmp_path, "a\tb\n1,5\t2\n", f"t{suffix}")
    assert column(open_table(path), "a") == ["1,5"]
    with pytest.raises(InvalidInput, match="has commas and no tab"):
        open_table(write(tmp_path, "a,b\n", f"t{suffix}"))


def test_missing_words_and_kept_codes(tmp_path):
    path = write(tmp_path, "a,b\nNA,x\n NA ,-9\nna,NAP\n")
    options = ReadOptions(missing=("NA", "-9"))
    assert column(open_table(path, options), "a") == [None, None, "na"]
    kept = open_table(path, options, keep={"b": ("-9",)})
    assert column(kept, "b") == ["x", "-9", "NAP"]
    assert column(kept.numeric(["b"]).labelled(["b"]), "b") == ["x", "-9", "NAP"]
    for wrong in ("-9", (9,)):
        with pytest.raises(InvalidInput, match="no list of codes"):
            open_table(path, keep={"b": wrong})
    with pytest.raises(InvalidInput, match="did you mean 'b'"):
        open_table(path, keep={"B": ("1",)})
    with pytest.raises(InvalidInput, match="opened already"):
        open_table(kept, options)
    assert open_table(kept) is kept


def test_kept_codes_among_dates(tmp_path):
    path = write(tmp_path, "d,b\n2024-05-22,1\n-8,2\nx,3\n")
    source = open_table(path, keep={"d": ("-8",)}).dated(["d"])
    assert column(source, "d") == ["2024-05-22", "-8", None]


def test_watched_and_shown_sources_have_the_same_forms(tmp_path):
    source, seen = open_table(write(tmp_path, TEXT), EUROPEAN), []
    watched = source.shown_to(seen.append).watched(lambda *_: None).numeric(["income"]).dated(["born"])
    assert column(watched, "income")[0] == "1234.50"
    assert [fault.column for fault in watched.faults] == ["income"]
    assert watched.options == EUROPEAN
    assert seen[0] is None
    assert watched.untyped
    # The forms were chosen before: a role changes nothing.
    assert column(watched.for_roles([Numeric(column="income", lower=0, upper=1)]), "income")[0] == "1234.50"
