"""The database under a store: SQLite or PostgreSQL by URL, its transactions, its migrations.

SQLite runs with a write-ahead log that is flushed at every commit (`synchronous=FULL`), so that what was committed
survives a loss of power, and overwrites what is deleted (`secure_delete`). A writing transaction takes the write lock
when it begins: two writers follow each other and never meet half-way. In PostgreSQL a writing transaction on a campaign
locks its row, and one on the ledger takes an advisory lock.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import OperationalError
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from confide.contract.errors import InvalidInput

__all__ = ["Database", "driver"]

REVISION = "0001"
"""The newest migration."""

_BUSY = 60_000  # milliseconds that a writer waits for another one
_MOMENT = 250  # milliseconds that a checkpoint waits for readers
_LEDGER_LOCK = 0x636F6E66  # any number, the same for all


class Database:
    """Connections to one database whose tables are up to date.

    Args:
        url: "sqlite:///FILE" or "postgresql+psycopg://USER@HOST/NAME".

    Raises:
        InvalidInput: no such kind of URL, or the database cannot be reached.
    """

    def __init__(self, url: str | URL) -> None:
        self._url = _checked(url)
        self.sqlite = self._url.get_backend_name() == "sqlite"
        if self.file is not None:
            _make_private(self.file)
        self.engine: Engine = create_engine(self._url, hide_parameters=True)  # an error must not show what was written
        if self.sqlite:
            event.listen(self.engine, "connect", _prepare_sqlite)
            event.listen(self.engine, "begin", _begin_sqlite)
        try:
            self._migrate()
        except BaseException as error:
            self.close()
            if isinstance(error, DBAPIError):
                raise InvalidInput("store", f"{self.name} cannot be used ({_first_line(error.orig)})") from None
            raise

    @property
    def name(self) -> str:
        """The URL without its password."""
        return self._url.render_as_string(hide_password=True)

    @property
    def file(self) -> Path | None:
        """SQLite's file."""
        return Path(self._url.database).absolute() if self.sqlite and self._url.database else None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads: a state in which the database once was."""
        with self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A transaction that reads one and the same state however often it asks."""
        options = {} if self.sqlite else {"isolation_level": "REPEATABLE READ"}
        with self.engine.connect().execution_options(**options) as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes; all of it is kept, or nothing."""
        with self.engine.connect().execution_options(begin="BEGIN IMMEDIATE") as connection, connection.begin():
            yield connection

    def lock_ledger(self, connection: Connection) -> None:
        """Wait until no other transaction charges; in SQLite every writer has waited already."""
        if not self.sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LEDGER_LOCK})

    def forget(self, *, thoroughly: bool = False) -> None:
        """Leave no copy of deleted rows in SQLite's write-ahead log; in PostgreSQL, vacuum does so in its own time.

        While somebody reads an earlier state, such as a settlement's run, the log cannot be emptied: nobody waits for
        that. The next time, or the last connection that is closed, empties it.

        Args:
            thoroughly: write the whole database anew, about a second for a million reports: SQLite overwrites a row
                that is deleted, but a page whose rows were moved before may hold an old copy in its unused part.
        """
        if self.sqlite:
            with self.engine.connect() as connection:
                plain = driver(connection)
                try:
                    if thoroughly:
                        plain.execute("VACUUM")
                    plain.execute(f"PRAGMA busy_timeout={_MOMENT}")
                    plain.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                except OperationalError:  # somebody has been writing all the time
                    pass
                finally:
                    plain.execute(f"PRAGMA busy_timeout={_BUSY}")

    def close(self) -> None:
        """Give back all connections."""
        self.engine.dispose()

    def _migrate(self) -> None:
        with self.reading() as connection:
            known = inspect(connection).has_table("alembic_version")
            found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar() if known else None
        if found is not None and found > REVISION:
            raise InvalidInput("store", f"{self.name} was made by a newer version of confide", "upgrade this one")
        if found != REVISION:
            from confide.campaign.store.migrations import upgrade  # slow to import, and rarely needed

            upgrade(self)


def driver(connection: Connection) -> Any:
    """The driver's own connection."""
    return connection.connection.driver_connection


def _checked(url: str | URL) -> URL:
    try:
        parsed = make_url(url)
        parsed.get_dialect()
    except (ArgumentError, NoSuchModuleError):
        raise InvalidInput("store", f"{str(url)[:80]!r} is no URL of a database",
                           'must be "sqlite:///FILE" or "postgresql+psycopg://USER@HOST/NAME"') from None
    except ImportError:
        raise InvalidInput("store", "the driver of this database is not installed",
                           "install the extra [postgresql]") from None
    if parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise InvalidInput("store", f"{parsed.get_backend_name()} is not supported", "must be sqlite or postgresql")
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.get_backend_name() == "sqlite":
        if parsed.database in (None, "", ":memory:"):
            raise InvalidInput("store", "a database in memory forgets what was spent", 'must be "sqlite:///FILE"')
        if parsed.query or str(parsed.database).startswith("file:"):  # among them are modes that keep nothing
            raise InvalidInput("store", "options of SQLite are not supported", 'must be "sqlite:///FILE"')
    return parsed


def _make_private(file: Path) -> None:
    """An empty database that its owner alone may read; SQLite gives its log the same mode."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Only where it is not there yet: to close any descriptor of a database drops all locks that this process has on
        # it, and another process would then take the log of a living store for its own.
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        if not os.access(file, os.R_OK | os.W_OK):
            raise InvalidInput("store", f"{file} cannot be read and written") from None
    except OSError as error:
        raise InvalidInput("store", f"{file} cannot be used ({type(error).__name__})") from None


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say so, in `_begin_sqlite`
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON",
                   f"busy_timeout={_BUSY}"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))


def _first_line(error: Any) -> str:
    return str(error).strip().partition("\n")[0][:200]
