"""Audits of matchings: exact privacy losses, what a bidder can move, spies, supply and certificates; planted faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.allocation.audit.behaviour import behaviour_controls, behaviour_rows
    from confide.allocation.audit.loss import History, HistoryLoss, exact_loss, recorded
    from confide.allocation.audit.participation import auction_reach, bundle_reach
    from confide.allocation.audit.parts import own_parts
    from confide.allocation.audit.transcripts import transcript_controls, transcript_rows
    from confide.allocation.audit.whole import audit_matching

__all__ = [
    "History",
    "HistoryLoss",
    "auction_reach",
    "audit_matching",
    "behaviour_controls",
    "behaviour_rows",
    "bundle_reach",
    "exact_loss",
    "own_parts",
    "recorded",
    "transcript_controls",
    "transcript_rows",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "behaviour": ("behaviour_controls", "behaviour_rows"),
        "transcripts": ("transcript_controls", "transcript_rows"),
        "loss": ("History", "HistoryLoss", "exact_loss", "recorded"),
        "parts": ("own_parts",),
        "participation": ("auction_reach", "bundle_reach"),
        "whole": ("audit_matching",),
    },
    renamed={"door_controls": "transcript_controls", "door_rows": "transcript_rows"},
)
