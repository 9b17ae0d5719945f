"""What the service does: drafts that become campaigns, people who take part, and work that goes on whatever dies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.service.work.drafts import Draft, Drafts
    from confide.service.work.intake import Intake
    from confide.service.work.jobs import Job, Jobs, Task
    from confide.service.work.opened import Opened, OpenedCampaign
    from confide.service.work.participation import ParticipantActions, ParticipantStanding
    from confide.service.work.rounds import CampaignRounds
    from confide.service.work.worker import Worker


__all__ = [
    "CampaignRounds",
    "Draft",
    "Drafts",
    "Intake",
    "Job",
    "Jobs",
    "Opened",
    "OpenedCampaign",
    "ParticipantActions",
    "ParticipantStanding",
    "Task",
    "Worker",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "drafts": ("Draft", "Drafts"),
        "intake": ("Intake",),
        "jobs": ("Job", "Jobs", "Task"),
        "opened": ("Opened", "OpenedCampaign"),
        "participation": ("ParticipantActions", "ParticipantStanding"),
        "rounds": ("CampaignRounds",),
        "worker": ("Worker",),
    },
    renamed={"Participation": "ParticipantActions", "Rounds": "CampaignRounds", "Standing": "ParticipantStanding"},
)
