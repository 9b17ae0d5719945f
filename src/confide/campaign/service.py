"""The former location of `confide.service`: its public names can be imported from here until version 1.0.0, with a
warning.
"""

from __future__ import annotations

import sys
from types import ModuleType

from confide._lazy import moved

__all__: list[str] = []

_NAMES = {
    "access": ("Attempts", "Invitations", "Logins", "Operator", "Operators", "Participant", "Role", "Sessions",
               "csrf_of", "digest_of", "new_code", "new_token"),
    "work": ("CampaignRounds", "Draft", "Drafts", "Intake", "Job", "Jobs", "Opened", "OpenedCampaign",
             "ParticipantActions", "ParticipantStanding", "Task", "Worker", "Participation", "Rounds", "Standing"),
    "language": ("chosen", "extracted", "languages", "translations"),
}


def _stand_in(part: str, names: tuple[str, ...]) -> ModuleType:
    """A module that `import` finds, with names that are defined in another module."""
    found = ModuleType(f"{__name__}.{part}")
    setattr(found, "__getattr__", moved(found.__name__, dict.fromkeys(names, f"confide.service.{part}")))  # noqa: B010
    sys.modules[found.__name__] = found
    return found


globals().update({part: _stand_in(part, names) for part, names in _NAMES.items()})
