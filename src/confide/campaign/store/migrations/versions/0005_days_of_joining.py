"""Remove all traces of the day on which a participant joined: all sessions of a campaign end on the same day, and the
keys of log-in attempts are deleted.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the tables of login sessions and log-in attempts."""
    op.add_column("draft", sa.Column("last_day", sa.String(length=10), nullable=True, comment=(
        "YYYY-MM-DD, of all its participants' sessions; none before it has ended")))
    op.drop_column("participant_session", "last_day")
    op.execute("DELETE FROM attempt")  # under a key that was not thrown away
    op.create_table(
        "attempt_key",
        sa.Column("window", sa.BigInteger(), autoincrement=False, nullable=False, comment="its first second"),
        sa.Column("key", sa.LargeBinary(length=32), nullable=False,
                  comment="random; gone with the attempts of these minutes"),
        sa.PrimaryKeyConstraint("window", name=op.f("pk_attempt_key")),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.alter_column("attempt", "key", comment="hash of who tries what, by the key of these minutes",
                        existing_type=sa.LargeBinary(length=32), existing_nullable=False)
