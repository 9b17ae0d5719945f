"""Kinds of campaigns: one module for each kind that confide ships, and base classes for a kind of your own."""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
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
