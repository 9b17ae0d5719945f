"""The audit of a regression campaign, and its parts for researchers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.regression.audit.behaviour import behaviour_controls, behaviour_rows, own_score_row, range_row
    from confide.regression.audit.neighbouring import neighbours
    from confide.regression.audit.peers import interim_utility
    from confide.regression.audit.population import StandIn, stand_in
    from confide.regression.audit.printed import printed_audit, printed_loss, printed_samples
    from confide.regression.audit.privacy import claims_of, privacy_controls, privacy_rows
    from confide.regression.audit.whole import audit_regression


__all__ = [
    "StandIn",
    "audit_regression",
    "behaviour_controls",
    "behaviour_rows",
    "claims_of",
    "interim_utility",
    "neighbours",
    "own_score_row",
    "printed_audit",
    "printed_loss",
    "printed_samples",
    "privacy_controls",
    "privacy_rows",
    "range_row",
    "stand_in",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "behaviour": ("behaviour_controls", "behaviour_rows", "own_score_row", "range_row"),
        "neighbouring": ("neighbours",),
        "peers": ("interim_utility",),
        "population": ("StandIn", "stand_in"),
        "printed": ("printed_audit", "printed_loss", "printed_samples"),
        "privacy": ("claims_of", "privacy_controls", "privacy_rows"),
        "whole": ("audit_regression",),
    },
)
