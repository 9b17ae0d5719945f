"""The script that Alembic runs for a migration, on the connection that `upgrade` passes on."""

from __future__ import annotations

from alembic import context

from confide.campaign.store import service_schema  # noqa: F401 - its tables
from confide.campaign.store.schema import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, transactional_ddl=False)
context.run_migrations()
