"""Add the tables of the service."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "operator",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("active", sa.SmallInteger(), nullable=False),
        sa.Column("password", sa.Text(), nullable=True,
                  comment="its Argon2 hash; none where another service says who it is"),
        sa.Column("issuer", sa.Text(), nullable=True, comment="that service"),
        sa.Column("subject", sa.Text(), nullable=True, comment="and what it calls the operator"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_operator")),
        sa.UniqueConstraint("issuer", "subject", name=op.f("uq_operator_issuer")),
        sa.UniqueConstraint("name", name=op.f("uq_operator_name")),
    )
    op.create_table(
        "attempt",
        sa.Column("key", sa.LargeBinary(length=32), nullable=False, comment="keyed hash of who tries what"),
        sa.Column("window", sa.BigInteger(), autoincrement=False, nullable=False, comment="its first second"),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("key", "window", name=op.f("pk_attempt")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "invitation",
        sa.Column("campaign_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("slot", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False, comment="of a code that was not used yet"),
        sa.PrimaryKeyConstraint("campaign_id", "slot", name=op.f("pk_invitation")),
        sa.UniqueConstraint("digest", name=op.f("uq_invitation_digest")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "participant_session",
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False, comment="of the session's token"),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("last_day", sa.String(length=10), nullable=False, comment="YYYY-MM-DD, on which it still holds"),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_participant_session")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "handed_row",
        sa.Column("campaign_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("phase", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("slot", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("row", sa.Text(), nullable=False,
                  comment="one participant's, of a file that the operator's kind reads: JSON"),
        sa.PrimaryKeyConstraint("campaign_id", "phase", "slot", name=op.f("pk_handed_row")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "replay",
        sa.Column("key", sa.LargeBinary(length=32), nullable=False,
                  comment="digest of who asked under which idempotency key"),
        sa.Column("request", sa.LargeBinary(length=32), nullable=False, comment="digest of what was asked"),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False, comment="the answer"),
        sa.Column("expires", sa.BigInteger(), nullable=False, comment="seconds since 1970"),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_replay")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "operator_session",
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False, comment="of the session's token"),
        sa.Column("operator_id", sa.Integer(), nullable=False),
        sa.Column("expires", sa.BigInteger(), nullable=False, comment="seconds since 1970"),
        sa.ForeignKeyConstraint(["operator_id"], ["operator.id"], name=op.f("fk_operator_session_operator_id")),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_operator_session")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "draft",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False, comment="the campaign file's, without its ending"),
        sa.Column("text", sa.Text(), nullable=False, comment="the campaign file"),
        sa.Column("version", sa.Integer(), nullable=False, comment="how often it was written"),
        sa.Column("operator_id", sa.Integer(), nullable=False, comment="who began it"),
        sa.Column("campaign_id", sa.Integer(), nullable=True, comment="once it is open"),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_draft_campaign_id")),
        sa.ForeignKeyConstraint(["operator_id"], ["operator.id"], name=op.f("fk_draft_operator_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_draft")),
        sa.UniqueConstraint("campaign_id", name=op.f("uq_draft_campaign_id")),
    )
    op.create_table(
        "job",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("task", sa.String(length=16), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False, comment="who does it, or did"),
        sa.Column("lease", sa.BigInteger(), nullable=False, comment="until when it is theirs, in seconds since 1970"),
        sa.Column("attempts", sa.Integer(), nullable=False, comment="how often it was begun"),
        sa.Column("done", sa.Integer(), nullable=False, comment="steps, of public number"),
        sa.Column("steps", sa.Integer(), nullable=True),
        sa.Column("problem", sa.Text(), nullable=False, comment="why it failed, for the operator"),
        sa.Column("result", sa.Text(), nullable=True, comment="JSON"),
        sa.CheckConstraint("state IN ('queued', 'running', 'done', 'failed')", name=op.f("ck_job_state")),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_job_campaign_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
        sa.UniqueConstraint("campaign_id", "task", name=op.f("uq_job_campaign_id")),
    )
