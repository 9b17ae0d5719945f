"""Campaigns: the file, the life as a pure table, the store, settlement, packs and their verification, payouts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.campaign.campaign import Campaign, hand_out, settle
    from confide.campaign.file import CampaignFile, Planned, load, schema
    from confide.campaign.keys import key_sections
    from confide.campaign.settlement import Settled
    from confide.campaign.store import Store
    from confide.campaign.store.home import Home
    from confide.campaign.store.states import State, StateEvent, advance
    from confide.campaign.verification import Verification, VerificationFinding, verify


__all__ = [
    "Campaign",
    "CampaignFile",
    "Home",
    "Planned",
    "Settled",
    "State",
    "StateEvent",
    "Store",
    "Verification",
    "VerificationFinding",
    "advance",
    "hand_out",
    "key_sections",
    "load",
    "schema",
    "settle",
    "verify",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "campaign": ("Campaign", "hand_out", "settle"),
        "file": ("CampaignFile", "Planned", "load", "schema"),
        "keys": ("key_sections",),
        "settlement": ("Settled",),
        "store": ("Store",),
        "store.home": ("Home",),
        "store.states": ("StateEvent", "State", "advance"),
        "verification": ("VerificationFinding", "Verification", "verify"),
    },
    renamed={"Event": "StateEvent", "Finding": "VerificationFinding"},
)
