"""The work of the service: drafts that become campaigns, participation, and jobs that another process continues after a
process has ended.
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
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
