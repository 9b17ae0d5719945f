"""What tests of the service share: its parts over a store of either kind."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from campaign.fresh_databases import fresh_url
from confide.service.access import operators
from missing import missing
from service.parts import Parts


@pytest.fixture(scope="session", autouse=True)
def _quick_hashes() -> Iterator[None]:
    """Passwords of tests are hashed by the same law with little memory: each log-in would take a tenth of a second."""
    with pytest.MonkeyPatch.context() as patch:
        quick = PasswordHash((Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1),))
        patch.setattr(operators, "_hashes", quick)
        patch.setattr(operators, "_NOBODYS", quick.hash("a password that nobody has"))
        yield


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A fresh database's URL. What the service asks of PostgreSQL is asked by the store, whose fast tests have both."""
    yield from fresh_url(request, tmp_path)


@pytest.fixture
def parts(database_url: str, tmp_path: Path) -> Iterator[Parts]:
    """The parts of a process, in an installation of its own."""
    with Parts.at(tmp_path, database_url) as found:
        yield found


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium."""
    path = shutil.which("chromium")
    if path is None:
        missing("chromium is not on PATH; Debian's package chromium has it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
