"""Source distribution and wheel, by the environment's own build backend: nothing is fetched. Twice, to the byte."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

from releasing import NotReady

__all__ = ["build", "changed", "check_reproducible", "epoch", "tracked"]


def epoch(root: Path) -> str:
    """The time of the last commit, which stands in what is built in place of today's."""
    return _git(root, "log", "-1", "--format=%ct").strip()


def tracked(root: Path, *folders: str) -> set[str]:
    """The files of the project, relative to the root: those that git knows or would take."""
    return set(filter(None, _git(root, "ls-files", "-z", "-co", "--exclude-standard", *folders).split("\0")))


def changed(root: Path) -> list[str]:
    """What is not committed."""
    return _git(root, "status", "--porcelain").splitlines()


def _git(root: Path, *command: str) -> str:
    return subprocess.run(["git", *command], cwd=root, capture_output=True, text=True, check=True).stdout


def build(root: Path, folder: Path, time: str) -> tuple[Path, Path]:
    """Build both.

    Args:
        root: of the project, or of an unpacked source distribution.
        folder: where to.
        time: in seconds since 1970, for all that is dated.

    Returns:
        The source distribution and the wheel.

    Raises:
        NotReady: the backend says no.
    """
    done = subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(folder), "-t", "sdist", "-t", "wheel"],
                          cwd=root, env={**os.environ, "SOURCE_DATE_EPOCH": time}, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise NotReady(f"the build failed:\n{done.stdout}{done.stderr}")
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


def check_reproducible(sdist: Path, wheel: Path, folder: Path, time: str) -> None:
    """Build both again, from the source distribution, in another place: each byte has to be the same.

    Args:
        sdist: the source distribution.
        wheel: the wheel.
        folder: an empty one.
        time: as for `build`.

    Raises:
        NotReady: something differs, so that nobody could check what was built.
    """
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (root,) = (folder / "unpacked").iterdir()
    for one, other in zip((sdist, wheel), build(root, folder / "again", time), strict=True):
        if one.name != other.name or one.read_bytes() != other.read_bytes():
            raise NotReady(f"{one.name} has other bytes where it is built again from {sdist.name}")
