"""A campaign from its file: plan, offer, check, collect, settle, share, pay, withdraw, study, audit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from confide.campaign.file import CampaignFile, Planned, load
from confide.campaign.pack import write_rejected
from confide.contract.errors import Refused
from confide.contract.files import as_path
from confide.contract.kinds import (
    CampaignPlan,
    Check,
    Collection,
    ContractKind,
    Kind,
    LocalKind,
    Progress,
)
from confide.contract.outcome import Outcome, PublicOutcome, SimulatedOutcome
from confide.contract.payout_terms import PayoutTerms
from confide.contract.presentation import Section
from confide.privacy.device_odds import LARGEST_LEVEL

if TYPE_CHECKING:
    from confide.campaign.contracts import Contract, Round
    from confide.campaign.payouts import Payouts
    from confide.campaign.settlement import Settled
    from confide.campaign.store import Store
    from confide.campaign.store.home import Home
    from confide.privacy.report_book import ReportBook, Spent

__all__ = ["Campaign", "hand_out", "settle"]


@dataclass(frozen=True, eq=False, repr=False)
class Campaign:
    """One campaign and everything that can be done with it.

    Where a method takes a `store`, the default is the installation's own.

    Args:
        file: the validated campaign file.
        home: the installation that may have charged it already, so that its mechanism is not tried out any more, and
            what every `home` below is by default; None for `Home.default()`.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from confide.contract import kind
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "sleep.toml"
        ...     _ = path.write_text(kind("regression").template)
        ...     campaign = Campaign.load(path)
        >>> campaign.plan.guarantees.privacy[0].loss
        PureDP(epsilon=1.5)
    """

    file: CampaignFile
    home: Home | None = None

    def __repr__(self) -> str:
        return f"<campaign {self.file.title!r}, {self.file.kind.name}, of {self.file.path}>"

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Campaign:
        """Read a campaign file; errors name the key."""
        return cls(load(path))

    @property
    def default_folder(self) -> Path:
        """`out/NAME` beside the campaign file."""
        return self.file.folder / "out" / self.file.name

    @property
    def study_folder(self) -> Path:
        """`out/NAME-study` beside the campaign file."""
        return self.default_folder.with_name(f"{self.file.name}-study")

    @cached_property
    def plan(self) -> CampaignPlan:
        """The plan, from public parameters alone; hopeless settings are refused, and faults that `try_out` finds.

        Raises:
            Refused: no setting of these sizes keeps the promise, the campaign's own `[budget]` does not admit it, or
                what may have to be paid in all cannot be counted.
            InvalidInput: the mechanism is broken, or promises what it plainly does not keep.
        """
        from confide.campaign.planning import planned

        return planned(self.file, self.home)

    @property
    def planned(self) -> Planned:
        """The file, its kind and the plan: the input of the later steps.

        Raises:
            Refused, InvalidInput: as `plan`.
        """
        return Planned(self.file, self.file.kind, self.plan)

    @property
    def kind(self) -> Kind:
        """The kind of the campaign, which defines its records, results and pages."""
        return self.file.kind

    @property
    def held(self) -> bool:
        """Whether a custodian holds the records: nobody is invited, and nobody has a share."""
        return self.planned.held

    @property
    def ids(self) -> Sequence[str]:
        """The public list of the invited; empty where a custodian holds the records."""
        return self.planned.ids

    @property
    def terms(self) -> PayoutTerms:
        """The terms by which its shares become money.

        Raises:
            InvalidInput: it pays nothing.
        """
        return self.planned.terms

    def offer(self, *, home: Home | None = None) -> Sequence[Section]:
        """The plan as a participant reads it, with the fingerprint of the key that will sign the result.

        Args:
            home: the installation whose key it is, as `Store.home`; default `Home.default()`.
        """
        from confide.campaign.pages import key_section, warning_sections
        from confide.campaign.store.home import Home

        fingerprint = (home or self.home or Home.default()).fingerprint
        return [*warning_sections(self.plan), *self.plan.offer(), key_section(fingerprint, shares=not self.held)]

    def collect(self, progress: Progress | None = None, *, home: Home | None = None) -> Collection:
        """Read the records that the file names, one per participant; where there are contracts, the final ones.

        Args:
            progress: a function that receives the progress.
            home: the installation that signed the contracts; default `Home.default()`.

        Raises:
            Refused: contracts are not final.
        """
        from confide.campaign.handing_in import collected

        return collected(self.planned, home or self.home, progress)

    def check(self, progress: Progress | None = None) -> Check:
        """Look at the records before a run; private, whatever it shows. Nothing is charged; that there was a look is
        noted in the installation.

        What it shows must not change the campaign: bounds that follow from records are not covered by its promises.
        """
        from confide.campaign.check import look

        return look(self.planned, self.home, progress)

    def list_rejected(self, found: Check, path: str | os.PathLike[str]) -> Path:
        """Write a check's list of rejected records to a file, which its owner alone may read.

        Args:
            found: the result of `check`.
            path: a new file; not in the folder of the outcome, which is public.

        Raises:
            InvalidInput: the file exists, or cannot be written.
        """
        return write_rejected(as_path("write", path), found.rejected)

    def submit(
        self, identity: str | int, record: Mapping[str, str], *, contract: str | None = None, key: str | None = None,
        total: float | None = None, largest: float = LARGEST_LEVEL, home: Home | None = None,
    ) -> Mapping[str, str]:
        """A participant's side: draw their report, once, and note its level in their own book.

        A second call gives the same report, whatever the record says then. Nothing but the campaign file and the
        participant's book is read. Where there are contracts, they first hand in a report, which is not drawn and costs
        nothing; with their final contract their device draws their record.

        Args:
            identity: the participant's id.
            record: the participant's answer, column -> value; an empty one takes no part, and costs nothing.
            contract: the participant's own contract, as the operator gave it to them.
            key: fingerprint of the operator's key, from the offer: no other one's contract is acted on.
            total: the most that the levels about the same bit may sum to, where it was asked for before.
            largest: the level above which the participant's device draws nothing, in nats, or as rho of a number with
                noise; the program in the browser has the same.
            home: the installation that keeps the participant's book; default `Home.default()`.

        Returns:
            What the participant hands in: a row of the operator's file.

        Raises:
            Refused: this kind draws nothing; the contract is not final; the level is above the largest; or the bit was
                asked for before.
            InvalidInput: an answer that the campaign cannot use. The message is the participant's own.
        """
        from confide.campaign.handing_in import submit

        return submit(self.planned, self._local(), str(identity), record, contract=contract, key=key, total=total,
                      largest=largest, home=home or self.home)

    def submitted(self, identity: str | int, *, home: Home | None = None) -> bool:
        """Whether the participant's book has what they reported to this campaign: then nothing is drawn again."""
        kind = self._local()
        book, hers = self.book(home or self.home), kind.identity(self.file.config, str(identity))
        return book.stored(hers, self.file.digest) is not None

    def caution(self, record: Mapping[str, str]) -> str:
        """The warning that a participant's device shows them alone about their record; empty where there is none."""
        kind = self.file.kind
        return kind.caution(self.file.config, record) if isinstance(kind, ContractKind) else ""

    def draw_up(
        self, without: Sequence[str | int] = (), *, again: Sequence[str | int] = (), home: Home | None = None,
        progress: Progress | None = None, reports: Path | None = None,
    ) -> Round:
        """Draw up a round of contracts from everybody's reports; it replaces the one before.

        Args:
            without: ids that declined or stayed away; those of the rounds before stay out.
            again: ids among them that take part after all.
            home: the installation whose key signs; default `Home.default()`.
            progress: a function that receives the progress.
            reports: the folder in which the path of reports starts; default the campaign file's.

        Raises:
            Refused: the kind has no contracts, or they are final.
        """
        from confide.campaign.contracts import draw_up

        return draw_up(self.planned, [str(each) for each in without], [str(each) for each in again], progress,
                       home or self.home, reports)

    def finish_contracts(self, *, home: Home | None = None, store: Store | None = None) -> Round:
        """Make the round of contracts final: from now on devices act on them, and no other round is drawn up.

        Args:
            home: the installation whose key signs; default `Home.default()`.
            store: the campaign's store; its ledger is charged now, before any record is sent.

        Raises:
            Refused: none was drawn up.
            BudgetExceeded: the ledger does not admit the campaign.
        """
        from confide.campaign.contracts import finish
        from confide.campaign.store import Store

        with Store() if store is None else nullcontext(store) as there:
            return finish(self.planned, there, home or self.home)

    def round_sections(self, drawn: Round) -> Sequence[Section]:
        """The operator's look at a round: private, since reports are."""
        from confide.campaign.pages import round_note

        kind = self.file.kind
        return [] if not isinstance(kind, ContractKind) else [
            *kind.round_sections(self.plan, drawn.drawn), round_note(drawn)]

    def contract(self, identity: str | int, *, home: Home | None = None) -> Contract:
        """The contract that the round as it stands offers one person, signed.

        Raises:
            Refused: none was drawn up.
        """
        from confide.campaign.contracts import contract_of

        return contract_of(self.file, str(identity), home or self.home)

    def contract_sections(self, contract: Contract) -> Sequence[Section]:
        """A contract as the participant reads it."""
        from confide.campaign.pages import contract_note

        kind = self.file.kind
        return [] if not isinstance(kind, ContractKind) else [
            *kind.terms_sections(self.plan, contract.terms), contract_note(contract)]

    def spent(self, identity: str | int, *, home: Home | None = None) -> Spent:
        """The privacy cost so far of reports on the campaign's bit, by the participant's own book."""
        kind, config = self._local(), self.file.config
        return self.book(home or self.home).spent(kind.identity(config, str(identity)), self.file.budget.data_set,
                                     kind.question(config))

    @staticmethod
    def book(home: Home | None = None) -> ReportBook:
        """The book of reports of an installation's people; theirs alone.

        Args:
            home: the installation; default `Home.default()`.
        """
        from confide.campaign.handing_in import book_of

        return book_of(home)

    def rehearse(self, path: str | os.PathLike[str], *, total: float | None = None,
                 home: Home | None = None, progress: Progress | None = None) -> int:
        """Play everybody's side with the file's [rehearsal], and write what they would hand in.

        Reports are drawn as people's own devices draw them, with secure noise, and the level is noted in the book of
        the installation as everybody's: the same bits are not played twice without being asked.

        Args:
            path: a new CSV file.
            total: the same as in `submit`.
            home: the same as in `submit`.
            progress: a function that receives the progress.

        Returns:
            How many reports were written.

        Raises:
            Refused: no [rehearsal], or these bits were played before.
            InvalidInput: the file exists, or answers that cannot be used.
        """
        from confide.campaign.handing_in import rehearse

        return rehearse(self.planned, self._local(), as_path("out", path), total, home or self.home, progress)

    def _local(self) -> LocalKind:
        if not isinstance(self.file.kind, LocalKind):
            raise Refused(f"records of the kind {self.file.kind.name!r} are handed in as they are",
                          "nothing is drawn on the participants' side")
        return self.file.kind

    def hand_in(self, identity: str | int, values: Mapping[str, str], *, store: Store | None = None) -> None:
        """Take one participant's record into the store, before the collection closes; a later one replaces it.

        Where the participant's device draws what they hand in, the first one stands: another draw would tell more of
        their answer than is charged. The same one again does no harm.

        Once all is handed in, `Store.close_collection` closes it, and `settle` settles what the store holds.

        Args:
            identity: the participant's id.
            values: column -> text, as in `share`; where the participant's device draws what they hand in, the row of
                `submit`.
            store: the store of the campaign, which is opened in it where it is not yet.

        Raises:
            InvalidInput: what the participant hands in cannot be used. The message is theirs.
            Refused: nobody hands anything in, the collection is closed, they have withdrawn, or it is another draw.
        """
        from confide.campaign.handing_in import hand_in

        hand_in(self.planned, str(identity), values, store)

    def settle(
        self, folder: str | os.PathLike[str] | None = None, *, store: Store | None = None,
        progress: Progress | None = None, accept_unusable: bool = False,
    ) -> Settled:
        """Collect, charge, run with secure noise, publish; once. A settled campaign returns its stored outcome.

        The billboard is the same for ever. In the shares the rows of who withdrew are empty, and once everybody is paid
        all rows are.

        Args:
            folder: the folder into which the pack goes; default `out/NAME` beside the campaign file.
            store: the store of the campaign.
            progress: a function that receives the progress of the collection.
            accept_unusable: whether it goes on where too many rows of the operator's file cannot be used.

        Raises:
            BudgetExceeded: the ledger does not admit it; no record was read.
            InvalidInput: too many rows of the operator's file cannot be used, or none; nothing was charged.
        """
        from confide.campaign.settlement import settle

        place = self.default_folder if folder is None else as_path("folder", folder)
        return settle(self.planned, place, store, progress=progress, accept_unusable=accept_unusable)

    def study(
        self, seed: int, folder: str | os.PathLike[str] | None = None, *, progress: Progress | None = None,
        accept_unusable: bool = False,
    ) -> tuple[SimulatedOutcome, Sequence[Section]]:
        """Run under simulated noise, beside what it would be without privacy. Never a release.

        Where reports are drawn on the participants' side, everybody's is played with the file's [rehearsal].

        It uses private data, and so does everything that it writes: its folder is readable by its owner alone.

        Raises:
            InvalidInput: too many rows of the file cannot be used, as `settle` says.
        """
        from confide.campaign.study import study

        place = self.study_folder if folder is None else as_path("folder", folder)
        return study(self.planned, place, seed, self.home, progress=progress, accept_unusable=accept_unusable)

    def settled(self, *, store: Store | None = None) -> Outcome:
        """The stored outcome.

        Raises:
            Refused: the campaign has not been settled in this store.
        """
        from confide.campaign.stored import stored_outcome

        return stored_outcome(self.file, store)

    def tables(self, *, store: Store | None = None) -> Mapping[str, pa.Table]:
        """The public result of the settled campaign in natural units, such as `tables()["coefficients"]`.

        Raises:
            Refused: the campaign has not been settled in this store.
        """
        return self.file.kind.tables(self.plan, self.settled(store=store).published())

    def share(
        self,
        identity: str | int,
        folder: str | os.PathLike[str] | None = None,
        *,
        record: Mapping[str, str] | None = None,
        store: Store | None = None,
    ) -> Sequence[Section]:
        """One participant's share and the reasons for it, decoded from their record and the billboard.

        Args:
            identity: the participant's id.
            folder: the folder of the pack; default `out/NAME` beside the campaign file. Read where a record is given.
            record: the participant's record, column -> value. With it, nothing but the campaign file and the public
                files of the folder is read; without it, their record is looked up in the file that the campaign names.
            store: the store in which the campaign was settled; asked where no record is given.

        Raises:
            Refused: the campaign has not been settled there; or no record is given, and the participant's share was
                erased, because they withdrew or because everybody is paid.
        """
        from confide.campaign.shares import parsed, stored_share

        if record is None:
            return stored_share(self.planned, str(identity), store)
        hers = parsed(self.planned, str(identity), record)
        return self.file.kind.explain(self.plan, self.public(folder), *hers)

    def own_file(
        self, identity: str | int, folder: str | os.PathLike[str] | None = None, *, record: Mapping[str, str]
    ) -> dict[str, Any]:
        """One portable file with a participant's record and share, which `verify` takes beside the pack.

        Args:
            identity: the participant's id.
            folder: the folder in which the pack lies.
            record: the participant's record, column -> value.
        """
        from confide.campaign.shares import own_file

        return own_file(self.planned, str(identity), record, self.public(folder))

    def withdraw(self, identity: str | int, *, store: Store | None = None) -> bool:
        """Take a participant's record back, at any time: from this campaign, in this store.

        Before the settlement the participant's record counts as empty, whatever the file says; a deposit that they left
        is returned with the payouts. After it their record and their share are erased.

        Args:
            identity: the participant's id.
            store: the store of the campaign.

        Returns:
            Whether this was before the settlement.

        Raises:
            InvalidInput: the id is not on the public list.
            Refused: the store does not know this campaign, or a custodian holds its data.
        """
        from confide.campaign.shares import withdraw

        return withdraw(self.planned, str(identity), store)

    def payouts(self, *, store: Store | None = None) -> Payouts:
        """The state of the payouts of the settled campaign, by id: private, whatever it shows.

        Raises:
            InvalidInput: the campaign pays nothing.
            Refused: it has not been settled in this store.
        """
        from confide.campaign.payouts.queue import payouts_of
        with self._stored(store) as there:
            return payouts_of(self.planned, there)

    def approve_payouts(self, code: str, *, store: Store | None = None) -> int:
        """Approve the queued payouts; nothing is paid without it.

        Args:
            code: `payouts().queue.code`, after a look at the queue.
            store: the store of the campaign.

        Returns:
            How many payouts were approved; 0 where none was queued.

        Raises:
            Refused: the code of another queue, or not settled in this store.
        """
        with self._stored(store) as there:
            return there.approve(there.settled(self.file).number, code)

    def export_payouts(
        self, path: str | os.PathLike[str], *, batch: int | None = None,
        payees: str | os.PathLike[str] | None = None, payer: str | None = None, text: str | None = None,
        store: Store | None = None,
    ) -> int:
        """Take the approved payouts into a new batch and write its file, or write an earlier batch again.

        Args:
            path: a new file: `.csv`, or `.xml` for ISO 20022 pain.001. Its owner alone may read it.
            batch: an earlier one, which the bank has not answered.
            payees: CSV of id,name,iban and perhaps bic; `.xml` needs it.
            payer: NAME,IBAN or NAME,IBAN,BIC; `.xml` needs it.
            text: the text on bank statements; default "Payment for taking part".
            store: the store of the campaign.

        Returns:
            The batch's number.

        Raises:
            InvalidInput: the file exists or has another ending, names or accounts are missing; nothing was exported.
            Refused: nothing is approved, the bank has answered the batch, or it was written in another format.
        """
        from confide.campaign.payouts.export import TEXT, export_batch
        with self._stored(store) as there:
            return export_batch(self.planned, there, path, number=batch, payees=payees, payer=payer,
                                text=TEXT if text is None else text)

    def import_confirmations(self, path: str | os.PathLike[str], *, store: Store | None = None) -> Mapping[str, int]:
        """Take the bank's answers on exported payouts; doing it again changes nothing.

        When all is paid, reports, shares and single amounts are erased.

        Args:
            path: CSV of reference and status (paid or failed), or ISO 20022 pain.002.
            store: the store of the campaign.

        Returns:
            "paid", "failed": how many payouts changed; "known": how many were so before.

        Raises:
            InvalidInput: names what cannot be understood or contradicts what the bank said before; nothing is taken.
        """
        from confide.campaign.payouts.export import import_confirmations
        with self._stored(store) as there:
            return import_confirmations(self.planned, there, path)

    def reopen_payouts(self, *, store: Store | None = None) -> int:
        """Queue failed payouts again, to be approved and exported as before; the result is their number."""
        with self._stored(store) as there:
            return there.reopen(there.settled(self.file).number)

    def audit(self, seed: int = 0, progress: Progress | None = None) -> Any:
        """Compare promised with measured, with mutants as controls; no participant's record is used."""
        return self.file.kind.audit(self.plan, seed, progress)

    def _stored(self, store: Store | None) -> AbstractContextManager[Store]:
        """The store in which it was settled: the installation's own where none is given. None is made."""
        from confide.campaign.stored import existing

        return existing(self.file) if store is None else nullcontext(store)

    def public(self, folder: str | os.PathLike[str] | None = None) -> PublicOutcome:
        """The public result as it lies in a pack.

        Args:
            folder: the folder in which the pack lies; default `out/NAME` beside the campaign file.

        Raises:
            Refused: there is none.
        """
        from confide.campaign.stored import public

        return public(self.file, self.plan, self.default_folder if folder is None else as_path("folder", folder))


def settle(
    campaign: Campaign, store: Store | None = None, folder: str | os.PathLike[str] | None = None, *,
    progress: Progress | None = None, accept_unusable: bool = False,
) -> Settled:
    """Settle a campaign once: `Campaign.settle`, with the store first."""
    return campaign.settle(folder, store=store, progress=progress, accept_unusable=accept_unusable)


def hand_out(campaign: Campaign, path: str | os.PathLike[str], outcome: Outcome) -> Path:
    """Write the list of handed-out goods of a settled campaign to a new CSV file, which its owner alone may read.

    Raises:
        Refused: the kind hands out nothing.
        InvalidInput: something is there, or it is no place for a private file.
    """
    from confide.campaign import shares

    return shares.hand_out(campaign.planned, path, outcome)
