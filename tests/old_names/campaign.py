"""Old names of `confide.campaign` in use: what is done with each, and what the new one gives."""

from __future__ import annotations

from typing import Any


def uses() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.campaign`, and what the new ones give."""
    from confide import campaign as c
    from confide.campaign import verification as v
    from confide.campaign.service import work as w

    return {
        ("", "Event"): (lambda: c.Event, c.StateEvent),  # type: ignore[attr-defined]
        ("", "Finding"): (lambda: c.Finding, c.VerificationFinding),  # type: ignore[attr-defined]
        ("service.work", "Participation"): (lambda: w.Participation, w.ParticipantActions),  # type: ignore[attr-defined]
        ("service.work", "Rounds"): (lambda: w.Rounds, w.CampaignRounds),  # type: ignore[attr-defined]
        ("service.work", "Standing"): (lambda: w.Standing, w.ParticipantStanding),  # type: ignore[attr-defined]
        ("verification", "Finding"): (lambda: v.Finding, v.VerificationFinding),  # type: ignore[attr-defined]
    }
