"""The audit of a mean's campaign, and its parts: her client, the published sum, and both broken on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.acquisition.audit.client import client_controls, client_rows
    from confide.acquisition.audit.release import release_controls, release_rows
    from confide.acquisition.audit.sums import (
        enumerated_divergence,
        sum_controls,
        sum_divergence,
        sum_rows,
    )
    from confide.acquisition.audit.whole import audit_mean

__all__ = [
    "audit_mean",
    "client_controls",
    "client_rows",
    "enumerated_divergence",
    "release_controls",
    "release_rows",
    "sum_controls",
    "sum_divergence",
    "sum_rows",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "client": ("client_controls", "client_rows"),
        "release": ("release_controls", "release_rows"),
        "sums": ("enumerated_divergence", "sum_controls", "sum_divergence", "sum_rows"),
        "whole": ("audit_mean",),
    },
)
