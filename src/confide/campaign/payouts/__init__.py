"""The files of payouts: payees read, batches written for a spreadsheet or a bank, and the bank's answer read back.

The queue is the store's; nothing here pays anybody.
"""

from confide._lazy import doors

__all__, __getattr__, __dir__ = doors(
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
