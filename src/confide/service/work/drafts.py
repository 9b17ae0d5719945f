"""Drafts: campaign files that are being written, and planned, until they are opened; from then on they do not change.

What a campaign file names lies in the service's data folder, or nowhere yet. An opened campaign has a folder of its
own in the installation's; what its file names in the data folder is linked there.
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
"""Letters of a campaign file."""

MOST_PEOPLE = 10**6
"""Invited slots of a campaign in the service, unless it is told otherwise: codes for all are one answer."""

_KEPT = 16  # drafts whose plans are at hand
_OWN = (PACK, "known.csv")  # names in a campaign's folder that are the service's
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,49}")


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A campaign file that is being written.

    Args:
        number: in the store.
        name: the file's, without its ending.
        text: the file.
        version: how often it was written, from 1.
        operator: number of who began it.
        campaign: number of the campaign that it became; None while it is a draft.
    """

    number: int
    name: str
    text: str
    version: int
    operator: int
    campaign: int | None = None


def campaign_folder(store: Store, campaign: int) -> Path:
    """The folder of an opened campaign, in the installation's: the operator's alone."""
    return store.home.campaign_folder(campaign)


class _Planned:
    """What a draft's content gives, once somebody has asked: a campaign with its plan, or why there is none."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.found: Campaign | ConfideError | None = None


class Drafts:
    """The drafts of a store.

    Args:
        store: where they are kept.
        data: the folder in which campaign files may name tables; None where custodians' campaigns cannot be opened.
        most_people: invited slots of a campaign, at most.
    """

    def __init__(self, store: Store, data: Path | None = None, *, most_people: int = MOST_PEOPLE) -> None:
        self._store, self._database = store, store.database
        self._data = None if data is None else data.absolute()
        self._most, self._lock = most_people, Lock()
        self._kept: OrderedDict[tuple[str, bytes], _Planned] = OrderedDict()

    def new(self, text: str, operator: int, name: str = "") -> Draft:
        """Begin a draft. It need not be a whole campaign file yet.

        Args:
            text: text of the campaign file.
            operator: number of the operator who begins it.
            name: name of the file; default one that follows from its title.

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
        """A draft.

        Raises:
            Unknown: there is none.
        """
        with self._database.reading() as connection:
            row = connection.execute(select(t.draft).where(t.draft.c.id == number)).first()
        if row is None:
            raise Unknown("draft", number)
        return _draft(row)

    def all(self, *, limit: int = 50, after: int = 0) -> tuple[Draft, ...]:
        """Drafts that have not become campaigns, by number."""
        with self._database.reading() as connection:
            return tuple(_draft(row) for row in connection.execute(
                select(t.draft).where(t.draft.c.campaign_id.is_(None), t.draft.c.id > after)
                .order_by(t.draft.c.id).limit(limit)))

    def newest(self, *, limit: int = 50, before: int | None = None) -> tuple[Draft, ...]:
        """Drafts that have not become campaigns, the newest first.

        Args:
            limit: how many at most.
            before: the number of the last one that was shown.
        """
        query = select(t.draft).where(t.draft.c.campaign_id.is_(None))
        if before is not None:
            query = query.where(t.draft.c.id < before)
        with self._database.reading() as connection:
            return tuple(_draft(row) for row in connection.execute(query.order_by(t.draft.c.id.desc()).limit(limit)))

    def change(self, number: int, text: str, version: int) -> Draft:
        """Write a draft anew.

        Args:
            number: its number.
            text: the new text.
            version: the one that was read.

        Raises:
            Changed: somebody else has written it since.
            Refused: it has become a campaign.
            Unknown: there is none.
            InvalidInput: too long a text.
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
        """Forget a draft.

        Raises:
            Refused: it has become a campaign.
            Unknown: there is none.
        """
        self._unopened(number)
        with self._database.writing() as connection:
            done = connection.execute(delete(t.draft).where(
                t.draft.c.id == number, t.draft.c.campaign_id.is_(None))).rowcount
        if not done:
            self._unopened(number)  # it was opened, or deleted, since

    def campaign(self, draft: Draft) -> Campaign:
        """The campaign that a draft would become, with its plan: planned once for each content, whoever looks at it.

        Raises:
            InvalidInput: it is no campaign file, or invites more people than this service takes; names the key.
            Refused: it is hopeless.
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
            raise InvalidInput("people.count", worded("%(count)s are more than this service takes", count=f"{count:,}"),
                               worded("must be at most %(most)s", most=f"{self._most:,}"))
        found.plan  # noqa: B018 - kept with it
        return found

    def open(self, number: int, version: int | None = None) -> Stored:
        """Make a draft a campaign, and open its collection. Doing it again returns the campaign.

        Where people's devices draw what they hand in, the ledger is charged for it, in the same transaction.

        The text that was checked is the one that is opened: whoever saves or deletes the draft meanwhile is first, or
        is refused.

        Args:
            number: its number.
            version: the one that was read; None opens whatever stands there now.

        Raises:
            Changed: somebody has written or deleted the draft meanwhile, or since that version.
            InvalidInput: no campaign file, or one that names files which this service may not use.
            Refused: hopeless, above the level at which devices draw, or one of the same content is there already.
            BudgetExceeded: the ledger does not admit it.
            Unknown: there is no such draft.
        """
        draft = self.get(number)
        if draft.campaign is not None:
            return self._store.get(draft.campaign)
        if version is not None and version != draft.version:
            raise Changed("draft")
        campaign = self.campaign(draft)
        file, plan = campaign.file, campaign.plan
        if campaign.held and self._data is None:
            raise Refused(worded("this service has no data folder, in which a custodian's table could lie"),
                          worded("start it with --data FOLDER"))
        self._check_files(file, held=campaign.held)
        if isinstance(file.kind, LocalKind) and file.kind.level(plan) > LARGEST_LEVEL:
            raise Refused(worded("participants' devices draw nothing at so large a level"),
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
                # Whose deposit is there follows from another rule then, which she was told of.
                raise Refused(worded("people have handed in to this campaign before, and not to the service"),
                              worded("go on with it where they did, or give this one another title"))
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
            raise Refused(worded("the draft has become a campaign"), worded("an offer does not change"))
        return known

    @staticmethod
    def _is_anothers(connection: Connection, campaign: int, draft: int) -> bool:
        return connection.execute(select(t.draft.c.id).where(
            t.draft.c.campaign_id == campaign, t.draft.c.id != draft)).first() is not None

    def _check_files(self, file: CampaignFile, *, held: bool) -> None:
        """Whether all that the file names lies below the data folder, and a custodian's first table is there.

        In a campaign's own folder these names must not meet, nor be the service's: it could never be settled.

        Raises:
            InvalidInput: names the key. It does not tell what else lies on this machine.
        """
        seen: list[tuple[str, ...]] = [(name,) for name in _OWN]
        written = ("reports.source", "data.source") if isinstance(file.kind, ContractKind) else ()
        for place, (key, said) in enumerate(file.kind.files(file.config)):
            parts = PurePosixPath(said).parts
            if "://" in said or "\\" in said or not parts or PurePosixPath(said).is_absolute() or ".." in parts:
                raise InvalidInput(key, worded("is no name of a file below the service's data folder"),
                                   worded("give a path without .. that begins with a name"))
            mine = PurePosixPath(said.casefold()).parts
            if any(mine[: len(each)] == each[: len(mine)] for each in seen):
                raise InvalidInput(key, worded("is the name of another file of this campaign, or lies in its place"),
                                   worded("give each file a name of its own, and none of %(own)s", own=', '.join(_OWN)))
            seen.append(mine)
            if key in written and not said.endswith(".csv"):
                raise InvalidInput(key, worded("is written by the service, as CSV"),
                                   worded("give a name that ends in .csv"))
            if self._data is None:
                continue
            there = self._data / said
            if there.exists() and not there.resolve().is_relative_to(self._data.resolve()):
                raise InvalidInput(key, worded("leads out of the service's data folder"),
                                   worded("put the file itself there"))
            if held and place == 0 and not there.exists():
                raise InvalidInput(key, worded("is not in the service's data folder"),
                                   worded("put the table there first"))

    def _make_folder(self, file: CampaignFile, campaign: int, *, held: bool) -> None:
        """The campaign's own folder, with links to what a custodian's file names and is there."""
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
    return Refused(worded("a campaign of the same content is there already"), worded("give this one another title"))


def _draft(row: Any) -> Draft:
    return Draft(number=row.id, name=row.name, text=row.text, version=row.version, operator=row.operator_id,
                 campaign=row.campaign_id)


def _check_text(text: str) -> None:
    if len(text) > LONGEST_TEXT:
        raise InvalidInput("text", worded("has %(text)s letters", text=f"{len(text):,}"),
                           worded("must have at most %(longest_text)s", longest_text=f"{LONGEST_TEXT:,}"))


def _named(text: str) -> str:
    """A name that follows from the title, where there is one."""
    found = re.search(r'^title\s*=\s*"([^"]*)"', text, re.MULTILINE)
    plain = unicodedata.normalize("NFKD", found[1] if found else "").encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:50].strip("-") or "campaign"
