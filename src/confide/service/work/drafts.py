"""Drafts: campaign files that operators write and plan until the campaign is opened. After the opening, the text of the
draft does not change any more.

The files that a campaign file names are in the data folder of the service, or do not exist yet. An opened campaign has
a folder of its own below the installation's folder, with links to these files in the data folder.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import OrderedDict
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from confide.campaign.campaign import Campaign
from confide.campaign.file import CampaignFile, parse
from confide.campaign.handing_in import open_collection
from confide.campaign.store import Store, Stored
from confide.campaign.store import service_schema as t
from confide.campaign.store.erasure import PACK
from confide.campaign.store.home import released_elsewhere
from confide.campaign.store.reports import handed_in, noted
from confide.campaign.store.states import State
from confide.contract.errors import ConfideError, InvalidInput, Refused
from confide.contract.files import make_folder
from confide.contract.kinds import ContractKind, LocalKind
from confide.contract.worded import worded
from confide.contract.words import number as spelled
from confide.privacy.device_odds import LARGEST_LEVEL
from confide.service.work.faults import Changed, Unknown

__all__ = ["LONGEST_TEXT", "MOST_PEOPLE", "Draft", "Drafts", "campaign_folder"]

LONGEST_TEXT = 1 << 20
"""Largest number of characters of a campaign file."""

MOST_PEOPLE = 10**6
"""Default limit on the number of invited slots of a campaign in the service. The limit exists because the codes for all
slots are sent in one answer.
"""

_KEPT = 16  # drafts whose plans are at hand
_OWN = (PACK, "known.csv")  # names in a campaign's folder that are the service's
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,49}")


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A campaign file that is being written.

    Args:
        number: number of the draft in the store.
        name: name of the campaign file, without its ending.
        text: text of the file.
        version: number of times that the text was written: 1 for a new draft.
        operator: number of the operator who began the draft.
        campaign: number of the campaign that the draft has become; None before the opening.
    """

    number: int
    name: str
    text: str
    version: int
    operator: int
    campaign: int | None = None


def campaign_folder(store: Store, campaign: int) -> Path:
    """The folder of an opened campaign, below the installation's folder. Only the operator can read the folder of an
    opened campaign.
    """
    return store.home.campaign_folder(campaign)


class _Planned:
    """The result of planning a draft's text: a campaign with its plan, or the reason why there is none."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.found: Campaign | ConfideError | None = None


class Drafts:
    """The drafts of the service, which are kept in a store.

    Args:
        store: store in which the drafts are kept.
        data: folder with the tables that campaign files may name; None if there is no such folder, so that campaigns of
            custodians cannot be opened.
        most_people: largest allowed number of invited slots of a campaign.
    """

    def __init__(self, store: Store, data: Path | None = None, *, most_people: int = MOST_PEOPLE) -> None:
        self._store, self._database = store, store.database
        self._data = None if data is None else data.absolute()
        self._most, self._lock = most_people, Lock()
        self._kept: OrderedDict[tuple[str, bytes], _Planned] = OrderedDict()

    def new(self, text: str, operator: int, name: str = "") -> Draft:
        """Begin a draft. The text of a draft may still be an incomplete campaign file.

        Args:
            text: text of the campaign file.
            operator: number of the operator who begins the draft.
            name: name of the campaign file; if left out, a name is made from the title.

        Raises:
            InvalidInput: the text is too long, or the name is not valid.
        """
        _check_text(text)
        named = name or _named(text)
        if not _NAME.fullmatch(named):
            raise InvalidInput("name", worded("cannot be used"),
                               worded("must be 1 to 50 small letters, digits and hyphens"))
        with self._database.writing() as connection:
            number = connection.execute(insert(t.draft).values(
                name=named, text=text, version=1, operator_id=operator).returning(t.draft.c.id)).scalar_one()
        return Draft(number=int(number), name=named, text=text, version=1, operator=operator)

    def get(self, number: int) -> Draft:
        """The draft with this number in the store.

        Raises:
            Unknown: there is no draft with this number.
        """
        with self._database.reading() as connection:
            row = connection.execute(select(t.draft).where(t.draft.c.id == number)).first()
        if row is None:
            raise Unknown("draft", number)
        return _draft(row)

    def all(self, *, limit: int = 50, after: int = 0) -> tuple[Draft, ...]:
        """Drafts that have not become campaigns, in the order of their numbers."""
        with self._database.reading() as connection:
            return tuple(_draft(row) for row in connection.execute(
                select(t.draft).where(t.draft.c.campaign_id.is_(None), t.draft.c.id > after)
                .order_by(t.draft.c.id).limit(limit)))

    def newest(self, *, limit: int = 50, before: int | None = None) -> tuple[Draft, ...]:
        """Drafts that have not become campaigns, the newest first.

        Args:
            limit: largest number of drafts.
            before: number of the last draft that was shown; None for the first page.
        """
        query = select(t.draft).where(t.draft.c.campaign_id.is_(None))
        if before is not None:
            query = query.where(t.draft.c.id < before)
        with self._database.reading() as connection:
            return tuple(_draft(row) for row in connection.execute(query.order_by(t.draft.c.id.desc()).limit(limit)))

    def change(self, number: int, text: str, version: int) -> Draft:
        """Replace the text of a draft.

        Args:
            number: number of the draft.
            text: new text of the campaign file.
            version: version that the operator has read.

        Raises:
            Changed: the draft was changed since that version.
            Refused: the draft has become a campaign.
            Unknown: there is no draft with this number.
            InvalidInput: the text is too long.
        """
        _check_text(text)
        known = self._unopened(number)
        with self._database.writing() as connection:
            done = connection.execute(update(t.draft).where(
                t.draft.c.id == number, t.draft.c.version == version, t.draft.c.campaign_id.is_(None))
                .values(text=text, version=version + 1)).rowcount
        if not done:
            raise Changed("draft")
        return Draft(number=number, name=known.name, text=text, version=version + 1, operator=known.operator)

    def delete(self, number: int) -> None:
        """Delete a draft.

        Raises:
            Refused: the draft has become a campaign.
            Unknown: there is no draft with this number.
        """
        self._unopened(number)
        with self._database.writing() as connection:
            done = connection.execute(delete(t.draft).where(
                t.draft.c.id == number, t.draft.c.campaign_id.is_(None))).rowcount
        if not done:
            self._unopened(number)  # it was opened, or deleted, since

    def campaign(self, draft: Draft) -> Campaign:
        """The campaign that a draft would become, with its plan. Each text is planned only once, and the result is
        kept.

        Raises:
            InvalidInput: the text is no campaign file, or invites more people than this service allows; the message
                names the key.
            Refused: the plan predicts no useful result.
        """
        key = (draft.name, sha256(draft.text.encode("utf-8")).digest())
        with self._lock:
            kept = self._kept.setdefault(key, _Planned())
            self._kept.move_to_end(key)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        with kept.lock:  # of many who look at once, one plans
            if kept.found is None:
                try:
                    kept.found = self._planned(draft)
                except ConfideError as error:
                    kept.found = error
        if isinstance(kept.found, ConfideError):
            raise kept.found.with_traceback(None)
        return kept.found

    def _planned(self, draft: Draft) -> Campaign:
        folder = self._data or self._store.home.folder
        found = Campaign(parse(draft.text.encode("utf-8"), folder / f"{draft.name}.toml"), self._store.home)
        count = getattr(getattr(found.file.config, "people", None), "count", 0)
        if count > self._most:  # before it is planned, which takes memory for everybody
            raise InvalidInput("people.count", worded("%(count)s are more than this service accepts",
                                                      count=f"{count:,}"),
                               worded("must be at most %(most)s", most=f"{self._most:,}"))
        found.plan  # noqa: B018 - kept with it
        return found

    def open(self, number: int, version: int | None = None) -> Stored:
        """Make a draft a campaign, and open its collection. A repeated call returns the same campaign.

        If people's devices draw their reports, the ledger is charged for the reports in the transaction that opens the
        campaign.

        The campaign has exactly the text that was checked. If another operator saves or deletes the draft at the same
        time, either their change or the opening is refused.

        Args:
            number: number of the draft.
            version: version that the operator has read; None opens the present version.

        Raises:
            Changed: the draft was changed or deleted at the same time, or since the given version.
            InvalidInput: the text is no campaign file, or names files that this service may not use.
            Refused: the plan predicts no useful result, the privacy level of a report is above the largest level at
                which devices draw, or a campaign with the same content exists.
            BudgetExceeded: the ledger does not admit the campaign.
            Unknown: there is no draft with this number.
        """
        draft = self.get(number)
        if draft.campaign is not None:
            return self._store.get(draft.campaign)
        if version is not None and version != draft.version:
            raise Changed("draft")
        campaign = self.campaign(draft)
        file, plan = campaign.file, campaign.plan
        if campaign.held and self._data is None:
            raise Refused(worded("this service has no data folder for a custodian's table"),
                          worded("start it with --data FOLDER"))
        self._check_files(file, held=campaign.held)
        if isinstance(file.kind, LocalKind) and file.kind.level(plan) > LARGEST_LEVEL:
            raise Refused(worded("participants' devices do not draw reports at this large level"),
                          worded("a report may cost %(largest_level)s at most, in nats or as rho",
                               largest_level=spelled(LARGEST_LEVEL)))
        there = self._store.find(file)
        if there is not None and there.state is not State.OPEN:
            raise _same_content()
        if self._store.home.released(file.digest) is not None:
            raise released_elsewhere()

        def become(connection: Connection, known: Stored) -> None:
            # Of two drafts of one content that are opened at once, the second waits here for the first.
            if known.state is not State.OPEN or self._is_anothers(connection, known.number, number):
                raise _same_content()
            if handed_in(connection, known.number) and noted(connection, known.number) is None:
                # Whose deposit is there follows from another rule then, which the participant has read.
                raise Refused(worded("people have handed in records of this campaign outside of the service"),
                              worded("continue the campaign outside of the service, or give this draft another title"))
            done = connection.execute(update(t.draft).where(
                t.draft.c.id == number, t.draft.c.version == draft.version, t.draft.c.campaign_id.is_(None))
                .values(campaign_id=known.number)).rowcount
            if not done and connection.execute(select(t.draft.c.campaign_id).where(
                    t.draft.c.id == number)).scalar() != known.number:  # else somebody else has just opened it
                raise Changed("draft")
            self._make_folder(file, known.number, held=campaign.held)

        return open_collection(campaign.planned, self._store, become)

    def _unopened(self, number: int) -> Draft:
        known = self.get(number)
        if known.campaign is not None:
            raise Refused(worded("the draft has become a campaign"), worded("the offer of a campaign does not change"))
        return known

    @staticmethod
    def _is_anothers(connection: Connection, campaign: int, draft: int) -> bool:
        return connection.execute(select(t.draft.c.id).where(
            t.draft.c.campaign_id == campaign, t.draft.c.id != draft)).first() is not None

    def _check_files(self, file: CampaignFile, *, held: bool) -> None:
        """Check that all files that the campaign file names are below the data folder, and that a custodian's first
        table exists.

        In the campaign's own folder, the names of its linked files must differ from each other and from the service's
        own names, or the campaign could never be settled.

        Raises:
            InvalidInput: a name is not allowed; the message names the key, and reveals no other file on this machine.
        """
        seen: list[tuple[str, ...]] = [(name,) for name in _OWN]
        written = ("reports.source", "data.source") if isinstance(file.kind, ContractKind) else ()
        for place, (key, said) in enumerate(file.kind.files(file.config)):
            parts = PurePosixPath(said).parts
            if "://" in said or "\\" in said or not parts or PurePosixPath(said).is_absolute() or ".." in parts:
                raise InvalidInput(key, worded("is not the name of a file below the service's data folder"),
                                   worded("give a path without .. that begins with a name"))
            mine = PurePosixPath(said.casefold()).parts
            if any(mine[: len(each)] == each[: len(mine)] for each in seen):
                raise InvalidInput(key, worded("is the name or the place of another file of this campaign"),
                                   worded("give each file a different name, other than %(own)s", own=', '.join(_OWN)))
            seen.append(mine)
            if key in written and not said.endswith(".csv"):
                raise InvalidInput(key, worded("is written by the service, as CSV"),
                                   worded("give a name that ends in .csv"))
            if self._data is None:
                continue
            there = self._data / said
            if there.exists() and not there.resolve().is_relative_to(self._data.resolve()):
                raise InvalidInput(key, worded("is a link to a place outside of the service's data folder"),
                                   worded("put the file itself into the data folder"))
            if held and place == 0 and not there.exists():
                raise InvalidInput(key, worded("is not in the service's data folder"),
                                   worded("put the table into the data folder first"))

    def _make_folder(self, file: CampaignFile, campaign: int, *, held: bool) -> None:
        """Make the campaign's own folder, with links to the existing files that a custodian's campaign file names."""
        folder = campaign_folder(self._store, campaign)
        make_folder(folder, private=True)
        for _, said in file.kind.files(file.config) if held else ():
            if self._data is None or not (self._data / said).exists():
                continue
            link = folder / said
            make_folder(link.parent, private=True)
            if not link.is_symlink():
                os.symlink((self._data / said).resolve(), link)


def _same_content() -> Refused:
    return Refused(worded("the service already has a campaign with the same "
                          "content"), worded("give this draft another title"))


def _draft(row: Any) -> Draft:
    return Draft(number=row.id, name=row.name, text=row.text, version=row.version, operator=row.operator_id,
                 campaign=row.campaign_id)


def _check_text(text: str) -> None:
    if len(text) > LONGEST_TEXT:
        raise InvalidInput("text", worded("has %(text)s letters", text=f"{len(text):,}"),
                           worded("must have at most %(longest_text)s", longest_text=f"{LONGEST_TEXT:,}"))


def _named(text: str) -> str:
    """A file name that follows from the title; if there is no title, a general name."""
    found = re.search(r'^title\s*=\s*"([^"]*)"', text, re.MULTILINE)
    plain = unicodedata.normalize("NFKD", found[1] if found else "").encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:50].strip("-") or "campaign"
