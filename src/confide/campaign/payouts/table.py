"""A batch as a table: CSV for other ways to pay, and for the operator's own books."""

from __future__ import annotations

import re

from confide.campaign.payouts.payment import Batch
from confide.contract.errors import InvalidInput

__all__ = ["as_table"]

_FORMULA = re.compile("(?:^|;)[=+@\uff1d\uff0b\uff0d\uff20-]|[\x00-\x1f\x7f]")
"""Cells that a spreadsheet may run: those that begin as a formula, also in the wide forms of East Asian keyboards, or
do so behind the semicolon that some countries' Excel takes for the comma; and those with control characters."""

_SPECIAL = re.compile(r'[",\r\n]|^ | $')


def as_table(batch: Batch, *, spreadsheet: bool = True) -> bytes:
    """The batch as CSV: `reference,id,amount,currency`, and `name,iban,bic` where the payments have payees.

    UTF-8, newlines as line ends, amounts in the currency's unit with all of its digits. The same batch gives the same
    bytes.

    A cell that a spreadsheet could take for a formula (it begins with = + - @ or holds a tab, a line break or another
    control character) is refused, not disguised: an apostrophe before it would make another id of it, which no longer
    meets the campaign's. Where ids are telephone numbers or handles, and no spreadsheet opens the file, ask for
    `spreadsheet=False`: cells are then written as they are, and read back exactly.

    Args:
        batch: what is to be paid.
        spreadsheet: whether a spreadsheet may open the file.

    Raises:
        InvalidInput: a cell that a spreadsheet could run.

    Example:
        >>> from confide.campaign.payouts.payment import Payment
        >>> batch = Batch("Sleep", 1, "EUR", 100, "2026-03-01T12:00:00Z", (Payment("A-1", None, "ann", 1250),))
        >>> print(as_table(batch).decode(), end="")
        reference,id,amount,currency
        A-1,ann,12.50,EUR
    """
    lines = [("reference", "id", "amount", "currency", *(("name", "iban", "bic") if batch.named else ()))]
    for payment in batch.payments:
        payee = payment.payee
        cells = (payment.reference, payment.id, f"{batch.decimal(payment.amount):f}", batch.currency)
        lines.append(cells if payee is None else (*cells, payee.name, payee.iban, payee.bic or ""))
        if spreadsheet:
            _check(payment.id, dict(zip(lines[0], lines[-1], strict=True)))
    return "".join(",".join(map(_quoted, line)) + "\n" for line in lines).encode()


def _check(identity: str, cells: dict[str, str]) -> None:
    for column, cell in cells.items():
        if _FORMULA.search(cell):
            raise InvalidInput(column, f"that of {identity!r} could run as a formula in a spreadsheet",
                               "if no spreadsheet opens the file, write it for programs only (spreadsheet=False)")


def _quoted(cell: str) -> str:
    # By hand: versions of Python differ in whether their writer quotes a lone carriage return.
    return '"' + cell.replace('"', '""') + '"' if _SPECIAL.search(cell) else cell
