"""What campaigns have in common whose records are people's own: reading, checking, storing, handing in."""

from confide._lazy import doors

__all__, __getattr__, __dir__ = doors(
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
