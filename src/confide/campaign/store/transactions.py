"""The common base of a store's classes: the stored form of a campaign, and transactions that lock one campaign."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, select, update

from confide.campaign.store import chain
from confide.campaign.store import schema as s
from confide.campaign.store.database import Database
from confide.campaign.store.home import Home
from confide.campaign.store.states import State, StateEvent, advance
from confide.contract.errors import InvalidInput, Refused
from confide.contract.worded import worded

__all__ = ["Stored", "Transactions", "check_slot", "stored", "today"]


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A campaign as the store records it.

    Args:
        number: the number of the campaign in this store.
        content: the digest of its campaign file.
        kind: the kind of the campaign.
        name: the name of the campaign file, without its ending.
        title: the title of the campaign.
        slots: the number of invited slots, which is the length of the public list of ids; 1 if there is no such list.
        state: the state of the campaign.
        withdrawals: the number of people who withdrew; the outcome of a run that began before the last withdrawal is
            discarded.
        paid: the total that was paid, in the smallest units of the currency, once amounts and shares were erased; None
            before. For the operator alone.
    """

    number: int
    content: str
    kind: str
    name: str
    title: str
    slots: int
    state: State
    withdrawals: int
    paid: int | None = None


class Transactions:
    """Base class with a database and the keys of an installation. Most methods of a subclass are one transaction."""

    home: Home
    _database: Database

    def get(self, campaign: int) -> Stored:
        """The campaign with a given number."""
        with self._database.reading() as connection:
            return stored(connection.execute(select(s.campaign).where(s.campaign.c.id == campaign)).one())

    def check_original(self, known: Stored) -> None:
        """Check that a campaign may be settled and paid in this store.

        Raises:
            Refused: the campaign came with a copy of an installation. The operator has to confirm first that the
                original has neither settled nor paid the campaign.
        """
        if self.home.restored(known.content):
            raise Refused(worded("this is a copy, and the original installation may have settled or paid this "
                                 "campaign since"),
                          worded("if the original did neither, and never will, use confide restored --confirm "
                                 "%(number)s",
                               number=known.number))

    @contextmanager
    def _locked(self, campaign: int) -> Iterator[tuple[Connection, Stored]]:
        """A writing transaction in which no other process changes this campaign."""
        with self._database.writing() as connection:
            row = connection.execute(select(s.campaign).where(s.campaign.c.id == campaign).with_for_update()).first()
            if row is None:
                raise InvalidInput("campaign", worded("the store has no number %(campaign)s", campaign=campaign))
            yield connection, stored(row)

    @staticmethod
    def _move(
        connection: Connection, known: Stored, event: StateEvent, data: Mapping[str, Any], *,
        state: State | None = None,
        day: str | None = None
    ) -> None:
        new = advance(known.state if state is None else state, event)
        connection.execute(update(s.campaign).where(s.campaign.c.id == known.number).values(state=new.value))
        chain.append(connection, known.number, event, today() if day is None else day, data)


def stored(row: Any) -> Stored:
    """The campaign that is stored in a row of the table `campaign`."""
    return Stored(number=row.id, content=row.content, kind=row.kind, name=row.name, title=row.title, slots=row.slots,
                  state=State(row.state), withdrawals=row.withdrawals,
                  paid=None if row.paid is None else int(row.paid))


def check_slot(slot: int, known: Stored) -> None:
    """Check that a campaign has a slot of this number."""
    if not 0 <= slot < known.slots:
        raise InvalidInput("slot", worded("%(slot)s is out of range", slot=slot),
                           worded("must be in [0, %(slots)s)", slots=known.slots))


def today() -> str:
    """Today's date in UTC, YYYY-MM-DD."""
    return datetime.now(UTC).date().isoformat()
