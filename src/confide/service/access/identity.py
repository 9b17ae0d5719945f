"""Identities of callers: an operator with a role, or the participant at one position (slot) in the public list of ids
of one campaign.

A caller proves their identity by a secret: a token or a code. The store keeps only a digest of the secret.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass
from enum import StrEnum

from confide.privacy.noise.entropy import random_bytes

__all__ = ["Operator", "Participant", "Role", "csrf_of", "digest_of", "new_code", "new_token"]


class Role(StrEnum):
    """The rights of an operator: viewer, operator or administrator. Each role includes the rights of the role that is
    listed before it.
    """

    VIEWER = "viewer"
    """right to see campaigns, their progress and the ledger, but no participant's share, payment or name"""
    OPERATOR = "operator"
    """right to make campaigns, invite people, close collections, settle and pay"""
    ADMIN = "admin"
    """right to add operators and to change their rights"""

    def covers(self, other: Role) -> bool:
        """Whether this role includes all rights of the given role.

        Example:
            >>> Role.ADMIN.covers(Role.VIEWER), Role.VIEWER.covers(Role.OPERATOR)
            (True, False)
        """
        order = list(Role)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, kw_only=True)
class Operator:
    """A person who runs campaigns.

    Args:
        number: number of the operator in the store.
        name: name with which the operator logs in.
        role: rights of the operator.
        active: whether the operator may log in; an operator who is not active has no rights.
        issuer: address of the identity provider that identifies the operator; empty if the operator has a password.
    """

    number: int
    name: str
    role: Role
    active: bool = True
    issuer: str = ""


@dataclass(frozen=True)
class Participant:
    """A participant: one slot of one campaign.

    Args:
        campaign: number of the campaign.
        slot: position of the participant in the public list of ids, from 0.
    """

    campaign: int
    slot: int


_BYTES = 32
_CODE_BYTES = 20  # 160 bits are 32 letters of base32
_GROUP = 4


def new_token() -> str:
    """A new random token for a session: 256 bits as 43 characters (letters, digits, "-" and "_").

    Example:
        >>> len(new_token())
        43
    """
    return base64.urlsafe_b64encode(random_bytes(_BYTES)).decode().rstrip("=")


def new_code() -> str:
    """A new random code that a person can type: 160 bits as eight groups of four letters or digits.

    Example:
        >>> [len(group) for group in new_code().split("-")]
        [4, 4, 4, 4, 4, 4, 4, 4]
    """
    letters = base64.b32encode(random_bytes(_CODE_BYTES)).decode()
    return "-".join(letters[at : at + _GROUP] for at in range(0, len(letters), _GROUP))


def digest_of(secret: str) -> bytes:
    """The digest that a store keeps in place of a token or a code: 32 bytes. A code has the same digest in small
    letters, with spaces, or without hyphens.

    The digest needs neither a salt nor a slow hash, because a secret of 160 bits or more cannot be guessed.

    Example:
        >>> digest_of("ABCD-2345") == digest_of(" abcd2345 ")
        True
    """
    code = "".join(secret.split()).replace("-", "")
    same = code.upper() if len(code) * 5 <= _CODE_BYTES * 8 else secret.strip()
    return hashlib.sha256(same.encode("utf-8", "replace")).digest()


def csrf_of(token: str) -> str:
    """The form word of a session: 64 hexadecimal digits that every form of this session must send along. A page of
    another site cannot know this word.
    """
    return hmac.digest(token.encode(), b"confide form", "sha256").hex()
