# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.service.access.attempts import Attempts as Attempts
from confide.service.access.identity import Operator as Operator
from confide.service.access.identity import Participant as Participant
from confide.service.access.identity import Role as Role
from confide.service.access.identity import csrf_of as csrf_of
from confide.service.access.identity import digest_of as digest_of
from confide.service.access.identity import new_code as new_code
from confide.service.access.identity import new_token as new_token
from confide.service.access.invitations import Invitations as Invitations
from confide.service.access.logins import Logins as Logins
from confide.service.access.operators import Operators as Operators
from confide.service.access.sessions import Sessions as Sessions

__all__ = [
    "Attempts", "Invitations", "Logins", "Operator", "Operators", "Participant", "Role", "Sessions", "csrf_of",
    "digest_of", "new_code", "new_token",
]
