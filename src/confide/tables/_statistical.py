"""SPSS, Stata and SAS files as tables: missing codes, dates, value labels and encodings get their meaning here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from confide.contract.errors import InvalidInput
from confide.tables import _stat_readers
from confide.tables._cells import numbers, strings
from confide.tables._conversions import code_of, decoded, spelled_dates
from confide.tables._date_formats import NUMBER, Meaning, converted, meaning
from confide.tables._file_headers import dta_release, refuse_other_formats, sas_encoding, sav_header
from confide.tables._stat_readers import BYTES, RawColumn, StatReader, broken
from confide.tables._transport import Transport
from confide.tables.read_options import ColumnFacts, ReadOptions, codec
from confide.tables.table_source import Faults, TableSource

__all__ = ["SUFFIXES", "StatisticalFile"]

_SETTINGS = ("encoding", "decimal", "thousands", "dates", "missing", "labels", "codebook")
Package = Literal["spss", "stata", "sas"]
_PACKAGES: dict[str, tuple[Package, str]] = {
    ".sav": ("spss", "SPSS"), ".zsav": ("spss", "SPSS"), ".por": ("spss", "SPSS"), ".dta": ("stata", "Stata"),
    ".sas7bdat": ("sas", "SAS"), ".xpt": ("sas", "SAS"),
}
SUFFIXES = tuple(_PACKAGES)
"""Suffixes of the files of statistical packages."""

_ENCODING = 'set encoding to the encoding of the file, such as "cp1252"'
_UNKNOWN = ("ascii",)


class StatisticalFile(TableSource):
    """A file of SPSS, Stata or SAS. Numbers keep the type of the file, and a missing answer is null.

    Args:
        path: path of the file.
        options: the settings of the file.

    Raises:
        InvalidInput: the file is damaged, has another format or version, or has names or labels that are no text in its
            encoding.
    """

    def __init__(self, path: Path, options: ReadOptions) -> None:
        options.allow_only(_SETTINGS, "a statistical file")
        refuse_other_formats(path)
        self._path, self.name, self.options = path, path.name, options
        self._suffix = path.suffix.lower()
        self._package, self._called = _PACKAGES[self._suffix]
        try:
            self._reader = _reader(path)
            self._read_dictionary(path)
        except InvalidInput:
            raise
        except Exception as error:  # noqa: BLE001 - a damaged dictionary gives objects of any type
            raise broken(path, error) from None

    # ---- the dictionary of the file

    def _read_dictionary(self, path: Path) -> None:
        self._codecs, weight = _codecs(path, self.options, self._reader)
        names = [self._decoded(name, "the name of a column") for name in self._reader.names]
        self._raw_names = dict(zip(names, self._reader.names, strict=True))
        self.column_names, self.row_count = tuple(names), self._reader.rows
        self.weight = self._decoded(weight.decode(BYTES), "the name of a column")
        self._meanings = {name: self._meaning(raw) for name, raw in self._raw_names.items()}
        self.facts = {name: self._facts(name) for name in names}

    def _decoded(self, text: str, what: str) -> str:
        """A name or a label from its bytes."""
        if text.isascii() or self._reader.unicode:
            return text
        found, wrong = decoded(pa.array([text.encode(BYTES)], pa.large_binary()), self._codecs)
        if wrong[0]:
            problem = (f"{self.name} does not say its encoding, and {what} has letters beyond ASCII"
                       if self._codecs == _UNKNOWN else
                       f"{what} in {self.name} is no text in the encoding {self._codecs[0]}")
            raise InvalidInput("encoding", problem, _ENCODING)
        return str(found[0].as_py())

    def _meaning(self, raw: str) -> Meaning | None:
        if raw in self._reader.texts:
            return NUMBER
        return meaning(self._package, self._reader.formats.get(raw, ""))

    def _facts(self, name: str) -> ColumnFacts:
        raw, what = self._raw_names[name], self._meanings[name]
        reader, text = self._reader, raw in self._reader.texts
        labels = {self._code(value, text): self._decoded(label, f"a label of {name}")
                  for value, label in reader.value_labels.get(raw, ())}
        tags = [code for value, _ in reader.value_labels.get(raw, ()) if (code := self._code(value, text))[:1] == "."
                and isinstance(value, str) and not text]
        missing = reader.missing.get(raw, ())
        codes = [self._code(each, text) for each in missing if not isinstance(each, tuple)]
        if not text and any(isinstance(each, str) for each in missing):
            raise ValueError  # a text cannot be the code of a number
        period = what.period if what is not None else ""
        kind: Any = "text" if text else "" if what is None else what.kind
        return ColumnFacts(
            label=self._decoded(reader.labels.get(raw, ""), f"the label of {name}"), labels=labels,
            missing_codes=tuple(dict.fromkeys([*codes, *tags])),
            missing_ranges=tuple(each for each in missing if isinstance(each, tuple)), kind=kind, period=period,
            format=reader.formats.get(raw, ""), unit="seconds" if kind == "duration" else "")

    def _code(self, value: Any, text: bool) -> str:
        """The text of a code. A text as the code of a number is the letter of a tag."""
        if not isinstance(value, str):
            return code_of(value)
        return self._decoded(value, "a code").strip() if text else f".{value}"

    def _check(self, column: str) -> None:
        super()._check(column)
        facts = self.facts[column]
        if self._meanings[column] is None and not (facts.labels and self._package == "sas") and self.options.labels:
            ways = ('give the catalog of its formats, codebook = "formats.sas7bcat", or set labels = false if its '
                    "numbers are no dates" if self._package == "sas" else
                    "give the column a format of a number or a date in the program that made the file")
            raise InvalidInput(column, f"has the format {facts.format}, and its numbers may be dates", ways)
        if self._suffix == ".por" and column in self.keep:
            raise InvalidInput(column, "a portable SPSS file does not keep codes of missing answers apart",
                               "save the file as .sav")

    # ---- the cells

    def _read(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        faults, first = self._faults or Faults(), 1
        for raw in self._reader.read([self._raw_names[name] for name in columns], rows):
            arrays = [self._cells(name, each, first, faults) for name, each in zip(columns, raw, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, names=list(columns))
            first += len(raw[0].values)
        if self._reader.rows is not None and first - 1 != self._reader.rows:
            raise InvalidInput("source", f"{self._path} breaks off: it has fewer rows than it declares",
                               f"save it again in {self._called}")

    def _cells(self, name: str, raw: RawColumn, first: int, faults: Faults) -> pa.Array:
        """Some cells of a column, of which the first is in row `first`."""
        kept = self.keep.get(name, ())
        if self._raw_names[name] in self._reader.texts:
            return self._texts(name, raw.values, kept, first, faults)
        facts, values = self.facts[name], raw.values
        absent = self._absent(facts, values, kept)
        answers = pc.if_else(absent, pa.scalar(None, values.type), values)
        codes = None
        if kept and (self._meanings[name] or NUMBER).scale is not None:
            codes = _are_codes(answers, kept)
            answers = pc.if_else(codes, pa.scalar(None, values.type), answers)
        found, wrong = converted(answers, self._meanings[name] or NUMBER)
        faults.add_all(name, "a date outside the years 1 to 9999", "correct the date, or declare its code as missing",
                       wrong, first, values)
        if codes is None and not any(code.startswith(".") for code in kept):
            return found
        dates = pa.types.is_date(found.type) or pa.types.is_timestamp(found.type)
        texts = spelled_dates(found) if dates else strings(name, found)
        if codes is not None:
            texts = pc.if_else(codes, strings(name, values), texts)
        return texts if raw.tags is None else pc.coalesce(texts, _kept_tags(raw.tags, kept))

    def _absent(self, facts: ColumnFacts, values: pa.Array, kept: Sequence[str]) -> pa.Array:
        """Which numbers mean a missing answer, and are not kept."""
        codes = pa.array([float(code) for code in facts.missing_codes if code[:1] != "." and code not in kept],
                         pa.float64())
        if not len(codes) and not facts.missing_ranges:
            return pa.scalar(False)
        doubles = pc.cast(values, pa.float64())
        found = pc.is_in(doubles, value_set=codes)
        for low, high in facts.missing_ranges:
            found = pc.or_(found, pc.and_(pc.greater_equal(doubles, low), pc.less_equal(doubles, high)))
        return pc.and_not(found, _are_codes(values, kept)) if kept and facts.missing_ranges else found

    def _texts(self, name: str, raw: pa.Array, kept: Sequence[str], first: int, faults: Faults) -> pa.Array:
        codecs = ("utf-8",) if self._reader.unicode else self._codecs
        found, wrong = decoded(raw, codecs)
        unknown = codecs == _UNKNOWN
        faults.add_all(name, "letters beyond ASCII, and the file does not say its encoding" if unknown else
                       f"bytes that are no text in the encoding {codecs[0]}", _ENCODING, wrong, first, raw)
        absent = [code for code in self.facts[name].missing_codes if code not in kept]
        if not absent:
            return found
        is_absent = pc.is_in(pc.ascii_trim_whitespace(found), value_set=pa.array(absent, pa.large_string()))
        return pc.if_else(is_absent, pa.scalar(None, found.type), found)


def _reader(path: Path) -> StatReader:
    """The reader of a file by its suffix.

    Raises:
        InvalidInput: the file is damaged, or the packages of the extra `files` are not installed.
    """
    suffix = path.suffix.lower()
    if suffix == ".xpt":
        return Transport(path)
    package = _stat_readers.streaming() if suffix in (".sav", ".zsav", ".dta") else None
    return _stat_readers.PyreadstatReader(path) if package is None else _stat_readers.ArrowReader(path, package)


def _are_codes(values: pa.Array, kept: Sequence[str]) -> pa.Array:
    """Which numbers are among some codes."""
    found = []
    for code in kept:
        try:
            found.append(float(code))
        except ValueError:
            continue
    return pc.is_in(pa.array(numbers("", values)), value_set=pa.array(found, pa.float64()))


def _kept_tags(tags: pa.Array, kept: Sequence[str]) -> pa.Array:
    letters = pa.array([code[1:] for code in kept if code.startswith(".")], pa.large_string())
    nothing = pa.scalar(None, pa.large_string())
    dotted = pc.replace_substring_regex(tags, pattern="^", replacement=".")
    return pc.if_else(pc.is_in(tags, value_set=letters), dotted, nothing)


def _codecs(path: Path, options: ReadOptions, reader: StatReader) -> tuple[tuple[str, ...], bytes]:
    """The encodings of the texts of a file, and the name of its weight variable.

    The encoding follows from the settings and the header of the file. A Stata file before format 118 declares none, and
    other programs than Stata write it in UTF-8: each of its texts is UTF-8 if it can be, and otherwise Windows-1252.
    """
    suffix, weight, declared = path.suffix.lower(), b"", ""
    if suffix in (".sav", ".zsav"):
        header = sav_header(path)
        declared, weight = header.encoding, header.weight
    elif suffix == ".sas7bdat":
        declared = sas_encoding(path)
    elif suffix == ".dta":
        with path.open("rb") as file:
            declared = "utf-8" if dta_release(file.read(64)) >= 118 else ""
    if options.encoding:
        return (codec("encoding", options.encoding),), weight
    if reader.unicode:
        return ("utf-8",), weight
    if declared:
        try:
            return (codec("encoding", declared),), weight
        except InvalidInput:
            return _UNKNOWN, weight
    return (("utf-8", "cp1252") if suffix == ".dta" else _UNKNOWN), weight
