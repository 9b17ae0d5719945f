"""A provider of log-ins, and a service that trusts it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from service.access.identity_provider import IdentityProvider, providing
from service.access.logging_in import trusting


@pytest.fixture(scope="module")
def shared_provider() -> Iterator[IdentityProvider]:
    with providing() as found:
        yield found


@pytest.fixture
def provider(shared_provider: IdentityProvider) -> IdentityProvider:
    """One that does everything right."""
    shared_provider.begin_anew()
    return shared_provider


@pytest.fixture(scope="module")
def shared_app(tmp_path_factory: pytest.TempPathFactory, shared_provider: IdentityProvider) -> Iterator[FastAPI]:
    with trusting(tmp_path_factory.mktemp("trusting"), shared_provider.base, attempts=100_000) as found:
        yield found


@pytest.fixture
def app(shared_app: FastAPI, provider: IdentityProvider) -> FastAPI:
    """The service, which knows nothing of its provider yet; its operators stay."""
    shared_app.state.parts.provider._kept.clear()
    return shared_app


@pytest.fixture
def own(tmp_path: Path, provider: IdentityProvider) -> Iterator[FastAPI]:
    """One whose operators or clocks a test may change."""
    with trusting(tmp_path, provider.base) as found:
        yield found
