"""Old place of what kinds of people's records begin with: `confide.campaign.kinds` has it now."""

from confide._lazy import doors

__all__, __getattr__, __dir__ = doors(__name__, {}, moved={
    "campaign.kinds": ("CellCodec", "DataTable", "DeviceKind", "MechanismPlan", "PeopleTable", "PeoplesKind",
                       "PeoplesTables", "RehearsalTable", "SlotRows", "Submissions"),
})
