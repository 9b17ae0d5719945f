"""The old name of `confide.evidence`. Confide 1.0.0 removes this name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from confide.contract.renamed import warn_of_old

_RENAMED = {"Exhibit": "GalleryEntry", "Measured": "MeasuredEvidence"}


def __getattr__(name: str) -> Any:
    evidence = None if name.startswith("__") else import_module("confide.evidence")
    today = _RENAMED.get(name, name)
    if evidence is None or today not in evidence.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warn_of_old("confide", "study", "evidence")
    return getattr(evidence, today)
