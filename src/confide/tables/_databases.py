"""Tables of databases, opened by the address of the database."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from confide.contract.errors import InvalidInput
from confide.contract.words import did_you_mean
from confide.tables._packaged import extra

__all__ = ["open_database"]

_SCHEMES = ("duckdb", "sqlite", "postgresql", "postgres")
_SECRET = ("password", "passfile", "token", "secret", "sslpassword", "motherduck_token")
_ADVICE = ("a campaign file is public: leave the password out, and store it in the file ~/.pgpass, or set the variable "
           "PGPASSWORD where the campaign runs")


def open_database(address: str, table: str, folder: Path) -> tuple[Any, Any]:
    """The ibis expression of a table in a database, and the connection, which the caller closes. Files of databases are
    opened for reading alone.

    Args:
        address: address of the database: "duckdb://" or "sqlite://" with the path of a file, or "postgresql://" with
            user, host and name.
        table: name of the table, or "SCHEMA.TABLE"; "" for the only table.
        folder: folder from which a relative path starts.

    Raises:
        InvalidInput: the address has a password or is of an unknown kind; the database cannot be opened; or it has no
            such table.
    """
    scheme = address.partition("://")[0].lower()
    _refuse_password(address)
    if scheme not in _SCHEMES:
        raise InvalidInput("source", f"confide is not tested on databases of the kind {scheme}",
                           "must begin with duckdb://, sqlite:// or postgresql://; or write the rows to a Parquet file")
    ibis = extra("ibis", "data")
    if scheme in ("postgresql", "postgres"):
        extra("psycopg", "postgresql")
        connection = _connected(lambda: ibis.connect(address), "the database")
    else:
        path = folder / Path(address.partition("://")[2].partition("?")[0]).expanduser()
        if not path.is_file():
            raise InvalidInput("source", f"{path.resolve()} is not a file")
        lite = scheme == "sqlite"
        connection = _connected(lambda: ibis.sqlite.connect(path) if lite else
                                ibis.duckdb.connect(path, read_only=True), path.name)
    try:
        return _table(connection, table), connection
    except InvalidInput:
        connection.disconnect()
        raise


def _refuse_password(address: str) -> None:
    try:
        parts = urlsplit(address)
        secret = parts.password is not None or any(key.lower() in _SECRET for key, _ in parse_qsl(parts.query))
    except ValueError:
        raise InvalidInput("source", "is no address of a database",
                           "must be such as duckdb://people.duckdb or postgresql://user@host/name") from None
    if secret:
        raise InvalidInput("source", "the address of the database has a password", _ADVICE)


def _connected(connect: Any, name: str) -> Any:
    """The connection, without the engine's own message in an error: it may quote the address."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return connect()
    except ImportError:
        raise InvalidInput("source", "a package for this database is not installed",
                           "pip install 'confide[data,postgresql]'") from None
    except Exception as error:  # noqa: BLE001 - every engine has errors of its own
        text = str(error).lower()
        if "with version number" in text:
            raise InvalidInput("source", f"{name} was written by a newer DuckDB than the one that confide uses",
                               "write it with the storage version v1.4.0, or write the table to a Parquet file"
                               ) from None
        if "could not set lock" in text:
            raise InvalidInput("source", f"{name} is open in another program", "close it there") from None
        raise InvalidInput("source", f"{name} cannot be opened ({type(error).__name__})",
                           "check the address, the user's rights, and that the database runs") from None


def _table(connection: Any, name: str) -> Any:
    schema, _, bare = name.rpartition(".")
    place = {"database": schema} if schema else {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # what ibis asks of the engine is not ours
            names = sorted(connection.list_tables(**place))
    except Exception as error:  # noqa: BLE001 - every engine has errors of its own
        raise InvalidInput("table", f"the tables cannot be listed ({type(error).__name__})",
                           "check the name of the schema and the user's rights") from None
    if not name and len(names) == 1:
        bare = names[0]
    if bare not in names:
        shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        problem = "is not given" if not name else f"{name!r} is not a table of the database"
        raise InvalidInput("table", problem, did_you_mean(bare, names, f"tables: {shown}") if names else
                           "the database has no table that the user may read")
    return connection.table(bare, **place)
