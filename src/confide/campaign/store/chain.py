"""A campaign's events as a hash chain: each event contains the hash of the event before it, so that no event can be
changed, removed or added unnoticed. A chain can be verified without a database.

Events are acts of the operator. Acts of participants (submit, withdraw) are not events, since the chain would show the
time of each act. An event states only its day, since the duration of a run could disclose something about the records.
Where a run may have to wait, even the day of the run's end could disclose something, so the event of the publication
has no day.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confide.contract.digests import canonical, digest

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["Entry", "append", "broken", "entries"]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One event of a campaign.

    Args:
        event: the name of the event, as in `confide.campaign.store.states.StateEvent`; or the name of an act on
            payouts: "approve", "export", "import" or "reopen".
        day: the date, YYYY-MM-DD in UTC; empty if the date is not disclosed.
        data: details of the event; all details up to the publication are public.
        hash: SHA-256 of the event together with the hash of the event before, as 64 hexadecimal digits.
    """

    event: str
    day: str
    data: Mapping[str, Any]
    hash: str

    def to_dict(self) -> dict[str, Any]:
        """The event as a JSON-ready dictionary."""
        return {"event": self.event, "day": self.day, "data": dict(self.data), "hash": self.hash}


def _hash(before: str, event: str, day: str, data: Mapping[str, Any]) -> str:
    return digest(canonical({"before": before, "event": event, "day": day, "data": dict(data)}))


def broken(chain: Sequence[Entry]) -> int | None:
    """The position, from 0, of the first event with a hash that does not fit the event and the event before; None if
    all hashes fit.

    Example:
        >>> one = Entry(event="plan", day="2026-01-01", data={}, hash=_hash("", "plan", "2026-01-01", {}))
        >>> broken([one]), broken([Entry(event="open", day=one.day, data={}, hash=one.hash)])
        (None, 0)
    """
    before = ""
    for position, entry in enumerate(chain):
        if entry.hash != _hash(before, entry.event, entry.day, entry.data):
            return position
        before = entry.hash
    return None


def append(
    connection: Connection, campaign: int, event: str, day: str, data: Mapping[str, Any]
) -> Entry:
    """Add an event, in a transaction that has locked the campaign's row. The event's day is never earlier than the last
    event's day, even after the clock was set back.

    If the given day is empty, the event has no day.
    """
    from sqlalchemy import insert, select

    from confide.campaign.store import schema as s

    last = connection.execute(select(s.event.c.number, s.event.c.hash, s.event.c.day)
                              .where(s.event.c.campaign_id == campaign)
                              .order_by(s.event.c.number.desc()).limit(1)).first()
    number, before = (0, "") if last is None else (last.number + 1, last.hash)
    if last is not None and day:
        day = max(day, last.day)
    entry = Entry(event=event, day=day, data=data, hash=_hash(before, event, day, data))
    connection.execute(insert(s.event).values(campaign_id=campaign, number=number, event=event, day=day,
                                              data=canonical(dict(data)).decode(), hash=entry.hash))
    return entry


def entries(connection: Connection, campaign: int) -> tuple[Entry, ...]:
    """All events of a campaign, in order."""
    from sqlalchemy import select

    from confide.campaign.store import schema as s

    rows = connection.execute(select(s.event).where(s.event.c.campaign_id == campaign).order_by(s.event.c.number))
    return tuple(Entry(event=row.event, day=row.day, data=json.loads(row.data), hash=row.hash) for row in rows)
