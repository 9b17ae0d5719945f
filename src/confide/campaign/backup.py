"""Backup and restore of an installation: its store, its keys, and its durable notes, as one private archive.

The store is copied first, in its state at one moment. Other processes may go on writing meanwhile. Keys and notes are
copied after the store. If a campaign is released after the copy of the store and before the copy of the notes, a copied
note says that it was released, but the copied store has no outcome. The note prevents a second publication from the
copy. If notes were copied before the store, the copy could publish a second outcome.

A copy of an installation lacks all events in the original after the time of the copy. The copy's ledger lacks all later
charges, and the copy still holds records that the original has erased since. Anybody who uses a copy must know that the
copy lacks later charges and still holds erased records, so `confide restore` prints both facts. A copy has no login
sessions and no working invitation codes, since the original may have removed people in the meantime. The copy settles
or pays a campaign only after the operator has confirmed that the original did not: see `confirm`.

An archive is made in a private folder beside the path that the caller gave, and is then linked to this path. No file
may exist at this path before. Even in a folder that other users may write to, no file or link of another user is
opened, followed, or replaced.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sqlite3
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from sqlalchemy import URL, Connection, delete, select, update

from confide.campaign.store import Store, Stored
from confide.campaign.store import schema as s
from confide.campaign.store import service_schema as t
from confide.campaign.store.home import Home
from confide.campaign.store.payouts import all_paid
from confide.campaign.store.states import State
from confide.contract.errors import InvalidInput, Refused, StoreFailed
from confide.contract.files import as_path, check_private, make_folder, sync
from confide.contract.words import cause

__all__ = ["ASKED_BEFORE", "Restored", "backup", "confirm", "end_what_was_begun", "held", "restore", "unfinished"]

_FORMAT = 1
_MANIFEST, _DUMP = "manifest.json", "store"
_HOME = ("ledger.key", "signing.key", "released", "contracts", "charged", "begun", "restored", "looked", "service")
_MOST = 1 << 40  # bytes of an archive's part
_LARGEST = 1 << 28  # bytes of a manifest: some 150 for a file, of which a campaign has a few
_BROKEN = (tarfile.TarError, EOFError, OSError, ValueError, LookupError, RecursionError, TypeError)
"""Exceptions that reading an altered archive can raise, and the OSError of a failing disk; the message names the cause.
"""


@dataclass(frozen=True, kw_only=True)
class Restored:
    """Result of `restore`.

    Args:
        day: the day on which the copy was taken, YYYY-MM-DD in UTC.
        home: the installation's folder.
        store: the location of the store, without its password.
        campaigns: the number of campaigns in the store.
        held: the number of campaigns that the copy neither settles nor pays until `confirm` allows it.
    """

    day: str
    home: Path
    store: str
    campaigns: int
    held: int


def backup(path: str | os.PathLike[str], *, store: Store) -> Path:
    """Write an archive of a store and its installation. Other processes may go on writing meanwhile.

    Args:
        path: the path of a new file, which only its owner may read. The archive holds the keys, and all records that
            are not erased yet.
        store: the store to copy.

    Raises:
        InvalidInput: the path exists, even if it is a link to a missing file, or no file can be written at this place.
        Refused: PostgreSQL's `pg_dump` is not installed.
        StoreFailed: the database cannot be copied.
    """
    target = as_path("out", path).absolute()
    if os.path.lexists(target):
        raise _there(target)
    make_folder(target.parent)
    with TemporaryDirectory(dir=target.parent, prefix=".copying-") as folder:  # its owner's alone
        dump, draft = Path(folder) / _DUMP, Path(folder) / "archive"
        _dump(store, dump)  # before the notes: see above
        descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, 0o600)  # whatever the umask
            with tarfile.open(fileobj=file, mode="w|") as archive:
                digests = {_DUMP: _add(archive, dump, _DUMP)}
                for each in _files(store.home.folder):
                    name = f"home/{each.relative_to(store.home.folder).as_posix()}"
                    digests[name] = _add(archive, each, name)
                said = {"format": _FORMAT, "day": datetime.now(UTC).date().isoformat(),
                        "database": "sqlite" if store.database.sqlite else "postgresql", "files": digests}
                _add_bytes(archive, json.dumps(said, indent=1, sort_keys=True).encode(), _MANIFEST)
            file.flush()
            os.fsync(descriptor)
            try:
                os.link(draft, target, follow_symlinks=False)  # a new name, never in the place of another's
            except FileExistsError:
                raise _there(target) from None
            except OSError as error:
                raise InvalidInput("out", f"{target} cannot be written: {cause(error)}") from None
            ours, there = os.fstat(descriptor), os.lstat(target)
            if (ours.st_dev, ours.st_ino) != (there.st_dev, there.st_ino):
                raise InvalidInput("out", f"somebody else wrote another file at {target}",
                                   "choose a folder that only you can write to")
    sync(target.parent)
    return target


def _there(target: Path) -> InvalidInput:
    return InvalidInput("out", f"{target} exists", "choose another file")


def restore(path: str | os.PathLike[str], home: str | os.PathLike[str], *, url: str | URL | None = None) -> Restored:
    """Make an installation from an archive, in a folder that holds none.

    In the restored installation nobody is logged in, no invitation code works, and no job is running. The restored
    installation neither settles nor pays any campaign that was still open to settlement or payment, until `confirm`
    allows it for this campaign.

    Args:
        path: the archive that `backup` wrote.
        home: a new folder for the installation.
        url: the URL of an empty PostgreSQL database, if the archive holds a copy of a PostgreSQL database; None if it
            holds a copy of a SQLite database, which is restored into the folder.

    Raises:
        InvalidInput: the archive does not exist or was altered, or the folder is not empty.
        Refused: PostgreSQL's `pg_restore` is not installed, or the archive holds another kind of database than `url`
            names.
    """
    source, folder = as_path("archive", path).absolute(), as_path("home", home).absolute()
    if not source.is_file():
        raise InvalidInput("archive", f"{source} is not a file", "name a file that `confide backup` wrote")
    check_private("archive", source)
    if folder.exists() and any(folder.iterdir()):
        raise InvalidInput("home", f"{folder} is not empty", "restore into a new folder: two ledgers cannot be merged")
    make_folder(folder.parent)
    with TemporaryDirectory(dir=folder.parent, prefix=".restoring-") as place:
        said = _extracted(source, Path(place))
        if (said["database"] == "sqlite") is not (url is None):
            raise Refused(f"the copied database is {said['database']}",
                          "give --store for a copy of PostgreSQL, and for no other copy")
        found = Path(place) / "home"
        make_folder(found, private=True)
        os.chmod(found, 0o700)
        if url is None:
            os.replace(Path(place) / _DUMP, found / Home(found).store.name)
        else:
            _load(Path(place) / _DUMP, url)
        with Store(url, home=Home(found), create=False) as store:  # a reader of the installation finds it held
            name, campaigns, waiting = store.name, len(store.campaigns()), _hold(store)
        if folder.exists():
            folder.rmdir()
        os.replace(found, folder)
    sync(folder.parent)
    return Restored(day=said["day"], home=folder, store=Home(folder).store_name if url is None else name,
                    campaigns=campaigns, held=waiting)


def _hold(store: Store) -> int:
    """Hold every campaign of a copy that the original may have settled or paid since; the result is their number."""
    with store.database.writing() as connection:
        end_what_was_begun(connection)
        contents = unfinished(connection)
    store.database.forget()
    for content in contents:
        store.home.hold(content)
    return len(contents)


def held(store: Store) -> tuple[Stored, ...]:
    """The campaigns that a restored installation neither settles nor pays, since the original installation may have
    settled or paid them.

    Args:
        store: the store of a restored installation; the result is empty for any other store.
    """
    return tuple(each for each in store.campaigns() if store.home.restored(each.content))


def confirm(store: Store, campaign: int) -> Stored:
    """Declare that the original installation has neither settled nor paid a campaign since the copy, and never will.
    From then on, the copy may settle and pay the campaign.

    Args:
        store: the store of a restored installation.
        campaign: the number of the campaign in the store.

    Raises:
        InvalidInput: no campaign of this number waits for a confirmation.
    """
    found = next((each for each in held(store) if each.number == campaign), None)
    if found is None:
        raise InvalidInput("confirm", f"there is no restored campaign {campaign} that waits for a confirmation",
                           "`confide restored` lists the campaigns that wait")
    store.home.confirm(found.content)
    return found


def _files(home: Path) -> Iterator[Path]:
    """The files that an installation keeps outside of its store; links are left out."""
    for name in _HOME:
        top = home / name
        paths = [top] if top.is_file() else sorted(top.rglob("*")) if top.is_dir() else []
        yield from (path for path in paths if path.is_file() and not path.is_symlink())


def _add(archive: tarfile.TarFile, path: Path, name: str) -> str:
    """Add a file with its present contents to the archive; the result is the SHA-256 digest of these contents."""
    data = path.read_bytes() if path.stat().st_size < (1 << 26) else None
    if data is not None:
        return _add_bytes(archive, data, name)
    head = tarfile.TarInfo(name)
    head.size, head.mode = path.stat().st_size, 0o600
    digest = hashlib.sha256()
    with path.open("rb") as file:
        archive.addfile(head, _Hashing(file, digest))
    return digest.hexdigest()


class _Hashing:
    """A file whose bytes are hashed as they are read."""

    def __init__(self, file: io.BufferedReader, digest: hashlib._Hash) -> None:
        self._file, self._digest = file, digest

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._digest.update(data)
        return data


def _add_bytes(archive: tarfile.TarFile, data: bytes, name: str) -> str:
    head = tarfile.TarInfo(name)
    head.size, head.mode = len(data), 0o600
    archive.addfile(head, io.BytesIO(data))
    return hashlib.sha256(data).hexdigest()


def _extracted(source: Path, place: Path) -> dict[str, str]:
    """Extract the archive's files into a folder, and compare all digests with the manifest.

    Returns:
        The manifest's entries "day" and "database".

    Raises:
        InvalidInput: the file is no archive of `backup`, or it was altered.
    """
    found: dict[str, str] = {}
    said: object = None
    try:
        with tarfile.open(source, mode="r|") as archive:
            for member in archive:
                parts = PurePosixPath(member.name).parts
                largest = _LARGEST if member.name == _MANIFEST else _MOST
                # A sparse one gives out more than the archive has.
                if (not member.isfile() or member.issparse() or not parts or member.name.startswith("/")
                        or ".." in parts or member.size > largest):
                    raise InvalidInput("archive", f"{source} has other files than a backup")
                file = archive.extractfile(member)
                if file is None:
                    continue
                if member.name == _MANIFEST:
                    said = json.loads(file.read())
                    continue
                target = place / member.name
                make_folder(target.parent, private=True)
                found[member.name] = _copied(file, target)
        if not isinstance(said, dict) or said["format"] != _FORMAT or said["files"] != found or _DUMP not in found:
            raise InvalidInput("archive", f"{source} was altered, or is not a backup in this format")
        return {"day": str(said["day"]), "database": str(said["database"])}
    except InvalidInput:
        raise
    except _BROKEN as error:
        raise InvalidInput("archive", f"{source} is not a readable backup: {cause(error)}") from None


def _copied(file: object, target: Path) -> str:
    digest = hashlib.sha256()
    descriptor = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        while block := file.read(1 << 20):  # type: ignore[attr-defined] # tarfile's reader
            digest.update(block)
            out.write(block)
    sync(target)
    return digest.hexdigest()


def _dump(store: Store, target: Path) -> None:
    file = store.database.file
    if file is not None:
        try:
            with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as there, \
                    closing(sqlite3.connect(target)) as here:
                there.backup(here)
        except sqlite3.Error as error:
            raise StoreFailed(store.name, f"cannot be copied: {cause(error)}") from None
        return
    _run("pg_dump", store.database.engine.url, ["--format=custom", f"--file={target}"])


def _load(dump: Path, url: str | URL) -> None:
    from sqlalchemy import make_url

    _run("pg_restore", make_url(url), ["--single-transaction", "--exit-on-error", "--no-owner"], str(dump))


def _run(program: str, url: URL, options: list[str], *more: str) -> None:
    """Run one of PostgreSQL's programs on a database; the password is passed in the environment, which other users
    cannot read.
    """
    if shutil.which(program) is None:
        raise Refused(f"{program} is not installed", "Debian has it: apt-get install postgresql-client")
    host = url.host or str(url.query.get("host", ""))
    known = {"--host": host, "--port": str(url.port or ""), "--username": url.username or "",
             "--dbname": url.database or ""}
    arguments = [f"{name}={value}" for name, value in known.items() if value]
    environment = {**os.environ, **({"PGPASSWORD": str(url.password)} if url.password else {})}
    done = subprocess.run([program, *arguments, *options, *more],  # noqa: S603 - no shell, and our own words
                          env=environment, capture_output=True, check=False)
    if done.returncode:  # what it says may hold rows
        raise StoreFailed(url.render_as_string(hide_password=True), f"{program} has failed")


ASKED_BEFORE = "was requested before this installation was restored from a copy: request it again"
"""The reason that a restored installation notes for each failed job that was unfinished in the copy."""


def end_what_was_begun(connection: Connection) -> None:
    """End all login sessions, all unused invitation codes and all unfinished jobs, and erase the stored answers to
    repeated requests.

    Args:
        connection: a connection in a writing transaction.
    """
    for table in (t.operator_session, t.participant_session, t.invitation, t.replay):
        connection.execute(delete(table))
    connection.execute(update(t.job).where(t.job.c.state.in_(("queued", "running"))).values(
        state="failed", lease=0, problem=ASKED_BEFORE))


def unfinished(connection: Connection) -> list[str]:
    """The digests of the campaign files of all campaigns that could still be settled or paid. The original installation
    may have settled or paid these campaigns since the copy.
    """
    rows = connection.execute(select(s.campaign.c.id, s.campaign.c.content, s.campaign.c.state).where(
        s.campaign.c.state != State.CANCELLED.value).order_by(s.campaign.c.id)).all()
    return [row.content for row in rows if row.state != State.SETTLED.value or not all_paid(connection, row.id)]
