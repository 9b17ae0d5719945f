"""The numbers of callers' recent failed attempts, for example to log in, counted over all processes of the service.

The caller is stored as a hash under a random key, and the key is deleted with the counts after a few minutes. Once the
key is deleted, nobody can find out who tried, not even the owner of the installation's keys. When an attempt succeeds,
its count is removed at once.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from confide.campaign.store import Store
from confide.campaign.store import service_schema as t
from confide.privacy.noise.entropy import random_bytes

__all__ = ["WINDOW", "Attempts", "Counted"]

WINDOW = 300
"""Length, in seconds, of a counting period. Failures of one period are counted together."""

_KEY_BYTES = 32


@dataclass(frozen=True, repr=False)
class Counted:
    """An attempt that was counted as a failure before it was made.

    Args:
        window: start of the counting period, in seconds since 1970.
        keys: hashes of the names under which the attempt was counted.
        counts: number of attempts in this period under each hash, including this attempt.
    """

    window: int
    keys: tuple[bytes, ...]
    counts: tuple[int, ...]


class Attempts:
    """The counts of failed attempts, which are kept in a store.

    Args:
        store: store in which the attempts are counted.
        clock: clock that gives seconds since 1970.
    """

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._database, self._clock = store.database, clock

    def begin(self, tried: Sequence[str]) -> Counted:
        """Count an attempt as a failure before it is made, so that many simultaneous attempts are all counted.

        Args:
            tried: names under which the attempt is counted, such as "log in" with an operator's name, or "log in" with
                an address. Each name has its own count.
        """
        window = int(self._clock()) // WINDOW * WINDOW
        with self._database.writing() as connection:
            secret = self._key(connection, window)
            keys = tuple(hmac.digest(secret, each.encode("utf-8", "replace"), "sha256") for each in tried)
            return Counted(window, keys, tuple(self._count(connection, key, window) for key in keys))

    def forgive(self, counted: Counted) -> None:
        """Take back the count of an attempt that succeeded. A count that reaches 0 is deleted."""
        mine = (t.attempt.c.window == counted.window) & t.attempt.c.key.in_(counted.keys)
        with self._database.writing() as connection:
            connection.execute(update(t.attempt).where(mine).values(count=t.attempt.c.count - 1))
            connection.execute(delete(t.attempt).where(mine, t.attempt.c.count <= 0))

    def sweep(self) -> None:
        """Delete the counts and the random keys of periods that are over."""
        over = int(self._clock()) - WINDOW
        with self._database.writing() as connection:
            for table in (t.attempt, t.attempt_key):
                connection.execute(delete(table).where(table.c.window <= over))

    def _key(self, connection: Connection, window: int) -> bytes:
        known = select(t.attempt_key.c.key).where(t.attempt_key.c.window == window)
        found = connection.execute(known).scalar()
        if found is None:
            connection.execute(self._insert(t.attempt_key).values(window=window, key=random_bytes(_KEY_BYTES))
                               .on_conflict_do_nothing(index_elements=["window"]))  # somebody may be faster
            found = connection.execute(known).scalar_one()
        return bytes(found)

    def _count(self, connection: Connection, key: bytes, window: int) -> int:
        counted = self._insert(t.attempt).values(key=key, window=window, count=1)
        counted = counted.on_conflict_do_update(index_elements=["key", "window"], set_={"count": t.attempt.c.count + 1})
        return int(connection.execute(counted.returning(t.attempt.c.count)).scalar_one())

    def _insert(self, table: Any) -> Any:
        return (sqlite_insert if self._database.sqlite else postgresql_insert)(table)
