"""Campaigns: the file, the life as a pure table, settlement, reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.campaign.campaign import Campaign
    from confide.campaign.file import CampaignFile, load, schema
    from confide.campaign.settlement import Settled
    from confide.campaign.states import Event, State, advance


__all__ = ["Campaign", "CampaignFile", "Event", "Settled", "State", "advance", "load", "schema"]

__getattr__, __dir__ = doors(
    __name__,
    {
        "campaign": ("Campaign",),
        "file": ("CampaignFile", "load", "schema"),
        "settlement": ("Settled",),
        "states": ("Event", "State", "advance"),
    },
)
