"""SPSS, Stata and SAS files from independent writers: known cells, missing codes, dates, labels and encodings."""

from __future__ import annotations

import datetime
import gzip
import math
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import readstat_arrow
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.contract import InvalidInput
from confide.tables import Category, ColumnFacts, Numeric, ReadOptions, open_table
from confide.tables import _stat_readers as stat_readers
from confide.tables._cells import numbers
from confide.tables._date_formats import converted, meaning
from tables.statistical_writers import Field, Variable, write_sav, write_xpt

FILES = Path(__file__).parent / "files"
D, T = datetime.date, datetime.datetime


def cells(source, *names, rows=65536):
    """The cells of one column, or the rows of several."""
    found = [row for batch in source.batches(names, rows)
             for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)]
    return [cell for (cell,) in found] if len(names) == 1 else found


def unpacked(name, folder):
    path = folder / name
    path.write_bytes(gzip.decompress((FILES / f"{name}.gz").read_bytes()))
    return path


BOTH = ["readstat-arrow", "pyreadstat"]


@pytest.fixture(params=BOTH)
def package(request, monkeypatch):
    """Either of the packages that read SPSS and Stata files."""
    if request.param == "pyreadstat":
        monkeypatch.setattr(stat_readers, "streaming", lambda: None)
        monkeypatch.setattr(stat_readers, "_CELLS", 12)
    return request.param


# ---- the custodian's file


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_labels_are_levels_and_missing_codes_are_missing(suffix, package):
    table = pd.read_csv(FILES / "survey_head.tsv", sep="\t")
    source = open_table(FILES / f"survey_head{suffix}")
    roles = (Category(column="sex", levels=("Female", "Male")), Numeric(column="age", lower=18, upper=91),
             Category(column="region", levels=("North", "South", "East", "West")))
    read = cells(source.for_roles(roles), "sex", "age", "region")
    wanted = [tuple(None if pd.isna(cell) else cell for cell in row)
              for row in table[["sex", "age", "region"]].itertuples(index=False)]
    assert [(sex, age, region) for sex, age, region in read] == [
        (sex and sex.capitalize(), age, region) for sex, age, region in wanted]
    assert source.row_count == 400
    if suffix == ".sav":
        assert source.facts["sex"] == ColumnFacts(
            label="Sex of respondent", labels={"1": "Female", "2": "Male", "9": "Refused"}, missing_codes=("9",),
            kind="number", format="F8.2")
        assert source.facts["sex"].levels == ("Female", "Male")
    else:
        dates = [datetime.date.fromisoformat(day) for day in table["first_visit"]]
        assert cells(source.dated(["first_visit"]), "first_visit") == dates


def test_codes_that_a_role_names_arrive(package):
    path = FILES / "survey_head.sav"
    plain, kept = (open_table(path, keep=keep) for keep in (None, {"age": ("999",), "sex": ("9", "1")}))
    ages = [(a, b) for a, b in zip(cells(plain, "age"), cells(kept, "age"), strict=True) if a != b]
    assert ages
    assert set(ages) == {(None, 999.0)}
    labels = set(cells(kept.labelled(["sex"]), "sex"))
    assert labels == {"9", "1", "Male"}
    assert set(cells(plain.labelled(["sex"]), "sex")) == {"Female", "Male", None}


def test_a_level_is_no_missing_answer():
    levels = Category(column="sex", levels=("Female", "Male", "Refused"))
    source = open_table(FILES / "survey_head.sav")
    with pytest.raises(InvalidInput, match="sex: its level 'Refused' is the label of 9, a code that means a missing"):
        source.for_roles([levels])
    assert open_table(FILES / "survey_head.sav", ReadOptions(labels=False)).for_roles([levels])


def test_labels_may_be_left_out():
    options = ReadOptions(labels=False)
    source = open_table(FILES / "survey_head.sav", options).labelled(["sex"])
    assert set(cells(source, "sex")) == {1.0, 2.0, None}
    codes = Category(column="sex", levels=("1", "2"))
    assert codes.encode(next(source.for_roles([codes]).batches(["sex"])).column(0)).problems.max() == 1
    with pytest.raises(InvalidInput, match=r"sex: its levels are codes.*\(Female, Male\), or set labels = false"):
        open_table(FILES / "survey_head.sav").for_roles([codes])


# ---- SPSS by GNU PSPP

MISSING = {
    "id": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "q1": [1.0, 2.0, None, None, None, None],
    "q2": [1.0, None, None, None, 99.5, 100.0], "q3": [None, None, 0.0, 5.0, 50.0, None],
    "q4": [1e10, 0.0, 0.0, 1e-300, 123456789.125, 2.0**53], "s1": ["a", None, "", None, "a", "b"],
    "s2": [None, "no", "yes", "don't know", " yes", ""],
}


@pytest.mark.parametrize("name", ["pspp_missing.sav", "pspp_missing.zsav"])
@pytest.mark.parametrize("rows", [1, 4, 100])
def test_user_missing_values_and_ranges(name, rows, package):
    source = open_table(FILES / name)
    assert {column: cells(source, column, rows=rows) for column in source.column_names} == MISSING
    facts = source.facts
    assert facts["q1"].label == "Satisfied?"
    assert facts["q1"].missing_codes == ("7", "8", "9")
    assert (facts["q2"].missing_ranges, facts["q2"].missing_codes) == (((97.0, 99.0),), ("5",))
    assert facts["q3"].missing_ranges == ((-math.inf, -1.0),)
    assert facts["q3"].levels == ("half",)
    assert facts["s1"].missing_codes == ("XX", "zz")
    assert facts["q1"].levels == ("yes", "no", "never used")
    kept = open_table(FILES / name, keep={"q1": ["9"], "q2": ["98", "5"], "q3": ["-99"], "s1": ["XX"]})
    assert cells(kept, "q1") == [1.0, 2.0, 9.0, None, None, None]
    assert cells(kept, "q2") == [1.0, 5.0, None, 98.0, 99.5, 100.0]
    assert cells(kept, "q3") == [-99.0, None, 0.0, 5.0, 50.0, None]
    assert cells(kept, "s1") == ["a", None, "", "XX", "a", "b"]
    assert cells(kept.labelled(["q1", "q2", "s1"]), "q1", "q2", "s1") == [
        ("yes", "one", "Alpha"), ("no", "5", None), ("9", None, ""), (None, "98", "XX"), (None, "99.5", "Alpha"),
        (None, "100", "b")]


def test_portable_files():
    source = open_table(FILES / "pspp_missing.por")
    found = {name.lower(): cells(source, name) for name in source.column_names}
    assert {**found, "q4": None} == {**MISSING, "q4": None}
    assert found["q4"][4] == 123456789.125
    with pytest.raises(InvalidInput, match=r"save the file as .sav"):
        open_table(FILES / "pspp_missing.por", keep={"Q1": ("9",)})


DAYS = [D(2020, 3, 15), D(1904, 2, 29), D(9999, 12, 31), D(1800, 1, 1), D(1960, 3, 28), D(2100, 6, 30)]
TIMES = [T(2020, 3, 15, 13, 45, 30, 250000), T(1904, 2, 29, 0, 0, 0, 250000), T(9999, 12, 31, 23, 59, 59, 250000),
         T(1800, 1, 1, 12, 0, 0, 250000), T(1960, 3, 28, 1, 2, 3, 250000), T(2100, 6, 30, 7, 8, 9, 250000)]


@pytest.mark.parametrize("name", ["pspp_dates.sav", "pspp_dates.por"])
def test_dates_of_spss(name, package):
    source = open_table(FILES / name)
    column = str.upper if name.endswith(".por") else str
    for each in ("d_adate", "d_edate", "d_sdate", "d_jdate", "d_qyr", "d_moyr", "d_wkyr", "d_noon"):
        assert cells(source, column(each)) == DAYS, each
    assert cells(source, column("d_date")) == [*DAYS[:5], None]
    assert cells(source, column("dt")) == cells(source, column("dt_ymd")) == TIMES
    assert cells(source, column("t")) == [49530.5, 0.5, 90000, -3600, 3723.5, 25689.5]
    assert cells(source, column("dtm")) == [135930, 172800, 345599, -90061, 435723, 544089]
    assert cells(source, column("wk")) == [1, 2, 3, 4, 5, 6]
    assert cells(source, column("dmiss")) == [DAYS[0], None, DAYS[2], DAYS[3], None, DAYS[5]]
    facts = source.facts
    assert [facts[column(each)].period for each in ("d_qyr", "d_moyr", "d_wkyr", "d_date")] == [
        "quarter", "month", "week", ""]
    assert (facts[column("t")].kind, facts[column("t")].unit) == ("duration", "seconds")
    assert cells(source.dated([column("dt")]), column("dt")) == DAYS


def test_a_missing_code_among_dates_is_kept_as_text(package):
    source = open_table(FILES / "pspp_dates.sav", keep={"dmiss": ("99999",)})
    wanted = ["2020-03-15", None, "9999-12-31", "1800-01-01", "99999", "2100-06-30"]
    assert cells(source, "dmiss") == wanted
    assert cells(source.dated(["dmiss"]), "dmiss") == wanted


# ---- SPSS by hand


def by_hand(folder, **settings_of_file):
    variables = [Variable("NUM", label="Größe (cm)"), Variable("CITY", 16, "A", "Stadt")]
    return write_sav(folder / "t.sav", variables, [(1.0, "Köln"), (2.0, "Zürich"), (None, "")],
                     labels=(({1.0: "männlich", 2.0: "weiblich"}, [1]),), **{"codec": "cp1252", **settings_of_file})


@pytest.mark.parametrize("settings_of_file", [
    {"charcode": 1252}, {"charcode": 1252, "encoding": "windows-1252"}, {"codec": "utf-8", "charcode": 65001},
    {"codec": "utf-8", "charcode": 2, "encoding": "UTF-8"}, {"codec": "latin-1", "charcode": 28591},
    {"codec": "cp850", "charcode": 850}, {"charcode": 1252, "count": -1},
    {"codec": "cp1258", "encoding": "windows-1258"},
])
def test_encodings_of_spss(settings_of_file, tmp_path, package):
    source = open_table(by_hand(tmp_path, **settings_of_file))
    assert cells(source, "NUM") == [1.0, 2.0, None]
    assert cells(source, "CITY") == ["Köln", "Zürich", ""]
    assert source.facts["NUM"].label == "Größe (cm)"
    assert source.facts["NUM"].levels == ("männlich", "weiblich")
    assert source.row_count == (None if "count" in settings_of_file else 3)


@pytest.mark.parametrize("settings_of_file", [{}, {"charcode": 2}, {"charcode": 3}, {"encoding": "nonsense"}])
def test_an_encoding_that_the_file_does_not_say_is_asked_for(settings_of_file, tmp_path, package):
    path = by_hand(tmp_path, **settings_of_file)
    with pytest.raises(InvalidInput, match=r"does not say its encoding.*set encoding") as caught:
        open_table(path)
    assert caught.value.field == "encoding"
    source = open_table(path, ReadOptions(encoding="cp1252"))
    assert cells(source, "CITY") == ["Köln", "Zürich", ""]


def test_one_text_that_is_no_text_stops_no_other(tmp_path, package):
    """In a file of an unknown encoding, and in one whose text was cut in the middle of a letter."""
    variables = [Variable("CITY", 8, "A"), Variable("X")]
    rows = [("Bonn", 1.0), ("Köln".encode("cp1252"), 2.0), ("Ulm", 3.0)]
    for settings_of_file, problem in (({}, "letters beyond ASCII"),
                                      ({"encoding": "UTF-8"}, "no text in the encoding utf-8")):
        source = open_table(write_sav(tmp_path / "t.sav", variables, rows, **settings_of_file))
        assert cells(source, "CITY", "X") == [("Bonn", 1.0), (None, 2.0), ("Ulm", 3.0)]
        (fault,) = source.faults
        assert problem in fault.problem
        assert fault.examples == (("row 2", "Köln"),)
        assert fault.empty


def test_a_text_that_was_cut_within_a_letter_loses_this_letter(tmp_path, package):
    """SPSS cuts texts and labels at a number of bytes."""
    cut = "Zürich ü".encode()[:-1]
    path = write_sav(tmp_path / "t.sav", [Variable("CITY", 9, "A", label="Stadt")], [(cut,), ("ü",)], codec="utf-8",
                     encoding="UTF-8")
    path.write_bytes(path.read_bytes().replace(b"Stadt", "Stadä".encode()[:5]))
    source = open_table(path)
    assert cells(source, "CITY") == ["Zürich ", "ü"]
    assert source.facts["CITY"].label == "Stad"


@settings(max_examples=25, deadline=None)
@given(data=st.data(), arrow=st.booleans())
def test_no_text_of_one_record_changes_another(data, arrow, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp()
    texts = data.draw(st.lists(st.binary(max_size=8).map(lambda raw: raw.replace(b"\0", b"x")), min_size=1, max_size=6))
    at = data.draw(st.integers(0, len(texts) - 1))
    with pytest.MonkeyPatch.context() as patch:
        if not arrow:
            patch.setattr(stat_readers, "streaming", lambda: None)
        found = []
        for given_texts in (texts, [*texts[:at], b"plain", *texts[at + 1:]]):
            path = write_sav(folder / "own.sav", [Variable("T", 8, "A"), Variable("X")],
                             [(text, float(row)) for row, text in enumerate(given_texts)], encoding="UTF-8")
            found.append(cells(open_table(path), "T", "X"))
    before, after = found
    assert len(before) == len(texts)
    before.pop(at)
    after.pop(at)
    assert before == after


def test_the_weight_variable_and_long_names(tmp_path, package):
    variables = [Variable("LONGTEXT", 20, "A"), Variable("WEIGHT01"), Variable("AGE")]
    names = (("WEIGHT01", "survey_weight_2024"), ("LONGTEXT", "comment"))
    path = write_sav(tmp_path / "t.sav", variables, [("x", 0.5, 3.0)], long_names=names, weight=2, encoding="UTF-8")
    source = open_table(path)
    assert source.weight == "survey_weight_2024"
    assert source.column_names == ("comment", "survey_weight_2024", "AGE")
    assert open_table(FILES / "haven.sav").weight == ""
    assert source.shown_to(lambda _: None).weight == "survey_weight_2024"


def test_two_codes_with_one_label_are_named(tmp_path, package):
    path = write_sav(tmp_path / "t.sav", [Variable("Q", missing=[9.0])], [(1.0,), (2.0,), (9.0,)],
                     labels=(({1.0: "yes", 2.0: "yes", 9.0: "yes"}, [1]),), charcode=1252)
    with pytest.raises(InvalidInput, match="the codes 1 and 2 have one label, 'yes'; give the column labels"):
        cells(open_table(path).labelled(["Q"]), "Q")
    assert cells(open_table(path, keep={"Q": ("1",)}).labelled(["Q"]), "Q") == ["1", "yes", None]


def test_dates_out_of_range_are_listed(tmp_path, package):
    variables = [Variable("D", 0, "DATE"), Variable("T", 0, "DATETIME"), Variable("X", 0, "TIME")]
    source = open_table(write_sav(tmp_path / "t.sav", variables, [(1e300,) * 3, (-1e300,) * 3, (13803609600.0,) * 3],
                                  charcode=1252))
    assert cells(source, "D", "T", "X") == [(None, None, 1e300), (None, None, -1e300),
                                            (D(2020, 3, 15), T(2020, 3, 15), 13803609600.0)]
    assert [(fault.column, fault.count) for fault in source.faults] == [("D", 2), ("T", 2)]


def test_haven_writes_dates_times_and_ranges(package):
    source = open_table(FILES / "haven.sav")
    assert cells(source, "q", "t") == [(1.0, "a"), (2.0, "b"), (None, None), (None, None), (None, "")]
    assert cells(source, "d") == [D(2020, 3, 15), D(1904, 2, 29), None, D(1582, 10, 15), D(2100, 6, 30)]
    assert cells(source, "tm") == [49530, 0, None, 90000, 3723]
    assert cells(source.labelled(["f"]), "f") == ["lo", "hi", "lo", None, "hi"]


# ---- Stata


@pytest.mark.parametrize("version", [114, 117, 118, 119])
def test_stata_by_pandas(version, tmp_path, package):
    frame = pd.DataFrame({
        "Age": pd.Series([1, 2, 9], dtype="int8"), "age": [10, 20, 30], "f": np.array([0.1, np.nan, 4.3], np.float32),
        "d": [0.1, 0.1 + 0.2, np.nan], "s": ["Zürich", "", " y"],
        "when": pd.to_datetime(["2020-03-15", None, "1955-07-01"]),
        "i": np.array([2147483620, -2147483647, 0], np.int32)})
    frame.to_stata(tmp_path / "t.dta", version=version, write_index=False, convert_dates={"when": "td"},
                   value_labels={"Age": {1: "one", 2: "two", 9: "nine"}})
    source = open_table(tmp_path / "t.dta")
    assert cells(source, "Age", "age") == [(1, 10), (2, 20), (9, 30)]
    assert cells(source, "s") == ["Zürich", "", " y"]
    assert cells(source, "when") == [D(2020, 3, 15), None, D(1955, 7, 1)]
    assert cells(source, "d") == [0.1, 0.1 + 0.2, None]
    assert cells(source, "i") == [2147483620, -2147483647, 0]
    assert cells(source.labelled(["Age"]), "Age") == ["one", "two", "nine"]
    (batch,) = source.batches(["f"])
    assert batch.schema.types == [pa.float32()]
    assert numbers("f", batch.column(0)).tolist()[::2] == [0.1, 4.3]  # the decimals that Stata shows
    assert Numeric(column="f", lower=0, upper=4.3).encode(batch.column(0)).problems.tolist() == [0, 1, 0]
    assert source.row_count == 3


@pytest.mark.parametrize("name", ["haven13.dta", "haven14.dta"])
def test_tagged_missing_values(name, package):
    source = open_table(FILES / name)
    assert cells(source, "xx") == [1.0, 2.0, None, None, None, 3.0]
    assert cells(source, "big") == [2.0**53, -0.0, 5e-324, 1e-300, 123456789.125, 8.9e307]
    assert cells(source, "ss")[:5] == ["a", "", "b  ", "NA", "été"]
    assert source.facts["xx"].missing_codes == (".a", ".b", ".z")
    assert source.facts["xx"].levels == ("one", "ONE", "unused")
    kept = open_table(FILES / name, keep={"xx": (".a",)})
    assert cells(kept, "xx") == ["1", "2", ".a", None, None, "3"]
    assert numbers("xx", next(kept.batches(["xx"])).column(0)).tolist()[:2] == [1.0, 2.0]
    assert cells(kept.labelled(["xx"]), "xx") == ["one", "ONE", ".a", None, None, "3"]
    if name == "haven14.dta":
        assert cells(source, "lng")[:2] == ["äx" * 2000, "short"]


@pytest.mark.parametrize("name", ["readstata13_v8.dta", "foreign_v10.dta"])
def test_old_stata_files_in_either_encoding(name, package):
    """The first one is in Windows-1252, the second one in UTF-8, and neither says so."""
    source = open_table(FILES / name)
    assert cells(source, "city") == ["Köln", "Zürich", "Genève"]
    assert cells(source.labelled(["f"]), "f") == ["hoch", "tief", "hoch"]
    assert cells(open_table(FILES / "readstata13_v8.dta", ReadOptions(encoding="cp1252")), "city")[0] == "Köln"


def test_strings_of_any_length_in_windows_1252(tmp_path):
    """Stata before 14 wrote strL texts in the encoding of the computer."""
    frame = pd.DataFrame({"id": [1, 2], "note": ["Zuerich", "plain"]})
    frame.to_stata(tmp_path / "t.dta", version=117, convert_strl=["note"], write_index=False)
    (tmp_path / "t.dta").write_bytes((tmp_path / "t.dta").read_bytes().replace(b"Zuerich", b"Z\xfcerich"))
    assert cells(open_table(tmp_path / "t.dta"), "note") == ["Züerich", "plain"]


FORMATS = {"%td": 21989.0, "%-td": 21989.0, "%d": 21989.0, "%tdDD/NN/CCYY": 21989.0, "%tdMonth_dd,_CCYY": 21989.0,
           "%tm": 722.0, "%tq": 240.0, "%th": 120.0, "%tw": 3130.0}


def test_date_formats_of_stata(tmp_path, package):
    names = {f"v{at}": form for at, form in enumerate(FORMATS)}
    moments = {"c": "%tc", "l": "%-tc", "j": "%tcDD/NN/CCYY_HH:MM:SS"}
    table = pa.table({**{name: [FORMATS[form]] for name, form in names.items()},
                      **{name: [1899899130250.0] for name in moments}, "leap": [1899899157250.0], "clock": [49530000.0],
                      "y": [2020.0], "g": [3.5], "b": [7.0]})
    readstat_arrow.write_dta(tmp_path / "t.dta", table, readstat_arrow.Metadata(formats={
        **names, **moments, "leap": "%tC", "clock": "%tcHH:MM:SS", "y": "%ty", "g": "%9.0g", "b": "%tbnyse"}))
    source = open_table(tmp_path / "t.dta")
    firsts = {"%tm": D(2020, 3, 1), "%tq": D(2020, 1, 1), "%th": D(2020, 1, 1), "%tw": D(2020, 3, 11)}
    for name, form in names.items():
        assert cells(source, name) == [firsts.get(form, D(2020, 3, 15))], form
    for name in (*moments, "leap"):
        assert cells(source, name) == [T(2020, 3, 15, 13, 45, 30, 250000)], name
    assert cells(source, "clock", "y", "g") == [(49530.0, 2020.0, 3.5)]
    assert source.facts["v5"].period == "month"
    with pytest.raises(InvalidInput, match="b: has the format %tbnyse, and its numbers may be dates"):
        source.batches(["b"])


def test_the_seconds_that_stata_leaps():
    leap = meaning("stata", "%tC")
    day = (D(2016, 12, 31) - D(1960, 1, 1)).days * 86_400_000
    moments = pa.array([day + 86_399_000.0 + 26_000, day + 86_400_000.0 + 26_000, day + 86_401_000.0 + 26_000])
    found, _ = converted(moments, leap)
    assert found.to_pylist() == [T(2016, 12, 31, 23, 59, 59), T(2016, 12, 31, 23, 59, 59), T(2017, 1, 1)]


# ---- SAS


@pytest.mark.parametrize(("form", "kind"), [
    ("DATE9.", "date"), ("YYMMDDN8", "date"), ("B8601DA10", "date"), ("E8601DT26.6", "datetime"), ("$CHAR6", "number"),
    ("BEST12.", "number"), ("TIME8", "duration"), ("TOD20.2", "duration"), ("DTDATE9", "date"), ("SEXFMT", None),
    ("", "number"), ("8.2", "number"), ("MONYY7.", "date"), ("DATEAMPM40.2", "datetime"),
])
def test_formats_of_sas(form, kind):
    found = meaning("sas", form)
    assert (found and found.kind) == kind


def test_sas_has_no_29_february_4000():
    ends = pa.array([2936547.0, 745154.0, 745153.0, 0.0, None, 1e9])
    found, wrong = converted(ends, meaning("sas", "DATE9"))
    assert found.to_pylist() == [D(9999, 12, 31), D(4000, 3, 1), D(4000, 2, 28), D(1960, 1, 1), None, None]
    assert wrong.tolist() == [False] * 5 + [True]


def test_every_date_format_of_sas(tmp_path):
    """A file that SAS wrote with one moment in each of its formats."""
    source = open_table(unpacked("parso_date_formats.sas7bdat", tmp_path))
    found = dict(zip(source.column_names, cells(source, *source.column_names)[0], strict=True))
    assert len(found) == 67
    assert found.pop("tod") == pytest.approx(15 * 3600 + 36 * 60 + 56.546)
    for name, cell in found.items():
        day = cell.date() if isinstance(cell, T) else cell
        assert day == D(2017, 3, 14), name
        assert isinstance(cell, T) == (source.facts[name].kind == "datetime")


def test_deleted_records_stay_deleted():
    """pyreadstat alone skips them; the file has 38 rows, of which SAS shows 36."""
    source = open_table(FILES / "parso_deleted.sas7bdat")
    assert source.row_count == len(cells(source, source.column_names[0])) == 36


def test_an_encoding_with_letters_of_several_bytes_does_not_shift_texts(tmp_path):
    source = open_table(unpacked("parso_charset_wvie.sas7bdat", tmp_path))
    assert source.column_names == ("SepalLength", "SepalWidth", "PetalLength", "PetalWidth", "Species")
    assert set(cells(source, "Species")) == {"Iris-setosa", "Iris-versicolor", "Iris-virginica"}


def test_a_sas_file_by_haven():
    source = open_table(FILES / "haven.sas7bdat")
    assert cells(source, "id", "v", "t") == [(1, 0, "a"), (2, 0, "b"), (3, 0.1, ""), (4, 5e-300, " c")]


def test_a_catalog_has_the_labels_of_a_format(tmp_path):
    path = unpacked("haven_tagged.sas7bdat", tmp_path)
    with pytest.raises(InvalidInput, match=r'has the format XFMT.*codebook = "formats.sas7bcat", or set labels = f'):
        open_table(path).batches(["x"])
    assert cells(open_table(path, ReadOptions(labels=False)), "x")[0] is not None
    shutil.copy(FILES / "haven_tagged.sas7bcat", tmp_path / "formats.sas7bcat")
    source = open_table(path.name, ReadOptions(codebook="formats.sas7bcat"), folder=tmp_path)
    assert source.facts["x"].labels
    tags = [code for code in source.facts["x"].labels if code.startswith(".")]
    assert set(tags) <= set(source.facts["x"].missing_codes)
    kept = open_table(path.name, ReadOptions(codebook="formats.sas7bcat"), folder=tmp_path, keep={"x": (".A",)})
    assert ".A" in cells(kept.labelled(["x"]), "x")
    with pytest.raises(InvalidInput, match=r"codebook: .* is not a file"):
        open_table(path, ReadOptions(codebook="nowhere.sas7bcat"))


# ---- SAS transport files

FIELDS = [Field("ID", label="person"), Field("V", format="BEST", digits=12), Field("SHORT", 4),
          Field("D", format="DATE", digits=9), Field("S", 6, text=True)]
ROWS = [(1.0, 0.1, 1.0, 21989.0, "ab"), (2.0, 2.0**53, 2.5, 0.0, "c  d"), (3.0, -0.5, -3.0, -1645.0, ""),
        (4.0, 1e-70, None, None, " x"), (5.0, 0.0, 0.0, 2936547.0, "NA")]


@pytest.mark.parametrize("rows", [1, 2, 100])
def test_transport_files(rows, tmp_path):
    source = open_table(write_xpt(tmp_path / "t.xpt", FIELDS, ROWS))
    assert cells(source, "ID", rows=rows) == [1, 2, 3, 4, 5]
    assert cells(source, "V", rows=rows) == [0.1, 2.0**53, -0.5, pytest.approx(1e-70, rel=1e-15), 0.0]
    assert cells(source, "SHORT") == [1.0, 2.5, -3.0, None, 0.0]
    assert cells(source, "D") == [D(2020, 3, 15), D(1960, 1, 1), D(1955, 7, 1), None, D(9999, 12, 31)]
    assert cells(source, "S") == ["ab", "c  d", "", " x", "NA"]
    assert (source.facts["ID"].label, source.facts["D"].format, source.row_count) == ("person", "DATE9", 5)


@pytest.mark.parametrize("length", [1, 3, 8, 20])
@pytest.mark.parametrize("number", [False, True])
def test_transport_files_keep_their_number_of_rows(length, number, tmp_path):
    fields = [*([Field("X")] if number else []), Field("A", length, text=True)]
    for count in range(12):
        rows = [(*([float(row)] if number else []), "x" * length if not number else "") for row in range(count)]
        source = open_table(write_xpt(tmp_path / "t.xpt", fields, rows))
        assert source.row_count == len(cells(source, "A")) == count


def test_special_missing_values_of_sas(tmp_path):
    path = write_xpt(tmp_path / "t.xpt", [Field("X")], [(1.0,), ("A",), ("B",), ("_",), (None,), (0.0,)])
    assert cells(open_table(path), "X") == [1.0, None, None, None, None, 0.0]
    kept = open_table(path, keep={"X": (".A", "._")})
    assert cells(kept, "X") == ["1", ".A", None, "._", None, "0"]


def test_a_second_data_set_is_refused(tmp_path):
    second = write_xpt(tmp_path / "b.xpt", [Field("Y")], [(100.0,)]).read_bytes()[240:]
    path = write_xpt(tmp_path / "a.xpt", [Field("X")], [(float(row),) for row in range(20)], more=second)
    with pytest.raises(InvalidInput, match="more than one data set; write one data set to each transport file"):
        open_table(path)
    inside = [("HEADER RECORD*******MEMBER  ", float(row)) for row in range(9)]  # a cell that only looks so
    source = open_table(write_xpt(tmp_path / "c.xpt", [Field("A", 28, text=True), Field("X")], inside))
    assert len(cells(source, "X")) == 9


def test_transport_files_by_other_writers(tmp_path):
    source = open_table(FILES / "haven_v8.xpt")
    assert cells(source, "id", "v", "t") == [(1, 0, "a"), (2, 0, "b"), (3, 0.1, ""), (4, 0, " c")]
    import pyreadstat
    for version in (5, 8):
        frame = pd.DataFrame({"X": [1.0, 2.0, 3.0, 4.0], "A": ["abcdefghij", "ab", "ab", "ab"]})
        pyreadstat.write_xport(frame, tmp_path / "p.xpt", file_format_version=version)
        assert cells(open_table(tmp_path / "p.xpt"), "X", "A") == list(frame.itertuples(index=False, name=None))


def test_letters_of_transport_files_need_an_encoding(tmp_path):
    path = write_xpt(tmp_path / "t.xpt", [Field("A", 4, text=True)], [("Kö",), ("b",)], codec="latin-1")
    source = open_table(path)
    assert cells(source, "A") == [None, "b"]
    assert "does not say its encoding" in str(source.faults[0])
    assert cells(open_table(path, ReadOptions(encoding="latin-1")), "A") == ["Kö", "b"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(2.0**-250, 2.0**240) | st.floats(-(2.0**240), -(2.0**-250)) | st.just(0.0), min_size=1,
                max_size=9))
def test_floats_of_mainframes(values):
    from confide.tables._transport import ibm_floats
    from tables.statistical_writers import ibm
    raw = np.frombuffer(b"".join(map(ibm, values)), np.uint8).reshape(-1, 8)
    found, tags = ibm_floats(raw)
    assert found == pytest.approx(np.array(values), rel=2.0**-52)
    assert not tags.any()


# ---- both packages, and passes that end early


@pytest.mark.parametrize("name", sorted(path.name for path in FILES.iterdir()
                                        if path.suffix in (".sav", ".zsav", ".dta")))
def test_both_packages_read_the_same(name, monkeypatch):
    def everything():
        source = open_table(FILES / name)
        return {column: [repr(cell) for cell in cells(source, column, rows=7)] for column in source.column_names}, (
            source.facts, source.weight, source.row_count)

    first = everything()
    monkeypatch.setattr(stat_readers, "streaming", lambda: None)
    assert everything() == first


def test_a_pass_may_end_early():
    import threading
    source = open_table(FILES / "survey_head.sav")
    before = threading.active_count()
    for _ in range(5):
        assert next(source.batches(["age"], 3)).num_rows == 3
    both = zip(source.batches(["age"], 50), source.batches(["age"], 50), strict=True)
    assert all(a.equals(b) for a, b in both)
    assert threading.active_count() == before


def test_a_missing_package_is_named(monkeypatch):
    import sys
    for module in ("readstat_arrow", "pyreadstat", "python_calamine"):
        monkeypatch.setitem(sys.modules, module, None)
    for name in ("survey_head.sav", "haven.sas7bdat", "survey_head.xlsx"):
        with pytest.raises(InvalidInput, match=r"pip install 'confide\[files\]'"):
            open_table(FILES / name)
