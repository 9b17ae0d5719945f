"""Whose deposits the operator of a service has received: no other one is paid back."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "deposit",
        sa.Column("campaign_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("slot", sa.Integer(), autoincrement=False, nullable=False, comment="whose was received"),
        sa.PrimaryKeyConstraint("campaign_id", "slot", name=op.f("pk_deposit")),
        sqlite_with_rowid=False,
    )
