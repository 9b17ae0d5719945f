"""Plan, offer, collect, settle and audit campaigns that use people's private data.

>>> import confide as cf
>>> cf.privacy.PureDP(1.0).to_zcdp()
ZCDP(rho=0.5)
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {"_version": ("__version__",), "contract.outcome": ("Outcome", "PublicOutcome", "SimulatedOutcome"),
     "privacy.noise": ("Noise",)},
    packages=("acquisition", "allocation", "audit", "campaign", "channels", "contract", "market", "people",
              "privacy", "programs", "regression", "release", "search", "tables"),
)
