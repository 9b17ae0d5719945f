"""Log-ins that were begun: somebody was sent to another service, and comes back with its word on who she is.

All that a log-in needs follows from one secret, which her browser alone keeps; the store knows its digest, until she is
back or a while is over. So an answer is taken once, in the browser in which the log-in was begun, by whichever worker.
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
"""How long somebody may take to say to another service who she is."""


@dataclass(frozen=True, kw_only=True)
class Begun:
    """A log-in that was begun.

    Args:
        secret: which her browser keeps.
        at: when, in seconds since 1970.

    Example:
        >>> begun = Begun(secret="x" * 43, at=0)
        >>> len(begun.state), len(begun.verifier), begun.nonce == begun.state
        (43, 43, False)
    """

    secret: str = field(repr=False)
    at: int

    @property
    def state(self) -> str:
        """What the other service gives back: whoever answers for it in another browser does not know it."""
        return self._part("state")

    @property
    def nonce(self) -> str:
        """What its word on her must repeat: an older one does not."""
        return self._part("nonce")

    @property
    def verifier(self) -> str:
        """What it is shown with its code (RFC 7636): whoever steals the code does not know it."""
        return self._part("verifier")

    def _part(self, name: str) -> str:
        found = hmac.digest(self.secret.encode("utf-8", "replace"), f"confide log-in {name}".encode(), "sha256")
        return base64.urlsafe_b64encode(found).decode().rstrip("=")


class Logins:
    """The log-ins that were begun, over a store.

    Args:
        store: where they are kept.
        clock: seconds since 1970.
    """

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._database, self._clock = store.database, clock

    def begin(self) -> Begun:
        """A new one."""
        found = Begun(secret=new_token(), at=int(self._clock()))
        with self._database.writing() as connection:
            connection.execute(insert(t.begun_login).values(digest=digest_of(found.secret), expires=found.at + SECONDS))
        return found

    def take(self, secret: str, state: str) -> Begun | None:
        """The one that somebody comes back from, once; None where there is none, or it took too long.

        Args:
            secret: which her browser has kept.
            state: which the other service gives back; where it is another one's, nothing is used up.
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
        """Forget what took too long."""
        with self._database.writing() as connection:
            connection.execute(delete(t.begun_login).where(t.begun_login.c.expires <= int(self._clock())))
