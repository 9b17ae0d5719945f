"""Replays: a request with an idempotency key is done once; asked again, it is answered as before."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import delete, insert, select

from confide.campaign.store import Store
from confide.campaign.store import service_schema as t
from confide.contract.errors import Refused, StoreFailed

__all__ = ["Replays", "Reply"]

_KEPT = 86_400  # seconds


@dataclass(frozen=True)
class Reply:
    """What was answered.

    Args:
        status: of HTTP.
        body: JSON.
    """

    status: int
    body: bytes


class Replays:
    """The answers of a store's service that are kept for a day.

    Args:
        store: where they are kept.
        clock: seconds since 1970.
    """

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._database, self._clock = store.database, clock

    def seen(self, who: str, key: str, request: bytes) -> Reply | None:
        """What was answered before; None where it was not asked.

        Args:
            who: asks.
            key: hers, of this request.
            request: everything that was asked.

        Raises:
            Refused: the key was used for another request.
        """
        with self._database.reading() as connection:
            row = connection.execute(select(t.replay).where(
                t.replay.c.key == _key(who, key), t.replay.c.expires > int(self._clock()))).first()
        if row is None:
            return None
        if bytes(row.request) != hashlib.sha256(request).digest():
            raise Refused("this idempotency key was used for another request", "use a new key for a new request")
        return Reply(row.status, bytes(row.body))

    def keep(self, who: str, key: str, request: bytes, reply: Reply) -> None:
        """Keep what was answered; of two at once the first counts."""
        try:
            with self._database.writing() as connection:
                connection.execute(delete(t.replay).where(
                    t.replay.c.key == _key(who, key), t.replay.c.expires <= int(self._clock())))
                connection.execute(insert(t.replay).values(
                    key=_key(who, key), request=hashlib.sha256(request).digest(), status=reply.status, body=reply.body,
                    expires=int(self._clock()) + _KEPT))
        except StoreFailed:
            if self.seen(who, key, request) is None:
                raise

    def sweep(self) -> None:
        """Forget what is a day old."""
        with self._database.writing() as connection:
            connection.execute(delete(t.replay).where(t.replay.c.expires <= int(self._clock())))


def _key(who: str, key: str) -> bytes:
    return hashlib.sha256(f"{who}\0{key}".encode("utf-8", "replace")).digest()
