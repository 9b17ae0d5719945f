"""Former module of `Recomputed` and `Verdict`, which are now in `confide.evidence.claim`. Confide 1.0.0 removes this
module.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from confide.contract.renamed import warn_of_old

_TODAY = {"Finding": "Recomputed", "Verdict": "Verdict"}


def __getattr__(name: str) -> Any:
    if name not in _TODAY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warn_of_old("confide", f"contract.claims.{name}", f"evidence.claim.{_TODAY[name]}")
    return getattr(import_module("confide.evidence.claim"), _TODAY[name])
