"""How shares become money: what a run pays to whom."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from confide.contract.kinds import PayoutTerms

__all__ = ["amounts"]

_BLOCK = 65_536


def amounts(
    terms: PayoutTerms, shares: pa.Table, deposited: np.ndarray | None = None
) -> Iterator[list[tuple[int, int]]]:
    """(slot, amount) of everybody who is paid: her share and the deposit that she left, never below 0.

    Args:
        terms: how shares become money.
        shares: whole coins, one row a slot.
        deposited: the slots of who left a deposit, with her report; None for nobody.
    """
    coins = shares[terms.column].to_numpy().copy()
    if deposited is not None:
        coins[deposited] += terms.deposit
    paid = np.flatnonzero(coins > 0)
    for start in range(0, len(paid), _BLOCK):
        block = paid[start : start + _BLOCK]
        yield list(zip(block.tolist(), coins[block].tolist(), strict=True))
