"""confide: plan, offer, collect, settle and audit campaigns that use people's private data.

>>> import confide as cf
>>> cf.privacy.PureDP(1.0).to_zcdp()
ZCDP(rho=0.5)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide import audit, campaign, contract, privacy, regression
    from confide.contract.outcome import Outcome, SimulatedOutcome
    from confide.privacy.noise import Noise

if TYPE_CHECKING:
    from confide import audit, campaign, contract, privacy, regression
    from confide.contract.outcome import Outcome, SimulatedOutcome
    from confide.privacy.noise import Noise

if TYPE_CHECKING:
    from confide import audit as audit
    from confide import campaign as campaign
    from confide import contract as contract
    from confide import privacy as privacy
    from confide import regression as regression
    from confide.contract.outcome import Outcome as Outcome
    from confide.contract.outcome import SimulatedOutcome as SimulatedOutcome
    from confide.privacy.noise import Noise as Noise

__version__ = "0.1.0"
__all__ = ["Noise", "Outcome", "SimulatedOutcome", "audit", "campaign", "contract", "privacy", "regression"]

__getattr__, __dir__ = doors(
    __name__,
    {"contract.outcome": ("Outcome", "SimulatedOutcome"), "privacy.noise": ("Noise",)},
    packages=("audit", "campaign", "contract", "privacy", "regression"),
)
