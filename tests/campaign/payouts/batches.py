"""Payments for tests: accounts with right check digits, and batches of them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from confide.campaign.payouts import Batch, Payee, Payer, Payment

ANN, BOB = "GB82WEST12345698765432", "DE89370400440532013000"
WRITTEN = "2026-03-01T12:00:00Z"
PAYER = Payer("Institute & Söhne", "NL91ABNA0417164300", "ABNANL2A")

LATIN = [chr(code) for code in (*range(0x20, 0x7F), *range(0xC0, 0x180), *range(0x218, 0x21C))
         if code not in (0xD7, 0xF7)]
RESTRICTED = "ABCXYZabcxyz0189/-?:().,'+ "


def iban(country: str, account: str) -> str:
    """The IBAN of an account, with the check digits that belong to it."""
    number = int("".join(str(int(character, 36)) for character in f"{account}{country}00"))
    return f"{country}{98 - number % 97:02d}{account}"


# ISO 13616's structure of some countries' accounts: n digits, a capitals, c either.
STRUCTURES = {"AE": "n19", "AT": "n16", "BE": "n12", "CH": "n5 c12", "DE": "n18", "FR": "n10 c11 n2", "GB": "a4 n14",
              "LC": "a4 c24", "MT": "a4 n5 c18", "NL": "a4 n10", "NO": "n11", "SA": "n2 c18", "TR": "n6 c16",
              "XK": "n16"}
_LETTERS = {"n": "0123456789", "a": "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "c": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"}


def _accounts(structure: str) -> st.SearchStrategy[str]:
    parts = [st.text(_LETTERS[part[0]], min_size=int(part[1:]), max_size=int(part[1:])) for part in structure.split()]
    return st.tuples(*parts).map("".join)


ibans = st.one_of(*(st.builds(iban, st.just(country), _accounts(structure))
                    for country, structure in STRUCTURES.items()))
names = st.text(LATIN, min_size=1, max_size=70).filter(lambda text: text == text.strip())
bics = st.none() | st.from_regex(r"[A-Z]{4}(DE|GB|LC|SA|XK)[A-Z0-9]{2}([A-Z0-9]{3})?", fullmatch=True)
ids = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
references = st.text(RESTRICTED, min_size=1, max_size=35).filter(
    lambda text: text[0].isalnum() and text[-1] not in " /" and "//" not in text)


@st.composite
def batches(draw: Any, named: bool | None = None, most: int = 10**15) -> Batch:
    """Batches of a few payments, with payees or without."""
    if named is None:
        named = draw(st.booleans())
    payments = []
    for reference in draw(st.lists(references, min_size=1, max_size=6, unique=True)):
        identity = draw(ids)
        payee = Payee(identity, draw(names), draw(ibans), draw(bics)) if named else None
        payments.append(Payment(reference, payee, identity, draw(st.integers(1, most))))
    return Batch(draw(names), draw(st.integers(1, 10**9)), "EUR", 100, WRITTEN, tuple(payments))


def small(*, named: bool = True, **changes: Any) -> Batch:
    """Two payments; any field of the batch can be given another value."""
    payees = (Payee("ann", 'Ann <O\'Hara> & "Söhne"', ANN), Payee("bob,2", "Bob Łuk", BOB, "COBADEFFXXX"))
    payments = (Payment("S-1/ann", payees[0] if named else None, "ann", 1250),
                Payment("S-1/bob", payees[1] if named else None, "bob,2", 5))
    fields: dict[str, Any] = {"campaign": "Sleep & <age>", "number": 1, "currency": "EUR", "minor_units": 100,
                              "written": WRITTEN, "payments": payments}
    return Batch(**{**fields, **changes})
