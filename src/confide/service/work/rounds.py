"""Rounds of contracts, for kinds in which participants first hand in a report and later a record on a contract. A kind
with contracts reads two files, which are made from the rows that people hand in.

The first file has everybody's reports, from which the operator draws up contracts. After the contracts are final, the
second file has the rows with the noisy records that devices drew on these contracts. All rows are kept in the store,
and are erased there at the same times as reports. A file exists only while it is read. Each process that reads a file
has a folder of its own, so that two processes do not delete each other's file.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from confide.campaign.campaign import Campaign
from confide.campaign.contracts import Round, finish, round_of
from confide.campaign.pack import hidden_beside, tidy
from confide.campaign.store import Store
from confide.campaign.store.collecting import nothing_asked
from confide.campaign.store.states import State
from confide.contract.errors import InvalidInput, Refused
from confide.contract.files import make_folder, replace_private
from confide.contract.kinds import ContractKind, Progress
from confide.contract.worded import worded
from confide.service.work.opened import OpenedCampaign

__all__ = ["DECLINED", "FIRST", "SECOND", "CampaignRounds", "contract_kind", "current"]

FIRST, SECOND, DECLINED = 0, 1, 2
"""Phases of stored rows: a participant's report, their record on a final contract, and a note that they have declined a
contract that is not final.
"""


def contract_kind(opened: OpenedCampaign) -> ContractKind:
    """The kind of a campaign with contracts.

    Raises:
        Refused: the campaign's kind has no contracts.
    """
    if opened.contracts is None:
        raise Refused(worded("this campaign has no contracts"), worded("hand in the record as the offer says"))
    return opened.contracts


def current(store: Store, opened: OpenedCampaign) -> Round | None:
    """The present round of contracts; None if no round was drawn up. Each round is read, and its signature checked,
    only once.
    """
    kind, file = contract_kind(opened), opened.campaign.file
    return opened.read_once(file.folder / kind.contracts_file(file.config), lambda: round_of(file, store.home))


def nothing_to_decline() -> Refused:
    """The error for a participant who declines although there is no contract."""
    return Refused(worded("there is no contract to decline"),
                   worded("withdraw to take back a record at any time"))


def drawn_up_now() -> Refused:
    """The error for a participant who hands in a report while the operator draws up contracts from the earlier
    reports.
    """
    return Refused(worded("the operator draws up contracts now"),
                   worded("look again in a minute; earlier records stay valid"))


_ROWS = "rows"  # in a hidden folder, which is locked while somebody reads it


class CampaignRounds:
    """The rounds of contracts of campaigns in a store.

    Args:
        store: store in which the campaigns are kept.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def draw_up(
        self, opened: OpenedCampaign, without: Sequence[str] = (), *, again: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> Round:
        """Draw up the next round of contracts from all reports. Participants who have declined or withdrawn are left
        out.

        No report is accepted while the round is drawn up. If reports were accepted meanwhile, a participant's contract
        might not follow from their stored report.

        Args:
            opened: opened campaign with contracts.
            without: ids of further participants who are left out.
            again: ids of participants who take part again, although they were left out or had declined.
            progress: function that receives the progress.

        Raises:
            Refused: the contracts are final, the campaign is cancelled, nobody has handed in a report, or another round
                is drawn up at the same time.
            InvalidInput: a participant in `again` has withdrawn.
        """
        kind, config = contract_kind(opened), opened.campaign.file.config
        state = self._store.get(opened.number).state
        if state is State.CANCELLED:
            raise Refused(worded("the campaign is cancelled"), worded("plan another one"))
        if state is not State.OPEN:
            raise Refused(worded("the contracts of this campaign are final"),
                          worded("another round needs another campaign"))
        first = kind.reported(config, opened.campaign.plan, opened.identities[0], {})
        before = current(self._store, opened)
        gone = set() if before is None else set(before.without)
        declined = self._store.handed_rows(opened.number, DECLINED)
        withdrawn = {opened.identities[slot] for slot in self._store.withdrawn(opened.number)}
        if not withdrawn.isdisjoint(again):
            raise InvalidInput("again", worded("has the id of a person who has withdrawn"),
                               worded("leave out this person, who no longer takes part"))
        no = [*(opened.identities[slot] for slot, _ in declined), *withdrawn, *without]
        out = [each for each in dict.fromkeys(no) if each not in gone and each not in again]
        content = opened.campaign.file.digest
        with (self._store.home.drawing_up(content),
              self._written(opened, "reports.source", FIRST, list(first)) as folder):
            found = opened.campaign.draw_up(out, again=[each for each in again if each in gone], home=self._store.home,
                                            progress=progress, reports=folder)
        for slot, row in declined:  # of an earlier round; if they have declined this one already, that stands
            if opened.identities[slot] in again:
                self._store.forget_row(opened.number, slot, row, phase=DECLINED)
        return found

    def report(self, opened: OpenedCampaign, slot: int, row: Mapping[str, Any]) -> None:
        """Take a participant's report, from which their contract will be drawn up. A later report of the same
        participant replaces the earlier one.

        Args:
            opened: opened campaign with contracts.
            slot: position of the participant in the public list of ids, from 0.
            row: mapping from column to value: the row of the report, as read by the kind.

        Raises:
            Refused: contracts were drawn up, or are being drawn up, the collection is over, or the participant has
                withdrawn.
        """
        home, content = self._store.home, opened.campaign.file.digest
        with home.deciding(content):  # nobody begins to draw up a round before it is stored
            if home.is_drawing_up(content):
                raise drawn_up_now()
            if current(self._store, opened) is not None:
                raise nothing_asked()
            self._store.hand_row(opened.number, slot, json.dumps(row), phase=FIRST, states=(State.OPEN,))

    def decline(self, opened: OpenedCampaign, slot: int) -> None:
        """Note that a participant declines their contract in the present round.

        Args:
            opened: opened campaign with contracts.
            slot: position of the participant in the public list of ids, from 0.

        Raises:
            Refused: there is no contract, it is final, or the participant has withdrawn.
        """
        home, content = self._store.home, opened.campaign.file.digest
        with home.deciding(content):  # nobody makes it final meanwhile
            found = current(self._store, opened)
            if found is None or home.final_round(content) is not None:
                raise nothing_to_decline()
            self._store.hand_row(opened.number, slot, json.dumps({"round": found.number}), phase=DECLINED,
                                 states=(State.OPEN,))

    def finish(self, opened: OpenedCampaign, number: int | None = None) -> Round:
        """Make a round of contracts final, and charge the ledger. From then on, participants' devices use the contracts
        of this round.

        Args:
            opened: opened campaign with contracts.
            number: number of the round that the operator has read; None for the present round.

        Raises:
            Refused: no round was drawn up, another round was drawn up since, or the round includes a person who has
                declined or withdrawn.
            BudgetExceeded: the ledger does not admit the campaign.
        """
        def check(found: Round) -> None:
            no = {slot for slot, _ in self._store.handed_rows(opened.number, DECLINED)}
            no.update(self._store.withdrawn(opened.number))
            if not {opened.identities[slot] for slot in no} <= set(found.without):
                raise Refused(worded("round %(number)s includes a person who has declined or withdrawn",
                                   number=found.number),
                              worded("draw up another round without this person, and show it to everybody"))

        if current(self._store, opened) is None:
            raise Refused(worded("no contracts were drawn up"), worded("draw up a round first"))
        return finish(opened.campaign.planned, self._store, self._store.home, check, number)

    @contextmanager
    def records(self, opened: OpenedCampaign) -> Iterator[Campaign]:
        """A context manager that gives the campaign in the form in which it can be settled. Inside the context, the
        file of records exists, with the rows that were handed in on the contracts.
        """
        kind, file = contract_kind(opened), opened.campaign.file
        columns = list(kind.row(file.config, opened.identities[0], None))
        with self._written(opened, "data.source", SECOND, columns) as folder:
            yield _with_files_in(folder, opened.campaign)

    @staticmethod
    def tidy(opened: OpenedCampaign) -> None:
        """Delete the files with a campaign's rows that dead processes have left. Files that are being read stay."""
        tidy(opened.folder / _ROWS)

    def sweep(self) -> None:
        """Delete the files with rows that dead processes have left, for all campaigns of the installation."""
        folders = self._store.home.campaign_folder(0).parent
        for each in folders.iterdir() if folders.is_dir() else ():
            if each.is_dir():
                tidy(each / _ROWS)

    @contextmanager
    def _written(self, opened: OpenedCampaign, key: str, phase: int, columns: Sequence[str]) -> Iterator[Path]:
        """Private folder with one file of everybody's rows, which is deleted at the end."""
        file = opened.campaign.file
        make_folder(opened.folder, private=True)
        rows: dict[int, Mapping[str, Any]] = {
            slot: json.loads(row) for slot, row in self._store.handed_rows(opened.number, phase)}
        if file.config.people.id == "row":  # the i-th row is the i-th person's, present or not
            empty = dict.fromkeys(columns, "")
            rows = {slot: rows.get(slot, empty) for slot in range(len(opened.identities))}
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows.values())
        with hidden_beside(opened.folder / _ROWS) as hidden:
            folder = hidden / _ROWS
            target = folder / dict(file.kind.files(file.config))[key]
            make_folder(target.parent, private=True)
            replace_private(target, text.getvalue())
            yield folder


def _with_files_in(folder: Path, campaign: Campaign) -> Campaign:
    """The same campaign, with relative paths that start at another folder. The content of the campaign, and therefore
    its plan, stays the same.
    """
    moved = Campaign(replace(campaign.file, path=folder / campaign.file.path.name), campaign.home)
    vars(moved)["plan"] = campaign.plan  # where the property keeps it
    return moved
