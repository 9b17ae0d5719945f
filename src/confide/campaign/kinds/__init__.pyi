# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.campaign.kinds.device_kind import DeviceKind as DeviceKind
from confide.campaign.kinds.mechanism_plan import MechanismPlan as MechanismPlan
from confide.campaign.kinds.peoples_kind import PeoplesKind as PeoplesKind
from confide.contract.known_keys import DataTable as DataTable
from confide.contract.known_keys import PeoplesTables as PeoplesTables
from confide.contract.known_keys import PeopleTable as PeopleTable
from confide.contract.known_keys import RehearsalTable as RehearsalTable
from confide.contract.running import Submissions as Submissions
from confide.tables.slot_rows import CellCodec as CellCodec
from confide.tables.slot_rows import SlotRows as SlotRows

__all__ = [
    "CellCodec", "DataTable", "DeviceKind", "MechanismPlan", "PeopleTable", "PeoplesKind", "PeoplesTables",
    "RehearsalTable", "SlotRows", "Submissions",
]
