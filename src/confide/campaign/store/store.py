"""The store: one database with campaigns, their reports and outcomes, the privacy ledger, and the payouts.

Most methods are one transaction. A step of a campaign that is repeated changes nothing more, so it does no harm if a
process dies between two calls or within a call.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, Connection, Row, Select, func, insert, select

from confide.campaign.signatures import sign, statement
from confide.campaign.store import chain, reports, transactions
from confide.campaign.store import schema as s
from confide.campaign.store.collecting import Collecting, Depositing
from confide.campaign.store.database import Database, insert_many
from confide.campaign.store.debits import Standing
from confide.campaign.store.erasure import erase_paid, erase_reports, erase_withdrawals
from confide.campaign.store.home import Home
from confide.campaign.store.ledger import (
    debit,
    debit_accounts,
    events_text,
    newest_text,
    standings,
    subject_standing,
)
from confide.campaign.store.paying_out import PayingOut
from confide.campaign.store.states import State, StateEvent, advance, unsettled
from confide.campaign.store.transactions import Stored, stored
from confide.contract.digests import canonical, digest
from confide.contract.errors import BudgetExceeded, InvalidInput, Refused
from confide.contract.files import MANIFEST, NOTE
from confide.privacy.ledger import Account, Charge

if TYPE_CHECKING:
    import numpy as np

    from confide.campaign.file import CampaignFile
    from confide.contract.kinds import ReportCodec

__all__ = ["Store", "Stored", "Taken"]

_KEY_CHECK = b"confide ledger"
_BEFORE_CHARGE = (State.OPEN, State.CLOSED)


@dataclass(frozen=True, kw_only=True, eq=False)
class Taken:
    """The reports that a run uses.

    Args:
        data: batches of reports, which can be iterated several times.
        withdrawals: the number of people who had withdrawn when the reports were read.
        deposited: int64 of shape (m,), in ascending order: the slots of all m people who left a deposit, even of people
            who then withdrew, since their deposit must be returned.
    """

    data: Any
    withdrawals: int
    deposited: np.ndarray


class Store(Collecting, Depositing, PayingOut):
    """Campaigns, reports, outcomes, ledger and payouts in one database.

    Args:
        url: "sqlite:///FILE" or "postgresql+psycopg://USER@HOST/NAME"; default the store in the folder of `home`.
        home: the installation (the folder with the keys and notes); default `Home.default()`.
        create: whether a store is made if none exists. If `create` is False, no key of the installation is made,
            either.

    Raises:
        InvalidInput: the database cannot be used, or other users can read its file; the database holds no store and
            `create` is False; or the ledger in the database belongs to the key of another installation.

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
        """Open an existing store. No store is made. The result is None if `url` is None and the installation
        `Home.default()` has no store yet.

        Args:
            url: the URL of the store; default the store of `Home.default()`.

        Raises:
            InvalidInput: the named store does not exist.
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
        """The URL of the database without the password."""
        return self._database.name

    @property
    def database(self) -> Database:
        """The database of the store."""
        return self._database

    def close(self) -> None:
        """Close all connections."""
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
            raise InvalidInput("store", f"the ledger of {self.name} has another key than {self.home.folder}",
                               "use the ledger.key with which this store was made: with another key, every budget "
                               "would start again")

    def _key_check(self) -> bytes:
        return hmac.digest(self.home.ledger_key, _KEY_CHECK, "sha256")

    # ---- campaigns

    def campaigns(self) -> tuple[Stored, ...]:
        """All campaigns, in the order in which they were opened."""
        with self._database.reading() as connection:
            return tuple(stored(row) for row in connection.execute(select(s.campaign).order_by(s.campaign.c.id)))

    def find(self, file: CampaignFile) -> Stored | None:
        """The campaign of a campaign file, found by the digest of the file; None if the store does not have the
        campaign.
        """
        with self._database.reading() as connection:
            row = connection.execute(select(s.campaign).where(s.campaign.c.content == file.digest)).first()
        return None if row is None else stored(row)

    def settled(self, file: CampaignFile) -> Stored:
        """The settled campaign of a campaign file, found by the digest of the file.

        Raises:
            Refused: the campaign is not settled in this store, or another store's outcome was released.
        """
        found = self.find(file)
        if found is None or found.state is not State.SETTLED:
            raise unsettled(file.path, self.name, "the campaign is settled in another store, name that store with "
                                                  "--store")
        with self._database.reading() as connection:
            manifest = connection.execute(select(s.billboard.c.data).where(
                s.billboard.c.campaign_id == found.number, s.billboard.c.path == MANIFEST)).scalar_one()
        # Of two stores that published at once, the one that lost pays nobody, either.
        self.home.release(found.content, digest(bytes(manifest)))
        return found

    def open(
        self, file: CampaignFile, slots: int, *, charge: Charge | None = None,
        also: Callable[[Connection, Stored], None] | None = None,
    ) -> Stored:
        """Register a planned campaign and open its collection. If reports must be charged before they arrive, also
        debit the ledger. Registration, opening and debit are one transaction, which takes place once for each campaign
        file.

        Args:
            file: the campaign file.
            slots: the number of invited slots, which is the length of the public list of ids; 1 if there is no such
                list.
            charge: the charge to the ledger at the opening; None if the ledger is charged later.
            also: a function that is called with the connection and the stored campaign, in the same transaction. The
                function is also called if the campaign was opened before.

        Raises:
            BudgetExceeded: the account of the data set or of a subject does not admit the charge; nothing was opened.
            Refused: `charge` is given, and the campaign was opened before without a charge. Reports before the
                settlement would then cost nothing.
        """
        found = self.find(file)
        if found is None:
            with self._database.writing() as connection:
                self._database.lock_ledger(connection)
                row = connection.execute(select(s.campaign).where(s.campaign.c.content == file.digest)).first()
                if row is None:
                    known = self._opened(connection, file, slots, charge)
                    if also is not None:
                        also(connection, known)
                    return known
                found = stored(row)  # somebody else was faster
        with self._locked(found.number) as (connection, known):
            if charge is not None and known.state in _BEFORE_CHARGE and _paid(connection, known.number) is None:
                raise Refused("this campaign is in the store without a charge, from an earlier version or an "
                              "unfinished run",
                              "settle the campaign in the installation that opened it, or give this campaign another "
                              "title")
            if also is not None:
                also(connection, known)
        return known

    def _opened(self, connection: Connection, file: CampaignFile, slots: int, charge: Charge | None) -> Stored:
        """Insert the rows of a new campaign, in a transaction that holds the ledger's lock."""
        state, day = advance(advance(State.DRAFT, StateEvent.PLAN), StateEvent.OPEN), transactions.today()
        number = int(connection.execute(insert(s.campaign).values(
            content=file.digest, kind=file.kind.name, name=file.name, title=file.title, text=file.text, slots=slots,
            state=state.value, withdrawals=0).returning(s.campaign.c.id)).scalar_one())
        if charge is not None:
            debit(connection, number, charge, self.home.ledger_key, day)
        chain.append(connection, number, StateEvent.PLAN, day, {"content": file.digest})
        chain.append(connection, number, StateEvent.OPEN, day, {} if charge is None else charge.entry())
        return stored(connection.execute(select(s.campaign).where(s.campaign.c.id == number)).one())

    def events(self, campaign: int) -> tuple[chain.Entry, ...]:
        """All acts of the campaign's operator, in order."""
        with self._database.reading() as connection:
            return chain.entries(connection, campaign)

    # ---- settlement

    def charge(self, campaign: int, asked: Charge) -> None:
        """Register the settlement of a campaign and debit the ledger with the charge `asked`, in one transaction.
        Nothing is done if the settlement is registered already, or if the campaign is cancelled.

        A campaign that was charged when it was opened is debited nothing more.

        Raises:
            BudgetExceeded: the account of the data set or of a subject does not admit the charge; nothing was debited.
            Refused: the collection is still open; the store is a restored copy whose original may have settled the
                campaign; or the opening was charged for other releases.
        """
        with self._locked(campaign) as (connection, known):
            if known.state not in _BEFORE_CHARGE:
                return
            self.check_original(known)
            paid = _paid(connection, campaign)
            if paid is None:
                self._database.lock_ledger(connection)
                debit(connection, campaign, asked, self.home.ledger_key, transactions.today())
            else:
                _check_same(paid, asked)
            self._move(connection, known, StateEvent.CHARGE, asked.entry() if paid is None else {})

    def cancel(self, campaign: int) -> None:
        """Cancel a campaign whose settlement is not registered, and erase all reports of the campaign. Nothing is done
        if the settlement is registered, or if the campaign is cancelled already.

        A charge at the opening stays, since the collector has seen the reports.
        """
        with self._locked(campaign) as (connection, known):
            if known.state not in _BEFORE_CHARGE:
                return
            erase_reports(connection, campaign)
            erase_withdrawals(connection, campaign)
            self._move(connection, known, StateEvent.CANCEL, {})
        self.erase_files(campaign)
        self._database.forget(thoroughly=True)

    def is_charged(self, campaign: int) -> bool:
        """Whether the ledger has a campaign's debit, from its opening or from its settlement."""
        with self._database.reading() as connection:
            return _paid(connection, campaign) is not None

    def check_debit(self, campaign: int, asked: Charge) -> None:
        """Check that a charged campaign was debited for exactly the releases that its run would now make, which are the
        releases of the charge `asked`.

        Raises:
            Refused: the campaign was debited for other releases, for example by another version of confide with another
                plan.
        """
        with self._database.reading() as connection:
            _check_same(connection.execute(_debit_of(campaign)).one(), asked)

    def check_charge(self, asked: Charge, campaign: int | None = None) -> None:
        """Check that the ledger would admit a charge; nothing is changed.

        Args:
            asked: the charge.
            campaign: the number of the campaign that asks, if it is in the store. A campaign that is already charged is
                not refused because of its own spend.

        Raises:
            BudgetExceeded: some account does not admit the charge.
        """
        if asked.account.name not in self.data_sets():
            return  # the first campaign on a data set; that its own budget admits it, its plan has shown
        try:
            with self._database.writing() as connection:
                self._database.lock_ledger(connection)
                if campaign is None or _paid(connection, campaign) is None:
                    debit_accounts(connection, asked, self.home.ledger_key)
                connection.rollback()
        except BudgetExceeded:
            if campaign is None or not self.is_charged(campaign):
                raise

    @contextmanager
    def reports(self, campaign: int, codec: ReportCodec, *, phase: int = 0) -> Iterator[Taken]:
        """All reports of a campaign at one moment. Later changes of the store do not affect these reports."""
        with self._database.snapshot() as connection:
            known = stored(connection.execute(select(s.campaign).where(s.campaign.c.id == campaign)).one())
            yield Taken(data=reports.Reports(connection, campaign, codec, phase), withdrawals=known.withdrawals,
                        deposited=reports.deposited(connection, campaign))

    def publish(
        self, campaign: int, withdrawals: int, files: Mapping[str, bytes], shares: bytes,
        due: Iterable[Sequence[tuple[int, int]]] = (),
    ) -> bool:
        """Store an outcome with the signature and the payouts, in one transaction. Nothing is stored if another process
        has published an outcome, or if somebody has withdrawn since the run began.

        Args:
            campaign: the number of the campaign.
            withdrawals: the number of people who had withdrawn when the run began.
            files: the files of the pack, as a mapping from path to bytes, with `manifest.json`.
            shares: the shares of all participants, as one Arrow file.
            due: the payouts, as blocks of pairs of a slot and an amount. Each amount is above 0, in the smallest units
                of the currency, such as cents.

        Returns:
            Whether this outcome is the published one. With the result False, the caller must discard the outcome:
            another outcome was published, or somebody has withdrawn since.

        Raises:
            Refused: the store is a restored copy whose original may have settled the campaign.
        """
        from confide.campaign.pack import EVENTS  # packs and kinds come with tables, which other methods do without
        from confide.contract.kinds import may_wait

        with self._locked(campaign) as (connection, known):
            if known.state is not State.CHARGED or known.withdrawals != withdrawals:
                return False
            self.check_original(known)
            ran = advance(known.state, StateEvent.RUN)
            self._move(connection, known, StateEvent.PUBLISH, {"manifest": digest(files[MANIFEST])}, state=ran,
                       day="" if may_wait(known.kind) else transactions.today())
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
        """The public files of a settled campaign, as a mapping from path to bytes. An outcome leaves the store only
        through this method.

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
        """The shares of all participants of a settled campaign, as one Arrow file, for the operator alone.

        The rows of people who withdrew are empty, and all rows are empty once all payouts are paid.
        """
        with self._database.reading() as connection:
            found = connection.execute(select(s.share.c.data).where(s.share.c.campaign_id == campaign)).scalar_one()
        return bytes(found)

    # ---- the ledger

    def data_sets(self) -> tuple[str, ...]:
        """The names of all data sets that were ever charged, in the order of their first charges."""
        with self._database.reading() as connection:
            names = select(s.scope.c.data_set).group_by(s.scope.c.data_set).order_by(func.min(s.scope.c.id))
            return tuple(connection.execute(names).scalars())

    def charged(self, data_set: str | None = None) -> frozenset[int]:
        """The numbers of all charged campaigns, or of the campaigns charged to one data set."""
        query = select(s.debit.c.campaign_id).join(s.scope, s.scope.c.id == s.debit.c.scope_id)
        with self._database.reading() as connection:
            return frozenset(connection.execute(
                query if data_set is None else query.where(s.scope.c.data_set == data_set)).scalars())

    def ledger(self, data_set: str | None = None) -> tuple[Standing, ...]:
        """The budget and the spend of every data set, or of a single data set."""
        with self._database.reading() as connection:
            return standings(connection, data_set)

    def subject(self, account: Account, identity: str) -> Standing | None:
        """The budget and the spend of one subject of a data set, with the debits of the data set. The result is None if
        no campaign on the data set has listed the subject.
        """
        with self._database.reading() as connection:
            return subject_standing(connection, account, identity, self.home.ledger_key)


def _debit_of(campaign: int) -> Select[tuple[str, str]]:
    return select(s.debit.c.events, s.debit.c.delta).where(s.debit.c.campaign_id == campaign)


def _paid(connection: Connection, campaign: int) -> Row[tuple[str, str]] | None:
    """The events and the delta that a campaign was debited for; None where it was not debited."""
    return connection.execute(_debit_of(campaign)).first()


def _check_same(paid: Row[tuple[str, str]], asked: Charge) -> None:
    if (newest_text(paid.events), paid.delta) != (events_text(asked.events), repr(asked.delta)):
        raise Refused("the charge of this settlement is for other releases than this version of confide plans",
                      "resume the settlement with the version that began it")
