"""Files of payouts that come and go in answers and requests: they lie in a private folder for as long as they are read.

Amounts are private, since they follow from records.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from confide.campaign.campaign import Campaign
from confide.campaign.store import Store

__all__ = ["payout_file", "take_answer"]


def payout_file(
    campaign: Campaign, store: Store, *, form: str = "csv", batch: int | None = None, payees: str | None = None,
    payer: str | None = None, text: str | None = None,
) -> tuple[int, bytes]:
    """The file of a batch for the bank, and the batch's number.

    Args:
        campaign: a settled one.
        store: where it was settled.
        form: "csv" or "xml".
        batch: an earlier one; default a new one of all that is approved.
        payees: CSV of id,name,iban; for xml.
        payer: NAME,IBAN or NAME,IBAN,BIC; for xml.
        text: on bank statements.

    Raises:
        Refused: nothing is approved, or the bank has answered this batch.
        InvalidInput: a payee or the payer cannot be used.
    """
    with TemporaryDirectory(dir=store.home.folder) as folder:
        people = None
        if payees is not None:
            people = Path(folder) / "payees.csv"
            people.write_text(payees, encoding="utf-8")
        path = Path(folder) / f"payouts.{form}"
        number = campaign.export_payouts(path, batch=batch, payees=people, payer=payer, text=text, store=store)
        return number, path.read_bytes()


def take_answer(campaign: Campaign, store: Store, data: bytes, form: str | None = None) -> Mapping[str, int]:
    """Take what the bank says; how many were paid, failed, and known before.

    Args:
        campaign: whose payouts it is about.
        store: where it was settled.
        data: CSV of reference,status, or ISO 20022 pain.002.
        form: "csv" or "xml"; default as it looks.

    Raises:
        InvalidInput: it cannot be read, or names a payout that is not known.
    """
    if form is None:
        form = "xml" if data.lstrip()[:1] == b"<" else "csv"
    with TemporaryDirectory(dir=store.home.folder) as folder:
        path = Path(folder) / f"answer.{form}"
        path.write_bytes(data)
        return campaign.import_confirmations(path, store=store)
