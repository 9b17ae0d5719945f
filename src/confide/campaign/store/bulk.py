"""Many rows at once: one prepared statement in SQLite, COPY in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Table

from confide.campaign.store.database import driver

__all__ = ["insert_many"]

_TYPES = {"INTEGER": "int4", "SMALLINT": "int2", "BIGINT": "int8", "BLOB": "bytea", "TEXT": "text",
          "VARCHAR": "varchar"}


def insert_many(
    connection: Connection, table: Table, columns: Sequence[str], blocks: Iterable[Sequence[tuple[Any, ...]]]
) -> None:
    """Insert blocks of rows.

    Args:
        connection: in a writing transaction.
        table: where to.
        columns: names, in the order of a row's values.
        blocks: rows.
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
