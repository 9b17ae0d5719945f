"""Codebooks: data dictionaries of REDCap and catalogs of SAS formats, as facts about the columns of a table."""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from confide.contract.errors import InvalidInput
from confide.tables._conversions import code_of
from confide.tables._date_formats import name_of_format
from confide.tables._file_headers import refuse_other_formats, unreadable
from confide.tables._packaged import extra
from confide.tables.read_options import ColumnFacts
from confide.tables.table_source import TableSource

__all__ = ["add_codebook", "read_dictionary"]

_HEADERS = {
    "Variable / Field Name": "field_name", "Field Type": "field_type", "Field Label": "field_label",
    "Choices, Calculations, OR Slider Labels": "select_choices_or_calculations",
    "Text Validation Type OR Show Slider Number": "text_validation_type_or_show_slider_number",
    "Text Validation Min": "text_validation_min", "Text Validation Max": "text_validation_max",
    "Identifier?": "identifier",
}
"""Mapping from the headers of a dictionary that is exported from a page of REDCap to those of its interface."""

_TAG = re.compile(r"<[^>]*>")
_LONGEST = 1 << 24  # bytes of a dictionary


def add_codebook(source: TableSource, path: Path) -> None:
    """Add the facts of a codebook to a table. Facts of the codebook replace those of the file.

    Raises:
        InvalidInput: the codebook cannot be read, or is of an unknown kind.
    """
    suffix = path.suffix.lower()
    if not path.is_file():
        raise InvalidInput("codebook", f"{path.resolve()} is not a file")
    if suffix == ".sas7bcat":
        sets = _catalog(path)
        found = {name: _with_labels(facts, sets[name_of_format(facts.format)])
                 for name, facts in source.facts.items() if name_of_format(facts.format) in sets}
    elif suffix == ".csv":
        found = read_dictionary(path)
    else:
        raise InvalidInput("codebook", f"{path.name!r} has an unknown suffix",
                           "must be a REDCap data dictionary (.csv) or a SAS catalog (.sas7bcat)")
    source.facts = {**source.facts, **{name: facts for name, facts in found.items() if name in source.column_names}}


def _with_labels(facts: ColumnFacts, labels: Mapping[str, str]) -> ColumnFacts:
    """The facts with labels, of which those of special missing values mean a missing answer."""
    tags = [] if facts.kind == "text" else [code for code in labels if re.fullmatch(r"\.[A-Z_]", code)]
    return replace(facts, labels=labels, missing_codes=tuple(dict.fromkeys([*facts.missing_codes, *tags])))


def _catalog(path: Path) -> dict[str, Mapping[str, str]]:
    """Mapping from the name of each format of a SAS catalog to its labels."""
    refuse_other_formats(path)
    pyreadstat = extra("pyreadstat", "files")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = pyreadstat.read_sas7bcat(path, output_format="dict")[1].value_labels
    except Exception as error:  # noqa: BLE001 - of the package, or of its decoding
        raise unreadable(path, error, field="codebook") from None
    return {str(name).upper(): {_sas_code(value): label for value, label in codes.items()}
            for name, codes in found.items()}


def _sas_code(value: Any) -> str:
    """The text of a code. The letter of a special missing value is a text."""
    return f".{value}" if isinstance(value, str) and re.fullmatch("[A-Z_]", value) else code_of(value)


def read_dictionary(path: Path) -> dict[str, ColumnFacts]:
    """The facts of a REDCap data dictionary: a mapping from column to its levels with labels, its range and its kind.

    A field of checkboxes becomes a column for each choice, such as `symptoms___1`, as in an export of the data. Dates
    in an export are written year-month-day, whatever the display of the field.

    Raises:
        InvalidInput: the file is no dictionary.
    """
    refuse_other_formats(path)
    try:
        if path.stat().st_size > _LONGEST:
            raise InvalidInput("codebook", f"{path.name} has more than {_LONGEST:,} bytes", "name a data dictionary")
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.reader(file, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise unreadable(path, error, field="codebook") from None
    header = [_HEADERS.get(name.strip(), name.strip()) for name in rows[0]] if rows else []
    missing = [name for name in ("field_name", "field_type", "select_choices_or_calculations") if name not in header]
    if missing:
        raise InvalidInput("codebook", f"{path.name} is no REDCap data dictionary: it has no column {missing[0]}",
                           "export the data dictionary from REDCap as CSV")
    found: dict[str, ColumnFacts] = {}
    for row in rows[1:]:
        found.update(_field(dict(zip(header, (cell.strip() for cell in row), strict=False))))
    return found


def _field(field: Mapping[str, str]) -> Iterator[tuple[str, ColumnFacts]]:
    """The columns of one field, with their facts."""
    name, kind = field.get("field_name", ""), field.get("field_type", "").lower()
    label = " ".join(_TAG.sub(" ", field.get("field_label", "")).split())
    identifier = field.get("identifier", "").lower() in ("y", "yes", "1", "true")
    if not name or kind in ("descriptive", "file"):
        return
    plain = ColumnFacts(label=label, identifier=identifier)
    choices = field.get("select_choices_or_calculations", "")
    if kind == "checkbox":
        for code, choice in _choices(name, choices).items():
            yield _checkbox(name, code), replace(
                plain, label=f"{label}: {choice}", kind="boolean", labels={"0": "Unchecked", "1": "Checked"})
    elif kind in ("radio", "dropdown"):
        yield name, replace(plain, labels=_choices(name, choices))
    elif kind == "yesno":
        yield name, replace(plain, kind="boolean", labels={"1": "Yes", "0": "No"})
    elif kind == "truefalse":
        yield name, replace(plain, kind="boolean", labels={"1": "True", "0": "False"})
    elif kind in ("calc", "slider"):
        yield name, _ranged(replace(plain, kind="number"), field)
    elif kind == "text":
        yield name, _validated(plain, field)
    else:
        yield name, replace(plain, kind="text" if kind == "notes" else "")


def _choices(name: str, text: str) -> dict[str, str]:
    """The codes of a field with their labels. A code ends at the first comma, and a label may hold commas."""
    found: dict[str, str] = {}
    for choice in filter(str.strip, text.split("|")):
        code, comma, label = choice.partition(",")
        if not comma:
            raise InvalidInput("codebook", f"the choice {choice.strip()!r} of {name} has no comma after its code",
                               "must be such as '1, Yes | 0, No'")
        found[code.strip()] = " ".join(_TAG.sub(" ", label).split())
    return found


def _checkbox(name: str, code: str) -> str:
    """The column of a choice of a field of checkboxes: the code in small letters, with underscores for other signs."""
    return f"{name}___{re.sub('[^a-z0-9_]', '_', code.lower())}"


def _validated(plain: ColumnFacts, field: Mapping[str, str]) -> ColumnFacts:
    """The facts of a field of text by its validation."""
    rule = field.get("text_validation_type_or_show_slider_number", "").lower()
    if rule.startswith("datetime"):
        return _ranged(replace(plain, kind="datetime", format=rule), field)
    if rule.startswith("date"):
        return _ranged(replace(plain, kind="date", format=rule), field)
    if rule == "integer":
        return _ranged(replace(plain, kind="whole", format=rule), field)
    if rule.startswith("number"):
        return _ranged(replace(plain, kind="number", format=rule), field)
    return replace(plain, kind="text", format=rule)


def _ranged(facts: ColumnFacts, field: Mapping[str, str]) -> ColumnFacts:
    """The facts with the range of the field. A bound that is computed, such as [other_field], is no public bound."""
    bounds = [_bound(facts, field.get(f"text_validation_{end}", "")) for end in ("min", "max")]
    return replace(facts, lower=bounds[0], upper=bounds[1])


def _bound(facts: ColumnFacts, text: str) -> float | str | None:
    if facts.kind in ("date", "datetime"):
        return text if re.fullmatch(r"\d{4}-\d{2}-\d{2}(?: .*)?", text) else None
    try:
        return float(text.replace(",", ".") if facts.format.endswith("comma_decimal") else text)
    except ValueError:
        return None
