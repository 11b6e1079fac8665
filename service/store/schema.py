"""The two tables: studies and their events."""

from __future__ import annotations

import sqlalchemy as sql

metadata = sql.MetaData()

studies = sql.Table(
    "studies",
    metadata,
    sql.Column("number", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("id", sql.String(32), unique=True, nullable=False),
    sql.Column("spec", sql.Text, nullable=False),
    sql.Column("state", sql.String(16), nullable=False, index=True),
    sql.Column("created_at", sql.String(32), nullable=False),
    sql.Column("idempotency_key", sql.String(200), unique=True),
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
