"""Sessions: a token for each browser or program that has logged in, or joined with a code.

An operator's ends after some hours; a participant's on a day, of which the store knows no more.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

from sqlalchemy import Connection, bindparam, delete, insert, select

from confide.campaign.service.access.identity import Operator, Participant, Role
from confide.campaign.service.access.tokens import digest_of, new_token
from confide.campaign.store import Store
from confide.campaign.store import service_schema as t

__all__ = ["Sessions", "begin_participant"]

Clock = Callable[[], float]

_TAKING_PART = select(t.participant_session).where(  # asked by every request: put together once
    t.participant_session.c.digest == bindparam("digest"), t.participant_session.c.last_day >= bindparam("today"))


class Sessions:
    """The sessions of a store.

    Args:
        store: where they are kept.
        hours: that an operator's lasts.
        days: that a participant's lasts.
        clock: seconds since 1970.
    """

    def __init__(self, store: Store, *, hours: float = 12.0, days: int = 180, clock: Clock = time.time) -> None:
        self._database = store.database
        self._seconds, self._days, self._clock = int(3600 * hours), days, clock

    def begin(self, operator: Operator) -> str:
        """A new session's token."""
        token = new_token()
        with self._database.writing() as connection:
            connection.execute(insert(t.operator_session).values(
                digest=digest_of(token), operator_id=operator.number, expires=int(self._clock()) + self._seconds))
        return token

    def who(self, token: str) -> Operator | None:
        """Whose session it is; None where it is nobody's any more."""
        with self._database.reading() as connection:
            row = connection.execute(
                select(t.operator).join(t.operator_session, t.operator_session.c.operator_id == t.operator.c.id)
                .where(t.operator_session.c.digest == digest_of(token), t.operator.c.active == 1,
                       t.operator_session.c.expires > int(self._clock()))).first()
        return None if row is None else Operator(number=row.id, name=row.name, role=Role(row.role),
                                                 issuer=row.issuer or "")

    def participant(self, token: str) -> Participant | None:
        """Whose session it is; None where it is nobody's any more."""
        with self._database.reading() as connection:
            row = connection.execute(_TAKING_PART, {"digest": digest_of(token),
                                                    "today": self._today().isoformat()}).first()
        return None if row is None else Participant(row.campaign_id, row.slot)

    def end(self, token: str) -> None:
        """End a session, whoever's; nothing, where it is nobody's."""
        with self._database.writing() as connection:
            for table in (t.operator_session, t.participant_session):
                connection.execute(delete(table).where(table.c.digest == digest_of(token)))

    def last_day(self) -> date:
        """The day on which a participant's session that begins now still holds."""
        return self._today() + timedelta(days=self._days)

    def sweep(self) -> None:
        """Forget what has ended."""
        with self._database.writing() as connection:
            connection.execute(delete(t.operator_session).where(t.operator_session.c.expires <= int(self._clock())))
            connection.execute(delete(t.participant_session).where(
                t.participant_session.c.last_day < self._today().isoformat()))

    def _today(self) -> date:
        return datetime.fromtimestamp(self._clock(), UTC).date()


def begin_participant(connection: Connection, participant: Participant, last_day: date) -> str:
    """A participant's new token, in the transaction in which she joins."""
    token = new_token()
    connection.execute(insert(t.participant_session).values(
        digest=digest_of(token), campaign_id=participant.campaign, slot=participant.slot,
        last_day=last_day.isoformat()))
    return token
