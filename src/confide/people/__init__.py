"""What campaigns have in common whose records are people's own: reading, checking, storing, handing in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.people.campaign_tables import DataTable, PeoplesTables, PeopleTable, RehearsalTable
    from confide.people.device_kind import DeviceKind
    from confide.people.mechanism_plan import MechanismPlan
    from confide.people.peoples_kind import PeoplesKind
    from confide.people.submissions import Submissions
    from confide.tables.slot_rows import CellCodec, SlotRows


__all__ = [
    "CellCodec", "DataTable", "DeviceKind", "MechanismPlan", "PeopleTable", "PeoplesKind", "PeoplesTables",
    "RehearsalTable", "SlotRows", "Submissions",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "campaign_tables": ("DataTable", "PeopleTable", "PeoplesTables", "RehearsalTable"),
        "device_kind": ("DeviceKind",),
        "mechanism_plan": ("MechanismPlan",),
        "peoples_kind": ("PeoplesKind",),
        "confide.tables.slot_rows": ("CellCodec", "SlotRows"),
        "submissions": ("Submissions",),
    },
)
