"""The table of a batch: the same bytes each time, read back exactly, and nothing in it that a spreadsheet runs."""

from __future__ import annotations

import csv
import io
from fractions import Fraction
from typing import Any

import pandas
import pytest
from hypothesis import given

from campaign.payouts.batches import ANN, BOB, batches, small
from confide.campaign.payouts import Batch, Payment, as_table
from confide.contract import InvalidInput


def one(identity: str, **changes: Any) -> Batch:
    return small(**{"payments": [Payment("A", None, identity, 1)], **changes})


def test_golden_bytes() -> None:
    assert as_table(small(named=False)) == (b"reference,id,amount,currency\n"
                                            b"S-1/ann,ann,12.50,EUR\n"
                                            b'S-1/bob,"bob,2",0.05,EUR\n')
    assert as_table(small()) == ("reference,id,amount,currency,name,iban,bic\n"
                                 f'S-1/ann,ann,12.50,EUR,"Ann <O\'Hara> & ""Söhne""",{ANN},\n'
                                 f'S-1/bob,"bob,2",0.05,EUR,Bob Łuk,{BOB},COBADEFFXXX\n').encode()


def test_coins_of_other_sizes() -> None:
    assert as_table(one("ann", currency="points", minor_units=10**9)).splitlines()[1] == b"A,ann,0.000000001,points"
    assert as_table(one("ann", currency="JPY", minor_units=1)).splitlines()[1] == b"A,ann,1,JPY"


@given(batches(most=10**30))
def test_it_reads_back_exactly(batch: Batch) -> None:
    data = as_table(batch, spreadsheet=False)
    assert data == as_table(batch, spreadsheet=False)
    rows = list(csv.DictReader(io.StringIO(data.decode(), newline=""), strict=True))
    assert len(rows) == len(batch.payments)
    for row, payment in zip(rows, batch.payments, strict=True):
        expected = {"reference": payment.reference, "id": payment.id, "amount": str(batch.decimal(payment.amount)),
                    "currency": "EUR"}
        if payment.payee is not None:
            expected |= {"name": payment.payee.name, "iban": payment.payee.iban, "bic": payment.payee.bic or ""}
        assert row == expected
    assert sum(Fraction(row["amount"]) for row in rows) == Fraction(batch.total)


@given(batches())
def test_for_a_spreadsheet_it_is_refused_or_the_same(batch: Batch) -> None:
    plain = as_table(batch, spreadsheet=False)
    try:
        written = as_table(batch)
    except InvalidInput as error:
        field = error.field
    else:
        assert written == plain
        return
    assert field in {"id", "name"}  # all else has a form that cannot be a formula


def test_others_read_the_same() -> None:
    frame = pandas.read_csv(io.BytesIO(as_table(small())), dtype=str, keep_default_na=False)
    assert frame["id"].tolist() == ["ann", "bob,2"]
    assert frame["name"].tolist() == ['Ann <O\'Hara> & "Söhne"', "Bob Łuk"]


@pytest.mark.parametrize("identity", [
    "=1+1", "=cmd|' /C calc'!A0", "+49 170 1", "-5", "@ann", "\tann", "\rann", "ann\n", "a\x00b", "\uff1d1", "\uff0b1",
    "\uff0d1", "\uff20ann", "a;=1+1",
])
def test_formulas_are_refused_and_never_escaped(identity: str) -> None:
    batch = one(identity)
    with pytest.raises(InvalidInput) as caught:
        as_table(batch)
    assert str(caught.value) == (
        f"id: the cell of {identity!r} could run as a formula in a spreadsheet; use spreadsheet=False if "
        "only programs read the file")
    rows = list(csv.reader(io.StringIO(as_table(batch, spreadsheet=False).decode(), newline="")))
    assert rows[1] == ["A", identity, "0.01", "EUR"]


@pytest.mark.parametrize("identity", ["7", "0.5", "ann=bob", "ann@example", "a-b", "a+b", "1 + 1", "a; b", "'=1"])
def test_what_is_no_formula_passes(identity: str) -> None:
    assert identity.encode() in as_table(one(identity))


def test_names_and_currencies_are_watched_too() -> None:
    batch = small()
    payee = batch.payments[0].payee
    assert payee is not None
    wrong = Payment("A", type(payee)("ann", "=Ann", ANN), "ann", 1)
    with pytest.raises(InvalidInput, match=r"^name: the cell of 'ann' could run as a formula"):
        as_table(small(payments=[wrong]))
    with pytest.raises(InvalidInput, match=r"^currency: the cell of 'ann' could run as a formula"):
        as_table(small(currency="@points"))
