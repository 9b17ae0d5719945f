"""Add to each debit the audiences of the promises that it covers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. The column stays empty for earlier debits."""
    op.add_column("ledger_debit", sa.Column(
        "audiences", sa.String(length=64), nullable=True,
        comment="to whom the promises are made that it covers; none where it was not recorded"))
