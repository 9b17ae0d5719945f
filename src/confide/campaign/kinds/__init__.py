"""Kinds of campaigns: those of confide, a module each, and what a kind of your own begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.campaign.kinds.device_kind import DeviceKind
    from confide.campaign.kinds.mechanism_plan import MechanismPlan
    from confide.campaign.kinds.peoples_kind import PeoplesKind
    from confide.contract.known_keys import DataTable, PeoplesTables, PeopleTable, RehearsalTable
    from confide.contract.running import Submissions
    from confide.tables.slot_rows import CellCodec, SlotRows


__all__ = [
    "CellCodec", "DataTable", "DeviceKind", "MechanismPlan", "PeopleTable", "PeoplesKind", "PeoplesTables",
    "RehearsalTable", "SlotRows", "Submissions",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "device_kind": ("DeviceKind",),
        "mechanism_plan": ("MechanismPlan",),
        "peoples_kind": ("PeoplesKind",),
        "confide.contract.known_keys": ("DataTable", "PeopleTable", "PeoplesTables", "RehearsalTable"),
        "confide.contract.running": ("Submissions",),
        "confide.tables.slot_rows": ("CellCodec", "SlotRows"),
    },
)
