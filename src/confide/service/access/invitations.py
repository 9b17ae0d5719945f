"""Invitations: a code for each invited slot, which works once. A slot is a position in the public list of ids. The
person who joins with a code gets the slot, and a session of their own.

The operator hands the codes out, and may make new codes. A new code for a slot makes the earlier code invalid, and ends
all sessions of the slot. A slot has only one answer, even if several people have joined for the slot.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import delete, func, select

from confide.campaign.store import Store
from confide.campaign.store import schema as s
from confide.campaign.store import service_schema as t
from confide.campaign.store.database import insert_many
from confide.contract.errors import InvalidInput, Refused
from confide.contract.worded import worded
from confide.service.access.identity import Participant, digest_of, new_code
from confide.service.access.sessions import begin_participant

__all__ = ["Invitations"]

_OVER = {"cancelled": worded("the campaign is cancelled")}


class Invitations:
    """The invitations of a store.

    Args:
        store: store in which the invitations are kept.
    """

    def __init__(self, store: Store) -> None:
        self._database = store.database

    def invite(self, campaign: int, slots: Iterable[int]) -> list[tuple[int, str]]:
        """Make new codes for some slots, and return them as pairs (slot, code). The codes cannot be read from the store
        later.

        Earlier codes of these slots become invalid, and the slots' present sessions end.

        Args:
            campaign: number of the campaign.
            slots: positions of the invited people in the public list of ids, from 0.

        Raises:
            InvalidInput: there is no campaign of this number, or no slot of this number.
            Refused: the campaign is cancelled, or everybody is paid.
        """
        wanted = sorted(set(slots))
        codes = [(slot, new_code()) for slot in wanted]
        with self._database.writing() as connection:
            known = connection.execute(select(s.campaign.c.slots, s.campaign.c.state, s.campaign.c.paid).where(
                s.campaign.c.id == campaign).with_for_update()).first()
            if known is None:
                raise InvalidInput("campaign", worded("the store has no campaign with the number %(campaign)s",
                                                      campaign=campaign))
            if known.state in _OVER:
                raise Refused(_OVER[known.state], worded("no new invitations are possible"))
            if known.paid is not None:
                raise Refused(worded("everybody is paid, and people's records are erased"),
                              worded("no new invitations are possible"))
            if wanted and not (wanted[0] >= 0 and wanted[-1] < known.slots):
                raise InvalidInput("slots",
                                   worded("%(wanted)s is out of range",
                                        wanted=wanted[0] if wanted[0] < 0 else wanted[-1]),
                                   worded("must be in [0, %(slots)s)", slots=known.slots))
            for table in (t.invitation, t.participant_session):
                if len(wanted) == known.slots:
                    connection.execute(delete(table).where(table.c.campaign_id == campaign))
                else:
                    for at in range(0, len(wanted), 500):
                        connection.execute(delete(table).where(
                            table.c.campaign_id == campaign, table.c.slot.in_(wanted[at : at + 500])))
            insert_many(connection, t.invitation, ("campaign_id", "slot", "digest"),
                        [[(campaign, slot, digest_of(code)) for slot, code in codes]])
        return codes

    def join(self, code: str) -> tuple[str, Participant] | None:
        """Use up a code, begin a session, and return the session's token and the participant. The result is None if the
        code is unknown or was used before.
        """
        mine = t.invitation.c.digest == digest_of(code)
        with self._database.writing() as connection:
            row = connection.execute(delete(t.invitation).where(mine).returning(
                t.invitation.c.campaign_id, t.invitation.c.slot)).first()
            if row is None:
                return None
            found = Participant(row.campaign_id, row.slot)
            return begin_participant(connection, found), found

    def waiting(self, campaign: int) -> int:
        """The number of codes of a campaign that were not used yet. Only operators may see this number."""
        with self._database.reading() as connection:
            return int(connection.execute(select(func.count()).select_from(t.invitation).where(
                t.invitation.c.campaign_id == campaign)).scalar_one())
