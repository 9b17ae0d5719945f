"""Log-ins in progress: a person was sent to another service, and returns with that service's statement about their
identity.

All values of a log-in follow from one secret, which only the person's browser keeps. The store keeps the secret's
digest until the person returns or the time limit passes. An answer of the other service is therefore accepted once,
only in the browser in which the log-in began, and by any worker.
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
"""Time limit for a log-in through another service, in seconds."""


@dataclass(frozen=True, kw_only=True)
class Begun:
    """A log-in that was begun.

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
        """The value that the other service returns. A person who imitates the other service's answer in another browser
        does not know this value.
        """
        return self._part("state")

    @property
    def nonce(self) -> str:
        """The value that the other service's statement about the person must repeat, so that an older statement is
        refused.
        """
        return self._part("nonce")

    @property
    def verifier(self) -> str:
        """The verifier that this service shows to the other service together with the code (RFC 7636). A thief of the
        code does not have the verifier.
        """
        return self._part("verifier")

    def _part(self, name: str) -> str:
        found = hmac.digest(self.secret.encode("utf-8", "replace"), f"confide log-in {name}".encode(), "sha256")
        return base64.urlsafe_b64encode(found).decode().rstrip("=")


class Logins:
    """The log-ins in progress of a store.

    Args:
        store: store in which the log-ins are kept.
        clock: clock that gives seconds since 1970.
    """

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._database, self._clock = store.database, clock

    def begin(self) -> Begun:
        """Begin a log-in."""
        found = Begun(secret=new_token(), at=int(self._clock()))
        with self._database.writing() as connection:
            connection.execute(insert(t.begun_login).values(digest=digest_of(found.secret), expires=found.at + SECONDS))
        return found

    def take(self, secret: str, state: str) -> Begun | None:
        """The log-in from which a person returns; it can be taken once. The result is None if there is no log-in with
        this value, or if the log-in's time limit has passed.

        Args:
            secret: secret that the person's browser has kept.
            state: value that the other service returns; if it belongs to another log-in, no log-in is used up.
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
        """Delete log-ins past their time limit."""
        with self._database.writing() as connection:
            connection.execute(delete(t.begun_login).where(t.begun_login.c.expires <= int(self._clock())))
