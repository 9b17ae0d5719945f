"""The part of the schema of pain.001.001.09 that an order of ours could use, written down by hand, and its checker.

Elements stand in the schema's order, those included that we do not write, so that a misplaced one is seen. `...` is
content that is not described: an order that uses it is refused by the checker.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any
from xml.etree.ElementTree import Element, fromstring

NAMESPACE = "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"

# Facets: simple types by name.
_PATTERNS = {
    "Max35Text": r".{1,35}",
    "Max70Text": r".{1,70}",  # SEPA's limit of ISO's Max140Text for names
    "Max140Text": r".{1,140}",
    "Max15NumericText": r"[0-9]{1,15}",
    "ISODateTime": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?",
    "ISODate": r"\d{4}-\d\d-\d\d",
    "IBAN2007Identifier": r"[A-Z]{2}[0-9]{2}[a-zA-Z0-9]{1,30}",
    "BICFIDec2014Identifier": r"[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?",
    "PaymentMethod3Code": r"CHK|TRF|TRA",
    "DecimalNumber": r"[+-]?[0-9]*(\.[0-9]*)?",
    "ActiveOrHistoricCurrencyAndAmount": r"[0-9]*(\.[0-9]*)?",
}
_DIGITS = {"DecimalNumber": (18, 17), "ActiveOrHistoricCurrencyAndAmount": (18, 5)}

# A complex type is a list of (name, least, most, type); ("choice", ...) has exactly one of its elements.
_AGENT = [("FinInstnId", 1, 1, [("BICFI", 0, 1, "BICFIDec2014Identifier"), ("ClrSysMmbId", 0, 1, ...),
                                ("LEI", 0, 1, ...), ("Nm", 0, 1, "Max140Text"), ("PstlAdr", 0, 1, ...),
                                ("Othr", 0, 1, [("Id", 1, 1, "Max35Text"), ("SchmeNm", 0, 1, ...),
                                                ("Issr", 0, 1, "Max35Text")])]),
          ("BrnchId", 0, 1, ...)]
_ACCOUNT = [("Id", 1, 1, ("choice", [("IBAN", 1, 1, "IBAN2007Identifier"), ("Othr", 1, 1, ...)])), ("Tp", 0, 1, ...),
            ("Ccy", 0, 1, ...), ("Nm", 0, 1, ...), ("Prxy", 0, 1, ...)]
_PARTY = [("Nm", 0, 1, "Max70Text"), ("PstlAdr", 0, 1, ...), ("Id", 0, 1, ...), ("CtryOfRes", 0, 1, ...),
          ("CtctDtls", 0, 1, ...)]
_TRANSFER = [
    ("PmtId", 1, 1, [("InstrId", 0, 1, "Max35Text"), ("EndToEndId", 1, 1, "Max35Text"), ("UETR", 0, 1, ...)]),
    ("PmtTpInf", 0, 1, ...),
    ("Amt", 1, 1, ("choice", [("InstdAmt", 1, 1, "ActiveOrHistoricCurrencyAndAmount"), ("EqvtAmt", 1, 1, ...)])),
    ("XchgRateInf", 0, 1, ...), ("ChrgBr", 0, 1, ...), ("ChqInstr", 0, 1, ...), ("UltmtDbtr", 0, 1, ...),
    ("IntrmyAgt1", 0, 1, ...), ("IntrmyAgt1Acct", 0, 1, ...), ("IntrmyAgt2", 0, 1, ...), ("IntrmyAgt2Acct", 0, 1, ...),
    ("IntrmyAgt3", 0, 1, ...), ("IntrmyAgt3Acct", 0, 1, ...), ("CdtrAgt", 0, 1, _AGENT), ("CdtrAgtAcct", 0, 1, ...),
    ("Cdtr", 0, 1, _PARTY), ("CdtrAcct", 0, 1, _ACCOUNT), ("UltmtCdtr", 0, 1, ...), ("InstrForCdtrAgt", 0, 99, ...),
    ("InstrForDbtrAgt", 0, 1, ...), ("Purp", 0, 1, ...), ("RgltryRptg", 0, 10, ...), ("Tax", 0, 1, ...),
    ("RltdRmtInf", 0, 10, ...),
    ("RmtInf", 0, 1, [("Ustrd", 0, 1, "Max140Text"), ("Strd", 0, 99, ...)]),  # SEPA: at most one
    ("SplmtryData", 0, 99, ...),
]
_ORDER = [
    ("PmtInfId", 1, 1, "Max35Text"), ("PmtMtd", 1, 1, "PaymentMethod3Code"), ("BtchBookg", 0, 1, ...),
    ("NbOfTxs", 0, 1, "Max15NumericText"), ("CtrlSum", 0, 1, "DecimalNumber"), ("PmtTpInf", 0, 1, ...),
    ("ReqdExctnDt", 1, 1, ("choice", [("Dt", 1, 1, "ISODate"), ("DtTm", 1, 1, "ISODateTime")])),
    ("PoolgAdjstmntDt", 0, 1, ...), ("Dbtr", 1, 1, _PARTY), ("DbtrAcct", 1, 1, _ACCOUNT), ("DbtrAgt", 1, 1, _AGENT),
    ("DbtrAgtAcct", 0, 1, ...), ("InstrForDbtrAgt", 0, 1, ...), ("UltmtDbtr", 0, 1, ...), ("ChrgBr", 0, 1, ...),
    ("ChrgsAcct", 0, 1, ...), ("ChrgsAcctAgt", 0, 1, ...), ("CdtTrfTxInf", 1, 10**9, _TRANSFER),
]
_HEADER = [("MsgId", 1, 1, "Max35Text"), ("CreDtTm", 1, 1, "ISODateTime"), ("Authstn", 0, 2, ...),
           ("NbOfTxs", 1, 1, "Max15NumericText"), ("CtrlSum", 0, 1, "DecimalNumber"), ("InitgPty", 1, 1, _PARTY),
           ("FwdgAgt", 0, 1, ...), ("InitnSrc", 0, 1, ...)]
_DOCUMENT = [("CstmrCdtTrfInitn", 1, 1, [("GrpHdr", 1, 1, _HEADER), ("PmtInf", 1, 10**9, _ORDER),
                                         ("SplmtryData", 0, 99, ...)])]


def faults(order: bytes) -> list[str]:
    """What the schema would not let pass; and sums and counts that do not fit."""
    root = fromstring(order)
    if _name(root) != "Document" or root.attrib:
        return ["is no document"]
    found = _faults(root, _DOCUMENT, "")
    return found or _sums(root)


def _name(element: Element) -> str:
    return element.tag.removeprefix(f"{{{NAMESPACE}}}")


def _faults(element: Element, kind: Any, where: str) -> list[str]:
    where = f"{where}/{_name(element)}"
    if kind is ...:
        return [f"{where}: is not described"]
    if isinstance(kind, str):
        return _facets(element, kind, where)
    found = [f"{where}: has text"] * bool((element.text or "").strip() or any((c.tail or "").strip() for c in element))
    found += [f"{where}: has attributes"] * bool(element.attrib)
    names = [_name(child) for child in element]
    if isinstance(kind, tuple):
        kind = [each for each in kind[1] if each[0] in names][:1]
        if not kind:
            return [*found, f"{where}: has no choice"]
    expected = []
    for name, least, most, _ in kind:
        count = names.count(name)
        expected += [name] * count
        if not least <= count <= most:
            found.append(f"{where}/{name}: stands {count} times")
    if names != expected:
        found.append(f"{where}: has {names}")
    types = {name: each for name, _, _, each in kind}
    for child in element:
        if _name(child) in types:
            found += _faults(child, types[_name(child)], where)
    return found


def _facets(element: Element, kind: str, where: str) -> list[str]:
    text = element.text or ""
    found = [f"{where}: has elements"] * bool(len(element))
    if not re.fullmatch(_PATTERNS[kind], text):
        found.append(f"{where}: is no {kind}")
    elif kind in _DIGITS:
        _, digits, exponent = Decimal(text).as_tuple()
        most, fraction = _DIGITS[kind]
        if not isinstance(exponent, int) or -exponent > fraction or max(len(digits), -exponent) > most:
            found.append(f"{where}: has too many digits")
    names = {"Ccy"} if kind == "ActiveOrHistoricCurrencyAndAmount" else set()
    if set(element.attrib) != names or not all(re.fullmatch("[A-Z]{3}", each) for each in element.attrib.values()):
        found.append(f"{where}: has attributes {element.attrib}")
    return found


def _sums(root: Element) -> list[str]:
    space = {"": NAMESPACE}
    amounts = [Decimal(each.text or "") for each in root.iterfind(".//InstdAmt", space)]
    total = sum(amounts)  # at most 18 digits each, so that no digit is lost
    found = ["a count is wrong" for each in root.iterfind(".//NbOfTxs", space) if int(each.text or "") != len(amounts)]
    found += ["a sum is wrong" for each in root.iterfind(".//CtrlSum", space) if Decimal(each.text or "") != total]
    ends = [each.text for each in root.iterfind(".//EndToEndId", space)]
    return found + ["a reference stands twice"] * (len(set(ends)) != len(ends))
