"""What all tests share: hypothesis profiles, and an installation of their own: its store, its ledger and its keys."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from databases import Cluster, find_postgresql
from missing import missing

_numbers = count(1)

# Time limits per example say more about the machine than about the code; examples are the same in every run, so that a
# red suite is red for everybody. `make test-all` looks further, each time elsewhere.
settings.register_profile("suite", deadline=None, derandomize=True, max_examples=25,
                          suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", deadline=None, max_examples=100, print_blob=True,
                          suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

# What tests write lies in memory where there is room: a settlement waits for the disk some thirty times, which shows
# nothing here. To keep it and look at it, say where it goes: PYTEST_DEBUG_TEMPROOT=FOLDER.
_MEMORY = "/dev/shm"
_ROOM = 4 << 30
_IN_MEMORY = os.access(_MEMORY, os.W_OK | os.X_OK) and shutil.disk_usage(_MEMORY).free > _ROOM

# Nothing that a test does reaches the ledger of whoever runs it; what is imported before the first test neither.
_NOBODY = tempfile.mkdtemp(prefix="tests-", dir=_MEMORY if _IN_MEMORY else None)
os.environ["CONFIDE_HOME"] = _NOBODY


def _forget_stale_machine_code() -> None:
    """Numba keeps what it compiled by the date of one file, though a function may call those of another one."""
    for folder in {path.parent for path in (Path(__file__).parents[1] / "src").rglob("*.nbi")}:
        kept = [*folder.glob("*.nbi"), *folder.glob("*.nbc")]
        written = [path.stat().st_mtime for path in folder.parent.glob("*.py")]  # none where they have moved
        if not written or max(written) > min(path.stat().st_mtime for path in kept):
            for path in kept:
                path.unlink(missing_ok=True)


def pytest_configure(config: pytest.Config) -> None:
    """Before workers are started, once."""
    if not hasattr(config, "workerinput"):
        _forget_stale_machine_code()
        if _IN_MEMORY:
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _NOBODY)


# A limit ends what hangs. It is time on the wall: what takes a minute alone takes ten where other work has the machine.
# So slow evidence has a wide one, but where a test says its own.
_SLOW_LIMIT = 1800


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give slow tests their time limit, in seconds."""
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(_SLOW_LIMIT))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Eleven thousand tests live until the end: the garbage collector need not look at them time and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure() -> None:
    """Leave nothing behind."""
    shutil.rmtree(_NOBODY, ignore_errors=True)


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Each test's own installation."""
    # A name of its own: pytest would look through all folders of all tests before for the next number.
    folder = tmp_path_factory.getbasetemp() / "homes" / str(next(_numbers))
    folder.mkdir(mode=0o700, parents=True)
    with pytest.MonkeyPatch.context() as patch:  # one that a test's own `monkeypatch.undo` leaves alone
        patch.setenv("CONFIDE_HOME", str(folder))
        patch.delenv("CONFIDE_STORE", raising=False)
        yield folder

@pytest.fixture(scope="session")
def postgresql() -> Iterator[Cluster]:
    """A PostgreSQL of this process's own, started by the first test that asks for it."""
    programs = find_postgresql()
    if programs is None:
        missing("PostgreSQL's initdb and postgres are neither under /usr/lib/postgresql nor on PATH; "
                "Debian's package postgresql has them")
    with Cluster(programs) as cluster:
        yield cluster
