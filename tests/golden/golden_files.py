"""The golden files and copies of them: what lies in git may be read by others, and a test may change its copy."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from confide.campaign import Campaign, Home

__all__ = ["CAMPAIGNS", "EXPECTED", "FOLDER", "FOUND", "PACKS", "campaign", "copied", "copied_home", "own_files",
           "pack", "restore", "signing_key"]

FOLDER = Path(__file__).parent / "made_by_9376621e"
CAMPAIGNS = FOLDER / "campaigns"
FOUND: dict[str, Any] = json.loads((FOLDER / "found.json").read_text(encoding="utf-8"))
"""What 9376621e found in its own files: see `make.py`."""
EXPECTED: dict[str, Any] = tomllib.loads((Path(__file__).parent / "expected.toml").read_text(encoding="utf-8"))
"""What later versions may find otherwise."""
PACKS = sorted(FOUND["packs"])


def pack(name: str) -> Path:
    """A folder, or the .zip that the service handed out."""
    folder = FOLDER / "packs" / name
    return folder if folder.exists() else folder.with_suffix(".zip")


def campaign(name: str) -> Campaign:
    """From its file."""
    return Campaign.load(CAMPAIGNS / f"{name}.toml")


def own_files(name: str) -> list[Path]:
    """Portable records of three participants; none, where a custodian holds the data."""
    return sorted((FOLDER / "own").glob(f"{name}-*.json"))


def copied(folder: Path, to: Path) -> Path:
    """A copy that its owner alone may read, as it was when it was made: git keeps no such rights."""
    shutil.copytree(folder, to)
    for path in (to, *to.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return to


def copied_home(name: str, to: Path) -> Home:
    """A copy of an installation: "home", with its store, or "home_of_postgresql"."""
    return Home(copied(FOLDER / name, to))


def signing_key() -> Ed25519PrivateKey:
    """The key of the made-up operator who signed the packs."""
    text = (FOLDER / "home" / "signing.key").read_text(encoding="ascii")
    return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(text.strip()))


def restore(programs: Path, socket: Path, database: str) -> None:
    """Put the dump into an empty database, as an operator would.

    Args:
        programs: the folder of PostgreSQL's programs.
        socket: the folder of the server's socket.
        database: its name.
    """
    subprocess.run([programs / "psql", "--host", socket, "--username", "confide", "--quiet", "--no-psqlrc",
                    "--set", "ON_ERROR_STOP=1", "--dbname", database, "--file", FOLDER / "store.sql"],
                   check=True, stdout=subprocess.DEVNULL)
