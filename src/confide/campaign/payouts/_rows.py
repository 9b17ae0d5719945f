"""A strict reader of small CSV files that a person or a bank wrote. An error names the line, and never repeats the
content of a cell.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from confide.contract.errors import InvalidInput
from confide.contract.words import counted

__all__ = ["decoded", "rows"]


def decoded(data: bytes) -> str:
    """The text of a file, without the byte order mark that Excel writes.

    Raises:
        InvalidInput: the file is not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("text", "is not UTF-8", "save the file as UTF-8") from None


def rows(
    text: str, required: tuple[str, ...], optional: tuple[str, ...] = (), *, others: bool = False
) -> Iterator[tuple[int, dict[str, str]]]:
    r"""The rows below the header, each with the number of its first line; empty lines are skipped.

    Args:
        text: the text of the file. The first line names the columns, in any order.
        required: the names of columns that must exist.
        optional: the names of columns that may exist.
        others: whether further columns may exist. Further columns are ignored.

    Raises:
        InvalidInput: the header or a line is malformed; the message names the column or the line. The message repeats
            no cell, since a cell in a wrong place could be an IBAN.

    Example:
        >>> list(rows("reference,status\nA-1,paid\n", ("reference", "status")))
        [(2, {'reference': 'A-1', 'status': 'paid'})]
    """
    records = _records(text)
    _, header = next(records, (1, []))
    names = _columns(header, required, optional, others)
    for line, cells in records:
        if len(cells) != len(header):
            raise InvalidInput(f"line {line}", f"has {counted(len(cells), 'cell')}",
                               f"must have {len(header)}, as the header")
        yield line, {name: cells[place] for name, place in names.items()}


def _columns(
    header: list[str], required: tuple[str, ...], optional: tuple[str, ...], others: bool
) -> dict[str, int]:
    """The position of each known column."""
    known = ", ".join(required) + (f" and optionally {', '.join(optional)}" if optional else "")
    missing = [name for name in required if name not in header]
    if missing:
        raise InvalidInput("header", f"has no column {', '.join(missing)}",
                           f"the first line must name the columns {known}, with commas between them")
    names = {}
    for place, name in enumerate(header):
        if name in names:
            raise InvalidInput("header", f"has the column {name} twice")
        if name in required + optional:
            names[name] = place
        elif not others:
            raise InvalidInput("header", f"has an unknown column {place + 1}", f"the columns are {known}")
    return names


def _records(text: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    while True:
        line = reader.line_num + 1  # a cell with line breaks ends further down
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InvalidInput(f"line {line}", f"is malformed ({error})", "must be comma-separated values") from None
        if cells:
            yield line, cells
