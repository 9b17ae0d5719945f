"""The store: campaigns, reports, outcomes, ledger and payouts in one database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.campaign.store.debits import Charge, Debit, Standing
    from confide.campaign.store.store import Store, Stored


__all__ = ["Charge", "Debit", "Standing", "Store", "Stored"]

__getattr__, __dir__ = doors(
    __name__,
    {"debits": ("Charge", "Debit", "Standing"), "store": ("Store", "Stored")},
)
