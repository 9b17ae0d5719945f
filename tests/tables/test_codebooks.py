"""Data dictionaries of REDCap as facts about columns."""

from __future__ import annotations

import pytest

from confide.contract import InvalidInput
from confide.tables import ColumnFacts, ReadOptions, open_table
from confide.tables._codebooks import read_dictionary

PAGE = ("Variable / Field Name,Form Name,Section Header,Field Type,Field Label,"
        '"Choices, Calculations, OR Slider Labels",Field Note,Text Validation Type OR Show Slider Number,'
        "Text Validation Min,Text Validation Max,Identifier?,Branching Logic (Show field only if...)\r\n")
ROWS = """record_id,form,,text,Record ID,,,,,,,
name,form,,text,Name,,,,,,y,
sex,form,,radio,"<b>Sex</b> at
 birth","1, Female | 2, Male | -9, Not asked",,,,,,
region,form,,dropdown,Region,"n, North, coast | s , South",,,,,,
symptoms,form,,checkbox,Symptoms,"1, Cough | A, Fever | -1, None of these",,,,,,
smoker,form,,yesno,Smoker,,,,,,,
consent,form,,truefalse,Consent,,,,,,,
age,form,,text,Age,,,integer,18,99,,
weight,form,,text,Weight,,,number_comma_decimal,"30,5",200,,
visit,form,,text,First visit,,,date_dmy,2024-01-01,2025-12-31,,
moment,form,,text,Moment,,,datetime_ymd,2024-01-01 00:00,[visit],,
pain,form,,slider,Pain,none | some | worst,,number,0,10,,
bmi,form,,calc,BMI,[weight] / 2,,,,,,
remarks,form,,notes,Remarks,,,,,,,
upload,form,,file,Upload,,,,,,,
hello,form,,descriptive,Hello,,,,,,,
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "dictionary.csv"
    path.write_bytes(b"\xef\xbb\xbf" + (PAGE + ROWS).encode())
    return path


def test_the_facts_of_every_type_of_field(path):
    facts = read_dictionary(path)
    assert set(facts) == {"record_id", "name", "sex", "region", "symptoms___1", "symptoms___a", "symptoms____1",
                          "smoker", "consent", "age", "weight", "visit", "moment", "pain", "bmi", "remarks"}
    assert facts["sex"] == ColumnFacts(label="Sex at birth", labels={"1": "Female", "2": "Male", "-9": "Not asked"})
    assert facts["region"].labels == {"n": "North, coast", "s": "South"}
    assert facts["symptoms___a"] == ColumnFacts(label="Symptoms: Fever", kind="boolean",
                                                labels={"0": "Unchecked", "1": "Checked"})
    assert facts["smoker"].levels == ("Yes", "No")
    assert facts["consent"].levels == ("True", "False")
    assert (facts["age"].kind, facts["age"].lower, facts["age"].upper) == ("whole", 18.0, 99.0)
    assert (facts["weight"].kind, facts["weight"].lower, facts["weight"].upper) == ("number", 30.5, 200.0)
    assert (facts["visit"].kind, facts["visit"].lower, facts["visit"].upper) == ("date", "2024-01-01", "2025-12-31")
    assert (facts["moment"].lower, facts["moment"].upper) == ("2024-01-01 00:00", None)
    assert (facts["pain"].lower, facts["pain"].upper) == (0.0, 10.0)
    assert [name for name, each in facts.items() if each.identifier] == ["name"]


def test_a_codebook_beside_an_export(path):
    export = path.parent / "export.csv"
    export.write_text('record_id,sex,symptoms___1,weight,visit,other\n1,1,0,"70,5",2024-05-22,x\n2,-9,1,,,\n3,7,,65,,\n',
                      encoding="utf-8")
    source = open_table("export.csv", ReadOptions(codebook="dictionary.csv"), folder=path.parent)
    assert set(source.facts) == {"record_id", "sex", "symptoms___1", "weight", "visit"}
    source = source.labelled(["sex", "symptoms___1", "other"]).numeric(["weight"]).dated(["visit"])
    (batch,) = source.batches(["sex", "symptoms___1", "weight"])
    assert batch.to_pylist() == [
        {"sex": "Female", "symptoms___1": "Unchecked", "weight": "70.5"},
        {"sex": "Not asked", "symptoms___1": "Checked", "weight": None},
        {"sex": "7", "symptoms___1": None, "weight": "65"}]
    kept = open_table(export, ReadOptions(codebook=str(path)), keep={"sex": ("-9",)}).labelled(["sex"])
    assert next(kept.batches(["sex"])).column(0).to_pylist() == ["Female", "-9", "7"]


def test_the_headers_of_the_interface(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("field_name,form_name,field_type,field_label,select_choices_or_calculations,identifier\n"
                    'sex,f,radio,Sex,"1, F | 2, M",\n', encoding="utf-8")
    assert read_dictionary(path)["sex"].labels == {"1": "F", "2": "M"}


@pytest.mark.parametrize(("name", "data", "words"), [
    ("d.csv", b"a,b\n1,2\n", "no REDCap data dictionary: it has no column field_name"),
    ("d.csv", b"", "no REDCap data dictionary"),
    ("d.csv", b'field_name,"open', "cannot be read"),
    ("d.csv", "field_name,field_type,select_choices_or_calculations\né,radio,\n".encode("latin-1"), "cannot be read"),
    ("d.csv", b"field_name,field_type,select_choices_or_calculations\nsex,radio,1 Female\n", "no comma after its code"),
    ("d.csv", b"PK\x03\x04", "zip archive"),
    ("d.pdf", b"%PDF", "must be a REDCap data dictionary (.csv) or a SAS catalog"),
    ("d.sas7bcat", b"nothing", "not a SAS catalog file"),
])
def test_what_is_no_codebook(name, data, words, tmp_path):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InvalidInput) as caught:
        open_table({"sex": ["1"]}, ReadOptions(codebook=name), folder=tmp_path)
    assert words in str(caught.value)
