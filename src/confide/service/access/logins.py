"""Log-ins in progress: a person was sent to an identity provider, and will return with the provider's statement about
their identity.

All values of a log-in follow from one secret, which only the person's browser keeps. The store keeps the digest of the
secret until the person returns or the time limit passes. The provider's answer is therefore accepted only once, and
only in the browser in which the log-in began. Any process of this service can accept the answer.
"""

from __future__ import annotations

import base64
import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from sqlalchemy import delete, insert

from confide.campaign.store import Store
from confide.campaign.store import service_schema as t
from confide.service.access.identity import digest_of, new_token

__all__ = ["SECONDS", "Begun", "Logins"]

SECONDS = 600
"""Time limit for a log-in through an identity provider, in seconds."""


@dataclass(frozen=True, kw_only=True)
class Begun:
    """A log-in through an identity provider that was begun.

    Args:
        secret: secret that the person's browser keeps.
        at: start of the log-in, in seconds since 1970.

    Example:
        >>> begun = Begun(secret="x" * 43, at=0)
        >>> len(begun.state), len(begun.verifier), begun.nonce == begun.state
        (43, 43, False)
    """

    secret: str = field(repr=False)
    at: int

    @property
    def state(self) -> str:
        """The value that the provider sends back with its answer. A person who forges an answer in another browser does
        not know this value.
        """
        return self._part("state")

    @property
    def nonce(self) -> str:
        """The value that the provider's ID token must repeat, so that a token of an earlier log-in is refused."""
        return self._part("nonce")

    @property
    def verifier(self) -> str:
        """The code verifier of RFC 7636, which this service sends to the provider together with the code. A thief of
        the code does not have the verifier.
        """
        return self._part("verifier")

    def _part(self, name: str) -> str:
        found = hmac.digest(self.secret.encode("utf-8", "replace"), f"confide log-in {name}".encode(), "sha256")
        return base64.urlsafe_b64encode(found).decode().rstrip("=")


class Logins:
    """The log-ins in progress, which are kept in a store.

    Args:
        store: store in which the log-ins are kept.
        clock: clock that gives seconds since 1970.
    """

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._database, self._clock = store.database, clock

    def begin(self) -> Begun:
        """Begin a log-in, and store the digest of its secret."""
        found = Begun(secret=new_token(), at=int(self._clock()))
        with self._database.writing() as connection:
            connection.execute(insert(t.begun_login).values(digest=digest_of(found.secret), expires=found.at + SECONDS))
        return found

    def take(self, secret: str, state: str) -> Begun | None:
        """Use up the log-in with which a person returns from the provider. The result is this log-in, or None if no
        log-in with this secret and state exists, if the log-in was used up before, or if its time limit has passed.

        Args:
            secret: secret that the person's browser has kept.
            state: value that the provider sent back; if the value belongs to another log-in, no log-in is used up.
        """
        if not hmac.compare_digest(Begun(secret=secret, at=0).state.encode(), state.encode("utf-8", "replace")):
            return None
        with self._database.writing() as connection:
            expires = connection.execute(delete(t.begun_login).where(t.begun_login.c.digest == digest_of(secret))
                                         .returning(t.begun_login.c.expires)).scalar()
        if expires is None or expires <= int(self._clock()):
            return None
        return Begun(secret=secret, at=expires - SECONDS)

    def sweep(self) -> None:
        """Delete all log-ins whose time limit has passed."""
        with self._database.writing() as connection:
            connection.execute(delete(t.begun_login).where(t.begun_login.c.expires <= int(self._clock())))
