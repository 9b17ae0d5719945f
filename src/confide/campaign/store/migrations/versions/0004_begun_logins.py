"""Add a table of log-ins that have begun and wait for the answer of an external identity provider."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "begun_login",
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False,
                  comment="of a secret that an operator's browser keeps"),
        sa.Column("expires", sa.BigInteger(), nullable=False, comment="seconds since 1970"),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_begun_login")),
        sqlite_with_rowid=False,
    )
