"""Attempts: how often somebody may try something in a while, counted over all workers.

Who tries is kept as a keyed hash, for as long as the while lasts.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable

from sqlalchemy import delete
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from confide.campaign.store import Store
from confide.campaign.store import service_schema as t

__all__ = ["Attempts"]

_LONGEST = 86_400  # seconds that an attempt is remembered


class Attempts:
    """The attempts of a store.

    Args:
        store: where they are counted.
        clock: seconds since 1970.
    """

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._database, self._home, self._clock = store.database, store.home, clock

    def allowed(self, what: str, who: str, *, most: int, seconds: int) -> bool:
        """Count an attempt, and say whether it is within the limit.

        Args:
            what: is tried, such as "log in".
            who: tries it, such as an address.
            most: attempts in a while.
            seconds: that the while lasts, a day at most.
        """
        window = int(self._clock()) // seconds * seconds
        key = hmac.digest(self._home.ledger_key, f"attempt\0{what}\0{who}".encode("utf-8", "replace"), "sha256")
        build = sqlite_insert if self._database.sqlite else postgresql_insert
        counted = build(t.attempt).values(key=key, window=window, count=1)
        counted = counted.on_conflict_do_update(index_elements=["key", "window"], set_={"count": t.attempt.c.count + 1})
        with self._database.writing() as connection:
            count = connection.execute(counted.returning(t.attempt.c.count)).scalar_one()
        return int(count) <= most

    def sweep(self) -> None:
        """Forget what is a day old."""
        with self._database.writing() as connection:
            connection.execute(delete(t.attempt).where(t.attempt.c.window < int(self._clock()) - _LONGEST))
