"""Record the deposits that the operator of a service has received; no other deposit is paid back."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "deposit",
        sa.Column("campaign_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("slot", sa.Integer(), autoincrement=False, nullable=False, comment="whose was received"),
        sa.PrimaryKeyConstraint("campaign_id", "slot", name=op.f("pk_deposit")),
        sqlite_with_rowid=False,
    )
    # Until now whoever had handed in was taken to have left theirs: it is still due to them. An operator takes such a
    # note back where that is not so.
    op.execute("""
        INSERT INTO deposit (campaign_id, slot)
        SELECT there.campaign_id, there.slot FROM (
            SELECT campaign_id, slot FROM report UNION SELECT campaign_id, slot FROM withdrawal WHERE reported = 1
        ) AS there
        JOIN campaign ON campaign.id = there.campaign_id AND campaign.state IN ('open', 'closed', 'charged', 'run')
        WHERE there.campaign_id IN (SELECT campaign_id FROM draft)
    """)
