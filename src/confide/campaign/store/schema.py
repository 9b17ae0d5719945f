"""The tables of a store, with one schema for SQLite and PostgreSQL. `confide.campaign.store.migrations` changes the
tables of older stores.

Tables with one row per person (reports, payouts, subjects) declare no foreign keys. A database checks foreign keys row
by row, which took longer than the rest of a settlement. Each row is written by a transaction that has locked, or made,
the rows that it refers to, and no campaign, data set or state of an account is ever deleted.

No table stores a time, an address or a token of a person. Reports, withdrawals and payouts are stored by slot, which is
the rank in the public list of ids. Only the events, the debits and the payout batches of a campaign have a date.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
)

__all__ = ["balance", "billboard", "campaign", "debit", "event", "installation", "metadata", "payout", "payout_batch",
           "payout_reopened", "report", "scope", "share", "subject", "withdrawal"]

metadata = MetaData(naming_convention={
    "pk": "pk_%(table_name)s", "fk": "fk_%(table_name)s_%(column_0_name)s", "uq": "uq_%(table_name)s_%(column_0_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s", "ix": "ix_%(table_name)s_%(column_0_name)s",
})


def _campaign() -> Column[int]:
    return Column("campaign_id", Integer, ForeignKey("campaign.id"), nullable=False, primary_key=True)


def _campaign_of_many() -> Column[int]:
    return Column("campaign_id", Integer, nullable=False, primary_key=True, autoincrement=False)


installation = Table(
    "installation", metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("key_check", LargeBinary, nullable=False, comment="tells the ledger's key from any other"),
)

campaign = Table(
    "campaign", metadata,
    Column("id", Integer, primary_key=True),
    Column("content", String(64), nullable=False, unique=True, comment="digest of what the campaign file says"),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False, comment="the campaign file"),
    Column("slots", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("withdrawals", Integer, nullable=False, comment="how many there were: a run that began before one is void"),
    Column("paid", Text, nullable=True, comment="in all, in the smallest coin; known once amounts are erased"),
)

event = Table(
    "event", metadata,
    _campaign(),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("event", String(16), nullable=False),
    Column("day", String(10), nullable=False),
    Column("data", Text, nullable=False, comment="canonical JSON"),
    Column("hash", String(64), nullable=False, comment="of this event and the one before it"),
)

report = Table(
    "report", metadata,
    _campaign_of_many(),
    Column("phase", SmallInteger, primary_key=True, autoincrement=False),
    Column("slot", Integer, primary_key=True, autoincrement=False),
    Column("report", LargeBinary, nullable=False, comment="one participant's, as the mechanism takes it"),
    sqlite_with_rowid=False,
)

withdrawal = Table(
    "withdrawal", metadata,
    _campaign(),
    Column("slot", Integer, primary_key=True, autoincrement=False),
    Column("reported", SmallInteger, nullable=False, comment="whether there was a report, hence a deposit"),
    sqlite_with_rowid=False,
)

billboard = Table(
    "billboard", metadata,
    _campaign(),
    Column("path", Text, primary_key=True, comment="in the pack"),
    Column("data", LargeBinary, nullable=False),
)

share = Table(
    "share", metadata,
    _campaign(),
    Column("data", LargeBinary, nullable=False, comment="all shares, one row a slot, as one Arrow file"),
)

payout = Table(
    "payout", metadata,
    _campaign_of_many(),
    Column("slot", Integer, primary_key=True, autoincrement=False),
    Column("amount", BigInteger, nullable=True, comment="in the smallest coin; none once all is paid"),
    Column("state", String(8), nullable=False),
    Column("batch", Integer, nullable=True),
    CheckConstraint("amount > 0", name="positive"),
    CheckConstraint("amount IS NOT NULL OR state = 'paid'", name="erased"),
    CheckConstraint("state IN ('queued', 'approved', 'sent', 'paid', 'failed')", name="state"),
    sqlite_with_rowid=False,
)

payout_batch = Table(
    "payout_batch", metadata,
    _campaign(),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("format", String(16), nullable=False),
    Column("written", String(25), nullable=False, comment="when; the file itself is not stored: it names people"),
)

payout_reopened = Table(
    "payout_reopened", metadata,
    _campaign(),
    Column("batch", Integer, primary_key=True, autoincrement=False, comment="in which the payment failed"),
    Column("slot", Integer, primary_key=True, autoincrement=False, comment="whose payout was queued again"),
    sqlite_with_rowid=False,
)

scope = Table(
    "ledger_scope", metadata,
    Column("id", Integer, primary_key=True),
    Column("data_set", Text, nullable=False),
    Column("neighbours", String(32), nullable=False),
    Column("audience", String(16), nullable=False),
    Column("balance_id", Integer, ForeignKey("ledger_balance.id"), nullable=False, comment="of the data set"),
    Column("newcomer_id", Integer, ForeignKey("ledger_balance.id"), nullable=False,
           comment="in which a subject starts: what releases that list nobody have cost"),
    UniqueConstraint("data_set", "neighbours", "audience"),
)

balance = Table(
    "ledger_balance", metadata,
    Column("id", Integer, primary_key=True),
    Column("rule", String(8), nullable=False),
    Column("budget_epsilon", Text, nullable=False),
    Column("budget_delta", Text, nullable=False),
    Column("epsilon", Text, nullable=False, comment="spent, an exact fraction"),
    Column("delta", Text, nullable=False),
    Column("rho", Text, nullable=False),
    Column("pure", SmallInteger, nullable=False),
    UniqueConstraint("rule", "budget_epsilon", "budget_delta", "epsilon", "delta", "rho", "pure"),
)
"""Table of the distinct states of accounts. Thousands of subjects share one row."""

subject = Table(
    "ledger_subject", metadata,
    Column("scope_id", Integer, primary_key=True, autoincrement=False),
    Column("key", LargeBinary(32), primary_key=True, comment="keyed hash of the subject's id"),
    Column("balance_id", Integer, nullable=False),
    sqlite_with_rowid=False,
)

debit = Table(
    "ledger_debit", metadata,
    _campaign(),
    Column("scope_id", Integer, ForeignKey("ledger_scope.id"), primary_key=True),
    Column("events", Text, nullable=False, comment="canonical JSON"),
    Column("delta", Text, nullable=False),
    Column("cost", Text, nullable=False, comment="by the account's rule, in words"),
    Column("subjects", Integer, nullable=False),
    Column("day", String(10), nullable=False),
    Column("audiences", String(64),
           comment="to whom the promises are made that it covers; none where it was not recorded"),
)
