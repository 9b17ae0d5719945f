"""The store: campaigns, reports, outcomes, ledger and payouts in one database."""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {"debits": ("Debit", "Standing"), "store": ("Store", "Stored"), "confide.privacy.ledger": ("Charge",)},
)
