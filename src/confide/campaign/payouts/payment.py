"""Payments as whole numbers of the smallest units of a currency, such as cents, and batches of payments. All sums are
exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import cached_property

from confide.campaign.payouts._letters import check_reference, check_text
from confide.campaign.payouts.payees import Payee, check_account
from confide.contract.checks import MOST_DIGITS, is_power_of_ten, whole
from confide.contract.digests import canonical, digest
from confide.contract.errors import InvalidInput

__all__ = ["Batch", "Payer", "Payment", "message"]

_TIME = "%Y-%m-%dT%H:%M:%SZ"
_LARGEST_NUMBER = 10**9  # of a batch, so that the message's id stays within 35 characters


@dataclass(frozen=True)
class Payer:
    """The payer: the name and the account from which payments are made.

    Args:
        name: the name of the holder of the account, at most 70 characters of Latin text.
        iban: the IBAN in capitals, without spaces.
        bic: the BIC of the account's bank, 8 or 11 characters; None if the IBAN is enough.

    Raises:
        InvalidInput: one of the values cannot be used; the message does not repeat the IBAN.
    """

    name: str
    iban: str = field(repr=False)
    bic: str | None = None

    def __post_init__(self) -> None:
        check_account("the payer", self.name, self.iban, self.bic)


@dataclass(frozen=True)
class Payment:
    """The payment to one participant.

    Args:
        reference: the name of the payment in the order to the bank and in the bank's answer, at most 35 characters of
            SEPA's restricted set.
        payee: the participant's name and bank account; None if the operator does not pay through a bank's order.
        id: the participant's id in the campaign.
        amount: the amount in the smallest units of the currency, such as cents; at least 1.

    Raises:
        InvalidInput: one of the values cannot be used, or the payee has another id.
    """

    reference: str
    payee: Payee | None
    id: str
    amount: int

    def __post_init__(self) -> None:
        check_reference(self.reference)
        check_text("id", self.id)
        object.__setattr__(self, "amount", whole("amount", self.amount, at_least=1))
        if self.payee is not None and self.payee.id != self.id:
            raise InvalidInput("payee", f"{self.payee.id!r} is not the participant", f"must be {self.id!r}")


@dataclass(frozen=True)
class Batch:
    """Payments that are sent to the bank together.

    Args:
        campaign: the title of the campaign.
        number: the number of the batch in its campaign, from 1 to 10^9.
        currency: a code of ISO 4217, or any other name of a unit of payment.
        minor_units: the number of smallest units in one unit of the currency, such as 100 cents in one euro; a power of
            ten.
        written: the time when the batch was closed, in UTC, as YYYY-MM-DDTHH:MM:SSZ.
        payments: at least one payment, with different references. Either all payments have a payee, or none has.

    Raises:
        InvalidInput: one of the values cannot be used.

    Example:
        >>> payments = (Payment("A-1", None, "ann", 1250), Payment("A-2", None, "bob", 5))
        >>> batch = Batch("Sleep", 1, "EUR", 100, "2026-03-01T12:00:00Z", payments)
        >>> batch.total, batch.decimal(5), batch.message
        (Decimal('12.55'), Decimal('0.05'), 'CONFIDE-1-c5cedd30ec8a1b83')
    """

    campaign: str
    number: int
    currency: str
    minor_units: int
    written: str
    payments: tuple[Payment, ...] = field(repr=False)

    def __post_init__(self) -> None:
        check_text("campaign", self.campaign)
        check_text("currency", self.currency)
        for name in ("number", "minor_units"):
            object.__setattr__(self, name, whole(name, getattr(self, name), at_least=1))
        if self.number > _LARGEST_NUMBER:
            raise InvalidInput("number", f"{self.number} is too large", f"must be at most {_LARGEST_NUMBER}")
        if not is_power_of_ten(self.minor_units):
            raise InvalidInput("minor_units", f"{self.minor_units} is not a power of ten",
                               f"must be 1, 10, 100, and so on up to 10^{MOST_DIGITS}")
        if not _is_time(self.written):
            raise InvalidInput("written", f"{self.written!r} is not a time",
                               "must be like 2026-03-01T12:00:00Z, in UTC")
        object.__setattr__(self, "payments", tuple(self.payments))
        self._check_payments()

    def _check_payments(self) -> None:
        if not self.payments:
            raise InvalidInput("payments", "the list is empty", "a batch must have at least one payment")
        seen: set[str] = set()
        for payment in self.payments:
            if payment.reference in seen:
                raise InvalidInput("reference", f"{payment.reference!r} stands twice", "must be unique in a batch")
            seen.add(payment.reference)
        without = [payment.id for payment in self.payments if payment.payee is None]
        if 0 < len(without) < len(self.payments):
            raise InvalidInput("payees", f"{len(without)} of {len(self.payments)} payments have no payee, such as that "
                               f"of {without[0]!r}", "all payments must have a payee, or none may have one")

    @property
    def named(self) -> bool:
        """Whether the payments have payees (names and bank accounts)."""
        return self.payments[0].payee is not None

    @property
    def coins(self) -> int:
        """The sum of all payments, in the smallest units of the currency, such as cents."""
        return sum(payment.amount for payment in self.payments)

    @property
    def total(self) -> Decimal:
        """The exact sum of all payments, in the unit of the currency, such as euros."""
        return self.decimal(self.coins)

    def decimal(self, amount: int) -> Decimal:
        """The exact amount in the unit of the currency, such as euros, for an amount in the smallest units, such as
        cents. The result has all decimal places of the currency.
        """
        # From text: arithmetic of decimals would round to the 28 digits of its context.
        return Decimal(f"{whole('amount', amount)}E-{len(str(self.minor_units)) - 1}")

    @cached_property
    def message(self) -> str:
        """The name of the batch in messages to the bank, at most 35 characters."""
        return message(self.campaign, self.number, (payment.reference for payment in self.payments))


def message(campaign: str, number: int, references: Iterable[str]) -> str:
    """The name of a batch in messages to the bank, at most 35 characters.

    The name depends on the campaign's title, the batch's number and the references, each of which stands for one
    payment of one amount. The name does not depend on the time, or on names of people, accounts and amounts. A batch
    that is written twice therefore has the same name, and a bank that looks for double orders refuses the second one.
    The name can be computed even after the amounts have been erased.

    Args:
        campaign: the title of the campaign.
        number: the number of the batch in the campaign.
        references: the references of all payments of the batch, in any order.
    """
    return f"CONFIDE-{number}-{digest(canonical([campaign, number, sorted(references)]))[:16]}"


def _is_time(text: object) -> bool:
    try:
        return isinstance(text, str) and datetime.strptime(text, _TIME).strftime(_TIME) == text
    except ValueError:
        return False
