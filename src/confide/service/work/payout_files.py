"""Payouts of an opened campaign: their files come and go in answers and requests, and lie nowhere meanwhile.

Amounts are private, since they follow from records; names and accounts are the operator's own.
"""

from __future__ import annotations

from collections.abc import Mapping

from confide.campaign.campaign import Campaign
from confide.campaign.payouts.export import TEXT, batch_file, take_confirmations
from confide.campaign.store import Store
from confide.contract.worded import worded
from confide.service.work.opened import OpenedCampaign, check_settled

__all__ = ["payout_file", "settled_campaign", "take_answer"]


def settled_campaign(opened: OpenedCampaign, store: Store) -> Campaign:
    """The campaign, if it is settled; where this machine keeps its files is not told.

    Args:
        opened: the campaign.
        store: of it.

    Raises:
        Refused: it is not.
    """
    check_settled(store.get(opened.number).state, worded("settle it first"))
    return opened.campaign


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
    return batch_file(campaign.planned, store, "pain.001" if form == "xml" else "csv", number=batch,
                      payees=None if payees is None else payees.encode("utf-8", "replace"), payer=payer,
                      text=TEXT if text is None else text)


def take_answer(campaign: Campaign, store: Store, data: bytes) -> Mapping[str, int]:
    """Take what the bank says; how many were paid, failed, and known before.

    Args:
        campaign: whose payouts it is about.
        store: where it was settled.
        data: CSV of reference,status, or ISO 20022 pain.002.

    Raises:
        InvalidInput: it cannot be read, or names a payout that is not known.
    """
    return take_confirmations(campaign.planned, store, data)
