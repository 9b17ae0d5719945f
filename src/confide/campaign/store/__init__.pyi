# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.campaign.store.debits import Debit as Debit
from confide.campaign.store.debits import Standing as Standing
from confide.campaign.store.store import Store as Store
from confide.campaign.store.store import Stored as Stored
from confide.privacy.ledger import Charge as Charge

__all__ = [
    "Charge", "Debit", "Standing", "Store", "Stored",
]
