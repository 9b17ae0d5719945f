"""The answers of the bank: which payments were made and which failed.

Of a report in ISO 20022 (pain.002.001.10) only settled facts count: ACSC and ACCC, settled on the payer's or the
payee's account, are "paid"; RJCT and CANC, rejected or cancelled before execution, are "failed". Every other status,
those that only say "accepted" included, is pending. A payment that is called failed may be ordered again, so whatever
is doubtful is refused or left pending.
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
"""What became of a payment, for good."""

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
"""Where statuses stand, from the whole message down to one payment, and the names of what has it and of the status."""


def read_confirmations(
    path: str | os.PathLike[str], messages: Mapping[str, Collection[str]] | None = None,
    failed: Collection[str] = frozenset(),
) -> dict[str, Status]:
    """The status of payments, by reference; those that are pending are left out.

    The file is CSV in UTF-8 with the columns `reference` and `status`, which is paid or failed (others are not read, so
    that a status can be added to the table of a batch), or a report in pain.002.001.10.

    A report may also speak of a message as a whole. It then holds for all of the message's references that the report
    does not name one by one; who is named in a message that failed as a whole must have failed too. A message that was
    paid as a whole, although some of its payments had failed before, says too little of these.

    Args:
        path: the path of the file.
        messages: `Batch.message` -> the references in it, of whatever was sent to the bank.
        failed: references of which the bank has said before that they failed.

    Raises:
        InvalidInput: names the line or the reference: a status that is not known, one reference with contradicting
            statuses, a whole message that is not in `messages`, one that was paid although some of it had failed, a
            document type declaration, another message.
    """
    file = as_path("confirmations", path)
    return parse_confirmations(read_bytes("confirmations", file, _LARGEST), messages, failed, file)


def parse_confirmations(
    data: bytes, messages: Mapping[str, Collection[str]] | None = None, failed: Collection[str] = frozenset(),
    name: Path = Path("the answer"),
) -> dict[str, Status]:
    """The status of payments, by reference, from the bytes of such a file.

    Args:
        data: CSV or XML in UTF-8.
        messages: the same as in `read_confirmations`.
        failed: the same as in `read_confirmations`.
        name: the name of the file in errors.

    Raises:
        InvalidInput: as `read_confirmations`; or more bytes than a file may have.
    """
    with reading("confirmations", name):
        if len(data) > _LARGEST:
            raise InvalidInput("size", f"{len(data)} bytes", f"must be at most {_LARGEST}")
        text = decoded(data)
        return _from_report(text, messages or {}, set(failed)) if text.lstrip().startswith("<") else _from_table(text)


def _from_table(text: str) -> dict[str, Status]:
    r"""
    Example:
        >>> _from_table("reference,status\nA-1,paid\nA-2,failed\n")
        {'A-1': 'paid', 'A-2': 'failed'}
    """
    known: dict[str, Status] = {}
    for line, cells in rows(text, ("reference", "status"), others=True):
        try:
            reference = check_reference(cells["reference"])
        except InvalidInput as error:
            raise InvalidInput(f"line {line}", "reference: is not one of ours", error.limit) from None
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
            raise InvalidInput("message", f"{message!r} is {status} as a whole, and no such message was sent from here",
                               "look into the bank's own overview of that order")
        doubtful = failed.intersection(messages[message]).difference(named) if status == "paid" else ()
        if doubtful:
            raise InvalidInput("message", f"{message!r} is paid as a whole, and the bank said before that "
                               f"{len(doubtful)} of its payments failed",
                               "nothing was imported; ask for a report that names each payment")
        for reference in messages[message]:
            if reference not in named:
                whole[reference] = _joined(reference, (whole.get(reference), status))
            elif status == "failed" and named[reference] != "failed":
                raise _contradiction(reference)
    return {reference: status for reference, status in {**named, **whole}.items() if status is not None}


def _joined(reference: str, statuses: Iterable[Status | None]) -> Status | None:
    """The settled status among several of one payment, if any: pending is only earlier, paid and failed contradict."""
    settled = {status for status in statuses if status is not None}
    if len(settled) > 1:
        raise _contradiction(reference)
    return settled.pop() if settled else None


def _contradiction(reference: str) -> InvalidInput:
    return InvalidInput("reference", f"{reference!r} has two statuses that contradict each other",
                        "ask the bank which holds, and import that alone")


def _declared() -> InvalidInput:
    return InvalidInput("report", "has a document type declaration, which no bank's report has")


def _parse(text: str) -> _Report:
    """The statuses of a report, read without a document type: no entity is declared, expanded or fetched."""
    if "\0" in text:  # the parser would take it for UTF-16, whatever it is told, and see another text than we do
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
    """What the parser calls for each element. It keeps the statuses and nothing else, however large the file is."""

    def __init__(self) -> None:
        self.wholes: list[tuple[str, Status | None]] = []
        self.singles: list[tuple[str, Status | None]] = []
        self._path: list[str] = []
        self._open: list[dict[str, str]] = []  # blocks around the current element
        self._text: list[str] | None = None  # of the current element, where it matters

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        """A document type declaration begins: the search for one missed it."""
        raise _declared()

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if not self._path and tag != f"{{{NAMESPACE}}}Document":
            raise InvalidInput("report", "is no status report that is known here", f"must be a {NAMESPACE[-15:]}")
        if len(self._path) == _DEEPEST:
            raise InvalidInput("report", f"is nested deeper than {_DEEPEST} elements")
        outer = _BLOCKS.get(tuple(self._path), ())
        name = tag.removeprefix(f"{{{NAMESPACE}}}")  # names of other namespaces keep theirs, and match nothing
        self._path.append(name)
        if tuple(self._path) in _BLOCKS:
            self._open.append({})
        self._text = [] if name in outer else None

    def data(self, text: str) -> None:
        """Text, in pieces."""
        if self._text is not None:
            self._text.append(text)

    def end(self, tag: str) -> None:
        """An element ends."""
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
        """The document ends."""

    def _close_block(self, path: tuple[str, ...], found: dict[str, str]) -> None:
        of, code = (found.get(name, "") for name in _BLOCKS[path])
        if code and not _CODE.fullmatch(code):
            raise InvalidInput(_BLOCKS[path][1], "is no status code", "must be up to four capitals and digits")
        status = _FINAL.get(code)
        if path != _SINGLE:
            self.wholes.append((of, status))
        elif of or status is not None:
            self.singles.append((check_reference(of), status))
