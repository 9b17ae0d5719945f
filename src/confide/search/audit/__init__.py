"""Audits of private searches: exact losses on made-up networks, own runs against their law; planted faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.search.audit.losses import list_loss, list_row, selection_row, threshold_row
    from confide.search.audit.own_runs import history_row, runs_row
    from confide.search.audit.threshold_witness import Witness, limit_loss
    from confide.search.audit.whole import audit_search

__all__ = [
    "Witness",
    "audit_search",
    "history_row",
    "limit_loss",
    "list_loss",
    "list_row",
    "runs_row",
    "selection_row",
    "threshold_row",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "losses": ("list_loss", "list_row", "selection_row", "threshold_row"),
        "own_runs": ("history_row", "runs_row"),
        "threshold_witness": ("Witness", "limit_loss"),
        "whole": ("audit_search",),
    },
)
