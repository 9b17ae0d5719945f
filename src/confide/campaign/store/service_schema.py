"""The tables of the service: operators, login sessions, drafts of campaigns, deposits, and jobs.

Tokens are stored only as digests. No table records when a participant came, or from where. All sessions of a campaign
end on the same day, or once all payouts are paid. An invitation is deleted when it is used, and unused invitations are
deleted together with the reports.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from confide.campaign.store.schema import metadata

__all__ = ["attempt", "attempt_key", "begun_login", "draft", "handed_row", "invitation", "job", "operator",
           "operator_session", "participant_session", "replay"]

operator = Table(
    "operator", metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("role", String(16), nullable=False),
    Column("active", SmallInteger, nullable=False),
    Column("password", Text, nullable=True, comment="its Argon2 hash; none where another service says who it is"),
    Column("issuer", Text, nullable=True, comment="that service"),
    Column("subject", Text, nullable=True, comment="and what it calls the operator"),
    UniqueConstraint("issuer", "subject"),
)

operator_session = Table(
    "operator_session", metadata,
    Column("digest", LargeBinary(32), primary_key=True, comment="of the session's token"),
    Column("operator_id", Integer, ForeignKey("operator.id"), nullable=False),
    Column("expires", BigInteger, nullable=False, comment="seconds since 1970"),
    sqlite_with_rowid=False,
)

begun_login = Table(
    "begun_login", metadata,
    Column("digest", LargeBinary(32), primary_key=True, comment="of a secret that an operator's browser keeps"),
    Column("expires", BigInteger, nullable=False, comment="seconds since 1970"),
    sqlite_with_rowid=False,
)

invitation = Table(
    "invitation", metadata,
    Column("campaign_id", Integer, primary_key=True, autoincrement=False),
    Column("slot", Integer, primary_key=True, autoincrement=False),
    Column("digest", LargeBinary(32), nullable=False, unique=True, comment="of a code that was not used yet"),
    sqlite_with_rowid=False,
)

participant_session = Table(
    "participant_session", metadata,
    Column("digest", LargeBinary(32), primary_key=True, comment="of the session's token"),
    Column("campaign_id", Integer, nullable=False),
    Column("slot", Integer, nullable=False),
    sqlite_with_rowid=False,
)

attempt = Table(
    "attempt", metadata,
    Column("key", LargeBinary(32), primary_key=True, comment="hash of who tries what, by the key of these minutes"),
    Column("window", BigInteger, primary_key=True, autoincrement=False, comment="its first second"),
    Column("count", Integer, nullable=False),
    sqlite_with_rowid=False,
)

attempt_key = Table(
    "attempt_key", metadata,
    Column("window", BigInteger, primary_key=True, autoincrement=False, comment="its first second"),
    Column("key", LargeBinary(32), nullable=False, comment="random; gone with the attempts of these minutes"),
)

draft = Table(
    "draft", metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, comment="the campaign file's, without its ending"),
    Column("text", Text, nullable=False, comment="the campaign file"),
    Column("version", Integer, nullable=False, comment="how often it was written"),
    Column("operator_id", Integer, ForeignKey("operator.id"), nullable=False, comment="who began it"),
    Column("campaign_id", Integer, ForeignKey("campaign.id"), nullable=True, unique=True, comment="once it is open"),
    Column("last_day", String(10), nullable=True, comment="YYYY-MM-DD, of all its participants' sessions; none before "
                                                          "it has ended"),
)

handed_row = Table(
    "handed_row", metadata,
    Column("campaign_id", Integer, primary_key=True, autoincrement=False),
    Column("phase", SmallInteger, primary_key=True, autoincrement=False),
    Column("slot", Integer, primary_key=True, autoincrement=False),
    Column("row", Text, nullable=False, comment="one participant's, of a file that the operator's kind reads: JSON"),
    sqlite_with_rowid=False,
)

deposit = Table(
    "deposit", metadata,
    Column("campaign_id", Integer, primary_key=True, autoincrement=False),
    Column("slot", Integer, primary_key=True, autoincrement=False, comment="whose was received"),
    sqlite_with_rowid=False,
)

job = Table(
    "job", metadata,
    Column("id", Integer, primary_key=True),
    Column("campaign_id", Integer, ForeignKey("campaign.id"), nullable=False),
    Column("task", String(16), nullable=False),
    Column("state", String(8), nullable=False),
    Column("worker", Text, nullable=False, comment="who does it, or did"),
    Column("lease", BigInteger, nullable=False, comment="until when it is theirs, in seconds since 1970"),
    Column("attempts", Integer, nullable=False, comment="how often it was begun"),
    Column("done", Integer, nullable=False, comment="steps, of public number"),
    Column("steps", Integer, nullable=True),
    Column("problem", Text, nullable=False, comment="why it failed, for the operator"),
    Column("result", Text, nullable=True, comment="JSON"),
    Column("accept_unusable", Integer, nullable=False, server_default="0",
           comment="whether it goes on where too many rows of the operator's file cannot be used"),
    UniqueConstraint("campaign_id", "task"),
    CheckConstraint("state IN ('queued', 'running', 'done', 'failed')", name="state"),
)

replay = Table(
    "replay", metadata,
    Column("key", LargeBinary(32), primary_key=True, comment="digest of who asked under which idempotency key"),
    Column("request", LargeBinary(32), nullable=False, comment="digest of what was asked"),
    Column("status", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False, comment="the answer"),
    Column("expires", BigInteger, nullable=False, comment="seconds since 1970"),
    sqlite_with_rowid=False,
)
