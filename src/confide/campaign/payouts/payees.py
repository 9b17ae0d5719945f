"""Payees: the name and account of each participant. Names and accounts stand in the operator's own file, and no
campaign and no store ever contains them.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from confide.campaign.payouts._letters import check_line, check_text
from confide.campaign.payouts._rows import decoded, rows
from confide.contract.errors import InvalidInput
from confide.contract.files import as_path, read_bytes, reading
from confide.contract.words import counted

__all__ = ["LONGEST_NAME", "Payee", "check_account", "parse_payees", "read_payees"]

LONGEST_NAME = 70
"""Largest number of characters of a name. ISO 20022 allows 140 characters, and SEPA allows 70."""

_LARGEST = 1 << 28  # bytes of a file; a million people fill a quarter of it

_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_BIC = re.compile(r"[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?")


@dataclass(frozen=True)
class Payee:
    """A participant's name and bank account. The representation of the object shows the id alone.

    Args:
        id: the participant's id in the campaign.
        name: the name of the holder of the account, at most 70 characters of Latin text.
        iban: the IBAN in capitals, without spaces.
        bic: the BIC of the participant's bank, 8 or 11 characters; None if the IBAN is enough.

    Raises:
        InvalidInput: one of the values cannot be used. The message never repeats the IBAN.

    Example:
        >>> Payee("ann", "Ann Smith", "GB82WEST12345698765432")
        Payee(id='ann')
        >>> Payee("ann", "Ann Smith", "GB82WEST12345698765423")
        Traceback (most recent call last):
        ...
        confide.contract.errors.InvalidInput: iban: the IBAN of 'ann' has wrong check digits: correct a typing error
    """

    id: str
    name: str = field(repr=False)
    iban: str = field(repr=False)
    bic: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_text("id", self.id)
        if _checks(self.id.replace(" ", "")):
            # Every message names the id. Where columns are swapped it would name what none may name.
            raise InvalidInput("id", "is an IBAN", "check whether the columns have the order of the header")
        check_account(repr(self.id), self.name, self.iban, self.bic)


def check_account(owner: str, name: object, iban: object, bic: object) -> None:
    """Check the form of a name, an IBAN and, where it is given, a BIC.

    An IBAN must name a country that uses IBANs, with the length and structure of that country, and must have right
    check digits (ISO 13616, ISO 7064 mod 97-10). The check digits reveal every error in a single digit, and 96 of 97
    other mistakes. A BIC must have the structure of ISO 9362 and name a country. Only the bank can tell whether the
    account exists.

    Args:
        owner: the owner of the account in words, for error messages, such as "the payer".
        name: the name of the account's holder.
        iban: the IBAN of the account.
        bic: the BIC of the account's bank; None if no BIC is given.

    Raises:
        InvalidInput: one of the values cannot be used. The message names the wrong value, and repeats neither the IBAN
            nor the BIC.
    """
    check_line("name", f"the name of {owner}", name, LONGEST_NAME)
    if not isinstance(iban, str) or not _IBAN.fullmatch(iban):
        raise InvalidInput("iban", f"the IBAN of {owner} does not have the form of an IBAN",
                           "must be two letters of a country, two digits, and 11 to 30 letters and digits, in capitals")
    _check_iban(owner, iban)
    if bic is not None and (not isinstance(bic, str) or not _BIC.fullmatch(bic)):
        raise InvalidInput("bic", f"the BIC of {owner} does not have the form of a BIC",
                           "must be 8 or 11 capitals and digits")
    if bic is not None and not _is_country(bic):
        raise InvalidInput("bic", f"the BIC of {owner} names no country",
                           "its fifth and sixth letter must be a country's code")


def _check_iban(owner: str, iban: str) -> None:
    """Refuse an IBAN with a country, a length, check digits or letters that no account can have."""
    import schwifty  # 0.1 s, and payouts alone need it
    from schwifty import exceptions

    try:
        # Checks of national digits stay off: they are known for some countries alone, and banks break them.
        schwifty.IBAN(iban)
    except exceptions.InvalidCountryCode:
        raise InvalidInput("iban", f"the IBAN of {owner} names no country that uses IBANs",
                           "its first two letters must be such a country's code") from None
    except exceptions.InvalidLength:
        expected = schwifty.IBAN(iban, allow_invalid=True).spec.iban_length
        raise InvalidInput("iban", f"the IBAN of {owner} has {counted(len(iban), 'character')}",
                           f"an IBAN of its country has {expected}") from None
    except exceptions.InvalidChecksumDigits:
        raise InvalidInput("iban", f"the IBAN of {owner} has wrong check digits: correct a typing error") from None
    except exceptions.SchwiftyException:
        raise InvalidInput("iban", f"the IBAN of {owner} has a letter or a digit in a place where its country has "
                                   "none", "compare the IBAN with the account's papers") from None


def _is_country(bic: str) -> bool:
    """Whether the fifth and sixth letters of a BIC are the code of a country."""
    import schwifty
    from schwifty import exceptions

    try:
        schwifty.BIC(bic)
    except exceptions.InvalidCountryCode:
        return bic[4:6] == "XK"  # Kosovo's banks have BICs, and schwifty 2026.10.1 knows its IBANs alone
    return True


def read_payees(path: str | os.PathLike[str]) -> dict[str, Payee]:
    """Mapping from a participant's id to their payee, read from the operator's file. The file is CSV in UTF-8, with a
    header that names the columns `id`, `name`, `iban` and perhaps `bic`.

    Cells are used as they stand, except that the spaces of a printed IBAN are removed. An empty `bic` means that the
    account needs no BIC.

    Raises:
        InvalidInput: the file cannot be used. The message names the column, or the line and its fault, and never an
            IBAN.
    """
    file = as_path("payees", path)
    return parse_payees(read_bytes("payees", file, _LARGEST), file)


def parse_payees(data: bytes, name: Path = Path("the list")) -> dict[str, Payee]:
    """Mapping from a participant's id to their payee, from the bytes of a file as in `read_payees`.

    Args:
        data: the bytes of a CSV file in UTF-8.
        name: the name of the file, for error messages.

    Raises:
        InvalidInput: for the same reasons as in `read_payees`.
    """
    with reading("payees", name):
        return _parse(decoded(data))


def _parse(text: str) -> dict[str, Payee]:
    r"""Example:
    >>> _parse("id,name,iban\nann,Ann Smith,GB82 WEST 1234 5698 7654 32\n")
    {'ann': Payee(id='ann')}
    """
    payees: dict[str, Payee] = {}
    lines: dict[str, int] = {}
    for line, cells in rows(text, ("id", "name", "iban"), ("bic",)):
        try:
            payee = Payee(cells["id"], cells["name"], cells["iban"].replace(" ", ""), cells.get("bic") or None)
        except InvalidInput as error:
            raise InvalidInput(f"line {line}", f"{error.field}: {error.problem}", error.limit) from None
        if payee.id in payees:
            raise InvalidInput(f"line {line}", f"id: {payee.id!r} also stands on line {lines[payee.id]}",
                               "give every id once")
        payees[payee.id], lines[payee.id] = payee, line
    return payees


def _checks(iban: str) -> bool:
    """Whether the check digits of an IBAN are right: with letters counted from A = 10, the number has
    remainder 1 when it is divided by 97. Correct check digits of an IBAN lie between 02 and 98.
    """
    if not _IBAN.fullmatch(iban) or not "02" <= iban[2:4] <= "98":
        return False
    return int("".join(str(int(character, 36)) for character in iban[4:] + iban[:4])) % 97 == 1
