"""Who somebody may be: an operator with a role, or the participant who has one slot of one campaign."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Operator", "Participant", "Role"]


class Role(StrEnum):
    """What an operator may do; each may do what the one before may."""

    VIEWER = "viewer"
    """look at campaigns, their progress and the ledger; no person's share, payment or name"""
    OPERATOR = "operator"
    """make campaigns, invite, close, settle, pay"""
    ADMIN = "admin"
    """say who else is an operator"""

    def covers(self, other: Role) -> bool:
        """Whether whoever has this role may do what the other may.

        Example:
            >>> Role.ADMIN.covers(Role.VIEWER), Role.VIEWER.covers(Role.OPERATOR)
            (True, False)
        """
        order = list(Role)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, kw_only=True)
class Operator:
    """Somebody who runs campaigns.

    Args:
        number: in the store.
        name: by which she logs in.
        role: what she may do.
        active: whether she may do anything at all.
        issuer: who says who she is; empty where a password does.
    """

    number: int
    name: str
    role: Role
    active: bool = True
    issuer: str = ""


@dataclass(frozen=True)
class Participant:
    """One slot of one campaign.

    Args:
        campaign: its number.
        slot: her rank in the public list of ids, from 0.
    """

    campaign: int
    slot: int
