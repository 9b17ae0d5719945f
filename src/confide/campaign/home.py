"""The installation: its folder in the user's data directory, and its two keys.

`ledger.key` turns subjects into the ledger's keyed hashes. Whoever loses it opens every budget anew, so a store
remembers which key it was made with and refuses another. `signing.key` is the operator's Ed25519 key; participants know
its fingerprint from the offer. Both are for their owner alone, and lie outside of the database: a copy of that names
nobody.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import URL

from confide.campaign.signatures import fingerprint
from confide.contract.errors import InvalidInput
from confide.contract.files import private_folder, read_bytes, write_private
from confide.privacy.noise.entropy import random_bytes

__all__ = ["Home"]

_LENGTH = 32


@dataclass(frozen=True)
class Home:
    """Where an installation keeps its store and its keys.

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
    def url(self) -> URL:
        """The installation's own store; no text, in which a folder's name could be taken for options."""
        return URL.create("sqlite", database=str(self.folder / "store.db"))

    @cached_property
    def ledger_key(self) -> bytes:
        """The key of the ledger's hashes, made at first use."""
        return self._secret("ledger.key")

    @cached_property
    def signing_key(self) -> Ed25519PrivateKey:
        """The operator's key, made at first use."""
        return Ed25519PrivateKey.from_private_bytes(self._secret("signing.key"))

    @property
    def fingerprint(self) -> str:
        """Of the operator's key, as people compare it."""
        return fingerprint(self.signing_key.public_key())

    def _secret(self, name: str) -> bytes:
        path = private_folder(self.folder) / name
        if not path.exists():
            # Written beside its place and linked there: another process sees a whole key, and one key wins.
            draft = path.with_name(f".{name}-{os.getpid()}")
            write_private(draft, random_bytes(_LENGTH).hex() + "\n")
            try:
                os.link(draft, path)
            except FileExistsError:
                pass
            finally:
                draft.unlink()
        text = read_bytes("key", path, 1024).decode("ascii", "replace").strip()
        try:
            secret = bytes.fromhex(text)
        except ValueError:
            secret = b""
        if len(secret) != _LENGTH:
            raise InvalidInput("key", f"{path} holds no key", f"must be {2 * _LENGTH} hexadecimal digits")
        return secret
