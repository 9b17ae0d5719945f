"""Facts in the first bytes of files: the real format of a file, and the headers of statistical files."""

from __future__ import annotations

import contextlib
import re
import struct
from pathlib import Path
from typing import Any, NamedTuple

from confide.contract.errors import InvalidInput
from confide.contract.words import cause

__all__ = ["SAS_ENCODINGS", "SavHeader", "dta_release", "refuse_other_formats", "sas_encoding", "sav_header",
           "unreadable"]

_SAS, _CATALOG = (bytes(12) + bytes.fromhex(f"c2ea81{kind}b31411cfbd92080009c7318c181f1011") for kind in ("60", "63"))
_STATA = "save it again in Stata with saveold, or as format 118"
_MAGIC: tuple[tuple[bytes, int, str, str, tuple[str, ...]], ...] = (
    (b"PK\x05\x06", 0, "an empty zip archive", "save the table in the format that the suffix names", ()),
    (b"PK\x03\x04", 0, "a zip archive or an Excel workbook",
     "unpack it, or give a workbook the suffix .xlsx", (".xlsx", ".xlsm", ".xlsb", ".ods")),
    (b"\xd0\xcf\x11\xe0", 0, "an old Excel workbook, or a workbook with a password",
     "remove the password, or give an old workbook the suffix .xls", (".xls",)),
    (b"\x1f\x8b", 0, "compressed with gzip", "unpack it (gunzip)", ()),
    (b"PAR1", 0, "a Parquet file", "give it the suffix .parquet", (".parquet",)),
    (b"ARROW1", 0, "an Arrow file", "give it the suffix .arrow", (".arrow", ".feather")),
    (b"$FL2", 0, "an SPSS file", "give it the suffix .sav", (".sav", ".zsav")),
    (b"$FL3", 0, "a compressed SPSS file", "give it the suffix .zsav", (".sav", ".zsav")),
    (b"ENCRYPTEDSAV", 8, "an SPSS file with a password", "save it again in SPSS without a password", ()),
    (b"<stata_dta>", 0, "a Stata file", "give it the suffix .dta", (".dta",)),
    (_SAS, 0, "a SAS data set", "give it the suffix .sas7bdat", (".sas7bdat",)),
    (_CATALOG, 0, "a SAS catalog", 'name it as codebook = "..."', (".sas7bcat",)),
    (b"HEADER RECORD*******LIB", 0, "a SAS transport file", "give it the suffix .xpt", (".xpt",)),
    (b"**COMPRESSED**", 0, "a SAS file of PROC CPORT", "write a transport file with PROC COPY and the engine xport, or "
     "save the table as .sas7bdat", ()),
)
"""First bytes of formats, their position, the name of the format, advice, and the suffixes of the format."""

_OWN = {
    ".sav": ("SPSS", (b"$FL2", b"$FL3")), ".zsav": ("SPSS", (b"$FL2", b"$FL3")),
    ".dta": ("Stata", (b"<stata_dta>", *(bytes([release]) for release in range(104, 116)))),
    ".sas7bdat": ("SAS", (_SAS,)), ".sas7bcat": ("SAS catalog", (_CATALOG,)),
    ".xpt": ("SAS transport", (b"HEADER RECORD*******LIB",)),
    ".xlsx": ("Excel", (b"PK\x03\x04",)), ".xlsm": ("Excel", (b"PK\x03\x04",)), ".xlsb": ("Excel", (b"PK\x03\x04",)),
    ".xls": ("Excel", (b"\xd0\xcf\x11\xe0", b"\x09\x08")), ".ods": ("OpenDocument", (b"PK\x03\x04",)),
}
"""Mapping from suffix to the name of its format, and to the first bytes that a file of the format may have."""


def unreadable(path: Path, error: BaseException, remedy: str = "", *, field: str = "source") -> InvalidInput:
    """The error for a file that cannot be read. It leaves out the reader's own message, which may quote the contents of
    the file.

    Args:
        path: path of the file.
        error: the error of the system, or of a reader.
        remedy: the advice to the user; "" for none.
        field: the setting that names the file.
    """
    return InvalidInput(field, f"{path} cannot be read: {cause(error)}", remedy)


def refuse_other_formats(path: Path) -> None:
    """Refuse a file that begins like a file of another format than its suffix names.

    Raises:
        InvalidInput: the file has another format, a password, or a version that cannot be read. The message names it.
    """
    suffix = path.suffix.lower()
    try:
        with path.open("rb") as file:
            start = file.read(128)
    except OSError as error:
        raise unreadable(path, error) from None
    for magic, at, what, remedy, suffixes in _MAGIC:
        if start[at:].startswith(magic) and suffix not in suffixes:
            raise InvalidInput("source", f"{path.name} is {what}, not a {_called(suffix)}", remedy)
    if suffix not in _OWN:
        return
    what, starts = _OWN[suffix]
    if not start.startswith(starts):
        text = re.match(rb"\s*(?:\xef\xbb\xbf)?<(?:!doctype|html|\?xml|table)", start, re.IGNORECASE)
        raise InvalidInput("source", f"{path.name} is " + ("a page of HTML or XML" if text else "damaged or empty")
                           + f", not a {_called(suffix)}", "save the table again in the program that made it")
    release = dta_release(start) if suffix == ".dta" else 0
    if release > 119:
        raise InvalidInput("source", f"{path.name} is a Stata file of format {release}, which is not supported", _STATA)


def _called(suffix: str) -> str:
    """The kind of file that a suffix names."""
    if suffix in _OWN:
        return f"{_OWN[suffix][0]} file"
    return {".csv": "CSV file", ".parquet": "Parquet file", ".arrow": "Arrow file", ".feather": "Arrow file",
            ".por": "portable SPSS file"}.get(suffix, "text file")


def dta_release(start: bytes) -> int:
    """The number of the format of a Stata file, from the first bytes of the file: 104 to 119 are supported."""
    found = re.match(rb"<stata_dta><header><release>(\d+)</release>", start)
    return int(found[1]) if found else start[0] if start else 0


# ---- SPSS


class SavHeader(NamedTuple):
    """The facts of the dictionary of an SPSS file that readers do not show.

    Args:
        encoding: name of the encoding of the texts; "" if the file does not say it.
        weight: name of the weight variable as bytes of the encoding; empty for none.
    """

    encoding: str
    weight: bytes


_CODE_PAGES = {65001: "utf-8", 20127: "ascii", **{code: f"iso8859-{code - 28590}" for code in range(28591, 28606)}}
_MOST = 1 << 26  # bytes of a dictionary


def sav_header(path: Path) -> SavHeader:
    """Read the dictionary of an SPSS file (.sav, .zsav). A damaged dictionary gives the facts up to the damage."""
    with path.open("rb") as file:
        start = file.read(176)
        order = "<" if struct.unpack_from("<i", start.ljust(176, b"\0"), 64)[0] in (2, 3) else ">"
        if len(start) < 176:
            return SavHeader("", b"")
        (weight,) = struct.unpack_from(order + "i", start, 76)
        names: dict[int, bytes] = {}
        extensions: dict[int, bytes] = {}
        with contextlib.suppress(struct.error, OverflowError):
            _dictionary(_Words(file, order), names, extensions)
    encoding = extensions.get(20, b"").decode("ascii", "replace").strip()
    code = struct.unpack_from(order + "i", extensions[3], 28)[0] if len(extensions.get(3, b"")) >= 32 else 0
    if not encoding and code not in (0, 2, 3):  # which mean: 7 or 8 bits of some encoding
        encoding = _CODE_PAGES.get(code, f"cp{code}" if 400 <= code <= 1361 else "")
    name = names.get(weight, b"") if weight > 0 else b""
    longer = dict(pair.split(b"=", 1) for pair in extensions.get(13, b"").split(b"\t") if b"=" in pair)
    return SavHeader(encoding, longer.get(name, name))


class _Words:
    """Reader of the numbers and bytes of a dictionary."""

    def __init__(self, file: Any, order: str) -> None:
        self._file, self._order, self._left = file, order, _MOST

    def numbers(self, many: int) -> tuple[int, ...]:
        return struct.unpack(f"{self._order}{many}i", self.bytes(4 * many))

    def bytes(self, many: int) -> bytes:
        self._left -= many
        if many < 0 or self._left < 0:
            raise struct.error
        found: bytes = self._file.read(many)
        if len(found) < many:
            raise struct.error
        return found


def _dictionary(words: _Words, names: dict[int, bytes], extensions: dict[int, bytes]) -> None:
    """Read the records up to the end of the dictionary: the short names by their place, and the extension records."""
    place = 0
    while True:
        (kind,) = words.numbers(1)
        if kind == 2:
            place += 1
            width, labelled, missing, _, _ = words.numbers(5)
            name = words.bytes(8).rstrip()
            if width >= 0:
                names[place] = name
            if labelled:
                words.bytes(-(-words.numbers(1)[0] // 4) * 4)
            words.bytes(8 * abs(missing))
        elif kind == 3:
            for _ in range(words.numbers(1)[0]):
                words.bytes(8)
                words.bytes((words.bytes(1)[0] + 8) // 8 * 8 - 1)
        elif kind == 4:
            words.bytes(4 * words.numbers(1)[0])
        elif kind == 6:
            words.bytes(80 * words.numbers(1)[0])
        elif kind == 7:
            part, size, count = words.numbers(3)
            data = words.bytes(size * count)
            extensions[part] = data
        else:
            return


# ---- SAS

SAS_ENCODINGS: dict[int, str] = {
    20: "utf-8", 28: "ascii", 29: "latin-1", 39: "iso8859-11", 40: "iso8859-15", 41: "cp437", 42: "cp850", 43: "cp852",
    44: "cp857", 45: "cp858", 46: "cp862", 47: "cp864", 48: "cp865", 49: "cp866", 50: "cp869", 51: "cp874",
    55: "cp720", 56: "cp737", 57: "cp775", 58: "cp860", 59: "cp863", 69: "mac_roman", 70: "mac_arabic",
    72: "mac_greek", 75: "mac_turkish", 76: "mac_cyrillic", 118: "cp950", 123: "big5", 125: "gb18030", 126: "gbk",
    134: "euc_jp", 136: "cp949", 138: "cp932", 140: "euc_kr", 141: "cp949", 142: "cp949", 163: "mac_iceland",
    205: "gb18030", 227: "iso8859-14", 242: "iso8859-13", 245: "mac_croatian", 246: "mac_cyrillic",
    247: "mac_romanian", 248: "shift_jisx0213", **{code: f"iso8859-{code - 28}" for code in range(30, 38)},
    **{code: f"cp{1250 + code - 60}" for code in range(60, 69)},
}
"""Mapping from the code in the header of a SAS file to the name of the encoding."""


def sas_encoding(path: Path) -> str:
    """Name of the encoding that a SAS data set declares; "" if it declares none that is known."""
    with path.open("rb") as file:
        start = file.read(71)
    return SAS_ENCODINGS.get(start[70], "") if len(start) > 70 else ""
