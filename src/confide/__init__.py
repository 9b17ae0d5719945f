"""confide: plan, offer, collect, settle and audit campaigns that use people's private data.

>>> import confide as cf
>>> cf.privacy.PureDP(1.0).to_zcdp()
ZCDP(rho=0.5)
"""

from __future__ import annotations

from confide._lazy import doors

TYPE_CHECKING = False  # what type checkers take for true; `typing` itself is half of this import's time
if TYPE_CHECKING:
    from confide import (
        acquisition,
        allocation,
        audit,
        campaign,
        channels,
        contract,
        market,
        people,
        privacy,
        programs,
        regression,
        release,
        search,
        tables,
    )
    from confide._version import __version__ as __version__
    from confide.contract.outcome import Outcome, PublicOutcome, SimulatedOutcome
    from confide.privacy.noise import Noise

__all__ = [
    "Noise", "Outcome", "PublicOutcome", "SimulatedOutcome", "acquisition", "allocation", "audit", "campaign",
    "channels", "contract", "market", "people", "privacy", "programs", "regression", "release", "search", "tables",
]

__getattr__, __dir__ = doors(
    __name__,
    {"_version": ("__version__",), "contract.outcome": ("Outcome", "PublicOutcome", "SimulatedOutcome"),
     "privacy.noise": ("Noise",)},
    packages=("acquisition", "allocation", "audit", "campaign", "channels", "contract", "market", "people",
              "privacy", "programs", "regression", "release", "search", "tables"),
)
