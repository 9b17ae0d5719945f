"""Clean environments: what was built is installed there as a user would, and tried.

Dependencies come from where pip is told to look. Without a network, `PIP_NO_INDEX` and `PIP_FIND_LINKS` name a folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

from releasing import NotReady

__all__ = ["TESTS", "try_sdist", "try_wheel"]

TESTS = ("tests/contract", "tests/privacy/noise", "tests/golden/test_golden_packs.py",
         "tests/golden/test_golden_campaign_files.py", "tests/cli/test_cli_share.py")
"""The tests of a source distribution that need no other extra than `plots`: of the contract, noise and golden files."""

_TOOLS = ("pytest", "pytest-timeout", "hypothesis", "jsonschema", "mpmath", "pandas")
_LEFT_OUT = ("PYTHONPATH", "PYTHONHOME", "CONFIDE_HOME", "CONFIDE_STORE", "VIRTUAL_ENV")


def try_wheel(wheel: Path, version: str, place: Path) -> None:
    """Install the wheel alone, with the dependencies of the core, and run the smoke test.

    Args:
        wheel: the wheel.
        version: that it is of.
        place: an empty folder.

    Raises:
        NotReady: it cannot be installed, or does not do what it should.
    """
    python = _environment(place / "environment", str(wheel))
    work = place / "work"
    work.mkdir()
    shutil.copy(Path(__file__).with_name("smoke.py"), work)
    _run([str(python), "-I", "smoke.py", version], work, CONFIDE_HOME=str(place / "home"))


def try_sdist(sdist: Path, place: Path) -> None:
    """Install the source distribution with the extra `plots`, and run some of the tests in it.

    Args:
        sdist: the source distribution.
        place: an empty folder.

    Raises:
        NotReady: it cannot be installed, or a test fails.
    """
    python = _environment(place / "environment", f"{sdist}[plots]", *_TOOLS)
    with tarfile.open(sdist) as archive:
        archive.extractall(place / "unpacked", filter="data")
    (root,) = (place / "unpacked").iterdir()
    shutil.rmtree(root / "src")  # what is tried is what was installed
    _run([str(python), "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", *TESTS], root)


def _environment(place: Path, *requirements: str) -> Path:
    """The Python of a new environment with some packages, and nothing else."""
    venv.create(place, with_pip=True)
    python = place / "bin" / "python"
    _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements], place)
    _run([str(python), "-m", "pip", "check", "--disable-pip-version-check"], place)
    return python


def _run(command: list[str], place: Path, **more: str) -> None:
    known = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
    done = subprocess.run(command, cwd=place, env={**known, **more}, check=False, stdout=sys.stderr)
    if done.returncode:
        raise NotReady(f"{' '.join(command)} ended with {done.returncode}")
