"""Files that are something else, or damaged: a clear error that quotes nothing of the file, and never a crash."""

from __future__ import annotations

import gzip
import random
import zipfile
from pathlib import Path

import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.contract import InvalidInput
from confide.tables import ReadOptions, open_table
from confide.tables import _stat_readers as stat_readers
from confide.tables._file_headers import dta_release, sav_header
from confide.tables.sources import SUFFIXES
from tables.sheet_writer import number, sheet, text, write_workbook
from tables.statistical_writers import Field, Variable, write_sav, write_xpt

FILES = Path(__file__).parent / "files"

STARTS = {
    "a zip archive": b"PK\x03\x04secret", "an old Excel workbook": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1secret",
    "compressed with gzip": gzip.compress(b"secret"), "a Parquet file": b"PAR1secret",
    "an Arrow file": b"ARROW1\0\0secret",
    "an SPSS file": b"$FL2@(#) secret", "a compressed SPSS file": b"$FL3@(#) secret",
    "a password": b"\x1c" + bytes(7) + b"ENCRYPTEDSAVsecret", "a Stata file": b"<stata_dta><header>secret",
    "PROC CPORT": b"**COMPRESSED** **COMPRESSED** secret",
    "a SAS transport file": b"HEADER RECORD*******LIBRARY HEADER secret",
    "a page of HTML or XML": b"\n<html><body>secret", "damaged or empty": b"secret" * 9, "empty": b"",
}
OWN = {"a zip archive": {".xlsx", ".xlsm", ".xlsb", ".ods"}, "an old Excel workbook": {".xls"},
       "a Parquet file": {".parquet"}, "an Arrow file": {".arrow", ".feather"}, "an SPSS file": {".sav", ".zsav"},
       "a compressed SPSS file": {".sav", ".zsav"}, "a Stata file": {".dta"}, "a SAS transport file": {".xpt"}}
TEXTS = {".csv", ".tsv", ".txt", ".tab"}
UNMARKED = {"a page of HTML or XML", "damaged or empty", "empty"}


@pytest.mark.parametrize("what", STARTS)
def test_every_suffix_names_the_format_of_a_file_that_is_something_else(what, tmp_path):
    for suffix in SUFFIXES:
        path = tmp_path / f"t{suffix}"
        path.write_bytes(STARTS[what])
        if what in UNMARKED and suffix in TEXTS and what != "empty":
            continue  # a text
        with pytest.raises(InvalidInput) as caught:
            open_table(path)
        message = str(caught.value)
        assert caught.value.field in ("source", "header_row"), message
        assert "secret" not in message
        if suffix not in OWN.get(what, ()) and what not in UNMARKED:
            assert what in message, message
            assert caught.value.limit, message
        if what == "a page of HTML or XML" and suffix in (".xls", ".sav", ".dta", ".xlsx", ".xpt", ".sas7bdat"):
            assert what in message, message


def test_formats_of_stata_that_are_too_new(tmp_path):
    path = tmp_path / "t.dta"
    path.write_bytes(b"<stata_dta><header><release>120</release>" + bytes(99))
    with pytest.raises(InvalidInput, match="a Stata file of format 120, which is not supported; save it again"):
        open_table(path)
    starts = (b"", b"\x73\x01", b"<stata_dta><header><release>119</release>")
    assert [dta_release(start) for start in starts] == [0, 115, 119]


def test_a_workbook_with_a_password(tmp_path):
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    with pytest.raises(InvalidInput, match="a workbook with a password"):
        open_table(path)


# ---- damage


def originals(folder):
    """One file of each format, with a text that no message may quote."""
    table = pyarrow.table({"a": [1, 2, 3], "b": ["secret", "x", "y"]})
    pyarrow.parquet.write_table(table, folder / "t.parquet")
    pyarrow.feather.write_feather(table, folder / "t.arrow", compression="uncompressed")
    rows = [(1.0, "secret"), (2.0, "x"), (3.0, "y")]
    write_sav(folder / "t.sav", [Variable("A", label="secret", missing=[3.0]), Variable("B", 12, "A")], rows,
              labels=(({1.0: "secret", 2.0: "two"}, [1]),), encoding="UTF-8", charcode=65001)
    write_xpt(folder / "t.xpt", [Field("A"), Field("B", 8, text=True)], rows)
    cells = [[text("A1", "a"), text("B1", "b")], *([number(f"A{at}", at), text(f"B{at}", "secret")] for at in (2, 3))]
    write_workbook(folder / "t.xlsx", {"Data": sheet(cells)})
    for name in ("haven13.dta", "haven14.dta", "pspp_missing.zsav", "pspp_missing.por", "haven.sas7bdat",
                 "libreoffice_layout.ods", "libreoffice_layout.xls"):
        (folder / name).write_bytes((FILES / name).read_bytes())
    return sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES)


def read(path):
    """Every cell of every column; the errors of a damaged file are of one kind, and tell nothing of the file."""
    errors = []
    try:
        source = open_table(path, ReadOptions(labels=False))
    except InvalidInput as error:
        errors.append(str(error))
    else:
        for name in dict.fromkeys(source.column_names):
            try:
                for batch in source.labelled([name]).batches([name], 2):
                    # The bytes of texts in Arrow's own formats are compared as they are.
                    if path.suffix not in (".arrow", ".parquet"):
                        batch.validate(full=True)
            except InvalidInput as error:
                errors.append(error.problem.replace(name, ""))
            assert all(map(str, source.faults))
    assert not [error for error in errors if "secret" in error]


FORMATS = ["t.parquet", "t.arrow", "t.sav", "t.xpt", "t.xlsx", "haven13.dta", "haven14.dta", "pspp_missing.zsav",
           "pspp_missing.por", "haven.sas7bdat", "libreoffice_layout.ods", "libreoffice_layout.xls"]


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32), kind=st.sampled_from(["cut", "flip", "zero", "swap", "grow"]))
def test_damaged_files_are_refused_or_read(name, seed, kind, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp() / "originals"
    if not folder.exists():
        folder.mkdir()
        originals(folder)
    data, choice = bytearray((folder / name).read_bytes()), random.Random(seed)
    at = choice.randrange(len(data))
    if kind == "cut":
        del data[at:]
    elif kind == "flip":
        for _ in range(choice.randint(1, 8)):
            data[choice.randrange(min(len(data), 2000))] ^= 1 << choice.randrange(8)
    elif kind == "zero":
        data[at : at + 16] = bytes(16)
    elif kind == "swap":
        other = choice.randrange(len(data))
        data[at : at + 8], data[other : other + 8] = data[other : other + 8], data[at : at + 8]
    else:
        data[at:at] = bytes(choice.randrange(256) for _ in range(choice.randint(1, 40)))
    path = tmp_path_factory.getbasetemp() / f"damaged{Path(name).suffix}"
    path.write_bytes(data)
    read(path)
    if path.suffix in (".sav", ".dta"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stat_readers, "streaming", lambda: None)
            read(path)
        if path.suffix == ".sav" and len(data) > 4:
            assert len(sav_header(path)) == 2


@pytest.mark.parametrize("name", ["survey_head.sav", "survey_head.dta", "haven.sas7bdat"])
def test_a_file_that_breaks_off_is_not_a_shorter_table(name, tmp_path):
    data = (FILES / name).read_bytes()
    path = tmp_path / name
    path.write_bytes(data[: len(data) * 2 // 3])

    def whole():
        source = open_table(path)
        return list(source.batches(source.column_names[:2]))

    with pytest.raises(InvalidInput, match=r"cannot be read|breaks off"):
        whole()


def test_a_workbook_without_its_parts(tmp_path):
    path = tmp_path / "t.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("secret.txt", "secret")
    with pytest.raises(InvalidInput, match="cannot be read"):
        open_table(path)


@pytest.mark.parametrize(("suffix", "settings_of_file", "words"), [
    (".sav", {"separator": ";"}, "separator: has no meaning for a statistical file"),
    (".xlsx", {"encoding": "cp1252"}, "encoding: has no meaning for a sheet"),
    (".parquet", {"sheet": "x"}, "sheet: has no meaning for a Parquet or Arrow file"),
    (".dta", {"table": "x"}, "table: has no meaning"),
])
def test_settings_without_a_meaning_are_refused(suffix, settings_of_file, words, tmp_path):
    (tmp_path / f"t{suffix}").write_bytes(b"")
    with pytest.raises(InvalidInput, match=words):
        open_table(tmp_path / f"t{suffix}", ReadOptions(**settings_of_file))
    with pytest.raises(InvalidInput, match="has no meaning for a table in memory or a query"):
        open_table({"a": [1]}, ReadOptions(separator=";"))
    with pytest.raises(InvalidInput, match="has no meaning for a packaged data set"):
        open_table("statsmodels:randhie", ReadOptions(separator=";"))
