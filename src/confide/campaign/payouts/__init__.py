"""Files about payouts: lists of payees, batches of payments for a spreadsheet or a bank, and the bank's answers.

The store holds the queue of payouts. This package reads and writes files, and pays nobody.
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
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
