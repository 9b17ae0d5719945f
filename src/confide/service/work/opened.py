"""The campaigns that drafts of this service have become, each with its plan in memory; and the payouts of these
campaigns.

Files of payouts are sent in requests and answers only, and are never stored. Amounts are private, since they follow
from records. The operator gives the names and accounts of the payees.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TypeVar, cast

from sqlalchemy import select

from confide.campaign.campaign import Campaign
from confide.campaign.file import parse
from confide.campaign.payouts.export import TEXT, batch_file, take_confirmations
from confide.campaign.store import Store, Stored
from confide.campaign.store import schema as s
from confide.campaign.store import service_schema as t
from confide.campaign.store.erasure import PACK
from confide.campaign.store.states import State
from confide.campaign.store.transactions import stored
from confide.contract.errors import Refused
from confide.contract.kinds import ContractKind, LocalKind
from confide.contract.worded import worded
from confide.service.work.drafts import campaign_folder
from confide.service.work.faults import Unknown
from confide.tables import Category

__all__ = ["Opened", "OpenedCampaign", "check_settled", "payout_file", "settled_campaign", "take_answer"]

_KEPT = 64
Read = TypeVar("Read")


@dataclass(frozen=True, eq=False)
class OpenedCampaign:
    """A campaign that was opened, so that people can or could take part in it.

    Args:
        number: number of the campaign in the store.
        campaign: campaign that the campaign file describes; the file never changes.
        folder: folder of the campaign, which only the operator can read.
    """

    number: int
    campaign: Campaign
    folder: Path

    @property
    def pack(self) -> Path:
        """The folder of the campaign's public files."""
        return self.folder / PACK

    @cached_property
    def local(self) -> LocalKind | None:
        """The kind of the campaign, if participants' devices draw the reports; None otherwise."""
        kind = self.campaign.file.kind
        return kind if isinstance(kind, LocalKind) else None

    @cached_property
    def contracts(self) -> ContractKind | None:
        """The kind of the campaign, if participants first hand in a report, then get a contract, and then hand in a
        record; None for other kinds.
        """
        kind = self.campaign.file.kind
        return kind if isinstance(kind, ContractKind) else None

    @cached_property
    def deposit(self) -> str:
        """The deposit that each participant leaves before the campaign, as an amount in words; empty if there is no
        deposit.
        """
        terms = self.campaign.file.kind.payouts(self.campaign.plan)
        return "" if terms is None or not terms.deposit else terms.money(terms.deposit)

    def read_once(self, path: Path, read: Callable[[], Read]) -> Read | None:
        """The content of a file. The file is read again only if it was replaced. The result is None if there is no
        file.

        Args:
            path: path of a file that is replaced as a whole.
            read: function that reads the file and returns the content.
        """
        try:
            found = path.stat()
        except FileNotFoundError:
            return None
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        before, known = self._read.get(path, (None, None))
        if before != stamp:
            known = read()
            self._read[path] = (stamp, known)
        return cast("Read", known)

    @cached_property
    def _read(self) -> dict[Path, tuple[Hashable, object]]:
        return {}

    @cached_property
    def identities(self) -> Sequence[str]:
        """The ids of all slots, in the order of the public list."""
        return self.campaign.file.kind.identities(self.campaign.file.config)


def check_settled(state: State, remedy: str = "") -> None:
    """Check that a campaign has a result.

    Args:
        state: state of the campaign.
        remedy: advice for a campaign that may still get a result; if left out, the advice is to look again later.

    Raises:
        Refused: the campaign is not settled yet, or is cancelled, so that it never gets a result.

    Example:
        >>> check_settled(State.SETTLED)
    """
    if state is State.CANCELLED:
        raise Refused(worded("the campaign is cancelled"),
                      worded("there will be no result; all records are erased"))
    if state is not State.SETTLED:
        raise Refused(worded("the campaign is not settled yet"), remedy or worded("look again later"))


class Opened:
    """The opened campaigns, which are kept in a store.

    Args:
        store: store in which the campaigns are kept.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._database = store, store.database
        self._kept: OrderedDict[int, OpenedCampaign] = OrderedDict()
        self._lock, self._reading = Lock(), Lock()

    def get(self, number: int) -> OpenedCampaign:
        """The opened campaign with this number in the store.

        Raises:
            Unknown: no draft of this service became this campaign.
        """
        found = self._known(number)
        if found is None:
            with self._reading:  # many ask at once for a campaign that was just opened: one of them reads it
                found = self._known(number) or self._read(number)
        return found

    def look_ahead(self) -> None:
        """Load all campaigns that are collecting reports, with their plans, so that no participant has to wait for the
        loading.
        """
        Category(column="any", levels=("yes", "no")).encode_one("yes")  # loads what reading a record needs
        for each in self.all(limit=_KEPT, states=(State.OPEN, State.CHARGED)):
            if len(self._kept) < _KEPT:
                self.get(each.number)

    def _known(self, number: int) -> OpenedCampaign | None:
        with self._lock:
            if number in self._kept:
                self._kept.move_to_end(number)
            return self._kept.get(number)

    def _read(self, number: int) -> OpenedCampaign:
        with self._database.reading() as connection:
            # The text as it was charged for and offered: whatever became of the draft, it is not asked any more.
            row = connection.execute(select(s.campaign.c.text, t.draft.c.name).join(
                t.draft, t.draft.c.campaign_id == s.campaign.c.id).where(s.campaign.c.id == number)).first()
        if row is None:
            raise Unknown("campaign", number)
        folder = campaign_folder(self._store, number)
        file = parse(row.text.encode("utf-8"), folder / f"{row.name}.toml", stored=True)
        found = OpenedCampaign(number, Campaign(file, self._store.home), folder)
        found.campaign.plan, found.identities  # noqa: B018 - computed with the reading, once
        with self._lock:
            self._kept[number] = found
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return found

    def stored(self, number: int) -> Stored:
        """The stored entry of a campaign, with its state.

        Raises:
            Unknown: no draft of this service became this campaign.
        """
        found = self.all(limit=1, only=number)
        if not found:
            raise Unknown("campaign", number)
        return found[0]

    def all(
        self, *, limit: int = 50, after: int = 0, states: Collection[State] | None = None, only: int | None = None
    ) -> tuple[Stored, ...]:
        """Campaigns in the order in which they were opened.

        Args:
            limit: largest number of campaigns.
            after: number of the last campaign that was shown; 0 for the first page.
            states: states of the campaigns; all states if left out.
            only: number of the only campaign that is returned; None for all campaigns.
        """
        query = select(s.campaign).join(t.draft, t.draft.c.campaign_id == s.campaign.c.id)
        query = query.where(s.campaign.c.id > after)
        if states is not None:
            query = query.where(s.campaign.c.state.in_([state.value for state in states]))
        if only is not None:
            query = query.where(s.campaign.c.id == only)
        with self._database.reading() as connection:
            return tuple(stored(row) for row in connection.execute(query.order_by(s.campaign.c.id).limit(limit)))

    def newest(
        self, *, limit: int = 50, before: int | None = None, states: Collection[State] | None = None
    ) -> tuple[Stored, ...]:
        """Campaigns, the last opened one first.

        Args:
            limit: largest number of campaigns.
            before: number of the last campaign that was shown; None for the first page.
            states: states of the campaigns; all states if left out.
        """
        query = select(s.campaign).join(t.draft, t.draft.c.campaign_id == s.campaign.c.id)
        if before is not None:
            query = query.where(s.campaign.c.id < before)
        if states is not None:
            query = query.where(s.campaign.c.state.in_([state.value for state in states]))
        query = query.order_by(s.campaign.c.id.desc()).limit(limit)
        with self._database.reading() as connection:
            return tuple(stored(row) for row in connection.execute(query))


def settled_campaign(opened: OpenedCampaign, store: Store) -> Campaign:
    """The campaign of an opened campaign, after a check that the campaign is settled. The error message reveals no path
    on this machine.

    Args:
        opened: opened campaign.
        store: store in which the campaign is kept.

    Raises:
        Refused: the campaign is not settled.
    """
    check_settled(store.get(opened.number).state, worded("settle it first"))
    return opened.campaign


def payout_file(
    campaign: Campaign, store: Store, *, form: str = "csv", batch: int | None = None, payees: str | None = None,
    payer: str | None = None, text: str | None = None,
) -> tuple[int, bytes]:
    """The file with a batch of payouts for the bank, and the number of the batch.

    Args:
        campaign: settled campaign.
        store: store in which the campaign was settled.
        form: format of the file: "csv", or "xml" for ISO 20022.
        batch: number of an earlier batch; if left out, all approved payouts become a new batch.
        payees: CSV with the columns id,name,iban; needed for "xml".
        payer: account that pays, as NAME,IBAN or NAME,IBAN,BIC; needed for "xml".
        text: text that bank statements show.

    Raises:
        Refused: no payout is approved, or the bank has answered the earlier batch.
        InvalidInput: a payee or the payer cannot be used.
    """
    return batch_file(campaign.planned, store, "pain.001" if form == "xml" else "csv", number=batch,
                      payees=None if payees is None else payees.encode("utf-8", "replace"), payer=payer,
                      text=TEXT if text is None else text)


def take_answer(campaign: Campaign, store: Store, data: bytes) -> Mapping[str, int]:
    """Take the bank's answers, and return the number of payouts by result: "paid" and "failed" for payouts whose state
    has changed, "known" for payouts with the same answer as before.

    Args:
        campaign: settled campaign with the payouts.
        store: store in which the campaign was settled.
        data: answers of the bank: CSV with the columns reference,status, or an ISO 20022 message pain.002.

    Raises:
        InvalidInput: the data cannot be read, or names an unknown payout.
    """
    return take_confirmations(campaign.planned, store, data)
