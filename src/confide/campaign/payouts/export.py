"""The operator's export and import of payouts. An export writes approved payouts to a CSV file or to an order to a
bank. An import takes the bank's answers back into the queue.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from confide.campaign.file import Planned
from confide.campaign.payouts.confirmations import Status, parse_confirmations, read_confirmations
from confide.campaign.payouts.pain001 import as_pain001
from confide.campaign.payouts.payees import Payee, parse_payees, read_payees
from confide.campaign.payouts.payment import Batch, Payer, Payment, message
from confide.contract.errors import InvalidInput, Refused
from confide.contract.files import as_path, check_unpublished, write_new

if TYPE_CHECKING:
    from confide.campaign.store import Store
    from confide.campaign.store.payouts import BatchRow

__all__ = ["TEXT", "as_table", "batch_file", "export_batch", "import_confirmations", "take_confirmations"]

_FORMULA = re.compile("(?:^|;)[=+@\uff1d\uff0b\uff0d\uff20-]|[\x00-\x1f\x7f]")
"""Cells that a spreadsheet may run as a formula.

A cell may run if it has a control character. A cell may also run if a sign that begins a formula stands at the cell's
beginning or after a semicolon, even in the wide form of East Asian keyboards. Some countries' Excel takes a semicolon
for the comma between cells.
"""

_SPECIAL = re.compile(r'[",\r\n]|^ | $')


def as_table(batch: Batch, *, spreadsheet: bool = True) -> bytes:
    """The CSV table of a batch, with the columns `reference,id,amount,currency`, and also `name,iban,bic` if the
    payments have payees.

    The text is UTF-8 with newlines as line ends. Amounts are in the unit of the currency, with all decimal places of
    the currency, such as 12.50 for 1250 cents. The same batch gives the same bytes.

    A cell that a spreadsheet could take for a formula (it begins with = + - @ or holds a tab, a line break or another
    control character) is refused. A cell that could run as a formula is not escaped: an apostrophe before an id would
    make another id, which does not match the id in the campaign. Where ids are telephone numbers or handles, and no
    spreadsheet opens the file, ask for `spreadsheet=False`: cells are then written as they are, and read back exactly.

    Args:
        batch: the batch of payments.
        spreadsheet: whether cells that a spreadsheet could run as a formula are refused.

    Raises:
        InvalidInput: a spreadsheet could run a cell as a formula.

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
            raise InvalidInput(column, f"the cell of {identity!r} could run as a formula in a spreadsheet",
                               "use spreadsheet=False if only programs read the file")


def _quoted(cell: str) -> str:
    # By hand: versions of Python differ in whether their writer quotes a lone carriage return.
    return '"' + cell.replace('"', '""') + '"' if _SPECIAL.search(cell) else cell


TEXT = "Payment for taking part"

_ENDINGS = {".csv": "csv", ".xml": "pain.001"}


def export_batch(
    campaign: Planned, store: Store, path: str | os.PathLike[str], *, number: int | None = None,
    payees: str | os.PathLike[str] | None = None, payer: str | None = None, text: str = TEXT,
) -> int:
    """Put all approved payouts into a new batch and write the batch's file, or write the file of an earlier batch
    again.

    Args:
        campaign: the settled campaign.
        store: the store in which the campaign was settled.
        path: the path of a new file. The name ends in `.csv`, or in `.xml` for pain.001. The file names people, so only
            its owner may read the file.
        number: the number of an earlier batch that the bank has not answered; None for a new batch. An earlier batch
            can be written only in its first format, since a batch in two formats might be paid twice.
        payees: the path of the operator's CSV file of names and accounts (see `read_payees`); needed for pain.001. The
            store never contains names and accounts.
        payer: the account that pays, as NAME,IBAN or NAME,IBAN,BIC; needed for pain.001.
        text: the text on the bank statements, for pain.001. Do not use the campaign's title, which might disclose
            something about the participants to the bank.

    Returns:
        The number of the batch.

    Raises:
        InvalidInput: the file exists or has another ending, or names and accounts are missing; nothing was exported.
        Refused: nothing is approved, the bank has answered the batch, or the batch was written in another format.
    """
    path = as_path("export", path)
    form = _ENDINGS.get(path.suffix.lower())
    if form is None:
        raise InvalidInput("export", f"{path.name!r} has no known ending", "must end in .csv or .xml")
    if path.exists():
        raise InvalidInput("export", f"{path} exists", "choose another file")
    check_unpublished("export", path)
    number, data = _exported(campaign, store, form, number, payer, text,
                             None if payees is None else partial(read_payees, payees))
    again = f"write the export again as batch {number}"
    write_new("export", path, data, private=True, taken=again, barred=again)
    return number


def batch_file(
    campaign: Planned, store: Store, form: str, *, number: int | None = None, payees: bytes | None = None,
    payer: str | None = None, text: str = TEXT,
) -> tuple[int, bytes]:
    """The number of a batch and the contents of the batch's file, as in `export_batch`. No file is written.

    Args:
        campaign: the settled campaign.
        store: the store in which the campaign was settled.
        form: the format of the file, "csv" or "pain.001".
        number: the number of an earlier batch that the bank has not answered; None for a new batch.
        payees: the contents of the operator's CSV file of names and accounts; needed for pain.001.
        payer: the account that pays, as NAME,IBAN or NAME,IBAN,BIC; needed for pain.001.
        text: the text on the bank statements, for pain.001.

    Raises:
        InvalidInput, Refused: for the same reasons as in `export_batch`.
    """
    return _exported(campaign, store, form, number, payer, text,
                     None if payees is None else partial(parse_payees, payees))


def _exported(
    campaign: Planned, store: Store, form: str, number: int | None, payer: str | None, text: str,
    payees: Callable[[], Mapping[str, Payee]] | None,
) -> tuple[int, bytes]:
    known = store.settled(campaign.file)
    if number is not None:
        _check_form(store.batch(known.number, number), form)
    if form == "pain.001" and (payees is None or payer is None):
        raise InvalidInput("payees" if payees is None else "payer", "is missing",
                           "give --payees FILE and --payer NAME,IBAN: an order to a bank names both sides")
    names = None if payees is None else payees()
    if number is None:
        waiting = store.approved(known.number)
        _file(campaign, waiting, form, names, payer, text)  # all problems are reported before the queue is touched
        number = store.export(known.number, form)
    return number, _file(campaign, store.batch(known.number, number), form, names, payer, text)


def import_confirmations(campaign: Planned, store: Store, path: str | os.PathLike[str]) -> dict[str, int]:
    """Record the bank's answers to exported payouts, from a file. To record the same answers again changes nothing.

    Args:
        campaign: the settled campaign.
        store: the store in which the campaign was settled.
        path: the path of a CSV file with the columns reference and status, or of a report in pain.002.

    Returns:
        Counts of payouts: "paid" and "failed" for payouts that changed their state, "known" for payouts with the same
            answer as before.
    """
    return _confirmed(campaign, store, partial(read_confirmations, path))


def take_confirmations(campaign: Planned, store: Store, data: bytes) -> dict[str, int]:
    """Record the bank's answers to exported payouts, from the bytes of a file as in `import_confirmations`.

    Args:
        campaign: the settled campaign.
        store: the store in which the campaign was settled.
        data: the bytes of a CSV file with the columns reference and status, or of a report in pain.002.

    Returns:
        The counts that `import_confirmations` returns.
    """
    return _confirmed(campaign, store, partial(parse_confirmations, data))


def _confirmed(campaign: Planned, store: Store, read: Callable[..., dict[str, Status]]) -> dict[str, int]:
    campaign.terms  # noqa: B018 - refuse one that pays nothing
    known = store.settled(campaign.file)
    exported = store.attempts(known.number)
    messages = {message(campaign.file.title, number, sent): sent for number, sent in exported.items()}
    failed = {name for sent in exported.values() for name, state in sent.items() if state == "failed"}
    return store.confirm(known.number, read(messages, failed))


def _check_form(row: BatchRow, form: str) -> None:
    if row.form != form:
        ending = next(ending for ending, each in _ENDINGS.items() if each == row.form)
        raise Refused(f"batch {row.number} was written as {row.form}, and could be paid twice if it is also written as "
                      f"{form}",
                      f"write it again to a file that ends in {ending}")


def _batch(campaign: Planned, row: BatchRow, names: Mapping[str, Payee] | None) -> Batch:
    terms = campaign.terms
    ids = campaign.ids
    payments = tuple(Payment(reference, _payee(names, ids[slot]), ids[slot], amount)
                     for slot, reference, amount in row.payments)
    return Batch(campaign.file.title, row.number, terms.currency, terms.minor_units, row.written, payments)


def _payee(names: Mapping[str, Payee] | None, identity: str) -> Payee | None:
    if names is None:
        return None
    if identity not in names:
        raise InvalidInput("payees", f"{identity!r} is missing", "must name everybody who is paid")
    return names[identity]


def _file(
    campaign: Planned, row: BatchRow, form: str, names: Mapping[str, Payee] | None, payer: str | None, text: str
) -> bytes:
    batch = _batch(campaign, row, names)
    if form == "csv":
        return as_table(batch)
    parts = [part.strip() for part in str(payer).split(",")]
    if len(parts) not in (2, 3):
        raise InvalidInput("payer", "is not NAME,IBAN or NAME,IBAN,BIC",
                           "give the name, the account, and the bank if necessary")
    return as_pain001(batch, Payer(*parts), text=text)
