"""Databases that are made once, and copied or emptied for every try."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import NullPool, create_engine, delete, text
from sqlalchemy.engine import make_url

from confide.campaign import Home
from confide.campaign.store import schema

if TYPE_CHECKING:
    from confide.campaign import Store
    from databases import Cluster

__all__ = ["Copies", "copied", "empty", "file_copies", "server_copies"]

Copies = Callable[[], "contextmanager[str]"]  # type: ignore[type-arg]
"""Called for a fresh copy's URL, which is gone at the end of the block."""

_numbers = count(1)


def file_copies(folder: Path, prepare: Callable[[str], None]) -> Copies:
    """Copies of a file of SQLite."""
    folder.mkdir(parents=True)
    first = folder / "first.db"
    prepare(f"sqlite:///{first}")

    @contextmanager
    def copy() -> Iterator[str]:
        place = folder / f"copy-{next(_numbers)}"
        place.mkdir()
        if first.exists():
            shutil.copy(first, place / "store.db")
        yield f"sqlite:///{place / 'store.db'}"
        shutil.rmtree(place)

    return copy


def server_copies(cluster: Cluster, prepare: Callable[[str], None]) -> Copies:
    """Copies of a database of PostgreSQL."""
    first = f"first_{next(_numbers)}"
    prepare(cluster.create(first))

    @contextmanager
    def copy() -> Iterator[str]:
        name = f"copy_{next(_numbers)}"
        server = create_engine(make_url(cluster.url("postgres")), poolclass=NullPool, isolation_level="AUTOCOMMIT")
        with server.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {first}"))
        yield cluster.url(name)
        cluster.drop(name)

    return copy


def copied(home: Path, to: Path, content: str = "") -> Home:
    """An installation as it was before a campaign was released, by default before any was.

    Args:
        home: which.
        to: a folder that is not there yet.
        content: of the one campaign that it had released.
    """
    shutil.copytree(home, to, ignore=lambda folder, names: [name for name in names if name != content
                                                            and Path(folder).name == "released"])
    return Home(to)


def empty(store: Store) -> None:
    """Take everything out of a store but its key, and forget what was released."""
    shutil.rmtree(store.home.folder / "released", ignore_errors=True)
    with store.database.writing() as connection:
        for table in reversed(schema.metadata.sorted_tables):
            if table is not schema.installation:
                connection.execute(delete(table))
