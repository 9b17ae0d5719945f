"""Log-ins that were begun: somebody was sent to another service, and comes back with its statement of who they are.

All values of a log-in follow from one secret, which the person's browser alone keeps; the store keeps its digest until
the person is back or the time is over. So an answer is taken once, in the browser in which the log-in was begun, by any
worker.
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
        secret: secret that the person's browser keeps.
        at: start, in seconds since 1970.

    Example:
        >>> begun = Begun(secret="x" * 43, at=0)
        >>> len(begun.state), len(begun.verifier), begun.nonce == begun.state
        (43, 43, False)
    """

    secret: str = field(repr=False)
    at: int

    @property
    def state(self) -> str:
        """The value that the other service returns; nobody who answers for it in another browser knows it."""
        return self._part("state")

    @property
    def nonce(self) -> str:
        """The value that the other service's statement about the person must repeat: an older statement does not."""
        return self._part("nonce")

    @property
    def verifier(self) -> str:
        """The verifier that the other service is shown with its code (RFC 7636): a thief of the code lacks it."""
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
        """The log-in that somebody comes back from, once; None where there is none, or it took too long.

        Args:
            secret: secret that the person's browser has kept.
            state: value that the other service returns; where it belongs to another log-in, nothing is used up.
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
