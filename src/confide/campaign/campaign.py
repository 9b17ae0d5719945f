"""The steps of a campaign that is given by its file: plan, offer, check, collect, settle, share, pay, withdraw, study,
audit.
"""

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
    """One campaign, with a method for each of its steps.

    An installation is a folder with keys, notes and usually a store, which is a database of campaigns. If a method
    takes a `home`, the default is the campaign's installation. If a method takes a `store`, the default is the store of
    `Home.default()`.

    Args:
        file: the validated campaign file.
        home: the installation; None for `Home.default()`. If the installation has charged the campaign already, `plan`
            makes no more trial runs of the mechanism.

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
        """Read a campaign file; an error names the key of the file that is wrong."""
        return cls(load(path))

    @property
    def default_folder(self) -> Path:
        """The default folder of the outcome: `out/NAME` beside the campaign file."""
        return self.file.folder / "out" / self.file.name

    @property
    def study_folder(self) -> Path:
        """The default folder of a study: `out/NAME-study` beside the campaign file."""
        return self.default_folder.with_name(f"{self.file.name}-study")

    @cached_property
    def plan(self) -> CampaignPlan:
        """The plan, which follows from public parameters alone. Settings that cannot work are refused, and so are
        mechanisms with a fault that a trial run finds.

        Raises:
            Refused: no setting of the mechanism keeps its promises for the campaign's number of people, or the
                `[budget]` of the campaign file does not admit the campaign, or the possible total of the payments is
                too large to be counted.
            InvalidInput: a setting cannot work; the code of the mechanism or the kind fails; or the charge of the
                mechanism is smaller than the privacy loss that the mechanism promises.
        """
        from confide.campaign.planning import planned

        return planned(self.file, self.home)

    @property
    def planned(self) -> Planned:
        """The file, the kind and the plan of the campaign together, as the later steps need them.

        Raises:
            Refused, InvalidInput: for the same reasons as `plan`.
        """
        return Planned(self.file, self.file.kind, self.plan)

    @property
    def kind(self) -> Kind:
        """The kind of the campaign, which defines the campaign's records, results and pages."""
        return self.file.kind

    @property
    def held(self) -> bool:
        """Whether a custodian holds the records. If so, nobody is invited, and nobody has a share of the result."""
        return self.planned.held

    @property
    def ids(self) -> Sequence[str]:
        """The public list of the ids of all invited people; empty if a custodian holds the records."""
        return self.planned.ids

    @property
    def terms(self) -> PayoutTerms:
        """The terms of payment: the part of a share that is an amount of money, the currency, and the deposit.

        Raises:
            InvalidInput: the campaign pays nothing.
        """
        return self.planned.terms

    def offer(self, *, home: Home | None = None) -> Sequence[Section]:
        """The offer: the plan in words for participants, with the fingerprint of the key that will sign the result."""
        from confide.campaign.pages import key_section, warning_sections
        from confide.campaign.store.home import Home

        fingerprint = (home or self.home or Home.default()).fingerprint
        return [*warning_sections(self.plan), *self.plan.offer(), key_section(fingerprint, shares=not self.held)]

    def collect(self, progress: Progress | None = None, *, home: Home | None = None) -> Collection:
        """Read the records from the data file that the campaign file names, one record for each participant. In a
        campaign with contracts, these are the records that participants sent under their final contracts.

        Args:
            progress: a function that receives the progress.
            home: the installation that signed the contracts.

        Raises:
            Refused: contracts are not final.
        """
        from confide.campaign.handing_in import collected

        return collected(self.planned, home or self.home, progress)

    def check(self, progress: Progress | None = None) -> Check:
        """Check the records before a run. The check charges nothing, and its result is private. The installation notes
        that somebody has looked at the records.

        The campaign file must not be changed because of the result, since the promises do not cover bounds that follow
        from records.
        """
        from confide.campaign.check import look

        return look(self.planned, self.home, progress)

    def list_rejected(self, found: Check, path: str | os.PathLike[str]) -> Path:
        """Write a check's list of rejected records to a file, which only its owner may read.

        Args:
            found: the result of `check`.
            path: a new file, outside the folder of the outcome, since that folder is public.

        Raises:
            InvalidInput: the file exists, or cannot be written.
        """
        return write_rejected(as_path("write", path), found.rejected)

    def submit(
        self, identity: str | int, record: Mapping[str, str], *, contract: str | None = None, key: str | None = None,
        total: float | None = None, largest: float = LARGEST_LEVEL, home: Home | None = None,
    ) -> Mapping[str, str]:
        """Draw the participant's report once, on the participant's own device, and note the privacy level of the report
        in the participant's private book of reports.

        A second call returns the first report, even if the record has changed. Only the campaign file and the
        participant's book are read. In a campaign with contracts, participants first hand in a report without noise,
        which costs no privacy. Later, with the final contract, the participant's device draws the record.

        Args:
            identity: the participant's id.
            record: mapping from the name of a column to the participant's answer. An empty answer means that the
                participant does not take part, and costs no privacy.
            contract: the participant's own contract, as received from the operator.
            key: the fingerprint of the operator's key, from the offer; a contract that is signed with another key is
                refused. If `key` is None, the key is not checked.
            total: the largest sum of privacy levels to which the participant agrees, over all reports under the same
                `data_set` or question. Needed only if there are earlier reports, of another campaign or of an attempt
                that was interrupted.
            largest: the largest privacy level at which the participant's device draws a report, above 0. The unit is
                nats, or rho (zero-concentrated privacy) for a number with noise. The program in the browser has the
                same limit.
            home: the installation that keeps the participant's book.

        Returns:
            The row that the participant hands in for the operator's file.

        Raises:
            Refused: devices draw no reports for this kind, the contract is not final, the level is above `largest`, or
                there are earlier reports and `total` is missing or too small.
            InvalidInput: the answer cannot be used. The message repeats private data, so it is for the participant
                alone.
        """
        from confide.campaign.handing_in import submit

        return submit(self.planned, self._local(), str(identity), record, contract=contract, key=key, total=total,
                      largest=largest, home=home or self.home)

    def submitted(self, identity: str | int, *, home: Home | None = None) -> bool:
        """Whether the participant's book holds a report to this campaign already. If so, no other report is drawn."""
        kind = self._local()
        book, known = self.book(home or self.home), kind.identity(self.file.config, str(identity))
        return book.stored(known, self.file.digest) is not None

    def caution(self, record: Mapping[str, str]) -> str:
        """The warning about a record, which a device shows to its participant alone; empty if there is no warning."""
        kind = self.file.kind
        return kind.caution(self.file.config, record) if isinstance(kind, ContractKind) else ""

    def draw_up(
        self, without: Sequence[str | int] = (), *, again: Sequence[str | int] = (), home: Home | None = None,
        progress: Progress | None = None, reports: Path | None = None,
    ) -> Round:
        """Draw up a round of contracts from the reports of all participants, in place of the earlier round.

        Args:
            without: ids of participants who declined or stayed away; people who were left out of earlier rounds stay
                out.
            again: ids of participants who were left out of earlier rounds, and take part after all.
            home: the installation whose key signs the contracts.
            progress: a function that receives the progress.
            reports: the folder to which a relative path of the file of reports refers; default the folder of the
                campaign file.

        Raises:
            Refused: the kind has no contracts, or the contracts are final.
        """
        from confide.campaign.contracts import draw_up

        return draw_up(self.planned, [str(each) for each in without], [str(each) for each in again], progress,
                       home or self.home, reports)

    def finish_contracts(self, *, home: Home | None = None, store: Store | None = None) -> Round:
        """Make the round of contracts final. After the round is final, participants' devices draw records for these
        contracts, and no other round follows.

        Args:
            home: the installation whose key signs the contracts.
            store: the store of the campaign. The ledger in this store is charged now, before any record is sent.

        Raises:
            Refused: no round was drawn up.
            BudgetExceeded: the ledger does not admit the campaign.
        """
        from confide.campaign.contracts import finish
        from confide.campaign.store import Store

        with Store() if store is None else nullcontext(store) as there:
            return finish(self.planned, there, home or self.home)

    def round_sections(self, drawn: Round) -> Sequence[Section]:
        """The sections of a page on a round of contracts, for the operator alone, since contracts follow from the
        participants' reports.
        """
        from confide.campaign.pages import round_note

        kind = self.file.kind
        return [] if not isinstance(kind, ContractKind) else [
            *kind.round_sections(self.plan, drawn.drawn), round_note(drawn)]

    def contract(self, identity: str | int, *, home: Home | None = None) -> Contract:
        """The signed contract that the current round offers to one participant.

        Raises:
            Refused: no round was drawn up.
        """
        from confide.campaign.contracts import contract_of

        return contract_of(self.file, str(identity), home or self.home)

    def contract_sections(self, contract: Contract) -> Sequence[Section]:
        """The sections of a page on a contract, for the participant."""
        from confide.campaign.pages import contract_note

        kind = self.file.kind
        return [] if not isinstance(kind, ContractKind) else [
            *kind.terms_sections(self.plan, contract.terms), contract_note(contract)]

    def spent(self, identity: str | int, *, home: Home | None = None) -> Spent:
        """The sum of the privacy levels of the participant's reports under the campaign's `data_set` or question,
        according to the participant's own book.
        """
        kind, config = self._local(), self.file.config
        return self.book(home or self.home).spent(kind.identity(config, str(identity)), self.file.budget.data_set,
                                     kind.question(config))

    @staticmethod
    def book(home: Home | None = None) -> ReportBook:
        """The private book in which an installation notes the reports of the people who use it.

        Args:
            home: the installation; default `Home.default()`.
        """
        from confide.campaign.handing_in import book_of

        return book_of(home)

    def rehearse(self, path: str | os.PathLike[str], *, total: float | None = None,
                 home: Home | None = None, progress: Progress | None = None) -> int:
        """Draw the reports of all participants from the answers that `[rehearsal]` in the campaign file names, and
        write the rows that the participants would hand in.

        Reports are drawn with secure noise, as on participants' own devices. The installation's book notes the privacy
        level, once for all participants together. Reports on the same answers are not drawn again for another campaign,
        unless `total` allows it.

        Args:
            path: a new CSV file.
            total: the largest allowed sum of privacy levels over all reports on the same answers, as in `submit`.
            home: the installation that keeps the book.
            progress: a function that receives the progress.

        Returns:
            The number of reports that were written.

        Raises:
            Refused: the file has no [rehearsal], or a rehearsal has drawn reports on the same answers before.
            InvalidInput: the file exists, or none of the answers can be used.
        """
        from confide.campaign.handing_in import rehearse

        return rehearse(self.planned, self._local(), as_path("out", path), total, home or self.home, progress)

    def _local(self) -> LocalKind:
        if not isinstance(self.file.kind, LocalKind):
            raise Refused(f"records of the kind {self.file.kind.name!r} are handed in as they are",
                          "the participants' devices draw nothing")
        return self.file.kind

    def hand_in(self, identity: str | int, values: Mapping[str, str], *, store: Store | None = None) -> None:
        """Take a participant's record into the store before the collection closes, in place of an earlier record.

        If the participant's device draws the report, a different second report is refused, since another draw would
        reveal more of the answer than is charged. The first report may be handed in again.

        Once all records are stored, `Store.close_collection` closes the collection, and `settle` settles the campaign
        from the stored records.

        Args:
            identity: the participant's id.
            values: mapping from the name of a column to the participant's value, as text. If the participant's device
                draws the report, the row that `submit` returned.
            store: the store of the campaign. If the collection is not open yet, it is opened in this store.

        Raises:
            InvalidInput: the record cannot be used. The message repeats private data, so it is for the participant
                alone.
            Refused: participants cannot hand in records of this kind one by one, the collection is closed, the
                participant has withdrawn, or the report is a new draw that differs from the first report.
        """
        from confide.campaign.handing_in import hand_in

        hand_in(self.planned, str(identity), values, store)

    def settle(
        self, folder: str | os.PathLike[str] | None = None, *, store: Store | None = None,
        progress: Progress | None = None, accept_unusable: bool = False,
    ) -> Settled:
        """Collect the records, charge the ledger, run with secure noise and publish. Later calls of `settle` return the
        stored outcome.

        The billboard never changes. Stored shares of people who withdrew are empty, and all stored shares are empty
        once everybody is paid.

        Args:
            folder: the folder into which the pack (the signed public files) is written; default `out/NAME` beside the
                campaign file.
            store: the store of the campaign.
            progress: a function that receives the progress of the collection.
            accept_unusable: whether the settlement goes on even if too many rows of the operator's data file cannot be
                used.

        Raises:
            BudgetExceeded: the ledger does not admit the campaign; no record was read.
            InvalidInput: the operator's file has no rows, or has too many rows that cannot be used; nothing was
                charged.
        """
        from confide.campaign.settlement import settle

        place = self.default_folder if folder is None else as_path("folder", folder)
        return settle(self.planned, place, store, progress=progress, accept_unusable=accept_unusable)

    def study(
        self, seed: int, folder: str | os.PathLike[str] | None = None, *, progress: Progress | None = None,
        accept_unusable: bool = False,
    ) -> tuple[SimulatedOutcome, Sequence[Section]]:
        """Run with simulated noise, and compare the outcome with the outcome without noise. A study is never a release.

        If participants' devices draw the reports, a study draws all reports from the answers in `[rehearsal]` of the
        campaign file.

        A study uses private data, so everything that a study writes is private. Only the owner may read its folder.

        Args:
            seed: the seed of the simulated noise.
            folder: the folder into which the study is written; default `out/NAME-study` beside the campaign file.
            progress: a function that receives the progress.
            accept_unusable: whether the study goes on even if too many rows of the operator's data file cannot be used.

        Raises:
            InvalidInput: too many rows of the operator's file cannot be used, as in `settle`.
        """
        from confide.campaign.study import study

        place = self.study_folder if folder is None else as_path("folder", folder)
        return study(self.planned, place, seed, self.home, progress=progress, accept_unusable=accept_unusable)

    def settled(self, *, store: Store | None = None) -> Outcome:
        """The stored outcome of the settled campaign, with all shares; for the operator alone.

        Raises:
            Refused: the campaign has not been settled in this store.
        """
        from confide.campaign.stored import stored_outcome

        return stored_outcome(self.file, store)

    def tables(self, *, store: Store | None = None) -> Mapping[str, pa.Table]:
        """The public result of the settled campaign in natural units, as a mapping from a name, such as "coefficients",
        to a table.

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
        """One participant's share and the reasons for it, computed from the participant's record and the billboard.

        Args:
            identity: the participant's id.
            folder: the folder of the pack; default `out/NAME` beside the campaign file. The folder is read only if
                `record` is given.
            record: mapping from the name of a column to the participant's value, as text. With `record`, only the
                campaign file and the public files of the folder are read. Without `record`, the record is looked up in
                the file that the campaign names.
            store: the store in which the campaign was settled; used only if no record is given.

        Raises:
            Refused: the campaign has not been settled in this store or folder; or no record is given, and the share was
                erased because the participant withdrew or because everybody is paid.
        """
        from confide.campaign.shares import parsed, stored_share

        if record is None:
            return stored_share(self.planned, str(identity), store)
        own = parsed(self.planned, str(identity), record)
        return self.file.kind.explain(self.plan, self.public(folder), *own)

    def own_file(
        self, identity: str | int, folder: str | os.PathLike[str] | None = None, *, record: Mapping[str, str]
    ) -> dict[str, Any]:
        """The contents of one file with a participant's record and share. `verify` checks this file together with the
        pack.

        Args:
            identity: the participant's id.
            folder: the folder in which the pack lies.
            record: mapping from the name of a column to the participant's value, as text.
        """
        from confide.campaign.shares import own_file

        return own_file(self.planned, str(identity), record, self.public(folder))

    def withdraw(self, identity: str | int, *, store: Store | None = None) -> bool:
        """Withdraw a participant's record, at any time, from this campaign in this store.

        If the withdrawal comes before the settlement, the participant's record counts as empty from then on, whatever
        the operator's file says, and a deposit of the participant is returned with the payouts. After the settlement,
        the participant's record and share are erased.

        Args:
            identity: the participant's id.
            store: the store of the campaign.

        Returns:
            Whether the participant withdrew before the settlement.

        Raises:
            InvalidInput: the id is not on the public list.
            Refused: the store does not know this campaign, or a custodian holds the records.
        """
        from confide.campaign.shares import withdraw

        return withdraw(self.planned, str(identity), store)

    def payouts(self, *, store: Store | None = None) -> Payouts:
        """The state of the payouts of the settled campaign, with one row for each paid participant; for the operator
        alone.

        Raises:
            InvalidInput: the campaign pays nothing.
            Refused: the campaign has not been settled in this store.
        """
        from confide.campaign.payouts.queue import payouts_of
        with self._stored(store) as there:
            return payouts_of(self.planned, there)

    def approve_payouts(self, code: str, *, store: Store | None = None) -> int:
        """Approve the queued payouts; nothing is paid without an approval.

        Args:
            code: the code of the queue, `payouts().queue.code`, which the operator repeats after looking at the queue.
            store: the store of the campaign.

        Returns:
            The number of payouts that were approved; 0 if none was queued.

        Raises:
            Refused: the code belongs to another queue, or the campaign has not been settled in this store.
        """
        with self._stored(store) as there:
            return there.approve(there.settled(self.file).number, code)

    def export_payouts(
        self, path: str | os.PathLike[str], *, batch: int | None = None,
        payees: str | os.PathLike[str] | None = None, payer: str | None = None, text: str | None = None,
        store: Store | None = None,
    ) -> int:
        """Put the approved payouts into a new batch and write the file of the batch, or write the file of an earlier
        batch again.

        Args:
            path: the path of a new file, which only its owner may read. The name ends in `.csv`, or in `.xml` for an
                order to a bank in ISO 20022 pain.001.
            batch: the number of an earlier batch that the bank has not answered; None for a new batch.
            payees: a CSV file with the columns id, name, iban and perhaps bic; needed for `.xml`.
            payer: the account that pays, as NAME,IBAN or NAME,IBAN,BIC; needed for `.xml`.
            text: the text on bank statements; default "Payment for taking part".
            store: the store of the campaign.

        Returns:
            The batch's number.

        Raises:
            InvalidInput: the file exists or has another ending, or names or accounts are missing; nothing was exported.
            Refused: nothing is approved, the bank has answered the batch, or the batch was written in another format.
        """
        from confide.campaign.payouts.export import TEXT, export_batch
        with self._stored(store) as there:
            return export_batch(self.planned, there, path, number=batch, payees=payees, payer=payer,
                                text=TEXT if text is None else text)

    def import_confirmations(self, path: str | os.PathLike[str], *, store: Store | None = None) -> Mapping[str, int]:
        """Take the bank's answers on exported payouts; taking the same answers again changes nothing.

        Once all payouts are paid, reports, shares and single amounts are erased.

        Args:
            path: a CSV file with the columns reference and status (paid or failed), or a report of the bank in ISO
                20022 pain.002.
            store: the store of the campaign.

        Returns:
            Counts of payouts: "paid" and "failed" for payouts that changed their state, "known" for payouts with the
                same answer as before.

        Raises:
            InvalidInput: the file cannot be understood, or contradicts an earlier answer of the bank; nothing is taken.
                The error message names the place of the fault.
        """
        from confide.campaign.payouts.export import import_confirmations
        with self._stored(store) as there:
            return import_confirmations(self.planned, there, path)

    def reopen_payouts(self, *, store: Store | None = None) -> int:
        """Queue all failed payouts again, for a new approval and export. The result is the number of these payouts."""
        with self._stored(store) as there:
            return there.reopen(there.settled(self.file).number)

    def audit(self, seed: int = 0, progress: Progress | None = None) -> Any:
        """Compare the promised figures of the campaign's mechanism with measured figures, and check that mechanisms
        with injected faults are flagged. No participant's record is used.
        """
        return self.file.kind.audit(self.plan, seed, progress)

    def _stored(self, store: Store | None) -> AbstractContextManager[Store]:
        """The store in which the campaign was settled; default the store of `Home.default()`. No store is created."""
        from confide.campaign.stored import existing

        return existing(self.file) if store is None else nullcontext(store)

    def public(self, folder: str | os.PathLike[str] | None = None) -> PublicOutcome:
        """The public result, read from the pack.

        Args:
            folder: the folder in which the pack lies; default `out/NAME` beside the campaign file.

        Raises:
            Refused: the folder holds no pack of the campaign.
        """
        from confide.campaign.stored import public

        return public(self.file, self.plan, self.default_folder if folder is None else as_path("folder", folder))


def settle(
    campaign: Campaign, store: Store | None = None, folder: str | os.PathLike[str] | None = None, *,
    progress: Progress | None = None, accept_unusable: bool = False,
) -> Settled:
    """Settle a campaign once, as `Campaign.settle` does. The order of arguments differs: here the store comes before
    the folder.
    """
    return campaign.settle(folder, store=store, progress=progress, accept_unusable=accept_unusable)


def hand_out(campaign: Campaign, path: str | os.PathLike[str], outcome: Outcome) -> Path:
    """Write the list of handed-out goods of a settled campaign to a new CSV file, which only its owner may read.

    Raises:
        Refused: the kind hands out no goods.
        InvalidInput: the file exists, or its folder is no place for a private file.
    """
    from confide.campaign import shares

    return shares.hand_out(campaign.planned, path, outcome)
