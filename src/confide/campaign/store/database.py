"""The database of a store, with its transactions and migrations. A URL names the database, which is SQLite or
PostgreSQL.

SQLite runs with a write-ahead log that is flushed at every commit (`synchronous=FULL`), so that committed data survive
a loss of power. Deleted data are overwritten (`secure_delete`). A writing transaction takes the write lock when it
begins, so two writers follow each other. In PostgreSQL, a writing transaction on a campaign locks the campaign's row,
and a writing transaction on the ledger takes an advisory lock. Isolation and durability are set explicitly, whatever
the server's defaults are.

A fault in a transaction is raised as `StoreFailed`, without the driver's message, which may hold parts of a row.
`StoreFailed` keeps only names and codes of the driver's error. A failure that any user may meet (a lock, a full disk, a
lost connection) is described in words, with a remedy. Any other failure is a bug of confide, and is named by its type
and code.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Table, create_engine, event, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as NoneIsFree

from confide.contract.errors import InvalidInput, StoreFailed
from confide.contract.files import check_private, make_folder
from confide.contract.words import cause

__all__ = ["Database", "driver", "insert_many", "is_busy", "reported"]

REVISION = "0007"
"""Number of the newest migration of the tables."""

_WAIT = 60_000  # milliseconds that a writer waits for another one
_MOMENT = 250  # milliseconds that a checkpoint waits for readers
_AGAIN = 0.01  # seconds until what SQLite refused without waiting is tried again
_POOL = 20  # connections that are kept; as many threads of a service ask at once
_ASKING = 30.0  # seconds that somebody waits for a connection where others use all
_LEDGER_LOCK = 0x636F6E66  # any number, the same for all

_DRIVERS = {"sqlite": "sqlite", "sqlite+pysqlite": "sqlite", "postgresql": "postgresql+psycopg",
            "postgresql+psycopg": "postgresql+psycopg"}
_FORMS = 'must be "sqlite:///FILE" or "postgresql+psycopg://USER@HOST/NAME"'
_MAKER = "`confide run` makes one"
_SERVER = "the server must run, and have this database and this user: createdb, createuser"


class Database:
    """Connections to one database. The tables of the database are brought up to date.

    Args:
        url: "sqlite:///FILE" or "postgresql+psycopg://USER@HOST/NAME".
        create: whether a SQLite file and the tables are made if they do not exist.

    Raises:
        InvalidInput: the URL has another form; the database cannot be reached, or other users can read its file; or the
            database holds no store and `create` is False.
    """

    def __init__(self, url: str | URL, *, create: bool = True) -> None:
        self._url = _checked(url)
        self.sqlite = self._url.get_backend_name() == "sqlite"
        self.engine = _engine(self._url)
        if self.file is not None:
            _make_private(self.file, create)
        try:
            if self.file is not None and not create and not _has_tables(self.file):
                raise self._no_store()
            self._migrate(create)
        except (DBAPIError, sqlite3.Error) as error:
            self.close()
            if is_busy(error):
                raise reported(error, self.name) from None
            raise InvalidInput("store", f"{self.name} cannot be used ({_first_line(getattr(error, 'orig', error))})",
                               "" if self.sqlite else _SERVER) from None
        except BaseException:
            self.close()
            raise

    @property
    def name(self) -> str:
        """The URL of the database without the password."""
        return self._url.render_as_string(hide_password=True)

    @property
    def file(self) -> Path | None:
        """The file of a SQLite database; None for PostgreSQL."""
        return Path(self._url.database).absolute() if self.sqlite and self._url.database else None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads. Each query sees a committed state. Two queries may see different states."""
        with self._transaction() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A transaction that only reads, in which all queries see the same state."""
        options = {} if self.sqlite else {"isolation_level": "REPEATABLE READ"}
        with self._transaction(**options) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes. Either all changes are kept, or none."""
        with self._transaction(begin="BEGIN IMMEDIATE") as connection:
            yield connection

    @contextmanager
    def _transaction(self, **options: Any) -> Iterator[Connection]:
        with self._reported(), self.engine.connect().execution_options(**options) as connection:
            try:
                with connection.begin():
                    yield connection
            except BaseException:
                # Not used again: a query that was not read to its end, and that the exception keeps alive, would hold
                # SQLite at the state it saw, in all later transactions on this connection.
                connection.invalidate()
                raise

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, NoneIsFree, self.engine.dialect.loaded_dbapi.Error) as error:
            raise reported(error, self.name) from None

    def lock_ledger(self, connection: Connection) -> None:
        """Wait until no other transaction charges the ledger. In SQLite, the write lock of the transaction already
        ensures this.
        """
        if not self.sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LEDGER_LOCK})

    def forget(self, *, thoroughly: bool = False) -> None:
        """Remove copies of deleted rows from SQLite's write-ahead log. Nothing is done for PostgreSQL, where the
        server's vacuum removes the copies later.

        While another connection reads an earlier state, as a settlement's run does, the log cannot be emptied, and
        `forget` does not wait. The log is emptied by the next call of `forget`, or when the last connection is closed.

        Args:
            thoroughly: whether the whole database is rewritten, which takes about a second for a million reports.
                SQLite overwrites deleted rows, but the unused part of a page of the database file may hold an old copy
                of a row that was moved.

        Raises:
            StoreFailed: the copies cannot be removed; the deletion itself stands.
        """
        if self.file is None:
            return
        try:
            self._empty_log(self.file, thoroughly)
        except StoreFailed as error:
            raise StoreFailed(error.store, "finished the step, but may still hold deleted rows, since it "
                                           f"{error.problem}", error.remedy) from None

    def _empty_log(self, file: Path, thoroughly: bool) -> None:
        # A connection of its own: on one that was used before, an unfinished query, such as one that an exception
        # keeps alive, would forbid the rewriting.
        with self._reported(), closing(sqlite3.connect(file)) as own:
            _prepare_sqlite(own, None)
            try:
                if thoroughly:
                    own.execute("VACUUM")
                own.execute(f"PRAGMA busy_timeout={_MOMENT}")
                own.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            except sqlite3.OperationalError as error:
                if not is_busy(error):  # else somebody has been writing all the time
                    raise

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def _migrate(self, create: bool) -> None:
        with self.engine.connect() as connection:
            known = inspect(connection).has_table("alembic_version")
            found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar() if known else None
        if found is None and not create:
            raise self._no_store()
        if found is not None and found > REVISION:
            raise InvalidInput("store", f"a newer version of confide made {self.name}",
                               "upgrade this version of confide")
        if not known:
            self._make()
        elif found != REVISION:
            from confide.campaign.store.migrations import upgrade  # slow to import, and rarely needed

            with self.writing() as connection:
                upgrade(connection)

    def _make(self) -> None:
        """Make all tables at once, as all migrations together would. If two processes make the tables at once, the
        second finds the tables made.
        """
        from confide.campaign.store import service_schema  # noqa: F401 - it adds its tables to those of the schema
        from confide.campaign.store.schema import metadata

        with self.writing() as connection:
            if not self.sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('confide migrations'))"))
            if not inspect(connection).has_table("alembic_version"):
                metadata.create_all(connection, checkfirst=False)
                connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
                                        "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"))
                connection.execute(text("INSERT INTO alembic_version (version_num) VALUES (:newest)"),
                                   {"newest": REVISION})

    def _no_store(self) -> InvalidInput:
        return InvalidInput("store", f"{self.name} holds no store", _MAKER)


def driver(connection: Connection) -> Any:
    """The database driver's own connection under a connection of SQLAlchemy."""
    return connection.connection.driver_connection


def _checked(url: str | URL) -> URL:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        shown = re.sub(r"^([\w+]+://)?.*@", r"\1***@", str(url))[:80]  # before the @ there may be a password
        raise InvalidInput("store", f"{shown!r} is not the URL of a database", _FORMS) from None
    if parsed.drivername not in _DRIVERS:
        raise InvalidInput("store", f"{parsed.drivername} is not supported", _FORMS)
    parsed = parsed.set(drivername=_DRIVERS[parsed.drivername])
    if parsed.drivername == "sqlite":
        if parsed.database in (None, "", ":memory:"):
            raise InvalidInput("store", "names no file: a database in memory would lose the spend",
                               'must be "sqlite:///FILE", with three slashes')
        if parsed.query or str(parsed.database).startswith("file:"):  # among them are modes that keep nothing
            raise InvalidInput("store", "options of SQLite are not supported", 'must be "sqlite:///FILE"')
    else:
        try:
            import_module("psycopg")
        except ImportError:
            raise InvalidInput("store", "the driver of PostgreSQL is not installed",
                               "install the extra [postgresql]") from None
    return parsed


def _engine(url: URL) -> Engine:
    options: dict[str, Any] = {} if url.drivername == "sqlite" else {"isolation_level": "READ COMMITTED"}
    try:  # an error must not show what was written
        engine = create_engine(url, hide_parameters=True, pool_size=_POOL, pool_timeout=_ASKING, **options)
    except ArgumentError:  # such as a host in SQLite's
        raise InvalidInput("store", f"{url.render_as_string(hide_password=True)} is not the URL of a database",
                           _FORMS) from None
    if url.drivername == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    else:
        event.listen(engine, "connect", _prepare_postgresql)
    return engine


def _make_private(file: Path, create: bool) -> None:
    """Make an empty database file that only its owner may use, whatever the umask. SQLite's log gets the same mode."""
    try:
        if create and not os.path.exists(file):
            make_folder(file.parent, private=True)
            # Only where it is not there yet: to close any descriptor of a database drops all locks that this process
            # has on it, and another process would then take the log of a living store for its own.
            descriptor = os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
            try:
                os.fchmod(descriptor, 0o600)
            finally:
                os.close(descriptor)
    except FileExistsError:  # another process was faster
        pass
    except (OSError, ValueError) as error:
        raise InvalidInput("store", f"{file} cannot be used: {cause(error)}") from None
    if not os.path.exists(file):
        raise InvalidInput("store", f"{file} does not exist", _MAKER)
    if not file.is_file() or not os.access(file, os.R_OK | os.W_OK):
        raise InvalidInput("store", f"{file} cannot be opened for reading and writing",
                           "must be a file that this user may read and write")
    real = file.resolve()  # beside which SQLite puts its log
    for each in (file, *(real.with_name(f"{real.name}-{end}") for end in ("wal", "shm", "journal"))):
        with suppress(FileNotFoundError):  # the last who had it open has gone
            check_private("store", each)


def _has_tables(file: Path) -> bool:
    """Whether a SQLite file is a store; nothing is written, not even a setting of the log."""
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=rw", uri=True)) as connection:
        connection.execute(f"PRAGMA busy_timeout={_WAIT}")
        return bool(connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'installation'").fetchall())


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say so, in `_begin_sqlite`
    connection.execute(f"PRAGMA busy_timeout={_WAIT}")
    _write_ahead(connection)
    for pragma in ("synchronous=FULL", "foreign_keys=ON", "secure_delete=ON",
                   "temp_store=MEMORY"):  # no copy of records in a folder for temporary files
        connection.execute(f"PRAGMA {pragma}")


def _write_ahead(connection: Any) -> None:
    """Switch the database to a write-ahead log. If two processes open a new database at once, SQLite refuses one of
    them without waiting, so the switch to the log is tried again.
    """
    last = time.monotonic() + _WAIT / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").fetchall()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > last:
                raise
            time.sleep(_AGAIN)
        else:
            return


def _prepare_postgresql(connection: Any, _record: Any) -> None:
    connection.autocommit = True  # what is set in a transaction goes with it
    connection.execute("SET synchronous_commit TO on")
    connection.autocommit = False


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))


def _first_line(error: Any) -> str:
    return str(error).strip().partition("\n")[0][:200]


_TYPES = {"INTEGER": "int4", "SMALLINT": "int2", "BIGINT": "int8", "BLOB": "bytea", "TEXT": "text",
          "VARCHAR": "varchar"}


def insert_many(
    connection: Connection, table: Table, columns: Sequence[str], blocks: Iterable[Sequence[tuple[Any, ...]]]
) -> None:
    """Insert blocks of rows.

    Args:
        connection: a connection in a writing transaction.
        table: the table into which the rows are inserted.
        columns: the names of the columns, in the order of the values in a row.
        blocks: blocks of rows, each row a tuple of values.
    """
    names = ", ".join(columns)
    if connection.dialect.name == "postgresql":
        cursor = driver(connection).cursor()
        with cursor, cursor.copy(f"COPY {table.name} ({names}) FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types([_TYPES[str(table.c[name].type).partition("(")[0]] for name in columns])
            for block in blocks:
                for row in block:
                    copy.write_row(row)
        return
    statement = f"INSERT INTO {table.name} ({names}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608
    for block in blocks:
        if block:
            connection.exec_driver_sql(statement, list(block))


_BUSY = ("is in use by another process, which did not finish in time", "run the command again")
_FULL = ("has no room left", "free some room on its disk, then run the command again")
_READ_ONLY = ("cannot be written to", "make it writable, then run the command again")
_BARRED = ("does not permit this to its user", "ask the owner of the database for this permission, then run the "
                                               "command again")
_LOST = ("does not answer", "check that the server runs and can be reached, then run the command again")
_DAMAGED = ("is damaged, or its disk is damaged",
            "continue with an intact copy only if nothing was charged or paid after the "
                                          "copy")

_SQLITE = {5: _BUSY, 6: _BUSY, 13: _FULL, 8: _READ_ONLY, 3: _BARRED, 23: _BARRED, 10: _DAMAGED, 11: _DAMAGED,
           26: _DAMAGED, 14: _LOST}
"""Mapping from SQLite's primary result codes to descriptions; in this order BUSY, LOCKED, FULL, READONLY, PERM, AUTH,
IOERR, CORRUPT, NOTADB, CANTOPEN.
"""

_POSTGRESQL = {"40": _BUSY, "55": _BUSY, "57014": _BUSY, "57P05": _BUSY, "25P03": _BUSY, "25P04": _BUSY,
               "53300": _BUSY, "53": _FULL, "25006": _READ_ONLY, "42501": _BARRED, "57P": _LOST, "08": _LOST,
               "58": _DAMAGED, "XX": _DAMAGED}
"""Mapping from the beginning of a PostgreSQL error code to a description; the longest beginning that fits counts."""


def reported(error: Exception, name: str) -> StoreFailed:
    """The error `StoreFailed` that describes an error of the database driver.

    Args:
        error: the error of the driver, or the error of SQLAlchemy that contains it.
        name: the name of the store, without a password.
    """
    raw = _raw(error)
    problem, remedy = _words(raw) or (f"failed ({_code(raw)})", "")
    return StoreFailed(name, problem, remedy)


def is_busy(error: Exception) -> bool:
    """Whether an error only means that other processes or transactions used the database for too long."""
    return _words(_raw(error)) is _BUSY


def _raw(error: Exception) -> Any:
    return error.orig if isinstance(error, DBAPIError) else error


def _words(raw: Any) -> tuple[str, str] | None:
    if isinstance(raw, NoneIsFree):  # of the connections, which wait for somebody else
        return _BUSY
    number = getattr(raw, "sqlite_errorcode", None)
    if number is not None:
        return _SQLITE.get(number & 0xFF)
    state = getattr(raw, "sqlstate", None)
    if state is None:  # no word of the server's
        return _LOST if any(each.__name__ == "OperationalError" for each in type(raw).__mro__) else None
    fitting = [start for start in _POSTGRESQL if state.startswith(start)]
    return _POSTGRESQL[max(fitting, key=len)] if fitting else None


def _code(raw: Any) -> str:
    """The type of an error, its code, and the constraint that was violated."""
    if isinstance(raw, sqlite3.IntegrityError):
        return str(raw)  # such as "CHECK constraint failed: ck_payout_positive"; SQLite names columns, never values
    constraint = getattr(getattr(raw, "diag", None), "constraint_name", None)
    found = (getattr(raw, "sqlite_errorname", None), getattr(raw, "sqlstate", None), constraint)
    return " ".join([type(raw).__name__, *(part for part in found if part)])
