"""Repeated requests: a request with an idempotency key is carried out once, and a repeated request gets the earlier
answer.

A key is reserved before its request is carried out. If several requests with one key arrive at the same time, one
request is carried out, and the other requests wait some seconds for its answer. If the process that carries out a
request dies, the key is free again after a minute.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from confide.campaign.store import Store
from confide.campaign.store import service_schema as t
from confide.contract.errors import Refused

__all__ = ["Replays", "Reply"]

_KEPT = 86_400  # seconds
_DOING = 60  # seconds after which the process of a request is taken to have died
_PATIENCE = 5.0  # seconds that somebody waits for another's answer
_LOOK = 0.02  # seconds between two looks for it
_NO_ANSWER_YET = 0  # in the place of a status


@dataclass(frozen=True)
class Reply:
    """The stored answer to an earlier request.

    Args:
        status: HTTP status.
        body: JSON text of the answer, as bytes.
    """

    status: int
    body: bytes


class Replays:
    """The answers to requests with idempotency keys, which a store keeps for a day.

    Args:
        store: store in which the answers are kept.
        clock: clock that gives seconds since 1970.
    """

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._database, self._clock = store.database, clock

    def begin(self, who: str, key: str, request: bytes) -> Reply | None:
        """Reserve a key before its request is carried out.

        Args:
            who: name of the caller; different callers may use the same key.
            key: idempotency key that the caller gave to this request.
            request: action and body of the request, as bytes.

        Returns:
            The earlier answer, or None. After None, the calling code must carry out the request, and then call `keep`
            or `drop`.

        Raises:
            Refused: the key was used for another request, or the same request is still being carried out.
        """
        last = time.monotonic() + _PATIENCE
        while not self._take(who, key, request):
            with self._database.reading() as connection:
                row = connection.execute(select(t.replay).where(t.replay.c.key == _key(who, key))).first()
            if row is not None and bytes(row.request) != hashlib.sha256(request).digest():
                raise Refused("this idempotency key was used for another request", "use a new key for a new request")
            if row is not None and row.status != _NO_ANSWER_YET:
                return Reply(row.status, bytes(row.body))
            if time.monotonic() > last:
                raise Refused("this request is still running", "send it again in a moment, with the same key")
            time.sleep(_LOOK)
        return None

    def keep(self, who: str, key: str, request: bytes, reply: Reply) -> None:
        """Store the answer to a request for a day."""
        with self._database.writing() as connection:
            connection.execute(update(t.replay).where(*_mine(who, key, request)).values(
                status=reply.status, body=reply.body, expires=int(self._clock()) + _KEPT))

    def drop(self, who: str, key: str, request: bytes) -> None:
        """Release the key of a request that has failed, so that the request may be repeated."""
        with self._database.writing() as connection:
            connection.execute(delete(t.replay).where(*_mine(who, key, request)))

    def _take(self, who: str, key: str, request: bytes) -> bool:
        now, build = int(self._clock()), sqlite_insert if self._database.sqlite else postgresql_insert
        taken = build(t.replay).values(key=_key(who, key), request=hashlib.sha256(request).digest(),
                                       status=_NO_ANSWER_YET, body=b"", expires=now + _DOING)
        with self._database.writing() as connection:
            connection.execute(delete(t.replay).where(t.replay.c.key == _key(who, key), t.replay.c.expires <= now))
            return connection.execute(taken.on_conflict_do_nothing().returning(t.replay.c.key)).first() is not None

    def sweep(self) -> None:
        """Delete answers that are older than a day."""
        with self._database.writing() as connection:
            connection.execute(delete(t.replay).where(t.replay.c.expires <= int(self._clock())))


def _mine(who: str, key: str, request: bytes) -> tuple[ColumnElement[bool], ...]:
    """Conditions that select the reserved key of a request."""
    return (t.replay.c.key == _key(who, key), t.replay.c.request == hashlib.sha256(request).digest(),
            t.replay.c.status == _NO_ANSWER_YET)


def _key(who: str, key: str) -> bytes:
    return hashlib.sha256(f"{who}\0{key}".encode("utf-8", "replace")).digest()
