"""What an auction promises beyond privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from confide.allocation.pmatch import PMatch

__all__ = ["auction_promises"]


def auction_promises(auction: PMatch) -> tuple[Any, ...]:
    return ()
