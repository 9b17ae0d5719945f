"""Identities: an operator with a role, or the participant who has one slot of one campaign.

A secret identifies its owner, who alone knows it; a store keeps its digest.
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
    """The rights of an operator; each role includes the rights of the one before."""

    VIEWER = "viewer"
    """look at campaigns, their progress and the ledger; no person's share, payment or name"""
    OPERATOR = "operator"
    """make campaigns, invite, close, settle, pay"""
    ADMIN = "admin"
    """say who else is an operator"""

    def covers(self, other: Role) -> bool:
        """Whether whoever has this role may do what the other may.

        Example:
            >>> Role.ADMIN.covers(Role.VIEWER), Role.VIEWER.covers(Role.OPERATOR)
            (True, False)
        """
        order = list(Role)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, kw_only=True)
class Operator:
    """Somebody who runs campaigns.

    Args:
        number: number in the store.
        name: name with which the operator logs in.
        role: rights of the operator.
        active: whether the operator may do anything at all.
        issuer: address of the service that identifies the operator; empty where a password does.
    """

    number: int
    name: str
    role: Role
    active: bool = True
    issuer: str = ""


@dataclass(frozen=True)
class Participant:
    """One slot of one campaign.

    Args:
        campaign: number of the campaign.
        slot: rank of the participant in the public list of ids, from 0.
    """

    campaign: int
    slot: int


_BYTES = 32
_CODE_BYTES = 20  # 160 bits are 32 letters of base32
_GROUP = 4


def new_token() -> str:
    """A session's token: 256 bits as 43 letters.

    Example:
        >>> len(new_token())
        43
    """
    return base64.urlsafe_b64encode(random_bytes(_BYTES)).decode().rstrip("=")


def new_code() -> str:
    """A code that somebody can type: 160 bits as eight groups of four letters or digits.

    Example:
        >>> [len(group) for group in new_code().split("-")]
        [4, 4, 4, 4, 4, 4, 4, 4]
    """
    letters = base64.b32encode(random_bytes(_CODE_BYTES)).decode()
    return "-".join(letters[at : at + _GROUP] for at in range(0, len(letters), _GROUP))


def digest_of(secret: str) -> bytes:
    """The (32,) digest that a store keeps of a token, or of a code in any spelling.

    No salt and no slow hash: a secret of 160 bits or more cannot be guessed.

    Example:
        >>> digest_of("ABCD-2345") == digest_of(" abcd2345 ")
        True
    """
    code = "".join(secret.split()).replace("-", "")
    same = code.upper() if len(code) * 5 <= _CODE_BYTES * 8 else secret.strip()
    return hashlib.sha256(same.encode("utf-8", "replace")).digest()


def csrf_of(token: str) -> str:
    """The word that a form of this session must send along, 64 hexadecimal digits; a stranger's page cannot know it."""
    return hmac.digest(token.encode(), b"confide form", "sha256").hex()
