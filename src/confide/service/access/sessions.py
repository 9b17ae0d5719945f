"""Sessions: a token for each browser or program with which an operator has logged in or a participant has joined.

An operator's session ends after some hours. All participants' sessions of a campaign end on the same day, some days
after the campaign was settled or cancelled. No session therefore reveals when the participant joined, and participants
can still withdraw after the settlement.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, bindparam, delete, insert, or_, select, update

from confide.campaign.store import Store
from confide.campaign.store import schema as s
from confide.campaign.store import service_schema as t
from confide.campaign.store.states import State
from confide.service.access.identity import Operator, Participant, Role, digest_of, new_token

__all__ = ["Sessions", "begin_participant"]

Clock = Callable[[], float]

_ENDED = (State.SETTLED.value, State.CANCELLED.value)
_TAKING_PART = select(t.participant_session).join(  # asked by every request: put together once
    t.draft, t.draft.c.campaign_id == t.participant_session.c.campaign_id).where(
    t.participant_session.c.digest == bindparam("digest"),
    or_(t.draft.c.last_day.is_(None), t.draft.c.last_day >= bindparam("today")))


class Sessions:
    """The sessions of operators and participants, which are kept in a store.

    Args:
        store: store in which the sessions are kept.
        hours: length of an operator's session, in hours.
        days: number of days for which a participant's session continues after their campaign was settled or cancelled.
        clock: clock that gives seconds since 1970.
    """

    def __init__(self, store: Store, *, hours: float = 12.0, days: int = 180, clock: Clock = time.time) -> None:
        self._database = store.database
        self._seconds, self._days, self._clock = int(3600 * hours), days, clock

    def begin(self, operator: Operator) -> str:
        """Begin a session of an operator, and return the session's token."""
        token = new_token()
        with self._database.writing() as connection:
            connection.execute(insert(t.operator_session).values(
                digest=digest_of(token), operator_id=operator.number, expires=int(self._clock()) + self._seconds))
        return token

    def who(self, token: str) -> Operator | None:
        """The operator to whom the session with this token belongs; None if there is no such session of an operator, or
        the session has ended.
        """
        with self._database.reading() as connection:
            row = connection.execute(
                select(t.operator).join(t.operator_session, t.operator_session.c.operator_id == t.operator.c.id)
                .where(t.operator_session.c.digest == digest_of(token), t.operator.c.active == 1,
                       t.operator_session.c.expires > int(self._clock()))).first()
        return None if row is None else Operator(number=row.id, name=row.name, role=Role(row.role),
                                                 issuer=row.issuer or "")

    def participant(self, token: str) -> Participant | None:
        """The participant to whom the session with this token belongs; None if there is no such session of a
        participant, or the session has ended.
        """
        with self._database.reading() as connection:
            row = connection.execute(_TAKING_PART, {"digest": digest_of(token),
                                                    "today": self._today()}).first()
        return None if row is None else Participant(row.campaign_id, row.slot)

    def end(self, token: str) -> None:
        """End the session with this token, of an operator or of a participant. A token without a session has no
        effect.
        """
        with self._database.writing() as connection:
            for table in (t.operator_session, t.participant_session):
                connection.execute(delete(table).where(table.c.digest == digest_of(token)))

    def sweep(self) -> None:
        """Delete sessions that have ended. For campaigns that have ended, set the day on which their participants'
        sessions end.
        """
        last = datetime.fromtimestamp(self._clock(), UTC).date() + timedelta(days=self._days)
        ended = select(s.campaign.c.id).where(s.campaign.c.state.in_(_ENDED))
        over = select(t.draft.c.campaign_id).where(t.draft.c.campaign_id.is_not(None),
                                                   t.draft.c.last_day < self._today())
        with self._database.writing() as connection:
            connection.execute(delete(t.operator_session).where(t.operator_session.c.expires <= int(self._clock())))
            connection.execute(update(t.draft).where(t.draft.c.last_day.is_(None), t.draft.c.campaign_id.in_(ended))
                               .values(last_day=last.isoformat()))
            connection.execute(delete(t.participant_session).where(t.participant_session.c.campaign_id.in_(over)))

    def _today(self) -> str:
        return datetime.fromtimestamp(self._clock(), UTC).date().isoformat()


def begin_participant(connection: Connection, participant: Participant) -> str:
    """Begin a session of a participant and return the session's token, in the transaction in which the participant
    joins.
    """
    token = new_token()
    connection.execute(insert(t.participant_session).values(
        digest=digest_of(token), campaign_id=participant.campaign, slot=participant.slot))
    return token
