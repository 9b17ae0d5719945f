# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.campaign.campaign import Campaign as Campaign
from confide.campaign.campaign import hand_out as hand_out
from confide.campaign.campaign import settle as settle
from confide.campaign.file import CampaignFile as CampaignFile
from confide.campaign.file import Planned as Planned
from confide.campaign.file import load as load
from confide.campaign.file import schema as schema
from confide.campaign.keys import key_sections as key_sections
from confide.campaign.settlement import Settled as Settled
from confide.campaign.store import Store as Store
from confide.campaign.store.home import Home as Home
from confide.campaign.store.states import State as State
from confide.campaign.store.states import StateEvent as StateEvent
from confide.campaign.store.states import advance as advance
from confide.campaign.verification import Verification as Verification
from confide.campaign.verification import VerificationFinding as VerificationFinding
from confide.campaign.verification import verify as verify

__all__ = [
    "Campaign", "CampaignFile", "Home", "Planned", "Settled", "State", "StateEvent", "Store", "Verification",
    "VerificationFinding", "advance", "hand_out", "key_sections", "load", "schema", "settle", "verify",
]
