"""The order to a bank: what the schema of pain.001.001.09 asks, by a checker that finds planted faults."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaign.payouts.batches import ANN, BOB, PAYER, batches, small
from campaign.payouts.pain001_schema import NAMESPACE, faults
from confide.campaign.payouts import Batch, Payee, Payer, Payment, as_pain001
from confide.contract import InvalidInput

GOLDEN = f"""\
<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09">
  <CstmrCdtTrfInitn>
    <GrpHdr>
      <MsgId>CONFIDE-1-0aef0dd52aa66b29</MsgId>
      <CreDtTm>2026-03-01T12:00:00Z</CreDtTm>
      <NbOfTxs>2</NbOfTxs>
      <CtrlSum>12.55</CtrlSum>
      <InitgPty>
        <Nm>Institute &amp; Söhne</Nm>
      </InitgPty>
    </GrpHdr>
    <PmtInf>
      <PmtInfId>CONFIDE-1-0aef0dd52aa66b29</PmtInfId>
      <PmtMtd>TRF</PmtMtd>
      <NbOfTxs>2</NbOfTxs>
      <CtrlSum>12.55</CtrlSum>
      <ReqdExctnDt>
        <Dt>2026-03-01</Dt>
      </ReqdExctnDt>
      <Dbtr>
        <Nm>Institute &amp; Söhne</Nm>
      </Dbtr>
      <DbtrAcct>
        <Id>
          <IBAN>NL91ABNA0417164300</IBAN>
        </Id>
      </DbtrAcct>
      <DbtrAgt>
        <FinInstnId>
          <BICFI>ABNANL2A</BICFI>
        </FinInstnId>
      </DbtrAgt>
      <CdtTrfTxInf>
        <PmtId>
          <EndToEndId>S-1/ann</EndToEndId>
        </PmtId>
        <Amt>
          <InstdAmt Ccy="EUR">12.50</InstdAmt>
        </Amt>
        <Cdtr>
          <Nm>Ann &lt;O'Hara&gt; &amp; "Söhne"</Nm>
        </Cdtr>
        <CdtrAcct>
          <Id>
            <IBAN>{ANN}</IBAN>
          </Id>
        </CdtrAcct>
        <RmtInf>
          <Ustrd>Sleep &amp; &lt;age&gt;</Ustrd>
        </RmtInf>
      </CdtTrfTxInf>
      <CdtTrfTxInf>
        <PmtId>
          <EndToEndId>S-1/bob</EndToEndId>
        </PmtId>
        <Amt>
          <InstdAmt Ccy="EUR">0.05</InstdAmt>
        </Amt>
        <CdtrAgt>
          <FinInstnId>
            <BICFI>COBADEFFXXX</BICFI>
          </FinInstnId>
        </CdtrAgt>
        <Cdtr>
          <Nm>Bob Łuk</Nm>
        </Cdtr>
        <CdtrAcct>
          <Id>
            <IBAN>{BOB}</IBAN>
          </Id>
        </CdtrAcct>
        <RmtInf>
          <Ustrd>Sleep &amp; &lt;age&gt;</Ustrd>
        </RmtInf>
      </CdtTrfTxInf>
    </PmtInf>
  </CstmrCdtTrfInitn>
</Document>
"""


def texts(order: bytes, name: str) -> list[str]:
    return [each.text or "" for each in fromstring(order).iter(f"{{{NAMESPACE}}}{name}")]


def test_golden_bytes() -> None:
    assert as_pain001(small(), PAYER).decode() == GOLDEN
    assert faults(GOLDEN.encode()) == []


@pytest.mark.parametrize(("old", "new"), [
    ("pain.001.001.09", "pain.001.001.03"), ("<PmtMtd>TRF", "<PmtMtd>XYZ"), ("      <PmtMtd>TRF</PmtMtd>\n", ""),
    ("<NbOfTxs>2", "<NbOfTxs>3"), ("<CtrlSum>12.55", "<CtrlSum>12.54"), ("12.50<", "1.25E1<"), ("12.50<", "12.500001<"),
    ("<EndToEndId>S-1/ann", "<EndToEndId>" + "A" * 36), ("<EndToEndId>S-1/ann", "<EndToEndId>S-1/bob"),
    (' Ccy="EUR"', ""), (' Ccy="EUR"', ' Ccy="euro"'), ("<IBAN>NL91", "<IBAN>nl91"), ("<Dt>2026-03-01<", "<Dt>1.3.26<"),
    ("<Ustrd>Sleep", "<Ustrd>" + "x" * 140), ("<Nm>Bob", "<Nm>" + "x" * 70), ("BICFI", "BIC"),
    ("<ReqdExctnDt>\n        <Dt>2026-03-01</Dt>\n      </ReqdExctnDt>", "<ReqdExctnDt>2026-03-01</ReqdExctnDt>"),
    ("<PmtId>", "<Purp /><PmtId>"), ("<MsgId>", "text<MsgId>"), ("<Cdtr>", '<Cdtr a="b">'),
    ("<CreDtTm>2026-03-01T12:00:00Z</CreDtTm>\n      <NbOfTxs>2</NbOfTxs>",
     "<NbOfTxs>2</NbOfTxs>\n      <CreDtTm>2026-03-01T12:00:00Z</CreDtTm>"),
], ids=range(21))
def test_the_checker_finds_injected_faults(old: str, new: str) -> None:
    assert old in GOLDEN
    assert faults(GOLDEN.replace(old, new).encode())


@given(batches(named=True), st.booleans())
def test_every_order_is_as_the_schema_asks(batch: Batch, agent: bool) -> None:
    payer = PAYER if agent else Payer("Institute", BOB)
    order = as_pain001(batch, payer)
    assert order == as_pain001(batch, payer)
    assert faults(order) == []
    assert texts(order, "EndToEndId") == [payment.reference for payment in batch.payments]
    assert texts(order, "InstdAmt") == [f"{batch.decimal(payment.amount):f}" for payment in batch.payments]
    payees = [payment.payee for payment in batch.payments if payment.payee is not None]
    assert texts(order, "Nm") == [payer.name, payer.name, *(payee.name for payee in payees)]
    assert texts(order, "IBAN") == [payer.iban, *(payee.iban for payee in payees)]
    assert texts(order, "BICFI") == [bic for bic in (payer.bic, *(payee.bic for payee in payees)) if bic]
    assert set(texts(order, "CtrlSum")) == {f"{batch.total:f}"}


def test_a_payer_without_a_bic() -> None:
    order = as_pain001(small(), Payer("Institute", BOB))
    assert b"<DbtrAgt>\n        <FinInstnId>\n          <Othr>\n            <Id>NOTPROVIDED</Id>" in order


def test_ids_stay_at_home() -> None:
    payee = Payee("secret-7", "Ann", ANN)
    order = as_pain001(small(payments=[Payment("A", payee, "secret-7", 1)]), PAYER)
    assert b"secret" not in order


# ---- what is written on the statement


@pytest.mark.parametrize(("title", "written"), [
    ("x" * 141, "x" * 140), ("x" * 139 + " yz", "x" * 139), ("  Sleep  ", "Sleep"),
    ("Schlaf: ä & ö?", "Schlaf: ä & ö?"),
])
def test_the_title_is_cut(title: str, written: str) -> None:
    order = as_pain001(small(campaign=title), PAYER)
    assert set(texts(order, "Ustrd")) == {written}
    assert faults(order) == []


def test_another_text() -> None:
    batch = small(campaign="Σ of \u201csleep\u201d")
    with pytest.raises(InvalidInput, match=r"^text: the text of the statement has the character 'Σ' \(U\+03A3\) as"):
        as_pain001(batch, PAYER)
    assert set(texts(as_pain001(batch, PAYER, text="Thank you"), "Ustrd")) == {"Thank you"}
    for text in ("", " ", "a\nb"):
        with pytest.raises(InvalidInput, match=r"^text: the text of the statement "):
            as_pain001(batch, PAYER, text=text)


# ---- days


def test_days() -> None:
    assert texts(as_pain001(small(), PAYER, execute=date(2026, 3, 2)), "Dt") == ["2026-03-02"]
    assert texts(as_pain001(small(), PAYER, execute=date(2026, 3, 1)), "Dt") == ["2026-03-01"]
    with pytest.raises(InvalidInput, match=r"^execute: 2026-02-28 lies before 2026-03-01, when the batch was written"):
        as_pain001(small(), PAYER, execute=date(2026, 2, 28))
    for day in (datetime(2026, 3, 2, 1, 2), "2026-03-02"):
        with pytest.raises(InvalidInput, match=r"^execute: .* is not a day"):
            as_pain001(small(), PAYER, execute=day)  # type: ignore[arg-type]


# ---- money that no bank takes


@pytest.mark.parametrize(("currency", "units"), [("EUR", 100), ("JPY", 1), ("KWD", 1000), ("USD", 100)])
def test_coins_of_iso_4217(currency: str, units: int) -> None:
    order = as_pain001(small(currency=currency, minor_units=units), PAYER)
    assert faults(order) == []
    assert f'Ccy="{currency}"'.encode() in order
    for wrong in {1, 10, 100, 1000, 10**6} - {units}:
        with pytest.raises(InvalidInput) as caught:
            as_pain001(small(currency=currency, minor_units=wrong), PAYER)
        assert str(caught.value) == (f"minor_units: {wrong} is not the number of ISO 4217 for {currency}; must be "
                                     f"{units} for a bank; the table of payments accepts any number")


@pytest.mark.parametrize("currency", ["points", "eur", "XAU", "<x>"])
def test_what_is_no_currency(currency: str) -> None:
    with pytest.raises(InvalidInput, match=r"^currency: .* is not the code of a currency that a bank pays in"):
        as_pain001(small(currency=currency), PAYER)


@pytest.mark.parametrize(("currency", "units", "largest"), [
    ("EUR", 100, "9999999999999999.99"), ("JPY", 1, "999999999999999999"), ("KWD", 1000, "999999999999999.999"),
])
def test_eighteen_digits(currency: str, units: int, largest: str) -> None:
    def batch(*amounts: int) -> Batch:
        payee = Payee("ann", "Ann", ANN)
        payments = [Payment(f"A{i}", payee, "ann", amount) for i, amount in enumerate(amounts)]
        return small(currency=currency, minor_units=units, payments=payments)

    order = as_pain001(batch(10**18 - 1), PAYER)
    assert faults(order) == []
    assert texts(order, "InstdAmt") == [largest]
    for amounts in ((10**18,), (10**18 - 1, 1)):
        with pytest.raises(InvalidInput, match=f"^payments: sum to more than {largest} {currency}; .* split the batch"):
            as_pain001(batch(*amounts), PAYER)


def test_nobody_to_pay() -> None:
    with pytest.raises(InvalidInput, match=r"^payees: are missing; a bank needs the name and the IBAN"):
        as_pain001(small(named=False), PAYER)


def test_refusals_repeat_no_account() -> None:
    cases: list[dict[str, Any]] = [{"currency": "points"}, {"minor_units": 10}, {"campaign": "Σ"}]
    for changes in cases:
        with pytest.raises(InvalidInput) as caught:
            as_pain001(small(**changes), PAYER)
        assert not [account for account in (ANN, BOB, PAYER.iban) if account in str(caught.value)]
