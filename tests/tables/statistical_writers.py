"""Writers of SPSS and SAS transport files, from the published descriptions of the formats and independent of readers.

The SPSS file follows the developers' guide of GNU PSPP (uncompressed), the transport file follows SAS's technical note
TS-140.
"""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any, NamedTuple

SYSMIS = -1.7976931348623157e308
FORMATS = {"A": 1, "AHEX": 2, "COMMA": 3, "DOLLAR": 4, "F": 5, "N": 16, "E": 17, "DATE": 20, "TIME": 21,
           "DATETIME": 22, "ADATE": 23, "JDATE": 24, "DTIME": 25, "WKDAY": 26, "MONTH": 27, "MOYR": 28, "QYR": 29,
           "WKYR": 30, "PCT": 31, "DOT": 32, "EDATE": 38, "SDATE": 39}


class Variable(NamedTuple):
    """A variable of an SPSS file: a width of 0 for numbers, and missing codes as a list, or as a tuple (low, high[,
    one more code]).
    """

    name: str
    width: int = 0
    format: str = "F"
    label: str = ""
    missing: Any = ()


def write_sav(
    path: Path, variables: list[Variable], rows: list[tuple[Any, ...]], *, codec: str = "ascii",
    charcode: int | None = None, encoding: str = "", labels: tuple[tuple[dict[Any, str], list[int]], ...] = (),
    count: int | None = None, long_names: tuple[tuple[str, str], ...] = (), weight: int = 0,
) -> Path:
    """Labels are pairs of a mapping and the numbers of the variables, from 1."""
    places, place, body = [], 1, b""

    def code(value: Any) -> bytes:
        return value.encode(codec).ljust(8)[:8] if isinstance(value, str) else struct.pack("<d", value)

    for each in variables:
        places.append(place)
        parts = max(1, -(-each.width // 8))
        kind = FORMATS[each.format] << 16 | (each.width or 8) << 8
        many = -len(each.missing) if isinstance(each.missing, tuple) else len(each.missing)
        label = each.label.encode(codec)
        body += struct.pack("<6i", 2, each.width, bool(label), many, kind, kind) + each.name.encode(codec).ljust(8)[:8]
        if label:
            body += struct.pack("<i", len(label)) + label.ljust(-(-len(label) // 4) * 4)
        body += b"".join(map(code, each.missing))
        body += (struct.pack("<6i", 2, -1, 0, 0, 0, 0) + b" " * 8) * (parts - 1)
        place += parts
    out = b"$FL2" + b"@(#) SPSS DATA FILE by hand".ljust(60)
    out += struct.pack("<3i", 2, place - 1, 0)
    out += struct.pack("<2i", places[weight - 1] if weight else 0, len(rows) if count is None else count)
    out += struct.pack("<d", 100.0) + b"01 Jan 9912:00:00" + b" " * 64 + bytes(3) + body
    for mapping, numbers in labels:
        out += struct.pack("<2i", 3, len(mapping))
        for value, text in mapping.items():
            raw = text.encode(codec)
            out += code(value) + bytes([len(raw)]) + raw.ljust((len(raw) + 8) // 8 * 8 - 1)
        out += struct.pack(f"<2i{len(numbers)}i", 4, len(numbers), *(places[number - 1] for number in numbers))
    if charcode is not None:
        out += struct.pack("<4i", 7, 3, 4, 8) + struct.pack("<8i", 15, 0, 0, -1, 1, 1, 2, charcode)
    if long_names:
        raw = "\t".join(f"{short}={name}" for short, name in long_names).encode(codec)
        out += struct.pack("<4i", 7, 13, 1, len(raw)) + raw
    if encoding:
        out += struct.pack("<4i", 7, 20, 1, len(encoding)) + encoding.encode()
    out += struct.pack("<2i", 999, 0)
    for row in rows:
        for each, value in zip(variables, row, strict=True):
            if each.width:
                raw = value if isinstance(value, bytes) else value.encode(codec)
                out += raw[: each.width].ljust(-(-each.width // 8) * 8)
            else:
                out += struct.pack("<d", SYSMIS if value is None else value)
    path.write_bytes(out)
    return path


def ibm(value: float | str | None, width: int = 8) -> bytes:
    """A number as a float of an IBM mainframe; a letter for a special missing value."""
    if value is None or isinstance(value, str):
        return (value or ".").encode() + bytes(width - 1)
    if value == 0:
        return bytes(width)
    fraction, exponent = math.frexp(abs(value))
    sixteens = -(-exponent // 4)
    whole = int(fraction * 2.0 ** (exponent - 4 * sixteens) * 2**56)
    return (bytes([(0x80 if value < 0 else 0) | (sixteens + 64)]) + whole.to_bytes(7, "big"))[:width]


class Field(NamedTuple):
    """A variable of a transport file."""

    name: str
    width: int = 8
    text: bool = False
    format: str = ""
    digits: int = 0
    label: str = ""


def write_xpt(
    path: Path, fields: list[Field], rows: list[tuple[Any, ...]], *, codec: str = "ascii", more: bytes = b"",
) -> Path:
    """The bytes `more` follow the data set, as a second data set would."""

    def card(text: str, size: int = 80) -> bytes:
        return text.encode().ljust(size)

    stamp = "01JAN24:00:00:00"
    head = "HEADER RECORD*******"
    out = card(f"{head}LIBRARY HEADER RECORD!!!!!!!000000000000000000000000000000")
    out += card("SAS     SAS     SASLIB  9.4     Linux", 64) + card(stamp, 16) + card(stamp)
    member = card(f"{head}MEMBER  HEADER RECORD!!!!!!!000000000000000001600000000140")
    member += card(f"{head}DSCRPTR HEADER RECORD!!!!!!!000000000000000000000000000000")
    member += card("SAS     DATA    SASDATA 9.4     Linux", 64) + card(stamp, 16) + card(stamp)
    member += card(f"{head}NAMESTR HEADER RECORD!!!!!!!000000{len(fields):04d}00000000000000000000")
    names, place = b"", 0
    for number, each in enumerate(fields, 1):
        names += struct.pack(">4h", 2 if each.text else 1, 0, each.width, number)
        names += each.name.encode(codec).ljust(8)[:8] + each.label.encode(codec).ljust(40)[:40]
        names += each.format.encode().ljust(8) + struct.pack(">3h", each.digits, 0, 0) + bytes(2) + b" " * 8
        names += struct.pack(">2hl", 0, 0, place) + bytes(52)
        place += each.width
    member += names.ljust(-(-len(names) // 80) * 80)
    member += card(f"{head}OBS     HEADER RECORD!!!!!!!000000000000000000000000000000")
    cells = b"".join(value.encode(codec).ljust(each.width)[: each.width] if each.text else ibm(value, each.width)
                     for row in rows for each, value in zip(fields, row, strict=True))
    path.write_bytes(out + member + cells.ljust(-(-len(cells) // 80) * 80) + more)
    return path
