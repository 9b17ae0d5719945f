"""Make the first tables of the store."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "campaign",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("content", sa.String(length=64), nullable=False, comment="digest of what the campaign file says"),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False, comment="the campaign file"),
        sa.Column("slots", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column(
            "withdrawals",
            sa.Integer(),
            nullable=False,
            comment="how many there were: a run that began before one is void",
        ),
        sa.Column(
            "paid",
            sa.Text(),
            nullable=True,
            comment="in all, in the smallest coin; known once amounts are erased",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaign")),
        sa.UniqueConstraint("content", name=op.f("uq_campaign_content")),
    )
    op.create_table(
        "installation",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("key_check", sa.LargeBinary(), nullable=False, comment="tells the ledger's key from any other"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_installation")),
    )
    op.create_table(
        "ledger_balance",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("rule", sa.String(length=8), nullable=False),
        sa.Column("budget_epsilon", sa.Text(), nullable=False),
        sa.Column("budget_delta", sa.Text(), nullable=False),
        sa.Column("epsilon", sa.Text(), nullable=False, comment="spent, an exact fraction"),
        sa.Column("delta", sa.Text(), nullable=False),
        sa.Column("rho", sa.Text(), nullable=False),
        sa.Column("pure", sa.SmallInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ledger_balance")),
        sa.UniqueConstraint(
            "rule",
            "budget_epsilon",
            "budget_delta",
            "epsilon",
            "delta",
            "rho",
            "pure",
            name=op.f("uq_ledger_balance_rule"),
        ),
    )
    op.create_table(
        "billboard",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False, comment="in the pack"),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_billboard_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", "path", name=op.f("pk_billboard")),
    )
    op.create_table(
        "event",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("event", sa.String(length=16), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("data", sa.Text(), nullable=False, comment="canonical JSON"),
        sa.Column("hash", sa.String(length=64), nullable=False, comment="of this event and the one before it"),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_event_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", "number", name=op.f("pk_event")),
    )
    op.create_table(
        "ledger_scope",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("data_set", sa.Text(), nullable=False),
        sa.Column("neighbours", sa.String(length=32), nullable=False),
        sa.Column("audience", sa.String(length=16), nullable=False),
        sa.Column("balance_id", sa.Integer(), nullable=False, comment="of the data set"),
        sa.Column(
            "newcomer_id",
            sa.Integer(),
            nullable=False,
            comment="in which a subject starts: what releases that list nobody have cost",
        ),
        sa.ForeignKeyConstraint(["balance_id"], ["ledger_balance.id"], name=op.f("fk_ledger_scope_balance_id")),
        sa.ForeignKeyConstraint(["newcomer_id"], ["ledger_balance.id"], name=op.f("fk_ledger_scope_newcomer_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ledger_scope")),
        sa.UniqueConstraint("data_set", "neighbours", "audience", name=op.f("uq_ledger_scope_data_set")),
    )
    op.create_table(
        "payout",
        sa.Column("campaign_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("slot", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column(
            "amount", sa.BigInteger(), nullable=True, comment="in the smallest coin; none once all is paid"
        ),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("batch", sa.Integer(), nullable=True),
        sa.CheckConstraint("state IN ('queued', 'approved', 'sent', 'paid', 'failed')", name=op.f("ck_payout_state")),
        sa.CheckConstraint("amount > 0", name=op.f("ck_payout_positive")),
        sa.CheckConstraint("amount IS NOT NULL OR state = 'paid'", name=op.f("ck_payout_erased")),
        sa.PrimaryKeyConstraint("campaign_id", "slot", name=op.f("pk_payout")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "payout_batch",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("format", sa.String(length=16), nullable=False),
        sa.Column(
            "written",
            sa.String(length=25),
            nullable=False,
            comment="when; the file itself is not stored: it names people",
        ),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_payout_batch_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", "number", name=op.f("pk_payout_batch")),
    )
    op.create_table(
        "payout_reopened",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("batch", sa.Integer(), autoincrement=False, nullable=False, comment="in which the payment failed"),
        sa.Column("slot", sa.Integer(), autoincrement=False, nullable=False, comment="whose payout was queued again"),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_payout_reopened_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", "batch", "slot", name=op.f("pk_payout_reopened")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "report",
        sa.Column("campaign_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("phase", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("slot", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("report", sa.LargeBinary(), nullable=False, comment="one participant's, as the mechanism takes it"),
        sa.PrimaryKeyConstraint("campaign_id", "phase", "slot", name=op.f("pk_report")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "share",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False, comment="all shares, one row a slot, as one Arrow file"),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_share_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", name=op.f("pk_share")),
    )
    op.create_table(
        "withdrawal",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("slot", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column(
            "reported", sa.SmallInteger(), nullable=False, comment="whether there was a report, hence a deposit"
        ),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_withdrawal_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", "slot", name=op.f("pk_withdrawal")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "ledger_debit",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("scope_id", sa.Integer(), nullable=False),
        sa.Column("events", sa.Text(), nullable=False, comment="canonical JSON"),
        sa.Column("delta", sa.Text(), nullable=False),
        sa.Column("cost", sa.Text(), nullable=False, comment="by the account's rule, in words"),
        sa.Column("subjects", sa.Integer(), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_ledger_debit_campaign_id")),
        sa.ForeignKeyConstraint(["scope_id"], ["ledger_scope.id"], name=op.f("fk_ledger_debit_scope_id")),
        sa.PrimaryKeyConstraint("campaign_id", "scope_id", name=op.f("pk_ledger_debit")),
    )
    op.create_table(
        "ledger_subject",
        sa.Column("scope_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("key", sa.LargeBinary(length=32), nullable=False, comment="keyed hash of the subject's id"),
        sa.Column("balance_id", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("scope_id", "key", name=op.f("pk_ledger_subject")),
        sqlite_with_rowid=False,
    )
