"""The tables as they are now. Whoever changes them writes the step that leads there, in `migrations/versions`."""

from __future__ import annotations

import sqlalchemy as sql

metadata = sql.MetaData()

REVISION = "3"  # the last step; a test holds the tables below to what the steps make

studies = sql.Table(
    "studies",
    metadata,
    sql.Column("number", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("id", sql.String(32), unique=True, nullable=False),
    sql.Column("spec", sql.Text, nullable=False),
    sql.Column("state", sql.String(16), nullable=False, index=True),
    sql.Column("created_at", sql.String(32), nullable=False),
    sql.Column("idempotency_key", sql.String(200), unique=True),
    sql.Column("spec_version", sql.Integer, nullable=False, server_default="1"),
    sql.Column("last_seq", sql.Integer, nullable=False, server_default="0"),  # a log that ends earlier has lost some
    sql.Column("lost_events", sql.Integer, nullable=False, server_default="0"),
    sqlite_autoincrement=True,
)

events = sql.Table(
    "events",
    metadata,
    sql.Column("study", sql.String(32), sql.ForeignKey("studies.id"), primary_key=True),
    sql.Column("seq", sql.Integer, primary_key=True),
    sql.Column("uid", sql.String(200), nullable=False),
    sql.Column("at", sql.String(32), nullable=False),
    sql.Column("kind", sql.String(32), nullable=False),
    sql.Column("body", sql.Text, nullable=False),
    sql.UniqueConstraint("study", "uid"),
)

# Secrets are not kept, only their hashes. A row with a study is of its driver, and goes with it.
tokens = sql.Table(
    "tokens",
    metadata,
    sql.Column("id", sql.String(16), primary_key=True),
    sql.Column("hash", sql.String(64), unique=True, nullable=False),
    sql.Column("name", sql.String(80), nullable=False),
    sql.Column("scopes", sql.String(80), nullable=False),
    sql.Column("study", sql.String(32), index=True),
    sql.Column("created_at", sql.String(32), nullable=False),
    sql.Column("expires_at", sql.String(32)),
    sql.Column("studies_at_once", sql.Integer),
    sql.Column("trials", sql.Integer),
    sql.Column("bytes", sql.BigInteger),
)

# Which token submitted a study, where its limits count.
owners = sql.Table(
    "owners",
    metadata,
    sql.Column("study", sql.String(32), primary_key=True),
    sql.Column("token", sql.String(16), nullable=False, index=True),
    sql.Column("trials", sql.Integer, nullable=False),
)

# What a database knows about itself: the id by which drivers tell it from another.
facts = sql.Table(
    "facts",
    metadata,
    sql.Column("name", sql.String(32), primary_key=True),
    sql.Column("value", sql.Text, nullable=False),
)

# As alembic has it: the step that the database is at. It is asked at every start, without importing alembic.
revisions = sql.Table(
    "alembic_version",
    metadata,
    sql.Column("version_num", sql.String(32), nullable=False),
    sql.PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
