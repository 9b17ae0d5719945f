"""The terms by which shares become money, and the amounts paid under them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa

from confide.contract.checks import MOST_DIGITS, is_power_of_ten, whole
from confide.contract.errors import InvalidInput, Refused
from confide.contract.words import money

__all__ = ["PayoutTerms"]

_BLOCK = 65_536  # payments at a time
_MOST_COINS = 2**63 - 1  # what a database's integers hold, and Arrow's


@dataclass(frozen=True, kw_only=True)
class PayoutTerms:
    """The terms by which shares become money.

    Args:
        column: the column of the shares that holds the amounts, as whole numbers of the smallest units of the currency,
            such as cents.
        currency: the name of the currency.
        minor_units: the number of smallest units in one unit of the currency, such as 100 cents in one euro; a power of
            ten.
        highest: upper bound on every share, in the smallest units of the currency, as promised in the plan. The trial
            run of a plan checks the shares against this bound, and so does the settlement of a third party's mechanism.
        deposit: the deposit of each participant in the smallest units of the currency. Participants get the deposit
            back with their payment.

    Raises:
        InvalidInput: an argument is out of range; for example, `minor_units` is not a power of ten.

    Example:
        >>> PayoutTerms(column="payment", currency="EUR", minor_units=100, highest=5_000).money(123_456)
        '1,234.56 EUR'
    """

    column: str
    currency: str
    minor_units: int
    highest: int
    deposit: int = 0

    def __post_init__(self) -> None:
        if not is_power_of_ten(self.minor_units):
            raise InvalidInput("minor_units", f"{self.minor_units} is not a power of ten",
                               f"must be 1, 10, 100, and so on up to 10^{MOST_DIGITS}")
        whole("deposit", self.deposit)

    def check_total(self, people: int) -> None:
        """Check that the sum of all payments fits the number types of databases and banks.

        Args:
            people: number of invited participants.

        Raises:
            Refused: the sum could exceed 2^63 - 1 smallest units of the currency.
        """
        most = max(0, self.highest) + self.deposit
        if people * most > _MOST_COINS:
            raise Refused(f"{people:,} payments of up to {Decimal(most) / self.minor_units:.3g} {self.currency}, in "
                          f"coins of 1/{self.minor_units:,}, could come to more than 2^63 coins",
                          "choose larger coins (smaller minor_units), smaller payments, or fewer people")

    def check_shares(self, shares: pa.Table) -> None:
        """Check that each share is a whole number of smallest units of the currency, and that no share is above
        `highest`.

        Args:
            shares: a table with one row for each slot.

        Raises:
            InvalidInput: a share is no whole number, or is above `highest`. The message names the share, so the message
                is as private as the records.
        """
        coins = self._coins(shares)
        if len(coins) and (most := int(coins.max())) > self.highest:
            raise InvalidInput(
                "PayoutTerms.highest", f"a share in {self.column!r} is {self.money(most)}, but the plan promises at "
                f"most {self.money(self.highest)}", f"in coins of 1/{self.minor_units:,}, the share is {most:,} "
                f"and the limit {self.highest:,}: raise `highest`, or pay less")

    def _coins(self, shares: pa.Table) -> np.ndarray:
        """The shares as whole coins, in a new array; 0 for a slot without a share.

        Raises:
            InvalidInput: a share is no whole number of coins, or the column holds no numbers.
        """
        found = shares[self.column]
        if pa.types.is_integer(found.type):
            return np.array(found.fill_null(0).to_numpy())
        if not pa.types.is_floating(found.type):
            raise InvalidInput(self.column, f"holds shares of type {found.type}", self._whole())
        raw = found.fill_null(0.0).to_numpy()
        wrong = raw[(raw != np.rint(raw)) | (np.abs(raw) >= 2.0**63)]  # also what is not finite
        if len(wrong):
            raise InvalidInput(self.column, f"a share of {wrong[0]:.12g} is not a whole number of coins", self._whole())
        whole_coins: np.ndarray = raw.astype(np.int64)
        return whole_coins

    def _whole(self) -> str:
        return (f"must be whole coins of 1/{self.minor_units:,} {self.currency}: round in `decode`, and make the "
                "column of int64")

    def amounts(self, shares: pa.Table, deposited: np.ndarray | None = None) -> Iterator[list[tuple[int, int]]]:
        """Blocks of pairs (slot, amount) for everybody who is paid. The amount, in the smallest units of the currency,
        is the share plus the deposit, and at least 0.

        Args:
            shares: a table with one row for each slot, with amounts in whole smallest units of the currency.
            deposited: the slots of participants who left a deposit with their report; None for nobody.

        Raises:
            InvalidInput: a share is no whole number. In this case nobody is paid.
        """
        coins = self._coins(shares)
        if deposited is not None:
            coins[deposited] += self.deposit
        paid = np.flatnonzero(coins > 0)
        for start in range(0, len(paid), _BLOCK):
            block = paid[start : start + _BLOCK]
            yield list(zip(block.tolist(), coins[block].tolist(), strict=True))

    def money(self, coins: int) -> str:
        """An amount, given in the smallest units of the currency, as exact text in the unit of the currency."""
        return money(coins, self.minor_units, self.currency)
