"""Log-ins and sessions. Operators identify themselves by a password or through an identity provider, and participants
by a code. After the log-in, the browser or program of an operator or participant sends a token.
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
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
