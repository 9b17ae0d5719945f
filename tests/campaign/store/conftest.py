"""What tests of the store share: the stand-in kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from campaign.store.counting import entries
from campaign.store.nursery import Nursery
from campaign.store.templates import Copies, empty, file_copies, server_copies
from confide.campaign import Home, Store
from confide.contract import kinds

_numbers = count(1)


@pytest.fixture(scope="module", autouse=True)
def counting() -> Iterator[None]:
    """The stand-in kind is installed."""
    found = entries()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinds, "_entries", lambda: found)
        kinds.kind.cache_clear()
        yield
    kinds.kind.cache_clear()


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    """Where children are forked."""
    with Nursery() as found:
        yield found


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store of either kind that a module's tests use one after the other."""
    folder = tmp_path_factory.mktemp("kept")
    if request.param == "sqlite":
        with Store(f"sqlite:///{folder / 'store.db'}", home=Home(folder / "home")) as store:
            yield store
        return
    cluster = request.getfixturevalue("postgresql")
    name = f"kept_{next(_numbers)}"
    with Store(cluster.create(name), home=Home(folder / "home")) as store:
        yield store
    cluster.drop(name)


@pytest.fixture
def store(kept: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """An empty store of either kind, in its own installation."""
    monkeypatch.setenv("CONFIDE_HOME", str(kept.home.folder))
    yield kept
    empty(kept)


@pytest.fixture(params=["sqlite", "postgresql"])
def copies(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Callable[[str], None]], Copies]:
    """Given what prepares a database, copies of it; of either kind."""
    if request.param == "sqlite":
        return partial(file_copies, tmp_path / "databases")
    return partial(server_copies, request.getfixturevalue("postgresql"))
