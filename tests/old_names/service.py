"""Old names of `confide.service` in use: what is done with each, and what the new one gives."""

from __future__ import annotations

from typing import Any


def uses() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.service`, and what the new ones give."""
    from confide.service import work as w

    return {
        ("work", "Participation"): (lambda: w.Participation, w.ParticipantActions),  # type: ignore[attr-defined]
        ("work", "Rounds"): (lambda: w.Rounds, w.CampaignRounds),  # type: ignore[attr-defined]
        ("work", "Standing"): (lambda: w.Standing, w.ParticipantStanding),  # type: ignore[attr-defined]
    }
