# Made by tests/typed/stubs.py from the call of `doors` in __init__.py.
from confide.people.campaign_tables import DataTable as DataTable
from confide.people.campaign_tables import PeoplesTables as PeoplesTables
from confide.people.campaign_tables import PeopleTable as PeopleTable
from confide.people.campaign_tables import RehearsalTable as RehearsalTable
from confide.people.device_kind import DeviceKind as DeviceKind
from confide.people.mechanism_plan import MechanismPlan as MechanismPlan
from confide.people.peoples_kind import PeoplesKind as PeoplesKind
from confide.people.submissions import Submissions as Submissions
from confide.tables.slot_rows import CellCodec as CellCodec
from confide.tables.slot_rows import SlotRows as SlotRows

__all__ = [
    "CellCodec", "DataTable", "DeviceKind", "MechanismPlan", "PeopleTable", "PeoplesKind", "PeoplesTables",
    "RehearsalTable", "SlotRows", "Submissions",
]
