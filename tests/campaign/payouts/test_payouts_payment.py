"""Payments and batches: exact sums, references that a bank hands on, one name for one order."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaign.payouts.batches import ANN, BOB, RESTRICTED, batches, references, small
from confide.campaign import payouts
from confide.campaign.payouts import Batch, Payee, Payment, pain001
from confide.campaign.payouts.payment import message
from confide.contract import InvalidInput


def test_payouts_lists_its_public_names() -> None:
    assert dir(payouts) == sorted(payouts.__all__)
    assert {payouts.Batch.__name__, payouts.as_table.__name__} == {"Batch", "as_table"}


# ---- sums


@given(st.lists(st.integers(1, 10**30), min_size=1, max_size=20), st.integers(0, 18))
def test_sums_are_exact(amounts: list[int], digits: int) -> None:
    payments = tuple(Payment(f"A{i}", None, str(i), amount) for i, amount in enumerate(amounts))
    batch = Batch("Sleep", 1, "points", 10**digits, "2026-03-01T12:00:00Z", payments)
    with localcontext() as context:
        context.prec = 3  # whoever calls may compute with few digits
        total, each = batch.total, [batch.decimal(amount) for amount in amounts]
    assert Fraction(total) == Fraction(sum(amounts), 10**digits)
    assert [Fraction(value) for value in each] == [Fraction(amount, 10**digits) for amount in amounts]
    assert total.as_tuple().exponent == -digits
    assert batch.coins == sum(amounts)


def test_amounts_in_words() -> None:
    assert [str(small(named=False).decimal(coins)) for coins in (0, 5, 1200, 10**18)] == [
        "0.00", "0.05", "12.00", "10000000000000000.00"]
    assert small(minor_units=1).total == 1255
    with pytest.raises(InvalidInput, match=r"^amount: 0\.5 is not a whole number"):
        small().decimal(0.5)  # type: ignore[arg-type]


def test_coins_of_an_array() -> None:
    payment = Payment("A", None, "ann", np.int64(7))  # type: ignore[arg-type]
    assert type(payment.amount) is int
    assert payment.amount == 7


@pytest.mark.parametrize("amount", [0, -1, 1.0, True, "1", None, Decimal(1)])
def test_what_is_no_amount(amount: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^amount: "):
        Payment("A", None, "ann", amount)


# ---- references


@given(references)
def test_references_of_the_restricted_set(reference: str) -> None:
    assert Payment(reference, None, "ann", 1).reference == reference


@given(st.characters(exclude_characters=RESTRICTED + "".join(map(chr, [*range(48, 58), *range(65, 91),
                                                                        *range(97, 123)]))))
def test_other_characters(character: str) -> None:
    with pytest.raises(InvalidInput, match=r"^reference: "):
        Payment(f"A{character}1", None, "ann", 1)


@pytest.mark.parametrize("reference", [
    "", "A" * 36, "/A", "A/", "A//B", " A", "A ", "-1", "+1", "'A", "A\n", "=A", "A_1", "Ä", None, 1,
])
def test_what_is_no_reference(reference: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^reference: .* is not a reference of a payment; must have 1 to 35"):
        Payment(reference, None, "ann", 1)


def test_short_and_long_references() -> None:
    for reference in ("A", "A" * 35, "a-b/c?d:e(f)g.h,i'j+k l"):
        assert Payment(reference, None, "ann", 1).reference == reference


# ---- whose


@pytest.mark.parametrize("identity", ["", None, 7, "\ud800"])
def test_what_is_no_id(identity: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^id: "):
        Payment("A", None, identity, 1)
    with pytest.raises(InvalidInput, match=r"^id: "):
        Payee(identity, "Ann", ANN)


def test_somebody_else() -> None:
    with pytest.raises(InvalidInput, match=r"^payee: 'bob' is not the participant; must be 'ann'"):
        Payment("A", Payee("bob", "Bob", BOB), "ann", 1)


# ---- batches


@pytest.mark.parametrize(("changes", "message"), [
    ({"campaign": ""}, "campaign: is empty"), ({"campaign": None}, "campaign: None is not a text"),
    ({"number": 0}, "number: 0 is too small"), ({"number": True}, "number: True is not a whole number"),
    ({"number": 10**9 + 1}, "number: 1000000001 is too large; must be at most 1000000000"),
    ({"currency": ""}, "currency: is empty"),
    ({"minor_units": 0}, "minor_units: 0 is too small"), ({"minor_units": 1.0}, "minor_units: 1.0 is not a whole"),
    ({"minor_units": 50}, "minor_units: 50 is not a power of ten; must be 1, 10, 100, and so on up to 10^18"),
    ({"minor_units": 10**19}, "minor_units: 10000000000000000000 is not a power of ten"),
    ({"written": "2026-03-01"}, "written: '2026-03-01' is not a time; must be like 2026-03-01T12:00:00Z, in UTC"),
    ({"written": "2026-03-01T12:00:00"}, "written: "), ({"written": "2026-03-01T12:00:00+00:00"}, "written: "),
    ({"written": "2026-3-1T12:00:00Z"}, "written: "), ({"written": "2026-02-30T12:00:00Z"}, "written: "),
    ({"written": "2026-03-01T12:00:00.5Z"}, "written: "), ({"written": None}, "written: "),
    ({"payments": ()}, "payments: the list is empty; a batch must have at least one payment"),
    ({"payments": [Payment("A", None, "ann", 1), Payment("A", None, "bob", 1)]},
     "reference: 'A' stands twice; must be unique in a batch"),
    ({"payments": [Payment("A", Payee("ann", "Ann", ANN), "ann", 1), Payment("B", None, "bob", 1),
                   Payment("C", None, "cai", 1)]},
     "payees: 2 of 3 payments have no payee, such as that of 'bob'; all payments must have a payee, or none"),
])
def test_what_is_no_batch(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        small(**changes)
    assert str(caught.value).startswith(message)


def test_a_batch_prints_no_payment() -> None:
    batch = small()
    assert repr(batch) == ("Batch(campaign='Sleep & <age>', number=1, currency='EUR', minor_units=100, "
                           "written='2026-03-01T12:00:00Z')")
    assert batch.named
    assert not small(named=False).named


# ---- what the bank calls it


def test_one_order_has_one_name() -> None:
    batch = small()
    assert batch.message == message("Sleep & <age>", 1, ["S-1/bob", "S-1/ann"]) == "CONFIDE-1-0aef0dd52aa66b29"
    other_amounts = (Payment("S-1/ann", None, "ann", 1), Payment("S-1/bob", None, "bob,2", 6))  # it tells of none
    same = [small(named=False), small(written="2027-01-01T00:00:00Z"), small(payments=batch.payments[::-1]),
            small(payments=other_amounts)]
    assert {each.message for each in same} == {batch.message}
    others = [small(number=2), small(campaign="Sleep"), small(payments=batch.payments[:1])]
    assert len({batch.message, *(each.message for each in others)}) == 4


@given(batches(most=10**30))
def test_the_name_is_a_reference_itself(batch: Batch) -> None:
    assert Payment(batch.message, None, "ann", 1).reference == batch.message


# ---- currencies


def test_digits_of_currencies() -> None:
    assert {code: pain001.digits(code) for code in ("EUR", "USD", "CHF", "JPY", "KRW", "ISK", "XOF", "BHD", "KWD",
                                                       "TND", "CLF")} == {
        "EUR": 2, "USD": 2, "CHF": 2, "JPY": 0, "KRW": 0, "ISK": 0, "XOF": 0, "BHD": 3, "KWD": 3, "TND": 3, "CLF": 4}
    for code in ("", "eur", "EURO", "points", "EUR\n", "XAU", "XXX", "XTS", "€"):
        with pytest.raises(InvalidInput, match="is not the code of a currency that a bank pays in; must be a code of "):
            pain001.digits(code)
