"""A bank, as far as it matters: it pays what it is told to, and takes the same file twice for one order."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

__all__ = ["Bank"]


class Bank:
    """Whom it was told to pay, and what became of it.

    It checks what must never be asked of it: to pay somebody again whom it has paid, or whose payment it has not
    answered, and to pay under a reference that it knows.
    """

    def __init__(self) -> None:
        self.pending: dict[str, str] = {}
        """reference -> id"""
        self.said: dict[str, str] = {}
        """reference -> paid or failed"""
        self.paid: dict[str, int] = {}
        """id -> cents"""
        self._orders: dict[bytes, dict[str, tuple[str, int]]] = {}

    def receive(self, path: Path) -> dict[str, str]:
        """Take a file of payments; reference -> id."""
        data = path.read_bytes()
        if data not in self._orders:
            rows = list(csv.DictReader(data.decode().splitlines()))
            order = {row["reference"]: (row["id"], int(Decimal(row["amount"]) * 100)) for row in rows}
            for reference, (identity, _) in order.items():
                assert reference not in self.pending
                assert reference not in self.said
                assert identity not in self.paid
                assert identity not in self.pending.values()
                self.pending[reference] = identity
            self._orders[data] = order
        return {reference: identity for reference, (identity, _) in self._orders[data].items()}

    def decide(self, verdicts: Iterable[bool]) -> None:
        """Pay, or fail to pay, the first ones of those that wait."""
        amounts = {reference: each for order in self._orders.values() for reference, each in order.items()}
        for reference, good in list(zip(self.pending, verdicts, strict=False)):
            identity = self.pending.pop(reference)
            self.said[reference] = "paid" if good else "failed"
            if good:
                assert identity not in self.paid
                self.paid[identity] = amounts[reference][1]

    def confirm(self, path: Path, references: Iterable[str]) -> None:
        """Write what became of some payments."""
        lines = [f"{reference},{self.said[reference]}" for reference in references]
        path.write_text("\n".join(["reference,status", *lines]) + "\n")
