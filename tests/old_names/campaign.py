"""Old names of `confide.campaign` in use: what is done with each, and what the new one gives."""

from __future__ import annotations

from typing import Any


def uses() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.campaign`, and what the new ones give."""
    from confide import campaign as c
    from confide.campaign import verification as v

    return {
        ("", "Event"): (lambda: c.Event, c.StateEvent),  # type: ignore[attr-defined]
        ("", "Finding"): (lambda: c.Finding, c.VerificationFinding),  # type: ignore[attr-defined]
        ("verification", "Finding"): (lambda: v.Finding, v.VerificationFinding),  # type: ignore[attr-defined]
    }
