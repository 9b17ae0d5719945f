"""The files of payouts: payees read, batches written for a spreadsheet or a bank, and the bank's answer read back.

The queue is the store's; nothing here pays anybody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.campaign.payouts.confirmations import Status, read_confirmations
    from confide.campaign.payouts.export import as_table, export_batch, import_confirmations
    from confide.campaign.payouts.pain001 import as_pain001
    from confide.campaign.payouts.payees import Payee, read_payees
    from confide.campaign.payouts.payment import Batch, Payer, Payment
    from confide.campaign.payouts.queue import Payouts


__all__ = ["Batch", "Payee", "Payer", "Payment", "Payouts", "Status", "as_pain001", "as_table", "export_batch",
           "import_confirmations", "read_confirmations", "read_payees"]

__getattr__, __dir__ = doors(
    __name__,
    {
        "confirmations": ("Status", "read_confirmations"),
        "export": ("as_table", "export_batch", "import_confirmations"),
        "pain001": ("as_pain001",),
        "payees": ("Payee", "read_payees"),
        "payment": ("Batch", "Payer", "Payment"),
        "queue": ("Payouts",),
    },
)
