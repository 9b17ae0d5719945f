"""Who somebody is: operators by password or a provider's word, participants by a code; both then by a token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.service.access.attempts import Attempts
    from confide.service.access.identity import Operator, Participant, Role, csrf_of, digest_of, new_code, new_token
    from confide.service.access.invitations import Invitations
    from confide.service.access.logins import Logins
    from confide.service.access.operators import Operators
    from confide.service.access.sessions import Sessions


__all__ = ["Attempts", "Invitations", "Logins", "Operator", "Operators", "Participant", "Role", "Sessions", "csrf_of",
           "digest_of", "new_code", "new_token"]

__getattr__, __dir__ = doors(
    __name__,
    {
        "attempts": ("Attempts",),
        "identity": ("Operator", "Participant", "Role", "csrf_of", "digest_of", "new_code", "new_token"),
        "invitations": ("Invitations",),
        "logins": ("Logins",),
        "operators": ("Operators",),
        "sessions": ("Sessions",),
    },
)
