"""A batch of payments as an order to a bank, in the format ISO 20022 pain.001.001.09 (customer credit transfer
initiation).
"""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from confide.campaign.payouts._letters import check_line
from confide.campaign.payouts.payees import Payee
from confide.campaign.payouts.payment import Batch, Payer, Payment
from confide.contract.errors import InvalidInput

__all__ = ["NAMESPACE", "as_pain001", "digits"]

_CODE = re.compile(r"[A-Z]{3}")

_EXCEPTIONS = {
    **dict.fromkeys(("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV",
                     "XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
    **dict.fromkeys(("CLF", "UYW"), 4),
}
"""Number of digits behind the decimal point of each currency that does not have two."""

_NO_MONEY = {"XAD", "XAG", "XAU", "XBA", "XBB", "XBC", "XBD", "XDR", "XPD", "XPT", "XSU", "XTS", "XUA", "XXX"}
"""Codes of ISO 4217 for metals, units of account and tests. Metals, units of account and tests have no smallest coin,
and no bank pays in them.
"""


def digits(currency: str) -> int:
    """The number of digits behind the decimal point of a currency that banks pay in.

    Args:
        currency: a code of ISO 4217. Only the code's form is checked; the bank decides whether the code is in use.

    Raises:
        InvalidInput: the text is not the code of a currency that banks pay in.

    Example:
        >>> digits("EUR"), digits("JPY"), digits("KWD")
        (2, 0, 3)
    """
    if not _CODE.fullmatch(currency) or currency in _NO_MONEY:
        raise InvalidInput("currency", f"{currency!r} is not the code of a currency that a bank pays in",
                           "must be a code of ISO 4217, such as EUR")
    return _EXCEPTIONS.get(currency, 2)


NAMESPACE = "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"

_DECLARATION = b'<?xml version="1.0" encoding="UTF-8"?>\n'
_LONGEST_TEXT = 140
_MOST_COINS = 10**18 - 1
"""Largest sum of a batch in smallest coins: amounts and sums have at most 18 digits, including digits behind the
decimal point.
"""


def as_pain001(batch: Batch, payer: Payer, *, execute: date | None = None, text: str | None = None) -> bytes:
    """The XML of a batch for a bank: one order with one transfer for each payment, in the order of the batch.

    The same arguments give the same bytes. Both the message and the only order in it have the name `batch.message`.

    Args:
        batch: payments with payees, in a currency that banks pay in. The smallest unit of the currency must be the
            smallest unit of ISO 4217, such as the cent for EUR.
        payer: the name and the account of the payer.
        execute: the day on which the bank should pay; default the day on which the batch was written, in UTC.
        text: the text on the payees' bank statements, which the banks of the payees read too; default the campaign's
            title. The text is cut to 140 characters.

    Raises:
        InvalidInput: the payments have no payees, the currency has another smallest unit, the sum has more than 18
            digits, the day is before the batch was written, or the text has characters that are not Latin.

    Example:
        >>> from confide.campaign.payouts.payment import Payment
        >>> ann = Payee("ann", "Ann Smith", "GB82WEST12345698765432")
        >>> batch = Batch("Sleep", 1, "EUR", 100, "2026-03-01T12:00:00Z", (Payment("A-1", ann, "ann", 1250),))
        >>> order = as_pain001(batch, Payer("Institute", "DE89370400440532013000"))
        >>> [line.strip() for line in order.decode().splitlines() if "A-1" in line or "InstdAmt" in line]
        ['<EndToEndId>A-1</EndToEndId>', '<InstdAmt Ccy="EUR">12.50</InstdAmt>']
    """
    _check_money(batch)
    if not batch.named:
        raise InvalidInput("payees", "are missing", "a bank needs the name and the IBAN of everybody who is paid")
    day = _day(batch, execute)
    words = (batch.campaign if text is None else text)[:_LONGEST_TEXT].strip()
    check_line("text", "the text of the statement", words, _LONGEST_TEXT)

    root = Element("Document", {"xmlns": NAMESPACE})
    initiation = SubElement(root, "CstmrCdtTrfInitn")
    header = SubElement(initiation, "GrpHdr")
    _add(header, "MsgId", batch.message)
    _add(header, "CreDtTm", batch.written)
    _add_sums(header, batch)
    _add(header, "InitgPty/Nm", payer.name)

    order = SubElement(initiation, "PmtInf")
    _add(order, "PmtInfId", batch.message)
    _add(order, "PmtMtd", "TRF")
    _add_sums(order, batch)
    _add(order, "ReqdExctnDt/Dt", day)
    _add(order, "Dbtr/Nm", payer.name)
    _add(order, "DbtrAcct/Id/IBAN", payer.iban)
    if payer.bic is None:
        _add(order, "DbtrAgt/FinInstnId/Othr/Id", "NOTPROVIDED")  # the element is mandatory; SEPA's word for none
    else:
        _add(order, "DbtrAgt/FinInstnId/BICFI", payer.bic)
    for payment in batch.payments:
        if payment.payee is not None:  # each has one: checked above
            _add_transfer(order, batch, payment, payment.payee, words)

    indent(root)
    content: bytes = tostring(root, encoding="utf-8")
    return _DECLARATION + content + b"\n"


def _check_money(batch: Batch) -> None:
    units = 10 ** digits(batch.currency)
    if batch.minor_units != units:
        raise InvalidInput("minor_units", f"{batch.minor_units} is not the number of ISO 4217 for {batch.currency}",
                           f"must be {units} for a bank; the table of payments accepts any number")
    if batch.coins > _MOST_COINS:
        raise InvalidInput("payments", f"sum to more than {batch.decimal(_MOST_COINS):f} {batch.currency}",
                           "amounts have at most 18 digits: split the batch")


def _day(batch: Batch, execute: date | None) -> str:
    written = batch.written[:10]
    if execute is None:
        return written
    if not isinstance(execute, date) or isinstance(execute, datetime):
        raise InvalidInput("execute", f"{execute!r} is not a day", "must be a datetime.date")
    if execute.isoformat() < written:
        raise InvalidInput("execute", f"{execute} lies before {written}, when the batch was written")
    return execute.isoformat()


def _add(parent: Element, path: str, text: str, **attributes: str) -> None:
    """Append a chain of nested elements; the innermost element gets the text and the attributes."""
    for name in path.split("/"):
        parent = SubElement(parent, name)
    parent.text = text
    parent.attrib.update(attributes)


def _add_sums(parent: Element, batch: Batch) -> None:
    _add(parent, "NbOfTxs", str(len(batch.payments)))
    _add(parent, "CtrlSum", _plain(batch.total))


def _add_transfer(order: Element, batch: Batch, payment: Payment, payee: Payee, words: str) -> None:
    transfer = SubElement(order, "CdtTrfTxInf")
    _add(transfer, "PmtId/EndToEndId", payment.reference)
    _add(transfer, "Amt/InstdAmt", _plain(batch.decimal(payment.amount)), Ccy=batch.currency)
    if payee.bic is not None:
        _add(transfer, "CdtrAgt/FinInstnId/BICFI", payee.bic)
    _add(transfer, "Cdtr/Nm", payee.name)
    _add(transfer, "CdtrAcct/Id/IBAN", payee.iban)
    _add(transfer, "RmtInf/Ustrd", words)


def _plain(amount: Decimal) -> str:
    return f"{amount:f}"  # never with an exponent
