"""The store: one database that holds campaigns, their reports and outcomes, the ledger, and the payouts.

Every method is one transaction, and doing it again changes nothing: what was done already is left as it is. A process
may die between any two of them, or within one.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sqlalchemy import URL, Connection, delete, func, insert, select, update

from confide.campaign.file import CampaignFile
from confide.campaign.home import Home
from confide.campaign.pack import EVENTS, MANIFEST, NOTE, statement
from confide.campaign.signatures import sign
from confide.campaign.states import Event, State, advance
from confide.campaign.store import chain, payouts, reports
from confide.campaign.store import schema as s
from confide.campaign.store.bulk import insert_many
from confide.campaign.store.database import Database
from confide.campaign.store.erasure import erase_paid, erase_reports, erase_share
from confide.campaign.store.ledger import (
    Charge,
    Standing,
    debit,
    debit_accounts,
    events_text,
    standings,
    subject_standing,
)
from confide.campaign.store.payouts import BatchRow, Entry, Queue
from confide.campaign.stored import unsettled
from confide.contract.encoding import canonical, digest
from confide.contract.errors import BudgetExceeded, InvalidInput, Refused
from confide.contract.kinds import ReportCodec, may_wait
from confide.privacy.ledger import Account

__all__ = ["Store", "Stored", "Taken"]

_KEY_CHECK = b"confide ledger"
_BEFORE_CHARGE = (State.OPEN, State.CLOSED)


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A campaign as the store knows it.

    Args:
        number: its number in this store.
        content: digest of what its file says.
        kind: its kind.
        name: its file's name.
        title: its title.
        slots: invited slots.
        state: where it stands.
        withdrawals: how many withdrew; a run that began before the last one is void.
        paid: what was paid in all, in the smallest coin, once amounts and shares were erased; None before. The
            operator's alone.
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Taken:
    """The reports that a run takes.

    Args:
        data: batches that can be read again and again.
        withdrawals: how many had withdrawn.
        deposited: slots of all who handed in a report, also of those who then withdrew: their deposit is due.
    """

    data: Any
    withdrawals: int
    deposited: np.ndarray


class Store:
    """Campaigns, reports, outcomes, ledger and payouts in one database.

    Args:
        url: "sqlite:///FILE" or "postgresql+psycopg://USER@HOST/NAME"; default the installation's own store.
        home: the installation, which holds the keys; default `Home.default()`.
        create: make the store where there is none; otherwise nothing is made, and no key either.

    Raises:
        InvalidInput: no such database, one that holds no store and none is to be made, one that others may read, or one
            whose ledger belongs to another installation's key.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     with Store(f"sqlite:///{folder}/store.db", home=Home(Path(folder))) as store:
        ...         store.campaigns()
        ()
    """

    def __init__(self, url: str | URL | None = None, *, home: Home | None = None, create: bool = True) -> None:
        self.home = Home.default() if home is None else home
        self._database = Database(self.home.url if url is None else url, create=create)
        try:
            self._check_key(create)
        except BaseException:
            self.close()
            raise

    @classmethod
    def existing(cls, url: str | URL | None = None) -> Store | None:
        """A store that is there; None where the installation has none of its own yet. Nothing is made.

        Args:
            url: of the store; default the installation's own.

        Raises:
            InvalidInput: the named store is not there.
        """
        home = Home.default()
        return None if url is None and not home.store.exists() else cls(url, home=home, create=False)

    def __repr__(self) -> str:
        return f"<store {self.name}>"

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def name(self) -> str:
        """The database's URL without a password."""
        return self._database.name

    @property
    def database(self) -> Database:
        """The database below."""
        return self._database

    def close(self) -> None:
        """Give back all connections."""
        self._database.close()

    def _check_key(self, create: bool) -> None:
        with self._database.reading() as connection:
            known = connection.execute(select(s.installation.c.key_check)).scalar()
        if known is None and create:
            found = self._key_check()  # on the disk before what depends on it
            with self._database.writing() as connection:
                self._database.lock_ledger(connection)
                known = connection.execute(select(s.installation.c.key_check)).scalar()
                if known is None:
                    connection.execute(insert(s.installation).values(id=1, key_check=found))
                    known = found
        if known is None:
            raise InvalidInput("store", f"{self.name} holds no store", "`confide run` makes one")
        if not self.home.has_ledger_key or not hmac.compare_digest(known, self._key_check()):
            raise InvalidInput("store", f"{self.name} has a ledger of another key than {self.home.folder}'s",
                               "every budget would start anew: use the ledger.key with which this store was made")

    def _key_check(self) -> bytes:
        return hmac.digest(self.home.ledger_key, _KEY_CHECK, "sha256")

    # ---- campaigns

    def campaigns(self) -> tuple[Stored, ...]:
        """All campaigns, in the order in which they came."""
        with self._database.reading() as connection:
            return tuple(_stored(row) for row in connection.execute(select(s.campaign).order_by(s.campaign.c.id)))

    def find(self, file: CampaignFile) -> Stored | None:
        """The campaign with this content; None where the store has none."""
        with self._database.reading() as connection:
            row = connection.execute(select(s.campaign).where(s.campaign.c.content == file.digest)).first()
        return None if row is None else _stored(row)

    def settled(self, file: CampaignFile) -> Stored:
        """The settled campaign with this content.

        Raises:
            Refused: it is not settled in this store, or another store's outcome was released.
        """
        found = self.find(file)
        if found is None or found.state is not State.SETTLED:
            raise unsettled(file, self.name, "it is settled in another store, name that with --store")
        with self._database.reading() as connection:
            manifest = connection.execute(select(s.billboard.c.data).where(
                s.billboard.c.campaign_id == found.number, s.billboard.c.path == MANIFEST)).scalar_one()
        # Of two stores that published at once, the one that lost pays nobody, either.
        self.home.release(found.content, digest(bytes(manifest)))
        return found

    def get(self, campaign: int) -> Stored:
        """A campaign by its number."""
        with self._database.reading() as connection:
            return _stored(connection.execute(select(s.campaign).where(s.campaign.c.id == campaign)).one())

    def open(self, file: CampaignFile, slots: int) -> Stored:
        """Register a campaign that is planned, and open its collection; once for each content.

        Args:
            file: the campaign.
            slots: invited slots.
        """
        found = self.find(file)
        if found is not None:
            return found
        with self._database.writing() as connection:
            self._database.lock_ledger(connection)
            row = connection.execute(select(s.campaign).where(s.campaign.c.content == file.digest)).first()
            if row is None:
                state = advance(advance(State.DRAFT, Event.PLAN), Event.OPEN)
                number = int(connection.execute(insert(s.campaign).values(
                    content=file.digest, kind=file.kind.name, name=file.name, title=file.title, text=file.text,
                    slots=slots, state=state.value, withdrawals=0).returning(s.campaign.c.id)).scalar_one())
                chain.append(connection, number, Event.PLAN, _today(), {"content": file.digest})
                chain.append(connection, number, Event.OPEN, _today(), {})
                row = connection.execute(select(s.campaign).where(s.campaign.c.id == number)).one()
        return _stored(row)

    def events(self, campaign: int) -> tuple[chain.Entry, ...]:
        """Everything that its operator did."""
        with self._database.reading() as connection:
            return chain.entries(connection, campaign)

    # ---- collection

    def submit(self, campaign: int, slot: int, report: bytes, *, phase: int = 0) -> None:
        """Take one report; a later one of the same slot replaces it.

        Raises:
            Refused: the campaign is not open, or this participant has withdrawn.
            InvalidInput: no such slot.
        """
        with self._locked(campaign) as (connection, known):
            advance(known.state, Event.SUBMIT)
            _check_slot(slot, known)
            if slot in reports.withdrawn(connection, campaign):
                raise Refused("this participant has withdrawn", "a new campaign may invite her again")
            reports.put(connection, campaign, slot, report, phase)

    def collect(
        self, campaign: int, batches: Iterable[tuple[np.ndarray, Sequence[bytes]]], *, phase: int = 0
    ) -> None:
        """Take all reports of a phase at once and close the collection; nothing, where it is closed already.

        Args:
            campaign: its number.
            batches: (slots, reports); read only where the campaign is open.
            phase: of the collection.
        """
        with self._locked(campaign) as (connection, known):
            if known.state is not State.OPEN:
                return
            reports.write(connection, campaign, batches, phase)
            self._move(connection, known, Event.CLOSE, {})

    def close_collection(self, campaign: int) -> None:
        """Close the collection of an open campaign."""
        self.collect(campaign, ())

    def submitted(self, campaign: int) -> int:
        """How many reports there are: the operator's alone."""
        with self._database.reading() as connection:
            query = select(func.count()).select_from(s.report).where(s.report.c.campaign_id == campaign)
            return int(connection.execute(query).scalar_one())

    def withdraw(self, campaign: int, slot: int) -> bool:
        """Take a participant's report back, at any time.

        Before the publication her report becomes the null record, whatever is handed in later, and the number of slots
        stays; a run that is under way is void and starts anew under the same debit. After it her report, her share
        and the note of her withdrawal are erased; the signed billboard, the ledger and a payout stay. It is about this
        campaign alone: whoever is in others withdraws from each.

        Args:
            campaign: its number.
            slot: her rank in the public list of ids, from 0: the id "1" of a campaign file is slot 0.

        Returns:
            Whether this was before the publication.

        Raises:
            InvalidInput: no such slot.
        """
        with self._locked(campaign) as (connection, known):
            _check_slot(slot, known)
            gone = connection.execute(delete(s.report).where(s.report.c.campaign_id == campaign,
                                                             s.report.c.slot == slot)).rowcount
            before = known.state is not State.SETTLED
            if before:
                if slot not in reports.withdrawn(connection, campaign):
                    connection.execute(insert(s.withdrawal).values(campaign_id=campaign, slot=slot,
                                                                   reported=int(gone > 0)))
                    connection.execute(update(s.campaign).where(s.campaign.c.id == campaign)
                                       .values(withdrawals=s.campaign.c.withdrawals + 1))
            else:
                erase_share(connection, campaign, slot)
                connection.execute(delete(s.withdrawal).where(
                    s.withdrawal.c.campaign_id == campaign, s.withdrawal.c.slot == slot))
        self._database.forget(thoroughly=not before)
        return before

    # ---- settlement

    def charge(self, campaign: int, asked: Charge) -> None:
        """Register the settlement and debit the ledger, in one transaction; nothing, where it was done before.

        Raises:
            BudgetExceeded: some account does not admit it; nothing was debited.
            Refused: the collection is still open.
        """
        with self._locked(campaign) as (connection, known):
            if known.state not in _BEFORE_CHARGE:
                return
            self._database.lock_ledger(connection)
            debit(connection, campaign, asked, self.home.ledger_key, _today())
            self._move(connection, known, Event.CHARGE, asked.entry())

    def cancel(self, campaign: int) -> None:
        """End a campaign that was not charged, and erase its reports; nothing, where it was charged or is over."""
        with self._locked(campaign) as (connection, known):
            if known.state not in _BEFORE_CHARGE:
                return
            erase_reports(connection, campaign)
            self._move(connection, known, Event.CANCEL, {})
        self._database.forget(thoroughly=True)

    def check_debit(self, campaign: int, asked: Charge) -> None:
        """Whether a charged campaign was debited for what it would now release.

        Raises:
            Refused: it was debited for something else, as by another version that plans otherwise.
        """
        with self._database.reading() as connection:
            paid = connection.execute(select(s.debit.c.events, s.debit.c.delta)
                                      .where(s.debit.c.campaign_id == campaign)).one()
        if (paid.events, paid.delta) != (events_text(asked.events), repr(asked.delta)):
            raise Refused("this settlement was charged for other releases than this version of confide plans",
                          "resume it with the version that began it")

    def check_charge(self, asked: Charge, campaign: int | None = None) -> None:
        """Whether the ledger would admit a charge; nothing is kept.

        Args:
            asked: the charge.
            campaign: whose it is; one that was charged meanwhile is not refused for what it has spent itself.

        Raises:
            BudgetExceeded: some account does not admit it.
        """
        if asked.account.name not in self.data_sets():
            return  # the first campaign on a data set; that its own budget admits it, its plan has shown
        try:
            with self._database.writing() as connection:
                self._database.lock_ledger(connection)
                debit_accounts(connection, asked, self.home.ledger_key)
                connection.rollback()
        except BudgetExceeded:
            if campaign is None or self.get(campaign).state in _BEFORE_CHARGE:
                raise

    @contextmanager
    def reports(self, campaign: int, codec: ReportCodec, *, phase: int = 0) -> Iterator[Taken]:
        """All reports of a campaign as they are now, whatever happens meanwhile."""
        with self._database.snapshot() as connection:
            known = _stored(connection.execute(select(s.campaign).where(s.campaign.c.id == campaign)).one())
            yield Taken(data=reports.Reports(connection, campaign, codec, phase), withdrawals=known.withdrawals,
                        deposited=reports.deposited(connection, campaign))

    def publish(
        self, campaign: int, withdrawals: int, files: Mapping[str, bytes], shares: bytes,
        due: Iterable[Sequence[tuple[int, int]]] = (),
    ) -> bool:
        """Store an outcome with its signature and its payouts, in one transaction, if nobody has published another.

        Args:
            campaign: its number.
            withdrawals: how many had withdrawn when the run began.
            files: of the pack: path -> bytes, with `manifest.json`.
            shares: one Arrow file.
            due: payouts as blocks of (slot, amount in the smallest coin > 0).

        Returns:
            Whether this outcome is the published one; if not, it must be forgotten: another was published, or somebody
            has withdrawn since.
        """
        with self._locked(campaign) as (connection, known):
            if known.state is not State.CHARGED or known.withdrawals != withdrawals:
                return False
            ran = advance(known.state, Event.RUN)
            self._move(connection, known, Event.PUBLISH, {"manifest": digest(files[MANIFEST])}, state=ran,
                       day="" if may_wait(known.kind) else _today())
            events = chain.entries(connection, campaign)
            pack = {**files, EVENTS: canonical([entry.to_dict() for entry in events])}
            pack[NOTE] = canonical(sign(statement(known.kind, known.title, known.content, pack), self.home.signing_key))
            for path, data in pack.items():
                connection.execute(insert(s.billboard).values(campaign_id=campaign, path=path, data=data))
            connection.execute(insert(s.share).values(campaign_id=campaign, data=shares))
            insert_many(connection, s.payout, ("campaign_id", "slot", "amount", "state"),
                        ([(campaign, slot, amount, "queued") for slot, amount in block] for block in due))
            done = erase_paid(connection, campaign)  # where nothing is due
        if done or withdrawals:  # who withdrew during the run could not be forgotten at once
            self._database.forget(thoroughly=True)
        return True

    def pack(self, campaign: int) -> dict[str, bytes]:
        """The public files of a settled campaign: path -> bytes. This is where an outcome leaves the store.

        Raises:
            Refused: this installation has released another outcome of this campaign, from another store.
        """
        with self._database.reading() as connection:
            rows = connection.execute(select(s.billboard.c.path, s.billboard.c.data)
                                      .where(s.billboard.c.campaign_id == campaign).order_by(s.billboard.c.path))
            files = {row.path: bytes(row.data) for row in rows}
        if files:
            self.home.release(self.get(campaign).content, digest(files[MANIFEST]))
        return files

    def shares(self, campaign: int) -> bytes:
        """All shares of a settled campaign, as one Arrow file: the operator's alone.

        Rows of who withdrew are empty, and all rows once all is paid.
        """
        with self._database.reading() as connection:
            found = connection.execute(select(s.share.c.data).where(s.share.c.campaign_id == campaign)).scalar_one()
        return bytes(found)

    # ---- payouts

    def payouts(self, campaign: int) -> Queue:
        """How the payouts of a settled campaign stand: the operator's alone."""
        with self._database.snapshot() as connection:
            return payouts.queue(connection, campaign)

    def entries(self, campaign: int) -> tuple[Entry, ...]:
        """Every payout of a settled campaign: the operator's alone."""
        with self._database.reading() as connection:
            return payouts.entries(connection, campaign)

    def withdrawn(self, campaign: int) -> dict[int, bool]:
        """Who withdrew before the publication, slot -> whether she had handed in a report: the operator's alone.

        Erased when all is paid.
        """
        with self._database.reading() as connection:
            rows = connection.execute(select(s.withdrawal.c.slot, s.withdrawal.c.reported)
                                      .where(s.withdrawal.c.campaign_id == campaign).order_by(s.withdrawal.c.slot))
            return {slot: bool(reported) for slot, reported in rows}

    def approve(self, campaign: int, code: str) -> int:
        """Approve what is queued, by the code that `payouts` showed; the number of entries, 0 where none was queued.

        Raises:
            Refused: another code.
        """
        with self._locked(campaign) as (connection, known):
            found = payouts.approve(connection, campaign, code)
            if found:
                chain.append(connection, known.number, "approve", _today(), {"people": found})
        return found

    def approved(self, campaign: int) -> BatchRow:
        """What an export would take now.

        Raises:
            Refused: nothing is approved.
        """
        with self._database.reading() as connection:
            return payouts.approved(connection, campaign, self.get(campaign).content, self.home.ledger_key)

    def export(self, campaign: int, form: str) -> int:
        """Take all that is approved into a new batch; its number.

        Raises:
            Refused: nothing is approved.
        """
        with self._locked(campaign) as (connection, known):
            number = payouts.export(connection, campaign, form)
            chain.append(connection, known.number, "export", _today(), {"batch": number, "format": form})
        return number

    def attempts(self, campaign: int) -> dict[int, dict[str, str]]:
        """Everything that was exported: batch -> reference -> what became of it: sent, paid or failed."""
        with self._database.snapshot() as connection:
            return payouts.attempts(connection, campaign, self.get(campaign).content, self.home.ledger_key)

    def batch(self, campaign: int, number: int) -> BatchRow:
        """An exported batch that the bank has not answered.

        Raises:
            InvalidInput: no such batch.
            Refused: the bank has answered it; who writes it again might pay twice.
        """
        with self._database.snapshot() as connection:
            return payouts.batch(connection, campaign, self.get(campaign).content, number, self.home.ledger_key)

    def confirm(self, campaign: int, said: Mapping[str, str]) -> dict[str, int]:
        """Take what the bank says, reference -> "paid" or "failed".

        When all is paid, reports, shares and amounts are erased; their sum stays.

        Returns:
            "paid", "failed": how many entries changed; "known": how many were so before.

        Raises:
            InvalidInput: a reference of no exported payout, or word against what the bank has said before, where that
                cannot be mended; nothing is taken.
        """
        with self._locked(campaign) as (connection, known):
            found = payouts.confirm(connection, campaign, known.content, said, self.home.ledger_key)
            if found["paid"] or found["failed"]:
                chain.append(connection, known.number, "import", _today(), {"paid": found["paid"],
                                                                            "failed": found["failed"]})
            done = known.state is State.SETTLED and erase_paid(connection, campaign)
        if done:
            self._database.forget(thoroughly=True)
        return found

    def reopen(self, campaign: int) -> int:
        """Queue again what the bank could not pay; how many entries."""
        with self._locked(campaign) as (connection, known):
            found = payouts.reopen(connection, campaign)
            number = sum(found.values())
            if number:
                chain.append(connection, known.number, "reopen", _today(), {"people": number, "batches": list(found)})
        return number

    # ---- the ledger

    def data_sets(self) -> tuple[str, ...]:
        """The names of all data sets that were charged, in order."""
        with self._database.reading() as connection:
            names = select(s.scope.c.data_set).distinct().order_by(s.scope.c.data_set)
            return tuple(connection.execute(names).scalars())

    def ledger(self, data_set: str | None = None) -> tuple[Standing, ...]:
        """How every data set stands, or one."""
        with self._database.reading() as connection:
            return standings(connection, data_set)

    def subject(self, account: Account, identity: str) -> Standing | None:
        """How one subject of a data set stands; None where she was in no campaign of it."""
        with self._database.reading() as connection:
            return subject_standing(connection, account, identity, self.home.ledger_key)

    # ---- moves

    @contextmanager
    def _locked(self, campaign: int) -> Iterator[tuple[Connection, Stored]]:
        """A writing transaction in which nobody else changes this campaign."""
        with self._database.writing() as connection:
            row = connection.execute(select(s.campaign).where(s.campaign.c.id == campaign).with_for_update()).first()
            if row is None:
                raise InvalidInput("campaign", f"the store has no number {campaign}")
            yield connection, _stored(row)

    @staticmethod
    def _move(
        connection: Connection, known: Stored, event: Event, data: Mapping[str, Any], *, state: State | None = None,
        day: str | None = None
    ) -> None:
        new = advance(known.state if state is None else state, event)
        connection.execute(update(s.campaign).where(s.campaign.c.id == known.number).values(state=new.value))
        chain.append(connection, known.number, event, _today() if day is None else day, data)


def _stored(row: Any) -> Stored:
    return Stored(number=row.id, content=row.content, kind=row.kind, name=row.name, title=row.title, slots=row.slots,
                  state=State(row.state), withdrawals=row.withdrawals,
                  paid=None if row.paid is None else int(row.paid))


def _check_slot(slot: int, known: Stored) -> None:
    if not 0 <= slot < known.slots:
        raise InvalidInput("slot", f"{slot} is out of range", f"must be in [0, {known.slots})")


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
