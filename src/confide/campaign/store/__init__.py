"""The store: a database with the campaigns of an operator, their reports and outcomes, the privacy ledger, and the
payouts.
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {"debits": ("Debit", "Standing"), "store": ("Store", "Stored"), "confide.privacy.ledger": ("Charge",)},
)
