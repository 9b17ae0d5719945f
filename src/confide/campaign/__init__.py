"""Campaigns from the file to the payouts: states, store, settlement, signed packs of results, and verification."""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "campaign": ("Campaign", "hand_out", "settle"),
        "file": ("CampaignFile", "Planned", "load", "schema"),
        "keys": ("key_sections",),
        "settlement": ("Settled",),
        "store": ("Store",),
        "store.home": ("Home",),
        "store.states": ("StateEvent", "State", "advance"),
        "verification": ("VerificationFinding", "Verification", "verify"),
    },
    renamed={"Event": "StateEvent", "Finding": "VerificationFinding"},
)
