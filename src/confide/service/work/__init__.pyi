# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.service.work.drafts import Draft as Draft
from confide.service.work.drafts import Drafts as Drafts
from confide.service.work.intake import Intake as Intake
from confide.service.work.jobs import Job as Job
from confide.service.work.jobs import Jobs as Jobs
from confide.service.work.jobs import Task as Task
from confide.service.work.opened import Opened as Opened
from confide.service.work.opened import OpenedCampaign as OpenedCampaign
from confide.service.work.participation import ParticipantActions as ParticipantActions
from confide.service.work.participation import ParticipantStanding as ParticipantStanding
from confide.service.work.rounds import CampaignRounds as CampaignRounds
from confide.service.work.worker import Worker as Worker

__all__ = [
    "CampaignRounds", "Draft", "Drafts", "Intake", "Job", "Jobs", "Opened", "OpenedCampaign", "ParticipantActions",
    "ParticipantStanding", "Task", "Worker",
]
