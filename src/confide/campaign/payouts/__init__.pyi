# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.campaign.payouts.confirmations import Status as Status
from confide.campaign.payouts.confirmations import read_confirmations as read_confirmations
from confide.campaign.payouts.export import as_table as as_table
from confide.campaign.payouts.export import export_batch as export_batch
from confide.campaign.payouts.export import import_confirmations as import_confirmations
from confide.campaign.payouts.pain001 import as_pain001 as as_pain001
from confide.campaign.payouts.payees import Payee as Payee
from confide.campaign.payouts.payees import read_payees as read_payees
from confide.campaign.payouts.payment import Batch as Batch
from confide.campaign.payouts.payment import Payer as Payer
from confide.campaign.payouts.payment import Payment as Payment
from confide.campaign.payouts.queue import Payouts as Payouts

__all__ = [
    "Batch", "Payee", "Payer", "Payment", "Payouts", "Status", "as_pain001", "as_table", "export_batch",
    "import_confirmations", "read_confirmations", "read_payees",
]
