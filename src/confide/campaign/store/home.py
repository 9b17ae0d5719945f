"""The installation: its folder in the user's data directory, its two keys, and the campaigns that it has released.

`ledger.key` turns subjects into the ledger's keyed hashes. Whoever loses it opens every budget anew, so a store
remembers which key it was made with and refuses another. `signing.key` is the operator's Ed25519 key; participants know
its fingerprint from the offer. Both are for their owner alone, and lie outside of the database: a copy of that names
nobody. A key is on the disk before anything is written that depends on it.

`contracts/` has a file for each campaign with contracts whose final round was drawn up, with that round's digest.
`released/` has a file for each campaign whose pack has left a store of this installation, named after the campaign's
content, with the digest of the released manifest. It is written once, before the pack leaves: whatever happens to a
store, no second outcome of the same campaign is released beside the first.

`charged/` has a file for each campaign that the ledger was charged for here and whose mechanism or kind is not
confide's, with the digest of their code.

`begun/` has a file for each campaign whose noise is kept in a journal, from before the first draw: where that journal
is gone, nothing is drawn anew. It says how far the journal had come when an attempt ended: one that was cut back, or an
older copy, is refused too.

`looked/` has a file for each data set's file of records that was looked at here, with the share of unusable rows that
the campaign file accepted then: what it says after a look may follow from the records.

`locks/` has an empty file for each campaign with contracts, which is locked while its round is replaced, declined or
made final. Nothing is in it, and no copy has it.

`restored/` has a file for each campaign that came with a copy of another installation and was not over there: it is
neither settled nor paid before somebody has said that the original did not.
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
        folder: usually `Home.default()`'s.
    """

    folder: Path

    @classmethod
    def default(cls) -> Home:
        """The folder that the environment variable CONFIDE_HOME names, or `confide` in the user's data directory."""
        named = os.environ.get("CONFIDE_HOME")
        if named:
            return cls(Path(named).absolute())
        from platformdirs import user_data_path

        return cls(user_data_path("confide", appauthor=False))

    @property
    def store(self) -> Path:
        """The file of the installation's own store, whether it is there or not."""
        return self.folder / "store.db"

    @property
    def store_name(self) -> str:
        """The name of the installation's own store in messages, whether it is there or not."""
        return f"sqlite:///{quote(str(self.store), safe=' +/')}"  # as `url` spells it

    @property
    def url(self) -> URL:
        """The URL of the installation's own store; no text, in which a folder's name could be taken for options."""
        from sqlalchemy import URL

        return URL.create("sqlite", database=str(self.store))

    def campaign_folder(self, number: int) -> Path:
        """The folder of a campaign that the service has opened: the operator's alone.

        Args:
            number: the campaign's, in the service's store.
        """
        return self.folder / "service" / str(number)

    @property
    def has_ledger_key(self) -> bool:
        """Whether the ledger's key was made, or put there; asking makes none."""
        return "ledger_key" in vars(self) or (self.folder / _LEDGER).exists()

    @cached_property
    def ledger_key(self) -> bytes:
        """The key of the ledger's hashes, made at first use."""
        return self._secret(_LEDGER)

    @cached_property
    def signing_key(self) -> Ed25519PrivateKey:
        """The operator's key, made at first use."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self._secret("signing.key"))

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the operator's key, as people compare it."""
        return fingerprint(self.signing_key.public_key())

    def released(self, content: str) -> str | None:
        """The digest of the manifest that was released for a campaign; None where none was.

        Args:
            content: digest of what the campaign's file says.
        """
        return self._noted("released", content)

    def all_released(self) -> frozenset[str]:
        """The digests of the files of all campaigns whose pack has left a store of this installation."""
        try:
            return frozenset(each.name for each in (self.folder / "released").iterdir() if len(each.name) == _DIGEST)
        except FileNotFoundError:
            return frozenset()

    def release(self, content: str, manifest: str) -> None:
        """Note durably the outcome of a campaign that is the released one, before it leaves; nothing is done where it
        was noted.

        Args:
            content: digest of what the campaign's file says.
            manifest: digest of the outcome's manifest.

        Raises:
            Refused: another one was released.
        """
        write_once("released", self._note("released", content), manifest + "\n")
        if self.released(content) != manifest:
            raise released_elsewhere()

    def charged(self, content: str) -> str | None:
        """The digest of code that is not confide's, as a campaign was charged with it; None where it was not.

        Args:
            content: digest of what the campaign's file says.
        """
        return self._noted("charged", content)

    def charge(self, content: str, code: str) -> None:
        """Note durably the code with which a campaign was charged; nothing is done where it was noted.

        Args:
            content: digest of what the campaign's file says.
            code: digest of the mechanism's code.
        """
        write_once("charged", self._note("charged", content), code + "\n")

    def begun(self, content: str) -> bool:
        """Whether noise of a campaign may have been drawn into a journal.

        Args:
            content: digest of what the campaign's file says.
        """
        return self._note("begun", content).exists()

    def begin(self, content: str) -> None:
        """Note durably that noise of a campaign is going to be drawn into a journal, which is on disk already.

        Args:
            content: digest of what the campaign's file says.
        """
        write_once("begun", self._note("begun", content), "\n")

    def unbegin(self, content: str) -> None:
        """Forget that noise of a campaign was drawn: nobody learns anything of the run that it was for.

        Args:
            content: digest of what the campaign's file says.
        """
        self._forget("begun", content)

    def sealed(self, content: str) -> tuple[int, str] | None:
        """The seal that the journal of a campaign must go on from: that of its last attempt; None where there is none.

        Args:
            content: digest of what the campaign's file says.
        """
        said = (self._noted("begun", content) or "").split()
        if not said:
            return None
        if len(said) != 2 or not said[0].isdecimal():
            path = self._note("begun", content)
            raise InvalidInput("begun", f"{path} says nothing of a journal", "must be the file that an attempt wrote "
                               "there")
        return int(said[0]), said[1]

    def seal(self, content: str, seal: tuple[int, str]) -> None:
        """Note durably how far the journal of a campaign has come.

        Args:
            content: digest of what the campaign's file says.
            seal: the seal of the journal, which is on disk.
        """
        replace_private(self._note("begun", content), f"{seal[0]} {seal[1]}\n")

    def look(self, records: str, share: float) -> float:
        """Note durably the share of unusable rows that was declared at the first look at some records.

        Args:
            records: digest of what says which they are.
            share: the share that is declared now.

        Returns:
            The share that was declared then.
        """
        write_once("looked", self._note("looked", records), f"{share!r}\n")
        return float(self._noted("looked", records) or share)

    def final_round(self, content: str) -> str | None:
        """The digest of a campaign's final round of contracts; None where none is final.

        Args:
            content: digest of what the campaign's file says.
        """
        return self._noted("contracts", content)

    def finish_round(self, content: str, contracts: str) -> None:
        """Note durably the round of contracts that is the final one; nothing is done where it was noted.

        Args:
            content: digest of what the campaign's file says.
            contracts: digest of the round.

        Raises:
            Refused: another one is.
        """
        write_once("contracts", self._note("contracts", content), contracts + "\n")
        if self.final_round(content) != contracts:
            raise Refused("another round of contracts is final", "records may have been sent on it")

    def deciding(self, content: str) -> AbstractContextManager[None]:
        """Wait until nobody else decides on a campaign's round of contracts; the lock ends with its process.

        Args:
            content: digest of what the campaign's file says.

        Raises:
            InvalidInput: nothing can be locked there.
        """
        return locked("home", self.folder / "locks" / content)

    @contextmanager
    def drawing_up(self, content: str) -> Iterator[None]:
        """Hold the rows that people have handed in as they are, while contracts are drawn up from them. Several may; it
        ends with its process.

        Whoever takes what people hand in asks `is_drawing_up` before, and holds `deciding` until it is stored.

        Args:
            content: digest of what the campaign's file says.

        Raises:
            InvalidInput: nothing can be locked there.
        """
        with ExitStack() as stack:
            with self.deciding(content):  # whoever is about to store something has done so
                stack.enter_context(locked("home", self._drawing(content), shared=True))
            yield

    def is_drawing_up(self, content: str) -> bool:
        """Whether contracts are drawn up just now; for whoever holds `deciding`.

        Args:
            content: digest of what the campaign's file says.

        Raises:
            InvalidInput: nothing can be locked there.
        """
        return is_locked("home", self._drawing(content))

    def _drawing(self, content: str) -> Path:
        return self.folder / "locks" / f"{content}.drawing"

    def restored(self, content: str) -> bool:
        """Whether a campaign came with a copy, and its original may have settled or paid it since.

        Args:
            content: digest of what the campaign's file says.
        """
        return self._note("restored", content).exists()

    def hold(self, content: str) -> None:
        """Note durably that a campaign came with a copy, so that it is neither settled nor paid.

        Args:
            content: digest of what the campaign's file says.
        """
        write_once("restored", self._note("restored", content), "\n")

    def confirm(self, content: str) -> None:
        """Forget that a campaign came with a copy: its original has neither settled nor paid it, and never will.

        Args:
            content: digest of what the campaign's file says.
        """
        self._forget("restored", content)

    def _note(
        self, kind: Literal["released", "charged", "begun", "contracts", "restored", "looked"], content: str
    ) -> Path:
        """Where the installation notes something of a campaign, by the digest of what its file says."""
        return self.folder / kind / content

    def _noted(self, kind: Literal["released", "charged", "begun", "contracts", "looked"], content: str) -> str | None:
        """What a note says; None where there is none."""
        path = self._note(kind, content)
        return read_bytes(kind, path, 1024).decode("ascii", "replace").strip() if path.exists() else None

    def _forget(self, kind: Literal["begun", "restored"], content: str) -> None:
        """Remove a note durably; nothing, where there is none."""
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
    """The refusal of the second of two outcomes of one campaign, which is never released."""
    return Refused("this campaign was settled in another store; its result is signed",
                   "name that store with --store, an old copy of it will not do; a second release is another "
                   "campaign, with another title")
