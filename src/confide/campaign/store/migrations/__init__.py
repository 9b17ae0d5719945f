"""Migrations of a store's tables by Alembic, with one file for each change. Opening a store brings its tables up to
date.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, text

__all__ = ["configuration", "upgrade"]


def configuration(connection: Connection) -> Config:
    """Alembic's settings for an open connection."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def upgrade(connection: Connection) -> None:
    """Bring the tables up to date, completely or not at all. If two processes open a store at the same time, the second
    process finds the tables up to date.

    Args:
        connection: a connection in a writing transaction.
    """
    if connection.dialect.name != "sqlite":
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('confide migrations'))"))
    command.upgrade(configuration(connection), "head")
