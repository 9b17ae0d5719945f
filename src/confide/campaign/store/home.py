"""The installation: its folder in the user's data directory, its two keys, and its durable notes on campaigns.

`ledger.key` is the key of the hashes by which the ledger stores subjects. With another key every subject would have a
new budget, so a store records a check of its key and refuses any other. `signing.key` is the operator's Ed25519 key;
participants know its fingerprint from the offer. The files of the keys are readable by their owner only. The keys lie
outside of the database, so a copy of the database names nobody. A key is written to disk before any data that depend on
it.

In each folder of notes, a file's name is the digest of a campaign file, or of the description of some records.

`contracts/` has a file for each campaign with a final round of contracts; the file holds the digest of the round.

`released/` has a file for each campaign whose pack has left a store of this installation; the file holds the digest of
the released manifest. The file in `released/` is written once, before the pack leaves the store. The note in
`released/` prevents the release of a second outcome, whatever happens to a store.

`charged/` has a file for each campaign that this installation has charged and whose mechanism or kind is not part of
confide; the file holds the digest of their code.

`begun/` has a file for each campaign with noise in a journal, written before the first draw. If the journal is missing,
no new noise is drawn. The file states the journal's length and check at the end of the last attempt, so a shortened
journal or an older copy is refused, too.

`looked/` has a file for each collection of records that somebody looked at; the file holds the share of unusable rows
that the campaign file accepted at the first look. A share of unusable rows that is written into the campaign file after
the first look may follow from the records.

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
    """The place where an installation keeps its store and its keys.

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
        """The name of the installation's own store in messages; the store need not exist."""
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
        """Whether the ledger's key exists; the function makes no key."""
        return "ledger_key" in vars(self) or (self.folder / _LEDGER).exists()

    @cached_property
    def ledger_key(self) -> bytes:
        """The key of the ledger's hashes, made at first use."""
        return self._secret(_LEDGER)

    @cached_property
    def signing_key(self) -> Ed25519PrivateKey:
        """The operator's signing key, made at first use."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self._secret("signing.key"))

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the operator's signing key, in the form that people compare."""
        return fingerprint(self.signing_key.public_key())

    def released(self, content: str) -> str | None:
        """The digest of the manifest that was released for a campaign; None where none was.

        Args:
            content: the digest of the campaign file.
        """
        return self._noted("released", content)

    def all_released(self) -> frozenset[str]:
        """The digests of the files of all campaigns whose pack has left a store of this installation."""
        try:
            return frozenset(each.name for each in (self.folder / "released").iterdir() if len(each.name) == _DIGEST)
        except FileNotFoundError:
            return frozenset()

    def release(self, content: str, manifest: str) -> None:
        """Note durably, before an outcome leaves its store, that it is the released outcome of its campaign. An
        existing note on the campaign is not replaced.

        Args:
            content: the digest of the campaign file.
            manifest: digest of the outcome's manifest.

        Raises:
            Refused: another outcome of the campaign was released.
        """
        write_once("released", self._note("released", content), manifest + "\n")
        if self.released(content) != manifest:
            raise released_elsewhere()

    def charged(self, content: str) -> str | None:
        """The digest of the code with which a campaign was charged; None where the campaign was not charged, or all of
        its code is part of confide.

        Args:
            content: the digest of the campaign file.
        """
        return self._noted("charged", content)

    def charge(self, content: str, code: str) -> None:
        """Note durably the code with which a campaign was charged. An existing note on the campaign is not replaced.

        Args:
            content: the digest of the campaign file.
            code: digest of the mechanism's code.
        """
        write_once("charged", self._note("charged", content), code + "\n")

    def begun(self, content: str) -> bool:
        """Whether noise of a campaign may have been drawn into a journal.

        Args:
            content: the digest of the campaign file.
        """
        return self._note("begun", content).exists()

    def begin(self, content: str) -> None:
        """Note durably that noise of a campaign is going to be drawn into a journal, which is on disk already.

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
        """The seal of a campaign's journal after its last attempt, from which the journal must go on; None where no
        attempt has ended.

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
            seal: the seal of the journal, which is on disk.
        """
        replace_private(self._note("begun", content), f"{seal[0]} {seal[1]}\n")

    def look(self, records: str, share: float) -> float:
        """Note durably the share of unusable rows that the campaign file declared at the first look at some records.

        Args:
            records: digest of the data set's name and the paths of its files.
            share: the share of unusable rows that the campaign file declares now.

        Returns:
            The share of unusable rows that the file declared at the first look.
        """
        write_once("looked", self._note("looked", records), f"{share!r}\n")
        return float(self._noted("looked", records) or share)

    def final_round(self, content: str) -> str | None:
        """The digest of a campaign's final round of contracts; None where no round is final.

        Args:
            content: the digest of the campaign file.
        """
        return self._noted("contracts", content)

    def finish_round(self, content: str, contracts: str) -> None:
        """Note durably which round of contracts is final. An existing note on the campaign is not replaced.

        Args:
            content: the digest of the campaign file.
            contracts: digest of the round.

        Raises:
            Refused: another round is final.
        """
        write_once("contracts", self._note("contracts", content), contracts + "\n")
        if self.final_round(content) != contracts:
            raise Refused("another round of contracts is final", "participants may have sent records on that round")

    def deciding(self, content: str) -> AbstractContextManager[None]:
        """A lock on the decisions about a campaign's round of contracts; it waits until no other process holds the
        lock, and ends with its own process.

        Args:
            content: the digest of the campaign file.

        Raises:
            InvalidInput: the folder cannot hold a lock.
        """
        return locked("home", self.folder / "locks" / content)

    @contextmanager
    def drawing_up(self, content: str) -> Iterator[None]:
        """A shared lock under which the handed-in rows must not change, while contracts are drawn up from them. The
        lock ends with its process.

        A process that takes a row must hold `deciding`, check `is_drawing_up`, and keep `deciding` until the row is
        stored.

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
        """Whether contracts are being drawn up at this moment; the caller must hold `deciding`.

        Args:
            content: the digest of the campaign file.

        Raises:
            InvalidInput: the folder cannot hold a lock.
        """
        return is_locked("home", self._drawing(content))

    def _drawing(self, content: str) -> Path:
        return self.folder / "locks" / f"{content}.drawing"

    def restored(self, content: str) -> bool:
        """Whether a campaign came with a copy of an installation, and its original may have settled or paid it since.

        Args:
            content: the digest of the campaign file.
        """
        return self._note("restored", content).exists()

    def hold(self, content: str) -> None:
        """Note durably that a campaign came with a copy, so that it is neither settled nor paid.

        Args:
            content: the digest of the campaign file.
        """
        write_once("restored", self._note("restored", content), "\n")

    def confirm(self, content: str) -> None:
        """Remove the note that a campaign came with a copy, once the operator has confirmed that its original has
        neither settled nor paid it, and never will.

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
    """The refusal to release a second outcome of a campaign."""
    return Refused("this campaign was settled in another store; its result is signed",
                   "name that store with --store, and not an old copy of it; a second release is another campaign, "
                   "with another title")
