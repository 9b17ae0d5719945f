"""An installation of confide: a folder with two keys, durable notes on campaigns, and usually a store. The default
folder lies in the user's data directory.

`ledger.key` is the key of the hashes under which the ledger stores subjects (the people of a data set). With another
key, every subject would have a new budget. A store therefore records a check value of its key, and refuses any other
key. `signing.key` is the operator's Ed25519 key; participants know the fingerprint of this key from the offer. The
files of the keys are readable by their owner only. The keys lie outside of the database, so nobody can be identified
from a copy of the database. A key is written to disk before any data that depend on it.

In each folder of notes, a file's name is the digest of a campaign file, or of the description of some records.

`contracts/` has a file for each campaign with a final round of contracts. The file holds the digest of the round.

`released/` has a file for each campaign whose outcome was released. An outcome is released when its public files are
read from a store of this installation to become a pack. The file holds the digest of the manifest in this pack. The
file is written once, before the outcome leaves the store. It prevents the release of a second outcome, whatever happens
to a store.

`charged/` has a file for each campaign that this installation has charged, if the campaign's mechanism or kind is not
part of confide. The file holds the digest of the code of the mechanism and the kind.

`begun/` has a file for each campaign with noise in a journal, which is a file of kept noise. The file in `begun/` is
written before the first draw. If the journal is missing, no new noise is drawn. The file in `begun/` states the number
of lines and the digest of the journal at the end of the last attempt. A shortened journal or an older copy is therefore
refused, too.

`looked/` has a file for each collection of records that somebody looked at. The file holds the fraction of unusable
rows that the campaign file accepted at the first look. A fraction that is written into the campaign file after the
first look may depend on the records.

`locks/` has an empty file for each campaign with contracts. The file is locked while the campaign's round is replaced,
declined or made final. Copies of the installation leave out `locks/`.

`restored/` has a file for each campaign that came with a copy of another installation and was still open for settlement
or payment. A campaign in `restored/` is neither settled nor paid before the operator has confirmed that the original
did neither.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

from confide.campaign.signatures import fingerprint
from confide.contract.errors import InvalidInput, Refused
from confide.contract.files import check_private, is_locked, locked, read_bytes, replace_private, sync, write_once
from confide.privacy.noise.entropy import random_bytes

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from sqlalchemy import URL

__all__ = ["Home", "released_elsewhere"]

_LEDGER = "ledger.key"
_LENGTH = 32
_DIGEST = 64  # letters of a campaign's digest, and so of a note's name


@dataclass(frozen=True)
class Home:
    """An installation: a folder with keys, durable notes on campaigns, and usually a store.

    Args:
        folder: the folder of the installation, usually the folder of `Home.default()`.
    """

    folder: Path

    @classmethod
    def default(cls) -> Home:
        """The installation in the folder that the environment variable CONFIDE_HOME names, or in `confide` in the
        user's data directory.
        """
        named = os.environ.get("CONFIDE_HOME")
        if named:
            return cls(Path(named).absolute())
        from platformdirs import user_data_path

        return cls(user_data_path("confide", appauthor=False))

    @property
    def store(self) -> Path:
        """The path of the installation's own store, which need not exist."""
        return self.folder / "store.db"

    @property
    def store_name(self) -> str:
        """The name of the installation's own store, for messages. The store need not exist."""
        return f"sqlite:///{quote(str(self.store), safe=' +/')}"  # as `url` spells it

    @property
    def url(self) -> URL:
        """The URL of the installation's own store. The URL is an object and not a text, since in a text the name of a
        folder could be read as options.
        """
        from sqlalchemy import URL

        return URL.create("sqlite", database=str(self.store))

    def campaign_folder(self, number: int) -> Path:
        """The private folder of a campaign that the service has opened, for the operator alone.

        Args:
            number: the campaign's number in the service's store.
        """
        return self.folder / "service" / str(number)

    @property
    def has_ledger_key(self) -> bool:
        """Whether the ledger's key exists. No key is made."""
        return "ledger_key" in vars(self) or (self.folder / _LEDGER).exists()

    @cached_property
    def ledger_key(self) -> bytes:
        """The key of the hashes under which the ledger stores subjects: 32 random bytes, made at the first use."""
        return self._secret(_LEDGER)

    @cached_property
    def signing_key(self) -> Ed25519PrivateKey:
        """The operator's Ed25519 signing key, made at the first use."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self._secret("signing.key"))

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the operator's signing key, in the form that people compare."""
        return fingerprint(self.signing_key.public_key())

    def released(self, content: str) -> str | None:
        """The digest of the manifest that was released for a campaign; None if no manifest was released.

        Args:
            content: the digest of the campaign file.
        """
        return self._noted("released", content)

    def all_released(self) -> frozenset[str]:
        """The digests of the files of all campaigns whose outcome was released from a store of this installation."""
        try:
            return frozenset(each.name for each in (self.folder / "released").iterdir() if len(each.name) == _DIGEST)
        except FileNotFoundError:
            return frozenset()

    def release(self, content: str, manifest: str) -> None:
        """Note durably which outcome is the released outcome of a campaign, before the outcome leaves the store. An
        existing note on the campaign is not replaced.

        Args:
            content: the digest of the campaign file.
            manifest: the digest of the outcome's manifest.

        Raises:
            Refused: another outcome of the campaign was released.
        """
        write_once("released", self._note("released", content), manifest + "\n")
        if self.released(content) != manifest:
            raise released_elsewhere()

    def charged(self, content: str) -> str | None:
        """The digest of the code with which a campaign was charged. The result is None if the campaign was not charged,
        or if its mechanism and kind are part of confide.

        Args:
            content: the digest of the campaign file.
        """
        return self._noted("charged", content)

    def charge(self, content: str, code: str) -> None:
        """Note durably the code with which a campaign was charged. An existing note on the campaign is not replaced.

        Args:
            content: the digest of the campaign file.
            code: the digest of the code of the mechanism and the kind.
        """
        write_once("charged", self._note("charged", content), code + "\n")

    def begun(self, content: str) -> bool:
        """Whether noise of a campaign may have been drawn into a journal.

        Args:
            content: the digest of the campaign file.
        """
        return self._note("begun", content).exists()

    def begin(self, content: str) -> None:
        """Note durably that noise of a campaign will be drawn into a journal. The journal must be on disk already.

        Args:
            content: the digest of the campaign file.
        """
        write_once("begun", self._note("begun", content), "\n")

    def unbegin(self, content: str) -> None:
        """Remove the note that noise of a campaign was drawn, if nobody has seen the run with this noise.

        Args:
            content: the digest of the campaign file.
        """
        self._forget("begun", content)

    def sealed(self, content: str) -> tuple[int, str] | None:
        """The seal of a campaign's journal at the end of the last attempt: the number of lines, and the digest of all
        lines. The journal must continue from this seal. The result is None if no attempt has ended.

        Args:
            content: the digest of the campaign file.
        """
        said = (self._noted("begun", content) or "").split()
        if not said:
            return None
        if len(said) != 2 or not said[0].isdecimal():
            path = self._note("begun", content)
            raise InvalidInput("begun", f"{path} names no journal", "must be the file that an attempt wrote")
        return int(said[0]), said[1]

    def seal(self, content: str, seal: tuple[int, str]) -> None:
        """Note durably the present seal of a campaign's journal.

        Args:
            content: the digest of the campaign file.
            seal: the number of lines of the journal, and the digest of all lines. The journal must be on disk already.
        """
        replace_private(self._note("begun", content), f"{seal[0]} {seal[1]}\n")

    def look(self, records: str, share: float) -> float:
        """Note durably the fraction of unusable rows that the campaign file accepted at the first look at some records.

        Args:
            records: the digest of the name of the data set and the paths of its files.
            share: the fraction of unusable rows that the campaign file accepts now, from 0 to 1.

        Returns:
            The fraction of unusable rows that the campaign file accepted at the first look.
        """
        write_once("looked", self._note("looked", records), f"{share!r}\n")
        return float(self._noted("looked", records) or share)

    def final_round(self, content: str) -> str | None:
        """The digest of a campaign's final round of contracts; None if no round is final.

        Args:
            content: the digest of the campaign file.
        """
        return self._noted("contracts", content)

    def finish_round(self, content: str, contracts: str) -> None:
        """Note durably which round of contracts is final. An existing note on the campaign is not replaced.

        Args:
            content: the digest of the campaign file.
            contracts: the digest of the round.

        Raises:
            Refused: another round is final.
        """
        write_once("contracts", self._note("contracts", content), contracts + "\n")
        if self.final_round(content) != contracts:
            raise Refused("another round of contracts is final", "participants may have sent records on that round")

    def deciding(self, content: str) -> AbstractContextManager[None]:
        """Context manager that locks the decisions about a campaign's round of contracts. The context manager waits
        until no other process holds the lock. The lock ends with the block or the process.

        Args:
            content: the digest of the campaign file.

        Raises:
            InvalidInput: the folder cannot hold a lock.
        """
        return locked("home", self.folder / "locks" / content)

    @contextmanager
    def drawing_up(self, content: str) -> Iterator[None]:
        """Context manager for drawing up contracts. While its shared lock is held, the rows that participants handed in
        must not change. The lock ends with the block or the process.

        A process that takes a row must hold the lock of `deciding`, check `is_drawing_up`, and hold the lock of
        `deciding` until the row is stored.

        Args:
            content: the digest of the campaign file.

        Raises:
            InvalidInput: the folder cannot hold a lock.
        """
        with ExitStack() as stack:
            with self.deciding(content):  # a process that is about to store something has done so
                stack.enter_context(locked("home", self._drawing(content), shared=True))
            yield

    def is_drawing_up(self, content: str) -> bool:
        """Whether contracts are being drawn up at this moment. The caller must hold the lock of `deciding`.

        Args:
            content: the digest of the campaign file.

        Raises:
            InvalidInput: the folder cannot hold a lock.
        """
        return is_locked("home", self._drawing(content))

    def _drawing(self, content: str) -> Path:
        return self.folder / "locks" / f"{content}.drawing"

    def restored(self, content: str) -> bool:
        """Whether a campaign came with a copy of an installation, and the original installation may have settled or
        paid the campaign since.

        Args:
            content: the digest of the campaign file.
        """
        return self._note("restored", content).exists()

    def hold(self, content: str) -> None:
        """Note durably that a campaign came with a copy of an installation. Such a campaign is neither settled nor
        paid.

        Args:
            content: the digest of the campaign file.
        """
        write_once("restored", self._note("restored", content), "\n")

    def confirm(self, content: str) -> None:
        """Remove the note that a campaign came with a copy. The operator must have confirmed that the original
        installation has neither settled nor paid the campaign, and never will.

        Args:
            content: the digest of the campaign file.
        """
        self._forget("restored", content)

    def _note(
        self, kind: Literal["released", "charged", "begun", "contracts", "restored", "looked"], content: str
    ) -> Path:
        """The path of one of the installation's notes on a campaign; `kind` is the name of the note's folder."""
        return self.folder / kind / content

    def _noted(self, kind: Literal["released", "charged", "begun", "contracts", "looked"], content: str) -> str | None:
        """The text of a note; None where there is no note."""
        path = self._note(kind, content)
        return read_bytes(kind, path, 1024).decode("ascii", "replace").strip() if path.exists() else None

    def _forget(self, kind: Literal["begun", "restored"], content: str) -> None:
        """Remove a note durably, if there is one."""
        path = self._note(kind, content)
        if path.exists():
            path.unlink(missing_ok=True)
            sync(path.parent)

    def _secret(self, name: str) -> bytes:
        path = self.folder / name
        write_once("key", path, random_bytes(_LENGTH).hex() + "\n")
        check_private("key", path)
        text = read_bytes("key", path, 1024).decode("ascii", "replace").strip()
        try:
            secret = bytes.fromhex(text)
        except ValueError:
            secret = b""
        if len(secret) != _LENGTH:
            raise InvalidInput("key", f"{path} holds no key", f"must be {2 * _LENGTH} hexadecimal digits")
        return secret


def released_elsewhere() -> Refused:
    """The error for a release of a second outcome of a campaign."""
    return Refused("this campaign was settled in another store; its result is signed",
                   "name that store with --store, and not an old copy of it; a second release is another campaign, "
                   "with another title")
