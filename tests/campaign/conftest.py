"""What tests of campaigns share: SQLite and a real PostgreSQL, and one settled campaign."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from campaign.forging import quick
from campaign.fresh_databases import fresh_url
from campaign.settled import Done
from campaign.small import write
from confide.campaign import Campaign, Home, Store


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A fresh database's URL, of either kind."""
    yield from fresh_url(request, tmp_path)


@pytest.fixture(scope="session")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Done]:
    """One settled campaign that nobody changes, in an installation of its own."""
    folder = tmp_path_factory.mktemp("settled")
    home = Home(folder / "home")
    campaign = Campaign.load(write(folder))
    with Store(home.url, home=home) as store:
        yield Done(campaign, campaign.settle(folder / "out", store=store), store)


@pytest.fixture
def pack(settled: Done, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of its pack to tamper with; planned, and drawn, once."""
    quick(monkeypatch)
    shutil.copytree(settled.settled.folder, tmp_path / "pack")
    return tmp_path / "pack"


@pytest.fixture(scope="session")
def signer(settled: Done) -> Ed25519PrivateKey:
    """The key of its operator."""
    return settled.store.home.signing_key
