"""Former import path of the base classes of kinds whose data are people's records. `confide.campaign.kinds` defines
them now.
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(__name__, {}, moved={
    "campaign.kinds": ("CellCodec", "DataTable", "DeviceKind", "MechanismPlan", "PeopleTable", "PeoplesKind",
                       "PeoplesTables", "RehearsalTable", "SlotRows", "Submissions"),
})
