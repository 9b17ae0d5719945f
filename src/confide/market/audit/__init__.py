"""The audits of the market's campaigns: promises held against what really runs, and mechanisms broken on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.market.audit.majority import audit_majority
    from confide.market.audit.pairs import audit_pairs
    from confide.market.audit.randomiser import randomiser_controls, randomiser_rows
    from confide.market.audit.unknown_costs import audit_unknown_costs

__all__ = ["audit_majority", "audit_pairs", "audit_unknown_costs", "randomiser_controls", "randomiser_rows"]

__getattr__, __dir__ = doors(
    __name__,
    {
        "majority": ("audit_majority",),
        "pairs": ("audit_pairs",),
        "randomiser": ("randomiser_controls", "randomiser_rows"),
        "unknown_costs": ("audit_unknown_costs",),
    },
)
