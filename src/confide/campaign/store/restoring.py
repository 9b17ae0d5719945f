"""Restoring: what a copy of a store must not do before somebody who knows its original has said so.

Sessions and codes that were good when the copy was taken may be of people who were thrown out since. What was asked for
may have been done, and what was approved may have been paid.
"""

from __future__ import annotations

from sqlalchemy import Connection, delete, select, update

from confide.campaign.store import schema as s
from confide.campaign.store import service_schema as t
from confide.campaign.store.payouts import all_paid
from confide.campaign.store.states import State

__all__ = ["ASKED_BEFORE", "end_what_was_begun", "unfinished"]

ASKED_BEFORE = "was asked for before the copy was taken from which this installation was restored: ask again"
"""Why a job of a copy has failed."""


def end_what_was_begun(connection: Connection) -> None:
    """End everybody's session, codes that nobody has used, and jobs that nobody has ended.

    Args:
        connection: in a writing transaction.
    """
    for table in (t.operator_session, t.participant_session, t.invitation, t.replay):
        connection.execute(delete(table))
    connection.execute(update(t.job).where(t.job.c.state.in_(("queued", "running"))).values(
        state="failed", lease=0, problem=ASKED_BEFORE))


def unfinished(connection: Connection) -> list[str]:
    """The contents of campaigns that could still be settled, or paid: the original may have done so since."""
    rows = connection.execute(select(s.campaign.c.id, s.campaign.c.content, s.campaign.c.state).where(
        s.campaign.c.state != State.CANCELLED.value).order_by(s.campaign.c.id)).all()
    return [row.content for row in rows if row.state != State.SETTLED.value or not all_paid(connection, row.id)]
