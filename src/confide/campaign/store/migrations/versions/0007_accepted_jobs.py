"""Record whether an operator lets a settlement go on although too many rows of the file cannot be used."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("job", sa.Column(
        "accept_unusable", sa.Integer(), nullable=False, server_default="0",
        comment="whether it goes on where too many rows of the operator's file cannot be used"))
