"""Audits of DualQuery: its law written out for tiny games, its own run on neighbours, its error, and planted faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.release.audit.dual import dual_query_controls, dual_query_rows
    from confide.release.audit.enumerated import tiny_game, transcript_laws

__all__ = ["dual_query_controls", "dual_query_rows", "tiny_game", "transcript_laws"]

__getattr__, __dir__ = doors(
    __name__,
    {"dual": ("dual_query_controls", "dual_query_rows"), "enumerated": ("tiny_game", "transcript_laws")},
)
