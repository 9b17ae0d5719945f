# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide import acquisition as acquisition
from confide import allocation as allocation
from confide import audit as audit
from confide import campaign as campaign
from confide import channels as channels
from confide import contract as contract
from confide import market as market
from confide import people as people
from confide import privacy as privacy
from confide import programs as programs
from confide import regression as regression
from confide import release as release
from confide import search as search
from confide import tables as tables
from confide._version import __version__ as __version__
from confide.contract.outcome import Outcome as Outcome
from confide.contract.outcome import PublicOutcome as PublicOutcome
from confide.contract.outcome import SimulatedOutcome as SimulatedOutcome
from confide.privacy.noise import Noise as Noise

__all__ = [
    "Noise", "Outcome", "PublicOutcome", "SimulatedOutcome", "acquisition", "allocation", "audit", "campaign",
    "channels", "contract", "market", "people", "privacy", "programs", "regression", "release", "search", "tables",
]
