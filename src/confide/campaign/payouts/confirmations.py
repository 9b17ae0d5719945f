"""The answers of the bank to exported payments: "paid" or "failed" for each payment.

In a report in ISO 20022 (pain.002.001.10), only final statuses count. ACSC and ACCC, settled on the payer's or the
payee's account, are "paid". RJCT and CANC, rejected or cancelled before execution, are "failed". Every other status is
pending, even a status that means "accepted". A failed payment may be ordered again, so a doubtful status is refused or
left pending.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Literal
from xml.etree.ElementTree import ParseError, XMLParser

from confide.campaign.payouts._letters import check_reference
from confide.campaign.payouts._rows import decoded, rows
from confide.contract.errors import InvalidInput
from confide.contract.files import as_path, read_bytes, reading

__all__ = ["NAMESPACE", "Status", "parse_confirmations", "read_confirmations"]

NAMESPACE = "urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"

Status = Literal["paid", "failed"]
"""The final status of a payment."""

_LARGEST = 1 << 26  # bytes of a file: reports on some hundred thousand payments
_DEEPEST = 64  # levels of elements; the schema has about a dozen

_FINAL: dict[str, Status] = {"ACSC": "paid", "ACCC": "paid", "RJCT": "failed", "CANC": "failed"}
_WORDS: dict[str, Status] = {"paid": "paid", "failed": "failed"}
_CODE = re.compile(r"[A-Z0-9]{1,4}")

_REPORT = ("Document", "CstmrPmtStsRpt")
_ORDER = (*_REPORT, "OrgnlPmtInfAndSts")
_SINGLE = (*_ORDER, "TxInfAndSts")
_BLOCKS = {
    (*_REPORT, "OrgnlGrpInfAndSts"): ("OrgnlMsgId", "GrpSts"),
    _ORDER: ("OrgnlPmtInfId", "PmtInfSts"),
    _SINGLE: ("OrgnlEndToEndId", "TxSts"),
}
"""Mapping from the path of an element with a status to the names of two elements in it: the reference, and the status.
The levels are the whole message, one order, and one payment.
"""


def read_confirmations(
    path: str | os.PathLike[str], messages: Mapping[str, Collection[str]] | None = None,
    failed: Collection[str] = frozenset(),
) -> dict[str, Status]:
    """Mapping from the reference of a payment to its final status. Pending payments are left out.

    The file is CSV in UTF-8 with the columns `reference` and `status`, or a report in pain.002.001.10. In CSV, a status
    is `paid` or `failed`. Further columns of a CSV file are ignored, so that a status can be added to the table of a
    batch.

    A report may also state the status of a whole message, which is the order for one batch. This status holds for all
    payments of the message that the report does not name one by one. If a message failed as a whole, every payment that
    the report names must have failed too. If a message is paid as a whole, the report must name all payments of the
    message that failed according to an earlier answer.

    Args:
        path: the path of the file.
        messages: mapping from the name of a message (`Batch.message`) to the references in the batch, for all batches
            that were exported.
        failed: the references of payments that failed according to an earlier answer of the bank.

    Raises:
        InvalidInput: a status is unknown; a reference has two contradicting statuses; a whole message is not in
            `messages`, or is paid although some of its payments had failed and are not named; or the file has a
            document type declaration or is no status report. The error names the line or the reference.
    """
    file = as_path("confirmations", path)
    return parse_confirmations(read_bytes("confirmations", file, _LARGEST), messages, failed, file)


def parse_confirmations(
    data: bytes, messages: Mapping[str, Collection[str]] | None = None, failed: Collection[str] = frozenset(),
    name: Path = Path("the answer"),
) -> dict[str, Status]:
    """Mapping from the reference of a payment to its final status, from the bytes of a file as in `read_confirmations`.

    Args:
        data: the bytes of a CSV or XML file in UTF-8.
        messages: mapping from the name of a message (`Batch.message`) to the references in the batch, for all batches
            that were exported.
        failed: the references of payments that failed according to an earlier answer of the bank.
        name: the name of the file, for error messages.

    Raises:
        InvalidInput: for the same reasons as in `read_confirmations`, or the file is too large.
    """
    with reading("confirmations", name):
        if len(data) > _LARGEST:
            raise InvalidInput("size", f"{len(data)} bytes", f"must be at most {_LARGEST}")
        text = decoded(data)
        return _from_report(text, messages or {}, set(failed)) if text.lstrip().startswith("<") else _from_table(text)


def _from_table(text: str) -> dict[str, Status]:
    r"""Example:
    >>> _from_table("reference,status\nA-1,paid\nA-2,failed\n")
    {'A-1': 'paid', 'A-2': 'failed'}
    """
    known: dict[str, Status] = {}
    for line, cells in rows(text, ("reference", "status"), others=True):
        try:
            reference = check_reference(cells["reference"])
        except InvalidInput as error:
            raise InvalidInput(f"line {line}", "reference: does not have the form of the references of confide",
                               error.limit) from None
        status = _WORDS.get(cells["status"])
        if status is None:
            raise InvalidInput(f"line {line}", "status: is not known", "must be paid or failed")
        if known.setdefault(reference, status) != status:
            raise _contradiction(reference)
    return known


def _from_report(text: str, messages: Mapping[str, Collection[str]], failed: set[str]) -> dict[str, Status]:
    report = _parse(text)
    named: dict[str, Status | None] = {}
    for reference, status in report.singles:
        named[reference] = _joined(reference, (named.get(reference), status))
    whole: dict[str, Status | None] = {}
    for message, status in report.wholes:
        if status is None:
            continue
        if message not in messages:
            raise InvalidInput("message", f"{message!r} is {status} as a whole, but no such message was sent from here",
                               "look at the bank's own overview of this order")
        doubtful = failed.intersection(messages[message]).difference(named) if status == "paid" else ()
        if doubtful:
            raise InvalidInput("message", f"{message!r} is paid as a whole, but the bank reported before that "
                               f"{len(doubtful)} of its payments failed",
                               "nothing was imported; ask for a report that names each payment")
        for reference in messages[message]:
            if reference not in named:
                whole[reference] = _joined(reference, (whole.get(reference), status))
            elif status == "failed" and named[reference] != "failed":
                raise _contradiction(reference)
    return {reference: status for reference, status in {**named, **whole}.items() if status is not None}


def _joined(reference: str, statuses: Iterable[Status | None]) -> Status | None:
    """The final status among several statuses of one payment; None where all are pending. The statuses "paid" and
    "failed" for one payment contradict each other, which is an error.
    """
    settled = {status for status in statuses if status is not None}
    if len(settled) > 1:
        raise _contradiction(reference)
    return settled.pop() if settled else None


def _contradiction(reference: str) -> InvalidInput:
    return InvalidInput("reference", f"{reference!r} has two statuses that contradict each other",
                        "ask the bank for the right status, and import only this status")


def _declared() -> InvalidInput:
    return InvalidInput("report", "has a document type declaration, which no bank's report has")


def _parse(text: str) -> _Report:
    """The statuses of a report. The parser refuses a document type declaration, and so expands or fetches no entity."""
    if "\0" in text:  # the parser would take it for UTF-16, whatever it is given, and see another text than we do
        raise InvalidInput("report", "is not UTF-8", "save the file as UTF-8")
    if "<!DOCTYPE" in text:
        raise _declared()
    report = _Report()
    # Always read as UTF-8, as the text that was just searched, whatever encoding the file claims.
    parser = XMLParser(target=report, encoding="utf-8")  # noqa: S314 - no declarations, bounded size and depth
    try:
        parser.feed(text)
        parser.close()
    except ParseError as error:
        raise InvalidInput(f"line {error.position[0]}", "is not well-formed XML") from None
    return report


class _Report:
    """Target of the XML parser: it keeps the statuses and nothing else, however large the file is."""

    def __init__(self) -> None:
        self.wholes: list[tuple[str, Status | None]] = []
        self.singles: list[tuple[str, Status | None]] = []
        self._path: list[str] = []
        self._open: list[dict[str, str]] = []  # blocks around the current element
        self._text: list[str] | None = None  # of the current element, where it matters

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        """Refuse a document type declaration that the search before parsing has missed."""
        raise _declared()

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Note the beginning of an element."""
        if not self._path and tag != f"{{{NAMESPACE}}}Document":
            raise InvalidInput("report", "is not a status report in a known format", f"must be a {NAMESPACE[-15:]}")
        if len(self._path) == _DEEPEST:
            raise InvalidInput("report", f"is nested deeper than {_DEEPEST} elements")
        outer = _BLOCKS.get(tuple(self._path), ())
        name = tag.removeprefix(f"{{{NAMESPACE}}}")  # names of other namespaces keep theirs, and match nothing
        self._path.append(name)
        if tuple(self._path) in _BLOCKS:
            self._open.append({})
        self._text = [] if name in outer else None

    def data(self, text: str) -> None:
        """Note a piece of text."""
        if self._text is not None:
            self._text.append(text)

    def end(self, tag: str) -> None:
        """Note the end of an element."""
        path = tuple(self._path)
        name = self._path.pop()
        if self._text is not None:
            if name in self._open[-1]:
                raise InvalidInput("report", f"has {name} twice in one place")
            self._open[-1][name] = "".join(self._text).strip()
            self._text = None
        if path in _BLOCKS:
            self._close_block(path, self._open.pop())

    def close(self) -> None:
        """Note the end of the document."""

    def _close_block(self, path: tuple[str, ...], found: dict[str, str]) -> None:
        of, code = (found.get(name, "") for name in _BLOCKS[path])
        if code and not _CODE.fullmatch(code):
            raise InvalidInput(_BLOCKS[path][1], "this element holds no valid status code",
                               "must hold up to four capitals and digits")
        status = _FINAL.get(code)
        if path != _SINGLE:
            self.wholes.append((of, status))
        elif of or status is not None:
            self.singles.append((check_reference(of), status))
